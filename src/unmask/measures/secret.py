"""Which values of a column are secrets, and how sure an adversary is that somebody has one.

Whoever says of everybody that they have the commonest value is right often and learns nothing. A value is a secret
unless it is commoner than every other before the release, or missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import segment_max
from unmask.core.posterior import Posterior


def secret_values(belief: Posterior) -> NDArray[np.bool_]:
    """(n_candidates,) which values are secrets; of several that are commonest alike, all are."""
    before = np.exp(belief.prior_of(np.arange(belief.n_candidates, dtype=np.int32)))
    first = before >= before.max() - 1e-12
    commonest = first if first.sum() == 1 else np.zeros_like(first)
    stated = np.array([bool(label) for label in belief.candidate_label or ("value",) * belief.n_candidates])
    return np.asarray(stated & ~commonest)


def secret_probability(belief: Posterior) -> NDArray[np.float64]:
    """(n_observations,) max_s p(s given y) over the secrets s; 0 where none is possible.

    >>> belief = Posterior.from_dense(np.array([[0.9, 0.1], [0.4, 0.6]]), prior=np.array([0.8, 0.2]))
    >>> secret_probability(belief).round(6)
    array([0.1, 0.6])
    """
    p = np.exp(belief.log_probability.astype(np.float64))
    return segment_max(np.where(secret_values(belief)[belief.candidate], p, 0.0), belief.indptr, empty=0.0)


def likeliest_secret(belief: Posterior) -> NDArray[np.int64]:
    """(n_observations,) that secret, the first of equal ones; -1 where none is possible."""
    p = np.exp(belief.log_probability.astype(np.float64))
    row = np.repeat(np.arange(belief.n_observations), belief.row_length)
    best = secret_probability(belief)
    hit = np.flatnonzero((best[row] > 0) & (p == best[row]) & secret_values(belief)[belief.candidate])
    found = np.full(belief.n_observations, -1, dtype=np.int64)
    found[row[hit[::-1]]] = belief.candidate[hit[::-1]]
    return found


def success_by_secret(belief: Posterior) -> NDArray[np.float64]:
    """(n_candidates,) what a belief gives, on average, to each candidate where it is the truth; nan where it never is.

    S(x) = E_Y[p(x given y) given x] = sum_y p(y) p(x given y)^2 / p(x). Never below p(x), and p(x) for every x only
    where nothing is learned; its mean over x is the success probability of an adversary who answers with a draw from
    the posterior. The observations must be all that can occur, weighted by how likely each is.

    >>> belief = Posterior.from_dense(np.array([[0.9, 0.1], [0.3, 0.7]]), prior=np.array([0.6, 0.4]))
    >>> success_by_secret(belief).round(6)
    array([0.75 , 0.625])
    """
    p = np.exp(belief.log_probability.astype(np.float64))
    weight = np.repeat(belief.observation_weight, belief.row_length) / belief.observation_weight.sum()
    truth, right = (
        np.bincount(belief.candidate, weights=weight * p**power, minlength=belief.n_candidates) for power in (1, 2)
    )
    return np.asarray(np.divide(right, truth, out=np.full(belief.n_candidates, np.nan), where=truth > 0))


def place_of(belief: Posterior) -> list[str]:
    """(n_candidates,) each value by its place among the commonest before the release: no cell is repeated.

    >>> place_of(Posterior.from_dense(np.array([[0.2, 0.8]]), prior=np.array([0.2, 0.8])))
    ['no. 2', 'no. 1']
    """
    before = belief.prior_of(np.arange(belief.n_candidates, dtype=np.int32))
    return [f"no. {place + 1}" for place in np.argsort(np.argsort(-before, kind="stable")).tolist()]
