"""Step 4: the release that the document asks for, made and attacked by the commands; their page, as they wrote it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from unmask.app import pages
from unmask.app.counting import counting, seen
from unmask.app.jobs import EXIT_ABOVE, Command, Job, shown
from unmask.app.kinds import kind_of
from unmask.app.progress import CHANGES, busy_with
from unmask.app.project import AT_RISK, ATTACK, AUDIT, REPORT, Project
from unmask.app.protection import with_protection
from unmask.core.errors import UnmaskError
from unmask.toml_text import DOCUMENT

QUIET = ("--force", "--json", "--no-changes")
"""Words of commands that are about this server alone."""

SAMPLED, MANY = 20_000, 5
"""People drawn at random who are attacked before all are, where there are at least MANY times as many."""

NEW = f"{AUDIT}.new"
"""Where an audit is written; it takes the place of the last one once it is whole."""


def show(project: Project, _query: Mapping[str, str]) -> dict[str, Any]:
    """What the audit found; while it runs, what it is doing."""
    job = project.jobs.find("verdict")
    fresh = job is not None and job.of == project.digest
    if job is None or (not fresh and job.state != "running"):
        start(project)
        job = project.jobs.find("verdict")
    if job is not None and not fresh and job.state == "running" and job.of != project.digest:
        project.jobs.stop("verdict")
        start(project)
        job = project.jobs.find("verdict")
    assert job is not None
    first = _is_first(job)
    found = job.state == "finished" and (project.folder / REPORT).exists()
    trying = project.jobs.find(CHANGES) if found else None
    busy = job if job.state == "running" else trying
    return {
        "job": job,
        "busy": busy_with(project, busy),
        "body": pages.report_body(project) if found or first else "",
        "first": SAMPLED if first else 0,
        "acceptable": found and {line["state"] for line in lines(project)} == {"met"},
        "changes": _changes(project) if found else [],
        "commands": commands(project),
        "kind": kind_of(project.given),
    }


def start(project: Project) -> None:
    """Make the release, attack it, and where it is not acceptable try what could be done."""
    project.jobs.stop(CHANGES)
    project.forget(AT_RISK)
    of, asked = project.digest, kind_of(project.given).commands(project.given)
    commands = (*asked[:-1], _first(), asked[-1]) if _is_long(project) else asked

    def then(code: int) -> None:
        _keep(project)
        if code == EXIT_ABOVE and "--no-changes" in commands[-1]:
            attack = ("audit", DOCUMENT, *ATTACK)
            project.jobs.start(CHANGES, [attack], of=of, to={0: NEW}, then=lambda _: _keep(project))

    project.jobs.start("verdict", commands, of=of, to={len(commands) - 1: NEW}, then=then)


def _is_long(project: Project) -> bool:
    """Whether so many people are to be attacked that some of them are attacked first."""
    given = project.given
    if kind_of(given).word or counting(project) is not None:
        return False
    people = min(seen(project).facts[0].rows, given.get("audit", {}).get("targets", sys.maxsize))
    return bool(people >= MANY * SAMPLED)


def _first() -> Command:
    """The audit of some people: its page is shown until that of all of them takes its place, which tries more."""
    return "audit", DOCUMENT, *ATTACK, "--no-changes", "--no-steps", "--targets", f"{SAMPLED}"


def _is_first(job: Job) -> bool:
    """Whether the page is that of some people, and all of them are being attacked."""
    return job.state == "running" and job.at > 0 and job.commands[job.at - 1] == _first()


def _keep(project: Project) -> None:
    (project.folder / NEW).replace(project.folder / AUDIT)


def commands(project: Project) -> tuple[str, ...]:
    """What does the same on the command line."""
    asked = kind_of(project.given).commands(project.given)
    return tuple(shown([word for word in one if word not in QUIET]) for one in asked)


def found(project: Project) -> dict[str, Any]:
    """The JSON of the audit."""
    said: dict[str, Any] = json.loads((project.folder / AUDIT).read_text(encoding="utf-8"))
    return said


def lines(project: Project) -> list[dict[str, Any]]:
    """The conditions, as the audit judged them."""
    listed: list[dict[str, Any]] = found(project)["tables"].get("verdicts", [])
    return listed


def _changes(project: Project) -> list[dict[str, Any]]:
    return [one for one in found(project)["tables"].get("changes", []) if one.get("k") is not None]


def take(project: Project, form: Mapping[str, Any]) -> str:
    """Run it again, or take one of the changes."""
    if form.get("do") == "again":
        start(project)
        return "verdict"
    at = str(form.get("change", ""))
    listed = _changes(project) if (project.folder / AUDIT).exists() else []
    if not at.isdecimal() or not at.isascii() or int(at[:6]) >= len(listed):
        raise UnmaskError("there is no such change; take one of those that are listed")
    change = listed[int(at)]
    given = project.given
    if change["without"]:
        given["columns"] = {**given["columns"], change["without"]: "drop"}
        parts = given.get("linkability", {}).get("parts", [])
        if any(change["without"] in part for part in parts):
            given = {key: one for key, one in given.items() if key != "linkability"}
    project.save(with_protection(given, k=change["k"], l=change["l"]))
    return "verdict"
