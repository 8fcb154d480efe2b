"""Sums over people of products over columns: the density of the rows that an independent mechanism releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.grouping import group
from unmask.tables.attacks.pairing import sum_column_tables

Codes = NDArray[np.int32]

CHUNK = 1 << 22
"""Numbers in one block of a pairwise table."""

N_DEPTHS = 256
"""Number of steps, a quarter of a nat each, by which candidates are ranked before the least likely are dropped."""


MAX_ENTRIES = 1 << 20
"""Entries of sparse columns that are multiplied in one block."""


ENTRIES_PER_LOOKUP = 8
"""Entries of sparse columns that are multiplied in the time of one table look-up."""


class Kernel(NamedTuple):
    """Probabilities of the released cells of one column, given the true cells.

    log_k    : (n_rows, n_columns) log K(r given x), up to a term that depends only on r and cancels in a belief
    true     : (n_true_levels,) row of each true level
    released : (n_released_levels,) column of each released level; levels with the same column are equally likely
    """

    log_k: Floats
    true: Codes
    released: Codes

    @classmethod
    def of(cls, k: Floats) -> Self:
        """Return the kernel with one row and one column per level.

        k : (n_true_levels, n_released_levels) probabilities K
        """
        with np.errstate(divide="ignore"):
            return cls(np.log(k), *(np.arange(n, dtype=np.int32) for n in k.shape))


def density(tables: Sequence[Floats], weight: Floats, true: Codes, released: Codes) -> Floats:
    """Return the density of each released row r: the sum over people x of weight_x times the product over columns c of
    K_c[x_c, r_c].

    tables   : K of each column, (n_true_levels, n_released_levels)
    weight   : (n,) weight of each person
    true     : (n, d) codes of the people
    released : (J, d) codes of the released rows

    The result, (J,), is exact. The columns are split into two groups, r = (a, b), so that the work is less than n J d:
    the density is sum_v (sum_u K(a given u) W[u, v]) K(b given v). u and v are the distinct values of the people in
    each group, and W[u, v] is the weight of the people with both.

    >>> keep = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> people, rows = np.array([[0, 0], [1, 1]], np.int32), np.array([[0, 0], [0, 1]], np.int32)
    >>> density([keep, keep], np.array([0.5, 0.5]), people, rows)
    array([0.41, 0.09])
    """
    order = sorted(range(len(tables)), key=lambda j: -tables[j].size)
    splits = (
        _ColumnSplit(*(_ColumnGroup.of(tables, true, released, columns) for columns in (order[:cut], order[cut:])))
        for cut in range(1, len(order) + 1)
    )
    return min(splits, key=_ColumnSplit.work).density(weight)


@dataclass(frozen=True, eq=False)
class _ColumnGroup:
    """Group of columns, with the distinct rows of people and of the release in these columns.

    tables      : K of each column
    of_true     : (n,) distinct row of each person; true : (n_true, d) codes of the distinct rows
    of_released : (J,) distinct row of each released row; released : (n_released, d) codes of the distinct rows
    """

    tables: list[Floats]
    of_true: Codes
    true: Codes
    of_released: Codes
    released: Codes

    @classmethod
    def of(cls, tables: Sequence[Floats], true: Codes, released: Codes, columns: Sequence[int]) -> _ColumnGroup:
        """Return the group of the columns with these positions."""
        sides = []
        for side, codes in enumerate((true, released)):
            if not columns:
                sides += [np.zeros(len(codes), dtype=np.int32), np.zeros((1, 0), dtype=np.int32)]
                continue
            levels = [tables[j].shape[side] for j in columns]
            of_row, _, distinct = group([np.ascontiguousarray(codes[:, j]) for j in columns], levels)
            sides += [of_row, distinct]
        return cls([tables[j] for j in columns], *sides)

    def work(self) -> int:
        """Return the number of multiplications for the whole kernel."""
        return len(self.true) * len(self.released) * len(self.tables)

    def kernel(self, parts: NDArray[np.integer]) -> Floats:
        """Return (n_parts, n_true) products of the tables, for a selection of distinct released rows."""
        total = np.ones((len(parts), len(self.true)))
        for j, table in enumerate(self.tables):
            total *= np.ascontiguousarray(table.T)[self.released[parts, j]][:, self.true[:, j]]
        return total


@dataclass(frozen=True, eq=False)
class _ColumnSplit:
    """Split of the columns into two groups."""

    a: _ColumnGroup
    b: _ColumnGroup

    def work(self) -> int:
        """Return the approximate number of multiplications."""
        combining = len(self.a.released) * len(self.a.of_true) + len(self.a.of_released) * len(self.b.true)
        return combining + self.a.work() + self.b.work()

    def density(self, weight: Floats) -> Floats:
        """Return the density of each released row, see `density`."""
        shape = (len(self.a.true), len(self.b.true))
        weights = scipy.sparse.csr_array((weight, (self.a.of_true, self.b.of_true)), shape=shape)
        sums = np.empty(len(self.a.of_released))
        order = np.argsort(self.a.of_released, kind="stable")
        step = max(1, CHUNK // max(shape))
        for first in range(0, len(self.a.released), step):
            start, stop = np.searchsorted(self.a.of_released[order], (first, first + step))
            rows = order[start:stop]
            first_sums = np.asarray(self.a.kernel(np.arange(first, min(first + step, len(self.a.released)))) @ weights)
            rows = rows[np.argsort(self.b.of_released[rows], kind="stable")]
            for block in _chunks(rows, max(1, CHUNK // shape[1])):
                distinct, number = np.unique(self.b.of_released[block], return_inverse=True)
                second_kernel = self.b.kernel(distinct)
                sums_of_block = first_sums[self.a.of_released[block] - first]
                sums[block] = np.einsum("ju,ju->j", sums_of_block, second_kernel[number])
        return sums


def _chunks(rows: Integers, size: int) -> Iterator[Integers]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def fit_mixture_share(first: Floats, second: Floats, weight: Floats, *, steps: int = 200) -> float:
    """Return the share s of `first` that maximizes the likelihood of rows under s first + (1 - s) second.

    first, second : (J,) densities of the distinct rows
    weight        : (J,) number of rows that equal each distinct row

    Expectation-maximization with at most `steps` steps. The share of n rows is at most n / (n + 1).

    >>> round(fit_mixture_share(np.array([0.2, 0.0]), np.array([0.1, 0.1]), np.array([1.0, 1.0])), 3)
    0.0
    """
    share, n = 0.5, float(weight.sum())
    for _ in range(steps):
        previous, mixture = share, share * first + (1 - share) * second
        share = float(weight @ (share * first / mixture)) / n
        if abs(share - previous) < 1e-9:
            break
    return min(share, n / (n + 1))


def list_likeliest(
    tables: Sequence[Floats], people: Codes, released: Codes, log_weight: Floats, klass: Codes, *, drop: float
) -> tuple[Integers, NDArray[np.int32], Floats, Floats]:
    """Return the likeliest candidates of each person as (indptr, candidate, value), and the dropped share of the mass.

    The value of a candidate is the sum of the tables over columns, plus the log_weight of its class.

    tables     : logarithms for each column, (n_known_levels, n_released_levels)
    people     : (n_people, d) codes
    released   : (J, d) codes of the classes
    log_weight : (J,) of each class
    klass      : (n_candidates,) class of each candidate
    drop       : largest share of a person's mass, exp of the values, that may be dropped
    """
    chunks: list[tuple[Integers, NDArray[np.int32], Floats, Floats]] = []
    log_size = np.log(np.bincount(klass, minlength=len(released)))
    for _, total in sum_column_tables(tables, people, released, width=len(klass), initial=log_weight):
        depth, mass = _depths(total + log_size)
        offset = N_DEPTHS * np.arange(len(total))[:, None]
        share = np.bincount((depth + offset).ravel(), mass.ravel(), N_DEPTHS * len(total)).reshape(-1, N_DEPTHS)
        deeper = np.append(np.cumsum(share[:, ::-1], axis=1)[:, ::-1], np.zeros((len(total), 1)), axis=1)
        n_depths = np.maximum((deeper > drop).sum(axis=1), 1)
        is_listed = ((depth < n_depths[:, None]) & (mass > 0))[:, klass]
        entry = np.flatnonzero(is_listed)
        row, candidate = np.divmod(entry, len(klass))
        left_out = deeper[np.arange(len(total)), n_depths]
        chunks.append((is_listed.sum(axis=1), candidate.astype(np.int32), total[row, klass[candidate]], left_out))
    length, candidate, value, left_out = (np.concatenate(part) for part in zip(*chunks, strict=True))
    return np.concatenate(([0], np.cumsum(length))), candidate, value, left_out


def _depths(log_mass: Floats) -> tuple[Integers, Floats]:
    """Return the gap of each entry to the largest of its row, in quarters of a nat, and its share of the row's mass.

    The share of an impossible entry is 0.
    """
    top = log_mass.max(axis=1, keepdims=True)
    log_gap = np.where(np.isfinite(top), top, 0.0) - log_mass
    mass = np.exp(-log_gap)
    total = mass.sum(axis=1, keepdims=True)
    return np.minimum(4 * log_gap, N_DEPTHS - 1).astype(np.int64), mass / np.where(total > 0, total, 1.0)


# --- products of sparse columns ---------------------------------------------------------------------------------------


def multiply_columns(
    agree: scipy.sparse.csc_array,
    left_column: NDArray[np.integer],
    table: scipy.sparse.csr_array,
    row: NDArray[np.integer],
    to: NDArray[np.integer],
) -> scipy.sparse.csc_array:
    """Return elementwise products of columns `left_column` of one matrix with columns `to` of another, without zeros.

    The rows of the second matrix are rows of a table: table[row]. Pairs are ascending. If one matrix has far fewer
    entries in its columns, they are looked up in the other one.
    """
    if np.diff(table.indptr).max(initial=0) <= 1:  # a row has one entry, which is in at most one product
        width, level = table.shape[1], row[agree.indices]
        has_entry = np.diff(table.indptr)[level] > 0
        entry, level = np.flatnonzero(has_entry), level[has_entry]
        first = table.indptr[level]
        previous_column = np.repeat(np.arange(agree.shape[1]), np.diff(agree.indptr))[entry]
        key, product_key = previous_column * width + table.indices[first], left_column.astype(np.int64) * width + to
        column = np.minimum(np.searchsorted(product_key, key), len(product_key) - 1)
        is_product = product_key[column] == key
        data = agree.data[entry[is_product]] * table.data[first[is_product]]
        entries = data, (agree.indices[entry[is_product]], column[is_product])
        return scipy.sparse.csc_array(entries, shape=(agree.shape[0], len(product_key)))
    factor = scipy.sparse.csc_array(table[row])
    length, n_factor, parts = np.diff(agree.indptr)[left_column], np.diff(factor.indptr)[to], []
    has_short_factor = 0 < ENTRIES_PER_LOOKUP * n_factor.sum() <= length.sum()
    n_entries = np.cumsum(n_factor if has_short_factor else length)
    for pair in np.split(np.arange(len(to)), np.flatnonzero(np.diff(n_entries // MAX_ENTRIES)) + 1):
        if has_short_factor:
            part = scipy.sparse.csc_array(factor[:, to[pair]])
            part.data *= np.asarray(agree[part.indices, np.repeat(left_column[pair], n_factor[pair])]).reshape(-1)
            part.eliminate_zeros()
            parts.append(part)
            continue
        part = scipy.sparse.csc_array(agree[:, left_column[pair]])
        if 0 < ENTRIES_PER_LOOKUP * part.nnz <= n_factor[pair].sum():
            part.data *= np.asarray(table[row[part.indices], np.repeat(to[pair], length[pair])]).reshape(-1)
            part.eliminate_zeros()
        else:
            part = part.multiply(factor[:, to[pair]])
        parts.append(part)
    return scipy.sparse.csc_array(scipy.sparse.hstack(parts))
