"""The loops of `Rematch`: count witnesses, score candidates, keep the best, assign."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled, inner
from unmask.graphs.attacks._loops import insert
from unmask.graphs.attacks._structs import GRID, NEGLIGIBLE

NEVER = -(2.0**50)
"""A bound on log-odds in units of 1 / GRID that none is below."""

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

TOTAL, MOST, LEAST_TOLL, AROUND = range(4)
"""Columns of `Scratch.cell`."""


class Alike(NamedTuple):
    """Addition of a similarity to the log-odds of pairs, beyond its addition to all pairs of their source node.

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

    candidate  : (n, width) int32, best first, -1 where there are fewer
    value      : (n, width) their log-odds, -inf where there are fewer
    image_odds : (n,) log-odds of the node's image, -inf where it has none
    other_odds : (n,) log(1 + sum of the odds of all candidates but the image that have at least `low`), 1 being the
                 odds of none of them
    """

    candidate: NDArray[np.int32]
    value: NDArray[np.float64]
    image_odds: NDArray[np.float64]
    other_odds: NDArray[np.float64]

    @classmethod
    def empty(cls, n: int, width: int) -> Best:
        """Return empty results for so many nodes."""
        candidate = np.full((n, width), -1, dtype=np.int32)
        return cls(candidate, np.full((n, width), -np.inf), np.full(n, -np.inf), np.zeros(n))


class Scratch(NamedTuple):
    """Memory in which source nodes are scored one after the other, (n_target,) each.

    cell    : (n_target, 4) int64, all that is read of a candidate that does not matter, in half a cache line: weights
              added up, 0 between two nodes; base and toll in units of 1 / GRID, rounded up and down, so that a bound
              made of them is not too low (base of a seed: `NEVER`); and its mapped neighbors
    mark    : the last source node of which this is a silent image, -1 for none
    touched : candidates of the node; images : of its neighbors
    bonus   : 0 between two nodes
    """

    cell: NDArray[np.int64]
    mark: NDArray[np.int32]
    touched: NDArray[np.int32]
    images: NDArray[np.int32]
    bonus: NDArray[np.float64]

    @classmethod
    def for_nodes(cls, node: NDArray[np.float64]) -> Scratch:
        """Return scratch for the target nodes of `Rows`."""
        n, cell = len(node), np.zeros((len(node), 4), dtype=np.int64)
        cell[:, MOST] = np.ceil(np.where(np.isnan(node[:, BASE]), NEVER / GRID, node[:, BASE]) * GRID)
        cell[:, LEAST_TOLL], cell[:, AROUND] = np.floor(node[:, TOLL] * GRID), node[:, KNOWN]
        mark = np.full(n, -1, dtype=np.int32)
        return cls(cell, mark, np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32), np.zeros(n))


@compiled
def mapped_neighbors(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32], image: NDArray[np.int32], count: NDArray[np.int64]
) -> None:
    """Add how many neighbors of each node are mapped."""
    for v in range(len(image)):
        for i in range(indptr[v], indptr[v + 1]):
            if image[neighbor[i]] >= 0:
                count[v] += 1


@compiled
def score_candidates(
    source: Rows,
    target: Rows,
    alike: Alike,
    image: NDArray[np.int32],
    weight: NDArray[np.int64],
    spread: float,
    reach: int,
    low: float,
    scratch: Scratch,
    result: Best,
) -> int:
    """Score the candidates of every source node and write the best of at least `low`; the wedges walked.

    A candidate c of node u shares witnesses with it: mapped neighbors of u whose image is next to c. With w of them

        log-odds = sum of weight / GRID - w toll_c + base_u + base_c + log normal density of (rest_c - rest_u)

    of variance spread (rest_u + rest_c + 1), and what a similarity adds. Target nodes are numbered by falling degree.

    image  : (n_source,) int32, the node that each source node is mapped to, -1 where none is
    weight : (n_target,) int64 on the grid, with 1 << COUNT added; of the images of source nodes
    """
    cell, touched, bonus, node = scratch.cell, scratch.touched, scratch.bonus, target.node
    last_kept, visits = result.value.shape[1] - 1, 0
    for u in range(len(image)):
        base, unmapped = source.node[u, BASE], source.node[u, REST]
        if np.isnan(base):
            continue
        n_images = _images(u, source, image, scratch.images)
        last = _last_silent(n_images, scratch.images, target.indptr, reach)
        n_touched, silent, loudest, walked = _walk(u, n_images, last, target, weight, scratch)
        visits += walked
        similar = alike.indptr[u] < alike.indptr[u + 1]
        for j in range(alike.indptr[u], alike.indptr[u + 1]):
            c = alike.candidate[j]
            bonus[c] = alike.bonus[j]
            if alike.proposed[j] and cell[c, TOTAL] == 0:
                touched[n_touched] = c
                n_touched += 1
        if image[u] >= 0:
            y = image[u]
            summed = cell[y, TOTAL] + _silent(u, y, last, target, weight, scratch.mark)
            result.image_odds[u] = _value(base, unmapped, y, node, summed, spread) + bonus[y]
        ceiling = base - 0.5 * np.log(2 * np.pi * spread * (unmapped + 1.0))
        top, max_log_odds, mass = -np.inf, 0.0, 1.0  # mass: of the odds, in units of exp(most)
        min_bound = max(
            (low - ceiling) * GRID - 1.0, NEVER / 2
        )  # of the bound on what the log-odds are beyond the ceiling
        for t in range(n_touched):
            c = touched[t]
            total, toll = cell[c, TOTAL], cell[c, LEAST_TOLL]
            cell[c, TOTAL] = 0
            shared = (total + (1 << (COUNT - 1))) >> COUNT
            bound = total - (shared << COUNT) - shared * toll + cell[c, MOST]
            if silent > 0:
                bound += min(silent, cell[c, AROUND] - shared) * max(loudest - toll, 0)
            if (bound + bonus[c] * GRID if similar else bound) >= min_bound:
                v = _value(base, unmapped, c, node, total, spread) + bonus[c]
                if silent > 0:  # ask for them only if they can matter: reading a row takes longest
                    max_gain = min(silent, cell[c, AROUND] - shared) * max(loudest - toll, 0) / GRID
                    if v + max_gain < max(low, top - NEGLIGIBLE) - 1e-6:
                        continue
                    total += _silent(u, c, last, target, weight, scratch.mark)
                    v = _value(base, unmapped, c, node, total, spread) + bonus[c]
                if v >= low and v > result.value[u, last_kept]:
                    insert(c, v, u, result.candidate, result.value)
                if v > top:
                    top, min_bound = v, max((max(low, v - NEGLIGIBLE) - ceiling) * GRID - 1.0, NEVER / 2)
                if c == image[u] or v < low:
                    pass
                elif v > max_log_odds:
                    mass, max_log_odds = mass * np.exp(max_log_odds - v) + 1.0, v
                else:
                    mass += np.exp(v - max_log_odds)
        for j in range(alike.indptr[u], alike.indptr[u + 1]):
            bonus[alike.candidate[j]] = 0.0
        result.other_odds[u] = max_log_odds + np.log(mass)
    return visits


@inner
def _images(u: int, source: Rows, image: NDArray[np.int32], images: NDArray[np.int32]) -> int:
    """Write the images of u's mapped neighbors; their number."""
    n = 0
    for i in range(source.indptr[u], source.indptr[u + 1]):
        y = image[source.neighbor[i]]
        if y >= 0:
            images[n] = y
            n += 1
    return n


