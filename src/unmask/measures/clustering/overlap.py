"""The sparse table of a truth against an adversary's partition, and weights of items as integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.grouping import class_counts
from unmask.core.partition import Missing, Partition, Unlabeled, align
from unmask.core.tolerances import WEIGHT_ROUNDING

Override = tuple[Any, Any, float]

MAX_WEIGHT_DENOMINATOR: Final = 10**6
"""Denominator up to which weights are exact."""

MAX_SHARE_DENOMINATOR: Final = 10**4
"""Largest denominator of the fractions that shares and thresholds are rounded to."""

MAX_COST_SUM: Final = 2**62
"""Limit of the sums of costs, which are stored as int64."""


@dataclass(frozen=True, eq=False)
class Overlap:
    """The cells of a table: each is a subject C and a cluster D that share items. Cells are ordered by subject, then by
    cluster.

    subject, cluster : (n_cells,) int32
    shared : (n_cells,) int64, number of items in both C and D, at least 1
    indptr : (n_subjects + 1,) the cells of subject s are indptr[s]:indptr[s + 1]
    subject_size : (n_subjects,) number of items of C
    cluster_size : (n_clusters,) number of items of D, including items of subjects without a row
    """

    subject: NDArray[np.int32]
    cluster: NDArray[np.int32]
    shared: Integers
    indptr: Integers
    subject_size: Integers
    cluster_size: Integers

    @cached_property
    def n(self) -> int:
        """Return the number of items."""
        return int(self.cluster_size.sum())

    @property
    def pieces(self) -> Integers:
        """Return the number of clusters in which each subject has items."""
        return np.diff(self.indptr)

    def take_subjects(self, n_subjects: int) -> Overlap:
        """Return the rows of the first `n_subjects` subjects. The items of the others stay in their clusters,
        without an owner.
        """
        end = self.indptr[n_subjects]
        return Overlap(
            self.subject[:end],
            self.cluster[:end],
            self.shared[:end],
            self.indptr[: n_subjects + 1],
            self.subject_size[:n_subjects],
            self.cluster_size,
        )

    @cached_property
    def n_unowned(self) -> Integers:
        """Return the number of items of each cluster that belong to no subject with a row."""
        return self.cluster_size - np.bincount(self.cluster, self.shared, len(self.cluster_size)).astype(np.int64)

    @cached_property
    def n_owners(self) -> Integers:
        """Return the number of subjects with an item in each cluster."""
        return np.bincount(self.cluster, minlength=len(self.cluster_size))

    @cached_property
    def x_log_x(self) -> Floats:
        """Return x log2 x for the number x of items of each cell."""
        return np.asarray(self.shared * np.log2(self.shared))

    @cached_property
    def sums_x_log_x(self) -> Floats:
        """Return the sum of `x_log_x` over each cluster, which the entropies of owners need."""
        return np.bincount(self.cluster, self.x_log_x, len(self.cluster_size)).astype(np.float64, copy=False)

    @property
    def labeled(self) -> Overlap:
        """Return the table without items that have no owner, and without clusters of such items."""
        is_owned = self.n_owners > 0
        number = np.cumsum(is_owned, dtype=np.int32) - 1
        size = (self.cluster_size - self.n_unowned)[is_owned]
        return Overlap(self.subject, number[self.cluster], self.shared, self.indptr, self.subject_size, size)


def overlap(
    solution: Partition, adversary: Partition, *, missing: Missing = "error", unlabeled: Unlabeled = "error"
) -> Overlap:
    """Return the table of two partitions, in O(items + cells).

    missing, unlabeled : treatment of items that only one of them has, see `core.partition`

    >>> table = overlap(Partition([0, 0, 1, 1]), Partition([0, 1, 1, 1]))
    >>> table.subject, table.cluster, table.shared
    (array([0, 0, 1], dtype=int32), array([0, 1, 1], dtype=int32), array([1, 1, 2]))
    """
    solution, adversary = align(solution, adversary, missing=missing, unlabeled=unlabeled)
    ones = np.ones(len(solution), dtype=np.int64)
    return sum_cells(solution.code, adversary.code, ones, subject_size=solution.sizes, cluster_size=adversary.sizes)


def sum_cells(
    subject: NDArray[Any], cluster: NDArray[Any], shared: Integers, *, subject_size: Integers, cluster_size: Integers
) -> Overlap:
    """Return the table of cells in any order; cells of the same subject and cluster are added up.

    >>> sum_cells(
    ...     np.array([0, 0]),
    ...     np.array([1, 1]),
    ...     np.array([1, 2]),
    ...     subject_size=np.array([3]),
    ...     cluster_size=np.array([1, 4]),
    ... ).shared
    array([3])
    """
    counts = class_counts(subject, len(subject_size), cluster, len(cluster_size), weight=shared)
    return Overlap(
        subject=np.repeat(np.arange(len(subject_size), dtype=np.int32), np.diff(counts.indptr)),
        cluster=counts.indices,
        shared=counts.data,
        indptr=counts.indptr,
        subject_size=subject_size,
        cluster_size=cluster_size,
    )


def cell_of_item(table: Overlap, solution: Partition, adversary: Partition) -> Integers:
    """Return the cell of each item."""
    keys = table.subject.astype(np.int64) * adversary.n_clusters + table.cluster
    return np.searchsorted(keys, solution.code.astype(np.int64) * adversary.n_clusters + adversary.code)


@dataclass(frozen=True, eq=False)
class WeightedOverlap:
    """The cells of a table with their weights, as integers in units of 1 / unit, so that the order of a sum does not
    matter.

    shared, foreign : (n_cells,) weight of the items in C and D, and of those in D but not in C, by the weights of the
        subject
    subject_total, other_total : (n_subjects,) weight of C, and of all other items
    """

    table: Overlap
    unit: int
    shared: Integers
    foreign: Integers
    subject_total: Integers
    other_total: Integers


def weigh_equally(table: Overlap) -> WeightedOverlap:
    """Return the table with weight 1 for each item."""
    foreign = table.cluster_size[table.cluster] - table.shared
    return WeightedOverlap(table, 1, table.shared, foreign, table.subject_size, table.n - table.subject_size)


def weigh_items(
    table: Overlap, solution: Partition, adversary: Partition, item: Floats, overrides: tuple[Override, ...] = ()
) -> WeightedOverlap:
    """Return the table with a weight for each item; an override (subject, item, weight) changes the weight for one
    subject.

    Subjects are given by their labels, and items by their ids, or by their positions if they have no ids. See section
    3.3 of the paper.
    """
    weights = np.concatenate([item, check_weights([weight for _, _, weight in overrides], len(overrides))])
    unit = _choose_unit(weights, table.n)
    units = np.rint(weights * unit).astype(np.int64)
    item_units, override_units = units[: table.n], units[table.n :]
    cell = cell_of_item(table, solution, adversary)
    shared = _sum_units(cell, item_units, len(table.shared))
    subject_total = _sum_units(solution.code, item_units, solution.n_clusters)
    foreign = _sum_units(adversary.code, item_units, adversary.n_clusters)[table.cluster] - shared
    other_total = item_units.sum() - subject_total
    if overrides:
        subject, position = find_overrides(solution, overrides)
        change = override_units - item_units[position]
        is_own = solution.code[position] == subject
        np.add.at(subject_total, subject[is_own], change[is_own])
        np.add.at(other_total, subject[~is_own], change[~is_own])
        key = table.subject.astype(np.int64) * adversary.n_clusters + table.cluster
        override_key = subject.astype(np.int64) * adversary.n_clusters + adversary.code[position]
        override_cell = np.minimum(np.searchsorted(key, override_key), len(key) - 1)
        has_cell = key[override_cell] == override_key
        np.add.at(shared, override_cell[has_cell & is_own], change[has_cell & is_own])
        np.add.at(foreign, override_cell[has_cell & ~is_own], change[has_cell & ~is_own])
    return WeightedOverlap(table, unit, shared, foreign, subject_total, other_total)


def _sum_units(code: NDArray[Any], units: Integers, n: int) -> Integers:
    """Return integer sums by code."""
    total = np.zeros(n, dtype=np.int64)
    np.add.at(total, code, units)
    return total


def _choose_unit(weights: Floats, n: int) -> int:
    """Return the common denominator of the weights if it is small, else a power of two that leaves room for costs.

    Costs are weights multiplied by the denominator of an alpha.
    """
    room = MAX_COST_SUM // (2 * MAX_SHARE_DENOMINATOR * max(n, 1))
    if room < 2**10:
        raise UnmaskError(f"weights of {n:,} items leave no room for exact sums; use counts, or fewer items")
    common = 1
    for weight in np.unique(weights).tolist():
        fraction = Fraction(weight).limit_denominator(MAX_WEIGHT_DENOMINATOR)
        if abs(float(fraction) - weight) > WEIGHT_ROUNDING:
            break
        common = math.lcm(common, fraction.denominator)
        if common > min(room, 10**9):
            break
    else:
        return common
    return int(2 ** math.floor(math.log2(room)))


def find_overrides(solution: Partition, overrides: tuple[Override, ...]) -> tuple[Integers, Integers]:
    """Return the number of the subject and the position of the item of each override."""
    subject_numbers = {label: i for i, label in enumerate(solution.names.tolist())}
    ids = range(len(solution)) if solution.items is None else solution.items.tolist()
    positions = {item: i for i, item in enumerate(ids)}
    try:
        subject = np.array([subject_numbers[label] for label, _, _ in overrides], dtype=np.int64)
        position = np.array([positions[item] for _, item, _ in overrides], dtype=np.int64)
    except KeyError:
        raise UnmaskError(
            "a weight of a single subject names a subject or item that the truth lacks; check it"
        ) from None
    if len(set(zip(subject.tolist(), position.tolist(), strict=True))) < len(overrides):
        raise UnmaskError("a subject has two weights for one item, expected one")
    return subject, position


def check_weights(values: ArrayLike, n: int) -> Floats:
    """Return the weights of n items as floats, or raise an error if one is missing or outside 0 to 1."""
    weights = np.asarray(values, dtype=np.float64)
    if weights.shape != (n,):
        raise UnmaskError(f"there are {weights.size} weights for {n} items, expected one for each")
    if not np.all((weights >= 0) & (weights <= 1)):
        raise UnmaskError("a weight is missing or outside 0..1, expected numbers from 0 to 1")
    return weights


def as_fraction(name: str, value: object) -> Fraction:
    """Return a share in [0, 1] as a fraction: 0.3333... is 1/3."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise UnmaskError(f"{name} is {value!r}, expected a number from 0 to 1")
    exact = value if isinstance(value, Fraction) else Fraction(float(value))
    share = exact.limit_denominator(MAX_SHARE_DENOMINATOR)
    if share in (0, 1) and share != exact:
        raise UnmaskError(
            f"{name} is {value!r}, which is nearer to {share} than 1/{MAX_SHARE_DENOMINATOR}; give {share}"
        )
    return share
