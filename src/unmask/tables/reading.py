"""Reading of sources as dictionary-coded columns: distinct texts of each column, and one code per row.

DuckDB reads the rows, so that no Python object is made per row. A source is a file (CSV, TSV, .gz, Parquet), a data
frame (pandas, polars), an Arrow table, a mapping of names to arrays, a DuckDB relation, or a pair (connection, SQL).
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, cast

import duckdb
import numpy as np

from unmask.core.errors import FailedError, UnmaskError
from unmask.data import source_files
from unmask.data.databases import explain_failure, open_database
from unmask.data.frames import columns_of
from unmask.data.resources import temporary_folder
from unmask.data.source_files import TextOptions, prepare_file
from unmask.tables.coding import Encoded, encode, encode_array

_LISTED = 40
"""Largest number of column names in a message."""


@dataclass(frozen=True, eq=False)
class Source:
    """Columns of a source by name, in its order, and notes on what was guessed.

    dropped : columns that were not requested, without those whose values are all different
    """

    columns: Mapping[str, Encoded]
    notes: tuple[str, ...] = ()
    dropped: Mapping[str, Encoded] = field(default_factory=dict)


def read_encoded(
    source: object,
    *,
    names: Sequence[str] | None = None,
    dropped: Sequence[str] = (),
    delimiter: str | None = None,
    header: Sequence[str] | bool | None = None,
    encoding: str | None = None,
) -> Source:
    """Read columns of a source in its column and row order.

    names : columns that must exist, which is checked before any row is read; None for all columns
    dropped : columns that must exist, and are only searched for values that rows share
    delimiter : delimiter of a text file; None guesses it from the first lines
    header : column names of a text file whose first line is a row, or whether line 1 names the columns. None detects
        it, and asks if it is ambiguous
    encoding : encoding of a text file that is not UTF-8; None guesses it, with a note

    >>> columns = read_encoded({"age": [30, 20, 30], "zip": [1, 2, 3]}, names=["age"]).columns
    >>> list(columns)
    ['age']
    >>> columns["age"].texts, columns["age"].codes.tolist()
    (('20', '30'), [1, 0, 1])
    """
    as_text, wanted = TextOptions(encoding, delimiter, header), (*(names or ()), *dropped)
    notes: tuple[str, ...] = ()

    def is_read(name: str) -> bool:
        return names is None or name in wanted

    if isinstance(source, Mapping):
        encoded = _from_arrays(source, wanted, is_read)
    elif isinstance(source, tuple) and len(source) == 2 and not hasattr(source[0], "sql"):
        encoded = _from_arrays(_fetch(*source), wanted, is_read)
    else:
        with engine() as (connection, folder):
            available, relation, notes = _relation(connection, folder, source, wanted, as_text)
            chosen = [name for name in available if is_read(name)]
            encoded = encode(connection, relation, available, chosen, once=dropped)
    columns = {name: column for name, column in encoded.items() if name not in dropped}
    if not columns or not next(iter(columns.values())).codes.size:
        raise UnmaskError(f"{_described(source)} has no rows; expected a header and at least one row")
    return Source(columns, notes, {name: column for name, column in encoded.items() if name in dropped})


AS_TEXT = ("delimiter", "header", "encoding")
"""Arguments of `Table.read` for text files."""


def column_names(source: object, *, role_columns: Sequence[str] = (), **as_text: Any) -> list[str]:
    """Return the column names of a file or a data frame, as `read_encoded` does, without rows.

    role_columns : columns with a role; line 1 is a header if it contains one of them
    as_text      : `delimiter`, `header`, `encoding`
    """
    if not isinstance(source, str | PathLike):
        return list(columns_of(source))
    options, description = TextOptions(**as_text), _described(source)
    with temporary_folder(None) as folder:
        file = prepare_file(Path(source), folder, encoding=options.encoding)
        if file.kind != "parquet":  # needs no database
            return _text_file(file.path, (), options, description, role_columns).names
        with open_database(folder) as connection:
            return _parquet(connection, file.path, (), description).names


def first_rows(path: str | PathLike[str], n: int, **as_text: Any) -> Source:
    """Read the first n rows of a file, with every column as text; as_text : see `column_names`"""
    with engine() as (connection, folder):
        names, relation, notes = _relation(connection, folder, path, (), TextOptions(**as_text))
        rows = f"(select * from {relation} limit {int(n)})"
        return Source(encode(connection, rows, names, names), notes)


@contextmanager
def engine() -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """Open a private in-memory database and its folder for spilled data. Both are removed on exit.

    >>> with engine() as (connection, _):
    ...     connection.execute("select 1 + 1").fetchall()
    [(2,)]
    """
    with temporary_folder(None) as folder, open_database(folder) as connection:
        try:
            yield connection, folder
        except duckdb.Error as error:
            raise explain_failure(error, _reason(error)) from None  # DuckDB's message quotes the row


def check_columns(names: Sequence[str], wanted: Sequence[str], *, place: str, hint: str = "") -> None:
    """Raise UnmaskError for a repeated or an unknown column name; suggest the nearest known one.

    hint : text before the suggestion

    >>> check_columns(["age", "zip"], ["agee"], place="the table")
    Traceback (most recent call last):
    unmask.core.errors.UnmaskError: column 'agee' is not in the table; did you mean 'age'? Its columns are age, zip
    """
    source_files.check_distinct_names(names, place)
    unknown = next((name for name in wanted if name not in names), None)
    if unknown is None:
        return
    near = difflib.get_close_matches(unknown, names, n=1) or [n for n in names if n.lower() == unknown.lower()]
    guess = f"did you mean {near[0]!r}? Its" if near else "its"
    column_list = ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
    raise UnmaskError(f"column {unknown!r} is not in {place}; {hint}{guess} columns are {column_list}")


# --- sources ------------------------------------------------------------------------------------------------------


class _Rows(NamedTuple):
    """Column names of a source, the SQL relation of its rows, and notes on what was guessed."""

    names: list[str]
    relation: str
    notes: tuple[str, ...] = ()


def _relation(
    connection: duckdb.DuckDBPyConnection,
    folder: str,
    source: object,
    wanted: Sequence[str],
    as_text: TextOptions,
) -> _Rows:
    """Return the rows of a source; column names are checked before rows are read."""
    if isinstance(source, str | PathLike):
        path, description = Path(os.fspath(source)), _described(source)
        file = prepare_file(path, folder, encoding=as_text.encoding)
        notes = (file.note,) if file.note else ()
        if file.kind == "parquet":
            return _parquet(connection, file.path, wanted, description)._replace(notes=notes)
        rows = _text_file(file.path, wanted, as_text, description)
        return rows._replace(notes=(*notes, *rows.notes))
    if isinstance(source, tuple) and len(source) != 2:
        raise UnmaskError(f"a tuple of {len(source)} cannot be read as a table; expected (connection, SQL)")
    if isinstance(source, tuple | duckdb.DuckDBPyRelation):
        path = Path(folder) / "query.parquet"
        try:
            relation = source[0].sql(source[1]) if isinstance(source, tuple) else source
            if relation is None:
                raise UnmaskError("the SQL of the source returns no rows; expected a query")
            cast(Any, relation).write_parquet(str(path))
        except duckdb.Error as error:
            raise FailedError(f"the SQL of the source fails ({type(error).__name__}); run it in DuckDB") from None
        return _parquet(connection, path, wanted, _described(source))
    names = getattr(source, "column_names", None) or getattr(source, "columns", None)
    if names is None:
        raise UnmaskError(
            f"a {type(source).__name__} cannot be read as a table; expected a path, a data frame, an Arrow table, "
            "a mapping of arrays, a DuckDB relation or a pair (connection, SQL)"
        )
    names = [str(name) for name in names]
    check_columns(names, wanted, place=_described(source))
    if hasattr(source, "iloc"):
        source = cast("Any", source).copy()  # DuckDB cannot scan a pandas frame with reversed rows
    connection.register("source_frame", source)
    return _Rows(names, "source_frame")


def _parquet(connection: duckdb.DuckDBPyConnection, path: Path, wanted: Sequence[str], description: str) -> _Rows:
    relation = source_files.scan_parquet([path])
    try:
        described = connection.execute(f"describe select * from {relation}").fetchall()
    except duckdb.Error as error:
        raise explain_failure(error, f"{description} is not a readable Parquet file; it may be truncated") from None
    names = [str(row[0]) for row in described]
    check_columns(names, wanted, place=description)
    return _Rows(names, relation)


def _text_file(
    path: Path, wanted: Sequence[str], as_text: TextOptions, description: str, optional: Sequence[str] = ()
) -> _Rows:
    """Return the rows of a text file; optional : columns that may exist"""
    delimiter, header = as_text.delimiter, as_text.header
    given_names = header if isinstance(header, Sequence) else None
    has_header = header if isinstance(header, bool | None) else False
    head, hint = source_files.read_head(path, delimiter, header=has_header, names=(*wanted, *optional)), ""
    if len(head.names) == 1 and (guess := source_files.read_head(path).delimiter) != head.delimiter:
        hint = f"only one column was found with delimiter {head.delimiter!r}, {guess!r} seems right; "
    if given_names is not None and len(given_names) != len(head.names):
        raise UnmaskError(
            f"{description} has {len(head.names)} columns, but `header` has {len(given_names)} names; {hint}"
        )
    hint += "" if head.header or header is not None else "line 1 is taken for a row (--header reads it as names); "
    names = list(head.names) if given_names is None else [str(name) for name in given_names]
    check_columns(names, wanted, place=description, hint=hint)
    note = f"{description} has no line of column names: line 1 is a row (--header changes that)"
    return _Rows(names, source_files.scan_text([path], head), () if head.header or header is not None else (note,))


def _fetch(connection: Any, sql: str) -> dict[str, list[object]]:
    """Return the rows of a query over a database connection of Python's DB-API, by column."""
    if not hasattr(connection, "cursor") or not isinstance(sql, str):
        raise UnmaskError("a pair as source must be (database connection, SQL text)")
    cursor = connection.cursor()
    cursor.execute(sql)
    names = [entry[0] for entry in cursor.description or ()]
    check_columns(names, (), place="the query")
    columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
    cursor.close()
    return {name: list(column) for name, column in zip(names, columns, strict=True)}


