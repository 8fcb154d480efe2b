"""Effect of a person's own record, compared with a control group.

    UNMASK_DATA=... python verification/control_people.py

Members are people whom a release was made of, control people others of the same population. Every number stands beside
that of an independent prototype on the same data, within the tolerance that draws of the synthesizers need.

1. Occupation of Adult through Mondrian's boxes, members its training part, control people its test part.
2. The CTGAN release of Adult: are members better known than control people?
3. Membership in releases of 1,000 people by four generators: AUC, true positives at 1 %, calibration, cost.
4. Shadow runs of the generator: what is announced of people comes true.
5. The three questions of WP216 on the CTGAN release: control people are reached as often as members.
6. What an audit with control people costs beside one without.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import adult_files
import numpy as np
from numpy.typing import NDArray
from show import Section, Verdict, run
from synthesizers import Bootstrap, Independent, Trees

import unmask
from unmask import Posterior, Truth
from unmask.measures import realized_success
from unmask.measures.excess import Excess, People, excess
from unmask.measures.membership import evaluate_membership
from unmask.tables import (
    AttributeInference,
    Background,
    ClassAttack,
    ClosestRecord,
    Linkability,
    MarginalRatio,
    Mondrian,
    Parts,
    ShadowMembership,
    SinglingOut,
    Table,
    datasets,
)
from unmask.tables.audit.equivalence_classes import cluster_targets
from unmask.tables.control.membership import cross_fit
from unmask.tables.control.singling_trials import SinglingTrial, judge_singling_out
from unmask.tables.knowledge import attribute_truth

SEEDS = 6
COLUMNS = tuple(name for name in datasets.ADULT_COLUMNS if name not in ("fnlwgt", "education"))
NAMES = (
    "age", "type_employer", "education_num", "marital", "occupation", "relationship", "race", "sex", "capital_gain",
    "capital_loss", "hr_per_week", "country", "income",
)  # fmt: skip
"""The same columns in Anonymeter's files."""

CTGAN = ("age", "education_num", "marital", "race", "sex")


# --- 1: classes ------------------------------------------------------------------------------------------------------


@cache
def adult() -> tuple[dict[str, NDArray[np.str_]], int]:
    """Both parts of Adult, complete rows, and how many are of the training part."""
    parts = [list(_rows(name)) for name in ("adult/adult.data", "adult/adult.test")]
    return dict(zip(datasets.ADULT_COLUMNS, np.array(parts[0] + parts[1]).T, strict=True)), len(parts[0])


def _rows(name: str, *, complete: bool = True) -> Iterator[list[str]]:
    with datasets.locate(name).open() as lines:
        for row in csv.reader(lines, skipinitialspace=True):
            if len(row) == len(datasets.ADULT_COLUMNS) and not (complete and "?" in row):
                yield [cell.rstrip(".") for cell in row]


def classes() -> Section:
    """Members, control people and excess at three sizes of classes."""
    columns, n = adult()
    everybody = Table.read(
        {name: columns[name] for name in (*datasets.Q5, "occupation")},
        quasi_identifiers=datasets.Q5,
        sensitive="occupation",
        na=(),
    )
    inside, members = np.arange(everybody.n_rows) < n, everybody.take(slice(0, n))
    told_of = Background(replace(everybody, sensitive=()), members)
    rows, verdicts = [], []
    for k, expected in ((5, (0.3700, 0.2790)), (10, (0.3513, 0.2870)), (50, (0.3226, 0.2995))):
        release, _ = Mondrian(k=k)(members, rng=np.random.default_rng(0))
        link = ClassAttack()(release, told_of)
        belief = AttributeInference("occupation").through(link, release, told_of)
        truth = attribute_truth(everybody, np.arange(everybody.n_rows), belief, "occupation")
        found = _added(belief, truth, inside, cluster_targets(link))
        rows.append((f"k = {k}", *_told(found)))
        for who, one, other in zip(("members", "control people"), expected, found[:2], strict=True):
            verdicts.append(Verdict(f"k = {k}: {who}", f"{one:.4f}", f"{other:.4f}", abs(one - other) < 1e-3))
    return Section("Occupation through Mondrian's boxes, Adult", _HEAD, tuple(rows), verdicts=tuple(verdicts))


def _added(
    belief: Posterior, truth: Truth, inside: NDArray[np.bool_], cluster: NDArray[np.int64] | None = None
) -> Excess:
    sides = (People.of(realized_success, belief, truth, cluster=cluster, mask=who) for who in (inside, ~inside))
    return excess(realized_success, *sides)


