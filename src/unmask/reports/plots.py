"""The three charts of a report, as static SVG. Risk axes start at 0."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unmask.reports.canvas import (
    CHARACTER,
    COLORS,
    FAINT,
    INK,
    PANEL,
    SHAPES,
    SOFT,
    Frame,
    altair,
    as_is,
    axis,
    chart,
    coarse,
    draw,
    margin,
    short,
    shorts,
)
from unmask.reports.data import Distribution
from unmask.reports.words import letter, lettered, percent, row_estimate
from unmask.results import Row

PLANE_MARGINS = (62, 8, 26, 44)

PLANE_WIDTH = float(PANEL - PLANE_MARGINS[0] - PLANE_MARGINS[2])


@dataclass(frozen=True)
class Point:
    """One release on the plane of utility and risk, as one adversary sees it: what is lost, or kept, goes across."""

    release: str
    style: int
    across: float
    risk: float
    low: float | None = None
    high: float | None = None

    @property
    def top(self) -> float:
        """The upper end of what is drawn."""
        return self.risk if self.high is None else self.high


@dataclass(frozen=True)
class Absent:
    """A place in a chart where a value would stand, and the word that says why none does: "not run", "failed" ..."""

    release: str
    adversary: str
    word: str


def undominated(points: Sequence[Point]) -> list[bool]:
    """Whether no other point loses at most as much at most the same risk, and less of one. Equal points both stay.

    >>> undominated([Point("a", 0, 0.1, 0.3), Point("b", 0, 0.2, 0.1), Point("c", 0, 0.2, 0.2)])
    [True, True, False]
    """

    def beats(a: Point, b: Point) -> bool:
        return a.across <= b.across and a.risk <= b.risk and (a.across, a.risk) != (b.across, b.risk)

    return [not any(beats(other, point) for other in points) for point in points]


def success_chart(rows: Sequence[Row | Absent], *, styles: Mapping[str, int], label: str, key: str) -> str:
    """Success by release, for one target: dot and 95 % interval, a black tick where guessing stands, the gain a band.

    rows   : of one target, one for each release and adversary, in the order in which they are drawn; at least one has
             a value
    styles : adversary -> number of its mark; its letter is written where there are several
    label  : what the chart shows, for readers who do not see it
    key    : prefix of the ids inside, unique on the page
    """
    alt = altair()
    releases = list(dict.fromkeys(row.release for row in rows))
    band = 20 * max(sum(row.release == release for row in rows) for release in releases) + 12
    left, height = margin(releases), band * len(releases)
    width = PANEL - left - 6
    marks, words = _success_marks(rows, releases, band, styles)
    largest = max(mark["right"] for mark in marks) or 1.0
    rooms = (max(width - 12 - CHARACTER * len(mark["text"]), 50.0) for mark in marks)
    end = max(largest * 1.02, *(mark["right"] * width / room for mark, room in zip(marks, rooms, strict=True)))
    ticks = axis(largest, about=min(4.0, largest / end * width / 55))

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, end], nice=False), axis=ticks)

    def y(field: str = "y") -> Any:
        return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)

    names = [{"y": i * band + band / 2, "text": name} for i, name in enumerate(shorts(releases))]
    lines = [{"y": i * band} for i in range(len(releases))]
    layers = [
        chart(lines).mark_rule(color=FAINT).encode(y=y()),
        chart(marks).mark_rule(strokeWidth=7, opacity=0.28).encode(x=x("prior"), x2="x:Q", y=y(), color=as_is("color")),
        chart(marks).mark_rule(strokeWidth=1.6, color=INK).encode(x=x("low"), x2="high:Q", y=y()),
        chart(marks).mark_rule(strokeWidth=2, color=INK).encode(x=x("prior"), y=y("top"), y2="bottom:Q"),
        chart(marks)
        .mark_point(size=62, filled=True, opacity=1, stroke="white", strokeWidth=0.8)
        .encode(x=x("x"), y=y(), color=as_is("color"), shape=as_is("shape")),
        chart(marks).mark_text(align="left", dx=9, color=INK).encode(x=x("right"), y=y(), text="text:N"),
        chart(names)
        .mark_text(align="right", color=INK, fontWeight="bold")
        .encode(x=alt.value(-10), y=y(), text="text:N"),
    ]
    if words:
        said = chart(words).mark_text(align="left", fontStyle="italic", color=SOFT)
        layers.append(said.encode(x=alt.value(9), y=y(), text="text:N"))
    guesses = {percent(mark["prior"]) for mark in marks}
    if len(guesses) == 1:
        note = chart([{"x": marks[0]["prior"], "text": f"guessing {guesses.pop()}"}])
        said = note.mark_text(align="left", dx=-1, color=SOFT)
        layers.append(said.encode(x=x("x"), y=alt.value(-9), text="text:N"))
    return draw(layers, width=width, height=height, margins=(left, 20, 6, 24), label=label, key=key)


def _success_marks(
    rows: Sequence[Row | Absent], releases: Sequence[str], band: int, styles: Mapping[str, int]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Where all of each row is drawn, and the words for absent ones; n is written where it differs."""
    same_n = len({row.n for row in rows if isinstance(row, Row)}) == 1
    marks: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    for i, release in enumerate(releases):
        own = [row for row in rows if row.release == release]
        for place, row in enumerate(own):
            y = i * band + band / 2 + 20 * (place - (len(own) - 1) / 2)
            style = styles[row.adversary]
            if isinstance(row, Absent):
                words.append({"y": y, "text": lettered(row.word, style, len(styles))})
                continue
            low, high = (row.posterior if bound is None else bound for bound in (row.low, row.high))
            text = row_estimate(row) + ("" if same_n else f", n {row.n:,}")
            marks.append(
                {"y": y, "top": y - 7, "bottom": y + 7, "low": low, "high": high}
                | {"prior": row.prior, "x": row.posterior, "right": max(row.prior, row.posterior, high)}
                | {"text": lettered(text, style, len(styles))}
                | {"color": COLORS[style % len(COLORS)], "shape": SHAPES[style % len(SHAPES)]}
            )
    return marks, words


