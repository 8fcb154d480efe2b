"""The policy of a document, as screens show it and forms change it: one that is shipped, or own conditions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from unmask.core.errors import UnmaskError
from unmask.policy import Condition, Policy, Requirement
from unmask.policy.policies import TYPED_SOURCE, parse_policy, read_shipped_policies
from unmask.reports.findings.verdict import called


def policies(given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """What can be chosen, what is, and the own conditions."""
    chosen = _chosen(given)
    return {
        "policies": {name: _lines(policy) for name, policy in read_shipped_policies().items()},
        "policy": chosen,
        "own": _lines(parse_policy(given, folder, title="own")) if chosen == "own" else None,
    }


def _chosen(given: Mapping[str, Any]) -> str:
    entries = given.get("policy", [])
    one = entries[0].get("use") if len(entries) == 1 else None
    return one if one in read_shipped_policies() else "own" if entries else ""


def _lines(policy: Policy) -> dict[str, Any]:
    asked = [(called(one), str(one.require), one.source) for one in policy.requirements]
    return {"title": policy.title, "asked": asked, "control": any(".excess" in text for _, text, _ in asked)}


def take_policy(form: Mapping[str, Any], given: dict[str, Any]) -> None:
    """Keep the policy that was chosen, or the conditions that were written."""
    chosen = str(form.get("policy", ""))
    if chosen in read_shipped_policies():
        given["policy"] = [{"use": chosen}]
    elif entries := _typed(str(form.get("require", ""))):
        given["policy"] = entries
    if not given.get("policy"):
        raise UnmaskError("no policy says what is acceptable; choose one, or write a condition such as k >= 5")


def _typed(text: str) -> list[dict[str, str]]:
    """Conditions, one a line."""
    typed = [Requirement.parse(line) for line in text.splitlines() if line.strip()]
    return [{"require": str(one.require), "source": one.source} for one in typed]


# --- limits: conditions whose bound alone is asked for ----------------------------------------------------------------


def bounds(given: Mapping[str, Any], limits: Collection[str]) -> tuple[dict[str, float], str]:
    """Limit -> its bound, as far as the policy has them; and its other conditions, one a line."""
    found: dict[str, float] = {}
    others = []
    for one in given.get("policy", []):
        start, bound = _split(one.get("require", ""))
        if start in limits and start not in found:
            found[start] = bound
        elif start:
            others.append(f"{one['require']} # {one.get('source') or TYPED_SOURCE}")
    return found, "\n".join(others)


def used(given: Mapping[str, Any], folder: Path, domain: str) -> list[dict[str, Any]]:
    """The policies that are used beside own conditions, as far as they are about a domain."""
    found = (parse_policy({"policy": [one]}, folder, title=str(one["use"])) for one in _uses(given))
    return [_lines(policy.for_domain(domain)) for policy in found]


def _uses(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [one for one in given.get("policy", []) if "use" in one]


def _split(text: str) -> tuple[str, float]:
    """A condition without its bound, and the bound.

    >>> _split("clean_breach.worst <= 0.2")
    ('clean_breach.worst<=', 0.2)
    """
    if not text:
        return "", 0.0
    one = Condition.parse(text)
    return str(one).removesuffix(str(one).rpartition("=")[2]), one.bound


def take_bounds(said: Mapping[str, float | None], text: str, given: dict[str, Any]) -> None:
    """Keep limits with a bound, conditions that were written, and policies that are used.

    What else a document says of a condition, its domain for one, stays.
    """
    before = {_split(one.get("require", ""))[0]: one for one in given.get("policy", [])}
    kept = [
        {"source": TYPED_SOURCE} | before.get(limit, {}) | {"require": f"{limit}{bound:.9g}"}
        for limit, bound in said.items()
        if bound is not None
    ]
    written = [before.get(_split(one["require"])[0], {}) | one for one in _typed(text)]
    given["policy"] = [*_uses(given), *kept, *written]
    if not given["policy"]:
        raise UnmaskError("no policy says what is acceptable; give one limit at least")
