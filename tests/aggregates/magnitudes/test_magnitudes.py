"""Magnitude tables: sensitive cells by their definitions, and suppression against contributors."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.aggregates.magnitudes import (
    MagnitudeCells,
    SensitivityRule,
    audit_magnitudes,
    feasible_interval,
    suppress_magnitudes,
)
from unmask.core.errors import UnmaskError


def cross(*shape):
    """The rows of a table with all its totals."""
    matrix = np.ones((1, 1))
    for size in shape:
        matrix = np.kron(matrix, np.vstack([np.eye(size), np.ones((1, size))]))
    return sp.csr_array(matrix)


def draw_cells(seed, *shape, n=80, scale=1.0):
    rng = np.random.default_rng(seed)
    rows = cross(*shape)
    atom, holding = rng.integers(0, rows.shape[1], n), rng.integers(0, n * 3 // 4, n)
    return MagnitudeCells.build(rows, atom, scale * rng.lognormal(8, 1.5, n), holding)[0]


def levels_of(rule, contributions):
    ordered = np.sort(contributions)[::-1]
    largest = np.zeros((1, rule.n_largest))
    largest[0, : len(ordered)] = ordered[: rule.n_largest]
    return rule.protection_levels(largest, np.array([ordered.sum()]), np.array([len(ordered)]))[0]


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_sensitive_cells_are_those_of_the_definitions(contributions):
    x = sorted(contributions, reverse=True)
    total, second = sum(x), sum(x[1:2])
    assert (levels_of(SensitivityRule(dominance=(2, 80)), x) > 0) == (5 * sum(x[:2]) > 4 * total)
    assert (levels_of(SensitivityRule(p_percent=10), x) > 0) == (10 * (total - x[0] - second) < x[0])
    assert (levels_of(SensitivityRule(prior_posterior=(20, 50)), x) > 0) == (5 * (total - x[0] - second) < 2 * x[0])
    assert (levels_of(SensitivityRule(min_contributors=3), x) > 0) == (len(x) < 3)


def test_upper_protection_level_of_p_percent_is_where_the_estimate_leaves_p_percent():
    contributions, level = [100.0, 30.0, 2.0], levels_of(SensitivityRule(p_percent=10), [100, 30, 2])
    assert sum(contributions) + level - 30 == pytest.approx(110)  # the second subtracts its own 30


def test_respondents_of_one_holding_are_one_contributor():
    rows = sp.csr_array(np.ones((1, 1)))
    single = MagnitudeCells.build(rows, np.zeros(4, dtype=int), np.array([30.0, 30, 30, 30]), ["a", "a", "b", "c"])[0]
    largest, _ = single.rank(2)
    assert largest.tolist() == [[60.0, 30.0]]
    rule = SensitivityRule(dominance=(1, 45))
    assert levels_of(rule, [30, 30, 30, 30]) == 0
    assert suppress_magnitudes(single, rule, seconds=0).levels[0] > 0


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_no_contributor_estimates_another_within_p_percent(scale):
    cells = draw_cells(3, 4, 5, scale=scale)
    rule = SensitivityRule(p_percent=10, min_contributors=3)
    suppressed = suppress_magnitudes(cells, rule, seconds=10)
    assert suppressed.pattern.gap == 0
    audit = audit_magnitudes(cells, suppressed.pattern.hidden)
    sensitive = suppressed.levels[audit.cells] > 0
    assert sensitive.sum() > 5
    assert audit.excess[sensitive].min() >= 10 * (1 - 1e-6)
    values = cells.linked().values[audit.cells]
    assert (audit.outside[:, 0] <= values * (1 + 1e-6)).all()
    assert (audit.inside[:, 1] <= audit.outside[:, 1] * (1 + 1e-6)).all()


def test_audit_finds_cells_that_primary_suppression_leaves_determined():
    cells = draw_cells(3, 4, 5)
    rule = SensitivityRule(p_percent=10)
    levels = suppress_magnitudes(cells, rule, seconds=0).levels
    audit = audit_magnitudes(cells, levels > 0)
    assert (np.diff(audit.outside, axis=1).ravel() < 1e-3).any()
    assert audit.excess.min() < 10


def test_two_lone_contributors_of_a_row_do_not_learn_each_other():
    # a 2 x 3 table: the cells (0, 0) and (0, 1) have one contributor each, all other cells have many equal ones
    rows = cross(2, 3)
    atom = np.concatenate([[0, 1], np.repeat([2, 3, 4, 5], 20)])
    magnitude = np.concatenate([[500.0, 400.0], np.full(80, 40.0)])
    cells = MagnitudeCells.build(rows, atom, magnitude, np.arange(82))[0]
    suppressed = suppress_magnitudes(cells, SensitivityRule(p_percent=10), seconds=10)
    audit = audit_magnitudes(cells, suppressed.pattern.hidden)
    assert {0, 1} <= {*audit.cells.tolist()}
    assert feasible_interval(cells, suppressed.pattern.hidden, 0, holding=1)[1] >= 550 * (1 - 1e-6)


def test_negative_and_missing_magnitudes_are_refused():
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(UnmaskError, match="negative, missing or infinite"):
            MagnitudeCells.build(cross(2), np.array([0, 1]), np.array([1.0, wrong]), ["a", "b"])


@pytest.mark.parametrize(
    "wrong", [{}, {"dominance": (0, 80)}, {"dominance": (1, 100)}, {"p_percent": 0}, {"prior_posterior": (50, 20)}]
)
def test_impossible_rules_are_refused(wrong):
    with pytest.raises(UnmaskError, match="expected"):
        SensitivityRule(**wrong)
