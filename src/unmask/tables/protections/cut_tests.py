"""Tests of cuts: both halves must have enough people and allowed sensitive values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

Allows = Callable[[NDArray[np.float64]], NDArray[np.bool_]]

_CELLS = 1 << 21  # cells of a dense block of histograms: 16 MiB as float64, a handful of such blocks live at a time


@dataclass(frozen=True, eq=False)
class Halves:
    """Cuts of boxes whose points are in the order of the column that is cut.

    items  : (A,) points, one box after the other
    starts : (S + 1,) where each box begins in `items`
    cuts   : (Q,) ascending, of each cut the last item on the left
    """

    items: NDArray[np.intp]
    starts: NDArray[np.intp]
    cuts: NDArray[np.intp]

    @property
    def box(self) -> NDArray[np.intp]:
        """(Q,) the box of each cut."""
        return np.searchsorted(self.starts, self.cuts, side="right") - 1


Test = Callable[[Halves], NDArray[np.bool_]]
"""From cuts to which of them it allows, (Q,)."""


def have_people(rows: scipy.sparse.csr_array, k: int, halves: Halves) -> NDArray[np.bool_]:
    """Return True for cuts with rows of k people in both halves; a person may have rows in both.

    rows : (C, P) rows of each person at each point.

    >>> three = scipy.sparse.csr_array(np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]]))
    >>> have_people(three, 2, Halves(np.arange(3), np.array([0, 3]), np.array([0, 1])))
    array([ True, False])
    """
    items, starts, cuts = halves.items, halves.starts, halves.cuts
    item = np.repeat(np.arange(items.size), np.diff(rows.indptr)[items])
    box = np.searchsorted(starts, item, side="right") - 1
    theirs = box * np.int64(rows.shape[1]) + rows[items].indices
    order = np.argsort(theirs, kind="stable")
    entered = _until(item[order[np.diff(theirs[order], prepend=-1) != 0]], items.size)
    left_behind = _until(item[order[np.diff(theirs[order], append=-1) != 0]], items.size)
    begin, end = starts[halves.box], starts[halves.box + 1]
    left_people, right_people = entered[cuts + 1] - entered[begin], left_behind[end] - left_behind[cuts + 1]
    return np.asarray((left_people >= k) & (right_people >= k))


def _until(places: NDArray[np.intp], n: int) -> NDArray[np.int64]:
    """(n + 1,) how many of these places are before each of n, and before the end."""
    return np.append(0, np.cumsum(np.bincount(places, minlength=n)))


def all_pass(table: scipy.sparse.csr_array, allow: Allows, halves: Halves) -> NDArray[np.bool_]:
    """Return True for cuts with allowed sensitive histograms in both halves.

    table : (C, m) the histogram of each point. Boxes are taken in groups and their cuts in blocks, so that no dense
    block exceeds `_CELLS` whatever the number of points, boxes and sensitive values.
    """
    m, cuts = table.shape[1], halves.cuts
    block = max(1, _CELLS // m)
    passing = np.zeros(cuts.size, dtype=np.bool_)
    last_cut = np.searchsorted(cuts, halves.starts)  # cuts before the first item of every box
    for group in range(0, halves.starts.size - 1, block):
        starts = halves.starts[group : group + block + 1]
        rows = table[halves.items[starts[0] : starts[-1]]]
        totals = _sums(rows, starts - starts[0])
        counts_before = np.cumsum(totals, axis=0) - totals
        running, done = np.zeros(m), 0
        for start in range(last_cut[group], last_cut[group + len(starts) - 1], block):
            chosen = slice(start, min(start + block, last_cut[group + len(starts) - 1]))
            marks = cuts[chosen] + 1 - starts[0]
            until = running + np.cumsum(_sums(rows, np.concatenate([[done], marks])), axis=0)
            running, done = until[-1], int(marks[-1])
            box = np.searchsorted(starts, cuts[chosen], side="right") - 1
            left_counts = until - counts_before[box]
            good = allow(left_counts)
            good[good] = allow(totals[box[good]] - left_counts[good])
            passing[chosen] = good
    return passing


def _sums(rows: scipy.sparse.csr_array, marks: NDArray[np.intp]) -> NDArray[np.float64]:
    """Histograms of the row ranges between consecutive marks, (len(marks) - 1, m); counts are exact below 2^53."""
    m, pointers = rows.shape[1], rows.indptr[marks].astype(np.intp)
    inside = slice(pointers[0], pointers[-1])
    base = np.repeat(np.arange(marks.size - 1, dtype=np.int64) * m, np.diff(pointers))
    sums = np.bincount(base + rows.indices[inside], weights=rows.data[inside], minlength=(marks.size - 1) * m)
    return np.asarray(sums, dtype=np.float64).reshape(-1, m)
