"""What a column looks like: its values drawn, and the ladder of generalizations that it could be brought to."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.render.svg import small_bars
from unmask.tables.column import Column
from unmask.tables.levels import Levels, Type
from unmask.tables.protections.recoding import generalized

BINS = 28
"""Bars of a drawing."""

MOST_LEVELS = 20_000
"""Different values of a column up to which the rungs of its ladder are counted, in a second or two."""

COMMON = 10
"""Rows that a cell must stand for to be shown."""

Level = float | str
"""What a column is brought to, as `tables.Generalize` takes it."""


class Rung(NamedTuple):
    """A rung of generalization. level : as a document says it, None for the column as it is; words : for it; distinct :
    values that are left; alone : rows that no other one is like; example : a common cell
    """

    level: Level | None
    words: str
    distinct: int
    alone: int
    example: str


@dataclass(frozen=True)
class Shape:
    """A column without its rows.

    values : how many occur, as they are drawn: a missing cell is none; ends : words for those of the drawing
    """

    name: str
    type: Type
    values: int
    drawing: str
    ends: tuple[str, str]
    ladder: tuple[Rung, ...] = ()

    @classmethod
    def of(cls, column: Column, *, ladder: bool = True) -> Shape:
        """Draw a column. ladder : whether it may be generalized."""
        rungs = tuple(_ladder(column)) if ladder and len(column.levels) <= MOST_LEVELS else ()
        return cls(column.name, column.type, _occurring(column.levels, column.counts), *_draw(column), rungs)


def _draw(column: Column) -> tuple[str, tuple[str, str]]:
    """Draw the rows of a column by its values, with words for both ends: no end is an exact value."""
    heights, ends = _heights(column)
    label = f"rows of {column.name} by value" + (f", from {ends[0]} to {ends[1]}" if ends[0] else "")
    return small_bars(heights.tolist(), label), ends


def _heights(column: Column) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Count rows in bins of numbers and dates; of other columns, the most frequent values first."""
    sizes = column.counts.astype(np.float64)
    if column.levels.missing >= 0:
        sizes[column.levels.missing] = 0
    if column.levels.kind == "numeric":
        return _numeric(column, sizes)
    ranked = np.sort(sizes[sizes > 0])[::-1]
    rare = f"{ranked.size:,} values" if ranked.size > BINS else "rare"
    return ranked[:BINS], ("most frequent", rare) if ranked.size > 1 else ("", "")


def _numeric(column: Column, sizes: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[str, str]]:
    low, high = column.levels.low, column.levels.high
    known = np.isfinite(low) & np.isfinite(high) & (sizes > 0)
    if not known.any():
        return np.zeros(1), ("", "")
    values, weights = (low[known] + high[known]) / 2, sizes[known]
    bars, edges = np.histogram(values, bins=min(BINS, max(values.size, 1)), weights=weights)
    if column.type == "number":
        return bars, (_rounded(edges[0], down=True), _rounded(edges[-1], down=False))
    day = 86_400 if column.type == "datetime" else 1
    ends = [date.fromordinal(date(1970, 1, 1).toordinal() + math.floor(edge / day)) for edge in (edges[0], edges[-1])]
    one, other = (f"{end:%Y}" if ends[1].year > ends[0].year + 2 else f"{end:%b %Y}" for end in ends)
    return bars, (one, other)


def _rounded(value: float, *, down: bool) -> str:
    """A number to one digit, outwards.

    >>> _rounded(117.3, down=True), _rounded(84_211.0, down=False)
    ('100', '90,000')
    """
    if value == 0:
        return "0"
    power = 10.0 ** math.floor(math.log10(abs(value)))
    shown = (math.floor if down else math.ceil)(value / power) * power
    return f"{shown:,.0f}" if abs(shown) >= 1 else f"{shown:g}"


def _ladder(column: Column) -> Iterator[Rung]:
    """How far a column could be generalized, what is left of it, and who is still alone."""
    yield _rung(None, "as it is", column.levels, column.counts)
    for words, level in _levels(column):
        levels, codes = generalized(column, level)
        yield (rung := _rung(level, words, levels, np.bincount(codes, minlength=len(levels))))
        if rung.distinct < 2:
            return


def _rung(level: Level | None, words: str, levels: Levels, sizes: Any) -> Rung:
    most = int(sizes.argmax())
    example = levels.labels[most] if sizes[most] >= COMMON else ""
    return Rung(level, words, _occurring(levels, sizes), int(np.count_nonzero(sizes == 1)), example)


def _occurring(levels: Levels, sizes: Any) -> int:
    """How many values occur. sizes : (n_levels,) rows"""
    return int(np.count_nonzero(sizes)) - bool(levels.missing >= 0 and sizes[levels.missing])


def _levels(column: Column) -> Iterator[tuple[str, Level]]:
    if column.hierarchy is not None:
        yield from ((f"level {level}", level) for level in range(1, len(column.hierarchy.numbers)))
    elif column.type in ("date", "datetime"):
        yield from ((period, period) for period in ("month", "quarter", "year", "decade"))
    elif column.type == "number":
        yield from ((f"steps of {width:g}", width) for width in _widths(column))
    elif column.levels.by_prefix:
        longest = column.levels.longest
        yield from ((f"first {longest - hidden}", hidden) for hidden in range(1, min(longest, 5)))


def _widths(column: Column) -> list[float]:
    """A fiftieth, a tenth and a fifth of the range, rounded up to 1, 2 or 5 times a power of ten."""
    ends = column.levels.low[np.isfinite(column.levels.low)]
    span = float(np.ptp(ends)) if ends.size else 0.0
    if span <= 0:
        return []
    found = []
    for part in (50, 10, 5):
        power = 10.0 ** np.floor(np.log10(span / part))
        found.append(float(next(step * power for step in (1, 2, 5, 10) if step * power >= span / part)))
    return list(dict.fromkeys(found))
