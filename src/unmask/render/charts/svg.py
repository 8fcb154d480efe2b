"""SVG primitives: one palette, one font, six shapes, and words that keep their size while a drawing stretches.

Positions across are parts of the width, from 0 to 1, plus a shift in pixels; positions down, words and marks are in
pixels. Colors are CSS variables of the page, light or dark; a drawing as a file has the light ones. An adversary has
the same color and shape in every chart. Shapes make a page readable in gray.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from unmask.core.errors import visible
from unmask.render.charts.boxes import FONT_SIZE, LINE_HEIGHT, RIGHT, Label, text_width, wrap_text

COLORS = (
    "var(--s1,#1d5a9b)",
    "var(--s2,#8a5a00)",
    "var(--s3,#7b3a8c)",
    "var(--s4,#0a6a5a)",
    "var(--s5,#a3275c)",
    "var(--ink-2,#474e56)",
)
"""Colors of adversaries."""

SHADES = (COLORS[5], COLORS[0], "var(--ink-3,#656c74)", COLORS[3], COLORS[1], COLORS[2])
"""Colors of series that are not adversaries."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")

DASHES = ("", "6 3", "2 2", "10 3 2 3", "4 2", "12 4")
"""Strokes of series: with the color they distinguish lines, also in gray."""

INK, WORDS, SOFT = "var(--ink,#15181c)", "var(--ink-2,#474e56)", "var(--ink-3,#656c74)"
AXIS, GRID, PAPER = "var(--rule-2,#85898f)", "var(--rule,#e3e1da)", "var(--paper,#ffffff)"
MISSED, ACCENT_SOFT = "var(--missed,#b03c0c)", "var(--accent-soft,#cfdff0)"

FONT = "Arial, Liberation Sans, Helvetica, sans-serif"

NOMINAL_WIDTH = 600.0
"""Width of a drawing as a file, in pixels; the unit of paths."""

STEP = 8
"""Width of both margins is a multiple of these pixels, see `chart.css`."""

KEY_WIDTH = 28.0
"""Width of the stroke and mark of a legend entry, in pixels."""

_ARM = 0.45
_CORNERS = {
    "square": ((-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)),
    "triangle-up": ((0, -1.2), (1.15, 0.85), (-1.15, 0.85)),
    "diamond": ((0, -1.3), (1.1, 0), (0, 1.3), (-1.1, 0)),
    "cross": tuple(
        (turn * x, turn * y)
        for turn in (1, -1)
        for x, y in ((-_ARM, -1.2), (_ARM, -1.2), (_ARM, -_ARM), (1.2, -_ARM), (1.2, _ARM), (_ARM, _ARM))
    ),
    "triangle-down": ((0, 1.2), (-1.15, -0.85), (1.15, -0.85)),
}


def light(svg: str) -> str:
    """Replace the colors of a page by the light ones.

    >>> light(COLORS[0])
    '#1d5a9b'
    """
    return re.sub(r"var\(--[\w-]+,(#\w+)\)", r"\1", svg)


def coordinate(value: float) -> str:
    """Write a coordinate with at most two decimals."""
    return f"{round(float(value), 2) + 0.0:g}" if abs(value) < 1e4 else f"{value:.2f}"


def round_up(pixels: float) -> int:
    """Round room at a side up to a multiple of `STEP`."""
    return STEP * math.ceil(pixels / STEP)


def _attributes(**attributes: object) -> str:
    pairs = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items() if value != "")
    return "".join(
        f' {name}="{coordinate(value) if isinstance(value, int | float) else html.escape(str(value))}"'
        for name, value in pairs
    )


def _percentage(part: float) -> str:
    return f"{coordinate(100 * part)}%"


# --- shapes ----------------------------------------------------------------------------------------------------------


def text(
    x: float,
    y: float,
    words: str,
    *,
    dx: float = 0.0,
    anchor: str = "",
    ink: str = WORDS,
    look: str = "",
    second: bool = False,
) -> str:
    """Draw words whose middle line is at `y`, `dx` pixels from a part of the width.

    `look` is "bold", "italic" or "halo", which hides lines behind the words. Words of second rank (`second`) are hidden
    on a phone.
    """
    attributes = _attributes(
        x=_percentage(x),
        dx=dx or "",
        y=y + 0.35 * FONT_SIZE,
        text_anchor=anchor,
        fill=INK if look == "bold" else ink,
        font_weight="650" if look == "bold" else "",
        font_style="italic" if look == "italic" else "",
        class_="second" if second else "",
    )
    halo = f' stroke="{PAPER}" stroke-width="4" paint-order="stroke" stroke-linejoin="round"' if look == "halo" else ""
    return f"<text{attributes}{halo}>{html.escape(visible(words))}</text>"


