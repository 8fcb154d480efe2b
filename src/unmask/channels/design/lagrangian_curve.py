"""Convex trade-offs of rate against distortion: interior points at one slope, and the curve by its tangents."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from unmask.channels._matrices import Floats
from unmask.channels.channel import Channel
from unmask.core.errors import FailedError, UnmaskError

MIN_GAP_NATS = 1e-11
"""Smallest certificate. Below it rounding dominates."""

MAX_NEWTON_STEPS = 200
"""Newton steps for one slope. Six to fifteen are usual."""

TINY = 1e-300
"""Smallest argument of a logarithm or divisor."""

MAX_TANGENTS = 200
"""Tangents for one distortion. A dozen is usual, since the gap falls about fourfold with each."""


@dataclass(frozen=True, eq=False)
class RatePoint:
    """A rule p(output given input), its rate in nats and its distortion.

    Parameters
    ----------
    rule : array
        The rule.
    rate, distortion : float
        Its rate and its expected distortion.
    bound : float
        A certified lower bound of rate + slope * distortion over all rules.
    """

    rule: Floats
    rate: float
    distortion: float
    bound: float


@dataclass(frozen=True, eq=False)
class RateProblem:
    """The problem min I(X; Y) within a distortion, of a publisher who perturbs the secret itself and shows all of it.

    The rate is convex and the distortion linear in the rule.

    Parameters
    ----------
    p_input : (n,) array
        Prior of the inputs of the rule.
    d : (n, m) array
        Distortion of showing y for x.
    p_secret : (n_secrets,) array
        Prior of the secrets, here that of the inputs.
    """

    p_input: Floats
    d: Floats
    p_secret: Floats

    @property
    def constant_rule(self) -> Floats:
        """Return the rule of rate 0 and least distortion."""
        rule = np.zeros(self.d.shape)
        rule[:, np.argmin(self.p_input @ self.d)] = 1.0
        return rule

    def leak(self, rule: Floats) -> Floats:
        """Return p(y given x), the channel from the secret to the adversary."""
        return rule

    def rate(self, rule: Floats) -> float:
        """Return the rate in nats."""
        return mutual_information(self.p_secret, self.leak(rule))

    def distortion(self, rule: Floats) -> float:
        """Return the expected distortion."""
        return float(self.p_input @ (rule * self.d).sum(axis=1))

    def minimize(self, slope: float, gap: float) -> RatePoint:
        """Minimize rate + slope * distortion within the gap; slope inf: the rate among rules of least distortion."""
        minimum = self.d.min(axis=1)
        excess = self.d - minimum[:, None]
        kernel = np.where(excess == 0, 1.0, 0.0) if math.isinf(slope) else np.exp(-slope * excess)
        used = self.p_input > 0
        q, bound = mixture_weights(kernel[used], self.p_input[used], gap)
        mass = kernel @ q
        # only a secret of prior 0 can find all its outputs unused: any row serves it
        rule = np.where(mass[:, None] > 0, kernel * q / np.where(mass > 0, mass, 1.0)[:, None], q)
        shift = 0.0 if math.isinf(slope) else slope * float(self.p_input @ minimum)
        return RatePoint(rule, self.rate(rule), self.distortion(rule), bound + shift)


@dataclass(frozen=True, eq=False)
class RateDistortion:
    """Points of a curve of least information at a distortion, with rules and certificates.

    Parameters
    ----------
    rate : (k,) array
        I(X; Y) in nats, the adversary's information about the secret.
    distortion : (k,) array
        Expected distortion of the rules.
    rules : tuple of k Channel
        Channels from the publisher's input to the release, with the prior of the inputs.
    leaks : tuple of k Channel
        Channels p(y given x) from the secret to the adversary. They equal the rules if the secret itself is perturbed.
    gap : (k,) array
        In nats: the least rate at this distortion lies between rate - gap and rate, up to rounding.
    """

    rate: Floats
    distortion: Floats
    rules: tuple[Channel, ...]
    leaks: tuple[Channel, ...]
    gap: Floats


def solve_curve(
    problem: RateProblem, *, slopes: ArrayLike | None, distortion: ArrayLike | None, gap: float
) -> RateDistortion:
    """Compute the points of a curve at these slopes, or at these distortions."""
    if (slopes is None) == (distortion is None):
        raise UnmaskError("expected either slopes or distortion, given both or neither")
    if not gap >= MIN_GAP_NATS:
        raise UnmaskError(
            f"the gap asked for is {gap} nats, expected at least {MIN_GAP_NATS}: double precision ends there"
        )
    name, solve = ("slope", _solve_at_slope) if distortion is None else ("distortion", _solve_at_distortion)
    targets = np.atleast_1d(np.asarray(slopes if distortion is None else distortion, dtype=np.float64))
    if targets.ndim != 1 or not targets.size or not np.all(np.isfinite(targets)) or targets.min() < 0:
        raise UnmaskError(f"a {name} is missing, negative or infinite, expected at least one finite number >= 0")
    points, gaps = zip(*(solve(problem, target, gap) for target in targets.tolist()), strict=True)
    rules = tuple(Channel(point.rule, problem.p_input) for point in points)
    leaks = tuple(Channel(problem.leak(point.rule), problem.p_secret) for point in points)
    rate, cost = np.array([(point.rate, point.distortion) for point in points]).T
    return RateDistortion(rate, cost, rules, leaks, np.array(gaps))


def _solve_at_slope(problem: RateProblem, slope: float, gap: float) -> tuple[RatePoint, float]:
    point = problem.minimize(slope, gap)
    return point, max(0.0, point.rate + slope * point.distortion - point.bound)


def _solve_at_distortion(problem: RateProblem, target: float, gap: float) -> tuple[RatePoint, float]:
    """Return the rule of least rate with a distortion of at most `target`, and its certified gap in nats.

    Two points of the curve enclose the target; the tangent parallel to their chord gives a third, between them. The
    answer mixes the last two: R is convex, so a mixture never exceeds the chord. The lower bound is the best of the
    tangents, R(D) >= bound - slope * D.
    """
    low = problem.minimize(math.inf, gap / 4)
    constant = problem.distortion(problem.constant_rule)
    slack = 1e-12 * max(abs(low.distortion), abs(constant), 1e-300)
    if target < low.distortion - slack:
        raise UnmaskError(
            f"the distortion asked for is {target:.9g}, expected at least {low.distortion:.9g}, the least that any "
            "rule reaches: raise it"
        )
    if target <= low.distortion + slack:
        return low, max(0.0, low.rate - low.bound)
    high = RatePoint(problem.constant_rule, 0.0, constant, 0.0)
    if target >= high.distortion:
        return high, 0.0
    bound, result, certified = 0.0, high, math.inf
    for _ in range(MAX_TANGENTS):
        mixed = _mix(problem, low, high, target)
        if mixed.rate - bound < certified:
            result, certified = mixed, mixed.rate - bound
        slope = (low.rate - high.rate) / (high.distortion - low.distortion)
        if certified <= gap or slope <= 0:
            break
        point = problem.minimize(slope, gap / 4)
        bound = max(bound, point.bound - slope * target)
        certified = result.rate - bound
        if not low.distortion < point.distortion < high.distortion:
            break
        low, high = (point, high) if point.distortion <= target else (low, point)
    return result, max(0.0, certified)


def _mix(problem: RateProblem, low: RatePoint, high: RatePoint, target: float) -> RatePoint:
    share = (target - low.distortion) / (high.distortion - low.distortion)
    rule = (1 - share) * low.rule + share * high.rule
    return RatePoint(rule, problem.rate(rule), problem.distortion(rule), 0.0)


def mutual_information(p_x: Floats, conditional: Floats) -> float:
    """Return I(X; Y) = sum p(x) KL(p(y given x) | p(y)) in nats of a prior and the rows p(y given x).

    >>> round(mutual_information(np.array([0.5, 0.5]), np.eye(2)), 6)
    0.693147
    """
    p_y = p_x @ conditional
    ratio = np.divide(conditional, p_y, out=np.ones_like(conditional), where=conditional > 0)
    return max(0.0, float(p_x @ (conditional * np.log(ratio)).sum(axis=1)))


def mixture_weights(kernel: Floats, p: Floats, gap: float) -> tuple[Floats, float]:
    """Minimize -sum_x p(x) log (A q)(x) over distributions q within `gap`; return q and a certified lower bound.

    Primal-dual interior point, predictor and corrector. Unknowns q, nu and z = 1 - A'(p nu) >= 0; conditions
    nu(x) (A q)(x) = 1 and q(y) z(y) = mu -> 0. Steps of q and of (nu, z) differ in length. The linear system is scaled
    by sqrt(q), so that outputs with vanishing weight do no harm.

    Parameters
    ----------
    kernel : (n, m) array
        A, at least 0, without rows of zeros.
    p : (n,) array
        Positive, sums to 1.
    gap : float
        Largest difference of the objective and the bound.

    Returns
    -------
    (m,) array, float
        The weights and the bound.

    Examples
    --------
    >>> q, bound = mixture_weights(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0.5, 0.5]), 1e-9)
    >>> q.round(6), round(bound, 6), round(float(-np.log(0.75)), 6)
    (array([0.5, 0.5]), 0.287682, 0.287682)
    """
    m = kernel.shape[1]
    q = np.full(m, 1.0 / m)
    nu = 1.0 / (kernel @ q)
    nu /= 1.1 * float((kernel.T @ (p * nu)).max())
    weights, bound, value = q, -math.inf, math.inf
    for _ in range(MAX_NEWTON_STEPS):
        mass = kernel @ q
        primal = -float(p @ np.log(mass / q.sum()))
        if primal < value:
            weights, value = q / q.sum(), primal
        bound = max(bound, _dual_value(kernel, p, nu), _dual_value(kernel, p, 1.0 / mass))
        if value - bound <= gap:
            break
        step = _newton_step(kernel, p, q, nu, mass)
        if step is None:
            break
        q, nu = step
    return weights, bound


def _dual_value(kernel: Floats, p: Floats, nu: Floats) -> float:
    return float(p @ np.log(nu)) - math.log(float((kernel.T @ (p * nu)).max()))


def _newton_step(kernel: Floats, p: Floats, q: Floats, nu: Floats, mass: Floats) -> tuple[Floats, Floats] | None:
    m = len(q)
    z = np.maximum(1.0 - kernel.T @ (p * nu), TINY)
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
    primal, dual = _step_length(q, d_q), min(_step_length(z, d_z), _step_length(nu, d_nu))
    center = float((q + primal * d_q) @ (z + dual * d_z)) / m
    target = mu * (max(center, 0.0) / mu) ** 3
    d_q, d_mass, d_nu, d_z = direction(target - q * z - d_q * d_z, 1.0 - nu * mass - d_nu * d_mass)
    primal = 0.99 * min(_step_length(q, d_q), _step_length(mass, d_mass))
    dual = 0.99 * min(_step_length(z, d_z), _step_length(nu, d_nu))
    if not (np.all(np.isfinite(d_q)) and np.all(np.isfinite(d_nu))):
        raise FailedError("the interior point method met a system that it cannot solve: rescale the distortion matrix")
    return np.maximum(q + primal * d_q, TINY), nu + dual * d_nu


def _step_length(value: Floats, step: Floats) -> float:
    """Return the longest step, up to 1 / 0.99, that keeps all values at least 0."""
    falling = step < 0
    return min(1.0 / 0.99, float(np.min(-value[falling] / step[falling]))) if falling.any() else 1.0 / 0.99
