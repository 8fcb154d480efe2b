"""Moves judged over ranges of what is not known: by what each may be regretted, and by what it brings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np

from unmask.economics.exploitation import Floats
from unmask.economics.game import WITHHELD, Expected, Move, PublisherGame
from unmask.economics.response import NOTHING, Bounds
from unmask.economics.unknowns import PUBLISHER, Unknown, at
from unmask.errors import UnmaskError

POINTS: Final = 64
"""Points of a grid over all unknowns together, about."""

MOST_BOXES: Final = 100
"""Boxes that the search for the greatest regret looks at."""

GAP: Final = 1e-9
"""Share of the largest payoff by which regrets may differ and be the same."""

SCANNED: Final = 33
"""Values of one unknown at which the best move is looked for."""

FLIP: Final = 1e-9
"""Relative width at which a bisection stops."""

BESIDE: Final = 1e-8
"""Share of a break-even value by which a point is beside it."""


@dataclass(frozen=True)
class Influence:
    """What one unknown does to the payoff of a move, all others half-way.

    worst, best : the lower and the higher of the payoffs at the ends of the range
    switches    : value of the unknown where another move becomes the best one, and its place among the moves; None
                  where the move stays the best over the whole range
    worth       : expected value of knowing it before moving (EVPPI)
    """

    unknown: Unknown
    worst: float
    best: float
    switches: tuple[float, int] | None
    worth: float


@dataclass(frozen=True)
class Outlook:
    """Moves judged over all values that the unknowns may have; entry i is about move i.

    mean   : expected payoff, every value as likely, all unknowns independent; by the midpoints of a grid
    payoff : at least and at most; attained where neither fees nor fines reach the publisher
    regret : bounds on the greatest regret, how much more some other move may bring at the same values
    choice : the move whose greatest regret is surely least, and `likely` the one of the largest mean
    worth  : expected value of knowing all unknowns before moving (EVPI); 0 <= EVPPI <= EVPI
    influences : unknown by unknown, for `choice`
    """

    mean: tuple[float, ...]
    payoff: tuple[Bounds, ...]
    regret: tuple[Bounds, ...]
    choice: int
    likely: int
    worth: float
    influences: tuple[Influence, ...]


def outlook(game: PublisherGame, moves: Sequence[Move], unknowns: Sequence[Unknown]) -> Outlook:
    """How moves do over ranges.

    Regret of a move at a point x is max_m P_m(x) - P(x); its maximum over x is not at corners, since P jumps where an
    attacker walks away. It is bounded by branch and bound: over a box the worst P of a move is at the corner that is
    friendliest to the attackers, the best at the opposite one (payoffs and people re-identified are monotone in all
    unknowns but detection, for which only the payoff is: there, from nobody to everybody is possible if they attack;
    that at least `threshold` people are reached is taken to be monotone, too; fees count where they may be paid, fines
    up to what the attackers can win). That people re-identified are monotone in gains is proved; in fines and costs it
    is what random campaigns show. Boxes are split, where one number alone is unknown at the value where an attacker
    walks away, until the move of least regret is known or 100 boxes were looked at.

    >>> from unmask.economics import Attacker, Expected, Protected, Publisher, Terms
    >>> case = Attacker(gain=1, exploit_cost=5, fine=2500, max_fines=1, detection=(0.05,), prior=0.63, access_cost=50)
    >>> releases = {"raw": Protected([1, 1, 2], 0.9), "k2": Protected([2, 2, 3], 0.7), "k4": Protected([4, 4, 4], 0.4)}
    >>> game = PublisherGame(Publisher(benefit=1000, loss=600), releases, {"someone": Expected(case)})
    >>> moves = [game.move(name, Terms()) for name in releases]
    >>> found = outlook(game, moves, [Unknown("someone", "gain", 100, 4000)])
    >>> [round(one.low) for one in found.regret], moves[found.choice].protection
    ([934, 834, 500], 'k4')
    """
    if not moves or not unknowns:
        raise UnmaskError(f"there are {len(moves)} moves and {len(unknowns)} unknowns, expected at least one of each")
    nobody = next((one.of for one in unknowns if one.of not in (PUBLISHER, *game.attackers)), None)
    if nobody is not None:
        raise UnmaskError(f"{nobody} is no attacker of this game; expected one of {', '.join(game.attackers)}")
    if any(one.rivals > 1 for one in game.attackers.values()):
        raise UnmaskError("attackers who compete are not weighed over ranges; give each number, or leave out rivals")
    search = _Search(game, tuple(moves), tuple(unknowns))
    regret, choice = search.regrets()
    shape = [max(2, round(POINTS ** (1 / len(unknowns))))] * len(unknowns)
    grid = [_midpoints(one, n) for one, n in zip(unknowns, shape, strict=True)]
    payoffs = np.array([search.payoffs(point) for point in product(*grid)]).reshape(*shape, len(moves))
    flat = payoffs.reshape(-1, len(moves))
    mean = flat.mean(axis=0)
    ends = search.over(_Box(tuple((one.low, one.high) for one in unknowns)))
    return Outlook(
        mean=tuple(mean.tolist()),
        payoff=tuple(ends),
        regret=tuple(regret),
        choice=choice,
        likely=int(mean.argmax()),
        worth=float(flat.max(axis=1).mean() - mean.max()),
        influences=tuple(search.influence(i, choice, payoffs) for i in range(len(unknowns))),
    )


def _midpoints(unknown: Unknown, n: int) -> Floats:
    """(n,) the middle of n equal parts of a range."""
    return unknown.low + (unknown.high - unknown.low) * (np.arange(n) + 0.5) / n


@dataclass(frozen=True)
class _Box:
    """A range for each unknown."""

    sides: tuple[tuple[float, float], ...]

    def cut(self, side: int, value: float) -> tuple[_Box, _Box]:
        """Below and above a value, which belongs to the lower part."""
        low, high = self.sides[side]
        above = min(value + BESIDE * max(abs(value), abs(high - low)), high)
        return self.having(side, (low, value)), self.having(side, (above, high))

    def having(self, side: int, ends: tuple[float, float]) -> _Box:
        """The box with another side."""
        return _Box((*self.sides[:side], ends, *self.sides[side + 1 :]))


@dataclass
class _Search:
    """Payoffs of all moves at points and over boxes."""

    game: PublisherGame
    moves: tuple[Move, ...]
    unknowns: tuple[Unknown, ...]

    def payoffs(self, point: Sequence[float]) -> list[float]:
        """What each move is worth at a point, the middle of its bounds."""
        game = at(self.game, self.unknowns, point)
        return [sum(game.move(one.protection, one.terms).payoff) / 2 for one in self.moves]

    def corner(self, box: _Box, *, worst: bool) -> PublisherGame:
        """The game at the corner of a box that is worst, or best, for the publisher."""
        ends = [
            replace(one, low=low, high=high).end(worst=worst) if low < high else low
            for one, (low, high) in zip(self.unknowns, box.sides, strict=True)
        ]
        return at(self.game, self.unknowns, ends)

    def over(self, box: _Box) -> list[Bounds]:
        """What each move is worth at worst and at best in a box."""
        worst, best = (self.corner(box, worst=one) for one in (True, False))
        return [self._between(move, worst, best) for move in self.moves]

    def _between(self, move: Move, worst: PublisherGame, best: PublisherGame) -> Bounds:
        if move.protection == WITHHELD:
            return move.payoff
        kept = [game.kept(move.protection, move.terms) for game in (worst, best)]
        parts = [self._brought(kind, move, worst, best) for kind in worst.attackers]
        return Bounds(kept[0] + sum(one.low for one in parts), kept[1] + sum(one.high for one in parts))

    def _brought(self, kind: str, move: Move, worst: PublisherGame, best: PublisherGame) -> Bounds:
        """What the attackers of a kind bring at least and at most; more than nothing only with fees or fines."""
        friendly, hostile = (game.response(move.protection, kind, move.terms) for game in (worst, best))
        if friendly.attacks is False:
            return NOTHING
        named = self._named(kind, move, worst, best)
        here, there = best.publisher, worst.publisher
        fee = move.terms.price if here.fees else 0.0
        least, most = hostile.reached.low if hostile.attacks else 0.0, friendly.reached.high
        if worst.attackers[kind].actual is not None:
            least, most = 0.0, 1.0
        low = fee - there.loss * named.high - there.penalty * most
        high = fee + self._recovered(kind, move, worst, named.high) - here.loss * named.low - here.penalty * least
        numbers = [game.attackers[kind].number for game in (worst, best)]
        ends = [number * end for number in numbers for end in (low, high)]
        return Bounds(min(ends), max(ends)) if hostile.attacks else Bounds(min(*ends, 0.0), max(*ends, 0.0))

    def _named(self, kind: str, move: Move, worst: PublisherGame, best: PublisherGame) -> Bounds:
        """The people whom a kind re-identifies if they attack; from worth / gain to all that are worth a try without
        fines where detection is not known, as they may rise with it.
        """
        name, terms = move.protection, move.terms
        here, there = (game.raid(name, kind, fine=terms.fine, audit=terms.audit) for game in (best, worst))
        misled = worst.attackers[kind].actual is not None
        if not misled and not any(one.of == kind and one.parameter == "detection" for one in self.unknowns):
            return Bounds(here.re_identified.low, there.re_identified.high)
        unfined = Expected(replace(worst.attackers[kind].attacker, max_fines=0))
        free = replace(worst, attackers={**worst.attackers, kind: unfined}).raid(move.protection, kind)
        least = 0.0 if misled else here.worth.low / worst.attackers[kind].attacker.gain
        return Bounds(least, free.re_identified.high)

    def _recovered(self, kind: str, move: Move, worst: PublisherGame, named: float) -> float:
        """Contractual fines that reach the publisher at most: the cap, and no more than planned gains leave to pay."""
        attacker, share = worst.attackers[kind].attacker, worst.publisher.recovered * move.terms.fine
        if not share:
            return 0.0
        if worst.attackers[kind].actual is None:
            return share * min(attacker.max_fines, attacker.gain * named / (attacker.fine + move.terms.fine))
        if attacker.max_fines == math.inf:
            raise UnmaskError(f"{kind} is fined without limit and believes otherwise; give max_fines, or no ranges")
        return share * attacker.max_fines

    # ----- regret

    def regrets(self) -> tuple[list[Bounds], int]:
        """Bounds on the greatest regret of each move, and the move of which it is surely least."""
        whole = _Box(tuple((one.low, one.high) for one in self.unknowns))
        leaves = {whole: self._over(whole)}
        least = self._at(whole)
        while True:
            hope = int(least.argmin())
            box = max(leaves, key=lambda one: leaves[one][hope])
            if leaves[box][hope] - least[hope] <= self._gap or len(leaves) >= MOST_BOXES:
                break
            del leaves[box]
            for part in self._parts(box, hope):
                leaves[part] = self._over(part)
                least = np.maximum(least, self._at(part))
        most = np.max(list(leaves.values()), axis=0)
        both = zip(least.tolist(), most.tolist(), strict=True)
        return [Bounds(min(low, high), high) for low, high in both], int(most.argmin())

    @property
    def _gap(self) -> float:
        return GAP * max(abs(end) for move in self.moves for end in move.payoff)

    def _over(self, box: _Box) -> Floats:
        """(n_moves,) the regret of each move is nowhere higher in a box."""
        low, high = np.array(self.over(box)).T
        return np.asarray(np.maximum(_largest_other(high) - low, 0.0))

    def _at(self, box: _Box) -> Floats:
        """(n_moves,) the regret of each move is at least this at the ends of a box, all its sides together."""
        found = np.zeros(len(self.moves))
        for game in (self.corner(box, worst=one) for one in (True, False)):
            low, high = np.array([game.move(one.protection, one.terms).payoff for one in self.moves]).T
            found = np.maximum(found, _largest_other(low) - high)
        return found

    def _parts(self, box: _Box, choice: int) -> tuple[_Box, _Box]:
        """A box in two: where an attacker walks away from this move or its best rival, else half-way."""
        ends = self.over(box)
        rival = max((i for i in range(len(ends)) if i != choice), key=lambda i: ends[i].high, default=choice)
        widths = [
            (high - low) / (one.high - one.low) for one, (low, high) in zip(self.unknowns, box.sides, strict=True)
        ]
        side = int(np.argmax(widths))
        for i in (choice, rival) if len(widths) == 1 else ():
            value = self._walks_away(self.moves[i], box, side)
            if value is not None:
                return box.cut(side, value)
        return box.cut(side, sum(box.sides[side]) / 2)

    def _walks_away(self, move: Move, box: _Box, side: int) -> float | None:
        """The value of one unknown, the others half-way, where its attackers just stay away; None where none does."""
        kind, middle = self.unknowns[side].of, [sum(ends) / 2 for ends in box.sides]
        if kind == PUBLISHER:
            return None

        def stays(value: float) -> bool:
            point = [*middle[:side], value, *middle[side + 1 :]]
            found = at(self.game, self.unknowns, point).move(move.protection, move.terms).responses.get(kind)
            return found is None or found.attacks is False

        low, high = box.sides[side]
        return _flip(stays, low, high) if low < high and stays(low) != stays(high) else None

    # ----- one unknown at a time

    def influence(self, i: int, choice: int, payoffs: Floats) -> Influence:
        """What one unknown does; payoffs : (..., n_moves) on the grid of all."""
        unknown = self.unknowns[i]
        others = tuple(axis for axis in range(len(self.unknowns)) if axis != i)
        known = payoffs.mean(axis=others).max(axis=1).mean()
        worst, best = sorted(self._along(i, end)[choice] for end in (unknown.low, unknown.high))
        worth = float(known - payoffs.reshape(-1, len(self.moves)).mean(axis=0).max())
        return Influence(unknown, worst, best, self._switches(i, choice), max(worth, 0.0))

    def _along(self, i: int, value: float) -> list[float]:
        """What each move is worth at a value of one unknown, the others half-way."""
        return self.payoffs([value if j == i else one.middle for j, one in enumerate(self.unknowns)])

    def _switches(self, i: int, choice: int) -> tuple[float, int] | None:
        """Where another move becomes better than this one, nearest to the middle of the range."""
        unknown = self.unknowns[i]

        def stays(value: float) -> bool:
            found = self._along(i, value)
            return found[choice] >= max(found) - self._gap

        places = np.linspace(unknown.low, unknown.high, SCANNED)
        best = [stays(place) for place in places]
        changes = [j for j in range(SCANNED - 1) if best[j] != best[j + 1]]
        if not changes:
            return None
        j = min(changes, key=lambda j: abs(places[j] - unknown.middle))
        value = _flip(stays, places[j], places[j + 1])
        there = self._along(i, float(places[j + best[j]]))
        return value, int(np.argmax(there))


def _largest_other(values: Floats) -> Floats:
    """(n,) the largest of all values but one's own; one's own where there is one alone."""
    if len(values) == 1:
        return values
    second, first = np.sort(values)[-2:]
    return np.asarray(np.where(values == first, second, first))


def _flip(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The last value from below at which something is as it is at `low`, to a 1e-9th."""
    at_low = holds(low)
    while high - low > FLIP * max(abs(low), abs(high)):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) == at_low else (low, middle)
    return low
