"""Pictures of tables that programs write into the documentation, read from the pages themselves: they show what the
page says.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import vl_convert

from unmask.render.boxes import FONT_SIZE
from unmask.render.svg import COLORS, FONT, light

HERE = Path(__file__).parent

RANGE = [light(COLORS[3]), light(COLORS[1]), light(COLORS[4])]
"""What holds, what differs, what fails."""


class Drawn(NamedTuple):
    """A drawing, as `drawn` takes it."""

    svg: str


def claims() -> Drawn:
    """The claims of docs/verification.md: a bar for each program, parted into what holds, differs and fails."""
    kinds = ("hold", "differ", "fail")
    rows = list(lines("verification.md"))
    values = [
        {"program": row["program"], "kind": kind, "claims": int(row[kind]), "order": place}
        for row in rows
        for place, kind in enumerate(kinds)
        if row[kind].isdigit()
    ]
    total = {kind: sum(one["claims"] for one in values if one["kind"] == kind) for kind in kinds}
    chart = (
        alt.Chart(alt.InlineData(values=values))
        .mark_bar()
        .encode(
            x=alt.X("claims:Q", title="claims"),
            y=alt.Y("program:N", sort=[row["program"] for row in rows], title=None),
            color=alt.Color("kind:N", title=None, sort=list(kinds), scale=alt.Scale(domain=list(kinds), range=RANGE)),
            order="order:Q",
        )
    )
    said = ", ".join(f"{total[kind]} {kind}" for kind in kinds)
    return _finished(chart.properties(width=430), f"Claims by program: {said}.")


def ratios() -> Drawn:
    """The cases of docs/benchmark-cases.md with a peer: seconds of the peer over ours, by program, on a log scale."""
    found = ((row["program"], row["ratio"].replace(",", "")) for row in lines("benchmark-cases.md"))
    values = [{"program": name, "times": float(ratio)} for name, ratio in found if ratio]
    base = alt.Chart(alt.InlineData(values=values))
    across = alt.X("times:Q", title="seconds of the peer, over ours", scale=alt.Scale(type="log"))
    dots = base.mark_point(filled=True, size=55, opacity=0.75, color=light(COLORS[0])).encode(
        x=across.axis(format="~g"), y=alt.Y("program:N", title=None)
    )
    even = alt.Chart(alt.InlineData(values=[{"times": 1}])).mark_rule(strokeDash=[4, 3]).encode(x="times:Q")
    faster = sum(one["times"] > 1 for one in values)
    chart = (even + dots).properties(width=430, height=180)
    return _finished(chart, f"{faster} of {len(values)} comparisons are above 1: unmask takes less time there.")


def lines(page: str) -> Iterator[dict[str, str]]:
    """The lines of the last table of a page, by their heads."""
    *_, table = (HERE / page).read_text(encoding="utf-8").split("\n\n|")
    rows = [line for line in f"|{table}".splitlines() if line.startswith("|")]
    head, _, *cells = ([cell.strip() for cell in row.strip("| ").split("|")] for row in rows)
    yield from (dict(zip(head, own, strict=False)) for own in cells)


def _finished(chart: Any, label: str) -> Drawn:
    look = chart.configure(font=FONT, background="white").configure_view(stroke=None)
    look = look.configure_axis(
        labelFontSize=FONT_SIZE, titleFontSize=FONT_SIZE, titleFontWeight="normal", labelLimit=260
    )
    look = look.configure_legend(orient="top", labelFontSize=FONT_SIZE)
    svg = str(vl_convert.vegalite_to_svg(look.to_dict()))
    return Drawn(svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1))
