"""Sheets of Excel workbooks as Parquet: texts, and the type that a whole column has."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import duckdb
import numpy as np

from unmask.engines.sql import literal, quoted
from unmask.errors import FailedError, UnmaskError, nearest

_EXACT = 2**53
_STORED = {
    frozenset({bool}): "BOOLEAN",
    frozenset({float}): "DOUBLE",
    frozenset({int}): "BIGINT",
    frozenset({int, float}): "DOUBLE",
    frozenset({dt.date}): "DATE",
    frozenset({dt.datetime}): "TIMESTAMP",
    frozenset({dt.date, dt.datetime}): "TIMESTAMP",
    frozenset({dt.time}): "TIME",
}
"""What holds the cells of a column, by their types in Python; of other mixtures, text."""


def as_parquet(path: Path, sheet: str | None, folder: str) -> tuple[Path, str]:
    """A sheet of a workbook, the first unless one is named, as a Parquet file in a folder; and what was chosen.

    The first row that is not empty names the columns. Whole numbers have no decimals and dates are ISO, also in a
    column of several types, which is text.
    """
    rows, note = _rows(path, sheet)
    names = [str(cell).strip() for cell in rows[0]]
    columns = [[_plain(row[at]) for row in rows[1:]] for at in range(len(names))]
    filled = [at for at, name in enumerate(names) if name or any(cell is not None for cell in columns[at])]
    _check_names([names[at] for at in filled], path)
    copy = Path(mkdtemp(dir=folder)) / "sheet.parquet"
    texts = {f"c{at}": np.array([*map(_text, columns[at])], dtype=object) for at in filled}
    cells = ", ".join(f"cast(c{at} as {_stored(columns[at])}) as {quoted(names[at])}" for at in filled)
    with duckdb.connect(":memory:", config={"temp_directory": folder}) as connection:
        connection.register("sheet", texts)
        connection.execute(f"copy (select {cells} from sheet) to {literal(str(copy))} (format parquet)")
    return copy, note


def _rows(path: Path, sheet: str | None) -> tuple[list[list[Any]], str]:
    """The rows of a sheet, without those that are empty, and a sentence where others were left out."""
    what = f"file {path.name!r}"
    try:
        calamine: Any = import_module("python_calamine")
    except ImportError:
        raise FailedError(
            f"{what} is a workbook of Excel; install the extra [excel] of unmask, or save it as CSV"
        ) from None
    try:
        with calamine.CalamineWorkbook.from_path(str(path)) as book:
            known = list(book.sheet_names)
            if sheet is not None and sheet not in known:
                raise UnmaskError(f"the sheet is not in {what}; {nearest(sheet, known)}")
            chosen = known[0] if sheet is None else sheet
            rows = [row for row in book.get_sheet_by_name(chosen).to_python() if any(cell != "" for cell in row)]
    except (calamine.CalamineError, calamine.ZipError, calamine.XmlError, LookupError, OSError):
        raise FailedError(
            f"{what} is no workbook of Excel that can be read, or has a password; save it as CSV"
        ) from None
    if len(rows) < 2:
        raise UnmaskError(f"the sheet of {what} has no rows; expected a line of column names and at least one row")
    several = sheet is None and len(known) > 1
    return rows, f"the first of {len(known)} sheets of {what} was read (FILE::SHEET names another)" if several else ""


def _check_names(names: Sequence[str], path: Path) -> None:
    if "" in names:
        raise UnmaskError(
            f"column {names.index('') + 1} of file {path.name!r} has no name; give it one in the first row"
        )
    if len({name.lower() for name in names}) < len(names):
        raise UnmaskError(f"file {path.name!r} has two columns of one name, or that differ in case only; rename one")


def _plain(cell: Any) -> Any:
    """A cell of its own type: a number without decimals is whole, an empty text is missing."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT:
        return int(cell)
    return None if isinstance(cell, str) and not cell.strip() else cell


def _text(cell: Any) -> str | None:
    if isinstance(cell, dt.date | dt.time):
        return cell.isoformat()
    return None if cell is None else str(cell)


def _stored(cells: Sequence[Any]) -> str:
    return _STORED.get(frozenset(type(cell) for cell in cells if cell is not None), "VARCHAR")
