"""The charts of attacks on a network, as static SVG: lines over ties, certainty, seeds, overlap, passes, percentiles.

Values start at 0, and room for words is reckoned here, so that the same values are the same bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unmask.reports.canvas import (
    CHARACTER,
    COLOURS,
    DASHES,
    INK,
    LEGEND,
    PANEL,
    SHAPES,
    Frame,
    altair,
    as_is,
    axis,
    chart,
    draw,
    short,
)

HEIGHT = 200.0

RIGHT = 20

TICK_ROOM = 30
"""Pixels from one label of the horizontal scale to the next."""

SIZES = {"circle": 44, "square": 40, "triangle-up": 56, "diamond": 78, "cross": 60, "triangle-down": 56}
"""Areas of marks that look equally large."""

MARKS = 12
"""Marks on one line, about."""

SHADES = ("#0f2f4f", "#5b86ad", "#8c8c8c", "#3d3d3d")
"""Colours of lines that are no attacks."""

DIAGONAL: dict[str, Any] = {"color": "#9aa1a8", "strokeWidth": 1.2, "strokeDash": [2, 3]}


@dataclass(frozen=True)
class Line:
    """A named line through points, in the look of number `style`; points without a finite value are gaps.

    shade : whether it is no attack, and has a shade instead of a colour
    """

    name: str
    points: tuple[tuple[float, float], ...]
    style: int
    shade: bool = False

    @property
    def colour(self) -> str:
        """Its colour."""
        colours = SHADES if self.shade else COLOURS
        return colours[self.style % len(colours)]

    @property
    def dash(self) -> list[int]:
        """Its stroke."""
        return list(DASHES[self.style % len(DASHES)])

    @property
    def shape(self) -> str:
        """The shape of its marks."""
        return SHAPES[self.style % len(SHAPES)]


@dataclass(frozen=True)
class Scale:
    """A horizontal scale: its ends, the values that are labelled and their words (several lines each), its title."""

    left: float
    right: float
    ticks: tuple[tuple[float, tuple[str, ...]], ...]
    title: str

    @property
    def lines(self) -> int:
        """Lines of the labels."""
        return max((len(words) for _, words in self.ticks), default=1)

    def axis(self) -> Any:
        """The axis; of two labels without room between them the second is left out by whoever makes the scale."""
        values, words = [value for value, _ in self.ticks], [list(said) for _, said in self.ticks]
        shown = f"{json.dumps(words)}[indexof({json.dumps(values)}, datum.value)]"
        return altair().Axis(values=values, labelExpr=shown, title=self.title, labelOverlap=False, labelFlush=False)


def shares(title: str) -> Scale:
    """From 0 to 100 %."""
    ticks = tuple((round(0.2 * i, 12), (f"{20 * i}\u00a0%",)) for i in range(6))
    return Scale(0.0, 1.0, ticks, title)


def classes(names: Sequence[tuple[str, ...]], title: str) -> Scale:
    """Classes in their order, at 0, 1, 2 ... with half a class of room at both ends."""
    return Scale(-0.5, len(names) - 0.5, tuple((float(i), name) for i, name in enumerate(names)), title)


def counts(values: Sequence[int], title: str) -> Scale:
    """Whole numbers from the least to the most, equal distances adding as much."""
    low, high = min(values), max(max(values), min(values) + 1)
    step = next(f * 10**p for p in range(20) for f in (1, 2, 5) if f * 10**p * 8 >= high - low)
    ticks = [low, *(value for value in range(step, high + 1, step) if value - low >= step / 2)]
    pad = 0.03 * (high - low)
    return Scale(low - pad, high + pad, tuple((float(value), (f"{value:,}",)) for value in ticks), title)


def magnitudes(values: Sequence[int], title: str) -> Scale:
    """Counts from the least to the most, equal distances multiplying by as much; given values are labelled.

    Use `magnitude` to place a value; a label without room is left out, the last one is kept.
    """
    places = {value: magnitude(value) for value in sorted(set(values))}
    low, high = min(places.values()), max(places.values())
    pad = 0.04 * (high - low) or 0.5
    room = TICK_ROOM / (PANEL - 70) * (high - low + 2 * pad)
    ticks: list[tuple[float, tuple[str, ...]]] = []
    end = max(places)
    for value, place in places.items():
        free = not ticks or place - ticks[-1][0] >= room
        if free and (value == end or high - place >= room):
            ticks.append((place, (f"{value:,}",)))
    return Scale(low - pad, high + pad, tuple(ticks), title)


def magnitude(value: int) -> float:
    """Where a count stands on a scale of magnitudes: log10 of it, of 1 for 0."""
    return round(math.log10(max(value, 1)), 9)


def panel(
    lines: Sequence[Line],
    scale: Scale,
    *,
    top: float = 1.0,
    share: bool = True,
    joined: bool = True,
    diagonal: bool = False,
    rows: int = 0,
    label: str,
    key: str,
) -> str:
    """Values against a scale, each line with its marks.

    top      : end of the vertical scale, which starts at 0
    share    : whether values are written in percent
    joined   : whether marks are joined by lines
    diagonal : whether to draw where both scales are equal
    rows     : lines of the legend that have room above, so that charts side by side stand on one line
    label    : what the chart shows, for readers who do not see it
    key      : prefix of the ids inside, unique on the page
    """
    y_axis = axis(top, about=4, share=share)
    longest = max(len(f"{100 * value:g} %" if share else f"{value:,g}") for value in y_axis.values)
    left = 18 + math.ceil(CHARACTER * longest)
    ends = scale.left, scale.right
    frame = Frame(PANEL - left - RIGHT, HEIGHT, ends[1], 1.04 * top, scale.axis(), y_axis, left=ends[0])
    layers = [_path(frame, [(0.0, 0.0), (1.0, 1.0)], **DIAGONAL)] if diagonal else []
    for line in reversed(lines):
        layers += _line(frame, line, joined=joined)
    if len(lines) > 1:
        layers += _legend(frame, lines)
    above = 8 + LEGEND * max(rows, legend_rows(lines))
    margins = (left, above, RIGHT, 30 + 14 * scale.lines)
    return draw(layers, width=frame.width, height=HEIGHT, margins=margins, label=label, key=key)


def _path(frame: Frame, points: Sequence[tuple[float, float]], **look: Any) -> Any:
    drawn = chart([{"x": x, "y": y, "order": i} for i, (x, y) in enumerate(points)]).mark_line(**look)
    return drawn.encode(x=frame.x(), y=frame.y(), order="order:Q")


def _line(frame: Frame, line: Line, *, joined: bool) -> list[Any]:
    """Finite points joined in their order, a gap where a value is missing; of many only some have a mark."""
    points, run = [], 0
    for i, (x, y) in enumerate(line.points):
        if math.isfinite(y):
            points.append({"x": x, "y": y, "run": run, "order": i} | _look(line))
        else:
            run += 1
    if not points:
        return []
    layers = []
    if joined:
        drawn = chart(points).mark_line(color=line.colour, strokeDash=line.dash, strokeWidth=2, strokeCap="butt")
        layers.append(drawn.encode(x=frame.x(), y=frame.y(), detail="run:N", order="order:Q"))
    return [*layers, _marks(frame, points[:: math.ceil(len(points) / MARKS)])]


def _look(line: Line) -> dict[str, Any]:
    return {"colour": line.colour, "shape": line.shape, "size": SIZES[line.shape]}


def _marks(frame: Frame, values: Sequence[dict[str, Any]]) -> Any:
    drawn = chart(values).mark_point(filled=True, opacity=1, stroke="white", strokeWidth=0.7, clip=False)
    size = altair().Size("size:Q", scale=None)
    return drawn.encode(x=frame.x(), y=frame.y(), color=as_is("colour"), shape=as_is("shape"), size=size)


def legend_rows(lines: Sequence[Line]) -> int:
    """Lines of the legend; a single line needs none."""
    return math.ceil(len(lines) / _columns(lines)) if len(lines) > 1 else 0


def _columns(lines: Sequence[Line]) -> int:
    return 3 if all(len(line.name) <= 12 for line in lines) else 2


def _legend(frame: Frame, lines: Sequence[Line]) -> list[Any]:
    """Above the chart, two or three in a row: the stroke and the mark of each line, and its name."""
    layers: list[Any] = []
    columns, rows = _columns(lines), legend_rows(lines)
    for i, line in enumerate(lines):
        px, py = frame.width / columns * (i % columns), LEGEND * (i // columns - rows) + 6.0
        (x, y), (x2, _), (xt, _), (xm, _) = (frame.at(px + shift, py) for shift in (0, 28, 34, 14))
        item = chart([{"x": x, "x2": x2, "y": y, "xt": xt, "text": short(line.name, 24)}])
        rule = item.mark_rule(color=line.colour, strokeDash=line.dash, strokeWidth=2)
        said = item.mark_text(align="left", color=INK)
        layers += [
            rule.encode(x=frame.x(), x2="x2:Q", y=frame.y()),
            _marks(frame, [{"x": xm, "y": y} | _look(line)]),
            said.encode(x=frame.x("xt"), y=frame.y(), text="text:N"),
        ]
    return layers
