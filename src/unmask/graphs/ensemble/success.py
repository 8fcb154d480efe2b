"""Success of an ensemble, estimated with withheld seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import scipy

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.calibration_check import Check
from unmask.core.csr_rows import segment_max, segment_sum
from unmask.graphs.attacks.support import Walks
from unmask.graphs.ensemble.bagging import Round, Tally, find_leaders, kinds_for, tally_votes
from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Auxiliary

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

    person: Integers
    indptr: Integers
    phi: Floats
    zeta: Floats

    @property
    def of_pair(self) -> Integers:
        """Return (n_pairs,) the position of the person of each pair."""
        return np.repeat(np.arange(len(self.person)), np.diff(self.indptr))

    def take(self, chosen: Booleans) -> Choices:
        """Return a subset of the people. chosen : (n_people,) mask"""
        length = np.diff(self.indptr)[chosen]
        pairs = chosen[self.of_pair]
        indptr = np.concatenate(([0], np.cumsum(length)))
        return Choices(self.person[chosen], indptr, self.phi[pairs], self.zeta[chosen])


def initial_weights(n_kinds: int, n_features: int) -> Floats:
    """Return the prior weights, first for phi, then for zeta.

    The kinds share 1.2, their mean has 0.6, and "no candidate" has even odds against a pair without votes.
    """
    return np.concatenate((np.full(n_kinds, 1.2 / n_kinds), [0.6], np.zeros(n_features - n_kinds - 1), [1.0, 0.0, 0.0]))


def probabilities(theta: Floats, data: Choices) -> tuple[Floats, Floats]:
    """Return (n_pairs,) p of each candidate, and (n_people,) p of no candidate.

    p(c | u) = exp(w.phi(u, c)) / (exp(a.zeta(u)) + sum over candidates c' with votes of exp(w.phi(u, c')))
    """
    score, none_score = data.phi @ theta[:-3], data.zeta @ theta[-3:]
    none_score = np.where(np.diff(data.indptr) > 0, none_score, 0.0)
    top = np.maximum(segment_max(score, data.indptr, empty=-np.inf), none_score)
    weight, none_weight = np.exp(score - top[data.of_pair]), np.exp(none_score - top)
    total = segment_sum(weight, data.indptr) + none_weight
    return weight / total[data.of_pair], none_weight / total


def fit_weights(data: Choices, is_right: Booleans, n_kinds: int) -> Floats:
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


def loss(theta: Floats, data: Choices, is_right: Booleans, initial: Floats) -> tuple[float, Floats]:
    """Return the negative penalized log-likelihood, which is convex, and its gradient."""
    p, p_none = probabilities(theta, data)
    has_none = segment_sum(is_right.astype(np.float64), data.indptr) == 0
    value = -np.log(np.maximum(p[is_right], 1e-300)).sum() - np.log(np.maximum(p_none[has_none], 1e-300)).sum()
    missed = np.where(np.diff(data.indptr) > 0, p_none - has_none, 0.0)
    pair_gradient = np.einsum("ij,i->j", data.phi, p - is_right)  # `@` rounds differently with each number of threads
    gradient = np.concatenate((pair_gradient, np.einsum("ij,i->j", data.zeta, missed)))
    deviation = theta - initial
    return float(value + RIDGE * deviation @ deviation), gradient + 2 * RIDGE * deviation


FOLDS = 5

SCATTER, BLIND_SCATTER = 0.015, 0.025
"""Additional standard errors beyond the sampling error of the seeds, measured over about 30 pairs of networks.

