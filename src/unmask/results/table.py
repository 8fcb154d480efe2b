"""Tables of facts. The kind of a column decides how its values are written and which of them may be shared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from unmask.results.suppression import round_people, round_share

Kind = Literal["text", "number", "share", "people", "share_of_people", "group", "interval", "belief"]


@dataclass(frozen=True)
class Column:
    """A column of a table of facts.

    Parameters
    ----------
    name : str
        Key of the column in JSON and in data frames.
    label : str
        Heading of the column on a page.
    kind : {"text", "number", "share", "people", "share_of_people", "group", "interval", "belief"}
        Format and suppression of the values. "number" and "share" describe the release and are always shown;
        "interval" is a pair of numbers, "belief" a list of (label, probability). "people" is a count of people,
        "share_of_people" a share of the count in column `of`; both are rounded up to groups. "group" is the size of
        the group that a row describes, None if it describes all: rows of small groups are left out.
    unit : str, optional
        Unit of a number, such as "bits" or "km".
    of : str, optional
        Column of the number of people that a "share_of_people" refers to.
    places : int, optional
        Decimals of a number; three significant digits by default.
    """

    name: str
    label: str = ""
    kind: Kind = "text"
    unit: str = ""
    of: str = ""
    places: int | None = None

    def __post_init__(self) -> None:
        if self.kind == "share_of_people" and not self.of:
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
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]
    title: str = ""

    @classmethod
    def from_records(cls, name: str, columns: Iterable[Column], records: Iterable[Iterable[Any]]) -> Table:
        """Return the table of records, whose values are in the order of the columns.

        >>> Table.from_records("sizes", [Column("k"), Column("n", kind="people")], [("a", 3)]).rows
        ({'k': 'a', 'n': 3},)
        """
        listed = tuple(columns)
        names = [column.name for column in listed]
        return cls(name, listed, tuple(dict(zip(names, values, strict=True)) for values in records))

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

    def without_small(self, least: int) -> Table:
        """Return the table as it may be shared: without facts about fewer than `least` people.

        Rows of smaller groups are left out. Counts of people read "fewer than 10" or are rounded up to multiples of
        `least`, and so are shares of people, so that no difference of two cells describes fewer. Suppressing twice
        changes nothing.

        >>> people = Column("people", kind="people")
        >>> Table.from_records("t", [people], [(0,), (3,), (21,)]).without_small(10).values("people")
        [0, 'fewer than 10', 30]
        """
        groups = [column.name for column in self.columns if column.kind == "group"]
        large = [row for row in self.rows if all(_is_large(row[name], least) for name in groups)]
        rows = ({column.name: _shared_value(column, row, least) for column in self.columns} for row in large)
        return replace(self, rows=tuple(rows))


def _is_large(group: int | str | None, least: int) -> bool:
    """Return whether a row of a group may be shared; None is no group, and a text is rounded already."""
    return group is None or isinstance(group, str) or group >= least


def _shared_value(column: Column, row: Mapping[str, Any], least: int) -> Any:
    value = row[column.name]
    if value is None or least <= 1:
        return value
    if column.kind in ("people", "group"):
        return round_people(value, least)
    if column.kind == "share_of_people":
        n_people = row[column.of]
        return None if isinstance(n_people, str) else round_share(value, n_people, least)
    return value
