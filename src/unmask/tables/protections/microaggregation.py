"""Microaggregation: cells are replaced by the mean, median or mode of small groups of similar people."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal, NamedTuple

import numpy as np
import scipy

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.randomness import secret_unless
from unmask.ranges import Range, check_types
from unmask.tables.column import Column, classes_of
from unmask.tables.levels import KIND, Type, ends_of_sets
from unmask.tables.protections.base import (
    Released,
    column_position,
    exact_numbers,
    format_call,
    protected_rows,
    release_columns,
)
from unmask.tables.protections.recoding import write_cells
from unmask.tables.table import Table


@dataclass(frozen=True)
class Microaggregate:
    """Microaggregation by MDAV: cells become means, medians or modes of groups of k to 2k - 1 similar people.

    While at least 3k people remain, the person farthest from their center and the k - 1 people nearest to this person
    form a group; then the same for the person farthest from the first one. Of the last 2k to 3k - 1 people, the k
    nearest to the person farthest from their center form a group, and the others the last group. Equal distances are
    resolved by the order of the cells. People with equal cells are assigned to groups at random.

    The center has the mean of each number, the median of other ordered columns, and the mode of categories; groups are
    released with the same values. Means are written with up to 12 decimals, so that the mean of each column is
    unchanged; medians resist outliers. Of two values in the middle of ordered categories or dates, the lower one is
    released, and of equally frequent categories the first.

    Other columns are not changed. If a quasi-identifier is among them, it may still distinguish rows of a group, unless
    it is one of the `strata`: groups are then formed among people with equal values there. Numbers must be exact and
    not missing.

    Assumes: adversaries know the aggregated columns only.

    Fails when: groups are tight, so that the nearest center belongs to a person's own group; all people of a group have
        one sensitive value; or other columns distinguish the people of a group.

    Parameters
    ----------
    k : int
        Smallest number of people in a group.
    columns : sequence of str, optional
        Quasi-identifiers to aggregate. The default is all that are not strata; for Euclidean distance, all numbers.
    aggregate : {"mean", "median"}
        Number that replaces those of a group.
    strata : sequence of str, optional
        Quasi-identifiers in which all people of a group agree. The release has k if all other quasi-identifiers are
        aggregated or strata.
    distance : {"euclidean", "gower"}
        * "euclidean": distance of numbers, in standard deviations of the table.
        * "gower": sum over the columns of |x - y| / range for numbers and dates, the same for the ranks of ordered
          categories, and 1 for different categories (MDAV-generic). A missing category is one more value.

    References
    ----------
    J. Domingo-Ferrer & J. M. Mateo-Sanz, "Practical data-oriented microaggregation for statistical disclosure control",
    IEEE TKDE 14(1), 2002; J. Domingo-Ferrer & V. Torra, "Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation", Data Mining and Knowledge Discovery 11(2), 2005, for this algorithm. J. C. Gower, "A general
    coefficient of similarity and some of its properties", Biometrics 27(4), 1971.

    Examples
    --------
    >>> table = Table.read({"age": [30, 31, 50, 52]}, quasi_identifiers="age")
    >>> Microaggregate(k=2)(table, rng=np.random.default_rng(1))[0]["age"].tolist()
    ['30.5', '30.5', '51', '51']
    >>> table = Table.read({"age": [30, 31, 50, 52], "car": list("aabb")}, quasi_identifiers=["age", "car"])
    >>> release, _ = Microaggregate(k=2, distance="gower")(table, rng=np.random.default_rng(1))
    >>> release["age"].tolist(), release["car"].tolist()
    (['30.5', '30.5', '51', '51'], ['a', 'a', 'b', 'b'])
    """

    k: Annotated[int, Range(2)] = 3
    columns: str | tuple[str, ...] = ()
    aggregate: Literal["mean", "median"] = "mean"
    strata: str | tuple[str, ...] = ()
    distance: Literal["euclidean", "gower"] = "euclidean"

    __repr__ = format_call

    def __post_init__(self) -> None:
        for name in ("columns", "strata"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        check_types(type(self), vars(self))
        if both := sorted(set(self.columns) & set(self.strata)):
            raise UnmaskError(f"column {both[0]!r} is aggregated and a stratum, expected one of the two; remove one")

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Return the release with aggregated cells, and its origin."""
        rng, people = secret_unless(rng), protected_rows(table)
        for name in (*self.columns, *self.strata):
            column_position(table, name)
        columns = people.quasi_identifiers
        aggregated = [column for column in columns if self.is_aggregated(column)]
        if not aggregated:
            needed = {
                "gower": "a quasi-identifier that is not a stratum",
                "euclidean": 'a numeric quasi-identifier; add distance="gower" for other columns',
            }
            raise UnmaskError(f"{self!r} needs {needed[self.distance]}")
        if people.n_rows < self.k:
            raise FailedError(f"{people.n_rows} rows are complete, expected at least k = {self.k}; lower k")
        group = self._group_people(aggregated, [column for column in columns if column.name in self.strata], rng)
        recoded = [_aggregate_groups(c, group, self.aggregate) if self.is_aggregated(c) else c for c in columns]
        return release_columns(table, recoded, rng)

    @property
    def norm(self) -> int:
        """Order of the norm that adds the distances of columns: 1 for Gower, 2 for Euclidean distance."""
        return 1 if self.distance == "gower" else 2

    def is_aggregated(self, column: Column) -> bool:
        """Return whether the cells of a column are replaced."""
        if self.columns:
            return column.name in self.columns
        return column.name not in self.strata and (self.distance == "gower" or column.type == "number")

    def coordinates(self, column: Column, *, like: Column) -> Floats | None:
        """Return (L,) coordinates of the levels of a column, in the unit of `like`; None if it is not aggregated, or
        if its values have no order. The distance of different values is then 1.
        """
        if not (self.is_aggregated(column) or self.is_aggregated(like)):  # text in one table only is refused below
            return None
        if self.distance == "euclidean":
            return exact_numbers(column) / _deviation(like)
        if like.levels.kind == "categorical":
            return None
        occurring = _ordered_positions(like)[(like.counts > 0) & ~like.levels.unknown]
        return _ordered_positions(column) / (float(np.ptp(occurring)) or 1.0)

    def _group_people(self, aggregated: list[Column], strata: list[Column], rng: np.random.Generator) -> Integers:
        """Return (n,) the group of each row, independent of the order of the rows."""
        positions = [self.coordinates(column, like=column) for column in aggregated]
        cells = zip(positions, aggregated, strict=True)
        x = np.stack([np.float64(c.codes) if place is None else place[c.codes] for place, c in cells], axis=1)
        if not np.isfinite(x).all():
            raise UnmaskError(
                f"{self!r} needs numbers, but some cells are missing; read the table with missing='excluded', or name "
                "other columns"
            )
        space = Euclid() if self.distance == "euclidean" else Gower(tuple(column.type for column in aggregated))
        shuffled = rng.permutation(len(x))
        order = shuffled[np.argsort(classes_of(aggregated).of_row[shuffled], kind="stable")]
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
            groups[rows] = n_groups + mdav(x[rows], self.k, space)
            n_groups = int(groups[rows].max()) + 1
        return groups


