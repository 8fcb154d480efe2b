"""Measures of rows are evaluated once for each kind of row, and nothing else changes."""

from importlib import import_module

import numpy as np
import pytest

from unmask import Posterior, audit
from unmask.core.distinct_rows import distinct_rows
from unmask.core.truth import ABSENT, Truth
from unmask.scoring import REALIZED, SELF_ASSESSED

DISTINCT, SUCCESS = import_module("unmask.core.distinct_rows"), import_module("unmask.measures.success")


def belief_of_kinds(rng, n=300, *, uniform=True):
    """Rows over six candidates of a few kinds, some of which only differ in the order of their entries."""
    prior = None if uniform else np.array([0.3, 0.3, 0.1, 0.1, 0.1, 0.1])
    kinds = np.array([[0.5, 0.5], [0.2, 0.8], [0.8, 0.2], [1.0, 0.0], [0.2, 0.3]])[rng.integers(0, 5, n)]
    table = np.zeros((n, 6))
    table[np.arange(n)[:, None], np.sort(rng.permuted(np.tile(np.arange(6), (n, 1)), axis=1)[:, :2], axis=1)] = kinds
    observation = rng.integers(0, n, 2 * n)
    weight = rng.dirichlet(np.ones(2 * n))
    return Posterior.from_dense(table, prior=prior, observation=observation, weight=weight)


@pytest.mark.parametrize("uniform", [True, False])
@pytest.mark.parametrize("drawn_from", [None, np.inf])
@pytest.mark.parametrize("hashes", [None, lambda posterior: np.zeros(posterior.n_observations)])
def test_an_audit_finds_the_same(monkeypatch, uniform, drawn_from, hashes):
    belief = belief_of_kinds(np.random.default_rng(1), uniform=uniform)
    expected = audit(belief, measures=SELF_ASSESSED, drawn_from=drawn_from)
    monkeypatch.setattr(DISTINCT, "MIN_ROWS", 64)
    if hashes:  # which all rows share, whatever their kind
        monkeypatch.setattr(DISTINCT, "_hash_rows", hashes)
    assert distinct_rows(belief).posterior.n_observations < belief.n_observations
    belief.discard_results()
    result = audit(belief, measures=SELF_ASSESSED, drawn_from=drawn_from)
    for first, second in zip(result.rows, expected.rows, strict=True):
        for name in ("n", "n_observations", "worst_observation"):
            assert getattr(first, name) == getattr(second, name), (first.measure, name)
        for name in ("prior", "posterior", "worst", "low", "high", "quantiles"):
            matching = pytest.approx(np.array(getattr(second, name), dtype=float), rel=1e-12, abs=1e-12, nan_ok=True)
            assert np.array(getattr(first, name), dtype=float) == matching, (first.measure, name)


@pytest.mark.parametrize("uniform", [True, False])
def test_targets_who_stand_in_one_place_of_rows_that_are_alike_are_asked_about_once(monkeypatch, uniform):
    rng = np.random.default_rng(3)
    belief = belief_of_kinds(rng, uniform=uniform)
    truth = Truth(rng.integers(ABSENT, 6, belief.n_targets))
    calls, one_by_one = [], SUCCESS._rank_positions
    with monkeypatch.context() as patch:
        patch.setattr(DISTINCT, "MIN_ROWS", 10**6)
        expected = audit(belief, truth, measures=REALIZED)
    monkeypatch.setattr(DISTINCT, "MIN_ROWS", 64)
    monkeypatch.setattr(
        SUCCESS,
        "_rank_positions",
        lambda *arguments, **options: calls.append(arguments[1]) or one_by_one(*arguments, **options),
    )
    result = audit(belief, truth, measures=REALIZED)
    assert max(map(len, calls)) < belief.n_targets // 3
    for first, second in zip(result.rows, expected.rows, strict=True):
        assert first == second


def test_a_belief_of_unlike_rows_stays_as_it_is(monkeypatch):
    monkeypatch.setattr(DISTINCT, "MIN_ROWS", 64)
    belief = Posterior.from_dense(np.random.default_rng(2).dirichlet(np.ones(4), 200))
    distinct = distinct_rows(belief)
    assert distinct.posterior is belief
    assert distinct.first_row.tolist() == list(range(200))
