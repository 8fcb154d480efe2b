"""What a publisher does not know: numbers of which only the range is known, and the game at some of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from unmask.economics.attacker import as_number
from unmask.economics.deterrence import with_parameter
from unmask.economics.game import Expected, Publisher, PublisherGame
from unmask.errors import UnmaskError

PUBLISHER: Final = "publisher"
"""Whose an unknown is that is none of an attacker's."""

WORSE: Final[Mapping[str, int]] = {
    "gain": 1, "prior": 1, "number": 1, "access_cost": -1, "link_cost": -1, "exploit_cost": -1, "fine": -1,
    "detection": -1, "loss": 1, "penalty": 1, "audit_cost": 1, "benefit": -1,
}  # fmt: skip
"""Parameter that may be unknown -> 1 if more of it is worse for the publisher, -1 if less is."""

OF_PUBLISHER: Final = ("benefit", "loss", "penalty", "audit_cost")
"""Those of `WORSE` that are numbers of the publisher, all others an attacker's."""


@dataclass(frozen=True)
class Unknown:
    """A number of which only the range is known.

    of        : the kind of attacker whose parameter it is, or "publisher"
    parameter : one of `WORSE`; "detection" is the probability that the first try is detected, "number" how many
                attackers of the kind are expected
    """

    of: str
    parameter: str
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.parameter not in WORSE:
            raise UnmaskError(f"{self.parameter!r} cannot be a range; expected one of {', '.join(WORSE)}")
        if (self.of == PUBLISHER) != (self.parameter in OF_PUBLISHER):
            whose = "the publisher has" if self.parameter in OF_PUBLISHER else "an attacker has"
            raise UnmaskError(f"{self.parameter} is a number that {whose}, and a range of it was given for {self.of}")
        if not as_number(self.parameter, self.low) < as_number(self.parameter, self.high):
            raise UnmaskError(f"{self.parameter} is from {self.low:g} to {self.high:g}, expected a rising range")

    @property
    def middle(self) -> float:
        """Half-way."""
        return (self.low + self.high) / 2

    def end(self, *, worst: bool) -> float:
        """The end that is worst, or best, for the publisher."""
        return self.high if (WORSE[self.parameter] > 0) == worst else self.low


def at(game: PublisherGame, unknowns: Sequence[Unknown], values: Sequence[float]) -> PublisherGame:
    """The game where each unknown has this value; campaigns that were solved stay solved."""
    publisher, attackers = game.publisher, dict(game.attackers)
    for unknown, value in zip(unknowns, values, strict=True):
        if unknown.of == PUBLISHER:
            publisher = changed_publisher(publisher, [unknown], [value])
        else:
            attackers[unknown.of] = changed(attackers[unknown.of], unknown.parameter, value)
    return replace(game, publisher=publisher, attackers=attackers)


def changed_publisher(publisher: Publisher, unknowns: Sequence[Unknown], values: Sequence[float]) -> Publisher:
    """The publisher with some numbers changed."""
    named: dict[str, float] = {one.parameter: value for one, value in zip(unknowns, values, strict=True)}
    return replace(publisher, **named)  # type: ignore[arg-type]


def changed(kind: Expected, name: str, value: float) -> Expected:
    """A kind with one number changed; of detection what is believed changes alone."""
    if name == "number":
        return replace(kind, number=value)
    changed = replace(kind, attacker=with_parameter(kind.attacker, name, value))
    if kind.actual is None or name == "detection":
        return changed
    return replace(changed, actual=with_parameter(kind.actual, name, value))
