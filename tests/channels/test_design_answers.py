"""Designs against adversaries who may answer anything, and what is chosen among designs that protect alike."""

import numpy as np
import pytest
from scipy.optimize import linprog

from unmask.channels import Channel
from unmask.channels.datasets import grid
from unmask.channels.design import optimal_mechanism
from unmask.channels.design.linear import largest_error
from unmask.measures.error import bayes
from unmask.measures.losses import as_matrix


def hamming(n):
    return 1.0 - np.eye(n)


def test_c2_a_line_of_secrets_against_a_dense_grid_of_answers():
    rng = np.random.default_rng(1)
    x, prior = np.sort(rng.random(5)), rng.dirichlet(np.ones(5))
    cost = np.abs(np.subtract.outer(x, x))
    budget = 0.5 * float((prior @ cost).min())
    found = optimal_mechanism(prior, "squared", cost, budget, coordinates=x)
    answers = np.linspace(0, 1, 801)
    dense = optimal_mechanism(prior, np.subtract.outer(answers, x) ** 2, cost, budget, method="cuts")
    assert found.privacy == pytest.approx(dense.privacy, abs=1e-6)  # answers between the grid cost (1/1600)^2 less
    secrets = optimal_mechanism(prior, as_matrix("squared", 5, coordinates=x), cost, budget)
    assert found.privacy < secrets.privacy - 1e-3
    assert found.worst == pytest.approx(dense.worst, abs=1e-5)
    assert found.gap <= 1e-6
    true = bayes(found.channel.posterior(), "squared", coordinates=x)
    assert (true.average, true.worst) == pytest.approx((found.privacy, found.worst), abs=1e-9)
    assert largest_error(prior, "squared", cost, budget, coordinates=x) == pytest.approx(found.privacy, abs=2e-6)


@pytest.mark.parametrize("loss", ["squared", "absolute", "euclidean"])
def test_c2_matched_designs_have_the_same_risk_at_every_output(loss):
    places = grid(8, 8, 250.0)
    prior = np.random.default_rng(2).dirichlet(np.full(64, 0.7))
    table = as_matrix(loss, 64, coordinates=places.points)
    before = bayes(Channel(np.ones((64, 1)), prior).posterior(), loss, coordinates=places.points).average
    found = optimal_mechanism(prior, loss, table.T, 0.5 * before, coordinates=places.points)
    true = bayes(found.channel.posterior(), loss, coordinates=places.points)
    for value in (found.privacy, found.worst, found.distortion, true.average, true.worst):
        assert value == pytest.approx(0.5 * before, rel=1e-6)  # no more can be had: the answer may be what is shown


def test_c2_a_matched_design_where_no_output_can_be_believed():
    x = np.array([0.0, 10.0])
    table = as_matrix("squared", 2, coordinates=x)
    found = optimal_mechanism([0.5, 0.5], "squared", table.T, 20.0, coordinates=x)
    # the variance of a coin of 0.2, in units of 100
    assert found.privacy == pytest.approx(16.0, abs=1e-4)


def test_c2_a_budget_that_pays_for_showing_nothing_at_all():
    places = grid(7, 7, 1.0)
    prior = np.random.default_rng(3).dirichlet(np.ones(49))
    table = as_matrix("squared", 49, coordinates=places.points)
    before = bayes(Channel(np.ones((49, 1)), prior).posterior(), "squared", coordinates=places.points).average
    found = optimal_mechanism(prior, "squared", table.T, 2 * float((table @ prior).min()), coordinates=places.points)
    assert (found.privacy, found.leakage) == pytest.approx((before, 0.0), abs=1e-9)


def test_c10_budget_that_protects_nobody_is_not_spent():
    found = optimal_mechanism([0.6, 0.3, 0.1], hamming(3), hamming(3), 0.5, delta=0.3)
    assert (found.privacy, found.distortion, found.leakage) == pytest.approx((0.4, 0.4, 0.0), abs=1e-9)


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_c10_among_designs_that_protect_alike_least_distortion_then_least_leakage(seed):
    rng = np.random.default_rng(seed)
    prior, loss, cost = rng.dirichlet(np.ones(4)), rng.random((3, 4)), rng.random((4, 4)).round(1)
    budget = float(0.2 * (prior @ cost.min(axis=1)) + 0.8 * (prior @ cost).min())
    found = optimal_mechanism(prior, loss, cost, budget)
    vertices = [face_vertex(prior, loss, cost, found, direction) for direction in rng.normal(size=(60, 4, 4))]
    cheapest = face_vertex(prior, loss, cost, found, cost, bound=False)
    assert found.distortion <= float(prior @ (cheapest * cost).sum(axis=1)) + 1e-6
    mixtures = rng.dirichlet(np.full(60, 0.05), size=300) @ np.reshape(vertices, (60, 16))
    for rule in [*vertices, *mixtures.reshape(-1, 4, 4)]:
        assert found.leakage <= Channel(rule / rule.sum(axis=1, keepdims=True), prior).mutual_information() + 1e-4


def face_vertex(prior, loss, cost, found, direction, *, bound=True):
    """A channel as private as the one that was found, and as cheap where `bound`, by the plain linear program."""
    n, m, a = len(prior), cost.shape[1], len(loss)
    upper, side = [], []
    for y in range(m):  # r(y) <= sum_x p(x) w(x, y) L(a, x); r(y) >= worst p(y)
        for answer in range(a):
            row = np.zeros(n * m + m)
            row[y : n * m : m] = -prior * loss[answer]
            row[n * m + y] = 1.0
            upper.append(row)
            side.append(0.0)
        row = np.zeros(n * m + m)
        row[y : n * m : m] = (found.worst - 1e-7) * prior
        row[n * m + y] = -1.0
        upper.append(row)
        side.append(0.0)
    upper.append(np.concatenate([np.zeros(n * m), -np.ones(m)]))
    side.append(-found.privacy + 1e-8)
    spent = np.concatenate([(prior[:, None] * cost).ravel(), np.zeros(m)])
    if bound:
        upper.append(spent)
        side.append(found.distortion + 1e-8)
    equal = np.hstack([np.kron(np.eye(n), np.ones(m)), np.zeros((n, m))])
    aim = np.concatenate([(prior[:, None] * direction).ravel(), np.zeros(m)])
    solved = linprog(aim, A_ub=np.array(upper), b_ub=side, A_eq=equal, b_eq=np.ones(n), bounds=(0, None))
    assert solved.status == 0, solved.message
    return np.maximum(solved.x[: n * m].reshape(n, m), 0.0)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_c4_optimal_mechanisms_do_not_depend_on_the_units(unit):
    rng = np.random.default_rng(5)
    prior, loss, cost = rng.dirichlet(np.ones(5)), rng.random((5, 5)), rng.random((5, 5))
    budget = float(0.5 * (prior @ cost.min(axis=1)) + 0.5 * (prior @ cost).min())
    one = optimal_mechanism(prior, loss, cost, budget)
    other = optimal_mechanism(prior, loss * unit, cost / unit, budget / unit)
    assert other.privacy / unit == pytest.approx(one.privacy, rel=1e-8)
    assert other.distortion * unit == pytest.approx(one.distortion, rel=1e-8)
    assert other.gap <= 1e-8 * unit
