"""Outcomes of an attack by node, as rates, and by degree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.csr_rows import distinct
from unmask.core.errors import UnmaskError

DEGREE_CLASSES: Final = (1, 2, 3, 4, 8, 16)
"""Lowest degree of each class: 1, 2, 3, 4 to 7, 8 to 15, 16 and more."""


class Outcome(IntEnum):
    """Outcome of one source node."""

    HIT = 0  # in the target and named right
    MISS = 1  # in the target, another node is named
    UNMAPPED = 2  # in the target, nobody is named
    FALSE_POSITIVE = 3  # not in the target, a node is named all the same
    ABSENT = 4  # not in the target, nobody is named: the right answer
    SEED = 5  # known before the attack, right or wrong; takes no part in the rates


def outcomes(mapping: NDArray[np.integer], truth: NDArray[np.integer], seed_source: ArrayLike) -> NDArray[np.int8]:
    """Return (n_source,) the `Outcome` of each source node.

    Parameters
    ----------
    mapping : (n_source,) int array
        The target node that the attack names, -1 where it names none.
    truth : (n_source,) int array
        The right target node, -1 where the person is not in the target.
    seed_source : array-like
        Source nodes that the adversary knew before.

    Returns
    -------
    int8 array
        `Outcome` of each source node.

    References
    ----------
    HIT, MISS and UNMAPPED are s = 1, -1 and 0 of G. Gulyas, "Protecting privacy against structural de-anonymization
    attacks in social networks", 2015, equation (3.2), which says nothing of people who are not in the target.

    Examples
    --------
    >>> outcomes(np.array([0, 2, -1, 3, -1, 4]), np.array([0, 1, 2, -1, -1, 4]), [5])
    array([0, 1, 2, 3, 4, 5], dtype=int8)
    """
    if mapping.shape != truth.shape or mapping.ndim != 1:
        raise UnmaskError(
            f"the mapping has shape {mapping.shape} and the truth {truth.shape}, expected one of each row"
        )
    is_named, present = mapping >= 0, truth >= 0
    outcome = np.where(
        present,
        np.where(is_named, np.where(mapping == truth, Outcome.HIT, Outcome.MISS), Outcome.UNMAPPED),
        np.where(is_named, Outcome.FALSE_POSITIVE, Outcome.ABSENT),
    ).astype(np.int8)
    outcome[_rows(seed_source, len(truth))] = Outcome.SEED
    return outcome


def named_once(rounds: NDArray[np.integer], is_right: NDArray[np.bool_]) -> NDArray[np.integer]:
    """Return (n_source,) the first right node of (n_rounds, n_source) nodes, else the first one, else -1.

    Parameters
    ----------
    rounds : int array
        Nodes of each round, -1 for none.
    is_right : bool array
        Mask of the right nodes.

    Returns
    -------
    int array
        One node of each person, -1 for none.
    """
    first = np.where(is_right.any(axis=0), is_right.argmax(axis=0), (rounds >= 0).argmax(axis=0))
    return np.asarray(np.take_along_axis(rounds, first[None], axis=0)[0])


def _rows(nodes: ArrayLike, n: int) -> NDArray[np.int64]:
    rows = np.asarray(nodes, dtype=np.int64).reshape(-1)
    if len(rows) and not 0 <= rows.min() <= rows.max() < n:
        raise UnmaskError(f"seeds go from node {rows.min()} to {rows.max()}, expected source nodes 0 to {n - 1}")
    return rows


# --- rates ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rates:
    """Counts of outcomes, and the rates they make. A rate of 0/0 becomes None.

    Parameters
    ----------
    hits : int
        Source nodes that are in the target, seeds out: matched rightly, wrongly, not at all.
    misses : int
        Source nodes that are in the target, seeds out: matched rightly, wrongly, not at all.
    unmapped : int
        Source nodes that are in the target, seeds out: matched rightly, wrongly, not at all.
    false_positives : int
        Source nodes that are not in the target, seeds out: matched all the same, not matched.
    absent : int
        Source nodes that are not in the target, seeds out: matched all the same, not matched.
    seeds_present : int
        Seeds whose person is in the target.
    """

    hits: int
    misses: int
    unmapped: int
    false_positives: int
    absent: int
    seeds_present: int

    @property
    def findable(self) -> int:
        """Return people who are in both graphs and not seeds: those that can be found."""
        return self.hits + self.misses + self.unmapped

    @property
    def matches(self) -> int:
        """Matches made, seeds out: right, wrong, and of people who are not there."""
        return self.hits + self.misses + self.false_positives

    @property
    def recall(self) -> float | None:
        """hits / findable: seeds out of both sides, so that it can reach 1."""
        return ratio(self.hits, self.findable)

    @property
    def recall_of_all(self) -> float | None:
        """hits / (findable + seeds): seeds out of the numerator only; the published figures come out this way."""
        return ratio(self.hits, self.findable + self.seeds_present)

    @property
    def error(self) -> float | None:
        """misses / findable: people in both graphs who are taken for another one."""
        return ratio(self.misses, self.findable)

    @property
    def precision(self) -> float | None:
        """hits / matches: the probability that a match is right; false positives are wrong."""
        return ratio(self.hits, self.matches)

    @property
    def false_positive_share(self) -> float | None:
        """false_positives / matches: the share of the matches that are of people who are not in the target."""
        return ratio(self.false_positives, self.matches)

    @property
    def false_alarm(self) -> float | None:
        """false_positives / (false_positives + absent): the share of the people not in the target who are matched."""
        return ratio(self.false_positives, self.false_positives + self.absent)

    @property
    def coverage(self) -> float | None:
        """matches / all source nodes but the seeds: the share of nodes that the attack maps."""
        return ratio(self.matches, self.findable + self.false_positives + self.absent)


def rates(mapping: NDArray[np.integer], truth: NDArray[np.integer], seed_source: ArrayLike) -> Rates:
    """Return recall, error, precision, false positives and coverage of a mapping; arguments as in `outcomes`.

    Parameters
    ----------
    mapping : int array
        Target nodes, -1 if unmapped.
    truth : int array
        Right target nodes, -1 if the person is not in the target.
    seed_source : array-like
        Source nodes that the adversary knew before.

    Returns
    -------
    Rates
        Counts of outcomes and their rates.

    References
    ----------
    Recall is R of G. Gulyas, 2015, equation (3.3), which as printed sums s max(0, s), the count of hits; there seeds
    are left out of the results but not out of the number of people.

    Examples
    --------
    >>> found = rates(np.array([0, 2, -1, 3, -1, 4]), np.array([0, 1, 2, -1, -1, 4]), [5])
    >>> found.recall, found.recall_of_all
    (0.3333333333333333, 0.25)
    >>> found.precision, found.false_positive_share, found.false_alarm, found.coverage
    (0.3333333333333333, 0.3333333333333333, 0.5, 0.6)
    """
    seeds = distinct(_rows(seed_source, len(truth)))
    counts = np.bincount(outcomes(mapping, truth, seeds), minlength=len(Outcome)).tolist()
    return Rates(
        hits=counts[Outcome.HIT],
        misses=counts[Outcome.MISS],
        unmapped=counts[Outcome.UNMAPPED],
        false_positives=counts[Outcome.FALSE_POSITIVE],
        absent=counts[Outcome.ABSENT],
        seeds_present=int(np.count_nonzero(truth[seeds] >= 0)),
    )


def ratio(part: int, total: int) -> float | None:
    """part / whole, None where that is 0/0."""
    return part / total if total else None


# --- by degree ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DegreeClass:
    """Recall and precision among source nodes of like degree, seeds out.

    Parameters
    ----------
    low : int
        The degrees of the class, both ends in it; high None: no end.
    high : int or None
        The degrees of the class, both ends in it; high None: no end.
    people : int
        Those of them who are in the target.
    recall : float or None
        As in `Rates`; None without people in the target or without matches.
    precision : float or None
        As in `Rates`; None without people in the target or without matches.
    """

    low: int
    high: int | None
    people: int
    recall: float | None
    precision: float | None


def by_degree(
    degree: NDArray[np.integer], outcome: NDArray[np.int8], *, classes: Sequence[int] = DEGREE_CLASSES
) -> tuple[DegreeClass, ...]:
    """Return recall and precision by degree class: the number of friends decides who can be found.

    Classes in which there is no node but seeds are left out.

    Parameters
    ----------
    degree : (n_source,) int array
        Degree of each source node; what is wanted is mostly `pair.source.degree`.
    outcome : (n_source,) int8 array
        As from `outcomes`.
    classes : Sequence[int]
        Lowest degree of each class, rising; nodes below the first are a class by themselves.

    Returns
    -------
    tuple[DegreeClass, ...]
        Classes with nodes that are not seeds.

    Examples
    --------
    >>> by_degree(np.array([1, 1, 5]), np.array([Outcome.UNMAPPED, Outcome.HIT, Outcome.FALSE_POSITIVE], dtype=np.int8))
    (DegreeClass(low=1, high=1, people=2, recall=0.5, precision=1.0), DegreeClass(low=4, high=7, people=0, ...))
    """
    lows = [0, *(low for low in classes if low > 0)]
    if lows != sorted(set(lows)) or degree.shape != outcome.shape:
        raise UnmaskError(
            f"classes begin at {tuple(classes)} for {len(degree)} degrees and {len(outcome)} outcomes, "
            "expected rising lowest degrees and one outcome for each node"
        )
    class_number = np.searchsorted(lows, degree, side="right") - 1
    table = np.zeros((len(lows), len(Outcome)), dtype=np.int64)
    np.add.at(table, (class_number, outcome), 1)
    highs = [*(low - 1 for low in lows[1:]), None]
    return tuple(
        _class(low, high, counts)
        for low, high, counts in zip(lows, highs, table.tolist(), strict=True)
        if sum(counts) > counts[Outcome.SEED]
    )


def _class(low: int, high: int | None, counts: Sequence[int]) -> DegreeClass:
    hits, misses, unmapped, false_positives = counts[:4]
    people = hits + misses + unmapped
    return DegreeClass(low, high, people, ratio(hits, people), ratio(hits, hits + misses + false_positives))
