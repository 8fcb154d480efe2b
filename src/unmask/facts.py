"""Counts about the columns of a table, apart from the beliefs of adversaries: values, none of which shows a cell."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.data.column_names import Role

Count = int | str
"""A number, or words such as "fewer than 10" if a page suppresses it."""


@dataclass(frozen=True)
class Restored:
    """Share of cells for which the most common value among *other* rows that look alike is right.

    column   : what is guessed; by : the other column that is read
    cells    : cells guessed
    guessed  : share right without `by`
    restored : share right with it; a cell whose `by` no other row has is guessed without
    exact    : whether no value of `by` goes with two values of `column`
    """

    column: str
    by: str
    cells: int
    guessed: float
    restored: float
    exact: bool

    def __str__(self) -> str:
        return self.column if self.exact else f"{self.column} (nearly)"


@dataclass(frozen=True)
class ColumnFacts:
    """One column, in figures.

    role       : given to it; "" for none
    rows       : of the table; distinct : values other than a missing cell; missing : cells
    alone      : rows whose value no other row has
    together   : rows that no other row is like in the quasi-identifiers and this column; None without any
    determines : other columns whose cells it gives, exactly or nearly (see `tables.exposure.dependencies`)
    suggestion, reason : the role that fits it, and why, in words
    key        : whether its values number people, see `tables.unit.Key`
    type       : of its values: number, date, code ...
    design     : part in a survey design, such as household or stratum; "" for none
    """

    name: str
    role: str
    rows: int
    distinct: int
    missing: Count
    alone: Count
    together: Count | None
    determines: tuple[Restored, ...]
    suggestion: Role
    reason: str
    key: int = 0
    type: str = ""
    design: str = ""


@dataclass(frozen=True)
class Printed:
    """Exact values in the cells of a quasi-identifier: each belongs to a person in the data.

    values : distinct exact values among cells, members of sets and closed ends of intervals; where the original is
             given, those that it has
    alone  : people of the original whose value is printed and shared with no other person; None without the original
    people : those of the original, or rows of the release without it
    """

    column: str
    values: int
    alone: Count | None
    people: int


@dataclass(frozen=True)
class Contribution:
    """Contribution of one quasi-identifier to the success of an adversary who knows all of them.

    Parameters
    ----------
    target : str
        "identity", or a sensitive column.
    column : str
        Name of the quasi-identifier.
    shapley : float
        Mean of what the column adds over all orders of the columns. The sum over columns is the whole gain.
    alone : float
        Success that the column adds to no knowledge.
    last : float
        Success that the column adds to all others.
    error : float, optional
        Half the width of a 95 % interval of `shapley`, 0 where it is exact.
    """

    target: str
    column: str
    shapley: float
    alone: float
    last: float
    error: float = 0.0
