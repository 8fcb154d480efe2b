"""Leakage: distances between the belief of the adversary and their prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.arrays import Floats
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.tolerances import SERIES_LIMIT, VIEW_MASS_TOLERANCE
from unmask.measures.entropy import log_power_mean, min_entropy_smith
from unmask.measures.measure import Measure, implement, measure_whole, refuse_scores
from unmask.measures.posterior_rows import Rows, log_ratio, map_functions
from unmask.measures.registry import FAMILIES, declare_all
from unmask.ranges import Range, check_type

LN2 = float(np.log(2.0))


def _information(rows: Rows) -> Floats:
    """Return D in bits as sum p log(p / q) - p + q, whose terms are at least 0: rounding enters by its square."""
    shared, impossible = rows.prior_elsewhere
    unlisted = np.where(rows.unlisted > 0, _excess(rows.unlisted, shared, rows.log_rest), shared)
    return np.asarray((rows.sum(_excess(rows.p, rows.q, rows.ratio)) + unlisted + impossible) / LN2)


def _excess(p: Floats, q: Floats, ratio: Floats) -> Floats:
    """Return p r - p + q with r = log(p / q), by its series if r is small."""
    terms = p * ratio
    terms -= p
    terms += q
    if len(small := np.flatnonzero(np.abs(ratio) < SERIES_LIMIT)):
        r = ratio[small]
        terms[small] = q[small] * r * r * (1 / 2 + r * (1 / 3 + r * (1 / 8 + r / 30)))
    return terms


def _total_variation(rows: Rows) -> Floats:
    shared, impossible = rows.prior_elsewhere
    change = rows.p - rows.q
    return np.minimum(0.5 * (rows.sum(np.abs(change, out=change)) + np.abs(rows.unlisted - shared) + impossible), 1.0)


def _confirmation(rows: Rows) -> Floats:
    uniform = rows.uniform_prior
    largest = rows.max(rows.ratio, empty=-np.inf) if uniform is None else rows.top - uniform
    return np.maximum(np.maximum(largest, rows.log_rest), 0.0)


def _refutation(rows: Rows) -> Floats:
    largest = rows.max(-rows.ratio, empty=-np.inf)
    shared, impossible = rows.prior_elsewhere
    unlisted = np.where(shared > 0, log_ratio(shared, rows.unlisted), 0.0)
    return np.where(impossible > 0, np.inf, np.maximum(np.maximum(largest, unlisted), 0.0))


information_gain_bits = implement("information_gain_bits", of_rows=_information, needs_probabilities=True)
"""D(p(. given y) || prior) in bits. In a class of k, with a uniform prior on n records, it is log2 n - log2 k.

Unlisted candidates are compared as one. The value is exact if their belief is proportional to the prior, otherwise a
lower bound. The mean over targets is the mutual information I(X; Y) = H(X) - H(X given Y) if the prior is the mean of
the rows, as in an exact belief.

>>> round(mutual_information(Posterior.from_dense(np.array([[0.75, 0.25], [0.25, 0.75]]))), 4)
0.1887
"""

mutual_information = information_gain_bits
"""The field's name of the mean of `information_gain_bits`."""

total_variation = implement("total_variation", of_rows=_total_variation, needs_probabilities=True)
"""1/2 sum_x |p(x given y) - p(x)|. Twice this value bounds the gain of the adversary under any loss of range 1. The
largest value over observations is t of t-closeness with the equal distance."""

delta_up = implement("delta_up", of_rows=_confirmation, needs_probabilities=True)
"""max_x log p(x given y) / p(x), always finite."""

delta_down = implement("delta_down", of_rows=_refutation, needs_probabilities=True)
"""max_x log p(x) / p(x given y). It is infinite if a possible candidate is excluded, as always for identity. The
delta of delta-disclosure is the larger of `delta_up` and `delta_down`."""

epsilon_nats = implement(
    "epsilon_nats", of_rows=lambda rows: _confirmation(rows) + _refutation(rows), needs_probabilities=True
)
"""max over x, x' of log p(y given x) / p(y given x') = delta_up + delta_down of the observation, for candidates of
positive prior. The largest value over observations is the epsilon of the channel, with delta <= epsilon <= 2 delta. It
is infinite if a possible candidate is excluded."""


