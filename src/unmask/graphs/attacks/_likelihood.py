"""The numbers behind the log-odds of `Rematch`, from counts: the same in memory and in an engine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

GRID = 65536.0
"""Weights of witnesses are whole multiples of 1 / GRID, so that equal sums are equal whatever their order."""

TIE = 1e-3
"""Log-odds closer than this are tied, however small the margin: the grid may part what is equal by 1e-5 a witness."""

NEGLIGIBLE = 40.0
"""Candidates whose odds are exp(-40) of those of the best, or less, are left out."""

_KEPT = (0.05, 0.95)  # a share read from a handful of pairs is 0 or 1 at times, which would settle all by one edge
_SPREAD = (0.1, 10.0)


class Model(NamedTuple):
    """Parameters that the adversary estimates from the mapping, see `Rematch`: s, s', b and phi."""

    kept: float
    kept_back: float
    ratio: float
    spread: float

    @property
    def misses(self) -> tuple[float, float]:
        """Return log(1 - s) and log(1 - s'), the terms of a neighbor that is not a witness."""
        return float(np.log1p(-self.kept)), float(np.log1p(-self.kept_back))


def fit_model(kept: int, n_mapped: tuple[int, int], *, ratio: float, squares: float, expected: float) -> Model:
    """Return the model of mapped pairs.

    kept     : edges between mapped people that both graphs have, each counted at both ends
    n_mapped    : mapped neighbors of mapped people, added up, in the source and in the target
    ratio    : b = (1 + sum of r_c) / (1 + sum of r_u), r the neighbors that are not mapped
    squares  : sum of (r_c - b r_u)^2; expected : sum of b r_u + r_c + 1
    """
    return Model(
        kept=float(np.clip((kept + 1) / (n_mapped[0] + 2), *_KEPT)),
        kept_back=float(np.clip((kept + 1) / (n_mapped[1] + 2), *_KEPT)),
        ratio=float(ratio),
        spread=float(np.clip(squares / expected, *_SPREAD)),
    )


def witness_weights(model: Model, degree: NDArray[np.integer], n_ends: int) -> NDArray[np.float64]:
    """Return what a witness adds to the log-odds, by the degree of its image, without the candidate's log degree.

    log(s 2m / d_y) - log(1 - s) - log(1 - s'), for it is no longer among those that are not witnesses; in units of
    1 / GRID, rounded. n_ends : 2m, the links of the target counted at both ends.
    """
    miss, target_miss = model.misses
    weight: NDArray[np.float64] = np.log(model.kept * max(n_ends, 1) / degree) - miss - target_miss
    return np.rint(weight * GRID)
