"""The publisher's game on a page: what to release and what to ask, what stops attackers, how wrong numbers may be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from unmask.reports.charts import ends, plot
from unmask.reports.facts.game import WITHHELD, Answer, Curve, GameData, Kind, Offer, Pair
from unmask.reports.facts.study import StudyData
from unmask.reports.few import FEWEST, handed_on
from unmask.reports.findings.game import called, capital, count, money, offered, people, shown, terms
from unmask.reports.findings.price import amount, between, least, parameter_rows
from unmask.reports.marks import Line, Points, Rule
from unmask.reports.parts import (
    Advice,
    AtRisk,
    Checked,
    Figure,
    Figures,
    Heading,
    Loose,
    Page,
    Screen,
    Section,
    Tried,
    Words,
    grid,
    lead,
    minds,
    notes,
    parts,
)
from unmask.reports.scales import amounts, linear
from unmask.reports.sections.closing import closing
from unmask.reports.sections.how_wrong import delicate, how_wrong
from unmask.reports.sections.nodes import levels_told, nodes_shown, nodes_told
from unmask.reports.sections.one_by_one import one_by_one_section
from unmask.reports.words import listed, number, percent, plural

NEXT = 4
"""Protections beside the one to take."""

CURVES = 6
"""Protections that are drawn."""

ASSUMPTIONS = (
    "Attackers count money: nobody who acts out of spite, curiosity or for fame is deterred by a price or a fine.",
    "The publisher moves first. Attackers then know the release and the terms, and play the campaign that pays most.",
    "Attackers act on their own: a person whom two of them re-identify is lost twice, unless they are said to compete.",
    "What attackers gain, pay and know is as the document says; they know it, unless it says what they believe.",
    "Targets are independent given the release; one draw of the protections and of what is known stands for all.",
    "A price is paid once by each attacker. The contractual fine adds to the fine that they face anyway.",
    "Left to you: benefit times utility kept, less losses, penalties and audits. Releasing nothing is worth 0.",
)

NOTE = (
    "Releasing nothing leaves 0. Prices and fines deter only those who count money; a fine must be one that courts "
    "uphold."
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
    return Page(data.title, parts(_screen(data)), kept, kind="Publisher's game", folded=True, foot=handed_on(FEWEST))


def game_in_study(study: StudyData) -> tuple[Section, ...]:
    """The game of a study on its page: what to do, beside what its policy says of that, and the sections of the game;
    none where it has no game.
    """
    if study.game is None:
        return ()
    first, rest = opening(study.game)
    best = _best(study.game)
    answers = grid(
        ("Attacker", f"If the offer is {offered(best)}", "Re-identified"),
        [(one.kind, _told_of(one), count(one.re_identified)) for one in best.answers],
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
        Section("nodes", "All nodes of the lattice", parts(*nodes_shown(data.lattices)), nodes_told(data.lattices))
        if data.lattices
        else None,
        Section("stops", "What stops each attacker", parts(*_stops(data)), _stop_told(data)),
        how_wrong(data),
        one_by_one_section(data.alone),
        Section("attackers", "Who attacks", parts(*_kinds(data)), f"{plural(len(data.kinds), 'kind')} of attackers."),
    )
    return tuple(section for section in sections if section is not None)


# --- the first screen -------------------------------------------------------------------------------------------------


def opening(data: GameData) -> tuple[str, str]:
    """What to do, and what that rests on, a sentence or two each."""
    _, first, rest = _verdict(data)
    known = (data.taken, _best(data))
    now = "" if any(_same(data.now, one) for one in known) else f" {_now(data.now)}"
    instead = f" {capital(_instead(data))}." if data.taken.protection == WITHHELD else ""
    levels = levels_told(data.lattices, _best(data).protection)
    return f"{first} {rest}", f"{levels} {_judgment(data)}{instead}{now}".lstrip()


def _screen(data: GameData) -> Screen:
    taken, best, head = data.taken, _best(data), "on average" if data.judged else "left to you"
    changes = tuple(_next(data))
    return Screen(
        *_verdict(data),
        opening(data)[1],
        tuple(_answer(one, data) for one in best.answers),
        who=_at_risk(data),
        next=Advice("", changes=changes, heads=(head,), note=NOTE),
        asked="Who attacks it?" if taken is best else f"Who would attack {called(best.protection)} {terms(best)}?",
        beside="every range at its middle" if data.judged else "",
    )


def _verdict(data: GameData) -> tuple[str, str, str]:
    """The state, the first words and the rest of the sentence."""
    taken = data.taken
    if taken.protection == WITHHELD:
        return "missed", "Do not release", f"these data at the terms of the document.{_deterring(data)}"
    name, left = called(taken.protection), money(taken.payoff)
    middle = ", with every range at its middle" if data.judged else ""
    if taken.payoff[0] > 0:
        return "met", f"Release {name}", f"{terms(taken)}: {left} is left to you{middle}."
    return "untested", "Not decided:", f"{name} {terms(taken)} leaves {left}{middle}."


def _instead(data: GameData) -> str:
    """What the best offer that releases something would do."""
    offer = _best(data)
    said = f"{called(offer.protection)} {terms(offer)}"
    judged = next((one for one in data.judged if one.offer is offer), None)
    if judged is None:
        return f"{said} leaves {money(offer.payoff)}"
    return f"{said} brings {amount(judged.mean)} on average, {amount(judged.payoff[0])} at worst"


def _deterring(data: GameData) -> str:
    """The fine and the price beyond those of the document that make a release pay."""
    if not data.deterring:
        return " No fine and no price alone keeps everybody away and leaves you something."
    first = data.deterring[0]
    said = [
        terms(one) if one.protection == first.protection else f"{called(one.protection)} {terms(one)}"
        for one in data.deterring
    ]
    left = amount(min(one.payoff[0] for one in data.deterring))
    return (
        f" More must be asked: {called(first.protection)} {' or '.join(said)} is attacked by nobody and leaves {left}."
    )


def _released(data: GameData) -> list[Offer]:
    """The best offer of each protection, the best first: over ranges by what they bring on average."""
    ranked = [one.offer for one in sorted(data.judged, key=lambda one: -one.mean)] or data.offers
    best = {one.protection: one for one in reversed(ranked) if one.protection != WITHHELD}
    return [one for one in ranked if best.get(one.protection) is one]


def _best(data: GameData) -> Offer:
    """The offer to take, or that would be taken if something had to be released."""
    return data.taken if data.taken.protection != WITHHELD else _released(data)[0]


def _judgment(data: GameData) -> str:
    if data.judged:
        first = data.judged[0]
        more = f"Wherever in their ranges the numbers are, another choice brings at most {amount(first.regret[1])} more"
        return f"{more}; this one brings {amount(first.mean)} on average, {amount(first.payoff[0])} at worst."
    wrong = delicate(data)
    unsure = f" {plural(data.undecided, 'other')} may be better: campaigns are only bounded." if data.undecided else ""
    weighed = f"The best of {plural(data.looked_at, 'offer')} that were weighed.{unsure}"
    return " ".join(filter(None, (weighed, _safer(data), wrong)))


def _safer(data: GameData) -> str:
    """What to ask where the terms only just keep somebody away, and what came of it when it was played again."""
    if data.safer is None:
        return ""
    does = {True: "attacks", None: "may attack"}
    acts = [f"{one.kind} {does[one.attacks]}" for one in data.safer.answers if one.attacks is not False]
    come = listed(acts) if acts else "nobody attacks"
    return (
        f"Its terms only just keep somebody away; a little more, {terms(data.safer)}, does so safely: played again, "
        f"{come} and {money(data.safer.payoff)} is left."
    )


def _now(offer: Offer) -> str:
    return f"{capital(called(offer.protection))}, with nothing asked, would leave {money(offer.payoff)}."


def _same(one: Offer, other: Offer) -> bool:
    return (one.protection, one.price, one.fine, one.audit) == (other.protection, other.price, other.fine, other.audit)


def _answer(answer: Answer, data: GameData) -> Checked:
    """A kind of attacker as a line: whether they act, and what they get."""
    state = {True: "missed", False: "met", None: "untested"}[answer.attacks]
    named, of = count(answer.re_identified), f"of {data.people:,}"
    return Checked(
        state,
        answer.kind,
        _told_of(answer),
        _many(_kind_of(answer, data)),
        named,
        of,
        "",
    )


def _kind_of(answer: Answer, data: GameData) -> Kind:
    return next(one for one in data.kinds if one.name == answer.kind)


def _many(kind: Kind) -> str:
    """How many such attackers are expected, and whether they compete."""
    each = "one" if kind.number == 1 else amount(kind.number)
    if rivals := kind.parameters.get("rivals"):
        return f"{each} such group{'' if kind.number == 1 else 's'} of {rivals} who compete"
    return f"{each} such attacker{'' if kind.number == 1 else 's'}"


def _told_of(answer: Answer) -> str:
    """What a kind of attacker does."""
    return {
        True: f"attacks, and {_keeps(answer)}",
        False: "stays away: no campaign pays",
        None: f"may attack: a campaign may bring up to {amount(answer.payoff[1])}",
    }[answer.attacks]


def _keeps(answer: Answer) -> str:
    if answer.expects is None:
        return f"keeps {money(answer.payoff)}"
    return f"expects {money(answer.payoff)} and {count(answer.expects)} people, detected otherwise than they believe"


def _at_risk(data: GameData) -> AtRisk:
    """Whom the most dangerous attacker of the best offer re-identifies, as its answers say beside it."""
    best = _best(data)
    facts = (
        ("Utility kept", percent(best.utility)),
        ("Price", amount(best.price)),
        ("Contractual fine", amount(best.fine)),
    )
    are = "are" if best is data.taken else "would be"
    worst = max(best.answers, key=lambda one: one.re_identified[1])
    if not worst.re_identified[1]:
        return AtRisk("0", f"of {data.people:,} people {are} re-identified: nobody attacks", facts=facts)
    by = "those who compete" if "rivals" in _kind_of(worst, data).parameters else "one attacker"
    said = f"of {data.people:,} people {are} re-identified by {by}: {worst.kind}"
    return AtRisk(count(worst.re_identified), said, facts=facts)


def _next(data: GameData) -> Iterator[Tried]:
    """The other protections at their best terms."""
    judged = {id(one.offer): one for one in data.judged}
    for offer in [one for one in _released(data) if one.protection != data.taken.protection][:NEXT]:
        low, high = judged[id(offer)].payoff if judged else offer.payoff
        state = "met" if low > 0 else "missed" if high <= 0 else "untested"
        left = amount(judged[id(offer)].mean) if judged else money(offer.payoff)
        yield Tried(shown(offer.protection), terms(offer), state, (left,))


# --- the sections -----------------------------------------------------------------------------------------------------


def _told(offer: Offer) -> str:
    if offer.protection == WITHHELD:
        return "Releasing nothing leaves 0, and no offer is a safer choice."
    return f"{capital(called(offer.protection))} {terms(offer)} leaves {money(offer.payoff)}."


def _offers(data: GameData) -> Iterator[Loose]:
    """The picture, and the best terms of each protection."""
    yield lead(PICTURE + (" Every range is at its middle." if data.judged else ""))
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
    asked = (amount(offer.price), amount(offer.fine), number(offer.audit))
    return shown(offer.protection), *asked, percent(offer.utility), money(offer.payoff), people(offer)


def _payoffs(curves: Sequence[Curve]) -> Figure:
    """What is left to the publisher by the fine, a line for each protection."""
    lines = [_line(one, one.payoffs, i) for i, one in enumerate(curves)]
    lines = [replace(one, points=list(_held(one.points))) for one in lines]
    values = [value for one in curves for value in one.payoffs]
    x = amounts([fine for one in curves for fine in one.fines], "Contractual fine")
    y = linear(max(*values, 0.0), low=min(*values, 0.0), pads=(0.03, 0.03), unit="", title="")
    rules = [Rule(0.0, "not to release", across=True)]
    label = f"What is left to the publisher, by the contractual fine. {ends(lines, '')}"
    return Figure("Left to you, by the contractual fine", plot(x, y, lines, rules=rules, height=260.0, label=label))


def _held(points: Points) -> Iterator[tuple[float, float]]:
    """What is left at a fine is left up to the next one: it changes where an attacker changes plans, at once."""
    for (fine, left), (until, _) in pairwise(points):
        yield fine, left
        yield until, left
    yield points[-1]


def _prices(curves: Sequence[Curve]) -> Figure:
    """The least price that keeps everybody away by the fine."""
    lines = [_line(one, one.prices, i) for i, one in enumerate(curves)]
    x = amounts([fine for one in curves for fine in one.fines], "Contractual fine")
    y = linear(max(max(one.prices) for one in curves) or 1.0, unit="", beyond=True)
    label = f"The least price at which nobody attacks, by the contractual fine. {ends(lines, '')}"
    return Figure("Least price that keeps everybody away", plot(x, y, lines, height=260.0, label=label))


def _line(curve: Curve, values: Sequence[float], style: int) -> Line:
    return Line(shown(curve.protection), list(zip(curve.fines, values, strict=True)), style, marked=False)


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
    return "none needed" if pair[1] <= 0 else between(*pair, least)


def _stop_told(data: GameData) -> str:
    name = _best(data).protection
    dearest = max((one for one in data.stopping if one.protection == name), key=lambda one: one.price[1])
    if dearest.price[1] <= 0:
        return f"Nobody attacks {called(name)}, whatever is asked."
    return f"{capital(called(dearest.protection))}: a price of {_stop(dearest.price)} keeps everybody away."


def _kinds(data: GameData) -> Iterator[Loose]:
    """The parameters of each kind of attacker."""
    for kind in data.kinds:
        yield Heading(
            f"Who attacks: {kind.name}",
            f"{amount(kind.number)} of them expected, who know what {kind.adversary} knows.",
        )
        if kind.assumed:
            yield minds(
                ["This attacker rests on an embedded profile that nobody has checked."], "Assumed, not observed."
            )
        yield grid(("Assumption", "Meaning", "Value"), parameter_rows(kind.parameters), text=2, meaning=True)
