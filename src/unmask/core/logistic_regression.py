"""Logistic regression of counts."""

from __future__ import annotations

import numpy as np
import scipy

from unmask.core.arrays import Floats

RIDGE = 1e-6
"""Negligible penalty of squared coefficients, so that they are finite if a column separates the rows."""

MAX_STEPS = 100
"""Steps of Newton's method."""

MIN_DECREASE = 1e-13
"""Expected decrease of the mean loss, in nats, at which Newton's method stops."""


def fit_logistic(design: Floats, successes: Floats, trials: Floats, *, ridge: float = RIDGE) -> Floats:
    """Return the coefficients of a logistic regression by Newton's method.

    Parameters
    ----------
    design : (n, n_terms) array
        Terms, with a spread of about 1.
    successes, trials : (n,) array
        Sum of the outcomes, and of the weights, of each row.
    ridge : float
        Penalty r: the mean loss plus r / 2 times the sum of squared coefficients is minimal.

    Returns
    -------
    (n_terms,) array

    Examples
    --------
    >>> fit_logistic(np.ones((1, 1)), np.array([3.0]), np.array([4.0])).round(3)  # log(3 / 1)
    array([1.099])
    """
    total = trials.sum()

    def evaluate_loss(coefficients: Floats) -> float:
        scores = design @ coefficients
        loss = (trials @ np.logaddexp(0, scores) - successes @ scores) / total
        return float(loss + ridge / 2 * coefficients @ coefficients)

    coefficients = np.zeros(design.shape[1])
    loss = evaluate_loss(coefficients)
    for _ in range(MAX_STEPS):
        probability = scipy.special.expit(design @ coefficients)
        gradient = design.T @ (trials * probability - successes) / total + ridge * coefficients
        curvature = (design * (trials * probability * (1 - probability))[:, None]).T @ design / total
        step = scipy.linalg.solve(curvature + ridge * np.eye(len(coefficients)), gradient, assume_a="pos")
        decrease, length = float(gradient @ step), 1.0
        while (
            new_loss := evaluate_loss(coefficients - length * step)
        ) > loss - length * decrease / 4 and length > 1e-6:
            length /= 2
        coefficients, loss = coefficients - length * step, new_loss
        if decrease < MIN_DECREASE:
            break
    return coefficients
