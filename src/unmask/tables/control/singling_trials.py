"""Trials of singling out: predicates are tested on the people of a release and on a control group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
import scipy

from unmask.core.arrays import Floats, Integers
from unmask.measures.excess import difference
from unmask.measures.interval import wilson
from unmask.measures.measure import UndefinedError
from unmask.tables.attacks.comparisons import compare_levels
from unmask.tables.attacks.pairing import Pairing, iterate_compatible_pairs, pair
from unmask.tables.attacks.singling_out import Predicate, count_matches
from unmask.tables.column import classes_of
from unmask.tables.table import Table

MIN_WEIGHT_RATIO = 10
"""A predicate counts if its weight is at most 1 / (10 N): it holds for at most one of 10 N people in general."""


MIN_GUESSES = 10
"""Smallest number of predicates for which a share is reported."""


class SingledOut(NamedTuple):
    """Success of predicates that single out people.

    Parameters
    ----------
    guesses, trivial : int
        Number of predicates that count, and of predicates that hold for too many people in general.
    people : int
        Number N of people on each side of the trial.
    share_of_all : float
        Share of the counted predicates that exactly one person of the release satisfies.
    share, control : float
        The same share for N people of the release, and for N people of the control group.
    baseline, of_all : float
        Largest share that predicates of this weight reach without the release, for N people and for all people of the
        release, see `most_by_chance`.
    low, high : float
        95 % interval of share - control (Newcombe). It takes predicates as independent, although several may be about
        one person: of 60 releases that were unrelated to the members, 88 to 95 % had intervals that contain 0.
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
    """Number of people who satisfy each predicate, in groups of equal size.

    Parameters
    ----------
    all_members, members_sample, control, general : (n_guesses,) array of int
        People who satisfy each predicate: of the whole release, of N people of the release, of N people of the control
            group, and of the reference, people in general who are in neither group.
    members, people, reference : int
        Number of people in the release, in each sample (N), and in the reference.
    """

    all_members: Integers
    members_sample: Integers
    control: Integers
    general: Integers
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
        """Test all predicates at once, so that each condition is evaluated once."""
        n, order = min(members.n_rows, control.n_rows), rng.permutation(members.n_rows)
        control_sample = control.take(rng.permutation(control.n_rows)[:n])
        in_sample, in_rest, in_control, general = count_matches(
            (members.take(order[:n]), members.take(order[n:]), control_sample, reference), predicates
        )
        return cls(in_sample + in_rest, in_sample, in_control, general, members.n_rows, n, reference.n_rows)

    def only(self, rows: slice) -> Self:
        """Return a selection of the predicates."""
        return self._replace(
            **{name: getattr(self, name)[rows] for name in ("all_members", "members_sample", "control", "general")}
        )


def judge_singling_out(trial: SinglingTrial) -> SingledOut:
    """Compare the share of predicates that single out a member with the share in the control group.

    A predicate counts if it holds for at most one of 10 N people in general. With fewer people in the reference, such
    a small weight cannot be measured, and only the control group shows what predicates reach without the release.

    Raises
    ------
    UndefinedError
        If no people are left, or if fewer than `MIN_GUESSES` predicates count.
    """
    if not trial.people:
        raise UndefinedError(
            "no people are left to test guesses on; give a control group of at least 2 people, better 1,000"
        )
    weight = 1 / (MIN_WEIGHT_RATIO * trial.people)
    counts = trial.general * MIN_WEIGHT_RATIO * trial.people <= trial.reference
    if (guesses := int(counts.sum())) < MIN_GUESSES:
        raise UndefinedError(
            f"{len(counts)} guesses fit one released row only, and {guesses} of them hold for at most 1 of "
            f"{MIN_WEIGHT_RATIO * trial.people:,} people; expected at least {MIN_GUESSES}"
        )
    share_all, share, control = (
        float(np.mean(matches[counts] == 1)) for matches in (trial.all_members, trial.members_sample, trial.control)
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
    """Return the largest probability that a predicate chosen without the release holds for exactly one of n people.

    It is max n w (1 - w)^(n - 1) over all w up to `weight`. The maximum is about 1 / e, at w = 1 / n.

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
    """Compare predicates made from the equivalence classes of a release: "in this class, and its record has hash h".

    A random key selects each distinct record of the class with probability p, independently. Exactly one person is
    selected with probability u p (1 - p)^(d - 1), where d is the number of distinct records of people whose values fit
    the class, and u is the number of these records that belong to one person only. The probability is computed, not
    simulated:

    * For N members, p = 1 / n with n rows in the class. The result is about 1 / e if all records differ.
    * For a control group of M people, p = N / (n M), which has the expected number of matches of N people.
      At most N people are used, drawn at random.

    The weight of these predicates is not limited. The share in the control group is therefore also the baseline.

    References
    ----------
    A. Cohen & K. Nissim, "Towards formalizing the GDPR's notion of singling out", PNAS 2020: k-anonymity does not
    prevent predicate singling out.
    """
    control = control.take(rng.permutation(control.n_rows)[: members.n_rows])
    in_members, in_control = (_select_by_key(release, people, n=members.n_rows) for people in (members, control))
    share, control_share, n_classes = float(in_members.mean()), float(in_control.mean()), len(in_members)
    low, high = _excess_interval(share, control_share, n_classes)
    return SingledOut(
        n_classes, 0, members.n_rows, share, share, control_share, control_share, control_share, low, high
    )


def _select_by_key(release: Table, people: Table, *, n: int) -> Floats:
    """Return (n_classes,) probability that the key selects exactly one person, if the people represent n people."""
    pairing = pair(people, release)
    p = np.minimum(n / (people.n_rows * pairing.sizes), 1.0)
    n_distinct, n_single = _count_records(pairing, people, release)
    return np.asarray(n_single * p * (1 - p) ** np.maximum(n_distinct - 1, 0))


def _count_records(pairing: Pairing, people: Table, release: Table) -> tuple[Integers, Integers]:
    """Return (n_classes,) number of distinct records that fit each class, and of those that one person only has."""
    records = classes_of(people.columns)
    of_record, n = pairing.observation[records.first], len(pairing.observed)
    counts = (np.bincount(of_record, minlength=n), np.bincount(of_record[records.sizes == 1], minlength=n))
    fits = compare_levels(pairing.columns, missing=release.missing)
    row, box = (np.concatenate(chunks) for chunks in zip(*iterate_compatible_pairs(pairing, fits), strict=True))
    inside = scipy.sparse.csr_array((np.ones(len(row), dtype=np.int64), (box, row)), shape=(len(pairing.sizes), n))
    return np.asarray(inside @ counts[0]), np.asarray(inside @ counts[1])
