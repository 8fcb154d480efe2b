"""A table by its distinct combinations of cells and how many rows have each: all that criteria, class attackers and
Mondrian need of it, whoever counted them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.core.errors import UnmaskError
from unmask.tables.column import Classes, Column, Rows
from unmask.tables.counts import group
from unmask.tables.release import Table


class Whole(Protocol):
    """The table of which combinations are parts, see `tables.counting.Reduced`."""

    @property
    def n_complete(self) -> int:
        """Rows that take part."""

    @property
    def totals(self) -> Mapping[str, NDArray[np.int64]]:
        """How many rows have each value of a sensitive column."""


@dataclass(frozen=True, eq=False)
class Combinations(Table):
    """A table whose row i stands for `counts[i]` rows that agree on all quasi-identifiers.

    Its rows are distinct and in lexicographic order of their codes: they are its classes, numbered like those of the
    table in memory. `n_rows` counts the rows stood for.

    sensitive : their codes only list their levels, 0 to L - 1.
    histograms : of each sensitive column the counts (J, L), CSR.
    whole : the table of which this is a part, if it is one: what is counted of all of it is asked there.
    """

    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    histograms: tuple[csr_array[Any, Any], ...] = ()
    whole: Whole | None = None

    def __post_init__(self) -> None:
        n = len(self.counts)
        assert all(column.codes.shape == (n,) for column in self.quasi_identifiers)
        assert [h.shape for h in self.histograms] == [(n, len(column.levels)) for column in self.sensitive]

    @property
    def n_rows(self) -> int:
        """Rows stood for."""
        return int(self.counts.sum())

    @property
    def n_whole(self) -> int:
        """Rows of the whole table, as far as its rule for missing cells leaves them where this is a part."""
        return self.n_rows if self.whole is None else self.whole.n_complete

    @cached_property
    def classes(self) -> Classes:
        """The combinations themselves."""
        return Classes(np.arange(len(self.counts), dtype=np.int32), self.counts, self.codes)

    def rows_in(self, group_of: NDArray[np.int32], n: int) -> NDArray[np.int64]:
        """As for any table."""
        return np.bincount(group_of, self.counts, n).astype(np.int64)

    def histogram(self, column: Column) -> csr_array[Any, Any]:
        """As for any table; of a sensitive column."""
        names = [one.name for one in self.sensitive]
        if column.name not in names:
            raise UnmaskError(f"column {column.name!r} is not sensitive; the sensitive columns are {', '.join(names)}")
        return self.histograms[names.index(column.name)]

    def totals_of(self, column: Column) -> NDArray[np.int64]:
        """As for any table; of the whole table where this is a part."""
        if self.whole is not None:
            return self.whole.totals[column.name]
        return np.asarray(self.histogram(column)[self.taking_part].sum(axis=0), dtype=np.int64)

    def take(self, rows: Rows) -> Combinations:
        """These combinations, ascending, each with all its rows."""
        return replace(
            self,
            quasi_identifiers=tuple(column.take(rows) for column in self.quasi_identifiers),
            counts=self.counts[rows],
            histograms=tuple(histogram[rows] for histogram in self.histograms),
        )

    def named(self, left_out: str) -> dict[str, int]:
        """As for any table."""
        rest = [at for at, column in enumerate(self.quasi_identifiers) if column.name != left_out]
        seen, n_levels = self.classes.levels, [len(self.quasi_identifiers[at].levels) for at in rest]
        merged, _, levels = group([seen[:, at] for at in rest], n_levels)
        n = len(merged)
        gather = csr_array((np.ones(n, dtype=np.int64), (merged, np.arange(n))), shape=(len(levels), n))
        right = {c.name: int((gather @ self.histogram(c)).max(axis=1).sum()) for c in self.sensitive}
        return {"identity": len(levels), **right}
