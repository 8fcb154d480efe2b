"""Distributions of columns before and after protection, in bins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.results import Block, Chart, Column
from unmask.results import Table as Facts
from unmask.results.formats import DATE, round_step
from unmask.results.suppression import mark_people
from unmask.tables.audit.auditor_knowledge import Release
from unmask.tables.table import Table
from unmask.tables.utility.column_loss import Cells
from unmask.tables.utility.sets import OrderedSets

SECONDS = 86400.0
"""Seconds of a day."""

BINS = 20
"""Bins of a column, about."""


class ColumnBin(NamedTuple):
    """Share of people in a bin of a column, in the original and in a release.

    Parameters
    ----------
    release, column, type : str
        Release, and name and type of the column.
    bin, dates : tuple of float, optional
        Ends of a bin of numbers or ranks; ends of a bin of dates, in days since 1970.
    rank : str, optional
        "no. 1" for the most common value of a column without order.
    before, after : float
        Share of people in the bin.
    missing, gone : float
        Share of people without a value in the original, and in the release.
    people : int
        Number of people.
    """

    release: str
    column: str
    type: str
    bin: tuple[float, float] | None
    dates: tuple[float, float] | None
    rank: str | None
    before: float
    after: float
    missing: float
    gone: float
    people: int


def column_bins(release: Release, original: Table) -> Iterator[ColumnBin]:
    """Yield the bins of each quasi-identifier of a release with a known origin.

    A generalized cell is spread evenly over its values, and a suppressed row over all values. Bins of numbers and
    dates end at round values, so that no end is a value of a person.
    """
    assert release.origin is not None
    lost = np.ones(original.n_rows, dtype=np.bool_)
    lost[release.origin] = False
    for column in original.quasi_identifiers:
        cells = Cells.of_rows(column, release.table.column(column.name), release.origin, lost)
        compared = cells.marginal()
        sets, rows = cells.sets, compared.original[:-1]
        bins = _bin_values(sets.position[cells.bins[:-1]]) if isinstance(sets, OrderedSets) else _bin_categories(rows)
        original_shares, released_shares = (
            _shares(side, bins, original.n_rows) for side in (compared.original, compared.released)
        )
        missing, suppressed = (float(side[-1]) / original.n_rows for side in (compared.original, compared.released))
        for ends, share, released in zip(bins.ends(column.type), original_shares, released_shares, strict=True):
            names = release.name, column.name, column.type
            yield ColumnBin(*names, *ends, share, released, missing, suppressed, original.n_rows)


def _shares(rows: Floats, bins: _Bins, n_rows: int) -> tuple[float, ...]:
    return tuple(map(float, np.bincount(bins.bin_of_value, rows[:-1], bins.n) / n_rows))


@dataclass(frozen=True, eq=False)
class _Bins:
    bin_of_value: Integers
    n: int
    edges: tuple[float, ...] = ()

    def ends(self, column_type: str) -> Iterator[tuple[Any, Any, str | None]]:
        """Yield the ends of each bin as numbers or as dates, or the rank of a value."""
        if not self.edges:
            yield from ((None, None, f"no. {rank}") for rank in range(1, self.n + 1))
        elif column_type in ("date", "datetime"):
            scale = SECONDS if column_type == "datetime" else 1.0
            yield from ((None, (low / scale, high / scale), None) for low, high in pairwise(self.edges))
        else:
            yield from ((ends, None, None) for ends in pairwise(self.edges))


def _bin_values(values: Floats) -> _Bins:
    """Bins of the same width whose ends are round values."""
    low, high = float(values[0]), float(values[-1])
    step = round_step(high - low, BINS) if high > low else 1.0
    step = max(step, 1.0) if np.all(values == np.round(values)) else step
    start = np.floor(low / step) * step
    bin_numbers = np.floor((values - start) / step + 1e-9).astype(np.int64)
    n = int(bin_numbers[-1]) + 1
    return _Bins(bin_numbers, n, tuple(float(start + step * i) for i in range(n + 1)))


def _bin_categories(weights: Floats) -> _Bins:
    """Sort values by frequency; put as many of many values in each bin."""
    n = min(len(weights), BINS)
    bin_numbers = np.empty(len(weights), dtype=np.int64)
    bin_numbers[np.argsort(-weights, kind="stable")] = np.arange(len(weights)) * n // max(len(weights), 1)
    return _Bins(bin_numbers, n)


# --- findings --------------------------------------------------------------------------------------------------------

EXPLANATION = (
    "Bars show the original, the line shows the release. A generalized cell is spread evenly over its possible values, "
    "and a suppressed row over all values. If the line follows the bars, the distribution is preserved. Shares are "
    "rounded up to the smallest group that may be shown; bins with fewer people are empty, and cut at the ends."
)

COLUMNS = (
    Column("release"), Column("column"), Column("type"), Column("bin", kind="interval"),
    Column("dates", kind="interval", unit=DATE), Column("rank", "Values, the most common first"),
    Column("before", "before", "bin", of="people"), Column("after", "after", "share_of_people", of="people"),
    Column("missing", kind="share_of_people", of="people"), Column("gone", kind="share_of_people", of="people"),
    Column("people", kind="number"),
)  # fmt: skip

SERIES = ("release", "column")


def bin_table(bins: Iterable[ColumnBin]) -> Facts:
    """Return the table of the bins of all releases."""
    return replace(Facts.from_records("shapes", COLUMNS, bins), series=SERIES)


def shape_block(bins: Iterable[ColumnBin]) -> Block:
    """Return a chart for each column of each release, and the column that changed most."""
    columns: dict[tuple[str, str], list[ColumnBin]] = {}
    for item in bins:
        columns.setdefault((item.release, item.column), []).append(item)
    several = len({release for release, _ in columns}) > 1
    charts = tuple(_chart(items, several=several) for items in columns.values())
    most_changed = max(columns.values(), key=_share_moved)
    sentence = f"{most_changed[0].column} changed most: {_count_moved(most_changed)}."
    heading = "Before and after, column by column"
    return Block("shapes", heading, sentence, charts, introduction=EXPLANATION, is_finding=False)


def _chart(bins: list[ColumnBin], *, several: bool) -> Chart:
    first = bins[0]
    order = " (values in their order)" if first.type == "ordinal" else ""
    title = f"{first.column}{order}{f', {first.release}' if several else ''}"
    label = f"{first.column}: people before and after. {_count_moved(bins)}{_count_missing(first)}"
    x = next(name for name in ("bin", "dates", "rank") if getattr(first, name) is not None)
    chart_keys = {name: getattr(first, name) for name in SERIES}
    return Chart("bars", "shapes", x, "after", title=title, label=label, baseline="before", where=chart_keys)


def _share_moved(bins: list[ColumnBin]) -> float:
    """Return the smallest share of people who must be in another bin than before."""
    return sum(abs(item.before - item.after) for item in bins) / 2


def _count_moved(bins: list[ColumnBin]) -> str:
    people = bins[0].people
    return f"{mark_people(round(_share_moved(bins) * people))} of {people:,} people are in another bin"


def _count_missing(item: ColumnBin) -> str:
    if not item.missing and not item.gone:
        return ""
    n_original, n_released = (mark_people(round(share * item.people)) for share in (item.missing, item.gone))
    return f". Without a value: {n_original} before, {n_released} after"
