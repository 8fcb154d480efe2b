"""Sensitive values of a column, and the probability that a person has one.

An adversary who guesses the most common value for everybody is often right and learns nothing. Therefore every value is
sensitive, except a missing one and one that was strictly the most common before the release.
"""

from __future__ import annotations

import numpy as np

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import segment_max
from unmask.core.posterior import Posterior
from unmask.core.tolerances import PROBABILITY_TIE


def mask_sensitive_values(belief: Posterior) -> Booleans:
    """Return a mask of the sensitive values; if several values are equally common, all of them are sensitive."""
    prior = np.exp(belief.prior_of(np.arange(belief.n_candidates, dtype=np.int32)))
    is_top = prior >= prior.max() - PROBABILITY_TIE
    is_most_common = is_top if is_top.sum() == 1 else np.zeros_like(is_top)
    has_label = np.array([bool(label) for label in belief.candidate_label or ("value",) * belief.n_candidates])
    return np.asarray(has_label & ~is_most_common)


def sensitive_probability(belief: Posterior) -> Floats:
    """Return the probability of the likeliest sensitive value of each row, 0 if none is possible.

    >>> belief = Posterior.from_dense(np.array([[0.9, 0.1], [0.4, 0.6]]), prior=np.array([0.8, 0.2]))
    >>> sensitive_probability(belief).round(6)
    array([0.1, 0.6])
    """
    p = np.exp(belief.log_probability.astype(np.float64))
    return segment_max(np.where(mask_sensitive_values(belief)[belief.candidate], p, 0.0), belief.indptr, empty=0.0)


def likeliest_sensitive_value(belief: Posterior) -> Integers:
    """Return the likeliest sensitive value of each row, the first in a tie, -1 if none is possible."""
    p = np.exp(belief.log_probability.astype(np.float64))
    row = np.repeat(np.arange(belief.n_observations), belief.row_length)
    top = sensitive_probability(belief)
    entries = np.flatnonzero((top[row] > 0) & (p == top[row]) & mask_sensitive_values(belief)[belief.candidate])
    value = np.full(belief.n_observations, -1, dtype=np.int64)
    value[row[entries[::-1]]] = belief.candidate[entries[::-1]]
    return value


def success_by_value(belief: Posterior) -> Floats:
    """Return the mean belief in each candidate, given that it is the truth; nan for a candidate that never is.

    S(x) = E_Y[p(x given y) given x] = sum_y p(y) p(x given y)^2 / p(x). It is at least p(x). It equals p(x) for every x
    only if nothing is learned. Its mean over x is the success probability of a draw from the posterior. The
    observations must be all possible ones, weighted by their probability.

    >>> belief = Posterior.from_dense(np.array([[0.9, 0.1], [0.3, 0.7]]), prior=np.array([0.6, 0.4]))
    >>> success_by_value(belief).round(6)
    array([0.75 , 0.625])
    """
    p = np.exp(belief.log_probability.astype(np.float64))
    weight = np.repeat(belief.observation_weight, belief.row_length) / belief.observation_weight.sum()
    p_truth, success = (
        np.bincount(belief.candidate, weights=weight * p**power, minlength=belief.n_candidates) for power in (1, 2)
    )
    return np.asarray(np.divide(success, p_truth, out=np.full(belief.n_candidates, np.nan), where=p_truth > 0))


def rank_by_frequency(belief: Posterior) -> list[str]:
    """Return the rank of each value by its frequency before the release. The text contains no cell.

    >>> rank_by_frequency(Posterior.from_dense(np.array([[0.2, 0.8]]), prior=np.array([0.2, 0.8])))
    ['no. 2', 'no. 1']
    """
    prior = belief.prior_of(np.arange(belief.n_candidates, dtype=np.int32))
    return [f"no. {position + 1}" for position in np.argsort(np.argsort(-prior, kind="stable")).tolist()]
