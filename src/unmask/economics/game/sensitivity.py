"""Sensitivity of the publisher's decision: each input at a low and a high value, all others as assumed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import as_number
from unmask.economics.deterrence.variations import first_detection, with_parameter
from unmask.economics.game.game import PublisherGame
from unmask.economics.game.publisher import AttackerKind, Move

PUBLISHER: Final = "publisher"
"""Owner of the inputs that belong to no attacker."""

PUBLISHER_INPUTS: Final = ("benefit", "loss", "penalty", "audit_cost", "recovered")

ATTACKER_INPUTS: Final = ("number", "gain", "access_cost", "link_cost", "exploit_cost", "fine", "prior", "detection")

PROBABILITIES: Final = frozenset({"recovered", "prior", "detection"})
"""Inputs that are at most 1."""

EQUAL_PAYOFFS: Final = 1e-9
"""Relative difference below which two payoffs are the same."""


@dataclass(frozen=True)
class Range:
    """The low and the high value of one input.

    Parameters
    ----------
    of : str
        The kind of attacker, or "publisher".
    parameter : str
        One of `PUBLISHER_INPUTS` or `ATTACKER_INPUTS`; "number" counts the attackers of the kind, "detection" is the
        probability that the first try is detected.
    low, high : float
        The two values.
    """

    of: str
    parameter: str
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.parameter not in (*PUBLISHER_INPUTS, *ATTACKER_INPUTS):
            expected = ", ".join((*PUBLISHER_INPUTS, *ATTACKER_INPUTS))
            raise UnmaskError(f"{self.parameter!r} cannot be a range; expected one of {expected}")
        if (self.of == PUBLISHER) != (self.parameter in PUBLISHER_INPUTS):
            owner = "the publisher has" if self.parameter in PUBLISHER_INPUTS else "an attacker has"
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
    input : Range
        The input and its two values.
    value : float
        The value of the game.
    best : tuple of Move
        The best move at the low and at the high value.
    payoff : tuple of float
        The lower bound on the payoff, at these values, of the move that is best at `value`.
    """

    input: Range
    value: float
    best: tuple[Move, Move]
    payoff: tuple[float, float]

    @property
    def loss(self) -> tuple[float, float]:
        """Compute the payoff that the decision forgoes at each end; 0 if it stays the best."""
        gaps = [(move.payoff.low - payoff, payoff) for move, payoff in zip(self.best, self.payoff, strict=True)]
        low, high = (gap if gap > EQUAL_PAYOFFS * abs(payoff) else 0.0 for gap, payoff in gaps)
        return low, high


def sensitivity(game: PublisherGame, ranges: Sequence[Range] = (), **terms: Sequence[float]) -> tuple[Sensitivity, ...]:
    """Play the game with each input at its low and its high value, all other inputs as they are.

    Parameters
    ----------
    game : PublisherGame
        The game.
    ranges : sequence of Range
        Values of some inputs. Every other input above 0 is halved and doubled, a probability up to 1.
    **terms : sequence of float
        `prices`, `fines` and `audits` as in `PublisherGame.moves`.

    Returns
    -------
    tuple of Sensitivity
        One for each input, the greatest loss first.
    """
    for item in ranges:
        if item.of != PUBLISHER and item.of not in game.attackers:
            raise UnmaskError(f"{item.of} is not an attacker of this game; expected one of {', '.join(game.attackers)}")
    choice = game.best_move(**terms)
    rows = []
    for value, item in _list_inputs(game, {(item.of, item.parameter): item for item in ranges}):
        games = [_change_game(game, item, end) for end in (item.low, item.high)]
        low, high = (changed.best_move(**terms) for changed in games)
        payoffs = [changed.move(choice.protection, choice.terms).payoff.low for changed in games]
        rows.append(Sensitivity(item, value, (low, high), (payoffs[0], payoffs[1])))
    return tuple(sorted(rows, key=lambda row: -max(row.loss)))


def _list_inputs(game: PublisherGame, ranges: dict[tuple[str, str], Range]) -> Iterator[tuple[float, Range]]:
    """Yield the value and the range of each input that has a range or can make a difference."""
    values: dict[tuple[str, str], Any] = {(PUBLISHER, name): getattr(game.publisher, name) for name in PUBLISHER_INPUTS}
    idle = set()
    for kind, expected in game.attackers.items():
        attacker = expected.attacker
        derived = {"number": expected.number, "detection": first_detection(attacker)}
        values |= {(kind, name): derived.get(name, getattr(attacker, name, None)) for name in ATTACKER_INPUTS}
        idle |= {(kind, "prior")} if attacker.prior == 1 else set()  # the chance of a belief is in the belief
        idle |= set() if attacker.arrest or attacker.max_fines else {(kind, "fine"), (kind, "detection")}
    for key, value in values.items():
        limit = 1.0 if key[1] in PROBABILITIES else sys.float_info.max
        if key in ranges or (value and key not in idle):
            yield float(value), ranges.get(key) or Range(*key, value / 2, min(2 * value, limit))


def _change_game(game: PublisherGame, item: Range, value: float) -> PublisherGame:
    """Change one input of a game; campaigns that were solved stay solved."""
    changes: dict[str, Any] = {item.parameter: value}
    if item.of == PUBLISHER:
        return replace(game, publisher=replace(game.publisher, **changes))
    kind = _change_kind(game.attackers[item.of], item.parameter, value)
    return replace(game, attackers={**game.attackers, item.of: kind})


def _change_kind(kind: AttackerKind, name: str, value: float) -> AttackerKind:
    """Change one input of a kind; of detection only the belief of the attacker changes."""
    if name == "number":
        return replace(kind, number=value)
    changed = replace(kind, attacker=with_parameter(kind.attacker, name, value))
    if kind.actual is None or name == "detection":
        return changed
    return replace(changed, actual=with_parameter(kind.actual, name, value))
