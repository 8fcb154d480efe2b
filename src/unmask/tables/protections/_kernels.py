"""Compiled loop of table protections: partners of rank swapping."""

from __future__ import annotations

import numpy as np

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
