"""The loops of `Rematch`: count witnesses, score candidates, keep the best, assign."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled
from unmask.graphs.attacks._likelihood import GRID, NEGLIGIBLE

COUNT = 40
"""Sums of weights fill the low 40 bits of an int64, the number of witnesses the bits above: one addition for both."""


class Rows(NamedTuple):
    """A graph in compressed rows, ascending, and what is known of its nodes.

    indptr, neighbor : (n + 1,) and (2 n_edges,)
    node              : (n, 4) per node, side by side because they are read together: what the log-odds of a pair owe
                        to this node alone, nan for seeds, which are neither asked about nor candidates; neighbors that
                        are mapped; neighbors that are not, in the target's measure; log degree
    """

    indptr: NDArray[np.int64]
    neighbor: NDArray[np.int32]
    node: NDArray[np.float64]


BASE, KNOWN, REST, TOLL = range(4)


class Alike(NamedTuple):
    """What a similarity adds to the log-odds of pairs, beyond what it adds to all pairs of their source node.

    indptr, candidate : (n_source + 1,) and (n_pairs,) the pairs of each source node
    bonus             : (n_pairs,) at least 0
    proposed          : (n_pairs,) whether a pair is scored without a witness, too
    """

    indptr: NDArray[np.int64]
    candidate: NDArray[np.int32]
    bonus: NDArray[np.float64]
    proposed: NDArray[np.bool_]


class Best(NamedTuple):
    """The best candidates of each node.

    candidate : (n, width) int32, best first, -1 where there are fewer
    value     : (n, width) their log-odds, -inf where there are fewer
    own       : (n,) log-odds of the node's image, -inf where it has none
    others    : (n,) log(1 + sum of the odds of all candidates but the image that have at least `low`), 1 being the
                odds of none of them
    visits    : wedges walked
    """

    candidate: NDArray[np.int32]
    value: NDArray[np.float64]
    own: NDArray[np.float64]
    others: NDArray[np.float64]
    visits: int


@compiled
def mapped_neighbors(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32], image: NDArray[np.int32]
) -> NDArray[np.int64]:
    """(n,) how many neighbors of each node are mapped."""
    count = np.zeros(len(image), dtype=np.int64)
    for v in range(len(image)):
        for i in range(indptr[v], indptr[v + 1]):
            count[v] += image[neighbor[i]] >= 0
    return count


@compiled
def best(
    source: Rows,
    target: Rows,
    alike: Alike,
    image: NDArray[np.int32],
    weight: NDArray[np.int64],
    spread: float,
    reach: int,
    width: int,
    low: float,
) -> Best:
    """Score the candidates of every source node and keep the `width` best of at least `low`.

    A candidate c of node u shares witnesses with it: mapped neighbors of u whose image is next to c. With w of them

        log-odds = sum of weight / GRID - w toll_c + base_u + base_c + log normal density of (rest_c - rest_u)

    of variance spread (rest_u + rest_c + 1), and what a similarity adds. Target nodes are numbered by falling degree.

    image  : (n_source,) int32, the node that each source node is mapped to, -1 where none is
    weight : (n_target,) int64 on the grid, with 1 << COUNT added; of the images of source nodes
    """
    n, n_target = len(image), len(target.node)
    total, mark = np.zeros(n_target, dtype=np.int64), np.full(n_target, -1, dtype=np.int32)
    touched, images = np.empty(n_target, dtype=np.int32), np.empty(n_target, dtype=np.int32)
    bonus, candidate, value = np.zeros(n_target), np.full((n, width), -1, dtype=np.int32), np.full((n, width), -np.inf)
    own, others = np.full(n, -np.inf), np.zeros(n)
    visits = 0
    for u in range(n):
        me = source.node[u]
        if np.isnan(me[BASE]):
            continue
        n_images = _images(u, source, image, images)
        last = _last_silent(images[:n_images], target.indptr, reach)
        n_touched, silent, loudest, seen = _walk(u, images[:n_images], last, target, weight, total, mark, touched)
        visits += seen
        for j in range(alike.indptr[u], alike.indptr[u + 1]):
            c = alike.candidate[j]
            bonus[c] = alike.bonus[j]
            if alike.proposed[j] and total[c] == 0:
                touched[n_touched] = c
                n_touched += 1
        if image[u] >= 0:
            summed = total[image[u]] + _silent(u, image[u], last, target, weight, mark)
            own[u] = _value(me, target.node[image[u]], summed, spread) + bonus[image[u]]
        ceiling = me[BASE] - 0.5 * np.log(2 * np.pi * spread * (me[REST] + 1.0))
        top, most, mass = -np.inf, 0.0, 1.0  # mass: of the odds, in units of exp(most)
        for t in range(n_touched):
            c = touched[t]
            shared, evidence = _witnesses(total[c])
            other = target.node[c]
            bound = ceiling + evidence - shared * other[TOLL] + other[BASE] + bonus[c]
            bound += min(silent, other[KNOWN] - shared) * max(loudest / GRID - other[TOLL], 0.0)
            if bound >= max(low, top - NEGLIGIBLE):
                v = _value(me, other, total[c] + _silent(u, c, last, target, weight, mark), spread) + bonus[c]
                if v >= low and v > value[u, width - 1]:
                    _insert(c, v, candidate[u], value[u])
                top = max(top, v)
                if c == image[u] or v < low:
                    pass
                elif v > most:
                    mass, most = mass * np.exp(most - v) + 1.0, v
                else:
                    mass += np.exp(v - most)
            total[c] = 0
        for c in alike.candidate[alike.indptr[u] : alike.indptr[u + 1]]:
            bonus[c] = 0.0
        others[u] = most + np.log(mass)
    return Best(candidate, value, own, others, visits)


@compiled
def _images(u: int, source: Rows, image: NDArray[np.int32], images: NDArray[np.int32]) -> int:
    """Write the images of u's mapped neighbors; their number."""
    n = 0
    for i in range(source.indptr[u], source.indptr[u + 1]):
        y = image[source.neighbor[i]]
        if y >= 0:
            images[n] = y
            n += 1
    return n


