"""The transfer distance between partitions: items to move until they are equal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from unmask.measures.unlinkability.overlap import Overlap

MAX_DENSE_CELLS = 4096
"""Cells, empty ones included, of the largest matrix that is solved dense."""

MIN_SETTLED_SHARE = 0.001
"""Share of the cells that a round must settle for another round to follow."""


def transfer_distance(table: Overlap) -> int:
    """Return the fewest items to move, into another or a new cluster, until the two partitions are equal.

    It is n minus the largest sum of |C and D| over pairs that use every subject and every cluster at most once. It is a
    metric, from 0 (equal) to n - 1 (one block against singletons). Exact; near linear if most subjects have a cluster
    that is mostly theirs, and at worst quadratic in the subjects of one connected component whose overlaps differ.

    Parameters
    ----------
    table : Overlap
        Table of the two partitions.

    Returns
    -------
    int
        Number of items to move.

    References
    ----------
    Day, "The complexity of computing metric distances between partitions", Math. Soc. Sci. 1, 1981; Denoeud and
    Guenoche, "Comparison of distance indices between partitions", 2006. The formulas are the usual ones and were not
    checked against these papers.

    Examples
    --------
    >>> from unmask.measures.unlinkability.overlap import overlap
    >>> from unmask.core.partition import Partition
    >>> transfer_distance(overlap(Partition([0, 0, 0, 1, 1]), Partition([0, 0, 1, 1, 2])))
    2
    """
    cell = _matched_cells(_Cells.of(table))
    return table.n - int(table.shared[cell].sum())


@dataclass(frozen=True, eq=False)
class _Cells:
    """Cells of the table that are not settled yet, with their original numbers."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    x: NDArray[np.int64]
    index: NDArray[np.int64]

    @classmethod
    def of(cls, table: Overlap) -> _Cells:
        row, column = table.subject.astype(np.int64), table.cluster.astype(np.int64)
        return cls(row, column, table.shared, np.arange(len(row)))

    def __len__(self) -> int:
        return len(self.x)

    def take(self, cells: NDArray[np.intp] | NDArray[np.bool_]) -> _Cells:
        return _Cells(self.row[cells], self.column[cells], self.x[cells], self.index[cells])


def _matched_cells(cells: _Cells) -> NDArray[np.int64]:
    """Return the cells of one matching of largest sum."""
    settled, open_cells = _settle(cells)
    for component in _components(open_cells):
        settled.append(component.index[_assign(component)])
    return np.concatenate(settled)


def _settle(cells: _Cells) -> tuple[list[NDArray[np.int64]], _Cells]:
    """Return cells that a best matching has, and the cells outside of their rows and columns, round after round.

    A cell at least as large as the largest other cell of its row and the largest other of its column together can
    replace, in any matching, the at most two that exclude it. This settles all stars, and most of a table with few
    errors. The removal of other rows and columns keeps the property, so that many are settled in a round.
    """
    settled = [np.zeros(0, dtype=np.int64)]
    while len(cells):
        competitors = _largest_other(cells.x, cells.row) + _largest_other(cells.x, cells.column)
        certain = np.flatnonzero(cells.x >= competitors)
        certain = certain[np.unique(cells.row[certain], return_index=True)[1]]
        certain = certain[np.unique(cells.column[certain], return_index=True)[1]]
        settled.append(cells.index[certain])
        is_closed = _mask_lines(cells.row, cells.row[certain]) | _mask_lines(cells.column, cells.column[certain])
        cells = cells.take(~is_closed)
        if is_closed.sum() <= MIN_SETTLED_SHARE * len(is_closed):
            break
    return settled, cells


