"""Marginal counts of a release and of a reference table: rows that agree with a person in some columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import prod
from typing import NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.grouping import count_distinct, pack
from unmask.tables.attacks.comparisons import find_compatible_levels
from unmask.tables.attacks.pairing import shared_columns
from unmask.tables.column import Column, classes_of
from unmask.tables.levels import Missing
from unmask.tables.table import Table

MAX_COUNTED_CELLS = 1 << 18
"""Largest number of cells of a margin that are all counted. For a larger margin, only the needed cells are counted."""

Subset = tuple[int, ...]
"""Positions of columns."""


def bin_shares(
    reference: Column, other_columns: Sequence[Column], *, bins: int, missing: Missing = "own"
) -> list[scipy.sparse.csr_array]:
    """Return (n_levels, n_bins) shares of each level in each bin, for the reference and each other column.

    Numbers are cut at the quantiles of the reference into at most `bins` bins. Every other value is a bin. A cell with
    several values is spread over their bins in proportion to the reference; an open cell (`Levels.open`) over all bins.
    A cell that is compatible with no value of the reference, or is missing, is a bin of its own.
    """
    columns = tuple(dict.fromkeys((reference, *other_columns)))
    numeric = all(column.levels.kind == "numeric" for column in columns)
    parts = _bin_numbers(reference, columns, bins, missing) if numeric else _bin_values(reference, columns, missing)
    width = 1 + max(int(bin_.max(initial=0)) for _, bin_, _ in parts)
    shares_of_level = {
        column: _normalized(scipy.sparse.csr_array((weight, (level, bin_)), shape=(len(column.levels), width)))
        for column, (level, bin_, weight) in zip(columns, parts, strict=True)
    }
    return [shares_of_level[column] for column in (reference, *other_columns)]


Entries = tuple[Integers, Integers, Floats]
"""Level, bin, weight."""


def _bin_numbers(reference: Column, columns: Sequence[Column], bins: int, missing: Missing) -> list[Entries]:
    """Return the entries of numeric columns, cut at quantiles of the reference."""
    finest = reference.levels
    for column in columns:
        finest = finest.on_scale_of(column.levels)
    scaled = [column.levels.on_scale_of(finest) for column in columns]
    with np.errstate(invalid="ignore"):  # an open cell has the middle nan
        middle = np.clip((scaled[0].low + scaled[0].high) / 2, -1e300, 1e300)
    is_stated = (reference.counts > 0) & ~np.isnan(middle)
    middle, n = middle[is_stated], reference.counts[is_stated]
    quantiles = np.arange(1, bins) / bins
    cuts = np.unique(np.quantile(middle, quantiles, weights=n, method="inverted_cdf")) if len(n) else middle
    people = np.bincount(np.searchsorted(cuts, middle), weights=n, minlength=len(cuts) + 1)
    people = np.append(people, reference.counts[reference.levels.is_missing].sum()).astype(np.float64)
    bins_of_values, entries = np.arange(len(cuts) + 2), list[Entries]()
    for levels in scaled:
        first, last = np.searchsorted(cuts, levels.low), np.searchsorted(cuts, levels.high)
        first[np.isnan(levels.low)] = last[np.isnan(levels.low)] = last[levels.open(missing)] = len(cuts) + 1
        first[levels.open(missing)] = 0
        overlaps = (first[:, None] <= bins_of_values) & (bins_of_values <= last[:, None])
        level, bin_ = (place.astype(np.int64) for place in np.nonzero(overlaps))
        entries.append((level, bin_, np.asarray(people[bin_] + 1e-9, dtype=np.float64)))
    return entries


def _bin_values(reference: Column, columns: Sequence[Column], missing: Missing) -> list[Entries]:
    """Return the entries of columns whose values are bins."""
    vague = reference.levels.open(missing)
    number = {label: place for place, label in enumerate(reference.levels.labels) if not vague[place]}
    entries = []
    for column in columns:
        levels = column.levels
        is_bin = np.array([label in number for label in levels.labels], dtype=np.bool_)
        is_exact = (levels.atomic | levels.is_missing | is_bin) & ~levels.open(missing)
        wide = np.flatnonzero(~is_exact)
        bin_, level_number = find_compatible_levels(reference.levels, levels.select(wide), missing=missing)
        bin_, level_number = bin_[~vague[bin_]], level_number[~vague[bin_]]
        has_bin = np.bincount(level_number, minlength=len(wide)) > 0
        exact = np.concatenate([np.flatnonzero(is_exact), wide[~has_bin]])
        bin_of_level = [number.setdefault(levels.labels[exact_level], len(number)) for exact_level in exact]
        level = np.concatenate([exact, wide[level_number]])
        weight = np.concatenate([np.ones(len(exact)), reference.counts[bin_] + 1e-9])
        entries.append((level, np.concatenate([np.array(bin_of_level, dtype=np.int64), bin_]), weight))
    return entries


def _normalized(share: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Return the matrix with rows that sum to 1."""
    share.sort_indices()
    share.data /= np.repeat(share.sum(axis=1), np.diff(share.indptr))
    return share


