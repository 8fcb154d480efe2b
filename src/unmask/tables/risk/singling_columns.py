"""The columns that single a person out of a release: the smallest set that leaves no more records than all together."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Integers
from unmask.core.errors import UnmaskError
from unmask.core.grouping import count_distinct
from unmask.languages import gettext as _
from unmask.languages import mark
from unmask.results.words import join_names
from unmask.tables.attacks.comparisons import Comparison, compare_known_levels
from unmask.tables.attacks.pairing import Pairing, pair
from unmask.tables.protections.generalization import generalize_further
from unmask.tables.table import Table

MAX_COLUMNS = 62
"""Columns whose sets fit into a 64-bit integer."""

MAX_PAIRS = 100_000_000
"""Pairs of a person and a class that are compared for a list of people: about five seconds on one core."""


class SinglingColumns(NamedTuple):
    """Columns that single a person out.

    Parameters
    ----------
    n_records : int
        Records that fit the person in all known columns.
    columns : tuple of str
        Smallest set of known columns in which no more records fit.
    n_without : mapping of str to int
        Known column -> records that fit in the other columns.
    """

    n_records: int
    columns: tuple[str, ...]
    n_without: dict[str, int]

    def describe(self) -> str:
        """Return the columns, and the one column without which most records match.

        >>> SinglingColumns(3, ("age", "zip"), {"age": 5, "zip": 14, "sex": 3}).describe()
        'matching records by age and zip: 3; without zip: 14'
        """
        if not self.n_records:
            return _("no record matches")
        if not self.columns:
            return _("all {n} records match", n=self.n_records)
        best, names = max(self.n_without, key=lambda name: self.n_without[name]), join_names(self.columns)
        n, without = self.n_records, self.n_without[best]
        if without <= n:
            return _("matching records by {columns}: {n}; no single column hides the person", columns=names, n=n)
        message = mark("matching records by {columns}: {n}; without {column}: {without}")
        return _(message, columns=names, n=n, column=best, without=without)


class CoarserColumn(NamedTuple):
    """Records that fit a person after one step of generalization of one released column."""

    column: str
    ladder: str
    level: float | str
    n_records: int


@dataclass(frozen=True, eq=False)
class SinglingSearch:
    """Comparison of known people with a release, column by column, as the prosecutor makes it (`ClassAttack`).

    Parameters
    ----------
    release : Table
        Release, without the rows that its rule for missing cells leaves out.
    people : Table, optional
        Known people; None: the people of the release, known by their released cells.
    rows : (n_people,) array, optional
        Row of each known person; by default they are counted from 0.

    Examples
    --------
    >>> columns = {"age": [30, 30, 41, 41], "sex": list("ffmf"), "zip": [1, 1, 1, 2]}
    >>> search = SinglingSearch(Table.read(columns, quasi_identifiers=["age", "sex", "zip"]))
    >>> search.explain(2)
    SinglingColumns(n_records=1, columns=('sex',), n_without={'age': 1, 'sex': 1, 'zip': 1})
    """

    release: Table
    people: Table | None = None
    rows: Integers | None = None

    @cached_property
    def _pairing(self) -> Pairing:
        return pair(self.people or self.release, self.release)

    @cached_property
    def _comparisons(self) -> list[Comparison]:
        return compare_known_levels(self._pairing.columns, missing=self.release.missing)

    @cached_property
    def _explained(self) -> dict[int, SinglingColumns]:
        return {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the known columns."""
        return tuple(cell.name for _, cell in self._pairing.columns)

    @property
    def has_budget(self) -> bool:
        """Return whether another person can be compared within `MAX_PAIRS` and `MAX_COLUMNS`."""
        n_pairs = (len(self._explained) + 1) * len(self._pairing.sizes)
        return len(self._pairing.columns) <= MAX_COLUMNS and n_pairs <= MAX_PAIRS

    def explain(self, person: int) -> SinglingColumns:
        """Return the columns that single out a known person, by position; people known alike are compared once.

        Raises
        ------
        UnmaskError
            If the tables share more than `MAX_COLUMNS` quasi-identifiers.
        """
        if len(self._pairing.columns) > MAX_COLUMNS:
            raise UnmaskError(f"{len(self.names)} quasi-identifiers, expected at most {MAX_COLUMNS} to compare people")
        observation = int(self._pairing.observation[person])
        if observation not in self._explained:
            self._explained[observation] = self._explain(self._exclude(observation))
        return self._explained[observation]

    def describe(self, row: int) -> str:
        """Return the columns that single out the person of a row in words, see `explain_row`; "" if not searched."""
        found = self.explain_row(row)
        return "" if found is None else found.describe()

    def explain_row(self, row: int) -> SinglingColumns | None:
        """Return the columns of a person by their row; None for others, and after `MAX_PAIRS` comparisons."""
        person = self._person_of_row[row] if 0 <= row < len(self._person_of_row) else -1
        return self.explain(int(person)) if person >= 0 and self.has_budget else None

    @cached_property
    def _person_of_row(self) -> NDArray[np.int32]:
        """First person of each row, -1 for none."""
        rows = np.arange(len(self._pairing.observation)) if self.rows is None else self.rows
        person = np.full(int(rows.max(initial=-1)) + 1, -1, dtype=np.int32)
        person[rows[::-1]] = np.arange(len(rows), dtype=np.int32)[::-1]
        return person

    def _exclude(self, observation: int) -> Integers:
        """Return (n_classes,) the set of columns in which each class does not fit."""
        bits = np.min_scalar_type((1 << len(self._comparisons)) - 1)  # up to eight columns fit into a byte
        excluded = np.zeros(len(self._pairing.sizes), dtype=bits)
        observed = self._pairing.observed[observation]
        for position, comparison in enumerate(self._comparisons):
            fits, codes = comparison.rows(observed[position : position + 1])[0], self._pairing.classes[:, position]
            levels = np.flatnonzero(fits)
            misfits = codes != levels[0] if len(levels) == 1 else ~fits[codes]
            excluded |= misfits * bits.type(1 << position)
        return excluded.astype(np.int64)

    def _explain(self, excluded: Integers) -> SinglingColumns:
        masks, n_records = count_distinct(excluded, 1 << len(self.names), weight=self._pairing.sizes)
        found = find_smallest_hitting_set(masks[masks > 0])
        columns = tuple(name for position, name in enumerate(self.names) if found >> position & 1)
        without = {
            name: int(n_records[(masks & ~np.int64(1 << position)) == 0].sum())
            for position, name in enumerate(self.names)
        }
        return SinglingColumns(int(n_records[masks == 0].sum()), columns, without)

    def try_coarser(self, person: int, original: Table | None = None) -> Iterator[CoarserColumn]:
        """Yield the records that fit a person after one step of generalization of each column with several values.

        original : table whose gaps between values limit the next bins; None: the release
        """
        observation = int(self._pairing.observation[person])
        excluded, sizes = self._exclude(observation), self._pairing.sizes
        rows = self._pairing.members[self._pairing.first[:-1]]
        for position, (known, cell) in enumerate(self._pairing.columns):
            if np.count_nonzero(cell.counts) < 2:
                continue
            source = cell if original is None else original.column(cell.name)
            level, coarser = generalize_further(cell, source)
            (comparison,) = compare_known_levels([(known, coarser)], missing=self.release.missing)
            fits = comparison.are_compatible(self._pairing.observed[observation][position], coarser.codes[rows])
            others = (excluded & ~np.int64(1 << position)) == 0
            yield CoarserColumn(cell.name, cell.ladder, level, int(sizes[others & fits].sum()))


def find_smallest_hitting_set(masks: Integers) -> int:
    """Return a smallest set that shares an element with each of several nonempty sets, all as bits.

    Sets of one more element are tried until one fits; each branch decides about the smallest set that is not hit.

    >>> find_smallest_hitting_set(np.array([0b011, 0b110, 0b101])), find_smallest_hitting_set(np.array([], np.int64))
    (3, 0)
    """
    return next(hit for size in itertools.count() if (hit := _hit(masks, size)) is not None)


def _hit(masks: Integers, size: int) -> int | None:
    """Return a set of at most `size` elements that hits all sets; None without one."""
    if not len(masks):
        return 0
    if size == 0:
        return None
    smallest = int(masks[np.bitwise_count(masks).argmin()])
    for position in range(smallest.bit_length()):
        bit = 1 << position
        if smallest & bit and (rest := _hit(masks[(masks & bit) == 0], size - 1)) is not None:
            return rest | bit
    return None
