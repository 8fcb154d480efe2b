"""What the publisher's game needs to know, as questions that a controller, a lawyer and a security officer can answer.

Nobody but they know the answers: each has a usual value that is assumed, and what is documented about such numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from unmask.toml_text import format_value

Holds = Literal["amount", "most", "range", "whole", "share", "part", "tries"]
"""What an answer is: an amount; the most that may be asked, from 0 on; a range; a whole number; a range of shares; one
share; how many tries were noticed, and how many not.
"""


@dataclass(frozen=True)
class Question:
    """One number of the game.

    key     : its table in the document and its name there, such as publisher.loss
    who     : can answer
    anchor  : what is documented about such numbers, with its source; "" where nothing is
    assumed : the answer that stands in for theirs, as the document says it; None where nothing does
    """

    key: str
    who: str
    asks: str
    holds: Holds
    assumed: Any
    anchor: str = ""

    @property
    def table(self) -> str:
        """Of the document."""
        return self.key.partition(".")[0]

    @property
    def name(self) -> str:
        """In its table."""
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
        "whoever loses access after the first fine is fined once",
    ),
    Question(
        "attackers.detection", "security officer", "How likely is it that you notice one try?", "share",
        {"from": 0.001, "to": 0.05}, "nobody has measured it; 1 % in the case study of Xia et al. 2015",
    ),
    Question(
        "attackers.detection_prior", "security officer",
        "Or, of tries of your own: how many did you notice, and how many not?", "tries", None,
        "attackers do not know either, and learn from every try how likely it is",
    ),
    Question(
        "attackers.false_alarms", "controller", "How likely is it that a wrong person looks right to them?", "part", 0,
        "nobody has measured it; at 0 nothing misleads them",
    ),
)  # fmt: skip
"""In the order in which they are asked; of attackers about the first kind."""

INSTEAD: Final = {"attackers.detection": "detection_prior"}
"""Question -> the answer to another one that takes its place."""

NOTICED: Final = [1, 19]
"""Tries noticed and not, where a document shows how to say it."""

ATTACKER: Final = "broker"
"""Name of the first kind of attackers where a document has none."""


def told(question: Question) -> str:
    """What stands beside an answer: that it is assumed, and what is documented."""
    if question.assumed is None:
        return f"In place of the answer above; {question.anchor}."
    return f"Assumed; {question.anchor}." if question.anchor else "Assumed; nothing is documented."


def asked_lines() -> Iterator[str]:
    """The questions as lines of a document, with the answers assumed."""
    yield "[publisher]"
    for place, one in enumerate(QUESTIONS):
        if one.table == "attackers" and QUESTIONS[place - 1].table != "attackers":
            yield from ("", "[[attackers]]", f'name = "{ATTACKER}"')
        yield f"# {one.who.capitalize()}: {one.asks}"
        yield f"# {told(one)}"
        shown = f"# {one.name} = {NOTICED}" if one.assumed is None else f"{one.name} = {format_value(one.assumed)}"
        yield shown


def answer(given: Mapping[str, Any], question: Question) -> Any:
    """What a document says, or what is assumed where it says nothing; None where nothing is, or another answer is."""
    table = given.get(question.table, {})
    own = table[0] if isinstance(table, list) and table else table
    if not isinstance(own, dict):
        return question.assumed
    return own.get(question.name, None if INSTEAD.get(question.key) in own else question.assumed)
