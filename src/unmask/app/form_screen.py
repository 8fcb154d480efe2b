"""Screens that are forms of generated boxes: the second and third step of all workflows but tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from unmask.app.fields import get_value, has_value, read_field, read_number, set_value, show_field
from unmask.app.jobs import format_command
from unmask.app.policy_form import list_used_policies, name_condition, save_limits, split_policy
from unmask.app.project import Project, find_file_name
from unmask.app.workflow import Form
from unmask.app.workflows import find_workflow
from unmask.core.errors import UnmaskError
from unmask.domains import audited_by
from unmask.measures.registry import CRITERIA, described
from unmask.policy import Condition
from unmask.toml_text import DOCUMENT


@dataclass(frozen=True)
class FormScreen:
    """The screen of a form. name : its address"""

    form: Form
    name: str

    def show(self, project: Project, _query: Mapping[str, str]) -> dict[str, Any]:
        """Return the boxes with the values of the document."""
        document = project.document
        workflow, limits = find_workflow(document), self.form.limits
        bounds, conditions = split_policy(document, [limit.condition for limit in limits])
        return {
            "fields": {field.key: show_field(project, field) for field in self.form.fields(document)},
            "description": workflow.describe(project) if workflow.describe else "",
            "limits": [
                _show_limit(limit.condition, limit.unit_in(document), bounds.get(limit.condition)) for limit in limits
            ],
            "policies": list_used_policies(document, project.folder, audited_by(workflow.word)) if limits else [],
            "typed_conditions": conditions,
            "commands": (format_command(["audit", workflow.word, DOCUMENT, "--as-plan"]),),
        }

    def submit(self, project: Project, form: Any) -> str:
        """Save the form, and return the next address; to continue, the command must accept the document."""
        previous, document = project.document, self._read(project, form)
        is_last = form.get("do") == "continue"
        self._check(document, complete=is_last)
        project.save(document)
        if not is_last:
            return self.name
        try:
            project.jobs.check(["audit", find_workflow(document).word, DOCUMENT, "--as-plan"])
        except UnmaskError:
            project.save(previous)
            raise
        project.add_notes(confirmed=sorted({*project.notes.get("confirmed", ()), self.name}))
        return {"roles": "adversaries", "adversaries": "verdict"}[self.name]

    def _read(self, project: Project, form: Any) -> dict[str, Any]:
        """Return the document with the values of a form."""
        document = project.document
        for field in self.form.fields(project.document):
            value = read_field(project, field, form, get_value(document, field.key))
            document = set_value(document, field.key, None if value == field.default_in(project) else value)
        if self.form.limits:
            save_limits(dict(self._read_bounds(form, document)), str(form.get("require", "")), document)
        return document

    def _check(self, document: Mapping[str, Any], *, complete: bool) -> None:
        """Raise an error if no file is left, or if a complete document lacks a required value."""
        for field in self.form.fields(document) if complete else ():
            if field.required and not has_value(document, field.key):
                raise UnmaskError(f"{field.title}: no value, expected one to continue")
        if not find_file_name(document):
            raise UnmaskError("the opened file cannot be removed; choose another file in its place")

    def _read_bounds(self, form: Any, document: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
        for limit in self.form.limits:
            value = read_number(form, limit.condition, name_condition(_parse(limit.condition)))
            is_share = value is not None and limit.unit_in(document) == "%"
            yield limit.condition, round(value / 100, 9) if is_share else value


def _show_limit(limit: str, unit: str, bound: float | None) -> dict[str, str]:
    condition = _parse(limit)
    quantity = described(condition.measure) or CRITERIA.get(condition.measure)
    return {
        "key": limit,
        "title": name_condition(condition),
        "side": "at most" if "<" in limit else "at least",
        "value": "" if bound is None else f"{100 * bound if unit == '%' else bound:.9g}",
        "unit": unit,
        "meaning": quantity.meaning if quantity else "",
    }


def _parse(limit: str) -> Condition:
    return Condition.parse(f"{limit}0")
