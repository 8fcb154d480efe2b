"""Nothing that a file says is obeyed by the terminal, whichever command shows it, and documents stay documents."""

import csv
import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unmask
from tests.documented import run
from unmask.cli import terminal
from unmask.linkage.items import Feature, Items
from unmask.toml_text import format_document

HOSTILE = "a\x1b[2J\x9b31m\x07\u202e\u2028b\rc\nd\te"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]")
SOURCE = Path(__file__).parent.parent / "src" / "unmask"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files whose columns, values and names are hostile."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    name = "p\x1b[2J\u202eq"
    with Path(f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "sex", HOSTILE, HOSTILE + "z"])
        writer.writerows((*rng.integers(20, 30, 2), f"{rng.integers(9)}{HOSTILE}", "=1") for _ in range(60))
    Path(f"{name}.txt").write_text("1 2\n2 3\n3 1\n", encoding="utf-8")
    Path(f"{name}.toml").write_text(f"[{json.dumps(HOSTILE)}]\n", encoding="utf-8")
    return name


def lines(folder):
    """Commands that show what is in the files."""
    table, column = f"{folder}.csv", HOSTILE
    roles = ("-q", "age,sex", "-s", HOSTILE + "z")
    yield ("columns", table)
    yield ("init", table, "-o", f"{folder}2.toml")
    yield ("protect", table, *roles, "--k", "2", "-o", f"{folder}-release.csv", "--origin", f"{folder}-origin.csv")
    yield ("protect", table, "-q", "age", "-s", "none", "-o", "x.csv")
    yield ("audit", table, "-q", "age,sex", "-s", column)
    yield ("audit", table, "-q", "age,sex", "-s", column, "--json")
    yield ("audit", table, "-q", "age,sex", "-s", column, "--summary")
    yield ("audit", table, "-q", "age,sex", "-s", column, "--as-plan")
    yield ("audit", table, "-q", f"age,{column}", "--policy", f"{column}:k>=3")
    yield ("audit", table, "-q", "age", "--report", f"{folder}.html")
    yield ("audit", table, "-q", "age", "--at-risk", f"{folder}.risk.csv")
    yield ("audit", f"{folder}.none", "-q", "age")
    yield ("audit", f"{folder}.toml")
    yield ("audit", table, "-q", "age", f"--{column}")
    yield ("audit", table, "-q", "age", "--targets", column)
    yield ("choose", "columns", table, "-q", "age,sex", "-s", column)
    yield ("audit", "graph", f"{folder}.txt", "--overlap", "0.5,0.75", "--attack", column)
    yield ("audit", "linkage", "--truth", table, "--guess", table)
    yield ("study", f"{folder}.toml", "-o", f"{folder}-run", "--dry-run")
    yield ("price", column)
    yield ("check", f"{column}:x")
    yield (column,)


def test_no_command_passes_on_what_a_terminal_obeys(folder):
    outputs = {words: run(*words) for words in lines(folder)}
    for words, (code, output, message) in outputs.items():
        assert not OBEYED.search(output + message), (words, output + message)
        assert output + message, (words, code)
    assert (
        sum(
            "\\x1b[2J" in output + message or "\\u001b[2J" in output + message
            for _, output, message in outputs.values()
        )
        > 12
    )


def test_a_line_is_one_line():
    code, output, _ = run("choose", "columns", "none.csv", "-q", "a\nverdict: acceptable")
    assert code
    assert "\nverdict" not in output


def test_no_value_in_python_shows_what_a_terminal_obeys():
    rng = np.random.default_rng(0)
    people = {"age": rng.integers(20, 30, 60), HOSTILE: rng.choice([HOSTILE, "y"], 60)}
    table = unmask.read_table(people, quasi_identifiers="age", sensitive=HOSTILE)
    protected = unmask.protect(table, k=3)
    result = unmask.audit(protected.release, original=table, origin=protected.origin)
    items = Items(np.arange(3), (Feature(HOSTILE, np.arange(3.0)),))
    values = [table, protected, result, table.classes, table.column(HOSTILE), items, *table.notes, result.summary()]
    assert [
        text_shown for value in values for text_shown in (str(value), repr(value)) if OBEYED.search(text_shown)
    ] == []
    assert "\n" not in repr(table)


def test_all_output_of_commands_goes_through_one_module():
    files = [*(SOURCE / "cli").glob("*.py"), SOURCE / "api.py"]
    written = [path.name for path in files if re.search(r"click\.(echo|secho)|\bprint\(", path.read_text())]
    assert written == [Path(terminal.__file__).name]


@given(st.dictionaries(st.text(min_size=1), st.text(), min_size=1, max_size=3))
def test_written_documents_keep_their_values_without_control_codes(values):
    document = {"columns": values}
    text = format_document(document, comments={"columns": dict.fromkeys(values, HOSTILE)})
    assert tomllib.loads(text) == document
    assert not OBEYED.search(text)
