"""Counts of the sensitive values in every class, as one matrix from which all criteria about disclosure are
computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import CsrRows
from unmask.core.errors import UnmaskError


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
        return Histograms.of(
            self.matrix.to_scipy() @ _to_nodes(nodes), overall=np.bincount(nodes, self.overall).astype(np.int64)
        )


def _read_matrix(counts: Integers | scipy.sparse.csr_array[Any, Any]) -> CsrRows:
    """Return the counts other than 0, with ascending columns in each row."""
    matrix: Any = scipy.sparse.csr_array(cast("Any", counts), dtype=cast("Any", np.int64))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return CsrRows(matrix.data, matrix.indices, matrix.indptr, matrix.shape)


def _to_nodes(nodes: NDArray[np.int32]) -> scipy.sparse.csr_array[Any, Any]:
    ones = np.ones(len(nodes), dtype=np.int64)
    return scipy.sparse.csr_array((ones, (np.arange(len(nodes)), nodes)), (len(nodes), int(nodes.max()) + 1))


Counts: TypeAlias = "Integers | scipy.sparse.csr_array[Any, Any] | CsrRows"
CountMatrix: TypeAlias = "Counts | Histograms"
"""(n_classes, n_values) number of rows of each class with each value: dense, sparse, or already read."""
