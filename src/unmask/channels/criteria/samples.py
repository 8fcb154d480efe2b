"""Leakage of a system from samples, corrected for chance, and the error of attacks that learn from samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels._matrices import Ints
from unmask.channels.attacks.learning import FrequencyAttack, NearestNeighborAttack, Samples, as_points
from unmask.core.errors import UnmaskError
from unmask.core.truth import Truth
from unmask.measures.interval import wilson
from unmask.measures.success import realized_success

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
    permuted = [  # one at a time: tables may be large
        _information_bits(margins.rvs(method="patefield").astype(np.int64))[0] for _ in range(permutations)
    ]
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


class LearnedRisk(NamedTuple):
    """The error of a learned attack on fresh samples.

    Parameters
    ----------
    held_out : float
        Share of fresh samples with a wrong guess. An upper bound on R*, the error of the best attack, on average.
    low, high : float
        95 % Wilson interval of `held_out` over fresh samples, for this trained attack.
    cover_hart : float
        Lower bound on R* at `low`, see `cover_hart_bound`. 0 unless the attack is the nearest neighbor, k = 1.
    unseen : float
        Share of fresh samples whose output was never seen in training.
    n : int
        Fresh samples.
    """

    held_out: float
    low: float
    high: float
    cover_hart: float
    unseen: float
    n: int


def learned_risk(attack: FrequencyAttack | NearestNeighborAttack, trained: Samples, fresh: Samples) -> LearnedRisk:
    """Measure the error of an attack that learned from samples on fresh samples.

    Candidates of equal score share their probability. R* <= E held_out always. Training samples in the place of fresh
    ones would give the error by resubstitution, which is too low.

    Parameters
    ----------
    attack : FrequencyAttack or NearestNeighborAttack
        The attack.
    trained : Samples
        Its knowledge.
    fresh : Samples
        Other samples of the system.

    Returns
    -------
    LearnedRisk
        The error and its interval.

    References
    ----------
    E. B. Wilson, JASA 1927; T. M. Cover & P. E. Hart, "Nearest neighbor pattern classification", 1967.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 2, 4000)
    >>> y = np.where(rng.random(4000) < 0.2, 1 - x, x)
    >>> trained, fresh = Samples(x[:2000], y[:2000], n_x=2, n_y=2), Samples(x[2000:], y[2000:], n_x=2, n_y=2)
    >>> risk = learned_risk(FrequencyAttack(), trained, fresh)
    >>> risk.low < 0.2 < risk.high
    True
    """
    belief = attack(fresh.y, trained)  # type: ignore[arg-type]  # each attack checks its own outputs
    assert realized_success.realized is not None
    rate = 1.0 - float(realized_success.realized(belief, Truth(fresh.x)).mean())
    low, high = wilson(rate, len(fresh))
    is_nearest = isinstance(attack, NearestNeighborAttack) and attack.k == 1 and attack.smoothing == 0
    outputs = np.concatenate([as_points(trained.y), as_points(fresh.y)])
    number = np.unique(outputs, axis=0, return_inverse=True)[1].ravel()
    unseen = ~np.isin(number[len(trained) :], number[: len(trained)])
    return LearnedRisk(
        held_out=rate,
        low=low,
        high=high,
        cover_hart=cover_hart_bound(low, n_x=trained.n_x) if is_nearest else 0.0,
        unseen=float(unseen.mean()),
        n=len(fresh),
    )


def cover_hart_bound(nearest_neighbor_error: float, *, n_x: int) -> float:
    """Compute a lower bound on the Bayes risk R* from the error R of the nearest-neighbor rule with M secrets.

    R* >= (M - 1) / M [1 - sqrt(1 - M R / (M - 1))], the inverse of R <= R* (2 - M R* / (M - 1)). It holds in the limit
    of many samples; with few samples R, and so the bound, may be too high. R is cut at (M - 1) / M.

    Parameters
    ----------
    nearest_neighbor_error : float
        R.
    n_x : int
        M.

    Returns
    -------
    float
        The bound.

    Raises
    ------
    UnmaskError
        If R is not a probability, or M is below 2.

    References
    ----------
    T. M. Cover & P. E. Hart, "Nearest neighbor pattern classification", IEEE Trans. Inf. Theory 1967, theorem 1.

    Examples
    --------
    >>> round(cover_hart_bound(0.5, n_x=2), 4), round(cover_hart_bound(0.18, n_x=2), 4)
    (0.5, 0.1)
    """
    if n_x < 2 or not 0 <= nearest_neighbor_error <= 1:
        raise UnmaskError(f"the error is {nearest_neighbor_error} with {n_x} secrets, expected 0..1 and at least 2")
    guessing = (n_x - 1) / n_x
    return float(guessing * (1.0 - np.sqrt(max(0.0, 1.0 - nearest_neighbor_error / guessing))))
