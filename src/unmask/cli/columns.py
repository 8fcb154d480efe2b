"""`unmask columns`: what each column of a file gives away, and the role that fits it; and how releases are read."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.documents import ReadsDocument
from unmask.cli.files import print_json
from unmask.cli.generated import FILE
from unmask.cli.options import optional_table_options
from unmask.cli.reading import ROLES, read_every_column
from unmask.cli.terminal import print_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unmask.facts import ColumnFacts, Count

OPTIONS = {"-q": "quasi-identifier", "-s": "sensitive", "--identifiers": "identifier", "--weight": "weight"}

WIDE = 100
"""Characters of a line from which on the reason stands beside the role."""

NAME = 24
"""The longest name that stands in its column; a longer one has a line of its own."""


@click.command(cls=ReadsDocument)
@click.argument("file", type=FILE)
@optional_table_options
@click.option("--json", "as_json", is_flag=True, help="Print the facts as one JSON object.")
def columns(file: Path, as_json: bool, **reading: Any) -> None:
    r"""Show what each column of a table gives away, and suggest a role for it. No cell is shown.

    \b
    unmask columns people.csv
    unmask columns people.csv -q age,sex,zip -s diagnosis --json

    Alone is the share of rows whose value no other row has; with -q, the share of rows that no other row is like in the
    quasi-identifiers and this column.
    """
    from unmask.first_document import unit_of
    from unmask.tables.risk import column_facts

    roles = {name: role for option, role in ROLES.items() for name in reading[option]}
    facts = column_facts(read_every_column(file, reading, roles).written, roles=roles)
    if as_json:
        print_json(results=facts, rows={"file": [facts[0].rows]})
        return
    for line in (*_lines(facts, max(shutil.get_terminal_size((WIDE + 10, 24)).columns, 60)), *_determined(facts)):
        print_line(line)
    unit = unit_of(facts)
    if reading["person"] is None:
        print_line(f"question: {unit.question}" if unit.question else f"unit of counting: {unit.words}", err=True)
    if not roles and (reading["person"] or not unit.question):
        print_line(f"next: {_next(file, facts, reading['person'])}", err=True)


# --- lines ------------------------------------------------------------------------------------------------------------


def _lines(facts: Sequence[ColumnFacts], width: int) -> Iterator[str]:
    name = min(max(len(one.name) for one in facts), NAME)
    beside = any(one.together is not None for one in facts)
    yield f"{facts[0].rows:,} rows, {len(facts):,} columns; ? marks a role that is suggested"
    head = f"{'':{name}}  distinct  missing    alone" + ("  with -q" if beside else "") + "  role"
    yield head
    at = len(head) - len("role")
    for one in facts:
        if len(one.name) > name:
            yield one.name
        shown = one.name if len(one.name) <= name else ""
        start = f"{shown:{name}}  {one.distinct:8,}  {_share(one.missing, one.rows)}  {_share(one.alone, one.rows)}"
        start += f"  {_share(one.together, one.rows)}" if one.together is not None else ""
        yield from _with_reason(f"{start}  {one.role or one.suggestion + '?'}", _reason(one), at, width)


def _with_reason(line: str, reason: str, at: int, width: int) -> Iterator[str]:
    """The reason beside the role on a wide line, below it on a narrow one."""
    wide = width >= WIDE
    indent = " " * (at + len("quasi-identifier?") + 2 if wide else 4)
    first, *more = wrap(reason, width - len(indent) - 1) or [""]
    if wide or not first:
        yield f"{line:{len(indent)}}{first}".rstrip()
    else:
        yield line
        yield indent + first
    for text in more:
        yield indent + text


def _reason(one: ColumnFacts) -> str:
    """The type, and why a role is suggested; of one that was given only what speaks against it."""
    against = one.suggestion in ("identifier", "drop") and one.role not in ("identifier", "drop")
    return f"{one.type}: {one.reason}" if one.reason and (not one.role or against) else one.type


def _share(count: Count, whole: int) -> str:
    """A share in percent, 7 characters."""
    percent = 100 * int(count) / whole
    if not percent:
        return f"{'-':>7}"
    text = "<0.1" if percent < 0.1 else ">99.9" if 99.9 < percent < 100 else f"{percent:.1f}"
    return f"{text + ' %':>7}"


def _determined(facts: Sequence[ColumnFacts]) -> Iterator[str]:
    """Which columns determine others."""
    said = False
    for one in facts:
        exact = [other.column for other in one.determines if other.exact]
        near = [f"{other.column} ({100 * other.restored:.0f} %)" for other in one.determines if not other.exact]
        parts = [", ".join(exact)] * bool(exact) + [f"nearly {', '.join(near)}"] * bool(near)
        if parts:
            if not said:
                yield ""
            said = True
            yield f"{one.name} determines {'; '.join(parts)}"


def _next(file: Path, facts: Sequence[ColumnFacts], person: str | None) -> str:
    """The command that protects the file with the suggested roles; what is missing, where nobody may know a column."""
    if all(one.suggestion != "quasi-identifier" for one in facts):
        return "no column looks like a quasi-identifier; name those that somebody may know with -q"
    words = ["unmask", "protect", str(file)]
    for option, role in OPTIONS.items():
        names = [one.name for one in facts if one.suggestion == role]
        words += [option, ",".join(names)] if names else []
    words += ["--person", person] if person else []
    return shlex.join([*words, "-o", "release.csv"])
