"""The greatest regret over ranges: what attackers bring is summed over kinds, and each kind has numbers of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final, Protocol

import numpy as np

from unmask.economics.exploitation import Floats
from unmask.economics.game import Expected, Publisher
from unmask.economics.response import Bounds
from unmask.economics.unknowns import PUBLISHER, Unknown, changed, changed_publisher

BESIDE: Final = 1e-8
"""Share of a break-even value by which a point is beside it."""


class Moves(Protocol):
    """Moves of a game, as their regrets need them."""

    @property
    def publisher(self) -> Publisher:
        """The publisher; what is unknown has any value."""

    @property
    def attackers(self) -> Mapping[str, Expected]:
        """The kinds of attackers; what is unknown has any value."""

    def kept(self, publisher: Publisher) -> Floats:
        """(n,) what is left of each move where nobody attacks."""

    def brought(self, kind: str, publisher: Publisher, friendly: Expected, hostile: Expected) -> Floats:
        """(2, n) what attackers of a kind bring at least and at most, whatever they are between two corners of a box;
        the corners are the same at a point.
        """

    def walks_away(self, places: Sequence[int], unknown: Unknown) -> float | None:
        """A value in the range of an unknown where its attackers just stay away from one of some moves, or None."""


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of the ranges of a kind's numbers.

    sides : the ends of each
    over  : (C, 2, n) what the kind brings there at least and at most, at each corner of the publisher's ranges
    at    : (C, 2, 2, n) the same at the friendliest and at the most hostile corner of the part
    """

    sides: tuple[tuple[float, float], ...]
    over: Floats
    at: Floats


