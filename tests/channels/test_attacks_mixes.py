"""Attackers of anonymity systems: matchings against enumeration, disclosure against simulated rounds."""

from itertools import permutations
from math import factorial, log

import numpy as np
import pytest
from scipy.sparse import csr_array

from unmask.channels.attacks import (
    LeastSquaresDisclosure,
    MatchingAttack,
    Round,
    RoundDisclosure,
    Rounds,
    StatisticalDisclosure,
    bagai_entropy,
    edman_degree,
    expected_leaving,
    gierlichs_degree,
    log_permanent,
)
from unmask.channels.channel import Channel
from unmask.core.errors import UnmaskError


def enumerate_matchings(W):
    """Permanent, marginals and entropy (nats) by listing all matchings."""
    n, m = W.shape
    weights, p = [], np.zeros((n, m))
    for columns in permutations(range(m), n):
        w = np.prod(W[range(n), columns])
        weights.append(w)
        p[range(n), columns] += w
    w = np.array(weights) / sum(weights)
    w = w[w > 0]
    return sum(weights), p / sum(weights), -(w * np.log(w)).sum()


# The matrix of Bagai et al. is not in our sources; up to reordering and transposition it is the only doubly stochastic
# 3 x 3 matrix in twelfths, sixteenths or twentieths with the two values that are (Edman 0.773, Bagai 0.501).
SYSTEM = np.array([[0, 1, 3], [2, 1, 1], [2, 2, 0]]) / 4


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 4), (3, 6), (7, 7)])
def test_exact_marginals_are_those_of_all_matchings(shape):
    rng = np.random.default_rng(sum(shape))
    W = rng.exponential(size=shape) ** 3
    W[rng.random(shape) < 0.2] = 0
    W[np.arange(shape[0]), np.arange(shape[0])] += 0.1
    per, p, _ = enumerate_matchings(W)
    assert log_permanent(W) == pytest.approx(log(per), abs=1e-10)
    result = MatchingAttack().marginals(W)
    assert result.method == "exact"
    assert result.warning == ""
    np.testing.assert_allclose(result.probability, p, atol=1e-12)


