"""The loops of `Climb` and of its support: evidence of pairs, balance of rows and columns, nearest profiles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled
from unmask.graphs.attacks._rematch import _insert
from unmask.graphs.attacks._sides import Links

Leaders = tuple[NDArray[np.int32], NDArray[np.float32]]
"""(n, width) nodes and their values, best first, -1 and -inf where there are fewer."""

_SWEEPS = 20
_SLACK = np.exp(-60.0)  # what a row may leave out, so that it stays above 0 where its columns are full


@compiled
def evidence(
    source: Links, target: Links, pairs: Links, free: NDArray[np.bool_], weighted: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(n_pairs,) sum over neighbors x of u and y of c of weighted(x, y), for each pair (u, c) of free nodes u, else 0.

    weighted : (n_pairs,) 0 of what is no pair
    """
    first, candidate = pairs
    near, found = np.zeros(len(target[0]) - 1), np.zeros(len(candidate))
    for u in range(len(free)):
        if not free[u]:
            continue
        for x in source[1][source[0][u] : source[0][u + 1]]:
            for j in range(first[x], first[x + 1]):
                near[candidate[j]] += weighted[j]
        for j in range(first[u], first[u + 1]):
            c = candidate[j]
            for y in target[1][target[0][c] : target[0][c + 1]]:
                found[j] += near[y]
        for x in source[1][source[0][u] : source[0][u + 1]]:
            for j in range(first[x], first[x + 1]):
                near[candidate[j]] = 0.0
    return found


@compiled
def summed_gaps(first: NDArray[np.int64], told: NDArray[np.float64]) -> tuple[float, float]:
    """Sum over all pairs of (largest of the row - own)^2, and the largest of all."""
    total, largest = 0.0, 0.0
    for u in range(len(first) - 1):
        top = 0.0
        for j in range(first[u], first[u + 1]):
            top = max(top, told[j])
        for j in range(first[u], first[u + 1]):
            total += (top - told[j]) ** 2
        largest = max(largest, top)
    return total, largest


@compiled
def balanced(pairs: Links, logit: NDArray[np.float64], n_target: int) -> NDArray[np.float64]:
    """(n_pairs,) exp(logit) scaled so that columns sum to at most 1 and rows to 1, in turns; rows come last (Sinkhorn).

    With more nodes than candidates both cannot be: then the rows hold, and columns are full.
    """
    first, candidate = pairs
    mass, share, used = np.empty(len(candidate)), np.ones(n_target), np.zeros(n_target)
    for u in range(len(first) - 1):
        top = -np.inf
        for j in range(first[u], first[u + 1]):
            top = max(top, logit[j])
        for j in range(first[u], first[u + 1]):
            mass[j] = np.exp(logit[j] - top)
    for _ in range(_SWEEPS):
        used[:] = 0.0
        for u in range(len(first) - 1):
            total = _SLACK
            for j in range(first[u], first[u + 1]):
                total += mass[j] * share[candidate[j]]
            for j in range(first[u], first[u + 1]):
                used[candidate[j]] += mass[j] / total
        for c in range(n_target):
            share[c] = 1.0 / max(used[c], 1.0)
    for u in range(len(first) - 1):
        total = _SLACK
        for j in range(first[u], first[u + 1]):
            mass[j] *= share[candidate[j]]
            total += mass[j]
        for j in range(first[u], first[u + 1]):
            mass[j] /= total
    return mass


@compiled
def keep_nearest(alike: NDArray[np.float32], start: int, rows: Leaders, columns: Leaders) -> None:
    """Note the largest entries of each row and of each column; row i of `alike` is row start + i of the whole."""
    for i in range(alike.shape[0]):
        node, value = rows[0][start + i], rows[1][start + i]
        for c in range(alike.shape[1]):
            v = alike[i, c]
            if v > value[-1]:
                _insert(c, v, node, value)
            if v > columns[1][c, -1]:
                _insert(start + i, v, columns[0][c], columns[1][c])
