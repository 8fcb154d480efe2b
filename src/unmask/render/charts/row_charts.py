"""Charts by row: dots with their intervals, people over their risk, and swings around a value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unmask.render.charts.boxes import GAP, LINE_HEIGHT, NARROW, Box, Label, place, text_width, wrap_text
from unmask.render.charts.scales import Scale, spaced_labels, value_scale
from unmask.render.charts.svg import (
    ACCENT_SOFT,
    AXIS,
    COLORS,
    GRID,
    INK,
    MISSED,
    SOFT,
    Drawing,
    draw_label,
    line,
    mark,
    rectangle,
    round_up,
    text,
    with_tooltip,
)
from unmask.results.blocks import Chart
from unmask.results.formats import estimate, format_tick, format_value, is_share
from unmask.results.table import Column, Table

Row = Mapping[str, Any]

EDGE = 8.0
"""Room at both sides for the half of a mark, in pixels."""


def _groups(table: Table, name: str) -> dict[str, list[Row]]:
    """Return rows by the value of a column, in the order of their first row."""
    groups: dict[str, list[Row]] = {}
    for row in table.rows:
        groups.setdefault(str(row[name]) if name else "", []).append(row)
    return groups


def _finite(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _labels_below(labels: Sequence[tuple[float, str]], y: float, side: float) -> Iterator[str]:
    """Draw the labels of a scale below it, as many as there is room for."""
    for label, second in spaced_labels(labels, y, right=side):
        yield draw_label(label, second, ink=SOFT)


def _ground(scale: Scale, top: float, bottom: float) -> Iterator[str]:
    """Draw the labels of a scale below, and a faint line above each."""
    yield from (line((x, top), (x, bottom), stroke=GRID) for x, _ in scale.labels)
    yield from _labels_below(scale.labels, bottom + 11, EDGE)


# --- dots ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Dots:
    chart: Chart
    columns: Mapping[str, Column]
    scale: Scale

    def value_words(self, row: Row) -> str:
        """Write the value of a row, or why it has none."""
        words = row[self.chart.text] if self.chart.text else ""
        if words or not _finite(row[self.chart.x]):
            return words or "not run"
        unit = "share" if is_share(self.columns[self.chart.x]) else ""
        return estimate(row[self.chart.x], unit, *(row[name] for name in (self.chart.low, self.chart.high) if name))

    def group(self, name: str, rows: Sequence[Row], y: float) -> tuple[list[str], float]:
        """Draw a group from `y` on: its name, then its dots. Return also where it ends."""
        is_single = len(rows) == 1 and not (self.chart.by and rows[0][self.chart.by])
        parts = [line((0, y), (1, y), stroke=GRID)] if name else []
        y += 4
        for words in wrap_text(name, NARROW, bold=True) if name and not is_single else ():
            parts.append(text(0, y + LINE_HEIGHT / 2, words, dx=-EDGE, look="bold"))
            y += LINE_HEIGHT
        for row in rows:
            shapes, y = self.dot(name if is_single else str(row[self.chart.by]), row, y, bold=is_single)
            parts += shapes
        return parts, y + 4

    def dot(self, name: str, row: Row, y: float, *, bold: bool) -> tuple[list[str], float]:
        """Draw the name at the left, the value at the right, and the dot below."""
        words = self.value_words(row)
        names = wrap_text(name, max(NARROW - text_width(words, bold=True) - 16, 90.0), bold=bold) if name else []
        look = "bold" if bold else ""
        parts = [text(0, y + LINE_HEIGHT * (i + 0.5), part, dx=-EDGE, look=look) for i, part in enumerate(names)]
        y += LINE_HEIGHT * max(len(names) - 1, 0)
        if not _finite(row[self.chart.x]):
            return [*parts, text(1, y + LINE_HEIGHT / 2, words, anchor="end", ink=SOFT, look="italic")], y + LINE_HEIGHT
        parts.append(text(1, y + LINE_HEIGHT / 2, words, anchor="end", look="bold"))
        tooltip = f"{name}: {words}{self.baseline_words(row)}".removeprefix(": ")
        parts.append(with_tooltip(tooltip, *self.shapes(row, y + LINE_HEIGHT + 9)))
        return parts, y + LINE_HEIGHT + 20

    def baseline_words(self, row: Row) -> str:
        """Write the value without the release."""
        column = self.columns.get(self.chart.baseline)
        return f"; {column.label} {format_value(column, row[column.name])}" if column else ""

    def shapes(self, row: Row, middle: float) -> Iterator[str]:
        """Draw the band from the baseline to the value, the interval, the tick of the baseline, and the mark."""
        style = int(row[self.chart.style]) if self.chart.style else 0
        color, value = COLORS[style % len(COLORS)], self.scale.locate(row[self.chart.x])
        x = self.scale.locate(row[self.chart.baseline]) if self.chart.baseline else math.nan
        if math.isfinite(x):
            yield rectangle(min(x, value), middle - 3.5, max(x, value), middle + 3.5, fill=color, opacity=0.3)
        low, high = (self.scale.locate(row[name]) if name else math.nan for name in (self.chart.low, self.chart.high))
        if low < high:
            yield line((low, middle), (high, middle), stroke=INK, width=1.6)
        if math.isfinite(x):
            yield line((x, middle - 7), (x, middle + 7), stroke=INK, width=2)
        yield mark(value, middle, style, color=color)


def draw_dots(chart: Chart, table: Table) -> Drawing:
    """Draw by row a dot with its interval, a black tick at its baseline, the gain as a band, and the value."""
    columns = {column.name: column for column in table.columns}
    names = [name for name in (chart.x, chart.low, chart.high, chart.baseline) if name]
    values = [value for name in names for value in table.values(name) if value is not None]
    dots = _Dots(chart, columns, value_scale(values, columns[chart.x], high=chart.x_max, rounded=True))
    baselines = _common_baseline(dots, table)
    y = LINE_HEIGHT + 4 if baselines else 2.0
    parts = []
    for name, rows in _groups(table, chart.y).items():
        shapes, y = dots.group(name, rows, y)
        parts += shapes
    ground = [*baselines, *_ground(dots.scale, LINE_HEIGHT if baselines else 0.0, y)]
    words = (
        f"{', '.join(filter(None, (name, str(row[chart.by]) if chart.by else '')))}: {dots.value_words(row)}"
        for name, rows in _groups(table, chart.y).items()
        for row in rows
    )
    label = f"{(chart.label or chart.title).removesuffix('.')}. {'; '.join(words)}."
    return Drawing((*ground, *parts), y + LINE_HEIGHT + 6, label, left=EDGE, right=EDGE)


def _common_baseline(dots: _Dots, table: Table) -> list[str]:
    """Draw the name of the baseline above, if all rows have the same."""
    column = dots.columns.get(dots.chart.baseline)
    values = [value for value in table.values(column.name) if _finite(value)] if column else []
    words = {format_value(column, value) for value in values} if column else set()
    if column is None or len(words) != 1:
        return []
    x = dots.scale.locate(values[0])
    return [text(x, 9, f"{column.label} {words.pop()}", ink=SOFT, anchor="end" if x > 0.5 else "")]


# --- people over their risk ------------------------------------------------------------------------------------------

BAR_HEIGHT = 64.0
"""Height of the tallest bar, in pixels."""

SIDE = 12.0
"""Room to the right of the bars, in pixels: half of the last label."""


@dataclass(frozen=True)
class _Bins:
    """Positions of the edges of bins: logarithmic; the bin below the second edge is as wide as the others."""

    chart: Chart
    column: Column
    edges: tuple[float, ...]
    max_people: float

    def locate(self, edge: float) -> float:
        """Return the position of an edge."""
        logs = [math.log10(value) for value in self.edges[1:]]
        start = logs[0] - ((logs[-1] - logs[0]) / max(len(logs) - 1, 1) or 1.0)
        return (math.log10(edge) - start) / (logs[-1] - start) if edge > self.edges[0] else 0.0

    @property
    def limits(self) -> list[float]:
        """Return the limits at which a bin ends."""
        return [value for value in self.chart.x_rules.values() if value in self.edges]

    def bar(self, row: Row, floor: float) -> Box:
        """Return the bar of a bin: as high as people are many, few are drawn high enough to be seen."""
        low, high = row[self.chart.x]
        people = row[self.chart.y]
        height = 2.0 if isinstance(people, str) else max(2.0, BAR_HEIGHT * people / self.max_people)
        return Box(self.locate(low), 0, self.locate(high), 0, floor - height, floor)

    def color(self, row: Row, default: str) -> str:
        """Return the color of a bin: another one above the limit."""
        return MISSED if self.limits and row[self.chart.x][0] >= self.limits[0] else default


def draw_histogram(chart: Chart, table: Table) -> Drawing:
    """Draw by series how many people run which risk, on a logarithmic axis."""
    columns = {column.name: column for column in table.columns}
    edges = tuple(sorted({edge for ends in table.values(chart.x) for edge in ends}))
    counts = [value for value in table.values(chart.y) if not isinstance(value, str)]
    bins = _Bins(chart, columns[chart.x], edges, max([chart.y_max, 1.0, *counts]))
    y, parts, described = 0.0, [], []
    for name, rows in _groups(table, chart.by).items():
        shapes, y = _strip(bins, columns[chart.y], name, rows, y + 8.0 if y else 0.0)
        parts += shapes
        described.append(": ".join(filter(None, (name, str(rows[0][chart.text]) if chart.text else ""))))
    labels = [(bins.locate(edge), format_tick(columns[chart.x], edge)) for edge in edges]
    parts += [line((x, y), (x, y + 4), stroke=AXIS) for x, _ in labels]
    parts += _labels_below(labels, y + 14, SIDE)
    label = f"{(chart.label or chart.title).removesuffix('.')}. {'; '.join(described)}."
    return Drawing(tuple(parts), y + 24, label, right=SIDE)


def _strip(bins: _Bins, column: Column, name: str, rows: Sequence[Row], y: float) -> tuple[list[str], float]:
    """Draw a strip from `y` on, and return its floor: its name, the words at its right, and bars with their figures."""
    chart, words = bins.chart, str(rows[0][bins.chart.text]) if bins.chart.text else ""
    style = int(rows[0][chart.style]) if chart.style else 0
    names = wrap_text(name, max(NARROW - text_width(words) - 16, 80.0), bold=True)
    parts = [text(0, y + LINE_HEIGHT * (i + 0.5), part, look="bold") for i, part in enumerate(names)]
    filled = [row for row in rows if row[chart.y]]
    ink = MISSED if any(bins.color(row, SOFT) == MISSED for row in filled) else SOFT
    parts += [text(1, y + LINE_HEIGHT / 2, words, anchor="end", ink=ink)] if words else []
    top = y + LINE_HEIGHT * len(names) + 8
    floor = top + 10 + BAR_HEIGHT
    for row in filled:
        bar, fill = bins.bar(row, floor), bins.color(row, COLORS[style % len(COLORS)])
        tooltip = f"{format_value(bins.column, row[chart.x])}: {format_value(column, row[chart.y])} {column.label}"
        parts.append(
            with_tooltip(tooltip, rectangle(bar.left, bar.top, bar.right, bar.bottom, fill=fill, outlined=True))
        )
    limits = [bins.locate(limit) for limit in bins.limits]
    parts += [line((x, top), (x, floor), stroke=MISSED, width=1.4, dash="4 3") for x in limits]
    heading = Label(words, 1.0, y + LINE_HEIGHT / 2, anchor="end").box
    parts += _figures(bins, column, filled, floor, [heading, *(Box(x, -1, x, 1, top, floor) for x in limits)])
    return [*parts, line((0, floor), (1, floor), stroke=AXIS)], floor


def _figures(bins: _Bins, column: Column, rows: Sequence[Row], floor: float, occupied: list[Box]) -> Iterator[str]:
    """Draw how many people each bar is, from the highest risk on, where there is room."""
    occupied += [bins.bar(row, floor) for row in rows]
    for row in reversed(rows):
        bar, words = bins.bar(row, floor), format_value(column, row[bins.chart.y])
        places = ((bar.left + bar.right) / 2, 0.0, "middle"), (bar.right, -4.0, "end"), (bar.left, 4.0, "")
        labels = [Label(words, x, bar.top - 8, dx, anchor) for x, dx, anchor in places]
        placed = place(labels, occupied, left=2, right=SIDE)
        if placed is not None:
            occupied[-1] = occupied[-1].widened(GAP)
            yield draw_label(*placed, ink=bins.color(row, SOFT))


# --- swings ----------------------------------------------------------------------------------------------------------


def draw_tornado(chart: Chart, table: Table) -> Drawing:
    """Draw by row two bars around the baseline: the first above and dark, the second below and light."""
    columns = {column.name: column for column in table.columns}
    side = round_up(10 + max((text_width(str(words)) for words in table.values(chart.text)), default=0.0))
    values = [*table.values(chart.x), *table.values(chart.baseline)]
    scale = value_scale(values, columns[chart.x], about=3)
    groups, top = _groups(table, chart.y), LINE_HEIGHT + 2
    bottom = top + 52.0 * len(groups)
    baseline = next(iter(table.values(chart.baseline)), 0.0)
    now = f"{columns[chart.baseline].label} {format_value(columns[chart.baseline], baseline)}"
    parts = [*_ground(scale, top, bottom), text(scale.locate(baseline), 9, now, anchor="middle")]
    for i, (name, rows) in enumerate(groups.items()):
        y = top + 52.0 * i
        parts += [line((0, y), (1, y), stroke=GRID), text(0, y + 11, name, dx=-side, look="bold")]
        parts += _swing(chart, columns[chart.x], scale, rows, y + 22)
        parts.append(line((scale.locate(baseline), y + 20), (scale.locate(baseline), y + 48), stroke=INK, width=1.2))
    parts.append(text(0.5, bottom + 30, scale.title, anchor="middle"))
    label = f"{(chart.label or chart.title).removesuffix('.')}. {now}. From the widest swing: {', '.join(groups)}."
    return Drawing(tuple(parts), bottom + 42, label, left=side, right=side)


def _swing(chart: Chart, column: Column, scale: Scale, rows: Sequence[Row], y: float) -> Iterator[str]:
    """Draw the bars of a row, each with its words at its end, on the side to which it or else the other one points."""
    ends = [(scale.locate(row[chart.x]), scale.locate(row[chart.baseline])) for row in rows]
    for i, (row, (x, base)) in enumerate(zip(rows, ends, strict=True)):
        other_ends = [other for j, (other, _) in enumerate(ends) if j != i]
        leftward = x < base or (
            x == base and (any(other > base for other in other_ends) or (i == 0 and base in other_ends))
        )
        bar = rectangle(min(base, x), y + 13 * i, max(base, x), y + 13 * i + 11, fill=ACCENT_SOFT if i else COLORS[0])
        tooltip = f"{row[chart.y]} {row[chart.text]}: {column.label.lower()} {format_value(column, row[chart.x])}"
        yield with_tooltip(tooltip, bar)
        anchor, dx = ("end", -5) if leftward else ("", 5)
        yield text(x, y + 13 * i + 6, str(row[chart.text]), dx=dx, anchor=anchor)
