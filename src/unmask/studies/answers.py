"""Conditions of a policy that the results of a plan can answer, checked before any cell runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from unmask.catalog import instantiate
from unmask.core.errors import UnmaskError
from unmask.domains import import_audit
from unmask.plan import Plan
from unmask.policy import Criterion, Policy
from unmask.policy.condition import CONTROL_FIELDS
from unmask.policy.verdict import explain_unanswered
from unmask.results import Row
from unmask.studies.cells import CONTROL_SETTINGS


def check_policy(policy: Policy, plan: Plan) -> None:
    """Raise for a policy with a condition that no cell of the plan can answer."""
    rows = list(_answers(plan))
    has_answers = all(hasattr(import_audit(part.domain), "answers") for part in plan.datasets)
    for require in (requirement.require for requirement in policy.requirements):
        if reason := explain_unanswered(require if has_answers else replace(require, scope=None), rows):
            raise UnmaskError(f"the policy requires {str(require)!r}, which this plan cannot answer: {reason}")


def _answers(plan: Plan) -> Iterator[Row | Criterion]:
    """Yield a row without a value for each possible measure of a cell, and each criterion."""
    for cell in {(cell.dataset.name, cell.adversary.name): cell for cell in plan.cells()}.values():
        cases: Any = import_audit(cell.dataset.domain)
        target, measures = "", cases.MEASURES
        if hasattr(cases, "answers"):
            target, measures = cases.answers(cell.adversary, instantiate(cell.adversary, "attacks"))
            measures = (*measures, *(name for name in cell.measures if name in cases.MORE))
        has_control = not hasattr(cases, "answers") or bool(set(CONTROL_SETTINGS) & cell.dataset.settings.keys())
        control_fields: Any = dict.fromkeys(CONTROL_FIELDS, math.nan) if has_control else {}
        for name in filter(cell.wants, measures):
            yield replace(cell.row(name, "", math.nan, prior=math.nan, n=0, target=target), **control_fields)
        yield from (Criterion("", name, math.nan) for name in getattr(cases, "CRITERIA", ()) if cell.wants(name))
