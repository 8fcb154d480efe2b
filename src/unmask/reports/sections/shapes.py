"""Before and after: what a release still says of where people stand in a column."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from unmask.reports.charts import plot
from unmask.reports.data import ReportData
from unmask.reports.facts.shapes import Shape
from unmask.reports.marks import Bar, Line
from unmask.reports.parts import Figure, Figures, Section, lead, parts
from unmask.reports.scales import Scale, linear
from unmask.reports.svg import Drawing
from unmask.reports.words import number, percent

HOW = (
    "Bars are the original. The line is what the release says, every generalized cell spread evenly over the values "
    "that it may stand for, and rows that were not released over all of them. Where it follows the bars, their shape "
    "is kept."
)

FEW = " Shares are rounded up to a multiple of {:,} people. Bins of fewer are left empty, and cut off at the ends."

SECONDS = 86400.0


def shapes_section(data: ReportData) -> Section | None:
    """A chart for each column of each release."""
    several = len({one.release for one in data.shapes}) > 1
    figures = tuple(Figure(f"{one.column}{f', {one.release}' if several else ''}", _chart(one)) for one in data.shapes)
    how = f"{HOW}{FEW.format(data.least)}" if data.least > 1 else HOW
    return (
        Section("shapes", "Before and after, column by column", parts(lead(how), Figures(figures))) if figures else None
    )


def _chart(one: Shape) -> Drawing:
    """Shares of people before as bars, after as steps."""
    edges = one.edges or tuple(map(float, range(len(one.before) + 1)))
    spans = list(enumerate(zip(edges, edges[1:], one.before, one.after, strict=False)))
    bars = [Bar(low, high, was, f"{_span(one, i)}: {_moved(was, now)}") for i, (low, high, was, now) in spans]
    corners = [(at, now) for _, (low, high, _, now) in spans for at in (low, high)]
    y = linear(max(*one.before, *one.after) or 1.0, beyond=True, about=3)
    largest = max(range(len(spans)), key=lambda i: one.before[i])
    told = f"Most are at {_span(one, largest)}: {_moved(one.before[largest], one.after[largest])}"
    label = f"{one.column}: people before and after. {told}. {percent(one.moved)} of people stand elsewhere."
    lost = f" Without a value: {_moved(one.missing, one.gone)}." if one.missing or one.gone else ""
    lines = [Line("", corners, 0, marked=False)]
    return plot(_across(one, edges), y, lines, bars=bars, height=130.0, label=label + lost)


def _moved(was: float, now: float) -> str:
    return f"{percent(was)} before, {percent(now)} after"


def _span(one: Shape, i: int) -> str:
    """A bin in words: its ends, or its place among the commonest values."""
    if not one.edges:
        return f"value no. {i + 1}"
    return f"{_said(one, one.edges[i])} to {_said(one, one.edges[i + 1])}"


def _said(one: Shape, value: float) -> str:
    if one.type not in ("date", "datetime"):
        return number(value)
    days = value if one.type == "date" else value / SECONDS
    return f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=days):%Y-%m}"


def _across(one: Shape, edges: tuple[float, ...]) -> Scale:
    if not one.edges:
        return Scale(edges[0], edges[-1], (), "Values, the commonest first")
    if one.type in ("date", "datetime"):
        some = edges[:: max(1, len(edges) // 4)]
        return Scale(edges[0], edges[-1], tuple((at, (_said(one, at),)) for at in some), "")
    title = "Values in their order" if one.type == "ordinal" else ""
    return linear(edges[-1], low=edges[0], unit="", title=title)
