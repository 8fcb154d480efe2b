"""Before the work: how much memory and disk it will take, and which form of it fits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil, log2
from os import PathLike
from typing import Any, Literal, NamedTuple

from unmask.core.errors import FailedError, UnmaskError
from unmask.data import sql
from unmask.data.engine import Engine, open_engine
from unmask.data.resources import check_disk, divide_memory, format_bytes
from unmask.tables.counting.reduce import EVEN, Reduced, reduce
from unmask.tables.counting.roles import Roles
from unmask.tables.protections import Mondrian

_PER_VALUE = 500
"""Bytes of one distinct value of a column: its texts and its place in dictionaries."""

_PER_CELL = 24
"""Bytes of one cell of a combination in an engine, hash table included."""

_PER_CLASS = 30
"""Bytes of one class of a release, and again of each of its cells: they are in memory together."""

_PER_PAIR = 60
"""Bytes of one sensitive value at one value of a column."""

_PER_COMBINATION: Mapping[str, int] = {"audit": 150, "protect": 180}
"""Bytes of one combination in the arrays of the step that needs most of them, besides 12 for each of its cells and, in
an audit, 24 for each sensitive column."""

_PER_FIT = 3
"""Bytes of a pair of a value of the release and one of the register: whether both may be the same person's."""

Work = Literal["audit", "protect"]


@dataclass(frozen=True)
class Plan:
    """What the work is expected to take.

    rows : of the table. combinations : about how many different ones it has. engine_bytes, array_bytes : the two shares
    of the memory limit. kept_bytes : what the engine will keep at most, in its memory or on disk. parts : in how many
    turns the combinations are taken into memory; at_once : how many of them may be there together. levels : how often
    Mondrian first cuts all boxes in the engine. For a protection levels and parts hold if its cuts are even. values :
    about how many different values each column has.
    """

    work: Work
    rows: int
    combinations: int
    engine_bytes: int
    array_bytes: int
    kept_bytes: int
    parts: int
    at_once: int
    levels: int = 0
    values: Mapping[str, int] = field(default_factory=dict)

    @property
    def disk_bytes(self) -> int:
        """What the engine will write to its temporary directory at most."""
        return max(self.kept_bytes - self.engine_bytes, 0)

    def __str__(self) -> str:
        turns = "at once" if self.parts == 1 else f"in {self.parts} parts"
        first = f"cut in the engine to {self.levels} levels, then " if self.levels else ""
        return (
            f"{self.work} of {self.rows:,} rows, about {self.combinations:,} combinations {first}taken into "
            f"memory {turns}: {format_bytes(self.engine_bytes)} for the engine, "
            f"{format_bytes(self.array_bytes)} for arrays, up to {format_bytes(self.disk_bytes)} of disk"
        )


def plan(
    engine: Engine,
    source: str,
    roles: Roles,
    *,
    memory_limit: int,
    temp_directory: str | PathLike[str] | None = None,
    protection: Mondrian | None = None,
    register: Plan | None = None,
) -> Plan:
    """Estimate the work from one pass over the rows, and refuse what will not fit.

    The number of combinations is the engine's estimate, a few per cent off; a tenth is added to it.
    protection : None for an audit. register : of an audit; it stays in memory whole, with what of its values fits what
    of the release; parts have what these leave.
    """
    roles.check(engine.names(source))
    known = {} if protection is not None or roles.missing == "wildcard" else roles.kept
    found = _estimated(engine, source, roles, known, counted=protection is None or protection.reads_values)
    engine_bytes, array_bytes = divide_memory(memory_limit)
    values = {column: found[short] for short, column in roles.columns.items()}
    _check_values(values, array_bytes)
    if protection is None:
        turns = _turns_of_audit(roles, found, array_bytes, None if register is None else (register, values))
        kept = (2 if register is None else 3) * found["combinations"]
    else:
        turns = _turns_of_protection(roles, found, array_bytes, protection)
        kept = (5 if turns.levels else 2) * found["combinations"] + found["n"]
    alike = found.get("alike", 0) * (len(roles.quasi_identifiers) + len(known) + 1)  # of who knows every column
    kept_bytes = _PER_CELL * (kept * (len(roles.columns) + 1) + alike)
    work: Work = "audit" if protection is None else "protect"
    room = (engine_bytes, array_bytes, kept_bytes)
    made = Plan(work, found["n"], found["combinations"], *room, *turns, values)
    check_disk(made.disk_bytes, temp_directory)
    return made


