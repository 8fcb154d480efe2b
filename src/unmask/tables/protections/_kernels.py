"""Compiled loops of table protections: partners of rank swapping, and numbers of keys."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import allocating
from unmask.core.arrays import Floats, Integers


@allocating
def choose_swap_partners(width: int, uniform: Floats) -> Integers:
    """Return (n,) the swap partner of each of n sorted positions; a position without a partner is its own.

    In order, each free position swaps with a random free position among the next `width` positions.

    uniform : (n, n_tries + 1) random numbers from [0, 1). The first n_tries draw a position, which may be taken; the
        last one draws among the free positions.
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
            n_skipped = int(uniform[i, n_tries] * np.sum(partner[i + 1 : i + 1 + ahead] < 0))
            for j in range(i + 1, i + 1 + ahead):
                if partner[j] < 0:
                    if n_skipped == 0:
                        chosen = j
                        break
                    n_skipped -= 1
        partner[i] = i
        if chosen >= 0:
            partner[i], partner[chosen] = chosen, i
    return partner


@allocating
def number_keys(key: Integers, bits: int) -> tuple[NDArray[np.int32], Integers]:
    """Return (n,) the number of each key, in the order of first occurrence, and (J,) the first position of each.

    bits : the hash table has 2^bits entries, more than the number of keys. Collisions go to the next free entry.
    """
    n, mask, n_numbers = len(key), (1 << bits) - 1, 0
    place = np.full(1 << bits, -1, dtype=np.int32)
    number = np.empty(n, dtype=np.int32)
    first = np.empty(n, dtype=np.int64)
    for i in range(n):
        position = np.int64((np.uint64(key[i]) * np.uint64(11400714819323198485)) >> np.uint64(64 - bits))
        while place[position] >= 0 and key[first[place[position]]] != key[i]:
            position = (position + 1) & mask
        if place[position] < 0:
            place[position] = n_numbers
            first[n_numbers] = i
            n_numbers += 1
        number[i] = place[position]
    return number, first[:n_numbers].copy()
