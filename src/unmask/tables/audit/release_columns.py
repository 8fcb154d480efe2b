"""The columns that single out the people of one release, by their rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.tables.knowledge import Known
from unmask.tables.risk.singling_columns import SinglingColumns, SinglingSearch
from unmask.tables.table import Table


class ReleaseColumns(NamedTuple):
    """Search for the columns that single people out of one release.

    Parameters
    ----------
    search : SinglingSearch
        Comparison of the known people with the release.
    rows : (n_people,) array
        Row of each known person.
    position : (n_rows,) array
        Position of each row among the known people, -1 for none.
    """

    search: SinglingSearch
    rows: NDArray[np.int64]
    position: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, known: Known | None) -> ReleaseColumns:
        """Return the search in a released table; without known people, its own rows are the people."""
        rows = table.complete_rows if known is None else known.person
        position = np.full(int(rows.max(initial=-1)) + 1, -1, dtype=np.int64)
        position[rows[::-1]] = np.arange(len(rows))[::-1]  # the first of several equal rows is written last
        return cls(SinglingSearch(table.complete, None if known is None else known.people), rows, position)

    def explain(self, row: int) -> SinglingColumns | None:
        """Return the columns of a person by their row; None for others, and after `MAX_PAIRS` comparisons."""
        is_known = 0 <= row < len(self.position) and self.position[row] >= 0
        return self.search.explain(int(self.position[row])) if is_known and self.search.has_budget else None

    def describe(self, row: int) -> str:
        """Return the columns of a person in words; "" if they were not searched."""
        found = self.explain(row)
        return "" if found is None else found.describe()
