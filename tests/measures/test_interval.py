"""Intervals and worst cases do not hang on the last digit of a belief, on the order of targets, or on parts."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from unmask import Posterior, Truth, UnmaskError
from unmask.core.arrays import weighted_quantiles
from unmask.core.inference import from_classes
from unmask.measures import calibration_error, effective_set_size, evaluate, realized_success, success_probability
from unmask.measures.interval import EVERYBODY, clustered_wilson, of_targets, wilson
from unmask.measures.measure import QUANTILES
from unmask.scoring import STANDARD
from unmask.tables.attacks.classes import from_sizes


def test_values_that_differ_by_rounding_agree():
    cluster = np.repeat(np.arange(4), 5)
    weight = np.full(20, 1 / 20)
    exact = clustered_wilson(np.full(20, 0.2), weight, cluster)
    rounded = 0.2 * (1 + 1e-12 * np.array([1, -1, 1, -1])[cluster])
    assert clustered_wilson(rounded, weight, cluster)[:2] == pytest.approx(exact[:2], abs=1e-6)
    values = 0.2 * (1 + 1e-4 * np.array([1, -1, 1, -1])[cluster])
    assert clustered_wilson(values, weight, cluster).high < exact.high - 0.1  # 20 targets, not 4


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
def test_values_that_are_all_the_same_have_no_variance_by_rounding(value):
    weight = np.repeat(1 / 23, 23)  # adds up to less than 1
    cluster = np.repeat([0, 1, 2], [3, 7, 13])
    interval = clustered_wilson(np.full(23, value), weight, cluster)
    assert (interval.low, interval.high) == pytest.approx(wilson(value, 3))


def test_the_worst_observation_does_not_hang_on_the_order_of_targets():
    for of_row in ([0, 0, 1, 1, 2, 2, 2], [2, 1, 2, 1, 2, 0, 0]):
        result = evaluate(success_probability, from_classes(np.array(of_row), np.array(of_row)))
        assert result.worst_observation == 0


def test_people_of_one_observation_count_one_by_one():
    rng = np.random.default_rng(0)
    of_record, of_target = np.append(np.arange(41), rng.integers(0, 40, 500)), rng.integers(5, 40, 300)
    weight = rng.dirichlet(np.ones(300))
    belief = replace(from_classes(of_record, of_target), weight=weight)  # 6 of 41 observations have no target
    result, value = evaluate(success_probability, belief), success_probability.per_target(belief)
    assert (result.n, result.n_observations) == (300, len(np.unique(of_target)))
    assert result.posterior == pytest.approx(weight @ value, rel=1e-12)
    assert result.worst == value.max() < success_probability.self_assessed(belief).max()
    assert result.quantiles == pytest.approx(weighted_quantiles(value, weight, QUANTILES), rel=1e-11)


def test_classes_as_targets_count_their_people():
    sizes = np.random.default_rng(0).integers(1, 40, 300)
    people, of_row = int(sizes.sum()), np.repeat(np.arange(300), sizes)
    counted = evaluate(effective_set_size, from_sizes(sizes, sizes / people, n_candidates=people), people=people)
    rows = evaluate(effective_set_size, from_classes(of_row, of_row))
    assert counted.posterior == pytest.approx(rows.posterior, rel=1e-12)
    assert (counted.n, counted.n_observations, counted.interval) == (people, 300, EVERYBODY)
    assert counted.worst_observation == rows.worst_observation == int(np.argmin(sizes))


def test_the_variance_between_few_clusters_has_bessels_factor():
    """Two clusters of values: n_eff = p (1 - p) / V with V = 2 / 1 sum (s - p m)^2."""
    value, cluster = np.array([0.2, 0.2, 0.6, 0.6]), np.array([0, 0, 1, 1])
    interval = clustered_wilson(value, np.full(4, 1 / 4), cluster)
    # s = 0.1 and 0.3, m = 1/2, p = 0.4: sum of squares 2 (0.1)^2 = 0.02, V = 0.04, n_eff = 0.24 / 0.04 = 6, Kish's 4
    assert (interval.low, interval.high) == pytest.approx(wilson(0.4, 4))
    value = np.array([0.0, 0.0, 0.8, 0.8])  # sum of squares 2 (0.2)^2 = 0.08, V = 0.16, n_eff = 1.5; 3 without Bessel
    interval = clustered_wilson(value, np.full(4, 1 / 4), cluster)
    assert (interval.low, interval.high) == pytest.approx(wilson(0.4, 1.5))


def test_clusters_never_count_for_more_than_their_targets():
    """Kish's cap: clusters that happen to agree nearly do not make 20 targets into thousands."""
    cluster = np.repeat(np.arange(4), 5)
    value = 0.2 + 1e-3 * np.array([1, -1, 1, -1])[cluster]
    assert clustered_wilson(value, np.full(20, 1 / 20), cluster)[:2] == pytest.approx(wilson(0.2, 20))
    weight = np.where(np.arange(20) == 0, 0.5, 0.5 / 19)  # one target is half of all: 1 / sum w^2 = 3.8
    interval = clustered_wilson(value, weight, cluster)
    assert interval[:2] == pytest.approx(wilson(float(weight @ value), 1 / float((weight**2).sum())))


BELIEF = from_classes(np.repeat([0, 1, 2, 3], [1, 2, 3, 10]), np.repeat([0, 1, 2, 3], [1, 2, 3, 10]))
TRUTH = Truth(np.arange(16))


@pytest.mark.parametrize("measure", STANDARD, ids=lambda measure: measure.name)
def test_r9_t11_everybody_attacked_has_no_interval(measure):
    row = evaluate(measure, BELIEF, TRUTH)
    assert (row.low, row.high, row.interval) == (None, None, EVERYBODY)
    assert evaluate(measure, BELIEF, TRUTH, drawn_from=16).interval == EVERYBODY


