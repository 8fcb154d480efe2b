"""One reader for files and frames: the same cells have the same types and give the same audit, whatever holds them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unmask
from unmask.tables import Table, coding
from unmask.tables.reading import read_encoded

KINDS = ("age", "roof", "score text", "plz text", "wage", "share", "smoker", "town", "visit", "grade", "rooms", "mixed")


def _column(kind, n, rng):
    gaps = rng.random(n) < 0.1
    if kind == "age":
        return rng.integers(0, 95, n)
    if kind == "roof":
        return rng.integers(1, 6, n)
    if kind == "score text":  # numbers that the frame holds as text
        return pd.Series(rng.integers(0, 300, n)).astype(str)
    if kind == "plz text":
        return pd.Series(rng.integers(1000, 99_999, n)).astype(str).str.zfill(5)
    if kind == "wage":
        return np.round(rng.lognormal(8, 1, n), 2)
    if kind == "share":
        return pd.Series(np.round(rng.random(n), 3)).mask(gaps)
    if kind == "smoker":
        return rng.random(n) < 0.3
    if kind == "town":
        return pd.Series(rng.choice(["Ulm", "Köln", "Bad Homburg"], n), dtype="category")
    if kind == "visit":
        return pd.Timestamp("2021-03-04") + pd.to_timedelta(rng.integers(0, 400, n), unit="D")
    if kind == "grade":  # whole numbers beside gaps, which a frame holds as floats
        return pd.Series(rng.integers(1, 7, n).astype(float)).mask(gaps)
    if kind == "rooms":
        return pd.Series(rng.integers(1, 40, n)).astype("Int64").mask(gaps)
    return pd.Series(rng.choice(["1", "2", "x", "NA", ""], n))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("frames")


def _cells(table):
    return [(column.type, column.levels.kind, column.codes.tolist()) for column in table.columns]


def _audit(table):
    data = unmask.audit(table)
    return repr([[(row.adversary, row.measure, row.posterior, row.worst) for row in data.rows], data.criteria])


@given(st.integers(0, 2**32 - 1), st.sampled_from([12, 60, 260]))
@settings(max_examples=10, deadline=None)
def test_a_frame_and_its_file_have_the_same_cells(folder, seed, n):
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(KINDS)[: rng.integers(3, 8)].tolist()
    frame = pd.DataFrame({kind: _column(kind, n, rng) for kind in kinds})
    frame.to_csv(folder / "table.csv", index=False)
    frame.to_parquet(folder / "table.parquet")
    roles = {"quasi_identifiers": kinds[1:], "sensitive": kinds[0]}

    expected = _cells(Table.read(folder / "table.csv", **roles))

    for source in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), folder / "table.parquet"):
        assert _cells(Table.read(source, **roles)) == expected


TEXTS = st.none() | st.sampled_from(["", " ", "a", " a", "B", "é", "e\u0301", "\uffee", "\U0001f600", "10", "9", "nan"])


@settings(max_examples=40)
@given(st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from([1.5, -0.0, float("nan")])), min_size=1, max_size=12))
def test_few_rows_have_the_codes_of_many(rows):
    frame = pd.DataFrame(rows, columns=["a", "b", "real"])
    few = read_encoded(frame).columns
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coding, "_MAX_SMALL_ROWS", 0)
        many = read_encoded(frame).columns
    for name in frame:
        assert (few[name].texts, few[name].stored) == (many[name].texts, many[name].stored)
        assert few[name].codes.tolist() == many[name].codes.tolist()


@pytest.mark.parametrize("seed", range(6))
def test_a_frame_and_its_file_give_equal_audits(folder, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(KINDS)[:4].tolist()
    frame = pd.DataFrame({kind: _column(kind, 60, rng) for kind in kinds})
    frame.to_csv(folder / "table.csv", index=False)
    roles = {"quasi_identifiers": kinds[1:], "sensitive": kinds[0]}
    source = (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame))[seed % 3]

    assert _audit(Table.read(source, **roles)) == _audit(Table.read(folder / "table.csv", **roles))


def test_text_numbers_of_a_frame_have_the_order_of_numbers(tmp_path):
    cells = {"age": ["30", "30", "41", "41"] * 3, "pay": ["100", "200", "1000", "300"] * 3}
    frame = pd.DataFrame(cells)
    frame.to_csv(tmp_path / "t.csv", index=False)
    criteria = [
        unmask.audit(unmask.read_table(source, quasi_identifiers="age", sensitive="pay")).criteria["release"]
        for source in (frame, tmp_path / "t.csv", cells)
    ]

    assert criteria[0]["t_ordered"] == criteria[1]["t_ordered"] == criteria[2]["t_ordered"]
    assert criteria[0]["t_ordered"] is not None


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("roof", [1, 2, 3, 9] * 60, "code"),
        ("water", [1, 2] * 60, "code"),
        ("Familienstand", [1, 2, 3, 4] * 40, "code"),
        ("plz", [10115, 80331, 20095] * 5, "number"),
        ("plz", ["01067", "80331"], "code"),
        ("sex", [0, 1, 1], "code"),
        ("icd", [1001, 1002], "code"),
        ("hhid", [101, 102, 102, 103], "code"),
        ("psu", [11, 12, 13], "code"),
        ("n_children", [0, 1, 2, 3] * 60, "number"),
        ("age", [1, 2, 3] * 60, "number"),
        ("birth_year", [1990, 1991, 1992] * 60, "number"),
        ("q1", [1, 2, 3], "number"),
        ("steps", [1200, 15000, 320] * 60, "number"),
        ("rate of interest", [1, 2] * 60, "number"),
        ("score", ["01", "07"], "code"),
        ("bp", [120, 80, 95, 133], "number"),
        ("h", [1.5, 2.5], "number"),
    ],
)
def test_whole_numbers_that_name_something_are_codes(name, cells, expected):
    (column,) = Table.read({name: cells}, quasi_identifiers=name).quasi_identifiers

    assert column.type == expected
    assert Table.read({name: cells}, quasi_identifiers=name, types={name: "number"}).column(name).type == "number"


def test_codes_of_categories_become_sets_and_no_intervals():
    cells = {"roof": [1, 2, 3, 9] * 30, "age": list(range(120))}
    release, _ = unmask.tables.Mondrian(k=50)(Table.read(cells, quasi_identifiers=["age", "roof"]))

    assert not any(label.startswith("[") for label in release.column("roof").levels.labels)
