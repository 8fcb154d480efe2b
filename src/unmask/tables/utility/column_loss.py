"""Loss of one column between original and release, and the distributions of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy

from unmask.core.grouping import class_counts
from unmask.tables.levels import KIND, Levels, Type
from unmask.tables.matching import compatible
from unmask.tables.utility.sets import ColumnSets, OrderedSets, compare_columns, singleton_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.core.arrays import Booleans, Floats, Integers
    from unmask.tables.column import Column
    from unmask.tables.hierarchy import Hierarchy

_MAX_COUNTED_PAIRS = 1 << 16
"""Largest number of possible pairs of levels that are counted even if the rows are fewer."""

_MAX_DENSE = 64
"""Largest number of levels and bins for which shares are dense arrays. Small sparse products are dominated by
overhead.
"""


class Pairs(NamedTuple):
    """Original level, released level, and number of rows of each pair of cells. A pair may be listed several times."""

    source: NDArray[Any]
    target: NDArray[Any]
    rows: Integers

    @classmethod
    def of_rows(cls, source: NDArray[np.int32], target: NDArray[np.int32], shape: tuple[int, int]) -> Pairs:
        """Return the pairs of rows, which are counted if that makes them fewer. shape : numbers of levels"""
        n_pairs = shape[0] * shape[1]
        if n_pairs > max(len(source), _MAX_COUNTED_PAIRS):
            return cls(source, target, np.ones(len(source), dtype=np.int64))
        counts = np.bincount(source * np.int64(shape[1]) + target, minlength=n_pairs)
        occurring = np.flatnonzero(counts)
        return cls(*np.divmod(occurring, max(shape[1], 1)), counts[occurring])


NO_PAIRS = Pairs(*np.zeros((3, 0), dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Loss:
    """Cells of one column in original and release, as sets of common atoms.

    penalty, width  : (L,) normalized certainty penalty and width of each released level; those of a suppressed row if
        it is missing
    pairs           : pairs of cells of the released rows
    suppressed_rows : (L,) original rows of each level that are not released
    levels          : released levels
    """

    type: Type
    sets: ColumnSets
    penalty: Floats
    width: Floats
    pairs: Pairs
    suppressed_rows: Integers
    levels: Levels
    hierarchy: Hierarchy | None

    @classmethod
    def of(cls, original: Column, released: Column, pairs: Pairs, suppressed: Integers) -> Loss:
        """Return the cells of both columns as sets of common atoms."""
        counts = np.bincount(original.codes, minlength=len(original.levels))
        sets = compare_columns(original.levels, released.levels, counts)
        penalty = np.where(sets.target.missing, 1.0, sets.penalty)
        width = np.where(sets.target.missing, sets.full_width, sets.width)
        tree = released.hierarchy or original.hierarchy
        return cls(original.levels.type, sets, penalty, width, pairs, suppressed, released.levels, tree)

    @classmethod
    def of_rows(cls, original: Column, released: Column, origin: Integers, is_suppressed: Booleans) -> Loss:
        """Return the loss of a release row by row.

        origin        : (n_released,) original row of each released row
        is_suppressed : (n_rows,) mask of the original rows that are not released
        """
        n_levels = len(original.levels)
        pairs = Pairs.of_rows(original.codes[origin], released.codes, (n_levels, len(released.levels)))
        suppressed_rows = np.bincount(original.codes[is_suppressed], minlength=n_levels)
        return Loss.of(original, released, pairs, suppressed_rows)

    @property
    def n_suppressed_rows(self) -> int:
        """Number of original rows that are not released."""
        return int(self.suppressed_rows.sum())

    @property
    def n_rows(self) -> int:
        """Number of original rows."""
        return int(self.pairs.rows.sum()) + self.n_suppressed_rows

    def mean_loss(self, loss: Floats, suppressed: float) -> float:
        """Return the mean over all original rows of a loss per pair.

        suppressed : loss of a suppressed row
        """
        total = np.sum(loss * self.pairs.rows)
        return float((total + suppressed * self.n_suppressed_rows) / self.n_rows)

    def loss_of_pairs(self, of_level: Floats) -> Floats:
        """Return the loss of each pair, from that of each released level; 0 if both cells are missing."""
        source, target, _ = self.pairs
        loss, missing = np.asarray(of_level[target]), np.flatnonzero(self.sets.target.missing[target])
        loss[missing[self.sets.source.missing[source[missing]]]] = 0.0
        return loss

    def ncp(self) -> float:
        """Return the normalized certainty penalty: mean share of the domain that a cell covers, from 0 to 1.

        In the literature, only generalization is penalized. Here, a cell that does not contain its original value, as
        after noise, also costs its normalized distance from it; the sum is at most 1.
        """
        sets, (source, target, _) = self.sets, self.pairs
        span = sets.span if isinstance(sets, OrderedSets) and KIND[self.type] == "numeric" else None
        loss = self.loss_of_pairs(self.penalty)
        moved = np.flatnonzero(sets.are_disjoint(source, target))
        moved = moved[~(sets.source.missing[source[moved]] | sets.target.missing[target[moved]])]
        distance = sets.distance(source[moved], target[moved])
        if span is not None and sets.full_width > 0:  # over the range of the original, however far cells went
            distance = distance * span / sets.full_width
        loss[moved] = np.minimum(loss[moved] + distance, 1.0)
        return self.mean_loss(loss, 0.0 if span == 0 or sets.n_atoms < 2 else 1.0)

    def remaining_width(self) -> tuple[float, float]:
        """Return mean and maximum over all original rows of the width of a cell, on the column's scale."""
        width, full_width = self.loss_of_pairs(self.width), self.sets.full_width
        largest = max(float(width.max(initial=0.0)), full_width if self.n_suppressed_rows else 0.0)
        return self.mean_loss(width, full_width), largest

    def precision(self) -> float | None:
        """Return 1 - mean height / root height; None without a hierarchy.

        The height of a cell is that of the lowest node that contains its set.
        """
        if self.hierarchy is None:
            return None
        height, root = _heights(self.hierarchy, self.levels)
        return 1.0 if root == 0 else 1 - self.mean_loss(self.loss_of_pairs(height / root), 1.0)


