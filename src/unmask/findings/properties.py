"""Properties of releases as tables and blocks: criteria, utility lost, and risk against utility."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from unmask.core.pareto import find_pareto_front
from unmask.findings.row_words import format_target, name_of
from unmask.measures.registry import CRITERIA, UTILITIES, Quantity
from unmask.results import Block, Chart, Column, Row, Table, View
from unmask.results.formats import format_value
from unmask.results.names import COUNTS
from unmask.results.result import Value
from unmask.results.rows import ORIGINAL
from unmask.results.words import join_names, release_name, shorten_names

N_NAMED = 4
"""Releases that a sentence names."""


def property_table(
    name: str, values: Mapping[str, Mapping[str, Value]], quantities: Mapping[str, Quantity], label: str
) -> Table:
    """Return a table with a row for each release and a column for each property that a protected release has."""
    protected = [values_by_name for release, values_by_name in values.items() if release != ORIGINAL]
    names = list(dict.fromkeys(key for values_by_name in protected for key in values_by_name))
    columns = (Column("release", label), *(_property_column(key, quantities) for key in names))
    records = ((release, *(values_by_name.get(key) for key in names)) for release, values_by_name in values.items())
    return Table.from_records(name, columns, records)


def _property_column(name: str, quantities: Mapping[str, Quantity]) -> Column:
    quantity = quantities.get(name.partition(" ")[0])
    meaning = quantity.meaning if quantity else ""
    if name in COUNTS:
        return Column(name, name_of(name, quantities), "people", exact=True, meaning=meaning)
    if name.startswith("unique_share"):
        label = name_of(name, quantities)
        return Column(name, label, "percent_of_people", of="unique_rows", exact=True, meaning=meaning)
    kind = "share" if quantity is not None and quantity.in_percent else "number"
    return Column(name, name_of(name, quantities), kind, meaning=meaning)  # type: ignore[arg-type]


def criteria_table(criteria: Mapping[str, Mapping[str, Value]]) -> Table:
    """Return the criteria of each release."""
    return property_table("criteria", criteria, CRITERIA, "Criterion")


def criteria_block(table: Table) -> Block:
    """Return the criteria side by side, with k and l in the sentence."""
    unknown = [column.label for column in table.columns if all(value is None for value in table.values(column.name))]
    notes = (f"Not run for any release: {'; '.join(unknown)}.",) if unknown else ()
    heading = "Criteria: properties of the release, without an adversary"
    views = (View("criteria", transposed=True),)
    return Block("criteria", heading, describe_criteria, (), views, notes=notes, is_finding=False)


def describe_criteria(tables: Mapping[str, Table]) -> str:
    """Return k and l of each release."""
    rows = [row for row in tables["criteria"].rows if row["release"] != ORIGINAL]
    parts = []
    for row in rows:
        letters = {"k": row.get("k"), "l": row.get("l_distinct")}
        values = [f"{letter} = {value:,}" for letter, value in letters.items() if isinstance(value, int)]
        if values:
            parts.append(f"{row['release']}: {join_names(values)}" if len(rows) > 1 else join_names(values))
    return f"{'; '.join(parts[:N_NAMED])}." if parts else ""


# --- utility ---------------------------------------------------------------------------------------------------------

PLANE = (
    "Lower points lose less, points to the left risk less. For the same adversary, filled points joined by steps are "
    "better than all other releases in one of the two; hollow points are not."
)


def utility_table(utility: Mapping[str, Mapping[str, Value]]) -> Table:
    """Return the losses of each release."""
    return property_table("utility", utility, UTILITIES, "Utility lost")


def plane_table(heads: Iterable[Row], utility: Table) -> Table:
    """Return risk against the first loss that all releases have, for each adversary; empty with a single release."""
    loss = next((c for c in utility.columns[1:] if all(_is_number(row[c.name]) for row in utility.rows)), None)
    if len(utility) < 2 or loss is None:
        return Table("risk_utility", (), ())
    lost = {row["release"]: row[loss.name] for row in utility.rows}
    columns = (
        Column("target"), Column("adversary"), Column("name"), Column("mark"), Column("success", "Success", "share"),
        Column("loss", loss.label, "share" if max(lost.values()) <= 1 else "number"),
    )  # fmt: skip
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in heads:
        if row.release in lost:
            groups.setdefault((row.target, row.adversary), []).append(row)
    records = (record for rows in groups.values() for record in _plane_records(rows, lost))
    return Table.from_records("risk_utility", columns, records)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _plane_records(rows: Sequence[Row], lost: Mapping[str, float]) -> Iterator[tuple[object, ...]]:
    """Yield the releases as one adversary sees them, the lowest success first."""
    is_best_point = find_pareto_front([(lost[row.release], row.posterior) for row in rows])
    names = shorten_names(row.release for row in rows)
    order = sorted(zip(rows, is_best_point, strict=True), key=lambda item: (item[0].posterior, lost[item[0].release]))
    for row, is_best in order:
        mark = "point" if is_best else "hollow"
        yield row.target, row.adversary, names[row.release], mark, row.posterior, lost[row.release]


def utility_block(plane: Table) -> Block:
    """Return risk against utility, and the losses side by side."""
    charts = tuple(_plane_chart(target) for target in dict.fromkeys(plane.values("target") if plane.rows else ()))
    heading, introduction = ("Risk against utility", PLANE) if charts else ("Utility lost", "")
    views = (View("utility", transposed=True),)
    return Block("utility", heading, describe_utility, charts, views, introduction, is_finding=False)


def _plane_chart(target: str) -> Chart:
    return Chart(
        "points", "risk_utility", "success", "loss", "adversary", title=format_target(target), text="name", mark="mark",
        label=f"Success against utility lost. {format_target(target)}", front=True, log="x", where={"target": target},
    )  # fmt: skip


def describe_utility(tables: Mapping[str, Table]) -> str:
    """Return the first loss of each release."""
    table = tables["utility"]
    cells = [(row, column) for row in table.rows for column in table.columns[1:2] if _is_number(row[column.name])]
    if not cells:
        return ""
    several = len(cells) > 1
    names = (f"{release_name(row['release'])} " if several else "" for row, _ in cells)
    values = (format_value(column, row[column.name]) for row, column in cells)
    parts = [f"{name}{value}" for name, value in zip(names, values, strict=True)]
    return f"{cells[0][1].label}: {join_names(parts[:N_NAMED])}."
