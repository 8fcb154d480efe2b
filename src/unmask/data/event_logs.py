"""Read cells of text files, workbooks and Parquet files with line numbers, and logs with named columns."""

from __future__ import annotations

import csv
import logging
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import FailedError, UnmaskError
from unmask.data.databases import explain_failure, open_database
from unmask.data.encodings import open_text
from unmask.data.resources import temporary_folder
from unmask.data.source_files import prepare_file, read_head, scan_parquet

_log = logging.getLogger(__name__)

Lines = Sequence[tuple[int, list[str]]]
"""Line number in the file, and cells, of each nonempty line."""

ALIASES: Mapping[str, tuple[str, ...]] = {
    "user": ("user_id", "userid"),
    "time": ("timestamp", "datetime"),
    "place": ("location", "venue"),
    "lat": ("latitude",),
    "lon": ("lng", "longitude"),
}
"""Accepted aliases of the columns of a log."""


class Log(NamedTuple):
    """Columns of a log by name, and the line numbers in the file."""

    path: Path
    numbers: tuple[int, ...]
    columns: dict[str, list[str]]

    def codes(self, name: str) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Return the distinct values of a column in ascending order, and the index of each line's value."""
        values, code = np.unique(self.columns[name], return_inverse=True)
        return tuple(values.tolist()), code.astype(np.int64)

    def times(self, name: str) -> NDArray[np.float64]:
        """Return a column of numbers, or of ISO dates converted to seconds."""
        parse = _parse_date if _parse_number(self.columns[name][0]) is None else _parse_number
        times = [parse(value) for value in self.columns[name]]
        for number, time in zip(self.numbers, times, strict=True):
            if time is None:
                raise UnmaskError(
                    f"line {number} of {self.path.name} has a {name} that is neither a number nor an ISO date like the "
                    "lines before it; write all as numbers, or all as dates such as 2024-05-01T08:30"
                )
        return np.array(times, dtype=np.float64)


def parse_log(path: Path, lines: Lines, required: Sequence[str], optional: Sequence[str] = ()) -> Log:
    """Return the columns of a log. Its first line has the names or aliases, in any order and case.

    Cells of required columns must not be empty. Other columns are ignored.
    """
    form = ",".join(required)
    head = standardize_names(lines[0][1]) if lines else []
    missing = [name for name in required if name not in head]
    if missing:
        raise UnmaskError(f"{path.name} has no column {' and '.join(missing)}; expected a first line {form}")
    if len(set(head)) < len(head):
        raise UnmaskError(f"a column of {path.name} occurs twice; expected a first line {form}")
    if len(lines) < 2:
        raise UnmaskError(f"{path.name} has no line below its column names; expected lines of {form}")
    check_widths(path, lines)
    names = [*required, *(name for name in optional if name in head)]
    cells = {name: [line[head.index(name)].strip() for _, line in lines[1:]] for name in names}
    numbers = tuple(number for number, _ in lines[1:])
    for name in required:
        if "" in cells[name]:
            number = numbers[cells[name].index("")]
            raise UnmaskError(f"line {number} of {path.name} has no {name}; fill it in, or leave the line out")
    return Log(path, numbers, cells)


def standardize_names(head: Sequence[str]) -> list[str]:
    """Return the column names of a log in lower case; an alias is replaced if its standard name is missing.

    >>> standardize_names(["User", "timestamp", "venue", "place"])
    ['user', 'time', 'venue', 'place']
    """
    names = [cell.strip().casefold() for cell in head]
    for standard, aliases in ALIASES.items():
        alias = next((alias for alias in aliases if alias in names), None)
        if standard not in names and alias is not None:
            names[names.index(alias)] = standard
    return names


def check_widths(path: Path, lines: Lines) -> None:
    """Raise for a line whose number of cells differs from the first line."""
    width = len(lines[0][1])
    for number, line in lines:
        if len(line) != width:
            raise UnmaskError(
                f"line {number} of {path.name} has {len(line)} cells, expected {width} as in its first line; quote "
                "cells that contain the delimiter"
            )


def read_lines(path: Path) -> Lines:
    """Return the lines of a text file, a workbook or a Parquet file as texts, with line numbers."""
    with temporary_folder(None) as folder:
        file = prepare_file(path, folder)
        if file.note:
            _log.warning("%s", file.note)
        if file.kind == "parquet":
            return list(enumerate(_read_parquet(file.path), start=1))
        if not file.path.stat().st_size:
            return []
        delimiter = read_head(file.path).delimiter
        try:
            with open_text(file.path) as text:
                reader = csv.reader(text, delimiter=delimiter)
                numbered = [(reader.line_num, line) for line in reader if any(cell.strip() for cell in line)]
        except csv.Error:
            raise FailedError(f"file {path.name!r} is not CSV, or has a cell without an end; check the file") from None
    if delimiter == ";":  # numbers may have decimal commas
        return [(number, [line[0], *(cell.replace(",", ".") for cell in line[1:])]) for number, line in numbered]
    return numbered


def is_number(cell: str) -> bool:
    """Return True if a cell is a number.

    >>> is_number("0.5"), is_number("home")
    (True, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _read_parquet(path: Path) -> list[list[str]]:
    """Return the names of the columns and the cells of a Parquet file, as texts."""
    with open_database() as connection:
        try:
            result = connection.execute(f"select * from {scan_parquet([path])}")
            names = [column[0] for column in result.description or ()]
            return [names, *(["" if cell is None else str(cell) for cell in row] for row in result.fetchall())]
        except duckdb.Error as error:  # its message may quote a cell
            raise explain_failure(
                error, f"file {path.name!r} is not a readable Parquet file; it may be truncated"
            ) from None


def _parse_number(text: str) -> float | None:
    return float(text) if is_number(text) and math.isfinite(float(text)) else None


def _parse_date(text: str) -> float | None:
    """Return the seconds of an ISO date since 1970; a date without a time zone is in UTC."""
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
