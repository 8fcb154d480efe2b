"""Compiled loops of `Rematch`: count witnesses, score candidates, keep the best ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled, inner
from unmask.graphs.attacks._loops import insert
from unmask.graphs.attacks._structs import GRID, NEGLIGIBLE

NEVER = -(2.0**50)
"""Lower bound for the base term of candidates that can never be chosen, in units of 1 / GRID."""

COUNT = 40
"""Number of low bits of an int64 that hold the sum of weights. The high bits count witnesses in the same addition."""


class Rows(NamedTuple):
    """A graph in compressed rows, ascending, with the terms of its nodes.

    indptr, neighbor : (n + 1,) and (2 n_edges,)
    node             : (n, 4) terms of each node, stored together because they are read together. Columns: terms of the
                       log-odds that depend on this node only (nan for seeds, which are neither matched nor candidates);
                       number of mapped neighbors; number of unmapped neighbors, scaled to the target; log degree
    """

    indptr: NDArray[np.int64]
    neighbor: NDArray[np.int32]
    node: NDArray[np.float64]


BASE, MAPPED, UNMAPPED, LOG_DEGREE = range(4)

TOTAL, BASE_CEILING, LOG_DEGREE_FLOOR, MAPPED_COUNT = range(4)
"""Columns of `Scratch.cell`."""


class SimilarPairs(NamedTuple):
    """Similarity terms of the log-odds of pairs, in addition to the term for all pairs of a source node.

    indptr, candidate : (n_source + 1,) and (n_pairs,) the pairs of each source node
    bonus             : (n_pairs,) at least 0
    is_proposed       : (n_pairs,) True if the pair is scored even without a witness
    """

    indptr: NDArray[np.int64]
    candidate: NDArray[np.int32]
    bonus: NDArray[np.float64]
    is_proposed: NDArray[np.bool_]


class Best(NamedTuple):
    """The best candidates of each node.

    candidate  : (n, width) int32, best first, padded with -1
    value      : (n, width) log-odds of each candidate, padded with -inf
    image_odds : (n,) log-odds of the node's image, -inf if unmapped
    other_odds : (n,) log(1 + sum of the odds of all candidates of at least `low`, without the image); the 1 is the odds
                 of no match
    """

    candidate: NDArray[np.int32]
    value: NDArray[np.float64]
    image_odds: NDArray[np.float64]
    other_odds: NDArray[np.float64]

    @classmethod
    def empty(cls, n: int, width: int) -> Best:
        """Return empty results for n nodes."""
        candidate = np.full((n, width), -1, dtype=np.int32)
        return cls(candidate, np.full((n, width), -np.inf), np.full(n, -np.inf), np.zeros(n))


class Scratch(NamedTuple):
    """Memory for the scores of one source node at a time.

    cell    : (n_target, 4) int64, half a cache line for each candidate: sum of weights, 0 between two source nodes;
              base term in units of 1 / GRID, rounded up (`NEVER` for a seed); log degree in the same units, rounded
              down; number of mapped neighbors. The rounding makes bounds from these values valid.
    mark    : (n_target,) the last source node for which the target node is an image that proposes no candidates, or -1
    touched : (n_target,) candidates of the source node
    images  : (n_target,) images of its neighbors
    bonus   : (n_target,) 0 between two source nodes
    """

    cell: NDArray[np.int64]
    mark: NDArray[np.int32]
    touched: NDArray[np.int32]
    images: NDArray[np.int32]
    bonus: NDArray[np.float64]

    @classmethod
    def for_nodes(cls, node: NDArray[np.float64]) -> Scratch:
        """Return scratch memory for the target nodes of `Rows`."""
        n, cell = len(node), np.zeros((len(node), 4), dtype=np.int64)
        cell[:, BASE_CEILING] = np.ceil(np.where(np.isnan(node[:, BASE]), NEVER / GRID, node[:, BASE]) * GRID)
        cell[:, LOG_DEGREE_FLOOR], cell[:, MAPPED_COUNT] = np.floor(node[:, LOG_DEGREE] * GRID), node[:, MAPPED]
        mark = np.full(n, -1, dtype=np.int32)
        return cls(cell, mark, np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32), np.zeros(n))


@compiled
def score_candidates(
    source: Rows,
    target: Rows,
    similar_pairs: SimilarPairs,
    image: NDArray[np.int32],
    weight: NDArray[np.int64],
    spread: float,
    reach: int,
    low: float,
    scratch: Scratch,
    result: Best,
) -> int:
    """Score the candidates of each source node and write the best ones of at least `low`; return the visits.

    Witnesses of node u and candidate c are mapped neighbors of u whose image is a neighbor of c. For w witnesses,

        log-odds = sum of weight / GRID - w log degree_c + base_u + base_c + log normal density of (rest_c - rest_u)

    with variance spread (rest_u + rest_c + 1), plus the similarity terms. `rest` is the number of unmapped neighbors.
    Target nodes are numbered by descending degree.

    image  : (n_source,) int32, target node of each source node, -1 if unmapped
    weight : (n_target,) int64 weight of each image, in units of 1 / GRID, plus 1 << COUNT
    """
    cell, touched, bonus, node = scratch.cell, scratch.touched, scratch.bonus, target.node
    last_kept, visits = result.value.shape[1] - 1, 0
    for u in range(len(image)):
        base, unmapped = source.node[u, BASE], source.node[u, UNMAPPED]
        if np.isnan(base):
            continue
        n_images = _images(u, source, image, scratch.images)
        last = _last_silent(n_images, scratch.images, target.indptr, reach)
        n_touched, silent, max_silent_weight, walked = _walk(u, n_images, last, target, weight, scratch)
        visits += walked
        similar = similar_pairs.indptr[u] < similar_pairs.indptr[u + 1]
        for j in range(similar_pairs.indptr[u], similar_pairs.indptr[u + 1]):
            c = similar_pairs.candidate[j]
            bonus[c] = similar_pairs.bonus[j]
            if similar_pairs.is_proposed[j] and cell[c, TOTAL] == 0:
                touched[n_touched] = c
                n_touched += 1
        if image[u] >= 0:
            y = image[u]
            summed = cell[y, TOTAL] + _silent(u, y, last, target, weight, scratch.mark)
            result.image_odds[u] = _value(base, unmapped, y, node, summed, spread) + bonus[y]
        ceiling = base - 0.5 * np.log(2 * np.pi * spread * (unmapped + 1.0))
        top, max_log_odds, mass = -np.inf, 0.0, 1.0  # mass: sum of the odds in units of exp(max_log_odds)
        min_bound = max(
            (low - ceiling) * GRID - 1.0, NEVER / 2
        )  # of the bound on the log-odds in excess of the ceiling
        for t in range(n_touched):
            c = touched[t]
            total, log_degree = cell[c, TOTAL], cell[c, LOG_DEGREE_FLOOR]
            cell[c, TOTAL] = 0
            shared = (total + (1 << (COUNT - 1))) >> COUNT
            bound = total - (shared << COUNT) - shared * log_degree + cell[c, BASE_CEILING]
            if silent > 0:
                bound += min(silent, cell[c, MAPPED_COUNT] - shared) * max(max_silent_weight - log_degree, 0)
            if (bound + bonus[c] * GRID if similar else bound) >= min_bound:
                v = _value(base, unmapped, c, node, total, spread) + bonus[c]
                if silent > 0:  # count silent images only if they can matter: reading their rows takes longest
                    max_gain = (
                        min(silent, cell[c, MAPPED_COUNT] - shared) * max(max_silent_weight - log_degree, 0) / GRID
                    )
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
        for j in range(similar_pairs.indptr[u], similar_pairs.indptr[u + 1]):
            bonus[similar_pairs.candidate[j]] = 0.0
        result.other_odds[u] = max_log_odds + np.log(mass)
    return visits


@inner
def _images(u: int, source: Rows, image: NDArray[np.int32], images: NDArray[np.int32]) -> int:
    """Write the images of the mapped neighbors of u; return their number."""
    n = 0
    for i in range(source.indptr[u], source.indptr[u + 1]):
        y = image[source.neighbor[i]]
        if y >= 0:
            images[n] = y
            n += 1
    return n


@inner
def _last_silent(n: int, images: NDArray[np.int32], indptr: NDArray[np.int64], reach: int) -> int:
    """Return the number of the last silent image: images with larger numbers propose candidates. -1: all propose.

    Nodes with equal degrees have adjacent numbers and are treated equally, so node numbers have no effect.
    """
    total, low, high = 0, len(indptr), 0
    for i in range(n):
        y = images[i]
        degree = indptr[y + 1] - indptr[y]
        total, low, high = total + degree, min(low, degree), max(high, degree)
    if total <= reach:
        return -1
    while high - low > 1:  # images of degree at most `low` propose; a degree of `high` exceeds the reach
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
    """Return the total degree of the images with at most `max_degree` neighbors."""
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
    """Add the weights of the proposing images, list their candidates, and mark the silent images.

    Return the number of candidates, the number of silent images, the largest silent weight, and the visits. The
    candidate with most witnesses becomes the first, so that bounds exclude most others.
    """
    indptr, neighbor, cell, touched = target.indptr, target.neighbor, scratch.cell, scratch.touched
    n, silent, max_silent_weight, visits, first = 0, 0, 0, 0, 0
    for i in range(n_images):
        y = scratch.images[i]
        w = weight[y]
        if y <= last:
            scratch.mark[y] = u
            silent += 1
            max_silent_weight = max(max_silent_weight, w - (1 << COUNT))
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
    return n, silent, max_silent_weight, visits


@inner
def _silent(u: int, c: int, last: int, target: Rows, weight: NDArray[np.int64], mark: NDArray[np.int32]) -> int:
    """Return the weight of the silent images next to c. They have the smallest numbers, at the front of the row."""
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
    variance = spread * (unmapped + node[c, UNMAPPED] + 1.0)
    gap = node[c, UNMAPPED] - unmapped
    fit = -0.5 * (gap * gap / variance + np.log(2 * np.pi * variance))
    return float(evidence - shared * node[c, LOG_DEGREE] + base + node[c, BASE] + fit)
