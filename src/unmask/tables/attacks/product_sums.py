"""Sums over people of products over columns: what a mechanism that treats each row alone releases of many people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.tables.attacks.pairing import sum_column_tables
from unmask.tables.grouping import group

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Integers = NDArray[np.integer]

CHUNK = 1 << 22
"""Numbers of one table of pairs that are held at once."""

DEPTHS = 256
"""Steps of a quarter of a nat by which the likelihoods of one person are ranked when the least likely are dropped."""


ENTRIES = 1 << 20
"""Entries of sparse columns that are multiplied at once."""


LOOKUP = 8
"""Entries of sparse columns that are multiplied in the time in which one is looked up in a table."""


class Kernel(NamedTuple):
    """Probabilities of the released cells of one column, given the true cells.

    log_k    : (n_rows, n_columns) log K(r given x), up to a factor of r alone, which no belief depends on
    true     : (n_true_levels,) the row of each true level
    released : (n_released_levels,) the column of each released level; levels of one column are equally likely
    """

    log_k: Floats
    true: Codes
    released: Codes

    @classmethod
    def of(cls, k: Floats) -> Self:
        """Return a row and a column for each level; k : K itself."""
        with np.errstate(divide="ignore"):
            return cls(np.log(k), *(np.arange(n, dtype=np.int32) for n in k.shape))


def density(tables: Sequence[Floats], weight: Floats, true: Codes, released: Codes) -> Floats:
    """Return (J,) sum over people x of weight_x times the product over columns c of K_c[x_c, r_c], for each released
    row r.

    tables : for each column (n_true_levels, n_released_levels); weight : (n,); true : (n, d); released : (J, d) codes

    Exact, and not n J d work: with a row in two parts, r = (a, b), it is sum_v (sum_u K(a given u) W[u, v]) K(b given
    v), u and v the distinct parts of people and W how many have both.

    >>> keep = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> people, rows = np.array([[0, 0], [1, 1]], np.int32), np.array([[0, 0], [0, 1]], np.int32)
    >>> density([keep, keep], np.array([0.5, 0.5]), people, rows)
    array([0.41, 0.09])
    """
    parts = min(_partings(tables, true, released), key=_Parting.work)
    return parts.density(weight)


@dataclass(frozen=True, eq=False)
class _Side:
    """Some columns of people and of released rows: the distinct rows of each, and which of them each row has."""

    tables: list[Floats]
    of_true: Codes
    true: Codes
    of_released: Codes
    released: Codes

    @classmethod
    def of(cls, tables: Sequence[Floats], true: Codes, released: Codes, columns: Sequence[int]) -> _Side:
        """Build the side of the columns with these numbers."""
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
        return len(self.true) * len(self.released) * len(self.tables)

    def kernel(self, parts: NDArray[np.integer]) -> Floats:
        """Return (n_some, n_true) product of the tables, for some of the distinct released parts."""
        total = np.ones((len(parts), len(self.true)))
        for j, table in enumerate(self.tables):
            total *= np.ascontiguousarray(table.T)[self.released[parts, j]][:, self.true[:, j]]
        return total


@dataclass(frozen=True, eq=False)
class _Parting:
    """A parting of the columns in two."""

    a: _Side
    b: _Side

    def work(self) -> int:
        """Return multiplications, about."""
        through = len(self.a.released) * len(self.a.of_true) + len(self.a.of_released) * len(self.b.true)
        return through + self.a.work() + self.b.work()

    def density(self, weight: Floats) -> Floats:
        shape = (len(self.a.true), len(self.b.true))
        weights = scipy.sparse.csr_array((weight, (self.a.of_true, self.b.of_true)), shape=shape)
        sums = np.empty(len(self.a.of_released))
        order = np.argsort(self.a.of_released, kind="stable")
        step = max(1, CHUNK // max(shape))
        for first in range(0, len(self.a.released), step):
            start, stop = np.searchsorted(self.a.of_released[order], (first, first + step))
            rows = order[start:stop]
            reached = np.asarray(self.a.kernel(np.arange(first, min(first + step, len(self.a.released)))) @ weights)
            rows = rows[np.argsort(self.b.of_released[rows], kind="stable")]
            for block in _chunks(rows, max(1, CHUNK // shape[1])):
                distinct, number = np.unique(self.b.of_released[block], return_inverse=True)
                onward = self.b.kernel(distinct)
                sums[block] = np.einsum("ju,ju->j", reached[self.a.of_released[block] - first], onward[number])
        return sums


def _partings(tables: Sequence[Floats], true: Codes, released: Codes) -> Iterator[_Parting]:
    """Yield the columns with most levels on one side, the others on the other."""
    order = sorted(range(len(tables)), key=lambda j: -tables[j].size)
    for cut in range(1, len(order) + 1):
        yield _Parting(*(_Side.of(tables, true, released, columns) for columns in (order[:cut], order[cut:])))


def _chunks(rows: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def fit_mixture_share(first: Floats, second: Floats, weight: Floats, *, steps: int = 200) -> float:
    """Return the share s of `first` that makes rows most likely under s first + (1 - s) second, by
    expectation-maximization; at most n / (n + 1) of n rows.

    first, second : (J,) densities of distinct rows; weight : (J,) how many rows are like each

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
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats, Floats]:
    """Return the candidates of each person and the sum over columns of the tables + log_weight of their class, as
    (indptr, candidate, value); and (n_people,) the share of each person's mass that is left out.

    tables : for each column (n_known_levels, n_released_levels) logarithms; people : (n_people, d), released : (J, d)
    log_weight : (J,) of the classes; klass : (n_candidates,) the class of each
    drop : mass, exp of the sum, of the least likely candidates of a person who are left out, at most
    """
    chunks: list[tuple[NDArray[np.int64], NDArray[np.int32], Floats, Floats]] = []
    log_size = np.log(np.bincount(klass, minlength=len(released)))
    for _, total in sum_column_tables(tables, people, released, width=len(klass), initial=log_weight):
        depth, mass = _depths(total + log_size)
        offset = DEPTHS * np.arange(len(total))[:, None]
        share = np.bincount((depth + offset).ravel(), mass.ravel(), DEPTHS * len(total)).reshape(-1, DEPTHS)
        deeper = np.append(np.cumsum(share[:, ::-1], axis=1)[:, ::-1], np.zeros((len(total), 1)), axis=1)
        n_depths = np.maximum((deeper > drop).sum(axis=1), 1)
        is_listed = ((depth < n_depths[:, None]) & (mass > 0))[:, klass]
        entry = np.flatnonzero(is_listed)
        row, candidate = np.divmod(entry, len(klass))
        chunks.append(
            (
                is_listed.sum(axis=1),
                candidate.astype(np.int32),
                total[row, klass[candidate]],
                deeper[offset[:, 0] // DEPTHS, n_depths],
            )
        )
    length, candidate, value, left_out = (np.concatenate(part) for part in zip(*chunks, strict=True))
    return np.concatenate(([0], np.cumsum(length))), candidate, value, left_out


def _depths(log_mass: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the gap of each to the likeliest of its row, in quarters of a nat, and its share of the row, 0 if
    impossible.
    """
    top = log_mass.max(axis=1, keepdims=True)
    log_gap = np.where(np.isfinite(top), top, 0.0) - log_mass
    mass = np.exp(-log_gap)
    total = mass.sum(axis=1, keepdims=True)
    return np.minimum(4 * log_gap, DEPTHS - 1).astype(np.int64), mass / np.where(total > 0, total, 1.0)


# --- products of sparse columns ---------------------------------------------------------------------------------------


def multiply_columns(
    agree: scipy.sparse.csc_array, left_column: Integers, table: scipy.sparse.csr_array, row: Integers, to: Integers
) -> scipy.sparse.csc_array:
    """Return some columns of one matrix times columns `to` of another, whose rows are rows of a table; no zeros; pairs
    ascend.

    Entries of the first are looked up in the table if they are far fewer than those of the other columns.
    """
    if np.diff(table.indptr).max(initial=0) <= 1:
        return _divided(agree, left_column, table, row, to)
    fits = scipy.sparse.csc_array(table[row])
    length, n_fitting, parts = np.diff(agree.indptr)[left_column], np.diff(fits.indptr)[to], []
    for pair in np.split(np.arange(len(to)), np.flatnonzero(np.diff(np.cumsum(length) // ENTRIES)) + 1):
        part = scipy.sparse.csc_array(agree[:, left_column[pair]])
        if 0 < LOOKUP * part.nnz <= n_fitting[pair].sum():
            part.data *= np.asarray(table[row[part.indices], np.repeat(to[pair], length[pair])]).reshape(-1)
            part.eliminate_zeros()
        else:
            part = part.multiply(fits[:, to[pair]])
        parts.append(part)
    return scipy.sparse.csc_array(scipy.sparse.hstack(parts))


def _divided(
    agree: scipy.sparse.csc_array, left_column: Integers, table: scipy.sparse.csr_array, row: Integers, to: Integers
) -> scipy.sparse.csc_array:
    """Return the same if each row of the table has at most one entry."""
    width, level = table.shape[1], row[agree.indices]
    says = np.diff(table.indptr)[level] > 0
    entry, level = np.flatnonzero(says), level[says]
    first = table.indptr[level]
    previous_column = np.repeat(np.arange(agree.shape[1]), np.diff(agree.indptr))[entry]
    key, wanted = previous_column * width + table.indices[first], left_column.astype(np.int64) * width + to
    column = np.minimum(np.searchsorted(wanted, key), len(wanted) - 1)
    met = wanted[column] == key
    data = agree.data[entry[met]] * table.data[first[met]]
    return scipy.sparse.csc_array((data, (agree.indices[entry[met]], column[met])), shape=(agree.shape[0], len(wanted)))
