"""Sections about releases themselves: utility lost, with risk against it, and criteria."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from unmask.core.pareto import find_pareto_front
from unmask.measures.registry import UTILITIES, Quantity
from unmask.render import Figure
from unmask.reports.data import Scope
from unmask.reports.figures import front_figure
from unmask.reports.parts import Figures, Grid, Section, lead, parts
from unmask.reports.words import Value, name_of, told_apart, what, written
from unmask.results import Column, Row


def utility_section(scope: Scope) -> Section | None:
    """What is lost, and risk against the first loss that every release has."""
    figures, tables = plane_figures(scope), listing(scope.data.utility, UTILITIES, "Utility lost")
    how = (
        "Down loses less, left risks less. Filled and joined by steps: no other release is better in both ways, for "
        "the same adversary. Hollow: another one is."
    )
    shown = parts(lead(how) if figures else None, Figures(figures), tables)
    return Section("utility", "Risk against utility" if figures else "Utility lost", shown) if shown else None


def plane_figures(scope: Scope) -> tuple[Figure, ...]:
    """Risk against the first loss that every release has, one plane for each target; needs two releases."""
    data = scope.data
    known = [name for name in scope.releases if name in data.utility]
    losses = {name: {m: v for m, v in data.utility[name].items() if isinstance(v, int | float)} for name in known}
    shared = (
        (measure for measure in losses[known[0]] if all(measure in own for own in losses.values())) if known else ()
    )
    drawn = next(iter(shared), None)
    if len(known) < 2 or drawn is None:
        return ()
    y = Column("loss", name_of(drawn, UTILITIES), "share" if _most(losses, drawn) <= 1 else "number")
    figures = []
    for target in scope.targets:
        rows = [row for key, row in scope.heads.items() if key[2] == target and key[0] in known]
        lost = [(losses[row.release][drawn], row) for row in rows]
        own = ([(loss, row) for loss, row in lost if row.adversary == name] for name in scope.styles)
        records = [record for pairs in own for record in _records(scope, pairs)]
        if records:
            x, label = Column("success", "Success", "share"), f"Success against {y.label}. {what(target)}"
            figures.append(front_figure(what(target), x, y, records, label=label))
    return tuple(figures)


def _most(losses: Mapping[str, Mapping[str, float]], measure: str) -> float:
    return max(own[measure] for own in losses.values())


def _records(scope: Scope, rows: Sequence[tuple[float, Row]]) -> Iterator[tuple[str, int, str, str, float, float]]:
    """The releases as one adversary sees them, the least success first."""
    best = find_pareto_front([(loss, row.posterior) for loss, row in rows])
    names = told_apart(row.release for _, row in rows)
    for (loss, row), front in sorted(zip(rows, best, strict=True), key=lambda item: (item[0][1].posterior, item[0][0])):
        whose, style = scope.marked(row.adversary), scope.styles[row.adversary]
        yield whose, style, names[row.release], "point" if front else "hollow", row.posterior, loss


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


def _without_value(values: Mapping[str, Mapping[str, Value]]) -> list[str]:
    known = {name for own in values.values() for name, value in own.items() if value is not None}
    return [name for name in dict.fromkeys(name for own in values.values() for name in own) if name not in known]
