"""Columns before and after: where people stand in the original, and where the release says they do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.reports.facts.shapes import Shape
from unmask.results.formats import round_step
from unmask.tables.table import Table
from unmask.tables.utility.columns import Cells

BINS = 20
"""Bins of a column, about."""


def shapes(release: str, original: Table, table: Table, origin: NDArray[np.int64]) -> Iterator[Shape]:
    """People over the values of each quasi-identifier of the original, and of a release whose cells are spread evenly
    over the values that they may stand for; a row that is not released is spread over all of them.

    Bins of numbers and dates end at round values, so that no end is somebody's value.
    """
    lost = np.ones(original.n_rows, dtype=np.bool_)
    lost[origin] = False
    for column in original.quasi_identifiers:
        cells = Cells.of_rows(column, table.column(column.name), origin, lost)
        compared = cells.marginal()
        bins = _ordered(cells) if cells.position is not None else _named(compared.original[:-1])
        before, after = (_shares(side, bins, original.n_rows) for side in (compared.original, compared.released))
        missing, gone = (float(side[-1]) / original.n_rows for side in (compared.original, compared.released))
        yield Shape(release, column.name, column.type, bins.edges, before, after, missing, gone, original.n_rows)


def _shares(rows: NDArray[np.float64], bins: _Bins, n_rows: int) -> tuple[float, ...]:
    return tuple(map(float, np.bincount(bins.of, rows[:-1], bins.n) / n_rows))


@dataclass(frozen=True, eq=False)
class _Bins:
    of: NDArray[np.int64]
    n: int
    edges: tuple[float, ...] = ()


def _ordered(cells: Cells) -> _Bins:
    """Bins of the same width whose ends are round values."""
    assert cells.position is not None
    values = cells.position[cells.edges[:-1]]
    low, high = float(values[0]), float(values[-1])
    step = round_step(high - low, BINS) if high > low else 1.0
    step = max(step, 1.0) if np.all(values == np.round(values)) else step
    start = np.floor(low / step) * step
    of = np.floor((values - start) / step + 1e-9).astype(np.int64)
    n = int(of[-1]) + 1
    return _Bins(of, n, tuple(float(start + step * i) for i in range(n + 1)))


def _named(before: NDArray[np.float64]) -> _Bins:
    """The commonest values first; of many, as many values in each bin."""
    n = min(len(before), BINS)
    of = np.empty(len(before), dtype=np.int64)
    of[np.argsort(-before, kind="stable")] = np.arange(len(before)) * n // max(len(before), 1)
    return _Bins(of, n)
