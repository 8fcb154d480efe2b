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
from unmask.measures.interval import of_targets
from unmask.measures.registry import quantity
from unmask.policy import Assessment, Policy, Verdict
from unmask.policy.condition import QUANTILES
from unmask.policy.policies import read_shipped_policies
from unmask.reports import blocks
from unmask.reports.data import ORIGINAL, PROBABILITIES, PROSECUTOR, ReportData, Scope
from unmask.reports.figures import risk_figure
from unmask.reports.findings.rows import at_risk, risky, sentences
from unmask.reports.findings.verdict import (
    NO_POLICY,
    STATE,
    STATES,
    called,
    joint,
    limit_of,
    rest,
    unjudged,
)
from unmask.reports.parts import Advice, AtRisk, Grid, Screen, Section
from unmask.reports.screens.conditions import SEEN, TOLD, checked, factor, first, one_sentence
from unmask.reports.words import IDENTITY, row_value
from unmask.results import Alternative, DecisionItem, Row
from unmask.results.change import Change
from unmask.results.distribution import Distribution
from unmask.results.formats import SPACE, percent
from unmask.results.words import as_sentences, listed, plural, rate

LOOK = {"acceptable": "met", "not acceptable": "missed", "not decided": "untested"}
"""A verdict -> how its words look."""

BY = "by their risk"

UTILITY = (
    "Utility is one minus the global certainty penalty, which counts no kept column; any other that is left out counts "
    "as lost."
)

ADD_ORIGINAL = "No change was tried. Add the table before protection, and the audit tries changes and measures them:"

LARGER_K = (
    "No change was tried. An audit tries changes of a single protected release, if no person was held back and this is "
    "not turned off. Protect with a larger k, then audit again:"
)

DEFAULT_K = 10
"""The k to try if that of the release is not known."""

PERSON_PROBABILITIES = frozenset({None, "posterior", "high", "worst", *QUANTILES})
"""Fields of a measure that are at most 1 / k if the adversary cannot tell k people apart."""


def screen(scope: Scope) -> Screen:
    """The first screen of an audit."""
    verdicts = scope.data.verdicts
    found = Screen("none", *NO_POLICY, _lede(scope), (), _how(scope))
    if len(verdicts) == 1:
        items = first(checked(one, scope.data.least) for one in verdicts[0].assessments)
        state = verdicts[0].state
        found = replace(found, state=LOOK[state], first=STATES[state], rest=rest(verdicts[0]), items=items)
    elif verdicts:
        state, rest_ = joint(verdicts)
        items = first(_summed(one, verdicts, scope.data) for one in verdicts)
        found = replace(found, state=LOOK[state], first=STATES[state], rest=rest_, items=items, beside="")
    asked = _asked(verdicts, scope.data) if len(verdicts) > 1 else ()
    words = found.words if not verdicts else (*asked, *_more(verdicts, found), *_left(scope.data))
    return replace(found, words=(*as_sentences(scope.data.cautions), *words), who=_who(scope), next=_next(scope))


def conditions_section(scope: Scope) -> Section | None:
    """Every condition, where the first screen has no room for them, or for what they are about."""
    verdicts = scope.data.verdicts
    if (len(verdicts) == 1 and len(verdicts[0].assessments) <= TOLD) or not verdicts:
        return None
    told = f"{sum(len(one.assessments) for one in verdicts):,} conditions with their values, limits and sources."
    return Section("conditions", "Every condition", tuple(_table(one, scope.data) for one in verdicts), told)


def _table(verdict: Verdict, data: ReportData) -> Grid:
    rows = [
        (one.name, STATE[judged.state], one.value, one.limit, one.finding, one.source, one.about)
        for judged in verdict.assessments
        for one in [checked(judged, data.least)]
    ]
    head = ("Condition", "State", "Value", "Limit", "How far", "Who asks for it", "What it is about")
    return Grid(head, (("", tuple(rows)),), text=2, caption=f"{verdict.release}, {verdict.policy.title}", listed=True)


def _more(verdicts: Sequence[Verdict], shown: Screen) -> Iterator[str]:
    n = len(verdicts) if len(verdicts) > 1 else sum(len(one.assessments) for one in verdicts)
    if n > len(shown.items):
        yield f"{n - len(shown.items):,} more are folded below."


