"""Say the verdicts of an audit to GitHub Actions: python verdict.py RESULT.json DOCUMENT

An annotation on standard output for each condition that is not met, a table in the summary of the job, and the output
`verdict`: the worst of all releases and policies.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unmask.findings.verdict_words import STATE, describe_outcome, format_line, name_line
from unmask.policy.verdict import combine_states
from unmask.render.sarif import message

LEVELS = {"missed": "error", "untested": "warning"}
"""State of a condition -> the command that annotates a file with it."""

Line = dict[str, Any]


def escaped(text: str, *, within: str = "") -> str:
    """A text as the commands of a workflow take it; within : characters that end a property."""
    for character in ("%", "\r", "\n", *within):
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def annotation(line: Line, path: str) -> str:
    """A condition that is not met, at a file."""
    place, title = (escaped(text, within=":,") for text in (path, f"{line['policy']}: {STATE[line['state']]}"))
    return f"::{LEVELS[line['state']]} file={place},title={title}::{escaped(message(line))}"


def summary(lines: list[Line]) -> Iterator[str]:
    """Each verdict with its conditions, in Markdown."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        groups.setdefault((line["release"], line["policy"]), []).append(line)
    for (release, policy), own in groups.items():
        yield f"### {cell(release)}: {cell(describe_outcome(policy, [line['state'] for line in own]))}\n"
        yield "| | Condition | Value | Limit | Required by |\n|---|---|--:|--:|---|"
        for line in own:
            shown = (STATE[line["state"]], name_line(line), *format_line(line), line["source"] or "–")
            yield f"| {' | '.join(map(cell, shown))} |"
        yield ""


def cell(text: str) -> str:
    """A text that ends no cell and starts no markup."""
    return "".join(f"\\{one}" if one in "\\|`*_<>[]#" else one for one in text.replace("\n", " "))


def main(result: Path, document: str) -> None:
    """Say all of it."""
    lines = json.loads(result.read_text(encoding="utf-8"))["tables"]["verdicts"]
    for line in lines:
        if line["state"] in LEVELS:
            print(annotation(line, document))  # noqa: T201
    said = {
        "GITHUB_STEP_SUMMARY": "\n".join(summary(lines)),
        "GITHUB_OUTPUT": f"verdict={combine_states(states(lines))}",
    }
    for variable, text in said.items():
        with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")


def states(lines: list[Line]) -> list[Any]:
    """The states of all conditions."""
    return [line["state"] for line in lines]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
