"""Facts that the columns of a release reveal: unique values, restored cells, and people seen to be in the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from unmask.facts import ColumnFacts, Printed, Restored
from unmask.results import Block, Column, Table, View
from unmask.results.formats import SPACE, percent
from unmask.results.table import Record
from unmask.results.words import plural, start_with_release

N_NAMED = 3
"""Columns that a sentence names."""


@dataclass(frozen=True)
class ColumnExposure:
    """Facts about columns, by release.

    Parameters
    ----------
    columns : mapping of ColumnFacts
        Every column.
    restored : mapping of Restored
        Generalized cells that another column predicts; only of releases with an original and an origin.
    printed : mapping of Printed
        Exact values in the cells of quasi-identifiers.
    """

    columns: Mapping[str, tuple[ColumnFacts, ...]] = field(default_factory=dict)
    restored: Mapping[str, tuple[Restored, ...]] = field(default_factory=dict)
    printed: Mapping[str, tuple[Printed, ...]] = field(default_factory=dict)


FACT_COLUMNS = (
    Column("release", "Release"), Column("name", "Column"), Column("role", "Role"), Column("determines", "Determines"),
    Column("rows", "Rows", "number"), Column("distinct", "Distinct", "number"), Column("missing", "Missing", "people"),
    Column("alone", "Unique", "people"), Column("together", "Unique with the others", "people"), Column("suggestion"),
    Column("reason"), Column("key", kind="number"), Column("type"),
)  # fmt: skip

RESTORED_COLUMNS = (
    Column("release", "Release"), Column("column", "Generalized"), Column("by", "Predicted by"),
    Column("cells", "Cells", "group", exact=True), Column("guessed", "Guessed anyway", "share"),
    Column("restored", "Restored", "share"), Column("exact"),
)  # fmt: skip

PRINTED_COLUMNS = (
    Column("release", "Release"), Column("column", "Column"), Column("values", "Exact values printed", "number"),
    Column("alone", "People unique in theirs", "people"), Column("people", "People", "number"),
)  # fmt: skip

FACTS = (
    "Distinct: number of values. Unique: rows whose value no other row has. Unique with the others: rows that no other "
    "row matches in the quasi-identifiers and this column. Determines: other columns that follow from it exactly; "
    "nearly, if the most common value among other rows with the same value corrects at least "
    f"90{SPACE}% of the errors made without it."
)

RESTORED = (
    "Restored: share of cells for which the most common original value is right, among other rows with the same "
    "released cell and the same value in the other column. Guessed anyway: the same without that column. Pairs whose "
    "difference may be chance are left out."
)

PRINTED = (
    "An exact value that a released cell prints \u2013 as a cell, in a set, as the end of an interval \u2013 belongs "
    "to a person in the data. "
)

COUNTED = (
    "Unique: people of the original who share their value with no other person in it. Knowing that value is enough to "
    "learn that they are in the data."
)

UNCOUNTED = "Without the original, the ends of fixed bins are counted too, so the number is an upper bound."


def exposure_tables(exposure: ColumnExposure) -> Iterator[Table]:
    """Yield the tables of columns, of restored cells and of printed values."""
    yield Table.of_releases("exposure_columns", FACT_COLUMNS, exposure.columns)
    yield Table.of_releases("exposure_restored", RESTORED_COLUMNS, exposure.restored)
    yield Table.of_releases("exposure_printed", PRINTED_COLUMNS, exposure.printed)


def exposure_blocks(exposure: ColumnExposure, riskiest: str) -> Iterator[Block]:
    """Yield the findings about columns; sentences about restored and printed values are about the riskiest release."""
    if any(exposure.columns.values()):
        names = [column.name for column in FACT_COLUMNS if column.name not in ("suggestion", "reason", "key", "type")]
        views = (View("exposure_columns", tuple(names)),)
        heading = "What the columns reveal"
        yield Block("exposure", heading, describe_unique, (), views, FACTS, is_finding=False)
    if any(exposure.restored.values()):
        heading = "Generalized cells that another column restores"
        views = (View("exposure_restored", ("release", "column", "by", "cells", "guessed", "restored")),)
        yield Block("restored", heading, partial(describe_restored, release=riskiest), (), views, RESTORED)
    if any(exposure.printed.values()):
        is_counted = any(item.alone is not None for items in exposure.printed.values() for item in items)
        introduction = PRINTED + (COUNTED if is_counted else UNCOUNTED)
        views = (View("exposure_printed", ("release", "column", "values", "alone")),)
        heading = "Who can be seen to be in the data"
        yield Block("printed", heading, partial(describe_printed, release=riskiest), (), views, introduction)


def describe_unique(tables: Mapping[str, Table]) -> str:
    """Return the column that makes most rows unique, alone or with the quasi-identifiers."""
    rows = [row for row in tables["exposure_columns"].rows if row["rows"]]
    share, name = _largest_share(rows, "alone")
    if share:
        return f"{name} alone makes {percent(share)} of the released rows unique."
    share, name = _largest_share(rows, "together")
    addition = f"; with the quasi-identifiers, {name} does for {percent(share)}" if share else ""
    return f"No column alone makes a released row unique{addition}."


def _largest_share(rows: list[Record], count: str) -> tuple[float, str]:
    shares = ((min(row[count], row["rows"]) / row["rows"], row["name"]) for row in rows if isinstance(row[count], int))
    return max(shares, default=(0.0, ""))


def describe_restored(tables: Mapping[str, Table], release: str) -> str:
    """Return the pairs of columns that restore most."""
    table = tables["exposure_restored"]
    several = len(set(tables["exposure_columns"].values("release"))) > 1
    pairs = sorted(table.where(release=release).rows, key=lambda row: row["guessed"] - row["restored"])
    if not pairs:
        return ""
    texts = "; ".join(
        f"{row['by']} predicts {percent(row['restored'])} of {row['cells']:,} generalized cells of {row['column']} "
        f"({percent(row['guessed'])} by guessing)"
        for row in pairs[:N_NAMED]
    )
    remainder = f"; {len(pairs) - N_NAMED} more are in the report" if len(pairs) > N_NAMED else ""
    sentence = f"other columns undo part of the generalization: {texts}{remainder}."
    return start_with_release(sentence, release, several=several)


def describe_printed(tables: Mapping[str, Table], release: str) -> str:
    """Return how many people are seen to be in the data; without an original, how many values are printed."""
    table = tables["exposure_printed"]
    several = len(set(table.values("release"))) > 1
    rows = table.where(release=release).rows
    if not rows:
        return ""
    return start_with_release(_describe_printed(rows), release, several=several)


def _describe_printed(rows: tuple[Record, ...]) -> str:
    if rows[0]["alone"] is None:
        row = max(rows, key=lambda row: row["values"])
        if not row["values"]:
            return "released cells print no exact value."
        values = plural(row["values"], "exact value")
        return (
            f"released cells print up to {values} of {row['column']}. Each belongs to a person, except ends of fixed "
            "bins and perturbed cells."
        )
    unique = [f"{_share(row)} by {row['column']}" for row in rows if row["alone"]]
    if not unique:
        return "no released cell prints a value held by only one person, so no cell proves that someone is in the data."
    return (
        f"released cells print values held by only one person, which prove that this person is in the data: "
        f"{', '.join(unique)}."
    )


def _share(row: Record) -> str:
    if isinstance(row["alone"], str):
        return f"{row['alone']} people"
    return f"{percent(min(row['alone'], row['people']) / row['people'])} of people"
