"""Repeated runs of an attack, and the passes of one run: what is settled, and what is luck."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.errors import UnmaskError
from unmask.graphs.evaluation.outcomes import Outcome, ratio
from unmask.measures.interval import of_runs, wilson


@dataclass(frozen=True, eq=False)
class Score:
    """How often each person was found over repeated runs; hits and misses are kept apart.

    hits     : (n_people,) runs in which the person is named right
    misses   : (n_people,) runs in which another is named
    findable : (n_people,) runs in both graphs and not as a seed: the most that hits + misses can be
    """

    hits: NDArray[np.int64]
    misses: NDArray[np.int64]
    findable: NDArray[np.int64]

    @property
    def score(self) -> NDArray[np.int64]:
        """(n_people,) S = hits - misses, in which a hit and a miss cancel: G. Gulyas, 2015, equation (3.6)."""
        return self.hits - self.misses

    @property
    def hit_share(self) -> NDArray[np.float64]:
        """(n_people,) hits / findable; nan where a person could never be found, and so has no share."""
        return np.where(self.findable > 0, self.hits / np.maximum(self.findable, 1), np.nan)

    @property
    def settled(self) -> float | None:
        """Share of the people who were findable at all that were found always or never; None where nobody was."""
        there = self.findable > 0
        decided = (self.hits == 0) | (self.hits == self.findable)
        return ratio(int(np.count_nonzero(decided & there)), int(np.count_nonzero(there)))


def score(outcome_of_run: Iterable[NDArray[np.int8]], people: Iterable[ArrayLike], *, n_people: int) -> Score:
    """Hits and misses of each person over repeated runs.

    outcome_of_run : for each run the (n_source,) outcomes of its source nodes, as from `outcomes`
    people         : for each run the (n_source,) person that each source node is, 0 to n_people - 1: the labels of
                     `pair.source` where a graph without labels was split

    >>> from unmask.graphs.evaluation import Outcome
    >>> first, second = np.array([Outcome.HIT, Outcome.MISS]), np.array([Outcome.HIT, Outcome.SEED])
    >>> score([first, second], [[0, 1], [1, 0]], n_people=3).hits
    array([1, 1, 0])
    """
    table = np.zeros((n_people, len(Outcome)), dtype=np.int64)
    for outcome, person in zip(outcome_of_run, people, strict=True):
        np.add.at(table, (np.asarray(person, dtype=np.int64), outcome), 1)
    return Score(table[:, Outcome.HIT], table[:, Outcome.MISS], table[:, : Outcome.UNMAPPED + 1].sum(axis=1))


@dataclass(frozen=True)
class OverRuns:
    """Recall over repeated runs of an attack that either unravels the network or hardly starts.

    runs, percolated     : number of runs, and of those whose recall is at least the threshold
    share                : percolated / runs, with Wilson's 95 % interval from share_low to share_high
    recall               : mean recall of the runs that percolate, None where none does
    recall_low, recall_high : its 95 % interval by Student's t, cut to [0, 1]; None below two such runs
    """

    runs: int
    percolated: int
    share: float
    share_low: float
    share_high: float
    recall: float | None
    recall_low: float | None
    recall_high: float | None


def over_runs(recalls: ArrayLike, threshold: float = 0.05) -> OverRuns:
    """Share of the runs that percolate, and the recall of those: the mean over both kinds would mean nothing.

    recalls   : (n_runs,) recall of each run, best each with a perturbation of its own; at least one
    threshold : least recall of a run that percolates; runs are mostly far above or far below it

    >>> over_runs([0.42, 0.43, 0.44, 0.008]).recall
    0.43

    E. B. Wilson, JASA 1927; a spread between runs that percolates in a share is no normal spread, so the two are kept
    apart. Threshold: recalls below 0.05 are those of G. Gulyas, 2015, figure 4.3, in which only the seeds' neighbors
    are found.
    """
    found = np.asarray(recalls, dtype=np.float64).reshape(-1)
    if not len(found) or not bool(np.all((found >= 0) & (found <= 1))):
        raise UnmaskError(f"there are {len(found)} recalls, expected at least one and each from 0 to 1")
    large = found[found >= threshold]
    share = len(large) / len(found)
    low, high = wilson(share, len(found))
    ends = of_runs(large.tolist(), within=(0.0, 1.0))[:2] if len(large) > 1 else (None, None)
    return OverRuns(
        len(found), len(large), share, low, high, float(large.mean()) if len(large) else None, ends[0], ends[1]
    )


def convergence(sweeps: NDArray[np.integer]) -> NDArray[np.float64]:
    """(n_sweeps,) share of all matches that are made by the end of each pass over the nodes; 0 where none is made.

    sweeps : (n_sweeps,) matches made in each pass, `Matching.sweeps`; attacks that revise matches count changes

    >>> convergence(np.array([6, 3, 1, 0]))
    array([0.6, 0.9, 1. , 1. ])
    """
    made = np.cumsum(sweeps, dtype=np.float64)
    return made / max(made[-1], 1.0) if len(made) else made
