"""The currency is checked once, when it is built."""

from dataclasses import replace

import numpy as np
import pytest

from unmask import Posterior, UnmaskError, audit
from unmask.core.inference import from_classes
from unmask.core.posterior import stored
from unmask.measures import success_probability


@pytest.fixture
def belief():
    return Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"log_probability": np.array([-0.1, -0.7, -2, -1, -0.3], dtype=np.float32)}, "row 0 of the posterior sums to"),
        ({"log_probability": np.full(5, -np.inf, dtype=np.float32)}, "infinite or above 0"),
        ({"candidate": np.array([1, 1, 0, 1, 2], dtype=np.int32)}, "ascending and unique"),
        ({"candidate": np.array([0, 3, 0, 1, 2], dtype=np.int32)}, r"outside 0\.\.2"),
        ({"indptr": np.array([0, 2, 4])}, "indptr"),
        ({"observation": np.array([0, 2])}, r"observation outside 0\.\.1"),
        ({"weight": np.array([0.5, 0.6])}, "sum to 1"),
        ({"unlisted": np.array([0.0, 0.5])}, "row 1 of the posterior sums to 1.5"),
        ({"log_prior": np.log(np.array([0.5, 0.5, 1e-300])) * np.array([1, 1, np.inf])}, "whose prior is 0"),
        ({"log_prior": 0.0}, "prior sums to 3"),
        ({"status": "perfect"}, "expected one of exact, model"),
    ],
)
def test_an_invalid_belief_is_refused(belief, change, message):
    with pytest.raises(UnmaskError, match=message):
        replace(belief, **change)


def test_building_a_belief_freezes_it_and_not_the_arrays_given():
    weight = np.array([0.25, 0.75])
    belief = Posterior.from_dense(np.array([[1.0, 0.0], [0.5, 0.5]]), weight=weight)
    weight[0] = 0.25
    with pytest.raises(ValueError, match="read-only"):
        belief.weight[0] = 1


def test_dense_round_trip(belief):
    assert np.allclose(np.exp(belief.log_probability), [0.5, 0.5, 0.1, 0.2, 0.7])
    assert belief.observation_weight.tolist() == [0.5, 0.5]


def test_uniform_prior_is_one_row_without_entries():
    prior = from_classes(np.array([0, 0, 1]), np.array([0, 0, 1])).prior()
    assert prior.n_observations == 1
    assert len(prior.candidate) == 0
    assert (prior.unlisted[0], prior.n_unlisted[0]) == (1.0, 3)


def test_open_world_prior_keeps_its_chance_of_none():
    belief = Posterior.from_dense(np.array([[0.5, 0.2]]), prior=np.array([0.25, 0.25]))
    prior = belief.prior()
    assert np.allclose(np.exp(prior.log_probability), 0.25)
    assert prior.unlisted[0] == pytest.approx(0.5)
    assert prior.n_unlisted[0] == 0


def test_a_small_belief_is_held_in_double_precision():  # U6
    class_of = np.repeat([0, 1], [10, 20])
    belief = from_classes(class_of, class_of)
    row = audit(belief, measures=[success_probability]).row("success_probability")
    assert row.posterior == pytest.approx(2 / 30, rel=1e-14)
    assert row.worst == pytest.approx(1 / 10, rel=1e-14)


def test_a_belief_with_very_many_entries_is_held_in_single_precision(monkeypatch):
    monkeypatch.setattr("unmask.core.posterior.MAX_DOUBLE_ENTRIES", 2)
    assert stored(np.log([0.5, 0.5])).dtype == np.float64
    assert stored(np.log([0.5, 0.25, 0.25])).dtype == np.float32
