"""Audits of tables in files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from unmask.core.errors import UnmaskError
from unmask.core.signatures import with_parameters
from unmask.data.engine import EngineOptions
from unmask.data.origins import read_origin
from unmask.domains import name_files
from unmask.findings.people_at_risk import Watched
from unmask.languages import gettext as _
from unmask.protection_specs import Spec
from unmask.ranges import Option
from unmask.results import Result
from unmask.schema import defaults
from unmask.tables.audit.table_audit import ATTACKER, audit
from unmask.tables.files import (
    ROLES,
    Reading,
    count_tables,
    derive_register_reading,
    derive_release_reading,
    read_column_names,
    read_original,
    read_register,
    read_released,
)
from unmask.tables.reading import check_columns
from unmask.tables.survey_design import NO_DESIGN, UNITS, UNKNOWN_DESIGN
from unmask.tables.table import Table

_log = logging.getLogger(__name__)

READING = tuple(name for name in signature(Table.read).parameters if name not in ("source", "like"))
"""Parameters of `Table.read` about the meaning of a file."""

SHARED = (
    "coverage", "population", "hold_back", "synthetic", "targets", "knows", "seed", "without", "together", "parts",
    "measures", "analyses",
)  # fmt: skip
"""Parameters of `audit` that an audit of files has, too."""

COUNTED = ("coverage", "population", "seed", "attacker", "measures")
"""Those of an audit of tables that stay in an engine; the others need every row."""

MAX_NAMED = 8
"""Columns that a warning names, since the first screen of a page shows it."""


@with_parameters(EngineOptions)
@with_parameters(audit, only=SHARED)
@with_parameters(Table.read, only=READING, first=True)
def audit_files(
    releases: Annotated[Sequence[str], Option(source=True)],
    *,
    original: Annotated[Path | None, Option("Input", key="data.file")] = None,
    origins: Annotated[Sequence[Path], Option("Input", "--origin")] = (),
    register: Annotated[str | None, Option(metavar="PATH", key="register.file")] = None,
    control: Annotated[Path | None, Option(key="control.file")] = None,
    attacker: Annotated[str | None, ATTACKER] = None,
    protection: Annotated[Sequence[Spec], Option(metavar="NAME:PARAMETER=VALUE")] = (),
    attacks: Annotated[
        Sequence[Spec], Option(flag="--attack", metavar="NAME[:PARAMETER=VALUE]", key="audit.attacks")
    ] = (),
    steps: Annotated[bool | None, Option(flag="--steps/--no-steps")] = None,
    levels: Annotated[Mapping[str, float | str], Option("Output", "--level", "COLUMN=LEVEL")] = MappingProxyType({}),
    page: bool = False,
    watched: Watched | None = None,
    record_risks: MutableMapping[str, str] | None = None,
    trials: MutableMapping[str, Any] | None = None,
    code: Callable[[str], Path | None] = lambda _: None,
    **further: Any,
) -> Result | None:
    r"""Attack releases of a table: how many people are re-identified, and which values are inferred.

    \b
    unmask audit release.csv -q age,sex,zip -s diagnosis
    unmask audit k3.csv k10.csv -q age,sex -s job --original people.csv --origin o3.csv --origin o10.csv --json
    unmask audit release.csv -q age,sex -s job --original people.csv --origin origin.csv --control others.csv
    unmask audit release.csv -q age,sex,zip --register voters.csv --coverage 0.6 --attacker attacker.toml
    unmask audit release.csv -q age,sex --original people.csv --origin origin.csv --knows missing=0.4,columns=1
    unmask audit 'parts/*.parquet' -q age,sex,zip -s diagnosis --engine duckdb --memory-limit 2GiB

    Parameters
    ----------
    releases : sequence of str
        files of the releases
    original : path, optional
        table before protection: gives targets and truth
    origins : sequence of path
        CSV with the row of the original behind each record, repeated for each release in their order
    register : str, optional
        table of people with some of the quasi-identifiers
    control : path, optional
        control group: similar people who are not in the original, to show what being in it adds
    protection : sequence of Spec
        protection that made the release, which an adversary knows (needs --original): one for all, or one for each
        release in their order
    attacks : sequence of Spec
        further attack on people's records or values that `unmask list` shows, such as tables.StringLinkage:neighbors=3
        (needs --original, repeatable)
    steps : bool, optional
        try one step of generalization of each quasi-identifier (needs --origin, and is the default with --report)
    levels : mapping of str to level
        finest level of a column in the other protections of --changes: bins, a period, a level, hidden characters, or *
    page : bool
        Whether a page will show the result.
    watched, attacker
        See `audit`.
    record_risks : mapping, optional
        Gets the text of the risk file of the only release, with "" as key.
    trials : mapping, optional
        gets the original as `table`, and the keywords with which `suggestions.suggest` tries other protections of a
        single release
    code : callable
        Function that returns the folder whose modules a parameter may run; None: none.
    **further
        Parameters of `Table.read`, `audit` and `EngineOptions`.

    Returns
    -------
    Result or None
        None after a dry run.
    """
    options = {**defaults(f"{__name__}:audit_files"), **further}
    settings = {"attacker": attacker, **{name: options[name] for name in SHARED}}
    reading = {name: options[name] for name in READING}
    reading |= {role: (names,) if isinstance(names := reading[role], str) else tuple(names) for role in ROLES}
    engine = EngineOptions(**{field.name: options[field.name] for field in fields(EngineOptions)})
    _check_origins(len(releases), original, origins)
    if watched is not None and original is not None and not origins and not settings["synthetic"]:
        raise UnmaskError("--at-risk lists rows of the original and needs --origin; give it, or leave --original out")
    names = name_files(tuple(map(Path, releases)))
    if engine.engine is not None:
        in_memory = {
            "original": original, "control": control, "at_risk": watched is not None, "attack": attacks,
            "protection": protection, "steps": steps, "weight": reading["weight"],
            **{name: reading[name] for name in NO_DESIGN}, "risk_file": record_risks is not None, **settings,
        }  # fmt: skip
        _refuse_rows(in_memory)
        return _audit_counted(engine, dict(zip(names, releases, strict=True)), register, reading, settings)
    paths = dict(zip(names, map(Path, releases), strict=True))
    tables, inputs, warnings = _read(paths, original, origins, register, control, reading)
    if watched is not None:
        watched.rows = f"row_of_{'release' if original is None else 'original'}_from_0"
    for unit in UNITS:
        if reading[unit] is not None and all(getattr(table.design, unit) is None for table in tables.values()):
            check_columns(read_column_names(Path(releases[0]), reading), [reading[unit]], place="the release")
    if reading["replicate_weights"] and all(table.design.replicates is None for table in tables.values()):
        check_columns(read_column_names(Path(releases[0]), reading), reading["replicate_weights"], place="the release")
    if record_risks is not None:
        record_risks[""] = _evaluate_records(tables, people=inputs["register"], population=settings["population"])
    protections = _make_protections(protection, names, code("protection"))
    steps = page if steps is None else steps
    further_attacks = _make_attacks(attacks, code("attack"))
    result = audit(
        tables, **inputs, **settings, attacks=further_attacks, protection=protections, steps=steps, watched=watched
    )
    is_alone = len(tables) == 1 and not settings["synthetic"] and not settings["hold_back"]
    if trials is not None and original is not None and is_alone:
        others = {name: inputs[name] for name in ("register", "control")}
        trials.update({"table": inputs["original"], "levels": levels, **others, **settings, "analyses": ()})
    return replace(result, cautions=(*warnings, *result.cautions))


def _evaluate_records(tables: Mapping[str, Table], people: Table | None, population: int | None) -> str:
    """Return the risk file of the only release, and log what is not in it."""
    from unmask.tables.risk.records import evaluate_records

    if len(tables) > 1:
        raise UnmaskError(f"--risk-file is about one release, {len(tables)} were given; give one")
    risks = evaluate_records(*tables.values(), register=people, population=population)
    for column, reason in risks.not_run:
        _log.warning("note: no %s in the risk file: %s", column, reason)
    return risks.to_csv()


def _check_origins(n_releases: int, original: Path | None, origins: Sequence[Path]) -> None:
    if origins and len(origins) != n_releases:
        raise UnmaskError(
            f"{len(origins)} origins were given for {n_releases} releases, expected one for each, in their order"
        )
    if origins and original is None:
        raise UnmaskError("`origins` gives rows of the original, and no `original` was given; give both")


def _refuse_rows(settings: Mapping[str, Any]) -> None:
    """Raise an error for a setting that needs every row of a table."""
    for name, value in settings.items():
        if value and name not in COUNTED:
            name = {"analyses": "analysis"}.get(name, name)
            raise UnmaskError(f"--{name.replace('_', '-')} needs the table in memory; leave it or --engine out")


def _audit_counted(
    engine: EngineOptions, sources: dict[str, str], register: str | None, reading: Reading, settings: dict[str, Any]
) -> Result | None:
    """Audit releases that stay in an engine; None after a dry run."""
    people = next(name for name in ("register", "register of people") if name not in sources)
    every_source = sources if register is None else {people: register, **sources}

    def derive(name: str, reading: Reading, columns: list[str]) -> Reading:
        return (derive_register_reading if name == people else derive_release_reading)(reading, columns)

    counted_settings = {name: settings[name] for name in COUNTED}
    with count_tables(engine, every_source, reading, derive) as counted:
        tables = {name: table for name, (_, table) in counted.items()}
        return audit(tables, register=tables.pop(people, None), **counted_settings) if tables else None


def _read(
    files: Mapping[str, Path],
    original: Path | None,
    origins: Sequence[Path],
    register: str | None,
    control: Path | None,
    reading: Reading,
) -> tuple[dict[str, Table], dict[str, Any], list[str]]:
    """Read the releases, what the auditor and the adversary know, and warnings."""
    paths = tuple(files.values())
    source = None if original is None else read_original(original, reading, paths)
    people = None if register is None else read_register(Path(register), {**reading, "like": source})
    released = {**reading, "like": people if source is None else source}  # a column has one type in all tables
    if source is not None:
        released |= {"identifiers": (), "person": None, "decimal": None}  # dropped by protect, which writes a point
    read = {name: read_released(path, released) for name, path in files.items()}
    tables = {name: table for name, (table, _) in read.items()}
    rows = {
        name: read_origin(path, tables[name].n_rows, source.n_rows)
        for name, path in zip(tables, origins, strict=False)
        if source is not None
    }
    if source is not None:
        for name, origin in rows.items():  # protect drops columns of the design
            tables[name] = replace(tables[name], design=source.design.follow(origin))
        source = replace(source, design=UNKNOWN_DESIGN)
    controls = None if control is None else read_original(control, {**reading, **NO_DESIGN, "like": source}, paths)
    inputs = {"original": source, "origin": rows, "register": people, "control": controls}
    return tables, inputs, _warn_of_unused_columns({name for _, unused in read.values() for name in unused}, source)


def _warn_of_unused_columns(columns: Iterable[str], original: Table | None) -> list[str]:
    """Return a warning of released columns without a role; an adversary knows those that the original has."""
    names = sorted(name for name in columns if original is None or name in original.names)
    shown_names = ", ".join(names[:MAX_NAMED])
    if len(names) > MAX_NAMED:
        shown_names = _("{names} and {n} more", names=shown_names, n=len(names) - MAX_NAMED)
    return [_("an adversary may know released columns without a role: {columns}", columns=shown_names)] if names else []


def _make_attacks(specs: Sequence[Spec], code: Path | None) -> dict[str, Any]:
    """Return the attacks by the names of their adversaries."""
    if not specs:
        return {}
    from unmask.catalog import make  # here: most audits have no further attack

    return {spec.label: make(spec, "attacks", "tables", code) for spec in specs}


def _make_protections(specs: Sequence[Spec], releases: Sequence[str], code: Path | None) -> dict[str, Any]:
    """Return the protection of each release."""
    if len(specs) not in (0, 1, len(releases)):
        raise UnmaskError(
            f"{len(specs)} protections were given for {len(releases)} releases, expected one, or one for each"
        )
    if not specs:
        return {}
    from unmask.catalog import make  # here: most audits know no protection

    specs = [*specs] * len(releases) if len(specs) == 1 else specs
    return {name: make(spec, "protections", "tables", code) for name, spec in zip(releases, specs, strict=False)}
