"""Published tables in the browser: the description, its files, and the same numbers as on the command line."""

from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Browser
from tests.app.walking import boxes, equals, goes, opened, signed
from unmask.app.project import Project

DESCRIPTION = """title = "Health by block"
geography = "block"

[domain]
sex = ["f", "m"]
ill = ["no", "yes"]

[[tables]]
file = "sex-ill.csv"
columns = ["block", "sex", "ill"]

[[tables]]
file = "sex.csv"
columns = ["block", "sex"]
"""
TABLES = {
    "sex-ill.csv": (
        "block,sex,ill,count\na,f,no,3\na,f,yes,1\na,m,no,2\na,m,yes,0\nb,f,no,1\nb,f,yes,1\nb,m,no,0\nb,m,yes,2\n"
    ),
    "sex.csv": "block,sex,count\na,f,4\na,m,2\nb,f,2\nb,m,2\n",
}


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder of published tables."""
    folder = tmp_path / "published"
    folder.mkdir()
    for name, text in {"tables.toml": DESCRIPTION, **TABLES}.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.slow
def test_published_tables_equal_the_command_line(
    browser: Browser, project: Project, published: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
):
    page = opened(browser, published / "tables.toml")
    assert "It looks like published tables" in page
    assert "Files: 2. Columns: sex, ill." in page
    goes(browser, "/roles")
    choices = {"aggregates.sensitive": ["ill"], "aggregates.knows": ["sex"]}
    goes(browser, "/adversaries", **choices, **{"areas_reconstructed<=": "5"})
    assert project.document["aggregates"] == {"tables": "tables.toml", "sensitive": ["ill"], "knows": ["sex"]}
    assert [entry["require"] for entry in project.document["policy"]] == ["areas_reconstructed<=0.05"]
    files = signed(browser, project)
    assert files.keys() == {"report.html", "certificate.html", "certificate.json", "unmask.toml"}
    audited, paths = browser.get("/files/audit.json").content, list(published.iterdir())
    equals(files, audited, paths, "aggregates", tmp_path / "cli", monkeypatch, capsys)


def test_missing_tables_are_named_until_they_are_added(browser: Browser, project: Project, published: Path):
    browser.at("/open")
    browser.sends("/open", files={"upload": ("tables.toml", DESCRIPTION.encode())}, do="open")
    assert "Missing files, to be added in the next step: sex-ill.csv, sex.csv." in browser.page.text
    browser.at("/roles")
    first = [("aggregates.tables file", ("sex.csv", TABLES["sex.csv"].encode()))]
    response = browser.sends("/roles", files=first, do="continue")
    assert response.status_code == 422
    assert "1 of 2 files are missing: sex-ill.csv" in response.text
    other = [("aggregates.tables file", ("ages.csv", b"age,count\n"))]
    assert "tables.toml names no file 'ages.csv'" in unescape(browser.sends("/roles", files=other, do="apply").text)
    last = [("aggregates.tables file", ("sex-ill.csv", TABLES["sex-ill.csv"].encode()))]
    assert browser.sends("/roles", files=last, do="continue").url.path == "/adversaries"
    assert (project.folder / "sex-ill.csv").read_text() == TABLES["sex-ill.csv"]


def test_a_replaced_table_needs_another_verdict(browser: Browser, project: Project, published: Path):
    opened(browser, published)  # the folder
    digest = project.digest
    browser.at("/roles")
    table = [("aggregates.tables file", ("sex.csv", TABLES["sex.csv"].encode() + b"c,f,1\n"))]
    browser.sends("/roles", files=table, do="apply")
    assert project.digest != digest
    assert (published / "sex.csv").read_text() == TABLES["sex.csv"]


def test_a_document_of_published_tables_is_opened_with_its_files(browser: Browser, project: Project, published: Path):
    document, records = published.with_name("unmask.toml"), published.with_name("sex.csv")
    records.write_text("block,sex,ill\na,f,no\n")
    document.write_text('[aggregates]\noriginal = "sex.csv"\ntables = "published"\nsensitive = ["ill"]\n')
    opened(browser, document)
    assert project.document["aggregates"]["tables"] == "tables.toml"
    assert (project.folder / project.document["aggregates"]["original"]).read_text() == records.read_text()
    assert (project.folder / "sex.csv").read_text() == TABLES["sex.csv"]
    browser.at("/adversaries")
    assert boxes(browser)["aggregates.sensitive"] == ["ill"]


@pytest.mark.parametrize(
    "name", ["../secret.csv", "/etc/secret.csv", "sub/../../secret.csv", "audit.json", "tables.toml"]
)
def test_a_description_that_names_a_file_outside_its_folder_is_refused(
    browser: Browser, project: Project, published: Path, name: str
):
    published.with_name("secret.csv").write_text("block,sex,count\n")
    hostile = DESCRIPTION.replace("sex.csv", name)
    (published / "tables.toml").write_text(hostile)
    browser.at("/open")
    response = browser.sends("/open", do="open", path=str(published / "tables.toml"))
    assert response.status_code == 422
    assert "expected the name of a table next to it" in response.text
    response = browser.sends("/open", files={"upload": ("tables.toml", hostile.encode())}, do="open")
    assert response.status_code == 422
    assert project.file is None
    assert "secret.csv" not in {path.name for path in project.folder.iterdir()}


def test_a_table_that_is_a_link_out_of_its_folder_is_refused(browser: Browser, project: Project, published: Path):
    secret = published.with_name("secret.csv")
    secret.write_text(TABLES["sex.csv"])
    (published / "sex.csv").unlink()
    (published / "sex.csv").symlink_to(secret)
    browser.at("/open")
    response = browser.sends("/open", do="open", path=str(published))
    assert response.status_code == 422
    assert "names a file outside its folder" in response.text
    assert project.file is None
