"""Compiled loops of `Climb` and of its support: steps of the climb, nearest profiles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled, inner
from unmask.graphs.attacks._loops import insert
from unmask.graphs.attacks._structs import Unsigned

Leaders = tuple[NDArray[np.int32], NDArray[np.float32]]
"""(n, width) nodes and (n, width) values, largest first, padded with -1 and -inf."""

_SWEEPS = 20
_SLACK = np.exp(-60.0)  # share of a row that may stay unassigned, which keeps rows positive if all columns are full
_TIE = 1e-5  # relative to the largest score of a row: smaller differences are rounding errors


class Pairs(NamedTuple):
    """Pairs of a support that the climb has not dropped, stored at the front of the arrays.

    indptr   : (n_source + 1,) the pairs of source node u are the entries indptr[u]..indptr[u + 1]
    free     : (n_source,) True for source nodes that are not seeds
    position : (n_pairs,) initial position of the pair
    share, distance, mass : (n_pairs,) P; the largest H of the row minus H; Q
    prior    : (n_pairs,) l / scale
    """

    indptr: NDArray[np.uint64]
    free: NDArray[np.bool_]
    candidate: NDArray[np.uint32]
    position: NDArray[np.uint32]
    share: NDArray[np.float32]
    distance: NDArray[np.float32]
    mass: NDArray[np.float32]
    prior: NDArray[np.float32]


class Factors(NamedTuple):
    """Factors of nodes, and scratch arrays.

    source, target   : d^-gamma
    weight           : (n_target,) w
    near, used, room : (n_target,) scratch; near is 0 between two rows
    """

    source: NDArray[np.float32]
    target: NDArray[np.float32]
    weight: NDArray[np.float64]
    near: NDArray[np.float64]
    used: NDArray[np.float64]
    room: NDArray[np.float64]


@compiled
def climb(
    source: Unsigned, target: Unsigned, pairs: Pairs, factors: Factors, schedule: NDArray[np.float64], cut_share: float
) -> None:
    """Move the shares step by step towards the assignment that preserves most edges.

    source, target : one row for each node, or two for directed graphs, see `directed_rows`
    schedule       : (n_steps, 3) factor of the scores, step length, and 1 if small shares are dropped after the step
    """
    n_pairs, lost = 0.0, 0.0
    for u in range(len(pairs.free)):
        if pairs.free[u]:
            n_pairs += pairs.indptr[u + 1] - pairs.indptr[u]
    for step in range(len(schedule)):
        bold, length, cut = schedule[step, 0], schedule[step, 1], schedule[step, 2]
        spread = np.sqrt((_score(source, target, pairs, factors) + lost) / max(n_pairs, 1.0))
        _exponentiate(pairs, np.float32(-bold / spread if spread > 0 else 0.0), np.float32(bold))
        _balance(pairs, factors)
        part = np.float32(length)
        for j in range(pairs.indptr[-1]):
            pairs.share[j] += part * (pairs.mass[j] - pairs.share[j])
        if cut:
            lost += _drop(pairs, np.float32(cut_share))


@compiled
def balance(pairs: Pairs, factors: Factors) -> None:
    """Write the initial shares: exp(prior), balanced."""
    _exponentiate(pairs, np.float32(0.0), np.float32(1.0))
    _balance(pairs, factors)
    for j in range(pairs.indptr[-1]):
        pairs.share[j] = pairs.mass[j]


@inner
def _score(source: Unsigned, target: Unsigned, pairs: Pairs, factors: Factors) -> float:
    """Write the distances of the rows of free nodes; return the sum of their squares."""
    (indptr, neighbor), (indptr_target, neighbor_target) = source, target
    first, near, squares = pairs.indptr, factors.near, 0.0
    kinds = (len(indptr) - 1) // len(pairs.free)
    for u in range(len(pairs.free)):
        if not pairs.free[u]:
            continue
        start, stop = first[u], first[u + 1]
        for j in range(start, stop):
            pairs.distance[j] = 0.0
        for kind in range(kinds):
            row = kinds * u + kind
            for i in range(indptr[row], indptr[row + 1]):
                for j in range(first[neighbor[i]], first[neighbor[i] + 1]):
                    c = pairs.candidate[j]
                    near[c] += pairs.share[j] * factors.weight[c]
            for j in range(start, stop):
                total, row_target = 0.0, kinds * pairs.candidate[j] + kind
                for i in range(indptr_target[row_target], indptr_target[row_target + 1]):
                    total += near[neighbor_target[i]]
                pairs.distance[j] += total
            for i in range(indptr[row], indptr[row + 1]):
                for j in range(first[neighbor[i]], first[neighbor[i] + 1]):
                    near[pairs.candidate[j]] = 0.0
        row_max = 0.0
        for j in range(start, stop):
            pairs.distance[j] *= factors.source[u] * factors.target[pairs.candidate[j]]
            row_max = max(row_max, pairs.distance[j])
        for j in range(start, stop):
            pairs.distance[j] = row_max - pairs.distance[j]
            if pairs.distance[j] < _TIE * row_max:
                pairs.distance[j] = 0.0
            squares += pairs.distance[j] * pairs.distance[j]
    return squares


@inner
def _exponentiate(pairs: Pairs, slope: np.float32, bold: np.float32) -> None:
    """Write exp(slope distance + bold prior), scaled so that the largest mass of a row is 1."""
    for u in range(len(pairs.free)):
        row_max = -np.float32(np.inf)
        for j in range(pairs.indptr[u], pairs.indptr[u + 1]):
            pairs.mass[j] = slope * pairs.distance[j] + bold * pairs.prior[j]
            row_max = max(row_max, pairs.mass[j])
        for j in range(pairs.indptr[u], pairs.indptr[u + 1]):
            pairs.mass[j] = np.exp(pairs.mass[j] - row_max)


@inner
def _balance(pairs: Pairs, factors: Factors) -> None:
    """Scale masses alternately so that columns sum to at most 1 and rows to 1 (Sinkhorn); the last scaling is of
    rows.
    """
    first, candidate, mass, room, used = pairs.indptr, pairs.candidate, pairs.mass, factors.room, factors.used
    for c in range(len(room)):
        room[c] = 1.0
    for _ in range(_SWEEPS):
        for c in range(len(used)):
            used[c] = 0.0
        for u in range(len(first) - 1):
            total = _SLACK
            for j in range(first[u], first[u + 1]):
                total += mass[j] * room[candidate[j]]
            scale = 1.0 / total
            for j in range(first[u], first[u + 1]):
                used[candidate[j]] += mass[j] * scale
        for c in range(len(used)):
            room[c] = 1.0 / max(used[c], 1.0)
    for u in range(len(first) - 1):
        total = _SLACK
        for j in range(first[u], first[u + 1]):
            mass[j] *= room[candidate[j]]
            total += mass[j]
        for j in range(first[u], first[u + 1]):
            mass[j] /= total


@inner
def _drop(pairs: Pairs, cut_share: np.float32) -> float:
    """Drop pairs with less than `cut_share` of the largest share of the row; return the sum of squared distances."""
    first, n_kept, start, lost = pairs.indptr, np.uint64(0), np.uint64(0), 0.0
    for u in range(len(first) - 1):
        stop, row_max = first[u + 1], np.float32(0.0)
        for j in range(start, stop):
            row_max = max(row_max, pairs.share[j])
        for j in range(start, stop):
            if pairs.share[j] < cut_share * row_max:
                lost += pairs.distance[j] * pairs.distance[j]
                continue
            pairs.candidate[n_kept], pairs.position[n_kept] = pairs.candidate[j], pairs.position[j]
            pairs.share[n_kept], pairs.prior[n_kept] = pairs.share[j], pairs.prior[j]
            n_kept += np.uint64(1)
        start, first[u + 1] = stop, n_kept
    return lost


@compiled
def keep_nearest(alike: NDArray[np.float32], start: int, rows: Leaders, columns: Leaders) -> None:
    """Update the largest entries of each row and column; row i of `alike` is row start + i of the full matrix."""
    (node, value), (node_back, value_back) = rows, columns
    last, last_back = value.shape[1] - 1, value_back.shape[1] - 1
    for i in range(alike.shape[0]):
        u = start + i
        for c in range(alike.shape[1]):
            v = alike[i, c]
            if v > value[u, last]:
                insert(c, v, u, node, value)
            if v > value_back[c, last_back]:
                insert(u, v, c, node_back, value_back)
