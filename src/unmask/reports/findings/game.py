"""How a report speaks of the publisher's game: an offer, what is left to the publisher, people, assumptions."""

from __future__ import annotations

from unmask.economics.audit.parameters import name_parameter
from unmask.economics.audit.sentences import format_bounds
from unmask.reports.facts.game import WITHHELD, Asked, Offer, Pair
from unmask.results.formats import number, round_up
from unmask.results.words import release_name

NOTHING = "none"
"""The protection that leaves everything as it is."""

NAMES = {
    "benefit": "Worth of the unprotected data",
    "loss": "Loss for each person re-identified",
    "penalty": "Regulator's fine",
    "audit_cost": "Cost of audits",
    "number": "How many attackers",
    "recovered": "Share of fines that reaches you",
    "detection": "Caught at the first try",
}
"""Numbers of a game that are no parameter of an attacker, or another one by that name."""


def number_name(parameter: str) -> str:
    """A number of the game by the name that readers know."""
    return NAMES.get(parameter) or name_parameter(parameter)


def whose(of: str) -> str:
    """Whose a number is."""
    return "you" if of == "publisher" else of


def offered(offer: Asked) -> str:
    """A protection at its terms."""
    return called(offer.protection) + ("" if offer.protection == WITHHELD else f" {terms(offer)}")


def terms(offer: Asked) -> str:
    """What is asked for a release."""
    asked = [
        f"at a price of {round_up(offer.price)}" if offer.price else "",
        f"under a contractual fine of {round_up(offer.fine)}" if offer.fine else "",
        f"with {number(offer.audit)} times the audits" if offer.audit != 1 else "",
    ]
    return " and ".join(filter(None, asked)) or "with nothing asked"


def shown(protection: str) -> str:
    """A protection in a table: that nobody is protected is not that nothing is released."""
    return "unprotected" if protection == NOTHING else protection


def called(protection: str) -> str:
    """A protection in a sentence."""
    if protection == WITHHELD:
        return "not to release"
    return "unprotected data" if protection == NOTHING else release_name(protection)


def capital(text: str) -> str:
    """A text that begins a sentence."""
    return text[:1].upper() + text[1:]


def money(pair: Pair) -> str:
    """An amount that is known, or its two ends."""
    return format_bounds(pair)


def count(pair: Pair) -> str:
    """People in expectation, or both ends."""
    return format_bounds(pair, lambda one: number(one, 0 if one >= 100 or one == 0 else 1))


def people(offer: Offer) -> str:
    """People re-identified by the attacker who re-identifies most."""
    low, high = (max((one.re_identified[end] for one in offer.answers), default=0.0) for end in (0, 1))
    return count((low, high))
