"""Comparison of the levels of two columns: which known cells are compatible with which released cells.

Two columns with few levels are compared by a matrix. Columns with many levels have forms that are smaller.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.tables.column import Column
from unmask.tables.levels import Levels, Missing, on_one_scale
from unmask.tables.matching import compatible, contained, match_sets

MIN_WIDE_PAIRS = 1 << 22
"""Pairs of levels above which columns are compared without a matrix, if their cells allow it."""

MAX_SPARSE_SHARE = 1 / 8
"""Share of compatible pairs up to which a list of them is smaller than a matrix."""


Codes: TypeAlias = NDArray[np.integer[Any]]


class Comparison(ABC):
    """Compatible levels of two columns: a matrix of observed and candidate levels, or a form that replaces it."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""

    @property
    @abstractmethod
    def opened(self) -> tuple[Booleans, Booleans]:
        """Masks of the open levels: (n_observed_levels,), (n_candidate_levels,)."""

    @abstractmethod
    def are_compatible(self, first: Codes | np.integer[Any], second: Codes) -> Booleans:
        """Test pairs of an observed level and a candidate level, element by element."""

    @abstractmethod
    def components(self, observed: NDArray[np.int32], candidates: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the connected component of each cell, observed cells first."""

    def rows(self, levels: Codes) -> Booleans:
        """Return the rows of the matrix for observed levels, (len(levels), n_candidate_levels)."""
        return self.are_compatible(levels[:, None], np.arange(self.shape[1]))

    def n_compatible(self, is_counted: Booleans) -> Integers:
        """Return (n_candidate_levels,) number of compatible observed levels, of those that are counted."""
        blocks = _blocks(np.flatnonzero(is_counted), self.shape[1])
        return np.asarray(sum((self.rows(block).sum(axis=0) for block in blocks), np.zeros(self.shape[1], np.int64)))

    def sum_compatible(self, weights: Floats) -> Floats:
        """Return (n_observed_levels,) sum of the weights of the compatible candidate levels."""
        blocks = _blocks(np.arange(self.shape[0]), self.shape[1])
        return np.concatenate([self.rows(block) @ weights for block in blocks])


def _blocks(levels: Codes, width: int) -> list[Codes]:
    return np.split(levels, range(step := max(1, MIN_WIDE_PAIRS // max(width, 1)), len(levels), step))


@dataclass(frozen=True, eq=False)
class LevelMatrix(Comparison):
    """Comparison of two columns with few levels."""

    matches: Booleans

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""
        return self.matches.shape[0], self.matches.shape[1]

    @property
    def opened(self) -> tuple[Booleans, Booleans]:
        """No level: open levels are rows and columns of the matrix."""
        return np.zeros(self.shape[0], dtype=np.bool_), np.zeros(self.shape[1], dtype=np.bool_)

    def are_compatible(self, first: Codes | np.integer[Any], second: Codes) -> Booleans:
        """Test pairs of an observed level and a candidate level, element by element."""
        return np.asarray(self.matches.ravel()[first.astype(np.int64) * self.shape[1] + second])

    def rows(self, levels: Codes) -> Booleans:
        """Return the rows of the matrix for observed levels."""
        return np.asarray(self.matches[levels])

    @cached_property
    def _ranges(self) -> LevelRanges | None:
        return LevelRanges.of(self._transposed)

    @cached_property
    def _transposed(self) -> Booleans:
        return np.ascontiguousarray(self.matches.T)

    def components(self, observed: NDArray[np.int32], candidates: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the connected component of each cell, observed cells first.

        An observed level is linked only to the first level of each run of compatible candidate levels. The later levels
        of the run are linked to their predecessors.
        """
        if self._ranges is not None:
            return self._ranges.components(observed, candidates)
        (observed_levels, i), (candidate_levels, j) = map(_rank_codes, (observed, candidates), self.shape)
        is_compatible = self._transposed[np.ix_(candidate_levels, observed_levels)]
        if (runs := LevelRanges.of(is_compatible)) is not None:
            return runs.components(i.astype(np.int32), j.astype(np.int32))
        first, linked = np.nonzero(is_compatible[1:] > is_compatible[:-1])
        outermost = np.flatnonzero(is_compatible[0])
        continued = np.flatnonzero((is_compatible[1:] & is_compatible[:-1]).any(axis=1))
        candidates = len(observed_levels) + np.concatenate([first + 1, np.zeros_like(outermost), continued + 1])
        links = np.concatenate([linked, outermost, len(observed_levels) + continued]), candidates
        label = connected_components(links, len(observed_levels) + len(candidate_levels))
        return np.concatenate([label[i], label[len(observed_levels) + j]])


@dataclass(frozen=True, eq=False)
class LevelRanges:
    """Comparison in which each candidate level is compatible with a range of consecutive observed levels.

    Exact values and intervals compare like this.

    first, after : (n_candidate_levels,) first observed level of the range, and the level after its last; equal if the
        range is empty
    n_observed   : number of observed levels
    """

    first: Integers
    after: Integers
    n_observed: int

    @classmethod
    def of(cls, comparison: Booleans) -> LevelRanges | None:
        """Return the ranges of a (candidate, observed) matrix; None if a row is not one range."""
        first, n_levels = comparison.argmax(axis=1), comparison.sum(axis=1)
        after = comparison.shape[1] - comparison[:, ::-1].argmax(axis=1)
        is_run = (after - first == n_levels) | (n_levels == 0)
        return cls(first, first + n_levels, comparison.shape[1]) if is_run.all() else None

    def components(self, observed: NDArray[np.int32], candidates: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the connected component of each cell, observed cells first."""
        observed_levels, i = _rank_codes(observed, self.n_observed)
        candidate_levels, j = _rank_codes(candidates, len(self.first))
        start, stop = (np.searchsorted(observed_levels, end[candidate_levels]) for end in (self.first, self.after))
        n, joins = len(observed_levels), stop - start > 1
        n_joining = np.cumsum(np.bincount(start[joins], minlength=n) - np.bincount(stop[joins] - 1, minlength=n))
        label = np.concatenate(([0], np.cumsum(n_joining[:-1] == 0)))
        single_labels = label[-1] + 1 + np.arange(len(candidate_levels))
        of_candidate = np.where(stop > start, label[np.minimum(start, n - 1)], single_labels)
        return np.concatenate([label[i], of_candidate[j]])


def _rank_codes(codes: NDArray[np.int32], n: int) -> tuple[Integers, Integers]:
    """Return the distinct codes, ascending, and the rank of each code; 0 <= code < n."""
    used_codes = np.flatnonzero(np.bincount(codes, minlength=n))
    place = np.empty(n, dtype=np.int64)
    place[used_codes] = np.arange(len(used_codes))
    return used_codes, place[codes]


@dataclass(frozen=True, eq=False)
class _NumberedLevels(Comparison):
    """Comparison by numbers of the levels, which both columns share."""

    observed: NDArray[np.int32]
    candidate: NDArray[np.int32]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""
        return self.observed.shape[-1], self.candidate.shape[-1]


@dataclass(frozen=True, eq=False)
class EqualValues(_NumberedLevels):
    """Comparison of two columns of exact values: levels are compatible if they are equal or one of them is open.

    It replaces the matrix of `compatible` if both columns have many levels.

    observed, candidate : value number of each level, shared by both columns; -1 for an open level
    """

    @classmethod
    def of(cls, observed: Levels, candidate: Levels, *, missing: Missing = "own") -> EqualValues:
        """Return the comparison of two columns, whose values are numbered by their labels."""
        if observed is candidate:
            values = np.where(observed.open(missing), -1, np.arange(len(observed))).astype(np.int32)
            return cls(values, values)
        number = {label: place for place, label in enumerate(dict.fromkeys(observed.labels + candidate.labels))}
        numbers = (
            np.where(side.open(missing), -1, [number[label] for label in side.labels]).astype(np.int32)
            for side in (observed, candidate)
        )
        return cls(*numbers)

    def are_compatible(self, first: Codes | np.integer[Any], second: Codes) -> Booleans:
        """Test pairs of an observed level and a candidate level, element by element."""
        first_value, second_value = self.observed[first], self.candidate[second]
        return np.asarray((first_value == second_value) | (first_value < 0) | (second_value < 0))

    def n_compatible(self, is_counted: Booleans) -> Integers:
        """Return (n_candidate_levels,) number of observed levels with the same value, of those that are counted."""
        values = self.observed[is_counted & (self.observed >= 0)]
        return np.asarray(np.isin(self.candidate, values), dtype=np.int64)

    def sum_compatible(self, weights: Floats) -> Floats:
        """Return (n_observed_levels,) sum of the weights of the candidate levels with the same value."""
        n_values = int(max(self.observed.max(initial=-1), self.candidate.max(initial=-1))) + 1
        is_stated = self.candidate >= 0
        of_value = np.bincount(self.candidate[is_stated], weights=weights[is_stated], minlength=n_values)
        return np.append(of_value, 0.0)[self.observed]

    @property
    def opened(self) -> tuple[Booleans, Booleans]:
        """Masks of the open levels: (n_observed_levels,), (n_candidate_levels,)."""
        return self.observed < 0, self.candidate < 0

    def components(self, observed: NDArray[np.int32], candidates: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the connected component of each cell, observed cells first: the number of its value."""
        return np.concatenate([self.observed[observed], self.candidate[candidates]])


@dataclass(frozen=True, eq=False)
class OverlappingIntervals(_NumberedLevels):
    """Comparison of two numeric columns: levels are compatible if their intervals overlap or one of them is open.

    It replaces the matrix of `compatible` if the columns have many levels.

    observed, candidate : (2, n_levels) ranks of the lower and upper ends of the levels of each column, numbered
        together. Missing cells rank below all values; open cells span all values.
    """

    @classmethod
    def of(cls, observed: Levels, candidate: Levels, *, missing: Missing) -> OverlappingIntervals:
        """Rank the ends of the levels."""
        sides = on_one_scale(observed, candidate)
        ends = [np.stack([levels.low, levels.high]) for levels in sides]
        values = np.unique(ends[0] if observed is candidate else np.concatenate(ends, axis=1))
        ranks = [(np.searchsorted(values, end) + 1).astype(np.int32) for end in ends]
        for above, (levels, rank) in enumerate(zip(sides, ranks, strict=True), start=1):
            rank[:, np.isnan(levels.low)] = len(values) + above  # the scale cannot read the text: equal to no level
            rank[:, levels.is_missing] = 0
            rank[:, levels.open(missing)] = [[0], [len(values) + 2]]
        return cls(*ranks)

    def are_compatible(self, first: Codes | np.integer[Any], second: Codes) -> Booleans:
        """Test pairs of an observed level and a candidate level, element by element."""
        (low, high), (candidate_low, candidate_high) = self.observed, self.candidate
        return np.asarray((low[first] <= candidate_high[second]) & (candidate_low[second] <= high[first]))

    def n_compatible(self, is_counted: Booleans) -> Integers:
        """Return (n_candidate_levels,) number of compatible observed levels, of those that are counted."""
        (low, high), (candidate_low, candidate_high) = self.observed[:, is_counted], self.candidate
        return _count_overlaps(candidate_low, candidate_high, low, high)

    def sum_compatible(self, weights: Floats) -> Floats:
        """Return (n_observed_levels,) sum of the weights of the compatible candidate levels."""
        (low, high), (candidate_low, candidate_high) = self.observed, self.candidate
        begun, ended = (
            _sum_before(end, limit, weights) for end, limit in ((candidate_low, high + 1), (candidate_high, low))
        )
        is_used = weights > 0  # the difference of two sums is not exactly 0 if no level overlaps
        overlaps = _count_overlaps(low, high, candidate_low[is_used], candidate_high[is_used]) > 0
        return np.where(overlaps, begun - ended, 0.0)

    @property
    def opened(self) -> tuple[Booleans, Booleans]:
        """Masks of the open levels: (n_observed_levels,), (n_candidate_levels,)."""
        observed, candidate = ((low == 0) & (high > 0) for low, high in (self.observed, self.candidate))
        return observed, candidate

    def components(self, observed: NDArray[np.int32], candidates: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the component of each cell, observed cells first: the chain of overlapping intervals of both sides."""
        low, high = np.concatenate([self.observed[:, observed], self.candidate[:, candidates]], axis=1)
        order = np.argsort(low, kind="stable")
        reached = np.maximum.accumulate(high[order])
        chain = np.empty(len(low), dtype=np.int32)
        chain[order] = np.concatenate(([0], np.cumsum(low[order][1:] > reached[:-1])))
        return chain


@dataclass(frozen=True, eq=False)
class ContainingIntervals(OverlappingIntervals):
    """Comparison of two numeric columns: levels are compatible if the candidate interval contains the observed one."""

    def are_compatible(self, first: Codes | np.integer[Any], second: Codes) -> Booleans:
        """Test pairs of an observed level and a candidate level, element by element."""
        (low, high), (candidate_low, candidate_high) = self.observed, self.candidate
        is_contained = (candidate_low[second] <= low[first]) & (high[first] <= candidate_high[second])
        return np.asarray(is_contained | self.opened[0][first])

    n_compatible = Comparison.n_compatible
    sum_compatible = Comparison.sum_compatible


def _sum_before(ends: Integers, limits: Integers, weights: Floats) -> Floats:
    """Return, for each limit, the sum of the weights of the ends below it."""
    order = np.argsort(ends, kind="stable")
    return np.concatenate(([0.0], np.cumsum(weights[order])))[np.searchsorted(ends[order], limits)]


def _count_overlaps(
    low: NDArray[np.int32], high: NDArray[np.int32], other_low: NDArray[np.int32], other_high: NDArray[np.int32]
) -> Integers:
    """Return the number of other intervals that overlap each interval: those that begin before its end, without those
    that end before its beginning.
    """
    begun, ended = np.searchsorted(np.sort(other_low), high, side="right"), np.searchsorted(np.sort(other_high), low)
    return np.asarray(begun - ended, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class MatchingSets(Comparison):
    """Comparison of two columns of sets: a list of the compatible pairs of levels.

    It replaces the matrix of `compatible` if few pairs of many levels are compatible.

    pairs : (n_observed_levels, n_candidate_levels) CSR with sorted columns, without open levels
    opened : masks of the open levels: (n_observed_levels,), (n_candidate_levels,)
    """

    pairs: scipy.sparse.csr_array[Any, Any]
    open_levels: tuple[Booleans, Booleans]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""
        return self.pairs.shape[0], self.pairs.shape[1]

    @property
    def opened(self) -> tuple[Booleans, Booleans]:
        """Masks of the open levels."""
        return self.open_levels

    @classmethod
    def of(
        cls, observed: Levels, candidate: Levels, *, missing: Missing, contains: bool = False
    ) -> MatchingSets | None:
        """List the compatible pairs; None if they are more than `MAX_SPARSE_SHARE` of all.

        contains : list the pairs of `contained`, in which the candidate level contains the observed level
        """
        max_pairs = MAX_SPARSE_SHARE * len(observed) * len(candidate)
        pairs = match_sets(observed, candidate, missing=missing, max_pairs=max_pairs, contains=contains)
        return None if pairs is None else cls(pairs, (observed.open(missing), candidate.open(missing)))

    @cached_property
    def _keys(self) -> Integers:
        """(n_pairs,) number of each pair in the matrix, ascending."""
        row = np.repeat(np.arange(self.pairs.shape[0], dtype=np.int64), np.diff(self.pairs.indptr))
        return np.asarray(row * self.pairs.shape[1] + self.pairs.indices)

    def are_compatible(self, first: Codes | np.integer[Any], second: Codes) -> Booleans:
        """Test pairs of an observed level and a candidate level, element by element."""
        key = first.astype(np.int64) * self.pairs.shape[1] + second
        place = np.searchsorted(self._keys, key)
        is_listed = np.append(self._keys, -1)[place] == key
        return np.asarray(is_listed | self.opened[0][first] | self.opened[1][second])

    def n_compatible(self, is_counted: Booleans) -> Integers:
        """Return (n_candidate_levels,) number of compatible observed levels, of those that are counted."""
        return np.asarray(is_counted.astype(np.int64) @ self.pairs)

    def sum_compatible(self, weights: Floats) -> Floats:
        """Return (n_observed_levels,) sum of the weights of the compatible candidate levels."""
        return np.asarray(self.pairs @ weights)

    def rows(self, levels: Codes) -> Booleans:
        """Return the rows of the matrix for observed levels."""
        return np.asarray(self.pairs[levels].toarray() | self.opened[0][levels][:, None] | self.opened[1])

    def components(self, observed: NDArray[np.int32], candidates: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the connected component of each cell, observed cells first."""
        (observed_levels, i), (candidate_levels, j) = (
            np.unique(codes, return_inverse=True) for codes in (observed, candidates)
        )
        pairs = self.pairs[observed_levels].tocoo()
        place = np.searchsorted(candidate_levels, pairs.col)
        is_used = np.append(candidate_levels, -1)[place] == pairs.col
        links = pairs.row[is_used], len(observed_levels) + place[is_used]
        label = connected_components(links, len(observed_levels) + len(candidate_levels))
        return np.concatenate([label[i], label[len(observed_levels) + j]])


def compare_levels(columns: Iterable[tuple[Column, Column]], *, missing: Missing) -> list[Comparison]:
    """Compare the levels of each pair of columns, see `compatible`.

    Columns with many levels are compared without a matrix: exact values by equality, numbers by the ends of their
    intervals, and sets by a list of the compatible pairs if these are few.
    """
    return [_compare(observed.levels, candidate.levels, missing) for observed, candidate in columns]


def _compare(observed: Levels, candidate: Levels, missing: Missing) -> Comparison:
    if len(observed) * len(candidate) <= MIN_WIDE_PAIRS:
        return LevelMatrix(compatible(observed, candidate, missing=missing))
    is_numeric = observed.kind == "numeric", candidate.kind == "numeric"
    is_exact = not (observed.is_set.any() or candidate.is_set.any())
    if is_exact and (observed.type == candidate.type or observed.kind == candidate.kind == "categorical"):
        return EqualValues.of(observed, candidate, missing=missing)
    if all(is_numeric):
        return OverlappingIntervals.of(observed, candidate, missing=missing)
    sets = None if any(is_numeric) else MatchingSets.of(observed, candidate, missing=missing)
    return sets or LevelMatrix(compatible(observed, candidate, missing=missing))


def find_compatible_levels(observed: Levels, candidate: Levels, *, missing: Missing) -> tuple[Codes, Codes]:
    """Return the observed level and the candidate level of each compatible pair, by observed, then candidate level."""
    comparison = _compare(observed, candidate, missing)
    if not isinstance(comparison, MatchingSets):
        observed_level, candidate_level = np.nonzero(comparison.rows(np.arange(len(observed))))
        return observed_level, candidate_level
    stated, (open_levels, anything) = comparison.pairs.tocoo(), map(np.flatnonzero, comparison.opened)
    closed_levels, candidates = np.flatnonzero(~comparison.opened[0]), np.arange(len(candidate))
    row = np.concatenate([stated.row, open_levels.repeat(len(candidate)), closed_levels.repeat(len(anything))])
    column = np.concatenate([stated.col, np.tile(candidates, len(open_levels)), np.tile(anything, len(closed_levels))])
    order = np.lexsort((column, row))
    return row[order], column[order]


def compare_contained(known_levels: Levels, released: Levels, *, missing: Missing) -> Comparison:
    """Compare the levels of two columns of the same type: a level is compatible if it contains the known level."""
    is_wide = len(known_levels) * len(released) > MIN_WIDE_PAIRS
    if is_wide and known_levels.kind == "numeric":
        return ContainingIntervals.of(known_levels, released, missing=missing)
    sets = MatchingSets.of(known_levels, released, missing=missing, contains=True) if is_wide else None
    return sets or LevelMatrix(contained(known_levels, released, missing=missing))


def compare_known_levels(columns: Iterable[tuple[Column, Column]], *, missing: Missing) -> list[Comparison]:
    """Compare the levels that the adversary knows with the released levels.

    If the release itself is the source of the knowledge, the adversary knows people by sets. A record is then
    compatible only if its cell contains the known set. Intersecting sets would also count records that only some of the
    possible people match.
    """
    comparisons = compare_levels(columns := tuple(columns), missing=missing)
    for position, (known_column, cell) in enumerate(columns):
        if (
            known_column.levels.is_set.any()
            and known_column.levels.type == cell.levels.type
            and _is_released(known_column, cell)
        ):
            comparisons[position] = compare_contained(known_column.levels, cell.levels, missing=missing)
    return comparisons


def _is_released(known_column: Column, cell: Column) -> bool:
    """Return whether every known cell of a column also occurs in the release."""
    released_labels = set(cell.levels.labels)
    return all(known_column.levels.labels[level] in released_labels for level in np.flatnonzero(known_column.counts))


def connected_components(links: tuple[NDArray[Any], NDArray[Any]], n: int) -> NDArray[np.int32]:
    """Return the (n,) component of each node of an undirected graph.

    links : both ends of each edge
    """
    graph = scipy.sparse.csr_array((np.ones(len(links[0]), np.int8), links), shape=(n, n))
    return np.asarray(scipy.sparse.csgraph.connected_components(graph, directed=False)[1])
