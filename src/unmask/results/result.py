"""The result of an audit, a study or a game as values. Every renderer reads nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from unmask.core.errors import UnmaskError, nearest
from unmask.results.blocks import Block
from unmask.results.change import CHANGE_COLUMNS, Change
from unmask.results.distribution import DISTRIBUTION_COLUMNS, Distribution
from unmask.results.envelope import as_json
from unmask.results.explanation import Explanation
from unmask.results.first_screen import Advice, AtRisk, Decision
from unmask.results.names import COUNTS, MEASURES
from unmask.results.rows import ORIGINAL, Row
from unmask.results.suppression import (
    FEWEST,
    hide_few,
    suppress_records,
    suppress_rows,
    suppress_small_counts,
    write_counts,
)
from unmask.results.table import Table

if TYPE_CHECKING:
    from unmask.languages import Language
    from unmask.policy import Verdict
    from unmask.render.charts import Figure

Value = float | int | str | None
"""Value of a criterion or a loss; None if it was not computed."""

Records = list[dict[str, Any]]
"""Rows of a table as plain values."""


@dataclass(frozen=True, repr=False)
class Result:
    """Measures, tables of facts, findings and verdicts of an audit, a study or a game.

    Pages, texts, JSON and data frames show it without facts about fewer than `smallest_shown` people.

    Parameters
    ----------
    title : str
        Heading of the page.
    setting : str
        One sentence: who attacks what, and what they know.
    rows : tuple of Row
        Measures of each adversary on each release.
    kind : str
        Kind of the result, such as "Channel audit".
    command : str
        Command that makes it, such as "audit channel".
    headline : str
        The most important finding, in one or two sentences.
    facts : tuple of Table
        Tables of facts, in the order of JSON.
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
    verdicts : tuple of Verdict
        Verdict on each release under each policy, from the figures before small counts are suppressed.
    changes : tuple of Change
        Other protections of a release that is not acceptable, itself first.
    adversaries : mapping of str to str
        Adversary -> words that complete "an adversary who ..."; by default the name in `Row.adversary`.
    preferred_measures : tuple of str
        Measures of `rows` that charts and findings show, the preferred one first; none if blocks say it all.
    described_measures : tuple of str
        Measures that the headline and blocks describe, so findings of rows skip them.
    sample_condition : str
        A condition that a policy may set on this kind of audit.
    about_people : bool
        False if targets are cases, such as secrets behind a channel.
    assumptions, cautions : tuple of str
        One sentence each. Cautions are shown wherever figures are.
    not_run : tuple of (str, str)
        What was left out or failed, and why; a reason that begins with "failed" is shown as a failure.
    unprotected : frozenset of str
        Releases before protection, which are compared with the others.
    reproduce : mapping of str to object
        How the result was made: no path, seed or digest, which would depend on the original.
    smallest_shown : int
        Fewest people that a count may stand for in what is shared.
    is_shared : bool
        True if small counts are suppressed, see `without_small`.
    explainer : callable, optional
        Function of `explain`, for audits that can explain a person.
    """

    title: str
    setting: str
    rows: tuple[Row, ...]
    kind: str = "Audit"
    command: str = "audit"
    headline: str = ""
    facts: tuple[Table, ...] = ()
    blocks: tuple[Block, ...] = ()
    criteria: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    distribution: tuple[Distribution, ...] = ()
    unit: str = ""
    at_risk: AtRisk | None = None
    advice: Advice | None = None
    decision: Decision | None = None
    verdicts: tuple[Verdict, ...] = ()
    changes: tuple[Change, ...] = ()
    adversaries: Mapping[str, str] = field(default_factory=dict)
    preferred_measures: tuple[str, ...] = ("realized_success", "success_probability")
    described_measures: tuple[str, ...] = ()
    sample_condition: str = "k >= 5"
    about_people: bool = True
    assumptions: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    not_run: tuple[tuple[str, str], ...] = ()
    unprotected: frozenset[str] = frozenset({ORIGINAL})
    reproduce: Mapping[str, object] = field(default_factory=dict)
    smallest_shown: int = FEWEST
    is_shared: bool = False
    explainer: Callable[[int, str | None], Explanation] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse a result about nothing."""
        if not (self.rows or self.facts or self.blocks):
            raise UnmaskError("the result has 0 rows, expected at least 1; run an audit first")

    @property
    def facts_by_name(self) -> dict[str, Table]:
        """Return the tables of facts by name."""
        return {table.name: table for table in self.facts}

    def table(self, name: str) -> Table:
        """Return the table of facts of this name."""
        return self.facts_by_name[name]

    def sentences(self) -> list[str]:
        """Return the headline and the findings of blocks, the most important one first."""
        block_sentences = (block.describe(self.facts_by_name) for block in self.blocks if block.is_finding)
        return [sentence for sentence in (self.headline, *block_sentences) if sentence]

    # --- small counts ------------------------------------------------------------------------------------------------

    def without_small(self) -> Result:
        """Return the result as it may be shared: without facts about fewer than `smallest_shown` people.

        Criteria of a release and rates over all people are not changed: k, the most exposed person and an average are
        what a result is for. Counts of a part of the people are suppressed: a class, a bin, a group.
        """
        if self.is_shared:
            return self
        smallest = self.smallest_shown
        shared = replace(
            self,
            rows=tuple(suppress_rows(self.rows, smallest)),
            facts=tuple(suppress_small_counts(table, smallest) for table in self.facts),
            criteria={name: _suppress_counts(values, smallest) for name, values in self.criteria.items()},
            distribution=suppress_records(self.distribution, DISTRIBUTION_COLUMNS, smallest),
            changes=suppress_records(self.changes, CHANGE_COLUMNS, smallest),
            headline=write_counts(self.headline, smallest),
            at_risk=self.at_risk and _write_risk(self.at_risk, smallest),
            advice=self.advice and _write_advice(self.advice, smallest),
            is_shared=True,
        )
        return replace(shared, blocks=tuple(_write_block(block, shared) for block in self.blocks))

    # --- for programs ------------------------------------------------------------------------------------------------

    @property
    def results(self) -> Records:
        """Return the measures: one for each adversary on each release; in a study, on each protected dataset."""
        return [row.record() for row in self.without_small().rows]

    @property
    def tables(self) -> dict[str, Records]:
        """Return the other tables by name: criteria, utility, exposure by columns, and the facts of each domain.

        The tables of a domain are called after it and what they list: `graph_attacks`, `channel_mechanisms`,
        `linkage_guesses`, `price_releases`. Empty tables and the criteria of the original are left out.
        """
        shared = self.without_small()
        facts = {table.name: list(table.records()) for table in shared.facts if not table.page_only}
        if "criteria" in facts:
            facts["criteria"] = [record for record in facts["criteria"] if record["release"] != ORIGINAL]
        general: dict[str, Records] = {
            "about": [{"title": shared.title, "who": shared.setting, "unit": shared.unit}],
            "assumptions": [{"assumption": text} for text in shared.assumptions],
            "changes": [dict(vars(change)) for change in shared.changes],
            "distribution": [
                {name: value for name, value in vars(item).items() if name != "each"} for item in shared.distribution
            ],
            "known": [{"adversary": name, "knows": words} for name, words in shared.adversaries.items()],
            "verdicts": [
                _suppress_condition(vars(line), self.smallest_shown)
                for verdict in shared.verdicts
                for line in verdict.lines()
            ],
        }
        filled = ({name: rows for name, rows in tables.items() if rows} for tables in (general, facts))
        return next(filled) | next(filled)

    def to_frame(self, name: str = MEASURES, *, library: str | None = None) -> Any:
        """Return the measures, or the table of this name, as a data frame.

        library : "pandas", "polars" or "pyarrow"; the one that the program has imported, else one that is installed
        """
        from unmask.data.frames import frame_of_rows

        tables = {MEASURES: self.results, **self.tables}
        if name not in tables:
            raise UnmaskError(f"{name!r} is not a table of this result; {nearest(name, tuple(tables))}")
        return frame_of_rows(tables[name], library=library)

    def to_json(self, command: str = "", *, inputs: Iterable[Mapping[str, Any]] = ()) -> str:
        """Return the result as the JSON that commands print; the arguments are those of `results.envelope`."""
        contents = {"results": self.results, "tables": self.tables, "not_run": self.not_run}
        return as_json(command or self.command, inputs=inputs, warnings=self.cautions, **contents)

    # --- for people --------------------------------------------------------------------------------------------------

    def explain(self, person: int, *, release: str | None = None) -> Explanation:
        """Return why a person is at risk: the columns that single them out, and the belief of each adversary.

        It names a record, so keep it to yourself. Only audits of tables in memory explain people.

        Parameters
        ----------
        person : int
            Row of the original, counted from 0; of the release if there is no original.
        release : str, optional
            Name of the release; the first one by default.

        Returns
        -------
        Explanation
            Text and HTML, with `columns`, `n_records`, `beliefs` and `coarser`.

        Raises
        ------
        UnmaskError
            If the person or the release was not attacked, or the audit is not about rows of a table.
        """
        if self.explainer is None:
            raise UnmaskError(
                f"a result of {self.command!r} has no rows of people to explain; expected an audit of a table in memory"
            )
        return self.explainer(person, release)

    def summary(self) -> str:
        """Return the result in plain language, in at most 25 lines."""
        from unmask.render.summary import summary

        return summary(self)

    @cached_property
    def _charts(self) -> dict[str, Figure]:
        from unmask.render.files import list_charts

        return list_charts(self)

    @property
    def charts(self) -> tuple[str, ...]:
        """Return the names of the charts of the page, in its order."""
        return tuple(self._charts)

    def chart(self, name: str) -> Figure:
        """Return the chart of this name, one of `charts`, or the only one with these words in its name, such as "risk
        slope".
        """
        words = {*name.replace("-", " ").split()}
        matches = [chart for chart in self.charts if words <= set(chart.split("-"))]
        matches = [name] if name in self._charts else matches
        if len(matches) > 1:
            raise UnmaskError(f"{name!r} fits {len(matches)} charts of this result; take one of {', '.join(matches)}")
        if not matches:
            raise UnmaskError(f"{name!r} is not a chart of this result; {nearest(name, self.charts)}")
        return self._charts[matches[0]]

    def to_html(self, *, language: Language = "en") -> str:
        """Return the page, one HTML text without other files.

        language : {"en", "de", "fr", "es"}; language of the first screen
        """
        from unmask.render.page import render

        return render(self, language)

    def _repr_html_(self) -> str:
        """Return the verdict, a small table and one chart, for a notebook; `to_html` is the whole page."""
        from unmask.render.notebook import show

        return show(self)

    def __repr__(self) -> str:
        from unmask.render.terminal import overview

        return overview(self)


