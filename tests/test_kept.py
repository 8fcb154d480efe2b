"""Columns of a file are read once by commands in a row, as long as the file is as it was."""

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.kept import KEPT, kept
from unmask.tables import Mondrian, Table, reading
from unmask.tables.reading import read_encoded


def test_columns_are_read_once_as_long_as_the_file_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, calls = tmp_path / "people.csv", []
    read = reading._read
    monkeypatch.setattr(reading, "_read", lambda *how: (calls.append(how), read(*how))[1])
    monkeypatch.setenv(KEPT, str(tmp_path / "kept"))

    def ages() -> list[str]:
        column = Table.read(file, quasi_identifiers="age").column("age")
        return [column.levels.labels[code] for code in column.codes]

    file.write_text("age,zip\n30,1\n20,2\n")
    assert ages() == ages() == ["30", "20"]
    assert len(calls) == 1
    Table.read(file, quasi_identifiers=["age", "zip"])  # other columns
    assert len(calls) == 2
    file.write_text("age,zip\n31,1\n20,2\n")
    os.utime(file, ns=(0, 0))
    assert ages() == ["31", "20"]
    assert len(calls) == 3
    assert (tmp_path / "kept").stat().st_mode & 0o077 == 0


CELLS = ["a", "b,c", 'say "x"', "two\nlines", " blank ", "", "NA", "=1+1", "\u00e9\u4e2d", "a\u0301;b", "1,5", "'", '"']


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.sampled_from(CELLS), st.sampled_from(CELLS)), min_size=4, max_size=40))
def test_what_is_handed_on_of_a_release_is_what_its_file_holds(rows: list[tuple[int, str, str]]) -> None:
    ages, texts, more = zip(*rows, strict=True)
    table = Table.read({"age": ages, "te;xt": texts, "more": more}, quasi_identifiers=["age", "te;xt"], keep="more")
    release, _ = Mondrian(k=2)(table)
    roles: dict[str, Any] = {"quasi_identifiers": ["age", "te;xt"], "keep": "more", "like": table}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        file = Path(folder, "release.csv")
        release.write(file)
        asked = ["age", "te;xt", "more"]
        plain = read_encoded(file, asked=asked)
        patch.setenv(KEPT, str(Path(folder, "kept")))
        release.hand_on(file)
        assert len(list(Path(folder, "kept").iterdir())) == 1
        patch.setattr(reading, "_read", lambda *_: pytest.fail("the file is read again"))
        handed = read_encoded(file, asked=asked)
        assert Table.read(file, **roles).names == ["age", "te;xt", "more"]
    assert list(handed.columns) == list(plain.columns)
    assert (handed.notes, handed.dropped) == (plain.notes, plain.dropped)
    for name, column in plain.columns.items():
        assert (column.texts, column.stored) == (handed.columns[name].texts, handed.columns[name].stored)
        assert column.codes.tolist() == handed.columns[name].codes.tolist()
        assert column.codes.dtype == handed.columns[name].codes.dtype


def test_nothing_is_kept_unless_a_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEPT, raising=False)
    (tmp_path / "people.csv").write_text("age\n30\n")
    Table.read(tmp_path / "people.csv", quasi_identifiers="age")
    assert [one.name for one in tmp_path.iterdir()] == ["people.csv"]


def test_what_is_no_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEPT, str(tmp_path))
    assert kept({"age": np.arange(2)}, (), lambda: 1) == 1
    assert kept(tmp_path / "none.csv", (), lambda: 2) == 2
    assert not any(tmp_path.iterdir())
