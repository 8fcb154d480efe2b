"""Products of sparse columns, entry by entry: how far released rows agree with people by one column more."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, hstack

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]

DENSE = 1 << 20
"""Entries of a table that is looked up whole."""

ENTRIES = 1 << 24
"""Entries of a sparse matrix that are held on the way to a smaller one."""

WALKED = 1 << 20
"""Entries of its columns that are walked at once."""


def product(agree: csc_array, at: Codes, table: csr_array, row: Codes, to: Codes) -> csc_array:
    """Columns `at` of one times columns `to` of another, whose rows are rows of a table; no zeros; pairs ascend.

    Of each two columns the shorter one is walked and looked up in the other: one of both is short where the other says
    little, as a common value does.
    """
    if np.diff(table.indptr).max(initial=0) <= 1:
        return _divided(agree, at, table, row, to)
    few = int(np.diff(table.indptr)[row].sum()) <= ENTRIES
    fits = csc_array(table[row] if few else (len(row), table.shape[1]))
    shorter = np.diff(fits.indptr)[to] < np.diff(agree.indptr)[at] if few else np.zeros(len(at), dtype=np.bool_)
    longer = ~shorter
    parts = [
        *_walked(agree, at[longer], to[longer], lambda rows, columns: _entries(table, row[rows], columns)),
        *_walked(fits, to[shorter], at[shorter], lambda rows, columns: np.asarray(agree[rows, columns])),
    ]
    places = np.concatenate([np.flatnonzero(longer), np.flatnonzero(shorter)])
    return csc_array(csc_array(hstack(parts))[:, np.argsort(places)])


def _divided(agree: csc_array, at: Codes, table: csr_array, row: Codes, to: Codes) -> csc_array:
    """The same where each row of the table has one entry at most: each entry of the first stays in one column."""
    width, level = table.shape[1], row[agree.indices]
    says = np.diff(table.indptr)[level] > 0
    entry, level = np.flatnonzero(says), level[says]
    first = table.indptr[level]
    before = np.repeat(np.arange(agree.shape[1]), np.diff(agree.indptr))[entry]
    key, wanted = before * width + table.indices[first], at.astype(np.int64) * width + to
    column = np.minimum(np.searchsorted(wanted, key), len(wanted) - 1)
    met = wanted[column] == key
    found = agree.data[entry[met]] * table.data[first[met]]
    return csc_array((found, (agree.indices[entry[met]], column[met])), shape=(agree.shape[0], len(wanted)))


def _walked(one: csc_array, at: Codes, to: Codes, other: Callable[[Codes, Codes], Floats]) -> Iterator[csc_array]:
    """Columns `at` times the entries of another matrix in columns `to`, in blocks."""
    ends = np.cumsum(np.diff(one.indptr)[at]) // WALKED
    for block in np.split(np.arange(len(at)), np.flatnonzero(np.diff(ends)) + 1):
        found = csc_array(one[:, at[block]])
        if found.nnz:
            found.data *= other(found.indices, np.repeat(to[block], np.diff(found.indptr)))
            found.eliminate_zeros()
        yield found


def _entries(table: csr_array, row: Codes, column: Codes) -> Floats:
    """The entries of a sparse table at some places."""
    if table.shape[0] * table.shape[1] <= DENSE:
        return np.asarray(table.toarray()[row, column])
    table.sort_indices()
    width, rows = table.shape[1], np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    keys, wanted = rows * width + table.indices, row.astype(np.int64) * width + column
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return np.asarray(np.where(keys[at] == wanted, table.data[at], 0.0)) if len(keys) else np.zeros(len(wanted))
