"""95 % intervals of means over targets, with the population that they refer to.

If everybody is attacked, the mean is exact for this release and has no interval (`of_targets`). If targets are drawn
from n people, the interval is for the mean over all n. If a person has several values, the interval is over persons
(`clustered_wilson`, `clustered_bootstrap`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, floor, inf, sqrt
from typing import NamedTuple

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import dot
from unmask.core.errors import UnmaskError
from unmask.core.tolerances import COUNT_ROUNDING, VALUE_TIE

Z95 = 1.959963984540054
RESAMPLES = 1000
GROUPS = 500
"""Largest number of clusters that are resampled separately. More clusters are first joined into this many random
groups, which limits the cost of a bootstrap.
"""

EVERYBODY = "every target attacked: exact for this release"
"""Text in place of an interval if all people are targets."""


class Interval(NamedTuple):
    """95 % interval and its population. Without an interval, `over` has the reason, and the ends None."""

    low: float | None
    high: float | None
    over: str


NO_INTERVAL = Interval(None, None, "none")
"""Interval of a number that is known or that is not estimated."""


def wilson(rate: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95 % score interval for a proportion: the rates p0 with |rate - p0| <= z sqrt(p0 (1 - p0) / n).

    rate : from 0 to 1
    n    : sample size above 0, possibly fractional (an effective sample size)

    The interval is within [0, 1]. At rate 0 its upper end is z^2 / (n + z^2), about 3.8 / n.

    >>> low, high = wilson(0.04, 2000)
    >>> round(low, 4), round(high, 4)
    (0.0323, 0.0495)

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 1927.
    """
    center = (rate + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    half = Z95 / (1 + Z95**2 / n) * sqrt(max(rate * (1 - rate), 0.0) / n + Z95**2 / (4 * n * n))
    return max(0.0, min(rate, center - half)), min(1.0, max(rate, center + half))


def clopper_pearson(successes: float, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Return the exact interval for a proportion.

    It contains the rates for which neither tail of Binomial(n, rate) is below (1 - level) / 2.

    successes : 0 to n; fractions, from shared draws, are rounded outwards

    >>> [round(end, 4) for end in clopper_pearson(0, 20)]
    [0.0, 0.1684]

    C. Clopper & E. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
    Biometrika 1934.
    """
    from scipy.special import betaincinv  # not at the top, as in `student`

    n_low, n_high, tail = floor(successes + COUNT_ROUNDING), ceil(successes - COUNT_ROUNDING), (1 - level) / 2
    low = float(betaincinv(n_low, n - n_low + 1, tail)) if n_low > 0 else 0.0
    return low, float(betaincinv(n_high + 1, n - n_high, 1 - tail)) if n_high < n else 1.0


def of_targets(
    value: Floats, weight: Floats, *, drawn_from: float, rate: bool = False, within: tuple[float, float] = (-inf, inf)
) -> Interval:
    """Return the 95 % interval for the mean over all N people, from n targets drawn without replacement.

    value, weight : (n,) value and weight of each target; the weights sum to 1
    drawn_from : N, above n; infinity for an unlimited population of similar people
    rate : True if the values are shares, from 0 to 1
    within : smallest and largest possible value, which limit the interval

    V = (1 - n / N) n / (n - 1) sum w^2 (v - mean)^2. A mean has Student's t interval with n - 1 degrees of freedom. A
    rate has Wilson's interval with sample size mean (1 - mean) / V, or n / (1 - n / N) if all values are equal. A mean
    of equal values has no interval, because other people may have any value.

    >>> of_targets(np.arange(10.0), np.full(10, 0.1), drawn_from=20)
    Interval(low=2.968..., high=6.031..., over='targets drawn from 20 people')

    W. G. Cochran, "Sampling Techniques", 1977, sections 2.6 to 2.9, and 6.4 for weights.
    """
    n = len(value)
    if not drawn_from > n:
        raise UnmaskError(f"{n} targets cannot be drawn from {drawn_from:g} people, expected more people than targets")
    if not np.all(np.isfinite(value)):
        return Interval(None, None, "none: the value is unbounded")
    if n < 2:
        return Interval(None, None, "none: one target was drawn")
    mean, unsampled_share = float(np.clip(dot(weight, value), value.min(), value.max())), 1.0 - n / drawn_from
    variance = unsampled_share * n / (n - 1) * dot(weight**2, (value - mean) ** 2)
    over = f"targets drawn from {drawn_from:,.0f} people" if drawn_from < inf else "targets, for people like these"
    differ = np.ptp(value) > VALUE_TIE * np.abs(value).max()
    if rate:
        spread = mean * (1 - mean)  # 0 of a mean that rounds to 1
        return Interval(*wilson(mean, spread / variance if differ and spread > 0 else n / unsampled_share), over)
    if not differ:
        return Interval(None, None, "none: no two of the targets that were drawn differ")
    half = student(n - 1) * sqrt(variance)
    return Interval(max(mean - half, within[0]), min(mean + half, within[1]), over)


def of_runs(means: Sequence[float], *, within: tuple[float, float] = (-inf, inf)) -> Interval:
    """Return the 95 % interval for the mean of repeated runs, at least two, by Student's t.

    >>> of_runs([0.42, 0.43, 0.44])
    Interval(low=0.405..., high=0.454..., over="3 runs (Student's t)")
    """
    value, n = np.asarray(means, dtype=np.float64), len(means)
    mean, half = float(value.mean()), student(n - 1) * float(value.std(ddof=1)) / sqrt(n)
    return Interval(max(mean - half, within[0]), min(mean + half, within[1]), f"{n} runs (Student's t)")


def student(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t."""
    from scipy.special import stdtrit  # not at the top: it would double the time to start the command line

    return float(stdtrit(degrees, 0.975))


def clustered_wilson(value: Floats, weight: Floats, cluster: Integers) -> Interval:
    """Return Wilson's interval for a weighted mean of values in [0, 1], with the effective sample size of its clusters.

    n_eff = p (1 - p) / V, at most Kish's 1 / sum w^2. V = c / (c - 1) sum (s - p m)^2 is the variance of the mean
    between c clusters with weight m and weighted sum s. If all values are equal (V = 0 up to rounding, or p = 0 or 1),
    n_eff is the number of clusters.

    L. Kish, "Survey Sampling", 1965; E. L. Korn & B. I. Graubard, "Confidence intervals for proportions with small
    expected number of positive counts estimated from survey data", Survey Methodology 1998.
    """
    rate = float(np.clip(weight @ value, value.min(), value.max()))
    sums, mass = _cluster_sums(value, weight, cluster)
    clusters, spread = len(mass), rate * (1 - rate)
    if clusters < 2:
        return Interval(None, None, "none: all targets share one observation")
    square = float(((sums - rate * mass) ** 2).sum())
    differ = square > (VALUE_TIE * spread) ** 2 * float((mass**2).sum()) and spread > 0
    kish = 1.0 / float((weight**2).sum())
    n_effective = min(spread / (square * clusters / (clusters - 1)), kish) if differ else clusters
    return Interval(*wilson(rate, n_effective), "targets (Wilson, clustered by observation)")


def clustered_bootstrap(value: Floats, weight: Floats, cluster: Integers) -> Interval:
    """Return the percentile interval of a weighted mean over 1,000 resamples of its clusters, with a fixed seed.

    B. Efron & R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 8 and 13.
    """
    sums, mass = _cluster_sums(value, weight, cluster)
    if len(mass) < 2:
        return Interval(None, None, "none: all targets share one observation")
    if len(mass) > GROUPS:
        group = np.random.default_rng(0).permutation(len(mass)) % GROUPS
        sums, mass = _sums(sums, group), _sums(mass, group)
    drawn = _draws(len(mass)) @ np.column_stack([sums, mass])
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    return Interval(float(low), float(high), "targets (cluster bootstrap over observations)")


@lru_cache(maxsize=32)
def _draws(n_clusters: int) -> Floats:
    """Return the number of draws of each cluster in each resample, (RESAMPLES, n_clusters)."""
    even = np.full(n_clusters, 1 / n_clusters)
    return np.random.default_rng(0).multinomial(n_clusters, even, size=RESAMPLES).astype(np.float64)


def _cluster_sums(value: Floats, weight: Floats, cluster: Integers) -> tuple[Floats, Floats]:
    mass = _sums(weight, cluster)
    used = mass > 0
    return _sums(weight * value, cluster)[used], mass[used]


def _sums(value: Floats, group: Integers) -> Floats:
    return np.asarray(np.bincount(group, weights=value), dtype=np.float64)
