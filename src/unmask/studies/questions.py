"""Inputs of the publisher's game as questions for a controller, a lawyer and a security officer.

Each question has an assumed default answer and documented figures, because only these people know the true answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
    assumed: Any
    anchor: str = ""

    @property
    def table(self) -> str:
        """Return the table in the document."""
        return self.key.partition(".")[0]

    @property
    def name(self) -> str:
        """Return the name in the table."""
        return self.key.partition(".")[2]


QUESTIONS: Final = (
    Question(
        "publisher.benefit", "controller", "What are the unprotected data worth to you?", "amount", 100_000,
        "ARX starts from 1,200 a record; a protection keeps the share of its utility",
    ),
    Question(
        "publisher.loss", "controller", "What does it cost if one person is re-identified, in notices, claims, care?",
        "amount", 500,
        "a leaked record costs 165 USD on average (IBM, Cost of a Data Breach 2023); ARX starts from 300",
    ),
    Question(
        "publisher.penalty", "lawyer", "Which fine would a regulator impose on you?", "amount", 0,
        "at most 20 million EUR or 4 % of turnover (GDPR, article 83(5))",
    ),
    Question(
        "publisher.threshold", "lawyer", "From how many people re-identified on?", "whole", 500,
        "a breach of 500 people is reported at once (HIPAA, 45 CFR 164.408)",
    ),
    Question("publisher.prices", "controller", "What is the most that you could ask for access?", "most", [0, 1_000]),
    Question(
        "publisher.fines", "lawyer", "What is the highest fine by contract that a court would uphold?", "most",
        [0, 50_000], "10,000 in the case study of Xia et al. 2015",
    ),
    Question(
        "attackers.gain", "controller", "What is one re-identified person worth to an attacker?", "range",
        {"from": 10, "to": 500}, "ARX starts from 300; 8,000 in the case study of Xia et al. 2015",
    ),
    Question(
        "attackers.access_cost", "controller", "What do the data cost that they compare with?", "amount", 100,
        "voter lists: 0 to 17,000 USD for each person re-identified, by state (Benitez and Malin 2010)",
    ),
    Question(
        "attackers.exploit_cost", "controller", "What does one try cost them, in work?", "amount", 4,
        "ARX starts from 4; 10 in the case study of Xia et al. 2015",
    ),
    Question(
        "attackers.max_fines", "lawyer", "How often can they be fined before they are shut out?", "whole", 1,
        "an attacker who loses access after the first fine is fined once",
    ),
    Question(
        "attackers.detection", "security officer", "How likely is it that you notice one try?", "share",
        {"from": 0.001, "to": 0.05}, "no measurement exists; 1 % in the case study of Xia et al. 2015",
    ),
    Question(
        "attackers.detection_prior", "security officer",
        "Or, of tries of your own: how many did you notice, and how many not?", "tries", None,
        "attackers do not know either, and learn from every try how likely it is",
    ),
    Question(
        "attackers.false_alarms", "controller", "How likely is it that a wrong person looks right to them?", "part", 0,
        "no measurement exists; at 0 nothing misleads them",
    ),
)  # fmt: skip
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
