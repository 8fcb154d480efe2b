"""The first screen: acceptable or not, condition by condition, who is at risk, and what to do next."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unmask.core.posterior import equal_weights
from unmask.facts import Count
from unmask.findings.conditions import MAX_EXPLAINED, first_sentence, make_item, select_items
from unmask.findings.row_words import row_value
from unmask.findings.sentences import select_distribution, sentences, severity
from unmask.findings.verdict_words import (
    NO_POLICY,
    STATE,
    STATES,
    combine_verdicts,
    describe_conditions,
    describe_unjudged,
    find_limit,
    name_requirement,
)
from unmask.languages import gettext as _
from unmask.languages import group, localize, mark, ngettext, retranslate
from unmask.measures.interval import of_targets
from unmask.measures.registry import quantity
from unmask.policy import Assessment, Policy, Verdict, judge_result
from unmask.policy.condition import QUANTILES
from unmask.policy.policies import read_shipped_policies
from unmask.policy.verdict import State
from unmask.render.charts import Figure
from unmask.render.charts.svg import coordinate
from unmask.render.page_parts import Grid, Screen, Section
from unmask.render.shared_charts import risk_figure
from unmask.render.translation import retranslate_item, retranslate_risk
from unmask.results import Advice, Alternative, AtRisk, Decision, DecisionItem, Fact, Result, Row
from unmask.results.change import Change
from unmask.results.distribution import Distribution
from unmask.results.formats import SPACE, percent
from unmask.results.names import IDENTITY, PROBABILITIES, PROSECUTOR
from unmask.results.rows import ORIGINAL
from unmask.results.scope import Scope
from unmask.results.words import as_sentences, format_count, format_share, join_names, plural, release_name

LOOK = {"acceptable": "met", "not acceptable": "missed", "not decided": "untested"}
"""A verdict -> how its words look."""

ADD_ORIGINAL = mark("Add the table before protection. The audit then tries changes and measures them:")

ACCEPTABLE = mark("Every condition is met. Write a certificate to sign:")
"""Advice if every release is acceptable."""

CERTIFY = "unmask certify unmask.toml -o certificate.json"
"""Command of a certificate."""

LARGER_K = mark("Protect with a larger k, then audit again:")

DEFAULT_K = 10
"""The k to try if that of the release is not known."""

PERSON_PROBABILITIES = frozenset({None, "posterior", "high", "worst", *QUANTILES})
"""Fields of a measure that are at most 1 / k if the adversary cannot tell k people apart."""


def make_screen(scope: Scope) -> Screen:
    """Return the first screen: the decision of the result, or else its verdicts."""
    result, decision = scope.result, scope.result.decision
    if decision is not None:
        decision = replace(retranslate_item(decision), items=tuple(map(retranslate_item, select_items(decision.items))))
        at_risk = result.at_risk and retranslate_risk(result.at_risk)
        return Screen(decision, retranslate(result.headline), at_risk, advice=complete_advice(result))
    at_risk, people = _find_at_risk(scope)
    headline = first_sentence(next(iter(sentences(result)), ""))
    return Screen(_make_decision(result), headline, at_risk, people, _give_advice(scope))


def _make_decision(result: Result) -> Decision:
    """Return the verdicts as one answer, or how to ask for a verdict."""
    verdicts, cautions = result.verdicts, as_sentences(map(retranslate, result.cautions))
    if not verdicts:
        answer, sentence = map(_, NO_POLICY)
        question = _(Decision.question)
        return Decision("none", answer, sentence, question=question, paragraphs=(*cautions, _explain_policies(result)))
    if len(verdicts) == 1:
        state, sentence = verdicts[0].state, describe_conditions(verdicts[0])
        items = [make_item(assessment, result.smallest_shown) for assessment in verdicts[0].assessments]
        caption = _(Decision.caption)
    else:
        state, sentence = combine_verdicts(verdicts)
        items = [_summarize(verdict, verdicts, result) for verdict in verdicts]
        names = {item.source for item in items}
        caption = names.pop() if len(names) == 1 else ""
        items = [replace(item, source="") for item in items] if caption else items
    shown_items = select_items(items)
    hidden = [_("{n} more below.", n=len(items) - len(shown_items))] * (len(items) > len(shown_items))
    paragraphs = (*cautions, *hidden, *filter(None, [describe_unjudged(verdicts, result)]))
    return Decision(
        LOOK[state], _(STATES[state]), sentence, question=_(Decision.question), items=shown_items,
        paragraphs=paragraphs, caption=caption,
    )  # fmt: skip


def conditions_section(scope: Scope) -> Section | None:
    """Return every condition, if the first screen has no room for all or for their subjects."""
    verdicts = scope.result.verdicts
    if (len(verdicts) == 1 and len(verdicts[0].assessments) <= MAX_EXPLAINED) or not verdicts:
        return None
    finding = (
        f"{sum(len(verdict.assessments) for verdict in verdicts):,} conditions with their values, limits and sources."
    )
    return Section(
        "conditions", "Every condition", tuple(_condition_table(verdict, scope.result) for verdict in verdicts), finding
    )


def _condition_table(verdict: Verdict, result: Result) -> Grid:
    rows = [
        (item.name, STATE[assessment.state], item.value, item.limit, item.finding, origin)
        for assessment in verdict.assessments
        for item in [make_item(assessment, result.smallest_shown)]
        for origin in ["; ".join(filter(None, (item.about, item.source)))]
    ]
    head = ("Condition", "State", "Value", "Limit", "How far", "Subject and source")
    return Grid(head, (("", tuple(rows)),), text=2, caption=f"{verdict.release}, {verdict.policy.title}", listed=True)


def _explain_policies(result: Result) -> str:
    """Return the shipped policies that can judge this audit, and a sample condition."""
    policies = [name for name, policy in read_shipped_policies().items() if _can_judge(result, policy)]
    condition = result.sample_condition
    if not policies:
        return _('Limits come from --policy: a condition of your own, such as "{condition}".', condition=condition)
    return _(
        'Limits come from --policy: {policies}, or a condition of your own, such as "{condition}".',
        policies=", ".join(policies),
        condition=condition,
    )


def _can_judge(result: Result, policy: Policy) -> bool:
    """Return whether any condition of a policy can be tested on these results."""
    return any(
        verdict.count("untested") < len(verdict.assessments) for verdict in judge_result(result, [policy]).verdicts
    )


def _summarize(verdict: Verdict, verdicts: Sequence[Verdict], result: Result) -> DecisionItem:
    """Return a verdict as a line: the number of missed conditions, and the condition that is missed most.

    The source of the line is the name of that condition. The only condition of a policy needs no number.
    """
    titles = {verdict.policy.title for verdict in verdicts}
    name = verdict.release if len(titles) == 1 else verdict.policy.title
    name = name if len(titles) in (1, len(verdicts)) else f"{verdict.release}, {verdict.policy.title}"
    farthest = _find_farthest(verdict)
    item = make_item(farthest, result.smallest_shown)
    finding = item.finding if len(verdict.assessments) == 1 else _count_conditions(verdict)
    return replace(
        item, state=LOOK[verdict.state], name=name, finding=finding, source=name_requirement(farthest.requirement)
    )


def _count_conditions(verdict: Verdict) -> str:
    """Return the number of conditions in the state that decides."""
    state: State = "missed" if verdict.count("missed") else "untested" if verdict.count("untested") else "met"
    total = len(verdict.assessments)
    return _("{n} of {total} {state}", n=verdict.count(state), total=total, state=_(STATE[state]))


def _find_farthest(verdict: Verdict) -> Assessment:
    """Return the condition that is missed most, or is closest to its limit."""
    return max(
        verdict.assessments,
        key=lambda assessment: (
            assessment.state == "missed",
            assessment.state == "untested",
            assessment.ratio or 0.0,
        ),
    )


# --- who -------------------------------------------------------------------------------------------------------------


def _find_at_risk(scope: Scope) -> tuple[AtRisk | None, Figure | None]:
    """Return the people at risk: those of the result, else people by their probability, else the average."""
    if scope.result.at_risk is not None:
        return retranslate_risk(scope.result.at_risk), None
    release = _select_release(scope)
    risk = select_distribution(release, scope)
    return (_describe_average(release, scope), None) if risk is None else _describe_people(risk, scope)


def _select_release(scope: Scope) -> str:
    """Return the release of the screen: the first that is not acceptable, or the riskiest one."""
    bad = [verdict.release for verdict in scope.result.verdicts if verdict.state == "not acceptable"]
    heads = [row for key, row in scope.heads.items() if key[0] in scope.protected]
    rows = [row for row in heads if row.target == IDENTITY] or heads
    return next(iter(bad), max(rows, key=severity).release if rows else scope.protected[0])


def _describe_average(release: str, scope: Scope) -> AtRisk | None:
    """Return the success of the strongest adversary on average, and for the most exposed."""
    rows = [row for key, row in scope.heads.items() if key[0] == release]
    if not rows:
        return None
    row = max(rows, key=severity)
    highest = _believed_worst(row, scope)
    is_known = math.isfinite(highest) and row.unit == "probability"
    worst = (Fact(_("Highest risk"), percent(highest)),) if is_known else ()
    message = (
        mark("of {n} cases, by the adversary {name}") if scope.cases else mark("of {n} people, by the adversary {name}")
    )
    return AtRisk(row_value(row), _(message, n=row.n, name=_(row.adversary)), facts=worst)


def _describe_people(risk: Distribution, scope: Scope) -> tuple[AtRisk, Figure]:
    assessments = [
        assessment
        for verdict in scope.result.verdicts
        if verdict.release == risk.release
        for assessment in verdict.assessments
    ]
    limit, limit_source = find_limit(risk, assessments)
    count = risk.above[limit]
    name = _("The {n} drawn people by risk", n=risk.people) if risk.drawn_from else _("People by risk")
    if round(sum(risk.shares) * risk.people) > risk.people:  # the bars exceed the total
        name += _(", bars rounded up in steps of {n}", n=scope.result.smallest_shown)
    chart = risk_figure(
        "",
        [(name, "", risk)],
        limit,
        scope.result.smallest_shown,
        style=scope.styles.get(risk.adversary, 0),
        label=_("People by the probability that {subject} is right about them", subject=scope.subject(risk.adversary)),
    )
    number, total, drawn = _estimate_count(risk, count, scope)
    goal = _("re-identification") if risk.target == IDENTITY else risk.target
    fields = {"n": total, "share": f"{localize(f'{100 * limit:g}')}{SPACE}%", "source": limit_source, "goal": goal}
    if len(scope.protected) > 1:
        place = release_name(risk.release)
        people = _("of {n} people in {release} are above {share}, {source} for {goal}", release=place, **fields)
    else:
        people = _("of {n} people are above {share}, {source} for {goal}", **fields)
    return AtRisk(number, people + drawn, tuple(_list_facts(risk, limit, scope, assessments))), chart


def _estimate_count(risk: Distribution, count: Count, scope: Scope) -> tuple[str, int, str]:
    """Return the number of people at risk, the total, and its source if people were drawn."""
    if isinstance(count, str):
        drawn = _("; they were drawn from {n}", n=risk.drawn_from) if risk.drawn_from else ""
        return retranslate(count), risk.people, drawn
    if not risk.drawn_from:
        return group(count), risk.people, ""
    value, low, high = estimate_all(risk, count, scope.result.smallest_shown)
    drawn = _(
        "; 95\u00a0% interval {low} to {high}, from {n} people drawn at random", low=low, high=high, n=risk.people
    )
    return group(value), risk.drawn_from, drawn


def estimate_all(risk: Distribution, above: int, step: int = 1) -> tuple[int, int, int]:
    """Return how many of all people are at risk if some were drawn, with a 95 % interval, in these steps.

    >>> estimate_all(Distribution("r", "a", "identity", (0.0, 1.0), (1.0,), 100, drawn_from=300), 50)
    (150, 126, 174)
    """
    is_above = (np.arange(risk.people) < above).astype(np.float64)
    low, high, _ = of_targets(is_above, equal_weights(risk.people), drawn_from=risk.drawn_from, rate=True)
    counts = (risk.drawn_from * share for share in (is_above.mean(), low or 0.0, high or 1.0))
    value, first, last = (step * round(count / step) for count in counts)
    return value, max(first, above), last


def _list_facts(risk: Distribution, limit: float, scope: Scope, assessments: Sequence[Assessment]) -> Iterator[Fact]:
    """Yield the largest group, the highest risk unless a condition shows it, the smallest class, and the risk before
    protection.
    """
    if largest := _describe_largest(risk, limit, scope):
        has_classes = any(block.name == "classes" for block in scope.result.blocks)
        section = "classes" if has_classes and _rows_about(risk, "classes", scope) else ""
        yield Fact(_("Largest group"), largest, section)
    fields = {
        assessment.requirement.require.field
        for assessment in assessments
        if assessment.closest and assessment.closest.item.target == risk.target
    }
    worst = _find_worst(risk, scope)
    if "worst" not in fields and math.isfinite(worst):
        yield Fact(_("Highest risk"), percent(worst))
    fewest = scope.result.criteria.get(risk.release, {}).get("k_people")
    if isinstance(fewest, int):
        message = ngettext("{n} person, some with several rows", "{n} people, some with several rows", fewest)
        yield Fact(_("Smallest class"), message)
    key = (ORIGINAL, risk.adversary, risk.target)
    bare = next(
        (item for item in scope.result.distribution if (item.release, item.adversary, item.target) == key), None
    )
    if bare is not None and risk.release != ORIGINAL and limit in bare.above:
        count = bare.above[limit]
        words = _("{n} people", n=count if isinstance(count, int) else retranslate(count))
        yield Fact(_("Unprotected"), words)


def _describe_largest(risk: Distribution, limit: float, scope: Scope) -> str:
    """Return the largest group above the limit that matches the same records, and the probability."""
    if risk.adversary != PROSECUTOR or risk.above[limit] == 0:
        return ""
    rows = [row for row in _rows_about(risk, "classes", scope) if row["probability"] > limit]
    if not rows:
        return _("fewer than {n} people", n=scope.result.smallest_shown)
    largest = max(rows, key=lambda row: row["people"])
    return _("{n} people, up to {share}", n=largest["people"], share=percent(largest["probability"]))


def _rows_about(risk: Distribution, table: str, scope: Scope) -> tuple[Mapping[str, Any], ...]:
    """Return the rows of a table about the release and target of a distribution; none without that table."""
    tables = scope.result.facts_by_name
    return tables[table].where(release=risk.release, target=risk.target).rows if table in tables else ()


def _find_worst(risk: Distribution, scope: Scope) -> float:
    """Return the highest probability of re-identification, or of a value other than the most common one."""
    if risk.target == IDENTITY:
        row = scope.heads.get((risk.release, risk.adversary, risk.target))
        return math.nan if row is None else _believed_worst(row, scope)
    return max((row["highest"] for row in _rows_about(risk, "values", scope) if row["secret"]), default=math.nan)


# --- what next -------------------------------------------------------------------------------------------------------


def _give_advice(scope: Scope) -> Advice:
    """Return the tried changes, else a command that tries them, else the next step for the verdict."""
    result = scope.result
    if result.changes:
        headings, changes = (_("people above"), _("utility kept")), tuple(map(_to_alternative, result.changes))
        advice = result.advice or _recommend(select_change(result.changes))
        return Advice(advice.sentence, advice.command, headings, changes)
    return complete_advice(result) or _suggest_step(result)


def complete_advice(result: Result) -> Advice | None:
    """Return the advice of a result with the states of its alternatives under policies.

    None without advice, and if all is acceptable and nothing was compared.
    """
    advice, states = result.advice, {verdict.state for verdict in result.verdicts}
    is_acceptable = states == {"acceptable"}
    if advice is None or (is_acceptable and not advice.alternatives):
        return None
    completed = (_complete_alternative(item, result.verdicts) for item in advice.alternatives)
    alternatives = tuple(map(retranslate_item, completed))
    advice = replace(
        retranslate_item(advice), headings=tuple(map(retranslate, advice.headings)), alternatives=alternatives
    )
    if is_acceptable:
        return replace(advice, sentence=_(ACCEPTABLE), command=CERTIFY)
    return replace(advice, sentence="" if alternatives and "acceptable" in states else advice.sentence)


def _complete_alternative(alternative: Alternative, verdicts: Sequence[Verdict]) -> Alternative:
    """Return an alternative with its name, and with its state under policies unless it has one."""
    labeled = replace(alternative, label=alternative.label or release_name(alternative.release))
    own_verdicts = [verdict for verdict in verdicts if verdict.release == alternative.release]
    return _with_state(labeled, sum(verdict.count("missed") for verdict in own_verdicts)) if own_verdicts else labeled


def _with_state(alternative: Alternative, n_missed: int) -> Alternative:
    """Return an alternative with its state for a number of missed conditions."""
    finding = ngettext("{n} condition missed", "{n} conditions missed", n_missed)
    finding = finding if n_missed else _("every tested condition met")
    return replace(alternative, finding=finding, state="missed" if n_missed else "met")


def _suggest_step(result: Result) -> Advice:
    """Return the next step for an audit that has tried no change."""
    states = {verdict.state for verdict in result.verdicts}
    policy_name = next(
        (name for name, policy in read_shipped_policies().items() if _can_judge(result, policy)), "policy.toml"
    )
    is_single = len(result.criteria) == 2 and ORIGINAL in result.criteria  # one release, and what it was made of
    tries = result.command == "audit" and is_single
    if not states:
        command = f"unmask {result.command} \u2026 --policy {policy_name}"
        if tries:
            return Advice(_("Add a policy. The audit then judges the release and tries changes:"), command)
        return Advice(_("Add a policy. The audit then judges the release:"), command)
    if states == {"acceptable"}:
        return Advice(_(ACCEPTABLE), CERTIFY)
    if "not acceptable" not in states:
        return Advice(_("Test the other conditions: \u201cnot tested\u201d does not mean safe."))
    if acceptable := _list_acceptable(result.verdicts):
        releases = join_names(acceptable)
        if len(acceptable) == 1:
            return Advice(_("{releases} is acceptable. Write a certificate:", releases=releases), CERTIFY)
        return Advice(_("{releases} are acceptable. Write a certificate:", releases=releases), CERTIFY)
    if ORIGINAL in result.criteria:
        k = suggest_k(next(verdict for verdict in result.verdicts if verdict.state == "not acceptable"), result)
        return Advice(_(LARGER_K), f"unmask protect TABLE \u2026 --k {k} -o other.csv --origin other-origin.csv")
    return Advice(_(ADD_ORIGINAL), f"unmask {result.command} \u2026 --original TABLE --origin ROWS --report page.html")


def _list_acceptable(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the releases that every policy accepts."""
    bad = {verdict.release for verdict in verdicts if verdict.state != "acceptable"}
    names = dict.fromkeys(verdict.release for verdict in verdicts)
    return [release_name(name) for name in names if name not in bad]


