"""Full-domain generalization of columns, and the next coarser level of a released column."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from unmask.core.arrays import Floats
from unmask.core.errors import UnmaskError
from unmask.tables.column import Column
from unmask.tables.dates import PERIODS
from unmask.tables.notation import EVERYTHING
from unmask.tables.protections.base import Released, allow_all, format_call, recode, sort_release
from unmask.tables.protections.recoding import generalize
from unmask.tables.table import Table


@dataclass(frozen=True)
class Generalize:
    """Full-domain recoding: every cell of a column is replaced by its ancestor in a hierarchy, or by its bin.

    Columns without a level are not changed. At every level but `*`, missing cells stay missing and `*` stays `*`. An
    interval that crosses bins becomes the union of its bins, and a set becomes the union of the ancestors of its
    values.

    Assumes: no person is unique at the given levels. The protection does not check this.

    Fails when: a combination stays rare: audit the release. If a few rows are rare, one coarse level for all rows is
        costly.

    Parameters
    ----------
    levels : mapping of str to level
        Level of each quasi-identifier. With a hierarchy: number of steps up (0 is the column itself). Numbers: width w
        of the bins [i w, (i + 1) w). Dates: "day", "month", "quarter", "year" or "decade". Codes: number of hidden
        characters of the longest code. Any column: "*" replaces every cell, also missing ones.

    References
    ----------
    L. Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", IJUFKS 10(5), 2002.

    Examples
    --------
    >>> table = Table.read({"age": [30, 34, 50]}, quasi_identifiers="age")
    >>> release, origin = Generalize(levels={"age": 5.0})(table, rng=np.random.default_rng(1))
    >>> release.column("age").levels.labels
    ('[30, 35)', '[50, 55)')
    """

    levels: Mapping[str, float | str] = field(default_factory=dict, hash=False)

    __repr__ = format_call
    allowed_pairs = allow_all

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", dict(self.levels))

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Return the recoded table and its origin."""
        return sort_release(recode(table, self.levels), np.arange(table.n_rows), rng)


@dataclass(frozen=True)
class Identity:
    """No protection: the table itself, sorted by its cells.

    Assumes: nothing.

    Fails when: it is released. Studies compare all other protections with it.

    References
    ----------
    None; it measures the success of adversaries without protection.

    Examples
    --------
    >>> table = Table.read({"age": [30, 34, 50]}, quasi_identifiers="age")
    >>> release, origin = Identity()(table, rng=np.random.default_rng(1))
    >>> bool((release.column("age").codes == table.column("age").codes[origin]).all())
    True
    """

    __repr__ = format_call
    allowed_pairs = allow_all

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Return the table, sorted by its cells, and its origin."""
        return sort_release(table, np.arange(table.n_rows), rng)


PERIOD_DAYS = (1, 28, 90, 365)
"""Shortest length of each period, in days."""

_SECONDS = 86_400


def next_level(released: Column, original: Column) -> float | str:
    """Return the level for `Generalize` that is one step coarser than a released column; "*" if no other step is left.

    Numbers: the narrowest bins of 1, 2 or 5 times a power of ten that are wider than the mean released cell and than
    the mean gap between values of the original. Dates: the shortest of day, month, quarter and year that is longer
    than the mean cell. Codes: one masked character more than in the mean cell. Hierarchies: the level above the
    mean height of the cells. Other text: `*`.

    >>> from unmask.tables import Table
    >>> (ages,) = Table.read({"age": ["[20, 23]", "[30, 35]"]}, quasi_identifiers="age").quasi_identifiers
    >>> (exact,) = Table.read({"age": [20, 23, 30, 35]}, quasi_identifiers="age").quasi_identifiers
    >>> next_level(ages, exact), next_level(exact, exact)
    (10.0, 10.0)
    """
    if released.hierarchy is not None:
        return _parent_step(released)
    if released.levels.kind == "numeric":
        with np.errstate(invalid="ignore"):
            length = _mean(released, released.levels.high - released.levels.low)
        if released.type == "number":
            return _wider_bins(max(length, _mean_gap(original)))
        days = (length + 1) / (1 if released.type == "date" else _SECONDS)
        longer = (unit for unit, n_days in zip(PERIODS, PERIOD_DAYS, strict=True) if n_days > days + 1e-6)
        return next(longer, EVERYTHING)
    return _hide_more(released) if released.type == "code" else EVERYTHING


def generalize_further(column: Column, original: Column) -> tuple[float | str, Column]:
    """Return the next level of a released column, and the column recoded to it."""
    level = next_level(column, original)
    try:
        return level, generalize(column, level)
    except UnmaskError:  # a value that its hierarchy lacks
        return EVERYTHING, generalize(column, EVERYTHING)


def _mean(column: Column, of_level: Floats) -> float:
    """Return the mean over the rows whose cells have a finite number; 0 without such rows.

    of_level : (L,) number of each level
    """
    is_finite = np.isfinite(of_level) & (column.counts > 0)
    return float(np.average(of_level[is_finite], weights=column.counts[is_finite])) if is_finite.any() else 0.0


def _mean_gap(column: Column) -> float:
    """Return the mean gap between adjacent values of a numeric column; 0 for other columns."""
    levels = column.levels
    values = np.unique(levels.low[levels.atomic & (column.counts > 0)]) if levels.kind == "numeric" else np.zeros(0)
    return float(np.ptp(values)) / (len(values) - 1) if len(values) > 1 else 0.0


def _wider_bins(width: float) -> float:
    """Return the next width of ..., 1, 2, 5, 10, 20, 50, ... above a width."""
    if width <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    return next(float(f"{times * power:.12g}") for times in (1, 2, 5, 10, 20) if times * power > width * (1 + 1e-9))


def _hide_more(column: Column) -> float | str:
    levels = column.levels
    n_shown = [len((levels.masks.get(level, label)).rstrip(EVERYTHING)) for level, label in enumerate(levels.labels)]
    hidden = int(_mean(column, levels.longest - np.array(n_shown, dtype=np.float64))) + 1
    return hidden if hidden < levels.longest else EVERYTHING


def _parent_step(column: Column) -> float | str:
    tree = column.hierarchy
    assert tree is not None
    height = {label: step for step, labels in reversed(list(enumerate(tree.ancestor))) for label in labels}
    heights = np.array([height.get(label, np.nan) for label in column.levels.labels])
    level = int(_mean(column, heights)) + 1
    return level if level < tree.height else EVERYTHING
