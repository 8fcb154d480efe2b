"""Both engines read the same cells, answer every statement alike, and fail in one sentence."""

from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.engines import QUIET, opened, start_spark
from tests.studies.test_run import plan_of, rows
from unmask import FailedError, UnmaskError
from unmask.data import sql
from unmask.data.engine import open_engine
from unmask.data.resources import parse_bytes
from unmask.studies.run import run_study
from unmask.studies.workers import on_spark

pytestmark = [pytest.mark.filterwarnings(warning) for warning in QUIET]

# name, whole number, double, 32-bit float, truth, day: with NULL, NaN, ties, blanks and Unicode
ROWS = [
    ("ä", 1, 0.5, 0.1, True, "2020-01-31"),
    (" ä ", 1, 0.5, 0.1, True, "2020-01-31"),
    ("", None, None, None, None, None),
    (None, 2, float("nan"), 0.25, False, "1999-12-01"),
    ("名前", -7, 1e300, 3.0, False, "1999-12-01"),
    ("b'`\"", 9007199254740993, -0.25, 0.1, True, None),
    ("B", 1, 0.5, 0.1, True, "2020-01-31"),
]
TYPES = ("varchar", "bigint", "double", "float", "boolean", "date")
NAMES = ('na "me', "n`", "x y", "Größe", "truth", "day")
CLEAN = [
    ("ä", 1, 0.5, 0.1, "true", "2020-01-31"),
    ("ä", 1, 0.5, 0.1, "true", "2020-01-31"),
    (None, None, None, None, None, None),
    (None, 2, None, 0.25, "false", "1999-12-01"),
    ("名前", -7, 1e300, 3.0, "false", "1999-12-01"),
    ("b'`\"", 9007199254740993, -0.25, 0.1, "true", None),
    ("B", 1, 0.5, 0.1, "true", "2020-01-31"),
]
SHORT = ("q0", "q1", "q2", "q3", "q4", "q5")


