"""Capped fines in closed form, and by recursion otherwise: reference values, a literal twin, speed."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest

from tests.economics import literal
from tests.economics.case import CASE
from unmask.core.errors import UnmaskError
from unmask.economics import Attacker, break_even, exploitation_table
from unmask.economics.plans import plan as solver
from unmask.economics.plans.plan import CLEAN, FINES, SUCCESS, TRIES, VALUE, CandidateGroups, Floats, solve_plans

PLAIN = {"prior": 0.63, "gain": 8000.0}
GROWING = {**PLAIN, "detection_base": -9.0, "detection_growth": 0.001, "max_fines": 5}


def price_one(attacker: Attacker, size: int) -> Floats:
    """The plan for one group with the data at hand."""
    return solve_plans(
        attacker, CandidateGroups.uniform(np.array([size]), np.array([attacker.prior * attacker.confirmation]))
    )[:, 0]


def build_attacker(**parameters) -> Attacker:
    return Attacker(**{**PLAIN, "exploit_cost": 0.0, "max_fines": 1} | parameters)


@pytest.mark.parametrize(
    ("attacker", "size", "value"),
    [
        (CASE, 40, 2389.452734),  # R17
        (build_attacker(exploit_cost=2, fine=500, detection=(0.02,), max_fines=5), 120, 4061.549457),  # R18
        (build_attacker(gain=6487, prior=0.29, exploit_cost=28, fine=3988, detection=(0.119,)), 5, 81.681297),  # R19
        (build_attacker(gain=6487, prior=0.29, exploit_cost=28, fine=3988, detection=(0.119,), max_fines=2), 5, 0.0),
        (build_attacker(fine=1, detection=(0.001,)), 10**7, 5039.000063),  # R20
        (build_attacker(exploit_cost=1e-4, fine=1000, detection=(1e-6,), max_fines=5), 10**7, 312.064889),
        (build_attacker(prior=1.0, fine=100, detection=(1e-7,), max_fines=5), 10**7, 7950.010757),
        (replace(CASE, detection_growth=0.18), 40, 189.867333),  # R20'
        (Attacker(**GROWING, exploit_cost=0.01, fine=300), 20_000, 3540.659272),
        (Attacker(**GROWING, exploit_cost=1e-4, fine=500), 10**7, 1855.458843),
    ],
)
def test_e8_reference_values_at_any_size_in_a_tenth_of_a_second(attacker, size, value):
    """Figures of two solvers written apart; the largest groups took minutes or did not end."""
    price_one(attacker, 10)  # what is compiled and imported is no part of the time
    price_one(replace(attacker, detection=(0.5, 0.5, 0.6), detection_base=None, detection_growth=None), 10)
    start = time.process_time()
    assert price_one(attacker, size)[VALUE] == pytest.approx(value, abs=1e-6)
    assert time.process_time() - start < 0.1


@pytest.mark.parametrize("q", [1e-12, 1e-160, 1e-200, 1e-300])
@pytest.mark.parametrize("cap", [1, 3])
def test_a_fine_that_is_next_to_impossible_costs_next_to_nothing(q, cap):
    attacker = build_attacker(exploit_cost=1, fine=500, detection=(q,), max_fines=cap)
    free = price_one(replace(attacker, max_fines=0), 50)
    result = price_one(attacker, 50)
    assert result[[VALUE, SUCCESS, TRIES, CLEAN]] == pytest.approx(free[[VALUE, SUCCESS, TRIES, CLEAN]])
    assert result[FINES] / q == pytest.approx(free[TRIES], rel=1e-9)


def test_e8_one_fine_may_end_the_attack_before_the_group_does():
    attacker = build_attacker(gain=6487, prior=0.29, exploit_cost=28, fine=3988, detection=(0.119,))
    assert price_one(attacker, 5)[CLEAN] == 4


def random_attacker(rng: np.random.Generator) -> Attacker:
    return Attacker(
        gain=float(10 ** rng.uniform(2, 4)),
        exploit_cost=float(rng.choice([0.0, 10 ** rng.uniform(-2, 2)])),
        fine=float(10 ** rng.uniform(0, 4.5)),
        max_fines=int(rng.integers(1, 6)),
        detection=(float(10 ** rng.uniform(-3, -0.05)),),
        prior=float(rng.choice([1.0, 0.9, 0.63, 0.3])),
    )


def test_e8_closed_forms_are_the_recursion():
    """Value, success, tries, fines and where he stops, at random; some of the attacks are partial."""
    rng = np.random.default_rng(8)
    partial = 0
    for _ in range(1500):
        attacker, size = random_attacker(rng), int(rng.integers(1, 121))
        actual = price_one(attacker, size)
        slow = replace(attacker, detection=(*attacker.detection, attacker.detection[0] * (1 + 1e-15)))
        expected = price_one(slow, size)  # a list that is not constant, by a rounding error, is not in closed form
        assert not slow.constant_detection
        assert actual[VALUE] == pytest.approx(expected[VALUE], abs=1e-9 * attacker.gain)
        assert actual[[SUCCESS, TRIES, FINES]] == pytest.approx(expected[[SUCCESS, TRIES, FINES]], abs=1e-9 * size)
        assert actual[CLEAN] == expected[CLEAN]
        partial += 0 < actual[CLEAN] < size
    assert partial > 10


def test_e8_closed_forms_are_the_decision_tree():
    rng = np.random.default_rng(9)
    for _ in range(150):
        attacker, size = random_attacker(rng), int(rng.integers(1, 60))
        tree = literal.decision_tree(attacker, size)
        result = price_one(attacker, size)
        assert result[VALUE] == pytest.approx(tree.payoff_sunk, abs=1e-9 * attacker.gain)
        assert result[SUCCESS] == pytest.approx(tree.success, abs=1e-9)


def test_e8_a_last_try_that_pays_is_no_reason_to_go_there():
    """He stops half way although the last try pays with its fine; five fines, of which the first buy immunity."""
    attacker = Attacker(
        gain=1256.425696565676,
        exploit_cost=6.673967848745221,
        fine=107.4583846295979,
        max_fines=5,
        detection=(0.23134383194445274,),
        prior=0.63,
    )
    result = price_one(attacker, 62)
    assert result[VALUE] == pytest.approx(literal.decision_tree(attacker, 62).payoff_sunk, rel=1e-12)
    assert result[CLEAN] == 29


def test_e8_a_long_recursion_ends_where_all_fines_are_paid(monkeypatch):
    attacker = Attacker(**GROWING, exploit_cost=0.01, fine=300)
    cut = price_one(attacker, 20_000)
    monkeypatch.setattr(solver, "FIRST_REACH", 10**9)
    prices = price_one(attacker, 20_000)
    assert cut[:CLEAN] == pytest.approx(prices[:CLEAN], rel=1e-9)
    assert cut[CLEAN] >= prices[CLEAN] > 10_000  # where he who was never caught stops, has no chance to be seen


def test_e8_every_pass_counts(monkeypatch):
    """Probes of twice the size each, and Newton's steps: a limit that one pass keeps, all together do not."""
    growing = replace(CASE, detection_growth=0.001, max_fines=2)
    candidate_groups = CandidateGroups.uniform(np.arange(1, 257), np.full(256, CASE.prior))
    monkeypatch.setattr(solver, "MAX_STEPS", 1.2 * solver.count_steps(growing, candidate_groups))
    solve_plans(growing, candidate_groups)
    with pytest.raises(UnmaskError, match="steps"):
        break_even(growing, np.arange(1, 257))
    with pytest.raises(UnmaskError, match="steps"):
        exploitation_table(replace(growing, exploit_cost=0.0, fine=1.0), 1000)


def test_e8_a_list_of_twenty_thousand_sizes_is_priced_in_seconds():
    """Stopped after 173 s, unfinished."""
    attacker = Attacker(**{**GROWING, "detection_growth": 0.0}, exploit_cost=1e-4, fine=10.0, access_cost=100.0)
    start = time.process_time()
    table = exploitation_table(attacker, 20_000)
    assert time.process_time() - start < 10
    assert math.isfinite(table.payoff[-1])
    assert table.payoff[-1] == pytest.approx(4922.0065257, abs=1e-6)  # by the recursion
