"""Findings about a rational attacker as blocks of a page: campaigns, attacks one by one, group sizes, assumptions."""

from __future__ import annotations

import math
from collections.abc import Iterator

from unmask.economics.audit.facts import PriceFacts
from unmask.economics.audit.parameters import name_parameter
from unmask.economics.audit.sentences import (
    describe_campaigns,
    describe_safest,
    describe_single_attacks,
    describe_thresholds,
    format_amount,
)
from unmask.economics.audit.tables import N_DRAWN
from unmask.economics.audit.unknown_sizes import make_unknown_block
from unmask.results import Block, Chart, View
from unmask.results.formats import spans_widely

MODEL = (
    "A rational attacker attacks only if they expect to earn more than they spend. They buy outside data and try the "
    "candidates one by one. They may be detected and fined, and stop if the next try does not pay. Amounts are in the "
    "currency of their profile."
)

ASSUMED = (
    "This attacker is an embedded profile ({}): an assumption that is not checked against this release. Every "
    "figure follows from it."
)

CAMPAIGN_NOTE = (
    "A campaign is one attack on all people together. The outside data are paid once, and the limit of fines holds "
    "once. Targets are taken as independent, and nothing is discounted. Its payoff is that of the whole campaign."
)

BOUNDS_NOTE = "\u201cx to y\u201d: x is the value of the best known plan, and y is a bound for all plans."

FINE_NOTE = "Fine that stops it: 0 if no fine is needed, unbounded if no fine is known to stop it."

SINGLE_NOTE = (
    "One by one, data and fines are paid for each person. Attacked and re-identified are shares of all people. Tries, "
    "fines, spent and payoff are expectations for a person attacked. Spent has the outside data, the tries and the "
    "fines."
)

GROUP_NOTE = "A group is all people who fit the attacker\u2019s knowledge of the person attacked: the candidates."

ZERO_NOTE = "A fine of 0 is at the left end of the logarithmic scale."

TORNADO_NOTE = (
    "Upper, dark bar: the assumption is lower than now. Lower, light bar: it is higher. Its value is at the end of the "
    "bar. All other assumptions stay as they are."
)

UNPAID = "A group of {:,} stays worth nothing if any single assumption is changed."

CAMPAIGNS = View(
    "price_releases",
    ("release", "n", "campaign_success", "campaign_payoff", "campaign_fines"),
    title="One campaign against all people",
)

SINGLE = View(
    "price_releases",
    ("release", "attacked", "success", "realized", "tries", "fines", "cost", "payoff"),
    title="The same people one by one",
)

CHANGES = View(
    "price_releases",
    ("release", "largest_attacked", "sunk_success", "stopping_fine"),
    title="One by one: possible changes",
)


def make_blocks(facts: PriceFacts) -> tuple[Block, ...]:
    """Return the findings about attacks by a rational attacker, in the order of the page."""
    of_releases = (_campaign_block, _single_block, _size_block) if facts.releases else ()
    unknown = () if facts.unknown_sizes is None else (make_unknown_block(facts.unknown_sizes),)
    return (*(make_block(facts) for make_block in of_releases), *unknown, _attacker_block(facts))


def list_not_run(facts: PriceFacts) -> Iterator[tuple[str, str]]:
    """Yield the releases with a campaign that was too large, and the next step."""
    names = [price.release for price in facts.releases if price.campaign.not_run]
    if names:
        yield f"A campaign against {', '.join(names)}", "too many tries and fines; give the attacker max_tries"


def _campaign_block(facts: PriceFacts) -> Block:
    source = facts.source
    origin = ASSUMED.format(source.name) if source.is_assumed else f"The attacker was read from {source.name}."
    adversary = f"They have the knowledge of the adversary {facts.adversary}."
    return Block(
        "price",
        "What an attack is worth",
        " ".join(filter(None, (describe_campaigns(facts), describe_safest(facts)))),
        tuple(_deterrence_charts(facts)),
        (CAMPAIGNS,),
        f"{MODEL} {origin} {adversary}",
        tuple(_campaign_notes(facts)),
    )


def _deterrence_charts(facts: PriceFacts) -> Iterator[Chart]:
    """Yield the chart of the share that a campaign re-identifies, by the fine."""
    if not any(price.deterrence for price in facts.releases):
        return
    fine, by = facts.source.attacker.fine, "release" if len(facts.releases) > 1 else ""
    yield Chart(
        "lines", "price_deterrence", "fine", "share", by, "People re-identified by one campaign, by the fine", log="x",
        x_rules={f"fine now {format_amount(fine)}": fine}, where={"drawn": True},
    )  # fmt: skip