_HEAD = ("release", "members", "control", "excess", "interval")


def _told(found: Excess) -> tuple[str, ...]:
    ends = "-" if found.low is None else f"{found.low:.4f} to {found.high:.4f}"
    return (*(f"{x:.4f}" for x in (found.members, found.control, found.excess)), ends)


# --- 2 and 5: CTGAN --------------------------------------------------------------------------------------------------


@cache
def ctgan() -> tuple[Table, Table, NDArray[np.bool_]]:
    """The release, all of Adult, and who is not among the control people."""
    roles = {"quasi_identifiers": NAMES, "sensitive": ()}
    release, control = adult_files.synthetic(**roles), adult_files.control(**roles)
    parts = ("adult/adult.data", "adult/adult.test")
    cells = np.array([row for name in parts for row in _rows(name, complete=False)]).T
    columns = dict(zip(NAMES, cells[[datasets.ADULT_COLUMNS.index(name) for name in COLUMNS]], strict=True))
    everybody = Table.read(columns, quasi_identifiers=NAMES, na=(), like=release)
    return release, everybody, _without(everybody, control)


def _without(everybody: Table, some: Table) -> NDArray[np.bool_]:
    """Who is left when as many of each kind of row as there are of some people are taken away."""
    left = Counter(zip(*(some[name] for name in some.names), strict=True))
    kept = np.ones(everybody.n_rows, dtype=np.bool_)
    for at, row in enumerate(zip(*(everybody[name] for name in some.names), strict=True)):
        if left[row]:
            left[row] -= 1
            kept[at] = False
    return kept


def generated() -> Section:
    """What members and control people are known by through a generator that hardly remembers anybody."""
    release, everybody, inside = ctgan()
    secret = everybody.column("occupation")
    known = tuple(everybody.column(name) for name in CTGAN)
    people = replace(everybody, quasi_identifiers=known, sensitive=(secret,))
    shown = replace(release, quasi_identifiers=tuple(release.column(name) for name in CTGAN))
    shown = replace(shown, sensitive=(release.column("occupation"),))
    told_of = Background(replace(people, sensitive=()), people)
    belief = AttributeInference("occupation")(shown, told_of)
    truth = attribute_truth(people, np.arange(people.n_rows), belief, "occupation")
    found = _added(belief, truth, inside)
    verdicts = [
        Verdict("every control person is found in Adult", "9,758", f"{(~inside).sum():,}", (~inside).sum() == 9758),
        _nothing("occupation: members are known no better", found),
    ]
    rows = (("CTGAN", *_told(found)),)
    return Section("Occupation through a CTGAN release of Adult", _HEAD, rows, verdicts=tuple(verdicts))


def _nothing(claim: str, found: Excess) -> Verdict:
    assert found.low is not None
    assert found.high is not None
    return Verdict(claim, "0 in the interval", f"{found.low:.4f} to {found.high:.4f}", found.low <= 0 <= found.high)


def questions() -> Section:
    """Linkability and singling out, on the CTGAN release and on the members themselves."""
    release, everybody, inside = ctgan()
    rng = np.random.default_rng(0)
    members, others = rng.permutation(np.flatnonzero(inside)), rng.permutation(np.flatnonzero(~inside))
    rows, verdicts = [], []
    for name, table in (("CTGAN", release), ("the members themselves", everybody.take(members[:10_000]))):
        found = _linked(table, everybody.take(np.concatenate([members[:1000], others[:1000]])), rng)
        predicates = SinglingOut()(table, rng=rng)
        parts = (everybody.take(members[:4000]), everybody.take(others[:4000]), everybody.take(others[4000:]))
        single = judge_singling_out(SinglingTrial.of(predicates, *parts, rng=rng))
        ends = f"{single.low:.4f} to {single.high:.4f}"
        rows.append((f"{name}: linkability", *_told(found)))
        alone = (f"{single.share:.4f}", f"{single.control:.4f}", f"{single.share - single.control:.4f}", ends)
        rows.append((f"{name}: singling out, {single.guesses} guesses, baseline {single.baseline:.3f}", *alone))
        if table is release:
            holds = single.low <= 0 <= single.high
            verdicts.append(_nothing("CTGAN: parts of members are linked no better", found))
            verdicts.append(Verdict("CTGAN: members are singled out no oftener", "0 in the interval", ends, holds))
        else:
            assert found.low is not None
            verdicts.append(Verdict("members themselves: linked better", "above 0", f"{found.low:.4f}", found.low > 0))
            verdicts.append(Verdict("members themselves: singled out", "above 0", ends, single.low > 0))
    return Section("Two questions of WP216, with control people", _HEAD, tuple(rows), verdicts=tuple(verdicts))


