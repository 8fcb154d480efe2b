"""The result of an audit as values. Pages, terminal, JSON, data frames and files read nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from unmask.results.blocks import Block, Fact
from unmask.results.distribution import Distribution
from unmask.results.rows import Row
from unmask.results.suppression import write_counts
from unmask.results.table import Table

Value = float | int | str | None
"""Value of a criterion or a loss; None if it was not computed."""


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
    """

    sentence: str
    command: str
    headings: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()


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
    question: str = "Is it acceptable?"
    items: tuple[DecisionItem, ...] = ()
    paragraphs: tuple[str, ...] = ()
    caption: str = "distance to each limit"


@dataclass(frozen=True)
class AuditResult:
    """Measures, tables of facts, and findings of one audit.

    Parameters
    ----------
    title : str
        Heading of the page.
    kind : str
        Kind of the audit, such as "Channel audit".
    command : str
        Command that makes it, such as "audit channel".
    setting : str
        One sentence: who attacks what, and what they know.
    headline : str
        The most important finding, in one or two sentences.
    rows : tuple of Row
        Measures of each adversary on each release.
    tables : tuple of Table
        Facts, in the order of JSON.
    blocks : tuple of Block
        Findings, in the order of the page.
    criteria : mapping
        Release -> criterion -> value, None if it was not computed; policies may set a limit on each number.
    distribution : tuple of Distribution
        Success of adversaries over people.
    unit : str
        Unit of counting, and how it was decided; "" if no people are counted.
    at_risk : AtRisk, optional
        Who is at risk; by default derived from the rows.
    advice : Advice, optional
        What to do next.
    decision : Decision, optional
        Answer of a page that consists of blocks only; without it, verdicts and sections of rows are shown.
    adversaries : mapping of str to str
        Adversary -> words that complete "an adversary who ...".
    preferred_measures : tuple of str
        Measures of `rows` that charts and findings show, the preferred one first; none if blocks say it all.
    described_measures : tuple of str
        Measures that the headline and blocks describe, so that findings of rows leave them out.
    sample_condition : str
        A condition that a policy may set on this kind of audit.
    about_people : bool
        False if targets are cases, such as secrets behind a channel.
    assumptions, cautions : tuple of str
        One sentence each.
    not_run : tuple of (str, str)
        What was left out or failed, and why.
    unprotected : frozenset of str
        Releases before protection, which are compared with the others.
    reproduce : mapping of str to object
        How the result was made: commands, version, digests.
    """

    title: str
    kind: str
    command: str
    setting: str
    headline: str
    rows: tuple[Row, ...]
    tables: tuple[Table, ...] = ()
    blocks: tuple[Block, ...] = ()
    criteria: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    distribution: tuple[Distribution, ...] = ()
    unit: str = ""
    at_risk: AtRisk | None = None
    advice: Advice | None = None
    decision: Decision | None = None
    adversaries: Mapping[str, str] = field(default_factory=dict)
    preferred_measures: tuple[str, ...] = ()
    described_measures: tuple[str, ...] = ()
    sample_condition: str = "k >= 5"
    about_people: bool = True
    assumptions: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    not_run: tuple[tuple[str, str], ...] = ()
    unprotected: frozenset[str] = frozenset({"original"})
    reproduce: Mapping[str, object] = field(default_factory=dict)

    @property
    def tables_by_name(self) -> dict[str, Table]:
        """Return tables by name."""
        return {table.name: table for table in self.tables}

    def table(self, name: str) -> Table:
        """Return the table of this name."""
        return self.tables_by_name[name]

    def sentences(self) -> list[str]:
        """Return the findings of a result without small counts, the most important one first."""
        block_sentences = (block.describe(self.tables_by_name) for block in self.blocks if block.is_finding)
        return [sentence for sentence in (self.headline, *block_sentences) if sentence]

    def without_small(self, smallest_group: int) -> AuditResult:
        """Return the result as it may be shared: without facts about fewer than `smallest_group` people."""
        shared = replace(self, tables=tuple(table.without_small(smallest_group) for table in self.tables))
        return replace(
            shared,
            headline=write_counts(self.headline, smallest_group),
            distribution=tuple(item.without_small(smallest_group) for item in self.distribution),
            blocks=tuple(_write_block(block, shared, smallest_group) for block in self.blocks),
            at_risk=None if self.at_risk is None else _write_risk(self.at_risk, smallest_group),
            advice=None if self.advice is None else _write_advice(self.advice, smallest_group),
        )


def _write_block(block: Block, shared: AuditResult, smallest_group: int) -> Block:
    return replace(
        block,
        sentence=write_counts(block.describe(shared.tables_by_name), smallest_group),
        introduction=write_counts(block.introduction, smallest_group),
        notes=tuple(write_counts(note, smallest_group) for note in block.notes),
        charts=tuple(replace(chart, label=write_counts(chart.label, smallest_group)) for chart in block.charts),
    )


def _write_risk(risk: AtRisk, smallest_group: int) -> AtRisk:
    facts = (replace(fact, text=write_counts(fact.text, smallest_group)) for fact in risk.facts)
    known_facts = tuple(fact for fact in facts if fact.text)
    return AtRisk(write_counts(risk.figure, smallest_group), write_counts(risk.sentence, smallest_group), known_facts)


def _write_advice(advice: Advice, smallest_group: int) -> Advice:
    alternatives = (
        replace(
            alternative,
            label=write_counts(alternative.label, smallest_group),
            figures=tuple(write_counts(figure, smallest_group) for figure in alternative.figures),
        )
        for alternative in advice.alternatives
    )
    return replace(advice, alternatives=tuple(alternatives))
