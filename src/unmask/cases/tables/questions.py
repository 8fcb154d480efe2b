"""What is asked of a release besides whose record is whose and who has which value: a module for each question."""

from __future__ import annotations

from collections.abc import Callable

from unmask.audit import Audit
from unmask.cases.tables.case import Scene
from unmask.cases.tables.evidence import Evidence
from unmask.cases.tables.membership import membership
from unmask.cases.tables.own import own_records
from unmask.cases.tables.parts import linkability
from unmask.cases.tables.singling import singling_out

Question = Callable[[Scene, Evidence], Audit]
"""Rows of one release in memory, which is not the original, and what was not run, each with its reason."""

QUESTIONS: tuple[Question, ...] = (own_records, membership, singling_out, linkability)
"""The questions, in the order of the page."""
