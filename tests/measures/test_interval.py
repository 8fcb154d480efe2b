"""Intervals and worst cases do not hang on the last digit of a belief, on the order of targets, or on parts."""

import numpy as np
import pytest

from unmask.inference import from_classes
from unmask.measures import effective_set_size, evaluate, success_probability
from unmask.measures.base import QUANTILES, weighted_quantiles
from unmask.measures.interval import clustered_wilson, wilson
from unmask.measures.tally import joined, row, tally
from unmask.tables.large import attacks


def test_values_that_differ_by_rounding_agree():
    cluster = np.repeat(np.arange(4), 5)
    weight = np.full(20, 1 / 20)
    exact = clustered_wilson(np.full(20, 0.2), weight, cluster)
    rounded = 0.2 * (1 + 1e-7 * np.array([1, -1, 1, -1])[cluster])  # as single precision
    assert clustered_wilson(rounded, weight, cluster)[:2] == pytest.approx(exact[:2], abs=1e-6)
    apart = 0.2 * (1 + 1e-4 * np.array([1, -1, 1, -1])[cluster])
    assert clustered_wilson(apart, weight, cluster).high < exact.high - 0.1  # 20 targets, not 4


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
def test_values_that_are_all_the_same_have_no_variance_by_rounding(value):
    weight = np.repeat(1 / 23, 23)  # adds up to less than 1
    cluster = np.repeat([0, 1, 2], [3, 7, 13])
    found = clustered_wilson(np.full(23, value), weight, cluster)
    assert (found.low, found.high) == pytest.approx(wilson(value, 3))


def test_the_worst_observation_does_not_hang_on_the_order_of_targets():
    for of_row in ([0, 0, 1, 1, 2, 2, 2], [2, 1, 2, 1, 2, 0, 0]):
        found = evaluate(success_probability, from_classes(np.array(of_row), np.array(of_row)))
        assert found.worst_observation == 0


def test_people_of_one_observation_count_one_by_one():
    rng = np.random.default_rng(0)
    of_record, of_target = np.append(np.arange(41), rng.integers(0, 40, 500)), rng.integers(5, 40, 300)
    weight = rng.dirichlet(np.ones(300))
    belief = from_classes(of_record, of_target, weight=weight)  # of 41 observations 6 are produced by nobody
    found, value = evaluate(success_probability, belief), success_probability.per_target(belief)
    assert (found.n, found.n_observations) == (300, len(np.unique(of_target)))
    assert found.posterior == pytest.approx(weight @ value, rel=1e-12)
    assert found.worst == value.max() < success_probability.self_assessed(belief).max()
    assert found.quantiles == weighted_quantiles(value, weight, QUANTILES)


def test_an_interval_of_many_small_parts_is_that_of_the_whole():
    counts = np.random.default_rng(0).integers(1, 40, 300)
    people = int(counts.sum())

    def of(part):
        belief = attacks.identity(part, total=people)
        return tally(effective_set_size, belief, int(part.sum()))

    names = {"release": "r", "adversary": "a", "target": "t"}
    whole = row(effective_set_size, of(counts), **names)
    parts = row(effective_set_size, joined(effective_set_size, [of(part) for part in np.split(counts, 100)]), **names)
    assert parts.posterior == pytest.approx(whole.posterior, rel=1e-12)
    assert (parts.low, parts.high) == pytest.approx((whole.low, whole.high), rel=0.02)
    assert parts.worst_observation == whole.worst_observation == int(np.argmin(counts))
