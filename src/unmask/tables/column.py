"""Columns of a table as codes, and equivalence classes of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Integers
from unmask.core.csr_rows import CsrRows
from unmask.core.errors import UnmaskError
from unmask.core.grouping import class_counts, group_rows, rank_keys, take_codes
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.levels import Levels, Missing, Type

CellsOf = Literal["any", "nodes"]
"""Sets that a released cell of a column with a hierarchy may be: any set, or nodes of the hierarchy only."""

Rows = NDArray[np.integer[Any]] | Booleans | slice
"""Selection of rows: numbers, a mask, or a slice."""


@dataclass(frozen=True, eq=False)
class Column:
    """Column of a table, as codes into its levels: row i has the cell `levels.labels[codes[i]]`.

    Levels are sorted, so codes do not depend on the order of the rows.

    hierarchy  : generalization hierarchy of the column
    stored     : DuckDB's name of the type in the source; "" for text without a type
    cells      : "nodes" if a release may contain nodes of the hierarchy only, "any" for any set of leaves
    row_counts : (n,) rows of the source that each code represents, in a counted table; None if each code is one row
    """

    name: str
    codes: NDArray[np.int32]
    levels: Levels
    hierarchy: Hierarchy | None = None
    stored: str = ""
    cells: CellsOf = "any"
    row_counts: Integers | None = None

    def __post_init__(self) -> None:
        if self.cells == "nodes" and self.hierarchy is not None and self.levels.kind == "numeric":
            raise UnmaskError(
                f"column {self.name!r} has the type {self.levels.type}, expected text for cells that are nodes of its "
                "hierarchy; leave its type out"
            )

    def __repr__(self) -> str:
        return f"Column({self.name!r}, {self.n_rows} rows, {len(self.levels)} {self.type} levels)"

    @property
    def type(self) -> Type:
        """Type of the values: number, date, datetime, code, text, ordinal."""
        return self.levels.type

    @property
    def ladder(self) -> str:
        """Kind of the levels to which the column can be generalized: those of a hierarchy, or of its type."""
        return self.type if self.hierarchy is None else "hierarchy"

    @property
    def n_rows(self) -> int:
        """Number of rows of the source."""
        return int(self.codes.size if self.row_counts is None else self.row_counts.sum())

    @cached_property
    def counts(self) -> Integers:
        """(L,) rows of each level."""
        return np.bincount(self.codes, self.row_counts, len(self.levels)).astype(np.int64, copy=False)

    def stated(self, missing: Missing) -> Integers:
        """Return the levels that occur and are not open."""
        return np.flatnonzero((self.counts > 0) & ~self.levels.open(missing))

    def take(self, rows: Rows) -> Column:
        """Return a selection of the rows. The levels are unchanged, so codes remain comparable."""
        return replace(
            self, codes=self.codes[rows], row_counts=None if self.row_counts is None else self.row_counts[rows]
        )


@dataclass(frozen=True, eq=False)
class Classes:
    """Equivalence classes: rows with equal cells in all quasi-identifiers.

    of_row : (n_rows,) class of each row; classes are numbered in lexicographic order of their codes
    sizes  : (J,) rows of each class
    first  : (J,) first row of each class
    codes  : (n_rows,) codes of each quasi-identifier
    """

    of_row: NDArray[np.int32]
    sizes: Integers
    first: Integers
    codes: tuple[NDArray[np.int32], ...]

    @cached_property
    def levels(self) -> NDArray[np.int32]:
        """(J, n_quasi_identifiers) codes of each class."""
        return take_codes(self.codes, self.first)

    def __repr__(self) -> str:
        sizes = f" of {self.sizes.min()} to {self.sizes.max()} rows" if len(self.sizes) else ""
        return f"Classes({len(self.sizes)}{sizes})"

    def counts(self, column: Column) -> CsrRows:
        """Return (J, L) rows of each class with each level of a column, CSR."""
        return class_counts(self.of_row, len(self.sizes), column.codes, len(column.levels), weight=column.row_counts)

    def kinds(self, codes: NDArray[np.int32], n_levels: int, *, weight: Integers | None = None) -> ClassKinds:
        """Return the kinds of classes by their counts of values; classes of one row with equal values are one kind.

        A million classes of one row are as many kinds as there are values, and need no sort.

        codes, n_levels, weight : as in `class_counts`

        >>> classes = Classes(np.array([0, 1, 1, 2], np.int32), np.array([1, 2, 1]), np.array([0, 1, 3]), ())
        >>> classes.kinds(np.array([1, 0, 1, 1], np.int32), 2).of_class
        array([0, 1, 0], dtype=int32)
        """
        is_single = self.sizes == 1
        in_single = is_single[self.of_row]
        single_rows = np.flatnonzero(in_single)
        kind, _, example = rank_keys(codes[single_rows].astype(np.int64), n_levels)
        of_class = np.cumsum(~is_single, dtype=np.int32) + np.int32(len(example) - 1)
        of_class[self.of_row[single_rows]] = kind
        rows = np.append(single_rows[example], np.flatnonzero(~in_single))
        n_kinds = len(example) + int(np.count_nonzero(~is_single))
        weight = None if weight is None else weight[rows]
        return ClassKinds(
            class_counts(of_class[self.of_row[rows]], n_kinds, codes[rows], n_levels, weight=weight), of_class
        )


class ClassKinds(NamedTuple):
    """Kinds of equivalence classes: classes of one kind have equal counts of values.

    counts   : (n_kinds, n_values) rows of a class of each kind with each value, CSR
    of_class : (J,) kind of each class
    """

    counts: CsrRows
    of_class: NDArray[np.int32]


def classes_of(columns: Sequence[Column]) -> Classes:
    """Return the equivalence classes of rows with equal cells in the given columns."""
    codes = tuple(column.codes for column in columns)
    of_row, sizes, first = group_rows(codes, [len(column.levels) for column in columns])
    if columns and columns[0].row_counts is not None:
        sizes = np.zeros(len(sizes), dtype=np.int64)
        np.add.at(sizes, of_row, columns[0].row_counts)  # without copies of both arrays, which `bincount` makes
    return Classes(of_row, sizes, first, codes)
