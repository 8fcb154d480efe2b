"""Charts as Vega-Lite specifications, which notebooks, Altair and the Vega editor take as they are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from unmask.render.charts.svg import ACCENT_SOFT, COLORS, FONT, INK, SHADES, SOFT, light
from unmask.results.blocks import Chart
from unmask.results.formats import DATE, is_share
from unmask.results.table import Column, Table

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"

Spec = dict[str, Any]


def to_vega(chart: Chart, table: Table) -> Spec:
    """Return a Vega-Lite specification with the values of the table.

    >>> table = Table.from_records("t", (Column("k", "k", "number"), Column("risk", "Risk", "share")), [(3, 0.4)])
    >>> to_vega(Chart("lines", "t", "k", "risk"), table)["layer"][0]["mark"]
    {'type': 'line', 'point': True}
    """
    columns = {column.name: column for column in table.columns}
    rows = [_plain(row) for row in table.where(**chart.where).rows]
    palette = [light(color) for color in (COLORS if chart.style else SHADES)]
    config = {"font": FONT, "view": {"stroke": None}, "range": {"category": palette}, "mark": {"color": palette[0]}}
    layers = LAYERS.get(chart.form, _plane_layers)(chart, columns)
    return {
        "$schema": SCHEMA,
        "title": chart.title,
        "description": chart.label or chart.title,
        "width": 520,
        "config": config,
        "data": {"values": rows},
        "layer": [*layers, *_rules(chart), *_diagonal(chart, rows)],
    }


def _plain(row: Mapping[str, Any]) -> Spec:
    """Return a row without tuples and without numbers that are not finite, which JSON does not have."""
    values: Spec = {}
    for name, value in row.items():
        if isinstance(value, tuple):
            values |= {f"{name}_low": value[0], f"{name}_high": value[1]}
        else:
            values[name] = None if isinstance(value, float) and not math.isfinite(value) else value
    return values


def _axis(column: Column, *, log: bool = False, field: str = "") -> Spec:
    """Return the encoding of a column on an axis."""
    if column.kind == "text":
        return {"field": column.name, "type": "nominal", "sort": None, "title": column.label or None}
    unit = "" if is_share(column) or not column.unit else f" ({column.unit})"
    scale: Spec = {"scale": {"type": "symlog"}} if log else {}
    form = {"format": ".0%"} if is_share(column) else {}
    return {
        "field": field or column.name,
        "type": "quantitative",
        "title": f"{column.label}{unit}",
        "axis": {"tickCount": 5, **form},
        **scale,
    }


def _look(chart: Chart) -> Spec:
    """Return the encoding of series: color and shape."""
    if not chart.by:
        return {}
    series = {"field": chart.by, "type": "nominal", "sort": None, "title": None}
    look = {"color": series}
    return look if chart.form in ("steps", "histogram") else {**look, "shape": {**series, "legend": None}}


def _plane_layers(chart: Chart, columns: Mapping[str, Column]) -> Iterator[Spec]:
    """Yield the layers of lines, steps, points and bars."""
    interval = columns[chart.x].kind == "interval"
    x = _axis(columns[chart.x], log="x" in chart.log, field=f"{chart.x}_low" if interval else "")
    y = _axis(columns[chart.y], log="y" in chart.log)
    y |= {"scale": {"zero": False}} if chart.front else {}
    if chart.form == "bars":
        x |= {"bin": "binned"} if interval and columns[chart.x].unit != DATE else {}
        ends = {"x": x, **({"x2": {"field": f"{chart.x}_high"}} if interval else {})}
        height = chart.baseline or chart.y
        color = {"color": light(ACCENT_SOFT)} if chart.baseline else {}
        yield {"mark": {"type": "bar", **color}, "encoding": {**ends, "y": {**y, "field": height}}}
        if chart.baseline:
            yield {"mark": {"type": "line", "interpolate": "step-after"}, "encoding": {"x": x, "y": y}}
        return
    encoding = {"x": x, "y": y, **_look(chart)}
    marks = {"lines": {"type": "line", "point": True}, "steps": {"type": "line", "interpolate": "step-after"}}
    joined = chart.form in marks
    points = f"datum['{chart.mark}'] != 'curve'" if chart.mark else ""
    lines = {"transform": [{"filter": f"datum['{chart.mark}'] != 'hollow'"}]} if chart.mark and joined else {}
    if joined:
        yield {**lines, "mark": marks[chart.form], "encoding": encoding}
    if chart.mark and not joined:
        kind, form = ("point", "step-after") if chart.front else ("curve", "linear")
        vertices = [{"filter": f"datum['{chart.mark}'] == '{kind}'"}]
        line = {"type": "line", "interpolate": form}
        yield {"transform": vertices, "mark": line, "encoding": {"x": x, "y": y, "color": encoding.get("color", {})}}
    if joined and not chart.mark:
        return
    size = {"size": {"field": chart.size, "type": "quantitative"}} if chart.size else {}
    hollow = {"fillOpacity": {"condition": {"test": f"datum['{chart.mark}'] == 'hollow'", "value": 0}, "value": 1}}
    only = f"datum['{chart.mark}'] == 'hollow'" if joined else points
    transform = {"transform": [{"filter": only}]} if only else {}
    mark = {"type": "point", "filled": not chart.mark, "size": 90}
    yield {**transform, "mark": mark, "encoding": {**encoding, **size, **(hollow if chart.mark else {})}}
    if chart.low:
        yield {"mark": "rule", "encoding": {"x": x, "y": {**y, "field": chart.low}, "y2": {"field": chart.high}}}
    if chart.text:
        words = {"x": x, "y": y, "text": {"field": chart.text}}
        yield {"mark": {"type": "text", "align": "left", "dx": 9, "color": light(INK)}, "encoding": words}


def _dots_layers(chart: Chart, columns: Mapping[str, Column]) -> Iterator[Spec]:
    """Yield by row the band from the baseline, its tick, the interval and the value."""
    x, y = _axis(columns[chart.x]), {"field": chart.y, "type": "nominal", "sort": None, "title": None}
    place = {"y": y, **({"yOffset": {"field": chart.by, "sort": None}} if chart.by else {})}
    if chart.baseline:
        ends = {"x": x, "x2": {"field": chart.baseline}, **place, **_look(chart)}
        yield {
            "mark": {"type": "bar", "height": 7, "opacity": 0.3},
            "encoding": {k: v for k, v in ends.items() if k != "shape"},
        }
        yield {
            "mark": {"type": "tick", "color": light(INK)},
            "encoding": {"x": {**x, "field": chart.baseline}, **place},
        }
    if chart.low:
        yield {"mark": "rule", "encoding": {"x": {**x, "field": chart.low}, "x2": {"field": chart.high}, **place}}
    yield {"mark": {"type": "point", "filled": True, "size": 90}, "encoding": {"x": x, **place, **_look(chart)}}


def _histogram_layers(chart: Chart, columns: Mapping[str, Column]) -> Iterator[Spec]:
    """Yield the number of people by interval of risk, a strip for each series."""
    low, high = f"datum['{chart.x}_low']", f"datum['{chart.x}_high']"
    words = {"calculate": f"format({low}, '.1%') + ' to ' + format({high}, '.1%')", "as": "ends"}
    x = {"field": "ends", "type": "ordinal", "sort": None, "title": columns[chart.x].label}
    count = {"calculate": f"isNumber(datum['{chart.y}']) ? datum['{chart.y}'] : 1", "as": "count"}
    y = {"field": "count", "type": "quantitative", "title": columns[chart.y].label}
    strips = {"xOffset": {"field": chart.by, "sort": None}} if chart.by else {}
    yield {"transform": [words, count], "mark": "bar", "encoding": {"x": x, "y": y, **strips, **_look(chart)}}


def _tornado_layers(chart: Chart, columns: Mapping[str, Column]) -> Iterator[Spec]:
    """Yield two bars around the baseline for each row, and their words."""
    x, y = _axis(columns[chart.x]), {"field": chart.y, "type": "nominal", "sort": None, "title": None}
    place = {"y": y, "yOffset": {"field": chart.by, "sort": None}}
    color = {"color": {"field": chart.by, "type": "nominal", "sort": None, "title": None}}
    yield {"mark": "bar", "encoding": {"x": x, "x2": {"field": chart.baseline}, **place, **color}}
    yield {
        "mark": {"type": "text", "dx": 4, "align": "left"},
        "encoding": {"x": x, **place, "text": {"field": chart.text}},
    }


LAYERS = {"dots": _dots_layers, "histogram": _histogram_layers, "tornado": _tornado_layers}


def _rules(chart: Chart) -> Iterator[Spec]:
    """Yield limit lines with their labels."""
    if chart.form in LAYERS:
        return
    for axis, rules in (("y", chart.rules), ("x", chart.x_rules)):
        for label, value in rules.items():
            if math.isfinite(value):
                place = {"data": {"values": [{}]}, "encoding": {axis: {"datum": value}}}
                yield {"mark": {"type": "rule", "strokeDash": [4, 3], "color": light(SOFT)}, **place}
                words = {"type": "text", "align": "left", "dx": 4, "dy": -6, "text": label, "color": light(INK)}
                yield {"mark": {**words, "x" if axis == "y" else "y": 0}, **place}


def _diagonal(chart: Chart, rows: list[Spec]) -> Iterator[Spec]:
    """Yield the line on which both axes have the same value."""
    pairs = [(row[chart.x], row[chart.y]) for row in rows if chart.diagonal]
    finite = [(x, y) for x, y in pairs if x is not None and y is not None]
    if finite:
        ends = [limit(values) for limit, values in ((max, map(min, finite)), (min, map(min, finite)))]
        place = {"x": {"datum": ends[1]}, "y": {"datum": ends[1]}, "x2": {"datum": ends[0]}, "y2": {"datum": ends[0]}}
        mark = {"type": "rule", "strokeDash": [2, 2], "color": light(SOFT)}
        yield {"mark": mark, "data": {"values": [{}]}, "encoding": place}
