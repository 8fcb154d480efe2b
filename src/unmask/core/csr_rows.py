"""Rows in CSR layout: concatenated entries, where row i is from indptr[i] to indptr[i + 1]."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers

CHUNK = 1 << 17
"""Entries in a chunk: its temporaries of a megabyte fit the cache, which is three times faster."""


class CsrRows(NamedTuple):
    """Sparse rows without SciPy, whose import takes as long as the audit of a small table.

    Parameters
    ----------
    data : (n_entries,) array
        Entries, row by row.
    indices : (n_entries,) array
        Column of each entry.
    indptr : (n_rows + 1,) array
        Row i has the entries indptr[i] to indptr[i + 1].
    shape : (int, int)
        Numbers of rows and columns.

    Examples
    --------
    >>> rows = CsrRows.of_dense(np.array([[0, 2], [1, 1]]))
    >>> rows.take(np.array([1, 0])).to_scipy().toarray()
    array([[1, 1], [0, 2]])
    """

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    shape: tuple[int, int]

    @classmethod
    def of_dense(cls, values: NDArray[Any]) -> Self:
        """Return the nonzero entries of a matrix."""
        row, column = np.nonzero(values)
        indptr = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(values)))))
        return cls(values[row, column], column, indptr, (values.shape[0], values.shape[1]))

    @classmethod
    def of_pairs(cls, row: Integers, column: Integers, shape: tuple[int, int]) -> Self:
        """Return a mask of the pairs of row and column; a pair that occurs twice is one entry."""
        row, column = np.divmod(distinct(np.asarray(row, dtype=np.int64) * shape[1] + column), max(shape[1], 1))
        indptr = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=shape[0]))))
        return cls(np.ones(len(row), dtype=np.bool_), column, indptr, shape)

    def take(self, rows: Integers) -> Self:
        """Return a selection of rows, in this order."""
        sizes = np.diff(self.indptr)[rows]
        entries = ranges(self.indptr[rows], sizes)
        indptr = np.concatenate(([0], np.cumsum(sizes)))
        return self._replace(
            data=self.data[entries], indices=self.indices[entries], indptr=indptr, shape=(len(rows), self.shape[1])
        )

    def contain(self, row: Integers, column: Integers) -> Booleans:
        """Return a mask of the pairs of row and column that are entries; columns ascend in each row.

        >>> CsrRows.of_dense(np.array([[0, 2], [1, 1]])).contain(np.array([0, 0]), np.array([0, 1]))
        array([False,  True])
        """
        key = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr)) * self.shape[1] + self.indices
        key_to_find = row * self.shape[1] + column
        return np.asarray(np.append(key, -1)[np.searchsorted(key, key_to_find)] == key_to_find)

    def sort_columns(self) -> Self:
        """Return the rows with ascending columns."""
        key = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr)) * self.shape[1] + self.indices
        if np.all(key[1:] > key[:-1]):
            return self
        order = np.argsort(key)
        return self._replace(data=self.data[order], indices=self.indices[order])

    def transpose(self) -> Self:
        """Return the transposed matrix."""
        order = list_members(self.indices)
        row = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        indptr = np.concatenate(([0], np.cumsum(np.bincount(self.indices, minlength=self.shape[1]))))
        return self._replace(data=self.data[order], indices=row[order], indptr=indptr, shape=self.shape[::-1])

    def to_scipy(self) -> scipy.sparse.csr_array[Any, Any]:
        """Return the SciPy array."""
        return scipy.sparse.csr_array((self.data, self.indices, self.indptr), shape=self.shape)


def chunks(indptr: Integers, size: int = CHUNK) -> Iterator[tuple[int, int]]:
    """Yield ranges of consecutive rows with about `size` entries each; a longer row is a range by itself.

    >>> list(chunks(np.array([0, 80_000, 120_000, 140_000])))
    [(0, 2), (2, 3)]
    """
    start, rows = 0, len(indptr) - 1
    while start < rows:
        stop = int(np.searchsorted(indptr, indptr[start] + size, side="right")) - 1
        stop = min(max(stop, start + 1), rows)
        yield start, stop
        start = stop


def dot(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Return the dot product of two vectors; the result does not depend on the number of threads.

    BLAS uses several threads for vectors of 10,000 or more entries, which costs time in each call.

    >>> dot(np.array([0.5, 2.0]), np.array([4, 1]))
    4.0
    """
    return float((x * y).sum())


