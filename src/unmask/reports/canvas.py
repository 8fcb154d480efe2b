"""What all charts share: colors, shapes, axes, and static SVG drawn without a browser.

One adversary has one color and one shape in every chart, so that the page can be read in gray.
Charts of the same rows are the same bytes: geometry is fixed here, and no size depends on the fonts of the machine.
"""

from __future__ import annotations

import html
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unmask.errors import visible
from unmask.reports.words import percent

COLORS = ("#12436d", "#e8702a", "#801650", "#28a197", "#8d6fc4", "#3d3d3d")

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")

INK, SOFT, FAINT = "#1f2328", "#5b6168", "#dadde1"

FONT = "Arial, Liberation Sans, Helvetica, sans-serif"

FONT_SIZE = 12

CHARACTER = 6.1
"""Width of a character at that size, in pixels: room for text is reckoned, so that bytes do not depend on fonts."""

DASHES = ((1, 0), (6, 3), (2, 2), (10, 3, 2, 3), (4, 2), (12, 4))
"""Strokes by number of a line: with the color they tell lines apart, also in gray."""

LEGEND = 20
"""Height of a line of the legend, in pixels."""

PANEL = 440
"""Width of one of two panels side by side, in pixels."""


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
    fill = COLORS[style % len(COLORS)]
    return (
        f'<svg class="swatch" width="14" height="14" viewBox="0 0 14 14" fill="{fill}" aria-hidden="true">{path}</svg>'
    )


def short(name: str, longest: int = 18) -> str:
    """A name cut to the room there is."""
    return name if len(name) <= longest else name[: longest - 1] + "\u2026"


def shorts(names: Sequence[str]) -> list[str]:
    """Different names cut to the room there is, with what tells them apart where their starts do not.

    >>> shorts(["k=3", "decoy/0.1 minimum_degree=5", "decoy/0.1 minimum_degree=8"])
    ['k=3', 'decoy/0.…5', 'decoy/0.…8']
    """

    def told(name: str) -> str:
        alike = {other for other in names if short(other) == short(name)}
        if len(alike) == 1:
            return short(name)
        same = sum(1 for _ in itertools.takewhile(lambda letters: len({*letters}) == 1, zip(*alike, strict=False)))
        return f"{name[:8]}\u2026{short(name[same:], 9)}"

    return [told(name) for name in names]


def coarse(share: float) -> str:
    """A share over a bar: whole percent from 10 % on."""
    return percent(share, 0 if share >= 0.0995 else 1)


def margin(names: Sequence[str]) -> int:
    """Room for the names of releases at the left of a chart, in pixels (they are set in bold)."""
    return 16 + math.ceil(1.1 * CHARACTER * max(len(short(name)) for name in (*names, "k=100")))


def _ticks(largest: float, about: float) -> list[float]:
    """Round values from 0 to at most `largest`."""
    rough = largest / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    return [round(step * i, 12) for i in range(math.floor(largest / step + 1e-9) + 1)]


def axis(largest: float, *, about: float = 4.0, title: str | None = None, share: bool = True) -> Any:
    """An axis from 0 with about as many round ticks, in percent for shares."""
    shown = "format(100 * datum.value, '~r') + '\u00a0%'" if share else "format(datum.value, ',~r')"
    ticks = _ticks(largest, about)
    return altair().Axis(values=ticks, labelExpr=shown, title=title, labelOverlap=False, labelBound=False)


def altair() -> Any:
    """Altair, imported where a chart is drawn: it takes longer to load than a page without charts takes to write."""
    import altair as alt

    return alt


def chart(values: Sequence[Mapping[str, Any]]) -> Any:
    """A chart of values that are written into it; a tuple, since Altair copies lists at every step."""
    alt = altair()
    return alt.Chart(alt.InlineData(values=tuple(values)))


def as_is(field: str) -> Any:
    """A field that holds the color or the shape itself."""
    alt = altair()
    return alt.Color(f"{field}:N", scale=None) if field == "color" else alt.Shape(f"{field}:N", scale=None)


def draw(
    layers: Sequence[Any], *, width: float, height: float, margins: tuple[int, int, int, int], label: str, key: str
) -> str:
    """The layers as one SVG of fixed size, ready to stand inside a page.

    Ids are given a prefix, since several drawings share the page; the XML name spaces, which HTML does not need, go.
    """
    import vl_convert

    left, top, right, bottom = margins
    axes = {
        "labelFontSize": FONT_SIZE - 1,
        "titleFontSize": FONT_SIZE,
        "titleFontWeight": "normal",
        "labelColor": SOFT,
        "titleColor": INK,
        "gridColor": "#eceef0",
        "domainColor": SOFT,
        "tickColor": SOFT,
        "tickSize": 4,
    }
    spec = altair().layer(*layers).to_dict(validate=False) | {  # set on the chart, each would copy all that is in it
        "width": width,
        "height": height,
        "padding": {"left": left, "top": top, "right": right, "bottom": bottom},
        "autosize": {"type": "none"},
        "background": "transparent",
        "config": {
            "aria": False,
            "font": FONT,
            "view": {"stroke": None},
            "text": {"fontSize": FONT_SIZE, "font": FONT, "baseline": "middle"},
            "axis": axes,
        },
    }
    svg: str = vl_convert.vegalite_to_svg(_seen(spec))
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{key}-\1)", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{html.escape(visible(label))}" ', 1)


def _seen(spec: Any) -> Any:
    """The chart with names whose every character is seen: the converter aborts the process at a control character."""
    if isinstance(spec, dict):
        return {key: _seen(value) for key, value in spec.items()}
    if isinstance(spec, list | tuple):
        return [_seen(value) for value in spec]
    return visible(spec) if isinstance(spec, str) else spec


@dataclass(frozen=True)
class Mark:
    """A value on an axis that is marked by a rule, with the words beside it."""

    value: float
    text: str
    style: int = 0


@dataclass(frozen=True)
class Frame:
    """The ground of a chart: its size in pixels, its scales from 0 (or `floor`) to their ends, and its axes."""

    width: float
    height: float
    right: float
    top: float
    x_axis: Any
    y_axis: Any
    left: float = 0.0
    floor: float = 0.0

    def x(self, field: str = "x") -> Any:
        """A field along the horizontal scale."""
        alt = altair()
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[self.left, self.right], nice=False), axis=self.x_axis)

    def y(self, field: str = "y") -> Any:
        """A field along the vertical scale."""
        alt = altair()
        return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[self.floor, self.top], nice=False), axis=self.y_axis)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The values that stand `x` pixels from the left and `y` pixels below the top."""
        across = self.left + x * (self.right - self.left) / self.width
        return across, self.top - y * (self.top - self.floor) / self.height

    def pixel(self, value: float) -> float:
        """How many pixels from the left a value of the horizontal scale stands."""
        return (value - self.left) / (self.right - self.left) * self.width
