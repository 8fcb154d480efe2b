"""Compiled walks over two hops, without building a matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled


@compiled
def two_hops(
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    degree: NDArray[np.int32],
    last_visitor: NDArray[np.int32],
    reached: NDArray[np.float64],
    total: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None:
    """Write, of each node v, how many nodes c != v end a path v - x - c, and sum and sum of squares of |d_c - d_v|.

    Each node is counted once, however many paths lead there: `seen[c] == v`, at first -1, says that it has been.
    """
    for v in range(len(last_visitor)):
        last_visitor[v] = v
        for i in range(indptr[v], indptr[v + 1]):
            x = neighbor[i]
            for j in range(indptr[x], indptr[x + 1]):
                c = neighbor[j]
                if last_visitor[c] != v:
                    last_visitor[c] = v
                    gap = float(degree[c] - degree[v])
                    reached[v] += 1
                    total[v] += abs(gap)
                    squares[v] += gap * gap


@compiled
def neighborhood_edges(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the graphs among the neighbors of every node, side by side as one graph in compressed rows.

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
            n_edges = 0
            for c in neighbor[indptr[x] : indptr[x + 1]]:
                n_edges += place[c] >= indptr[v]
            rows[e + 1] = rows[e] + n_edges
    column = np.empty(rows[m], dtype=np.int64)
    place[:] = -1
    for v in range(n):
        for e in range(indptr[v], indptr[v + 1]):
            place[neighbor[e]] = e
        for e in range(indptr[v], indptr[v + 1]):
            x, position = neighbor[e], rows[e]
            for c in neighbor[indptr[x] : indptr[x + 1]]:
                if place[c] >= indptr[v]:
                    column[position] = place[c]
                    position += 1
    return rows, column
