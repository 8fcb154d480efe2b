"""A status is earned: what the truth refutes is taken away, and a belief that keeps its word is hardly ever refuted."""

import numpy as np
import pytest

from unmask import Posterior, Truth, audit
from unmask.core.calibration_check import Check
from unmask.scoring import check_status


def drawn(announced, rng):
    return rng.random(len(announced)) < announced


@pytest.mark.parametrize("n", [3, 50, 1000])
@pytest.mark.parametrize("shape", [(0.2, 0.2), (1, 1), (50, 50), (5, 0.1), (1, 200)])
def test_a_belief_that_keeps_its_word_is_hardly_ever_refuted(n, shape):
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(1000):
        announced = rng.beta(*shape, n)
        weight = rng.dirichlet(np.ones(n)) if n == 50 else None
        alarms += Check.of(announced, drawn(announced, rng), weight).refuted
    assert alarms <= 1


def test_a_census_of_classes_is_never_refuted():
    sizes = np.random.default_rng(0).integers(1, 40, 500)
    announced = np.repeat(1 / sizes, sizes)
    result = Check.of(announced, announced)
    assert (result.refuted, result.people) == (False, sizes.sum())
    rng = np.random.default_rng(1)
    order = np.concatenate([rng.permutation(n) for n in sizes])  # one of each class is named, and is right
    assert not Check.of(announced, order == 0).refuted


def test_a_register_that_announces_two_points_too_many_is_refuted():
    # the figures of the finding U1: 0.2515 announced, 0.2312 realized over 20,000 people
    result = Check.of(np.full(20_000, 0.2515), np.arange(20_000) < 0.2312 * 20_000)
    assert result.refuted
    assert str(result) == "announced 25.1 %, realized 23.1 % of 20,000 people"
    assert not Check.of(np.full(20_000, 0.2515), np.arange(20_000) < 0.2312 * 20_000, within=0.03).refuted


def test_a_mean_that_is_right_hides_nothing():
    """Too sure of some and too unsure of others: the finding R10's bins, 0.25, 0.60 and 0.80 that realize other."""
    announced = np.repeat([0.25, 0.60, 0.85], [400, 300, 300])
    realized = np.concatenate([np.arange(400) < 50, np.arange(300) < 252, np.arange(300) < 237])
    assert realized.mean() == pytest.approx(announced.mean(), abs=0.005)
    result = Check.of(announced, realized, within=0.03)
    assert result.refuted
    assert result.sure in ((0.2, 0.30000000000000004), (0.2, 0.3), (0.6, 0.7))
    assert "people they were" in str(result)


def test_certainty_is_refuted_by_one_error():
    certain = Posterior.from_dense(np.array([[1.0, 0.0]]))
    assert check_status(certain, Truth([0])) == ("exact", "")
    assert check_status(certain, Truth([1])) == ("refuted", "not exact: announced 100.0 %, realized 0.0 % of 1 people")


def test_a_refuted_status_is_taken_away_in_the_same_audit():
    belief = Posterior.from_dense(np.tile([0.9, 0.1], (100, 1)))
    result = audit(belief, Truth(np.arange(100) % 2), note="of the first run")
    assert {row.status for row in result.rows} == {"refuted"}
    assert {row.note for row in result.rows} == {
        "of the first run; not exact: announced 90.0 %, realized 50.0 % of 100 people"
    }
    assert result.row("success_probability").as_dict()["status"] == "refuted"
    kept = audit(belief, Truth((np.arange(100) % 10 == 0).astype(int)))
    assert {row.status for row in kept.rows} == {"exact"}


def test_people_whose_truth_is_unknown_refute_nothing():
    belief = Posterior.from_dense(np.tile([0.9, 0.1], (100, 1)))
    assert check_status(belief, Truth(np.full(100, -1))) == ("exact", "")
    assert check_status(belief) == ("exact", "")
