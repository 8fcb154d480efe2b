"""Sections about releases themselves: utility lost, with risk against it, and criteria."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from unmask.measures.registry import CRITERIA, UTILITIES, Quantity
from unmask.reports.data import ReportData, Scope
from unmask.reports.facts.study import undominated
from unmask.reports.marks import Key, Spot
from unmask.reports.parts import Figure, Figures, Grid, Section, folded, lead, notes, parts
from unmask.reports.planes import plane
from unmask.reports.scales import linear, risks, turned
from unmask.reports.svg import Drawing
from unmask.reports.words import Value, name_of, number, percent, row_estimate, told_apart, what, written
from unmask.results import Row


def utility_section(scope: Scope) -> Section | None:
    """What is lost, and risk against the first loss that every release has."""
    figures, tables = plane_figures(scope), listing(scope.data.utility, UTILITIES, "Utility lost")
    how = (
        "Up keeps more, left risks less. Filled and joined by steps: no other release is better in both ways, for the "
        "same adversary. Hollow: another one is."
    )
    shown = parts(lead(how) if figures else None, Figures(figures), tables)
    return Section("utility", "Risk against utility" if figures else "Utility lost", shown) if shown else None


def criteria_section(data: ReportData) -> Section | None:
    """Properties of releases that need no adversary; those that were run for none are one line."""
    unknown = "; ".join(name_of(name, CRITERIA) for name in _without_value(data.criteria))
    without = notes([f"Not run for any release: {unknown}."] if unknown else [])
    heading = "Criteria: properties of the release, without an adversary"
    shown = parts(folded("The criteria of each release", listing(data.criteria, CRITERIA, "Criterion")), without)
    return Section("criteria", heading, shown) if data.criteria else None


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
    figures = []
    for target in scope.targets:
        spots: list[Spot] = []
        for adversary, style in scope.styles.items():
            rows = [(losses[name][drawn], row) for name in known if (row := scope.heads.get((name, adversary, target)))]
            spots += _plane_spots(rows, style, scope.marked(adversary))
        if spots:
            keys = [Key(scope.marked(name), style) for name, style in scope.styles.items()]
            keys = [key for key in keys if key.style in {spot.style for spot in spots}]
            figures.append(Figure(what(target), _plane(spots, keys, name_of(drawn, UTILITIES), what(target))))
    return tuple(figures)


def _plane_spots(rows: Sequence[tuple[float, Row]], style: int, of: str) -> Iterator[Spot]:
    best = undominated([(loss, row.posterior) for loss, row in rows])
    names = told_apart(row.release for _, row in rows)
    for (loss, row), front in zip(rows, best, strict=True):
        told = f"{row.release}: success {row_estimate(row)}, lost {percent(loss) if loss <= 1 else number(loss)}"
        of_whom = f"{told}; {of}" if of else told
        yield Spot(row.posterior, loss, style, names[row.release], hollow=not front, of=of, told=of_whom)


def _plane(spots: Sequence[Spot], keys: Sequence[Key], title: str, caption: str) -> Drawing:
    """The plane of success and loss, which is least at the top; a loss up to 1 is written in percent."""
    most = max(spot.y for spot in spots) or 1.0
    up = linear(most, pads=(0.06, 0.1), unit="share" if most <= 1 else "", title=f"{title}, least at the top")
    label = f"Success against {title}. {caption}. {'; '.join(spot.told for spot in spots)}."
    return plane(risks([spot.x for spot in spots], "Success"), turned(up), spots, keys=keys, label=label)


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
