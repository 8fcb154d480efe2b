"""Criteria against the error of attackers of beliefs and channels that can be worked out in full."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.channels import Chain
from unmask.channels.channel import Channel
from unmask.channels.criteria import (
    CRITERIA,
    TABLE_IV,
    advise,
    conditional_entropy,
    conditional_typical_log2_size,
    entropy,
    error_of,
    markov_entropy_rate,
    stationary,
    typical_set,
)
from unmask.core.errors import UnmaskError

SLACK = 1e-9
FLAT = 1e-6
"""Entropy is flat at the uniform belief: an error found from it has half of the digits."""


def h(p):
    p = np.asarray(p, dtype=float)
    return float(-(p * np.log2(np.where(p > 0, p, 1))).sum())


# from a criterion to an error


@pytest.mark.parametrize("name", ["k_anonymity", "l_diversity"])
def test_classes_held_alike(name):
    # section V-A1: P = 1 - 1/k
    result = error_of(name, 5)
    assert result[:3] == (0.8, 0.8, 0.0)  # nothing is left of it with background knowledge
    assert error_of("hartley_entropy", np.log2(5)).low == pytest.approx(0.8)


def test_min_entropy_is_the_error():
    p = np.array([0.6, 0.3, 0.1])
    result = error_of("min_entropy", -np.log2(p.max()))
    assert result.low == result.high == pytest.approx(0.4)
    assert result.without_it == result.low


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=8).filter(lambda v: sum(v) > 0.01))
def test_error_lies_in_the_range_of_its_shannon_entropy(values):
    p = np.array(values) / sum(values)
    result = error_of("shannon_entropy", min(h(p), np.log2(len(p))), n=len(p))
    assert result.low - FLAT <= 1 - p.max() <= result.high + FLAT


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("error", [0.1, 0.45])
def test_both_ends_of_the_entropy_range_are_attained(n, error):
    flat = np.array([1 - error] + [error / (n - 1)] * (n - 1))  # Fano's extreme
    assert error_of("shannon_entropy", h(flat), n=n).low == pytest.approx(error, abs=1e-9)
    steep = np.array([1 - error, error])  # error < 1/2: two candidates carry all
    assert error_of("shannon_entropy", h(steep), n=n).high == pytest.approx(error, abs=1e-9)


def test_average_entropy_allows_larger_errors_than_one_belief():
    # mixing a certain output and a uniform one over two: H = 1/2, error 1/4 = H/2 (Hellman & Raviv); one belief: less
    average, single = error_of("conditional_entropy", 0.5, n=2), error_of("shannon_entropy", 0.5, n=2)
    assert average.high == pytest.approx(0.25)
    assert single.high == pytest.approx(0.11, abs=1e-3)  # h^-1(1/2) = 0.1100
    assert average.low == single.low


@pytest.mark.parametrize("seed", range(20))
def test_average_error_lies_in_the_range_of_the_conditional_entropy(seed):
    rng = np.random.default_rng(seed)
    channel = Channel(rng.dirichlet(np.full(6, 0.4), 4), rng.dirichlet(np.ones(4)))
    joint = channel.prior[:, None] * channel.dense()
    error = 1 - joint.max(axis=0).sum()
    result = error_of("conditional_entropy", conditional_entropy(channel), n=4)
    assert result.low - SLACK <= error <= result.high + SLACK


def channel_facts(seed):
    """A channel, a loss with values in 0..dmax, and everything the bounds speak of."""
    rng = np.random.default_rng(seed)
    n_x, n_y = 4, 5
    channel = Channel(0.8 * rng.dirichlet(np.ones(n_y), n_x) + 0.2 / n_y, rng.dirichlet(np.ones(n_x) * 2))
    loss = rng.random((6, n_x)) * 3.0  # (answers, truth)
    q = channel.prior
    p = (q[:, None] * channel.dense() / channel.p_y).T  # (y, x)
    ratio = np.log(p / q)
    return {
        "R0": (loss @ q).min(),
        "P": (p @ loss.T).min(axis=1),
        "R0_hamming": 1 - q.max(),
        "P_hamming": 1 - p.max(axis=1),
        "p_y": channel.p_y,
        "dmax": loss.max(),
        "t_closeness": 0.5 * np.abs(p - q).sum(axis=1).max(),
        "t_closeness_kl": (p * ratio).sum(axis=1).max() / np.log(2),
        "mutual_information": channel.p_y @ (p * ratio).sum(axis=1) / np.log(2),
        "delta_disclosure": np.abs(ratio).max(),
        "local_epsilon": np.log(channel.dense().max(axis=0) / channel.dense().min(axis=0)).max(),
    }


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("name", ["t_closeness", "t_closeness_kl", "delta_disclosure", "local_epsilon"])
def test_bounds_on_what_is_lost_hold_for_every_output_and_loss(seed, name):
    facts = channel_facts(seed)
    graded = error_of(name, facts[name], prior_error=facts["R0"], dmax=facts["dmax"], graded=True)
    assert graded.low - SLACK <= facts["P"].min()
    assert facts["P"].max() <= graded.high + SLACK
    plain = error_of(name, facts[name], prior_error=facts["R0_hamming"])
    assert plain.low - SLACK <= facts["P_hamming"].min()
    assert facts["P_hamming"].max() <= plain.high + SLACK
    assert plain.statement == "bound"


@pytest.mark.parametrize("seed", range(30))
def test_mutual_information_bounds_the_average(seed):
    facts = channel_facts(seed)
    result = error_of(
        "mutual_information", facts["mutual_information"], prior_error=facts["R0"], dmax=facts["dmax"], graded=True
    )
    assert result.low - SLACK <= facts["p_y"] @ facts["P"] <= result.high + SLACK


def test_bounds_are_attained():
    # TV: prior (1/2, 1/2), posterior (1/2 + t, 1/2 - t): the error falls by exactly t
    assert error_of("t_closeness", 0.2, prior_error=0.5).low == pytest.approx(0.3)
    # randomized response with eps = ln 3 on a uniform bit: error 1/4; 0.75 / 0.25 = 3
    assert error_of("local_epsilon", np.log(3), prior_error=0.5).low == pytest.approx(0.25)
    # delta: uniform bit, posterior (3/4, 1/4): ratios 1.5 and 0.5, delta = ln 2, error 1/4 = e^-delta R0
    assert error_of("delta_disclosure", np.log(2), prior_error=0.5).low == pytest.approx(0.25)


def test_bits_and_nats_differ():
    # D = 1 bit: sqrt(ln2 / 2) = 0.5887 (specs 2.2) against Bretagnolle-Huber sqrt(1/2) = 0.707
    assert error_of("t_closeness_kl", 1.0, prior_error=0.9).low == pytest.approx(0.9 - 0.5887, abs=1e-4)
    # a large divergence: Pinsker is vacuous, the other is not
    assert error_of("t_closeness_kl", 4.0, prior_error=1.0).low == pytest.approx(1 - np.sqrt(1 - 2**-4))


def test_infinite_delta_and_epsilon_leave_nothing():
    for name in ("delta_disclosure", "local_epsilon", "t_closeness_kl"):
        assert error_of(name, np.inf, prior_error=0.5)[:2] == (0.0, 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: error_of("m_invariance", 2), "unknown, expected one of k_anonymity"),
        (lambda: error_of("k_anonymity", 0.5), "at least 1"),
        (lambda: error_of("k_anonymity", 4, graded=True), "0/1 loss alone"),
        (lambda: error_of("shannon_entropy", 1.0), "needs n"),
        (lambda: error_of("shannon_entropy", 3.0, n=4), "at most 2 bits"),
        (lambda: error_of("t_closeness", 0.1), "pass prior_error"),
        (lambda: error_of("t_closeness", 1.1, prior_error=0.5), "at most 1"),
        (lambda: error_of("t_closeness", 0.1, prior_error=0.5, dmax=3.0), "graded=True"),
        (lambda: error_of("min_entropy", -1.0), "at least 0"),
        (lambda: error_of("min_entropy", float("nan")), "at least 0"),
    ],
)
def test_wrong_criteria_are_refused(call, message):
    with pytest.raises(UnmaskError, match=message):
        call()


def test_every_criterion_has_an_error_and_an_assumption():
    for entry in CRITERIA:
        extra = {"n": 4} if entry.needs == "n" else {}
        extra |= {"prior_error": 0.5} if entry.needs == "prior_error" else {}
        result = error_of(entry.name, 1.0, **extra)
        assert 0.0 <= result.low <= result.high <= 1.0
        assert result.without_it <= result.low
        assert entry.assumption


# sequences


def test_independent_entropy_overstates_privacy():
    # specs section 4: 0.650 against 0.557 bits in a two-state example
    A = np.array([[0.9, 0.1], [0.5, 0.5]])
    np.testing.assert_allclose(stationary(A), [5 / 6, 1 / 6])
    assert entropy(stationary(A)) == pytest.approx(0.650, abs=5e-4)
    assert markov_entropy_rate(A) == pytest.approx(0.557, abs=5e-4)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10_000))
def test_rate_is_at_most_the_entropy_of_one_step(n, seed):
    A = np.random.default_rng(seed).dirichlet(np.ones(n), n)
    pi = stationary(A)
    np.testing.assert_allclose(pi @ A, pi, atol=1e-9)
    assert markov_entropy_rate(A) <= entropy(pi) + SLACK
    assert markov_entropy_rate(np.tile(pi, (n, 1))) == pytest.approx(entropy(pi), abs=1e-7)


def test_stationary_of_a_ring_and_of_two_parts():
    np.testing.assert_allclose(stationary(np.roll(np.eye(3), 1, axis=1)), 1 / 3)
    np.testing.assert_allclose(stationary(np.array([[0.5, 0.5], [0.0, 1.0]])), [0, 1], atol=1e-12)
    with pytest.raises(UnmaskError, match="parts that never meet"):
        stationary(np.eye(2))


def test_typical_set_of_fifty_tosses_holds_little_more_than_half():
    # specs section 4: Bernoulli 0.3, k = 50, e = 0.05: P(T) = 0.56; the most likely sequence is not typical, for any k
    result = typical_set(np.array([0.3, 0.7]), k=50, epsilon=0.05)
    assert result.probability == pytest.approx(0.56, abs=5e-3)
    assert not any(typical_set(np.array([0.3, 0.7]), k=k, epsilon=0.05).holds_most_likely for k in (1, 10, 100, 1000))
    long = typical_set(np.array([0.3, 0.7]), k=2000, epsilon=0.05)
    assert long.probability > 0.95
    assert long.log2_low <= long.log2_size <= long.log2_high


@pytest.mark.parametrize("p", [[0.3, 0.7], [0.2, 0.3, 0.5], [0.1, 0.2, 0.3, 0.4], [1.0]])
def test_typical_set_against_all_sequences(p):
    p, k, epsilon = np.array(p), 6, 0.2
    sequences = np.array(list(product(range(len(p)), repeat=k)))
    probability = np.prod(p[sequences], axis=1)
    typical = np.abs(-np.log2(probability) / k - h(p)) <= epsilon
    result = typical_set(p, k=k, epsilon=epsilon)
    assert result.probability == pytest.approx(probability[typical].sum())
    assert 2**result.log2_size == pytest.approx(typical.sum())
    assert result.holds_most_likely == typical[probability.argmax()]
    assert result.log2_size <= result.log2_high + SLACK


def test_uniform_symbols_are_all_typical():
    result = typical_set(np.full(4, 0.25), k=10, epsilon=0.01)
    assert result.probability == pytest.approx(1.0)
    assert result.log2_size == pytest.approx(20.0)


def test_empty_typical_set():
    result = typical_set(np.array([0.3, 0.7]), k=1, epsilon=0.05)
    assert result.probability == 0.0
    assert result.log2_size == -np.inf


def test_too_many_types_are_refused():
    with pytest.raises(UnmaskError, match="types"):
        typical_set(np.full(20, 0.05), k=50, epsilon=0.1)


def test_conditional_typical_set_needs_two_epsilons():
    # count the x that are jointly typical with a typical y, for all y: at most k (H + 2e) bits, and more than k (H + e)
    channel = Channel(np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([0.4, 0.6]))
    joint = channel.prior[:, None] * channel.dense()
    k, epsilon = 10, 0.09
    H = conditional_entropy(channel)
    assert pytest.approx(h(joint.ravel()) - h(channel.p_y)) == H
    x = np.array(list(product(range(2), repeat=k)))
    near = lambda p, entropy_: np.abs(-np.log2(p).sum(axis=-1) / k - entropy_) <= epsilon  # noqa: E731
    typical_x = near(channel.prior[x], h(channel.prior))
    largest = 0
    for ones in range(k + 1):  # which y: only how many ones it has matters
        y = np.repeat([1, 0], [ones, k - ones])
        if near(channel.p_y[y], h(channel.p_y)):
            largest = max(largest, int((typical_x & near(joint[x, y], h(joint.ravel()))).sum()))
    assert largest > 1
    assert np.log2(largest) <= conditional_typical_log2_size(channel, k=k, epsilon=epsilon)
    assert conditional_typical_log2_size(channel, k=k, epsilon=epsilon) == pytest.approx(k * (H + 2 * epsilon))


# advice


@pytest.mark.parametrize(
    ("question", "measures"),
    [
        # specs 3.2
        ("identity", ("min_entropy_bits", "shannon_entropy_bits", "k")),
        ("sender", ("min_entropy_bits", "shannon_entropy_bits", "hartley_entropy_bits")),
        ("attribute", ("min_entropy_bits", "shannon_entropy_bits", "l_distinct")),
    ],
)
def test_one_guess_is_answered_by_the_renyi_family(question, measures):
    advice = advise(what=question)
    assert (advice.worst, advice.average, advice.best) == measures
    assert advice.bounds == ()


def test_c8_sequences_are_answered_by_the_rate_that_is_computed():
    advice = advise(what="sender", observations="many")
    assert (advice.worst, advice.average, advice.best) == (None, "entropy_rate", None)
    assert hasattr(Chain, "entropy_rate")


def test_c8_every_answer_is_used():
    answers = {
        "what": ("identity", "attribute", "sender"),
        "loss": ("hamming", "graded"),
        "observations": ("one", "many"),
    }
    for options in ({}, {"loss_known": False, "dmax": 2.0}):
        result = {
            answers_chosen: advise(**dict(zip(answers, answers_chosen, strict=True)), **options)
            for answers_chosen in product(*answers.values())
            if not options or answers_chosen[1] == "graded"
        }
        single_observation = {key[:2]: advice for key, advice in result.items() if key[2] == "one"}
        many_observations = {key[:2]: advice for key, advice in result.items() if key[2] == "many"}
        assert all(single_observation[key] != many_observations[key] for key in single_observation)
        assert len({advice.command for (_, loss), advice in single_observation.items() if loss == "hamming"}) == (
            0 if options else 3
        )


def test_a_known_loss_leaves_no_entropy():
    advice = advise(what="attribute", loss="graded")
    assert (advice.worst, advice.average, advice.best, advice.bounds) == (
        "estimation_error.worst",
        "estimation_error",
        None,
        (),
    )
    for measure in ("shannon_entropy_bits", "min_entropy_bits", "entropy_rate", "information_gain_bits"):
        with pytest.raises(UnmaskError, match=f"cannot be ranked by {measure}"):
            advise(what="attribute", loss="graded", rank_by=measure)
    assert advise(what="attribute", loss="graded", rank_by="estimation_error") == advice


def test_an_unknown_loss_leaves_bounds_and_no_ranking():
    advice = advise(what="attribute", loss="graded", loss_known=False, dmax=2.0)
    assert (advice.worst, advice.average, advice.best, advice.rank_by) == (None, None, None, ())
    assert advice.bounds[0] == "total_variation.worst"
    assert "2 dmax TV" in advice.why
    with pytest.raises(UnmaskError, match="cannot be ranked by t_closeness"):
        advise(what="attribute", loss="graded", loss_known=False, dmax=2.0, rank_by="t_closeness")
    with pytest.raises(UnmaskError, match="give `dmax`"):
        advise(what="attribute", loss="graded", loss_known=False)


def test_shannon_entropy_does_not_rank_single_guesses():
    # the belief with more entropy is the one that is guessed more often
    spread, two = np.array([0.7, *[0.01] * 30]), np.array([0.5, 0.5])
    assert h(spread) > h(two)
    assert 1 - spread.max() < 1 - two.max()
    with pytest.raises(UnmaskError, match="shannon_entropy"):
        advise(what="identity", rank_by="shannon_entropy")
    assert advise(what="identity", rank_by="min_entropy_bits").worst == "min_entropy_bits"


def test_words_that_are_not_known_are_refused():
    for question in ({"what": "key"}, {"what": "identity", "loss": "l2"}, {"what": "identity", "observations": "two"}):
        with pytest.raises(UnmaskError, match="expected one of"):
            advise(**question)
    with pytest.raises(UnmaskError, match="hamming, which is a known loss"):
        advise(what="identity", loss="hamming", loss_known=False)


def test_the_table_has_three_cases_for_each_domain():
    cells = {(entry.what, entry.case) for entry in TABLE_IV}
    assert cells == set(product(("identity", "attribute", "sender", "sequence"), ("worst", "average", "best")))
    assert not next(e for e in TABLE_IV if e.measure == "k_anonymity").completed
