"""Distribution of the records of all areas together, which the tables of all areas imply: the prior of an area."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import entr, gammaln, pdtr

from unmask.aggregates.release import AggregateRelease
from unmask.aggregates.rules import UNBOUNDED, Counts, Marker

N_ROUNDS: Final = 60
"""Rounds of expectation and fitting."""

PSEUDO_PEOPLE: Final = 2.0
"""People that the prior adds for each effective cell. Without them the fit to rounded tables is too sharp."""

N_SWEEPS: Final = 3
"""Updates of the number of people and of the shares of each column, before the rounds."""

LOG_STEP: Final = 0.4
"""Distance of the logarithms of factors, over which posterior means are computed."""

FACTORS: Final = np.exp(LOG_STEP * np.arange(-23, 24))
"""Factors by which an update may multiply a share, from 1e-4 to 1e4."""

UNSEEN_SHARE: Final = 1e-4
"""Probability that is spread evenly over all cells, because tables do not show every rare combination."""

Intervals = tuple[NDArray[np.int64], Counts, Counts, NDArray[np.int64]]
"""Row of the matrix, smallest and largest count, and number of areas, of each distinct interval."""


def fit_population(release: AggregateRelease) -> NDArray[np.float64]:
    """Return the probability of each cell for a person of any area, from the tables of all areas.

    The start has independent columns with the posterior means of `fit_columns`. What the tables do not determine keeps
    the value of the start, such as the number of people if small counts are hidden. There the likelihood is nearly
    flat, and largest if all hidden counts are zero, so that more rounds do not make the fit better.

    Expectation maximization follows: a count of an area that is only known to be in an interval is replaced by its mean
    under a Poisson distribution with the fitted mean. The sums over areas are fitted table by table, by iterative
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
    intervals = row, low, high, number = _count_intervals(release)
    matrix, n_rows = release.matrix, release.matrix.shape[0]
    unlimited = [
        np.flatnonzero((release.row_tables[row] == i) & (high >= UNBOUNDED)) for i in range(len(release.by_area))
    ]
    slices = [matrix[np.flatnonzero(release.row_tables == table)] for table in range(len(release.by_area))]
    fitted, total = fit_columns(matrix, release.shape, intervals)
    for _ in range(N_ROUNDS):
        means = _truncated_means((total * (matrix @ fitted))[row], low, high)
        pseudo = count_pseudo_people(fitted, release.shape) / release.n_areas
        for table, part in enumerate(slices):
            rows = unlimited[table]  # hidden totals keep the sums that the tables before this one have fitted
            means[rows] = _truncated_means((total * (matrix @ fitted))[row[rows]], low[rows], high[rows])
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
    independent = _cross([table.sum(axis=tuple(dropped for dropped in axes if dropped != axis)) for axis in axes])
    return np.asarray(PSEUDO_PEOPLE * np.exp(entr(independent).sum()) * independent)


def fit_columns(
    matrix: sparse.csr_array, shape: tuple[int, ...], intervals: Intervals
) -> tuple[NDArray[np.float64], float]:
    """Return a distribution with independent columns, and the number of people of an area.

    Counts are Poisson. The mean of each category of a column has the prior Gamma(1 / K, 0) of K categories, so that the
    shares are Dirichlet(1 / K), the overall objective prior of Berger, Bernardo and Sun. Each mean in turn becomes its
    posterior mean while the others are fixed; so does the number of people, with a prior of 1 / n.

    Parameters
    ----------
    matrix : csr_array (n_rows, n_cells)
        Cells of each published count.
    shape : tuple of int
        Number of categories of each column.
    intervals : tuple of arrays
        Row, smallest count, largest count, and number of areas.

    Returns
    -------
    population : (n_cells,) array
        Sum 1. A column of which the tables show nothing is even.
    total : float
        Number of people of an area.

    References
    ----------
    J. Berger, J. Bernardo and D. Sun, "Overall objective priors", Bayesian Analysis 2015.
    """
    row, low, high, number = intervals
    columns = [np.full(n, 1.0 / n) for n in shape]
    in_category = [_find_categories(matrix, codes) for codes in np.indices(shape).reshape(len(shape), -1)]
    total = 1.0

    def update(row_group: NDArray[np.int64], n_groups: int, exponent: float) -> NDArray[np.float64]:
        used = np.flatnonzero(row_group[row] >= 0)
        mean = np.maximum(total * (matrix @ _cross(columns))[row[used]], 1e-12)
        log_likelihood = np.zeros((len(FACTORS), n_groups))
        for step, factor in enumerate(FACTORS):
            values = number[used] * _log_mass(factor * mean, low[used], high[used])
            log_likelihood[step] = np.bincount(row_group[row[used]], values, minlength=n_groups)
        return _mean_factors(log_likelihood, exponent)

    for _ in range(N_SWEEPS):
        total *= float(update(np.zeros(matrix.shape[0], dtype=np.int64), 1, 0.0)[0])
        for column, n_categories in enumerate(shape):
            scaled = columns[column] * update(in_category[column], n_categories, 1.0 / n_categories)
            total, columns[column] = total * scaled.sum(), scaled / scaled.sum()
    return _cross(columns), total


