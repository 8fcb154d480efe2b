"""The edit distance between partitions: items to move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from unmask.measures.unlinkability.overlap import Overlap

DENSE = 4096
"""Cells, empty ones included, of the largest matrix that is solved dense."""

SLOW_ROUND = 0.001
"""A round that settles fewer than this share of the cells is the last."""


def transfer_distance(table: Overlap) -> int:
    """Fewest items to move, one at a time into another or a new cluster, until the two partitions are equal.

    n - the largest sum of |C and D| over pairs that use every subject and every cluster at most once: the items to keep
    when each subject is found again in one cluster. A metric, from 0 (equal) to n - 1 (one block against all alone).

    >>> from unmask.measures.unlinkability.overlap import overlap
    >>> from unmask.core.partition import Partition
    >>> transfer_distance(overlap(Partition([0, 0, 0, 1, 1]), Partition([0, 0, 1, 1, 2])))
    2

    Day, "The complexity of computing metric distances between partitions", Math. Soc. Sci. 1, 1981; Denoeud and
    Guenoche, "Comparison of distance indices between partitions", 2006. The formulas are the usual ones and were not
    checked against these papers. Exact; near linear when most subjects have a cluster that is mostly theirs, and at
    worst quadratic in the subjects of one connected tangle whose overlaps differ.
    """
    cell = _matched_cells(_Cells.of(table))
    return table.n - int(table.own[cell].sum())


@dataclass(frozen=True, eq=False)
class _Cells:
    """Cells of the table that are still to be decided, with the number each had at first."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    x: NDArray[np.int64]
    index: NDArray[np.int64]

    @classmethod
    def of(cls, table: Overlap) -> _Cells:
        row, column = table.subject.astype(np.int64), table.cluster.astype(np.int64)
        return cls(row, column, table.own, np.arange(len(row)))

    def __len__(self) -> int:
        return len(self.x)

    def take(self, which: NDArray[np.intp] | NDArray[np.bool_]) -> _Cells:
        return _Cells(self.row[which], self.column[which], self.x[which], self.index[which])


def _matched_cells(cells: _Cells) -> NDArray[np.int64]:
    """The cells of one matching of largest sum."""
    settled, rest = _settle(cells)
    for component in _components(rest):
        settled.append(component.index[_assign(component)])
    return np.concatenate(settled)


def _settle(cells: _Cells) -> tuple[list[NDArray[np.int64]], _Cells]:
    """Cells that some best matching has, taken out with their row and column, round after round; and what is left.

    A cell at least as large as the largest other cell of its row and the largest other of its column together can
    replace, in any matching, the at most two that exclude it. So all stars, and most of a table with few errors, go.
    Taking other rows and columns out keeps the property, hence many are taken at once, one per row and column.
    """
    settled = [np.zeros(0, dtype=np.int64)]
    while len(cells):
        others = _largest_other(cells.x, cells.row) + _largest_other(cells.x, cells.column)
        sure = np.flatnonzero(cells.x >= others)
        sure = sure[np.unique(cells.row[sure], return_index=True)[1]]
        sure = sure[np.unique(cells.column[sure], return_index=True)[1]]
        settled.append(cells.index[sure])
        gone = _among(cells.row, cells.row[sure]) | _among(cells.column, cells.column[sure])
        cells = cells.take(~gone)
        if gone.sum() <= SLOW_ROUND * len(gone):
            break
    return settled, cells


def _largest_other(x: NDArray[np.int64], line: NDArray[np.int64]) -> NDArray[np.int64]:
    """The largest x of the same line but for the cell itself, 0 if it is alone."""
    order = np.argsort(line * (x.max() + 1) + x, kind="stable")
    sorted_line, sorted_x = line[order], x[order]
    last = np.flatnonzero(np.append(sorted_line[1:] != sorted_line[:-1], True))
    alone = np.append(True, sorted_line[1:] != sorted_line[:-1])[last]
    most = np.zeros(int(sorted_line[-1]) + 1, dtype=np.int64)
    most[sorted_line[last]] = sorted_x[last]
    other = most[line]
    other[order[last]] = np.where(alone, 0, sorted_x[last - 1])
    return other


def _among(line: NDArray[np.int64], taken: NDArray[np.int64]) -> NDArray[np.bool_]:
    mark = np.zeros(int(line.max()) + 1, dtype=np.bool_)
    mark[taken] = True
    return mark[line]


def _components(cells: _Cells) -> list[_Cells]:
    """The cells of each connected component of the overlap graph, rows and columns numbered from 0 in each."""
    if not len(cells):
        return []
    rows, row = np.unique(cells.row, return_inverse=True)
    columns, column = np.unique(cells.column, return_inverse=True)
    n_rows, n_columns = len(rows), len(columns)
    shape = (n_rows + n_columns, n_rows + n_columns)
    graph = coo_array((np.ones(len(cells), dtype=np.int8), (row, column + n_rows)), shape=shape)
    n_components, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    local = _Cells(_rank(label[:n_rows])[row], _rank(label[n_rows:])[column], cells.x, cells.index)
    of_cell = label[row]
    order = np.argsort(of_cell, kind="stable")
    ends = np.cumsum(np.bincount(of_cell, minlength=n_components))
    return [local.take(order[start:end]) for start, end in zip(np.append(0, ends[:-1]), ends, strict=True)]


def _rank(label: NDArray[np.int32]) -> NDArray[np.int64]:
    """The running number of each element among those with the same label."""
    order = np.argsort(label, kind="stable")
    count = np.bincount(label)
    rank = np.empty(len(label), dtype=np.int64)
    rank[order] = np.arange(len(label)) - np.repeat(np.cumsum(count) - count, count)
    return rank


def _assign(cells: _Cells) -> NDArray[np.bool_]:
    """Which cells of a connected component a best matching has."""
    n_rows, n_columns = int(cells.row.max()) + 1, int(cells.column.max()) + 1
    if n_rows > n_columns:  # a dummy for every row: the fewer rows, the better
        return _assign(_Cells(cells.column, cells.row, cells.x, cells.index))
    if n_rows * n_columns <= DENSE:
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
    """The column of each row by LAPJVsp; a row may stay without one by taking a dummy of its own, for no overlap.

    Costs are whole numbers in doubles, hence exact, and at least 1, since the solver takes 0 for no edge.
    """
    own = np.arange(n_rows)
    most = float(cells.x.max()) + 1
    cost = np.concatenate([most - cells.x, np.full(n_rows, most)])
    row, column = np.concatenate([cells.row, own]), np.concatenate([cells.column, n_columns + own])
    matrix = csr_array((cost, (row, column)), shape=(n_rows, n_columns + n_rows))
    rows, columns = scipy.sparse.csgraph.min_weight_full_bipartite_matching(matrix)
    partner = np.empty(n_rows, dtype=np.int64)
    partner[rows] = columns
    return partner
