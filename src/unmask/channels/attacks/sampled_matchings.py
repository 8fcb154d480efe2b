"""Marginals over one-to-one matchings by Metropolis-Hastings, for more targets than can be summed."""

from __future__ import annotations

import numpy as np

from unmask.channels._matrices import Floats, Ints
from unmask.channels.attacks.matching import MatchingMarginals, check_weights, no_matching
from unmask.core.errors import UnmaskError

PROPOSALS = 4_000_000
"""Swaps that are proposed in all, unless a limit of the sweeps is reached."""

MIN_SWEEPS, MAX_SWEEPS = 400, 20_000
"""Fewest and most proposals for each target."""

BATCHES = 20
"""Parts of the chain whose means give the standard error."""

NEAR = 10
"""Largest distance of the targets of half of the proposals."""


def sample_matchings(weights: Floats, *, rng: np.random.Generator) -> MatchingMarginals:
    """Estimate the marginals over perfect matchings m, p(m) proportional to prod_i W[i, m(i)], by random swaps.

    A swap of the candidates of two targets is accepted with probability min(1, new weight / old weight). Half of the
    proposals are between targets at most 10 rows apart, since messages that are far apart in time rarely cross. A tenth
    of the chain is discarded.

    Parameters
    ----------
    weights : (n, n) array
        W, at least 0. Swaps must connect all matchings, as they do if both sides are sorted by time and W is positive
        exactly for delays between two bounds.
    rng : numpy.random.Generator
        Draws the swaps.

    Returns
    -------
    MatchingMarginals
        The marginals; `standard_error` is the largest one of an entry, from the means of 20 parts of the chain.

    Raises
    ------
    UnmaskError
        If the weights are not square, or without a matching.

    References
    ----------
    C. Troncoso & G. Danezis, "The Bayesian traffic analysis of mix networks", CCS 2009.

    Examples
    --------
    >>> W = np.array([[0, 1, 3], [2, 1, 1], [2, 2, 0]]) / 4
    >>> sample_matchings(W, rng=np.random.default_rng(0)).probability[0].round(1)
    array([0. , 0.1, 0.9])
    """
    from unmask.channels._kernels import swap_candidates  # here: compiled

    W = np.ascontiguousarray(check_weights(weights))
    n = len(W)
    if W.shape[0] != W.shape[1]:
        raise UnmaskError(f"the weights have shape {W.shape}, expected as many targets as candidates")
    match = _first_matching(W)
    if n == 1:
        return MatchingMarginals(np.ones((1, 1)), "sampled")
    sweeps = min(max(MIN_SWEEPS, PROPOSALS // n), MAX_SWEEPS) // BATCHES
    total, square = np.zeros((n, n)), np.zeros((n, n))
    for part in range(BATCHES + 2):
        count = np.zeros((n, n))
        swap_candidates(W, match, *_propose(n, sweeps * n, rng), n, count)
        if part > 1:
            total += count / sweeps
            square += (count / sweeps) ** 2
    mean = total / BATCHES
    variance = np.maximum(square / BATCHES - mean**2, 0.0) / (BATCHES - 1)
    probability = mean / mean.sum(axis=1, keepdims=True)
    return MatchingMarginals(probability, "sampled", standard_error=float(np.sqrt(variance.max())))


def _propose(n: int, size: int, rng: np.random.Generator) -> tuple[Ints, Ints, Floats]:
    """Return pairs of different targets, half of them near each other, and the draws that decide."""
    first = rng.integers(n, size=size)
    distance = np.where(rng.random(size) < 0.5, rng.integers(1, min(NEAR, n - 1) + 1, size), rng.integers(1, n, size))
    return first, (first + distance * rng.choice([-1, 1], size)) % n, rng.random(size)


def _first_matching(W: Floats) -> Ints:
    """Return a matching of positive weight: the diagonal if possible."""
    if np.diag(W).min() > 0:
        return np.arange(len(W))
    from scipy.sparse import csr_array  # not at the top: most weights have a positive diagonal
    from scipy.sparse.csgraph import maximum_bipartite_matching

    match = maximum_bipartite_matching(csr_array(W > 0), perm_type="column").astype(np.int64)
    if match.min() < 0:
        raise no_matching()
    return np.asarray(match)
