"""Success over a parameter of a protection, where the study has a grid of it: names end in key=value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.reports.graph.plots import Line, classes, panel
from unmask.reports.sections import Figure
from unmask.reports.study.values import Headlines, StudyData, headlines
from unmask.reports.study.words import spoken
from unmask.reports.words import SHARES, lettered

DISCLOSURE = "disclosure"
"""What is drawn beside success, where people have several identities."""

LINES = 6
"""Adversaries that are told apart in one chart: those with the highest success."""

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
    """Charts for every family, of success and of what is disclosed, at most `room`; and how many there would be."""
    rows = tuple(item for item in data.rows if item.dataset == dataset and item.row.unit in SHARES)
    number, figures, wanted = data.datasets.index(dataset), [], 0
    for what, heads in (("success", _shares(spoken(data, dataset))), (DISCLOSURE, headlines(rows, (DISCLOSURE,)))):
        for family in families(list(dict.fromkeys(key[0] for key in heads))):
            if wanted < room:
                figures.append(_figure(data, heads, family, what, f"curve{number}-{wanted}", dataset))
            wanted += 1
    return figures, wanted


def _shares(heads: Headlines) -> Headlines:
    return {key: item for key, item in heads.items() if item.row.unit in SHARES}


def _figure(data: StudyData, heads: Headlines, family: Family, what: str, key: str, dataset: str) -> Figure:
    attacks = list(dict.fromkeys(key[1:] for key in heads))
    lines = []
    for adversary, target in attacks:
        points = tuple(
            (float(i), heads[protection, adversary, target].row.posterior)
            for i, (_, protection) in enumerate(family.values)
            if (protection, adversary, target) in heads
        )
        if points:
            said = lettered(f"{adversary}: {target}", data.styles[adversary], len(data.adversaries))
            lines.append(Line(said, points, data.styles[adversary]))
    lines = sorted(lines, key=lambda line: -max(y for _, y in line.points))[:LINES]
    lines = sorted(lines, key=lambda line: -line.style)  # the first is on top: dashes over what is solid
    top = max(y for line in lines for _, y in line.points) or 1.0
    scale = classes([(value,) for value, _ in family.values], f"{family.parameter} (in equal steps)")
    label = f"{what.capitalize()} over {family.parameter} of {family.name}, {dataset}. The tables have the figures."
    svg = panel(lines, scale, top=min(1.0, 1.1 * top), label=label, key=key)
    shown = f" \u2013 {lines[0].name}" if len(lines) == 1 else ""
    return Figure(f"{family.name}: {what} over {family.parameter}{shown}", svg)
