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

LOWEST = NEVER / GRID / 4
"""Log-odds below those of every candidate that can be chosen, and above those of all others."""

COUNT = 40
"""Number of low bits of an int64 that hold the sum of weights. The high bits count witnesses in the same addition."""


class Sources(NamedTuple):
    """The source nodes.

    indptr, image : (n + 1,) and (n_images,) images of the mapped neighbors of each node
    base          : (n,) terms of the log-odds that depend on this node only; nan for seeds, which are not matched
    unmapped      : (n,) number of unmapped neighbors, scaled to the target
    """

    indptr: NDArray[np.int64]
    image: NDArray[np.int32]
    base: NDArray[np.float64]
    unmapped: NDArray[np.float64]


class Targets(NamedTuple):
    """The target graph in compressed rows, ascending, with the terms of its nodes.

    indptr, neighbor : (n + 1,) and (2 n_edges,)
    node             : (n, 3) terms of each node, stored together because they are read together. Columns: terms of the
                       log-odds that depend on this node only (nan for seeds, which are no candidates); number of
                       unmapped neighbors; log degree
    weight           : (n,) weight as the image of a witness, in units of 1 / GRID, plus 1 << COUNT
    """

    indptr: NDArray[np.int64]
    neighbor: NDArray[np.int32]
    node: NDArray[np.float64]
    weight: NDArray[np.int64]


