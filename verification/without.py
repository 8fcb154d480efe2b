"""What a person's own record adds: leave-one-out and people held back, on Adult through Mondrian's boxes.

`UNMASK_DATA=... python verification/without.py`. Every number stands beside that of an independent prototype on the
same data (30,162 people of the training part, occupation, five quasi-identifiers), within 2.5 standard errors of both.

1. hold_back: the excess over those held back, for a twentieth, a fifth and a half; and everybody in turn.
2. Leave-one-out by 90 % samples, and by running the protection again without 200 people.
3. The worst-off: scored by samples, run again; a placebo; how far one score repeats in another.
4. What the adversary answers about people whom no box holds decides what an edge of a box adds.
5. The mean of a toy equals the excess, by enumeration.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
from added import adult
from numpy.typing import NDArray
from show import Section, Verdict, run

from unmask.cases.tables.boxes import boxes_of
from unmask.measures import Measure, realized_success
from unmask.measures.added import Added, belief_in_truth
from unmask.measures.excess import Excess, People, excess
from unmask.tables import (
    AttributeInference,
    Background,
    BackOff,
    ClassAttack,
    Mondrian,
    NearestNeighbor,
    Table,
    datasets,
)
from unmask.tables.control import hold_back
from unmask.tables.knowledge import attribute_truth
from unmask.tables.without import Asked, rerun, rotated

SECRET = "occupation"
DRAWS = 6


@cache
def everybody() -> tuple[Table, int]:
    """Both parts of Adult, complete rows, and how many are of the training part."""
    columns, n = adult()
    kept = {name: columns[name] for name in (*datasets.Q5, SECRET)}
    return Table.read(kept, quasi_identifiers=datasets.Q5, sensitive=SECRET, na=()), n


@cache
def table() -> Table:
    """The training part of Adult."""
    return everybody()[0].take(slice(0, everybody()[1]))


@cache
def boxes(k: int) -> NDArray[np.int64]:
    """(n,) the box of each in the release of everybody."""
    release, _ = Mondrian(k=k)(table(), rng=np.random.default_rng(0))
    return boxes_of(ClassAttack()(release, Background(_known(table()))))


class Nothing(BackOff):
    """Learns nothing from a release, so that who is in no box is given the margin."""

    def refusal(self, release: Table, knowledge: Background | None = None) -> str:  # noqa: ARG002
        """Always."""
        return "the margin is what was asked for"


MARGIN = AttributeInference(SECRET, outside=Nothing(SECRET))
"""The adversary of the prototype, who gives up about people whom no box holds."""


def _known(people: Table) -> Table:
    return replace(people, sensitive=())


@dataclass(frozen=True, eq=False)
class Closest:
    """The same question, answered about people whom no box holds by the closest box instead of by the margin."""

    ask: Asked

    def __call__(self, release: Table, person: NDArray[np.int64]) -> NDArray[np.float64]:
        """(n,) the belief in the truth."""
        found, people = self.ask(release, person), self.ask.table
        link = ClassAttack()(release, Background(_known(people.take(person))))
        nobody = np.flatnonzero((link.row_length == 0)[link.observation])
        if len(nobody):
            asked = people.take(person[nobody])
            belief = AttributeInference(SECRET, NearestNeighbor())(release, Background(_known(asked), people))
            truth = attribute_truth(people, person[nobody], belief, SECRET)
            found[nobody] = self.ask.measure.per_target(belief, truth)
        return found


def asked(measure: Measure = belief_in_truth) -> Asked:
    """The adversary who knows the five columns, reads their boxes, and gives up outside."""
    return Asked(MARGIN, table(), measure)


def _near(claim: str, expected: float, found: float, within: float) -> Verdict:
    shown = f"{expected:.3f} +- {within:.3f}"
    return Verdict(claim, shown, f"{found:.4f}", abs(found - expected) <= within)


def _half(found: Added) -> float:
    interval = found.mean()[1]
    return 0.0 if interval.low is None or interval.high is None else (interval.high - interval.low) / 2


# --- 1: people held back ---------------------------------------------------------------------------------------------


def held() -> Section:
    """k = 10: the excess over people held back, by how many; the truth with others outside is 0.0688."""
    rows, verdicts = [], []
    for share, expected, deviation in ((0.05, 0.060, 0.013), (0.2, 0.066, 0.006), (0.5, 0.080, 0.004)):
        found = [_excess(share, seed) for seed in range(DRAWS)]
        mean, spread = np.mean([one.excess for one in found]), np.std([one.excess for one in found], ddof=1)
        rows.append((f"held back {share:.0%}, {DRAWS} draws", f"{mean:.4f}", f"{spread:.4f}"))
        within = 2.5 * deviation * np.sqrt(1 / DRAWS + 1 / DRAWS)
        verdicts.append(_near(f"held back {share:.0%}: excess", expected, float(mean), float(within)))
    for folds, expected, half in ((10, 0.0658, 0.0050), (5, 0.0687, 0.0051)):
        start = time.process_time()
        ask, rng = asked(realized_success), np.random.default_rng(folds)
        turn = rotated(Mondrian(k=10), table(), ask, folds=folds, cluster=boxes(10), rng=rng)
        cost = time.process_time() - start
        rows.append(
            (f"everybody in turn, {folds} parts", f"{turn.mean()[0]:.4f}", f"{_half(turn):.4f} (half interval)")
        )
        verdicts += [
            _near(f"in turn, {folds} parts: excess", expected, turn.mean()[0], half),
            _near(f"in turn, {folds} parts: half of the interval", half, _half(turn), 0.0005),
        ]
        if folds == 10:
            verdicts.append(Verdict("in turn, 10 parts: CPU seconds", "1.3", f"{cost:.1f}", cost <= 5))
    return Section(
        "People held back, k = 10", ("who", "excess", "sd over draws"), tuple(rows), verdicts=tuple(verdicts)
    )


def _excess(share: float, seed: int) -> Excess:
    rng = np.random.default_rng([seed, round(100 * share)])
    people = hold_back(table(), share, rng=rng)
    release, _ = Mondrian(k=10)(people.members, rng=rng)
    sides = []
    for some in (people.members, people.control):
        assert some is not None
        told = Background(_known(some), people.members)
        link = ClassAttack()(release, told)
        belief = MARGIN.through(link, release, told)
        truth = attribute_truth(some, np.arange(some.n_rows), belief, SECRET)
        sides.append(People.of(realized_success, belief, truth, cluster=boxes_of(link)))
    return excess(realized_success, *sides)


# --- 2: leave-one-out ------------------------------------------------------------------------------------------------


@cache
def scored(k: int, seed: int = 0) -> Added:
    """80 samples of 90 %, with the closest box for people outside."""
    return rotated(Mondrian(k=k), table(), Closest(asked()), repeats=8, rng=np.random.default_rng([k, seed]))


@cache
def some() -> NDArray[np.int64]:
    """200 people drawn at random."""
    return np.random.default_rng(7).choice(table().n_rows, 200, replace=False)


def left_out() -> Section:
    """Mean belief added, by samples of everybody and by running again without 200."""
    rows, verdicts = [], []
    for k, expected, error, sampled in ((5, 0.056, 0.009, 0.060), (10, 0.034, 0.004, 0.037), (50, 0.011, 0.001, None)):
        start = time.process_time()
        samples = scored(k)
        cost = time.process_time() - start
        again = rerun(Mondrian(k=k), table(), Closest(asked()), some(), rng=np.random.default_rng(0))
        mean, own = again.mean()[0], _half(again) / 1.96
        rows.append((f"k = {k}", f"{samples.mean()[0]:.4f}", f"{mean:.4f} +- {own:.4f}", f"{cost:.0f}"))
        verdicts.append(_near(f"k = {k}: run again without 200", expected, mean, 2.5 * float(np.hypot(error, own))))
        if sampled is not None:
            verdicts.append(_near(f"k = {k}: 90 % samples", sampled, samples.mean()[0], 0.003))
        verdicts.append(_equal(k, samples))
    header = ("boxes", "90 % samples", "run again, 200 people", "CPU s of 80 samples")
    note = "The prototype's errors are standard errors of its own 200 people; ours were drawn apart."
    return Section("Belief in the true occupation added", header, tuple(rows), (note,), tuple(verdicts))


def _equal(k: int, samples: Added) -> Verdict:
    """The mean of what records add, and members less control people: the test part, who are in no release."""
    whole, n = everybody()
    release, _ = Mondrian(k=k)(table(), rng=np.random.default_rng(0))
    belief = Closest(Asked(MARGIN, whole, population=table()))(release, np.arange(whole.n_rows))
    link = boxes_of(ClassAttack()(release, Background(_known(whole))))
    weight = np.ones(whole.n_rows)
    sides = (People(belief[some], weight[some], link[some]) for some in (slice(0, n), slice(n, None)))
    found = excess(belief_in_truth, *sides)
    mean, (low, high, _) = samples.mean()
    assert found.low is not None
    assert found.high is not None
    assert low is not None
    assert high is not None
    within = float(np.hypot(found.high - found.low, high - low)) / 2
    shown = f"{found.excess:.4f} +- {within:.4f}"
    return Verdict(f"k = {k}: members less control people", shown, f"{mean:.4f}", abs(mean - found.excess) <= within)


# --- 3: the worst-off ------------------------------------------------------------------------------------------------


def worst() -> Section:
    """The 50 to whom samples say that most was added, run again without them alone; k = 10, the closest box."""
    first, second = scored(10), scored(10, 1)
    people, ask = first.worst(50), Closest(asked())
    again = rerun(Mondrian(k=10), table(), ask, people, rng=np.random.default_rng(0))
    strangers = np.random.default_rng(3).choice(table().n_rows, 20, replace=False)
    placebo = rerun(Mondrian(k=10), table(), ask, people[:20], instead=strangers, rng=np.random.default_rng(0))
    before, after = float(first.each[people].mean()), float(second.each[people].mean())
    repeats = float(np.corrcoef(first.each, second.each)[0, 1])
    rows = (
        ("their scores", f"{before:.4f}", f"{first.each[people].max():.4f}"),
        ("the same people's scores by 80 other samples", f"{after:.4f}", f"{second.each[people].max():.4f}"),
        ("run again without them", f"{again.mean()[0]:.4f}", f"{again.each.max():.4f}"),
        ("run again without a stranger", f"{placebo.mean()[0]:.4f}", f"{np.abs(placebo.each).max():.4f}"),
    )
    verdicts = (
        _near("50 worst, run again", 0.305, again.mean()[0], 2.5 * float(np.hypot(0.045, _half(again)) / 1.96)),
        Verdict(
            "far above everybody's mean of 0.037", "8 times", f"{again.mean()[0] / 0.037:.1f}", again.mean()[0] > 0.2
        ),
        _near("largest, run again", 0.83, float(again.each.max()), 0.1),
        _near("two scores correlate", 0.757, repeats, 0.05),
        Verdict(
            "the chosen lose in other samples", "an eighth", f"{1 - after / before:.3f}", 0 < 1 - after / before < 0.25
        ),
        Verdict("placebo: a stranger's record", "0.0000", f"{np.abs(placebo.each).max():.4f}", not placebo.each.any()),
    )
    return Section("The 50 worst-off, k = 10", ("who", "mean", "largest"), rows, verdicts=verdicts)


# --- 4: nobody's box -------------------------------------------------------------------------------------------------


def edges() -> Section:
    """An adversary who gives up about people whom no box holds makes much of records at the edge of a box."""
    rows, means = [], {}
    learner = Asked(AttributeInference(SECRET), table())
    for name, ask in (("the margin", asked()), ("the closest box", Closest(asked())), ("what is learned", learner)):
        found = rotated(Mondrian(k=10), table(), ask, repeats=8, rng=np.random.default_rng(5))
        people = found.worst(50)
        again = rerun(Mondrian(k=10), table(), ask, people, rng=np.random.default_rng(0))
        means[name] = again.mean()[0]
        rows.append((name, f"{found.mean()[0]:.4f}", f"{again.mean()[0]:.4f}", f"{again.each.max():.4f}"))
    lazy, less, least = means.values()
    shown = f"{lazy:.3f} > {less:.3f} > {least:.3f}"
    verdict = Verdict("the less they give up, the less records add", "yes", shown, lazy > less > least)
    header = ("answer outside every box", "mean of everybody", "50 worst, run again", "largest")
    return Section("People whom no box holds, k = 10", header, tuple(rows), verdicts=(verdict,))


# --- 5: the theorem --------------------------------------------------------------------------------------------------


def theorem() -> Section:
    """Members drawn alike from four kinds of people: E added = E success of members - E success of control people."""
    columns = {"age": [30, 30, 40, 50], "ill": list("abba")}
    kinds, share = Table.read(columns, quasi_identifiers="age", sensitive="ill"), np.array([0.4, 0.1, 0.3, 0.2])
    rows, verdicts = [], []
    for k in (1, 2, 3):
        added = members = controls = 0.0
        for world, p in _drawn(kinds, share, k + 1):
            ask = Asked(AttributeInference("ill"), world, realized_success, kinds)
            found = rerun(Mondrian(k=k), world, ask, np.arange(k + 1), rng=np.random.default_rng(0))
            added, members = added + p * found.each.mean(), members + p * found.inside.mean()
        for world, p in _drawn(kinds, share, k):
            release, _ = Mondrian(k=k)(world, rng=np.random.default_rng(0))
            told = Asked(AttributeInference("ill"), kinds, realized_success)(release, np.arange(4))
            controls += p * float(told @ share)
        off = abs(added - members + controls)
        rows.append((f"k = {k}, n = {k + 1}", f"{added:.6f}", f"{members:.6f}", f"{controls:.6f}"))
        verdicts.append(Verdict(f"k = {k}: added is the excess", "to 1e-9", f"{off:.1e}", off < 1e-9))
    return Section("By enumeration", ("boxes", "added", "members", "control"), tuple(rows), verdicts=tuple(verdicts))


def _drawn(kinds: Table, share: NDArray[np.float64], n: int) -> Iterator[tuple[Table, float]]:
    for rows in product(range(len(share)), repeat=n):
        yield kinds.take(np.array(rows)), float(np.prod(share[list(rows)]))


if __name__ == "__main__":
    sys.exit(run((held, left_out, worst, edges, theorem)))