def _suppress_counts(criteria: Mapping[str, Value], smallest: int) -> dict[str, Value]:
    return {
        name: hide_few(value, smallest) if name in COUNTS and isinstance(value, int | str) else value
        for name, value in criteria.items()
    }


def _suppress_condition(line: Mapping[str, Any], smallest: int) -> dict[str, Any]:
    """Return a condition of a verdict without a small count."""
    is_small = line["condition"].split("<")[0].split(">")[0] in COUNTS and 0 < (line["value"] or 0) < smallest
    return {**line, "value": None, "times": None} if is_small else dict(line)


def _write_block(block: Block, shared: Result) -> Block:
    def write(text: str) -> str:
        return write_counts(text, shared.smallest_shown)

    return replace(
        block,
        sentence=write(block.describe(shared.facts_by_name)),
        introduction=write(block.introduction),
        notes=tuple(map(write, block.notes)),
        charts=tuple(replace(chart, label=write(chart.label)) for chart in block.charts),
    )


def _write_risk(risk: AtRisk, smallest: int) -> AtRisk:
    facts = (replace(fact, text=write_counts(fact.text, smallest)) for fact in risk.facts)
    known_facts = tuple(fact for fact in facts if fact.text)
    return AtRisk(write_counts(risk.figure, smallest), write_counts(risk.sentence, smallest), known_facts)


def _write_advice(advice: Advice, smallest: int) -> Advice:
    alternatives = (
        replace(
            alternative,
            label=write_counts(alternative.label, smallest),
            figures=tuple(write_counts(figure, smallest) for figure in alternative.figures),
        )
        for alternative in advice.alternatives
    )
    return replace(advice, alternatives=tuple(alternatives))
