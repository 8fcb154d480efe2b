"""What the columns of a table that stays in an engine are for, and the meaning of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.tables.cells import Kind, Missing
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.reading import check_columns
from unmask.tables.release import Column, Table, check_roles


@dataclass(frozen=True, eq=False)
class Roles:
    """What the columns of a table are for and how their cells are read; the arguments are those of `Table.read`."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy | str | PathLike[str]] = field(default_factory=dict)
    missing: Missing = "own"
    na: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """Every column that has a role."""
        return (*self.quasi_identifiers, *self.sensitive, *self.keep, *self.identifiers)

    @property
    def columns(self) -> dict[str, str]:
        """Short name -> name, of the columns that the combinations are made of."""
        named = {f"q{at}": name for at, name in enumerate(self.quasi_identifiers)}
        return named | {f"s{at}": name for at, name in enumerate(self.sensitive)}

    def check(self, names: Sequence[str]) -> None:
        """Refuse unknown columns, and columns with two roles."""
        roles = {role: getattr(self, role) for role in ("quasi_identifiers", "sensitive", "keep", "identifiers")}
        check_roles(roles)
        check_columns(names, [*self.named, *self.kinds, *self.orders, *self.hierarchies], where="the source")

    def column(self, name: str, values: NDArray[Any]) -> Column:
        """The meaning of distinct values of a column: a code for each, and the levels."""
        if not len(values):
            raise UnmaskError("the source has no rows; expected at least one row")

        def of(given: Mapping[str, Any]) -> dict[str, Any]:
            return {name: given[name]} if name in given else {}

        cells = Table.read(
            {name: values},
            quasi_identifiers=name,
            kinds=of(self.kinds),
            orders=of(self.orders),
            hierarchies=of(self.hierarchies),
            na=self.na,
        )
        return cells.quasi_identifiers[0]
