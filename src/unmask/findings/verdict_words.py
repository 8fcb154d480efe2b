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
from unmask.results.words import listed

NO_POLICY = ("Not judged:", "no policy was given.")
"""Words in the place of a verdict: the first ones, and the rest."""

STATES: Final[dict[Outcome, str]] = {
    "acceptable": "Acceptable",
    "not acceptable": "Not acceptable",
    "not decided": "No verdict",
}

STATE: Final[dict[State, str]] = {"met": "met", "missed": "missed", "untested": "not tested"}
"""State of a condition -> words for readers."""

DIFFERENCES = (CONTROL_FIELDS - {"control"}) | {"gain"}
"""Fields that are differences of what a measure is in two cases: of shares they are points."""

OF_FIELD = {
    "worst": "of the most exposed",
    "prior": "before the release",
    "gain": "gained",
    "low": "at least",
    "high": "at most",
    "control": "of the control group",
    "excess": "beyond the control group",
    "excess_low": "beyond the control group, at least",
    "excess_high": "beyond the control group, at most",
    "q05": "of the best-off 5 %",
    "q25": "of the best-off quarter",
    "q50": "of half of people",
    "q75": "of the most exposed quarter",
    "q95": "of the most exposed 5 %",
}
"""Field of a condition -> the words for it."""


def sentence(verdict: Verdict) -> str:
    """Return the verdict with its policy and its count of conditions, as one sentence."""
    return sentence_of(verdict.policy.title, [one.state for one in verdict.assessments])


def sentence_of(policy: str, states: Sequence[State]) -> str:
    """Return the sentence of a verdict from the states of its conditions.

    >>> sentence_of("Strict", ["met", "missed", "untested"])
    'Not acceptable under Strict: 1 of 3 conditions is missed and 1 could not be tested.'
    """
    return f"{STATES[combine_states(states)]} {rest_of(policy, states)}"


def rest(verdict: Verdict) -> str:
    """Return the sentence after its first words, which are the verdict."""
    return rest_of(verdict.policy.title, [one.state for one in verdict.assessments])


def rest_of(policy: str, states: Sequence[State]) -> str:
    """Return the sentence after its first words, from the states of the conditions."""
    n, missed, untested = len(states), states.count("missed"), states.count("untested")
    if n == 1:
        findings = ["its condition is missed" if missed else "its condition could not be tested" if untested else ""]
    else:
        findings = [f"{missed:,} of {n:,} conditions {'is' if missed == 1 else 'are'} missed"] if missed else []
        findings += [f"{untested:,} could not be tested"] if untested else []
    summary = f"all {n:,} conditions are met" if n > 1 else "its condition is met"
    return f"under {policy}: {listed(findings) if any(findings) else summary}."


def joint(verdicts: Sequence[Verdict]) -> tuple[Outcome, str]:
    """Return several verdicts as one, and the sentence after its first words."""
    n, bad, open_ = len(verdicts), _count(verdicts, "not acceptable"), _count(verdicts, "not decided")
    titles = list(dict.fromkeys(verdict.policy.title for verdict in verdicts))
    releases = {verdict.release for verdict in verdicts}
    things = "releases" if len(titles) == 1 else "policies" if len(releases) == 1 else "verdicts"
    missed = ("misses a condition", "miss a condition") if things == "releases" else ("is missed", "are missed")
    findings = [f"{bad:,} of {n:,} {things} {missed[bad > 1]}"] if bad else []
    findings += [f"{open_:,} could not be decided"] if open_ else []
    state: Outcome = "not acceptable" if bad else "not decided" if open_ else "acceptable"
    return state, f"under {listed(titles)}: {listed(findings or [f'all {n:,} {things} are kept'])}."


def _count(verdicts: Sequence[Verdict], state: str) -> int:
    return sum(verdict.state == state for verdict in verdicts)


def unjudged(verdict: Verdict, result: Result) -> str:
    """Return a sentence about adversaries of `APART` that no condition is about; "" without them."""
    judged_keys = {
        (v.item.adversary, v.item.target, v.item.measure)
        for assessment in verdict.assessments
        for v in assessment.values
    }
    keys = {key[1:] for key in judged_keys if key[2] in PROBABILITIES}
    rows = [row for row in result.rows if row.release == verdict.release and row.adversary in APART]
    unjudged_pairs = {(row.adversary, row.target) for row in rows if (row.target, row.measure) in keys}
    unjudged_pairs -= {key[:2] for key in judged_keys}
    worst = {(row.adversary, row.target): row.worst for row in rows if row.measure == "success_probability"}
    heads = headlines(result)
    phrases = [
        f"the {adversary}, who also knows the sensitive columns{_after(target)}: "
        f"{row_value(heads[verdict.release, adversary, target])} on average, "
        f"at most {percent(worst[adversary, target])}"
        for adversary, target in sorted(unjudged_pairs & worst.keys())
    ]
    return f"Not judged: {'; '.join(phrases)}." if phrases else ""


def _after(target: str) -> str:
    return "" if target == IDENTITY else f" and asks for {target}"


def limit_of(risk: Distribution, assessments: Iterable[Assessment]) -> tuple[float, str]:
    """Return the probability above which a person is at risk, and its source: the policy's lowest limit for the
    most exposed, or for people on average; otherwise, EMA policy 0070 for identity and one half for a value.
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
    return LIMITS["value"], "more likely than not"


def _target(value: ItemValue) -> str:
    return value.item.target


def narrow(assessment: Assessment) -> str:
    """Return the realized value or the interval, if it contradicts the verdict on the value; "" otherwise."""
    if (
        assessment.state == "met"
        and assessment.realized
        and not assessment.requirement.require.holds(assessment.realized.value)
    ):
        return f"met as the adversary expects, but {amount(assessment, assessment.realized.value)} came true"
    end = assessment.interval_end
    if end is None:
        return ""
    return f"{'met' if assessment.state == 'met' else 'missed'}, but the interval reaches {amount(assessment, end)}"


def called(requirement: Requirement) -> str:
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


def about(assessment: Assessment) -> str:
    """Return the purpose of a condition; without a name, the meaning of its measure, and n. An expected value is
    followed by the realized one.
    """
    requirement, item = assessment.requirement, assessment.closest.item if assessment.closest else None
    quantity = described(requirement.require.measure) or CRITERIA.get(requirement.require.measure)
    phrases = [
        requirement.purpose or ("" if requirement.name or quantity is None else quantity.meaning.partition(" (")[0])
    ]
    phrases += [f"n{SPACE}={SPACE}{item.n:,}"] if isinstance(item, Row) and not requirement.name else []
    phrases += [f"{amount(assessment, assessment.realized.value)} came true"] if assessment.realized else []
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


def named(line: Mapping[str, Any]) -> str:
    """Return the name of the condition of a line of the table `verdicts`."""
    condition = Condition.parse(line["condition"])
    return called(Requirement(condition, "" if line["name"] == line["condition"] else line["name"]))


def figures(line: Mapping[str, Any]) -> tuple[str, str]:
    """Return value and limit of a line of the table `verdicts`; a dash for a small count or an unknown value."""
    field, value = Condition.parse(line["condition"]).field, line["value"]
    value_text = "\u2013" if value is None else with_unit(float(value), line["unit"], field)
    return value_text, with_unit(float(line["limit"]), line["unit"], field)


def distance(assessment: Assessment) -> str:
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
