"""Pages: screens in the common layout, progress of jobs, and pages of reports inside a screen."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from unmask.app import project as files
from unmask.app.jobs import Job
from unmask.app.project import Project
from unmask.app.workflow import Step
from unmask.app.workflows import find_workflow
from unmask.core.errors import visible
from unmask.languages import Language, gettext, group, mark, ngettext, retranslate, use_language
from unmask.results.formats import percent
from unmask.toml_text import DOCUMENT

NAMES = ("open", "roles", "adversaries", "verdict", "protect", "game", "sign")
"""Addresses of all screens in their order; a workflow may lack some."""

DOWNLOADS = (
    files.RELEASE, files.WORKBOOK, files.PARQUET, files.MAPPING, files.RISKS, files.ORIGIN, files.AT_RISK, files.REPORT,
    files.AUDIT, files.CERTIFICATE, files.CERTIFICATE_PAGE, DOCUMENT, files.STUDY, files.MECHANISM, files.GAME_PAGE,
    files.GAME, "attacker.toml",
)  # fmt: skip

MADE = (files.WORKBOOK, files.PARQUET, files.MAPPING)
"""Files that are made when they are downloaded."""


CHANGES = "changes"
"""The job that tries other protections after a verdict that is not acceptable."""

PROGRESS = {
    "protect": mark("Making the release"),
    "design": mark("Designing mechanisms"),
    "audit": mark("Attacking the release"),
    "count": mark("Reading and counting the columns"),
    "game": mark("Comparing releases against every attacker"),
    "certify": mark("Running the audit again for the certificate"),
}
"""Command -> its progress."""


def find_next_step(project: Project) -> str:
    """Return the first open step that is not done, or the last open one."""
    steps = [step for step in find_workflow(project.document).list_steps(project) if step.is_open]
    return next((step.name for step in steps if not step.is_done), steps[-1].name)


def hash_document(document: Mapping[str, Any]) -> str:
    """Return a digest of a document, which detects a change by another window."""
    return hashlib.sha256(json.dumps(document, sort_keys=True, default=str).encode()).hexdigest()[:16]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["html"] = Markup
    environment.filters["grouped"] = group
    environment.globals |= {"_": gettext, "ngettext": ngettext, "again": retranslate}
    environment.filters["again"] = retranslate
    environment.filters["share"] = lambda text: percent(float(text)) if text else "\u2013"
    return environment


def render_screen(step: Step | None, project: Project, values: Mapping[str, Any], language: Language = "en") -> str:
    """Return a screen as HTML; without a step the page of a problem."""

    def say(message: str) -> str:
        with use_language(language):
            return gettext(message)

    workflow = find_workflow(project.document)
    name = step.name if step else "problem"
    template = values.get("template") or (f"{workflow.word}_{name}" if name in workflow.forms else name)
    layout = {
        "screen": name,
        "steps": list(workflow.list_steps(project)),
        "about": say(mark("attack a release before you share it")) if project.file is None else project.file.name,
        "language": language,
        "say": say,
        "busy": None,
        "commands": (),
    }
    text = _environment().get_template(f"{template}.html.j2").render(**{**layout, **values})
    return "\n".join(map(visible, text.split("\n")))


# --- jobs -------------------------------------------------------------------------------------------------------------


def describe_progress(project: Project, job: Job) -> str:
    """Return the progress of a job in words."""
    command = job.commands[job.position]
    if job.name == CHANGES:
        return gettext("Trying other protections, for the next steps")
    if "--targets" in command:
        n_people = int(command[command.index("--targets") + 1])
        return gettext("Attacking {n} people drawn at random; all people follow", n=n_people)
    if command[0] == "game":
        from unmask.studies.reading import read_plan

        position = sum(line.startswith("pricing ") for line in project.jobs.logs.get(job.name, ()))
        n_releases = len(read_plan(project.folder / files.GAME).protections)
        message = mark("Comparing releases against every attacker: {n} of {total} releases")
        return gettext(message, n=position, total=n_releases)
    if command[0] == "study":
        from unmask.app.tried_releases import count_cells

        n_finished, n_cells = count_cells(project)
        return gettext("{n} of {total} attacks on releases finished", n=n_finished, total=n_cells)
    return gettext(PROGRESS[command[0]])


def show_progress(project: Project, job: Job | None) -> dict[str, str] | None:
    """Return the progress of a running job for a template, with the address of its events."""
    if job is None or job.state != "running":
        return None
    events = f"/events/{job.name}?version={job.version}"
    return {"name": job.name, "progress": describe_progress(project, job), "events": events}


# --- pages of reports -------------------------------------------------------------------------------------------------


def read_report_body(project: Project, name: str = files.REPORT) -> str:
    """Return the body of a report, as part of the main element of a screen."""
    text = (project.folder / name).read_text(encoding="utf-8")
    body = text.partition("<body>")[2].rpartition("<script>")[0]  # the screen loads the script as a file
    return re.sub(r"<main( lang=\"en\")?>", r"<div\1>", body).replace("</main>", "</div>")


def read_report_style(project: Project) -> str:
    """Return the style of reports, which is the same for all, restricted to elements in `.report`."""
    pages = [path for name in (files.REPORT, files.GAME_PAGE) if (path := project.folder / name).exists()]
    text = pages[0].read_text(encoding="utf-8") if pages else ""
    style = text.partition("<style>")[2].partition("</style>")[0]
    rules = "\n".join(_nest_rule(line) for line in style.splitlines() if not line.startswith("@page"))
    return f".report {{\n{rules}\n}}\n"


def _nest_rule(line: str) -> str:
    """Return a rule for the page as a rule for the report."""
    rule = line.lstrip()
    indent = line[: len(line) - len(rule)]
    for selector in (":root ", "body "):
        if rule.startswith(selector):
            return f"{indent}& {rule.removeprefix(selector)}"
    return line
