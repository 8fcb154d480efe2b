"""The result of the publisher's game: decision, findings as blocks, and assumptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from unmask.economics.audit.sentences import format_amount, format_bounds
from unmask.economics.game.game import WITHHELD
from unmask.results import Advice, Alternative, AtRisk, Block, Chart, Decision, DecisionItem, Fact, Result, View
from unmask.results.formats import SPACE, percent
from unmask.results.words import plural
from unmask.studies.game.facts import Answer, Attackers, GameFacts, Offer
from unmask.studies.game.sentences import (
    capitalize,
    count_people,
    describe_answer,
    describe_best,
    describe_decision,
    describe_judgment,
    describe_most_sensitive,
    describe_offer,
    describe_protection,
    describe_size,
    describe_spared,
    describe_stopping,
    describe_terms,
    name_protection,
)
from unmask.studies.game.tables import N_DRAWN, OFFERS, make_tables

N_ALTERNATIVES = 4
"""Number of protections that are compared with the best one."""

ASSUMPTIONS = (
    "Attackers count money: a price or a fine does not deter attackers who act out of spite, curiosity or for fame.",
    "The publisher moves first. Attackers then know the release and the terms, and play the campaign that pays most.",
    "Attackers act on their own: a person re-identified by two of them is lost twice.",
    "Gains, costs and knowledge of attackers are those of the document. They know them, unless it has their belief.",
    "Targets are independent given the release. One draw of protections and of knowledge represents all.",
    "Each attacker pays a price once. The contractual fine adds to the fine of the attacker.",
    "Left to you: benefit times utility, less losses, penalties and audits. Releasing nothing is worth 0.",
)

OFFER_NOTES = (
    "Each protection has its best terms. Re-identified: people, by the attacker who re-identifies most.",
    "Prices and fines deter only attackers who count money. Courts must uphold the fine.",
)

STOPPING = (
    "Each line is for one term only: the lowest price of access, or the lowest contractual fine, at which no campaign "
    "of this attacker pays. A fine is paid a limited number of times, so it must outweigh all people together."
)

STOPPING_NOTE = (
    "0: no price or fine is needed. unbounded: none is enough. Re-identified without fines: by an attacker who fears "
    "no fine. In truth: the same plan, played out against the people behind the records."
)

SENSITIVITY = (
    "Each line plays the game again with one input at a low and at a high value, all others as assumed. These are the "
    "ends of a range in the document, else half and double the value; a probability is at most 1."
)

SENSITIVITY_NOTE = (
    "Left to you: by the offer on this page. Better offer: it leaves more than that at this value. If half or double a "
    "value is not plausible, give a range in the document."
)

SINGLE = (
    "Most models price one person for an attacker who pays the outside data, and every fine, again for each person. "
    "Attackers who have the data attack all people. Both models are computed here on the same groups. All people are "
    "equally likely to be in the outside data."
)

SINGLE_NOTE = (
    "One try: Z. Wan et al. 2015. Alone: W. Xia et al. 2015, section 7.2, undiscounted. Its finding 1 compares one try "
    "with going on, findings 2 and 3 count people by candidates tried, and findings 4 and 5 people whose risk falls or "
    "rises if attackers pay before they know the sizes. Safe alone: they are not attacked one at a time."
)

SINGLE_VIEWS = {
    "People re-identified": (
        "protection", "one_try", "known", "unknown", "campaign", "safe_alone", "safe_re_identified"
    ),
    "People attacked one at a time": (
        "protection", "fully_tried", "partly_tried", "untried", "lower_risk", "higher_risk"
    ),
}  # fmt: skip
"""Title of a table of single attacks -> its columns."""

ASSUMED = "Assumed, not observed: this attacker is an embedded profile that is not checked."

STATES = {True: "missed", False: "met", None: "untested"}


def make_result(facts: GameFacts) -> Result:
    """Return the result of a game."""
    return Result(
        title=facts.title,
        kind="Publisher's game",
        command="game",
        setting=f"{plural(len(facts.kinds), 'kind')} of attackers answer {plural(facts.looked_at, 'offer')}.",
        headline=describe_judgment(facts),
        rows=(),
        preferred_measures=(),
        facts=make_tables(facts),
        blocks=tuple(_list_blocks(facts)),
        at_risk=_make_risk(facts),
        advice=_make_advice(facts),
        decision=_make_decision(facts),
        assumptions=ASSUMPTIONS,
        reproduce=facts.reproduce or {},
    )


def describe_in_study(facts: GameFacts, states: Mapping[str, str]) -> Result:
    """Return the result of a game for the page of a study: the decision, and its state under the policy.

    Parameters
    ----------
    facts : GameFacts
        The game.
    states : mapping of str to str
        Protection -> "met", "missed" or "untested" under the policy of the study.
    """
    result, (_, answer, sentence) = make_result(facts), describe_decision(facts)
    assert result.decision is not None
    answers = (f"{capitalize(item.name)} {item.finding}." for item in result.decision.items)
    notes = (result.headline, f"{result.decision.question} {' '.join(answers)}")
    policy = _describe_state(facts.released[0], states)
    decision = f"{answer}{' ' if answer.endswith(':') else ', '}{sentence}"
    block = Block("game", "What to release, and what to ask for it", decision, (), (), policy, notes)
    return replace(result, blocks=(block, *(replace(block, open=False) for block in result.blocks)))


def _describe_state(offer: Offer, states: Mapping[str, str]) -> str:
    """Return the state of an offer under a policy, which does not consider deterrence."""
    if offer.protection not in states:
        return "No policy of this study judges it: money alone decides here."
    state = {"met": "meets", "missed": "misses", "untested": "is not known to meet"}[states[offer.protection]]
    name = capitalize(describe_protection(offer.protection))
    return f"{name} {state} the policy of this study. A policy limits what an attack reaches, not whether it pays."


# --- first screen ----------------------------------------------------------------------------------------------------


def _make_decision(facts: GameFacts) -> Decision:
    state, answer, sentence = describe_decision(facts)
    best_offer, kinds = facts.released[0], {kind.name: kind for kind in facts.kinds}
    question = "Who attacks it?" if best_offer is facts.taken else f"Who would attack {describe_offer(best_offer)}?"
    items = tuple(_make_item(answer, kinds[answer.kind], facts.people) for answer in best_offer.answers)
    caption = "every range at its middle" if facts.has_ranges else ""
    return Decision(state, answer, sentence, question, items, caption=caption)


def _make_item(answer: Answer, kind: Attackers, people: int) -> DecisionItem:
    number = "one such attacker" if kind.number == 1 else f"{format_amount(kind.number)} such attackers"
    re_identified, limit = count_people(answer.re_identified), f"of {people:,}"
    return DecisionItem(STATES[answer.attacks], answer.kind, describe_answer(answer), re_identified, limit, number)


def _make_risk(facts: GameFacts) -> AtRisk:
    """Return the number of people re-identified by the most dangerous attacker of the best offer."""
    best_offer = facts.released[0]
    offer = (
        Fact("Utility", percent(best_offer.utility)),
        Fact("Price", format_amount(best_offer.price)),
        Fact("Contractual fine", format_amount(best_offer.fine)),
    )
    outcome = "are re-identified" if best_offer is facts.taken else "would be re-identified"
    worst = max(best_offer.answers, key=lambda answer: answer.re_identified[1])
    if not worst.re_identified[1]:
        return AtRisk("0", f"of {facts.people:,} people {outcome}: no attacker attacks", offer)
    sentence = f"of {facts.people:,} people {outcome} by one attacker: {worst.kind}"
    return AtRisk(count_people(worst.re_identified), sentence, offer)


def _make_advice(facts: GameFacts) -> Advice:
    """Return the other protections at their best terms."""
    alternatives = [offer for offer in facts.released if offer.protection != facts.taken.protection]
    return Advice("", "", (f"left{SPACE}to{SPACE}you",), tuple(map(_make_alternative, alternatives[:N_ALTERNATIVES])))


def _make_alternative(offer: Offer) -> Alternative:
    low, high = offer.payoff
    state = "met" if low > 0 else "missed" if high <= 0 else "untested"
    name, terms = name_protection(offer.protection), describe_terms(offer)
    return Alternative(offer.protection, (format_bounds(offer.payoff),), name, state=state, finding=terms)


# --- findings --------------------------------------------------------------------------------------------------------


def _list_blocks(facts: GameFacts) -> Iterator[Block]:
    yield _offer_block(facts)
    yield Block(
        "stops", "What stops each attacker", describe_stopping(facts), (), ("game_stopping",), STOPPING,
        (STOPPING_NOTE,),
    )  # fmt: skip
    yield _sensitivity_block(facts)
    yield from _single_blocks(facts)
    for i, kind in enumerate(facts.kinds, 1):
        sentence = f"{format_amount(kind.number)} expected, with the knowledge of \u201c{kind.adversary}\u201d."
        assumed = ASSUMED if kind.assumed else ""
        yield Block(f"attacker-{i}", f"Who attacks: {kind.name}", sentence, (), (f"game_attacker_{i}",), assumed)


def _offer_block(facts: GameFacts) -> Block:
    payoffs = Chart(
        "steps", "game_curves", "fine", "payoff", "protection", "Left to you, by the contractual fine", style="style",
        rules={describe_protection(WITHHELD): 0.0}, log="x", where={"drawn": True},
    )  # fmt: skip
    prices = Chart(
        "lines", "game_curves", "fine", "price", "protection", "Lowest price that deters all attackers", style="style",
        log="x", where={"drawn": True},
    )  # fmt: skip
    introduction = "The charts have no price beyond the least one of the document."
    introduction += " Every range is at its middle." if facts.has_ranges else ""
    n_curves = len(facts.curves)
    drawn = f"The first {N_DRAWN} of {n_curves} protections are drawn; the table has all."
    notes = (*OFFER_NOTES, *((drawn,) if n_curves > N_DRAWN else ()))
    offers = View("game_offers", OFFERS)
    notes += tuple(map(describe_size, facts.sizes))
    heading = "What each protection leaves you"
    return Block("offers", heading, describe_best(facts), (payoffs, prices), (offers,), introduction, notes, open=True)


def _sensitivity_block(facts: GameFacts) -> Block:
    n_changing = sum(row.changes for row in facts.sensitivity)
    count = f"The decision changes with {n_changing} of {plural(len(facts.sensitivity), 'input')}."
    sentence = describe_most_sensitive(facts) or "No single input makes another offer better."
    heading, notes = "Sensitivity of the decision", (count, SENSITIVITY_NOTE)
    return Block("sensitivity", heading, sentence, (), ("game_inputs",), SENSITIVITY, notes)


def _single_blocks(facts: GameFacts) -> Iterator[Block]:
    """Yield a block for each kind of attacker; none if candidates are not equally likely."""
    kinds = list(dict.fromkeys(row.kind for row in facts.alone))
    for i, kind in enumerate(kinds, 1):
        rows = [row for row in facts.alone if row.kind == kind]
        heading = "One person at a time, or all at once" + (f": {kind}" if len(kinds) > 1 else "")
        views = tuple(View("game_alone", columns, {"kind": kind}, title) for title, columns in SINGLE_VIEWS.items())
        yield Block(f"alone-{i}", heading, describe_spared(rows), (), views, SINGLE, (SINGLE_NOTE,))