def suggest_k(verdict: Verdict, result: Result) -> int:
    """Return a k for the next try: the smallest one that keeps a missed limit on re-identification.

    A class of k people bounds that probability by 1 / k. For other conditions, and if that k is not larger than the k
    of the release, it is twice the latter.
    """
    k = result.criteria.get(verdict.release, {}).get("k")
    missed = [assessment for assessment in verdict.assessments if assessment.state == "missed"]
    smallest = [_smallest_k(assessment) for assessment in missed]
    needs_more = not isinstance(k, int) or any(needed is None or needed <= k for needed in smallest)
    doubled = 2 * k if isinstance(k, int) else DEFAULT_K
    needed = [value for value in smallest if value is not None]
    return max([*needed, *([doubled] if needs_more or not needed else [])])


def _smallest_k(assessment: Assessment) -> int | None:
    """Return the smallest k with 1 / k within a limit on re-identification; None for other conditions."""
    require = assessment.requirement.require
    items = [value.item for value in assessment.violations if value.item.target == IDENTITY]
    if not items or require.measure not in PROBABILITIES or require.field not in PERSON_PROBABILITIES:
        return None
    if require.sign[0] != "<" or require.bound * max(getattr(item, "n", 0) for item in items) < 1:
        return None
    start = max(1, math.floor(1 / require.bound))
    return next(k for k in itertools.count(start) if require.holds(1 / k))


