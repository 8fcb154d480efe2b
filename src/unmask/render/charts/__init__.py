"""Drawings of results: charts as SVG for pages and files, and as Vega-Lite for notebooks and other programs."""

from unmask.render.charts.draw import draw
from unmask.render.charts.figure import Figure
from unmask.render.charts.svg import Drawing

__all__ = ["Drawing", "Figure", "draw"]
