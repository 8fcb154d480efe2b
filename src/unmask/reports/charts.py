"""The grammar of charts: lines, steps, spots and rules on two scales. Every subject of a page says what, this draws it.

Scales of risk start at 0, or are logarithmic and say so. A legend has all lines in their order and is never cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from unmask.measures.registry import SHARES
from unmask.reports.room import (
    MIDDLE,
    NARROW,
    RIGHT,
    ROW,
    Box,
    apart,
    at_step,
    first_free,
    inside,
    overlap,
    room,
    wide,
    wrapped,
)
from unmask.reports.scales import Scale
from unmask.reports.svg import (
    AXIS,
    GROUND,
    INK,
    SOFT,
    Drawing,
    Entry,
    bubble,
    color,
    dashes,
    hair,
    line,
    mark,
    path,
    series,
    target,
    text,
    told,
)
from unmask.reports.words import number, percent

MARKS = 12
"""Marks on one line, about."""

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """A named line through points, in the look of number `style`; points without a finite value are gaps.

    shade  : whether it is no adversary, and has a shade instead of a color
    marked : whether points have marks
    """

    name: str
    points: Points
    style: int
    shade: bool = False
    marked: bool = True
    width: float = 2.0

    @property
    def color(self) -> str:
        """Its color."""
        return color(self.style, shade=self.shade)

    @property
    def entry(self) -> Entry:
        """Its entry in a legend."""
        stroke = line((0, 7), (1, 7), stroke=self.color, width=self.width, dash=dashes(self.style))
        shapes = stroke + (mark(0.5, 7, self.style, radius=4.2, shade=self.shade) if self.marked else "")
        return Entry(self.name, shapes, self.name)


@dataclass(frozen=True)
class Spot:
    """A single value: filled or hollow, with the ends of its interval as a thin line, and its name where there is room.

    radius : of a bubble, in pixels; 0 is a mark in the shape of its style
    of     : the entry of the legend that hides it
    told   : its exact values, in words
    """

    x: float
    y: float
    style: int
    name: str = ""
    low: float | None = None
    high: float | None = None
    hollow: bool = False
    radius: float = 0.0
    of: str = ""
    told: str = ""

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of its thin line."""
        return self.y if self.low is None else self.low, self.y if self.high is None else self.high


@dataclass(frozen=True)
class Rule:
    """A value that is marked by a rule with words: upright at a value of the horizontal scale, or across."""

    value: float
    text: str
    style: int = 0
    across: bool = False


@dataclass(frozen=True)
class Key:
    """An entry of the legend that is a mark: of an adversary."""

    name: str
    style: int
    hollow: bool = False

    @property
    def entry(self) -> Entry:
        """Its entry in a legend."""
        return Entry(self.name, mark(0.5, 7, self.style, hollow=self.hollow), self.name)


