"""What the columns and the order of rows of tables give away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from unmask.facts import ColumnFacts, Printed, Restored
from unmask.reports.data import Scope
from unmask.reports.facts.exposure import Exposure
from unmask.reports.findings.exposure import share
from unmask.reports.parts import Grid, Heading, Section, grid, lead, parts
from unmask.reports.words import SPACE, percent

COLUMNS = (
    "Distinct: different values. Alone: rows whose value no other row has. With the others: rows that no other row "
    "matches in the quasi-identifiers and this column. Determines: other columns that follow from it exactly; nearly, "
    f"where the commonest value among other rows of the same value corrects at least 90{SPACE}% of the errors made "
    "without it."
)

RESTORED = (
    "Restored: share of cells for which the commonest original value, among other rows with the same released cell and "
    "the same value beside it, is the right one. Guessed anyway: the same without the column beside it. Pairs whose "
    "difference may be chance are left out."
)

PRINTED = (
    "An exact value that a released cell prints \u2013 as a cell, in a set, as the end of an interval \u2013 belongs "
    "to a person in the data. "
)

COUNTED = (
    "Alone: people of the original who share their value with nobody else in it; whoever knows that value learns that "
    "they are in the data."
)

UNCOUNTED = "Without the original, the ends of fixed bins are counted too, so the number is an upper bound."


def exposure_section(exposure: Exposure | None, scope: Scope) -> Section | None:
    """The section, or None where nothing was counted."""
    if exposure is None:
        return None
    several = len(scope.protected) > 1
    columns = [_columns(facts, release if several else "") for release, facts in exposure.columns.items()]
    restored = _by_release(
        exposure.restored, _restored, ("Generalized", "Beside it", "Cells", "Guessed anyway", "Restored")
    )
    printed = _by_release(
        exposure.printed, _printed, ("Column", "Exact values printed", "People alone in theirs"), text=1
    )
    counted = any(one.alone is not None for found in exposure.printed.values() for one in found)
    shown = parts(
        lead(COLUMNS),
        columns,
        (Heading("Generalized cells that a column beside them restores"), lead(RESTORED), restored)
        if restored.rows
        else (),
        (Heading("Who can be seen to be in the data"), lead(PRINTED + (COUNTED if counted else UNCOUNTED)), printed)
        if exposure.printed
        else (),
    )
    return Section("exposure", "What the columns give away", shown)


def _columns(facts: tuple[ColumnFacts, ...], caption: str) -> Grid:
    rows = (
        (
            one.name,
            one.role,
            ", ".join(f"{d.column}{'' if d.exact else ' (nearly)'}" for d in one.determines),
            f"{one.distinct:,}",
            share(one.missing, one.rows),
            share(one.alone, one.rows),
            "" if one.together is None else share(one.together, one.rows),
        )
        for one in facts
    )
    head = ("Column", "Role", "Determines", "Distinct", "Missing", "Alone", "With the others")
    return grid(head, rows, caption, text=3)


def _by_release(
    found: Mapping[str, tuple[Any, ...]],
    cells: Callable[[tuple[Any, ...]], tuple[tuple[str, ...], ...]],
    head: tuple[str, ...],
    text: int = 2,
) -> Grid:
    """A group for each release, with its name where there are several."""
    groups = ((release if len(found) > 1 else "", cells(own)) for release, own in found.items())
    return Grid(head, tuple(groups), text=text)


def _restored(found: tuple[Restored, ...]) -> tuple[tuple[str, ...], ...]:
    ordered = sorted(found, key=lambda one: one.guessed - one.restored)
    return tuple((one.column, one.by, f"{one.cells:,}", percent(one.guessed), percent(one.restored)) for one in ordered)


def _printed(found: tuple[Printed, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (one.column, f"{one.values:,}", "not run" if one.alone is None else share(one.alone, one.people))
        for one in found
    )
