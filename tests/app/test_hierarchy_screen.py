"""The editor of hierarchies: automatic groups, edits, the people left unique, files, and the same on a command line."""

import csv
import re
from collections import Counter
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.app.conftest import Browser
from tests.app.test_way import opened, run
from unmask.app.project import Project
from unmask.app.recoded_table import preview, read_hierarchies, read_source
from unmask.tables import Generalize, Hierarchy, Table, criteria

ROLES = {f"role-{index}": "drop" for index in range(9)} | {
    f"role-{index}": "quasi-identifier" for index in (1, 2, 3, 5)
}
"""Birth date, sex, zip and ward are quasi-identifiers."""


@pytest.fixture
def editor(browser: Browser, project: Project, hospital: Path) -> Browser:
    """The browser, after the roles are chosen; zip is released by its first three digits."""
    opened(browser, hospital)
    browser.at("/roles")
    browser.sends("/roles", **ROLES, **{"level-1": "decade", "level-3": "2"}, do="apply")
    assert project.document["protections"][0]["with"]["levels"] == {"birth_date": "decade", "zip": 2}
    return browser


def edit(browser: Browser, project: Project, column: str, **fields: object) -> Hierarchy:
    """Send a form of the editor; return the stored hierarchy."""
    browser.at(f"/roles?column={column}")
    browser.sends(f"/roles?column={column}", column=column, **fields)
    assert browser.page.status_code == 200, browser.page.text
    return Hierarchy.read(project.folder / project.hierarchies[column])


def test_values_are_moved_named_and_released_in_groups(editor: Browser, project: Project):
    tree = edit(editor, project, "ward", do="start", start="alone")
    assert tree.levels == 3
    at = {ward: str(index) for index, ward in enumerate(tree.leaves)}
    tree = edit(editor, project, "ward", do="move", level="0", node=[at["Chirurgie"], at["Urologie"]], group="new")
    assert set(tree.ancestor[1]) == {"Chirurgie + Urologie", "Innere", "Kardiologie", "Pädiatrie"}
    tree = edit(editor, project, "ward", do="rename", level="0", **{"name-0": "operative"})
    tree = edit(editor, project, "ward", do="move", level="0", node=[at["Innere"]], group="0")
    tree = edit(editor, project, "ward", do="move", level="0", node=[at["Innere"]], group="alone")
    assert dict(zip(tree.leaves, tree.ancestor[1], strict=True))["Innere"] == "Innere"
    tree = edit(editor, project, "ward", do="add", level="0")
    assert tree.levels == 4
    edit(editor, project, "ward", do="finest", finest="2", **{"only-nodes": "1"})
    assert project.document["protections"][0]["with"]["levels"]["ward"] == 2
    edit(editor, project, "ward", do="drop", level="0")
    assert project.document["protections"][0]["with"]["levels"]["ward"] == 1
    assert project.document["data"]["cells"] == "nodes"
    assert project.document["columns"]["ward"] == {"role": "quasi-identifier", "hierarchy": "ward-hierarchy.csv"}


def test_the_preview_is_that_of_a_release_recoded_to_the_levels(editor: Browser, project: Project, hospital: Path):
    edit(editor, project, "ward", do="start", start="alphabetical", size="90")
    source, hierarchies = read_source(project, "ward"), read_hierarchies(project)
    for level in range(hierarchies["ward"].levels):
        people = preview(source, hierarchies, {"birth_date": "decade", "zip": 2, "ward": level})
        table = Table.read(
            hospital, quasi_identifiers=["birth_date", "sex", "zip", "ward"], hierarchies={"ward": hierarchies["ward"]}
        )
        release, _ = Generalize({"birth_date": "decade", "zip": 2, "ward": level})(table)
        expected = criteria.evaluate(release, sensitive=())
        assert people[:2] == (expected.k, expected.unique_rows)
        alone = [tuple(release.codes[row]) for row in range(release.n_rows)]
        wards = [ward for cells, ward in zip(alone, release["ward"], strict=True) if alone.count(cells) == 1]
        assert {ward: n for ward, n in people.unique_with.items() if n} == Counter(wards)
        assert f"{people.unique} people are unique" in editor.at("/roles?column=ward").text