@dataclass(frozen=True)
class _Area:
    """Where values are drawn: parts of the width, and pixels from the top."""

    x: Scale
    y: Scale
    left: float
    top: float
    height: float

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def py(self, value: float) -> float:
        return self.bottom - self.y.at(value) * self.height

    def ends(self, spot: Spot) -> tuple[float, float]:
        """Top and bottom of its thin line, which ends where the scale does."""
        places = [self.y.at(value) for value in spot.ends]
        low, high = (min(max(at, 0.0), 1.0) if math.isfinite(at) else 0.0 for at in places)
        return self.bottom - high * self.height, self.bottom - low * self.height

    def all(self, points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        return [(self.x.at(x), self.py(y)) for x, y in points]


def plot(
    x: Scale,
    y: Scale,
    lines: Sequence[Line] = (),
    *,
    spots: Sequence[Spot] = (),
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
    area = _Area(x, y, left, top + ROW * rows, height)
    parts = [*(text(0, 8 + ROW * row, words, dx=-left) for row, words in enumerate(title)), *_axes(area)]
    taken = _obstacles(area, lines, spots)
    for rule, place in said:
        parts += _upright(area, rule, place)
    parts += _across(area, rules, taken)
    parts += [_line(area, one) for one in sorted(lines, key=lambda one: one.style)]
    parts += [_spot(area, spot) for spot in spots]
    parts += _names(area, spots, taken)
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


def _axes(area: _Area) -> Iterator[str]:
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


def _line(area: _Area, one: Line) -> str:
    """The line, and marks on some of its points."""
    finite = [point for point in one.points if all(map(math.isfinite, area.all([point])[0]))]
    fade = 0.65 if one.width < 1.5 else 1.0
    drawn = path(area.all(one.points), stroke=one.color, width=one.width, dash=dashes(one.style), fade=fade)
    some = finite[:: max(1, math.ceil(len(finite) / MARKS))]
    marks = (_told(area, one, point) for point in some)
    return series(one.name, [drawn, *marks])


def _told(area: _Area, one: Line, point: tuple[float, float]) -> str:
    """A point with its values; without a mark, a place for the pointer."""
    (at, y), said = area.all([point])[0], f"{area.x.said(point[0])}: {area.y.said(point[1])}"
    shape = mark(at, y, one.style, radius=4.2, shade=one.shade) if one.marked else target(at, y)
    return told(f"{one.name}, {said}" if one.name else said, shape)


def _spot(area: _Area, spot: Spot) -> str:
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


def _upright(area: _Area, rule: Rule, place: tuple[float, str, list[str]]) -> Iterator[str]:
    y, anchor, words = place
    at = area.x.at(rule.value)
    yield line((at, area.bottom), (at, y - 8), stroke=SOFT, width=1.1, dash=dashes(rule.style))
    for row, said in enumerate(words):
        yield text(at, y + ROW * row, said, dx=-5 if anchor else 5, anchor=anchor)


def _across(area: _Area, rules: Sequence[Rule], taken: list[Box]) -> Iterator[str]:
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


# --- room for names --------------------------------------------------------------------------------------------------


def _obstacles(area: _Area, lines: Sequence[Line], spots: Sequence[Spot]) -> list[Box]:
    """What words keep clear of: spots, thin lines, and lines, in pieces."""
    boxes = []
    for spot in spots:
        at, y, reach = area.x.at(spot.x), area.py(spot.y), spot.radius or 7.0
        high, low = area.ends(spot)
        boxes.append(Box(at, -reach, at, reach, y - reach, y + reach))
        boxes += [Box(at, -1, at, 1, high, low)] if low != high else []
    for a, b in (pair for one in lines for pair in pairwise(area.all(one.points))):
        if all(map(math.isfinite, (*a, *b))):
            boxes += _pieces(a, b)
    return boxes


def _pieces(a: tuple[float, float], b: tuple[float, float]) -> Iterator[Box]:
    """A line as boxes: one where it is level or upright, else one every few pixels."""
    parts = 1 if a[0] == b[0] or a[1] == b[1] else max(1, math.ceil(max(abs(a[1] - b[1]) / 4, abs(a[0] - b[0]) * 100)))
    places = [(a[0] + (b[0] - a[0]) * i / parts, a[1] + (b[1] - a[1]) * i / parts) for i in range(parts + 1)]
    for (x, y), (x2, y2) in pairwise(places):
        yield Box(min(x, x2), -2, max(x, x2), 2, min(y, y2) - 2, max(y, y2) + 2)


AWAY = (0.0, 12.0, 24.0, 38.0, 54.0, 72.0, 92.0)
"""Pixels by which a name may be away from its spot, with a hair line to it."""


def _names(area: _Area, spots: Sequence[Spot], taken: list[Box]) -> Iterator[str]:
    """The name of each spot near it, where nothing else is at any width; or from a middle width on."""
    for spot in sorted((spot for spot in spots if spot.name), key=lambda spot: (-spot.radius, -spot.x, spot.y)):
        places = list(_places(area, spot))
        for narrow in (NARROW, MIDDLE):
            kept = [box for box in places if inside(box, right=RIGHT, narrow=narrow)]
            found = first_free(kept, taken, narrow)
            if found is not None:
                taken.append(found)
                yield series(spot.of, _name(area, spot, found, second=narrow > NARROW))
                break


def _places(area: _Area, spot: Spot) -> Iterator[Box]:
    """Where the name of a spot may stand: near places first."""
    at, y, reach = area.x.at(spot.x), area.py(spot.y), (spot.radius or 6.0) + 4
    above = y - min(y, area.ends(spot)[0] + 2)
    for away in AWAY if not spot.radius else AWAY[:1]:
        for dx, anchor, shift in (
            (reach + away / 2, "", -away),
            (-reach - away / 2, "end", -away),
            (0.0, "middle", -reach - 6 - away - above),
            (0.0, "middle", reach + 6 + away),
            (reach + away / 2, "", away),
            (-reach - away / 2, "end", away),
        ):
            box = room(at, dx, spot.name, anchor=anchor, y=y + shift)
            if box.top >= area.top - 8 and box.bottom < area.bottom:
                yield box


def _name(area: _Area, spot: Spot, box: Box, *, second: bool) -> Iterator[str]:
    """The name in its box, and a hair line from the spot where it stands away."""
    at, y, middle = area.x.at(spot.x), area.py(spot.y), (box.top + box.bottom) / 2
    near = min(max(0.0, box.left_px), box.right_px), min(max(y, box.top), box.bottom) - y
    away = math.hypot(*near)
    if away > 16:
        yield hair(at, y, (near[0] * 6 / away, near[1] * 6 / away), near, second=second)
    yield text(at, middle, spot.name, dx=box.left_px, look="halo", second=second)
