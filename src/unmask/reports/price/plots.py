"""The charts of the rational attacker, as static SVG: steps by size of the group, a tornado, people named by fine.

Amounts and shares start at 0, unless they span more than `WIDE`: then the axis is logarithmic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from unmask.reports.canvas import (
    CHARACTER,
    COLORS,
    DASHES,
    FAINT,
    INK,
    LEGEND,
    PANEL,
    SHAPES,
    SOFT,
    Frame,
    Mark,
    altair,
    as_is,
    axis,
    chart,
    draw,
    short,
)
from unmask.reports.price.values import Swing
from unmask.reports.price.words import amount, parameter_name, parameter_value

WIDE = 30.0
"""Values whose largest is more than so many times the smallest are drawn on a logarithmic axis."""


@dataclass(frozen=True)
class Line:
    """A named line; places without a finite value are gaps."""

    name: str
    values: tuple[float, ...]


def logarithmic(values: Iterable[float]) -> bool:
    """Whether the positive finite ones among these span more than `WIDE`.

    >>> logarithmic([0.0, 1.0, 30.0]), logarithmic([1.0, 31.0, math.inf])
    (False, True)
    """
    spanned = [value for value in values if value > 0 and math.isfinite(value)]
    return bool(spanned) and max(spanned) > WIDE * min(spanned)


def by_size(
    sizes: Sequence[int],
    lines: Sequence[Line],
    *,
    marks: Sequence[Mark] = (),
    level: Mark | None = None,
    share: bool = False,
    label: str,
    key: str,
) -> str:
    """Functions of the size of a group, as steps: the value of a size reaches halfway to its neighbors.

    sizes : increasing whole numbers
    lines : a value for each size
    marks : sizes with a rule at the right edge of their step
    level : an amount with a rule across, such as the present fine; only then may the scale be logarithmic
    share : whether values are written in percent
    label : what the chart shows, for readers who do not see it
    key   : prefix of the ids inside, unique on the page
    """
    known = [value for line in lines for value in line.values if math.isfinite(value)]
    spanned = [value for value in (*known, *((level.value,) if level else ())) if value > 0]
    logs = level is not None and logarithmic(spanned)
    frame, left = _size_frame(sizes[-1] + 0.5, spanned, room=8 + 15 * len(marks), share=share, logs=logs)
    layers = [*_marked_sizes(frame, marks)]
    for style, line in enumerate(lines):
        points = _steps(sizes, [_placed(value, logs) for value in line.values])
        layers.append(_path(frame, points, style))
    if level and level.value > 0:
        layers += _level(frame, _placed(level.value, logs), level.text, above=max(known) <= level.value)
    legend = _legend(frame, [line.name for line in lines]) if len(lines) > 1 else []
    margins = (left, 8 + (LEGEND if legend else 0), 12, 44)
    return draw([*layers, *legend], width=frame.width, height=frame.height, margins=margins, label=label, key=key)


def _size_frame(right: float, values: Sequence[float], *, room: float, share: bool, logs: bool) -> tuple[Frame, int]:
    """The frame of a chart by size with `room` pixels above the highest value, and the margin at its left."""
    height, largest = 190.0, max(values, default=1.0)
    floor = math.floor(math.log10(min(values))) if logs else 0.0
    high = math.log10(largest) if logs else largest
    y_axis = _log_axis(floor, high, about=5) if logs else axis(largest, about=4, share=share)
    longest = max(
        len(_tick(value, share=share)) for value in ([10.0**floor, 10.0 ** math.floor(high)] if logs else y_axis.values)
    )
    left = 16 + math.ceil(CHARACTER * longest)
    width = PANEL - left - 12.0
    x_axis = axis(right, about=min(6.0, right), title="Candidates in the group", share=False)
    top = floor + (high - floor) * height / (height - room)
    return Frame(width, height, right, top, x_axis, y_axis, floor=floor), left


def _tick(value: float, *, share: bool) -> str:
    return f"{100 * value:g} %" if share else f"{value:,.6f}".rstrip("0").rstrip(".")


def _log_axis(low: float, high: float, *, about: float, title: str | None = None, zero: float | None = None) -> Any:
    """An axis of logarithms to base 10, written as the numbers themselves; `zero` is a place that stands for 0."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    step = max(1, math.ceil((last - first) / about))
    ticks = [float(power) for power in range(first, last + 1, step)]
    if high - low < 2:
        ticks = sorted({p + math.log10(f) for p in range(first - 1, last + 1) for f in (1, 2, 5)})
        ticks = [round(tick, 12) for tick in ticks if low - 1e-9 <= tick <= high + 1e-9]
    shown = "format(pow(10, datum.value), ',~r')"
    if zero is not None:
        ticks, shown = [zero, *ticks], f"datum.value < {low - 1e-6!r} ? '0' : {shown}"
    return altair().Axis(values=ticks, labelExpr=shown, title=title, labelOverlap=False, labelBound=False)


