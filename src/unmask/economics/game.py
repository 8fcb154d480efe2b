"""The publisher moves first: what to release, at which price and fine, against attackers who then plan a campaign."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Final

from numpy.typing import ArrayLike

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker, as_number
from unmask.economics.breakeven import breakpoints
from unmask.economics.deterrence import least_root
from unmask.economics.exploitation import TIE
from unmask.economics.groups import Who, counted
from unmask.economics.response import NOTHING, Bounds, Raid, Response

WITHHELD: Final = "no release"
"""The move that every publisher has: nothing is released, nobody attacks, and nothing is left or lost."""

JUST_BELOW: Final = 1e-9
"""Share of a break-even price by which the price that an attacker still pays is lower."""

NEWTON_STEPS: Final = 100
"""Each step leaves one piece of a piecewise linear function; more are not waited for."""

PRECISION: Final = 1e-6
"""Relative width of a break-even fine where a campaign is only bounded."""


@dataclass(frozen=True, kw_only=True)
class Publisher:
    """What a release is worth to its publisher, and what they lose.

    benefit    : worth of the unprotected data; of a protected release the share `Protected.utility` of it
    loss       : lost for every person re-identified, again for each attacker who does
    penalty    : a regulator's fine, due for every attacker who re-identifies at least `threshold` people
    audit_cost : cost of looking as hard as now, `Terms.audit` 1; of an audit rate alpha, alpha times as much
    recovered  : share of the contractual fines that reaches the publisher, 0 to 1
    fees       : whether the price that attackers pay counts as income
    """

    benefit: float
    loss: float
    penalty: float = 0.0
    threshold: int = 1
    audit_cost: float = 0.0
    recovered: float = 0.0
    fees: bool = False

    def __post_init__(self) -> None:
        for name in ("benefit", "loss", "penalty", "audit_cost"):
            _check_amount(name, getattr(self, name))
        if not 0 <= as_number("recovered", self.recovered) <= 1:
            raise UnmaskError(f"recovered is {self.recovered:g}, expected a share from 0 to 1")
        if type(self.threshold) is not int or self.threshold < 1:
            raise UnmaskError(f"threshold is {self.threshold!r}, expected a whole number of people, at least 1")
        if not isinstance(self.fees, bool):
            raise UnmaskError(f"fees is {self.fees!r}, expected true or false")


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What the publisher asks of whoever takes the release.

    price : a, paid once for access, beside what outside data cost
    fine  : phi, contractual, for every detected try, beside the fine that the attacker faces anyway; their cap on
            fines holds for both
    audit : alpha above 0, every probability of detection becomes min(1, alpha q)
    """

    price: float = 0.0
    fine: float = 0.0
    audit: float = 1.0

    def __post_init__(self) -> None:
        for item in fields(self):
            _check_amount(item.name, getattr(self, item.name))
        if not self.audit:
            raise UnmaskError("audit is 0, expected a rate above 0; 1 for looking as hard as now")


@dataclass(frozen=True, eq=False)
class Protected:
    """One protection, as an attacker finds its release.

    who     : group size of each target, or the belief of an attack about it; by kind of attacker where kinds differ
    utility : share of the benefit that is left, 0 to 1
    people  : how many people each target stands for, see `campaign`
    """

    who: Who | Mapping[str, Who]
    utility: float = 1.0
    people: ArrayLike | None = None

    def __post_init__(self) -> None:
        if not 0 <= as_number("utility", self.utility) <= 1:
            raise UnmaskError(f"the utility of a protection is {self.utility:g}, expected a share from 0 to 1")

    def faced_by(self, kind: str) -> Who:
        """The targets as a kind of attacker finds them."""
        return self.who[kind] if isinstance(self.who, Mapping) else self.who

    def counted(self, kind: str) -> tuple[Who, ArrayLike | None]:
        """The same for a campaign: as few distinct targets as there are, and how many people each stands for."""
        return self._counted[id(self.faced_by(kind))]

    @cached_property
    def _counted(self) -> dict[int, tuple[Who, ArrayLike | None]]:
        each = self.who.values() if isinstance(self.who, Mapping) else [self.who]
        return {id(one): counted(one, self.people) for one in each}


@dataclass(frozen=True)
class Expected:
    """A kind of attacker, and how many such attackers are to be expected; each one plays on their own.

    attacker : as they plan, with the detection that they believe in
    actual   : the same with detection as it is; None where they believe what is
    """

    attacker: Attacker
    number: float = 1.0
    actual: Attacker | None = None

    def __post_init__(self) -> None:
        _check_amount("number", self.number)
        if self.attacker.in_doubt and self.actual is not None:
            raise UnmaskError(
                "believed_detection is not weighed together with detection_prior or false_alarms; leave out one of them"
            )


