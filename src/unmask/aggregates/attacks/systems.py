"""Systems of the counts of one area, reduced to the cells that may be positive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unmask.aggregates.programs import Program
from unmask.aggregates.release import AggregateRelease
from unmask.aggregates.rules import UNBOUNDED, Counts
from unmask.aggregates.statistics import Group

if TYPE_CHECKING:
    from unmask.aggregates.attacks._search import Links, NumberSums


MAX_FREE_COUNT: Final = 1_000_000
"""Upper bound of a count that no table limits, so that programs have a finite optimum."""


@dataclass(frozen=True, eq=False)
class AreaSystem:
    """Counts x of the cells of an area with row_low <= matrix x <= row_high and low <= x <= high.

    Parameters
    ----------
    cells : (n_cells,) int array
        Positions in the cross of the columns of the release. All other cells are certainly empty.
    matrix : csr_array (n_rows, n_cells)
        0/1 matrix of the rows with at least one of these cells.
    row_low, row_high : (n_rows,) int arrays
        Bounds of the rows.
    rows : (n_rows,) int array
        Positions of the rows in the matrix of the release.
    low, high : (n_cells,) int arrays
        Bounds of the cells after propagation.
    is_feasible : bool
        False if propagation found a contradiction.
    groups : list of Group
        Published means, medians and sums, over these cells.
    """

    cells: NDArray[np.int64]
    matrix: sparse.csr_array
    row_low: Counts
    row_high: Counts
    rows: NDArray[np.int64]
    low: Counts
    high: Counts
    is_feasible: bool
    groups: Sequence[Group] = ()

    @cached_property
    def program(self) -> Program:
        """Return the counts as variables of integer programs; counts without a limit are at most `MAX_FREE_COUNT`.

        Of the groups, programs know the sums of numbers. A median that `is_possible` refutes may be feasible.
        """
        row_high = np.where(self.row_high >= UNBOUNDED, np.inf, self.row_high)
        sums = self.sums
        weights = [sparse.csr_array((group.members * group.numbers)[None]) for group in sums]
        matrix = sparse.vstack([self.matrix, *weights], format="csr")
        low = np.concatenate([self.row_low, [group.low for group in sums]])
        high = np.concatenate([row_high, [group.high for group in sums]])
        return Program(matrix, low, high, self.low, np.minimum(self.high, MAX_FREE_COUNT))

    @cached_property
    def sums(self) -> list[Group]:
        """Return the groups of a known number of people with a sum of numbers, which a mean implies."""
        sums = []
        for group in self.groups:
            people = count_people(group.members, self.matrix, self.row_low, self.row_high)
            if people is not None and group.kind != "median":
                factor = people if group.kind == "mean" else 1
                sums.append(group._replace(people=people, low=factor * group.low, high=factor * group.high))
        return sums

    @cached_property
    def number_sums(self) -> NumberSums:
        """Return the sums as compiled loops take them."""
        from unmask.aggregates.attacks._search import NumberSums

        cells = [np.flatnonzero(group.members) for group in self.sums]
        numbers = [group.numbers[group.members] for group in self.sums]
        ends = np.array([[group.low, group.high] for group in self.sums]).reshape(-1, 2)
        return NumberSums(
            np.cumsum([0, *map(len, cells)]), np.concatenate([np.zeros(0, dtype=np.int64), *cells]),
            np.concatenate([np.zeros(0), *numbers]), np.array([group.people for group in self.sums], dtype=np.int64),
            ends[:, 0].copy(), ends[:, 1].copy(),
        )  # fmt: skip

    def is_possible(self, counts: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether counts (n, n_cells) have the published means, medians and sums."""
        possible = np.ones(len(counts), dtype=bool)
        for group in self.groups:
            possible &= group.holds(counts)
        return possible

    @cached_property
    def links(self) -> Links:
        """Return the arrays of the system as compiled loops take them."""
        return link(self.matrix, self.row_low, self.row_high)


def count_people(members: NDArray[np.bool_], matrix: sparse.csr_array, row_low: Counts, row_high: Counts) -> int | None:
    """Return the number of people of a group if an exact count is of its cells and no other, otherwise None."""
    sums = matrix @ members.astype(np.float64)
    matching = (sums == members.sum()) & (matrix.sum(axis=1) == members.sum()) & (row_low == row_high)
    return int(row_low[matching][0]) if matching.any() else None


def link(matrix: sparse.csr_array, row_low: Counts, row_high: Counts) -> Links:
    """Return a system of intervals as compiled loops take it."""
    from unmask.aggregates.attacks._search import Links

    by_cell = sparse.csc_array(matrix)
    starts, places = (matrix.indptr, by_cell.indptr), (matrix.indices, by_cell.indices)
    row_start, cell_start = (array.astype(np.int64) for array in starts)
    row_cell, cell_row = (array.astype(np.int64) for array in places)
    return Links(row_start, row_cell, cell_start, cell_row, row_low.astype(np.int64), row_high.astype(np.int64))


def reduce_system(matrix: Any, row_low: Counts, row_high: Counts) -> AreaSystem:
    """Drop the cells below an exact zero, and propagate the bounds of the rows.

    Parameters
    ----------
    matrix : sparse array (rows, cells)
        0/1 matrix.
    row_low, row_high : arrays of int
        Bounds of the rows.

    Returns
    -------
    AreaSystem
    """
    from unmask.aggregates.attacks._search import tighten

    columns = sparse.csc_array(matrix)
    alive = columns.T @ (row_high <= 0).astype(np.int64) == 0
    cells = np.flatnonzero(alive)
    reduced = sparse.csr_array(columns[:, cells])
    lengths = np.diff(reduced.indptr)
    used = (lengths > 0) & ((row_low > 0) | (row_high < UNBOUNDED))
    is_possible = bool((row_low <= row_high).all() and (row_low[lengths == 0] <= 0).all())
    rows = np.flatnonzero(used)
    reduced = sparse.csr_array(reduced[rows])
    low, high = np.zeros(len(cells), dtype=np.int64), np.full(len(cells), UNBOUNDED, dtype=np.int64)
    is_possible = is_possible and bool(tighten(link(reduced, row_low[rows], row_high[rows]), low, high))
    return AreaSystem(cells, reduced, row_low[rows], row_high[rows], rows, low, high, is_possible)


def list_systems(release: AggregateRelease) -> Iterator[AreaSystem]:
    """Return the reduced system of each area of a release, in order."""
    return (make_system(release, area) for area in range(release.n_areas))


def make_system(release: AggregateRelease, area: int) -> AreaSystem:
    """Return the reduced system of an area. At most half of a known number of people is on each side of a median."""
    low, high = release.bounds(area)
    if not release.statistics:
        return reduce_system(release.matrix_by_cell, low, high)
    groups, rows, half_people = release.groups(area), [release.matrix], []
    for group in groups:
        people = count_people(group.members, release.matrix, low, high)
        if group.kind == "median" and people is not None:
            rows += [sparse.csr_array(half[None].astype(np.float64)) for half in group.halves()]
            half_people += [people // 2, people // 2]
    system = reduce_system(
        sparse.csr_array(sparse.vstack(rows)), np.concatenate([low, np.zeros(len(half_people), dtype=np.int64)]),
        np.concatenate([high, half_people]).astype(np.int64),
    )  # fmt: skip
    cells = system.cells
    reduced = [group._replace(members=group.members[cells], numbers=group.numbers[cells]) for group in groups]
    return replace(system, groups=reduced)
