"""The publisher's game on a page: what to release and what to ask, what stops attackers, which numbers decide."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from unmask.economics.audit.parameters import parameter_table
from unmask.economics.audit.sentences import format_amount, format_bounds
from unmask.render import Figure
from unmask.reports.blocks import make_grid
from unmask.reports.facts.game import WITHHELD, Curve, GameData, Offer, Pair
from unmask.reports.facts.study import StudyData
from unmask.reports.figures import Line, lines_figure
from unmask.reports.findings.game import called, capital, count, money, offered, people, shown, terms
from unmask.reports.parts import (
    Figures,
    Heading,
    Loose,
    Page,
    Section,
    Words,
    grid,
    lead,
    minds,
    notes,
    parts,
)
from unmask.reports.screens.game import best_offer, game_screen, opening, told_of
from unmask.reports.sections.closing import closing, describe_readers
from unmask.reports.sections.one_by_one import one_by_one_section
from unmask.reports.sections.sensitivity import sensitivity_section
from unmask.results import Column
from unmask.results.formats import number, percent, round_up
from unmask.results.suppression import FEWEST
from unmask.results.words import plural

CURVES = 6
"""Protections that are drawn."""

ASSUMPTIONS = (
    "Attackers count money: nobody who acts out of spite, curiosity or for fame is deterred by a price or a fine.",
    "The publisher moves first. Attackers then know the release and the terms, and play the campaign that pays most.",
    "Attackers act on their own: a person whom two of them re-identify is lost twice.",
    "What attackers gain, pay and know is as the document says; they know it, unless it says what they believe.",
    "Targets are independent given the release; one draw of the protections and of what is known stands for all.",
    "A price is paid once by each attacker. The contractual fine adds to the fine that they face anyway.",
    "Left to you: benefit times utility kept, less losses, penalties and audits. Releasing nothing is worth 0.",
)

PICTURE = "What is left to you, by the contractual fine; no price is asked beyond the least one of the document."

BEST = "Each protection at its best terms; people re-identified by the attacker who re-identifies most."

UNFINED = (
    "Re-identified, unfined: by an attacker who fears no fine. In truth: the same plan, played out against the people "
    "behind the records."
)


def game_page(data: GameData) -> Page:
    """What stands on the page of a game."""
    offers, *others = game_sections(data)
    sections = (
        replace(offers, open=True),
        *others,
        *closing(ASSUMPTIONS, None, data.reproduce or {}, "How this page was made"),
    )
    kept = tuple(section for section in sections if section is not None)
    return Page(
        data.title, parts(game_screen(data)), kept, kind="Publisher's game", folded=True, foot=describe_readers(FEWEST)
    )


def game_in_study(study: StudyData) -> tuple[Section, ...]:
    """The game of a study on its page: what to do, beside what its policy says of that, and the sections of the game;
    none where it has no game.
    """
    if study.game is None:
        return ()
    first, rest = opening(study.game)
    best = best_offer(study.game)
    answers = grid(
        ("Attacker", f"If the offer is {offered(best)}", "Re-identified"),
        [(one.kind, told_of(one), count(one.re_identified)) for one in best.answers],
        text=2,
    )
    said = parts(Words(first), Words(rest), Words(_under_policy(study, best)), answers)
    return Section("game", "What to release, and what to ask for it", said, first), *game_sections(study.game)


def _under_policy(study: StudyData, best: Offer) -> str:
    """What the policy of a study says of an offer: deterrence is no condition of it."""
    own = next((one for one in study.options if one.protection == best.protection), None)
    if own is None:
        return "No policy of this study judges it: money decides here, and nothing else."
    state = {"met": "meets", "missed": "misses", "untested": "is not known to meet"}[own.state]
    aside = "A policy asks what an attack reaches, and not whether it pays."
    return f"{capital(called(best.protection))} {state} {study.policy}. {aside}"


def game_sections(data: GameData) -> tuple[Section, ...]:
    """All of a game but its first screen."""
    sections = (
        Section("offers", "What each protection leaves you", parts(*_offers(data)), _told(data.taken)),
        Section("stops", "What stops each attacker", parts(*_stops(data)), _stop_told(data)),
        sensitivity_section(data),
        one_by_one_section(data.alone),
        Section("attackers", "Who attacks", parts(*_kinds(data)), f"{plural(len(data.kinds), 'kind')} of attackers."),
    )
    return tuple(section for section in sections if section is not None)


def _told(offer: Offer) -> str:
    if offer.protection == WITHHELD:
        return "Releasing nothing leaves 0, and no offer is a safer choice."
    return f"{capital(called(offer.protection))} {terms(offer)} leaves {money(offer.payoff)}."


def _offers(data: GameData) -> Iterator[Loose]:
    """The picture, and the best terms of each protection."""
    yield lead(PICTURE + (" Every range is at its middle." if data.middled else ""))
    yield Figures((_payoffs(data.curves[:CURVES]), _prices(data.curves[:CURVES])))
    yield notes(_not_drawn(data))
    yield BEST
    yield grid(
        ("Protection", "Price", "Fine", "Audits", "Utility", "Left to you", "Re-identified"),
        [_offer_row(one) for one in data.offers],
        text=1,
    )


def _not_drawn(data: GameData) -> list[str]:
    more = len(data.curves) - CURVES
    return [f"The first {CURVES} of {len(data.curves)} protections are drawn; the table has all."] if more > 0 else []


def _offer_row(offer: Offer) -> tuple[str, ...]:
    asked = (format_amount(offer.price), format_amount(offer.fine), number(offer.audit))
    return shown(offer.protection), *asked, percent(offer.utility), money(offer.payoff), people(offer)


FINE = Column("fine", "Contractual fine", "number")


def _payoffs(curves: Sequence[Curve]) -> Figure:
    """What is left to the publisher by the fine: it changes at once, where an attacker changes plans."""
    lines = [_line(one, one.payoffs, i) for i, one in enumerate(curves)]
    title, left = "Left to you, by the contractual fine", Column("left", "", "number")
    label = "What is left to the publisher"
    return lines_figure(title, FINE, left, lines, form="steps", rules={"not to release": 0.0}, label=label, log="x")


def _prices(curves: Sequence[Curve]) -> Figure:
    """The least price that keeps everybody away by the fine."""
    lines = [_line(one, one.prices, i) for i, one in enumerate(curves)]
    label, price = "The least price at which nobody attacks", Column("price", "", "number")
    return lines_figure("Least price that keeps everybody away", FINE, price, lines, label=label, log="x")


def _line(curve: Curve, values: Sequence[float], style: int) -> Line:
    return Line(shown(curve.protection), list(zip(curve.fines, values, strict=True)), style)


def _stops(data: GameData) -> Iterator[Loose]:
    """What stops each kind on each release."""
    yield (
        "Each line asks for one thing alone: the least price of access, or the least contractual fine, with which no "
        "campaign of this attacker pays. A fine is paid a limited number of times, so it must outweigh all people "
        "together."
    )
    rows = [
        (
            shown(one.protection), one.kind, _stop(one.price), _stop(one.fine), count((one.announced, one.announced)),
            "not known" if one.realized is None else count((one.realized, one.realized)),
        )
        for one in data.stopping
    ]  # fmt: skip
    head = ("Protection", "Attacker", "Price that stops", "Fine that stops", "Re-identified, unfined", "In truth")
    yield grid(head, rows, text=2)
    yield notes([UNFINED])


def _stop(pair: Pair) -> str:
    if math.isinf(pair[0]):
        return "none does"
    return "none needed" if pair[1] <= 0 else format_bounds(pair, round_up)


def _stop_told(data: GameData) -> str:
    name = best_offer(data).protection
    dearest = max((one for one in data.stopping if one.protection == name), key=lambda one: one.price[1])
    if dearest.price[1] <= 0:
        return f"Nobody attacks {called(name)}, whatever is asked."
    return f"{capital(called(dearest.protection))}: a price of {_stop(dearest.price)} keeps everybody away."


def _kinds(data: GameData) -> Iterator[Loose]:
    """The parameters of each kind of attacker."""
    for kind in data.kinds:
        yield Heading(
            f"Who attacks: {kind.name}",
            f"{format_amount(kind.number)} of them expected, as well informed as “{kind.adversary}”.",
        )
        if kind.assumed:
            yield minds(
                ["This attacker rests on an embedded profile that nobody has checked."], "Assumed, not observed."
            )
        yield make_grid(parameter_table("parameters", kind.parameters))
