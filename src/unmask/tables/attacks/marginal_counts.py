"""The margins of a release beside those of a reference table: how many rows agree with a person in some columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import prod
from typing import NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.tables.column import Column, classes_of
from unmask.tables.grouping import distinct
from unmask.tables.levels import Missing
from unmask.tables.matching import compatible

COUNTABLE = 1 << 18
"""Cells of a margin up to which all are counted; of a larger one, only those asked for."""

Subset = tuple[int, ...]
"""Places of columns."""


def shares(
    reference: Column, other_columns: Sequence[Column], *, bins: int, missing: Missing = "own"
) -> list[scipy.sparse.csr_array]:
    """Return (n_levels, n_bins) shares of each level in each bin, for the reference and each other column.

    Numbers are cut at the reference's quantiles into at most `bins`; of others, each value is a bin. A cell that holds
    several values is spread over their bins as the reference is, and an open one (`Levels.open`) over all of them; one
    that no person there fits, or a missing one, is a value of its own.
    """
    columns = tuple(dict.fromkeys((reference, *other_columns)))
    numeric = all(column.levels.kind == "numeric" for column in columns)
    parts = _by_size(reference, columns, bins, missing) if numeric else _by_value(reference, columns, missing)
    width = 1 + max(int(bin_.max(initial=0)) for _, bin_, _ in parts)
    shares_of_level = {
        column: _normalized(scipy.sparse.csr_array((weight, (level, bin_)), shape=(len(column.levels), width)))
        for column, (level, bin_, weight) in zip(columns, parts, strict=True)
    }
    return [shares_of_level[column] for column in (reference, *other_columns)]


Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Level, bin, weight."""


def _by_size(reference: Column, columns: Sequence[Column], bins: int, missing: Missing) -> list[Entries]:
    finest = reference.levels
    for column in columns:
        finest = finest.on_scale_of(column.levels)
    scaled = [column.levels.on_scale_of(finest) for column in columns]
    with np.errstate(invalid="ignore"):  # nan in the middle of a cell that is open
        middle = np.clip((scaled[0].low + scaled[0].high) / 2, -1e300, 1e300)
    is_stated = (reference.counts > 0) & ~np.isnan(middle)
    middle, n = middle[is_stated], reference.counts[is_stated]
    quantiles = np.arange(1, bins) / bins
    cuts = np.unique(np.quantile(middle, quantiles, weights=n, method="inverted_cdf")) if len(n) else middle
    people = np.bincount(np.searchsorted(cuts, middle), weights=n, minlength=len(cuts) + 1)
    people = np.append(people, reference.counts[reference.levels.gaps].sum()).astype(np.float64)
    bins_of_values, entries = np.arange(len(cuts) + 2), list[Entries]()
    for levels in scaled:
        first, last = np.searchsorted(cuts, levels.low), np.searchsorted(cuts, levels.high)
        first[np.isnan(levels.low)] = last[np.isnan(levels.low)] = last[levels.open(missing)] = len(cuts) + 1
        first[levels.open(missing)] = 0
        inside = (first[:, None] <= bins_of_values) & (bins_of_values <= last[:, None])
        level, bin_ = (place.astype(np.int64) for place in np.nonzero(inside))
        entries.append((level, bin_, np.asarray(people[bin_] + 1e-9, dtype=np.float64)))
    return entries


def _by_value(reference: Column, columns: Sequence[Column], missing: Missing) -> list[Entries]:
    vague = reference.levels.open(missing)
    number = {
        label: bin_of_level for bin_of_level, label in enumerate(reference.levels.labels) if not vague[bin_of_level]
    }
    entries = []
    for column in columns:
        levels = column.levels
        is_exact = levels.atomic | levels.gaps | np.array([label in number for label in levels.labels], dtype=np.bool_)
        is_exact &= ~levels.open(missing)
        wide = np.flatnonzero(~is_exact)
        fits = compatible(reference.levels, levels.select(wide), missing=missing) & ~vague[:, None]
        exact = np.concatenate([np.flatnonzero(is_exact), wide[~fits.any(axis=0)]])
        bin_of_level = [number.setdefault(levels.labels[exact_level], len(number)) for exact_level in exact]
        bin_, level_number = np.nonzero(fits)
        level = np.concatenate([exact, wide[level_number]])
        weight = np.concatenate([np.ones(len(exact)), reference.counts[bin_] + 1e-9])
        entries.append((level, np.concatenate([np.array(bin_of_level, dtype=np.int64), bin_]), weight))
    return entries


