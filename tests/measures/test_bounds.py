"""The corrected bounds of equation (8): they hold, they are tight, and MAP breaks them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import Posterior, UnmaskError
from unmask.measures.bounds import (
    bounds,
    divergence_nats_for_regret,
)
from unmask.measures.error import bayes
from unmask.measures.leakage import mutual_information
from unmask.measures.losses import as_matrix


@st.composite
def joints(draw):
    n, m = draw(st.integers(2, 5)), draw(st.integers(1, 5))
    concentration = draw(st.sampled_from([0.2, 1.0, 50.0]))
    joint = np.random.default_rng(draw(st.integers(0, 10_000))).dirichlet(np.full(n * m, concentration)).reshape(m, n)
    joint = np.where(joint < 1e-4, 0.0, joint)
    joint = joint[joint.sum(axis=1) > 0]
    return joint / joint.sum()


def exact(joint):
    weight = joint.sum(axis=1)
    return Posterior.from_dense(joint / weight[:, None], prior=joint.sum(axis=0), weight=weight)


@settings(max_examples=150, deadline=None)
@given(joints(), st.integers(0, 1000))
def test_every_bound_holds_for_every_loss(joint, seed):
    rng, n = np.random.default_rng(seed), joint.shape[1]
    belief, xy = exact(joint), rng.normal(size=(n, 2))
    for loss in ("hamming", "squared", "absolute", "euclidean", rng.uniform(0, 2, (n + 1, n))):
        interval = bounds(belief, loss, coordinates=xy)
        slack = 2e-5 * max(interval.largest, 1)
        assert np.all(interval.regret >= 0)
        assert np.all(interval.regret <= interval.regret_by_variation + slack)
        assert np.all(interval.regret_by_variation <= interval.regret_by_divergence + slack)
        assert np.all(interval.regret_by_variation <= interval.regret_by_divergence + slack)
        assert np.all(np.abs(interval.gap) <= interval.gap_by_variation + slack)
        assert np.all(interval.gap_by_variation <= interval.gap_by_divergence + slack)
        assert interval.mean_square_regret <= interval.mean_square_by_information + slack * interval.largest
        assert interval.average_gap == pytest.approx(interval.average_regret, abs=slack)
        assert interval.average_gap == pytest.approx(bayes(belief, loss, coordinates=xy).gain, abs=slack)
        assert interval.information_nats == pytest.approx(mutual_information(belief) * np.log(2), abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(joints(), st.integers(0, 1000))
def test_regret_and_gap_are_the_literal_ones(joint, seed):
    n = joint.shape[1]
    matrix = np.random.default_rng(seed).uniform(0, 2, (n, n))
    q, rows = joint.sum(axis=0), joint / joint.sum(axis=1, keepdims=True)
    ignoring = rows @ matrix[(matrix @ q).argmin()]
    least_losses = (rows @ matrix.T).min(axis=1)
    interval = bounds(exact(joint), matrix)
    assert interval.regret == pytest.approx(ignoring - least_losses, abs=1e-5)
    assert interval.gap == pytest.approx((matrix @ q).min() - least_losses, abs=1e-5)


def test_the_bound_of_the_regret_is_tight():
    # prior a hair on one side of 1/2, belief on the other: regret 2 e against 2 (e + hair); sqrt(D / 2) -> TV as e -> 0
    ratios = []
    for e in (0.2, 0.05, 0.01):
        hair = e * 1e-3
        belief = Posterior.from_dense(np.array([[0.5 - e, 0.5 + e]]), prior=np.array([0.5 + hair, 0.5 - hair]))
        interval = bounds(belief)
        assert interval.regret[0] == pytest.approx(2 * e, rel=1e-4)
        assert interval.regret[0] / interval.regret_by_variation[0] > 0.998
        ratios.append(interval.regret[0] / interval.regret_by_divergence[0])
    assert ratios == sorted(ratios)
    assert 0.998 < ratios[-1] <= 1


def test_the_bound_of_the_gap_is_tight_and_the_gap_may_be_negative():
    belief = Posterior.from_dense(np.array([[0.5, 0.5]]), prior=np.array([0.8, 0.2]))
    interval = bounds(belief)
    assert interval.gap[0] == pytest.approx(-0.3, abs=1e-6)
    assert interval.gap_by_variation[0] == pytest.approx(0.3, abs=1e-6)
    assert interval.regret[0] == 0


def test_three_points_on_a_line_break_the_bound_for_map():
    # spec 6.1: the third point lies next to the first; 1e-4 of mass moves MAP from the second point to the first
    z = np.array([0.0, 1.0, 1e-6])
    prior, row = np.array([0.4 - 1e-4, 0.4 + 1e-4, 0.2]), np.array([0.4 + 1e-4, 0.4 - 1e-4, 0.2])
    interval = bounds(Posterior.from_dense(row[None], prior=prior), "absolute", coordinates=z)
    cost = as_matrix("absolute", 3, coordinates=z) @ row
    map_regret = cost[prior.argmax()] - cost[row.argmax()]
    assert map_regret == pytest.approx(0.2, abs=1e-3)
    assert interval.total_variation[0] == pytest.approx(2e-4, rel=1e-3)
    assert map_regret > 400 * interval.regret_by_variation[0]
    # the Bayes attacker answers the first point before and after
    assert interval.regret[0] == pytest.approx(0, abs=1e-6)


def test_small_divergences_are_not_rounded_away():
    # D = 2 e^2 nats is below the resolution of the leakage measures here, and the bound takes its root
    e = 3e-4
    interval = bounds(Posterior.from_dense(np.array([[0.5 - e, 0.5 + e]]), prior=np.array([0.5 + 2e-6, 0.5 - 2e-6])))
    assert interval.divergence_nats[0] == pytest.approx(2 * e**2, rel=2e-2)
    assert interval.regret[0] <= interval.regret_by_divergence[0] * (1 + 1e-3)
    assert interval.regret[0] > 5e-4


def test_the_inverse_of_the_bound_keeps_the_regret():
    assert np.sqrt(2) * 3.0 * np.sqrt(divergence_nats_for_regret(0.2, largest=3.0)) == pytest.approx(0.2)


def test_a_loss_without_bounds_is_refused():
    belief = Posterior.from_dense(np.array([[0.5, 0.5]]))
    with pytest.raises(UnmaskError, match="matrix"):
        bounds(belief, "euclidean_medoid", coordinates=[[0.0, 0.0], [1.0, 0.0]])
    with pytest.raises(UnmaskError, match="unlisted"):
        bounds(Posterior.from_dense(np.array([[0.5, 0.3]]), prior=np.array([0.4, 0.4])))
    with pytest.raises(UnmaskError, match="calibrate"):
        bounds(Posterior.from_dense(np.array([[0.5, 0.5]]), status="scores"))
