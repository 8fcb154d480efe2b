"""The charts of channels, as static SVG: privacy against distortion, and errors over observations.

Axes start at 0, and distances in pixels are reckoned here, so that the same values are the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from unmask.measures.registry import SHARES
from unmask.reports.canvas import (
    CHARACTER,
    COLORS,
    INK,
    LEGEND,
    PANEL,
    SHAPES,
    SOFT,
    Frame,
    altair,
    as_is,
    axis,
    chart,
    draw,
    short,
)
from unmask.reports.channel.words import figure, titled

HEIGHT = 250.0

RIGHT = 18

DIAGONAL: dict[str, Any] = {"color": "#9aa1a8", "strokeWidth": 1.2, "strokeDash": [2, 3]}

LIMIT: dict[str, Any] = {"color": INK, "strokeWidth": 2, "strokeJoin": "round"}

Box = tuple[float, float, float, float]
"""Left, top, right and bottom in pixels from the left and the top of a chart."""


@dataclass(frozen=True)
class Spot:
    """The error of one adversary behind one mechanism; style 0, 1 ... is their color and shape."""

    mechanism: str
    distortion: float
    error: float
    style: int
    best: bool


@dataclass(frozen=True)
class Rule:
    """A value that is marked by a rule, with the words beside it."""

    value: float
    text: str


def plane(
    spots: Sequence[Spot],
    *,
    limit: Sequence[tuple[float, float]],
    level: Rule,
    diagonal: bool,
    names: Sequence[tuple[str, int, bool]],
    units: tuple[str, str],
    label: str,
    key: str,
) -> str:
    """Errors against distortion: the best adversary filled and named, others hollow, over the limit of all mechanisms.

    spots    : at least one finite; others stand above or below the spot of the best adversary, joined by a hair line
    limit    : (distortion, error) by rising distortion, may be empty
    level    : the error without any observation, a rule across
    diagonal : whether to draw where error and distortion are equal
    names    : (name, style, whether filled) of adversaries, for the legend
    units    : of distortion and of error
    """
    shown = [spot for spot in spots if math.isfinite(spot.distortion) and math.isfinite(spot.error)]
    curve = [point for point in limit if all(map(math.isfinite, point))]
    frame, left = _ground([*((s.distortion, s.error) for s in shown), *curve], level.value, units)
    box = _level_box(frame, level, shown)
    layers = [*_diagonal(frame, diagonal), *_level(frame, level, box), *_limit(frame, curve), *_hairs(frame, shown)]
    layers += [*_spots(frame, shown), *_labels(frame, shown, curve, box)]
    lines = [("the limit", LIMIT)] * bool(curve) + [("error = distortion", DIAGONAL)] * diagonal
    legend = _legend(frame, lines, names)
    above = 8 + LEGEND * legend_rows(len(names) + len(lines))
    margins = (left, above, RIGHT, 44)
    return draw([*layers, *legend], width=frame.width, height=HEIGHT, margins=margins, label=label, key=key)


def legend_rows(entries: int) -> int:
    """Lines that a legend of so many entries takes."""
    return math.ceil(entries / 2)


def _ground(points: Sequence[tuple[float, float]], level: float, units: tuple[str, str]) -> tuple[Frame, int]:
    """The frame around all points and the level, and the margin at its left."""
    high = max((level if math.isfinite(level) else 0.0, *(y for _, y in points))) or 1.0
    right = 1.08 * max((x for x, _ in points), default=0.0) or 1.0
    x_share, y_share = (unit in SHARES for unit in units)
    y_axis = axis(high, about=4, title=titled("Error of the adversary", units[1]), share=y_share)
    longest = max(len(f"{100 * value:g} %" if y_share else f"{value:,g}") for value in y_axis.values)
    left = 34 + math.ceil(CHARACTER * longest)
    x_axis = axis(right, about=4, title=titled("Distortion", units[0]), share=x_share)
    top = high * HEIGHT / (HEIGHT - 22)
    return Frame(float(PANEL - left - RIGHT), HEIGHT, right, top, x_axis, y_axis), left


def _pixel(frame: Frame, x: float, y: float) -> tuple[float, float]:
    """Where values stand, in pixels from the left and the top."""
    return frame.pixel(x), (frame.top - y) / frame.top * frame.height


def _path(frame: Frame, points: Sequence[tuple[float, float]], **look: Any) -> Any:
    drawn = chart([{"x": x, "y": y, "order": i} for i, (x, y) in enumerate(points)]).mark_line(**look)
    return drawn.encode(x=frame.x(), y=frame.y(), order="order:Q")


def _text(frame: Frame, x: float, y: float, text: str, **look: Any) -> Any:
    """Words at a place in pixels."""
    across, up = frame.at(x, y)
    said = chart([{"x": across, "y": up, "text": text}]).mark_text(**({"align": "left", "color": INK} | look))
    return said.encode(x=frame.x(), y=frame.y(), text="text:N")


def _diagonal(frame: Frame, wanted: bool) -> list[Any]:
    """A faint line where error and distortion are equal."""
    if not wanted:
        return []
    end = min(frame.right, frame.top)
    return [_path(frame, [(0.0, 0.0), (end, end)], **DIAGONAL)]


def _level(frame: Frame, rule: Rule, box: Box) -> list[Any]:
    """A rule across with its words above it."""
    if not math.isfinite(rule.value):
        return []
    line = chart([{"y": rule.value}]).mark_rule(color=SOFT, strokeWidth=1.2, strokeDash=[6, 3]).encode(y=frame.y())
    return [line, _text(frame, box[0] + 2, (box[1] + box[3]) / 2, rule.text)]


def _level_box(frame: Frame, rule: Rule, spots: Sequence[Spot]) -> Box:
    """Where the words of the rule across stand: at the left above it, or at the right where fewer spots are."""
    y = _pixel(frame, 0.0, rule.value)[1] if math.isfinite(rule.value) else 0.0
    long = CHARACTER * len(rule.text) + 4
    boxes = [(start, y - 15, start + long, y - 1) for start in (0.0, frame.width - long)]
    marks = _around(frame, ((spot.distortion, spot.error) for spot in spots), 7)
    return min(boxes, key=lambda box: sum(_overlap(box, mark) for mark in marks))


def _limit(frame: Frame, points: Sequence[tuple[float, float]]) -> list[Any]:
    """The limit as a line; one point alone as a short dash."""
    if len(points) == 1:
        x, y = _pixel(frame, *points[0])
        points = [(frame.at(x - 7, y)[0], points[0][1]), (frame.at(x + 7, y)[0], points[0][1])]
    return [_path(frame, points, **LIMIT)] if points else []


def _look(style: int, *, filled: bool) -> dict[str, str]:
    color = COLORS[style % len(COLORS)]
    return {"color": color, "shape": SHAPES[style % len(SHAPES)], "fill": color if filled else "white"}


def _points(frame: Frame, values: Sequence[dict[str, Any]]) -> Any:
    alt = altair()
    drawn = chart(values).mark_point(size=62, filled=True, opacity=1, strokeWidth=1.7)
    fill, stroke = alt.Fill("fill:N", scale=None), alt.Stroke("color:N", scale=None)
    return drawn.encode(x=frame.x(), y=frame.y(), fill=fill, stroke=stroke, shape=as_is("shape"))


def _spots(frame: Frame, spots: Sequence[Spot]) -> list[Any]:
    """The others first, so that the best adversary stands on top."""
    ordered = sorted(spots, key=lambda spot: spot.best)
    values = [{"x": s.distortion, "y": s.error} | _look(s.style, filled=s.best) for s in ordered]
    return [_points(frame, values)] if values else []


def _stems(spots: Sequence[Spot]) -> list[dict[str, float]]:
    """From the lowest to the highest error behind each mechanism that has several."""
    stems = []
    for name in dict.fromkeys(spot.mechanism for spot in spots):
        own = [spot for spot in spots if spot.mechanism == name]
        if len(own) > 1:
            errors = [spot.error for spot in own]
            stems.append({"x": own[0].distortion, "y": min(errors), "y2": max(errors)})
    return stems


def _hairs(frame: Frame, spots: Sequence[Spot]) -> list[Any]:
    """A hair line through the adversaries behind one mechanism."""
    line = chart(stems := _stems(spots)).mark_rule(color="#9aa1a8", strokeWidth=1)
    return [line.encode(x=frame.x(), y=frame.y(), y2="y2:Q")] if stems else []


def _labels(frame: Frame, spots: Sequence[Spot], curve: Sequence[tuple[float, float]], level: Box) -> list[Any]:
    """The name of each mechanism near the spot of the best adversary, where there is room; else only tables have it.

    A name crosses a hair line only where it finds no other place.
    """
    taken = [*_around(frame, ((s.distortion, s.error) for s in spots), 7), *_around(frame, _dense(frame, curve), 2)]
    ends = ((*_pixel(frame, stem["x"], stem["y2"]), *_pixel(frame, stem["x"], stem["y"])) for stem in _stems(spots))
    hairs = [(left - 1, top, right + 1, bottom) for left, top, right, bottom in ends]
    taken += [level, (0.0, level[3], frame.width, level[3] + 2)]
    layers = []
    for spot in sorted((s for s in spots if s.best), key=lambda s: (s.distortion, s.error, s.mechanism)):
        x, y = _pixel(frame, spot.distortion, spot.error)
        long = CHARACTER * len(short(spot.mechanism)) + 3
        found = _room(frame, x, y, long, [*taken, *hairs]) or _room(frame, x, y, long, taken)
        if found is not None:
            taken.append(found)
            layers += _leader(frame, (x, y), found)
            layers.append(_text(frame, found[0] + 1, (found[1] + found[3]) / 2, short(spot.mechanism)))
    return layers


def _around(frame: Frame, points: Iterable[tuple[float, float]], reach: float) -> list[Box]:
    placed = (_pixel(frame, x, y) for x, y in points)
    return [(x - reach, y - reach, x + reach, y + reach) for x, y in placed]


def _dense(frame: Frame, curve: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points along a line, a few pixels apart."""
    found: list[tuple[float, float]] = []
    for (x, y), (x2, y2) in pairwise(curve):
        (px, py), (qx, qy) = _pixel(frame, x, y), _pixel(frame, x2, y2)
        steps = max(1, math.ceil(math.hypot(qx - px, qy - py) / 4))
        found += [(x + (x2 - x) * i / steps, y + (y2 - y) * i / steps) for i in range(steps + 1)]
    return found


