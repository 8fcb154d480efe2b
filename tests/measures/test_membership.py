"""Measures of membership against loops over all pairs, exact fractions, and mechanisms whose epsilon is known."""

from fractions import Fraction
from math import comb, exp

import numpy as np
import pytest

from unmask import Posterior, Truth, UnmaskError
from unmask.core.posterior import log_odds
from unmask.measures.interval import clopper_pearson
from unmask.measures.membership import (
    RATES,
    area,
    classify_members,
    count_right_guesses,
    epsilon_of_guesses,
    evaluate_membership,
    true_positive_rate,
)
from unmask.measures.registry import described


def scores(seed, n=40, m=30, levels=12):
    rng = np.random.default_rng(seed)
    return rng.integers(2, levels, n).astype(float), rng.integers(0, levels - 3, m).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_the_area_is_the_share_of_pairs(seed):
    members, control = scores(seed)
    pairs = [(a > b) + 0.5 * (a == b) for a in members for b in control]
    value, interval = area(members, control)
    assert value == pytest.approx(np.mean(pairs))
    grid = np.reshape(pairs, (len(members), len(control)))
    variance = grid.mean(axis=1).var(ddof=1) / len(members) + grid.mean(axis=0).var(ddof=1) / len(control)
    assert interval.high - value == pytest.approx(1.959964 * variance**0.5, rel=1e-5)


def test_distinguishing_all_people_still_leaves_doubt():
    value, interval = area(np.arange(5.0, 10), np.arange(5.0))
    assert value == interval.high == 1
    assert interval.low < 0.6


def test_delongs_interval_covers():
    rng = np.random.default_rng(0)
    truth, hits = 0.7602, 0  # P(N(1, 1) > N(0, 1)) = Phi(1 / sqrt 2)
    for _ in range(500):
        _, (low, high, _) = area(rng.normal(1, 1, 60), rng.normal(0, 1, 90))
        hits += low <= truth <= high
    assert 0.92 < hits / 500 < 0.98


@pytest.mark.parametrize("fpr", [0.1, 0.2, 0.5, 0.99])
@pytest.mark.parametrize("seed", range(3))
def test_the_rule_that_is_applied_to_members_tells_as_many_control_people_as_it_says(seed, fpr):
    members, control = scores(seed)
    assert classify_members(control, control, fpr).mean() == pytest.approx(fpr)
    told_of = dict(zip(members, classify_members(members, control, fpr), strict=True))
    between = [score for score, value in told_of.items() if 0 < value < 1]
    assert len(between) <= 1
    assert all(value == (score > max(between)) for score, value in told_of.items() if between and score not in between)


@pytest.mark.parametrize("fpr", RATES)
def test_random_guesses_are_right_as_often_as_wrong(fpr):
    assert classify_members(np.zeros(7), np.zeros(1000), fpr) == pytest.approx(np.full(7, fpr))


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 7), (5, 5), (1, 40)])
def test_clopper_and_pearson_in_exact_fractions(k, n):
    def at_least(rate, count):
        p = Fraction(rate).limit_denominator(10**12)
        return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(count, n + 1))

    low, high = clopper_pearson(k, n)
    assert (k == 0) == (low == 0)
    assert (k == n) == (high == 1)
    if k:
        assert float(at_least(low, k)) == pytest.approx(0.025, rel=1e-6)
    if k < n:
        assert float(1 - at_least(high, k + 1)) == pytest.approx(0.025, rel=1e-6)
    assert clopper_pearson(k + 0.5 if k < n else k - 0.5, n)[0] <= low or k == n


def explained(n_right, guesses, epsilon, delta, canaries):
    p = exp(epsilon) / (1 + exp(epsilon))
    tail = [
        sum(comb(guesses, i) * p**i * (1 - p) ** (guesses - i) for i in range(v, guesses + 1))
        for v in range(n_right + 1)
    ]
    slack = max((tail[n_right - i] - tail[n_right]) / i for i in range(1, n_right + 1))
    return tail[n_right] + 2 * canaries * delta * slack


