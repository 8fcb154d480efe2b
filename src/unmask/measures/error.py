"""Estimation error: expected and realized losses of the best decision and of a draw from the belief."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures.base import QUANTILES, Measure, weighted_quantiles
from unmask.measures.losses import Loss, Problem, decision_problem
from unmask.measures.registry import declare_all
from unmask.measures.success import bayes_error, realized_success
from unmask.measures.truth_positions import TruthPositions

SOURCE = "Rebollo-Monedero et al. 2012, equations (2)-(4)"

SHOKRI = "R. Shokri et al., 'Quantifying location privacy', 2011, correctness"


@dataclass(frozen=True, eq=False)
class ConditionalError:
    """The error of an adversary at each observation, and its summary.

    conditional : (n_observations,) P(y), expected loss by the adversary's own belief, in units of the loss
    average : P_avg = sum_y p(y) P(y), observations weighted by their targets
    worst : P_min = min P(y), over observations that a target of positive weight produced
    worst_observation : number of the first observation with the worst error
    quantiles : of P(y) over targets at 5, 25, 50, 75, 95 %
    prior : error of the same adversary before the release
    gain : prior - average. It may be negative for a belief that is not exact, never for an exact one and a Bayes
        adversary.
    """

    conditional: NDArray[np.float64]
    average: float
    worst: float
    worst_observation: int
    quantiles: tuple[float, ...]
    prior: float
    gain: float


@dataclass(frozen=True, eq=False)
class BayesError(ConditionalError):
    """The error of an adversary who decides best, with their decisions.

    answer : (n_observations,) numbers of candidates (or of answers, for a matrix), or (n_observations,) or
        (n_observations, n_dimensions) coordinates; in a tie the first candidate, -1 for a candidate that is not listed
    prior_answer : the answer before the release
    """

    answer: NDArray[Any]
    prior_answer: Any


@dataclass(frozen=True, eq=False)
class RealizedError:
    """The realized loss of an adversary's answers, target by target.

    target : (n_known,) numbers of the targets whose truth is known (or ABSENT)
    value : (n_known,) loss of each; an ABSENT target costs the largest loss
    average : their mean, by weight
    worst : the smallest loss; over few targets it is 0 for any adversary
    worst_target : target with the smallest loss
    quantiles : at 5, 25, 50, 75, 95 % of the targets
    """

    target: NDArray[np.int64]
    value: NDArray[np.float64]
    average: float
    worst: float
    worst_target: int
    quantiles: tuple[float, ...]


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
    return BayesError(
        *_summary(belief, conditional, float(prior_error[0])), answer=answer, prior_answer=prior_answer[0]
    )


def gibbs(belief: Posterior, loss: Loss = "hamming", *, coordinates: ArrayLike | None = None) -> ConditionalError:
    """Compute the error of an adversary who answers with a draw from the belief: sum_a sum_x p(a) p(x) d(a, x).

    It is the mean of Shokri's correctness: exactly twice the Bayes error for squared error, and between once and twice
    for a distance. The draw is among the candidates; mass on "none of these" costs the largest loss. Euclidean,
    great-circle, matrix and callable losses take all pairs of a row.

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
    ConditionalError
        Errors and their summary.

    Examples
    --------
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.1, 0.9]]))
    >>> gibbs(belief, "squared", coordinates=[20.0, 40.0, 50.0]).conditional.round(3)
    array([200.,  18.])
    """
    problem = decision_problem(loss, belief.n_candidates, coordinates=coordinates)
    prior_error = problem.sampled(belief.prior())
    return ConditionalError(*_summary(belief, problem.sampled(belief), float(prior_error[0])))


def _summary(
    belief: Posterior, conditional: NDArray[np.float64], prior: float
) -> tuple[NDArray[np.float64], float, float, int, tuple[float, ...], float, float]:
    """Return the fields of `ConditionalError`."""
    weight = belief.observation_weight
    average = float(weight @ conditional)
    worst = int(np.argmin(np.where(weight > 0, conditional, np.inf)))
    quantiles = weighted_quantiles(conditional, weight, QUANTILES)
    return conditional, average, float(conditional[worst]), worst, quantiles, prior, prior - average


def realized_bayes(
    belief: Posterior, truth: Truth, loss: Loss = "hamming", *, coordinates: ArrayLike | None = None
) -> RealizedError:
    """Compute the realized loss of the best decision, d(a(y), x_true), averaged over ties.

    For an exact belief its mean is the mean of `bayes`; a gap is a finding about the attack, not about privacy. Targets
    whose truth is UNKNOWN are skipped.

    Parameters
    ----------
    belief : Posterior
        Belief of the adversary about the targets.
    truth : Truth
        True candidates of the targets.
    loss : str, array or callable
        See `unmask.measures.losses.decision_problem`.
    coordinates : array, optional
        Coordinates of the candidates, for losses between points.

    Returns
    -------
    RealizedError
        Losses and their summary.

    Examples
    --------
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.1, 0.9]]))
    >>> realized_bayes(belief, Truth([0, 2]), "absolute", coordinates=[20.0, 40.0, 50.0]).value
    array([10.,  0.])
    """
    problem = decision_problem(loss, belief.n_candidates, coordinates=coordinates)
    return _realized(belief, truth, problem, sampled=False)


def realized_gibbs(
    belief: Posterior, truth: Truth, loss: Loss = "hamming", *, coordinates: ArrayLike | None = None
) -> RealizedError:
    """Compute Shokri's correctness, the expected loss of a draw at the truth: sum_x p(x given y) d(x, x_true).

    Parameters
    ----------
    belief : Posterior
        Belief of the adversary about the targets.
    truth : Truth
        True candidates of the targets.
    loss : str, array or callable
        See `unmask.measures.losses.decision_problem`.
    coordinates : array, optional
        Coordinates of the candidates, for losses between points.

    Returns
    -------
    RealizedError
        Losses and their summary.

    References
    ----------
    R. Shokri et al., "Quantifying location privacy", 2011.

    Examples
    --------
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.1, 0.9]]))
    >>> realized_gibbs(belief, Truth([0, 2]), "absolute", coordinates=[20.0, 40.0, 50.0]).value.round(6)
    array([10.,  1.])
    """
    problem = decision_problem(loss, belief.n_candidates, coordinates=coordinates)
    return _realized(belief, truth, problem, sampled=True)


def _realized(belief: Posterior, truth: Truth, problem: Problem, *, sampled: bool) -> RealizedError:
    check_truth(belief, truth)
    targets = np.flatnonzero(truth.judged)
    if not targets.size:
        raise UnmaskError("the truth is unknown for every target, expected at least one that is known")
    value = (problem.paid_sampling if sampled else problem.paid)(belief, truth)[targets]
    weight = belief.weight[targets] / (belief.weight[targets].sum() or 1.0)
    worst = int(value.argmin())
    return RealizedError(
        target=targets,
        value=value,
        average=float(weight @ value),
        worst=float(value[worst]),
        worst_target=int(targets[worst]),
        quantiles=weighted_quantiles(value, weight, QUANTILES),
    )


def check_truth(belief: Posterior, truth: Truth) -> None:
    """Raise an error if a truth has other targets or candidates."""
    if len(truth) != belief.n_targets:
        raise UnmaskError(f"the truth has {len(truth)} targets and the posterior {belief.n_targets}, expected the same")
    if len(truth) and truth.candidate.max() >= belief.n_candidates:
        raise UnmaskError(f"the truth names candidate {truth.candidate.max()}, expected 0..{belief.n_candidates - 1}")


def estimation_error(loss: Loss | None = None, *, coordinates: ArrayLike | None = None) -> Measure:
    """Return the measure P(y) = min_a sum_x p(x given y) d(x, a), the expected loss of the best decision.

    The mean over targets is P_avg, the worst-off target P_min. Under Hamming loss, P(y) = 1 - max_x p(x given y). "None
    of these" and an unknown number of unlisted candidates cost the largest loss; mass shared by a known number of
    unlisted candidates costs their average.

    Parameters
    ----------
    loss : str, array or callable, optional
        Hamming by default. A name or a callable as in `unmask.measures.losses.decision_problem`, or a matrix, here
        (n_candidates, n_answers), d >= 0: truths in the rows.
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
    texts = {"label": "Error", "meaning": "expected loss of the adversary's best estimate", "needs_probabilities": True}
    if _is_hamming(loss):
        return _of_loss("estimation_error", loss, of_rows=bayes_error, **texts)
    measured = _truths_first(loss)
    return _of_loss(
        "estimation_error",
        measured,
        self_assessed=lambda belief: _problem(measured, belief, coordinates).best(belief)[0],
        **texts,
    )


