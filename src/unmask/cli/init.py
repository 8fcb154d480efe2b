"""`unmask init`: a table -> `unmask.toml`, a guess for every column with its reason."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.columns import ROLES, every_column
from unmask.cli.files import DOCUMENT, refuse_to_overwrite, write_text
from unmask.cli.generated import FILE, Command
from unmask.cli.options import optional_table_options

if TYPE_CHECKING:
    from unmask.facts import ColumnFacts
    from unmask.tables.column import Column


RELEASED = """\
# What was released, once it is there; the origin is secret.
# [[releases]]
# file = "release.csv"
# origin = "origin.csv\""""


@click.command("init", cls=Command)
@click.argument("file", type=FILE)
@optional_table_options
@click.option("--output", "-o", default=DOCUMENT, show_default=True, type=FILE, help="Document to write.")
@click.option("--force", is_flag=True, help="Overwrite an existing document.")
def init(file: Path, output: Path, force: bool, **reading: Any) -> None:
    r"""Write unmask.toml for a table: a role for each column with its reason, a protection, adversaries, a policy.

    Read it, correct it, and give it to the other commands in place of files and options.

    \b
    unmask init people.csv
    unmask protect unmask.toml -o release.csv
    unmask audit unmask.toml --report out.html
    """
    from unmask.tables.exposure import column_facts

    refuse_to_overwrite(output, force=force)
    roles = {name: role for option, role in ROLES.items() for name in reading[option]}
    table = every_column(file, reading, tuple(roles))
    facts = column_facts(table.written, roles=roles)
    write_text(output, _document(file, output, reading, table.notes, facts, table.written))
    click.echo(f"wrote {output}: {len(facts)} columns; read it, then: unmask protect {output} -o release.csv", err=True)


def _document(
    file: Path,
    output: Path,
    reading: dict[str, Any],
    notes: tuple[str, ...],
    facts: tuple[ColumnFacts, ...],
    columns: tuple[Column, ...],
) -> str:
    from unmask.document import READING
    from unmask.toml_text import section, whole_text

    place = os.path.relpath(file.resolve(), output.resolve().parent)
    said = {key: reading[key] for key in READING if reading[key] not in (None, "own", "any")}
    types = {column.name: column.type for column in columns}
    why = {one.name: f"{types[one.name]}: {one.reason}" if one.reason else types[one.name] for one in facts}
    roles = {one.name: one.role or one.suggestion for one in facts}
    secrets = [name for name, role in roles.items() if role == "sensitive"]
    return whole_text(
        f"Release of {file.name}",
        (
            "\n".join((section("[data]", {"file": place, **said}), *(f"# {note}" for note in notes))),
            section("[columns]", roles, why),
            section("[[protections]]", {"use": "tables.Mondrian", "with": {"k": 10}}),
            *_adversaries(secrets),
            section(
                "[[policy]]", {"require": "identity:success_probability.worst <= 0.09", "source": "EMA policy 0070"}
            ),
            RELEASED,
        ),
    )


def _adversaries(secrets: list[str]) -> Iterator[str]:
    from unmask.toml_text import section

    yield section("[[adversaries]]", {"name": "neighbor", "use": "tables.ClassAttack"})
    for name in secrets:
        found = {"name": f"who infers {name}", "use": "tables.AttributeInference", "with": {"sensitive": name}}
        yield section("[[adversaries]]", found)
