"""What engines have in common: one interface to tables that may exceed memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind: TypeAlias = Literal["integer", "real", "text", "untyped"]
"""What a column of an engine holds: 64-bit whole numbers, doubles, text that the source stores as text, or the text of
something else: of a cell of a text file, a date, a decimal, a boolean.
"""

Arrays: TypeAlias = "dict[str, NDArray[Any]]"


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
        ids : new names of columns in which hardly a value repeats, see `unmask.engines.sql.clean`
        """
        ...

    def keep(self, name: str, sql: str, *, cut: bool = False) -> int:
        """Run a query and keep its rows as table `name`, in memory and beyond it on disk; returns their number.

        cut : forget what the rows came from, so that tables made of tables, round by round, do not drag a plan along
            that doubles with each; they then take more memory.
        """
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
