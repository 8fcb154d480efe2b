"""Sentences about the publisher's game: offers, attackers, sensitive inputs, and single attacks."""

from __future__ import annotations

from collections.abc import Sequence

from unmask.economics import Bounds
from unmask.economics.audit.parameters import format_parameter, name_parameter
from unmask.economics.audit.sentences import format_amount, format_bounds
from unmask.economics.game.game import WITHHELD
from unmask.economics.game.sensitivity import PUBLISHER
from unmask.plan import NOTHING
from unmask.results.formats import number, round_up
from unmask.results.words import join_names, release_name
from unmask.studies.game.facts import (
    Answer,
    DeterringSize,
    GameFacts,
    Offer,
    OfferTerms,
    SensitiveInput,
    SingleAttacks,
)

INPUTS = {
    "benefit": "Worth of the unprotected data",
    "loss": "Loss for each person re-identified",
    "penalty": "Regulator's fine",
    "audit_cost": "Cost of audits",
    "number": "Number of attackers",
    "recovered": "Share of fines that reaches you",
    "detection": "Detection at the first try",
}
"""Inputs of a game that are not parameters of an attacker, or that have another meaning for the publisher."""

DOES = {True: "attacks", False: "stays away", None: "may attack"}


def name_input(parameter: str) -> str:
    """Return the display name of an input."""
    return INPUTS.get(parameter) or name_parameter(parameter)


def name_protection(protection: str) -> str:
    """Return the name of a protection for a table."""
    return "unprotected" if protection == NOTHING else protection


def describe_protection(protection: str) -> str:
    """Return the name of a protection for a sentence."""
    if protection == WITHHELD:
        return "not to release"
    return "unprotected data" if protection == NOTHING else release_name(protection)


def describe_terms(offer: OfferTerms) -> str:
    """Describe the terms of a release."""
    terms = [
        f"at a price of {round_up(offer.price)}" if offer.price else "",
        f"under a contractual fine of {round_up(offer.fine)}" if offer.fine else "",
        f"with {number(offer.audit)} times the audits" if offer.audit != 1 else "",
    ]
    return " and ".join(filter(None, terms)) or "without a price or fine"


def describe_offer(offer: OfferTerms) -> str:
    """Describe a protection and its terms."""
    name = describe_protection(offer.protection)
    return name if offer.protection == WITHHELD else f"{name}, {describe_terms(offer)}"


