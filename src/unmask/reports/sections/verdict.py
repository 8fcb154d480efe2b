"""The first screen: acceptable or not, condition by condition, and who is at risk."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from unmask.policy import Judged, Verdict
from unmask.policy.verdict import times
from unmask.reports.data import COUNTS, LIMITS, ReportData, Scope
from unmask.reports.facts.tables import Change, Distribution
from unmask.reports.few import few
from unmask.reports.findings.rows import at_risk
from unmask.reports.findings.verdict import STATE, STATES, amount, called, distance, rest
from unmask.reports.parts import Acceptable, Checked, Grid, Part, Tried, grid
from unmask.reports.people import people
from unmask.reports.sections.tables import spread_of
from unmask.reports.svg import number as place
from unmask.reports.words import IDENTITY, percent, plural, rate

FARTHEST = 8.0
"""How many times the limit, or part of it, the strip of a condition reaches."""


def verdict_parts(scope: Scope) -> Iterator[Part]:
    """A block for each verdict; of several releases or policies first a table of all."""
    verdicts = scope.data.verdicts
    if len(verdicts) > 1:
        yield _table(verdicts)
    for verdict in verdicts:
        yield _block(verdict, scope)


def _table(verdicts: tuple[Verdict, ...]) -> Grid:
    lines = (
        (one.release, one.policy.title, STATES[one.state], *(f"{one.count(state):,}" for state in STATE))
        for one in verdicts
    )
    head = ("Release", "Policy", "Verdict", *(word.capitalize() for word in STATE.values()))
    return grid(head, lines, "Conditions of each policy", text=3)


def _block(verdict: Verdict, scope: Scope) -> Acceptable:
    several = len({one.release for one in scope.data.verdicts}) > 1
    items = tuple(_checked(one, scope.data) for one in verdict.judged)
    state = {"acceptable": "met", "not acceptable": "missed", "not decided": "untested"}[verdict.state]
    first = f"{verdict.release}: {STATES[verdict.state].lower()}" if several else STATES[verdict.state]
    risk = at_risk(verdict.release, scope)
    who = {} if risk is None else _who(risk, scope)
    changes = scope.data.changes if verdict is scope.data.verdicts[0] else ()
    return Acceptable(
        state, first, rest(verdict), items, **who, changes=tuple(map(_tried, changes)), advice=_advice(changes)
    )


def _tried(change: Change) -> Tried:
    above = (
        rate(None) if change.above is None else change.above if isinstance(change.above, str) else f"{change.above:,}"
    )
    told = f"{plural(change.missed, 'condition')} missed" if change.missed else "every tested condition met"
    kept = rate(change.utility)
    return Tried(change.name, told, "missed" if change.missed else "met", (above, kept))


def _advice(changes: Sequence[Change]) -> str:
    """How the change is made that misses fewest conditions, the first of them."""
    made = sorted((one for one in changes if one.k is not None), key=lambda one: one.missed)
    if not made:
        return ""
    best = made[0]
    asked = f"unmask protect \u2026 --k {best.k}" + (f" --l {best.l}" if best.l else "")
    return asked + (f", without {best.without} in -q" if best.without else "")


def _checked(one: Judged, data: ReportData) -> Checked:
    asked, found = one.requirement, one.nearest
    value = "\u2013" if found is None else amount(one, found.value)
    if found is not None and asked.require.measure in COUNTS:
        value = str(few(int(found.value), data.least))
    factor = None if found is None else times(found.value, asked.require)
    return Checked(
        state=one.state,
        name=called(asked),
        told=distance(one) or one.unknown,
        source=asked.source,
        value=value,
        limit=f"limit {amount(one, asked.require.bound)}",
        drawing=_strip(factor, one.state),
    )


def _strip(factor: float | None, state: str) -> str:
    """A value beside its limit on a logarithmic line, from an eighth of the limit to eight times it."""
    dash = ' stroke-dasharray="2 4"' if factor is None else ""
    drawn = [f'<path class="line" d="M0,10H76"{dash}/>', '<path class="limit" d="M38,3V17"/>']
    if factor is not None:
        share = math.log(min(max(factor, 1 / FARTHEST), FARTHEST)) / math.log(FARTHEST)
        x = place(38 + 34 * share)
        drawn += [f'<path class="off" d="M38,10H{x}"/>', f'<circle cx="{x}" cy="10" r="4.5"/>']
    look = f'class="dist {state}" width="76" height="20" viewBox="0 0 76 20" aria-hidden="true"'
    return f"<svg {look}>{''.join(drawn)}</svg>"


def _who(risk: Distribution, scope: Scope) -> dict[str, Any]:
    limit = LIMITS["identity" if risk.target == IDENTITY else "value"]
    above, share = risk.above[limit], percent(limit, 0)
    worst = next(
        (
            row.worst
            for row in scope.data.rows
            if (row.release, row.adversary, row.target) == (risk.release, risk.adversary, risk.target)
            and row.measure == "success_probability"
        ),
        math.nan,
    )
    drawing = people(
        [spread_of(risk, limit, "by their risk")],
        risk.edges,
        style=scope.styles.get(risk.adversary, 0),
        limit=limit if limit in risk.edges else None,
        label=f"People by the probability that {scope.subject(risk.adversary)} is right about them.",
    )
    return {
        "big": above if isinstance(above, str) else f"{above:,}",
        "people": f"of {risk.people:,} {scope.said('people')} above {share}",
        "strip": drawing,
        "facts": (
            ("Adversary", scope.words[risk.adversary]),
            ("Asked for", "whose record it is" if risk.target == IDENTITY else risk.target),
            *((("Worst-off", percent(worst)),) if math.isfinite(worst) else ()),
        ),
    }
