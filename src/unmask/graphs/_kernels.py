"""Compiled walks over one graph: shortest paths, neighborhoods, triangles, the search for one clique, communities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled, inner


@compiled
def distances(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32], nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of nodes that each of these reaches, itself included, and the sum of its distances."""
    n = len(indptr) - 1
    last_source, queue, depth = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    reached, total = np.empty(len(nodes), dtype=np.int64), np.zeros(len(nodes), dtype=np.int64)
    for number in range(len(nodes)):
        queue[0], last_source[nodes[number]], depth[nodes[number]], tail = nodes[number], number, 0, 1
        head = 0
        while head < tail:
            v = queue[head]
            head += 1
            total[number] += depth[v]
            for i in range(indptr[v], indptr[v + 1]):
                w = neighbor[i]
                if last_source[w] != number:
                    last_source[w], depth[w], queue[tail] = number, depth[v] + 1, w
                    tail += 1
        reached[number] = tail
    return reached, total


@compiled
def pair_distances(
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
    """Search one whole level; return the new ends of the queue, the edges ahead, and whether both searches met."""
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


@compiled
def dependencies(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32], sources: NDArray[np.int64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return, per node v, the sum over s in sources and all t of weight(s) weight(t) (share of paths s-t by v).

    The algorithm is that of Brandes.
    """
    n = len(indptr) - 1
    total, paths, share = np.zeros(n), np.zeros(n), np.zeros(n)
    depth, queue = np.full(n, -1, dtype=np.int32), np.empty(n, dtype=np.int32)
    for s in sources:
        queue[0], depth[s], paths[s], head, tail = s, 0, 1.0, 0, 1
        while head < tail:
            v, next_depth = queue[head], depth[queue[head]] + 1
            head += 1
            for i in range(indptr[v], indptr[v + 1]):
                w = neighbor[i]
                if depth[w] < 0:
                    depth[w], queue[tail] = next_depth, w
                    tail += 1
                paths[w] += paths[v] if depth[w] == next_depth else 0.0  # without a branch, which would be mispredicted
        for position in range(tail - 1, 0, -1):
            v, next_depth, behind = queue[position], depth[queue[position]] + 1, 0.0
            for i in range(indptr[v], indptr[v + 1]):
                behind += share[neighbor[i]] if depth[neighbor[i]] == next_depth else 0.0
            behind *= paths[v]
            share[v] = (weight[v] + behind) / paths[v]
            total[v] += weight[s] * behind
        for position in range(tail):
            depth[queue[position]], paths[queue[position]], share[queue[position]] = -1, 0.0, 0.0
    return total


@compiled
def triangles(indptr: NDArray[np.int64], neighbor: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the triangles that each node is in."""
    n = len(indptr) - 1
    count, mark = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    for v in range(n):
        for i in range(indptr[v], indptr[v + 1]):
            mark[neighbor[i]] = v
        for i in range(indptr[v], indptr[v + 1]):
            for j in range(indptr[neighbor[i]], indptr[neighbor[i] + 1]):
                count[v] += mark[neighbor[j]] == v
    return count // 2


@compiled
def common_neighbors(indptr: NDArray[np.int64], neighbor: NDArray[np.int32], u: int, v: int) -> int:
    """Count the common neighbors of two nodes."""
    i, j, n = indptr[u], indptr[v], 0
    while i < indptr[u + 1] and j < indptr[v + 1]:
        a, b = neighbor[i], neighbor[j]
        n += a == b
        i += a <= b
        j += b <= a
    return n


@compiled
def cliques_like(
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    first: NDArray[np.int64],
    degree: NDArray[np.float64],
    shared: NDArray[np.float64],
) -> tuple[int, NDArray[np.int64]]:
    """Find ordered cliques within bounds, up to two; how many, and the first of them.

    first  : the nodes to try in the first place
    degree : (size, 2) lowest and highest degree at each place
    shared : (size, size, 2) lowest and highest number of common neighbors for each two places
    """
    size, n, level = len(degree), 0, 0
    chosen, clique, position = (
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
    )
    while level >= 0 and n < 2:
        if level == size:
            n += 1
            if n == 1:
                clique[:] = chosen
            level -= 1
            continue
        n_options = len(first) if level == 0 else indptr[chosen[0] + 1] - indptr[chosen[0]]
        if position[level] == n_options:
            position[level] = 0
            level -= 1
            continue
        c = int(first[position[0]]) if level == 0 else int(neighbor[indptr[chosen[0]] + position[level]])
        position[level] += 1
        if _fits(indptr, neighbor, chosen[:level], c, degree[level], shared[level]):
            chosen[level] = c
            level += 1
    return n, clique


@inner
def _fits(
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    chosen: NDArray[np.int64],
    c: int,
    degree: NDArray[np.float64],
    shared: NDArray[np.float64],
) -> bool:
    """Return True if a node can be the next member of the clique."""
    if not degree[0] <= indptr[c + 1] - indptr[c] <= degree[1]:
        return False
    friends = neighbor[indptr[c] : indptr[c + 1]]
    for i in range(len(chosen)):
        place = np.searchsorted(friends, chosen[i])
        if place == len(friends) or friends[place] != chosen[i]:
            return False
    for i in range(len(chosen)):
        if not shared[i, 0] <= common_neighbors(indptr, neighbor, c, chosen[i]) <= shared[i, 1]:
            return False
    return True


@compiled
def joined(
    indptr: NDArray[np.int32], neighbor: NDArray[np.int32], weight: NDArray[np.float64], strength: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the community of each node, all alone at first, once none gains by another: see `graphs.communities`."""
    n, total = len(strength), max(strength.sum(), 1.0)
    community, load, near, has_moved = np.arange(n), strength.copy(), np.zeros(n), True
    while has_moved:
        has_moved = False
        for v in range(n):
            current, rows = community[v], range(indptr[v], indptr[v + 1])
            load[current] -= strength[v]
            for i in rows:
                near[community[neighbor[i]]] += weight[i] * (neighbor[i] != v)
            best_community, best_gain = current, near[current] - load[current] * strength[v] / total
            for i in rows:
                c = community[neighbor[i]]
                gain = near[c] - load[c] * strength[v] / total
                if gain > best_gain + 1e-9:
                    best_community, best_gain = c, gain
            for i in rows:
                near[community[neighbor[i]]] = 0.0
            near[current], community[v] = 0.0, best_community
            load[best_community] += strength[v]
            has_moved |= best_community != current
    return community
