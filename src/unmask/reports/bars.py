"""The grammar of charts by row: intervals as dots, people over risk, and swings around a value, each with its name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.reports.room import (
    MIDDLE,
    NARROW,
    ROW,
    Box,
    Labels,
    apart,
    at_step,
    first_free,
    inside,
    room,
    wide,
    wrapped,
)
from unmask.reports.scales import Scale, linear, ticked
from unmask.reports.svg import (
    ACCENT_SOFT,
    AXIS,
    COLORS,
    GROUND,
    INK,
    MISSED,
    SOFT,
    Drawing,
    color,
    line,
    mark,
    rectangle,
    text,
    told,
)
from unmask.reports.words import number, percent

EDGE = 10.0
"""Pixels at the right for the half of a mark."""


@dataclass(frozen=True)
class Dot:
    """A value with its interval, and the value without the release, from which a band reaches to it.

    name : whose it is, where a row has several
    """

    style: int
    value: float
    low: float
    high: float
    prior: float
    text: str
    name: str = ""


@dataclass(frozen=True)
class Absent:
    """The word that stands where a value would: "not run", "failed" ..."""

    text: str
    name: str = ""


def dots(rows: Sequence[tuple[str, Sequence[Dot | Absent]]], *, label: str, tick: str = "guessing") -> Drawing:
    """By row a dot with its interval, a black tick where guessing stands, what is gained as a band, and the value.

    label : what the chart shows; the values are added
    tick  : what the tick is called where all stand at one value
    """
    found = [dot for _, own in rows for dot in own if isinstance(dot, Dot)]
    largest = max((max(dot.prior, dot.value, dot.high) for dot in found), default=0.0) or 1.0
    scale = linear(largest, beyond=True)
    guesses = {percent(dot.prior) for dot in found}
    alike = f"{tick} {guesses.pop()}" if len(guesses) == 1 and tick else ""
    y = ROW + 4 if alike else 2.0
    parts: list[str] = []
    for name, own in rows:
        drawn, y = _row(name, own, scale, y)
        parts += drawn
    if alike:
        at = scale.at(found[0].prior)
        ground = [text(at, 9, alike, ink=SOFT, anchor="end" if at > 0.5 else "")]
    else:
        ground = []
    ground += _ground(scale, ROW if alike else 0.0, y)
    said = "; ".join(f"{_of(name, dot)} {dot.text}" for name, own in rows for dot in own)
    return Drawing((*ground, *parts), y + ROW + 6, f"{label} {said}.", right=EDGE)


def _of(row: str, dot: Dot | Absent) -> str:
    return ", ".join(one for one in (row, dot.name) if one) + ":"


def _row(name: str, own: Sequence[Dot | Absent], scale: Scale, y: float) -> tuple[list[str], float]:
    """A row from `y` on, and where it ends: its name, then each dot below the words that belong to it."""
    alone = len(own) == 1 and not own[0].name
    parts = [line((0, y), (1, y), stroke=GROUND)] if name else []
    y += 4
    if not alone and name:
        for words in wrapped(name, NARROW, bold=True):
            parts.append(text(0, y + ROW / 2, words, look="bold"))
            y += ROW
    for dot in own:
        drawn, y = _dot(name if alone else dot.name, dot, scale, y, bold=alone)
        parts += drawn
    return parts, y + 4


def _dot(name: str, dot: Dot | Absent, scale: Scale, y: float, *, bold: bool) -> tuple[list[str], float]:
    """The name at the left, the value at the right, on lines of their own where they do not fit, and the dot below."""
    long = wide(dot.text, bold=True) + 16
    beside = wrapped(name, max(NARROW - long, 90.0), bold=bold) if name else []
    parts = [text(0, y + ROW * (row + 0.5), one, look="bold" if bold else "") for row, one in enumerate(beside)]
    y += ROW * max(len(beside) - 1, 0)
    if isinstance(dot, Absent):
        return [*parts, text(1, y + ROW / 2, dot.text, anchor="end", ink=SOFT, look="italic")], y + ROW
    parts.append(text(1, y + ROW / 2, dot.text, anchor="end", look="bold"))
    middle = y + ROW + 9
    value, low, high, prior = (scale.at(one) for one in (dot.value, dot.low, dot.high, dot.prior))
    band = rectangle(min(prior, value), middle - 3.5, max(prior, value), middle + 3.5, fill=color(dot.style), fade=0.3)
    thin = line((low, middle), (high, middle), stroke=INK, width=1.6) if low < high else ""
    tick = line((prior, middle - 7), (prior, middle + 7), stroke=INK, width=2)
    said = f"{name}: {dot.text}; without the release {percent(dot.prior)}" if name else dot.text
    parts.append(told(said, band, thin, tick, mark(value, middle, dot.style)))
    return parts, y + ROW + 20


def _ground(scale: Scale, top: float, bottom: float) -> Iterator[str]:
    """Labels below, a faint line above each."""
    labels = [(scale.part(place), words) for place, words in scale.ticks]
    yield from (line((at, top), (at, bottom), stroke=GROUND) for at, _ in labels)
    yield from _labels(labels, bottom + 11, EDGE)


def _labels(labels: Labels, y: float, right: float) -> Iterator[str]:
    """The labels of a scale below it, as many as there is room for."""
    always = apart(labels, NARROW, right=right)
    for i, anchor in apart(labels, MIDDLE, always, right=right).items():
        at, words = labels[i]
        yield text(at, y, words[0], anchor=anchor, ink=SOFT, second=i not in always)


# --- people over risk ------------------------------------------------------------------------------------------------

HIGH = 64.0
"""Pixels of the tallest bar."""


@dataclass(frozen=True)
class Spread:
    """People over their risk: the share in each bin, how many they are, and what is said of those above a limit."""

    name: str
    shares: tuple[float, ...]
    people: int
    above: str = ""


def people(
    rows: Sequence[Spread],
    edges: Sequence[float],
    *,
    style: int,
    limit: float | None = None,
    tallest: float | None = None,
    label: str,
    of: str = "people",
) -> Drawing:
    """By row how many people run which risk, on a logarithmic axis; heights are logarithmic, too.

    Bins above the limit have the color of what is missed. What is below the second edge stands in the first bin.

    edges   : of the bins, (bins + 1,), of which the limit is one
    tallest : the most people in a bin of all charts that are compared
    """
    places = _places(edges)
    most = tallest or max((share * one.people for one in rows for share in one.shares), default=1.0)
    cut = None if limit is None else places[list(edges).index(limit)]
    y, parts, said = 0.0, [], []
    for one in rows:
        drawn, y = _spread(one, edges, places, y, (style, limit, max(most, 2.0), of))
        parts += drawn
        if cut is not None and limit is not None:
            parts.append(line((cut, y - HIGH - 10), (cut, y), stroke=MISSED, width=1.4, dash="4 3"))
        said.append(f"{one.name}: {one.above}" if one.above else one.name)
    labels = [(at, (ticked(edge, "share"),)) for at, edge in zip(places, edges, strict=True)]
    parts += [line((at, y), (at, y + 4), stroke=AXIS) for at in places]
    parts += _labels(labels, y + 14, 4.0)
    return Drawing(tuple(parts), y + 24, f"{label} {'; '.join(said)}.", right=4)


def _places(edges: Sequence[float]) -> list[float]:
    """Where edges stand: by their logarithm; what is below the second one is as wide as a bin."""
    logs = [math.log10(edge) for edge in edges[1:]]
    start = logs[0] - ((logs[-1] - logs[0]) / max(len(logs) - 1, 1) or 1.0)
    return [0.0, *((one - start) / (logs[-1] - start) for one in logs)]


def _spread(
    one: Spread, edges: Sequence[float], places: Sequence[float], y: float, look: tuple[int, float | None, float, str]
) -> tuple[list[str], float]:
    """A row from `y` on, and its floor: its name, who is above the limit, and the bars with their figures."""
    style, limit, most, of = look
    room_left = max(NARROW - wide(one.above, bold=True) - 16, 80.0)
    names = wrapped(one.name, room_left, bold=True)
    parts = [text(0, y + ROW * (row + 0.5), name, look="bold") for row, name in enumerate(names)]
    ink = MISSED if one.above and not one.above.startswith("none") else SOFT
    parts.append(text(1, y + ROW / 2, one.above, anchor="end", ink=ink) if one.above else "")
    top = y + ROW * len(names) + 18
    floor = top + HIGH
    bars: list[tuple[Box, str, bool]] = []
    for b, share in enumerate(one.shares):
        if share > 0:
            count = share * one.people
            tall = max(2.0, HIGH * math.log10(1 + count) / math.log10(1 + most))
            over = limit is not None and edges[b] >= limit
            left, right = places[b], places[b + 1]
            said = f"{ticked(edges[b], 'share')} to {ticked(edges[b + 1], 'share')}: {_people(count)} {of}"
            ink = MISSED if over else color(style)
            bar = rectangle(left, floor - tall, right, floor, fill=ink, apart=True)
            parts.append(told(f"{said} ({percent(min(share, 1.0))})", bar))
            bars.append((Box(left, 0, right, 0, floor - tall, floor), _people(count), over))
    beside = room(1.0, 0.0, one.above, anchor="end", y=y + ROW / 2)
    parts += _figures(bars, [beside] if one.above else [])
    parts.append(line((0, floor), (1, floor), stroke=AXIS))
    return parts, floor


def _figures(bars: Sequence[tuple[Box, str, bool]], taken: list[Box]) -> Iterator[str]:
    """How many people each bar is, from the highest risk on, where there is room."""
    taken += [box for box, *_ in bars]
    for box, said, over in reversed(bars):
        places = [((box.left + box.right) / 2, "middle"), (box.right, "end"), (box.left, "")]
        boxes = [room(at, 0, said, anchor=anchor, y=box.top - 8) for at, anchor in places]
        for narrow in (NARROW, MIDDLE):
            kept = [one for one in boxes if inside(one, left=2, right=4, narrow=narrow)]
            found = first_free(kept, taken, narrow)
            if found is not None:
                taken.append(found)
                at, anchor = places[boxes.index(found)]
                ink = MISSED if over else SOFT
                yield text(at, box.top - 8, said, anchor=anchor, ink=ink, second=narrow > NARROW)
                break


def _people(count: float) -> str:
    return f"{round(count):,}"


# --- swings ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Swing:
    """What a value becomes when one parameter is lower or higher, and the words for both."""

    name: str
    low: float
    high: float
    low_text: str
    high_text: str


def swings(rows: Sequence[Swing], *, base: float, words: str, unit: str, title: str, label: str) -> Drawing:
    """By parameter two bars around what is now: lower above and dark, higher below and light, with their words."""
    side = at_step(10 + max(wide(said) for row in rows for said in (row.low_text, row.high_text)))
    largest = max(base, *(end for row in rows for end in (row.low, row.high))) or 1.0
    scale, band, top = linear(largest, about=3, unit=unit, title=title), 52.0, ROW + 2
    bottom, now = top + band * len(rows), scale.at(base)
    parts = [*_ground(scale, top, bottom), text(now, 9, words, anchor="middle")]
    for i, row in enumerate(rows):
        y = top + i * band
        parts += [line((0, y), (1, y), stroke=GROUND), text(0, y + 11, row.name, dx=-side, look="bold")]
        for place, (end, other, said) in enumerate(
            ((row.low, row.high, row.low_text), (row.high, row.low, row.high_text))
        ):
            at, above = scale.at(end), y + 22 + 13 * place
            ink = ACCENT_SOFT if place else COLORS[0]
            bar = rectangle(min(now, at), above, max(now, at), above + 11, fill=ink)
            parts.append(told(f"{row.name} {said}: {title.lower()} {number(end)}", bar))
            leftward = end < base or (end == base and (other > base or (other == base and not place)))
            anchor, shift = ("end", -5) if leftward else ("", 5)
            parts.append(text(at, above + 6, said, dx=shift, anchor=anchor))
        parts.append(line((now, y + 20), (now, y + 48), stroke=INK, width=1.2))
    parts.append(text(0.5, bottom + 30, title, anchor="middle"))
    return Drawing(tuple(parts), bottom + 42, label, left=side, right=side)