@pytest.mark.parametrize("method", ["exact", "belief propagation"])
def test_marginals_of_square_weights_are_doubly_stochastic(method):
    W = np.exp(2 * np.random.default_rng(1).normal(size=(9, 9)))
    result = MatchingAttack(method=method).marginals(W)
    assert result.converged
    np.testing.assert_allclose(result.probability.sum(axis=0), 1.0, atol=1e-6)
    np.testing.assert_allclose(result.probability.sum(axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize("method", ["exact", "belief propagation"])
def test_scale_of_rows_and_columns_does_not_matter(method):
    rng = np.random.default_rng(2)
    W = np.exp(rng.normal(size=(6, 6)))
    scaled = W * 10.0 ** rng.uniform(-60, 60, (6, 1)) * 10.0 ** rng.uniform(-60, 60, 6)
    plain = MatchingAttack(method=method).marginals(W).probability
    np.testing.assert_allclose(MatchingAttack(method=method).marginals(scaled).probability, plain, atol=1e-7)


def test_belief_propagation_is_slightly_over_confident():
    # on average over random matrices
    rng = np.random.default_rng(3)
    sure = {m: [] for m in ("exact", "belief propagation")}
    error = {m: [] for m in sure}
    for _ in range(20):
        W = np.exp(3 * rng.normal(size=(10, 10)))
        exact = MatchingAttack(method="exact").marginals(W).probability
        for method in sure:
            p = MatchingAttack(method=method).marginals(W).probability
            sure[method].append(p.max(axis=1).mean())
            error[method].append(0.5 * np.abs(p - exact).sum(axis=1).mean())
    means = {method: np.mean(values) for method, values in sure.items()}
    assert means["exact"] < means["belief propagation"]
    assert np.mean(error["belief propagation"]) < 0.09  # upper end of what was measured when the method was chosen


def test_belief_propagation_is_exact_without_cycles():
    # a comb: the pairs form a tree, on which the messages are exact
    W = np.zeros((3, 4))
    W[[0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 2, 3]] = [1.0, 2.0, 0.5, 1.0, 3.0, 1.0]
    result = MatchingAttack(method="belief propagation").marginals(W)
    np.testing.assert_allclose(result.probability, enumerate_matchings(W)[1], atol=1e-7)


def test_belief_propagation_settles_at_a_thousand_and_says_when_not():
    W = np.random.default_rng(4).random((300, 300)) ** 8
    result = MatchingAttack().marginals(W)
    assert result.method == "belief propagation"
    assert result.converged
    assert result.gap < 1e-6
    hasty = MatchingAttack(iterations=2).marginals(np.exp(5 * np.random.default_rng(4).normal(size=(30, 30))))
    assert not hasty.converged
    assert "did not settle" in hasty.warning
    assert hasty.posterior().status == "scores"


def test_status_and_warning_follow_the_method():
    W = np.random.default_rng(5).random((4, 4))
    channel, observed = Channel(W / W.sum(axis=1, keepdims=True)), np.arange(4)
    result = {m: MatchingAttack(m)(observed, channel) for m in ("exact", "belief propagation")}
    assert {m: belief.status for m, belief in result.items()} == {"exact": "model", "belief propagation": "model"}
    assert "over-confident" in result["belief propagation"].provenance["warning"]
    with pytest.raises(UnmaskError, match="expected auto, exact or belief propagation"):
        MatchingAttack("rows")(observed, channel)


def test_the_attack_takes_the_marginals_of_the_likelihoods():
    channel, observed = Channel(np.random.default_rng(6).dirichlet(np.ones(3), 5), x_labels=tuple("abcde")), [2, 0, 2]
    belief = MatchingAttack()(np.array(observed), channel)
    exact = enumerate_matchings(channel.dense().T[observed])[1]
    np.testing.assert_allclose(np.exp(belief.log_probability).reshape(3, 5), exact, atol=1e-9)
    assert belief.candidate_label == tuple("abcde")


def test_a_forced_pair_is_certain_in_the_matching():
    W = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    for method in ("exact", "belief propagation"):
        np.testing.assert_allclose(MatchingAttack(method=method).marginals(W).probability, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("method", ["exact", "belief propagation"])
def test_no_matching_is_refused(method):
    W = np.array([[1.0, 0, 0], [1.0, 0, 0], [1.0, 1.0, 1.0]])
    with pytest.raises(UnmaskError, match="no one-to-one matching"):
        MatchingAttack(method=method).marginals(W)
    assert log_permanent(W) == -np.inf


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.ones((3, 2)), "at least as many candidates"),
        (np.array([[1.0, -1.0]]), "negative"),
        (np.array([[1.0, np.nan]]), "not numbers"),
        (np.array([[0.0, 0.0]]), "target 0 goes with no candidate"),
    ],
)
def test_wrong_weights_are_refused(W, message):
    with pytest.raises(UnmaskError, match=message):
        MatchingAttack().marginals(W)


def test_exact_refuses_more_than_twenty_candidates():
    with pytest.raises(UnmaskError, match="at most 20"):
        MatchingAttack(method="exact").marginals(np.ones((2, 21)))
    np.testing.assert_allclose(MatchingAttack().marginals(np.ones((2, 20))).probability, 0.05)


def test_edman_and_bagai_disagree_on_the_same_system():
    # specs section 4: Edman 0.773, Bagai 0.501
    assert edman_degree(SYSTEM, kind="stochastic") == pytest.approx(0.773, abs=5e-4)
    assert bagai_entropy(SYSTEM).degree == pytest.approx(0.501, abs=5e-4)
    assert edman_degree(SYSTEM, kind="possible") == pytest.approx(np.log(3) / np.log(6))


def test_degrees_are_one_for_no_information_and_zero_for_full():
    uniform, certain = np.full((5, 5), 0.2), np.eye(5)
    for kind in ("possible", "stochastic"):
        assert edman_degree(uniform, kind=kind) == pytest.approx(1.0)
        assert edman_degree(certain, kind=kind) == 0.0
    assert bagai_entropy(uniform).degree == pytest.approx(1.0)
    assert bagai_entropy(certain).degree == 0.0
    assert edman_degree(np.eye(1), kind="possible") == 0.0


