"""A belief with unlisted mass equals its dense expansion, over every measure."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import Posterior, Truth
from unmask.catalog import list_measures
from unmask.measures import (
    Measure,
    bayes,
    confidence_set_size,
    correctness,
    estimation_error,
    min_entropy_bits,
    min_entropy_smith,
    mutual_information,
    rank,
    realized_error,
    renyi_entropy,
    sampling_error,
)
from unmask.measures.anonymity import anonymity_set
from unmask.measures.leakage import min_entropy_leakage

FURTHER = (
    *(renyi_entropy(alpha) for alpha in (0.5, 1 - 1e-7, 2, 7, 400)),
    *(confidence_set_size(level) for level in (0.3, 0.5, 0.9, 1)),
)

OF_PLACES = (  # which candidates share must be known: all that are not listed
    *(estimation_error(loss, coordinates=np.arange(9.0) ** 2) for loss in ("squared", "absolute")),
    *(realized_error(loss, coordinates=np.arange(9.0) ** 2) for loss in ("squared", "absolute")),
    *(measure("euclidean", coordinates=np.arange(9.0) ** 2) for measure in (sampling_error, correctness)),
    estimation_error(np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0)))),
)

AS_A_WHOLE = (
    mutual_information,
    min_entropy_bits,
    min_entropy_smith,
    min_entropy_leakage,
    anonymity_set,
    lambda belief: bayes(belief).average,
    lambda belief: sampling_error()(belief),
)

N = 9

OF_BELIEFS = [measure for measure in list_measures().values() if isinstance(measure, Measure)]


@st.composite
def beliefs(draw, *, fewer=True):
    """Three observations of nine candidates, some listed, the others or a part of them sharing alike what is left; the
    same written out; and a truth.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_listed = [draw(st.integers(0, N - 1)) for _ in range(3)]
    n_sharing = [draw(st.integers(1, N - k)) if fewer else N - k for k in n_listed]
    lists, dense, unlisted = [], np.zeros((3, N)), np.empty(3)
    for row, (k, m) in enumerate(zip(n_listed, n_sharing, strict=True)):
        order = rng.permutation(N)
        listed_candidates, sharing = np.sort(order[:k]), order[k : k + m]
        mass = rng.dirichlet(np.full(k + 1, draw(st.sampled_from([0.3, 1.0, 5.0]))))
        mass = np.maximum(mass, 1e-6) / np.maximum(mass, 1e-6).sum()
        dense[row, listed_candidates], dense[row, sharing], unlisted[row] = mass[:k], mass[k] / m, mass[k]
        lists.append(listed_candidates)
    candidate = np.concatenate(lists).astype(np.int32)
    row = np.repeat(np.arange(3), n_listed)
    observation = np.array([0, 1, 2, 2, 1])
    weight = rng.dirichlet(np.ones(5))
    part = Posterior(
        indptr=np.concatenate(([0], np.cumsum(n_listed))),
        candidate=candidate,
        log_probability=np.log(dense[row, candidate]),
        unlisted=unlisted,
        n_unlisted=np.array(n_sharing),
        observation=observation,
        weight=weight,
        n_candidates=N,
        log_prior=-float(np.log(N)),
    )
    truth = Truth([int(rng.choice(np.flatnonzero(dense[y] > 0))) for y in observation])
    return part, Posterior.from_dense(dense, observation=observation, weight=weight), truth


def check_expansion(measures, drawn, **tolerance):
    part, full_belief, truth = drawn
    for measure in measures:
        expected = measure.per_target(full_belief, truth)
        assert measure.per_target(part, truth) == pytest.approx(expected, **tolerance), measure.name


@settings(max_examples=60, deadline=None)
@given(beliefs())
def test_unlisted_mass_is_worth_its_dense_expansion(drawn):
    check_expansion([*OF_BELIEFS, *FURTHER], drawn, rel=1e-9, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(beliefs(fewer=False))
def test_unlisted_mass_at_places_is_worth_its_dense_expansion(drawn):
    check_expansion(OF_PLACES, drawn, rel=1e-9, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(beliefs())
def test_numbers_of_a_whole_belief_are_those_of_its_dense_expansion(drawn):
    part, full_belief, _ = drawn
    for number in AS_A_WHOLE:
        assert number(part) == pytest.approx(number(full_belief), rel=1e-9, abs=1e-12), number


SYMBOLS = ("hartley_entropy_bits", "shannon_entropy_bits", "min_entropy_bits", "effective_set_size")
AGAINST_PRIOR = ("information_gain_bits", "total_variation", "delta_up", "delta_down")


@settings(max_examples=60, deadline=None)
@given(st.integers(1, N), st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.integers(0, 10_000))
def test_absence_is_one_more_candidate(n_listed, nobody, prior_nobody, seed):
    """A belief in "none of these" against a prior that leaves it something."""
    rng = np.random.default_rng(seed)
    p, listed_candidates = rng.dirichlet(np.ones(n_listed)) * (1 - nobody), np.sort(rng.permutation(N)[:n_listed])
    part = Posterior(
        indptr=np.array([0, n_listed]),
        candidate=listed_candidates.astype(np.int32),
        log_probability=np.log(p),
        unlisted=np.array([nobody]),
        n_unlisted=np.array([0]),
        observation=np.array([0]),
        weight=np.ones(1),
        n_candidates=N,
        log_prior=float(np.log((1 - prior_nobody) / N)),
    )
    dense = np.zeros((1, N + 1))
    dense[0, listed_candidates], dense[0, N] = p, nobody
    prior = np.append(np.full(N, (1 - prior_nobody) / N), prior_nobody)
    full_belief = Posterior.from_dense(dense, prior=prior)
    for name in (*SYMBOLS, *AGAINST_PRIOR):
        assert list_measures()[name].per_target(part) == pytest.approx(
            list_measures()[name].per_target(full_belief), rel=1e-9
        ), name
    assert mutual_information(part) == pytest.approx(mutual_information(full_belief))


def test_the_smallest_mass_there_is_may_be_shared():
    belief = Posterior(
        indptr=np.array([0, 1]), candidate=np.zeros(1, np.int32), log_probability=np.zeros(1),
        unlisted=np.array([5e-324]), n_unlisted=np.array([299]), observation=np.zeros(2, np.int64),
        weight=np.full(2, 0.5), n_candidates=300, log_prior=-np.log(300),
    )  # fmt: skip
    result = rank.per_target(belief, Truth([0, 7]))
    assert result.tolist() == [1, 151]  # behind the one, and any of the 299 others