@dataclass(frozen=True, eq=False)
class Leakage:
    """Leakage of each observation, and of the release as a whole.

    information_bits : (n_observations,) D(p(. given y) || prior), see `information_gain_bits`
    total_variation : (n_observations,) see `total_variation`
    up, down : (n_observations,) nats, see `delta_up` and `delta_down`
    weight : (n_observations,) p(y)

    The worst cases are over observations that a target of positive weight produced.
    """

    information_bits: Floats
    total_variation: Floats
    up: Floats
    down: Floats
    weight: Floats

    @property
    def mutual_information_bits(self) -> float:
        """Return I(X; Y) = E D(p(. given y) || prior), for a belief whose prior is the mean of its rows."""
        return float(self.weight @ self.information_bits)

    @property
    def t_equal(self) -> float:
        """Return the largest total variation: t under the equal distance."""
        return self._worst(self.total_variation)

    @property
    def delta_up(self) -> float:
        """Return the largest log-ratio upward, nats."""
        return self._worst(self.up)

    @property
    def delta_down(self) -> float:
        """Return the largest log-ratio downward, nats; infinite if a candidate is excluded."""
        return self._worst(self.down)

    @property
    def delta(self) -> float:
        """Return delta of delta-disclosure, nats: the larger of the two."""
        return max(self.delta_up, self.delta_down)

    @property
    def epsilon(self) -> float:
        """Return epsilon of the channel, nats: max_y (up + down)."""
        return self._worst(self.up + self.down)

    @property
    def maximal_bits(self) -> float:
        """Return the maximal leakage log2 sum_y max_x p(y given x) = log2 E max_x p(x given y) / p(x), in bits.

        It bounds the factor by which any adversary can multiply their probability of a right guess, whatever they want
        to know and whatever their prior. I. Issa, A. Wagner and S. Kamath, "An operational approach to information
        leakage", 2020.
        """
        return float(np.log1p(self.weight @ np.expm1(self.up)) / LN2)

    def _worst(self, values: Floats) -> float:
        return float(values[self.weight > 0].max())


def leakages(belief: Posterior) -> Leakage:
    """Compute information, total variation and log-ratios of all observations in one pass.

    Parameters
    ----------
    belief : Posterior
        Belief of the adversary.

    Returns
    -------
    Leakage
        Leakage of each observation and of the release.

    Examples
    --------
    >>> leakage = leakages(Posterior.from_dense(np.array([[0.75, 0.25], [0.25, 0.75]])))
    >>> round(leakage.mutual_information_bits, 4), round(leakage.t_equal, 4), round(float(np.exp(leakage.epsilon)), 4)
    (0.1887, 0.25, 3.0)
    """
    refuse_scores(belief, "leakage")
    quantities = (_information, _total_variation, _confirmation, _refutation)
    information, shift, up, down = map_functions(belief, quantities)
    return Leakage(information, shift, up, down, belief.observation_weight)


def min_entropy_leakage(belief: Posterior) -> float:
    """Return log2 E max p(x given y) - log2 max p(x), in bits: the growth of the probability of a right guess.

    >>> round(min_entropy_leakage(Posterior.from_dense(np.array([[0.75, 0.25], [0.25, 0.75]]))), 4)
    0.585

    G. Smith, "On the foundations of quantitative information flow", 2009.
    """
    return min_entropy_smith(belief.prior()) - min_entropy_smith(belief)


min_entropy_leakage_bits = measure_whole("min_entropy_leakage_bits", min_entropy_leakage)
"""`min_entropy_leakage` as a row of an audit."""

maximal_leakage_bits = measure_whole("maximal_leakage_bits", lambda belief: leakages(belief).maximal_bits)
"""`Leakage.maximal_bits` as a row of an audit."""