def distribution_chart(spread: Sequence[Distribution], *, style: int, tallest: float, label: str, key: str) -> str:
    """One row of bars for each release: the share of people by success probability, for one adversary and target.

    Bins are drawn equally wide whatever their edges, which are written below; a bar's height is its share of people.

    spread  : one for each release, all with the same edges
    tallest : the share that fills the height of a row, the same for all panels that are compared
    """
    alt = altair()
    releases, edges = [item.release for item in spread], spread[0].edges
    left, band, bins = margin((*releases, "success %")), 52, len(edges) - 1
    width, height = PANEL - left - 16, band * len(spread)
    step = width / bins
    bars, names = [], []
    for i, (item, name) in enumerate(zip(spread, shorts(releases), strict=True)):
        floor = (i + 1) * band - 1
        names.append({"y": floor - band / 2 + 8, "text": name, "floor": floor})
        last = max((b for b, share in enumerate(item.shares) if share > 0), default=0)
        for b, share in enumerate(item.shares):
            said = share > 0 and (bins <= 10 or b == last or share == max(item.shares))
            bars.append(
                {"x": b * step + 1, "x2": (b + 1) * step - 1, "middle": (b + 0.5) * step, "floor": floor}
                | {
                    "y": floor - (1.2 if share > 0 else 0) - 32 * share / tallest,
                    "text": coarse(share) if said else "",
                }
            )
    every = max(1, math.ceil(bins / 8))
    ticks = [{"x": b * step, "text": f"{round(100 * edge, 1):g}"} for b, edge in enumerate(edges) if b % every == 0]

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, width], nice=False), axis=None)

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)

    color = COLORS[style % len(COLORS)]
    layers = [
        chart(names).mark_rule(color=SOFT, strokeWidth=0.8).encode(y=y("floor")),
        chart(bars).mark_rect(color=color).encode(x=x("x"), x2="x2:Q", y=y("y"), y2="floor:Q"),
        chart(bars).mark_text(dy=-7, fontSize=10.5, color=INK).encode(x=x("middle"), y=y("y"), text="text:N"),
        chart(names)
        .mark_text(align="right", color=INK, fontWeight="bold")
        .encode(x=alt.value(-10), y=y("y"), text="text:N"),
        chart(ticks)
        .mark_text(baseline="top", fontSize=11, color=SOFT)
        .encode(x=x("x"), y=alt.value(height + 5), text="text:N"),
        chart([{"text": "success %"}])
        .mark_text(align="right", baseline="top", fontSize=11, color=SOFT)
        .encode(x=alt.value(-10), y=alt.value(height + 5), text="text:N"),
    ]
    return draw(layers, width=width, height=height, margins=(left, 4, 16, 22), label=label, key=key)


def plane_chart(points: Sequence[Point], *, n_adversaries: int, loss: str, risk: str, label: str, key: str) -> str:
    """Risk against utility lost, both from 0: undominated releases are filled and joined, dominated ones are hollow.

    points     : all releases, adversary by adversary; a release is dominated among the points of the same adversary
    loss, risk : titles of the axes; a loss that never exceeds 1 is written in percent
    """
    x_max = 1.1 * max(point.across for point in points) or 1.0
    y_max = 1.15 * max(point.top for point in points) or 1.0
    across, up = axis(x_max, title=loss, share=x_max <= 1.1), axis(y_max, title=risk)
    frame = Frame(PLANE_WIDTH, 250.0, x_max, y_max, across, up)
    marks = []
    for style in dict.fromkeys(point.style for point in points):
        own = [point for point in points if point.style == style]
        marks += [plane_mark(point, best=best) for point, best in zip(own, undominated(own), strict=True)]
    return draw_plane(frame, marks, points, lettered=n_adversaries > 1, label=label, key=key)


