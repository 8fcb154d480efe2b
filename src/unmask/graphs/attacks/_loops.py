"""The loops of the propagation attacks, compiled: see `Side` and `Rule`. Nothing but these loops writes a verdict."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled, inner
from unmask.graphs.attacks._sides import NONE, TIE, UNSETTLED, Rule, Scratch, Side


@compiled
def renumbered(
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    order: NDArray[np.int64],
    number: NDArray[np.int64],
    end: NDArray[np.int64],
    moved: NDArray[np.int32],
) -> None:
    """Write the neighbors of the graph where node i is the old node order[i] and number the way back, rows ascending.

    end : (n,) where the row of each new node begins; then, where it ends
    """
    for i in range(len(order)):
        for j in range(indptr[order[i]], indptr[order[i] + 1]):
            other = number[neighbor[j]]
            moved[end[other]] = i
            end[other] += 1


@compiled
def winners(
    nodes: NDArray[np.int32], here: Side, there: Side, rule: Rule, scratch: Scratch, winner: NDArray[np.int32]
) -> int:
    """Write the candidate that stands out for each node, -1 where none does; the candidates visited."""
    visits = 0
    for i in range(len(nodes)):
        winner[i], seen = _winner(nodes[i], here, there, rule, scratch)
        visits += seen
    return visits


@compiled
def sweep(
    nodes: NDArray[np.int32], source: Side, target: Side, rule: Rule, forth: Scratch, back: Scratch
) -> tuple[int, int]:
    """One pass over unmapped nodes that writes each match into both images at once; the matches, and the visits."""
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
    scratch: Scratch,
    candidate: NDArray[np.int32],
    score: NDArray[np.float64],
) -> int:
    """Write the best candidates of each node, best first, and their scores, as there are columns; the visits."""
    last, visits = candidate.shape[1] - 1, 0
    for i in range(len(nodes)):
        n, seen = _fill(nodes[i], here, there, rule, scratch)
        visits += seen
        for t in range(n):
            if scratch.score[t] > score[i, last]:
                insert(scratch.candidate[t], scratch.score[t], i, candidate, score)
    return visits


@compiled
def common(
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    indptr_there: NDArray[np.int64],
    neighbor_there: NDArray[np.int32],
    image: NDArray[np.int32],
    next_to: NDArray[np.int32],
    count: NDArray[np.int64],
) -> None:
    """Add, for each mapped node, how many of its neighbors have an image next to the node's own.

    next_to : (n_there,) the mapped node whose image was last seen next to each node, -1 for none
    """
    for x in range(len(image)):
        y = image[x]
        if y < 0:
            continue
        for j in range(indptr_there[y], indptr_there[y + 1]):
            next_to[neighbor_there[j]] = x
        for i in range(indptr[x], indptr[x + 1]):
            z = image[neighbor[i]]
            if z >= 0 and next_to[z] == x:
                count[x] += 1


@compiled
def unsettle(
    nodes: NDArray[np.int32], indptr: NDArray[np.int64], neighbor: NDArray[np.int32], best: NDArray[np.int32]
) -> None:
    """Forget the verdicts on the neighbors of these nodes."""
    for v in nodes:
        _unsettle(v, indptr, neighbor, best)


@inner
def _unsettle(v: int, indptr: NDArray[np.int64], neighbor: NDArray[np.int32], best: NDArray[np.int32]) -> None:
    for i in range(indptr[v], indptr[v + 1]):
        best[neighbor[i]] = UNSETTLED


@inner
def insert(
    c: int, v: float, row: int, candidate: NDArray[np.int32], value: NDArray[np.float64] | NDArray[np.float32]
) -> None:
    """Write a candidate into its place among the best of a row, best first; its value is above the last of them."""
    at = value.shape[1] - 1
    while at > 0 and v > value[row, at - 1]:
        candidate[row, at], value[row, at] = candidate[row, at - 1], value[row, at - 1]
        at -= 1
    candidate[row, at], value[row, at] = c, v


@inner
def _winner(v: int, here: Side, there: Side, rule: Rule, scratch: Scratch) -> tuple[int, int]:
    """The candidate that stands out for v, -1 if none does, and the visits: 0 if the verdict still holds."""
    first, second = here.best[v], here.rival[v]
    if first == NONE:
        return NONE, 0
    if first >= 0 and scratch.total[first] == 0 and (second < 0 or scratch.total[second] == 0):
        return (first if second < 0 else NONE), 0
    n, visits = _fill(v, here, there, rule, scratch)
    chosen, here.best[v], here.rival[v] = standing_out(n, rule, scratch.candidate, scratch.score)
    return chosen, visits


@inner
def _fill(v: int, here: Side, there: Side, rule: Rule, scratch: Scratch) -> tuple[int, int]:
    """List the candidates of v and their scores; the number of them, and of visits.

    Indices are unsigned where most time goes: the compiled code checks whether a signed one is negative.
    """
    total, candidate, score = scratch.total, scratch.candidate, scratch.score
    indptr, neighbor, size = there.indptr, there.neighbor, there.size
    n, visits = 0, 0
    for i in range(here.indptr[v], here.indptr[v + 1]):
        x = here.neighbor[i]
        y = here.image[x]
        if y < 0:
            continue
        weight = here.weight[x]
        start, stop = indptr[y], indptr[y + 1]
        visits += stop - start
        for j in range(np.uint64(start), np.uint64(stop)):
            c = np.uint32(neighbor[j])
            before = total[c]
            candidate[np.uint64(n)] = c
            n += before == 0
            total[c] = before + weight
    for t in range(n):
        c = np.uint32(candidate[t])
        if rule.ratio:
            score[t] = total[c] * min(here.size[v] / size[c], size[c] / here.size[v])
        else:
            score[t] = total[c] / size[c]
        total[c] = 0
    return n, visits


@inner
def standing_out(n: int, rule: Rule, candidate: NDArray[np.int32], score: NDArray[np.float64]) -> tuple[int, int, int]:
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
    stands = top - next_ >= rule.theta * _sigma(n, score, rule.revise)
    if rule.revise:
        return (chosen, chosen, NONE) if stands else (NONE, NONE, NONE)
    return (chosen if stands else NONE), UNSETTLED, NONE


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
