"""Where the risk of a table sits: which values are found, what columns give, what a step buys, which classes."""

from __future__ import annotations

from collections.abc import Sequence

from unmask.facts import Contribution, Count
from unmask.measures.registry import needs_truth
from unmask.reports.data import LIMITS, ORIGINAL, ReportData, Scope
from unmask.reports.facts.tables import ColumnRisk, Step, ValueRisk, worst_classes
from unmask.reports.findings.where import (
    classes_finding,
    counted,
    given_finding,
    near_finding,
    shares,
    step_finding,
    step_words,
    values_finding,
)
from unmask.reports.parts import Grid, Heading, Section, grid, grouped, lead, notes, parts
from unmask.reports.words import FAILURES, IDENTITY, what
from unmask.results.formats import number, percent

# --- values ----------------------------------------------------------------------------------------------------------

VALUES = 10
"""Values of a column that a table shows."""

FOUND = (
    "Found: people whom the adversary who knows the quasi-identifiers gives the value with more than one half. The "
    "commonest value, no. 1, is no secret and is left out: whoever says it of everybody is right often and learns "
    "nothing. Right: share of those found who have the value{believed}. The values that rise most come first."
)


def values_section(scope: Scope) -> Section | None:
    """Which secrets are found out: of each value who is found to have it, and whether they do."""
    secrets = [one for one in scope.data.values if one.secret]
    if not secrets:
        return None
    known = {row.target for row in scope.data.rows if needs_truth(row.measure) and row.status not in FAILURES}
    told = all(one.target in known for one in secrets)
    how = FOUND.format(believed="" if told else ", as the adversary believes, for the truth was not given")
    shown = parts(lead(how), value_tables(secrets))
    said = " ".join(filter(None, (values_finding(scope), near_finding(scope))))
    return Section("values", "Which values are found out", shown, said)


def value_tables(values: Sequence[ValueRisk]) -> list[Grid]:
    """For each column the values that rise most: how many have it, the most of anybody, who is found, and how well."""
    head = ("Value, by how common it is", "Have it", "Most, of anybody", "People found", "Right")
    tables = []
    for target in dict.fromkeys(one.target for one in values):
        own = [one for one in values if one.target == target]
        releases = list(dict.fromkeys(one.release for one in own))
        rows = []
        for release in releases:
            mine = [one for one in own if one.release == release]
            rest = f", {VALUES} of {len(mine)} values" if len(mine) > VALUES else ""
            rows += [(release + rest, _value(one)) for one in mine[:VALUES]]
        tables.append(grouped(head, rows, target))
    return tables


def _value(one: ValueRisk) -> tuple[str, ...]:
    right = one.believed if one.right is None else one.right
    return (
        one.value,
        percent(one.prior),
        percent(one.highest),
        counted(one.people),
        "\u2013" if right is None else percent(right, 0),
    )


# --- columns ---------------------------------------------------------------------------------------------------------

GIVEN = (
    "Shapley value: what a column adds to the success of an adversary who knows all of them, on average over all "
    "orders in which columns become known; in points, and as a share of all that they gain. Of {of}."
)

TRIED = (
    "Each line recodes the cells of one column of the release, one step coarser, and lets the adversary who knows the "
    "quasi-identifiers attack what comes out; the protection is not run again. Utility is one minus the global "
    "certainty penalty."
)

ALONE = (
    "Success of the adversary without one column, and in brackets the change in points. The column whose loss costs "
    "the adversary most comes first."
)


def where_section(scope: Scope) -> Section | None:
    """What each quasi-identifier gives, and what one step of generalization of it buys."""
    data = scope.data
    if not data.contributions and not data.steps:
        tables = column_tables(data)
        alone = parts(lead(ALONE) if tables else None, tables, notes(column_notes(data)))
        return Section("where", "Where the risk sits", alone) if alone else None
    shown = parts(
        (lead(_of(data)), [_given(name, given) for name, given in data.contributions.items()]),
        (Heading("What one step of generalization buys", step_finding(scope)), lead(TRIED), _steps(data))
        if data.steps
        else None,
    )
    return Section("where", "Where the risk sits", shown, given_finding(scope))


def _of(data: ReportData) -> str:
    table = "the original" if ORIGINAL in data.contributions else "the release, for the original was not given"
    drawn = " Of so many columns it is estimated from some orders; \u00b1 is half a 95\u00a0% interval."
    about = any(one.error for given in data.contributions.values() for one in given)
    return GIVEN.format(of=table) + (drawn if about else "") if data.contributions else ""


def _given(name: str, given: tuple[Contribution, ...]) -> Grid:
    """Columns by targets, the one that gives most away first."""
    targets = list(dict.fromkeys(one.target for one in given))
    share = {target: shares(given, target) for target in targets}
    of = {(one.target, one.column): one for one in given}
    rows = (
        (column, *(_gives(of[target, column], share[target].get(column)) for target in targets))
        for column in (one.column for one in given if one.target == targets[0])
    )
    return grid(("Column", *map(what, targets)), rows, "" if name == ORIGINAL else name)


