"""Results of audits, studies and games: measures as rows, facts as tables, findings as blocks."""

from unmask.results.blocks import Block, Chart, Fact, View
from unmask.results.envelope import SCHEMA, as_json, envelope, plain
from unmask.results.first_screen import Advice, Alternative, AtRisk, Decision, DecisionItem
from unmask.results.result import Result
from unmask.results.rows import Row, StudyRow
from unmask.results.table import Column, Table

__all__ = [
    "SCHEMA",
    "Advice",
    "Alternative",
    "AtRisk",
    "Block",
    "Chart",
    "Column",
    "Decision",
    "DecisionItem",
    "Fact",
    "Result",
    "Row",
    "StudyRow",
    "Table",
    "View",
    "as_json",
    "envelope",
    "plain",
]