@compiled
def _last_silent(images: NDArray[np.int32], indptr: NDArray[np.int64], reach: int) -> int:
    """The images above this number propose candidates, the others only speak for those proposed; -1: all propose.

    Nodes of one degree stand together, so that their numbers do not matter.
    """
    total, low, high = 0, len(indptr), 0
    for y in images:
        degree = indptr[y + 1] - indptr[y]
        total, low, high = total + degree, min(low, degree), max(high, degree)
    if total <= reach:
        return -1
    while high - low > 1:  # images of a degree up to `low` propose; those of `high` and above are too many
        middle = (low + high) // 2
        if _wedges(images, indptr, middle) <= reach:
            low = middle
        else:
            high = middle
    last = -1
    for y in images:
        if indptr[y + 1] - indptr[y] > low:
            last = max(last, y)
    return last


@compiled
def _wedges(images: NDArray[np.int32], indptr: NDArray[np.int64], most: int) -> int:
    """The neighbors of all images with at most so many of them."""
    total = 0
    for y in images:
        degree = indptr[y + 1] - indptr[y]
        total += degree if degree <= most else 0
    return total


@compiled
def _walk(
    u: int,
    images: NDArray[np.int32],
    last: int,
    target: Rows,
    weight: NDArray[np.int64],
    total: NDArray[np.int64],
    mark: NDArray[np.int32],
    touched: NDArray[np.int32],
) -> tuple[int, int, int, int]:
    """Add up the weights of the images that propose, list what they propose, and mark the others.

    Returns how many candidates there are, how many images are silent, the largest of their weights, and the wedges
    walked. The candidate with most witnesses comes first, so that little is left to do for the others.
    """
    n, silent, loudest, visits, first = 0, 0, 0, 0, 0
    for y in images:
        w = weight[y]
        if y <= last:
            mark[y] = u
            silent += 1
            loudest = max(loudest, w - (1 << COUNT))
            continue
        visits += target.indptr[y + 1] - target.indptr[y]
        for j in range(target.indptr[y], target.indptr[y + 1]):
            c = target.neighbor[j]
            if total[c] == 0:
                touched[n] = c
                n += 1
            total[c] += w
    for t in range(n):
        if total[touched[t]] > total[touched[first]]:
            first = t
    if n:
        touched[0], touched[first] = touched[first], touched[0]
    return n, silent, loudest, visits


