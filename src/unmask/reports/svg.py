"""What every drawing is made of: one palette, one font, six shapes, and words, as SVG text.

One adversary has one color and one shape in every chart, so that the page can be read in gray. Room for words is
reckoned here and no font is asked for its size, so that the same values are the same bytes on every machine.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

from unmask.errors import visible

COLORS = ("#12436d", "#e8702a", "#801650", "#28a197", "#8d6fc4", "#3d3d3d")

SHADES = ("#0f2f4f", "#5b86ad", "#8c8c8c", "#3d3d3d", "#2c5d8a", "#8aa9c6")
"""Colors of lines that are no adversaries."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")

DASHES = ((), (6, 3), (2, 2), (10, 3, 2, 3), (4, 2), (12, 4))
"""Strokes by number of a line: with the color they tell lines apart, also in gray."""

INK, SOFT, FAINT, GROUND = "#1f2328", "#5b6168", "#dadde1", "#eceef0"

FONT = "Arial, Liberation Sans, Helvetica, sans-serif"

SIZE = 12
"""Size of words in charts, in pixels."""

PANEL = 440
"""Width of one of two charts side by side, in pixels."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom of something drawn, in pixels."""

_WIDTHS = dict.fromkeys(" .,:;!|/ijltfI'[]\u00a0\u2026", 0.28) | dict.fromkeys("r()-", 0.34)
_WIDTHS |= dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZw", 0.7) | dict.fromkeys("mMW%@", 0.86)

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


def color(style: int, *, shade: bool = False) -> str:
    """The color of number `style`: of an adversary, or of a line that is none."""
    colors = SHADES if shade else COLORS
    return colors[style % len(colors)]


def wide(said: str, *, bold: bool = False) -> float:
    """About how many pixels words take, in the font of all charts."""
    return SIZE * sum(_WIDTHS.get(letter, 0.56) for letter in said) * (1.08 if bold else 1.0)


def wrapped(said: str, room: float) -> list[str]:
    """The words in lines of at most `room` pixels; a word that is longer is broken, so that nothing is ever cut.

    >>> wrapped("an adversary who knows age", 100)
    ['an adversary who', 'knows age']
    """
    if wide(said) <= room:
        return [said]
    lines = [""]
    for word in said.split(" "):
        rest = word
        while wide(rest) > room:
            fits = next(n for n in range(len(rest) - 1, -1, -1) if n <= 1 or wide(rest[:n]) <= room) or 1
            lines, rest = [*lines, rest[:fits]], rest[fits:]
        joined = f"{lines[-1]} {rest}".strip(" ")
        lines = [*lines[:-1], joined] if wide(joined) <= room else [*lines, rest]
    return [line for line in lines if line] or [""]


def number(value: float) -> str:
    """A coordinate with at most two decimals."""
    return f"{round(float(value), 2) + 0.0:g}" if abs(value) < 1e4 else f"{value:.2f}"


def _attributes(**given: object) -> str:
    shown = ((name.replace("_", "-"), value) for name, value in given.items() if value != "")
    return "".join(
        f' {name}="{number(value) if isinstance(value, int | float) else html.escape(str(value))}"'
        for name, value in shown
    )


def text(
    x: float,
    y: float,
    said: str,
    *,
    anchor: str = "",
    ink: str = INK,
    size: float = SIZE,
    look: str = "",
    turn: int = 0,
) -> str:
    """Words whose middle line is at `y`; `look` is "bold", "italic" or "halo", which hides lines behind them."""
    given = _attributes(
        x=x,
        y=y + 0.36 * size,
        text_anchor=anchor,
        fill=ink,
        font_size="" if size == SIZE else size,
        font_weight="bold" if look == "bold" else "",
        font_style="italic" if look == "italic" else "",
        transform=f"rotate({turn} {number(x)} {number(y)})" if turn else "",
    )
    behind = ' stroke="white" stroke-width="3" paint-order="stroke"' if look == "halo" else ""
    return f"<text{given}{behind}>{html.escape(visible(said))}</text>"


def path(
    points: Iterable[tuple[float, float]],
    *,
    stroke: str,
    width: float = 2.0,
    dash: Sequence[int] = (),
    fade: float = 1.0,
) -> str:
    """Points joined in their order; where one is not finite, a gap."""
    drawn, pen = [], "M"
    for x, y in points:
        finite = math.isfinite(x) and math.isfinite(y)
        drawn += [f"{pen}{number(x)},{number(y)}"] if finite else []
        pen = "L" if finite else "M"
    look = _attributes(stroke=stroke, stroke_width=width, stroke_dasharray=" ".join(map(str, dash)))
    faded = f' opacity="{fade:g}"' if fade < 1 else ""
    return f'<path d="{"".join(drawn)}" fill="none"{look}{faded}/>' if drawn else ""


def rectangle(box: Box, *, fill: str, stroke: str = "", fade: float = 1.0) -> str:
    """A filled rectangle."""
    left, top, right, bottom = box
    place = _attributes(x=left, y=top, width=max(right - left, 0.0), height=max(bottom - top, 0.0))
    faded = f' opacity="{fade:g}"' if fade < 1 else ""
    return f"<rect{place}{_attributes(fill=fill, stroke=stroke)}{faded}/>"


def mark(x: float, y: float, style: int, *, radius: float = 4.5, hollow: bool = False, shade: bool = False) -> str:
    """The shape of number `style`, filled with its color, or hollow."""
    ink, shape = color(style, shade=shade), SHAPES[style % len(SHAPES)]
    look = _attributes(fill="white" if hollow else ink, stroke=ink if hollow else "white")
    look += ' stroke-width="1.8"' if hollow else ' stroke-width="0.8"'
    if shape == "circle":
        return f'<circle class="mark"{_attributes(cx=x, cy=y, r=radius)}{look}/>'
    corners = "L".join(f"{number(x + radius * dx)},{number(y + radius * dy)}" for dx, dy in _CORNERS[shape])
    return f'<path class="mark" d="M{corners}Z"{look}/>'


def bubble(x: float, y: float, style: int, *, radius: float) -> str:
    """A disk of a given radius that those behind it show through."""
    look = _attributes(cx=x, cy=y, r=radius, fill=color(style), stroke="white", stroke_width=0.8)
    return f'<circle{look} opacity="0.72"/>'


def swatch(style: int) -> str:
    """The mark of the adversary number `style` as a small inline SVG, for keys outside charts."""
    drawn = mark(7, 7, style, radius=5)
    return f'<svg class="swatch" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">{drawn}</svg>'


def drawing(parts: Iterable[str], *, height: float, label: str, kind: str = "rows") -> str:
    """The parts as one SVG as wide as a panel, ready to stand inside a page; a "plot" stands on the line of others."""
    size = f'width="{PANEL}" height="{number(height)}" viewBox="0 0 {PANEL} {number(height)}"'
    look = f'font-family="{FONT}" font-size="{SIZE}"'
    name = html.escape(visible(label))
    return f'<svg role="img" aria-label="{name}" class="{kind}" {size} {look}>{"".join(parts)}</svg>'


def overlap(a: Box, b: Box) -> bool:
    """Whether two boxes have anything in common."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
