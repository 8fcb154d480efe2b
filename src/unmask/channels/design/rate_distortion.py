"""Least information about a secret at a given distortion, when the secret itself is what is perturbed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from unmask.channels._matrices import Floats, probabilities
from unmask.channels.channel import Channel
from unmask.channels.design.lagrangian_curve import Point, RateDistortion, TradeOff, costs, curve, mutual_information
from unmask.core.errors import FailedError

MAX_STEPS = 200
"""Newton steps for one slope; 6 to 15 are usual."""


def rate_distortion(
    prior: ArrayLike,
    distortion_matrix: ArrayLike,
    *,
    slopes: ArrayLike | None = None,
    distortion: ArrayLike | None = None,
    gap: float = 1e-6,
) -> RateDistortion:
    """The rate-distortion function R(D) = min I(X;Y) over p(y given x) with E d(X, Y) <= D, with a certified gap.

    prior             : (n,) p(x)
    distortion_matrix : (n, m) d(x, y), at least 0 and finite
    slopes            : the points of the curve where -dR/dD is this many nats per unit of d, or
    distortion        : the points at these distortions; where rate 0 suffices the channel is constant. Below
                        sum_x p(x) min_y d(x, y) none is feasible, which is refused with that number.
    gap               : nats by which a rate may exceed the true curve

    At slope s the problem is min_q -sum_x p(x) log sum_y q(y) exp(-s d(x, y)) over output distributions q, the maximum
    likelihood of mixture weights. It is solved by a primal-dual interior point method (six to fifteen Newton steps from
    a uniform q, each O(n m^2); starting from the neighbor's solution saves none). The certificate is the dual: with
    nu(x) >= 0 and sum_x p(x) nu(x) exp(-s d(x, y)) <= 1 for all y, R(D) >= sum_x p(x) log nu(x) - s D.

    >>> found = rate_distortion([0.5, 0.5], 1 - np.eye(2), distortion=0.1)
    >>> found.rate.round(5), bool(found.gap[0] <= 1e-6)  # ln 2 - h(0.1)
    (array([0.36806]), True)
    >>> found.rule.p_y_given_x.round(3)
    array([[0.9, 0.1],
           [0.1, 0.9]])

    C. E. Shannon, "Coding theorems for a discrete source with a fidelity criterion", 1959; T. Berger, "Rate distortion
    theory", 1971, theorem 2.5.3 (dual). D. Rebollo-Monedero et al. 2012, eq. (9) with X = X', Y = Y'. R. Koenker,
    I. Mizera, "Convex optimization, shape constraints, compound decisions, and empirical Bayes rules", JASA 2014.
    """
    p = probabilities(prior, "the prior")
    d = costs(distortion_matrix, "distortion matrix", (len(p), None))
    return curve(
        _trade_off(p, d),
        lambda rule: (channel := Channel(rule, p), channel),
        slopes=slopes,
        distortion=distortion,
        gap=gap,
    )


def _trade_off(p: Floats, d: Floats) -> TradeOff:
    used = p > 0
    excess = d - d.min(axis=1, keepdims=True)
    least = float(p @ d.min(axis=1))
    constant = np.zeros(d.shape)
    constant[:, np.argmin(p @ d)] = 1.0

    def tangent(slope: float, gap: float) -> Point:
        kernel = np.where(excess == 0, 1.0, 0.0) if math.isinf(slope) else np.exp(-slope * excess)
        q, bound = mixture_weights(kernel[used], p[used], gap)
        mass = kernel @ q
        # only a secret of prior 0 can find all its outputs out of use: any row will do for it
        rule = np.where(mass[:, None] > 0, kernel * q / np.where(mass > 0, mass, 1.0)[:, None], q)
        rate, distortion = mutual_information(p, rule), float(p @ (rule * d).sum(axis=1))
        return Point(rule, rate, distortion, bound if math.isinf(slope) else bound + slope * least)

    return TradeOff(
        tangent=tangent,
        rate=lambda rule: mutual_information(p, rule),
        distortion=lambda rule: float(p @ (rule * d).sum(axis=1)),
        free=constant,
    )


def mixture_weights(kernel: Floats, p: Floats, gap: float) -> tuple[Floats, float]:
    """Weights q (m,) that minimize -sum_x p(x) log (A q)(x) within `gap`, and a certified lower bound of the minimum.

    kernel : (n, m) A, at least 0, no row of zeros and no column that matters of zeros
    p      : (n,) positive, sums to 1

    Primal-dual interior point, predictor and corrector. Unknowns q, nu and z = 1 - A'(p nu) >= 0; conditions
    nu(x) (A q)(x) = 1 and q(y) z(y) = mu -> 0. Steps of q and of (nu, z) differ in length. The linear system is scaled
    by sqrt(q), so that outputs on their way out of use do no harm.

    >>> q, bound = mixture_weights(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0.5, 0.5]), 1e-9)
    >>> q.round(6), round(bound, 6), round(float(-np.log(0.75)), 6)
    (array([0.5, 0.5]), 0.287682, 0.287682)
    """
    m = kernel.shape[1]
    q = np.full(m, 1.0 / m)
    nu = 1.0 / (kernel @ q)
    nu /= 1.1 * float((kernel.T @ (p * nu)).max())
    best, bound, value = q, -math.inf, math.inf
    for _ in range(MAX_STEPS):
        mass = kernel @ q
        primal = -float(p @ np.log(mass / q.sum()))
        if primal < value:
            best, value = q / q.sum(), primal
        bound = max(bound, _dual(kernel, p, nu), _dual(kernel, p, 1.0 / mass))
        if value - bound <= gap:
            break
        moved = _newton(kernel, p, q, nu, mass)
        if moved is None:
            break
        q, nu = moved
    return best, bound


def _dual(kernel: Floats, p: Floats, nu: Floats) -> float:
    return float(p @ np.log(nu)) - math.log(float((kernel.T @ (p * nu)).max()))


def _newton(kernel: Floats, p: Floats, q: Floats, nu: Floats, mass: Floats) -> tuple[Floats, Floats] | None:
    m = len(q)
    z = np.maximum(1.0 - kernel.T @ (p * nu), 1e-300)
    root = np.sqrt(q)
    weighted = kernel * np.sqrt(p * nu / mass)[:, None] * root
    system = weighted.T @ weighted
    system.flat[:: m + 1] += z + 1e-13 * system.trace() / m  # a smooth kernel has far lower rank than m
    factor, failed = lapack.dpotrf(system, lower=1, overwrite_a=1, clean=0)
    if failed:
        return None

    def direction(to_q: Floats, to_nu: Floats) -> tuple[Floats, ...]:
        side, _ = lapack.dpotrs(factor, root * (to_q / q + kernel.T @ (p * to_nu / mass)), lower=1)
        d_q = root * side
        d_mass = kernel @ d_q
        d_nu = (to_nu - nu * d_mass) / mass
        return d_q, d_mass, d_nu, -(kernel.T @ (p * d_nu))

    d_q, d_mass, d_nu, d_z = direction(-q * z, 1.0 - nu * mass)
    mu = float(q @ z) / m
    primal, dual = _length(q, d_q), min(_length(z, d_z), _length(nu, d_nu))
    center = float((q + primal * d_q) @ (z + dual * d_z)) / m
    target = mu * (max(center, 0.0) / mu) ** 3
    d_q, d_mass, d_nu, d_z = direction(target - q * z - d_q * d_z, 1.0 - nu * mass - d_nu * d_mass)
    primal = 0.99 * min(_length(q, d_q), _length(mass, d_mass))
    dual = 0.99 * min(_length(z, d_z), _length(nu, d_nu))
    if not (np.all(np.isfinite(d_q)) and np.all(np.isfinite(d_nu))):
        raise FailedError("the interior point method met a system that it cannot solve: rescale the distortion matrix")
    return np.maximum(q + primal * d_q, 1e-300), nu + dual * d_nu


def _length(at: Floats, step: Floats) -> float:
    down = step < 0
    return min(1.0 / 0.99, float(np.min(-at[down] / step[down]))) if down.any() else 1.0 / 0.99
