"""Compiled loops of the propagation attacks, see `Side` and `Rule`. Only this module writes cached candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled, inlined, inner
from unmask.graphs.attacks._structs import DIRECTION_UNIT, NONE, TIE, UNKNOWN, Rule, Scratch, Side


@compiled
def find_winners(
    nodes: NDArray[np.int32], source: Side, target: Side, rule: Rule, scratch: Scratch, winner: NDArray[np.int32]
) -> int:
    """Write the accepted candidate of each node, -1 without one; return the number of visits."""
    total_visits = 0
    for i in range(len(nodes)):
        winner[i], visits = _find_winner(nodes[i], source, target, rule, scratch)
        total_visits += visits
    return total_visits


@compiled
def sweep(
    nodes: NDArray[np.int32], source: Side, target: Side, rule: Rule, forward: Scratch, backward: Scratch
) -> tuple[int, int]:
    """Match unmapped nodes in one pass and write each match immediately; return the numbers of matches and visits."""
    matches, total_visits = 0, 0
    for v in nodes:
        c, visits = _find_winner(v, source, target, rule, forward)
        total_visits += visits
        if c < 0:
            continue
        reverse, visits = _find_winner(c, target, source, rule, backward)
        total_visits += visits
        if reverse == v:
            source.image[v], target.image[c] = c, v
            forward.total[c], backward.total[v] = -np.inf, -np.inf
            _invalidate(v, source)
            _invalidate(c, target)
            matches += 1
    return matches, total_visits


@compiled
def rank_candidates(
    nodes: NDArray[np.int32],
    source: Side,
    target: Side,
    rule: Rule,
    scratch: Scratch,
    candidate: NDArray[np.int32],
    score: NDArray[np.float64],
) -> None:
    """Write as many best candidates of each node as there are columns, with scores."""
    last = candidate.shape[1] - 1
    for i in range(len(nodes)):
        n, _ = _score_candidates(nodes[i], source, target, rule, scratch)
        for t in range(n):
            if scratch.score[t] > score[i, last]:
                insert(scratch.candidate[t], scratch.score[t], i, candidate, score)


@compiled
def count_common(
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    target_indptr: NDArray[np.int64],
    target_neighbor: NDArray[np.int32],
    image: NDArray[np.int32],
    next_to: NDArray[np.int32],
    count: NDArray[np.int64],
) -> None:
    """Add for each mapped node the number of neighbors whose image is adjacent to the image of the node.

    next_to : (n_target,) scratch: the last mapped node whose image is adjacent to each target node, -1 for none
    """
    for x in range(len(image)):
        y = image[x]
        if y < 0:
            continue
        for j in range(target_indptr[y], target_indptr[y + 1]):
            next_to[target_neighbor[j]] = x
        for i in range(indptr[x], indptr[x + 1]):
            z = image[neighbor[i]]
            if z >= 0 and next_to[z] == x:
                count[x] += 1


@compiled
def find_second(
    group: NDArray[np.int32], value: NDArray[np.float64], top: NDArray[np.float64], second: NDArray[np.float64]
) -> None:
    """Write the two largest values of each group. top, second : (n_groups,) initially -inf"""
    for i in range(len(group)):
        g, v = group[i], value[i]
        if v > top[g]:
            top[g], second[g] = v, top[g]
        elif v > second[g]:
            second[g] = v


@inner
def _invalidate(v: int, side: Side) -> None:
    kinds = 1 + (len(side.size) > len(side.image))
    for i in range(side.indptr[kinds * v], side.indptr[kinds * v + kinds]):
        side.leader[side.neighbor[i]] = UNKNOWN


@inner
def insert(c: int | np.int32, v: float, row: int, candidate: NDArray[np.int32], value: NDArray[np.float64]) -> None:
    """Insert a candidate among the best of a row, best first; its value must exceed the last value of the row."""
    place = value.shape[1] - 1
    while place > 0 and v > value[row, place - 1]:
        candidate[row, place], value[row, place] = candidate[row, place - 1], value[row, place - 1]
        place -= 1
    candidate[row, place], value[row, place] = c, v


@inlined
def _find_winner(v: int, source: Side, target: Side, rule: Rule, scratch: Scratch) -> tuple[int, int]:
    """Return the accepted candidate of v (-1 for none) and the number of visits, 0 if the cached candidate is valid."""
    cached = recall_winner(source.leader[v], source.rival[v], scratch.total)
    if cached != UNKNOWN:
        return cached, 0
    n, visits = _score_candidates(v, source, target, rule, scratch)
    chosen, source.leader[v], source.rival[v] = accept_candidate(n, rule, scratch.candidate, scratch.score)
    return chosen, visits


@inner
def recall_winner(leader: int, rival: int, total: NDArray[Any]) -> int:
    """Return the accepted candidate that is cached for a node, -1 for none, and -2 if the node must be scored."""
    if leader == NONE:
        return NONE
    if leader >= 0 and total[leader] == 0 and (rival < 0 or total[rival] == 0):
        return leader if rival < 0 else NONE
    return UNKNOWN


@inner
def _score_candidates(v: int, source: Side, target: Side, rule: Rule, scratch: Scratch) -> tuple[int, int]:
    """List the candidates of v and their scores; return the numbers of candidates and of visits.

    In directed graphs, links from v correspond to links from its image, and links to v to links to its image. Indices
    in the innermost loop are unsigned, because compiled code tests signed indices for negative values.
    """
    source_indptr, source_neighbor, image, weights, source_size, _, _ = source
    indptr, neighbor, target_image, _, size, _, _ = target
    total, candidate, score = scratch
    is_directed = len(size) > len(target_image)
    kinds = 1 + is_directed
    out_end = source_indptr[kinds * v + is_directed]
    n, visits = 0, 0
    for i in range(source_indptr[kinds * v], source_indptr[kinds * v + kinds]):
        x, is_out = source_neighbor[i], i < out_end
        y = image[x]
        if y < 0:
            continue
        weight = weights[kinds * x + is_out]
        start, stop = indptr[kinds * y + is_out], indptr[kinds * y + is_out + 1]
        visits += stop - start
        for j in range(np.uint64(start), np.uint64(stop)):
            c = np.uint32(neighbor[j])
            partial = total[c]
            candidate[np.uint64(n)] = c
            n += partial == 0
            total[c] = partial + weight
    for t in range(n):
        c = np.uint32(candidate[t])
        if is_directed:
            links_in = np.floor(total[c] / DIRECTION_UNIT)
            score[t] = (total[c] - links_in * DIRECTION_UNIT) / size[2 * c] + links_in / size[2 * c + 1]
        elif rule.ratio:
            ratio = source_size[v] / size[c]
            score[t] = total[c] * (ratio if ratio < 1.0 else size[c] / source_size[v])
        else:
            score[t] = total[c] / size[c]
        total[c] = 0
    return n, visits


@inner
def accept_candidate(
    n: int, rule: Rule, candidate: NDArray[np.int32], score: NDArray[np.float64]
) -> tuple[int, int, int]:
    """Return the accepted candidate or -1, and the values to cache: leader and rival of `Side`."""
    if n == 0 or (n == 1 and rule.revise):
        return NONE, NONE, NONE
    first, second, top, next_ = NONE, NONE, -1.0, -1.0
    for t in range(n):
        s = score[t]
        if s > top:
            first, second, top, next_ = t, first, s, top
        elif s > next_:
            second, next_ = t, s
    chosen, rival = candidate[first], candidate[second]
    if n == 1:
        return chosen, chosen, NONE
    if top - next_ <= TIE * top:
        return NONE, chosen, rival
    # for any n numbers from 0 to top, sigma is at most top / sqrt(2)
    if top - next_ >= rule.theta * 0.75 * top:
        return chosen, chosen, NONE
    stands_out = top - next_ >= rule.theta * _sigma(n, score, rule.revise)
    if rule.revise:
        return (chosen, chosen, NONE) if stands_out else (NONE, NONE, NONE)
    return (chosen if stands_out else NONE), UNKNOWN, NONE


@inner
def _sigma(n: int, score: NDArray[np.float64], population: bool) -> float:
    mean = 0.0
    for t in range(n):
        mean += score[t]
    mean /= n
    squares = 0.0
    for t in range(n):
        squares += (score[t] - mean) * (score[t] - mean)
    return float(np.sqrt(squares / (n if population else n - 1)))
