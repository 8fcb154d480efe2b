"""Risk by a log-linear model, compared with its definition and with populations."""

import numpy as np
import pytest
import scipy

import unmask
from unmask.core.errors import UnmaskError
from unmask.tables import Table
from unmask.tables.criteria import model_risk, sample_weight_risk
from unmask.tables.criteria.log_linear import fit_log_linear
from unmask.tables.risk.records import evaluate_records


@pytest.mark.parametrize(("fraction", "tolerance"), [(0.5, 1e-12), (0.1, 1e-12), (0.01, 1e-12), (0.001, 2e-3)])
def test_the_risk_is_the_mean_of_the_reciprocal_of_sampled_and_poisson_people(fraction, tolerance):
    frequency = np.array([1, 2, 3, 5])  # of one column, whose model has the frequencies themselves
    unsampled = frequency * (1 - fraction) / fraction
    n = np.arange(20_000)[:, None]
    expected = (scipy.stats.poisson.pmf(n, unsampled) / (frequency + n)).sum(axis=0)
    risk = model_risk(np.arange(4)[:, None], frequency, fraction)
    assert risk == pytest.approx(expected, rel=tolerance)


def test_independent_columns_have_the_product_of_their_shares():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, (6, 4, 3), (2000, 3))
    levels, frequency = np.unique(columns, axis=0, return_counts=True)
    shares = [np.bincount(column) / 2000 for column in columns.T]
    product = 2000 * np.prod([share[codes] for share, codes in zip(shares, levels.T, strict=True)], axis=0)
    fitted = fit_log_linear(levels, frequency)
    assert np.abs(fitted / product - 1).max() < 0.25  # a pair may be added by chance
    assert fitted.sum() == pytest.approx(2000)


def test_columns_that_depend_on_each_other_are_a_pair_of_the_model():
    rng = np.random.default_rng(1)
    cause, free = rng.integers(0, 8, (2, 4000))
    levels, frequency = np.unique(np.stack([cause, (cause + 1) % 8, free], axis=1), axis=0, return_counts=True)
    product = np.bincount(cause)[levels[:, 0]] * np.bincount(free)[levels[:, 2]] / 4000
    assert fit_log_linear(levels, frequency) == pytest.approx(product, rel=0.25)


def test_the_sum_of_the_risk_is_near_the_truth_where_the_risk_by_weights_is_not():
    rng = np.random.default_rng(2)
    people = np.minimum(rng.geometric(0.15, (40_000, 4)), 25)
    _, of_person, sizes = np.unique(people, axis=0, return_inverse=True, return_counts=True)
    sampled = rng.choice(40_000, 2000, replace=False)
    levels, frequency = np.unique(people[sampled], axis=0, return_counts=True)
    truth = np.sum(1 / sizes[of_person.ravel()[sampled]])
    modeled = frequency @ model_risk(levels, frequency, 0.05)
    by_weights = frequency @ sample_weight_risk(frequency, frequency * 20.0)
    assert modeled == pytest.approx(truth, rel=0.1)
    assert by_weights < truth / 2


def test_too_many_combinations_are_refused_and_noted():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 150, (400, 3))
    with pytest.raises(UnmaskError, match="combinations of values"):
        model_risk(codes, np.ones(400, np.int64), 0.1)
    table = Table.read({f"c{n}": column for n, column in enumerate(codes.T)}, quasi_identifiers=["c0", "c1", "c2"])
    risks = evaluate_records(table, population=4000)
    assert "model_risk" not in risks.columns
    assert risks.not_run[0][0] == "model_risk"
    assert "model_risk_max" not in unmask.audit(table, population=4000).criteria["release"]


def test_an_audit_and_the_risk_file_have_the_same_risk():
    rng = np.random.default_rng(4)
    columns = {"age": rng.integers(20, 40, 300), "sex": rng.integers(0, 2, 300), "w": rng.integers(2, 30, 300)}
    table = Table.read(columns, quasi_identifiers=["age", "sex"], weight="w")
    risk = np.asarray(evaluate_records(table).columns["model_risk"])
    criteria = unmask.audit(table).criteria["release"]
    assert (criteria["model_risk_average"], criteria["model_risk_max"]) == pytest.approx((risk.mean(), risk.max()))
    assert model_risk(table.classes.levels, table.classes.sizes, 300 / columns["w"].sum())[
        table.classes.of_row
    ] == pytest.approx(risk)


def test_cells_that_overlap_are_no_categories_of_the_model():
    columns = {"age": ["[20, 29]", "[25, 34]", "41", "41"], "sex": list("fmfm")}
    risks = evaluate_records(Table.read(columns, quasi_identifiers=["age", "sex"]), population=40)
    assert "model_risk" not in risks.columns
    assert "cells of 'age' overlap" in dict(risks.not_run)["model_risk"]
