"""Audits of group sizes: prices of attacks on targets in groups of given sizes, without data."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker
from unmask.economics.audit.facts import AttackerSource, CampaignPrice, compute_curve, price_campaign
from unmask.economics.audit.sentences import describe_attacked, describe_campaign, describe_thresholds
from unmask.economics.deterrence import break_even
from unmask.economics.prices import Prices
from unmask.economics.records import price_records
from unmask.results import AuditResult, Block, Column, Table
from unmask.results.formats import percent
from unmask.results.suppression import FEWEST

MAX_SIZES: Final = 10_000_000
"""Largest number of groups that a list may name."""

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


def audit_sizes(source: AttackerSource, sizes: ArrayLike, *, is_exact: bool = True) -> AuditResult:
    """Price the attack on targets in groups of given sizes: in one campaign, one by one, and by size.

    Parameters
    ----------
    source : AttackerSource
        The attacker.
    sizes : array_like
        Number of candidates of each target.
    is_exact : bool
        False if the targets are people of a release: numbers of fewer than 10 people are then suppressed.

    Returns
    -------
    AuditResult
        Tables "sizes", "about", "campaign", "one_by_one" and "thresholds", and a finding about each.

    Examples
    --------
    >>> from unmask.economics import read_attacker
    >>> result = audit_sizes(AttackerSource(read_attacker("case-study")), [60] * 50)
    >>> result.table("one_by_one").rows[0]["attacked"]
    0.0
    """
    attacker, sizes = source.attacker, np.asarray(sizes, dtype=np.int64)
    prices = price_records(attacker, sizes)
    joint = price_campaign(attacker, sizes, lambda values: float(values.mean()))
    by_size = _size_table(attacker, prices, sizes)
    largest = max((row["size"] for row in by_size.rows if row["access"]), default=1)
    thresholds = compute_curve(attacker, [largest]).thresholds
    single = {
        "attacked": float(prices.access.mean()),
        "success_probability": float(prices.success_probability.mean()),
        "payoff": float(prices.payoff.sum()),
        "stopping_fine": max(by_size.values("break_even_fine")),
    }
    targets = f"all {len(sizes):,} records" if len(sizes) > 1 else "1 record"
    sentences = (
        describe_campaign(joint, targets, attacker),
        describe_attacked(single["attacked"], percent(single["success_probability"])),
        describe_thresholds(thresholds),
    )
    return AuditResult(
        title="Prices of group sizes",
        kind="Price",
        command="price",
        setting=SETTING,
        headline=sentences[0],
        rows=(),
        tables=(
            by_size if is_exact else by_size.without_small(FEWEST),
            _table("about", {"attacker": source.name, "assumed": source.is_assumed, "records": len(sizes)}),
            _table("campaign", _campaign_record(joint)),
            _table("one_by_one", single),
            _table("thresholds", thresholds._asdict()),
        ),
        blocks=tuple(map(Block, ("one_by_one", "thresholds"), ("One by one", "By size"), sentences[1:])),
        cautions=attacker.warnings,
    )


def _table(name: str, record: dict[str, Any]) -> Table:
    return Table.from_records(name, map(Column, record), [record.values()])


def _size_table(attacker: Attacker, prices: Prices, sizes: NDArray[np.int64]) -> Table:
    """Return the number of records and the price of each size."""
    groups, first, counts = np.unique(sizes, return_index=True, return_counts=True)
    values = {
        "size": groups.tolist(),
        "records": counts.tolist(),
        **{name: values.tolist() for name, values in vars(prices.take(first)).items()},
        "break_even_fine": break_even(attacker, groups).tolist(),
    }
    columns_by_name = {column.name: column for column in SHOWN}
    columns = (columns_by_name.get(name, Column(name)) for name in values)
    return Table.from_records("sizes", columns, zip(*values.values(), strict=True))


def _campaign_record(joint: CampaignPrice) -> dict[str, Any]:
    if joint.not_run:
        return {"not_run": joint.not_run}
    names = ("payoff", "payoff_at_most", "success_probability", "success_at_most", "fine_that_pays", "fine_that_stops")
    return dict(zip(names, (*joint.payoff, *joint.success, *joint.fines), strict=True))


def shorten(result: AuditResult) -> Table:
    """Return the table of every so many sizes, and of the sizes on both sides of each threshold."""
    by_size, (thresholds,) = result.table("sizes"), result.table("thresholds").rows
    step = max(1, -(-len(by_size) // N_SHOWN))
    edges = {size for limit in thresholds.values() if limit is not None for size in (limit - 1, limit)}
    rows = (row for i, row in enumerate(by_size.rows) if i % step == 0 or row["size"] in edges)
    return replace(by_size, rows=tuple(rows)).select(column.name for column in SHOWN)
