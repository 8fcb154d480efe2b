"""Sensitivity of the publisher's decision: each input at a low and a high value, all others as assumed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import as_number
from unmask.economics.deterrence import first_detection, with_parameter
from unmask.economics.game import Expected, Move, PublisherGame

PUBLISHER: Final = "publisher"
"""Owner of the inputs that belong to no attacker."""

OF_PUBLISHER: Final = ("benefit", "loss", "penalty", "audit_cost", "recovered")

OF_ATTACKER: Final = ("number", "gain", "access_cost", "link_cost", "exploit_cost", "fine", "prior", "detection")

PROBABILITIES: Final = frozenset({"recovered", "prior", "detection"})
"""Inputs that are at most 1."""

GAP: Final = 1e-9
"""Share of a payoff by which another one may be higher and be the same."""


@dataclass(frozen=True)
class Range:
    """The low and the high value of one input.

    Parameters
    ----------
    of
        The kind of attacker, or "publisher".
    parameter
        One of `OF_PUBLISHER` or `OF_ATTACKER`; "number" counts the attackers of the kind, "detection" is the
        probability that the first try is detected.
    low, high
        The two values.
    """

    of: str
    parameter: str
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.parameter not in (*OF_PUBLISHER, *OF_ATTACKER):
            expected = ", ".join((*OF_PUBLISHER, *OF_ATTACKER))
            raise UnmaskError(f"{self.parameter!r} cannot be a range; expected one of {expected}")
        if (self.of == PUBLISHER) != (self.parameter in OF_PUBLISHER):
            owner = "the publisher has" if self.parameter in OF_PUBLISHER else "an attacker has"
            raise UnmaskError(f"{self.parameter} is a number that {owner}, and a range of it was given for {self.of}")
        if not as_number(self.parameter, self.low) < as_number(self.parameter, self.high):
            raise UnmaskError(f"{self.parameter} is from {self.low:g} to {self.high:g}, expected a rising range")

    @property
    def middle(self) -> float:
        """Compute the value half-way."""
        return (self.low + self.high) / 2


@dataclass(frozen=True)
class Sensitivity:
    """The decision at both ends of one input.

    Parameters
    ----------
    input
        The input and its two values.
    value
        The value of the game.
    best
        The best move at the low and at the high value.
    payoff
        The least payoff at these values of the move that is best at `value`.
    """

    input: Range
    value: float
    best: tuple[Move, Move]
    payoff: tuple[float, float]

    @property
    def loss(self) -> tuple[float, float]:
        """Compute the payoff that the decision forgoes at each end; 0 where it stays the best."""
        gaps = [(move.payoff.low - own, own) for move, own in zip(self.best, self.payoff, strict=True)]
        low, high = (gap if gap > GAP * abs(own) else 0.0 for gap, own in gaps)
        return low, high


def sensitivity(game: PublisherGame, ranges: Sequence[Range] = (), **terms: Sequence[float]) -> tuple[Sensitivity, ...]:
    """Play the game with each input at its low and its high value, all other inputs as they are.

    Parameters
    ----------
    game
        The game.
    ranges
        Values of some inputs. Every other input above 0 is halved and doubled, a probability up to 1.
    terms
        `prices`, `fines` and `audits` as in `PublisherGame.moves`.

    Returns
    -------
    tuple of Sensitivity
        One for each input, the greatest loss first.
    """
    for one in ranges:
        if one.of != PUBLISHER and one.of not in game.attackers:
            raise UnmaskError(f"{one.of} is no attacker of this game; expected one of {', '.join(game.attackers)}")
    choice = game.best_move(**terms)
    rows = []
    for value, one in _inputs(game, {(one.of, one.parameter): one for one in ranges}):
        games = [_at(game, one, end) for end in (one.low, one.high)]
        low, high = (there.best_move(**terms) for there in games)
        own = [there.move(choice.protection, choice.terms).payoff.low for there in games]
        rows.append(Sensitivity(one, value, (low, high), (own[0], own[1])))
    return tuple(sorted(rows, key=lambda row: -max(row.loss)))


def _inputs(game: PublisherGame, ranges: dict[tuple[str, str], Range]) -> Iterator[tuple[float, Range]]:
    """Yield the value and the range of each input that has a range or can make a difference."""
    values: dict[tuple[str, str], Any] = {(PUBLISHER, name): getattr(game.publisher, name) for name in OF_PUBLISHER}
    idle = set()
    for kind, expected in game.attackers.items():
        attacker = expected.attacker
        known = {"number": expected.number, "detection": first_detection(attacker)}
        values |= {(kind, name): known.get(name, getattr(attacker, name, None)) for name in OF_ATTACKER}
        idle |= {(kind, "prior")} if attacker.prior == 1 else set()  # a belief has the chance of its own
        idle |= set() if attacker.arrest or attacker.max_fines else {(kind, "fine"), (kind, "detection")}
    for key, value in values.items():
        most = 1.0 if key[1] in PROBABILITIES else sys.float_info.max
        if key in ranges or (value and key not in idle):
            yield float(value), ranges.get(key) or Range(*key, value / 2, min(2 * value, most))


def _at(game: PublisherGame, one: Range, value: float) -> PublisherGame:
    """Change one input of a game; campaigns that were solved stay solved."""
    changes: dict[str, Any] = {one.parameter: value}
    if one.of == PUBLISHER:
        return replace(game, publisher=replace(game.publisher, **changes))
    changed = _changed(game.attackers[one.of], one.parameter, value)
    return replace(game, attackers={**game.attackers, one.of: changed})


def _changed(kind: Expected, name: str, value: float) -> Expected:
    """Change one input of a kind; of detection only the belief of the attacker changes."""
    if name == "number":
        return replace(kind, number=value)
    changed = replace(kind, attacker=with_parameter(kind.attacker, name, value))
    if kind.actual is None or name == "detection":
        return changed
    return replace(changed, actual=with_parameter(kind.actual, name, value))
