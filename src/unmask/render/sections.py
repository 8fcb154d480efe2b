"""Blocks of a result as sections of a page: charts, tables with formatted cells, and notes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from unmask.render import Figure
from unmask.render.measure_tables import measure_grids
from unmask.render.page_parts import Figures, Grid, Section, Terms, lead, notes, parts
from unmask.results import Block, Chart, Column, Result, Table, View
from unmask.results.formats import SHARES, format_cell
from unmask.results.names import FAILURES, MEASURES
from unmask.results.scope import Scope


def block_sections(result: Result, scope: Scope) -> Iterator[Section]:
    """Yield the section of each block, in the order of the page.

    A block is left out if all of its charts and tables are empty, unless it is a finding with a sentence.
    """
    for block in result.blocks:
        content, sentence = parts(*_parts(block, result, scope)), block.describe(result.facts_by_name)
        if content or (block.is_finding and (sentence or not (block.charts or block.tables))):
            yield Section(block.name, block.heading, content, sentence, open=block.open)


def _parts(block: Block, result: Result, scope: Scope) -> Iterator[Any]:
    figures = tuple(Figure(chart, table) for chart, table in _drawn(block, result, scope))
    grids = [grid for view in block.tables for grid in make_grids(result, view, scope)]
    if figures or grids or block.facts or (block.is_finding and not (block.charts or block.tables)):
        yield Terms(tuple((fact.label, (fact.text,)) for fact in block.facts))
        yield lead(block.introduction)
        yield Figures(figures)
        yield grids
        yield from notes(block.notes)


def _drawn(block: Block, result: Result, scope: Scope) -> Iterator[tuple[Chart, Table]]:
    """Yield the charts that have rows; adversaries have their color and shape."""
    for chart in block.charts:
        table = measure_table(scope) if chart.table == MEASURES else result.table(chart.table)
        if not table.where(**chart.where).rows:
            continue
        if "adversary" in (chart.by, chart.y):
            yield replace(chart, style="style"), _mark_adversaries(table, scope)
        else:
            yield chart, table


def _mark_adversaries(table: Table, scope: Scope) -> Table:
    rows = (
        {
            **row,
            "adversary": scope.label(row["adversary"]) or row["adversary"],
            "style": scope.styles[row["adversary"]],
        }
        for row in table.rows
    )
    return replace(table, columns=(*table.columns, Column("style")), rows=tuple(rows))


def measure_table(scope: Scope) -> Table:
    """Return the measures of the audit that are shares, as charts show them."""
    names = ("release", "adversary", "target", "measure", "prior", "posterior", "low", "high", "control", "dataset")
    labels = {"prior": "guessing", "control": "control group"}
    columns = (Column(name, labels.get(name, ""), "text" if i < 4 else "share") for i, name in enumerate(names))
    rows = [row for row in scope.result.rows if row.status not in FAILURES and row.unit in SHARES]
    return Table.from_records(MEASURES, columns, ([getattr(row, name, "") for name in names] for row in rows))


# --- tables ----------------------------------------------------------------------------------------------------------

N_SIDE_BY_SIDE = 6
"""Releases in a table with a line for each column."""


def make_grids(result: Result, view: str | View, scope: Scope) -> Iterator[Grid]:
    """Yield a view of a table with formatted cells, without columns that have no value."""
    view = View(view) if isinstance(view, str) else view
    if view.table == MEASURES:
        scope = scope.narrow(view.where) if "dataset" in view.where else scope
        yield from measure_grids(scope, [view.where["target"]])
        return
    table = result.table(view.table).where(**view.where)
    table = table.select(view.columns) if view.columns else table
    table = replace(table, rows=table.rows[: view.limit or None], title=view.title or table.title)
    if not table.rows:
        return
    if view.transposed:
        yield from _transpose(table)
    else:
        yield make_grid(table)


def make_grid(table: Table) -> Grid:
    """Return a table with formatted cells, without columns that have no value and without the name of one release."""
    n_releases = len({row.get("release") for row in table.rows})
    names = [column.name for column in table.columns if any(row[column.name] is not None for row in table.rows)]
    table = table.select(name for name in names if name != "release" or n_releases > 1)
    lines = [row.get(table.heading, "") for row in table.rows]
    table = table.select(column.name for column in table.columns if column.name != table.heading)
    rows = [tuple(format_cell(column, row[column.name]) for column in table.columns) for row in table.rows]
    groups = {line: tuple(row for row, other in zip(rows, lines, strict=True) if other == line) for line in lines}
    n_text = next((i for i, column in enumerate(table.columns) if not _is_text(column)), len(table.columns))
    is_text = table.columns[-1].kind in ("text", "belief")
    return Grid(
        tuple(map(heading, table.columns)), tuple(groups.items()), text=n_text, caption=table.title, listed=is_text
    )


def _is_text(column: Column) -> bool:
    return column.kind in ("text", "name")


def _transpose(table: Table) -> Iterator[Grid]:
    """Yield a line for each column with its meaning, and the releases side by side."""
    first, *columns = table.columns
    known_columns = [column for column in columns if any(row[column.name] is not None for row in table.rows)]
    n_tables = math.ceil(len(table.rows) / N_SIDE_BY_SIDE)
    width = math.ceil(len(table.rows) / n_tables)
    for start in range(0, len(table.rows), width):
        rows = table.rows[start : start + width]
        lines = tuple(
            (heading(column), column.meaning, *(_format_or_not_run(column, row[column.name]) for row in rows))
            for column in known_columns
            if any(row[column.name] is not None for row in rows)
        )
        head = (heading(first), "Meaning", *(row[first.name] for row in rows))
        yield Grid(head, (("", lines),), text=2, caption=table.title, meaning=True)


def _format_or_not_run(column: Column, value: Any) -> str:
    return "not run" if value is None else format_cell(column, value)


def heading(column: Column) -> str:
    """Return the heading of a column with its unit.

    >>> heading(Column("epsilon", "Epsilon", "number", unit="nats")), heading(Column("k"))
    ('Epsilon (nats)', 'k')
    """
    label = column.label or column.name.replace("_", " ")
    return f"{label} ({column.unit})" if column.unit and column.unit not in SHARES else label
