"""How a number looks: written with no more digits than its interval allows, drawn as static SVG without a browser.

One adversary has one colour and one shape in every chart, so that the page can be read in grey. Risk axes start at 0.
Charts of the same rows are the same bytes: geometry is fixed here, and no size depends on the fonts of the machine.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unmask.results import Row

SPACE = "\u00a0"
MINUS = "\u2212"
SHARES = frozenset({"probability", "share"})
"""Units that are written in percent."""

COLOURS = ("#12436d", "#e8702a", "#801650", "#28a197", "#8d6fc4", "#3d3d3d")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
INK, SOFT, FAINT = "#1f2328", "#5b6168", "#dadde1"
FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
FONT_SIZE = 12
CHARACTER = 6.1
"""Width of a character at that size, in pixels: room for text is reckoned, so that bytes do not depend on fonts."""

PANEL = 440
"""Width of one of two panels side by side, in pixels."""


@dataclass(frozen=True)
class Distribution:
    """How success is spread over people: `shares[i]` of them lie between `edges[i]` and `edges[i + 1]`.

    edges  : (B + 1,) success probabilities in increasing order, between 0 and 1
    shares : (B,) shares of people, summing to 1
    """

    release: str
    adversary: str
    target: str
    edges: tuple[float, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Point:
    """One release on the plane of risk against utility, as one adversary sees it."""

    release: str
    style: int
    loss: float
    risk: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Absent:
    """A place in a chart where a value would stand, and the word that says why none does: "not run", "failed" ..."""

    release: str
    adversary: str
    word: str


def undominated(points: Sequence[Point]) -> list[bool]:
    """Whether no other point has at most the same loss and risk, and less of one of them. Equal points both stay.

    >>> undominated([Point("a", 0, 0.1, 0.3), Point("b", 0, 0.2, 0.1), Point("c", 0, 0.2, 0.2)])
    [True, True, False]
    """

    def beats(a: Point, b: Point) -> bool:
        return a.loss <= b.loss and a.risk <= b.risk and (a.loss, a.risk) != (b.loss, b.risk)

    return [not any(beats(other, point) for other in points) for point in points]


def decimals(low: float, high: float) -> int:
    """Decimals worth printing for a value known to [low, high]: a step of the last is at most a quarter of that.

    >>> decimals(3.1, 5.1), decimals(0.45, 0.58), decimals(23.0, 33.0)
    (1, 2, 0)
    """
    half = (high - low) / 2
    return 2 if not half > 0 else min(2, max(0, -math.floor(math.log10(half / 2))))


def number(value: float, places: int | None = None) -> str:
    """A value without unit: `places` decimals, or three significant digits, thousands apart, "unbounded" if infinite.

    A value that is not zero is never printed as zero, nor one below 100 as 100 where `places` is asked for.

    >>> number(4.04, 1), number(0.0004, 2), number(0.0), number(30162), number(float("inf"))
    ('4.0', '<0.01', '0', '30,162', 'unbounded')
    """
    if math.isnan(value):
        return "undefined"
    sign = MINUS if value < 0 else ""
    size = abs(value)
    if math.isinf(size):
        return sign + "unbounded"
    if size == 0 or (places is None and size == int(size)):
        return f"{sign}{int(size):,}"
    if places is None:
        places = max(0, 2 - math.floor(math.log10(size)))
        return f"{sign}{size:,.{places}f}" if places <= 5 else f"{sign}{size:.2e}"
    text = f"{size:,.{places}f}"
    return f"{sign}<{10.0**-places:.{places}f}" if float(text.replace(",", "")) == 0 else sign + text


def percent(share: float, places: int | None = None) -> str:
    """A share in percent; without `places`, one decimal from 1 % on and two below.

    >>> " | ".join(percent(share) for share in (0.04, 0.0025, 1 / 30162, 0.99999)).replace(SPACE, " ")
    '4.0 % | 0.25 % | <0.01 % | >99.9 %'
    """
    return f"{_percent(share, places)}{SPACE}%" if math.isfinite(share) else number(share)


def _percent(share: float, places: int | None) -> str:
    if places is None:
        places = 1 if abs(share) >= 0.01 else 2
    text = number(100 * share, places)
    if share == 1:
        return "100"
    return f">{100 - 10.0**-places:.{places}f}" if 0 < share < 1 and float(text.lstrip("<" + MINUS)) == 100 else text


def estimate(value: float, unit: str, low: float | None = None, high: float | None = None) -> str:
    """A value with its 95 % interval, and with as many digits as the interval bears.

    >>> estimate(0.04, "probability", 0.031, 0.051).replace(SPACE, " "), estimate(3.4217, "bits")
    ('4.0 % [3.1, 5.1]', '3.42')
    """
    share = unit in SHARES
    if low is None or high is None or not math.isfinite(high - low) or high <= low:
        return percent(value) if share else number(value)
    if share:
        places = decimals(100 * low, 100 * high)
        return f"{percent(value, places)} [{_percent(low, places)}, {_percent(high, places)}]".replace(
            " [", SPACE + "["
        )
    places = decimals(low, high)
    return f"{number(value, places)}{SPACE}[{number(low, places)}, {number(high, places)}]"


def row_estimate(row: Row) -> str:
    """The posterior of a row with its interval."""
    return estimate(row.posterior, row.unit, row.low, row.high)


def row_value(row: Row) -> str:
    """The posterior of a row without its interval, with the digits that the interval bears."""
    return row_estimate(row).partition(f"{SPACE}[")[0]


def gain(row: Row) -> str:
    """What the release gave the adversary, signed, in percentage points where the unit is a share."""
    if not math.isfinite(row.gain):
        return number(row.gain)
    scale = 100 if row.unit in SHARES else 1
    places = None if scale == 1 else 1 if abs(row.gain) >= 0.01 else 2
    if row.low is not None and row.high is not None and row.high > row.low:
        places = decimals(scale * row.low, scale * row.high)
    text = number(scale * row.gain, places)
    return ("+" if row.gain > 0 else "") + text + (f"{SPACE}points" if scale == 100 else "")


def swatch(style: int) -> str:
    """The mark of the adversary number `style` as a small inline SVG, for keys outside charts."""
    path = {
        "circle": '<circle cx="7" cy="7" r="5"/>',
        "square": '<path d="M2.5 2.5h9v9h-9z"/>',
        "triangle-up": '<path d="M7 1.5l5.8 10.5H1.2z"/>',
        "diamond": '<path d="M7 .8L13 7 7 13.2 1 7z"/>',
        "cross": '<path d="M5 1h4v4h4v4H9v4H5V9H1V5h4z"/>',
        "triangle-down": '<path d="M7 12.5L1.2 2h11.6z"/>',
    }[SHAPES[style % len(SHAPES)]]
    fill = COLOURS[style % len(COLOURS)]
    return (
        f'<svg class="swatch" width="14" height="14" viewBox="0 0 14 14" fill="{fill}" aria-hidden="true">{path}</svg>'
    )


def success_chart(rows: Sequence[Row | Absent], *, styles: Mapping[str, int], label: str, key: str) -> str:
    """Success by release, for one target: dot and 95 % interval, a black tick where guessing stands, the gain a band.

    rows   : of one target, one for each release and adversary, in the order in which they are drawn; at least one has
             a value
    styles : adversary -> number of its mark; its letter is written where there are several
    label  : what the chart shows, for readers who do not see it
    key    : prefix of the ids inside, unique on the page
    """
    alt = _altair()
    releases = list(dict.fromkeys(row.release for row in rows))
    band = 20 * max(sum(row.release == release for row in rows) for release in releases) + 12
    left, height = _margin(releases), band * len(releases)
    width = PANEL - left - 6
    marks, words = _success_marks(rows, releases, band, styles)
    largest = max(mark["right"] for mark in marks) or 1.0
    rooms = (max(width - 12 - CHARACTER * len(mark["text"]), 50.0) for mark in marks)
    end = max(largest * 1.02, *(mark["right"] * width / room for mark, room in zip(marks, rooms, strict=True)))
    ticks = _axis(largest, about=min(4.0, largest / end * width / 55))

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, end], nice=False), axis=ticks)

    def y(field: str = "y") -> Any:
        return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)

    names = [{"y": i * band + band / 2, "text": _short(name)} for i, name in enumerate(releases)]
    lines = [{"y": i * band} for i in range(len(releases))]
    layers = [
        _chart(lines).mark_rule(color=FAINT).encode(y=y()),
        _chart(marks)
        .mark_rule(strokeWidth=7, opacity=0.28)
        .encode(x=x("prior"), x2="x:Q", y=y(), color=_as_is("colour")),
        _chart(marks).mark_rule(strokeWidth=1.6, color=INK).encode(x=x("low"), x2="high:Q", y=y()),
        _chart(marks).mark_rule(strokeWidth=2, color=INK).encode(x=x("prior"), y=y("top"), y2="bottom:Q"),
        _chart(marks)
        .mark_point(size=62, filled=True, opacity=1, stroke="white", strokeWidth=0.8)
        .encode(x=x("x"), y=y(), color=_as_is("colour"), shape=_as_is("shape")),
        _chart(marks).mark_text(align="left", dx=9, color=INK).encode(x=x("right"), y=y(), text="text:N"),
        _chart(names)
        .mark_text(align="right", color=INK, fontWeight="bold")
        .encode(x=alt.value(-10), y=y(), text="text:N"),
    ]
    if words:
        said = _chart(words).mark_text(align="left", fontStyle="italic", color=SOFT)
        layers.append(said.encode(x=alt.value(9), y=y(), text="text:N"))
    guesses = {percent(mark["prior"]) for mark in marks}
    if len(guesses) == 1:
        note = _chart([{"x": marks[0]["prior"], "text": f"guessing {guesses.pop()}"}])
        said = note.mark_text(align="left", dx=-1, color=SOFT)
        layers.append(said.encode(x=x("x"), y=alt.value(-9), text="text:N"))
    return _draw(layers, width=width, height=height, margins=(left, 20, 6, 24), label=label, key=key)


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
                | {"colour": COLOURS[style % len(COLOURS)], "shape": SHAPES[style % len(SHAPES)]}
            )
    return marks, words


def distribution_chart(spread: Sequence[Distribution], *, style: int, tallest: float, label: str, key: str) -> str:
    """One row of bars for each release: the share of people by success probability, for one adversary and target.

    Bins are drawn equally wide whatever their edges, which are written below; a bar's height is its share of people.

    spread  : one for each release, all with the same edges
    tallest : the share that fills the height of a row, the same for all panels that are compared
    """
    alt = _altair()
    releases, edges = [item.release for item in spread], spread[0].edges
    left, band, bins = _margin((*releases, "success %")), 52, len(edges) - 1
    width, height = PANEL - left - 16, band * len(spread)
    step = width / bins
    bars, names = [], []
    for i, item in enumerate(spread):
        floor = (i + 1) * band - 1
        names.append({"y": floor - band / 2 + 8, "text": _short(item.release), "floor": floor})
        last = max((b for b, share in enumerate(item.shares) if share > 0), default=0)
        for b, share in enumerate(item.shares):
            said = share > 0 and (bins <= 10 or b == last or share == max(item.shares))
            bars.append(
                {"x": b * step + 1, "x2": (b + 1) * step - 1, "middle": (b + 0.5) * step, "floor": floor}
                | {
                    "y": floor - (1.2 if share > 0 else 0) - 32 * share / tallest,
                    "text": _coarse(share) if said else "",
                }
            )
    every = max(1, math.ceil(bins / 8))
    ticks = [{"x": b * step, "text": f"{round(100 * edge, 1):g}"} for b, edge in enumerate(edges) if b % every == 0]

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, width], nice=False), axis=None)

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)

    colour = COLOURS[style % len(COLOURS)]
    layers = [
        _chart(names).mark_rule(color=SOFT, strokeWidth=0.8).encode(y=y("floor")),
        _chart(bars).mark_rect(color=colour).encode(x=x("x"), x2="x2:Q", y=y("y"), y2="floor:Q"),
        _chart(bars).mark_text(dy=-7, fontSize=10.5, color=INK).encode(x=x("middle"), y=y("y"), text="text:N"),
        _chart(names)
        .mark_text(align="right", color=INK, fontWeight="bold")
        .encode(x=alt.value(-10), y=y("y"), text="text:N"),
        _chart(ticks)
        .mark_text(baseline="top", fontSize=11, color=SOFT)
        .encode(x=x("x"), y=alt.value(height + 5), text="text:N"),
        _chart([{"text": "success %"}])
        .mark_text(align="right", baseline="top", fontSize=11, color=SOFT)
        .encode(x=alt.value(-10), y=alt.value(height + 5), text="text:N"),
    ]
    return _draw(layers, width=width, height=height, margins=(left, 4, 16, 22), label=label, key=key)


def plane_chart(points: Sequence[Point], *, n_adversaries: int, loss: str, risk: str, label: str, key: str) -> str:
    """Risk against utility lost, both from 0: undominated releases are filled and joined, dominated ones are hollow.

    points     : all releases, adversary by adversary; a release is dominated among the points of the same adversary
    loss, risk : titles of the axes; a loss that never exceeds 1 is written in percent
    """
    alt = _altair()
    left, height = 62, 250
    width = PANEL - left - 26
    x_max = 1.1 * max(point.loss for point in points) or 1.0
    y_max = 1.15 * max(point.risk if point.high is None else point.high for point in points) or 1.0

    def x(field: str = "x") -> Any:
        scale = alt.Scale(domain=[0, x_max], nice=False)
        return alt.X(f"{field}:Q", scale=scale, axis=_axis(x_max, title=loss, share=x_max <= 1.1))

    def y(field: str = "y") -> Any:
        return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[0, y_max], nice=False), axis=_axis(y_max, title=risk))

    marks = [mark for style in dict.fromkeys(p.style for p in points) for mark in _plane_marks(points, style)]
    best = [mark for mark in marks if mark["best"]]
    names = _names(points, width / x_max, height / y_max, width=width)
    layers = [
        _chart(best)
        .mark_line(strokeWidth=1.2, opacity=0.55)
        .encode(x=x(), y=y(), color=_as_is("colour"), detail="shape:N"),
        _chart(marks).mark_rule(strokeWidth=1.4, color=INK).encode(x=x(), y=y("low"), y2="high:Q"),
        _chart(marks)
        .mark_point(size=72, filled=True, opacity=1, strokeWidth=1.8)
        .encode(
            x=x(),
            y=y(),
            stroke=alt.Stroke("colour:N", scale=None),
            fill=alt.Fill("fill:N", scale=None),
            shape=_as_is("shape"),
        ),
    ]
    for align in dict.fromkeys(name["align"] for name in names):
        own = [name for name in names if name["align"] == align]
        layers.append(_chart(own).mark_text(align=align, color=INK).encode(x=x(), y=y(), text="text:N"))
    if n_adversaries > 1:
        letters = _letters(marks, 13 * y_max / height)
        layers.append(
            _chart(letters)
            .mark_text(align="left", dx=10, color=INK, fontWeight="bold")
            .encode(x=x(), y=y(), text="text:N")
        )
    return _draw(layers, width=width, height=height, margins=(left, 8, 26, 44), label=label, key=key)


def _plane_marks(points: Sequence[Point], style: int) -> list[dict[str, Any]]:
    """The points of one adversary; filled where no other release is better in both ways."""
    own = [point for point in points if point.style == style]
    colour, shape = COLOURS[style % len(COLOURS)], SHAPES[style % len(SHAPES)]
    return [
        {"x": point.loss, "y": point.risk, "best": best, "style": style, "shape": shape, "colour": colour}
        | {
            "low": point.risk if point.low is None else point.low,
            "high": point.risk if point.high is None else point.high,
        }
        | {"fill": colour if best else "white"}
        for point, best in zip(own, undominated(own), strict=True)
    ]


def _letters(marks: Sequence[Mapping[str, Any]], gap: float) -> list[dict[str, Any]]:
    """The letter of each adversary beside the last of its marks, at least `gap` above the letter below."""
    last = {mark["style"]: mark for mark in sorted(marks, key=lambda mark: float(mark["x"]))}
    letters: list[dict[str, Any]] = []
    floor = -math.inf
    for style, mark in sorted(last.items(), key=lambda item: float(item[1]["y"])):
        floor = max(mark["y"], floor + gap)
        letters.append({"x": mark["x"], "y": floor, "text": letter(style)})
    return letters


def _names(points: Sequence[Point], x_scale: float, y_scale: float, *, width: float) -> list[dict[str, Any]]:
    """Where the name of each release goes, once: above its highest mark, else beside or below it, where there is room.

    The places of marks and names are reckoned in pixels and returned on the scales of the chart.
    """
    taken = [(p.loss * x_scale - 7, p.risk * y_scale - 7, p.loss * x_scale + 7, p.risk * y_scale + 7) for p in points]
    names: list[dict[str, Any]] = []
    for release in dict.fromkeys(point.release for point in points):
        top = max((p for p in points if p.release == release), key=lambda p: p.risk if p.high is None else p.high)
        x, y = top.loss * x_scale, top.risk * y_scale
        above = (top.risk if top.high is None else top.high) * y_scale
        long = CHARACTER * len(_short(release))
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
            if place[3] >= 2 and place[3] + long <= width + 20 and not _overlaps(_box(place, long), taken)
        )
        align, px, py, start = next(free, places[0])
        taken.append(_box((align, px, py, start), long))
        names.append({"x": px / x_scale, "y": py / y_scale, "align": align, "text": _short(release)})
    return names


def _box(place: tuple[str, float, float, float], long: float) -> tuple[float, float, float, float]:
    return place[3], place[2] - 7, place[3] + long, place[2] + 7


def _overlaps(box: tuple[float, float, float, float], taken: Sequence[tuple[float, float, float, float]]) -> bool:
    return any(box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in taken)


def lettered(text: str, style: int, n_adversaries: int) -> str:
    """The text behind the letter of its adversary, where there are several to tell apart."""
    return f"{letter(style)}  {text}" if n_adversaries > 1 else text


def letter(style: int) -> str:
    """A for the first adversary, B for the second, AA after Z."""
    return (letter(style // 26 - 1) if style >= 26 else "") + chr(ord("A") + style % 26)


def _short(name: str, longest: int = 18) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "\u2026"


def _coarse(share: float) -> str:
    """A share over a bar: whole percent from 10 % on."""
    return percent(share, 0 if share >= 0.0995 else 1)


def _margin(names: Sequence[str]) -> int:
    """Room for the names of releases at the left of a chart, in pixels (they are set in bold)."""
    return 16 + math.ceil(1.1 * CHARACTER * max(len(_short(name)) for name in (*names, "k=100")))


def _ticks(largest: float, about: float) -> list[float]:
    """Round values from 0 to at most `largest`."""
    rough = largest / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    return [round(step * i, 12) for i in range(math.floor(largest / step + 1e-9) + 1)]


def _axis(largest: float, *, about: float = 4.0, title: str | None = None, share: bool = True) -> Any:
    """An axis from 0 with about as many round ticks, in percent for shares."""
    shown = "format(100 * datum.value, '~r') + '\u00a0%'" if share else "format(datum.value, ',~r')"
    ticks = _ticks(largest, about)
    return _altair().Axis(values=ticks, labelExpr=shown, title=title, labelOverlap=False, labelBound=False)


def _altair() -> Any:
    """Altair, imported where a chart is drawn: it takes longer to load than a page without charts takes to write."""
    import altair as alt

    return alt


def _chart(values: Sequence[Mapping[str, Any]]) -> Any:
    alt = _altair()
    return alt.Chart(alt.InlineData(values=list(values)))


def _as_is(field: str) -> Any:
    """A field that holds the colour or the shape itself."""
    alt = _altair()
    return alt.Color(f"{field}:N", scale=None) if field == "colour" else alt.Shape(f"{field}:N", scale=None)


def _draw(
    layers: Sequence[Any], *, width: float, height: float, margins: tuple[int, int, int, int], label: str, key: str
) -> str:
    """The layers as one SVG of fixed size, ready to stand inside a page.

    Ids are given a prefix, since several drawings share the page; the XML name spaces, which HTML does not need, go.
    """
    import vl_convert

    left, top, right, bottom = margins
    alt = _altair()
    chart = alt.layer(*layers).properties(
        width=width,
        height=height,
        padding={"left": left, "top": top, "right": right, "bottom": bottom},
        autosize=alt.AutoSizeParams(type="none"),
    )
    chart = chart.configure(aria=False, background="transparent", font=FONT).configure_view(stroke=None)
    chart = chart.configure_text(fontSize=FONT_SIZE, font=FONT, baseline="middle")
    chart = chart.configure_axis(
        labelFontSize=FONT_SIZE - 1,
        titleFontSize=FONT_SIZE,
        titleFontWeight="normal",
        labelColor=SOFT,
        titleColor=INK,
        gridColor="#eceef0",
        domainColor=SOFT,
        tickColor=SOFT,
        tickSize=4,
    )
    svg: str = vl_convert.vegalite_to_svg(chart.to_dict())
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{key}-\1)", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{html.escape(label)}" ', 1)
