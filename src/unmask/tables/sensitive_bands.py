"""Sensitive values that a release generalizes, such as salary bands or groups of diseases."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from unmask.core.arrays import Booleans
from unmask.tables.column import Column
from unmask.tables.matching import compatible
from unmask.tables.notation import MISSING
from unmask.tables.protections.recoding import write_cells
from unmask.tables.table import Table

MAX_LEVEL_PAIRS = 1 << 26
"""Largest number of pairs of levels of the original and the release that are compared."""


MAX_MISFIT_SHARE = 0.1
"""Share of people who may be incompatible with their own rows. Above it, an adversary who takes cells literally
is not realistic.
"""


def band_sensitive_values(original: Table, releases: Collection[Table]) -> tuple[Table, dict[str, bool]]:
    """Return the original with sensitive values generalized as in the releases, and whether each column was
    generalized.

    If a salary is released in bands, an adversary infers the band. Therefore each value is replaced by the released
    cell that contains it. If more than a tenth of the people are in several cells, of one release or of several, values
    are unchanged. A guess of a cell with several values is then never right.

    >>> people, release = (
    ...     Table.read({"age": [1, 1], "pay": cells}, quasi_identifiers="age", sensitive="pay")
    ...     for cells in (["21", "34"], ["[20, 29]", "[30, 39]"])
    ... )
    >>> band_sensitive_values(people, [release])[0]["pay"].tolist()
    ['[20, 29]', '[30, 39]']
    """
    columns, coarser = {column.name: column for column in original.sensitive}, {}
    for name, original_column in columns.items():
        released_columns = [
            release.column(name) for release in releases if any(column.name == name for column in release.sensitive)
        ]
        if original_column.hierarchy is None and not has_sets(original_column) and any(map(has_sets, released_columns)):
            band = _band_column(original_column, released_columns)
            columns[name], coarser[name] = band or original_column, band is not None
    return replace(original, sensitive=tuple(columns.values())) if any(coarser.values()) else original, coarser


def _band_column(original: Column, released_columns: Sequence[Column]) -> Column | None:
    """Return the column in cells of the releases; None if these overlap."""
    values_of_cell: dict[str, Booleans] = {}
    for column in released_columns:
        if len(original.levels) * len(column.levels) > MAX_LEVEL_PAIRS:
            return None
        fits = compatible(original.levels, column.levels, missing="own")
        used = (column.counts > 0) & ~column.levels.is_missing & ~column.levels.suppressed
        values_of_cell |= {column.levels.labels[cell]: fits[:, cell] for cell in np.flatnonzero(used).tolist()}
    cells = np.array(list(values_of_cell.values()))
    if not values_of_cell or original.counts[cells.sum(axis=0) > 1].sum() > MAX_MISFIT_SHARE * len(original.codes):
        return None
    first, labels = np.where(cells.any(axis=0), cells.argmax(axis=0), -1), list(values_of_cell)
    texts = [
        labels[cell] if cell >= 0 else label for cell, label in zip(first.tolist(), original.levels.labels, strict=True)
    ]
    return write_cells(original, texts)


def blank_hidden_cells(column: Column) -> Column:
    """Return the column with missing cells in place of `*`, and of sets whose values also occur as separate cells."""
    levels = column.levels
    hides = levels.suppressed.copy()
    if levels.kind != "numeric" and has_sets(column) and len(levels) ** 2 <= MAX_LEVEL_PAIRS:
        meets = compatible(levels, levels, missing="own") & (column.counts > 0) & ~hides
        hides |= ~levels.atomic & ~levels.is_missing & (meets.sum(axis=1) > 1)
    if not hides.any():
        return column
    texts = [MISSING if hidden else label for hidden, label in zip(hides, levels.labels, strict=True)]
    return write_cells(column, texts)


def separate_shared_ends(column: Column) -> Column:
    """Return the column with a number that two intervals share only in the first of them."""
    levels = column.levels
    if levels.kind != "numeric":
        return column
    low, labels = levels.low.copy(), list(levels.labels)
    order = np.flatnonzero(np.isfinite(levels.high) | np.isfinite(levels.low))
    for previous, level in pairwise(order[np.argsort(levels.high[order], kind="stable")].tolist()):
        if levels.high[previous] == low[level] < levels.high[level]:
            low[level] = levels.scale.next_value(low[level])
            labels[level] = levels.scale.write(low[level], levels.high[level])
    return replace(column, levels=replace(levels, low=low, labels=tuple(labels)))


def has_sets(column: Column) -> bool:
    """Return whether a cell means several values, but not all."""
    return bool(column.levels.is_set.any())
