"""Tables in files, as commands read them: every column has a role, and what was recognized is logged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unmask.core.errors import UnmaskError
from unmask.data.engine import EngineOptions
from unmask.data.resources import format_bytes
from unmask.tables.reading import AS_TEXT, check_columns, column_names
from unmask.tables.stored import StoredTable, check_memory, estimate
from unmask.tables.survey_design import NO_DESIGN, UNITS, match_columns
from unmask.tables.table import Table, check_roles
from unmask.tables.unit import ROW

ROLES = {"identifiers": "identifier", "quasi_identifiers": "quasi-identifier", "sensitive": "sensitive", "keep": "keep"}
"""Parameter of `Table.read` -> the role of its columns."""

Reading = dict[str, Any]
"""Parameters of `Table.read`; those of `ROLES` are sequences of names."""

_log = logging.getLogger(__name__)


def read_table(path: Path, reading: Reading) -> Table:
    """Read a table, and log notes on what was recognized."""
    table = Table.read(path, **reading)
    _log_notes(table.notes)
    return table


def _log_notes(notes: Iterable[str]) -> None:
    for note in notes:
        _log.warning("note: %s", note)


def read_column_names(path: Path, reading: Reading) -> list[str]:
    """Return the names of the columns of a file."""
    role_columns = [name for option in ROLES for name in reading[option]]
    return column_names(path, role_columns=role_columns, **{name: reading[name] for name in AS_TEXT if name in reading})


def list_columns_without_role(names: Sequence[str], reading: Reading) -> list[str]:
    """Return the names of columns that have no role."""
    replicates = match_columns(reading.get("replicate_weights", ()), names)
    with_role = {name for option in ROLES for name in reading[option]}
    with_role |= {reading["weight"], reading.get("household"), *replicates}
    return [name for name in names if name not in with_role]


def list_dropped_columns(names: Sequence[str], reading: Reading) -> list[str]:
    """Return the names of columns that are not read."""
    return [name for name in list_columns_without_role(names, reading) if name != reading["person"]]


def read_released(path: Path, reading: Reading) -> tuple[Table, list[str]]:
    """Read a release with all columns, since anybody can read them; also return the names of those without a role."""
    check_roles({option: tuple(reading[option]) for option in ROLES})
    names = read_column_names(path, reading)
    reading = without_absent_design(reading, names)
    return read_table(path, derive_release_reading(reading, names)), list_columns_without_role(names, reading)


def read_original(path: Path, reading: Reading, releases: Sequence[Path]) -> Table:
    """Read the table before protection, with the columns that some release has unchanged."""
    names = read_column_names(path, reading)
    released = [read_column_names(file, reading) for file in releases]
    unchanged = dict.fromkeys(name for columns in released for name in list_columns_without_role(columns, reading))
    keep = (*reading["keep"], *(name for name in unchanged if name in names))
    return read_table(path, {**without_absent_design(reading, names), "keep": keep})


def without_absent_design(reading: Reading, names: Sequence[str]) -> Reading:
    """Return how a file with these columns is read, which need not have the columns of the survey design."""
    absent: Reading = {unit: None for unit in UNITS if reading[unit] not in names}
    if not set(names).issuperset(match_columns(reading["replicate_weights"], names)):
        absent |= {"replicate_weights": (), "replicate_method": None}
    return reading | absent


def read_register(path: Path, reading: Reading) -> Table:
    """Read a register: it has some of the quasi-identifiers and none of the sensitive columns."""
    return read_table(path, derive_register_reading(reading, read_column_names(path, reading)))


def read_every_column(path: Path, reading: Reading, roles: Mapping[str, str]) -> Table:
    """Read all columns of a file, whatever their roles."""
    names = read_column_names(path, reading)
    person = [reading["person"]] if reading["person"] not in (None, ROW) else []
    units = [reading[unit] for unit in UNITS if reading[unit]]
    check_columns(names, [*roles, *person, *units], place=f"file {path.name!r}")
    without_roles = {**dict.fromkeys(ROLES, ()), **NO_DESIGN, "weight": None, "person": None}
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
        option: {name: value for name, value in (reading[option] or {}).items() if name in shared}
        for option in ("types", "orders", "hierarchies")
    }
    no_names = dict.fromkeys(("sensitive", "keep", "identifiers"), ())
    no_name = dict.fromkeys(("weight", "person"))
    return {**reading, **no_names, **no_name, **NO_DESIGN, **meanings, "quasi_identifiers": shared}


@contextmanager
def count_tables(
    options: EngineOptions,
    sources: Mapping[str, str],
    reading: Reading,
    derive: Callable[[str, Reading, list[str]], Reading],
    *,
    counts_sensitive: bool = True,
    writes: bool = False,
) -> Iterator[dict[str, tuple[StoredTable, Table]]]:
    """Count tables in an engine that is closed afterwards; yield nothing on a dry run.

    Combinations that exceed the memory are refused before they are counted. An audit's arrays may use all of it, since
    the engine returns its part after counting. Mondrian needs half as much again, next to the engine, which writes.

    derive : returns how a table is read, by its name, the options of all tables, and the names of its columns
    counts_sensitive : count combinations with their sensitive values
    writes : True if the engine writes a protected release afterwards
    """
    engine_bytes, array_bytes = options.memory
    available = array_bytes * 2 // 3 if writes else engine_bytes + array_bytes
    without_text = reading | dict.fromkeys(AS_TEXT)  # an engine takes them when it is opened
    with options.open(**{name: reading[name] for name in AS_TEXT}) as engine:
        counting: dict[str, Any] = {"counts_sensitive": counts_sensitive, "counts_records": not writes}
        stored = {
            name: StoredTable(engine, source, f"table{position}", **counting)
            for position, (name, source) in enumerate(sources.items())
        }
        readings = {name: derive(name, without_text, engine.names(source)) for name, source in sources.items()}
        sizes = {
            name: estimate(stored[name], settings["quasi_identifiers"], settings["sensitive"], array_bytes=available)
            for name, settings in readings.items()
        }
        for name, size in sizes.items():
            _log.warning("%s: %s, in %s of arrays", name, size, format_bytes(available))
        check_memory(sizes, available)
        read = {} if options.dry_run else readings
        tables = {name: (stored[name], Table.read(stored[name], **settings)) for name, settings in read.items()}
        _log_notes((*engine.notes, *(note for _, table in tables.values() for note in table.notes)))
        yield tables
