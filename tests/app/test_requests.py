"""Every request gets a page: nothing fails, and no request shows more than it should."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Browser
from tests.app.hospital import write_hospital
from tests.app.requests import generated
from tests.app.test_hierarchy_screen import ROLES
from unmask.app.file_loading import open_path
from unmask.app.jobs import Jobs
from unmask.app.project import Project


def not_started(self: Jobs, name: str, commands: Any, *, digest: str, **_: Any) -> None:
    """A job that failed at once: nothing is run here."""
    self.folder.mkdir(exist_ok=True)
    job = {
        "name": name,
        "commands": [list(command) for command in commands],
        "digest": digest,
        "state": "failed",
        "message": "no",
    }
    (self.folder / f"{name}.json").write_text(json.dumps(job))


@pytest.mark.parametrize("seed", range(3))
def test_no_request_fails(browser: Browser, project: Project, tmp_path: Path, monkeypatch: Any, seed: int):
    monkeypatch.setattr(Jobs, "start", not_started)
    monkeypatch.chdir(tmp_path)
    table = write_hospital(tmp_path / "hospital.csv", 40)
    document = tmp_path / "unmask.toml"
    document.write_text(
        '[data]\nfile = "hospital.csv"\n[columns]\nsex = "quasi-identifier"\nzip = "quasi-identifier"\n'
        'diagnosis = "sensitive"\n[[protections]]\nuse = "tables.Mondrian"\n[[policy]]\nuse = "wp216"\n'
    )
    other_files = [tmp_path / name for name in ("clusters.csv", "network.txt", "places.csv")]
    other_files[0].write_text("item,person,cluster\nr1,p1,c1\nr2,p1,c1\n")
    other_files[1].write_text("1 2\n2 3\n3 1\n")
    other_files[2].write_text("place,x,y\na,0,0\nb,0,1\n")
    opened = (document, table, None, *other_files)  # and no file now and then
    hidden: dict[str, str] = {}
    for number, request in enumerate(generated(60, seed=seed)):
        if number % 15 == 0:
            project.clear()
            if project_chosen := opened[(number // 15 + 2 * seed) % len(opened)]:
                open_path(project, project_chosen)
            hidden = dict(re.findall(r'name="(form|version)" value="([^"]*)"', browser.at("/roles").text))
            hidden.pop("of", None)
        if request.pop("whole", False):
            request["data"] = {**request["data"], **hidden}
        response = browser.request(**request, follow_redirects=False)
        assert response.status_code < 500, request
        assert "root:" not in response.text
        assert "{{" not in response.text or "{{ 7 * 7 }}" in response.text


@pytest.mark.parametrize(
    ("header", "language", "words"),
    [
        ("de-CH,de;q=0.9", "de", "Eine Datei öffnen"),
        ("fr", "fr", "Ouvrir un fichier"),
        ("es-MX", "es", "Abrir un archivo"),
        ("nl,en;q=0.5", "en-US", "Open a file"),
    ],
)
def test_the_app_follows_the_language_of_the_browser(browser: Browser, header: str, language: str, words: str):
    page = browser.get("/open", headers={"accept-language": header}).text
    assert f'<html lang="{language}">' in page
    assert f"<h1>{words}</h1>" in page


ENGLISH = re.compile(r"\b(?:the|and|with|they|rows|released|column|which|of the)\b")


def find_english(browser: Browser, name: str, language: str) -> list[str]:
    """Return English words on a screen, outside of code, commands and titles of publications."""
    page = browser.get(f"/{name}", headers={"accept-language": language}).text
    assert f'<html lang="{language}">' in page
    hidden = r"<style.*?</style>|<code>.*?</code>|<footer.*|<[^>]*>|\w+, [A-Z][^<]*"
    return ENGLISH.findall(re.sub(hidden, " ", page, flags=re.DOTALL))


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_the_screens_of_tables_have_no_english_sentence(browser: Browser, hospital: Path, language: str):
    browser.at("/open")
    browser.sends("/open", do="open", path=str(hospital))
    browser.at("/roles")
    browser.sends("/roles", **ROLES, do="continue")
    for name in ("roles", "roles?column=ward", "adversaries"):
        assert not find_english(browser, name, language)


@pytest.mark.parametrize("language", ["de", "fr", "es"])
@pytest.mark.parametrize("workflow", ["linkage", "channel"])
def test_the_screens_of_other_files_have_no_english_sentence(
    browser: Browser, tmp_path: Path, workflow: str, language: str
):
    (tmp_path / "table.csv").write_text("item,subject,guess\n1,0.5,0.5\n2,0.2,0.8\n3,0,1\n")
    browser.at("/open")
    browser.sends("/open", do="open", path=str(tmp_path / "table.csv"))
    browser.sends("/open", do="workflow", workflow=workflow)
    assert not find_english(browser, "roles", language)
