"""Optimal channels against closed forms, against each other, and against their own certificates."""

import importlib.util

import numpy as np
import pytest
from scipy.special import xlogy

from unmask.channels.design import (
    coin_channel,
    constant_risk_channel,
    matched_optimum,
    optimal_mechanism,
    private_rate_distortion,
    rate_distortion,
)
from unmask.core.errors import UnmaskError


def entropy(p):
    return float(-xlogy(p, p).sum())


def binary_entropy(q):
    return entropy(np.array([q, 1 - q]))


def hamming(n):
    return 1.0 - np.eye(n)


def planar(rng, n):
    points = rng.random((n, 2))
    return np.sqrt(((points[:, None] - points) ** 2).sum(axis=-1))


def information(joint):
    """I(X;Y) in nats as H(X) + H(Y) - H(X, Y): another formula than the library's."""
    return entropy(joint.sum(axis=1)) + entropy(joint.sum(axis=0)) - entropy(joint.ravel())


def risks(prior, loss, channel):
    """The adversary's risk at each output in use, and p(y) of these."""
    joint = prior[:, None] * channel.dense()
    p_y = joint.sum(axis=0)
    used = p_y > 0
    return (loss @ joint).min(axis=0)[used] / p_y[used], p_y[used]


def spent(prior, distortion, channel):
    return float((prior[:, None] * channel.dense() * distortion).sum())


# --- rate-distortion ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.5, 0.3])
@pytest.mark.parametrize("target", [1e-6, 0.01, 0.1, 0.25])
def test_bernoulli_hamming_is_the_textbook_curve(p, target):
    # Cover and Thomas, "Elements of information theory", theorem 10.3.1: R(D) = h(p) - h(D)
    curve = rate_distortion([p, 1 - p], hamming(2), distortion=target)
    assert curve.rate[0] == pytest.approx(binary_entropy(p) - binary_entropy(target), abs=1e-6)
    assert curve.distortion[0] == pytest.approx(target, abs=1e-12)
    assert 0 <= curve.gap[0] <= 1e-6


@pytest.mark.parametrize("n", [2, 3, 7])
def test_slopes_of_a_uniform_source_under_hamming(n):
    # R(D) = ln n - h(D) - D ln(n - 1) has slope -s at D = (n - 1) / (n - 1 + e^s)
    slopes = np.array([0.5, 1.0, 3.0])
    curve = rate_distortion(np.full(n, 1 / n), hamming(n), slopes=slopes, gap=1e-10)
    expected = (n - 1) / (n - 1 + np.exp(slopes))
    np.testing.assert_allclose(curve.distortion, expected, atol=1e-9)
    rate = [np.log(n) - binary_entropy(d) - d * np.log(n - 1) for d in expected]
    np.testing.assert_allclose(curve.rate, rate, atol=1e-9)


def test_gaussian_source_with_squared_error():
    # Cover and Thomas, theorem 10.3.2: R(D) = ln(sigma^2 / D) / 2; on a grid of step 0.05 out to 6 sigma
    x = np.arange(-6, 6.01, 0.05)
    p = np.exp(-(x**2) / 2)
    p /= p.sum()
    targets = np.array([0.1, 0.3, 0.7])
    curve = rate_distortion(p, (x[:, None] - x) ** 2, distortion=targets)
    np.testing.assert_allclose(curve.rate, -np.log(targets) / 2, atol=5e-4)
    assert np.all(curve.gap <= 1e-6)


def test_a_gap_is_an_upper_bound_of_what_is_missing():
    rng = np.random.default_rng(1)
    for n, m in ((6, 4), (15, 30), (40, 40)):
        p, d, slopes = rng.dirichlet(np.ones(n)), rng.random((n, m)), [0.3, 3.0, 30.0]
        optimum = rate_distortion(p, d, slopes=slopes, gap=1e-11)
        exact = optimum.rate + slopes * optimum.distortion
        for gap in (1e-1, 1e-2, 1e-4, 1e-7):
            rough = rate_distortion(p, d, slopes=slopes, gap=gap)
            missing = rough.rate + slopes * rough.distortion - exact
            assert np.all(missing >= -1e-10)
            assert np.all(missing <= rough.gap + 1e-10)
            assert np.all(rough.gap <= gap)
    assert rate_distortion(p, d, slopes=slopes, gap=1e-1).gap.max() > 1e-4  # and it does not always run to the end