class Euclid:
    """Points, (n, d) coordinates, with squared Euclidean distances."""

    def distances(self, x: Floats, point: Floats) -> Floats:
        """Return (n,) squared distances."""
        difference = x - point
        return np.asarray(np.einsum("ij,ij->i", difference, difference))

    def center(self, x: Floats) -> Floats:
        """Return the mean."""
        return np.asarray(x.mean(axis=0))


class Gower(NamedTuple):
    """Rows of mixed columns: the coordinates of categories are codes.

    types : type of each column

    >>> rows = np.array([[0.0, 2], [0.2, 2], [1.0, 5]])
    >>> Gower(("number", "text")).distances(rows, rows[0]), Gower(("number", "text")).center(rows)
    (array([0. , 0.2, 2. ]), array([0.4, 2. ]))
    """

    types: tuple[Type, ...]

    def distances(self, x: Floats, point: Floats) -> Floats:
        """Return (n,) sums of the distances of the columns."""
        columns = zip(self.types, x.T, point, strict=True)
        return np.asarray(sum(a != b if KIND[type_] == "categorical" else abs(a - b) for type_, a, b in columns) * 1.0)

    def center(self, x: Floats) -> Floats:
        """Return means of numbers, lower medians of other ordered columns, and modes of categories."""
        half = (len(x) - 1) // 2
        return np.array([
            a.mean() if type_ == "number"
            else np.bincount(a.astype(np.int64)).argmax() if KIND[type_] == "categorical"
            else np.partition(a, half)[half]
            for type_, a in zip(self.types, x.T, strict=True)
        ])  # fmt: skip


