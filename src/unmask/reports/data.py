"""Contents of a report, as frozen values, and the rows that its findings are about."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from unmask.core.errors import UnmaskError
from unmask.policy import Criterion, Policy, Verdict, judge
from unmask.policy.coverage import MIN_COVERAGE
from unmask.policy.verdict import Line
from unmask.reports.facts.found import OTHERS, list_tables
from unmask.reports.words import ADOPTERS, FAILURES, IDENTITY, RARE, letter, lettered, styles_of
from unmask.results import AuditResult, Row
from unmask.results.change import Change
from unmask.results.distribution import Distribution
from unmask.results.preferred_rows import preferred_rows
from unmask.results.result import Value
from unmask.results.rows import ORIGINAL as ORIGINAL
from unmask.results.suppression import FEWEST, hide_few, round_share

MEASURES = "measures"
"""The name of the table of all rows."""

COLUMNS = "all columns"
"""The adversary who knows every released column that is not sensitive."""

PROSECUTOR = "prosecutor"
"""The adversary who knows the quasi-identifiers of people in the table."""

INSIDER = "insider"
"""The adversary who knows the sensitive columns, too, but for the one asked for."""

APART = frozenset({INSIDER})
"""Adversaries who know in advance what others learn. Their rows do not lead the findings, and gates and summaries are
about them only by name.
"""

ORDER = "order"
"""The adversary who reads the order of the rows, and nothing else."""

SEVERAL = "several rows"
"""The adversary who has seen each person several times, and reads which rows are one person's."""

CROSSING = "crossing"
"""The adversary who has all the releases of the same people."""

LIMITS = {"identity": 0.09, "value": 0.5}
"""Success probabilities above which a person is at risk: that of EMA's policy 0070, and more likely than not."""

PROBABILITIES = frozenset({"success_probability", "realized_success"})
"""Measures whose limits are limits for the probability of a person, too."""

GROUPS = frozenset({ADOPTERS, RARE})
"""Targets that are a part of the people; rows about a small part are left out."""

COUNTS = frozenset({"unique_rows", "rows_missing", "rows_excluded"})
"""Criteria that count people of one kind."""

ATTACKED = frozenset({"rational_access"})
"""Measures whose mean is a share of people with something in common."""