def _to_alternative(change: Change) -> Alternative:
    count = format_share(None) if change.above is None else format_count(change.above)
    figures = (count, format_share(change.utility))
    name = retranslate(change.name)
    return _with_state(Alternative("", figures, name, is_unprotected=change.k is None), change.missed)


def select_change(changes: Sequence[Change]) -> Change | None:
    """Return the first change with the fewest missed conditions; None without changes."""
    return min((change for change in changes if change.k is not None), key=lambda change: change.missed, default=None)


def describe_next(changes: Sequence[Change]) -> str:
    """Return the protection that is enough or comes closest, with its measured effect; "" without changes."""
    change = select_change(changes)
    if change is None:
        return ""
    effect = f"misses {plural(change.missed, 'condition')}" if change.missed else "meets every tested condition"
    detail = "" if change.utility is None else f" and keeps {percent(change.utility)} of the detail"
    return f"What next: {change.name[:1].lower()}{change.name[1:]}, which {effect}{detail}."


def _recommend(change: Change | None) -> Advice:
    """Return the command that makes a change, after its name, which says what becomes of columns."""
    if change is None:
        return Advice("")
    limit = f" --l {change.l}" if change.l else ""
    return Advice(f"{retranslate(change.name)}:", f"unmask protect \u2026 --k {change.k}{limit}")