def sampled(targets, measure, **kwargs):
    targets_drawn = np.asarray(targets)
    belief = replace(
        BELIEF,
        observation=BELIEF.observation[targets_drawn],
        weight=np.full(len(targets_drawn), 1 / len(targets_drawn)),
    )
    return evaluate(measure, belief, Truth(TRUTH.candidate[targets_drawn]), **kwargs)


def test_r5_targets_that_were_drawn_have_an_interval_with_finite_population_correction():
    targets_drawn = [0, 2, 4, 5, 8, 9, 12, 15]
    row = sampled(targets_drawn, effective_set_size, drawn_from=16)
    value = np.array([1.0, 2.0, 3.0, 3.0, 10.0, 10.0, 10.0, 10.0])
    half = stats.t.ppf(0.975, 7) * np.sqrt((1 - 8 / 16) * value.var(ddof=1) / 8)
    assert (row.low, row.high) == pytest.approx((value.mean() - half, value.mean() + half))
    assert row.interval == "targets drawn from 16 people"
    endless = sampled(targets_drawn, effective_set_size, drawn_from=np.inf)
    assert (endless.high - endless.low) == pytest.approx((row.high - row.low) * np.sqrt(2))
    assert endless.interval == "targets, for people like these"
    with pytest.raises(UnmaskError, match="8 targets cannot be drawn from 5 people"):
        sampled(targets_drawn, effective_set_size, drawn_from=5)


def test_r5_rates_are_given_wilsons_interval_at_the_sample_size_of_their_variance():
    value, half = np.repeat([0.0, 1.0], [6, 2]), np.full(8, 1 / 8)
    result = of_targets(value, half, drawn_from=16, rate=True)
    assert result[:2] == pytest.approx(wilson(0.25, 7 / 0.5))  # p (1 - p) / V, V = (1 - 1/2) p (1 - p) / 7
    nobody = of_targets(np.zeros(8), half, drawn_from=16, rate=True)
    assert nobody[:2] == pytest.approx(wilson(0.0, 16))


def test_targets_whose_truth_is_unknown_are_no_sample():
    truth = Truth(np.where(np.arange(16) < 4, -1, np.arange(16)))
    assert evaluate(realized_success, BELIEF, truth, drawn_from=16).interval == EVERYBODY


def test_c6_no_interval_leaves_the_range_of_its_measure():
    result = of_targets(np.array([0.0, 0.0, 0.0, 100.0]), np.full(4, 1 / 4), drawn_from=np.inf, within=(0.0, np.inf))
    assert result.low == 0.0
    assert result.high > 100


@pytest.mark.parametrize(
    ("value", "reason"), [([3.0, 3.0, 3.0], "differ"), ([1.0, np.inf, 2.0], "unbounded"), ([1.0], "one target")]
)
def test_an_uninformative_sample_has_no_interval(value, reason):
    result = of_targets(np.array(value), np.full(len(value), 1 / len(value)), drawn_from=99)
    assert result[:2] == (None, None)
    assert reason in result.over


def test_r5_the_calibration_error_of_an_exact_belief_is_not_biased_and_has_no_interval():
    """A sample of people with a diagnosis each: announced 0.5 and 0.75, and true."""
    belief = Posterior.from_dense(
        np.array([[0.5, 0.5], [0.25, 0.75]]), observation=np.repeat([0, 1], 4), prior=np.array([0.375, 0.625])
    )
    truth = np.array([0, 0, 1, 1, 0, 1, 1, 1])
    everybody = evaluate(calibration_error, belief, Truth(truth))
    assert everybody.posterior == 0
    classes = np.repeat(np.arange(40), np.arange(1, 41))
    assert evaluate(calibration_error, from_classes(classes, classes), Truth(np.arange(820))).posterior == 0
    widths = []
    for seed in range(300):
        targets_drawn = np.random.default_rng(seed).choice(8, 50)
        drawn = replace(belief, observation=belief.observation[targets_drawn], weight=np.full(50, 1 / 50))
        row = evaluate(calibration_error, drawn, Truth(truth[targets_drawn]), drawn_from=np.inf)
        assert (row.low, row.high) == (None, None)
        widths.append(row.posterior)
    # half of the gaps of a tenth are within one standard error, and 0; the plug-in's mean is 0.073
    assert np.mean(np.array(widths) == 0) > 0.3
    assert np.mean(widths) < 0.05


def test_the_calibration_error_has_ten_bins():
    """Announced 0.55 and 0.64 are of two tenths, 0.51 and 0.59 of one."""

    def error(announced):
        table = np.array([[p, 1 - p] for p in announced])
        belief = Posterior.from_dense(table, observation=np.repeat([0, 1], 100))
        clusters = np.concatenate([np.zeros(100, int), np.ones(100, int)])  # always, and never
        return evaluate(calibration_error, belief, Truth(clusters)).posterior

    one_bin = abs((0.51 + 0.59) / 2 - 0.5)
    assert error((0.51, 0.59)) == pytest.approx(np.sqrt(max(one_bin**2 - 0.54**2 / 199, 0)), abs=1e-12)
    assert error((0.55, 0.64)) == pytest.approx((0.45 + 0.64) / 2)
    assert error((0.59, 0.61)) == pytest.approx((0.41 + 0.61) / 2)
    assert error((0.79, 0.81)) == pytest.approx((0.21 + 0.81) / 2)


def test_a_rate_that_rounds_to_one_has_the_interval_of_one():
    value, weight = np.append(np.ones(99), 1 - 1.2e-16), np.full(100, 0.01)
    result = of_targets(value, weight, drawn_from=np.inf, rate=True)
    assert result[:2] == pytest.approx(wilson(1.0, 100))
