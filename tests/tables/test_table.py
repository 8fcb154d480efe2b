import csv
import gzip
import io
import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unmask
from unmask.core.errors import FailedError, UnmaskError
from unmask.tables import criteria, table_writing
from unmask.tables.column import Column
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.protections.mondrian import Mondrian
from unmask.tables.reading import engine
from unmask.tables.table import Table

ROLES = {"quasi_identifiers": ["age", "zip"], "sensitive": "ill", "keep": "note"}
TEXT = "age,zip,ill,note\n30,02139,flu,x\n20,02139,none,\n30,10001,flu,y\n"


def cells(column: Column) -> list[str]:
    return [column.levels.labels[code] for code in column.codes]


def content(table: Table) -> dict[str, list[str]]:
    return {column.name: cells(column) for column in table.columns}


@pytest.fixture
def csv_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(TEXT)
    return path


EXPECTED = {
    "age": ["30", "20", "30"],
    "zip": ["02139", "02139", "10001"],
    "ill": ["flu", "none", "flu"],
    "note": ["x", "", "y"],
}


# --- sources ------------------------------------------------------------------------------------------------------


def frame():
    return pd.DataFrame(
        {
            "age": [30, 20, 30],
            "zip": ["02139", "02139", "10001"],
            "ill": ["flu", "none", "flu"],
            "note": ["x", None, "y"],
        }
    )


