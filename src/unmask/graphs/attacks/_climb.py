"""Compiled loops of `Climb` and of its support: sums over neighbors, balanced masses, nearest profiles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled
from unmask.graphs.attacks._loops import insert

Leaders = tuple[NDArray[np.int32], NDArray[np.float64]]
"""(n, width) nodes and (n, width) values, largest first, padded with -1 and -inf."""

_SWEEPS = 20
SLACK = np.exp(-60.0)  # share of a row that may stay unassigned, which keeps rows positive if all columns are full


@compiled
def sum_neighbors(
    indptr: NDArray[np.uint64],
    neighbor: NDArray[np.uint32],
    target_indptr: NDArray[np.uint64],
    target_neighbor: NDArray[np.uint32],
    first: NDArray[np.uint64],
    candidate: NDArray[np.uint32],
    value: NDArray[np.float64],
    near: NDArray[np.float64],
    total: NDArray[np.float32],
) -> None:
    """Add for each pair (u, c) the values of the pairs of their neighbors, unless u has no other candidate.

    indptr, neighbor : one row for each node, or two for directed graphs, see `directed_rows`; so for the target
    first     : (n_source + 1,) the pairs of source node u are the entries first[u]..first[u + 1]
    near      : (n_target,) scratch, 0 between two rows
    """
    kinds = (len(indptr) - 1) // (len(first) - 1)
    for row in range(len(indptr) - 1):
        u, kind = row // kinds, row % kinds
        start, stop = first[u], first[u + 1]
        if stop - start < 2:
            continue
        for i in range(indptr[row], indptr[row + 1]):
            for j in range(first[neighbor[i]], first[neighbor[i] + 1]):
                near[candidate[j]] += value[j]
        for j in range(start, stop):
            row_total, row_target = 0.0, kinds * candidate[j] + kind
            for i in range(target_indptr[row_target], target_indptr[row_target + 1]):
                row_total += near[target_neighbor[i]]
            total[j] += row_total
        for i in range(indptr[row], indptr[row + 1]):
            for j in range(first[neighbor[i]], first[neighbor[i] + 1]):
                near[candidate[j]] = 0.0


@compiled
def make_room(
    first: NDArray[np.uint64],
    candidate: NDArray[np.uint32],
    mass: NDArray[np.float32],
    room: NDArray[np.float64],
    used: NDArray[np.float64],
) -> None:
    """Write factors of columns, so that they sum to at most 1, and rows to 1 if they are scaled last (Sinkhorn).

    room : (n_target,) initially 1
    used : (n_target,) scratch, initially 0
    """
    for _ in range(_SWEEPS):
        for u in range(len(first) - 1):
            total = SLACK
            for j in range(first[u], first[u + 1]):
                total += mass[j] * room[candidate[j]]
            scale = 1.0 / total
            for j in range(first[u], first[u + 1]):
                used[candidate[j]] += mass[j] * scale
        for c in range(len(room)):
            room[c] = 1.0
            if used[c] > 1.0:  # a conditional expression is vectorized, which takes twice as long to compile
                room[c] /= used[c]
            used[c] = 0.0


@compiled
def keep_nearest(alike: NDArray[np.float32], start: int, rows: Leaders, columns: Leaders) -> None:
    """Update the largest entries of each row and column; row i of `alike` is row start + i of the full matrix."""
    (node, value), (node_back, value_back) = rows, columns
    last, last_back = value.shape[1] - 1, value_back.shape[1] - 1
    for i in range(alike.shape[0]):
        u = start + i
        for c in range(alike.shape[1]):
            v = np.float64(alike[i, c])  # types as in the other loops that insert
            if v > value[u, last]:
                insert(np.int32(c), v, u, node, value)
            if v > value_back[c, last_back]:
                insert(np.int32(u), v, c, node_back, value_back)
