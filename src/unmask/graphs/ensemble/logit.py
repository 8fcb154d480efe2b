"""Probability of each candidate by its votes: a conditional logit with the alternative "no candidate with votes"."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.csr_rows import segment_max, segment_sum
from unmask.graphs.ensemble.bagging import Tally

EPS = 0.03
"""The share of votes that counts as much as twice as many would."""

RIDGE = 2.0
"""Of the distance from the weights that are held before a seed is seen."""


class Choices(NamedTuple):
    """People and the candidates that they have votes for.

    person : (n_people,) source nodes, ascending
    indptr : (n_people + 1,) the pairs of each
    phi    : (n_pairs, n_features) of pairs; zeta : (n_people, 3) of people
    """

    person: NDArray[np.int64]
    indptr: NDArray[np.int64]
    phi: NDArray[np.float64]
    zeta: NDArray[np.float64]

    @property
    def of_pair(self) -> NDArray[np.int64]:
        """Return (n_pairs,) the person of each pair, by position."""
        return np.repeat(np.arange(len(self.person)), np.diff(self.indptr))

    def take(self, chosen: NDArray[np.bool_]) -> Choices:
        """Return some of the people. chosen : (n_people,)"""
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
    """Return the features of the votes for these people, ascending, who are all that the tally is of.

    phi  : log(1 + x_j / EPS) of the share x_j of each kind, the same function of their mean, minus the distance of
           log(1 + d_u) - log(1 + d_c) from its median over seeds, and the log-likelihood ratio of a similarity
    zeta : 1, log(1 + d_u) minus its mean over seeds, the largest mean share minus .3

    degrees  : of the nodes of source and target; likeness : (n_pairs,), or None
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
    """Return the prior weights: 1.2 shared by the kinds, .6 on their mean, and "none" at even odds to a pair
    without votes. Those of phi come first, those of zeta last.
    """
    return np.concatenate((np.full(n_kinds, 1.2 / n_kinds), [0.6], np.zeros(n_features - n_kinds - 1), [1.0, 0.0, 0.0]))


def probabilities(theta: NDArray[np.float64], data: Choices) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (n_pairs,) p of each candidate and (n_people,) p of none of them:

    p(c | u) = exp(w.phi(u, c)) / (exp(a.zeta(u)) + sum over those voted for of exp(w.phi(u, c')))
    """
    score, none_score = data.phi @ theta[:-3], data.zeta @ theta[-3:]
    none_score = np.where(np.diff(data.indptr) > 0, none_score, 0.0)
    top = np.maximum(segment_max(score, data.indptr, empty=-np.inf), none_score)
    weight, none_weight = np.exp(score - top[data.of_pair]), np.exp(none_score - top)
    total = segment_sum(weight, data.indptr) + none_weight
    return weight / total[data.of_pair], none_weight / total


def fit_weights(data: Choices, is_right: NDArray[np.bool_], n_kinds: int) -> NDArray[np.float64]:
    """Return the weights of largest likelihood with a ridge around `initial_weights`; no vote has a negative weight.

    is_right : (n_pairs,) mask of the right pairs; a person without one belongs to no candidate with votes
    """
    initial = initial_weights(n_kinds, data.phi.shape[1])
    bounds = [(0.0, None)] * data.phi.shape[1] + [(None, None)] * 3
    bounds[n_kinds + 1] = (None, None)  # the gap of degrees
    optimum = scipy.optimize.minimize(
        loss, initial, args=(data, is_right, initial), jac=True, method="L-BFGS-B", bounds=bounds
    )
    return np.asarray(optimum.x)


def loss(
    theta: NDArray[np.float64], data: Choices, is_right: NDArray[np.bool_], initial: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Return minus the penalized log-likelihood, which is convex, and its gradient."""
    p, p_none = probabilities(theta, data)
    has_none = segment_sum(is_right.astype(np.float64), data.indptr) == 0
    value = -np.log(np.maximum(p[is_right], 1e-300)).sum() - np.log(np.maximum(p_none[has_none], 1e-300)).sum()
    missed = np.where(np.diff(data.indptr) > 0, p_none - has_none, 0.0)
    gradient = np.concatenate((data.phi.T @ (p - is_right), data.zeta.T @ missed))
    deviation = theta - initial
    return float(value + RIDGE * deviation @ deviation), gradient + 2 * RIDGE * deviation
