"""Convert sheets of Excel workbooks to Parquet, with a type for each column, or texts.

A workbook of a kilobyte can expand to a terabyte. Therefore its cells are counted in a stream before a native reader
opens it. The reader runs in a child process with a memory limit, so a failure ends only the child.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Any

import duckdb
import numpy as np

from unmask.core.errors import FailedError, UnmaskError, nearest
from unmask.data.sql import quote_name, quote_text
from unmask.extras import describe_installation

MAX_UNPACKED_BYTES, MAX_MEMORY_BYTES, MAX_SECONDS = 4 << 30, 2 << 30, 120
"""Limits of a workbook: decompressed size, and memory and processor time of the child process that reads it."""

MAX_CELLS, SPARSE_CELLS, MIN_FILLED = 200_000_000, 1_000_000, 1 / 200
"""Largest number of cells in the range of a sheet; above SPARSE_CELLS, at least this share must be filled."""

_CELL = re.compile(rb"""<(?:\w+:)?c\b[^<>]*?\br=["']([A-Z]{1,3})([0-9]{1,7})["']""")
_ANY_CELL = re.compile(rb"<(?:\w+:)?c[\s>/]")
_ROW = re.compile(rb"""<(?:\w+:)?row\b[^<>]*?\br=["']([0-9]{1,7})["']""")
_CHUNK = 1 << 20

_CHILD = f"""
import json, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, ({MAX_MEMORY_BYTES}, {MAX_MEMORY_BYTES}))
    resource.setrlimit(resource.RLIMIT_CPU, ({MAX_SECONDS}, {MAX_SECONDS}))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except ImportError:
    pass
from python_calamine import CalamineWorkbook, CalamineError, XmlError, ZipError
_, path, sheet, output = sys.argv
try:
    book = CalamineWorkbook.from_path(path)
    names = list(book.sheet_names)
    rows = book.get_sheet_by_name(sheet or names[0]).to_python() if not sheet or sheet in names else []
except (CalamineError, XmlError, ZipError, LookupError, OSError):
    sys.exit(3)
filled = [row for row in rows if any(cell != "" for cell in row)]
n_cells = sum(cell != "" for row in filled for cell in row)
if n_cells * 200 < len(rows) * len(rows[0] if rows else ()) > {SPARSE_CELLS}:
    sys.exit(4)
with open(output, "w", encoding="utf-8") as out:
    for row in (names, *filled):
        print(json.dumps(row, default=lambda cell: {{type(cell).__name__: str(cell)}}), file=out)
"""
"""Program that writes the sheet names and the rows of a sheet as JSON lines. Exit 3: unreadable, 4: sparse and large"""

_EXACT = 2**53
_SQL_TYPES = {
    frozenset({bool}): "BOOLEAN",
    frozenset({float}): "DOUBLE",
    frozenset({int}): "BIGINT",
    frozenset({int, float}): "DOUBLE",
    frozenset({dt.date}): "DATE",
    frozenset({dt.datetime}): "TIMESTAMP",
    frozenset({dt.date, dt.datetime}): "TIMESTAMP",
    frozenset({dt.time}): "TIME",
}
"""SQL type of a column by the Python types of its cells; other mixtures are text."""


def convert_sheet(path: Path, sheet: str | None, folder: str) -> tuple[Path, str]:
    """Convert a sheet of a workbook (default: the first) to a Parquet file in a folder; return the file and a note.

    The first row that is not empty names the columns. Integers have no decimals, and dates are in ISO format, also in a
    column of mixed types, which becomes text.
    """
    rows, note = _rows(path, sheet, folder)
    names = [str(cell).strip() for cell in rows[0]]
    columns = [[_normalize(row[i]) for row in rows[1:]] for i in range(len(names))]
    filled = [i for i, name in enumerate(names) if name or any(cell is not None for cell in columns[i])]
    _check_names([names[i] for i in filled], path)
    copy = Path(mkdtemp(dir=folder)) / "sheet.parquet"
    texts = {f"c{i}": np.array([*map(_format, columns[i])], dtype=object) for i in filled}
    cells = ", ".join(f"cast(c{i} as {_find_type(columns[i])}) as {quote_name(names[i])}" for i in filled)
    with duckdb.connect(":memory:", config={"temp_directory": folder}) as connection:
        connection.register("sheet", texts)
        connection.execute(f"copy (select {cells} from sheet) to {quote_text(str(copy))} (format parquet)")
    return copy, note


def _rows(path: Path, sheet: str | None, folder: str) -> tuple[list[list[Any]], str]:
    """Return the nonempty rows of a sheet, and a note if other sheets were ignored."""
    file = f"file {path.name!r}"
    if find_spec("python_calamine") is None:
        raise FailedError(f"{file} is an Excel workbook; {describe_installation('excel')}, or save it as CSV")
    _refuse_span(path)
    sheets, *rows = _read_in_child(path, sheet, folder)
    if sheet is not None and sheet not in sheets:
        raise UnmaskError(f"the sheet is not in {file}; {nearest(sheet, sheets)}")
    if len(rows) < 2:
        raise UnmaskError(f"the sheet of {file} has no rows; expected a line of column names and at least one row")
    if sheet is None and len(sheets) > 1:
        return rows, f"the first of {len(sheets)} sheets of {file} was read (use FILE::SHEET for another)"
    return rows, ""


def _read_in_child(path: Path, sheet: str | None, folder: str) -> Iterator[list[Any]]:
    """Yield the sheet names, then the nonempty rows."""
    output = Path(mkdtemp(dir=folder)) / "rows.json"
    command = [sys.executable, "-I", "-c", _CHILD, str(path.absolute()), sheet or "", str(output)]
    try:
        code = subprocess.run(command, capture_output=True, check=False, timeout=2 * MAX_SECONDS).returncode
    except subprocess.TimeoutExpired:
        code = -1
    if code == 3:
        raise FailedError(f"file {path.name!r} is not a readable Excel workbook, or has a password; save it as CSV")
    if code == 4:
        raise _too_wide(path)
    if code:
        raise FailedError(
            f"file {path.name!r} needs more than {MAX_MEMORY_BYTES >> 30} GiB of memory or {MAX_SECONDS} seconds, or "
            "is damaged; save the sheet as CSV"
        )
    with output.open(encoding="utf-8") as lines:
        yield from (json.loads(line, object_hook=_parse_cell) for line in lines)


def _parse_cell(tagged: dict[str, str]) -> Any:
    """Return a date, a time, a date with time, or the text of another type."""
    ((name, text),) = tagged.items()
    kind: Any = {"date": dt.date, "time": dt.time, "datetime": dt.datetime}.get(name)
    return text if kind is None else kind.fromisoformat(text)


def _refuse_span(path: Path) -> None:
    """Raise for a workbook that expands too much, or with a large, nearly empty sheet."""
    try:
        if not zipfile.is_zipfile(path):
            return
        with zipfile.ZipFile(path) as book:
            parts = [part for part in book.infolist() if part.filename.endswith(".xml")]
            if sum(part.file_size for part in book.infolist()) > MAX_UNPACKED_BYTES:
                raise UnmaskError(
                    f"file {path.name!r} unpacks to more than {MAX_UNPACKED_BYTES >> 30} GiB; save the sheet as CSV"
                )
            for part in parts:
                with book.open(part) as stream:
                    n_rows, n_columns, n_cells = _span(stream)
                spanned = n_rows * n_columns
                if spanned > MAX_CELLS or (spanned > SPARSE_CELLS and n_cells < MIN_FILLED * spanned):
                    raise _too_wide(path, n_rows, n_columns, n_cells)
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error):
        raise FailedError(
            f"file {path.name!r} is not a readable Excel workbook, or has a password; save it as CSV"
        ) from None


