"""Writing of tables to CSV, TSV (.gz), Parquet and Excel files."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from unmask.core.errors import UnmaskError
from unmask.data.databases import escape_path, explain_failure
from unmask.data.sql import quote_name, quote_text
from unmask.data.writing import replace_file
from unmask.extras import import_extra
from unmask.tables.reading import engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables.column import Column


MAX_ROWS, MAX_CHARACTERS, MAX_EXACT = 1_048_576, 32_767, 10**15
"""Limits of a worksheet: rows, characters of a cell, and the first whole number that a spreadsheet shows inexactly."""


NUMBER_TYPES = r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*"
"""DuckDB's names of numeric types."""


def check_name(target: Path) -> None:
    """Raise UnmaskError for an unknown suffix, or for an Excel workbook if its library is not installed."""
    name = target.name.lower()
    if not re.search(r"\.([ct]sv(\.gz)?|parquet|pq|xlsx)$", name):
        raise UnmaskError(f"output {target.name!r} has an unknown suffix; expected .csv, .tsv (.gz), .parquet or .xlsx")
    if name.endswith(".xlsx"):
        import_extra("xlsxwriter", "excel")


def write_table(columns: Sequence[Column], target: Path, *, force: bool) -> None:
    """Write a table with these columns to a file, see `Table.write`."""
    check_name(target)
    name = target.name.lower()
    if target.exists() and not force:
        raise UnmaskError(f"output {target.name!r} exists; choose another name, or replace it with force=True")
    write = _write_workbook if name.endswith(".xlsx") else _write_text
    with replace_file(target) as place:
        (write_parquet if name.endswith((".parquet", ".pq")) else write)(columns, place)


def _write_workbook(columns: Sequence[Column], path: Path) -> None:
    """Write an Excel workbook with one sheet. Cells that are not numbers are text, so that no formula runs."""
    n_rows = len(columns[0].codes)
    if n_rows >= MAX_ROWS:
        raise UnmaskError(f"the table has {n_rows:,} rows and a sheet holds {MAX_ROWS - 1:,}; write .csv or .parquet")
    if any(len(label) > MAX_CHARACTERS for column in columns for label in column.levels.labels):
        raise UnmaskError(f"a cell has more than {MAX_CHARACTERS:,} characters, the most of a sheet; write .csv")
    book = import_extra("xlsxwriter", "excel").Workbook(path, {"constant_memory": True})
    book.set_properties({"created": dt.datetime(2000, 1, 1)})  # equal tables give equal files
    sheet = book.add_worksheet("release")
    sheet.freeze_panes(1, 0)
    values = [_list_sheet_values(column) for column in columns]
    for position, column in enumerate(columns):
        sheet.write_string(0, position, column.name, book.add_format({"bold": True}))
    for row, codes in enumerate(zip(*(column.codes.tolist() for column in columns), strict=True), start=1):
        for position, code in enumerate(codes):
            value = values[position][code]
            if value != "":
                (sheet.write_string if isinstance(value, str) else sheet.write_number)(row, position, value)
    book.close()


def _list_sheet_values(column: Column) -> list[str | float]:
    """Return the cell of each label: a number if the column contains exact numbers only, otherwise text."""
    labels: list[str | float] = list(column.levels.labels)
    if not re.fullmatch(NUMBER_TYPES, stored_type(column)):
        return labels
    numbers = [float(label) if label else "" for label in labels]
    is_exact = all(number == "" or abs(float(number)) < MAX_EXACT for number in numbers)
    return numbers if is_exact else labels


def _write_text(columns: Sequence[Column], path: Path) -> None:
    delimiter = "\t" if ".tsv" in path.name.lower() else ","
    ends = [delimiter] * (len(columns) - 1) + ["\n"]
    cells = [
        _quote_cells(column.levels.labels, delimiter, end, is_only_column=len(columns) == 1)
        for column, end in zip(columns, ends, strict=True)
    ]
    with path.open("wb") as raw:
        packed = gzip.GzipFile("", "wb", 6, raw, mtime=0) if path.name.lower().endswith(".gz") else raw
        with io.TextIOWrapper(packed, encoding="utf-8", newline="") as text:
            csv.writer(text, delimiter=delimiter, lineterminator="\n").writerow([column.name for column in columns])
            for start in range(0, len(columns[0].codes), _ROWS_PER_BLOCK):
                codes = (column.codes[start : start + _ROWS_PER_BLOCK] for column in columns)
                rows = np.stack([texts[code] for texts, code in zip(cells, codes, strict=True)], axis=1)
                text.write("".join(rows.ravel().tolist()))


_ROWS_PER_BLOCK = 1 << 14
"""Rows of a text file that are joined at a time."""


class _Lines(list[str]):
    """List of lines to which a `csv.writer` writes."""

    write = list.append


def _quote_cells(labels: Sequence[str], delimiter: str, end: str, *, is_only_column: bool) -> NDArray[np.object_]:
    """Return each label as a cell of a text file, with quotes if needed and its separator.

    end            : separator or line end after the cell
    is_only_column : there is no other column; an empty cell is then quoted, because an empty line is not a row
    """
    lines, empty_cell = _Lines(), () if is_only_column else ("",)
    csv.writer(lines, delimiter=delimiter, lineterminator="\n").writerows((label, *empty_cell) for label in labels)
    return np.array([line[: -1 - len(empty_cell)] + end for line in lines], dtype=object)


def write_parquet(columns: Sequence[Column], path: Path) -> None:
    """Write a Parquet file of these columns, with the types of the source."""
    types = [stored_type(column) for column in columns]
    names = [column.name for column in columns]
    text_path = path.with_suffix(".csv")
    _write_text(columns, text_path)
    with engine() as (connection, _):
        texts = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(len(names)))
        chosen = ", ".join(
            f"cast(c{position} as {stored}) as {quote_name(name)}"
            for position, (name, stored) in enumerate(zip(names, types, strict=True))
        )
        rows = (
            f"read_csv({quote_text(escape_path(text_path))}, delim=',', quote='\"', escape='\"', header=true, "
            f"auto_detect=false, columns={{{texts}}}, hive_partitioning=false, max_line_size=16777216)"
        )
        statement = f"copy (select {chosen} from {rows}) to {quote_text(str(path))} (format parquet)"
        try:
            connection.execute(statement)
        except duckdb.Error as error:
            otherwise = f"the Parquet file cannot be written ({type(error).__name__}); check the folder"
            raise explain_failure(error, otherwise) from None


def stored_type(column: Column) -> str:
    """Return DuckDB's name of the type of a column's cells.

    If all cells are exact values, this is the type of the source. For a source of text, exact values become whole
    numbers, doubles, dates or timestamps. Other cells are text.
    """
    levels = column.levels
    if not (levels.atomic | levels.is_missing).all():
        return "VARCHAR"
    if column.stored or levels.kind != "numeric":
        return column.stored.removesuffix(" WITH TIME ZONE") or "VARCHAR"
    if levels.type != "number":
        return "DATE" if levels.type == "date" else "TIMESTAMP"
    low = levels.low[~levels.is_missing]
    return "BIGINT" if bool((low == np.floor(low)).all() and (np.abs(low) < 2**53).all()) else "DOUBLE"
