"""Microaggregation: numbers are replaced by the means or medians of small groups of similar people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.randomness import secret_unless
from unmask.ranges import Range, check_ranges, check_type
from unmask.tables.cells import read_levels
from unmask.tables.column import Column, classes_of
from unmask.tables.protections.base import (
    Released,
    column_position,
    evaluated_rows,
    exact_numbers,
    format_call,
    release_rows,
)
from unmask.tables.protections.recoding import Recoded
from unmask.tables.table import Table


@dataclass(frozen=True)
class Microaggregate:
    """Microaggregation by MDAV: numbers become means or medians of groups of k to 2k - 1 similar people.

    Distances are Euclidean, in standard deviations of the table. While at least 3k people remain, the person farthest
    from their mean and the k - 1 people nearest to this person form a group; then the same for the person farthest from
    the first one. Of the last 2k to 3k - 1 people, the k nearest to the person farthest from their mean form a group,
    and the others the last group. Equal distances are resolved by the order of the numbers. People with equal numbers
    are assigned to groups at random.

    Means are written with up to 12 decimals, so that the mean of each column is unchanged; medians resist outliers.
    Other columns are not changed. If a quasi-identifier is among them, it may still distinguish rows of a group, unless
    it is one of the `strata`: groups are then formed among people with equal values there. The averaged columns must
    contain exact numbers without missing cells.

    Assumes: adversaries know the averaged columns only.

    Fails when: groups are tight, so that the nearest mean belongs to a person's own group; all people of a group have
        one sensitive value; or other columns distinguish the people of a group.

    Parameters
    ----------
    k : int
        Smallest number of people in a group.
    columns : sequence of str, optional
        Quasi-identifiers to average. The default is all numbers that are not strata.
    aggregate : {"mean", "median"}
        Number that replaces those of a group.
    strata : sequence of str, optional
        Quasi-identifiers in which all people of a group agree. The release has k if all other quasi-identifiers are
        averaged or strata.

    References
    ----------
    J. Domingo-Ferrer & J. M. Mateo-Sanz, "Practical data-oriented microaggregation for statistical disclosure control",
    IEEE TKDE 14(1), 2002; J. Domingo-Ferrer & V. Torra, "Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation", Data Mining and Knowledge Discovery 11(2), 2005, for this algorithm.

    Examples
    --------
    >>> table = Table.read({"age": [30, 31, 50, 52]}, quasi_identifiers="age")
    >>> Microaggregate(k=2)(table, rng=np.random.default_rng(1))[0]["age"].tolist()
    ['30.5', '30.5', '51', '51']
    """

    k: Annotated[int, Range(2)] = 3
    columns: str | tuple[str, ...] = ()
    aggregate: Literal["mean", "median"] = "mean"
    strata: str | tuple[str, ...] = ()

    __repr__ = format_call

    def __post_init__(self) -> None:
        for name in ("columns", "strata"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        check_ranges(self)
        check_type("aggregate", self.aggregate, Literal["mean", "median"])
        if both := sorted(set(self.columns) & set(self.strata)):
            raise UnmaskError(f"column {both[0]!r} is averaged and a stratum, expected one of the two; remove one")

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Return the release with averaged numbers, and its origin."""
        rng, rows = secret_unless(rng), evaluated_rows(table)
        for name in (*self.columns, *self.strata):
            column_position(table, name)
        columns = [column.take(rows) for column in table.quasi_identifiers]
        numbers = [column for column in columns if self._is_averaged(column)]
        if not numbers:
            raise UnmaskError(f"{self!r} needs a numeric quasi-identifier; use PRAM for other columns")
        if rows.size < self.k:
            raise FailedError(f"{rows.size} rows are complete, expected at least k = {self.k}; lower k")
        group = self._group_people(numbers, [column for column in columns if column.name in self.strata], rng)
        recoded = [
            _aggregate_groups(c, group, self.aggregate) if self._is_averaged(c) else (c.levels, c.codes)
            for c in columns
        ]
        return release_rows(table, rows, recoded, rng)

    def coordinates(self, column: Column, *, like: Column) -> Floats | None:
        """Return (L,) coordinates of the levels of a column, in standard deviations of `like`; None if it is not
        averaged.
        """
        averages = self._is_averaged(column) or self._is_averaged(like)  # text in one table only is refused below
        return exact_numbers(column) / _deviation(like) if averages else None

    def _is_averaged(self, column: Column) -> bool:
        return (
            column.name in self.columns if self.columns else column.type == "number" and column.name not in self.strata
        )

    def _group_people(self, numbers: list[Column], strata: list[Column], rng: np.random.Generator) -> Integers:
        """Return (n,) the group of each row, independent of the order of the rows."""
        x = np.stack([exact_numbers(column)[column.codes] / _deviation(column) for column in numbers], axis=1)
        if not np.isfinite(x).all():
            raise UnmaskError(
                f"{self!r} needs numbers, but some cells are missing; read the table with missing='excluded', or name "
                "other columns"
            )
        shuffled = rng.permutation(len(x))
        order = shuffled[np.argsort(classes_of(numbers).of_row[shuffled], kind="stable")]
        stratum = classes_of(strata).of_row if strata else np.zeros(len(x), dtype=np.int32)
        sizes = np.bincount(stratum)
        if (n_small := np.count_nonzero(sizes < self.k)) > 0:
            raise FailedError(
                f"{n_small:,} of {len(sizes):,} strata have fewer than k = {self.k} rows; lower k, name fewer strata, "
                "or generalize them first"
            )
        groups, n_groups = np.empty(len(x), dtype=np.int64), 0
        by_stratum = order[np.argsort(stratum[order], kind="stable")]
        for rows in np.split(by_stratum, np.cumsum(sizes)[:-1]):
            groups[rows] = n_groups + mdav(x[rows], self.k)
            n_groups = int(groups[rows].max()) + 1
        return groups


