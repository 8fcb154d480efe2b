"""Parts of the first screen as values: the decision, who is at risk, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.languages import mark
from unmask.results.blocks import Fact


@dataclass(frozen=True)
class AtRisk:
    """The people at risk: a figure, the words that explain it, and labeled facts below it."""

    figure: str
    sentence: str
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class Alternative:
    """A release or protection that was compared, with one figure for each heading of the advice.

    Parameters
    ----------
    label : str, optional
        Words for the release, by default its name.
    is_unprotected : bool
        True if it is compared with the others as the release without a protection.
    state : {"", "met", "missed", "untested"}
        State under the policy; by default that of its verdicts.
    finding : str, optional
        Words for the state.
    """

    release: str
    figures: tuple[str, ...]
    label: str = ""
    is_unprotected: bool = False
    state: str = ""
    finding: str = ""


@dataclass(frozen=True)
class Advice:
    """The next step of a reader.

    Parameters
    ----------
    sentence : str
        What the command achieves. It is left out where an alternative is acceptable already.
    command : str
        The command, as typed.
    headings : tuple of str
        Headings of the figures of alternatives.
    alternatives : tuple of Alternative
        Compared releases, the most private first.
    note : str
        Meaning of the figures.
    """

    sentence: str
    command: str = ""
    headings: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class DecisionItem:
    """A line of a decision: a condition of a policy, a dataset, or an attacker.

    Parameters
    ----------
    state : {"met", "missed", "untested"}
        State, as a symbol.
    name, finding : str
        Name, and how far the value is off or why it is unknown.
    value, limit : str
        Value and limit as text.
    source, about : str
        Who sets the limit, and what it is about.
    ratio : float, optional
        Value divided by its limit, which a page draws; nan if it is unknown, None if there is no drawing.
    """

    state: str
    name: str
    finding: str
    value: str
    limit: str
    source: str = ""
    about: str = ""
    ratio: float | None = None


@dataclass(frozen=True)
class Decision:
    """The answer of a first screen without verdicts on releases.

    Parameters
    ----------
    state : {"met", "missed", "untested", "none"}
        State of the answer; "none" without a question.
    answer, sentence : str
        First words, such as "Not acceptable", and the rest of the sentence.
    question : str
        Question that the items answer.
    items : tuple of DecisionItem
        Conditions, datasets or attackers behind the answer.
    paragraphs : tuple of str
        Explanations below the items.
    caption : str
        What the drawings or values of the items are.
    """

    state: str
    answer: str
    sentence: str
    question: str = mark("Is it acceptable?")
    items: tuple[DecisionItem, ...] = ()
    paragraphs: tuple[str, ...] = ()
    caption: str = mark("distance to limit")