def realized_error(loss: Loss | None = None, *, coordinates: ArrayLike | None = None) -> Measure:
    """Return the measure d(x_true, a(y)), the realized loss of the best decision, averaged over ties.

    Under Hamming loss it is 1 - success of the best guess. An ABSENT target costs the largest loss.

    Parameters
    ----------
    loss : str, array or callable, optional
        Hamming by default. A name or a callable as in `unmask.measures.losses.decision_problem`, or a matrix, here
        (n_candidates, n_answers), d >= 0: truths in the rows.
    coordinates : array, optional
        Coordinates of the candidates, for losses between points.

    Returns
    -------
    Measure
        Realized side of `estimation_error`.
    """
    texts = {"label": "Error", "meaning": "loss of the adversary's best estimate", "realizes": "estimation_error"}
    if _is_hamming(loss):
        return _of_loss("realized_error", loss, of_positions=_realized_bayes_error, **texts)
    measured = _truths_first(loss)
    return _of_loss(
        "realized_error",
        measured,
        realized=lambda belief, truth: _problem(measured, belief, coordinates).paid(belief, truth),
        **texts,
    )


def _realized_bayes_error(positions: TruthPositions) -> NDArray[np.float64]:
    assert realized_success.of_positions is not None
    return 1.0 - realized_success.of_positions(positions)


