"""Analyses that an office publishes, before and after protection: one line for each analysis and release."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.results import Block, Column, Result, Table, View
from unmask.results.formats import number
from unmask.results.words import plural, start_with_release
from unmask.tables import table as tables

if TYPE_CHECKING:
    from unmask.tables.utility.analyses import Comparison

COLUMNS = (
    Column("release", "Release"), Column("analysis", "Analysis"), Column("n", "Rows", "group"),
    Column("estimates", "Estimates", "number"), Column("lost", "Not in the release", "number"),
    Column("overlap", "Interval overlap, mean", "number", places=2),
    Column("lowest_overlap", "Lowest overlap", "number", places=2),
    Column("difference", "Relative difference, median", "share"),
    Column("largest_difference", "Largest difference", "share"),
    Column("pmse", "pMSE", "number", places=5), Column("pmse_ratio", "pMSE, times its expectation", "number", places=2),
)  # fmt: skip

INTRODUCTION = (
    "Each line computes one analysis with the original and with the release. The overlap of two 95 % intervals is 1 if "
    "they are equal, 0 if they touch, and negative if they are apart. The mean counts negative overlaps and missing "
    "estimates as 0. pMSE is 0 if a model cannot tell released rows from original ones. Its ratio is about 1 for rows "
    "drawn from a correct model of the original, and larger for other people. Values are rounded and estimates are not "
    "shown, because an exact estimate may reveal a suppressed row."
)


def measure_analyses(original: tables.Table, releases: Mapping[str, tables.Table], analyses: Iterable[str]) -> Table:
    """Return the table of all analyses and releases."""
    from unmask.tables.utility.analyses import Analysis, compare_analyses

    parsed = list(map(Analysis.parse, analyses))
    if any(table.counts is not None for table in releases.values()):
        raise UnmaskError("an analysis needs every row, and an engine counted a release; leave `engine` out")
    records = (
        (release, *_summarize(comparison, original.n_rows))
        for release, table in releases.items()
        for comparison in compare_analyses(original, table, parsed)
    )
    return Table.from_records("analyses", COLUMNS, records)


def _summarize(comparison: Comparison, n_rows: int) -> Iterator[object]:
    """Yield the values of a line, rounded to two decimals: finer ones may reveal single rows."""
    yield str(comparison.analysis)
    if comparison.propensity is not None:
        score = comparison.propensity
        yield from (n_rows, score.n_terms, 0, None, None, None, None, _round(score.pmse, 5), _round(score.ratio))
        return
    assert comparison.original is not None
    overlap, difference = comparison.overlap, comparison.relative_difference
    known, finite = overlap[np.isfinite(overlap)], difference[np.isfinite(difference)]
    yield from (comparison.original.n_rows, len(overlap), len(overlap) - len(known), _round(comparison.mean_overlap))
    yield _round(known.min(initial=math.inf))
    yield from (_round(np.median(finite)), _round(finite.max())) if len(finite) else (None, None)
    yield from (None, None)


def _round(value: float, places: int = 2) -> float | None:
    return round(float(value), places) if math.isfinite(value) else None


def add_analyses(result: Result, table: Table) -> Result:
    """Return the result with the analyses, before the criteria."""
    names = [block.name for block in result.blocks]
    place = names.index("criteria") if "criteria" in names else len(names)
    shown = [column.name for column in table.columns if any(value is not None for value in table.values(column.name))]
    block = Block(
        "analyses", "Published analyses before and after protection", describe_analyses, (),
        (View(table.name, tuple(shown)),), INTRODUCTION, is_finding=False,
    )  # fmt: skip
    blocks = (*result.blocks[:place], block, *result.blocks[place:])
    return replace(result, facts=(*result.facts, table), blocks=blocks)


def describe_analyses(tables: Mapping[str, Table]) -> str:
    """Return the analysis that a release changes most."""
    rows = [row for row in tables["analyses"].rows if row["overlap"] is not None]
    if not rows:
        return ""
    row = min(rows, key=lambda row: row["overlap"])
    lost = f"; {plural(row['lost'], 'estimate')} missing" if row["lost"] else ""
    overlap = f"with a mean interval overlap of {number(row['overlap'], 2)}{lost}"
    sentence = f"{row['analysis']!r} changes most, {overlap}."
    return start_with_release(sentence, row["release"], several=len({row["release"] for row in rows}) > 1)
