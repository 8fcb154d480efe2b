"""Decision problems: a loss, the possible answers of the adversary, and comparisons of pairs of candidates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import chunks, segment_sum
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.tolerances import LOSS_TIE
from unmask.core.truth import Truth
from unmask.measures.posterior_rows import BLOCK_ENTRIES, blocks, fill_block, mask_block

MAX_PAIR_CANDIDATES = 1 << 15
"""Largest number of candidates in a row of which all pairs are compared: a billion losses."""

MATRIX_SPEEDUP = 8
"""Number of pairs that a matrix product over all candidates computes in the time of one lookup."""

PairLoss = Callable[[Integers, Integers], Floats]
"""Function from answers and truths, both numbers of candidates that broadcast, to losses."""


@dataclass(frozen=True, eq=False)
class ExpandedRows:
    """Consecutive rows of a posterior in which unlisted candidates with a share of the mass have entries, too.

    start : number of the first row
    p, candidate : (n_entries,) probability and number of each candidate
    indptr : (n_rows + 1,) first entry of each row
    none_mass : (n_rows,) mass of "none of these", and of an unknown number of unlisted candidates
    """

    start: int
    p: Floats
    candidate: NDArray[np.int32]
    indptr: Integers
    none_mass: Floats

    @property
    def stop(self) -> int:
        """Return the number of the row after the last row of the part."""
        return self.start + len(self.none_mass)

    @property
    def length(self) -> Integers:
        """Return the number of candidates of each row."""
        return np.diff(self.indptr)

    @property
    def mass(self) -> Floats:
        """Return the mass on candidates of each row; 1 for a row without any, to allow division."""
        mass = self.sum(self.p)
        return np.where(mass > 0, mass, 1.0)

    def sum(self, values: Floats) -> Floats:
        """Return the sum over the entries of each row."""
        return segment_sum(values, self.indptr)


def expand_rows(belief: Posterior) -> Iterator[ExpandedRows]:
    """Yield all rows in parts of about `BLOCK_ENTRIES` entries; a longer row is a part."""
    is_shared = shares_unlisted(belief)
    ends = np.cumsum(np.where(is_shared, belief.n_candidates, belief.row_length))
    for start, stop in chunks(np.concatenate(([0], ends)), BLOCK_ENTRIES):
        yield _expand_part(belief, start, stop, is_shared[start:stop])


def shares_unlisted(belief: Posterior) -> Booleans:
    """Return a mask of the rows whose unlisted mass is shared by a known number of candidates."""
    return (belief.n_unlisted > 0) & (belief.unlisted > 0) & (belief.row_length < belief.n_candidates)


def _expand_part(belief: Posterior, start: int, stop: int, is_shared: Booleans) -> ExpandedRows:
    entries = slice(belief.indptr[start], belief.indptr[stop])
    p, candidate = np.exp(belief.log_probability[entries].astype(np.float64)), belief.candidate[entries]
    indptr = belief.indptr[start : stop + 1] - belief.indptr[start]
    unlisted = belief.unlisted[start:stop]
    if not is_shared.any():
        return ExpandedRows(start, p, candidate, indptr, unlisted)
    n, length = belief.n_candidates, np.diff(indptr)
    wide_indptr = np.concatenate(([0], np.cumsum(np.where(is_shared, n, length))))
    position = np.arange(wide_indptr[-1]) - np.repeat(wide_indptr[:-1], np.diff(wide_indptr))
    row = np.repeat(np.arange(stop - start), length)
    entry = wide_indptr[row] + np.where(is_shared[row], candidate, np.arange(len(p)) - indptr[row])
    share = np.where(is_shared, unlisted / np.maximum(n - length, 1), 0.0)
    wide_candidate, wide_p = position.astype(np.int32), np.repeat(share, np.diff(wide_indptr))
    wide_candidate[entry], wide_p[entry] = candidate, p
    return ExpandedRows(start, wide_p, wide_candidate, wide_indptr, np.where(is_shared, 0.0, unlisted))


def expected_cost(belief: Posterior, cost: Floats, *, largest: float) -> Floats:
    """Return the expected loss of one fixed answer in each row, sum_x p(x given y) cost[x].

    cost : (n_candidates,) loss of the answer for each truth; "none of these" costs the largest loss
    """
    is_shared, expected = shares_unlisted(belief), np.empty(belief.n_observations)
    for start, stop in chunks(belief.indptr, BLOCK_ENTRIES):
        entries = slice(belief.indptr[start], belief.indptr[stop])
        entry_cost, indptr = cost[belief.candidate[entries]], belief.indptr[start : stop + 1] - belief.indptr[start]
        p = np.exp(belief.log_probability[entries].astype(np.float64))
        unlisted_cost = (cost.sum() - segment_sum(entry_cost, indptr)) / np.maximum(
            belief.n_candidates - np.diff(indptr), 1
        )
        unlisted_cost = np.where(is_shared[start:stop], unlisted_cost, largest)
        expected[start:stop] = segment_sum(p * entry_cost, indptr) + belief.unlisted[start:stop] * unlisted_cost
    return expected


class Problem(ABC):
    """Loss d(answer, truth), with the possible answers of the adversary."""

    @property
    @abstractmethod
    def n_candidates(self) -> int:
        """Return the number of truths."""

    @property
    @abstractmethod
    def largest(self) -> float:
        """Return d_max, the largest loss, which is the loss if the truth is not a candidate."""

    @abstractmethod
    def between(self, answer: Integers, truth: Integers) -> Floats:
        """Return the losses if the answers are candidates; the two arrays broadcast."""

    @abstractmethod
    def best(self, belief: Posterior) -> tuple[Floats, NDArray[Any]]:
        """Return the smallest expected loss of each row, and the first answer with this loss."""

    @abstractmethod
    def prior_cost(self, prior: Posterior) -> Floats:
        """Return the loss for each truth of the best answer to a one-row belief, averaged over ties."""

    @abstractmethod
    def realized_loss(self, belief: Posterior, truth: Truth) -> Floats:
        """Return the loss of the best answer for the true candidate of each target, averaged over ties.

        An ABSENT truth costs the largest loss.
        """

    def sampling_loss(self, belief: Posterior) -> Floats:
        """Return the expected loss of each row if answer and truth are two draws from the belief."""
        expected = np.zeros(belief.n_observations)
        for part in expand_rows(belief):
            mass = part.mass
            for rows, _, loss in pair_losses(part, self.between):
                is_entry = mask_block(part.indptr, rows, loss.shape[1])
                p = np.where(is_entry, fill_block(part.p, part.indptr, rows, loss.shape[1]), 0.0)
                expected[part.start + rows] = (p * np.where(is_entry, loss, 0.0)).sum(axis=1) / mass[rows]
        return expected + self.none_of_these_cost(belief)

    def realized_sampling_loss(self, belief: Posterior, truth: Truth) -> Floats:
        """Return the expected loss for the true candidate of each target if the answer is a draw from the belief.

        An ABSENT truth, or a belief without candidates, costs the largest loss.
        """
        paid, order, example = np.full(len(truth), np.nan), *group_targets(belief, truth)
        for part in expand_rows(belief):
            mass, length = part.mass, part.length
            first, last = np.searchsorted(belief.observation[order], [part.start, part.stop])
            targets = order[first:last]
            targets = targets[(truth.candidate[targets] >= 0) & (length[belief.observation[targets] - part.start] > 0)]
            ends = np.cumsum(length[belief.observation[targets] - part.start])
            for first, last in chunks(np.concatenate(([0], ends)), BLOCK_ENTRIES):
                some_targets = targets[first:last]
                row = belief.observation[some_targets] - part.start
                indptr = np.concatenate(([0], np.cumsum(length[row])))
                entry = np.arange(indptr[-1]) + np.repeat(part.indptr[row] - indptr[:-1], length[row])
                true_candidate = np.repeat(truth.candidate[some_targets], length[row])
                cost = self.between(part.candidate[entry].astype(np.int64), true_candidate)
                paid[some_targets] = segment_sum(part.p[entry] * cost, indptr) / mass[row]
        return fill_with_largest(paid[example], self)

    def none_of_these_cost(self, belief: Posterior) -> Floats:
        """Return the cost of "none of these" in each row: its mass times the largest loss."""
        none_mass = np.where(shares_unlisted(belief), 0.0, belief.unlisted)
        return np.asarray(none_mass * self.largest if none_mass.any() else none_mass)


def pair_losses(part: ExpandedRows, between: PairLoss) -> Iterator[tuple[Integers, Integers, Floats]]:
    """Yield rows of a part, their candidates (n, width), and the expected loss of each candidate as an answer.

    The loss is infinite beyond the end of a row. Each row with a candidate occurs once.
    """
    longest = int(part.length.max(initial=0))
    if longest > MAX_PAIR_CANDIDATES:
        raise UnmaskError(
            f"a row has {longest} candidates, expected at most {MAX_PAIR_CANDIDATES} where all pairs are compared; "
            "use a loss with coordinates that needs no pairs, such as 'squared', 'absolute' or 'euclidean'"
        )
    table = _tabulate_pairs(part, between)
    for rows, width in blocks(part.indptr, power=2):
        candidate = fill_block(part.candidate, part.indptr, rows, width).astype(np.int64)
        is_entry = mask_block(part.indptr, rows, width)
        p = np.where(is_entry, fill_block(part.p, part.indptr, rows, width), 0.0)
        loss = _losses_by_row(candidate, p, between) if table is None else table.losses(candidate, p, is_entry)
        yield rows, candidate, np.where(is_entry, loss, np.inf)


def _losses_by_row(candidate: Integers, p: Floats, between: PairLoss) -> Floats:
    """Return the expected loss of each candidate as an answer, (n, width), from the pairs of each row."""
    n, width = candidate.shape
    loss = np.empty((n, width))
    step = max(BLOCK_ENTRIES // (n * width), 1)
    for first in range(0, width, step):
        answers = candidate[:, first : first + step, None]
        loss[:, first : first + step] = np.einsum("rax,rx->ra", between(answers, candidate[:, None, :]), p)
    return loss


@dataclass(frozen=True, eq=False)
class _PairTable:
    """Losses of all pairs of candidates that the rows have in common.

    position : (n_candidates,) row and column of each candidate
    loss     : (n, n) answers x truths
    """

    position: Integers
    loss: Floats

    def losses(self, candidate: Integers, p: Floats, is_entry: Booleans) -> Floats:
        """Return the same losses as `_losses_by_row`."""
        column, row = self.position[candidate], np.nonzero(is_entry)[0]
        dense = np.zeros((len(p), len(self.loss)))
        dense[row, column[is_entry]] = p[is_entry]
        return np.asarray(np.take_along_axis(dense @ self.loss.T, column, axis=1))


def _tabulate_pairs(part: ExpandedRows, between: PairLoss) -> _PairTable | None:
    """Return the table of losses if rows mostly have the same candidates; None if separate pairs are fewer."""
    used = np.flatnonzero(np.bincount(part.candidate))
    n_pairs = float((part.length.astype(np.float64) ** 2).sum())
    if len(used) ** 2 > min(BLOCK_ENTRIES, MATRIX_SPEEDUP * n_pairs / max(len(part.length), 1)):
        return None
    position = np.zeros(int(used.max(initial=0)) + 1, dtype=np.int64)
    position[used] = np.arange(len(used))
    loss = np.asarray(between(used[:, None], used[None, :]), dtype=np.float64)
    return _PairTable(position, loss) if np.isfinite(loss).all() else None


def fill_with_largest(paid: Floats, problem: Problem) -> Floats:
    """Return the losses with nan replaced by the largest loss."""
    return np.where(np.isnan(paid), problem.largest, paid) if np.isnan(paid).any() else paid


def group_targets(belief: Posterior, truth: Truth) -> tuple[Integers, Integers]:
    """Return one example target of each pair of observation and truth, by observation, and the example of every target.

    Before the release, all targets share one observation.
    """
    key = belief.observation * (belief.n_candidates + 2) + truth.candidate + 2
    _, example, group = np.unique(key, return_index=True, return_inverse=True)
    return example, example[group]


def share_ties(loss: Floats) -> Floats:
    """Return the probability of each answer in each row: answers with the smallest loss share it."""
    largest = loss.max(axis=1, keepdims=True, initial=0.0, where=np.isfinite(loss))
    is_best = (loss <= loss.min(axis=1, keepdims=True) + LOSS_TIE * largest).astype(np.float64)
    return np.asarray(is_best / is_best.sum(axis=1, keepdims=True))
