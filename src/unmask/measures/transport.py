"""The earth mover's distance from the prior to the belief: t-closeness as its authors mean it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.errors import UnmaskError
from unmask.measures.base import Measure
from unmask.measures.losses.cells import cells, sharing
from unmask.measures.losses.coordinates import along_places
from unmask.posterior import Posterior


def earth_mover(*, coordinates: ArrayLike | None = None, ground: ArrayLike | None = None) -> Measure:
    """How far mass has to be carried to turn the prior into the belief: t-closeness as its authors mean it, per
    observation; the worst-off is t.

    coordinates : (n_candidates,) values on a line, distance |z - z'|. Exact, sum over the line of the difference of the
                  two distribution functions; their ranks, divided by n - 1, give the ordered distance of t-closeness.
    ground      : (n_candidates, n_candidates) any other distance, at least 0: a transport problem for each observation,
                  solved as a linear program, for hundreds of candidates at most. All distances 1: `total_variation`.
    Needs a closed world: mass on "none of these" has no place to be carried from. Unlike the divergence it tells near
    values from far ones: report both, and name both.

    >>> belief = Posterior.from_dense(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    >>> earth_mover(coordinates=[3.0, 4.0, 5.0]).per_target(belief).round(6)
    array([1.      , 0.666667])
    >>> earth_mover(ground=1 - np.eye(3)).per_target(belief).round(6)
    array([0.666667, 0.666667])

    N. Li, T. Li and S. Venkatasubramanian, "t-Closeness", 2007, section 5.
    """
    if (coordinates is None) == (ground is None):
        raise UnmaskError("the earth mover needs either coordinates on a line or a ground distance, not both or none")
    if coordinates is not None:
        distance = _on_a_line(np.asarray(coordinates, dtype=np.float64))
    else:
        distance = _by_transport(np.asarray(ground, dtype=np.float64))
    return Measure(
        name="earth_mover",
        label="Shift of belief, t by distance",
        meaning="how far mass has to be carried to turn the prior into the belief (earth mover's distance)",
        unit="distance",
        direction="high",
        source="N. Li et al., 't-Closeness', 2007, section 5",
        self_assessed=distance,
        needs_probabilities=True,
    )


def _closed_prior(belief: Posterior) -> NDArray[np.float64]:
    """(n_candidates,) the prior, sum 1, of a belief that leaves nothing to "none of these"."""
    open_ = np.flatnonzero((belief.unlisted > 0) & ~sharing(belief))
    prior = np.exp(belief.prior_of(np.arange(belief.n_candidates, dtype=np.int32)))
    if open_.size or belief.prior_none:
        raise UnmaskError(
            f'{open_.size} observations leave mass to "none of these" and the prior sums to {prior.sum():.6g}, '
            "expected none and 1: the earth mover needs every belief to be about the candidates"
        )
    return np.asarray(prior / prior.sum())


def _on_a_line(z: NDArray[np.float64]) -> Callable[[Posterior], NDArray[np.float64]]:
    def distance(belief: Posterior) -> NDArray[np.float64]:
        if z.shape != (belief.n_candidates,) or not np.all(np.isfinite(z)):
            raise UnmaskError(
                f"the coordinates have shape {z.shape}, expected one finite number for each of "
                f"{belief.n_candidates} candidates"
            )
        order, out = np.argsort(z, kind="stable"), np.empty(belief.n_observations)
        line = _Line(np.cumsum(_closed_prior(belief)[order])[:-1], np.diff(z[order]))
        for rows, p, place in along_places(belief, z):
            out[rows] = line.carried(p, place)
        return np.maximum(out, 0.0)

    return distance


class _Line:
    """The prior's distribution function Q on a line, constant on each gap between neighbors, and its integral."""

    def __init__(self, below: NDArray[np.float64], gap: NDArray[np.float64]) -> None:
        self.below = below
        self.length = np.concatenate(([0.0], np.cumsum(gap)))
        self.area = np.concatenate(([0.0], np.cumsum(below * gap)))

    def carried(self, p: NDArray[np.float64], place: NDArray[np.int64]) -> NDArray[np.float64]:
        """Integral of |F - Q| for each row, whose F is a step c on the gaps from one listed place to the next: below
        the place where Q crosses c it is c - Q, above Q - c. So the work is in the listed candidates, not in all.

        p, place : (n_rows, width) by ascending place
        """
        height = np.cumsum(p, axis=1)
        height /= height[:, -1:]
        edge = np.column_stack([place, np.full(len(place), len(self.below))])
        cross = np.clip(np.searchsorted(self.below, height), edge[:, :-1], edge[:, 1:])
        length, area = self.length[cross], self.area[cross]
        low = height * (length - self.length[edge[:, :-1]]) - (area - self.area[edge[:, :-1]])
        high = (self.area[edge[:, 1:]] - area) - height * (self.length[edge[:, 1:]] - length)
        return np.asarray((low + high).sum(axis=1) + self.area[place[:, 0]])


def _by_transport(ground: NDArray[np.float64]) -> Callable[[Posterior], NDArray[np.float64]]:
    def distance(belief: Posterior) -> NDArray[np.float64]:
        n = belief.n_candidates
        if ground.shape != (n, n) or not np.all(np.isfinite(ground)) or ground.min() < 0:
            raise UnmaskError(f"the ground distance has shape {ground.shape}, expected {n} x {n}, finite, at least 0")
        prior, out = _closed_prior(belief), np.empty(belief.n_observations)
        for part in cells(belief):
            p = part.p / np.repeat(part.mass, part.length)
            for row in range(len(part.nobody)):
                entries = slice(part.indptr[row], part.indptr[row + 1])
                out[part.start + row] = transport(p[entries], prior, ground[part.candidate[entries]])
        return out

    return distance


def transport(p: NDArray[np.float64], q: NDArray[np.float64], ground: NDArray[np.float64]) -> float:
    """Smallest cost of carrying p to q: min sum_ij f_ij d_ij, f >= 0 with margins p and q.

    p, q : (n,) and (m,), the same sum; ground : (n, m)

    >>> transport(np.array([0.5, 0.5]), np.array([0.0, 1.0]), np.array([[0.0, 3.0], [3.0, 0.0]]))
    1.5
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    supplies, demands = p > 0, q > 0
    cost = ground[np.ix_(supplies, demands)]
    n, m = cost.shape
    every = np.arange(n * m)
    row, column = np.concatenate([every // m, n + every % m]), np.concatenate([every, every])
    margins = csr_array((np.ones(2 * n * m), (row, column)), shape=(n + m, n * m))
    sums = np.concatenate([p[supplies], q[demands] * (p.sum() / q.sum())])
    # the last margin follows from the others
    solved = linprog(cost.ravel(), A_eq=margins[:-1], b_eq=sums[:-1], method="highs")  # type: ignore[call-overload]
    if solved.status != 0:
        raise UnmaskError(f"the transport problem of {n} x {m} was not solved: {solved.message}")
    return max(float(solved.fun), 0.0)
