"""How sure a mean over targets is: intervals that know that targets of one observation are not independent."""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Z95 = 1.959963984540054
RESAMPLES = 1000
GROUPS = 500
"""Most clusters that are resampled one by one; more are first put into this many random groups, which keeps a bootstrap
over a million observations as cheap as one over five hundred."""

ROUNDING = 1e-6
"""Values of clusters that differ less, as a share of p (1 - p), agree: beliefs are stored in single precision."""


class Interval(NamedTuple):
    """A 95 % interval and, in words, what it is over; both ends None where there is none."""

    low: float | None
    high: float | None
    over: str


def wilson(rate: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % score interval for a proportion: the rates p0 with |rate - p0| <= z sqrt(p0 (1 - p0) / n).

    rate in [0, 1]; n > 0, not necessarily whole (an effective sample size). Never leaves [0, 1]; at rate 0 the upper
    end is z^2 / (n + z^2), about 3.8 / n.

    >>> low, high = wilson(0.04, 2000)
    >>> round(low, 4), round(high, 4)
    (0.0323, 0.0495)

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 1927.
    """
    centre = (rate + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    half = Z95 / (1 + Z95**2 / n) * sqrt(max(rate * (1 - rate), 0.0) / n + Z95**2 / (4 * n * n))
    return max(0.0, min(rate, centre - half)), min(1.0, max(rate, centre + half))


def clustered_wilson(value: NDArray[np.float64], weight: NDArray[np.float64], cluster: NDArray[np.int64]) -> Interval:
    """Wilson's interval for a weighted mean of values in [0, 1], at the effective sample size of its clusters.

    n_eff = p (1 - p) / V, with V the variance of the mean between clusters, and no more than Kish's
    (sum w)^2 / sum w^2. Where all values agree (V = 0 up to rounding, or p = 0 or 1) n_eff is the number of clusters.

    L. Kish, "Survey Sampling", 1965; E. L. Korn & B. I. Graubard, "Confidence intervals for proportions with small
    expected number of positive counts estimated from survey data", Survey Methodology 1998.
    """
    rate = float(np.clip(weight @ value, value.min(), value.max()))
    sums, mass = _cluster_sums(value, weight, cluster)
    square = float(((sums - rate * mass) ** 2).sum())
    return wilson_of_variance(
        rate, square, float((mass**2).sum()), n=1.0 / float((weight**2).sum()), n_clusters=len(mass)
    )


def wilson_of_variance(rate: float, square: float, mass: float, *, n: float, n_clusters: int) -> Interval:
    """The same from sums over clusters.

    square, mass : sums of (s - rate m)^2 and m^2, with m the weight of a cluster and s the weighted sum of its values.
    n : the effective number of targets at most.
    """
    if n_clusters < 2:
        return Interval(None, None, "none: all targets share one observation")
    variance, spread = square * n_clusters / (n_clusters - 1), rate * (1 - rate)
    differ = square > (ROUNDING * spread) ** 2 * mass
    n_effective = min(spread / variance, n) if differ and spread > 0 else n_clusters
    return Interval(*wilson(rate, n_effective), "targets (Wilson, clustered by observation)")


def clustered_bootstrap(
    value: NDArray[np.float64], weight: NDArray[np.float64], cluster: NDArray[np.int64]
) -> Interval:
    """Percentile interval of a weighted mean, clusters drawn with replacement, 1,000 times, always the same draws.

    B. Efron & R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 8 and 13.
    """
    return percentiles(*grouped(*_cluster_sums(value, weight, cluster)))


def grouped(sums: NDArray[np.float64], mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """(2, g) sums and weights of clusters, added up in random groups where they are more than `GROUPS`."""
    if len(mass) > GROUPS:
        group = _groups(len(mass))
        sums, mass = _sums(sums, group), _sums(mass, group)
    return np.stack((sums, mass))


def percentiles(sums: NDArray[np.float64], mass: NDArray[np.float64]) -> Interval:
    """The percentile interval of the mean of clusters, sum of `sums` / sum of `mass`, by their bootstrap."""
    if len(mass) < 2:
        return Interval(None, None, "none: all targets share one observation")
    drawn = _draws(len(mass)) @ np.column_stack([sums, mass])
    means = drawn[:, 0] / drawn[:, 1]
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(float(low), float(high), "targets (cluster bootstrap over observations)")


@lru_cache(maxsize=1)  # all measures of one belief are asked one after the other
def _groups(n_clusters: int) -> NDArray[np.int64]:
    """(n_clusters,) the random group of each cluster."""
    return np.random.default_rng(0).permutation(n_clusters) % GROUPS


@lru_cache(maxsize=32)
def _draws(n_clusters: int) -> NDArray[np.float64]:
    """(RESAMPLES, n_clusters) how often each cluster is drawn in each resample."""
    even = np.full(n_clusters, 1 / n_clusters)
    return np.random.default_rng(0).multinomial(n_clusters, even, size=RESAMPLES).astype(np.float64)


def _cluster_sums(
    value: NDArray[np.float64], weight: NDArray[np.float64], cluster: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    mass = _sums(weight, cluster)
    used = mass > 0
    return _sums(weight * value, cluster)[used], mass[used]


def _sums(value: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(np.bincount(group, weights=value), dtype=np.float64)
