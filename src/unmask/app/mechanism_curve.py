"""Curve of mechanisms: the best mechanism for other budgets, as points of risk and utility."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Any

from unmask.app.channel_workflow import design_command
from unmask.app.fields import get_value, set_value
from unmask.app.jobs import format_command
from unmask.app.project import CURVE, CURVE_MECHANISM, MECHANISM, Project
from unmask.app.tried_releases import Point, Tried, rank_points
from unmask.app.verdict_screen import read_audit
from unmask.app.workflow import Trials
from unmask.core.errors import UnmaskError
from unmask.core.tolerances import LIMIT_TIE
from unmask.findings.verdict_words import name_requirement
from unmask.policy import Condition
from unmask.policy.policies import parse_policy
from unmask.policy.verdict import limit_ratio
from unmask.toml_text import format_document

BUDGET = "protections.budget"

COLUMNS = {None: "privacy", "posterior": "privacy", "worst": "worst"}
"""Field of a condition on the error -> column of the curve."""

MAX_RATIO = 64.0
"""Ratio of a condition if the adversary makes no error."""


def start(project: Project, _trials: Trials) -> None:
    """Solve the curve around the budget of the document, or around the distortion of its channel."""
    document = project.document
    if not get_value(document, "channel.prior"):
        raise UnmaskError("a mechanism is designed for a prior of the secrets; choose its file in step 2")
    if not _split_policy(project)[0]:
        raise UnmaskError("other budgets are judged by the error of the adversary; set a limit for it in step 3")
    if get_value(document, BUDGET) is None:
        document = set_value({**document, "protections": [{}]}, BUDGET, _read_distortion(project))
    command = design_command(document, CURVE_MECHANISM, "--curve", CURVE)
    project.jobs.start("study", [command], digest=compute_digest(project))


def list_commands(project: Project) -> tuple[str, ...]:
    """Return the commands as lines of a shell."""
    if get_value(project.document, BUDGET) is None:
        return ()
    return (format_command(design_command(project.document, MECHANISM, "--curve", CURVE)[:-1]),)


def _read_distortion(project: Project) -> float:
    """Return the distortion of the first channel in the audit."""
    mechanisms = read_audit(project)["tables"].get("channel_mechanisms", [])
    value = mechanisms[0].get("distortion") if mechanisms else None
    if not isinstance(value, int | float) or not value > 0:
        raise UnmaskError("the cost of the outputs for users is unknown; open the prior, and give a budget")
    return float(value)


def compute_digest(project: Project, _trials: Trials | None = None) -> str:
    """Return the input of a curve as text: all but the channels and the budget."""
    document = project.document
    return format_document({"channel": {**document["channel"], "channels": []}, "policy": document.get("policy", {})})


def read_points(project: Project, trials: Trials) -> Tried:
    """Return the points of the curve, and the conditions that it does not test."""
    tested, untested = _split_policy(project)
    path = project.folder / CURVE
    if not path.exists() or not tested:
        return (), untested
    with path.open(encoding="utf-8") as file:
        lines = [{name: float(cell) for name, cell in line.items()} for line in csv.DictReader(file)]
    largest = max(line["distortion"] for line in lines) or 1.0
    return rank_points([_build_point(line, largest, tested, trials) for line in lines], trials), untested


def _split_policy(project: Project) -> tuple[list[Condition], tuple[str, ...]]:
    """Return the conditions that a curve tests, and the names of the others."""
    requirements = parse_policy(project.document, project.folder, title="own").requirements
    tested = [
        item.require
        for item in requirements
        if item.require.measure == "estimation_error" and item.require.field in COLUMNS
    ]
    return tested, tuple(name_requirement(item) for item in requirements if item.require not in tested)


def _build_point(line: Mapping[str, float], largest: float, tested: Sequence[Condition], trials: Trials) -> Point:
    values: dict[str, Any] = {"budget": line["distortion"]}
    ratios = [limit_ratio(line[COLUMNS[condition.field]], condition) for condition in tested]
    worst = max(MAX_RATIO if ratio is None else min(ratio, MAX_RATIO) for ratio in ratios)
    is_met = worst <= 1 + LIMIT_TIE
    failures = () if is_met else ("the error of the adversary is too small",)
    return Point(trials.name_release(values), values, 1 - line["distortion"] / largest, worst, is_met, failures)
