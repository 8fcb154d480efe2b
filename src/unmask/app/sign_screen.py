"""Last step: the certificate, and the files that may leave and that are secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unmask.app.jobs import format_command
from unmask.app.pages import show_progress
from unmask.app.project import (
    AT_RISK,
    CERTIFICATE,
    CERTIFICATE_PAGE,
    MECHANISM,
    ORIGIN,
    RELEASE,
    REPORT,
    RISKS,
    Project,
)
from unmask.app.verdict_screen import read_verdicts, with_language
from unmask.data.files import hash_file
from unmask.findings.conditions import BOUND
from unmask.findings.verdict_words import STATES, describe_states, format_line, name_line
from unmask.languages import gettext as _
from unmask.languages import localize, mark
from unmask.policy import Condition
from unmask.policy.verdict import combine_states
from unmask.results.names import CERTIFICATE_TEXTS
from unmask.toml_text import DOCUMENT

CERTIFY = ("certify", DOCUMENT, "-o", CERTIFICATE, "--force")

PUBLIC_FILES = {
    RELEASE: mark("The release: this file may leave"),
    MECHANISM: mark("The mechanism: the probability of each output, for every secret"),
    REPORT: mark("The audit as a page"),
    CERTIFICATE_PAGE: mark("One page to sign; print it, or save it as PDF"),
    CERTIFICATE: mark("The certificate for programs: unmask can check it"),
    DOCUMENT: mark("All settings: open it next to your file to continue"),
}

SECRET_FILES = {
    ORIGIN: mark("The person behind each row of the release"),
    AT_RISK: mark("The people at risk, with the reason"),
    RISKS: mark("The risk of each row: class size, individual risk, SUDA score"),
}

RISK_JOB = "risks"
"""The job that writes the risk of each row."""

RISK_COMMAND = ("audit", DOCUMENT, "--risk-file", RISKS, "--no-changes", "--no-steps", "--force")

MAX_TEXT = 500
"""Characters of an answer."""


def show(project: Project, _query: Mapping[str, str]) -> dict[str, Any]:
    """Return the verdict, the form of the certificate, and the files."""
    job = project.jobs.find("certificate")
    is_signed = project.is_done("certificate") and (project.folder / CERTIFICATE_PAGE).exists()
    if not is_signed and (job is None or job.state != "running"):
        project.delete(CERTIFICATE_PAGE, CERTIFICATE)
    risk_job = project.jobs.find(RISK_JOB)
    if not project.is_done(RISK_JOB) and (risk_job is None or risk_job.state != "running"):
        project.delete(RISKS)
    verdicts, answers = read_verdicts(project), project.document.get("certificate", {})
    states = [line["state"] for line in verdicts]
    state = "missed" if "missed" in states else "met" if {*states} == {"met"} else "untested"
    public, secret = dict(PUBLIC_FILES), dict(SECRET_FILES)
    if state == "missed":
        public[RELEASE] = mark("The attacked release; its policy does not accept it")
    if "graph" in project.document:
        secret[ORIGIN] = mark("The person behind each node of the release")
    for name, file in project.hierarchies.items():
        secret[file] = _("The hierarchy of {column}, which {file} names", column=name, file=DOCUMENT)
    is_table = "columns" in project.document
    return {
        "job": job,
        "is_signed": is_signed,
        "busy": show_progress(project, job),
        "risk_job": risk_job if is_table else None,
        "risk_busy": show_progress(project, risk_job),
        "is_table": is_table,
        "state": state,
        "answer": _(STATES[combine_states(states)]),
        "sentence": describe_states(verdicts[0]["policy"], states) if verdicts else "",
        "conditions": [(line, name_line(line), *_format_figures(line)) for line in verdicts],
        "answers": {key: (label, answers.get(key, "")) for key, label in CERTIFICATE_TEXTS.items()},
        "formats_of": RELEASE if is_table else "",
        "public": _list_files(project, public, has_digest=True),
        "secret": _list_files(project, secret, has_digest=False),
        "commands": (format_command(with_language(CERTIFY[:-1])),),
    }


def _format_figures(line: Mapping[str, Any]) -> tuple[str, str]:
    """Return the value and the limit of a condition."""
    value, limit = format_line(line)
    return value, f"{BOUND[Condition.parse(line['condition']).sign]} {limit}"


def _list_files(project: Project, files: Mapping[str, str], *, has_digest: bool) -> list[dict[str, str]]:
    paths = ((project.folder / name, meaning) for name, meaning in files.items())
    return [
        {
            "name": path.name,
            "meaning": meaning,
            "size": _format_size(path.stat().st_size),
            "sha256": hash_file(path) if has_digest else "",
        }
        for path, meaning in paths
        if path.is_file()
    ]


def _format_size(n: int) -> str:
    if n < 1000:
        return _("{n} bytes", n=n)
    return localize(f"{n / 1e6:.1f} MB" if n >= 1e6 else f"{n / 1e3:,.0f} kB")


def submit(project: Project, form: Mapping[str, Any]) -> str:
    """Save the answers and run the certificate, or write the risk of each row."""
    if form.get("do") == "risks":
        project.jobs.start(RISK_JOB, [RISK_COMMAND], digest=project.digest)
        return "sign#secret"
    answers = {key: text for key in CERTIFICATE_TEXTS if (text := str(form.get(key, "")).strip()[:MAX_TEXT])}
    document = {key: value for key, value in project.document.items() if key != "certificate"}
    project.save(document | ({"certificate": answers} if answers else {}))
    project.jobs.start("certificate", [with_language(CERTIFY)], digest=project.digest)
    return "sign"
