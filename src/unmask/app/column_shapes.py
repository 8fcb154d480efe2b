"""Shapes of columns: a histogram of the values, and the levels that they can be generalized to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.render.charts.svg import small_bars
from unmask.tables.column import Column
from unmask.tables.levels import Levels, Type
from unmask.tables.protections.recoding import generalize

MAX_BARS = 28

MAX_VALUES = 20_000
"""Distinct values of a column up to which generalized values are counted, in a second or two."""

MIN_EXAMPLE_ROWS = 10
"""Rows of a cell that is shown as an example."""

SECONDS_PER_DAY = 86_400

Level = float | str
"""Level of generalization of a column, as `tables.Generalize` has it."""


class Rung(NamedTuple):
    """A level of generalization.

    level    : as in a document; None for the column itself
    label    : name for readers
    distinct : number of values
    unique   : rows whose value no other row has
    example  : most frequent cell, if it is common
    """

    level: Level | None
    label: str
    distinct: int
    unique: int
    example: str


@dataclass(frozen=True)
class Shape:
    """A column without its rows. ends : labels of both ends of the histogram"""

    name: str
    type: Type
    histogram: str
    ends: tuple[str, str]
    ladder: tuple[Rung, ...] = ()

    @classmethod
    def of(cls, column: Column) -> Shape:
        """Return the shape of a column."""
        ladder = tuple(_build_ladder(column)) if len(column.levels) <= MAX_VALUES else ()
        heights, ends = _count_bars(column)
        label = f"rows of {column.name} by value" + (f", from {ends[0]} to {ends[1]}" if ends[0] else "")
        return cls(column.name, column.type, small_bars(heights.tolist(), label), ends, ladder)


def _count_bars(column: Column) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Count rows in bins of numbers and dates; of other columns, the most frequent values first."""
    counts = column.counts.astype(np.float64)
    if column.levels.missing >= 0:
        counts[column.levels.missing] = 0
    if column.levels.kind == "numeric":
        return _count_numeric_bars(column, counts)
    ranked = np.sort(counts[counts > 0])[::-1]
    rare = f"{ranked.size:,} values" if ranked.size > MAX_BARS else "rare"
    return ranked[:MAX_BARS], ("most frequent", rare) if ranked.size > 1 else ("", "")


def _count_numeric_bars(column: Column, counts: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Count rows in bins; no end label is an exact value."""
    low, high = column.levels.low, column.levels.high
    finite = np.isfinite(low) & np.isfinite(high) & (counts > 0)
    if not finite.any():
        return np.zeros(1), ("", "")
    values = (low[finite] + high[finite]) / 2
    bars, edges = np.histogram(values, bins=min(MAX_BARS, values.size), weights=counts[finite])
    if column.type == "number":
        return bars, (_round_outwards(edges[0], math.floor), _round_outwards(edges[-1], math.ceil))
    day = SECONDS_PER_DAY if column.type == "datetime" else 1
    first, last = (date.fromordinal(date(1970, 1, 1).toordinal() + math.floor(edge / day)) for edge in edges[[0, -1]])
    style = "%Y" if last.year > first.year + 2 else "%b %Y"
    return bars, (f"{first:{style}}", f"{last:{style}}")


def _round_outwards(value: float, direction: Callable[[float], int]) -> str:
    """Return a number with one digit.

    >>> _round_outwards(117.3, math.floor), _round_outwards(84_211.0, math.ceil)
    ('100', '90,000')
    """
    if value == 0:
        return "0"
    power = 10.0 ** math.floor(math.log10(abs(value)))
    rounded = direction(value / power) * power
    return f"{rounded:,.0f}" if abs(rounded) >= 1 else f"{rounded:g}"


def _build_ladder(column: Column) -> Iterator[Rung]:
    """Yield the levels of a column, up to the first with one value."""
    yield _build_rung(None, "as it is", column.levels, column.counts)
    for label, level in _list_levels(column):
        generalized = generalize(column, level)
        yield (rung := _build_rung(level, label, generalized.levels, generalized.counts))
        if rung.distinct < 2:
            return


def _build_rung(level: Level | None, label: str, levels: Levels, counts: NDArray[np.int64]) -> Rung:
    largest = int(counts.argmax())
    example = levels.labels[largest] if counts[largest] >= MIN_EXAMPLE_ROWS else ""
    has_missing = bool(levels.missing >= 0 and counts[levels.missing])
    distinct = int(np.count_nonzero(counts)) - has_missing
    return Rung(level, label, distinct, int(np.count_nonzero(counts == 1)), example)


def _list_levels(column: Column) -> Iterator[tuple[str, Level]]:
    if column.hierarchy is not None:
        yield from ((f"level {level}", level) for level in range(1, len(column.hierarchy.numbers)))
    elif column.type in ("date", "datetime"):
        yield from ((period, period) for period in ("month", "quarter", "year", "decade"))
    elif column.type == "number":
        yield from ((f"steps of {width:g}", width) for width in list_widths(column))
    elif column.levels.by_prefix:
        longest = column.levels.longest
        yield from ((f"first {longest - hidden} characters", hidden) for hidden in range(1, min(longest, 5)))


def list_widths(column: Column) -> list[float]:
    """Return a fiftieth, a tenth and a fifth of the range, rounded up to 1, 2 or 5 times a power of ten."""
    finite = column.levels.low[np.isfinite(column.levels.low)]
    span = float(np.ptp(finite)) if finite.size else 0.0
    if span <= 0:
        return []
    powers = {part: 10.0 ** np.floor(np.log10(span / part)) for part in (50, 10, 5)}
    widths = (
        float(next(step * power for step in (1, 2, 5, 10) if step * power >= span / part))
        for part, power in powers.items()
    )
    return list(dict.fromkeys(widths))
