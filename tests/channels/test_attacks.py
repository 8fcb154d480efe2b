"""Attackers who know the channel: Bayes' rule, and hidden Markov chains against enumeration of all paths."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from unmask.channels import Chain
from unmask.channels.attacks import BayesChannelAttack, HiddenMarkovAttack, most_likely_path
from unmask.channels.channel import Channel
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior


def table(belief: Posterior) -> np.ndarray:
    """(n_targets, n_candidates) the belief about each target."""
    dense = np.zeros((belief.n_observations, belief.n_candidates))
    rows = np.repeat(np.arange(belief.n_observations), belief.row_length)
    dense[rows, belief.candidate] = np.exp(belief.log_probability)
    return dense[belief.observation]


# Bayes


def random_channel(seed: int, n_x: int = 5, n_y: int = 4, *, holes: bool = False) -> Channel:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(n_y), n_x)
    if holes:
        p[rng.random(p.shape) < 0.3] = 0
        p[p.sum(axis=1) == 0, 0] = 1
        p /= p.sum(axis=1, keepdims=True)
    return Channel(p, rng.dirichlet(np.ones(n_x)))


@pytest.mark.parametrize("sparse", [False, True])
def test_bayes_attack_is_bayes_rule(sparse):
    channel = random_channel(0, holes=True)
    channel_form = Channel(csr_array(channel.dense()), channel.prior) if sparse else channel
    joint = channel.prior[:, None] * channel.dense()
    y = np.array([2, 0, 2, 3])
    belief = BayesChannelAttack()(y, channel_form)
    np.testing.assert_allclose(table(belief), (joint / joint.sum(axis=0)).T[y], atol=1e-6)
    assert belief.status == "exact"
    np.testing.assert_allclose(belief.weight, 0.25)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("holes", [False, True])
def test_many_observations_multiply_likelihoods(sparse, holes):
    channel = random_channel(3, holes=holes)
    channel_form = Channel(csr_array(channel.dense()), channel.prior) if sparse else channel
    observed = np.array([[0, 0, 1], [1, 0, 0], [2, 2, 2]])
    joint = channel.prior * np.prod(channel.dense()[:, observed], axis=2).T
    if np.any(joint.sum(axis=1) == 0):
        pytest.fail("the example must be possible")
    belief = BayesChannelAttack()(observed, channel_form)
    np.testing.assert_allclose(table(belief), joint / joint.sum(axis=1, keepdims=True), atol=1e-6)
    assert belief.n_observations == 2  # the order of the observations is no information


def test_certain_observations_keep_their_secret():
    # p = 1 has log 0, which a sum of sparse arrays would drop
    np.testing.assert_allclose(table(BayesChannelAttack()(np.array([[2, 2]]), Channel(np.eye(3)))), [[0, 0, 1]])


def test_impossible_observations_are_refused_by_target():
    attack, channel = BayesChannelAttack(), Channel(np.eye(3))
    with pytest.raises(UnmaskError, match="target 1"):
        attack(np.array([[0, 0], [0, 1]]), channel)
    with pytest.raises(UnmaskError, match="target 2"):
        attack(np.array([0, 1, 2]), Channel(np.eye(3), np.array([0.5, 0.5, 0.0])))
    with pytest.raises(UnmaskError, match=r"outside 0\.\.2"):
        attack(np.array([3]), channel)


def test_bayes_of_all_outputs_weighted_by_p_y_returns_the_prior():
    channel = random_channel(5)
    belief = table(BayesChannelAttack()(np.arange(channel.n_y), channel))
    np.testing.assert_allclose(channel.p_y @ belief, channel.prior, atol=1e-6)


# hidden Markov chains


def every_path(A, pi, B, y):
    """(n_paths, T) all paths and (n_paths,) their joint probabilities with y; y = -1 is nothing seen."""
    paths = np.array(list(product(range(len(A)), repeat=len(y))))
    p = pi[paths[:, 0]]
    for t, output in enumerate(y):
        p = p * (A[paths[:, t - 1], paths[:, t]] if t else 1.0) * (B[paths[:, t], output] if output >= 0 else 1.0)
    return paths, p


def model(seed: int, n: int = 3, m: int = 3, *, holes: bool = False):
    rng = np.random.default_rng(seed)
    A, B, pi = rng.dirichlet(np.ones(n), n), rng.dirichlet(np.ones(m), n), rng.dirichlet(np.ones(n))
    if holes:
        A[0, 1] = A[2, 0] = 0
        A /= A.sum(axis=1, keepdims=True)
    return A, pi, B


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sparse", [False, True])
def test_forward_backward_against_all_paths(seed, sparse):
    A, pi, B = model(seed, holes=sparse)
    y = np.array([[0, 2, 1, 1, 0], [2, 2, -1, 0, 1]])
    chain = Chain(csr_array(A) if sparse else A, Channel(B), pi)
    belief = table(HiddenMarkovAttack()(y, chain)).reshape(2, 5, 3)
    for user in range(2):
        paths, p = every_path(A, pi, B, y[user])
        for t in range(5):
            expected = np.bincount(paths[:, t], weights=p, minlength=3) / p.sum()
            np.testing.assert_allclose(belief[user, t], expected, atol=1e-6)
        assert chain.log_likelihood(y)[user] == pytest.approx(np.log(p.sum()), abs=1e-12)
        path_of_user = most_likely_path(y, chain, rng=np.random.default_rng(seed))[user]
        assert every_path(A, pi, B, y[user])[1].max() == pytest.approx(p[np.all(paths == path_of_user, axis=1)].item())


def test_filtering_is_smoothing_of_the_trace_so_far():
    A, pi, B = model(7)
    y = np.array([[0, 2, 1, 1, 0, 2]])
    online = table(HiddenMarkovAttack(online=True)(y, Chain(A, Channel(B), pi)))
    for t in range(6):
        so_far = table(HiddenMarkovAttack()(y[:, : t + 1], Chain(A, Channel(B), pi)))
        np.testing.assert_allclose(online[t], so_far[t], atol=1e-6)


def test_prior_of_the_belief_is_the_mean_over_steps():
    # E_y p(x given y) = prior: average the belief over all outputs, weighted by their probability
    A, pi, B = model(9, n=2, m=2)
    chain = Chain(A, Channel(B), pi)
    y = np.array(list(product(range(2), repeat=4)))
    weight = np.exp(chain.log_likelihood(y))
    assert weight.sum() == pytest.approx(1.0)
    belief = HiddenMarkovAttack()(y, chain)
    mean = (weight[:, None] * table(belief).reshape(16, 4, 2).mean(axis=1)).sum(axis=0)
    np.testing.assert_allclose(mean, np.exp(belief.log_prior), atol=1e-6)


def test_users_and_chunks_do_not_influence_each_other(monkeypatch):
    A, pi, B = model(4)
    y = np.random.default_rng(4).integers(0, 3, (7, 20))
    chain = Chain(A, Channel(B), pi)
    beliefs, path = table(HiddenMarkovAttack()(y, chain)), most_likely_path(y, chain, rng=np.random.default_rng(0))
    monkeypatch.setattr("unmask.channels.hidden_markov.BLOCK", 120)
    np.testing.assert_allclose(table(HiddenMarkovAttack()(y, chain)), beliefs, atol=1e-7)
    np.testing.assert_array_equal(most_likely_path(y, chain, rng=np.random.default_rng(0)), path)


def test_impossible_observation_names_user_and_step():
    ring = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=float)
    chain = Chain(ring, Channel(np.eye(3)))
    y = np.array([[0, 1, 2, 0], [0, 1, 0, 1]])
    assert np.isfinite(HiddenMarkovAttack()(y[:1], chain).log_probability).all()
    for use in (
        lambda y: HiddenMarkovAttack()(y, chain),
        chain.log_likelihood,
        chain.entropy_rate,
    ):
        with pytest.raises(UnmaskError, match="user 1 shows at step 2 is impossible"):
            use(y)
    with pytest.raises(UnmaskError, match="user 1 shows at step 2 is impossible"):
        most_likely_path(y, chain, rng=np.random.default_rng(0))
    with pytest.raises(UnmaskError, match="user 1 shows at step 2 is impossible"):
        HiddenMarkovAttack(online=True)(y, chain)


def test_an_output_that_no_state_shows_is_refused_at_the_first_step():
    chain = Chain(np.eye(2), Channel(np.array([[1.0, 0.0], [1.0, 0.0]])))
    with pytest.raises(UnmaskError, match="step 0"):
        HiddenMarkovAttack()(np.array([[1]]), chain)


def test_path_of_likeliest_states_may_be_impossible_and_viterbi_is_not():
    # 0 -> 0, 1 or 2; all others -> 3: states 0, then 3 are the likeliest of their steps, but 0 -> 3 never happens
    A = np.array([[1, 1, 1, 0], [0, 0, 0, 3], [0, 0, 0, 3], [0, 0, 0, 3]]) / 3
    pi = np.array([0.4, 0.32, 0.28, 0.0])
    chain = Chain(A, Channel(np.ones((4, 1))), pi)
    y = np.zeros((1, 2), dtype=int)
    likeliest = table(HiddenMarkovAttack()(y, chain)).argmax(axis=1)
    A_of_steps = A[likeliest[0], likeliest[1]]
    path = most_likely_path(y, chain, rng=np.random.default_rng(0))[0]
    paths, p = every_path(A, pi, np.ones((4, 1)), y[0])
    assert A_of_steps == 0
    assert A[path[0], path[1]] > 0
    np.testing.assert_array_equal(path, paths[p.argmax()])


def test_ties_between_paths_are_not_broken_by_number():
    chain = Chain(np.ones((3, 3)) / 3, Channel(np.ones((3, 1))))
    y = np.zeros((1, 4), dtype=int)
    result = {tuple(most_likely_path(y, chain, rng=np.random.default_rng(seed))[0]) for seed in range(30)}
    assert len({path[0] for path in result}) == 3


@pytest.mark.parametrize("online", [False, True])
def test_evidence_that_turns_after_underflow_is_not_lost(online):
    # a constant secret: 40 outputs say 0 with odds 1e10 each, then 41 say 1. Scaled numbers lose secret 1 at 1e-308.
    e = 1e-10
    attack, chain = HiddenMarkovAttack(online=online), Chain(np.eye(2), Channel(np.array([[1 - e, e], [e, 1 - e]])))
    even, odd = np.array([[0] * 40 + [1] * 40]), np.array([[0] * 40 + [1] * 41])
    np.testing.assert_allclose(table(attack(even, chain))[-1], [0.5, 0.5], atol=1e-6)
    np.testing.assert_allclose(table(attack(odd, chain))[-1], [1e-10, 1.0], rtol=1e-4)
    assert chain.log_likelihood(even)[0] == pytest.approx(40 * np.log(e) + 40 * np.log1p(-e))


def test_a_rare_state_needed_at_the_end_is_not_called_impossible():
    e = 1e-10
    mechanism = Channel(np.array([[1 - e, e, 0.0], [e, 0.5, 0.5 - e]]))
    chain = Chain(np.eye(2), mechanism)
    np.testing.assert_allclose(table(HiddenMarkovAttack()(np.array([[0] * 50 + [2]]), chain))[0], [0.0, 1.0])


def test_long_traces_neither_underflow_nor_drift():
    A, pi, B = model(1, n=4, m=6)
    chain = Chain(A, Channel(B), pi)
    rng = np.random.default_rng(1)
    belief = HiddenMarkovAttack()(rng.integers(0, 6, (2, 20_000)), chain)
    np.testing.assert_allclose(table(belief).sum(axis=1), 1.0, atol=1e-5)


def simulate(A, B, pi, users, steps, rng):
    x = np.empty((users, steps), dtype=np.int64)
    x[:, 0] = rng.choice(len(A), size=users, p=pi)
    for t in range(1, steps):
        x[:, t] = Channel(A).sample(x[:, t - 1], rng=rng)
    return x, Channel(B).sample(x, rng=rng)


def test_entropy_rate_of_a_chain_that_is_shown_openly():
    # two states, A = [[.9 .1] [.5 .5]]: entropy of one step 0.650 bits, entropy rate 0.557 bits
    A = np.array([[0.9, 0.1], [0.5, 0.5]])
    pi = np.array([5 / 6, 1 / 6])
    rng = np.random.default_rng(3)
    _, y = simulate(A, np.eye(2), pi, 50, 2000, rng)
    chain = Chain(A, Channel(np.eye(2)), pi)
    rate, rate_of_one = chain.entropy_rate(y), chain.entropy_rate(y[:1])
    assert rate.standard_error < 0.01
    assert abs(rate.bits_per_step - 0.5575) < 4 * rate.standard_error
    assert abs(rate_of_one.bits_per_step - 0.5575) < 4 * rate_of_one.standard_error
    assert rate.bits_per_step + 4 * rate.standard_error < 0.650


def test_smoothing_is_calibrated_and_better_than_looking_at_each_step_alone():
    A = np.array([[0.95, 0.05], [0.05, 0.95]])
    B = np.array([[0.7, 0.3], [0.3, 0.7]])
    pi = np.array([0.5, 0.5])
    x, y = simulate(A, B, pi, 100, 200, np.random.default_rng(5))
    belief = table(HiddenMarkovAttack()(y, Chain(A, Channel(B), pi)))
    probability_of_truth = belief[np.arange(x.size), x.ravel()]
    expected = (belief**2).sum(axis=1)
    # 100 independent users of 200 correlated steps: the mean over users has a standard error of about 0.006
    assert probability_of_truth.mean() == pytest.approx(expected.mean(), abs=0.025)
    assert np.mean(belief.argmax(axis=1) == x.ravel()) > np.mean(y == x) + 0.1


def test_same_numbers_in_another_order_of_states():
    A, pi, B = model(11)
    y = np.array([[0, 1, 2, 2]])
    order = np.array([2, 0, 1])
    plain = table(HiddenMarkovAttack()(y, Chain(A, Channel(B), pi)))
    shuffled = table(HiddenMarkovAttack()(y, Chain(A[np.ix_(order, order)], Channel(B[order]), pi[order])))
    np.testing.assert_allclose(shuffled, plain[:, order], atol=1e-7)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"transition": np.eye(2)}, "expected a row and a column for each of the 3 secrets"),
        ({"transition": np.full((3, 3), 0.4)}, "row 0"),
        ({"initial": np.array([0.5, 0.2, 0.2])}, "prior"),
    ],
)
def test_wrong_models_are_refused(change, message):
    parameters = {"transition": np.eye(3), "mechanism": Channel(np.eye(3)), **change}
    with pytest.raises(UnmaskError, match=message):
        Chain(**parameters)


def test_wrong_traces_are_refused():
    chain = Chain(np.eye(3), Channel(np.eye(3)))
    with pytest.raises(UnmaskError, match="user 1 shows at step 0"):
        HiddenMarkovAttack()(np.array([[0, 0], [3, 0]]), chain)
    with pytest.raises(UnmaskError, match="shape"):
        HiddenMarkovAttack()(np.array([0, 1]), chain)
    with pytest.raises(UnmaskError, match="nothing was seen"):
        chain.entropy_rate(np.array([[-1, -1]]))