def _cross(columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the distribution over the cross of independent columns."""
    return np.asarray(reduce(np.multiply.outer, columns).ravel())


def _find_categories(matrix: sparse.csr_array, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the category of a column of all cells of each row, -1 for a row of several categories."""
    n_cells, sums = matrix.sum(axis=1), matrix @ codes
    is_same = n_cells * (matrix @ codes**2) == sums**2
    return np.where(is_same, sums // np.maximum(n_cells, 1), -1).astype(np.int64)


def _mean_factors(log_likelihood: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    """Return posterior means over `FACTORS` (rows) with the prior factor^(exponent - 1); 1 if the likelihood is flat.

    Below the first factor the likelihood is constant, and the prior is a geometric series.
    """
    weight = np.exp(log_likelihood - log_likelihood.max(axis=0)) * FACTORS[:, None] ** exponent
    sums, tail = FACTORS @ weight, weight[0] / np.expm1(LOG_STEP * exponent) if exponent else 0.0
    return np.where(np.ptp(log_likelihood, axis=0) > 1e-9, sums / (weight.sum(axis=0) + tail), 1.0)


def _log_mass(mean: NDArray[np.float64], low: Counts, high: Counts) -> NDArray[np.float64]:
    """Return the log-probability of intervals of Poisson counts, in the tails that of the nearest count."""
    mass = _cumulate(high, mean) - _cumulate(low - 1, mean)
    nearest = np.clip(np.rint(mean), low, high)
    tail = nearest * np.log(mean) - mean - gammaln(nearest + 1)
    return np.where(mass > 1e-12, np.log(np.maximum(mass, 1e-12)), tail)


def _cumulate(count: Counts, mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of at most so many Poisson counts."""
    return np.where(count < 0, 0.0, np.where(count >= UNBOUNDED - 2, 1.0, pdtr(np.maximum(count, 0), mean)))


def _fit(fitted: NDArray[np.float64], part: sparse.csr_array, target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cells scaled so that the rows of a table have their targets; cells in no row are not changed."""
    sums = part @ fitted
    ratio = np.divide(target, sums, out=np.ones_like(sums), where=sums > 0)
    in_table = np.asarray(part.sum(axis=0)).ravel() > 0
    return np.where(in_table, fitted * (part.T @ ratio), fitted)


def _count_intervals(release: AggregateRelease) -> Intervals:
    """Return the distinct intervals of each row of the system over areas, and in how many areas they occur."""
    is_noisy = np.array([item.rule.noise != "none" for item in release.by_area])[release.row_tables]
    noisy = np.where(is_noisy & (release.markers == Marker.PUBLISHED), np.maximum(release.values, 0.0), np.nan)
    low, high = (np.where(np.isnan(noisy), bound, noisy).astype(np.int64) for bound in release.bounds_by_area)
    rows = np.broadcast_to(np.arange(low.shape[1]), low.shape)
    distinct, number = np.unique(np.stack([rows, low, high]).reshape(3, -1), axis=1, return_counts=True)
    return distinct[0], distinct[1], distinct[2], number


def _truncated_means(mean: NDArray[np.float64], low: Counts, high: Counts) -> NDArray[np.float64]:
    """Return the mean of Poisson counts that are known to be in intervals."""
    mean = np.maximum(mean, 1e-12)
    mass = _cumulate(high, mean) - _cumulate(low - 1, mean)
    shifted_mass = _cumulate(high - 1, mean) - _cumulate(low - 2, mean)
    middle = np.clip(mean, low, high)
    return np.where(mass > 1e-12, np.clip(mean * shifted_mass / np.maximum(mass, 1e-12), low, high), middle)
