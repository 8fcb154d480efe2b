"""Scales of charts: where values stand, which are labeled, and with what words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from unmask.measures.registry import SHARES
from unmask.reports.words import MINUS, SPACE, number, percent

WIDE = 30.0
"""Values whose largest is more than so many times the smallest are drawn on a logarithmic scale."""

FAR = 12
"""Most items that are drawn on a linear scale."""


def _same(value: float) -> float:
    return value


@dataclass(frozen=True)
class Scale:
    """A scale: its ends and labels (several lines each) as places, its title, and how values find theirs.

    place : value -> place between `low` and `high`; nan where it has none
    """

    low: float
    high: float
    ticks: tuple[tuple[float, tuple[str, ...]], ...]
    title: str = ""
    place: Callable[[float], float] = _same
    unit: str = ""

    def said(self, value: float) -> str:
        """A value in words, or the label where it stands at one.

        >>> linear(0.2).said(0.053).replace(SPACE, " "), classes([("1 to 4", "30")], "").said(0.0)
        ('5.3 %', '1 to 4 30')
        """
        known = next((words for place, words in self.ticks if place == value), None) if self.place is _same else None
        exact = percent(value) if self.unit in SHARES else number(value)
        return " ".join(known) if known else exact

    @property
    def rows(self) -> int:
        """Lines of the labels."""
        return max((len(words) for _, words in self.ticks), default=0)

    def part(self, place: float) -> float:
        """How far a place is from the low end to the high one, from 0 to 1."""
        return (place - self.low) / ((self.high - self.low) or 1.0)

    def at(self, value: float) -> float:
        """The same of a value."""
        return self.part(self.place(value))


def round_values(low: float, high: float, about: float = 4.0) -> list[float]:
    """About so many round values from the lower to the higher; the value itself where they are one.

    >>> round_values(0, 0.45), round_values(3, 3)
    ([0.0, 0.2, 0.4], [3])
    """
    if not high > low:
        return [low]
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    return [round(step * i, 12) for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def ticked(value: float, unit: str) -> str:
    """A value at a scale, shares in percent.

    >>> ticked(0.5, "share").replace(SPACE, " "), ticked(-2000.0, "km")
    ('50 %', '−2,000')
    """
    shown = 100 * value if unit in SHARES else value
    said = f"{shown:,.6f}".rstrip("0").rstrip(".") if abs(shown) >= 1e-6 or shown == 0 else f"{shown:g}"
    return said.replace("-", MINUS) + (f"{SPACE}%" if unit in SHARES else "")


def linear(
    high: float,
    *,
    low: float = 0.0,
    pads: tuple[float, float] = (0.0, 0.0),
    unit: str = "share",
    title: str = "",
    about: float = 4.0,
    beyond: bool = False,
) -> Scale:
    """From `low` to `high` with about so many round labels; pads are parts of that added below and above.

    beyond : whether the scale ends at a label: the first round value that is not below `high`

    >>> linear(0.57, beyond=True).high
    0.6
    """
    values = round_values(low, high, about)
    if beyond and len(values) > 1 and values[-1] < high:
        values.append(round(2 * values[-1] - values[-2], 12))
        high = values[-1]
    span = (high - low) or 1.0
    labels = tuple((value, (ticked(value, unit),)) for value in values)
    return Scale(low - pads[0] * span, high + pads[1] * span, labels, title, unit=unit)


def shares(title: str = "") -> Scale:
    """From 0 to 100 %."""
    return linear(1.0, about=5, title=title)


def classes(names: Sequence[tuple[str, ...]], title: str) -> Scale:
    """Classes in their order, at 0, 1, 2 ... with half a class of room at both ends."""
    return Scale(-0.5, len(names) - 0.5, tuple((float(i), name) for i, name in enumerate(names)), title)


def whole(low: float, high: float, title: str, *, about: int = 8, pad: float = 0.0) -> Scale:
    """Whole numbers, the first and round ones labeled."""
    first, last = math.floor(low), max(math.floor(high), math.floor(low) + 1)
    step = next(f * 10**p for p in range(20) for f in (1, 2, 5) if f * 10**p * about >= last - first)
    values = [first, *(value for value in range(step, last + 1, step) if value - first >= step / 2)]
    room = pad * (last - first)
    return Scale(low - room, max(high, last) + room, tuple((float(v), (f"{v:,}",)) for v in values), title)


def magnitude(value: float) -> float:
    """Where a count stands on a scale of magnitudes: log10 of it, of 1 for 0."""
    return round(math.log10(max(value, 1)), 9)


def magnitudes(values: Iterable[int], title: str) -> Scale:
    """Counts from the least to the most, equal distances multiplying by as much; given values are labeled."""
    places = {value: magnitude(value) for value in sorted(set(values))}
    low, high = min(places.values()), max(places.values())
    pad = 0.04 * (high - low) or 0.5
    ticks = tuple((place, (f"{value:,}",)) for value, place in places.items())
    return Scale(low - pad, high + pad, ticks, title, magnitude)


def logarithmic(values: Iterable[float]) -> bool:
    """Whether the positive finite ones among these span more than `WIDE`.

    >>> logarithmic([0.0, 1.0, 30.0]), logarithmic([1.0, 31.0, math.inf])
    (False, True)
    """
    spanned = [value for value in values if value > 0 and math.isfinite(value)]
    return bool(spanned) and max(spanned) > WIDE * min(spanned)


def amounts(values: Sequence[float], title: str = "", *, unit: str = "", whole_powers: bool = False) -> Scale:
    """Amounts from 0, or, where they span widely, equal distances multiplying by as much: 0 has a place at the left.

    The title says which.
    whole_powers : whether a logarithmic scale begins at a power of ten below the least amount
    """
    known = [value for value in values if math.isfinite(value)]
    if not logarithmic(known):
        return linear(max(known, default=0.0) or 1.0, unit=unit, beyond=True, title=title)
    positive = [value for value in known if value > 0]
    low, high = math.log10(min(positive)), math.log10(max(positive))
    low = math.floor(low) if whole_powers else low
    start = low - 0.12 * (high - low) if min(known) == 0 and not whole_powers else low
    zero = ((start, (ticked(0.0, unit),)),) if start < low else ()

    def place(value: float) -> float:
        if value <= 0:
            return start if zero else math.nan
        return math.log10(value) if math.isfinite(value) else math.nan

    said = f"{title} (logarithmic)" if title else ""
    return Scale(start, high, (*zero, *_powers(low, high, unit)), said, place, unit)


def _powers(low: float, high: float, unit: str) -> tuple[tuple[float, tuple[str, ...]], ...]:
    """Powers of ten as labels, and twice and five times these where there are few."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    places = [float(p) for p in range(first, last + 1, max(1, math.ceil((last - first) / 5)))]
    if high - low < 2:
        fine = sorted({round(p + math.log10(f), 12) for p in range(first - 1, last + 1) for f in (1, 2, 5)})
        places = [place for place in fine if low - 1e-9 <= place <= high + 1e-9]
    return tuple((place, (ticked(float(f"{10**place:.6g}"), unit),)) for place in places)


