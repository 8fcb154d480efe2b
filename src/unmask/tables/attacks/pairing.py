"""Compatible rows of two tables: which released records may belong to which known people.

Both tables are first reduced to their distinct rows. Levels, and then distinct rows, are compared column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import expand_entries, list_members, ranges
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, equal_weights, stored
from unmask.tables.column import Column, classes_of
from unmask.tables.grouping import group
from unmask.tables.levels import Levels, Missing, ends_of_sets
from unmask.tables.matching import compatible, contained
from unmask.tables.table import Table

CHUNK, BLOCK = 1 << 22, 1 << 18
"""Pairs of an observation and a class per chunk of results, and per block of tests that fits in the cache."""

MIN_PAIRS_TO_SPLIT = 1 << 14
"""Pairs up to which a group of rows is not split further, because testing all its pairs is faster."""

MAX_PAIRS_OF_BIT_SETS = 1 << 26
"""Pairs of rows up to which bit sets test all pairs, because splitting the rows would be slower."""

BIT_SPEEDUP = 16
"""Pairs that bit sets test in the time of one pair without bit sets."""


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two tables reduced to their distinct rows on the columns that both have.

    An observation is a distinct row of the targets. A class is a distinct row of the candidates.

    columns     : pairs (observed column, candidate column), in the order of the candidates' table
    observation : (n_targets,) observation of each target
    observed    : (n_observations, d) level codes of each observation
    klass       : (n_candidates,) class of each candidate
    classes     : (n_classes, d) level codes of each class
    members     : (n_candidates,) candidates sorted by class
    first       : (n_classes + 1,) class j has the candidates members[first[j]:first[j + 1]]
    """

    columns: tuple[tuple[Column, Column], ...]
    observation: NDArray[np.int32]
    observed: NDArray[np.int32]
    klass: NDArray[np.int32]
    classes: NDArray[np.int32]
    members: NDArray[np.int32]
    first: Integers

    @property
    def n_candidates(self) -> int:
        """Number of candidate records."""
        return len(self.klass)

    @property
    def sizes(self) -> Integers:
        """(n_classes,) number of candidates in each class."""
        return np.diff(self.first)

    def expand(self, row: Integers, klass: Integers, value: Floats) -> tuple[Integers, NDArray[np.int32], Floats]:
        """Return the entries (observation, class, value) as CSR rows over candidates.

        row : (n_entries,) observation of each entry, ascending. Candidates ascend within each CSR row.
        """
        return expand_entries(row, klass, value, self.members, self.first, len(self.observed))

    @cached_property
    def representative(self) -> NDArray[np.int32]:
        """(n_candidates,) first candidate of each candidate's class, see `Posterior`."""
        return self.members[self.first[:-1]][self.klass]

    def merge_single_class_observations(self, row: Integers, klass: Integers) -> tuple[Pairing, Integers, Integers]:
        """Merge the observations that are compatible with the same class and no other.

        These observations give the same belief. The first of them replaces the others.

        row, klass : observation and class of every compatible pair, sorted by observation, then class

        Returns the reduced pairing, and the rows and classes of its compatible pairs.
        """
        observations = np.arange(len(self.observed))
        is_single = np.bincount(row, minlength=len(observations))[row] == 1
        first = np.empty(len(self.sizes), dtype=np.int64)
        first[klass[is_single][::-1]] = row[is_single][::-1]
        into = observations.copy()
        into[row[is_single]] = first[klass[is_single]]
        is_kept = into == observations
        number = np.cumsum(is_kept, dtype=np.int32) - 1
        pairing = replace(self, observation=number[into][self.observation], observed=self.observed[is_kept])
        is_left = is_kept[row]
        return pairing, number[row[is_left]].astype(np.int64), klass[is_left]

    def expand_to_representatives(
        self, row: Integers, klass: Integers, value: Floats
    ) -> tuple[Integers, NDArray[np.int32], Floats]:
        """Return the entries as CSR rows over the first candidate of each class, which represents its class."""
        ends = np.arange(len(self.sizes) + 1)
        return expand_entries(row, klass, value, self.members[self.first[:-1]], ends, len(self.observed))

    def uniform_posterior(self, indptr: Integers, candidate: NDArray[np.int32], *, attack: str) -> Posterior:
        """Return the belief that is uniform over the listed candidates of each observation; its status is `scores`.

        An observation without candidates is none of them.
        """
        sizes = np.diff(indptr)
        return Posterior(
            indptr=indptr,
            candidate=candidate,
            log_probability=stored(np.repeat(-np.log(np.maximum(sizes, 1)), sizes)),
            unlisted=(sizes == 0).astype(np.float64),
            n_unlisted=np.zeros(len(sizes), dtype=np.int64),
            observation=self.observation.astype(np.int64),
            weight=equal_weights(len(self.observation)),
            n_candidates=self.n_candidates,
            log_prior=-float(np.log(self.n_candidates)),
            status="scores",
            provenance={"attack": attack},
        )


