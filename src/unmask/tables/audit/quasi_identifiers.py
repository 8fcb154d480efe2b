"""Risk by quasi-identifier: contributions to success, success without a column, and steps of generalization."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from unmask.facts import Contribution
from unmask.findings.row_words import format_target
from unmask.results import Block, Column, Table, View
from unmask.results.formats import SPACE, number, percent
from unmask.results.names import IDENTITY, LIMITS
from unmask.results.rows import ORIGINAL
from unmask.results.table import Record
from unmask.results.words import join_names, plural, release_name

# --- contributions ---------------------------------------------------------------------------------------------------

CONTRIBUTION_COLUMNS = (
    Column("release", "Release"), Column("target"), Column("column", "Column"),
    Column("shapley", "Adds on average", "share"), Column("error", "\u00b1", "share"),
    Column("alone", "Adds to no knowledge", "share"), Column("last", "Adds to all others", "share"),
)  # fmt: skip

SHAPLEY = (
    "A column's Shapley value is what it adds to the success of an adversary who knows all quasi-identifiers, on "
    "average over all orders in which columns become known. The values of all columns add up to the whole gain. They "
    "refer to {table}."
)

ESTIMATED = " With so many columns they are estimated from some of the orders; \u00b1 is half a 95\u00a0% interval."


def contribution_table(contributions: Mapping[str, Iterable[Contribution]]) -> Table:
    """Return the table of the contributions to each target, by release."""
    return Table.of_releases("contributions", CONTRIBUTION_COLUMNS, contributions)


def contribution_block(table: Table) -> Block:
    """Return a table for each target, and the columns that contribute most."""
    is_estimated = any(table.values("error"))
    about = "the original" if ORIGINAL in table.values("release") else "the release, for the original was not given"
    introduction = SHAPLEY.format(table=about) + (ESTIMATED if is_estimated else "")
    names = [column.name for column in table.columns if column.name != "target"]
    names = names if is_estimated else [name for name in names if name != "error"]
    targets = dict.fromkeys(table.values("target"))
    views = tuple(View(table.name, tuple(names), {"target": target}, format_target(target)) for target in targets)
    return Block("where", "Where the risk sits", describe_contributions, (), views, introduction)


def describe_contributions(tables: Mapping[str, Table]) -> str:
    """Return for each target the column that contributes most, in the first table with contributions."""
    table = tables["contributions"]
    for release in dict.fromkeys(table.values("release")):
        parts: dict[str, list[str]] = {}
        for target in dict.fromkeys(table.values("target")):
            shares = contribution_shares(table.where(release=release, target=target))
            if shares:
                column = max(shares, key=lambda name: shares[name])
                effect = "re-identification" if target == IDENTITY else f"inference of {target}"
                parts.setdefault(column, []).append(f"{percent(shares[column], 0)} of the {effect}")
        if parts:
            text = "; ".join(f"{column} accounts for {join_names(effects)}" for column, effects in parts.items())
            return f"{text}, in {'the original' if release == ORIGINAL else release_name(release)}."
    return ""


def contribution_shares(table: Table) -> dict[str, float]:
    """Return the share of the whole gain that each column accounts for; empty if nothing is gained."""
    gain = sum(table.values("shapley"))
    return {row["column"]: row["shapley"] / gain for row in table.rows} if gain > 0 else {}


# --- success without a column ----------------------------------------------------------------------------------------


class ColumnRisk(NamedTuple):
    """Success of an adversary with all quasi-identifiers, and without one of them."""

    release: str
    target: str
    column: str
    success_with: float
    success_without: float


RISK_COLUMNS = (
    Column("release", "Release"), Column("target"), Column("column", "Without"),
    Column("success_with", "Success with all", "share"), Column("success_without", "Success without it", "share"),
)  # fmt: skip

NEGLIGIBLE = 0.0005
"""Change of success that a table shows as 0."""

NO_CHANGE = (
    "the adversary does as well without any single column, because the others determine the class. Columns may still "
    "reveal much: `unmask choose columns` ranks those of the original."
)


def column_risk_table(risks: Iterable[ColumnRisk]) -> Table:
    """Return the table of success without each column; columns that cost the adversary most come first."""
    return Table.from_records("column_risk", RISK_COLUMNS, risks)


def column_risk_block(table: Table) -> Block:
    """Return a table for each target for which a column matters, for audits without contributions."""
    changes: dict[str, float] = {}
    for row in table.rows:
        change = abs(row["success_with"] - row["success_without"])
        changes[row["target"]] = max(changes.get(row["target"], 0.0), change)
    names = tuple(column.name for column in table.columns if column.name != "target")
    changed = [target for target, largest_change in changes.items() if largest_change >= NEGLIGIBLE]
    unchanged = [format_target(target) for target in changes if target not in changed]
    views = tuple(View(table.name, names, {"target": target}, format_target(target)) for target in changed)
    notes = (f"{'; '.join(unchanged)}: {NO_CHANGE}",) if unchanged else ()
    heading = "Where the risk sits"
    return Block("where", heading, describe_column_risk, (), views, notes=notes, is_finding=False)


def describe_column_risk(tables: Mapping[str, Table]) -> str:
    """Return the column whose loss costs the adversary most."""
    table = tables["column_risk"]
    rows = table.where(target=IDENTITY).rows or table.rows
    row = max(rows, key=lambda row: row["success_with"] - row["success_without"])
    if row["success_with"] - row["success_without"] < NEGLIGIBLE:
        return "No single column decides: without any one of them the adversary does as well."
    fall = f"from {percent(row['success_with'])} to {percent(row['success_without'])}"
    return f"{format_target(row['target']).split(':')[0]}: without {row['column']} success falls {fall}."


# --- steps of generalization -----------------------------------------------------------------------------------------


class GeneralizationStep(NamedTuple):
    """Effect of one step of generalization of one column of a release.

    Parameters
    ----------
    release, column : str
        Release and quasi-identifier.
    ladder : str
        Type of the column, or "hierarchy".
    level : float or str
        Level of the column as `tables.Generalize` takes it; "*" suppresses it.
    target : str
        "identity", or a sensitive column.
    success_before, success : float
        Expected success of an adversary who knows the quasi-identifiers.
    above_before, above : int
        People above the limit; for a sensitive column, people with an inferred value.
    people : int
        Number of people.
    utility_before, utility : float
        1 - global certainty penalty.
    """

    release: str
    column: str
    ladder: str
    level: float | str
    target: str
    success_before: float
    success: float
    above_before: int
    above: int
    people: int
    utility_before: float
    utility: float


STEP_COLUMNS = (
    Column("release", "Release"), Column("column", "Column"), Column("step", "One step"), Column("ladder"),
    Column("level"), Column("target", "Target"), Column("success_before", "Success before", "share"),
    Column("success", "Success", "share"), Column("above_before", "People at risk before", "people", of="people"),
    Column("above", "People at risk", "people", of="people"), Column("people", "People", "number"),
    Column("utility_before", "Utility before", "share"), Column("utility", "Utility", "share"),
)  # fmt: skip

HIDDEN = {"ladder", "level", "people"}

TRIED = (
    "Each line makes the cells of one column of the release one step coarser, and attacks the outcome as an adversary "
    "who knows the quasi-identifiers; the protection is not run again. Success is what they expect. People at risk are "
    "re-identified with more than {identity}, or have an inferred value that is not the most common one. Utility is 1 "
    "minus the global certainty penalty."
)


def step_table(steps: Iterable[GeneralizationStep]) -> Table:
    """Return the table of the steps of all releases."""
    records = ((*step[:2], describe_level(step.ladder, step.level), *step[2:]) for step in steps)
    return Table.from_records("steps", STEP_COLUMNS, records)


def step_block(table: Table) -> Block:
    """Return the steps, and the one that lowers the risk most for its cost."""
    names = tuple(column.name for column in table.columns if column.name not in HIDDEN)
    introduction = TRIED.format(identity=percent(LIMITS[IDENTITY], 0))
    heading = "What one step of generalization buys"
    return Block("steps", heading, describe_steps, (), (View(table.name, names),), introduction)


def describe_level(ladder: str, level: float | str) -> str:
    """Return a level of generalization in words.

    >>> describe_level("number", 10.0), describe_level("date", "year"), describe_level("code", 2)
    ('in steps of 10', 'in years', '2 characters hidden')
    """
    if isinstance(level, str):
        return "left out" if level == "*" else f"in {level}s"
    if ladder == "code":
        return f"{plural(int(level), 'character')} hidden"
    return f"to level {level:g}" if ladder == "hierarchy" else f"in steps of {number(level)}"


def describe_steps(tables: Mapping[str, Table]) -> str:
    """Return the step that lowers re-identification most for its cost, or inference if no person is re-identified."""
    rows = [row for row in tables["steps"].rows if row["target"] == IDENTITY] or list(tables["steps"].rows)
    useful = [row for row in rows if row["success_before"] - row["success"] > 0.00005]
    if not useful:
        return "No step of a single column lowers the risk."
    row = max(useful, key=_gain)
    effect = "expected re-identification" if row["target"] == IDENTITY else f"expected inference of {row['target']}"
    cost = f"{number(100 * (row['utility_before'] - row['utility']), 1)}{SPACE}points of utility"
    return (
        f"The best single step is {row['column']} {row['step']}: {effect} falls from {percent(row['success_before'])} "
        f"to {percent(row['success'])}, for {cost}."
    )


def _gain(row: Record) -> float:
    """Return the points of success for each point of utility; free steps come first."""
    return float((row["success_before"] - row["success"]) / max(row["utility_before"] - row["utility"], 1e-6))
