"""Top and bottom coding: the largest and the smallest values of a column become open intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from unmask.core.errors import FailedError, UnmaskError
from unmask.ranges import Range, check_types
from unmask.tables.column import Column
from unmask.tables.protections.base import (
    Released,
    allow_all,
    column_position,
    exact_numbers,
    format_call,
    protected_rows,
    release_columns,
)
from unmask.tables.protections.recoding import write_cells
from unmask.tables.table import Table

Ends = Literal["both", "top", "bottom"]


@dataclass(frozen=True)
class TopBottomCode:
    """Top and bottom coding: numbers in a tail become `>=x` or `<=x`, where each tail has at least k rows.

    x is the value nearest to the end of the column for which the tail is large enough. Values between the tails are not
    changed.

    Assumes: extreme values are what others know or recognize.

    Fails when: several columns are known, because a row is unique by values between the tails; or a table publishes
        the sum of a tail in which one value dominates.

    Parameters
    ----------
    k : int
        Smallest number of rows in a tail.
    columns : str or tuple of str
        Quasi-identifiers of numbers; by default all of them.
    ends : {"both", "top", "bottom"}
        Tails that are coded.

    References
    ----------
    A. Hundepool et al., Statistical Disclosure Control, 2012.

    Examples
    --------
    >>> table = Table.read({"age": [3, 30, 34, 50, 91, 97]}, quasi_identifiers="age")
    >>> release, origin = TopBottomCode(k=2)(table, rng=np.random.default_rng(1))
    >>> release["age"].tolist()
    ['<=30', '<=30', '34', '50', '>=91', '>=91']
    """

    k: Annotated[int, Range(1)] = 10
    columns: str | tuple[str, ...] = ()
    ends: Ends = "both"

    __repr__ = format_call
    allowed_pairs = allow_all

    def __post_init__(self) -> None:
        check_types(type(self), vars(self))

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Return the release with coded tails, and its origin."""
        names = (self.columns,) if isinstance(self.columns, str) else tuple(self.columns)
        for name in names:
            exact_numbers(table.quasi_identifiers[column_position(table, name)])
        coded = names or [column.name for column in table.quasi_identifiers if column.type == "number"]
        if not coded:
            raise UnmaskError("no quasi-identifier is a number, so that no column has tails; name another protection")
        columns = protected_rows(table).quasi_identifiers
        recoded = [self._recode(column) if column.name in coded else column for column in columns]
        return release_columns(table, recoded, rng)

    def _recode(self, column: Column) -> Column:
        """Return the column with open intervals in place of its tails."""
        values, counts = exact_numbers(column), column.counts
        order = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]
        below, above = np.cumsum(counts[order]), np.cumsum(counts[order][::-1])[::-1]
        last_low = int(np.searchsorted(below, self.k)) if self.ends != "top" else -1
        first_high = int(np.count_nonzero(above >= self.k)) - 1 if self.ends != "bottom" else len(order)
        if last_low >= first_high or first_high < 0:
            raise FailedError(
                f"column {column.name!r} has too few rows for tails of {self.k}; choose a smaller k or leave it out"
            )
        labels: list[str | None] = list(column.levels.labels)
        for position in (*range(last_low + 1), *range(first_high, len(order))):
            end, sign = (order[last_low], "<=") if position <= last_low else (order[first_high], ">=")
            labels[order[position]] = f"{sign}{column.levels.labels[end]}"
        if column.levels.missing >= 0:
            labels[column.levels.missing] = None
        return write_cells(column, labels)
