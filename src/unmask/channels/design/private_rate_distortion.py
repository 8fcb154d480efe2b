"""Least information about a secret when something else, that goes with it, is perturbed and released."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels._matrices import Bools, Floats, probabilities
from unmask.channels.channel import Channel
from unmask.channels.design.lagrangian_curve import Point, RateDistortion, TradeOff, costs, curve, mutual_information
from unmask.core.errors import UnmaskError

Sees = Literal["released", "both"]

MAX_STEPS = 20_000
"""Steps for one slope; some hundreds are usual."""

TINY = 1e-300

SMOOTHINGS = (1e-3, 1e-5, 1e-7)
"""Shares of the constant rule at which the bound is tried too: there no logarithm is of 0."""


def private_rate_distortion(
    joint: ArrayLike,
    distortion_matrix: ArrayLike,
    *,
    slopes: ArrayLike | None = None,
    distortion: ArrayLike | None = None,
    observation: ArrayLike | None = None,
    sees: Sees = "released",
    gap: float = 1e-6,
) -> RateDistortion:
    """min I(X;Y) over rules p(y' given x') with E d(X', Y') <= D: X is secret, X' is what the publisher may perturb.

    joint             : (n, k) p(x, x'), sums to 1; every secret has positive probability
    distortion_matrix : (k, m) d(x', y'), at least 0 and finite
    slopes, distortion : as in `rate_distortion`
    observation       : (m, l) p(y given y'), how the adversary observes what is released; all of it when None
    sees              : "released": the rule sees x' alone; "both": it sees x too, p(y' given x, x'), never worse; its
                        inputs are the pairs, (x, x') is input number x * n_x' + x'
    gap               : nats by which a rate may exceed the least; where the rule cannot be found that well in 20,000
                        steps the gap in the result is larger, and still right

    Exponentiated gradient, W <- W exp(-t (g + s d)) / Z with g(x', y') = sum_x p(x given x') sum_y p(y given y')
    log(p(y given x) / p(y)). By data processing the objective is 1-smooth relative to the entropy, so that t = 1
    descends always; t grows while the same inequality, checked at each step, holds. With X = X' and t = 1 it is
    Blahut-Arimoto. The certificate is the Frank-Wolfe bound sum_x' p(x') min_y' (g + s d), the best of all steps and of
    rules mixed with a constant one (any linearisation of a convex function bounds it from below).
    Running Blahut-Arimoto on X' instead bounds I(X';Y), not I(X;Y): the rule it finds leaks more about X.

    >>> joint = np.array([[0.45, 0.05], [0.05, 0.45]])  # X' is X, flipped with probability 0.1
    >>> private_rate_distortion(joint, 1 - np.eye(2), distortion=0.25).rate.round(
    ...     4
    ... )  # ln 2 - h(0.9 * 0.25 + 0.1 * 0.75)
    array([0.0823])

    D. Rebollo-Monedero et al. 2012, eq. (9); D. Rebollo-Monedero, J. Forné, J. Domingo-Ferrer, "From t-closeness-like
    privacy to postrandomization via information theory", TKDE 2010. K. He, J. Saunderson, H. Fawzi, "A Bregman proximal
    perspective on classical and quantum Blahut-Arimoto algorithms", 2023.
    """
    table, d, seen = _inputs(joint, distortion_matrix, observation)
    if sees == "both":
        table, d = _pairs(table, d)
    elif sees != "released":
        raise UnmaskError(f"sees is {sees!r}, expected 'released' or 'both'")
    problem = _Problem(table, d, seen)
    return curve(problem.trade_off(), problem.channels, slopes=slopes, distortion=distortion, gap=gap)


def _inputs(
    joint: ArrayLike, distortion_matrix: ArrayLike, observation: ArrayLike | None
) -> tuple[Floats, Floats, Floats | None]:
    table = costs(joint, "joint distribution", (None, None))
    n, k = table.shape
    table = probabilities(table.ravel(), "the joint distribution").reshape(n, k)
    empty = np.flatnonzero(table.sum(axis=1) <= 0)
    if empty.size:
        raise UnmaskError(f"secret {empty[0]} of the joint distribution has probability 0: leave it out")
    d = costs(distortion_matrix, "distortion matrix", (k, None))
    seen = None if observation is None else Channel(np.asarray(observation, dtype=np.float64)).dense()
    if seen is not None and len(seen) != d.shape[1]:
        raise UnmaskError(
            f"the observation has {len(seen)} rows, expected {d.shape[1]}: one for each output of the rule"
        )
    return table, d, seen


def _pairs(table: Floats, d: Floats) -> tuple[Floats, Floats]:
    """The same problem with X' := (X, X'): p(x, (x, x')) = p(x, x'), and a distortion that looks at x' alone."""
    n, k = table.shape
    wide = np.zeros((n, n, k))
    wide[np.arange(n), np.arange(n)] = table
    return wide.reshape(n, n * k), np.tile(d, (n, 1))


@dataclass(frozen=True, eq=False)
class _State:
    """A rule W and what is needed of it: objective, gradient (given p(x')), p(y given x), p(y) and the lower bound."""

    rule: Floats
    value: float
    gradient: Floats
    leak: Floats


class _Problem:
    """The joint distribution in the shapes that the steps need."""

    def __init__(self, table: Floats, d: Floats, seen: Floats | None) -> None:
        self.d, self.seen = d, seen
        self.p_secret, self.p_released = table.sum(axis=1), table.sum(axis=0)
        self.forward = table / self.p_secret[:, None]
        mass = np.where(self.p_released > 0, self.p_released, 1.0)
        self.backward = (table / mass).T

    def leak(self, rule: Floats) -> Floats:
        """(n, l) p(y given x)."""
        released: Floats = self.forward @ rule
        return released if self.seen is None else released @ self.seen

    def channels(self, rule: Floats) -> tuple[Channel, Channel]:
        """The rule and what it leaks, as channels."""
        return Channel(rule, self.p_released), Channel(self.leak(rule), self.p_secret)

    def distortion(self, rule: Floats) -> float:
        """E d(X', Y')."""
        return float(self.p_released @ (rule * self.d).sum(axis=1))

    def trade_off(self) -> TradeOff:
        constant = np.zeros(self.d.shape)
        constant[:, np.argmin(self.p_released @ self.d)] = 1.0
        return TradeOff(
            self.tangent, lambda rule: mutual_information(self.p_secret, self.leak(rule)), self.distortion, constant
        )

    def gradient(self, leak: Floats, share: float) -> Floats:
        """(k, m) derivative of I by p(x') W at the rule mixed with `share` of the constant rule of its own outputs."""
        p_y = np.maximum(self.p_secret @ leak, TINY)
        g: Floats = self.backward @ np.log(np.maximum((1 - share) * (leak / p_y) + share, TINY))
        return g if self.seen is None else g @ self.seen.T

    def state(self, rule: Floats, cost: Floats, allowed: Bools) -> _State:
        leak = self.leak(rule)
        gradient = np.where(allowed, self.gradient(leak, 0.0) + cost, np.inf)
        rate = mutual_information(self.p_secret, leak)
        return _State(rule, rate + float(self.p_released @ (rule * cost).sum(axis=1)), gradient, leak)

    def bound(self, state: _State, cost: Floats, allowed: Bools, *, smooth: bool) -> float:
        gradients = [state.gradient]
        if smooth:
            gradients += [np.where(allowed, self.gradient(state.leak, share) + cost, np.inf) for share in SMOOTHINGS]
        return max(float(self.p_released @ gradient.min(axis=1)) for gradient in gradients)

    def tangent(self, slope: float, gap: float) -> Point:
        """The rule of least rate + slope * distortion; slope inf: of least rate among those of least distortion."""
        least = self.d.min(axis=1, keepdims=True)
        allowed = self.d == least if math.isinf(slope) else np.ones(self.d.shape, dtype=np.bool_)
        cost = np.zeros(self.d.shape) if math.isinf(slope) else slope * (self.d - least)
        shift = 0.0 if math.isinf(slope) else slope * float(self.p_released @ least[:, 0])
        state = self.state(allowed / allowed.sum(axis=1, keepdims=True), cost, allowed)
        bound, length = -math.inf, 1.0
        for step in range(MAX_STEPS):
            bound = max(bound, self.bound(state, cost, allowed, smooth=step % 10 == 0))
            if state.value - bound <= gap:
                break
            state, length = self.descend(state, length, cost, allowed)
        rate = mutual_information(self.p_secret, state.leak)
        return Point(state.rule, rate, self.distortion(state.rule), bound + shift)

    def descend(self, state: _State, length: float, cost: Floats, allowed: Bools) -> tuple[_State, float]:
        """One step of exponentiated gradient, and the length to try next."""
        log_rule = np.log(np.maximum(state.rule, TINY))
        away = state.gradient - state.gradient.min(axis=1, keepdims=True)
        while True:
            log_next = log_rule - length * away
            rule = np.exp(log_next - log_next.max(axis=1, keepdims=True))
            rule /= rule.sum(axis=1, keepdims=True)
            moved = self.state(rule, cost, allowed)
            if length <= 1.0:
                return moved, 1.2
            log_ratio = np.log(np.maximum(rule, TINY)) - log_rule
            divergence = float(self.p_released @ (rule * log_ratio).sum(axis=1))
            change = (rule - state.rule) * np.where(allowed, state.gradient, 0.0)
            if moved.value <= state.value + float(self.p_released @ change.sum(axis=1)) + divergence / length + 1e-15:
                return moved, 1.2 * length
            length = max(1.0, length / 2)
