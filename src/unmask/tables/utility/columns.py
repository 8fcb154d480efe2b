"""One column of original and release, cell against cell, and the distributions that follow from its cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy

from unmask.core.csr_rows import ranges
from unmask.tables.grouping import class_counts
from unmask.tables.levels import KIND, Levels, Type
from unmask.tables.matching import compatible
from unmask.tables.utility.sets import Sets, categorical, numeric, ordinal, singletons

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables.column import Column
    from unmask.tables.hierarchy import Hierarchy
    from unmask.tables.utility.sets import Floats, Ints

_BINS = 256
"""Ordered columns of more atoms are compared on this many bins of equal count of the original."""
_VALUES = 1024
"""Categorical columns of more atoms keep the most common values of the original, the others are pooled."""
_ENTRIES = 1 << 22
"""Atoms of sets that are intersected at once."""
_FEW = 64
"""Levels and bins up to which shares are multiplied as arrays: sparse products of so few are nearly all preparation."""


@dataclass(frozen=True, eq=False)
class Loss:
    """One column of original and release on the same atoms, by how often each pair of levels met.

    position, penalty, width, full_width : see `Sides`. pairs : CSR (original levels, released levels) of row counts.
    suppressed_rows : (L,) original rows of each level that are not released.
    """

    type: Type
    position: Floats | None
    n_atoms: int
    source: Sets
    target: Sets
    penalty: Floats
    width: Floats
    full_width: float
    pairs: scipy.sparse.csr_array[Any, Any]
    suppressed_rows: Ints
    levels: Levels
    hierarchy: Hierarchy | None

    @classmethod
    def of(cls, original: Column, released: Column, pairs: scipy.sparse.csr_array[Any, Any], suppressed: Ints) -> Loss:
        """Put the cells of both columns on common atoms."""
        counts = np.bincount(original.codes, minlength=len(original.levels))
        if original.levels.kind == "numeric":
            sides = numeric(original.levels, released.levels, counts)
        else:
            sides = (ordinal if original.levels.kind == "ordinal" else categorical)(original.levels, released.levels)
        position, source, target, penalty, width, full_width = sides
        penalty, width = np.where(target.missing, 1.0, penalty), np.where(target.missing, full_width, width)
        n_atoms = 0 if position is None else len(position)
        n_atoms = n_atoms if source.members is None else int(source.members.shape[1])
        tree = released.hierarchy or original.hierarchy
        sides_of = (position, n_atoms, source, target, penalty, width, full_width)
        return cls(original.levels.type, *sides_of, pairs, suppressed, released.levels, tree)

    @classmethod
    def of_rows(cls, original: Column, released: Column, origin: Ints, lost: NDArray[np.bool_]) -> Loss:
        """Compare row by row; origin : the original row of each released row. lost : original rows not released."""
        pairs = class_counts(
            original.codes[origin], len(original.levels), released.codes, len(released.levels)
        ).to_scipy()
        return Loss.of(original, released, pairs, np.bincount(original.codes[lost], minlength=len(original.levels)))

    @property
    def n_lost(self) -> int:
        """Return original rows that were not released."""
        return int(self.suppressed_rows.sum())

    @property
    def n_rows(self) -> int:
        """Return original rows."""
        return int(self.pairs.sum()) + self.n_lost

    def met(self) -> tuple[Ints, Ints, Floats]:
        """Return (original level, released level, share of the released rows' number) of each pair that occurs."""
        source = np.repeat(np.arange(self.pairs.shape[0]), np.diff(self.pairs.indptr))
        return source, self.pairs.indices.astype(np.int64), self.pairs.data.astype(np.float64)

    def mean(self, loss: Floats, suppressed: float) -> float:
        """Return mean over all original rows of a loss per pair; a suppressed row costs `suppressed`."""
        _, _, count = self.met()
        return float((np.sum(loss * count) + suppressed * self.n_lost) / self.n_rows)

    def unharmed(self) -> NDArray[np.bool_]:
        """Return pairs in which both cells are missing: nothing was lost."""
        source, target, _ = self.met()
        return self.source.missing[source] & self.target.missing[target]

    def ncp(self) -> float:
        """Return normalized certainty penalty: mean share of the domain that a cell leaves open, 0 to 1.

        A cell that was moved, so that it does not hold what it stood for, costs its distance from that besides, at most
        1 in all: the penalty of the literature is of generalized cells, and takes noise for no loss.
        """
        source, target, _ = self.met()
        flat = self.position is not None and KIND[self.type] == "numeric" and self._span() == 0
        loss = np.where(self.unharmed(), 0.0, self.penalty[target])
        is_moved = self._disjoint_pairs(source, target)
        away = self._distance(self.source, source[is_moved], self.target, target[is_moved])
        if (
            KIND[self.type] == "numeric" and self.full_width > 0
        ):  # over the range of the original, however far cells went
            away = away * self._span() / self.full_width
        loss[is_moved] = np.minimum(loss[is_moved] + away, 1.0)
        return self.mean(loss, 0.0 if flat or self.n_atoms < 2 else 1.0)

    def _disjoint_pairs(self, source: Ints, target: Ints) -> Ints:
        """Return the pairs of cells that have nothing in common, neither of them missing."""
        stated_pairs = np.flatnonzero(~self.source.missing[source] & ~self.target.missing[target])
        source_level, to = source[stated_pairs], target[stated_pairs]
        if self.position is None:
            is_disjoint = _common(self.source, source_level, self.target, to) == 0
        else:
            is_disjoint = (self.source.end[source_level] <= self.target.begin[to]) | (
                self.target.end[to] <= self.source.begin[source_level]
            )
        return np.asarray(stated_pairs[is_disjoint])

    def left_open(self) -> tuple[float, float]:
        """Return mean over all original rows, and maximum, of what a cell leaves open, on the column's scale."""
        _, target, _ = self.met()
        width = np.where(self.unharmed(), 0.0, self.width[target])
        return self.mean(width, self.full_width), max(
            float(width.max(initial=0.0)), self.full_width if self.n_lost else 0.0
        )

    def suppressed(self) -> int:
        """Return released cells that say nothing though the original cell did."""
        source, target, count = self.met()
        is_everything = (self.target.size()[target] == self.n_atoms) & (self.source.size()[source] < self.n_atoms)
        is_removed = self.target.missing[target] & ~self.source.missing[source]
        return int(count[is_everything | is_removed].sum())

    def _span(self) -> float:
        assert self.position is not None
        return float(self.position[-1] - self.position[0])

    def precision(self) -> float | None:
        """Return 1 - mean height / root height; a cell has the height of the lowest node that contains its set."""
        if self.hierarchy is None:
            return None
        height, root = _heights(self.hierarchy, self.levels)
        _, target, _ = self.met()
        return 1.0 if root == 0 else 1 - self.mean(np.where(self.unharmed(), 0.0, height[target] / root), 1.0)

    def distortion(self) -> float:
        """Return mean normalized distance of the original value and a uniform draw from the released cell, 0 to 1."""
        source, target, _ = self.met()
        is_stated = ~self.source.missing[source] & ~self.target.missing[target]
        loss = np.where(self.unharmed(), 0.0, 1.0)
        loss[is_stated] = self._distance(self.source, source[is_stated], self.target, target[is_stated])
        everything = self._everything()
        levels = np.flatnonzero((self.suppressed_rows > 0) & ~self.source.missing)
        away = self._distance(self.source, levels, everything, np.zeros(len(levels), dtype=np.int64))
        total = float(np.sum(away * self.suppressed_rows[levels])) + float(
            self.suppressed_rows[self.source.missing].sum()
        )
        return self.mean(loss, total / self.n_lost if self.n_lost else 0.0)

    def _everything(self) -> Sets:
        members = (
            None if self.position is not None else scipy.sparse.csr_array(np.ones((1, self.n_atoms), dtype=np.bool_))
        )
        return Sets(np.array([0]), np.array([self.n_atoms]), members, np.array([False]))

    def _distance(self, first: Sets, first_level: Ints, second: Sets, to: Ints) -> Floats:
        """Return the mean distance of uniform draws from two sets, over the span of the domain; 0/1 for categories."""
        if self.position is None:
            common = _common(first, first_level, second, to)
            return np.asarray(
                1 - common / np.maximum(first.size()[first_level] * second.size()[to], 1), dtype=np.float64
            )
        span = self._span()
        if span == 0:
            return np.zeros(len(first_level))
        middle = self.position[(first.begin[first_level] + first.end[first_level] - 1) // 2]
        return _mean_distance(self.position, middle, second.begin[to], second.end[to]) / span


@dataclass(frozen=True)
class ColumnLoss:
    """Loss of the cells of one column over a number of rows; see `InformationLoss` for the quantities.

    width, largest : mean and maximum of what a cell leaves open, on the column's scale.
    """

    type: Type
    rows: int
    suppressed_cells: int
    ncp: float
    precision: float | None
    distortion: float
    width: float
    largest: float

    @classmethod
    def of(cls, cells: Loss) -> ColumnLoss:
        """Take all of them."""
        quantities = (cells.suppressed(), cells.ncp(), cells.precision(), cells.distortion(), *cells.left_open())
        return cls(cells.type, cells.n_rows, *quantities)


@dataclass(frozen=True, eq=False)
class Cells(Loss):
    """The same with the cells of every row, for distributions on bins; the last bin is "missing".

    original, released : codes of all original rows; of the released rows.
    """

    original: NDArray[np.int32]
    released: NDArray[np.int32]
    edges: Ints
    pool: Ints | None

    @classmethod
    def of_rows(cls, original: Column, released: Column, origin: Ints, lost: NDArray[np.bool_]) -> Cells:
        """Compare row by row, as `Loss` does."""
        loss = Loss.of_rows(original, released, origin, lost)
        counts = np.bincount(original.codes, minlength=len(original.levels))
        edges, pool = _bins(loss.position, loss.n_atoms, loss.source, counts)
        return cls(**vars(loss), original=original.codes, released=released.codes, edges=edges, pool=pool)

    @property
    def n_bins(self) -> int:
        """Return bins of the distributions, the one for missing cells included."""
        return len(self.edges) if self.pool is None else int(self.pool.max()) + 2

    def shares(self, sets: Sets) -> scipy.sparse.csr_array[Any, Any]:
        """Return (L, n_bins) share of each level in each bin, spread uniformly over its atoms; rows sum to 1."""
        row, column, value = self._runs(sets) if self.pool is None else self._pooled(sets)
        missing = np.flatnonzero(sets.missing)
        row = np.concatenate((row, missing))
        column = np.concatenate((column, np.full(len(missing), self.n_bins - 1)))
        value = np.concatenate((value, np.ones(len(missing))))
        return scipy.sparse.csr_array((value, (row, column)), shape=(len(sets.missing), self.n_bins))

    def _runs(self, sets: Sets) -> tuple[Ints, Ints, Floats]:
        level = np.flatnonzero(~sets.missing)
        begin, end = sets.begin[level], sets.end[level]
        first = np.searchsorted(self.edges, begin, side="right") - 1
        width = np.searchsorted(self.edges, end - 1, side="right") - first
        run, column = np.repeat(np.arange(len(level)), width), ranges(first, width)
        inside = np.minimum(end[run], self.edges[column + 1]) - np.maximum(begin[run], self.edges[column])
        return level[run], column, inside / (end - begin)[run]

    def _pooled(self, sets: Sets) -> tuple[Ints, Ints, Floats]:
        assert sets.members is not None
        assert self.pool is not None
        row = np.repeat(np.arange(len(sets.missing)), np.diff(sets.members.indptr))
        return row, self.pool[sets.members.indices], 1 / sets.size()[row]

    def marginal(self) -> Compared:
        """Return expected rows per bin, (n_bins,), of original and release."""
        original, after = (np.bincount(side.codes, minlength=side.shares.shape[0]) @ side.shares for side in self.sides)
        return Compared(original, after + self.n_lost * self.unknown)

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """Return original and release: the level of each row, and where each level lies."""
        return Side.of(self.original, self.shares(self.source)), Side.of(self.released, self.shares(self.target))

    @cached_property
    def unknown(self) -> Floats:
        """Return (n_bins,) distribution of `*`."""
        return np.asarray(self.shares(self._everything()).toarray()[0], dtype=np.float64)


class Compared(NamedTuple):
    """Expected rows per bin (or pair of bins) in the original and in the release."""

    original: Floats
    released: Floats

    def distance(self) -> float:
        """Return total variation of the two distributions."""
        return float(0.5 * np.abs(self.original / self.original.sum() - self.released / self.released.sum()).sum())


class Side(NamedTuple):
    """The rows of a column before or after: the level of each, and (L, n_bins) shares of each level in each bin.

    dense : the shares once more, where levels and bins are few.
    """

    codes: NDArray[np.int32]
    shares: scipy.sparse.csr_array[Any, Any]
    dense: Floats | None

    @classmethod
    def of(cls, codes: NDArray[np.int32], shares: scipy.sparse.csr_array[Any, Any]) -> Side:
        """Keep few shares as an array."""
        return cls(codes, shares, shares.toarray() if max(shares.shape) <= _FEW else None)

    def joint(self, second: Side) -> Floats:
        """Return expected rows per pair of bins."""
        n, m = self.shares.shape[0], second.shares.shape[0]
        if self.dense is None or second.dense is None:
            counts = class_counts(self.codes, n, second.codes, m).to_scipy()
            return np.asarray((self.shares.T @ (counts @ second.shares)).toarray(), dtype=np.float64)
        met = np.bincount(self.codes * np.int32(m) + second.codes, minlength=n * m).reshape(n, m)
        return self.dense.T @ (met @ second.dense)


def joint(a: Cells, b: Cells) -> Compared:
    """Return expected rows per pair of bins, (bins of a, bins of b), of original and release; rows keep their pairs."""
    original, after = (first.joint(second) for first, second in zip(a.sides, b.sides, strict=True))
    return Compared(original, after + a.n_lost * np.outer(a.unknown, b.unknown) if a.n_lost else after)


def _heights(hierarchy: Hierarchy, levels: Levels) -> tuple[Floats, int]:
    """Return heights of the lowest node above all leaves of a level, else the root's, and of the root."""
    root = hierarchy.height
    covers = compatible(singletons(hierarchy.leaves), levels, missing="own").T
    height = np.full(len(levels), float(root))
    for h in reversed(range(root)):
        node = hierarchy.numbers[h]
        lowest = np.where(covers, node, len(node)).min(axis=1)
        highest = np.where(covers, node, -1).max(axis=1)
        height[lowest == highest] = h
    return height, root


def _bins(position: Floats | None, n_atoms: int, source: Sets, counts: Ints) -> tuple[Ints, Ints | None]:
    """Return edges of the bins in atoms (ordered columns), or the bin of each atom (categorical)."""
    weight = np.zeros(n_atoms)
    if position is None:
        assert source.members is not None
        weight = np.asarray((counts / np.maximum(source.size(), 1)) @ source.members, dtype=np.float64)
        order = np.argsort(-weight, kind="stable")
        pool = np.full(n_atoms, min(n_atoms, _VALUES) - 1, dtype=np.int64)
        pool[order[:_VALUES]] = np.arange(min(n_atoms, _VALUES))
        return np.zeros(0, dtype=np.int64), pool
    if n_atoms <= _BINS:
        return np.arange(n_atoms + 1), None
    np.add.at(weight, source.begin[~source.missing], counts[~source.missing])
    share = np.cumsum(weight) / max(weight.sum(), 1.0)
    inner = np.searchsorted(share, np.arange(1, _BINS) / _BINS) + 1
    return np.unique(np.concatenate(([0], inner, [n_atoms]))), None


def _mean_distance(position: Floats, x: Floats, begin: Ints, end: Ints) -> Floats:
    """Return mean of |x - y| for y uniform over the atoms begin to end - 1."""
    total = np.concatenate(([0.0], np.cumsum(position - position[0])))
    x = x - position[0]
    cross = np.clip(np.searchsorted(position - position[0], x), begin, end)
    area_below = x * (cross - begin) - (total[cross] - total[begin])
    area_above = (total[end] - total[cross]) - x * (end - cross)
    return np.asarray(np.maximum(area_below + area_above, 0.0) / (end - begin), dtype=np.float64)


def _common(first: Sets, first_level: Ints, second: Sets, to: Ints) -> Ints:
    """Count the atoms that both sets of each pair cover; a set of one atom, as most are, is looked up in the other."""
    assert first.members is not None
    assert second.members is not None
    n_common = np.empty(len(first_level), dtype=np.int64)
    single = first.size()[first_level] == 1
    if single.any():
        n_common[single] = second.members[to[single], first.members.indices[first.members.indptr[first_level[single]]]]
    sets = np.flatnonzero(~single)
    step = max(1, _ENTRIES // max(1, int(max(first.size().max(initial=0), second.size().max(initial=0)))))
    for begin in range(0, len(sets), step):
        part = sets[begin : begin + step]
        n_common[part] = (
            first.members[first_level[part]].astype(np.int64).multiply(second.members[to[part]]).sum(axis=1)
        )
    return n_common
