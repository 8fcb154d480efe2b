"""Small drawings of the screens: columns by their values, and releases by risk and utility. x is in percent, so that a
drawing stretches with its card and its words do not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.tables.column import Column

BINS = 28
HEIGHT = 44.0


def histogram(column: Column) -> tuple[str, tuple[str, str]]:
    """The rows of a column by its values, and words for its two ends: no end is anybody's exact value."""
    sizes = column.counts.astype(np.float64)
    if column.levels.missing >= 0:
        sizes[column.levels.missing] = 0
    if column.levels.kind == "numeric":
        bars, ends = _numeric(column, sizes)
    else:
        ranked = np.sort(sizes[sizes > 0])[::-1]
        rare = f"{ranked.size:,} values" if ranked.size > BINS else "rare"
        bars, ends = ranked[:BINS], ("most frequent", rare) if ranked.size > 1 else ("", "")
    tallest = max(bars.max(initial=0.0), 1.0)
    step = 100 / max(len(bars), 1)
    drawn = "".join(
        f'<rect x="{at * step + 0.1 * step:.2f}%" y="{HEIGHT - 4 - 36 * one / tallest:.1f}" '
        f'width="{0.8 * step:.2f}%" height="{36 * one / tallest:.1f}" class="c-accent"/>'
        for at, one in enumerate(bars.tolist())
    )
    said = escape(f"rows of {column.name} by value" + (f", from {ends[0]} to {ends[1]}" if ends[0] else ""))
    line = f'<line x1="0" y1="{HEIGHT - 4:g}" x2="100%" y2="{HEIGHT - 4:g}" class="axis-line"/>'
    return f'<svg class="mini" height="{HEIGHT:g}" role="img" aria-label="{said}">{drawn}{line}</svg>', ends


def _numeric(column: Column, sizes: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[str, str]]:
    low, high = column.levels.low, column.levels.high
    known = np.isfinite(low) & np.isfinite(high) & (sizes > 0)
    if not known.any():
        return np.zeros(1), ("", "")
    values, weights = (low[known] + high[known]) / 2, sizes[known]
    bars, edges = np.histogram(values, bins=min(BINS, max(values.size, 1)), weights=weights)
    if column.type == "number":
        return bars, (_rounded(edges[0], down=True), _rounded(edges[-1], down=False))
    day = 86_400 if column.type == "datetime" else 1
    ends = [date.fromordinal(date(1970, 1, 1).toordinal() + math.floor(edge / day)) for edge in (edges[0], edges[-1])]
    one, other = (f"{end:%Y}" if ends[1].year > ends[0].year + 2 else f"{end:%b %Y}" for end in ends)
    return bars, (one, other)


def _rounded(value: float, *, down: bool) -> str:
    """A number to one digit, outwards.

    >>> _rounded(117.3, down=True), _rounded(84_211.0, down=False)
    ('100', '90,000')
    """
    if value == 0:
        return "0"
    power = 10.0 ** math.floor(math.log10(abs(value)))
    shown = (math.floor if down else math.ceil)(value / power) * power
    return f"{shown:,.0f}" if abs(shown) >= 1 else f"{shown:g}"


# --- risk against utility ---------------------------------------------------------------------------------------------

TALL = 400.0

HALF = 5.5

WIDE = 1.9
"""Percent across that a character takes on a phone."""

MET, MISSED, SHORT = "acceptable", "a condition is missed", "missed"
"""What stands on both sides of the limit; SHORT : where there is no room."""


class Spot(NamedTuple):
    """A release on the plane. times : its worst condition as a multiple of the limit; kind : class of its shape."""

    times: float
    utility: float
    words: str
    kind: str
    front: bool
    met: bool
    where: str


def plane(spots: Sequence[Spot], *, chosen: int | None, against: int | None) -> str:
    """Releases by risk, a multiple of the limit on a logarithmic axis, and utility; each is a link. Up keeps more, left
    risks less.
    """
    low = 2.0 ** min(-2, math.floor(math.log2(min(spot.times for spot in spots))))
    high = 2.0 ** max(2, math.ceil(math.log2(max(spot.times for spot in spots)) + 0.2))
    least = max(0.0, math.floor(10 * min(spot.utility for spot in spots) - 0.2) / 10)

    def x(times: float) -> float:
        return 6 + 90 * math.log(times / low) / math.log(high / low)

    def y(utility: float) -> float:
        return 30 + (TALL - 70) * (1 - utility) / max(1 - least, 0.1)

    parts = [*_ground(x, y, low, high, least), *_front(spots, x, y)]
    at = [(x(spot.times), y(spot.utility)) for spot in spots]
    order = sorted(range(len(spots)), key=lambda number: (number in (chosen, against), spots[number].front))
    boxes = [(left - 2, top - 9, left + 2, top + 9) for left, top in at]
    boxes.append((0.0, y(least) + 8, 100.0, y(least) + 26))
    boxes.append((x(1) - WIDE * len(MET) - 0.8, 9, x(1) + WIDE * len(_missed(x(1))) + 0.8, 26))
    placed: dict[int, str] = {}
    for number in reversed(order):
        if spots[number].front or number in (chosen, against):
            placed[number] = _label(spots[number].words, *at[number], boxes, strong=number == chosen)
    parts += [_spot(spots[n], *at[n], chosen=n == chosen, against=n == against, words=placed.get(n, "")) for n in order]
    said = "Releases by risk and utility; the table below has the figures."
    return f'<svg class="plot" height="{TALL:g}" role="group" aria-label="{said}">{"".join(parts)}</svg>'


