"""The classes of a release, as an adversary sees them who knows the quasi-identifiers, and which are most at risk."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unmask.cases.tables.case import Case, boxes_of
from unmask.measures import success_probability
from unmask.measures.secret import likeliest_secret, place_of, secret_probability
from unmask.reports.facts.tables import CLASSES, ClassRisk
from unmask.reports.words import IDENTITY


@dataclass(eq=False)
class Seen:
    """The classes of the people attacked in one release; people of one class are those whom the same record fits first.

    row  : (n_rows,) the row of the release that each record attacked is
    rows : (n_targets,) as in `Case`
    at   : (n_targets,) where the class of each target stands; -1 where no record fits
    """

    release: str
    row: NDArray[np.int64]
    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    at: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    found: list[ClassRisk] = field(default_factory=list)

    def see(self, case: Case) -> None:
        """Take what is believed of a target; identity comes first."""
        if case.target == IDENTITY:
            first = boxes_of(case.belief) - 1
            assert case.rows is not None
            self.rows, self.at = case.rows, np.where(first < 0, -1, self.row[np.maximum(first, 0)])
        if len(self.at) == case.belief.n_targets:
            self.found += _skyline(self._classes(case))

    def where(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the classes of the people of these rows stand; -1 for none."""
        at = np.full(1 + max(int(rows.max(initial=-1)), int(self.rows.max(initial=-1))), -1, dtype=np.int64)
        at[self.rows] = self.at
        return np.where(rows < 0, -1, at[rows])

    def _classes(self, case: Case) -> Iterator[ClassRisk]:
        """Every class, the riskiest first."""
        belief, named = case.belief, case.target == IDENTITY
        about = success_probability.self_assessed if named else secret_probability
        assert about is not None
        risk = np.round(about(belief), 9)[belief.observation]
        order = np.flatnonzero(self.at >= 0)
        order = order[np.lexsort((order, -risk[order]))]
        at, first, people = np.unique(self.at[order], return_index=True, return_counts=True)
        surest = order[first]
        which, place = (None, []) if named else (likeliest_secret(belief)[belief.observation], place_of(belief))
        for i in np.lexsort((at, -people, -risk[surest])).tolist():
            value = "" if which is None or which[surest[i]] < 0 else place[which[surest[i]]]
            chance = float(risk[surest[i]])
            yield ClassRisk(case.release, case.target, int(at[i]), int(people[i]), chance, value)


def _skyline(classes: Iterator[ClassRisk]) -> Iterator[ClassRisk]:
    """The riskiest of all sizes: those than which fewer than `CLASSES` of as many people are riskier."""
    largest: list[int] = []
    for one in classes:
        if len(largest) < CLASSES or one.people > largest[0]:
            yield one
            heapq.heappush(largest, one.people)
            if len(largest) > CLASSES:
                heapq.heappop(largest)
