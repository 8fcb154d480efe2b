"""A database is lent to one user after another, and none of them sees another."""

import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import unmask
from unmask.core.errors import FailedError
from unmask.data import databases
from unmask.data.columns import read_columns
from unmask.data.databases import lend_database

ASKED = "select current_setting('temp_directory'), current_setting('memory_limit'), current_setting(\
'preserve_insertion_order')"
ROOM = 1 << 30


@pytest.fixture(autouse=True)
def none_is_idle(monkeypatch):
    monkeypatch.setattr(databases, "_idle", type(databases._idle)(list))


def idle():
    return databases._idle[os.getpid()]


def test_the_next_user_finds_nothing_of_the_one_before(tmp_path):
    with lend_database(str(tmp_path / "a"), memory_limit=ROOM, ordered=False) as first:
        first.execute("create temp table t as select 1 as a")
        first.execute("create temp view v as select 2 as a")
        first.register("r", {"a": np.array([3])})
        assert first.execute(ASKED).fetchall() == [(str(tmp_path / "a"), "1.0 GiB", False)]
    (database,) = idle()
    with lend_database(str(tmp_path / "b"), memory_limit=2 * ROOM) as second:
        assert idle() == []
        assert second.execute(ASKED).fetchall() == [(str(tmp_path / "b"), "2.0 GiB", True)]
        assert second.execute("select count(*) from duckdb_tables()").fetchall() == [(0,)]
        for name in "tvr":
            with pytest.raises(duckdb.CatalogException):
                second.execute(f"select * from {name}")
    assert idle() == [database]


def test_two_at_a_time_have_one_each(tmp_path):
    with (
        lend_database(str(tmp_path), memory_limit=ROOM) as first,
        lend_database(str(tmp_path), memory_limit=ROOM) as second,
    ):
        first.execute("create table t as select 1 as a")
        with pytest.raises(duckdb.CatalogException):
            second.execute("select * from t")


@pytest.mark.parametrize(
    "leftover", ["create table t as select 1 as a", "create view v as select 1 as a", "attach ':memory:' as other"]
)
def test_a_connection_with_leftovers_is_not_reused(tmp_path, leftover):
    with lend_database(str(tmp_path), memory_limit=ROOM) as connection:
        connection.execute(leftover)
    assert idle() == []


def test_a_folder_that_was_used_is_that_of_one_user(tmp_path):
    with lend_database(str(tmp_path), memory_limit=20 << 20) as connection:
        connection.execute("create temp table t as select hash(range) as a, hash(range, 1) as b from range(3000000)")
        assert list(tmp_path.iterdir())
    assert idle() == []
    assert list(tmp_path.iterdir()) == []


def test_a_failure_ends_no_database(tmp_path):
    with pytest.raises(duckdb.ParserException), lend_database(str(tmp_path), memory_limit=ROOM) as connection:
        connection.execute("what?")
    assert len(idle()) == 1


def test_a_process_leaves_those_of_its_parent_alone(tmp_path, monkeypatch):
    with lend_database(str(tmp_path), memory_limit=ROOM):
        pass
    (of_the_parent,) = idle()
    monkeypatch.setattr("os.getpid", lambda: -1)
    with lend_database(str(tmp_path), memory_limit=ROOM):
        pass
    assert len(idle()) == 1
    assert idle() != [of_the_parent]


def test_a_program_ends_without_a_word(tmp_path):
    """DuckDB reports leaked objects if a connection is open when the interpreter ends."""
    (tmp_path / "people.csv").write_text("age,ill\n" + "20,flu\n21,cold\n" * 8, encoding="utf-8")
    program = "import unmask; unmask.audit(unmask.read_table('people.csv', quasi_identifiers='age', sensitive='ill'))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=True, text=True)
    assert done.stdout + done.stderr == ""


class Failing:
    """A database in which every query fails alike."""

    def __init__(self, error):
        self.error = error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def cursor(self):
        return self

    def register(self, *_):
        pass

    def execute(self, query, *_):
        if not query.startswith("set "):
            raise self.error


