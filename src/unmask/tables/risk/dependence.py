"""Dependence between columns: leave-one-out guesses by the most common value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np
import scipy

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import CsrRows
from unmask.core.grouping import class_counts, group
from unmask.facts import Restored
from unmask.tables.column import Column
from unmask.tables.table import Table

MIN_EXPLAINED = 0.9
"""Share of the errors of a guess without a column that the column must correct to determine another one nearly."""

MIN_SHARED = 0.5
"""Share of rows whose value another row has, from which on a column may determine others exactly."""

MIN_DIFFERENCE = 0.01
"""Smallest difference between two shares of cells that is reported. It must also exceed four standard errors."""


def guess_from_other_rows(counts: CsrRows) -> Floats:
    """Return the probability that the most common value of the other rows in a class is a row's own value.

    counts : (J, L) rows of class j with value s, CSR. Returns one number for each stored count. Equally common values
        share the guess. A row that is alone in its class has nan, so that it does not guess its own value.

    >>> guess_from_other_rows(CsrRows.of_dense(np.array([[3, 1], [1, 1], [1, 0]])))
    array([ 1.,  0.,  0.,  0., nan])
    """
    size, first = counts.data, counts.indptr[:-1][np.diff(counts.indptr) > 0]
    class_of_entry = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(size))))
    top = size == np.maximum.reduceat(size, first)[class_of_entry]
    runner_up = np.where(top, 0, size)
    second = np.maximum.reduceat(runner_up, first)[class_of_entry]
    n_second = np.add.reduceat((runner_up == second) & ~top, first)[class_of_entry]
    is_only_top = top & (np.add.reduceat(top, first)[class_of_entry] == 1)
    n_others = size - 1
    chance = np.where(is_only_top & (n_others > second), 1.0, 0.0)
    chance = np.where(is_only_top & (n_others == second), 1.0 / (1 + n_second), chance)
    return np.where(is_only_top & (n_others == 0) & (second == 0), np.nan, chance)


def dependencies(columns: Sequence[Column]) -> tuple[Restored, ...]:
    """Return the pairs of columns in which one determines the other, exactly or nearly.

    `Restored.by` determines `Restored.column`. Exactly: each value of `by` occurs with one value of `column`, and at
    least half of the rows share their value of `by` with another row. The second condition excludes columns of distinct
    values, which trivially determine all columns. Nearly: (restored - guessed) / (1 - guessed) >= 0.9, with the shares
    of right guesses with and without `by`. Every row is guessed from the other rows.

    >>> table = Table.read({"zip": [1, 1, 2, 2], "town": list("aabb")}, quasi_identifiers=["zip", "town"])
    >>> [(one.by, one.column, one.exact) for one in dependencies(table.columns)]
    [('zip', 'town', True), ('town', 'zip', True)]
    """
    has_several_values = [guess for guess in map(_ColumnGuess, columns) if guess.has_several_values]
    restored = []
    for first, second in combinations(has_several_values, 2):
        if any(_may_determine(*counted) for counted in _count_pairs(first, second, step=4)):  # rarely
            restored += [_dependence(*counted) for counted in _count_pairs(first, second)]
    return tuple(first for first in restored if first is not None)


class _ColumnGuess:
    """Column with the leave-one-out guess of its cells from the column itself."""

    def __init__(self, column: Column) -> None:
        self.column, self.n_levels, self.sizes = column, len(column.levels), column.counts
        counts = CsrRows.of_dense(self.sizes[None, :])
        self.p_right = np.zeros(self.n_levels)
        self.p_right[counts.indices] = np.nan_to_num(guess_from_other_rows(counts))
        self.guessed = float(self.sizes @ self.p_right) / len(column.codes)

    @property
    def required(self) -> float:
        """Share of right guesses from which on the column is nearly determined."""
        return self.guessed + MIN_EXPLAINED * (1 - self.guessed)

    @cached_property
    def shared(self) -> float:
        """Share of rows whose value another row has."""
        return float(self.sizes[self.sizes > 1].sum() / len(self.column.codes))

    @property
    def has_several_values(self) -> bool:
        """Return whether the column has several values."""
        return bool(np.count_nonzero(self.sizes) > 1)


_Counted = tuple["_ColumnGuess", "_ColumnGuess", CsrRows, bool]
"""Source, target, counts (source, target) of rows, and whether they are transposed."""


def _count_pairs(first: _ColumnGuess, second: _ColumnGuess, step: int = 1) -> tuple[_Counted, _Counted]:
    """Count the pairs of values in every `step`-th row, for both directions."""
    codes = first.column.codes[::step], second.column.codes[::step]
    counts = class_counts(codes[0], first.n_levels, codes[1], second.n_levels)
    return (first, second, counts, False), (second, first, counts, True)


def _levels_of(counts: CsrRows, is_transposed: bool) -> Integers:
    """Return the level of the source of each count."""
    return counts.indices if is_transposed else np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))


def _may_determine(source: _ColumnGuess, target: _ColumnGuess, counts: CsrRows, is_transposed: bool) -> bool:
    """Return whether enough rows can have the most common value of their level of the source, by counts of some rows.

    counts : (source, target), or transposed
    """
    n, most_common = len(source.column.codes), np.zeros(source.n_levels, dtype=np.int64)
    np.maximum.at(most_common, _levels_of(counts, is_transposed), counts.data)
    n_others = n - counts.data.sum()
    return bool(most_common.sum() + n_others >= target.required * n)


def _dependence(source: _ColumnGuess, target: _ColumnGuess, counts: CsrRows, is_transposed: bool) -> Restored | None:
    """Return whether a column determines another one; counts : of all rows, as in `_may_determine`"""
    if not _may_determine(source, target, counts, is_transposed):
        return None
    n, required = len(source.column.codes), target.required
    exact = bool(np.bincount(_levels_of(counts, is_transposed)).max() == 1 and source.shared >= MIN_SHARED)
    counts = counts.transpose() if is_transposed else counts
    chance = guess_from_other_rows(counts)
    chance = np.where(np.isnan(chance), target.p_right[counts.indices], chance)
    restored = float(counts.data @ chance) / n
    if not exact and restored < required:
        return None
    return Restored(target.column.name, source.column.name, n, target.guessed, restored, exact)


def restored_cells(original: Table, release: Table, origin: Integers) -> tuple[Restored, ...]:
    """Return the generalized cells that other released columns predict: kept and sensitive columns, and the weight.

    For each quasi-identifier c and each other column d, the adversary guesses the original value of each generalized
    cell of c. The guess is the most common original value among the other rows with the same released cell and the same
    d. Its success is compared with the guess that ignores d. A pair is returned if the difference exceeds 0.01 and four
    standard errors.

    origin : (n_released,) row of the original behind each record
    """
    quasi_identifiers = {column.name for column in release.quasi_identifiers}
    unchanged_columns = [column for column in release.written if column.name not in quasi_identifiers]
    restored = [
        item
        for cell in release.quasi_identifiers
        if cell.name in original.names
        for item in _restored(original.column(cell.name).take(origin), cell, unchanged_columns)
    ]
    return tuple(restored)


def _restored(true: Column, cell: Column, unchanged_columns: Sequence[Column]) -> Iterator[Restored]:
    number = {label: code for code, label in enumerate(cell.levels.labels)}
    unchanged_code = np.array([number.get(label, -1) for label in true.levels.labels])
    changed = np.flatnonzero(unchanged_code[true.codes] != cell.codes)
    if not changed.size:
        return
    value, n_levels = true.codes[changed], len(true.levels)
    cell_of_row, sizes, _ = group([cell.codes[changed]], [len(cell.levels)])
    by_cell = class_counts(cell_of_row, len(sizes), value, n_levels)
    chances = np.nan_to_num(guess_from_other_rows(by_cell))
    p_right_by_cell = scipy.sparse.csr_array((chances, by_cell.indices, by_cell.indptr), shape=by_cell.shape)
    guessed = float(by_cell.data @ p_right_by_cell.data) / len(changed)
    noise = max(MIN_DIFFERENCE, 4 * np.sqrt(guessed * (1 - guessed) / len(changed)))
    for column in unchanged_columns:
        of_row, classes, levels = group([cell_of_row, column.codes[changed]], [len(sizes), len(column.levels)])
        counts = class_counts(of_row, len(classes), value, n_levels)
        chance = guess_from_other_rows(counts)
        class_of_entry = np.repeat(levels[:, 0], np.diff(counts.indptr))
        of_cell = np.asarray(p_right_by_cell[class_of_entry, counts.indices]).reshape(-1)
        chance = np.where(np.isnan(chance), of_cell, chance)
        restored = float(counts.data @ chance) / len(changed)
        if restored - guessed > noise:
            exact = bool(np.diff(counts.indptr).max() == 1)
            yield Restored(cell.name, column.name, len(changed), guessed, restored, exact)