def test_a_gap_at_a_distortion_bounds_it_too():
    rng = np.random.default_rng(2)
    p, d = rng.dirichlet(np.ones(12)), rng.random((12, 12))
    least_distortion = float(p @ d.min(axis=1))
    targets = least_distortion + (float((p @ d).min()) - least_distortion) * np.array([0.0, 0.01, 0.4, 0.9])
    rough, exact = (rate_distortion(p, d, distortion=targets, gap=gap) for gap in (1e-3, 1e-10))
    np.testing.assert_allclose(exact.distortion, targets, atol=1e-12)
    assert np.all(rough.rate - exact.rate <= rough.gap + 1e-10)
    assert np.all(exact.gap <= 1e-10)


def test_the_numbers_are_those_of_the_channel():
    rng = np.random.default_rng(3)
    p, d = rng.dirichlet(np.ones(9)), rng.random((9, 5))
    curve = rate_distortion(p, d, slopes=4.0)
    assert curve.rate[0] == pytest.approx(information(curve.rules[0].joint()), abs=1e-12)
    assert curve.distortion[0] == pytest.approx(spent(p, d, curve.rules[0]), abs=1e-12)


def test_the_ends_of_the_curve():
    p, d = np.array([0.2, 0.5, 0.3]), hamming(3)
    curve = rate_distortion(p, d, distortion=[0.0, 0.5, 2.0])
    np.testing.assert_allclose(curve.rate, [entropy(p), 0.0, 0.0], atol=1e-12)
    assert curve.distortion[2] <= 0.5  # no more than a constant needs


def test_a_secret_of_prior_0_and_an_unused_output():
    d = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 9.0], [5.0, 0.0, 9.0]])
    curve = rate_distortion([0.5, 0.5, 0.0], d, distortion=0.1)
    assert curve.rate[0] == pytest.approx(np.log(2) - binary_entropy(0.1), abs=1e-6)
    assert curve.rules[0].p_y[2] < 1e-6


# --- problem (9) -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("flip", [0.1, 0.25])
def test_binary_secret_behind_a_symmetric_channel(flip, target):
    # closed form: I = ln 2 - h(a * D), a * D = a (1 - D) + D (1 - a)
    joint = np.array([[1 - flip, flip], [flip, 1 - flip]]) / 2
    curve = private_rate_distortion(joint, hamming(2), distortion=target)
    star = flip * (1 - target) + target * (1 - flip)
    assert curve.rate[0] == pytest.approx(np.log(2) - binary_entropy(star), abs=1e-6)
    assert curve.distortion[0] <= target + 1e-12
    assert curve.gap[0] <= 1e-6


def test_gaussian_secret_that_correlates_with_what_is_released():
    # scalar Gaussians of correlation rho: I = -ln(1 - rho^2 (1 - D / sigma^2)) / 2
    rho, target, x = 0.8, 0.3, np.linspace(-4, 4, 33)
    joint = np.exp(-(x[:, None] ** 2 - 2 * rho * x[:, None] * x + x**2) / (2 * (1 - rho**2)))
    joint /= joint.sum()
    variance = float(joint.sum(axis=0) @ x**2)
    curve = private_rate_distortion(joint, (x[:, None] - x) ** 2, distortion=target * variance, gap=1e-4)
    assert curve.rate[0] == pytest.approx(-np.log(1 - rho**2 * (1 - target)) / 2, abs=3e-3)
    assert curve.gap[0] <= 1e-4


def test_perturbing_the_secret_itself_is_rate_distortion():
    rng = np.random.default_rng(4)
    p, d, slopes = rng.dirichlet(np.ones(15)), rng.random((15, 12)), np.array([1.0, 5.0, 20.0])
    plain = rate_distortion(p, d, slopes=slopes, gap=1e-9)
    private = private_rate_distortion(np.diag(p), d, slopes=slopes, gap=1e-7)
    excess = private.rate + slopes * private.distortion - plain.rate - slopes * plain.distortion
    assert np.all(np.abs(excess) <= 1.1e-7)


