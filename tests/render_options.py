"""Program that writes `cli/options_table.py`, the options of commands: `python tests/render_options.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from unmask.cli import main
from unmask.cli.domain import read_signature
from unmask.cli.generated import Command, LazyOptions, declare_parameters, list_typed_parameters
from unmask.cli.option_types import FILE, FileOrName, Input, Names
from unmask.domains import DOMAINS

TABLE = Path(__file__).parents[1] / "src/unmask/cli/options_table.py"

AUDITED = [f"{entry.audit}:audit_files" for entry in DOMAINS.values()]
"""Functions from which a command is generated."""

HEAD = '''# fmt: off
# ruff: noqa: E501
"""Options of commands by the function or the dataclass that declares them. tests/render_options.py writes this file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from unmask.cli.option_types import (
    FILE,
    AuditSignature,
    FileOrName,
    Input,
    Names,
    check_number,
    join_names,
    join_names_or_none,
    parse_levels,
    parse_lists,
    parse_pairs,
    parse_parts,
)
from unmask.protection_specs import parse_specs

DECLARED: Mapping[str, Mapping[str, Mapping[str, Any]]] = {'''


def list_fields() -> dict[str, list[str]]:
    """Return the parameters that become options of a command, by their function or dataclass."""
    fields = {source: list(read_signature(source).options) for source in AUDITED}
    for command in main.commands.values():
        for item in command.lazy_params if isinstance(command, Command) else ():
            if isinstance(item, LazyOptions):
                names = item.names or list_typed_parameters(item.source)
                fields.setdefault(item.source, []).extend(names)
    return {source: list(dict.fromkeys(fields[source])) for source in sorted(fields)}


def render_table() -> str:
    """Return the text of the module."""
    return "\n".join([HEAD, *render_sources(), "}\n", *render_audits(), "}\n"])


def render_audits() -> Iterator[str]:
    """Yield the lines of the commands that are generated from `audit_files`."""
    yield "AUDITS: Mapping[str, AuditSignature] = {"
    for source in AUDITED:
        yield f"    {render(source)}: AuditSignature("
        yield from (f"        {render(value)}," for value in read_signature(source))
        yield "    ),"


def render_sources() -> Iterator[str]:
    """Yield the lines of the functions and dataclasses."""
    for source, names in list_fields().items():
        declared = declare_parameters(source)
        yield f"    {render(source)}: {{"
        for name in names:
            settings = ", ".join(f"{render(key)}: {render(value)}" for key, value in declared[name].items())
            yield f"        {render(name)}: {{{settings}}},"
        yield "    },"


def render(value: Any) -> str:
    """Return a setting as Python writes it."""
    if value is FILE:
        return "FILE"
    if value is click.UNPROCESSED:
        return "click.UNPROCESSED"
    if isinstance(value, click.Choice):
        return f"click.Choice({render(tuple(value.choices))})"
    if isinstance(value, click.IntRange | click.FloatRange):
        bounds = {"min_open": value.min_open, "max_open": value.max_open}
        flags = "".join(f", {name}=True" for name, is_open in bounds.items() if is_open)
        return f"click.{type(value).__name__}({render(value.min)}, {render(value.max)}{flags})"
    if isinstance(value, Input | Names):
        return f"{type(value).__name__}()"
    if isinstance(value, FileOrName):
        return f"FileOrName({render(value.names)})"
    if callable(value):
        return value.__name__
    if isinstance(value, tuple):
        return f"({', '.join(map(render, value))}{',' * (len(value) == 1)})"
    return f'"{value}"' if isinstance(value, str) and not set('"\\\n') & {*value} else repr(value)


if __name__ == "__main__":
    TABLE.write_text(render_table(), encoding="utf-8")
