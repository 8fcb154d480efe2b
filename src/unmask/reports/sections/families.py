"""Success over a parameter of a protection, where the study has a grid of it: names end in key=value."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.measures.registry import SHARES, described
from unmask.render import Figure
from unmask.reports.facts.study import StudyData, StudyRows
from unmask.reports.figures import Line, lines_figure
from unmask.reports.words import lettered
from unmask.results import Column
from unmask.results.preferred_rows import preferred_rows

BESIDE = ("adopter_recall", "disclosure", "exposed", "discovery")
"""What is drawn beside success, where people have several identities."""

LINES = 6
"""That are told apart in one chart."""

_SETTING = re.compile(r" (\w+)=(\S+)$")


@dataclass(frozen=True)
class Family:
    """Protections that differ in one parameter alone, in the order of its values: numbers by size, words as filed."""

    name: str
    parameter: str
    values: tuple[tuple[str, str], ...]  # (value, protection)


def settings(name: str) -> tuple[str, dict[str, str]]:
    """A protection's name without its parameters, and the parameters.

    >>> settings("Mondrian k=3 l=2")
    ('Mondrian', {'k': '3', 'l': '2'})
    """
    found: dict[str, str] = {}
    while match := _SETTING.search(name):
        found = {match[1]: match[2], **found}
        name = name[: match.start()]
    return name, found


def families(names: Sequence[str]) -> list[Family]:
    """Protections that differ in the parameter of which there are most values, at least two of them.

    >>> [(one.name, one.parameter, len(one.values)) for one in families(["none", "M k=3", "M k=10"])]
    [('M', 'k', 2)]
    """
    stems: dict[str, list[tuple[dict[str, str], str]]] = {}
    for name in names:
        stem, given = settings(name)
        if given:
            stems.setdefault(stem, []).append((given, name))
    return [family for stem, members in stems.items() for family in _families(stem, members)]


def _families(stem: str, members: Sequence[tuple[dict[str, str], str]]) -> Iterator[Family]:
    keys = dict.fromkeys(key for given, _ in members for key in given)
    varied = max(keys, key=lambda key: len({given.get(key) for given, _ in members}))
    groups: dict[str, list[tuple[str, str]]] = {}
    for given, name in members:
        if varied in given:
            rest = "".join(f" {key}={value}" for key, value in given.items() if key != varied)
            groups.setdefault(stem + rest, []).append((given[varied], name))
    for name, values in groups.items():
        if len(values) > 1:
            yield Family(name, varied, tuple(sorted(values, key=lambda item: _size(item[0]))))


def _size(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return 0.0


def curve_figures(data: StudyData, dataset: str, *, room: int) -> tuple[list[Figure], int]:
    """Charts of success and of what people with several identities lose, at most `room`; and how many there would be.

    Families with the same values of the same parameter are lines of one chart for each adversary; where a family has
    none to be compared with, adversaries are lines.
    """
    charts = list(_charts(data, dataset))
    return [_figure(one, dataset) for one in charts[:room]], len(charts)


@dataclass(frozen=True)
class _Chart:
    title: str
    parameter: str
    lines: tuple[Line, ...]
    adversaries: bool = True


def _charts(data: StudyData, dataset: str) -> Iterator[_Chart]:
    rows = tuple(item for item in data.rows if item.dataset == dataset and item.unit in SHARES)
    success = {key: item for key, item in data.spoken[dataset].items() if item.unit in SHARES}
    measures = {"Success": success} | {_name(measure): preferred_rows(rows, (measure,)) for measure in BESIDE}
    names = {key[0] for heads in measures.values() for key in heads}
    groups: dict[tuple[str, ...], list[Family]] = {}
    for family in families([name for name in data.protections if name in names]):
        groups.setdefault((family.parameter, *(value for value, _ in family.values)), []).append(family)
    for group in groups.values():
        if len(group) == 1:
            yield from (chart for what, heads in measures.items() for chart in _alone(data, group[0], what, heads))
            continue
        for adversary, start in itertools.product(data.adversaries, range(0, len(group), LINES)):
            for what, heads in measures.items():
                yield from _compared(data, group[start : start + LINES], adversary, what, heads)


def _alone(data: StudyData, family: Family, what: str, heads: StudyRows) -> Iterator[_Chart]:
    """The chart of one family: the adversaries who reach most are its lines."""
    lines = []
    for adversary, target in dict.fromkeys(key[1:] for key in heads):
        if points := _points(family, adversary, target, heads):
            said = lettered(f"{adversary}: {target}", data.styles[adversary], len(data.adversaries))
            lines.append(Line(said, points, data.styles[adversary]))
    lines = sorted(lines, key=lambda line: -max(y for _, y in line.points if y is not None))[:LINES]
    lines = sorted(lines, key=lambda line: line.style)
    shown = f" \u2013 {lines[0].name}" if len(lines) == 1 else ""
    title = f"{family.name}: {what.lower()} over {family.parameter}{shown}"
    if lines:
        yield _Chart(title, family.parameter, tuple(lines))


def _compared(
    data: StudyData, group: Sequence[Family], adversary: str, what: str, heads: StudyRows
) -> Iterator[_Chart]:
    """A chart for everything that an adversary is after: families are lines, in shades as they do not attack."""
    targets = dict.fromkeys(key[2] for key in heads if key[1] == adversary)
    for target in targets:
        drawn = [(family.name, _points(family, adversary, target, heads)) for family in group]
        lines = tuple(Line(name, points, i) for i, (name, points) in enumerate(drawn) if points)
        aim = f"{adversary}: {target}" if len(targets) > 1 else adversary
        whose = lettered(aim, data.styles[adversary], len(data.adversaries))
        if lines:
            title = f"{what} over {group[0].parameter} \u2013 {whose}"
            yield _Chart(title, group[0].parameter, lines, adversaries=False)


def _points(family: Family, adversary: str, target: str, heads: StudyRows) -> tuple[tuple[str, float | None], ...]:
    """The values of the parameter with what is reached, None where that is unknown; nothing if it is unknown."""
    items = [(value, heads.get((protection, adversary, target))) for value, protection in family.values]
    points = tuple((value, None if item is None else item.posterior) for value, item in items)
    finite = tuple((value, y if y is not None and math.isfinite(y) else None) for value, y in points)
    return finite if any(y is not None for _, y in finite) else ()


def _name(measure: str) -> str:
    named = described(measure)
    return named.label if named else measure


def _figure(drawn: _Chart, dataset: str) -> Figure:
    x = Column("value", f"{drawn.parameter} (in equal steps)")
    y = Column("reached", "", "share")
    label = f"{drawn.title}, {dataset}"
    return lines_figure(drawn.title, x, y, drawn.lines, adversaries=drawn.adversaries, label=label)
