"""Tables of facts. The kind of a column decides how its values are written and which of them may be shared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

Kind = Literal[
    "text", "number", "share", "people", "share_of_people", "percent_of_people", "part_of_people", "group", "bin",
    "name", "interval", "belief", "private",
]  # fmt: skip

Record = Mapping[str, Any]
"""Column name -> value."""


@dataclass(frozen=True)
class Column:
    """A column of a table of facts.

    Parameters
    ----------
    name : str
        Key of the column in JSON and in data frames.
    label : str
        Heading of the column on a page.
    kind : {"text", "number", "share", "people", "share_of_people", "percent_of_people", "group", "bin", "name", ...}
        Format and suppression of the values:

        * "number", "share", "interval" (a pair of numbers), "belief" (a list of label and probability): shown.
        * "people", a count, and "share_of_people", a share of the count in column `of`: rounded up to groups.
        * "percent_of_people", a share of the count in column `of`: in whole percent, left out if the count is small.
        * "part_of_people", a count of the people in column `of`: a small remainder is not shown.
        * "group", the size of the group that a row describes, None if it describes all: small groups are left out.
        * "bin", the share of the count in column `of` that is in a bin: small bins are empty, and cut at the ends.
        * "name", a text that belongs to a share of people, in column `of`: names of few are replaced.
        * "private", never shared.

        A tuple or a mapping of counts or shares is suppressed value by value.
    unit : str, optional
        Unit of a number, such as "bits" or "km".
    of : str, optional
        Column that the value refers to. The count of "people" is at most the number in that column.
    places : int, optional
        Decimals of a number; three significant digits by default.
    exact : bool
        True if counts of at least the smallest group, and shares of them, are not rounded.
    meaning : str
        Explanation of the column, for tables that a page shows with a line for each column.
    rounds_up : bool
        True for an amount that must not be written smaller than it is, such as a fine that stops an attack.
    """

    name: str
    label: str = ""
    kind: Kind = "text"
    unit: str = ""
    of: str = ""
    places: int | None = None
    exact: bool = False
    meaning: str = ""
    rounds_up: bool = False

    def __post_init__(self) -> None:
        if self.kind in ("share_of_people", "percent_of_people", "bin", "name") and not self.of:
            raise ValueError(f"column {self.name} is a share of people, expected `of`, the column of their number")


@dataclass(frozen=True)
class Table:
    """Facts of one kind: named columns, and rows of values by column name.

    Parameters
    ----------
    name : str
        Name of the table in a result, in JSON and of an exported file.
    columns : tuple of Column
        Columns in the order of the page.
    rows : tuple of mapping
        Column name -> value, None if it was not computed.
    title : str, optional
        Line above the table on a page.
    series : tuple of str
        Columns that distinguish series of rows: bins are cut, names replaced and rows limited in each series.
    limit : int
        Rows of each series that are shown, after small groups are left out; 0 for all.
    heading : str, optional
        Column with the line above each group of rows on a page.
    page_only : bool
        True if the table only arranges values for a page, which programs find in the measures or in other tables.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Record, ...]
    title: str = ""
    series: tuple[str, ...] = ()
    limit: int = 0
    heading: str = ""
    page_only: bool = False

    @classmethod
    def from_records(cls, name: str, columns: Iterable[Column], records: Iterable[Iterable[Any]]) -> Table:
        """Return the table of records, whose values are in the order of the columns.

        >>> Table.from_records("sizes", [Column("k"), Column("n", kind="people")], [("a", 3)]).rows
        ({'k': 'a', 'n': 3},)
        """
        all_columns = tuple(columns)
        names = [column.name for column in all_columns]
        return cls(name, all_columns, tuple(dict(zip(names, values, strict=True)) for values in records))

    @classmethod
    def of_releases(cls, name: str, columns: Sequence[Column], facts: Mapping[str, Iterable[object]]) -> Table:
        """Return the table of facts by release: the release, and attributes with the names of the other columns."""
        pairs = ((release, item) for release, items in facts.items() for item in items)
        names = [column.name for column in columns[1:]]
        records = ((release, *(getattr(item, column_name) for column_name in names)) for release, item in pairs)
        return cls.from_records(name, columns, records)

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, names: Iterable[str]) -> Table:
        """Return the table with these columns only."""
        columns = tuple(self.column(name) for name in names)
        rows = tuple({column.name: row[column.name] for column in columns} for row in self.rows)
        return replace(self, columns=columns, rows=rows)

    def where(self, **values: Any) -> Table:
        """Return the table with the rows that have these values."""
        rows = tuple(row for row in self.rows if all(row[name] == value for name, value in values.items()))
        return replace(self, rows=rows)

    def column(self, name: str) -> Column:
        """Return the column of this name."""
        return next(column for column in self.columns if column.name == name)

    def values(self, name: str) -> list[Any]:
        """Return the values of a column in the order of the rows."""
        return [row[name] for row in self.rows]

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield each row as a dictionary, as JSON and data frames hold it."""
        names = [column.name for column in self.columns]
        return ({name: row[name] for name in names} for row in self.rows)
