"""A result at a glance: criteria of each release, and what each adversary reaches, as a table for a terminal."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

from unmask.core.errors import visible
from unmask.facts import Count
from unmask.findings.conditions import first_sentence
from unmask.findings.row_words import row_value
from unmask.findings.sentences import list_findings, select_leading, sentences
from unmask.findings.verdict_words import (
    NO_POLICY,
    STATE,
    STATES,
    amount,
    combine_verdicts,
    describe_contradiction,
    describe_distance,
    describe_unjudged,
    describe_verdict,
    name_requirement,
)
from unmask.measures.registry import SHARES
from unmask.policy import Assessment, Verdict
from unmask.results import Result, Row
from unmask.results.distribution import Distribution
from unmask.results.formats import SPACE, number, percent
from unmask.results.names import IDENTITY, LIMITS, OBSERVER, ORDER_READER, PROSECUTOR
from unmask.results.result import Value
from unmask.results.rows import ORIGINAL
from unmask.results.scope import Scope, headlines

CRITERIA = {"rows": "rows", "classes": "classes", "k": "k", "l_distinct": "l"}
"""Criterion -> head of its column."""

CLOSENESS = ("t_hierarchical", "t_ordered", "t_equal")
"""Distances of t-closeness, the one with most knowledge of the values first."""

NAMES = frozenset(
    {"", "condition", "how far", "release", "policy", "adversary", "target", "measure", "unit", "verdict"}
)
"""Heads of columns of words."""

BELIEVED = "success_probability"
"""The measure with the highest risk: realized success is 0 or 1 for each person."""

WIDEST = 48
"""Characters of a name."""

MOST = 20
"""Rows of a result without a success."""


Key = tuple[str, str, str]
"""Release, adversary and target of a row."""


class Line(NamedTuple):
    """A line for a terminal; kind : "head", "risk" if a person is above the limit, or ""."""

    text: str
    kind: str = ""


def overview(result: Result) -> str:
    """Return the lines as one text, for `repr`."""
    return "\n".join(line.text for line in lines(result))


def lines(result: Result) -> Iterator[Line]:
    """Yield the title, the criteria of each release, and a line for each adversary, target and release."""
    yield Line(visible(result.title), "head")
    if result.decision is not None:
        yield Line(visible(result.setting))
        return
    yield Line("")
    yield from verdict_lines(result)
    yield from _grid(("release", *CRITERIA.values(), "t"), [(_criteria(*item), "") for item in _list_criteria(result)])
    heads = list(headlines(result).values())
    yield from _adversaries(heads, result)
    if not heads:
        columns = ("release", "adversary", "measure", "value", "before", "unit")
        rows = [
            (row.release, row.adversary, row.measure, number(row.posterior), number(row.prior), row.unit)
            for row in result.rows[:MOST]
        ]
        yield from _grid(columns, [(row, "") for row in rows])


def release_lines(result: Result) -> Iterator[Line]:
    """Yield three sentences about judged releases, and the prosecutor's success on each release.

    The sentences are the verdict, the success on the riskiest release, and the adversaries that no condition is about.
    """
    state, summary = combine_verdicts(result.verdicts)
    heads = {key: row for key, row in headlines(result).items() if key[1:] == (PROSECUTOR, IDENTITY)}
    yield Line(visible(f"{STATES[state]} {summary}"), "head")
    for finding in list_findings(Scope(result), heads)[:1]:
        yield Line(visible(first_sentence(finding)).replace(SPACE, " "))
    yield Line(visible(describe_unjudged(result.verdicts, result)).replace(SPACE, " "))
    yield from _release_grid(heads, result)


def _release_grid(heads: Mapping[Key, Row], result: Result) -> Iterator[Line]:
    """Yield a line for each release: success, people above the limit, highest risk and verdict."""
    exceed = {(item.release, item.adversary, item.target): _at_risk(item) for item in result.distribution}
    worst = {(row.release, row.adversary, row.target): row.worst for row in result.rows if row.measure == BELIEVED}
    verdicts = {verdict.release: verdict.state for verdict in result.verdicts}
    head = ("release", "re-identified", f"above {percent(LIMITS['identity'], 0)}", "highest risk", "verdict")
    lines = []
    for key, row in heads.items():
        verdict = verdicts.get(row.release, "")
        cells = (row.release, row_value(row), _figure(exceed.get(key)), percent(worst[key]), verdict)
        lines.append((cells, "risk" if verdict == "not acceptable" else ""))
    yield from _grid(head, lines)


def _adversaries(heads: Sequence[Row], result: Result) -> Iterator[Line]:
    """Yield the success of each adversary, and the number of people above the limit."""
    several = len({row.release for row in heads}) > 1
    control = any(row.control is not None for row in heads)
    exceed = {(item.release, item.adversary, item.target): _at_risk(item) for item in result.distribution}
    drawn = {
        (item.release, item.adversary, item.target): item.people for item in result.distribution if item.drawn_from
    }
    worst = {(row.release, row.adversary, row.target): row.worst for row in result.rows if row.measure == BELIEVED}
    names = ("adversary", "target", "success", "guessing", *("control",) * control, "highest risk")

    def line(row: Row) -> tuple[Sequence[str], str]:
        key = row.release, row.adversary, row.target
        n_above, highest = exceed.get(key), worst.get(key, math.nan)
        total = f" of {drawn[key]:,}" if key in drawn and n_above is not None else ""
        risk_cells = (f"{'-' if n_above is None else _figure(n_above)}{total}",) * bool(exceed)
        cells = (
            *_reached(row, several=several, control=control),
            "-" if math.isnan(highest) else percent(highest),
            *risk_cells,
        )
        return cells, _kind(row, n_above, highest)

    yield from _grid(("release",) * several + names + ("at risk",) * bool(exceed), [line(row) for row in heads])
    if exceed and heads:
        note = " They are counted among those who were drawn at random." if drawn else ""
        yield from (Line(""), Line(f"At risk: {_counted({target for _, _, target in exceed})}.{note}"))
    highest_risks = ((row.posterior, worst.get((row.release, row.adversary, row.target), math.inf)) for row in heads)
    if any(success > highest and percent(success) != percent(highest) for success, highest in highest_risks):
        yield Line("Success counts right guesses. The highest risk is what the adversary believes, and can be lower.")


def _counted(targets: Collection[str]) -> str:
    """Return a legend of the people at risk, for each kind of target."""
    reidentified = f"people re-identified with more than {percent(LIMITS['identity'], 0)}"
    inferred = (
        f"people with a value, other than the most common one, inferred with more than {percent(LIMITS['value'], 0)}"
    )
    phrases = [reidentified] * (IDENTITY in targets) + [inferred] * bool(set(targets) - {IDENTITY})
    return "; ".join(phrases).replace(SPACE, " ")


def verdict_lines(result: Result) -> Iterator[Line]:
    """Yield each verdict as a sentence, and a line for each of its conditions; a summary first if there are several."""
    if not result.verdicts:
        yield Line(" ".join(NO_POLICY))
    if len(result.verdicts) > 1:
        state, summary = combine_verdicts(result.verdicts)
        yield Line(visible(f"{STATES[state]} {summary}"), "head")
    if len(result.verdicts) > 1 and all(len(verdict.assessments) == 1 for verdict in result.verdicts):
        yield from _condition_grid(result.verdicts)
    else:
        yield from _verdict_grids(result.verdicts)
    if omission := describe_unjudged(result.verdicts, result):
        yield from (Line(""), Line(visible(omission).replace(SPACE, " ")))


def _verdict_grids(verdicts: Sequence[Verdict]) -> Iterator[Line]:
    """Yield each verdict as a sentence above its conditions."""
    several = len({verdict.release for verdict in verdicts}) > 1
    for verdict in verdicts:
        prefix = f"{verdict.release}: " if several else ""
        yield Line(visible(prefix + describe_verdict(verdict)), "risk" if verdict.state != "acceptable" else "head")
        yield from _condition_grid([verdict])


def _condition_grid(verdicts: Sequence[Verdict]) -> Iterator[Line]:
    """Yield a line for each condition, with the release and the policy if there are several."""
    head = ("", "release", "policy", "condition", "value", "limit", "how far")
    rows = [
        (STATE[assessment.state], verdict.release, verdict.policy.title, *_condition(assessment))
        for verdict in verdicts
        for assessment in verdict.assessments
    ]
    is_shown = [True] * len(head)
    is_shown[1], is_shown[2] = (len({row[i] for row in rows}) > 1 for i in (1, 2))
    is_shown[-1] = any(row[-1] for row in rows)
    lines = [(tuple(compress(row, is_shown)), "" if row[0] == STATE["met"] else "risk") for row in rows]
    yield from _grid(tuple(compress(head, is_shown)), lines)


def _condition(assessment: Assessment) -> tuple[str, ...]:
    """Return name, value, limit and distance of a condition."""
    value = "-" if assessment.closest is None else amount(assessment, assessment.closest.value)
    far = describe_contradiction(assessment) or describe_distance(assessment)
    return (
        name_requirement(assessment.requirement),
        value,
        amount(assessment, assessment.requirement.require.bound),
        far,
    )


def list_other_findings(result: Result) -> list[str]:
    """Return the findings that the table of adversaries does not have, such as those about columns and row order."""
    scope = Scope(result)
    mentioned = {
        key: row
        for key, row in select_leading(scope.heads).items()
        if row.excess is None and key[1] not in {ORDER_READER, OBSERVER}
    }
    return [text for text in sentences(result) if text not in list_findings(scope, mentioned)]


def _list_criteria(result: Result) -> list[tuple[str, dict[str, Value]]]:
    return [(name, dict(values)) for name, values in result.criteria.items() if name != ORIGINAL and "k" in values]


def _criteria(name: str, values: dict[str, Value]) -> tuple[str, ...]:
    """Return the cells of a release; "-" for missing criteria."""
    close = next((values[criterion] for criterion in CLOSENESS if values.get(criterion) is not None), None)
    return (name, *(_figure(values.get(criterion)) for criterion in CRITERIA), _figure(close))


def _figure(value: Value) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else number(value, 2) if isinstance(value, float) else value


def _reached(row: Row, *, several: bool, control: bool) -> tuple[str, ...]:
    """Return success, guessing, and success on the control group, as the page writes them."""
    format_figure = percent if row.unit in SHARES else number
    controls = ("-" if row.control is None else format_figure(row.control),) * control
    figures = (row_value(row), format_figure(row.prior), *controls)
    return (*((row.release,) if several else ()), row.adversary, row.target, *figures)


def _kind(row: Row, n_above: Count | None, worst: float) -> str:
    """Return "risk" if a person is above the limit of the target; "" otherwise."""
    risky = worst > _limit(row.target) if n_above is None else bool(n_above)
    return "risk" if row.release != ORIGINAL and risky else ""


def _at_risk(distribution: Distribution) -> Count | None:
    """Return the number of people above the limit of their target."""
    return distribution.above.get(_limit(distribution.target))


def _limit(target: str) -> float:
    return LIMITS["identity" if target == IDENTITY else "value"]


def _grid(head: Sequence[str], rows: Sequence[tuple[Sequence[str], str]]) -> Iterator[Line]:
    """Yield columns of the smallest width: names to the left, figures to the right."""
    if not rows:
        return
    cells = [head, *([_cut(cell) for cell in row] for row, _ in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    kinds = ("head", *(kind for _, kind in rows))
    yield Line("")
    for row, kind in zip(cells, kinds, strict=True):
        parts = (
            f"{cell:{width}}" if heading in NAMES else f"{cell:>{width}}"
            for heading, cell, width in zip(head, row, widths, strict=True)
        )
        yield Line("  ".join(parts).rstrip(), kind)


def _cut(cell: str) -> str:
    text = visible(cell).replace(SPACE, " ")
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