def test_the_preview_counts_people_and_not_their_rows(browser: Browser, project: Project, tmp_path: Path):
    rows = ["anna,a", "anna,a", "bert,b", "bert,c", "cora,c", "dora,d", "emil,d"]
    (tmp_path / "visits.csv").write_text("\n".join(["name,ward", *rows]))
    opened(browser, tmp_path / "visits.csv")
    browser.at("/roles")
    browser.sends("/roles", **{"role-0": "drop", "role-1": "quasi-identifier"}, person="name", do="apply")
    source = read_source(project, "ward")
    assert preview(source, {}, {}) == (1, 2, {"a": 1, "b": 1, "c": 0, "d": 0})  # anna in a, and bert in b
    tree = Hierarchy.from_paths([("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*"), ("d", "d", "*")])
    assert preview(source, {"ward": tree}, {"ward": 1})[:2] == (2, 0)


@pytest.mark.slow
def test_the_document_and_the_exported_file_repeat_the_release(
    editor: Browser, project: Project, hospital: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
):  # fmt: skip
    tree = edit(editor, project, "zip", do="start", start="parts")
    assert tree.ancestor[1][0] == "0100*"
    edit(editor, project, "zip", do="finest", finest="1", **{"only-nodes": "1"})
    editor.at("/roles")
    editor.sends("/roles", **editor.checked(), do="continue")
    assert editor.page.url.path == "/adversaries", editor.page.text
    editor.sends("/adversaries", policy="ema-0.09", do="continue")
    project.jobs.wait("verdict")
    assert "Is it acceptable?" in editor.at("/verdict").text
    page = editor.at("/sign").text
    assert "zip-hierarchy.csv" in page.partition('class="secret')[2]
    files = {name: editor.get(f"/files/{name}") for name in ("unmask.toml", "zip-hierarchy.csv", "release.csv")}
    folder = tmp_path / "cli"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "hospital.csv").write_bytes(hospital.read_bytes())
    for name, answer in files.items():
        (folder / name).write_bytes(answer.content)
    run(capsys, "protect", "unmask.toml", "-o", "again.csv", "--origin", "origin.csv")
    assert (folder / "again.csv").read_bytes() == files["release.csv"].content
    released = {row["zip"] for row in csv.DictReader((folder / "again.csv").read_text().splitlines())}
    assert released <= {*tree.ancestor[1], *tree.ancestor[2], *tree.ancestor[3:][0]} if tree.levels > 3 else {"*"}

    mapping = list(csv.DictReader(editor.get("/files/mapping.csv").text.splitlines()))
    original = hospital.read_text(encoding="cp1252").splitlines()[1:]
    assert sum(int(row["rows"]) for row in mapping if row["column"] == "zip") == len(original)
    zips = [line.split(";")[3] for line in original]
    assert all(row["rows"] == str(zips.count(row["value"])) for row in _only_cells(mapping, "zip"))
    editor.at("/sign")
    editor.sends("/sign", do="risks")
    project.jobs.wait("risks")
    assert "Download risks.csv" in editor.at("/sign").text
    assert len(editor.get("/files/risks.csv").text.splitlines()) == 1 + len(original)
    (folder / "release.parquet").write_bytes(editor.get("/files/release.parquet").content)
    assert Table.read(folder / "release.parquet", quasi_identifiers="zip").n_rows == len(original)


def _only_cells(mapping: list[dict[str, str]], column: str) -> list[dict[str, str]]:
    """Return the lines of values with one released cell."""
    values = [row["value"] for row in mapping if row["column"] == column]
    return [row for row in mapping if row["column"] == column and values.count(row["value"]) == 1]


