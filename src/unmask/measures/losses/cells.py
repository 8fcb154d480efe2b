"""Rows of a belief with every candidate that has mass written out, in chunks, and in rectangular blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import segment_sum
from unmask.core.posterior import Posterior

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
T = TypeVar("T", bound=np.generic)

CHUNK = 1 << 22
"""Numbers of a rectangle, or of a product with a loss, at once: some 150 MB of temporaries."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Consecutive rows of a belief; candidates that share unlisted mass are listed with their share.

    start        : number of the first row
    p, candidate : (n_entries,) belief in each candidate
    indptr       : (n_rows + 1,)
    nobody       : (n_rows,) mass of "none of these", and of an unknown number of unlisted candidates
    """

    start: int
    p: Floats
    candidate: NDArray[np.int32]
    indptr: Ints
    nobody: Floats

    @property
    def stop(self) -> int:
        """Number of the row after the last."""
        return self.start + len(self.nobody)

    @property
    def length(self) -> Ints:
        """(n_rows,) candidates of each row."""
        return np.diff(self.indptr)

    @property
    def mass(self) -> Floats:
        """(n_rows,) what is not `nobody`; 1 where that is nothing, so that it can be divided by."""
        mass = self.sum(self.p)
        return np.where(mass > 0, mass, 1.0)

    def sum(self, values: Floats) -> Floats:
        """(n_rows,) sum over the entries of each row."""
        return segment_sum(values, self.indptr)


def cells(belief: Posterior) -> Iterator[Cells]:
    """All rows, about `CHUNK` entries at a time (a longer row stands alone)."""
    shared = sharing(belief)
    end = np.cumsum(np.where(shared, belief.n_candidates, belief.row_length))
    start = 0
    while start < belief.n_observations:
        before = end[start - 1] if start else 0
        stop = max(int(np.searchsorted(end, before + CHUNK, side="right")), start + 1)
        yield _cells(belief, start, stop, shared[start:stop])
        start = stop


def sharing(belief: Posterior) -> Bools:
    """(n_observations,) rows whose unlisted mass is shared by candidates that could be named."""
    return (belief.n_unlisted > 0) & (belief.unlisted > 0) & (belief.row_length < belief.n_candidates)


def _cells(belief: Posterior, start: int, stop: int, shared: Bools) -> Cells:
    entries = slice(belief.indptr[start], belief.indptr[stop])
    p, candidate = np.exp(belief.log_probability[entries].astype(np.float64)), belief.candidate[entries]
    indptr = belief.indptr[start : stop + 1] - belief.indptr[start]
    unlisted = belief.unlisted[start:stop]
    if not shared.any():
        return Cells(start, p, candidate, indptr, unlisted)
    n, length = belief.n_candidates, np.diff(indptr)
    wide = np.concatenate(([0], np.cumsum(np.where(shared, n, length))))
    place = np.arange(wide[-1]) - np.repeat(wide[:-1], np.diff(wide))
    row = np.repeat(np.arange(stop - start), length)
    old = wide[row] + np.where(shared[row], candidate, np.arange(len(p)) - indptr[row])
    every, share = place.astype(np.int32), np.where(shared, unlisted / np.maximum(n - length, 1), 0.0)
    spread = np.repeat(share, np.diff(wide))
    every[old], spread[old] = candidate, p
    return Cells(start, spread, every, wide, np.where(shared, 0.0, unlisted))


def blocks(indptr: Ints, *, power: int = 1) -> Iterator[tuple[Ints, int]]:
    """Rows that fit one rectangle: their numbers, and its width, at most twice the length of each of them.

    power : the rectangle has to hold len(rows) * width ** power numbers, about `CHUNK`. Empty rows are left out.

    >>> [(rows.tolist(), width) for rows, width in blocks(np.array([0, 3, 3, 4, 8]))]
    [([2], 1), ([0, 3], 4)]
    """
    length = np.diff(indptr)
    if len(length) and length.min() == length.max():
        widths = length
    else:
        widths = np.exp2(np.ceil(np.log2(np.maximum(length, 1)))).astype(np.int64)
    for width in np.unique(widths[length > 0]).tolist():
        rows = np.flatnonzero((widths == width) & (length > 0))
        step = max(CHUNK // width**power, 1)
        for first in range(0, len(rows), step):
            yield rows[first : first + step], width


def rectangle(values: NDArray[T], indptr: Ints, rows: Ints, width: int) -> NDArray[T]:
    """(len(rows), width) the entries of these rows; what is behind the end of a row repeats its first entry."""
    if rows[-1] - rows[0] + 1 == len(rows) and np.all(indptr[rows + 1] - indptr[rows] == width):
        return values[indptr[rows[0]] : indptr[rows[-1] + 1]].reshape(-1, width)
    return values[indptr[rows][:, None] + np.where(inside(indptr, rows, width), np.arange(width), 0)]


def inside(indptr: Ints, rows: Ints, width: int) -> Bools:
    """(len(rows), width) whether a place of the rectangle belongs to its row."""
    return np.arange(width) < (indptr[rows + 1] - indptr[rows])[:, None]


def expected_cost(belief: Posterior, cost: Floats, *, largest: float) -> Floats:
    """(n_observations,) what one fixed answer costs on average, sum_x p(x given y) cost[x].

    cost : (n_candidates,) its loss at each truth; "none of these" costs the largest loss.
    """
    shared, out = sharing(belief), np.empty(belief.n_observations)
    start = 0
    while start < belief.n_observations:
        stop = int(np.searchsorted(belief.indptr, belief.indptr[start] + CHUNK, side="right")) - 1
        stop = min(max(stop, start + 1), belief.n_observations)
        entries = slice(belief.indptr[start], belief.indptr[stop])
        paid, indptr = cost[belief.candidate[entries]], belief.indptr[start : stop + 1] - belief.indptr[start]
        listed = segment_sum(np.exp(belief.log_probability[entries].astype(np.float64)) * paid, indptr)
        others = (cost.sum() - segment_sum(paid, indptr)) / np.maximum(belief.n_candidates - np.diff(indptr), 1)
        out[start:stop] = listed + belief.unlisted[start:stop] * np.where(shared[start:stop], others, largest)
        start = stop
    return out
