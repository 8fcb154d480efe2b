"""The privacy-distortion curve that no mechanism passes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels._matrices import Floats
from unmask.channels.design.linear import has_unlisted_answers, is_matched, largest_error
from unmask.core.posterior import Posterior
from unmask.measures.error import bayes
from unmask.measures.losses import Loss, as_matrix

LP_POINTS, CLOSED_FORM_POINTS = 8, 41
"""Points of the curve that are solved by linear programs, or computed in closed form."""

MAX_SECRETS = 60
"""Secrets and outputs up to which linear programs are solved."""


def limit_curve(
    prior: Floats, loss: Loss, distortion: Floats, *, coordinates: ArrayLike | None = None, beyond: float = 0.0
) -> tuple[tuple[tuple[float, float], ...], str]:
    """Compute the largest privacy at each distortion, by rising distortion.

    The curve is attained if the best answer to the loss is a listed value. Otherwise it is an upper bound: a
    mechanism leaves at most this error to an adversary who may also answer with other points.

    Parameters
    ----------
    prior : (n,) array
        p(x).
    loss : str, callable or (n_answers, n) array
        The adversary's loss, as in `optimal_mechanism`.
    distortion : (n, m) array
        d(x, y), the user's loss of showing y for x.
    coordinates : array, optional
        (n,) or (n, n_dimensions), for a named loss that needs them.
    beyond : float
        A distortion that a curve in closed form reaches in any case.

    Returns
    -------
    tuple of (float, float)
        Distortion and privacy of each point. Empty if the curve was not computed.
    str
        The reason why it was not computed, otherwise empty.

    Examples
    --------
    >>> curve, _ = limit_curve(np.array([0.5, 0.5]), "hamming", 1 - np.eye(2))
    >>> curve[0], curve[-1]
    ((0.0, 0.0), (1.0, 0.5))
    """
    table = as_matrix(loss, len(prior), coordinates=coordinates)
    prior_error = float((table @ prior).min())
    if has_unlisted_answers(loss, coordinates):
        prior_error = bayes(Posterior.from_dense(prior[None]), loss, coordinates=coordinates).average
    if is_matched(table, distortion):
        last = max(1.1 * beyond, 2 * prior_error)
        budgets = np.union1d(np.linspace(0, last, CLOSED_FORM_POINTS), [prior_error]).tolist()
        return tuple((budget, min(budget, prior_error)) for budget in budgets), ""
    if max(distortion.shape) > MAX_SECRETS:
        return (), f"there are more than {MAX_SECRETS} secrets or outputs: unmask design solves single points"
    low, high = float(prior @ distortion.min(axis=1)), float((prior @ distortion).min())
    budgets = np.linspace(low, max(high, low), LP_POINTS + 1)[1:].tolist()
    errors = [largest_error(prior, loss, distortion, budget, coordinates=coordinates) for budget in budgets]
    privacy = np.maximum.accumulate(np.minimum(errors, prior_error)).tolist()
    return tuple(zip(budgets, privacy, strict=True)), ""
