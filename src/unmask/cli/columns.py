"""`unmask columns`: facts about each column of a table, and a suggested role."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.documents import ReadsDocument
from unmask.cli.files import print_json
from unmask.cli.option_types import FILE
from unmask.cli.options import optional_table_options
from unmask.cli.terminal import print_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unmask.facts import ColumnFacts, Count

OPTIONS = {"-q": "quasi-identifier", "-s": "sensitive", "--identifiers": "identifier", "--weight": "weight"}

WIDE_CHARACTERS = 100
"""Width of a terminal from which the reason is next to the role."""

MAX_NAME_CHARACTERS = 24
"""Longest name in the table; a longer one has a line of its own."""


@click.command(cls=ReadsDocument)
@click.argument("file", type=FILE)
@optional_table_options
@click.option("--json", "as_json", is_flag=True, help="Print the facts as one JSON object.")
def columns(file: Path, as_json: bool, **reading: Any) -> None:
    r"""Show how identifying each column of a table is, and suggest its role. No cell is shown.

    \b
    unmask columns people.csv
    unmask columns people.csv -q age,sex,zip -s diagnosis --json

    Alone is the share of rows whose value no other row has. With -q, it is the share of rows that are unique in the
    quasi-identifiers and this column.
    """
    from unmask.first_document import unit_of
    from unmask.tables.files import ROLES, read_every_column
    from unmask.tables.risk import column_facts

    roles = {name: role for option, role in ROLES.items() for name in reading[option]}
    facts = column_facts(read_every_column(file, reading, roles).written, roles=roles)
    if as_json:
        print_json(results=facts, rows={"file": [facts[0].rows]})
        return
    width = max(shutil.get_terminal_size((WIDE_CHARACTERS + 10, 24)).columns, 60)
    for line in (*_list_lines(facts, width), *_list_dependencies(facts)):
        print_line(line)
    unit = unit_of(facts)
    if reading["person"] is None:
        print_line(f"question: {unit.question}" if unit.question else f"unit of counting: {unit.words}", err=True)
    if not roles and (reading["person"] or not unit.question):
        print_line(f"next: {_suggest_command(file, facts, reading['person'])}", err=True)


# --- lines ------------------------------------------------------------------------------------------------------------


def _list_lines(facts: Sequence[ColumnFacts], width: int) -> Iterator[str]:
    name_width = min(max(len(column.name) for column in facts), MAX_NAME_CHARACTERS)
    with_roles = any(column.together is not None for column in facts)
    yield f"{facts[0].rows:,} rows, {len(facts):,} columns; ? marks a role that is suggested"
    head = f"{'':{name_width}}  distinct  missing    alone" + ("  with -q" if with_roles else "") + "  role"
    yield head
    role_start = len(head) - len("role")
    for column in facts:
        is_long = len(column.name) > name_width
        if is_long:
            yield column.name
        shares = [column.missing, column.alone, *([] if column.together is None else [column.together])]
        cells = [f"{column.distinct:8,}", *(_format_share(share, column.rows) for share in shares)]
        line = "  ".join([f"{'' if is_long else column.name:{name_width}}", *cells])
        role = column.role or f"{column.suggestion}?"
        yield from _add_reason(f"{line}  {role}", _describe_reason(column), role_start, width)


def _add_reason(line: str, reason: str, role_start: int, width: int) -> Iterator[str]:
    """Yield the reason next to the role on a wide line, below it on a narrow one."""
    is_wide = width >= WIDE_CHARACTERS
    indent = " " * (role_start + len("quasi-identifier?") + 2 if is_wide else 4)
    first, *further = wrap(reason, width - len(indent) - 1) or [""]
    if is_wide or not first:
        yield f"{line:{len(indent)}}{first}".rstrip()
    else:
        yield line
        yield indent + first
    for text in further:
        yield indent + text


def _describe_reason(column: ColumnFacts) -> str:
    """Return the type, and the reason for a suggested role, or against a role of the user."""
    contradicts = column.suggestion in ("identifier", "drop") and column.role not in ("identifier", "drop")
    has_reason = column.reason and (not column.role or contradicts)
    return f"{column.type}: {column.reason}" if has_reason else column.type


def _format_share(count: Count, n_rows: int) -> str:
    """Return a share in percent, 7 characters."""
    percent = 100 * int(count) / n_rows
    if not percent:
        return f"{'-':>7}"
    text = "<0.1" if percent < 0.1 else ">99.9" if 99.9 < percent < 100 else f"{percent:.1f}"
    return f"{text + ' %':>7}"


def _list_dependencies(facts: Sequence[ColumnFacts]) -> Iterator[str]:
    """Yield an empty line, and a line for each column that determines others."""
    lines = []
    for column in facts:
        exact = [item.column for item in column.determines if item.exact]
        nearly = [f"{item.column} ({100 * item.restored:.0f} %)" for item in column.determines if not item.exact]
        parts = [", ".join(exact)] * bool(exact) + [f"nearly {', '.join(nearly)}"] * bool(nearly)
        lines += [f"{column.name} determines {'; '.join(parts)}"] if parts else []
    yield from ["", *lines] if lines else []


def _suggest_command(file: Path, facts: Sequence[ColumnFacts], person: str | None) -> str:
    """Return the command that protects the file with the suggested roles, or what is missing."""
    if all(column.suggestion != "quasi-identifier" for column in facts):
        return "no column looks like a quasi-identifier; list the columns that an adversary may know with -q"
    words = ["unmask", "protect", str(file)]
    for option, role in OPTIONS.items():
        names = [column.name for column in facts if column.suggestion == role]
        words += [option, ",".join(names)] if names else []
    words += ["--person", person] if person else []
    return shlex.join([*words, "-o", "release.csv"])
