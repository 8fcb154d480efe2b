"""Distances in the plane and on the Earth; their best answer is the geometric median, found by Newton's and Weiszfeld's
steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import ClassVar, NamedTuple

import numpy as np

from unmask.core.csr_rows import segment_max
from unmask.core.posterior import Posterior
from unmask.measures.losses.cells import Bools, Cells, Floats, Ints, cells
from unmask.measures.losses.coordinates import Points, mean
from unmask.measures.losses.extent import diameter
from unmask.remembered import remembered

EARTH_RADIUS_M = 6_371_008.8
"""Mean radius of the Earth, in meters (IUGG)."""

PRECISION = 1e-6
"""The expected distance that is found exceeds the smallest one by at most this share of it; beliefs are float32."""

STEPS = 1000
"""Steps after which a row is left as it is; a handful are needed unless the points are nearly on a line."""


def length_of(vector: Floats) -> Floats:
    """Euclidean length over the last axis, without a temporary for the squares."""
    return np.asarray(np.sqrt(np.einsum("...i,...i->...", vector, vector)))


@dataclass(frozen=True, eq=False)
class Distance(Points):
    """d(a, x) = |a - z_x|, Euclidean. The best answer is the geometric median.

    Where the median is one of the points, it is that point exactly; elsewhere Newton's steps, and Weiszfeld's where
    those lead farther away, stop as soon as the expected distance is known to be within `PRECISION` of the smallest.
    On the Earth, where all steps are Weiszfeld's, that holds if the points of a row lie within a quarter of the
    circumference; otherwise it may be a local minimum.

    E. Weiszfeld, "Sur le point pour lequel la somme des distances de n points donnés est minimum", 1937; Y. Vardi and
    C.-H. Zhang, "The multivariate L1-median and associated data depth", 2000 (steps that land on a point); P. T.
    Fletcher et al., "The geometric median on Riemannian manifolds", 2009.
    """

    curved: ClassVar[bool] = False

    @cached_property
    def largest(self) -> float:
        """Diameter of the candidates."""
        return diameter(self.points)

    def __eq__(self, other: object) -> bool:
        """Whether it is the same loss: measures of one loss each make their own."""
        return isinstance(other, Distance) and type(self) is type(other) and np.array_equal(self.points, other.points)

    def __hash__(self) -> int:
        """By how many points there are."""
        return hash((type(self), self.points.shape))

    def decide(self, belief: Posterior) -> tuple[Floats, Floats]:
        """Expected distance from the geometric median, and the median."""
        return decided(self, belief)

    def away(self, a: Floats, b: Floats) -> Floats:
        """|a - b|."""
        return length_of(a - b)

    def towards(self, a: Floats, b: Floats) -> Floats:
        """The vectors at a whose lengths are the distances to b."""
        return b - a

    def walk(self, a: Floats, step: Floats) -> Floats:
        """Where these steps lead from a."""
        return a + step

    def nearby(self, center: Floats) -> Floats:
        """A mean of points made a point."""
        return center


@dataclass(frozen=True, eq=False)
class Earth(Distance):
    """Great circles on a sphere of `EARTH_RADIUS_M`. points : (n_candidates, 3) unit vectors."""

    curved: ClassVar[bool] = True

    @classmethod
    def from_degrees(cls, coordinates: Floats) -> Earth:
        """coordinates : (n_candidates, 2) latitude and longitude in degrees."""
        latitude, longitude = np.radians(coordinates).T
        level = np.cos(latitude)
        return cls(np.column_stack([level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)]))

    @cached_property
    def largest(self) -> float:
        """Diameter of the candidates; half the circumference if they spread over more than a quarter of it, where an
        answer may be farther from a candidate than any two candidates are.
        """
        rough = diameter(self.points[:: max(len(self.points) // 1000, 1)])
        if rough > np.sqrt(2.0):
            return float(np.pi * EARTH_RADIUS_M)
        angle = 2.0 * np.arcsin(min(diameter(self.points) / 2.0, 1.0))
        return float((angle if angle <= np.pi / 2 else np.pi) * EARTH_RADIUS_M)

    def away(self, a: Floats, b: Floats) -> Floats:
        """Great-circle distance in meters, from the chord: exact for near points too."""
        chord = length_of(a - b)
        return np.asarray(2.0 * EARTH_RADIUS_M * np.arcsin(np.minimum(chord / 2.0, 1.0)))

    def towards(self, a: Floats, b: Floats) -> Floats:
        """Tangent at a along the great circle to b, as long as the distance; 0 for the opposite point."""
        tangent = b - a - ((b - a) * a).sum(axis=-1, keepdims=True) * a
        length = length_of(tangent)[..., None]
        return np.asarray(tangent * (self.away(a, b)[..., None] / np.where(length > 0, length, 1.0)))

    def walk(self, a: Floats, step: Floats) -> Floats:
        """End of the great circle that leaves a along the step."""
        length = length_of(step)[..., None]
        angle = length / EARTH_RADIUS_M
        return self.nearby(a * np.cos(angle) + step * (np.sin(angle) / np.where(length > 0, length, 1.0)))

    def nearby(self, center: Floats) -> Floats:
        """The point of the surface above the mean; the north pole where that is the center of the Earth."""
        length = length_of(center)[..., None]
        up = np.where(length > 1e-12, center / np.where(length > 1e-12, length, 1.0), np.array([0.0, 0.0, 1.0]))
        return np.asarray(up)

    def given(self, answer: Floats) -> Floats:
        """Latitude and longitude in degrees."""
        latitude = np.arctan2(answer[:, 2], np.hypot(answer[:, 0], answer[:, 1]))
        return np.asarray(np.degrees(np.column_stack([latitude, np.arctan2(answer[:, 1], answer[:, 0])])))


@remembered(2)  # of a belief and of its prior, for one measure after the other; `audit` clears it
def decided(geometry: Distance, belief: Posterior) -> tuple[Floats, Floats]:
    """(n_observations,) the expected distance from the geometric median, and (n_observations, n_dimensions) the median,
    neither to be written to.
    """
    points = geometry.points
    risk, answer = np.empty(belief.n_observations), np.empty((belief.n_observations, points.shape[1]))
    for part in cells(belief):
        here = slice(part.start, part.stop)
        answer[here] = geometric_medians(part, geometry)
        away = geometry.away(np.repeat(answer[here], part.length, axis=0), points[part.candidate])
        risk[here] = part.sum(part.p * away)
    for array in (risk, answer):
        array.setflags(write=False)
    return risk, answer


def geometric_medians(part: Cells, geometry: Distance) -> Floats:
    """(n_rows, n_dimensions) the point of smallest expected distance of each row, in the geometry's own coordinates."""
    answer = geometry.nearby(mean(part, geometry.points))
    rows = np.flatnonzero(part.length > 0)
    work = _Rows(part.p, geometry.points[part.candidate], part.indptr[np.append(rows, len(part.nobody))])
    nowhere = np.full(len(rows), np.inf)
    search = _Search(rows, work, answer[rows], nowhere, answer[None, rows], np.zeros(len(rows), dtype=np.int64))
    search = search.settled(answer, geometry, work.heaviest())
    for step in range(1, STEPS + 1):
        if not len(search.rows):
            break
        search, nearest = search.stepped(answer, geometry)
        if step & (step - 1) == 0:  # after 1, 2, 4, ... steps: is it the point that is closest by?
            search = search.settled(answer, geometry, nearest)
    answer[search.rows] = search.best
    return answer


