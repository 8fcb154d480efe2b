"""A table as a file: CSV or TSV, packed or not, and Parquet."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from unmask.core.errors import UnmaskError
from unmask.data.databases import escape_path, explain_failure
from unmask.data.sql import quote_name, quote_text
from unmask.data.writing import replace_file
from unmask.tables.reading import engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables.column import Column


def check_name(target: Path) -> None:
    """Raise an error for a file name of another format."""
    name = target.name.lower()
    if not name.removesuffix(".gz").endswith((".csv", ".tsv", ".parquet", ".pq")) or name.endswith(".parquet.gz"):
        raise UnmaskError(f"output {target.name!r} has an unknown suffix; expected .csv, .tsv (.gz) or .parquet")


def write_table(columns: Sequence[Column], target: Path, *, force: bool) -> None:
    """Write a table of these columns to a file, see `Table.write`."""
    check_name(target)
    name = target.name.lower()
    if target.exists() and not force:
        raise UnmaskError(
            f"output {target.name!r} exists; choose another name or overwrite it (--force, or force=True)"
        )
    with replace_file(target) as place:
        write_parquet(columns, place) if name.endswith((".parquet", ".pq")) else _text(columns, place)


def _text(columns: Sequence[Column], path: Path) -> None:
    delimiter = "\t" if ".tsv" in path.name.lower() else ","
    ends = [delimiter] * (len(columns) - 1) + ["\n"]
    cells = [
        _quoted(column.levels.labels, delimiter, end, is_only_column=len(columns) == 1)
        for column, end in zip(columns, ends, strict=True)
    ]
    with path.open("wb") as raw:
        packed = gzip.GzipFile("", "wb", 6, raw, mtime=0) if path.name.lower().endswith(".gz") else raw
        with io.TextIOWrapper(packed, encoding="utf-8", newline="") as text:
            csv.writer(text, delimiter=delimiter, lineterminator="\n").writerow([column.name for column in columns])
            for start in range(0, len(columns[0].codes), _ROWS):
                codes = (column.codes[start : start + _ROWS] for column in columns)
                rows = np.stack([texts[code] for texts, code in zip(cells, codes, strict=True)], axis=1)
                text.write("".join(rows.ravel().tolist()))


_ROWS = 1 << 14
"""Rows of a text file that are put together at a time."""


class _Lines(list[str]):
    """Lines that a `csv.writer` writes."""

    write = list.append


def _quoted(labels: Sequence[str], delimiter: str, end: str, *, is_only_column: bool) -> NDArray[np.object_]:
    """Each label as a cell of a text file, quoted where it must be, and what follows it: once, and not for each row.

    is_only_column : there is no other column; an empty cell is then quoted, or its row would be none
    """
    lines, empty_cell = _Lines(), () if is_only_column else ("",)
    csv.writer(lines, delimiter=delimiter, lineterminator="\n").writerows((label, *empty_cell) for label in labels)
    return np.array([line[: -1 - len(empty_cell)] + end for line in lines], dtype=object)


def write_parquet(columns: Sequence[Column], path: Path) -> None:
    """Write a Parquet file of these columns, in the types that they had in the source."""
    types = [stored_type(column) for column in columns]
    names = [column.name for column in columns]
    plain = path.with_suffix(".csv")
    _text(columns, plain)
    with engine() as (connection, _):
        texts = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(len(names)))
        chosen = ", ".join(
            f"cast(c{position} as {stored}) as {quote_name(name)}"
            for position, (name, stored) in enumerate(zip(names, types, strict=True))
        )
        rows = (
            f"read_csv({quote_text(escape_path(plain))}, delim=',', quote='\"', escape='\"', header=true, "
            f"auto_detect=false, columns={{{texts}}}, hive_partitioning=false, max_line_size=16777216)"
        )
        statement = f"copy (select {chosen} from {rows}) to {quote_text(str(path))} (format parquet)"
        try:
            connection.execute(statement)
        except duckdb.Error as error:
            otherwise = f"the Parquet file cannot be written ({type(error).__name__}); check the folder"
            raise explain_failure(error, otherwise) from None


def stored_type(column: Column) -> str:
    """DuckDB's name of the type that holds the cells of a column: as in the source where all of them are exact values,
    else text; exact values from text are whole numbers, doubles, dates or timestamps.
    """
    levels = column.levels
    if not (levels.atomic | levels.gaps).all():
        return "VARCHAR"
    if column.stored or levels.kind != "numeric":
        return column.stored.removesuffix(" WITH TIME ZONE") or "VARCHAR"
    if levels.type != "number":
        return "DATE" if levels.type == "date" else "TIMESTAMP"
    low = levels.low[~levels.gaps]
    return "BIGINT" if bool((low == np.floor(low)).all() and (np.abs(low) < 2**53).all()) else "DOUBLE"
