"""Reconstruction of ACS blocks, certain claims and calibration: `python verification/published_tables.py`.

The seven people of Garfinkel, Abowd and Martindale are reconstructed from counts, medians and means. The other sections
need UNMASK_DATA. Blocks are drawn from an area of the ACS excerpt of NIST. Their tables are sex x 23 ages x race, sex x
23 ages x Hispanic, and race x Hispanic. Determined cells of small tables are compared with enumeration by rows.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import os
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from show import Section, Verdict, main

import unmask
from unmask.aggregates import AggregateRelease, Domain, Marker, Rule, Statistic, Tabulation, tabulate
from unmask.aggregates.attacks.population import fit_population
from unmask.aggregates.attacks.reconstruction import reconstruct
from unmask.aggregates.attacks.systems import list_systems

AGE_STARTS = (0, 5, 10, 15, 18, 20, 21, 22, 25, 30, 35, 40, 45, 50, 55, 60, 62, 65, 67, 70, 75, 80, 85)
DOMAIN = Domain(
    {
        "sex": ("1", "2"),
        "age": tuple(f"{start:02}+" for start in AGE_STARTS),
        "race": tuple("123456789"),
        "hispanic": ("no", "yes"),
    }
)
QUERIES = (("sex", "age", "race"), ("sex", "age", "hispanic"), ("race", "hispanic"))
ROUNDED, REDACTED = Rule(base=5), Rule(threshold=8, zeros="hidden", base=5)
TABLES, PEOPLE_OF_TABLE, SIDE = 1_000, 25, 4


@cache
def read_people() -> dict[str, np.ndarray]:
    """Return area, sex, age group, race and Hispanic origin of the 27,253 people of the excerpt."""
    path = Path(os.environ["UNMASK_DATA"]) / "tables/nist/national2019.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    age = np.searchsorted(AGE_STARTS, [int(line["AGEP"]) for line in lines], side="right") - 1
    return {
        "area": np.array([line["PUMA"] for line in lines]),
        "sex": np.array([line["SEX"] for line in lines]),
        "age": np.array(DOMAIN.categories["age"])[age],
        "race": np.array([line["RAC1P"] for line in lines]),
        "hispanic": np.where([line["HISP"] != "0" for line in lines], "yes", "no"),
    }


def draw_blocks(n_blocks: int, size: int, *, area: int | None = None, seed: int = 0) -> dict[str, np.ndarray]:
    """Return the records of blocks, each drawn without replacement from one area; by default areas take turns."""
    people, rng = read_people(), np.random.default_rng(seed)
    areas = np.unique(people["area"])
    chosen = [
        rng.choice(
            np.flatnonzero(people["area"] == areas[block % len(areas) if area is None else area]), size, replace=False
        )
        for block in range(n_blocks)
    ]
    records = {name: people[name][np.concatenate(chosen)] for name in DOMAIN.categories}
    return records | {"block": np.repeat([f"b{block:05}" for block in range(n_blocks)], size)}


def publish(records: dict[str, np.ndarray], rule: Rule) -> AggregateRelease:
    """Return the tables of the blocks by a rule."""
    areas = tuple(np.unique(records["block"]).tolist())
    tables = [tabulate(records, columns, rule, DOMAIN, geography="block", areas=areas) for columns in QUERIES]
    return AggregateRelease(DOMAIN, tuple(tables), "block", areas)


def audit(records: dict[str, np.ndarray], rule: Rule) -> tuple[dict[str, float], dict[str, float], float]:
    """Return the record measures, the facts of the audit, and CPU seconds for each block."""
    release, start = publish(records, rule), time.process_time()
    result = unmask.audit(release, records, smallest_shown=1)
    seconds = (time.process_time() - start) / release.n_areas
    measures = {row["measure"]: row["posterior"] for row in result.results if row["target"] == "records"}
    (facts,) = result.tables["aggregates"]
    values = result.tables["aggregates_values"]
    measures["deviation"] = float(np.mean([value["announced"] - value["success"] for value in values]))
    measures["certain values"] = sum(round(value["certain"] * value["people"]) for value in values)
    measures["true values"] = sum(round(value["certain_true"] * value["people"]) for value in values)
    return measures, facts, seconds


def verify_exact() -> Section:
    """Reconstruct blocks of 30 and of 100 from exact tables."""
    audit(draw_blocks(2, 30), Rule())  # compiles
    small, small_facts, seconds = audit(draw_blocks(40, 30), Rule())
    large, large_facts, _ = audit(draw_blocks(40, 100), Rule())
    claims = small_facts["certain_combinations"] + large_facts["certain_combinations"]
    true = small_facts["certain_true"] + large_facts["certain_true"]
    one, records = "areas_reconstructed", "records_reconstructed"
    return Section(
        "Exact tables, 40 blocks of 30 and 40 of 100",
        verdicts=(
            Verdict("blocks of 30 with one solution", "100 %", f"{small[one]:.1%}", small[one] == 1),
            Verdict("records of blocks of 30 reconstructed", "100 %", f"{small[records]:.1%}", small[records] == 1),
            Verdict("CPU milliseconds of a block of 30", "at most 20", f"{1000 * seconds:.1f}", seconds <= 0.02),
            Verdict("blocks of 100 with one solution", "68 to 88 %", f"{large[one]:.1%}", 0.68 <= large[one] <= 0.88),
            Verdict("records of blocks of 100", "at least 99 %", f"{large[records]:.1%}", large[records] >= 0.99),
            Verdict("certain combinations that are true", claims, true, claims == true),
        ),
    )


def compare_race_shares() -> float:
    """Return the estimated minus the true share of the most common race in redacted blocks, mean over areas."""
    race, deviations = DOMAIN.categories["race"], []
    for area in range(len(np.unique(read_people()["area"]))):
        records = draw_blocks(12, 30, area=area)
        release = publish(records, REDACTED)
        others = tuple(axis for axis, name in enumerate(release.columns) if name != "race")
        shares = fit_population(release).reshape(release.shape).sum(axis=others)
        deviations.append(shares.max() - np.mean(records["race"] == race[shares.argmax()]))
    return float(np.mean(deviations))


def verify_areas() -> Section:
    """Compare announced with realized success in redacted blocks of 30, each area with a release of its own.

    Redacted tables do not determine the share of the most common race. Its error is common to all blocks of an area. So
    one area is one draw, and the standard error is that of a mean over areas.
    """
    areas = range(len(np.unique(read_people()["area"])))
    deviations = [audit(draw_blocks(5, 30, area=area), REDACTED)[0]["deviation"] for area in areas]
    mean, error = float(np.mean(deviations)), float(np.std(deviations, ddof=1) / np.sqrt(len(deviations)))
    return Section(
        f"Redacted tables, 5 blocks of 30 of each of {len(deviations)} areas",
        ("smallest", "median", "largest deviation of an area"),
        [tuple(f"{deviation:+.3f}" for deviation in np.quantile(deviations, [0.0, 0.5, 1.0]))],
        verdicts=(
            Verdict("announced minus realized success, mean over columns and areas", "within 0.03",
                    f"{mean:+.3f} ± {1.96 * error:.3f}", abs(mean) <= 0.03),
        ),
    )  # fmt: skip


def verify_protected() -> Section:
    """Attack blocks of 30 from tables that are rounded, and from tables that are redacted and rounded."""
    rows, verdicts = [], []
    for name, rule, vertices in (("rounded to 5", ROUNDED, 0.24), ("below 8 redacted, rounded to 5", REDACTED, 0.06)):
        measures, facts, seconds = audit(draw_blocks(24, 30, area=0), rule)
        records, claims = measures["records_reconstructed"], facts["certain_combinations"]
        true = facts["certain_true"]
        rows.append((name, f"{records:.3f}", claims, facts["unconverged"], f"{seconds:.2f}"))
        verdicts += [
            Verdict(f"{name}: records, by chains", f"at least {vertices}", f"{records:.3f}", records >= vertices),
            Verdict(f"{name}: true certain combinations", claims, true, claims == true),
            Verdict(f"{name}: true certain values", measures["certain values"], measures["true values"],
                    measures["certain values"] == measures["true values"]),
        ]  # fmt: skip
        if rule is ROUNDED:
            deviation = measures["deviation"]
            verdicts.append(
                Verdict(f"{name}: announced minus realized success, mean over columns", "within 0.03",
                        f"{deviation:+.3f}", abs(deviation) <= 0.03)
            )  # fmt: skip
    verdicts.append(Verdict("redacted: no certain combination", 0, rows[1][2], rows[1][2] == 0))
    deviation = compare_race_shares()
    verdicts.append(
        Verdict("redacted: estimated minus true share of the most common race, mean over areas", "within 0.03",
                f"{deviation:+.3f}", abs(deviation) <= 0.03)
    )  # fmt: skip
    heads = ("tables", "records", "certain combinations", "chains without convergence", "CPU s of a block")
    note = (
        "No redacted table shows the number of people of a block. So the share of the most common race is not "
        "determined, and follows a prior, which fits the mean over areas rather than each area."
    )
    return Section("Protected tables, 24 blocks of 30 of one area", heads, rows, (note,), verdicts)


# --- means and medians ------------------------------------------------------------------------------------------------

SEVEN = (
    ("8", "f", "b", "single"), ("18", "m", "w", "single"), ("24", "f", "w", "single"), ("30", "m", "w", "married"),
    ("36", "f", "b", "married"), ("66", "f", "b", "married"), ("84", "m", "b", "married"),
)  # fmt: skip
FEWEST_PEOPLE, YEARS = 3, tuple(map(str, range(1, 126)))
ADULTS, CHILDREN, MARRIED = {"age": YEARS[17:]}, {"age": YEARS[:14]}, {"marital": ["married"]}
STATISTICS: tuple[tuple[str, dict[str, Sequence[str]], int | None, float, float], ...] = (
    ("1A", {}, 7, 30, 38), ("2A", {"sex": "f"}, 4, 30, 33.5), ("2B", {"sex": "m"}, 3, 30, 44),
    ("2C", {"race": "b"}, 4, 51, 48.5), ("2D", {"race": "w"}, 3, 24, 24),
    ("3A", {"marital": ["single"]} | ADULTS, None, 0, 0), ("3B", MARRIED | ADULTS, 4, 51, 54),
    ("4A", {"race": "b", "sex": "f"}, 3, 36, 36.7),
    ("4B", {"race": "b", "sex": "m"}, None, 0, 0), ("4C", {"race": "w", "sex": "m"}, None, 0, 0),
    ("4D", {"race": "w", "sex": "f"}, None, 0, 0), ("5A", {"age": YEARS[:4]}, None, 0, 0),
    ("5B", {"age": YEARS[:17]}, None, 0, 0), ("5C", {"age": YEARS[63:]}, None, 0, 0),
)  # fmt: skip
"""Name, people, their number, median age and mean age in table 1 of the article. Fewer than three are suppressed."""


def verify_statistics() -> Section:
    """Reconstruct the seven people of Garfinkel, Abowd and Martindale from counts, medians and means.

    Ages are 1 to 125, and married people are over 14, as in the authors' program.
    """
    domain = Domain({"age": YEARS, "sex": ("f", "m"), "race": ("b", "w"), "marital": ("single", "married")})
    tables = [Tabulation("married children", (), np.array(0.0), where=MARRIED | CHILDREN)]
    statistics = []
    for name, where, n, median, mean in STATISTICS:
        marker, rule = np.array(Marker.SUPPRESSED if n is None else Marker.PUBLISHED), Rule(FEWEST_PEOPLE, "hidden")
        tables.append(Tabulation(name, (), np.array(np.nan if n is None else n), marker, rule, where))
        if n is not None:
            statistics += [
                Statistic(f"{name} median", (), np.array(median), "median", "age", 1, where),
                Statistic(f"{name} mean", (), np.array(mean), "mean", "age", 1, where),
            ]
    records = dict(zip(domain.columns, np.array(SEVEN).T, strict=True))
    release = AggregateRelease(domain, tuple(tables), statistics=tuple(statistics))
    facts = unmask.audit(release, records, smallest_shown=1).tables["aggregates"][0]
    return Section(
        "Seven people: counts, medians and means",
        verdicts=(
            Verdict("solutions", "one", facts["one_solution"], facts["one_solution"] == 1),
            Verdict("people reconstructed", 7, facts["certain_true"], facts["certain_true"] == 7),
        ),
    )


# --- determined cells -------------------------------------------------------------------------------------------------


def list_possible(published: np.ndarray, row_sums: np.ndarray, column_sums: np.ndarray) -> list[list[set[int]]]:
    """Return the values that each cell may have, by enumeration of rows and of sums of rows over columns.

    published : counts, -1 for a suppressed count of 1 or 2
    """
    choices = [
        [row for row in itertools.product(*(((1, 2) if cell < 0 else (cell,)) for cell in line)) if sum(row) == total]
        for line, total in zip(published.tolist(), row_sums.tolist(), strict=True)
    ]
    reached = [{(0,) * SIDE}]
    for rows in choices:
        reached.append({tuple(np.add(sums, row).tolist()) for sums in reached[-1] for row in rows})
    possible = [[set() for _ in range(SIDE)] for _ in range(SIDE)]
    wanted = {tuple(column_sums.tolist())}
    for position in range(SIDE - 1, -1, -1):
        before = set()
        for sums, row in itertools.product(wanted, choices[position]):
            rest = tuple(np.subtract(sums, row).tolist())
            if rest in reached[position]:
                before.add(rest)
                for column, value in enumerate(row):
                    possible[position][column].add(value)
        wanted = before
    return possible


def draw_small_tables() -> Iterator[tuple[np.ndarray, AggregateRelease]]:
    """Yield 4 x 4 counts, and their release: inner counts of 1 and 2 are suppressed, totals are exact."""
    rng = np.random.default_rng(4)
    labels = tuple(map(str, range(SIDE)))
    domain = Domain({"row": labels, "column": labels})
    for _ in range(TABLES):
        chances = rng.dirichlet(np.ones(SIDE * SIDE))
        cells = rng.choice(SIDE * SIDE, PEOPLE_OF_TABLE, p=chances)
        records = {"row": np.array(labels)[cells // SIDE], "column": np.array(labels)[cells % SIDE]}
        tables = [tabulate(records, ("row", "column"), Rule(threshold=3), domain)]
        tables += [tabulate(records, (name,), Rule(), domain) for name in ("row", "column")]
        yield np.bincount(cells, minlength=SIDE * SIDE).reshape(SIDE, SIDE), AggregateRelease(domain, tuple(tables))


def verify_determined() -> Section:
    """Compare the possible values of suppressed cells with enumeration."""
    different = determined = suppressed = 0
    for counts, release in draw_small_tables():
        hidden = (counts > 0) & (counts < 3)
        expected = list_possible(np.where(hidden, -1, counts), counts.sum(axis=1), counts.sum(axis=0))
        result = reconstruct(next(list_systems(release)), rng=np.random.default_rng(0))
        solutions = np.zeros((len(result.solutions), SIDE * SIDE), dtype=np.int64)
        solutions[:, result.system.cells] = result.solutions
        for place, (row, column) in enumerate(itertools.product(range(SIDE), repeat=2)):
            different += {*solutions[:, place].tolist()} != expected[row][column]
            determined += hidden[row, column] and len(expected[row][column]) == 1
        suppressed += int(hidden.sum())
    return Section(
        f"{TABLES:,} tables of 4 x 4 with suppressed counts",
        ("suppressed cells", "determined by totals"),
        [(suppressed, determined)],
        verdicts=(Verdict("cells with other possible values than by enumeration", 0, different, not different),),
    )


if __name__ == "__main__":
    sys.exit(
        main(
            __doc__,
            {
                "statistics": verify_statistics,
                "exact": verify_exact,
                "determined": verify_determined,
                "protected": verify_protected,
                "areas": verify_areas,
            },
        )
    )