@dataclass(frozen=True)
class ReportData:
    """All that a report shows, as values; `unmask.reports.result.Result` has what programs do with them.

    title, who   : heading; one sentence that says who attacks what, knowing what
    unit         : what counts as one person, and how that was decided; "" if no people are counted
    rows         : the measures, of one or several releases (told apart by `Row.release`)
    criteria     : release -> criterion -> value; None is one that was not run
    distribution : people by success probability
    assumptions  : one sentence each
    cautions     : what a reader must know before relying on a figure, a sentence each; said wherever figures are
    not_run      : what was left out or failed, and why; a reason that begins with "failed" is shown as a failure
    reproduce    : version, settings ...: no path, seed or digest, which would depend on the original
    adversaries  : adversary -> words that complete "an adversary who ..."; by default the name in `Row.adversary`
    success      : the measures that findings and charts speak about, the preferred one first
    verdicts     : on each release under each policy, of the figures before few people are left out
    changes      : of a release that is not acceptable, itself first: what other protections would do
    least        : the fewest people that may stand for a cell of a page, see `without_small`
    result       : the result of an audit that has tables and blocks
    """

    title: str
    who: str
    rows: tuple[Row, ...]
    unit: str = ""
    criteria: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    distribution: tuple[Distribution, ...] = ()
    assumptions: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    not_run: tuple[tuple[str, str], ...] = ()
    reproduce: Mapping[str, object] = field(default_factory=dict)
    adversaries: Mapping[str, str] = field(default_factory=dict)
    success: tuple[str, ...] = ("realized_success", "success_probability")
    verdicts: tuple[Verdict, ...] = ()
    changes: tuple[Change, ...] = ()
    least: int = FEWEST
    result: AuditResult | None = None

    @property
    def command(self) -> str:
        """Return the command that prints it."""
        return "report" if self.is_decided else "audit"

    @property
    def is_decided(self) -> bool:
        """Return whether the result has its own decision and blocks, as studies do."""
        return self.result is not None and self.result.decision is not None

    @classmethod
    def of(cls, result: ReportData | AuditResult) -> ReportData:
        """Return the report of a result."""
        if isinstance(result, ReportData):
            return result
        return cls(
            title=result.title,
            who=result.setting,
            rows=result.rows,
            unit=result.unit,
            criteria=result.criteria,
            distribution=result.distribution,
            assumptions=result.assumptions,
            cautions=result.cautions,
            not_run=result.not_run,
            adversaries=result.adversaries,
            success=result.preferred_measures,
            reproduce=result.reproduce,
            result=result,
        )

    def __post_init__(self) -> None:
        """Refuse a report about nothing."""
        if not self.rows and (self.result is None or not self.result.blocks):
            raise UnmaskError("the report has 0 rows, expected at least 1; run an audit first")

    def stated(self) -> Iterator[Row | Criterion]:
        """Yield the items that policies judge: rows and criteria of protected releases.

        A criterion that is a number in one release is yielded for every release.
        """
        yield from (row for row in self.rows if row.release != ORIGINAL)
        criteria_by_release = {name: values for name, values in self.criteria.items() if name != ORIGINAL}
        numbers = {
            name
            for values in criteria_by_release.values()
            for name, value in values.items()
            if isinstance(value, int | float)
        }
        for release, values in criteria_by_release.items():
            for name in (name for name in values if name in numbers):
                value = values[name]
                yield Criterion(release, name, float(value) if isinstance(value, int | float) else math.nan)

    def judged(self, policies: Iterable[Policy]) -> tuple[Verdict, ...]:
        """Return the verdicts of policies on every release."""
        return tuple(
            verdict
            for policy in policies
            for verdict in judge(policy, self.stated(), excluded=APART, not_run=self.not_run)
        )

    def under(self, verdicts: Iterable[Verdict]) -> ReportData:
        """Return the data with verdicts, and with the people above the limits that these set on a probability."""
        all_verdicts = tuple(verdicts)
        conditions = {item.requirement.require for verdict in all_verdicts for item in verdict.assessments}
        limits = {
            condition.bound
            for condition in conditions
            if condition.measure in PROBABILITIES and condition.sign[0] == "<" and condition.bound < 1
        }
        return replace(
            self,
            verdicts=all_verdicts,
            distribution=tuple(distribution.at(sorted(limits)) for distribution in self.distribution),
        )

    def without_small(self) -> ReportData:
        """Return the data without facts about fewer than `least` people; a second call changes nothing.

        Criteria of a release and rates over all people stand as they are: k, the worst-off person and an average are
        what a report is for. What counts the people of one cell does not: a class, a bin, a group of people.
        """
        least, criteria = self.least, self.criteria.items()
        return replace(
            self,
            rows=self.rows if self.is_decided else tuple(_list_shared(self.rows, least)),
            criteria={name: {key: _criterion(key, values[key], least) for key in values} for name, values in criteria},
            changes=tuple(change.without_small(least) for change in self.changes),
            distribution=tuple(item.without_small(least) for item in self.distribution),
            result=None if self.result is None else self.result.without_small(least),
        )

    def for_programs(self) -> ReportData:
        """Return the data without facts about few people, and without the criteria of the original."""
        small = self.without_small()
        protected = {name: values for name, values in small.criteria.items() if name != ORIGINAL}
        return replace(small, criteria=protected)

    def plain_rows(self) -> list[dict[str, Any]]:
        """Return the rows as plain values."""
        return [row.record() for row in self.rows]

    def facts(self) -> Iterator[tuple[str, Any]]:
        """Yield every field that holds facts, by name."""
        yield "about", ({"title": self.title, "who": self.who, "unit": self.unit},)
        yield from ((field_.name, getattr(self, field_.name)) for field_ in fields(self) if field_.name not in OTHERS)
        yield (
            "distribution",
            tuple({k: v for k, v in vars(distribution).items() if k != "each"} for distribution in self.distribution),
        )
        yield "known", tuple({"adversary": name, "knows": words} for name, words in self.adversaries.items())
        yield "verdicts", tuple(_line(line, self.least) for verdict in self.verdicts for line in verdict.lines())

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return facts as tables by name, without the criteria of the original and without empty tables."""
        facts = () if self.result is None else (table for table in self.result.tables if not table.page_only)
        tables = {table.name: list(table.records()) for table in facts}
        criteria = tables.get("criteria", [])
        tables["criteria"] = [record for record in criteria if record["release"] != ORIGINAL]
        return list_tables(self.facts()) | {name: records for name, records in tables.items() if records}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what a program must hand on."""
        return self.cautions


def _list_shared(rows: Iterable[Row], least: int) -> Iterator[Row]:
    """Yield the rows of an audit as they may be shared."""
    return (_row(row, least) for row in rows if row.target not in GROUPS or row.n >= least)


def _row(row: Row, least: int) -> Row:
    drawn, judged = row.n_drawn or 0, row.n_judged or 0
    if 0 < drawn - judged < least:
        row = replace(row, n_judged=drawn if judged >= MIN_COVERAGE * drawn else max(drawn - least, 0))
    if row.measure not in ATTACKED or not math.isfinite(row.posterior):
        return row
    posterior = round_share(row.posterior, row.n, least)
    return replace(row, posterior=posterior, gain=posterior - row.prior, low=None, high=None)


def _line(line: Line, least: int) -> Line:
    """Return a condition of a verdict without a small count."""
    is_small = line.condition.split("<")[0].split(">")[0] in COUNTS and 0 < (line.value or 0) < least
    return replace(line, value=None, times=None) if is_small else line


