"""Singling out: predicates of which an adversary believes that exactly one person satisfies them (WP216)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.tables.background import Background, Rng
from unmask.tables.column import Column
from unmask.tables.grouping import group
from unmask.tables.levels import Levels
from unmask.tables.matching import compatible
from unmask.tables.notation import EVERYTHING
from unmask.tables.table import Table

Relation = Literal["is", "at least", "at most", "within"]


@dataclass(frozen=True)
class Condition:
    """What a predicate says of one column: the cell is this value, for numbers at least or at most this value, or it is
    one of the values that a released cell stands for.

    cells, at : the cells of the release that stand for several values, and which of them it is; None for a value
    """

    column: str
    relation: Relation
    label: str
    cells: Levels | None = field(default=None, compare=False, repr=False)
    at: int = field(default=0, compare=False, repr=False)

    def among(self, column: Column) -> NDArray[np.bool_]:
        """(n_levels,) which levels of a column satisfy it, all that they stand for."""
        levels = column.levels
        if self.relation == "is":
            return np.asarray(np.asarray(levels.labels, dtype=object) == self.label)
        if self.cells is not None:
            return compatible(levels, self.cells.select([self.at]), missing="own")[:, 0]
        low, high = levels.scale.read(self.label) or (np.nan, np.nan)
        return np.asarray(levels.low >= low if self.relation == "at least" else levels.high <= high)


Predicate = tuple[Condition, ...]
"""Conditions that all hold."""


AT_A_TIME = 1 << 23
"""Rows times conditions, rows times predicates, and levels times conditions that are held at once."""


def matching(tables: Iterable[Table], predicates: Sequence[Predicate]) -> Iterator[NDArray[np.int64]]:
    """(n_predicates,) how many rows of each table satisfy each."""
    every = {id(one): one for one in chain.from_iterable(predicates)}  # guesses share their conditions
    place = {one: at for at, one in enumerate(dict.fromkeys(every.values()))}
    number = {key: place[one] for key, one in every.items()}
    said = np.array([number[id(one)] for one in chain.from_iterable(predicates)], dtype=np.int64)
    n = np.array([len(each) for each in predicates], dtype=np.int64)
    last = np.minimum(np.arange(n.max(initial=1)), n[:, None] - 1)
    numbers = said[(np.cumsum(n) - n)[:, None] + last]
    runs: dict[tuple[Levels, tuple[int, ...]], _Runs] = {}
    for table in tables:
        columns = {column.name: column for column in table.columns}
        yield _Rows(table.n_rows, [(columns[one.column], one) for one in place], runs).counts(numbers)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a table, and conditions, each on a column of it; None where a level says nothing, which no predicate
    has. runs : those found of levels and of conditions on them, which tables with the same levels share
    """

    n_rows: int
    conditions: Sequence[tuple[Column, Condition | None]]
    runs: dict[tuple[Levels, tuple[int, ...]], _Runs] = field(default_factory=dict)

    def counts(self, predicates: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n_predicates,) how many rows satisfy each.

        predicates : (n_predicates, n_conditions) the numbers of its conditions; one said twice changes nothing
        """
        found = np.full(len(predicates), -1, dtype=np.int64)
        for at in np.flatnonzero((predicates == predicates[:, :1]).all(axis=1)).tolist():
            found[at] = self._at_once(int(predicates[at, 0]))
        left = np.flatnonzero(found < 0)
        if len(left):
            found[left] = self._together(predicates[left])
        return found

    def _at_once(self, number: int) -> int:
        """The rows that have one value, of which a column of numbers has as many as rows; -1 for other conditions."""
        column, one = self.conditions[number]
        if one is None or one.relation != "is":
            return -1
        at = self._places[column.name].get(one.label, -1)
        return 0 if at < 0 else int(column.counts[at])

    def _together(self, predicates: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n_predicates,) how many rows satisfy each."""
        used, at = np.unique(predicates, return_inverse=True)
        of_column = defaultdict(list)
        for number in used.tolist():
            of_column[self.conditions[number][0].name].append(number)
        runs = [(self.conditions[numbers[0]][0].codes, self._runs(numbers)) for numbers in of_column.values()]
        place = np.argsort(np.concatenate(list(of_column.values())))
        found, numbers = np.zeros(len(predicates), dtype=np.int64), place[at.reshape(predicates.shape)]
        step = 64 * max(AT_A_TIME // (64 * max(len(used), *(len(one.ends) for _, one in runs))), 1)
        for rows in (slice(first, first + step) for first in range(0, self.n_rows, step)):
            found += _satisfied(np.concatenate([one.bits(codes[rows]) for codes, one in runs]), numbers)
        return found

    def _runs(self, numbers: Sequence[int]) -> _Runs:
        """The levels that satisfy conditions on one column."""
        column = self.conditions[numbers[0]][0]
        key = column.levels, tuple(numbers)
        if key not in self.runs:
            self.runs[key] = self._found(column, numbers)
        return self.runs[key]

    def _found(self, column: Column, numbers: Sequence[int]) -> _Runs:
        parts = []
        step = max(AT_A_TIME // (len(column.levels) + 2), 1)
        for first in range(0, len(numbers), step):
            fits = np.pad(self._fits(column, numbers[first : first + step]), ((0, 0), (1, 1)))
            of, end = np.nonzero(fits[:, 1:] != fits[:, :-1])
            parts.append((first + of, end))
        return _Runs.of(len(numbers), *map(np.concatenate, zip(*parts, strict=True)))

    def _fits(self, column: Column, numbers: Sequence[int]) -> NDArray[np.bool_]:
        """(n_conditions, n_levels) which levels of a column satisfy conditions on it: `Condition.among`, of all values
        and of all cells of a release at once.
        """
        place, within, cells = self._places[column.name], {}, None
        found = np.zeros((len(numbers), len(column.levels)), dtype=np.bool_)
        for at, one in enumerate(self.conditions[number][1] for number in numbers):
            assert one is not None
            if one.cells is not None:
                within[at], cells = one.at, one.cells
            elif one.relation != "is":
                found[at] = one.among(column)
            elif one.label in place:
                found[at, place[one.label]] = True
        if cells is not None:
            wanted = cells.select(list(within.values()))
            found[list(within)] = compatible(column.levels, wanted, missing="own").T
        return found

    @cached_property
    def _places(self) -> dict[str, dict[str | None, int]]:
        """By column, the level that a label is."""
        columns = {column.name: column for column, _ in self.conditions}
        return {name: {label: at for at, label in enumerate(one.levels.labels)} for name, one in columns.items()}


def _satisfied(bits: NDArray[np.uint64], predicates: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n_predicates,) how many rows satisfy each. bits : (n_conditions, n_words) of rows, a bit each"""
    found = np.empty(len(predicates), dtype=np.int64)
    step = max(AT_A_TIME // (64 * bits.shape[1]), 1)
    for some in (slice(first, first + step) for first in range(0, len(predicates), step)):
        every = bits[predicates[some, 0]]
        for numbers in predicates[some].T[1:]:
            every &= bits[numbers]
        found[some] = np.bitwise_count(every).sum(axis=1, dtype=np.int64)
    return found


class _Runs(NamedTuple):
    """The levels of a column that satisfy conditions, in runs: so rows are compared with the ends of runs, of which
    many conditions have the same, and not with each condition.

    ends  : ascending, the levels at which runs begin, or before which they end
    runs  : the first run of each condition that has one, then the second of each that has two, ...: of which condition
            each is, and the places of its two ends
    """

    n_conditions: int
    ends: NDArray[np.int32]
    runs: Sequence[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]

    @classmethod
    def of(cls, n_conditions: int, of: NDArray[np.int64], end: NDArray[np.int64]) -> Self:
        """of, end : of which condition each end is, and which level; those of a condition together, and ascending"""
        ends, at = np.unique(end.astype(np.int32), return_inverse=True)
        of, begin, stop = of[::2], at[::2], at[1::2]
        turn = np.arange(len(of)) - np.searchsorted(of, of)
        some = (turn == one for one in range(int(turn.max(initial=-1)) + 1))
        return cls(n_conditions, ends, [(of[those], begin[those], stop[those]) for those in some])

    def bits(self, codes: NDArray[np.int32]) -> NDArray[np.uint64]:
        """(n_conditions, n_words) which rows satisfy each, a bit each; codes : the level of each row"""
        below = np.zeros((len(self.ends), -(-len(codes) // 64) * 8), dtype=np.uint8)
        below[:, : -(-len(codes) // 8)] = np.packbits(codes < self.ends[:, None], axis=1)
        words = below.view(np.uint64)
        found = np.zeros((self.n_conditions, words.shape[1]), dtype=np.uint64)
        for of, begin, stop in self.runs:
            found[of] |= words[begin] ^ words[stop]
        return found


@dataclass(frozen=True)
class SinglingOut:
    """Guesses of predicates that single a person out, from the release alone.

    First every value that one released row has, and of numbers the least and the greatest value. Then, `tries` times,
    what a released row drawn at random says of some columns drawn at random: the value, or of a number that it is at
    least as large if it is above the column's median, else at most, or of a generalized cell that it is one of its
    values; kept if no other released row may satisfy it. Missing cells and `*` say nothing. No predicate is guessed
    twice, and of either kind there are at most `guesses`. With as many as there are columns a guess is a whole row.

    guesses    : the most predicates of one column, and of several
    tries      : rows drawn
    conditions : fewest and most conditions of a conjunction, of a column each
    exact      : a number is said as it is

    In a study the guesses are tried on members and control people (`singled_out`, `singled_out_of_as_many`).

    Assumes: whoever alone in the release is so is alone in the population, too.

    Fails when: the release is a small sample of the population. What singles out control people as often as members is
    no disclosure by the release: read the excess.

    >>> release = Table.read({"age": [30, 30, 50], "sex": ["f", "m", "f"]}, quasi_identifiers=["age", "sex"])
    >>> found = SinglingOut(conditions=(2, 2))(release, rng=np.random.default_rng(0))
    >>> [(one.column, one.relation, one.label) for one in found[-1]]
    [('age', 'at least', '30'), ('sex', 'is', 'm')]

    A. Cohen & K. Nissim, "Towards formalizing the GDPR's notion of singling out", PNAS 2020; M. Giomi et al., "A
    unified framework for quantifying privacy risk in synthetic data", PoPETs 2023, section 4.1, for the guesses.
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
        knowledge: Background | None = None,  # noqa: ARG002 - guesses are made of the release alone
        *,
        rng: Rng = None,
    ) -> tuple[Predicate, ...]:
        """The predicates, those of one column first."""
        chance = secret_unless(rng)
        different = release.classes.first
        said = [
            (rows, each)
            for one, rows in ((one, one.take(different)) for one in release.quasi_identifiers)
            for each in _sayings(one, exact=self.exact)
        ]
        drawn, single = self._drawn(release, said, chance), tuple(dict.fromkeys(_of_one_column(release)))
        rows = _Rows(len(different), said)
        alone = drawn[rows.counts(np.where(drawn < 0, drawn.max(axis=1, keepdims=True), drawn)) == 1][: self.guesses]
        tried = np.sort(chance.permutation(len(single))[: self.guesses])
        kept = (tuple(said[at][1] for at in each if at >= 0) for each in alone.tolist())
        return (*(single[at] for at in tried), *kept)

    def _drawn(
        self, release: Table, said: Sequence[tuple[Column, Condition | None]], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """(n_predicates, n_columns) the predicates drawn, each once, by the number of their condition on each column,
        -1 for none; of rows that have no equal, whose predicates hold for that one, too.
        """
        columns, alike = release.quasi_identifiers, release.classes
        rows = rng.integers(0, release.n_rows, self.tries)
        n = rng.integers(self.conditions[0], self.conditions[1] + 1, self.tries)
        order = rng.random((self.tries, len(columns)))
        some = alike.sizes[alike.of_row[rows]] == 1
        rows, n, place = rows[some], n[some], order[some].argsort(axis=1).argsort(axis=1)
        first = np.cumsum([0, *(len(column.levels) for column in columns)])
        silent = np.array([one is None for _, one in said])
        drawn = np.stack([column.codes[rows] + at for column, at in zip(columns, first, strict=False)], axis=1)
        drawn[(place >= n[:, None]) | silent[drawn]] = -1
        same = group([(one + 1).astype(np.int32) for one in drawn.T], [len(said) + 1] * len(columns))[0]
        found = drawn[np.sort(np.unique(same, return_index=True)[1])]
        return np.asarray(found[(found >= 0).any(axis=1)], dtype=np.int64)


def _of_one_column(release: Table) -> Iterator[Predicate]:
    for column in release.quasi_identifiers:
        labels, exact = column.levels.labels, column.levels.atomic
        for at in np.flatnonzero((column.counts == 1) & exact).tolist():
            yield (Condition(column.name, "is", labels[at]),)
        there = np.flatnonzero((column.counts > 0) & exact)
        if column.levels.kind == "numeric" and len(there):
            low = column.levels.low[there]
            yield (Condition(column.name, "at most", labels[there[low.argmin()]]),)
            yield (Condition(column.name, "at least", labels[there[low.argmax()]]),)


def _sayings(column: Column, *, exact: bool) -> list[Condition | None]:
    """What a cell of each level says; None for a missing one, and for one that may be anything."""
    median, wide = None if exact else _median(column), np.flatnonzero(~column.levels.atomic)
    cells, place = column.levels.select(wide), np.cumsum(~column.levels.atomic) - 1
    return [_said(column, at, median, (cells, int(place[at]))) for at in range(len(column.levels))]


def _median(column: Column) -> float | None:
    if column.levels.kind != "numeric":
        return None
    values = column.levels.low[column.codes[column.levels.atomic[column.codes]]]
    return float(np.median(values)) if len(values) else None


def _said(column: Column, at: int, median: float | None, cell: tuple[Levels, int]) -> Condition | None:
    levels, label = column.levels, column.levels.labels[at]
    if at == levels.missing or label == EVERYTHING:
        return None
    if not levels.atomic[at]:
        return Condition(column.name, "within", label, *cell)
    if median is None:
        return Condition(column.name, "is", label)
    return Condition(column.name, "at least" if levels.low[at] >= median else "at most", label)