@inner
def _last_silent(n: int, images: NDArray[np.int32], indptr: NDArray[np.int64], reach: int) -> int:
    """Return the number of the last silent image: images above it propose candidates; -1: all propose.

    Nodes of one degree stand together, so that their numbers do not matter.
    """
    total, low, high = 0, len(indptr), 0
    for i in range(n):
        y = images[i]
        degree = indptr[y + 1] - indptr[y]
        total, low, high = total + degree, min(low, degree), max(high, degree)
    if total <= reach:
        return -1
    while high - low > 1:  # images of a degree up to `low` propose; those of `high` and above are too many
        middle = (low + high) // 2
        if _wedges(n, images, indptr, middle) <= reach:
            low = middle
        else:
            high = middle
    last = -1
    for i in range(n):
        y = images[i]
        if indptr[y + 1] - indptr[y] > low:
            last = max(last, y)
    return last


@inner
def _wedges(n: int, images: NDArray[np.int32], indptr: NDArray[np.int64], max_degree: int) -> int:
    """Return the neighbors of all images with at most so many of them."""
    total = 0
    for i in range(n):
        y = images[i]
        degree = indptr[y + 1] - indptr[y]
        total += degree if degree <= max_degree else 0
    return total


@inner
def _walk(
    u: int, n_images: int, last: int, target: Rows, weight: NDArray[np.int64], scratch: Scratch
) -> tuple[int, int, int, int]:
    """Add up the weights of the images that propose, list what they propose, and mark the others.

    Returns how many candidates there are, how many images are silent, the largest of their weights, and the wedges
    walked. The candidate with most witnesses comes first, so that little is left to do for the others.
    """
    indptr, neighbor, cell, touched = target.indptr, target.neighbor, scratch.cell, scratch.touched
    n, silent, loudest, visits, first = 0, 0, 0, 0, 0
    for i in range(n_images):
        y = scratch.images[i]
        w = weight[y]
        if y <= last:
            scratch.mark[y] = u
            silent += 1
            loudest = max(loudest, w - (1 << COUNT))
            continue
        visits += indptr[y + 1] - indptr[y]
        for j in range(indptr[y], indptr[y + 1]):
            c = neighbor[j]
            partial = cell[c, TOTAL]
            if partial == 0:
                touched[n] = c
                n += 1
            cell[c, TOTAL] = partial + w
    for t in range(n):
        if cell[touched[t], TOTAL] > cell[touched[first], TOTAL]:
            first = t
    if n:
        touched[0], touched[first] = touched[first], touched[0]
    return n, silent, loudest, visits


