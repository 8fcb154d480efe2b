"""Verdicts in words: one sentence for a policy, a name and a distance for each of its conditions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from unmask.measures.registry import CRITERIA, SHARES, described, realized_by
from unmask.policy import Assessment, Condition, Requirement, Verdict
from unmask.policy.condition import CONTROL_FIELDS
from unmask.policy.verdict import ItemValue, Outcome, State, combine_states, limit_ratio
from unmask.reports.data import APART, LIMITS, PROBABILITIES, ReportData, headlines
from unmask.reports.words import IDENTITY, row_value
from unmask.results import Row
from unmask.results.distribution import Distribution
from unmask.results.formats import SPACE, number, percent
from unmask.results.words import listed

NO_POLICY = ("Not judged:", "no policy was given.")
"""What stands in the place of a verdict: its first words, and the rest."""

STATES: Final[dict[Outcome, str]] = {
    "acceptable": "Acceptable",
    "not acceptable": "Not acceptable",
    "not decided": "No verdict",
}

STATE: Final[dict[State, str]] = {"met": "met", "missed": "missed", "untested": "not tested"}
"""A state of a condition, as a reader is told."""

DIFFERENCES = (CONTROL_FIELDS - {"control"}) | {"gain"}
"""Fields that are differences of what a measure is in two cases: of shares they are points."""

OF_FIELD = {
    "worst": "of the worst-off",
    "prior": "before the release",
    "gain": "gained",
    "low": "at least",
    "high": "at most",
    "control": "of control people",
    "excess": "beyond control people",
    "excess_low": "beyond control people, at least",
    "excess_high": "beyond control people, at most",
    "q05": "of the best-off 5 %",
    "q25": "of the best-off quarter",
    "q50": "of half of people",
    "q75": "of the worst-off quarter",
    "q95": "of the worst-off 5 %",
}
"""Field of a condition -> the words for it."""


def sentence(verdict: Verdict) -> str:
    """The verdict with its policy and its count of conditions, as one sentence."""
    return sentence_of(verdict.policy.title, [one.state for one in verdict.assessments])


def sentence_of(policy: str, states: Sequence[State]) -> str:
    """The same of a policy by the states of its conditions.

    >>> sentence_of("Strict", ["met", "missed", "untested"])
    'Not acceptable under Strict: 1 of 3 conditions is missed and 1 could not be tested.'
    """
    return f"{STATES[combine_states(states)]} {rest_of(policy, states)}"


def rest(verdict: Verdict) -> str:
    """The sentence after its first words, which are the verdict."""
    return rest_of(verdict.policy.title, [one.state for one in verdict.assessments])


def rest_of(policy: str, states: Sequence[State]) -> str:
    """The same of a policy by the states of its conditions."""
    n, missed, untested = len(states), states.count("missed"), states.count("untested")
    if n == 1:
        told = ["its condition is missed" if missed else "its condition could not be tested" if untested else ""]
    else:
        told = [f"{missed:,} of {n:,} conditions {'is' if missed == 1 else 'are'} missed"] if missed else []
        told += [f"{untested:,} could not be tested"] if untested else []
    every = f"all {n:,} conditions are met" if n > 1 else "its condition is met"
    return f"under {policy}: {listed(told) if any(told) else every}."


def joint(verdicts: Sequence[Verdict]) -> tuple[Outcome, str]:
    """Return several verdicts as one, and the sentence after its first words."""
    n, bad, open_ = len(verdicts), _count(verdicts, "not acceptable"), _count(verdicts, "not decided")
    titles = list(dict.fromkeys(one.policy.title for one in verdicts))
    releases = {one.release for one in verdicts}
    what = "releases" if len(titles) == 1 else "policies" if len(releases) == 1 else "verdicts"
    missed = ("misses a condition", "miss a condition") if what == "releases" else ("is missed", "are missed")
    told = [f"{bad:,} of {n:,} {what} {missed[bad > 1]}"] if bad else []
    told += [f"{open_:,} could not be decided"] if open_ else []
    state: Outcome = "not acceptable" if bad else "not decided" if open_ else "acceptable"
    return state, f"under {listed(titles)}: {listed(told or [f'all {n:,} {what} are kept'])}."


def _count(verdicts: Sequence[Verdict], state: str) -> int:
    return sum(one.state == state for one in verdicts)


def unjudged(verdict: Verdict, data: ReportData) -> str:
    """What a verdict leaves out, in a sentence: who is `APART`, by what its conditions ask of others; "" for nobody."""
    held = {(v.item.adversary, v.item.target, v.item.measure) for one in verdict.assessments for v in one.values}
    asked = {key[1:] for key in held if key[2] in PROBABILITIES}
    own = [row for row in data.rows if row.release == verdict.release and row.adversary in APART]
    left = {(row.adversary, row.target) for row in own if (row.target, row.measure) in asked}
    left -= {key[:2] for key in held}
    worst = {(row.adversary, row.target): row.worst for row in own if row.measure == "success_probability"}
    heads = headlines(data)
    told = [
        f"the {who}, who also knows the sensitive columns{_after(target)}: "
        f"{row_value(heads[verdict.release, who, target])} on average, at most {percent(worst[who, target])}"
        for who, target in sorted(left & worst.keys())
    ]
    return f"Not judged: {'; '.join(told)}." if told else ""


def _after(target: str) -> str:
    return "" if target == IDENTITY else f" and asks for {target}"


def limit_of(risk: Distribution, judged: Iterable[Assessment]) -> tuple[float, str]:
    """The probability from which on a person is at risk, and whose limit that is: the policy's for the worst-off, or
    for people on average; of several the lowest. Without one, that of EMA's policy 0070 or, of a value, one half.
    """
    asked = [one.requirement.require for one in judged if any(_target(v) == risk.target for v in one.values)]
    own = [one for one in asked if one.measure in PROBABILITIES and one.sign[0] == "<" and one.bound in risk.above]
    worst = [one for one in own if one.field == "worst"]
    plain = [one for one in own if one.field in (None, "posterior", "high")]
    if worst or plain:
        return min(one.bound for one in worst or plain), "the policy\u2019s limit"
    if risk.target == IDENTITY:
        return LIMITS["identity"], "the limit of EMA policy 0070"
    return LIMITS["value"], "more likely than not"


def _target(found: ItemValue) -> str:
    return found.item.target


def narrow(one: Assessment) -> str:
    """What came true, or the interval, where that says another thing than the value; "" elsewhere."""
    if one.state == "met" and one.realized and not one.requirement.require.holds(one.realized.value):
        return f"met as the adversary expects, but {amount(one, one.realized.value)} came true"
    end = one.interval_end
    if end is None:
        return ""
    return f"{'met' if one.state == 'met' else 'missed'}, but the interval reaches {amount(one, end)}"


def called(one: Requirement) -> str:
    """What a reader calls a condition: its name, or what its measure is called."""
    if one.name:
        return one.name
    asked = one.require
    known = described(asked.measure) or CRITERIA.get(asked.measure)
    label = (known.label if known else "") or asked.measure.replace("_", " ")
    side = "Expected" if realized_by(asked.measure) else "Realized" if known and known.realizes else ""
    label = f"{side} {label[0].lower()}{label[1:]}" if side else label
    words = " ".join(filter(None, (label, OF_FIELD.get(asked.field or ""))))
    return f"{words}, {asked.scope}" if asked.scope else words


def about(one: Assessment) -> str:
    """What a condition is for; of one without a name, what its measure is, and over how many. Beside what an adversary
    expects stands what came true.
    """
    asked, item = one.requirement, one.closest.item if one.closest else None
    known = described(asked.require.measure) or CRITERIA.get(asked.require.measure)
    told = [asked.purpose or ("" if asked.name or known is None else known.meaning.partition(" (")[0])]
    told += [f"n{SPACE}={SPACE}{item.n:,}"] if isinstance(item, Row) and not asked.name else []
    told += [f"{amount(one, one.realized.value)} came true"] if one.realized else []
    return "; ".join(filter(None, told))


def amount(one: Assessment, value: float) -> str:
    """A value or a limit of a condition."""
    return with_unit(value, one.unit, one.requirement.require.field)


def with_unit(value: float, unit: str, field: str | None) -> str:
    """A value as its measure is written; differences of shares in points.

    >>> with_unit(0.13, "share", "excess").replace(SPACE, " "), with_unit(0.13, "share", None).replace(SPACE, " ")
    ('13.0 points', '13.0 %')
    """
    if unit not in SHARES:
        return number(value)
    if field in DIFFERENCES:
        return f"{number(100 * value, 1)}{SPACE}points"
    return percent(value)


def named(line: Mapping[str, Any]) -> str:
    """What a reader calls the condition of a line of the table `verdicts`."""
    asked = Condition.parse(line["condition"])
    return called(Requirement(asked, "" if line["name"] == line["condition"] else line["name"]))


def figures(line: Mapping[str, Any]) -> tuple[str, str]:
    """Value and limit of a line of the table `verdicts`; of a count of few people, or of nothing known, a dash."""
    field, value = Condition.parse(line["condition"]).field, line["value"]
    shown = "\u2013" if value is None else with_unit(float(value), line["unit"], field)
    return shown, with_unit(float(line["limit"]), line["unit"], field)


def distance(one: Assessment) -> str:
    """How far a missed condition is off; "" for one that is not missed."""
    if not one.violations:
        return ""
    asked, value = one.requirement.require, one.violations[0].value
    factor = limit_ratio(value, asked)
    if asked.sign[0] == ">":
        return f"short by {amount(one, asked.bound - value)}"
    if factor is None or asked.field in DIFFERENCES or not math.isfinite(factor):
        return f"over by {amount(one, value - asked.bound)}"
    return f"{number(factor, 1)} times the limit"
