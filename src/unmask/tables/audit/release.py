"""A release of an audit, and what the auditor knows about its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from unmask.core.arrays import Integers
from unmask.results.rows import ORIGINAL
from unmask.tables import criteria
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.table import Table

MIN_OWN_ROWS = 0.99
"""Share of released rows that must be able to be different people of the original for re-identification to be tested.

Rows that were only generalized or suppressed reach 1. Of Adult, other 2,000 people reach 0.86 of 2,000 with age and sex
alone and 0.44 with five columns; a synthetic release of 39,040 rows reaches 0.97 and 0.66 of all 48,842.
"""


@dataclass(frozen=True, eq=False)
class Release:
    """A release, and what the auditor knows about its rows.

    Parameters
    ----------
    name : str
        Name of the release, or `ORIGINAL`.
    table : Table
        Rows, or the combinations that an engine counted.
    origin : (n_rows,) array, optional
        Row of the original behind each row; None if it is not known.
    is_foreign : bool
        Whether the rows are not people of the original.
    own_rows : float, optional
        Share of the rows of a foreign release that may be different people of the original; None if the auditor states
        that it is synthetic.
    """

    name: str
    table: Table
    origin: Integers | None = None
    is_foreign: bool = False
    own_rows: float | None = None

    @property
    def has_rows(self) -> bool:
        """Return whether the rows are in memory."""
        return self.table.counts is None

    def person(self, knowledge: AuditorKnowledge) -> Integers | None:
        """Return (n_rows,) the person of each row; None if each is a person, or if they are not known.

        Without an original the identifiers of the release decide.
        """
        if knowledge.original is None:
            return self.table.person
        if knowledge.person is None or self.name == ORIGINAL:
            return knowledge.person
        return None if self.origin is None or np.any(self.origin < 0) else knowledge.person[self.origin]

    def population(self, knowledge: AuditorKnowledge) -> Table | None:
        """Return the register if it lists everybody who may be in the release, with all quasi-identifiers."""
        register = knowledge.register
        if knowledge.coverage < 1 or register is None:
            return None
        names = {column.name for column in register.quasi_identifiers}
        return register if names == {column.name for column in self.table.quasi_identifiers} else None


def list_releases(tables: Mapping[str, Table], knowledge: AuditorKnowledge) -> Iterator[Release]:
    """Yield the releases; the rows of one without an origin are compared with the people of the original."""
    original = knowledge.original
    for name, table in tables.items():
        origin = knowledge.origins.get(name)
        if knowledge.synthetic or original is None or origin is not None:
            yield Release(name, table, origin, is_foreign=knowledge.synthetic)
            continue
        share = criteria.own_rows(table, original)
        is_foreign = share < MIN_OWN_ROWS
        yield Release(name, table, is_foreign=is_foreign, own_rows=share if is_foreign else None)
