"""Pairs of observations and candidates: distinct rows of two tables, and the cells that are compatible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.csr_rows import by_class, expanded, ranges
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, equal_weights, stored
from unmask.tables.column import Column, classes_of
from unmask.tables.grouping import group
from unmask.tables.levels import Levels, Missing, ends_of_sets
from unmask.tables.matching import compatible, contained
from unmask.tables.table import Table

CHUNK, BLOCK = 1 << 22, 1 << 18
"""Pairs of observation and candidate class that are held at once, and that are tested together, in the cache."""

MIN_PAIRS_TO_PART = 1 << 14
"""Pairs up to which a group of observations and classes is not parted further: asking for them costs less."""

MAX_PAIRS_ON_BITS = 1 << 26
"""Pairs of rows up to which all are tested on bits: faster than to separate the rows."""

BIT_SPEEDUP = 16
"""Speed of a test on bits relative to a test of one pair."""


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two tables reduced to their distinct rows on the columns that both have.

    columns     : pairs (observed column, candidate column), in the order of the candidates' table
    observation : (n_targets,) distinct row of each target;        observed : (O, d) its codes
    klass       : (n_candidates,) distinct row of each candidate;  classes  : (J, d) its codes
    members, first : candidates sorted by class; class j is members[first[j]:first[j + 1]]
    """

    columns: tuple[tuple[Column, Column], ...]
    observation: NDArray[np.int32]
    observed: NDArray[np.int32]
    klass: NDArray[np.int32]
    classes: NDArray[np.int32]
    members: NDArray[np.int32]
    first: NDArray[np.int64]

    @property
    def n_candidates(self) -> int:
        """Number of candidate records."""
        return len(self.klass)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Return (J,) candidates in each class."""
        return np.diff(self.first)

    def expand(
        self, row: NDArray[np.int64], klass: NDArray[np.int64], value: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Return entries (observation, class, value), rows ascending, written out as CSR over candidates, ascending in
        each row.
        """
        return expanded(row, klass, value, self.members, self.first, len(self.observed))

    @cached_property
    def representative(self) -> NDArray[np.int32]:
        """Return (n_candidates,) the first candidate of the class of each, see `Posterior`."""
        return self.members[self.first[:-1]][self.klass]

    def merged(
        self, row: NDArray[np.int64], klass: NDArray[np.int64]
    ) -> tuple[Pairing, NDArray[np.int64], NDArray[np.int64]]:
        """Return the same with one observation for all who fit one class alone, which is all that a release says of
        them.

        row, klass : (observation, class) of every pair that fits, by observation then class; what is left of them
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

    def represented(
        self, row: NDArray[np.int64], klass: NDArray[np.int64], value: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Return the same over the first candidate of each class, who stands for all of it."""
        ends = np.arange(len(self.sizes) + 1)
        return expanded(row, klass, value, self.members[self.first[:-1]], ends, len(self.observed))

    def all_alike(self, indptr: NDArray[np.int64], candidate: NDArray[np.int32], *, attack: str) -> Posterior:
        """Return the belief that holds all listed candidates of an observation alike; its status is `scores`."""
        sizes = np.diff(indptr)
        return Posterior(
            indptr=indptr,
            candidate=candidate,
            log_probability=stored(np.repeat(-np.log(sizes), sizes)),
            unlisted=np.zeros(len(sizes)),
            n_unlisted=np.zeros(len(sizes), dtype=np.int64),
            observation=self.observation.astype(np.int64),
            weight=equal_weights(len(self.observation)),
            n_candidates=self.n_candidates,
            log_prior=-float(np.log(self.n_candidates)),
            status="scores",
            provenance={"attack": attack},
        )


