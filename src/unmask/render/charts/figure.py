"""A chart together with its table, as pages, files, notebooks and other programs take it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from unmask.render.charts.draw import draw
from unmask.render.charts.svg import Drawing
from unmask.render.charts.vega import to_vega
from unmask.results.blocks import Chart
from unmask.results.table import Table


@dataclass(frozen=True, repr=False)
class Figure:
    """A chart and the table that it shows; a notebook displays it.

    Parameters
    ----------
    chart : Chart
        Form and columns.
    table : Table
        Values.
    name : str, optional
        Name among the charts of a result.
    """

    chart: Chart
    table: Table
    name: str = ""

    @property
    def caption(self) -> str:
        """Return the line above the chart."""
        return self.chart.title

    @cached_property
    def drawing(self) -> Drawing:
        """Return the chart as SVG of a page."""
        return draw(self.chart, self.table)

    @property
    def svg(self) -> str:
        """Return the chart as an SVG file."""
        return self.drawing.to_file()

    def to_vega(self) -> dict[str, Any]:
        """Return the chart as a Vega-Lite specification, for Altair and the Vega editor."""
        return to_vega(self.chart, self.table)

    def __repr__(self) -> str:
        return f"Figure({self.name or self.table.name!r}, {self.caption!r})"

    def _repr_html_(self) -> str:
        return self.svg