def _left(data: ReportData) -> list[str]:
    """Whom the verdicts leave out."""
    several = len({one.release for one in data.verdicts}) > 1
    told = {(one.release, left) for one in data.verdicts if (left := unjudged(one, data))}
    return [f"{release}: {left}" if several else left for release, left in sorted(told)[:SEEN]]


def _lede(scope: Scope) -> str:
    """What the strongest adversary reaches."""
    return one_sentence(next(iter(sentences(scope.data)), ""))


def _how(scope: Scope) -> tuple[str, ...]:
    """How a policy is given: the shipped ones that could judge this audit, or a condition of one's own."""
    data = scope.data
    known = [name for name, one in read_shipped_policies().items() if _answers(data, one)]
    asks = "k >= 5" if data.result is None else data.result.sample_condition
    own = f'a condition of your own, such as "{asks}"'
    return (
        "No limit was set, so that nothing here is said to be acceptable.",
        f"Set one with --policy: {f'{listed(known)} come with unmask, or give ' if known else ''}{own}.",
    )


def _answers(data: ReportData, policy: Policy) -> bool:
    """Whether any condition of a policy can be tested here."""
    return any(one.count("untested") < len(one.assessments) for one in data.judged([policy]))


def _summed(verdict: Verdict, all_: Sequence[Verdict], data: ReportData) -> DecisionItem:
    """A verdict as a line: how many conditions are missed, and the one that is missed most, or is nearest to it."""
    titles = {one.policy.title for one in all_}
    name = verdict.release if len(titles) == 1 else verdict.policy.title
    name = name if len(titles) in (1, len(all_)) else f"{verdict.release}, {verdict.policy.title}"
    most = _farthest(verdict)
    told = rest(verdict).partition(": ")[2].rstrip(".")
    shown = checked(most, data.least)
    return replace(shown, state=LOOK[verdict.state], name=name, finding=told, about="", source=called(most.requirement))


def _farthest(verdict: Verdict) -> Assessment:
    """The condition that is missed most, or is nearest to it."""
    return max(
        verdict.assessments, key=lambda one: (one.state == "missed", one.state == "untested", factor(one) or 0.0)
    )


def _asked(verdicts: Sequence[Verdict], data: ReportData) -> Iterator[str]:
    """What the conditions that several verdicts are told by are about, and who asks for them, once each."""
    told = (checked(_farthest(one), data.least) for one in verdicts[:SEEN])
    yield from dict.fromkeys(f"{one.name}: {'; '.join(filter(None, (one.about, one.source)))}." for one in told)


# --- who -------------------------------------------------------------------------------------------------------------


def _who(scope: Scope) -> AtRisk | None:
    """Who is at risk: as the result of the audit says, else of people by their probability, else of all together."""
    if scope.data.result is not None and scope.data.result.at_risk is not None:
        return blocks.format_risk(scope.data.result.at_risk)
    release = _release(scope)
    risk = at_risk(release, scope)
    return _together(release, scope) if risk is None else _people(risk, scope)


def _release(scope: Scope) -> str:
    """The release that the screen is about: the first that is not acceptable, or the one where most are at risk."""
    bad = [one.release for one in scope.data.verdicts if one.state == "not acceptable"]
    heads = [row for key, row in scope.heads.items() if key[0] in scope.protected]
    own = [row for row in heads if row.target == IDENTITY] or heads
    return next(iter(bad), max(own, key=risky).release if own else scope.protected[0])


def _together(release: str, scope: Scope) -> AtRisk | None:
    """What the strongest adversary reaches on average, and of the worst-off."""
    rows = [row for key, row in scope.heads.items() if key[0] == release]
    if not rows:
        return None
    row = max(rows, key=risky)
    most = _believed_worst(row, scope)
    worst = (("Worst-off", percent(most)),) if math.isfinite(most) and row.unit == "probability" else ()
    return AtRisk(row_value(row), f"of {row.n:,} {scope.said('people')}, by the adversary {row.adversary}", facts=worst)


