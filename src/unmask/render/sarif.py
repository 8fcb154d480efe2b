"""Verdicts as SARIF 2.1.0, which code-scanning services read: a rule for each condition, a result for each not met."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from unmask.findings.verdict_words import format_line, name_line
from unmask.policy.verdict import State
from unmask.version import __version__

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

KINDS: Mapping[State, tuple[str, str]] = {"missed": ("fail", "error"), "untested": ("open", "none")}
"""State of a condition -> `kind` and `level` of its result: what is open has no level, by section 3.27.10."""

Line = Mapping[str, Any]


def sarif(lines: Sequence[Line], place: Callable[[str], str]) -> str:
    """Return the text of a SARIF file.

    lines : of the table `verdicts` of an audit
    place : the path, relative to where the file is read, that stands for a release

    "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", OASIS Standard, 2020.
    """
    rules = {_id(line): _rule(line) for line in lines}
    rule_numbers = {name: number for number, name in enumerate(rules)}
    results = [
        _result(line, rule_numbers[_id(line)], place(line["release"])) for line in lines if line["state"] in KINDS
    ]
    driver = {"name": "unmask", "version": __version__, "rules": list(rules.values())}
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=1, ensure_ascii=False) + "\n"


def message(line: Line) -> str:
    """Return a condition that is not met, as one sentence.

    >>> line = {"release": "r", "name": "k>=11", "state": "missed", "value": 5.0, "limit": 11.0, "unit": "rows"}
    >>> message(line | {"condition": "k>=11", "adversary": "", "target": "", "why": ""})
    'r: k is 5, limit 11.'
    """
    if line["state"] == "untested":
        return f"{line['release']}: {name_line(line)} could not be tested: {line['why']}."
    value, limit = format_line(line)
    subject = ", ".join(filter(None, (line["adversary"], line["target"])))
    return f"{line['release']}: {name_line(line)} is {value}, limit {limit}{f' ({subject})' if subject else ''}."


def _id(line: Line) -> str:
    return f"{line['policy']}/{line['condition']}"


def _rule(line: Line) -> dict[str, Any]:
    source = "; ".join(filter(None, (line["source"], line["purpose"]))) or "no source is given"
    return {
        "id": _id(line),
        "shortDescription": {"text": name_line(line)},
        "fullDescription": {"text": f"{line['condition']} under {line['policy']}: {source}."},
    }


def _result(line: Line, rule: int, path: str) -> dict[str, Any]:
    kind, level = KINDS[line["state"]]
    location = {"artifactLocation": {"uri": quote(path)}, "region": {"startLine": 1}}
    return {
        "ruleId": _id(line),
        "ruleIndex": rule,
        "kind": kind,
        "level": level,
        "message": {"text": message(line)},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"releaseAndCondition/v1": f"{line['release']}/{_id(line)}"},
    }
