"""Audits of group sizes: prices of attacks on targets in groups of given sizes, without data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker, list_parameters
from unmask.economics.audit.facts import AttackerSource, CampaignPrice, compute_curve, price_campaign
from unmask.economics.audit.parameters import parameter_table
from unmask.economics.audit.sentences import (
    describe_attacked,
    describe_campaign,
    describe_thresholds,
    describe_unfined,
)
from unmask.economics.audit.sweeps import Sweep, make_sweep_blocks, make_sweep_tables
from unmask.economics.audit.unknown_sizes import make_unknown_block, make_unknown_table
from unmask.economics.campaigns.bounds import Bounds
from unmask.economics.deterrence.amounts import break_even, find_safe_size
from unmask.economics.plans.prices import ASSUMPTION as RESOURCE_ASSUMPTION
from unmask.economics.plans.prices import Prices, choose_resources, merge_thresholds, name_choices
from unmask.economics.plans.records import price_records
from unmask.results import Block, Column, Decision, Result, Table, View
from unmask.results.formats import percent
from unmask.results.suppression import FEWEST

MAX_SIZES: Final = 10_000_000
"""Largest number of groups that a list may name."""

LARGEST_POPULATION: Final = 10**10
"""Largest group of a search: more people than there are."""

N_SHOWN: Final = 12
"""Sizes in the short table for people; `sizes` has them all."""

SHOWN: Final = (
    Column("size", kind="number"),
    Column("records", kind="people", exact=True),
    Column("payoff", kind="number", places=0),
    Column("success_probability", "success", "share"),
    Column("expected_tries", "tries", "number", places=1),
    Column("break_even_fine", "fine that stops it", "number", rounds_up=True),
)
"""Columns of the short table for people."""

SHOWN_NAMES: Final = tuple(column.name for column in SHOWN)

SETTING = "A rational attacker faces targets who have the given numbers of candidates."


def parse_sizes(text: str) -> NDArray[np.int64]:
    """Return the group sizes of a list such as "1,2,5-20".

    >>> parse_sizes("1,5-7").tolist()
    [1, 5, 6, 7]
    """
    ranges = [_parse_range(part) for part in text.replace(" ", "").split(",")]
    if sum(high - low + 1 for low, high in ranges) > MAX_SIZES:
        raise UnmaskError(f"the list has more than {MAX_SIZES:,} groups, expected fewer; give a release instead")
    return np.concatenate([np.arange(low, high + 1) for low, high in ranges])


def _parse_range(part: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part)
    low, high = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if low > high:
        raise UnmaskError(f"{part!r} is not a group size, expected a whole number or a range such as 5-20")
    return low, high


def audit_sizes(
    source: AttackerSource,
    sizes: ArrayLike,
    *,
    is_exact: bool = True,
    sweeps: Sequence[Sweep] = (),
    population: int | None = None,
    cell_probability: ArrayLike | None = None,
) -> Result:
    """Price the attack on targets in groups of given sizes: in one campaign, one by one, and by size.

    Parameters
    ----------
    source : AttackerSource
        The attacker.
    sizes : array_like
        Number of candidates of each target.
    is_exact : bool
        False if the targets are people of a release: numbers of fewer than 10 people are then suppressed.
    sweeps : sequence of (str, tuple of float)
        Parameters and their values, at which the sizes that escape are computed.
    population : int, optional
        Number of people in the outside data: adds the risk if the attacker pays before they know the sizes.
    cell_probability : array_like, optional
        Probability that one of these people fits; by default the size divided by the population.

    Returns
    -------
    Result
        Tables "sizes", "about", "campaign", "one_by_one", "thresholds", "parameters", and those of the options; a
        finding about each.

    Examples
    --------
    >>> from unmask.economics import read_attacker
    >>> result = audit_sizes(AttackerSource(read_attacker("case-study")), [60] * 50)
    >>> result.table("one_by_one").rows[0]["attacked"]
    0.0
    """
    attackers, sizes = list(source.attackers.values()), np.asarray(sizes, dtype=np.int64)
    campaigns = [price_campaign(attacker, sizes, lambda values: float(values.mean())) for attacker in attackers]
    joint = _choose_campaign(campaigns)
    by_size, prices = _size_table(source, sizes)
    largest = max((row["size"] for row in by_size.rows if row["access"]), default=1)
    thresholds = merge_thresholds([compute_curve(attacker, [largest]).thresholds for attacker in attackers])
    single = {
        "attacked": float(prices.access.mean()),
        "success_probability": float(prices.success_probability.mean()),
        "payoff": float(prices.payoff.sum()),
        "stopping_fine": max(by_size.values("break_even_fine")),
    }
    unfined = _find_unfined_size(attackers)
    sweep_tables = make_sweep_tables(attackers, sweeps) if sweeps else ()
    unknown = () if population is None else (make_unknown_table(attackers, sizes, population, cell_probability),)
    tables = (
        by_size,
        _table("about", {"attacker": source.name, "assumed": source.is_assumed, "records": len(sizes)}),
        _table("campaign", _campaign_record(joint)),
        _table("one_by_one", single),
        _table("thresholds", {**thresholds._asdict(), "unfined": unfined}),
        *([_resource_table(source, campaigns, prices, sizes)] if source.has_resources else []),
        parameter_table("parameters", list_parameters(attackers[0])),
        *sweep_tables,
        *unknown,
    )
    targets = f"all {len(sizes):,} records" if len(sizes) > 1 else "1 record"
    headline = describe_campaign(joint, targets, attackers[0])
    single_sentence = describe_attacked(single["attacked"], percent(single["success_probability"]))
    by_size_sentence = f"{describe_thresholds(thresholds)} {describe_unfined(unfined)}".rstrip()
    blocks = (
        Block("one_by_one", "One by one", single_sentence, tables=("resources",) if source.has_resources else ()),
        Block("thresholds", "By size", by_size_sentence, tables=(View("sizes", limit=N_SHOWN, columns=SHOWN_NAMES),)),
        *(block for table in sweep_tables[:1] for block in make_sweep_blocks(attackers[0], table)),
        *map(make_unknown_block, unknown),
        Block("attacker", "The attacker", "", tables=("parameters",), is_finding=False),
    )
    result = Result(
        title="Prices of group sizes",
        kind="Price",
        command="price",
        setting=SETTING,
        headline=headline,
        rows=(),
        preferred_measures=(),
        facts=tables,
        blocks=blocks,
        decision=_make_decision(joint),
        assumptions=(RESOURCE_ASSUMPTION,) if source.has_resources else (),
        cautions=attackers[0].warnings,
    )
    return suppress_for_print(result, is_exact=is_exact)


def suppress_for_print(result: Result, *, is_exact: bool) -> Result:
    """Return a result without small numbers; typed group sizes are no people, and only a page suppresses them."""
    shared = replace(result, smallest_shown=1 if is_exact else FEWEST).without_small()
    return replace(shared, smallest_shown=FEWEST, is_shared=False)


def _choose_campaign(campaigns: Sequence[CampaignPrice]) -> CampaignPrice:
    """Return the campaign with the largest payoff, or one that was not computed, and the fine that stops all."""
    chosen = max(campaigns, key=lambda campaign: (bool(campaign.not_run), campaign.payoff))
    fines = Bounds(*(max(campaign.fines[end] for campaign in campaigns) for end in (0, 1)))
    return chosen if chosen.not_run else replace(chosen, fines=fines)


def _make_decision(joint: CampaignPrice) -> Decision:
    """Return the first words of the page: whether an attack on all records pays."""
    answers = {True: ("met", "No attack pays."), False: ("missed", "An attack pays.")}
    state, answer = answers[joint.payoff[1] == 0] if not joint.not_run else ("untested", "Not computed.")
    return Decision(state, answer, "", question="")


def _find_unfined_size(attackers: Sequence[Attacker]) -> float | None:
    """Return the size from which no fine is needed, with the data at hand; None for an attacker without closed form."""
    if any(attacker.is_uncertain for attacker in attackers):
        return None
    unfined = (replace(attacker, fine=0.0, max_fines=0, arrest=False) for attacker in attackers)
    return max(find_safe_size(attacker, at_hand=True, largest=LARGEST_POPULATION) for attacker in unfined)


def _table(name: str, record: dict[str, Any]) -> Table:
    return Table.from_records(name, map(Column, record), [record.values()])


def _size_table(source: AttackerSource, sizes: NDArray[np.int64]) -> tuple[Table, Prices]:
    """Return the number of records and the price of each size, and the prices of all records."""
    attackers = list(source.attackers.values())
    groups, of_record, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    prices, choice = choose_resources([price_records(attacker, groups) for attacker in attackers])
    values = {
        "size": groups.tolist(),
        "records": counts.tolist(),
        **{name: values.tolist() for name, values in vars(prices).items()},
        "break_even_fine": np.max([break_even(attacker, groups) for attacker in attackers], axis=0).tolist(),
        **({"resource": name_choices(choice, source.attackers)} if source.has_resources else {}),
    }
    columns_by_name = {column.name: column for column in SHOWN}
    columns = (columns_by_name.get(name, Column(name)) for name in values)
    return Table.from_records("sizes", columns, zip(*values.values(), strict=True)), prices.take(of_record)


def _resource_table(
    source: AttackerSource, campaigns: Sequence[CampaignPrice], prices: Prices, sizes: NDArray[np.int64]
) -> Table:
    """Return the price of each resource, the share of records attacked with it, and a campaign with it alone."""
    prices_of_resources = [price_records(attacker, sizes) for attacker in source.attackers.values()]
    _, choice = choose_resources(prices_of_resources)
    columns = (
        Column("resource"), Column("access_cost", "price of access", "number"),
        Column("link_cost", "cost of linking", "number"), Column("prior", "person is in it", "share"),
        Column("attacked", "attacked with it", "share"), Column("campaign_payoff", "campaign gains", "interval"),
        Column("campaign_fines", "fine that stops it", "interval", rounds_up=True),
    )  # fmt: skip
    records = (
        (
            name, attacker.access_cost, attacker.link_cost, attacker.prior,
            float((prices.access & (choice == position)).mean()),
            *((None, None) if joint.not_run else (joint.payoff, joint.fines)),
        )
        for position, ((name, attacker), joint) in enumerate(zip(source.attackers.items(), campaigns, strict=True))
    )  # fmt: skip
    return Table.from_records("resources", columns, records)


def _campaign_record(joint: CampaignPrice) -> dict[str, Any]:
    if joint.not_run:
        return {"not_run": joint.not_run}
    names = ("payoff", "payoff_at_most", "success_probability", "success_at_most", "fine_that_pays", "fine_that_stops")
    return dict(zip(names, (*joint.payoff, *joint.success, *joint.fines), strict=True))


def shorten(result: Result) -> Table:
    """Return the table of every so many sizes, and of the sizes on both sides of each threshold."""
    by_size, (thresholds,) = result.table("sizes"), result.table("thresholds").rows
    step = max(1, -(-len(by_size) // N_SHOWN))
    edges = {size for limit in thresholds.values() if limit is not None for size in (limit - 1, limit)}
    rows = (row for i, row in enumerate(by_size.rows) if i % step == 0 or row["size"] in edges)
    has_resource = any(column.name == "resource" for column in by_size.columns)
    return replace(by_size, rows=tuple(rows)).select([*SHOWN_NAMES, *(["resource"] if has_resource else [])])
