"""Charts as Vega-Lite: valid specifications of strict JSON with the values of the table."""

from __future__ import annotations

import json
import math

import pytest

from tests.render.test_charts import FORMS, lines, points
from unmask.render import Figure
from unmask.results import Chart, Column, Table


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Chart, Table]]:
    """Charts and tables that are drawn."""
    charts: list[tuple[Chart, Table]] = []
    monkeypatch.setattr("tests.render.test_charts.draw", lambda chart, table: charts.append((chart, table)))
    return charts


def specification(chart: Chart, table: Table) -> dict:
    return json.loads(json.dumps(Figure(chart, table).to_vega(), allow_nan=False))


@pytest.mark.parametrize("form", FORMS)
def test_a_specification_is_valid_and_has_every_row(form, drawn):
    altair = pytest.importorskip("altair", reason="needs the extra [charts] of unmask")
    FORMS[form]()
    ((chart, table),) = drawn
    spec = specification(chart, table)
    altair.Chart.from_dict(spec)
    assert len(spec["data"]["values"]) == len(table)


@pytest.mark.parametrize("form", FORMS)
def test_a_specification_compiles(form, drawn):
    vl_convert = pytest.importorskip("vl_convert", reason="needs the extra [charts] of unmask")
    FORMS[form]()
    ((chart, table),) = drawn
    assert vl_convert.vegalite_to_svg(json.dumps(specification(chart, table))).startswith("<svg")


def test_values_that_are_not_finite_are_missing_and_intervals_two_columns():
    columns = (Column("age", "Age", "interval"), Column("share", "Share", "share"))
    table = Table.from_records("t", columns, [((0, 5), math.nan), ((5, 9), math.inf)])
    rows = specification(Chart("bars", "t", "age", "share"), table)["data"]["values"]
    assert rows == [{"age_low": 0, "age_high": 5, "share": None}, {"age_low": 5, "age_high": 9, "share": None}]


def test_a_front_a_diagonal_and_limit_lines_are_layers(drawn):
    points((0.1, 0.3, "A", 0, "a", "point"), (0.4, 0.7, "A", 0, "b", "hollow"), front=True, diagonal="equal")
    lines(("", 0, [0.1, 0.2]), rules={"limit": 0.09}, x_rules={"worst": 1.0})
    front, limits = (specification(*pair)["layer"] for pair in drawn)
    marks = [layer["mark"] for layer in front]
    assert {"type": "line", "interpolate": "step-after"} in marks
    assert any(isinstance(mark, dict) and mark.get("strokeDash") == [2, 2] for mark in marks)
    assert [layer["mark"]["text"] for layer in limits if layer["mark"]["type"] == "text"] == ["limit", "worst"]