The first applies to the mean probability of people who are known to be in the release. The second applies to its
estimate if these people are unknown.
"""


MAX_MARGIN = 0.1
"""Largest margin for which the success is announced as an estimate; above it, only as a bound."""


class VoteData:
    """The graphs, the seeds, and the people without a known identity.

    seeds : source nodes and target nodes; image: (n_source,) target node of each seed, -1 for other nodes
    free  : source nodes that are not seeds, ascending
    """

    def __init__(self, release: SocialGraph, knowledge: Auxiliary) -> None:
        self.release, self.knowledge = release, knowledge
        self.seeds = np.asarray(knowledge.seeds[0], np.int64), np.asarray(knowledge.seeds[1], np.int64)
        self.image = np.full(knowledge.graph.n_nodes, -1)
        self.image[self.seeds[0]] = self.seeds[1]
        self.n_seeds, self.free = len(self.seeds[0]), np.flatnonzero(self.image < 0)
        self.degrees = knowledge.graph.degree, release.degree
        self.ratios = knowledge.ratios(release)
        self.kinds = kinds_for(release, knowledge)
        n_kinds = len(self.kinds)
        self.initial_model = initial_weights(n_kinds, n_kinds + 2 + (self.ratios is not None))
        self.walks = Walks(knowledge.graph), Walks(release)

    def choices(self, tally: Tally, people: Integers) -> Choices:
        """Return the features of the votes for these people, ascending; the tally must contain no others.

        phi  : log(1 + x_j / EPS) for the share x_j of each kind; the same for their mean; minus the distance of
               log(1 + d_u) - log(1 + d_c) from its median over seeds; the log-likelihood ratio of a similarity
        zeta : 1; log(1 + d_u) minus its mean over seeds; the largest mean share minus 0.3
        """
        log_degree, target_log_degree = (np.log1p(degree) for degree in self.degrees)
        mean = tally.share.mean(axis=1)
        median_gap = np.median(log_degree[self.seeds[0]] - target_log_degree[self.seeds[1]])
        gap = log_degree[tally.person] - target_log_degree[tally.candidate] - median_gap
        features = [np.log1p(tally.share / EPS), np.log1p(mean / EPS)[:, None], -np.abs(gap)[:, None]]
        if self.ratios is not None:
            features.append(self.ratios.look_up(tally.person, tally.candidate)[:, None])
        indptr = np.searchsorted(tally.person, np.append(people, log_degree.size))
        max_share = segment_max(mean, indptr, empty=0.0)
        centered = log_degree[people] - log_degree[self.seeds[0]].mean()
        zeta = np.column_stack((np.ones(len(people)), centered, max_share - 0.3))
        return Choices(people, indptr, np.concatenate(features, axis=1), zeta)

    def tally(self, rounds: Sequence[Round]) -> Tally:
        """Return the votes of these rounds for people who are not seeds."""
        return tally_votes(rounds, np.tile(self.image < 0, (len(rounds), 1)), self.release.n_nodes)

    def tally_withheld(self, rounds: Sequence[Round]) -> tuple[Tally, Integers]:
        """Return the votes for each seed in the rounds that withheld it, and the withheld seeds, ascending."""
        counted = np.zeros((len(rounds), len(self.image)), dtype=np.bool_)
        counted[:, self.seeds[0]] = [round_.withheld for round_ in rounds]
        return tally_votes(rounds, counted, self.release.n_nodes), np.flatnonzero(counted.any(axis=0))


class SuccessEstimate(NamedTuple):
    """Success in matching people who are in the release, estimated with withheld seeds.

    mean   : expected share of right matches with all seeds, if the people in the release are unknown
    error  : standard error from the random choice of seeds
    curve  : (share of seeds known to the attacks, share of withheld seeds that the votes of one round match)
    check  : announced probabilities of withheld seeds, and their actual success
    """

    mean: float
    error: float
    curve: tuple[tuple[float, float], ...]
    check: Check

    @property
    def margin(self) -> float:
        """Half-width of the 95 % interval of a mean probability of people who are known to be in the release."""
        return float(1.96 * np.hypot(self.error, SCATTER))

    @property
    def confidence(self) -> Literal["calibrated", "bound"]:
        """Return "calibrated" if the margin is small enough, else "bound"."""
        return "bound" if self.margin > MAX_MARGIN else "calibrated"

    @property
    def blind_margin(self) -> float:
        """Half-width of the 95 % interval of `mean`."""
        return float(1.96 * np.hypot(self.error, BLIND_SCATTER))


class Candidates(NamedTuple):
    """Candidates of people who are not seeds, ascending by person, then by decreasing probability."""

    person: Integers
    candidate: Integers
    probability: Floats

    @property
    def first(self) -> Integers:
        """Return the position of the likeliest candidate of each person."""
        return np.flatnonzero(np.diff(self.person, prepend=-1))

    @property
    def rank(self) -> Integers:
        """Return (n_pairs,) the number of likelier candidates of the same person."""
        first = self.first
        return np.arange(len(self.person)) - np.repeat(first, np.diff(np.append(first, len(self.person))))


def estimate_success(
    data: VoteData, halves: Sequence[Round], fifths: Sequence[Round], full_round: Round, *, rng: np.random.Generator
) -> tuple[Candidates, SuccessEstimate]:
    """Return the candidates of people who are not seeds, with probabilities, and the success that these announce.

    The bag of a seed is the half round and the fifth round that withheld it. Each bag of other people is a fifth round
    with the full round; the ratio of their numbers of seeds is similar. Five models are fitted, each to the bags of
    four fifths of the seeds. p(c | u) is the mean over bags and models.

    The estimated mean is the success of withheld seeds, multiplied by a growth factor: the sum of the probabilities of
    other people in their own bags, divided by their sum in bags like those of seeds. Absent people hardly change this
    ratio, but they would lower the mean of the probabilities.
    """
    models, announced, hit_rate = _cross_fit(data, [*halves, *fifths], rng)
    bags = [(fifth, full_round) for fifth in fifths]
    candidates = rank_candidates(data, bags, models, rng=rng)
    smaller = [rank_candidates(data, [(halves[i % 2], fifth)], models, rng=rng) for i, fifth in enumerate(fifths)]
    growth = _sum_of_first(candidates) / max(float(np.mean(list(map(_sum_of_first, smaller)))), 1e-9)
    mean = min(1.0, float(hit_rate.mean()) * growth)
    error = float(np.sqrt(((hit_rate - announced) ** 2).sum()) / len(hit_rate))
    curve = tuple(_success_of_one_round(data, rounds) for rounds in (halves, fifths))
    return candidates, SuccessEstimate(mean, error, curve, Check.of(announced, hit_rate, within=0.03))


def rank_candidates(
    data: VoteData, bags: Sequence[Sequence[Round]], models: Sequence[Floats], *, rng: np.random.Generator
) -> Candidates:
    """Return the candidates of people who are not seeds, with mean probabilities over bags and models; random ties."""
    n, pairs, probability = data.release.n_nodes, [], []
    for bag in bags:
        tally = data.tally(bag)
        features = data.choices(tally, data.free)
        pairs.append(tally.person * n + tally.candidate)
        probability.append(np.mean([probabilities(theta, features)[0] for theta in models], axis=0) / len(bags))
    pair, position = np.unique(np.concatenate(pairs), return_inverse=True)
    person, candidate = np.divmod(pair, n)
    mean = np.bincount(position, weights=np.concatenate(probability), minlength=len(pair)).astype(np.float64)
    order = np.lexsort((rng.permutation(n)[candidate], -mean, person))
    return Candidates(person[order], candidate[order], mean[order])


def _sum_of_first(candidates: Candidates) -> float:
    """Return the sum over people of the probability of their likeliest candidate."""
    return float(candidates.probability[candidates.first].sum())


def _cross_fit(
    data: VoteData, rounds: Sequence[Round], rng: np.random.Generator
) -> tuple[list[Floats], Floats, Floats]:
    """Fit a model without each fold of the seeds.

    Return the models. Return for each seed, by the model without it, the largest probability and whether it is right.
    """
    tally, people = data.tally_withheld(rounds)
    features, is_right = data.choices(tally, people), data.image[tally.person] == tally.candidate
    fold = rng.permutation(len(people)) % FOLDS
    fold_of_pair = fold[features.of_pair]
    models = [fit_weights(features.take(fold != k), is_right[fold_of_pair != k], len(data.kinds)) for k in range(FOLDS)]
    p = np.array([probabilities(theta, features)[0] for theta in models])[fold_of_pair, np.arange(len(fold_of_pair))]
    return models, *_find_best(features.indptr, p, is_right)


def _find_best(indptr: Integers, p: Floats, is_right: Booleans) -> tuple[Floats, Floats]:
    """Return (n_people,) the largest p of each person, and the share of right candidates; ties are broken at random."""
    max_probability = segment_max(p, indptr, empty=0.0)
    is_best = p >= np.repeat(max_probability, np.diff(indptr))
    hit = segment_sum((is_best & is_right).astype(np.float64), indptr)
    return max_probability, hit / np.maximum(segment_sum(is_best.astype(np.float64), indptr), 1.0)


def count_right(data: VoteData, rounds: Sequence[Round]) -> tuple[int, int]:
    """Count the withheld seeds that the majority of votes matches correctly, and all withheld seeds."""
    tally, people = data.tally_withheld(rounds)
    person, candidate, _ = find_leaders(tally)
    return int((data.image[person] == candidate).sum()), len(people)


def _success_of_one_round(data: VoteData, rounds: Sequence[Round]) -> tuple[float, float]:
    """Return the share of seeds known to the rounds, and the share of withheld seeds that a single round matches."""
    n_right, n_withheld = np.sum([count_right(data, [round_]) for round_ in rounds], axis=0)
    return 1 - float(np.mean([round_.withheld.mean() for round_ in rounds])), float(n_right / n_withheld)