def draw_label(label: Label, second: bool = False, *, ink: str = WORDS, look: str = "") -> str:
    """Draw words in the room that was found for them."""
    return text(label.x, label.y, label.words, dx=label.dx, anchor=label.anchor, ink=ink, look=look, second=second)


def line(a: tuple[float, float], b: tuple[float, float], *, stroke: str, width: float = 1.0, dash: str = "") -> str:
    """Draw a line between two positions, each a part of the width and pixels down."""
    ends = _attributes(x1=_percentage(a[0]), y1=a[1], x2=_percentage(b[0]), y2=b[1])
    return f"<line{ends}{_attributes(stroke=stroke, stroke_width=width, stroke_dasharray=dash)}/>"


def path(
    positions: Iterable[tuple[float, float]], *, stroke: str, width: float = 2.0, dash: str = "", opacity: float = 1.0
) -> str:
    """Join positions in their order, with a gap at one that is not finite. The stroke does not stretch."""
    commands, pen = [], "M"
    for x, y in positions:
        finite = math.isfinite(x) and math.isfinite(y)
        commands += [f"{pen}{coordinate(NOMINAL_WIDTH * x)},{coordinate(y)}"] if finite else []
        pen = "L" if finite else "M"
    if not commands:
        return ""
    look = _attributes(
        stroke=stroke, stroke_width=width, stroke_dasharray=dash, opacity="" if opacity == 1.0 else opacity
    )
    frame = f'viewBox="0 0 {NOMINAL_WIDTH:g} 100" width="100%" height="100" preserveAspectRatio="none"'
    shape = f'<path d="{"".join(commands)}" fill="none" vector-effect="non-scaling-stroke"{look}/>'
    return f'<svg {frame} overflow="visible">{shape}</svg>'


def rectangle(
    left: float, top: float, right: float, bottom: float, *, fill: str, opacity: float = 1.0, outlined: bool = False
) -> str:
    """Draw a filled rectangle between two parts of the width; `outlined` leaves a gap to its neighbors."""
    area = _attributes(
        x=_percentage(left), y=top, width=_percentage(max(right - left, 0.0)), height=max(bottom - top, 0.0), fill=fill
    )
    look = _attributes(opacity="" if opacity == 1.0 else opacity, stroke=PAPER if outlined else "")
    return f"<rect{area}{look}/>"


def mark(x: float, y: float, style: int, *, color: str, radius: float = 5.0, hollow: bool = False) -> str:
    """Draw the shape of a style."""
    shape = SHAPES[style % len(SHAPES)]
    look = _attributes(
        fill=PAPER if hollow else color, stroke=color if hollow else PAPER, stroke_width=1.8 if hollow else 1.2
    )
    if shape == "circle":
        return f'<circle class="mark"{_attributes(cx=_percentage(x), cy=y, r=radius)}{look}/>'
    corners = "L".join(f"{coordinate(radius * dx)},{coordinate(radius * dy)}" for dx, dy in _CORNERS[shape])
    place = _attributes(x=_percentage(x), y=y, width=1, height=1)
    return f'<svg{place} overflow="visible"><path class="mark" d="M{corners}Z"{look}/></svg>'


def bubble(x: float, y: float, *, color: str, radius: float) -> str:
    """Draw a translucent disk."""
    look = _attributes(cx=_percentage(x), cy=y, r=radius, fill=color, stroke=PAPER, stroke_width=0.8)
    return f'<circle class="mark"{look} opacity="0.72"/>'


def pointer_target(x: float, y: float) -> str:
    """Draw an invisible disk where a pointer finds a value that has no mark."""
    return f'<circle class="target"{_attributes(cx=_percentage(x), cy=y, r=9)} fill="none" pointer-events="all"/>'


def ring(x: float, y: float, radius: float, *, dash: str = "") -> str:
    """Draw a ring around a point."""
    look = _attributes(stroke=INK, stroke_width=2, stroke_dasharray=dash)
    return f'<circle{_attributes(cx=_percentage(x), cy=y, r=radius)} fill="none"{look}/>'


def link(address: str, words: str, x: float, y: float, shapes: str) -> str:
    """Make shapes a link, with room for a finger."""
    room = f'<circle class="touch"{_attributes(cx=_percentage(x), cy=y, r=12)} fill="none" pointer-events="all"/>'
    return f'<a href="{html.escape(address)}" aria-label="{html.escape(visible(words))}">{room}{shapes}</a>'


def with_tooltip(words: str, *shapes: str) -> str:
    """Group shapes with the words that are shown where a pointer rests on them."""
    return f"<g><title>{html.escape(visible(words))}</title>{''.join(shapes)}</g>"


def swatch(style: int) -> str:
    """Draw the mark of an adversary as a small inline SVG, for keys outside charts."""
    return inline(mark(0.5, 7, style, color=COLORS[style % len(COLORS)]), 14)


