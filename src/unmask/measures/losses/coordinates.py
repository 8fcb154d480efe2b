"""Losses between coordinates, and those whose best answer is a closed form: the mean, and the weighted median."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures.losses.cells import Cells, Floats, Ints, blocks, cells, inside, rectangle
from unmask.measures.losses.extent import diameter, diameter_of_blocks
from unmask.measures.losses.problem import Problem, paid_or_largest


@dataclass(frozen=True, eq=False)
class Points(Problem):
    """d(a, x), how far the candidate's point is from the answer, which need be no candidate's.

    points : (n_candidates, n_dimensions)
    flat   : the coordinates were given as (n_candidates,), and answers are numbers
    """

    points: Floats
    flat: bool = False

    @abstractmethod
    def away(self, a: Floats, b: Floats) -> Floats:
        """Losses between points, over the last axis."""

    @abstractmethod
    def decide(self, belief: Posterior) -> tuple[Floats, Floats]:
        """Smallest expected loss of the mass on candidates, and the point (n_observations, n_dimensions) that has it;
        the center of the candidates where the belief is in nobody.
        """

    @property
    def n_candidates(self) -> int:
        """Number of truths."""
        return len(self.points)

    def best(self, belief: Posterior) -> tuple[Floats, Floats]:
        """What `decide` says, with what "none of these" costs."""
        risk, answer = self.decide(belief)
        return risk + self.unanswerable(belief), self.given(answer)

    def given(self, answer: Floats) -> Floats:
        """Answers as the coordinates were given."""
        return (answer[:, 0] if self.flat else answer).copy()

    def between(self, answer: Ints, truth: Ints) -> Floats:
        """Losses between the points of candidates."""
        return self.away(self.points[answer], self.points[truth])

    def prior_cost(self, prior: Posterior) -> Floats:
        """(n_candidates,) loss at each truth of the best answer to the prior."""
        return self.away(self.points, self.decide(prior)[1])

    def paid(self, belief: Posterior, truth: Truth) -> Floats:
        """Loss of the best answer at the truth of each target; an ABSENT truth costs the largest loss."""
        there = self.points[np.maximum(truth.candidate, 0)]
        cost = self.away(self.decide(belief)[1][belief.observation], there)
        return paid_or_largest(np.where(truth.candidate < 0, np.nan, cost), self)


@dataclass(frozen=True, eq=False)
class Squared(Points):
    """d(a, x) = |a - z_x|^2, Euclidean. The best answer is the mean of the belief."""

    @cached_property
    def largest(self) -> float:
        """Squared diameter of the candidates: no answer inside their hull is farther from one of them."""
        return diameter(self.points) ** 2

    def away(self, a: Floats, b: Floats) -> Floats:
        """|a - b|^2."""
        return np.asarray(((a - b) ** 2).sum(axis=-1))

    def decide(self, belief: Posterior) -> tuple[Floats, Floats]:
        """Sum of the variances, and the mean."""
        risk, answer = np.empty(belief.n_observations), np.empty((belief.n_observations, self.points.shape[1]))
        for part in cells(belief):
            answer[part.start : part.stop] = mean(part, self.points)
            risk[part.start : part.stop] = self._spread(part, answer[part.start : part.stop])
        return risk, answer

    def _spread(self, part: Cells, center: Floats) -> Floats:
        total = np.zeros(len(center))
        for z, c in zip(self.points.T, center.T, strict=True):
            away = z[part.candidate]
            away -= np.repeat(c, part.length)
            away *= away
            away *= part.p
            total += part.sum(away)
        return total

    def sampled(self, belief: Posterior) -> Floats:
        """Twice the variance: two draws are on average sqrt(2) times as far apart as one is from the mean."""
        return 2.0 * self.decide(belief)[0] + self.unanswerable(belief)


@dataclass(frozen=True, eq=False)
class Absolute(Points):
    """d(a, x) = sum of |a_k - z_xk| over the dimensions. The best answer is the weighted median of each; between two
    medians their middle is answered, which costs the same.
    """

    @cached_property
    def largest(self) -> float:
        """Diameter of the candidates in this distance."""
        return diameter_of_blocks(self.points)

    def away(self, a: Floats, b: Floats) -> Floats:
        """Sum of |a_k - b_k|."""
        return np.asarray(np.abs(a - b).sum(axis=-1))

    def decide(self, belief: Posterior) -> tuple[Floats, Floats]:
        """Sum of the mean absolute deviations, and the medians."""
        risk = np.zeros(belief.n_observations)
        answer = np.tile(self.points.mean(axis=0), (belief.n_observations, 1))
        for k in range(self.points.shape[1]):
            for rows, p, z in along(belief, self.points[:, k]):
                answer[rows, k] = _median(p, z, belief.resolution)
                risk[rows] += (p * np.abs(z - answer[rows, k, None])).sum(axis=1)
        return risk, answer

    def sampled(self, belief: Posterior) -> Floats:
        """Mean absolute difference of two draws (Gini), 2 sum_i F_i (1 - F_i) (z_i+1 - z_i) in each dimension."""
        out = np.zeros(belief.n_observations)
        for k in range(self.points.shape[1]):
            for rows, p, z in along(belief, self.points[:, k]):
                below = np.cumsum(p, axis=1)
                mass = below[:, -1:]
                crossed = below * (mass - below) / np.where(mass > 0, mass, 1.0)
                out[rows] += 2.0 * (crossed[:, :-1] * np.diff(z, axis=1)).sum(axis=1)
        return out + self.unanswerable(belief)


def along(belief: Posterior, z: Floats) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Rows, their belief and its coordinates, (n, width), by ascending coordinate; behind the end belief is 0 and the
    coordinate the largest. Rows in which no candidate has mass do not come.

    z : (n_candidates,)
    """
    value = np.sort(z)
    for rows, p, place in along_places(belief, z):
        yield rows, p, value[place]


