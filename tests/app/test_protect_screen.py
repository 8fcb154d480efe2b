"""The screen of tried releases."""

import re

import pytest

pytest.importorskip("starlette", reason="needs the extra [app] of unmask")

from tests.app.conftest import Browser
from tests.app.hospital import write_hospital
from unmask.app import tried_releases
from unmask.app.jobs import Job
from unmask.app.project import Project
from unmask.app.protect_screen import CHART, build_sliders, build_table, show_points
from unmask.app.table_workflow import TRIALS
from unmask.app.tried_releases import Point
from unmask.render import draw


def point(k: int | None, l: int | None = None) -> Point:  # noqa: E741
    wanted = {name: value for name, value in (("k", k), ("l", l)) if value is not None}
    return Point("", wanted, 0.5, 1.0, is_met=True)


def test_a_slider_moves_along_what_was_computed():
    points = [point(None), point(2), point(5), point(5, 2), point(5, 3), point(9, 3)]
    k, several = build_sliders(points, TRIALS, 4, 1)
    assert [(text, on) for text, _, on in k.stops] == [("5", True), ("9", False)]
    assert [text for text, _, _ in several.stops] == ["any", "2", "3"]
    assert several.stops[1][1] == "/protect?point=3&against=1"
    assert build_sliders(points, TRIALS, 0, 1) == []


def test_of_releases_with_equal_utility_the_one_with_less_risk_is_selected(project: Project):
    points = [Point(f"k = {k}", {"k": k}, 0.8, ratio, is_met=True) for k, ratio in ((2, 0.9), (5, 0.1), (9, 0.4))]
    values = show_points(points, TRIALS, project, {})
    assert values["index"] == 1
    assert values["best"] == "k = 5"


def drawn(*points: tuple[str, float, float, bool], chosen: int = -1, against: int = -1) -> str:
    points_made = [
        Point(name, {"k": index}, utility, ratio, is_met=ratio <= 1, is_best=is_best)
        for index, (name, ratio, utility, is_best) in enumerate(points)
    ]
    return str(draw(CHART, build_table(points_made, TRIALS, chosen, against)))


def test_every_point_is_a_link_that_says_what_it_is():
    svg = drawn(("k = 2", 2.0, 0.9, True), ("k = 5", 0.5, 0.6, True), ("k = 9", 0.6, 0.5, False), chosen=1, against=0)
    assert {*re.findall(r'<a href="([^"]*)"', svg)} == {f"/protect?point={index}&amp;against=0" for index in range(3)}
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


def open_points(browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch, *points: Point) -> None:
    """A project whose protections were tried, with these points."""
    write_hospital(project.folder.parent / "hospital.csv", 60)
    browser.at("/open")
    browser.sends("/open", do="open", path=str(project.folder.parent / "hospital.csv"))
    browser.at("/roles")
    project.save({**project.document, "policy": [{"use": "ema-0.09"}], "releases": [{"file": "release.csv"}]})
    monkeypatch.setattr(tried_releases, "compute_digest", lambda *_: "same")
    monkeypatch.setattr(tried_releases, "read_points", lambda *_: ([*points], ()))
    project.jobs._write(Job("study", (("study",),), "same", "finished"))


def test_kept_columns_are_attacked_only_in_step_4(browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch):
    open_points(browser, project, monkeypatch, point(6))
    assert "attacks only in step 4" not in browser.at("/protect").text
    project.save({**project.document, "columns": {**project.document["columns"], "ward": "keep"}})
    warning = "Released unchanged: ward. The adversary who knows these columns attacks only in step 4"
    assert warning in browser.at("/protect").text


def test_a_point_is_not_compared_with_itself(browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch):
    open_points(browser, project, monkeypatch, point(6), point(9))
    headings = {
        index: browser.at(f"/protect?point=0&against={index}").text.count('<th scope="col" class="r">')
        for index in (0, 1)
    }
    assert headings[1] == headings[0] + 1
