"""Step 3: who attacks and what they know, and the policy that says what is acceptable; each card is a few keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unmask.app.forms import number, share
from unmask.app.jobs import shown
from unmask.app.judging import policies, take_policy
from unmask.app.project import ORIGIN, RELEASE, Project
from unmask.core.errors import UnmaskError
from unmask.document import by_role
from unmask.economics import read_attacker
from unmask.economics.profile import EMBEDDED, attacker_table, write_attacker
from unmask.policy.policies import parse_policy

STANDARD = ("all columns", "insider", "learner", "order")
"""The standard adversaries that can be turned off."""

COLLEAGUE = "colleague"

ATTACKER = "attacker.toml"

PRICES = {
    "gain": "A re-identified person is worth", "access_cost": "To get the release costs",
    "exploit_cost": "An attempt costs", "fine": "The fine, if they are caught",
}  # fmt: skip
"""Parameter of the rational attacker -> the words for it."""


def show(project: Project, _query: Mapping[str, str]) -> dict[str, Any]:
    """A card for each adversary, and the policies."""
    given = project.given
    roles, audit = by_role(given["columns"]), given.get("audit", {})
    attacker = str(audit.get("attacker", ""))
    table = attacker_table(_place(project, attacker) if attacker else EMBEDDED)
    parts = given.get("linkability", {}).get("parts", [[], []])
    colleague = next((one for one in given.get("adversaries", []) if one.get("name") == COLLEAGUE), None)
    return {
        "quasi": roles["quasi_identifiers"],
        "sensitive": roles.get("sensitive", []),
        "kept": roles.get("keep", []),
        "register": given.get("register", {}),
        "hold_back": given["data"].get("hold_back"),
        "control": given.get("control", {}).get("file", ""),
        "parts": {name: at for at, part in enumerate(parts) for name in part},
        "linked": "linkability" in given,
        "off": audit.get("without", []),
        "attacker": attacker,
        "prices": {key: (words, f"{table.get(key, 0):g}") for key, words in PRICES.items()},
        "colleague": None if colleague is None else 100 * colleague.get("knows", {}).get("error", 0.1),
        "targets": audit.get("targets"),
        **policies(given, project.folder),
        "commands": (shown(["audit", "unmask.toml", "--report", "report.html"]),),
    }


def _place(project: Project, attacker: str) -> str | Path:
    return attacker if attacker == EMBEDDED else project.folder / attacker


def take(project: Project, form: Mapping[str, Any]) -> str:
    """Keep who attacks, and the policy."""
    before = project.given
    given: dict[str, Any] = dict(before)
    for card in (_register, _control, _parts, _attacker, _standard, _colleague):
        card(project, form, given)
    take_policy(form, given)
    given["releases"] = [{"file": RELEASE, "origin": ORIGIN}]
    parse_policy(given, project.folder, title="own")
    project.save(given)
    return "verdict" if form.get("do") == "continue" else "adversaries"


def _register(project: Project, form: Mapping[str, Any], given: dict[str, Any]) -> None:
    old = given.pop("register", {})
    if not form.get("register-on"):
        return
    sent = form.get("register-file")
    file = project.keep(sent.filename, sent.file) if getattr(sent, "filename", "") else old.get("file")  # type: ignore[union-attr]
    if not file:
        raise UnmaskError("the register holder has no register; choose its file, or turn them off")
    from unmask.tables.reading import column_names

    names, wanted = column_names(project.folder / file), by_role(given["columns"])["quasi_identifiers"]
    if not set(names) & set(wanted):
        raise UnmaskError(f"the register has none of {', '.join(wanted)}; name at least one of its columns alike")
    part = share(form, "coverage", "share of people on the list")
    given["register"] = {"file": file, **({"coverage": part} if part != 1 else {})}


def _control(project: Project, form: Mapping[str, Any], given: dict[str, Any]) -> None:
    old, data = given.pop("control", {}), {key: one for key, one in given["data"].items() if key != "hold_back"}
    given["data"] = data
    if not form.get("control-on"):
        return
    sent = form.get("control-file")
    file = project.keep(sent.filename, sent.file) if getattr(sent, "filename", "") else old.get("file")  # type: ignore[union-attr]
    if file:
        given["control"] = {"file": file}
    else:
        given["data"] = {
            **data,
            "hold_back": share(form, "hold_back", "share of people held back"),
        }


def _parts(_project: Project, form: Mapping[str, Any], given: dict[str, Any]) -> None:
    given.pop("linkability", None)
    if not form.get("parts-on"):
        return
    names = by_role(given["columns"])["quasi_identifiers"]
    parts = [[name for at, name in enumerate(names) if form.get(f"part-{at}") == side] for side in ("0", "1")]
    if not all(parts):
        raise UnmaskError("who links two sources has nothing in one of them; give each at least one column")
    given["linkability"] = {"parts": parts}


def _attacker(project: Project, form: Mapping[str, Any], given: dict[str, Any]) -> None:
    audit = {key: one for key, one in given.get("audit", {}).items() if key not in ("attacker", "targets")}
    if targets := number(form, "targets", "number of people attacked", int):
        audit["targets"] = targets
    if form.get("attacker-on"):
        usual, table = attacker_table(EMBEDDED), {}
        for key, words in PRICES.items():
            value = number(form, key, words.lower(), float)
            table[key] = usual.get(key, 0) if value is None else value
        audit["attacker"] = EMBEDDED
        if any(table[key] != usual.get(key, 0) for key in PRICES):
            from dataclasses import replace

            write_attacker(replace(read_attacker(EMBEDDED), **table), project.folder / ATTACKER)
            audit["attacker"] = ATTACKER
    given.pop("audit", None)
    if audit:
        given["audit"] = audit


def _standard(_project: Project, form: Mapping[str, Any], given: dict[str, Any]) -> None:
    """Who is turned off, of those whom the page showed."""
    shown = [name for name in STANDARD if form.get(f"shown {name}")]
    audit, before = dict(given.get("audit", {})), given.get("audit", {}).get("without", [])
    off = [name for name in STANDARD if (not form.get(f"on {name}") if name in shown else name in before)]
    audit.pop("without", None)
    given.pop("audit", None)
    if audit or off:
        given["audit"] = audit | ({"without": off} if off else {})


def _colleague(_project: Project, form: Mapping[str, Any], given: dict[str, Any]) -> None:
    given["adversaries"] = [one for one in given.get("adversaries", []) if one.get("name") != COLLEAGUE]
    if form.get("colleague-on"):
        error = share(form, "error", "share of facts that are wrong")
        one = {"name": COLLEAGUE, "use": "tables.NearestNeighbor", "knows": {"error": error}}
        given["adversaries"] = [*given["adversaries"], one]
