"""Compiled graph algorithms: shortest paths, neighborhoods, triangles, clique search, communities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import allocating, compiled, inner


@allocating
def distances(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32], nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of nodes reachable from each of these nodes, including itself, and the sum of distances."""
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
    ends: NDArray[np.int32],
    mark: NDArray[np.int64],
    queue: NDArray[np.int32],
    result: NDArray[np.int64],
) -> None:
    """Write the length of the shortest path from ends[0, i] to ends[1, i], -2 if there is no path.

    The search is a bidirectional breadth-first search. The end with fewer edges at its frontier takes the next step.
    The mark of a node is its search. Later searches have larger marks, so marks are never reset.

    mark, queue : (2, n) arrays, a row for each end; marks are initially -1
    """
    for i in range(len(result)):
        start, end = ends[0, i], ends[1, i]
        queue[0, 0], queue[1, 0] = start, end
        mark[0, start], mark[1, end] = i, i
        near, first, far_first = 0, 0, 0
        last, far_last, n_hops = 1, 1, 0
        n_edges, far_edges = indptr[start + 1] - indptr[start], indptr[end + 1] - indptr[end]
        is_met = start == end
        while not is_met and first < last and far_first < far_last:
            if far_edges < n_edges:
                near, n_edges, far_edges = 1 - near, far_edges, n_edges
                first, far_first = far_first, first
                last, far_last = far_last, last
            n_hops, n_edges, stop = n_hops + 1, 0, last
            for position in range(first, stop):
                x = queue[near, position]
                for j in range(indptr[x], indptr[x + 1]):
                    c = neighbor[j]
                    if mark[near, c] < i:
                        mark[near, c], queue[near, last] = i, c
                        last += 1
                        n_edges += indptr[c + 1] - indptr[c]
                        is_met |= mark[1 - near, c] == i
            first = stop
        result[i] = n_hops if is_met else -2


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
    """Write for each node v the number of nodes c != v at the end of a path v - x - c, and statistics of |d_c - d_v|.

    `total` is the sum and `squares` the sum of squares. A node counts once, even if several paths lead to it.

    last_visitor : (n,) initially -1; the last node v from which each node was reached
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


@allocating
def neighborhood_edges(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the subgraph among the neighbors of each node, all subgraphs as one graph in compressed rows.

    Node e of the result, with indptr[v] <= e < indptr[v + 1], is the neighbor neighbor[e] of v. It is adjacent to the
    other neighbors of v that are its neighbors in the graph.
    """
    n, m = len(indptr) - 1, len(neighbor)
    rows = np.zeros(m + 1, dtype=np.int64)
    place = np.full(n, -1, dtype=np.int64)  # node of the result for each neighbor of v; smaller entries are outdated
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


@allocating
def dependencies(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32], sources: NDArray[np.int64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return for each node v the sum over s in sources and all t of weight(s) weight(t) (share of s-t paths through v).

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
                paths[w] += paths[v] if depth[w] == next_depth else 0.0  # branch-free: a branch would be mispredicted
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


@allocating
def triangles(indptr: NDArray[np.int64], neighbor: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number of triangles that contain each node."""
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


@allocating
def cliques_like(
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    first: NDArray[np.int64],
    degree: NDArray[np.float64],
    shared: NDArray[np.float64],
) -> tuple[int, NDArray[np.int64]]:
    """Find at most two ordered cliques within bounds; return their number and the first of them.

    first  : nodes to try at the first place
    degree : (size, 2) smallest and largest degree at each place
    shared : (size, size, 2) smallest and largest number of common neighbors of each pair of places
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
    """Return True if node c can be the next member of the clique."""
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
def count_cliques(
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    candidate: NDArray[np.int32],
    length: NDArray[np.int64],
    position: NDArray[np.int64],
) -> int:
    """Count the cliques of len(candidate) + 1 nodes. It is fast if each node has few later neighbors.

    candidate : (size - 1, maximum degree) at level i, the nodes that are later than the i + 1 chosen nodes and next to
                all of them
    length, position : (size - 1,) number of candidates, and the next one to choose
    """
    total, last = 0, len(candidate) - 1
    for v in range(len(indptr) - 1):
        level = 0
        length[0] = position[0] = 0
        for i in range(indptr[v], indptr[v + 1]):
            if neighbor[i] > v:
                candidate[0, length[0]] = neighbor[i]
                length[0] += 1
        while level >= 0:
            if level == last or position[level] == length[level]:
                total += length[level] * (level == last)
                level -= 1
                continue
            i = position[level] + 1
            u = candidate[level, position[level]]
            position[level], length[level + 1], position[level + 1] = i, 0, 0
            j = indptr[u]
            while i < length[level] and j < indptr[u + 1]:
                a, b = candidate[level, i], neighbor[j]
                if a == b:
                    candidate[level + 1, length[level + 1]] = a
                    length[level + 1] += 1
                i += a <= b
                j += b <= a
            level += 1
    return total


@allocating
def joined(
    indptr: NDArray[np.int32], neighbor: NDArray[np.int32], weight: NDArray[np.float64], strength: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the community of each node after local moves, starting from single nodes: see `graphs.communities`."""
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
