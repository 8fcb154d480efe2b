"""Tests of Mondrian cuts: both halves must have enough people and satisfy the constraints on sensitive columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers

Allows = Callable[[Floats], Booleans]

_CELLS = 1 << 21
"""Cells of a dense block of histograms: 16 MiB as float64. A few blocks exist at a time."""


class Cuts(NamedTuple):
    """Cuts of boxes whose points are sorted by the column to cut.

    items  : (A,) points, one box after the other
    starts : (S + 1,) start of each box in `items`
    cuts   : (Q,) last item on the left of each cut, ascending
    box    : (Q,) box of each cut
    """

    items: NDArray[np.intp]
    starts: NDArray[np.intp]
    cuts: NDArray[np.intp]
    box: NDArray[np.intp]


Test = Callable[[Cuts], Booleans]
"""Function from cuts to a mask of the allowed ones, (Q,)."""


def have_people(rows: scipy.sparse.csr_array, k: int, cuts_to_test: Cuts) -> Booleans:
    """Return a mask of the cuts with at least k people in both halves. A person may have rows in both.

    rows : (C, P) rows of each person at each point, CSR

    >>> three = scipy.sparse.csr_array(np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]]))
    >>> have_people(three, 2, Cuts(np.arange(3), np.array([0, 3]), np.arange(2), np.zeros(2, int)))
    array([ True, False])
    """
    items, starts, cuts, box_of_cut = cuts_to_test
    item = np.repeat(np.arange(items.size), np.diff(rows.indptr)[items])
    box = np.searchsorted(starts, item, side="right") - 1
    person_in_box = box * np.int64(rows.shape[1]) + rows[items].indices
    order = np.argsort(person_in_box, kind="stable")
    n_started = _cumulative_counts(item[order[np.diff(person_in_box[order], prepend=-1) != 0]], items.size)
    n_ended = _cumulative_counts(item[order[np.diff(person_in_box[order], append=-1) != 0]], items.size)
    begin, end = starts[box_of_cut], starts[box_of_cut + 1]
    left_people, right_people = n_started[cuts + 1] - n_started[begin], n_ended[end] - n_ended[cuts + 1]
    return np.asarray((left_people >= k) & (right_people >= k))


def _cumulative_counts(places: NDArray[np.intp], n: int) -> Integers:
    """Return (n + 1,) the number of places before each position from 0 to n."""
    return np.append(0, np.cumsum(np.bincount(places, minlength=n)))


def satisfy_constraints(table: scipy.sparse.csr_array, allow: Allows, cuts_to_test: Cuts) -> Booleans:
    """Return a mask of the cuts whose halves both have allowed sensitive histograms.

    table : (C, m) histogram of each point, CSR

    Boxes are processed in groups and their cuts in blocks, so that no dense block exceeds `_CELLS`.
    """
    m, (items, all_starts, cuts, box_of_cut) = table.shape[1], cuts_to_test
    block = max(1, _CELLS // m)
    passing = np.zeros(cuts.size, dtype=np.bool_)
    last_cut = np.searchsorted(cuts, all_starts)  # number of cuts before each box
    for group in range(0, all_starts.size - 1, block):
        starts = all_starts[group : group + block + 1]
        rows = table[items[starts[0] : starts[-1]]]
        totals = _sums(rows, starts - starts[0])
        counts_before = np.cumsum(totals, axis=0) - totals
        running, last_mark = np.zeros(m), 0
        for start in range(last_cut[group], last_cut[group + len(starts) - 1], block):
            chosen = slice(start, min(start + block, last_cut[group + len(starts) - 1]))
            marks = cuts[chosen] + 1 - starts[0]
            cumulative = running + np.cumsum(_sums(rows, np.concatenate([[last_mark], marks])), axis=0)
            running, last_mark = cumulative[-1], int(marks[-1])
            box = box_of_cut[chosen] - group
            left_counts = cumulative - counts_before[box]
            is_allowed = allow(left_counts)
            is_allowed[is_allowed] = allow(totals[box[is_allowed]] - left_counts[is_allowed])
            passing[chosen] = is_allowed
    return passing


def _sums(rows: scipy.sparse.csr_array, marks: NDArray[np.intp]) -> Floats:
    """Return the histograms of the row ranges between consecutive marks, (len(marks) - 1, m); exact below 2^53."""
    m, pointers = rows.shape[1], rows.indptr[marks].astype(np.intp)
    entries = slice(pointers[0], pointers[-1])
    base = np.repeat(np.arange(marks.size - 1, dtype=np.int64) * m, np.diff(pointers))
    sums = np.bincount(base + rows.indices[entries], weights=rows.data[entries], minlength=(marks.size - 1) * m)
    return np.asarray(sums, dtype=np.float64).reshape(-1, m)
