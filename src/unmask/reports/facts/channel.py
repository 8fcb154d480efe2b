"""What a report shows of a channel, or of several mechanisms: what the best adversary can still estimate, as values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from unmask.reports.subject import Subject

BEST = "bayes"
"""The best adversary: they give the answer of least expected loss. `MechanismRisk.privacy` is about them."""

ROUNDING = 1e-9
"""By so much a value may leave its range: sums of many small numbers do."""


@dataclass(frozen=True)
class MechanismRisk:
    """One mechanism: what it costs in utility, and what adversaries still get wrong.

    name         : as the caller calls it
    distortion   : expected distortion between what is released and what is true
    privacy      : expected loss of the best adversary (Bayes), P_avg
    worst        : their expected loss at the observation that gives most away, P_min
    errors       : other adversaries -> their expected loss; None where one was not run
    leakage_bits : mutual information of secret and observation
    epsilon      : the largest log ratio of an observation's chances, in nats; infinite where one rules a secret out
    """

    name: str
    distortion: float
    privacy: float
    worst: float
    errors: Mapping[str, float | None]
    leakage_bits: float
    epsilon: float


@dataclass(frozen=True)
class SampledLeakage:
    """The leakage of one system by samples, see `unmask.channels.criteria.CountedInformation`."""

    name: str
    samples: int
    leakage_bits: float
    low: float
    high: float
    counted: float
    by_chance: float
    p_value: float


@dataclass(frozen=True)
class SampledRisk(Subject):
    """Systems of the same secrets that are known by samples only."""

    name: ClassVar = "samples"
    shown_by: ClassVar = "unmask.reports.sections.samples"
    kind: ClassVar = "Channel audit"
    verb: ClassVar = "audit channel"
    asks: ClassVar = "leakage_bits.high <= 0.1"
    before: ClassVar = "success"
    personal: ClassVar = False

    secrets: int
    leakages: tuple[SampledLeakage, ...]

    def without_small(self, least: int) -> SampledRisk:  # noqa: ARG002 - it is about a system, and about nobody
        """Return the same: it is about a system and about no person."""
        return self


@dataclass(frozen=True)
class ObservationRisk:
    """One observation by its label: its chance, the best answer, their expected loss, and the likeliest secrets."""

    observation: str
    chance: float
    answer: str
    error: float
    likeliest: tuple[tuple[str, float], ...]

    @property
    def _numbered(self) -> enumerate[tuple[str, float]]:
        return enumerate(self.likeliest, 1)


@dataclass(frozen=True)
class SecretRisk:
    """One secret by its label.

    prior  : its probability without any observation
    belief : the probability that the adversary gives it where it is the truth, on average over what is observed
    """

    secret: str
    prior: float
    belief: float


@dataclass(frozen=True)
class BoundRow:
    """A bound beside the quantity that it bounds, in the same unit."""

    name: str
    bound: float
    truth: float
    unit: str
    meaning: str = ""


@dataclass(frozen=True)
class ChannelRisk(Subject):
    """Mechanisms, the limit that no mechanism passes, and one of them in detail.

    secrets, observations : how many there are, of the mechanism in detail
    loss, unit            : name of the adversary's loss, and its unit ("cells", "km", "probability" ...)
    distortion_unit       : unit of the distortion
    prior_error           : expected loss of the best answer without any observation
    mechanisms            : compared mechanisms; at least one
    limit                 : (distortion, privacy) of the optimal mechanism, by rising distortion; empty where not run
    detail                : name of the mechanism of which the rest speaks
    per_observation       : the observations that give most away first, at most twenty
    per_secret            : the secrets of which the adversary's belief grows most first, at most twenty
    worst_off             : how many secrets are as badly off as the first of these
    spread                : (error, share): share of observations by weight whose error is at most so much, rising
    bounds                : bounds against truth
    asked                 : options with which `unmask design` faces the same prior and losses
    """

    name: ClassVar = "channel"
    shown_by: ClassVar = "unmask.reports.sections.channel"
    kind: ClassVar = "Channel audit"
    verb: ClassVar = "audit channel"
    asks: ClassVar = "epsilon <= 1"
    before: ClassVar = "success"
    personal: ClassVar = False

    secrets: int
    observations: int
    loss: str
    unit: str
    distortion_unit: str
    prior_error: float
    mechanisms: tuple[MechanismRisk, ...]
    limit: tuple[tuple[float, float], ...] = ()
    detail: str = ""
    per_observation: tuple[ObservationRisk, ...] = ()
    per_secret: tuple[SecretRisk, ...] = ()
    worst_off: int = 1
    spread: tuple[tuple[float, float], ...] = ()
    bounds: tuple[BoundRow, ...] = ()
    asked: str = "--prior prior.csv"

    def without_small(self, least: int) -> ChannelRisk:  # noqa: ARG002 - it is about a mechanism, and about nobody
        """The same: it is about a mechanism, and about nobody."""
        return self

    def criteria(self) -> Iterator[tuple[str, str, float]]:
        """Of each mechanism what it distorts and leaks, and how much of the limit it reaches."""
        for one in self.mechanisms:
            yield one.name, "distortion", one.distortion
            yield one.name, "leakage_bits", one.leakage_bits
            yield one.name, "epsilon", one.epsilon
            reached = self.reached(one)
            yield one.name, "share_of_limit", math.nan if reached is None else reached

    @property
    def spoken_of(self) -> MechanismRisk:
        """The mechanism in detail; the first one where none is named."""
        return next((item for item in self.mechanisms if item.name == self.detail), self.mechanisms[0])

    @property
    def others(self) -> tuple[str, ...]:
        """The adversaries beside the best one, in the order of their first mention."""
        return tuple(dict.fromkeys(name for item in self.mechanisms for name in item.errors if name != BEST))

    @property
    def distorts(self) -> bool:
        """Whether it is known of any mechanism how much it distorts."""
        return not all(math.isnan(item.distortion) for item in self.mechanisms)

    def limit_at(self, distortion: float) -> float | None:
        """Privacy of the optimal mechanism at a distortion, on the line between the points that were run.

        The line can be reached, by drawing one of its two mechanisms by lot, so that it never promises too much. Beyond
        the last point it goes on level where that has reached the error without any observation, since nothing can
        pass that. None where it is not known: before the first point, beyond the last otherwise, or without a limit.

        >>> near = MechanismRisk("a", 1.0, 0.5, 0.2, {}, 1.0, 2.0)
        >>> risk = ChannelRisk(4, 4, "euclidean", "km", "km", 3.0, (near,), limit=((0.0, 0.0), (2.0, 2.0)))
        >>> risk.limit_at(1.0), risk.limit_at(2.5)
        (1.0, None)
        """
        if not self.limit or not self.limit[0][0] - ROUNDING <= distortion < math.inf:
            return None
        for (x, y), (x2, y2) in pairwise(self.limit):
            if x <= distortion <= x2:
                return max(y, y2) if x2 == x else y + (y2 - y) * (distortion - x) / (x2 - x)
        end, level = self.limit[-1]
        if distortion <= end * (1 + ROUNDING) + ROUNDING:
            return level
        return level if level >= self.prior_error * (1 - 1e-6) else None

    @property
    def hides_all(self) -> float | None:
        """The distortion at which the optimal mechanism leaves all error that there is; None where it is not known."""
        blind = (cost for cost, error in self.limit if error >= self.prior_error * (1 - 1e-6))
        return next(blind, None)

    def reached(self, item: MechanismRisk) -> float | None:
        """The error of the best adversary as a share of what the limit allows; None where that is not known, or 0."""
        best = self.limit_at(item.distortion)
        return item.privacy / best if best is not None and best > ROUNDING * self.prior_error else None
