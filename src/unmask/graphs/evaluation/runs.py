"""Scores over repeated runs of an attack, and convergence over the passes of one run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.graphs.evaluation.node_outcomes import Outcome


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

    hits: NDArray[np.int64]
    misses: NDArray[np.int64]
    findable: NDArray[np.int64]

    @property
    def score(self) -> NDArray[np.int64]:
        """Return (n_people,) S = hits - misses: G. Gulyas, 2015, equation (3.6)."""
        return self.hits - self.misses

    @property
    def hit_share(self) -> NDArray[np.float64]:
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


def convergence(sweeps: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return (n_sweeps,) the cumulative share of matches after each pass over the nodes.

    Parameters
    ----------
    sweeps : (n_sweeps,) int array
        Number of matches made in each pass, `Matching.sweeps`; for attacks that revise matches, the number of changes.

    Returns
    -------
    float64 array
        Share of all matches at the end of each pass.

    Examples
    --------
    >>> convergence(np.array([6, 3, 1, 0]))
    array([0.6, 0.9, 1. , 1. ])
    """
    total_matches = np.cumsum(sweeps, dtype=np.float64)
    return total_matches / max(total_matches[-1], 1.0) if len(total_matches) else total_matches