@pytest.fixture(scope="module", params=["duckdb", pytest.param("spark://local[1]", marks=pytest.mark.slow)])
def engine(request):
    with opened(request.param) as engine:
        yield engine


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A folder of two Parquet files."""
    folder = tmp_path_factory.mktemp("people")
    with duckdb.connect() as connection:
        types = ", ".join(
            f"{sql.quote_name(name)} {'bigint' if kind == 'integer' else kind}"
            for name, kind in zip(NAMES, TYPES, strict=True)
        )
        for index, rows in enumerate((ROWS[:3], ROWS[3:])):
            connection.execute(f"create or replace table t ({types})")
            connection.executemany("insert into t values (?, ?, ?, ?, ?, ?)", rows)
            connection.execute(f"copy t to '{folder / f'part-{index}.parquet'}' (format parquet)")
    return folder


def taken_in(engine, people):
    return engine.table("t", str(people), dict(zip(SHORT, NAMES, strict=True)))


def tuples(engine, text):
    """The rows of a query, sorted, with None for what is missing."""
    rows_found = engine.rows(text)
    columns = [
        [None if cell is None or cell != cell else cell for cell in column.tolist()] for column in rows_found.values()
    ]
    return sorted(zip(*columns, strict=True), key=repr)


def check_rows(engine, text, expected):
    assert tuples(engine, text) == sorted(expected, key=repr)


def test_a_source_comes_in_clean_and_under_plain_names(engine, people):
    assert engine.names(str(people)) == list(NAMES)
    kinds = taken_in(engine, people)
    assert list(kinds.values()) == ["text", "integer", "real", "real", "untyped", "untyped"]
    chosen = [(row[0], row[2], row[3], row[4], row[5]) for row in CLEAN]
    check_rows(engine, "select q0, q2, q3, q4, q5 from t", chosen)
    check_rows(engine, "select q1 from t where q1 is not null", [(row[1],) for row in CLEAN if row[1] is not None])


def test_a_csv_file_is_all_text(engine, tmp_path):
    file = tmp_path / "people.csv"
    file.write_text('age,"a, b"\n030,"x\ny"\n, "ü"\n', encoding="utf-8")
    assert engine.table("c", str(file), {"q0": "age", "q1": "a, b"}) == {"q0": "untyped", "q1": "untyped"}
    assert ("030", "x\ny") in tuples(engine, "select q0, q1 from c")


def test_a_nan_is_missing_whatever_the_bounds_of_the_file(engine, tmp_path):
    rate = np.array([1, np.copysign(np.nan, -1), 1, np.nan, 2])
    pa.parquet.write_table(pa.table({"rate": rate}), tmp_path / "rate.parquet")  # least 1, greatest 2
    engine.table("r", str(tmp_path / "rate.parquet"), {"q0": "rate"})
    check_rows(engine, "select q0, count(*) as n from r group by q0", [(1.0, 2), (2.0, 1), (None, 2)])
    engine.keep("values", sql.select_cells("r", ["q0"]))
    check_rows(engine, sql.select_gaps("values", ["q0"]), [(2,)])


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_in_the_first_line(engine, tmp_path, delimiter):
    file = tmp_path / "people.csv"
    file.write_text("\n".join(delimiter.join(cells) for cells in (("age", "town"), ("30", "Bern"), ("41", "Ulm"))))
    engine.table("c", str(file), {"q0": "age", "q1": "town"})
    check_rows(engine, "select q0, q1 from c", [("30", "Bern"), ("41", "Ulm")])


def test_a_text_loses_the_blanks_of_a_keyboard_and_no_others(engine, tmp_path):
    file = tmp_path / "blanks.csv"
    file.write_text("name,n\n\t a ,1\n\u00a0a,2\n\u3000,3\n \t,4\n", encoding="utf-8")
    engine.table("c", str(file), {"q0": "name"})
    check_rows(engine, "select q0 from c", [("a",), ("\u00a0a",), ("\u3000",), (None,)])


@pytest.mark.parametrize("ids", [(), ("q0",)])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_blanks_go_from_either_end_of_texts_whether_they_repeat_or_not(engine, tmp_path, suffix, ids):
    ends = ("", *" \t\r\n")
    cells = [prefix + core + suffix for prefix in ends for core in ("", "a", "!", "! b", "é") for suffix in ends]
    file = str(tmp_path / f"cells.{suffix}")
    if suffix == "csv":
        Path(file).write_bytes("name,n\n{}\n".format("\n".join(f'"{cell}",1' for cell in cells)).encode())
    else:
        pyarrow.parquet.write_table(pa.table({"name": cells}), file)
    engine.table("c", file, {"q0": "name"}, ids=ids)
    check_rows(engine, "select q0 from c", [(cell.strip(" \t\r\n") or None,) for cell in cells])


def test_nothing_about_a_csv_file_is_guessed_from_its_rows(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("A;a;age\n#1;x;3\n#2;x;4\n")
    with open_engine() as engine:
        assert engine.names(str(file)) == ["A", "a", "age"]  # which DuckDB takes for one name
        engine.table("c", str(file), {"q0": "A", "q1": "a"})
        check_rows(engine, "select q0, q1 from c", [("#1", "x"), ("#2", "x")])  # no comments
        file = tmp_path / "short.csv"
        file.write_text("age,ill\n1,x\n2\n3,y,z\n")
        engine.table("c", str(file), {"q0": "age"})
        with pytest.raises(FailedError, match=r"file 'short\.csv' .* line 3 of .* has 1 columns, expected 2"):
            engine.rows("select * from c")
        file = tmp_path / "mac.csv"
        file.write_bytes(b"age,ill\r1,x\r2," + b"y" * 200_000 + b"\r")  # an old Mac's lines, a long value
        engine.table("c", str(file), {"q0": "age"})
        check_rows(engine, "select q0 from c", [("1",), ("2",)])
        file = tmp_path / "twice.csv"
        file.write_text("age,age\n1,x\n")
        with pytest.raises(UnmaskError, match="two columns named 'age'"):
            engine.names(str(file))


def test_csv_files_with_columns_in_another_order_are_never_mixed_up(engine, tmp_path):
    for index, text in enumerate(("a,b\n1,x\n", "b,a\ny,2\n")):
        (tmp_path / f"part-{index}.csv").write_text(text)
    engine.table("c", str(tmp_path / "*.csv"), {"q0": "a", "q1": "b"})
    if hasattr(engine, "session"):  # Spark goes by the place
        with pytest.raises(FailedError, match="the same ones in the same order"):
            engine.rows("select q0, q1 from c")
    else:
        check_rows(engine, "select q0, q1 from c", [("1", "x"), ("2", "y")])


def test_files_of_one_source_that_disagree_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n")
    (tmp_path / "b.csv").write_text("a,c\n1,x\n")
    with open_engine() as engine:
        with pytest.raises(UnmaskError, match=r"file 'b\.csv' has the columns a, c, but the first file has a, b"):
            engine.names(str(tmp_path / "*.csv"))
        with duckdb.connect() as connection:
            for index, kind in enumerate(("bigint", "double")):  # 2.5 would be read as 3
                connection.execute(
                    f"copy (select 2.5::{kind} as a) to '{tmp_path / f'{index}.parquet'}' (format parquet)"
                )
        with pytest.raises(UnmaskError, match="column 'a' is bigint in one file of the source and another type"):
            engine.names(str(tmp_path / "*.parquet"))


COUNTED = "select q0, q3, count(*) as n from t group by q0, q3"


def test_values_and_gaps_have_the_rows_of_a_missing_cell(engine, people):
    taken_in(engine, people)
    engine.keep("plain", "select q0, 1 as q1 from t")
    engine.keep("values", sql.select_cells("plain", ["q0", "q1"]))
    assert tuples(engine, sql.select_gaps("values", ["q0", "q1"])) == [(sum(not row[0] for row in CLEAN), 0)]
    engine.keep("values", sql.select_cells("t", ["q0", "q1"]))
    assert engine.rows(sql.select_values("values", "q0"))["v"].tolist() == sorted({row[0] for row in CLEAN if row[0]})
    numbers = engine.rows(sql.select_values("values", "q1"))["v"]
    assert numbers.tolist() == [-7, 1, 2, 9007199254740993]  # to the last digit
    assert engine.keep("cells", COUNTED) == len({(row[0], row[3]) for row in CLEAN})


WORDS = ({"q0": 31, "q1": 31}, {"q2": 40})


def test_codes_are_packed_into_words_and_come_out_again(engine):
    text = np.array(["a", "A", None, "ü", "ü"], object)
    engine.put("raw", {"q0": text, "q1": np.array([1, 1, 1, 2, 2]), "q2": np.array([5, 5, 5, 6, 6])})
    largest = 2**31 - 1
    engine.put("d0", {"v": np.array(["a", "A", "ü"], object), "code": np.array([4, 4, largest], np.int32)})
    engine.put("d1", {"v": np.array([1, 2]), "code": np.array([0, largest], np.int32)})
    engine.put("d2", {"v": np.array([5, 6]), "code": np.array([0, 9], np.int32)})
    text = sql.pack_codes("raw", {"q0": "d0", "q1": "d1", "q2": "d2"}, {"q0": 8, "q1": 0, "q2": 0}, WORDS)
    assert engine.keep("packed", text) == 3
    words = [(4 << 31, 0, 2), (8 << 31, 0, 1), ((largest << 31) + largest, 9, 2)]
    check_rows(engine, "select k0, k1, n from packed", words)
    engine.view("shown", sql.unpack_codes("packed", WORDS))
    codes = [(4, 0, 0, 2), (8, 0, 0, 1), (largest, largest, 9, 2)]
    check_rows(engine, "select q0, q1, q2, n from shown", codes)


def test_parts_of_combinations_are_all_of_them(engine):
    codes = np.arange(90)
    engine.put("raw", {"q0": codes % 2, "o0": codes % 30})
    engine.put("d0", {"v": np.array([0, 1]), "code": np.array([0, 1], np.int32)})
    pack = partial(sql.pack_codes, "raw", {"q0": "d0"}, {"q0": 0}, [{"q0": 1}], ["o0"])
    parts = [tuples(engine, pack(part=(i, 3))) for i in range(3)]
    assert all(parts)
    assert sorted(row for part in parts for row in part) == tuples(engine, pack())


def test_an_empty_table_answers_every_statement(engine):
    engine.put("none", {"q0": np.zeros(0, np.int64), "n": np.zeros(0, np.int64)})
    engine.put("d0", {"v": np.zeros(0, np.int64), "code": np.zeros(0, np.int32)})
    for text in (
        sql.select_values("none", "q0"),
        sql.pack_codes("none", {"q0": "d0"}, {"q0": 1}, [{"q0": 3}]),
        sql.unpack_codes("(select q0 as k0, n from none) none", [{"q0": 3}]),
    ):
        assert tuples(engine, text) == []
    assert tuples(engine, sql.select_estimates("none", ["q0"], {"both": ["q0"]})) == [(0, 0, 0)]


def test_sizes_of_sets_and_rows_without_gaps_are_counted(engine):
    codes = np.arange(2000)
    engine.put("coded", {"q0": codes % 7 << 55, "q2": codes})
    check_rows(engine, sql.count_parts("coded", "q2 % 3"), [(0, 667), (1, 667), (2, 666)])
    check_rows(
        engine,
        f"select q2 from coded where {sql.exclude_missing({'q0': 3 << 55, 'q2': 5})} and q2 < 11",
        [(c,) for c in (0, 1, 2, 4, 6, 7, 8, 9)],
    )


def test_estimates_are_a_few_per_cent_off(engine):
    index = np.arange(20_000)
    engine.put("many", {"q0": index % 100, "q1": index % 3000})
    text = sql.select_estimates("many", ["q0", "q1"], {"combinations": ["q0", "q1"]})
    n, combinations, few_rows, many_rows = tuples(engine, text)[0]
    assert n == 20_000
    for result, true in ((combinations, 3000), (few_rows, 100), (many_rows, 3000)):
        assert abs(result - true) <= 0.15 * true


def test_a_release_is_placed_dressed_and_written_in_order(engine, tmp_path):
    text = np.array(["b", None, "a", "b", "z"], object)
    engine.put(
        "source", {"q0": text, "s0": np.array([5, 6, 5, 6, 5]), "o0": np.array(["x", "ü", None, "x", "y"], object)}
    )
    engine.put("d0", {"v": np.array(["a", "b", "z"], object), "code": np.array([0, 1, 2], np.int32)})
    engine.put("boxes", {"q0": np.array([0, 1, 3], np.int32), "box": np.array([1, 0, 1], np.int32)})
    engine.put("d1", {"v": np.array([5, 6]), "code": np.array([1, 0], np.int32)})
    engine.put("labels", {"box": np.array([0, 1], np.int32), "q0": np.array(["b", "*"], object)})
    engine.put("names", {"code": np.array([0, 1], np.int32), "label": np.array(["6", "5"], object)})
    rows = sql.select_placed_rows("source", "boxes", {"q0": "d0"}, {"q0": 3}, {"s0": "d1"}, ["o0"])
    assert engine.keep("placed", rows) == 4  # "z" has no class
    text = sql.select_labeled_rows("placed", "labels", {"q0": "string"}, {"s0": ("names", "bigint")}, ["o0"])
    path = tmp_path / "für alle %20" / "release.parquet"
    path.parent.mkdir()
    engine.write_parquet(text, path, {"q0": 'a "g`e', "s0": "n", "o0": "Ö"}, order=["box", "code_s0", "o0"])
    assert [entry.name for entry in path.parent.iterdir()] == ["release.parquet"]
    assert engine.names(str(path)) == ['a "g`e', "n", "Ö"]
    read = f"{path}/*.parquet" if path.is_dir() else str(path)
    with duckdb.connect() as connection:
        result = connection.execute(f"select * from read_parquet({sql.quote_text(read)})")
        assert [column[0] for column in result.description] == ['a "g`e', "n", "Ö"]
        assert result.fetchall() == [("b", 6, "x"), ("b", 5, "x"), ("*", 6, "ü"), ("*", 5, None)]


def test_many_rows_are_written_in_order_whatever_a_join_does_with_them(tmp_path):
    path = tmp_path / "release.parquet"
    with open_engine("duckdb") as engine:
        engine.keep("t", "select (range * 7919 % 1000000) // 10 as box from range(1000000)")
        engine.keep("l", "select range as box, 'x' || range as q0 from range(100000)")
        text = "select l.q0 as q0, t.box as box from t join l on l.box = t.box"
        engine.write_parquet(text, path, {"q0": "a", "box": "b"}, order=["box"])
    with duckdb.connect() as connection:
        result = connection.execute(f"select b from '{path}'").fetchnumpy()["b"]
    assert np.array_equal(result, np.arange(1_000_000) // 10)


def test_a_file_that_is_not_there_or_damaged_is_one_sentence(engine, tmp_path):
    with pytest.raises(FailedError, match="does not exist"):
        engine.names(str(tmp_path / "none.parquet"))
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no parquet SECRET77")
    with pytest.raises(FailedError, match=r"cannot be read.*check it") as raised:
        engine.names(str(tmp_path / "bad.parquet"))
    assert "SECRET77" not in str(raised.value)
    with pytest.raises(UnmaskError, match="unknown suffix"):
        engine.names(str(tmp_path / "none.sav"))
    (tmp_path / "people.sav").write_bytes(b"$FL2\0\0\0")
    with pytest.raises(UnmaskError, match="expected text"):
        engine.names(str(tmp_path / "people.sav"))


def test_rows_are_arrays_that_may_be_overwritten(engine):
    rows = engine.rows("select cast(1 as bigint) as a")
    rows["a"] += 1
    assert rows["a"].tolist() == [2]


@pytest.mark.parametrize("choice", ["duckdb", "spark://local[1]"])
def test_a_text_file_without_names_is_read_on_request(choice, tmp_path):
    (tmp_path / "rows.csv").write_text("1;x\n2;y\n")
    with opened(choice, delimiter=";", header=False) as engine:
        assert engine.names(str(tmp_path / "rows.csv")) == ["column 1", "column 2"]
        engine.table("t", str(tmp_path / "rows.csv"), {"b": "column 2"})
        assert sorted(engine.rows("select b from t")["b"].tolist()) == ["x", "y"]


def test_a_partition_that_is_truncated_is_one_sentence(engine, people, tmp_path):
    for part in people.iterdir():
        (tmp_path / part.name).write_bytes(part.read_bytes()[: -30 if "1" in part.name else None])

    def count():
        engine.table("torn", str(tmp_path), {"q0": NAMES[0]})
        engine.keep("cells", sql.select_cells("torn", ["q0"]))

    with pytest.raises(FailedError, match=r"(file 'part-1.parquet'|a file of the source) cannot be read"):
        count()


def test_cells_that_a_spreadsheet_would_run_are_counted_and_escaped(engine):  # R8
    cells = np.array(["=1+1", "-5", "@x", "a", None, "-", "+49 1"], dtype=object)
    engine.put("said", {"a": cells, "b": np.arange(7)})
    check_rows(engine, sql.count_formulas("select * from said", ["a"], "=+-@"), [(3,)])
    cells_shown = ["'=1+1", "-5", "'@x", "a", None, "-", "'+49 1"]
    check_rows(
        engine,
        sql.escape_formulas("select * from said", ["a"], ["a", "b"], "=+-@"),
        list(zip(cells_shown, range(7), strict=True)),
    )


# --- DuckDB alone -----------------------------------------------------------------------------------------


def test_a_table_of_a_database(tmp_path):
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute('create schema s; create table s."t t" as select 1 as a, \'x\' as "b b"')
    with open_engine("duckdb") as engine:
        assert engine.table("t", f"{tmp_path / 'people.duckdb'}::s.t t", {"q0": "b b"}) == {"q0": "text"}
        assert engine.rows("select q0 from t")["q0"].tolist() == ["x"]
        with pytest.raises(FailedError, match=r"database 'none.duckdb' does not exist"):
            engine.names("none.duckdb::t")


def test_a_table_that_a_database_does_not_have(tmp_path):
    duckdb.connect(tmp_path / "people.duckdb").close()
    with open_engine() as engine, pytest.raises(FailedError, match="no such table; check DATABASE::TABLE"):
        engine.names(f"{tmp_path / 'people.duckdb'}::people")


def test_two_databases_are_distinguished(tmp_path):
    for index in (1, 2):
        with duckdb.connect(str(tmp_path / f"{index}.duckdb")) as connection:
            connection.execute(f"create table t as select {index} as a")
    with open_engine("duckdb") as engine:
        for index in (1, 2, 1):
            engine.table("t", f"{tmp_path / f'{index}.duckdb'}::t", {"a": "a"})
            assert tuples(engine, "select a from t") == [(index,)]


def test_a_folder_for_temporary_files_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    refusal = pytest.raises(FailedError, match=r"temporary folder 'file' cannot be written.*`temp_directory`")
    with refusal, open_engine("duckdb", temp_directory=tmp_path / "file"):
        pass


def test_more_than_memory_and_disk_is_one_sentence_and_leaves_nothing(tmp_path):
    with open_engine("duckdb", memory_limit=100 << 20, temp_directory=tmp_path) as engine:
        engine.connection.execute("set max_temp_directory_size = '1MB'")
        with pytest.raises(FailedError, match=r"memory limit|temporary directory"):
            engine.keep("t", "select range as a, md5(range::varchar) as b from range(3000000) order by b")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    with open_engine("duckdb") as engine:
        run = type(engine)._run

        def interrupted(self, text):
            if text.startswith("copy"):
                next(tmp_path.glob(".unmask-*")).joinpath("release.parquet").write_bytes(b"half")
                raise KeyboardInterrupt
            return run(self, text)

        monkeypatch.setattr(type(engine), "_run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            engine.write_parquet("select 1 as q0", tmp_path / "release.parquet", {"q0": "a"}, order=["q0"])
    assert list(tmp_path.iterdir()) == []


def test_cells_on_spark_give_the_same_rows_and_a_second_run_runs_nothing(tmp_path):
    start_spark()
    plan, states = plan_of(tmp_path, seeds=5, adversary="observations = 3\ntargets = 40"), []
    run_study(plan, tmp_path / "here")
    outcome = run_study(
        plan, tmp_path / "spark", submit=on_spark("local[2]"), watch=lambda done, *_: states.append(done)
    )
    assert (outcome.done, states) == (10, list(range(1, 11)))  # more than a wave of 8
    columns = "cell, measure, prior, posterior, low, high, seed, status"
    assert rows(tmp_path / "spark", columns) == rows(tmp_path / "here", columns)
    again = run_study(
        plan, tmp_path / "spark", submit=on_spark("local[2]"), watch=lambda *progress: states.append(progress)
    )
    assert (again.done, len(states)) == (10, 10)


def test_spark_that_is_missing_is_named(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("unmask.data.spark_engine.import_module", missing)
    with (
        pytest.raises(FailedError, match=r"Spark is not installed; install the extra \[spark\] of unmask"),
        open_engine("spark"),
    ):
        pass


def test_spark_that_does_not_start_is_one_sentence(monkeypatch):
    class Builder:
        def appName(self, _):
            return self

        def config(self, **_):
            return self

        def getOrCreate(self):
            raise RuntimeError("Java gateway process exited before sending its port number")

    class Sessions:
        builder = Builder()

        @staticmethod
        def getActiveSession():
            return None

    monkeypatch.setattr("unmask.data.spark_engine.import_module", lambda _: type("sql", (), {"SparkSession": Sessions}))
    refusal = pytest.raises(FailedError, match=r"Spark does not start.*is Java 17 or later installed")
    with refusal, open_engine("spark"):
        pass


@pytest.mark.parametrize(
    ("text", "size"), [("2GiB", 2 << 30), ("100 MB", 10**8), ("7", 7), ("1.5k", 1500), ("1MiB", 1 << 20)]
)
def test_sizes(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "GiB", "-1GB", "4 ib", "2 GiBs", "nan"])
def test_no_sizes(text):
    with pytest.raises(UnmaskError, match="expected a number and a unit"):
        parse_bytes(text)


def test_an_engine_that_is_not_known():
    with pytest.raises(UnmaskError, match="expected duckdb, spark or spark://MASTER"), open_engine("sparc"):
        pass


def test_every_statement_is_tested_on_both_engines():
    text = Path(__file__).read_text(encoding="utf-8")
    builders = [
        name for name, item in vars(sql).items() if callable(item) and getattr(item, "__module__", "") == sql.__name__
    ]
    # by `table` and `write_parquet`
    inside = {"clean_column", "column_kind", "quote_name", "quote_text", "rename_columns"}
    builders = [name for name in builders if not name.startswith("_")]
    assert [name for name in builders if f"sql.{name}(" not in text and name not in inside] == []