def _placed(value: float, logs: bool) -> float:
    """Where a value stands on its scale; nan where it cannot stand on it."""
    if not math.isfinite(value) or (logs and value <= 0):
        return math.nan
    return math.log10(value) if logs else value


def _steps(sizes: Sequence[int], values: Sequence[float]) -> list[dict[str, float]]:
    """The corners of the steps, in their order; a gap begins another run."""
    inner = [(a + b) / 2 for a, b in pairwise(sizes)]
    edges = [sizes[0] - 0.5, *inner, sizes[-1] + 0.5]
    corners: list[dict[str, float]] = []
    run = 0
    for i, value in enumerate(values):
        if math.isnan(value):
            run += 1
            continue
        corners += [
            {"x": edge, "y": value, "run": run, "order": len(corners) + j} for j, edge in enumerate(edges[i : i + 2])
        ]
    return corners


def _path(frame: Frame, points: Sequence[Mapping[str, Any]], style: int) -> Any:
    """Points joined in their order, in the stroke of a line."""
    drawn = chart(points).mark_line(**_stroke(style), strokeCap="butt", strokeJoin="miter")
    return drawn.encode(x=frame.x(), y=frame.y(), detail="run:N", order="order:Q")


def _stroke(style: int) -> dict[str, Any]:
    color, dash = COLORS[style % len(COLORS)], list(DASHES[style % len(DASHES)])
    return {"color": color, "strokeDash": dash, "strokeWidth": 2.2 if style == 0 else 1.9}


def _marked_sizes(frame: Frame, marks: Sequence[Mark]) -> list[Any]:
    """Rules at the right edges of sizes; their words stand above the values, the largest size on the first line.

    Words stand at the right of their rule, or at its left where they would leave the chart or cross the next rule.
    """
    layers = []
    end = frame.width
    for row, mark in enumerate(sorted(marks, key=lambda mark: -mark.value)):
        x, line = mark.value + 0.5, 7.0 + 15 * row
        long = 0.95 * CHARACTER * len(mark.text) + 8
        flip = frame.pixel(x) + long > end and frame.pixel(x) > long
        end = frame.pixel(x)
        place = {"x": x, "y": frame.at(0, frame.height)[1], "y2": frame.at(0, line - 6)[1]}
        item = chart([place | {"text": mark.text, "line": frame.at(0, line)[1]}])
        rule = item.mark_rule(color=SOFT, strokeWidth=1, strokeDash=list(DASHES[mark.style]))
        layers.append(rule.encode(x=frame.x(), y=frame.y(), y2="y2:Q"))
        said = item.mark_text(align="right" if flip else "left", dx=-5 if flip else 5, color=INK, fontSize=11)
        layers.append(said.encode(x=frame.x(), y=frame.y("line"), text="text:N"))
    return layers


def _level(frame: Frame, value: float, text: str, *, above: bool) -> list[Any]:
    """A rule across the chart; its words stand at the right above it, or at the left below where there is room."""
    below = not above and (value - frame.floor) / (frame.top - frame.floor) * frame.height > 18
    align, end, shift = ("left", frame.left, 9) if below else ("right", frame.right, -8)
    rule = chart([{"y": value}]).mark_rule(color=INK, strokeWidth=1.2)
    said = chart([{"x": end, "y": value, "text": text}]).mark_text(
        align=align, dy=shift, dx=5 if below else -2, color=INK
    )
    return [rule.encode(y=frame.y()), said.encode(x=frame.x(), y=frame.y(), text="text:N")]


