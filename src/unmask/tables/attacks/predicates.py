"""Singling out: predicates of which an adversary believes that exactly one person satisfies them (WP216)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.randomness import secret_unless
from unmask.tables.background import Background, Rng
from unmask.tables.cells import Levels, compatible
from unmask.tables.column import Column
from unmask.tables.counts import group
from unmask.tables.notation import EVERYTHING
from unmask.tables.release import Table

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


FEW = 4096
"""Levels of a column up to which the rows of its conditions are kept: a bit for each row of the table."""

AT_A_TIME = 1 << 23
"""Rows times predicates that are counted at once."""


def matching(tables: Iterable[Table], predicates: Sequence[Predicate]) -> Iterator[NDArray[np.int64]]:
    """(n_predicates,) how many rows of each table satisfy each."""
    every = {id(one): one for one in chain.from_iterable(predicates)}  # guesses share their conditions
    place = {one: at for at, one in enumerate(dict.fromkeys(every.values()))}
    number = {key: place[one] for key, one in every.items()}
    said = np.array([number[id(one)] for one in chain.from_iterable(predicates)], dtype=np.int64)
    n = np.array([len(each) for each in predicates], dtype=np.int64)
    last = np.minimum(np.arange(n.max(initial=1)), n[:, None] - 1)
    numbers = said[(np.cumsum(n) - n)[:, None] + last]
    for table in tables:
        columns = {column.name: column for column in table.columns}
        yield _Rows(table.n_rows, [(columns[one.column], one) for one in place]).counts(numbers)


@dataclass(eq=False)
class _Rows:
    """The rows of a table that satisfy conditions, a bit each, made when they are first asked for."""

    n_rows: int
    conditions: Sequence[tuple[Column, Condition | None]]
    kept: dict[int, NDArray[np.uint64]] = field(default_factory=dict)
    places: dict[str, dict[str, int]] = field(default_factory=dict)
    fits: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    def counts(self, predicates: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n_predicates,) how many rows satisfy each.

        predicates : (n_predicates, n_conditions) the numbers of its conditions; one said twice changes nothing
        """
        found = np.full(len(predicates), -1, dtype=np.int64)
        for at in np.flatnonzero((predicates == predicates[:, :1]).all(axis=1)).tolist():
            found[at] = self._at_once(int(predicates[at, 0]))
        left = np.flatnonzero(found < 0)
        step = max(1, AT_A_TIME // max(1, self.n_rows))
        for some in (left[at : at + step] for at in range(0, len(left), step)):
            found[some] = self._together(predicates[some])
        return found

    def _at_once(self, number: int) -> int:
        """The rows that have one value, of which a column of numbers has as many as rows; -1 for other conditions."""
        column, one = self.conditions[number]
        if one is None or one.relation != "is":
            return -1
        at = self._place(column, one.label)
        return 0 if at < 0 else int(column.counts[at])

    def _together(self, predicates: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n_predicates,) how many rows satisfy each."""
        every = self._stacked(predicates[:, 0])
        for numbers in predicates.T[1:]:
            every &= self._stacked(numbers)
        return np.asarray(np.bitwise_count(every).sum(axis=1, dtype=np.int64))

    def _stacked(self, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
        once, at = np.unique(numbers, return_inverse=True)
        return np.concatenate([self._bits(number) for number in once.tolist()]).reshape(len(once), -1)[at]

    def _bits(self, number: int) -> NDArray[np.uint64]:
        found = self.kept.get(number)
        if found is not None:
            return found
        column, one = self.conditions[number]
        assert one is not None
        if one.relation == "is":
            rows = column.codes == self._place(column, one.label)
        else:
            rows = self._among(column, one)[column.codes]
        packed = np.zeros(-(-self.n_rows // 64) * 8, dtype=np.uint8)
        packed[: -(-self.n_rows // 8)] = np.packbits(rows)
        found = packed.view(np.uint64)
        if len(column.levels) <= FEW:
            self.kept[number] = found
        return found

    def _among(self, column: Column, one: Condition) -> NDArray[np.bool_]:
        """`Condition.among`, of all cells of a release at once."""
        if one.cells is None:
            return one.among(column)
        if column.name not in self.fits:
            self.fits[column.name] = compatible(column.levels, one.cells, missing="own").T.copy()
        return np.asarray(self.fits[column.name][one.at])

    def _place(self, column: Column, label: str) -> int:
        """The level that a label is; -1 for none."""
        if column.name not in self.places:
            self.places[column.name] = {label: at for at, label in enumerate(column.levels.labels)}
        return self.places[column.name].get(label, -1)


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
        different = np.unique(release.classes.of_row, return_index=True)[1]
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
