"""Losses whose answers are a list: 0/1, a matrix, and any loss with the candidates of the row as answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.measures.losses.cells import Cells, blocks, cells, inside, rectangle, sharing, targets_of
from unmask.measures.rows import CHUNK, Rows, chunks, per_row
from unmask.measures.success import _find as find_listed
from unmask.measures.success import missed, realized_success
from unmask.posterior import Posterior, segment_sum
from unmask.truth import Truth

LOSS_TIE = 1e-9
"""Answers whose expected losses differ by less, as a part of the largest of them, share the adversary's choice."""

PAIRS = 1 << 15
"""Candidates of one row of which all pairs are compared: a thousand million losses."""

NOBODY = -1
"""The answer of an adversary for whom some candidate that is not listed is likelier than all that are."""

Between = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]


class Sampled(Protocol):
    """What a draw from the belief can answer to: a loss between candidates, and its largest value."""

    @property
    def largest(self) -> float:
        """Largest loss."""
        ...

    def between(self, answer: NDArray[np.int64], truth: NDArray[np.int64]) -> NDArray[np.float64]:
        """Losses of naming candidates, elementwise; the two broadcast."""
        ...


@dataclass(frozen=True, eq=False)
class Hamming:
    """d(a, x) = 0 if a = x, else 1. The best answer is the likeliest candidate (MAP)."""

    n_candidates: int
    largest: float = 1.0

    def best(self, belief: Posterior) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """P(y) = 1 - max_x p(x given y), and the likeliest candidate, the first of those that tie."""
        answer = np.concatenate([_likeliest(belief, start, stop) for start, stop in chunks(belief)])
        return per_row(belief, missed), answer

    def sampled(self, belief: Posterior) -> NDArray[np.float64]:
        """1 - sum_x p(x given y)^2."""
        return per_row(belief, _collision_error)

    def prior_cost(self, prior: Posterior) -> NDArray[np.float64]:
        """0/1 losses of the prior's best answer at each truth; answers that tie share it."""
        p = np.full(self.n_candidates, prior.unlisted[0] / self.n_candidates if len(prior.candidate) == 0 else 0.0)
        p[prior.candidate] = np.exp(prior.log_probability)
        tied = p >= p.max() * (1.0 - prior.resolution)
        return np.asarray(1.0 - tied / tied.sum())

    def paid(self, belief: Posterior, truth: Truth) -> NDArray[np.float64]:
        """1 - success of the best guess, ties shared."""
        assert realized_success.realized is not None
        return 1.0 - realized_success.realized(belief, truth)

    def paid_sampling(self, belief: Posterior, truth: Truth) -> NDArray[np.float64]:
        """1 - p(x_true given y), of the mass that is on candidates."""
        named = 1.0 - np.where(sharing(belief), 0.0, belief.unlisted)[belief.observation]
        right = nameable(belief, truth) / np.where(named > 0, named, 1.0)
        return np.asarray(1.0 - np.minimum(right, 1.0))


def nameable(belief: Posterior, truth: Truth) -> NDArray[np.float64]:
    """(n_targets,) belief in the true candidate as one that can be named: its share if it is unlisted among a known
    number, 0 if among an unknown one, and 0 if the truth is no candidate.
    """
    listed, log_p = find_listed(belief, belief.observation, truth.candidate)
    row = belief.observation
    share = np.where(belief.n_unlisted > 0, belief.unlisted / np.maximum(belief.n_unlisted, 1), 0.0)[row]
    return np.where(listed, np.exp(log_p), np.where(truth.candidate >= 0, share, 0.0))


def _likeliest(belief: Posterior, start: int, stop: int) -> NDArray[np.int64]:
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