def _gives(one: Contribution, share: float | None) -> str:
    within = f" \u00b1 {number(100 * one.error, 1)}" if one.error else ""
    part = "" if share is None else f" ({percent(share, 0)})"
    return f"{number(100 * one.shapley, 1 if one.shapley >= 0.01 else 2)}{within}{part}"


def _steps(data: ReportData) -> Grid:
    """Columns by targets: what the adversary then expects, who is above the limit, and what is left."""
    targets = list(dict.fromkeys(one.target for one in data.steps))
    head = ["Column", "One step"]
    for target in targets:
        named = target == IDENTITY
        head += ["Re-identified", f"People above {percent(LIMITS[IDENTITY], 0)}"] if named else [f"Found: {target}"]
    rows = []
    for release in dict.fromkeys(one.release for one in data.steps):
        own = [one for one in data.steps if one.release == release]
        first = {target: next(one for one in own if one.target == target) for target in targets}
        before = [cell for target in targets for cell in _cells(target, *_before(first[target]))]
        rows.append((release, ("as it is", "", *before, percent(own[0].utility_before))))
        for column in dict.fromkeys(one.column for one in own):
            mine = {one.target: one for one in own if one.column == column}
            after = [cell for target in targets for cell in _cells(target, mine[target].success, mine[target].above)]
            one = mine[targets[0]]
            rows.append((release, (column, step_words(one), *after, percent(one.utility))))
    several = len({release for release, _ in rows}) > 1
    return grouped((*head, "Utility kept"), rows, named=several, text=2)


def _before(one: Step) -> tuple[float, Count]:
    return one.success_before, one.above_before


def _cells(target: str, success: float, above: Count) -> tuple[str, ...]:
    return (percent(success), counted(above)) if target == IDENTITY else (counted(above),)


NOTHING = 0.0005
"""A change of success that a table of them shows as 0."""


def _moved(data: ReportData) -> dict[str, bool]:
    """Target -> whether leaving out a single column changes anything, in order."""
    moved: dict[str, bool] = {}
    for item in data.column_risk:
        change = abs(item.success_with - item.success_without)
        moved[item.target] = moved.get(item.target, False) or change >= NOTHING
    return moved


def column_notes(data: ReportData) -> list[str]:
    """What stands in the place of tables of zeros."""
    same = [what(target) for target, moved in _moved(data).items() if not moved]
    if not same:
        return []
    alike = f"{'; '.join(same)}: without any single column the adversary does as well, for the others tell the class."
    return [f"{alike} That is no sign that columns are harmless: `unmask choose columns` ranks those of the original."]


def column_tables(data: ReportData) -> list[Grid]:
    """Columns by releases: success without the column, and how much less that is than with all of them.

    None of a target for which no column changes anything, see `column_notes`.
    """
    tables = []
    for target in (target for target, moved in _moved(data).items() if moved):
        own = {(item.release, item.column): item for item in data.column_risk if item.target == target}
        releases = list(dict.fromkeys(release for release, _ in own))
        share: dict[str, float] = {}
        for (_, column), item in own.items():
            share[column] = max(share.get(column, float("-inf")), item.success_with - item.success_without)
        rows = [
            (column, *(_contribution(own.get((release, column))) for release in releases))
            for column in sorted(share, key=lambda name: -share[name])
        ]
        known = {item.release: item.success_with for item in own.values()}
        first = ("with all columns", *(percent(known[release]) for release in releases))
        tables.append(Grid(("Without", *releases), (("", (first,)), ("", tuple(rows))), caption=what(target)))
    return tables


def _contribution(item: ColumnRisk | None) -> str:
    if item is None:
        return "not run"
    change = 100 * (item.success_without - item.success_with)
    places = 1 if abs(change) >= 1 else 2
    return f"{percent(item.success_without)} ({'+' if change > 0 else ''}{number(change, places)})"


# --- classes ---------------------------------------------------------------------------------------------------------

STAND = (
    "People of one class fit the same records. Its number is the row of the first of them in the release, counted from "
    "0: the same row of the origin file says who it is, and the owner's list (--at-risk) has it for everybody above a "
    "limit. Classes of fewer than {least:,} people are not shown."
)


def classes_section(scope: Scope) -> Section | None:
    """The classes most at risk, for each target."""
    data = scope.data
    if not data.classes:
        return None
    several = len({one.release for one in data.classes}) > 1
    rows = []
    for one in worst_classes(data.classes):
        line = f"{one.release}: {_sought(one.target)}" if several else _sought(one.target)
        rows.append((line, (str(one.row), one.value, f"{one.people:,}", percent(one.probability))))
    table = grouped(("Row of the release", "Value", "People", "Most, of anybody"), rows, text=2)
    shown = parts(lead(STAND.format(least=data.least)), table)
    return Section("classes", "The classes most at risk", shown, classes_finding(scope))


def _sought(target: str) -> str:
    return "Re-identified" if target == IDENTITY else f"{target}: a value that is not the commonest"
