"""What every drawing is made of: one palette, one font, six shapes, and words, as SVG that stretches with its page.

Places across are parts of the width, from 0 to 1, plus a shift in pixels; places down, words and marks are in pixels.
So a drawing is as wide as there is room, and its words never grow or shrink. Colors are those of the page, light or
dark; a drawing that stands alone has the light ones. One adversary has one color and one shape in every chart, so that
the page can be read in gray. Room for words is reckoned here and no font is asked for its size, so that the same values
are the same bytes on every machine.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from unmask.core.errors import visible
from unmask.reports.room import RIGHT, ROW, SIZE, STEP, at_step, wide, wrapped

COLORS = (
    "var(--s1,#1d5a9b)",
    "var(--s2,#8a5a00)",
    "var(--s3,#7b3a8c)",
    "var(--s4,#0a6a5a)",
    "var(--s5,#a3275c)",
    "var(--ink-2,#474e56)",
)

SHADES = (COLORS[5], COLORS[0], "var(--ink-3,#656c74)", COLORS[3], COLORS[1], COLORS[2])
"""Colors of lines that are no adversaries."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")

DASHES = ((), (6, 3), (2, 2), (10, 3, 2, 3), (4, 2), (12, 4))
"""Strokes by number of a line: with the color they tell lines apart, also in gray."""

INK, WORDS, SOFT = "var(--ink,#15181c)", "var(--ink-2,#474e56)", "var(--ink-3,#656c74)"
AXIS, GROUND, PAPER = "var(--rule-2,#85898f)", "var(--rule,#e3e1da)", "var(--paper,#ffffff)"
MISSED, ACCENT_SOFT = "var(--missed,#b03c0c)", "var(--accent-soft,#cfdff0)"

FONT = "Arial, Liberation Sans, Helvetica, sans-serif"

NOMINAL = 600.0
"""Width of what is drawn where a drawing stands alone; the unit of paths."""

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


def light(drawn: str) -> str:
    """The same in light colors, which no page has to define.

    >>> light(COLORS[0])
    '#1d5a9b'
    """
    return re.sub(r"var\(--[\w-]+,(#\w+)\)", r"\1", drawn)


def color(style: int, *, shade: bool = False) -> str:
    """The color of number `style`: of an adversary, or of a line that is none."""
    colors = SHADES if shade else COLORS
    return colors[style % len(colors)]


def number(value: float) -> str:
    """A coordinate with at most two decimals."""
    return f"{round(float(value), 2) + 0.0:g}" if abs(value) < 1e4 else f"{value:.2f}"


def _attributes(**given: object) -> str:
    shown = ((name.rstrip("_").replace("_", "-"), value) for name, value in given.items() if value != "")
    return "".join(
        f' {name}="{number(value) if isinstance(value, int | float) else html.escape(str(value))}"'
        for name, value in shown
    )


def _part(at: float) -> str:
    return f"{number(100 * at)}%"


def text(
    at: float,
    y: float,
    said: str,
    *,
    dx: float = 0.0,
    anchor: str = "",
    ink: str = WORDS,
    look: str = "",
    second: bool = False,
) -> str:
    """Words whose middle line is at `y`, `dx` pixels from a part of the width; second : only where there is room.

    look : "bold", "italic" or "halo", which hides lines behind them
    """
    given = _attributes(
        x=_part(at),
        dx=dx or "",
        y=y + 0.35 * SIZE,
        text_anchor=anchor,
        fill=INK if look == "bold" else ink,
        font_weight="650" if look == "bold" else "",
        font_style="italic" if look == "italic" else "",
        class_="second" if second else "",
    )
    behind = f' stroke="{PAPER}" stroke-width="4" paint-order="stroke" stroke-linejoin="round"'
    return f"<text{given}{behind if look == 'halo' else ''}>{html.escape(visible(said))}</text>"


def line(a: tuple[float, float], b: tuple[float, float], *, stroke: str, width: float = 1.0, dash: str = "") -> str:
    """From one place to another, each a part of the width and pixels down."""
    place = _attributes(x1=_part(a[0]), y1=a[1], x2=_part(b[0]), y2=b[1])
    return f"<line{place}{_attributes(stroke=stroke, stroke_width=width, stroke_dasharray=dash)}/>"