@pytest.mark.parametrize(
    ("n_right", "guesses", "delta"), [(40, 50, 0.0), (18, 20, 1e-3), (30, 30, 1e-4), (100, 100, 0.0)]
)
def test_epsilon_is_the_largest_that_does_not_explain_it(n_right, guesses, delta):
    result = epsilon_of_guesses(n_right, guesses, delta=delta, canaries=60)
    assert explained(n_right, guesses, result - 1e-4, delta, 60) < 0.05
    assert explained(n_right, guesses, result + 1e-4, delta, 60) > 0.05


def test_epsilon_of_guesses_as_published_and_where_chance_explains_it():
    assert epsilon_of_guesses(100, 100) == pytest.approx(3.493, abs=5e-4)
    assert epsilon_of_guesses(90, 100) == pytest.approx(1.631, abs=5e-4)
    assert epsilon_of_guesses(0, 0) == epsilon_of_guesses(0, 10) == epsilon_of_guesses(6, 10) == 0


@pytest.mark.parametrize(
    ("epsilon", "m", "median"), [(1, 1000, 0.886), (1, 10_000, 0.962), (4, 1000, 3.648), (4, 10_000, 3.874)]
)
def test_randomized_response_is_never_rated_above_its_epsilon(epsilon, m, median):
    rng = np.random.default_rng(0)
    n_right = rng.binomial(m, exp(epsilon) / (1 + exp(epsilon)), 200)
    result = np.array([epsilon_of_guesses(int(count), m) for count in n_right])
    assert np.median(result) == pytest.approx(median, abs=0.05)  # at epsilon 4 one guess of 1,000 is as much
    assert np.mean(result > epsilon) <= 0.1


def test_the_surest_guesses():
    members, control = np.array([9.0, 8, 7, 6, 5, 1]), np.array([8.5, 4.0, 3.0, 2.0])
    assert count_right_guesses(members, control) == (1, 2)  # 9 is in, and 1 is said to be out
    assert count_right_guesses(np.zeros(50), np.zeros(50)) == (0, 20)
    assert count_right_guesses(np.ones(50), np.zeros(50)) == (20, 20)


def belief_of(members, control):
    p = 1 / (1 + np.exp(-np.concatenate([members, control])))
    truth = Truth(np.repeat([0, 1], [len(members), len(control)]))
    return Posterior.from_dense(np.stack([p, 1 - p], axis=1), status="scores"), truth


def test_the_rows():
    rng = np.random.default_rng(0)
    members, control = rng.normal(1, 1, 400), rng.normal(0, 1, 600)
    belief, truth = belief_of(members, control)
    assert log_odds(belief) == pytest.approx(np.concatenate([members, control]), abs=1e-9)
    result = {row.measure: row for row in evaluate_membership(belief, truth).rows}
    assert result["membership_auc"].posterior == pytest.approx(area(members, control)[0])
    assert result["membership_auc"].prior == 0.5
    rate = result["true_positive_rate_at_0.1"]
    assert rate.posterior == np.mean(members > np.sort(control)[::-1][60])
    assert (rate.low, rate.high) == pytest.approx(clopper_pearson(rate.posterior * 400, 400))
    assert result["epsilon_at_least"].posterior == epsilon_of_guesses(*count_right_guesses(members, control)) > 0
    assert evaluate_membership(belief, truth).not_run == (
        ("true_positive_rate_at_0.001", "a control group of 600 is too small, 5,000 are needed"),
    )


def test_random_guesses_show_no_leakage():
    for row in evaluate_membership(*belief_of(np.zeros(500), np.zeros(500))).rows:
        assert row.posterior == pytest.approx(row.prior)


def test_those_whose_truth_is_not_known_take_no_part():
    belief, truth = belief_of(np.arange(4.0), np.arange(3.0))
    unknown = Truth(np.where(np.arange(7) == 3, -1, truth.candidate))
    assert evaluate_membership(belief, unknown).rows[0].n == 3
    with pytest.raises(UnmaskError, match="0 control-group people"):
        evaluate_membership(belief, Truth(np.zeros(7, int)))
    with pytest.raises(UnmaskError, match="3 candidates"):
        log_odds(Posterior.from_dense(np.eye(3)))


def test_their_names_are_known():
    for name in ("membership_auc", "epsilon_at_least", "true_positive_rate_at_0.01", "true_positive_rate_at_0.2"):
        assert described(name).name == name
        assert described(name).needs_truth
    assert true_positive_rate(0.001).name == "true_positive_rate_at_0.001"
