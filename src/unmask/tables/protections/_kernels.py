"""Compiled loops of tables: swapping of neighbors, merging of classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled


@compiled
def swapped(width: int, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return (n,) the swap partner of each of n sorted positions; a position without a partner keeps its place.

    In order, each free position swaps with a free one among the `width` next, drawn uniformly.

    uniform : (n, n_tries + 1) draws from [0, 1). The first n_tries draw a position that may be taken; the last draws
        among the free positions.
    """
    n, n_tries = uniform.shape[0], uniform.shape[1] - 1
    partner = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        if partner[i] >= 0:
            continue
        ahead = min(width, n - 1 - i)
        chosen = -1
        for t in range(n_tries):
            j = i + 1 + int(uniform[i, t] * ahead)
            if ahead > 0 and partner[j] < 0:
                chosen = j
                break
        if chosen < 0:
            wanted = int(uniform[i, n_tries] * np.sum(partner[i + 1 : i + 1 + ahead] < 0))
            for j in range(i + 1, i + 1 + ahead):
                if partner[j] < 0:
                    if wanted == 0:
                        chosen = j
                        break
                    wanted -= 1
        partner[i] = i
        if chosen >= 0:
            partner[i], partner[chosen] = chosen, i
    return partner


@compiled
def merged(key: NDArray[np.int64], bits: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(n,) number of each key, in the order in which keys first occur, and (J,) where each occurs first.

    bits : of the table that keys are looked up in, 2^bits entries: more than there are keys. A taken place is followed
           by the next one.
    """
    n, mask, used = len(key), (1 << bits) - 1, 0
    place = np.full(1 << bits, -1, dtype=np.int32)
    owner = np.empty(n, dtype=np.int32)
    first = np.empty(n, dtype=np.int64)
    for i in range(n):
        position = np.int64((np.uint64(key[i]) * np.uint64(11400714819323198485)) >> np.uint64(64 - bits))
        while place[position] >= 0 and key[first[place[position]]] != key[i]:
            position = (position + 1) & mask
        if place[position] < 0:
            place[position] = used
            first[used] = i
            used += 1
        owner[i] = place[position]
    return owner, first[:used].copy()
