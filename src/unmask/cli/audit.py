"""`unmask audit`: releases of a table, attacked by the standard adversaries."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.documents import WritesDocument, allow_code_option
from unmask.cli.engine import count_tables, engine_options, pop_engine_options
from unmask.cli.generated import grouped, options, output_option, pop_options
from unmask.cli.group import first_argument
from unmask.cli.option_types import FILE, Input
from unmask.cli.options import level_option, make_protection, parse_parts, table_options
from unmask.cli.origins import read_origin
from unmask.cli.output import Output, at_risk_option, audit_output
from unmask.cli.reading import (
    Reading,
    derive_register_reading,
    derive_release_reading,
    read_original,
    read_register,
    read_released,
)
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError
from unmask.domains import list_further_measures, name_files
from unmask.protection_specs import Spec, parse_specs

if TYPE_CHECKING:
    from unmask.data.engine import EngineOptions
    from unmask.policy import Policy
    from unmask.results import Result
    from unmask.results.change import Change
    from unmask.tables import Table

ORIGINS = "CSV with the row of the original behind each record. Repeat it for each release, in their order."

STEPS = "Try one step of generalization of each quasi-identifier (needs --origin). The default with --report."

WITHOUT = "Standard adversary to leave out: acquaintance, insider, modeler, order reader or observer. Repeatable."

PROTECTION = (
    "Protection that made the release, which an adversary knows (needs --original). One for all, or for each release, "
    "in their order."
)


@click.command(cls=WritesDocument)
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
    targets={}, seed={}, measures={}, attacker={},
    steps={"flags": ("--steps/--no-steps",), "default": None, "help": STEPS},
    without={"multiple": True, "type": str, "metavar": "ADVERSARY", "help": WITHOUT}, together={},
    parts={"parse": parse_parts, "type": click.UNPROCESSED, "metavar": "A,B:C,D"},
    protection={
        "parse": parse_specs, "type": click.UNPROCESSED, "multiple": True, "metavar": "NAME:PARAMETER=VALUE",
        "help": PROTECTION,
    },
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
    protection: tuple[Spec, ...],
    levels: dict[str, float | str],
    output: Output,
    **values: Any,
) -> None:
    r"""Attack releases of a table: how many people are re-identified, and what is inferred about them.

    \b
    unmask audit release.csv -q age,sex,zip -s diagnosis
    unmask audit k3.csv k10.csv -q age,sex -s job --original people.csv --origin o3.csv --origin o10.csv --json
    unmask audit release.csv -q age,sex -s job --original people.csv --origin origin.csv --control others.csv
    unmask audit release.csv -q age,sex,zip --register voters.csv --coverage 0.6 --attacker attacker.toml
    unmask audit 'parts/*.parquet' -q age,sex,zip -s diagnosis --engine duckdb --memory-limit 2GiB
    """
    _check_origins(len(releases), original, origins)
    if output.at_risk is not None and original is not None and not origins and not values["synthetic"]:
        raise UnmaskError("--at-risk lists rows of the original and needs --origin; give it, or leave --original out")
    paths = tuple(map(Path, releases))
    names = name_files(paths)
    values["measures"] = (*values["measures"], *list_further_measures(output.policies, "tables"))
    engine = pop_engine_options(values)
    if engine.engine is not None:
        counted = _audit_counted(engine, dict(zip(names, releases, strict=True)), register, values)
        if counted is not None:  # a dry run has no result
            output.write(counted, rows=_count_rows(counted, names))
        return
    keywords = _pop_keywords(values)
    if keywords["steps"] is None:
        keywords["steps"] = output.report is not None
    tables, inputs, warnings = _read(dict(zip(names, paths, strict=True)), original, origins, register, control, values)
    watched = output.start_at_risk(f"row_of_{'release' if original is None else 'original'}_from_0")
    protections = _make_protections(protection, names)
    result = _audit_tables()(tables, **inputs, **keywords, watched=watched, protection=protections)
    suggest = None
    if original is not None and len(tables) == 1 and not (keywords["synthetic"] or keywords["hold_back"]):
        evidence = {**keywords, "register": inputs["register"], "control": inputs["control"], "steps": False}
        suggest = partial(_suggest, inputs["original"], levels, evidence)
    rows = _count_rows(result, names)
    output.write(result, rows=rows, warnings=warnings, suggest=suggest, watched=watched, releases=paths)


def _audit_tables() -> Callable[..., Result]:
    from unmask.tables.audit import audit as audit_tables  # here: help needs no attacks

    return audit_tables


def _pop_keywords(values: dict[str, Any]) -> dict[str, Any]:
    """Remove the options that are keywords of the audit; the others are about reading."""
    return pop_options(values, [name for name in inspect.signature(_audit_tables()).parameters if name in values])


def _count_rows(result: Result, names: Sequence[str]) -> dict[str, list[Any]]:
    return {"releases": [result.criteria[name]["rows"] for name in names]}


def _check_origins(n_releases: int, original: Path | None, origins: tuple[Path, ...]) -> None:
    if origins and len(origins) != n_releases:
        raise UnmaskError(
            f"{len(origins)} origins were given for {n_releases} releases, expected one for each, in their order"
        )
    if origins and original is None:
        raise UnmaskError("--origin gives rows of the original, and no --original was given; give both")


def _audit_counted(
    engine: EngineOptions, sources: dict[str, str], register: str | None, values: dict[str, Any]
) -> Result | None:
    """Audit releases that stay in an engine; None after a dry run."""
    keywords = pop_options(_pop_keywords(values), ("coverage", "attacker", "seed", "measures"))
    people = next(name for name in ("register", "register of people") if name not in sources)
    every_source = sources if register is None else {people: register, **sources}

    def derive(name: str, reading: Reading, columns: list[str]) -> Reading:
        return (derive_register_reading if name == people else derive_release_reading)(reading, columns)

    with count_tables(engine, every_source, values, derive) as counted:
        tables = {name: table for name, (_, table) in counted.items()}
        return _audit_tables()(tables, register=tables.pop(people, None), **keywords) if tables else None


def _read(
    files: dict[str, Path],
    original: Path | None,
    origins: tuple[Path, ...],
    register: str | None,
    control: Path | None,
    values: dict[str, Any],
) -> tuple[dict[str, Table], dict[str, Any], list[str]]:
    """Read the releases, what the auditor and the adversary know, and warnings."""
    paths = tuple(files.values())
    source = None if original is None else read_original(original, values, paths)
    people = None if register is None else read_register(Path(register), {**values, "like": source})
    reading = {**values, "like": people if source is None else source}  # a column has one type in all tables
    if source is not None:
        reading |= {"identifiers": (), "person": None, "decimal": None}  # dropped by protect, which writes a point
    read = {name: read_released(path, reading) for name, path in files.items()}
    tables = {name: table for name, (table, _) in read.items()}
    rows = {
        name: read_origin(path, tables[name].n_rows, source.n_rows)
        for name, path in zip(tables, origins, strict=False)
        if source is not None
    }
    controls = None if control is None else read_original(control, {**values, "like": source}, paths)
    inputs = {"original": source, "origin": rows, "register": people, "control": controls}
    return tables, inputs, _warn_of_unused_columns({name for _, unused in read.values() for name in unused}, source)


def _warn_of_unused_columns(columns: set[str], original: Table | None) -> list[str]:
    """Return a warning of released columns without a role; an adversary knows those that the original has."""
    available = columns if original is None else columns & set(original.names)
    return [f"released columns without a role, taken as known: {', '.join(sorted(available))}"] * bool(available)


def _make_protections(specs: tuple[Spec, ...], releases: list[str]) -> dict[str, Any]:
    """Return the protection of each release."""
    if len(specs) not in (0, 1, len(releases)):
        raise UnmaskError(
            f"{len(specs)} protections were given for {len(releases)} releases, expected one, or one for each"
        )
    specs = specs * len(releases) if len(specs) == 1 else specs
    return {name: make_protection(spec) for name, spec in zip(releases, specs, strict=False)}


def _suggest(
    table: Table, levels: dict[str, Any], evidence: dict[str, Any], result: Result, policies: list[Policy]
) -> tuple[Change, ...]:
    """Return the one release, and changes of it that were tried."""
    from unmask.suggestions import describe_release, suggest

    print_line("not acceptable: trying other protections for the page", err=True)
    release = result.verdicts[0].release
    k = result.criteria[release]["k"]
    given_evidence = {option: value for option, value in evidence.items() if value is not None}
    suggestions = suggest(table, policies, k=k if isinstance(k, int) else 1, levels=levels, **given_evidence)
    return (describe_release(result, release), *suggestions)