def _room(frame: Frame, x: float, y: float, long: float, taken: Sequence[Box]) -> Box | None:
    """The first place for a name around a spot that nothing else has: near ones first, below before above."""
    for far in (0.0, 12.0, 26.0, 42.0, 60.0, 80.0, 100.0):
        places = [
            (x + 10 + far, y + far),
            (x - long / 2, y + 16 + far),
            (x - long - 10 - far, y - far),
            (x - long / 2, y - 16 - far),
            (x + 10 + far, y - far),
            (x - long - 10 - far, y + far),
        ]
        for left, middle in places:
            box = (left, middle - 7, left + long, middle + 7)
            inside = left >= 3 and left + long <= frame.width + RIGHT - 2 and box[1] >= 0 and box[3] <= frame.height - 2
            if inside and not any(_overlap(box, other) for other in taken):
                return box
    return None


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _leader(frame: Frame, spot: tuple[float, float], box: Box) -> list[Any]:
    """A hair line from a spot to its name, where that stands away from it."""
    nearest = min(max(spot[0], box[0]), box[2]), min(max(spot[1], box[1]), box[3])
    away = math.dist(spot, nearest)
    if away < 13:
        return []
    start = tuple(a + (b - a) * 6 / away for a, b in zip(spot, nearest, strict=True))
    return [_path(frame, [frame.at(*start), frame.at(*nearest)], color=SOFT, strokeWidth=0.8)]