def test_one_target_may_be_exposed_while_the_system_looks_anonymous():
    A = np.ones((6, 6))
    A[0, 1:] = A[1:, 0] = 0
    assert edman_degree(A, kind="possible") > 0.7
    assert MatchingAttack().marginals(A).probability[0, 0] == pytest.approx(1.0)


def test_stochastic_degree_refuses_other_weights():
    with pytest.raises(UnmaskError, match="doubly stochastic"):
        edman_degree(2 * SYSTEM, kind="stochastic")


@pytest.mark.parametrize("n", [2, 5, 7])
def test_bagai_entropy_is_that_of_all_matchings(n):
    W = np.exp(2 * np.random.default_rng(n).normal(size=(n, n)))
    nats = enumerate_matchings(W)[2]
    result = bagai_entropy(W)
    assert result.entropy_bits == pytest.approx(nats / np.log(2), abs=1e-9)
    assert result.degree == pytest.approx(nats / log(factorial(n)), abs=1e-9)


def test_matchings_collapse_to_patterns():
    # specs section 4: several messages per user, 6 matchings collapse to 2 patterns
    two = gierlichs_degree(np.ones((3, 3)), sender=np.array([4, 4, 9]), receiver=np.array([1, 1, 0]))
    assert two.entropy_bits == pytest.approx(-(1 / 3) * np.log2(1 / 3) - (2 / 3) * np.log2(2 / 3))
    degrees = gierlichs_degree(SYSTEM, sender=np.arange(3), receiver=np.arange(3))
    assert degrees.entropy_bits == pytest.approx(bagai_entropy(SYSTEM).entropy_bits)


def test_patterns_against_enumeration():
    rng = np.random.default_rng(8)
    W, sender, receiver = rng.random((6, 6)), rng.integers(0, 3, 6), rng.integers(0, 3, 6)
    mass: dict[tuple[int, ...], float] = {}
    for columns in permutations(range(6)):
        flow = np.zeros((3, 3), dtype=int)
        np.add.at(flow, (sender, receiver[list(columns)]), 1)
        key = tuple(flow.ravel())
        mass[key] = mass.get(key, 0.0) + np.prod(W[range(6), columns])
    p = np.array(list(mass.values())) / sum(mass.values())
    result = gierlichs_degree(W, sender=sender, receiver=receiver)
    assert result.entropy_bits == pytest.approx(-(p * np.log2(p)).sum(), abs=1e-9)
    shuffle = rng.permutation(6)
    again = gierlichs_degree(W[shuffle], sender=sender[shuffle], receiver=receiver)
    assert again.entropy_bits == pytest.approx(result.entropy_bits)


# statistical disclosure


def mix(rng, *, rounds=400, batch=10, n_senders=30, n_receivers=20, share=0.5, target=0, spread=0.5):
    """Rounds of a threshold mix: the target sends one message in a share of them, anybody else the others."""
    V = np.zeros((n_senders, n_receivers))
    V[target, :2] = [0.7, 0.3]
    for sender in range(1, n_senders):
        V[sender] = np.random.default_rng(sender).dirichlet(np.full(n_receivers, spread))
    sent = np.zeros((rounds, n_senders))
    present = rng.random(rounds) < share
    sent[present, target] = 1
    for t in range(rounds):
        other_senders = rng.integers(1, n_senders, batch - int(present[t]))
        sent[t] += np.bincount(other_senders, minlength=n_senders)
    received = np.zeros((rounds, n_receivers))
    for sender in range(n_senders):
        received += rng.multinomial(sent[:, sender].astype(int), V[sender])
    return Rounds(sent, received), V


@pytest.mark.parametrize("attack", [StatisticalDisclosure(senders=(0,)), LeastSquaresDisclosure(senders=(0,))])
def test_disclosure_is_unbiased_in_units_of_its_own_standard_error(attack):
    z = []
    for seed in range(60):
        rounds, V = mix(np.random.default_rng(seed))
        estimate = attack.estimate(rounds)
        z.append((estimate.estimate[0] - V[0]) / estimate.standard_error[0])
    z = np.array(z)
    # the mean of 60 standard normals is beyond 4 / sqrt(60) for any of 20 receivers with chance 0.1 %
    assert np.abs(z.mean(axis=0)).max() < 4 / np.sqrt(60)
    assert 0.9 < z.std() < 1.12  # 1,200 numbers, neighbors correlated a little: the errors are honest


