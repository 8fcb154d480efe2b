"""Differential privacy as the error of an adversary who asks "is this person in it?": profile, Bayes risk, trade-off.

Two worlds, P with the person and Q without. The profile delta(epsilon) = max_S P(S) - e^epsilon Q(S), for every real
epsilon, the Bayes risk R*(pi) = sum min(pi P, (1 - pi) Q) and the trade-off curve beta(alpha), the smallest probability
to miss the person at a false alarm rate of alpha, are three faces of one function:

R*(pi) = pi (1 - delta(ln((1 - pi) / pi))),    beta(alpha) = max_epsilon 1 - delta(epsilon) - e^epsilon alpha

Average error is blind at low priors: for the Gaussian mechanism of mu = 1.3 and pi = 0.01, R* = 0.009995 against 0.01
without any release, while 0.01 false alarms catch 15 % of those who are there. Look at `true_positive_rate` too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError

Floats = NDArray[np.float64]
Curve = Callable[[Floats], Floats]

SEARCH = (-40.0, 700.0)
"""Epsilons between which the best threshold is looked for: outside, e^epsilon is below rounding or overflows."""

CHUNK = 1 << 22


@dataclass(frozen=True)
class Profile:
    """A privacy profile: delta as a function of epsilon.

    name  : the call that makes it, as printed
    delta : (m,) real epsilons, nats -> (m,) deltas in 0..1, never rising and convex in e^epsilon

    J. Dong, A. Roth and W. Su, "Gaussian differential privacy", 2022, proposition 2.12; B. Balle, G. Barthe and M.
    Gaboardi, "Privacy profiles and amplification by subsampling", 2020.
    """

    name: str
    delta: Curve

    def __repr__(self) -> str:
        return self.name

    def __call__(self, epsilon: ArrayLike) -> Floats:
        """delta(epsilon), of the shape of epsilon; -inf gives 1, +inf what is never seen without the person."""
        asked = np.asarray(epsilon, dtype=np.float64)
        if np.any(np.isnan(asked)):
            raise UnmaskError("epsilon is not a number, expected nats")
        return (np.clip(self.delta(asked.ravel()), 0.0, 1.0) + 0.0).reshape(asked.shape)

    def bayes_risk(self, prior: ArrayLike) -> Floats:
        """R*(pi), the smallest probability of a wrong answer to "is this person in it?", with prior pi.

        prior : pi, from 0 to 1; at both ends the risk is 0. Without a release it is min(pi, 1 - pi).

        >>> gaussian(1.3).bayes_risk(0.01).round(6), gaussian(1.3).bayes_risk(0.5).round(6)
        (np.float64(0.009995), np.float64(0.257846))
        """
        pi = _shares(prior, "the prior")
        inner = np.clip(pi, 1e-300, 1.0 - 1e-16)
        risk = pi * (1.0 - self(np.log1p(-inner) - np.log(inner)))
        return np.asarray(np.where((pi <= 0) | (pi >= 1), 0.0, np.minimum(risk, np.minimum(pi, 1.0 - pi))))

    def regret_ratio(self, prior: ArrayLike) -> Floats:
        """1 - R*(pi) / min(pi, 1 - pi), the share of the prior error that the release saves; 0 where that is 0."""
        pi = _shares(prior, "the prior")
        before = np.minimum(pi, 1.0 - pi)
        return np.asarray(1.0 - self.bayes_risk(pi) / np.where(before > 0, before, 1.0)) * (before > 0)

    def trade_off(self, false_alarms: ArrayLike) -> Floats:
        """beta(alpha), the smallest probability to miss the person when a share alpha of the others is accused.

        The conjugate of the profile, max over epsilon of 1 - delta(epsilon) - e^epsilon alpha, by golden section: the
        function rises, then falls. Exact to 1e-9 or better; 1 - alpha without any release.

        >>> gaussian(1.0).trade_off(0.05).round(6)
        np.float64(0.740489)
        """
        alpha = _shares(false_alarms, "the false alarm rate")
        flat = alpha.ravel()
        low, high = np.full(flat.shape, SEARCH[0]), np.full(flat.shape, SEARCH[1])
        golden = (np.sqrt(5.0) - 1.0) / 2.0
        for _ in range(90):
            left, right = high - golden * (high - low), low + golden * (high - low)
            rises = self._line(left, flat) <= self._line(right, flat)
            low, high = np.where(rises, left, low), np.where(rises, high, right)
        best = np.maximum(self._line((low + high) / 2.0, flat), self._line(np.zeros_like(flat), flat))
        return np.clip(np.maximum(best, 0.0), 0.0, 1.0 - flat).reshape(alpha.shape)

    def _line(self, epsilon: Floats, alpha: Floats) -> Floats:
        return 1.0 - self(epsilon) - np.exp(epsilon) * alpha

    def true_positive_rate(self, false_alarms: ArrayLike) -> Floats:
        """1 - beta(alpha): how many of those who are there are caught at a false alarm rate of alpha."""
        return np.asarray(1.0 - self.trade_off(false_alarms))

    @property
    def advantage(self) -> float:
        """delta(0) = max (true positives - false alarms), the total variation of the two worlds."""
        return float(self(0.0))

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon >= 0 at which delta(epsilon) <= delta; inf if there is none below 700 nats.

        >>> round(laplace(0.5).epsilon(0.0), 6), round(gaussian(1.0).epsilon(1e-5), 4)
        (0.5, 4.3772)
        """
        if float(self(0.0)) <= delta:
            return 0.0
        if not float(self(SEARCH[1])) <= delta:
            return float(np.inf)
        low, high = 0.0, SEARCH[1]
        for _ in range(100):
            middle = (low + high) / 2.0
            low, high = (low, middle) if float(self(middle)) <= delta else (middle, high)
        return high


