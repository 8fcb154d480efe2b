"""DuckDB as the engine: this machine, all its cores, an enforced memory limit, a temporary folder for the rest."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import AmbiguousInput, FailedError, UnmaskError
from unmask.data.resources import temporary_folder
from unmask.data.source_files import (
    CERTAIN_ROW_ODDS,
    SUFFIXES,
    Head,
    check_distinct_names,
    detect_kind,
    explain_csv_error,
    prepare_file,
    read_head,
    scan_parquet,
    scan_text,
    split_sheet,
)
from unmask.data.sql import Arrays, Kind, clean_column, quote_name, quote_text, rename_columns
from unmask.databases import database, exact_path, failure
from unmask.writing import whole

_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
_REAL = {"FLOAT", "DOUBLE"}

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Duck:
    """A private in-memory database that spills into a folder of its own.

    notes : what was guessed of the files that were read. found : names and SQL of the sources met so far.
    """

    connection: duckdb.DuckDBPyConnection
    thread: ThreadPoolExecutor
    folder: str
    encoding: str | None = None
    notes: list[str] = field(default_factory=list)
    found: dict[str, tuple[list[str], str]] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def open(
        cls, *, memory_limit: int, temp_directory: str | PathLike[str] | None = None, encoding: str | None = None
    ) -> Iterator[Duck]:
        """Open the database; close it, and remove its folder, afterwards."""
        with (
            temporary_folder(temp_directory) as folder,
            _told(),
            ThreadPoolExecutor(1) as thread,
            # unordered: it needs far less memory, and an order is always asked for
            database(folder, memory_limit=memory_limit, ordered=False) as connection,
        ):
            yield cls(connection, thread, folder, encoding)

    def names(self, source: str) -> list[str]:
        """See `Engine.names`."""
        return self._columns(source)[0]

    def table(
        self, name: str, source: str, columns: Mapping[str, str], *, ids: Collection[str] = ()
    ) -> dict[str, Kind]:
        """See `Engine.table`."""
        names, relation = self._columns(source)
        place = {new: names.index(old) for new, old in columns.items()}
        types = [kind for _, kind in self._described(relation)]
        typed = "read_csv(" not in relation
        kinds: dict[str, Kind] = {new: _kind(types[at], typed=typed) for new, at in place.items()}
        cells = ", ".join(
            f"{clean_column(f'c{at}', kinds[new], repeats=new not in ids)} as {new}" for new, at in place.items()
        )
        self._run(f"create or replace temp view {name} as select {cells} from {relation}")
        return kinds

    def keep(self, name: str, sql: str) -> int:
        """See `Engine.keep`."""
        made = self._run(f"create or replace temp table {name} as {sql}").fetchall()
        return int(made[0][0])  # the rows, counted as they were kept

    def view(self, name: str, sql: str) -> None:
        """See `Engine.view`."""
        self._run(f"create or replace temp view {name} as {sql}")

    def put(self, name: str, columns: Mapping[str, NDArray[Any]]) -> None:
        """See `Engine.put`."""
        self.connection.register("arrays", dict(columns))
        try:
            self._run(f"create or replace temp table {name} as select * from arrays")
        finally:
            self.connection.unregister("arrays")

    def drop(self, name: str) -> None:
        """See `Engine.drop`."""
        self._run(f"drop table if exists {name}")

    def rows(self, sql: str) -> Arrays:
        """See `Engine.rows`."""
        found = self._heard(lambda: self.connection.execute(sql).fetchnumpy())
        return {name: _plain(column) for name, column in found.items()}

    def write_parquet(self, sql: str, path: Path, names: Mapping[str, str], *, order: Sequence[str]) -> None:
        """See `Engine.write_parquet`; one file. Sorted at the end: a join of many rows does not keep their order."""
        with whole(path) as part:
            self._run(f"copy ({rename_columns(sql, names, order=order)}) to {quote_text(str(part))} (format parquet)")

    def _run(self, sql: str) -> duckdb.DuckDBPyConnection:
        return self._heard(lambda: self.connection.execute(sql))

    def _heard(self, work: Callable[[], _T]) -> _T:
        """Let the other thread do the work, so that this one hears a Ctrl-C at once and ends it.

        A statement hears it between its own tasks only, and one task of a skewed join takes minutes.
        """
        with _told():
            done = self.thread.submit(work)
            try:
                while not done.done():  # a wait without an end hears nothing on Windows
                    wait([done], timeout=0.1)
                return done.result()
            except KeyboardInterrupt:
                while not done.done():  # not once: a statement that has not begun yet would miss it
                    self.connection.interrupt()
                    wait([done], timeout=0.1)
                raise

    def _described(self, relation: str) -> list[tuple[str, str]]:
        return [(str(row[0]), str(row[1])) for row in self._run(f"describe select * from {relation}").fetchall()]

    def _columns(self, source: str) -> tuple[list[str], str]:
        """The column names of a source, and the SQL of its rows with columns c0, c1, ... in their order."""
        if source not in self.found:
            self.found[source] = self._found(source)
        return self.found[source]

    def _found(self, source: str) -> tuple[list[str], str]:
        database, mark, table = source.rpartition("::")
        path = Path(source)
        if mark and not path.exists() and not _is_sheet(path):
            return self._listed(self._attached(database, table))
        files = [prepare_file(Path(file), self.folder, encoding=self.encoding) for file in self._files(source)]
        self.notes.extend(dict.fromkeys(file.note for file in files if file.note))
        paths, forms = [file.path for file in files], {file.form for file in files}
        if len(forms) > 1:
            raise UnmaskError(f"source {path.name!r} has text files and others, expected files of one kind")
        return self._text_files(source, paths) if forms == {"text"} else self._listed(self._parquet(paths))

    def _listed(self, relation: str) -> tuple[list[str], str]:
        names = [name for name, _ in self._described(relation)]
        return names, f"{relation} as source({', '.join(f'c{at}' for at in range(len(names)))})"

    def _text_files(self, source: str, files: Sequence[Path]) -> tuple[list[str], str]:
        """Files with the same columns, in any order of them."""
        of_head: dict[Head, list[Path]] = {}
        for path in files:
            of_head.setdefault(_head_with_names(path), []).append(path)
        names = next(iter(of_head)).names
        check_distinct_names(names, f"file {Path(source).name!r}")
        for head, paths in of_head.items():
            if sorted(head.names) != sorted(names):
                raise UnmaskError(
                    f"file {paths[0].name!r} has the columns {', '.join(head.names)}, and the first file "
                    f"{', '.join(names)}; expected the same in every file of the source"
                )
        parts = []
        for head, paths in of_head.items():
            cells = ", ".join(f"c{head.names.index(name)} as c{at}" for at, name in enumerate(names))
            parts.append(f"select {cells} from {scan_text(paths, head)}")
        return list(names), f"({' union all '.join(parts)}) as source"

    def _parquet(self, files: Sequence[Path]) -> str:
        """Files whose columns are found by name; one type holds a column in all of them, or its cells would change."""
        relation = scan_parquet(files)
        together = dict(self._described(scan_parquet(files, by_name=True)))
        for name, kind in self._described(relation):
            if together[name] != kind:
                raise UnmaskError(
                    f"column {name!r} is {kind.lower()} in one file of the source and something else in another; "
                    "store it alike in all of them"
                )
        return relation

    def _files(self, source: str) -> list[str]:
        """The files that a source stands for, at least one: the file of that name, or else what a pattern matches."""
        path, name = Path(source), Path(source).name
        if not (path.is_dir() or source.lower().endswith(SUFFIXES) or _is_sheet(path)):
            raise UnmaskError(
                f"source {name!r} has an unknown suffix; expected .parquet, .csv or .tsv (.gz), .xlsx, a folder of "
                "Parquet files, or DATABASE::TABLE"
            )
        if path.is_file() or _is_sheet(path):
            return [source]
        pattern = f"{exact_path(path)}/**/*.parquet" if path.is_dir() else source
        found = self._run(f"select file from glob({quote_text(pattern)}) order by file").fetchall()
        files = [str(row[0]) for row in found]
        if not files:
            wrong = "matches no file" if any(letter in name for letter in "*?[") else "does not exist or is no file"
            raise FailedError(f"file {name!r} {wrong}; check the path")
        return files

    def _attached(self, database: str, table: str) -> str:
        if not Path(database).is_file():
            raise FailedError(f"database {Path(database).name!r} does not exist or is no file; check the path")
        alias = "source_" + hashlib.sha256(str(Path(database).resolve()).encode()).hexdigest()[:16]
        self._run(f"attach if not exists {quote_text(database)} as {alias} (read_only)")
        return ".".join([alias, *map(quote_name, table.split("."))])


def _is_sheet(path: Path) -> bool:
    """Whether a source is a sheet of a workbook, and no table of a database."""
    book, sheet = split_sheet(path)
    return sheet is not None and detect_kind(book) == "workbook"


# --- types and wording ------------------------------------------------------------------------------------


def _kind(type_name: str, *, typed: bool) -> Kind:
    if type_name in _WHOLE:
        return "integer"
    if type_name in _REAL:
        return "real"
    return "text" if typed and type_name.startswith(("VARCHAR", "ENUM")) else "untyped"


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """A column without a mask: nan for a number that is missing, None for a text."""
    if not np.ma.isMaskedArray(column):
        return column
    gone, data = np.ma.getmaskarray(column), np.ma.getdata(column)
    if not gone.any():
        return np.asarray(data)
    filled = np.array(data, dtype=object if data.dtype.kind == "O" else np.float64)
    filled[gone] = None if filled.dtype.kind == "O" else np.nan
    return filled


@contextmanager
def _told() -> Iterator[None]:
    """The engine's errors as sentences; its own words may quote a row."""
    try:
        yield
    except duckdb.CatalogException:
        raise FailedError("the database has no such table; check DATABASE::TABLE") from None
    except duckdb.Error as error:
        raise failure(error, _reason(error)) from None


def _reason(error: duckdb.Error) -> str:
    text = str(error)
    if isinstance(error, duckdb.IOException | duckdb.InvalidInputException | duckdb.ConversionException):
        named = re.search(r"""(?:['"]|file = )([^'"\n]+\.(?:parquet|pq|[ct]sv(?:\.gz)?|duckdb|db))['"\n]""", text)
        which = f"file {os.path.basename(named[1])!r}" if named else "a file of the source"  # noqa: PTH119 - any system's
        wrong = explain_csv_error(text)
        if wrong is not None:
            return f"{which} cannot be read: {wrong}"
        return f"{which} cannot be read; it may be missing, truncated or damaged: check it or leave it out"
    return f"the engine cannot carry out the work ({type(error).__name__}); check the source and the space at hand"


def _head_with_names(path: Path) -> Head:
    """Return the head of a file, whose first line names the columns; an error if that is a row for certain."""
    with suppress(AmbiguousInput):
        if not read_head(path, header=None, sure=CERTAIN_ROW_ODDS).header:
            raise UnmaskError(
                f"line 1 of file {path.name!r} looks like a row, and an engine takes columns by names; add a line "
                "of names, or leave --engine out"
            )
    return read_head(path)
