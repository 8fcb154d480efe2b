"""Who is seen to be inside: exact values that released cells print."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unmask.facts import Printed
from unmask.tables.cells import EVERYTHING, Levels
from unmask.tables.notation import split_set
from unmask.tables.release import Column, Table

Value = str | float


def printed_values(release: Table, original: Table | None = None) -> tuple[Printed, ...]:
    """For each quasi-identifier: how many exact values its released cells print, and how many people are alone in one.

    A cell prints the value that it is, the members of a set `{a, b}` and the closed ends of an interval `[a, b]`, which
    are tight when a class is written from its smallest to its largest value. Nodes of a hierarchy, open ends, masks and
    `*` print none. With the original only values that it has count, so that ends of fixed bins do not; without it the
    number is an upper bound.

    >>> release = Table.read({"age": ["[20, 29]", "[20, 29]", "[30, 35)"]}, quasi_identifiers="age")
    >>> printed_values(release)[0].values
    3
    """
    names = set() if original is None else {column.name for column in original.columns}
    return tuple(
        _printed(column, original.column(column.name) if original is not None and column.name in names else None)
        for column in release.quasi_identifiers
    )


def _printed(column: Column, original: Column | None) -> Printed:
    values = {value for at in np.unique(column.codes).tolist() for value in _values(column.levels, at)}
    if original is None:
        return Printed(column.name, len(values), None, len(column.codes))
    sizes = np.bincount(original.codes, minlength=len(original.levels))
    people: dict[Value, int] = {}
    for at in np.flatnonzero((sizes > 0) & original.levels.atomic).tolist():
        for value in _values(original.levels, at):
            people[value] = people.get(value, 0) + int(sizes[at])
    inside = [people[value] for value in values if value in people]
    return Printed(column.name, len(inside), sum(n == 1 for n in inside), len(original.codes))


def _values(levels: Levels, at: int) -> Iterator[Value]:
    """The exact values that a cell prints."""
    label = levels.labels[at]
    if at == levels.missing or label == EVERYTHING:
        return
    if levels.low.size:
        if levels.atomic[at]:
            yield float(levels.low[at])
            return
        ends = filter(None, map(levels.scale.read, label.strip("[]()<>=").split(", ")))
        closed = levels.low[at], levels.high[at]
        yield from (low for low, high in ends if low == high and low in closed)  # a year is no exact date
    elif (members := split_set(label)) is not None:
        yield from members
    elif levels.atomic[at]:
        yield label
