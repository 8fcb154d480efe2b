"""Tried releases: the study of step 5, and its results as points of risk and utility."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

from unmask.app.jobs import format_command
from unmask.app.project import NOT_AUDITED, STUDY, STUDY_FOLDER, Project
from unmask.app.workflow import Trials
from unmask.core.pareto import find_pareto_front
from unmask.findings.verdict_words import name_requirement
from unmask.measures.registry import UTILITIES
from unmask.plan import Plan
from unmask.policy.policies import parse_policy
from unmask.policy.verdict import explain_unanswered
from unmask.studies.choice import Option, choose
from unmask.studies.journal import Journal
from unmask.studies.reading import read_plan
from unmask.studies.results_file import RESULTS, Results, read_results, write_results
from unmask.studies.run import JOURNAL
from unmask.toml_text import format_document

COMMAND = ("study", STUDY, "-o", STUDY_FOLDER, "--workers", "2")

MIN_RATIO = 1 / 64
"""Ratio of a condition whose value is infinitely below its limit."""


@dataclass(frozen=True)
class Point:
    """A release that was tried.

    values   : parameters of its protection; {} if it is unprotected
    ratio    : its worst condition as a multiple of the limit; nan without conditions
    failures : sentences about missed conditions
    is_best  : True if no other release has less risk and more utility
    losses   : label of a loss of utility -> share
    """

    name: str
    values: Mapping[str, Any]
    utility: float
    ratio: float
    is_met: bool
    failures: tuple[str, ...] = ()
    is_best: bool = False
    losses: Mapping[str, float] = field(default_factory=dict)


Tried = tuple[tuple[Point, ...], tuple[str, ...]]
"""Points, and the names of conditions that they do not test."""


def start(project: Project, trials: Trials) -> None:
    """Write the document of the study and run it; finished cells do not run again."""
    assert trials.plan is not None
    (project.folder / STUDY).write_text(format_document(trials.plan(project)), encoding="utf-8")
    project.jobs.start("study", [COMMAND], digest=compute_digest(project, trials))


def list_commands(_project: Project) -> tuple[str, ...]:
    """Return the commands as lines of a shell."""
    return (format_command(COMMAND),)


def compute_digest(project: Project, trials: Trials) -> str:
    """Return the input of a study as text: all of the document but the parameters that it tries."""
    document = trials.apply(project.document, dict.fromkeys(item.name for item in trials.parameters))
    return format_document({key: value for key, value in document.items() if key not in NOT_AUDITED})


def count_cells(project: Project) -> tuple[int, int]:
    """Return the number of cells of the study that have a result, and of all cells."""
    keys = [cell.key for cell in _read_plan(project).cells()]
    finished = Journal(_journal(project)).results
    return sum(key in finished for key in keys), len(keys)


def _journal(project: Project) -> Path:
    return project.folder / STUDY_FOLDER / JOURNAL


def _read_plan(project: Project) -> Plan:
    path = project.folder / STUDY
    return _read_plan_file(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _read_plan_file(path: Path, _changed: int) -> Plan:
    return read_plan(path)


# --- points -----------------------------------------------------------------------------------------------------------


def read_points(project: Project, trials: Trials) -> Tried:
    """Return the releases that the study has finished, and the conditions that it cannot test."""
    journal = _journal(project)
    if not journal.exists():
        return (), ()
    plan, folder = _read_plan(project), project.folder / "seen"
    folder.mkdir(exist_ok=True)
    write_results(plan, Journal(journal), folder / RESULTS)
    results = read_results(folder)
    requirements = parse_policy(project.document, project.folder, title="own").requirements
    tested = [item for item in requirements if not explain_unanswered(item.require, results.items)]
    untested = tuple(name_requirement(item) for item in requirements if item not in tested)
    if not tested or not any(row.measure == "utility" for row in results.rows):
        return (), untested
    values = {protection.name: protection.parameters for protection in plan.protections}
    incomplete = {gap.protection for gap in results.gaps}
    points = [
        _build_point(verdict, values[verdict.protection], results, trials)
        for verdict in choose(results, [item.require for item in tested])
        if verdict.protection not in incomplete
    ]
    return rank_points(points, trials), untested


def _build_point(verdict: Option, parameters: Mapping[str, Any], results: Results, trials: Trials) -> Point:
    names = [item.name for item in trials.parameters]
    values = {name: parameters[name] for name in names if parameters.get(name) is not None}
    rows = [item for item in results.rows_of(verdict.dataset) if item.release == verdict.protection]
    ratio = (verdict.worst_ratio or MIN_RATIO) if verdict.assessments else math.nan
    losses = {
        UTILITIES[name].label.lower(): fmean(item.posterior for item in rows if item.measure == name)
        for name in trials.losses()
    }
    name = trials.name_release(values)
    return Point(name, values, verdict.utility, ratio, verdict.state == "met", verdict.failures, losses=losses)


def rank_points(points: Sequence[Point], trials: Trials) -> tuple[Point, ...]:
    """Return the points with known values that differ, in the order of their parameters, the last one first."""
    finite = [point for point in points if math.isfinite(point.ratio + point.utility)]
    distinct = [point for point in finite if not any(_is_redundant(point, simpler) for simpler in finite)]
    front = find_pareto_front([(point.ratio, -point.utility) for point in distinct])
    marked = (replace(point, is_best=is_best) for point, is_best in zip(distinct, front, strict=True))
    order = [item.name for item in reversed(trials.parameters)]
    return tuple(
        sorted(marked, key=lambda point: (bool(point.values), *(point.values.get(name) or 0 for name in order)))
    )


def _is_redundant(point: Point, simpler: Point) -> bool:
    """Return whether another point has fewer parameters and the same result."""
    has_fewer = bool(simpler.values) and simpler.values.items() < point.values.items()
    return has_fewer and (point.ratio, point.utility) == (simpler.ratio, simpler.utility)
