"""The first screen of the publisher's game: what to do, who attacks then, and what each other protection leaves."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.economics.audit.sentences import format_amount
from unmask.reports.facts.game import WITHHELD, Answer, GameData, Kind, Offer
from unmask.reports.findings.game import called, capital, count, money, shown, terms
from unmask.reports.parts import Advice, AtRisk, Checked, Screen, Tried
from unmask.reports.sections.sensitivity import decisive
from unmask.results.formats import percent
from unmask.results.words import listed, plural

NEXT = 4
"""Protections beside the one to take."""

NOTE = (
    "Releasing nothing leaves 0. Prices and fines deter only those who count money; a fine must be one that courts "
    "uphold."
)


def opening(data: GameData) -> tuple[str, str]:
    """What to do, and what that rests on, a sentence or two each."""
    _, first, rest = _verdict(data)
    known = (data.taken, best_offer(data))
    now = "" if any(_same(data.now, one) for one in known) else f" {_now(data.now)}"
    instead = f" {capital(_instead(data))}." if data.taken.protection == WITHHELD else ""
    return f"{first} {rest}", f"{_judgment(data)}{instead}{now}"


def game_screen(data: GameData) -> Screen:
    """What to do, who is at risk and who attacks then, and the other protections."""
    taken, best, head = data.taken, best_offer(data), "left\u00a0to\u00a0you"
    changes = tuple(_next(data))
    return Screen(
        *_verdict(data),
        opening(data)[1],
        tuple(_answer(one, data) for one in best.answers),
        who=_at_risk(data),
        next=Advice("", changes=changes, heads=(head,), note=NOTE),
        asked="Who attacks it?" if taken is best else f"Who would attack {called(best.protection)} {terms(best)}?",
        beside="every range at its middle" if data.middled else "",
    )


def _verdict(data: GameData) -> tuple[str, str, str]:
    """The state, the first words and the rest of the sentence."""
    taken = data.taken
    if taken.protection == WITHHELD:
        return "missed", "Do not release", f"these data at the terms of the document.{_deterring(data)}"
    name, left = called(taken.protection), money(taken.payoff)
    middle = ", with every range at its middle" if data.middled else ""
    if taken.payoff[0] > 0:
        return "met", f"Release {name}", f"{terms(taken)}: {left} is left to you{middle}."
    return "untested", "Not decided:", f"{name} {terms(taken)} leaves {left}{middle}."


def _instead(data: GameData) -> str:
    """What the best offer that releases something would do."""
    offer = best_offer(data)
    return f"{called(offer.protection)} {terms(offer)} leaves {money(offer.payoff)}"


def _deterring(data: GameData) -> str:
    """The fine and the price beyond those of the document that make a release pay."""
    if not data.deterring:
        return " No fine and no price alone keeps everybody away and leaves you something."
    first = data.deterring[0]
    said = [
        terms(one) if one.protection == first.protection else f"{called(one.protection)} {terms(one)}"
        for one in data.deterring
    ]
    left = format_amount(min(one.payoff[0] for one in data.deterring))
    return (
        f" More must be asked: {called(first.protection)} {' or '.join(said)} is attacked by nobody and leaves {left}."
    )


def _released(data: GameData) -> list[Offer]:
    """The best offer of each protection, the best first."""
    return [one for one in data.offers if one.protection != WITHHELD]


def best_offer(data: GameData) -> Offer:
    """The offer to take, or that would be taken if something had to be released."""
    return data.taken if data.taken.protection != WITHHELD else _released(data)[0]


def _judgment(data: GameData) -> str:
    unsure = f" {plural(data.undecided, 'other')} may be better: campaigns are only bounded." if data.undecided else ""
    weighed = f"The best of {plural(data.looked_at, 'offer')} that were weighed.{unsure}"
    return " ".join(filter(None, (weighed, _safer(data), decisive(data))))


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
        told_of(answer),
        _many(_kind_of(answer, data)),
        named,
        of,
        "",
    )


def _kind_of(answer: Answer, data: GameData) -> Kind:
    return next(one for one in data.kinds if one.name == answer.kind)


def _many(kind: Kind) -> str:
    """How many such attackers are expected."""
    each = "one" if kind.number == 1 else format_amount(kind.number)
    return f"{each} such attacker{'' if kind.number == 1 else 's'}"


def told_of(answer: Answer) -> str:
    """What a kind of attacker does."""
    return {
        True: f"attacks, and {_keeps(answer)}",
        False: "stays away: no campaign pays",
        None: f"may attack: a campaign may bring up to {format_amount(answer.payoff[1])}",
    }[answer.attacks]


def _keeps(answer: Answer) -> str:
    if answer.expects is None:
        return f"keeps {money(answer.payoff)}"
    return f"expects {money(answer.payoff)} and {count(answer.expects)} people, detected otherwise than they believe"


def _at_risk(data: GameData) -> AtRisk:
    """Whom the most dangerous attacker of the best offer re-identifies, as its answers say beside it."""
    best = best_offer(data)
    facts = (
        ("Utility kept", percent(best.utility)),
        ("Price", format_amount(best.price)),
        ("Contractual fine", format_amount(best.fine)),
    )
    are = "are" if best is data.taken else "would be"
    worst = max(best.answers, key=lambda one: one.re_identified[1])
    if not worst.re_identified[1]:
        return AtRisk("0", f"of {data.people:,} people {are} re-identified: nobody attacks", facts=facts)
    said = f"of {data.people:,} people {are} re-identified by one attacker: {worst.kind}"
    return AtRisk(count(worst.re_identified), said, facts=facts)


def _next(data: GameData) -> Iterator[Tried]:
    """The other protections at their best terms."""
    for offer in [one for one in _released(data) if one.protection != data.taken.protection][:NEXT]:
        low, high = offer.payoff
        state = "met" if low > 0 else "missed" if high <= 0 else "untested"
        yield Tried(shown(offer.protection), terms(offer), state, (money(offer.payoff),))
