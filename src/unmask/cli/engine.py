"""Tables that stay in an engine: the options that need rows, and how tables are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.generated import options, pop_options
from unmask.cli.terminal import print_line, print_notes
from unmask.core.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.data.engine import EngineOptions
    from unmask.tables.stored import StoredTable
    from unmask.tables.table import Table

NEEDS_ROWS = (
    "original", "control", "hold_back", "synthetic", "parts", "targets", "steps", "together", "protection", "without",
    "at_risk", "weight", "origin", "coarsen",
)  # fmt: skip
"""Options that need every row of a table in memory."""

TEXT_OPTIONS = ("encoding", "delimiter", "header")
"""Options of text files, which an engine takes when it is opened."""

engine_options = options("unmask.data.engine:EngineOptions", "engine", "memory_limit", "temp_directory", "dry_run")


def pop_engine_options(values: dict[str, Any]) -> EngineOptions:
    """Remove the options of an engine; refuse those that need rows if there is an engine."""
    from unmask.data.engine import EngineOptions

    engine = EngineOptions(**pop_options(values, ("engine", "memory_limit", "temp_directory", "dry_run")))
    context = click.get_current_context()
    for option in context.command.params if engine.engine is not None else ():
        if option.name in NEEDS_ROWS and context.params[option.name] not in (None, False, 0.0, (), {}):
            raise UnmaskError(f"{option.opts[-1]} needs the table in memory; leave it or --engine out")
    return engine


@contextmanager
def count_tables(
    options: EngineOptions,
    sources: Mapping[str, str],
    reading: dict[str, Any],
    derive: Callable[[str, dict[str, Any], list[str]], dict[str, Any]],
    *,
    counts_sensitive: bool = True,
    counts_records: bool = True,
) -> Iterator[dict[str, tuple[StoredTable, Table]]]:
    """Count tables in an engine that is closed afterwards; yield nothing on a dry run.

    Combinations that exceed the memory, which arrays and the engine share, are refused before they are counted.

    derive : returns how a table is read, by its name, the options of all tables, and the names of its columns
    """
    from unmask.data.resources import format_bytes
    from unmask.tables.stored import StoredTable, check_memory, estimate
    from unmask.tables.table import Table

    without_text = reading | dict.fromkeys(TEXT_OPTIONS)
    with options.open(**{name: reading[name] for name in TEXT_OPTIONS}) as engine:
        counting: dict[str, Any] = {"counts_sensitive": counts_sensitive, "counts_records": counts_records}
        stored = {
            name: StoredTable(engine, source, f"table{position}", **counting)
            for position, (name, source) in enumerate(sources.items())
        }
        readings = {name: derive(name, without_text, engine.names(source)) for name, source in sources.items()}
        sizes = {
            name: estimate(
                stored[name], (*settings["quasi_identifiers"], *(settings["sensitive"] if counts_sensitive else ()))
            )
            for name, settings in readings.items()
        }
        for name, size in sizes.items():
            print_line(f"{name}: {size}, in {format_bytes(options.memory[1])} of arrays", err=True)
        check_memory(sizes, options.memory[1])
        read = {} if options.dry_run else readings
        tables = {name: (stored[name], Table.read(stored[name], **settings)) for name, settings in read.items()}
        print_notes((*engine.notes, *(note for _, table in tables.values() for note in table.notes)))
        yield tables
