"""Every measure against closed forms and a literal dense implementation."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import ABSENT, Posterior, Truth, UnmaskError
from unmask.core.inference import from_classes
from unmask.measures import (
    calibration_error,
    delta_down,
    delta_up,
    effective_set_size,
    estimation_error,
    evaluate,
    information_gain_bits,
    log_loss_bits,
    rank,
    realized_error,
    realized_success,
    realized_success_at,
    renyi_entropy,
    shannon_entropy_bits,
    success_probability,
    total_variation,
)
from unmask.measures.success import rank_truth
from unmask.scoring import REALIZED, SELF_ASSESSED

ONE_TARGET = {"point": np.array([[0.0, 1.0, 0.0, 0.0]]), "uniform": np.full((1, 4), 0.25)}


def value(measure, belief, truth=None):
    return measure.per_target(belief, truth)[0]


@pytest.mark.parametrize(
    ("measure", "point", "uniform"),
    [
        (success_probability, 1, 0.25),
        (estimation_error(), 0, 0.75),
        (renyi_entropy(0), 0, 2),
        (shannon_entropy_bits, 0, 2),
        (renyi_entropy(2), 0, 2),
        (renyi_entropy(np.inf), 0, 2),
        (effective_set_size, 1, 4),
        (information_gain_bits, 2, 0),
        (total_variation, 0.75, 0),
        (delta_up, np.log(4), 0),
        (delta_down, np.inf, 0),
        (realized_success, 1, 0.25),
        (realized_error(), 0, 0.75),
        (realized_success_at(3), 1, 0.75),
        (rank, 1, 2.5),
        (log_loss_bits, 0, 2),
        (calibration_error, 0, 0),
    ],
    ids=lambda m: getattr(m, "name", ""),
)
def test_point_mass_and_uniform(measure, point, uniform):
    truth = Truth([1])
    assert value(measure, Posterior.from_dense(ONE_TARGET["point"]), truth) == pytest.approx(point, abs=1e-6)
    assert value(measure, Posterior.from_dense(ONE_TARGET["uniform"]), truth) == pytest.approx(uniform, abs=1e-6)


def test_classes_are_linked_at_classes_over_people():
    # P_avg = 1 - (#classes) / N, specs of the estimation-error paper, section V-A1
    of_row = np.repeat([0, 1, 2], [1, 3, 6])
    belief = from_classes(of_row, of_row)
    row = evaluate(success_probability, belief)
    assert row.posterior == pytest.approx(3 / 10)
    assert row.prior == pytest.approx(1 / 10)
    assert (row.worst, row.worst_observation) == (1.0, 0)
    assert evaluate(realized_success, belief, Truth(np.arange(10))).posterior == pytest.approx(3 / 10)


def test_binary_symmetric_channel():
    # Rebollo-Monedero et al. 2012, section IV-D: P_avg = p
    p = 0.2
    belief = Posterior.from_dense(np.array([[1 - p, p], [p, 1 - p]]))
    assert evaluate(estimation_error(), belief).posterior == pytest.approx(p, abs=1e-7)
    h = -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
    assert evaluate(information_gain_bits, belief).posterior == pytest.approx(1 - h, abs=1e-6)


def test_none_of_these_is_no_guess():
    belief = Posterior.from_dense(np.array([[0.1, 0.1]]), prior=np.array([0.25, 0.25]))
    assert value(success_probability, belief) == pytest.approx(0.1)
    assert value(realized_success, belief, Truth([ABSENT])) == 0
    assert value(rank, belief, Truth([ABSENT])) == 3
    assert value(log_loss_bits, belief, Truth([ABSENT])) == pytest.approx(-np.log2(0.8))


def test_scores_are_refused_as_probabilities():
    belief = Posterior.from_dense(np.array([[0.5, 0.5]]), status="scores")
    with pytest.raises(UnmaskError, match="calibrate"):
        evaluate(shannon_entropy_bits, belief)


def test_overconfidence_shows_as_calibration_error():
    belief = Posterior.from_dense(np.tile([0.9, 0.1], (10, 1)))
    truth = Truth([0] * 5 + [1] * 5)
    # announced 0.9, realized 0.5 of 10: 0.4 less the chance of such a mean, 0.25 / 9
    assert evaluate(calibration_error, belief, truth).posterior == pytest.approx(np.sqrt(0.4**2 - 0.25 / 9))


@st.composite
def dense(draw):
    n = draw(st.integers(2, 6))
    rows = draw(st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(any), min_size=1, max_size=5))
    table = np.array(rows, dtype=float)
    return table / table.sum(axis=1, keepdims=True)


@settings(max_examples=150, deadline=None)
@given(dense(), st.data())
def test_realized_measures_equal_enumeration(table, data):
    belief = Posterior.from_dense(table)
    n = table.shape[1]
    truth = np.array([data.draw(st.integers(0, n - 1)) for _ in table])
    for t, row in enumerate(table):
        p_true = row[truth[t]]
        better, tied = (row > p_true + 1e-9).sum(), (np.abs(row - p_true) <= 1e-9).sum()
        assert rank.per_target(belief, Truth(truth))[t] == pytest.approx(better + (tied + 1) / 2)
        for k in (1, 2, 3):
            expected = np.clip((k - better) / tied, 0, 1)
            assert realized_success_at(k).per_target(belief, Truth(truth))[t] == pytest.approx(expected)


@settings(max_examples=150, deadline=None)
@given(dense())
def test_laws_between_measures(table):
    n = table.shape[1]
    prior = np.full(n, 1 / n)
    belief = Posterior.from_dense(table, prior=prior)
    values = {m.name: m.per_target(belief) for m in SELF_ASSESSED}
    assert np.all(values["min_entropy_bits"] <= values["shannon_entropy_bits"] + 1e-6)
    assert np.all(values["shannon_entropy_bits"] <= values["hartley_entropy_bits"] + 1e-6)
    # Pinsker, and R <= t <= delta
    assert np.all(values["total_variation"] <= np.sqrt(values["information_gain_bits"] * np.log(2) / 2) + 1e-6)
    assert np.all(values["information_gain_bits"] * np.log(2) <= values["delta_up"] + 1e-6)
    assert np.allclose(values["success_probability"] + values["estimation_error"], 1)
    # with the Hamming loss written out as a matrix, the same number
    assert np.allclose(estimation_error(1 - np.eye(n)).per_target(belief), values["estimation_error"], atol=1e-6)
    assert np.allclose(values["total_variation"], 0.5 * np.abs(table - prior).sum(axis=1), atol=1e-6)


@settings(max_examples=100, deadline=None)
@given(dense())
def test_merging_two_candidates_never_hurts_the_adversary(table):
    merged = np.column_stack([table[:, 0] + table[:, 1], table[:, 2:]])
    initial, after = Posterior.from_dense(table), Posterior.from_dense(merged)
    assert np.all(success_probability.per_target(after) >= success_probability.per_target(initial) - 1e-6)
    assert np.all(shannon_entropy_bits.per_target(after) <= shannon_entropy_bits.per_target(initial) + 1e-6)


@settings(max_examples=60, deadline=None)
@given(dense(), st.integers(0, 1000))
def test_every_measure_stays_in_range(table, seed):
    belief = Posterior.from_dense(table)
    truth = Truth(np.random.default_rng(seed).integers(0, table.shape[1], len(table)))
    for measure in (*SELF_ASSESSED, *REALIZED):
        values = measure.per_target(belief, truth)
        assert np.all((values >= measure.range[0] - 1e-9) & (values <= measure.range[1] + 1e-9)), measure.name


def test_matrix_loss_realized_and_assessed_agree_when_exact():
    rng = np.random.default_rng(1)
    joint = rng.dirichlet(np.ones(12)).reshape(3, 4)  # observations x values
    loss = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    posterior = joint / joint.sum(axis=1, keepdims=True)
    observation, true = np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3)
    belief = Posterior.from_dense(posterior, prior=joint.sum(axis=0), observation=observation, weight=joint.ravel())
    assessed = evaluate(estimation_error(loss), belief).posterior
    realized = evaluate(realized_error(loss), belief, Truth(true)).posterior
    assert assessed == pytest.approx(realized, abs=1e-6)


def test_places_do_not_depend_on_how_many_rows_are_sorted_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(20), 50) * (rng.random((50, 20)) < 0.6)
    observation = rng.integers(0, 50, 400)  # as they come, several of a row
    table[:, 0] += 0.1
    belief = Posterior.from_dense(table / table.sum(axis=1, keepdims=True), observation=observation)
    truth = Truth(rng.integers(0, 20, 400))
    ranks = rank.per_target(belief, truth)
    belief.discard_results()
    monkeypatch.setattr(sys.modules[rank_truth.__module__], "MAX_SORTED_ENTRIES", 30)
    assert rank.per_target(belief, truth).tolist() == ranks.tolist()
    p = belief.to_dense()
    p_true = p[np.arange(400), truth.candidate][:, None]
    better, tied = (p > p_true + 1e-12).sum(axis=1), (np.abs(p - p_true) <= 1e-12).sum(axis=1)
    assert np.allclose(ranks, better + (tied + 1) / 2)
