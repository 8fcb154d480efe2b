"""Inputs of the publisher's game as questions for a controller, a lawyer and a security officer.

Each question has an assumed default answer and documented figures, because only these people know the true answer.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from unmask.toml_text import format_value

Holds = Literal["amount", "most", "range", "whole", "share", "part", "tries"]
"""Kind of an answer: amount; maximum of a range from 0; range; whole number; range of shares; single share; or numbers
of tries noticed and not noticed.
"""


@dataclass(frozen=True)
class Question:
    """One input of the game.

    key     : table in the document and name in the table, such as publisher.loss
    role    : role of the person who can answer
    anchor  : documented figures with their source; "" without any
    assumed : default answer, in the form of the document; None for an optional question
    """

    key: str
    role: str
    asks: str
    holds: Holds
    assumed: Any = None
    anchor: str = ""

    @property
    def table(self) -> str:
        """Return the table in the document."""
        return self.key.partition(".")[0]

    @property
    def name(self) -> str:
        """Return the name in the table."""
        return self.key.partition(".")[2]


QUESTIONS: Final = tuple(
    Question(**question)
    for question in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["question"]
)
"""Questions in the order of the document; questions about attackers concern the first kind."""

REPLACED_BY: Final = {"attackers.detection": "detection_prior"}
"""Question -> the question whose answer replaces it."""

EXAMPLE_TRIES: Final = [1, 19]
"""Example in a document: numbers of tries noticed and not noticed."""

ATTACKER: Final = "broker"
"""Name of the first kind of attackers in a document without attackers."""


def describe_assumption(question: Question) -> str:
    """Return the note of an answer: it is assumed, and documented figures."""
    if question.assumed is None:
        return f"In place of the answer above; {question.anchor}."
    return f"Assumed; {question.anchor}." if question.anchor else "Assumed; nothing is documented."


def list_question_lines() -> Iterator[str]:
    """Yield the questions as lines of a document, with their default answers."""
    yield "[publisher]"
    for place, question in enumerate(QUESTIONS):
        if question.table == "attackers" and QUESTIONS[place - 1].table != "attackers":
            yield from ("", "[[attackers]]", f'name = "{ATTACKER}"')
        yield f"# {question.role.capitalize()}: {question.asks}"
        yield f"# {describe_assumption(question)}"
        is_optional = question.assumed is None
        value = EXAMPLE_TRIES if is_optional else format_value(question.assumed)
        yield f"{'# ' * is_optional}{question.name} = {value}"


def answer(document: Mapping[str, Any], question: Question) -> Any:
    """Return the answer in a document, otherwise the default; None without both, or if another answer replaces it."""
    table = document.get(question.table, {})
    section = table[0] if isinstance(table, list) and table else table
    if not isinstance(section, dict):
        return question.assumed
    return section.get(question.name, None if REPLACED_BY.get(question.key) in section else question.assumed)
