"""Rows of a CSR layout: entries one after the other, row i from indptr[i] to indptr[i + 1]."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

CHUNK = 1 << 16
"""Entries in a chunk: temporaries of half a megabyte stay in the cache, which is three times faster."""


def chunks(indptr: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of consecutive rows with about `CHUNK` entries each (a longer row stands alone).

    >>> list(chunks(np.array([0, 40_000, 60_000, 70_000])))
    [(0, 2), (2, 3)]
    """
    start, rows = 0, len(indptr) - 1
    while start < rows:
        stop = int(np.searchsorted(indptr, indptr[start] + CHUNK, side="right")) - 1
        stop = min(max(stop, start + 1), rows)
        yield start, stop
        start = stop


def segment_sum(values: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n_rows,) sum of each row of a CSR layout; 0 for an empty row.

    >>> segment_sum(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2, 3]))
    array([3., 0., 3.])
    """
    return _reduce(np.add, values, indptr, 0.0)


def segment_max(values: NDArray[np.float64], indptr: NDArray[np.int64], *, empty: float) -> NDArray[np.float64]:
    """(n_rows,) largest value of each row of a CSR layout; `empty` for an empty row."""
    return _reduce(np.maximum, values, indptr, empty)


def _reduce(
    ufunc: np.ufunc, values: NDArray[np.float64], indptr: NDArray[np.int64], empty: float
) -> NDArray[np.float64]:
    out = np.full(len(indptr) - 1, empty)
    filled = np.diff(indptr) > 0
    if filled.any():
        # over the starts of the filled rows alone: an empty row would otherwise copy its neighbor's first value
        out[filled] = ufunc.reduceat(values, indptr[:-1][filled])
    return out
