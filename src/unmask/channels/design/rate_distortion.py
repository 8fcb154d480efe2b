"""The least information about a secret at a distortion, if the secret itself or a related value is perturbed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels._matrices import Bools, Floats, check_costs, probabilities
from unmask.channels.channel import Channel
from unmask.channels.design.lagrangian_curve import (
    TINY,
    RateDistortion,
    RatePoint,
    RateProblem,
    mutual_information,
    solve_curve,
)
from unmask.core.errors import UnmaskError

Inputs = Literal["released", "both"]

MAX_GRADIENT_STEPS = 20_000
"""Gradient steps for one slope. Some hundreds are usual."""

BOUND_SMOOTHINGS = (1e-3, 1e-5, 1e-7)
"""Shares of the constant rule at which the lower bound is tried too: there no logarithm is of 0."""

BOUND_INTERVAL = 10
"""Gradient steps between two smoothed bounds."""


def rate_distortion(
    prior: ArrayLike,
    distortion_matrix: ArrayLike,
    *,
    slopes: ArrayLike | None = None,
    distortion: ArrayLike | None = None,
    gap: float = 1e-6,
) -> RateDistortion:
    """Compute the rate-distortion function R(D) = min I(X; Y) subject to E d(X, Y) <= D, with a certified gap.

    At slope s the problem is min_q -sum_x p(x) log sum_y q(y) exp(-s d(x, y)) over output distributions q. A
    primal-dual interior point method solves it. The certificate is the dual: if nu(x) >= 0 and
    sum_x p(x) nu(x) exp(-s d(x, y)) <= 1 for all y, then R(D) >= sum_x p(x) log nu(x) - s D.

    Parameters
    ----------
    prior : (n,) array
        p(x).
    distortion_matrix : (n, m) array
        d(x, y), at least 0 and finite.
    slopes : float or array, optional
        Points of the curve with -dR/dD equal to these nats per unit of d. Give either slopes or distortion.
    distortion : float or array, optional
        Points at these distortions, at least sum_x p(x) min_y d(x, y).
    gap : float
        Nats by which a rate may exceed the curve.

    Returns
    -------
    RateDistortion
        A point for each slope or distortion.

    Raises
    ------
    UnmaskError
        If an argument is not valid, or no rule has so little distortion.

    References
    ----------
    C. E. Shannon, "Coding theorems for a discrete source with a fidelity criterion", 1959; T. Berger, "Rate distortion
    theory", 1971, theorem 2.5.3 (dual). D. Rebollo-Monedero et al. 2012, eq. (9) with X = X', Y = Y'. R. Koenker,
    I. Mizera, "Convex optimization, shape constraints, compound decisions, and empirical Bayes rules", JASA 2014.

    Examples
    --------
    >>> curve = rate_distortion([0.5, 0.5], 1 - np.eye(2), distortion=0.1)
    >>> curve.rate.round(5), bool(curve.gap[0] <= 1e-6)  # ln 2 - h(0.1)
    (array([0.36806]), True)
    >>> curve.rules[0].p_y_given_x.round(3)
    array([[0.9, 0.1],
           [0.1, 0.9]])
    """
    p = probabilities(prior, "the prior")
    d = check_costs(distortion_matrix, "distortion matrix", (len(p), None))
    return solve_curve(RateProblem(p, d, p), slopes=slopes, distortion=distortion, gap=gap)


def private_rate_distortion(
    joint: ArrayLike,
    distortion_matrix: ArrayLike,
    *,
    slopes: ArrayLike | None = None,
    distortion: ArrayLike | None = None,
    observation: ArrayLike | None = None,
    sees: Inputs = "released",
    gap: float = 1e-6,
) -> RateDistortion:
    """Minimize I(X; Y) over rules p(y' given x') with E d(X', Y') <= D: X is secret, the publisher perturbs X'.

    Exponentiated gradient: W <- W exp(-t (g + s d)) / Z with g(x', y') = sum_x p(x given x') sum_y p(y given y')
    log(p(y given x) / p(y)). The objective is 1-smooth relative to the entropy, so t = 1 always descends; t grows
    while the same inequality, checked at each step, holds. With X = X' and t = 1 it is Blahut-Arimoto. The certificate
    is the Frank-Wolfe bound sum_x' p(x') min_y' (g + s d), the best of all steps and of rules mixed with a constant
    rule. Blahut-Arimoto on X' bounds I(X'; Y), not I(X; Y): its rule leaks more about X.

    Parameters
    ----------
    joint : (n, k) array
        p(x, x'), sums to 1. Every secret has positive probability.
    distortion_matrix : (k, m) array
        d(x', y'), at least 0 and finite.
    slopes, distortion : float or array, optional
        Points of the curve, as in `rate_distortion`.
    observation : (m, l) array, optional
        p(y given y'), the adversary's view of the release. By default they see all of it.
    sees : {"released", "both"}
        "released": the rule sees x' alone. "both": it sees x too, p(y' given x, x'); input (x, x') has number
        x * n_x' + x'.
    gap : float
        Nats by which a rate may exceed the least. The gap of the result is larger, and still right, if 20,000 steps
        do not reach it.

    Returns
    -------
    RateDistortion
        A point for each slope or distortion.

    Raises
    ------
    UnmaskError
        If an argument is not valid, or no rule has so little distortion.

    References
    ----------
    D. Rebollo-Monedero et al. 2012, eq. (9); D. Rebollo-Monedero, J. Forné, J. Domingo-Ferrer, "From t-closeness-like
    privacy to postrandomization via information theory", TKDE 2010. K. He, J. Saunderson, H. Fawzi, "A Bregman proximal
    perspective on classical and quantum Blahut-Arimoto algorithms", 2023.

    Examples
    --------
    >>> joint = np.array([[0.45, 0.05], [0.05, 0.45]])  # X' is X, flipped with probability 0.1
    >>> curve = private_rate_distortion(joint, 1 - np.eye(2), distortion=0.25)
    >>> curve.rate.round(4)  # ln 2 - h(0.9 * 0.25 + 0.1 * 0.75)
    array([0.0823])
    """
    table = check_costs(joint, "joint distribution", (None, None))
    n, k = table.shape
    table = probabilities(table.ravel(), "the joint distribution").reshape(n, k)
    empty = np.flatnonzero(table.sum(axis=1) <= 0)
    if empty.size:
        raise UnmaskError(f"secret {empty[0]} of the joint distribution has probability 0: leave it out")
    d = check_costs(distortion_matrix, "distortion matrix", (k, None))
    view = np.eye(d.shape[1]) if observation is None else Channel(np.asarray(observation, dtype=np.float64)).dense()
    if len(view) != d.shape[1]:
        raise UnmaskError(
            f"the observation has {len(view)} rows, expected {d.shape[1]}: one for each output of the rule"
        )
    if sees == "both":  # X' := (X, X'), with a distortion of x' alone
        pairs = np.zeros((n, n, k))
        pairs[np.arange(n), np.arange(n)] = table
        table, d = pairs.reshape(n, n * k), np.tile(d, (n, 1))
    elif sees != "released":
        raise UnmaskError(f"sees is {sees!r}, expected 'released' or 'both'")
    problem = _RelatedProblem.of(table, d, None if observation is None else view)
    return solve_curve(problem, slopes=slopes, distortion=distortion, gap=gap)


@dataclass(frozen=True, eq=False)
class _GradientState:
    """A rule, its objective, the gradient of the objective by p(x') W, and p(y given x)."""

    rule: Floats
    value: float
    gradient: Floats
    leak: Floats


@dataclass(frozen=True, eq=False)
class _RelatedProblem(RateProblem):
    """The problem with p(x' given x), p(x given x') and, if given, p(y given y')."""

    forward: Floats
    backward: Floats
    view: Floats | None

    @classmethod
    def of(cls, table: Floats, d: Floats, view: Floats | None) -> _RelatedProblem:
        """Return the problem of a joint distribution p(x, x')."""
        p_secret, p_input = table.sum(axis=1), table.sum(axis=0)
        backward = (table / np.where(p_input > 0, p_input, 1.0)).T
        return cls(p_input, d, p_secret, table / p_secret[:, None], backward, view)

    def leak(self, rule: Floats) -> Floats:
        released: Floats = self.forward @ rule
        return released if self.view is None else released @ self.view

    def minimize(self, slope: float, gap: float) -> RatePoint:
        minimum = self.d.min(axis=1, keepdims=True)
        is_limit = math.isinf(slope)
        allowed = self.d == minimum if is_limit else np.ones(self.d.shape, dtype=np.bool_)
        cost = np.zeros(self.d.shape) if is_limit else slope * (self.d - minimum)
        shift = 0.0 if is_limit else slope * float(self.p_input @ minimum[:, 0])
        state = self._state(allowed / allowed.sum(axis=1, keepdims=True), cost, allowed)
        bound, length = -math.inf, 1.0
        for step in range(MAX_GRADIENT_STEPS):
            bound = max(bound, self._bound(state, cost, allowed, smooth=step % BOUND_INTERVAL == 0))
            if state.value - bound <= gap:
                break
            state, length = self._descend(state, length, cost, allowed)
        rate = mutual_information(self.p_secret, state.leak)
        return RatePoint(state.rule, rate, self.distortion(state.rule), bound + shift)

    def _gradient(self, leak: Floats, share: float) -> Floats:
        """Return the (k, m) gradient of I by p(x') W at the rule mixed with `share` of its own constant rule."""
        p_y = np.maximum(self.p_secret @ leak, TINY)
        gradient: Floats = self.backward @ np.log(np.maximum((1 - share) * (leak / p_y) + share, TINY))
        return gradient if self.view is None else gradient @ self.view.T

    def _state(self, rule: Floats, cost: Floats, allowed: Bools) -> _GradientState:
        leak = self.leak(rule)
        gradient = np.where(allowed, self._gradient(leak, 0.0) + cost, np.inf)
        rate = mutual_information(self.p_secret, leak)
        return _GradientState(rule, rate + float(self.p_input @ (rule * cost).sum(axis=1)), gradient, leak)

    def _bound(self, state: _GradientState, cost: Floats, allowed: Bools, *, smooth: bool) -> float:
        shares = BOUND_SMOOTHINGS if smooth else ()
        smoothed = [np.where(allowed, self._gradient(state.leak, share) + cost, np.inf) for share in shares]
        return max(float(self.p_input @ gradient.min(axis=1)) for gradient in (state.gradient, *smoothed))

    def _descend(
        self, state: _GradientState, length: float, cost: Floats, allowed: Bools
    ) -> tuple[_GradientState, float]:
        """Return the state after one step of exponentiated gradient, and the length to try next."""
        log_rule = np.log(np.maximum(state.rule, TINY))
        excess = state.gradient - state.gradient.min(axis=1, keepdims=True)
        while True:
            log_next = log_rule - length * excess
            rule = np.exp(log_next - log_next.max(axis=1, keepdims=True))
            rule /= rule.sum(axis=1, keepdims=True)
            following = self._state(rule, cost, allowed)
            if length <= 1.0:
                return following, 1.2
            log_ratio = np.log(np.maximum(rule, TINY)) - log_rule
            divergence = float(self.p_input @ (rule * log_ratio).sum(axis=1))
            change = (rule - state.rule) * np.where(allowed, state.gradient, 0.0)
            expected = state.value + float(self.p_input @ change.sum(axis=1)) + divergence / length
            if following.value <= expected + 1e-15:
                return following, 1.2 * length
            length = max(1.0, length / 2)
