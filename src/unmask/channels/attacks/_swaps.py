"""Swaps of the candidates of two targets, compiled. Import this module in the function that runs it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@compiled
def swap_candidates(W: Floats, match: Ints, first: Ints, second: Ints, draw: Floats, every: int, count: Floats) -> None:
    """Propose a swap for each pair of targets, and count the matching after each `every` proposals.

    match : (n,) candidate of each target, changed in place
    first, second, draw : (n_proposals,) targets, and numbers in [0, 1) by which a swap is accepted
    count : (n, n), to which the matchings are added
    """
    for step in range(len(first)):
        i, k = first[step], second[step]
        a, b = match[i], match[k]
        if draw[step] * W[i, a] * W[k, b] < W[i, b] * W[k, a]:
            match[i], match[k] = b, a
        if (step + 1) % every == 0:
            for row in range(len(match)):
                count[row, match[row]] += 1.0
