"""The generalization lattice of a table: the levels of its columns, and the classes at every node.

A node is a level for each quasi-identifier, 0 the cells as they are. Rows are grouped once; the classes at a node are
counted from those at a finer one, by integer codes, and rows are never touched again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.tables.column import Column
from unmask.tables.dates import UNITS
from unmask.tables.grouping import KEY_LIMIT, summed
from unmask.tables.notation import EVERYTHING
from unmask.tables.protections.recoding import generalized
from unmask.tables.table import Table
from unmask.tables.utility.columns import Loss

Level = float | str
Node: TypeAlias = tuple[int, ...]

MAX_NODES = 1 << 20
"""Nodes of a lattice that is searched."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """The levels of one column, the finest first; the cells of each are unions of cells of the one before.

    levels : what `Generalize` calls each; 0 leaves the column as it is
    code   : (H, L) the cell of each of the column's values at each level, by its number there
    cells  : (H,) how many cells there are
    lost   : (H, L) normalized certainty penalty of that cell, see `utility.evaluate`
    row_penalty : certainty penalty of a row that is not released
    """

    levels: tuple[Level, ...]
    code: NDArray[np.int32]
    cells: NDArray[np.int64]
    lost: NDArray[np.float64]
    row_penalty: float

    @classmethod
    def of(cls, column: Column, levels: Sequence[Level] | None) -> Ladder:
        """Return the given levels, or all levels of the hierarchy, calendar or codes of a column."""
        levels = _default_levels(column) if levels is None else tuple(levels)
        if not levels:
            raise UnmaskError(f"0 levels of column {column.name!r} are given, expected at least 1")
        recoded_columns = [_recode(column, level) for level in levels]
        code, lost = (
            np.stack(part)
            for part in zip(*((recoded.codes, _lost(column, recoded)) for recoded in recoded_columns), strict=True)
        )
        _check_nested(column, levels, code[:, np.flatnonzero(column.counts)])
        return cls(
            levels, code, np.array([len(recoded.levels) for recoded in recoded_columns]), lost, _row_penalty(column)
        )

    def from_level(self, level: int) -> Ladder:
        """Return the ladder from one of its levels on."""
        return replace(
            self, levels=self.levels[level:], code=self.code[level:], cells=self.cells[level:], lost=self.lost[level:]
        )


def _check_nested(column: Column, levels: Sequence[Level], code: NDArray[np.int32]) -> None:
    """Refuse a level that parts a cell of the one before; code : (H, L) of the values that occur."""
    for (finer, coarser), pair in zip(pairwise(levels), pairwise(code), strict=True):
        if len(np.unique(np.stack(pair), axis=1).T) > len(np.unique(pair[0])):
            raise UnmaskError(
                f"level {coarser!r} of column {column.name!r} parts a cell of level {finer!r}; give levels each of "
                "which is a union of cells of the one before, such as 5, 10, 20"
            )


def _default_levels(column: Column) -> tuple[Level, ...]:
    if column.hierarchy is not None:
        written = column.hierarchy.height < column.hierarchy.levels
        return (*range(column.hierarchy.levels), *(() if written else (EVERYTHING,)))
    if column.type in ("date", "datetime"):
        return (0, *UNITS[column.type == "date" :], EVERYTHING)  # a date is a day
    if column.levels.by_prefix:
        return tuple(range(column.levels.longest + 1))
    return (0, EVERYTHING)


def _recode(column: Column, level: Level) -> Column:
    """Return the distinct values of a column at a level."""
    listed_levels = replace(column, codes=np.arange(len(column.levels), dtype=np.int32))
    if level == 0:
        return listed_levels
    levels, codes = generalized(listed_levels, level)
    return replace(listed_levels, levels=levels, codes=codes)


def _lost(column: Column, recoded: Column) -> NDArray[np.float64]:
    """(L,) penalty of the cell of each value; a missing cell that stays missing loses nothing."""
    nothing = scipy.sparse.csr_array((len(column.levels), len(recoded.levels)), dtype=np.int64)
    loss = Loss.of(column, recoded, nothing, np.zeros(len(column.levels), dtype=np.int64))
    return np.where(loss.target.missing, 0.0, loss.penalty)[recoded.codes]


def _row_penalty(column: Column) -> float:
    """Return the loss of a suppressed row: 1, or 0 if all rows are equal."""
    n = len(column.levels)
    pairs, suppressed_rows = scipy.sparse.csr_array((n, n), dtype=np.int64), np.ones(n, dtype=np.int64)
    return Loss.of(column, column, pairs, suppressed_rows).ncp()


@dataclass(frozen=True, eq=False)
class Counted:
    """The classes at a node.

    first : (J,) one of the table's classes that are in each
    sizes : (J,) rows
    histograms : of each sensitive column (J, L) rows of each level
    owners : (J, P) rows of each person, see `Table.people`
    """

    first: NDArray[np.int64]
    sizes: NDArray[np.int64]
    histograms: tuple[scipy.sparse.csr_array, ...] = ()
    owners: scipy.sparse.csr_array | None = None

    @property
    def class_people(self) -> NDArray[np.int64]:
        """Return (J,) the number of different people in each class, which k limits."""
        return self.sizes if self.owners is None else np.diff(self.owners.indptr)

    def take(self, classes: NDArray[np.intp]) -> Counted:
        """Select classes, with new numbers."""
        histograms = tuple(histogram[classes] for histogram in self.histograms)
        owners = None if self.owners is None else self.owners[classes]
        return Counted(np.arange(len(classes)), self.sizes[classes], histograms, owners)


@dataclass(frozen=True, eq=False)
class Nodes:
    """The lattice of a table.

    ladders : of the quasi-identifiers
    levels  : (J, d) the values of each class of the table
    table   : these classes, counted
    """

    ladders: tuple[Ladder, ...]
    levels: NDArray[np.int32]
    table: Counted

    @classmethod
    def of(
        cls, table: Table, levels: Mapping[str, Sequence[Level]], histograms: Sequence[scipy.sparse.csr_array] = ()
    ) -> Nodes:
        """Return the lattice over the given levels, or all levels of a column.

        >>> table = Table.read({"age": [30, 31, 50], "sex": list("ffm")}, quasi_identifiers=["age", "sex"])
        >>> nodes = Nodes.of(table, {"age": [0, 10, 20]})
        >>> nodes.shape, nodes.counted((1, 0)).sizes
        ((3, 2), array([2, 1]))
        """
        ladders = tuple(Ladder.of(column, levels.get(column.name)) for column in table.quasi_identifiers)
        classes = table.classes
        counted = Counted(np.arange(len(classes.sizes)), classes.sizes, tuple(histograms), owners=table.people)
        nodes = cls(ladders, classes.levels, counted)
        if (n := int(np.prod([float(size) for size in nodes.shape]))) > MAX_NODES:
            raise UnmaskError(
                f"the lattice has {n:,} nodes, expected at most {MAX_NODES:,}; give fewer levels of some columns"
            )
        return nodes

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return tuple(len(ladder.levels) for ladder in self.ladders)

    def counted(self, node: Node, finer: Counted | None = None) -> Counted:
        """Count the classes at a node from those at a finer one, or from those of the table."""
        finer = self.table if finer is None else finer
        new_class, first_of_class = self.merge_classes(node, finer.first)
        sizes = np.bincount(new_class, weights=finer.sizes, minlength=len(first_of_class)).astype(np.int64)
        histograms = tuple(summed(histogram, new_class, len(first_of_class)) for histogram in finer.histograms)
        owners = None if finer.owners is None else summed(finer.owners, new_class, len(first_of_class))
        return Counted(finer.first[first_of_class], sizes, histograms, owners)

    def merge_classes(self, node: Node, first: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """(J,) which classes have the same cells at a node; and the first of each kind."""
        from unmask.tables.protections._kernels import merged  # numba is imported where a kernel runs

        keys = self._keys(node, first)
        new_class, first_of_class = merged(keys, (2 * len(first)).bit_length())
        return new_class, first_of_class

    def _keys(self, node: Node, first: NDArray[np.int64]) -> NDArray[np.int64]:
        """(J,) one number for the cells of each class at a node."""
        key, space = np.zeros(len(first), dtype=np.int64), 1
        for j, (ladder, level) in enumerate(zip(self.ladders, node, strict=True)):
            if space * int(ladder.cells[level]) > KEY_LIMIT:
                distinct, key = np.unique(key, return_inverse=True)
                space = len(distinct)
            space *= int(ladder.cells[level])
            key = key * ladder.cells[level] + ladder.code[level][self.levels[first, j]]
        return key

    def lost(self, node: Node, first: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(J,) weighted mean over the columns of the penalty of the cells of classes; weights sum to 1."""
        columns = enumerate(zip(self.ladders, node, strict=True))
        return np.asarray(
            weights @ np.stack([ladder.lost[level][self.levels[first, j]] for j, (ladder, level) in columns])
        )

    def least_lost(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(H_1, ..., H_d) the mean penalty of every node where no row is suppressed."""
        total = np.zeros(self.shape)
        for j, ladder in enumerate(self.ladders):
            rows = np.bincount(self.levels[:, j], weights=self.table.sizes, minlength=ladder.code.shape[1])
            mean = weights[j] * (ladder.lost @ rows) / rows.sum()
            total += mean.reshape([-1 if i == j else 1 for i in range(len(self.shape))])
        return total
