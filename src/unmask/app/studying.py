"""The study of step 5: its plan, made of the document, how far it has come, and what it found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

from unmask.app.counting import seen
from unmask.app.jobs import shown
from unmask.app.kind import Trials
from unmask.app.points import Point, ranked
from unmask.app.project import NOT_JUDGED, STUDIED, STUDY, Project
from unmask.app.protection import asked, levels_of
from unmask.document import by_role
from unmask.first_document import DEFAULT_K
from unmask.measures.registry import UTILITIES
from unmask.plan import NOTHING, Plan
from unmask.policy import Requirement
from unmask.policy.policies import parse_policy
from unmask.policy.verdict import explain_unanswered, limit_ratio
from unmask.reports.findings.verdict import called
from unmask.results import StudyRow
from unmask.studies.choice import Verdict, choose
from unmask.studies.journal import Journal
from unmask.studies.reading import read_plan
from unmask.studies.run import JOURNAL, RESULTS, export
from unmask.studies.summary import Results, read_results
from unmask.toml_text import format_document

COMMAND = ("study", STUDY, "-o", STUDIED, "--workers", "2")

LADDER = (2, 3, 5, 7, 10, 15, 20, 30, 50, 100)
"""Values of k that are tried; DIVERSE : those that are tried with several values of each secret, VALUES."""

DIVERSE, VALUES = (5, 10, 20), (2, 3)

ATTACKED = 20_000
"""Most people that each release is attacked with."""


def start(project: Project, trials: Trials) -> None:
    """Write the plan of the study and run it; what it has finished before is not run again."""
    assert trials.plan is not None
    (project.folder / STUDY).write_text(format_document(trials.plan(project)), encoding="utf-8")
    project.jobs.start("study", [COMMAND], of=digest(project, trials))


def commands(_project: Project) -> tuple[str, ...]:
    """What does the same on the command line."""
    return (shown(COMMAND),)


def is_fresh(project: Project, trials: Trials) -> bool:
    """Whether what was started last is about what the document says now."""
    job = project.jobs.find("study")
    return job is not None and job.of == digest(project, trials) and (project.folder / STUDY).exists()


def digest(project: Project, trials: Trials) -> str:
    """Of what a study is made of: all but the settings that it tries."""
    plain = trials.used(project.given, dict.fromkeys(one.name for one in trials.parameters))
    return format_document({key: one for key, one in plain.items() if key not in NOT_JUDGED})


def plan_of_table(project: Project) -> dict[str, Any]:
    """The plan for a table of people."""
    return plan_of(project.given, seen(project).facts[0].rows)


def plan_of(given: Mapping[str, Any], rows: int) -> dict[str, Any]:
    """The document of the study: that of the release, with many protections in the place of one."""
    k, levels = asked(given).get("k", DEFAULT_K), levels_of(given)
    all_k, some_k = (sorted({one for one in (*ladder, k) if 2 * one <= rows}) for ladder in (LADDER, DIVERSE))
    mondrian = {"use": "tables.Mondrian"} | ({"with": {"levels": levels}} if levels else {})
    protections: list[dict[str, Any]] = [{"name": "unprotected", "use": NOTHING}]
    protections.append({"name": "Mondrian", **mondrian, "grid": {"k": all_k}})
    if by_role(given["columns"]).get("sensitive"):
        protections.append({"name": "diverse", **mondrian, "grid": {"k": some_k, "l": list(VALUES)}})
    attacked = [
        {**one, "knows": {"targets": min(rows, ATTACKED), **one.get("knows", {})}}
        for one in given.get("adversaries", [])
    ]
    kept = {key: one for key, one in given.items() if key not in ("releases", "protections", "adversaries", "policy")}
    return {**kept, "protections": protections, "adversaries": attacked}


def cells(project: Project) -> tuple[int, int]:
    """How many cells of the study have a result, and how many there are."""
    keys = [cell.key for cell in plan(project).cells()]
    finished = Journal(journal(project)).results
    return sum(key in finished for key in keys), len(keys)


def journal(project: Project) -> Path:
    """Where the finished cells are."""
    return project.folder / STUDIED / JOURNAL


def plan(project: Project) -> Plan:
    """The plan of the study."""
    at = (project.folder / STUDY).stat()
    return _read_plan(project.folder / STUDY, at.st_mtime_ns)


@lru_cache(maxsize=1)
def _read_plan(path: Path, _changed: int) -> Plan:
    return read_plan(path)


# --- what it found ----------------------------------------------------------------------------------------------------


def points(project: Project, trials: Trials) -> tuple[tuple[Point, ...], tuple[str, ...]]:
    """What is computed, and the conditions that a study cannot test."""
    path = journal(project)
    if not path.exists():
        return (), ()
    made, folder = plan(project), project.folder / "seen"
    folder.mkdir(exist_ok=True)
    export(made, Journal(path), folder / RESULTS)
    results = read_results(folder)
    asked = parse_policy(project.given, project.folder, title="own").requirements
    tested = [one for one in asked if not explain_unanswered(one.require, results.items)]
    left = tuple(called(one) for one in asked if one not in tested)
    if not results.rows or not any(one.measure == "utility" for one in results.rows):
        return (), left
    part = {one.name: one.parameters for one in made.protections}
    gaps = {gap.protection for gap in results.gaps}
    judged = choose(results, [one.require for one in tested]) if tested else ()
    found = [_point(one, part, results, tested, trials) for one in judged if one.protection not in gaps]
    return ranked(found, trials), left


def _point(
    one: Verdict,
    part: Mapping[str, Mapping[str, Any]],
    results: Results,
    tested: Sequence[Requirement],
    trials: Trials,
) -> Point:
    given = part[one.protection]
    asked = {each.name: given[each.name] for each in trials.parameters if given.get(each.name) is not None}
    own = [each for each in results.of(one.dataset) if each.release == one.protection]
    factors = [factor for condition in tested for factor in _times(condition, own, results)]
    worst = max(factors, default=math.nan)
    lost = dict(_lost(own, trials.losses()))
    return Point(trials.words(asked), asked, one.score, worst, one.satisfied, one.failures, lost=lost)


def _lost(own: Sequence[StudyRow], losses: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Label and mean of each of these losses."""
    for name in losses:
        yield UTILITIES[name].label.lower(), fmean(one.posterior for one in own if one.measure == name)


def _times(asked: Requirement, own: Sequence[StudyRow], results: Results) -> Iterator[float]:
    meant = asked.require.resolve(results.items)
    for one in own:
        if meant.applies_to(one):
            value = limit_ratio(meant.value(one), meant)
            yield 1 / 64 if value is None else value
