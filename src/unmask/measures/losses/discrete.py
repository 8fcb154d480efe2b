"""Losses with a finite list of answers: 0/1, a matrix, and any loss with the candidates of a row as answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import chunks
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures.losses.problem import (
    PairLoss,
    Problem,
    expand_rows,
    fill_with_largest,
    group_targets,
    pair_losses,
    share_ties,
    shares_unlisted,
)
from unmask.measures.posterior_rows import BLOCK_ENTRIES, Rows, blocks, fill_block, map_rows
from unmask.measures.success import bayes_error, realized_success
from unmask.measures.truth_positions import find_entries

UNLISTED_ANSWER = -1
"""Answer of an adversary if an unlisted candidate is likelier than all listed ones."""


@dataclass(frozen=True, eq=False)
class Hamming(Problem):
    """Loss d(a, x) = 0 if a = x, else 1. The best answer is the likeliest candidate (MAP)."""

    n: int

    @property
    def n_candidates(self) -> int:
        """Return the number of truths."""
        return self.n

    @property
    def largest(self) -> float:
        """Return 1."""
        return 1.0

    def between(self, answer: Integers, truth: Integers) -> Floats:
        """Return 0 or 1."""
        return np.asarray(answer != truth, dtype=np.float64)

    def best(self, belief: Posterior) -> tuple[Floats, Integers]:
        """Return P(y) = 1 - max_x p(x given y), and the likeliest candidate, the first in a tie."""
        answer = np.concatenate([_likeliest(belief, start, stop) for start, stop in chunks(belief.indptr)])
        return map_rows(belief, bayes_error), answer

    def sampling_loss(self, belief: Posterior) -> Floats:
        """Return 1 - sum_x p(x given y)^2."""
        return map_rows(belief, _collision_error)

    def prior_cost(self, prior: Posterior) -> Floats:
        """Return the 0/1 loss of the prior's best answer at each truth, averaged over ties."""
        p = np.full(self.n_candidates, prior.unlisted[0] / self.n_candidates if len(prior.candidate) == 0 else 0.0)
        p[prior.candidate] = np.exp(prior.log_probability)
        is_best = p >= p.max() * (1.0 - prior.resolution)
        return np.asarray(1.0 - is_best / is_best.sum())

    def realized_loss(self, belief: Posterior, truth: Truth) -> Floats:
        """Return 1 - success of the best guess; ties share a success."""
        assert realized_success.realized is not None
        return 1.0 - realized_success.realized(belief, truth)

    def realized_sampling_loss(self, belief: Posterior, truth: Truth) -> Floats:
        """Return 1 - p(x_true given y) of the mass that is on candidates."""
        mass = 1.0 - np.where(shares_unlisted(belief), 0.0, belief.unlisted)[belief.observation]
        p_truth = truth_probability(belief, truth) / np.where(mass > 0, mass, 1.0)
        return np.asarray(1.0 - np.minimum(p_truth, 1.0))


def truth_probability(belief: Posterior, truth: Truth) -> Floats:
    """Return the probability of the true candidate of each target, as far as the adversary can name it.

    An unlisted candidate has its share of a known number of candidates, and 0 for an unknown number. An absent target
    has 0.
    """
    row = belief.observation
    entry, is_listed = find_entries(belief, row, truth.candidate)
    log_p = np.zeros(len(row))
    log_p[is_listed] = belief.log_probability[entry[is_listed]]
    share = np.where(belief.n_unlisted > 0, belief.unlisted / np.maximum(belief.n_unlisted, 1), 0.0)[row]
    return np.where(is_listed, np.exp(log_p), np.where(truth.candidate >= 0, share, 0.0))


