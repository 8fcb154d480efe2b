"""The engine without a compiler: one node at a time in NumPy, adding in the same order as the compiled loops."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.attacks._kernels import TIE, Rule, Side


def winners(nodes: NDArray[np.int32], here: Side, there: Side, rule: Rule) -> tuple[NDArray[np.int32], int]:
    """The candidate that stands out for each node, -1 where none does; and the candidates visited."""
    winner, visits = np.full(len(nodes), -1, dtype=np.int32), 0
    for i, v in enumerate(nodes.tolist()):
        winner[i], seen = _winner(v, here, there, rule)
        visits += seen
    return winner, visits


def sweep(nodes: NDArray[np.int32], source: Side, target: Side, rule: Rule) -> tuple[int, int]:
    """One pass that writes each match into both images at once; the matches made and the candidates visited."""
    matches, visits = 0, 0
    for v in nodes.tolist():
        if source.image[v] >= 0:
            continue
        c, seen = _winner(v, source, target, rule)
        visits += seen
        if c < 0:
            continue
        back, seen = _winner(c, target, source, rule)
        visits += seen
        if back == v:
            source.image[v], target.image[c] = c, v
            matches += 1
    return matches, visits


def best(
    nodes: NDArray[np.int32], here: Side, there: Side, rule: Rule, width: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The `width` best candidates of each node, best first, -1 where there are fewer; and their scores."""
    candidate = np.full((len(nodes), width), -1, dtype=np.int32)
    score = np.zeros((len(nodes), width))
    for i, v in enumerate(nodes.tolist()):
        listed, value, _ = _scores(v, here, there, rule)
        order = np.argsort(-value, kind="stable")[:width]
        candidate[i, : len(order)], score[i, : len(order)] = listed[order], value[order]
    return candidate, score


def _winner(v: int, here: Side, there: Side, rule: Rule) -> tuple[int, int]:
    candidate, score, visits = _scores(v, here, there, rule)
    chosen = _standing_out(score, rule)
    return (-1 if chosen < 0 else int(candidate[chosen])), visits


def _scores(v: int, here: Side, there: Side, rule: Rule) -> tuple[NDArray[np.int32], NDArray[np.float64], int]:
    """Candidates in the order in which they are first met, their scores, and the number of visits."""
    near = here.neighbour[here.indptr[v] : here.indptr[v + 1]]
    near = near[here.image[near] >= 0]
    start, stop = there.indptr[here.image[near]], there.indptr[here.image[near] + 1]
    length = stop - start
    visits = int(length.sum())
    reached = there.neighbour[np.repeat(start - np.cumsum(length) + length, length) + np.arange(visits)]
    weight = np.repeat(here.weight[near], length)
    if not rule.revise:
        free = there.image[reached] < 0
        reached, weight = reached[free], weight[free]
    candidate, first, entry = np.unique(reached, return_index=True, return_inverse=True)
    total = np.bincount(entry, weights=weight, minlength=len(candidate))
    met = np.argsort(first)
    candidate, total = candidate[met], total[met]
    size = there.size[candidate]
    if rule.ratio:
        return candidate, total * np.minimum(here.size[v] / size, size / here.size[v]), visits
    return candidate, total / size, visits


def _standing_out(score: NDArray[np.float64], rule: Rule) -> int:
    n = len(score)
    if n < 2:
        return n - 1 if not rule.revise else -1
    chosen = int(np.argmax(score))
    second, top = np.partition(score, n - 2)[n - 2 :]
    if top - second <= TIE * top:
        return -1
    mean = np.cumsum(score)[-1] / n  # cumsum adds one by one, as the compiled loop does
    deviation = score - mean
    variance = np.cumsum(deviation * deviation)[-1] / (n if rule.revise else n - 1)
    return chosen if top - second >= rule.theta * np.sqrt(variance) else -1
