"""Data frames as output: rows as a pandas, polars or Arrow frame, whichever is installed. None is required.

Frames as input need no adapter, because DuckDB reads all three. For output, each library accepts a mapping of columns.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError

READ = "a path, a data frame (pandas, polars, Arrow) or a mapping of names to columns"
"""Types that are accepted as a table."""

MAKERS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}
"""Library -> its function from columns to a frame, in order of preference."""


def find_library(source: object) -> str | None:
    """Return the library of a data frame; None for other sources.

    >>> find_library({"x": [1]}) is None
    True
    """
    name = type(source).__module__.partition(".")[0]
    return name if name in MAKERS else None


def choose_library(library: str | None = None) -> str:
    """Return the library for a frame: the requested one, otherwise the first imported one, otherwise the first
    installed.

    >>> choose_library("pyarow")
    Traceback (most recent call last):
    unmask.core.errors.UnmaskError: library is 'pyarow', expected pandas, polars or pyarrow
    """
    if library is not None and library not in MAKERS:
        raise UnmaskError(f"library is {library!r}, expected pandas, polars or pyarrow")
    names = list(MAKERS) if library is None else [library]
    usable = [name for name in names if name in sys.modules] or [name for name in names if find_spec(name)]
    if not usable:
        raise UnmaskError(f"a data frame needs {' or '.join(names)}, which is not installed; install it")
    return usable[0]


def frame_of_rows(rows: Sequence[Mapping[str, Any]], *, library: str | None = None) -> Any:
    """Return rows as a data frame with a column for each key of any row; cells of absent keys are empty.

    A column with numbers and words, such as "fewer than 10", becomes a column of texts.

    >>> frame_of_rows([{"k": 3}, {"k": 10, "t": 0.2}], library="pyarrow")["t"].to_pylist()
    [None, 0.2]
    """
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: _unify_types([row.get(name) for row in rows]) for name in names}
    name = choose_library(library)
    return getattr(import_module(name), MAKERS[name])(columns)


def _unify_types(cells: list[Any]) -> list[Any]:
    """Return cells of one type, as polars and Arrow require; None is unchanged."""
    if any(isinstance(cell, Mapping) for cell in cells):
        cells = [None if cell is None else str(cell) for cell in cells]
    types = {type(cell) for cell in cells if cell is not None}
    if types <= {int, float} and len(types) > 1:
        return [None if cell is None else float(cell) for cell in cells]
    return cells if len(types) < 2 else [None if cell is None else str(cell) for cell in cells]


def frame_of_parquet(path: str, *, library: str | None = None) -> Any:
    """Read a Parquet file as a data frame, with the types of the file."""
    name = choose_library(library)
    if name == "polars":
        return import_module(name).read_parquet(path)
    if name == "pyarrow":
        return import_module("pyarrow.parquet").read_table(path)
    with duckdb.connect(":memory:") as connection:
        return connection.execute("select * from read_parquet($path)", {"path": path}).df()


def columns_of(source: object) -> dict[str, NDArray[Any]]:
    """Return the columns of a mapping of names to cells, or of a data frame.

    >>> columns_of({"x": [1, 2]})
    {'x': array([1, 2])}
    """
    if isinstance(source, Mapping):
        return {str(name): np.asarray(cells) for name, cells in source.items()}
    names = getattr(source, "column_names", None)  # Arrow: its `columns` are arrays, not names
    names = getattr(source, "columns", None) if names is None else names
    if names is None:
        raise UnmaskError(f"a {type(source).__name__} has no columns; expected {READ}")
    frame: Any = source
    return {str(name): frame[name].to_numpy() for name in names}
