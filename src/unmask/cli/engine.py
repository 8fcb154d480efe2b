"""Tables that stay in an engine: the options of `audit` and `protect` for them, and the same commands with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from unmask.cli.terminal import say

if TYPE_CHECKING:
    from unmask.reports import ReportData
    from unmask.tables.formulas import Formulas
    from unmask.tables.protections.base import Mondrian
    from unmask.tables.roles import Roles


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


def roles_of(reading: dict[str, Any]) -> Roles:
    """What the command line says about reading a table."""
    from unmask.tables.roles import Roles

    text = "is for tables that are read into memory; an engine finds it in the first line: leave it out"
    refuse({"--delimiter": reading["delimiter"] is not None, "--header": reading["header"] is not None}, text)
    refuse({"--weight": reading["weight"] is not None}, "needs the table in memory; leave it or --engine out")
    return Roles(
        **{name: value for name, value in reading.items() if name not in ("delimiter", "header", "encoding", "weight")}
    )


def audit_in_engine(
    choice: str,
    sources: dict[str, str],
    roles: Roles,
    *,
    register: str | None,
    coverage: float,
    attacker: str | None,
    **room: Any,
) -> ReportData | None:
    """Audit the releases where they are; None after a dry run. room : of the engine, see `count_sources`."""
    from unmask.cases.tables.evidence import Evidence
    from unmask.cases.tables.standard import audit_tables
    from unmask.cli.files import read_motive
    from unmask.tables.counted_source import count_sources

    motive = None if attacker is None else read_motive(attacker)
    people = next(name for name in ("register", "register of people") if name not in sources)
    given = sources if register is None else {people: register, **sources}

    def role(name: str, names: list[str]) -> Roles:
        return roles.of_register(names) if name == people else roles.of_release(names)

    with count_sources(choice, given, role, register=people, say=_say, **room) as sources_counted:
        tables = {name: source.table for name, source in sources_counted.items()}
        if not tables:
            return None
        known = tables.pop(people) if register is not None else None
        evidence, title = Evidence(register=known, coverage=coverage), f"Audit of {', '.join(sources)}"
        return audit_tables(tables, evidence, title=title, motive=motive)


def _say(text: str) -> None:
    say(text, err=True)


def protect_in_engine(
    choice: str,
    source: str,
    roles: Roles,
    protection: Mondrian,
    output: Path,
    *,
    formulas: Formulas,
    force: bool,
    **room: Any,
) -> dict[str, Any] | None:
    """Protect a table where it is and write the release; returns what is said about it, None after a dry run."""
    import time

    from unmask.cli.files import say_dropped, say_formulas
    from unmask.data.resources import check_output
    from unmask.tables import criteria
    from unmask.tables.counted_release import generalize, write_release
    from unmask.tables.counted_source import count_sources

    start = time.perf_counter()
    check_output(output, force=force)
    with count_sources(choice, {source: source}, lambda *_: roles, protection=protection, say=_say, **room) as counted:
        if not counted:
            return None
        made = generalize(counted[source], protection)
        dropped = [name for name in counted[source].engine.names(source) if name not in roles.names]
        say_dropped(dropped)
        found = write_release(counted[source], made, output, formulas=formulas, force=force)
        say_formulas(found, formulas)
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
