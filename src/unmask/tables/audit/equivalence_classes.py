"""The classes of a release, as an adversary sees them who knows the quasi-identifiers, and which are most at risk."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unmask.core.distinct_rows import take_rows
from unmask.core.posterior import Posterior
from unmask.measures import success_probability
from unmask.measures.sensitive_values import likeliest_sensitive_value, rank_by_frequency, sensitive_probability
from unmask.reports.words import IDENTITY
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.riskiest_classes import N_CLASSES, ClassRisk


def boxes_of(link: Posterior) -> NDArray[np.int64]:
    """(n_targets,) the box of the release that each target is in, by its first record; 0 for none."""
    first = np.zeros(link.n_observations, dtype=np.int64)
    held = link.row_length > 0
    first[held] = link.candidate[link.indptr[:-1][held]] + 1
    return np.asarray(first[link.observation], dtype=np.int64)


def together(link: Posterior, *, after: int = 0) -> NDArray[np.int64]:
    """(n_targets,) whose guesses share their luck: those of a box of the release; of people in none, who are believed
    to be as all rows say, those who are known by the same cells. after : numbers of such that other people have
    """
    boxes = boxes_of(link)
    return np.where(boxes > 0, boxes, 1 + link.n_candidates + after + link.observation)


@dataclass(eq=False)
class Seen:
    """The classes of the people attacked in one release; people of one class are those whom the same record fits first.

    row  : (n_rows,) the row of the release that each record attacked is
    rows : (n_targets,) as in `AttackRun`
    at   : (n_targets,) where the class of each target stands; -1 where no record fits
    """

    release: str
    row: NDArray[np.int64]
    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    at: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    found: list[ClassRisk] = field(default_factory=list)

    def see(self, case: AttackRun) -> None:
        """Take what is believed of a target; identity comes first."""
        if case.target == IDENTITY:
            first = boxes_of(case.picked or case.belief) - 1
            assert case.rows is not None
            self.rows, self.at = case.rows, np.where(first < 0, -1, self.row[np.maximum(first, 0)])
        if len(self.at) == case.belief.n_targets:
            self.found += self._riskiest(case)

    def where(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the classes of the people of these rows stand; -1 for none."""
        at = np.full(1 + max(int(rows.max(initial=-1)), int(self.rows.max(initial=-1))), -1, dtype=np.int64)
        at[self.rows] = self.at
        return np.where(rows < 0, -1, at[rows])

    def _riskiest(self, case: AttackRun) -> Iterator[ClassRisk]:
        """The riskiest classes of all sizes, see `_skyline`; of equally risky ones the largest come first."""
        belief, named = case.belief, case.target == IDENTITY
        about = success_probability.self_assessed if named else sensitive_probability
        assert about is not None
        inside = slice(None) if self.at.min(initial=0) >= 0 else np.flatnonzero(self.at >= 0)
        at, observation = (one[inside] for one in (self.at, belief.observation))
        risk = np.round(about(belief), 9)[observation]
        people = case.people_in(at, np.arange(belief.n_targets)[inside])
        highest = np.zeros(len(people))
        np.maximum.at(highest, at, risk)
        found = np.flatnonzero(people)
        found = found[np.lexsort((-people[found], -highest[found]))]
        found = found[list(_skyline(people[found]))]
        if not len(found):  # no record fits anybody
            return
        values = [""] * len(found) if named else _values(belief, observation[_surest(found, at, risk, highest)])
        for one, value in zip(found.tolist(), values, strict=True):
            yield ClassRisk(case.release, case.target, one, int(people[one]), float(highest[one]), value)


def _surest(
    found: NDArray[np.int64], at: NDArray[np.int64], risk: NDArray[np.float64], highest: NDArray[np.float64]
) -> NDArray[np.int64]:
    """(n_found,) the first target of each class who is at the risk of the class."""
    place = np.full(len(highest), -1)
    place[found] = np.arange(len(found))
    mine = np.flatnonzero(place[at] >= 0)
    mine = mine[risk[mine] == highest[at[mine]]][::-1]
    surest = np.zeros(len(found), dtype=np.int64)
    surest[place[at[mine]]] = mine  # the first of a class is written last
    return surest


def _values(belief: Posterior, observation: NDArray[np.int64]) -> list[str]:
    """What is likeliest at some observations, by its place among the commonest values; "" where no secret is."""
    place = rank_by_frequency(belief)
    return [
        place[value] if value >= 0 else ""
        for value in likeliest_sensitive_value(take_rows(belief, observation)).tolist()
    ]


def _skyline(people: NDArray[np.int64]) -> Iterator[int]:
    """Of classes, the riskiest first, those than which fewer than `N_CLASSES` of as many people are riskier.

    >>> list(_skyline(np.array([1] * 50 + [3])))[-2:]
    [4, 50]
    """
    largest, left = [0] * N_CLASSES, np.arange(len(people))
    while len(left):
        one, bar = int(left[0]), largest[0]
        yield one
        heapq.heapreplace(largest, int(people[one]))
        left = left[1:] if largest[0] == bar else left[1:][people[left[1:]] > largest[0]]
