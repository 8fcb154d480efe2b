"""Step 3 of tables: the adversaries, what they know, and the policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from unmask.app.fields import Field, get_value, read_field, read_number, read_percent, show_field
from unmask.app.jobs import format_command
from unmask.app.policy_form import show_policies, submit_policy
from unmask.app.project import ORIGIN, RELEASE, REPORT, Project
from unmask.core.errors import UnmaskError
from unmask.document import group_by_role
from unmask.economics import read_attacker
from unmask.economics.profile import EMBEDDED, attacker_table, write_attacker
from unmask.policy.policies import parse_policy
from unmask.toml_text import DOCUMENT

OPTIONAL = ("acquaintance", "insider", "modeler", "order reader")
"""Standard adversaries that can be turned off."""

MATCHER = "matcher"

MATCHER_ERROR = 0.1
"""Share of wrong facts of a new matcher."""

HOLD_BACK = 0.2
"""Share of people of a new control group."""

ATTACKER = "attacker.toml"

PRICES = {
    "gain": "Worth of one re-identified person", "access_cost": "Cost of access to the data",
    "exploit_cost": "Cost of an attempt", "fine": "Fine for a detected attempt",
}  # fmt: skip
"""Parameter of the rational attacker -> its label."""

REGISTER, COVERAGE = Field("register.file", "List, with columns named as here", "file"), Field("register.coverage")
CONTROL = Field("control.file", "Or a file of similar people who are not in the table", "file")
HELD_BACK = Field("data.hold_back", "Random share of people in the control group", default=lambda _: HOLD_BACK)
TARGETS = Field("audit.targets")


def show(project: Project, _query: Mapping[str, str]) -> dict[str, Any]:
    """Return a card for each adversary, and the policies."""
    document = project.document
    roles, attacker = group_by_role(document["columns"]), get_value(document, "audit.attacker") or ""
    prices = attacker_table(EMBEDDED if attacker in ("", EMBEDDED) else project.folder / attacker)
    parts = document.get("linkability", {}).get("parts", [[], []])
    matcher = _find_matcher(document)
    return {
        "quasi_identifiers": roles["quasi_identifiers"],
        "sensitive": roles.get("sensitive", []),
        "unchanged": roles.get("keep", []),
        "fields": {
            field.key: show_field(project, field) for field in (REGISTER, COVERAGE, CONTROL, HELD_BACK, TARGETS)
        },
        "active": {
            "register": "register" in document,
            "control": "control" in document or bool(get_value(document, "data.hold_back")),
            "parts": "linkability" in document,
            "attacker": bool(attacker),
            "matcher": matcher is not None,
        },
        "parts": {name: index for index, part in enumerate(parts) for name in part},
        "disabled": get_value(document, "audit.without") or (),
        "prices": {key: (label, f"{prices.get(key, 0):g}") for key, label in PRICES.items()},
        "error": f"{100 * (matcher or {}).get('error', MATCHER_ERROR):.9g}",
        **show_policies(document, project.folder),
        "commands": (format_command(["audit", DOCUMENT, "--report", REPORT]),),
    }


def _find_matcher(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the knowledge of the matcher; None if they are off."""
    entries = document.get("adversaries", [])
    return next((entry.get("knows", {}) for entry in entries if entry.get("name") == MATCHER), None)


# --- forms ------------------------------------------------------------------------------------------------------------


def submit(project: Project, form: Mapping[str, Any]) -> str:
    """Save the adversaries and the policy."""
    previous = project.document
    replaced = ("register", "control", "linkability", "audit")
    document = {key: value for key, value in previous.items() if key not in replaced}
    document["data"] = {key: value for key, value in previous["data"].items() if key != "hold_back"}
    if form.get("register-on"):
        document["register"] = _read_register(project, form)
    if form.get("control-on"):
        _read_control(project, form, document)
    if form.get("parts-on"):
        document["linkability"] = {"parts": _read_parts(form, group_by_role(previous["columns"])["quasi_identifiers"])}
    if audit := _read_audit(project, form):
        document["audit"] = audit
    document["adversaries"] = _read_study_adversaries(form, previous)
    submit_policy(form, document)
    document["releases"] = [{"file": RELEASE, "origin": ORIGIN}]
    parse_policy(document, project.folder, title="own")
    project.save({key: document[key] for key in (*previous, *document) if key in document})
    return "verdict" if form.get("do") == "continue" else "adversaries"


def _read_register(project: Project, form: Mapping[str, Any]) -> dict[str, Any]:
    from unmask.tables.reading import column_names

    quasi = group_by_role(project.document["columns"])["quasi_identifiers"]
    file = read_field(project, REGISTER, form, get_value(project.document, REGISTER.key))
    if not file:
        raise UnmaskError("the journalist has no register; choose its file, or turn them off")
    if not set(column_names(project.folder / file)) & set(quasi):
        raise UnmaskError(f"the register has none of {', '.join(quasi)}; name at least one of its columns alike")
    coverage = read_field(project, COVERAGE, form, None)
    return {"file": file, **({"coverage": coverage} if coverage not in (None, 1) else {})}


def _read_control(project: Project, form: Mapping[str, Any], document: dict[str, Any]) -> None:
    """Put the control group into the document: a file, or a share of people."""
    if file := read_field(project, CONTROL, form, get_value(project.document, CONTROL.key)):
        document["control"] = {"file": file}
    else:
        share = read_field(project, HELD_BACK, form, None)
        if share is None:
            raise UnmaskError("the member tester has no control group; give a percentage of people, or a file")
        document["data"] = {**document["data"], "hold_back": share}


def _read_parts(form: Mapping[str, Any], names: list[str]) -> list[list[str]]:
    """Return the columns of both sources."""
    parts = [[name for index, name in enumerate(names) if form.get(f"part-{index}") == side] for side in "01"]
    if not all(parts):
        raise UnmaskError("one of the two sources has no column; give each at least one")
    return parts


def _read_audit(project: Project, form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the audit: targets, rational attacker, and adversaries that are turned off."""
    previous = project.document.get("audit", {})
    audit = {key: value for key, value in previous.items() if key not in ("attacker", "targets", "without")}
    if targets := read_field(project, TARGETS, form, None):
        audit["targets"] = targets
    if form.get("attacker-on"):
        audit["attacker"] = _save_attacker(project, form)
    disabled = [
        name
        for name in OPTIONAL
        if (not form.get(f"on {name}") if form.get(f"shown {name}") else name in previous.get("without", []))
    ]
    return audit | ({"without": disabled} if disabled else {})


def _save_attacker(project: Project, form: Mapping[str, Any]) -> str:
    """Return the embedded attacker, or write a file for other prices and return its name."""
    embedded = attacker_table(EMBEDDED)
    typed = {key: read_number(form, key, label) for key, label in PRICES.items()}
    prices = {key: embedded.get(key, 0) if value is None else value for key, value in typed.items()}
    if all(price == embedded.get(key, 0) for key, price in prices.items()):
        return EMBEDDED
    write_attacker(replace(read_attacker(EMBEDDED), **prices), project.folder / ATTACKER)
    return ATTACKER


def _read_study_adversaries(form: Mapping[str, Any], document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the adversaries of studies, with the matcher if they are on."""
    adversaries = [entry for entry in document.get("adversaries", []) if entry.get("name") != MATCHER]
    if form.get("matcher-on"):
        error = read_percent(form, "error", "share of wrong facts")
        knows = {"error": MATCHER_ERROR if error is None else error}
        adversaries.append({"name": MATCHER, "use": "tables.NearestNeighbor", "knows": knows})
    return adversaries