def sibson_leakage(belief: Posterior, alpha: float) -> float:
    """Return Sibson's mutual information of order alpha, in bits.

    I_alpha = alpha / (alpha - 1) log2 E_y (sum_x p(x) (p(x given y) / p(x))^alpha)^(1 / alpha). Order 1 is the mutual
    information, and order infinity the maximal leakage; it grows with the order.

    Parameters
    ----------
    belief : Posterior
        Belief whose prior is the mean of its rows.
    alpha : float
        Order above 0.

    Returns
    -------
    float
        Bits.

    Raises
    ------
    UnmaskError
        If the order is not above 0, or if the belief has scores.

    References
    ----------
    R. Sibson, "Information radius", 1969; S. Verdu, "Alpha-mutual information", 2015.

    Examples
    --------
    >>> belief = Posterior.from_dense(np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> [round(sibson_leakage(belief, alpha), 4) for alpha in (1, 2, np.inf)]
    [0.1887, 0.3219, 0.585]
    """
    refuse_scores(belief, "leakage")
    check_type("alpha", alpha, Annotated[float, Range(0, above=True)])
    if alpha == 1:
        return leakages(belief).mutual_information_bits
    if np.isinf(alpha):
        return leakages(belief).maximal_bits
    (log_mean,) = map_functions(
        belief, (lambda rows: log_power_mean(rows, rows.ratio, rows.log_rest, alpha - 1.0) / alpha,)
    )
    growth = np.log1p(belief.observation_weight @ np.expm1(log_mean))
    return max(float(alpha / (alpha - 1.0) * growth / LN2), 0.0)


def sibson_leakage_bits(alpha: float) -> Measure:
    """Return the measure `sibson_leakage` of an order above 0.

    >>> round(sibson_leakage_bits(2)(Posterior.from_dense(np.array([[0.75, 0.25], [0.25, 0.75]]))), 4)
    0.3219
    """
    check_type("alpha", alpha, Annotated[float, Range(0, above=True)])
    return measure_whole(
        f"sibson_leakage_{alpha:g}_bits", lambda belief: sibson_leakage(belief, alpha),
        label=f"Leakage of order {alpha:g} (Sibson)", unit="bits", source='R. Sibson, "Information radius", 1969',
        meaning="mutual information of this order: 1 is the average, infinity the maximal leakage",
    )  # fmt: skip


FAMILIES[r"sibson_leakage_(.+)_bits"] = sibson_leakage_bits


def channel_epsilon(p_y_given_x: ArrayLike) -> float:
    """Return the epsilon of pure local differential privacy of a channel.

    epsilon = max over y, x, x' of ln p(y given x) / p(y given x')

    Parameters
    ----------
    p_y_given_x : (n_secrets, n_outputs) array
        Each row is the distribution of the output of one secret.

    Returns
    -------
    float
        Nats; infinite if one secret excludes an output of another secret.

    Raises
    ------
    UnmaskError
        If the matrix has fewer than two rows, or if a row is not a distribution.

    Examples
    --------
    >>> round(channel_epsilon([[0.75, 0.25], [0.25, 0.75]]), 4), channel_epsilon([[1.0, 0.0], [0.5, 0.5]])
    (1.0986, inf)
    """
    rows = _check_channel(np.asarray(p_y_given_x, dtype=np.float64))
    largest, smallest = rows.max(axis=0), rows.min(axis=0)
    possible = largest > 0
    if np.any(smallest[possible] == 0):
        return float(np.inf)
    return float(np.log(largest[possible] / smallest[possible]).max())


def _check_channel(rows: Floats) -> Floats:
    """Return the rows, normalized; raise if one of them is not a distribution."""
    if rows.ndim != 2 or len(rows) < 2:
        raise UnmaskError(f"the channel has shape {rows.shape}, expected at least 2 secrets x outputs")
    wrong_rows = np.flatnonzero(~((rows >= 0).all(axis=1) & (np.abs(rows.sum(axis=1) - 1.0) <= VIEW_MASS_TOLERANCE)))
    if wrong_rows.size:
        first = wrong_rows[0]
        raise UnmaskError(
            f"row {first} of the channel sums to {rows[first].sum():.6g} or has a negative entry, "
            "expected a distribution"
        )
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


declare_all(
    information_gain_bits, total_variation, delta_up, delta_down, epsilon_nats, min_entropy_leakage_bits,
    maximal_leakage_bits,
)  # fmt: skip
