"""Before the work: how much memory and disk it will take, and which form of it fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, log2
from os import PathLike
from typing import Literal

from unmask.engines import Engine, sql
from unmask.engines.room import check_disk, in_words, shares
from unmask.errors import FailedError, UnmaskError
from unmask.tables.large.reduce import Roles

_PER_VALUE = 500
"""Bytes of one distinct value of a column: its texts and its place in dictionaries."""

_PER_CELL = 24
"""Bytes of one cell of a combination in an engine, hash table included."""

_PER_CLASS = 30
"""Bytes of one class of a release, and again of each of its cells: they are in memory together."""

_PER_PAIR = 60
"""Bytes of one sensitive value at one value of a column."""

_PER_COMBINATION: Mapping[str, int] = {"audit": 110, "protect": 180}
"""Bytes of one combination in the arrays of the step that needs most of them, besides 12 for each of its cells."""

Work = Literal["audit", "protect"]


@dataclass(frozen=True)
class Plan:
    """What the work is expected to take.

    rows : of the table. combinations : about how many different ones it has. engine_bytes, array_bytes : the two shares
    of the memory limit. disk_bytes : what the engine will write to its temporary directory at most. parts : in how many
    turns the combinations are taken into memory; at_once : how many of them may be there together. levels : how often
    Mondrian first cuts all boxes in the engine. For a protection levels and parts hold if its cuts are even.
    """

    work: Work
    rows: int
    combinations: int
    engine_bytes: int
    array_bytes: int
    disk_bytes: int
    parts: int
    at_once: int
    levels: int = 0

    def __str__(self) -> str:
        turns = "at once" if self.parts == 1 else f"in {self.parts} parts"
        first = f"cut in the engine to {self.levels} levels, then " if self.levels else ""
        return (
            f"{self.work} of {self.rows:,} rows, about {self.combinations:,} combinations {first}taken into "
            f"memory {turns}: {in_words(self.engine_bytes)} for the engine, {in_words(self.array_bytes)} for arrays, "
            f"up to {in_words(self.disk_bytes)} of disk"
        )


def plan(
    engine: Engine,
    source: str,
    roles: Roles,
    *,
    memory_limit: int,
    temp_directory: str | PathLike[str] | None = None,
    work: Work = "audit",
    counted: bool = True,
    k: int = 1,
) -> Plan:
    """Estimate the work from one pass over the rows, and refuse what will not fit.

    counted : the combinations are those of `reduce` with sensitive values counted, or without. Their number is the
    engine's estimate, a few per cent off; a tenth is added to it. k : rows in every class of a release.
    """
    roles.check(engine.names(source))
    columns = roles.columns
    engine.table("planned", source, columns)
    joint = [short for short in columns if counted or short[0] == "q"]
    statement = sql.estimates("planned", list(columns), joint)
    found = {name: int(values[0]) for name, values in engine.rows(statement).items()}
    if found["n"] == 0:
        raise UnmaskError("the source has no rows; expected at least one row")
    engine_bytes, array_bytes = shares(memory_limit)
    _check_values({column: found[short] for short, column in columns.items()}, array_bytes)
    combinations = min(ceil(found["combinations"] * 1.1), found["n"])
    per_combination = _PER_COMBINATION[work] + 12 * (len(columns) + 1)
    parts, at_once, levels = ceil(combinations * per_combination / array_bytes), array_bytes // per_combination, 0
    if work == "protect":
        classes = min(combinations, found["n"] // k)
        at_once = _besides_classes(classes, len(roles.quasi_identifiers), array_bytes) // per_combination
        levels = ceil(log2(max(combinations / at_once, 1)))
        parts = 2**levels
        if levels and counted:
            _check_pairs(found, combinations, array_bytes)
    elif parts > 1 and roles.missing == "wildcard":
        raise FailedError(
            f"missing cells as wildcards need about {combinations:,} combinations in memory at once, "
            f"{in_words(combinations * per_combination)}; the arrays have {in_words(array_bytes)}: give more "
            "(--memory-limit), or coarsen a quasi-identifier"
        )
    kept = (5 if levels else 2) * combinations + (found["n"] if work == "protect" else 0)
    disk_bytes = max(kept * _PER_CELL * (len(columns) + 1) - engine_bytes, 0)
    check_disk(disk_bytes, temp_directory)
    return Plan(work, found["n"], combinations, engine_bytes, array_bytes, disk_bytes, parts, at_once, levels)


def _besides_classes(classes: int, n_columns: int, array_bytes: int) -> int:
    """What is left of the arrays for combinations, at least a quarter; `classes` is the most that there can be."""
    need = classes * _PER_CLASS * (n_columns + 1)
    if need > array_bytes // 4 * 3:
        raise FailedError(
            f"the release may have {classes:,} classes, {in_words(need)} of arrays, expected at most three quarters of "
            f"{in_words(array_bytes)}; ask for more rows per class (--k), or give more memory (--memory-limit)"
        )
    return array_bytes - need


def _check_pairs(n_values: Mapping[str, int], combinations: int, array_bytes: int) -> None:
    """A constraint reads the sensitive values at each value of a column, one column at a time."""
    pairs = max(n for short, n in n_values.items() if short[0] == "q") * max(
        (n for short, n in n_values.items() if short[0] == "s"), default=0
    )
    need = min(pairs, combinations) * _PER_PAIR
    if need > array_bytes:
        raise FailedError(
            f"constraints on sensitive columns beyond the memory need {in_words(need)} of arrays, which have "
            f"{in_words(array_bytes)}: ask for k alone, coarsen a column, or give more (--memory-limit)"
        )


def _check_values(n_values: Mapping[str, int], array_bytes: int) -> None:
    """The values of a column are read in memory, each as a text."""
    for column, n in n_values.items():
        if n * _PER_VALUE > array_bytes:
            raise FailedError(
                f"column {column!r} has about {n:,} different values, too many for {in_words(array_bytes)} of arrays; "
                "coarsen it, leave it out, or give more memory (--memory-limit)"
            )