def _campaign_notes(facts: PriceFacts) -> Iterator[str]:
    campaigns = [price.campaign for price in facts.releases]
    swept = [price.deterrence for price in facts.releases if price.deterrence]
    yield CAMPAIGN_NOTE
    if any(low != high for campaign in campaigns for low, high in (campaign.payoff,) if not math.isnan(low)):
        yield BOUNDS_NOTE
    yield FINE_NOTE
    if swept and not any(share > 0 for fines in swept for _, share in fines):
        yield "No campaign re-identifies a person at any of the fines."
    elif spans_widely([fine for fines in swept[:N_DRAWN] for fine, _ in fines]):
        yield ZERO_NOTE
    if len(swept) > N_DRAWN:
        yield f"The first {N_DRAWN} of {len(swept)} releases are drawn; the tables have all."


def _single_block(facts: PriceFacts) -> Block:
    notes = (SINGLE_NOTE, FINE_NOTE)
    return Block(
        "price-single", "One person at a time", describe_single_attacks(facts), (), (SINGLE, CHANGES), notes=notes
    )


# --- by size of the group --------------------------------------------------------------------------------------------


def _size_block(facts: PriceFacts) -> Block:
    heading = "By size of the group"
    if not facts.largest_size:
        nothing = "No group of any size shown is worth an attack, not even with the outside data at hand."
        return Block("price-sizes", heading, nothing)
    sentence = describe_thresholds(facts.curve.thresholds)
    return Block("price-sizes", heading, sentence, tuple(_size_charts(facts)), notes=(GROUP_NOTE, *_size_notes(facts)))


def _size_charts(facts: PriceFacts) -> Iterator[Chart]:
    """Yield payoff, success, tries, and the fine that stops the attack, by size of the group."""
    n_sizes, fine = facts.largest_size, facts.source.attacker.fine
    exhausted, attacked, sunk = facts.curve.thresholds
    access_limit = _limit(attacked, "attacked up to", n_sizes)
    limits_at_hand = {**access_limit, **_limit(sunk, "data at hand up to", n_sizes)}
    limits = {**access_limit, **_limit(exhausted, "all tried up to", n_sizes)}
    if exhausted is None or (attacked is not None and attacked <= exhausted):
        limits = _limit(attacked, "attacked, all tried up to", n_sizes)
    for y, title in (
        ("payoff", "Payoff of attacking one person"),
        ("success_probability", "Probability of re-identifying the person"),
    ):
        yield Chart("steps", "price_curve", "size", y, by="data", title=title, x_rules=limits_at_hand)
    yield Chart("steps", "price_tries", "size", "tries", by="tried", title="Candidates tried", x_rules=limits)
    if any(0 < value < math.inf for value in facts.stopping_fines[:n_sizes]):
        title, rules = "Least fine that stops an attack on one person", {f"fine now {format_amount(fine)}": fine}
        yield Chart("steps", "price_fines", "size", "fine", title=title, rules=rules, log="y")


def _limit(threshold: int | None, words: str, n_sizes: int) -> dict[str, float]:
    """Return a limit line at the first size beyond, if it is drawn."""
    last = 0 if threshold is None else threshold - 1
    return {f"{words} {last:,}": last + 1} if 1 <= last < n_sizes else {}


def _size_notes(facts: PriceFacts) -> Iterator[str]:
    """Yield the sizes that the chart of fines cannot show."""
    fines = facts.stopping_fines[: facts.largest_size]
    endless = [size for size, fine in enumerate(fines, 1) if math.isinf(fine)]
    if endless:
        sizes = f"{len(endless):,} sizes, the largest {endless[-1]:,}"
        if len(endless) == len(fines):
            sizes = "groups of any size shown"
        elif endless[-1] == len(endless):
            sizes = f"groups up to {endless[-1]:,}"
        yield f"No fine stops an attack on one person in {sizes}; the chart of fines cannot show that."


# --- assumptions -----------------------------------------------------------------------------------------------------


def _attacker_block(facts: PriceFacts) -> Block:
    sentence, notes = "No single assumption makes the attack pay.", (UNPAID.format(facts.tornado_size),)
    chart = Chart(
        "tornado", "price_tornado", "payoff", "assumption", "end", baseline="now", text="shown",
        title=f"Payoff of a group of {facts.tornado_size:,}, by assumption",
    )  # fmt: skip
    if facts.can_pay:
        first = name_parameter(facts.tornado[0].parameter)
        sentence, notes = f"The assumption \u201c{first}\u201d changes the payoff most.", (TORNADO_NOTE,)
    charts = (chart,) if facts.can_pay else ()
    return Block("price-attacker", "The attacker", sentence, charts, ("price_parameters",), notes=notes)
