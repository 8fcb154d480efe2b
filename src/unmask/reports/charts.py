"""The grammar of charts: lines, steps, spots and rules on two scales. Every subject of a page says what, this draws it.

Scales of risk start at 0. A legend has all lines in their order and is never cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from unmask.measures.registry import SHARES
from unmask.reports.scales import Scale, errors
from unmask.reports.svg import (
    DASHES,
    GROUND,
    INK,
    PANEL,
    SIZE,
    SOFT,
    Box,
    bubble,
    color,
    drawing,
    mark,
    overlap,
    path,
    text,
    wide,
    wrapped,
)
from unmask.reports.words import number, percent

MARKS = 12
"""Marks on one line, about."""

RIGHT = 18.0
"""Pixels right of a chart."""

ROW = 20.0
"""Height of a line of the legend, in pixels."""

RADIUS = 17.0
"""Radius of the largest bubble, in pixels."""

CELLS = 300
"""Bubbles that are drawn one by one; of more, neighbors are drawn as one."""

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


@dataclass(frozen=True)
class Spot:
    """A single value: filled or hollow, with the ends of its interval as a thin line, and its name where there is room.

    radius : of a bubble, in pixels; 0 is a mark in the shape of its style
    letter : stands beside it in bold
    """

    x: float
    y: float
    style: int
    name: str = ""
    low: float | None = None
    high: float | None = None
    hollow: bool = False
    radius: float = 0.0
    letter: str = ""

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


@dataclass(frozen=True)
class _Area:
    """Where values are drawn, in pixels from the left and the top."""

    x: Scale
    y: Scale
    left: float
    top: float
    height: float

    @property
    def right(self) -> float:
        return PANEL - RIGHT

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def px(self, value: float) -> float:
        return self.left + self.x.at(value) * (self.right - self.left)

    def py(self, value: float) -> float:
        return self.bottom - self.y.at(value) * self.height

    def all(self, points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        return [(self.px(x), self.py(y)) for x, y in points]


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
) -> str:
    """Everything that stands on two scales, as SVG; dashes are over what is solid, names where there is room.

    keys  : what the legend says besides the names of lines; there is none where it would have one entry
    label : what the chart shows, for readers who do not see it
    """
    rules = [rule for rule in rules if math.isfinite((y if rule.across else x).place(rule.value))]
    uprights = sorted((rule for rule in rules if not rule.across), key=lambda rule: -rule.value)
    left = (22.0 if y.title else 0.0) + 12 + max((wide(words[0]) for _, words in y.ticks), default=0.0)
    entries: list[Line | Key] = [*keys, *sorted((line for line in lines if line.name), key=lambda line: line.style)]
    legend, top = _legend(entries, left) if len(entries) > 1 else ([], 8.0)
    area = _Area(x, y, left, top + 16.0 * len(uprights), height)
    taken = _obstacles(area, lines, spots)
    parts = [*_axes(area), *legend, *_uprights(area, uprights, top), *_across(area, rules, taken)]
    parts += [part for line in sorted(lines, key=lambda line: line.style) for part in _line(area, line)]
    parts += [part for spot in spots for part in _spot(area, spot)]
    parts += _names(area, spots, taken)
    return drawing(parts, height=area.bottom + 12 + 14 * x.rows + (20 if x.title else 0), label=label, kind="plot")


def ends(lines: Sequence[Line], unit: str = "share") -> str:
    """The first and the last value of each line, for readers who do not see it."""
    said = percent if unit in SHARES else number
    known = ((line.name, [y for _, y in line.points if math.isfinite(y)]) for line in lines)
    return "; ".join(f"{name}: {said(values[0])} to {said(values[-1])}" for name, values in known if values) + "."


def plane(x: Scale, y: Scale, spots: Sequence[Spot], *, label: str, height: float = 250.0) -> str:
    """Risk against utility: for each adversary, the filled spots joined, and the letter of theirs at the last one."""
    fronts = []
    shown = sorted(spots, key=lambda spot: not spot.hollow)
    for style in dict.fromkeys(spot.style for spot in spots):
        best = sorted((spot.x, spot.y) for spot in spots if spot.style == style and not spot.hollow)
        fronts.append(Line("", best, style, marked=False, width=1.2))
        last = max((spot for spot in shown if spot.style == style), key=lambda spot: spot.x)
        shown = [replace(spot, letter="") if spot.style == style and spot is not last else spot for spot in shown]
    return plot(x, y, fronts, spots=shown, height=height, label=label)


def bubbles(points: Sequence[tuple[int, int, int]], *, largest: tuple[int, int, int], style: int, label: str) -> str:
    """Misses across, includes upwards; the area of a bubble is its number of subjects, written beside the largest.

    points  : (misses, includes, subjects), at least one
    largest : the most misses, includes and subjects in one point of all charts that are compared
    """
    height = 230.0 if largest[1] else 90.0
    x = errors(largest[0], "Misses: own items lacking", 370.0, RADIUS + 2)
    y = errors(largest[1], "Includes: foreign items" if largest[1] else "Includes", height, RADIUS + 2)
    gathered = sorted(_gathered(points, largest), key=lambda point: (-point[2], point[:2]))
    radii = [max(2.2, RADIUS * math.sqrt(min(n / largest[2], 1.0))) for _, _, n in gathered]
    spots = [
        Spot(miss, include, style, f"{n:,}" if i < 4 or (i < 8 and radius > 3.5) else "", radius=radius)
        for i, ((miss, include, n), radius) in enumerate(zip(gathered, radii, strict=True))
    ]
    return plot(x, y, spots=spots, height=height, label=label)


def _gathered(points: Sequence[tuple[int, int, int]], largest: tuple[int, int, int]) -> list[tuple[float, float, int]]:
    """The points; of very many, those in one cell of a grid are one."""
    if len(points) <= CELLS:
        return [(float(miss), float(include), n) for miss, include, n in points]
    found: dict[tuple[float, float], int] = {}
    steps = [max(most / 40, 1.0) for most in largest[:2]]
    for miss, include, n in points:
        place = round(miss / steps[0]) * steps[0], round(include / steps[1]) * steps[1]
        found[place] = found.get(place, 0) + n
    return [(*place, n) for place, n in found.items()]


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
        yield path([(area.left, at), (area.right, at)], stroke=GROUND, width=1)
        yield text(area.left - 8, at, words[0], anchor="end", ink=SOFT, size=11)
    for place, words in area.x.ticks:
        at = area.left + area.x.part(place) * (area.right - area.left)
        yield path([(at, area.bottom), (at, area.bottom + 4)], stroke=SOFT, width=1)
        for row, said in enumerate(words):
            middle = min(at, PANEL - wide(said) / 2)
            yield text(middle, area.bottom + 12 + 14 * row, said, anchor="middle", ink=SOFT, size=11)
    yield path([(area.left, area.bottom), (area.right, area.bottom)], stroke=SOFT, width=1)
    middle = (area.left + area.right) / 2
    yield text(middle, area.bottom + 14 + 14 * area.x.rows, area.x.title, anchor="middle") if area.x.title else ""
    if area.y.title:
        yield text(11, (area.top + area.bottom) / 2, area.y.title, anchor="middle", turn=-90)


def _legend(entries: Sequence[Line | Key], left: float) -> tuple[list[str], float]:
    """Stroke and mark of each entry and its name, as many beside each other as there is room; and where it ends."""
    parts: list[str] = []
    x, y = left, 10.0
    for entry in entries:
        words = wrapped(entry.name, PANEL - left - 34)
        long = 34 + max(map(wide, words)) + 14
        if x > left and x + long - 14 > PANEL:
            x, y = left, y + ROW
        if isinstance(entry, Line):
            dash = DASHES[entry.style % len(DASHES)]
            parts.append(path([(x, y), (x + 28, y)], stroke=entry.color, width=entry.width, dash=dash))
        if isinstance(entry, Key) or entry.marked:
            hollow, shade = (entry.hollow, False) if isinstance(entry, Key) else (False, entry.shade)
            parts.append(mark(x + 14, y, entry.style, radius=4, hollow=hollow, shade=shade))
        parts += [text(x + 34, y + (SIZE + 2) * row, said) for row, said in enumerate(words)]
        x, y = x + long, y + (SIZE + 2) * (len(words) - 1)
    return parts, y + 16


def _line(area: _Area, line: Line) -> list[str]:
    """The line, and marks on some of its points."""
    points = area.all(line.points)
    finite = [point for point in points if all(map(math.isfinite, point))]
    dash = DASHES[line.style % len(DASHES)]
    fade = 0.55 if line.width < 1.5 else 1.0
    drawn = path(points, stroke=line.color, width=line.width, dash=dash, fade=fade)
    some = finite[:: max(1, math.ceil(len(finite) / MARKS))] if line.marked else []
    return [drawn, *(mark(*point, line.style, radius=3.8, shade=line.shade) for point in some)]


def _spot(area: _Area, spot: Spot) -> list[str]:
    x, y = area.px(spot.x), area.py(spot.y)
    if spot.radius:
        return [bubble(x, y, spot.style, radius=spot.radius)]
    low, high = spot.ends
    line = [path([(x, area.py(low)), (x, area.py(high))], stroke=INK, width=1.2)] if low != high else []
    said = [text(x + 9, y, spot.letter, look="bold")] if spot.letter else []
    return [*line, mark(x, y, spot.style, radius=4.8, hollow=spot.hollow), *said]


def _uprights(area: _Area, rules: Sequence[Rule], top: float) -> Iterator[str]:
    """Rules from the ground up, each with its words on a line of its own, the largest value first: none is crossed."""
    for row, rule in enumerate(rules):
        x, y = area.px(rule.value), top + 7 + 16.0 * row
        long = wide(rule.text) + 8
        flip = x + long > PANEL and x > long
        yield path([(x, area.bottom), (x, y - 6)], stroke=SOFT, width=1.1, dash=DASHES[rule.style % len(DASHES)])
        yield text(x - 5 if flip else x + 5, y, rule.text, anchor="end" if flip else "")


def _across(area: _Area, rules: Sequence[Rule], taken: list[Box]) -> Iterator[str]:
    """Rules from side to side, with words above or below at the end where least is drawn."""
    for rule in (rule for rule in rules if rule.across):
        y, long = area.py(rule.value), wide(rule.text) + 4
        sides = [(at, y + up) for up in (-9, 9) for at in (area.left, area.right - long)]
        boxes = [(x, middle - 7, x + long, middle + 7) for x, middle in sides if middle < area.bottom - 6]
        box = min(boxes, key=lambda box: sum(overlap(box, other) for other in taken))
        taken += [box, (area.left, y - 1, area.right, y + 1)]
        yield path([(area.left, y), (area.right, y)], stroke=SOFT, width=1.2, dash=DASHES[1])
        yield text(box[0] + 2, (box[1] + box[3]) / 2, rule.text, look="halo")


# --- room for names --------------------------------------------------------------------------------------------------


def _obstacles(area: _Area, lines: Sequence[Line], spots: Sequence[Spot]) -> list[Box]:
    """What words keep clear of: spots with their letters, thin lines, and lines, a box every few pixels."""
    boxes = []
    for spot in spots:
        x, y, reach = area.px(spot.x), area.py(spot.y), spot.radius or 7.0
        low, high = (area.py(end) for end in spot.ends)
        boxes.append((x - reach, y - reach, x + reach + (12 if spot.letter else 0), y + reach))
        boxes += [(x - 1, high, x + 1, low)] if low != high else []
    for (x, y), (x2, y2) in (pair for line in lines for pair in pairwise(area.all(line.points))):
        if all(map(math.isfinite, (x, y, x2, y2))):
            parts = max(1, math.ceil(math.hypot(x2 - x, y2 - y) / 4))
            places = ((x + (x2 - x) * i / parts, y + (y2 - y) * i / parts) for i in range(parts + 1))
            boxes += [(at - 2, up - 2, at + 2, up + 2) for at, up in places]
    return boxes


def _names(area: _Area, spots: Sequence[Spot], taken: list[Box]) -> Iterator[str]:
    """The name of each spot near it, where nothing else is; one that stands away has a hair line to it."""
    for spot in sorted((spot for spot in spots if spot.name), key=lambda spot: (-spot.radius, spot.x, spot.y)):
        x, y, reach = area.px(spot.x), area.py(spot.y), (spot.radius or 6.0) + 4
        top = min(y, area.py(spot.ends[1]) + 2)
        found = _room(area, (x, y, top), reach, wide(spot.name) + 3, taken, far=not spot.radius)
        if found is None:
            continue
        taken.append(found)
        y = top if found[3] < top else y
        nearest = min(max(x, found[0]), found[2]), min(max(y, found[1]), found[3])
        away = math.dist((x, y), nearest)
        if away > 16:
            start = x + (nearest[0] - x) * 6 / away, y + (nearest[1] - y) * 6 / away
            yield path([start, nearest], stroke=SOFT, width=0.8)
        yield text(found[0] + 1, (found[1] + found[3]) / 2, spot.name, look="halo")


def _room(
    area: _Area, at: tuple[float, float, float], reach: float, long: float, taken: Sequence[Box], *, far: bool
) -> Box | None:
    """The first place that nothing else has around a spot, or above its thin line: near ones first."""
    x, y, top = at
    for away in (0.0, 12.0, 26.0, 42.0, 60.0, 80.0, 100.0) if far else (0.0,):
        beside, above = reach + away, reach + 6 + away
        places = [(x + beside, y - away), (x - beside - long, y - away), (x - long / 2, top - above)]
        places += [(x - long / 2, y + above), (x + beside, y + away), (x - beside - long, y + away)]
        for left, middle in places:
            box = (left, middle - 7, left + long, middle + 7)
            inside = left >= area.left + 2 and box[2] <= PANEL - 1 and box[1] >= area.top - 6 and box[3] < area.bottom
            if inside and not any(overlap(box, other) for other in taken):
                return box
    return None
