"""Facts about attacks of a rational attacker as tables of a result."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.economics.attacker import list_parameters
from unmask.economics.audit.facts import PriceFacts
from unmask.economics.audit.parameters import format_parameter, name_parameter, parameter_table
from unmask.results import Column, Table

N_DRAWN = 6
"""Releases that are drawn in one chart."""

SIZE = Column("size", "Candidates in the group", "number")


def make_tables(facts: PriceFacts) -> tuple[Table, ...]:
    """Return every table of an audit of prices."""
    return (
        _summary_table(facts),
        parameter_table("price_parameters", list_parameters(facts.source.attacker)),
        _release_table(facts),
        *_curve_tables(facts),
        _tornado_table(facts),
        _deterrence_table(facts),
        *([] if facts.unknown_sizes is None else [facts.unknown_sizes]),
    )


def _summary_table(facts: PriceFacts) -> Table:
    names = ("source", "assumed", "adversary", "parameters", "thresholds", "tornado_size", "tornado_payoff")
    parameters, thresholds = list_parameters(facts.source.attacker), facts.curve.thresholds
    record = (facts.source.name, facts.source.is_assumed, facts.adversary, parameters, thresholds)
    return Table.from_records("price", map(Column, names), [(*record, facts.tornado_size, facts.tornado_payoff)])


def _release_table(facts: PriceFacts) -> Table:
    columns = (
        Column("release", "Release"), Column("adversary", "Adversary"), Column("n", "People", "number"),
        Column("campaign_success", "Re-identified", "interval", "share"),
        Column("campaign_payoff", "Payoff", "interval"),
        Column("campaign_fines", "Fine that stops it", "interval", rounds_up=True),
        Column("attacked", "Attacked", "share_of_people", of="n"), Column("success", "Re-identified", "share"),
        Column("realized", "Realized", "share"), Column("tries", "Tries", "number", places=1),
        Column("fines", "Fines", "number", places=2), Column("cost", "Spent", "number"),
        Column("payoff", "Payoff", "number"), Column("largest_attacked", "Largest group attacked", "number"),
        Column("sunk_success", "Re-identified with the data at hand", "share"),
        Column("stopping_fine", "Fine that stops it", "number", rounds_up=True),
    )  # fmt: skip
    records = []
    for price in facts.releases:
        campaign = price.campaign
        computed = (None,) * 3 if campaign.not_run else (campaign.success, campaign.payoff, campaign.fines)
        of_person = (price.tries, price.fines, price.cost, price.payoff) if price.attacked else (None,) * 4
        single_attacks = (price.attacked, price.success, price.realized, *of_person, price.largest_attacked)
        record = (
            price.release,
            facts.adversary,
            price.n,
            *computed,
            *single_attacks,
            price.sunk_success,
            price.stopping_fine,
        )
        records.append(record)
    return Table.from_records("price_releases", columns, records)


# --- by size of the group --------------------------------------------------------------------------------------------


def _curve_tables(facts: PriceFacts) -> Iterator[Table]:
    """Yield payoff and success, tries, and the fine that stops the attack, by size of the group."""
    curve, sizes = facts.curve, range(1, facts.largest_size + 1)
    ways = {
        "data to be paid for": (curve.payoff, curve.success_probability),
        "data at hand": (curve.sunk_payoff, curve.sunk_success_probability),
    }
    columns = (Column("data"), SIZE, Column("payoff", kind="number"), Column("success_probability", kind="share"))
    records = [(way, i, float(payoff[i]), float(success[i])) for way, (payoff, success) in ways.items() for i in sizes]
    yield Table.from_records("price_curve", columns, records)
    counts = {"on average": curve.expected_tries, "if never detected and never right": curve.clean_tries}
    tries = [(label, i, float(values[i])) for label, values in counts.items() for i in sizes]
    yield Table.from_records("price_tries", (Column("tried"), SIZE, Column("tries", kind="number")), tries)
    fines = zip(sizes, facts.stopping_fines, strict=False)
    yield Table.from_records("price_fines", (SIZE, Column("fine", kind="number")), fines)


# --- payoff and deterrence -------------------------------------------------------------------------------------------


def _tornado_table(facts: PriceFacts) -> Table:
    columns = (
        Column("parameter"), Column("assumption"), Column("end"), Column("value"), Column("shown"),
        Column("payoff", "Payoff", "number"), Column("now", "now", "number"),
    )  # fmt: skip
    records = (
        (
            row.parameter, name_parameter(row.parameter), end, value, format_parameter(row.parameter, value),
            payoff, facts.tornado_payoff,
        )
        for row in facts.tornado
        for end, value, payoff in (("lower", row.low, row.payoff_low), ("higher", row.high, row.payoff_high))
    )  # fmt: skip
    return Table.from_records("price_tornado", columns, records)


def _deterrence_table(facts: PriceFacts) -> Table:
    """Return the share re-identified by fine; the first releases are drawn if anybody is re-identified in any."""
    columns = (
        Column("release"), Column("drawn"), Column("fine", "Fine", "number"), Column("share", kind="share")
    )  # fmt: skip
    swept = [price for price in facts.releases if price.deterrence]
    has_people = any(share > 0 for price in swept for _, share in price.deterrence)
    records = (
        (price.release, has_people and i < N_DRAWN, fine, share)
        for i, price in enumerate(swept)
        for fine, share in price.deterrence
    )
    return Table.from_records("price_deterrence", columns, records)
