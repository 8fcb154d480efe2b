"""Drawings of results: charts as SVG for pages and files, and as Vega-Lite for notebooks and other programs."""

from unmask.render.charts import draw
from unmask.render.figure import Figure
from unmask.render.svg import Drawing

__all__ = ["Drawing", "Figure", "draw"]
