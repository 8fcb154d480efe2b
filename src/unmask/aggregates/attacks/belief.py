"""Belief about the counts of an area: the mean over all records that fulfil its tables, weighted by a prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from unmask.aggregates.attacks.reconstruction import Reconstruction


@dataclass(frozen=True, eq=False)
class CountBelief:
    """Belief about the counts of an area.

    Parameters
    ----------
    mean : (n_cells,) array
        Posterior mean of the count of each cell of the system.
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


def weigh_solutions(solutions: NDArray[np.int32], log_prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each solution, if people are independent draws from a distribution over cells.

    p(x) is proportional to N! prod_c prior_c^x_c / x_c!, with N = sum_c x_c.

    Parameters
    ----------
    solutions : (n, n_cells) array
        Counts.
    log_prior : (n_cells,) array
        Log-probability of each cell for one person.

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
    log_weight = gammaln(counts.sum(axis=1) + 1) - gammaln(counts + 1).sum(axis=1) + counts @ log_prior
    weight = np.exp(log_weight - log_weight.max(initial=-np.inf))
    return np.asarray(weight / weight.sum())


def infer_counts(result: Reconstruction, prior: NDArray[np.float64]) -> CountBelief:
    """Return the belief about the counts of an area.

    Parameters
    ----------
    result : Reconstruction
        Solutions of the area.
    prior : (n_cells,) array
        Probability of each cell of the system for one person, positive.

    Returns
    -------
    CountBelief
    """
    if result.is_complete and len(result.solutions):
        weights = weigh_solutions(result.solutions, np.log(prior))
        return CountBelief(weights @ result.solutions, result.solutions, weights, "enumeration")
    return CountBelief(prior, result.solutions[:0], np.zeros(0), "prior")
