"""Distribution of the records of all areas together, which the tables of all areas imply: the prior of an area."""

from __future__ import annotations

from functools import reduce
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import entr, pdtr

from unmask.aggregates.release import AggregateRelease
from unmask.aggregates.rules import UNBOUNDED, Counts, Marker

N_ROUNDS: Final = 60
"""Rounds of expectation and fitting."""

PSEUDO_PEOPLE: Final = 2.0
"""People that the prior adds for each effective cell. Without them the fit to rounded tables is too sharp."""

UNSEEN_SHARE: Final = 1e-4
"""Probability that is spread evenly over all cells, because tables do not show every rare combination."""


def fit_population(release: AggregateRelease) -> NDArray[np.float64]:
    """Return the probability of each cell for a person of any area, from the tables of all areas.

    Expectation maximization: a count of an area that is only known to be in an interval is replaced by its mean under
    a Poisson distribution with the fitted mean. The sums over areas are fitted table by table, by iterative
    proportional fitting, which gives the distribution of maximum entropy. Pseudo people with independent columns are
    added in each round, see `count_pseudo_people`.

    Parameters
    ----------
    release : AggregateRelease
        Published tables.

    Returns
    -------
    (n_cells,) array
        Positive and of sum 1, in the order of `release.matrix`.

    References
    ----------
    W. E. Deming & F. F. Stephan, "On a least squares adjustment of a sampled frequency table", 1940.
    """
    row, low, high, number = _count_intervals(release)
    matrix, n_rows = release.matrix, release.matrix.shape[0]
    unlimited = [
        np.flatnonzero((release.row_tables[row] == i) & (high >= UNBOUNDED)) for i in range(len(release.by_area))
    ]
    slices = [matrix[np.flatnonzero(release.row_tables == table)] for table in range(len(release.by_area))]
    fitted = np.full(matrix.shape[1], 1.0 / matrix.shape[1])
    total = 1.0
    for _ in range(N_ROUNDS):
        means = _truncated_means((total * (matrix @ fitted))[row], low, high)
        pseudo = count_pseudo_people(fitted, release.shape) / release.n_areas
        for table, part in enumerate(slices):
            at = unlimited[table]  # hidden totals keep the sums that the tables before this one have fitted
            means[at] = _truncated_means((total * (matrix @ fitted))[row[at]], low[at], high[at])
            sums = np.bincount(row, means * number, minlength=n_rows) / release.n_areas
            target = sums[release.row_tables == table] + part @ pseudo
            fitted = _fit(fitted * (total + pseudo.sum()), part, target)
            total, fitted = max(float(fitted.sum() - pseudo.sum()), 0.0), fitted / fitted.sum()
    return np.asarray((1 - UNSEEN_SHARE) * fitted + UNSEEN_SHARE / len(fitted))


def count_pseudo_people(population: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the people that the prior of a population adds to each cell.

    Their columns are independent, with the one-way distributions of the population. Their number is `PSEUDO_PEOPLE` for
    each effective cell, exp(entropy) of this distribution.

    Parameters
    ----------
    population : (n_cells,) array
        Sum 1.
    shape : tuple of int
        Number of categories of each column.

    Returns
    -------
    (n_cells,) array

    Examples
    --------
    >>> count_pseudo_people(np.array([0.5, 0.0, 0.0, 0.5]), (2, 2))
    array([2., 2., 2., 2.])
    """
    table, axes = population.reshape(shape), range(len(shape))
    margins = [table.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]
    independent = reduce(np.multiply.outer, margins).ravel()
    return np.asarray(PSEUDO_PEOPLE * np.exp(entr(independent).sum()) * independent)


def _fit(fitted: NDArray[np.float64], part: sparse.csr_array, target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cells scaled so that the rows of a table have their targets; cells in no row are not changed."""
    sums = part @ fitted
    ratio = np.divide(target, sums, out=np.ones_like(sums), where=sums > 0)
    in_table = np.asarray(part.sum(axis=0)).ravel() > 0
    return np.where(in_table, fitted * (part.T @ ratio), fitted)


def _count_intervals(release: AggregateRelease) -> tuple[NDArray[np.int64], Counts, Counts, NDArray[np.int64]]:
    """Return the distinct intervals of each row of the system over areas, and in how many areas they occur."""
    records = []
    for area in range(release.n_areas):
        low, high = release.bounds(area)
        values = np.concatenate([values for _, values, _ in release.published(area)])
        markers = np.concatenate([markers for _, _, markers in release.published(area)])
        is_noisy = np.repeat([item.rule.noise != "none" for item in release.by_area], np.bincount(release.row_tables))
        is_noisy &= markers == Marker.PUBLISHED
        mean = np.maximum(np.where(is_noisy, values, 0.0), 0.0).astype(np.int64)
        records.append(np.stack([np.arange(len(low)), np.where(is_noisy, mean, low), np.where(is_noisy, mean, high)]))
    distinct, number = np.unique(np.concatenate(records, axis=1), axis=1, return_counts=True)
    return distinct[0], distinct[1], distinct[2], number


def _truncated_means(mean: NDArray[np.float64], low: Counts, high: Counts) -> NDArray[np.float64]:
    """Return the mean of Poisson counts that are known to be in intervals."""
    mean = np.maximum(mean, 1e-12)

    def cumulative(count: Counts) -> NDArray[np.float64]:
        return np.where(count < 0, 0.0, np.where(count >= UNBOUNDED - 2, 1.0, pdtr(np.maximum(count, 0), mean)))

    mass = cumulative(high) - cumulative(low - 1)
    below = cumulative(high - 1) - cumulative(low - 2)
    middle = np.clip(mean, low, high)
    return np.where(mass > 1e-12, np.clip(mean * below / np.maximum(mass, 1e-12), low, high), middle)
