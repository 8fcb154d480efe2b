"""Profiles, Bayes risks and trade-off curves: three faces of one function, against closed forms and enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from unmask import Posterior, UnmaskError
from unmask.measures.differential import (
    approximate,
    channel,
    channel_epsilon,
    gaussian,
    laplace,
    pair,
    posterior_bound,
)
from unmask.measures.error import bayes

PRIORS = np.array([0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.95])


@st.composite
def pairs(draw):
    n = draw(st.integers(2, 6))
    table = np.random.default_rng(draw(st.integers(0, 10_000))).dirichlet(np.full(n, 0.7), 2)
    table = np.where(table < 0.03, 0.0, table)
    return table / table.sum(axis=1, keepdims=True)


@settings(max_examples=100, deadline=None)
@given(pairs())
def test_the_profile_is_the_bayes_risk_of_the_two_worlds(table):
    p, q = table
    for prior in PRIORS:
        joint = np.stack([prior * p, (1 - prior) * q], axis=1)
        joint = joint[joint.sum(axis=1) > 0]
        weight = joint.sum(axis=1)
        belief = Posterior.from_dense(
            joint / weight[:, None], prior=np.array([prior, 1 - prior]), weight=weight / weight.sum()
        )
        assert pair(p, q).bayes_risk(prior) == pytest.approx(np.minimum(prior * p, (1 - prior) * q).sum(), abs=1e-12)
        assert pair(p, q).bayes_risk(prior) == pytest.approx(bayes(belief).average, abs=2e-6)


def test_the_warning_number():
    # spec 2.6: Gaussian mu = 1.3 at pi = 0.01, checked there against dp-accounting
    assert gaussian(1.3).bayes_risk(0.01) == pytest.approx(0.009995, abs=5e-7)
    assert gaussian(1.3).regret_ratio(0.01) < 0.001
    # ... and yet at 1 % false alarms 15 % of those who are there are caught
    assert gaussian(1.3).true_positive_rate(0.01) == pytest.approx(norm.cdf(norm.ppf(0.01) + 1.3), abs=1e-9)
    assert gaussian(1.3).true_positive_rate(0.01) == pytest.approx(0.152, abs=1e-3)


@pytest.mark.parametrize("mu", [0.1, 1.3, 5.0])
def test_gaussian_and_laplace_profiles_equal_the_integral(mu):
    for epsilon in (-3.0, -0.5, 0.0, 0.3, 1.0):
        for profile, density in (
            (gaussian(mu), norm.pdf),
            (laplace(mu), lambda x: np.exp(-abs(x)) / 2),
        ):
            excess = lambda x, f=density, e=epsilon: max(f(x - mu) - np.exp(e) * f(x), 0.0)  # noqa: E731
            integral = quad(excess, -40, 40, points=[0.0, mu, mu / 2 + epsilon / mu], limit=500)[0]
            assert profile(epsilon) == pytest.approx(integral, abs=1e-7), (profile, epsilon)


def test_gaussian_trade_off_curve():
    # Dong, Roth & Su 2022: G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu)
    alpha = np.array([1e-6, 1e-3, 0.05, 0.5, 0.9])
    for mu in (0.2, 1.3, 6.0):
        assert gaussian(mu).trade_off(alpha) == pytest.approx(norm.cdf(norm.ppf(1 - alpha) - mu), abs=1e-9)
    assert gaussian(1.0).advantage == pytest.approx(2 * norm.cdf(0.5) - 1)


def test_pure_trade_off_curve():
    # Wasserman & Zhou 2010: f = max(0, 1 - e^eps alpha, e^-eps (1 - alpha)); with delta, Dong et al., equation (5)
    alpha, e, d = np.linspace(0, 1, 21), 0.8, 0.1
    pure = np.maximum.reduce([np.zeros(21), 1 - np.exp(e) * alpha, np.exp(-e) * (1 - alpha)])
    assert approximate(e).trade_off(alpha) == pytest.approx(pure, abs=1e-9)
    loose = np.maximum.reduce([np.zeros(21), 1 - d - np.exp(e) * alpha, np.exp(-e) * (1 - d - alpha)])
    assert approximate(e, d).trade_off(alpha) == pytest.approx(loose, abs=1e-9)
    assert approximate(e, d)(e) == pytest.approx(d)
    response = np.array([1, np.exp(-e)]) / (1 + np.exp(-e))
    eps = np.array([-2.0, -0.3, 0.0, 0.5, 2.0])
    assert approximate(e)(eps) == pytest.approx(pair(response, response[::-1])(eps), abs=1e-12)


@settings(max_examples=80, deadline=None)
@given(pairs())
def test_trade_off_by_conjugacy_equals_neyman_pearson(table):
    p, q = table
    order = np.argsort(-p / np.maximum(p + q, 1e-300), kind="stable")
    alpha = np.minimum(np.concatenate(([0.0], np.cumsum(q[order]))), 1.0)
    beta = np.maximum(1.0 - np.concatenate(([0.0], np.cumsum(p[order]))), 0.0)
    least = [beta[np.isclose(alpha, a, atol=1e-12)].min() for a in alpha]
    assert pair(p, q).trade_off(alpha) == pytest.approx(least, abs=1e-9)


@settings(max_examples=80, deadline=None)
@given(pairs())
def test_a_profile_falls_and_bounds_the_other_world(table):
    p, q = table
    eps = np.linspace(-5, 5, 41)
    delta = pair(p, q)(eps)
    assert np.all(np.diff(delta) <= 1e-12)
    assert np.all(delta >= np.maximum(0, 1 - np.exp(eps)) - 1e-12)
    # the worlds exchanged: delta'(eps) = 1 - e^eps + e^eps delta(-eps)
    assert pair(q, p)(eps) == pytest.approx(1 - np.exp(eps) + np.exp(eps) * pair(p, q)(-eps), abs=1e-9)
    assert pair(p, q).advantage == pytest.approx(0.5 * np.abs(p - q).sum())


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 5), st.integers(2, 5), st.integers(0, 1000))
def test_a_channel_is_as_bad_as_its_worst_pair(n, m, seed):
    rows = np.random.default_rng(seed).dirichlet(np.ones(m), n)
    eps = np.array([-1.0, 0.0, 0.4, 1.5])
    every = np.stack([pair(a, b)(eps) for a in rows for b in rows])
    assert channel(rows)(eps) == pytest.approx(every.max(axis=0), abs=1e-12)
    # delta reaches 0 at the pure epsilon, and not before
    pure = channel_epsilon(rows)
    assert channel(rows)(pure) == pytest.approx(0, abs=1e-12)
    assert channel(rows)(pure - 0.01) > 0
    assert channel(rows).epsilon(0.0) == pytest.approx(pure, abs=1e-6)


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 4), st.integers(2, 5), st.integers(0, 1000), st.floats(0.001, 0.999))
def test_pure_epsilon_bounds_every_posterior(n, m, seed, prior):
    rows = np.random.default_rng(seed).dirichlet(np.ones(m), n) * 0.9 + 0.1 / m
    bound = posterior_bound(channel_epsilon(rows), prior)
    p, q = rows[0], rows[1]
    belief = prior * p / (prior * p + (1 - prior) * q)
    assert np.all(belief <= bound.high + 1e-12)
    assert np.all(belief >= bound.low - 1e-12)
    e = channel_epsilon(rows)
    response = np.array([np.exp(e), 1.0]) / (1 + np.exp(e))  # randomized response reaches both
    reached = prior * response / (prior * response + (1 - prior) * response[::-1])
    assert reached == pytest.approx([float(bound.high), float(bound.low)], rel=1e-9)


def test_posterior_bound_at_the_ends():
    assert posterior_bound(0.0, 0.3).high == pytest.approx(0.3)
    assert posterior_bound(np.inf, [0.0, 0.3, 1.0]).high.tolist() == [0, 1, 1]
    assert posterior_bound(np.inf, [0.0, 0.3, 1.0]).low.tolist() == [0, 0, 1]


def test_extremes_give_no_nan():
    for profile in (gaussian(1.0), laplace(1.0), approximate(1.0), pair([1.0, 0.0], [0.5, 0.5])):
        ends = profile([-np.inf, -800.0, 800.0, np.inf])
        assert np.all(np.isfinite(ends)), profile
        assert ends[:2] == pytest.approx([1, 1])
        assert profile.bayes_risk([0.0, 1.0]).tolist() == [0, 0]
        assert profile.trade_off([0.0, 1.0])[1] == 0
    assert channel_epsilon([[1.0, 0.0], [0.5, 0.5]]) == np.inf
    assert channel([[1.0, 0.0], [0.0, 1.0]]).epsilon(0.0) == np.inf
    assert gaussian(1.0)(np.inf) == 0
    assert approximate(0.0)(0.0) == 0


def test_what_is_refused():
    for wrong in (
        lambda: gaussian(0.0),
        lambda: laplace(-1.0),
        lambda: approximate(-1.0),
        lambda: approximate(1.0, 2.0),
    ):
        with pytest.raises(UnmaskError, match="expected"):
            wrong()
    with pytest.raises(UnmaskError, match="row 1"):
        channel([[0.5, 0.5], [0.5, 0.6]])
    with pytest.raises(UnmaskError, match="outside"):
        gaussian(1.0).bayes_risk(1.2)
    with pytest.raises(UnmaskError, match="not a number"):
        gaussian(1.0)(np.nan)
