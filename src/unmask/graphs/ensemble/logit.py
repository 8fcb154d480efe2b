"""Conditional logit model: probability of each candidate given its votes, with the alternative "no candidate"."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.csr_rows import segment_max, segment_sum
from unmask.graphs.ensemble.bagging import Tally

EPS = 0.03
"""Scale of votes: phi is log(1 + share / EPS), linear in shares below EPS."""

RIDGE = 2.0
"""Ridge penalty on the distance from the prior weights."""


class Choices(NamedTuple):
    """People, and the candidates with votes for each of them.

    person : (n_people,) source nodes, ascending
    indptr : (n_people + 1,) the pairs of person i are the entries indptr[i]..indptr[i + 1]
    phi    : (n_pairs, n_features) features of pairs; zeta : (n_people, 3) features of people
    """

    person: NDArray[np.int64]
    indptr: NDArray[np.int64]
    phi: NDArray[np.float64]
    zeta: NDArray[np.float64]

    @property
    def of_pair(self) -> NDArray[np.int64]:
        """Return (n_pairs,) the position of the person of each pair."""
        return np.repeat(np.arange(len(self.person)), np.diff(self.indptr))

    def take(self, chosen: NDArray[np.bool_]) -> Choices:
        """Return a subset of the people. chosen : (n_people,) mask"""
        length = np.diff(self.indptr)[chosen]
        pairs = chosen[self.of_pair]
        indptr = np.concatenate(([0], np.cumsum(length)))
        return Choices(self.person[chosen], indptr, self.phi[pairs], self.zeta[chosen])


def choices(
    tally: Tally,
    people: NDArray[np.int64],
    degrees: tuple[NDArray[np.int64], NDArray[np.int64]],
    seeds: tuple[NDArray[np.int64], NDArray[np.int64]],
    likeness: NDArray[np.float64] | None = None,
) -> Choices:
    """Return the features of the votes for these people, ascending; the tally must contain no others.

    phi  : log(1 + x_j / EPS) for the share x_j of each kind; the same for their mean; minus the distance of
           log(1 + d_u) - log(1 + d_c) from its median over seeds; the log-likelihood ratio of a similarity
    zeta : 1; log(1 + d_u) minus its mean over seeds; the largest mean share minus 0.3

    degrees  : degrees of the source nodes and of the target nodes; likeness : (n_pairs,) log-likelihood ratios, or None
    """
    log_degree, target_log_degree = (np.log1p(degree) for degree in degrees)
    mean = tally.share.mean(axis=1)
    gap = (
        log_degree[tally.person]
        - target_log_degree[tally.candidate]
        - np.median(log_degree[seeds[0]] - target_log_degree[seeds[1]])
    )
    features = [np.log1p(tally.share / EPS), np.log1p(mean / EPS)[:, None], -np.abs(gap)[:, None]]
    features += [] if likeness is None else [likeness[:, None]]
    indptr = np.searchsorted(tally.person, np.append(people, log_degree.size))
    max_share = segment_max(mean, indptr, empty=0.0)
    zeta = np.column_stack((np.ones(len(people)), log_degree[people] - log_degree[seeds[0]].mean(), max_share - 0.3))
    return Choices(people, indptr, np.concatenate(features, axis=1), zeta)


def initial_weights(n_kinds: int, n_features: int) -> NDArray[np.float64]:
    """Return the prior weights, first for phi, then for zeta.

    The kinds share 1.2, their mean has 0.6, and "no candidate" has even odds against a pair without votes.
    """
    return np.concatenate((np.full(n_kinds, 1.2 / n_kinds), [0.6], np.zeros(n_features - n_kinds - 1), [1.0, 0.0, 0.0]))


def probabilities(theta: NDArray[np.float64], data: Choices) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (n_pairs,) p of each candidate, and (n_people,) p of no candidate.

    p(c | u) = exp(w.phi(u, c)) / (exp(a.zeta(u)) + sum over candidates c' with votes of exp(w.phi(u, c')))
    """
    score, none_score = data.phi @ theta[:-3], data.zeta @ theta[-3:]
    none_score = np.where(np.diff(data.indptr) > 0, none_score, 0.0)
    top = np.maximum(segment_max(score, data.indptr, empty=-np.inf), none_score)
    weight, none_weight = np.exp(score - top[data.of_pair]), np.exp(none_score - top)
    total = segment_sum(weight, data.indptr) + none_weight
    return weight / total[data.of_pair], none_weight / total


def fit_weights(data: Choices, is_right: NDArray[np.bool_], n_kinds: int) -> NDArray[np.float64]:
    """Return the maximum-likelihood weights with a ridge around `initial_weights`; weights of votes are nonnegative.

    is_right : (n_pairs,) mask of the right pairs; for a person without a right pair, no candidate is right
    """
    initial = initial_weights(n_kinds, data.phi.shape[1])
    bounds = [(0.0, None)] * data.phi.shape[1] + [(None, None)] * 3
    bounds[n_kinds + 1] = (None, None)  # difference of degrees
    optimum = scipy.optimize.minimize(
        loss, initial, args=(data, is_right, initial), jac=True, method="L-BFGS-B", bounds=bounds
    )
    return np.asarray(optimum.x)


def loss(
    theta: NDArray[np.float64], data: Choices, is_right: NDArray[np.bool_], initial: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Return the negative penalized log-likelihood, which is convex, and its gradient."""
    p, p_none = probabilities(theta, data)
    has_none = segment_sum(is_right.astype(np.float64), data.indptr) == 0
    value = -np.log(np.maximum(p[is_right], 1e-300)).sum() - np.log(np.maximum(p_none[has_none], 1e-300)).sum()
    missed = np.where(np.diff(data.indptr) > 0, p_none - has_none, 0.0)
    gradient = np.concatenate((data.phi.T @ (p - is_right), data.zeta.T @ missed))
    deviation = theta - initial
    return float(value + RIDGE * deviation @ deviation), gradient + 2 * RIDGE * deviation
