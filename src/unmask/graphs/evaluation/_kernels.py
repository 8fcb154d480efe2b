"""Compiled breadth-first search between pairs of nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled


@compiled
def distances(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32], start: NDArray[np.int32], end: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Length of the shortest path from start[i] to end[i], -2 where there is none.

    Two breadth-first searches, of which the one with fewer edges ahead of it takes the next step, until they meet.
    Pairs that follow each other with one end share the search from there. The mark of a node is the search's base plus
    its depth; later searches have higher bases, so nothing is ever wiped.
    """
    n = len(indptr) - 1
    result = np.empty(len(start), dtype=np.int64)
    here, there = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    queue, back = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    far, back_first, back_last, back_ahead, far_base = 0, 0, 0, 0, 0
    for i in range(len(start)):
        base = i * (n + 1)
        if i == 0 or end[i] != end[i - 1]:
            far_base, far, back_first, back_last = base, 0, 0, 1
            back[0], there[end[i]], back_ahead = end[i], base, indptr[end[i] + 1] - indptr[end[i]]
        if there[start[i]] >= far_base:
            result[i] = there[start[i]] - far_base
            continue
        queue[0], here[start[i]], first, last, near = start[i], base, 0, 1, 0
        ahead = indptr[start[i] + 1] - indptr[start[i]]
        result[i] = -2
        while first < last and back_first < back_last:
            if ahead <= back_ahead:
                near += 1
                first, last, ahead, met = _step(
                    indptr, neighbor, queue, first, last, here, base + near, there, far_base
                )
            else:
                far += 1
                back_first, back_last, back_ahead, met = _step(
                    indptr, neighbor, back, back_first, back_last, there, far_base + far, here, base
                )
            if met:
                result[i] = near + far
                break
    return result


@compiled
def _step(
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    queue: NDArray[np.int32],
    first: int,
    last: int,
    mark: NDArray[np.int64],
    value: int,
    other: NDArray[np.int64],
    base: int,
) -> tuple[int, int, int, bool]:
    """One whole level of a search: the new ends of the queue, the edges ahead, and whether it met the other search."""
    least = value - value % (len(mark) + 1)
    tail, ahead, met = last, 0, False
    for at in range(first, last):
        x = queue[at]
        for c in neighbor[indptr[x] : indptr[x + 1]]:
            if mark[c] < least:
                mark[c] = value
                queue[tail] = c
                tail += 1
                ahead += indptr[c + 1] - indptr[c]
                met |= other[c] >= base
    return last, tail, ahead, met
