"""Program that writes `cli/options.json`, options and summaries of commands: `python tests/render_options.py`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from unmask.cli import main
from unmask.cli.domain import read_signature
from unmask.cli.generated import Command, LazyOptions, declare_parameters, list_typed_parameters
from unmask.cli.option_types import FileOrName
from unmask.cli.options_table import PATH, PLAIN_TYPES
from unmask.domains import DOMAINS

AUDITED = [f"{entry.audit}:audit_files" for entry in DOMAINS.values()]
"""Functions from which a command is generated."""


def list_commands() -> dict[str, click.Command]:
    """Return every command by its name, the audits among them."""
    ctx = click.Context(main)
    return {name: command for name in main.list_commands(ctx) if (command := main.get_command(ctx, name))}


def list_fields() -> dict[str, list[str]]:
    """Return the parameters that become options of a command, by their function or dataclass."""
    fields = {source: list(read_signature(source).options) for source in AUDITED}
    for command in list_commands().values():
        for item in command.lazy_params if isinstance(command, Command) else ():
            if isinstance(item, LazyOptions):
                names = item.names or list_typed_parameters(item.source)
                fields.setdefault(item.source, []).extend(names)
    return {source: list(dict.fromkeys(fields[source])) for source in sorted(fields)}


def render_table() -> str:
    """Return the text of the file, with a line for each option and each signature."""
    options = {source: render_object(encode_options(source, names)) for source, names in list_fields().items()}
    audits = render_object({source: read_signature(source) for source in AUDITED})
    summaries = render_object(
        {name: command.get_short_help_str(limit=1000) for name, command in list_commands().items()}
    )
    lines = ",\n".join(f"{json.dumps(source)}: {text}" for source, text in options.items())
    return f'{{"options": {{\n{lines}\n}}, "audits": {audits}, "summaries": {summaries}}}\n'


def render_object(values: Mapping[str, Any]) -> str:
    """Return a JSON object with a line for each value."""
    lines = (f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def encode_options(source: str, names: list[str]) -> dict[str, Any]:
    """Return the settings of the options of a function or a dataclass, as JSON holds them."""
    declared = declare_parameters(source)
    return {name: {key: encode(value) for key, value in declared[name].items()} for name in names}


def encode(value: Any) -> Any:
    """Return a setting as JSON holds it: a type as a list of its name and its parameters, a function by its name."""
    for name, kind in PLAIN_TYPES.items():
        if value is kind:
            return [name]
    if isinstance(value, click.IntRange | click.FloatRange):
        return [type(value).__name__, value.min, value.max, value.min_open, value.max_open]
    if isinstance(value, click.Choice):
        return ["Choice", value.choices]
    if isinstance(value, FileOrName):
        return ["FileOrName", value.names]
    if isinstance(value, click.ParamType):
        return [type(value).__name__]
    return value.__name__ if callable(value) else value


if __name__ == "__main__":
    PATH.write_text(render_table(), encoding="utf-8")
