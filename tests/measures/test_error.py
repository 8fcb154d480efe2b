"""Bayes and Gibbs errors: average, worst, prior, gain, answers, and what they really cost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import ABSENT, Posterior, Truth, UnmaskError
from unmask.core.truth import UNKNOWN
from unmask.measures import error, evaluate, realized_success
from unmask.measures.error import bayes, correctness, estimation_error, realized_error, sampling_error

LOSSES = ["hamming", "squared", "absolute", "euclidean", "haversine", "euclidean_medoid", "haversine_medoid"]


@st.composite
def channels(draw, *, zeros=True):
    """A joint distribution, observations x candidates, and planar coordinates."""
    n, m = draw(st.integers(2, 5)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    joint = rng.dirichlet(np.full(n * m, 0.5)).reshape(m, n)
    joint = np.where(joint < 0.02, 0.0 if zeros else 0.02, joint)
    if joint.sum() == 0:
        joint[:] = 1.0
    joint = joint[joint.sum(axis=1) > 0]
    return joint / joint.sum(), rng.normal(size=(n, 2)).round(2)


def exact(joint):
    weight = joint.sum(axis=1)
    return Posterior.from_dense(joint / weight[:, None], prior=joint.sum(axis=0), weight=weight)


@settings(max_examples=80, deadline=None)
@given(channels())
def test_gibbs_is_twice_bayes_for_squared_error_and_at_most_that_for_metrics(drawn):
    joint, xy = drawn
    belief = exact(joint)
    squared = sampling_error("squared", coordinates=xy).per_target(belief)
    assert squared == pytest.approx(2 * bayes(belief, "squared", coordinates=xy).conditional, abs=1e-9)
    for loss in set(LOSSES) - {"squared"}:
        least_errors = bayes(belief, loss, coordinates=xy).conditional
        drawn_from = sampling_error(loss, coordinates=xy).per_target(belief)
        slack = 1e-5 * max(drawn_from.max(), 1.0)
        assert np.all(least_errors <= drawn_from + slack), loss
        assert np.all(drawn_from <= 2 * least_errors + slack), loss


@settings(max_examples=80, deadline=None)
@given(channels())
def test_an_exact_belief_never_loses_and_a_richer_answer_never_costs_more(drawn):
    joint, xy = drawn
    belief = exact(joint)
    for loss in ("hamming", "squared", "absolute", "euclidean"):
        result = bayes(belief, loss, coordinates=xy)
        scale = max(result.prior, 1.0)
        assert result.gain >= -1e-5 * scale, loss
        assert result.worst <= result.average + 1e-9 * scale
        assert result.average == pytest.approx(belief.observation_weight @ result.conditional)
    free = bayes(belief, "euclidean", coordinates=xy).conditional
    assert np.all(free <= bayes(belief, "euclidean_medoid", coordinates=xy).conditional + 1e-5)


@settings(max_examples=60, deadline=None)
@given(channels())
def test_realized_errors_average_to_the_self_assessed_when_exact(drawn):
    joint, xy = drawn
    weight = joint.sum(axis=1)
    observation, true = np.nonzero(joint)
    belief = Posterior.from_dense(
        joint / weight[:, None], prior=joint.sum(axis=0), observation=observation, weight=joint[observation, true]
    )
    for loss in LOSSES:
        scale = max(bayes(belief, loss, coordinates=xy).prior, 1.0)
        for announced, realized in ((estimation_error, realized_error), (sampling_error, correctness)):
            expected = announced(loss, coordinates=xy)(belief)
            assert realized(loss, coordinates=xy)(belief, Truth(true)) == pytest.approx(expected, abs=2e-5 * scale), (
                loss
            )


def test_binary_symmetric_channel():
    # Rebollo-Monedero et al. 2012, section IV-D: P_avg = P_min = p; Gibbs 2 p (1 - p)
    p = 0.2
    belief = Posterior.from_dense(np.array([[1 - p, p], [p, 1 - p]]))
    result = bayes(belief)
    assert (result.average, result.worst, result.prior, result.gain) == pytest.approx((p, p, 0.5, 0.5 - p), abs=1e-6)
    assert result.answer.tolist() == [0, 1]
    assert result.quantiles == pytest.approx((p,) * 5, abs=1e-6)
    assert sampling_error()(belief) == pytest.approx(2 * p * (1 - p), abs=1e-6)


def test_gaussian_of_the_location_example():
    # section VI-A with x ~ N(0, 1), noise variance 1: P = 2 sx^2 sn^2 / (sx^2 + sn^2) in two dimensions, 1/2 in one
    z = np.linspace(-6, 6, 241)
    prior = np.exp(-(z**2) / 2)
    likelihood = np.exp(-((z[:, None] - z) ** 2) / 2)
    joint = likelihood * prior / (likelihood.sum(axis=0) * prior.sum())
    result = bayes(exact(joint), "squared", coordinates=z)
    assert result.average == pytest.approx(0.5, rel=1e-3)
    assert result.prior == pytest.approx(1.0, rel=1e-3)
    middle = np.abs(z) < 3
    assert result.answer[middle] == pytest.approx(z[middle] / 2, abs=1e-3)


def test_worst_case_is_over_observations_that_happen():
    belief = Posterior.from_dense(np.array([[1.0, 0.0], [0.5, 0.5], [0.25, 0.75]]), weight=np.array([0.0, 0.5, 0.5]))
    result = bayes(belief)
    assert (result.worst, result.worst_observation) == (pytest.approx(0.25), 2)


def test_classes_of_alike():
    # specs: P_avg = 1 - (#classes) / N, P_min = 1 - 1/k
    of_row = np.repeat([0, 1, 2], [2, 3, 5])
    table = (of_row == np.arange(3)[:, None]) / np.bincount(of_row)[:, None]
    result = bayes(Posterior.from_dense(table, observation=of_row))
    assert (result.average, result.worst) == pytest.approx((1 - 3 / 10, 0.5), abs=1e-6)


def test_crowds_closed_form():
    # spec 2.5: submit with probability p, uniform senders: p(y = x) = p + (1 - p) / n, so P = (1 - p) (n - 1) / n
    p, n = 0.3, 8
    channel = (1 - p) / n + p * np.eye(n)
    assert bayes(exact(channel / n)).average == pytest.approx((1 - p) * (n - 1) / n, abs=1e-6)
    # with a prior of 0.9 and p = 0.05 the attacker ignores y
    prior = np.append(0.9, np.full(9, 0.1 / 9))
    result = bayes(exact(((0.95 / 10 + 0.05 * np.eye(10)) * prior[:, None]).T))
    assert set(result.answer.tolist()) == {0}
    assert result.gain == pytest.approx(0, abs=1e-6)


def test_answer_of_unlisted_candidates_and_of_the_uniform_prior():
    result = bayes(Posterior.from_dense(np.array([[0.2, 0.8]])))
    assert result.answer.tolist() == [1]
    assert result.prior_answer == -1


def test_absent_unknown_and_misfit_truths():
    belief = Posterior.from_dense(np.tile([[0.5, 0.3, 0.2]], (4, 1)))
    truth = Truth([0, ABSENT, UNKNOWN, 2])
    row = evaluate(realized_error("absolute", coordinates=[0.0, 1.0, 4.0]), belief, truth)
    assert row.n == 3
    assert row.posterior == pytest.approx((0.5 + 4.0 + 3.5) / 3, abs=1e-6)  # medians 0..1: the middle
    assert row.worst == pytest.approx(0.5)
    with pytest.raises(UnmaskError, match="unknown for every"):
        realized_error()(belief, Truth([UNKNOWN] * 4))
    with pytest.raises(UnmaskError, match="3 targets"):
        correctness()(belief, Truth([0, 1, 2]))
    for loss in ("hamming", "squared", "absolute", 1 - np.eye(3)):
        with pytest.raises(UnmaskError, match="names candidate 7"):
            realized_error(loss, coordinates=[0.0, 1.0, 4.0])(belief, Truth([0, 1, 2, 7]))


def test_ties_are_shared_wherever_answers_are_a_list():
    belief, truth = Posterior.from_dense(np.tile([[0.5, 0.5, 0.0]], (2, 1))), Truth([0, 1])
    for loss in ("hamming", 1 - np.eye(3), lambda a, x: (a != x) * 1.0):
        assert realized_error(loss).per_target(belief, truth) == pytest.approx([0.5, 0.5]), loss


def test_measures_of_every_loss_in_the_common_grammar():
    z = np.array([0.0, 1.0, 4.0])
    belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.2, 0.8]]))
    row = evaluate(estimation_error("squared", coordinates=z), belief)
    assert row.posterior == pytest.approx(bayes(belief, "squared", coordinates=z).average)
    assert row.prior == pytest.approx(np.var(z))
    shokri = evaluate(correctness("absolute", coordinates=z), belief, Truth([0, 2]))
    assert shokri.posterior == pytest.approx((0.5 * 1 + 0.2 * 3) / 2, abs=1e-6)
    assert shokri.prior == pytest.approx(((0 + 1 + 4) / 3 + (4 + 3 + 0) / 3) / 2, abs=1e-6)
    uneven = np.array([[0.0, 5.0], [1.0, 0.0]])  # answers x truths
    belief = Posterior.from_dense(np.array([[0.9, 0.1]]))
    assert estimation_error(uneven).per_target(belief) == pytest.approx([0.5], abs=1e-6)
    assert bayes(belief, uneven).conditional == pytest.approx([0.5], abs=1e-6)
    with pytest.raises(UnmaskError, match="answers x truths with 2 truths"):
        estimation_error(np.ones((2, 3))).per_target(belief)
    with pytest.raises(UnmaskError, match="answers x truths"):
        estimation_error(np.ones(3))


def test_modules_can_be_imported_next_to_their_functions():
    from unmask.measures import entropy, leakage

    assert error.bayes is bayes
    assert entropy.__name__ == "unmask.measures.entropy"
    assert leakage.__name__ == "unmask.measures.leakage"


@pytest.mark.parametrize("length", [1, 3])
def test_a_truth_of_other_targets_is_refused(length):
    belief = Posterior.from_dense(np.eye(2))
    with pytest.raises(UnmaskError, match=f"the truth has {length} targets and the posterior 2, expected the same"):
        evaluate(realized_success, belief, Truth([0] * length))
