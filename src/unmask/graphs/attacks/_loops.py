"""The loops of the propagation attacks, compiled: see `Side` and `Rule`. Nothing but these loops writes a verdict."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled
from unmask.graphs.attacks._sides import NONE, TIE, UNSETTLED, Links, Rule, Side


class Scratch(NamedTuple):
    """Where one thread adds up the scores of one node after the other.

    total     : (n_there,) weights added up, 0 between two nodes; minus infinity marks a node that is no candidate, so
                that one look-up tells whether it is one and what it has
    candidate : the candidates in the order in which they were met
    score     : their scores
    """

    total: NDArray[np.float32] | NDArray[np.float64]
    candidate: NDArray[np.int32]
    score: NDArray[np.float64]


@compiled
def renumbered(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32], order: NDArray[np.int64], number: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The same graph where node i is the old node order[i] and number the way back; rows are ascending."""
    n = len(order)
    start = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        start[i + 1] = start[i] + indptr[order[i] + 1] - indptr[order[i]]
    end, moved = start[:-1].copy(), np.empty(len(neighbor), dtype=np.int32)
    for i in range(n):
        for j in range(indptr[order[i]], indptr[order[i] + 1]):
            other = number[neighbor[j]]
            moved[end[other]] = i
            end[other] += 1
    return start, moved


@compiled
def winners(nodes: NDArray[np.int32], here: Side, there: Side, rule: Rule, winner: NDArray[np.int32]) -> int:
    """Write the candidate that stands out for each node, -1 where none does; the candidates visited."""
    scratch, visits = _scratch(here, there, rule), 0
    for i in range(len(nodes)):
        winner[i], seen = _winner(nodes[i], here, there, rule, scratch)
        visits += seen
    return visits


@compiled
def sweep(nodes: NDArray[np.int32], source: Side, target: Side, rule: Rule) -> tuple[int, int]:
    """One pass over unmapped nodes that writes each match into both images at once; the matches, and the visits."""
    forth, back = _scratch(source, target, rule), _scratch(target, source, rule)
    matches, visits = 0, 0
    for v in nodes:
        c, seen = _winner(v, source, target, rule, forth)
        visits += seen
        if c < 0:
            continue
        again, seen = _winner(c, target, source, rule, back)
        visits += seen
        if again == v:
            source.image[v], target.image[c] = c, v
            forth.total[c], back.total[v] = -np.inf, -np.inf
            _unsettle(v, source.indptr, source.neighbor, source.best)
            _unsettle(c, target.indptr, target.neighbor, target.best)
            matches += 1
    return matches, visits


@compiled
def leaders(
    nodes: NDArray[np.int32],
    here: Side,
    there: Side,
    rule: Rule,
    candidate: NDArray[np.int32],
    score: NDArray[np.float64],
) -> int:
    """Write the best candidates of each node, best first, and their scores, as there are columns; the visits."""
    scratch, width, visits = _scratch(here, there, rule), candidate.shape[1], 0
    for i in range(len(nodes)):
        n, seen = _fill(nodes[i], here, there, rule, scratch)
        visits += seen
        for t in range(n):
            if scratch.score[t] > score[i, width - 1]:
                _insert(scratch.candidate[t], scratch.score[t], candidate[i], score[i])
    return visits


@compiled
def common(here: Links, there: Links, image: NDArray[np.int32]) -> NDArray[np.int64]:
    """(n_here,) neighbors of each mapped node whose image is next to the node's own image, 0 for unmapped nodes."""
    count, next_to = np.zeros(len(image), dtype=np.int64), np.full(len(there[0]) - 1, NONE, dtype=np.int32)
    for x in range(len(image)):
        y = image[x]
        if y < 0:
            continue
        for j in range(there[0][y], there[0][y + 1]):
            next_to[there[1][j]] = x
        for i in range(here[0][x], here[0][x + 1]):
            z = image[here[1][i]]
            count[x] += z >= 0 and next_to[z] == x
    return count


@compiled
def unsettle(
    nodes: NDArray[np.int32], indptr: NDArray[np.int64], neighbor: NDArray[np.int32], best: NDArray[np.int32]
) -> None:
    """Forget the verdicts on the neighbors of these nodes."""
    for v in nodes:
        _unsettle(v, indptr, neighbor, best)


