"""Compiled loops of the attacks that count witnesses: mutual best pairs, lists of marked pairs, greedy selection."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled, inner
from unmask.graphs.attacks._structs import BLOCKED, FREE, Marks, Wedges


@compiled
def find_mutual_best(
    nodes: NDArray[np.int32],
    wedges: Wedges,
    is_free: NDArray[np.bool_],
    min_marks: int,
    scratch: Marks,
    top_marks: NDArray[np.int32],
    owner: NDArray[np.int32],
    winner: NDArray[np.int32],
) -> int:
    """Write for each node the free target node that shares most marks with it, if the pair is the best of both.

    The entry stays -1 if the pair has fewer than `min_marks` marks, or if another pair of either node has as many. One
    pass over the rows keeps only the best pair of each row and column, and whether it is tied. Return the visits.

    top_marks, owner : (n_target,) for each column, initially min_marks - 1 and -1
    """
    mark, touched, total_visits = scratch.mark, scratch.touched, 0
    for i in range(len(nodes)):
        n, visits = _count_marks(nodes[i], wedges, is_free, mark, touched)
        total_visits += visits
        top = min_marks - 1
        for t in range(n):
            c = touched[t]
            m = mark[c]
            mark[c] = 0
            if m > top:
                top, winner[i] = m, c
            elif m == top:
                winner[i] = -1
            if m > top_marks[c]:
                top_marks[c], owner[c] = m, i
            elif m == top_marks[c]:
                owner[c] = -1
    for i in range(len(nodes)):
        if winner[i] >= 0 and owner[winner[i]] != i:
            winner[i] = -1
    return total_visits


@compiled
def list_marked_pairs(
    nodes: NDArray[np.int32],
    wedges: Wedges,
    is_free: NDArray[np.bool_],
    min_marks: int,
    scratch: Marks,
    pairs: NDArray[np.int32],
) -> tuple[int, int, int]:
    """Write pairs (node, free target node) with at least `min_marks` marks as columns: node, target node, marks.

    Stop when the array is full. Return the number of finished nodes, the number of pairs, and the visits.

    pairs : (3, capacity); the capacity must suffice for the pairs of one node
    """
    mark, touched, n_pairs, total_visits = scratch.mark, scratch.touched, 0, 0
    for i in range(len(nodes)):
        if n_pairs + len(mark) > pairs.shape[1]:
            return i, n_pairs, total_visits
        n, visits = _count_marks(nodes[i], wedges, is_free, mark, touched)
        total_visits += visits
        for t in range(n):
            c = touched[t]
            if mark[c] >= min_marks:
                pairs[0, n_pairs], pairs[1, n_pairs], pairs[2, n_pairs] = nodes[i], c, mark[c]
                n_pairs += 1
            mark[c] = 0
    return len(nodes), n_pairs, total_visits


@compiled
def choose_greedily(
    start: NDArray[np.int64],
    node: NDArray[np.int32],
    candidate: NDArray[np.int32],
    image: NDArray[np.int32],
    inverse: NDArray[np.int32],
    claims: NDArray[np.int32],
    target_claims: NDArray[np.int32],
) -> int:
    """Select pairs class by class, from best to worst; write them into both images and return their number.

    A pair is selected if both nodes are free and no other pair of its class shares a node with it. Both nodes of the
    other pairs become blocked.

    start : (n_classes + 1,) class k is the pairs start[k]:start[k + 1], all equally good
    image : `FREE` or `BLOCKED` for an unmapped node
    claims, target_claims : scratch, as long as the images, initially 0
    """
    n_chosen = 0
    for k in range(len(start) - 1):
        for i in range(start[k], start[k + 1]):
            if image[node[i]] == FREE and inverse[candidate[i]] == FREE:
                claims[node[i]] += 1
                target_claims[candidate[i]] += 1
        for i in range(start[k], start[k + 1]):
            v, c = node[i], candidate[i]
            if claims[v] == 0 or target_claims[c] == 0:
                continue
            if claims[v] == 1 and target_claims[c] == 1:
                image[v], inverse[c] = c, v
                n_chosen += 1
            else:
                image[v], inverse[c] = BLOCKED, BLOCKED
        for i in range(start[k], start[k + 1]):
            claims[node[i]] = 0
            target_claims[candidate[i]] = 0
    return n_chosen


@inner
def _count_marks(
    v: int, wedges: Wedges, is_free: NDArray[np.bool_], mark: NDArray[np.int32], touched: NDArray[np.int32]
) -> tuple[int, int]:
    """List the free target nodes with marks of v, and count the marks; return the numbers of target nodes and visits.

    The innermost loop has unsigned indices, because compiled code tests signed ones for negative values.
    """
    n, visits = 0, 0
    for i in range(wedges.indptr[v], wedges.indptr[v + 1]):
        x = wedges.neighbor[i]
        for r in range(wedges.related_indptr[x], wedges.related_indptr[x + 1]):
            y = wedges.related[r]
            start, stop = wedges.target_indptr[y], wedges.target_indptr[y + 1]
            visits += stop - start
            for j in range(np.uint64(start), np.uint64(stop)):
                c = np.uint32(wedges.target_neighbor[j])
                if is_free[c]:
                    if mark[c] == 0:
                        touched[np.uint64(n)] = c
                        n += 1
                    mark[c] += 1
    return n, visits
