"""`unmask protect`: a release of a table, and the row of the original behind each of its records."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from unmask.cli.completion import first_argument
from unmask.cli.documents import WritesDocument, allow_code_option, code_folder
from unmask.cli.files import name_table, print_json, refuse_to_overwrite, suggest_command, write_release
from unmask.cli.generated import grouped, options, output_option, pop_options
from unmask.cli.option_types import FILE, Input
from unmask.cli.options import table_options, without_seed
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError
from unmask.data.origins import format_origin
from unmask.data.writing import STANDARD_OUTPUT
from unmask.protection_specs import MONDRIAN, Spec, parse_specs
from unmask.toml_text import DOCUMENT

if TYPE_CHECKING:
    from unmask.data.engine import EngineOptions
    from unmask.tables.formulas import Formulas
    from unmask.tables.table import Table

NEEDS_ROWS = ("hold_back", "protection", "weight", "origin", "coarsen")
"""Options that need every row of the table in memory."""

ENGINE = ("engine", "memory_limit", "temp_directory", "dry_run")
"""Options of `EngineOptions`."""

FILE_FORM = ("decimal", "delimiter", "header", "encoding")
"""Options about the file of a table, which do not hold for its release."""


def _parse_recursive(value: str | list[float] | None) -> tuple[float, ...] | None:
    """Return c and l as they are typed, C:L, or listed in a document."""
    if not isinstance(value, str):
        return None if value is None else tuple(value)
    try:
        c, l = value.split(":")  # noqa: E741 - the literature's name
        return float(c), int(l)
    except ValueError:
        raise UnmaskError(f"expected a number and a whole number, such as 3:2, given {value!r}") from None


RECURSIVE = {"type": click.UNPROCESSED, "parse": _parse_recursive, "metavar": "C:L"}
"""Form of the limit of recursive diversity."""


def _parse_protection(value: str | list[Spec] | None) -> tuple[Spec, ...]:
    """Return a protection as it is typed, or as a document names it."""
    return parse_specs([value] if isinstance(value, str) else value or ())


PROTECTION = {"type": click.UNPROCESSED, "parse": _parse_protection}
"""Form of a protection."""


@click.command(cls=WritesDocument)
@click.argument("data", type=Input(), shell_complete=first_argument)
@table_options
@grouped("Protection", options("unmask.tables:Mondrian", *MONDRIAN, l_recursive=RECURSIVE))
@options("unmask.protecting:protect", "protection", "hold_back", "coarsen", protection=PROTECTION)
@allow_code_option
@output_option("--output", "-o", required=True, type=FILE, help="Release: .csv, .tsv (.gz), .parquet or .xlsx.")
@output_option("--origin", type=FILE, help="Write the row of DATA behind each record. Keep it secret.")
@output_option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@output_option("--force", is_flag=True, help="Overwrite existing files.")
@options("unmask.tables.counted_release:write_release", "formulas")
@without_seed
@options("unmask.data.engine:EngineOptions", *ENGINE)
def protect(
    data: str,
    coarsen: dict[str, float | str],
    hold_back: float,
    protection: Any,
    output: Path,
    origin: Path | None,
    as_json: bool,
    force: bool,
    formulas: Formulas,
    **values: Any,
) -> None:
    r"""Generalize a table with Mondrian until every class meets k, l and t, or use --with.

    Quasi-identifiers are generalized, sensitive and kept columns are released unchanged, all others are dropped. Rows
    are sorted by their released cells, so the row order of DATA does not matter.

    \b
    unmask protect people.csv -q age,sex,zip -s diagnosis --k 10 --l 3 --t 0.2 -o release.csv
    unmask protect people.csv -q age,sex,zip --with tables.Lattice:k=5:suppression=0.02 -o release.csv
    unmask protect 'parts/*.parquet' -q age,sex,zip --engine duckdb --memory-limit 4GiB -o release.parquet
    """
    engine = _make_engine_options(pop_options(values, ENGINE))
    refuse_to_overwrite(origin, force=force, stream=output)
    if as_json and output == STANDARD_OUTPUT:
        raise click.UsageError("--json and -o - both say what is printed; leave one out")
    if hold_back and origin is None:
        raise UnmaskError("--hold-back leaves a control group, which the origin identifies; give --origin, too")
    protection = _choose_protection(protection, **pop_options(values, MONDRIAN))
    source: AbstractContextManager[_Release | None]
    if engine.engine is None:
        source = _protect_rows(data, values, protection, output, formulas, hold_back=hold_back, coarsen=coarsen)
    else:
        source = _protect_counts(engine, data, values, protection, output, formulas)
    with source as made:
        if made is None:  # a dry run makes no release
            return
        if origin is not None and made.origin is None:
            raise UnmaskError("the protection makes synthetic rows, which have no origin; leave --origin out")
        show = partial(_print_json, made) if as_json else None
        write_release(made.write, output, "" if origin is None else format_origin(made.origin), origin, show=show)
    _print_release(made, output, as_json=as_json)


def _make_engine_options(settings: dict[str, Any]) -> EngineOptions:
    """Return the options of an engine; refuse those that need rows if there is an engine."""
    from unmask.data.engine import EngineOptions

    context = click.get_current_context()
    for option in context.command.params if settings["engine"] is not None else ():
        if option.name in NEEDS_ROWS and context.params[option.name]:
            raise UnmaskError(f"{option.opts[-1]} needs the table in memory; leave it or --engine out")
    return EngineOptions(**settings)


def _choose_protection(specs: Sequence[Spec], **mondrian: Any) -> Any:
    """Return the protection of a spec, or else Mondrian with its options."""
    from unmask.tables import Mondrian

    if not specs:
        return Mondrian(**mondrian)
    source = click.get_current_context().get_parameter_source
    if any(source(name) is ParameterSource.COMMANDLINE for name in mondrian):
        raise UnmaskError(
            "--k, --l, --t, --level, --relaxed and further constraints are those of Mondrian; give --with its "
            "parameters after colons, such as tables.Lattice:k=5:beta=1"
        )
    from unmask.catalog import make

    return make(specs[0], "protections", "tables", code_folder("protection"))


class _Release(NamedTuple):
    """A release to write, and what is printed about it.

    write : function that writes it to a path
    origin : row of the original behind each record; None if an engine keeps the rows, or if they are synthetic
    """

    write: Callable[[Path], object]
    facts: Mapping[str, Any]
    width: Mapping[str, Any]
    dropped: Sequence[str]
    origin: Any = None
    warnings: Sequence[str] = ()


@contextmanager
def _protect_rows(
    source: str, reading: dict[str, Any], protection: Any, output: Path, formulas: Formulas, **settings: Any
) -> Iterator[_Release]:
    """Protect a table in memory."""
    from unmask.protecting import protect as protect_table
    from unmask.tables.files import list_dropped_columns, read_column_names, read_table
    from unmask.tables.formulas import check_formulas, escape_table, formula_cells
    from unmask.tables.table_writing import check_name

    path = Path(source)
    table, dropped = read_table(path, reading), list_dropped_columns(read_column_names(path, reading), reading)
    _print_dropped_columns(dropped)
    if output != STANDARD_OUTPUT:
        check_name(output)
    start = time.perf_counter()
    protected = protect_table(table, protection, **settings)
    facts = {**protected.facts, "seconds": round(time.perf_counter() - start, 3)}
    cells = formula_cells(protected.release)
    check_formulas(cells, formulas)
    _print_formula_cells(cells, formulas)
    release = escape_table(protected.release) if formulas == "escape" else protected.release
    warnings = [*_warn_of_small_classes(facts, protection), *_warn_of_person_columns(table)]
    yield _Release(release.write, facts, protected.width, dropped, protected.origin, warnings)


@contextmanager
def _protect_counts(
    engine: EngineOptions, source: str, reading: dict[str, Any], protection: Any, output: Path, formulas: Formulas
) -> Iterator[_Release | None]:
    """Protect a table that stays in an engine; None on a dry run."""
    from unmask.data.resources import check_output
    from unmask.protecting import measure_release
    from unmask.tables.counted_release import generalize, write_release
    from unmask.tables.files import count_tables, list_dropped_columns

    check_output(output, force=True)  # whether it exists is checked above
    needs = {"counts_sensitive": protection.reads_values, "writes": True}
    with count_tables(engine, {source: source}, reading, lambda _name, read, _columns: read, **needs) as counted:
        if not counted:
            yield None
            return
        stored, table = counted[source]
        start = time.perf_counter()
        generalized = generalize(table, protection)
        facts = measure_release(generalized.release, generalized.loss)
        facts["seconds"] = round(time.perf_counter() - start, 3)
        dropped = list_dropped_columns(stored.engine.names(source), reading)
        _print_dropped_columns(dropped)

        def write(path: Path) -> None:
            _print_formula_cells(write_release(stored, generalized, path, formulas=formulas), formulas)

        yield _Release(write, facts, generalized.loss.width, dropped)


def _print_json(release: _Release) -> None:
    width = [{"column": name, **vars(column)} for name, column in release.width.items()]
    dropped = [{"column": name} for name in release.dropped]
    print_json(results=[release.facts], tables={"width": width, "dropped": dropped}, warnings=release.warnings)


def _print_release(release: _Release, output: Path, *, as_json: bool) -> None:
    from unmask.protecting import describe_cost

    for warning in release.warnings:
        print_line(f"warning: {warning}", err=True)
    print_line(f"wrote {output}: {describe_cost(release.facts, release.width)}", err=True)
    if as_json or output == STANDARD_OUTPUT:
        return
    context = click.get_current_context()
    params = context.params
    held_back = ["--hold-back", f"{params['hold_back']:g}"] if params["hold_back"] else []
    if DOCUMENT in context.meta:
        _suggest_audit_of_document(context.meta[DOCUMENT], output, held_back if "hold_back" in context.obj else [])
        return
    truth = ["--original", params["data"], "--origin", params["origin"]] if params["origin"] else []
    if "classes" not in release.facts:
        truth = ["--original", params["data"], "--synthetic"]
    not_released = ("identifiers", *(() if truth else ("person", "household")))
    suggest_command("audit", *name_table(output, leave_out=(*not_released, *FILE_FORM)), *truth, *held_back)


def _suggest_audit_of_document(document: str, release: Path, options: Sequence[str]) -> None:
    """Print the next command; before it, that the document has to name the release if it does not."""
    from unmask.document import derive_audit_options
    from unmask.studies.reading import checked_document

    audited, _options = derive_audit_options(checked_document(Path(document)), Path(document).parent)
    if release.resolve() not in [Path(file).resolve() for file in audited]:
        print_line(f"{document} does not name {release}, so its audit attacks other files: set [[releases]]", err=True)
    context = click.get_current_context()
    before, now = (values.get("quasi_identifiers") or () for values in (context.default_map or {}, context.params))
    if lacking := [name for name in before if name not in now]:
        print_line(f'{release} lacks {", ".join(lacking)}; set the role to "drop" in {document}', err=True)
    suggest_command("audit", document, *options)


# --- notes and warnings ---


def _print_dropped_columns(names: list[str]) -> None:
    if names:
        named = ", ".join(name or '""' for name in names)
        print_line(f"dropped, without a role: {named}; --keep releases a column unchanged", err=True)


def _print_formula_cells(cells: Mapping[str, int], formulas: Formulas) -> None:
    """Print the number of cells that a spreadsheet would run, by column."""
    if cells:
        columns = ", ".join(f"{name} {n:,}" for name, n in cells.items())
        outcome = "an apostrophe stands before them"
        if formulas != "escape":
            outcome = "--formulas escape or refuse changes that"
        print_line(f"cells that a spreadsheet would run as formulas: {columns}; {outcome}", err=True)


def _warn_of_small_classes(facts: Mapping[str, Any], protection: Any) -> list[str]:
    """Return a warning if a class has fewer people than rows were required."""
    people, k = facts.get("k_people"), getattr(protection, "k", None)
    if not (people and k and people < k):
        return []
    advice = f"{type(protection).__name__} counts rows; choose a protection that counts people"
    return [f"a class has rows of {people} people, fewer than k = {k}: {advice}"]


def _warn_of_person_columns(table: Table) -> list[str]:
    """Return a warning for each unchanged column that shows which rows are of one person."""
    if not table.kept:
        return []
    from unmask.tables.audit.linked_rows import find_pseudonym, find_repeated_keys

    column = find_pseudonym(table.kept, table.person)
    return [
        f"the column {column.name} is released unchanged and seems to link the rows of a person: an adversary who "
        "recognizes a few rows has all rows of that person; unmask audit --person runs this attack"
        for column in ([column] if column else find_repeated_keys(table.kept))
    ]
