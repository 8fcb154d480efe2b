"""Scales of charts: positions of values on an axis, and the values that are labeled."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from unmask.render.charts.boxes import GAP, MIDDLE, NARROW, RIGHT, Box, Label, place
from unmask.results.formats import format_tick, is_share, round_step, spans_widely
from unmask.results.table import Column


@dataclass(frozen=True)
class Scale:
    """An axis.

    Parameters
    ----------
    low, high : float
        Ends: values, logarithms of values, or numbers of categories.
    ticks : tuple of (value, label)
        Values that are labeled.
    title : str
        Name of the axis.
    log : bool
        True if equal distances multiply by as much.
    categories : tuple of str
        Categories in their order; empty for numbers.
    zero : float
        Position of 0 on a logarithmic scale, NaN if it has none.
    """

    low: float
    high: float
    ticks: tuple[tuple[Any, str], ...]
    title: str = ""
    log: bool = False
    categories: tuple[str, ...] = ()
    zero: float = math.nan

    def locate(self, value: Any) -> float:
        """Return the position of a value, from 0 to 1 between the ends; NaN if it has none."""
        return (self._place(value) - self.low) / ((self.high - self.low) or 1.0)

    def _place(self, value: Any) -> float:
        if self.categories:
            return self.categories.index(value)
        if value is None or not math.isfinite(value):
            return math.nan
        if not self.log:
            return float(value)
        return math.log10(value) if value > 0 else self.zero

    @property
    def labels(self) -> list[tuple[float, str]]:
        """Return positions and words of the labels."""
        return [(self.locate(value), label) for value, label in self.ticks]


def category_scale(values: Iterable[str], column: Column) -> Scale:
    """Return a scale of categories in the order of their first row."""
    names = tuple(dict.fromkeys(values))
    return Scale(-0.5, len(names) - 0.5, tuple((name, name) for name in names), column.label, categories=names)


def date_scale(days: Sequence[float], column: Column) -> Scale:
    """Return a scale of days since 1970, about five of which are labeled."""
    ends = sorted(set(days))
    labeled_days = ends[:: max(1, len(ends) // 4)]
    return Scale(ends[0], ends[-1], tuple((day, format_tick(column, day)) for day in labeled_days), column.label)


def value_scale(
    values: Iterable[float],
    column: Column,
    *,
    low: float = 0.0,
    high: float = 0.0,
    log: bool = False,
    rounded: bool = False,
    margins: tuple[float, float] = (0.0, 0.0),
    about: float = 4.0,
) -> Scale:
    """Return a scale that has all finite values.

    Parameters
    ----------
    values : iterable of float
        Values; those that are not finite are ignored.
    column : Column
        Column of the values: title and format of the labels.
    low, high : float
        Ends that the scale has at least; it starts at a lower value if there is one.
    log : bool
        True for a logarithmic scale if the values span more than a factor of `LOG_SPAN`; the title then states it.
    rounded : bool
        True if the scale ends at a label.
    margins : (float, float)
        Room below and above, as parts of the scale.
    about : float
        Approximate number of labels.
    """
    finite = [value for value in values if math.isfinite(value)]
    title = column.label if is_share(column) or not column.unit else f"{column.label} ({column.unit})"
    if log and spans_widely([*finite, high]):
        return _log_scale([*finite, *([high] if high > 0 else [])], column, title, margins)
    start, end = min([low, *finite]), max([high, *finite])
    end = end if end > start else start + (abs(start) or 1.0)
    step = round_step(end - start, about)
    step = max(step, 1.0) if all(isinstance(value, int) for value in finite) else step
    end = step * math.ceil(end / step - 1e-9) if rounded else end
    marked = [round(step * i, 12) for i in range(math.ceil(start / step - 1e-9), math.floor(end / step + 1e-9) + 1)]
    lower_margin, upper_margin = (margin * (end - start) for margin in margins)
    return Scale(
        start - lower_margin, end + upper_margin, tuple((value, format_tick(column, value)) for value in marked), title
    )


def _log_scale(values: Sequence[float], column: Column, title: str, margins: tuple[float, float]) -> Scale:
    """Return a logarithmic scale; 0 has a label of its own at its start."""
    positive = [value for value in values if value > 0]
    low, high = math.log10(min(positive)), math.log10(max(positive))
    has_zero = min(values) <= 0
    lower_margin, upper_margin = (
        margin * (high - low) for margin in (margins if has_zero else (max(margins), margins[1]))
    )
    zero = low - 0.12 * (high - low) if has_zero else math.nan
    values_marked = [*([0.0] if has_zero else []), *_log_ticks(low, high)]
    ticks = tuple((value, format_tick(column, value)) for value in values_marked)
    title = f"{title} (logarithmic)" if title else ""
    return Scale((zero if has_zero else low) - lower_margin, high + upper_margin, ticks, title, log=True, zero=zero)


def _log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten between two powers, and twice and five times these if there are few."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    if high - low >= 2:
        return [float(f"1e{power}") for power in range(first, last + 1, max(1, math.ceil((last - first) / 5)))]
    fine = (float(f"{factor}e{power}") for power in range(first - 1, last + 1) for factor in (1, 2, 5))
    return [value for value in fine if low - 1e-9 <= math.log10(value) <= high + 1e-9]


def spaced_labels(
    labels: Sequence[tuple[float, str]], y: float, *, left: float = 0.0, right: float = RIGHT
) -> Iterator[tuple[Label, bool]]:
    """Yield labels of an axis that do not touch each other, and whether there is room from a middle width on only."""
    occupied: list[Box] = []
    drawn = set()
    for narrow in (NARROW, MIDDLE):
        for i in (len(labels) - 1, *range(len(labels) - 1)) if labels else ():
            x, words = labels[i]
            places = [Label(words, x, y, anchor=anchor) for anchor in ("middle", "end" if x > 0.5 else "")]
            room = {"left": left + GAP, "right": right + GAP, "gap": GAP}
            placed = None if i in drawn else place(places, occupied, widths=(narrow,), **room)
            if placed is not None:
                drawn.add(i)
                yield placed
