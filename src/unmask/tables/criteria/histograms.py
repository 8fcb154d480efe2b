"""Counts of the sensitive values in every class, as one matrix from which all criteria about disclosure are
computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import CsrRows, chunks
from unmask.core.errors import UnmaskError
from unmask.tables.column import Column
from unmask.tables.levels import ends_of_sets


@dataclass(frozen=True, eq=False)
class Histograms:
    """Sparse counts of values in classes, with the totals of the values.

    Parameters
    ----------
    matrix : CsrRows
        (J, m) number of rows of each class with each value.
    overall : Integers
        (m,) number of rows of the whole table with each value.
    """

    matrix: CsrRows
    overall: Integers

    @classmethod
    def of(cls, counts: CountMatrix, *, overall: Integers | None = None) -> Histograms:
        """Read a dense or sparse count matrix, and leave out classes without rows.

        overall : rows with each value. The default is the column sums of the matrix, which count rows several times if
            classes overlap.
        """
        if isinstance(counts, Histograms):
            return counts
        matrix = counts.sort_columns() if isinstance(counts, CsrRows) else _read_matrix(counts)
        if matrix.data.min(initial=0) < 0:
            raise UnmaskError("the count matrix has a negative entry, expected numbers of rows")
        filled = np.diff(matrix.indptr) > 0
        if not filled.any():
            raise UnmaskError("0 rows in the count matrix, expected at least 1")
        matrix = matrix if filled.all() else matrix.take(np.flatnonzero(filled))
        total = np.bincount(matrix.indices, matrix.data, matrix.shape[1]) if overall is None else overall
        return cls(matrix, np.asarray(total, dtype=np.int64))

    def parts(self) -> Iterator[tuple[int, int, Histograms]]:
        """Yield ranges of classes with a similar number of entries, whose temporaries fit the cache."""
        data, indices, indptr, (_, m) = self.matrix
        for start, stop in chunks(indptr):
            begin, end = indptr[start], indptr[stop]
            part = CsrRows(data[begin:end], indices[begin:end], indptr[start : stop + 1] - begin, (stop - start, m))
            yield start, stop, replace(self, matrix=part)

    @cached_property
    def start(self) -> Integers:
        """Return the (J,) positions of the first stored entry of each class."""
        return np.asarray(self.matrix.indptr[:-1], dtype=np.int64)

    @cached_property
    def width(self) -> Integers:
        """Return the (J,) numbers of distinct values in each class."""
        return np.diff(self.matrix.indptr).astype(np.int64)

    @cached_property
    def sizes(self) -> Integers:
        """Return the (J,) numbers of rows of each class."""
        return np.asarray(np.add.reduceat(self.matrix.data, self.start), dtype=np.int64)

    @cached_property
    def domain(self) -> int:
        """Return the number m of values that occur."""
        return int(np.count_nonzero(self.overall))

    @cached_property
    def q_all(self) -> Floats:
        """Return the (m,) overall shares of the values."""
        return np.asarray(self.overall / self.overall.sum(), dtype=np.float64)

    @property
    def count(self) -> Integers:
        """Return the (nnz,) numbers of rows with each stored value."""
        return self.matrix.data

    @cached_property
    def p(self) -> Floats:
        """Return the (nnz,) share of each stored value in its class."""
        return np.asarray(self.count / np.repeat(self.sizes, self.width), dtype=np.float64)

    @cached_property
    def q(self) -> Floats:
        """Return the (nnz,) overall share of each stored value."""
        return np.asarray(self.q_all[self.matrix.indices])

    def sum_by_class(self, values: Floats) -> Floats:
        """Return the sum of (nnz,) numbers over the stored values of each class."""
        return np.asarray(np.add.reduceat(values, self.start), dtype=np.float64)

    def max_by_class(self, values: NDArray[Any]) -> Floats:
        """Return the maximum of (nnz,) numbers, at least 0, over the stored values of each class."""
        return np.asarray(np.maximum.reduceat(values, self.start), dtype=np.float64)

    def divide_by_q(self, values: Floats) -> Floats:
        """Return (nnz,) numbers divided by the overall shares of their values; infinite if a share is 0."""
        return np.asarray(np.divide(values, self.q, out=np.full(len(values), np.inf), where=self.q > 0))

    def count_beyond(self, n: int) -> Integers:
        """Return the (J,) numbers of rows whose value is not one of the n most common values of their class."""
        data, limit = self.count, int(self.count.max()) + 1
        word = np.repeat(np.arange(len(self.width)), self.width) * limit + (limit - 1 - data)
        word.sort()
        descending = np.concatenate(([0], np.cumsum(limit - 1 - word % limit)))
        end = self.start + self.width
        return np.asarray(descending[end] - descending[np.minimum(self.start + n, end)])

    def merge_values(self, nodes: NDArray[np.int32]) -> Histograms:
        """Return the histograms after merging the values of each node.

        nodes : (m,) node of each value
        """
        ones, place = np.ones(len(nodes), dtype=np.int64), (np.arange(len(nodes)), nodes)
        to_nodes = scipy.sparse.csr_array((ones, place), (len(nodes), int(nodes.max()) + 1))
        return Histograms.of(
            self.matrix.to_scipy() @ to_nodes, overall=np.bincount(nodes, self.overall).astype(np.int64)
        )


def _read_matrix(counts: Integers | scipy.sparse.csr_array[Any, Any]) -> CsrRows:
    """Return the counts other than 0, with ascending columns in each row."""
    matrix: Any = scipy.sparse.csr_array(cast("Any", counts), dtype=cast("Any", np.int64))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return CsrRows(matrix.data, matrix.indices, matrix.indptr, matrix.shape)


Counts: TypeAlias = "Integers | scipy.sparse.csr_array[Any, Any] | CsrRows"
CountMatrix: TypeAlias = "Counts | Histograms"
"""(n_classes, n_values) number of rows of each class with each value: dense, sparse, or already read."""


# --- order and hierarchy of a sensitive column ------------------------------------------------------------------------


def rank_order(column: Column) -> NDArray[np.int32] | None:
    """Return the (L,) rank of each level, from 0 to L - 1: numbers ascending, ordinal values in their declared order.

    There is no result (None) if the column has no order: if it is categorical, if a cell is missing, or if cells
    overlap, such as [20, 30] and 25. There are no ties. Levels that no row has are ranked, too, but change no
    criterion.

    >>> from unmask.tables.table import Table
    >>> people = Table.read({"age": [1, 2, 3], "pay": [30, 10, 20]}, quasi_identifiers="age", sensitive="pay")
    >>> rank_order(people.column("pay"))
    array([0, 1, 2], dtype=int32)
    """
    levels = column.levels
    used = column.counts > 0
    if levels.kind == "categorical" or (levels.missing >= 0 and used[levels.missing]):
        return None
    if levels.kind == "numeric":
        low, high = levels.low, levels.high
    else:
        low, high = ends_of_sets(levels)
    order = np.lexsort((high, low))
    in_use = order[used[order]]
    if np.any(low[in_use][1:] <= high[in_use][:-1]):
        return None
    rank = np.empty(len(levels), dtype=np.int32)
    rank[order] = np.arange(len(levels), dtype=np.int32)
    return rank


def hierarchy_paths(column: Column, *, rank: NDArray[np.int32] | None = None) -> NDArray[np.int32] | None:
    """Return the (H, L) node above each level at heights 0 to H - 1 of the column's hierarchy; None without a
    hierarchy.

    The root at height H is left out. A missing cell has only the root above it, so that it is a node of its own at each
    lower height. Node numbers are local to a height and never negative.

    rank : (L,) position of each level in the result. The default is the index of the level.

    >>> from unmask.tables.hierarchy import Hierarchy
    >>> from unmask.tables.table import Table
    >>> tree = Hierarchy.from_paths([("flu", "lung", "*"), ("ulcer", "gut", "*"), ("asthma", "lung", "*")])
    >>> roles = {"quasi_identifiers": "age", "sensitive": "ill", "hierarchies": {"ill": tree}}
    >>> hierarchy_paths(Table.read({"age": [1, 2, 3], "ill": ["flu", "ulcer", "asthma"]}, **roles).column("ill"))
    array([[0, 1, 2], [1, 1, 0]], dtype=int32)
    """
    hierarchy = column.hierarchy
    if hierarchy is None:
        return None
    leaf = {label: i for i, label in enumerate(hierarchy.leaves)}
    used = column.counts > 0
    index = np.array([leaf.get(label, -1) for label in column.levels.labels])
    outside = int(np.count_nonzero((index < 0) & used & ~column.levels.is_missing))
    if outside:
        raise UnmaskError(
            f"{outside} values of sensitive column {column.name!r} are not leaves of its hierarchy, expected none; "
            "add them to the hierarchy or leave it out"
        )
    numbers = hierarchy.numbers[: hierarchy.height]
    paths = np.where(index >= 0, numbers[:, index], numbers.max(axis=1, initial=-1)[:, None] + 1).astype(np.int32)
    if rank is not None:
        paths[:, rank] = paths.copy()
    return paths