@compiled
def _silent(u: int, c: int, last: int, target: Rows, weight: NDArray[np.int64], mark: NDArray[np.int32]) -> int:
    """What the marked neighbors of c add; they have the lowest numbers, so its row is read from the front."""
    total = 0
    for j in range(target.indptr[c], target.indptr[c + 1]):
        y = target.neighbor[j]
        if y > last:
            break
        if mark[y] == u:
            total += weight[y]
    return total


@compiled
def _witnesses(total: int) -> tuple[int, float]:
    """The number of witnesses and the sum of their weights."""
    shared = (total + (1 << (COUNT - 1))) >> COUNT
    return shared, (total - (shared << COUNT)) / GRID


@compiled
def _value(me: NDArray[np.float64], other: NDArray[np.float64], total: int, spread: float) -> float:
    shared, evidence = _witnesses(total)
    variance = spread * (me[REST] + other[REST] + 1.0)
    gap = other[REST] - me[REST]
    fit = -0.5 * (gap * gap / variance + np.log(2 * np.pi * variance))
    return float(evidence - shared * other[TOLL] + me[BASE] + other[BASE] + fit)


@compiled
def _insert(c: int, v: float, candidate: NDArray[np.int32], value: NDArray[np.float64] | NDArray[np.float32]) -> None:
    at = len(value)
    while at > 0 and v > value[at - 1]:
        at -= 1
    for i in range(len(value) - 1, at, -1):
        candidate[i], value[i] = candidate[i - 1], value[i - 1]
    if at < len(value):
        candidate[at], value[at] = c, v


@compiled
def assign(
    listed: Best, image: NDArray[np.int32], inverse: NDArray[np.int32], margin: float, floor: float, rounds: int
) -> None:
    """Map pairs that are best for both, by at least `margin`, and at least `floor`; `rounds` times over those left."""
    n, width = listed.candidate.shape
    for _ in range(rounds):
        first, second = np.full(n, -1, dtype=np.int64), np.full(n, -np.inf)
        top, runner_up = np.full(len(inverse), -np.inf), np.full(len(inverse), -np.inf)
        for u in range(n):
            if image[u] >= 0:
                continue
            for k in range(width):
                c, v = listed.candidate[u, k], listed.value[u, k]
                if c < 0 or inverse[c] >= 0:
                    continue
                if first[u] < 0:
                    first[u] = k
                elif second[u] == -np.inf:
                    second[u] = v
                if v > top[c]:
                    top[c], runner_up[c] = v, top[c]
                elif v > runner_up[c]:
                    runner_up[c] = v
        found = 0
        for u in range(n):
            if first[u] < 0:
                continue
            c, v = listed.candidate[u, first[u]], listed.value[u, first[u]]
            if v >= floor and v >= top[c] and v - second[u] >= margin and v - runner_up[c] >= margin:
                image[u], inverse[c] = c, u
                found += 1
        if found == 0:
            break


@compiled
def fill(
    node: NDArray[np.int64], candidate: NDArray[np.int32], image: NDArray[np.int32], inverse: NDArray[np.int32]
) -> None:
    """Map the pairs one after another wherever both nodes are free."""
    for i in range(len(node)):
        if image[node[i]] < 0 and inverse[candidate[i]] < 0:
            image[node[i]], inverse[candidate[i]] = candidate[i], node[i]