def test_private_gaps_bound_what_is_missing():
    rng = np.random.default_rng(5)
    joint, d, slopes = rng.dirichlet(np.ones(120)).reshape(12, 10), rng.random((10, 8)), np.array([0.1, 0.5, 2.0])
    optimum = private_rate_distortion(joint, d, slopes=slopes, gap=1e-9)
    for gap in (1e-2, 1e-4, 1e-6):
        rough = private_rate_distortion(joint, d, slopes=slopes, gap=gap)
        missing = rough.rate + slopes * rough.distortion - optimum.rate - slopes * optimum.distortion
        assert np.all(missing >= -1e-9)
        assert np.all(missing <= rough.gap + 1e-9)
        assert np.all(rough.gap <= gap)


def test_the_leak_is_the_rule_after_the_joint():
    rng = np.random.default_rng(6)
    joint, d = rng.dirichlet(np.ones(20)).reshape(4, 5), rng.random((5, 5))
    curve = private_rate_distortion(joint, d, slopes=1.0)
    assert curve.rate[0] == pytest.approx(information(joint @ curve.rules[0].dense()), abs=1e-12)
    assert curve.rate[0] == pytest.approx(information(curve.leaks[0].joint()), abs=1e-12)
    assert curve.distortion[0] == pytest.approx(spent(joint.sum(axis=0), d, curve.rules[0]), abs=1e-12)


def test_rate_distortion_on_what_is_released_leaks_more():
    rng = np.random.default_rng(7)
    joint, d = rng.dirichlet(np.full(120, 0.3)).reshape(12, 10), hamming(10)
    naive = rate_distortion(joint.sum(axis=0), d, distortion=0.4)
    right_curve = private_rate_distortion(joint, d, distortion=0.4)
    assert information(joint @ naive.rules[0].dense()) > 1.1 * right_curve.rate[0]


def test_a_publisher_who_sees_the_secret_does_no_worse():
    rng = np.random.default_rng(8)
    joint, d = rng.dirichlet(np.ones(20)).reshape(4, 5), hamming(5)
    seen_by_one = private_rate_distortion(joint, d, distortion=0.1)
    seen_by_both = private_rate_distortion(joint, d, distortion=0.1, sees="both")
    assert seen_by_both.rate[0] < 0.9 * seen_by_one.rate[0]
    assert seen_by_both.rules[0].n_x == 20
    pairs = joint.ravel()[:, None] * seen_by_both.rules[0].dense()
    assert float((pairs * np.tile(d, (4, 1))).sum()) == pytest.approx(0.1, abs=1e-9)
    assert information(pairs.reshape(4, 5, 5).sum(axis=1)) == pytest.approx(seen_by_both.rate[0], abs=1e-12)


def test_an_adversary_who_sees_the_output_through_noise():
    # the symmetric channels a, D and b in a row: I = ln 2 - h(a * D * b)
    a, b, target = 0.1, 0.2, 0.15
    joint = np.array([[1 - a, a], [a, 1 - a]]) / 2
    noise = np.array([[1 - b, b], [b, 1 - b]])
    curve = private_rate_distortion(joint, hamming(2), distortion=target, observation=noise)
    star = a * (1 - target) + target * (1 - a)
    star = star * (1 - b) + b * (1 - star)
    assert curve.rate[0] == pytest.approx(np.log(2) - binary_entropy(star), abs=1e-6)


def test_a_released_value_that_decides_the_secret():
    # X = parity of X' in 0..3, d = 0 within {0, 1} and {2, 3}: hiding the parity costs nothing
    joint = np.array([[1, 0, 1, 0], [0, 1, 0, 1]]) / 4
    d = np.kron(1 - np.eye(2), np.ones((2, 2)))
    curve = private_rate_distortion(joint, d, distortion=[0.0, 0.2])
    np.testing.assert_allclose(curve.rate, 0.0, atol=1e-6)


@pytest.mark.skipif(importlib.util.find_spec("cvxpy") is None, reason="needs cvxpy, the conic oracle")
def test_problem_9_against_a_conic_solver():
    import cvxpy as cp

    rng = np.random.default_rng(9)
    joint, d = rng.dirichlet(np.ones(30)).reshape(5, 6), rng.random((6, 6))
    W = cp.Variable((6, 6), nonneg=True)
    leak = joint @ W
    independent = cp.reshape(joint.sum(axis=1), (5, 1), order="C") @ cp.sum(leak, axis=0, keepdims=True)
    budget = cp.sum(cp.multiply(joint.sum(axis=0)[:, None] * d, W)) <= 0.15
    problem = cp.Problem(cp.Minimize(cp.sum(cp.rel_entr(leak, independent))), [cp.sum(W, axis=1) == 1, budget])
    problem.solve(solver="CLARABEL")
    assert private_rate_distortion(joint, d, distortion=0.15).rate[0] == pytest.approx(problem.value, abs=2e-6)


