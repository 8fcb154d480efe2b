"""Optimal channels in closed form, when the publisher and the adversary fear the same loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels._matrices import Floats, probabilities
from unmask.channels.channel import Channel
from unmask.channels.design.lagrangian_curve import costs
from unmask.channels.mechanisms.alphabet import Coin
from unmask.core.errors import UnmaskError


def matched_optimum(prior: ArrayLike, loss: ArrayLike, distortion: float) -> float:
    """The largest privacy, on average and in the worst case, of any channel of expected distortion D: min(D, R0).

    prior      : (n,) p(x)
    loss       : (n, n) d(answer, truth), at least 0, and 0 for the right answer; no metric needed. The same loss is the
                 adversary's, and the distortion of showing y in the place of x is d(y, x).
    distortion : D, at least 0
    R0 = min_a sum_x p(x) d(a, x) is the adversary's risk before they see anything.

    An adversary who answers what is shown has risk D, and one who ignores it R0: more cannot be had. `coin_channel`
    reaches it on average, `constant_risk_channel` on average and at each output: with matched losses there is no
    trade-off between the average and the worst case.

    >>> matched_optimum([0.5, 0.3, 0.2], 1 - np.eye(3), 0.2), matched_optimum([0.5, 0.3, 0.2], 1 - np.eye(3), 0.9)
    (0.2, 0.5)

    D. Rebollo-Monedero et al. 2012, eqs. (2)-(4); section IV-D is the binary case.
    """
    p, d = _matched(prior, loss, distortion)
    return min(float(distortion), float((d @ p).min()))


def coin_channel(prior: ArrayLike, loss: ArrayLike, distortion: float) -> Channel:
    """Shows the truth or, with probability D / R0 and whatever the truth, the best guess before any release: the
    protection `Coin` of that distortion.

    Average privacy min(D, R0) as in `matched_optimum`, same arguments; the worst case is 0, wherever D < R0: an output
    other than that guess is the truth.

    >>> coin_channel([0.5, 0.3, 0.2], 1 - np.eye(3), 0.25).p_y_given_x
    array([[1. , 0. , 0. ],
           [0.5, 0.5, 0. ],
           [0.5, 0. , 0.5]])
    """
    p, d = _matched(prior, loss, distortion)
    before = float((d @ p).min())
    return Coin(1.0 - min(distortion / before, 1.0) if before > 0 else 0.0).channel(p, loss=d)


def constant_risk_channel(prior: ArrayLike, loss: ArrayLike, distortion: float) -> Channel:
    """A channel of distortion min(D, R0) at each of whose outputs the adversary's risk is min(D, R0), and whose best
    answer is the output itself. Same arguments as `matched_optimum`.

    The beliefs mu of risk r(mu) = min_a sum_x mu(x) d(a, x) at least D are a convex set that holds the prior; its
    boundary, but for sides of the simplex, has risk D. From mu = prior: on the line through a corner of the simplex
    (risk 0) and mu, the point towards the corner with risk D becomes an output, named after its best answer; mu moves
    to the other end of the line in the set, which is of risk D (the last output) or has one secret less. At most n
    steps of a product with the loss each; no linear program. Outputs with the same best answer are joined, which keeps
    both risk and answer. A secret of prior 0 is shown like all others, y with probability p(y).

    >>> channel = constant_risk_channel([0.5, 0.3, 0.2], 1 - np.eye(3), 0.25)
    >>> 1 - channel.joint().max(axis=0) / channel.p_y  # the risk at each output
    array([0.25, 0.25, 0.25])
    """
    p, d = _matched(prior, loss, distortion)
    risks = d @ p
    if risks.min() <= distortion:
        rule = np.zeros(d.shape)
        rule[:, np.argmin(risks)] = 1.0
        return Channel(rule, p)
    w = _pieces(p, d, float(distortion))
    mass = w.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rule = np.where(p[:, None] > 0, w / p[:, None], mass)
    return Channel(rule / rule.sum(axis=1, keepdims=True), p)


def _matched(prior: ArrayLike, loss: ArrayLike, distortion: float) -> tuple[Floats, Floats]:
    p = probabilities(prior, "the prior")
    d = costs(loss, "loss", (len(p), len(p)))
    wrong = np.flatnonzero(np.diagonal(d))
    if wrong.size:
        raise UnmaskError(
            f"the loss of the right answer {wrong[0]} is not 0, expected a diagonal of 0: use optimal_mechanism"
        )
    if not distortion >= 0:
        raise UnmaskError(f"the distortion is {distortion}, expected at least 0")
    return p, d


def _pieces(p: Floats, d: Floats, level: float) -> Floats:
    """(n, n) joint p(x, y) of the channel of constant risk; the prior has risk above `level`."""
    w, mass, mu = np.zeros((len(p), len(p))), 1.0, p.copy()
    for _ in range(len(p)):
        corner = int(np.argmax(mu))
        rest = np.where(np.arange(len(p)) == corner, 0.0, mu)
        away = float(rest.sum())  # how far mu is from the corner, 0 to 1
        if away <= 0.0:  # a single secret is left: the level is 0, or so near that rounding went past it
            _add(w, mass, rest, 0.0, corner, d)
            return w
        rest /= away
        near, far = _ends(d @ rest, d[:, corner], level)
        near, far = min(near, away), max(far, away)
        share = (far - away) / (far - near) if far > away else 1.0
        _add(w, mass * share, rest, near if far > away else away, corner, d)
        mass *= 1.0 - share
        if far < 1.0 or mass <= 0.0:
            _add(w, mass, rest, far, corner, d)
            return w
        mu = rest
    raise AssertionError("each step removes a secret, and the last one returns")


def _ends(at_rest: Floats, at_corner: Floats, level: float) -> tuple[float, float]:
    """Where the line from the corner (0) to the rest (1) enters the set of risk at least `level`, and leaves it."""
    low, falling = at_corner < level, at_rest < level
    near = np.max((level - at_corner[low]) / np.maximum(at_rest[low] - at_corner[low], 1e-300), initial=0.0)
    drop = at_corner[falling] - at_rest[falling]
    far = np.min((at_corner[falling] - level) / np.maximum(drop, 1e-300), initial=1.0)
    return float(near), float(far)


def _add(w: Floats, mass: float, rest: Floats, away: float, corner: int, d: Floats) -> None:
    """Adds an output of belief (1 - away) at the corner and away * rest, under the name of its best answer."""
    if mass <= 0.0:
        return
    belief = away * rest
    belief[corner] = 1.0 - away
    risks = d @ belief
    best = corner if risks[corner] <= risks.min() * (1 + 1e-13) else int(np.argmin(risks))
    w[:, best] += mass * belief
