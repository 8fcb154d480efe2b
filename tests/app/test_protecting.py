"""What the screen of protections says of a point."""

import re
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra [app] of unmask")

from tests.app.conftest import Browser
from tests.app.hospital import write_hospital
from unmask.app import counting, protecting
from unmask.app.kinds import TRIALS
from unmask.app.opening import open_path
from unmask.app.points import Point
from unmask.app.project import Project
from unmask.app.roles import show
from unmask.tables import Table


def point(k: int | None, l: int | None = None) -> Point:  # noqa: E741
    asked = {name: value for name, value in (("k", k), ("l", l)) if value is not None}
    return Point("", asked, 0.5, 1.0, met=True)


def test_a_slider_moves_along_what_was_computed():
    points = [point(None), point(2), point(5), point(5, 2), point(5, 3), point(9, 3)]
    k, several = protecting._slides(points, TRIALS, 4, 1)
    assert [(text, on) for text, _, on in k.stops] == [("5", True), ("9", False)]
    assert [text for text, _, _ in several.stops] == ["any", "2", "3"]
    assert several.stops[1][1] == "/protect?point=3&against=1"
    assert protecting._slides(points, TRIALS, 0, 1) == []


def test_of_what_keeps_as_much_the_one_with_less_at_risk_is_chosen():
    points = [Point(f"k = {k}", {"k": k}, 0.8, times, met=True) for k, times in ((2, 0.9), (5, 0.1), (9, 0.4))]
    assert protecting._chosen({}, points, {})[0] == 1
    assert protecting._title(points).startswith("k = 5")


def drawn(*points: tuple[str, float, float, bool], chosen: int | None = None, against: int | None = None) -> str:
    made = [
        Point(words, {"k": at}, utility, times, met=times <= 1, front=front)
        for at, (words, times, utility, front) in enumerate(points)
    ]
    return protecting._plane(made, TRIALS, chosen, against)


def test_every_point_is_a_link_that_says_what_it_is():
    svg = drawn(("k = 2", 2.0, 0.9, True), ("k = 5", 0.5, 0.6, True), ("k = 9", 0.6, 0.5, False), chosen=1, against=0)
    assert {*re.findall(r'<a href="([^"]*)"', svg)} == {f"/protect?point={at}&amp;against=0" for at in range(3)}
    assert svg.count("k = 5: Conditions: every tested condition met; Worst condition, times its limit: 0.500;") == 2
    assert 'role="group"' in svg
    assert re.search(r">the limit</text>", svg)
    assert ">k = 9<" not in svg


def test_the_point_that_is_looked_at_has_a_ring_and_the_other_one_a_dashed_one():
    svg = drawn(("k = 2", 2.0, 0.9, True), ("k = 5", 0.5, 0.6, True), chosen=1, against=0)
    rings = re.findall(r'<circle [^>]*r="10" fill="none"[^>]*>', svg)
    assert len(rings) == 2
    assert sum("stroke-dasharray" in ring for ring in rings) == 1
    assert 'r="10"' not in drawn(("k = 2", 2.0, 0.9, True))


def test_rows_are_shown_before_and_after_without_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(counting, "SOON", 60.0)  # however busy the machine is
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


def tried(browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch, *points: Point) -> None:
    """A project whose protections were tried, with these points."""
    write_hospital(project.folder.parent / "hospital.csv", 60)
    browser.at("/open")
    browser.sends("/open", do="open", path=str(project.folder.parent / "hospital.csv"))
    browser.at("/roles")
    project.save({**project.given, "policy": [{"use": "ema-0.09"}], "releases": [{"file": "release.csv"}]})
    monkeypatch.setattr(protecting.studying, "is_fresh", lambda *_: True)
    monkeypatch.setattr(protecting.studying, "points", lambda *_: ([*points], ()))


def test_what_is_kept_is_said_not_to_be_tried(browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch):
    tried(browser, project, monkeypatch, point(6))
    assert "in step 4 alone" not in browser.at("/protect").text
    project.save({**project.given, "columns": {**project.given["columns"], "ward": "keep"}})
    said = "ward is kept as it is. Whoever knows that of a person attacks in step 4 alone"
    assert said in browser.at("/protect").text


def test_a_point_is_not_compared_with_itself(browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch):
    tried(browser, project, monkeypatch, point(6), point(9))
    headings = {
        at: browser.at(f"/protect?point=0&against={at}").text.count('<th scope="col" class="r">') for at in (0, 1)
    }
    assert headings[1] == headings[0] + 1