def shared_columns(observed: Table, candidates: Table) -> tuple[tuple[Column, Column], ...]:
    """Return the pairs (observed column, candidate column) of quasi-identifiers with the same name.

    The pairs have the order of the candidates' table. UnmaskError if the tables share no quasi-identifier.
    """
    names = {column.name for column in observed.quasi_identifiers}
    shared = [column for column in candidates.quasi_identifiers if column.name in names]
    if not shared:
        raise UnmaskError(
            f"the two tables share no quasi-identifier: one has {', '.join(sorted(names))}, the other "
            f"{', '.join(column.name for column in candidates.quasi_identifiers)}; name at least one column alike"
        )
    return tuple((observed.column(column.name), column) for column in shared)


def pair(observed: Table, candidates: Table) -> Pairing:
    """Reduce two tables to distinct rows over the quasi-identifiers that they share by name.

    UnmaskError if a table is counted: beliefs name single rows.
    """
    for table in (observed, candidates):
        table.require_rows()
    return pair_classes(observed, candidates)


def pair_classes(observed: Table, candidates: Table) -> Pairing:
    """Reduce two tables as `pair` does, but accept counted tables.

    A row of a counted table is a combination of cells.
    """
    columns = shared_columns(observed, candidates)
    if observed is candidates:
        observed_classes = candidate_classes = observed.classes
    else:
        observed_classes, candidate_classes = (classes_of(side) for side in zip(*columns, strict=True))
    return Pairing(
        columns=columns,
        observation=observed_classes.of_row,
        observed=observed_classes.levels,
        klass=candidate_classes.of_row,
        classes=candidate_classes.levels,
        members=list_members(candidate_classes.of_row, len(candidate_classes.sizes)),
        first=np.concatenate(([0], np.cumsum(candidate_classes.sizes))),
    )


