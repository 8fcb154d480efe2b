"""Risk of a sampled record by a log-linear model of the population."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError

MAX_CELLS = 2_000_000
"""Combinations of values up to which the model is fitted."""

MAX_SWEEPS = 50
"""Sweeps over the margins of a model; the fit converges in about ten."""

RANKING_SWEEPS = 2
"""Sweeps after which the pairs of columns are ranked; ranks of converged fits take three times as long."""

MARGIN_TOLERANCE = 1e-4
"""Largest relative deviation of a margin from the sample, below which a fit has converged."""

Margin = tuple[int, ...]
"""Columns whose joint frequencies a model reproduces."""

EXACT_UP_TO = 600.0
"""Expected number of unsampled people v up to which E[1/F] is computed exactly; above it is 1/(f + v) to 1e-3."""


def model_risk(levels: NDArray[np.integer], frequency: Integers, sampling_fraction: float) -> Floats:
    """Return the expected 1/F of each class of a sample, where F people of the population are in the class.

    The number of sampled people of a combination of values is Poisson with a log-linear mean mu, independent of the
    number of people who are not sampled, whose mean is v = mu (1 - pi)/pi. So E[1/F | f] = 1F1(1; f + 1; -v)/f, and the
    probability that a sample unique is a population unique is exp(-v). See `fit_log_linear` for mu.

    It assumes that every person is sampled with the same probability. Structural zeros count as possible combinations.

    Parameters
    ----------
    levels : (n_classes, n_columns) array
        Codes of the values of each class.
    frequency : (n_classes,) array
        Rows f of each class.
    sampling_fraction : float
        Rows of the sample divided by people of the population pi, in (0, 1].

    Returns
    -------
    (n_classes,) array
        Values in (0, 1/f].

    Raises
    ------
    UnmaskError
        If the values have more than 2,000,000 combinations.

    References
    ----------
    C. Skinner, N. Shlomo, "Assessing identification risk in survey microdata using log-linear models", JASA 2008, for
    f = 1.

    Examples
    --------
    >>> levels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> model_risk(levels, np.array([40, 10, 9, 1]), 0.1).round(3)
    array([0.002, 0.011, 0.012, 0.061])
    """
    unsampled = fit_log_linear(levels, frequency) * (1 - sampling_fraction) / sampling_fraction
    exact = scipy.special.hyp1f1(1.0, frequency + 1.0, -np.minimum(unsampled, EXACT_UP_TO)) / frequency
    return np.where(unsampled <= EXACT_UP_TO, exact, 1 / (frequency + unsampled))


def fit_log_linear(levels: NDArray[np.integer], frequency: Integers) -> Floats:
    """Return the expected frequency mu of each class of a sample by a log-linear model that is chosen for the sample.

    The model has all main effects. The pair of columns that most reduces |T| is added,
    T = sum((f - mu)^2 - f)/sqrt(2 sum mu^2) over all combinations of values, as long as |T| falls. T is about 0 for a
    model that fits, and positive if the risk is underestimated. Pairs are ranked before their fits converge.

    >>> fit_log_linear(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([3, 6, 1, 2])).round(6)
    array([3., 6., 1., 2.])
    """
    return _KeyTable.of(levels, frequency).choose_model().expected


@dataclass(frozen=True, eq=False)
class _Fit:
    """Expected frequencies of a model.

    factors : factors by margin, whose product are the expected rows of each combination; as many dimensions as columns
    expected : (n_classes,) expected rows of the observed classes
    statistic : T of the model
    """

    factors: Mapping[Margin, Floats]
    expected: Floats
    statistic: float


@dataclass(frozen=True, eq=False)
class _KeyTable:
    """Sample as a table of all combinations of the values that occur.

    codes : codes of each column, (n_classes,) each
    shape : number of values of each column
    frequency : (n_classes,) rows
    """

    codes: tuple[Integers, ...]
    shape: tuple[int, ...]
    frequency: Floats

    @classmethod
    def of(cls, levels: NDArray[np.integer], frequency: Integers) -> _KeyTable:
        """Return the table of a sample; columns with one value are left out."""
        codes = [np.unique(column, return_inverse=True)[1] for column in levels.T]
        codes = [column for column in codes if column.max(initial=0) > 0] or codes[:1]
        shape = tuple(int(column.max(initial=0)) + 1 for column in codes)
        n_cells = float(np.prod([float(n) for n in shape]))
        if n_cells > MAX_CELLS:
            raise UnmaskError(
                f"the quasi-identifiers have {n_cells:.2g} combinations of values, expected at most {MAX_CELLS:,} for "
                "the log-linear model; leave columns out, or generalize them"
            )
        return cls(tuple(codes), shape, frequency.astype(np.float64))

    def choose_model(self) -> _Fit:
        """Return the fit of the main effects and of the pairs of columns that improve it."""
        margins: list[Margin] = [(column,) for column in range(len(self.shape))]
        pairs: list[Margin] = list(combinations(range(len(self.shape)), 2))
        totals = {margin: self._sum_margin(margin) for margin in [*margins, *pairs]}
        best = self._fit({}, {margin: totals[margin] for margin in margins})
        while pairs:
            fits = [
                self._fit(best.factors, {margin: totals[margin] for margin in [pair, *margins]}, RANKING_SWEEPS)
                for pair in pairs
            ]
            margins.append(pairs.pop(int(np.argmin([abs(fit.statistic) for fit in fits]))))
            fit = self._fit(best.factors, {margin: totals[margin] for margin in margins})
            if abs(fit.statistic) >= abs(best.statistic):
                break
            best = fit
        return best

    def _fit(
        self, start: Mapping[Margin, Floats], totals: Mapping[Margin, Floats], max_sweeps: int = MAX_SWEEPS
    ) -> _Fit:
        """Return the fit of margins by iterative proportional fitting, from the factors of a model with fewer margins.

        start  : factors of that model
        totals : rows of the sample, by margin
        """
        factors = {margin: start.get(margin, np.ones_like(total)) for margin, total in totals.items()}
        order = self._order_columns(totals)
        for _ in range(max_sweeps):
            deviation = 0.0
            for margin, total in totals.items():
                fitted = _sum_product(factors.values(), [column for column in order if column not in margin])
                factor = np.divide(total, fitted, out=np.zeros_like(fitted), where=fitted > 0)
                deviation = max(deviation, float(np.abs(factor - 1)[total > 0].max()))
                factors[margin] = factors[margin] * factor
            if deviation < MARGIN_TOLERANCE:
                break
        expected = np.ones(len(self.frequency))
        for margin, factor in factors.items():
            expected *= factor.ravel()[self._find_combinations(margin)]
        squares = float(_sum_product([factor**2 for factor in factors.values()], order).item())
        excess = float(self.frequency @ (self.frequency - 2 * expected)) + squares - float(self.frequency.sum())
        return _Fit(factors, expected, excess / np.sqrt(2 * squares))

    def _order_columns(self, margins: Iterable[Margin]) -> list[int]:
        """Return the order of elimination for `_sum_product`: next is the column whose table of factors is smallest."""
        cliques, order = [set(margin) for margin in margins], list[int]()
        while len(order) < len(self.shape):
            joined = {
                column: set().union(*(clique for clique in cliques if column in clique))
                for column in range(len(self.shape))
                if column not in order
            }
            column = min(joined, key=lambda column: math.prod(self.shape[other] for other in joined[column]))
            cliques = [clique for clique in cliques if column not in clique] + [joined[column] - {column}]
            order.append(column)
        return order

    def _sum_margin(self, margin: Margin) -> Floats:
        """Return the rows of each combination of the columns of a margin, in as many dimensions as columns."""
        shape = [n if axis in margin else 1 for axis, n in enumerate(self.shape)]
        rows = np.bincount(self._find_combinations(margin), self.frequency, math.prod(shape))
        return rows.astype(np.float64).reshape(shape)

    def _find_combinations(self, margin: Margin) -> Integers:
        """Return the combination of the columns of a margin that each class has, as an index."""
        return np.ravel_multi_index([self.codes[axis] for axis in margin], [self.shape[axis] for axis in margin])


def _sum_product(factors: Iterable[Floats], columns: Iterable[int]) -> Floats:
    """Return the product of factors, summed over columns one after the other, without a table of all columns."""
    remaining = list(factors)
    for column in columns:
        joined = [factor for factor in remaining if factor.shape[column] > 1]
        remaining = [factor for factor in remaining if factor.shape[column] == 1]
        remaining.append(math.prod(joined[1:], start=joined[0]).sum(axis=column, keepdims=True))
    return math.prod(remaining[1:], start=remaining[0])