def _too_wide(path: Path, *span: int) -> UnmaskError:
    size = f" of {span[0]:,} rows and {span[1]:,} columns with {span[2]:,} cells" if span else ""
    return UnmaskError(f"file {path.name!r} has a nearly empty sheet{size}; delete the stray cells, or save it as CSV")


def _span(stream: IO[bytes]) -> tuple[int, int, int]:
    """Return the last row and column in a sheet's XML, and the number of cells; the declared dimension is ignored."""
    last_row = last_column = n_cells = 0
    remainder = b""
    while chunk := stream.read(_CHUNK):
        data = remainder + chunk
        end = data.rfind(b"<")
        data, remainder = (data[:end], data[end:][-_CHUNK:]) if end > 0 else (data[:-64], data[-64:])
        cells = set(_CELL.findall(data))
        n_unnamed = 0 if cells else len(_ANY_CELL.findall(data))
        n_cells += len(cells) + n_unnamed
        rows = {row for _, row in cells} | set(_ROW.findall(data) if n_unnamed else ())
        last_row = max([last_row, *map(int, rows)])
        last_column = max([last_column, *map(_column_number, {letters for letters, _ in cells})])
    return last_row, last_column, n_cells


def _column_number(letters: bytes) -> int:
    """Return the number of a column from 1.

    >>> _column_number(b"A"), _column_number(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _check_names(names: Sequence[str], path: Path) -> None:
    if "" in names:
        raise UnmaskError(
            f"column {names.index('') + 1} of file {path.name!r} has no name; give it one in the first row"
        )
    if len({name.lower() for name in names}) < len(names):
        raise UnmaskError(f"file {path.name!r} has two columns with the same name, ignoring case; rename one")


def _normalize(cell: Any) -> Any:
    """Return a number without decimals as an integer, an empty text as None, and other cells unchanged."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT:
        return int(cell)
    return None if isinstance(cell, str) and not cell.strip() else cell


def _format(cell: Any) -> str | None:
    if isinstance(cell, dt.date | dt.time):
        return cell.isoformat()
    return None if cell is None else str(cell)


def _find_type(cells: Sequence[Any]) -> str:
    return _SQL_TYPES.get(frozenset(type(cell) for cell in cells if cell is not None), "VARCHAR")
