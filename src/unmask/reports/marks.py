"""What stands on two scales: lines, spots, bars, rules, and the area where they are drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unmask.reports.scales import Scale
from unmask.reports.svg import Entry, color, dashes, line, mark

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
class Bar:
    """A share between two values of the horizontal scale, and its exact values in words."""

    low: float
    high: float
    value: float
    told: str


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
class Area:
    """Where values are drawn: parts of the width, and pixels from the top."""

    x: Scale
    y: Scale
    left: float
    top: float
    height: float

    @property
    def bottom(self) -> float:
        """Of the area, in pixels."""
        return self.top + self.height

    def py(self, value: float) -> float:
        """Where a value stands, in pixels from the top."""
        return self.bottom - self.y.at(value) * self.height

    def ends(self, spot: Spot) -> tuple[float, float]:
        """Top and bottom of its thin line, which ends where the scale does."""
        places = [self.y.at(value) for value in spot.ends]
        low, high = (min(max(at, 0.0), 1.0) if math.isfinite(at) else 0.0 for at in places)
        return self.bottom - high * self.height, self.bottom - low * self.height

    def all(self, points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        """Where points stand."""
        return [(self.x.at(x), self.py(y)) for x, y in points]
