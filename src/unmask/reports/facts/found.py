"""Facts as values: rows, and named tables of facts, which `unmask.reports.result.Result` shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def list_tables(facts: Iterable[tuple[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return facts as tables by name; one without rows is left out."""
    tables = (table for name, value in facts for table in _tables(name, value))
    return {name: non_empty for name, rows in tables if (non_empty := [row for row in rows if row])}


OTHERS = frozenset(
    {"title", "who", "unit", "rows", "not_run", "reproduce", "adversaries", "success", "least"}
    | {"verdicts", "distribution", "criteria", "cautions", "result"}
)
"""Fields that are no tables: settings of the page, and what has a place of its own."""


_LISTED = re.compile(r"tuple\[[\w.]*[A-Z]")
"""In the type of a field: it holds dataclasses, if any."""


def _tables(name: str, value: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield a value as tables: a tuple of dataclasses is one, also by release; its other fields are a row."""
    if is_dataclass(value) and all(isinstance(column, tuple) for column in vars(value).values()):  # a curve
        yield name, [dict(zip(vars(value), row, strict=True)) for row in zip(*vars(value).values(), strict=True)]
    elif is_dataclass(value):
        parts = fields(value)
        nested = [
            part.name for part in parts if is_dataclass(getattr(value, part.name)) or _LISTED.search(str(part.type))
        ]
        yield name, [{part: inner for part, inner in vars(value).items() if part not in nested}]
        for part in nested:
            yield from _tables(f"{name}_{part}", getattr(value, part))
    elif isinstance(value, Mapping):
        yield name, [{"release": key, **row} for key, inner in value.items() for row in _rows(inner)]
    elif isinstance(value, tuple):
        yield name, [row if isinstance(row, dict) else {name.removesuffix("s"): row} for row in _rows(value)]


def _rows(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [{**vars(row)} if is_dataclass(row) else row for row in value]
    return [dict(value)]
