"""Small numbers survive: nothing is rounded to 0 or 1 by an absolute threshold (findings C4, C5, U6)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import Posterior, Truth, UnmaskError, audit
from unmask.core.posterior import MASS_TOLERANCE
from unmask.measures import (
    bayes,
    epsilon_nats,
    estimation_error,
    evaluate,
    leakages,
    log_loss_bits,
    mutual_information,
    realized_success,
    success_probability,
    total_variation,
)
from unmask.measures.entropy import renyi_entropies
from unmask.results import plain

NEAR_ONE = (1 - 1e-6, 1 - 1e-9, 1 - 1e-12, 1 + 1e-12, 1 + 1e-9, 1 + 1e-6)


def flip(error):
    return Posterior.from_dense(np.array([[1 - error, error], [error, 1 - error]]))


@pytest.mark.parametrize("away", [1e-3, 1e-4, 1e-5, 1e-7])
def test_c4_leakage_of_a_nearly_private_channel(away):
    # about the uniform: I = 2 d^2 / ln 2 (1 + 2 d^2 / 3 + ...), epsilon 4 d, t d
    belief = flip(0.5 - away)
    assert mutual_information(belief) == pytest.approx(2 * away**2 / np.log(2) * (1 + 2 * away**2 / 3), rel=1e-8)
    assert leakages(belief).epsilon == pytest.approx(np.log1p(2 * away / (0.5 - away)), rel=1e-8)
    assert evaluate(total_variation, belief).posterior == pytest.approx(away, rel=1e-8)
    assert leakages(belief).maximal_bits == pytest.approx(np.log1p(2 * away) / np.log(2), rel=1e-8)
    assert epsilon_nats.per_target(belief)[0] > 0


def test_c4_table_of_the_finding():
    assert mutual_information(flip(0.499)) == pytest.approx(2.88539e-6, rel=1e-5)
    assert mutual_information(flip(0.4999)) == pytest.approx(2.88539e-8, rel=1e-5)
    assert leakages(flip(0.499999)).epsilon == pytest.approx(4e-6, rel=1e-5)


@pytest.mark.parametrize("error", [1e-6, 1e-12, 1e-20])
def test_c4_small_errors_survive(error):
    assert bayes(flip(error)).average == pytest.approx(error, rel=1e-12)
    assert estimation_error().per_target(flip(error)) == pytest.approx([error, error], rel=1e-12)


@pytest.mark.parametrize("unit", [1e-9, 1e-30, 1e30])
@pytest.mark.parametrize("loss", ["matrix", "squared", "absolute", "euclidean", "euclidean_medoid"])
def test_c4_errors_scale_with_the_unit_of_the_loss(unit, loss):
    belief = Posterior.from_dense(np.array([[0.6, 0.3, 0.1], [0.35, 0.25, 0.4]]))
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])

    def measured(unit):
        if loss == "matrix":
            error = bayes(belief, unit * np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [4.0, 1.0, 0.0]]))
        else:
            error = bayes(belief, loss, coordinates=np.sqrt(unit) * points if loss == "squared" else unit * points)
        return np.array([error.average, error.worst, error.prior, error.gain])

    assert measured(unit) == pytest.approx(unit * measured(1.0), rel=1e-5)
    assert measured(unit)[0] > 0


def test_c4_nearly_equal_candidates_are_not_one_in_double_precision():
    belief = Posterior.from_dense(np.array([[0.5 + 1e-7, 0.5 - 1e-7]]))
    assert realized_success.per_target(belief, Truth([0])) == 1
    assert realized_success.per_target(Posterior.from_dense(np.array([[0.5, 0.5]])), Truth([0])) == 0.5


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 10_000))
def test_c5_orders_near_one_are_continuous(n, m, seed):
    joint = np.random.default_rng(seed).dirichlet(np.full(n * m, 0.6)).reshape(m, n) + 1e-9
    joint /= joint.sum()
    weight = joint.sum(axis=1)
    belief = Posterior.from_dense(joint / weight[:, None], prior=joint.sum(axis=0), weight=weight)
    shannon = renyi_entropies(belief, (1,))[0]
    for alpha in NEAR_ONE:
        near = abs(alpha - 1) * 500  # the slope in alpha is at most some (log2 of 1e9)^2 / 2
        assert renyi_entropies(belief, (alpha,))[0] == pytest.approx(shannon, abs=near + 1e-12)


def test_c5_entropies_of_the_finding():
    belief = Posterior.from_dense(np.array([[0.22, 0.78]]))
    bits = renyi_entropies(belief, (1,))[0, 0]
    assert bits == pytest.approx(0.76017, abs=1e-5)
    assert renyi_entropies(belief, (1 + 1e-9, 1 - 1e-9))[:, 0] == pytest.approx([bits, bits], abs=1e-8)


def test_u6_tenths_print_as_tenths():
    """A tenth is 0.1 in JSON, though beliefs are logarithms."""
    of_ten = Posterior.from_dense(np.full((1, 10), 0.1))
    row = audit(of_ten, measures=(success_probability,)).row("success_probability")
    assert (row.posterior, row.worst, row.prior) == pytest.approx((0.1, 0.1, 0.1), rel=1e-15)
    printed = plain(row.as_dict())
    assert (printed["posterior"], printed["worst"], printed["prior"]) == (0.1, 0.1, 0.1)
    for n in range(2, 200):
        row = evaluate(success_probability, Posterior.from_dense(np.full((1, n), 1 / n)))
        assert plain(row.posterior) == plain(1 / n)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_must_sum_to_one_within_the_mass_tolerance(dtype):
    def posterior_of(mass):
        return Posterior(
            indptr=np.array([0, 2]),
            candidate=np.array([0, 1], dtype=np.int32),
            log_probability=np.log([mass / 2, mass / 2]).astype(dtype),
            unlisted=np.zeros(1),
            n_unlisted=np.zeros(1, dtype=np.int64),
            observation=np.zeros(1, dtype=np.int64),
            weight=np.ones(1),
            n_candidates=2,
            log_prior=-float(np.log(2)),
        )

    assert MASS_TOLERANCE == 1e-5
    for mass in (1 - 0.5e-5, 1 + 0.5e-5):
        assert posterior_of(mass).n_targets == 1
    for mass in (1 - 2e-5, 1 + 2e-5):
        with pytest.raises(UnmaskError, match="sums to"):
            posterior_of(mass)


def test_the_mass_that_a_row_lacks_is_zero_only_if_the_prior_allows_it():
    closed = Posterior.from_dense(np.array([[0.5, 0.5 - 1e-6]]))
    assert closed.unlisted == 0
    open_ = Posterior.from_dense(np.array([[0.5, 0.5 - 1e-6]]), prior=np.array([0.5, 0.4]))
    assert open_.unlisted == pytest.approx([1e-6])
    small = Posterior.from_dense(np.array([[0.5, 0.5 - 1e-6]]), prior=np.array([0.5, 0.5 - 1e-7]))
    assert small.prior().unlisted == pytest.approx([1e-7])
    assert leakages(small).delta_up == pytest.approx(np.log(10), rel=1e-8)


def test_a_rare_candidate_that_is_ruled_out_is_ruled_out():
    belief = Posterior.from_dense(np.array([[1.0, 0.0]]), prior=np.array([1 - 1e-11, 1e-11]))
    assert leakages(belief).delta_down == np.inf
    assert leakages(belief).t_equal == pytest.approx(1e-11, rel=1e-5)
    assert evaluate(log_loss_bits, belief, Truth([0])).posterior == 0
