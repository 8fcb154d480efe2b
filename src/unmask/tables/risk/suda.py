"""Special uniques (SUDA): minimal sample uniques of each record, and its scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.grouping import group, rank_keys
from unmask.tables.criteria.evaluation import Frame
from unmask.tables.table import Table

Flags = NDArray[np.uint8]
"""(n_uniques / 8,) packed booleans."""

MAX_SUBSETS = 5_000
"""Subsets of columns that are tested; with more columns, only small subsets are."""

MAX_COLUMNS = 28
"""Columns up to which the exponent of DIS-SUDA is defined."""

Weighting = Literal["elliot", "ihsn"]
"""Weight of a minimal unique by its size: of Elliot et al. (2005), or of the International Household Survey Network."""


@dataclass(frozen=True, eq=False)
class SpecialUniques:
    """Minimal sample uniques of the rows of a table.

    A set of columns is a minimal sample unique of a row if no other row has the same values in these columns, and
    another row has them in every smaller set.

    Parameters
    ----------
    columns : tuple of str
        Quasi-identifiers.
    score : (n_rows,) array
        Sum of the weights of the minimal uniques, 0 for rows without one.
    n_minimal : (n_rows,) array
        Number of minimal uniques.
    smallest : (n_rows,) array
        Index into `subsets` of the first of the smallest minimal uniques, -1 for none.
    subsets : tuple of tuple of int
        Searched sets of columns, by their positions.
    contribution : (n_rows, n_columns) array
        Share of the score that is due to sets with this column; 0 for rows without a minimal unique.
    n_pairs : int
        Pairs of rows that are alike and unlike all others: half of the rows that one other row fits.
    """

    columns: tuple[str, ...]
    score: Floats
    n_minimal: Integers
    smallest: Integers
    subsets: tuple[tuple[int, ...], ...]
    contribution: Floats
    n_pairs: int

    def name_smallest(self) -> list[str]:
        """Return the columns of the smallest minimal unique of each row; "" for none."""
        names = [" ".join(self.columns[position] for position in subset) for subset in self.subsets]
        return [names[subset] if subset >= 0 else "" for subset in self.smallest.tolist()]

    def estimate_intruder_confidence(self, sampling_fraction: float) -> Floats:
        """Return the DIS-SUDA score: an estimate that a match with the row is correct.

        It ranks rows, and is not the probability of a match: on Adult its mean is 0.06, and the mean of 1/F is 0.24.

        Parameters
        ----------
        sampling_fraction : float
            Rows of the sample divided by people of the population, in (0, 1].

        Returns
        -------
        (n_rows,) array
            Score of each row, 0 for rows without a minimal unique; nan for the others if the table has no pairs.

        Raises
        ------
        UnmaskError
            If the fraction is outside (0, 1], or the table has more than 28 quasi-identifiers.

        References
        ----------
        M. Elliot, A. Manning, "Using DIS to modify the classification of special uniques", 2003.
        """
        if not 0 < sampling_fraction <= 1:
            raise UnmaskError(f"the sampling fraction is {sampling_fraction:g}, expected more than 0 and at most 1")
        if len(self.columns) > MAX_COLUMNS:
            raise UnmaskError(f"{len(self.columns)} quasi-identifiers, expected at most {MAX_COLUMNS} for DIS-SUDA")
        scored = self.score > 0
        result = np.zeros(len(self.score))
        if not scored.any():
            return result
        if self.n_pairs == 0:
            result[scored] = np.nan
            return result
        powers = self.score[scored] ** (1 + (8 - len(self.columns)) / 20)
        scale = 2 * self.n_pairs * (1 - sampling_fraction) / (sampling_fraction * np.sum(1 / powers))
        result[scored] = 1 / (1 + scale / powers)
        return result


def find_special_uniques(table: Table, *, weighting: Weighting = "elliot") -> SpecialUniques:
    """Return the minimal sample uniques of each row of a table.

    Cells are compared as they are written, and no minimal unique of a row contains its missing or suppressed cells. In
    other rows such a cell is a value, or any value if the rule of the table for missing cells is "wildcard": a row is
    then unique in some columns if every other row differs in a column that it states.

    Parameters
    ----------
    table : Table
        Sample. Its quasi-identifiers are searched.
    weighting : {"elliot", "ihsn"}
        Weight of a minimal unique of k of d columns: the product of (d - i) for i from k to the largest size searched,
        or (2^(d-k) - 1) k! (d-k)! / d!.

    Returns
    -------
    SpecialUniques

    References
    ----------
    M. Elliot, A. Manning, K. Mayes, J. Gurd, M. Bane, "SUDA: a program for detecting special uniques", 2005.
    A. Manning, D. Haglin, J. Keane, "A recursive search algorithm for statistical disclosure assessment", 2008.

    Examples
    --------
    >>> table = Table.read({"age": [30, 30, 41, 41], "sex": list("ffmf")}, quasi_identifiers=["age", "sex"])
    >>> uniques = find_special_uniques(table)
    >>> uniques.name_smallest(), uniques.score.tolist()
    (['', '', 'sex', 'age sex'], [0.0, 0.0, 1.0, 1.0])
    """
    classes, n_columns = table.classes, len(table.quasi_identifiers)
    unstated = [column.levels.is_missing | column.levels.suppressed for column in table.quasi_identifiers]
    search = _Search(classes.levels, np.minimum(classes.sizes, 2), unstated, has_wildcards=table.missing == "wildcard")
    candidates = Frame.of(table).sizes if table.missing == "wildcard" else classes.sizes
    largest = _find_largest_size(n_columns)
    weights = _list_weights(n_columns, largest, weighting)
    n_uniques = len(search.unique)
    score, n_minimal = np.zeros(n_uniques), np.zeros(n_uniques, np.int64)
    smallest, contribution = np.full(n_uniques, -1, np.int64), np.zeros((n_uniques, n_columns))
    subsets: list[tuple[int, ...]] = []
    for size in range(1, largest + 1) if n_uniques else ():
        for subset, minimal in search.list_minimal(size):
            score[minimal] += weights[size]
            n_minimal[minimal] += 1
            contribution[np.ix_(minimal, np.array(subset))] += weights[size]
            smallest[minimal] = np.where(smallest[minimal] < 0, len(subsets), smallest[minimal])
            subsets.append(subset)
    contribution /= np.maximum(score, np.finfo(np.float64).tiny)[:, None]
    position = np.full(len(classes.sizes), n_uniques)
    position[search.unique] = np.arange(n_uniques)
    of_row = position[classes.of_row]
    rows = (np.append(values, empty) for values, empty in ((score, 0.0), (n_minimal, 0), (smallest, -1)))
    score_of, minimal_of, smallest_of = (values[of_row] for values in rows)
    return SpecialUniques(
        tuple(column.name for column in table.quasi_identifiers),
        score_of,
        minimal_of,
        smallest_of,
        tuple(subsets),
        np.vstack([contribution, np.zeros(n_columns)])[of_row],
        int(classes.sizes[candidates == 2].sum()) // 2,
    )


def _find_largest_size(n_columns: int) -> int:
    """Return the largest size of subsets such that at most `MAX_SUBSETS` are tested; single columns always are."""
    totals = np.cumsum([math.comb(n_columns, size) for size in range(1, n_columns + 1)])
    return max(1, int(np.count_nonzero(totals <= MAX_SUBSETS)))


def _list_weights(n_columns: int, largest: int, weighting: Weighting) -> list[float]:
    """Return the weight of a minimal unique by its size; the weight of size 0 is not used."""
    sizes = range(n_columns + 1)
    if weighting == "ihsn":
        return [(2 ** (n_columns - k) - 1) / math.comb(n_columns, k) for k in sizes]
    last = min(largest, n_columns - 1)
    return [float(math.prod(n_columns - i for i in range(k, last + 1))) for k in sizes]


class _Search:
    """Uniqueness of combinations of values in subsets of the columns, size after size.

    A combination is unique in a set of columns if it is unique in a subset. So it is minimal if it is unique in no
    subset with one column less. Only flags of the previous size are kept.

    Parameters
    ----------
    levels : (n_combinations, n_columns) array
        Codes of the distinct combinations.
    counts : (n_combinations,) array
        Rows of each combination, at most 2.
    unstated : sequence of (n_levels,) array
        Codes of each column that no minimal unique contains.
    has_wildcards : bool
        Whether the unstated cells of other rows are any value.
    """

    def __init__(
        self, levels: NDArray[np.int32], counts: Integers, unstated: Sequence[Booleans], *, has_wildcards: bool
    ) -> None:
        self.counts = counts.astype(np.float64)
        self.codes = [np.unique(codes, return_inverse=True)[1] for codes in levels.T]
        self.n_values = [int(codes.max(initial=-1)) + 1 for codes in self.codes]
        self.unique = np.flatnonzero(counts == 1)
        is_stated = np.stack([~mask[codes] for codes, mask in zip(levels.T, unstated, strict=True)])
        self.stated = is_stated[:, self.unique]
        self.with_wildcards = np.flatnonzero(~is_stated.all(axis=0)) if has_wildcards else np.zeros(0, np.int64)
        self.patterns, self.of_pattern = np.unique(~is_stated.T[self.with_wildcards], axis=0, return_inverse=True)
        self.previous: dict[tuple[int, ...], Flags] = {}

    def list_minimal(self, size: int) -> Iterator[tuple[tuple[int, ...], Integers]]:
        """Yield each set of columns of a size with positions in `unique` of the combinations that it makes minimal."""
        flags: dict[tuple[int, ...], Flags] = {}
        for subset, key, n_keys in self._pack(size, (), np.zeros(len(self.counts), np.int64), 1):
            in_smaller = np.zeros(-(-len(self.unique) // 8), np.uint8)  # unique in a smaller set, and so in this one
            for smaller in combinations(subset, size - 1) if size > 1 else ():
                in_smaller |= self.previous[smaller]
            is_minimal = self._count(key, n_keys)[key[self.unique]] == 1
            is_minimal &= ~np.unpackbits(in_smaller, count=len(self.unique)).astype(np.bool_)
            for column in subset:
                is_minimal &= self.stated[column]
            minimal = np.flatnonzero(is_minimal)
            if len(self.with_wildcards) and len(minimal):
                minimal = minimal[~self._fit_wildcards(subset, self.unique[minimal])]
                is_minimal = np.zeros(len(self.unique), np.bool_)
                is_minimal[minimal] = True
            flags[subset] = in_smaller | np.packbits(is_minimal)
            yield subset, minimal
        self.previous = flags

    def _fit_wildcards(self, subset: tuple[int, ...], combinations: Integers) -> Booleans:
        """Return a mask of combinations that a combination fits whose cells are any value in a part of the columns."""
        fits = np.zeros(len(combinations), dtype=np.bool_)
        is_open = self.patterns[:, subset]
        for pattern in np.unique(is_open[is_open.any(axis=1)], axis=0):
            others = self.with_wildcards[(is_open == pattern).all(axis=1)[self.of_pattern]]
            columns = [column for column, hidden in zip(subset, pattern, strict=True) if not hidden]
            if not columns:
                return np.ones(len(combinations), dtype=np.bool_)
            both = np.concatenate([others, combinations])
            codes = [self.codes[column][both].astype(np.int32) for column in columns]
            number = group(codes, [self.n_values[column] for column in columns])[0]
            fits |= np.isin(number[len(others) :], number[: len(others)])
        return fits

    def _pack(
        self, size: int, subset: tuple[int, ...], key: Integers, n_keys: int
    ) -> Iterator[tuple[tuple[int, ...], Integers, int]]:
        """Yield sets of columns that begin with a subset, in lexicographic order, with the key of each combination."""
        if len(subset) == size:
            yield subset, key, n_keys
            return
        n_columns = len(self.codes)
        for column in range(subset[-1] + 1 if subset else 0, n_columns - (size - len(subset)) + 1):
            packed, n_packed = key * self.n_values[column] + self.codes[column], n_keys * self.n_values[column]
            if n_packed > 2 * len(key):  # keys become ranks, so that they can be counted in a table
                ranks, sizes, _ = rank_keys(packed, n_packed)
                packed, n_packed = ranks.astype(np.int64), len(sizes)
            yield from self._pack(size, (*subset, column), packed, n_packed)

    def _count(self, key: Integers, n_keys: int) -> Floats:
        """(n_keys,) rows of each key, two for a combination of several rows."""
        return np.asarray(np.bincount(key, self.counts, n_keys), dtype=np.float64)
