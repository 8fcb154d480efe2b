"""Relation of classes that may be of one person: criteria and attacks count the rows of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy

from unmask.tables.attacks.pairing import Overlaps, fits_within, pair_classes, pairs_where
from unmask.tables.column import Column
from unmask.tables.grouping import group
from unmask.tables.levels import Missing
from unmask.tables.matching import are_disjoint, contained

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables.table import Table

    Counts = scipy.sparse.csr_array[Any, Any]


@dataclass(frozen=True, eq=False)
class Relation:
    """The classes of a table that meet, where some meet others: a class meets those whose cells contain its own.

    levels : (J, d) codes of the classes
    opened : (J, d) which of these meet every cell
    pairs  : (J, J) for each class those that it meets; None if classes meet that agree on the columns that neither has
        open
    """

    levels: NDArray[np.int32]
    opened: NDArray[np.bool_]
    pairs: Counts | None

    def sums(self, counts: Counts) -> Counts:
        """Return (J, m) counts, summed for each class over the classes that it meets."""
        if self.pairs is not None:
            return scipy.sparse.csr_array(self.pairs @ counts)
        patterns, of_class = np.unique(self.opened, axis=0, return_inverse=True)
        members = [np.flatnonzero(of_class.ravel() == i) for i in range(len(patterns))]
        groups = list(zip(patterns, members, strict=True))
        blocks: list[Any] = [
            sum(self._sum(mine, theirs, ~(a | b), counts) for b, theirs in groups) for a, mine in groups
        ]
        return scipy.sparse.csr_array(scipy.sparse.vstack(blocks).tocsr()[np.argsort(np.concatenate(members))])

    def _sum(
        self, mine: NDArray[np.int64], theirs: NDArray[np.int64], shared: NDArray[np.bool_], counts: Counts
    ) -> Counts:
        """Return for some classes the counts of those others that agree with them on the shared columns."""
        stacked, columns = self.levels[np.concatenate((mine, theirs))], np.flatnonzero(shared)
        key = np.zeros(len(stacked), dtype=np.int32)
        if len(columns):
            key, _, _ = group([stacked[:, j].copy() for j in columns], (stacked[:, columns].max(axis=0) + 1).tolist())
        place = key[len(mine) :], np.arange(len(theirs))
        gather = scipy.sparse.csr_array(
            (np.ones(len(theirs), np.int64), place), shape=(int(key.max()) + 1, len(theirs))
        )
        return scipy.sparse.csr_array((gather @ counts[theirs])[key[: len(mine)]])


_RELATIONS: WeakKeyDictionary[Table, tuple[Relation | None, bool]] = WeakKeyDictionary()


def relation_of(table: Table) -> Relation | None:
    """Return which classes of a table meet others; None where each meets itself alone, so that equal rows are classes.

    >>> from unmask.tables import Table
    >>> cells = {"age": ["20", "*"], "sex": ["f", "f"]}
    >>> [relation_of(Table.read(cells, quasi_identifiers=names)) is None for names in ("sex", ["age", "sex"])]
    [True, False]
    """
    return _related(table)[0]


def classes_intersect(table: Table) -> bool:
    """Return whether some classes have a person in common, also if neither contains the other."""
    return _related(table)[1]


def add_quasi_identifiers(table: Table, columns: Iterable[Column]) -> Table:
    """Return the table with more quasi-identifiers, and without its other columns.

    The new classes are parts of the old ones. If no two old classes are known to intersect, and no two values of the
    new columns do, no two new classes intersect, and they are not compared again.
    """
    columns = tuple(columns)
    wider = replace(table, quasi_identifiers=(*table.quasi_identifiers, *columns), sensitive=(), kept=())
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
    if all(are_disjoint(column.levels.select(column.stated(missing)), missing=missing) for column in columns):
        relation = Relation(classes.levels, opened, None)
        several = relation.sums(scipy.sparse.csr_array(np.ones((len(opened), 1), dtype=np.int64))).max() > 1
        return (relation, True) if several else (None, False)
    pairing = pair_classes(table, table)
    fits = fits_within(columns, missing=missing)
    row, klass = pairs_where(pairing, fits)
    if len(row) == len(opened):
        return None, False
    for j, (column, fit) in enumerate(zip(columns, fits, strict=True)):
        known_levels, released = classes.levels[row, j], classes.levels[klass, j]
        if isinstance(fit, Overlaps):
            is_fitting = fit.contains(known_levels, released)
        elif column.levels.sets.any():
            is_fitting = contained(column.levels, column.levels, missing=missing)[known_levels, released]
        else:
            continue
        row, klass = row[is_fitting], klass[is_fitting]
    if len(row) == len(opened):
        return None, True
    pairs = scipy.sparse.csr_array((np.ones(len(row), dtype=np.int64), (row, klass)), shape=(len(opened),) * 2)
    return Relation(classes.levels, opened, pairs), True


def columns_that_overlap(columns: Sequence[Column], *, missing: Missing) -> list[Column]:
    """Return the columns with two different cells that may be the same person's."""
    names = []
    for column in columns:
        used, is_stated = np.flatnonzero(column.counts), column.stated(missing)
        if len(is_stated) < len(used) > 1 or not are_disjoint(column.levels.select(is_stated), missing=missing):
            names.append(column)
    return names
