"""Policies in forms: a shipped policy, or conditions of the document."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from unmask.core.errors import UnmaskError
from unmask.findings.verdict_words import name_requirement
from unmask.policy import Condition, Policy, Requirement
from unmask.policy.policies import TYPED_SOURCE, parse_policy, read_shipped_policies

CONDITIONS = "own"
"""Choice of the form that stands for conditions of the document."""


def name_condition(condition: Condition) -> str:
    """Return the name of a condition for readers."""
    return name_requirement(Requirement(condition))


def show_policies(document: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the shipped policies, the selected one, and the conditions of the document."""
    entries, shipped = document.get("policy", []), read_shipped_policies()
    name = entries[0].get("use") if len(entries) == 1 else None
    selected = name if name in shipped else CONDITIONS if entries else ""
    conditions = parse_policy(document, folder, title=CONDITIONS) if selected == CONDITIONS else None
    return {
        "policies": {name: _show_policy(policy) for name, policy in shipped.items()},
        "policy": selected,
        "own_conditions": _show_policy(conditions) if conditions else None,
    }


def list_used_policies(document: Mapping[str, Any], folder: Path, domain: str) -> list[dict[str, Any]]:
    """Return the conditions on a domain in the policies that a document uses."""
    policies = (parse_policy({"policy": [entry]}, folder, title=entry["use"]) for entry in _list_uses(document))
    return [_show_policy(policy.for_domain(domain)) for policy in policies]


def _show_policy(policy: Policy) -> dict[str, Any]:
    conditions = [(name_requirement(item), str(item.require), item.source) for item in policy.requirements]
    needs_control = any(".excess" in text for _, text, _ in conditions)
    return {"title": policy.title, "conditions": conditions, "needs_control": needs_control}


def submit_policy(form: Mapping[str, Any], document: dict[str, Any]) -> None:
    """Put the selected policy, or the typed conditions, into the document."""
    selected = str(form.get("policy", ""))
    if selected in read_shipped_policies():
        document["policy"] = [{"use": selected}]
    elif entries := _parse_lines(str(form.get("require", ""))):
        document["policy"] = entries
    if not document.get("policy"):
        raise UnmaskError("there is no policy; choose one, or type a condition such as k >= 5")


def _parse_lines(text: str) -> list[dict[str, str]]:
    """Return the conditions in a text, one per line."""
    requirements = [Requirement.parse(line) for line in text.splitlines() if line.strip()]
    return [{"require": str(item.require), "source": item.source} for item in requirements]


# --- limits: conditions with a box for the bound ----------------------------------------------------------------------


def split_policy(document: Mapping[str, Any], limits: Collection[str]) -> tuple[dict[str, float], str]:
    """Return the bound of each limit that the policy has, and its remaining conditions, one per line."""
    bounds: dict[str, float] = {}
    lines = []
    for entry in (entry for entry in document.get("policy", []) if entry.get("require")):
        limit, bound = _split_condition(entry["require"])
        if limit in limits and limit not in bounds:
            bounds[limit] = bound
        else:
            lines.append(f"{entry['require']} # {entry.get('source') or TYPED_SOURCE}")
    return bounds, "\n".join(lines)


def _list_uses(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in document.get("policy", []) if "use" in entry]


def _split_condition(text: str) -> tuple[str, float]:
    """Return a condition without its bound, and the bound.

    >>> _split_condition("clean_breach.worst <= 0.2")
    ('clean_breach.worst<=', 0.2)
    """
    condition = Condition.parse(text)
    return str(condition).removesuffix(str(condition).rpartition("=")[2]), condition.bound


def save_limits(bounds: Mapping[str, float | None], text: str, document: dict[str, Any]) -> None:
    """Put limits with a bound, and typed conditions, into the document; used policies stay.

    Other keys of a condition that the document has, such as its domain, stay.
    """
    entries = (entry for entry in document.get("policy", []) if entry.get("require"))
    previous = {_split_condition(entry["require"])[0]: entry for entry in entries}
    limits = [
        {"source": TYPED_SOURCE} | previous.get(limit, {}) | {"require": f"{limit}{bound:.9g}"}
        for limit, bound in bounds.items()
        if bound is not None
    ]
    typed = [previous.get(_split_condition(entry["require"])[0], {}) | entry for entry in _parse_lines(text)]
    document["policy"] = [*_list_uses(document), *limits, *typed]
    if not document["policy"]:
        raise UnmaskError("there is no policy; give at least one limit")