def along_places(belief: Posterior, z: Floats) -> Iterator[tuple[Ints, Floats, Ints]]:
    """As `along`, with the places of the candidates in ascending order of z."""
    rank = np.empty(len(z), dtype=np.int64)
    rank[np.argsort(z, kind="stable")] = np.arange(len(z))
    for part in cells(belief):
        # place and entry in one word: one sort of integers carries both
        word, behind = (rank[part.candidate] << 32) | np.arange(len(part.p)), ((len(z) - 1) << 32) | len(part.p)
        p = np.append(part.p, 0.0)
        for rows, width in blocks(part.indptr):
            block, real = rectangle(word, part.indptr, rows, width), inside(part.indptr, rows, width)
            block = np.sort(block if real.all() else np.where(real, block, behind), axis=1)
            yield part.start + rows, p[block & 0xFFFFFFFF], block >> 32


def mean(part: Cells, points: Floats) -> Floats:
    """(n_rows, n_dimensions) mean of the points under the belief; their plain mean where the belief is in nobody."""
    mass, center = part.mass, points.mean(axis=0)
    # relative to the center: a belief that sums to 1 + 1e-6 must not move a point that is far from the origin
    shift = [part.sum(part.p * (z - c)[part.candidate]) / mass for z, c in zip(points.T, center, strict=True)]
    return np.asarray(center + np.column_stack(shift))


def _median(p: Floats, z: Floats, resolution: float) -> Floats:
    """(n_rows,) middle of the medians of each row; z ascending."""
    below, row = np.cumsum(p, axis=1), np.arange(len(p))
    half, slack = below[:, -1:] / 2, resolution * below[:, -1:]
    low, high = (below >= half - slack).argmax(axis=1), (below > half + slack).argmax(axis=1)
    return np.asarray((z[row, low] + z[row, high]) / 2)
