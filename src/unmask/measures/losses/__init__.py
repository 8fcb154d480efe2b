"""What a wrong answer costs: named losses, a matrix or a callable, made into the adversary's decision problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.errors import UnmaskError
from unmask.measures.losses.cells import Floats, Ints
from unmask.measures.losses.coordinates import Absolute, Squared
from unmask.measures.losses.discrete import NOBODY, Hamming, Listed, Matrix
from unmask.measures.losses.distances import EARTH_RADIUS_M, Distance, Earth
from unmask.measures.losses.problem import PAIRS, Problem

__all__ = ["EARTH_RADIUS_M", "LOSS_NAMES", "NOBODY", "Loss", "LossName", "Problem", "as_matrix", "decision_problem"]

LossName = Literal["hamming", "squared", "absolute", "euclidean", "haversine", "euclidean_medoid", "haversine_medoid"]
"""Losses that go by a name; what each needs is said in `decision_problem`."""

LOSS_NAMES: tuple[LossName, ...] = get_args(LossName)
"""The losses that have a name."""

Loss = LossName | ArrayLike | Callable[[Ints, Ints], ArrayLike]
"""A name, an (n_answers, n_candidates) matrix d[answer, truth], or a callable of candidate numbers."""


def decision_problem(loss: Loss, n_candidates: int, *, coordinates: ArrayLike | None = None) -> Problem:
    """A loss d(answer, truth) over n candidates, with the answers that the adversary may give.

    loss:
      "hamming"           0 if right, 1 if wrong; answers: a candidate
      "squared"           |a - z|^2; answers: any point, best is the mean of the belief
      "absolute"          sum of |a_k - z_k|; answers: any point, best is the weighted median of each coordinate
      "euclidean"         |a - z|; answers: any point, best is the geometric median
      "haversine"         great-circle distance in meters on a sphere of radius 6 371 008.8 m, coordinates are latitude
                          and longitude in degrees; answers: any point, best is the geometric median
      "euclidean_medoid", "haversine_medoid"   the same distances; answers: a candidate that the belief lists (medoid)
      a matrix            (n_answers, n_candidates), d[answer, truth], finite and at least 0; answers: its rows
      a callable          d(answers, truths) of candidate numbers, int64 arrays that broadcast against each other;
                          answers: a candidate that the belief lists
    coordinates : (n_candidates,) or (n_candidates, n_dimensions), finite; for the losses between points

    Answers restricted to candidates where any point would do overstate privacy: prefer "squared" to its matrix. An
    unlisted candidate can be a better medoid than all that are listed; a matrix allows them as answers.

    >>> from unmask import Posterior
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.0, 0.5]]))
    >>> risk, answer = decision_problem("squared", 3, coordinates=[0.0, 1.0, 4.0]).best(belief)
    >>> risk.round(6), answer.round(6)
    (array([4.]), array([2.]))

    Rebollo-Monedero et al. 2012, sections III and IV-B.
    """
    if isinstance(loss, str):
        return _named(loss, n_candidates, coordinates)
    if callable(loss):
        return _called(loss, n_candidates)
    return Matrix(_checked_matrix(loss, n_candidates))


def _named(name: str, n: int, coordinates: ArrayLike | None) -> Problem:
    if name not in LOSS_NAMES:
        raise UnmaskError(f"the loss is {name!r}, expected one of {', '.join(LOSS_NAMES)}, a matrix or a callable")
    if name == "hamming":
        return Hamming(n)
    points, flat = _checked_points(name, coordinates, n)
    if name == "squared":
        return Squared(points, flat)
    if name == "absolute" or (name == "euclidean" and points.shape[1] == 1):
        return Absolute(points, flat)
    if name.startswith("haversine") and (points.shape[1] != 2 or np.abs(points[:, 0]).max() > 90.0):
        raise UnmaskError(
            f"{name} needs latitude (-90 to 90) and longitude in degrees for each candidate, in this order; "
            f"the coordinates have {points.shape[1]} columns and reach {np.abs(points[:, 0]).max():g} in the first"
        )
    distance = Distance(points) if name.startswith("euclidean") else Earth.from_degrees(points)
    return Listed(n, distance.between, lambda: distance.largest) if name.endswith("_medoid") else distance


def _checked_points(name: str, coordinates: ArrayLike | None, n: int) -> tuple[Floats, bool]:
    if coordinates is None:
        raise UnmaskError(f"the loss {name!r} needs the coordinates of the {n} candidates, and none were given")
    points = np.asarray(coordinates, dtype=np.float64)
    if points.ndim not in (1, 2) or len(points) != n or not points.size:
        raise UnmaskError(f"the coordinates have shape {points.shape}, expected one row for each of {n} candidates")
    wrong = np.flatnonzero(~np.isfinite(points.reshape(n, -1)).all(axis=1))
    if wrong.size:
        raise UnmaskError(f"the coordinates of candidate {wrong[0]} are not finite, expected numbers")
    return points.reshape(n, -1), points.ndim == 1


def _checked_matrix(loss: ArrayLike, n: int) -> Floats:
    matrix = np.asarray(loss, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != n or not len(matrix):
        raise UnmaskError(f"the loss has shape {matrix.shape}, expected answers x truths with {n} truths")
    wrong = np.flatnonzero(~(np.isfinite(matrix) & (matrix >= 0)).all(axis=1))
    if wrong.size:
        raise UnmaskError(f"the loss of answer {wrong[0]} is negative or not finite, expected finite and at least 0")
    return matrix


def _called(loss: Callable[[Ints, Ints], ArrayLike], n: int) -> Listed:
    def between(answer: Ints, truth: Ints) -> Floats:
        cost, shape = np.asarray(loss(answer, truth), dtype=np.float64), np.broadcast_shapes(answer.shape, truth.shape)
        if cost.shape != shape or not np.all(np.isfinite(cost)) or cost.min(initial=0.0) < 0:
            raise UnmaskError(
                f"the loss gave shape {cost.shape} for answers {answer.shape} and truths {truth.shape}, expected "
                f"{shape}, finite and at least 0"
            )
        return cost

    def largest() -> float:
        _few(n, "the largest value of a callable loss")
        every = np.arange(n)
        return max(float(between(np.full(n, a), every).max()) for a in range(n))

    return Listed(n, between, largest)


def as_matrix(loss: Loss, n_candidates: int, *, coordinates: ArrayLike | None = None) -> Floats:
    """(n_candidates, n_candidates) the loss of answering each candidate, for a solver that wants a table.

    For small universes only: it is the one place where all pairs are written down.

    >>> as_matrix("absolute", 3, coordinates=[0.0, 1.0, 4.0])
    array([[0., 1., 4.],
           [1., 0., 3.],
           [4., 3., 0.]])
    """
    problem = decision_problem(loss, n_candidates, coordinates=coordinates)
    if isinstance(problem, Matrix):
        return problem.matrix
    _few(n_candidates, "a table of the loss")
    every = np.arange(n_candidates)
    return np.stack([problem.between(np.full(n_candidates, a), every) for a in range(n_candidates)])


def _few(n: int, what: str) -> None:
    if n > PAIRS:
        raise UnmaskError(f"{what} takes all pairs of {n} candidates, expected at most {PAIRS} of them")