def sampling_error(loss: Loss = "hamming", *, coordinates: ArrayLike | None = None) -> Measure:
    """Return the measure "expected loss of a draw from the belief", see `gibbs`.

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
        label="Error of a draw",
        meaning="expected loss of an answer that is drawn from the adversary's belief",
        source=SHOKRI,
        self_assessed=lambda belief: decision_problem(loss, belief.n_candidates, coordinates=coordinates).sampled(
            belief
        ),
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
    """
    return _of_loss(
        "correctness",
        loss,
        label="Error of a draw",
        meaning="loss of an answer that is drawn from the adversary's belief",
        realizes="sampling_error",
        source=SHOKRI,
        realized=lambda belief, truth: decision_problem(
            loss, belief.n_candidates, coordinates=coordinates
        ).paid_sampling(belief, truth),
        rate=False,
        needs_probabilities=True,
    )


def _of_loss(name: str, loss: Loss | None, **declared: Any) -> Measure:
    """Return a measure in the unit of a loss, a rate for Hamming loss."""
    hamming = _is_hamming(loss)
    unit = "meters" if isinstance(loss, str) and loss.startswith("haversine") else "probability" if hamming else "loss"
    fields = {"source": SOURCE, "rate": hamming, **declared}
    return Measure(name, unit=unit, direction="low", range=(0.0, 1.0 if hamming else _largest(loss)), **fields)


def _is_hamming(loss: Loss | None) -> bool:
    return loss is None or (isinstance(loss, str) and loss == "hamming")


def _largest(loss: Loss | None) -> float:
    return np.inf if loss is None or isinstance(loss, str) or callable(loss) else float(np.max(loss))


def _truths_first(loss: Loss | None) -> Loss:
    """Return a matrix of truths x answers, checked; names and callables are unchanged."""
    assert loss is not None
    if isinstance(loss, str) or callable(loss):
        return loss
    matrix = np.asarray(loss, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size or not np.all(np.isfinite(matrix)) or matrix.min() < 0:
        raise UnmaskError(f"the loss has shape {matrix.shape}, expected candidates x answers, finite and at least 0")
    return matrix


def _problem(loss: Loss, belief: Posterior, coordinates: ArrayLike | None) -> Problem:
    """Return the decision problem of a loss whose matrix has truths in its rows."""
    if isinstance(loss, np.ndarray):
        if len(loss) != belief.n_candidates:
            raise UnmaskError(
                f"the loss has {len(loss)} rows, expected one for each of the {belief.n_candidates} candidates"
            )
        loss = np.ascontiguousarray(loss.T)
    return decision_problem(loss, belief.n_candidates, coordinates=coordinates)


declare_all(estimation_error(), realized_error(), sampling_error(), correctness())