def _linked(release: Table, people: Table, rng: np.random.Generator) -> Excess:
    """The first half of the people are members."""
    order = rng.permutation(people.n_rows)
    first, second = (
        replace(people, quasi_identifiers=tuple(people.column(name) for name in names))
        for names in (("age", "marital", "sex"), ("education_num", "race", "occupation"))
    )
    belief = Linkability()(release, Parts(first, other=second.take(order)))
    inside = np.arange(people.n_rows) < people.n_rows // 2
    return _added(belief, Truth(np.argsort(order)), inside)


# --- 3 and 4: membership ---------------------------------------------------------------------------------------------


@cache
def people() -> Table:
    """The training part of Adult, all but two columns."""
    return datasets.adult(quasi_identifiers=COLUMNS, sensitive=())


def scene(generator: object, seed: int, *, targets: int = 1000) -> tuple[Table, Background, NDArray[np.bool_]]:
    """A release of 1,000 people; as many targets who are in it as who are not, and 20,000 people in general."""
    table, rng = people(), np.random.default_rng(seed)
    order = rng.permutation(table.n_rows)
    release, _ = generator(table.take(order[:1000]), rng=rng)  # type: ignore[operator]
    asked = table.take(np.concatenate([order[:targets], order[1000 : 1000 + targets]]))
    return release, Background(asked, table.take(order[2000:22_000])), np.arange(2 * targets) < targets


EXPECTED = {Bootstrap(): 0.70, Trees(5): 0.65, Trees(20): 0.605, Independent(): 0.55}
"""Generator -> AUC of marginal ratios."""


_SHOWN = ("membership_auc", "true_positive_rate_at_0.01", "epsilon_at_least", "off")


def membership() -> Section:
    """Marginal ratios and closest records on four generators; means over seeds."""
    rows, verdicts, slowest = [], [], 0.0
    for generator, expected in EXPECTED.items():
        mean = {}
        for attack in (MarginalRatio(), ClosestRecord()):
            found = [attacked(generator, attack, seed) for seed in range(SEEDS)]
            slowest = max(slowest, *(one["cost"] for one in found))
            of = {name: float(np.mean([one[name] for one in found])) for name in _SHOWN}
            rows.append((repr(generator), type(attack).__name__, *(f"{of[name]:.3f}" for name in _SHOWN)))
            mean[type(attack).__name__] = of
        margins, closest = mean.values()
        off = max(abs(of["off"]) for of in mean.values())
        verdicts += [
            _near(f"{generator}: AUC of margins", expected, margins["membership_auc"]),
            Verdict(f"{generator}: announced is realized", "3 points", f"{100 * off:.1f}", off <= 0.03),
        ]
        if generator == Bootstrap():
            auc, rate = closest["membership_auc"], closest["true_positive_rate_at_0.01"]
            verdicts.append(Verdict("Bootstrap(): AUC of closest records", "0.80", f"{auc:.3f}", auc >= 0.8))
            verdicts.append(Verdict("Bootstrap(): true positives at 1 %", "0.60", f"{rate:.3f}", rate >= 0.6))
        if generator == Trees(5):
            both = [of["membership_auc"] for of in mean.values()]
            told_apart = " > ".join(f"{auc:.3f}" for auc in both)
            verdicts.append(Verdict("Trees(5): margins tell more than distances", "yes", told_apart, both[0] > both[1]))
    verdicts.append(Verdict("CPU seconds: 2,000 targets, 21,000 rows", "0.5", f"{slowest:.2f}", slowest <= 0.5))
    head = ("generator", "attack", *_SHOWN)
    return Section("Who is in a release of 1,000 people of Adult?", head, tuple(rows), verdicts=tuple(verdicts))


def attacked(generator: object, attack: MarginalRatio | ClosestRecord, seed: int) -> dict[str, float]:
    """The measures of one attack, the CPU seconds that it took, and how far announced success is from realized."""
    release, known, inside = scene(generator, seed)
    start, truth = time.process_time(), Truth(np.where(inside, 0, 1))
    belief = attack(release, known)
    cost, fitted = time.process_time() - start, cross_fit(belief, inside)
    off = float(fitted.weight @ fitted.to_dense().max(axis=1)) - realized_success(fitted, truth)
    return {row.measure: row.posterior for row in evaluate_membership(belief, truth).rows} | {"cost": cost, "off": off}


def _near(claim: str, expected: float, found: float) -> Verdict:
    return Verdict(claim, f"{expected} +- 0.03", f"{found:.3f}", abs(found - expected) <= 0.03)


