"""Columns from the texts of cells, by declared or recognized types."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from shlex import quote
from unicodedata import normalize

import numpy as np

from unmask.core.arrays import Floats
from unmask.core.errors import UnmaskError
from unmask.tables.cells import plain_levels, read_levels
from unmask.tables.coding import Encoded
from unmask.tables.column import CellsOf, Column
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.scales import Decimal
from unmask.tables.types import Declared, Recognized, parse_type, recognize


def read_hierarchies(hierarchies: Mapping[str, Hierarchy | str | PathLike[str]]) -> dict[str, Hierarchy]:
    """Return hierarchies by column; those given as a path are read."""
    return {name: tree if isinstance(tree, Hierarchy) else Hierarchy.read(tree) for name, tree in hierarchies.items()}


@dataclass(frozen=True, eq=False)
class Meanings:
    """Declared notation of the cells of a table; the arguments are those of `Table.read`.

    like : column of another table with the same name, by name
    """

    types: Mapping[str, str]
    orders: Mapping[str, Sequence[str]]
    hierarchies: Mapping[str, Hierarchy]
    cells: CellsOf = "any"
    na: tuple[str, ...] | None = None
    decimal: Decimal | None = None
    like: Mapping[str, Column] = field(default_factory=dict)

    @property
    def declared_names(self) -> tuple[str, ...]:
        """Names of the columns with a declared type, order or hierarchy."""
        return (*self.types, *self.orders, *self.hierarchies)

    def of(
        self, encoded: Mapping[str, Encoded], *, plain: Collection[str] = ()
    ) -> tuple[dict[str, Column], tuple[str, ...]]:
        """Return columns by name, and notes on how they were read. plain : columns that are kept as text"""
        columns, notes = self.read({name: column for name, column in encoded.items() if name not in plain})
        return columns | {name: _read_kept(name, encoded[name], self.na or ()) for name in plain}, notes

    def read(self, encoded: Mapping[str, Encoded]) -> tuple[dict[str, Column], tuple[str, ...]]:
        """Return columns by name, and notes on how they were read."""
        declared = {name: self._declared(name) for name in encoded}
        types = recognize(encoded, declared, na=self.na, decimal=self.decimal)
        columns = {name: self._column(name, column, declared[name], types[name]) for name, column in encoded.items()}
        codes = [name for name in encoded if types[name].numbers_as_code]
        example = quote(f"{codes[0]}=number") if codes else ""
        guesses = [f"whole numbers read as codes: {', '.join(codes)} (--type {example} changes that)"] if codes else []
        return columns, (*guesses, *(note for name in encoded for note in types[name].notes))

    def _declared(self, name: str) -> Declared:
        of_type, days = parse_type(name, self.types[name]) if name in self.types else (None, None)
        like = self.like.get(name)
        order, tree = _order(name, self.orders.get(name)), self.hierarchies.get(name)
        if like is not None and of_type is None and order is None and tree is None:
            order, tree = like.levels.domain if like.type == "ordinal" else None, like.hierarchy
        if tree is not None and order is not None:
            tree = tree.reorder(order)  # leaves and domain have the same order
        return Declared(of_type, days, order, tree, like)

    def _column(self, name: str, encoded: Encoded, declared: Declared, type_read: Recognized) -> Column:
        known_values = () if declared.like is None else declared.like.levels.domain
        levels, code = read_levels(
            type_read.texts,
            as_type=type_read.type,
            column=name,
            order=declared.order,
            hierarchy=declared.hierarchy,
            known_labels=known_values,
        )
        return Column(name, code[encoded.codes], levels, declared.hierarchy, encoded.stored, self.cells)


def _order(name: str, values: object) -> tuple[str, ...] | None:
    if isinstance(values, str) or not isinstance(values, Iterable | None):
        raise UnmaskError(f"the order of column {name!r} is {values!r}, expected a list of its values, lowest first")
    return None if values is None else tuple(normalize("NFC", str(value)) for value in values)


def _read_kept(name: str, encoded: Encoded, na: Sequence[str]) -> Column:
    levels, code = plain_levels([None if text in na else text for text in encoded.texts])
    return Column(name, code[encoded.codes], levels, None, encoded.stored)


def weights_of(column: Column) -> Floats:
    """Return (n_rows,) numbers of a weight column; nan for a missing cell."""
    levels = column.levels
    bad = int(column.counts[(levels.low != levels.high) & ~levels.is_missing].sum())
    if bad:
        raise UnmaskError(f"weight {column.name!r} is not an exact number in {bad} rows; expected a number in each row")
    negative = int(column.counts[levels.low < 0].sum())
    if negative:
        raise UnmaskError(
            f"weight {column.name!r} is negative in {negative} rows; expected at least 0, or a missing cell"
        )
    return levels.low[column.codes]


MAX_NORMALIZED = 1.05
"""Mean weight up to which weights are taken for normalized ones, whose sum is the number of rows."""


def scale_weights(weight: Floats | None, population: float | None = None) -> Floats | None:
    """Return the (n_rows,) number of people that each row represents; None if it is not known.

    A missing weight counts as 0. With the size of the population, weights may have any scale. Otherwise their sum is
    the population, unless it is about the number of rows.

    >>> scale_weights(np.array([0.5, 1.5, np.nan]), population=100)
    array([25., 75.,  0.])
    >>> scale_weights(np.array([0.5, 1.5, 1.0])) is None
    True
    """
    if weight is None:
        return None
    people = np.nan_to_num(weight)
    total = float(people.sum())
    if population is not None and total > 0:
        return np.asarray(people * (population / total))
    return people if total > MAX_NORMALIZED * len(people) else None
