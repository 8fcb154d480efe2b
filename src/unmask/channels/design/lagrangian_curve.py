"""A convex trade-off of rate against distortion, reached from its tangents: what both design problems share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels._matrices import Floats
from unmask.channels.channel import Channel
from unmask.core.errors import UnmaskError

LEAST_GAP = 1e-11
"""Certificates below this would be rounding."""

MAX_TANGENTS = 200
"""Tangents tried for one distortion; a dozen is usual, since the gap falls about fourfold with each."""


@dataclass(frozen=True, eq=False)
class Point:
    """A rule found at one slope: p(output given input), its rate in nats and its distortion, and a certified lower
    bound on rate + slope * distortion over all rules.
    """

    rule: Floats
    rate: float
    distortion: float
    bound: float


@dataclass(frozen=True, eq=False)
class TradeOff:
    """A design problem min rate under a distortion, as the search for one distortion sees it.

    tangent     : (slope, gap) -> the rule that minimizes rate + slope * distortion within the gap; slope inf: the least
                  rate among the rules of least distortion, with `bound` on the rate alone
    rate        : rate of a rule in nats, convex in the rule
    distortion  : expected distortion of a rule, linear in the rule
    free        : a rule of rate 0, and of the least distortion that constant outputs reach
    """

    tangent: Callable[[float, float], Point]
    rate: Callable[[Floats], float]
    distortion: Callable[[Floats], float]
    free: Floats


def at_slope(problem: TradeOff, slope: float, gap: float) -> tuple[Point, float]:
    """The point of the curve with the given slope, and the certified gap in nats."""
    point = problem.tangent(slope, gap)
    return point, max(0.0, point.rate + slope * point.distortion - point.bound)


def at_distortion(problem: TradeOff, target: float, gap: float) -> tuple[Point, float]:
    """The rule of least rate among those of distortion at most `target`, and its certified gap in nats.

    Two points of the curve on either side of the target; the tangent parallel to their chord gives a third, between
    them. The answer mixes the last two (R is convex: mixing never exceeds the chord) and is measured again; the lower
    bound is the best of the tangents, R(D) >= bound - slope * D. Straight pieces of the curve need no extra care.
    """
    left = problem.tangent(math.inf, gap / 4)
    free = problem.distortion(problem.free)
    slack = 1e-12 * max(abs(left.distortion), abs(free), 1e-300)
    if target < left.distortion - slack:
        raise UnmaskError(
            f"the distortion asked for is {target:.9g}, expected at least {left.distortion:.9g}, the least that any "
            "rule reaches: raise it"
        )
    if target <= left.distortion + slack:
        return left, max(0.0, left.rate - left.bound)
    right = Point(problem.free, 0.0, free, 0.0)
    if target >= right.distortion:
        return right, 0.0
    lower = 0.0
    best = right
    certified = math.inf
    for _ in range(MAX_TANGENTS):
        mixed = _mixture(problem, left, right, target)
        if mixed.rate - lower < certified:
            best, certified = mixed, mixed.rate - lower
        slope = (left.rate - right.rate) / (right.distortion - left.distortion)
        if certified <= gap or slope <= 0:
            break
        point = problem.tangent(slope, gap / 4)
        lower = max(lower, point.bound - slope * target)
        certified = best.rate - lower
        if not left.distortion < point.distortion < right.distortion:
            break
        left, right = (point, right) if point.distortion <= target else (left, point)
    return best, max(0.0, certified)


def _mixture(problem: TradeOff, left: Point, right: Point, target: float) -> Point:
    share = (target - left.distortion) / (right.distortion - left.distortion)
    rule = (1 - share) * left.rule + share * right.rule
    return Point(rule, problem.rate(rule), problem.distortion(rule), 0.0)


def costs(values: ArrayLike, what: str, shape: tuple[int | None, int | None]) -> Floats:
    """A finite matrix of losses, at least 0, with the numbers of rows and columns asked for (None: any)."""
    matrix = np.asarray(values, dtype=np.float64)
    fits = matrix.ndim == 2 and all(
        want is None or want == have for want, have in zip(shape, matrix.shape, strict=True)
    )
    if not fits or 0 in matrix.shape:
        want = " x ".join("any" if size is None else str(size) for size in shape)
        raise UnmaskError(f"the {what} has shape {matrix.shape}, expected {want}")
    if not np.all(np.isfinite(matrix)) or matrix.min() < 0:
        raise UnmaskError(f"the {what} has negative or infinite entries, expected numbers at least 0")
    return matrix


@dataclass(frozen=True, eq=False)
class RateDistortion:
    """Points of a curve of least information at a distortion, each with the rule that attains it and a certificate.

    rate       : (k,) I(X;Y) in nats, what is learned about the secret
    distortion : (k,) expected distortion of the rules
    rules      : k channels from what the publisher sees to what is released, with the prior of their inputs
    leaks      : k channels p(y given x) with the prior of X, what the adversary is up against: the rules themselves
                 where the secret is what is perturbed
    gap        : (k,) in nats: the least rate at this distortion lies between rate - gap and rate, rounding apart
    """

    rate: Floats
    distortion: Floats
    rules: tuple[Channel, ...]
    leaks: tuple[Channel, ...]
    gap: Floats

    @property
    def rule(self) -> Channel:
        """The rule of a curve of one point."""
        return self._only(self.rules)

    @property
    def leak(self) -> Channel:
        """The channel from the secret of a curve of one point."""
        return self._only(self.leaks)

    def _only(self, channels: tuple[Channel, ...]) -> Channel:
        if len(channels) != 1:
            raise UnmaskError(f"the curve has {len(channels)} points, expected one: choose one of `rules` or `leaks`")
        return channels[0]


def curve(
    problem: TradeOff,
    channels: Callable[[Floats], tuple[Channel, Channel]],
    *,
    slopes: ArrayLike | None,
    distortion: ArrayLike | None,
    gap: float,
) -> RateDistortion:
    """The points at these slopes, or at these distortions; channels : a rule -> it and its leak, as channels."""
    if (slopes is None) == (distortion is None):
        raise UnmaskError("expected either slopes or distortion, given both or neither")
    if not gap >= LEAST_GAP:
        raise UnmaskError(
            f"the gap asked for is {gap} nats, expected at least {LEAST_GAP}: double precision ends there"
        )
    name, solve = ("slope", at_slope) if distortion is None else ("distortion", at_distortion)
    given = np.atleast_1d(np.asarray(slopes if distortion is None else distortion, dtype=np.float64))
    if given.ndim != 1 or not given.size or not np.all(np.isfinite(given)) or given.min() < 0:
        raise UnmaskError(f"a {name} is negative or infinite, or there is none, expected numbers at least 0")
    points, gaps = zip(*(solve(problem, value, gap) for value in given.tolist()), strict=True)
    rules, leaks = zip(*(channels(point.rule) for point in points), strict=True)
    rate, cost = np.array([(point.rate, point.distortion) for point in points]).T
    return RateDistortion(rate, cost, rules, leaks, np.array(gaps))


def mutual_information(p_x: Floats, conditional: Floats) -> float:
    """I(X;Y) in nats of a prior (n,) and rows p(y given x) (n, m), as sum p(x) KL(p(y given x) | p(y)); 0 log 0 is 0.

    >>> round(mutual_information(np.array([0.5, 0.5]), np.eye(2)), 6)
    0.693147
    """
    p_y = p_x @ conditional
    ratio = np.divide(conditional, p_y, out=np.ones_like(conditional), where=conditional > 0)
    return max(0.0, float(p_x @ (conditional * np.log(ratio)).sum(axis=1)))
