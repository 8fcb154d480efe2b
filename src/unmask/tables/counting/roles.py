"""What the columns of a table that stays in an engine are for, and the meaning of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.tables.cells import Missing
from unmask.tables.column import CellsOf, Column
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.meanings import Meanings, trees
from unmask.tables.numerals import Decimal
from unmask.tables.reading import check_columns, read_encoded
from unmask.tables.release import check_roles
from unmask.tables.unit import ROW


@dataclass(frozen=True, eq=False)
class Roles:
    """What the columns of a table are for and how their cells are read; the arguments are those of `Table.read`."""

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
    def named(self) -> tuple[str, ...]:
        """Every column that has a role."""
        people = (self.person,) if self.person not in (None, ROW, *self.identifiers) else ()
        return (*self.quasi_identifiers, *self.sensitive, *self.keep, *self.identifiers, *filter(None, people))

    @property
    def columns(self) -> dict[str, str]:
        """Short name -> name, of the columns that the combinations are made of."""
        named = {f"q{at}": name for at, name in enumerate(self.quasi_identifiers)}
        return named | {f"s{at}": name for at, name in enumerate(self.sensitive)}

    @property
    def kept(self) -> dict[str, str]:
        """Short name -> name, of the columns that are released unchanged."""
        return {f"o{at}": name for at, name in enumerate(self.keep)}

    def released(self, names: Sequence[str]) -> Roles:
        """The roles in a release with these columns: what leaves without a role may be known, as what is kept."""
        others = {*self.named} - {*self.keep}
        return replace(self, keep=tuple(name for name in names if name not in others))

    def listed(self, names: Sequence[str]) -> Roles:
        """The roles in a register with these columns: some of the quasi-identifiers, and no others."""
        shared = tuple(name for name in self.quasi_identifiers if name in names)
        if not shared:
            raise UnmaskError(
                f"the register has none of the quasi-identifiers {', '.join(self.quasi_identifiers)}; its columns are "
                f"{', '.join(names)}: name at least one column alike"
            )

        def only(said: Mapping[str, Any]) -> dict[str, Any]:
            return {name: what for name, what in said.items() if name in shared}

        of: dict[str, Any] = {one: only(getattr(self, one)) for one in ("types", "orders", "hierarchies")}
        return replace(self, quasi_identifiers=shared, sensitive=(), keep=(), identifiers=(), person=None, **of)

    def check(self, names: Sequence[str]) -> None:
        """Refuse unknown columns, and columns with two roles."""
        roles = {role: getattr(self, role) for role in ("quasi_identifiers", "sensitive", "keep", "identifiers")}
        check_roles(roles)
        check_columns(names, [*self.named, *self.types, *self.orders, *self.hierarchies], where="the source")

    def read(self, values: Mapping[str, NDArray[Any]], *, n_rows: int) -> tuple[dict[str, Column], tuple[str, ...]]:
        """The meaning of the distinct values of every column: a code for each, the levels, and what is to be said.

        Several values may have one code: 3.5 and 3,50, or an accent that is written in two ways. n_rows : of the source
        """
        if not all(map(len, values.values())):
            raise UnmaskError("the source has no rows; expected at least one row")
        meanings = Meanings(self.types, self.orders, trees(self.hierarchies), self.cells, self.na, self.decimal)
        encoded = {name: read_encoded({name: array}).columns[name] for name, array in values.items()}
        return meanings.read(encoded, n_rows=n_rows)
