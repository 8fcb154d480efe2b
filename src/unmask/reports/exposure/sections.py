"""The tables of the section about columns and rows."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.facts import ColumnFacts
from unmask.reports.data import FEWEST, Scope
from unmask.reports.exposure.values import Exposure
from unmask.reports.exposure.words import share
from unmask.reports.sections import Grid
from unmask.reports.words import percent


@dataclass(frozen=True)
class ExposureSection:
    """What columns give away; what is empty is left out."""

    columns: tuple[Grid, ...]
    restored: Grid | None
    printed: Grid | None
    counted: bool


def exposure_section(exposure: Exposure | None, scope: Scope, least: int = FEWEST) -> ExposureSection | None:
    """The section, or None where nothing was counted; least : the fewest people of whom is told how many they are."""
    if exposure is None:
        return None
    several = len(scope.protected) > 1
    return ExposureSection(
        columns=tuple(
            _columns(facts, release if several else "", least) for release, facts in exposure.columns.items()
        ),
        restored=_restored(exposure),
        printed=_printed(exposure, least),
        counted=any(one.alone is not None for found in exposure.printed.values() for one in found),
    )


def _columns(facts: tuple[ColumnFacts, ...], caption: str, least: int) -> Grid:
    rows = tuple(
        (
            one.name,
            one.role,
            ", ".join(f"{d.column}{'' if d.exact else ' (nearly)'}" for d in one.determines),
            f"{one.distinct:,}",
            share(one.missing, one.rows, least),
            share(one.alone, one.rows, least),
            "" if one.together is None else share(one.together, one.rows, least),
        )
        for one in facts
    )
    head = ("Column", "Role", "Gives away", "Distinct", "Missing", "Alone", "With the others")
    return Grid(head, (("", rows),), text=3, caption=caption)


def _restored(exposure: Exposure) -> Grid | None:
    groups = tuple(
        (
            release if len(exposure.restored) > 1 else "",
            tuple(
                (one.column, one.by, f"{one.cells:,}", percent(one.guessed), percent(one.restored))
                for one in sorted(found, key=lambda one: one.guessed - one.restored)
            ),
        )
        for release, found in exposure.restored.items()
    )
    head = ("Generalized", "Beside it", "Cells", "Guessed anyway", "Restored")
    return Grid(head, groups, text=2) if any(rows for _, rows in groups) else None


def _printed(exposure: Exposure, least: int) -> Grid | None:
    groups = tuple(
        (
            release if len(exposure.printed) > 1 else "",
            tuple(
                (one.column, f"{one.values:,}", "not run" if one.alone is None else share(one.alone, one.people, least))
                for one in found
            ),
        )
        for release, found in exposure.printed.items()
    )
    return Grid(("Column", "Exact values printed", "People alone in theirs"), groups) if groups else None
