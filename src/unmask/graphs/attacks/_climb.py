"""The loops of `Climb` and of its support: evidence of pairs, nearest profiles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled
from unmask.graphs.attacks._loops import insert
from unmask.graphs.attacks._sides import Unsigned

Leaders = tuple[NDArray[np.int32], NDArray[np.float32]]
"""(n, width) nodes and their values, best first, -1 and -inf where there are fewer."""


_SWEEPS = 20
_SLACK = np.exp(-60.0)  # what a row may leave out, so that it stays above 0 where its columns are full


@compiled
def evidence(
    source: Unsigned,
    target: Unsigned,
    pairs: Unsigned,
    free: NDArray[np.bool_],
    weighted: NDArray[np.float64],
    near: NDArray[np.float64],
    found: NDArray[np.float64],
) -> None:
    """Add, to each pair (u, c) of a free node u, the sum over neighbors x of u and y of c of weighted(x, y).

    weighted : (n_pairs,) 0 of what is no pair; near : (n_target,) 0
    """
    (indptr, neighbor), (indptr_there, neighbor_there), (first, candidate) = source, target, pairs
    for u in range(len(free)):
        if not free[u]:
            continue
        for i in range(indptr[u], indptr[u + 1]):
            x = neighbor[i]
            for j in range(first[x], first[x + 1]):
                near[candidate[j]] += weighted[j]
        for j in range(first[u], first[u + 1]):
            c = candidate[j]
            total = found[j]
            for i in range(indptr_there[c], indptr_there[c + 1]):
                total += near[neighbor_there[i]]
            found[j] = total
        for i in range(indptr[u], indptr[u + 1]):
            x = neighbor[i]
            for j in range(first[x], first[x + 1]):
                near[candidate[j]] = 0.0


@compiled
def balance(
    first: NDArray[np.uint64],
    candidate: NDArray[np.uint32],
    mass: NDArray[np.float64],
    share: NDArray[np.float64],
    used: NDArray[np.float64],
) -> None:
    """Scale the masses of pairs so that columns sum to at most 1 and rows to 1, in turns; rows come last.

    share, used : (n_target,) what is left of each column, at first 1, and what rows ask of it
    """
    for sweep in range(_SWEEPS + 1):
        used[:] = 0.0
        for u in range(len(first) - 1):
            total = _SLACK
            for j in range(first[u], first[u + 1]):
                total += mass[j] * share[candidate[j]]
            for j in range(first[u], first[u + 1]):
                if sweep < _SWEEPS:
                    used[candidate[j]] += mass[j] / total
                else:
                    mass[j] = mass[j] * share[candidate[j]] / total
        for c in range(len(used)):
            share[c] = 1.0 / max(used[c], 1.0)


@compiled
def keep_nearest(alike: NDArray[np.float32], start: int, rows: Leaders, columns: Leaders) -> None:
    """Note the largest entries of each row and of each column; row i of `alike` is row start + i of the whole."""
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
