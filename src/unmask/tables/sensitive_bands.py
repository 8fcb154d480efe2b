"""What releases state of sensitive values: bands of a salary, groups of diseases."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unmask.tables.column import Column
from unmask.tables.matching import compatible
from unmask.tables.notation import MISSING
from unmask.tables.recoding import new_cells
from unmask.tables.table import Table

PAIRS = 1 << 26
"""Pairs of a value of the original and one of the release up to which they are compared."""


TOLERATED = 0.1
"""Share of people who may not fit their own rows before who reads cells as true is no adversary to go by."""


def as_coarse(original: Table, releases: Collection[Table]) -> tuple[Table, dict[str, bool]]:
    """The original with its sensitive values as releases state them, and the columns where these state less: whether
    values became cells.

    Of a salary in bands an adversary infers the band. So each value becomes the cell that it is in. Where more than a
    tenth of the people are in several cells, of one release or of some, values stay, and nobody can be right about a
    cell of several.

    >>> people, release = (
    ...     Table.read({"age": [1, 1], "pay": cells}, quasi_identifiers="age", sensitive="pay")
    ...     for cells in (["21", "34"], ["[20, 29]", "[30, 39]"])
    ... )
    >>> as_coarse(people, [release])[0]["pay"].tolist()
    ['[20, 29]', '[30, 39]']
    """
    columns, coarser = {column.name: column for column in original.sensitive}, {}
    for name, known in columns.items():
        stated = [one.column(name) for one in releases if any(column.name == name for column in one.sensitive)]
        if known.hierarchy is None and not several(known) and any(map(several, stated)):
            found = _stated(known, stated)
            columns[name], coarser[name] = found or known, found is not None
    return replace(original, sensitive=tuple(columns.values())) if any(coarser.values()) else original, coarser


def _stated(known: Column, stated: Sequence[Column]) -> Column | None:
    """The column in cells of the releases, None where they overlap."""
    held: dict[str, NDArray[np.bool_]] = {}
    for column in stated:
        if len(known.levels) * len(column.levels) > PAIRS:
            return None
        fits = compatible(known.levels, column.levels, missing="own")
        used = (column.counts > 0) & ~column.levels.gaps & ~column.levels.suppressed
        held |= {column.levels.labels[cell]: fits[:, cell] for cell in np.flatnonzero(used).tolist()}
    cells = np.array(list(held.values()))
    if not held or known.counts[cells.sum(axis=0) > 1].sum() > TOLERATED * len(known.codes):
        return None
    first, labels = np.where(cells.any(axis=0), cells.argmax(axis=0), -1), list(held)
    texts = [labels[cell] if cell >= 0 else own for cell, own in zip(first.tolist(), known.levels.labels, strict=True)]
    levels, code = new_cells(known, texts)
    return replace(known, levels=levels, codes=code[known.codes])


def without_stars(column: Column) -> Column:
    """The column with a missing cell for each that hides a secret and is none: `*`, and a group of values some of which
    are stated, too.
    """
    levels = column.levels
    hides = levels.suppressed.copy()
    if levels.kind != "numeric" and several(column) and len(levels) ** 2 <= PAIRS:
        meets = compatible(levels, levels, missing="own") & (column.counts > 0) & ~hides
        hides |= ~levels.atomic & ~levels.gaps & (meets.sum(axis=1) > 1)
    if not hides.any():
        return column
    texts = [MISSING if hidden else label for hidden, label in zip(hides, levels.labels, strict=True)]
    levels, code = new_cells(column, texts)
    return replace(column, levels=levels, codes=code[column.codes])


def without_shared_ends(column: Column) -> Column:
    """The column where a number that two cells share is in the first alone: a secret is in one cell."""
    levels = column.levels
    if levels.kind != "numeric":
        return column
    low, labels = levels.low.copy(), list(levels.labels)
    order = np.flatnonzero(np.isfinite(levels.high) | np.isfinite(levels.low))
    for before, at in pairwise(order[np.argsort(levels.high[order], kind="stable")].tolist()):
        if levels.high[before] == low[at] < levels.high[at]:
            low[at] = levels.scale.after(low[at])
            labels[at] = levels.scale.write(low[at], levels.high[at])
    return replace(column, levels=replace(levels, low=low, labels=tuple(labels)))


def several(column: Column) -> bool:
    """Whether some cells stand for several values, and not for all."""
    return bool(column.levels.sets.any())