@dataclass(frozen=True, eq=False)
class _Search:
    """Rows whose median is still to be found.

    rows     : (n_rows,) their numbers
    work     : their entries
    best     : (n_rows, n_dimensions) the best place so far
    expected : (n_rows,) the expected distance there
    ways     : (n_ways, n_rows, n_dimensions) where to go from there, one after the other until the expected distance is
               smaller; the last is where Weiszfeld's step leads, which is always so
    tried    : (n_rows,) how many of them were of no use
    """

    rows: Ints
    work: _Rows
    best: Floats
    expected: Floats
    ways: Floats
    tried: Ints

    def keep(self, mask: Bools) -> _Search:
        """The rows of the mask."""
        return _Search(
            self.rows[mask],
            self.work.keep(mask),
            self.best[mask],
            self.expected[mask],
            self.ways[:, mask],
            self.tried[mask],
        )

    def settled(self, answer: Floats, geometry: Distance, guess: Floats) -> _Search:
        """Write the rows whose median is the guessed point into `answer`, and hand back the others."""
        if not len(self.rows):
            return self
        pull, own, *_ = self.work.pull(guess, geometry)
        settled = length_of(pull) <= own * (1.0 + 1e-9)
        answer[self.rows[settled]] = guess[settled]
        return self.keep(~settled)

    def stepped(self, answer: Floats, geometry: Distance) -> tuple[_Search, Floats]:
        """Move the rows that are not good enough from the best place so far; the others are left out. And the point
        nearest to where each was.
        """
        place, row = answer[self.rows], np.arange(len(self.rows))
        at = self.work.step(place, geometry)
        better = at.expected <= self.expected * (1.0 + 1e-12)
        best, ways = (np.where(better[:, None], *two) for two in ((place, self.best), (at.ways, self.ways)))
        tried = np.where(better, 0, np.minimum(self.tried + 1, len(ways) - 1))
        left = ~at.done
        answer[self.rows[left]] = ways[tried, row][left]
        expected = np.where(better, at.expected, self.expected)
        return _Search(self.rows, self.work, best, expected, ways, tried).keep(left), at.nearest[left]


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows whose median is still to be found: belief and place of each entry; no row is empty."""

    p: Floats
    place: Floats
    indptr: Ints

    def keep(self, mask: Bools) -> _Rows:
        """The rows of the mask."""
        if mask.all():
            return self
        length = np.diff(self.indptr)
        entries = np.repeat(mask, length)
        return _Rows(self.p[entries], self.place[entries], np.concatenate(([0], np.cumsum(length[mask]))))

    def sum(self, values: Floats) -> Floats:
        """Sum over the entries of each row, over the first axis."""
        if not len(self.indptr[:-1]):
            return values[:0]
        return np.asarray(np.add.reduceat(values, self.indptr[:-1], axis=0))

    def spread(self, values: Floats) -> Floats:
        """One value for each row, at each of its entries."""
        return np.repeat(values, np.diff(self.indptr), axis=0)

    def _argmax(self, values: Floats) -> Ints:
        top = np.flatnonzero(values >= self.spread(segment_max(values, self.indptr, empty=0.0)))
        return top[np.searchsorted(top, self.indptr[:-1])]

    def heaviest(self) -> Floats:
        """(n_rows, n_dimensions) the likeliest point of each row."""
        return self.place[self._argmax(self.p)] if len(self.p) else self.place

    def pull(self, at: Floats, geometry: Distance) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """How the points pull at these places, sum_i p_i (unit vector to i); the mass that lies right there; the
        weights p_i / distance; the distances; and the vectors to the points.
        """
        vector = geometry.towards(self.spread(at), self.place)
        away = length_of(vector)
        here = away <= self.spread(1e-12 * segment_max(away, self.indptr, empty=0.0))
        weight = np.where(here, 0.0, self.p / np.where(here, 1.0, away))
        return self.sum(weight[:, None] * vector), self.sum(np.where(here, self.p, 0.0)), weight, away, vector

    def step(self, at: Floats, geometry: Distance) -> _Step:
        """What there is to know at these places.

        The expected distance f is convex: f - min f <= |slope| * (largest distance to a point).
        """
        pull, own, weight, away, vector = self.pull(at, geometry)
        force = length_of(pull)
        reach, expected = segment_max(away, self.indptr, empty=0.0), self.sum(self.p * away)
        done = np.maximum(force - own, 0.0) * reach <= PRECISION * expected
        total = self.sum(weight)
        held = np.minimum(1.0, own / np.where(force > 0, force, 1.0))
        stride = (1.0 - held)[:, None] * pull / np.where(total > 0, total, 1.0)[:, None]
        newton = stride
        if not geometry.curved:
            steep = self._newton(pull, weight / np.where(away > 0, away, 1.0) ** 2, vector, total)
            newton = np.where((own > 0)[:, None], stride, steep)
        nearest = self.place[self._argmax(-away)]
        ways = (
            geometry.walk(at, newton),
            nearest,
            *(geometry.walk(at, newton / k) for k in (4, 16, 64)),
            geometry.walk(at, stride),
        )
        return _Step(expected, done, np.stack(ways), nearest)

    def _newton(self, pull: Floats, weight: Floats, vector: Floats, total: Floats) -> Floats:
        """The steps to the smallest value of the parabola that fits f here; Weiszfeld's where it has none.

        The second derivative of sum_i p_i |a - z_i| is sum_i p_i / |v_i| (1 - v_i v_i' / |v_i|^2), v_i = z_i - a.
        weight : p_i / |v_i|^3
        """
        n = vector.shape[1]
        bend = total[:, None, None] * np.eye(n)
        for i, j in combinations_with_replacement(range(n), 2):
            bend[:, i, j] -= self.sum(weight * vector[:, i] * vector[:, j])
            bend[:, j, i] = bend[:, i, j]
        flat = np.linalg.det(bend) <= 1e-9 * total**n
        bend[flat] = np.where(total > 0, total, 1.0)[flat, None, None] * np.eye(n)
        return np.asarray(np.linalg.solve(bend, pull[..., None])[..., 0])


class _Step(NamedTuple):
    """At some places: the expected distance, whether it is small enough, where to go next, see `_Search`, and the point
    that is nearest.
    """

    expected: Floats
    done: Bools
    ways: Floats
    nearest: Floats
