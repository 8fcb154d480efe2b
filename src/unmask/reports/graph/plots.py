"""The charts of attacks on a network, as static SVG: lines over ties, certainty, seeds, overlap, passes, percentiles.

Values start at 0, and room for words is reckoned here, so that the same values are the same bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unmask.reports.canvas import CHARACTER, LEGEND, PANEL, Frame, altair, axis, chart, draw
from unmask.reports.lines import Line, legend, legend_rows, line_layers

HEIGHT = 200.0

RIGHT = 20

TICK_ROOM = 30
"""Pixels from one label of the horizontal scale to the next."""

DIAGONAL: dict[str, Any] = {"color": "#9aa1a8", "strokeWidth": 1.2, "strokeDash": [2, 3]}


@dataclass(frozen=True)
class Scale:
    """A horizontal scale: its ends, the values that are labeled and their words (several lines each), its title."""

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
    """Counts from the least to the most, equal distances multiplying by as much; given values are labeled.

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
        layers += line_layers(frame, line, joined=joined)
    if len(lines) > 1:
        layers += legend(frame, lines)
    above = 8 + LEGEND * max(rows, legend_rows(lines))
    margins = (left, above, RIGHT, 30 + 14 * scale.lines)
    return draw(layers, width=frame.width, height=HEIGHT, margins=margins, label=label, key=key)


def _path(frame: Frame, points: Sequence[tuple[float, float]], **look: Any) -> Any:
    drawn = chart([{"x": x, "y": y, "order": i} for i, (x, y) in enumerate(points)]).mark_line(**look)
    return drawn.encode(x=frame.x(), y=frame.y(), order="order:Q")