def test_least_squares_is_sharper_than_averages():
    sda, lsda = [], []
    for seed in range(20):
        rounds, V = mix(np.random.default_rng(seed), rounds=600, spread=0.05)  # others have one or two friends
        sda.append(np.square(StatisticalDisclosure(senders=(0,)).estimate(rounds).estimate[0] - V[0]).mean())
        lsda.append(np.square(LeastSquaresDisclosure(senders=(0,)).estimate(rounds).estimate[0] - V[0]).mean())
    # 0.56 here: what remains is the noise of his own messages, which both share
    assert np.mean(lsda) < 0.75 * np.mean(sda)


def test_the_textbook_formula():
    # one message a round, constant batch, known background: v = mean O - (b - 1) u, var = [v(1-v) + (b-1) u(1-u)] / T
    rounds, _ = mix(np.random.default_rng(1), share=1.0)
    u = rounds.received.sum(axis=0) / rounds.received.sum()
    actual = StatisticalDisclosure(senders=(0,)).estimate(rounds, u)
    v = rounds.received.mean(axis=0) - 9 * u
    np.testing.assert_allclose(actual.estimate[0], v, atol=1e-12)
    inside = np.maximum(v, 0) / np.maximum(v, 0).sum()
    expected = np.sqrt((inside * (1 - inside) + 9 * u * (1 - u)) / 400)
    np.testing.assert_allclose(actual.standard_error[0], expected)
    assert actual.estimate.sum() == pytest.approx(1.0)


def test_sums_are_divided_by_rounds_and_not_by_receivers():
    # A public implementation divides by the number of receivers; its estimate sums to far more than 1 and grows with T
    rounds, _ = mix(np.random.default_rng(2), rounds=1000, share=0.5)
    estimate = StatisticalDisclosure(senders=(0,)).estimate(rounds).estimate[0]
    assert estimate.sum() == pytest.approx(1.0)
    inside = rounds.sent[:, 0] > 0
    u = rounds.received[~inside].sum(axis=0) / rounds.received[~inside].sum()
    profile = rounds.received[inside].sum(axis=0) / rounds.received.shape[1] - 9 * u
    assert profile.sum() > 100
    again, _ = mix(np.random.default_rng(2), rounds=4000, share=0.5)
    assert np.abs(StatisticalDisclosure(senders=(0,)).estimate(again).estimate[0] - estimate).max() < 0.2


def test_background_that_contains_the_target_is_biased():
    errors = {"outside": [], "everywhere": []}
    for seed in range(30):
        rounds, V = mix(np.random.default_rng(seed), share=0.9, rounds=500, batch=4)
        plain = rounds.received.sum(axis=0) / rounds.received.sum()
        errors["outside"].append(StatisticalDisclosure(senders=(0,)).estimate(rounds).estimate[0, 0] - V[0, 0])
        errors["everywhere"].append(
            StatisticalDisclosure(senders=(0,)).estimate(rounds, plain).estimate[0, 0] - V[0, 0]
        )
    assert np.mean(errors["everywhere"]) < -0.3
    assert abs(np.mean(errors["outside"])) < 4 * np.std(errors["outside"]) / np.sqrt(30)


def test_estimates_are_not_clipped_before_averaging():
    estimates = [StatisticalDisclosure(senders=(0,)).estimate(mix(np.random.default_rng(s))[0]) for s in range(10)]
    zeros = np.array([e.estimate[0, 2:] for e in estimates])
    assert (zeros < 0).mean() > 0.3  # receivers who get nothing from the target: noise around 0
    belief = estimates[0].posterior()
    assert belief.status == "model"
    assert np.exp(belief.log_probability.astype(float)).sum() == pytest.approx(1.0, abs=1e-5)
    assert belief.candidate[belief.log_probability.argmax()] == 0


