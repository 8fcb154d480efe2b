"""Distances in the plane and on the Earth. The best answer is the geometric median, found by Newton and
Weiszfeld steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import segment_max
from unmask.core.distinct_rows import cache_on_posterior
from unmask.core.posterior import Posterior
from unmask.core.tolerances import MEDIAN_PRECISION, POINT_TIE, VALUE_TIE
from unmask.measures.losses.coordinates import Points, diameter, mean_points
from unmask.measures.losses.problem import ExpandedRows, expand_rows

EARTH_RADIUS_M = 6_371_008.8
"""Mean radius of the Earth, in meters (IUGG)."""

MAX_STEPS = 1000
"""Largest number of steps per row. A few are sufficient, unless the points are nearly on a line."""


def length_of(vector: Floats) -> Floats:
    """Return the Euclidean length over the last axis, without a temporary array of squares."""
    return np.asarray(np.sqrt(np.einsum("...i,...i->...", vector, vector)))


@dataclass(frozen=True, eq=False)
class Distance(Points):
    """Loss d(a, x) = |a - z_x|, Euclidean. The best answer is the geometric median.

    If the median is one of the points, it is found exactly. Otherwise Newton steps are used, or Weiszfeld steps if the
    Newton step increases the distance. The search stops if the expected distance is within `MEDIAN_PRECISION` of the
    smallest. On the Earth the steps are those of the tangent plane, and the precision holds if the points of a row lie
    within a quarter of the circumference. Otherwise the result may be a local minimum.

    E. Weiszfeld, "Sur le point pour lequel la somme des distances de n points donnés est minimum", 1937; Y. Vardi and
    C.-H. Zhang, "The multivariate L1-median and associated data depth", 2000 (steps that land on a point); P. T.
    Fletcher et al., "The geometric median on Riemannian manifolds", 2009.
    """

    @cached_property
    def largest(self) -> float:
        """Return the diameter of the candidates."""
        return diameter(self.points)

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same points: each measure of a loss builds its own object."""
        return isinstance(other, Distance) and type(self) is type(other) and np.array_equal(self.points, other.points)

    def __hash__(self) -> int:
        """Return a hash of the number of points."""
        return hash((type(self), self.points.shape))

    def decide(self, belief: Posterior) -> tuple[Floats, Floats]:
        """Return the expected distance from the geometric median, and the median."""
        return find_medians(belief, self)

    def distance(self, a: Floats, b: Floats) -> Floats:
        """Return |a - b|."""
        return length_of(a - b)

    def vectors(self, a: Floats, b: Floats) -> Floats:
        """Return vectors at a, whose lengths are the distances to b."""
        return b - a

    def walk(self, a: Floats, step: Floats) -> Floats:
        """Return the end points of steps from a."""
        return a + step

    def project(self, center: Floats) -> Floats:
        """Return the point of the space that is nearest to a mean of points."""
        return center


