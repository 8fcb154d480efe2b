"""How many people an attacker is surely right about, beyond what the value's frequency gives away."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.measures.base import Measure
from unmask.measures.registry import FAMILIES, declare_all
from unmask.measures.success import standing
from unmask.posterior import Posterior
from unmask.truth import Truth


def rapid_at(tau: float) -> Measure:
    """Share of people whose true value v has (p(v) - q(v)) / (1 - q(v)) above tau, p what is believed and q the share
    of the value before: RAPID. 0 where q(v) is 1.

    >>> from unmask import Posterior, Truth
    >>> belief = Posterior.from_dense(np.array([[0.9, 0.1], [0.6, 0.4]]), prior=np.array([0.5, 0.5]))
    >>> rapid_at(0.3).per_target(belief, Truth([0, 0]))
    array([1., 0.])
    """
    if not 0.0 <= tau < 1.0:
        raise UnmaskError(f"tau is {tau:g}, expected at least 0 and below 1")
    return Measure(
        name=f"rapid_at_{tau:g}",
        label=f"Surely inferred (RAPID, {tau:g})",
        meaning=f"share of people whose true value is believed more than {100 * tau:g} % of the way from its frequency "
        "to certainty",
        unit="share",
        direction="high",
        range=(0.0, 1.0),
        source='M. Templ et al., "RAPID: risk of attribute prediction-induced disclosure", 2026',
        realized=lambda belief, truth: _sure(belief, truth, tau),
        needs_probabilities=True,
        rate=True,
    )


def _sure(belief: Posterior, truth: Truth, tau: float) -> NDArray[np.float64]:
    p, before = (standing(one, truth).probability for one in (belief, belief.prior()))
    gained = np.where(before < 1.0, (p - before) / np.maximum(1.0 - before, 1e-300), 0.0)
    return np.asarray(gained > tau, dtype=np.float64)


FAMILIES[r"rapid_at_(0|0\.\d+)"] = lambda tau: rapid_at(float(tau))

declare_all(rapid_at(0.3))