def _believed_worst(row: Row, scope: Scope) -> float:
    """Return the most exposed of a row by the adversary's belief: realized success is 0 or 1 for each person."""
    key = row.release, row.adversary, row.target, quantity(row.measure)
    beliefs = (
        belief
        for belief in scope.result.rows
        if (belief.release, belief.adversary, belief.target, belief.measure) == key
    )
    return next((belief.worst for belief in beliefs), math.nan)


FARTHEST = 8.0
"""Largest ratio of a value to its limit, or the inverse, in the drawing of a condition."""


def draw_ratio(item: DecisionItem) -> str:
    """Return a value next to its limit on a logarithmic line, from an eighth of the limit to eight times it."""
    ratio, state = item.ratio, item.state
    if ratio is None:
        return ""
    dash = ' stroke-dasharray="2 4"' if math.isnan(ratio) else ""
    drawn = [f'<path class="line" d="M0,10H76"{dash}/>', '<path class="limit" d="M38,3V17"/>']
    if not math.isnan(ratio):
        share = math.log(min(max(ratio, 1 / FARTHEST), FARTHEST)) / math.log(FARTHEST)
        x = coordinate(38 + 34 * share)
        drawn += [f'<path class="off" d="M38,10H{x}"/>', f'<circle cx="{x}" cy="10" r="4.5"/>']
    look = f'class="dist {state}" width="76" height="20" viewBox="0 0 76 20" aria-hidden="true"'
    return f"<svg {look}>{''.join(drawn)}</svg>"