def _from_arrays(
    source: Mapping[Any, Any], wanted: Sequence[str], is_read: Callable[[str], bool]
) -> dict[str, Encoded]:
    arrays = {str(name): _as_array(values) for name, values in source.items() if is_read(str(name))}
    check_columns([str(name) for name in source], wanted, place=_described(source))
    lengths = {name: array.shape for name, array in arrays.items()}
    if any(len(shape) != 1 for shape in lengths.values()) or len(set(lengths.values())) > 1:
        raise UnmaskError(f"the arrays of the columns have shapes {lengths}; expected one dimension and equal lengths")
    return {name: encode_array(array) for name, array in arrays.items()}


def _as_array(values: Any) -> np.ma.MaskedArray[Any, Any]:
    """Return a column as a masked array. NumPy's own search for masks in a list takes longer than reading."""
    is_plain = isinstance(values, list) and not any(isinstance(value, np.ma.MaskedArray) for value in values)
    return np.ma.asarray(np.asarray(values) if is_plain else values)


# --- wording ------------------------------------------------------------------------------------------------------


def _described(source: object) -> str:
    if isinstance(source, str | PathLike):
        return f"file {Path(os.fspath(source)).name!r}"
    return "the query" if isinstance(source, tuple | duckdb.DuckDBPyRelation) else "the table"


def _reason(error: duckdb.Error) -> str:
    line = re.search(r"CSV Error on Line: (\d+)", str(error))
    location = f" at line {line[1]}" if line else ""
    return source_files.explain_csv_error(str(error)) or (
        f"the table cannot be read{location} ({type(error).__name__}); check that it is complete and well formed"
    )
