"""Roles of the columns of a table that an engine counts, and the meaning of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.tables.column import CellsOf, Column
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.levels import Missing
from unmask.tables.meanings import Meanings, trees
from unmask.tables.number_formats import Decimal
from unmask.tables.reading import check_columns, read_encoded
from unmask.tables.table import check_roles
from unmask.tables.unit import ROW


@dataclass(frozen=True, eq=False)
class Roles:
    """Roles of columns and the notation of their cells.

    Parameters
    ----------
    quasi_identifiers, sensitive, keep, identifiers, person, types, orders, hierarchies, cells, missing, na, decimal
        As in `Table.read`.

    Examples
    --------
    >>> Roles(("age", "zip"), ("ill",)).columns
    {'q0': 'age', 'q1': 'zip', 's0': 'ill'}
    """

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    person: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy | str | PathLike[str]] = field(default_factory=dict)
    cells: CellsOf = "any"
    missing: Missing = "own"
    na: tuple[str, ...] | None = None
    decimal: Decimal | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns that have a role."""
        person = (self.person,) if self.person not in (None, ROW, *self.identifiers) else ()
        return (*self.quasi_identifiers, *self.sensitive, *self.keep, *self.identifiers, *filter(None, person))

    @property
    def columns(self) -> dict[str, str]:
        """Short name -> name, of the columns that make combinations."""
        names = {f"q{position}": name for position, name in enumerate(self.quasi_identifiers)}
        return names | {f"s{position}": name for position, name in enumerate(self.sensitive)}

    @property
    def kept_columns(self) -> dict[str, str]:
        """Short name -> name, of the columns that are released unchanged."""
        return {f"o{position}": name for position, name in enumerate(self.keep)}

    def of_release(self, names: Sequence[str]) -> Roles:
        """Return the roles in a release with these columns: columns without a role may be known, like kept ones."""
        other_names = {*self.names} - {*self.keep}
        return replace(self, keep=tuple(name for name in names if name not in other_names))

    def of_register(self, names: Sequence[str]) -> Roles:
        """Return the roles in a register with these columns: the quasi-identifiers that it has."""
        shared = tuple(name for name in self.quasi_identifiers if name in names)
        if not shared:
            raise UnmaskError(
                f"the register has none of the quasi-identifiers {', '.join(self.quasi_identifiers)}; its columns are "
                f"{', '.join(names)}: name at least one column alike"
            )
        notation: dict[str, Any] = {
            option: {name: value for name, value in getattr(self, option).items() if name in shared}
            for option in ("types", "orders", "hierarchies")
        }
        return replace(self, quasi_identifiers=shared, sensitive=(), keep=(), identifiers=(), person=None, **notation)

    def check(self, names: Sequence[str]) -> None:
        """Raise an error for unknown columns and for columns with two roles."""
        roles = {role: getattr(self, role) for role in ("quasi_identifiers", "sensitive", "keep", "identifiers")}
        check_roles(roles)
        check_columns(names, [*self.names, *self.types, *self.orders, *self.hierarchies], where="the source")

    def read_levels(
        self, values: Mapping[str, NDArray[Any]], *, n_rows: int
    ) -> tuple[dict[str, Column], tuple[str, ...]]:
        """Return for each column the codes and levels of its distinct values, and notes on how they were read.

        Several values may have one code: 3.5 and 3,50, or an accent that is written in two ways.

        values : name -> distinct values. n_rows : of the source
        """
        if not all(map(len, values.values())):
            raise UnmaskError("the source has no rows; expected at least one row")
        meanings = Meanings(self.types, self.orders, trees(self.hierarchies), self.cells, self.na, self.decimal)
        encoded = {name: read_encoded({name: array}).columns[name] for name, array in values.items()}
        return meanings.read(encoded, n_rows=n_rows)