def inline(shapes: str, width: float, name: str = "swatch") -> str:
    """Draw shapes inside a line of words."""
    return f'<svg class="{name}" width="{coordinate(width)}" height="14" aria-hidden="true">{shapes}</svg>'


def small_bars(heights: Sequence[float], label: str) -> str:
    """Draw bars without axes, for a card."""
    tallest, step = max([1.0, *heights]), 1 / max(len(heights), 1)
    bars = (
        rectangle((i + 0.1) * step, 40 - 36 * height / tallest, (i + 0.9) * step, 40, fill=COLORS[0])
        for i, height in enumerate(heights)
    )
    shapes = "".join(bars) + line((0, 40), (1, 40), stroke=AXIS)
    return f'<svg class="mini" height="44" role="img" aria-label="{html.escape(visible(label))}">{shapes}</svg>'


# --- the whole drawing -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LegendEntry:
    """A name with its stroke and mark, which are `KEY_WIDTH` by 14 pixels."""

    name: str
    shapes: str

    def __str__(self) -> str:
        return f"<li>{inline(self.shapes, KEY_WIDTH, 'key')}<span>{html.escape(visible(self.name))}</span></li>"


@dataclass(frozen=True)
class Drawing:
    """A chart as SVG: as wide as there is room, its height and words in pixels.

    Parameters
    ----------
    parts : tuple of str
        Shapes and words.
    height : float
        Height in pixels.
    label : str
        Description with the numbers, for readers who do not see the chart.
    left, right : float
        Room at both sides for words, in pixels.
    legend : tuple of LegendEntry
        Legend above the chart.
    kind : {"plane", "rows"}
        Form of the chart, a CSS class.
    role : {"img", "group"}
        Role for readers who do not see the chart: a group if it has links.
    """

    parts: tuple[str, ...]
    height: float
    label: str
    left: float = 0.0
    right: float = RIGHT
    legend: tuple[LegendEntry, ...] = ()
    kind: str = "rows"
    role: str = "img"

    def __str__(self) -> str:
        """Return the drawing for a page, which has the styles and colors; see `to_file`."""
        legend = f'<ul class="legend">{"".join(map(str, self.legend))}</ul>' if self.legend else ""
        look = f'class="chart {self.kind} m{round_up(self.left) // STEP} r{round_up(self.right) // STEP}"'
        svg = f'<svg {self._attributes} {look} height="{coordinate(self.height)}">{"".join(self.parts)}</svg>'
        return f'<div class="drawing">{legend}{svg}</div>'

    __html__ = __str__

    @property
    def _attributes(self) -> str:
        label = html.escape(visible(self.label))
        return f'role="{self.role}" aria-label="{label}" font-family="{FONT}" font-size="{FONT_SIZE}"'

    def to_file(self) -> str:
        """Return the drawing as a file: in light colors, of a fixed width, with the legend inside."""
        return light(self.to_element())

    def to_element(self) -> str:
        """Return the drawing with the legend inside, of a fixed width, in the colors of the page around it."""
        left, rows = round_up(self.left) + 8.0, list(self._legend_rows())
        top = 8 + LINE_HEIGHT * len(rows)
        width, height = coordinate(left + NOMINAL_WIDTH + self.right + 8), coordinate(self.height + top + 4)
        frame = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        area = _attributes(x=left, y=top, width=NOMINAL_WIDTH, height=self.height)
        body = f'<svg{area} overflow="visible">{"".join(self.parts)}</svg>'
        places = ((left + x, 4 + LINE_HEIGHT * y, entry) for y, entries in enumerate(rows) for x, entry in entries)
        size = _attributes(width=NOMINAL_WIDTH, height=LINE_HEIGHT)
        legend = "".join(f"<svg{_attributes(x=x, y=y)}{size}>{entry}</svg>" for x, y, entry in places)
        ground = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
        return f"<svg {frame} {self._attributes}>{ground}{legend}{body}</svg>"

    def _legend_rows(self) -> Iterator[list[tuple[float, str]]]:
        """Yield the entries of each line of the legend, with their position."""
        row: list[tuple[float, str]] = []
        x = 0.0
        for entry in self.legend:
            for number, words in enumerate(wrap_text(entry.name, NOMINAL_WIDTH - KEY_WIDTH - 8)):
                width = KEY_WIDTH + 8 + text_width(words) + 16
                if number or x + width - 16 > NOMINAL_WIDTH:
                    yield row
                    row, x = [], 0.0
                key = f'<svg width="{coordinate(KEY_WIDTH)}" height="14" overflow="visible">{entry.shapes}</svg>'
                row.append((x, ("" if number else key) + text(0.0, 7, words, dx=KEY_WIDTH + 8)))
                x += width
        if row:
            yield row
