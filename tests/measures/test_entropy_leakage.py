"""Entropies, guesses, confidence sets and leakage: laws between them, closed forms, and literal dense sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import Posterior, Truth, UnmaskError
from unmask.measures import (
    confidence_set_size,
    epsilon_nats,
    evaluate,
    guessing_entropy,
    leakages,
    min_entropy_bits,
    min_entropy_smith,
    mutual_information,
    rank,
    renyi_entropy,
    shannon_entropy_bits,
)
from unmask.measures.entropy import renyi_entropies
from unmask.measures.leakage import channel_epsilon, min_entropy_leakage

ORDERS = (0, 0.5, 1, 2, 5, 50, np.inf)


@st.composite
def joints(draw, *, zeros=True, max_size=5):
    """observations x candidates, sum 1, every observation and candidate possible."""
    n, m = draw(st.integers(2, max_size)), draw(st.integers(1, max_size))
    joint = np.random.default_rng(draw(st.integers(0, 10_000))).dirichlet(np.full(n * m, 0.6)).reshape(m, n)
    joint = np.where(joint < 0.03, 0.0 if zeros else 0.03, joint)
    joint[0] += 0.02
    joint[:, 0] += 0.02
    return joint / joint.sum()


def exact(joint):
    weight = joint.sum(axis=1)
    return Posterior.from_dense(joint / weight[:, None], prior=joint.sum(axis=0), weight=weight)


def list_values(measure, belief):
    return measure.per_target(belief)


@settings(max_examples=80, deadline=None)
@given(joints())
def test_renyi_entropies_fall_with_the_order_and_equal_the_formula(joint):
    belief = exact(joint)
    bits = renyi_entropies(belief, ORDERS)
    assert np.all(np.diff(bits, axis=0) <= 1e-6)
    table = joint / joint.sum(axis=1, keepdims=True)
    for alpha, row in zip(ORDERS, bits, strict=True):
        assert row == pytest.approx(list_values(renyi_entropy(alpha), belief))
        if alpha not in (0, 1, np.inf):
            assert row == pytest.approx(np.log2((table**alpha).sum(axis=1)) / (1 - alpha), abs=1e-5)


def test_a_high_order_does_not_underflow():
    belief = Posterior.from_dense(np.array([[0.5, 0.5], [0.9, 0.1]]))
    assert renyi_entropies(belief, (5000,))[0] == pytest.approx([1.0, -np.log2(0.9)], rel=1e-3)


@settings(max_examples=80, deadline=None)
@given(joints())
def test_smith_is_below_the_average_and_gives_the_success(joint):
    belief = exact(joint)
    assert min_entropy_smith(belief) <= min_entropy_bits(belief) + 1e-9
    assert 2.0 ** -min_entropy_smith(belief) == pytest.approx(joint.max(axis=1).sum(), abs=1e-6)


def test_the_two_conditional_min_entropies_differ():
    # one observation tells all, the other nothing about 2: -log2 (1/2 * 1 + 1/2 * 1/2) = 0.415 against 1/2
    belief = Posterior.from_dense(np.array([[0.5, 0.5], [1.0, 0.0]]))
    assert min_entropy_bits(belief) == pytest.approx(0.5)
    assert min_entropy_smith(belief) == pytest.approx(np.log2(4 / 3))
    assert shannon_entropy_bits(belief) == pytest.approx(0.5)


@settings(max_examples=80, deadline=None)
@given(joints())
def test_guessing_entropy_is_the_mean_rank_and_obeys_massey(joint):
    observation, true = np.nonzero(joint)
    belief = Posterior.from_dense(
        joint / joint.sum(axis=1, keepdims=True),
        prior=joint.sum(axis=0),
        observation=observation,
        weight=joint[observation, true],
    )
    assert evaluate(guessing_entropy, belief).posterior == pytest.approx(
        evaluate(rank, belief, Truth(true)).posterior, abs=1e-5
    )
    # Massey 1994: G >= 2^(H - 2) + 1 if H >= 2 bits
    guesses, bits = list_values(guessing_entropy, belief), list_values(renyi_entropy(1), belief)
    assert np.all((bits < 2) | (guesses >= 2 ** (bits - 2) + 1 - 1e-6))


@pytest.mark.parametrize(
    ("n_unlisted", "expected"),
    [
        (3, 0.4 * 1 + 0.3 * 2 + 0.1 * (3 + 4 + 5)),  # three more at 0.1 each
        (1, 0.4 * 1 + 0.3 * 2 + 0.3 * 3),  # one at 0.3, which ties
        (0, 0.4 * 1 + 0.3 * 2 + 0.3 * 6),  # nobody: after all five
        (-1, 0.4 * 1 + 0.3 * 2 + 0.3 * 4),  # some of the three left, 3 to 5
    ],
)
def test_guesses_at_what_is_unlisted(n_unlisted, expected):
    belief = partly_listed(n_unlisted)
    assert list_values(guessing_entropy, belief)[0] == pytest.approx(expected, abs=1e-6)


def partly_listed(n_unlisted, listed_probabilities=(0.4, 0.3), n=5):
    return Posterior(
        indptr=np.array([0, len(listed_probabilities)]),
        candidate=np.arange(len(listed_probabilities), dtype=np.int32),
        log_probability=np.log(listed_probabilities).astype(np.float32),
        unlisted=np.array([1 - sum(listed_probabilities)]),
        n_unlisted=np.array([n_unlisted]),
        observation=np.array([0]),
        weight=np.array([1.0]),
        n_candidates=n,
        log_prior=-float(np.log(n)),
    )


def test_shares_take_their_place_in_guesses_and_sets():
    part = partly_listed(4, listed_probabilities=(0.1, 0.5), n=6)
    full_belief = Posterior.from_dense(np.array([[0.1, 0.5, 0.1, 0.1, 0.1, 0.1]]))
    assert list_values(guessing_entropy, part) == pytest.approx(list_values(guessing_entropy, full_belief), abs=1e-6)
    part = partly_listed(4, listed_probabilities=(0.02, 0.5), n=6)
    full_belief = Posterior.from_dense(np.array([[0.02, 0.5, 0.12, 0.12, 0.12, 0.12]]))
    assert list_values(guessing_entropy, part) == pytest.approx(list_values(guessing_entropy, full_belief), abs=1e-6)
    for level in (0.1, 0.5, 0.6, 0.62, 0.63, 0.97, 0.98, 0.99, 1):
        assert list_values(confidence_set_size(level), part) == list_values(confidence_set_size(level), full_belief), (
            level
        )


@settings(max_examples=80, deadline=None)
@given(joints(max_size=8), st.floats(0.01, 1))
def test_confidence_sets_against_counting_and_the_entropies(joint, level):
    belief = exact(joint)
    size = list_values(confidence_set_size(level), belief)
    for row, result in zip(joint / joint.sum(axis=1, keepdims=True), size, strict=True):
        cumulated = np.cumsum(np.sort(row)[::-1])
        assert cumulated[int(result) - 1] >= level - 2e-6
        assert result == 1 or cumulated[int(result) - 2] < level + 2e-6 or level == 1
    hartley, min_entropy = renyi_entropies(belief, (0, np.inf))
    assert np.all(size <= np.ceil(level * 2**hartley - 1e-4) + 1e-9)
    assert np.all(size >= level * 2**min_entropy - 1e-4)


def test_the_confidence_set_of_level_one_is_the_support():
    belief = Posterior.from_dense(np.array([[1 - 1e-7, 1e-7, 0.0], [0.25, 0.25, 0.5]]))
    assert list_values(confidence_set_size(1), belief).tolist() == [2, 3]
    assert list_values(confidence_set_size(0.5), belief).tolist() == [1, 1]
    for level in (0, 1.5, np.nan):
        with pytest.raises(UnmaskError, match="level"):
            confidence_set_size(level)


@settings(max_examples=80, deadline=None)
@given(joints())
def test_mutual_information_equals_the_difference_of_entropies(joint):
    belief = exact(joint)
    prior = joint.sum(axis=0)
    h = -(prior[prior > 0] * np.log2(prior[prior > 0])).sum()
    assert mutual_information(belief) == pytest.approx(h - shannon_entropy_bits(belief), abs=1e-5)
    assert leakages(belief).mutual_information_bits == pytest.approx(mutual_information(belief))


@settings(max_examples=80, deadline=None)
@given(joints(zeros=False))
def test_delta_at_most_epsilon_at_most_twice_delta_and_r_t_delta(joint):
    belief, leakage = exact(joint), leakages(exact(joint))
    assert leakage.delta <= leakage.epsilon + 1e-6
    assert leakage.epsilon <= 2 * leakage.delta + 1e-6
    assert leakage.epsilon == pytest.approx(channel_epsilon((joint / joint.sum(axis=0)).T), abs=1e-5)
    assert leakage.epsilon == pytest.approx(list_values(epsilon_nats, belief).max())
    largest = leakage.information_bits.max()
    assert leakage.mutual_information_bits <= largest + 1e-9
    assert largest * np.log(2) <= leakage.delta_up + 1e-6
    assert leakage.t_equal <= np.sqrt(largest * np.log(2) / 2) + 1e-12  # Pinsker


def test_epsilon_is_infinite_where_a_candidate_is_excluded():
    leakage = leakages(Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]])))
    assert leakage.epsilon == leakage.delta == leakage.delta_down == np.inf
    assert leakage.delta_up == pytest.approx(np.log(1.5), abs=1e-6)
    assert leakages(Posterior.from_dense(np.full((2, 4), 0.25))).epsilon == 0


def test_crowds_epsilon_grows_with_the_crowd():
    # spec 2.5: eps = ln(1 + p n / (1 - p)), while the error tends to 1 - p
    for n in (3, 10, 30):
        table = 0.7 / n + 0.3 * np.eye(n)
        assert leakages(Posterior.from_dense(table)).epsilon == pytest.approx(np.log(1 + 0.3 * n / 0.7), abs=1e-5)


@settings(max_examples=80, deadline=None)
@given(joints())
def test_maximal_leakage_is_above_information_and_min_entropy_leakage(joint):
    belief = exact(joint)
    maximal = leakages(belief).maximal_bits
    channel = joint / np.where(joint.sum(axis=0) > 0, joint.sum(axis=0), 1.0)
    assert maximal == pytest.approx(np.log2(channel.max(axis=1).sum()), abs=1e-5)
    assert mutual_information(belief) <= maximal + 1e-5
    assert min_entropy_leakage(belief) <= maximal + 1e-6  # whatever the prior


def test_scores_are_refused():
    belief = Posterior.from_dense(np.array([[0.5, 0.5]]), status="scores")
    for measured in (mutual_information, leakages, min_entropy_smith, min_entropy_bits, renyi_entropies):
        with pytest.raises(UnmaskError, match="calibrate"):
            measured(belief)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 4), st.integers(2, 5), st.integers(0, 1000), st.floats(0.001, 0.999))
def test_channel_epsilon_bounds_every_posterior(n, m, seed, prior):
    rows = np.random.default_rng(seed).dirichlet(np.ones(m), n) * 0.9 + 0.1 / m
    grown = np.exp(channel_epsilon(rows))
    belief = prior * rows[0] / (prior * rows[0] + (1 - prior) * rows[1])

    assert np.all(belief <= prior * grown / (1 - prior + prior * grown) + 1e-12)
    assert np.all(belief >= prior / (prior + (1 - prior) * grown) - 1e-12)


def test_channel_epsilon_rejects_rows_that_are_no_distributions():
    with pytest.raises(UnmaskError, match="row 1"):
        channel_epsilon([[0.5, 0.5], [0.5, 0.6]])
    with pytest.raises(UnmaskError, match="expected at least 2 secrets"):
        channel_epsilon([[0.5, 0.5]])