def _normalized(share: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Return rows that sum to 1."""
    share.sort_indices()
    share.data /= np.repeat(share.sum(axis=1), np.diff(share.indptr))
    return share


@dataclass(frozen=True, eq=False)
class Margins:
    """Numbers of rows of some tables that agree with people in sets of columns.

    general, share : the columns of the reference, and the bins of each, see `shares`
    at, of_row     : (n_columns, n) the bins of each different person, and (n_people,) which of these each is
    tables         : whose rows are counted
    """

    general: Sequence[Column]
    share: Sequence[scipy.sparse.csr_array]
    bins: NDArray[np.int64]
    of_row: NDArray[np.integer]
    tables: Sequence[_Rows]
    counted: dict[Subset, list[NDArray[np.float64]]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        known_columns: Sequence[Column],
        general: Sequence[Column],
        tables: Sequence[Sequence[Column]],
        *,
        bins: int,
    ) -> Self:
        """Count from the same columns, in one order, of people, of the reference and of each table."""
        columns_of_each = zip(general, *tables, known_columns, strict=True)
        share, *of_tables, of_known = zip(
            *(shares(first, others_columns, bins=bins) for first, *others_columns in columns_of_each), strict=True
        )
        different = classes_of(known_columns)
        bins_of_people = np.stack(
            [bins_of(share_of_known)[different.levels[:, j]] for j, share_of_known in enumerate(of_known)]
        )
        sides = [_Rows.of(*side) for side in zip(tables, of_tables, strict=True)]
        return cls(general, share, bins_of_people, different.of_row, sides)

    def log_shares(
        self, names: Collection[str] | None = None, *, columns: int = 3, sets: int = 500
    ) -> list[NDArray[np.float64]]:
        """Return (n_people,) of each table: the mean over sets of columns of ln((c + 1/2) / (n + 1)), c of its n rows
        agreeing with a person in them; expected, where cells hold several values.

        names : of the columns that are known; None: all. columns, sets : as of `MarginalRatio`
        """
        positions = [j for j, item in enumerate(self.general) if names is None or item.name in names]
        general, share = [self.general[j] for j in positions], [self.share[j] for j in positions]
        chosen = [
            tuple(positions[j] for j in item) for item in subsets(general, share, largest=columns, max_subsets=sets)
        ]
        for item in chosen:
            if item not in self.counted:
                self.counted[item] = [rows.log_share(self.bins, item) for rows in self.tables]
        means = (np.mean([self.counted[item][i] for item in chosen], axis=0) for i in range(len(self.tables)))
        return [log_share[self.of_row] for log_share in means]


class _Rows(NamedTuple):
    """The rows of a table in classes: their columns, and how many rows each class has and there are."""

    columns: Sequence[_BinnedColumn]
    sizes: NDArray[np.int64]
    n: int

    @classmethod
    def of(cls, columns: Sequence[Column], share: Sequence[scipy.sparse.csr_array]) -> Self:
        alike = classes_of(columns)
        binned_columns = [_BinnedColumn.of(*pair) for pair in zip(alike.levels.T, share, strict=True)]
        return cls(binned_columns, alike.sizes, len(columns[0].codes))

    def log_share(self, bins: NDArray[np.int64], subset: Subset) -> NDArray[np.float64]:
        """Return (n,) ln((c + 1/2) / (n + 1)) of each person in some columns."""
        return np.log((_agreeing(self.columns, self.sizes, bins, subset) + 0.5) / (self.n + 1))


class _BinnedColumn(NamedTuple):
    """A column of classes of rows: the bin or the level of each class.

    spread : None if every cell lies in one bin. Otherwise (n_bins, n_levels) the share of each level in each bin.
    """

    code: NDArray[np.int64]
    size: int
    bins: int
    spread: scipy.sparse.csr_array | None

    @classmethod
    def of(cls, codes: NDArray[np.int32], share: scipy.sparse.csr_array) -> _BinnedColumn:
        levels, bins = share.shape
        if np.all(np.diff(share.indptr) == 1):
            return cls(bins_of(share)[codes], bins, bins, None)
        return cls(codes.astype(np.int64), levels, bins, share.T.tocsr())


def _agreeing(
    columns: Sequence[_BinnedColumn], sizes: NDArray[np.int64], bins: NDArray[np.int64], subset: Subset
) -> NDArray[np.float64]:
    """Return (n_people,) the rows that agree with each in these columns; sizes : (n_classes,) rows of each class."""
    chosen = [columns[j] for j in subset]
    cells = prod(column.size for column in chosen)
    key, weight = distinct(
        _key([column.code for column in chosen], [column.size for column in chosen]), cells, weight=sizes
    )
    for column in chosen:  # the first column is read, and goes to the end
        n_rest = cells // column.size
        level, rest_key = np.divmod(key, n_rest)
        if column.spread is not None:
            spread = (
                column.spread @ scipy.sparse.csr_array((weight, (level, rest_key)), shape=(column.size, n_rest))
            ).tocoo()
            level, rest_key, weight = spread.row.astype(np.int64), spread.col.astype(np.int64), spread.data
        key, cells = rest_key * column.bins + level, n_rest * column.bins
    return _equal(key, weight, _key(bins[list(subset)], [column.bins for column in chosen]), cells)


def bins_of(share: scipy.sparse.csr_array) -> NDArray[np.int64]:
    """Return (n_levels,) the bin that has most of each level."""
    if np.all(np.diff(share.indptr) == 1):  # as is usual, and scipy would walk from level to level
        return share.indices.astype(np.int64)
    return np.asarray(share.argmax(axis=1), dtype=np.int64).reshape(-1)


def own_bins(n: int) -> scipy.sparse.csr_array:
    """Return the shares of n levels each of which is a bin."""
    return scipy.sparse.csr_array((np.ones(n), np.arange(n), np.arange(n + 1)), shape=(n, n))


def _key(codes: Sequence[NDArray[np.int64]] | NDArray[np.int64], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return one number for the codes of some columns, the last one fastest."""
    key = np.zeros_like(codes[0])
    for code, size in zip(codes, sizes, strict=True):
        key = key * size + code
    return key


def _equal(
    key: NDArray[np.int64], weight: NDArray[np.number], wanted: NDArray[np.int64], cells: int
) -> NDArray[np.float64]:
    """Return the weight of each key asked for, of so many keys."""
    if cells <= COUNTABLE:
        return np.asarray(np.bincount(key, weight, minlength=cells)[wanted])
    order = np.argsort(key)
    key, upto = key[order], np.concatenate([[0.0], np.cumsum(weight[order])])
    return np.asarray(upto[np.searchsorted(key, wanted, side="right")] - upto[np.searchsorted(key, wanted)])


def subsets(
    columns: Sequence[Column], share: Sequence[scipy.sparse.csr_array], *, largest: int, max_subsets: int
) -> list[Subset]:
    """Return all sets of 1 to `largest` columns; of more than `most`, those with the pairs that say most of one
    another.
    """
    all_subsets = [item for size in range(1, largest + 1) for item in combinations(range(len(columns)), size)]
    if len(all_subsets) <= max_subsets:
        return all_subsets
    code = [bins_of(item)[column.codes] for column, item in zip(columns, share, strict=True)]
    pairs = {(i, j): mutual_information(code[i], code[j]) for i, j in combinations(range(len(columns)), 2)}
    strength = [max((pairs[pair] for pair in combinations(item, 2)), default=np.inf) for item in all_subsets]
    return [all_subsets[position] for position in sorted(np.argsort(-np.array(strength), kind="stable")[:max_subsets])]


def mutual_information(
    first: NDArray[np.int64], second: NDArray[np.int64], *, weight: NDArray[np.int64] | None = None
) -> float:
    """Return the mutual information of two columns of bins, in nats: sum p log(p / (q q')); 0 of no rows. weight : rows
    that each is; 1 when left out

    >>> round(mutual_information(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])), 4)
    0.6931
    """
    if not len(first):
        return 0.0
    width = int(second.max()) + 1
    joint = distinct(first * width + second, (int(first.max()) + 1) * width, weight=weight)[1]
    return float(sum(_entropy(np.bincount(side, weight)) for side in (first, second)) - _entropy(joint))


def _entropy(counts: NDArray[np.number]) -> float:
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log(p)).sum())
