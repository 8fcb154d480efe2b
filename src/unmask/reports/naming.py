"""Room for the names of spots: where nothing else is, at any width."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from unmask.reports.marks import Area, Line, Spot
from unmask.reports.room import MIDDLE, NARROW, RIGHT, Box, first_free, inside, room
from unmask.reports.svg import hair, text


def obstacles(area: Area, lines: Sequence[Line], spots: Sequence[Spot]) -> list[Box]:
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


def names(area: Area, spots: Sequence[Spot], taken: list[Box]) -> Iterator[str]:
    """The name of each spot near it, where nothing else is at any width; or from a middle width on."""
    for spot in sorted((spot for spot in spots if spot.name), key=lambda spot: (-spot.radius, -spot.x, spot.y)):
        places = list(_places(area, spot))
        for narrow in (NARROW, MIDDLE):
            kept = [box for box in places if inside(box, right=RIGHT, narrow=narrow)]
            found = first_free(kept, taken, narrow)
            if found is not None:
                taken.append(found)
                yield from _name(area, spot, found, second=narrow > NARROW)
                break


def _places(area: Area, spot: Spot) -> Iterator[Box]:
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


def _name(area: Area, spot: Spot, box: Box, *, second: bool) -> Iterator[str]:
    """The name in its box, and a hair line from the spot where it stands away."""
    at, y, middle = area.x.at(spot.x), area.py(spot.y), (box.top + box.bottom) / 2
    near = min(max(0.0, box.left_px), box.right_px), min(max(y, box.top), box.bottom) - y
    away = math.hypot(*near)
    if away > 16:
        yield hair(at, y, (near[0] * 6 / away, near[1] * 6 / away), near, second=second)
    yield text(at, middle, spot.name, dx=box.left_px, look="halo", second=second)
