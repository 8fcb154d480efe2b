"""Columns of a file are read once by commands in a row, as long as the file is as it was."""

import os
from pathlib import Path

import numpy as np
import pytest

from unmask.kept import KEPT, kept
from unmask.tables import Table, reading


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
