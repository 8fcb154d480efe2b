"""What samples of a system say of its leakage: corrected for what chance shows, with a test that nothing leaks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.errors import UnmaskError


class CountedInformation(NamedTuple):
    """The leakage I(X; Y) in bits that samples show.

    counted   : of the shares of the counts; too high on average, the more so the fewer samples a cell has
    by_chance : the mean of the same where the outputs are dealt out again at random, so that nothing leaks
    corrected : counted - by_chance, cut at 0. Where much leaks, chance adds less than by_chance and the correction is
                too large: as a rule the truth lies between `corrected` and `counted`
    p_value   : how often chance shows at least as much, (1 + number of such deals) / (1 + deals): valid whatever the
                counts. Above 0.05 the samples do not show that anything leaks, which is no proof that nothing does
    n         : samples
    """

    counted: float
    by_chance: float
    corrected: float
    p_value: float
    n: int


def counted_information(counts: ArrayLike, *, rng: np.random.Generator, deals: int = 199) -> CountedInformation:
    """The leakage of a system from counts (n_x, n_y) of secret and output, with a permutation test that nothing leaks.

    deals : times that the outputs are dealt out to the secrets at random, both margins kept

    >>> found = counted_information(np.array([[30, 10], [10, 30]]), rng=np.random.default_rng(0))
    >>> round(found.counted, 3), found.by_chance < 0.02, found.p_value
    (0.189, True, 0.005)

    T. Chothia, Y. Kawamoto, C. Novakovic, "LeakWatch: estimating information leakage from Java programs", ESORICS 2014;
    for the test E. J. G. Pitman, "Significance tests which may be applied to samples from any populations", 1937.
    """
    table = np.asarray(counts)
    if table.ndim != 2 or not table.size or np.any(table < 0) or np.any(table % 1) or not table.sum():
        raise UnmaskError("the counts must be a table of secrets x outputs of whole numbers from 0 on, not all 0")
    table = table.astype(np.int64)
    x, y = np.nonzero(table)
    x, y = np.repeat(x, table[x, y]), np.repeat(y, table[x, y])
    counted = _bits(table)
    dealt = []
    for _ in range(deals):
        cell = x * table.shape[1] + rng.permutation(y)
        dealt.append(_bits(np.bincount(cell, minlength=table.size).reshape(table.shape)))
    reached = 1 + sum(value >= counted - 1e-12 for value in dealt)
    chance = float(np.mean(dealt)) if dealt else 0.0
    return CountedInformation(counted, chance, max(counted - chance, 0.0), reached / (1 + deals), len(x))


def _bits(table: NDArray[np.int64]) -> float:
    """I(X; Y) of the shares, in bits."""
    x, y = np.nonzero(table)
    p = table[x, y] / table.sum()
    apart = table.sum(axis=1)[x] * (table.sum(axis=0)[y] / table.sum() ** 2)
    return max(float(p @ np.log2(p / apart)), 0.0)
