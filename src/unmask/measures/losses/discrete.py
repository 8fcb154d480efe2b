"""Losses whose answers are a list: 0/1, a matrix, and any loss with the candidates of the row as answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.core.csr_rows import chunks
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures.losses.cells import CHUNK, Floats, Ints, blocks, cells, rectangle, sharing
from unmask.measures.losses.problem import Between, Problem, distinct, paid_or_largest, pair_losses, tied
from unmask.measures.rows import Rows, per_row
from unmask.measures.success import _find as find_listed
from unmask.measures.success import missed, realized_success

NOBODY = -1
"""The answer of an adversary for whom some candidate that is not listed is likelier than all that are."""


@dataclass(frozen=True, eq=False)
class Hamming(Problem):
    """d(a, x) = 0 if a = x, else 1. The best answer is the likeliest candidate (MAP)."""

    n: int

    @property
    def n_candidates(self) -> int:
        """Number of truths."""
        return self.n

    @property
    def largest(self) -> float:
        """1."""
        return 1.0

    def between(self, answer: Ints, truth: Ints) -> Floats:
        """0 or 1."""
        return np.asarray(answer != truth, dtype=np.float64)

    def best(self, belief: Posterior) -> tuple[Floats, Ints]:
        """P(y) = 1 - max_x p(x given y), and the likeliest candidate, the first of those that tie."""
        answer = np.concatenate([_likeliest(belief, start, stop) for start, stop in chunks(belief.indptr)])
        return per_row(belief, missed), answer

    def sampled(self, belief: Posterior) -> Floats:
        """1 - sum_x p(x given y)^2."""
        return per_row(belief, _collision_error)

    def prior_cost(self, prior: Posterior) -> Floats:
        """0/1 losses of the prior's best answer at each truth; answers that tie share it."""
        p = np.full(self.n_candidates, prior.unlisted[0] / self.n_candidates if len(prior.candidate) == 0 else 0.0)
        p[prior.candidate] = np.exp(prior.log_probability)
        tied = p >= p.max() * (1.0 - prior.resolution)
        return np.asarray(1.0 - tied / tied.sum())

    def paid(self, belief: Posterior, truth: Truth) -> Floats:
        """1 - success of the best guess, ties shared."""
        assert realized_success.realized is not None
        return 1.0 - realized_success.realized(belief, truth)

    def paid_sampling(self, belief: Posterior, truth: Truth) -> Floats:
        """1 - p(x_true given y), of the mass that is on candidates."""
        named = 1.0 - np.where(sharing(belief), 0.0, belief.unlisted)[belief.observation]
        right = nameable(belief, truth) / np.where(named > 0, named, 1.0)
        return np.asarray(1.0 - np.minimum(right, 1.0))


def nameable(belief: Posterior, truth: Truth) -> Floats:
    """(n_targets,) belief in the true candidate as one that can be named: its share if it is unlisted among a known
    number, 0 if among an unknown one, and 0 if the truth is no candidate.
    """
    listed, log_p = find_listed(belief, belief.observation, truth.candidate)
    row = belief.observation
    share = np.where(belief.n_unlisted > 0, belief.unlisted / np.maximum(belief.n_unlisted, 1), 0.0)[row]
    return np.where(listed, np.exp(log_p), np.where(truth.candidate >= 0, share, 0.0))


def _likeliest(belief: Posterior, start: int, stop: int) -> Ints:
    answer = np.full(stop - start, NOBODY, dtype=np.int64)
    indptr = belief.indptr[start : stop + 1]
    with np.errstate(divide="ignore"):
        share = np.log(belief.unlisted[start:stop] / np.maximum(belief.n_unlisted[start:stop], 1))
    share = np.where(belief.n_unlisted[start:stop] > 0, share, -np.inf)
    for rows, width in blocks(indptr):
        block = rectangle(belief.log_probability, indptr, rows, width)
        place = block.argmax(axis=1)
        listed = belief.candidate[indptr[rows] + place]
        top = block[np.arange(len(rows)), place]
        answer[rows] = np.where(top >= share[rows] - belief.resolution, listed, NOBODY)
    return answer


def _collision_error(rows: Rows) -> Floats:
    shared = np.where((rows.n_unlisted > 0) & (rows.n_listed < rows.n_candidates), rows.unlisted, 0.0)
    named = rows.sum(rows.p) + shared
    squares = rows.sum(rows.p**2) + shared * rows.share
    nobody = np.where(shared > 0, 0.0, rows.unlisted)
    return np.clip(named - squares / np.where(named > 0, named, 1.0) + nobody, 0.0, 1.0)


