"""The grammar of charts by row: intervals as dots, bars, and swings around a value, each row with its name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.reports.scales import Scale, linear
from unmask.reports.svg import (
    COLORS,
    FAINT,
    GROUND,
    INK,
    PANEL,
    SOFT,
    color,
    drawing,
    mark,
    path,
    rectangle,
    text,
    wide,
    wrapped,
)
from unmask.reports.words import percent

LONGEST = 125.0
"""Pixels for the name of a row; a longer one takes several lines."""

LIGHT = "#c9d6e6"


@dataclass(frozen=True)
class Dot:
    """A value with its interval, and the value without the release, from which a band reaches to it."""

    style: int
    value: float
    low: float
    high: float
    prior: float
    text: str


@dataclass(frozen=True)
class Absent:
    """The word that stands where a value would: "not run", "failed" ..."""

    text: str


def _left(names: Sequence[str]) -> float:
    """Room for the names of rows, in pixels."""
    lines = (line for name in names for line in wrapped(name, LONGEST))
    return 12 + max(60.0, *(wide(line, bold=True) for line in lines))


def _name(left: float, y: float, name: str) -> Iterator[str]:
    lines = wrapped(name, LONGEST)
    for row, line in enumerate(lines):
        yield text(left - 10, y + 13 * (row - (len(lines) - 1) / 2), line, anchor="end", look="bold")


def _ground(scale: Scale, left: float, right: float, top: float, bottom: float) -> Iterator[str]:
    """Labels below, a faint line above each."""
    for place, words in scale.ticks:
        x = left + scale.part(place) * (right - left)
        yield path([(x, top), (x, bottom)], stroke=GROUND, width=1)
        yield text(x, bottom + 12, words[0], anchor="middle", ink=SOFT, size=11)


def dots(rows: Sequence[tuple[str, Sequence[Dot | Absent]]], *, label: str, tick: str = "guessing") -> str:
    """By row a dot with its interval, a black tick where guessing stands, what is gained as a band, and the value.

    tick : what the tick is called where all stand at one value
    """
    found = [dot for _, own in rows for dot in own if isinstance(dot, Dot)]
    left, top, right = _left([name for name, _ in rows]), 22.0, PANEL - 6.0
    ends = [max(dot.prior, dot.value, dot.high) for dot in found]
    largest = max(ends, default=0.0) or 1.0
    rooms = [max(right - left - 12 - wide(dot.text), 50.0) for dot in found]
    end = max([largest * 1.02, *(at * (right - left) / room for at, room in zip(ends, rooms, strict=True))])
    ticks = linear(largest, about=max(1.0, min(4.0, largest / end * (right - left) / 55))).ticks
    scale = Scale(0.0, end, ticks)
    heights = [max(20 * len(own) + 12, 13 * len(wrapped(name, LONGEST)) + 8) for name, own in rows]
    bottom, y = top + sum(heights), top
    parts = [*_ground(scale, left, right, top, bottom)]
    for (name, own), height in zip(rows, heights, strict=True):
        parts += [path([(left, y), (right, y)], stroke=FAINT, width=1), *_name(left, y + height / 2, name)]
        for place, dot in enumerate(own):
            middle = y + height / 2 + 20 * (place - (len(own) - 1) / 2)
            parts += _dot(dot, scale, left, right - left, middle)
        y += height
    guesses = {percent(dot.prior) for dot in found}
    if len(guesses) == 1 and tick:
        parts.append(
            text(left + scale.at(found[0].prior) * (right - left) - 1, 11, f"{tick} {guesses.pop()}", ink=SOFT)
        )
    return drawing(parts, height=bottom + 24, label=label)


def _dot(dot: Dot | Absent, scale: Scale, left: float, width: float, y: float) -> Iterator[str]:
    if isinstance(dot, Absent):
        yield text(left + 9, y, dot.text, ink=SOFT, look="italic")
        return
    value, low, high, prior = (left + scale.at(v) * width for v in (dot.value, dot.low, dot.high, dot.prior))
    band = (min(prior, value), y - 3.5, max(prior, value), y + 3.5)
    yield rectangle(band, fill=color(dot.style), fade=0.28)
    yield path([(low, y), (high, y)], stroke=INK, width=1.6) if low < high else ""
    yield path([(prior, y - 7), (prior, y + 7)], stroke=INK, width=2)
    yield mark(value, y, dot.style)
    yield text(max(value, high, prior) + 9, y, dot.text)


def bars(
    rows: Sequence[tuple[str, Sequence[float]]],
    edges: Sequence[float],
    *,
    style: int,
    tallest: float,
    title: str,
    label: str,
) -> str:
    """By row the share in each bin as a bar: bins are equally wide whatever their edges, which are written below.

    tallest : the share that fills the height of a row, the same for all charts that are compared
    """
    left, right, band, bins = _left([*(name for name, _ in rows), title]), PANEL - 16.0, 52.0, len(edges) - 1
    step, parts = (right - left) / bins, []
    for i, (name, values) in enumerate(rows):
        floor = 4 + (i + 1) * band - 1
        parts += [
            path([(left, floor), (right, floor)], stroke=SOFT, width=0.8),
            *_name(left, floor - band / 2 + 8, name),
        ]
        last = max((b for b, share in enumerate(values) if share > 0), default=0)
        for b, share in ((b, share) for b, share in enumerate(values) if share > 0):
            x, top = left + b * step, floor - 1.2 - 32 * share / tallest
            parts.append(rectangle((x + 1, top, x + step - 1, floor), fill=color(style)))
            if bins <= 10 or b == last or share == max(values):
                said = percent(share, 0 if share >= 0.0995 else 1)
                parts.append(text(x + step / 2, top - 7, said, anchor="middle", size=10.5))
    bottom, every = 4 + band * len(rows), max(1, math.ceil(bins / 8))
    for b in range(0, len(edges), every):
        said = f"{round(100 * edges[b], 1):g}"
        parts.append(text(left + b * step, bottom + 10, said, anchor="middle", ink=SOFT, size=11))
    parts.append(text(left - 10, bottom + 10, title, anchor="end", ink=SOFT, size=11))
    return drawing(parts, height=bottom + 22, label=label)


@dataclass(frozen=True)
class Swing:
    """What a value becomes when one parameter is lower or higher, and the words for both."""

    name: str
    low: float
    high: float
    low_text: str
    high_text: str


def swings(rows: Sequence[Swing], *, base: float, words: str, unit: str, title: str, label: str) -> str:
    """By parameter two bars around what is now: lower above and dark, higher below and light, with their words."""
    side = 12 + max(wide(said) for row in rows for said in (row.low_text, row.high_text))
    left, right, band, top = side, PANEL - side, 46.0, 22.0
    largest = max(base, *(end for row in rows for end in (row.low, row.high))) or 1.0
    scale, bottom = linear(largest, about=3, unit=unit, title=title), top + band * len(rows)
    now = left + scale.at(base) * (right - left)
    parts = [*_ground(scale, left, right, top, bottom), text(now, 11, words, anchor="middle")]
    for i, row in enumerate(rows):
        y = top + i * band
        parts += [path([(0, y), (PANEL, y)], stroke=FAINT, width=1), text(4, y + 10, row.name, look="bold")]
        for place, (end, other, said) in enumerate(
            ((row.low, row.high, row.low_text), (row.high, row.low, row.high_text))
        ):
            x, above = left + scale.at(end) * (right - left), y + 20 + 11 * place
            box = (min(now, x), above, max(now, x), above + 10)
            parts.append(rectangle(box, fill=LIGHT if place else COLORS[0], stroke=COLORS[0]))
            leftward = end < base or (end == base and (other > base or (other == base and not place)))
            anchor, shift = ("end", -5) if leftward else ("", 5)
            parts.append(text(x + shift, above + 5, said, anchor=anchor, size=11))
        parts.append(path([(now, y + 18), (now, y + 43)], stroke=INK, width=1.2))
    parts.append(text((left + right) / 2, bottom + 32, title, anchor="middle"))
    return drawing(parts, height=bottom + 44, label=label)
