"""How near a class tells a number: a class of different salaries that are all alike has many values, and one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables.column import Column
    from unmask.tables.release import Table

WITHIN = 0.1
"""A guess is near a number that it misses by at most this part of it."""

NUMBERS = 10
"""Fewest different numbers of a column that is asked about: fewer are marks, and known exactly or not at all."""


INTERVALS = 0.1
"""Part of the cells that may be intervals of numbers and count as never near."""


class Near(NamedTuple):
    """How often the best guess of a number is within 10 % of it, see `near`.

    average : over rows, by one who knows the class; largest : in the class where most are; prior : by one who knows the
    numbers of the whole table alone
    """

    average: float
    largest: float
    prior: float


def near(release: Table, column: Column, *, original: Column | None = None) -> Near | None:
    """How often a number g is right within 10 %, |g - x| <= |x| / 10, the g of each class being the best one.

    All x from a to b, of one sign, are near some g if b <= a 1.1 / 0.9; so the best g of a class covers the most rows
    in such a window. None where the column has fewer than 10 different numbers, or more than a tenth of its cells are
    intervals with two ends: these may tell their numbers nearly, too. Other cells that are no single number are never
    near. original : tells the prior, the release's own numbers when left out.

    >>> from unmask.tables import Table
    >>> pay = [50_000, 50_100, 50_200, 50_300, 50_400, 20_000, 30_000, 45_000, 70_000, 99_000]
    >>> table = Table.read({"q": list("aaaaabbbbb"), "pay": pay}, quasi_identifiers="q", sensitive="pay")
    >>> near(table, table.sensitive[0])
    Near(average=0.6, largest=1.0, prior=0.6)

    J. Li, Y. Tao, X. Xiao, "Preservation of proximity privacy in publishing numerical sensitive data", SIGMOD 2008;
    10 % as in the p % rule of statistical offices.
    """
    kept = release.taking_part
    if column.type != "number" or len(np.unique(column.codes[kept])) < NUMBERS:
        return None
    if _bounded(column)[column.codes[kept]].mean() > INTERVALS:
        return None
    numbers = _numbers(column)[kept]
    most, sizes = _covered(release.classes.of_row[kept], numbers)
    whole = numbers if original is None else _numbers(original)
    alone, n = _covered(np.zeros(len(whole), dtype=np.int64), whole)
    return Near(float(most.sum() / len(kept)), float((most / sizes).max()), float(alone[0] / n[0]))


def _bounded(column: Column) -> NDArray[np.bool_]:
    """(L,) intervals with two ends."""
    low, high = column.levels.low, column.levels.high
    return np.asarray((low < high) & np.isfinite(low) & np.isfinite(high))


def _numbers(column: Column) -> NDArray[np.float64]:
    """(n_rows,) the number of each cell; nan of one that is none."""
    low, high = column.levels.low, column.levels.high
    return np.where((low == high) & np.isfinite(low), low, np.nan)[column.codes]


def _covered(of_row: NDArray[np.integer], numbers: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each class that has rows, the most rows that one guess is near, and how many it has."""
    classes, of_row, sizes = np.unique(of_row, return_inverse=True, return_counts=True)
    there = np.flatnonzero(~np.isnan(numbers))
    x = numbers[there]
    with np.errstate(divide="ignore"):
        place = np.where(x == 0, 0.0, np.log(np.abs(x)))
    width = np.log((1 + WITHIN) / (1 - WITHIN)) + 1e-12
    apart = np.ptp(place) + 2 * width if len(x) else 1.0  # between groups: of one class and sign
    group = 3 * of_row[there] + np.sign(x).astype(np.int64) + 1
    order = np.lexsort((place, group))
    key = group[order] * apart + place[order]
    count = np.searchsorted(key, key + width, side="right") - np.arange(len(key))
    most = np.zeros(len(classes), dtype=np.int64)
    np.maximum.at(most, of_row[there][order], count)
    return most, sizes