def test_a_file_without_some_values_is_refused_and_nothing_changes(editor: Browser, project: Project):
    before = project.document
    editor.at("/roles?column=ward")
    tree = b"Chirurgie;a;*\nInnere;a;*\nUrologie;b;*\n"
    editor.sends("/roles?column=ward", files={"file": ("t.csv", tree)}, column="ward", do="import")
    assert editor.page.status_code == 422
    assert "2 of 5 values of the column are not in the file" in editor.page.text
    assert project.document == before
    assert not list(project.folder.glob("t*.csv"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"do": "move"}, "has no hierarchy"),
        ({"do": "start", "start": "intervals", "widths": "5"}, "expected number for intervals"),
        ({"do": "start", "start": "intervals", "widths": "five"}, "expected numbers"),
        ({"do": "start", "start": "rare", "size": "-1"}, "expected a whole number"),
        ({"do": "import"}, "no file was chosen"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(editor: Browser, fields: dict[str, str], message: str):
    editor.at("/roles?column=ward")
    editor.sends("/roles?column=ward", column="ward", **fields)
    assert editor.page.status_code == 422
    assert message in editor.page.text


def test_no_other_column_has_an_editor(editor: Browser):
    assert "there is no quasi-identifier with this name" in editor.at("/roles?column=cost").text
    assert "there is no quasi-identifier with this name" in editor.at("/roles?column=nothing").text


def test_without_its_last_hierarchy_a_table_is_as_before(editor: Browser, project: Project):
    before = project.document
    edit(editor, project, "ward", do="start", start="rare")
    editor.sends("/roles?column=ward", column="ward", do="remove")
    assert project.document == before
    assert "ward-hierarchy.csv" not in {path.name for path in project.folder.iterdir()}


def test_a_column_of_households_is_dropped_and_its_risk_is_reported(
    browser: Browser, project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    lines = [f"h{n // 3},{20 + n % 7},{'fm'[n % 2]}" for n in range(120)]
    (tmp_path / "homes.csv").write_text("\n".join(["home,age,sex", *lines]))
    opened(browser, tmp_path / "homes.csv")
    browser.at("/roles")
    roles = {"role-0": "quasi-identifier", "role-1": "quasi-identifier", "role-2": "quasi-identifier", "person": "row"}
    browser.sends("/roles", **roles, household="home", do="apply")
    assert "the column of households is released" in browser.page.text
    browser.sends("/roles", **{**roles, "role-0": "drop"}, household="home", do="continue")
    assert project.document["data"]["household"] == "home"
    browser.sends("/adversaries", policy="ema-0.09", do="continue")
    project.jobs.wait("verdict")
    assert "ousehold" in browser.at("/verdict").text, project.jobs.find("verdict")
    browser.at("/roles")
    browser.sends("/roles", **browser.checked(), household="", do="apply")
    assert "household" not in project.document["data"]


@pytest.mark.parametrize("name", ["PLZ / Ort & Straße", 'a"b+c?d=e#f', "100 %", "<b>", "levels"])
def test_any_name_of_a_column_has_an_editor(browser: Browser, project: Project, tmp_path: Path, name: str):
    rows = [[name, "sex"], *([value, "fm"[index % 2]] for index, value in enumerate(["<i>", "a/b", "c"] * 20))]
    with (tmp_path / "odd.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    opened(browser, tmp_path / "odd.csv")
    browser.at("/roles")
    browser.sends(
        "/roles", **{"role-0": "quasi-identifier", "role-1": "quasi-identifier", "person": "row"}, hierarchy="0"
    )
    assert browser.page.status_code == 200, browser.page.text
    assert "<i>" not in browser.page.text.replace("<i> ", "")
    address = unescape(re.findall(r'<form method="post" action="(/roles[^"]+)"', browser.page.text)[0])
    browser.sends(address, column=name, do="start", start="rare", size="30")
    assert browser.page.status_code == 200, browser.page.text
    (file_name,) = project.hierarchies.values()
    assert f'href="/files/{quote(file_name)}"' in browser.page.text
    tree = Hierarchy.read(project.folder / file_name)
    assert set(tree.ancestor[1]) == {"*"}
    assert browser.get(f"/files/{quote(file_name)}").text.splitlines()[0] == "<i>;*"
    browser.at("/roles")
    browser.sends("/roles", **browser.checked(), do="continue")
    assert browser.page.url.path == "/adversaries", browser.page.text


def test_an_error_is_seen_at_the_top_and_not_below_the_fragment_of_the_address(editor: Browser, project: Project):
    edit(editor, project, "ward", do="start", start="alphabetical", size="90")
    assert 'id="groups"' in editor.page.text
    editor.sends("/roles?column=ward", column="ward", do="rename", level="0", **{"name-0": "x", "name-1": "x"})
    assert "two groups of level 1 have the same name" in editor.page.text
    assert 'id="groups"' not in editor.page.text
