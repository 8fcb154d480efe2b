"""The result of an audit of tables: facts as tables, and findings as blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.results import AuditResult, Block, Row, Table
from unmask.tables.audit.calibration import CalibrationBin, calibration_block, calibration_table
from unmask.tables.audit.column_shapes import ColumnBin, bin_table, shape_block


@dataclass(frozen=True)
class TableFacts:
    """Facts about releases of tables.

    Parameters
    ----------
    calibration : sequence of CalibrationBin
        Predicted and actual success of each adversary.
    bins : sequence of ColumnBin
        Columns before and after protection.
    """

    calibration: Sequence[CalibrationBin] = ()
    bins: Sequence[ColumnBin] = ()


def make_result(title: str, rows: tuple[Row, ...], facts: TableFacts) -> AuditResult:
    """Return the result of an audit of tables."""
    tables = (calibration_table(facts.calibration), bin_table(facts.bins))
    return AuditResult(
        title=title,
        kind="Table audit",
        command="audit",
        setting="",
        headline="",
        rows=rows,
        tables=tuple(table for table in tables if table.rows),
        blocks=make_blocks(facts, tables),
    )


def make_blocks(facts: TableFacts, tables: Sequence[Table]) -> tuple[Block, ...]:
    """Return the findings in the order of the page."""
    blocks = []
    if facts.calibration:
        blocks.append(calibration_block(tables[0]))
    if facts.bins:
        blocks.append(shape_block(facts.bins))
    return tuple(blocks)