def dashes(style: int) -> str:
    """The stroke of line number `style`."""
    return " ".join(map(str, DASHES[style % len(DASHES)]))


def path(
    points: Iterable[tuple[float, float]], *, stroke: str, width: float = 2.0, dash: str = "", fade: float = 1.0
) -> str:
    """Places joined in their order; where one is not finite, a gap. Its stroke does not stretch with it."""
    drawn, pen = [], "M"
    for x, y in points:
        finite = math.isfinite(x) and math.isfinite(y)
        drawn += [f"{pen}{number(NOMINAL * x)},{number(y)}"] if finite else []
        pen = "L" if finite else "M"
    look = _attributes(stroke=stroke, stroke_width=width, stroke_dasharray=dash, opacity="" if fade == 1.0 else fade)
    shape = f'<path d="{"".join(drawn)}" fill="none" vector-effect="non-scaling-stroke"{look}/>'
    return stretched(shape) if drawn else ""


def stretched(shape: str) -> str:
    """A shape whose places across are of `NOMINAL`, as wide as the drawing."""
    frame = f'viewBox="0 0 {NOMINAL:g} 100" width="100%" height="100" preserveAspectRatio="none" overflow="visible"'
    return f"<svg {frame}>{shape}</svg>"


def rectangle(
    left: float, top: float, right: float, bottom: float, *, fill: str, fade: float = 1.0, apart: bool = False
) -> str:
    """A filled rectangle, from one part of the width to another; apart : with a gap to its neighbors."""
    place = _attributes(
        x=_part(left), y=top, width=_part(max(right - left, 0.0)), height=max(bottom - top, 0.0), fill=fill
    )
    return f"<rect{place}{_attributes(opacity='' if fade == 1.0 else fade, stroke=PAPER if apart else '')}/>"


def mark(at: float, y: float, style: int, *, radius: float = 5.0, hollow: bool = False, shade: bool = False) -> str:
    """The shape of number `style`, filled with its color, or hollow."""
    ink, shape = color(style, shade=shade), SHAPES[style % len(SHAPES)]
    look = _attributes(
        fill=PAPER if hollow else ink, stroke=ink if hollow else PAPER, stroke_width=1.8 if hollow else 1.2
    )
    if shape == "circle":
        return f'<circle class="mark"{_attributes(cx=_part(at), cy=y, r=radius)}{look}/>'
    corners = "L".join(f"{number(radius * dx)},{number(radius * dy)}" for dx, dy in _CORNERS[shape])
    place = _attributes(x=_part(at), y=y, width=1, height=1)
    return f'<svg{place} overflow="visible"><path class="mark" d="M{corners}Z"{look}/></svg>'


def bubble(at: float, y: float, style: int, *, radius: float) -> str:
    """A disk of a given radius that those behind it show through."""
    look = _attributes(cx=_part(at), cy=y, r=radius, fill=color(style), stroke=PAPER, stroke_width=0.8)
    return f'<circle{look} opacity="0.72"/>'


def target(at: float, y: float) -> str:
    """A place where a pointer finds a value that has no mark."""
    return f'<circle class="target"{_attributes(cx=_part(at), cy=y, r=9)} fill="none" pointer-events="all"/>'


def hair(at: float, y: float, start: tuple[float, float], end: tuple[float, float], *, second: bool = False) -> str:
    """A thin line, its ends in pixels from a place."""
    ways = "L".join(f"{number(dx)},{number(dy)}" for dx, dy in (start, end))
    place = _attributes(x=_part(at), y=y, width=1, height=1, class_="second" if second else "")
    return f'<svg{place} overflow="visible"><path d="M{ways}" stroke="{AXIS}" stroke-width="0.8"/></svg>'


def told(said: str, *shapes: str) -> str:
    """Shapes with the words that are shown where a pointer rests on them."""
    return f"<g><title>{html.escape(visible(said))}</title>{''.join(shapes)}</g>"


