"""Containment between equivalence classes whose cells are suppressed or sets.

Such classes may contain the same people, so criteria and attacks add up their rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy

from unmask.core.arrays import Booleans, Integers
from unmask.core.grouping import group
from unmask.tables.attacks.comparisons import compare_contained, compare_levels
from unmask.tables.attacks.pairing import find_compatible_pairs, pair_classes
from unmask.tables.column import Column
from unmask.tables.levels import Missing
from unmask.tables.matching import are_disjoint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables.table import Table

    Counts = scipy.sparse.csr_array[Any, Any]


@dataclass(frozen=True, eq=False)
class Relation:
    """Relation between classes: class i is related to class j if the cells of j contain those of i.

    levels : (J, d) codes of the classes
    opened : (J, d) mask of cells that are compatible with every cell
    pairs  : (J, J) related classes of each class; None if classes are related exactly if they agree in the columns that
        are open in neither of them
    """

    levels: NDArray[np.int32]
    opened: Booleans
    pairs: Counts | None

    def sums(self, counts: Counts) -> Counts:
        """Return (J, m) counts, summed for each class over its related classes."""
        if self.pairs is not None:
            return scipy.sparse.csr_array(self.pairs @ counts)
        patterns, of_class = np.unique(self.opened, axis=0, return_inverse=True)
        members = [np.flatnonzero(of_class.ravel() == i) for i in range(len(patterns))]
        groups = list(zip(patterns, members, strict=True))
        blocks: list[Any] = [
            sum(self._sum(classes, related, ~(a | b), counts) for b, related in groups) for a, classes in groups
        ]
        return scipy.sparse.csr_array(scipy.sparse.vstack(blocks).tocsr()[np.argsort(np.concatenate(members))])

    def _sum(self, classes: Integers, related: Integers, shared: Booleans, counts: Counts) -> Counts:
        """Return, for some classes, the counts of other classes that agree with them in the shared columns."""
        stacked, columns = self.levels[np.concatenate((classes, related))], np.flatnonzero(shared)
        key = np.zeros(len(stacked), dtype=np.int32)
        if len(columns):
            key, _, _ = group([stacked[:, j].copy() for j in columns], (stacked[:, columns].max(axis=0) + 1).tolist())
        place = key[len(classes) :], np.arange(len(related))
        gather = scipy.sparse.csr_array(
            (np.ones(len(related), np.int64), place), shape=(int(key.max()) + 1, len(related))
        )
        return scipy.sparse.csr_array((gather @ counts[related])[key[: len(classes)]])


_RELATIONS: WeakKeyDictionary[Table, tuple[Relation | None, bool]] = WeakKeyDictionary()


def relation_of(table: Table) -> Relation | None:
    """Return the relation between the classes of a table; None if each class is related only to itself.

    >>> from unmask.tables import Table
    >>> cells = {"age": ["20", "*"], "sex": ["f", "f"]}
    >>> [relation_of(Table.read(cells, quasi_identifiers=names)) is None for names in ("sex", ["age", "sex"])]
    [True, False]
    """
    return _related(table)[0]


def classes_intersect(table: Table) -> bool:
    """Return whether two classes may contain the same person, even if neither contains the other."""
    return _related(table)[1]


def add_quasi_identifiers(table: Table, columns: Iterable[Column]) -> Table:
    """Return the table with more quasi-identifiers, its other sensitive columns, and no kept ones.

    Each new class is part of an old one. If the old classes are known to be disjoint, and so are the new columns'
    values, the new classes are disjoint. They are then not compared again.
    """
    columns = tuple(columns)
    names = {column.name for column in columns}
    sensitive = tuple(column for column in table.sensitive if column.name not in names)
    wider = replace(table, quasi_identifiers=(*table.quasi_identifiers, *columns), sensitive=sensitive, kept=())
    is_disjoint = table in _RELATIONS and not _RELATIONS[table][1]
    if is_disjoint and not columns_that_overlap(columns, missing=table.missing):
        _RELATIONS[wider] = None, False
    return wider


def _related(table: Table) -> tuple[Relation | None, bool]:
    if table not in _RELATIONS:
        _RELATIONS[table] = _relate(table)
    return _RELATIONS[table]


def _relate(table: Table) -> tuple[Relation | None, bool]:
    columns, missing, classes = table.quasi_identifiers, table.missing, table.classes
    if not columns_that_overlap(columns, missing=missing):
        return None, False
    opened = np.stack([column.levels.open(missing)[classes.levels[:, j]] for j, column in enumerate(columns)], axis=1)
    if not stated_cells_overlap(columns, missing=missing):
        relation = Relation(classes.levels, opened, None)
        several = relation.sums(scipy.sparse.csr_array(np.ones((len(opened), 1), dtype=np.int64))).max() > 1
        return (relation, True) if several else (None, False)
    pairing = pair_classes(table, table)
    row, klass = find_compatible_pairs(pairing, compare_levels(pairing.columns, missing=missing))
    if len(row) == len(opened):
        return None, False
    for j, column in enumerate(columns):
        if column.levels.is_set.any():
            comparison = compare_contained(column.levels, column.levels, missing=missing)
            is_contained = comparison.are_compatible(classes.levels[row, j], classes.levels[klass, j])
            row, klass = row[is_contained], klass[is_contained]
    if len(row) == len(opened):
        return None, True
    pairs = scipy.sparse.csr_array((np.ones(len(row), dtype=np.int64), (row, klass)), shape=(len(opened),) * 2)
    return Relation(classes.levels, opened, pairs), True


def columns_that_overlap(columns: Sequence[Column], *, missing: Missing) -> list[Column]:
    """Return the columns in which two different cells may be the same person's."""
    n_levels = {column: np.count_nonzero(column.counts) for column in columns}
    return [
        column
        for column, n in n_levels.items()
        if len(column.stated(missing)) < n > 1 or stated_cells_overlap([column], missing=missing)
    ]


def stated_cells_overlap(columns: Iterable[Column], *, missing: Missing) -> bool:
    """Return whether stated cells of a column intersect, so that a person may be in several classes."""
    return any(not are_disjoint(column.levels.select(column.stated(missing)), missing=missing) for column in columns)