def written(tmp_path: Path, name: str, text: str = TEXT) -> Path:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def parquet(tmp_path: Path) -> Path:
    frame().to_parquet(tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def query(_: Path):
    connection = duckdb.connect()
    connection.register("people", frame())
    return connection, "select * from people"


def other_database(_: Path):
    connection = sqlite3.connect(":memory:")
    connection.execute("create table people (age int, zip text, ill text, note text)")
    connection.executemany(
        "insert into people values (?, ?, ?, ?)", frame().astype(object).where(frame().notna(), None).values
    )
    return connection, "select * from people"


SOURCES = {
    "csv": lambda tmp: written(tmp, "people.csv"),
    "text path": lambda tmp: str(written(tmp, "people.csv")),
    "csv.gz": lambda tmp: written(tmp, "people.csv.gz"),
    "tsv": lambda tmp: written(tmp, "people.tsv", TEXT.replace(",", "\t")),
    "semicolons": lambda tmp: written(tmp, "people.txt", TEXT.replace(",", " ; ")),
    "crlf and bom": lambda tmp: written(tmp, "people.csv", "\ufeff" + TEXT.replace("\n", "\r\n")),
    "quotes": lambda tmp: written(tmp, "people.csv", TEXT.replace("flu", '"flu"').replace("note", '"note"')),
    "parquet": parquet,
    "pandas": lambda _: frame().set_index(pd.Index([7, 7, 1])),
    "polars": lambda _: pl.from_pandas(frame()),
    "arrow": lambda _: pa.table(frame()),
    "arrays": lambda _: {name: frame()[name].to_numpy() for name in frame().columns},
    "lists": lambda _: {name: [None if v != v else v for v in frame()[name].tolist()] for name in frame().columns},
    "duckdb query": query,
    "relation": lambda _: duckdb.connect().sql(
        "select * from (values (30, '02139', 'flu', 'x'), (20, '02139', 'none', null), (30, '10001', 'flu', 'y')) "
        "as people(age, zip, ill, note)"
    ),
    "sqlite": other_database,
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_table(tmp_path, source):
    table = Table.read(SOURCES[source](tmp_path), **ROLES)
    assert content(table) == EXPECTED
    assert [column.levels.kind for column in table.columns] == ["numeric", "categorical", "categorical", "categorical"]


def test_blanks_around_values_are_removed_and_only_empty_is_missing(tmp_path):
    path = written(tmp_path, "people.csv", "age, ill\n 30 , NA\n20,\n30, ?\n")
    table = Table.read(path, quasi_identifiers="age", sensitive="ill", na=())
    assert content(table) == {"age": ["30", "20", "30"], "ill": ["NA", "", "?"]}
    again = Table.read(path, quasi_identifiers="age", sensitive="ill", na=["NA", "?"])
    assert cells(again.sensitive[0]) == ["", "", ""]
    kept = {"ill": ["a", "\u00a0a", "\ta "]}  # other blanks than those of a keyboard belong to the cell
    path = written(tmp_path, "kept.csv", "ill\n" + "\n".join(kept["ill"]) + "\n")
    for source in (kept, path):
        assert content(Table.read(source, quasi_identifiers="ill")) == {"ill": ["a", "\u00a0a", "a"]}


def test_nan_is_missing_in_numbers_and_its_text_is_a_code():
    source = {"age": np.array([1.5, np.nan]), "ill": ["nan", "b"]}
    for table in (
        Table.read(source, quasi_identifiers=["age", "ill"], na=()),
        Table.read(pd.DataFrame(source), quasi_identifiers=["age", "ill"], na=()),
        Table.read(source | {"age": ["1.5", np.ma.masked]}, quasi_identifiers=["age", "ill"], na=()),
    ):
        assert content(table) == {"age": ["1.5", ""], "ill": ["nan", "b"]}


def test_many_distinct_texts_read_like_few(tmp_path):
    n = 120_000
    names = [f"p{(index * 7919) % n}" for index in range(n)]
    path = written(
        tmp_path,
        "people.csv",
        "id,age\n" + "".join(f"{name},{index % 3}\n" for index, name in enumerate(names)) + ",1\n",
    )
    table = Table.read(path, quasi_identifiers="age", keep="id")
    assert cells(table.column("id")) == [*names, ""]


def test_a_file_without_header(tmp_path):
    path = written(tmp_path, "people.csv", "30, flu\n20, none\n\n")
    table = Table.read(path, quasi_identifiers="age", sensitive="ill", header=["age", "ill"])
    assert content(table) == {"age": ["30", "20"], "ill": ["flu", "none"]}
    with pytest.raises(UnmaskError, match="has 2 columns, but `header` has 1 names"):
        Table.read(path, quasi_identifiers="age", header=["age"])


def test_names_that_differ_in_case_are_two_columns():
    source = pa.table({"age": [1, 2], "Age": [3, 4]})
    assert content(Table.read(source, quasi_identifiers="Age", keep="age")) == {"Age": ["3", "4"], "age": ["1", "2"]}


# --- roles and meaning --------------------------------------------------------------------------------------------


def test_codes_do_not_depend_on_the_order_of_rows():
    source = frame()
    table, turned = Table.read(source, **ROLES), Table.read(source.iloc[::-1], **ROLES)
    for first, second in zip(table.columns, turned.columns, strict=True):
        assert first.levels.labels == second.levels.labels
        assert np.array_equal(first.codes, second.codes[::-1])
    assert np.array_equal(table.classes.sizes, turned.classes.sizes)


def test_only_columns_with_a_role_are_there_and_kept_ones_are_text():  # T2, U3
    source = {"name": ["A", "B"], "age": ["1-2", "3"], "extra": ["7-8", "*"], "cost": [1.5, 2.5]}
    table = Table.read(source, quasi_identifiers="age", keep="extra", identifiers="name")
    assert content(table) == {"age": ["[1, 2]", "3"], "extra": ["7-8", "*"]}
    with pytest.raises(UnmaskError, match="'cost' has a type, order or hierarchy, but no role"):
        Table.read(source, quasi_identifiers="age", types={"cost": "number"})


TYPED = """
    select case when i % 2 = 0 then 'a' else 'b' end as ill, i::smallint as small, i::double / 4 as real,
        (i * 1.5)::decimal(9, 2) as price, date '2024-01-01' + i::integer as day, i % 2 = 0 as flag, i::varchar as code,
        i // 4 as age
    from range(8) as numbers(i)
"""


def test_a_release_keeps_the_types_and_the_order_of_the_columns_of_parquet(tmp_path):  # T26
    connection = duckdb.connect()
    connection.sql(TYPED).write_parquet(str(tmp_path / "people.parquet"))
    numeric = ["flag", "code", "real", "price", "day", "small"]
    table = Table.read(tmp_path / "people.parquet", quasi_identifiers="age", sensitive="ill", keep=numeric)
    Mondrian(k=2)(table)[0].write(tmp_path / "release.parquet")

    def described(name):
        return connection.sql(f"describe select * from read_parquet('{tmp_path / name}')").fetchall()

    assert described("release.parquet") == described("people.parquet")
    rows = [
        sorted(connection.sql(f"from read_parquet('{tmp_path / name}')").fetchall())
        for name in ("people.parquet", "release.parquet")
    ]
    assert rows[0] == rows[1]
    wide = Mondrian(k=8)(table)[0]
    wide.write(tmp_path / "wide.parquet")
    assert [row[1] for row in described("wide.parquet")][-1] == "VARCHAR"  # the age is an interval now


def test_a_release_has_its_columns_in_the_order_of_the_source(tmp_path):  # T26
    path = written(tmp_path, "people.csv", "note,ill,zip,age\nx,flu,1,30\ny,flu,2,31\n")
    table = Table.read(path, quasi_identifiers=["age", "zip"], sensitive="ill", keep="note")
    Mondrian(k=1)(table)[0].write(tmp_path / "release.csv")
    assert (tmp_path / "release.csv").read_text().splitlines()[0] == "note,ill,zip,age"


def test_weights():
    table = Table.read({"age": [1, 2, 3], "w": [0.5, 2, 2]}, quasi_identifiers="age", weight="w")
    assert table.weight.tolist() == [0.5, 2, 2]
    assert table.take(np.array([2, 0])).weight.tolist() == [2, 0.5]
    assert [column.name for column in table.columns] == ["age"]


def test_classes_number_levels_in_order_and_keep_missing_apart():
    table = Table.read({"age": [2, 1, None, 2], "sex": ["m", "f", "f", "m"]}, quasi_identifiers=["age", "sex"])
    assert table.classes.sizes.tolist() == [1, 2, 1]
    assert table.classes.of_row.tolist() == [1, 0, 2, 1]
    assert table.classes.levels.tolist() == [[0, 0], [1, 1], [2, 0]]


def test_take_keeps_codes_comparable(csv_file):
    table = Table.read(csv_file, **ROLES)
    part = table.take(np.array([2, 1]))
    assert content(part) == {name: [values[2], values[1]] for name, values in EXPECTED.items()}
    assert part.column("age").levels is table.column("age").levels
    assert table.take(np.array([True, False, False])).n_rows == 1


def test_hierarchies_and_orders_by_column(tmp_path):
    (tmp_path / "zip.csv").write_text("02139;0*\n10001;1*\n")
    table = Table.read(
        {"zip": ["0*", "10001"], "pay": ["low", "high"]},
        quasi_identifiers=["zip", "pay"],
        hierarchies={"zip": tmp_path / "zip.csv"},
        orders={"pay": ["low", "high"]},
    )
    assert cells(table.column("zip")) == ["02139", "10001"]  # a node over one leaf is that leaf
    assert isinstance(table.column("zip").hierarchy, Hierarchy)
    assert table.column("pay").codes.tolist() == [0, 1]


# --- errors -------------------------------------------------------------------------------------------------------


def failing(kind: type[UnmaskError], source: object, **options):
    with pytest.raises(kind) as caught:
        Table.read(source, **{"quasi_identifiers": ["age", "zip"], **options})
    assert type(caught.value) is kind
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_unknown_column_suggests_the_nearest(csv_file):
    message = failing(UnmaskError, csv_file, sensitive="il")
    assert message == "column 'il' is not in file 'people.csv'; did you mean 'ill'? Its columns are age, zip, ill, note"
    assert "'Ill'" not in failing(UnmaskError, frame(), types={"weight": "number"})


def test_wrong_delimiter_names_the_right_one(tmp_path):
    path = written(tmp_path, "people.csv", TEXT.replace(",", ";"))
    message = failing(UnmaskError, path, delimiter=",")
    assert "only one column was found with delimiter ',', ';' seems right" in message


def test_empty_and_header_only(tmp_path):
    assert "is empty" in failing(UnmaskError, written(tmp_path, "people.csv", ""))
    assert "no rows" in failing(UnmaskError, written(tmp_path, "people.csv", "age,zip\n"))
    assert "no rows" in failing(UnmaskError, frame().iloc[:0])
    assert "no rows" in failing(UnmaskError, {"age": [], "zip": []})


def test_duplicate_names(tmp_path):
    message = "two columns named 'age', columns 1 and "
    assert message in failing(UnmaskError, written(tmp_path, "people.csv", "age,zip,age\n1,2,3\n"))
    assert message in failing(UnmaskError, pd.DataFrame([[1, 2, 3]], columns=["age", "zip", "age"]))


def test_missing_truncated_and_foreign_files(tmp_path):
    assert "does not exist" in failing(FailedError, tmp_path / "nothing.csv")
    rng = np.random.default_rng(1)
    body = "age,zip\n" + "".join(f"{a},{b}\n" for a, b in rng.integers(10**9, size=(20_000, 2)))
    compressed = gzip.compress(body.encode())
    for size in (20, len(compressed) // 2):
        (tmp_path / "cut.csv.gz").write_bytes(compressed[:size])
        assert "truncated or damaged" in failing(FailedError, tmp_path / "cut.csv.gz")
    (tmp_path / "plain.csv.gz").write_text(TEXT)
    assert "not a valid gzip file" in failing(FailedError, tmp_path / "plain.csv.gz")
    path = parquet(tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    assert "not a readable Parquet file" in failing(FailedError, path)
    (tmp_path / "odd.csv").write_bytes(b"age,zip\n1,caf\x81\n")
    notes = Table.read(tmp_path / "odd.csv", quasi_identifiers="age").notes
    assert any("not UTF-8" in note and "it may be" in note for note in notes)
    (tmp_path / "late.csv").write_bytes(b"age,zip\n" + "1,ä\n".encode() * 50 + b"1,caf\xe9\n")
    assert "line 52 of the file 'late.csv' is not UTF-8" in failing(FailedError, tmp_path / "late.csv")


def test_ragged_rows_name_the_line_and_no_content(tmp_path):
    message = failing(FailedError, written(tmp_path, "people.csv", "age,zip\n1,2\nsecret,3,4\n"))
    assert message.startswith("line 3 of the file has 3 columns, expected 2")
    assert "secret" not in message


def test_unparsable_cells_and_values_outside_the_hierarchy(csv_file):
    message = failing(UnmaskError, csv_file, types={"ill": "number"}, sensitive="ill")
    assert message.startswith(
        "number column 'ill' has values that are neither a number nor an interval (1 distinct)"
    )  # "none" is a gap among numbers
    tree = Hierarchy.from_paths([("02139", "*")])
    message = failing(UnmaskError, csv_file, hierarchies={"zip": tree})
    assert message.startswith("column 'zip' has values that are not in its hierarchy (1 distinct)")
    assert "10001" not in message


def test_bad_weights():
    message = failing(UnmaskError, {"age": [1, 2, 3], "zip": [1, 2, 3], "w": [1, "2-3", 2]}, weight="w")
    assert "'w' is not an exact number in 1 rows" in message


@pytest.mark.parametrize("weight", [0, 0.25, None])
def test_a_weight_that_stands_for_no_person_adds_nothing_to_its_class(weight, tmp_path):
    odd = Table.read({"age": [1, 1, 3], "w": [5, weight, 9]}, quasi_identifiers="age", weight="w")
    result = unmask.audit(odd)

    risk = criteria.sample_weight_risk(np.array([2, 1]), np.array([5.0 + (weight or 0), 9.0]))
    assert result.criteria["release"]["individual_risk_max"] == pytest.approx(risk.max())
    assert result.criteria["release"]["k"] == 1
    odd.write(tmp_path / "r.csv")
    again = Table.read(tmp_path / "r.csv", quasi_identifiers="age", weight="w")
    assert np.array_equal(again.weight, odd.weight, equal_nan=True)


def test_a_class_has_as_many_people_as_rows_and_a_caution_says_so():
    table = Table.read({"age": [1, 1, 3], "w": [0.5, 0, 9]}, quasi_identifiers="age", weight="w")
    result = unmask.audit(table)
    assert result.criteria["release"]["individual_risk_max"] == 0.5
    assert any("of the classes of release sum to fewer people" in caution for caution in result.cautions)


def test_weights_of_another_scale_need_the_population():
    columns = {"age": [1, 1, 3], "w": [0.5, 1, 1.5]}
    table = Table.read(columns, quasi_identifiers="age", weight="w")
    unknown, known = unmask.audit(table), unmask.audit(table, population=60)
    (reason,) = (reason for analysis, reason in unknown.not_run if analysis == "Risk by survey weights")
    assert reason.startswith("the sum of the weights is about the number of rows")
    assert unknown.criteria["release"]["individual_risk_max"] is None
    risk = criteria.sample_weight_risk(np.array([2, 1]), np.array([30.0, 30.0]))
    assert known.criteria["release"]["individual_risk_max"] == pytest.approx(risk.max())


def test_a_negative_weight_is_refused():
    message = failing(UnmaskError, {"age": [1, 2], "zip": [1, 2], "w": [1, -2]}, weight="w")
    assert "'w' is negative in 1 rows; expected at least 0, or a missing cell" in message


def test_text_weights(csv_file):
    error = failing(UnmaskError, csv_file, weight="ill")
    assert "number column 'ill' has values that are neither a number nor an interval (1 distinct)" in error


def test_a_column_with_two_roles(csv_file):
    message = failing(UnmaskError, csv_file, sensitive="age")
    assert (
        message == "column 'age' is given twice, as quasi_identifiers and sensitive; expected one role for each column"
    )
    assert "as quasi_identifiers;" in failing(UnmaskError, csv_file, quasi_identifiers=["age", "age"])


def test_no_quasi_identifier_and_unknown_settings(csv_file):
    assert "0 quasi-identifiers" in failing(UnmaskError, csv_file, quasi_identifiers=[])
    assert "missing is 'drop'" in failing(UnmaskError, csv_file, missing="drop")
    assert "a int cannot be read" in failing(UnmaskError, 7)
    assert "equal lengths" in failing(UnmaskError, {"age": [1], "zip": [1, 2]})


def test_failing_query_shows_no_content():
    connection = duckdb.connect()
    source = (connection, "select cast(v as int) as age, 1 as zip from (values ('secret')) t(v)")
    assert "secret" not in failing(FailedError, source)


def test_the_engine_is_closed_and_cleans_up():
    with engine() as (connection, folder):
        settings = connection.execute(
            "select current_setting('autoinstall_known_extensions'), current_setting('temp_directory')"
        ).fetchall()
    assert settings == [(False, folder)]
    assert not Path(folder).exists()
    with pytest.raises(duckdb.ConnectionException):
        connection.execute("select 1")


# --- writing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.tsv", "out.TSV.gz", "out.parquet"])
def test_a_written_table_reads_back(tmp_path, name):
    source = {
        "age": ["20-29", "*", None, "30"],
        "zip": ["021**", "02139", '{"a, b", c}', "*"],
        "ill": ['say "x"', "a\tb", "a,b", None],
        "note": ["1-2", "", "0.50", "x"],
    }
    table = Table.read(source, **ROLES)
    table.write(tmp_path / name)
    again = Table.read(tmp_path / name, **ROLES)
    assert content(again) == content(table)
    assert content(table)["note"] == ["1-2", "", "0.50", "x"]
    assert [path.name for path in tmp_path.iterdir()] == [name]


@settings(max_examples=40, deadline=None)  # each example writes and reads a file
@given(st.lists(st.text(st.sampled_from('ab,"\n{}*;\t'), max_size=4).map(str.strip), min_size=1, max_size=5))
def test_any_text_survives_a_file(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("any") / "out.csv"
    table = Table.read({"age": [1] * len(texts), "zip": texts}, quasi_identifiers=["age", "zip"])
    table.write(path)
    assert (
        content(Table.read(path, quasi_identifiers=["age", "zip"], types={"age": "number"}))["zip"]
        == content(table)["zip"]
    )


def test_a_single_column_with_missing_cells_reads_back(tmp_path):
    table = Table.read({"age": [1, None, None, 2]}, quasi_identifiers="age")
    table.write(tmp_path / "out.csv")
    assert content(Table.read(tmp_path / "out.csv", quasi_identifiers="age")) == {"age": ["1", "", "", "2"]}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_nan_of_parquet_is_missing(tmp_path, dtype):
    path, rate = tmp_path / "rate.parquet", np.array([1, np.copysign(np.nan, -1), 1, np.nan, 2], dtype)
    pa.parquet.write_table(pa.table({"rate": rate}), path)
    column = Table.read(path, quasi_identifiers="rate").quasi_identifiers[0]
    assert (column.codes == column.levels.missing).tolist() == [False, True, False, True, False]
    pa.parquet.write_table(pa.table({"rate": rate[:3]}), path)  # the least and the greatest number are one
    assert len(Table.read(path, quasi_identifiers="rate").quasi_identifiers[0].levels) == 2


def test_parquet_keeps_numbers_and_weights(tmp_path):
    table = Table.read(
        {"age": [1, None, 2], "pay": [0.5, 1, 2], "w": [1.5, 2, 3]}, quasi_identifiers=["age", "pay"], weight="w"
    )
    table.write(tmp_path / "out.parquet")
    rows = duckdb.sql(f"select * from '{tmp_path / 'out.parquet'}'")
    assert rows.columns == ["age", "pay", "w"]
    assert [str(kind) for kind in rows.types] == ["BIGINT", "DOUBLE", "DOUBLE"]
    assert rows.fetchall() == [(1, 0.5, 1.5), (None, 1.0, 2.0), (2, 2.0, 3.0)]


def test_same_table_same_bytes(tmp_path):
    table = Table.read(frame(), **ROLES)
    table.write(tmp_path / "one.csv.gz")
    table.write(tmp_path / "two.csv.gz")
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()


def test_an_existing_output_is_kept_unless_forced(tmp_path, csv_file):
    table = Table.read(csv_file, **ROLES)
    with pytest.raises(UnmaskError, match="exists"):
        table.write(csv_file)
    assert csv_file.read_text() == TEXT
    table.write(csv_file, force=True)
    assert csv_file.read_text().splitlines()[1] == "30,02139,flu,x"


def test_unwritable_places_and_unknown_suffixes(tmp_path, csv_file):
    table = Table.read(csv_file, **ROLES)
    with pytest.raises(UnmaskError, match="unknown suffix"):
        table.write(tmp_path / "out.xls")
    with pytest.raises(FailedError, match="cannot be written: No such file or directory"):
        table.write(tmp_path / "nowhere" / "out.csv")


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_a_full_disk_leaves_nothing_behind(tmp_path, csv_file, monkeypatch, name):
    table = Table.read(csv_file, **ROLES)

    def full(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / name).write_text("old")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FailedError, match="cannot be written: No space left on device"):
        table.write(tmp_path / name, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["people.csv", name])
    assert (tmp_path / name).read_text() == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_disk_that_fills_while_writing(tmp_path, csv_file, monkeypatch):
    table = Table.read(csv_file, **ROLES)
    opened = Path.open
    monkeypatch.setattr(
        Path, "open", lambda path, *arguments, **options: opened(Path("/dev/full"), *arguments, **options)
    )
    with pytest.raises(FailedError, match="No space left on device"):
        table.write(tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_a_weight_leaves_under_its_name_and_in_its_place(tmp_path):  # T21
    path = written(tmp_path, "people.csv", "age,pesos,ill\n30,1.5,flu\n31,2,flu\n30,10,none\n31,9,none\n")
    table = Table.read(path, quasi_identifiers="age", sensitive="ill", weight="pesos")
    release, origin = Mondrian(k=4)(table)
    release.write(tmp_path / "release.csv")
    back = Table.read(tmp_path / "release.csv", quasi_identifiers="age", sensitive="ill", weight="pesos")
    assert (tmp_path / "release.csv").read_text().splitlines()[0] == "age,pesos,ill"
    assert back.weight.tolist() == [1.5, 2, 9, 10] == table.weight[origin].tolist()


@pytest.mark.parametrize("n_columns", [1, 3])
def test_rows_are_quoted_as_a_csv_writer_does_it(n_columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    texts = ["a", "", "x,y", 'q"t', "two\nlines", "tab\there", "é", ""]
    columns = {f"c{index}": texts[index:] + texts[:index] for index in range(n_columns)}
    monkeypatch.setattr(table_writing, "_ROWS_PER_BLOCK", 3)
    path = tmp_path / "release.csv"
    Table.read(columns, quasi_identifiers=list(columns)).write(path)
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows([columns, *zip(*columns.values(), strict=True)])
    assert path.read_bytes() == file.getvalue().encode()
