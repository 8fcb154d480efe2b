"""The tables and figures of the page, section by section; what has no data is left out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from unmask.measures.registry import UTILITIES, Quantity, needs_truth
from unmask.reports import plots
from unmask.reports.data import ColumnRisk, Heads, ReportData, Scope
from unmask.reports.words import (
    FAILURES,
    SPACE,
    Value,
    lettered,
    measure_name,
    name_of,
    number,
    percent,
    row_estimate,
    what,
    written,
)
from unmask.results import Row


@dataclass(frozen=True)
class Grid:
    """A table as text: heads, then groups of rows under an optional line of their own; figures from column `text`."""

    head: tuple[str, ...]
    groups: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]
    text: int = 1
    caption: str = ""
    meaning: bool = False

    @property
    def rows(self) -> int:
        """How many lines of cells there are."""
        return sum(len(rows) for _, rows in self.groups)


@dataclass(frozen=True)
class Figure:
    """A drawing with the line above it."""

    caption: str
    svg: str


def success_figures(data: ReportData, scope: Scope, heads: Heads) -> list[Figure]:
    """Success by release, a panel for each target that has a value."""
    figures = []
    for i, target in enumerate(scope.targets):
        rows = [
            heads.get((r, a, target), plots.Absent(r, a, _why_not(data, r, a, target)))
            for r in scope.releases
            for a in scope.adversaries
        ]
        if any(isinstance(row, Row) for row in rows):
            label = f"Success by release. {what(target)}. The table below has the figures."
            svg = plots.success_chart(rows, styles=scope.styles, label=label, key=f"success{i}")
            figures.append(Figure(what(target), svg))
    return figures


def success_note(heads: Heads) -> str:
    """What the marks of the chart mean, and how many people stand behind them."""
    sizes = sorted({row.n for row in heads.values()})
    who = (
        f"n = {sizes[0]:,} people for every mark."
        if len(sizes) == 1
        else "n is written beside the marks or in the table."
    )
    bounds = any(row.low is not None for row in heads.values())
    why = dict.fromkeys(row.interval.removeprefix("none: ") for row in heads.values() if row.interval != "none")
    lines = ", thin lines 95 % intervals" if bounds else f" without an interval ({'; '.join(why)})" if why else ""
    return f"Dots are success{lines}; the black tick is guessing without the release, the band is what it gives. {who}"


def success_table(data: ReportData, scope: Scope, heads: Heads) -> Grid | None:
    """Release by target: success with its interval; guessing alone in the first lines."""
    targets = [target for target in scope.targets if any(key[2] == target for key in heads)]
    with_k = any("k" in data.criteria.get(release, {}) for release in scope.releases)
    guesses: list[tuple[str, ...]] = []
    rows: list[tuple[str, ...]] = []
    for adversary in scope.adversaries:
        known = ([heads[k].prior for r in scope.releases if (k := (r, adversary, t)) in heads] for t in targets)
        priors = (_range(values) for values in known)
        guesses.append((*scope.who("guessing alone", adversary), *(("",) if with_k else ()), *priors, ""))
    for release in scope.releases:
        for adversary in scope.adversaries:
            own = [heads.get((release, adversary, target)) for target in targets]
            size = (written("k", data.criteria.get(release, {}).get("k")),) if with_k else ()
            cells = tuple(
                row_estimate(row) if row is not None else _why_not(data, release, adversary, target)
                for row, target in zip(own, targets, strict=True)
            )
            n = " / ".join(dict.fromkeys(f"{row.n:,}" for row in own if row is not None))
            rows.append((*scope.who(release, adversary), *size, *cells, n))
    if not targets:
        return None
    head = (*scope.who_head, *(("k",) if with_k else ()), *(what(target) for target in targets), "n")
    shown = guesses if len(scope.releases) > 1 else []
    return Grid(head, (("", tuple(shown)), ("", tuple(rows))), text=len(scope.who_head))


def _why_not(data: ReportData, release: str, adversary: str, target: str) -> str:
    """The word for success that has no value: the status of the row that failed, or "not run" where there is none."""
    asked = (row for row in data.rows if (row.release, row.adversary, row.target) == (release, adversary, target))
    return next((row.status for row in asked if row.measure in data.success and row.status in FAILURES), "not run")


def _range(values: Sequence[float]) -> str:
    low, high = (percent(bound(values)) for bound in (min, max)) if values else ("", "")
    return low if low == high else f"{low} \u2013 {high}"


def distribution_figures(data: ReportData, scope: Scope) -> list[Figure]:
    """People by success probability, a panel for each adversary and target."""
    figures: list[Figure] = []
    tallest = max((share for item in data.distribution for share in item.shares), default=1.0) or 1.0
    for adversary in dict.fromkeys(item.adversary for item in data.distribution):
        style = scope.styles.get(adversary, len(scope.styles))
        for target in dict.fromkeys(item.target for item in data.distribution):
            spread = [item for item in data.distribution if (item.adversary, item.target) == (adversary, target)]
            if spread:
                caption = lettered(what(target), style, len(scope.adversaries))
                svg = plots.distribution_chart(
                    spread,
                    style=style,
                    tallest=tallest,
                    label=f"Share of people by success probability. {caption}.",
                    key=f"spread{len(figures)}",
                )
                figures.append(Figure(caption, svg))
    return figures


def quantile_tables(data: ReportData, scope: Scope) -> list[Grid]:
    """The worst-off: what success is at least, for half, a quarter, a twentieth of the people; of beliefs, not hits.

    Beside them how many people exceed the limits of `Distribution.above`, where they were counted.
    """
    rows = [
        r for r in data.rows if r.measure in data.success and not needs_truth(r.measure) and r.status not in FAILURES
    ]
    counted = {(item.release, item.adversary, item.target): item.above for item in data.distribution}
    limits = tuple(dict.fromkeys(limit for above in counted.values() for limit in above))
    tables = []
    for target in scope.targets:
        cells = tuple(
            (
                *scope.who(row.release, row.adversary),
                *(percent(row.quantiles[i]) for i in (2, 3, 4)),
                percent(row.worst),
                *_above(counted.get((row.release, row.adversary, target), {}), limits),
            )
            for release in scope.releases
            for adversary in scope.adversaries
            for row in rows
            if (row.release, row.adversary, row.target) == (release, adversary, target) and len(row.quantiles) == 5
        )
        if cells:
            parts = ("Half of people", "Worst-off 25\u00a0%", "Worst-off 5\u00a0%", "Worst-off person")
            head = (*scope.who_head, *parts, *(f"People above {_limit(limit)}" for limit in limits))
            tables.append(Grid(head, (("", cells),), text=len(scope.who_head), caption=what(target)))
    return tables


def _above(counted: Mapping[float, int | str], limits: Sequence[float]) -> Iterator[str]:
    for limit in limits:
        value = counted.get(limit, "not run")
        yield value if isinstance(value, str) else f"{value:,}"


def _limit(share: float) -> str:
    return f"{100 * share:g}{SPACE}%"


VALUES = 10
"""Values of a column that a table shows."""


def value_tables(data: ReportData) -> list[Grid]:
    """For each column the values that rise most: probability before, the most of anybody, people above one half."""
    tables = []
    for target in dict.fromkeys(item.target for item in data.values):
        groups = []
        for release in dict.fromkeys(item.release for item in data.values if item.target == target):
            own = [item for item in data.values if (item.release, item.target) == (release, target)]
            rows = tuple(
                (
                    one.value,
                    percent(one.prior),
                    percent(one.highest),
                    number(100 * (one.highest - one.prior), 1),
                    f"{one.people:,}" if isinstance(one.people, int) else one.people,
                )
                for one in own[:VALUES]
            )
            rest = f", {VALUES} of {len(own)} values" if len(own) > VALUES else ""
            groups.append((release + rest, rows))
        head = ("Value, by how common it is", "Before", "Most, of anybody", "Points", "People above one half")
        tables.append(Grid(head, tuple(groups), caption=target))
    return tables


NOTHING = 0.0005
"""A change of success that a table of them shows as 0."""


def _moved(data: ReportData) -> dict[str, bool]:
    """Target -> whether leaving out a single column changes anything, in order."""
    moved: dict[str, bool] = {}
    for item in data.column_risk:
        change = abs(item.success_with - item.success_without)
        moved[item.target] = moved.get(item.target, False) or change >= NOTHING
    return moved


def column_notes(data: ReportData) -> list[str]:
    """What stands in the place of tables of zeros."""
    same = [what(target) for target, moved in _moved(data).items() if not moved]
    if not same:
        return []
    alike = f"{'; '.join(same)}: without any single column the adversary does as well, for the others tell the class."
    return [f"{alike} That is no sign that columns are harmless: `unmask choose columns` ranks those of the original."]


def column_tables(data: ReportData) -> list[Grid]:
    """Columns by releases: success without the column, and how much less that is than with all of them.

    None of a target for which no column changes anything, see `column_notes`.
    """
    tables = []
    for target in (target for target, moved in _moved(data).items() if moved):
        own = {(item.release, item.column): item for item in data.column_risk if item.target == target}
        releases = list(dict.fromkeys(release for release, _ in own))
        share: dict[str, float] = {}
        for (_, column), item in own.items():
            share[column] = max(share.get(column, float("-inf")), item.success_with - item.success_without)
        rows = [
            (column, *(_contribution(own.get((release, column))) for release in releases))
            for column in sorted(share, key=lambda name: -share[name])
        ]
        known = {item.release: item.success_with for item in own.values()}
        first = ("with all columns", *(percent(known[release]) for release in releases))
        groups = (("", (first,)), ("", tuple(rows)))
        tables.append(Grid(("Without", *releases), groups, caption=what(target)))
    return tables


def _contribution(item: ColumnRisk | None) -> str:
    if item is None:
        return "not run"
    change = 100 * (item.success_without - item.success_with)
    places = 1 if abs(change) >= 1 else 2
    return f"{percent(item.success_without)} ({'+' if change > 0 else ''}{number(change, places)})"


def plane_figures(data: ReportData, scope: Scope, heads: Heads) -> list[Figure]:
    """Risk against the first loss that every release has, one plane for each target; needs two releases."""
    known = [name for name in scope.releases if name in data.utility]
    if len(known) < 2:
        return []
    losses = {name: {m: v for m, v in data.utility[name].items() if isinstance(v, int | float)} for name in known}
    drawn = next((measure for measure in losses[known[0]] if all(measure in losses[name] for name in known)), None)
    if drawn is None:
        return []
    title = name_of(drawn, UTILITIES)
    figures = []
    for i, target in enumerate(scope.targets):
        points = [
            plots.Point(name, scope.styles[adversary], losses[name][drawn], row.posterior, row.low, row.high)
            for adversary in scope.adversaries
            for name in known
            if (row := heads.get((name, adversary, target))) is not None
        ]
        if points:
            svg = plots.plane_chart(
                points,
                n_adversaries=len(scope.adversaries),
                loss=title,
                risk="Success",
                label=f"Success against {title}. {what(target)}. The tables have the figures.",
                key=f"plane{i}",
            )
            figures.append(Figure(what(target), svg))
    return figures


def listing(values: Mapping[str, Mapping[str, Value]], names: Mapping[str, Quantity], what: str) -> list[Grid]:
    """Names by releases, with a line of meaning; at most six releases side by side, then another table.

    What has a value in no release is no line of its own, see `nowhere`.
    """
    tables = []
    releases = list(values)
    unknown = _without_value(values)
    wide = math.ceil(len(releases) / max(1, math.ceil(len(releases) / 6)))
    for start in range(0, len(releases), wide or 1):
        shown = releases[start : start + wide]
        rows = []
        for name in dict.fromkeys(name for release in shown for name in values[release] if name not in unknown):
            stem = name.partition(" ")[0]
            cells = (written(stem, values[release].get(name)) for release in shown)
            rows.append((name_of(name, names), names[stem].meaning if stem in names else "", *cells))
        if rows:
            tables.append(Grid((what, "Meaning", *shown), (("", tuple(rows)),), text=2, meaning=True))
    return tables


def nowhere(values: Mapping[str, Mapping[str, Value]], names: Mapping[str, Quantity]) -> str:
    """What was not run for any release, as one line."""
    return "; ".join(name_of(name, names) for name in _without_value(values))


def _without_value(values: Mapping[str, Mapping[str, Value]]) -> list[str]:
    known = {name for own in values.values() for name, value in own.items() if value is not None}
    return [name for name in dict.fromkeys(name for own in values.values() for name in own) if name not in known]


# What has no value at all.


def not_run_groups(data: ReportData) -> list[tuple[list[str], str, str]]:
    """What was not run, the word for it, and why: one group for each reason, failures first.

    Lists of measures that differ only in whom they are about become one line, as in "rank, log_loss_bits (register,
    identity)" and "rank, log_loss_bits (register, pay)", and measures go by their names.
    """
    groups: dict[str, dict[str, list[str]]] = {}
    for thing, why in data.not_run:
        names, whose = _measures_of(thing)
        groups.setdefault(why, {}).setdefault(names, []).extend([whose] if whose else [])
    found = [
        (
            [f"{names} \u2013 {'; '.join(whose)}" if whose else names for names, whose in things.items()],
            "failed" if why.lower().startswith("failed") else "not run",
            why,
        )
        for why, things in groups.items()
    ]
    return sorted(found, key=lambda group: group[1] != "failed")


def _measures_of(thing: str) -> tuple[str, str]:
    """Take "rank, log_loss_bits (register, identity)" apart: names for readers, and whose; else the text as it is."""
    listed, _, whose = thing.removesuffix(")").partition(" (")
    names = [measure_name(name) for name in listed.split(", ")]
    if not whose or not all(names):
        return thing, ""
    text = ", ".join(name for name in names if name)
    return text[0].upper() + text[1:], whose
