"""Charts with two axes: lines, steps, points and bars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from unmask.render.charts.boxes import LINE_HEIGHT, NARROW, RIGHT, Box, Label, overlap, place, text_width, wrap_text
from unmask.render.charts.scales import Scale, category_scale, date_scale, spaced_labels, value_scale
from unmask.render.charts.svg import (
    ACCENT_SOFT,
    AXIS,
    COLORS,
    DASHES,
    GRID,
    INK,
    SHADES,
    SOFT,
    Drawing,
    LegendEntry,
    bubble,
    draw_label,
    line,
    link,
    mark,
    path,
    pointer_target,
    rectangle,
    ring,
    round_up,
    text,
    with_tooltip,
)
from unmask.results.blocks import Chart
from unmask.results.formats import DATE, format_value
from unmask.results.table import Column, Table

Row = Mapping[str, Any]
Position = tuple[float, float]
"""A part of the width, and pixels from the top."""

HEIGHTS = {"lines": 200.0, "steps": 200.0, "points": 290.0, "bars": 130.0}
"""Height of the plane of each form, in pixels."""

MAX_RADIUS = 17.0
"""Radius of the largest bubble, in pixels."""

MARK_RADIUS = 5.4
"""Radius of the mark of a point, in pixels."""

RING_RADIUS = 10.0
"""Radius of the ring around a point, in pixels."""

MAX_MARKS = 12
"""Number of values of a line from which not every one has a mark."""

MAX_DESCRIBED = 40
"""Number of points that the description lists."""


@dataclass(frozen=True)
class Series:
    """Rows with the same name, color and shape: `vertices` are joined by a line, `points` are marked."""

    name: str
    style: int
    color: str
    vertices: list[Row]
    points: list[Row]

    @property
    def dash(self) -> str:
        """Return the stroke of the line."""
        return DASHES[self.style % len(DASHES)]


@dataclass(frozen=True)
class Plane:
    """Two scales, and the room between them in pixels."""

    chart: Chart
    columns: Mapping[str, Column]
    x: Scale
    y: Scale
    left: float
    top: float
    largest: float

    @property
    def height(self) -> float:
        """Return the pixels from the horizontal axis to the top."""
        return HEIGHTS[self.chart.form]

    @property
    def bottom(self) -> float:
        """Return the position of the horizontal axis, in pixels."""
        return self.top + self.height

    def down(self, value: float | None) -> float:
        """Return the position of a value of the vertical axis, in pixels."""
        return self.bottom - self.y.locate(value) * self.height

    def position(self, row: Row) -> Position:
        """Return the position of a row."""
        return self.x.locate(row[self.chart.x]), self.down(row[self.chart.y])

    def interval(self, row: Row) -> tuple[float, float] | None:
        """Return the upper and the lower end of the interval of a row; an end beyond the scale is cut."""
        if not self.chart.low or row[self.chart.low] is None or row[self.chart.high] is None:
            return None
        parts = (self.y.locate(row[name]) for name in (self.chart.high, self.chart.low))
        high, low = (min(max(part, 0.0), 1.0) if math.isfinite(part) else 0.0 for part in parts)
        return self.bottom - high * self.height, self.bottom - low * self.height

    def radius(self, row: Row) -> float:
        """Return the radius of the mark of a row."""
        if not self.chart.size:
            return RING_RADIUS if self.chart.ring and row[self.chart.ring] else MARK_RADIUS
        return max(2.2, MAX_RADIUS * math.sqrt(row[self.chart.size] / self.largest))

    def path(self, series: Series) -> list[Position]:
        """Return the corners of the line of a series."""
        corners = list(map(self.position, series.vertices))
        if self.chart.form != "steps" and not self.chart.front:
            return corners
        last = [(1.0, corners[-1][1])] if corners and self.chart.form == "steps" else corners[-1:]
        return [corner for a, b in pairwise(corners) for corner in (a, (b[0], a[1]))] + corners[-1:] + last

    def words(self, row: Row, *, labels: bool = True) -> str:
        """Write the values of a row, with the labels of their columns."""
        chart = self.chart
        names = [str(row[name]) for name in dict.fromkeys((chart.text, chart.by)) if name and row[name]]
        present = (name for name in self.value_names if row[name] is not None or name == self.chart.y)
        cells = (self._cell(self.columns[name], row, labels=labels) for name in present)
        return ": ".join(filter(None, (", ".join(names), ("; " if labels else ", ").join(cells))))

    @property
    def value_names(self) -> list[str]:
        """Return the columns with the values of a row: those on the axes, and all others with a label."""
        axes, names = (self.chart.x, self.chart.y), (self.chart.by, self.chart.text)
        return [name for name, column in self.columns.items() if name in axes or (column.label and name not in names)]

    @staticmethod
    def _cell(column: Column, row: Row, *, labels: bool) -> str:
        value = format_value(column, row[column.name])
        return f"{column.label}: {value}" if labels and column.label else value


def draw_plane(chart: Chart, table: Table) -> Drawing:
    """Draw lines, steps, points or bars."""
    plane, title = _plane(chart, table)
    all_series = _series(chart, table)
    diagonal = _diagonal(plane) if chart.diagonal else []
    occupied = _obstacles(plane, all_series, diagonal)
    parts = [text(0, 8 + LINE_HEIGHT * row, words, dx=-plane.left) for row, words in enumerate(title)]
    parts += _axes(plane)
    parts += _bars(plane, table) if chart.form == "bars" else ()
    parts += _vertical_rules(plane, LINE_HEIGHT * len(title) + (10.0 if title else 8.0))
    parts += _rules(plane, occupied)
    parts += [path(diagonal, stroke=SHADES[2], width=1.2, dash=DASHES[2], opacity=0.65)] if diagonal else []
    parts += [shape for series in all_series for shape in _line(plane, series)]
    parts += _points(plane, all_series)
    names = _line_names(plane, all_series, occupied)
    parts += [*names, *_point_names(plane, all_series, occupied)]
    foot = wrap_text(plane.x.title, NARROW + plane.left) if plane.x.title else []
    end = plane.bottom + 14 + LINE_HEIGHT
    parts += [text(1, end + LINE_HEIGHT * row, words, anchor="end") for row, words in enumerate(foot)]
    legend = () if names else _legend(chart, all_series)
    label = _description(plane, table, all_series)
    height = end - 6 + LINE_HEIGHT * len(foot)
    role = "group" if chart.link else "img"
    return Drawing(tuple(filter(None, parts)), height, label, plane.left, legend=legend, kind="plane", role=role)


# --- what is drawn ---------------------------------------------------------------------------------------------------


def _series(chart: Chart, table: Table) -> list[Series]:
    """Return the series in the order of their first row, and within each what is joined and what is marked."""
    groups: dict[str, list[Row]] = {}
    for row in table.rows if chart.form != "bars" else ():
        groups.setdefault(str(row[chart.by]) if chart.by else "", []).append(row)
    return [_one_series(chart, name, place, rows) for place, (name, rows) in enumerate(groups.items())]


def _one_series(chart: Chart, name: str, place: int, rows: Sequence[Row]) -> Series:
    marks = [str(row[chart.mark]) if chart.mark else "point" for row in rows]
    is_line = chart.form in ("lines", "steps")
    joined = {"point"} if is_line or chart.front else {"curve"}
    marked = {"hollow"} if is_line else {"point", "hollow"}
    vertices = [row for row, kind in zip(rows, marks, strict=True) if kind in joined and row[chart.y] is not None]
    points = [row for row, kind in zip(rows, marks, strict=True) if kind in marked]
    style = int(rows[0][chart.style]) if chart.style else place
    palette = COLORS if chart.style and "curve" not in marks else SHADES
    return Series(name, style, palette[style % len(palette)], vertices, points)


def _plane(chart: Chart, table: Table) -> tuple[Plane, list[str]]:
    """Return the plane, and the lines of the title above it."""
    columns = {column.name: column for column in table.columns}
    y_names = filter(None, (chart.y, chart.baseline))
    y_values = [value for name in y_names for value in table.values(name) if value is not None]
    finite = [value for value in y_values if math.isfinite(value)]
    spread = (max(finite) - min(finite) or 0.1 * abs(max(finite)) or 0.1) if finite else 0.1
    y = value_scale(
        [*y_values, *chart.rules.values()],
        columns[chart.y],
        low=min(finite, default=0.0) - 0.08 * spread if chart.front else 0.0,
        high=max(chart.y_max, max(finite) + 0.08 * spread if chart.front and finite else 0.0),
        log="y" in chart.log,
        rounded=chart.form != "points",
        margins=(0.0, 0.0) if chart.form != "points" else (0.07, 0.09) if chart.size else (0.0, 0.06),
    )
    x = _x_scale(chart, columns[chart.x], table.values(chart.x))
    left = round_up(10 + max((text_width(label) for _, label in y.ticks), default=0.0))
    title = wrap_text(y.title, NARROW) if y.title else []
    heading = LINE_HEIGHT * len(title) + (10.0 if title else 8.0)
    rules = sum(len(words) for _, words, _ in _rule_words(chart, x))
    largest = max(filter(None, table.values(chart.size)), default=1.0) if chart.size else 1.0
    return Plane(chart, columns, x, y, left, heading + LINE_HEIGHT * rules, largest), title


def _x_scale(chart: Chart, column: Column, values: Sequence[Any]) -> Scale:
    if any(isinstance(value, str) for value in values):
        return category_scale(values, column)
    ends = [end for value in values for end in (value if isinstance(value, tuple) else (value,))]
    if column.unit == DATE:
        return date_scale(ends, column)
    return value_scale(
        [*ends, *chart.x_rules.values()],
        column,
        low=min(ends, default=0.0) if chart.form == "bars" else 0.0,
        high=chart.x_max,
        log="x" in chart.log,
        margins=(0.0, 0.0) if chart.form != "points" else (0.07, 0.09) if chart.size else (0.0, 0.05),
    )


def _axes(plane: Plane) -> Iterator[str]:
    for part, words in plane.y.labels:
        y = plane.bottom - part * plane.height
        yield line((0, y), (1, y), stroke=GRID)
        yield text(0, y, words, dx=-8, anchor="end", ink=SOFT)
    for label, second in spaced_labels(plane.x.labels, plane.bottom + 14, left=plane.left):
        yield line((label.x, plane.bottom), (label.x, plane.bottom + 4), stroke=AXIS)
        yield draw_label(label, second, ink=SOFT)
    yield line((0, plane.bottom), (1, plane.bottom), stroke=AXIS)


def _bars(plane: Plane, table: Table) -> Iterator[str]:
    """Draw bars; with a baseline, bars are the baseline and a stepped line is the value."""
    chart, corners = plane.chart, []
    for row in table.rows:
        x = row[chart.x]
        middle, half = (
            (plane.x.locate(x), 0.5 / (plane.x.high - plane.x.low)) if isinstance(x, str) else (math.nan, 0.0)
        )
        left, right = (middle - half, middle + half) if isinstance(x, str) else map(plane.x.locate, x)
        corners += [(left, plane.down(row[chart.y])), (right, plane.down(row[chart.y]))]
        top = plane.down(row[chart.baseline or chart.y])
        fill = ACCENT_SOFT if chart.baseline else COLORS[0]
        yield with_tooltip(plane.words(row), rectangle(left, top, right, plane.bottom, fill=fill, outlined=True))
    yield path(corners, stroke=COLORS[0]) if chart.baseline else ""


def _line(plane: Plane, series: Series) -> Iterator[str]:
    """Draw the line of a series, and marks on some of its values; a front or curve has none."""
    thin = 1.4 if plane.chart.front else 2.0
    opacity = 0.65 if plane.chart.front else 1.0
    yield path(plane.path(series), stroke=series.color, width=thin, dash=series.dash, opacity=opacity)
    if plane.chart.form not in ("lines", "steps"):
        return
    finite = [row for row in series.vertices if all(map(math.isfinite, plane.position(row)))]
    for row in finite[:: max(1, math.ceil(len(finite) / MAX_MARKS))]:
        x, y = plane.position(row)
        marked = plane.chart.form == "lines"
        shape = mark(x, y, series.style, color=series.color, radius=4.2) if marked else pointer_target(x, y)
        yield with_tooltip(plane.words(row), shape)


def _points(plane: Plane, all_series: Sequence[Series]) -> Iterator[str]:
    """Draw the marks of points: large ones and hollow ones first."""
    points = [(series, row) for series in all_series for row in series.points]
    for series, row in sorted(points, key=lambda p: (-plane.radius(p[1]), not _is_hollow(plane.chart, p[1]))):
        if all(map(math.isfinite, plane.position(row))):
            yield _point(plane, series, row)


def _point(plane: Plane, series: Series, row: Row) -> str:
    """Draw a mark with its interval, its ring, its values and its link."""
    chart, (x, y), ends = plane.chart, plane.position(row), plane.interval(row)
    interval = line((x, ends[1]), (x, ends[0]), stroke=INK, width=1.2) if ends else ""
    if chart.size:
        shape = bubble(x, y, color=series.color, radius=plane.radius(row))
    else:
        hollow = _is_hollow(chart, row)
        shape = mark(x, y, series.style, color=series.color, radius=MARK_RADIUS, hollow=hollow)
    words = plane.words(row)
    point = interval + with_tooltip(words, _ring(chart, row, x, y), shape)
    return link(str(row[chart.link]), words, x, y, point) if chart.link else point


def _ring(chart: Chart, row: Row, x: float, y: float) -> str:
    """Draw the ring of a point that has one."""
    dash = "3 3" if chart.ring and row[chart.ring] == "dashed" else ""
    return ring(x, y, RING_RADIUS, dash=dash) if chart.ring and row[chart.ring] else ""


def _is_hollow(chart: Chart, row: Row) -> bool:
    return bool(chart.mark) and row[chart.mark] == "hollow"


def _diagonal(plane: Plane) -> list[Position]:
    """Return the positions where both axes have the same value, from end to end of the shorter one."""
    scales = (plane.x, plane.y)
    low, high = (limit(10**end if scale.log else end for scale, end in ends) for limit, ends in (
        (max, [(scale, scale.low) for scale in scales]), (min, [(scale, scale.high) for scale in scales]),
    ))  # fmt: skip
    pieces = 1 if plane.x.log == plane.y.log else 40
    values = (low + (high - low) * i / pieces for i in range(pieces + 1))
    return [(plane.x.locate(value), plane.down(value)) for value in values]


# --- limit lines -----------------------------------------------------------------------------------------------------


def _rule_words(chart: Chart, x: Scale) -> list[tuple[float, list[str], str]]:
    """Return position, lines of words and anchor of each vertical limit line, the largest value first."""
    rules = sorted(chart.x_rules.items(), key=lambda rule: -rule[1] if math.isfinite(rule[1]) else 0.0)
    words = []
    for label, value in rules:
        position = x.locate(value)
        if not math.isfinite(position):
            continue
        anchor = "end" if position > 0.5 and (1 - position) * NARROW + RIGHT < text_width(label) + 8 else ""
        room = position * NARROW if anchor else (1 - position) * NARROW + RIGHT
        words.append((position, wrap_text(label, max(room - 8, 60.0)), anchor))
    return words


def _vertical_rules(plane: Plane, y: float) -> Iterator[str]:
    """Draw vertical limit lines; each has lines of words of its own above the plane, over all lines."""
    y += 6
    labels = []
    for style, (x, words, anchor) in enumerate(_rule_words(plane.chart, plane.x)):
        yield line((x, plane.bottom), (x, y - 8), stroke=SOFT, width=1.1, dash=DASHES[style % len(DASHES)])
        for row, label in enumerate(words):
            labels.append(text(x, y + LINE_HEIGHT * row, label, dx=-5 if anchor else 5, anchor=anchor, look="halo"))
        y += LINE_HEIGHT * len(words)
    yield from labels


def _rules(plane: Plane, occupied: list[Box]) -> Iterator[str]:
    """Draw horizontal limit lines, with their words above or below at the end where least is drawn."""
    for words, value in plane.chart.rules.items():
        y = plane.down(value)
        if not math.isfinite(y):
            continue
        rows = [middle for middle in (y - 11, y + 11) if middle < plane.bottom - 6]
        sides = ((0.0, 4.0, ""), (1.0, -4.0, "end"))
        labels = [Label(words, x, middle, dx, anchor) for middle in rows for x, dx, anchor in sides]
        best_label = min(labels, key=lambda label: sum(overlap(label.box, placed) for placed in occupied))
        occupied += [best_label.box, Box(0, 0, 1, 0, y - 1, y + 1)]
        yield line((0, y), (1, y), stroke=SOFT, width=1.2, dash=DASHES[1])
        yield draw_label(best_label, look="halo")


# --- names -----------------------------------------------------------------------------------------------------------


def _obstacles(plane: Plane, all_series: Sequence[Series], diagonal: Sequence[Position]) -> list[Box]:
    """Return what names keep clear of: points, their intervals, and lines in pieces."""
    boxes = []
    for row in (row for series in all_series for row in series.points):
        (x, y), reach = plane.position(row), plane.radius(row) + 1.5
        ends = plane.interval(row)
        boxes += [Box(x, -reach, x, reach, y - reach, y + reach)]
        boxes += [Box(x, -1, x, 1, *ends)] if ends else []
    uprights = (plane.x.locate(value) for value in plane.chart.x_rules.values())
    boxes += [Box(x, -1, x, 1, 0, plane.bottom) for x in uprights if math.isfinite(x)]
    for positions in (*map(plane.path, all_series), diagonal):
        for a, b in pairwise(positions):
            boxes += _pieces(a, b) if all(map(math.isfinite, (*a, *b))) else ()
    return boxes


def _pieces(a: Position, b: Position) -> Iterator[Box]:
    """Yield a line as boxes: one if it is level or upright, else one every few pixels."""
    straight = a[0] == b[0] or a[1] == b[1]
    n = 1 if straight else max(1, math.ceil(max(abs(a[1] - b[1]) / 4, abs(a[0] - b[0]) * 100)))
    places = [(a[0] + (b[0] - a[0]) * i / n, a[1] + (b[1] - a[1]) * i / n) for i in range(n + 1)]
    for (x, y), (x2, y2) in pairwise(places):
        yield Box(min(x, x2), -2, max(x, x2), 2, min(y, y2) - 2, max(y, y2) + 2)


def _inside(plane: Plane, labels: Iterable[Label]) -> list[Label]:
    """Return the labels that are between the top and the bottom of the plane."""
    return [label for label in labels if label.box.top >= plane.top - 8 and label.box.bottom < plane.bottom]


def _point_names(plane: Plane, all_series: Sequence[Series], occupied: list[Box]) -> Iterator[str]:
    """Draw each name once, next to its rightmost point, if there is room at every width."""
    chart = plane.chart
    rows = [row for series in all_series for row in series.points if chart.text and row[chart.text]]
    rows = [row for row in rows if all(map(math.isfinite, plane.position(row)))]
    rightmost = {str(row[chart.text]): row for row in sorted(rows, key=plane.position)}
    candidates = rows if chart.size else list(rightmost.values())
    for row in sorted(candidates, key=lambda row: (-plane.radius(row), -plane.position(row)[0])):
        placed = place(_inside(plane, _place_candidates(plane, row)), occupied)
        yield draw_label(*placed, look="halo") if placed else ""


def _place_candidates(plane: Plane, row: Row) -> Iterator[Label]:
    """Yield the name of a point to its sides, above and below it, and at its corners."""
    (x, y), reach = plane.position(row), plane.radius(row) + 4
    near, up = reach - 4, reach + 6
    sides = [(reach, "", 0.0), (-reach, "end", 0.0), (0.0, "middle", -up), (0.0, "middle", up)]
    corners = [(near, "", -14.0), (near, "", 14.0), (-near, "end", -14.0), (-near, "end", 14.0)]
    for dx, anchor, shift in sides + corners:
        yield Label(str(row[plane.chart.text]), x, y + shift, dx, anchor)


def _line_names(plane: Plane, all_series: Sequence[Series], occupied: list[Box]) -> list[str]:
    """Draw the names of lines at their ends; none if one of them has no room there."""
    if plane.chart.form not in ("lines", "steps") or len(all_series) < 2:
        return []
    boxes, names = [*occupied], []
    for series in all_series:
        ends = [(x, y) for x, y in reversed(plane.path(series)) if x > 0.8]
        labels = (Label(series.name, x, y + shift, anchor="end") for x, y in ends for shift in (-13.0, 13.0))
        placed = place(_inside(plane, labels), boxes, widths=(NARROW,))
        if placed is None:
            return []
        names.append(draw_label(*placed, ink=series.color, look="halo"))
    occupied[:] = boxes
    return names


def _legend(chart: Chart, all_series: Sequence[Series]) -> tuple[LegendEntry, ...]:
    """Return the legend; a single entry needs none."""
    entries = [LegendEntry(series.name, _key(chart, series)) for series in all_series if series.name]
    if chart.diagonal:
        entries.append(LegendEntry(chart.diagonal, line((0, 7), (1, 7), stroke=SHADES[2], width=1.2, dash=DASHES[2])))
    return tuple(entries) if len(entries) > 1 else ()


def _key(chart: Chart, series: Series) -> str:
    """Draw the stroke and the mark of a series."""
    is_line = chart.form in ("lines", "steps") or not series.points
    stroke = line((0, 7), (1, 7), stroke=series.color, width=2.0, dash=series.dash) if is_line else ""
    if chart.form == "steps" or not (series.points or chart.form == "lines"):
        return stroke
    hollow = chart.form == "points" and all(_is_hollow(chart, row) for row in series.points)
    return stroke + mark(0.5, 7, series.style, color=series.color, radius=4.2 if is_line else 5.0, hollow=hollow)


# --- description -----------------------------------------------------------------------------------------------------


def _description(plane: Plane, table: Table, all_series: Sequence[Series]) -> str:
    """Describe the chart in words, with its numbers."""
    chart = plane.chart
    head = (chart.label or chart.title).removesuffix(".")
    if chart.form == "bars":
        largest = max(table.rows, key=lambda row: row[chart.baseline or chart.y], default=None)
        return f"{head}. Most: {plane.words(largest)}." if largest else f"{head}."
    if chart.form == "points":
        rows = sorted((row for series in all_series for row in series.points), key=lambda row: -plane.radius(row))
        ending = f"; and {len(rows) - MAX_DESCRIBED:,} more" if len(rows) > MAX_DESCRIBED else ""
        body = "; ".join(plane.words(row, labels=False) for row in rows[:MAX_DESCRIBED]) + ending
        head += f". {', '.join(plane.columns[name].label for name in plane.value_names)}"
    else:
        body = "; ".join(filter(None, (_ends(plane, series) for series in all_series)))
        head += _range(plane, [row[chart.x] for series in all_series for row in series.vertices])
    marked = ", ".join((*chart.rules, *chart.x_rules))
    return f"{head}: {body}.{f' Marked: {marked}.' if marked else ''}"


def _range(plane: Plane, values: Sequence[Any]) -> str:
    """Write what the horizontal axis shows."""
    if not values:
        return ""
    ends = (values[0], values[-1]) if isinstance(values[0], str) else (min(values), max(values))
    column = plane.columns[plane.chart.x]
    low, high = (format_value(column, end) for end in ends)
    label = column.label
    label = f"{label[0].lower()}{label[1:]}" if label[1:2].islower() else label
    return f", by {label}, from {low} to {high}" if label else f", from {low} to {high}"


def _ends(plane: Plane, series: Series) -> str:
    """Write the first and the last value of a line."""
    column = plane.columns[plane.chart.y]
    values = [row[plane.chart.y] for row in series.vertices]
    finite = [value for value in values if value is not None and math.isfinite(value)]
    ends = " to ".join(format_value(column, value) for value in (finite[0], finite[-1])) if finite else "no value"
    return f"{series.name}: {ends}" if series.name else ends
