"""Tables that stay in an engine: the options of `audit` and `protect` for them, and the same commands with them."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from unmask.cli.files import (
    derive_register_reading,
    derive_release_reading,
    list_dropped_columns,
    print_dropped_columns,
    print_formula_cells,
    print_notes,
    read_motive,
)
from unmask.cli.terminal import print_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from unmask.reports import ReportData
    from unmask.tables.formulas import Formulas
    from unmask.tables.protections.mondrian import Mondrian
    from unmask.tables.stored import StoredTable
    from unmask.tables.table import Table


def _bytes(_ctx: click.Context, _parameter: click.Parameter, value: str) -> int:
    from unmask.data.resources import parse_bytes

    return parse_bytes(value)


def engine_options(command: Any) -> Any:
    """What a command that can leave its table in an engine takes."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Estimate the work, and do nothing else (needs --engine)."),
        click.option("--temp-directory", type=click.Path(path_type=Path), help="Spill directory (needs --engine)."),
        click.option(
            "--memory-limit",
            default="4GiB",
            show_default=True,
            callback=_bytes,
            help="Memory of the engine and of the arrays together (needs --engine).",
        ),
        click.option(
            "--engine",
            metavar="duckdb|spark[://MASTER]",
            help="Leave the table in an engine; a table may then be a glob, a folder of Parquet, or DATABASE::TABLE.",
        ),
    ):
        command = option(command)
    return command


def refuse_without_engine(*, dry_run: bool, temp_directory: Path | None) -> None:
    """Refuse the options of an engine, which say nothing without one."""
    limited = click.get_current_context().get_parameter_source("memory_limit") is not ParameterSource.DEFAULT
    given = {"--dry-run": dry_run, "--temp-directory": temp_directory is not None, "--memory-limit": limited}
    refuse(given, "is for tables that stay in an engine; add --engine duckdb, or leave it out")


def refuse_in_engine(**needed: object) -> None:
    """Refuse the options of an audit that need every row; needed : by name, None or False where they are left out."""
    given = {f"--{name}": value is not None and value is not False for name, value in needed.items()}
    refuse(given, "needs the table in memory; leave it or --engine out")


def refuse(given: dict[str, bool], why: str) -> None:
    """Refuse the first option that is given. given : option -> whether it is."""
    from unmask.core.errors import UnmaskError

    for option in (option for option, said in given.items() if said):
        raise UnmaskError(f"{option} {why}")


TEXT_OPTIONS = ("encoding", "delimiter", "header")
"""Options about text files, which an engine takes when it is opened."""


def reading_in_engine(reading: dict[str, Any]) -> dict[str, Any]:
    """Return what `Table.read` takes of the options about reading a table."""
    refuse({"--weight": reading["weight"] is not None}, "needs the table in memory; leave it or --engine out")
    return reading | dict.fromkeys(TEXT_OPTIONS)  # of the engine


@contextmanager
def _count(
    choice: str,
    sources: Mapping[str, str],
    reading: Callable[[str, list[str]], dict[str, Any]],
    *,
    memory_limit: int,
    temp_directory: Path | None,
    dry_run: bool,
    sensitive: bool = True,
    records: bool = True,
    **text: Any,
) -> Iterator[dict[str, tuple[StoredTable, Table]]]:
    """Count tables in an engine that is closed afterwards; none on a dry run.

    Combinations that exceed the memory, which arrays and the engine share, are refused before they are counted.

    reading : returns the arguments of `Table.read` for a table, by its name and those of its columns
    text : the options `TEXT_OPTIONS`
    """
    from unmask.data.engine import open_engine
    from unmask.data.resources import divide_memory, format_bytes
    from unmask.tables.stored import StoredTable, check_memory, estimate
    from unmask.tables.table import Table

    engine_bytes, array_bytes = divide_memory(memory_limit)
    with open_engine(choice, memory_limit=engine_bytes, temp_directory=temp_directory, **text) as engine:
        stored = {
            name: StoredTable(engine, source, f"table{at}", counts_sensitive=sensitive, counts_records=records)
            for at, (name, source) in enumerate(sources.items())
        }
        readings = {name: reading(name, engine.names(source)) for name, source in sources.items()}
        sizes = {
            name: estimate(stored[name], (*of["quasi_identifiers"], *(of["sensitive"] if sensitive else ())))
            for name, of in readings.items()
        }
        for name, size in sizes.items():
            print_line(f"{name}: {size}, in {format_bytes(array_bytes)} of arrays", err=True)
        check_memory(sizes, array_bytes)
        tables = {} if dry_run else {name: Table.read(stored[name], **of) for name, of in readings.items()}
        print_notes((*engine.notes, *(note for table in tables.values() for note in table.notes)))
        yield {name: (stored[name], table) for name, table in tables.items()}


def audit_in_engine(
    choice: str,
    sources: dict[str, str],
    reading: dict[str, Any],
    *,
    register: str | None,
    coverage: float,
    attacker: str | None,
    **room: Any,
) -> ReportData | None:
    """Audit the releases where they are; None after a dry run. room : of the engine, see `_count`."""
    from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
    from unmask.tables.audit.standard_attacks import audit_tables

    motive = None if attacker is None else read_motive(attacker)
    people = next(name for name in ("register", "register of people") if name not in sources)
    every_source = sources if register is None else {people: register, **sources}

    def reading_of(name: str, names: list[str]) -> dict[str, Any]:
        return (derive_register_reading if name == people else derive_release_reading)(reading, names)

    with _count(choice, every_source, reading_of, **room) as counted:
        tables = {name: table for name, (_, table) in counted.items()}
        if not tables:
            return None
        known = tables.pop(people) if register is not None else None
        evidence, title = AuditorKnowledge(register=known, coverage=coverage), f"Audit of {', '.join(sources)}"
        return audit_tables(tables, evidence, title=title, motive=motive)


def protect_in_engine(
    choice: str,
    source: str,
    reading: dict[str, Any],
    protection: Mondrian,
    output: Path,
    *,
    formulas: Formulas,
    force: bool,
    **room: Any,
) -> dict[str, Any] | None:
    """Protect a table where it is and write the release; returns what is said about it, None after a dry run."""
    import time

    from unmask.data.resources import check_output
    from unmask.tables import criteria
    from unmask.tables.counted_release import generalize, write_release

    start = time.perf_counter()
    check_output(output, force=force)
    room |= {"sensitive": protection.reads_values, "records": False}
    with _count(choice, {source: source}, lambda *_: reading, **room) as counted:
        if not counted:
            return None
        stored, table = counted[source]
        made = generalize(table, protection)
        dropped = list_dropped_columns(stored.engine.names(source), reading)
        print_dropped_columns(dropped)
        formula_cells = write_release(stored, made, output, formulas=formulas, force=force)
        print_formula_cells(formula_cells, formulas)
    lost = made.loss
    return {
        "rows": lost.released_rows,
        "classes": len(made.release.classes.sizes),
        "k": criteria.evaluate(made.release, sensitive=()).k,
        "gcp": lost.gcp,
        "average_class_size": lost.released_rows / len(made.release.classes.sizes),
        "seconds": round(time.perf_counter() - start, 3),
        "dropped": dropped,
        "width": lost.width,
    }
