"""Results of audits, studies and games: measures as rows, facts as tables, findings as blocks."""

from unmask.results.blocks import Block, Fact, View
from unmask.results.chart import Chart
from unmask.results.envelope import SCHEMA, as_json, envelope, plain
from unmask.results.result import Advice, Alternative, AtRisk, AuditResult, Decision, DecisionItem
from unmask.results.rows import Row, StudyRow
from unmask.results.table import Column, Table

__all__ = [
    "SCHEMA",
    "Advice",
    "Alternative",
    "AtRisk",
    "AuditResult",
    "Block",
    "Chart",
    "Column",
    "Decision",
    "DecisionItem",
    "Fact",
    "Row",
    "StudyRow",
    "Table",
    "View",
    "as_json",
    "envelope",
    "plain",
]
