"""Kernels of matchings: sums over all of them by dynamic programming, and what both sides of a sum share."""

from __future__ import annotations

import numpy as np

from unmask.channels._matrices import Floats
from unmask.core.errors import UnmaskError

LARGEST_EXACT = 20
"""Candidates up to which all matchings are summed: 2^20 sets of columns, a second and 30 MB."""


def checked(weights: Floats, *, possible: bool = True) -> Floats:
    """The weights as float64, targets x candidates; when `possible`, each target must go with somebody."""
    W = np.asarray(weights, dtype=np.float64)
    if W.ndim != 2 or W.size == 0 or W.shape[0] > W.shape[1]:
        raise UnmaskError(
            f"the weights have shape {W.shape}, expected targets x candidates with at least as many candidates"
        )
    if not (np.all(np.isfinite(W)) and W.min() >= 0):
        raise UnmaskError("the weights have entries that are negative or not numbers, expected at least 0")
    if possible and W.sum(axis=1).min() == 0:
        raise UnmaskError(f"target {int(np.argmin(W.sum(axis=1)))} goes with no candidate: every weight of it is 0")
    return W


def no_matching() -> UnmaskError:
    """The error for weights that leave no matching."""
    return UnmaskError("no one-to-one matching has positive weight: some targets compete for too few candidates")


def refuse_unmatched(W: Floats) -> None:
    """Refuse weights under which no matching takes every target."""
    from scipy.sparse import csr_array  # not at the top: only large problems need it
    from scipy.sparse.csgraph import maximum_bipartite_matching

    if np.any(maximum_bipartite_matching(csr_array(W > 0), perm_type="column") < 0):
        raise no_matching()


def balanced(W: Floats) -> tuple[Floats, float]:
    """W with rows and columns scaled towards largest entries of 1, and the log of what per(W) lost by it."""
    scaled, lost = W.copy(), 0.0
    for _ in range(10):
        rows = scaled.max(axis=1)
        scaled, lost = scaled / rows[:, None], lost + float(np.log(rows).sum())
        if W.shape[0] == W.shape[1]:
            columns = scaled.max(axis=0)
            columns = np.where(columns > 0, columns, 1.0)
            scaled, lost = scaled / columns, lost + float(np.log(columns).sum())
    return scaled, lost


def exact_marginals(W: Floats, *, refuse: bool = True) -> tuple[float, Floats]:
    """ln per(W) and all marginals by dynamic programming over sets of columns.

    before[S] : sum over the ways in which the first |S| rows take exactly the columns S
    after[S]  : sum over the ways in which the other rows take distinct columns outside S
    """
    n, m = W.shape
    if m > LARGEST_EXACT:
        raise UnmaskError(
            f"{m} candidates are too many for exact sums over matchings, expected at most {LARGEST_EXACT}: use belief "
            "propagation"
        )
    scaled, lost = balanced(W)
    size = np.bitwise_count(np.arange(1 << m, dtype=np.uint32))
    layers = [np.flatnonzero(size == i) for i in range(n + 1)]
    before, after = np.zeros(1 << m), np.zeros(1 << m)
    before[0] = 1.0
    after[layers[n]] = 1.0
    marginal = np.zeros((n, m))
    for i in range(n):
        for j in np.flatnonzero(scaled[i]):
            free = layers[i][(layers[i] >> j) & 1 == 0]
            before[free | (1 << j)] += before[free] * scaled[i, j]
    for i in range(n - 1, -1, -1):
        for j in np.flatnonzero(scaled[i]):
            free = layers[i][(layers[i] >> j) & 1 == 0]
            onward = after[free | (1 << j)] * scaled[i, j]
            after[free] += onward
            marginal[i, j] = before[free] @ onward
    if after[0] <= 0:
        if refuse:
            raise no_matching()
        return -np.inf, marginal
    p = marginal / after[0]
    return float(np.log(after[0])) + lost, p / p.sum(axis=1, keepdims=True)


def others(values: Floats) -> Floats:
    """The sum of each row without the entry itself, from sums from the left and from the right."""
    left = np.zeros_like(values)
    np.cumsum(values[:, :-1], axis=1, out=left[:, 1:])
    right = np.zeros_like(values)
    np.cumsum(values[:, :0:-1], axis=1, out=right[:, -2::-1])
    return left + right
