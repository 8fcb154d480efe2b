"""`unmask look`: a table -> guessed roles, one question, a verdict and a page."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.files import name_table, print_verdict, refuse_to_overwrite, suggest_command
from unmask.cli.gates import first_policy_option
from unmask.cli.generated import Command
from unmask.cli.option_types import FILE
from unmask.cli.options import optional_table_options
from unmask.cli.output import describe_version, write_page
from unmask.cli.terminal import print_line, print_table
from unmask.domains import remove_ending

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unmask.first_look import Roles
    from unmask.policy import Policy
    from unmask.results import Result


@click.command("look", cls=Command)
@click.argument("file", type=FILE)
@optional_table_options
@first_policy_option
@click.option(
    "--changes/--no-changes", default=True, show_default=True, help="Try protections if it is not acceptable."
)
@click.option("--report", type=FILE, help="File of the page, by default the name of the table with -look.html.")
@click.option("--force", is_flag=True, help="Overwrite the page.")
def look(file: Path, policies: list[Policy], changes: bool, report: Path | None, force: bool, **reading: Any) -> None:
    r"""Guess the roles of a table's columns, audit the table as it is, and find a protection that suffices.

    \b
    unmask look people.csv
    unmask look visits.csv --person patient_id --policy strict

    The page shows no record. A stated role (-q, -s, --identifiers ...) replaces the guessed one.
    """
    from dataclasses import replace

    from unmask.first_look import audit_as_is, guess_roles
    from unmask.render.first_screen import select_change
    from unmask.results import Advice

    report = report or file.with_name(f"{remove_ending(file)}-look.html")
    roles = guess_roles(file, **reading)
    refuse_to_overwrite(report, force=force)  # after reading: a file that cannot be read is the first problem
    for note in roles.notes:
        print_line(f"note: {note}", err=True)
    print_line(f"{file.name}: {roles.facts[0].rows:,} rows, {len(roles.facts):,} columns", bold=True)
    print_line()
    print_table(roles.tabulate())
    print_line()
    if roles.unit.question:
        roles = guess_roles(file, **{**reading, "person": _ask_person(roles)})
    print_line(f"{roles.unit.words[:1].upper()}{roles.unit.words[1:]}.")
    print_line()
    result = audit_as_is(file, roles, name=file.name, policies=policies, changes=changes)
    change = select_change(result.changes)
    document = ["init", *name_table(file, also=("policies",))]
    if change and change.protects_kept:
        columns = [*roles.reading["quasi_identifiers"], *roles.reading["keep"]]
        table = name_table(file, leave_out=("quasi_identifiers", "keep"), also=("policies",))
        document = ["init", *table, "-q", ",".join(columns)]
    advice = Advice("", shlex.join(["unmask", *document]))
    result = replace(result, advice=advice, reproduce=describe_version()).without_small()
    print_verdict(result)
    for line in _list_findings(result):
        print_line(line)
    write_page(result, report)
    suggest_command(*document)


def _ask_person(roles: Roles) -> str:
    """Ask whether one row is one person; without a terminal, raise an error with the question."""
    from unmask.core.errors import UnmaskError
    from unmask.tables.unit import ROW

    question = roles.unit.question
    if not sys.stdin.isatty():
        raise UnmaskError(question)
    is_row = click.confirm(question.split(" If it is,")[0], default=False)
    return ROW if is_row else roles.unit.column


def _list_findings(result: Result) -> Iterator[str]:
    """Yield the most important finding, and the protection that is enough or comes closest."""
    from unmask.findings.sentences import sentences
    from unmask.render.first_screen import describe_next

    yield ""
    yield from sentences(result)[:1]
    yield from filter(None, [describe_next(result.changes)])
    yield ""
