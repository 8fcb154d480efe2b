"""Options and summaries of our commands, without an import of the functions and dataclasses that declare them.

`tests/render_options.py` writes `options.json`. It holds the settings of each option, which
`generated.declare_parameters` makes of a signature, the signature of each `audit_files`, and the first sentence of
each command.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

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

PATH = Path(__file__).with_name("options.json")

PLAIN_TYPES: Mapping[str, Any] = {
    "any": click.UNPROCESSED, "file": FILE, "text": str, "whole number": int, "number": float,
}  # fmt: skip
"""Name of a type in the file -> type without parameters."""

TYPES: Mapping[str, Callable[..., Any]] = {
    kind.__name__: kind for kind in (click.Choice, click.IntRange, click.FloatRange, FileOrName, Input, Names)
}
"""Name of a type in the file -> type, whose parameters follow its name."""

PARSERS: Mapping[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        check_number, join_names, join_names_or_none, parse_levels, parse_lists, parse_pairs, parse_parts, parse_specs,
    )
}  # fmt: skip
"""Name of a function in the file -> function that parses the value of an option."""


@cache
def _read() -> Any:
    return json.loads(PATH.read_text(encoding="utf-8"))


@cache
def read_options(source: str) -> Mapping[str, dict[str, Any]]:
    """Return the settings of the option of each parameter of a function or dataclass "module:name"; empty if unknown.

    >>> read_options("unmask.studies.choice:choose")["maximize"]["default"]
    'utility'
    """
    return {name: dict(map(_decode, settings.items())) for name, settings in _read()["options"].get(source, {}).items()}


def _decode(setting: tuple[str, Any]) -> tuple[str, Any]:
    key, value = setting
    if key == "type":
        name, *parameters = value
        return key, PLAIN_TYPES[name] if name in PLAIN_TYPES else TYPES[name](*parameters)
    return key, PARSERS[value] if key in ("parse", "callback") else value


def read_summaries() -> Mapping[str, str]:
    """Return the first sentence of each of our commands, by the command's name."""
    return cast(Mapping[str, str], _read()["summaries"])


def find_signature(source: str) -> AuditSignature | None:
    """Return the signature of an `audit_files`; None for one that is not ours."""
    values = _read()["audits"].get(source)
    return None if values is None else AuditSignature(*values)
