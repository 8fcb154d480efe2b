"""The grammar of charts by row: intervals as dots, and swings around a value, each with its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.reports.room import (
    MIDDLE,
    NARROW,
    ROW,
    Labels,
    apart,
    at_step,
    wide,
    wrapped,
)
from unmask.reports.scales import Scale, linear
from unmask.reports.svg import (
    ACCENT_SOFT,
    COLORS,
    GROUND,
    INK,
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

EDGE = 8.0
"""Pixels at both sides for the half of a mark."""


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
    return Drawing((*ground, *parts), y + ROW + 6, f"{label} {said}.", left=EDGE, right=EDGE)


def _of(row: str, dot: Dot | Absent) -> str:
    return ", ".join(one for one in (row, dot.name) if one) + ":"


def _row(name: str, own: Sequence[Dot | Absent], scale: Scale, y: float) -> tuple[list[str], float]:
    """A row from `y` on, and where it ends: its name, then each dot below the words that belong to it."""
    alone = len(own) == 1 and not own[0].name
    parts = [line((0, y), (1, y), stroke=GROUND)] if name else []
    y += 4
    if not alone and name:
        for words in wrapped(name, NARROW, bold=True):
            parts.append(text(0, y + ROW / 2, words, dx=-EDGE, look="bold"))
            y += ROW
    for dot in own:
        drawn, y = _dot(name if alone else dot.name, dot, scale, y, bold=alone)
        parts += drawn
    return parts, y + 4


def _dot(name: str, dot: Dot | Absent, scale: Scale, y: float, *, bold: bool) -> tuple[list[str], float]:
    """The name at the left, the value at the right, on lines of their own where they do not fit, and the dot below."""
    long = wide(dot.text, bold=True) + 16
    beside = wrapped(name, max(NARROW - long, 90.0), bold=bold) if name else []
    look = "bold" if bold else ""
    parts = [text(0, y + ROW * (row + 0.5), one, dx=-EDGE, look=look) for row, one in enumerate(beside)]
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
    yield from labels_below(labels, bottom + 11, EDGE)


def labels_below(labels: Labels, y: float, right: float) -> Iterator[str]:
    """The labels of a scale below it, as many as there is room for."""
    always = apart(labels, NARROW, right=right)
    for i, anchor in apart(labels, MIDDLE, always, right=right).items():
        at, words = labels[i]
        yield text(at, y, words[0], anchor=anchor, ink=SOFT, second=i not in always)


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
