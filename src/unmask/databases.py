"""DuckDB in memory, lent to one user after another: opening one takes longer than to read a small file."""

from __future__ import annotations

import atexit
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.core.errors import FailedError, UnmaskError

if TYPE_CHECKING:
    import duckdb

_idle: dict[int, list[duckdb.DuckDBPyConnection]] = defaultdict(list)
"""By process: after a fork the child lacks the threads of its parent's databases."""


@contextmanager
def database(folder: str, *, memory_limit: int, ordered: bool = True) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database that nobody else uses meanwhile; nobody meets what was made in it afterwards.

    folder : for what exceeds the memory limit, in bytes
    ordered : rows without an `order by` come as they are stored, which takes more memory
    """
    import duckdb  # not at the top: a tenth of a second that only a file costs

    try:
        whole = _set(folder, memory_limit, ordered)
    except duckdb.Error as error:  # before any row is read
        said = str(error).partition("\n")[0]
        raise FailedError(f"DuckDB does not start ({said}); check its installation") from None
    try:
        with whole.cursor() as connection:
            yield connection
    finally:
        _put_back(whole)


def failure(error: duckdb.Error, otherwise: str) -> FailedError:
    """Return the cause of a failed query, without DuckDB's words, which may quote a row.

    otherwise : the sentence if the file or the value that was read is at fault
    """
    import duckdb

    if re.search("No space left|max_temp_directory_size|Could not write", str(error)):
        return FailedError("the temporary directory or the disk of the output is full; free some space")
    if isinstance(error, duckdb.OutOfMemoryException):
        return FailedError("the work does not fit the memory limit; give more (--memory-limit), or read fewer columns")
    if isinstance(error, duckdb.InterruptException):
        return FailedError("the work was interrupted; run it again")
    ours = isinstance(error, duckdb.ProgrammingError | duckdb.InternalError)
    if ours and not isinstance(error, duckdb.InvalidInputException):  # which is said of malformed files, too
        return FailedError(f"unmask sent DuckDB a query that fails ({type(error).__name__}); please report it")
    return FailedError(otherwise)


def _set(folder: str, memory_limit: int, ordered: bool) -> duckdb.DuckDBPyConnection:
    try:
        whole = _idle[os.getpid()].pop()
    except IndexError:  # asked no sooner: another thread may take the last one meanwhile
        whole = _opened()
    whole.execute(f"set memory_limit = '{memory_limit}B'")
    whole.execute(f"set preserve_insertion_order = {ordered}")
    whole.execute("set temp_directory = $folder", {"folder": folder})
    return whole


def _opened() -> duckdb.DuckDBPyConnection:
    import duckdb

    whole = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    if whole.execute("select current_setting('enable_progress_bar')").fetchone() == (True,):
        whole.execute("set enable_progress_bar = false")  # refused in a notebook without ipywidgets, where it is off
    return whole


def _put_back(whole: duckdb.DuckDBPyConnection) -> None:
    """Keep it for the next user, unless this one has left something in it, or it has written into its folder."""
    import duckdb

    with suppress(duckdb.Error):  # a folder that was used cannot be changed
        whole.execute("set temp_directory = ''")
        if whole.execute(_LEFT).fetchall() == []:
            _idle[os.getpid()].append(whole)


@atexit.register
def _close() -> None:
    """Close what is idle before the interpreter comes apart: DuckDB prints pages of leaked objects otherwise."""
    for whole in _idle.pop(os.getpid(), ()):
        whole.close()


_LEFT = """
select database_name from duckdb_databases() where not internal and database_name <> 'memory'
union all select table_name from duckdb_tables() where not temporary
union all select view_name from duckdb_views() where not internal and not temporary
"""
"""What outlives a user: files that are attached, tables and views."""


def exact_path(path: str | PathLike[str]) -> str:
    """Return the path of a file so written that DuckDB sees no pattern in its name, and no home of a user.

    >>> exact_path("/data/[a].csv")
    '/data/[[]a].csv'
    """
    text = str(Path(path).absolute())
    if "\\" in text and os.sep != "\\" and re.search(r"[*?\[]", text):
        raise UnmaskError(f"the path of {Path(path).name!r} has a backslash and one of *?[ in it; rename the file")
    return re.sub(r"([*?\[])", r"[\1]", text)
