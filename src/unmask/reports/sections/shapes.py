"""Before and after: what a release still says of where people stand in a column."""

from __future__ import annotations

from itertools import pairwise

from unmask.render import Figure
from unmask.reports.data import ReportData
from unmask.reports.facts.shapes import Shape
from unmask.reports.parts import Figures, Section, lead, parts
from unmask.results import Chart, Column, Table
from unmask.results.formats import DATE, percent

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
    figures = tuple(_figure(one, f"{one.column}{f', {one.release}' if several else ''}") for one in data.shapes)
    how = f"{HOW}{FEW.format(data.least)}" if data.least > 1 else HOW
    return (
        Section("shapes", "Before and after, column by column", parts(lead(how), Figures(figures))) if figures else None
    )


def _figure(one: Shape, title: str) -> Figure:
    """Shares of people before as bars, after as steps."""
    records = zip(_bins(one), one.before, one.after, strict=True)
    columns = (_across(one), Column("before", "before", "share"), Column("after", "after", "share"))
    table = Table.from_records("shapes", columns, records)
    label = f"{one.column}: people before and after. {percent(one.moved)} of people are elsewhere"
    if one.missing or one.gone:
        label += f". Without a value: {percent(one.missing)} before, {percent(one.gone)} after"
    return Figure(Chart("bars", "shapes", "value", "after", title=title, label=label, baseline="before"), table)


def _bins(one: Shape) -> list[tuple[float, float]] | list[str]:
    """The ends of bins, or the places of the commonest values; dates are days."""
    if not one.edges:
        return [f"no. {place}" for place in range(1, len(one.before) + 1)]
    edges = [edge / SECONDS for edge in one.edges] if one.type == "datetime" else one.edges
    return list(pairwise(edges))


def _across(one: Shape) -> Column:
    if not one.edges:
        return Column("value", "Values, the commonest first")
    unit = DATE if one.type in ("date", "datetime") else ""
    return Column("value", "Values in their order" if one.type == "ordinal" else "", "interval", unit)
