"""`unmask new` writes files that work, and that the documentation shows."""

import sys
from pathlib import Path

import pytest

from tests.commands import check_one_sentence, invoke
from unmask.cli.new import TEMPLATES

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "attack.md"


@pytest.mark.parametrize(("kind", "name"), [("attack", "FirstColumn"), ("protection", "Thirds"), ("measure", "gap")])
def test_a_new_file_keeps_the_laws_and_its_test_passes(kind, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    done = invoke("new", kind, name)

    assert done.exit_code == 0, done.stderr
    module = done.stderr.split("wrote ")[1].split(".py")[0]
    checked = invoke("check", f"{module}:{name}")
    assert checked.exit_code == 0, checked.stdout
    assert "broken" not in checked.stdout
    exec((tmp_path / f"test_{module}.py").read_text() + f"\ntest_{name}_keeps_the_laws()", {})
    sys.modules.pop(module)


@pytest.mark.parametrize(("kind", "name"), [("attack", "OneColumn"), ("protection", "EveryOther")])
def test_the_documentation_shows_the_files(kind, name):
    template = (TEMPLATES / f"{kind}.txt").read_text(encoding="utf-8")
    assert template.replace("NAME", name) in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["attack", "one column"], "'one column' is not a Python name; expected letters, digits and _"),
        (["attack", "class"], "'class' is not a Python name"),
        (["attack", ""], "'' is not a Python name"),
        (["attack", "../x"], "'../x' is not a Python name"),
        (["attack", "Old"], "old.py exists; choose another name or give --force"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_and_nothing_is_written(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("old.py").write_text("", encoding="utf-8")

    check_one_sentence(invoke("new", *arguments), message)

    assert [path.name for path in tmp_path.iterdir()] == ["old.py"]
