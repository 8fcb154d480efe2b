"""Can the numbers be trusted? What adversaries announce, beside what comes true."""

from __future__ import annotations

from collections.abc import Sequence

from unmask.render import Figure
from unmask.reports.data import Scope
from unmask.reports.facts.tables import Promise
from unmask.reports.parts import Figures, Section, lead, parts
from unmask.reports.words import what
from unmask.results import Chart, Column, Table

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
        _figure(scope, f"{what(target)}{f', {release}' if several else ''}", own)
        for (release, target), own in groups.items()
    ]
    heading = "Can the numbers be trusted? Announced and come true"
    return Section("promises", heading, parts(lead(HOW), Figures(tuple(figures)))) if figures else None


COLUMNS = (
    Column("adversary"), Column("style"), Column("announced", "Announced success", "share"),
    Column("realized", "Came true", "share"), Column("low", kind="share"), Column("high", kind="share"),
    Column("people", "People", "people"),
)  # fmt: skip


def _figure(scope: Scope, title: str, own: Sequence[Promise]) -> Figure:
    """Announced success across, what came true upwards."""
    records = [
        (
            scope.marked(one.adversary) or one.adversary, scope.styles[one.adversary], one.announced, one.realized,
            one.low, one.high, one.people,
        )
        for one in own
    ]  # fmt: skip
    chart = Chart(
        "points", "promises", "announced", "realized", "adversary", title=title,
        label="What came true of what was announced", low="low", high="high", style="style", log="xy",
        diagonal="announced success comes true",
    )  # fmt: skip
    return Figure(chart, Table.from_records("promises", COLUMNS, records))