@dataclass(frozen=True, eq=False)
class Margins:
    """Marginal counts of tables: numbers of rows that agree with people in sets of columns.

    general, share : the columns of the reference, and their bins, see `bin_shares`
    bins   : (n_columns, n) bins of each distinct person
    of_row : (n_people,) distinct person of each person
    tables : tables whose rows are counted
    cached_shares : result of `_Rows.log_share` for each table, by set of columns
    """

    general: Sequence[Column]
    share: Sequence[scipy.sparse.csr_array]
    bins: Integers
    of_row: NDArray[np.integer]
    tables: Sequence[_Rows]
    cached_shares: dict[Subset, list[Floats]] = field(default_factory=dict)

    @classmethod
    def of(cls, people: Table, tables: Sequence[Table], reference: Table, *, bins: int = 32) -> Self:
        """Return the margins of tables, over the columns that people share with the first table."""
        known_columns, _ = zip(*shared_columns(people, tables[0]), strict=True)
        general, *rows = ([side.column(column.name) for column in known_columns] for side in (reference, *tables))
        columns_of_each = zip(general, *rows, known_columns, strict=True)
        shares = (bin_shares(first, further_columns, bins=bins) for first, *further_columns in columns_of_each)
        share, *of_tables, of_known = zip(*shares, strict=True)
        distinct = classes_of(known_columns)
        bins_of_people = [largest_bins(known)[codes] for known, codes in zip(of_known, distinct.levels.T, strict=True)]
        sides = [_Rows.of(*side) for side in zip(rows, of_tables, strict=True)]
        return cls(general, share, np.stack(bins_of_people), distinct.of_row, sides)

    def log_shares(self, names: Collection[str] | None = None, *, columns: int = 3, sets: int = 500) -> list[Floats]:
        """Return (n_people,) for each table: the mean over sets of columns of ln((c + 1/2) / (n + 1)).

        c is the number of the n rows that agree with the person in these columns; its expectation if cells have several
        values.

        names : names of the known columns; None for all
        columns, sets : as in `MarginalRatio`
        """
        positions = [j for j, item in enumerate(self.general) if names is None or item.name in names]
        general, share = [self.general[j] for j in positions], [self.share[j] for j in positions]
        chosen = [
            tuple(positions[j] for j in item)
            for item in list_subsets(general, share, largest=columns, max_subsets=sets)
        ]
        for item in chosen:
            if item not in self.cached_shares:
                self.cached_shares[item] = [rows.log_share(self.bins, item) for rows in self.tables]
        means = (np.mean([self.cached_shares[item][i] for item in chosen], axis=0) for i in range(len(self.tables)))
        return [log_share[self.of_row] for log_share in means]


class _Rows(NamedTuple):
    """Rows of a table in equivalence classes: binned columns, class sizes, and number of rows."""

    columns: Sequence[_BinnedColumn]
    sizes: Integers
    n: int

    @classmethod
    def of(cls, columns: Sequence[Column], share: Sequence[scipy.sparse.csr_array]) -> Self:
        classes = classes_of(columns)
        binned_columns = [_BinnedColumn.of(*pair) for pair in zip(classes.levels.T, share, strict=True)]
        return cls(binned_columns, classes.sizes, len(columns[0].codes))

    def log_share(self, bins: Integers, subset: Subset) -> Floats:
        """Return (n,) ln((c + 1/2) / (n + 1)) of each person for one set of columns."""
        return np.log((self._count_agreeing_rows(bins, subset) + 0.5) / (self.n + 1))

    def _count_agreeing_rows(self, bins: Integers, subset: Subset) -> Floats:
        """Return (n_people,) the number of rows that agree with each person in these columns."""
        chosen = [self.columns[j] for j in subset]
        cells = prod(column.size for column in chosen)
        key, _ = pack([column.code for column in chosen], [column.size for column in chosen])
        key, weight = count_distinct(key, cells, weight=self.sizes)
        for column in chosen:  # the first column is decoded and moves to the end
            n_other_cells = cells // column.size
            level, other_key = np.divmod(key, n_other_cells)
            if column.spread is not None:
                shape = column.size, n_other_cells
                spread = (column.spread @ scipy.sparse.csr_array((weight, (level, other_key)), shape=shape)).tocoo()
                level, other_key, weight = spread.row.astype(np.int64), spread.col.astype(np.int64), spread.data
            key, cells = other_key * column.bins + level, n_other_cells * column.bins
        wanted_keys, _ = pack([bins[j] for j in subset], [column.bins for column in chosen])
        return _look_up(key, weight, wanted_keys, cells)