def _legend(
    frame: Frame, lines: Sequence[tuple[str, dict[str, Any]]], names: Sequence[tuple[str, int, bool]]
) -> list[Any]:
    """Above the chart, two in a row: the mark of each adversary, then the lines."""
    layers: list[Any] = []
    rows = legend_rows(len(names) + len(lines))
    for i, text in enumerate([name for name, _, _ in names] + [name for name, _ in lines]):
        px, py = frame.width / 2 * (i % 2), LEGEND * (i // 2 - rows) + 6.0
        (x, y), (x2, _), (xm, _) = (frame.at(px + shift, py) for shift in (0, 18, 9))
        if i < len(names):
            _, style, filled = names[i]
            layers.append(_points(frame, [{"x": xm, "y": y} | _look(style, filled=filled)]))
        else:
            layers.append(_path(frame, [(x, y), (x2, y)], **lines[i - len(names)][1]))
        layers.append(_text(frame, px + 24, py, short(text, 24)))
    return layers


def spread(
    points: Sequence[tuple[float, float]], *, rules: Sequence[Rule], rows: int, unit: str, label: str, key: str
) -> str:
    """Share of observations, by weight, whose error is at most so much: steps, with rules at some errors.

    points : (error, share) rising, at least one
    rules  : marked errors, each with its words on a line of its own above the steps
    rows   : lines of the legend of the chart beside, so that both stand on one line
    """
    rules = [rule for rule in rules if math.isfinite(rule.value)]
    finite = [(x, share) for x, share in points if math.isfinite(x)]
    right = 1.06 * max((*(x for x, _ in finite), *(rule.value for rule in rules)), default=0.0) or 1.0
    height, left = HEIGHT + LEGEND * rows, 34 + math.ceil(CHARACTER * len("100 %"))
    x_axis = axis(right, about=4, title=titled("Error at the observation, at most", unit), share=unit in SHARES)
    y_axis = axis(1.0, about=4, title="Share of observations")
    top = height / (height - 10 - 16 * len(rules))
    frame = Frame(float(PANEL - left - RIGHT), height, right, top, x_axis, y_axis)
    steps = _path(frame, _steps(finite, right), color=COLORS[0], strokeWidth=2.2, strokeCap="butt", strokeJoin="miter")
    layers = [*_uprights(frame, rules), steps]
    return draw(layers, width=frame.width, height=height, margins=(left, 8, RIGHT, 44), label=label, key=key)


def _steps(points: Sequence[tuple[float, float]], right: float) -> list[tuple[float, float]]:
    """The corners of the steps, from nothing at 0 to the right end of the scale."""
    corners, level = [(0.0, 0.0)], 0.0
    for x, share in points:
        corners += [(x, level), (x, share)]
        level = share
    return [*corners, (right, level)]


def _uprights(frame: Frame, rules: Sequence[Rule]) -> list[Any]:
    """Rules from the ground up, the words of the largest error on the first line, left of its rule where there is room.

    So the words cross no rule: those of smaller errors end below them.
    """
    layers: list[Any] = []
    for row, rule in enumerate(sorted(rules, key=lambda rule: -rule.value)):
        x, line = frame.pixel(rule.value), 8.0 + 16 * row
        flip = x > CHARACTER * len(rule.text) + 8
        place = {"x": rule.value, "y": 0.0, "y2": frame.at(0, line - 6)[1]}
        drawn = chart([place]).mark_rule(color=SOFT, strokeWidth=1.1, strokeDash=[(1, 0), (6, 3), (2, 2)][row % 3])
        layers.append(drawn.encode(x=frame.x(), y=frame.y(), y2="y2:Q"))
        layers.append(_text(frame, x, line, rule.text, align="right" if flip else "left", dx=-5 if flip else 5))
    return layers


def marked(name: str, value: float, unit: str) -> Rule:
    """A rule with its value after its name."""
    return Rule(value, f"{name} {figure(value, unit)}")
