"""Leakage of a system from samples, corrected for chance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels._matrices import Ints
from unmask.core.errors import UnmaskError

BITS_TIE = 1e-12
"""Bits within which a permutation leaks as much as the counts."""


class CountedInformation(NamedTuple):
    """The leakage I(X; Y) in bits, estimated from samples.

    Parameters
    ----------
    counted : float
        Leakage of the shares of the counts. Too high on average, the more so the fewer samples a cell has.
    by_chance : float
        Mean leakage of random permutations of the outputs, under which nothing leaks.
    corrected : float
        counted - by_chance, at least 0. The true leakage usually lies between `corrected` and `counted`.
    low, high : float
        95 % interval: `corrected` minus, and the correction of Miller and Madow plus, 1.96 standard errors of the
        counts and the permutations.
    p_value : float
        (1 + permutations that leak at least as much) / (1 + permutations), valid for any counts. A value above 0.05 is
        not a proof that nothing leaks.
    n : int
        Samples.
    """

    counted: float
    by_chance: float
    corrected: float
    low: float
    high: float
    p_value: float
    n: int


def counted_information(counts: ArrayLike, *, rng: np.random.Generator, permutations: int = 199) -> CountedInformation:
    """Estimate the leakage of a system from counts of secret and output, with a permutation test that nothing leaks.

    Parameters
    ----------
    counts : (n_x, n_y) array
        Samples of each secret and output.
    rng : numpy.random.Generator
        Permutes the outputs.
    permutations : int
        Number of random tables with the same margins.

    Returns
    -------
    CountedInformation
        The leakage, its interval and the p-value.

    Raises
    ------
    UnmaskError
        If the counts are not whole numbers from 0 on, or all are 0.

    References
    ----------
    T. Chothia, Y. Kawamoto, C. Novakovic, "LeakWatch: estimating information leakage from Java programs", ESORICS 2014;
    for the test E. J. G. Pitman, "Significance tests which may be applied to samples from any populations", 1937.

    Examples
    --------
    >>> leakage = counted_information(np.array([[30, 10], [10, 30]]), rng=np.random.default_rng(0))
    >>> round(leakage.counted, 3), leakage.by_chance < 0.02, leakage.p_value
    (0.189, True, 0.005)
    """
    from scipy.stats import random_table  # not at the top: slow to load

    table = np.asarray(counts)
    if table.ndim != 2 or not table.size or np.any(table < 0) or np.any(table % 1) or not table.sum():
        raise UnmaskError("the counts must be a table of secrets x outputs of whole numbers from 0 on, not all 0")
    table = table.astype(np.int64)
    (counted, variance), n = _information_bits(table), int(table.sum())
    margins = random_table(table.sum(axis=1), table.sum(axis=0), seed=rng)
    tables = (margins.rvs().astype(np.int64) for _ in range(permutations))  # one at a time: they may be large
    permuted = [_information_bits(item)[0] for item in tables]
    reached = 1 + sum(value >= counted - BITS_TIE for value in permuted)
    chance = float(np.mean(permuted)) if permuted else 0.0
    corrected = max(counted - chance, 0.0)
    reach = 1.96 * float(np.sqrt(variance + (np.var(permuted) if permuted else 0.0)))
    occupied = np.count_nonzero(table) - sum(np.count_nonzero(table.sum(axis=axis)) for axis in (0, 1)) + 1
    miller_madow = float(max(counted - max(occupied, 0) / (2 * np.log(2) * n), corrected))
    low, high = max(corrected - reach, 0.0), miller_madow + reach
    return CountedInformation(counted, chance, corrected, low, high, reached / (1 + permutations), n)


def _information_bits(table: Ints) -> tuple[float, float]:
    """Return I(X; Y) of the shares in bits, and its variance by the delta method."""
    x, y = np.nonzero(table)
    n, p = table.sum(), table[x, y] / table.sum()
    bits = np.log2(p / (table.sum(axis=1)[x] * (table.sum(axis=0)[y] / n**2)))
    information = max(float(p @ bits), 0.0)
    return information, max(float(p @ bits**2) - information**2, 0.0) / float(n)