@compiled
def _unsettle(v: int, indptr: NDArray[np.int64], neighbor: NDArray[np.int32], best: NDArray[np.int32]) -> None:
    for i in range(indptr[v], indptr[v + 1]):
        best[neighbor[i]] = UNSETTLED


@compiled
def _insert(c: int, score: float, candidate: NDArray[np.int32], value: NDArray[np.float64]) -> None:
    at = len(value) - 1
    while at > 0 and score > value[at - 1]:
        candidate[at], value[at] = candidate[at - 1], value[at - 1]
        at -= 1
    candidate[at], value[at] = c, score


@compiled
def _scratch(here: Side, there: Side, rule: Rule) -> Scratch:
    n = len(there.image)
    total = np.zeros(n, dtype=here.weight.dtype)
    if not rule.revise:
        for c in range(n):
            if there.image[c] >= 0:
                total[c] = -np.inf
    return Scratch(total, np.empty(n + 1, dtype=np.int32), np.empty(n))


@compiled
def _winner(v: int, here: Side, there: Side, rule: Rule, scratch: Scratch) -> tuple[int, int]:
    """The candidate that stands out for v, -1 if none does, and the visits: 0 if the verdict still holds."""
    first, second = here.best[v], here.rival[v]
    if first == NONE:
        return NONE, 0
    if first >= 0 and scratch.total[first] == 0 and (second < 0 or scratch.total[second] == 0):
        return (first if second < 0 else NONE), 0
    n, visits = _fill(v, here, there, rule, scratch)
    chosen, here.best[v], here.rival[v] = _standing_out(n, rule, scratch.candidate, scratch.score)
    return chosen, visits


@compiled
def _fill(v: int, here: Side, there: Side, rule: Rule, scratch: Scratch) -> tuple[int, int]:
    """List the candidates of v and their scores; the number of them, and of visits.

    Indices are unsigned where most time goes: the compiled code checks whether a signed one is negative.
    """
    total, candidate = scratch.total, scratch.candidate
    n, visits = 0, 0
    for i in range(here.indptr[v], here.indptr[v + 1]):
        x = here.neighbor[i]
        y = here.image[x]
        if y < 0:
            continue
        weight = here.weight[x]
        start, stop = there.indptr[y], there.indptr[y + 1]
        visits += stop - start
        for j in range(np.uint64(start), np.uint64(stop)):
            c = np.uint32(there.neighbor[j])
            before = total[c]
            candidate[np.uint64(n)] = c
            n += before == 0
            total[c] = before + weight
    for t in range(n):
        c = np.uint32(candidate[t])
        if rule.ratio:
            scratch.score[t] = total[c] * min(here.size[v] / there.size[c], there.size[c] / here.size[v])
        else:
            scratch.score[t] = total[c] / there.size[c]
        total[c] = 0
    return n, visits


@compiled
def _standing_out(n: int, rule: Rule, candidate: NDArray[np.int32], score: NDArray[np.float64]) -> tuple[int, int, int]:
    """The candidate that stands out or -1, and the lasting verdict: best and rival of `Side`."""
    if n == 0 or (n == 1 and rule.revise):
        return NONE, NONE, NONE
    first, second, top, next_ = NONE, NONE, -1.0, -1.0
    for t in range(n):
        s = score[t]
        if s > top:
            first, second, top, next_ = t, first, s, top
        elif s > next_:
            second, next_ = t, s
    chosen, other = candidate[first], candidate[second]
    if n == 1:
        return chosen, chosen, NONE
    if top - next_ <= TIE * top:
        return NONE, chosen, other
    # sigma of n numbers from 0 to top is at most top / sqrt(2), however many are taken away
    if top - next_ >= rule.theta * 0.75 * top:
        return chosen, chosen, NONE
    stands = top - next_ >= rule.theta * _sigma(score[:n], rule)
    if rule.revise:
        return (chosen, chosen, NONE) if stands else (NONE, NONE, NONE)
    return (chosen if stands else NONE), UNSETTLED, NONE


@compiled
def _sigma(score: NDArray[np.float64], rule: Rule) -> float:
    mean = 0.0
    for s in score:
        mean += s
    mean /= len(score)
    squares = 0.0
    for s in score:
        squares += (s - mean) * (s - mean)
    return float(np.sqrt(squares / (len(score) if rule.revise else len(score) - 1)))
