"""The study of step 5: its plan, made of the document, and how far it has come."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from unmask.app.counting import seen
from unmask.app.project import STUDIED, STUDY, Project
from unmask.app.protection import asked, levels_of
from unmask.document import by_role
from unmask.plan import NOTHING, Plan
from unmask.studies.journal import Journal
from unmask.studies.reading import read_plan
from unmask.studies.run import JOURNAL
from unmask.toml_text import text_of_document

COMMAND = ("study", STUDY, "-o", STUDIED, "--workers", "2")

LADDER = (2, 3, 5, 7, 10, 15, 20, 30, 50, 100)
"""Values of k that are tried; DIVERSE : those that are tried with several values of each secret, VALUES."""

DIVERSE, VALUES = (5, 10, 20), (2, 3)

ATTACKED = 20_000
"""Most people that each release is attacked with."""


def digest(project: Project) -> str:
    """Of what a study is made of: all but the one protection that was chosen."""
    given = {key: one for key, one in project.given.items() if key not in ("protections", "certificate", "title")}
    return text_of_document({**given, "levels": levels_of(project.given)})


def start(project: Project) -> None:
    """Write the plan of the study and run it; what it has finished before is not run again."""
    job = project.jobs.find("study")
    if job is not None and job.of != digest(project):
        project.jobs.stop("study")
    rows = seen(project).facts[0].rows
    (project.folder / STUDY).write_text(text_of_document(plan_of(project.given, rows)), encoding="utf-8")
    project.jobs.start("study", [COMMAND], of=digest(project))


def plan_of(given: Mapping[str, Any], rows: int) -> dict[str, Any]:
    """The document of the study: that of the release, with many protections in the place of one."""
    k, levels = asked(given).get("k", 10), levels_of(given)
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
    kept = {key: one for key, one in given.items() if key not in ("releases", "protections", "adversaries")}
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
