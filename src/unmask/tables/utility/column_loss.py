"""Loss of one column between original and release, and the distributions of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy

from unmask.core.csr_rows import CsrRows, ranges
from unmask.tables.grouping import class_counts
from unmask.tables.levels import KIND, Levels, Type
from unmask.tables.matching import compatible
from unmask.tables.utility.sets import (
    LevelSets,
    compare_categorical,
    compare_numeric,
    compare_ordinal,
    singleton_levels,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.core.arrays import Booleans, Floats, Integers
    from unmask.tables.column import Column
    from unmask.tables.hierarchy import Hierarchy

_MAX_BINS = 256
"""Largest number of bins of an ordered column. Columns with more atoms have bins of equal count in the original."""
_MAX_VALUES = 1024
"""Largest number of values of a categorical column. The most common values are kept, and the others are pooled."""
_MAX_ENTRIES = 1 << 22
"""Atoms of sets that are intersected in one block."""
_MAX_DENSE = 64
"""Largest number of levels and bins for which shares are dense arrays. Small sparse products are dominated by
overhead.
"""


@dataclass(frozen=True, eq=False)
class Loss:
    """Cells of one column in original and release, as sets of common atoms.

    position, source, target, penalty, width, full_width : see `ColumnSets`
    pairs           : (original levels, released levels) CSR, number of rows with each pair of cells
    suppressed_rows : (L,) original rows of each level that are not released
    levels          : released levels
    """

    type: Type
    position: Floats | None
    n_atoms: int
    source: LevelSets
    target: LevelSets
    penalty: Floats
    width: Floats
    full_width: float
    pairs: CsrRows
    suppressed_rows: Integers
    levels: Levels
    hierarchy: Hierarchy | None

    @classmethod
    def of(cls, original: Column, released: Column, pairs: CsrRows, suppressed: Integers) -> Loss:
        """Return the cells of both columns as sets of common atoms."""
        counts = np.bincount(original.codes, minlength=len(original.levels))
        if original.levels.kind == "numeric":
            sides = compare_numeric(original.levels, released.levels, counts)
        else:
            sides = (compare_ordinal if original.levels.kind == "ordinal" else compare_categorical)(
                original.levels, released.levels
            )
        position, source, target, penalty, width, full_width = sides
        penalty, width = np.where(target.missing, 1.0, penalty), np.where(target.missing, full_width, width)
        n_atoms = 0 if position is None else len(position)
        n_atoms = n_atoms if source.members is None else source.members.shape[1]
        tree = released.hierarchy or original.hierarchy
        sides_of = (position, n_atoms, source, target, penalty, width, full_width)
        return cls(original.levels.type, *sides_of, pairs, suppressed, released.levels, tree)

    @classmethod
    def of_rows(cls, original: Column, released: Column, origin: Integers, is_suppressed: Booleans) -> Loss:
        """Return the loss of a release row by row.

        origin        : (n_released,) original row of each released row
        is_suppressed : (n_rows,) mask of the original rows that are not released
        """
        pairs = class_counts(original.codes[origin], len(original.levels), released.codes, len(released.levels))
        return Loss.of(
            original, released, pairs, np.bincount(original.codes[is_suppressed], minlength=len(original.levels))
        )

    @property
    def n_suppressed_rows(self) -> int:
        """Number of original rows that are not released."""
        return int(self.suppressed_rows.sum())

    @property
    def n_rows(self) -> int:
        """Number of original rows."""
        return int(self.pairs.data.sum()) + self.n_suppressed_rows

    def pair_counts(self) -> tuple[Integers, Integers, Floats]:
        """Return original level, released level and number of rows of each pair that occurs."""
        source = np.repeat(np.arange(self.pairs.shape[0]), np.diff(self.pairs.indptr))
        return source, self.pairs.indices.astype(np.int64), self.pairs.data.astype(np.float64)

    def mean_loss(self, loss: Floats, suppressed: float) -> float:
        """Return the mean over all original rows of a loss per pair.

        suppressed : loss of a suppressed row
        """
        _, _, count = self.pair_counts()
        return float((np.sum(loss * count) + suppressed * self.n_suppressed_rows) / self.n_rows)

    def both_missing(self) -> Booleans:
        """Return a mask of the pairs in which both cells are missing, which have no loss."""
        source, target, _ = self.pair_counts()
        return self.source.missing[source] & self.target.missing[target]

    def ncp(self) -> float:
        """Return the normalized certainty penalty: mean share of the domain that a cell covers, from 0 to 1.

        In the literature, only generalization is penalized. Here, a cell that does not contain its original value, as
        after noise, also costs its normalized distance from it; the sum is at most 1.
        """
        source, target, _ = self.pair_counts()
        is_constant = self.position is not None and KIND[self.type] == "numeric" and self._span() == 0
        loss = np.where(self.both_missing(), 0.0, self.penalty[target])
        is_moved = self._disjoint_pairs(source, target)
        distance = self._distance(self.source, source[is_moved], self.target, target[is_moved])
        if (
            KIND[self.type] == "numeric" and self.full_width > 0
        ):  # over the range of the original, however far cells went
            distance = distance * self._span() / self.full_width
        loss[is_moved] = np.minimum(loss[is_moved] + distance, 1.0)
        return self.mean_loss(loss, 0.0 if is_constant or self.n_atoms < 2 else 1.0)

    def _disjoint_pairs(self, source: Integers, target: Integers) -> Integers:
        """Return the pairs of stated cells without a common atom."""
        stated_pairs = np.flatnonzero(~self.source.missing[source] & ~self.target.missing[target])
        source_level, to = source[stated_pairs], target[stated_pairs]
        if self.position is None:
            is_disjoint = _count_common_atoms(self.source, source_level, self.target, to) == 0
        else:
            is_disjoint = (self.source.end[source_level] <= self.target.begin[to]) | (
                self.target.end[to] <= self.source.begin[source_level]
            )
        return np.asarray(stated_pairs[is_disjoint])

    def remaining_width(self) -> tuple[float, float]:
        """Return mean and maximum over all original rows of the width of a cell, on the column's scale."""
        _, target, _ = self.pair_counts()
        width = np.where(self.both_missing(), 0.0, self.width[target])
        return self.mean_loss(width, self.full_width), max(
            float(width.max(initial=0.0)), self.full_width if self.n_suppressed_rows else 0.0
        )

    def _span(self) -> float:
        assert self.position is not None
        return float(self.position[-1] - self.position[0])

    def precision(self) -> float | None:
        """Return 1 - mean height / root height; None without a hierarchy.

        The height of a cell is that of the lowest node that contains its set.
        """
        if self.hierarchy is None:
            return None
        height, root = _heights(self.hierarchy, self.levels)
        _, target, _ = self.pair_counts()
        return 1.0 if root == 0 else 1 - self.mean_loss(np.where(self.both_missing(), 0.0, height[target] / root), 1.0)

    def _everything(self) -> LevelSets:
        members = None if self.position is not None else CsrRows.of_dense(np.ones((1, self.n_atoms), dtype=np.bool_))
        return LevelSets(np.array([0]), np.array([self.n_atoms]), members, np.array([False]))

    def _distance(self, first: LevelSets, first_level: Integers, second: LevelSets, to: Integers) -> Floats:
        """Return the mean distance between uniform draws from two sets, relative to the domain; 0 or 1 for
        categories.
        """
        if self.position is None:
            common = _count_common_atoms(first, first_level, second, to)
            return np.asarray(
                1 - common / np.maximum(first.size()[first_level] * second.size()[to], 1), dtype=np.float64
            )
        span = self._span()
        if span == 0:
            return np.zeros(len(first_level))
        middle = self.position[(first.begin[first_level] + first.end[first_level] - 1) // 2]
        return _mean_distance(self.position, middle, second.begin[to], second.end[to]) / span


@dataclass(frozen=True, eq=False)
class Cells(Loss):
    """Loss of one column with the cells of every row, for distributions on bins; the last bin is "missing".

    original, released : codes of all original rows, and of the released rows
    edges : edges of the bins of an ordered column, in atoms
    pool  : bin of each atom of a categorical column; None for an ordered one
    """

    original: NDArray[np.int32]
    released: NDArray[np.int32]
    edges: Integers
    pool: Integers | None

    @classmethod
    def of_rows(cls, original: Column, released: Column, origin: Integers, is_suppressed: Booleans) -> Cells:
        """Return the cells of a release row by row, see `Loss.of_rows`."""
        loss = Loss.of_rows(original, released, origin, is_suppressed)
        counts = np.bincount(original.codes, minlength=len(original.levels))
        edges, pool = _bins(loss.position, loss.n_atoms, loss.source, counts)
        return cls(**vars(loss), original=original.codes, released=released.codes, edges=edges, pool=pool)

    @property
    def n_bins(self) -> int:
        """Number of bins, including the one for missing cells."""
        return len(self.edges) if self.pool is None else int(self.pool.max()) + 2

    def shares(self, sets: LevelSets) -> scipy.sparse.csr_array[Any, Any]:
        """Return (L, n_bins) shares of each level in each bin, uniform over its atoms; rows sum to 1."""
        row, column, value = self._runs(sets) if self.pool is None else self._pooled(sets)
        missing = np.flatnonzero(sets.missing)
        row = np.concatenate((row, missing))
        column = np.concatenate((column, np.full(len(missing), self.n_bins - 1)))
        value = np.concatenate((value, np.ones(len(missing))))
        return scipy.sparse.csr_array((value, (row, column)), shape=(len(sets.missing), self.n_bins))

    def _runs(self, sets: LevelSets) -> tuple[Integers, Integers, Floats]:
        level = np.flatnonzero(~sets.missing)
        begin, end = sets.begin[level], sets.end[level]
        first = np.searchsorted(self.edges, begin, side="right") - 1
        width = np.searchsorted(self.edges, end - 1, side="right") - first
        run, column = np.repeat(np.arange(len(level)), width), ranges(first, width)
        inside = np.minimum(end[run], self.edges[column + 1]) - np.maximum(begin[run], self.edges[column])
        return level[run], column, inside / (end - begin)[run]

    def _pooled(self, sets: LevelSets) -> tuple[Integers, Integers, Floats]:
        assert sets.members is not None
        assert self.pool is not None
        row = np.repeat(np.arange(len(sets.missing)), np.diff(sets.members.indptr))
        return row, self.pool[sets.members.indices], 1 / sets.size()[row]

    def marginal(self) -> BinCounts:
        """Return the expected rows in each bin, (n_bins,), of original and release."""
        original, released = (
            np.bincount(side.codes, minlength=side.shares.shape[0]) @ side.shares for side in self.sides
        )
        return BinCounts(original, released + self.n_suppressed_rows * self.suppressed_distribution)

    @cached_property
    def sides(self) -> tuple[BinnedRows, BinnedRows]:
        """Rows of original and release, in bins."""
        return BinnedRows.of(self.original, self.shares(self.source)), BinnedRows.of(
            self.released, self.shares(self.target)
        )

    @cached_property
    def suppressed_distribution(self) -> Floats:
        """(n_bins,) distribution of `*`."""
        return np.asarray(self.shares(self._everything()).toarray()[0], dtype=np.float64)


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
    return BinCounts(
        original,
        released + a.n_suppressed_rows * np.outer(a.suppressed_distribution, b.suppressed_distribution)
        if a.n_suppressed_rows
        else released,
    )


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


def _bins(
    position: Floats | None, n_atoms: int, source: LevelSets, counts: Integers
) -> tuple[Integers, Integers | None]:
    """Return the edges of the bins in atoms for ordered columns, or the bin of each atom for categorical columns."""
    weight = np.zeros(n_atoms)
    if position is None:
        assert source.members is not None
        share = counts / np.maximum(source.size(), 1)
        weight += np.bincount(source.members.indices, np.repeat(share, source.size()), n_atoms)
        order = np.argsort(-weight, kind="stable")
        pool = np.full(n_atoms, min(n_atoms, _MAX_VALUES) - 1, dtype=np.int64)
        pool[order[:_MAX_VALUES]] = np.arange(min(n_atoms, _MAX_VALUES))
        return np.zeros(0, dtype=np.int64), pool
    if n_atoms <= _MAX_BINS:
        return np.arange(n_atoms + 1), None
    np.add.at(weight, source.begin[~source.missing], counts[~source.missing])
    share = np.cumsum(weight) / max(weight.sum(), 1.0)
    inner = np.searchsorted(share, np.arange(1, _MAX_BINS) / _MAX_BINS) + 1
    return np.unique(np.concatenate(([0], inner, [n_atoms]))), None


def _mean_distance(position: Floats, x: Floats, begin: Integers, end: Integers) -> Floats:
    """Return the mean of |x - y| for y uniform over the atoms begin to end - 1."""
    total = np.concatenate(([0.0], np.cumsum(position - position[0])))
    x = x - position[0]
    cross = np.clip(np.searchsorted(position - position[0], x), begin, end)
    area_below = x * (cross - begin) - (total[cross] - total[begin])
    area_above = (total[end] - total[cross]) - x * (end - cross)
    return np.asarray(np.maximum(area_below + area_above, 0.0) / (end - begin), dtype=np.float64)


def _count_common_atoms(first: LevelSets, first_level: Integers, second: LevelSets, to: Integers) -> Integers:
    """Count the common atoms of each pair of sets. Sets with one atom, the usual case, are looked up in the
    other set.
    """
    assert first.members is not None
    assert second.members is not None
    n_common = np.empty(len(first_level), dtype=np.int64)
    single = first.size()[first_level] == 1
    if single.any():
        atom = first.members.indices[first.members.indptr[first_level[single]]]
        n_common[single] = second.members.contain(to[single], atom)
    sets = np.flatnonzero(~single)
    step = max(1, _MAX_ENTRIES // max(1, int(max(first.size().max(initial=0), second.size().max(initial=0)))))
    for begin in range(0, len(sets), step):
        part = sets[begin : begin + step]
        sides = (first.members.take(first_level[part]), second.members.take(to[part]))
        one, other = (side.to_scipy().astype(np.int64) for side in sides)
        n_common[part] = one.multiply(other).sum(axis=1)
    return n_common
