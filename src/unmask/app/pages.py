"""How screens are written: the steps, the shell around them, and what they share with the pages of reports."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from unmask.app import project as names
from unmask.app.kind import Step
from unmask.app.kinds import kind_of
from unmask.app.project import Project
from unmask.core.errors import visible
from unmask.toml_text import DOCUMENT

NAMES = ("open", "roles", "adversaries", "verdict", "protect", "game", "sign")
"""Addresses of screens, in their order; what is opened may have no use for one."""

FILES = (
    names.RELEASE, names.ORIGIN, names.AT_RISK, names.REPORT, names.AUDIT, names.CERTIFICATE, names.PAGE,
    DOCUMENT, names.STUDY, names.MECHANISM, names.GAME, names.PRICED, "attacker.toml",
)  # fmt: skip
"""What can be downloaded."""


def first_open(project: Project) -> str:
    """The step to go on with: the first that is not done, or the last that can be shown."""
    shown = [step for step in kind_of(project.given).steps if step.is_open(project)]
    return next((step.name for step in shown if not step.is_done(project)), shown[-1].name)


def digest(given: Mapping[str, Any]) -> str:
    """Of a document, to see whether it is still the same."""
    return hashlib.sha256(json.dumps(given, sort_keys=True, default=str).encode()).hexdigest()[:16]


@cache
def _environment() -> Environment:
    folder = Path(__file__).parent / "templates"
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters["drawing"] = Markup
    made.filters["grouped"] = lambda number: f"{number:,}"
    return made


def page(step: Step | None, project: Project, values: Mapping[str, Any]) -> str:
    """A screen as HTML; without a step that of a problem."""
    steps = [(one, one.is_open(project), one.is_done(project)) for one in kind_of(project.given).steps]
    name, template = (step.name, step.template) if step else ("problem", "problem")
    shell = {"screen": name, "steps": steps, "about": _about(project), "busy": None, "commands": ()}
    text = _environment().get_template(f"{template}.html.j2").render(**{**shell, **values})
    return "\n".join(map(visible, text.split("\n")))


def problem(project: Project, message: str, form: str) -> str:
    """A page that says what went wrong."""
    return page(None, project, {"message": message, "form": form, "of": ""})


def _about(project: Project) -> str:
    return "a release is attacked before it leaves" if project.file is None else project.file.name


# --- the page of a report inside the shell ----------------------------------------------------------------------------


def report_body(project: Project, name: str = names.REPORT) -> str:
    """What stands on the page of the audit, or of another command, as it wrote it."""
    text = (project.folder / name).read_text(encoding="utf-8")
    body = text.partition("<body>")[2].rpartition("<script>")[0]  # which this page has as a file of its own
    return body.replace("<main>", "<div>").replace("</main>", "</div>")  # it is a part of the main of this page


def report_style(project: Project) -> str:
    """The style of such a page, the same on all, for what is inside `.report` alone."""
    written = [path for name in (names.REPORT, names.GAME) if (path := project.folder / name).exists()]
    text = written[0].read_text(encoding="utf-8") if written else ""
    style = text.partition("<style>")[2].partition("</style>")[0]
    inside = "\n".join(_inside(line) for line in style.splitlines() if not line.startswith("@page"))
    return f".report {{\n{inside}\n}}\n"


def _inside(line: str) -> str:
    """A rule for the page as a rule for a part of one."""
    start = line[: len(line) - len(line.lstrip())]
    rest = line.lstrip()
    for whole in (":root", "body"):
        if rest.startswith(f"{whole} "):
            rest = f"&{rest.removeprefix(whole)}"
    return start + rest
