"""Standard errors of a survey, compared with their definition and with replicates."""

import numpy as np
import pytest

import unmask
from unmask.tables import Table
from unmask.tables.criteria import (
    error_of_expected_reidentifications,
    sample_weight_risk,
    standard_error_of_total,
)


def test_the_error_of_a_total_is_that_of_cluster_totals_in_each_stratum():
    values = np.array([1.0, 2.0, 4.0, 8.0, 3.0])
    stratum, cluster = np.array([0, 0, 0, 1, 1]), np.array([7, 7, 8, 7, -1])
    first, second = np.array([3.0, 4.0]), np.array([8.0, 3.0])
    variance = sum(2 * ((totals - totals.mean()) ** 2).sum() for totals in (first, second))
    assert standard_error_of_total(values, stratum=stratum, cluster=cluster) == pytest.approx(np.sqrt(variance))


def test_a_stratum_with_one_cluster_is_compared_with_all_clusters():
    values, stratum = np.array([1.0, 3.0, 9.0]), np.array([0, 0, 1])
    variance = 2 * ((values[:2] - 2) ** 2).sum() + (9 - values.mean()) ** 2
    assert standard_error_of_total(values, stratum=stratum) == pytest.approx(np.sqrt(variance))


def expect(of_row, weight):
    """Return the sum of the individual risks of a sample."""
    classes, of_row, frequency = np.unique(of_row, return_inverse=True, return_counts=True)
    people = np.maximum(np.bincount(of_row, weight, len(classes)), frequency)
    return float(frequency @ sample_weight_risk(frequency, people))


@pytest.mark.parametrize("seed", range(6))
def test_the_error_of_expected_reidentifications_is_the_jackknife_over_clusters(seed):
    rng = np.random.default_rng(seed)
    of_row, weight, cluster = rng.integers(0, 12, 40), rng.uniform(2, 30, 40), rng.integers(-1, 15, 40)
    stratum = np.where(cluster < 0, 0, cluster % 2)
    alone = np.where(cluster < 0, 100 + np.arange(40), cluster)
    variance = 0.0
    for number in (0, 1):
        names = np.unique(alone[stratum == number])
        effects = [expect(of_row, weight) - expect(of_row[alone != name], weight[alone != name]) for name in names]
        variance += len(names) / (len(names) - 1) * np.sum((np.array(effects) - np.mean(effects)) ** 2)
    error = error_of_expected_reidentifications(of_row, weight, stratum=stratum, cluster=cluster)
    assert error == pytest.approx(np.sqrt(variance))


def test_the_interval_of_an_audit_covers_the_spread_over_samples():
    rng = np.random.default_rng(0)
    population = rng.geometric(0.02, 20_000)
    totals, covered = [], []
    for _ in range(60):
        sample = rng.choice(population, 1000, replace=False)
        error = error_of_expected_reidentifications(sample, np.full(1000, 20.0))
        totals.append(expect(sample, np.full(1000, 20.0)))
        covered.append(error)
    share = np.mean(np.abs(np.array(totals) - np.mean(totals)) <= 1.96 * np.array(covered))
    assert share >= 0.9
    assert np.std(totals) < np.mean(covered) < 2 * np.std(totals)


def test_households_are_the_clusters_of_an_audit():
    rng = np.random.default_rng(1)
    age = np.repeat(rng.integers(20, 90, 50), 4)  # members of a household are alike
    columns = {"age": age, "home": np.repeat(np.arange(50), 4), "w": np.full(200, 10)}
    alike, single = (
        unmask.audit(Table.read(columns, quasi_identifiers="age", weight="w", household=household)).criteria["release"]
        for household in ("home", None)
    )
    assert alike["expected_reidentifications"] == single["expected_reidentifications"]
    for criteria in (alike, single):
        low, high = (criteria[f"expected_reidentifications_{end}"] for end in ("low", "high"))
        assert low < criteria["expected_reidentifications"] < high
    assert alike["expected_reidentifications_high"] != single["expected_reidentifications_high"]
