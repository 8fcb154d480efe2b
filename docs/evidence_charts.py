"""Charts of the tables that programs write into the documentation. They read the tables from the pages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import vl_convert

from unmask.render.charts.boxes import FONT_SIZE
from unmask.render.charts.svg import COLORS, FONT, light

DOCS = Path(__file__).parent

CLAIM_COLORS = [light(COLORS[3]), light(COLORS[1]), light(COLORS[4])]
"""Colors of claims that hold, differ and fail."""


class Drawing(NamedTuple):
    """A chart as the directive `picture` expects it."""

    svg: str


def draw_claims() -> Drawing:
    """Draw the claims of docs/verification.md: one bar for each program, divided into hold, differ and fail."""
    kinds = ("hold", "differ", "fail")
    rows = list(read_last_table("verification.md"))
    values = [
        {"program": row["program"], "kind": kind, "claims": int(row[kind]), "order": position}
        for row in rows
        for position, kind in enumerate(kinds)
        if row[kind].isdigit()
    ]
    totals = {kind: sum(value["claims"] for value in values if value["kind"] == kind) for kind in kinds}
    color_scale = alt.Scale(domain=list(kinds), range=CLAIM_COLORS)
    chart = (
        alt.Chart(alt.InlineData(values=values))
        .mark_bar()
        .encode(
            x=alt.X("claims:Q", title="claims"),
            y=alt.Y("program:N", sort=[row["program"] for row in rows], title=None),
            color=alt.Color("kind:N", title=None, sort=list(kinds), scale=color_scale),
            order="order:Q",
        )
    )
    counts = ", ".join(f"{totals[kind]} {kind}" for kind in kinds)
    return _render(chart.properties(width=430), f"Claims by program: {counts}.")


def draw_ratios() -> Drawing:
    """Draw the ratios of docs/benchmark-cases.md on a log scale: seconds of the peer divided by ours, by program."""
    ratios = ((row["program"], row["ratio"].replace(",", "")) for row in read_last_table("benchmark-cases.md"))
    values = [{"program": name, "times": float(ratio)} for name, ratio in ratios if ratio]
    base = alt.Chart(alt.InlineData(values=values))
    x = alt.X("times:Q", title="seconds of the peer / seconds of unmask", scale=alt.Scale(type="log"))
    dots = base.mark_point(filled=True, size=55, opacity=0.75, color=light(COLORS[0])).encode(
        x=x.axis(format="~g"), y=alt.Y("program:N", title=None)
    )
    even = alt.Chart(alt.InlineData(values=[{"times": 1}])).mark_rule(strokeDash=[4, 3]).encode(x="times:Q")
    n_faster = sum(value["times"] > 1 for value in values)
    chart = (even + dots).properties(width=430, height=180)
    return _render(chart, f"{n_faster} of {len(values)} comparisons are above 1: unmask needs less time.")


def read_last_table(page: str) -> Iterator[dict[str, str]]:
    """Yield the rows of the last table of a page, by column."""
    *_, table = (DOCS / page).read_text(encoding="utf-8").split("\n\n|")
    lines = [line for line in f"|{table}".splitlines() if line.startswith("|")]
    columns, _, *rows = ([cell.strip() for cell in line.strip("| ").split("|")] for line in lines)
    yield from (dict(zip(columns, row, strict=False)) for row in rows)


def _render(chart: Any, label: str) -> Drawing:
    styled = chart.configure(font=FONT, background="white").configure_view(stroke=None)
    styled = styled.configure_axis(
        labelFontSize=FONT_SIZE, titleFontSize=FONT_SIZE, titleFontWeight="normal", labelLimit=260
    )
    styled = styled.configure_legend(orient="top", labelFontSize=FONT_SIZE)
    svg = str(vl_convert.vegalite_to_svg(styled.to_dict()))
    return Drawing(svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1))