def _shares(value: ArrayLike, what: str) -> Floats:
    share = np.asarray(value, dtype=np.float64)
    if not np.all((share >= 0) & (share <= 1)):
        raise UnmaskError(f"{what} is outside 0..1, expected a probability")
    return share


def _positive(value: float, what: str) -> None:
    if not 0 < value < np.inf:
        raise UnmaskError(f"{what} is {value}, expected above 0 and finite")


def gaussian(mu: float) -> Profile:
    """Gaussian noise, mu = sensitivity / standard deviation: delta = Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu).

    B. Balle and Y.-X. Wang, "Improving the Gaussian mechanism", 2018, theorem 8.

    >>> gaussian(1.0)(0.0).round(6)
    np.float64(0.382925)
    """
    _positive(mu, "mu")

    def delta(epsilon: Floats) -> Floats:
        from scipy.special import log_ndtr, ndtr  # not at the top: it would slow the start of the command line

        e = np.clip(epsilon, -1e12, 1e12)  # far outside anything that is not 0 or 1
        return np.asarray(ndtr(mu / 2.0 - e / mu) - np.exp(np.minimum(e + log_ndtr(-mu / 2.0 - e / mu), 0.0)))

    return Profile(f"gaussian({mu:g})", delta)


def laplace(mu: float) -> Profile:
    """Laplace noise, mu = sensitivity / scale, the pure epsilon: delta = 1 - exp((e - mu) / 2) for |e| <= mu.

    >>> laplace(1.0)([-2.0, 0.0, 1.0]).round(6)
    array([0.864665, 0.393469, 0.      ])
    """
    _positive(mu, "mu")

    def delta(epsilon: Floats) -> Floats:
        inner = -np.expm1(np.minimum(epsilon - mu, 0.0) / 2.0)
        return np.asarray(np.where(epsilon < -mu, -np.expm1(np.minimum(epsilon, 0.0)), inner))

    return Profile(f"laplace({mu:g})", delta)


def approximate(epsilon: float, delta: float = 0.0) -> Profile:
    """The worst that an (epsilon, delta) promise allows: randomized response on those who are not given away outright.

    delta'(e) = delta + (1 - delta) (e^epsilon - e^e) / (1 + e^epsilon) for |e| <= epsilon; delta above it.

    >>> approximate(1.0)(0.0).round(6)
    np.float64(0.462117)

    P. Kairouz, S. Oh and P. Viswanath, "The composition theorem for differential privacy", 2015.
    """
    if not (0 <= epsilon < np.inf and 0 <= delta <= 1):
        raise UnmaskError(f"epsilon is {epsilon} and delta {delta}, expected at least 0 and finite, and 0..1")

    def profile(asked: Floats) -> Floats:
        # divided by e^epsilon, which overflows at an epsilon that somebody may well ask about
        inner = -np.expm1(np.minimum(asked - epsilon, 0.0)) / (1.0 + np.exp(-epsilon))
        pure = np.where(asked < -epsilon, -np.expm1(np.minimum(asked, 0.0)), inner)
        return np.asarray(delta + (1.0 - delta) * pure)

    return Profile(f"approximate({epsilon:g}, {delta:g})", profile)


