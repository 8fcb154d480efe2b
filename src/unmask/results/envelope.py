"""JSON that every command prints with `--json`; `envelope.schema.json` is its JSON Schema."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from typing import Any

from unmask.version import __version__

SCHEMA = 1
"""Version of the JSON that `envelope` makes, described by the JSON Schema in `envelope.schema.json`."""

DIGITS = 14
"""Significant digits of a number in JSON: a belief holds a tenth by its logarithm."""


EXACT_DIGITS = 17
"""Significant digits that keep every number as it is."""


def plain(value: Any, *, digits: int = DIGITS) -> Any:
    """Return a value as strict JSON: an infinity is "Infinity" or "-Infinity", an undefined number (NaN) is null.

    >>> plain({"fine": math.inf, "gain": math.nan, "share": (0.1 + 0.2,)})
    {'fine': 'Infinity', 'gain': None, 'share': [0.3]}

    The two texts are those of the JSON mapping of Protocol Buffers; Python, JavaScript and SQL read them as numbers.
    """
    if value is None or isinstance(value, (str, int)):  # a tuple: a union takes twice the time
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value) if digits >= EXACT_DIGITS else float(f"{value:.{digits}g}")
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if is_dataclass(value) and not isinstance(value, type):
        value = vars(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item, digits=digits) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, digits=digits) for item in value]
    return value


def envelope(
    command: str,
    *,
    inputs: Iterable[Mapping[str, Any]] = (),
    results: Iterable[object] = (),
    tables: Mapping[str, Iterable[object]] | None = None,
    not_run: Iterable[tuple[str, str]] = (),
    warnings: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the output of a command with `--json`, as one value; `envelope.schema.json` is its JSON Schema.

    inputs  : files that the command read, see `unmask.cli.files.list_inputs`
    results : rows, values or mappings: those that the command is about
    tables  : name -> more rows; a table without rows is left out
    not_run : (what, why) of everything that was left out or failed

    >>> envelope("advise", results=[{"worst": "success_probability"}], not_run=[("k", "no table")])["not_run"]
    [{'what': 'k', 'why': 'no table'}]
    """
    rows_by_name = {name: list(rows) for name, rows in (tables or {}).items()}
    return {
        "schema": SCHEMA,
        "unmask": __version__,
        "command": command,
        "inputs": plain(list(inputs)),
        "results": plain(list(results)),
        "tables": {name: plain(rows) for name, rows in rows_by_name.items() if rows},
        "not_run": [{"what": what, "why": why} for what, why in not_run],
        "warnings": list(warnings),
    }


def as_json(command: str, **parts: Any) -> str:
    """Return the envelope as text; parts : those of `envelope`."""
    return json.dumps(envelope(command, **parts), allow_nan=False)