def _people(risk: Distribution, scope: Scope) -> AtRisk:
    judged = [one for verdict in scope.data.verdicts if verdict.release == risk.release for one in verdict.assessments]
    limit, whose = limit_of(risk, judged)
    above = risk.above[limit]
    name = f"the {risk.people:,}, by their risk" if risk.drawn_from else BY
    chart = risk_figure(
        "",
        [(name, "", risk)],
        limit,
        scope.data.least,
        style=scope.styles.get(risk.adversary, 0),
        label=f"People by the probability that {scope.subject(risk.adversary)} is right about them",
    )
    number, of, drawn = _counted(risk, above, scope)
    said = f"of {of:,} {scope.said('people')} each run a risk above {100 * limit:g}{SPACE}%, {whose}{drawn}"
    return AtRisk(number, said, chart, tuple(_facts(risk, limit, scope, judged)))


def _counted(risk: Distribution, above: Count, scope: Scope) -> tuple[str, int, str]:
    """How many are at risk, of how many, and how that is known of people who were not drawn."""
    if isinstance(above, str):
        return above, risk.people, f"; they were drawn from {risk.drawn_from:,}" if risk.drawn_from else ""
    if not risk.drawn_from:
        return f"{above:,}", risk.people, ""
    value, low, high = estimate_all(risk, above, scope.data.least)
    drawn = f"{risk.people:,} {scope.said('people')} drawn at random"
    return f"{value:,}", risk.drawn_from, f"; estimated from {drawn}, {low:,} to {high:,} with 95{SPACE}%"


def estimate_all(risk: Distribution, above: int, least: int = 1) -> tuple[int, int, int]:
    """Return how many of all people are at risk if some were drawn, with a 95 % interval, in steps of `least`.

    >>> estimate_all(Distribution("r", "a", "identity", (0.0, 1.0), (1.0,), 100, drawn_from=300), 50)
    (150, 126, 174)
    """
    is_above = (np.arange(risk.people) < above).astype(np.float64)
    low, high, _ = of_targets(is_above, equal_weights(risk.people), drawn_from=risk.drawn_from, rate=True)
    counts = (risk.drawn_from * share for share in (is_above.mean(), low or 0.0, high or 1.0))
    value, first, last = (least * round(count / least) for count in counts)
    return value, max(first, above), last


def _facts(risk: Distribution, limit: float, scope: Scope, judged: Sequence[Assessment]) -> Iterator[tuple[str, str]]:
    """What they are asked for, the worst-off where no condition shows them, whether people have several rows, and how
    many it was before protection.
    """
    yield "Asked for", "whose record it is" if risk.target == IDENTITY else risk.target
    if group := _largest(risk, limit, scope):
        yield "Largest group", group
    shown = {one.requirement.require.field for one in judged if one.closest and one.closest.item.target == risk.target}
    worst = _worst(risk, scope)
    if "worst" not in shown and math.isfinite(worst):
        yield "Worst-off", percent(worst)
    fewest = scope.data.criteria.get(risk.release, {}).get("k_people")
    if isinstance(fewest, int):
        people = "1 person" if fewest == 1 else f"{fewest:,} people"
        yield "Rows", f"some people have several: a class has at least {people}"
    key = (ORIGINAL, risk.adversary, risk.target)
    bare = next((one for one in scope.data.distribution if (one.release, one.adversary, one.target) == key), None)
    if bare is not None and risk.release != ORIGINAL and limit in bare.above:
        above = bare.above[limit]
        yield "Unprotected", f"{above if isinstance(above, str) else f'{above:,}'} people"


def _largest(risk: Distribution, limit: float, scope: Scope) -> str:
    """The most people above the limit whom the same records fit, and how sure the adversary is of them."""
    if risk.adversary != PROSECUTOR or risk.above[limit] == 0:
        return ""
    above = [row for row in _rows_about(risk, "classes", scope) if row["probability"] > limit]
    if not above:
        return f"fewer than {scope.data.least:,} people alike in what is known of them"
    largest = max(above, key=lambda row: row["people"])
    return f"{largest['people']:,} people alike in what is known of them, up to {percent(largest['probability'])}"


