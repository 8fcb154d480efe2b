"""Can the numbers be trusted? What adversaries announce, beside what comes true."""

from __future__ import annotations

from collections.abc import Sequence

from unmask.reports.charts import plot
from unmask.reports.data import Scope
from unmask.reports.facts.tables import Promise
from unmask.reports.marks import Key, Line, Spot
from unmask.reports.parts import Figure, Figures, Section, lead, parts
from unmask.reports.scales import risks
from unmask.reports.svg import Drawing
from unmask.reports.words import percent, what

HOW = (
    "People whose truth is known, those with about the same announced success together. On the dotted line what is "
    "announced comes true; above it the adversary is right more often than they believe, below it less often. Thin "
    "lines are 95\u00a0% intervals. A belief is refuted, and its rows say so, where the mean of what came true, over "
    "all people or over a tenth of announced success, is farther from what was announced than chance explains (and, of "
    "a belief that is not exact, than 3 points)."
)


def promises_section(scope: Scope) -> Section | None:
    """A chart for each release and target, with a line for each adversary."""
    groups: dict[tuple[str, str], list[Promise]] = {}
    for one in scope.data.promises:
        groups.setdefault((one.release, one.target), []).append(one)
    several = len({release for release, _ in groups}) > 1
    figures = [
        Figure(f"{what(target)}{f', {release}' if several else ''}", _chart(scope, own))
        for (release, target), own in groups.items()
    ]
    heading = "Can the numbers be trusted? Announced and come true"
    return Section("promises", heading, parts(lead(HOW), Figures(tuple(figures)))) if figures else None


def _chart(scope: Scope, own: Sequence[Promise]) -> Drawing:
    """Announced success across, what came true upwards, both on the same scale."""
    values = [value for one in own for value in (one.announced, one.realized)]
    x, y = risks(values, "Announced success"), risks(values, "Came true")
    spots = [_spot(scope, one) for one in own]
    ends = sorted(value for value in {min(values), max(values), *values} if x.place(value) == x.place(value))
    even = Line("", [(value, value) for value in ends], 2, shade=True, marked=False, width=1.2)
    said = "; ".join(f"{one.adversary}: {_told(one)}" for one in own)
    label = f"What came true of what was announced. {said}."
    keys = [Key(_whose(scope, name), scope.styles[name]) for name in dict.fromkeys(one.adversary for one in own)]
    return plot(x, y, [even], spots=spots, keys=keys, height=260.0, label=label)


def _spot(scope: Scope, one: Promise) -> Spot:
    whose, style = _whose(scope, one.adversary), scope.styles[one.adversary]
    told = f"{whose}: {_told(one)}"
    return Spot(one.announced, one.realized, style, "", one.low, one.high, of=whose, told=told)


def _whose(scope: Scope, name: str) -> str:
    return scope.marked(name) or name


def _told(one: Promise) -> str:
    return f"announced {percent(one.announced)}, came true {percent(one.realized)} of {one.people:,} people"
