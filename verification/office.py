"""Risks of a survey, utility, and scores of synthetic tables, compared with published examples.

    UNMASK_DATA=... python verification/office.py [--part ...]

Individual risk, household risk, special uniques, local suppression and standard errors of `testdata`, 4,580 people of a
household survey. Sources: the documentation of sdcMicro, and the SDC Practice Guide (Benschop, Machingauta, Welch,
2019). Households that are matched as a whole are counted with sets. Interval overlap and pMSE are compared with Karr et
al. (2006) and with repeated draws, CAP with a count person by person. The risk file of a million records is timed.
"""

from __future__ import annotations

import csv
import gzip
import os
import resource
import time
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import numpy as np
from control_people import CTGAN, assign_roles, read_ctgan
from show import Section, Verdict, main

from unmask.measures.interval import Z95
from unmask.tables import SuppressCells, Table
from unmask.tables.attacks.membership import stack_people
from unmask.tables.criteria import (
    SUBSETS,
    attribution_probability,
    closer_to_members,
    evaluate,
    model_risk,
    smallest_class_of_subsets,
    targeted_attribution_probability,
)
from unmask.tables.criteria.log_linear import fit_log_linear
from unmask.tables.criteria.risk import sample_weight_risk
from unmask.tables.reading import read_encoded
from unmask.tables.risk.records import evaluate_records
from unmask.tables.risk.suda import find_special_uniques
from unmask.tables.utility import interval_overlap, score_propensity

KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")

MINIMAL_UNIQUES = (1, 11, 94, 86, 35, 7, 1)
"""Minimal uniques of `testdata` by their number of columns, by sdcMicro."""

RISKS_OF_GUIDE = (0.005424520, 0.025096439, 0.012563425, 0.028247279, 0.029010932, 0.007403834)
"""Individual risks of table 4.1 of the Guide."""

FREQUENCIES = ((2, 360), (1, 215), (2, 152), (1, 186), (1, 180), (2, 262))
"""Rows of each class of table 4.1, and the sum of their weights."""

N_LARGE = 1_000_000


@cache
def read_survey() -> dict[str, list[str]]:
    """Return the cells of `testdata` by column."""
    path = Path(os.environ["UNMASK_DATA"]) / "tables" / "sdcmicro" / "testdata.csv.gz"
    with gzip.open(path, "rt") as lines:
        rows = list(csv.DictReader(lines))
    return {name: [row[name] for row in rows] for name in rows[0]}


def verify_survey() -> Section:
    """Compare the risks of `testdata` with the documentation of sdcMicro."""
    cells = read_survey()
    roles = {"quasi_identifiers": KEYS, "weight": "sampling_weight", "household": "ori_hid"}
    table = Table.read({name: cells[name] for name in (*KEYS, "sampling_weight", "ori_hid")}, **roles)  # type: ignore[arg-type]
    columns = evaluate_records(table).columns
    alone = np.asarray(columns["household_class_size"]) == 1
    individual, together = (float(np.sum(columns[name])) for name in ("individual_risk", "household_risk"))
    n_people, n_households = _count_unique_households(cells)
    n_unique = len({*np.array(cells["ori_hid"])[alone].tolist()})
    percent = together / 45.80
    return Section(
        "testdata of sdcMicro, 4,580 people in 1,000 households",
        verdicts=(
            Verdict("expected re-identifications", 10.7755, round(individual, 4), abs(individual - 10.7755) < 5e-5),
            Verdict("documented, by the approximation", 10.78, round(individual, 2), round(individual, 2) == 10.78),
            Verdict("people re-identified by households", 51.80, round(together, 2), round(together, 2) == 51.80),
            Verdict("share of people", "1.13 %", f"{percent:.2f} %", round(percent, 2) == 1.13),
            Verdict("people in unique households, by sets", n_people, int(alone.sum()), n_people == int(alone.sum())),
            Verdict("unique households, by sets", n_households, n_unique, n_households == n_unique),
        ),
    )


def _count_unique_households(cells: dict[str, list[str]]) -> tuple[int, int]:
    """Return people and number of households whose members no other household has."""
    members = defaultdict(list)
    for household, *key in zip(cells["ori_hid"], *(cells[name] for name in KEYS), strict=True):
        members[household].append(tuple(key))
    kinds = Counter(tuple(sorted(keys)) for keys in members.values())
    unique = [keys for keys in members.values() if kinds[tuple(sorted(keys))] == 1]
    return sum(map(len, unique)), len(unique)