def risks(values: Sequence[float], title: str, unit: str = "share") -> Scale:
    """Risks from 0; or a logarithmic scale, which says so, where most would lie on each other at its low end."""
    found = amounts(values, title, unit=unit)
    pad = 0.03 * (found.high - found.low)
    return found if found.place is _same else replace(found, low=found.low - pad, high=found.high + pad)


def turned(scale: Scale) -> Scale:
    """The same with its least value at the far end."""
    return replace(scale, low=scale.high, high=scale.low)


def errors(most: int, title: str, pixels: float, margin: float) -> Scale:
    """Whole items from 0, with `margin` pixels of `pixels` beyond both ends; many on a scale of log(1 + items)."""
    far = stretched(most)

    def place(value: float) -> float:
        return math.log10(1 + value) if far else value

    end = max(place(most), 0.3)
    pad = end * margin / (pixels - 2 * margin)
    if not far:
        ticks = tuple(tick for tick in whole(0, most, title, about=6).ticks if tick[0] <= end)
        return Scale(-pad, end + pad, ticks, title, place)
    factors = (1, 3) if most <= 300 else (1,)
    values = [0, *(f * 10**p for p in range(13) for f in factors if f * 10**p <= 1.05 * most)]
    return Scale(-pad, end + pad, tuple((place(v), (f"{v:,}",)) for v in values), title, place)


def stretched(most: int) -> bool:
    """Whether errors up to so many items are drawn on a scale of 1 + items."""
    return most > FAR
