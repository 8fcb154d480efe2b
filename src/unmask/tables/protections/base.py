"""Base of the protections, which map a table to a release and its origin.

A protection is called with the table and returns (release, origin): released row i is row origin[i] of the table.
Released rows are sorted by their released cells, column by column, and equal rows are in random order. The bytes of a
release therefore do not depend on the order of the table's rows. `rng` is for tests and studies. Without it, random
numbers come from the operating system.

The reference distribution of t-closeness and related constraints is that of the table before protection. k counts the
different people of a class (`Table.person`), or its rows if each row is a person; it ignores weights. Under "own" and
"wildcard", a missing cell is a value that precedes all others. Under "excluded", protections that form classes drop
rows with a missing quasi-identifier.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.grouping import pack, sort_keys
from unmask.core.randomness import secret_unless
from unmask.tables.column import Column
from unmask.tables.protections.recoding import generalize
from unmask.tables.table import Table

if TYPE_CHECKING:
    from unmask.tables.attacks.pairing import Pairing

Released = tuple[Table, Integers]


def format_call(protection: Any) -> str:
    """Return the call that rebuilds a protection: its first parameter, and all parameters that differ from the
    default.
    """
    parts = []
    for position, item in enumerate(fields(protection)):
        value = getattr(protection, item.name)
        default = item.default_factory() if item.default_factory is not NO_DEFAULT else item.default
        if position == 0 or value != default:
            parts.append(f"{item.name}={value!r}")
    return f"{type(protection).__name__}({', '.join(parts)})"


def allow_all(_protection: Any, _release: Table, _pairing: Pairing, row: Integers, _klass: Integers) -> Booleans:
    """Return a mask that allows all compatible pairs of a person and a released class."""
    return np.ones(row.size, dtype=np.bool_)


def protected_rows(table: Table) -> Table:
    """Return the rows to protect: all rows, or under "excluded" those without a missing quasi-identifier."""
    if not table.n_rows:
        raise FailedError("the table has 0 rows, expected at least 1; check the file and how it was read")
    return table.complete


def release_columns(table: Table, columns: Iterable[Column], rng: np.random.Generator | None) -> Released:
    """Return the release of the protected rows of a table with other quasi-identifiers, and its origin."""
    return sort_release(replace(table.complete, quasi_identifiers=tuple(columns)), table.complete_rows, rng)


def sort_release(release: Table, origin: Integers, rng: np.random.Generator | None) -> Released:
    """Return the release sorted by its cells, with equal rows in random order, and its origin.

    origin : source row of each row
    """
    shuffled = secret_unless(rng).permutation(release.n_rows)
    key, space = pack(*zip(*((column.codes, len(column.levels)) for column in release.written), strict=True))
    order = shuffled[sort_keys(key[shuffled], space)[1]]
    return release.take(order), origin[order]


def exact_numbers(column: Column) -> Floats:
    """Return (L,) the number of each level, nan for a missing cell.

    UnmaskError if the column contains other cells.
    """
    levels = column.levels
    if column.type != "number" or not (levels.atomic | levels.is_missing | levels.unknown)[column.counts > 0].all():
        raise UnmaskError(
            f"column {column.name!r} has cells that are not exact numbers, expected numbers; leave the column out"
        )
    return levels.low


def column_position(table: Table, name: str) -> int:
    """Return the position of a quasi-identifier; raise UnmaskError for another column."""
    names = [column.name for column in table.quasi_identifiers]
    table.column(name)
    if name not in names:
        raise UnmaskError(f"column {name!r} is not a quasi-identifier; choose among {', '.join(names)}")
    return names.index(name)


def check_ordered(table: Table, names: Iterable[str]) -> None:
    """Raise UnmaskError if a column is not a quasi-identifier whose values have an order."""
    for name in names:
        if table.quasi_identifiers[column_position(table, name)].levels.kind == "categorical":
            raise UnmaskError(f"the values of {name!r} have no order; give it one (ordinal), or leave it out")


def takes_part(column: Column, names: Collection[str]) -> bool:
    """Return True for a named column; without names for each whose values have an order."""
    return column.name in names if names else column.levels.kind != "categorical"


def recode(table: Table, levels: Mapping[str, float | str]) -> Table:
    """Return the table with the named quasi-identifiers recoded to levels."""
    columns = list(table.quasi_identifiers)
    for name, level in levels.items():
        position = column_position(table, name)
        columns[position] = generalize(columns[position], level)
    return replace(table, quasi_identifiers=tuple(columns))
