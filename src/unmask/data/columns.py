"""Read columns of a file or a mapping as arrays."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.data.databases import fill_masked
from unmask.data.duckdb_engine import DuckDBEngine
from unmask.data.source_files import TextOptions

_log = logging.getLogger(__name__)


def read_columns(
    source: str | PathLike[str] | Mapping[str, ArrayLike], names: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Read columns of equal length from a file or a mapping; at least one name.

    Cells of a text file are trimmed texts, None if empty. An encoding other than UTF-8 is recognized, and logged as a
    warning. In a Parquet file, dates and other non-numeric types become texts, too. Numbers of a Parquet file and cells
    of a mapping keep their type.

    >>> read_columns({"a": [1, 2], "b": ["x", "y"]}, ["b"])
    {'b': array(['x', 'y'], dtype='<U1')}
    """
    if not names:
        raise UnmaskError("the selection has 0 columns, expected an item, a pseudonym or a feature")
    if isinstance(source, Mapping):
        return _read_mapping(source, names)
    path = os.fspath(source)
    with DuckDBEngine.open(ordered=True, text=TextOptions()) as engine:
        name = f"file {os.path.basename(path)!r}"  # noqa: PTH119 - a pattern or a sheet is not a path
        check_names(names, engine.names(path), name)
        engine.table("source", path, {f"c{i}": column for i, column in enumerate(names)})
        arrays = engine.fetch("select * from source")
        for note in engine.notes:
            _log.warning("%s", note)
    if not len(arrays["c0"]):
        raise UnmaskError(f"{name} has no rows, expected at least 1")
    return dict(zip(names, map(fill_masked, arrays.values()), strict=True))


def list_columns(source: str | PathLike[str]) -> list[str]:
    """Return the names of the columns of a file."""
    with DuckDBEngine.open() as engine:
        return engine.names(os.fspath(source))


def check_names(names: Sequence[str], columns: Sequence[str], source: str) -> None:
    """Raise for a name that is not a column of the source."""
    unknown = next((name for name in names if name not in columns), None)
    if unknown is not None:
        raise UnmaskError(f"column {unknown!r} is not in {source}; its columns are {', '.join(columns)}")


def _read_mapping(source: Mapping[str, ArrayLike], names: Sequence[str]) -> dict[str, NDArray[Any]]:
    check_names(names, [str(name) for name in source], "the mapping")
    columns = {name: fill_masked(np.ma.asarray(source[name])) for name in names}
    shapes = {column.shape for column in columns.values()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        raise UnmaskError(f"the columns have shapes {sorted(shapes)}, expected one dimension and equal lengths")
    if shapes == {(0,)}:
        raise UnmaskError("the mapping has no rows, expected at least 1")
    return columns
