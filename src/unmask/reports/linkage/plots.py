"""The charts of adversaries who cluster items, as static SVG: curves over mergings or thresholds, misses and includes.

Axes start at 0. Where errors reach beyond `WIDE` items, equal distances multiply 1 + items by as much.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from unmask.reports.canvas import CHARACTER, INK, LEGEND, PANEL, SOFT, Frame, Mark, altair, as_is, axis, chart, draw
from unmask.reports.lines import Line, legend, legend_rows, line_layers

WIDE = 12
"""Most items that are drawn on a linear scale."""

RADIUS = 17.0
"""Radius of the largest bubble, in pixels."""

CELLS = 300
"""Bubbles that are drawn one by one; of more, neighbors are drawn as one."""


def whole_ticks(largest: float, about: int = 6) -> list[int]:
    """Round whole numbers from 0 to at most `largest`, at least 0 and 1.

    >>> whole_ticks(14), whole_ticks(0.5)
    ([0, 5, 10], [0, 1])
    """
    step = next(f * 10**p for p in range(20) for f in (1, 2, 5) if f * 10**p * about >= largest)
    return list(range(0, max(1, math.floor(largest)) + 1, step))


def curves(
    lines: Sequence[Line],
    *,
    right: float,
    top: float,
    title: str,
    mergings: bool = False,
    share: bool = True,
    upright: Mark | None = None,
    level: Mark | None = None,
    spots: Sequence[tuple[float, float, Line]] = (),
    rows: int = 0,
    label: str,
    key: str,
) -> str:
    """Values against mergings or against a share, both from 0; each line with its points, hollow spots beside them.

    right, top : ends of the scales
    mergings   : whether the horizontal scale counts mergings
    share      : whether values are written in percent
    upright    : a value of the horizontal scale with a rule
    level      : a share with a rule across
    spots      : (x, y, curve) hollow marks in the look of a curve
    rows       : lines of the legend that have room above, so that charts side by side stand on one line
    label      : what the chart shows, for readers who do not see it
    key        : prefix of the ids inside, unique on the page
    """
    frame, left = _ground(right, top, title, mergings=mergings, share=share, room=20 if upright else 8)
    layers = [*_upright(frame, upright), *_level(frame, level)]
    for line in lines:
        layers += line_layers(frame, line)
    if spots:
        layers.append(_spots(frame, spots))
    if len(lines) > 1:
        layers += legend(frame, lines)
    above = 8 + LEGEND * max(rows, legend_rows(lines))
    margins = (left, above, 16, 44)
    return draw(layers, width=frame.width, height=frame.height, margins=margins, label=label, key=key)


def _ground(right: float, top: float, title: str, *, mergings: bool, share: bool, room: float) -> tuple[Frame, int]:
    """The frame of a chart with `room` pixels above the highest value, and the margin at its left."""
    height = 200.0
    y_axis = axis(top, about=4, share=share)
    left = 16 + math.ceil(CHARACTER * max(len(f"{100 * value:g} %") for value in y_axis.values))
    ticks = altair().Axis(values=whole_ticks(right), format=",d", title=title, labelBound=False)
    x_axis = ticks if mergings else axis(right, about=5, title=title)
    return Frame(PANEL - left - 16.0, height, right, top * height / (height - room), x_axis, y_axis), left


def _spots(frame: Frame, spots: Sequence[tuple[float, float, Line]]) -> Any:
    values = [{"x": x, "y": y, "color": line.color, "shape": line.shape} for x, y, line in spots]
    drawn = chart(values).mark_point(size=56, filled=True, fill="white", opacity=1, strokeWidth=1.8)
    return drawn.encode(x=frame.x(), y=frame.y(), stroke=altair().Stroke("color:N", scale=None), shape=as_is("shape"))


def _upright(frame: Frame, mark: Mark | None) -> list[Any]:
    """A rule from the ground to the top with its words at the top, at the side where there is room."""
    if mark is None:
        return []
    flip = frame.pixel(mark.value) + CHARACTER * len(mark.text) + 8 > frame.width
    place = {"x": mark.value, "y": 0.0, "y2": frame.at(0, 2)[1], "yt": frame.at(0, 8)[1], "text": mark.text}
    rule = chart([place]).mark_rule(color=SOFT, strokeWidth=1.2).encode(x=frame.x(), y=frame.y(), y2="y2:Q")
    said = chart([place]).mark_text(align="right" if flip else "left", dx=-5 if flip else 5, color=INK)
    return [rule, said.encode(x=frame.x(), y=frame.y("yt"), text="text:N")]


def _level(frame: Frame, mark: Mark | None) -> list[Any]:
    """A rule across with its words below it at the right."""
    if mark is None:
        return []
    rule = chart([{"y": mark.value}]).mark_rule(color=SOFT, strokeWidth=1.2)
    said = chart([{"x": frame.right, "y": mark.value, "text": mark.text}]).mark_text(
        align="right", dx=-2, dy=9, color=INK, fontSize=11
    )
    return [rule.encode(y=frame.y()), said.encode(x=frame.x(), y=frame.y(), text="text:N")]


def stretched(largest: float) -> bool:
    """Whether errors up to `largest` items are drawn on a scale of 1 + items."""
    return largest > WIDE


def bubbles(
    points: Sequence[tuple[int, int, int]], *, largest: tuple[int, int, int], color: str, label: str, key: str
) -> str:
    """Misses across, includes upwards; the area of a bubble is its number of subjects, written beside the largest.

    points  : (misses, includes, subjects), at least one
    largest : the most misses, includes and subjects in one point of all charts that are compared
    """
    logs = stretched(largest[0]), stretched(largest[1])
    ends = [max(_placed(most, log), 0.3) for most, log in zip(largest[:2], logs, strict=True)]
    height, left = 230.0 if largest[1] else 90.0, 22 + math.ceil(CHARACTER * max(len(f"{largest[1]:,}"), 2)) + 14
    width = PANEL - left - 16.0
    pad, rise = (end * (RADIUS + 2) / (size - 2 * RADIUS - 4) for end, size in zip(ends, (width, height), strict=True))
    titles = "Misses: own items lacking", "Includes: foreign items" if largest[1] else "Includes"
    axes = [_error_axis(most, log, title) for most, log, title in zip(largest[:2], logs, titles, strict=True)]
    frame = Frame(width, height, ends[0] + pad, ends[1] + rise, axes[0], axes[1], left=-pad, floor=-rise)
    marks = [_bubble(point, largest[2], color) for point in _gathered(points, logs, ends)]
    drawn = chart(marks).mark_point(filled=True, shape="circle", opacity=0.72, stroke="white", strokeWidth=0.8)
    alt = altair()
    layers = [
        drawn.encode(
            x=frame.x(), y=frame.y(), color=as_is("color"), size=alt.Size("size:Q", scale=None), order="order:Q"
        )
    ]
    for align in ("left", "right"):
        own = [name for name in _numbers(frame, marks) if name["align"] == align]
        if own:
            said = chart(own).mark_text(align=align, fontSize=11, color=INK)
            layers.append(said.encode(x=frame.x(), y=frame.y(), text="text:N"))
    return draw(layers, width=width, height=height, margins=(left, 8, 16, 44), label=label, key=key)


def _placed(value: float, logs: bool) -> float:
    return math.log10(1 + value) if logs else value


def _error_axis(most: float, logs: bool, title: str) -> Any:
    """An axis of items; stretched, its round numbers stand at log10(1 + items)."""
    if not logs:
        return altair().Axis(values=whole_ticks(most), format=",d", title=title, labelBound=False)
    steps = (1, 3) if most <= 300 else (1,)
    values = [0, *(f * 10**p for p in range(13) for f in steps if f * 10**p <= 1.05 * most)]
    shown = "format(round(pow(10, datum.value) - 1), ',d')"
    ticks = [round(_placed(value, True), 12) for value in values]
    return altair().Axis(values=ticks, labelExpr=shown, title=title, labelOverlap=False, labelBound=False)


def _gathered(
    points: Sequence[tuple[int, int, int]], logs: tuple[bool, bool], ends: Sequence[float]
) -> list[tuple[float, float, int]]:
    """(x, y, subjects) on the scales, largest first; of very many points, those in one cell of a grid are one."""
    found: dict[tuple[float, float], int] = {}
    for miss, include, subjects in points:
        place = [_placed(miss, logs[0]), _placed(include, logs[1])]
        if len(points) > CELLS:
            place = [round(round(40 * at / end) * end / 40, 9) for at, end in zip(place, ends, strict=True)]
        found[place[0], place[1]] = found.get((place[0], place[1]), 0) + subjects
    return sorted(((x, y, n) for (x, y), n in found.items()), key=lambda point: (-point[2], point[0], point[1]))


def _bubble(point: tuple[float, float, int], most: int, color: str) -> dict[str, Any]:
    x, y, subjects = point
    radius = max(2.2, RADIUS * math.sqrt(min(subjects / most, 1.0)))
    size = {"n": subjects, "r": radius, "size": (2 * radius) ** 2, "order": -subjects}
    return {"x": x, "y": y, "color": color} | size


def _numbers(frame: Frame, marks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """How many subjects the largest bubbles are, beside them where there is room: at most eight are written."""
    taken = [_round(frame, mark) for mark in marks]
    names: list[dict[str, Any]] = []
    for mark in [mark for i, mark in enumerate(marks[:8]) if i < 4 or mark["r"] > 3.5]:
        text = f"{mark['n']:,}"
        px, py = frame.pixel(mark["x"]), (frame.top - mark["y"]) / (frame.top - frame.floor) * frame.height
        for align, side in (("left", 1), ("right", -1)):
            start = px + side * (mark["r"] + 4)
            long = side * CHARACTER * len(text)
            box = (min(start, start + long), py - 6, max(start, start + long), py + 6)
            free = not any(box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in taken)
            if free and box[0] >= 6 and box[2] <= frame.width + 12:
                taken.append(box)
                names.append({"x": frame.at(start, 0)[0], "y": mark["y"], "align": align, "text": text})
                break
    return names


def _round(frame: Frame, mark: Mapping[str, Any]) -> tuple[float, float, float, float]:
    px, py = frame.pixel(mark["x"]), (frame.top - mark["y"]) / (frame.top - frame.floor) * frame.height
    return px - mark["r"], py - mark["r"], px + mark["r"], py + mark["r"]
