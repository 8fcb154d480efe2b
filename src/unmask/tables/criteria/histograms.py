"""The sensitive values of every class as one count matrix: what all criteria about disclosure are functions of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unmask.errors import UnmaskError

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Histograms:
    """The sensitive values of every class: a count matrix with the shares p and q beside its stored entries.

    matrix : CSR (J, m), positive counts only, no class without rows.
    overall : (m,) rows per value in the whole table; the values with 0 rows do not count as part of the domain.
    """

    matrix: sparse.csr_array[Any, Any]
    overall: NDArray[np.int64]

    @classmethod
    def of(cls, counts: CountMatrix, *, overall: NDArray[np.int64] | None = None) -> Histograms:
        """Read a dense or sparse count matrix; classes without rows are left out.

        overall : rows per value; the column sums of the matrix unless given (classes that overlap count rows twice).
        """
        if isinstance(counts, Histograms):
            return counts
        matrix: Any = sparse.csr_array(cast("Any", counts), dtype=cast("Any", np.int64))
        if matrix.nnz and matrix.data.min() < 0:
            raise UnmaskError("the count matrix has a negative entry, expected numbers of rows")
        matrix.eliminate_zeros()
        matrix.sort_indices()
        filled = np.diff(matrix.indptr) > 0
        if not filled.any():
            raise UnmaskError("0 rows in the count matrix, expected at least 1")
        matrix = matrix if filled.all() else matrix[np.flatnonzero(filled)]
        total = np.bincount(matrix.indices, matrix.data, matrix.shape[1]) if overall is None else overall
        return cls(matrix, np.asarray(total, dtype=np.int64))

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """(J,) position of the first stored entry of each class."""
        return np.asarray(self.matrix.indptr[:-1], dtype=np.int64)

    @cached_property
    def width(self) -> NDArray[np.int64]:
        """(J,) number of different values in each class."""
        return np.diff(self.matrix.indptr).astype(np.int64)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(J,) rows of each class."""
        return np.asarray(np.add.reduceat(self.matrix.data, self.start), dtype=np.int64)

    @cached_property
    def domain(self) -> int:
        """Number m of values that occur."""
        return int(np.count_nonzero(self.overall))

    @cached_property
    def q_all(self) -> Floats:
        """(m,) overall shares."""
        return np.asarray(self.overall / self.overall.sum(), dtype=np.float64)

    @cached_property
    def p(self) -> Floats:
        """(nnz,) share of each stored value in its class."""
        return np.asarray(self.matrix.data / np.repeat(self.sizes, self.width), dtype=np.float64)

    @cached_property
    def q(self) -> Floats:
        """(nnz,) overall share of each stored value."""
        return self.q_all[self.matrix.indices]

    def add(self, values: Floats) -> Floats:
        """Sum over the stored values of each class."""
        return np.asarray(np.add.reduceat(values, self.start), dtype=np.float64)

    def largest(self, values: Floats) -> Floats:
        """Maximum over the stored values of each class."""
        return np.asarray(np.maximum.reduceat(values, self.start), dtype=np.float64)


CountMatrix: TypeAlias = "NDArray[np.int64] | sparse.csr_array[Any, Any] | Histograms"
"""(n_classes, n_values) rows of each value in each class: dense, sparse, or read already."""
