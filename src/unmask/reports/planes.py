"""Charts of spots: risk against what is left, and two kinds of error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from unmask.reports.charts import plot
from unmask.reports.marks import Key, Line, Spot
from unmask.reports.room import NARROW
from unmask.reports.scales import Scale, errors
from unmask.reports.svg import Drawing
from unmask.reports.words import number

RADIUS = 17.0
"""Radius of the largest bubble, in pixels."""

CELLS = 300
"""Bubbles that are drawn one by one; of more, neighbors are drawn as one."""


def plane(x: Scale, y: Scale, spots: Sequence[Spot], *, keys: Sequence[Key], label: str, more: bool = False) -> Drawing:
    """Risk across, what is left upwards; for each adversary steps along the filled spots: nothing is beyond them.

    Every name stands once, at the spot of that name farthest to the right.
    more : whether more of what stands across is better, as of an error
    """
    farthest = {spot.name: spot for spot in sorted(spots, key=lambda spot: spot.x)}
    drawn = [replace(spot, name=spot.name if farthest[spot.name] is spot else "") for spot in spots]
    fronts = []
    for style in dict.fromkeys(spot.style for spot in spots):
        best = sorted(((s.x, s.y) for s in spots if s.style == style and not s.hollow), reverse=more)
        corners = [place for a, b in pairwise(best) for place in (a, (b[0], a[1]))] + best[-1:]
        of = next(spot.of for spot in spots if spot.style == style)
        fronts.append(Line(of, corners, style, marked=False, width=1.4))
    tall = 300.0 + 12 * min(len(farthest), 12)
    found = plot(x, y, fronts, spots=drawn, height=tall, label=label, kind="plane")
    return replace(found, legend=tuple(key.entry for key in keys) if len(keys) > 1 else ())


def bubbles(
    points: Sequence[tuple[int, int, int]], *, largest: tuple[int, int, int], style: int, label: str
) -> Drawing:
    """Misses across, includes upwards; the area of a bubble is its number of subjects, written beside the largest.

    points  : (misses, includes, subjects), at least one
    largest : the most misses, includes and subjects in one point of all charts that are compared
    """
    height = 230.0 if largest[1] else 90.0
    x = errors(largest[0], "Misses: own items lacking", NARROW, RADIUS + 2)
    y = errors(largest[1], "Includes: items of others" if largest[1] else "Includes", height, RADIUS + 2)
    gathered = sorted(_gathered(points, largest), key=lambda point: (-point[2], point[:2]))
    radii = [max(2.2, RADIUS * math.sqrt(min(n / largest[2], 1.0))) for _, _, n in gathered]
    spots = [
        Spot(
            miss,
            include,
            style,
            f"{n:,}" if i < 4 or (i < 8 and radius > 3.5) else "",
            radius=radius,
            told=f"{n:,} subjects: {number(miss)} missed, {number(include)} included",
        )
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
