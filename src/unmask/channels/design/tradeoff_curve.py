"""The limit of privacy: what no mechanism of a distortion passes, as a curve."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels._matrices import Floats
from unmask.channels.design.answers import among_candidates
from unmask.channels.design.closed_form import matched_optimum
from unmask.channels.design.linear import largest_error, matched
from unmask.measures.losses import Loss, as_matrix

POINTS = 8
"""Points of the limit curve that are solved by linear programs."""

LARGEST_LIMIT, LARGEST_ANSWERED, LARGEST_MATCHED = 60, 16, 150
"""Secrets and outputs up to which the limit is solved where no closed form holds: with the answers given, with answers
that have to be found, and with these where the loss is the distortion.
"""


def limit_curve(
    prior: Floats, loss: Loss, distortion: Floats, *, coordinates: ArrayLike | None = None, beyond: float = 0.0
) -> tuple[tuple[tuple[float, float], ...], str]:
    """(distortion, privacy) of optimal mechanisms by rising distortion, or none and the reason why.

    The arguments are those of `optimal_mechanism`; beyond : a distortion that the curve should reach in any case.

    >>> curve, _ = limit_curve(np.array([0.5, 0.5]), "hamming", 1 - np.eye(2))
    >>> curve[0], curve[-1]
    ((0.0, 0.0), (1.0, 0.5))
    """
    n_x, n_y = distortion.shape
    table = as_matrix(loss, n_x, coordinates=coordinates)
    closed, restricted = matched(table, distortion), among_candidates(loss, coordinates)
    if closed and restricted:
        before = float((table @ prior).min())
        budgets = np.union1d(np.linspace(0, max(1.1 * beyond, 2 * before), 41), [before]).tolist()
        return tuple((budget, matched_optimum(prior, table, budget)) for budget in budgets), ""
    seek = restricted or max(n_x, n_y) <= LARGEST_ANSWERED
    largest = LARGEST_MATCHED if closed else LARGEST_LIMIT if restricted else LARGEST_ANSWERED
    if max(n_x, n_y) > largest:
        return (), f"there are more than {largest} secrets or outputs: unmask design solves single points"
    least, most = float(prior @ distortion.min(axis=1)), float((prior @ distortion).min())
    budgets = np.linspace(least, max(most, least), POINTS + 1)[1:].tolist()
    solve = partial(largest_error, prior, loss, distortion, coordinates=coordinates, seek=seek)
    points = [(budget, privacy) for budget in budgets if not math.isnan(privacy := solve(budget))]
    highest = np.maximum.accumulate([privacy for _, privacy in points]).tolist()
    return tuple(zip([budget for budget, _ in points], highest, strict=True)), ""