def pair(p: ArrayLike, q: ArrayLike) -> Profile:
    """Two distributions over the same outputs, p with the person and q without: delta = sum max(p - e^e q, 0).

    >>> pair([0.75, 0.25], [0.25, 0.75])([0.0, np.log(3.0)]).round(6)
    array([0.5, 0. ])
    """
    rows = _checked_rows(np.stack([np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)]))
    return Profile("pair", lambda epsilon: np.array([_all_pairs(rows, e)[0, 1] for e in epsilon]))


def channel(p_y_given_x: ArrayLike) -> Profile:
    """The worst pair of rows of a channel: delta(e) = max over x, x' of sum_y max(p(y given x) - e^e p(y given x'), 0).

    p_y_given_x : (n_x, n_y), rows sum to 1. Which pair is worst may change with epsilon, and with the order of the two.
    Takes n_x^2 n_y steps for each epsilon.

    >>> response = channel([[0.75, 0.25], [0.25, 0.75]])
    >>> response([0.0, np.log(3.0)]).round(6), response.bayes_risk([0.5, 0.25]).round(6)
    (array([0.5, 0. ]), array([0.25, 0.25]))
    """
    rows = _checked_rows(np.asarray(p_y_given_x, dtype=np.float64))
    return Profile(
        f"channel of {len(rows)} x {rows.shape[1]}",
        lambda epsilon: np.array([_all_pairs(rows, e).max() for e in epsilon]),
    )


def _all_pairs(rows: Floats, epsilon: float) -> Floats:
    """(n_x, n_x) delta of each ordered pair."""
    out, other = np.empty((len(rows), len(rows))), np.exp(min(epsilon, 700.0)) * rows
    step = max(CHUNK // rows.size, 1)
    for first in range(0, len(rows), step):
        out[first : first + step] = np.maximum(rows[first : first + step, None, :] - other, 0.0).sum(axis=-1)
    return out


def _checked_rows(rows: Floats) -> Floats:
    if rows.ndim != 2 or len(rows) < 2:
        raise UnmaskError(f"the channel has shape {rows.shape}, expected at least 2 secrets x outputs")
    wrong = np.flatnonzero(~((rows >= 0).all(axis=1) & (np.abs(rows.sum(axis=1) - 1.0) <= 1e-9)))
    if wrong.size:
        raise UnmaskError(
            f"row {wrong[0]} of the channel sums to {rows[wrong[0]].sum():.6g} or has a negative entry, "
            "expected a distribution"
        )
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def channel_epsilon(p_y_given_x: ArrayLike) -> float:
    """The pure epsilon of a channel in nats: max over y, x, x' of ln p(y given x) / p(y given x').

    inf as soon as an output that one secret can give is one that another cannot.

    >>> (
    ...     round(float(np.exp(channel_epsilon([[0.75, 0.25], [0.25, 0.75]]))), 6),
    ...     channel_epsilon([[1.0, 0.0], [0.5, 0.5]]),
    ... )
    (3.0, inf)
    """
    rows = _checked_rows(np.asarray(p_y_given_x, dtype=np.float64))
    top, bottom = rows.max(axis=0), rows.min(axis=0)
    seen = top > 0
    if np.any(bottom[seen] == 0):
        return float(np.inf)
    return float(np.log(top[seen] / bottom[seen]).max())


class PosteriorBound(NamedTuple):
    """Between what the adversary's belief stays, whatever they see."""

    low: Floats
    high: Floats


def posterior_bound(epsilon: float, prior: ArrayLike) -> PosteriorBound:
    """What a pure epsilon leaves an adversary of prior pi to believe: at most pi e^epsilon / (1 - pi + pi e^epsilon).

    At least pi / (pi + (1 - pi) e^epsilon). Both are reached by randomized response.

    >>> both = posterior_bound(np.log(3.0), 0.5)
    >>> both.low.round(6), both.high.round(6)
    (np.float64(0.25), np.float64(0.75))
    """
    if not epsilon >= 0:
        raise UnmaskError(f"epsilon is {epsilon}, expected at least 0 nats")
    pi, other = _shares(prior, "the prior"), float(np.exp(-epsilon))

    def odds(present: Floats, absent: Floats) -> Floats:
        total = present + absent
        return np.asarray(np.where(total > 0, present / np.where(total > 0, total, 1.0), pi))

    return PosteriorBound(low=odds(pi * other, 1.0 - pi), high=odds(pi, (1.0 - pi) * other))
