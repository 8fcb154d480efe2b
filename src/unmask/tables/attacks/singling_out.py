"""Singling-out attacks: predicates that the adversary expects exactly one person to satisfy (WP216)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Integers
from unmask.core.errors import UnmaskError
from unmask.core.grouping import group
from unmask.core.randomness import secret_unless
from unmask.tables.attacks.pairing import require_rows
from unmask.tables.background import Background, Rng
from unmask.tables.column import Column
from unmask.tables.levels import Levels
from unmask.tables.matching import compatible
from unmask.tables.notation import EVERYTHING
from unmask.tables.table import Table

Relation = Literal["is", "at least", "at most", "within"]


@dataclass(frozen=True)
class Condition:
    """Condition on one column: the cell equals a value, is at least or at most a value, or is within a released cell.

    cells, at : the released cells with several values, and the position of this cell among them; None for a value
    """

    column: str
    relation: Relation
    label: str
    cells: Levels | None = field(default=None, compare=False, repr=False)
    at: int = field(default=0, compare=False, repr=False)

    def match_levels(self, column: Column) -> Booleans:
        """Return a mask of the levels of a column that satisfy the condition with all their values, (n_levels,)."""
        levels = column.levels
        if self.relation == "is":
            return np.asarray(np.asarray(levels.labels, dtype=object) == self.label)
        if self.cells is not None:
            return compatible(levels, self.cells.select([self.at]), missing="own")[:, 0]
        low, high = levels.scale.read(self.label) or (np.nan, np.nan)
        return np.asarray(levels.low >= low if self.relation == "at least" else levels.high <= high)


Predicate = tuple[Condition, ...]
"""Conjunction of conditions."""


MAX_CELLS = 1 << 23
"""Largest size of a block of rows times conditions, rows times predicates, or levels times conditions."""


def count_matches(tables: Iterable[Table], predicates: Sequence[Predicate]) -> Iterator[Integers]:
    """Yield for each table the number of rows that satisfy each predicate, (n_predicates,)."""
    is_value = np.array([len(predicate) == 1 and predicate[0].relation == "is" for predicate in predicates], np.bool_)
    remaining = [predicates[i] for i in np.flatnonzero(~is_value).tolist()]
    number = {condition: i for i, condition in enumerate(dict.fromkeys(chain.from_iterable(remaining)))}
    n_most = max(map(len, remaining), default=1)
    rows = ([number[condition] for condition in predicate] for predicate in remaining)
    numbers = np.array([row + row[-1:] * (n_most - len(row)) for row in rows], dtype=np.int64).reshape(-1, n_most)
    for table in tables:
        counts = np.zeros(len(predicates), dtype=np.int64)
        sizes = {column.name: dict(zip(column.levels.labels, column.counts, strict=True)) for column in table.columns}
        for i in np.flatnonzero(is_value).tolist():  # a numeric column may have as many values as rows
            counts[i] = sizes[predicates[i][0].column].get(predicates[i][0].label, 0)
        conditions = [(table.column(condition.column), condition) for condition in number]
        counts[~is_value] = _count_rows(table.n_rows, conditions, numbers)
        yield counts


def _count_rows(n_rows: int, conditions: Sequence[tuple[Column, Condition | None]], predicates: Integers) -> Integers:
    """Return (n_predicates,) the number of rows that satisfy each predicate.

    conditions : each with its column of the rows. None marks a level without a condition, which no predicate uses
    predicates : (n_predicates, n_conditions) positions of the conditions; repetitions have no effect
    """
    if not n_rows or not predicates.size:
        return np.zeros(len(predicates), dtype=np.int64)
    used, inverse = np.unique(predicates, return_inverse=True)
    of_column: dict[str, list[int]] = {}
    for number in used.tolist():
        of_column.setdefault(conditions[number][0].name, []).append(number)
    runs = [
        (conditions[numbers[0]][0].codes, _LevelRuns.of(conditions[numbers[0]][0], [conditions[i][1] for i in numbers]))
        for numbers in of_column.values()
    ]
    place = np.argsort(np.array([number for numbers in of_column.values() for number in numbers], dtype=np.int64))
    counts, numbers = np.zeros(len(predicates), dtype=np.int64), place[inverse.reshape(predicates.shape)]
    step = 64 * max(MAX_CELLS // (64 * max([len(used), *(len(run.end_number) for _, run in runs)])), 1)
    for rows in (slice(first, first + step) for first in range(0, n_rows, step)):
        counts += _count_satisfying_rows(np.concatenate([run.bits(codes[rows]) for codes, run in runs]), numbers)
    return counts


def _count_satisfying_rows(bits: NDArray[np.uint64], predicates: Integers) -> Integers:
    """Return (n_predicates,) the number of rows that satisfy each predicate.

    bits : (n_conditions, n_words) bit set of the rows that satisfy each condition
    """
    n_rows = np.empty(len(predicates), dtype=np.int64)
    step = max(MAX_CELLS // (64 * bits.shape[1]), 1)
    for block in (slice(first, first + step) for first in range(0, len(predicates), step)):
        all_bits = bits[predicates[block, 0]]
        for numbers in predicates[block].T[1:]:
            all_bits &= bits[numbers]
        n_rows[block] = np.bitwise_count(all_bits).sum(axis=1, dtype=np.int64)
    return n_rows


class _LevelRuns(NamedTuple):
    """Runs of consecutive levels that satisfy each condition.

    Rows are compared with the ends of runs, which many conditions share, instead of with each condition.

    ends       : levels at which runs begin or after which they stop, ascending; 0 for a condition without levels
    end_number : positions in `ends`: those of the first condition, then those of the second, and so on
    start      : (n_conditions,) start of each condition in `end_number`
    """

    ends: NDArray[np.int32]
    end_number: Integers
    start: Integers

    @classmethod
    def of(cls, column: Column, conditions: Sequence[Condition | None]) -> Self:
        """Return the runs of levels that satisfy each condition."""
        n, step, parts = len(conditions), max(MAX_CELLS // (len(column.levels) + 2), 1), []
        for first in range(0, n, step):
            is_matching = np.pad(_match_levels(column, conditions[first : first + step]), ((0, 0), (1, 1)))
            condition, end = np.nonzero(is_matching[:, 1:] != is_matching[:, :-1])
            parts.append((first + condition, end))
        condition, end = (np.concatenate(part) for part in zip(*parts, strict=True))
        without_level = np.setdiff1d(np.arange(n), condition)
        condition, end = np.append(condition, without_level), np.append(end, np.zeros_like(without_level))
        order = np.argsort(condition, kind="stable")
        ends, end_number = np.unique(end[order], return_inverse=True)
        return cls(ends.astype(np.int32), end_number, np.searchsorted(condition[order], np.arange(n)))

    def bits(self, codes: NDArray[np.int32]) -> NDArray[np.uint64]:
        """Return (n_conditions, n_words) bit sets of the rows that satisfy each condition.

        codes : level of each row
        """
        is_below = np.zeros((len(self.ends), -(-len(codes) // 64) * 8), dtype=np.uint8)
        is_below[:, : -(-len(codes) // 8)] = np.packbits(codes < self.ends[:, None], axis=1)
        return np.bitwise_xor.reduceat(is_below.view(np.uint64)[self.end_number], self.start, axis=0)


def _match_levels(column: Column, conditions: Sequence[Condition | None]) -> Booleans:
    """Return (n_conditions, n_levels) masks of the levels that satisfy conditions on a column.

    See `Condition.match_levels`; all values, and all cells of a release, are compared together.
    """
    level_of = {label: level for level, label in enumerate(column.levels.labels)}
    is_matching = np.zeros((len(conditions), len(column.levels)), dtype=np.bool_)
    wide: dict[int, int] = {}
    cells = column.levels
    for position, condition in enumerate(conditions):
        assert condition is not None
        if condition.cells is not None:
            wide[position], cells = condition.at, condition.cells
        elif condition.relation != "is":
            is_matching[position] = condition.match_levels(column)
        elif condition.label in level_of:
            is_matching[position, level_of[condition.label]] = True
    if wide:
        is_matching[list(wide)] = compatible(column.levels, cells.select(list(wide.values())), missing="own").T
    return is_matching


@dataclass(frozen=True)
class SinglingOut:
    """Attack that writes predicates that are likely to single out one person.

    Predicates on one column: every value that occurs in one released row, and for numbers the smallest and the largest
    value. Predicates on several columns: `tries` times, a released row and some columns are drawn at random. The
    predicate contains the row's value in these columns; for a number it is "at least" this value above the column's
    median, and "at most" otherwise; for a generalized cell it is "one of its values". It is kept if no other
    released row may satisfy it. Missing cells and `*` give no condition. Predicates are distinct, and at most
    `guesses` of each kind are used.

    Studies test the predicates on members and on a control group (`singled_out`, `singled_out_of_as_many`).

    Assumes: a person who is unique in the release is unique in the population.

    Fails when: the release is a small sample of the population. Predicates that single out the control group as often
    as members do not disclose members: read the excess.

    Parameters
    ----------
    guesses : int, optional
        Largest number of predicates of one column, and of several.
    tries : int, optional
        Number of rows that are drawn.
    conditions : tuple[int, int], optional
        Smallest and largest number of columns of a predicate on several columns.
    exact : bool, optional
        True: numbers are compared for equality.

    References
    ----------
    A. Cohen & K. Nissim, "Towards formalizing the GDPR's notion of singling out", PNAS 2020; M. Giomi et al., "A
    unified framework for quantifying privacy risk in synthetic data", PoPETs 2023, section 4.1, for the predicates.

    Examples
    --------
    >>> release = Table.read({"age": [30, 30, 50], "sex": ["f", "m", "f"]}, quasi_identifiers=["age", "sex"])
    >>> predicates = SinglingOut(conditions=(2, 2))(release, rng=np.random.default_rng(0))
    >>> [(condition.column, condition.relation, condition.label) for condition in predicates[-1]]
    [('age', 'at least', '30'), ('sex', 'is', 'm')]
    """

    guesses: int = 2000
    tries: int = 20_000
    conditions: tuple[int, int] = (2, 4)
    exact: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", tuple(self.conditions))
        if not 1 <= self.conditions[0] <= self.conditions[1]:
            raise UnmaskError(f"conditions are {self.conditions}, expected the fewest, at least 1, and the most")

    def __call__(
        self,
        release: Table,
        knowledge: Background | None = None,  # noqa: ARG002 - the predicates depend on the release only
        *,
        rng: Rng = None,
    ) -> tuple[Predicate, ...]:
        """Return the predicates; those on one column come first."""
        chance = secret_unless(rng)
        require_rows(release)
        first_rows = release.classes.first
        conditions = [
            (rows, item)
            for column, rows in ((column, column.take(first_rows)) for column in release.quasi_identifiers)
            for item in _conditions_of(column, exact=self.exact)
        ]
        drawn = self._draw_predicates(release, conditions, chance)
        single = tuple(dict.fromkeys(_single_column_predicates(release)))
        repeated = np.where(drawn < 0, drawn.max(axis=1, keepdims=True), drawn)
        conjunctions = drawn[_count_rows(len(first_rows), conditions, repeated) == 1][: self.guesses]
        chosen = np.sort(chance.permutation(len(single))[: self.guesses])
        conjoined = (
            tuple(conditions[position][1] for position in item if position >= 0) for item in conjunctions.tolist()
        )
        return (*(single[position] for position in chosen), *conjoined)

    def _draw_predicates(
        self, release: Table, conditions: Sequence[tuple[Column, Condition | None]], rng: np.random.Generator
    ) -> Integers:
        """Return distinct drawn predicates: (n_predicates, n_columns) position of the condition on each column, -1 for
        none.

        Only rows without an equal row are used: a predicate of a repeated row is satisfied by its duplicates.
        """
        columns, classes = release.quasi_identifiers, release.classes
        rows = rng.integers(0, release.n_rows, self.tries)
        n = rng.integers(self.conditions[0], self.conditions[1] + 1, self.tries)
        order = rng.random((self.tries, len(columns)))
        is_unique = classes.sizes[classes.of_row[rows]] == 1
        rows, n, place = rows[is_unique], n[is_unique], order[is_unique].argsort(axis=1).argsort(axis=1)
        first = np.cumsum([0, *(len(column.levels) for column in columns)])
        has_no_condition = np.array([item is None for _, item in conditions])
        drawn = np.stack([column.codes[rows] + offset for column, offset in zip(columns, first, strict=False)], axis=1)
        drawn[(place >= n[:, None]) | has_no_condition[drawn]] = -1
        key = group([(item + 1).astype(np.int32) for item in drawn.T], [len(conditions) + 1] * len(columns))[0]
        predicates = drawn[np.sort(np.unique(key, return_index=True)[1])]
        return np.asarray(predicates[(predicates >= 0).any(axis=1)], dtype=np.int64)


def _single_column_predicates(release: Table) -> Iterator[Predicate]:
    """Yield the predicates on one column: unique values, and the extreme values of numbers."""
    for column in release.quasi_identifiers:
        labels, exact = column.levels.labels, column.levels.atomic
        for level in np.flatnonzero((column.counts == 1) & exact).tolist():
            yield (Condition(column.name, "is", labels[level]),)
        levels = np.flatnonzero((column.counts > 0) & exact)
        if column.levels.kind == "numeric" and len(levels):
            low = column.levels.low[levels]
            yield (Condition(column.name, "at most", labels[levels[low.argmin()]]),)
            yield (Condition(column.name, "at least", labels[levels[low.argmax()]]),)


def _conditions_of(column: Column, *, exact: bool) -> list[Condition | None]:
    """Return the condition of each level; None for a missing or an open cell."""
    median, wide = None if exact else _median(column), np.flatnonzero(~column.levels.atomic)
    cells, place = column.levels.select(wide), np.cumsum(~column.levels.atomic) - 1
    return [_condition_of(column, level, median, (cells, int(place[level]))) for level in range(len(column.levels))]


def _median(column: Column) -> float | None:
    if column.levels.kind != "numeric":
        return None
    values = column.levels.low[column.codes[column.levels.atomic[column.codes]]]
    return float(np.median(values)) if len(values) else None


def _condition_of(column: Column, level: int, median: float | None, cell: tuple[Levels, int]) -> Condition | None:
    levels, label = column.levels, column.levels.labels[level]
    if level == levels.missing or label == EVERYTHING:
        return None
    if not levels.atomic[level]:
        return Condition(column.name, "within", label, *cell)
    if median is None:
        return Condition(column.name, "is", label)
    return Condition(column.name, "at least" if levels.low[level] >= median else "at most", label)
