"""Utility across, success or error up: every protection as every adversary sees it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from unmask.measures.registry import SHARES
from unmask.reports.canvas import Frame, altair, axis, short
from unmask.reports.plots import PLANE_WIDTH, Point, draw_plane, plane_mark
from unmask.reports.study.curves import settings
from unmask.reports.study.values import Plane, Spot

NAMED = 10
"""Names that a chart has room for; the table has all."""

ROOM = (110.0, 18.0)
"""Pixels between two protections that are both named: across, or up."""

LONGEST = 17
"""Letters of a name that is cut, and of the values behind it."""

HEIGHT = 260.0


def plane_chart(plane: Plane, styles: Mapping[str, int], *, title: str, label: str, key: str) -> str:
    """Success or error, from 0, against utility: spots that no other beats for one adversary are filled and joined.

    Undominated protections are named, at most ten of them; 95 % intervals of success are thin lines.

    styles : adversary -> number of its look and letter
    title  : of the horizontal axis
    label  : what the chart shows, for readers who do not see it
    key    : prefix of the ids inside, unique on the page
    """
    points = {
        spot: Point(spot.protection, styles[spot.adversary], spot.utility, spot.success, *_ends(spot))
        for spot in plane.spots
    }
    frame = _frame(plane, title=title)
    marks = [plane_mark(point, best=spot.best) for spot, point in points.items()]
    shown = _apart(frame, plane)
    named = [
        replace(point, release=shown[spot.protection]) for spot, point in points.items() if spot.protection in shown
    ]
    lettered = len({point.style for point in points.values()}) > 1
    return draw_plane(frame, marks, named, lettered=lettered, label=label, key=key)


def _frame(plane: Plane, *, title: str) -> Frame:
    """Utility from its least to its most with room at both ends, success or error from 0."""
    spots, share, risk = plane.spots, plane.unit in SHARES, plane.risk_unit in SHARES
    least, most = min(spot.utility for spot in spots), max(spot.utility for spot in spots)
    pad = 0.16 * (most - least) or 0.1 * abs(most) or 0.1
    top = 1.12 * max(_ends(spot)[1] for spot in spots) or 1.0
    ticks = _ticks(least, most)
    shown = (
        "format(100 * datum.value, '~r') + '\u00a0%'" if share else "replace(format(datum.value, ',~r'), '-', '\u2212')"
    )
    across = altair().Axis(values=ticks, labelExpr=shown, title=title, labelOverlap=False, labelBound=False)
    up = axis(min(top, 1.0) if risk else top, title=reached(plane), share=risk)
    return Frame(PLANE_WIDTH, HEIGHT, most + pad, top, across, up, left=least - pad)


def reached(plane: Plane) -> str:
    """What the adversaries of a plane reach, with its unit."""
    if plane.direction == "high":
        return "Success"
    return "Error" if plane.risk_unit in SHARES else f"Error ({plane.risk_unit})"


def _ticks(least: float, most: float) -> list[float]:
    """About four round values from the least to the most; the value itself where they are one."""
    if not most > least:
        return [least]
    rough = (most - least) / 3
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    first = math.ceil(least / step - 1e-9)
    return [round(step * i, 12) for i in range(first, math.floor(most / step + 1e-9) + 1)]


def _ends(spot: Spot) -> tuple[float, float]:
    """The interval of success, within what a share can be; the value itself where there is none."""
    low = spot.success if spot.low is None else max(0.0, spot.low)
    return low, spot.success if spot.high is None else spot.high


def _apart(frame: Frame, plane: Plane) -> dict[str, str]:
    """Undominated protections whose names have room, each as far as one must read it."""
    kept: dict[str, tuple[float, float]] = {}
    for name in plane.undominated:
        top = max((spot for spot in plane.spots if spot.protection == name), key=lambda spot: spot.success)
        x, y = frame.pixel(top.utility), top.success / frame.top * HEIGHT
        if len(kept) < NAMED and all(abs(x - a) > ROOM[0] or abs(y - b) > ROOM[1] for a, b in kept.values()):
            kept[name] = x, y
    stems = {stem for stem, given in (settings(spot.protection) for spot in plane.spots) if given}
    return {name: name if short(name) == name else _cut(name, alone=len(stems) == 1) for name in kept}


def _cut(name: str, *, alone: bool) -> str:
    """A long name by its parameters, where no other has any; else the start of it, and their values."""
    stem, given = settings(name)
    if alone:
        return " ".join(f"{key}={value}" for key, value in given.items()) or name
    values = " ".join(given.values())
    return f"{short(stem, max(LONGEST - len(values), 6))} {values}".strip()
