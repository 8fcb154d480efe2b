"""Trials of guesses that single people out: on the people of a release, and on as many control people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.measures.base import UndefinedError
from unmask.measures.excess import difference
from unmask.measures.interval import wilson
from unmask.tables.attacks.pairing import Pairing, chunks_where, fits_of, pair
from unmask.tables.attacks.singling_out import Predicate, matching
from unmask.tables.column import classes_of
from unmask.tables.table import Table

MIN_WEIGHT_RATIO = 10
"""A predicate counts if it holds for at most one of this many times the people: its weight is at most 1 / (10 N)."""

Counts = NDArray[np.int64]

MIN_GUESSES = 10
"""Smallest number of guesses for which a share is reported."""


class SingledOut(NamedTuple):
    """Success of guesses that single people out.

    guesses  : those that count; trivial : others, which hold for too many people in general
    people   : N, the people of a trial: of the release, and control people
    share_of_all : share of those that count that exactly one person of the release satisfies
    share    : the same for N of these people; control : of N control people
    baseline : the most that guesses of such weights reach without the release, of N people, see `most_by_chance`;
               of_all : of all people of the release
    low, high : 95 % interval of share - control (Newcombe), of guesses as if each were about other people. Some are
                about the same: of 60 releases that had nothing to do with the members 88 to 95 % of them held 0.
    """

    guesses: int
    trivial: int
    people: int
    share_of_all: float
    share: float
    control: float
    baseline: float
    of_all: float
    low: float
    high: float


class SinglingTrial(NamedTuple):
    """Guesses that were tried on members and control people, as many of either. Further people are left out at random.

    all_members, as_many_members, control : (n_guesses,) people of the release who satisfy each, of N of them, and of N
        control people
    general  : (n_guesses,) people in general who satisfy each, neither members nor control people
    members, people, reference : how many people of the release there are, N, and people in general
    """

    all_members: Counts
    as_many_members: Counts
    control: Counts
    general: Counts
    members: int
    people: int
    reference: int

    @classmethod
    def of(
        cls,
        predicates: Sequence[Predicate],
        members: Table,
        control: Table,
        reference: Table,
        *,
        rng: np.random.Generator,
    ) -> Self:
        """Return all guesses at once, of whatever kinds: each condition is looked up once."""
        n, order = min(members.n_rows, control.n_rows), rng.permutation(members.n_rows)
        as_many, as_many_control = (members.take(order[:n]), control.take(rng.permutation(control.n_rows)[:n]))
        in_members, in_further_members, in_control, general = matching(
            (as_many, members.take(order[n:]), as_many_control, reference), predicates
        )
        return cls(
            in_members + in_further_members, in_members, in_control, general, members.n_rows, n, reference.n_rows
        )

    def only(self, rows: slice) -> Self:
        """Return some of the guesses."""
        return self._replace(
            **{name: getattr(self, name)[rows] for name in ("all_members", "as_many_members", "control", "general")}
        )


def judge_singling_out(trial: SinglingTrial) -> SingledOut:
    """Judge guesses that single people out. By people in general weights are measured: a predicate counts if it holds
    for at most 1 of 10 N of them. Fewer people than that cannot tell such a weight from a larger one, and then
    control people alone say what predicates reach without the release.
    """
    if not trial.people:
        raise UndefinedError("no people were left to try guesses on; give at least 2 control people, better 1,000")
    weight = 1 / (MIN_WEIGHT_RATIO * trial.people)
    counts = trial.general * MIN_WEIGHT_RATIO * trial.people <= trial.reference
    if (guesses := int(counts.sum())) < MIN_GUESSES:
        raise UndefinedError(
            f"{len(counts)} guesses fit one released row only, and {guesses} of them hold for at most 1 of "
            f"{MIN_WEIGHT_RATIO * trial.people:,} people; expected at least {MIN_GUESSES}"
        )
    share_all, share, control = (
        float(np.mean(matches[counts] == 1)) for matches in (trial.all_members, trial.as_many_members, trial.control)
    )
    low, high = _excess_interval(share, control, guesses)
    return SingledOut(
        guesses=guesses,
        trivial=len(counts) - guesses,
        people=trial.people,
        share_of_all=share_all,
        share=share,
        control=control,
        baseline=most_by_chance(weight, trial.people),
        of_all=most_by_chance(weight, trial.members),
        low=low,
        high=high,
    )


def most_by_chance(weight: float, n: int) -> float:
    """Return max over w up to `weight` of n w (1 - w)^(n - 1): how often a guess of such a weight, made without the
    release, fits exactly one of n people. At most about 1 / e, at w = 1 / n.

    >>> round(most_by_chance(1 / 1000, 100), 4), round(most_by_chance(1.0, 100), 4)
    (0.0906, 0.3697)
    """
    w = min(weight, 1 / n)
    return float(n * w * (1 - w) ** (n - 1))


def _excess_interval(of_members: float, control: float, guesses: int) -> tuple[float, float]:
    return difference(*((share, *wilson(share, guesses)) for share in (of_members, control)))


def judge_singling_out_in_boxes(
    release: Table, members: Table, control: Table, *, rng: np.random.Generator
) -> SingledOut:
    """Judge for each class of a release the guess that exactly one person is in its box, the values that its cells
    stand for, and has a hash of the whole record that one of the n rows of the class has on average.

    A random key makes the hash hold for each different record with probability p, independently, so that it holds for
    exactly one of M people with probability u p (1 - p)^(d - 1), where d different records of theirs are in the box and
    u of them are one person's. That is computed, not drawn: of N members with p = 1 / n, about 1 / e where all are
    different; of M control people with p = N / (n M), which expects as many matches as N of them would have. More than
    N of these are left out at random.

    The guesses are of no limited weight: what they reach on control people is what such a weight is worth, and the
    baseline.

    A. Cohen & K. Nissim, "Towards formalizing the GDPR's notion of singling out", PNAS 2020: k-anonymity does not
    prevent predicate singling out, where boxes hold few people but those in the release.
    """
    control = control.take(rng.permutation(control.n_rows)[: members.n_rows])
    of_members, of_control = (_by_key(release, people, n=members.n_rows) for people in (members, control))
    share, control_share, boxes = float(of_members.mean()), float(of_control.mean()), len(of_members)
    low, high = _excess_interval(share, control_share, boxes)
    return SingledOut(boxes, 0, members.n_rows, share, share, control_share, control_share, control_share, low, high)


def _by_key(release: Table, people: Table, *, n: int) -> NDArray[np.float64]:
    """Return (n_classes,) probability that exactly one of some people is picked, who stand for n people."""
    pairing = pair(people, release)
    p = np.minimum(n / (people.n_rows * pairing.sizes), 1.0)
    different, n_single = _records(pairing, people, release)
    return np.asarray(n_single * p * (1 - p) ** np.maximum(different - 1, 0))


def _records(pairing: Pairing, people: Table, release: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (n_classes,) different records of the people in the box of each class, and how many are one person's."""
    records = classes_of(people.columns)
    of_record, n = pairing.observation[records.first], len(pairing.observed)
    counts = (np.bincount(of_record, minlength=n), np.bincount(of_record[records.sizes == 1], minlength=n))
    fits = fits_of(pairing.columns, missing=release.missing)
    row, box = (np.concatenate(chunks) for chunks in zip(*chunks_where(pairing, fits), strict=True))
    inside = csr_array((np.ones(len(row), dtype=np.int64), (box, row)), shape=(len(pairing.sizes), n))
    return np.asarray(inside @ counts[0]), np.asarray(inside @ counts[1])
