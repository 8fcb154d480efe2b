"""Compiled loops of the attacks that count witnesses: lists of marked pairs, and greedy selection."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled
from unmask.graphs.attacks._structs import FREE, Wedges

NOT_FREE = 2**62
"""Mark of a target node that cannot be listed: more than any number of marks."""


@compiled
def list_marked_pairs(
    nodes: NDArray[np.int32], wedges: Wedges, min_marks: int, mark: NDArray[np.int64], pairs: NDArray[np.int32]
) -> tuple[int, int, int]:
    """Write pairs (node, free target node) with at least `min_marks` marks as columns: node, target node, marks.

    Stop when the array is full. Return the number of finished nodes, the number of pairs, and the visits. The innermost
    loop has no branch, which would often be mispredicted, and unsigned indices, because compiled code tests signed ones
    for negative values. Marks of a node start from a number that no earlier mark exceeds, so none is reset.

    mark  : (n_target,) initially 0; `NOT_FREE` for target nodes that are not free
    pairs : (3, capacity); the capacity must exceed the number of pairs of one node
    """
    indptr, neighbor, target_indptr, target_neighbor, related_indptr, related = wedges
    n_pairs, visits, zero = 0, 0, 0
    for i in range(len(nodes)):
        if n_pairs + len(mark) >= pairs.shape[1]:
            return i, n_pairs, visits
        v, n_before, n_related, listed = nodes[i], n_pairs, 0, zero + min_marks
        for k in range(indptr[v], indptr[v + 1]):
            x = neighbor[k]
            n_related += related_indptr[x + 1] - related_indptr[x]
            for r in range(related_indptr[x], related_indptr[x + 1]):
                start, stop = target_indptr[related[r]], target_indptr[related[r] + 1]
                visits += stop - start
                for j in range(np.uint64(start), np.uint64(stop)):
                    c = np.uint32(target_neighbor[j])
                    marks = mark[c]
                    marks = (marks if marks > zero else zero) + 1
                    mark[c] = marks
                    pairs[1, np.uint64(n_pairs)] = c
                    n_pairs += marks == listed
        for t in range(n_before, n_pairs):
            pairs[0, t], pairs[2, t] = v, mark[pairs[1, t]] - zero
        zero += n_related
    return len(nodes), n_pairs, visits


@compiled
def choose_greedily(
    start: NDArray[np.int64],
    node: NDArray[np.int32],
    candidate: NDArray[np.int32],
    image: NDArray[np.int32],
    inverse: NDArray[np.int32],
) -> int:
    """Select pairs class by class, from best to worst; write them into both images and return their number.

    A pair is selected if both nodes are free and no other pair of its class shares a node with it. Both nodes of the
    other pairs are excluded from later classes. A node of one pair of class k has state -2 - 2 k, and a node of several
    -3 - 2 k; states of earlier classes are larger.

    start : (n_classes + 1,) class k is the pairs start[k]:start[k + 1], all equally good
    image : `FREE` for an unmapped node, or a smaller number if it is excluded
    """
    n_chosen = 0
    for k in range(len(start) - 1):
        claimed = -2 - 2 * k
        for i in range(start[k], start[k + 1]):
            v, c = node[i], candidate[i]
            state, state_back = image[v], inverse[c]
            if ((state == FREE) | (state <= claimed)) & ((state_back == FREE) | (state_back <= claimed)):
                image[v] = claimed - (state != FREE)
                inverse[c] = claimed - (state_back != FREE)
        for i in range(start[k], start[k + 1]):
            v, c = node[i], candidate[i]
            if (image[v] == claimed) & (inverse[c] == claimed):
                image[v], inverse[c] = c, v
                n_chosen += 1
    return n_chosen
