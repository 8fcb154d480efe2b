"""Curves over a parameter of protections; names from a grid end in key=value."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from unmask.measures.registry import SHARES, described
from unmask.results import Chart, Column, Table
from unmask.results.rows import preferred_rows
from unmask.studies.facts import StudyFacts, StudyRows

IDENTITY_MEASURES = ("adopter_recall", "disclosure", "exposed", "discovery")
"""Measures for people with several identities, shown in addition to success."""

N_LINES = 6
"""Largest number of lines in one chart."""

_SETTING = re.compile(r" (\w+)=(\S+)$")

Points = tuple[tuple[str, float | None], ...]
"""Values of a parameter, and the result for each; None if it is unknown."""

Line = tuple[str, int, Points]
"""Name, number of the color, and points."""

Curves = tuple[Chart, Table]
"""A chart, and its table."""


@dataclass(frozen=True)
class Family:
    """Protections that differ in one parameter only.

    Parameters
    ----------
    values : tuple of (str, str)
        Value of the parameter and name of the protection; numbers ascend, words have the order of the plan.
    """

    name: str
    parameter: str
    values: tuple[tuple[str, str], ...]


def split_name(name: str) -> tuple[str, dict[str, str]]:
    """Return a protection's name without its parameters, and the parameters.

    >>> split_name("Mondrian k=3 l=2")
    ('Mondrian', {'k': '3', 'l': '2'})
    """
    parameters: dict[str, str] = {}
    while match := _SETTING.search(name):
        parameters = {match[1]: match[2], **parameters}
        name = name[: match.start()]
    return name, parameters


def list_families(names: Sequence[str]) -> list[Family]:
    """Return families of protections, each by the parameter with the most values, at least two.

    >>> [(family.name, family.parameter, len(family.values)) for family in list_families(["none", "M k=3", "M k=10"])]
    [('M', 'k', 2)]
    """
    stems: dict[str, list[tuple[dict[str, str], str]]] = {}
    for name in names:
        stem, parameters = split_name(name)
        if parameters:
            stems.setdefault(stem, []).append((parameters, name))
    return [family for stem, members in stems.items() for family in _split_family(stem, members)]


def _split_family(stem: str, members: Sequence[tuple[dict[str, str], str]]) -> Iterator[Family]:
    keys = dict.fromkeys(key for parameters, _ in members for key in parameters)
    varied = max(keys, key=lambda key: len({parameters.get(key) for parameters, _ in members}))
    groups: dict[str, list[tuple[str, str]]] = {}
    for parameters, name in members:
        if varied in parameters:
            fixed = "".join(f" {key}={value}" for key, value in parameters.items() if key != varied)
            groups.setdefault(stem + fixed, []).append((parameters[varied], name))
    for name, values in groups.items():
        if len(values) > 1:
            yield Family(name, varied, tuple(sorted(values, key=lambda item: _as_size(item[0]))))


def _as_size(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return 0.0


def list_curves(facts: StudyFacts, dataset: str) -> Iterator[Curves]:
    """Yield success over each parameter, and the losses of people with several identities.

    Families with the same parameter and values are the lines of one chart for each adversary. For a single family, the
    adversaries are the lines.
    """
    rows = [row for row in facts.rows_of(dataset) if row.unit in SHARES]
    success = {key: row for key, row in facts.mentioned[dataset].items() if row.unit in SHARES}
    measures = {"Success": success}
    measures |= {_label_measure(measure): preferred_rows(rows, (measure,)) for measure in IDENTITY_MEASURES}
    names = {key[0] for mentioned in measures.values() for key in mentioned}
    groups: dict[tuple[str, ...], list[Family]] = {}
    for family in list_families([name for name in facts.protections if name in names]):
        groups.setdefault((family.parameter, *(value for value, _ in family.values)), []).append(family)
    for group in groups.values():
        if len(group) == 1:
            for label, mentioned in measures.items():
                yield from _compare_adversaries(facts, dataset, group[0], label, mentioned)
            continue
        for adversary, start in itertools.product(facts.adversaries, range(0, len(group), N_LINES)):
            for label, mentioned in measures.items():
                yield from _compare_families(dataset, group[start : start + N_LINES], adversary, label, mentioned)


def _label_measure(measure: str) -> str:
    description = described(measure)
    return description.label if description else measure


def _compare_adversaries(
    facts: StudyFacts, dataset: str, family: Family, label: str, mentioned: StudyRows
) -> Iterator[Curves]:
    """Yield the chart of one family, whose lines are the strongest adversaries."""
    lines: list[Line] = []
    for adversary, target in dict.fromkeys(key[1:] for key in mentioned):
        if points := _list_points(family, adversary, target, mentioned):
            style = facts.styles[adversary]
            lines.append((f"{adversary}: {target}", style, points))
    highest = sorted(lines, key=lambda line: -max(value for _, value in line[2] if value is not None))[:N_LINES]
    if lines := sorted(highest, key=lambda line: line[1]):
        only = f" \u2013 {lines[0][0]}" if len(lines) == 1 else ""
        title = f"{family.name}: {label.lower()} over {family.parameter}{only}"
        yield _draw(title, dataset, family.parameter, lines, are_adversaries=True)


def _compare_families(
    dataset: str, families: Sequence[Family], adversary: str, label: str, mentioned: StudyRows
) -> Iterator[Curves]:
    """Yield a chart for each target of an adversary, whose lines are the families."""
    targets = dict.fromkeys(key[2] for key in mentioned if key[1] == adversary)
    for target in targets:
        curves = [(family.name, _list_points(family, adversary, target, mentioned)) for family in families]
        lines = [(name, i, points) for i, (name, points) in enumerate(curves) if points]
        if lines:
            attack = f"{adversary}: {target}" if len(targets) > 1 else adversary
            title = f"{label} over {families[0].parameter} \u2013 {attack}"
            yield _draw(title, dataset, families[0].parameter, lines, are_adversaries=False)


def _list_points(family: Family, adversary: str, target: str, mentioned: StudyRows) -> Points:
    """Return the points of a line; empty if all values are unknown."""
    rows = [(value, mentioned.get((protection, adversary, target))) for value, protection in family.values]
    points = tuple(
        (value, row.posterior if row is not None and math.isfinite(row.posterior) else None) for value, row in rows
    )
    return points if any(value is not None for _, value in points) else ()


def _draw(title: str, dataset: str, parameter: str, lines: Sequence[Line], *, are_adversaries: bool) -> Curves:
    """Return a chart, and the table of the same name."""
    label, style = f"{title}, {dataset}", "style" if are_adversaries else ""
    columns = (
        Column("series"), Column("style"), Column("value", f"{parameter} (in equal steps)"),
        Column("reached", "", "share"),
    )  # fmt: skip
    records = [(series, style, *point) for series, style, points in lines for point in points]
    chart = Chart("lines", label, "value", "reached", by="series", title=title, label=label, style=style)
    return chart, replace(Table.from_records(label, columns, records), page_only=True)
