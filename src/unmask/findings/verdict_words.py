"""Verdicts in words: one sentence for a policy, a name and a distance for each of its conditions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from unmask.findings.row_words import row_value
from unmask.languages import active_language, group, mark, ngettext
from unmask.languages import gettext as _
from unmask.measures.registry import CRITERIA, SHARES, described, realized_by
from unmask.policy import Assessment, Condition, Requirement, Verdict
from unmask.policy.condition import CONTROL_FIELDS
from unmask.policy.verdict import Outcome, State, combine_states, limit_ratio
from unmask.results import Result, Row
from unmask.results.distribution import Distribution
from unmask.results.formats import SPACE, number, percent
from unmask.results.names import APART, IDENTITY, LIMITS, PROBABILITIES
from unmask.results.scope import headlines
from unmask.results.words import join_names, release_name

NO_POLICY = (mark("No verdict:"), mark("choose a policy."))
"""Words in the place of a verdict: the first ones, and the rest."""

STATES: Final[dict[Outcome, str]] = {
    "acceptable": mark("Acceptable"),
    "not acceptable": mark("Not acceptable"),
    "not decided": mark("Not decided"),
}

STATE: Final[dict[State, str]] = {
    "met": mark("met"),
    "missed": mark("missed"),
    "untested": mark("not tested"),
}
"""State of a condition -> words for readers, in English."""

DIFFERENCES = (CONTROL_FIELDS - {"control"}) | {"gain"}
"""Fields that are differences of what a measure is in two cases: of shares they are points."""

OF_FIELD = {
    "worst": mark("at highest risk"),
    "prior": mark("before the release"),
    "gain": mark("gained"),
    "low": mark("at least"),
    "high": mark("at most"),
    "control": mark("of the control group"),
    "excess": mark("beyond the control group"),
    "excess_low": mark("beyond the control group, at least"),
    "excess_high": mark("beyond the control group, at most"),
    "q05": mark("of the 5 % at lowest risk"),
    "q25": mark("of the quarter at lowest risk"),
    "q50": mark("of the median person"),
    "q75": mark("of the quarter at highest risk"),
    "q95": mark("of the 5 % at highest risk"),
}
"""Field of a condition -> the words for it, in English."""


def describe_verdict(verdict: Verdict) -> str:
    """Return the verdict with its policy and its count of conditions, as one sentence."""
    return describe_outcome(verdict.policy.title, [assessment.state for assessment in verdict.assessments])


def describe_outcome(policy: str, states: Sequence[State]) -> str:
    """Return the sentence of a verdict from the states of its conditions.

    >>> describe_outcome("Strict", ["met", "missed", "untested"])
    'Not acceptable under Strict: 1 of 3 conditions is missed.'
    """
    return f"{_(STATES[combine_states(states)])} {describe_states(policy, states)}"


def describe_conditions(verdict: Verdict) -> str:
    """Return the sentence after its first words, which are the verdict."""
    return describe_states(verdict.policy.title, [assessment.state for assessment in verdict.assessments])


def describe_states(policy: str, states: Sequence[State]) -> str:
    """Return the sentence after its first words, from the states of the conditions."""
    total, missed, untested = len(states), states.count("missed"), states.count("untested")
    if total == 1:
        return _("under {policy}: the only condition is {state}.", policy=_(policy), state=_(STATE[states[0]]))
    fields = {"policy": _(policy), "total": total}
    if missed:
        return ngettext(
            "under {policy}: {n} of {total} conditions is missed.",
            "under {policy}: {n} of {total} conditions are missed.",
            missed,
            **fields,
        )
    if untested:
        return ngettext(
            "under {policy}: {n} of {total} conditions is not tested.",
            "under {policy}: {n} of {total} conditions are not tested.",
            untested,
            **fields,
        )
    return _("under {policy}: all {total} conditions are met.", **fields)


def combine_verdicts(verdicts: Sequence[Verdict]) -> tuple[Outcome, str]:
    """Return several verdicts as one, and the sentence after its first words."""
    n_missed, n_undecided = _count(verdicts, "not acceptable"), _count(verdicts, "not decided")
    titles = list(dict.fromkeys(verdict.policy.title for verdict in verdicts))
    findings = _count_outcomes(verdicts, len(titles), n_missed, n_undecided)
    state: Outcome = "not acceptable" if n_missed else "not decided" if n_undecided else "acceptable"
    policies = join_names([_(title) for title in titles])
    return state, _("under {policy}: {findings}.", policy=policies, findings=join_names(findings))


def _count_outcomes(verdicts: Sequence[Verdict], n_policies: int, n_missed: int, n_undecided: int) -> list[str]:
    """Return the numbers of releases, policies or verdicts in each state that is not acceptable, or that all are."""
    n_releases, total = len({verdict.release for verdict in verdicts}), len(verdicts)
    if n_policies == 1:
        missed = ngettext(
            "{n} of {total} releases misses a condition",
            "{n} of {total} releases miss a condition",
            n_missed,
            total=total,
        )
        undecided = ngettext(
            "{n} of {total} releases is not decided",
            "{n} of {total} releases are not decided",
            n_undecided,
            total=total,
        )
        met = _("all {total} releases meet every condition", total=total)
    elif n_releases == 1:
        missed = ngettext(
            "{n} of {total} policies is missed", "{n} of {total} policies are missed", n_missed, total=total
        )
        undecided = ngettext(
            "{n} of {total} policies is not decided",
            "{n} of {total} policies are not decided",
            n_undecided,
            total=total,
        )
        met = _("all {total} policies are met", total=total)
    else:
        missed = ngettext(
            "{n} of {total} verdicts is missed", "{n} of {total} verdicts are missed", n_missed, total=total
        )
        undecided = ngettext(
            "{n} of {total} verdicts is not decided",
            "{n} of {total} verdicts are not decided",
            n_undecided,
            total=total,
        )
        met = _("all {total} verdicts are met", total=total)
    if n_missed and n_undecided:
        undecided = ngettext("{n} is not decided", "{n} are not decided", n_undecided)
    findings = [missed] * bool(n_missed) + [undecided] * bool(n_undecided)
    return findings or [met]


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
    return _("Not judged: {adversaries}.", adversaries="; ".join(phrases)) if phrases else ""


def _describe_unjudged(adversary: str, target: str, rows: Sequence[Row]) -> str:
    """Return the success of one adversary on the releases."""
    if len(rows) == 1:
        value = row_value(rows[0])
    else:
        ordered = sorted(rows, key=lambda row: -row.posterior)
        if len(rows) <= N_LISTED:
            value = join_names([_value_in_release(row) for row in ordered])
        else:
            low, high = (_value_in_release(row) for row in (ordered[-1], ordered[0]))
            value = _("{low} to {high}", low=low, high=high)
    if target == IDENTITY:
        message = mark("an {adversary}, who also knows sensitive values, re-identifies {value}")
        return _(message, adversary=_(adversary), value=value)
    message = mark("an {adversary}, who also knows sensitive values, infers {target} of {value}")
    return _(message, adversary=_(adversary), target=target, value=value)


def _value_in_release(row: Row) -> str:
    return _("{value} in {release}", value=row_value(row), release=release_name(row.release))


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
    upper_limits = [
        condition
        for assessment in assessments
        for condition in [assessment.requirement.require]
        if any(value.item.target == risk.target for value in assessment.values)
        and condition.measure in PROBABILITIES
        and condition.sign[0] == "<"
        and condition.bound in risk.above
    ]
    worst = [condition for condition in upper_limits if condition.field == "worst"]
    plain = [condition for condition in upper_limits if condition.field in (None, "posterior", "high")]
    if worst or plain:
        return min(condition.bound for condition in worst or plain), _("the policy\u2019s limit")
    if risk.target == IDENTITY:
        return LIMITS["identity"], _("the limit of EMA policy 0070")
    return LIMITS["value"], _("the default limit")


def describe_contradiction(assessment: Assessment) -> str:
    """Return the realized value or the interval, if it contradicts the verdict on the value; "" otherwise."""
    if (
        assessment.state == "met"
        and assessment.realized
        and not assessment.requirement.require.holds(assessment.realized.value)
    ):
        value = amount(assessment, assessment.realized.value)
        return _("expected value met, but {value} realized", value=value)
    end = assessment.interval_end
    if end is None:
        return ""
    value = amount(assessment, end)
    if assessment.state == "met":
        return _("met, but the interval reaches {value}", value=value)
    return _("missed, but the interval reaches {value}", value=value)


def name_requirement(requirement: Requirement) -> str:
    """Return the name of a condition, or the name of its measure."""
    if requirement.name:
        return _(requirement.name)
    condition = requirement.require
    quantity = described(condition.measure) or CRITERIA.get(condition.measure)
    label = _((quantity.label if quantity else "") or condition.measure.replace("_", " "))
    lower = label if active_language() == "de" else f"{label[0].lower()}{label[1:]}"  # German nouns have capitals
    if realized_by(condition.measure):
        label = _("Expected {measure}", measure=lower)
    elif quantity and quantity.realizes:
        label = _("Realized {measure}", measure=lower)
    words = " ".join(filter(None, (label, _(OF_FIELD.get(condition.field or "", "")))))
    return f"{words}, {_(condition.scope)}" if condition.scope else words


def explain_condition(assessment: Assessment) -> str:
    """Return the purpose of a condition; without a name, the meaning of its measure, and n. An expected value is
    followed by the realized one.
    """
    requirement, item = assessment.requirement, assessment.closest.item if assessment.closest else None
    quantity = described(requirement.require.measure) or CRITERIA.get(requirement.require.measure)
    phrases = [
        _(requirement.purpose)
        or ("" if requirement.name or quantity is None else _(quantity.meaning.partition(" (")[0]))
    ]
    phrases += [f"n{SPACE}={SPACE}{group(item.n)}"] if isinstance(item, Row) and not requirement.name else []
    phrases += (
        [_("{value} realized", value=amount(assessment, assessment.realized.value))] if assessment.realized else []
    )
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
        return _("{value}\u00a0points", value=number(100 * value, 1))
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
        return _("short by {value}", value=amount(assessment, condition.bound - value))
    if factor is None or condition.field in DIFFERENCES or not math.isfinite(factor):
        return _("over by {value}", value=amount(assessment, value - condition.bound))
    return _("{factor} times the limit", factor=number(factor, 1))