def segment_sum(values: Floats, indptr: Integers) -> Floats:
    """Return the sum of each row of a CSR layout; 0 for an empty row.

    >>> segment_sum(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2, 3]))
    array([3., 0., 3.])
    """
    return _reduce(np.add, values, indptr, 0.0)


def segment_max(values: Floats, indptr: Integers, *, empty: float) -> Floats:
    """Return the largest value of each row of a CSR layout; `empty` for an empty row."""
    return _reduce(np.maximum, values, indptr, empty)


def _reduce(ufunc: np.ufunc, values: Floats, indptr: Integers, empty: float) -> Floats:
    filled = indptr[:-1] < indptr[1:]
    if filled.all():
        return np.asarray(ufunc.reduceat(values, indptr[:-1]), dtype=np.float64)
    reduced = np.full(len(filled), empty)
    if filled.any():
        # only over the starts of nonempty rows: reduceat would return a neighbor's value for an empty row
        reduced[filled] = ufunc.reduceat(values, indptr[:-1][filled])
    return reduced


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values of an array of integers or texts, ascending.

    `np.unique` hashes integers, which is a hundred times slower for a million distinct ones. Each nan is distinct.

    >>> distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    ordered = np.sort(values, axis=None)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def list_members(class_of: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """Return the members of class 0, ascending, then of class 1, and so on.

    Class and member share one word, because NumPy sorts words several times faster than it sorts positions.

    >>> list_members(np.array([1, 0, 1], np.int32))
    array([1, 0, 2], dtype=int32)
    """
    word = class_of.astype(np.int64) << 32
    word |= np.arange(len(class_of))
    word.sort()
    return word.astype(np.int32)  # the lower half


def argsort_digits(keys: Integers, space: int) -> NDArray[np.intp]:
    """Return the stable order of integers from 0 to space - 1.

    NumPy sorts digits of 16 bits by counting them. For keys that the cache holds, two digits take half the time of a
    sort of words.

    >>> argsort_digits(np.array([70_000, 3, 70_000, 1]), 1 << 17)
    array([3, 1, 0, 2])
    """
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    for shift in range(16, int(space - 1).bit_length(), 16):
        digit = (keys >> shift).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
    return order


def ranges(first: Integers, size: Integers) -> NDArray[np.int64]:
    """Return the concatenated ranges first[i], first[i] + 1, ..., of size[i] integers each.

    >>> ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(size)
    return np.repeat(first - (ends - size), size) + np.arange(int(size.sum()))


def expand_entries(
    row: Integers,
    klass: NDArray[np.integer[Any]],
    value: Floats,
    members: NDArray[np.int32],
    first: Integers,
    n_rows: int,
) -> tuple[Integers, NDArray[np.int32], Floats]:
    """Return entries (row, class, value) as CSR entries of the class members; members ascend in each row.

    row : ascending. members, first : class j has the members members[first[j]:first[j + 1]], ascending
    """
    sizes = np.diff(first)[klass]
    candidate = members[ranges(first[klass], sizes)]
    values = np.repeat(value, sizes)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(row, sizes, n_rows)))).astype(np.int64)
    if np.all(row[1:] > row[:-1]):
        return indptr, candidate, values
    key = np.repeat(row, sizes) * (int(members.max(initial=0)) + 1) + candidate  # by row, then candidate
    order = np.argsort(key, kind="stable")  # merges the members of each class, which ascend
    return indptr, candidate[order], values[order]
