"""In-memory DuckDB databases, reused by successive callers: opening one takes longer than reading a small file."""

from __future__ import annotations

import atexit
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.core.errors import FailedError, UnmaskError
from unmask.data.sql import quote_text

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

_idle: dict[int, list[duckdb.DuckDBPyConnection]] = defaultdict(list)
"""Idle databases by process. A forked child lacks the threads of its parent's databases."""


@contextmanager
def open_database(folder: str | None = None, *, memory_limit: int | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Lend a private in-memory database that can read files; its errors become sentences.

    folder       : folder for data beyond memory; default: a temporary one
    memory_limit : bytes of the database; default: 4 GiB, or half of the machine's memory if that is less

    >>> with open_database() as connection:
    ...     connection.execute("select 1 + 1").fetchall()
    [(2,)]
    """
    import duckdb

    with (
        nullcontext(folder)
        if folder
        else tempfile.TemporaryDirectory(prefix="unmask-", ignore_cleanup_errors=True) as place,
        lend_database(place, memory_limit=memory_limit or _find_memory_limit()) as connection,
    ):
        try:
            yield connection
        except duckdb.Error as error:
            raise explain_failure(error, f"DuckDB failed ({type(error).__name__})") from None


_MAX_MEMORY_BYTES = 4 << 30

_MAX_IDLE_BYTES = 64 << 20
"""Largest growth of the process, in bytes, after which a database is closed: DuckDB keeps memory of dropped tables."""


def _find_memory_limit() -> int:
    """Return 4 GiB, or half of the machine's memory if that is less."""
    if not hasattr(os, "sysconf"):
        return _MAX_MEMORY_BYTES
    return min(_MAX_MEMORY_BYTES, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)


@contextmanager
def lend_database(folder: str, *, memory_limit: int, ordered: bool = True) -> Iterator[duckdb.DuckDBPyConnection]:
    """Lend a database to one caller; it is empty for the next caller.

    folder  : folder for data beyond the memory limit, which is in bytes
    ordered : True to keep the stored order of rows in queries without `order by`, which takes more memory
    """
    import duckdb  # late import: it takes a tenth of a second

    resident_bytes = _read_resident_bytes()
    try:
        instance = _prepare(folder, memory_limit, ordered)
    except duckdb.Error as error:  # before any row is read
        message = str(error).partition("\n")[0]
        raise FailedError(f"DuckDB does not start ({message}); check its installation") from None
    try:
        with instance.cursor() as connection:
            yield connection
    finally:
        if _read_resident_bytes() - resident_bytes < _MAX_IDLE_BYTES:
            _put_back(instance)
        else:
            instance.close()


def _read_resident_bytes() -> int:
    """Return the memory of this process; 0 on a system without /proc."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def explain_failure(error: duckdb.Error, otherwise: str) -> FailedError:
    """Return the cause of a failed query, without DuckDB's message, which may quote a row.

    otherwise : sentence for a fault of the file or the value that was read
    """
    import duckdb

    if re.search("No space left|max_temp_directory_size|Could not write", str(error)):
        return FailedError("the temporary directory or the disk of the output is full; free some space")
    if isinstance(error, duckdb.OutOfMemoryException):
        return FailedError("the work does not fit the memory limit; give more (`memory_limit`), or read fewer columns")
    if isinstance(error, duckdb.InterruptException):
        return FailedError("the work was interrupted; run it again")
    is_ours = isinstance(error, duckdb.ProgrammingError | duckdb.InternalError)
    if is_ours and not isinstance(error, duckdb.InvalidInputException):  # malformed files raise this class, too
        return FailedError(f"unmask sent DuckDB a query that fails ({type(error).__name__}); please report it")
    return FailedError(otherwise)


def _prepare(folder: str, memory_limit: int, ordered: bool) -> duckdb.DuckDBPyConnection:
    try:
        instance = _idle[os.getpid()].pop()
    except IndexError:  # no test before: another thread may take the last database
        instance = _open()
    instance.execute(f"set memory_limit = '{memory_limit}B'")
    instance.execute(f"set preserve_insertion_order = {ordered}")
    instance.execute("set temp_directory = $folder", {"folder": folder})
    return instance


def _open() -> duckdb.DuckDBPyConnection:
    import duckdb

    config: dict[str, Any] = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    config["allocator_background_threads"] = True  # otherwise the process keeps the memory of finished queries
    instance = duckdb.connect(config=config)
    if instance.execute("select current_setting('enable_progress_bar')").fetchone() == (True,):
        instance.execute("set enable_progress_bar = false")  # fails in a notebook without ipywidgets, where it is off
    return instance


def _put_back(instance: duckdb.DuckDBPyConnection) -> None:
    """Return a database to the pool, unless it has tables of this caller, or has used its folder."""
    import duckdb

    with suppress(duckdb.Error):  # a used folder cannot be changed
        instance.execute("set temp_directory = ''")
        if instance.execute(_LEFT_OBJECTS).fetchall() == []:
            _idle[os.getpid()].append(instance)


@atexit.register
def _close() -> None:
    """Close idle databases before the interpreter ends; otherwise DuckDB reports leaked objects."""
    for instance in _idle.pop(os.getpid(), ()):
        instance.close()


_LEFT_OBJECTS = """
select database_name from duckdb_databases() where not internal and database_name <> 'memory'
union all select table_name from duckdb_tables() where not temporary
union all select view_name from duckdb_views() where not internal and not temporary
"""
"""Query for objects that a caller did not remove: attached files, tables and views."""


def escape_path(path: str | PathLike[str]) -> str:
    """Return an escaped file path that DuckDB does not interpret as a pattern or a home folder.

    >>> escape_path("/data/[a].csv")
    '/data/[[]a].csv'
    """
    text = str(Path(path).absolute())
    if "\\" in text and os.sep != "\\" and re.search(r"[*?\[]", text):
        raise UnmaskError(f"the path of {Path(path).name!r} has a backslash and one of *?[ in it; rename the file")
    return re.sub(r"([*?\[])", r"[\1]", text)


def scan_csv(
    paths: Sequence[str | Path],
    n_columns: int,
    delimiter: str = ",",
    quote: str = '"',
    *,
    header: bool = False,
    skip: int = 0,
) -> str:
    """Return SQL for the rows of text files with all columns as texts c0, c1, ..., without type detection.

    header : True if the first line of each file, after the skipped ones, is not a row
    """
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(n_columns))
    files = ", ".join(quote_text(escape_path(path)) for path in paths)
    mark = quote_text(quote)
    return (
        f"read_csv([{files}], delim={quote_text(delimiter)}, quote={mark}, escape={mark}, header={header}, "
        f"skip={skip}, columns={{{columns}}}, auto_detect=false, null_padding=false, hive_partitioning=false, "
        "max_line_size=16777216, buffer_size=33554432)"  # the default buffer is 16 longest lines: 256 MiB
    )


def fill_masked(column: NDArray[Any], *, as_doubles: bool = False) -> NDArray[Any]:
    """Return a column without a mask: NaN for a missing double, None for other missing cells.

    as_doubles : convert integers with a missing cell to doubles, with NaN
    """
    import numpy as np  # late import: the application starts without NumPy

    missing, values = np.ma.getmaskarray(column), np.asarray(np.ma.getdata(column))
    if values.dtype.kind == "T":
        values = values.astype(object)
    if not missing.any():
        return values
    is_number = values.dtype.kind == "f" or (as_doubles and values.dtype.kind in "iu")
    filled = values.astype(np.float64 if is_number else object)
    filled[missing] = np.nan if is_number else None
    return filled
