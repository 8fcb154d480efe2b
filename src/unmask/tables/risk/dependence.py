"""Dependence of columns: guesses by the most common value among other rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.csr_rows import CsrRows
from unmask.facts import Restored
from unmask.tables.column import Column
from unmask.tables.grouping import class_counts, group
from unmask.tables.table import Table

MIN_EXPLAINED = 0.9
"""Share of what a guess alone gets wrong that a column must put right to determine another one nearly."""

MIN_SHARED = 0.5
"""Share of rows whose value another row has, from which on a column may determine others exactly."""

MIN_DIFFERENCE = 0.01
"""Smallest difference of two shares of cells that is reported, besides four standard errors of the smaller one."""


def right_by_others(counts: CsrRows) -> NDArray[np.float64]:
    """Return chance that the most common value among the *other* rows of its class is a row's own; equally common ones
    share it.

    counts : (J, L) rows of class j that hold value s. Returns one number for each stored count, nan for a row that is
    its whole class. Leaving the row itself out keeps a class of one from "guessing" its own value.

    >>> right_by_others(CsrRows.of_dense(np.array([[3, 1], [1, 1], [1, 0]])))
    array([ 1.,  0.,  0.,  0., nan])
    """
    size, first = counts.data, counts.indptr[:-1][np.diff(counts.indptr) > 0]
    owner = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(size))))
    top = size == np.maximum.reduceat(size, first)[owner]
    runner_up = np.where(top, 0, size)
    second = np.maximum.reduceat(runner_up, first)[owner]
    n_second = np.add.reduceat((runner_up == second) & ~top, first)[owner]
    only_top = top & (np.add.reduceat(top, first)[owner] == 1)
    n_others = size - 1
    chance = np.where(only_top & (n_others > second), 1.0, 0.0)
    chance = np.where(only_top & (n_others == second), 1.0 / (1 + n_second), chance)
    return np.where(only_top & (n_others == 0) & (second == 0), np.nan, chance)


def dependencies(columns: Sequence[Column]) -> tuple[Restored, ...]:
    """Return the pairs of columns of which one determines the other, exactly or nearly; `Restored.column` is determined
    by `Restored.by`.

    Exactly: no value of the one goes with two of the other, and at least half of the rows share their value with
    another row (a column of distinct values determines everything, and says nothing by it). Nearly: it puts at least
    0.9 of what the most common value alone gets wrong right, (restored - guessed) / (1 - guessed) >= 0.9, every row
    guessed from the others.

    >>> table = Table.read({"zip": [1, 1, 2, 2], "town": list("aabb")}, quasi_identifiers=["zip", "town"])
    >>> [(one.by, one.column, one.exact) for one in dependencies(table.columns)]
    [('zip', 'town', True), ('town', 'zip', True)]
    """
    varied = [side for side in map(_Side, columns) if side.varied]
    restored = []
    for first, second in combinations(varied, 2):
        counts = class_counts(first.column.codes, first.n_levels, second.column.codes, second.n_levels)
        restored += [_dependence(first, second, counts), _dependence(second, first, counts.transpose())]
    return tuple(first for first in restored if first is not None)


class _Side:
    """A column and how its own cells are guessed."""

    def __init__(self, column: Column) -> None:
        self.column, self.n_levels, self.sizes = column, len(column.levels), column.counts
        counts = CsrRows.of_dense(self.sizes[None, :])
        self.right = np.zeros(self.n_levels)
        self.right[counts.indices] = np.nan_to_num(right_by_others(counts))
        self.guessed = float(self.sizes @ self.right) / len(column.codes)

    @property
    def enough(self) -> float:
        """Return share of its cells that must be right for it to be determined nearly."""
        return self.guessed + MIN_EXPLAINED * (1 - self.guessed)

    @cached_property
    def shared(self) -> float:
        """Return share of rows whose value another row has."""
        return float(self.sizes[self.sizes > 1].sum() / len(self.column.codes))

    @property
    def varied(self) -> bool:
        """Return whether it holds several values."""
        return bool(np.count_nonzero(self.sizes) > 1)


def _dependence(source: _Side, target: _Side, counts: CsrRows) -> Restored | None:
    exact = bool(np.diff(counts.indptr).max() == 1 and source.shared >= MIN_SHARED)
    n, enough = len(source.column.codes), target.enough
    n_most_common = np.maximum.reduceat(counts.data, counts.indptr[:-1][np.diff(counts.indptr) > 0]).sum()
    if not exact and n_most_common < enough * n:  # not even with the row itself among the others
        return None
    chance = right_by_others(counts)
    chance = np.where(np.isnan(chance), target.right[counts.indices], chance)
    restored = float(counts.data @ chance) / n
    return (
        Restored(target.column.name, source.column.name, n, target.guessed, restored, exact)
        if exact or restored >= enough
        else None
    )


def restored_cells(original: Table, release: Table, origin: NDArray[np.int64]) -> tuple[Restored, ...]:
    """Return the generalized cells that an unchanged or sensitive column restores; the weight is one of these.

    For each quasi-identifier c and each such column d, over the cells of c that were generalized: how often the
    most common original value among the other rows of the same released cell and the same d is the right one, against
    the same without d. Told are pairs whose difference exceeds 0.01 and four standard errors of the latter.

    origin : (n_released,) the row of the original behind each record
    """
    quasi_identifiers = {column.name for column in release.quasi_identifiers}
    other_columns = [column for column in release.written if column.name not in quasi_identifiers]
    restored = [
        item
        for cell in release.quasi_identifiers
        if cell.name in original.names
        for item in _restored(original.column(cell.name).take(origin), cell, other_columns)
    ]
    return tuple(restored)


def _restored(true: Column, cell: Column, other_columns: Sequence[Column]) -> Iterator[Restored]:
    label = np.array(cell.levels.labels, dtype=object)[cell.codes]
    changed = np.flatnonzero(label != np.array(true.levels.labels, dtype=object)[true.codes])
    if not changed.size:
        return
    value, n_levels = true.codes[changed], len(true.levels)
    cell_of_row, sizes, _ = group([cell.codes[changed]], [len(cell.levels)])
    by_cell = class_counts(cell_of_row, len(sizes), value, n_levels)
    chances = np.nan_to_num(right_by_others(by_cell))
    right_by_cell = scipy.sparse.csr_array((chances, by_cell.indices, by_cell.indptr), shape=by_cell.shape)
    guessed = float(by_cell.data @ right_by_cell.data) / len(changed)
    noise = max(MIN_DIFFERENCE, 4 * np.sqrt(guessed * (1 - guessed) / len(changed)))
    for column in other_columns:
        of_row, classes, levels = group([cell_of_row, column.codes[changed]], [len(sizes), len(column.levels)])
        counts = class_counts(of_row, len(classes), value, n_levels)
        chance = right_by_others(counts)
        owner = np.repeat(levels[:, 0], np.diff(counts.indptr))
        chance = np.where(np.isnan(chance), np.asarray(right_by_cell[owner, counts.indices]).reshape(-1), chance)
        restored = float(counts.data @ chance) / len(changed)
        if restored - guessed > noise:
            exact = bool(np.diff(counts.indptr).max() == 1)
            yield Restored(cell.name, column.name, len(changed), guessed, restored, exact)