@dataclass(eq=False)
class Regrets:
    """Bounds on max_x (max_v P_v(x) - P_m(x)) of each move m over all values x of the unknowns.

    P_v - P_m is a sum over kinds of attackers, each term of which depends on x through the numbers of that kind and of
    the publisher alone, and it is linear in the publisher's. So its maximum is, for each v, at a corner of the
    publisher's ranges, and there the sum of the maxima of its terms: however many kinds have ranges, each is searched
    by itself. A term is at most what v brings at most less what m brings at least in any piece of the kind's ranges,
    and at least the same, the other way around, at any point. Pieces are split where that leaves most open.
    """

    moves: Moves
    unknowns: Sequence[Unknown]
    pieces: dict[str, list[Piece]] = field(init=False)

    def __post_init__(self) -> None:
        own = [one for one in self.unknowns if one.of == PUBLISHER]
        corners = product(*((one.low, one.high) for one in own))
        self._publishers = [changed_publisher(self.moves.publisher, own, values) for values in corners]
        self._kept = np.stack([self.moves.kept(one) for one in self._publishers])
        self._of = {kind: [one for one in self.unknowns if one.of == kind] for kind in self.moves.attackers}
        self.pieces = {
            kind: [self._piece(kind, tuple((one.low, one.high) for one in own))] for kind, own in self._of.items()
        }

    @property
    def n(self) -> int:
        """How many moves."""
        return int(self._kept.shape[1])

    def greatest(self, move: int) -> Bounds:
        """The greatest regret of a move."""
        low, high = (max(float(one.max()), 0.0) for one in (self._at_least(move), self._at_most(move)))
        return Bounds(min(low, high), high)

    def at_least(self, rivals: Sequence[int]) -> Floats:
        """(n,) the greatest regret of each move is no less, by some rivals alone."""
        found = np.zeros(self.n)
        for v in rivals:
            total = self._kept[:, [v]] - self._kept
            for pieces in self.pieces.values():
                total = total + np.max([one.at[:, :, 0, [v]] - one.at[:, :, 1] for one in pieces], axis=(0, 2))
            found = np.maximum(found, total.max(axis=0))
        return found

    def narrow(self, move: int) -> bool:
        """Split the piece that leaves most of a move's regret open; False where that is what campaigns leave open."""
        most, least = self._at_most(move), self._at_least(move)
        corner, rival = np.unravel_index(int(most.argmax()), most.shape)
        opens = {kind: self._open(kind, int(corner), move, int(rival)) for kind, own in self._of.items() if own}
        kind = max(opens, key=lambda one: opens[one][0], default=None)
        if kind is None or opens[kind][0] <= 0 or most[corner, rival] <= least.max():
            return False
        place = opens[kind][1]
        self._split(kind, place, (move, int(rival)))
        return True

    def payoffs(self) -> tuple[Bounds, ...]:
        """What each move is worth at least and at most."""
        low = self._kept + sum(np.min([one.over[:, 0] for one in own], axis=0) for own in self.pieces.values())
        high = self._kept + sum(np.max([one.over[:, 1] for one in own], axis=0) for own in self.pieces.values())
        ends = zip(low.min(axis=0).tolist(), high.max(axis=0).tolist(), strict=True)
        return tuple(Bounds(*one) for one in ends)

    # ----- bounds

    def _at_most(self, move: int) -> Floats:
        """(C, n) the regret of a move against each rival is no more."""
        found = self._kept - self._kept[:, [move]]
        for pieces in self.pieces.values():
            found = found + np.max([one.over[:, 1] - one.over[:, 0, [move]] for one in pieces], axis=0)
        found[:, move] = 0.0
        return np.asarray(found)

    def _at_least(self, move: int) -> Floats:
        """(C, n) the regret of a move against each rival is no less."""
        found = self._kept - self._kept[:, [move]]
        for pieces in self.pieces.values():
            found = found + np.max([one.at[:, :, 0] - one.at[:, :, 1, [move]] for one in pieces], axis=(0, 2))
        found[:, move] = 0.0
        return np.asarray(found)

    def _open(self, kind: str, corner: int, move: int, rival: int) -> tuple[float, int]:
        """How much of a regret the pieces of a kind leave open, and which piece."""
        pieces = self.pieces[kind]
        most = [float(one.over[corner, 1, rival] - one.over[corner, 0, move]) for one in pieces]
        least = max(float((one.at[corner, :, 0, rival] - one.at[corner, :, 1, move]).max()) for one in pieces)
        place = int(np.argmax(most))
        sides = pieces[place].sides
        return (max(most) - least if any(high > low for low, high in sides) else 0.0), place

    # ----- pieces

    def _piece(self, kind: str, sides: tuple[tuple[float, float], ...]) -> Piece:
        friendly, hostile = (self._corner(kind, sides, worst=worst) for worst in (False, True))
        over = np.stack([self.moves.brought(kind, one, friendly, hostile) for one in self._publishers])
        if friendly == hostile:
            return Piece(sides, over, np.stack([over, over], axis=1))
        ends = [[self.moves.brought(kind, one, end, end) for end in (friendly, hostile)] for one in self._publishers]
        return Piece(sides, over, np.array(ends))

    def _corner(self, kind: str, sides: Sequence[tuple[float, float]], *, worst: bool) -> Expected:
        """The attacker at the corner of a part that is worst, or best, for the publisher."""
        found = self.moves.attackers[kind]
        for unknown, (low, high) in zip(self._of[kind], sides, strict=True):
            end = replace(unknown, low=low, high=high).end(worst=worst) if low < high else low
            found = changed(found, unknown.parameter, end)
        return found

    def _split(self, kind: str, place: int, moves: tuple[int, int]) -> None:
        """A piece in two: where attackers walk away from one of the moves, if one number is unknown, or half-way."""
        own, sides = self._of[kind], self.pieces[kind][place].sides
        widths = [(high - low) / (one.high - one.low) for one, (low, high) in zip(own, sides, strict=True)]
        side = int(np.argmax(widths))
        low, high = sides[side]
        flips = self.moves.walks_away(moves, replace(own[0], low=low, high=high)) if len(own) == 1 else None
        value = (low + high) / 2 if flips is None else flips
        above = min(value + BESIDE * max(abs(value), abs(high - low)), high)
        parts = [(*sides[:side], ends, *sides[side + 1 :]) for ends in ((low, value), (above, high))]
        self.pieces[kind][place : place + 1] = [self._piece(kind, part) for part in parts]