def _estimated(engine: Engine, source: str, roles: Roles, known: dict[str, str], *, counted: bool) -> dict[str, int]:
    """About how many rows, values of each column and combinations there are; counted : with the sensitive columns.

    "alike" are combinations of the quasi-identifiers with `known`, the columns that nobody generalizes.
    """
    columns = roles.columns
    quasi = [short for short in columns if short[0] == "q"]
    engine.table("planned", source, columns | known)
    sets = {"combinations": list(columns) if counted else quasi} | ({"alike": [*quasi, *known]} if known else {})
    found = {name: int(n[0]) for name, n in engine.rows(sql.estimates("planned", list(columns), sets)).items()}
    if found["n"] == 0:
        raise UnmaskError("the source has no rows; expected at least one row")
    return found | {name: min(ceil(found[name] * 1.1), found["n"]) for name in sets}


class _Turns(NamedTuple):
    """As in `Plan`."""

    parts: int
    at_once: int
    levels: int = 0


def _turns_of_audit(
    roles: Roles, found: Mapping[str, int], array_bytes: int, register: tuple[Plan, Mapping[str, int]] | None
) -> _Turns:
    """As many parts as need be; one, if missing cells are wildcards. register : and the values of the release."""
    per_combination = _PER_COMBINATION["audit"] + 12 * (len(roles.columns) + 1) + 24 * len(roles.sensitive)
    free = array_bytes if register is None else _besides_register(*register, array_bytes)
    at_once = free // per_combination
    if found["combinations"] <= at_once:
        return _Turns(1, at_once)
    if roles.missing == "wildcard":
        raise FailedError(
            f"missing cells as wildcards need about {found['combinations']:,} combinations in memory at once, "
            f"{format_bytes(found['combinations'] * per_combination)}; the arrays have {format_bytes(free)}"
            f"{'' if register is None else ' beside the register'}: give more (--memory-limit), or coarsen a "
            "quasi-identifier"
        )
    return _Turns(ceil(EVEN * found["combinations"] / max(at_once, 1)), at_once)


