"""The advice of a game: offers with their answers, deterring offers, curves and the sensitivity of the decision."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from unmask.economics import Move, PublisherGame, Sensitivity, Terms, sensitivity
from unmask.economics.game import WITHHELD
from unmask.reports.facts.game import Answer, Asked, Curve, End, Offer, Sensitive
from unmask.studies.stated import Stated

BESIDE: Final = 1e-6
"""Share of a fine that stops somebody by which the fine beside it is lower."""

MARGIN: Final = 0.01
"""Share by which a fine and a price that are advised exceed those that only just keep somebody away."""

FINES: Final = 20
"""Fines on a curve, besides those that stop somebody, and at most where it jumps, all kinds together."""

NEAR: Final = 0.02
"""Share of a fine within which a jump is not looked for."""


def best_of_each(moves: Sequence[Move]) -> list[Move]:
    """The best move of each protection, the best first."""
    found: dict[str, Move] = {}
    for one in moves:
        found.setdefault(one.protection, one)
    return list(found.values())


def offer_of(game: PublisherGame, move: Move) -> Offer:
    """A move as a page shows it, with how each kind of attacker answers."""
    terms = move.terms
    answers = tuple(_answer(game, move, kind) for kind in move.responses)
    utility = 0.0 if move.protection == WITHHELD else game.protections[move.protection].utility
    return Offer(move.protection, terms.price, terms.fine, terms.audit, utility, move.payoff, answers)


def _answer(game: PublisherGame, move: Move, kind: str) -> Answer:
    one, expects = move.responses[kind], None
    if game.attackers[kind].actual is not None and one.attacks is not False:
        terms = move.terms
        expects = game.best_campaign(
            move.protection, kind, fine=terms.fine, audit=terms.audit, believed=True
        ).re_identified
    return Answer(kind, one.attacks, one.payoff, one.re_identified, expects)


def deterring_offers(game: PublisherGame) -> tuple[Offer, ...]:
    """The best release that the least fine alone makes pay, and the best that the least price alone does, each with a
    margin: nobody attacks it.
    """
    by_fine, by_price = [], []
    for name in game.protections:
        fine = max(game.break_even_fine(name, kind).high for kind in game.attackers)
        price = max(game.break_even_price(name, kind).high for kind in game.attackers)
        by_fine += [game.move(name, Terms(fine=fine * (1 + MARGIN)))] if fine < math.inf else []
        by_price.append(game.move(name, Terms(price=price * (1 + MARGIN))))
    best = [max(found, key=lambda one: one.payoff.low) for found in (by_fine, by_price) if found]
    return tuple(offer_of(game, one) for one in best if one.payoff.low > 0)


def safer_offer(game: PublisherGame, said: Stated, taken: Offer) -> Offer | None:
    """The offer with a margin, but no more than may be asked, played again; None where its fine and price do not only
    just keep somebody away, or are the most already.
    """
    if taken.protection == WITHHELD:
        return None
    edge, less, more = (
        Terms(price=taken.price * by, fine=taken.fine * by, audit=taken.audit) for by in (1, 1 - BESIDE, 1 + MARGIN)
    )
    price, fine = min(more.price, max(said.terms["prices"])), min(more.fine, max(said.terms["fines"]))
    more = replace(more, price=price, fine=fine)
    just_below = (game.response(taken.protection, kind, less).attacks is not False for kind in game.attackers)
    there = (game.response(taken.protection, kind, edge).attacks is False for kind in game.attackers)
    kept_away = any(below and stays for below, stays in zip(just_below, there, strict=True))
    return offer_of(game, game.move(taken.protection, more)) if kept_away and more != edge else None


def sensitive_inputs(game: PublisherGame, said: Stated) -> tuple[Sensitive, ...]:
    """Tabulate the decision at both ends of every input, the greatest loss first."""
    ranged = {(one.of, one.parameter) for one in said.ranges}
    return tuple(
        Sensitive(
            of=row.input.of,
            parameter=row.input.parameter,
            value=row.value,
            ranged=(row.input.of, row.input.parameter) in ranged,
            low=_end(row, 0),
            high=_end(row, 1),
            changes=max(row.loss) > 0,
        )
        for row in sensitivity(game, said.ranges, **said.terms)
    )


def _end(row: Sensitivity, side: int) -> End:
    """Convert one end of an input."""
    best, value = row.best[side], (row.input.low, row.input.high)[side]
    asked = Asked(best.protection, best.terms.price, best.terms.fine, best.terms.audit)
    return End(value, asked, best.payoff.low, row.payoff[side], row.loss[side] > 0)


def curves_of(game: PublisherGame, said: Stated, names: Sequence[str]) -> tuple[Curve, ...]:
    """Some protections by the contractual fine."""
    common = _fines(game, said)
    return tuple(_curve(game, name, said, common) for name in names)


def _fines(game: PublisherGame, said: Stated) -> list[float]:
    """The fines of all curves: up to a little beyond those that stop everybody."""
    price = min(said.terms["prices"])
    stops = (game.break_even_fine(name, kind, price=price).high for name in game.protections for kind in game.attackers)
    known = [one for one in stops if 0 < one < math.inf]
    most = 1.2 * max([*known, *said.terms["fines"], 1.0])
    return [0.0, *np.geomspace(min([*known, most]) / 10, most, FINES).tolist()]


def _curve(game: PublisherGame, name: str, said: Stated, common: Sequence[float]) -> Curve:
    """What is left at rising fines and the least price that is asked, and the price that keeps everybody away.

    Each kind is looked at at the fines of all curves, just below and at those that stop them, and some more where what
    they bring jumps. At the other kinds' fines between these they cost at most what they cost at the fine before, and
    so it is counted, unless fines come back to the publisher, where all kinds are looked at there; the price that
    keeps them away, which is convex, is no more than on a straight line.
    """
    price = min(said.terms["prices"])
    ends = {kind: set(_beside(game, name, kind, price)) for kind in game.attackers}
    every: set[float] = set().union(*ends.values()) if game.publisher.recovered else set()
    each = [_by_fine(game, name, kind, price, {*common, *own, *every}) for kind, own in ends.items()]
    fines = np.array(sorted(set().union(*each)))
    left, least = np.full(len(fines), game.net_benefit(name, Terms())), np.zeros(len(fines))
    for found in each:
        own = np.array(sorted(found))
        brought, prices = np.array([found[fine] for fine in own.tolist()]).T
        left += brought[np.searchsorted(own, fines, side="right") - 1]
        least = np.maximum(least, np.interp(fines, own, prices))
    return Curve(name, tuple(fines.tolist()), tuple(left.tolist()), tuple(least.tolist()))


def _beside(game: PublisherGame, name: str, kind: str, price: float) -> Iterator[float]:
    """The fines that just stop a kind and just do not, at a price and without one."""
    for one in (price, 0.0):
        stops = game.break_even_fine(name, kind, price=one).high
        yield from (stops * (1 - BESIDE), stops) if 0 < stops < math.inf else ()


def _by_fine(
    game: PublisherGame, name: str, kind: str, price: float, fines: Iterable[float]
) -> dict[float, tuple[float, float]]:
    """Fine -> what a kind brings at a price, and the least price that keeps them away; some more where it jumps, as
    far as campaigns are known.
    """
    alone, kept = replace(game, attackers={kind: game.attackers[kind]}), game.net_benefit(name, Terms())
    stops, known = game.break_even_fine(name, kind).high, not game.publisher.recovered

    def at_fine(fine: float) -> tuple[float, float]:
        nonlocal known
        if fine >= stops:
            return 0.0, 0.0
        low, high = alone.move(name, Terms(price=price, fine=fine)).payoff
        known &= low == high
        return low - kept, game.break_even_price(name, kind, fine=fine).high

    found = {fine: at_fine(fine) for fine in fines}
    for _ in range(FINES // len(game.attackers)):
        spans = [ends for ends in pairwise(sorted(found)) if ends[1] > ends[0] * (1 + NEAR)]
        low, high = max(spans, key=lambda ends: abs(found[ends[1]][0] - found[ends[0]][0]))
        if not known or found[low][0] == found[high][0]:
            break
        middle = math.sqrt(low * high) or high / 2
        found[middle] = at_fine(middle)
    return found
