"""How screens are written: the steps, the shell around them, and what they share with the pages of reports."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from unmask.app import project as names
from unmask.app.project import Project
from unmask.document import by_role
from unmask.errors import visible
from unmask.toml_text import DOCUMENT


@dataclass(frozen=True)
class Step:
    """A screen: its address, its title in the row of steps, its module, and when there is anything to show."""

    name: str
    title: str
    module: str
    is_open: Callable[[Project], bool]
    is_done: Callable[[Project], bool]


def has_file(project: Project) -> bool:
    """Whether a table was opened."""
    return project.file is not None


def has_roles(project: Project) -> bool:
    """Whether the columns have roles, one of which an outsider may know."""
    given = project.given
    return bool(given.get("data")) and bool(by_role(given.get("columns", {})).get("quasi_identifiers"))


def has_policy(project: Project) -> bool:
    """Whether it is said who attacks what is released, and what is acceptable."""
    return has_roles(project) and bool(project.given.get("releases")) and bool(project.given.get("policy"))


def has_study(project: Project) -> bool:
    """Whether protections were tried."""
    return has_policy(project) and (project.folder / names.STUDIED).exists()


def has_release(project: Project) -> bool:
    """Whether there is a release of what the document says now, and a verdict on it."""
    return project.done("verdict") and (project.folder / names.RELEASE).exists()


STEPS = (
    Step("open", "Open", "opening", lambda _: True, has_file),
    Step("roles", "Roles", "roles", has_file, has_roles),
    Step("adversaries", "Adversaries", "adversaries", has_roles, has_policy),
    Step("verdict", "Verdict", "verdict", has_policy, has_release),
    Step("protect", "Protect", "protecting", has_policy, has_study),
    Step("sign", "Sign", "signing", has_release, lambda p: p.done("certificate")),
)
"""The way from a file to a signed release."""

FILES = (
    names.RELEASE, names.ORIGIN, names.AT_RISK, names.REPORT, names.AUDIT, names.CERTIFICATE, names.PAGE,
    DOCUMENT, names.STUDY, "attacker.toml",
)  # fmt: skip
"""What can be downloaded."""


def first_open(project: Project) -> str:
    """The step to go on with: the first that is not done, or the last that can be shown."""
    shown = [step for step in STEPS if step.is_open(project)]
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


def page(name: str, project: Project, values: Mapping[str, Any]) -> str:
    """A screen as HTML."""
    steps = [(step, step.is_open(project), step.is_done(project)) for step in STEPS]
    shell = {"screen": name, "steps": steps, "about": _about(project), "busy": None, "commands": ()}
    text = _environment().get_template(f"{name}.html.j2").render(**{**shell, **values})
    return "\n".join(map(visible, text.split("\n")))


def problem(project: Project, message: str, form: str) -> str:
    """A page that says what went wrong."""
    return page("problem", project, {"message": message, "form": form, "of": ""})


def _about(project: Project) -> str:
    return "a release is attacked before it leaves" if project.file is None else project.file.name


# --- the page of a report inside the shell ----------------------------------------------------------------------------


def report_body(project: Project) -> str:
    """What stands on the page of the audit, as the command wrote it."""
    text = (project.folder / names.REPORT).read_text(encoding="utf-8")
    body = text.partition("<body>")[2].rpartition("<script>")[0]  # which this page has as a file of its own
    return body.replace("<main>", "<div>").replace("</main>", "</div>")  # it is a part of the main of this page


def report_style(project: Project) -> str:
    """The style of that page, for what is inside `.report` alone."""
    path = project.folder / names.REPORT
    text = path.read_text(encoding="utf-8") if path.exists() else ""
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
