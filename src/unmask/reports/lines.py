"""Lines through points, with gaps, marks and a legend: what charts of curves share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unmask.reports.canvas import COLORS, DASHES, INK, LEGEND, SHAPES, Frame, altair, as_is, chart, short

SIZES = {"circle": 44, "square": 40, "triangle-up": 56, "diamond": 78, "cross": 60, "triangle-down": 56}
"""Areas of marks that look equally large."""

MARKS = 12
"""Marks on one line, about."""

SHADES = ("#0f2f4f", "#5b86ad", "#8c8c8c", "#3d3d3d", "#2c5d8a", "#8aa9c6")
"""Colors of lines that are no adversaries."""


@dataclass(frozen=True)
class Line:
    """A named line through points, in the look of number `style`; points without a finite value are gaps.

    shade : whether it is no adversary, and has a shade instead of a color
    """

    name: str
    points: Sequence[tuple[float, float]]
    style: int
    shade: bool = False

    @property
    def color(self) -> str:
        """Its color."""
        colors = SHADES if self.shade else COLORS
        return colors[self.style % len(colors)]

    @property
    def dash(self) -> list[int]:
        """Its stroke."""
        return list(DASHES[self.style % len(DASHES)])

    @property
    def shape(self) -> str:
        """The shape of its marks."""
        return SHAPES[self.style % len(SHAPES)]


def line_layers(frame: Frame, line: Line, *, joined: bool = True) -> list[Any]:
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
        drawn = chart(points).mark_line(color=line.color, strokeDash=line.dash, strokeWidth=2, strokeCap="butt")
        layers.append(drawn.encode(x=frame.x(), y=frame.y(), detail="run:N", order="order:Q"))
    return [*layers, _marks(frame, points[:: math.ceil(len(points) / MARKS)])]


def _look(line: Line) -> dict[str, Any]:
    return {"color": line.color, "shape": line.shape, "size": SIZES[line.shape]}


def _marks(frame: Frame, values: Sequence[dict[str, Any]]) -> Any:
    drawn = chart(values).mark_point(filled=True, opacity=1, stroke="white", strokeWidth=0.7, clip=False)
    size = altair().Size("size:Q", scale=None)
    return drawn.encode(x=frame.x(), y=frame.y(), color=as_is("color"), shape=as_is("shape"), size=size)


def legend_rows(lines: Sequence[Line]) -> int:
    """Lines of the legend; a single line needs none."""
    return math.ceil(len(lines) / _columns(lines)) if len(lines) > 1 else 0


def _columns(lines: Sequence[Line]) -> int:
    return 3 if all(len(line.name) <= 12 for line in lines) else 2


def legend(frame: Frame, lines: Sequence[Line]) -> list[Any]:
    """Above the chart, two or three in a row: the stroke and the mark of each line, and its name."""
    layers: list[Any] = []
    columns, rows = _columns(lines), legend_rows(lines)
    for i, line in enumerate(lines):
        px, py = frame.width / columns * (i % columns), LEGEND * (i // columns - rows) + 6.0
        (x, y), (x2, _), (xt, _), (xm, _) = (frame.at(px + shift, py) for shift in (0, 28, 34, 14))
        item = chart([{"x": x, "x2": x2, "y": y, "xt": xt, "text": short(line.name, 24)}])
        rule = item.mark_rule(color=line.color, strokeDash=line.dash, strokeWidth=2)
        said = item.mark_text(align="left", color=INK)
        layers += [
            rule.encode(x=frame.x(), x2="x2:Q", y=frame.y()),
            _marks(frame, [{"x": xm, "y": y} | _look(line)]),
            said.encode(x=frame.x("xt"), y=frame.y(), text="text:N"),
        ]
    return layers
