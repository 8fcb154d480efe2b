"""What was found, as values: rows, and named tables of facts, which `unmask.reports.result.Result` shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, Self

from unmask.results import Row


@dataclass(frozen=True)
class Found:
    """What `ReportData` and `StudyData` have in common.

    title : heading
    """

    title: str

    command: ClassVar[str]

    def without_small(self) -> Self:
        """The same without what tells of few people; doing it again changes nothing."""
        return self

    def for_programs(self) -> Self:
        """The same as programs get it: criteria of releases stay, as k is what a report is for."""
        return self.without_small()

    def plain_rows(self) -> list[dict[str, Any]]:
        """The rows as plain values."""
        raise NotImplementedError

    def facts(self) -> Iterator[tuple[str, Any]]:
        """What was found besides rows, by name: every field that holds facts."""
        yield "about", ({name: getattr(self, name) for name in ("title", "who", "unit") if hasattr(self, name)},)
        yield from ((one.name, getattr(self, one.name)) for one in fields(self) if one.name not in OTHERS)

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The facts as tables, by name; one without rows is left out."""
        found = (table for name, value in self.facts() for table in _tables(name, value))
        return {name: kept for name, rows in found if (kept := [row for row in rows if row])}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a program must hand on with the numbers."""
        return ()


def plain_row(row: Row) -> dict[str, Any]:
    """A row without the number of the observation that is worst off: it may be that of a person."""
    return {name: value for name, value in vars(row).items() if name != "worst_observation"}


OTHERS = frozenset(
    {"title", "who", "unit", "rows", "missing", "not_run", "words", "reproduce", "adversaries", "success", "least"}
    | {"unprotected", "seeds", "verdicts", "distribution", "criteria", "policy", "options", "game"}
    | {"cautions", "planes", "result"}
)
"""Fields that are no tables: settings of the page, and what has a place of its own."""


_LISTED = re.compile(r"tuple\[[\w.]*[A-Z]")
"""In the type of a field: it holds dataclasses, if any."""


def _tables(name: str, value: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A value as tables: a tuple of dataclasses is one, also by release; what else a dataclass holds is one row."""
    if is_dataclass(value) and all(isinstance(column, tuple) for column in vars(value).values()):  # a curve
        yield name, [dict(zip(vars(value), row, strict=True)) for row in zip(*vars(value).values(), strict=True)]
    elif is_dataclass(value):
        parts = fields(value)
        nested = [one.name for one in parts if is_dataclass(getattr(value, one.name)) or _LISTED.search(str(one.type))]
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
