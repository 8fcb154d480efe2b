"""Evaluation of measures over the rows of a posterior, in chunks of entries and in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import chunks, segment_max, segment_sum
from unmask.core.posterior import Posterior

T = TypeVar("T", bound=np.generic)
BLOCK_ENTRIES = 1 << 22
"""Numbers in one block, or in one product with a loss, that are held in memory: about 150 MB with temporaries."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Consecutive rows of a posterior, unpacked.

    log_p : (n_entries,) log probability of each listed candidate
    prior : function that returns the log prior of the entries, see `log_q`
    indptr : (n_rows + 1,) first entry of each row
    unlisted, n_unlisted : (n_rows,) see `Posterior`
    n_candidates, n_possible, prior_none : see `Posterior`
    multiplicity : (n_entries,) number of candidates of each entry; None if each has one
    """

    log_p: Floats
    prior: Callable[[], Floats]
    indptr: Integers
    unlisted: Floats
    n_unlisted: Integers
    n_candidates: int
    n_possible: int
    prior_none: float
    multiplicity: Integers | None = None

    @cached_property
    def n_entries(self) -> Integers:
        """Return the number of entries of each row."""
        return np.diff(self.indptr)

    @cached_property
    def n_listed(self) -> Integers:
        """Return the number of listed candidates of each row."""
        if self.multiplicity is None:
            return self.n_entries
        return segment_sum(self.multiplicity.astype(np.float64), self.indptr).astype(np.int64)

    @cached_property
    def n_sharing(self) -> Integers:
        """Return the number of symbols that share the unlisted mass of each row.

        "None of these" and an unknown number of candidates count as one symbol.
        """
        return np.where(self.unlisted > 0, np.maximum(self.n_unlisted, 1), 0)

    @cached_property
    def share(self) -> Floats:
        """Return the probability of one unlisted symbol of each row, 0 if nothing is unlisted."""
        return self.unlisted / np.maximum(self.n_sharing, 1)

    @cached_property
    def prior_elsewhere(self) -> tuple[Floats, Floats]:
        """Return the prior of the symbols that share the unlisted mass of each row, and of the symbols that the row
        excludes.

        A known number of unlisted candidates has its share of the prior of all unlisted candidates. An unknown number
        may be any of them. "None of these" is a separate symbol if it has prior mass.
        """
        n_other = self.n_possible - self.n_listed
        uniform = self.uniform_prior
        prior_listed = self.sum(self.q) if uniform is None else self.n_listed * np.exp(uniform)
        other_prior = np.maximum(1.0 - self.prior_none - prior_listed, np.finfo(np.float64).tiny)
        other_prior = np.where(n_other > 0, other_prior, 0.0)
        is_counted, is_absent = self.n_unlisted > 0, (self.n_unlisted == 0) & (self.prior_none > 0)
        part = np.where(is_counted, self.n_unlisted / np.maximum(n_other, 1), np.where(is_absent, 0.0, 1.0))
        none_prior = np.where(is_counted, 0.0, self.prior_none)
        return other_prior * part + none_prior, other_prior * (1.0 - part) + self.prior_none - none_prior

    @cached_property
    def p(self) -> Floats:
        """Return the belief in each listed candidate."""
        return np.exp(self.log_p)

    @cached_property
    def top(self) -> Floats:
        """Return the log of the largest belief of each row, -inf if no candidate is listed."""
        return self.max(self.log_p, empty=-np.inf)

    @cached_property
    def log_q(self) -> Floats:
        """Return the log of the prior of each listed candidate."""
        return self.prior()

    @cached_property
    def q(self) -> Floats:
        """Return the prior of each listed candidate."""
        if self.uniform_prior is not None:
            return np.broadcast_to(np.exp(self.uniform_prior), self.log_q.shape)
        return np.exp(self.log_q)

    @property
    def uniform_prior(self) -> np.float64 | None:
        """Return the log of the prior of every candidate; None if they differ."""
        return self.log_q[0] if len(self.log_q) and self.log_q.strides == (0,) else None

    @cached_property
    def ratio(self) -> Floats:
        """Return the log of belief over prior of each listed candidate."""
        return self.log_p - self.log_q

    @cached_property
    def log_rest(self) -> Floats:
        """Return the log ratio of belief to prior for the unlisted mass of each row, 0 if it is empty."""
        return np.where(self.unlisted > 0, log_ratio(self.unlisted, self.prior_elsewhere[0]), 0.0)

    def sum(self, values: Floats) -> Floats:
        """Return the sum over the listed candidates of each row."""
        return segment_sum(values if self.multiplicity is None else values * self.multiplicity, self.indptr)

    def spread(self, values: NDArray[T]) -> NDArray[T]:
        """Return for each entry the value of its row."""
        return np.repeat(values, self.n_entries)

    def max(self, values: Floats, *, empty: float = 0.0) -> Floats:
        """Return the largest value of each row, `empty` if no candidate is listed."""
        return segment_max(values, self.indptr, empty=empty)


def log_ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return log(numerator / denominator), 0 if both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(numerator) - np.log(denominator)
    return np.where((numerator <= 0) & (denominator <= 0), 0.0, ratio)


def unpack_rows(belief: Posterior, start: int, stop: int) -> Rows:
    """Return the rows start to stop of a posterior."""
    entries = slice(belief.indptr[start], belief.indptr[stop])
    log_p = belief.log_probability[entries].astype(np.float64)
    return Rows(
        log_p=log_p,
        prior=lambda: belief.prior_of(belief.candidate[entries]),
        indptr=belief.indptr[start : stop + 1] - belief.indptr[start],
        unlisted=belief.unlisted[start:stop],
        n_unlisted=belief.n_unlisted[start:stop],
        n_candidates=belief.n_candidates,
        n_possible=belief.n_possible,
        prior_none=belief.prior_none,
        multiplicity=None if belief.multiplicity is None else belief.multiplicity[entries],
    )


RowFunction = Callable[[Rows], Floats]
"""Function that returns a number for each row."""


def map_functions(belief: Posterior, functions: Sequence[RowFunction]) -> list[Floats]:
    """Return the values of several functions, (n_observations,) each; rows are unpacked once."""
    parts = (unpack_rows(belief, start, stop) for start, stop in chunks(belief.indptr))
    values = [[function(rows) for function in functions] for rows in parts]
    return [np.concatenate(parts) for parts in zip(*values, strict=True)]


def map_rows(belief: Posterior, function: RowFunction) -> Floats:
    """Return the value of a function of each row, (n_observations,)."""
    return map_functions(belief, (function,))[0]


def blocks(indptr: Integers, *, power: int = 1) -> Iterator[tuple[Integers, int]]:
    """Yield the numbers of rows in one block, and its width, which is at most twice the length of each row.

    power : a block holds len(rows) * width ** power numbers, about `BLOCK_ENTRIES`. Empty rows are skipped.

    >>> [(rows.tolist(), width) for rows, width in blocks(np.array([0, 3, 3, 4, 8]))]
    [([2], 1), ([0, 3], 4)]
    """
    length = np.diff(indptr)
    if len(length) and length.min() == length.max():
        widths = length
    else:
        widths = np.exp2(np.ceil(np.log2(np.maximum(length, 1)))).astype(np.int64)
    for width in np.unique(widths[length > 0]).tolist():
        rows = np.flatnonzero((widths == width) & (length > 0))
        step = max(BLOCK_ENTRIES // width**power, 1)
        for first in range(0, len(rows), step):
            yield rows[first : first + step], width


def fill_block(values: NDArray[T], indptr: Integers, rows: Integers, width: int) -> NDArray[T]:
    """Return the entries of rows, (len(rows), width); shorter rows are filled with their first entry."""
    if rows[-1] - rows[0] + 1 == len(rows) and np.all(indptr[rows + 1] - indptr[rows] == width):
        return values[indptr[rows[0]] : indptr[rows[-1] + 1]].reshape(-1, width)
    return values[indptr[rows][:, None] + np.where(mask_block(indptr, rows, width), np.arange(width), 0)]


def mask_block(indptr: Integers, rows: Integers, width: int) -> Booleans:
    """Return a mask of the cells of a block that are entries of their row, (len(rows), width)."""
    return np.arange(width) < (indptr[rows + 1] - indptr[rows])[:, None]
