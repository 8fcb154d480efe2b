"""A path that exists is that file, in every domain and on the engine, whatever its name or its folder's name is."""

import os
import shutil
from pathlib import Path

import duckdb
import numpy as np
import pytest

from unmask.core.errors import FailedError, UnmaskError
from unmask.data.columns import list_columns as item_columns
from unmask.data.columns import read_columns
from unmask.data.engine import open_engine
from unmask.graphs import SocialGraph
from unmask.linkage.counting import count_contingencies
from unmask.linkage.label_files import LabelFile
from unmask.tables import Table
from unmask.tables.reading import column_names

STEMS = (
    "[b]", "*", "[a]", "a?b", "[!x]", "it's", 'say "x"', "two\nlines", "größe-名", "-dash", ".dot", "back\\slash",
    "{a,b}",    "zip=9", "%20", "~", "a b", "[[]]", "**", "file:x", "http:x", "c;drop table x", "x.csv.gz.tsv",
)  # fmt: skip
FOLDERS = (".", "zip=99999", "year=2020/zip=1", "d[1]", "*", ".hidden")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="names that other systems refuse")


def parquet(path, **columns):
    plain = path.with_name("plain.tmp")
    with duckdb.connect() as connection:
        connection.register("cells", {name: np.array(cells, dtype=object) for name, cells in columns.items()})
        connection.execute(
            f"copy (select * from cells) to '{str(plain).replace(chr(39), chr(39) * 2)}' (format parquet)"
        )
    plain.rename(path)


def csv(path, **columns):
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(row) for row in rows)]) + "\n", encoding="utf-8")


WRITERS = {".csv": csv, ".parquet": parquet}


@pytest.fixture(scope="module")
def matched(tmp_path_factory):
    """Files that a pattern would match: a reader that takes names for patterns finds them instead, or as well."""
    folder = tmp_path_factory.mktemp("matched")
    for name in ("b", "a", "axb", "ab", "x"):
        for suffix, write in WRITERS.items():
            write((folder / name).with_suffix(suffix), zip=["77777"], age=["70"])
    return folder


@pytest.fixture
def folder(matched, tmp_path, monkeypatch):
    shutil.copytree(matched, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def zips(path):
    table = Table.read(path, quasi_identifiers="zip")
    column = table.quasi_identifiers[0]
    return [column.levels.labels[code] for code in column.codes]


def zips_in_engine(path):
    with open_engine() as engine:
        names = engine.names(str(path))
        engine.table("t", str(path), {"zip": "zip"})
        cells = engine.rows("select cast(zip as varchar) as zip from t order by zip")["zip"].tolist()
    return names, cells


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("stem", STEMS)
def test_a_file_name_with_glob_characters_is_that_file(folder, stem, suffix):  # R3
    path = Path(f"{stem}{suffix}")
    WRITERS[suffix](path, zip=["11111", "22222"], age=["1", "2"])
    assert zips(path) == ["11111", "22222"]
    assert column_names(path) == ["zip", "age"]
    assert zips_in_engine(path) == (["zip", "age"], ["11111", "22222"])
    assert zips_in_engine(path.absolute()) == (["zip", "age"], ["11111", "22222"])


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_named_column_value_is_no_column(folder, name, suffix):  # R2
    Path(name).mkdir(parents=True, exist_ok=True)
    path = Path(name, f"t{suffix}")
    WRITERS[suffix](path, zip=["11111", "22222"], age=["1", "2"])
    assert zips(path) == ["11111", "22222"]
    assert column_names(path) == ["zip", "age"]
    assert zips_in_engine(path) == (["zip", "age"], ["11111", "22222"])


def test_a_folder_of_parquet_has_the_columns_of_its_files(folder):  # R2
    for part in ("zip=99999", "zip=88888"):
        Path("parts[1]", part).mkdir(parents=True)
        parquet(Path("parts[1]", part, "t.parquet"), zip=["11111"], age=["1"])
    assert zips_in_engine("parts[1]") == (["zip", "age"], ["11111", "11111"])


def test_a_pattern_is_for_engines_and_only_where_no_file_has_its_name(folder):  # R3
    assert zips_in_engine("[ab].parquet")[1] == ["77777", "77777"]
    with pytest.raises(FailedError, match="does not exist or is not a file"):
        Table.read("[ab].parquet", quasi_identifiers="zip")
    parquet(Path("[ab].parquet"), zip=["11111"], age=["1"])
    assert zips_in_engine("[ab].parquet")[1] == ["11111"]


def test_a_name_that_cannot_be_printed_is_refused(folder):  # R3
    path = Path("a\\*b.csv")
    csv(path, zip=["11111"], age=["1"])
    with pytest.raises(UnmaskError, match="a backslash and one of"):
        Table.read(path, quasi_identifiers="zip")


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("stem", ["[b]", "*", "zip=9/x", "-dash"])
def test_items_and_networks_are_literal_files(folder, stem, suffix):  # R2, R3
    path = Path(f"{stem}{suffix}")
    path.parent.mkdir(exist_ok=True)
    WRITERS[suffix](path, item=["i1", "i2"], subject=["s1", "s1"])
    assert read_columns(path, ["item"])["item"].tolist() == ["i1", "i2"]
    assert item_columns(path) == ["item", "subject"]
    graph = SocialGraph.read(path, header=True, two_mode=False)
    assert graph.labels.tolist() == ["i1", "i2", "s1"]
    with open_engine() as engine:
        labeled = LabelFile(str(path), "item", "subject"), {"guess": LabelFile(str(path), "item", "subject")}
        assert count_contingencies(engine, *labeled, array_bytes=1 << 30)["guess"].tables[0].shared.tolist() == [2]
