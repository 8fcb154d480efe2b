"""Step 4: the release is made and attacked by commands; the screen shows the report of the audit."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from unmask.app import pages
from unmask.app.column_profile import count_columns, find_counting_job
from unmask.app.fields import read_index
from unmask.app.jobs import EXIT_ABOVE, Command, Job, format_command
from unmask.app.project import AT_RISK, AUDIT, AUDIT_OPTIONS, REPORT, Project
from unmask.app.sample_rows import read_sample
from unmask.app.table_workflow import with_protection
from unmask.app.workflows import find_workflow
from unmask.core.errors import UnmaskError
from unmask.document import protect_kept
from unmask.languages import active_language
from unmask.toml_text import DOCUMENT

JOB = "verdict"

SERVER_OPTIONS = ("--force", "--json", "--no-changes")
"""Options of commands that only the app needs."""

SAMPLE, MIN_SAMPLES = 20_000, 5
"""People drawn at random who are attacked first, if there are at least MIN_SAMPLES times as many."""

PARTIAL_AUDIT = f"{AUDIT}.new"
"""File of an audit until it is complete."""


def show(project: Project, _query: Mapping[str, str]) -> dict[str, Any]:
    """Return the report of the audit, or its progress; an audit of an older document is started again."""
    if project.jobs.find_current(JOB, project.digest) is None:
        start(project)
    job = project.jobs.find(JOB)
    assert job is not None
    workflow, is_sample = find_workflow(project.document), _is_sample(job)
    is_finished = job.state == "finished" and (project.folder / REPORT).exists()
    busy = job if job.state == "running" else project.jobs.find(pages.CHANGES) if is_finished else None
    return {
        "job": job,
        "busy": pages.show_progress(project, busy),
        "body": pages.read_report_body(project) if is_finished or is_sample else "",
        "n_sample": SAMPLE if is_sample else 0,
        "is_acceptable": is_finished and {line["state"] for line in read_verdicts(project)} == {"met"},
        "changes": _read_changes(project) if is_finished else [],
        "sample": read_sample(project) if is_finished else None,
        "commands": list_commands(project),
        "has_trials": workflow.trials is not None,
        "advice": workflow.advice,
    }


def start(project: Project) -> None:
    """Make the release and attack it; if it is not acceptable, try other protections."""
    project.jobs.stop(pages.CHANGES)
    project.delete(AT_RISK)
    digest, commands = project.digest, _list_translated_commands(project)
    if _has_many_people(project):
        commands = (*commands[:-1], with_language(_sample_command()), commands[-1])

    audit = with_language(("audit", DOCUMENT, *AUDIT_OPTIONS))

    def finish(code: int) -> None:
        _keep_audit(project)
        if code == EXIT_ABOVE and "--no-changes" in commands[-1]:
            project.jobs.start(
                pages.CHANGES, [audit], digest=digest, outputs={0: PARTIAL_AUDIT}, then=lambda _: _keep_audit(project)
            )

    project.jobs.start(JOB, commands, digest=digest, outputs={len(commands) - 1: PARTIAL_AUDIT}, then=finish)


def _list_translated_commands(project: Project) -> tuple[Command, ...]:
    """Return the commands that make and attack the release; the audit writes its page in the active language."""
    *earlier, audit = find_workflow(project.document).commands(project.document)
    return *earlier, with_language(audit)


def with_language(command: Command) -> Command:
    """Return a command that writes a page in the active language."""
    language = active_language()
    return command if language == "en" else (*command, "--lang", language)


def _has_many_people(project: Project) -> bool:
    """Return whether some people are attacked first."""
    document = project.document
    if find_workflow(document).word or find_counting_job(project) is not None:
        return False
    n_rows, n_targets = count_columns(project).facts[0].rows, document.get("audit", {}).get("targets", sys.maxsize)
    return bool(min(n_rows, n_targets) >= MIN_SAMPLES * SAMPLE)


def _sample_command() -> Command:
    """Return the audit of some people, whose report is shown until that of all people."""
    return "audit", DOCUMENT, *AUDIT_OPTIONS, "--no-changes", "--no-steps", "--targets", f"{SAMPLE}"


def _is_sample(job: Job) -> bool:
    """Return whether the report is that of some people, while all are attacked."""
    sample = _sample_command()
    return job.state == "running" and job.position > 0 and job.commands[job.position - 1][: len(sample)] == sample


def _keep_audit(project: Project) -> None:
    (project.folder / PARTIAL_AUDIT).replace(project.folder / AUDIT)


def list_commands(project: Project) -> tuple[str, ...]:
    """Return the commands as lines of a shell, without options that only the app needs."""
    commands = _list_translated_commands(project)
    return tuple(format_command([word for word in command if word not in SERVER_OPTIONS]) for command in commands)


def read_audit(project: Project) -> dict[str, Any]:
    """Return the JSON of the audit."""
    audit: dict[str, Any] = json.loads((project.folder / AUDIT).read_text(encoding="utf-8"))
    return audit


def read_verdicts(project: Project) -> list[dict[str, Any]]:
    """Return the conditions with their verdicts."""
    return list(read_audit(project)["tables"].get("verdicts", []))


def _read_changes(project: Project) -> list[dict[str, Any]]:
    """Return the changes that the audit tried, and that the document can have."""
    return [change for change in read_audit(project)["tables"].get("changes", []) if change.get("k") is not None]


def submit(project: Project, form: Mapping[str, Any]) -> str:
    """Run the audit again, or apply one of the changes."""
    if form.get("do") == "again":
        start(project)
        return "verdict"
    changes = _read_changes(project) if (project.folder / AUDIT).exists() else []
    index = read_index(form.get("change"), changes)
    if index is None:
        raise UnmaskError("there is no such change; choose one of the list")
    change, document = changes[index], project.document
    if removed := change["without"]:
        document["columns"] = {**document["columns"], removed: "drop"}
        if any(removed in part for part in document.get("linkability", {}).get("parts", [])):
            del document["linkability"]
    if change["protects_kept"]:
        document["columns"] = protect_kept(document["columns"])
    project.save(with_protection(document, k=change["k"], l=change["l"]))
    return "verdict"
