"""The command line with an engine: what is refused before the work, and what a stop leaves behind."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from importlib import import_module

import pytest

from tests.commands import invoke


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,ill\n" + "30,a\n30,b\n41,a\n" * 4)
    return path


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [("release.csv", 2, "an engine writes .parquet"), ("none/release.parquet", 1, "none does not exist; name another")],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_work(people, name, code, words):
    result = invoke("protect", people, "-q", "age", "--k", 2, "--engine", "duckdb", "-o", people.parent / name)
    assert result.exit_code == code
    assert words in result.stderr
    assert "combinations" not in result.stderr  # the plan, which reads the table


def test_a_folder_for_temporary_files_is_no_input(people):
    command = ("protect", people, "-q", "age", "--k", 2, "--engine", "duckdb", "--temp-directory", people.parent)
    for force in ((), ("--force",)):
        done = invoke(*command, "-o", people.parent / "release.parquet", *force)
        assert done.exit_code == 0, done.stderr


def test_a_table_without_a_line_of_names_is_read_on_request(tmp_path):
    path = tmp_path / "people.txt"
    path.write_text("30|a\n30|b\n41|a\n" * 4)
    command = ("audit", path, "-q", "column 1", "-s", "column 2", "--no-header", "--delimiter", "|", "--json")
    in_memory, stored = invoke(*command), invoke(*command, "--engine", "duckdb")
    assert stored.exit_code == 0, stored.stderr
    rows, expected = (
        {(row["adversary"], row["measure"]): row["posterior"] for row in json.loads(done.stdout)["results"]}
        for done in (stored, in_memory)
    )
    assert rows.items() <= expected.items()
    assert len(rows) > 5


def test_a_memory_limit_says_nothing_without_an_engine(people):
    result = invoke("audit", people, "-q", "age", "--memory-limit", "1GiB")
    assert result.exit_code == 2
    assert "--memory-limit is for tables in an engine" in result.stderr


def test_a_pattern_is_named_without_its_folder(people):  # R7: the name stands on pages
    pattern = people.parent / "*.csv"
    planned = invoke("audit", pattern, "-q", "age", "--engine", "duckdb", "--dry-run")
    assert planned.stderr.startswith("*.csv: ")


def test_a_register_that_does_not_fit_is_refused(people, monkeypatch):
    command = ("audit", people, "-q", "age", "--engine", "duckdb", "--register", people)
    fits = invoke(*command)
    assert fits.exit_code == 0
    assert "register: 12 rows" in fits.stderr
    monkeypatch.setattr("unmask.tables.stored.BYTES_PER_COMBINATION", 1 << 30)
    result = invoke(*command, "--dry-run")
    assert result.exit_code == 1
    assert "combinations of cells and their values need" in result.stderr


@pytest.mark.parametrize(("n_values", "words"), [(4, "150 rows"), (150, "'id' has about 1")])
def test_values_of_a_sensitive_column_count_in_the_plan_of_a_release(tmp_path, monkeypatch, n_values, words):
    path = tmp_path / "people.csv"
    path.write_text("age,id\n" + "".join(f"{row % 3},{row % n_values}\n" for row in range(150)))
    monkeypatch.setattr("unmask.tables.stored.BYTES_PER_VALUE", 20 << 20)
    command = ("protect", path, "-q", "age", "-s", "id", "--k", 2, "--engine", "duckdb", "-o", tmp_path / "r.parquet")
    planned = invoke(*command, "--dry-run")
    assert planned.exit_code == (n_values == 150)
    assert words in planned.stderr


@pytest.mark.parametrize(
    ("command", "options", "module"),
    [
        ("audit", ("-q", "age"), "unmask.tables.audit.files"),
        ("protect", ("-q", "age", "-o", "release.parquet"), "unmask.tables.files"),
    ],
)
def test_an_address_reaches_the_engine_as_it_was_written(monkeypatch, command, options, module):
    folders = []

    @contextmanager
    def count(_engine, sources, *_, **__):
        folders.extend(sources.values())
        yield {}

    monkeypatch.setattr(import_module(module), "count_tables", count)
    source = "hdfs://node:9000/people.parquet"
    assert invoke(command, source, *options, "--engine", "spark").exit_code == 0
    assert source in folders


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_terminated_audit_leaves_nothing(people, tmp_path):
    temp = tmp_path / "temp"
    temp.mkdir()
    program = (
        "import os, signal, sys, time, unmask.tables.stored as stored\n"
        "def estimate(*_, **__):\n"
        "    assert os.listdir(sys.argv[-1])\n"
        "    os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)\n"
        "stored.estimate = estimate\n"
        "from unmask.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    command = ("audit", people, "-q", "age", "--engine", "duckdb", "--temp-directory", temp)
    process = subprocess.run([sys.executable, "-c", program, *map(str, command)], capture_output=True, text=True)
    assert process.returncode == 1, process.stderr
    assert list(temp.iterdir()) == []