def verify_special_uniques() -> Section:
    """Compare the minimal uniques of `testdata` with those of sdcMicro."""
    cells = read_survey()
    table = Table.read({name: cells[name] for name in KEYS}, quasi_identifiers=KEYS)
    uniques = find_special_uniques(table)
    confidence = float(uniques.estimate_intruder_confidence(0.01).max())
    by_size, total = _count_by_size(cells), int(uniques.n_minimal.sum())
    counts = int(np.sum(table.classes.sizes == 1)), uniques.n_pairs
    return Section(
        "Special uniques of testdata",
        verdicts=(
            Verdict("unique rows, pairs", (157, 62), counts, counts == (157, 62)),
            Verdict("minimal uniques by size, by definition", MINIMAL_UNIQUES, by_size, by_size == MINIMAL_UNIQUES),
            Verdict("minimal uniques", sum(by_size), total, sum(by_size) == total),
            Verdict("largest DIS-SUDA", 0.67814, round(confidence, 5), round(confidence, 5) == 0.67814),
        ),
    )


def _count_by_size(cells: dict[str, list[str]]) -> tuple[int, ...]:
    """Return the minimal uniques by size, by their definition."""
    from itertools import combinations

    rows = list(zip(*(cells[name] for name in KEYS), strict=True))
    found: list[list[frozenset[int]]] = [[] for _ in rows]
    totals = [0] * len(KEYS)
    for size in range(1, len(KEYS) + 1):
        for subset in combinations(range(len(KEYS)), size):
            keys = [tuple(row[column] for column in subset) for row in rows]
            counts = Counter(keys)
            for position, key in enumerate(keys):
                if counts[key] == 1 and not any(smaller <= set(subset) for smaller in found[position]):
                    found[position].append(frozenset(subset))
                    totals[size - 1] += 1
    return tuple(totals)


def verify_guide() -> Section:
    """Compare individual risks with table 4.1 of the Guide, in which F is the sum of the weights of a class."""
    frequency, weight = (np.array(values) for values in zip(*FREQUENCIES, strict=True))
    risks = sample_weight_risk(frequency, weight.astype(float))
    verdicts = [
        Verdict(f"f = {f}, F = {w}", published, round(float(risk), 9), abs(risk - published) < 5e-9)
        for (f, w), published, risk in zip(FREQUENCIES, RISKS_OF_GUIDE, risks, strict=True)
    ]
    return Section("Individual risk of the SDC Practice Guide, table 4.1", verdicts=verdicts)