def test_disclosure_of_all_senders_finds_their_favorites():
    rounds, V = mix(np.random.default_rng(5), rounds=5000)
    result = LeastSquaresDisclosure().estimate(rounds)
    assert result.estimate.shape == V.shape
    strong = V.max(axis=1) > 0.3
    assert strong.sum() > 2
    np.testing.assert_array_equal(result.estimate.argmax(axis=1)[strong], V.argmax(axis=1)[strong])
    assert LeastSquaresDisclosure()(rounds).n_targets == 30


def test_least_squares_refuses_what_cannot_be_identified():
    always, _ = mix(np.random.default_rng(0), share=1.0)
    with pytest.raises(UnmaskError, match="sender 0 cannot be separated"):
        LeastSquaresDisclosure(senders=(0,)).estimate(always)
    with pytest.raises(UnmaskError, match="in every round"):
        StatisticalDisclosure(senders=(0,)).estimate(always)
    # rounds without him cure it
    sometimes, V = mix(np.random.default_rng(0), share=0.9, rounds=2000)
    result = LeastSquaresDisclosure(senders=(0,)).estimate(sometimes)
    assert np.abs(result.estimate[0] - V[0]).max() < 0.25


def test_sparse_rounds_are_the_same_rounds():
    rounds, _ = mix(np.random.default_rng(3))
    sparse = Rounds(csr_array(rounds.sent), csr_array(rounds.received))
    for attack in (StatisticalDisclosure(), LeastSquaresDisclosure()):
        np.testing.assert_allclose(attack.estimate(sparse).estimate, attack.estimate(rounds).estimate, atol=1e-12)


def test_a_pool_mix_is_attacked_through_what_leaves_on_average():
    # 6 of the 12 messages inside leave in each round; taking arrivals for departures misses most of the link
    rng = np.random.default_rng(9)
    V = np.roll(np.eye(8), 1, axis=1)
    T, batch, pool = 3000, 6, 6
    sender = rng.integers(0, 8, (T, batch))
    sent, received = np.zeros((T, 8)), np.zeros((T, 8))
    inside = rng.integers(0, 8, pool)
    sent[0] += np.bincount(inside, minlength=8)
    for t in range(T):
        sent[t] += np.bincount(sender[t], minlength=8)
        inside = rng.permutation(np.concatenate([inside, sender[t]]))
        received[t] = np.bincount((inside[:batch] + 1) % 8, minlength=8)
        inside = inside[batch:]
    rounds = Rounds(expected_leaving(sent, received.sum(axis=1)), received)
    result = LeastSquaresDisclosure().estimate(rounds).estimate
    naive = LeastSquaresDisclosure().estimate(Rounds(sent[1:], received[1:])).estimate
    assert np.abs(result - V).max() < 0.2
    assert np.abs(naive - V).max() > 0.3
    with pytest.raises(UnmaskError, match="round 0 lets out 7 messages with 6 inside"):
        expected_leaving(np.full((1, 2), 3.0), np.array([7.0]))


def test_rounds_that_lose_messages_are_refused():
    with pytest.raises(UnmaskError, match="round 1 takes in 2 messages and lets out 1"):
        Rounds(np.array([[1, 1], [2, 0]]), np.array([[2, 0], [1, 0]]))
    with pytest.raises(UnmaskError, match="expected as many"):
        Rounds(np.ones((2, 2)), np.ones((3, 2)))


def test_profiles_of_everybody_link_the_messages_of_a_round():
    rounds, _ = mix(np.random.default_rng(7), rounds=4000)
    profiles = LeastSquaresDisclosure().estimate(rounds)
    senders, receivers = np.array([0, 3, 8, 12]), np.array([0, 5, 9, 14])
    exact = RoundDisclosure()(Round(senders, receivers), profiles)
    assert exact.status == "model"
    assert exact.n_targets == 4
    weight = np.maximum(profiles.expected_shares, 1e-12)[np.ix_(senders, receivers)]
    expected = enumerate_matchings(weight)[1]
    dense = np.zeros((4, 4))
    dense[np.repeat(np.arange(4), exact.row_length), exact.candidate] = np.exp(exact.log_probability)
    np.testing.assert_allclose(dense, expected, atol=1e-6)
    with pytest.raises(UnmaskError, match="sender 40 has no profile"):
        RoundDisclosure()(Round(np.array([40]), np.array([0])), profiles)