def _likeliest(belief: Posterior, start: int, stop: int) -> Integers:
    answer = np.full(stop - start, UNLISTED_ANSWER, dtype=np.int64)
    indptr = belief.indptr[start : stop + 1]
    with np.errstate(divide="ignore"):
        share = np.log(belief.unlisted[start:stop] / np.maximum(belief.n_unlisted[start:stop], 1))
    share = np.where(belief.n_unlisted[start:stop] > 0, share, -np.inf)
    for rows, width in blocks(indptr):
        block = fill_block(belief.log_probability, indptr, rows, width)
        position = block.argmax(axis=1)
        candidate = belief.candidate[indptr[rows] + position]
        top = block[np.arange(len(rows)), position]
        answer[rows] = np.where(top >= share[rows] - belief.resolution, candidate, UNLISTED_ANSWER)
    return answer


def _collision_error(rows: Rows) -> Floats:
    shared = np.where((rows.n_unlisted > 0) & (rows.n_listed < rows.n_candidates), rows.unlisted, 0.0)
    mass = rows.sum(rows.p) + shared
    squares = rows.sum(rows.p**2) + shared * rows.share
    none_mass = np.where(shared > 0, 0.0, rows.unlisted)
    return np.clip(mass - squares / np.where(mass > 0, mass, 1.0) + none_mass, 0.0, 1.0)


