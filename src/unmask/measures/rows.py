"""One pass over the rows of a posterior, in chunks of stored entries, in float64; what measures share is found once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import chunks, segment_max, segment_sum
from unmask.core.posterior import Posterior

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Rows:
    """Some consecutive rows of a posterior, unpacked.

    log_p                 : (n_entries,) log of the belief in each listed candidate
    prior                 : the log of the prior of these, see `log_q`
    indptr                : (n_rows + 1,)
    times                 : (n_entries,) candidates that an entry stands for; None where that is one
    even                  : all rows of the posterior have as many entries, and not few
    unlisted, n_unlisted  : (n_rows,), as in `Posterior`
    n_candidates          : size of the universe
    n_possible            : candidates of positive prior
    prior_none            : prior probability that the target is no candidate
    """

    log_p: NDArray[np.float64]
    prior: Callable[[], NDArray[np.float64]]
    indptr: NDArray[np.int64]
    unlisted: NDArray[np.float64]
    n_unlisted: NDArray[np.int64]
    n_candidates: int
    n_possible: int
    prior_none: float
    times: NDArray[np.int64] | None = None
    even: bool = False

    @cached_property
    def n_entries(self) -> NDArray[np.int64]:
        """(n_rows,) how many entries a row has."""
        return np.diff(self.indptr)

    @cached_property
    def n_listed(self) -> NDArray[np.int64]:
        """(n_rows,) how many candidates are listed."""
        if self.times is None:
            return self.n_entries
        return segment_sum(self.times.astype(np.float64), self.indptr).astype(np.int64)

    @cached_property
    def n_sharing(self) -> NDArray[np.int64]:
        """(n_rows,) how many symbols share the unlisted mass: "none of these" and an unknown number count as one
        symbol.
        """
        return np.where(self.unlisted > 0, np.maximum(self.n_unlisted, 1), 0)

    @cached_property
    def share(self) -> NDArray[np.float64]:
        """(n_rows,) probability of one unlisted symbol, 0 where nothing is unlisted."""
        return self.unlisted / np.maximum(self.n_sharing, 1)

    @cached_property
    def prior_elsewhere(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(n_rows,) each: prior probability of what shares the unlisted mass, and of what is ruled out.

        A known number of candidates has its part of all that are not listed, an unknown number may be any of them, and
        "none of these" stands alone where the prior leaves it something.
        """
        left = self.n_possible - self.n_listed
        rest = np.maximum(1.0 - self.prior_none - self.sum(self.q), np.finfo(np.float64).tiny)
        rest = np.where(left > 0, rest, 0.0)
        known, alone = self.n_unlisted > 0, (self.n_unlisted == 0) & (self.prior_none > 0)
        part = np.where(known, self.n_unlisted / np.maximum(left, 1), np.where(alone, 0.0, 1.0))
        none = np.where(known, 0.0, self.prior_none)
        return rest * part + none, rest * (1.0 - part) + self.prior_none - none

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """(n_entries,) where each entry stands in its row, 0 for the first."""
        return np.arange(len(self.log_p)) - self.spread(self.indptr[:-1])

    @cached_property
    def p(self) -> NDArray[np.float64]:
        """(n_entries,) belief in each listed candidate."""
        return np.exp(self.log_p)

    @cached_property
    def top(self) -> NDArray[np.float64]:
        """(n_rows,) log of the largest belief in a listed candidate, -inf where there is none."""
        return self.max(self.log_p, empty=-np.inf)

    @cached_property
    def log_q(self) -> NDArray[np.float64]:
        """(n_entries,) log of the prior of each listed candidate."""
        return self.prior()

    @cached_property
    def q(self) -> NDArray[np.float64]:
        """(n_entries,) prior of each listed candidate."""
        if self.one_prior is not None:
            return np.broadcast_to(np.exp(self.one_prior), self.log_q.shape)
        return np.exp(self.log_q)

    @property
    def one_prior(self) -> np.float64 | None:
        """The log of the prior that all candidates have; None where they differ."""
        return self.log_q[0] if len(self.log_q) and self.log_q.strides == (0,) else None

    @cached_property
    def ratio(self) -> NDArray[np.float64]:
        """(n_entries,) log of belief over prior of each listed candidate."""
        return self.log_p - self.log_q

    @cached_property
    def log_rest(self) -> NDArray[np.float64]:
        """(n_rows,) log of belief over prior of the unlisted as a whole, 0 where it has no mass."""
        return np.where(self.unlisted > 0, log_ratio(self.unlisted, self.prior_elsewhere[0]), 0.0)

    def sum(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n_rows,) sum over listed candidates of a value of their entries."""
        each = values if self.times is None else values * self.times
        if self.even:
            return np.asarray(each.reshape(len(self.unlisted), -1).sum(axis=1))
        return segment_sum(each, self.indptr)

    def spread(self, values: NDArray[T]) -> NDArray[T]:
        """(n_entries,) the value of the row of each entry."""
        return np.repeat(values, self.n_entries)

    def max(self, values: NDArray[np.float64], *, empty: float = 0.0) -> NDArray[np.float64]:
        """(n_rows,) largest value of the listed candidates, `empty` where there are none."""
        return segment_max(values, self.indptr, empty=empty)


def log_ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """log(part / whole), 0 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(part) - np.log(whole)
    return np.where((part <= 0) & (whole <= 0), 0.0, ratio)


def unpack(belief: Posterior, start: int, stop: int) -> Rows:
    """Rows start..stop of a posterior."""
    entries = slice(belief.indptr[start], belief.indptr[stop])
    log_p = belief.log_probability[entries].astype(np.float64)
    return Rows(
        log_p=log_p,
        prior=lambda: belief.prior_in(start, stop),
        indptr=belief.indptr[start : stop + 1] - belief.indptr[start],
        unlisted=belief.unlisted[start:stop],
        n_unlisted=belief.n_unlisted[start:stop],
        n_candidates=belief.n_candidates,
        n_possible=belief.n_possible,
        prior_none=belief.prior_none,
        times=None if belief.times is None else belief.times[entries],
        even=belief.even,
    )


OfRows = Callable[[Rows], NDArray[np.float64]]
"""(n_rows,) a number for each row."""


def per_rows(belief: Posterior, functions: Sequence[OfRows]) -> list[NDArray[np.float64]]:
    """(n_observations,) by function of the rows, which are unpacked once, chunk by chunk."""
    parts = (unpack(belief, start, stop) for start, stop in chunks(belief.indptr))
    found = [[function(rows) for function in functions] for rows in parts]
    return [np.concatenate(values) for values in zip(*found, strict=True)]


def per_row(belief: Posterior, function: OfRows) -> NDArray[np.float64]:
    """(n_observations,) a function of the rows."""
    return per_rows(belief, (function,))[0]