def _rows_about(risk: Distribution, table: str, scope: Scope) -> tuple[Mapping[str, Any], ...]:
    """Return the rows of a table about the release and target of a distribution; none without that table."""
    tables = {} if scope.data.result is None else scope.data.result.tables_by_name
    return tables[table].where(release=risk.release, target=risk.target).rows if table in tables else ()


def _worst(risk: Distribution, scope: Scope) -> float:
    """The most that anybody is re-identified with, or believed to have a value that is not the commonest."""
    if risk.target == IDENTITY:
        row = scope.heads.get((risk.release, risk.adversary, risk.target))
        return math.nan if row is None else _believed_worst(row, scope)
    return max((row["highest"] for row in _rows_about(risk, "values", scope) if row["secret"]), default=math.nan)


# --- what next -------------------------------------------------------------------------------------------------------


def _next(scope: Scope) -> Advice:
    """Changes that were tried; else what would try them, decide what is open, or sign what is acceptable."""
    data = scope.data
    if data.changes:
        heads = ("people above", "utility kept")
        return Advice("", _protect(data.changes), tuple(map(_tried, data.changes)), heads, UTILITY)
    if data.result is not None and (advice := blocks.format_advice(data.result, data.verdicts)) is not None:
        return advice
    return _advised(data)


def _advised(data: ReportData) -> Advice:
    """Of an audit that has tried nothing."""
    verb = "audit" if data.result is None else data.result.command
    states = {one.state for one in data.verdicts}
    named = next((name for name, one in read_shipped_policies().items() if _answers(data, one)), "policy.toml")
    alone = len(data.criteria) == 2 and ORIGINAL in data.criteria  # one release, and what it was made of
    tries = ", and tries what may be done" if verb == "audit" and alone else ""
    if not states:
        return Advice(f"Set a limit; the page then judges by it{tries}.", f"unmask {verb} \u2026 --policy {named}")
    if states == {"acceptable"}:
        return Advice(blocks.ACCEPTABLE, blocks.CERTIFY)
    if "not acceptable" not in states:
        return Advice("Test what is open: nothing is missed, and what is not known is not safe.")
    if ORIGINAL in data.criteria:
        k = suggest_k(next(verdict for verdict in data.verdicts if verdict.state == "not acceptable"), data)
        return Advice(LARGER_K, f"unmask protect TABLE \u2026 --k {k} -o other.csv --origin other-origin.csv")
    return Advice(ADD_ORIGINAL, f"unmask {verb} \u2026 --original TABLE --origin ROWS --report page.html")


def suggest_k(verdict: Verdict, data: ReportData) -> int:
    """Return a k for the next try: the smallest one that keeps a missed limit on re-identification.

    A class of k people bounds that probability by 1 / k. For other conditions, and if that k is not larger than the k
    of the release, it is twice the latter.
    """
    k = data.criteria.get(verdict.release, {}).get("k")
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


def _tried(change: Change) -> Alternative:
    above = (
        rate(None) if change.above is None else change.above if isinstance(change.above, str) else f"{change.above:,}"
    )
    told = f"{plural(change.missed, 'condition')} missed" if change.missed else "every tested condition met"
    state = "missed" if change.missed else "met"
    figures, is_unprotected = (above, rate(change.utility)), change.k is None
    return Alternative("", figures, change.name, is_unprotected=is_unprotected, state=state, finding=told)


def best(changes: Sequence[Change]) -> Change | None:
    """The change that misses fewest conditions, the first of them; None where none was made."""
    return min((one for one in changes if one.k is not None), key=lambda one: one.missed, default=None)


def _protect(changes: Sequence[Change]) -> str:
    """How the best change is made."""
    made = best(changes)
    if made is None:
        return ""
    asked = f"unmask protect \u2026 --k {made.k}" + (f" --l {made.l}" if made.l else "")
    return asked + (f", without {made.without}" if made.without else "")


def _believed_worst(row: Row, scope: Scope) -> float:
    """Return the worst-off of a row by the adversary's belief: realized success is 0 or 1 for each person."""
    whose = row.release, row.adversary, row.target, quantity(row.measure)
    rows = (one for one in scope.data.rows if (one.release, one.adversary, one.target, one.measure) == whose)
    return next((one.worst for one in rows), math.nan)