@dataclass(frozen=True, eq=False)
class Cells(Loss):
    """Loss of one column with the cells of every row, for distributions on bins; the last bin is "missing".

    original, released : codes of all original rows, and of the released rows
    bins               : edges of the bins of an ordered column, in atoms, or bin of each atom of a categorical column
    n_bins             : number of bins, including the one for missing cells
    """

    original: NDArray[np.int32]
    released: NDArray[np.int32]
    bins: Integers
    n_bins: int

    @classmethod
    def of_rows(cls, original: Column, released: Column, origin: Integers, is_suppressed: Booleans) -> Cells:
        """Return the cells of a release row by row, see `Loss.of_rows`."""
        loss = Loss.of_rows(original, released, origin, is_suppressed)
        bins, n_bins = loss.sets.bins(np.bincount(original.codes, minlength=len(original.levels)))
        return cls(**vars(loss), original=original.codes, released=released.codes, bins=bins, n_bins=n_bins)

    def shares(self, level_sets: Any) -> scipy.sparse.csr_array[Any, Any]:
        """Return (L, n_bins) shares of each level in each bin, uniform over its atoms; rows sum to 1."""
        row, column, value = self.sets.shares(level_sets, self.bins)
        missing = np.flatnonzero(level_sets.missing)
        row = np.concatenate((row, missing))
        column = np.concatenate((column, np.full(len(missing), self.n_bins - 1)))
        value = np.concatenate((value, np.ones(len(missing))))
        return scipy.sparse.csr_array((value, (row, column)), shape=(len(level_sets.missing), self.n_bins))

    def marginal(self) -> BinCounts:
        """Return the expected rows in each bin, (n_bins,), of original and release."""
        original, released = (
            np.bincount(side.codes, minlength=side.shares.shape[0]) @ side.shares for side in self.sides
        )
        return BinCounts(original, released + self.n_suppressed_rows * self.suppressed_distribution)

    @cached_property
    def sides(self) -> tuple[BinnedRows, BinnedRows]:
        """Rows of original and release, in bins."""
        original, released = map(self.shares, (self.sets.source, self.sets.target))
        return BinnedRows.of(self.original, original), BinnedRows.of(self.released, released)

    @cached_property
    def suppressed_distribution(self) -> Floats:
        """(n_bins,) distribution of `*`."""
        return np.asarray(self.shares(self.sets.everything).toarray()[0], dtype=np.float64)


class BinCounts(NamedTuple):
    """Expected rows in each bin, or pair of bins, of the original and the release."""

    original: Floats
    released: Floats

    def distance(self) -> float:
        """Return the total variation between the two distributions."""
        return float(0.5 * np.abs(self.original / self.original.sum() - self.released / self.released.sum()).sum())


class BinnedRows(NamedTuple):
    """Rows of a column: the level of each row, and the shares of each level in each bin, (L, n_bins).

    dense : the shares as a dense array if levels and bins are few, otherwise None
    """

    codes: NDArray[np.int32]
    shares: scipy.sparse.csr_array[Any, Any]
    dense: Floats | None

    @classmethod
    def of(cls, codes: NDArray[np.int32], shares: scipy.sparse.csr_array[Any, Any]) -> BinnedRows:
        """Return the rows, with dense shares if they are few."""
        return cls(codes, shares, shares.toarray() if max(shares.shape) <= _MAX_DENSE else None)

    def joint(self, second: BinnedRows) -> Floats:
        """Return the expected rows in each pair of bins of two columns."""
        n, m = self.shares.shape[0], second.shares.shape[0]
        if self.dense is None or second.dense is None:
            counts = class_counts(self.codes, n, second.codes, m).to_scipy()
            return np.asarray((self.shares.T @ (counts @ second.shares)).toarray(), dtype=np.float64)
        pair_counts = np.bincount(self.codes * np.int32(m) + second.codes, minlength=n * m).reshape(n, m)
        return self.dense.T @ (pair_counts @ second.dense)


def joint(a: Cells, b: Cells) -> BinCounts:
    """Return the expected rows in each pair of bins, (bins of a, bins of b), of original and release."""
    original, released = (first.joint(second) for first, second in zip(a.sides, b.sides, strict=True))
    if a.n_suppressed_rows:
        released = released + a.n_suppressed_rows * np.outer(a.suppressed_distribution, b.suppressed_distribution)
    return BinCounts(original, released)


def _heights(hierarchy: Hierarchy, levels: Levels) -> tuple[Floats, int]:
    """Return the height of each level and of the root. A level has the height of the lowest node above all its
    leaves.
    """
    root = hierarchy.height
    covers = compatible(singleton_levels(hierarchy.leaves), levels, missing="own").T
    height = np.full(len(levels), float(root))
    for h in reversed(range(root)):
        node = hierarchy.numbers[h]
        lowest = np.where(covers, node, len(node)).min(axis=1)
        highest = np.where(covers, node, -1).max(axis=1)
        height[lowest == highest] = h
    return height, root