def shadows() -> Section:
    """The generator is run again: what is announced, and what comes true, over all seeds."""
    rows, verdicts = [], []
    for generator in (Trees(5), Independent()):
        each = []
        for seed in range(SEEDS):
            release, known, inside = scene(generator, seed, targets=200)
            belief = ShadowMembership(generator)(release, known, rng=np.random.default_rng(seed))
            truth = Truth(np.where(inside, 0, 1))
            announced = float(belief.to_dense().max(axis=1).mean())
            each.append(
                (announced, realized_success(belief, truth), evaluate_membership(belief, truth).rows[0].posterior)
            )
        announced, realized, auc = np.mean(each, axis=0).tolist()
        rows.append((repr(generator), *(f"{value:.3f}" for value in (announced, realized, auc))))
        off = announced - realized
        verdicts.append(
            Verdict(f"{generator}: announced is realized", "3 points", f"{100 * off:.1f}", abs(off) <= 0.03)
        )
    auc = rows[0][-1]  # 0.641 of the prototype, with 10 columns; here they are 13
    verdicts.append(Verdict("Trees(5): AUC on people drawn at random", "0.641, 10 columns", auc, float(auc) >= 0.641))
    head = ("generator", "announced", "realized", "AUC")
    return Section("Shadow runs, 160 worlds", head, tuple(rows), verdicts=tuple(verdicts))


# --- 6: what control people cost --------------------------------------------------------------------------------------

AUDIT = ("audit", "release.csv", "-q", ",".join(datasets.Q5), "-s", "occupation", "--original", "people.csv")
CONTROL = ("--control", "others.csv")


def cost() -> Section:
    """CPU seconds of an audit of Adult, k = 10, with its test part as control people or without: the median of 9.

    They run in turn, so that what else runs on the machine meets both. How many times as long one takes is the median
    of what each round says: the least of either may be of different rounds, and strays twice as much.
    """
    columns, n = adult()
    kept = {name: columns[name] for name in (*datasets.Q5, "occupation")}
    everybody = Table.read(kept, quasi_identifiers=datasets.Q5, sensitive="occupation", na=())
    before, others = everybody.take(slice(0, n)), everybody.take(slice(n, None))
    release, origin = Mondrian(k=10)(before, rng=np.random.default_rng(0))
    given: dict[str, Any] = {"original": before, "origin": origin}
    with TemporaryDirectory() as folder:
        for name, table in (("release", release), ("people", before), ("others", others)):
            table.to_frame(library="pandas").to_csv(Path(folder, f"{name}.csv"), index=False)
        Path(folder, "origin.csv").write_text("\n".join(["row", *map(str, origin.tolist())]) + "\n")
        asked = [(lambda: _spent(lambda: unmask.audit(release, **given)), "in process, without"),
                 (lambda: _spent(lambda: unmask.audit(release, **given, control=others)), "in process, with"),
                 (lambda: _of_command(folder), "the whole command, without"),
                 (lambda: _of_command(folder, *CONTROL), "the whole command, with")]  # fmt: skip
        rounds = [{name: run_once() for run_once, name in asked} for _ in range(RUNS)]
    found = {name: float(np.median([one[name] for one in rounds])) for _, name in asked}
    ratios = {
        what: float(np.median([one[f"{what}, with"] / one[f"{what}, without"] for one in rounds]))
        for what in ("in process", "the whole command")
    }
    rows = tuple((name, f"{seconds:.2f}") for name, seconds in found.items())
    verdicts = tuple(Verdict(f"{what}: times as long", "2.0", f"{one:.2f}", one <= 2) for what, one in ratios.items())
    note = "OPENBLAS_NUM_THREADS=1 in the command, and expected of this program; several threads only wait in CPU time."
    return Section("An audit with control people", ("audit", "CPU s"), rows, (note,), verdicts)


RUNS = 9


def _spent(run_once: Callable[[], object]) -> float:
    start = time.process_time()
    run_once()
    return time.process_time() - start


def _of_command(folder: str, *more: str) -> float:
    before = os.times()
    command = (sys.executable, "-m", "unmask_command", *AUDIT, "--origin", "origin.csv", "--json", *more)
    subprocess.run(
        command, cwd=folder, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, check=True, capture_output=True
    )
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


PARTS = (classes, generated, membership, shadows, questions, cost)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", type=int, choices=range(1, 7), action="append", help="only this part; repeatable")
    sys.exit(run(PARTS[number - 1] for number in sorted(set(parser.parse_args().part or range(1, 7)))))
