"""Sets of atoms that the levels of a column cover, for numbers, ranks and categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import CsrRows, ranges
from unmask.tables.cells import singleton_membership
from unmask.tables.levels import Levels, on_one_scale
from unmask.tables.matching import compatible, covered
from unmask.tables.notation import EVERYTHING, common_beginning

_MAX_BINS = 256
"""Largest number of bins of an ordered column. Columns with more atoms have bins of equal count in the original."""
_MAX_VALUES = 1024
"""Largest number of values of a categorical column. The most common values are kept, and the others are pooled."""
_MAX_ENTRIES = 1 << 22
"""Atoms of sets that are intersected in one block."""

Entries = tuple[Integers, Integers, Floats]
"""Level, bin and share."""


class Ranges(NamedTuple):
    """Range [begin, end) of the ordered atoms that each level covers."""

    begin: Integers
    end: Integers
    missing: Booleans

    @property
    def sizes(self) -> Integers:
        """(L,) number of atoms of each level."""
        return self.end - self.begin


class Members(NamedTuple):
    """Categories that each level covers, (L, D) CSR."""

    atoms: CsrRows
    missing: Booleans

    @property
    def sizes(self) -> Integers:
        """(L,) number of atoms of each level."""
        return np.diff(self.atoms.indptr).astype(np.int64)


@dataclass(frozen=True, eq=False)
class OrderedSets:
    """Original and released levels of an ordered column as ranges of common atoms.

    position       : (D,) position of each atom on a line
    source, target : sets of the original and of the released levels
    penalty        : (L,) normalized certainty penalty of each released level, 0 to 1
    width          : (L,) width of a cell in the unit of the column
    full_width     : width of a suppressed row
    """

    position: Floats
    source: Ranges
    target: Ranges
    penalty: Floats
    width: Floats
    full_width: float

    @property
    def n_atoms(self) -> int:
        """Number of atoms."""
        return len(self.position)

    @property
    def span(self) -> float:
        """Distance of the last atom from the first."""
        return float(self.position[-1] - self.position[0])

    @property
    def everything(self) -> Ranges:
        """The set of all atoms, as one level."""
        return Ranges(np.array([0]), np.array([self.n_atoms]), np.array([False]))

    def are_disjoint(self, source: Integers, target: Integers) -> Booleans:
        """Return a mask of the pairs of levels without a common atom."""
        return np.asarray(
            (self.source.end[source] <= self.target.begin[target])
            | (self.target.end[target] <= self.source.begin[source])
        )

    def distance(self, source: Integers, target: Integers) -> Floats:
        """Return the mean distance of draws from the target from the middle of the source, relative to the domain."""
        if self.span == 0:
            return np.zeros(len(source))
        middle = self.position[(self.source.begin[source] + self.source.end[source] - 1) // 2]
        return _mean_distance(self.position, middle, self.target.begin[target], self.target.end[target]) / self.span

    def bins(self, counts: Integers) -> tuple[Integers, int]:
        """Return the edges of the bins in atoms, and the number of bins with one for missing cells.

        counts : (L,) original rows of each level
        """
        edges = np.arange(self.n_atoms + 1)
        if self.n_atoms > _MAX_BINS:
            stated = ~self.source.missing
            weight = np.bincount(self.source.begin[stated], counts[stated], self.n_atoms)
            share = np.cumsum(weight) / max(weight.sum(), 1.0)
            inner = np.searchsorted(share, np.arange(1, _MAX_BINS) / _MAX_BINS) + 1
            edges = np.unique(np.concatenate(([0], inner, [self.n_atoms])))
        return edges, len(edges)

    def shares(self, sets: Ranges, edges: Integers) -> Entries:
        """Return the shares of each stated level in each bin, uniform over its atoms."""
        level = np.flatnonzero(~sets.missing)
        begin, end = sets.begin[level], sets.end[level]
        first = np.searchsorted(edges, begin, side="right") - 1
        width = np.searchsorted(edges, end - 1, side="right") - first
        run, column = np.repeat(np.arange(len(level)), width), ranges(first, width)
        inside = np.minimum(end[run], edges[column + 1]) - np.maximum(begin[run], edges[column])
        return level[run], column, inside / (end - begin)[run]


def _mean_distance(position: Floats, x: Floats, begin: Integers, end: Integers) -> Floats:
    """Return the mean of |x - y| for y uniform over the atoms begin to end - 1."""
    total = np.concatenate(([0.0], np.cumsum(position - position[0])))
    x = x - position[0]
    cross = np.clip(np.searchsorted(position - position[0], x), begin, end)
    area_below = x * (cross - begin) - (total[cross] - total[begin])
    area_above = (total[end] - total[cross]) - x * (end - cross)
    return np.asarray(np.maximum(area_below + area_above, 0.0) / (end - begin), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class CategorySets:
    """Original and released levels of a categorical column as sets of common atoms; see `OrderedSets`."""

    source: Members
    target: Members
    penalty: Floats
    width: Floats
    full_width: float

    @property
    def n_atoms(self) -> int:
        """Number of atoms."""
        return self.source.atoms.shape[1]

    @property
    def everything(self) -> Members:
        """The set of all atoms, as one level."""
        return Members(CsrRows.of_dense(np.ones((1, self.n_atoms), dtype=np.bool_)), np.array([False]))

    def are_disjoint(self, source: Integers, target: Integers) -> Booleans:
        """Return a mask of the pairs of levels without a common atom."""
        return np.asarray(self.count_common(source, target) == 0)

    def distance(self, source: Integers, target: Integers) -> Floats:
        """Return the probability that uniform draws from two sets differ."""
        n_pairs = self.source.sizes[source] * self.target.sizes[target]
        return np.asarray(1 - self.count_common(source, target) / np.maximum(n_pairs, 1), dtype=np.float64)

    def count_common(self, source: Integers, target: Integers) -> Integers:
        """Count the common atoms of each pair of sets. Single atoms, the usual case, are looked up in the other set."""
        atoms, sizes = self.source.atoms, self.source.sizes
        n_common = np.zeros(len(source), dtype=np.int64)
        single = sizes[source] == 1
        if single.any():
            n_common[single] = self.target.atoms.contain(target[single], atoms.indices[atoms.indptr[source[single]]])
        sets = np.flatnonzero(sizes[source] > 1)
        step = max(1, _MAX_ENTRIES // max(1, int(max(sizes.max(initial=0), self.target.sizes.max(initial=0)))))
        for begin in range(0, len(sets), step):
            part = sets[begin : begin + step]
            sides = atoms.take(source[part]), self.target.atoms.take(target[part])
            first, second = (side.to_scipy().astype(np.int64) for side in sides)
            n_common[part] = first.multiply(second).sum(axis=1)
        return n_common

    def bins(self, counts: Integers) -> tuple[Integers, int]:
        """Return the bin of each atom, and the number of bins with one for missing cells.

        counts : (L,) original rows of each level
        """
        sizes = self.source.sizes
        weight = np.bincount(self.source.atoms.indices, np.repeat(counts / np.maximum(sizes, 1), sizes), self.n_atoms)
        order = np.argsort(-weight, kind="stable")
        n_bins = min(self.n_atoms, _MAX_VALUES)
        pool = np.full(self.n_atoms, n_bins - 1, dtype=np.int64)
        pool[order[:_MAX_VALUES]] = np.arange(n_bins)
        return pool, n_bins + 1

    def shares(self, sets: Members, pool: Integers) -> Entries:
        """Return the shares of each stated level in each bin, uniform over its atoms."""
        row = np.repeat(np.arange(len(sets.missing)), sets.sizes)
        return row, pool[sets.atoms.indices], 1 / sets.sizes[row]


ColumnSets = OrderedSets | CategorySets


def compare_columns(original: Levels, released: Levels, counts: Integers) -> ColumnSets:
    """Return the levels of a column in original and release as sets of common atoms.

    counts : (L,) original rows of each level
    """
    if original.kind == "numeric":
        return _compare_numeric(original, released, counts)
    return (_compare_ordinal if original.kind == "ordinal" else _compare_categorical)(original, released)


def _compare_numeric(original: Levels, released: Levels, counts: Integers) -> OrderedSets:
    """Return the sets of numeric columns: atoms are the exact values, and widths are differences."""
    if released.kind == "numeric":
        original, released = on_one_scale(original, released)
    used = (counts > 0) & ~original.is_missing
    exact = original.low[used & (original.low == original.high)]
    ends = np.concatenate((original.low[used], original.high[used]))
    ends = ends[np.isfinite(ends)]
    if released.kind != "numeric":
        atoms = _atoms(exact, (original,))
        labels, members = tuple(map(repr, atoms.tolist())), singleton_membership(len(atoms), 0)
        exact_levels = Levels(labels, original.type, atoms, atoms, (), members, -1)
        target = _covered_ranges(compatible(exact_levels, released, missing="own").T, released.is_missing)
        span = max(float(atoms[-1] - atoms[0]), 0.0)
        width = atoms[target.end - 1] - atoms[target.begin]
        return OrderedSets(atoms, _atom_ranges(atoms, original), target, _ratio(width, span), width, span)
    atoms = _atoms(exact, (original, released))
    low, high = (float(ends.min()), float(ends.max())) if len(ends) else (0.0, 0.0)
    width = np.nan_to_num(np.clip(released.high, low, high) - np.clip(released.low, low, high))
    sides = _atom_ranges(atoms, original), _atom_ranges(atoms, released)
    return OrderedSets(atoms, *sides, _ratio(width, high - low), width, high - low)


def _ratio(width: Floats, span: float) -> Floats:
    return np.zeros(len(width)) if span == 0 else np.clip(np.nan_to_num(width) / span, 0.0, 1.0)


def _atoms(exact: Floats, columns: tuple[Levels, ...]) -> Floats:
    """Return the exact values, and one point for each cell that contains none: its value or its midpoint."""
    atoms = np.unique(exact)
    for levels in columns:
        is_stated = ~(levels.is_missing | levels.open("own"))
        low, high = levels.low[is_stated], levels.high[is_stated]
        empty = np.searchsorted(atoms, low, side="left") == np.searchsorted(atoms, high, side="right")
        low, high = low[empty], high[empty]
        midpoint = np.where(np.isfinite(low), np.where(np.isfinite(high), low / 2 + high / 2, low), high)
        midpoint = np.where(low == high, low, midpoint)
        atoms = np.unique(np.concatenate((atoms, midpoint[np.isfinite(midpoint)])))
    return atoms if len(atoms) else np.zeros(1)


def _atom_ranges(atoms: Floats, levels: Levels) -> Ranges:
    is_missing = levels.is_missing
    begin = np.searchsorted(atoms, levels.low, side="left")
    end = np.searchsorted(atoms, levels.high, side="right")
    is_everything = np.isinf(levels.low) & np.isinf(levels.high)
    begin, end = np.where(is_missing | is_everything, 0, begin), np.where(is_everything, len(atoms), end)
    return Ranges(begin, np.where(is_missing, begin, np.maximum(end, begin + 1)), is_missing)


def _compare_ordinal(original: Levels, released: Levels) -> OrderedSets:
    """Return the sets of ordinal columns: atoms are the ranks of the domain, and widths are numbers of values."""
    domain = singleton_levels(original.domain)
    source = _covered_ranges(compatible(domain, original, missing="own").T, original.is_missing)
    target = _covered_ranges(compatible(domain, released, missing="own").T, released.is_missing)
    size = target.sizes
    position = np.arange(max(1, len(original.domain)), dtype=np.float64)
    penalty = np.where(size > 1, size / len(position), 0.0)
    return OrderedSets(position, source, target, penalty, size.astype(np.float64), float(len(position)))


def _covered_ranges(covers: Booleans, is_missing: Booleans) -> Ranges:
    """Return the range from the first to the last atom of each level; an unknown value counts as the first atom."""
    begin = covers.argmax(axis=1) if covers.shape[1] else np.zeros(len(covers), dtype=np.int64)
    last = covers.shape[1] - covers[:, ::-1].argmax(axis=1) if covers.shape[1] else begin + 1
    end = np.where(covers.any(axis=1), last, begin + 1)
    return Ranges(begin, np.where(is_missing, begin, end), is_missing)


def _compare_categorical(original: Levels, released: Levels) -> CategorySets:
    """Return the sets of categorical columns: atoms are the original domain, and each level outside of it.

    Widths are numbers of values; for codes, numbers of hidden characters.
    """
    sides = [(levels, covered(original.domain, levels)) for levels in (original, released)]
    outside_levels = [np.flatnonzero((np.diff(covers.indptr) == 0) & ~levels.is_missing) for levels, covers in sides]
    label = dict.fromkeys(
        levels.labels[i] for (levels, _), outside in zip(sides, outside_levels, strict=True) for i in outside
    )
    extra = {text: len(original.domain) + i for i, text in enumerate(label)}
    n_atoms = max(1, len(original.domain) + len(extra))
    sets = []
    for (levels, covers), outside in zip(sides, outside_levels, strict=True):
        row = np.concatenate((np.repeat(np.arange(len(levels)), np.diff(covers.indptr)), outside))
        column = np.append(covers.indices, np.array([extra[levels.labels[i]] for i in outside], dtype=np.int64))
        members = CsrRows.of_pairs(row, column, (len(levels), n_atoms))
        sets.append(Members(members, levels.is_missing))
    size = sets[1].sizes
    penalty = np.where(size > 1, size / max(1, len(original.domain)), 0.0)
    width, full_width = size.astype(np.float64), float(n_atoms)
    if original.type == "code":
        full_width = float(original.longest)
        n_hidden = [_count_hidden_characters(released, level, original.longest) for level in range(len(released))]
        width = np.array(n_hidden, dtype=np.float64)
    return CategorySets(sets[0], sets[1], penalty, width, full_width)


def _count_hidden_characters(levels: Levels, level: int, longest: int) -> int:
    """Return the number of characters of a code that a cell hides."""
    if levels.place[level] >= 0:
        return 0
    if levels.labels[level] == EVERYTHING:
        return longest
    if level in levels.masks:
        return levels.labels[level].count(EVERYTHING)
    values = [levels.domain[place] for place in levels.covered(level)]
    return longest - len(common_beginning(values)) if len(values) > 1 else 0


def singleton_levels(values: tuple[str, ...]) -> Levels:
    """Return levels that mean one value each."""
    empty = np.zeros(0)
    return Levels(values, "text", empty, empty, values, singleton_membership(len(values), len(values)), -1)