@dataclass(frozen=True)
class Move:
    """One protection at some terms, how each kind of attacker answers, and what is left to the publisher.

    payoff    : benefit less audits and losses; both ends alike where every answer is known
    responses : kind of attacker -> their response
    """

    protection: str
    terms: Terms
    payoff: Bounds
    responses: Mapping[str, Response]


@dataclass(frozen=True, eq=False)
class PublisherGame:
    """The publisher's game, a Bayesian Stackelberg game: they commit to a protection and terms, then each attacker
    plays their best campaign (`campaign`) against the release, or stays away where none pays.

    A move (r, a, phi, alpha) is worth to the publisher, over kinds t of attackers of whom w_t are expected,

        benefit u_r - audit_cost alpha + sum_t w_t [attack_t] (a [fees] + recovered phi D_t - loss N_t - penalty R_t)

    with N_t people re-identified and D_t fines paid in expectation, and R_t the probability of at least `threshold`
    people, all under the campaign of t at the gain, costs and fine C_p + phi, and detection alpha q. With Y_t the worth
    of that campaign, t attacks if Y_t > access_cost + a (a tie walks away). Where only bounds on Y_t are known, so is
    the payoff: an interval, never a single number.

    protections : name -> the release as attackers find it
    attackers   : kind -> the attacker and how many of them

    One try, no detection, no access cost: the game of Wan et al. 2015 and of ARX.

    >>> once = Expected(Attacker(gain=300, exploit_cost=4, max_fines=0, max_tries=1))
    >>> releases = {"k=5": Protected([5] * 5, 0.7), "k=80": Protected([80] * 80, 0.7)}
    >>> game = PublisherGame(Publisher(benefit=1200, loss=60), releases, {"once": once})
    >>> [game.move(name, Terms()).payoff.low for name in releases]
    [780.0, 840.0]

    W. Xia et al., "Process-driven data privacy", 2015, section 8, asks for it; Z. Wan et al., "A game theoretic
    framework for analyzing re-identification risk", 2015, has it for one try.
    """

    publisher: Publisher
    protections: Mapping[str, Protected]
    attackers: Mapping[str, Expected]
    _raids: dict[tuple[Protected, str, Attacker, Attacker | None, int | None], Raid] = field(
        default_factory=dict, repr=False
    )

    def __post_init__(self) -> None:
        if not self.protections or not self.attackers:
            raise UnmaskError("a game has at least one protection and one kind of attacker; give both")

    def raid(
        self, protection: str, kind: str, *, fine: float = 0.0, audit: float = 1.0, believed: bool = False
    ) -> Raid:
        """The best campaign of a kind, the price of access not counted; each is solved once.

        believed : what comes of it as they believe, not as it is
        """
        expected, release = self.attackers[kind], self.protections[protection]
        faced = _facing(expected.attacker, fine, audit)
        actual = None if believed or expected.actual is None else _facing(expected.actual, fine, audit)
        at_least = self.publisher.threshold if self.publisher.penalty else None
        key = (release, kind, faced, actual, at_least)
        if key not in self._raids:
            who, people = release.counted(kind)
            self._raids[key] = Raid.of(faced, who, people=people, at_least=at_least, actual=actual)
        return self._raids[key]

    def response(self, protection: str, kind: str, terms: Terms) -> Response:
        """How an attacker of a kind answers."""
        attacker, found = self.attackers[kind].attacker, self.raid(protection, kind, fine=terms.fine, audit=terms.audit)
        price = attacker.access_cost + terms.price
        attacks = found.pays(price)
        if attacks is False:
            return Response(False, NOTHING, NOTHING, NOTHING, NOTHING)
        left = Bounds(max(found.worth.low - price, 0.0), found.worth.high - price)
        fines = found.fines if self.publisher.recovered else Bounds(0.0, attacker.max_fines)
        played = (found.re_identified, fines, found.reached)
        named, paid, reached = (one if attacks else Bounds(0.0, one.high) for one in played)
        return Response(attacks, left, named, paid, reached)

    def move(self, protection: str, terms: Terms) -> Move:
        """A protection at some terms; `WITHHELD` is one at any terms."""
        if protection == WITHHELD:
            return Move(WITHHELD, Terms(), NOTHING, {})
        responses = {kind: self.response(protection, kind, terms) for kind in self.attackers}
        kept = self.kept(protection, terms)
        parts = [self._brought(kind, response, terms) for kind, response in responses.items()]
        payoff = Bounds(kept + sum(one.low for one in parts), kept + sum(one.high for one in parts))
        return Move(protection, terms, payoff, responses)

    def kept(self, protection: str, terms: Terms) -> float:
        """What is left to the publisher where nobody attacks: benefit less audits."""
        return self.publisher.benefit * self.protections[protection].utility - self.publisher.audit_cost * terms.audit

    def _brought(self, kind: str, response: Response, terms: Terms) -> Bounds:
        """What the attackers of a kind bring the publisher, mostly losses."""
        if response.attacks is False:
            return NOTHING
        publisher, number = self.publisher, self.attackers[kind].number
        fee = terms.price if publisher.fees else 0.0
        fined, lost = publisher.recovered * terms.fine, publisher.loss
        most = fined * response.fines.high if fined else 0.0
        low = fee + fined * response.fines.low - lost * response.re_identified.high
        high = fee + most - lost * response.re_identified.low
        low, high = (
            one - publisher.penalty * chance
            for one, chance in ((low, response.reached.high), (high, response.reached.low))
        )
        return Bounds(number * low, number * high) if response.attacks else Bounds(number * min(low, 0), number * high)

    def moves(
        self, *, prices: Sequence[float] = (0.0,), fines: Sequence[float] = (0.0,), audits: Sequence[float] = (1.0,)
    ) -> tuple[Move, ...]:
        """Every protection at the terms given and between, and no release at all; best first by the worth at least.

        prices, fines : what may be asked, in any order. Between the least and the largest, the prices at which an
                        attacker just walks away are added, and, where fees count, the prices just below: for a given
                        fine no other price is better. Fines are added that stop an attacker at a price given, and,
                        where they are recovered, all at which an attacker changes the plan, and just below: for a
                        price given no other fine is better, unless campaigns are only bounded.
        What attackers with rivals take changes with every amount: where it comes back to the publisher, as fees or
        fines, amounts between those listed may be better.
        """
        found = [move for protection in self.protections for move in self._moves(protection, prices, fines, audits)]
        return tuple(sorted([*found, self.move(WITHHELD, Terms())], key=_rank))

    def best_move(
        self, *, prices: Sequence[float] = (0.0,), fines: Sequence[float] = (0.0,), audits: Sequence[float] = (1.0,)
    ) -> Move:
        """Return the first of `moves`, without the moves of protections that cannot be better.

        A release brings at most its benefit, less the cheapest audit, and the largest fees and fines that come back.
        """
        income = sum(self._largest_income(kind, max(prices), max(fines)) for kind in self.attackers)
        limits = {name: self.kept(name, Terms(audit=min(audits))) + income for name in self.protections}
        order = [*self.protections, WITHHELD]
        best = self.move(WITHHELD, Terms())
        for protection in sorted(limits, key=lambda name: -limits[name]):
            if _rounded(limits[protection]) < _rounded(best.payoff.low):
                break
            moves = [best, *self._moves(protection, prices, fines, audits)]
            best = min(moves, key=lambda move: (_rank(move), order.index(move.protection)))
        return best

    def _largest_income(self, kind: str, price: float, fine: float) -> float:
        """Bound the fees and the recovered fines of a kind."""
        expected, returned = self.attackers[kind], self.publisher.recovered * fine
        fees = price if self.publisher.fees else 0.0
        return expected.number * (fees + (returned * expected.attacker.max_fines if returned else 0.0))

    def _moves(
        self, protection: str, prices: Sequence[float], fines: Sequence[float], audits: Sequence[float]
    ) -> list[Move]:
        """Play a protection at its terms."""
        return [self.move(protection, terms) for terms in self._terms(protection, prices, fines, audits)]

    def _terms(
        self, protection: str, prices: Sequence[float], fines: Sequence[float], audits: Sequence[float]
    ) -> Iterator[Terms]:
        """The terms of one protection that are looked at."""
        for audit in audits:
            for fine in _between(fines, self._fines(protection, prices, (min(fines), max(fines)), audit)):
                yield from (
                    Terms(price=price, fine=fine, audit=audit)
                    for price in _between(prices, self._prices(protection, fine, audit))
                )

    def _fines(
        self, protection: str, prices: Sequence[float], span: tuple[float, float], audit: float
    ) -> Iterator[float]:
        """Yield the fines of a span that stop an attacker or change the plan; with recovered fines also just below."""
        for kind in self.attackers if span[0] < span[1] else ():
            at = [
                self._stopping_fine(protection, kind, price, audit)
                for price in prices
                if self._is_stopped_within(protection, kind, price, audit, span)
            ]
            at += self._changes(protection, kind, span[1], audit) if self.publisher.recovered else []
            yield from at
            yield from (fine * (1 - JUST_BELOW) for fine in at if self.publisher.recovered)

    def _is_stopped_within(
        self, protection: str, kind: str, price: float, audit: float, span: tuple[float, float]
    ) -> bool:
        """Whether campaigns may pay at the first fine of a span, and do not at the last."""
        first, last = (self.break_even_price(protection, kind, fine=fine, audit=audit).high for fine in span)
        return first > price and last - price <= TIE * self.attackers[kind].attacker.gain

    def _changes(self, protection: str, kind: str, most: float, audit: float) -> list[float]:
        """The contractual fines at which the campaign of a kind changes, as its worth has breakpoints there."""

        def line(fine: float) -> tuple[float, float]:
            found = self.raid(protection, kind, fine=fine, audit=audit, believed=True)
            return found.worth.low, -found.fines.low

        return breakpoints(line, 0.0, most) if most else []

    def _prices(self, protection: str, fine: float, audit: float) -> Iterator[float]:
        """The prices at which somebody walks away, or just does not."""
        for kind in self.attackers:
            price = self.break_even_price(protection, kind, fine=fine, audit=audit)
            yield price.high
            if self.publisher.fees:
                yield price.low * (1 - JUST_BELOW)

    def undecided(self, moves: Sequence[Move]) -> tuple[Move, ...]:
        """Those of moves, best first, that may be better than the first: at most worth more than it is at least."""
        return tuple(move for move in moves[1:] if _rank(move)[1] < _rank(moves[0])[0])

    def break_even_price(self, protection: str, kind: str, *, fine: float = 0.0, audit: float = 1.0) -> Bounds:
        """a*(phi) = Y(phi) - access_cost, at least 0: below the first a campaign pays, from the second on none does."""
        worth = self.raid(protection, kind, fine=fine, audit=audit, believed=True).worth
        cost = self.attackers[kind].attacker.access_cost
        return Bounds(max(worth.low - cost, 0.0), max(worth.high - cost, 0.0))

    def break_even_fine(self, protection: str, kind: str, *, price: float = 0.0, audit: float = 1.0) -> Bounds:
        """The contractual fine at which a*(phi) = price: below the first a campaign pays, from the second on none does.

        inf where no fine stops them. a* is convex, falls with the fine and has the slope -D: Newton's method from 0 is
        exact after finitely many steps. Where a campaign is only bounded, both ends are found by `least_root`.
        """
        return Bounds(*(self._stopping_fine(protection, kind, price, audit, end) for end in (0, 1)))

    def _stopping_fine(self, protection: str, kind: str, price: float, audit: float, end: int = 1) -> float:
        """One end of `break_even_fine`."""
        fine, attacker = 0.0, self.attackers[kind].attacker
        for _ in range(NEWTON_STEPS):
            found = self.raid(protection, kind, fine=fine, audit=audit, believed=True)
            above = self.break_even_price(protection, kind, fine=fine, audit=audit).high - price
            if above <= TIE * attacker.gain:
                return fine
            if found.worth.low < found.worth.high:
                break
            fine += above / found.fines.low if found.fines.low else math.inf
            if fine == math.inf:
                return fine

        def over(fine: float) -> float:
            return self.break_even_price(protection, kind, fine=fine, audit=audit)[end] - price

        return least_root(over, fine or max(attacker.fine, 1.0), PRECISION)[end]


def _facing(attacker: Attacker, fine: float, audit: float) -> Attacker:
    """An attacker who has the outside data, under more fines and audits."""
    return replace(attacker, access_cost=0.0, fine=attacker.fine + fine, audit_rate=attacker.audit_rate * audit)


def _rank(move: Move) -> tuple[float, ...]:
    """The best first; of moves that are worth the same, the one that asks the least."""
    low, high = map(_rounded, move.payoff)
    return -low, -high, move.terms.fine, move.terms.price, move.terms.audit


def _rounded(payoff: float) -> float:
    return float(f"{payoff:.9e}")


def _between(given: Sequence[float], more: Iterable[float]) -> list[float]:
    """Amounts that were given, and those of others that lie between the least and the largest of them."""
    low, high = min(given), max(given)
    return sorted({*given, *(one for one in more if low < one < high and math.isfinite(one))})


def _check_amount(name: str, value: object) -> None:
    if not 0 <= (found := as_number(name, value)) < math.inf:
        raise UnmaskError(f"{name} is {found:g}, expected a finite amount of at least 0")