class AnswerList(Problem):
    """Problem whose expected loss is computed for every answer. Tied answers are chosen with equal probability."""

    @abstractmethod
    def expected_losses(self, belief: Posterior) -> Iterator[tuple[Integers, Integers, Floats]]:
        """Yield rows, ascending, the answers of each row, (n_rows, width), and their expected losses on candidates.

        The loss is infinite where a row has no answer. A row without answers is skipped.
        """

    @abstractmethod
    def cost(self, answer: Integers, truth: Integers) -> Floats:
        """Return the losses of answers; the two arrays broadcast."""

    def best(self, belief: Posterior) -> tuple[Floats, Integers]:
        """Return the smallest expected loss, and the first answer with this loss, or `UNLISTED_ANSWER`."""
        risk = np.zeros(belief.n_observations)
        answer = np.full(belief.n_observations, UNLISTED_ANSWER, dtype=np.int64)
        for rows, answers, loss in self.expected_losses(belief):
            first = (share_ties(loss) > 0).argmax(axis=1)
            risk[rows], answer[rows] = loss.min(axis=1), answers[np.arange(len(rows)), first]
        return risk + self.none_of_these_cost(belief), answer

    def prior_cost(self, prior: Posterior) -> Floats:
        """Return the loss of the prior's best answers for each truth."""
        truths = np.arange(self.n_candidates)
        _, answers, loss = next(self.expected_losses(prior))
        best_answers = answers[0][share_ties(loss)[0] > 0]
        return np.asarray(np.mean([self.cost(np.full_like(truths, answer), truths) for answer in best_answers], axis=0))

    def realized_loss(self, belief: Posterior, truth: Truth) -> Floats:
        """Return the loss of the best answers for the truth of each target; an ABSENT truth costs the largest loss."""
        paid, order, example = np.full(len(truth), np.nan), *group_targets(belief, truth)
        for rows, answers, loss in self.expected_losses(belief):
            first, last = np.searchsorted(belief.observation[order], [rows[0], rows[-1] + 1])
            targets = order[first:last]
            row = np.searchsorted(rows, belief.observation[targets])
            is_here = (rows[row] == belief.observation[targets]) & (truth.candidate[targets] >= 0)
            targets, row, chosen = targets[is_here], row[is_here], share_ties(loss)
            for start in range(0, len(targets), step := max(BLOCK_ENTRIES // loss.shape[1], 1)):
                part, part_row = targets[start : start + step], row[start : start + step]
                weight, cost = chosen[part_row], self.cost(answers[part_row], truth.candidate[part][:, None])
                paid[part] = np.einsum("ta,ta->t", np.where(weight > 0, cost, 0.0), weight)
        return fill_with_largest(paid[example], self)


@dataclass(frozen=True, eq=False)
class Matrix(AnswerList):
    """Loss d(a, x) from a table. The best answer is the row of the table with the smallest expected loss.

    matrix : (n_answers, n_candidates), at least 0; an infinite loss forbids the answer while the truth is possible
    """

    matrix: Floats

    @property
    def n_candidates(self) -> int:
        """Return the number of truths."""
        return int(self.matrix.shape[1])

    @cached_property
    def largest(self) -> float:
        """Return the largest finite entry."""
        return float(self.matrix.max(where=np.isfinite(self.matrix), initial=0.0))

    def expected_losses(self, belief: Posterior) -> Iterator[tuple[Integers, Integers, Floats]]:
        """Yield every answer, in every row; an answer is infinitely bad if a truth that forbids it is possible."""
        is_forbidden = np.isinf(self.matrix)
        if not is_forbidden.any():
            yield from _expect(self.matrix, belief)
            return
        finite = _expect(np.where(is_forbidden, 0.0, self.matrix), belief)
        for (rows, answers, loss), (_, _, chance) in zip(
            finite, _expect(is_forbidden.astype(np.float64), belief), strict=True
        ):
            yield rows, answers, np.where(chance > 0, np.inf, loss)

    def cost(self, answer: Integers, truth: Integers) -> Floats:
        """Return d(answer, truth)."""
        return np.asarray(self.matrix[answer, truth])

    def between(self, answer: Integers, truth: Integers) -> Floats:
        """Return d(answer, truth); the answers must be the candidates."""
        if self.matrix.shape[0] != self.matrix.shape[1]:
            raise UnmaskError(
                f"the loss has {self.matrix.shape[0]} answers for {self.n_candidates} candidates: an adversary who "
                "samples the belief answers with a candidate, so give one row for each candidate"
            )
        return self.cost(answer, truth)


def _expect(matrix: Floats, belief: Posterior) -> Iterator[tuple[Integers, Integers, Floats]]:
    """Yield rows, all answers, and the expectation of a finite matrix of answers x truths under each row."""
    from scipy.sparse import csr_array  # not at the top: it would double the time to start the command line

    total, is_shared = matrix.sum(axis=1), shares_unlisted(belief)
    step = max(BLOCK_ENTRIES // len(matrix), 1)
    for start, stop in (
        (i, min(i + step, last)) for first, last in chunks(belief.indptr) for i in range(first, last, step)
    ):
        entries = slice(belief.indptr[start], belief.indptr[stop])
        indptr, shape = belief.indptr[start : stop + 1] - entries.start, (stop - start, matrix.shape[1])
        p = np.exp(belief.log_probability[entries].astype(np.float64))
        loss = np.asarray(csr_array((p, belief.candidate[entries], indptr), shape=shape) @ matrix.T)
        if is_shared[start:stop].any():
            ones = csr_array((np.ones(len(p)), belief.candidate[entries], indptr), shape=shape)
            shared = np.where(is_shared[start:stop], belief.unlisted[start:stop], 0.0)
            share = shared / np.maximum(shape[1] - np.diff(indptr), 1)
            loss += share[:, None] * (total - ones @ matrix.T)
        yield np.arange(start, stop), np.broadcast_to(np.arange(len(matrix)), loss.shape), loss


@dataclass(frozen=True, eq=False)
class Medoid(AnswerList):
    """Loss between candidates, with the candidates of a row as answers. The best answer is the medoid.

    loss : function of answers and truths, numbers of candidates that broadcast; finite and at least 0
    find_largest : function that returns the largest loss
    """

    n: int
    loss: PairLoss
    find_largest: Callable[[], float]

    @property
    def n_candidates(self) -> int:
        """Return the number of truths."""
        return self.n

    @cached_property
    def largest(self) -> float:
        """Return the largest loss between two candidates."""
        return self.find_largest()

    def between(self, answer: Integers, truth: Integers) -> Floats:
        """Return the losses of answering with candidates."""
        return self.loss(answer, truth)

    cost = between

    def expected_losses(self, belief: Posterior) -> Iterator[tuple[Integers, Integers, Floats]]:
        """Yield the candidates of each row that has any."""
        for part in expand_rows(belief):
            for rows, candidate, loss in pair_losses(part, self.between):
                yield part.start + rows, candidate, loss