class Choices(Problem):
    """A loss whose expectation is known of every answer: the best one is chosen, and answers that tie share it."""

    @abstractmethod
    def choices(self, belief: Posterior) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Rows, ascending; the answers open in each, (n_rows, width); and what each would cost on average, but for the
        mass that no answer meets, inf where there is none. A row without an answer does not come.
        """

    @abstractmethod
    def cost(self, answer: Ints, truth: Ints) -> Floats:
        """Losses of answers, elementwise; the two broadcast."""

    def best(self, belief: Posterior) -> tuple[Floats, Ints]:
        """Smallest expected loss, and the first answer that has it; NOBODY in a row without one."""
        risk, answer = np.zeros(belief.n_observations), np.full(belief.n_observations, NOBODY, dtype=np.int64)
        for rows, answers, loss in self.choices(belief):
            first = (tied(loss) > 0).argmax(axis=1)
            risk[rows], answer[rows] = loss.min(axis=1), answers[np.arange(len(rows)), first]
        return risk + self.unanswerable(belief), answer

    def prior_cost(self, prior: Posterior) -> Floats:
        """(n_candidates,) loss of the prior's best answers at each truth."""
        every = np.arange(self.n_candidates)
        _, answers, loss = next(self.choices(prior))
        best = answers[0][tied(loss)[0] > 0]
        return np.asarray(np.mean([self.cost(np.full_like(every, a), every) for a in best], axis=0))

    def paid(self, belief: Posterior, truth: Truth) -> Floats:
        """Loss of the best answers at the truth of each target; an ABSENT truth costs the largest loss."""
        out, order, every = np.full(len(truth), np.nan), *distinct(belief, truth)
        for rows, answers, loss in self.choices(belief):
            first, last = np.searchsorted(belief.observation[order], [rows[0], rows[-1] + 1])
            some = order[first:last]
            row = np.searchsorted(rows, belief.observation[some])
            mine = (rows[row] == belief.observation[some]) & (truth.candidate[some] >= 0)
            some, row, chosen = some[mine], row[mine], tied(loss)
            for start in range(0, len(some), step := max(CHUNK // loss.shape[1], 1)):
                target, its = some[start : start + step], row[start : start + step]
                cost = self.cost(answers[its], truth.candidate[target][:, None])
                out[target] = np.einsum("ta,ta->t", cost, chosen[its])
        return paid_or_largest(out[every], self)


@dataclass(frozen=True, eq=False)
class Matrix(Choices):
    """d(a, x) from a table. The best answer is the row with the smallest expected loss.

    matrix : (n_answers, n_candidates), finite and at least 0
    """

    matrix: Floats

    @property
    def n_candidates(self) -> int:
        """Number of truths."""
        return int(self.matrix.shape[1])

    @cached_property
    def largest(self) -> float:
        """Largest entry."""
        return float(self.matrix.max())

    def choices(self, belief: Posterior) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Every answer, in every row."""
        from scipy.sparse import csr_array  # not at the top: it would double the time to start the command line

        total, shared = self.matrix.sum(axis=1), sharing(belief)
        step = max(CHUNK // len(self.matrix), 1)
        for start, stop in (
            (i, min(i + step, last)) for first, last in chunks(belief.indptr) for i in range(first, last, step)
        ):
            entries = slice(belief.indptr[start], belief.indptr[stop])
            indptr, shape = belief.indptr[start : stop + 1] - entries.start, (stop - start, self.n_candidates)
            p = np.exp(belief.log_probability[entries].astype(np.float64))
            loss = np.asarray(csr_array((p, belief.candidate[entries], indptr), shape=shape) @ self.matrix.T)
            if (mine := shared[start:stop]).any():
                ones = csr_array((np.ones(len(p)), belief.candidate[entries], indptr), shape=shape)
                share = np.where(mine, belief.unlisted[start:stop], 0.0) / np.maximum(shape[1] - np.diff(indptr), 1)
                loss += share[:, None] * (total - ones @ self.matrix.T)
            yield np.arange(start, stop), np.broadcast_to(np.arange(len(self.matrix)), loss.shape), loss

    def cost(self, answer: Ints, truth: Ints) -> Floats:
        """d(answer, truth)."""
        return np.asarray(self.matrix[answer, truth])

    def between(self, answer: Ints, truth: Ints) -> Floats:
        """d(answer, truth); the answers must be the candidates."""
        if self.matrix.shape[0] != self.matrix.shape[1]:
            raise UnmaskError(
                f"the loss has {self.matrix.shape[0]} answers for {self.n_candidates} candidates: an adversary who "
                "samples the belief answers with a candidate, so give one row for each candidate"
            )
        return self.cost(answer, truth)


@dataclass(frozen=True, eq=False)
class Listed(Choices):
    """Any loss between candidates, with the candidates of the row as answers: the best one is its medoid.

    loss         : (answers, truths), numbers of candidates that broadcast -> losses, finite and at least 0
    find_largest : () -> its largest value, asked for only if something needs it
    """

    n: int
    loss: Between
    find_largest: Callable[[], float]

    @property
    def n_candidates(self) -> int:
        """Number of truths."""
        return self.n

    @cached_property
    def largest(self) -> float:
        """Largest loss between two candidates."""
        return self.find_largest()

    def between(self, answer: Ints, truth: Ints) -> Floats:
        """Losses of answering with candidates."""
        return self.loss(answer, truth)

    cost = between

    def choices(self, belief: Posterior) -> Iterator[tuple[Ints, Ints, Floats]]:
        """The candidates of each row that has any."""
        for part in cells(belief):
            for rows, candidate, loss in pair_losses(part, self.between):
                yield part.start + rows, candidate, loss
