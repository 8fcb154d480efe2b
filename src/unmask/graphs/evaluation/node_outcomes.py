"""Outcome of an attack for each node, recall by degree, scores over runs, and a bound on the recall."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.graphs.criteria import structural_equivalence
from unmask.graphs.graph import check_nodes
from unmask.graphs.knowledge import Pair, SeedPairs

DEGREE_CLASSES: Final = (1, 2, 3, 4, 8, 16)
"""Lowest degree of each class: 1, 2, 3, 4 to 7, 8 to 15, 16 and more."""


class Outcome(IntEnum):
    """Outcome of one source node."""

    HIT = 0  # in the target, mapped to the right node
    MISS = 1  # in the target, mapped to another node
    UNMAPPED = 2  # in the target, not mapped
    FALSE_POSITIVE = 3  # not in the target, but mapped
    ABSENT = 4  # not in the target and not mapped, which is right
    SEED = 5  # known before the attack; excluded from the rates, right or wrong


def outcomes(mapping: NDArray[np.integer], truth: NDArray[np.integer], seed_source: ArrayLike) -> NDArray[np.int8]:
    """Return (n_source,) the `Outcome` of each source node.

    Parameters
    ----------
    mapping : (n_source,) int array
        Target node that the attack assigns, -1 if unmapped.
    truth : (n_source,) int array
        Right target node, -1 if the person is not in the target.
    seed_source : array-like
        Source nodes that the adversary knew before the attack.

    Returns
    -------
    int8 array
        `Outcome` of each source node.

    References
    ----------
    HIT, MISS and UNMAPPED are s = 1, -1 and 0 of G. Gulyas, "Protecting privacy against structural de-anonymization
    attacks in social networks", 2015, equation (3.2). The source does not treat people who are not in the target.

    Examples
    --------
    >>> outcomes(np.array([0, 2, -1, 3, -1, 4]), np.array([0, 1, 2, -1, -1, 4]), [5])
    array([0, 1, 2, 3, 4, 5], dtype=int8)
    """
    if mapping.shape != truth.shape or mapping.ndim != 1:
        raise UnmaskError(
            f"the mapping has shape {mapping.shape} and the truth {truth.shape}, expected one row and the same shape"
        )
    is_named, present = mapping >= 0, truth >= 0
    outcome = np.where(
        present,
        np.where(is_named, np.where(mapping == truth, Outcome.HIT, Outcome.MISS), Outcome.UNMAPPED),
        np.where(is_named, Outcome.FALSE_POSITIVE, Outcome.ABSENT),
    ).astype(np.int8)
    seeds = np.asarray(seed_source, dtype=np.int64).reshape(-1)
    check_nodes(seeds, len(truth), "seeds")
    outcome[seeds] = Outcome.SEED
    return outcome


def select_match(rounds: NDArray[np.integer], is_right: Booleans) -> NDArray[np.integer]:
    """Return one match for each person: the first right node of all rounds, else the first node, else -1.

    Parameters
    ----------
    rounds : (n_rounds, n_source) int array
        Matched nodes in each round, -1 for none.
    is_right : (n_rounds, n_source) bool array
        Mask of the right nodes.

    Returns
    -------
    (n_source,) int array
        One node for each person, -1 for none.
    """
    first = np.where(is_right.any(axis=0), is_right.argmax(axis=0), (rounds >= 0).argmax(axis=0))
    return np.asarray(np.take_along_axis(rounds, first[None], axis=0)[0])


# --- by degree ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DegreeClass:
    """Recall and precision of source nodes with similar degree. Seeds are excluded.

    Parameters
    ----------
    low : int
        Lowest degree of the class.
    high : int or None
        Highest degree of the class; None for no limit.
    people : int
        Source nodes of the class that are in the target.
    recall : float or None
        Share of hits among the nodes in the target; None if no node of the class is in the target.
    precision : float or None
        Share of hits among the matches; None without matches.
    """

    low: int
    high: int | None
    people: int
    recall: float | None
    precision: float | None


def by_degree(degree: NDArray[np.integer], outcome: NDArray[np.int8]) -> tuple[DegreeClass, ...]:
    """Return recall and precision by degree class, see `DEGREE_CLASSES`; nodes without an edge are one more class.

    Classes that contain only seeds are omitted.

    Parameters
    ----------
    degree : (n_source,) int array
        Degree of each source node, usually `pair.source.degree`.
    outcome : (n_source,) int8 array
        Result of `outcomes`.

    Returns
    -------
    tuple[DegreeClass, ...]
        One entry for each class with nodes that are not seeds.

    Examples
    --------
    >>> by_degree(np.array([1, 1, 5]), np.array([Outcome.UNMAPPED, Outcome.HIT, Outcome.FALSE_POSITIVE], dtype=np.int8))
    (DegreeClass(low=1, high=1, people=2, recall=0.5, precision=1.0), DegreeClass(low=4, high=7, people=0, ...))
    """
    if degree.shape != outcome.shape:
        raise UnmaskError(f"there are {len(degree)} degrees and {len(outcome)} outcomes, expected one for each node")
    lows = [0, *DEGREE_CLASSES]
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
    people, named = hits + misses + unmapped, hits + misses + false_positives
    return DegreeClass(low, high, people, hits / people if people else None, hits / named if named else None)


@dataclass(frozen=True, eq=False)
class Score:
    """Hits and misses of each person over repeated runs.

    Parameters
    ----------
    hits : (n_people,) int64 array
        Number of runs that map the person to the right node.
    misses : (n_people,) int64 array
        Number of runs that map the person to another node.
    findable : (n_people,) int64 array
        Number of runs in which the person is in both graphs and not a seed; at least hits + misses.
    """

    hits: Integers
    misses: Integers
    findable: Integers

    @property
    def score(self) -> Integers:
        """Return (n_people,) S = hits - misses: G. Gulyas, 2015, equation (3.6)."""
        return self.hits - self.misses

    @property
    def hit_share(self) -> Floats:
        """Return (n_people,) hits / findable; nan if findable is 0."""
        return np.where(self.findable > 0, self.hits / np.maximum(self.findable, 1), np.nan)


def score(outcome_of_run: Iterable[NDArray[np.int8]], people: Iterable[ArrayLike], *, n_people: int) -> Score:
    """Count the hits and misses of each person over repeated runs.

    Parameters
    ----------
    outcome_of_run : iterable of (n_source,) int8 arrays
        Outcomes of the source nodes in each run, see `outcomes`.
    people : iterable of (n_source,) int arrays
        Person of each source node in each run, 0 to n_people - 1: the labels of `pair.source` after `split` of a graph
        without labels.
    n_people : int
        Number of people over all runs.

    Returns
    -------
    Score
        Hits and misses of each person.

    Examples
    --------
    >>> from unmask.graphs.evaluation import Outcome
    >>> first, second = np.array([Outcome.HIT, Outcome.MISS]), np.array([Outcome.HIT, Outcome.SEED])
    >>> score([first, second], [[0, 1], [1, 0]], n_people=3).hits
    array([1, 1, 0])
    """
    table = np.zeros((n_people, len(Outcome)), dtype=np.int64)
    for outcome, person in zip(outcome_of_run, people, strict=True):
        np.add.at(table, (np.asarray(person, dtype=np.int64), outcome), 1)
    return Score(table[:, Outcome.HIT], table[:, Outcome.MISS], table[:, : Outcome.UNMAPPED + 1].sum(axis=1))


def most_recall(pair: Pair, seeds: SeedPairs | None = None, *, directed: bool = False) -> float | None:
    """Return an upper bound on the expected recall of any one-to-one attack that uses only edges.

    An attack finds a person v with node u = truth(v) with probability at most 1 / max(s, k). s is the number of source
    nodes equivalent to v, and k the number of target nodes equivalent to u, both without seeds. Equivalent nodes are
    interchangeable for the adversary, so all s k matches between the two classes are equally likely. A one-to-one
    mapping contains at most min(s, k) of them. The bound is the mean over the people in both graphs who are not seeds.
    It holds in expectation over node numberings; a single run can exceed it by luck.

    Only structural twins count as equivalent. Other symmetries of the graph hide people better than the bound shows.
    For an adversary with a perfect copy of a graph, pass the graph twice; the bound is then twin classes / n_nodes.

    Parameters
    ----------
    pair : Pair
        Both graphs and the truth.
    seeds : SeedPairs or None
        Pairs that the adversary knows.
    directed : bool
        True if the attack sees the direction of edges in both graphs, which leaves fewer twins.

    Returns
    -------
    float or None
        Upper bound; None if no person can be found.

    Examples
    --------
    >>> from unmask.graphs.graph import SocialGraph
    >>> star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> most_recall(Pair(star, star, np.arange(4)))
    0.5
    """
    source, target = (structural_equivalence(graph, directed=directed) for graph in (pair.source, pair.target))
    free_source, free_target = np.ones(len(source), dtype=np.bool_), np.ones(len(target), dtype=np.bool_)
    if seeds is not None:
        free_source[seeds.source] = False
        free_target[seeds.target] = False
    s = np.bincount(source[free_source], minlength=len(source))[source]
    k = np.bincount(target[free_target], minlength=len(target))[target]
    findable = np.flatnonzero((pair.truth >= 0) & free_source)
    return float(np.mean(1.0 / np.maximum(s[findable], k[pair.truth[findable]]))) if len(findable) else None
