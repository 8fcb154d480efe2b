"""If the belief is right, the attacker's plan equals the result (E2)."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from unmask import Posterior, Truth, audit
from unmask.core.truth import ABSENT
from unmask.economics import Attacker, play_out, price_posterior, read_attacker
from unmask.measures.success import rank_truth
from unmask.scoring import price_measures
from unmask.tables import Mondrian, Register, RegisterAttack, Table, datasets


@st.composite
def attackers(draw):
    options = draw(st.sampled_from([{}, {"detection": (0.3, 0.05, 0.6)}, {"arrest": True}, {"max_tries": 2}]))
    detection = {} if "detection" in options else {"detection_base": draw(st.floats(-4, 1)), "detection_growth": 0.3}
    return Attacker(
        gain=100,
        exploit_cost=draw(st.floats(0, 30)),
        link_cost=draw(st.sampled_from([0.0, 10.0])),
        access_cost=draw(st.sampled_from([0.0, 5.0])),
        fine=draw(st.sampled_from([0.0, 20.0, 200.0])),
        max_fines=draw(st.sampled_from([0, 1, 2, math.inf])),
        confirmation=draw(st.sampled_from([1.0, 0.7])),
        profile=draw(st.sampled_from(["undiscounted", "literal", "folded"])),
        **detection,
        **options,
    )


@st.composite
def beliefs(draw):
    """Draw a few rows of a few candidates, some equal, some without a candidate."""
    size = draw(st.integers(1, 6))
    weights = st.lists(st.sampled_from([0, 1, 1, 2, 5, 9]), min_size=size, max_size=size).filter(any)
    table = np.array(draw(st.lists(weights, min_size=1, max_size=4)), dtype=float)
    inside = draw(st.sampled_from([1.0, 0.6]))
    return Posterior.from_dense(inside * table / table.sum(axis=1, keepdims=True))


SURE_TO_BE_CAUGHT = Attacker(gain=100, exploit_cost=60, max_fines=0, arrest=True, detection=(0.9,))
FINED_LATER = Attacker(gain=100, fine=85, max_fines=math.inf, detection=(1.0,), profile="literal")


@example(SURE_TO_BE_CAUGHT, Posterior.from_dense(np.array([[0.8, 0.1, 0.1]])))
@example(FINED_LATER, Posterior.from_dense(np.array([[0.9, 0.1]])))
@settings(max_examples=200)
@given(attackers(), beliefs())
def test_e2_a_plan_played_out_succeeds_as_often_as_it_says(attacker, belief):
    """Over candidates that are true as often as the belief says, for every profile, cap and detection."""
    total = np.zeros(belief.n_observations)
    for candidate in range(belief.n_candidates):
        truth = Truth(np.full(belief.n_targets, candidate))
        place = rank_truth(belief, truth)
        entry = (belief.candidate == candidate).nonzero()[0]
        row = np.searchsorted(belief.indptr, entry, side="right") - 1
        p = np.zeros(belief.n_observations)
        p[row] = np.exp(belief.log_probability[entry])
        total += p * play_out(attacker, belief, place.n_better, place.n_tied)
    assert total == pytest.approx(price_posterior(attacker, belief).success_probability, abs=1e-9)
    nobody = np.full(belief.n_targets, ABSENT)
    place = rank_truth(belief, Truth(nobody))
    assert not play_out(attacker, belief, place.n_better, place.n_tied).any()


def test_e2_a_plan_is_played_out_by_dice():
    attacker = Attacker(gain=100, exploit_cost=8, fine=60, max_fines=1, detection=(0.2, 0.4), confirmation=0.9)
    p = np.array([0.4, 0.25, 0.2, 0.1])
    belief = Posterior.from_dense(p[None])
    rng = np.random.default_rng(1)
    # by hand: with no fine left, or worth the risk, the next try; his value is the recursion over failures and fines
    q, cost = (0.2, 0.4, 0.4, 0.4), 8

    def value(j, fined):
        if j == 4:
            return 0.0
        large = 1 - 0.9 * p[:j].sum()
        go = 0.9 * p[j] * 100 - large * (cost + (0 if fined else q[j] * 60))
        go += q[j] * value(j + 1, True) + (1 - q[j]) * value(j + 1, fined)
        return max(go, 0.0)

    for true in range(4):
        hits = 0
        for _ in range(4000):
            fined = False
            for j in range(4):
                if value(j, fined) <= 0:
                    break
                fined |= rng.random() < q[j]
                if j == true and rng.random() < 0.9:
                    hits += 1
                    break
        result = play_out(attacker, belief, np.array([true]), np.array([1]))[0]
        assert result == pytest.approx(hits / 4000, abs=0.03)


CASE = read_attacker("case-study")


def linked(k, coverage, *, n, seed):
    """The audit of the case study's attacker, who holds a register of some of those released."""
    rng = np.random.default_rng(seed)
    columns = ("age", "sex", "zip")
    people = Table.read(datasets.synthetic_census(n, rng=rng), quasi_identifiers=columns)
    release, origin = Mondrian(k=k)(people, rng=rng) if k else (people, np.arange(n))
    knowledge = Register(coverage=coverage)(people, origin, rng=rng)
    belief = RegisterAttack(coverage=coverage)(release, knowledge.background)
    return audit(belief, knowledge.truth, measures=price_measures(CASE), drawn_from=math.inf)


@pytest.mark.parametrize("k", [0, 5, 40])
def test_e1_e2_announced_and_realized_rational_success_are_one_and_within_the_coverage(k):
    result = linked(k, 0.63, n=500, seed=0)
    announced, real = result.row("rational_success"), result.row("realized_rational_success")
    assert announced.low <= real.posterior <= announced.high
    assert real.low <= announced.posterior <= real.high
    assert max(announced.posterior, real.posterior) <= 0.63 + 1e-9
    assert announced.posterior == pytest.approx(real.posterior, abs=0.02)
    assert (announced.unit, announced.direction) == (real.unit, real.direction)


def test_e2_without_a_truth_the_realized_side_is_not_run():
    belief = Posterior.from_dense(np.array([[0.5, 0.5]]))
    result = audit(belief, measures=price_measures(CASE))
    assert ("realized_rational_success", "the truth is not known") in result.not_run
