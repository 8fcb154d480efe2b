"""Columns of a file or a mapping as arrays."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import FailedError, UnmaskError
from unmask.data.resources import temporary_folder
from unmask.data.source_files import (
    check_distinct_names,
    explain_csv_error,
    prepare_file,
    read_head,
    scan_parquet,
    scan_text,
)
from unmask.data.sql import clean
from unmask.databases import failure
from unmask.files import engine

_log = logging.getLogger(__name__)


def read_columns(
    source: str | PathLike[str] | Mapping[str, ArrayLike],
    names: Sequence[str],
    *,
    header: Sequence[str] = (),
    encoding: str | None = None,
) -> dict[str, NDArray[Any]]:
    """The columns of these names, of equal length; at least one name.

    Cells of a text file are texts, trimmed, None where empty; those of a Parquet file or a mapping keep their type.
    header : the names of all columns of a text file that has none in its first line
    encoding : of a text file that is not UTF-8; guessed unless given, which is logged as a warning

    >>> read_columns({"a": [1, 2], "b": ["x", "y"]}, ["b"])
    {'b': array(['x', 'y'], dtype='<U1')}
    """
    if not names:
        raise UnmaskError("0 columns are asked for, expected an item, a pseudonym or a feature")
    if isinstance(source, Mapping):
        return _from_mapping(source, names)
    path = Path(os.fspath(source))
    with engine() as connection, temporary_folder(None) as folder:
        relation, known = _relation(connection, path, folder, header, encoding)
        _check_known(names, list(known), f"file {path.name!r}")
        chosen = ", ".join(f"{known[name]} as n{at}" for at, name in enumerate(names))
        try:
            arrays = list(connection.execute(f"select {chosen} from {relation}").fetchnumpy().values())
        except duckdb.Error as error:
            raise _unreadable(path, error) from None
    if not len(arrays[0]):
        raise UnmaskError(f"file {path.name!r} has no rows, expected at least 1")
    return {name: _plain(array) for name, array in zip(names, arrays, strict=True)}


def _relation(
    connection: duckdb.DuckDBPyConnection, path: Path, folder: str, header: Sequence[str], encoding: str | None
) -> tuple[str, dict[str, str]]:
    """The SQL of the rows of a file, and of the cells of each of its columns by trimmed name."""
    file = prepare_file(path, folder, encoding=encoding)
    if file.note:
        _log.warning("%s", file.note)
    if file.form == "parquet":
        relation = scan_parquet([file.path])
        try:
            described = connection.execute(f"describe from {relation}").fetchall()
        except duckdb.Error as error:
            raise _unreadable(path, error) from None
        names = [str(row[0]).strip() for row in described]
        cells = [clean(f"c{at}", "text") if row[1] == "VARCHAR" else f"c{at}" for at, row in enumerate(described)]
    else:
        head = read_head(file.path)
        relation = scan_text([file.path], replace(head, names=tuple(header or head.names)), header=not header)
        names = list(header or head.names)
        cells = [clean(f"c{at}", "untyped") for at in range(len(names))]
    check_distinct_names(names, f"file {path.name!r}")
    places = ", ".join(f"c{at}" for at in range(len(names)))
    return f"{relation} as source({places})", dict(zip(names, cells, strict=True))


def _unreadable(path: Path, error: duckdb.Error) -> FailedError:
    """What is wrong with a file; the engine's own message quotes the row."""
    wrong = explain_csv_error(str(error)) or "expected CSV or TSV (.gz) with a header, or Parquet"
    return failure(error, f"file {path.name!r} cannot be read: {wrong}")


def _from_mapping(source: Mapping[str, ArrayLike], names: Sequence[str]) -> dict[str, NDArray[Any]]:
    _check_known(names, [str(name) for name in source], "the mapping")
    columns = {name: _plain(np.ma.asarray(source[name])) for name in names}
    shapes = {column.shape for column in columns.values()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        raise UnmaskError(f"the columns have shapes {sorted(shapes)}, expected one dimension and equal lengths")
    if shapes == {(0,)}:
        raise UnmaskError("the mapping has no rows, expected at least 1")
    return columns


def _plain(cells: NDArray[Any]) -> NDArray[Any]:
    """A masked array without its mask: None, or NaN for floats, where it was masked."""
    masked = np.ma.getmaskarray(cells)
    values = np.asarray(np.ma.getdata(cells))
    if values.dtype.kind == "T":
        values = values.astype(object)
    if not masked.any():
        return values
    out = values.astype(np.float64 if values.dtype.kind == "f" else object)
    out[masked] = np.nan if values.dtype.kind == "f" else None
    return out


def _check_known(names: Sequence[str], known: Sequence[str], where: str) -> None:
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise UnmaskError(f"column {unknown!r} is not in {where}; its columns are {', '.join(known)}")


def column_names(source: str | PathLike[str], *, encoding: str | None = None) -> list[str]:
    """The names of the columns of a file."""
    with engine() as connection, temporary_folder(None) as folder:
        return list(_relation(connection, Path(os.fspath(source)), folder, (), encoding)[1])
