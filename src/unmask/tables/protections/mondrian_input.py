"""The rule of a Mondrian for one table, wherever its rows are: what the kernel is given besides points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.tables.column import Column
from unmask.tables.protections import mondrian_cuts as kernel
from unmask.tables.protections.bound_constraints import Secret, check_whole, secrets_of
from unmask.tables.protections.constraints import Constraint
from unmask.tables.protections.cut_tests import Allows
from unmask.tables.protections.recoding import axis
from unmask.tables.table import Table


@dataclass(frozen=True, eq=False)
class Search:
    """Parameters of the cuts of a table.

    rows : for every quasi-identifier (L,) included rows of each level. place, trees, span : where its levels are,
    see `recoding.axis`. secrets : the sensitive columns as the constraints see them.
    """

    k: int
    demands: tuple[Constraint, ...]
    rows: tuple[NDArray[np.int64], ...]
    place: tuple[NDArray[np.float64], ...]
    trees: tuple[NDArray[np.int64] | None, ...]
    span: NDArray[np.float64]
    secrets: tuple[Secret, ...]

    @classmethod
    def of(cls, table: Table, rows: Sequence[NDArray[np.int64]], *, k: int, demands: Sequence[Constraint]) -> Search:
        """Measure the whole table, whose levels have so many `rows`; refuse what not even the whole satisfies."""
        secrets = secrets_of(table, demands)
        n_people = int(rows[0].sum()) if table.person is None else table.n_people
        check_whole(n_people, k, demands, secrets)
        axes = [_axis(column, count) for column, count in zip(table.quasi_identifiers, rows, strict=True)]
        place, trees, span = zip(*axes, strict=True)
        return cls(k, tuple(demands), tuple(rows), place, trees, np.array(span), tuple(secrets))

    @property
    def allows(self) -> list[Allows]:
        """For every sensitive column the test of its histograms."""
        return [secret.allows(self.demands) for secret in self.secrets]

    def boxes(self, table: Table) -> NDArray[np.int32]:
        """(J,) the box of every class, by cuts between values: of the whole table, or of a part that is one box."""
        histograms = [secret.moved(table.histogram(secret.column)) for secret in self.secrets]
        return self._cut(table.classes.levels, table.classes.sizes, histograms, table.people)

    def relaxed(self, table: Table, *, rng: np.random.Generator) -> NDArray[np.int32]:
        """(n_rows,) the box of every row, by cuts between equal values, too."""
        histograms = [secret.each(table) for secret in self.secrets]
        n, person = table.n_rows, table.person
        people = None if person is None else csr_array((np.ones(n, dtype=np.int32), person, np.arange(n + 1)))
        return self._cut(table.codes, np.ones(n, dtype=np.int64), histograms, people, rng=rng)

    def _cut(
        self,
        levels: NDArray[np.int32],
        rows: NDArray[np.int64],
        histograms: Sequence[csr_array],
        people: csr_array | None,
        *,
        rng: np.random.Generator | None = None,
    ) -> NDArray[np.int32]:
        return kernel.mondrian(
            np.stack([place[levels[:, j]] for j, place in enumerate(self.place)], axis=1),
            rows,
            k=self.k,
            span=self.span,
            histograms=histograms,
            allows=self.allows,
            people=people,
            trees=self.trees,
            strict=rng is None,
            rng=rng,
        )


def _axis(column: Column, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64] | None, float]:
    """Return the coordinates of the levels of a column, their tree, and the width of those that occur."""
    used = np.flatnonzero(rows).astype(np.int32)
    place, tree = axis(column, used)
    return place, tree, float(np.ptp(place[used]))
