"""Estimation error: expected and realized losses of the best decision and of a draw from the belief."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Floats, weighted_quantiles
from unmask.core.posterior import Posterior
from unmask.measures.losses import Loss, Problem, check_matrix, decision_problem
from unmask.measures.measure import QUANTILES, Measure, implement
from unmask.measures.registry import declare_all
from unmask.measures.success import bayes_error, realized_success
from unmask.measures.truth_positions import TruthPositions


@dataclass(frozen=True, eq=False)
class BayesError:
    """Error of an adversary who makes the best decision, for each observation and in summary.

    conditional : (n_observations,) P(y), expected loss by the adversary's own belief, in units of the loss
    average : P_avg = sum_y p(y) P(y), observations weighted by their targets
    worst : P_min = min P(y), over observations with positive target weight
    worst_observation : number of the first observation with the worst error
    quantiles : of P(y) over targets at 5, 25, 50, 75, 95 %
    prior : error of the same adversary before the release
    gain : prior - average; at least 0 if the belief is exact
    answer : (n_observations,) numbers of candidates (or of answers, for a matrix), or (n_observations,) or
        (n_observations, n_dimensions) coordinates; in a tie the first candidate, -1 for an unlisted candidate
    prior_answer : the answer before the release
    """

    conditional: Floats
    average: float
    worst: float
    worst_observation: int
    quantiles: tuple[float, ...]
    prior: float
    gain: float
    answer: NDArray[Any]
    prior_answer: Any


def bayes(belief: Posterior, loss: Loss = "hamming", *, coordinates: ArrayLike | None = None) -> BayesError:
    """Compute the error of an adversary who decides best: P(y) = min_a sum_x p(x given y) d(a, x).

    "None of these" and an unknown number of unlisted candidates cost the largest loss whatever the answer; mass shared
    by a known number of unlisted candidates costs their average. A low prior hides a large gain: an adversary who is
    right 99 % of the time without the release can hardly improve on average. Look at `worst`, too.

    Parameters
    ----------
    belief : Posterior
        Belief of the adversary about the targets.
    loss : str, array or callable
        See `unmask.measures.losses.decision_problem`.
    coordinates : array, optional
        Coordinates of the candidates, for losses between points.

    Returns
    -------
    BayesError
        Errors, decisions and their summary.

    References
    ----------
    Rebollo-Monedero et al. 2012, equations (2)-(4); the worst case is over observations of positive probability.

    Examples
    --------
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.1, 0.9]]))
    >>> error = bayes(belief, "squared", coordinates=[20.0, 40.0, 50.0])
    >>> error.answer.round(3), error.conditional.round(3), round(error.worst, 3), error.worst_observation
    (array([30., 49.]), array([100.,   9.]), 9.0, 1)
    """
    problem = decision_problem(loss, belief.n_candidates, coordinates=coordinates)
    conditional, answer = problem.best(belief)
    prior_error, prior_answer = problem.best(belief.prior())
    weight = belief.observation_weight
    average, prior = float(weight @ conditional), float(prior_error[0])
    worst = int(np.argmin(np.where(weight > 0, conditional, np.inf)))
    return BayesError(
        conditional=conditional,
        average=average,
        worst=float(conditional[worst]),
        worst_observation=worst,
        quantiles=weighted_quantiles(conditional, weight, QUANTILES),
        prior=prior,
        gain=prior - average,
        answer=answer,
        prior_answer=prior_answer[0],
    )


def estimation_error(loss: Loss = "hamming", *, coordinates: ArrayLike | None = None) -> Measure:
    """Return the measure P(y) = min_a sum_x p(x given y) d(a, x), the expected loss of the best decision.

    The mean over targets is P_avg, and the most exposed target has P_min. Under Hamming loss, P(y) = 1 - max_x
    p(x given y). "None of these" and an unknown number of unlisted candidates cost the largest loss. Mass shared by
    a known number of unlisted candidates costs their average.

    Parameters
    ----------
    loss : str, array or callable
        See `unmask.measures.losses.decision_problem`.
    coordinates : array, optional
        Coordinates of the candidates, for losses between points.

    Returns
    -------
    Measure
        Self-assessed measure in the unit of the loss.

    Examples
    --------
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.1, 0.9]]))
    >>> estimation_error().per_target(belief).round(6)
    array([0.5, 0.1])
    >>> years = np.abs(np.subtract.outer([20.0, 40.0, 50.0], [20.0, 40.0, 50.0]))
    >>> estimation_error(years).per_target(belief).round(6)
    array([10.,  1.])
    """
    return _of_loss(
        "estimation_error",
        loss,
        coordinates,
        lambda problem: {"self_assessed": lambda belief: problem(belief).best(belief)[0]},
        hamming={"of_rows": bayes_error},
        needs_probabilities=True,
    )


def realized_error(loss: Loss = "hamming", *, coordinates: ArrayLike | None = None) -> Measure:
    """Return the measure d(a(y), x_true), the realized loss of the best decision, averaged over ties.

    Under Hamming loss it is 1 - success of the best guess. An ABSENT target costs the largest loss. The mean of an
    exact belief is the mean of `estimation_error`; a gap is a finding about the attack, not about privacy.

    Parameters
    ----------
    loss : str, array or callable
        See `unmask.measures.losses.decision_problem`.
    coordinates : array, optional
        Coordinates of the candidates, for losses between points.

    Returns
    -------
    Measure
        Realized side of `estimation_error`.

    Examples
    --------
    >>> from unmask import Truth
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.1, 0.9]]))
    >>> realized_error("absolute", coordinates=[20.0, 40.0, 50.0]).per_target(belief, Truth([0, 2]))
    array([10.,  0.])
    """
    return _of_loss(
        "realized_error",
        loss,
        coordinates,
        lambda problem: {"realized": lambda belief, truth: problem(belief).realized_loss(belief, truth)},
        hamming={"of_positions": _realized_hamming_error},
    )


def sampling_error(loss: Loss = "hamming", *, coordinates: ArrayLike | None = None) -> Measure:
    """Return the measure "expected loss of a draw from the belief", sum_a sum_x p(a) p(x) d(a, x): a Gibbs adversary.

    It is exactly twice the Bayes error for squared error, and between once and twice for a distance. The draw is among
    the candidates; mass on "none of these" costs the largest loss. Euclidean, great-circle, matrix and callable losses
    take all pairs of a row.

    Parameters
    ----------
    loss : str, array or callable
        See `unmask.measures.losses.decision_problem`.
    coordinates : array, optional
        Coordinates of the candidates, for losses between points.

    Returns
    -------
    Measure
        Self-assessed measure in the unit of the loss.

    Examples
    --------
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.1, 0.9]]))
    >>> sampling_error().per_target(belief).round(6)
    array([0.5 , 0.18])
    """
    return _of_loss(
        "sampling_error",
        loss,
        coordinates,
        lambda problem: {"self_assessed": lambda belief: problem(belief).sampling_loss(belief)},
        rate=False,
        needs_probabilities=True,
    )


def correctness(loss: Loss = "hamming", *, coordinates: ArrayLike | None = None) -> Measure:
    """Return Shokri's correctness, sum_x p(x given y) d(x, x_true), the realized side of `sampling_error`.

    Parameters
    ----------
    loss : str, array or callable
        See `unmask.measures.losses.decision_problem`.
    coordinates : array, optional
        Coordinates of the candidates, for losses between points.

    Returns
    -------
    Measure
        Realized measure in the unit of the loss.

    Examples
    --------
    >>> from unmask import Truth
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.1, 0.9]]))
    >>> correctness("absolute", coordinates=[20.0, 40.0, 50.0]).per_target(belief, Truth([0, 2])).round(6)
    array([10.,  1.])
    """
    return _of_loss(
        "correctness",
        loss,
        coordinates,
        lambda problem: {"realized": lambda belief, truth: problem(belief).realized_sampling_loss(belief, truth)},
        rate=False,
        needs_probabilities=True,
    )


def _of_loss(
    name: str,
    loss: Loss,
    coordinates: ArrayLike | None,
    value: Callable[[Callable[[Posterior], Problem]], dict[str, Any]],
    *,
    hamming: dict[str, Any] | None = None,
    **declared: Any,
) -> Measure:
    """Return a measure in the unit of a loss.

    value : function of a builder of decision problems that returns the fields of the measure
    hamming : fields for Hamming loss, whose mean is a rate
    """
    is_hamming = isinstance(loss, str) and loss == "hamming"
    unit, largest = "probability" if is_hamming else "loss", 1.0 if is_hamming else np.inf
    if isinstance(loss, str) and loss.startswith("haversine"):
        unit = "meters"
    elif not (isinstance(loss, str) or callable(loss)):
        largest = float(check_matrix(loss).max())
    values = (
        hamming
        if is_hamming and hamming
        else value(lambda belief: decision_problem(loss, belief.n_candidates, coordinates=coordinates))
    )
    return implement(name, unit=unit, range=(0.0, largest), **{"rate": is_hamming, **values, **declared})


def _realized_hamming_error(positions: TruthPositions) -> Floats:
    assert realized_success.of_positions is not None
    return 1.0 - realized_success.of_positions(positions)


declare_all(estimation_error(), realized_error(), sampling_error(), correctness())
