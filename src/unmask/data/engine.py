"""One interface to tables that may exceed memory: DuckDB on this machine, or Spark on many machines.

An engine holds named tables; small results come out as arrays. The SQL that is sent is built in `unmask.data.sql` from
the part of the language that both engines understand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from unmask.core.errors import UnmaskError
from unmask.data.resources import MEMORY_LIMIT
from unmask.data.sql import Arrays, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Engine(Protocol):
    """Tables by name, out of core.

    A number that is NULL or NaN comes out as nan (whole numbers then as doubles), a text that is NULL as None.
    """

    @property
    def notes(self) -> list[str]:
        """A sentence for whatever was guessed of the files met so far."""
        ...

    def names(self, source: str) -> list[str]:
        """The column names of a source: Parquet or CSV files, a folder of Parquet, a sheet, or `DATABASE::TABLE`.

        A path that exists is that file or folder; only one that does not is a pattern for several files.

        All files of a source have the same columns, Parquet of the same types; others are an error, here or when read.
        """
        ...

    def table(
        self, name: str, source: str, columns: Mapping[str, str], *, ids: Collection[str] = ()
    ) -> dict[str, Kind]:
        """Make columns of a source readable as table `name`, under new plain names; says what each holds.

        columns : new name -> name in the source. Blanks around a text are removed; an empty text, and a number that is
            NaN, is NULL. Nothing is read before the table is used.
        ids : new names of columns in which hardly a value repeats, see `unmask.data.sql.clean_column`
        """
        ...

    def keep(self, name: str, sql: str) -> int:
        """Run a query and keep its rows as table `name`, in memory and beyond it on disk; returns their number."""
        ...

    def view(self, name: str, sql: str) -> None:
        """Give a query a name; it is run again wherever it is used."""
        ...

    def put(self, name: str, columns: Mapping[str, NDArray[Any]]) -> None:
        """Bring arrays in as table `name`: small ones, such as dictionaries. int32, int64, float64 or text."""
        ...

    def drop(self, name: str) -> None:
        """Forget a table and what it occupies."""
        ...

    def rows(self, sql: str) -> Arrays:
        """The rows of a query as one array per column; in no order unless the query asks for one."""
        ...

    def write_parquet(self, sql: str, path: Path, names: Mapping[str, str], *, order: Sequence[str]) -> None:
        """Write the rows of a query to `path`, whole or not at all, sorted by its columns `order`.

        names : column of the query -> name in the file.
        """
        ...


@contextmanager
def open_engine(
    choice: str = "duckdb",
    *,
    memory_limit: int = MEMORY_LIMIT,
    temp_directory: str | PathLike[str] | None = None,
    encoding: str | None = None,
) -> Iterator[Engine]:
    """An engine by name; what it wrote on its temporary disk is gone afterwards.

    choice : "duckdb", "spark" (the session's own configuration, or this machine), or "spark://MASTER" with a host and
        port, or another master such as "spark://local[2]" or "spark://yarn".
    memory_limit : bytes; DuckDB's own limit, the memory of Spark's driver.
    temp_directory : where what exceeds the memory goes; the system's folder for temporary files unless given.
    encoding : encoding of a text file that is not UTF-8; guessed when left out, which is noted.

    >>> with open_engine("duckdb") as engine:
    ...     engine.keep("t", "select 1 as a union all select 2 as a")
    ...     engine.rows("select cast(sum(a) as bigint) as total from t")
    2
    {'total': array([3])}
    """
    if choice == "duckdb":
        from unmask.data.duckdb_engine import Duck  # an engine is imported where it runs

        with Duck.open(memory_limit=memory_limit, temp_directory=temp_directory, encoding=encoding) as duck:
            yield duck
    elif choice == "spark" or choice.startswith("spark://"):
        from unmask.data.spark_engine import Spark

        master = master_of(choice)
        with Spark.open(master, memory_limit=memory_limit, temp_directory=temp_directory, encoding=encoding) as spark:
            yield spark
    else:
        raise UnmaskError(f"engine is {choice!r}, expected duckdb, spark or spark://MASTER")


def master_of(choice: str) -> str | None:
    """The master that Spark is asked for; None for the one of its configuration.

    >>> master_of("spark"), master_of("spark://node:7077"), master_of("spark://local[2]")
    (None, 'spark://node:7077', 'local[2]')
    """
    rest = choice.removeprefix("spark").removeprefix("://")
    if not rest:
        return None
    return rest if rest.startswith(("local", "yarn", "k8s://")) else choice
