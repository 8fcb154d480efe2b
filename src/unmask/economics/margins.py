"""How far a number may be from what was assumed before another move is the better one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from unmask.economics.deterrence import first_detection
from unmask.economics.game import WITHHELD, Move, PublisherGame
from unmask.economics.unknowns import OF_PUBLISHER, PUBLISHER, WORSE, Unknown, at

DOUBLINGS: Final = 6
"""How often a number is doubled, and halved, before it is said never to matter."""

PRECISION: Final = 0.01
"""Relative width at which the search for a margin ends."""

GAP: Final = 1e-9
"""Share of a payoff by which another one may be higher and be the same."""


@dataclass(frozen=True)
class Margin:
    """Between which values of one number a move stays the best of several, all other numbers as assumed.

    of, parameter : as in `Unknown`; value: what was assumed
    low, high     : where it stops being the best, to a percent; None where it stays the best down to a 64th of
                    what was assumed, or up to 64 times of it, for a probability up to 1
    below, above  : place among the moves of the one that is better there
    """

    of: str
    parameter: str
    value: float
    low: float | None
    below: int | None
    high: float | None
    above: int | None

    @property
    def factor(self) -> float:
        """The least factor by which the number may be wrong and the choice with it; inf where it does not matter."""
        factors = [self.value / self.low if self.low else 0.0, self.high / self.value if self.high else 0.0]
        return min((one for one in factors if one), default=float("inf"))


def margins(game: PublisherGame, moves: Sequence[Move]) -> tuple[Margin, ...]:
    """The margins of the first of moves against the others, the narrowest first; of all numbers above 0.

    Payoffs are what moves are worth at least. Values are looked at in doublings: a choice that changes and changes back
    between two of them is not seen.
    """
    found = [_margin(game, moves, of, parameter, value) for of, parameter, value in _assumed(game)]
    return tuple(sorted(found, key=lambda one: one.factor))


def _assumed(game: PublisherGame) -> Iterator[tuple[str, str, float]]:
    """Whose each number is, its name, and its value; those above 0 that can make a difference."""
    for name in OF_PUBLISHER:
        yield from ((PUBLISHER, name, value) for value in [getattr(game.publisher, name)] if value)
    for kind, expected in game.attackers.items():
        attacker = expected.attacker
        values = {"number": expected.number, "detection": first_detection(attacker)}
        for name in (name for name in WORSE if name not in (*OF_PUBLISHER, "prior")):
            value = values[name] if name in values else getattr(attacker, name)
            idle = name in ("fine", "detection") and not (attacker.arrest or attacker.max_fines)
            yield from [(kind, name, float(value))] if value and not idle else []


def _margin(game: PublisherGame, moves: Sequence[Move], of: str, parameter: str, value: float) -> Margin:
    unknown = Unknown(of, parameter, 0.0, 1.0)
    most = 1.0 if parameter == "detection" else float("inf")

    def better(value: float) -> int | None:
        """The move that is better than the first at a value of the number."""
        there = at(game, [unknown], [value])
        first = there.move(moves[0].protection, moves[0].terms).payoff.low
        least = first + GAP * abs(first)
        rivals = [i for i, one in enumerate(moves) if i and _at_most(there, one) > least]
        payoffs = {i: there.move(moves[i].protection, moves[i].terms).payoff.low for i in rivals}
        best = max(payoffs, key=lambda i: payoffs[i], default=0)
        return best if best and payoffs[best] > least else None

    low, below = _changes(better, value, lambda x: x / 2)
    high, above = _changes(better, value, lambda x: min(2 * x, most))
    return Margin(of, parameter, value, low, below, high, above)


def _at_most(game: PublisherGame, move: Move) -> float:
    """What a move can be worth at most, at a glance."""
    if game.publisher.fees or game.publisher.recovered:
        return float("inf")
    return 0.0 if move.protection == WITHHELD else game.kept(move.protection, move.terms)


def _changes(
    better: Callable[[float], int | None], value: float, further: Callable[[float], float]
) -> tuple[float | None, int | None]:
    """Where another move becomes the better one, going further and further from a value, and which."""
    for _ in range(DOUBLINGS):
        beyond = further(value)
        if beyond == value:
            break
        if better(beyond) is not None:
            return _narrowed(better, value, beyond)
        value = beyond
    return None, None


def _narrowed(better: Callable[[float], int | None], stays: float, changed: float) -> tuple[float, int | None]:
    """The value, on the side where the choice stays, and the move that is better just beyond."""
    while abs(changed - stays) > PRECISION * min(changed, stays):
        middle = (stays + changed) / 2
        stays, changed = (middle, changed) if better(middle) is None else (stays, middle)
    return stays, better(changed)
