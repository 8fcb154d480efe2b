"""Convex trade-offs of rate against distortion, solved by their tangents."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels._matrices import Floats
from unmask.channels.channel import Channel
from unmask.core.errors import UnmaskError

MIN_GAP_NATS = 1e-11
"""Smallest certificate. Below it rounding dominates."""

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


class RateProblem(Protocol):
    """A problem min rate(rule) within a distortion; the rate is convex and the distortion linear in the rule."""

    @property
    def constant_rule(self) -> Floats:
        """The rule of rate 0 and least distortion."""
        ...

    def rate(self, rule: Floats) -> float:
        """Return the rate in nats."""
        ...

    def distortion(self, rule: Floats) -> float:
        """Return the expected distortion."""
        ...

    def minimize(self, slope: float, gap: float) -> RatePoint:
        """Minimize rate + slope * distortion within the gap; slope inf: the rate among rules of least distortion."""
        ...

    def channels(self, rule: Floats) -> tuple[Channel, Channel]:
        """Return the rule, and the channel from the secret to the adversary."""
        ...


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

    @property
    def rule(self) -> Channel:
        """Return the rule of a curve of one point."""
        return self._single(self.rules)

    @property
    def leak(self) -> Channel:
        """Return the channel from the secret of a curve of one point."""
        return self._single(self.leaks)

    def _single(self, channels: tuple[Channel, ...]) -> Channel:
        if len(channels) != 1:
            raise UnmaskError(f"the curve has {len(channels)} points, expected one: choose one of `rules` or `leaks`")
        return channels[0]


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
    rules, leaks = zip(*(problem.channels(point.rule) for point in points), strict=True)
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
