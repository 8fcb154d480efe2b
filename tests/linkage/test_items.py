import duckdb
import numpy as np
import pytest

from unmask.core.errors import FailedError, UnmaskError
from unmask.data.columns import read_columns
from unmask.linkage import Items

COLUMNS = {
    "id": ["r1", "r2", "r3", "r4"],
    "who": ["b", "a", "b", "a"],
    "sum": [1.0, 2.0, np.nan, 4.0],
    "shop": ["x", "", "y", "x"],
    "at": [10, 20, 30, 40],
    "file": ["f", "g", "f", "g"],
}


def read(**changes):
    roles = {"item": "id", "pseudonym": "who", "features": ("sum", "shop"), "time": "at", "context": "file"}
    return Items.read(COLUMNS, **(roles | changes))


def test_roles_are_kept_and_missing_cells_are_marked():
    items = read()
    assert items.ids.tolist() == COLUMNS["id"]
    assert items.feature("sum").missing.tolist() == [False, False, True, False]
    assert items.feature("shop").values.tolist() == [0, -1, 1, 0]
    assert items.feature("shop").labels.tolist() == ["x", "y"]
    assert items.partition.code.tolist() == [1, 0, 1, 0]
    assert items.time.tolist() == [10, 20, 30, 40]
    assert items.context.tolist() == COLUMNS["file"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_a_file_reads_as_the_mapping_does(tmp_path, suffix):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / f"items{suffix}"
    frame = pandas.DataFrame(COLUMNS)
    if suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    roles = {"item": "id", "pseudonym": "who", "features": ("sum", "shop"), "time": "at", "context": "file"}
    items, plain = Items.read(path, **roles), read()
    assert items.ids.tolist() == plain.ids.tolist()
    assert np.array_equal(items.feature("sum").values, plain.feature("sum").values, equal_nan=True)
    assert items.feature("shop").values.tolist() == plain.feature("shop").values.tolist()
    assert items.time.tolist() == plain.time.tolist()
    assert items.partition.code.tolist() == plain.partition.code.tolist()


def test_kinds_are_guessed_or_declared():
    columns = {"zip": ["012", "345"], "note": ["a", "1"]}
    guessed = Items.read(columns, features=("zip", "note"))
    assert guessed.feature("zip").values.tolist() == [12, 345]
    assert guessed.feature("note").kind == "categorical"
    declared = Items.read(columns, features=("zip", "note"), kinds={"zip": "categorical", "note": "text"})
    assert declared.feature("zip").labels.tolist() == ["012", "345"]
    assert declared.feature("note").kind == "text"


def test_dates_become_seconds():
    days = Items.read({"day": ["1970-01-01", "1970-01-02T00:00:01"]}, time="day").time
    assert days.tolist() == [0, 86_401]
    assert Items.read({"day": np.array(["1970-01-02"], dtype="datetime64[D]")}, time="day").time.tolist() == [86_400]


def test_profiles_are_means_and_modes():
    items = Items.read(
        {"who": [5, 5, 5, 2, 2, 9], "x": [1, 3, np.nan, 7, 7, np.nan], "c": ["b", "a", "b", "z", "y", ""]},
        pseudonym="who",
        features=("x", "c"),
    )
    x, c = items.profiles  # in the order of the pseudonyms 2, 5, 9
    assert np.array_equal(x.values, [7, 2, np.nan], equal_nan=True)
    assert [c.labels[code] if code >= 0 else None for code in c.values] == ["y", "b", None]  # a tie goes to the first


def test_take_keeps_what_belongs_together():
    items = read().take([3, 0])
    assert items.ids.tolist() == ["r4", "r1"]
    assert items.feature("sum").values.tolist() == [4, 1]
    assert items.pseudonym.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"features": ("sum", "shp")}, "column 'shp' is not in the mapping; its columns are id, who"),
        ({"features": ("sum", "who")}, "column 'who' is given two roles"),
        ({"item": "who", "pseudonym": None}, "an item id occurs twice"),
        ({"kinds": {"sum": "ordinal"}}, "the kind of 'sum' is 'ordinal', expected"),
        ({"kinds": {"shop": "numeric"}}, "feature 'shop' has a cell that is not a finite number"),
        ({"kinds": {"zip": "text"}}, "kinds names 'zip', which is not a feature"),
        ({"time": "file"}, "column 'file' is given two roles"),
        ({"time": "file", "context": None}, "column 'file' is not a time"),
        ({"context": "shop", "features": "sum"}, "column 'shop' is missing at 1 items, the first in row 1"),
    ],
)
def test_wrong_roles_are_named(changes, match):
    with pytest.raises(UnmaskError, match=match):
        read(**changes)


def test_unreadable_sources_are_refused(tmp_path):
    with pytest.raises(FailedError, match=r"file 'none.csv' does not exist"):
        Items.read(tmp_path / "none.csv", features="a")
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"secret,secret\n1,2\n")
    with pytest.raises(FailedError, match=r"file 'bad.parquet' is not a readable Parquet") as caught:
        Items.read(bad, features="secret")
    assert "secret" not in str(caught.value)
    empty = tmp_path / "empty.csv"
    empty.write_text("a,b\n")
    with pytest.raises(UnmaskError, match="no rows"):
        Items.read(empty, features="a")
    with pytest.raises(UnmaskError, match=r"shapes \[\(1,\), \(2,\)\]"):
        Items.read({"a": [1], "b": [1, 2]}, features=("a", "b"))
    with pytest.raises(UnmaskError, match="0 columns"):
        Items.read({"a": [1]})


def test_nothing_about_a_text_file_is_guessed_from_its_rows(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("id;A;a\n#1;x;1\n2;\u00a0x;2\n")
    result = read_columns(path, ["id", "A", "a"])
    assert [column.tolist() for column in result.values()] == [["#1", "2"], ["x", "\u00a0x"], ["1", "2"]]
    path.write_text("id,a\n1,x\n2\n")
    with pytest.raises(FailedError, match="line 3 of the file has 1 columns, expected 2"):
        read_columns(path, ["id"])
    path.write_text("id,id\n1,x\n")
    with pytest.raises(UnmaskError, match="two columns named 'id'"):
        read_columns(path, ["id"])


def test_no_cell_is_shown():
    items = read()
    printed = repr(items) + repr(items.features)
    assert "r1" not in printed
    assert "'x'" not in printed


def test_times_of_a_parquet_file_are_seconds_whatever_their_type(tmp_path):
    moments = (
        ("date '2001-02-03'", 981158400.0),
        ("timestamp '2001-02-03 04:05:06.5'", 981173106.5),
        ("timestamptz '2001-02-03 04:05:06+00'", 981173106.0),
        ("cast(7.25 as decimal(9, 2))", 7.25),
    )
    for moment, seconds in moments:
        duckdb.sql(f"select {moment} as t, 'x' as shop").write_parquet(str(tmp_path / "times.parquet"))
        assert Items.read(tmp_path / "times.parquet", features="shop", time="t").time.tolist() == [seconds]


def test_a_file_is_read_by_its_content_whatever_its_suffix(tmp_path):
    (tmp_path / "items.dat").write_text("shop,sum\na,1\nb,2\n")
    assert Items.read(tmp_path / "items.dat", features=("shop", "sum")).features[1].values.tolist() == [1, 2]
