"""Primary suppression of magnitude tables: dominance, p percent and prior-posterior rules, and minimum frequency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.programs import Floats
from unmask.core.errors import UnmaskError
from unmask.ranges import Range, check_ranges

DEFAULT_PERCENT = 10.0
"""Percent. Precision from which the largest contribution is protected if the only rule is a minimum frequency."""


@dataclass(frozen=True)
class SensitivityRule:
    """Rules by which a cell of a magnitude table is sensitive; a cell that fails one of them is.

    With contributions x_1 >= x_2 >= ... and their sum X:

    - dominance (n, k): x_1 + ... + x_n > k % of X
    - p percent: X - x_1 - x_2 < p % of x_1, so the second contributor estimates the first within p %
    - prior-posterior (p, q): X - x_1 - x_2 < p/q of x_1, if everybody knows contributions within q % before the release
    - minimum frequency: fewer contributors

    Parameters
    ----------
    dominance : tuple of (int, float), optional
        n and k in percent.
    p_percent : float, optional
        p.
    prior_posterior : tuple of (float, float), optional
        p and q in percent, p below q.
    min_contributors : int
        Minimum frequency; 1 asks nothing.

    References
    ----------
    A. Hundepool et al., "Statistical Disclosure Control", Wiley 2012, section 4.2.

    Examples
    --------
    >>> rule = SensitivityRule(p_percent=10)
    >>> rule.protection_levels(np.array([[100.0, 30.0], [100.0, 30.0]]), np.array([132.0, 150.0]), np.array([3, 3]))
    array([8., 0.])
    """

    dominance: tuple[int, float] | None = None
    p_percent: float | None = None
    prior_posterior: tuple[float, float] | None = None
    min_contributors: Annotated[int, Range(1)] = 1

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.dominance is not None and not (self.dominance[0] >= 1 and 0 < self.dominance[1] < 100):
            raise UnmaskError(
                f"dominance is {self.dominance}, expected n at least 1 and k between 0 and 100 percent, such as 1,85"
            )
        if self.p_percent is not None and not 0 < self.p_percent < np.inf:
            raise UnmaskError(f"p_percent is {self.p_percent}, expected above 0, such as 10")
        if self.prior_posterior is not None and not 0 < self.prior_posterior[0] < self.prior_posterior[1]:
            raise UnmaskError(
                f"prior_posterior is {self.prior_posterior}, expected p above 0 and below q, such as 10,50"
            )
        if not (self.dominance or self.p_percent or self.prior_posterior or self.min_contributors > 1):
            raise UnmaskError(
                "no rule was given, expected `dominance`, `p_percent`, `prior_posterior` or `min_contributors`"
            )

    @property
    def n_largest(self) -> int:
        """Number of largest contributions that the rules read."""
        return max(2, self.dominance[0]) if self.dominance else 2

    @property
    def percent(self) -> float:
        """Precision of an estimate of the largest contribution, in percent, that an audit reports."""
        return DEFAULT_PERCENT if self.p_percent is None else self.p_percent

    def protection_levels(self, largest: Floats, totals: Floats, n_contributors: NDArray[np.int64]) -> Floats:
        """Return the upper protection level of each cell, above 0 where it is sensitive.

        A value that is larger by the level must remain possible.

        Parameters
        ----------
        largest : (n_cells, n) array
            The n largest contributions to each cell in descending order, 0 where there are fewer; n is `n_largest`.
        totals : (n_cells,) array
            Sums of all contributions.
        n_contributors : (n_cells,) array of int
            Numbers of contributors.

        Returns
        -------
        (n_cells,) array
            In the unit of the contributions. A cell with too few contributors has the level that keeps the largest
            contribution from competitors who know all others, by `percent`.
        """
        first, remainder = largest[:, 0], totals - largest[:, 0] - largest[:, 1]
        levels = np.zeros(len(totals))
        if self.dominance is not None:
            n, k = self.dominance
            levels = np.maximum(levels, 100 / k * largest[:, :n].sum(axis=1) - totals)
        if self.p_percent is not None:
            levels = np.maximum(levels, self.p_percent / 100 * first - remainder)
        if self.prior_posterior is not None:
            p, q = self.prior_posterior
            levels = np.maximum(levels, p / q * first - remainder)
        is_rare = n_contributors < self.min_contributors
        levels = np.where(is_rare, np.maximum(levels, self.percent / 100 * first), levels)
        return np.where(levels > LEVEL_ROUNDING * totals, levels, 0.0)


LEVEL_ROUNDING = 1e-12
"""Share of a cell. Largest protection level that is due to the rounding of sums."""
