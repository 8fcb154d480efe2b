"""Singling out: predicates of which an adversary believes that exactly one person satisfies them (WP216)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.randomness import secret_unless
from unmask.tables.background import Rng
from unmask.tables.column import Column
from unmask.tables.release import Table

Relation = Literal["is", "at least", "at most"]


@dataclass(frozen=True)
class Condition:
    """What a predicate says of one column: the cell is this value, or for numbers at least or at most this value."""

    column: str
    relation: Relation
    label: str

    def among(self, column: Column) -> NDArray[np.bool_]:
        """(n_levels,) which levels of a column satisfy it, all that they stand for."""
        levels = column.levels
        if self.relation == "is":
            return np.array([label == self.label for label in levels.labels], dtype=np.bool_)
        low, high = levels.scale.read(self.label) or (np.nan, np.nan)
        return np.asarray(levels.low >= low if self.relation == "at least" else levels.high <= high)


Predicate = tuple[Condition, ...]
"""Conditions that all hold."""


def matching(table: Table, predicates: tuple[Predicate, ...]) -> NDArray[np.int64]:
    """(n_predicates,) how many rows of a table satisfy each."""
    rows: dict[Condition, NDArray[np.bool_]] = {}

    def holds(one: Condition) -> NDArray[np.bool_]:
        if one not in rows:
            column = table.column(one.column)
            rows[one] = one.among(column)[column.codes]
        return rows[one]

    return np.array([np.count_nonzero(np.logical_and.reduce([holds(one) for one in each])) for each in predicates])


@dataclass(frozen=True)
class SinglingOut:
    """Guesses of predicates that single a person out, from the release alone.

    First every value that one released row has, and of numbers the least and the greatest value. Then, `guesses` times,
    what a released row drawn at random says of some columns drawn at random: the value, or of a number that it is at
    least as large if it is above the column's median, else at most; kept if no other released row satisfies it. Cells
    of several values say nothing. No predicate is guessed twice.

    guesses : rows drawn
    columns : fewest and most columns of a conjunction

    A. Cohen & K. Nissim, "Towards formalizing the GDPR's notion of singling out", PNAS 2020; M. Giomi et al., "A
    unified framework for quantifying privacy risk in synthetic data", PoPETs 2023, section 4.1, for the guesses.
    """

    guesses: int = 2000
    columns: tuple[int, int] = (2, 4)

    def __post_init__(self) -> None:
        if not 1 <= self.columns[0] <= self.columns[1]:
            raise UnmaskError(f"columns are {self.columns}, expected the fewest, at least 1, and the most")

    def __call__(self, release: Table, *, rng: Rng = None) -> tuple[Predicate, ...]:
        """The predicates, those of one column first."""
        drawn = tuple(dict.fromkeys(self._drawn(release, secret_unless(rng))))
        alone = np.flatnonzero(matching(release, drawn) == 1)
        return (*dict.fromkeys(_of_one_column(release)), *(drawn[at] for at in alone))

    def _drawn(self, release: Table, rng: np.random.Generator) -> Iterator[Predicate]:
        columns = release.quasi_identifiers
        medians = [_median(column) for column in columns]
        for row in rng.integers(0, release.n_rows, self.guesses).tolist():
            n = min(int(rng.integers(self.columns[0], self.columns[1] + 1)), len(columns))
            chosen = sorted(rng.choice(len(columns), n, replace=False).tolist())
            said = [_said(columns[j], int(columns[j].codes[row]), medians[j]) for j in chosen]
            if None not in said:
                yield tuple(one for one in said if one is not None)


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


def _median(column: Column) -> float | None:
    if column.levels.kind != "numeric":
        return None
    values = column.levels.low[column.codes[column.levels.atomic[column.codes]]]
    return float(np.median(values)) if len(values) else None


def _said(column: Column, at: int, median: float | None) -> Condition | None:
    """What a cell says; None for one of several values, or missing."""
    levels = column.levels
    if not levels.atomic[at]:
        return None
    if median is None:
        return Condition(column.name, "is", levels.labels[at])
    return Condition(column.name, "at least" if levels.low[at] >= median else "at most", levels.labels[at])