def verify_size() -> Section:
    """Time the risk file of a million records with eight columns."""
    rng = np.random.default_rng(1)
    sizes = (40, 2, 5, 16, 7, 12, 99, 30)
    columns = {f"c{number}": (rng.geometric(0.3, N_LARGE) % size).astype(str) for number, size in enumerate(sizes)}
    others = {"weight": np.full(N_LARGE, 10.0), "home": np.arange(N_LARGE) // 3}
    table = Table.read({**columns, **others}, quasi_identifiers=list(columns), weight="weight", household="home")
    start = time.process_time()
    n_lines = evaluate_records(table).to_csv().count("\n")
    seconds = time.process_time() - start
    mebibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Section(
        "Risk file of a million records",
        verdicts=(
            Verdict("lines", N_LARGE + 1, n_lines, n_lines == N_LARGE + 1),
            Verdict("CPU seconds", "60", f"{seconds:.1f}", seconds <= 60),
            Verdict("peak memory in MiB", "2,048", f"{mebibytes:,.0f}", mebibytes <= 2048),
        ),
    )


N_PROPENSITY = 200
"""Pairs of tables whose propensity score is compared with its expectation."""


def verify_utility() -> Section:
    """Compare analyses with documented values, and the propensity score with its expectation in repeated draws.

    Of a correct model, rows are drawn from the distribution that is fitted to the original; other people are drawn from
    the distribution of the original.
    """
    overlap = float(interval_overlap(*np.array([[0.0], [2.0], [1.0], [3.0]]))[0])
    rng = np.random.default_rng(0)
    of_model, of_people = np.array([_score_draws(rng) for _ in range(N_PROPENSITY)]).T
    error = 3 * of_model.std() / np.sqrt(N_PROPENSITY)
    ratio, ratio_of_people = float(of_model.mean()), float(of_people.mean())
    return Section(
        "Utility for analysts",
        verdicts=(
            Verdict("overlap of [0, 2] and [1, 3] (Karr et al. 2006)", 0.5, overlap, overlap == 0.5),
            Verdict("pMSE ratio of a correct model (Snoke et al. 2018)", 1, f"{ratio:.3f}", abs(ratio - 1) < error),
            Verdict(
                "pMSE ratio of other people, 1 / (1 - c)", 1.5, f"{ratio_of_people:.3f}",
                abs(ratio_of_people - 1.5) < 1.5 * error,
            ),
        ),
    )  # fmt: skip


def _score_draws(rng: np.random.Generator) -> tuple[float, float]:
    """Return the ratios of 500 rows of a model of 1,000 people, and of 500 other people."""
    original, others = rng.multinomial(1000, DISTRIBUTION), rng.multinomial(500, DISTRIBUTION)
    drawn = rng.multinomial(500, original / original.sum())
    tables = [_read_cells(counts) for counts in (original, drawn, others)]
    return score_propensity(tables[0], tables[1]).ratio, score_propensity(tables[0], tables[2]).ratio


DISTRIBUTION = np.outer([0.2, 0.3, 0.5], [0.1, 0.2, 0.3, 0.4]).ravel()
"""Distribution of two columns with 3 and 4 values; the model of the propensity score is saturated."""


def _read_cells(counts: np.ndarray) -> Table:
    """Return a table with so many rows of each pair of values."""
    cells = np.repeat(np.arange(12), counts)
    columns = {"a": [f"a{cell // 4}" for cell in cells], "b": [f"b{cell % 4}" for cell in cells]}
    return Table.read(columns, quasi_identifiers=["a", "b"])


def verify_synthetic_scores() -> Section:
    """Compare CAP and TCAP of a CTGAN release of Adult with a count person by person, and of the original with itself.

    The share of closer rows is 3/4 if half of the rows are copies of members, and the others are strangers.
    """
    release, everybody, mask = read_ctgan()
    tables = [
        assign_roles(table, "occupation", CTGAN) for table in (release, everybody.take(mask), everybody.take(~mask))
    ]
    synthetic, members, _ = tables
    by_key: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for *key, value in zip(*(synthetic[name] for name in (*CTGAN, "occupation")), strict=True):
        by_key[tuple(key)][value] += 1
    shares = [
        by_key[tuple(key)][value] / by_key[tuple(key)].total()
        for *key, value in zip(*(members[name] for name in (*CTGAN, "occupation")), strict=True)
        if tuple(key) in by_key
    ]
    ours = attribution_probability(synthetic, members, "occupation").probability
    itself = targeted_attribution_probability(members, members, "occupation").probability
    rng = np.random.default_rng(0)
    inside, outside = (rng.permutation(np.flatnonzero(side)) for side in (mask, ~mask))
    n = len(outside) // 2
    half, strangers, holdout = (everybody.take(rows) for rows in (inside[:n], outside[:n], outside[n:]))
    mixed = stack_people(half, strangers, half.names)
    closer = closer_to_members(mixed, half, holdout, rng=rng)
    return Section(
        "Scores of synthetic tables, on Adult",
        verdicts=(
            Verdict(
                "CAP, person by person", f"{np.mean(shares):.6f}", f"{ours:.6f}", abs(ours - np.mean(shares)) < 1e-12
            ),
            Verdict("TCAP of the original in itself", 1, itself, itself == 1),
            Verdict("closer to members, half copies", 0.75, f"{closer:.3f}", abs(closer - 0.75) < 0.05),
        ),
    )


STARS = {2: 265, 3: 478, 5: 810}
"""Stars of `testdata` by k with equal prices, which no change may raise. sdcMicro needs 157, 293 and 500, and leaves
70, 53 and 35 people whom exactly one row fits."""


SUBSET_STARS = {"k_pairs": (5, 264), "k_triples": (3, 411)}
"""Required size of the classes of subsets, and the stars of an independent prototype with another rule."""


def verify_suppression() -> Section:
    """Count the stars of local suppression, and the people whom exactly one row fits; and with an important column."""
    cells = read_survey()
    table = Table.read({name: cells[name] for name in KEYS}, quasi_identifiers=KEYS)
    verdicts = []
    for k, expected in STARS.items():
        release, _ = SuppressCells(k=k)(table)
        n_stars = sum(int((release[name] == "*").sum()) for name in KEYS)
        verdicts.append(Verdict(f"stars, k = {k}, at most", expected, n_stars, n_stars <= expected))
    for name, (k, published) in SUBSET_STARS.items():
        release, _ = SuppressCells(k=1, **{name: k})(table)  # type: ignore[arg-type]
        n_stars = sum(int((release[column] == "*").sum()) for column in KEYS)
        verdicts.append(Verdict(f"stars, {name} = {k}", published, n_stars, n_stars <= 1.4 * published))
        smallest = smallest_class_of_subsets(release, SUBSETS[name])
        verdicts.append(Verdict(f"smallest class, {name}, at least", k, smallest, smallest >= k))
    plain, _ = SuppressCells(k=3)(table)
    rows = Counter(zip(*(plain[name] for name in KEYS), strict=True))
    n_alone = sum(
        sum(n for row, n in rows.items() if all(cell in ("*", value) for cell, value in zip(row, person, strict=True)))
        == 1
        for person in set(zip(*(table[name] for name in KEYS), strict=True))
    )
    verdicts.append(Verdict("people whom one row fits, k = 3", 0, n_alone, n_alone == 0))
    release, _ = SuppressCells(k=3, importance={"relat": 20.0})(table)
    before, after = (int((side["relat"] == "*").sum()) for side in (plain, release))
    verdicts.append(Verdict("stars of relat at price 20", "fewer than 10", f"{after} of {before}", after < 10 < before))
    return Section("Local suppression of testdata", verdicts=verdicts)


MODELED: dict[str, tuple[tuple[float, int, int, int], ...]] = {
    "Adult": ((0.01, 80, 63, 16), (0.1, 796, 729, 460)),
    "Fertility": ((0.01, 144, 137, 46), (0.1, 1424, 1384, 1033)),
    "ACS": ((0.05, 640, 637, 193), (0.1, 1300, 1373, 577)),
}
"""Share of people that are sampled; sums over the sample of 1/F, of the risk by the model, and of the risk by weights.
They are those of an independent prototype with other samples."""

ACS_KEYS = ("AGEP", "SEX", "MSP", "RAC1P", "PUMA", "HISP")


def verify_model() -> Section:
    """Compare the log-linear model with the truth in samples of people who are all known.

    The probability exp(-v) that a sample unique is a population unique needs v, the expected number of people who are
    not sampled. With mu (1 - pi) in its place, as in modRisk of sdcMicro, the count is over three times the truth.
    """
    people = {"Adult": _read_adult(), "Fertility": _read_fertility(), "ACS": _read_acs()}
    verdicts = []
    for name, codes in people.items():
        for share, *published in MODELED[name]:
            sums = np.mean([_sum_risks_of_sample(codes, share, seed) for seed in range(2)], axis=0)
            ours, holds = tuple(sums.round().astype(int).tolist()), np.allclose(sums, published, rtol=0.06, atol=2)
            verdicts.append(Verdict(f"{name}, {share:.0%}: 1/F, model, weights", tuple(published), ours, holds))
    sampled, frequency, sizes = _draw_classes(people["Adult"], 0.05, seed=0)
    mean = fit_log_linear(sampled, frequency)[frequency == 1] * 0.95
    truth, ours, without = int(np.sum(sizes[frequency == 1] == 1)), np.exp(-mean / 0.05).sum(), np.exp(-mean).sum()
    verdicts.append(Verdict("Adult, 5%: population uniques", truth, round(ours), abs(ours / truth - 1) < 0.3))
    verdicts.append(Verdict("without 1/pi, at least", 3 * truth, round(without), without >= 3 * truth))
    return Section("Log-linear model of the population", verdicts=verdicts)


def _sum_risks_of_sample(codes: np.ndarray, share: float, seed: int) -> tuple[float, float, float]:
    """Return the sums of 1/F, of the risk by the model and of the risk by weights, over the rows of a sample."""
    sampled, frequency, sizes = _draw_classes(codes, share, seed)
    by_weights = sample_weight_risk(frequency, frequency / share)
    return frequency @ (1 / sizes), frequency @ model_risk(sampled, frequency, share), frequency @ by_weights


def _draw_classes(codes: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the classes of a simple random sample, their rows, and their people in the population."""
    rows = np.random.default_rng(seed).choice(len(codes), round(share * len(codes)), replace=False)
    _, of_person, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    sampled, first, frequency = np.unique(codes[rows], axis=0, return_index=True, return_counts=True)
    return sampled, frequency, sizes[of_person.ravel()[rows[first]]]


def _read_adult() -> np.ndarray:
    """Return the codes of five columns of the 48,842 people of Adult."""
    folder = Path(os.environ["UNMASK_DATA"]) / "tables" / "adult"
    text = "".join((folder / f"adult.{part}").read_text(encoding="utf-8") for part in ("data", "test"))
    people = [cells for line in text.splitlines() if len(cells := line.split(", ")) == 15]
    columns = ([person[column] for person in people] for column in (0, 4, 5, 8, 9))
    return np.stack([np.unique(column, return_inverse=True)[1] for column in columns], axis=1)


def _read_fertility() -> np.ndarray:
    """Return the codes of the eight columns of Fertility 1980."""
    columns = read_encoded(Path(os.environ["UNMASK_DATA"]) / "tables" / "fertility1980.parquet").columns
    return np.stack([column.codes for column in columns.values()], axis=1)


def _read_acs() -> np.ndarray:
    """Return the codes of six columns of the NIST excerpt of the American Community Survey."""
    path = Path(os.environ["UNMASK_DATA"]) / "tables" / "nist" / "national2019.csv.gz"
    return np.stack([column.codes for column in read_encoded(path, names=ACS_KEYS).columns.values()], axis=1)


N_BOOTSTRAP = 1000
"""Bootstrap replicates of households."""


def verify_design() -> Section:
    """Compare the standard error of the share of unique keys with the documented ones, by design and without it.

    The documented error by the bootstrap is that of one draw; other draws differ by 2 %.
    """
    cells = read_survey()
    weight, homes = "sampling_weight", np.unique(cells["ori_hid"], return_inverse=True)[1]
    n_homes = int(homes.max()) + 1
    columns = {name: cells[name] for name in (*KEYS, weight, "ori_hid")}
    times = {"jk1": n_homes / (n_homes - 1) * (1 - np.eye(n_homes)), "bootstrap": _draw_households(cells, homes)}

    def estimate(**roles: str) -> tuple[float, float]:
        replicates = times.get(roles.get("replicate_method", ""), np.empty((0, n_homes)))
        numbers = np.array(cells[weight], dtype=float) * replicates[:, homes]
        weights = {f"replicate{number}": row for number, row in enumerate(numbers)}
        table = Table.read({**columns, **weights}, quasi_identifiers=KEYS, weight=weight, **roles)  # type: ignore[arg-type]
        measured = evaluate(table)
        assert measured.unique_share is not None
        assert measured.unique_share_high is not None
        return measured.unique_share, (measured.unique_share_high - measured.unique_share) / Z95

    share, by_design = estimate(stratum="urbrur", cluster="ori_hid")
    simple, jackknife, bootstrap = (
        estimate(**roles)[1]
        for roles in ({}, *({"replicate_weights": "replicate*", "replicate_method": method} for method in times))
    )
    return Section(
        "Share of unique keys of testdata, with its standard error",
        verdicts=(
            Verdict("share", 0.03428, f"{share:.5f}", round(share, 5) == 0.03428),
            Verdict("error, strata and households", 0.003837, f"{by_design:.6f}", round(by_design, 6) == 0.003837),
            Verdict("error of rows drawn alone", 0.002689, f"{simple:.6f}", round(simple, 6) == 0.002689),
            Verdict("jackknife over households", 0.003851, f"{jackknife:.6f}", round(jackknife, 6) == 0.003851),
            Verdict("bootstrap of households", 0.003887, f"{bootstrap:.6f}", abs(bootstrap / 0.003887 - 1) < 0.05),
        ),
    )


def _draw_households(cells: dict[str, list[str]], homes: np.ndarray) -> np.ndarray:
    """Return the (N_BOOTSTRAP, n_households) factors of the weights if n - 1 of n households of a stratum are drawn."""
    rng = np.random.default_rng(0)
    stratum = np.array(cells["urbrur"])[np.unique(homes, return_index=True)[1]]
    factors = np.zeros((N_BOOTSTRAP, len(stratum)))
    for name in np.unique(stratum):
        members = np.flatnonzero(stratum == name)
        n = len(members)
        factors[:, members] = rng.multinomial(n - 1, np.full(n, 1 / n), N_BOOTSTRAP) * n / (n - 1)
    return factors


PARTS = {
    "survey": verify_survey,
    "uniques": verify_special_uniques,
    "guide": verify_guide,
    "utility": verify_utility,
    "synthetic": verify_synthetic_scores,
    "suppression": verify_suppression,
    "design": verify_design,
    "model": verify_model,
    "size": verify_size,
}

if __name__ == "__main__":
    raise SystemExit(main(__doc__, PARTS))