# --- matched losses ----------------------------------------------------------------------------------------


def matched_cases():
    rng = np.random.default_rng(10)
    for case in range(240):
        n = int(rng.integers(2, 30))
        prior = rng.dirichlet(np.full(n, rng.choice([0.1, 1.0, 10.0])))
        distance = planar(rng, n)
        loss = (hamming(n), distance, distance**2, rng.random((n, n)) * hamming(n))[case % 4]
        yield prior, loss, float(rng.uniform(0, 1.1) * (loss @ prior).min())


def test_constant_risk_at_each_output_240_cases():
    for prior, loss, level in matched_cases():
        channel = constant_risk_channel(prior, loss, level)
        optimum = matched_optimum(prior, loss, level)
        assert optimum == pytest.approx(min(level, (loss @ prior).min()), abs=1e-15)
        at_output, _ = risks(prior, loss, channel)
        np.testing.assert_allclose(at_output, optimum, rtol=0, atol=1e-12)
        assert spent(prior, loss.T, channel) == pytest.approx(optimum, abs=1e-12)
        np.testing.assert_allclose(channel.dense().sum(axis=1), 1.0, atol=1e-12)


def test_the_coin_reaches_the_average_and_nothing_in_the_worst_case():
    for prior, loss, level in matched_cases():
        channel = coin_channel(prior, loss, level)
        at_output, p_y = risks(prior, loss, channel)
        assert at_output @ p_y == pytest.approx(matched_optimum(prior, loss, level), abs=1e-12)
        assert spent(prior, loss.T, channel) <= level + 1e-12
        if level < 0.99 * (loss @ prior).min() and prior.min() > 1e-6:
            assert at_output.min() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("level", [0.0, 1e-12, 1e-6])
def test_constant_risk_near_0(level):
    rng = np.random.default_rng(11)
    prior, loss = rng.dirichlet(np.ones(8)), planar(rng, 8)
    at_output, _ = risks(prior, loss, constant_risk_channel(prior, loss, level))
    np.testing.assert_allclose(at_output, level, rtol=0, atol=1e-14)


def test_constant_risk_leaves_out_a_secret_of_prior_0():
    channel = constant_risk_channel([0.6, 0.0, 0.4], hamming(3), 0.2)
    at_output, _ = risks(np.array([0.6, 0.0, 0.4]), hamming(3), channel)
    np.testing.assert_allclose(at_output, 0.2, atol=1e-14)


@pytest.mark.parametrize("method", ["full", "cuts"])
@pytest.mark.parametrize("kind", ["hamming", "euclidean", "squared", "any"])
def test_matched_losses_by_linear_program(kind, method):
    # both parts of the theorem: the average is min(D, R0), and the worst case reaches it too
    rng = np.random.default_rng(12)
    n = 5
    prior, distance = rng.dirichlet(np.ones(n)), planar(rng, n)
    loss = {
        "hamming": hamming(n),
        "euclidean": distance,
        "squared": distance**2,
        "any": rng.random((n, n)) * hamming(n),
    }[kind]
    for share in (0.3, 0.8, 1.2):
        budget = float(share * (loss @ prior).min())
        mechanism = optimal_mechanism(prior, loss, loss.T, budget, method=method)
        optimum = matched_optimum(prior, loss, budget)
        assert mechanism.privacy == pytest.approx(optimum, abs=1e-8)
        assert mechanism.worst == pytest.approx(optimum, abs=2e-6)
        assert optimal_mechanism(prior, loss, loss.T, budget).method == "closed form"


# --- linear programs ---------------------------------------------------------------------------------------


def mismatched(n, *, seed, share=0.25):
    rng = np.random.default_rng(seed)
    distance, prior = planar(rng, n), rng.dirichlet(np.ones(n))
    return prior, distance, distance**2, float(share * (prior @ distance**2).min())