def _legend(frame: Frame, names: Sequence[str], *, per_row: int = 2, shapes: bool = False) -> list[Any]:
    """Above the chart, the stroke of each line and its name."""
    layers: list[Any] = []
    column = frame.width / per_row
    rows = math.ceil(len(names) / per_row)
    for style, name in enumerate(names):
        px, py = column * (style % per_row), LEGEND * (style // per_row - rows) + 6.0
        (x, y), (x2, _), (xt, _), (xm, _) = (frame.at(px + shift, py) for shift in (0, 26, 32, 13))
        item = chart([{"x": x, "x2": x2, "xt": xt, "xm": xm, "y": y, "text": name} | _look(style)])
        layers.append(item.mark_rule(**_stroke(style)).encode(x=frame.x(), x2="x2:Q", y=frame.y()))
        if shapes:
            layers.append(_points(frame, item, "xm"))
        said = item.mark_text(align="left", color=INK)
        layers.append(said.encode(x=frame.x("xt"), y=frame.y(), text="text:N"))
    return layers


def _look(style: int) -> dict[str, str]:
    return {"color": COLORS[style % len(COLORS)], "shape": SHAPES[style % len(SHAPES)]}


def _points(frame: Frame, values: Any, field: str = "x") -> Any:
    drawn = values.mark_point(size=48, filled=True, opacity=1, stroke="white", strokeWidth=0.8)
    return drawn.encode(x=frame.x(field), y=frame.y(), color=as_is("color"), shape=as_is("shape"))


def tornado(swings: Sequence[Swing], *, payoff: float, label: str, key: str) -> str:
    """The payoff when one parameter is lower (upper bar, dark) or higher (lower bar, light), around what it is now.

    The parameter stands above its bars, the value that it takes at the end of each.
    """
    band, bar = 46.0, 11.0
    height = band * len(swings)
    bars = [_bar(swing, i * band + 20, payoff, high=high) for i, swing in enumerate(swings) for high in (False, True)]
    for mark in bars:
        mark["y2"] = mark["y"] + bar - 1
        mark["middle"] = mark["y"] + bar / 2
    room = 10 + CHARACTER * max(len(mark["text"]) for mark in bars)
    left, right = math.ceil(room), math.ceil(room)
    width = float(PANEL - left - right)
    largest = max(payoff, *(mark["x"] for mark in bars)) or 1.0
    x_axis = axis(largest, about=3, title="Payoff", share=False)
    frame = Frame(width, height, largest, 0.0, x_axis, None, floor=height)
    names = [{"y": i * band + 10, "text": parameter_name(swing.parameter)} for i, swing in enumerate(swings)]
    layers = [
        chart([{"y": i * band} for i in range(len(swings))]).mark_rule(color=FAINT).encode(y=frame.y()),
        chart(bars)
        .mark_rect(stroke=COLORS[0], strokeWidth=0.8)
        .encode(x=frame.x("base"), x2="x:Q", y=frame.y(), y2="y2:Q", color=as_is("color")),
        chart([{"x": payoff, "y": mark["y"] - 2, "y2": mark["y"] + 2 * bar + 1} for mark in bars[::2]])
        .mark_rule(color=INK, strokeWidth=1.2)
        .encode(x=frame.x(), y=frame.y(), y2="y2:Q"),
        chart(names)
        .mark_text(align="left", color=INK, fontWeight="bold")
        .encode(x=altair().value(4 - left), y=frame.y(), text="text:N"),
        chart([{"x": payoff, "text": f"now {amount(payoff)}"}])
        .mark_text(align="center", color=INK)
        .encode(x=frame.x(), y=altair().value(-9), text="text:N"),
    ]
    for align, shift in (("right", -5), ("left", 5)):
        own = [mark for mark in bars if mark["align"] == align]
        if own:
            said = chart(own).mark_text(align=align, dx=shift, fontSize=11, color=INK)
            layers.append(said.encode(x=frame.x(), y=frame.y("middle"), text="text:N"))
    return draw(layers, width=width, height=height, margins=(left, 20, right, 44), label=label, key=key)


def _bar(swing: Swing, y: float, payoff: float, *, high: bool) -> dict[str, Any]:
    value, end = (swing.high, swing.payoff_high) if high else (swing.low, swing.payoff_low)
    other = swing.payoff_low if high else swing.payoff_high
    leftward = end < payoff or (end == payoff and (other > payoff or (other == payoff and not high)))
    return {
        "base": payoff,
        "x": end,
        "y": y + (11.0 if high else 0.0),
        "text": parameter_value(swing.parameter, value),
        "align": "right" if leftward else "left",
        "color": "#c9d6e6" if high else COLORS[0],
    }


def by_fine(curves: Mapping[str, Sequence[tuple[float, float]]], *, fine: Mark | None, label: str, key: str) -> str:
    """Share of people named at rising fines, a line for each release; at most six are told apart.

    curves : release -> (fine, share), at least one with a point
    fine   : the present fine
    """
    points = {name: sorted(curve) for name, curve in curves.items() if curve}
    fines = sorted({at for curve in points.values() for at, _ in curve} | ({fine.value} if fine else set()))
    positive = [value for value in fines if value > 0]
    logs = logarithmic(positive)
    frame, left = _fine_frame(positive or [1.0], points, logs=logs, zero=fines[0] == 0, room=22 if fine else 6)
    layers: list[Any] = []
    if fine is not None:
        (x, y), (_, top) = frame.at(0, frame.height), frame.at(0, 2)
        x = _fine_place(fine.value, frame, logs)
        flip = frame.pixel(x) + CHARACTER * len(fine.text) + 8 > frame.width
        item = chart([{"x": x, "y": y, "y2": top, "yt": frame.at(0, 8)[1], "text": fine.text}])
        layers.append(item.mark_rule(color=INK, strokeWidth=1.2).encode(x=frame.x(), y=frame.y(), y2="y2:Q"))
        said = item.mark_text(align="right" if flip else "left", dx=-5 if flip else 5, color=INK)
        layers.append(said.encode(x=frame.x(), y=frame.y("yt"), text="text:N"))
    for style, curve in enumerate(points.values()):
        placed: list[dict[str, Any]] = [
            {"x": _fine_place(at, frame, logs), "y": share, "run": 0} | _look(style) for at, share in curve
        ]
        layers.append(_path(frame, [point | {"order": i} for i, point in enumerate(placed)], style))
        if len(points) > 1:
            layers.append(_points(frame, chart(placed[:: max(1, len(placed) // 8)])))
    names = [short(name, 13) for name in points]
    legend = _legend(frame, names, per_row=3, shapes=True) if len(points) > 1 else []
    above = 10 + LEGEND * math.ceil(len(points) / 3) if legend else 8
    margins = (left, above, 24, 44)
    return draw([*layers, *legend], width=frame.width, height=frame.height, margins=margins, label=label, key=key)


def _fine_frame(
    fines: Sequence[float],
    points: Mapping[str, Sequence[tuple[float, float]]],
    *,
    logs: bool,
    zero: bool,
    room: float,
) -> tuple[Frame, int]:
    """The frame of a chart by fine; on a logarithmic axis a fine of 0 has a place of its own at the left."""
    height, largest = 210.0, max(share for curve in points.values() for _, share in curve) or 1.0
    y_axis = axis(largest, about=4)
    left = 16 + math.ceil(CHARACTER * max(len(_tick(value, share=True)) for value in y_axis.values))
    width = PANEL - left - 24.0
    low, high = (math.log10(fines[0]), math.log10(fines[-1])) if logs else (0.0, fines[-1])
    gap = 0.12 * (high - low) if logs and zero else 0.0
    start = low - gap if gap else None
    x_axis = _log_axis(low, high, about=5, title="Fine", zero=start) if logs else axis(high, title="Fine", share=False)
    top = largest * height / (height - room)
    return Frame(width, height, high, top, x_axis, y_axis, left=low - gap), left


def _fine_place(fine: float, frame: Frame, logs: bool) -> float:
    if not logs:
        return fine
    return math.log10(fine) if fine > 0 else frame.left