@dataclass(frozen=True, eq=False)
class EqualValues:
    """Comparison of two columns of exact values: levels are compatible if they are equal or one of them is open.

    It replaces the matrix of `compatible` if both columns have many levels.

    observed, candidate : value number of each level, shared by both columns; -1 for an open level
    """

    observed: NDArray[np.int32]
    candidate: NDArray[np.int32]

    @classmethod
    def of(cls, observed: Column, candidate: Column, *, missing: Missing = "own") -> EqualValues:
        """Return the comparison of two columns, whose values are numbered by their labels."""
        sides = [column.levels for column in (observed, candidate)]
        number = {
            label: number_of_level
            for number_of_level, label in enumerate(dict.fromkeys(sides[0].labels + sides[1].labels))
        }
        numbers = (np.array([number[label] for label in side.labels], dtype=np.int32) for side in sides)
        return cls(
            *(
                np.where(side.open(missing), np.int32(-1), number_of_level)
                for side, number_of_level in zip(sides, numbers, strict=True)
            )
        )

    def are_compatible(self, first: NDArray[np.int32], second: NDArray[np.int32]) -> Booleans:
        """Test pairs of an observed level and a candidate level, element by element."""
        first_value, second_value = self.observed[first], self.candidate[second]
        return np.asarray((first_value == second_value) | (first_value < 0) | (second_value < 0))

    @property
    def opened(self) -> tuple[Booleans, Booleans]:
        """Masks of the open levels: (n_observed_levels,), (n_candidate_levels,)."""
        return self.observed < 0, self.candidate < 0

    def components(self, observed: NDArray[np.int32], candidates: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the connected component of each cell, observed cells first: the number of its value."""
        return np.concatenate([self.observed[observed], self.candidate[candidates]])


@dataclass(frozen=True, eq=False)
class LevelIntersections:
    """Comparison of a column with itself: levels are compatible if their values intersect or one of them is open.

    It replaces the matrix of `compatible` if the column has many levels. It does not support masks.

    first, last : (n_levels,) ranks of the lower and upper end of each level. Missing cells rank below all values; open
        cells span all values.
    members : (n_levels, D) CSR, the values of each level; None if levels are intervals.
    """

    first: NDArray[np.int32]
    last: NDArray[np.int32]
    members: scipy.sparse.csr_array | None

    @classmethod
    def of(cls, levels: Levels, *, missing: Missing) -> LevelIntersections:
        """Rank the ends of the levels."""
        members = None if levels.kind == "numeric" else levels.members.to_scipy().astype(np.int32)
        ends = np.stack([levels.low, levels.high] if members is None else ends_of_sets(levels))
        values, rank = np.unique(ends, return_inverse=True)
        first, last = np.where(levels.is_missing, 0, rank.reshape(2, -1) + 1).astype(np.int32)
        opened = levels.open(missing)
        first[opened], last[opened] = 0, len(values)
        return cls(first, last, members)

    def are_compatible(self, first: NDArray[np.int32], second: NDArray[np.int32]) -> Booleans:
        """Test whether pairs of levels intersect, element by element."""
        near = (self.first[first] <= self.last[second]) & (self.first[second] <= self.last[first])
        return np.asarray(near & self._common(first, second, near, at_least=np.ones(len(self.first))))

    def contain(self, inner: NDArray[np.int32], outer: NDArray[np.int32]) -> Booleans:
        """Test whether the outer level contains the inner one or one of them is open, element by element."""
        near = (self.first[outer] <= self.first[inner]) & (self.last[inner] <= self.last[outer])
        sizes = np.ones(0) if self.members is None else np.diff(self.members.indptr)
        return np.asarray((near & self._common(inner, outer, near, at_least=sizes)) | self.opened[0][inner])

    def _common(
        self, first: NDArray[np.int32], second: NDArray[np.int32], near: Booleans, *, at_least: Any
    ) -> Booleans:
        """Test whether two sets share at least `at_least[first]` values, for the pairs in the mask `near`."""
        common = np.ones(len(first), dtype=np.bool_)
        if self.members is not None:
            pairs_to_check = np.flatnonzero(near & (self.first[first] > 0) & (self.first[second] > 0))
            for start in range(0, len(pairs_to_check), BLOCK):
                block = pairs_to_check[start : start + BLOCK]
                n_common = self.members[first[block]].multiply(self.members[second[block]]).sum(axis=1)
                common[block] = n_common >= at_least[first[block]]
        return common

    @property
    def opened(self) -> tuple[Booleans, Booleans]:
        """Masks of the open levels, (n_levels,), one for each side."""
        opened = (self.first == 0) & (self.last > 0)
        return opened, opened

    def components(self, observed: NDArray[np.int32], candidates: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the connected component of each cell, observed cells first: the chain of intersecting intervals."""
        codes = np.concatenate([observed, candidates])
        used, place = _rank_codes(codes, len(self.first))
        order = np.argsort(self.first[used], kind="stable")
        reached = np.maximum.accumulate(self.last[used][order])
        run = np.empty(len(used), dtype=np.int32)
        run[order] = np.concatenate(([0], np.cumsum(self.first[used][order][1:] > reached[:-1])))
        return run[place]


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
        (observed_levels, i), (candidate_levels, j) = (
            _rank_codes(observed, self.n_observed),
            _rank_codes(candidates, len(self.first)),
        )
        start, stop = (
            np.searchsorted(observed_levels, self.first[candidate_levels]),
            np.searchsorted(observed_levels, self.after[candidate_levels]),
        )
        n, joins = len(observed_levels), stop - start > 1
        n_joining = np.cumsum(np.bincount(start[joins], minlength=n) - np.bincount(stop[joins] - 1, minlength=n))
        label = np.concatenate(([0], np.cumsum(n_joining[:-1] == 0)))
        single_labels = label[-1] + 1 + np.arange(len(candidate_levels))
        of_candidate = np.where(stop > start, label[np.minimum(start, n - 1)], single_labels)
        return np.concatenate([label[i], of_candidate[j]])


Comparison = Booleans | EqualValues
"""Compatible levels of two columns: a matrix (n_observed_levels, n_candidate_levels), or equal values."""

AnyComparison = Comparison | LevelIntersections
"""Compatible levels of two columns, or of a column with itself."""


MIN_WIDE_PAIRS = 1 << 22
"""Pairs of levels above which columns are compared without a matrix, if their cells allow it."""


def compare_levels(columns: Iterable[tuple[Column, Column]], *, missing: Missing) -> list[Comparison]:
    """Compare the levels of each pair of columns, see `compatible`.

    Columns with many exact values on both sides are compared by equality, without a matrix.
    """
    return [
        EqualValues.of(observed, candidate, missing=missing)
        if _wide_and_exact(observed.levels, candidate.levels)
        else compatible(observed.levels, candidate.levels, missing=missing)
        for observed, candidate in columns
    ]


def compare_levels_within(columns: Iterable[Column], *, missing: Missing) -> list[AnyComparison]:
    """Compare the levels of each column with themselves, without a matrix for columns with many sets."""
    return [
        LevelIntersections.of(column.levels, missing=missing)
        if len(column.levels) ** 2 > MIN_WIDE_PAIRS and column.levels.is_set.any() and not column.levels.masks
        else compare_levels([(column, column)], missing=missing)[0]
        for column in columns
    ]


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
            comparisons[position] = contained(known_column.levels, cell.levels, missing=missing)
    return comparisons


def _is_released(known_column: Column, cell: Column) -> bool:
    """Return whether every known cell of a column also occurs in the release."""
    released_labels = set(cell.levels.labels)
    return all(known_column.levels.labels[level] in released_labels for level in np.flatnonzero(known_column.counts))


def _wide_and_exact(observed: Levels, candidate: Levels) -> bool:
    """Return whether a matrix of the levels would be large, and all stated cells are exact values."""
    alike = observed.type == candidate.type or observed.kind == candidate.kind == "categorical"
    return (
        len(observed) * len(candidate) > MIN_WIDE_PAIRS
        and alike
        and all(not side.is_set.any() for side in (observed, candidate))
    )


def find_compatible_pairs(pairing: Pairing, comparisons: Sequence[AnyComparison]) -> tuple[Integers, Integers]:
    """Return the observation and the class of every pair that is compatible in all columns.

    comparisons : one for each column. Pairs are sorted by observation, then class.
    """
    rows, classes = zip(*iterate_compatible_pairs(pairing, comparisons), strict=True)
    return np.concatenate(rows), np.concatenate(classes)


def iterate_compatible_pairs(
    pairing: Pairing, comparisons: Sequence[AnyComparison]
) -> Iterator[tuple[Integers, Integers]]:
    """Yield the pairs of `find_compatible_pairs` in chunks, at least one."""
    near = find_compatible_rows(pairing.observed, pairing.classes, comparisons)
    yield from (
        _find_pairs_with_bit_sets(
            pairing, [comparison for comparison in comparisons if isinstance(comparison, np.ndarray)]
        )
        if near is None
        else near
    )


def find_compatible_rows(
    observed: NDArray[np.int32], candidates: NDArray[np.int32], comparisons: Sequence[AnyComparison]
) -> Iterator[tuple[Integers, Integers]] | None:
    """Yield the pairs of rows that are compatible in all columns, sorted by observed row, in chunks.

    Only pairs within a group of `group_connected_rows` are tested. None if testing all pairs with bit sets is faster:
    the tables are small, or the groups are large.

    observed, candidates : (n, d) level codes
    """
    coded = all(isinstance(comparison, np.ndarray) for comparison in comparisons)
    if coded and len(observed) * len(candidates) <= MAX_PAIRS_OF_BIT_SETS:
        return None
    candidate_ranges = _list_candidate_ranges(observed, candidates, comparisons)
    with_bit_sets = coded and BIT_SPEEDUP * candidate_ranges.size.sum() > len(observed) * len(candidates)
    return None if with_bit_sets else _test_candidate_ranges(observed, candidates, comparisons, candidate_ranges)


class _CandidateRanges(NamedTuple):
    """Candidates to test for each observed row: a row has one or several ranges of `order`.

    row   : (n_ranges,) observed row, ascending
    first, size : (n_ranges,) the range is order[first:first + size]
    order : candidate rows
    """

    row: Integers
    first: Integers
    size: Integers
    order: Integers


def _list_candidate_ranges(
    observed: NDArray[np.int32], candidates: NDArray[np.int32], comparisons: Sequence[AnyComparison]
) -> _CandidateRanges:
    """Return the candidates in the same group of `group_connected_rows` as each observed row."""
    empty, n = np.zeros(0, dtype=np.int64), 0
    candidate_ranges = [(empty,) * 4]
    for observed_rows, candidate_rows, columns in _split_by_open_columns(observed, candidates, comparisons):
        group_of_observed, group_of_candidate = group_connected_rows(
            observed[np.ix_(observed_rows, columns)],
            candidates[np.ix_(candidate_rows, columns)],
            [comparisons[i] for i in columns],
        )
        order = np.argsort(group_of_candidate, kind="stable")
        first, after = (
            np.searchsorted(group_of_candidate[order], group_of_observed, side=side) for side in ("left", "right")
        )
        candidate_ranges.append((observed_rows, n + first, after - first, candidate_rows[order]))
        n += len(order)
    row, first, size, order = (np.concatenate(part) for part in zip(*candidate_ranges, strict=True))
    by_row = np.argsort(row, kind="stable")
    return _CandidateRanges(row[by_row], first[by_row], size[by_row], order)


def _split_by_open_columns(
    observed: NDArray[np.int32], candidates: NDArray[np.int32], comparisons: Sequence[AnyComparison]
) -> Iterator[tuple[Integers, Integers, Integers]]:
    """Yield observed rows, candidate rows and the columns in which neither side is open.

    The rows are split by the set of columns in which they are open, and each part of one side meets each part of the
    other. Otherwise a single open cell would connect all values of its column, and all pairs of rows would be tested.
    """
    stars = [np.zeros((len(codes), len(comparisons)), dtype=np.bool_) for codes in (observed, candidates)]
    for i, comparison in enumerate(comparisons):
        if not isinstance(comparison, np.ndarray):
            open_observed, open_candidates = comparison.opened
            stars[0][:, i], stars[1][:, i] = open_observed[observed[:, i]], open_candidates[candidates[:, i]]
    sides = []
    for open_columns in stars:
        kinds, kind = (
            np.unique(open_columns, axis=0, return_inverse=True)
            if open_columns.any()
            else (open_columns[:1], np.zeros(len(open_columns)))
        )
        sides.append([(observed_open, np.flatnonzero(kind.ravel() == k)) for k, observed_open in enumerate(kinds)])
    for (observed_open, observed_rows), (candidate_open, candidate_rows) in product(*sides):
        yield observed_rows, candidate_rows, np.flatnonzero(~(observed_open | candidate_open))


def _test_candidate_ranges(
    observed: NDArray[np.int32],
    candidates: NDArray[np.int32],
    comparisons: Sequence[AnyComparison],
    candidate_ranges: _CandidateRanges,
) -> Iterator[tuple[Integers, Integers]]:
    """Yield the compatible pairs of the candidate ranges, sorted by observed row, then candidate."""
    ends = np.cumsum(np.bincount(candidate_ranges.row, weights=candidate_ranges.size, minlength=len(observed)))
    cuts = np.unique(np.searchsorted(ends, np.arange(0, int(ends[-1]) + BLOCK, BLOCK)))
    tests = [_pair_test(comparison, observed[:, i], candidates[:, i]) for i, comparison in enumerate(comparisons)]
    for start, stop in pairwise(np.searchsorted(candidate_ranges.row, [*cuts, len(observed)])):
        part = candidate_ranges.size[start:stop]
        row = np.repeat(candidate_ranges.row[start:stop], part)
        column = candidate_ranges.order[ranges(candidate_ranges.first[start:stop], part)]
        for fitting in tests:
            good = fitting(row, column)
            row, column = row[good], column[good]
        if len(candidate_ranges.row) > len(observed):
            order = np.lexsort((column, row))
            row, column = row[order], column[order]
        yield row, column


def _pair_test(
    comparison: AnyComparison, observed: NDArray[np.int32], candidates: NDArray[np.int32]
) -> Callable[[Integers, Integers], Booleans]:
    """Return a function that tests pairs of rows in one column."""
    if not isinstance(comparison, np.ndarray):
        return lambda row, column: comparison.are_compatible(observed[row], candidates[column])
    flat, start, candidates = comparison.ravel(), observed.astype(np.int64) * comparison.shape[1], candidates.copy()
    return lambda row, column: flat[start[row] + candidates[column]]


def _find_pairs_with_bit_sets(pairing: Pairing, comparisons: Sequence[Booleans]) -> Iterator[tuple[Integers, Integers]]:
    """Yield compatible pairs. A bit set holds the classes compatible with an observed level, eight in a byte."""
    packed = [
        np.packbits(comparison[:, pairing.classes[:, i]], axis=1, bitorder="little")
        for i, comparison in enumerate(comparisons)
    ]
    step = max(1, 8 * CHUNK // max(len(pairing.classes), 1))
    for start in range(0, len(pairing.observed), step):
        part = pairing.observed[start : start + step]
        bits = packed[0][part[:, 0]]
        for i in range(1, len(packed)):
            bits &= packed[i][part[:, i]]
        row, byte = np.divmod(np.flatnonzero(bits), bits.shape[1])
        number, bit = np.nonzero(np.unpackbits(bits[row, byte][:, None], axis=1, bitorder="little"))
        yield row[number] + start, 8 * byte[number] + bit


def sum_column_tables(
    tables: Sequence[Floats],
    rows: NDArray[np.int32],
    classes: NDArray[np.int32],
    *,
    width: int,
    initial: Floats | float = 0.0,
) -> Iterator[tuple[int, Floats]]:
    """Yield the start of each chunk of rows, and the sums over columns of the tables, (n_chunk_rows, n_classes).

    tables  : for each column (n_row_levels, n_class_levels)
    width   : numbers per row that the caller holds in memory
    initial : (n_classes,) term that is added for each class
    """
    step = max(1, CHUNK // max(width, 1))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        total = np.zeros((len(part), len(classes))) + initial
        for i, table in enumerate(tables):
            total += table[part[:, i]][:, classes[:, i]]
        yield start, total


def group_connected_rows(
    observed: NDArray[np.int32], candidates: NDArray[np.int32], comparisons: Sequence[AnyComparison]
) -> tuple[Integers, Integers]:
    """Return the group of each row, (n_observed,), (n_candidates,). Compatible rows are in the same group.

    Two rows are incompatible if, in some column, their cells are in different connected components of compatible
    levels. Groups with more than `MIN_PAIRS_TO_SPLIT` pairs are split again by the components of their own cells, until
    no split succeeds. This separates nested cuts, such as those of Mondrian.

    observed, candidates : (n, d) level codes
    """
    group_of_row = np.zeros(len(observed) + len(candidates), dtype=np.int64)
    groups, n_groups = [np.arange(len(group_of_row))], 1
    transposed = [
        np.ascontiguousarray(comparison.T) if isinstance(comparison, np.ndarray) else comparison
        for comparison in comparisons
    ]
    shortcuts = [
        (LevelRanges.of(comparison) or comparison) if isinstance(comparison, np.ndarray) else comparison
        for comparison in transposed
    ]
    while groups and comparisons:
        rows = groups.pop()
        observed_rows, candidate_rows = np.split(rows, [np.searchsorted(rows, len(observed))])
        if len(observed_rows) * len(candidate_rows) <= MIN_PAIRS_TO_SPLIT:
            continue
        parts = [
            _components(comparison, observed[observed_rows, j], candidates[candidate_rows - len(observed), j])
            for j, comparison in enumerate(shortcuts)
        ]
        part, sizes, _ = group(parts, [int(component.max()) + 1 for component in parts])
        if len(sizes) == 1:
            continue
        group_of_row[rows] = n_groups + part
        n_groups += len(sizes)
        order, ends = rows[np.argsort(part, kind="stable")], np.cumsum(sizes)
        n_observed = np.bincount(part[: len(observed_rows)], minlength=len(sizes))
        large_groups = np.flatnonzero(n_observed * (sizes - n_observed) > MIN_PAIRS_TO_SPLIT)
        groups += [order[ends[number] - sizes[number] : ends[number]] for number in large_groups]
    return group_of_row[: len(observed)], group_of_row[len(observed) :]


def _components(
    comparison: AnyComparison | LevelRanges, observed: NDArray[np.int32], candidates: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the connected component of each cell of one column, observed cells first.

    comparison : matrix of (candidate, observed) levels, or a form that replaces it

    An observed level is linked only to the first level of each run of compatible candidate levels. The later levels of
    the run are linked to their predecessors.
    """
    if not isinstance(comparison, np.ndarray):
        return comparison.components(observed, candidates)
    (observed_levels, i), (candidate_levels, j) = (
        _rank_codes(observed, comparison.shape[1]),
        _rank_codes(candidates, len(comparison)),
    )
    is_compatible = comparison[np.ix_(candidate_levels, observed_levels)]
    if (runs := LevelRanges.of(is_compatible)) is not None:
        return runs.components(i.astype(np.int32), j.astype(np.int32))
    first, linked = np.nonzero(is_compatible[1:] > is_compatible[:-1])
    outermost = np.flatnonzero(is_compatible[0])
    continued = np.flatnonzero((is_compatible[1:] & is_compatible[:-1]).any(axis=1))
    candidates = len(observed_levels) + np.concatenate([first + 1, np.zeros_like(outermost), continued + 1])
    links = np.concatenate([linked, outermost, len(observed_levels) + continued]), candidates
    n = len(observed_levels) + len(candidate_levels)
    graph = scipy.sparse.csr_array((np.ones(len(links[0]), np.int8), links), shape=(n, n))
    label = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
    return np.concatenate([label[i], label[len(observed_levels) + j]])


def _rank_codes(codes: NDArray[np.int32], n: int) -> tuple[Integers, Integers]:
    """Return the distinct codes, ascending, and the rank of each code; 0 <= code < n."""
    used_codes = np.flatnonzero(np.bincount(codes, minlength=n))
    place = np.empty(n, dtype=np.int64)
    place[used_codes] = np.arange(len(used_codes))
    return used_codes, place[codes]
