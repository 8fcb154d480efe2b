"""Outputs are checked before the work, and no file is there where the standard output is full."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from unmask.cli import main

ROLES = ("-q", "age", "-s", "ill")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{30 + i // 4},{'ab'[i % 2]}\n" for i in range(40))
    (tmp_path / "people.csv").write_text("age,ill\n" + rows)
    (tmp_path / "ring.txt").write_text("".join(f"{i} {(i + step) % 40}\n" for i in range(40) for step in (1, 2, 5)))
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("audit", "people.csv", *ROLES, "--report", "no/such/page.html"),
        ("audit", "people.csv", *ROLES, "--policy", "k>=2", "--sarif", "no/such/found.sarif"),
        ("audit", "people.csv", *ROLES, "--at-risk", "no/such/list.csv"),
        ("protect", "people.csv", *ROLES, "-o", "no/such/release.csv"),
        ("protect", "people.csv", *ROLES, "-o", "release.csv", "--origin", "no/such/origin.csv"),
        ("protect", "graph", "ring.txt", "-o", "no/such/release.txt"),
        ("audit", "graph", "ring.txt", "--overlap", "0.9,0.9", "--report", "no/such/page.html"),
        ("demo", "--report", "no/such/page.html"),
        ("init", "people.csv", "-o", "no/such/unmask.toml"),
    ],
)
def test_a_folder_that_does_not_exist_is_named_before_the_work(folder: Path, words) -> None:
    (folder / "people.csv").unlink()  # nobody has looked for it yet
    (folder / "ring.txt").unlink()
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == 1
    assert f"cannot be written: folder {Path('no/such')} does not exist" in done.stderr


@pytest.mark.parametrize("words", [("protect", "people.csv", *ROLES), ("protect", "graph", "ring.txt")])
def test_a_name_of_another_format_is_refused_before_the_work(words, monkeypatch) -> None:
    monkeypatch.setattr("unmask.protecting.protect", lambda *_, **__: pytest.fail("it began"))
    monkeypatch.setattr("unmask.graphs.protections.apply_protection", lambda *_, **__: pytest.fail("it began"))
    done = CliRunner().invoke(main, [*words, "-o", "release.pdf"])
    assert done.exit_code == 2
    assert "unknown suffix" in done.stderr


def test_an_export_makes_the_folders_above_it(folder: Path) -> None:
    done = CliRunner().invoke(main, ["audit", "people.csv", *ROLES, "--export", "some/where/v1.0"])
    assert done.exit_code == 0
    assert (folder / "some/where/v1.0/index.json").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is full")
@pytest.mark.parametrize(
    "words",
    [
        ("audit", "people.csv", *ROLES, "--at-risk", "list.csv"),
        ("protect", "people.csv", *ROLES, "--k", "2", "-o", "release.csv", "--origin", "origin.csv", "--json"),
        ("protect", "graph", "ring.txt", "-o", "release.txt", "--origin", "origin.csv", "--json"),
    ],
)
def test_no_file_is_left_where_the_standard_output_is_full(folder: Path, words: tuple[str, ...]) -> None:
    files_before = set(os.listdir(folder))  # noqa: PTH208  # names are compared
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "unmask", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1, done.stderr
    assert done.stderr.splitlines()[-1].startswith("Error: the output cannot be written")
    assert set(os.listdir(folder)) == files_before  # noqa: PTH208
