"""Compiled breadth-first search between pairs of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled, inner


@compiled
def distances(
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    start: NDArray[np.int32],
    end: NDArray[np.int32],
    marks: tuple[NDArray[np.int64], NDArray[np.int64]],
    queues: tuple[NDArray[np.int32], NDArray[np.int32]],
    result: NDArray[np.int64],
) -> None:
    """Write the length of the shortest path from start[i] to end[i], -2 without a path.

    Two breadth-first searches, of which the one with fewer edges ahead of it takes the next step, until they meet.
    Pairs that follow each other with one end share the search from there. The mark of a node is the search's base plus
    its depth; later searches have higher bases, so nothing is ever wiped.

    marks, queues : (n,) of either search; marks are -1 at first
    """
    start_marks, end_marks, queue, back, n = marks[0], marks[1], queues[0], queues[1], len(marks[0])
    zero: Any = np.int64(0)  # a bare 0 is a type of its own, for which `_step` would be compiled, too
    far, back_first, back_last, back_ahead, far_base = zero, zero, zero, zero, zero
    for i in range(len(start)):
        base = i * (n + 1)
        if i == 0 or end[i] != end[i - 1]:
            far_base, far, back_first, back_last = base, zero, zero, zero + 1
            back[0], end_marks[end[i]], back_ahead = end[i], base, indptr[end[i] + 1] - indptr[end[i]]
        if end_marks[start[i]] >= far_base:
            result[i] = end_marks[start[i]] - far_base
            continue
        queue[0], start_marks[start[i]], first, last, near = start[i], base, zero, zero + 1, zero
        ahead = indptr[start[i] + 1] - indptr[start[i]]
        result[i] = -2
        while first < last and back_first < back_last:
            if ahead <= back_ahead:
                near += 1
                first, last, ahead, met = _step(
                    indptr, neighbor, queue, first, last, start_marks, base + near, end_marks, far_base
                )
            else:
                far += 1
                back_first, back_last, back_ahead, met = _step(
                    indptr, neighbor, back, back_first, back_last, end_marks, far_base + far, start_marks, base
                )
            if met:
                result[i] = near + far
                break


@inner
def _step(
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    queue: NDArray[np.int32],
    first: int,
    last: int,
    mark: NDArray[np.int64],
    value: int,
    other_marks: NDArray[np.int64],
    base: int,
) -> tuple[int, int, int, bool]:
    """One whole level of a search: the new ends of the queue, the edges ahead, and whether it met the other search."""
    min_value = value - value % (len(mark) + 1)
    tail, ahead, met = last, 0, False
    for position in range(first, last):
        x = queue[position]
        for i in range(indptr[x], indptr[x + 1]):
            c = neighbor[i]
            if mark[c] < min_value:
                mark[c] = value
                queue[tail] = c
                tail += 1
                ahead += indptr[c + 1] - indptr[c]
                met |= other_marks[c] >= base
    return last, tail, ahead, met