class _BinnedColumn(NamedTuple):
    """Column of classes of rows: the bin or the level of each class.

    spread : None if every cell lies in one bin. Otherwise (n_bins, n_levels) the share of each level in each bin.
    """

    code: Integers
    size: int
    bins: int
    spread: scipy.sparse.csr_array | None

    @classmethod
    def of(cls, codes: NDArray[np.int32], share: scipy.sparse.csr_array) -> _BinnedColumn:
        levels, bins = share.shape
        if np.all(np.diff(share.indptr) == 1):
            return cls(largest_bins(share)[codes], bins, bins, None)
        return cls(codes.astype(np.int64), levels, bins, share.T.tocsr())


def largest_bins(share: scipy.sparse.csr_array) -> Integers:
    """Return (n_levels,) the bin with the largest share of each level."""
    if np.all(np.diff(share.indptr) == 1):  # the usual case; argmax of SciPy is slow
        return share.indices.astype(np.int64)
    return np.asarray(share.argmax(axis=1), dtype=np.int64).reshape(-1)


def identity_bins(n: int) -> scipy.sparse.csr_array:
    """Return the shares of n levels that are one bin each."""
    return scipy.sparse.csr_array((np.ones(n), np.arange(n), np.arange(n + 1)), shape=(n, n))


def _look_up(key: Integers, weight: NDArray[np.number], wanted_keys: Integers, cells: int) -> Floats:
    """Return the total weight of each wanted key.

    cells : number of possible keys
    """
    if cells <= MAX_COUNTED_CELLS:
        return np.asarray(np.bincount(key, weight, minlength=cells)[wanted_keys])
    order = np.argsort(key)
    key, cumulative = key[order], np.concatenate([[0.0], np.cumsum(weight[order])])
    return np.asarray(
        cumulative[np.searchsorted(key, wanted_keys, side="right")] - cumulative[np.searchsorted(key, wanted_keys)]
    )


def list_subsets(
    columns: Sequence[Column], share: Sequence[scipy.sparse.csr_array], *, largest: int, max_subsets: int
) -> list[Subset]:
    """Return all sets of 1 to `largest` columns.

    If they are more than `max_subsets`, those that contain the pairs with the largest mutual information.
    """
    all_subsets = [item for size in range(1, largest + 1) for item in combinations(range(len(columns)), size)]
    if len(all_subsets) <= max_subsets:
        return all_subsets
    code = [largest_bins(item)[column.codes] for column, item in zip(columns, share, strict=True)]
    pairs = {(i, j): mutual_information(code[i], code[j]) for i, j in combinations(range(len(columns)), 2)}
    strength = [max((pairs[pair] for pair in combinations(item, 2)), default=np.inf) for item in all_subsets]
    return [all_subsets[position] for position in sorted(np.argsort(-np.array(strength), kind="stable")[:max_subsets])]


def mutual_information(first: Integers, second: Integers, *, weight: Integers | None = None) -> float:
    """Return the mutual information of two columns of bins, in nats: sum p log(p / (q q')); 0 without rows.

    weight : number of rows for each entry; 1 if omitted

    >>> round(mutual_information(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])), 4)
    0.6931
    """
    if not len(first):
        return 0.0
    width = int(second.max()) + 1
    joint = count_distinct(first * width + second, (int(first.max()) + 1) * width, weight=weight)[1]
    return float(sum(_entropy(np.bincount(side, weight)) for side in (first, second)) - _entropy(joint))


def _entropy(counts: NDArray[np.number]) -> float:
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log(p)).sum())
