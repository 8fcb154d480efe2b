"""Losses whose answers are a list: 0/1, a matrix, and any loss with the candidates of the row as answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.errors import UnmaskError
from unmask.measures.losses.cells import Floats, Ints, blocks, cells, rectangle, sharing, targets_of
from unmask.measures.losses.problem import Between, Problem, distinct, pair_losses, tied
from unmask.measures.rows import CHUNK, Rows, chunks, per_row
from unmask.measures.success import _find as find_listed
from unmask.measures.success import missed, realized_success
from unmask.posterior import Posterior
from unmask.truth import Truth

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
        answer = np.concatenate([_likeliest(belief, start, stop) for start, stop in chunks(belief)])
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
    listed, log_p = find_listed(belief, truth)
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


@dataclass(frozen=True, eq=False)
class Matrix(Problem):
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

    def _expected(self, belief: Posterior) -> Iterator[tuple[int, int, Floats]]:
        """Ranges of rows, and the expected loss of each answer, (n_rows, n_answers)."""
        from scipy.sparse import csr_array  # not at the top: it would double the time to start the command line

        total, shared = self.matrix.sum(axis=1), sharing(belief)
        step = max(CHUNK // len(self.matrix), 1)
        for first, last in chunks(belief):
            for start in range(first, last, step):
                stop = min(start + step, last)
                entries = slice(belief.indptr[start], belief.indptr[stop])
                indptr = belief.indptr[start : stop + 1] - belief.indptr[start]
                shape = (stop - start, self.n_candidates)
                p = np.exp(belief.log_probability[entries].astype(np.float64))
                loss = np.asarray(csr_array((p, belief.candidate[entries], indptr), shape=shape) @ self.matrix.T)
                mine, unlisted = shared[start:stop], belief.unlisted[start:stop]
                if mine.any():
                    ones = csr_array((np.ones(len(p)), belief.candidate[entries], indptr), shape=shape)
                    share = np.where(mine, unlisted, 0.0) / np.maximum(self.n_candidates - np.diff(indptr), 1)
                    loss += share[:, None] * (total - ones @ self.matrix.T)
                yield start, stop, loss + np.where(mine, 0.0, unlisted)[:, None] * self.largest

    def best(self, belief: Posterior) -> tuple[Floats, Ints]:
        """min_a sum_x p(x given y) d(a, x), and the number of the answer, the first of those that tie."""
        risk, answer = np.empty(belief.n_observations), np.empty(belief.n_observations, dtype=np.int64)
        for start, stop, loss in self._expected(belief):
            risk[start:stop], answer[start:stop] = loss.min(axis=1), (tied(loss) > 0).argmax(axis=1)
        return risk, answer

    def between(self, answer: Ints, truth: Ints) -> Floats:
        """d(answer, truth); the answers must be the candidates."""
        if self.matrix.shape[0] != self.matrix.shape[1]:
            raise UnmaskError(
                f"the loss has {self.matrix.shape[0]} answers for {self.n_candidates} candidates: an adversary who "
                "samples the belief answers with a candidate, so give one row for each candidate"
            )
        return np.asarray(self.matrix[answer, truth])

    def prior_cost(self, prior: Posterior) -> Floats:
        """(n_candidates,) loss of the prior's best answer at each truth; answers that tie share it."""
        _, _, loss = next(self._expected(prior))
        return np.asarray(tied(loss)[0] @ self.matrix)

    def paid(self, belief: Posterior, truth: Truth) -> Floats:
        """d(a(y), x_true) for each target, answers that tie share it; an ABSENT truth costs the largest loss."""
        out = np.full(len(truth), self.largest)
        order = np.argsort(belief.observation, kind="stable")
        for start, stop, loss in self._expected(belief):
            first, last = np.searchsorted(belief.observation, [start, stop], sorter=order)
            mine, chosen = order[first:last], tied(loss)
            mine, step = mine[truth.candidate[mine] >= 0], max(CHUNK // loss.shape[1], 1)
            for at in range(0, len(mine), step):
                some = mine[at : at + step]
                cost = self.matrix.T[truth.candidate[some]]
                out[some] = np.einsum("ta,ta->t", cost, chosen[belief.observation[some] - start])
        return out


@dataclass(frozen=True, eq=False)
class Listed(Problem):
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

    def between(self, answer: Ints, truth: Ints) -> Floats:
        """Losses of naming candidates."""
        return self.loss(answer, truth)

    @cached_property
    def largest(self) -> float:
        """Largest loss between two candidates."""
        return self.find_largest()

    def best(self, belief: Posterior) -> tuple[Floats, Ints]:
        """Smallest expected loss of a listed candidate, and the first that has it (NOBODY in an empty row)."""
        risk, answer = np.zeros(belief.n_observations), np.full(belief.n_observations, NOBODY, dtype=np.int64)
        for part in cells(belief):
            for rows, candidate, loss in pair_losses(part, self.between):
                risk[part.start + rows] = loss.min(axis=1)
                first = (tied(loss) > 0).argmax(axis=1)
                answer[part.start + rows] = candidate[np.arange(len(rows)), first]
        return risk + self.unanswerable(belief), answer

    def prior_cost(self, prior: Posterior) -> Floats:
        """(n_candidates,) loss of the prior's medoid at each truth; medoids that tie share it."""
        every = np.arange(self.n_candidates)
        _, candidate, loss = next(pair_losses(next(cells(prior)), self.between))
        medoids = candidate[0][tied(loss)[0] > 0]
        return np.asarray(np.mean([self.between(np.full_like(every, a), every) for a in medoids], axis=0))

    def paid(self, belief: Posterior, truth: Truth) -> Floats:
        """Loss of the medoid at the truth of each target, medoids that tie share it."""
        out, order, every = np.zeros(len(truth)), *distinct(belief, truth)
        answered = np.zeros(len(truth), dtype=bool)
        for part in cells(belief):
            targets = targets_of(belief, part, order)
            for rows, candidate, loss in pair_losses(part, self.between):
                place = np.full(len(part.nobody), -1)
                place[rows] = np.arange(len(rows))
                at = place[belief.observation[targets] - part.start]
                mine = targets[(at >= 0) & (truth.candidate[targets] >= 0)]
                row, chosen = place[belief.observation[mine] - part.start], tied(loss)
                for first in range(0, len(mine), step := max(CHUNK // loss.shape[1], 1)):
                    some, its = mine[first : first + step], row[first : first + step]
                    cost = self.between(candidate[its], truth.candidate[some][:, None])
                    out[some] = np.einsum("ta,ta->t", cost, chosen[its])
                answered[mine] = True
        out = out if answered[every].all() else np.where(answered, out, self.largest)
        return np.asarray(out[every])
