"""Risk if the attacker pays for the outside data before they know the group sizes: equation (6) of Xia et al. 2015."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import as_numbers
from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker
from unmask.economics.plans.prices import choose_resources
from unmask.economics.plans.records import EQUAL_RISKS, price_records
from unmask.results import Block, Column, Table, View
from unmask.results.suppression import mark_people

UNKNOWN: Final = "unknown_sizes"
"""Name of the table of risks with known and unknown sizes."""

SHOWN: Final = ("size", "cell_probability", "records", "known", "unknown")
"""Columns of the tables for people."""

MAX_SHOWN: Final = 50
"""Rows of a table for people."""

NOTE: Final = (
    "Unknown: the attacker believes that each person of the outside data fits with the probability of the cell, pays, "
    "and then sees the actual size. Known: they see it before they pay."
)


def make_unknown_table(
    attackers: Sequence[Attacker], sizes: NDArray[np.int64], population: int, cell_probability: ArrayLike | None
) -> Table:
    """Return the risk of each size with a known and an unknown size.

    Parameters
    ----------
    attackers : sequence of Attacker
        The attacker with each resource; the best one is chosen before paying.
    sizes : (n,) array of int
        Number of candidates of each target.
    population : int
        Number of people in the outside data.
    cell_probability : (n,) array_like or float, optional
        Probability that one of them fits; by default the size divided by the population.
    """
    if sizes.max(initial=0) > population:
        raise UnmaskError(f"a group has more than {population:,} people; give `population` with all people outside")
    cells = sizes / population if cell_probability is None else as_numbers("cell_probability", cell_probability)
    if cells.ndim and cells.shape != sizes.shape:
        raise UnmaskError(f"there are {cells.size:,} cell probabilities for {len(sizes):,} records; give one for each")
    pairs = np.stack([sizes, np.broadcast_to(cells, sizes.shape)])
    (distinct, p), counts = np.unique(pairs, axis=1, return_counts=True)
    believed: dict[str, Any] = {"population": population, "cell_probability": p, "belief": "binomial"}
    known, unknown = (
        choose_resources([price_records(attacker, distinct, **belief) for attacker in attackers])[0].success_probability
        for belief in ({}, believed)
    )
    change = np.where(np.abs(unknown - known) <= EQUAL_RISKS, 0, np.sign(unknown - known)).astype(int)
    columns = (
        Column("size", kind="number"), Column("cell_probability", "cell probability", "number"),
        Column("records", kind="people", exact=True), Column("known", kind="share"), Column("unknown", kind="share"),
        Column("changed"),
    )  # fmt: skip
    words = [("same", "higher", "lower")[step] for step in change]
    values = (distinct.astype(int), p, counts, known, unknown)
    return Table.from_records(UNKNOWN, columns, zip(*(value.tolist() for value in values), words, strict=True))


def make_unknown_block(table: Table) -> Block:
    """Return the number of records whose risk changes."""
    parts = {change: table.where(changed=change) for change in ("lower", "higher")}
    lower, higher = (sum(part.values("records")) for part in parts.values())
    change = (
        f"falls for {mark_people(lower)} of {mark_people(sum(table.values('records')))} records and rises for "
        f"{mark_people(higher)}"
    )
    change = change if lower or higher else "stays the same for all records"
    sentence = f"If the attacker pays before they know the group sizes, the risk {change}."
    views = tuple(
        View(UNKNOWN, SHOWN, {"changed": change}, f"Risk with unknown sizes: {change}", MAX_SHOWN)
        for change, part in parts.items()
        if len(part)
    )
    return Block(UNKNOWN, "Sizes unknown before paying", sentence, tables=views, notes=(NOTE,))
