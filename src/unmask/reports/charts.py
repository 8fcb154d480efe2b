"""The grammar of charts: lines, steps, spots and rules on two scales. Every subject of a page says what, this draws it.

Scales of risk start at 0, or are logarithmic and say so. A legend has all lines in their order and is never cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from unmask.measures.registry import SHARES
from unmask.reports.marks import Area, Bar, Key, Line, Points, Rule, Spot
from unmask.reports.naming import names, obstacles
from unmask.reports.room import (
    MIDDLE,
    NARROW,
    RIGHT,
    ROW,
    Box,
    apart,
    at_step,
    overlap,
    room,
    wide,
    wrapped,
)
from unmask.reports.scales import Scale
from unmask.reports.svg import (
    ACCENT_SOFT,
    AXIS,
    GROUND,
    INK,
    SOFT,
    Drawing,
    bubble,
    dashes,
    line,
    mark,
    path,
    rectangle,
    series,
    target,
    text,
    told,
)
from unmask.reports.words import number, percent

GUIDE = 1.5
"""Lines that are thinner than so many pixels lead the eye; unmarked, they have no values to show."""

MARKS = 12
"""Marks on one line, about."""


def plot(
    x: Scale,
    y: Scale,
    lines: Sequence[Line] = (),
    *,
    spots: Sequence[Spot] = (),
    bars: Sequence[Bar] = (),
    rules: Sequence[Rule] = (),
    keys: Sequence[Key] = (),
    height: float = 200.0,
    label: str,
    kind: str = "plot",
) -> Drawing:
    """Everything that stands on two scales; dashes are over what is solid, names where there is room at any width.

    keys  : what the legend says besides the names of lines; there is none where it would have one entry
    label : what the chart shows, for readers who do not see it
    """
    rules = [rule for rule in rules if math.isfinite((y if rule.across else x).place(rule.value))]
    uprights = sorted((rule for rule in rules if not rule.across), key=lambda rule: -rule.value)
    left = at_step(10 + max((wide(words[0]) for _, words in y.ticks), default=0.0))
    entries: list[Line | Key] = [*keys, *sorted((one for one in lines if one.name), key=lambda one: one.style)]
    title = wrapped(y.title, NARROW) if y.title else []
    top = ROW * len(title) + (10.0 if title else 8.0)
    said, rows = _uprights(x, uprights, top)
    area = Area(x, y, left, top + ROW * rows, height)
    parts = [*(text(0, 8 + ROW * row, words, dx=-left) for row, words in enumerate(title)), *_axes(area)]
    taken = obstacles(area, lines, spots)
    parts += [_bar(area, bar) for bar in bars]
    for rule, place in said:
        parts += _upright(area, rule, place)
    parts += _across(area, rules, taken)
    parts += [_line(area, one) for one in sorted(lines, key=lambda one: one.style)]
    parts += [_spot(area, spot) for spot in spots]
    parts += names(area, spots, taken)
    foot = wrapped(x.title, NARROW + left) if x.title else []
    end = area.bottom + 14 + ROW * x.rows
    parts += [text(1, end + ROW * row, words, anchor="end") for row, words in enumerate(foot)]
    high = end - 6 + ROW * len(foot)
    legend = tuple(one.entry for one in entries) if len(entries) > 1 else ()
    return Drawing(tuple(parts), high, label, left, legend=legend, kind=kind)


def ends(lines: Sequence[Line], unit: str = "share") -> str:
    """The first and the last value of each line, for readers who do not see it."""
    said = percent if unit in SHARES else number
    known = ((one.name, [y for _, y in one.points if math.isfinite(y)]) for one in lines)
    return "; ".join(f"{name}: {said(values[0])} to {said(values[-1])}" for name, values in known if values) + "."


def steps(points: Points, *, start: float, end: float | None = None) -> list[tuple[float, float]]:
    """The corners of steps: each value holds up to its place, or from one place to the next where an end is given.

    >>> steps([(1.0, 0.5), (2.0, 1.0)], start=0.0, end=3.0)
    [(0.0, 0.0), (1.0, 0.0), (1.0, 0.5), (2.0, 0.5), (2.0, 1.0), (3.0, 1.0)]
    >>> steps([(1.0, 5.0), (2.0, 4.0)], start=0.5)
    [(0.5, 5.0), (1.5, 5.0), (1.5, 4.0), (2.5, 4.0)]
    """
    if end is not None:
        levels = [0.0, *(value for _, value in points)]
        places = [start, *(place for place, _ in points), end]
        return [(at, value) for value, ends in zip(levels, pairwise(places), strict=True) for at in ends]
    inner = [(a + b) / 2 for (a, _), (b, _) in pairwise(points)]
    edges = [start, *inner, points[-1][0] + 0.5]
    return [(at, value) for (_, value), ends in zip(points, pairwise(edges), strict=True) for at in ends]


# --- what is drawn ---------------------------------------------------------------------------------------------------


def _axes(area: Area) -> Iterator[str]:
    for place, words in area.y.ticks:
        at = area.bottom - area.y.part(place) * area.height
        yield line((0, at), (1, at), stroke=GROUND)
        yield text(0, at, words[0], dx=-8, anchor="end", ink=SOFT)
    labels = [(area.x.part(place), words) for place, words in area.x.ticks]
    always = apart(labels, NARROW, left=area.left)
    often = apart(labels, MIDDLE, always, left=area.left)
    for i, (at, words) in enumerate(labels):
        yield line((at, area.bottom), (at, area.bottom + 4), stroke=AXIS) if i in often else ""
        for row, said in enumerate(words if i in often else ()):
            yield text(at, area.bottom + 14 + ROW * row, said, anchor=often[i], ink=SOFT, second=i not in always)
    yield line((0, area.bottom), (1, area.bottom), stroke=AXIS)


def _bar(area: Area, bar: Bar) -> str:
    ends = area.x.at(bar.low), area.py(bar.value), area.x.at(bar.high), area.bottom
    return told(bar.told, rectangle(*ends, fill=ACCENT_SOFT, apart=True))


def _line(area: Area, one: Line) -> str:
    """The line, and marks on some of its points."""
    finite = [point for point in one.points if all(map(math.isfinite, area.all([point])[0]))]
    fade = 0.65 if one.width < GUIDE else 1.0
    drawn = path(area.all(one.points), stroke=one.color, width=one.width, dash=dashes(one.style), fade=fade)
    guide = not one.marked and one.width < GUIDE  # a frontier or an even line: its corners are no values
    some = [] if guide else finite[:: max(1, math.ceil(len(finite) / MARKS))]
    marks = (_told(area, one, point) for point in some)
    return series(one.name, [drawn, *marks])


def _told(area: Area, one: Line, point: tuple[float, float]) -> str:
    """A point with its values; without a mark, a place for the pointer."""
    (at, y), said = area.all([point])[0], f"{area.x.said(point[0])}: {area.y.said(point[1])}"
    shape = mark(at, y, one.style, radius=4.2, shade=one.shade) if one.marked else target(at, y)
    return told(f"{one.name}, {said}" if one.name else said, shape)


def _spot(area: Area, spot: Spot) -> str:
    at, y = area.all([(spot.x, spot.y)])[0]
    top, low = area.ends(spot)
    thin = [line((at, low), (at, top), stroke=INK, width=1.2)] if low != top else []
    shape = (
        bubble(at, y, spot.style, radius=spot.radius)
        if spot.radius
        else mark(at, y, spot.style, radius=5.4, hollow=spot.hollow)
    )
    said = spot.told or f"{spot.name} {area.x.said(spot.x)}, {area.y.said(spot.y)}".strip()
    return series(spot.of, [*thin, told(said, shape)])


Said = list[tuple[Rule, tuple[float, str, list[str]]]]


def _uprights(x: Scale, rules: Sequence[Rule], top: float) -> tuple[Said, int]:
    """Of each upright rule where its words begin, on which side, and its words in lines; and how many lines there are.

    Each has lines of its own, the largest value first: no word is crossed.
    """
    said: Said = []
    row = 0
    for rule in rules:
        at, long = x.at(rule.value), wide(rule.text) + 8
        flip = (1 - at) * NARROW + RIGHT < long and at > 0.5
        free = at * NARROW if flip else (1 - at) * NARROW + RIGHT
        words = wrapped(rule.text, max(free - 8, 60.0))
        said.append((rule, (top + 6 + ROW * row, "end" if flip else "", words)))
        row += len(words)
    return said, row


def _upright(area: Area, rule: Rule, place: tuple[float, str, list[str]]) -> Iterator[str]:
    y, anchor, words = place
    at = area.x.at(rule.value)
    yield line((at, area.bottom), (at, y - 8), stroke=SOFT, width=1.1, dash=dashes(rule.style))
    for row, said in enumerate(words):
        yield text(at, y + ROW * row, said, dx=-5 if anchor else 5, anchor=anchor)


def _across(area: Area, rules: Sequence[Rule], taken: list[Box]) -> Iterator[str]:
    """Rules from side to side, with words above or below at the end where least is drawn."""
    for rule in (rule for rule in rules if rule.across):
        y = area.py(rule.value)
        sides = [(0.0, 4.0, ""), (1.0, -4.0, "end")]
        rows = [middle for middle in (y - 11, y + 11) if middle < area.bottom - 6]
        places = [(at, dx, anchor, middle) for middle in rows for at, dx, anchor in sides]
        boxes = [room(at, dx, rule.text, anchor=anchor, y=middle) for at, dx, anchor, middle in places]
        best = min(range(len(boxes)), key=lambda i: sum(overlap(boxes[i], other) for other in taken))
        at, dx, anchor, middle = places[best]
        taken += [boxes[best], Box(0, 0, 1, 0, y - 1, y + 1)]
        yield line((0, y), (1, y), stroke=SOFT, width=1.2, dash=dashes(1))
        yield text(at, middle, rule.text, dx=dx, anchor=anchor, look="halo")
