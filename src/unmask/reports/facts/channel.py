"""What a report shows of a channel, or of several mechanisms: what the best adversary can still estimate, as values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from unmask.errors import UnmaskError

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

    def __post_init__(self) -> None:
        """Refuse negative losses, leakages and log ratios; one that is not known may be nan."""
        known = {name: value for name, value in vars(self).items() if name not in ("name", "errors")}
        known |= {f"the error of {name!r}": value for name, value in self.errors.items() if value is not None}
        for name, value in known.items():
            if value < -ROUNDING:
                raise UnmaskError(f"{name} of mechanism {self.name!r} is {value:g}, expected at least 0")


@dataclass(frozen=True)
class ObservationRisk:
    """One observation by its label: its chance, the best answer, their expected loss, and the likeliest secrets."""

    observation: str
    chance: float
    answer: str
    error: float
    likeliest: tuple[tuple[str, float], ...]

    def __post_init__(self) -> None:
        """Refuse chances that are none."""
        for name, chance in (("chance", self.chance), *((f"chance of secret {i}", p) for i, (_, p) in self._numbered)):
            if not -ROUNDING <= chance <= 1 + ROUNDING:
                raise UnmaskError(f"the {name} at an observation is {chance:g}, expected 0 to 1")

    @property
    def _numbered(self) -> enumerate[tuple[str, float]]:
        return enumerate(self.likeliest, 1)


@dataclass(frozen=True)
class BoundRow:
    """A bound beside the quantity that it bounds, in the same unit."""

    name: str
    bound: float
    truth: float
    unit: str
    meaning: str = ""


@dataclass(frozen=True)
class ChannelRisk:
    """Mechanisms, the limit that no mechanism passes, and one of them in detail.

    secrets, observations : how many there are, of the mechanism in detail
    loss, unit            : name of the adversary's loss, and its unit ("cells", "km", "probability" ...)
    distortion_unit       : unit of the distortion
    prior_error           : expected loss of the best answer without any observation
    mechanisms            : compared mechanisms; at least one
    limit                 : (distortion, privacy) of the optimal mechanism, by rising distortion; empty where not run
    detail                : name of the mechanism of which the rest speaks
    per_observation       : the observations that give most away first, at most twenty
    spread                : (error, share): share of observations by weight whose error is at most so much, rising
    bounds                : bounds against truth
    """

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
    spread: tuple[tuple[float, float], ...] = ()
    bounds: tuple[BoundRow, ...] = ()

    def __post_init__(self) -> None:
        """Refuse no mechanism at all, names that cannot be told apart, and curves that do not rise."""
        names = [item.name for item in self.mechanisms]
        if not names:
            raise UnmaskError("the channel report has 0 mechanisms, expected at least 1")
        if len(set(names)) < len(names):
            raise UnmaskError(f"{len(names)} mechanisms have {len(set(names))} names, expected one for each")
        if self.detail and self.detail not in names:
            raise UnmaskError(f"the mechanism in detail is {self.detail!r}, expected one of {', '.join(names)}")
        if not self.prior_error >= -ROUNDING:
            raise UnmaskError(f"the error without any observation is {self.prior_error:g}, expected at least 0")
        _rising([x for x, _ in self.limit], "the distortions of the limit")
        _rising([x for x, _ in self.spread], "the errors of the spread")
        _rising([y for _, y in self.spread], "the shares of the spread")
        if any(not -ROUNDING <= share <= 1 + ROUNDING for _, share in self.spread):
            raise UnmaskError("a share of the spread lies outside 0 to 1, expected cumulated shares of observations")

    @property
    def spoken_of(self) -> MechanismRisk:
        """The mechanism in detail; the first one where none is named."""
        return next((item for item in self.mechanisms if item.name == self.detail), self.mechanisms[0])

    @property
    def others(self) -> tuple[str, ...]:
        """The adversaries beside the best one, in the order of their first mention."""
        return tuple(dict.fromkeys(name for item in self.mechanisms for name in item.errors if name != BEST))

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

    def reached(self, item: MechanismRisk) -> float | None:
        """The error of the best adversary as a share of what the limit allows; None where that is not known, or 0."""
        best = self.limit_at(item.distortion)
        return item.privacy / best if best is not None and best > ROUNDING * self.prior_error else None


def _rising(values: Sequence[float], what: str) -> None:
    if any(not a <= b + ROUNDING for a, b in pairwise(values)) or any(math.isnan(value) for value in values):
        raise UnmaskError(f"{what} do not rise, expected the smallest first")
