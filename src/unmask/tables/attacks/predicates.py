"""Singling out: predicates of which an adversary believes that exactly one person satisfies them (WP216)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.randomness import secret_unless
from unmask.tables.background import Rng
from unmask.tables.cells import Levels, compatible
from unmask.tables.column import Column
from unmask.tables.notation import EVERYTHING
from unmask.tables.release import Table

Relation = Literal["is", "at least", "at most", "within"]


@dataclass(frozen=True)
class Condition:
    """What a predicate says of one column: the cell is this value, for numbers at least or at most this value, or it is
    one of the values that a released cell stands for.

    cell : that released cell, as one level of its column; None for a value
    """

    column: str
    relation: Relation
    label: str
    cell: Levels | None = field(default=None, compare=False, repr=False)

    def among(self, column: Column) -> NDArray[np.bool_]:
        """(n_levels,) which levels of a column satisfy it, all that they stand for."""
        levels = column.levels
        if self.relation == "is":
            return np.asarray(np.asarray(levels.labels, dtype=object) == self.label)
        if self.cell is not None:
            return compatible(levels, self.cell, missing="own")[:, 0]
        low, high = levels.scale.read(self.label) or (np.nan, np.nan)
        return np.asarray(levels.low >= low if self.relation == "at least" else levels.high <= high)


Predicate = tuple[Condition, ...]
"""Conditions that all hold."""


FEW = 4096
"""Levels of a column up to which the rows of its conditions are kept: a bit for each row of the table."""


def matching(table: Table, predicates: Sequence[Predicate]) -> NDArray[np.int64]:
    """(n_predicates,) how many rows of a table satisfy each."""
    columns = {column.name: column for column in table.columns}
    places = {name: {label: at for at, label in enumerate(one.levels.labels)} for name, one in columns.items()}
    kept: dict[Condition, NDArray[np.uint8]] = {}

    def rows(one: Condition) -> NDArray[np.uint8]:
        if one in kept:
            return kept[one]
        column = columns[one.column]
        if one.relation == "is":
            found = np.packbits(column.codes == places[one.column].get(one.label, -1))
        else:
            found = np.packbits(one.among(column)[column.codes])
        if len(column.levels) <= FEW:
            kept[one] = found
        return found

    def count(each: Predicate) -> int:
        if len(each) == 1 and each[0].relation == "is":  # of a column of numbers these are as many as rows
            at = places[each[0].column].get(each[0].label)
            return 0 if at is None else int(columns[each[0].column].counts[at])
        every = rows(each[0])
        for one in each[1:]:
            every = every & rows(one)
        return int(np.bitwise_count(every).sum())

    return np.array([count(each) for each in predicates], dtype=np.int64)


@dataclass(frozen=True)
class SinglingOut:
    """Guesses of predicates that single a person out, from the release alone.

    First every value that one released row has, and of numbers the least and the greatest value. Then, `tries` times,
    what a released row drawn at random says of some columns drawn at random: the value, or of a number that it is at
    least as large if it is above the column's median, else at most, or of a generalized cell that it is one of its
    values; kept if no other released row may satisfy it. Missing cells and `*` say nothing. No predicate is guessed
    twice, and of either kind there are at most `guesses`. With as many columns as there are a guess is a whole row.

    guesses : the most predicates of one column, and of several
    tries   : rows drawn
    columns : fewest and most columns of a conjunction
    exact   : a number is said as it is

    A. Cohen & K. Nissim, "Towards formalizing the GDPR's notion of singling out", PNAS 2020; M. Giomi et al., "A
    unified framework for quantifying privacy risk in synthetic data", PoPETs 2023, section 4.1, for the guesses.
    """

    guesses: int = 2000
    tries: int = 20_000
    columns: tuple[int, int] = (2, 4)
    exact: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.columns[0] <= self.columns[1]:
            raise UnmaskError(f"columns are {self.columns}, expected the fewest, at least 1, and the most")

    def __call__(self, release: Table, *, rng: Rng = None) -> tuple[Predicate, ...]:
        """The predicates, those of one column first."""
        chance = secret_unless(rng)
        drawn, single = (tuple(dict.fromkeys(some)) for some in (self._drawn(release, chance), _of_one_column(release)))
        alone = np.flatnonzero(matching(release, drawn) == 1)[: self.guesses]
        tried = np.sort(chance.permutation(len(single))[: self.guesses])
        return (*(single[at] for at in tried), *(drawn[at] for at in alone))

    def _drawn(self, release: Table, rng: np.random.Generator) -> Iterator[Predicate]:
        columns = release.quasi_identifiers
        said = [_sayings(column, exact=self.exact) for column in columns]
        rows = rng.integers(0, release.n_rows, self.tries)
        n = rng.integers(self.columns[0], self.columns[1] + 1, self.tries)
        for row, some, order in zip(rows, n, rng.random((self.tries, len(columns))).argsort(axis=1), strict=True):
            each = (said[at][columns[at].codes[row]] for at in sorted(order[:some]))
            if found := tuple(one for one in each if one is not None):
                yield found


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
    median = None if exact else _median(column)
    return [_said(column, at, median) for at in range(len(column.levels))]


def _median(column: Column) -> float | None:
    if column.levels.kind != "numeric":
        return None
    values = column.levels.low[column.codes[column.levels.atomic[column.codes]]]
    return float(np.median(values)) if len(values) else None


def _said(column: Column, at: int, median: float | None) -> Condition | None:
    levels, label = column.levels, column.levels.labels[at]
    if at == levels.missing or label == EVERYTHING:
        return None
    if not levels.atomic[at]:
        return Condition(column.name, "within", label, levels.select([at]))
    if median is None:
        return Condition(column.name, "is", label)
    return Condition(column.name, "at least" if levels.low[at] >= median else "at most", label)
