"""Compiled walks over two hops: whom each node reaches, told without building a matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled


@compiled
def two_hops(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Per node v: the number of nodes c != v at the end of a path v - x - c, and sum and sum of squares of |d_c - d_v|.

    Each node is counted once, however many paths lead there: `seen[c] == v` says that it has been.
    """
    n = len(indptr) - 1
    reached, total, squares = np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n)
    degree = (indptr[1:] - indptr[:-1]).astype(np.int32)
    seen = np.full(n, -1, dtype=np.int32)
    for v in range(n):
        seen[v] = v
        count, first, second = 0, 0, 0.0
        for x in neighbor[indptr[v] : indptr[v + 1]]:
            for c in neighbor[indptr[x] : indptr[x + 1]]:
                if seen[c] != v:
                    seen[c] = v
                    gap = abs(degree[c] - degree[v])
                    count += 1
                    first += gap
                    second += float(gap) * gap
        reached[v], total[v], squares[v] = count, first, second
    return reached, total, squares


@compiled
def neighborhood_edges(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The graphs among the neighbors of every node, side by side as one graph in compressed rows.

    Its node e is neighbor[e] as seen by the node v with indptr[v] <= e < indptr[v + 1]; it is tied to those of v's
    other neighbors that it is tied to in the graph.
    """
    n, m = len(indptr) - 1, len(neighbor)
    rows = np.zeros(m + 1, dtype=np.int64)
    place = np.full(n, -1, dtype=np.int64)  # of a neighbor of the current node: its place among all; older ones are low
    for v in range(n):
        for e in range(indptr[v], indptr[v + 1]):
            place[neighbor[e]] = e
        for e in range(indptr[v], indptr[v + 1]):
            x = neighbor[e]
            found = 0
            for c in neighbor[indptr[x] : indptr[x + 1]]:
                found += place[c] >= indptr[v]
            rows[e + 1] = rows[e] + found
    column = np.empty(rows[m], dtype=np.int64)
    place[:] = -1
    for v in range(n):
        for e in range(indptr[v], indptr[v + 1]):
            place[neighbor[e]] = e
        for e in range(indptr[v], indptr[v + 1]):
            x, at = neighbor[e], rows[e]
            for c in neighbor[indptr[x] : indptr[x + 1]]:
                if place[c] >= indptr[v]:
                    column[at] = place[c]
                    at += 1
    return rows, column
