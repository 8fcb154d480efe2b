"""Who is seen to be inside: exact values that released cells print."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from unmask.facts import Printed
from unmask.tables.cells import EVERYTHING, Levels
from unmask.tables.column import Column
from unmask.tables.notation import split_set
from unmask.tables.release import Table


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
    return tuple(_printed(column, original) for column in release.quasi_identifiers)


def _printed(column: Column, original: Table | None) -> Printed:
    texts = {text for at in np.flatnonzero(column.counts).tolist() for text in _texts(column.levels, at)}
    if original is None or column.name not in original.names:
        return Printed(column.name, len(texts), None, len(column.codes))
    own = original.column(column.name)
    inside = np.array([text in texts for text in own.levels.labels]) & own.levels.atomic & (own.counts > 0)
    if original.person is None:
        alone = int(np.count_nonzero(inside & (own.counts == 1)))
    else:
        codes, person = np.unique(np.stack([own.codes, original.person]), axis=1)
        alone = len(np.unique(person[(inside & (np.bincount(codes, minlength=len(inside)) == 1))[codes]]))
    return Printed(column.name, int(inside.sum()), alone, original.n_people)


def _texts(levels: Levels, at: int) -> Iterator[str]:
    """The values that a cell prints, as they are written."""
    label = levels.labels[at]
    if at == levels.missing or label == EVERYTHING:
        return
    if levels.atomic[at]:
        yield label
    elif (members := split_set(label)) is not None:
        yield from members
    elif levels.low.size:
        yield from (text for text in _closed_ends(label) if _is_exact(levels, text))


def _is_exact(levels: Levels, text: str) -> bool:
    """Whether a text is one value, and not a period such as a year."""
    bounds = levels.scale.read(text)
    return bounds is not None and bounds[0] == bounds[1]


def _closed_ends(label: str) -> Iterator[str]:
    """What stands at the closed ends of an interval."""
    if ends := _INTERVAL.fullmatch(label):
        yield from (text for closed, text in ((ends[1], ends[2]), (ends[4], ends[3])) if closed in ("[", "]"))
    elif label.startswith(("<=", ">=")):
        yield label[2:]


_INTERVAL = re.compile(r"([\[(])(.+), (.+)([\])])")
"""An interval as releases write it, with the bracket and the text of each end."""
