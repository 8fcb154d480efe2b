"""DuckDB engine: uses all cores of this machine, a memory limit, and a temporary folder."""

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
from numpy.typing import NDArray

from unmask.core.errors import AmbiguousInput, FailedError, UnmaskError
from unmask.data.databases import explain_failure, fill_masked, lend_database
from unmask.data.resources import MEMORY_LIMIT, temporary_folder
from unmask.data.source_files import (
    CERTAIN_ROW_ODDS,
    RECOGNIZED,
    SUFFIXES,
    Head,
    TextOptions,
    check_distinct_names,
    explain_csv_error,
    find_files,
    is_sheet,
    prepare_file,
    read_head,
    scan_parquet,
    scan_text,
)
from unmask.data.sql import Arrays, Kind, clean_column, column_kind, quote_name, quote_text, rename_columns
from unmask.data.writing import replace_file

_T = TypeVar("_T")

_ARRAY_BITS = 20
"""Bits of a key up to which groups are counted in an array, of 9 MiB in each thread: a hash table takes twice the time.
"""


@dataclass(frozen=True, eq=False)
class DuckDBEngine:
    """A private in-memory database that writes data beyond memory to its own folder.

    memory_bytes : memory limit; a query with several times as many bytes of groups fails, although groups go to disk
    notes : sentences about recognized properties of files
    scans : column names and SQL for the rows of each source
    """

    connection: duckdb.DuckDBPyConnection
    thread: ThreadPoolExecutor
    folder: str
    text: TextOptions
    memory_bytes: float
    notes: list[str] = field(default_factory=list)
    scans: dict[str, tuple[list[str], str]] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def open(
        cls,
        *,
        memory_limit: int = MEMORY_LIMIT,
        temp_directory: str | PathLike[str] | None = None,
        text: TextOptions = RECOGNIZED,
        ordered: bool = False,
    ) -> Iterator[DuckDBEngine]:
        """Open the database; close it and remove its folder afterwards.

        ordered : True to keep the row order of files, which needs far more memory
        """
        with (
            temporary_folder(temp_directory) as folder,
            _translate_errors(),
            ThreadPoolExecutor(1) as thread,
            lend_database(folder, memory_limit=memory_limit, ordered=ordered) as connection,
        ):
            connection.execute(f"set perfect_ht_threshold = {_ARRAY_BITS}")
            yield cls(connection, thread, folder, text, memory_limit)

    def names(self, source: str) -> list[str]:
        """See `Engine.names`."""
        return self._scan(source)[0]

    def table(
        self, name: str, source: str, columns: Mapping[str, str], *, ids: Collection[str] = ()
    ) -> dict[str, Kind]:
        """See `Engine.table`."""
        names, relation = self._scan(source)
        position = {new: names.index(old) for new, old in columns.items()}
        types = [kind for _, kind in self._describe(relation)]
        typed = "read_csv(" not in relation
        kinds: dict[str, Kind] = {new: column_kind(types[i], typed=typed) for new, i in position.items()}
        cells = ", ".join(
            f"{clean_column(f'c{i}', kinds[new], repeats=new not in ids)} as {new}" for new, i in position.items()
        )
        self._run(f"create or replace temp view {name} as select {cells} from {relation}")
        return kinds

    def keep(self, name: str, sql: str) -> int:
        """See `Engine.keep`."""
        return int(self._run(f"create or replace temp table {name} as {sql}").fetchall()[0][0])

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
        return {name: fill_masked(column, as_doubles=True) for name, column in self.fetch(sql).items()}

    def fetch(self, sql: str) -> Arrays:
        """Return the rows of a query as masked arrays."""
        return self._interruptible(lambda: self.connection.execute(sql).fetchnumpy())

    def write_parquet(self, sql: str, path: Path, names: Mapping[str, str], *, order: Sequence[str]) -> None:
        """See `Engine.write_parquet`; one file. The sort is last, because a join of many rows does not keep their
        order.
        """
        with replace_file(path) as part:
            self._run(f"copy ({rename_columns(sql, names, order=order)}) to {quote_text(str(part))} (format parquet)")

    def _run(self, sql: str) -> duckdb.DuckDBPyConnection:
        return self._interruptible(lambda: self.connection.execute(sql))

    def _interruptible(self, work: Callable[[], _T]) -> _T:
        """Run the work in the other thread, so this thread can interrupt it immediately after a Ctrl-C.

        A statement checks for interrupts only between its tasks, and one task of a skewed join takes minutes.
        """
        with _translate_errors():
            done = self.thread.submit(work)
            try:
                while not done.done():  # a wait without a timeout ignores Ctrl-C on Windows
                    wait([done], timeout=0.1)
                return done.result()
            except KeyboardInterrupt:
                while not done.done():  # repeatedly: a statement that has not started ignores the interrupt
                    self.connection.interrupt()
                    wait([done], timeout=0.1)
                raise

    def _describe(self, relation: str) -> list[tuple[str, str]]:
        return [(str(row[0]), str(row[1])) for row in self._run(f"describe select * from {relation}").fetchall()]

    def _scan(self, source: str) -> tuple[list[str], str]:
        """Return the column names of a source, and SQL for its rows with columns c0, c1, ... in order."""
        if source not in self.scans:
            self.scans[source] = self._open_source(source)
        return self.scans[source]

    def _open_source(self, source: str) -> tuple[list[str], str]:
        database, mark, table = source.rpartition("::")
        path = Path(source)
        if mark and not path.exists() and not is_sheet(path):
            return self._number_columns(self._attach(database, table))
        files = [prepare_file(file, self.folder, encoding=self.text.encoding) for file in self._find_files(source)]
        self.notes.extend(dict.fromkeys(file.note for file in files if file.note))
        paths, kinds = [file.path for file in files], {file.kind for file in files}
        if len(kinds) > 1:
            raise UnmaskError(f"source {path.name!r} has text files and others, expected files of one kind")
        return (
            self._scan_text_files(source, paths)
            if kinds == {"text"}
            else self._number_columns(self._scan_parquet_files(paths))
        )

    def _number_columns(self, relation: str) -> tuple[list[str], str]:
        names = [name for name, _ in self._describe(relation)]
        return names, f"{relation} as source({', '.join(f'c{i}' for i in range(len(names)))})"

    def _scan_text_files(self, source: str, files: Sequence[Path]) -> tuple[list[str], str]:
        """Return the columns and the SQL of text files with the same columns, in any order."""
        of_head: dict[Head, list[Path]] = {}
        for path in files:
            of_head.setdefault(self._read_head(path), []).append(path)
        names = next(iter(of_head)).names
        check_distinct_names(names, f"file {Path(source).name!r}")
        for head, paths in of_head.items():
            if sorted(head.names) != sorted(names):
                raise UnmaskError(
                    f"file {paths[0].name!r} has the columns {', '.join(head.names)}, but the first file has "
                    f"{', '.join(names)}; expected the same columns in every file of the source"
                )
        parts = []
        for head, paths in of_head.items():
            cells = ", ".join(f"c{head.names.index(name)} as c{i}" for i, name in enumerate(names))
            parts.append(f"select {cells} from {scan_text(paths, head)}")
        return list(names), f"({' union all '.join(parts)}) as source"

    def _read_head(self, path: Path) -> Head:
        """Return the head of a text file; raise if the first line is certainly a row and no option decides."""
        header = self.text.header
        head = read_head(path, self.text.delimiter, header=header is not False)
        with suppress(AmbiguousInput):
            if header is None and not read_head(path, head.delimiter, header=None, odds=CERTAIN_ROW_ODDS).header:
                raise UnmaskError(
                    f"line 1 of file {path.name!r} looks like a row; add a line of names, or header=False for the "
                    "names column 1, column 2, ..."
                )
        return head

    def _scan_parquet_files(self, files: Sequence[Path]) -> str:
        """Return the SQL of Parquet files, whose columns match by name; raise for a column with several types."""
        relation = scan_parquet(files)
        types = dict(self._describe(scan_parquet(files, by_name=True)))
        for name, kind in self._describe(relation):
            if types[name] != kind:
                raise UnmaskError(
                    f"column {name!r} is {kind.lower()} in one file of the source and another type in another file; "
                    "store it with the same type in all of them"
                )
        return relation

    def _find_files(self, source: str) -> list[Path]:
        """Return the files of a source, at least one."""
        path, files = Path(source), find_files(source)
        if files:
            return files
        if not (path.is_dir() or source.lower().endswith(SUFFIXES)):
            raise UnmaskError(
                f"source {path.name!r} has an unknown suffix; expected .parquet, .csv or .tsv (.gz), .xlsx, a folder "
                "of Parquet files, or DATABASE::TABLE"
            )
        cause = "matches no file" if any(letter in path.name for letter in "*?[") else "does not exist or is not a file"
        raise FailedError(f"file {path.name!r} {cause}; check the path")

    def _attach(self, database: str, table: str) -> str:
        if not Path(database).is_file():
            raise FailedError(f"database {Path(database).name!r} does not exist or is not a file; check the path")
        alias = "source_" + hashlib.sha256(str(Path(database).resolve()).encode()).hexdigest()[:16]
        self._run(f"attach if not exists {quote_text(database)} as {alias} (read_only)")
        return ".".join([alias, *map(quote_name, table.split("."))])


# --- error messages -----------------------------------------------------------------------------


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Translate the engine's errors, whose messages may quote a row."""
    try:
        yield
    except duckdb.CatalogException:
        raise FailedError("the database has no such table; check DATABASE::TABLE") from None
    except duckdb.Error as error:
        raise explain_failure(error, _explain(error)) from None


def _explain(error: duckdb.Error) -> str:
    text = str(error)
    if isinstance(error, duckdb.IOException | duckdb.InvalidInputException | duckdb.ConversionException):
        path = re.search(r"""(?:['"]|file = )([^'"\n]+\.(?:parquet|pq|[ct]sv(?:\.gz)?|duckdb|db))['"\n]""", text)
        file = f"file {os.path.basename(path[1])!r}" if path else "a file of the source"  # noqa: PTH119 - any system's
        cause = explain_csv_error(text)
        if cause is not None:
            return f"{file} cannot be read: {cause}"
        return f"{file} cannot be read; it may be missing, truncated or damaged: check it, or remove it"
    return f"the engine failed ({type(error).__name__}); check the source, memory and disk space"
