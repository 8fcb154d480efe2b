"""Step 6: who answers for the release, the certificate, and the files: those that may leave, and the secret ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unmask.app import verdict
from unmask.app.progress import busy_with
from unmask.app.project import AT_RISK, CERTIFICATE, MECHANISM, ORIGIN, PAGE, RELEASE, REPORT, Project
from unmask.data.files import hash_file
from unmask.policy import Condition, Requirement
from unmask.reports.certificate import ASKED
from unmask.reports.findings.verdict import called, with_unit
from unmask.reports.screens.conditions import BOUND
from unmask.toml_text import DOCUMENT

CERTIFY = ("certify", DOCUMENT, "-o", CERTIFICATE, "--force")

FREE = {
    RELEASE: "The release: what may leave",
    MECHANISM: "The mechanism: the probability of each output, for every secret",
    REPORT: "The audit as a page",
    PAGE: "One page to sign; print it, or save it as PDF",
    CERTIFICATE: "The same for whoever checks it: unmask can run it again",
    DOCUMENT: "Everything set here: opened beside your file, it goes on from here",
}

NOT_ACCEPTABLE = {RELEASE: "The release as it was attacked; not acceptable by its policy"}

SECRET = {
    ORIGIN: "Who is behind each row of the release",
    AT_RISK: "Who is at risk, with the reason",
}

OF_NODES = {ORIGIN: "Who is behind each node of the release"}


def show(project: Project, _query: Mapping[str, str]) -> dict[str, Any]:
    """The verdict, the form, and the files that are there."""
    job = project.jobs.find("certificate")
    signed = project.done("certificate") and (project.folder / PAGE).exists()
    if not signed and (job is None or job.state != "running"):
        project.forget(PAGE, CERTIFICATE)
    listed = verdict.lines(project)
    states = [one["state"] for one in listed]
    state = "missed" if "missed" in states else "untested" if "untested" in states or not states else "met"
    return {
        "job": job,
        "signed": signed,
        "busy": busy_with(project, job),
        "state": state,
        "policy": listed[0]["policy"] if listed else "",
        "lines": [_line(one) for one in listed],
        "left": {state: states.count(state) for state in ("missed", "untested")},
        "asked": {key: (words, project.given.get("certificate", {}).get(key, "")) for key, words in ASKED.items()},
        "free": _files(project, FREE | (NOT_ACCEPTABLE if state == "missed" else {}), digests=True),
        "secret": _files(project, SECRET | (OF_NODES if "graph" in project.given else {}), digests=False),
        "commands": ("unmask " + " ".join(CERTIFY[:-1]),),
    }


def _line(one: Mapping[str, Any]) -> dict[str, str]:
    condition = Condition.parse(one["condition"])
    asked = Requirement(condition, "" if one["name"] == one["condition"] else one["name"])
    field, bound = condition.field, BOUND[condition.sign]
    value = "\u2013" if one["value"] is None else with_unit(float(one["value"]), one["unit"], field)
    return {
        "state": one["state"], "name": called(asked), "source": one["source"] or one["why"],
        "value": value, "limit": f"{bound} {with_unit(float(one['limit']), one['unit'], field)}",
    }  # fmt: skip


def _files(project: Project, names: Mapping[str, str], *, digests: bool) -> list[dict[str, str]]:
    found = [(name, words, project.folder / name) for name, words in names.items()]
    return [
        {"name": name, "words": words, "size": _size(path), "sha256": hash_file(path) if digests else ""}
        for name, words, path in found
        if path.is_file()
    ]


def _size(path: Path) -> str:
    n = path.stat().st_size
    return f"{n / 1e6:.1f} MB" if n >= 1e6 else f"{max(n / 1e3, 0.1):,.0f} kB" if n >= 1000 else f"{n} bytes"


def take(project: Project, form: Mapping[str, Any]) -> str:
    """Keep who answers for it, and run the certificate."""
    said = {key: str(form.get(key, "")).strip()[:500] for key in ASKED}
    given = {key: one for key, one in project.given.items() if key != "certificate"}
    kept = {key: one for key, one in said.items() if one}
    project.save({**given, **({"certificate": kept} if kept else {})})
    project.jobs.start("certificate", [CERTIFY], of=project.digest)
    return "sign"