def capitalize(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def format_people(value: float) -> str:
    """Write an expected number of people.

    >>> format_people(0), format_people(2.54), format_people(600)
    ('0', '2.5', '600')
    """
    return number(value, 0 if value >= 10 or value == int(value) else 1)


def count_people(bounds: Bounds) -> str:
    """Write a number of people that is known within bounds."""
    return format_bounds(bounds, format_people)


# --- the decision ----------------------------------------------------------------------------------------------------


def describe_decision(facts: GameFacts) -> tuple[str, str, str]:
    """Return the state of the decision, its first words, and the rest of the sentence."""
    chosen = facts.taken
    if chosen.protection == WITHHELD:
        return "missed", "Do not release these data", f"at the terms of the document. {_describe_deterring(facts)}"
    payoff, terms = format_bounds(chosen.payoff), describe_terms(chosen)
    middle = "Every range is at its middle." if facts.has_ranges else ""
    if chosen.payoff[0] <= 0:
        return "untested", "Not decided:", f"{_describe_payoff(chosen)} {middle}".rstrip()
    name = release_name(chosen.protection)
    is_protected = chosen.protection != NOTHING
    answer = f"Release the data protected with {name}" if is_protected else "Release the unprotected data"
    return "met", answer, f"{terms}: {payoff} is left to you. {middle}".rstrip()


def _describe_deterring(facts: GameFacts) -> str:
    """Describe the fine and the price, above those of the document, at which a release pays."""
    if not facts.deterring:
        return "No fine and no price by itself deters all attackers and leaves you something."
    offers = ((describe_offer(offer), format_amount(offer.payoff[0])) for offer in facts.deterring)
    return " ".join(
        f"Ask for more: {offer}. It deters all attackers and leaves you {payoff}." for offer, payoff in offers
    )


def describe_judgment(facts: GameFacts) -> str:
    """Describe the basis of the decision, a safer offer, the most sensitive input, and the release without terms."""
    best_offer = facts.released[0]
    n_others = facts.undecided
    sentences = (
        f"The best of {facts.looked_at:,} offers.",
        f"Up to {n_others:,} of the others may be better: campaigns are only bounded." if n_others else "",
        _describe_safer(facts),
        describe_most_sensitive(facts),
        _describe_payoff(best_offer) if facts.taken.protection == WITHHELD else "",
        "" if facts.now in (facts.taken, best_offer) else _describe_payoff(facts.now),
    )
    return " ".join(filter(None, sentences))


def _describe_payoff(offer: Offer) -> str:
    terms, payoff = capitalize(describe_offer(offer)), format_bounds(offer.payoff)
    return f"{terms}: {payoff} is left to you."


def _describe_safer(facts: GameFacts) -> str:
    """Describe safer terms if those of the best offer barely deter an attacker, and the responses to them."""
    if facts.safer is None:
        return ""
    answers = [f"{answer.kind} {DOES[answer.attacks]}" for answer in facts.safer.answers if answer.attacks is not False]
    outcome, payoff = join_names(answers) if answers else "no attacker attacks", format_bounds(facts.safer.payoff)
    return (
        f"These terms only just deter an attacker. Safer terms: {describe_terms(facts.safer)}. With them, {outcome}, "
        f"and {payoff} is left to you."
    )


def describe_best(facts: GameFacts) -> str:
    """Describe the payoff of the best offer."""
    if facts.taken.protection == WITHHELD:
        return "Releasing nothing leaves 0, and no offer is safer."
    return _describe_payoff(facts.taken)


def describe_answer(answer: Answer) -> str:
    """Describe the response of a kind of attacker, and its payoff."""
    if answer.attacks is False:
        return "stays away: no campaign pays"
    if answer.attacks is None:
        return f"may attack: a campaign gains up to {format_amount(answer.payoff[1])}"
    if answer.expects is None:
        return f"attacks, and keeps {format_bounds(answer.payoff)}"
    payoff, people = format_bounds(answer.payoff), count_people(answer.expects)
    return f"attacks, and expects {payoff} and {people} people; detection differs from their belief"


def describe_stopping(facts: GameFacts) -> str:
    """Describe the price that deters all attackers of the best offer."""
    protection = facts.released[0].protection
    dearest = max((row for row in facts.stopping if row.protection == protection), key=lambda row: row.price[1])
    name = capitalize(describe_protection(protection))
    if dearest.price[1] <= 0:
        return f"{name}: no attacker attacks at any terms."
    return f"{name}: a price of {format_bounds(dearest.price, round_up)} deters every attacker."


# --- sensitivity -----------------------------------------------------------------------------------------------------


def describe_most_sensitive(facts: GameFacts) -> str:
    """Describe the input with the largest loss at its low or high value; "" if none changes the decision."""
    row = next((row for row in facts.sensitivity if row.changes), None)
    if row is None:
        return ""
    end = max((row.low, row.high), key=lambda end: end.payoff - end.taken)
    assumed, value = (format_parameter(row.parameter, value) for value in (row.value, end.value))
    name, better = name_input(row.parameter), describe_offer(end.best)
    if row.of == PUBLISHER:
        start = f"The most sensitive input is \u201c{name}\u201d, here {assumed}."
    else:
        start = f"The most sensitive input is \u201c{name}\u201d of the attacker {row.of}, here {assumed}."
    return f"{start} At {value} the better choice is {better}."


def describe_better_offers(row: SensitiveInput) -> str:
    """Describe the better offer at each end; "" without one."""
    ends = (end for end in (row.low, row.high) if end.changes)
    return "; ".join(f"at {format_parameter(row.parameter, end.value)}: {describe_offer(end.best)}" for end in ends)


# --- one person at a time --------------------------------------------------------------------------------------------


def describe_spared(rows: Sequence[SingleAttacks]) -> str:
    """Describe whether people without single attacks are safe in a campaign."""
    worst = max(rows, key=lambda row: row.safe_re_identified)
    if worst.safe_re_identified == 0:
        is_anybody_safe = any(row.safe_alone for row in rows)
        return "People who are safe alone are safe in a campaign." if is_anybody_safe else "No person is safe alone."
    beyond = f", in groups beyond {worst.largest_attacked}" if worst.largest_attacked else ""
    n_re_identified, name = worst.safe_re_identified, capitalize(describe_protection(worst.protection))
    people = format_people(n_re_identified) if n_re_identified >= 1 else "fewer than one"
    safe = f"{worst.safe_alone:,} of {worst.people:,} people are safe alone{beyond}"
    return f"{name}: {safe}; one campaign re-identifies {people} of them."


def describe_size(size: DeterringSize) -> str:
    """Describe the smallest k that deters all attackers, or that no k does.

    >>> describe_size(DeterringSize("Mondrian", "Mondrian k=57", 57, 200))
    'Mondrian: k = 57 deters every attacker at your lowest price and fine; k = 56 does not.'
    """
    name = capitalize(size.protection)
    if size.k is None:
        return f"{name}: no k up to {size.largest:,} deters every attacker at your lowest price and fine."
    below = f"; k = {size.k - 1:,} does not" if size.k > 2 else ""
    return f"{name}: k = {size.k:,} deters every attacker at your lowest price and fine{below}."