@dataclass(frozen=True, eq=False)
class Earth(Distance):
    """Great-circle distance on a sphere of `EARTH_RADIUS_M`. points : (n_candidates, 3) unit vectors."""

    @classmethod
    def from_degrees(cls, coordinates: Floats) -> Earth:
        """Return the loss of points given as (n_candidates, 2) latitude and longitude in degrees."""
        latitude, longitude = np.radians(coordinates).T
        level = np.cos(latitude)
        return cls(np.column_stack([level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)]))

    @cached_property
    def largest(self) -> float:
        """Return the diameter of the candidates, or half the circumference if they spread over more than a quarter of
        it.

        In the second case, an answer may be farther from a candidate than any two candidates are from each other.
        """
        estimate = diameter(self.points[:: max(len(self.points) // 1000, 1)])
        if estimate > np.sqrt(2.0):
            return float(np.pi * EARTH_RADIUS_M)
        angle = 2.0 * np.arcsin(min(diameter(self.points) / 2.0, 1.0))
        return float((angle if angle <= np.pi / 2 else np.pi) * EARTH_RADIUS_M)

    def distance(self, a: Floats, b: Floats) -> Floats:
        """Return the great-circle distance in meters, computed from the chord, which is exact for near points."""
        chord = length_of(a - b)
        return np.asarray(2.0 * EARTH_RADIUS_M * np.arcsin(np.minimum(chord / 2.0, 1.0)))

    def vectors(self, a: Floats, b: Floats) -> Floats:
        """Return tangents at a along the great circle to b, with the length of the distance; 0 for the opposite
        point.
        """
        tangent = b - a - ((b - a) * a).sum(axis=-1, keepdims=True) * a
        length = length_of(tangent)[..., None]
        return np.asarray(tangent * (self.distance(a, b)[..., None] / np.where(length > 0, length, 1.0)))

    def walk(self, a: Floats, step: Floats) -> Floats:
        """Return the end points of great circles that start at a in the direction of the steps."""
        length = length_of(step)[..., None]
        angle = length / EARTH_RADIUS_M
        return self.project(a * np.cos(angle) + step * (np.sin(angle) / np.where(length > 0, length, 1.0)))

    def project(self, center: Floats) -> Floats:
        """Return the surface point above the mean; the north pole for the center of the Earth."""
        length = length_of(center)[..., None]
        is_off_center = length > POINT_TIE
        unit = np.where(is_off_center, center / np.where(is_off_center, length, 1.0), np.array([0.0, 0.0, 1.0]))
        return np.asarray(unit)

    def to_coordinates(self, answer: Floats) -> Floats:
        """Return latitude and longitude in degrees."""
        latitude = np.arctan2(answer[:, 2], np.hypot(answer[:, 0], answer[:, 1]))
        return np.asarray(np.degrees(np.column_stack([latitude, np.arctan2(answer[:, 1], answer[:, 0])])))


@cache_on_posterior
def find_medians(belief: Posterior, geometry: Distance) -> tuple[Floats, Floats]:
    """Return the expected distance from the geometric median of each row, and the medians, both read-only."""
    points = geometry.points
    risk, answer = np.empty(belief.n_observations), np.empty((belief.n_observations, points.shape[1]))
    for part in expand_rows(belief):
        rows = slice(part.start, part.stop)
        answer[rows] = geometric_medians(part, geometry)
        distance = geometry.distance(np.repeat(answer[rows], part.length, axis=0), points[part.candidate])
        risk[rows] = part.sum(part.p * distance)
    for array in (risk, answer):
        array.setflags(write=False)
    return risk, answer


def geometric_medians(part: ExpandedRows, geometry: Distance) -> Floats:
    """Return the point with the smallest expected distance for each row, in the coordinates of the geometry."""
    answer = geometry.project(mean_points(part, geometry.points))
    rows = np.flatnonzero(part.length > 0)
    entries = _Entries(part.p, geometry.points[part.candidate], part.indptr[np.append(rows, len(part.none_mass))])
    infinite = np.full(len(rows), np.inf)
    search = _Search(rows, entries, answer[rows], infinite, answer[None, rows], np.zeros(len(rows), dtype=np.int64))
    search = search.settle(answer, geometry, entries.likeliest_point())
    for step in range(1, MAX_STEPS + 1):
        if not len(search.rows):
            break
        search, nearest = search.advance(answer, geometry)
        if step & (step - 1) == 0:  # after 1, 2, 4, ... steps, test if the nearest point is the median
            search = search.settle(answer, geometry, nearest)
    answer[search.rows] = search.place
    return answer


@dataclass(frozen=True, eq=False)
class _Search:
    """Rows whose median is not found yet.

    rows : (n_rows,) numbers of the rows
    entries : entries of these rows
    place : (n_rows, n_dimensions) best position so far
    expected : (n_rows,) expected distance at this position
    moves : (n_moves, n_rows, n_dimensions) next positions, tried until the expected distance decreases; the last is
        Weiszfeld's step, which always decreases it
    n_tried : (n_rows,) number of moves without a decrease
    """

    rows: Integers
    entries: _Entries
    place: Floats
    expected: Floats
    moves: Floats
    n_tried: Integers

    def select(self, mask: Booleans) -> _Search:
        """Return the rows in the mask."""
        return _Search(
            self.rows[mask],
            self.entries.select(mask),
            self.place[mask],
            self.expected[mask],
            self.moves[:, mask],
            self.n_tried[mask],
        )

    def settle(self, answer: Floats, geometry: Distance, guess: Floats) -> _Search:
        """Write the medians that are equal to the guessed point to `answer`, and return the other rows."""
        if not len(self.rows):
            return self
        pull, point_mass, *_ = self.entries.pull(guess, geometry)
        is_settled = length_of(pull) <= point_mass * (1.0 + VALUE_TIE)
        answer[self.rows[is_settled]] = guess[is_settled]
        return self.select(~is_settled)

    def advance(self, answer: Floats, geometry: Distance) -> tuple[_Search, Floats]:
        """Move the rows that are not precise enough. Returns them, and the point nearest to each former position."""
        place, row = answer[self.rows], np.arange(len(self.rows))
        step = self.entries.step(place, geometry)
        is_better = step.expected <= self.expected * (1.0 + POINT_TIE)
        better_place = np.where(is_better[:, None], place, self.place)
        moves = np.where(is_better[:, None], step.moves, self.moves)
        n_tried = np.where(is_better, 0, np.minimum(self.n_tried + 1, len(moves) - 1))
        is_open = ~step.is_done
        answer[self.rows[is_open]] = moves[n_tried, row][is_open]
        expected = np.where(is_better, step.expected, self.expected)
        search = _Search(self.rows, self.entries, better_place, expected, moves, n_tried)
        return search.select(is_open), step.nearest[is_open]


class _Step(NamedTuple):
    """Expected distance at the positions, whether it is small enough, the next positions, and the nearest point."""

    expected: Floats
    is_done: Booleans
    moves: Floats
    nearest: Floats


@dataclass(frozen=True, eq=False)
class _Entries:
    """Probability and point of each entry of the rows of a search; no row is empty."""

    p: Floats
    point: Floats
    indptr: Integers

    def select(self, mask: Booleans) -> _Entries:
        """Return the entries of the rows in the mask."""
        if mask.all():
            return self
        length = np.diff(self.indptr)
        entries = np.repeat(mask, length)
        return _Entries(self.p[entries], self.point[entries], np.concatenate(([0], np.cumsum(length[mask]))))

    def sum(self, values: Floats) -> Floats:
        """Return the sum over the entries of each row, over the first axis."""
        if not len(self.indptr[:-1]):
            return values[:0]
        return np.asarray(np.add.reduceat(values, self.indptr[:-1], axis=0))

    def spread(self, values: Floats) -> Floats:
        """Return for each entry the value of its row."""
        return np.repeat(values, np.diff(self.indptr), axis=0)

    def _argmax(self, values: Floats) -> Integers:
        top = np.flatnonzero(values >= self.spread(segment_max(values, self.indptr, empty=0.0)))
        return top[np.searchsorted(top, self.indptr[:-1])]

    def likeliest_point(self) -> Floats:
        """Return the likeliest point of each row."""
        return self.point[self._argmax(self.p)] if len(self.p) else self.point

    def pull(self, place: Floats, geometry: Distance) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Return the pull of the points at the positions, sum_i p_i (unit vector to i), and the mass at each position.

        Also return the weights p_i / distance, the distances, and the vectors to the points.
        """
        vector = geometry.vectors(self.spread(place), self.point)
        distance = length_of(vector)
        is_same_point = distance <= self.spread(POINT_TIE * segment_max(distance, self.indptr, empty=0.0))
        weight = np.where(is_same_point, 0.0, self.p / np.where(is_same_point, 1.0, distance))
        point_mass = self.sum(np.where(is_same_point, self.p, 0.0))
        return self.sum(weight[:, None] * vector), point_mass, weight, distance, vector

    def step(self, place: Floats, geometry: Distance) -> _Step:
        """Return the next step from the positions.

        The expected distance f is convex: f - min f <= |slope| * (largest distance to a point).
        """
        pull, point_mass, weight, distance, vector = self.pull(place, geometry)
        force = length_of(pull)
        reach, expected = segment_max(distance, self.indptr, empty=0.0), self.sum(self.p * distance)
        is_done = np.maximum(force - point_mass, 0.0) * reach <= MEDIAN_PRECISION * expected
        total = self.sum(weight)
        friction = np.minimum(1.0, point_mass / np.where(force > 0, force, 1.0))
        weiszfeld = (1.0 - friction)[:, None] * pull / np.where(total > 0, total, 1.0)[:, None]
        cubic = weight / np.where(distance > 0, distance, 1.0) ** 2
        newton = np.where((point_mass > 0)[:, None], weiszfeld, self._newton(pull, cubic, vector, total))
        nearest = self.point[self._argmax(-distance)]
        shorter = (geometry.walk(place, newton / k) for k in (4, 16, 64))
        moves = (geometry.walk(place, newton), nearest, *shorter, geometry.walk(place, weiszfeld))
        return _Step(expected, is_done, np.stack(moves), nearest)

    def _newton(self, pull: Floats, weight: Floats, vector: Floats, total: Floats) -> Floats:
        """Return steps to the minimum of the local quadratic model of f; Weiszfeld's step if it has no minimum.

        The second derivative of sum_i p_i |a - z_i| is sum_i p_i / |v_i| (1 - v_i v_i' / |v_i|^2), v_i = z_i - a.

        weight : p_i / |v_i|^3
        """
        n = vector.shape[1]
        hessian = total[:, None, None] * np.eye(n)
        for i, j in combinations_with_replacement(range(n), 2):
            hessian[:, i, j] -= self.sum(weight * vector[:, i] * vector[:, j])
            hessian[:, j, i] = hessian[:, i, j]
        is_flat = np.linalg.det(hessian) <= VALUE_TIE * total**n
        hessian[is_flat] = np.where(total > 0, total, 1.0)[is_flat, None, None] * np.eye(n)
        return np.asarray(np.linalg.solve(hessian, pull[..., None])[..., 0])
