"""`unmask init`: a table -> `unmask.toml`, a guess for every column with its reason."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.files import refuse_to_overwrite, write_texts
from unmask.cli.gates import first_policy_option
from unmask.cli.generated import Command
from unmask.cli.option_types import FILE
from unmask.cli.options import optional_table_options
from unmask.cli.terminal import print_line
from unmask.toml_text import DOCUMENT

if TYPE_CHECKING:
    from unmask.policy import Policy

RELEASED = """\
# Files that `unmask protect` writes and `unmask audit` attacks. The origin is secret. Without this section the audit
# attacks the table itself.
[[releases]]
file = "release.csv"
origin = "origin.csv"

# `unmask game` finds the protection, price and fine that pay best: {}
# your own answers in. Every number is an assumption until then. An unknown one may be {{ from = 1, to = 2 }}.
"""

PROTECTIONS = """\
[[protections]]
use = "none"

[[protections]]
use = "tables.Mondrian"
grid = { k = [5, 20, 50] }

"""


@click.command("init", cls=Command)
@click.argument("file", type=FILE)
@optional_table_options
@first_policy_option
@click.option("--output", "-o", default=DOCUMENT, show_default=True, type=FILE, help="Document to write.")
@click.option("--publisher", is_flag=True, help="Write [publisher] and [[attackers]] for unmask game, ready to run.")
@click.option("--force", is_flag=True, help="Overwrite an existing document.")
def init(file: Path, policies: list[Policy], output: Path, publisher: bool, force: bool, **reading: Any) -> None:
    r"""Write unmask.toml for a table: guessed roles with reasons, a protection, adversaries and a policy.

    Read and correct it. The other commands take it in place of files and options.

    \b
    unmask init people.csv
    unmask protect unmask.toml -o release.csv --origin origin.csv
    unmask audit unmask.toml --report out.html
    """
    from unmask.first_document import first_document, reasons, unit_of
    from unmask.studies.questions import list_question_lines
    from unmask.tables.files import ROLES, read_every_column
    from unmask.tables.risk import column_facts
    from unmask.toml_text import format_document

    refuse_to_overwrite(output, force=force)
    roles = {name: role for option, role in ROLES.items() for name in reading[option]}
    table = read_every_column(file, reading, roles)
    facts = column_facts(table.written, roles=roles)
    place = os.path.relpath(file.resolve(), output.resolve().parent)
    document = first_document(place, reading, facts, policies)
    role_reasons = reasons(facts)
    unit = unit_of(facts)
    decided = [unit.question or f"Unit of counting: {unit.words}"] if reading["person"] is None else []
    notes = {"data": (*decided, *table.notes)}
    game = [*PROTECTIONS.splitlines(), *list_question_lines()]
    instruction = "put" if publisher else "remove the marks below, and put"
    questions = "\n".join(game if publisher else (f"# {line}".rstrip() for line in game))
    blank = "" if publisher else "#"
    text = format_document(document, comments={"columns": role_reasons}, notes=notes)
    write_texts({output: f"{text}\n{RELEASED.format(instruction)}{blank}\n{questions}\n"})
    if unit.question and reading["person"] is None:
        print_line(f"question: {unit.question}; or write person = ... below [data] in {output}", err=True)
    then = f"unmask game {output}" if publisher else f"unmask protect {output} -o release.csv --origin origin.csv"
    print_line(f"wrote {output}: {len(facts)} columns; correct the roles, then: {then}", err=True)