def plane_mark(point: Point, *, best: bool) -> dict[str, Any]:
    """How a point is drawn: filled where no other release is better in both ways for the same adversary."""
    color = COLORS[point.style % len(COLORS)]
    return {
        "x": point.across,
        "y": point.risk,
        "low": point.risk if point.low is None else point.low,
        "high": point.top,
        "best": best,
        "style": point.style,
        "shape": SHAPES[point.style % len(SHAPES)],
        "color": color,
        "fill": color if best else "white",
    }


def draw_plane(
    frame: Frame, marks: Sequence[Mapping[str, Any]], named: Sequence[Point], *, lettered: bool, label: str, key: str
) -> str:
    """The best of each adversary joined, intervals as thin lines, marks, and names where there is room.

    marks    : as `plane_mark` makes them
    named    : the points whose releases are named
    lettered : whether adversaries are told apart by letters, too
    """
    x, y = frame.x, frame.y
    alt = altair()
    best = sorted((mark for mark in marks if mark["best"]), key=lambda mark: float(mark["x"]))
    layers = [
        chart(best)
        .mark_line(strokeWidth=1.2, opacity=0.55)
        .encode(x=x(), y=y(), color=as_is("color"), detail="style:N"),
        chart(marks).mark_rule(strokeWidth=1.4, color=INK).encode(x=x(), y=y("low"), y2="high:Q"),
        chart(marks)
        .mark_point(size=72, filled=True, opacity=1, strokeWidth=1.8)
        .encode(
            x=x(),
            y=y(),
            stroke=alt.Stroke("color:N", scale=None),
            fill=alt.Fill("fill:N", scale=None),
            shape=as_is("shape"),
        ),
    ]
    names = name_places(named, frame)
    for align in dict.fromkeys(name["align"] for name in names):
        own = [name for name in names if name["align"] == align]
        layers += [
            chart(own).mark_text(align=align, **look).encode(x=x(), y=y(), text="text:N")
            for look in ({"stroke": "white", "strokeWidth": 3, "color": "white"}, {"color": INK})  # lines pass behind
        ]
    if lettered:
        letters = letter_places(marks, 13 * frame.top / frame.height)
        said = chart(letters).mark_text(align="left", dx=10, color=INK, fontWeight="bold")
        layers.append(said.encode(x=x(), y=y(), text="text:N"))
    return draw(layers, width=frame.width, height=frame.height, margins=PLANE_MARGINS, label=label, key=key)


def letter_places(marks: Sequence[Mapping[str, Any]], gap: float) -> list[dict[str, Any]]:
    """The letter of each adversary beside the last of its marks, at least `gap` above the letter below."""
    last = {mark["style"]: mark for mark in sorted(marks, key=lambda mark: float(mark["x"]))}
    letters: list[dict[str, Any]] = []
    floor = -math.inf
    for style, mark in sorted(last.items(), key=lambda item: float(item[1]["y"])):
        floor = max(mark["y"], floor + gap)
        letters.append({"x": mark["x"], "y": floor, "text": letter(style)})
    return letters


def name_places(points: Sequence[Point], frame: Frame) -> list[dict[str, Any]]:
    """Where the name of each release goes, once: above its highest mark, else beside or below it, where there is room.

    The places of marks and names are reckoned in pixels, upwards, and returned on the scales of the frame.
    """
    up = frame.height / frame.top
    taken = [(frame.pixel(p.across) - 7, p.risk * up - 7, frame.pixel(p.across) + 7, p.risk * up + 7) for p in points]
    names: list[dict[str, Any]] = []
    for release in dict.fromkeys(point.release for point in points):
        highest = max((p for p in points if p.release == release), key=lambda p: p.top)
        x, y, above = frame.pixel(highest.across), highest.risk * up, highest.top * up
        long = CHARACTER * len(short(release))
        places = [
            ("center", x, above + 15, x - long / 2),
            ("left", x + 11, y + 6, x + 11),
            ("right", x - 11, y - 6, x - 11 - long),
            ("center", x, y - 17, x - long / 2),
            ("center", x, above + 29, x - long / 2),
        ]
        free = (
            place
            for place in places
            if place[3] >= 2 and place[3] + long <= frame.width + 20 and not _overlaps(_box(place, long), taken)
        )
        align, px, py, start = next(free, places[0])
        taken.append(_box((align, px, py, start), long))
        names.append({"x": frame.at(px, 0)[0], "y": py / up, "align": align, "text": short(release)})
    return names


def _box(place: tuple[str, float, float, float], long: float) -> tuple[float, float, float, float]:
    return place[3], place[2] - 7, place[3] + long, place[2] + 7


def _overlaps(box: tuple[float, float, float, float], taken: Sequence[tuple[float, float, float, float]]) -> bool:
    return any(box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in taken)
