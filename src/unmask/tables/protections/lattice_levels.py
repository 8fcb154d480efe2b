"""Generalization lattice of a table: the levels of its columns, and the equivalence classes at each node.

A node is a level for each quasi-identifier; level 0 is the column itself. The classes at a node are counted from the
classes at a finer node, by integer codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.grouping import pack, rank_keys, sum_rows
from unmask.tables.column import Column
from unmask.tables.dates import UNITS
from unmask.tables.notation import EVERYTHING
from unmask.tables.protections.recoding import generalize
from unmask.tables.table import Table
from unmask.tables.utility.column_loss import NO_PAIRS, Loss

Level = float | str
Node: TypeAlias = tuple[int, ...]

MAX_NODES = 1 << 20
"""Largest number of nodes in a lattice."""


@dataclass(frozen=True, eq=False)
class ColumnLevels:
    """Generalization levels of one column, finest first. Each cell of a level is a union of cells of the level before.

    levels      : name of each level, as in `Generalize`; 0 is the column itself
    code        : (H, L) cell of each value of the column at each level
    n_cells     : (H,) number of cells at each level
    penalty     : (H, L) normalized certainty penalty of that cell, see `utility.evaluate`
    row_penalty : certainty penalty of a suppressed row
    """

    levels: tuple[Level, ...]
    code: NDArray[np.int32]
    n_cells: Integers
    penalty: Floats
    row_penalty: float

    @classmethod
    def of(cls, column: Column, levels: Sequence[Level] | None) -> ColumnLevels:
        """Return the given levels of a column; by default all levels of its hierarchy, calendar or codes."""
        levels = _default_levels(column) if levels is None else tuple(levels)
        if not levels:
            raise UnmaskError(f"0 levels of column {column.name!r} are given, expected at least 1")
        recoded_columns = [_recode(column, level) for level in levels]
        code = np.stack([recoded.codes for recoded in recoded_columns])
        penalty = np.stack([_cell_penalties(column, recoded) for recoded in recoded_columns])
        n_cells = np.array([len(recoded.levels) for recoded in recoded_columns])
        _check_nested(column, levels, code[:, np.flatnonzero(column.counts)])
        return cls(levels, code, n_cells, penalty, _row_penalty(column))

    def from_level(self, level: int) -> ColumnLevels:
        """Return the levels from this one upwards."""
        by_level: dict[str, Any] = {
            name: getattr(self, name)[level:] for name in ("levels", "code", "n_cells", "penalty")
        }
        return replace(self, **by_level)


def _check_nested(column: Column, levels: Sequence[Level], code: NDArray[np.int32]) -> None:
    """Raise UnmaskError if a level splits a cell of the level before.

    code : (H, L) cells of the values that occur
    """
    for (finer, coarser), pair in zip(pairwise(levels), pairwise(code), strict=True):
        if len(np.unique(np.stack(pair), axis=1).T) > len(np.unique(pair[0])):
            raise UnmaskError(
                f"level {coarser!r} of column {column.name!r} splits a cell of level {finer!r}; give levels whose "
                "cells are unions of cells of the level before, such as 5, 10, 20"
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
    """Return the distinct values of a column, recoded to a level."""
    listed_levels = replace(column, codes=np.arange(len(column.levels), dtype=np.int32))
    return listed_levels if level == 0 else generalize(listed_levels, level)


def _cell_penalties(column: Column, recoded: Column) -> Floats:
    """Return (L,) the penalty of the cell of each value; 0 for a missing cell that stays missing."""
    loss = Loss.of(column, recoded, NO_PAIRS, np.zeros(len(column.levels), dtype=np.int64))
    return np.where(loss.sets.target.missing, 0.0, loss.penalty)[recoded.codes]


def _row_penalty(column: Column) -> float:
    """Return the loss of a suppressed row: 1, or 0 if all rows are equal."""
    return Loss.of(column, column, NO_PAIRS, np.ones(len(column.levels), dtype=np.int64)).ncp()


@dataclass(frozen=True, eq=False)
class NodeClasses:
    """Equivalence classes at a node.

    first      : (J,) one class of the table in each class of the node
    sizes      : (J,) rows in each class
    histograms : for each sensitive column (J, L) rows of each level
    people     : (J, P) rows of each person, see `Table.people`
    """

    first: Integers
    sizes: Integers
    histograms: tuple[scipy.sparse.csr_array, ...] = ()
    people: scipy.sparse.csr_array | None = None

    @property
    def class_people(self) -> Integers:
        """(J,) number of different people in each class, which k limits."""
        return self.sizes if self.people is None else np.diff(self.people.indptr)

    def take(self, classes: NDArray[np.intp]) -> NodeClasses:
        """Return a selection of the classes, numbered from 0."""
        histograms = tuple(histogram[classes] for histogram in self.histograms)
        people = None if self.people is None else self.people[classes]
        return NodeClasses(np.arange(len(classes)), self.sizes[classes], histograms, people)


@dataclass(frozen=True, eq=False)
class LevelLattice:
    """Generalization lattice of a table.

    all_levels : levels of each quasi-identifier
    levels     : (J, d) codes of each class of the table
    table      : the classes of the table
    """

    all_levels: tuple[ColumnLevels, ...]
    levels: NDArray[np.int32]
    table: NodeClasses

    @classmethod
    def of(
        cls, table: Table, levels: Mapping[str, Sequence[Level]], histograms: Sequence[scipy.sparse.csr_array] = ()
    ) -> LevelLattice:
        """Return the lattice over the given levels; by default all levels of a column.

        >>> table = Table.read({"age": [30, 31, 50], "sex": list("ffm")}, quasi_identifiers=["age", "sex"])
        >>> lattice = LevelLattice.of(table, {"age": [0, 10, 20]})
        >>> lattice.shape, lattice.count_classes((1, 0)).sizes
        ((3, 2), array([2, 1]))
        """
        all_levels = tuple(ColumnLevels.of(column, levels.get(column.name)) for column in table.quasi_identifiers)
        classes = table.classes
        counted = NodeClasses(np.arange(len(classes.sizes)), classes.sizes, tuple(histograms), people=table.people)
        nodes = cls(all_levels, classes.levels, counted)
        if (n := int(np.prod([float(size) for size in nodes.shape]))) > MAX_NODES:
            raise UnmaskError(
                f"the lattice has {n:,} nodes, expected at most {MAX_NODES:,}; give fewer levels of some columns"
            )
        return nodes

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return tuple(len(column_levels.levels) for column_levels in self.all_levels)

    def count_classes(self, node: Node, finer: NodeClasses | None = None) -> NodeClasses:
        """Return the classes at a node, counted from those at a finer node; by default from those of the table."""
        finer = self.table if finer is None else finer
        new_class, first_of_class = self.merge_classes(node, finer.first)
        sizes = np.bincount(new_class, weights=finer.sizes, minlength=len(first_of_class)).astype(np.int64)
        histograms = tuple(sum_rows(histogram, new_class, len(first_of_class)) for histogram in finer.histograms)
        people = None if finer.people is None else sum_rows(finer.people, new_class, len(first_of_class))
        return NodeClasses(finer.first[first_of_class], sizes, histograms, people)

    def merge_classes(self, node: Node, first: Integers) -> tuple[NDArray[np.int32], Integers]:
        """Return the class at the node of each given class, (J,), and one given class of each.

        first : (J,) classes of the table
        """
        columns = list(zip(self.all_levels, node, strict=True))
        codes = [column.code[level].take(self.levels[:, j].take(first)) for j, (column, level) in enumerate(columns)]
        new_class, _, one_of_class = rank_keys(*pack(codes, [int(column.n_cells[level]) for column, level in columns]))
        return new_class, one_of_class

    def penalty(self, node: Node, first: Integers, weights: Floats) -> Floats:
        """Return (J,) the weighted mean over columns of the penalty of each class's cells; weights sum to 1."""
        columns = enumerate(zip(self.all_levels, node, strict=True))
        return np.asarray(
            weights
            @ np.stack([column.penalty[level].take(self.levels[:, j].take(first)) for j, (column, level) in columns])
        )

    def minimum_penalty(self, weights: Floats) -> Floats:
        """Return (H_1, ..., H_d) the mean penalty at each node without suppressed rows."""
        total = np.zeros(self.shape)
        for j, column_levels in enumerate(self.all_levels):
            rows = np.bincount(self.levels[:, j], weights=self.table.sizes, minlength=column_levels.code.shape[1])
            mean = weights[j] * (column_levels.penalty @ rows) / rows.sum()
            total += mean.reshape([-1 if i == j else 1 for i in range(len(self.shape))])
        return total
