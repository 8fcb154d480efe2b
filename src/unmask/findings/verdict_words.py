"""Verdicts in words: one sentence for a policy, a name and a distance for each of its conditions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from unmask.findings.row_words import row_value
from unmask.measures.registry import CRITERIA, SHARES, described, realized_by
from unmask.policy import Assessment, Condition, Requirement, Verdict
from unmask.policy.condition import CONTROL_FIELDS
from unmask.policy.verdict import ItemValue, Outcome, State, combine_states, limit_ratio
from unmask.results import Result, Row
from unmask.results.distribution import Distribution
from unmask.results.formats import SPACE, number, percent
from unmask.results.names import APART, IDENTITY, LIMITS, PROBABILITIES
from unmask.results.scope import headlines
from unmask.results.words import join_names, release_name

NO_POLICY = ("No verdict:", "choose a policy.")
"""Words in the place of a verdict: the first ones, and the rest."""

STATES: Final[dict[Outcome, str]] = {
    "acceptable": "Acceptable",
    "not acceptable": "Not acceptable",
    "not decided": "Not decided",
}

STATE: Final[dict[State, str]] = {"met": "met", "missed": "missed", "untested": "not tested"}
"""State of a condition -> words for readers."""

DIFFERENCES = (CONTROL_FIELDS - {"control"}) | {"gain"}
"""Fields that are differences of what a measure is in two cases: of shares they are points."""

OF_FIELD = {
    "worst": "at highest risk",
    "prior": "before the release",
    "gain": "gained",
    "low": "at least",
    "high": "at most",
    "control": "of the control group",
    "excess": "beyond the control group",
    "excess_low": "beyond the control group, at least",
    "excess_high": "beyond the control group, at most",
    "q05": "of the 5 % at lowest risk",
    "q25": "of the quarter at lowest risk",
    "q50": "of the median person",
    "q75": "of the quarter at highest risk",
    "q95": "of the 5 % at highest risk",
}
"""Field of a condition -> the words for it."""


def describe_verdict(verdict: Verdict) -> str:
    """Return the verdict with its policy and its count of conditions, as one sentence."""
    return describe_outcome(verdict.policy.title, [assessment.state for assessment in verdict.assessments])


def describe_outcome(policy: str, states: Sequence[State]) -> str:
    """Return the sentence of a verdict from the states of its conditions.

    >>> describe_outcome("Strict", ["met", "missed", "untested"])
    'Not acceptable under Strict: 1 of 3 conditions is missed.'
    """
    return f"{STATES[combine_states(states)]} {describe_states(policy, states)}"


def describe_conditions(verdict: Verdict) -> str:
    """Return the sentence after its first words, which are the verdict."""
    return describe_states(verdict.policy.title, [assessment.state for assessment in verdict.assessments])


def describe_states(policy: str, states: Sequence[State]) -> str:
    """Return the sentence after its first words, from the states of the conditions."""
    n, missed, untested = len(states), states.count("missed"), states.count("untested")
    if n == 1:
        return f"under {policy}: the only condition is {STATE[states[0]]}."
    if missed:
        return f"under {policy}: {missed:,} of {n:,} conditions {_is(missed)} missed."
    if untested:
        return f"under {policy}: {untested:,} of {n:,} conditions {_is(untested)} not tested."
    return f"under {policy}: all {n:,} conditions are met."


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def combine_verdicts(verdicts: Sequence[Verdict]) -> tuple[Outcome, str]:
    """Return several verdicts as one, and the sentence after its first words."""
    n, bad, undecided = len(verdicts), _count(verdicts, "not acceptable"), _count(verdicts, "not decided")
    titles = list(dict.fromkeys(verdict.policy.title for verdict in verdicts))
    releases = {verdict.release for verdict in verdicts}
    things = "releases" if len(titles) == 1 else "policies" if len(releases) == 1 else "verdicts"
    missed = ("misses a condition", "miss a condition") if things == "releases" else ("is missed", "are missed")
    met = "meet every condition" if things == "releases" else "are met"
    findings = [f"{bad:,} of {n:,} {things} {missed[bad > 1]}"] if bad else []
    if undecided:
        findings.append(f"{undecided:,}{'' if bad else f' of {n:,} {things}'} {_is(undecided)} not decided")
    state: Outcome = "not acceptable" if bad else "not decided" if undecided else "acceptable"
    return state, f"under {join_names(titles)}: {join_names(findings or [f'all {n:,} {things} {met}'])}."


def _count(verdicts: Sequence[Verdict], state: str) -> int:
    return sum(verdict.state == state for verdict in verdicts)


N_LISTED = 4
"""Releases that a sentence lists; the lowest and the highest value stand for more."""


def describe_unjudged(verdicts: Iterable[Verdict], result: Result) -> str:
    """Return a sentence about adversaries of `APART` that no condition is about; "" without them."""
    rows: dict[tuple[str, str], dict[str, Row]] = {}
    heads = headlines(result)
    for verdict in verdicts:
        for pair in sorted(_unjudged_pairs(verdict, result)):
            if row := heads.get((verdict.release, *pair)):
                rows.setdefault(pair, {})[verdict.release] = row
    phrases = [_describe_unjudged(*pair, list(by_release.values())) for pair, by_release in rows.items()]
    return f"Not judged: {'; '.join(phrases)}." if phrases else ""


def _describe_unjudged(adversary: str, target: str, rows: Sequence[Row]) -> str:
    """Return the success of one adversary on the releases."""
    verb = "re-identifies" if target == IDENTITY else f"infers {target} of"
    subject = f"an {adversary}, who also knows sensitive values, {verb}"
    if len(rows) == 1:
        return f"{subject} {row_value(rows[0])}"
    ordered = sorted(rows, key=lambda row: -row.posterior)
    shown = ordered if len(rows) <= N_LISTED else [ordered[-1], ordered[0]]
    values = [f"{row_value(row)} in {release_name(row.release)}" for row in shown]
    return f"{subject} {join_names(values) if shown is ordered else ' to '.join(values)}"


def _unjudged_pairs(verdict: Verdict, result: Result) -> set[tuple[str, str]]:
    """Return the adversaries of `APART`, with their targets, that no condition of a verdict is about."""
    judged_keys = {
        (v.item.adversary, v.item.target, v.item.measure)
        for assessment in verdict.assessments
        for v in assessment.values
    }
    keys = {key[1:] for key in judged_keys if key[2] in PROBABILITIES}
    rows = [row for row in result.rows if row.release == verdict.release and row.adversary in APART]
    pairs = {(row.adversary, row.target) for row in rows if (row.target, row.measure) in keys}
    return pairs - {key[:2] for key in judged_keys}


def find_limit(risk: Distribution, assessments: Iterable[Assessment]) -> tuple[float, str]:
    """Return the probability above which a person is at risk, and its source.

    It is the lowest limit of the policy for the person at highest risk, or else for people on average. Without such a
    limit it is that of EMA policy 0070 for identity, and one half for a value.
    """
    conditions = [
        assessment.requirement.require
        for assessment in assessments
        if any(_target(v) == risk.target for v in assessment.values)
    ]
    upper_limits = [
        condition
        for condition in conditions
        if condition.measure in PROBABILITIES and condition.sign[0] == "<" and condition.bound in risk.above
    ]
    worst = [condition for condition in upper_limits if condition.field == "worst"]
    plain = [condition for condition in upper_limits if condition.field in (None, "posterior", "high")]
    if worst or plain:
        return min(condition.bound for condition in worst or plain), "the policy\u2019s limit"
    if risk.target == IDENTITY:
        return LIMITS["identity"], "the limit of EMA policy 0070"
    return LIMITS["value"], "the default limit"


def _target(value: ItemValue) -> str:
    return value.item.target


def describe_contradiction(assessment: Assessment) -> str:
    """Return the realized value or the interval, if it contradicts the verdict on the value; "" otherwise."""
    if (
        assessment.state == "met"
        and assessment.realized
        and not assessment.requirement.require.holds(assessment.realized.value)
    ):
        return f"expected value met, but {amount(assessment, assessment.realized.value)} realized"
    end = assessment.interval_end
    if end is None:
        return ""
    return f"{'met' if assessment.state == 'met' else 'missed'}, but the interval reaches {amount(assessment, end)}"


def name_requirement(requirement: Requirement) -> str:
    """Return the name of a condition, or the name of its measure."""
    if requirement.name:
        return requirement.name
    condition = requirement.require
    quantity = described(condition.measure) or CRITERIA.get(condition.measure)
    label = (quantity.label if quantity else "") or condition.measure.replace("_", " ")
    side = "Expected" if realized_by(condition.measure) else "Realized" if quantity and quantity.realizes else ""
    label = f"{side} {label[0].lower()}{label[1:]}" if side else label
    words = " ".join(filter(None, (label, OF_FIELD.get(condition.field or ""))))
    return f"{words}, {condition.scope}" if condition.scope else words


def explain_condition(assessment: Assessment) -> str:
    """Return the purpose of a condition; without a name, the meaning of its measure, and n. An expected value is
    followed by the realized one.
    """
    requirement, item = assessment.requirement, assessment.closest.item if assessment.closest else None
    quantity = described(requirement.require.measure) or CRITERIA.get(requirement.require.measure)
    phrases = [
        requirement.purpose or ("" if requirement.name or quantity is None else quantity.meaning.partition(" (")[0])
    ]
    phrases += [f"n{SPACE}={SPACE}{item.n:,}"] if isinstance(item, Row) and not requirement.name else []
    phrases += [f"{amount(assessment, assessment.realized.value)} realized"] if assessment.realized else []
    return "; ".join(filter(None, phrases))


def amount(assessment: Assessment, value: float) -> str:
    """Return a value or a limit of a condition as text."""
    return with_unit(value, assessment.unit, assessment.requirement.require.field)


def with_unit(value: float, unit: str, field: str | None) -> str:
    """Return a value as its measure is written; differences of shares are points.

    >>> with_unit(0.13, "share", "excess").replace(SPACE, " "), with_unit(0.13, "share", None).replace(SPACE, " ")
    ('13.0 points', '13.0 %')
    """
    if unit not in SHARES:
        return number(value)
    if field in DIFFERENCES:
        return f"{number(100 * value, 1)}{SPACE}points"
    return percent(value)


def name_line(line: Mapping[str, Any]) -> str:
    """Return the name of the condition of a line of the table `verdicts`."""
    condition = Condition.parse(line["condition"])
    return name_requirement(Requirement(condition, "" if line["name"] == line["condition"] else line["name"]))


def format_line(line: Mapping[str, Any]) -> tuple[str, str]:
    """Return value and limit of a line of the table `verdicts`; a dash for a small count or an unknown value."""
    field, value = Condition.parse(line["condition"]).field, line["value"]
    value_text = "\u2013" if value is None else with_unit(float(value), line["unit"], field)
    return value_text, with_unit(float(line["limit"]), line["unit"], field)


def describe_distance(assessment: Assessment) -> str:
    """Return how far a missed condition is from its limit; "" if it is not missed."""
    if not assessment.violations:
        return ""
    condition, value = assessment.requirement.require, assessment.violations[0].value
    factor = limit_ratio(value, condition)
    if condition.sign[0] == ">":
        return f"short by {amount(assessment, condition.bound - value)}"
    if factor is None or condition.field in DIFFERENCES or not math.isfinite(factor):
        return f"over by {amount(assessment, value - condition.bound)}"
    return f"{number(factor, 1)} times the limit"
