"""The command line: a thin hand. It reads files, calls one function, writes files, and says in one line what it did."""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unmask.reports import ReportData
    from unmask.tables.release import Table

KINDS = ("numeric", "ordinal", "categorical")

EXIT_ABOVE = 3
"""Exit code of an audit whose risk is above --fail-above."""


class _Group(click.Group):
    """Turns a user's mistake into one sentence and an exit code; a mistake of ours keeps its traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        from unmask.errors import UnmaskError

        try:
            return super().invoke(ctx)
        except UnmaskError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(error.exit_code)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        from difflib import get_close_matches

        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(self.list_commands(ctx))}"
            raise click.UsageError(f"{args[0]!r} is not a command; {hint}", ctx) from None


def _split(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (value or "").split(",") if name.strip())


def _pairs(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    wrong = [item for item in value if "=" not in item]
    if wrong:
        raise click.BadParameter("expected COLUMN=VALUE", ctx, parameter)
    return dict(item.split("=", 1) for item in value)


def _kinds(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    from difflib import get_close_matches

    given = _pairs(ctx, parameter, value)
    for column, kind in given.items():
        if kind not in KINDS:
            near = get_close_matches(kind, KINDS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise click.BadParameter(
                f"{kind!r} of column {column!r} is no kind, expected {', '.join(KINDS)}{hint}", ctx, parameter
            )
    return given


def _delimiter(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """One character; the two characters of an escaped tab are what a shell hands over for it."""
    character = "\t" if value == "\\t" else value
    if character is not None and (len(character) != 1 or character in '"\r\n'):
        raise click.BadParameter(
            f"expected one character, given {value!r}; leave it out to have it guessed", ctx, parameter
        )
    return character


def _share(ctx: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and math.isnan(value):
        raise click.BadParameter("expected a number, given nan", ctx, parameter)
    return value


def _table_options(command: Any) -> Any:
    """What every command that reads a table takes."""
    for option in (
        click.option("--delimiter", callback=_delimiter, help="Of a text file; guessed when left out."),
        click.option("--na", callback=_split, help="Texts that stand for a missing cell, separated by commas."),
        click.option(
            "--missing",
            type=click.Choice(["own", "wildcard", "excluded"]),
            default="own",
            show_default=True,
            help="What a missing quasi-identifier means: a value of its own, any value, or a row left out.",
        ),
        click.option(
            "--kind",
            "kinds",
            multiple=True,
            callback=_kinds,
            help="COLUMN=numeric|ordinal|categorical; guessed when left out.",
        ),
        click.option(
            "--hierarchy", "hierarchies", multiple=True, callback=_pairs, help="COLUMN=FILE, generalization hierarchy."
        ),
        click.option(
            "--identifiers", callback=_split, help="Columns that name a person; dropped before anything else."
        ),
        click.option(
            "--sensitive", "-s", callback=_split, help="Columns an adversary wants to learn, separated by commas."
        ),
        click.option(
            "--quasi-identifiers",
            "-q",
            required=True,
            callback=_split,
            help="Columns an adversary may know, separated by commas.",
        ),
    ):
        command = option(command)
    return command


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="unmask", message="unmask %(version)s")
def main() -> None:
    r"""Attack a data release as a real adversary would, before anyone else does.

    \b
    unmask demo
    unmask protect people.csv -q age,sex,zip -s diagnosis --k 10 -o release.csv --origin origin.csv
    unmask audit release.csv -q age,sex,zip -s diagnosis --original people.csv --origin origin.csv --report out.html
    """


@main.command()
@click.argument("releases", nargs=-1, required=True, type=click.Path(path_type=Path))
@_table_options
@click.option(
    "--original", type=click.Path(path_type=Path), help="The table before protection: gives targets and truth."
)
@click.option(
    "--origin", "origins", multiple=True, type=click.Path(path_type=Path),
    help="For each release, in their order: CSV with the row of the original behind each record.",
)  # fmt: skip
@click.option(
    "--register", type=click.Path(path_type=Path), help="Named people: a table with some of the quasi-identifiers."
)
@click.option(
    "--coverage",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True),
    callback=_share,
    help="Chance that the person of a record is in the register.",
)
@click.option(
    "--targets", type=click.IntRange(min=1), help="Attack so many people drawn from the original; all when left out."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of every random draw.")
@click.option("--report", type=click.Path(path_type=Path), help="Write the report, one HTML file.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--force", is_flag=True, help="Overwrite the report.")
@click.option(
    "--fail-above",
    type=click.FloatRange(0, 1),
    callback=_share,
    help="Exit 3 when more than this share of people is named.",
)
def audit(
    releases: tuple[Path, ...],
    original: Path | None,
    origins: tuple[Path, ...],
    register: Path | None,
    coverage: float,
    targets: int | None,
    seed: int,
    report: Path | None,
    as_json: bool,
    force: bool,
    fail_above: float | None,
    **reading: Any,
) -> None:
    r"""Attack releases of a table; say who is named and whose secret is known.

    \b
    unmask audit release.csv -q age,sex,zip -s diagnosis
    unmask audit k3.csv k10.csv -q age,sex -s job --original people.csv --origin o3.csv --origin o10.csv --json
    """
    from dataclasses import replace

    from unmask.errors import UnmaskError
    from unmask.studies.tables import Evidence, study_tables

    if report is not None:
        _refuse_to_overwrite(report, force=force)
    if origins and len(origins) != len(releases):
        raise UnmaskError(
            f"{len(origins)} origins were given for {len(releases)} releases, expected one for each, in their order"
        )
    if origins and original is None:
        raise UnmaskError("--origin gives rows of the original, and no --original was given; give both")
    if len(set(releases)) < len(releases):
        raise UnmaskError("a release was given twice, expected different files; name each one once")
    names = _labels(releases)
    of_release = reading if original is None else {**reading, "identifiers": ()}  # protect has dropped them
    tables = {name: _read(path, of_release) for name, path in zip(names, releases, strict=True)}
    source = None if original is None else _read(original, reading)
    evidence = Evidence(original=source, coverage=coverage, targets=targets, seed=seed)
    if source is not None and origins:
        evidence = replace(
            evidence,
            origins={
                name: _read_origin(path, tables[name].n_rows, source.n_rows)
                for name, path in zip(names, origins, strict=True)
            },
        )
    if register is not None:
        evidence = replace(evidence, register=_read_register(register, reading))
    found = study_tables(
        tables,
        evidence,
        title=f"Audit of {', '.join(names)}",
        reproduce=_reproduce(seed, (*releases, original, register)),
    )
    if report is not None:
        _write_report(found, report, force=force)
    if as_json:
        click.echo(json.dumps(_strict(_audit_json(found, names, tables)), allow_nan=False))
    else:
        _say_findings(found)
    if report is not None:
        click.echo(f"wrote {report}", err=True)
    worst = max(
        row.posterior
        for row in found.rows
        if row.target == "identity" and row.measure == "success_probability" and row.release != "original"
    )
    if fail_above is not None and worst > fail_above:
        click.echo(f"identity success {worst:.4g} is above {fail_above:g}", err=True)
        raise click.exceptions.Exit(EXIT_ABOVE)


@main.command()
@click.argument("data", type=click.Path(path_type=Path))
@_table_options
@click.option("--k", default=10, show_default=True, help="Rows in every class.")
@click.option("--l", "l_", type=int, help="Distinct values of every sensitive column in every class.")
@click.option("--t", type=float, help="Largest distance of a class's sensitive values from the whole table's.")
@click.option("--relaxed", is_flag=True, help="Rows equal to the cut may go to either side.")
@click.option(
    "--output", "-o", required=True, type=click.Path(path_type=Path), help="The release: CSV, TSV (.gz) or Parquet."
)
@click.option(
    "--origin", type=click.Path(path_type=Path), help="Write the row of DATA behind each record; keep it secret."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of the shuffle.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def protect(
    data: Path,
    k: int,
    l_: int | None,
    t: float | None,
    relaxed: bool,
    output: Path,
    origin: Path | None,
    seed: int,
    as_json: bool,
    force: bool,
    **reading: Any,
) -> None:
    r"""Generalize a table with Mondrian until every class has k rows, l values and distance t.

    \b
    unmask protect people.csv -q age,sex,zip -s diagnosis --k 10 --l 3 --t 0.2 -o release.csv
    """
    import numpy as np

    from unmask.errors import UnmaskError
    from unmask.tables import Mondrian, criteria, utility

    if origin is not None and origin.resolve() == output.resolve():
        raise UnmaskError(f"the release and its origin are both to be written to {output}; expected two files")
    for path in (output, origin):
        if path is not None:
            _refuse_to_overwrite(path, force=force)
    table = _read(data, reading)
    start = time.perf_counter()
    release, rows = Mondrian(k=k, l=l_, t=t, strict=not relaxed)(table, rng=np.random.default_rng(seed))
    seconds = time.perf_counter() - start
    _write_release(release, output, rows, origin, force=force)
    found, lost = criteria.evaluate(release), utility.evaluate(table, release, rows)
    result = {
        "rows": release.n_rows,
        "classes": found.classes,
        "k": found.k,
        "seconds": round(seconds, 3),
        "utility": {"gcp": lost.gcp, "average_class_size": release.n_rows / found.classes},
    }
    if as_json:
        click.echo(json.dumps(_strict(result), allow_nan=False))
    if release.other:
        names = ", ".join(column.name for column in release.other)
        click.echo(f"released as they are, drop what names a person with --identifiers: {names}", err=True)
    click.echo(
        f"wrote {output}: {release.n_rows:,} rows in {found.classes:,} classes of at least {found.k}, "
        f"information lost {lost.gcp:.1%}, seed {seed}",
        err=True,
    )


@main.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print the lists as one JSON object.")
def list_(as_json: bool) -> None:
    """Show what there is: attacks, protections, measures."""
    from unmask.catalog import ATTACKS, MEASURES, PROTECTIONS

    shown = {
        "attacks": {name: _first_line(item) for name, item in ATTACKS.items()},
        "protections": {name: _first_line(item) for name, item in PROTECTIONS.items()},
        "measures": {name: f"{item.unit}; {item.source}" for name, item in MEASURES.items()},
    }
    if as_json:
        click.echo(json.dumps(shown))
        return
    for heading, items in shown.items():
        click.echo(f"{heading}\n" + "\n".join(f"  {name:28} {text}" for name, text in items.items()))


@main.command()
@click.option(
    "--report",
    default="unmask-demo.html",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Where to write the report.",
)
@click.option(
    "--people", default=20_000, show_default=True, type=click.IntRange(min=500), help="Size of the generated census."
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of the census and of every draw."
)
def demo(report: Path, people: int, seed: int) -> None:
    """Make a census, protect it with k = 3, 10 and 50, attack every release, write the report. Needs no files."""
    import numpy as np

    from unmask.studies.tables import Evidence, study_tables
    from unmask.tables import Mondrian, Register, Table, datasets

    rng = np.random.default_rng(seed)
    census = Table.read(
        datasets.synthetic_census(people, rng=rng), quasi_identifiers=("age", "sex", "zip"), sensitive="diagnosis"
    )
    tables, origins = {}, {}
    for k in (3, 10, 50):
        tables[f"k={k}"], origins[f"k={k}"] = Mondrian(k=k)(census, rng=rng)
    register = Register(columns=("age", "sex", "zip"), coverage=0.8)(census, origins["k=3"], rng=rng)
    evidence = Evidence(original=census, origins=origins, register=register.auxiliary, coverage=0.8, seed=seed)
    found = study_tables(
        tables, evidence, title="A generated census, released with k = 3, 10 and 50", reproduce=_reproduce(seed, ())
    )
    _write_report(found, report, force=True)
    _say_findings(found)
    click.echo(f"wrote {report} (seed {seed})", err=True)


def _first_line(item: object) -> str:
    return (type(item).__doc__ or "").strip().splitlines()[0]


def _read(path: Path, reading: dict[str, Any]) -> Table:
    from unmask.tables import Table

    return Table.read(path, **reading)


def _read_register(path: Path, reading: dict[str, Any]) -> Table:
    """The register has some of the quasi-identifiers and none of the sensitive columns."""
    from unmask.errors import UnmaskError
    from unmask.tables import Table
    from unmask.tables.reading import read_encoded

    names = list(read_encoded(path, delimiter=reading["delimiter"]))
    wanted = reading["quasi_identifiers"]
    shared = [name for name in wanted if name in names]
    if not shared:
        raise UnmaskError(
            f"the register has none of the quasi-identifiers {', '.join(wanted)}; its columns are {', '.join(names)}: "
            "name at least one column alike"
        )

    def only(given: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in given.items() if name in shared}

    return Table.read(
        path,
        quasi_identifiers=shared,
        kinds=only(reading["kinds"]),
        hierarchies=only(reading["hierarchies"]),
        missing=reading["missing"],
        na=reading["na"],
        delimiter=reading["delimiter"],
    )


def _read_origin(path: Path, n_released: int, n_original: int) -> NDArray[np.int64]:
    import numpy as np

    from unmask.errors import FailedError, UnmaskError

    try:
        lines = path.read_text(encoding="utf-8").split()
    except OSError as error:
        raise FailedError(f"origin {path.name!r} cannot be read: {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise FailedError(f"origin {path.name!r} is not UTF-8 text; expected the file that protect wrote") from None
    digits = lines[1:]
    if len(digits) != n_released or not all(text.isascii() and text.isdigit() for text in digits):
        raise UnmaskError(
            f"origin {path.name!r} has {len(digits)} numbers for {n_released} records, "
            "expected a heading and one row number a line"
        )
    origin = np.array([min(int(text), n_original) if len(text) < 20 else n_original for text in digits], dtype=np.int64)
    if origin.max() >= n_original or len(np.unique(origin)) != len(origin):
        raise UnmaskError(f"origin {path.name!r} must name different rows from 0 to {n_original - 1} of the original")
    return origin


def _labels(paths: tuple[Path, ...]) -> list[str]:
    """Short names of the releases, made different where two files are called alike."""
    stems = [path.name.split(".")[0] for path in paths]
    return stems if len(set(stems)) == len(stems) and "original" not in stems else [str(path) for path in paths]


def _refuse_to_overwrite(path: Path, *, force: bool) -> None:
    from unmask.errors import UnmaskError

    if path.exists() and not force:
        raise UnmaskError(f"{path} exists; choose another name or give --force")


def _write_report(found: ReportData, path: Path, *, force: bool) -> None:
    from unmask.reports import render

    _refuse_to_overwrite(path, force=force)
    _write_text(path, render(found))


def _write_release(table: Table, output: Path, rows: NDArray[np.int64], origin: Path | None, *, force: bool) -> None:
    """The release and its origin, both or neither: an origin of another release would spoil every later audit."""
    import tempfile

    from unmask.errors import FailedError

    if origin is None:
        table.write(output, force=force)
        return
    text = "row\n" + "\n".join(map(str, rows.tolist())) + "\n"
    try:
        with tempfile.TemporaryDirectory(prefix=f".{origin.name}-", dir=origin.parent) as folder:
            whole = Path(folder) / origin.name
            whole.write_text(text, encoding="utf-8")
            table.write(output, force=force)
            whole.replace(origin)
    except OSError as error:
        raise FailedError(f"{origin} cannot be written: {error.strerror or error}") from None


def _write_text(path: Path, text: str) -> None:
    """Whole or not at all."""
    import tempfile

    from unmask.errors import FailedError

    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
            whole = Path(folder) / path.name
            whole.write_text(text, encoding="utf-8")
            whole.replace(path)
    except OSError as error:
        raise FailedError(f"{path} cannot be written: {error.strerror or error}") from None


def _reproduce(seed: int, paths: tuple[Path | None, ...]) -> dict[str, object]:
    import hashlib
    import shlex

    from unmask import __version__

    digests = {
        f"sha256 of {path.name}": hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for path in paths
        if path is not None and path.is_file()
    }
    command = shlex.join(["unmask", *sys.argv[1:]])
    return {"command": command, "seed": seed, "version": __version__, **digests}


def _audit_json(found: ReportData, names: list[str], tables: dict[str, Table]) -> dict[str, Any]:
    criteria = {name: dict(found.criteria[name]) for name in names}
    unused = sorted({column.name for table in tables.values() for column in table.other})
    warnings = [f"not run: {what}: {why}" for what, why in found.not_run]
    if unused:
        warnings.insert(0, f"columns without a role, used by no adversary: {', '.join(unused)}")
    result = {"release": criteria[names[0]], "measures": [row.as_dict() for row in found.rows], "warnings": warnings}
    return result if len(names) == 1 else {**result, "releases": criteria}


def _strict(value: Any) -> Any:
    """What JSON can say: an infinity as the text "inf" or "-inf", what is undefined (inf - inf) as null."""
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _say_findings(found: ReportData) -> None:
    from unmask.reports import sentences

    for sentence in sentences(found):
        click.echo(sentence)
