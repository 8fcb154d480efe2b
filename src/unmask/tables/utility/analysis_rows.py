"""Rows of a table as numbers and as shares of categories, for analyses before and after protection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.grouping import group
from unmask.tables.column import Column
from unmask.tables.levels import Levels
from unmask.tables.matching import compatible
from unmask.tables.table import Table

Floats = NDArray[np.float64]

MAX_CATEGORIES = 200
"""Values of a column that groups rows."""

MAX_CELLS = 10_000
"""Cells of a table of counts or means."""


def list_categories(column: Column) -> Levels:
    """Return the exact values of a column that occur, the most common first, as levels.

    Raises
    ------
    UnmaskError
        If the column has more than 200 values.
    """
    counts = np.where(column.levels.atomic, column.counts, 0)
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    if len(order) > MAX_CATEGORIES:
        raise UnmaskError(
            f"column {column.name!r} has {len(order):,} values, expected at most {MAX_CATEGORIES} to group by; "
            "take a column with fewer values"
        )
    return column.levels.select(order)


@dataclass(frozen=True, eq=False)
class AnalysisRows:
    """Distinct combinations of the cells of some columns.

    A cell with several values, such as an interval, is a number at its center, or equal shares of its categories.
    A row with a missing or suppressed cell is left out.

    count : (n,) rows of each combination
    weight, square : (n,) sums of their weights, and of the squares; both are `count` without weights
    numbers : column -> (n,) values
    shares : column -> (n, n_categories) shares, which sum to 1 or, for a value outside the categories, to 0
    """

    count: Floats
    weight: Floats
    square: Floats
    numbers: dict[str, Floats]
    shares: dict[str, scipy.sparse.csr_array]

    @classmethod
    def of(cls, table: Table, numbers: Sequence[str], categories: dict[str, Levels]) -> AnalysisRows:
        """Return the combinations of columns of a table.

        numbers : columns with numeric values
        categories : column -> categories to which its cells belong
        """
        columns = [table.column(name) for name in dict.fromkeys((*numbers, *categories))]
        of_row, sizes, codes = group([column.codes for column in columns], [len(column.levels) for column in columns])
        code = {column.name: codes[:, position] for position, column in enumerate(columns)}
        levels = {column.name: column.levels for column in columns}
        weights = np.ones(table.n_rows) if table.weight is None else np.nan_to_num(table.weight)
        count, weight, square = (
            np.bincount(of_row, weights**power, len(sizes)).astype(np.float64) for power in (0, 1, 2)
        )
        shares = {name: share_categories(levels[name], kinds)[code[name]] for name, kinds in categories.items()}
        return cls(count, weight, square, {n: center_cells(levels[n])[code[n]] for n in numbers}, shares).complete

    @property
    def complete(self) -> AnalysisRows:
        """The combinations without a missing cell."""
        is_known = np.ones(len(self.count), np.bool_)
        for values in self.numbers.values():
            is_known &= np.isfinite(values)
        for shares in self.shares.values():
            is_known &= np.diff(shares.indptr) > 0
        return self if is_known.all() else self.take(np.flatnonzero(is_known))

    def take(self, rows: NDArray[np.int64]) -> AnalysisRows:
        """Return some of the combinations."""
        return replace(
            self,
            count=self.count[rows],
            weight=self.weight[rows],
            square=self.square[rows],
            numbers={name: values[rows] for name, values in self.numbers.items()},
            shares={name: shares[rows] for name, shares in self.shares.items()},
        )

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.count.sum())

    @cached_property
    def effective_rows(self) -> float:
        """Number of equally weighted rows with the same precision (Kish)."""
        return float(self.weight.sum() ** 2 / self.square.sum()) if self.n_rows else 0.0

    def cross(self, names: Sequence[str]) -> scipy.sparse.csr_array:
        """Return (n, n_cells) shares of each combination in the cells of a cross table; without columns one cell."""
        cells = scipy.sparse.csr_array(np.ones((len(self.count), 1)))
        for name in names:
            cells = _multiply_rows(cells, self.shares[name])
            if cells.shape[1] > MAX_CELLS:
                raise UnmaskError(
                    f"the table of {', '.join(names)} has more than {MAX_CELLS:,} cells; take fewer columns"
                )
        return cells


def _multiply_rows(first: scipy.sparse.csr_array, second: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Return (n, a b) products of all pairs of entries of the rows of (n, a) and (n, b) matrices."""
    entries = first.tocoo()
    pairs = second[entries.row].tocoo()
    values = entries.data[pairs.row] * pairs.data
    columns = entries.col[pairs.row].astype(np.int64) * second.shape[1] + pairs.col
    shape = (first.shape[0], first.shape[1] * second.shape[1])
    return scipy.sparse.csr_array((values, (entries.row[pairs.row], columns)), shape=shape)


def center_cells(levels: Levels) -> Floats:
    """Return the (n_levels,) value at the center of each numeric cell, the finite end of an open interval, or nan."""
    if levels.kind != "numeric":
        return np.full(len(levels), np.nan)
    low, high = (np.where(np.isfinite(ends), ends, np.nan) for ends in (levels.low, levels.high))
    low, high = np.where(np.isnan(low), high, low), np.where(np.isnan(high), low, high)
    return np.asarray((low + high) / 2)


def share_categories(levels: Levels, categories: Levels) -> scipy.sparse.csr_array:
    """Return (n_levels, n_categories) equal shares of the categories that a cell may be; none if it is suppressed."""
    fits = compatible(categories, levels, missing="own").T & ~(levels.suppressed | levels.is_missing)[:, None]
    return scipy.sparse.csr_array(fits / np.maximum(fits.sum(axis=1), 1)[:, None])
