"""From screen to screen, as a user of clusters, channels and networks goes."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Browser
from unmask.app.project import Project
from unmask.cli import main
from unmask.document import load


def opened(browser: Browser, path: Path) -> str:
    browser.at("/open")
    assert browser.sends("/open", do="open", path=str(path)).status_code == 200
    return unescape(browser.page.text)


def boxes(browser: Browser) -> dict[str, Any]:
    """Return the values of all fields on the page."""
    text = browser.page.text
    numbers = re.findall(r'<input type="number" name="([^"]+)"[^>]* value="([^"]*)"', text)
    result: dict[str, Any] = {unescape(name): value for name, value in numbers}
    for name, value in re.findall(r'<input type="checkbox" name="([^"]+)" value="([^"]*)" checked', text):
        result.setdefault(name, []).append(unescape(value))
    for name, options in re.findall(r'<select name="([^"]+)">(.*?)</select>', text):
        result[name] = (re.findall(r'<option value="([^"]*)" selected', options) or [""])[0]
    return result


def goes(browser: Browser, to: str, **fields: Any) -> None:
    """Send the fields of a page with these changes, and continue."""
    browser.at(to)
    browser.sends(to, **{**boxes(browser), **fields}, do="continue")
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


def equals(
    files_given: dict[str, bytes],
    audited: bytes,
    files: list[Path],
    word: str,
    folder: Path,
    monkeypatch: Any,
    capsys: Any,
) -> None:
    """The command line says the same, from the document and the files that it names."""
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    for name, content in {**{path.name: path.read_bytes() for path in files}, **files_given}.items():
        (folder / name).write_bytes(content)
    assert json.loads(run(capsys, "audit", word, "unmask.toml", "--json")) == json.loads(audited)
    assert "is confirmed" in run(capsys, "certify", "unmask.toml", "--check", "certificate.json")
    assert load(folder / "unmask.toml")["certificate"] == {"purpose": "Planning"}


def clusters(folder: Path, guesses: str, policy: str) -> Path:
    """A document of clusters beside its items."""
    document = folder / "unmask.toml"
    document.write_text(
        f'[linkage]\ntruth = "both.csv"\nguesses = "{guesses}"\nitem = "record"\nsubject = "person"\n'
        f'clusters = ["pred_a"]\n{policy}'
    )
    return document
