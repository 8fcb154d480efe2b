"""A document that is opened keeps the comments of its authors, whatever is changed on the screens."""

import tomllib
from pathlib import Path

from tests.app.conftest import Browser
from unmask.app.project import Project
from unmask.toml_text import DOCUMENT

TEXT = """\
title = "Release"

[data]
file = "people.csv" # of the registry

[columns]
age = "quasi-identifier" # on the voters' list
ill = "sensitive"

# our DPO asked for k = 11
[[protections]]
use = "tables.Mondrian"
with = { k = 11 }
"""


def test_comments_of_a_document_stay(browser: Browser, project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "people.csv").write_text("age,ill\n" + "".join(f"{30 + i // 4},{'ab'[i % 2]}\n" for i in range(40)))
    (folder / DOCUMENT).write_text(TEXT)
    browser.at("/open")
    assert browser.sends("/open", do="open", path=str(folder / DOCUMENT)).status_code == 200
    project.save({**project.document, "audit": {"seed": 3}})
    text = (project.folder / DOCUMENT).read_text()
    for comment in ("# of the registry", "# on the voters' list", "# our DPO asked for k = 11\n[[protections]]"):
        assert comment in text
    assert tomllib.loads(text)["audit"] == {"seed": 3}
