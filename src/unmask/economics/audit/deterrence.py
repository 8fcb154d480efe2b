"""Audits of deterrence: which fine, price and group size stop attacks on a release, and which mix is cheap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Amount, Attacker, list_parameters
from unmask.economics.audit.facts import AttackerSource
from unmask.economics.audit.group_sizes import suppress_for_print
from unmask.economics.audit.parameters import parameter_table
from unmask.economics.audit.sentences import format_amount, format_bounds
from unmask.economics.campaigns.bounds import Bounds
from unmask.economics.deterrence.amounts import deter
from unmask.economics.deterrence.deterrents import Costs, Deterrents, Mix, find_deterrents
from unmask.economics.plans.prices import ASSUMPTION as RESOURCE_ASSUMPTION
from unmask.economics.plans.prices import check_group_sizes
from unmask.results import Block, Column, Decision, DecisionItem, Result, Table
from unmask.results.formats import round_up
from unmask.results.suppression import mark_people
from unmask.results.words import join_names

SINGLE: Final = "an attack on one person"

CAMPAIGN: Final = "a campaign against all"

GAINS: Final = {
    SINGLE: "An attack on one person gains {payoff}.",
    CAMPAIGN: "A campaign against all gains {payoff}.",
}

FAILS: Final = {SINGLE: "An attack on one person does not pay.", CAMPAIGN: "A campaign against all does not pay."}

STOPS: Final = "stops"
"""Name of the table with the smallest amount of each kind that stops an attack."""

MIXES: Final = "mixes"
"""Name of the table with the cheapest mix against each attack."""

BUDGET: Final = "budget"
"""Name of the table with the fine and the price that keep campaigns within a budget."""

BUDGET_NOTE: Final = (
    "The number of people is an expectation, for every campaign that is best at this fine or price. If some people may "
    "be re-identified, a lower amount may exist that is enough."
)

MERGED: Final = 1e-5
"""Relative width below which bounds on an amount are shown as one."""

UNBOUNDED: Final = 1e15
"""Amount from which on one that stops an attack is called unbounded."""

SETTING: Final = "A rational attacker faces the records of a release by the size of their group."

STOPS_NOTE: Final = (
    "Each column changes one amount. The fine is the whole fine. The price is paid in addition to that of the outside "
    "data. The group size holds if all records are in groups of at least this size. The smallest classes are left out "
    "first. \u201cx to y\u201d: the attack pays at x, and does not pay at y."
)

TIES_NOTE: Final = (
    "An attacker who gains nothing walks away (ties = \u201cwalk_away\u201d). At the fine or price shown the attack is "
    "worth nothing, so ask a little more."
)


def audit_deterrence(
    source: AttackerSource,
    sizes: ArrayLike,
    *,
    costs: Costs | None = None,
    budget: Amount | None = None,
    is_exact: bool = True,
) -> tuple[Result, list[int]]:
    """Find what stops an attack on one person, and a campaign against all records.

    Parameters
    ----------
    source : AttackerSource
        The attacker, with the resources that they may use.
    sizes : (n,) array_like of int
        Group size of each record.
    costs : Costs, optional
        Costs of the publisher in the mix.
    budget : float, optional
        largest expected number of people that a campaign may re-identify
    is_exact : bool
        False if the records are people of a release: numbers of fewer than 10 people are then suppressed.

    Returns
    -------
    result : Result
        Tables "stops", "mixes", "now", "parameters" and perhaps "budget", and a finding about each attack.
    left_out : list of int
        Rows to leave out, counted from 0, so that no campaign pays; only the owner may know them.

    Examples
    --------
    >>> from unmask.economics import read_attacker
    >>> result, _ = audit_deterrence(AttackerSource(read_attacker("case-study")), [60] * 50)
    >>> [round(high) for _, high in result.table("stops").values("fine")]
    [8229, 238383]
    """
    counts = check_group_sizes(sizes)
    if not len(counts):
        raise UnmaskError("there are no records, expected at least one group size; give a release with rows")
    attackers = list(source.attackers.values())
    weights = (costs or Costs()).resolve(attackers[0])
    deterrents = {
        name: find_deterrents(attackers, counts, weights, is_campaign=name == CAMPAIGN) for name in (SINGLE, CAMPAIGN)
    }
    budgets = () if budget is None else (_budget_table(attackers, counts, budget),)
    result = Result(
        title="What deters an attack",
        kind="Deterrence",
        command="deter",
        setting=SETTING,
        headline=_describe_change(CAMPAIGN, deterrents[CAMPAIGN], len(counts)),
        rows=(),
        preferred_measures=(),
        facts=(
            _stops_table(deterrents, len(counts)),
            _mix_table(deterrents),
            _now_table(source, counts),
            parameter_table("parameters", list_parameters(attackers[0])),
            *budgets,
        ),
        blocks=(
            *_list_blocks(deterrents, weights, len(counts)),
            *map(_budget_block, budgets),
            Block("attacker", "The attacker", "", tables=("parameters",), is_finding=False),
        ),
        decision=_make_decision(deterrents[CAMPAIGN], source),
        assumptions=(RESOURCE_ASSUMPTION,) if source.has_resources else (),
        cautions=attackers[0].warnings,
    )
    rows = deterrents[CAMPAIGN].rows
    limit = (rows.min_class_size or np.inf) if rows.left_out else 0
    left_out = np.flatnonzero((counts > 0) & (counts < limit))
    return suppress_for_print(result, is_exact=is_exact), left_out.tolist()


# --- tables ----------------------------------------------------------------------------------------------------------


def _stops_table(deterrents: Mapping[str, Deterrents], n: int) -> Table:
    columns = (
        Column("attack", "Attack"), Column("payoff", "Payoff", "interval"),
        Column("fine", "Fine", "interval", rounds_up=True), Column("price", "Price", "interval", rounds_up=True),
        Column("size", "Group size", "number"), Column("below", "Leave out classes below", "number"),
        Column("left_out", "Rows left out", "people", exact=True),
    )  # fmt: skip
    records = (
        (
            name, item.payoff, _merge(item.fine), _merge(item.price),
            f"none up to {n:,}" if item.size is None else item.size,
            _name_classes(item.rows), item.rows.left_out,
        )
        for name, item in deterrents.items()
    )  # fmt: skip
    return Table.from_records(STOPS, columns, records)


def _merge(bounds: Bounds) -> Bounds:
    """Return the amount that stops the attack, twice if it is known up to the precision of the search."""
    is_known = bounds.high <= bounds.low * (1 + MERGED) or bounds.low > UNBOUNDED
    return Bounds(bounds.high, bounds.high) if is_known else bounds


def _mix_table(deterrents: Mapping[str, Deterrents]) -> Table:
    columns = (
        Column("attack", "Attack"), Column("fine", "Fine", "number", rounds_up=True),
        Column("price", "Price", "number", rounds_up=True), Column("below", "Leave out classes below", "number"),
        Column("left_out", "Rows left out", "people", exact=True),
    )  # fmt: skip
    records = (
        (name, item.mix.fine, item.mix.price, _name_classes(item.mix), item.mix.left_out)
        for name, item in deterrents.items()
    )  # fmt: skip
    return Table.from_records(MIXES, columns, records)


def _name_classes(mix: Mix) -> int | str:
    """Return the smallest class size that remains, "none" if no rows are left out, or "all"."""
    if not mix.left_out:
        return "none"
    return "all" if mix.min_class_size is None else mix.min_class_size


def _budget_table(attackers: Sequence[Attacker], counts: NDArray[np.int64], budget: float) -> Table:
    """Return the fine, and the price, with which no campaign re-identifies more people than the budget."""
    fine, access = (
        max(deter(attacker, counts, budget, amount=amount) for attacker in attackers)
        for amount in ("fine", "access_cost")
    )
    columns = (
        Column("people", "People re-identified at most", "number"),
        Column("fine", "Fine", "number", rounds_up=True), Column("price", "Price", "number", rounds_up=True),
    )  # fmt: skip
    price = max(access - min(attacker.access_cost for attacker in attackers), 0.0)
    return Table.from_records(BUDGET, columns, [(budget, fine, price)])


def _budget_block(table: Table) -> Block:
    (row,) = table.rows
    heading = "Campaigns within a budget"
    if not np.isfinite(row["fine"]):
        return Block(
            BUDGET, heading, "No fine is known that keeps campaigns within the budget.", tables=(BUDGET,), open=True
        )
    sentence = (
        f"A campaign re-identifies at most {row['people']:,g} people with a fine of {round_up(row['fine'])}, or with "
        f"an access price of {round_up(row['price'])}."
    )
    return Block(BUDGET, heading, sentence, tables=(BUDGET,), notes=(BUDGET_NOTE,), open=True)


def _now_table(source: AttackerSource, sizes: np.ndarray) -> Table:
    columns = (
        Column("attacker"), Column("assumed"), Column("records", kind="number"),
        Column("smallest_group", kind="number"), Column("fine", kind="number"), Column("access_cost", kind="number"),
    )  # fmt: skip
    attacker = next(iter(source.attackers.values()))
    now = (source.name, source.is_assumed, len(sizes), int(sizes.min()), attacker.fine, attacker.access_cost)
    return Table.from_records("now", columns, [now])


# --- findings --------------------------------------------------------------------------------------------------------


def _make_decision(item: Deterrents, source: AttackerSource) -> Decision:
    """Return the first words of the page: whether a campaign pays, and what stops it alone."""
    fine = next(iter(source.attackers.values())).fine
    if item.payoff.high == 0:
        return Decision("met", "No attack pays.", "", question="")
    answer = "An attack pays." if item.payoff.low > 0 else "An attack may pay."
    size = "no size of these records" if item.size is None else f"at least {item.size:,}"
    lines = (
        ("A higher fine", f"now {format_amount(fine)}", round_up(item.fine.high)),
        ("An access price", "", round_up(item.price.high)),
        ("Larger groups", "", size),
    )
    items = tuple(DecisionItem("missed", name, finding, value, "") for name, finding, value in lines)
    return Decision("missed", answer, "", "What stops it?", items, caption="each alone")


def _list_blocks(deterrents: Mapping[str, Deterrents], costs: Costs, n: int) -> Iterator[Block]:
    single = _describe_change(SINGLE, deterrents[SINGLE], n)
    yield Block("stops", "What stops each attack", single, tables=(STOPS,), notes=(STOPS_NOTE, TIES_NOTE), open=True)
    mix, name = deterrents[CAMPAIGN].mix, "Cheapest mix against a campaign"
    cost = (
        f"Costs assumed: {format_amount(costs.fine)} for a fine higher by 1, {format_amount(costs.price)} for a price "
        f"higher by 1, {format_amount(costs.row or 0.0)} for a row left out."
    )
    sentence = f"{name}: {_describe_mix(mix)}." if deterrents[CAMPAIGN].payoff.high else ""
    yield Block("mix", name, sentence, tables=(MIXES,), notes=(cost,), open=True)


def _describe_change(name: str, item: Deterrents, n: int) -> str:
    """Return the gain of an attack, and the fine, price and group size that stop it."""
    if item.payoff.high == 0:
        return FAILS[name]
    stops, fails = [f"an access price of {round_up(item.price.high)}"], []
    if np.isfinite(item.fine.high):
        stops.insert(0, f"a fine of {round_up(item.fine.high)}")
    else:
        fails.append("No fine is known to stop it.")
    if item.size is not None:
        stops.append(f"groups of at least {item.size:,}")
    else:
        fails.append(f"Groups of up to {n:,} do not stop it.")
    gains = GAINS[name].format(payoff=format_bounds(item.payoff))
    return " ".join([gains, f"Each of these stops it: {join_names(stops)}.", *fails])


def _describe_mix(mix: Mix) -> str:
    parts = [f"a fine of {round_up(mix.fine)}"]
    if mix.price:
        parts.append(f"an access price of {round_up(mix.price)}")
    if mix.min_class_size is None and mix.left_out:
        return "no release, as every row is left out"
    if mix.left_out:
        parts.append(f"{mark_people(mix.left_out)} rows left out, in classes of fewer than {mix.min_class_size:,}")
    return ", and ".join(parts)
