"""Ways to protect a table: each turns a table into a release and says which row every released row came from.

A protection is called with the table and returns (release, origin): released row i is row `origin[i]` of the table.
The rows of a release stand in the order of what is released of them, column after column as they are written; which of
several equal rows is whose is drawn at random. So a release is a function of what it says: its bytes do not depend on
the order of the table's rows, and its order tells nothing. `rng` is for tests and studies; without it, chance comes
from the operating system.

The distribution q of t-closeness and its relatives is that of the table a protection is given, before anything is
generalized or suppressed. k counts the people of a class: by `Table.person` where one has several rows, otherwise its
rows; never weights. Missing cells: under "own" and "wildcard" a missing cell is a value of its own, placed before all
others (k rows that agree on it are k rows for an adversary who reads it as a wildcard, too); under "excluded" the
protections that form classes drop the rows with a missing quasi-identifier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import by_class
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.randomness import secret_unless
from unmask.tables.column import Column, classes_of
from unmask.tables.protections.recoding import Recoded, generalized
from unmask.tables.table import Table

if TYPE_CHECKING:
    from unmask.tables.attacks.pairing import Pairing

Released = tuple[Table, NDArray[np.int64]]


def format_call(protection: Any) -> str:
    """Return the call that rebuilds a protection: its first parameter, and others that are not the default."""
    parts = []
    for position, item in enumerate(fields(protection)):
        value = getattr(protection, item.name)
        default = item.default_factory() if item.default_factory is not NO_DEFAULT else item.default
        if position == 0 or value != default:
            parts.append(f"{item.name}={value!r}")
    return f"{type(protection).__name__}({', '.join(parts)})"


def allow_all(
    _protection: Any, _release: Table, _pairing: Pairing, row: NDArray[np.int64], _klass: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Allow all pairs of people and released classes whose cells agree."""
    return np.ones(row.size, dtype=np.bool_)


def evaluated_rows(table: Table) -> NDArray[np.int64]:
    """Return the rows that are protected: all, or under "excluded" those without a missing quasi-identifier."""
    if not table.n_rows:
        raise FailedError("the table has 0 rows, expected at least 1; check the file and how it was read")
    return table.complete_rows


def release_rows(
    table: Table, rows: NDArray[np.int64], recoded: Sequence[Recoded], rng: np.random.Generator | None
) -> Released:
    """Release rows of the table with recoded quasi-identifiers (codes by position in `rows`)."""
    columns = tuple(
        replace(column, codes=codes, levels=levels)
        for column, (levels, codes) in zip(table.quasi_identifiers, recoded, strict=True)
    )
    return sort_release(replace(table.take(rows), quasi_identifiers=columns), rows, rng)


def sort_release(release: Table, origin: NDArray[np.int64], rng: np.random.Generator | None) -> Released:
    """Sort rows by their released cells, equal ones at random; origin : the source row of each."""
    shuffled = secret_unless(rng).permutation(release.n_rows)
    classes = classes_of(release.written)
    order = shuffled[by_class(classes.of_row[shuffled], len(classes.sizes))]
    return release.take(order), origin[order]


def exact_numbers(column: Column) -> NDArray[np.float64]:
    """Return (L,) the number of each level, nan where a cell is missing."""
    levels = column.levels
    if column.type != "number" or not (levels.atomic | levels.gaps | levels.unknown)[column.counts > 0].all():
        raise UnmaskError(
            f"column {column.name!r} has cells that are no exact numbers; only numbers have a mean, or noise added"
        )
    return levels.low


def column_position(table: Table, name: str) -> int:
    """Return the place of a quasi-identifier among them; raise an error for another column."""
    names = [column.name for column in table.quasi_identifiers]
    table.column(name)
    if name not in names:
        raise UnmaskError(f"column {name!r} is no quasi-identifier; choose among {', '.join(names)}")
    return names.index(name)


def recode(table: Table, levels: Mapping[str, float | str]) -> Table:
    """Recode the named quasi-identifiers to levels."""
    columns = list(table.quasi_identifiers)
    for name, level in levels.items():
        position = column_position(table, name)
        recoded, codes = generalized(columns[position], level)
        columns[position] = replace(columns[position], levels=recoded, codes=codes)
    return replace(table, quasi_identifiers=tuple(columns))
