"""People over their risk: how many run which, and who is above a limit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from unmask.reports.bars import labels_below
from unmask.reports.room import GAP, MIDDLE, NARROW, ROW, Box, first_free, inside, room, wide, wrapped
from unmask.reports.scales import ticked
from unmask.reports.svg import AXIS, MISSED, SOFT, Drawing, color, line, rectangle, text, told
from unmask.reports.words import percent

HIGH = 64.0
"""Pixels of the tallest bar."""

BETWEEN = 8.0
"""Pixels from the floor of a row to the next row."""

SIDE = 12.0
"""Pixels at the right of the bars: half of the last label, so that the one before it has room on a phone, too."""

APART = 4.0
"""Pixels between a figure and the limit beside it."""


@dataclass(frozen=True)
class Spread:
    """People over their risk: the share in each bin, how many they are, and what is said of those above a limit.

    least : shares are rounded up to a multiple of so many people
    """

    name: str
    shares: tuple[float, ...]
    people: int
    above: str = ""
    least: int = 1

    @property
    def safe(self) -> bool:
        """Whether nobody is above the limit, as far as it is said."""
        return not self.above or self.above.startswith("none")


def people(
    rows: Sequence[Spread],
    edges: Sequence[float],
    *,
    style: int,
    limit: float | None = None,
    tallest: float | None = None,
    label: str,
    of: str = "people",
    points: bool = False,
) -> Drawing:
    """By row how many people run which risk, on a logarithmic axis; a bar is as high as people are many.

    A bar of few people keeps two pixels, so that it is seen. Bins above the limit have the color of what is missed.
    What is below the second edge stands in the first bin.

    edges   : of the bins, (bins + 1,), of which the limit is one
    tallest : the most people in a bin of all charts that are compared
    points  : whether edges are differences of shares, in percentage points
    """
    most = tallest or max((share * one.people for one in rows for share in one.shares), default=1.0)
    bins, y, parts = _Bins(tuple(edges), style, limit, max(most, 1.0), of, points), 0.0, []
    for one in rows:
        drawn, y = bins.row(one, y + BETWEEN if y else 0.0)
        parts += drawn
    labels = [(at, (bins.ticked(edge),)) for at, edge in zip(bins.places, edges, strict=True)]
    parts += [line((at, y), (at, y + 4), stroke=AXIS) for at, _ in labels]
    parts += labels_below(labels, y + 14, SIDE)
    said = "; ".join(f"{one.name}: {one.above}" if one.above else one.name for one in rows)
    return Drawing(tuple(parts), y + 24, f"{label} {said}.", right=SIDE)


@dataclass(frozen=True)
class _Bar:
    box: Box
    people: str
    over: bool


@dataclass(frozen=True)
class _Bins:
    edges: tuple[float, ...]
    style: int
    limit: float | None
    most: float
    of: str
    points: bool

    def ticked(self, edge: float) -> str:
        """An edge, in percent or in points."""
        return ticked(100 * edge, "points") if self.points else ticked(edge, "share")

    @cached_property
    def places(self) -> list[float]:
        """Where edges stand: by their logarithm; what is below the second one is as wide as a bin."""
        logs = [math.log10(edge) for edge in self.edges[1:]]
        start = logs[0] - ((logs[-1] - logs[0]) / max(len(logs) - 1, 1) or 1.0)
        return [0.0, *((one - start) / (logs[-1] - start) for one in logs)]

    def row(self, one: Spread, y: float) -> tuple[list[str], float]:
        """A row from `y` on, and its floor: its name, who is above the limit, and the bars with their figures."""
        names = wrapped(one.name, max(NARROW - wide(one.above) - 16, 80.0), bold=True)
        beside = room(1.0, 0.0, one.above, anchor="end", y=y + ROW / 2)
        parts = [text(0, y + ROW * (row + 0.5), name, look="bold") for row, name in enumerate(names)]
        parts.append(text(1, y + ROW / 2, one.above, anchor="end", ink=SOFT if one.safe else MISSED))
        top = y + ROW * len(names) + 8
        floor = top + 10 + HIGH
        bars = [self._bar(b, share * one.people, floor, one.least) for b, share in enumerate(one.shares) if share > 0]
        parts += [self._drawn(bar, b, one) for bar, b in zip(bars, _filled(one), strict=True)]
        parts += [line((at, top), (at, floor), stroke=MISSED, width=1.4, dash="4 3") for at in self._cut]
        parts += _figures(bars, [beside, *(Box(at, -1, at, 1, top, floor) for at in self._cut)])
        return [*parts, line((0, floor), (1, floor), stroke=AXIS)], floor

    @property
    def _cut(self) -> list[float]:
        return [] if self.limit is None else [self.places[self.edges.index(self.limit)]]

    def _bar(self, b: int, count: float, floor: float, least: int) -> _Bar:
        tall = max(2.0, HIGH * count / self.most)
        box = Box(self.places[b], 0, self.places[b + 1], 0, floor - tall, floor)
        few = "at most " if 1 < least >= round(count) else ""
        return _Bar(box, f"{few}{round(count):,}", self.limit is not None and self.edges[b] >= self.limit)

    def _drawn(self, bar: _Bar, b: int, one: Spread) -> str:
        ends, box = " to ".join(self.ticked(edge) for edge in self.edges[b : b + 2]), bar.box
        ends += " points" if self.points else ""
        said = f"{ends}: {bar.people} {self.of} ({percent(min(one.shares[b], 1.0), 0)})"
        ink = MISSED if bar.over else color(self.style)
        return told(said, rectangle(box.left, box.top, box.right, box.bottom, fill=ink, apart=True))


def _filled(one: Spread) -> list[int]:
    return [b for b, share in enumerate(one.shares) if share > 0]


def _figures(bars: Sequence[_Bar], taken: list[Box]) -> Iterator[str]:
    """How many people each bar is, from the highest risk on, where there is room."""
    taken += [bar.box for bar in bars]
    for bar in reversed(bars):
        left, right, y = bar.box.left, bar.box.right, bar.box.top - 8
        places = {"middle": ((left + right) / 2, 0.0), "end": (right, -APART), "": (left, APART)}
        boxes = {room(at, dx, bar.people, anchor=anchor, y=y): anchor for anchor, (at, dx) in places.items()}
        for narrow in (NARROW, MIDDLE):
            kept = [box for box in boxes if inside(box, left=2, right=SIDE, narrow=narrow)]
            found = first_free(kept, taken, narrow)
            if found is not None:
                taken.append(found._replace(left_px=found.left_px - GAP, right_px=found.right_px + GAP))
                at, dx = places[boxes[found]]
                look = {"ink": MISSED if bar.over else SOFT, "anchor": boxes[found]}
                yield text(at, y, bar.people, dx=dx, **look, second=narrow > NARROW)
                break
