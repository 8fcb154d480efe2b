"""Verdicts: results compared with a policy, condition by condition."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Protocol

from unmask.core.errors import UnmaskError, nearest
from unmask.languages import gettext as _
from unmask.measures.registry import CRITERIA, MEASURES, described, realized_by
from unmask.policy.condition import CONTROL_FIELDS, Condition, MeasuredItem
from unmask.policy.coverage import coverage_gap
from unmask.policy.policies import Policy, Requirement
from unmask.results import Result, Row
from unmask.results.names import APART, PROBABILITIES
from unmask.results.rows import ORIGINAL

State = Literal["met", "missed", "untested"]

Outcome = Literal["acceptable", "not acceptable", "not decided"]

CRITERION = "criterion"
"""Scope of a criterion if a measure has the same name."""


@dataclass(frozen=True)
class Criterion:
    """A criterion of a release in the form of a row; nan if it was not run."""

    release: str
    measure: str
    posterior: float
    adversary: str = CRITERION
    target: str = ""


class ReleaseItem(MeasuredItem, Protocol):
    """A result of a release: a row or a criterion."""

    @property
    def release(self) -> str:
        """Name of the release."""


class ItemValue(NamedTuple):
    """A result of a release, and its value in a condition; nan if it is not known."""

    item: ReleaseItem
    value: float


@dataclass(frozen=True)
class Assessment:
    """A requirement, and the results of a release that it is about.

    values : results that the requirement is about, those that break it most first, unknown ones last
    silent_adversaries : adversaries that it is about without a result on the release
    reason : reason why it could not be tested, if no result is known
    realized : realized value of the first result, if the requirement is about an expected one; None otherwise
    """

    requirement: Requirement
    values: tuple[ItemValue, ...]
    silent_adversaries: tuple[str, ...] = ()
    reason: str = ""
    realized: ItemValue | None = None

    @property
    def violations(self) -> tuple[ItemValue, ...]:
        """Return the results that break the requirement.

        If too few people were attacked, only limits for the most exposed person count: more people can only raise it.
        """
        require = self.requirement.require
        broken = (value for value in self.values if not (math.isnan(value.value) or require.holds(value.value)))
        return tuple(value for value in broken if require.field == "worst" or not coverage_gap(require, value.item))

    @property
    def state(self) -> State:
        """Return "missed" if a result breaks the requirement, "met" if all results are known and keep it."""
        if self.violations:
            return "missed"
        return "untested" if self.unknown_reason else "met"

    @property
    def closest(self) -> ItemValue | None:
        """Return the result that breaks the requirement most, or is closest to that; None if none is known."""
        return next((value for value in self.values if not math.isnan(value.value)), None)

    @property
    def ratio(self) -> float | None:
        """Return the ratio of the closest value to its limit, see `limit_ratio`; None if no value is known."""
        return None if self.closest is None else limit_ratio(self.closest.value, self.requirement.require)

    @property
    def interval_end(self) -> float | None:
        """Return the end of an interval on the other side of the limit.

        It belongs to the result closest to the limit if the requirement is met. If it is missed and all results that
        break it might keep it, it is the other end. None if the intervals decide as the values do.
        """
        require, is_upper_limit = self.requirement.require, self.requirement.require.sign[0] == "<"
        if self.state == "met":
            ends = [require.ends(value.item)[is_upper_limit] for value in self.values]
            return next(iter(sorted((end for end in ends if not require.holds(end)), reverse=is_upper_limit)), None)
        ends = [require.ends(value.item)[not is_upper_limit] for value in self.violations]
        return ends[0] if ends and all(map(require.holds, ends)) else None

    @property
    def unit(self) -> str:
        """Return the unit of the values and of the limit."""
        measure = self.requirement.require.measure
        quantity = described(measure) or CRITERIA.get(measure)
        units = (str(item.unit) for item, _ in self.values if isinstance(item, Row))
        return next(units, quantity.unit if quantity else "")

    @property
    def unknown_reason(self) -> str:
        """Return a text about all results that are needed and not known; "" if all are known."""
        unknown = [describe_item(value.item) for value in self.values if math.isnan(value.value)]
        parts = [_("{measures} is not known", measures="; ".join(unknown))] if unknown else []
        silent = ", ".join(self.silent_adversaries)
        parts += [_("{adversaries} has no result", adversaries=silent)] if silent else []
        gaps = (coverage_gap(self.requirement.require, value.item) for value in self.values)
        parts += list(dict.fromkeys(filter(None, gaps)))
        return self.reason or "; ".join(parts) or ("" if self.values else _("this measure was not evaluated"))


def combine_states(states: Collection[State]) -> Outcome:
    """Return the outcome for a release whose conditions are in these states."""
    return "not acceptable" if "missed" in states else "not decided" if "untested" in states else "acceptable"


@dataclass(frozen=True)
class Verdict:
    """A release under a policy."""

    release: str
    policy: Policy
    assessments: tuple[Assessment, ...]

    @property
    def state(self) -> Outcome:
        """Return "acceptable" if all conditions are met, "not decided" if some are untested and none is missed."""
        return combine_states([assessment.state for assessment in self.assessments])

    def lines(self) -> tuple[Line, ...]:
        """Return the conditions as lines of a table."""
        return tuple(to_line(self.release, self.policy, assessment) for assessment in self.assessments)

    def count(self, state: State) -> int:
        """Return the number of conditions in a state."""
        return sum(assessment.state == state for assessment in self.assessments)


@dataclass(frozen=True)
class Line:
    """A condition of a verdict, as a line of a table.

    value  : value that breaks the condition most, or is closest to that; None if none is known
    unit   : unit of the value and of the limit
    times  : value divided by the limit, above 1 if the condition is missed; None if the ratio has no meaning
    adversary, target : those of the value; "" for a criterion
    why    : text about results that are needed and not known
    """

    release: str
    policy: str
    condition: str
    name: str
    state: State
    value: float | None
    limit: float
    unit: str
    times: float | None
    adversary: str
    target: str
    source: str
    purpose: str
    why: str


def to_line(release: str, policy: Policy, assessment: Assessment) -> Line:
    """Return a condition of a verdict as a line of a table."""
    requirement, closest = assessment.requirement, assessment.closest
    item = None if closest is None or isinstance(closest.item, Criterion) else closest.item
    return Line(
        release,
        policy.title,
        str(requirement.require),
        requirement.name or str(requirement.require),
        assessment.state,
        None if closest is None else closest.value,
        requirement.require.bound,
        assessment.unit,
        assessment.ratio,
        item.adversary if item else "",
        item.target if item else "",
        requirement.source,
        requirement.purpose,
        assessment.unknown_reason,
    )


def limit_ratio(value: float, condition: Condition) -> float | None:
    """Return a value divided by its limit, or the limit by the value for a lower limit; None unless both are above 0.

    >>> limit_ratio(0.18, Condition.parse("k <= 0.09")), limit_ratio(4, Condition.parse("k >= 8"))
    (2.0, 2.0)
    """
    if not (value > 0 and condition.bound > 0):
        return None
    return value / condition.bound if condition.sign[0] == "<" else condition.bound / value


def judge(
    policy: Policy,
    results: Iterable[ReleaseItem],
    *,
    excluded: frozenset[str] = frozenset(),
    not_run: Sequence[tuple[str, str]] = (),
) -> tuple[Verdict, ...]:
    """Return a verdict on each release, in the order of the results.

    A condition without a scope is about all adversaries and targets that have its measure, except the `excluded`, who
    know beforehand what others must learn. A condition is met only if all its values are known and all its
    adversaries have a result.

    results : rows and criteria of releases, without those of the table before protection
    not_run : measures that were left out, each with the reason
    """
    items = list(results)
    selections = [_select(requirement, items, excluded, not_run) for requirement in policy.requirements]
    return tuple(
        Verdict(release, policy, tuple(_assess(selection, release, items) for selection in concerned))
        for release in dict.fromkeys(item.release for item in items)
        if (concerned := [selection for selection in selections if selection.concerns(release)])
    )


def judge_result(result: Result, policies: Iterable[Policy]) -> Result:
    """Return a result with its verdicts, and with the people above the limits that these set on a probability."""
    verdicts = tuple(
        verdict
        for policy in policies
        for verdict in judge(policy, list_items(result), excluded=APART, not_run=result.not_run)
    )
    conditions = {item.requirement.require for verdict in verdicts for item in verdict.assessments}
    limits = {
        condition.bound
        for condition in conditions
        if condition.measure in PROBABILITIES and condition.sign[0] == "<" and condition.bound < 1
    }
    distribution = tuple(item.at(sorted(limits)) for item in result.distribution)
    return replace(result, verdicts=verdicts, distribution=distribution)


def list_items(result: Result) -> Iterator[Row | Criterion]:
    """Yield what policies judge: rows and criteria of protected releases.

    A criterion that is a number in one release is yielded for every release.
    """
    yield from (row for row in result.rows if row.release != ORIGINAL)
    criteria = {name: values for name, values in result.criteria.items() if name != ORIGINAL}
    numbers = {name for values in criteria.values() for name, value in values.items() if isinstance(value, int | float)}
    for release, values in criteria.items():
        for name in (name for name in values if name in numbers):
            value = values[name]
            yield Criterion(release, name, float(value) if isinstance(value, int | float) else math.nan)


class _Selection(NamedTuple):
    """A requirement with the results that it is about in all releases, or the reason why it has no results."""

    requirement: Requirement
    items: list[ReleaseItem]
    reason: str

    def concerns(self, release: str) -> bool:
        """Return whether a release is judged; a release without such a criterion, such as a mechanism, is not."""
        has_criterion = any(isinstance(item, Criterion) for item in self.items)
        return not has_criterion or any(item.release == release for item in self.items)


def _select(
    requirement: Requirement,
    items: Sequence[ReleaseItem],
    excluded: frozenset[str],
    not_run: Sequence[tuple[str, str]],
) -> _Selection:
    try:
        condition = requirement.require.resolve(items)
    except UnmaskError as error:
        return _Selection(requirement, [], str(error))
    selected = [
        item for item in items if condition.applies_to(item) and (condition.adversary or item.adversary not in excluded)
    ]
    if (
        not selected
        and condition.field in CONTROL_FIELDS
        and any(map(replace(condition, field=None).applies_to, items))
    ):
        return _Selection(requirement, [], _("needs a control group (--control, --hold-back)"))
    reasons = (reason for name, reason in not_run if condition.measure in re.findall(r"\w+", name))
    reason = _find_obstacle(condition, selected, next(reasons, ""))
    return _Selection(requirement, [] if reason else selected, reason)


def explain_unanswered(condition: Condition, items: Sequence[ReleaseItem]) -> str:
    """Return why none of these items answers a condition; "" if one does."""
    return _select(Requirement(condition), items, frozenset(), ()).reason


def _find_obstacle(condition: Condition, selected: list[ReleaseItem], not_run: str) -> str:
    """Return why a condition cannot be tested on the selected results; "" if it can."""
    kinds = {isinstance(item, Criterion) for item in selected}
    if not kinds:
        reason = not_run or _describe_measure(condition.measure)
        return f"this measure was not evaluated: {reason}" if reason else _("this measure was not evaluated")
    if len(kinds) > 1:
        name = condition.measure
        return f"{name} is a measure and a criterion; write ADVERSARY:{name} or {CRITERION}:{name}"
    if kinds == {True} and condition.field is not None:
        return f"a criterion is one number; leave .{condition.field} out"
    return ""


def _describe_measure(measure: str) -> str:
    """Return the meaning of a measure, or the name that is nearest to an unknown one."""
    quantity = described(measure) or CRITERIA.get(measure)
    if quantity:
        return quantity.meaning
    hint = nearest(measure, [*MEASURES, *CRITERIA])
    return hint if hint.startswith("did") else ""


def describe_item(item: ReleaseItem) -> str:
    """Return the measure of a result, after the adversary and the target unless it is a criterion."""
    names = () if isinstance(item, Criterion) else (item.adversary, item.target)
    return ", ".join((*names, item.measure))


def _assess(selection: _Selection, release: str, items: Sequence[ReleaseItem]) -> Assessment:
    condition = selection.requirement.require
    values = [ItemValue(item, condition.value(item)) for item in selection.items if item.release == release]
    is_upper_limit = condition.sign[0] == "<"  # the higher, the nearer to breaking it
    values.sort(key=lambda value: (math.isnan(value.value), -value.value if is_upper_limit else value.value))
    adversaries = {item.adversary for item in items if item.release == release} | {CRITERION}
    silent = dict.fromkeys(item.adversary for item in selection.items if item.adversary not in adversaries)
    realized = _find_realized(condition, values, items)
    return Assessment(selection.requirement, tuple(values), tuple(silent), selection.reason, realized)


def _find_realized(condition: Condition, values: Sequence[ItemValue], items: Sequence[ReleaseItem]) -> ItemValue | None:
    """Return the realized side of an expected value, on average over the same people."""
    measure = realized_by(condition.measure) if condition.field in (None, "posterior") and values else ""
    if not measure:
        return None
    expected = values[0].item
    key = (expected.release, expected.adversary, expected.target, measure)
    matches = (item for item in items if (item.release, item.adversary, item.target, item.measure) == key)
    return next((ItemValue(item, condition.value(item)) for item in matches), None)
