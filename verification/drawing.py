"""Figures of the programs as SVG and PNG: one style, and the pieces that they share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from unmask.render.svg import COLORS, FONT, light
from unmask.render.svg import INK as PAGE_INK
from unmask.render.svg import SOFT as PAGE_SOFT

BLUE, ORANGE, PLUM, GREEN, *_ = map(light, COLORS)
INK, SOFT = light(PAGE_INK), light(PAGE_SOFT)
GRAY = "#6e7781"

Rows = list[dict[str, Any]]


def draw(charts: Mapping[str, Any], folder: Path) -> None:
    """Write each chart under its name, twice, and say so."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, chart in charts.items():
        spec = _styled(chart).to_json()
        svg, png = folder / f"{name}.svg", folder / f"{name}.png"
        svg.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
        png.write_bytes(vl_convert.vegalite_to_png(spec, scale=2))
        print(f"wrote {svg}\nwrote {png}")


def heading(text: str, *below: str) -> Any:
    """The title of a chart, and lines below it."""
    return alt.TitleParams(text, subtitle=list(below))


def data(rows: Rows) -> Any:
    """A chart of rows that are written into it."""
    return alt.Chart(alt.InlineData(values=rows))


def label(text: str, color: str, x: float, y: float, *, dx: int = 0, dy: int = 0, align: str = "left") -> Any:
    """Words at a point."""
    mark = {"align": align, "dx": dx, "dy": dy, "fontSize": 12, "fontWeight": "bold", "color": color}
    return data([{"x": x, "y": y, "text": text}]).mark_text(**mark).encode(x="x:Q", y="y:Q", text="text:N")


def colored(colors: Mapping[str, str], *, legend: Any = None) -> Any:
    """Each curve in its color; no legend unless one is given."""
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    return alt.Color("curve:N", scale=scale, legend=legend)


def _styled(chart: Any) -> Any:
    return (
        chart.configure(background="white", font=FONT, padding=12)
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=12,
            titleFontSize=13,
            titleFontWeight="normal",
            labelColor=SOFT,
            titleColor=INK,
            gridColor="#eceef0",
            domainColor=SOFT,
            tickColor=SOFT,
            titlePadding=8,
        )
        .configure_title(fontSize=14, anchor="start", color=INK, subtitleColor=SOFT, subtitleFontSize=12, offset=10)
        .configure_legend(labelFontSize=12, titleFontSize=12, labelLimit=400, symbolSize=120, orient="bottom")
    )
