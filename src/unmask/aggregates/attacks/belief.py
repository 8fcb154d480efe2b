"""Belief about the counts of an area: the mean over all records that fulfil its tables, weighted by a prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from unmask.aggregates.attacks.chains import Likelihood, read_likelihood, sample_counts
from unmask.aggregates.attacks.reconstruction import Reconstruction
from unmask.aggregates.release import AggregateRelease


@dataclass(frozen=True, eq=False)
class CountBelief:
    """Belief about the counts of an area.

    Parameters
    ----------
    mean : (n_columns, n_cells) array
        Posterior mean of the count of each cell of the system. A chain has an estimate for each column: counts of its
        draws are averaged over the values that a record may have in the column if all else is fixed. Raw counts of few
        draws would make the most probable value seem more probable than it is.
    draws : (n, n_cells) array
        Records of the area, as counts, with the probabilities `weights`.
    weights : (n,) array
        Sum 1.
    method : {"enumeration", "chain", "prior"}
        How the mean was computed: over all solutions, by a chain, or without the area's tables.
    r_hat : float
        Largest split R-hat of a chain; 1 without a chain.
    """

    mean: NDArray[np.float64]
    draws: NDArray[np.int32]
    weights: NDArray[np.float64]
    method: str
    r_hat: float = 1.0


def weigh_solutions(
    solutions: NDArray[np.int32], log_prior: NDArray[np.float64], log_likelihood: NDArray[np.float64] | float = 0.0
) -> NDArray[np.float64]:
    """Return the probability of each solution, if people are independent draws from a distribution over cells.

    p(x) is proportional to L(x) N! prod_c prior_c^x_c / x_c!, with N = sum_c x_c and the likelihood L.

    Parameters
    ----------
    solutions : (n, n_cells) array
        Counts.
    log_prior : (n_cells,) array
        Log-probability of each cell for one person.
    log_likelihood : (n,) array, optional
        Log-likelihood of each solution, for rules that draw.

    Returns
    -------
    (n,) array
        Sum 1.

    Examples
    --------
    >>> weigh_solutions(np.array([[2, 0], [1, 1]]), np.log([0.5, 0.5]))
    array([0.333..., 0.666...])
    """
    counts = solutions.astype(np.float64)
    log_weight = gammaln(counts.sum(axis=1) + 1) - gammaln(counts + 1).sum(axis=1) + counts @ log_prior + log_likelihood
    weight = np.exp(log_weight - log_weight.max(initial=-np.inf))
    return np.asarray(weight / weight.sum())


def infer_counts(
    release: AggregateRelease,
    results: Sequence[Reconstruction],
    population: NDArray[np.float64],
    *,
    rng: np.random.Generator,
) -> list[CountBelief]:
    """Return the belief about the counts of each area: over all solutions if they are known, otherwise by chains.

    Parameters
    ----------
    release : AggregateRelease
        Published tables.
    results : sequence of Reconstruction
        Solutions of each area.
    population : (n,) array
        Positive distribution of people over the cross of columns.
    rng : Generator
        Source of chains.

    Returns
    -------
    list of CountBelief
        The belief about an area without a solution is the population.
    """
    n_sampled = sum(not result.is_complete for result in results)
    beliefs = []
    for area, result in enumerate(results):
        cells = result.system.cells
        if not len(result.solutions):
            beliefs.append(CountBelief(population[None, cells], result.solutions, np.zeros(0), "prior"))
        elif result.is_complete:
            log_likelihood = _sum_likelihood(result, read_likelihood(release, area, result))
            weights = weigh_solutions(result.solutions, np.log(population[cells]), log_likelihood)
            mean = np.broadcast_to(weights @ result.solutions, (len(release.columns), len(cells)))
            beliefs.append(CountBelief(mean, result.solutions, weights, "enumeration"))
        else:
            mean, draws, r_hat = sample_counts(release, area, result, population, n_areas=n_sampled, rng=rng)
            beliefs.append(CountBelief(mean, draws, np.full(len(draws), 1.0 / len(draws)), "chain", r_hat))
    return beliefs


def _sum_likelihood(result: Reconstruction, likelihood: Likelihood) -> NDArray[np.float64] | float:
    """Return the log-likelihood of each solution."""
    (starts, values), system = likelihood, result.system
    random = np.flatnonzero(starts >= 0)
    if not len(random):
        return 0.0
    sums = result.solutions @ system.matrix[random].T
    places = starts[random] + np.rint(sums).astype(np.int64) - system.row_low[random]
    return np.asarray(values[places].sum(axis=1))