def _turns_of_protection(roles: Roles, found: Mapping[str, int], array_bytes: int, protection: Mondrian) -> _Turns:
    """As many cuts of all boxes in the engine as make the boxes fit into memory."""
    classes = min(found["combinations"], found["n"] // protection.k)
    free = _besides_classes(classes, len(roles.quasi_identifiers), array_bytes)
    at_once = free // (_PER_COMBINATION["protect"] + 12 * (len(roles.columns) + 1))
    levels = ceil(log2(max(found["combinations"] / at_once, 1)))
    if levels and protection.reads_values:
        _check_pairs(found, found["combinations"], array_bytes)
    return _Turns(2**levels, at_once, levels)


@contextmanager
def counted(
    choice: str,
    sources: Mapping[str, str],
    roles: Callable[[str, list[str]], Roles],
    *,
    memory_limit: int,
    temp_directory: str | PathLike[str] | None = None,
    encoding: str | None = None,
    protection: Mondrian | None = None,
    register: str = "",
    dry_run: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[dict[str, Reduced]]:
    """Tables by name, counted by an engine (`open_engine`) that is closed afterwards: for an audit, or a protection.

    First all are planned and what will not fit is refused, then they are counted; none on a dry run. `say` is told what
    each will take, and whatever was guessed while reading.

    sources  : name -> file or table; the register first, if there is one (its name), which stays in memory
    roles    : from the name of a table and its columns to their roles
    """
    room: dict[str, Any] = {"memory_limit": memory_limit, "temp_directory": temp_directory}
    with open_engine(choice, **room | {"memory_limit": divide_memory(memory_limit)[0]}, encoding=encoding) as engine:
        asked = {name: (source, roles(name, engine.names(source))) for name, source in sources.items()}
        plans: dict[str, Plan] = {}
        for name, one in asked.items():
            plans[name] = plan(engine, *one, **room, protection=protection, register=plans.get(register))
            say(f"{name}: {plans[name]}")
        check_together(plans.values(), temp_directory)
        tables = {
            name: _reduced(engine, f"table{at}", *one, plans[name], protection)
            for at, (name, one) in enumerate(asked.items() if not dry_run else ())
        }
        for note in (*engine.notes, *(note for table in tables.values() for note in table.notes)):
            say(f"note: {note}")
        yield tables


def _reduced(
    engine: Engine, name: str, source: str, roles: Roles, planned: Plan, protection: Mondrian | None
) -> Reduced:
    """A table, counted as planned."""
    values = protection is None or protection.reads_values
    reduced = reduce(engine, source, roles, name=name, counted=values)
    return replace(reduced, n_parts=planned.parts, at_once=planned.at_once)


def check_together(plans: Collection[Plan], temp_directory: str | PathLike[str] | None) -> None:
    """Refuse tables that the temporary directory has room for one by one, but not together."""
    kept_bytes = sum(plan.kept_bytes for plan in plans)
    engine_bytes = min(plan.engine_bytes for plan in plans)
    writer = f"the engine may write for {len(plans)} tables"
    check_disk(max(kept_bytes - engine_bytes, 0), temp_directory, writer=writer)


def _besides_register(register: Plan, values: Mapping[str, int], array_bytes: int) -> int:
    """What is left of the arrays beside the register; `values` are those of the release."""
    per_combination = _PER_COMBINATION["audit"] + 12 * (len(register.values) + 1)
    pairs = sum(n * values.get(column, 0) for column, n in register.values.items())
    return _besides(
        register.combinations * per_combination + pairs * _PER_FIT,
        array_bytes,
        f"the register has about {register.combinations:,} combinations and {pairs:,} pairs of its values with those "
        "of the release, which must be in memory at once:",
        "give more (--memory-limit), or coarsen a column or leave it out",
    )


def _besides_classes(classes: int, n_columns: int, array_bytes: int) -> int:
    """What is left of the arrays for combinations; `classes` is the most that there can be."""
    need, most = classes * _PER_CLASS * (n_columns + 1), f"the release may have {classes:,} classes,"
    return _besides(need, array_bytes, most, "ask for more rows per class (--k), or give more memory (--memory-limit)")


def _besides(need: int, array_bytes: int, what: str, advice: str) -> int:
    """What is left of the arrays, at least a quarter."""
    if need > array_bytes // 4 * 3:
        raise FailedError(
            f"{what} {format_bytes(need)} of arrays, expected at most three quarters of "
            f"{format_bytes(array_bytes)}; {advice}"
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
            f"constraints on sensitive columns beyond the memory need {format_bytes(need)} of arrays, which have "
            f"{format_bytes(array_bytes)}: ask for k alone, coarsen a column, or give more (--memory-limit)"
        )


def _check_values(n_values: Mapping[str, int], array_bytes: int) -> None:
    """The values of a column are read in memory, each as a text."""
    for column, n in n_values.items():
        if n * _PER_VALUE > array_bytes:
            raise FailedError(
                f"column {column!r} has about {n:,} different values, too many for "
                f"{format_bytes(array_bytes)} of arrays; coarsen it, leave it out, or give more memory (--memory-limit)"
            )
