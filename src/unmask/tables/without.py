"""Leave-one-out: the protection is run again without somebody, and the adversary attacks them all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.randomness import secret_unless
from unmask.measures import Measure
from unmask.measures.added import Added, belief_in_truth
from unmask.tables.attacks import AttributeInference
from unmask.tables.background import Background
from unmask.tables.generators import released
from unmask.tables.knowledge import attribute_truth
from unmask.tables.release import Table

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

Ask = Callable[[Table, Rows], Floats]
"""From a release, and rows of the table that it was made of, to a number about each of those people."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What an adversary knows of the sensitive value of people of a table: a measure of their belief and the truth.

    attack     : one with a `sensitive` column, such as `AttributeInference`; where it simulates, always by the same
                 random numbers, so that releases differ and not luck
    table      : the people, by their rows
    measure    : the belief in the true value, `realized_success`, `log_loss_bits`
    population : what is believed before, the same whoever is in the release; the table when left out
    """

    attack: Any
    table: Table
    measure: Measure = belief_in_truth
    population: Table | None = None

    def __call__(self, release: Table, person: Rows) -> Floats:
        """(n,) the number about each; people of several rows that look alike are asked about once."""
        population = self.table if self.population is None else self.population
        people = replace(self.table.take(person), sensitive=(), kept=(), weight=None)
        told, rng = Background(people, population), np.random.default_rng(0)
        belief: Posterior = self.attack(release, told, rng=rng)
        truth = attribute_truth(self.table, person, belief, self.attack.sensitive)
        return np.where(truth.judged, self.measure.per_target(belief, truth), np.nan)


class LeftOut(NamedTuple):
    """What records add, by 90 % samples of everybody, and by leaving out single people.

    everybody : from the runs that each was in and those that they were not in
    some, worst : people drawn at random, and those to whom `everybody` says their record added most; each of both asked
                  about again, in other releases
    """

    everybody: Added
    some: Added
    worst: Added


def leave_one_out(
    protection: Any,
    table: Table,
    ask: Ask,
    *,
    people: Rows | None = None,
    folds: int = 10,
    repeats: int = 8,
    some: int = 200,
    worst: int = 50,
    rng: np.random.Generator | None = None,
) -> LeftOut:
    """What each person's own record adds: everybody is scored by `rotated`, some and the worst-off run again, `rerun`.

    The scores choose the worst-off and are not reported of them: the largest scores are large by luck, too.

    people : the rows that are asked about, everybody when left out
    """
    rng, among = secret_unless(rng), np.arange(table.n_rows) if people is None else people
    scored = rotated(protection, table, ask, folds=folds, repeats=repeats, people=people, rng=rng)
    drawn = np.sort(rng.choice(among, min(some, len(among)), replace=False))
    again = (rerun(protection, table, ask, people, rng=rng) for people in (drawn, scored.worst(worst)))
    return LeftOut(scored, *again)


def twice_rotated(
    protection: Any,
    table: Table,
    ask: Ask,
    people: Rows,
    *,
    folds: int = 10,
    repeats: int = 8,
    worst: int = 50,
    rng: np.random.Generator | None = None,
) -> LeftOut:
    """The same of a protection that draws, about some people: half of the releases choose the worst-off, and the other
    half say what their records added, and everybody's.
    """
    rng = secret_unless(rng)
    halves = (repeats // 2, repeats - repeats // 2)
    scored, told = (rotated(protection, table, ask, folds=folds, repeats=n, people=people, rng=rng) for n in halves)
    return LeftOut(scored, told, told.among(scored.worst(worst)))


def rotated(
    protection: Any,
    table: Table,
    ask: Ask,
    *,
    folds: int = 10,
    repeats: int = 1,
    people: Rows | None = None,
    cluster: Rows | None = None,
    rng: np.random.Generator | None = None,
) -> Added:
    """Everybody is left out in turn, one of `folds` equal parts at a time, `repeats` times over with other parts.

    Once over is a rotating hold-back: everybody is a control person once. Eight times over ten parts is 80 samples of
    90 %: each person is out of 8 releases and in 72, so that their own difference has an error that can be seen.

    protection : of `unmask.tables`, one of your own, or a generator; see `released`
    people     : the rows that are asked about, everybody when left out
    cluster    : (n,) who of them shares their luck in a release of everybody

    V. Feldman & C. Zhang, NeurIPS 2020, section 1.3 (random samples; here each person is out equally often).
    """
    rng, values, out = secret_unless(rng), [], []
    person = np.arange(table.n_rows) if people is None else people
    for part in parted(table.n_rows, folds=folds, repeats=repeats, rng=rng):
        release = released(protection, table.take(np.flatnonzero(~part)), rng=rng).release
        values.append(ask(release, person))
        out.append(part[person])
    return Added.of(np.array(values), np.array(out), person, cluster)


def parted(n: int, *, folds: int, repeats: int = 1, rng: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
    """(n,) who is left out of each run."""
    if not 2 <= folds <= n or repeats < 1:
        raise UnmaskError(f"{folds} folds of {n} people, {repeats} times, expected from 2 to {n} folds, at least once")
    for _ in range(repeats):
        fold = rng.permutation(np.arange(n) % folds)
        yield from (fold == number for number in range(folds))


def rerun(
    protection: Any,
    table: Table,
    ask: Ask,
    people: Sequence[int] | Rows,
    *,
    pairs: int = 1,
    instead: Sequence[int] | Rows | None = None,
    rng: np.random.Generator | None = None,
) -> Added:
    """Each of some people is left out alone, and the protection run with the same random numbers as with everybody.

    A protection that draws nothing says it all in one pair, and each has an error of nan, not known from one; one that
    draws takes at least a dozen, each with other numbers.

    instead : who is left out when a person is asked about, themselves when not given. For a placebo, strangers: what
              that changes is no doing of the person's record.
    """
    rng, person = secret_unless(rng), np.asarray(people, dtype=np.int64)
    gone = person if instead is None else np.asarray(instead, dtype=np.int64)
    if gone.shape != person.shape or pairs < 1:
        raise UnmaskError(f"{len(gone)} are left out for {len(person)} people, {pairs} times; expected one for each")
    inside, outside = np.empty((pairs, len(person))), np.empty((pairs, len(person)))
    for at, seed in enumerate(rng.integers(2**63, size=pairs)):
        inside[at] = ask(released(protection, table, rng=np.random.default_rng(seed)).release, person)
        for i, left in enumerate(gone):
            rest = table.take(np.delete(np.arange(table.n_rows), left))
            release = released(protection, rest, rng=np.random.default_rng(seed)).release
            outside[at, i] = ask(release, person[i : i + 1])[0]
    spread = np.std(inside - outside, axis=0, ddof=1) if pairs > 1 else np.full(len(person), np.nan)
    return Added(inside.mean(axis=0), outside.mean(axis=0), spread / np.sqrt(pairs), person)


def removed(
    attack: AttributeInference, table: Table, release: Table, origin: Rows, people: Rows | None = None
) -> Added:
    """Of a mechanism that treats each row alone: their row is taken out of the release, and all others stay.

    With p_i the belief that record i is theirs, o their own record and a the truth,

        without = (sum_i p_i [s_i = a] - p_o [s_o = a]) / (1 - p_o)

    with what a record that hides its value says of it for [s_i = a]. It is exact for a link that gives no record a
    weight by the others, as `ClassAttack` on exact cells, where no value is hidden; where no record is left, it is what
    was believed before. Of others it tells who is worth asking about again by `taken_out`: `MechanismAttack` judges
    rows by all of them, and does not list the least likely, who are all that is left of some people.

    origin : the row of the table behind each record; people without one are left out
    people : the rows that are asked about, everybody when left out
    """
    order = np.argsort(origin)
    order = order if people is None else order[np.isin(origin[order], people)]
    person = origin[order]
    others = None if people is None else table.take(np.setdiff1d(np.arange(table.n_rows), person))
    told = Background(replace(table.take(person), sensitive=(), kept=(), weight=None), table, others)
    link = attack.link(release, told, rng=np.random.default_rng(0))
    if np.any((link.unlisted > 0) & (link.n_unlisted == 0)):
        raise UnmaskError(
            "the link believes that some people are in no record, expected prior_present of 1; rerun does it"
        )
    belief = attack.through(link, release, told)
    truth = attribute_truth(table, person, belief, attack.sensitive)
    before = belief_in_truth.per_target(belief.prior(), truth)
    inside, own = belief_in_truth.per_target(belief, truth), _own(link, order)
    said, means = attack.said(release, told)
    theirs = said[order] == truth.candidate
    if means is not None:
        theirs = np.where(truth.candidate >= 0, means[said[order], truth.candidate], 0.0)
    rest = 1 - own
    with np.errstate(invalid="ignore", divide="ignore"):
        without = np.where(rest > 1e-9, (inside - own * theirs) / rest, before)
    return Added(inside, np.clip(without, 0, 1), np.zeros(len(person)), person)


def taken_out(ask: Ask, release: Table, origin: Rows, people: Rows) -> Added:
    """The same exactly, whatever the attack: for each person it is asked again of the release without their rows.

    origin : the row of the table behind each record
    """
    rests = (release.take(np.flatnonzero(origin != who)) for who in people)
    outside = [ask(rest, people[at : at + 1])[0] for at, rest in enumerate(rests)]
    return Added(ask(release, people), np.array(outside), np.zeros(len(people)), people)


def _own(link: Posterior, record: Rows) -> Floats:
    """(n_targets,) the belief of each that their own record is theirs."""
    found = np.zeros(len(record))
    for at, (row, wanted) in enumerate(zip(link.observation, record, strict=True)):
        listed = slice(link.indptr[row], link.indptr[row + 1])
        hit = np.flatnonzero(link.candidate[listed] == wanted)
        found[at] = np.exp(link.log_probability[listed][hit]).sum()
    return found
