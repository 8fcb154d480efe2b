"""What the release added: distances between what the adversary believes and what he believed before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.measures.base import Measure
from unmask.measures.rows import Rows, per_row

SOURCE = "Rebollo-Monedero et al. 2012, section V-B"

LN2 = float(np.log(2.0))

RESOLUTION = 1e-6
"""Distances below this are the rounding of stored beliefs (float32) and count as 0."""


def _resolved(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(distance < RESOLUTION, 0.0, distance)


def _log_ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """log(part / whole), 0 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(part) - np.log(whole)
    return np.where((part <= 0) & (whole <= 0), 0.0, ratio)


def _log_ratio_if_possible(rows: Rows) -> NDArray[np.float64]:
    """Log of belief over prior of the unlisted as a whole, 0 where it has no mass."""
    return np.where(rows.unlisted > 0, _log_ratio(rows.unlisted, rows.prior_unlisted), 0.0)


def _information(rows: Rows) -> NDArray[np.float64]:
    rest = rows.unlisted * _log_ratio_if_possible(rows)
    return _resolved((rows.sum(rows.p * (rows.log_p - rows.log_q)) + rest) / LN2)


def _total_variation(rows: Rows) -> NDArray[np.float64]:
    listed = rows.sum(np.abs(rows.p - np.exp(rows.log_q)))
    return _resolved(np.minimum(0.5 * (listed + np.abs(rows.unlisted - rows.prior_unlisted)), 1.0))


def _confirmation(rows: Rows) -> NDArray[np.float64]:
    listed = rows.max(rows.log_p - rows.log_q, empty=-np.inf)
    return _resolved(np.maximum(listed, _log_ratio_if_possible(rows)))


def _refutation(rows: Rows) -> NDArray[np.float64]:
    listed = rows.max(rows.log_q - rows.log_p, empty=-np.inf)
    rest = np.where(rows.prior_unlisted > 0, _log_ratio(rows.prior_unlisted, rows.unlisted), 0.0)
    return _resolved(np.maximum(listed, rest))


information_gain = Measure(
    name="information_gain_bits",
    unit="bits",
    direction="high",
    range=(0.0, np.inf),
    source=SOURCE + "2: the mean is I(X; Y), the worst-off observation is t read as a Kullback-Leibler divergence",
    self_assessed=lambda belief: per_row(belief, _information),
    needs_probabilities=True,
)
"""D(p(. given y) || prior) in bits. What is unlisted is compared as a whole, exact where its belief is proportional to
the prior and a lower bound elsewhere. For identity over a uniform prior on n records it is log2 n - log2 k in a class
of k."""

total_variation = Measure(
    name="total_variation",
    unit="probability",
    direction="high",
    range=(0.0, 1.0),
    source="N. Li et al., 't-Closeness', 2007, equal distance; " + SOURCE + "1",
    self_assessed=lambda belief: per_row(belief, _total_variation),
    needs_probabilities=True,
)
"""1/2 sum_x |p(x given y) - p(x)|: half of the largest bound on what the adversary can gain under any loss of range 1;
its worst-off observation is t of t-closeness under the equal distance."""

confirmation = Measure(
    name="delta_up",
    unit="nats",
    direction="high",
    range=(0.0, np.inf),
    source=SOURCE + "3, delta-disclosure, upward half",
    self_assessed=lambda belief: per_row(belief, _confirmation),
    needs_probabilities=True,
)
"""max_x log p(x given y) / p(x): how much surer of something the adversary gets; always finite."""

refutation = Measure(
    name="delta_down",
    unit="nats",
    direction="high",
    range=(0.0, np.inf),
    source=SOURCE + "3, delta-disclosure, downward half",
    self_assessed=lambda belief: per_row(belief, _refutation),
    needs_probabilities=True,
)
"""max_x log p(x) / p(x given y): how firmly he can rule something out; infinite once a possible value is missing from a
class, as it always is for identity. delta of delta-disclosure is the larger of the two."""
