"""Losses between coordinates whose best answer has a closed form: the mean and the weighted median."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures.losses.problem import ExpandedRows, Problem, expand_rows, fill_with_largest
from unmask.measures.posterior_rows import BLOCK_ENTRIES, blocks, fill_block, mask_block


@dataclass(frozen=True, eq=False)
class Points(Problem):
    """Loss d(a, x) between an answer, which may be any point, and the point of the true candidate.

    points : (n_candidates, n_dimensions)
    is_flat : whether the coordinates were given as (n_candidates,), so that answers are numbers
    """

    points: Floats
    is_flat: bool = False

    @abstractmethod
    def distance(self, a: Floats, b: Floats) -> Floats:
        """Return the losses between points, over the last axis."""

    @abstractmethod
    def decide(self, belief: Posterior) -> tuple[Floats, Floats]:
        """Return the smallest expected loss of the mass on candidates, and its point, (n_observations, n_dimensions).

        If no candidate has mass, the point is the center of the candidates.
        """

    @property
    def n_candidates(self) -> int:
        """Return the number of truths."""
        return len(self.points)

    def best(self, belief: Posterior) -> tuple[Floats, Floats]:
        """Return the result of `decide`, with the cost of "none of these"."""
        risk, answer = self.decide(belief)
        return risk + self.none_of_these_cost(belief), self.to_coordinates(answer)

    def to_coordinates(self, answer: Floats) -> Floats:
        """Return answers in the shape of the coordinates."""
        return (answer[:, 0] if self.is_flat else answer).copy()

    def between(self, answer: Integers, truth: Integers) -> Floats:
        """Return the losses between the points of candidates."""
        return self.distance(self.points[answer], self.points[truth])

    def prior_cost(self, prior: Posterior) -> Floats:
        """Return the loss of the best answer to the prior at each truth."""
        return self.distance(self.points, self.decide(prior)[1])

    def realized_loss(self, belief: Posterior, truth: Truth) -> Floats:
        """Return the loss of the best answer for the truth of each target; an ABSENT truth costs the largest loss."""
        true_points = self.points[np.maximum(truth.candidate, 0)]
        cost = self.distance(self.decide(belief)[1][belief.observation], true_points)
        return fill_with_largest(np.where(truth.candidate < 0, np.nan, cost), self)


@dataclass(frozen=True, eq=False)
class Squared(Points):
    """The loss d(a, x) = |a - z_x|^2, Euclidean. The best answer is the mean of the belief."""

    @cached_property
    def largest(self) -> float:
        """Return the squared diameter: an answer inside the hull is never farther from a candidate."""
        return diameter(self.points) ** 2

    def distance(self, a: Floats, b: Floats) -> Floats:
        """Return |a - b|^2."""
        return np.asarray(((a - b) ** 2).sum(axis=-1))

    def decide(self, belief: Posterior) -> tuple[Floats, Floats]:
        """Return the sum of the variances, and the mean."""
        risk, answer = np.empty(belief.n_observations), np.empty((belief.n_observations, self.points.shape[1]))
        for part in expand_rows(belief):
            answer[part.start : part.stop] = mean_points(part, self.points)
            risk[part.start : part.stop] = self._variance(part, answer[part.start : part.stop])
        return risk, answer

    def _variance(self, part: ExpandedRows, center: Floats) -> Floats:
        total = np.zeros(len(center))
        for z, c in zip(self.points.T, center.T, strict=True):
            deviation = z[part.candidate]
            deviation -= np.repeat(c, part.length)
            deviation *= deviation
            deviation *= part.p
            total += part.sum(deviation)
        return total

    def sampling_loss(self, belief: Posterior) -> Floats:
        """Return twice the variance, the expected squared distance of two draws."""
        return 2.0 * self.decide(belief)[0] + self.none_of_these_cost(belief)


@dataclass(frozen=True, eq=False)
class Absolute(Points):
    """Loss d(a, x) = sum of |a_k - z_xk| over the dimensions.

    The best answer is the weighted median of each dimension. Between two medians it is their midpoint, which has the
    same loss.
    """

    @cached_property
    def largest(self) -> float:
        """Return the diameter of the candidates in this distance."""
        return manhattan_diameter(self.points)

    def distance(self, a: Floats, b: Floats) -> Floats:
        """Return the sum of |a_k - b_k|."""
        return np.asarray(np.abs(a - b).sum(axis=-1))

    def decide(self, belief: Posterior) -> tuple[Floats, Floats]:
        """Return the sum of the mean absolute deviations, and the medians."""
        risk = np.zeros(belief.n_observations)
        answer = np.tile(self.points.mean(axis=0), (belief.n_observations, 1))
        for k in range(self.points.shape[1]):
            for rows, p, z in sort_by_coordinate(belief, self.points[:, k]):
                answer[rows, k] = _median(p, z, belief.resolution)
                risk[rows] += (p * np.abs(z - answer[rows, k, None])).sum(axis=1)
        return risk, answer

    def sampling_loss(self, belief: Posterior) -> Floats:
        """Return the mean absolute difference of two draws (Gini), 2 sum_i F_i (1 - F_i) (z_i+1 - z_i) for each
        dimension.
        """
        expected = np.zeros(belief.n_observations)
        for k in range(self.points.shape[1]):
            for rows, p, z in sort_by_coordinate(belief, self.points[:, k]):
                cumulated = np.cumsum(p, axis=1)
                mass = cumulated[:, -1:]
                crossing = cumulated * (mass - cumulated) / np.where(mass > 0, mass, 1.0)
                expected[rows] += 2.0 * (crossing[:, :-1] * np.diff(z, axis=1)).sum(axis=1)
        return expected + self.none_of_these_cost(belief)


def sort_by_coordinate(belief: Posterior, z: Floats) -> Iterator[tuple[Integers, Floats, Floats]]:
    """Yield rows, their probabilities and coordinates, (n, width), in ascending order of the coordinate.

    Beyond the end of a row, the probability is 0 and the coordinate the largest. Rows without candidates are skipped.

    z : (n_candidates,) coordinates
    """
    rank, value = np.empty(len(z), dtype=np.int64), np.sort(z)
    rank[np.argsort(z, kind="stable")] = np.arange(len(z))
    for part in expand_rows(belief):
        # rank and entry are packed in one integer, which needs only one sort
        word, filler = (rank[part.candidate] << 32) | np.arange(len(part.p)), ((len(z) - 1) << 32) | len(part.p)
        p = np.append(part.p, 0.0)
        for rows, width in blocks(part.indptr):
            block, is_entry = fill_block(word, part.indptr, rows, width), mask_block(part.indptr, rows, width)
            block = np.sort(block if is_entry.all() else np.where(is_entry, block, filler), axis=1)
            yield part.start + rows, p[block & 0xFFFFFFFF], value[block >> 32]


def mean_points(part: ExpandedRows, points: Floats) -> Floats:
    """Return the mean of the points under the belief, (n_rows, n_dimensions); the center without mass on candidates."""
    mass, center = part.mass, points.mean(axis=0)
    # relative to the center, so that a belief with sum 1 + 1e-6 does not move points far from the origin
    shift = [part.sum(part.p * (z - c)[part.candidate]) / mass for z, c in zip(points.T, center, strict=True)]
    return np.asarray(center + np.column_stack(shift))


def _median(p: Floats, z: Floats, resolution: float) -> Floats:
    """Return the midpoint of the medians of each row; z ascending."""
    cumulated, row = np.cumsum(p, axis=1), np.arange(len(p))
    half, slack = cumulated[:, -1:] / 2, resolution * cumulated[:, -1:]
    low, high = (cumulated >= half - slack).argmax(axis=1), (cumulated > half + slack).argmax(axis=1)
    return np.asarray((z[row, low] + z[row, high]) / 2)


def diameter(points: Floats) -> float:
    """Return the largest Euclidean distance between two of the points, exactly.

    Two points at radii r and s from the center are at most r + s apart, so only points near the rim are compared. A
    convex hull would not help on the Earth, where every point is a vertex.

    points : (n, n_dimensions)

    >>> diameter(np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]]))
    5.0
    """
    if points.shape[1] == 1:
        return float(np.ptp(points))
    radius = np.linalg.norm(points - (points.min(axis=0) + points.max(axis=0)) / 2, axis=1)
    order = np.argsort(-radius, kind="stable")
    points, radius = points[order], radius[order]
    largest = _estimate_diameter(points)
    step = max(BLOCK_ENTRIES // (len(points) * points.shape[1]), 1)
    for first in range(0, len(points), step):
        if radius[first] + radius[0] <= largest:
            break
        n_near_rim = int(np.searchsorted(-radius, radius[first] - largest, side="right"))
        difference = points[first : first + step, None, :] - points[None, :n_near_rim, :]
        largest = max(largest, float(np.sqrt((difference**2).sum(axis=-1).max(initial=0.0))))
    return largest


def _estimate_diameter(points: Floats) -> float:
    """Return a distance that is often the largest: from the farthest point to the point farthest from it."""
    point, largest = points[0], 0.0
    for _ in range(3):
        distance = np.linalg.norm(points - point, axis=1)
        point, largest = points[distance.argmax()], max(largest, float(distance.max()))
    return largest


def manhattan_diameter(points: Floats) -> float:
    """Return the largest sum of coordinate differences between two of the points.

    It is the widest range of all signed sums of the coordinates.

    >>> manhattan_diameter(np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]]))
    7.0
    """
    signs = product((1.0, -1.0), repeat=points.shape[1] - 1)
    return max(float(np.ptp(points @ np.array([1.0, *sign]))) for sign in signs)
