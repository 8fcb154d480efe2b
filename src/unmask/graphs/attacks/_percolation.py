"""Compiled loops of the attacks that count witnesses: mutual best pairs, lists of marked pairs, greedy choice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled, inner
from unmask.graphs.attacks._structs import Marks, Wedges

FREE, BLOCKED = -1, -2
"""States of an unmapped node: it can be matched, or it is excluded from this choice."""


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
    """Write the target node with which each node has the most marks, if neither has as many with another one.

    Only free target nodes count. The entry stays -1 if there are fewer than `min_marks` marks, or as many for another
    pair of either. One pass over the rows; only the best and whether it is tied is stored, of each row and each column.
    Return the visits.

    top_marks, owner : (n_target,) of each column, at first min_marks - 1 and -1
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

    pairs : (3, room for the pairs of one node at least)

    Return how many nodes were finished before the room ran out, how many pairs there are, and the visits.
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
    """Choose pairs from the best class of equal pairs to the last, write them into both images, return their number.

    start : (n_classes + 1,) class k is the pairs start[k]:start[k + 1]
    image : `FREE` or `BLOCKED` for an unmapped node. Of the pairs of a class whose two nodes are free, one that shares
            no node with another is chosen; both nodes of all others are blocked.
    claims, target_claims : as long as the images, 0
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
    """Write the marks of v with each free target node and list these; return the number of them, and of visits.

    The innermost loop has unsigned indices: compiled code checks signed ones for negative values.
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
                if is_free[c]:
                    if mark[c] == 0:
                        touched[np.uint64(n)] = c
                        n += 1
                    mark[c] += 1
    return n, visits
