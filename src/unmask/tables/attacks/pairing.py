"""Compatible rows of two tables: which released records may belong to which known people.

Both tables are first reduced to their distinct rows. Levels, and then distinct rows, are compared column by column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import expand_entries, list_members, ranges
from unmask.core.errors import UnmaskError
from unmask.core.grouping import group
from unmask.core.posterior import Posterior
from unmask.tables.attacks.comparisons import Comparison, LevelMatrix
from unmask.tables.column import Column, classes_of
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
    sizes       : (n_classes,) number of candidates in each class
    """

    columns: tuple[tuple[Column, Column], ...]
    observation: NDArray[np.int32]
    observed: NDArray[np.int32]
    klass: NDArray[np.int32]
    classes: NDArray[np.int32]
    sizes: Integers

    @property
    def n_candidates(self) -> int:
        """Number of candidate records."""
        return len(self.klass)

    @cached_property
    def first(self) -> Integers:
        """(n_classes + 1,) class j has the candidates members[first[j]:first[j + 1]]."""
        return np.concatenate(([0], np.cumsum(self.sizes)))

    def expand(self, row: Integers, klass: Integers, value: Floats) -> tuple[Integers, NDArray[np.int32], Floats]:
        """Return the entries (observation, class, value) as CSR rows over candidates.

        row : (n_entries,) observation of each entry, ascending. Candidates ascend within each CSR row.
        """
        return expand_entries(row, klass, value, self.members, self.first, len(self.observed))

    @cached_property
    def members(self) -> NDArray[np.int32]:
        """(n_candidates,) candidates sorted by class."""
        return list_members(self.klass)

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

        An observation without candidates is not among them.
        """
        sizes = np.diff(indptr)
        return Posterior.from_entries(
            indptr,
            candidate,
            np.repeat(-np.log(np.maximum(sizes, 1)), sizes),
            observation=self.observation,
            n_candidates=self.n_candidates,
            status="scores",
            provenance={"attack": attack},
        )


def shared_columns(observed: Table, candidates: Table) -> tuple[tuple[Column, Column], ...]:
    """Return the pairs (observed column, candidate column) of quasi-identifiers with the same name.

    The pairs have the order of the candidates' table. UnmaskError if the tables share no quasi-identifier.
    """
    observed_columns = {column.name: column for column in observed.quasi_identifiers}
    shared = tuple(
        (observed_columns[column.name], column)
        for column in candidates.quasi_identifiers
        if column.name in observed_columns
    )
    if not shared:
        raise UnmaskError(
            f"the two tables share no quasi-identifier: one has {', '.join(sorted(observed_columns))}, the other "
            f"{', '.join(column.name for column in candidates.quasi_identifiers)}; name at least one column alike"
        )
    return shared


def require_rows(*tables: Table) -> None:
    """Raise UnmaskError for a table that an engine counted, which has no single rows."""
    if any(table.counts is not None for table in tables):
        raise UnmaskError("an engine counted this table, and this attack needs its rows; leave --engine out")


def pair(observed: Table, candidates: Table) -> Pairing:
    """Reduce two tables to distinct rows over the quasi-identifiers that they share by name.

    UnmaskError if a table is counted: beliefs name single rows.
    """
    require_rows(observed, candidates)
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
        sizes=candidate_classes.sizes,
    )


def find_compatible_pairs(pairing: Pairing, comparisons: Sequence[Comparison]) -> tuple[Integers, Integers]:
    """Return the observation and the class of every pair that is compatible in all columns.

    comparisons : one for each column. Pairs are sorted by observation, then class.
    """
    rows, classes = zip(*iterate_compatible_pairs(pairing, comparisons), strict=True)
    return np.concatenate(rows), np.concatenate(classes)


def iterate_compatible_pairs(
    pairing: Pairing, comparisons: Sequence[Comparison]
) -> Iterator[tuple[Integers, Integers]]:
    """Yield the pairs of `find_compatible_pairs` in chunks, at least one.

    Only pairs within a group of `group_connected_rows` are tested, unless testing all pairs with bit sets is faster:
    the tables are small, or the groups are large.
    """
    n_pairs = len(pairing.observed) * len(pairing.classes)
    is_matrix = all(isinstance(comparison, LevelMatrix) for comparison in comparisons)
    candidates = None
    if n_pairs > MAX_PAIRS_OF_BIT_SETS or not is_matrix:
        candidates = _list_candidate_ranges(pairing.observed, pairing.classes, comparisons)
    if candidates is None or BIT_SPEEDUP * candidates.size.sum() > n_pairs:
        yield from _find_pairs_with_bit_sets(pairing, comparisons)
    else:
        yield from _test_candidate_ranges(pairing, comparisons, candidates)


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
    observed: NDArray[np.int32], candidates: NDArray[np.int32], comparisons: Sequence[Comparison]
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
        size = np.bincount(group_of_candidate, minlength=int(group_of_observed.max(initial=0)) + 1)
        first = n + np.cumsum(size) - size
        members = list_members(group_of_candidate)
        candidate_ranges.append(
            (observed_rows, first[group_of_observed], size[group_of_observed], candidate_rows[members])
        )
        n += len(members)
    row, first, size, order = (np.concatenate(part) for part in zip(*candidate_ranges, strict=True))
    by_row = np.argsort(row, kind="stable")
    return _CandidateRanges(row[by_row], first[by_row], size[by_row], order)


def _split_by_open_columns(
    observed: NDArray[np.int32], candidates: NDArray[np.int32], comparisons: Sequence[Comparison]
) -> Iterator[tuple[Integers, Integers, Integers]]:
    """Yield observed rows, candidate rows and the columns in which neither side is open.

    The rows are split by the set of columns in which they are open, and each part of one side meets each part of the
    other. Otherwise a single open cell would connect all values of its column, and all pairs of rows would be tested.
    """
    stars = [np.zeros((len(codes), len(comparisons)), dtype=np.bool_) for codes in (observed, candidates)]
    for i, comparison in enumerate(comparisons):
        open_observed, open_candidates = comparison.opened
        stars[0][:, i], stars[1][:, i] = open_observed[observed[:, i]], open_candidates[candidates[:, i]]
    sides = []
    for open_columns in stars:
        kinds, kind = open_columns[:1], np.zeros(len(open_columns), dtype=np.intp)
        if open_columns.any():
            kinds, kind = np.unique(open_columns, axis=0, return_inverse=True)
        sides.append([(observed_open, np.flatnonzero(kind.ravel() == k)) for k, observed_open in enumerate(kinds)])
    for (observed_open, observed_rows), (candidate_open, candidate_rows) in product(*sides):
        yield observed_rows, candidate_rows, np.flatnonzero(~(observed_open | candidate_open))


def _test_candidate_ranges(
    pairing: Pairing, comparisons: Sequence[Comparison], candidates: _CandidateRanges
) -> Iterator[tuple[Integers, Integers]]:
    """Yield the compatible pairs of the candidate ranges, sorted by observed row, then candidate."""
    n = len(pairing.observed)
    ends = np.cumsum(np.bincount(candidates.row, weights=candidates.size, minlength=n))
    cuts = np.unique(np.searchsorted(ends, np.arange(0, int(ends[-1]) + BLOCK, BLOCK)))
    columns = list(zip(comparisons, pairing.observed.T, pairing.classes.T, strict=True))
    for start, stop in pairwise(np.searchsorted(candidates.row, [*cuts, n])):
        part = candidates.size[start:stop]
        row = np.repeat(candidates.row[start:stop], part)
        column = candidates.order[ranges(candidates.first[start:stop], part)]
        for comparison, observed_codes, candidate_codes in columns:
            good = comparison.are_compatible(observed_codes[row], candidate_codes[column])
            row, column = row[good], column[good]
        if len(candidates.row) > n:
            order = np.lexsort((column, row))
            row, column = row[order], column[order]
        yield row, column


def _find_pairs_with_bit_sets(
    pairing: Pairing, comparisons: Sequence[Comparison]
) -> Iterator[tuple[Integers, Integers]]:
    """Yield compatible pairs. A bit set holds the classes compatible with an observed level, eight in a byte."""
    step = max(1, 8 * CHUNK // max(len(pairing.classes), 1))
    for start in range(0, len(pairing.observed), step):
        part = pairing.observed[start : start + step]
        bits = np.full((len(part), -(-len(pairing.classes) // 8)), 255, dtype=np.uint8)
        for i, comparison in enumerate(comparisons):
            levels, place = np.unique(part[:, i], return_inverse=True)
            packed = np.packbits(comparison.rows(levels)[:, pairing.classes[:, i]], axis=1, bitorder="little")
            bits &= packed[place]
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
    observed: NDArray[np.int32], candidates: NDArray[np.int32], comparisons: Sequence[Comparison]
) -> tuple[Integers, Integers]:
    """Return the group of each row, (n_observed,), (n_candidates,). Compatible rows are in the same group.

    Two rows are incompatible if, in some column, their cells are in different connected components of compatible
    levels. Groups with more than `MIN_PAIRS_TO_SPLIT` pairs are split again by the components of their own cells, until
    no split succeeds. This separates nested cuts, such as those of Mondrian.

    observed, candidates : (n, d) level codes
    """
    group_of_row = np.zeros(len(observed) + len(candidates), dtype=np.int64)
    groups, n_groups = [np.arange(len(group_of_row))], 1
    while groups and comparisons:
        rows = groups.pop()
        observed_rows, candidate_rows = np.split(rows, [np.searchsorted(rows, len(observed))])
        if len(observed_rows) * len(candidate_rows) <= MIN_PAIRS_TO_SPLIT:
            continue
        sides = observed[observed_rows].T, candidates[candidate_rows - len(observed)].T
        parts = [
            comparison.components(*cells)
            for comparison, *cells in zip(comparisons, *sides, strict=True)
            if n_groups == 1 or any(np.ptp(codes) for codes in cells)  # a constant column has split its groups before
        ]
        if not parts:
            continue
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
