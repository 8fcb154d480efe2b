"""Losses of wrong answers: named losses, matrices and callables, as decision problems of the adversary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.measures.losses.coordinates import Absolute, Squared
from unmask.measures.losses.discrete import UNLISTED_ANSWER, Hamming, Matrix, Medoid
from unmask.measures.losses.distances import EARTH_RADIUS_M, Distance, Earth
from unmask.measures.losses.problem import MAX_PAIR_CANDIDATES, Problem

__all__ = [
    "EARTH_RADIUS_M", "LOSS_NAMES", "UNLISTED_ANSWER", "Loss", "LossName", "Problem", "as_matrix", "decision_problem"
]  # fmt: skip

LossName = Literal["hamming", "squared", "absolute", "euclidean", "haversine", "euclidean_medoid", "haversine_medoid"]
"""Named losses, see `decision_problem`."""

LOSS_NAMES: tuple[LossName, ...] = get_args(LossName)
"""All names of losses."""

Loss = LossName | ArrayLike | Callable[[Integers, Integers], ArrayLike]
"""Name, (n_answers, n_candidates) matrix d[answer, truth], or callable of candidate numbers."""


def decision_problem(loss: Loss, n_candidates: int, *, coordinates: ArrayLike | None = None) -> Problem:
    """Return the decision problem of a loss d(answer, truth) over n candidates.

    Parameters
    ----------
    loss : str, array or callable
        - "hamming": 0 if right, 1 if wrong. The answer is a candidate.
        - "squared": |a - z|^2. The answer is any point; the mean of the belief is best.
        - "absolute": sum of |a_k - z_k|. The answer is any point; the weighted median of each coordinate is best.
        - "euclidean": |a - z|. The answer is any point; the geometric median is best.
        - "haversine": great-circle distance in meters on a sphere of radius 6 371 008.8 m, of latitudes and longitudes
          in degrees. The answer is any point; the geometric median is best.
        - "euclidean_medoid", "haversine_medoid": the same distances. The answer is a listed candidate.
        - An (n_answers, n_candidates) matrix d[answer, truth], at least 0. The answer is a row. An infinite loss
          forbids the answer while the truth is possible.
        - A callable d(answers, truths) of candidate numbers, int64 arrays that broadcast. The answer is a listed
          candidate.
    n_candidates : int
        Number of truths.
    coordinates : (n_candidates,) or (n_candidates, n_dimensions) array, optional
        Finite coordinates, for the losses between points.

    Returns
    -------
    Problem
        Loss with the answers that the adversary may give.

    Raises
    ------
    UnmaskError
        If the loss has no known name, a wrong shape or negative entries, or if coordinates are missing or not finite.

    Notes
    -----
    Answers restricted to candidates overstate privacy if any point would do: prefer "squared" to its matrix. An
    unlisted candidate can be a better medoid than all listed ones; a matrix allows it as an answer.

    References
    ----------
    Rebollo-Monedero et al. 2012, sections III and IV-B.

    Examples
    --------
    >>> from unmask import Posterior
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.0, 0.5]]))
    >>> risk, answer = decision_problem("squared", 3, coordinates=[0.0, 1.0, 4.0]).best(belief)
    >>> risk.round(6), answer.round(6)
    (array([4.]), array([2.]))
    """
    if isinstance(loss, str):
        return _build_named(loss, n_candidates, coordinates)
    if callable(loss):
        return _build_callable(loss, n_candidates)
    return Matrix(check_matrix(loss, n_candidates))


def _build_named(name: str, n: int, coordinates: ArrayLike | None) -> Problem:
    if name not in LOSS_NAMES:
        raise UnmaskError(f"the loss is {name!r}, expected one of {', '.join(LOSS_NAMES)}, a matrix or a callable")
    if name == "hamming":
        return Hamming(n)
    points, is_flat = _check_points(name, coordinates, n)
    if name == "squared":
        return Squared(points, is_flat)
    if name == "absolute" or (name == "euclidean" and points.shape[1] == 1):
        return Absolute(points, is_flat)
    if name.startswith("haversine") and (points.shape[1] != 2 or np.abs(points[:, 0]).max() > 90.0):
        raise UnmaskError(
            f"{name} needs latitude (-90 to 90) and longitude in degrees for each candidate, in this order; "
            f"the coordinates have {points.shape[1]} columns and reach {np.abs(points[:, 0]).max():g} in the first"
        )
    distance = Distance(points) if name.startswith("euclidean") else Earth.from_degrees(points)
    return Medoid(n, distance.between, lambda: distance.largest) if name.endswith("_medoid") else distance


def _check_points(name: str, coordinates: ArrayLike | None, n: int) -> tuple[Floats, bool]:
    if coordinates is None:
        raise UnmaskError(f"the loss {name!r} needs the coordinates of the {n} candidates, and none were given")
    points = np.asarray(coordinates, dtype=np.float64)
    if points.ndim not in (1, 2) or len(points) != n or not points.size:
        raise UnmaskError(f"the coordinates have shape {points.shape}, expected one row for each of {n} candidates")
    wrong_rows = np.flatnonzero(~np.isfinite(points.reshape(n, -1)).all(axis=1))
    if wrong_rows.size:
        raise UnmaskError(f"the coordinates of candidate {wrong_rows[0]} are not finite, expected numbers")
    return points.reshape(n, -1), points.ndim == 1


def check_matrix(loss: ArrayLike, n: int | None = None) -> Floats:
    """Return a loss matrix, answers x truths, with n truths if given.

    UnmaskError if it has negative entries or nan, or if every answer is forbidden for some truth.
    """
    matrix = np.asarray(loss, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size or (n is not None and matrix.shape[1] != n):
        truths = "" if n is None else f" with {n} truths"
        raise UnmaskError(f"the loss has shape {matrix.shape}, expected answers x truths{truths}")
    wrong_rows = np.flatnonzero(~(matrix >= 0).all(axis=1))
    if wrong_rows.size:
        raise UnmaskError(f"the loss of answer {wrong_rows[0]} is negative or not a number, expected at least 0")
    if not np.isfinite(matrix).all(axis=1).any():
        raise UnmaskError("every answer has an infinite loss for some truth; add an answer that is always allowed")
    return matrix


def _build_callable(loss: Callable[[Integers, Integers], ArrayLike], n: int) -> Medoid:
    def between(answer: Integers, truth: Integers) -> Floats:
        cost, shape = np.asarray(loss(answer, truth), dtype=np.float64), np.broadcast_shapes(answer.shape, truth.shape)
        if cost.shape != shape or not np.all(np.isfinite(cost)) or cost.min(initial=0.0) < 0:
            raise UnmaskError(
                f"the loss gave shape {cost.shape} for answers {answer.shape} and truths {truth.shape}, expected "
                f"{shape}, finite and at least 0"
            )
        return cost

    def find_largest() -> float:
        _check_pairs(n, "the largest value of a callable loss")
        truths = np.arange(n)
        return max(float(between(np.full(n, answer), truths).max()) for answer in range(n))

    return Medoid(n, between, find_largest)


def as_matrix(loss: Loss, n_candidates: int, *, coordinates: ArrayLike | None = None) -> Floats:
    """Return the losses of all pairs of an answer and a truth, for a solver that needs a table.

    Parameters
    ----------
    loss : str, array or callable
        See `decision_problem`.
    n_candidates : int
        Number of truths, at most 32,768 unless the loss is a matrix.
    coordinates : array, optional
        See `decision_problem`.

    Returns
    -------
    (n_answers, n_candidates) array
        Losses of all pairs.

    Raises
    ------
    UnmaskError
        If there are too many candidates, or if a loss is infinite.

    Examples
    --------
    >>> as_matrix("absolute", 3, coordinates=[0.0, 1.0, 4.0])
    array([[0., 1., 4.],
           [1., 0., 3.],
           [4., 3., 0.]])
    """
    problem = decision_problem(loss, n_candidates, coordinates=coordinates)
    if isinstance(problem, Matrix):
        if not np.isfinite(problem.matrix).all():
            raise UnmaskError("a loss is infinite, expected finite losses; give a large number in its place")
        return problem.matrix
    _check_pairs(n_candidates, "a table of the loss")
    truths = np.arange(n_candidates)
    return np.stack([problem.between(np.full(n_candidates, answer), truths) for answer in range(n_candidates)])


def _check_pairs(n: int, name: str) -> None:
    if n > MAX_PAIR_CANDIDATES:
        raise UnmaskError(f"{name} takes all pairs of {n} candidates, expected at most {MAX_PAIR_CANDIDATES} of them")
