"""Blocks of a result as sections of a page: charts, tables with formatted cells, and notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from unmask.policy import Verdict
from unmask.render import Figure
from unmask.reports.parts import Advice, AtRisk, Figures, Grid, Section, Tried, lead, notes, parts
from unmask.results import Alternative, AuditResult, Block, Column, Table
from unmask.results import AtRisk as Risk
from unmask.results.formats import format_cell
from unmask.results.words import plural, release_name


def sections(result: AuditResult) -> Iterator[Section]:
    """Yield the section of each block, in the order of the page."""
    for block in result.blocks:
        yield Section(block.name, block.heading, parts(*_parts(block, result)), block.sentence, open=block.open)


def _parts(block: Block, result: AuditResult) -> Iterator[Any]:
    drawn = [chart for chart in block.charts if result.table(chart.table).where(**chart.where).rows]
    yield Figures(tuple(Figure(chart, result.table(chart.table)) for chart in drawn))
    yield from notes(block.notes) if not block.tables else ()
    yield lead(block.introduction)
    yield from (make_grid(result.table(name)) for name in block.tables)
    yield from notes(block.notes) if block.tables else ()


def make_grid(table: Table) -> Grid:
    """Return a table of facts with formatted cells; a column without any value is left out."""
    table = table.select(
        column.name for column in table.columns if any(row[column.name] is not None for row in table.rows)
    )
    rows = tuple(tuple(format_cell(column, row[column.name]) for column in table.columns) for row in table.rows)
    n_text = next((i for i, column in enumerate(table.columns) if column.kind != "text"), len(table.columns))
    is_text = table.columns[-1].kind in ("text", "belief")
    return Grid(tuple(map(heading, table.columns)), (("", rows),), text=n_text, caption=table.title, listed=is_text)


def heading(column: Column) -> str:
    """Return the heading of a column with its unit.

    >>> heading(Column("epsilon", "Epsilon", "number", unit="nats")), heading(Column("k"))
    ('Epsilon (nats)', 'k')
    """
    label = column.label or column.name.replace("_", " ")
    return f"{label} ({column.unit})" if column.unit else label


# --- first screen ----------------------------------------------------------------------------------------------------


def format_risk(risk: Risk) -> AtRisk:
    """Return who is at risk as the first screen shows it."""
    return AtRisk(risk.figure, risk.sentence, facts=tuple((fact.label, fact.text) for fact in risk.facts))


def format_advice(result: AuditResult, verdicts: Sequence[Verdict]) -> Advice | None:
    """Return what to do next; None without advice, or if all that was audited is acceptable."""
    advice, states = result.advice, {verdict.state for verdict in verdicts}
    if advice is None or (not advice.alternatives and states == {"acceptable"}):
        return None
    sentence = "" if advice.alternatives and "acceptable" in states else advice.sentence
    lines = tuple(_format_alternative(one, verdicts) for one in advice.alternatives)
    return Advice(sentence, advice.command, lines, advice.headings)


def _format_alternative(alternative: Alternative, verdicts: Sequence[Verdict]) -> Tried:
    own = [verdict for verdict in verdicts if verdict.release == alternative.release]
    n_missed = sum(verdict.count("missed") for verdict in own)
    words = f"{plural(n_missed, 'condition')} missed" if n_missed else "every tested condition met" if own else ""
    state = ("missed" if n_missed else "met") if own else ""
    return Tried(release_name(alternative.release), words, state, alternative.figures)
