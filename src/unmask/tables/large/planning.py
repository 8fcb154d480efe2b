"""Before the work: how much memory and disk it will take, and which form of it fits."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from os import PathLike
from tempfile import gettempdir
from typing import Literal

from unmask.engines import Engine, sql
from unmask.errors import FailedError, UnmaskError
from unmask.tables.large.reduce import Roles

LEAST = 512 << 20
"""Bytes below which not even an empty audit runs."""

_PROCESS = 200 << 20
"""Bytes of Python, NumPy and the engine before the first row."""

_PER_VALUE = 500
"""Bytes of one distinct value of a column: its texts and its place in dictionaries."""

_PER_CELL = 24
"""Bytes of one cell of a combination in an engine, hash table included."""

_PER_COMBINATION: Mapping[str, int] = {"audit": 110, "protect": 180}
"""Bytes of one combination in the arrays of the step that needs most of them, besides 12 for each of its cells."""

Work = Literal["audit", "protect"]


@dataclass(frozen=True)
class Plan:
    """What the work is expected to take.

    rows : of the table. combinations : about how many different ones it has. engine_bytes, array_bytes : the two shares
    of the memory limit. disk_bytes : what the engine will write to its temporary directory at most. parts : in how many
    turns the combinations are taken into memory.
    """

    work: Work
    rows: int
    combinations: int
    engine_bytes: int
    array_bytes: int
    disk_bytes: int
    parts: int

    def __str__(self) -> str:
        turns = "at once" if self.parts == 1 else f"in {self.parts} parts"
        return (
            f"{self.work} of {self.rows:,} rows, about {self.combinations:,} combinations taken into memory {turns}: "
            f"{_size(self.engine_bytes)} for the engine, {_size(self.array_bytes)} for arrays, up to "
            f"{_size(self.disk_bytes)} of disk"
        )


def shares(memory_limit: int) -> tuple[int, int]:
    """How a memory limit is divided between the engine and the arrays, in bytes: two to three, besides the process.

    >>> shares(4 << 30)
    (1634100838, 2451151258)
    """
    if memory_limit < LEAST:
        raise UnmaskError(f"the memory limit is {_size(memory_limit)}, expected at least {_size(LEAST)}")
    engine = (memory_limit - _PROCESS) * 2 // 5
    return engine, memory_limit - _PROCESS - engine


def plan(
    engine: Engine,
    source: str,
    roles: Roles,
    *,
    memory_limit: int,
    temp_directory: str | PathLike[str] | None = None,
    work: Work = "audit",
    counted: bool = True,
) -> Plan:
    """Estimate the work from one pass over the rows, and refuse what will not fit.

    counted : the combinations are those of `reduce` with sensitive values counted, or without. Their number is the
    engine's estimate, a few per cent off; a tenth is added to it.
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
    array_need = combinations * (_PER_COMBINATION[work] + 12 * (len(columns) + 1))
    parts = ceil(array_need / array_bytes)
    if parts > 1 and (work == "protect" or roles.missing == "wildcard"):
        why = "Mondrian" if work == "protect" else "missing cells as wildcards"
        raise FailedError(
            f"{why} needs about {combinations:,} combinations in memory at once, {_size(array_need)}; the arrays have "
            f"{_size(array_bytes)}: give more (--memory-limit), or coarsen a quasi-identifier"
        )
    kept = 2 * combinations + (found["n"] if work == "protect" else 0)
    disk_bytes = max(kept * _PER_CELL * (len(columns) + 1) - engine_bytes, 0)
    _check_disk(disk_bytes, temp_directory)
    return Plan(work, found["n"], combinations, engine_bytes, array_bytes, disk_bytes, parts)


def _check_values(n_values: Mapping[str, int], array_bytes: int) -> None:
    """The values of a column are read in memory, each as a text."""
    for column, n in n_values.items():
        if n * _PER_VALUE > array_bytes:
            raise FailedError(
                f"column {column!r} has about {n:,} different values, too many for {_size(array_bytes)} of arrays; "
                "coarsen it, leave it out, or give more memory (--memory-limit)"
            )


def _check_disk(disk_bytes: int, temp_directory: str | PathLike[str] | None) -> None:
    try:
        free = shutil.disk_usage(temp_directory or gettempdir()).free
    except OSError as error:
        raise FailedError(f"the temporary directory cannot be read: {error.strerror}; name another") from None
    if disk_bytes > free:
        raise FailedError(
            f"the engine may write {_size(disk_bytes)} to its temporary directory, which has {_size(free)}; free some "
            "space or name another (--temp-directory)"
        )


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 1 << 30 else f"{n_bytes / 2**20:.0f} MiB"
