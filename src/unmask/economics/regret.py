"""Moves judged over ranges of what is not known: by what each may be regretted, and by what it brings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Final

import numpy as np
import scipy

from unmask.economics.deterrence import first_detection
from unmask.economics.exploitation import TIE, Floats
from unmask.economics.game import WITHHELD, Expected, Move, Publisher, PublisherGame
from unmask.economics.regrets import Regrets
from unmask.economics.response import NOTHING, Bounds
from unmask.economics.unknowns import PUBLISHER, Unknown, at, changed, changed_publisher
from unmask.errors import UnmaskError

POINTS: Final = 64
"""Points of the grids over the numbers of each kind and of the publisher, all together, about."""

FEWEST: Final = 8
"""Points of the grid of one of them, about, where many have ranges."""

JOINT: Final = 4096
"""Points of all grids joined; where there are more, as many are drawn."""

MOST_SPLIT: Final = 100
"""Pieces of ranges that the search for the greatest regret splits."""

GAP: Final = 1e-9
"""Share of the largest payoff by which regrets may differ and be the same."""

SCANNED: Final = 33
"""Values of one unknown at which the best move is looked for."""

FLIP: Final = 1e-9
"""Relative width to which the value is known where attackers walk away."""

PROBES: Final = 1000
"""Values looked at for that, at most: campaigns that do not pay are worth 0, where no slope leads anywhere, and a range
over many orders of magnitude takes some hundred.
"""

SWITCH: Final = 1e-6
"""The same, where another move becomes the better one."""


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

    mean   : expected payoff, every value as likely, all unknowns independent; by the midpoints of a grid for each kind
    payoff : at least and at most; attained where neither fees nor fines reach the publisher
    regret : bounds on the greatest regret, how much more some other move may bring at the same values
    choice : the move whose greatest regret is surely least, and `likely` the one of the largest mean
    worth  : expected value of knowing all unknowns before moving (EVPI), by points of all grids drawn at random where
             there are too many; 0 <= EVPPI <= EVPI
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
    attacker walks away. It is bounded kind by kind (`Regrets`): over a piece of a kind's ranges the worst that the kind
    brings a move is at the corner that is friendliest to the attackers, the best at the opposite one (payoffs and the
    people re-identified are monotone in all unknowns but detection, for which only the payoff is: there, from nobody to
    everybody is possible if they attack; that at least `threshold` people are reached is taken to be monotone, too;
    fees count where they may be paid, fines up to what the attackers can win). That people re-identified are monotone
    in gains is proved; in fines and costs it is what random campaigns show. Pieces are split, where a kind has one
    unknown alone at the value where they walk away, until the move of least regret is known or 100 pieces were split.

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
    search = _Search(_Played(game, tuple(moves)), tuple(unknowns))
    regret, choice, payoff = search.regrets()
    return Outlook(
        mean=tuple(search.mean.tolist()),
        payoff=payoff,
        regret=regret,
        choice=choice,
        likely=int(search.mean.argmax()),
        worth=max(search.worth(), *(search.known(i) for i in range(len(unknowns)))),
        influences=tuple(search.influence(i, choice) for i in range(len(unknowns))),
    )


def _midpoints(unknown: Unknown, n: int) -> Floats:
    """(n,) the middle of n equal parts of a range."""
    return unknown.low + (unknown.high - unknown.low) * (np.arange(n) + 0.5) / n


@dataclass(frozen=True)
class _Played:
    """Moves of a game over releases that are attacked one by one, see `regrets.Moves`."""

    game: PublisherGame
    moves: tuple[Move, ...]

    @property
    def publisher(self) -> Publisher:
        return self.game.publisher

    @property
    def attackers(self) -> Mapping[str, Expected]:
        return self.game.attackers

    def kept(self, publisher: Publisher) -> Floats:
        """(n,) what is left of each move where nobody attacks."""
        game = replace(self.game, publisher=publisher)
        left = (0.0 if one.protection == WITHHELD else game.kept(one.protection, one.terms) for one in self.moves)
        return np.array(list(left))

    def brought(self, kind: str, publisher: Publisher, friendly: Expected, hostile: Expected) -> Floats:
        """(2, n) what attackers of a kind bring at least and at most between two corners."""
        best, worst = (replace(self.game, publisher=publisher, attackers={kind: one}) for one in (friendly, hostile))
        if friendly == hostile:
            return np.array([_at(one, best) for one in self.moves]).T
        return np.array([_between(kind, one, worst, best) for one in self.moves]).T

    def walks_away(self, places: Sequence[int], unknown: Unknown) -> float | None:
        """The value where its attackers just stay away from a move, the first of some where they do so in its range."""
        kind = unknown.of

        def tempts(value: float, move: Move) -> float:
            """What the campaign may pay beyond the price of access."""
            attackers = {kind: changed(self.attackers[kind], unknown.parameter, value)}
            there, terms = replace(self.game, attackers=attackers), move.terms
            who = attackers[kind].attacker
            worth = there.raid(move.protection, kind, fine=terms.fine, audit=terms.audit).worth.high
            return worth - who.access_cost - terms.price - TIE * who.gain

        for move in (self.moves[place] for place in places if self.moves[place].protection != WITHHELD):
            low, high = (tempts(value, move) for value in (unknown.low, unknown.high))
            if (low > 0) != (high > 0):
                ends = unknown.low, unknown.high
                root = float(scipy.optimize.brentq(tempts, *ends, (move,), xtol=2e-300, rtol=FLIP, maxiter=PROBES))
                return max(root - 2 * FLIP * abs(root), unknown.low)
        return None


def _at(move: Move, game: PublisherGame) -> Bounds:
    """What the attackers of a game of one kind bring where all numbers are known."""
    if move.protection == WITHHELD:
        return NOTHING
    one = game.move(move.protection, move.terms)
    kept = game.kept(move.protection, move.terms)
    return Bounds(one.payoff.low - kept, one.payoff.high - kept)


def _between(kind: str, move: Move, worst: PublisherGame, best: PublisherGame) -> Bounds:
    """What the attackers of a kind bring at least and at most; more than nothing only with fees or fines."""
    if move.protection == WITHHELD:
        return NOTHING
    friendly, hostile = (game.response(move.protection, kind, move.terms) for game in (worst, best))
    if friendly.attacks is False:
        return NOTHING
    named, publisher = _named(kind, move, worst, best), best.publisher
    fee = move.terms.price if publisher.fees else 0.0
    least, most = hostile.reached.low if hostile.attacks else 0.0, friendly.reached.high
    if worst.attackers[kind].actual is not None:
        least, most = 0.0, 1.0
    low = fee - publisher.loss * named.high - publisher.penalty * most
    recovered = _recovered(kind, move, worst, named.high)
    high = fee + recovered - publisher.loss * named.low - publisher.penalty * least
    numbers = [game.attackers[kind].number for game in (worst, best)]
    ends = [number * end for number in numbers for end in (low, high)]
    return Bounds(min(ends), max(ends)) if hostile.attacks else Bounds(min(*ends, 0.0), max(*ends, 0.0))


def _named(kind: str, move: Move, worst: PublisherGame, best: PublisherGame) -> Bounds:
    """The people whom a kind re-identifies if they attack; from worth / gain to all that are worth a try without fines
    where detection is not known, as they may rise with it.
    """
    name, terms = move.protection, move.terms
    here, there = (game.raid(name, kind, fine=terms.fine, audit=terms.audit) for game in (best, worst))
    hostile, friendly = worst.attackers[kind], best.attackers[kind]
    misled = hostile.actual is not None
    if not misled and first_detection(hostile.attacker) == first_detection(friendly.attacker):
        return Bounds(here.re_identified.low, there.re_identified.high)
    unfined = Expected(replace(hostile.attacker, max_fines=0))
    free = replace(worst, attackers={kind: unfined}).raid(name, kind)
    least = 0.0 if misled else here.worth.low / hostile.attacker.gain
    return Bounds(least, free.re_identified.high)


def _recovered(kind: str, move: Move, worst: PublisherGame, named: float) -> float:
    """Contractual fines that reach the publisher at most: the cap, and no more than planned gains leave to pay."""
    attacker, share = worst.attackers[kind].attacker, worst.publisher.recovered * move.terms.fine
    if not share:
        return 0.0
    if worst.attackers[kind].actual is None:
        return share * min(attacker.max_fines, attacker.gain * named / (attacker.fine + move.terms.fine))
    if attacker.max_fines == math.inf:
        raise UnmaskError(f"{kind} is fined without limit and believes otherwise; give max_fines, or no ranges")
    return share * attacker.max_fines


@dataclass
class _Search:
    """Moves over ranges: their regrets, what they bring by the grid of each kind, and one unknown at a time."""

    played: _Played
    unknowns: tuple[Unknown, ...]

    # ----- regret

    def regrets(self) -> tuple[tuple[Bounds, ...], int, tuple[Bounds, ...]]:
        """Bounds on the greatest regret of each move, the move of which it is surely least, and bounds on payoffs."""
        found = Regrets(self.played, self.unknowns)
        for _ in range(MOST_SPLIT):
            hope = int(found.at_least(range(found.n)).argmin())
            open_to = found.greatest(hope)
            if open_to.high - open_to.low <= self._gap or not found.narrow(hope):
                break
        each = tuple(found.greatest(move) for move in range(found.n))
        return each, int(np.argmin([one.high for one in each])), found.payoffs()

    @property
    def _gap(self) -> float:
        return GAP * max(abs(end) for move in self.played.moves for end in move.payoff)

    # ----- grids

    @cached_property
    def _grids(self) -> dict[str, list[Floats]]:
        """Whose -> the values of each of their unknowns."""
        whose = {of: [one for one in self.unknowns if one.of == of] for of in (PUBLISHER, *self.played.attackers)}
        points = max(FEWEST, POINTS // sum(1 for own in whose.values() if own))
        sizes = {of: max(2, round(points ** (1 / max(len(own), 1)))) for of, own in whose.items()}
        return {of: [_midpoints(one, sizes[of]) for one in own] for of, own in whose.items()}

    @cached_property
    def _tables(self) -> tuple[Floats, dict[str, Floats]]:
        """(P, n) what is kept of each move at the points of the publisher, and by kind (P, G, n) what they bring."""
        own = [one for one in self.unknowns if one.of == PUBLISHER]
        points = product(*self._grids[PUBLISHER])
        publishers = [changed_publisher(self.played.publisher, own, values) for values in points]
        kept = np.stack([self.played.kept(one) for one in publishers])
        tables = {}
        for kind, expected in self.played.attackers.items():
            named = [one.parameter for one in self.unknowns if one.of == kind]
            each = []
            for values in product(*self._grids[kind]):
                there = expected
                for name, value in zip(named, values, strict=True):
                    there = changed(there, name, float(value))
                each.append([self.played.brought(kind, one, there, there).mean(axis=0) for one in publishers])
            tables[kind] = np.array(each).swapaxes(0, 1)
        return kept, tables

    @cached_property
    def mean(self) -> Floats:
        """(n,) the expected payoff of each move."""
        return np.asarray(self._expected.mean(axis=0))

    @cached_property
    def _expected(self) -> Floats:
        """(P, n) the payoff of each move at the points of the publisher, expected over all kinds."""
        kept, tables = self._tables
        return np.asarray(kept + sum(one.mean(axis=1) for one in tables.values()))

    def worth(self) -> float:
        """Expected value of knowing all unknowns."""
        kept, tables = self._tables
        sizes = [len(kept), *(one.shape[1] for one in tables.values())]
        if math.prod(sizes) <= JOINT:
            at_all = np.stack(np.unravel_index(np.arange(math.prod(sizes)), sizes))
        else:  # all points of a grid as often
            rng = np.random.default_rng(0)
            at_all = np.stack([rng.permutation(np.arange(JOINT) % size) for size in sizes])
        payoffs = kept[at_all[0]]
        for place, table in zip(at_all[1:], tables.values(), strict=True):
            payoffs = payoffs + table[at_all[0], place]
        return float(payoffs.max(axis=1).mean() - payoffs.mean(axis=0).max())

    def known(self, i: int) -> float:
        """Expected value of knowing one unknown."""
        of = self.unknowns[i].of
        own = [one for one in self.unknowns if one.of == of]
        table = self._expected if of == PUBLISHER else self._tables[1][of].mean(axis=0)
        grid = table.reshape(*(len(one) for one in self._grids[of]), -1)
        others = tuple(axis for axis in range(len(own)) if own[axis] != self.unknowns[i])
        given = grid.mean(axis=others)  # (values, n) of what the owner brings
        payoffs = given + (self.mean - table.mean(axis=0))
        return max(float(payoffs.max(axis=1).mean() - self.mean.max()), 0.0)

    # ----- one unknown at a time

    def influence(self, i: int, choice: int) -> Influence:
        """What one unknown does."""
        unknown = self.unknowns[i]
        worst, best = sorted(float(self._along(i, end)[choice]) for end in (unknown.low, unknown.high))
        return Influence(unknown, worst, best, self._switches(i, choice), self.known(i))

    @cached_property
    def _middle(self) -> PublisherGame:
        return at(self.played.game, self.unknowns, [one.middle for one in self.unknowns])

    @cached_property
    def _halfway(self) -> Floats:
        """(n,) the payoffs where all unknowns are half-way."""
        return self._payoffs(self._middle)

    def _payoffs(self, game: PublisherGame) -> Floats:
        return np.array([sum(game.move(one.protection, one.terms).payoff) / 2 for one in self.played.moves])

    def _along(self, i: int, value: float) -> Floats:
        """(n,) what each move is worth at a value of one unknown, the others half-way."""
        unknown, middle = self.unknowns[i], self._middle
        if unknown.of == PUBLISHER:
            return self._payoffs(at(middle, [unknown], [value]))
        here = middle.attackers[unknown.of]
        there, publisher = changed(here, unknown.parameter, value), middle.publisher
        less, more = (self.played.brought(unknown.of, publisher, one, one).mean(axis=0) for one in (here, there))
        return np.asarray(self._halfway - less + more)

    def _switches(self, i: int, choice: int) -> tuple[float, int] | None:
        """Where another move becomes better than this one, nearest to the middle of the range."""
        unknown = self.unknowns[i]

        def stays(value: float) -> bool:
            found = self._along(i, value)
            return bool(found[choice] >= found.max() - self._gap)

        places = np.array([unknown.low, *self._scanned(unknown), unknown.high])
        best = [stays(place) for place in places]
        changes = [j for j in range(len(places) - 1) if best[j] != best[j + 1]]
        if not changes:
            return None
        j = min(changes, key=lambda j: abs(places[j] - unknown.middle))
        value = _flip(stays, places[j], places[j + 1])
        there = self._along(i, float(places[j + best[j]]))
        return value, int(np.argmax(there))

    def _scanned(self, unknown: Unknown) -> Floats:
        """Values of one unknown at which the best move is looked for: where it is known, its grid has it alone."""
        grids = self._grids[unknown.of]
        if len(grids) == 1:
            return grids[0]
        return _midpoints(unknown, min(max(FEWEST, SCANNED // len(self.unknowns)), SCANNED))


def _flip(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The last value from below at which something is as it is at `low`, to a millionth."""
    at_low = holds(low)
    while high - low > SWITCH * max(abs(low), abs(high)):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) == at_low else (low, middle)
    return low
