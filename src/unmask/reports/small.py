"""What may be handed on: a page, its files and its JSON tell nothing about fewer people than a stated number.

Criteria of a release and rates over all people stand as they are: k, the worst-off person and an average are what a
report is for. What counts the people of one cell does not: a class, a bin, a group of people.
"""

from __future__ import annotations

import math
from dataclasses import replace

from unmask.reports.data import ReportData
from unmask.reports.facts.tables import common_values
from unmask.reports.few import few, rounded_up
from unmask.reports.words import ADOPTERS, Value
from unmask.results import Row

COUNTS = frozenset({"unique_rows", "rows_missing", "rows_excluded"})
"""Criteria that count people of one kind."""

ATTACKED = frozenset({"rational_access"})
"""Measures whose mean is a share of people with something in common."""


def without_small(data: ReportData) -> ReportData:
    """The same without what tells about fewer than `data.least` people; doing it again changes nothing."""
    least = data.least
    return replace(
        data,
        rows=tuple(_row(row, least) for row in data.rows if row.target != ADOPTERS or row.n >= least),
        criteria={name: {key: _criterion(key, own[key], least) for key in own} for name, own in data.criteria.items()},
        values=tuple(common_values(data.values, least)),
        distribution=tuple(item.without_small(least) for item in data.distribution),
        subjects=tuple(one.without_small(least) for one in data.subjects),
    )


def _row(row: Row, least: int) -> Row:
    if row.measure not in ATTACKED or not math.isfinite(row.posterior):
        return row
    posterior = rounded_up(row.posterior, row.n, least)
    return replace(row, posterior=posterior, gain=posterior - row.prior, low=None, high=None)


def _criterion(name: str, value: Value, least: int) -> Value:
    return few(value, least) if name in COUNTS and isinstance(value, int | str) else value