def mdav(x: Floats, k: int) -> Integers:
    """Return (n,) the group of each point; groups have k to 2k - 1 points.

    x : (n, d) coordinates, n at least k

    >>> mdav(np.array([[0.0], [1.0], [10.0], [12.0]]), 2)
    array([1, 1, 0, 0])
    """
    group, ungrouped, n_groups = np.empty(len(x), dtype=np.int64), np.arange(len(x)), 0
    x = x - x.mean(axis=0)
    while len(ungrouped) >= 2 * k:
        center = x.mean(axis=0)
        for _ in range(2 if len(ungrouped) >= 3 * k else 1):
            center = x[int(_squared_distances(x, center).argmax())]  # the farthest point is the next center
            group_members = np.argpartition(_squared_distances(x, center), k - 1)[:k]
            group[ungrouped[group_members]] = n_groups
            is_ungrouped = np.ones(len(ungrouped), dtype=np.bool_)
            is_ungrouped[group_members] = False
            x, ungrouped, n_groups = x[is_ungrouped], ungrouped[is_ungrouped], n_groups + 1
    group[ungrouped] = n_groups
    return group


def _squared_distances(x: Floats, point: Floats) -> Floats:
    """Return (n,) squared distances from a point."""
    difference = x - point
    return np.asarray(np.einsum("ij,ij->i", difference, difference))


def _aggregate_groups(column: Column, group: Integers, aggregate: Literal["mean", "median"]) -> Recoded:
    """Return the column with the mean or the median of each group."""
    order = np.lexsort((exact_numbers(column)[column.codes], group))  # sums do not depend on the order of the rows
    numbers, sizes = exact_numbers(column)[column.codes[order]], np.bincount(group)
    start = np.cumsum(sizes) - sizes
    if aggregate == "mean":
        center = np.add.reduceat(numbers, start) / sizes
    else:
        center = (numbers[start + (sizes - 1) // 2] + numbers[start + sizes // 2]) / 2
    values, of_group = np.unique(np.round(center, 12) + 0.0, return_inverse=True)
    texts = [column.levels.scale.write(value, value) for value in values.tolist()]
    levels, code = read_levels(texts, as_type=column.type, column=column.name)
    return levels, code[of_group][group]


def _deviation(column: Column) -> float:
    """Return the standard deviation of a column; 1 if all numbers are equal."""
    occurs = (column.counts > 0) & ~(column.levels.is_missing | column.levels.unknown)
    x, share = exact_numbers(column)[occurs], column.counts[occurs] / max(column.counts[occurs].sum(), 1)
    return float(np.sqrt(share @ (x - share @ x) ** 2)) or 1.0