@pytest.fixture
def sources(tmp_path):
    """A way to read each kind of file, and to write."""
    for name in ("rows.csv", "links.txt"):
        (tmp_path / name).write_text("a,b\n1,2\n2,3\n", encoding="utf-8")
    duckdb.sql("select 1 as a, 2 as b").write_parquet(str(tmp_path / "rows.parquet"))
    table, graph = (
        unmask.read_table({"a": [1, 2]}, quasi_identifiers="a"),
        unmask.read_graph({"u": [1, 2], "v": [2, 3]}),
    )
    return {
        "frame": lambda: unmask.read_table(pd.DataFrame({"a": [1, 2]}), quasi_identifiers="a"),
        "text": lambda: unmask.read_table(tmp_path / "rows.csv", quasi_identifiers="a"),
        "parquet": lambda: unmask.read_table(tmp_path / "rows.parquet", quasi_identifiers="a"),
        "graph": lambda: unmask.read_graph(tmp_path / "links.txt"),
        "graph in parquet": lambda: unmask.read_graph(tmp_path / "rows.parquet"),
        "channel": lambda: unmask.read_channel(tmp_path / "rows.parquet"),
        "linkage": lambda: read_columns(tmp_path / "rows.csv", ["a"]),
        "frame out": lambda: table.to_frame(),
        "file out": lambda: table.write(tmp_path / "out.parquet"),
        "graph out": lambda: graph.write(tmp_path / "links.parquet"),
    }


WAYS = (
    "frame",
    "text",
    "parquet",
    "graph",
    "graph in parquet",
    "channel",
    "linkage",
    "frame out",
    "file out",
    "graph out",
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (duckdb.IOException("Could not write PERSON: No space left on device"), "is full"),
        (duckdb.OutOfMemoryException("PERSON"), "memory"),
        (duckdb.BinderException("PERSON"), r"BinderException.*report it"),
    ],
    ids=["disk", "memory", "unmask"],
)
def test_an_error_of_the_engine_names_its_cause_and_blames_no_file(sources, monkeypatch, way, error, cause):
    monkeypatch.setattr(databases, "_idle", type(databases._idle)(list))
    monkeypatch.setattr(databases, "_open", lambda: Failing(error))
    with pytest.raises(FailedError, match=cause) as failed:
        sources[way]()
    assert not re.search(r"PERSON|file '|well formed|truncated|expected", str(failed.value))


@pytest.mark.parametrize("way", WAYS)
def test_an_engine_that_does_not_start_is_the_fault_of_no_file(sources, monkeypatch, way):
    def refuse():
        raise duckdb.InvalidInputException("required package 'ipywidgets' is missing")

    monkeypatch.setattr(databases, "_idle", type(databases._idle)(list))
    monkeypatch.setattr(databases, "_open", refuse)
    with pytest.raises(FailedError, match=r"DuckDB does not start .*ipywidgets") as failed:
        sources[way]()
    assert not re.search("file '|well formed|truncated|expected", str(failed.value))


def test_sql_of_the_user_that_fails_is_named():
    with duckdb.connect() as connection, pytest.raises(FailedError, match=r"the SQL of the source fails \(Binder"):
        unmask.read_table((connection, "select nothing from (select 1 as a)"), quasi_identifiers="a")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory of the process is not known")
def test_a_database_that_held_much_is_closed(monkeypatch, tmp_path):
    monkeypatch.setattr(databases, "_idle", type(databases._idle)(list))
    for n_rows, n_idle in ((10, 1), (6_000_000, 0)):
        with lend_database(str(tmp_path), memory_limit=1 << 30) as connection:
            connection.execute(f"create temp table t as select range as a, hash(range) as b from range({n_rows})")
            connection.execute("drop table t")
        assert len(databases._idle[os.getpid()]) == n_idle
