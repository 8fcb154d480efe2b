"""Advice of a game: offers with responses, deterring offers, fine curves, and sensitivity of the decision."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from unmask.economics import Move, PublisherGame, Sensitivity, Terms, sensitivity
from unmask.economics.game.game import WITHHELD
from unmask.studies.game.document import GameDocument
from unmask.studies.game.facts import Answer, FineCurve, Offer, OfferTerms, SensitiveInput, SensitivityEnd

JUST_BELOW: Final = 1e-6
"""Relative distance of a fine just below a deterring fine."""

MARGIN: Final = 0.01
"""Relative margin of an advised fine and price above the amounts that barely deter an attacker."""

FINES: Final = 20
"""Number of fines on a curve in addition to deterring fines, and largest number at jumps for all kinds together."""

MIN_SPAN: Final = 0.02
"""Relative width of an interval of fines below which no jump is searched."""


def best_of_each(moves: Sequence[Move]) -> list[Move]:
    """Return the best move of each protection, the best first."""
    moves_by_protection: dict[str, Move] = {}
    for move in moves:
        moves_by_protection.setdefault(move.protection, move)
    return list(moves_by_protection.values())


def offer_of(game: PublisherGame, move: Move) -> Offer:
    """Return a move with the response of each kind of attacker."""
    terms = move.terms
    answers = tuple(_answer(game, move, kind) for kind in move.responses)
    utility = 0.0 if move.protection == WITHHELD else game.protections[move.protection].utility
    return Offer(move.protection, terms.price, terms.fine, terms.audit, utility, move.payoff, answers)


def _answer(game: PublisherGame, move: Move, kind: str) -> Answer:
    response, terms, expects = move.responses[kind], move.terms, None
    if game.attackers[kind].actual is not None and response.attacks is not False:
        plan = game.best_campaign(move.protection, kind, fine=terms.fine, audit=terms.audit, believed=True)
        expects = plan.re_identified
    return Answer(kind, response.attacks, response.payoff, response.re_identified, expects)


def deterring_offers(game: PublisherGame) -> tuple[Offer, ...]:
    """Return the best release for which a fine deters all attackers, and the best for which a price does.

    Both amounts have a margin. Offers without a positive payoff are omitted.
    """
    by_fine, by_price = [], []
    for name in game.protections:
        fine = max(game.break_even_fine(name, kind).high for kind in game.attackers)
        price = max(game.break_even_price(name, kind).high for kind in game.attackers)
        by_fine += [game.move(name, Terms(fine=fine * (1 + MARGIN)))] if fine < math.inf else []
        by_price.append(game.move(name, Terms(price=price * (1 + MARGIN))))
    choices = [max(moves, key=lambda move: move.payoff.low) for moves in (by_fine, by_price) if moves]
    return tuple(offer_of(game, move) for move in choices if move.payoff.low > 0)


def safer_offer(game: PublisherGame, document: GameDocument, offer: Offer) -> Offer | None:
    """Return the offer with a margin, within the terms of the document, evaluated again.

    None if the offer does not barely deter an attacker, or if its fine and price are already the largest.
    """
    if offer.protection == WITHHELD:
        return None
    edge, lower, higher = (
        Terms(price=offer.price * factor, fine=offer.fine * factor, audit=offer.audit)
        for factor in (1, 1 - JUST_BELOW, 1 + MARGIN)
    )
    price = min(higher.price, max(document.terms["prices"]))
    higher = replace(higher, price=price, fine=min(higher.fine, max(document.terms["fines"])))
    attacks_below = (game.response(offer.protection, kind, lower).attacks is not False for kind in game.attackers)
    stays_away = (game.response(offer.protection, kind, edge).attacks is False for kind in game.attackers)
    only_just_deters = any(attacks and stays for attacks, stays in zip(attacks_below, stays_away, strict=True))
    return offer_of(game, game.move(offer.protection, higher)) if only_just_deters and higher != edge else None


def sensitive_inputs(game: PublisherGame, document: GameDocument) -> tuple[SensitiveInput, ...]:
    """Return the decision at both ends of each input, the largest loss first."""
    ranged = {(item.of, item.parameter) for item in document.ranges}
    return tuple(
        SensitiveInput(
            of=row.input.of,
            parameter=row.input.parameter,
            value=row.value,
            ranged=(row.input.of, row.input.parameter) in ranged,
            low=_end(row, 0),
            high=_end(row, 1),
            changes=max(row.loss) > 0,
        )
        for row in sensitivity(game, document.ranges, **document.terms)
    )


def _end(row: Sensitivity, side: int) -> SensitivityEnd:
    """Convert one end of an input to facts."""
    move, value = row.best[side], (row.input.low, row.input.high)[side]
    terms = OfferTerms(move.protection, move.terms.price, move.terms.fine, move.terms.audit)
    return SensitivityEnd(value, terms, move.payoff.low, row.payoff[side], row.loss[side] > 0)


def curves_of(game: PublisherGame, document: GameDocument, names: Sequence[str]) -> tuple[FineCurve, ...]:
    """Return the fine curves of some protections."""
    common = _list_fines(game, document)
    return tuple(_curve(game, name, document, common) for name in names)


def _list_fines(game: PublisherGame, document: GameDocument) -> list[float]:
    """Return the fines of all curves, up to slightly above those that deter all attackers."""
    price = min(document.terms["prices"])
    stops = (game.break_even_fine(name, kind, price=price).high for name in game.protections for kind in game.attackers)
    finite = [fine for fine in stops if 0 < fine < math.inf]
    largest = 1.2 * max([*finite, *document.terms["fines"], 1.0])
    return [0.0, *np.geomspace(min([*finite, largest]) / 10, largest, FINES).tolist()]


def _curve(game: PublisherGame, name: str, document: GameDocument, common: Sequence[float]) -> FineCurve:
    """Return the payoff at increasing fines and the smallest price, and the price that deters all attackers.

    Each kind is evaluated at the fines of all curves, just below and at its deterring fines, and at further fines if
    its income jumps. Between two fines, the cost of a kind is at most its cost at the lower one, which is used. If the
    publisher recovers fines, all kinds are evaluated at the deterring fines of all kinds. The deterring price is
    convex, so linear interpolation is an upper bound.
    """
    price = min(document.terms["prices"])
    stops = {kind: set(_list_stopping_fines(game, name, kind, price)) for kind in game.attackers}
    shared: set[float] = set().union(*stops.values()) if game.publisher.recovered else set()
    points = [_by_fine(game, name, kind, price, {*common, *fines, *shared}) for kind, fines in stops.items()]
    fines = np.array(sorted(set().union(*points)))
    payoff, prices = np.full(len(fines), game.net_benefit(name, Terms())), np.zeros(len(fines))
    for values in points:
        kind_fines = np.array(sorted(values))
        incomes, kind_prices = np.array([values[fine] for fine in kind_fines.tolist()]).T
        payoff += incomes[np.searchsorted(kind_fines, fines, side="right") - 1]
        prices = np.maximum(prices, np.interp(fines, kind_fines, kind_prices))
    return FineCurve(name, tuple(fines.tolist()), tuple(payoff.tolist()), tuple(prices.tolist()))


def _list_stopping_fines(game: PublisherGame, name: str, kind: str, price: float) -> Iterator[float]:
    """Yield fines that barely deter a kind and barely do not, with a price and without."""
    for amount in (price, 0.0):
        fine = game.break_even_fine(name, kind, price=amount).high
        yield from (fine * (1 - JUST_BELOW), fine) if 0 < fine < math.inf else ()


def _by_fine(
    game: PublisherGame, name: str, kind: str, price: float, fines: Iterable[float]
) -> dict[float, tuple[float, float]]:
    """Return fine -> (income from a kind at a price, smallest price that deters it), with more points at jumps.

    Jumps are searched if campaigns are exact.
    """
    single, benefit = replace(game, attackers={kind: game.attackers[kind]}), game.net_benefit(name, Terms())
    stop, is_exact = game.break_even_fine(name, kind).high, not game.publisher.recovered

    def evaluate(fine: float) -> tuple[float, float]:
        nonlocal is_exact
        if fine >= stop:
            return 0.0, 0.0
        low, high = single.move(name, Terms(price=price, fine=fine)).payoff
        is_exact &= low == high
        return low - benefit, game.break_even_price(name, kind, fine=fine).high

    points = {fine: evaluate(fine) for fine in fines}
    for _ in range(FINES // len(game.attackers)):
        spans = [ends for ends in pairwise(sorted(points)) if ends[1] > ends[0] * (1 + MIN_SPAN)]
        low, high = max(spans, key=lambda ends: abs(points[ends[1]][0] - points[ends[0]][0]))
        if not is_exact or points[low][0] == points[high][0]:
            break
        middle = math.sqrt(low * high) or high / 2
        points[middle] = evaluate(middle)
    return points
