"""Tables of the publisher's game."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from unmask.economics.audit.parameters import format_parameter, parameter_table
from unmask.economics.game.game import WITHHELD
from unmask.economics.game.sensitivity import PUBLISHER
from unmask.results import Column, Result, Table
from unmask.studies.game.facts import GameFacts, SensitiveInput
from unmask.studies.game.sentences import DOES, capitalize, describe_better_offers, name_input, name_protection

N_DRAWN = 6
"""Largest number of protections in one chart."""


OFFERS = ("protection", "price", "fine", "audit", "utility", "payoff", "re_identified")
"""Columns of the offers on a page."""


def make_tables(facts: GameFacts) -> tuple[Table, ...]:
    """Return all tables of a game; tables that only arrange values for a page are marked."""
    return (
        _decision_table(facts),
        _offer_table(facts),
        _curve_table(facts),
        _stopping_table(facts),
        _plain_table("game_sizes", [asdict(row) for row in facts.sizes]),
        _plain_table("game_sensitivity", [asdict(row) for row in facts.sensitivity]),
        _input_table(facts),
        _single_table(facts),
        *(
            replace(parameter_table(f"game_attacker_{i}", kind.parameters), page_only=True)
            for i, kind in enumerate(facts.kinds, 1)
        ),
    )


def _plain_table(name: str, records: list[dict[str, Any]]) -> Table:
    """Return a table for programs, without labels."""
    return Table(name, tuple(map(Column, records[0] if records else ())), tuple(records))


def _decision_table(facts: GameFacts) -> Table:
    """Return the best offer, the responses, safer terms, and terms at which a release pays."""
    chosen = facts.taken
    record = {
        "release": chosen.protection != WITHHELD,
        **asdict(chosen),
        "attackers": {answer.kind: DOES[answer.attacks] for answer in chosen.answers},
        "safer": None if facts.safer is None else asdict(facts.safer),
        "would_pay": [asdict(offer) for offer in facts.deterring],
    }
    return _plain_table("game_decision", [record])


def _offer_table(facts: GameFacts) -> Table:
    columns = (
        Column("protection", "Protection"), Column("price", "Price", "number"),
        Column("fine", "Fine", "number", rounds_up=True), Column("audit", "Audits", "number"),
        Column("utility", "Utility", "share"), Column("payoff", "Left to you", "interval"),
        Column("re_identified", "Re-identified", "interval"), Column("answers"),
    )  # fmt: skip
    records = ({**asdict(offer), "re_identified": offer.re_identified} for offer in facts.offers)
    return Table("game_offers", columns, tuple(records))


def _curve_table(facts: GameFacts) -> Table:
    """Return the smallest payoff and the deterring price as functions of the fine; the first protections are drawn."""
    columns = (
        Column("protection"), Column("style"), Column("drawn"), Column("fine", "Contractual fine", "number"),
        Column("payoff", kind="number"), Column("price", kind="number"),
    )  # fmt: skip
    records = (
        (name_protection(curve.protection), i, i < N_DRAWN, *point)
        for i, curve in enumerate(facts.curves)
        for point in zip(curve.fines, curve.payoffs, curve.prices, strict=True)
    )
    return Table.from_records("game_curves", columns, records)


def _stopping_table(facts: GameFacts) -> Table:
    columns = (
        Column("protection", "Protection"),
        Column("kind", "Attacker"),
        Column("price", "Price that stops", "interval", rounds_up=True),
        Column("fine", "Fine that stops", "interval", rounds_up=True),
        Column("announced", "Re-identified without fines", "number"),
        Column("realized", "In truth", "number"),
    )
    return Table("game_stopping", columns, tuple(vars(row) for row in facts.stopping))


def _input_table(facts: GameFacts) -> Table:
    """Return the decision at both ends of each input, as texts for a page."""
    columns = (
        Column("input", "Input"), Column("owner", "Of"), Column("assumed", "Assumed"), Column("low", "Low"),
        Column("low_payoff", "Left to you", "number"), Column("high", "High"),
        Column("high_payoff", "Left to you", "number"), Column("better", "Better offer"),
    )  # fmt: skip
    table = Table.from_records("game_inputs", columns, map(_describe_input, facts.sensitivity))
    return replace(table, page_only=True)


def _describe_input(row: SensitiveInput) -> tuple[str | float, ...]:
    owner = "you" if row.of == PUBLISHER else row.of
    values = (row.value, row.low.value, row.high.value)
    assumed, low, high = (format_parameter(row.parameter, value) for value in values)
    better = capitalize(describe_better_offers(row)) or "none"
    return name_input(row.parameter), owner, assumed, low, row.low.taken, high, row.high.taken, better


def _single_table(facts: GameFacts) -> Table:
    columns = (
        Column("protection", "Protection"), Column("kind"), Column("people"), Column("inside"),
        Column("one_try", "One try", "number"), Column("known", "Alone", "number"),
        Column("unknown", "Sizes unknown", "number"), Column("campaign", "Campaign", "number"),
        Column("pays_without_sizes"), Column("fully_tried", "All tried", "number"),
        Column("partly_tried", "Some tried", "number"), Column("untried", "None tried", "number"),
        Column("lower_risk", "Risk falls", "number"), Column("higher_risk", "Risk rises", "number"),
        Column("safe_alone", "Safe alone", "number"), Column("safe_re_identified", "of them in the campaign", "number"),
        Column("largest_attacked"),
    )  # fmt: skip
    return Table("game_alone", columns, tuple(vars(row) for row in facts.alone))


def list_program_tables(result: Result) -> list[Table]:
    """Return the offers and the other tables under the names of `unmask game --json`."""
    offers = result.table("game_offers")
    offers = offers.select(column.name for column in offers.columns if column.name != "re_identified")
    tables = [table for table in result.facts if not table.page_only and table.name != "game_offers"]
    return [offers, *(replace(table, name=table.name.removeprefix("game_")) for table in tables)]
