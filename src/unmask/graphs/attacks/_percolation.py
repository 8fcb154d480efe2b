"""Compiled loops of the attacks that count witnesses: mutual best pairs, lists of marked pairs, greedy choice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled, inner
from unmask.graphs.attacks._sides import Marks, Wedges


@compiled
def mutual_best(
    nodes: NDArray[np.int32],
    wedges: Wedges,
    open_target: NDArray[np.bool_],
    least: int,
    scratch: Marks,
    most: NDArray[np.int32],
    owner: NDArray[np.int32],
    best: NDArray[np.int32],
) -> int:
    """Write the target node with which each of the nodes has the most marks, if it has no more with another of them.

    Only open target nodes count. -1, as it was, where there are fewer than `least` marks, or as many for another pair
    of either. One pass over the rows; only the best and whether it is tied is kept, of each row and each column. The
    visits.

    most, owner : (n_target,) of each column, at first least - 1 and -1
    """
    mark, touched, visits = scratch.mark, scratch.touched, 0
    for i in range(len(nodes)):
        n, seen = _count(nodes[i], wedges, open_target, mark, touched)
        visits += seen
        top = least - 1
        for t in range(n):
            c = touched[t]
            m = mark[c]
            mark[c] = 0
            if m > top:
                top, best[i] = m, c
            elif m == top:
                best[i] = -1
            if m > most[c]:
                most[c], owner[c] = m, i
            elif m == most[c]:
                owner[c] = -1
    for i in range(len(nodes)):
        if best[i] >= 0 and owner[best[i]] != i:
            best[i] = -1
    return visits


@compiled
def marked(
    nodes: NDArray[np.int32],
    wedges: Wedges,
    open_target: NDArray[np.bool_],
    least: int,
    scratch: Marks,
    pairs: NDArray[np.int32],
) -> tuple[int, int, int]:
    """Write pairs (node, open target node) with at least `least` marks as columns: node, target node, marks.

    pairs : (3, room for the pairs of one node at least)

    Returns how many nodes were done before the room ran out, how many pairs there are, and the visits.
    """
    mark, touched, found, visits = scratch.mark, scratch.touched, 0, 0
    for i in range(len(nodes)):
        if found + len(mark) > pairs.shape[1]:
            return i, found, visits
        n, seen = _count(nodes[i], wedges, open_target, mark, touched)
        visits += seen
        for t in range(n):
            c = touched[t]
            if mark[c] >= least:
                pairs[0, found], pairs[1, found], pairs[2, found] = nodes[i], c, mark[c]
                found += 1
            mark[c] = 0
    return len(nodes), found, visits


@compiled
def greedy(
    start: NDArray[np.int64],
    node: NDArray[np.int32],
    candidate: NDArray[np.int32],
    image: NDArray[np.int32],
    inverse: NDArray[np.int32],
    claims: NDArray[np.int32],
    claims_target: NDArray[np.int32],
) -> int:
    """Take pairs from the best class of equal pairs to the last, writing them into both images; how many were taken.

    start : (n_classes + 1,) class k is the pairs start[k]:start[k + 1]
    image : -1 for a node that is free, -2 for one that is left open. Of the pairs of a class whose two nodes are free,
            one that shares no node with another is taken; of all others, both nodes are left open.
    claims, claims_target : as long as the images, 0
    """
    taken = 0
    for k in range(len(start) - 1):
        for i in range(start[k], start[k + 1]):
            if image[node[i]] == -1 and inverse[candidate[i]] == -1:
                claims[node[i]] += 1
                claims_target[candidate[i]] += 1
        for i in range(start[k], start[k + 1]):
            v, c = node[i], candidate[i]
            if claims[v] == 0 or claims_target[c] == 0:
                continue
            if claims[v] == 1 and claims_target[c] == 1:
                image[v], inverse[c] = c, v
                taken += 1
            else:
                image[v], inverse[c] = -2, -2
        for i in range(start[k], start[k + 1]):
            claims[node[i]] = 0
            claims_target[candidate[i]] = 0
    return taken


@inner
def _count(
    v: int, wedges: Wedges, open_target: NDArray[np.bool_], mark: NDArray[np.int32], touched: NDArray[np.int32]
) -> tuple[int, int]:
    """Write the marks of v with each open target node and list those; the number of them, and of visits.

    The loop of most of the time has unsigned indices: of others the compiled code asks whether they are negative.
    """
    n, visits = 0, 0
    for i in range(wedges.indptr[v], wedges.indptr[v + 1]):
        x = wedges.neighbor[i]
        for r in range(wedges.vouched[x], wedges.vouched[x + 1]):
            y = wedges.voucher[r]
            start, stop = wedges.target_indptr[y], wedges.target_indptr[y + 1]
            visits += stop - start
            for j in range(np.uint64(start), np.uint64(stop)):
                c = np.uint32(wedges.target_neighbor[j])
                if open_target[c]:
                    if mark[c] == 0:
                        touched[np.uint64(n)] = c
                        n += 1
                    mark[c] += 1
    return n, visits