def series(style: str, shapes: Iterable[str]) -> str:
    """Shapes that an entry of the legend hides together."""
    return f'<g data-of="{html.escape(style)}">{"".join(shapes)}</g>'


def swatch(style: int) -> str:
    """The mark of the adversary number `style` as a small inline SVG, for keys outside charts."""
    return icon(mark(0.5, 7, style), 14)


def icon(shapes: str, width: float, name: str = "swatch") -> str:
    """A small drawing inside a line of words."""
    return f'<svg class="{name}" width="{number(width)}" height="14" aria-hidden="true">{shapes}</svg>'


@dataclass(frozen=True)
class Entry:
    """An entry of the legend: its stroke and mark, as a drawing of `ICON` by 14 pixels, and its name."""

    of: str
    shapes: str
    name: str

    def __str__(self) -> str:
        said = f"<span>{html.escape(visible(self.name))}</span>"
        return f'<li data-of="{html.escape(self.of)}">{icon(self.shapes, ICON, "key")}{said}</li>'


ICON = 28.0
"""Pixels of the stroke and mark of an entry of the legend."""


@dataclass(frozen=True)
class Drawing:
    """A chart: shapes and words, as high as they are and as wide as there is room.

    label  : what it shows, with its numbers, for readers who do not see it
    left   : room at the left for words that end there, in pixels; right : the same
    legend : what stands above it, as many beside each other as there is room
    """

    parts: tuple[str, ...]
    height: float
    label: str
    left: float = 0.0
    right: float = RIGHT
    legend: tuple[Entry, ...] = ()
    kind: str = "rows"

    def __str__(self) -> str:
        """For a page, which has the styles and colors; see `alone`."""
        key = f'<ul class="legend">{"".join(map(str, self.legend))}</ul>' if self.legend else ""
        look = f'class="chart {self.kind} m{at_step(self.left) // STEP} r{at_step(self.right) // STEP}"'
        drawn = f'<svg {self._named} {look} height="{number(self.height)}">{"".join(self.parts)}</svg>'
        return f'<div class="drawing">{key}{drawn}</div>'

    __html__ = __str__

    @property
    def _named(self) -> str:
        return f'role="img" aria-label="{html.escape(visible(self.label))}" font-family="{FONT}" font-size="{SIZE}"'

    def alone(self) -> str:
        """The same as a file: in light colors, `NOMINAL` pixels and the room for words wide, the legend inside."""
        left, keys = at_step(self.left) + 8.0, list(self._keys())
        width, top = left + NOMINAL + self.right + 8, 8 + ROW * len(keys)
        size = f'width="{number(width)}" height="{number(self.height + top + 4)}"'
        spaces = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(self.height + top + 4)}"'
        ground = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
        area = _attributes(x=left, y=top, width=NOMINAL, height=self.height)
        inner = f'<svg{area} overflow="visible">{"".join(self.parts)}</svg>'
        places = ((left + x, 4 + ROW * row, one) for row, entries in enumerate(keys) for x, one in entries)
        legend = "".join(f"<svg{_attributes(x=x, y=y, width=NOMINAL, height=ROW)}>{one}</svg>" for x, y, one in places)
        shown = f"<svg {spaces} {size} {self._named}>{ground}{legend}{inner}</svg>"
        return light(shown)

    def _keys(self) -> Iterator[list[tuple[float, str]]]:
        """The legend in lines: of each entry its place and its shapes."""
        line: list[tuple[float, str]] = []
        x = 0.0
        for one in self.legend:
            for row, said in enumerate(wrapped(one.name, NOMINAL - ICON - 8)):
                long = ICON + 8 + wide(said) + 16
                if row or x + long - 16 > NOMINAL:
                    yield line
                    line, x = [], 0.0
                shapes = "" if row else f'<svg width="{number(ICON)}" height="14" overflow="visible">{one.shapes}</svg>'
                line.append((x, shapes + text(0.0, 7, said, dx=ICON + 8)))
                x += long
        if line:
            yield line
