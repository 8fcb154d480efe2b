"""A document that is opened in the browser runs no module that it names, and no value of it is a server error."""

import sys
from pathlib import Path

import pytest

from tests.app.conftest import Browser
from unmask.app import pages
from unmask.app.project import Project

TABLE = """
[data]
file = "people.csv"
[columns]
age = "quasi-identifier"
ill = "sensitive"
"""
ADVERSARY = '[[adversaries]]\nuse = "tables.ClassAttack"\n'
GAME = '[publisher]\nbenefit = 1000\nloss = 10\n[[attackers]]\nname = "b"\ngain = 3\nexploit_cost = 1\nmax_fines = 1\n'

DOCUMENTS = {
    "protection": f'{TABLE}[[protections]]\nuse = "hostile_app:Mine"\ndomain = "tables"\n{ADVERSARY}',
    "attack": f'{TABLE}[[adversaries]]\nuse = "hostile_app:Mine"\ndomain = "tables"\n',
    "game": f'{TABLE}[[protections]]\nuse = "hostile_app:Mine"\ndomain = "tables"\n{ADVERSARY}{GAME}',
    "network": '[graph]\nrelease = "ring.txt"\noverlaps = "0.9,0.9"\nattacks = ["hostile_app:Mine"]\n',
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder_made = tmp_path / "theirs"
    folder_made.mkdir()
    monkeypatch.syspath_prepend(str(folder_made))  # also the path of the commands that the screens run
    (folder_made / "hostile_app.py").write_text(
        f"from pathlib import Path\nPath({str(tmp_path / 'SENTINEL')!r}).touch()\n"
    )
    (folder_made / "people.csv").write_text("age,ill\n" + "".join(f"{30 + i // 4},{'ab'[i % 2]}\n" for i in range(40)))
    (folder_made / "ring.txt").write_text("".join(f"{i} {(i + step) % 40}\n" for i in range(40) for step in (1, 2, 5)))
    return folder_made


def walked(browser: Browser, project: Project, document: Path) -> set[int]:
    """Open a document, go to every page and press the button that goes on."""
    browser.at("/open")
    codes = {browser.sends("/open", do="open", path=str(document)).status_code}
    for name in pages.NAMES:
        codes.add(browser.at(f"/{name}").status_code)
        if name != "open":
            codes.add(browser.sends(f"/{name}", do="start").status_code)
    for job in list(project.jobs.threads):
        project.jobs.wait(job, 60.0)
    return codes


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_no_screen_runs_a_module_that_a_document_names(
    browser: Browser, project: Project, folder: Path, tmp_path: Path, kind: str
) -> None:
    (folder / "unmask.toml").write_text(DOCUMENTS[kind])
    assert max(walked(browser, project, folder / "unmask.toml")) < 500
    assert not (tmp_path / "SENTINEL").exists()
    assert "hostile_app" not in sys.modules


@pytest.mark.parametrize(
    "text",
    [
        f'{TABLE}[[protections]]\nuse = "tables.Mondrian"\nwith = [1]\n',
        f'{TABLE}[[protections]]\nuse = "tables.Mondrian"\nwith = {{ k = 5 }}\n{ADVERSARY}{GAME}',  # without a name
        f"{TABLE}[[adversaries]]\nuse = 3\n",
        f'{TABLE}[publisher]\nbenefit = "x"\nloss = []\n',
        'data = 3\n[columns]\nage = "quasi-identifier"\n',
        '[data]\nfile = ["people.csv"]\n',
        '[graph]\nrelease = 3\n',
        "[aggregates]\ntables = 3\n",
        '[aggregates]\ntables = ["people.csv"]\n',
        '[aggregates]\ntables = "people.csv"\n',
        'domain = 3\ntables = "people.csv"\n',
        "title = 3\n",
        "a = " + "[" * 50_000,
    ],
)  # fmt: skip
def test_values_of_another_type_are_a_sentence_on_the_page(
    browser: Browser, project: Project, folder: Path, text: str
) -> None:
    (folder / "unmask.toml").write_text(text)
    assert max(walked(browser, project, folder / "unmask.toml")) < 500
