"""What the screen of protections says of a point."""

from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra [app] of unmask")

from tests.app.hospital import write_hospital
from unmask.app import protecting
from unmask.app.opening import open_path
from unmask.app.project import Project
from unmask.app.protecting import Point
from unmask.app.roles import show
from unmask.tables import Table


def point(k: int | None, l: int | None = None) -> Point:  # noqa: E741
    return Point("", k, l, 0.5, 1.0, met=True, why=())


def test_a_slider_moves_along_what_was_computed():
    points = [point(None), point(2), point(5), point(5, 2), point(5, 3), point(9, 3)]
    k, several = protecting._slides(points, 4, 1)
    assert [(text, on) for text, _, on in k.stops] == [("5", True), ("9", False)]
    assert [text for text, _, _ in several.stops] == ["any", "2", "3"]
    assert several.stops[1][1] == "/protect?point=3&against=1"
    assert protecting._slides(points, 0, 1) == []


def test_rows_are_shown_before_and_after_without_what_they_say(tmp_path: Path):
    project = Project.new(tmp_path)
    open_path(project, write_hospital(tmp_path / "hospital.csv", 60))
    show(project, {})
    found = protecting._seen(project, point(6))
    assert found is not None
    assert found.names == list(project.table["quasi_identifiers"])
    assert len(found.rows) == protecting.SAMPLE
    table = Table.read(project.file, quasi_identifiers=found.names)
    said = {cell for column in table.columns for cell in column.levels.labels if len(cell) > 1}
    assert not said & {cell for before, after in found.rows for cell in (*before, *after)}
    assert {before[0] for before, _ in found.rows} == {"####-##-##"}
    assert any(before != after for before, after in found.rows)
    project.remove()
