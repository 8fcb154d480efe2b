"""Designs against adversaries who may answer with other points than the secrets, and budgets that allow a constant."""

import numpy as np
import pytest

from unmask.channels import Channel
from unmask.channels.datasets import grid
from unmask.channels.design import optimal_mechanism
from unmask.channels.design.linear import largest_error
from unmask.measures.error import bayes
from unmask.measures.losses import as_matrix


def hamming(n):
    return 1.0 - np.eye(n)


def test_gap_covers_answers_between_the_secrets():
    rng = np.random.default_rng(1)
    x, prior = np.sort(rng.random(5)), rng.dirichlet(np.ones(5))
    cost = np.abs(np.subtract.outer(x, x))
    budget = 0.5 * float((prior @ cost).min())
    design = optimal_mechanism(prior, "squared", cost, budget, coordinates=x)
    answers = np.linspace(0, 1, 801)
    dense = optimal_mechanism(prior, np.subtract.outer(answers, x) ** 2, cost, budget, method="cuts")
    assert design.privacy <= dense.privacy <= design.privacy + design.gap
    secrets = optimal_mechanism(prior, as_matrix("squared", 5, coordinates=x), cost, budget)
    assert design.privacy + design.gap == pytest.approx(secrets.privacy, abs=1e-8)
    error = bayes(design.channel.posterior(), "squared", coordinates=x)
    assert (design.privacy, design.worst) == pytest.approx((error.average, error.worst), abs=1e-12)
    assert largest_error(prior, "squared", cost, budget, coordinates=x) == pytest.approx(secrets.privacy, abs=1e-8)


@pytest.mark.parametrize("loss", ["absolute", "euclidean"])
def test_matched_designs_have_the_same_risk_at_every_output(loss):
    places = grid(8, 8, 250.0)
    prior = np.random.default_rng(2).dirichlet(np.full(64, 0.7))
    table = as_matrix(loss, 64, coordinates=places.points)
    prior_error = bayes(Channel(np.ones((64, 1)), prior).posterior(), loss, coordinates=places.points).average
    mechanism = optimal_mechanism(prior, loss, table.T, 0.5 * prior_error, coordinates=places.points)
    true = bayes(mechanism.channel.posterior(), loss, coordinates=places.points)
    for value in (mechanism.privacy, mechanism.worst, mechanism.distortion, true.average, true.worst):
        assert value == pytest.approx(
            0.5 * prior_error, rel=1e-6
        )  # no more can be had: the answer may be what is shown


def test_a_matched_design_where_no_output_can_be_believed():
    x = np.array([0.0, 10.0])
    table = as_matrix("squared", 2, coordinates=x)
    mechanism = optimal_mechanism([0.5, 0.5], "squared", table.T, 20.0, coordinates=x)
    # the variance of a coin of 0.2, in units of 100
    assert mechanism.privacy == pytest.approx(16.0, abs=1e-4)


def test_a_budget_that_pays_for_showing_nothing_at_all():
    places = grid(7, 7, 1.0)
    prior = np.random.default_rng(3).dirichlet(np.ones(49))
    table = as_matrix("squared", 49, coordinates=places.points)
    prior_error = bayes(Channel(np.ones((49, 1)), prior).posterior(), "squared", coordinates=places.points).average
    mechanism = optimal_mechanism(
        prior, "squared", table.T, 2 * float((table @ prior).min()), coordinates=places.points
    )
    assert (mechanism.privacy, mechanism.leakage) == pytest.approx((prior_error, 0.0), abs=1e-9)


def test_a_budget_that_protects_no_secret_is_not_spent():
    mechanism = optimal_mechanism([0.6, 0.3, 0.1], hamming(3), hamming(3), 0.5, delta=0.3)
    assert (mechanism.privacy, mechanism.distortion, mechanism.leakage) == pytest.approx((0.4, 0.4, 0.0), abs=1e-9)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_optimal_mechanisms_do_not_depend_on_the_units(unit):
    rng = np.random.default_rng(5)
    prior, loss, cost = rng.dirichlet(np.ones(5)), rng.random((5, 5)), rng.random((5, 5))
    budget = float(0.5 * (prior @ cost.min(axis=1)) + 0.5 * (prior @ cost).min())
    mechanism = optimal_mechanism(prior, loss, cost, budget)
    scaled = optimal_mechanism(prior, loss * unit, cost / unit, budget / unit)
    assert scaled.privacy / unit == pytest.approx(mechanism.privacy, rel=1e-8)
    assert scaled.distortion * unit == pytest.approx(mechanism.distortion, rel=1e-8)
    assert scaled.gap <= 1e-8 * unit