Box = tuple[float, float, float, float]
"""Left, top, right, bottom: percent across, pixels down."""


def _label(words: str, x: float, y: float, boxes: list[Box], *, strong: bool) -> str:
    """The words beside a point, below or above it, where no other point and no other label is; else none."""
    width = WIDE * len(words)
    for right in (x < 70, x >= 70):
        for below in (17, -10, 4):
            left = x + 2.2 if right else x - 2.2 - width
            box = (left, y + below - 12, left + width, y + below + 3)
            if left > 5 and box[2] < 100 and not any(_meet(box, other) for other in boxes):
                boxes.append(box)
                look = f"halo{' strong' if strong else ''}{'' if right else ' end'}"
                side = f'x="{x:.2f}%" dx="{11 if right else -11}"'
                return f'<text class="{look}" {side} y="{y + below:.1f}">{escape(words)}</text>'
    return ""


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _ground(
    x: Callable[[float], float], y: Callable[[float], float], low: float, high: float, least: float
) -> Iterator[str]:
    bottom = y(least)
    yield f'<rect class="met-area" x="{x(low):.2f}%" y="8" width="{x(1) - x(low):.2f}%" height="{bottom - 8:.1f}"/>'
    step = 0.1 if 1 - least > 0.25 else 0.05
    for at in range(round((1 - least) / step) + 1):
        share = 1 - at * step
        yield f'<line class="grid" x1="6%" x2="96%" y1="{y(share):.1f}" y2="{y(share):.1f}"/>'
        yield f'<text class="end" x="5.2%" y="{y(share) + 4:.1f}">{100 * share:.0f}\u202f%</text>'
    yield f'<line class="limit" x1="{x(1):.2f}%" x2="{x(1):.2f}%" y1="8" y2="{bottom:.1f}"/>'
    yield f'<text class="t-met end" x="{x(1) - 0.8:.2f}%" y="22">{MET}</text>'
    yield f'<text class="t-missed" x="{x(1) + 0.8:.2f}%" y="22">{_missed(x(1))}</text>'
    power = round(math.log2(low))
    while 2.0**power <= high:
        words = "the limit" if not power else f"{2**power} \u00d7" if power > 0 else f"1/{2**-power}"
        look = "mid strong" if not power else "mid"
        yield f'<text class="{look}" x="{x(2.0**power):.2f}%" y="{bottom + 20:.1f}">{words}</text>'
        power += 1


def _missed(limit: float) -> str:
    """What stands to the right of the limit; limit : percent across"""
    return MISSED if limit + WIDE * len(MISSED) < 100 else SHORT


def _front(spots: Sequence[Spot], x: Callable[[float], float], y: Callable[[float], float]) -> Iterator[str]:
    """Steps along the releases that no other beats in both; lines, since a path knows no percent."""
    best = sorted((spot for spot in spots if spot.front), key=lambda spot: spot.times)
    for one, other in itertools.pairwise(best):
        ends = [f"{x(one.times):.2f}%", f"{x(other.times):.2f}%"]
        rows = [f"{y(one.utility):.1f}", f"{y(other.utility):.1f}"]
        yield f'<line class="front" x1="{ends[0]}" x2="{ends[1]}" y1="{rows[0]}" y2="{rows[0]}"/>'
        yield f'<line class="front" x1="{ends[1]}" x2="{ends[1]}" y1="{rows[0]}" y2="{rows[1]}"/>'


def _spot(spot: Spot, x: float, y: float, *, chosen: bool, against: bool, words: str) -> str:
    state = "every tested condition met" if spot.met else "a condition is missed"
    said = escape(f"{spot.words}: {spot.times:.2g} times the limit, utility {100 * spot.utility:.1f} %, {state}")
    ring = f'<circle class="ring{" against" if not chosen else ""}" cx="{x:.2f}%" cy="{y:.1f}" r="10"/>'
    mark = f'<circle class="spot" cx="{x:.2f}%" cy="{y:.1f}" r="{HALF}"/>'
    if spot.kind:
        square = f'width="{2 * HALF}" height="{2 * HALF}" transform="translate(-{HALF} -{HALF})"'
        mark = f'<rect class="spot {spot.kind}" x="{x:.2f}%" y="{y:.1f}" {square}/>'
    hit = f'<circle class="hit" cx="{x:.2f}%" cy="{y:.1f}" r="12"/>'
    rings = ring if chosen or against else ""
    return f'<a href="{escape(spot.where)}" aria-label="{said}">{hit}{rings}{mark}{words}</a>'
