"""How many candidates remain: the Renyi family and the effective size of the anonymity set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.measures.base import Measure
from unmask.measures.rows import Rows, per_row

SOURCE = "Rebollo-Monedero et al. 2012, section V-A1; A. Renyi, 'On measures of entropy and information', 1961"

LN2 = float(np.log(2.0))


def _shannon(rows: Rows) -> NDArray[np.float64]:
    log_share = np.log(np.where(rows.share > 0, rows.share, 1.0))
    return np.maximum(-(rows.sum(rows.p * rows.log_p) + rows.unlisted * log_share) / LN2, 0.0)


def _renyi(rows: Rows, alpha: float) -> NDArray[np.float64]:
    if alpha == 1:
        return _shannon(rows)
    if alpha == 0:
        return np.asarray(np.log2(rows.n_listed + rows.n_sharing))
    if alpha == np.inf:
        return np.maximum(-np.log2(np.maximum(rows.max(rows.p), rows.share)), 0.0)
    share = np.where(rows.share > 0, rows.share, 0.0)
    power = rows.sum(rows.p**alpha) + rows.n_sharing * share**alpha
    return np.maximum(np.log2(power) / (1.0 - alpha), 0.0)


def renyi_entropy(alpha: float) -> Measure:
    """H_alpha(X given y) = log2(sum_x p(x given y)^alpha) / (1 - alpha), in bits.

    alpha = 0 Hartley (log2 of the number of possible candidates), 1 Shannon, 2 collision, inf min-entropy -log2 max p:
    the best, average and worst case for the user. "None of these" counts as one more symbol, and so does an unknown
    number of unlisted candidates, which makes the entropy a lower bound. The mean over targets is the average of
    H(X given y), for alpha = inf larger than the conditional min-entropy -log2 E max p of Smith.

    >>> from unmask import Posterior
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.25, 0.25]]))
    >>> [float(renyi_entropy(a).per_target(belief)[0].round(4)) for a in (0, 1, np.inf)]
    [1.585, 1.5, 1.0]
    """
    if not alpha >= 0:
        raise UnmaskError(
            f"alpha is {alpha}, expected 0 (Hartley), 1 (Shannon), inf (min-entropy) or any number above 0"
        )
    name = {0: "hartley_entropy", 1: "shannon_entropy", np.inf: "min_entropy"}.get(alpha, f"renyi_entropy_{alpha:g}")
    return Measure(
        name=f"{name}_bits",
        unit="bits",
        direction="low",
        range=(0.0, np.inf),
        source=SOURCE,
        self_assessed=lambda belief: per_row(belief, lambda rows: _renyi(rows, alpha)),
        needs_probabilities=True,
    )


shannon_entropy = renyi_entropy(1)

effective_set_size = Measure(
    name="effective_set_size",
    unit="candidates",
    direction="low",
    range=(1.0, np.inf),
    source="A. Serjantov & G. Danezis, 'Towards an information theoretic metric for anonymity', 2002",
    self_assessed=lambda belief: per_row(belief, lambda rows: np.exp2(_shannon(rows))),
    needs_probabilities=True,
)
"""2^H(X given y): the size of the uniform set that would leave the adversary as uncertain; k over a class of k
alike."""
