"""A loss ready to be decided under, and what every loss between candidates can do by comparing pairs of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import segment_sum
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures.losses.cells import CHUNK, Bools, Cells, Floats, Ints, blocks, cells, inside, rectangle, sharing

LOSS_TIE = 1e-9
"""Answers whose expected losses differ by less, as a part of the largest of them, share the adversary's choice."""

PAIRS = 1 << 15
"""Candidates of one row of which all pairs are compared: a billion losses."""

DENSE = 8
"""A product of matrices over all candidates is quicker than looking up so many times fewer pairs."""

Between = Callable[[Ints, Ints], Floats]


class Problem(ABC):
    """A loss d(answer, truth) with the answers that the adversary may give."""

    @property
    @abstractmethod
    def n_candidates(self) -> int:
        """Number of truths."""

    @property
    @abstractmethod
    def largest(self) -> float:
        """d_max, the largest loss; what an answer costs if the truth is no candidate."""

    @abstractmethod
    def between(self, answer: Ints, truth: Ints) -> Floats:
        """Losses of answering with candidates, elementwise; the two broadcast."""

    @abstractmethod
    def best(self, belief: Posterior) -> tuple[Floats, NDArray[Any]]:
        """(n_observations,) smallest expected loss, and the answer that has it, the first of those that tie."""

    @abstractmethod
    def prior_cost(self, prior: Posterior) -> Floats:
        """(n_candidates,) loss at each truth of the best answer to a belief of one row; answers that tie share it."""

    @abstractmethod
    def paid(self, belief: Posterior, truth: Truth) -> Floats:
        """(n_targets,) loss of the best answer at the truth; answers that tie share it, an ABSENT truth costs the
        largest loss.
        """

    def sampled(self, belief: Posterior) -> Floats:
        """(n_observations,) expected loss when answer and truth are two draws from the belief."""
        out = np.zeros(belief.n_observations)
        for part in cells(belief):
            mass = part.mass
            for rows, _, loss in pair_losses(part, self.between):
                real = inside(part.indptr, rows, loss.shape[1])
                p = np.where(real, rectangle(part.p, part.indptr, rows, loss.shape[1]), 0.0)
                out[part.start + rows] = (p * np.where(real, loss, 0.0)).sum(axis=1) / mass[rows]
        return out + self.unanswerable(belief)

    def paid_sampling(self, belief: Posterior, truth: Truth) -> Floats:
        """(n_targets,) expected loss at the truth when the answer is a draw from the belief; an ABSENT truth, or a
        belief in nobody, costs the largest loss.
        """
        out, order, every = np.full(len(truth), np.nan), *distinct(belief, truth)
        for part in cells(belief):
            mass, length = part.mass, part.length
            first, last = np.searchsorted(belief.observation[order], [part.start, part.stop])
            targets = order[first:last]
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
                there = np.repeat(truth.candidate[some], length[row])
                cost = self.between(part.candidate[entry].astype(np.int64), there)
                out[some] = segment_sum(part.p[entry] * cost, ends) / mass[row]
                first = last
        return paid_or_largest(out[every], self)

    def unanswerable(self, belief: Posterior) -> Floats:
        """(n_observations,) what "none of these" costs whatever is answered: its mass times the largest loss."""
        nobody = np.where(sharing(belief), 0.0, belief.unlisted)
        return np.asarray(nobody * self.largest if nobody.any() else nobody)


def pair_losses(part: Cells, between: Between) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Rows by their number in `part`, their candidates (n, width), and the expected loss of naming each of them, inf
    behind the end of a row. Every row with a candidate comes once.
    """
    longest = int(part.length.max(initial=0))
    if longest > PAIRS:
        raise UnmaskError(
            f"a row has {longest} candidates, expected at most {PAIRS} where all pairs are compared; "
            "use a loss with coordinates that needs no pairs, such as 'squared', 'absolute' or 'euclidean'"
        )
    table = _shared(part, between)
    for rows, width in blocks(part.indptr, power=2):
        candidate = rectangle(part.candidate, part.indptr, rows, width).astype(np.int64)
        real = inside(part.indptr, rows, width)
        p = np.where(real, rectangle(part.p, part.indptr, rows, width), 0.0)
        loss = _by_pair(candidate, p, between) if table is None else table.losses(candidate, p, real)
        yield rows, candidate, np.where(real, loss, np.inf)


def _by_pair(candidate: Ints, p: Floats, between: Between) -> Floats:
    """(n, width) the expected loss of naming each candidate of a row, from the losses of each row's own pairs."""
    n, width = candidate.shape
    loss = np.empty((n, width))
    step = max(CHUNK // (n * width), 1)
    for first in range(0, width, step):
        answers = candidate[:, first : first + step, None]
        loss[:, first : first + step] = np.einsum("rax,rx->ra", between(answers, candidate[:, None, :]), p)
    return loss


@dataclass(frozen=True, eq=False)
class _Shared:
    """The losses of all pairs of candidates that some rows share.

    place : (n_candidates,) where each stands in the table; loss : (n, n) of naming the one at the other
    """

    place: Ints
    loss: Floats

    def losses(self, candidate: Ints, p: Floats, real: Bools) -> Floats:
        """As `_by_pair`."""
        at, row = self.place[candidate], np.nonzero(real)[0]
        dense = np.zeros((len(p), len(self.loss)))
        dense[row, at[real]] = p[real]
        return np.asarray(np.take_along_axis(dense @ self.loss.T, at, axis=1))


def _shared(part: Cells, between: Between) -> _Shared | None:
    """The table of rows that mostly have the same candidates; None where the pairs of each row are fewer."""
    used = np.flatnonzero(np.bincount(part.candidate))
    pairs = float((part.length.astype(np.float64) ** 2).sum())
    if len(used) ** 2 > min(CHUNK, DENSE * pairs / max(len(part.length), 1)):
        return None
    place = np.zeros(int(used.max(initial=0)) + 1, dtype=np.int64)
    place[used] = np.arange(len(used))
    loss = np.asarray(between(used[:, None], used[None, :]), dtype=np.float64)
    return _Shared(place, loss) if np.isfinite(loss).all() else None


def paid_or_largest(paid: Floats, problem: Problem) -> Floats:
    """What was paid, and the largest loss where that is not known."""
    return np.where(np.isnan(paid), problem.largest, paid) if np.isnan(paid).any() else paid


def distinct(belief: Posterior, truth: Truth) -> tuple[Ints, Ints]:
    """One target of each observation and truth, by ascending observation, and for every target the one it equals: a
    million people before the release share one observation.
    """
    key = belief.observation * (belief.n_candidates + 2) + truth.candidate + 2
    _, one, same = np.unique(key, return_index=True, return_inverse=True)
    return one, one[same]


def tied(loss: Floats) -> Floats:
    """(n_rows, n_answers) probability of each answer: those of smallest loss share it."""
    largest = loss.max(axis=1, keepdims=True, initial=0.0, where=np.isfinite(loss))
    chosen = (loss <= loss.min(axis=1, keepdims=True) + LOSS_TIE * largest).astype(np.float64)
    return np.asarray(chosen / chosen.sum(axis=1, keepdims=True))
