"""The publisher's game: a release with a price and a fine, against attackers who then plan a campaign."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker
from unmask.economics.campaigns.bounds import ZERO, Bounds
from unmask.economics.deterrence.search import find_breakpoints, find_root
from unmask.economics.game.best_response import BestCampaign, Response
from unmask.economics.game.publisher import AttackerKind, Move, ProtectedRelease, Publisher, Terms
from unmask.economics.plans.plan import TIE

WITHHELD: Final = "no release"
"""The move that every publisher has: nothing is released, no attacker comes, and the payoff is 0."""

JUST_BELOW: Final = 1e-9
"""Share of a break-even amount by which the amount that an attacker still pays is lower."""

NEWTON_STEPS: Final = 100
"""Largest number of Newton steps; each one leaves one piece of a piecewise linear function."""

PRECISION: Final = 1e-6
"""Relative width of a break-even fine of a campaign that is only bounded."""

CampaignKey = tuple["ProtectedRelease", str, Attacker, Attacker | None, int | None]


@dataclass(frozen=True, eq=False)
class PublisherGame:
    """The publisher's game, a Bayesian Stackelberg game: a protection and terms, then each attacker's best campaign.

    A move (r, a, phi, alpha) is worth to the publisher, over kinds t with w_t expected attackers,

        benefit u_r - audit_cost alpha + sum_t w_t [attack_t] (a [fees] + recovered phi D_t - loss N_t - penalty R_t)

    with N_t people re-identified and D_t fines paid in expectation, and R_t the probability of at least `threshold`
    people, all under the campaign of t at the gain, costs and fine C_p + phi, and detection alpha q. With Y_t the worth
    of that campaign, t attacks if Y_t > access_cost + a (a tie walks away). If only bounds on Y_t are known, the payoff
    is an interval.

    Parameters
    ----------
    publisher : Publisher
        The publisher.
    protections : dict of str to ProtectedRelease
        Name -> release.
    attackers : dict of str to AttackerKind
        Kind -> the attacker and the expected number.
    campaigns : dict
        Campaigns that are solved already; copies of a game share them.

    References
    ----------
    W. Xia et al., "Process-driven data privacy", 2015, section 8, asks for it.
    Z. Wan et al., "A game theoretic framework for analyzing re-identification risk", 2015, has it for one try.

    Examples
    --------
    One try, no detection, no access cost: the game of Wan et al. 2015 and of ARX.

    >>> once = AttackerKind(Attacker(gain=300, exploit_cost=4, max_fines=0, max_tries=1))
    >>> releases = {"k=5": ProtectedRelease([5] * 5, 0.7), "k=80": ProtectedRelease([80] * 80, 0.7)}
    >>> game = PublisherGame(Publisher(benefit=1200, loss=60), releases, {"once": once})
    >>> [game.move(name, Terms()).payoff.low for name in releases]
    [780.0, 840.0]
    """

    publisher: Publisher
    protections: Mapping[str, ProtectedRelease]
    attackers: Mapping[str, AttackerKind]
    campaigns: dict[CampaignKey, BestCampaign] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.protections or not self.attackers:
            raise UnmaskError("a game has at least one protection and one kind of attacker; give both")

    def best_campaign(
        self, protection: str, kind: str, *, fine: float = 0.0, audit: float = 1.0, believed: bool = False
    ) -> BestCampaign:
        """Return the best campaign of a kind without the price of access; each is solved once.

        believed : True for the outcome that the attacker believes in, in place of the actual one
        """
        expected, release = self.attackers[kind], self.protections[protection]
        attacker = _face(expected.attacker, fine, audit)
        actual = None if believed or expected.actual is None else _face(expected.actual, fine, audit)
        at_least = self.publisher.threshold if self.publisher.penalty else None
        key = (release, kind, attacker, actual, at_least)
        if key not in self.campaigns:
            targets, people = release.merged_targets_of(kind)
            unfined = replace(attacker, fine=0.0)
            original = self.campaigns.setdefault(
                (release, kind, unfined, None, None), BestCampaign.of(unfined, targets, people=people)
            )
            new = BestCampaign.of(attacker, targets, people=people, at_least=at_least, actual=actual)
            self.campaigns.setdefault(key, replace(new, at_another_fine=original))
        return self.campaigns[key]

    def response(self, protection: str, kind: str, terms: Terms) -> Response:
        """Return the response of a kind of attacker."""
        attacker = self.attackers[kind].attacker
        plan = self.best_campaign(protection, kind, fine=terms.fine, audit=terms.audit)
        price = attacker.access_cost + terms.price
        attacks = plan.pays(price)
        if attacks is False:
            return Response(False, ZERO, ZERO, ZERO, ZERO)
        payoff = Bounds(max(plan.worth.low - price, 0.0), plan.worth.high - price)
        fines = plan.fines if self.publisher.recovered else Bounds(0.0, attacker.max_fines)
        outcome = (plan.re_identified, fines, plan.reached)
        return Response(attacks, payoff, *(bounds if attacks else Bounds(0.0, bounds.high) for bounds in outcome))

    def move(self, protection: str, terms: Terms) -> Move:
        """Return a protection at some terms with its responses; `WITHHELD` is one at any terms."""
        if protection == WITHHELD:
            return Move(WITHHELD, Terms(), ZERO, {})
        responses = {kind: self.response(protection, kind, terms) for kind in self.attackers}
        benefit = self.net_benefit(protection, terms)
        parts = [self._compute_income(kind, response, terms) for kind, response in responses.items()]
        payoff = Bounds(benefit + sum(part.low for part in parts), benefit + sum(part.high for part in parts))
        return Move(protection, terms, payoff, responses)

    def net_benefit(self, protection: str, terms: Terms) -> float:
        """Return the publisher's payoff without an attack: benefit less audits."""
        return self.publisher.benefit * self.protections[protection].utility - self.publisher.audit_cost * terms.audit

    def _compute_income(self, kind: str, response: Response, terms: Terms) -> Bounds:
        """Return the publisher's income from the attackers of a kind, which is mostly negative."""
        if response.attacks is False:
            return ZERO
        publisher, number = self.publisher, self.attackers[kind].number
        fee = terms.price if publisher.fees else 0.0
        fined, loss = publisher.recovered * terms.fine, publisher.loss
        largest_fines = fined * response.fines.high if fined else 0.0
        low = fee + fined * response.fines.low - loss * response.re_identified.high
        low -= publisher.penalty * response.reached.high
        high = fee + largest_fines - loss * response.re_identified.low - publisher.penalty * response.reached.low
        return Bounds(number * (low if response.attacks else min(low, 0)), number * high)

    def moves(
        self, *, prices: Sequence[float] = (0.0,), fines: Sequence[float] = (0.0,), audits: Sequence[float] = (1.0,)
    ) -> tuple[Move, ...]:
        """Return every protection at the terms and between them, and no release at all; the best lower bound first.

        prices, fines : amounts in any order. Prices between the least and the largest are added at which an attacker
                        just walks away, and, if fees count, the prices just below: for a fine no other price is
                        better. Fines are added that stop an attacker at a price, and, if they are recovered, all at
                        which an attacker changes the plan, and just below: for a price no other fine is better, unless
                        campaigns are only bounded.
        """
        moves = [move for protection in self.protections for move in self._play(protection, prices, fines, audits)]
        return tuple(sorted([*moves, self.move(WITHHELD, Terms())], key=_rank))

    def best_move(
        self, *, prices: Sequence[float] = (0.0,), fines: Sequence[float] = (0.0,), audits: Sequence[float] = (1.0,)
    ) -> Move:
        """Return the first of `moves`, without the moves of protections that cannot be better.

        A release brings at most its benefit, less the cheapest audit, and the largest fees and fines that come back.
        """
        income = sum(self._bound_income(kind, max(prices), max(fines)) for kind in self.attackers)
        limits = {name: self.net_benefit(name, Terms(audit=min(audits))) + income for name in self.protections}
        order = [*self.protections, WITHHELD]
        choice = self.move(WITHHELD, Terms())
        for protection in sorted(limits, key=lambda name: -limits[name]):
            if _round(limits[protection]) < _round(choice.payoff.low):
                break
            moves = [choice, *self._play(protection, prices, fines, audits)]
            choice = min(moves, key=lambda move: (_rank(move), order.index(move.protection)))
        return choice

    def _bound_income(self, kind: str, price: float, fine: float) -> float:
        """Bound the fees and the recovered fines of a kind."""
        expected, returned = self.attackers[kind], self.publisher.recovered * fine
        fees = price if self.publisher.fees else 0.0
        return expected.number * (fees + (returned * expected.attacker.max_fines if returned else 0.0))

    def _play(
        self, protection: str, prices: Sequence[float], fines: Sequence[float], audits: Sequence[float]
    ) -> Iterator[Move]:
        """Yield the moves of a protection."""
        for audit in audits:
            span = min(fines), max(fines)
            for fine in _merge(fines, self._list_fines(protection, prices, span, audit)):
                for price in _merge(prices, self._list_prices(protection, fine, audit)):
                    yield self.move(protection, Terms(price=price, fine=fine, audit=audit))

    def _list_fines(
        self, protection: str, prices: Sequence[float], span: tuple[float, float], audit: float
    ) -> Iterator[float]:
        """Yield the fines of a span that stop an attacker or change the plan; with recovered fines also just below."""
        for kind in self.attackers if span[0] < span[1] else ():
            fines = [
                self._find_stopping_fine(protection, kind, price, audit)
                for price in prices
                if self._is_stopped_within(protection, kind, price, audit, span)
            ]
            fines += self._find_plan_changes(protection, kind, span[1], audit) if self.publisher.recovered else []
            yield from fines
            yield from (fine * (1 - JUST_BELOW) for fine in fines if self.publisher.recovered)

    def _is_stopped_within(
        self, protection: str, kind: str, price: float, audit: float, span: tuple[float, float]
    ) -> bool:
        """Return True if campaigns may pay at the first fine of a span, and do not at the last."""
        first, last = (self.break_even_price(protection, kind, fine=fine, audit=audit).high for fine in span)
        return first > price and last - price <= TIE * self.attackers[kind].attacker.gain

    def _find_plan_changes(self, protection: str, kind: str, largest: float, audit: float) -> list[float]:
        """Return the contractual fines at which the campaign of a kind changes: breakpoints of its worth."""

        def line(fine: float) -> tuple[float, float]:
            plan = self.best_campaign(protection, kind, fine=fine, audit=audit, believed=True)
            return plan.worth.low, -plan.fines.low

        return find_breakpoints(line, 0.0, largest) if largest else []

    def _list_prices(self, protection: str, fine: float, audit: float) -> Iterator[float]:
        """Yield the prices at which an attacker walks away, and, if fees count, just does not."""
        for kind in self.attackers:
            price = self.break_even_price(protection, kind, fine=fine, audit=audit)
            yield price.high
            if self.publisher.fees:
                yield price.low * (1 - JUST_BELOW)

    def undecided(self, moves: Sequence[Move]) -> tuple[Move, ...]:
        """Return the moves that may be better than the first: their upper bound exceeds its lower bound."""
        return tuple(move for move in moves[1:] if _rank(move)[1] < _rank(moves[0])[0])

    def break_even_price(self, protection: str, kind: str, *, fine: float = 0.0, audit: float = 1.0) -> Bounds:
        """Return a*(phi) = Y(phi) - access_cost, at least 0.

        Below the lower bound a campaign pays, from the upper bound on none does.
        """
        worth = self.best_campaign(protection, kind, fine=fine, audit=audit, believed=True).worth
        cost = self.attackers[kind].attacker.access_cost
        return Bounds(max(worth.low - cost, 0.0), max(worth.high - cost, 0.0))

    def break_even_fine(self, protection: str, kind: str, *, price: float = 0.0, audit: float = 1.0) -> Bounds:
        """Return the contractual fine with a*(phi) = price; inf if no fine stops the attacker.

        Below the lower bound a campaign pays, from the upper bound on none does. a* is convex, falls with the fine and
        has the slope -D: Newton's method from 0 is exact after finitely many steps. If a campaign is only bounded, both
        ends are found by `find_root`.
        """
        return Bounds(*(self._find_stopping_fine(protection, kind, price, audit, end) for end in (0, 1)))

    def _find_stopping_fine(self, protection: str, kind: str, price: float, audit: float, end: int = 1) -> float:
        """Return one end of `break_even_fine`."""
        fine, attacker = 0.0, self.attackers[kind].attacker
        for _ in range(NEWTON_STEPS):
            plan = self.best_campaign(protection, kind, fine=fine, audit=audit, believed=True)
            excess = self.break_even_price(protection, kind, fine=fine, audit=audit).high - price
            if excess <= TIE * attacker.gain:
                return fine
            if plan.worth.low < plan.worth.high:
                break
            fine += excess / plan.fines.low if plan.fines.low else math.inf
            if fine == math.inf:
                return fine

        def compute_excess(fine: float) -> float:
            return self.break_even_price(protection, kind, fine=fine, audit=audit)[end] - price

        return find_root(compute_excess, fine or max(attacker.fine, 1.0), PRECISION)[end]


def _face(attacker: Attacker, fine: float, audit: float) -> Attacker:
    """Return the attacker with the outside data, under more fines and audits."""
    return replace(attacker, access_cost=0.0, fine=attacker.fine + fine, audit_rate=attacker.audit_rate * audit)


def _rank(move: Move) -> tuple[float, ...]:
    """Return the sort key: the best first, then the lowest terms."""
    low, high = map(_round, move.payoff)
    return -low, -high, move.terms.fine, move.terms.price, move.terms.audit


def _round(payoff: float) -> float:
    return float(f"{payoff:.9e}")


def _merge(amounts: Sequence[float], candidates: Iterable[float]) -> list[float]:
    """Return the sorted amounts, and the candidates between the least and the largest of them."""
    low, high = min(amounts), max(amounts)
    return sorted({*amounts, *(value for value in candidates if low < value < high and math.isfinite(value))})
