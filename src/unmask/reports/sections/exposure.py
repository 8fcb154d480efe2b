"""What the columns and the order of rows of tables give away, and who is seen to be inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from unmask.facts import ColumnFacts, Count, Printed, Restored
from unmask.reports.data import APART, INSIDER, ORDER, Scope
from unmask.reports.facts.exposure import Exposure
from unmask.reports.findings.rows import did, leading, without
from unmask.reports.parts import Grid, Heading, Section, grid, grouped, lead, parts
from unmask.reports.words import IDENTITY, row_estimate
from unmask.results import Row
from unmask.results.formats import SPACE, percent
from unmask.results.words import release_name

BESIDE, SEEN = "Generalized cells that a column beside them restores", "Who can be seen to be in the data"

SHOWN = 3
"""Columns that a sentence names."""

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


def section(exposure: Exposure, scope: Scope) -> Section:
    """The section of a page."""
    several = len(scope.protected) > 1
    columns = [_columns(facts, release if several else "") for release, facts in exposure.columns.items()]
    restored = _by_release(
        exposure.restored, _restored_rows, ("Generalized", "Beside it", "Cells", "Guessed anyway", "Restored")
    )
    printed = _by_release(
        exposure.printed, _printed_rows, ("Column", "Exact values printed", "People alone in theirs"), text=1
    )
    counted = any(one.alone is not None for found in exposure.printed.values() for one in found)
    shown = parts(
        lead(COLUMNS),
        columns,
        (
            Heading("Generalized cells that a column beside them restores", _first(_restored, exposure.restored)),
            lead(RESTORED),
            restored,
        )
        if restored.rows
        else (),
        (
            Heading("Who can be seen to be in the data", _first(_printed, exposure.printed)),
            lead(PRINTED + (COUNTED if counted else UNCOUNTED)),
            printed,
        )
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
    rows = ((release, row) for release, own in found.items() for row in cells(own))
    return grouped(head, rows, named=len(found) > 1, text=text)


def _restored_rows(found: tuple[Restored, ...]) -> tuple[tuple[str, ...], ...]:
    ordered = sorted(found, key=lambda one: one.guessed - one.restored)
    return tuple((one.column, one.by, f"{one.cells:,}", percent(one.guessed), percent(one.restored)) for one in ordered)


def _printed_rows(found: tuple[Printed, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (one.column, f"{one.values:,}", "not run" if one.alone is None else share(one.alone, one.people))
        for one in found
    )


# --- findings -------------------------------------------------------------------------------------------------------


def findings(exposure: Exposure, scope: Scope) -> list[str]:
    """A sentence each about the order of rows, those who know sensitive values, restored cells, and membership.

    Of several releases, about the one from which most people are re-identified.
    """
    led = leading(scope.heads)

    def named(release: str) -> float:
        return max((row.posterior for key, row in led.items() if key[::2] == (release, IDENTITY)), default=0.0)

    release = max(scope.protected, key=named)
    own = {key[1:]: row for key, row in scope.heads.items() if key[0] == release}
    lines = [] if (release, ORDER, IDENTITY) in led else list(_ordered(own))
    lines += [*_insider(own), *_restored(exposure.restored.get(release, ()))]
    lines += _printed(exposure.printed.get(release, ()))
    where = f"From {release_name(release)}, " if len(scope.protected) > 1 else ""
    return [where + line if where else line[0].upper() + line[1:] for line in lines]


def _first(say: Callable[[Any], Iterator[str]], found: Mapping[str, Any]) -> str:
    """What is said of the first release of which anything is."""
    line = next((line for own in found.values() for line in say(own)), "")
    return line[:1].upper() + line[1:]


Own = Mapping[tuple[str, str], Row]
"""The rows of one release by adversary and target."""


def _ordered(own: Own) -> Iterator[str]:
    row = own.get((ORDER, IDENTITY))
    if row is not None:
        who = "an adversary who has the original in its order and reads only the order of the rows"
        yield f"{who} {did(row)}; {without(row)}."


def _insider(own: Own) -> Iterator[str]:
    """Sensitive columns are quasi-identifiers of each other, for whoever knows one."""
    row = own.get((INSIDER, IDENTITY))
    if row is not None:
        yield f"an insider who also knows the sensitive values {did(row)}; {without(row)}."
    told = []
    for (who, target), row in own.items():
        others = [one.posterior for (other, what), one in own.items() if what == target and other not in APART]
        if who == INSIDER and target != IDENTITY and row.posterior > max(others, default=1.0):
            told.append(f"{target} for {row_estimate(row)} ({percent(max(others))} without them)")
    if told:
        yield f"an insider who knows the other sensitive values infers {', '.join(told)}."


def _restored(pairs: tuple[Restored, ...]) -> Iterator[str]:
    if not pairs:
        return
    best = sorted(pairs, key=lambda one: one.guessed - one.restored)[:SHOWN]
    each = "; ".join(
        f"{one.by} restores {percent(one.restored)} of the {one.cells:,} generalized cells of {one.column} "
        f"({percent(one.guessed)} can be guessed without it)"
        for one in best
    )
    more = f"; {len(pairs) - len(best)} more are in the report" if len(pairs) > len(best) else ""
    yield f"columns beside the generalized ones give them away: {each}{more}."


def _printed(columns: tuple[Printed, ...]) -> Iterator[str]:
    """Who is seen to be inside; without an original only how many values are printed."""
    if not columns:
        return
    if columns[0].alone is None:
        most = max(columns, key=lambda one: one.values)
        if not most.values:
            yield "released cells print no exact value."
            return
        many = f"{most.values:,} exact value{'' if most.values == 1 else 's'} of {most.column}"
        yield f"released cells print up to {many}; each is somebody's, but for ends of fixed bands and changed cells."
        return
    alone = [
        f"{share(one.alone, one.people)}{'' if isinstance(one.alone, str) else ' of all'} people by {one.column}"
        for one in columns
        if one.alone
    ]
    if alone:
        yield (
            f"released cells print exact values that only one person has; whoever knows such a value learns that "
            f"this person is in the data: {', '.join(alone)}."
        )
    else:
        yield "no released cell prints an exact value that only one person has, so none shows who is in the data."


def share(count: Count, whole: int) -> str:
    """How many of all; words stay as they are.

    >>> share(0, 500), share("fewer than 10", 500), share(250, 500).replace("\u00a0", " ")
    ('none', 'fewer than 10', '50.0 %')
    """
    return count if isinstance(count, str) else percent(min(count, whole) / whole) if count else "none"