def _criterion(name: str, value: Value, least: int) -> Value:
    return hide_few(value, least) if name in COUNTS and isinstance(value, int | str) else value


Heads = Mapping[tuple[str, str, str], Row]
"""(release, adversary, target) -> the row of success that findings and charts speak about."""


def headlines(data: ReportData | AuditResult) -> dict[tuple[str, str, str], Row]:
    """Return for each (release, adversary, target) the row of success for findings and charts, in the order of rows.

    It is the first of `data.success` that has a value: realized success where the truth is known, else self-assessed.
    """
    data = ReportData.of(data)
    return preferred_rows((row for row in data.rows if row.status not in FAILURES), data.success)


@dataclass(frozen=True)
class Scope:
    """A report, and what there is to tell apart in it, in the order of first rows.

    page_adversaries : adversaries of the whole page, of a scope with some of its rows
    """

    data: ReportData
    page_adversaries: tuple[str, ...] = ()

    def narrow(self, where: Mapping[str, Any]) -> Scope:
        """Return the scope of the rows with these values, or one of these values for a tuple."""
        values = {name: value if isinstance(value, tuple) else (value,) for name, value in where.items()}
        rows = (row for row in self.data.rows if all(getattr(row, name) in values[name] for name in values))
        return Scope(replace(self.data, rows=tuple(rows)), tuple(self.styles))

    @cached_property
    def heads(self) -> Heads:
        """Return the rows for findings and charts."""
        return headlines(self.data)

    @cached_property
    def releases(self) -> tuple[str, ...]:
        """Return the releases of the rows."""
        return tuple(dict.fromkeys(row.release for row in self.data.rows))

    @cached_property
    def adversaries(self) -> tuple[str, ...]:
        """Return the adversaries of the rows; their position is their letter, color and shape."""
        return tuple(dict.fromkeys(row.adversary for row in self.data.rows))

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """Return the targets of the rows, identity first."""
        targets = dict.fromkeys(row.target for row in self.data.rows)
        return tuple(sorted(targets, key=lambda target: target != IDENTITY))

    @cached_property
    def words(self) -> dict[str, str]:
        """Return for each adversary the words that complete "an adversary who ...", or their name."""
        return {name: self.data.adversaries.get(name, name) for name in self.adversaries}

    @cached_property
    def styles(self) -> dict[str, int]:
        """Return for each adversary the number of its color, shape and letter."""
        return styles_of(self.page_adversaries or self.adversaries)

    def looks(self, names: Iterable[str]) -> dict[str, int]:
        """Return the look of each name: its number on the page, or a free one, also for adversaries without rows."""
        styles = dict(self.styles)
        for name in names:
            styles.setdefault(name, len(styles))
        return styles

    @property
    def protected(self) -> tuple[str, ...]:
        """Return the releases without the original, unless there is only the original."""
        return tuple(name for name in self.releases if name != ORIGINAL) or self.releases

    @cached_property
    def cases(self) -> bool:
        """Return whether the rows are about cases, such as secrets behind a channel, and not about people."""
        result = self.data.result
        return result is not None and not result.about_people and all(row.target != IDENTITY for row in self.data.rows)

    def said(self, text: str) -> str:
        """Return a sentence about people, with "cases" for "people" if the rows are about cases; notes of rows stay
        unchanged.
        """
        if not self.cases or any(row.note and row.note in text for row in self.data.rows):
            return text
        return text.replace("people", "cases").replace("person", "case")

    def subject(self, adversary: str) -> str:
        """Turn "knows age" into "an adversary who knows age"; any other name is kept as a name."""
        words = self.words[adversary]
        is_description = words == adversary or words.startswith(f"{adversary} (")
        completes = not is_description or words.startswith("knows ")
        return f"an adversary who {words}" if completes else f"the adversary {words}"

    def marked(self, adversary: str) -> str:
        """Return the letter and name of an adversary; "" if there is only one."""
        several = len(self.adversaries)
        return lettered(adversary, self.styles[adversary], several) if several > 1 else ""

    def who(self, release: str, adversary: str) -> tuple[str, ...]:
        """Return the cells that identify a row, without columns that have the same value everywhere."""
        letters = (letter(self.styles[adversary]),) if len(self.styles) > 1 else ()
        return (release, *letters) if self._names_releases else letters

    @property
    def _names_releases(self) -> bool:
        """Return whether lines name their release: if there are several, or no letters, or a part of the page."""
        return len(self.releases) > 1 or len(self.styles) == 1 or bool(self.page_adversaries)

    @property
    def who_head(self) -> tuple[str, ...]:
        """Return the heads of the columns of `who`."""
        head = ("Release",) if self._names_releases else ()
        return head + (("Adversary",) if len(self.styles) > 1 else ())
