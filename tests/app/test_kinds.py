"""Clusters, channels and networks in the browser give what the command line gives from the document that they leave."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Browser
from unmask.app.kinds import guess, look
from unmask.app.project import Project
from unmask.cli import main
from unmask.document import load


def opened(browser: Browser, path: Path) -> str:
    browser.at("/open")
    assert browser.sends("/open", do="open", path=str(path)).status_code == 200
    return unescape(browser.page.text)


def boxes(browser: Browser) -> dict[str, Any]:
    """What the cards of the page hold, as they are."""
    text = browser.page.text
    numbers = re.findall(r'<input type="number" name="([^"]+)"[^>]* value="([^"]*)"', text)
    found: dict[str, Any] = {unescape(name): value for name, value in numbers}
    for name, value in re.findall(r'<input type="checkbox" name="([^"]+)" value="([^"]*)" checked', text):
        found.setdefault(name, []).append(unescape(value))
    for name, options in re.findall(r'<select name="([^"]+)">(.*?)</select>', text):
        found[name] = (re.findall(r'<option value="([^"]*)" selected', options) or [""])[0]
    return found


def goes(browser: Browser, to: str, **said: Any) -> None:
    """On with the cards of a page, as they are but for what is said."""
    browser.at(to)
    browser.sends(to, **{**boxes(browser), **{key.replace("__", "."): one for key, one in said.items()}}, do="continue")
    assert browser.page.status_code == 200, browser.page.text


def signed(browser: Browser, project: Project) -> dict[str, bytes]:
    """The files, once the certificate is there."""
    browser.at("/verdict")
    project.jobs.wait("verdict")
    assert "Is it acceptable?" in browser.at("/verdict").text, project.jobs.find("verdict")
    browser.at("/sign")
    browser.sends("/sign", purpose="Planning")
    project.jobs.wait("certificate")
    page = browser.at("/sign").text
    assert "Certify again" in page
    return {name: browser.get(f"/files/{name}").content for name in re.findall(r'href="/files/([\w.-]+)"', page)}


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main([*words], standalone_mode=False) in (None, 0, 3)
    return capsys.readouterr().out


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Items of people, and two guesses, in one file."""
    path = tmp_path / "both.csv"
    rows = (f"r{n},p{n // 3},g{n // 4},h{n // 2}\n" for n in range(60))
    path.write_text("record,person,pred_a,pred_b\n" + "".join(rows))
    return path


@pytest.mark.slow
def test_clusters_equal_the_command_line(
    browser: Browser, project: Project, items: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
):
    assert "column record looks like items, and person like whose they are" in opened(browser, items)
    assert browser.at("/protect").url.path == "/adversaries"  # there is no such step
    goes(browser, "/roles")
    goes(
        browser, "/adversaries", linkage__beta="60", **{"breached<=": "50", "require": "risk_slope <= 0.9 # our board"}
    )
    assert project.given["linkage"] == {
        "truth": "both.csv", "guesses": ["both.csv"], "item": "record", "subject": "person",
        "clusters": ["pred_a", "pred_b"], "beta": 0.6,
    }  # fmt: skip
    assert [one["require"] for one in project.given["policy"]] == ["breached<=0.5", "risk_slope<=0.9"]
    given = signed(browser, project)
    assert given.keys() == {"report.html", "certificate.html", "certificate.json", "unmask.toml"}
    assert "There is no protection to choose here" in browser.at("/verdict").text
    equals(given, browser.get("/files/audit.json").content, [items], "linkage", tmp_path / "cli", monkeypatch, capsys)


def equals(
    given: dict[str, bytes], audited: bytes, files: list[Path], word: str, folder: Path, monkeypatch: Any, capsys: Any
) -> None:
    """The command line says the same, from the document and the files that it names."""
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name, content in {**{path.name: path.read_bytes() for path in files}, **given}.items():
        (folder / name).write_bytes(content)
    assert json.loads(run(capsys, "audit", word, "unmask.toml", "--json")) == json.loads(audited)
    assert "0 are not" in run(capsys, "certify", "unmask.toml", "--check", "certificate.json")
    assert load(folder / "unmask.toml")["certificate"] == {"purpose": "Planning"}


def test_what_a_file_holds_can_be_corrected(browser: Browser, project: Project, items: Path):
    opened(browser, items)
    browser.sends("/open", do="kind", kind="")
    assert "data" in project.given
    assert "Continue to roles" in browser.page.text
    assert "Taken for" not in browser.page.text  # it was said, not guessed
    browser.sends("/open", do="kind", kind="linkage")
    assert "linkage" in project.given
    assert browser.sends("/open", do="kind", kind="nonsense").status_code == 422


def test_a_document_of_clusters_is_opened_with_its_files(browser: Browser, project: Project, items: Path):
    document = items.with_name("unmask.toml")
    document.write_text(
        '[linkage]\ntruth = "both.csv"\nguesses = "both.csv"\nitem = "record"\nsubject = "person"\n'
        'clusters = ["pred_a"]\n[[policy]]\nrequire = "clean_breach <= 0.25"\nsource = "law"\n'
    )
    opened(browser, document)
    assert project.given["linkage"]["guesses"] == "both.csv"
    browser.at("/adversaries")
    assert boxes(browser)["clean_breach<="] == "25"
    goes(browser, "/adversaries", **{"clean_breach<=": "30"})
    assert project.given["policy"] == [{"require": "clean_breach<=0.3", "source": "law"}]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"linkage.beta": "0"}, "beta"),
        ({"linkage.beta": "140"}, "no number of percent"),
        ({"breached<=": ""}, "give one limit at least"),
        ({"require": "nonsense"}, "the condition is"),
    ],
)
def test_what_the_command_refuses_is_a_sentence(browser: Browser, items: Path, said: dict[str, str], why: str):
    opened(browser, items)
    browser.at("/adversaries")
    found = browser.sends("/adversaries", **{**boxes(browser), "breached<=": "50", **said}, do="continue")
    assert found.status_code == 422
    assert why in unescape(found.text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("item,subject\nr1,p1\nr2,p1\n", "linkage"),
        ("record,person,age\nr1,p1,3\n", ""),
        ("age,sex\n3,f\n4,m\n", ""),
    ],
)
def test_the_kind_of_a_file_is_guessed_by_its_columns(tmp_path: Path, text: str, word: str):
    (tmp_path / "file.csv").write_text(text)
    kind, why = guess(look(tmp_path / "file.csv", "file.csv"))
    assert kind.word == word
    assert why