BASE, UNMAPPED, LOG_DEGREE = range(3)
"""Columns of `Targets.node`."""

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
    touched : (n_target + 1,) candidates of the source node
    bonus   : (n_target,) 0 between two source nodes
    """

    cell: NDArray[np.int64]
    mark: NDArray[np.int32]
    touched: NDArray[np.int32]
    bonus: NDArray[np.float64]

    @classmethod
    def for_nodes(cls, node: NDArray[np.float64], n_mapped: NDArray[np.int64]) -> Scratch:
        """Return scratch memory for the terms of the target nodes and their numbers of mapped neighbors."""
        n, cell = len(node), np.zeros((len(node), 4), dtype=np.int64)
        cell[:, BASE_CEILING] = np.ceil(np.where(np.isnan(node[:, BASE]), NEVER / GRID, node[:, BASE]) * GRID)
        cell[:, LOG_DEGREE_FLOOR], cell[:, MAPPED_COUNT] = np.floor(node[:, LOG_DEGREE] * GRID), n_mapped
        return cls(cell, np.full(n, -1, dtype=np.int32), np.empty(n + 1, dtype=np.int32), np.zeros(n))


@compiled
def score_candidates(
    sources: Sources,
    targets: Targets,
    similar_pairs: SimilarPairs,
    image: NDArray[np.int32],
    spread: float,
    reach: int,
    low: float,
    scratch: Scratch,
    best: Best,
) -> int:
    """Score the candidates of each source node and write the best ones of at least `low`; return the visits.

    Witnesses of node u and candidate c are mapped neighbors of u whose image is a neighbor of c. For w witnesses,

        log-odds = sum of weight / GRID - w log degree_c + base_u + base_c + log normal density of (rest_c - rest_u)

    with variance spread (rest_u + rest_c + 1), plus the similarity terms. `rest` is the number of unmapped neighbors.
    Target nodes are numbered by descending degree.

    image : (n_source,) int32, target node of each source node, -1 if unmapped
    """
    first, images, base, unmapped = sources
    indptr, neighbor, node, weight = targets
    first_similar, similar, similar_bonus, is_proposed = similar_pairs
    cell, mark, touched, bonus = scratch
    candidate, value, image_odds, other_odds = best
    last_kept, visits = value.shape[1] - 1, 0
    for u in range(len(image)):
        own_base, own_unmapped, own_image, start, stop = base[u], unmapped[u], image[u], first[u], first[u + 1]
        if np.isnan(own_base):
            continue
        last = _last_silent(images, start, stop, indptr, reach)
        # add the weights of the proposing images, list their candidates, and mark the silent images
        n_touched, silent, max_silent_weight = 0, 0, 0
        for i in range(start, stop):
            y = images[i]
            w = weight[y]
            if y <= last:
                mark[y] = u
                silent += 1
                if w - (1 << COUNT) > max_silent_weight:
                    max_silent_weight = w - (1 << COUNT)
                continue
            begin, end = indptr[y], indptr[y + 1]
            visits += end - begin
            for j in range(np.uint64(begin), np.uint64(end)):  # as in `list_marked_pairs`
                c = np.uint32(neighbor[j])
                partial = cell[c, TOTAL]
                touched[np.uint64(n_touched)] = c
                n_touched += partial == 0
                cell[c, TOTAL] = partial + w
        # the candidate with most witnesses becomes the first, so that bounds exclude most others
        strongest, max_total = 0, 0
        for t in range(n_touched):
            total = cell[touched[t], TOTAL]
            if total > max_total:
                strongest, max_total = t, total
        touched[0], touched[strongest] = touched[strongest], touched[0]
        begin, end = first_similar[u], first_similar[u + 1]
        for j in range(begin, end):
            c = similar[j]
            bonus[c] = similar_bonus[j]
            if is_proposed[j] & (cell[c, TOTAL] == 0):
                touched[n_touched] = c
                n_touched += 1
        if own_image >= 0:
            total = cell[own_image, TOTAL] + _silent(u, own_image, last, indptr, neighbor, weight, mark)
            image_odds[u] = _value(own_base, own_unmapped, own_image, node, total, spread) + bonus[own_image]
        ceiling = own_base - 0.5 * np.log(2 * np.pi * spread * (own_unmapped + 1.0))
        min_value, min_bound = low, (low - ceiling) * GRID - 1.0  # of log-odds, and of a bound in excess of the ceiling
        max_log_odds, mass = 0.0, 1.0  # mass: sum of the odds in units of exp(max_log_odds)
        for t in range(n_touched):
            c = touched[t]
            total, log_degree = cell[c, TOTAL], cell[c, LOG_DEGREE_FLOOR]
            cell[c, TOTAL] = 0
            shared = (total + (1 << (COUNT - 1))) >> COUNT
            bound = total - (shared << COUNT) - shared * log_degree + cell[c, BASE_CEILING]
            max_gain = 0
            if max_silent_weight > log_degree:
                n_other = cell[c, MAPPED_COUNT] - shared
                max_gain = (n_other if n_other < silent else silent) * (max_silent_weight - log_degree)
                bound += max_gain
            if begin < end:
                bound += bonus[c] * GRID
            if bound >= min_bound:
                v = _value(own_base, own_unmapped, c, node, total, spread) + bonus[c]
                if silent > 0:  # count silent images only if they can matter: reading their rows takes longest
                    if v + max_gain / GRID < min_value - 1e-6:
                        continue
                    total += _silent(u, c, last, indptr, neighbor, weight, mark)
                    v = _value(own_base, own_unmapped, c, node, total, spread) + bonus[c]
                if (v >= low) & (v > value[u, last_kept]):
                    insert(c, v, u, candidate, value)
                if v - NEGLIGIBLE > min_value:
                    min_value = v - NEGLIGIBLE
                    min_bound = (min_value - ceiling) * GRID - 1.0
                if (c == own_image) | (v < low):
                    pass
                elif v > max_log_odds:
                    mass, max_log_odds = mass * np.exp(max_log_odds - v) + 1.0, v
                else:
                    mass += np.exp(v - max_log_odds)
        for j in range(begin, end):
            bonus[similar[j]] = 0.0
        other_odds[u] = max_log_odds + np.log(mass)
    return visits


@inner
def _last_silent(images: NDArray[np.int32], start: int, stop: int, indptr: NDArray[np.int64], reach: int) -> int:
    """Return the number of the last silent image: images with larger numbers propose candidates. -1: all propose.

    Nodes with equal degrees have adjacent numbers and are treated equally, so node numbers have no effect.
    """
    total, low, high = 0, len(indptr), 0
    for i in range(start, stop):
        y = images[i]
        degree = indptr[y + 1] - indptr[y]
        total += degree
        low, high = (degree if degree < low else low), (degree if degree > high else high)
    if total <= reach:
        return -1
    while high - low > 1:  # images of degree at most `low` propose; a degree of `high` exceeds the reach
        middle, total = (low + high) // 2, 0
        for i in range(start, stop):
            y = images[i]
            degree = indptr[y + 1] - indptr[y]
            total += degree if degree <= middle else 0
        if total <= reach:
            low = middle
        else:
            high = middle
    last = -1
    for i in range(start, stop):
        y = images[i]
        if (indptr[y + 1] - indptr[y] > low) & (y > last):
            last = y
    return last


@inner
def _silent(
    u: int,
    c: int,
    last: int,
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    weight: NDArray[np.int64],
    mark: NDArray[np.int32],
) -> int:
    """Return the weight of the silent images next to c. They have the smallest numbers, at the front of the row."""
    total = 0
    for j in range(indptr[c], indptr[c + 1]):
        y = neighbor[j]
        if y > last:
            break
        if mark[y] == u:
            total += weight[y]
    return total


@inner
def _value(base: float, unmapped: float, c: int, node: NDArray[np.float64], total: int, spread: float) -> float:
    """Return the log-odds of candidate c, with the sum of the weights of its witnesses and their number in `total`."""
    shared = (total + (1 << (COUNT - 1))) >> COUNT
    evidence = (total - (shared << COUNT)) / GRID
    variance = spread * (unmapped + node[c, UNMAPPED] + 1.0)
    gap = node[c, UNMAPPED] - unmapped
    fit = -0.5 * (gap * gap / variance + np.log(2 * np.pi * variance))
    return float(evidence - shared * node[c, LOG_DEGREE] + base + node[c, BASE] + fit)