def mdav(x: Floats, k: int, space: Euclid | Gower) -> Integers:
    """Return (n,) the group of each point; groups have k to 2k - 1 points.

    x : (n, d) coordinates, n at least k

    >>> mdav(np.array([[0.0], [1.0], [10.0], [12.0]]), 2, Euclid())
    array([1, 1, 0, 0])
    """
    group, ungrouped, n_groups = np.empty(len(x), dtype=np.int64), np.arange(len(x)), 0
    while len(ungrouped) >= 2 * k:
        center = space.center(x)
        for _ in range(2 if len(ungrouped) >= 3 * k else 1):
            center = x[int(space.distances(x, center).argmax())]  # the farthest point is the next center
            group_members = np.argpartition(space.distances(x, center), k - 1)[:k]
            group[ungrouped[group_members]] = n_groups
            is_ungrouped = np.ones(len(ungrouped), dtype=np.bool_)
            is_ungrouped[group_members] = False
            x, ungrouped, n_groups = x[is_ungrouped], ungrouped[is_ungrouped], n_groups + 1
    group[ungrouped] = n_groups
    return group


def _ordered_positions(column: Column) -> Floats:
    """Return (L,) the position of each level of an ordered column: its number, date, or rank in the declared order."""
    if column.type == "number":
        return exact_numbers(column)
    levels = column.levels
    low, high = (levels.low, levels.high) if levels.kind == "numeric" else ends_of_sets(levels)
    return (low + high) / 2


def _aggregate_groups(column: Column, group: Integers, aggregate: Literal["mean", "median"]) -> Column:
    """Return the column with the mean, median or mode of each group."""
    sizes, levels = np.bincount(group), column.levels
    if levels.kind == "categorical":
        shape = (len(sizes), len(levels))
        frequent = scipy.sparse.csr_array((np.ones(group.size, np.int32), (group, column.codes)), shape=shape)
        return replace(column, codes=np.asarray(frequent.argmax(axis=1), dtype=np.int32)[group])
    positions = _ordered_positions(column)
    order = np.lexsort((positions[column.codes], group))  # sums do not depend on the order of the rows
    codes, start = column.codes[order], np.cumsum(sizes) - sizes
    lower = codes[start + (sizes - 1) // 2]
    if column.type != "number":
        return replace(column, codes=lower[group])
    if aggregate == "mean":
        center = np.add.reduceat(positions[codes], start) / sizes
    else:
        center = (positions[lower] + positions[codes[start + sizes // 2]]) / 2
    values, of_group = np.unique(np.round(center, 12) + 0.0, return_inverse=True)
    texts = [levels.scale.write(value, value) for value in values.tolist()]
    return write_cells(column, texts, of_group[group])


def _deviation(column: Column) -> float:
    """Return the standard deviation of a column; 1 if all numbers are equal."""
    occurs = (column.counts > 0) & ~(column.levels.is_missing | column.levels.unknown)
    x, share = exact_numbers(column)[occurs], column.counts[occurs] / max(column.counts[occurs].sum(), 1)
    return float(np.sqrt(share @ (x - share @ x) ** 2)) or 1.0