def _collision_error(rows: Rows) -> NDArray[np.float64]:
    shared = np.where((rows.n_unlisted > 0) & (rows.n_listed < rows.n_candidates), rows.unlisted, 0.0)
    named = rows.sum(rows.p) + shared
    squares = rows.sum(rows.p**2) + shared * rows.share
    nobody = np.where(shared > 0, 0.0, rows.unlisted)
    return np.clip(named - squares / np.where(named > 0, named, 1.0) + nobody, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Matrix:
    """d(a, x) from a table. The best answer is the row with the smallest expected loss.

    matrix : (n_answers, n_candidates), finite and at least 0
    """

    matrix: NDArray[np.float64]

    @property
    def n_candidates(self) -> int:
        """Number of truths."""
        return int(self.matrix.shape[1])

    @cached_property
    def largest(self) -> float:
        """Largest entry."""
        return float(self.matrix.max())

    def _expected(self, belief: Posterior) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
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

    def best(self, belief: Posterior) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """min_a sum_x p(x given y) d(a, x), and the number of the answer, the first of those that tie."""
        risk, answer = np.empty(belief.n_observations), np.empty(belief.n_observations, dtype=np.int64)
        for start, stop, loss in self._expected(belief):
            risk[start:stop], answer[start:stop] = loss.min(axis=1), (_tied(loss) > 0).argmax(axis=1)
        return risk, answer

    def sampled(self, belief: Posterior) -> NDArray[np.float64]:
        """sum_a sum_x p(a given y) p(x given y) d(a, x); the answers must be the candidates."""
        self._must_be_square()
        return sampled_pairs(belief, self)

    def between(self, answer: NDArray[np.int64], truth: NDArray[np.int64]) -> NDArray[np.float64]:
        """d(answer, truth)."""
        return np.asarray(self.matrix[answer, truth])

    def _must_be_square(self) -> None:
        if self.matrix.shape[0] != self.matrix.shape[1]:
            raise UnmaskError(
                f"the loss has {self.matrix.shape[0]} answers for {self.n_candidates} candidates: an adversary who "
                "samples his belief answers with a candidate, so give one row for each candidate"
            )

    def prior_cost(self, prior: Posterior) -> NDArray[np.float64]:
        """(n_candidates,) loss of the prior's best answer at each truth; answers that tie share it."""
        _, _, loss = next(self._expected(prior))
        return np.asarray(_tied(loss)[0] @ self.matrix)

    def paid(self, belief: Posterior, truth: Truth) -> NDArray[np.float64]:
        """d(a(y), x_true) for each target, answers that tie share it; an ABSENT truth costs the largest loss."""
        out = np.full(len(truth), self.largest)
        order = np.argsort(belief.observation, kind="stable")
        for start, stop, loss in self._expected(belief):
            first, last = np.searchsorted(belief.observation, [start, stop], sorter=order)
            mine, chosen = order[first:last], _tied(loss)
            mine, step = mine[truth.candidate[mine] >= 0], max(CHUNK // loss.shape[1], 1)
            for at in range(0, len(mine), step):
                some = mine[at : at + step]
                cost = self.matrix.T[truth.candidate[some]]
                out[some] = np.einsum("ta,ta->t", cost, chosen[belief.observation[some] - start])
        return out

    def paid_sampling(self, belief: Posterior, truth: Truth) -> NDArray[np.float64]:
        """sum_a p(a given y) d(a, x_true) for each target."""
        self._must_be_square()
        return sampled_paid(belief, truth, self)


def _tied(loss: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n_rows, n_answers) chance of each answer: those of smallest loss share it."""
    largest = loss.max(axis=1, keepdims=True, initial=0.0, where=np.isfinite(loss))
    chosen = (loss <= loss.min(axis=1, keepdims=True) + LOSS_TIE * largest).astype(np.float64)
    return np.asarray(chosen / chosen.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Listed:
    """Any loss between candidates, with the candidates of the row as answers: the best one is its medoid.

    loss         : (answers, truths), numbers of candidates that broadcast -> losses, finite and at least 0
    find_largest : () -> its largest value, asked for only if something needs it
    """

    n_candidates: int
    loss: Between
    find_largest: Callable[[], float]

    def between(self, answer: NDArray[np.int64], truth: NDArray[np.int64]) -> NDArray[np.float64]:
        """Losses of naming candidates."""
        return self.loss(answer, truth)

    @cached_property
    def largest(self) -> float:
        """Largest loss between two candidates."""
        return self.find_largest()

    def best(self, belief: Posterior) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Smallest expected loss of a listed candidate, and the first that has it (NOBODY in an empty row)."""
        risk, answer = np.zeros(belief.n_observations), np.full(belief.n_observations, NOBODY, dtype=np.int64)
        for part in cells(belief):
            for rows, candidate, loss in pair_losses(part, self.between):
                risk[part.start + rows] = loss.min(axis=1)
                first = (_tied(loss) > 0).argmax(axis=1)
                answer[part.start + rows] = candidate[np.arange(len(rows)), first]
        return risk + unanswerable(belief, self), answer

    def sampled(self, belief: Posterior) -> NDArray[np.float64]:
        """Expected loss between two draws from the belief."""
        return sampled_pairs(belief, self)

    def prior_cost(self, prior: Posterior) -> NDArray[np.float64]:
        """(n_candidates,) loss of the prior's medoid at each truth; medoids that tie share it."""
        every = np.arange(self.n_candidates)
        _, candidate, loss = next(pair_losses(next(cells(prior)), self.between))
        medoids = candidate[0][_tied(loss)[0] > 0]
        return np.asarray(np.mean([self.between(np.full_like(every, a), every) for a in medoids], axis=0))

    def paid(self, belief: Posterior, truth: Truth) -> NDArray[np.float64]:
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
                row, chosen = place[belief.observation[mine] - part.start], _tied(loss)
                for first in range(0, len(mine), step := max(CHUNK // loss.shape[1], 1)):
                    some, its = mine[first : first + step], row[first : first + step]
                    cost = self.between(candidate[its], truth.candidate[some][:, None])
                    out[some] = np.einsum("ta,ta->t", cost, chosen[its])
                answered[mine] = True
        out = out if answered[every].all() else np.where(answered, out, self.largest)
        return np.asarray(out[every])

    def paid_sampling(self, belief: Posterior, truth: Truth) -> NDArray[np.float64]:
        """Loss of a draw from the belief at the truth of each target."""
        return sampled_paid(belief, truth, self)


def pair_losses(
    part: Cells, between: Between
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
    """Rows by their number in `part`, their candidates (n, width), and the expected loss of naming each of them, inf
    behind the end of a row. Every row with a candidate comes once.
    """
    longest = int(part.length.max(initial=0))
    if longest > PAIRS:
        raise UnmaskError(
            f"a row has {longest} candidates, expected at most {PAIRS} where all pairs are compared; "
            "use a loss with coordinates that needs no pairs, such as 'squared', 'absolute' or 'euclidean'"
        )
    for rows, width in blocks(part.indptr, power=2):
        candidate = rectangle(part.candidate, part.indptr, rows, width).astype(np.int64)
        real = inside(part.indptr, rows, width)
        p = np.where(real, rectangle(part.p, part.indptr, rows, width), 0.0)
        loss = np.empty((len(rows), width))
        step = max(CHUNK // (len(rows) * width), 1)
        for first in range(0, width, step):
            answers = candidate[:, first : first + step, None]
            loss[:, first : first + step] = np.einsum("rax,rx->ra", between(answers, candidate[:, None, :]), p)
        yield rows, candidate, np.where(real, loss, np.inf)


def sampled_pairs(belief: Posterior, problem: Sampled) -> NDArray[np.float64]:
    """(n_observations,) expected loss when answer and truth are two draws from the belief."""
    out = np.zeros(belief.n_observations)
    for part in cells(belief):
        mass = part.mass
        for rows, _, loss in pair_losses(part, problem.between):
            real = inside(part.indptr, rows, loss.shape[1])
            p = np.where(real, rectangle(part.p, part.indptr, rows, loss.shape[1]), 0.0)
            out[part.start + rows] = (p * np.where(real, loss, 0.0)).sum(axis=1) / mass[rows]
    return out + unanswerable(belief, problem)


def sampled_paid(belief: Posterior, truth: Truth, problem: Sampled) -> NDArray[np.float64]:
    """(n_targets,) expected loss at the truth when the answer is a draw from the belief; an ABSENT truth, or a belief
    in nobody, costs the largest loss.
    """
    out, order, every = np.full(len(truth), np.nan), *distinct(belief, truth)
    for part in cells(belief):
        mass, length = part.mass, part.length
        targets = targets_of(belief, part, order)
        targets = targets[(truth.candidate[targets] >= 0) & (length[belief.observation[targets] - part.start] > 0)]
        end = np.cumsum(length[belief.observation[targets] - part.start])
        first = 0
        while first < len(targets):
            used = end[first - 1] if first else 0
            last = max(int(np.searchsorted(end, used + CHUNK, side="right")), first + 1)
            some = targets[first:last]
            row = belief.observation[some] - part.start
            ends = np.concatenate(([0], np.cumsum(length[row])))
            entry = np.arange(ends[-1]) + np.repeat(part.indptr[row] - ends[:-1], length[row])
            cost = problem.between(
                part.candidate[entry].astype(np.int64), np.repeat(truth.candidate[some], length[row])
            )
            out[some] = segment_sum(part.p[entry] * cost, ends) / mass[row]
            first = last
    out = out[every]
    return np.where(np.isnan(out), problem.largest, out) if np.isnan(out).any() else out


def distinct(belief: Posterior, truth: Truth) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One target of each observation and truth, by ascending observation, and for every target the one it equals: a
    million people before the release share one observation.
    """
    key = belief.observation * (belief.n_candidates + 2) + truth.candidate + 2
    _, one, same = np.unique(key, return_index=True, return_inverse=True)
    return one, one[same]


def unanswerable(belief: Posterior, problem: Sampled) -> NDArray[np.float64]:
    """(n_observations,) what "none of these" costs whatever is answered: its mass times the largest loss."""
    nobody = np.where(sharing(belief), 0.0, belief.unlisted)
    return np.asarray(nobody * problem.largest if nobody.any() else nobody)