@inner
def _silent(u: int, c: int, last: int, target: Rows, weight: NDArray[np.int64], mark: NDArray[np.int32]) -> int:
    """Return what the marked neighbors of c add; they have the lowest numbers, so its row is read from the front."""
    total = 0
    for j in range(target.indptr[c], target.indptr[c + 1]):
        y = target.neighbor[j]
        if y > last:
            break
        if mark[y] == u:
            total += weight[y]
    return total


@inner
def _witnesses(total: int) -> tuple[int, float]:
    """Return the number of witnesses and the sum of their weights."""
    shared = (total + (1 << (COUNT - 1))) >> COUNT
    return shared, (total - (shared << COUNT)) / GRID


@inner
def _value(base: float, unmapped: float, c: int, node: NDArray[np.float64], total: int, spread: float) -> float:
    shared, evidence = _witnesses(total)
    variance = spread * (unmapped + node[c, REST] + 1.0)
    gap = node[c, REST] - unmapped
    fit = -0.5 * (gap * gap / variance + np.log(2 * np.pi * variance))
    return float(evidence - shared * node[c, TOLL] + base + node[c, BASE] + fit)


@compiled
def assign(
    candidate: NDArray[np.int32],
    value: NDArray[np.float64],
    image: NDArray[np.int32],
    inverse: NDArray[np.int32],
    margin: float,
    floor: float,
    first: NDArray[np.int32],
    second: NDArray[np.float64],
    top: NDArray[np.float64],
    runner_up: NDArray[np.float64],
) -> int:
    """Map free pairs that are best for both, by at least `margin`, and at least `floor`; how many were mapped.

    first, second  : (n,) the place of the best free candidate of each node, at first -1, and the next one's value
    top, runner_up : (n_target,) the two largest values of each free target node; they and `second` at first -inf
    """
    for u in range(len(image)):
        if image[u] >= 0:
            continue
        for k in range(candidate.shape[1]):
            c, v = candidate[u, k], value[u, k]
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
    n_mapped = 0
    for u in range(len(image)):
        if first[u] < 0:
            continue
        c, v = candidate[u, first[u]], value[u, first[u]]
        if v >= floor and v >= top[c] and v - second[u] >= margin and v - runner_up[c] >= margin:
            image[u], inverse[c] = c, u
            n_mapped += 1
    return n_mapped


@compiled
def fill(
    node: NDArray[np.int64], candidate: NDArray[np.int32], image: NDArray[np.int32], inverse: NDArray[np.int32]
) -> None:
    """Map the pairs one after another wherever both nodes are free."""
    for i in range(len(node)):
        if image[node[i]] < 0 and inverse[candidate[i]] < 0:
            image[node[i]], inverse[candidate[i]] = candidate[i], node[i]