CONSTRAINTS = [
    {},
    {"worst_case": 0.12},
    {"epsilon": 4.5},
    {"delta": 2.5},
    {"epsilon": 5.0, "delta": 2.5, "worst_case": 0.1},
]


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
def test_cuts_find_what_the_whole_program_finds(constraints):
    problem = mismatched(14, seed=13, share=0.35)
    full, cut = (optimal_mechanism(*problem, method=method, **constraints) for method in ("full", "cuts"))
    assert (full.method, cut.method) == ("full", "cuts")
    assert cut.privacy == pytest.approx(full.privacy, abs=1e-8)
    assert cut.worst == pytest.approx(full.worst, abs=3e-6)
    assert max(full.gap, cut.gap) <= 1e-8


@pytest.mark.parametrize("method", ["full", "cuts"])
@pytest.mark.parametrize("objective", ["average", "worst"])
@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
def test_constraints_hold_in_the_channel(constraints, objective, method):
    prior, loss, distortion, budget = problem = mismatched(14, seed=13, share=0.35)
    mechanism = optimal_mechanism(*problem, objective=objective, method=method, **constraints)
    at_output, p_y = risks(prior, loss, mechanism.channel)
    used = mechanism.channel.dense()[:, mechanism.channel.p_y > 0]
    assert spent(prior, distortion, mechanism.channel) <= budget + 1e-9
    assert at_output.min() >= constraints.get("worst_case", 0.0) - 1e-9
    if "epsilon" in constraints:
        assert np.log(used.max(axis=0) / used.min(axis=0)).max() <= constraints["epsilon"] + 1e-9
    if "delta" in constraints:
        assert np.abs(np.log(used / p_y)).max() <= constraints["delta"] + 1e-9
    assert mechanism.privacy == pytest.approx(at_output @ p_y, abs=1e-12)
    assert mechanism.worst == pytest.approx(at_output.min(), abs=1e-12)
    assert mechanism.distortion == pytest.approx(spent(prior, distortion, mechanism.channel), abs=1e-12)
    assert mechanism.leakage == pytest.approx(information(mechanism.channel.joint()), abs=1e-10)


def test_constraints_cost_something():
    problem = mismatched(14, seed=13, share=0.35)
    free = optimal_mechanism(*problem).privacy
    assert optimal_mechanism(*problem, epsilon=4.5).privacy < free - 1e-3
    assert optimal_mechanism(*problem, delta=2.5).privacy < free - 1e-3


def test_the_two_objectives_differ_and_order():
    problem = mismatched(20, seed=0)
    average, worst = (optimal_mechanism(*problem, objective=objective) for objective in ("average", "worst"))
    assert average.privacy > worst.privacy + 1e-3
    assert worst.worst > average.worst + 1e-3
    # a floor above the largest worst case is infeasible, one below it is not
    optimal_mechanism(*problem, worst_case=worst.worst - 2e-6)
    with pytest.raises(UnmaskError, match="the budget is"):
        optimal_mechanism(*problem, worst_case=worst.worst + 2e-6)


def test_more_budget_never_hurts_and_enough_gives_the_prior_risk():
    prior, loss, distortion, _ = mismatched(10, seed=14)
    constant = float((prior @ distortion).min())
    privacy = [optimal_mechanism(prior, loss, distortion, share * constant).privacy for share in (0.0, 0.3, 0.7, 1.5)]
    assert np.all(np.diff(privacy) > 1e-3)
    assert privacy[0] == pytest.approx(0.0, abs=1e-9)
    assert privacy[-1] == pytest.approx(float((loss @ prior).min()), abs=1e-8)


@pytest.mark.parametrize("method", ["full", "cuts"])
def test_randomized_response_is_the_cheapest_private_channel(method):
    # Kairouz, Oh and Viswanath, "Extremal mechanisms for local differential privacy", 2016: uniform prior, Hamming
    n, epsilon = 5, 1.3
    error_rate = (n - 1) / (n - 1 + np.exp(epsilon))
    prior, loss = np.full(n, 1 / n), hamming(n)
    mechanism = optimal_mechanism(prior, loss, loss, error_rate, epsilon=epsilon, method=method)
    response = np.where(np.eye(n) > 0, 1 - error_rate, error_rate / (n - 1))
    np.testing.assert_allclose(mechanism.channel.dense(), response, atol=1e-7)
    assert mechanism.privacy == pytest.approx(error_rate, abs=1e-8)
    with pytest.raises(UnmaskError, match=f"expected at least {error_rate:.6f}"):
        optimal_mechanism(prior, loss, loss, error_rate - 1e-3, epsilon=epsilon, method=method)