def _largest_other(x: NDArray[np.int64], line: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the largest x of the other cells of each cell's line, 0 without others."""
    order = np.argsort(line * (x.max() + 1) + x, kind="stable")
    sorted_line, sorted_x = line[order], x[order]
    last = np.flatnonzero(np.append(sorted_line[1:] != sorted_line[:-1], True))
    is_single = np.append(True, sorted_line[1:] != sorted_line[:-1])[last]
    maximum = np.zeros(int(sorted_line[-1]) + 1, dtype=np.int64)
    maximum[sorted_line[last]] = sorted_x[last]
    largest = maximum[line]
    largest[order[last]] = np.where(is_single, 0, sorted_x[last - 1])
    return largest


def _mask_lines(line: NDArray[np.int64], closed: NDArray[np.int64]) -> NDArray[np.bool_]:
    mark = np.zeros(int(line.max()) + 1, dtype=np.bool_)
    mark[closed] = True
    return mark[line]


def _components(cells: _Cells) -> list[_Cells]:
    """Return the cells of each connected component of the overlap graph, rows and columns numbered from 0 in each."""
    if not len(cells):
        return []
    rows, row = np.unique(cells.row, return_inverse=True)
    columns, column = np.unique(cells.column, return_inverse=True)
    n_rows, n_columns = len(rows), len(columns)
    shape = (n_rows + n_columns, n_rows + n_columns)
    graph = coo_array((np.ones(len(cells), dtype=np.int8), (row, column + n_rows)), shape=shape)
    n_components, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    local = _Cells(_rank(label[:n_rows])[row], _rank(label[n_rows:])[column], cells.x, cells.index)
    component = label[row]
    order = np.argsort(component, kind="stable")
    ends = np.cumsum(np.bincount(component, minlength=n_components))
    return [local.take(order[start:end]) for start, end in zip(np.append(0, ends[:-1]), ends, strict=True)]


def _rank(label: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the running number of each element within its label."""
    order = np.argsort(label, kind="stable")
    count = np.bincount(label)
    rank = np.empty(len(label), dtype=np.int64)
    rank[order] = np.arange(len(label)) - np.repeat(np.cumsum(count) - count, count)
    return rank


def _assign(cells: _Cells) -> NDArray[np.bool_]:
    """Return whether a best matching has each cell of a connected component."""
    n_rows, n_columns = int(cells.row.max()) + 1, int(cells.column.max()) + 1
    if n_rows > n_columns:  # a dummy for every row: the fewer rows, the better
        return _assign(_Cells(cells.column, cells.row, cells.x, cells.index))
    if n_rows * n_columns <= MAX_DENSE_CELLS:
        overlap = np.zeros((n_rows, n_columns))
        overlap[cells.row, cells.column] = cells.x
        rows, columns = scipy.optimize.linear_sum_assignment(overlap, maximize=True)
        partner = np.empty(n_rows, dtype=np.int64)
        partner[rows] = columns
    elif cells.x.min() == cells.x.max():  # then the most cells are the best: no costs to weigh, and far faster
        graph = csr_array((np.ones(len(cells), dtype=np.int8), (cells.row, cells.column)), shape=(n_rows, n_columns))
        partner = scipy.sparse.csgraph.maximum_bipartite_matching(graph, perm_type="column").astype(np.int64)
    else:
        partner = _assign_sparse(cells, n_rows, n_columns)
    return np.asarray(partner[cells.row] == cells.column)


def _assign_sparse(cells: _Cells, n_rows: int, n_columns: int) -> NDArray[np.int64]:
    """Return the column of each row by LAPJVsp; a row without a column takes a dummy of its own, for no overlap.

    Costs are whole numbers in doubles, hence exact, and at least 1, since the solver takes 0 for no edge.
    """
    dummy = np.arange(n_rows)
    max_cost = float(cells.x.max()) + 1
    cost = np.concatenate([max_cost - cells.x, np.full(n_rows, max_cost)])
    row, column = np.concatenate([cells.row, dummy]), np.concatenate([cells.column, n_columns + dummy])
    matrix = csr_array((cost, (row, column)), shape=(n_rows, n_columns + n_rows))
    rows, columns = scipy.sparse.csgraph.min_weight_full_bipartite_matching(matrix)
    partner = np.empty(n_rows, dtype=np.int64)
    partner[rows] = columns
    return partner
