"""Interface to tables that may exceed memory: DuckDB on this machine, or Spark on a cluster.

An engine has named tables; small results are returned as arrays. `unmask.data.sql` builds the SQL from the common
subset of both engines.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from unmask.core.errors import UnmaskError
from unmask.data.resources import MEMORY_LIMIT, divide_memory, parse_bytes
from unmask.data.source_files import TextOptions
from unmask.data.sql import Arrays, Kind
from unmask.ranges import Option

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Engine(Protocol):
    """Named tables, which may exceed memory.

    In results, a numeric NULL or NaN becomes nan (integer columns become doubles), and a NULL text becomes None.
    """

    @property
    def notes(self) -> list[str]:
        """Return one sentence for each recognized property of the files."""

    @property
    def memory_bytes(self) -> float:
        """Return the memory for the groups of one query; infinite if more groups go to disk without loss."""

    def names(self, source: str) -> list[str]:
        """Return the column names of a source: text or Parquet files, a folder, a sheet, or DATABASE::TABLE.

        An existing path is this file or folder; any other path is a pattern for several files. All files of a source
        must have the same columns, and Parquet files the same types. An error may be raised here or later.
        """

    def table(
        self, name: str, source: str, columns: Mapping[str, str], *, ids: Collection[str] = ()
    ) -> dict[str, Kind]:
        """Create the table `name` from columns of a source, under new plain names; return the kind of each column.

        columns : new name -> name in the source. Texts are trimmed. An empty text and NaN are NULL. The source is read
            only when the table is used.
        ids : new names of columns whose values rarely repeat, see `unmask.data.sql.clean_column`
        """

    def keep(self, name: str, sql: str) -> int:
        """Run a query and store its rows as table `name`, in memory or on disk; return their number."""

    def view(self, name: str, sql: str) -> None:
        """Create a view of a query, which runs at each use."""

    def put(self, name: str, columns: Mapping[str, NDArray[Any]]) -> None:
        """Store small arrays, such as dictionaries, as table `name`. int32, int64, float64 or text."""

    def drop(self, name: str) -> None:
        """Remove a table and free its memory."""

    def rows(self, sql: str) -> Arrays:
        """Return the rows of a query as one array per column, which may be overwritten; unordered unless the query has
        an order.
        """

    def write_parquet(self, sql: str, path: Path, names: Mapping[str, str], *, order: Sequence[str]) -> None:
        """Write the rows of a query to `path` atomically, sorted by its columns `order`.

        names : column of the query -> name in the file.
        """


@dataclass(frozen=True)
class EngineOptions:
    """The engine in which tables stay, and what it may use.

    engine : keep tables in an engine, so that a table may be a glob, a folder of Parquet, or DATABASE::TABLE
    memory_limit : memory of the engine and of the arrays together, 4GiB by default (needs --engine)
    temp_directory : spill directory (needs --engine)
    dry_run : estimate the work, and do nothing else (needs --engine)
    """

    engine: Annotated[str | None, Option("Large data", metavar="duckdb|spark[://MASTER]")] = None
    memory_limit: Annotated[str | None, Option("Large data", metavar="SIZE")] = None
    temp_directory: Annotated[Path | None, Option("Large data")] = None
    dry_run: Annotated[bool, Option("Large data")] = False

    def __post_init__(self) -> None:
        limits = {"memory_limit": self.memory_limit, "temp_directory": self.temp_directory, "dry_run": self.dry_run}
        if self.engine is None:
            for option in (option for option, value in limits.items() if value):
                reason = "is for tables in an engine; add engine='duckdb', or remove this option"
                raise UnmaskError(f"`{option}` {reason}")

    @property
    def memory(self) -> tuple[int, int]:
        """The bytes of the engine and of the arrays."""
        return divide_memory(MEMORY_LIMIT if self.memory_limit is None else parse_bytes(self.memory_limit))

    def open(self, **text: Any) -> AbstractContextManager[Engine]:
        """Open the engine, DuckDB by default. text : options of text files, see `open_engine`"""
        limits: dict[str, Any] = {"memory_limit": self.memory[0], "temp_directory": self.temp_directory}
        return open_engine(self.engine or "duckdb", **limits, **text)


@contextmanager
def open_engine(
    choice: str = "duckdb",
    *,
    memory_limit: int = MEMORY_LIMIT,
    temp_directory: str | PathLike[str] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Iterator[Engine]:
    """Open an engine, and remove its temporary files afterwards.

    Parameters
    ----------
    choice : str
        "duckdb"; "spark" (configuration of the session, or this machine); "spark://MASTER" with a host and port, or
        with another master such as "spark://local[2]" or "spark://yarn".
    memory_limit : int
        Bytes: limit of DuckDB, or memory of Spark's driver.
    temp_directory : path, optional
        Folder for data beyond memory; default: the system's folder for temporary files.
    encoding : str, optional
        Encoding of a text file that is not UTF-8; default: recognized, with a note.
    delimiter : str, optional
        Delimiter of a text file; default: recognized.
    header : bool, optional
        True if line 1 of a text file names the columns. False: they are "column 1", "column 2", ... Default: True, but
        raise if line 1 is certainly a row.

    Yields
    ------
    Engine
        The engine, closed afterwards.

    Raises
    ------
    UnmaskError
        If the choice is not an engine.

    Examples
    --------
    >>> with open_engine("duckdb") as engine:
    ...     engine.keep("t", "select 1 as a union all select 2 as a")
    ...     engine.rows("select cast(sum(a) as bigint) as total from t")
    2
    {'total': array([3])}
    """
    text = TextOptions(encoding, delimiter, header)
    if choice == "duckdb":
        from unmask.data.duckdb_engine import DuckDBEngine  # late import: only the chosen engine is loaded

        with DuckDBEngine.open(memory_limit=memory_limit, temp_directory=temp_directory, text=text) as duck:
            yield duck
    elif choice == "spark" or choice.startswith("spark://"):
        from unmask.data.spark_engine import SparkEngine

        master = parse_master(choice)
        with SparkEngine.open(master, memory_limit=memory_limit, temp_directory=temp_directory, text=text) as spark:
            yield spark
    else:
        raise UnmaskError(f"engine is {choice!r}, expected duckdb, spark or spark://MASTER")


def parse_master(choice: str) -> str | None:
    """Return the master in a choice such as "spark://HOST:PORT"; None for the master in Spark's configuration.

    >>> parse_master("spark"), parse_master("spark://node:7077"), parse_master("spark://local[2]")
    (None, 'spark://node:7077', 'local[2]')
    """
    address = choice.removeprefix("spark").removeprefix("://")
    if not address:
        return None
    return address if address.startswith(("local", "yarn", "k8s://")) else choice
