"""Tables as commands read them: every column has a role, and what was recognized is noted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.cli.terminal import print_notes
from unmask.core.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.tables.table import Table

ROLES = {"identifiers": "identifier", "quasi_identifiers": "quasi-identifier", "sensitive": "sensitive", "keep": "keep"}
"""Option -> the role of its columns."""

Reading = dict[str, Any]
"""Options about reading a table, as `Table.read` takes them."""


def read_table(path: Path, reading: Reading) -> Table:
    """Read a table, and print notes on what was recognized."""
    from unmask.tables import Table

    table = Table.read(path, **reading)
    print_notes(table.notes)
    return table


def read_column_names(path: Path, reading: Reading) -> list[str]:
    """Return the names of the columns of a file."""
    from unmask.tables.reading import AS_TEXT, column_names

    role_columns = [name for option in ROLES for name in reading[option]]
    return column_names(path, role_columns=role_columns, **{name: reading[name] for name in AS_TEXT if name in reading})


def list_columns_without_role(names: Sequence[str], reading: Reading) -> list[str]:
    """Return the names of columns that have no role."""
    with_role = {*(name for option in ROLES for name in reading[option]), reading["weight"]}
    return [name for name in names if name not in with_role]


def list_dropped_columns(names: Sequence[str], reading: Reading) -> list[str]:
    """Return the names of columns that are not read."""
    return [name for name in list_columns_without_role(names, reading) if name != reading["person"]]


def read_released(path: Path, reading: Reading) -> tuple[Table, list[str]]:
    """Read a release with all columns, since anybody can read them; also return the names of those without a role."""
    from unmask.tables.table import check_roles

    check_roles({option: tuple(reading[option]) for option in ROLES})
    names = read_column_names(path, reading)
    return read_table(path, derive_release_reading(reading, names)), list_columns_without_role(names, reading)


def read_original(path: Path, reading: Reading, releases: Sequence[Path]) -> Table:
    """Read the table before protection, with the columns that some release has unchanged."""
    names = read_column_names(path, reading)
    released = [read_column_names(file, reading) for file in releases]
    unchanged = dict.fromkeys(name for columns in released for name in list_columns_without_role(columns, reading))
    return read_table(path, {**reading, "keep": (*reading["keep"], *(name for name in unchanged if name in names))})


def read_register(path: Path, reading: Reading) -> Table:
    """Read a register: it has some of the quasi-identifiers and none of the sensitive columns."""
    return read_table(path, derive_register_reading(reading, read_column_names(path, reading)))


def read_every_column(path: Path, reading: Reading, roles: Mapping[str, str]) -> Table:
    """Read all columns of a file, whatever their roles."""
    from unmask.tables.reading import check_columns
    from unmask.tables.unit import ROW

    names = read_column_names(path, reading)
    person = [reading["person"]] if reading["person"] not in (None, ROW) else []
    check_columns(names, [*roles, *person], place=f"file {path.name!r}")
    without_roles = {**dict.fromkeys(ROLES, ()), "weight": None, "person": None}
    return read_table(path, {**reading, **without_roles, "quasi_identifiers": names})


def derive_release_reading(reading: Reading, names: Sequence[str]) -> Reading:
    """Return how a release with these columns is read: those without a role count as kept."""
    return {**reading, "keep": (*reading["keep"], *list_columns_without_role(names, reading))}


def derive_register_reading(reading: Reading, names: Sequence[str]) -> Reading:
    """Return how a register with these columns is read: its quasi-identifiers alone."""
    wanted = reading["quasi_identifiers"]
    shared = [name for name in wanted if name in names]
    if not shared:
        raise UnmaskError(
            f"the register has none of the quasi-identifiers {', '.join(wanted)}; its columns are {', '.join(names)}: "
            "name at least one column alike"
        )
    meanings = {
        option: {name: value for name, value in reading[option].items() if name in shared}
        for option in ("types", "orders", "hierarchies")
    }
    roles = dict.fromkeys(("sensitive", "keep", "identifiers"), ())
    return {**reading, **roles, **meanings, "quasi_identifiers": shared, "weight": None, "person": None}
