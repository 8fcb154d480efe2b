"""The curve of designs of step 5: what the best mechanism gives at other budgets."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from typing import Any

from unmask.app.channels import design
from unmask.app.jobs import shown
from unmask.app.kind import Trials, value_at, with_value
from unmask.app.points import Point, ranked
from unmask.app.project import CURVE, MECHANISM, TRIED, Project
from unmask.app.verdict import found
from unmask.core.errors import UnmaskError
from unmask.core.tolerances import LIMIT_TIE
from unmask.policy import Condition
from unmask.policy.policies import parse_policy
from unmask.policy.verdict import limit_ratio
from unmask.reports.findings.verdict import called
from unmask.toml_text import format_document

COLUMNS = {None: "privacy", "posterior": "privacy", "worst": "worst"}
"""Field of a condition on the error -> the column of the curve that has it."""


MOST = 64.0
"""Times the limit, at most: what leaves the adversary no error at all is infinitely below it."""


def start(project: Project, _trials: Trials) -> None:
    """Solve the curve about the budget of the document, else about the distortion of its channel."""
    if not value_at(project.given, "channel.prior"):
        raise UnmaskError("a mechanism is designed for a prior of the secrets; give its file in step 2")
    if not _asked(project)[0]:
        raise UnmaskError("other budgets are judged by the error of the adversary; give a limit for it in step 3")
    command = design(_budgeted(project), TRIED, "--curve", CURVE)
    project.jobs.start("study", [command], of=digest(project))


def _budgeted(project: Project) -> dict[str, Any]:
    """The document with a budget."""
    given = project.given
    if value_at(given, "protections.budget") is not None:
        return given
    return with_value({**given, "protections": [{}]}, "protections.budget", _distortion(project))


def commands(project: Project) -> tuple[str, ...]:
    """What does the same on the command line."""
    if value_at(project.given, "protections.budget") is None:
        return ()
    return (shown([word for word in design(project.given, MECHANISM, "--curve", CURVE) if word != "--force"]),)


def _distortion(project: Project) -> float:
    """What the first channel costs users, by the audit."""
    known = found(project)["tables"].get("channel_mechanisms", [])[:1]
    value = known[0].get("distortion") if known else None
    if not isinstance(value, int | float) or not value > 0:
        raise UnmaskError("it is not known what the outputs cost users; open the prior, and give a budget")
    return float(value)


def is_fresh(project: Project, _trials: Trials) -> bool:
    """Whether the curve is about what the document says now."""
    job = project.jobs.find("study")
    return job is not None and job.of == digest(project)


def digest(project: Project) -> str:
    """Of what a curve is made of: all but the budget, about which it was solved."""
    given = {key: project.given.get(key, {}) for key in ("channel", "policy")}
    return format_document({**given, "channel": {**given["channel"], "channels": []}})


def points(project: Project, trials: Trials) -> tuple[tuple[Point, ...], tuple[str, ...]]:
    """The points of the curve, and the conditions that it does not test."""
    tested, left = _asked(project)
    path = project.folder / CURVE
    if not path.exists() or not tested:
        return (), left
    with path.open(encoding="utf-8") as file:
        lines = [{name: float(cell) for name, cell in line.items()} for line in csv.DictReader(file)]
    largest = max(line["distortion"] for line in lines) or 1.0
    return ranked([_point(line, largest, tested, trials) for line in lines], trials), left


def _asked(project: Project) -> tuple[list[Condition], tuple[str, ...]]:
    """The conditions that a curve tests, and what the others are called."""
    asked = parse_policy(project.given, project.folder, title="own").requirements
    errors = [one.require for one in asked if one.require.measure == "estimation_error"]
    tested = [one for one in errors if one.field in COLUMNS]
    return tested, tuple(called(one) for one in asked if one.require not in tested)


def _point(line: Mapping[str, float], largest: float, tested: list[Condition], trials: Trials) -> Point:
    asked = {"budget": line["distortion"]}
    factors = list(_times(line, tested))
    met = all(factor <= 1 + LIMIT_TIE for factor in factors)
    why = () if met else ("the adversary errs too little",)
    return Point(trials.words(asked), asked, 1 - line["distortion"] / largest, max(factors), met, why)


def _times(line: Mapping[str, float], tested: list[Condition]) -> Iterator[float]:
    for condition in tested:
        value = limit_ratio(line[COLUMNS[condition.field]], condition)
        yield MOST if value is None else min(value, MOST)