def shared_columns(observed: Table, candidates: Table) -> tuple[tuple[Column, Column], ...]:
    """Return the quasi-identifiers that two tables share, by name: (observed column, candidate column), in the order of
    the candidates' table.
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
    """Reduce two tables to distinct rows over the quasi-identifiers that they share, by name.

    Counted tables are refused: they have no rows that a belief could name.
    """
    for table in (observed, candidates):
        table.require_rows()
    return pair_classes(observed, candidates)


def pair_classes(observed: Table, candidates: Table) -> Pairing:
    """Do the same with tables that may be counted; rows of a pairing are combinations then."""
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
        members=by_class(candidate_classes.of_row, len(candidate_classes.sizes)),
        first=np.concatenate(([0], np.cumsum(candidate_classes.sizes))),
    )


@dataclass(frozen=True, eq=False)
class EqualValues:
    """Two columns of exact values, missing and open cells: cells meet if they are equal or one is open. For columns too
    wide for a table.

    observed, candidate : number of the value of each level, counted over both columns; -1 for an open one
    """

    observed: NDArray[np.int32]
    candidate: NDArray[np.int32]

    @classmethod
    def of(cls, observed: Column, candidate: Column, *, missing: Missing = "own") -> EqualValues:
        """Return the numbers of the values of two columns by label."""
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

    def meets(self, first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return whether levels of the first column and of the second go together, one by one."""
        first_value, second_value = self.observed[first], self.candidate[second]
        return np.asarray((first_value == second_value) | (first_value < 0) | (second_value < 0))

    @property
    def opened(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(n_observed_levels,), (n_candidate_levels,) levels that meet every cell."""
        return self.observed < 0, self.candidate < 0

    def components(self, observed: NDArray[np.int32], candidates: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the value of each cell, the left ones first."""
        return np.concatenate([self.observed[observed], self.candidate[candidates]])


@dataclass(frozen=True, eq=False)
class Overlaps:
    """A column that is compared with itself: cells meet if their intervals or sets intersect, or one is open. For
    columns too wide for a table, without masks.

    first, last : (n_levels,) ranks of the ends of each level. Missing cells are below all values; open cells span all.
    members : (n_levels, D) CSR, the values of each level; None if levels are intervals.
    """

    first: NDArray[np.int32]
    last: NDArray[np.int32]
    members: scipy.sparse.csr_array | None

    @classmethod
    def of(cls, levels: Levels, *, missing: Missing) -> Overlaps:
        """Return the ranks of the ends of levels."""
        members = None if levels.kind == "numeric" else levels.members.to_scipy().astype(np.int32)
        ends = np.stack([levels.low, levels.high] if members is None else ends_of_sets(levels))
        values, rank = np.unique(ends, return_inverse=True)
        first, last = np.where(levels.gaps, 0, rank.reshape(2, -1) + 1).astype(np.int32)
        opened = levels.open(missing)
        first[opened], last[opened] = 0, len(values)
        return cls(first, last, members)

    def meets(self, first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return whether levels intersect, one by one."""
        near = (self.first[first] <= self.last[second]) & (self.first[second] <= self.last[first])
        return np.asarray(near & self._common(first, second, near, at_least=np.ones(len(self.first))))

    def contains(self, inner: NDArray[np.int32], outer: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return whether a level holds all of another one or either is open, one by one."""
        near = (self.first[outer] <= self.first[inner]) & (self.last[inner] <= self.last[outer])
        sizes = np.ones(0) if self.members is None else np.diff(self.members.indptr)
        return np.asarray((near & self._common(inner, outer, near, at_least=sizes)) | self.opened[0][inner])

    def _common(
        self, first: NDArray[np.int32], second: NDArray[np.int32], near: NDArray[np.bool_], *, at_least: Any
    ) -> NDArray[np.bool_]:
        """Return whether pairs of near sets have as many common values as `at_least` says of the first one."""
        common = np.ones(len(first), dtype=np.bool_)
        if self.members is not None:
            pairs_to_check = np.flatnonzero(near & (self.first[first] > 0) & (self.first[second] > 0))
            for start in range(0, len(pairs_to_check), BLOCK):
                block = pairs_to_check[start : start + BLOCK]
                n_common = self.members[first[block]].multiply(self.members[second[block]]).sum(axis=1)
                common[block] = n_common >= at_least[first[block]]
        return common

    @property
    def opened(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(n_levels,) levels that meet every cell, for both sides."""
        opened = (self.first == 0) & (self.last > 0)
        return opened, opened

    def components(self, observed: NDArray[np.int32], candidates: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the run of intersecting intervals that holds each cell, the left ones first."""
        codes = np.concatenate([observed, candidates])
        used, place = _numbered(codes, len(self.first))
        order = np.argsort(self.first[used], kind="stable")
        reached = np.maximum.accumulate(self.last[used][order])
        run = np.empty(len(used), dtype=np.int32)
        run[order] = np.concatenate(([0], np.cumsum(self.first[used][order][1:] > reached[:-1])))
        return run[place]


@dataclass(frozen=True, eq=False)
class Runs:
    """A comparison in which each candidate level meets consecutive observed levels, as values and intervals do.

    first, after : (n_candidate_levels,) the first observed level of the run, and the one after it; equal for no level.
    """

    first: NDArray[np.int64]
    after: NDArray[np.int64]
    n_observed: int

    @classmethod
    def of(cls, fit: NDArray[np.bool_]) -> Runs | None:
        """Return the runs of a table of (candidate, observed) levels; None if a candidate level meets several."""
        first, n_levels = fit.argmax(axis=1), fit.sum(axis=1)
        after = fit.shape[1] - fit[:, ::-1].argmax(axis=1)
        is_run = (after - first == n_levels) | (n_levels == 0)
        return cls(first, first + n_levels, fit.shape[1]) if is_run.all() else None

    def components(self, observed: NDArray[np.int32], candidates: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the connected component of each cell, the observed ones first."""
        (ours, i), (theirs, j) = _numbered(observed, self.n_observed), _numbered(candidates, len(self.first))
        start, stop = np.searchsorted(ours, self.first[theirs]), np.searchsorted(ours, self.after[theirs])
        n, joins = len(ours), stop - start > 1
        n_joining = np.cumsum(np.bincount(start[joins], minlength=n) - np.bincount(stop[joins] - 1, minlength=n))
        label = np.concatenate(([0], np.cumsum(n_joining[:-1] == 0)))
        single_labels = label[-1] + 1 + np.arange(len(theirs))
        of_candidate = np.where(stop > start, label[np.minimum(start, n - 1)], single_labels)
        return np.concatenate([label[i], of_candidate[j]])


Fit = NDArray[np.bool_] | EqualValues
"""Which levels of two columns go together: (n_observed_levels, n_candidate_levels), or equal values."""

Comparison = Fit | Overlaps
"""The same, of two columns or of one and itself."""


MIN_WIDE_PAIRS = 1 << 22
"""Pairs of levels from which on columns of exact values, or a column and itself, are compared without a table."""


def fits_of(columns: Iterable[tuple[Column, Column]], *, missing: Missing) -> list[Fit]:
    """Return for each pair of columns which of their levels may be the same person's, see `compatible`.

    Columns of very many exact values on both sides are compared as equal or not: no table.
    """
    return [
        EqualValues.of(observed, candidate, missing=missing)
        if _wide_and_exact(observed.levels, candidate.levels)
        else compatible(observed.levels, candidate.levels, missing=missing)
        for observed, candidate in columns
    ]


def fits_within(columns: Iterable[Column], *, missing: Missing) -> list[Comparison]:
    """Return for each column which of its levels may be the same person's; wide columns have no table."""
    return [
        Overlaps.of(column.levels, missing=missing)
        if len(column.levels) ** 2 > MIN_WIDE_PAIRS and column.levels.sets.any() and not column.levels.masks
        else fits_of([(column, column)], missing=missing)[0]
        for column in columns
    ]


def fits_of_people(columns: Iterable[tuple[Column, Column]], *, missing: Missing) -> list[Fit]:
    """Return the same for pairs of what is known of people, and the release.

    People who are known by sets that the release states are known by the release alone, as no original is there: rows
    fit whose cell contains theirs. An intersection would count rows that fit only some of those who may be meant.
    """
    fits = fits_of(columns := tuple(columns), missing=missing)
    for position, (known_column, cell) in enumerate(columns):
        if (
            known_column.levels.sets.any()
            and known_column.levels.type == cell.levels.type
            and _is_released(known_column, cell)
        ):
            fits[position] = contained(known_column.levels, cell.levels, missing=missing)
    return fits


def _is_released(known_column: Column, cell: Column) -> bool:
    """Return whether the release states each cell that people are known by."""
    released_labels = set(cell.levels.labels)
    return all(known_column.levels.labels[level] in released_labels for level in np.flatnonzero(known_column.counts))


def _wide_and_exact(observed: Levels, candidate: Levels) -> bool:
    """Return whether a table of the levels would be large, and every stated cell of both is one value."""
    alike = observed.type == candidate.type or observed.kind == candidate.kind == "categorical"
    return (
        len(observed) * len(candidate) > MIN_WIDE_PAIRS
        and alike
        and all(not side.sets.any() for side in (observed, candidate))
    )


def pairs_where(pairing: Pairing, fits: Sequence[Comparison]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (observation, class) of every pair that all columns allow, by observation then class; fits : by column."""
    rows, classes = zip(*chunks_where(pairing, fits), strict=True)
    return np.concatenate(rows), np.concatenate(classes)


def chunks_where(pairing: Pairing, fits: Sequence[Comparison]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the pairs of `pairs_where` a chunk at a time, at least one."""
    near = pairs_near(pairing.observed, pairing.classes, fits)
    yield from _on_bits(pairing, [fit for fit in fits if isinstance(fit, np.ndarray)]) if near is None else near


def pairs_near(
    observed: NDArray[np.int32], candidates: NDArray[np.int32], fits: Sequence[Comparison]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]] | None:
    """Return the pairs of rows that all columns allow, by left row, a chunk at a time, asked for among those that
    `separate_rows` leaves; None where all pairs are sooner asked for on bits: where there are few, or these are many.

    left, right : (n, d) codes.
    """
    coded = all(isinstance(fit, np.ndarray) for fit in fits)
    if coded and len(observed) * len(candidates) <= MAX_PAIRS_ON_BITS:
        return None
    lots = _lots(observed, candidates, fits)
    on_bits = coded and BIT_SPEEDUP * lots.size.sum() > len(observed) * len(candidates)
    return None if on_bits else _fitting_pairs(observed, candidates, fits, lots)


class _Lots(NamedTuple):
    """Candidates that observed rows are compared with: `order[first]` and so on, `size` of them; several a row."""

    row: NDArray[np.int64]
    first: NDArray[np.int64]
    size: NDArray[np.int64]
    order: NDArray[np.int64]


def _lots(observed: NDArray[np.int32], candidates: NDArray[np.int32], fits: Sequence[Comparison]) -> _Lots:
    """Return the candidates of each observed row that `separate_rows` leaves in its group."""
    nobody, n = np.zeros(0, dtype=np.int64), 0
    lots = [(nobody,) * 4]
    for mine, candidate_rows, columns in _split_by_open_columns(observed, candidates, fits):
        fits_of_columns = [fits[i] for i in columns]
        ours, theirs = separate_rows(
            observed[np.ix_(mine, columns)], candidates[np.ix_(candidate_rows, columns)], fits_of_columns
        )
        order = np.argsort(theirs, kind="stable")
        first, after = (np.searchsorted(theirs[order], ours, side=side) for side in ("left", "right"))
        lots.append((mine, n + first, after - first, candidate_rows[order]))
        n += len(order)
    row, first, size, order = (np.concatenate(part) for part in zip(*lots, strict=True))
    turn = np.argsort(row, kind="stable")
    return _Lots(row[turn], first[turn], size[turn], order)


def _split_by_open_columns(
    observed: NDArray[np.int32], candidates: NDArray[np.int32], fits: Sequence[Comparison]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Yield left and right rows by which columns are `*`, each with each, and the columns that neither are: `*` joins
    all values of a wide column, and one such cell would have everybody asked about everybody.
    """
    stars = [np.zeros((len(codes), len(fits)), dtype=np.bool_) for codes in (observed, candidates)]
    for i, fit in enumerate(fits):
        if not isinstance(fit, np.ndarray):
            open_observed, open_candidates = fit.opened
            stars[0][:, i], stars[1][:, i] = open_observed[observed[:, i]], open_candidates[candidates[:, i]]
    sides = []
    for open_columns in stars:
        kinds, kind = (
            np.unique(open_columns, axis=0, return_inverse=True)
            if open_columns.any()
            else (open_columns[:1], np.zeros(len(open_columns)))
        )
        sides.append([(observed_open, np.flatnonzero(kind.ravel() == k)) for k, observed_open in enumerate(kinds)])
    for (observed_open, mine), (candidate_open, candidate_rows) in product(*sides):
        yield mine, candidate_rows, np.flatnonzero(~(observed_open | candidate_open))


def _fitting_pairs(
    observed: NDArray[np.int32], candidates: NDArray[np.int32], fits: Sequence[Comparison], lots: _Lots
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the pairs of the lots that fit, by observed row and then by candidate."""
    ends = np.cumsum(np.bincount(lots.row, weights=lots.size, minlength=len(observed)))
    cuts = np.unique(np.searchsorted(ends, np.arange(0, int(ends[-1]) + BLOCK, BLOCK)))
    tests = [_test(fit, observed[:, i], candidates[:, i]) for i, fit in enumerate(fits)]
    for start, stop in pairwise(np.searchsorted(lots.row, [*cuts, len(observed)])):
        part = lots.size[start:stop]
        row = np.repeat(lots.row[start:stop], part)
        column = lots.order[ranges(lots.first[start:stop], part)]
        for fitting in tests:
            good = fitting(row, column)
            row, column = row[good], column[good]
        if len(lots.row) > len(observed):
            turn = np.lexsort((column, row))
            row, column = row[turn], column[turn]
        yield row, column


def _test(
    fit: Comparison, observed: NDArray[np.int32], candidates: NDArray[np.int32]
) -> Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]:
    """Return a test of pairs of rows in one column."""
    if not isinstance(fit, np.ndarray):
        return lambda row, column: fit.meets(observed[row], candidates[column])
    flat, start, candidates = fit.ravel(), observed.astype(np.int64) * fit.shape[1], candidates.copy()
    return lambda row, column: flat[start[row] + candidates[column]]


def _on_bits(
    pairing: Pairing, fits: Sequence[NDArray[np.bool_]]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield pairs by bit sets: for each column and observed level the classes that it allows, eight to a byte."""
    packed = [np.packbits(fit[:, pairing.classes[:, i]], axis=1, bitorder="little") for i, fit in enumerate(fits)]
    step = max(1, 8 * CHUNK // max(len(pairing.classes), 1))
    for start in range(0, len(pairing.observed), step):
        part = pairing.observed[start : start + step]
        bits = packed[0][part[:, 0]]
        for i in range(1, len(packed)):
            bits &= packed[i][part[:, i]]
        row, byte = np.divmod(np.flatnonzero(bits), bits.shape[1])
        number, bit = np.nonzero(np.unpackbits(bits[row, byte][:, None], axis=1, bitorder="little"))
        yield row[number] + start, 8 * byte[number] + bit


def sums_of_columns(
    tables: Sequence[NDArray[np.float64]],
    rows: NDArray[np.int32],
    classes: NDArray[np.int32],
    *,
    width: int,
    initial: NDArray[np.float64] | float = 0.0,
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield the first of some rows, and (n_some, J) the sum over columns of the tables for each row and class.

    tables : for each column (n_row_levels, n_class_levels); width : numbers that the caller holds for each row;
    initial : (J,) what is added for each class
    """
    step = max(1, CHUNK // max(width, 1))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        total = np.zeros((len(part), len(classes))) + initial
        for i, table in enumerate(tables):
            total += table[part[:, i]][:, classes[:, i]]
        yield start, total


def separate_rows(
    observed: NDArray[np.int32], candidates: NDArray[np.int32], fits: Sequence[Comparison]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (n_left,), (n_right,) the group of each row; rows that fit one another are of one group.

    left, right : (n, d) codes. Two rows do not fit if in a column their cells are in different connected components of
    the cells that go together there. Each group is parted so again, by its own cells, as long as that parts it and it
    has more than `MIN_PAIRS_TO_PART` pairs: boxes that were cut out of one another, as Mondrian's, come apart along the
    cuts.
    """
    group_of_row = np.zeros(len(observed) + len(candidates), dtype=np.int64)
    groups, n_groups = [np.arange(len(group_of_row))], 1
    turned = [np.ascontiguousarray(fit.T) if isinstance(fit, np.ndarray) else fit for fit in fits]
    comparisons = [(Runs.of(fit) or fit) if isinstance(fit, np.ndarray) else fit for fit in turned]
    while groups and fits:
        rows = groups.pop()
        ours, theirs = np.split(rows, [np.searchsorted(rows, len(observed))])
        if len(ours) * len(theirs) <= MIN_PAIRS_TO_PART:
            continue
        parts = [
            _components(comparison, observed[ours, j], candidates[theirs - len(observed), j])
            for j, comparison in enumerate(comparisons)
        ]
        part, sizes, _ = group(parts, [int(component.max()) + 1 for component in parts])
        if len(sizes) == 1:
            continue
        group_of_row[rows] = n_groups + part
        n_groups += len(sizes)
        order, ends = rows[np.argsort(part, kind="stable")], np.cumsum(sizes)
        of_left = np.bincount(part[: len(ours)], minlength=len(sizes))
        large_groups = np.flatnonzero(of_left * (sizes - of_left) > MIN_PAIRS_TO_PART)
        groups += [order[ends[number] - sizes[number] : ends[number]] for number in large_groups]
    return group_of_row[: len(observed)], group_of_row[len(observed) :]


def _components(
    comparison: Comparison | Runs, observed: NDArray[np.int32], candidates: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the connected component of each cell of one column, the observed ones first.

    comparison : a table of (candidate, observed) levels, or what takes its place

    Of a run of candidate cells that an observed cell meets only the first is linked to it, and the others to those
    before them.
    """
    if not isinstance(comparison, np.ndarray):
        return comparison.components(observed, candidates)
    (ours, i), (theirs, j) = _numbered(observed, comparison.shape[1]), _numbered(candidates, len(comparison))
    meets = comparison[np.ix_(theirs, ours)]
    if (runs := Runs.of(meets)) is not None:
        return runs.components(i.astype(np.int32), j.astype(np.int32))
    first, linked = np.nonzero(meets[1:] > meets[:-1])
    outermost = np.flatnonzero(meets[0])
    continued = np.flatnonzero((meets[1:] & meets[:-1]).any(axis=1))
    candidates = len(ours) + np.concatenate([first + 1, np.zeros_like(outermost), continued + 1])
    links = np.concatenate([linked, outermost, len(ours) + continued]), candidates
    n = len(ours) + len(theirs)
    graph = scipy.sparse.csr_array((np.ones(len(links[0]), np.int8), links), shape=(n, n))
    label = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
    return np.concatenate([label[i], label[len(ours) + j]])


def _numbered(codes: NDArray[np.int32], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the codes there are, of n, ascending, and the place of each among them."""
    used_codes = np.flatnonzero(np.bincount(codes, minlength=n))
    place = np.empty(n, dtype=np.int64)
    place[used_codes] = np.arange(len(used_codes))
    return used_codes, place[codes]
