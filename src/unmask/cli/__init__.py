"""The command line: a thin hand. It reads files, calls one function, writes files, and says in one line what it did."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.advise import advise
from unmask.cli.certify import certify
from unmask.cli.check import check
from unmask.cli.choose import choose, choose_columns
from unmask.cli.columns import columns, read_original, read_released, warn_of_unused_columns
from unmask.cli.demo import demo, list_
from unmask.cli.design import design
from unmask.cli.documents import WritesDocument, allow_code_option
from unmask.cli.engine import (
    TEXT_OPTIONS,
    audit_in_engine,
    engine_options,
    protect_in_engine,
    reading_in_engine,
    refuse_in_engine,
    refuse_without_engine,
)
from unmask.cli.files import (
    list_role_options,
    print_dropped_columns,
    print_formula_cells,
    print_json,
    read_register,
    read_with_dropped,
    refuse_to_overwrite,
    suggest_command,
    warn_of_person_columns,
    warn_of_small_classes,
    write_release,
)
from unmask.cli.game import game
from unmask.cli.generated import FILE, Input, grouped, options, output_option, parse_with, pop_options
from unmask.cli.graph import audit_graph
from unmask.cli.init import init
from unmask.cli.open import open_
from unmask.cli.options import (
    UnmaskGroup,
    choose_protection,
    first_argument,
    level_option,
    levels,
    make_protection,
    parts,
    table_options,
    with_option,
    without_seed,
)
from unmask.cli.origins import format_origin, read_origin
from unmask.cli.output import Output, at_risk_option, audit_output
from unmask.cli.price import price
from unmask.cli.report import report as report_command
from unmask.cli.separation import advise_identity, protect_graph
from unmask.cli.study import study
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError
from unmask.data.writing import STANDARD_OUTPUT
from unmask.domains import name_files
from unmask.protection_specs import parse_specs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unmask.policy import Policy
    from unmask.protection_specs import Spec
    from unmask.reports import ReportData
    from unmask.reports.at_risk import Watched
    from unmask.reports.facts.tables import Change
    from unmask.tables import Table
    from unmask.tables.formulas import Formulas

    Suggest = Callable[[ReportData, list[Policy]], tuple[Change, ...]]


@click.group(cls=UnmaskGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="unmask", message="unmask %(version)s")
def main() -> None:
    r"""Attack a data release as a real adversary would, before anyone else does.

    \b
    unmask demo
    unmask protect people.csv -q age,sex,zip -s diagnosis --k 10 -o release.csv --origin origin.csv
    unmask audit release.csv -q age,sex,zip -s diagnosis --original people.csv --origin origin.csv --report out.html
    """


ROOM = ("memory_limit", "temp_directory", "dry_run")
"""Options of an engine."""

ASKED = (
    "hold_back",
    "coverage",
    "synthetic",
    "parts",
    "targets",
    "attacker",
    "seed",
    "steps",
    "without",
    "together",
    "levels",
    "protection",
)

ORIGINS = "CSV with the row of the original behind each record; repeat it for each release, in their order."

STEPS = "Try one step of generalization of each quasi-identifier (needs --origin); by default with --report."

WITHOUT = "Standard adversary to leave out: all columns, insider, learner, order or several rows. Repeatable."

SPEC = "NAME:PARAMETER=VALUE"

PROTECTION = (
    "Protection that made the release, which an adversary knows (needs --original). One for all, or for each release, "
    "in their order."
)

HOLD_BACK = "Share of the people to hold back at random, as control people of the audit (needs --origin)."


@main.command(cls=WritesDocument)
@click.argument("releases", nargs=-1, required=True, type=Input(), shell_complete=first_argument)
@table_options
@grouped("Input", options(
    "unmask.tables.audit:audit",
    original={"type": FILE},
    origin={"name": "origins", "type": FILE, "multiple": True, "help": ORIGINS},
))  # fmt: skip
@grouped("Knowledge", options(
    "unmask.tables.audit:audit",
    register={"metavar": "PATH"}, control={"type": FILE}, hold_back={}, synthetic={}, coverage={},
    targets={}, seed={}, attacker={}, steps={"flags": ("--steps/--no-steps",), "default": None, "help": STEPS},
    without={"multiple": True, "type": str, "metavar": "ADVERSARY", "help": WITHOUT}, together={},
    parts={"parse": parts, "type": click.UNPROCESSED, "metavar": "A,B:C,D"},
    protection={"parse": parse_specs, "type": click.UNPROCESSED, "multiple": True, "metavar": SPEC, "help": PROTECTION},
))  # fmt: skip
@level_option
@allow_code_option
@engine_options
@output_option(
    "--changes/--no-changes", default=True, show_default=True,
    help="Try other protections for the page of a table that is not acceptable.",
)  # fmt: skip
@at_risk_option
@audit_output
def audit(
    releases: tuple[str, ...],
    original: Path | None,
    origins: tuple[Path, ...],
    register: str | None,
    control: Path | None,
    engine: str | None,
    output: Output,
    **given: Any,
) -> None:
    r"""Attack releases of a table: how many people are re-identified, and what is inferred about them.

    \b
    unmask audit release.csv -q age,sex,zip -s diagnosis
    unmask audit k3.csv k10.csv -q age,sex -s job --original people.csv --origin o3.csv --origin o10.csv --json
    unmask audit release.csv -q age,sex -s job --original people.csv --origin origin.csv --control others.csv
    unmask audit release.csv -q age,sex,zip --register voters.csv --coverage 0.6 --attacker attacker.toml
    unmask audit 'parts/*.parquet' -q age,sex,zip -s diagnosis --engine duckdb --memory-limit 2GiB
    """
    paths = tuple(map(Path, releases))
    names = name_files(paths)
    _check_origins(len(releases), original, origins)
    _check_at_risk(output, None if given["synthetic"] else original, origins, engine)
    watched = output.watch(f"row_of_{'release' if original is None else 'original'}_from_0")
    room, asked = (pop_options(given, some) for some in (ROOM, ASKED))
    if engine is None:
        refuse_without_engine(dry_run=room["dry_run"], temp_directory=room["temp_directory"])
        if asked["steps"] is None:
            asked["steps"] = output.report is not None
        files = dict(zip(names, paths, strict=True))
        outside = (register, control)
        found, warnings, suggest = _audit_in_memory(files, original, origins, outside, given, asked, watched)
    else:
        aside = {"control": control, "hold-back": pop_options(asked, ("hold_back",))["hold_back"] or None}
        refuse_in_engine(
            original=original,
            **aside,
            **pop_options(asked, ("synthetic", "parts", "targets", "steps", "together")),
            protection=asked.pop("protection") or None,
            without=asked["without"] or None,
        )
        known = {"register": register, **pop_options(asked, ("coverage", "attacker")), **room}
        known |= {name: given[name] for name in TEXT_OPTIONS}
        kept = audit_in_engine(engine, dict(zip(names, releases, strict=True)), reading_in_engine(given), **known)
        if kept is None:  # a dry run
            return
        found, warnings, suggest = kept, [], None
    rows = {"releases": [found.criteria[name]["rows"] for name in names]}
    output.give(found, rows=rows, warnings=warnings, suggest=suggest, watched=watched, releases=paths)


def _check_origins(n_releases: int, original: Path | None, origins: tuple[Path, ...]) -> None:
    if origins and len(origins) != n_releases:
        raise UnmaskError(
            f"{len(origins)} origins were given for {n_releases} releases, expected one for each, in their order"
        )
    if origins and original is None:
        raise UnmaskError("--origin gives rows of the original, and no --original was given; give both")


def _check_at_risk(output: Output, original: Path | None, origins: tuple[Path, ...], engine: str | None) -> None:
    if output.at_risk is None:
        return
    if engine is not None:
        raise UnmaskError("--at-risk lists rows one by one and needs the table in memory; leave it or --engine out")
    if original is not None and not origins:
        raise UnmaskError("--at-risk lists rows of the original and needs --origin; give it, or leave --original out")


def _audit_in_memory(
    files: dict[str, Path],
    original: Path | None,
    origins: tuple[Path, ...],
    outside: tuple[str | None, Path | None],
    reading: dict[str, Any],
    asked: dict[str, Any],
    watched: Watched | None,
) -> tuple[ReportData, list[str], Suggest | None]:
    """The audit, what is to be warned of, and what tries changes of the one release, if its original is there.
    outside : files of a register and of control people
    """
    from unmask.tables.audit import audit as audit_tables

    register, control = outside
    levels = asked.pop("levels")
    before = None if original is None else read_original(original, reading, tuple(files.values()))
    people = None if register is None else read_register(Path(register), {**reading, "like": before})
    of_release = {**reading, "like": people if before is None else before}  # one column, one type
    if before is not None:
        of_release |= {"identifiers": (), "person": None, "decimal": None}  # dropped by protect, which writes a point
    read = {name: read_released(path, of_release) for name, path in files.items()}
    tables = {name: table for name, (table, _) in read.items()}
    rows = {
        name: read_origin(path, tables[name].n_rows, before.n_rows)
        for name, path in zip(tables, origins, strict=False)
        if before is not None
    }
    others = None if control is None else read_original(control, {**reading, "like": before}, tuple(files.values()))
    unused = {column for _, without_role in read.values() for column in without_role}
    warnings = warn_of_unused_columns(unused, before)
    made = _made(asked.pop("protection"), list(tables))
    known = {"register": people, "control": others, **asked}
    found = audit_tables(tables, original=before, origin=rows, watched=watched, protection=made, **known)
    if before is None or len(tables) > 1 or asked["synthetic"] or asked["hold_back"]:
        return found, warnings, None
    return found, warnings, partial(_suggest, before, known | {"steps": False, "levels": levels})


def _made(given: tuple[Spec, ...], releases: list[str]) -> dict[str, Any]:
    """What made each release."""
    if len(given) not in (0, 1, len(releases)):
        raise UnmaskError(
            f"{len(given)} protections were given for {len(releases)} releases, expected one, or one for each"
        )
    of_each = given * len(releases) if len(given) == 1 else given
    return {name: make_protection(one) for name, one in zip(releases, of_each, strict=False)}


def _suggest(table: Table, known: dict[str, Any], found: ReportData, policies: list[Policy]) -> tuple[Change, ...]:
    """The one release, and changes of it that were tried."""
    from unmask.suggestions import present, suggest

    print_line("not acceptable: trying other protections for the page", err=True)
    (name,) = (one.release for one in found.verdicts[:1])
    told = {option: value for option, value in known.items() if value is not None}
    k = found.criteria[name]["k"]
    return (present(found, name), *suggest(table, policies, k=k if isinstance(k, int) else 1, **told))


@main.command(cls=WritesDocument)
@click.argument("data", type=Input(), shell_complete=first_argument)
@table_options
@options("unmask.tables:Mondrian", k={}, l={"name": "l_"}, t={})
@level_option
@with_option
@options("unmask.tables.audit:audit", hold_back={"help": HOLD_BACK})
@click.option(
    "--coarsen", multiple=True, callback=parse_with(levels), metavar="COLUMN=LEVEL",
    help="Recode a column of the release to wider bins, a period, a level, hidden characters, or *. Repeatable.",
)  # fmt: skip
@allow_code_option
@click.option("--relaxed", is_flag=True, help="Let rows equal to a cut go to either side.")
@output_option("--output", "-o", required=True, type=FILE, help="File of the release: CSV, TSV (.gz) or Parquet.")
@output_option("--origin", type=FILE, help="Write the row of DATA behind each record; keep it secret.")
@output_option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@output_option("--force", is_flag=True, help="Overwrite existing files.")
@click.option(
    "--formulas", type=click.Choice(["keep", "escape", "refuse"]), default="keep", show_default=True,
    help="What to do about cells that a spreadsheet would run; escape puts an apostrophe before them.",
)  # fmt: skip
@without_seed
@engine_options
def protect(
    data: str,
    coarsen: dict[str, float | str],
    relaxed: bool,
    hold_back: float,
    output: Path,
    origin: Path | None,
    as_json: bool,
    force: bool,
    formulas: Formulas,
    engine: str | None,
    **given: Any,
) -> None:
    r"""Generalize a table with Mondrian until every class has k people, l values and distance t; or as --with says.

    Quasi-identifiers are generalized, sensitive and kept columns leave unchanged, all others are dropped. Rows leave in
    the order of their released cells, so the release is the same file whatever the order of DATA.

    \b
    unmask protect people.csv -q age,sex,zip -s diagnosis --k 10 --l 3 --t 0.2 -o release.csv
    unmask protect people.csv -q age,sex,zip --with tables.Lattice:k=5:suppression=0.02 -o release.csv
    unmask protect 'parts/*.parquet' -q age,sex,zip --engine duckdb --memory-limit 4GiB -o release.parquet
    """
    refuse_to_overwrite(origin, force=force, stream=output)
    if as_json and output == STANDARD_OUTPUT:
        raise click.UsageError("--json and -o - both say what is printed; leave one out")
    if hold_back and origin is None:
        raise UnmaskError("--hold-back leaves control people, whom the origin tells apart; give --origin, too")
    room, named = pop_options(given, ROOM), given.pop("protection")
    protection = choose_protection(named, relaxed, **pop_options(given, ("k", "l_", "t", "levels")))
    if engine is None:
        refuse_without_engine(dry_run=room["dry_run"], temp_directory=room["temp_directory"])
        table, dropped = read_with_dropped(Path(data), given)
        print_dropped_columns(dropped)
        asked = {"hold_back": hold_back, "coarsen": coarsen}
        if output != STANDARD_OUTPUT:
            from unmask.tables.writing import check_name

            check_name(output)

        def show(result: dict[str, Any]) -> list[str]:
            warnings = [*warn_of_small_classes(result, protection), *warn_of_person_columns(table)]
            if as_json:
                _say_json({**result, "dropped": dropped}, warnings)
            return warnings

        result, warnings = _protect_in_memory(table, protection, asked, output, origin, formulas, show)
        _say_release(result, output, as_json=as_json, warnings=warnings)
        return
    refuse_in_engine(origin=origin, coarsen=coarsen or None, **{"with": named or None})
    room |= {"formulas": formulas, "force": force} | {name: given[name] for name in TEXT_OPTIONS}
    written = protect_in_engine(engine, data, reading_in_engine(given), protection, output, **room)
    if written is not None:
        if as_json:
            _say_json(written, [])
        _say_release(written, output, as_json=as_json)


def _protect_in_memory(
    table: Table,
    protection: Any,
    asked: dict[str, Any],
    output: Path,
    origin: Path | None,
    formulas: Formulas,
    show: Callable[[dict[str, Any]], list[str]],
) -> tuple[dict[str, Any], list[str]]:
    """Write the release; return the facts about it, and the warnings of `show`, which prints before a file is there."""
    from unmask.protecting import protect as protect_table
    from unmask.tables.formulas import check_formulas, escaped, formula_cells

    start = time.perf_counter()
    made = protect_table(table, protection, **asked)
    seconds = time.perf_counter() - start
    run = formula_cells(made.release)
    check_formulas(run, formulas)
    print_formula_cells(run, formulas)
    leaving = escaped(made.release) if formulas == "escape" else made.release
    result = {**made.facts, "seconds": round(seconds, 3), "width": made.width}
    warnings: list[str] = []
    text = format_origin(made.origin) if origin else ""
    write_release(leaving, output, text, origin, show=lambda: warnings.extend(show(result)))
    return result, warnings


def _say_json(result: dict[str, Any], warnings: Sequence[str]) -> None:
    made = {name: value for name, value in result.items() if name not in ("width", "dropped")}
    width = [{"column": name, **vars(one)} for name, one in result["width"].items()]
    dropped = [{"column": name} for name in result["dropped"]]
    print_json(results=[made], tables={"width": width, "dropped": dropped}, warnings=warnings)


def _say_release(result: dict[str, Any], output: Path, *, as_json: bool, warnings: Sequence[str] = ()) -> None:
    from unmask.protecting import costs

    for said in warnings:
        print_line(f"warning: {said}", err=True)
    print_line(f"wrote {output}: {costs(result, result['width'])}", err=True)
    if not as_json and output != STANDARD_OUTPUT:
        given = click.get_current_context().params
        truth = ["--original", given["data"], "--origin", given["origin"]] if given["origin"] else []
        held = ["--hold-back", f"{given['hold_back']:g}"] if given["hold_back"] else []
        named = ["--person", given["person"]] if truth and given["person"] else []
        weighed = ["--weight", given["weight"]] if given["weight"] else []
        suggest_command("audit", output, *list_role_options(), *weighed, *named, *truth, *held)


for command in (
    init, advise, columns, design, price, game, study, report_command, certify, check, choose,
    choose_columns, audit_graph, protect_graph, advise_identity, open_, list_, demo,
):  # fmt: skip
    main.add_command(command)