def test_alphabets_of_three_sizes():
    rng = np.random.default_rng(15)
    prior, loss, distortion = rng.dirichlet(np.ones(6)), rng.random((4, 6)), rng.random((6, 9))
    budget = float(0.5 * (prior @ distortion.min(axis=1)) + 0.5 * (prior @ distortion).min())
    full, cut = (optimal_mechanism(prior, loss, distortion, budget, method=method) for method in ("full", "cuts"))
    assert full.channel.dense().shape == (6, 9)
    assert cut.privacy == pytest.approx(full.privacy, abs=1e-8)


def test_a_bound_from_the_optimum_is_not_passed_by_chance():
    prior, loss, distortion, budget = mismatched(8, seed=16)
    mechanism = optimal_mechanism(prior, loss, distortion, budget)
    rng, highest = np.random.default_rng(17), 0.0
    for _ in range(2000):
        rule = np.exp(-rng.uniform(5, 60) * distortion * rng.uniform(0.5, 2.0, distortion.shape))
        rule /= rule.sum(axis=1, keepdims=True)
        if (prior[:, None] * rule * distortion).sum() <= budget:
            highest = max(highest, float((loss @ (prior[:, None] * rule)).min(axis=0).sum()))
    assert 0.5 * mechanism.privacy < highest <= mechanism.privacy + mechanism.gap


# --- refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: rate_distortion([0.5, 0.6], hamming(2), slopes=1.0), "not a distribution"),
        (lambda: rate_distortion([0.5, 0.5], hamming(3), slopes=1.0), r"shape \(3, 3\), expected 2 x any"),
        (lambda: rate_distortion([0.5, 0.5], -hamming(2), slopes=1.0), "negative or infinite"),
        (lambda: rate_distortion([0.5, 0.5], hamming(2)), "either slopes or distortion"),
        (lambda: rate_distortion([0.5, 0.5], hamming(2), slopes=-1.0), "a slope is missing, negative or infinite"),
        (lambda: rate_distortion([0.5, 0.5], hamming(2) + 1, distortion=0.9), "expected at least 1,"),
        (lambda: rate_distortion([0.5, 0.5], hamming(2), slopes=1.0, gap=0.0), "gap"),
        (lambda: private_rate_distortion([[0.5, 0.5], [0, 0]], hamming(2), slopes=1.0), "secret 1"),
        (lambda: private_rate_distortion(np.eye(2) / 2, hamming(2), slopes=1.0, sees="all"), "'released' or 'both'"),
        (lambda: private_rate_distortion(np.eye(2) / 2, hamming(2), slopes=1.0, observation=np.eye(3)), "3 rows"),
        (lambda: matched_optimum([0.5, 0.5], np.ones((2, 2)), 0.1), "right answer 0 is not 0"),
        (lambda: constant_risk_channel([0.5, 0.5], hamming(2), -0.1), "expected at least 0"),
        (lambda: constant_risk_channel([0.5, 0.5], hamming(2), np.nan), "expected at least 0"),
        (lambda: optimal_mechanism([0.5, 0.5], hamming(2), hamming(2), 0.1, worst_case=0.6), "worst_case is 0.6"),
        (lambda: optimal_mechanism([0.5, 0.5], hamming(2), hamming(2), np.nan), "budget is nan"),
        (lambda: optimal_mechanism([0.5, 0.5], hamming(2), hamming(2) + 1, 0.5), "expected at least 1,"),
        (lambda: optimal_mechanism([0.5, 0.5], hamming(2), hamming(2), 0.1, epsilon=0.0), "expected at least 0.5,"),
        (lambda: optimal_mechanism([0.5, 0.5], hamming(2), hamming(2), 0.1, method="simplex"), "'auto', 'full' or"),
    ],
)
def test_refused(call, says):
    with pytest.raises(UnmaskError, match=says):
        call()
