"""Optimal channels in closed form, if the user and the adversary have the same loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels._matrices import Floats, check_costs, probabilities
from unmask.channels.channel import Channel
from unmask.channels.mechanisms.alphabet import Coin
from unmask.core.errors import UnmaskError

ANSWER_TIE = 1e-13
"""Relative difference of risks below which the corner itself is the best answer."""


def matched_optimum(prior: ArrayLike, loss: ArrayLike, distortion: float) -> float:
    """Return the largest privacy of any channel of expected distortion D: min(D, R0).

    R0 = min_a sum_x p(x) d(a, x) is the adversary's risk before the release. An adversary who answers the output has
    risk D, and one who ignores it R0, so no channel leaves more. `coin_channel` attains it on average,
    `constant_risk_channel` on average and at each output.

    Parameters
    ----------
    prior : (n,) array
        p(x).
    loss : (n, n) array
        d(answer, truth), at least 0, and 0 for the right answer. It need not be a metric. It is the adversary's loss,
        and the distortion of showing y for x is d(y, x).
    distortion : float
        D, at least 0.

    Returns
    -------
    float
        The privacy, on average and in the worst case.

    References
    ----------
    D. Rebollo-Monedero et al. 2012, eqs. (2)-(4); section IV-D is the binary case.

    Examples
    --------
    >>> matched_optimum([0.5, 0.3, 0.2], 1 - np.eye(3), 0.2), matched_optimum([0.5, 0.3, 0.2], 1 - np.eye(3), 0.9)
    (0.2, 0.5)
    """
    p, d = _check_matched(prior, loss, distortion)
    return min(float(distortion), float((d @ p).min()))


def coin_channel(prior: ArrayLike, loss: ArrayLike, distortion: float) -> Channel:
    """Return the channel that shows the best prior guess with probability D / R0, and else the truth.

    This is the mechanism `Coin` of distortion D. Its average privacy is min(D, R0). Its worst case is 0 if D < R0: an
    output other than that guess is the truth.

    Parameters
    ----------
    prior : (n,) array
        p(x).
    loss : (n, n) array
        d(answer, truth), as in `matched_optimum`.
    distortion : float
        D, at least 0.

    Returns
    -------
    Channel
        The channel.

    Examples
    --------
    >>> coin_channel([0.5, 0.3, 0.2], 1 - np.eye(3), 0.25).p_y_given_x
    array([[1. , 0. , 0. ],
           [0.5, 0.5, 0. ],
           [0.5, 0. , 0.5]])
    """
    p, d = _check_matched(prior, loss, distortion)
    prior_error = float((d @ p).min())
    return Coin(1.0 - min(distortion / prior_error, 1.0) if prior_error > 0 else 0.0).channel(p, loss=d)


def constant_risk_channel(prior: ArrayLike, loss: ArrayLike, distortion: float) -> Channel:
    """Return a channel of distortion min(D, R0) that leaves the risk min(D, R0) at each output.

    The best answer to each output is the output itself. The beliefs mu of risk r(mu) = min_a sum_x mu(x) d(a, x) of at
    least D are a convex set that holds the prior. Start at mu = prior. The line through a corner of the simplex
    (risk 0) and mu has a point of risk D towards the corner: it becomes an output, named after its best answer. mu
    moves to the other end of the line in the set, which has risk D (the last output) or one secret less. At most n
    steps, each a product with the loss. Outputs with the same best answer are joined, which keeps risk and answer. A
    secret of prior 0 is shown as y with probability p(y).

    Parameters
    ----------
    prior : (n,) array
        p(x).
    loss : (n, n) array
        d(answer, truth), as in `matched_optimum`.
    distortion : float
        D, at least 0.

    Returns
    -------
    Channel
        The channel.

    Examples
    --------
    >>> channel = constant_risk_channel([0.5, 0.3, 0.2], 1 - np.eye(3), 0.25)
    >>> 1 - channel.joint().max(axis=0) / channel.p_y  # the risk at each output
    array([0.25, 0.25, 0.25])
    """
    p, d = _check_matched(prior, loss, distortion)
    risks = d @ p
    if risks.min() <= distortion:
        rule = np.zeros(d.shape)
        rule[:, np.argmin(risks)] = 1.0
        return Channel(rule, p)
    joint = _constant_risk_joint(p, d, float(distortion))
    with np.errstate(invalid="ignore", divide="ignore"):
        rule = np.where(p[:, None] > 0, joint / p[:, None], joint.sum(axis=0))
    return Channel(rule / rule.sum(axis=1, keepdims=True), p)


def _check_matched(prior: ArrayLike, loss: ArrayLike, distortion: float) -> tuple[Floats, Floats]:
    p = probabilities(prior, "the prior")
    d = check_costs(loss, "loss", (len(p), len(p)))
    nonzero = np.flatnonzero(np.diagonal(d))
    if nonzero.size:
        raise UnmaskError(
            f"the loss of the right answer {nonzero[0]} is not 0, expected a diagonal of 0: use optimal_mechanism"
        )
    if not distortion >= 0:
        raise UnmaskError(f"the distortion is {distortion}, expected at least 0")
    return p, d


def _constant_risk_joint(p: Floats, d: Floats, level: float) -> Floats:
    """Return the (n, n) joint p(x, y) of the channel of constant risk; the prior has risk above `level`."""
    joint, mass, mu = np.zeros((len(p), len(p))), 1.0, p.copy()
    for _ in range(len(p)):
        corner = int(np.argmax(mu))
        remainder = np.where(np.arange(len(p)) == corner, 0.0, mu)
        distance = float(remainder.sum())  # of mu from the corner, 0 to 1
        if distance <= 0.0:  # a single secret is left: the level is 0, or rounding passed it
            _add_output(joint, mass, remainder, 0.0, corner, d)
            return joint
        remainder /= distance
        near, far = _crossings(d @ remainder, d[:, corner], level)
        near, far = min(near, distance), max(far, distance)
        share = (far - distance) / (far - near) if far > distance else 1.0
        _add_output(joint, mass * share, remainder, near if far > distance else distance, corner, d)
        mass *= 1.0 - share
        if far < 1.0 or mass <= 0.0:
            _add_output(joint, mass, remainder, far, corner, d)
            return joint
        mu = remainder
    raise AssertionError("each step removes a secret, and the last one returns")


def _crossings(at_end: Floats, at_corner: Floats, level: float) -> tuple[float, float]:
    """Return the two points at which the line from the corner (0) to its end (1) crosses the risk `level`."""
    low, falling = at_corner < level, at_end < level
    near = np.max((level - at_corner[low]) / np.maximum(at_end[low] - at_corner[low], 1e-300), initial=0.0)
    drop = at_corner[falling] - at_end[falling]
    far = np.min((at_corner[falling] - level) / np.maximum(drop, 1e-300), initial=1.0)
    return float(near), float(far)


def _add_output(joint: Floats, mass: float, remainder: Floats, distance: float, corner: int, d: Floats) -> None:
    """Add an output of this mass to the joint, as its best answer; its belief is this distance from the corner."""
    if mass <= 0.0:
        return
    belief = distance * remainder
    belief[corner] = 1.0 - distance
    risks = d @ belief
    best_answer = corner if risks[corner] <= risks.min() * (1 + ANSWER_TIE) else int(np.argmin(risks))
    joint[:, best_answer] += mass * belief
