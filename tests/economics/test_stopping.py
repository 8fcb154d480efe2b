"""The smallest fine, price, group size and rows left out that stop an attack, and the cheapest mix.

Every decision is compared with a search of all strategies, history by history, or with a decision tree.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tests.economics.case import CASE
from tests.economics.exhaustive import Gambler, best_outcome
from tests.economics.literal import decision_tree
from unmask import UnmaskError
from unmask.economics import Attacker, break_even, campaign
from unmask.economics.audit import AttackerSource
from unmask.economics.audit.deterrence import audit_deterrence
from unmask.economics.deterrence.deterrents import Costs, find_deterrents

A_LITTLE = 1e-5
"""Share by which an amount differs from the one that stops an attack."""


def random_case(rng: np.random.Generator, largest: int = 3) -> tuple[Attacker, list[int]]:
    """Return an attacker with a constant detection and a cap on fines, and up to three small groups."""
    attacker = Attacker(
        gain=float(rng.integers(200, 1500)),
        access_cost=float(rng.choice([0, 30, 100])),
        exploit_cost=float(rng.integers(0, 60)),
        fine=float(rng.choice([50, 400])),
        max_fines=int(rng.integers(1, 4)),
        detection=(float(rng.choice([0.125, 0.25, 0.5])),),
        prior=float(rng.choice([0.5, 0.75, 1.0])),
    )
    return attacker, sorted(rng.integers(1, largest + 1, int(rng.integers(1, 4))).tolist())


def search_payoff(attacker: Attacker, sizes: list[int], fine: float) -> float:
    """Return the payoff of the best of all strategies against groups of these sizes."""
    if not sizes:
        return -attacker.access_cost
    gambler = Gambler(  # in floats, which is faster than in fractions
        gain=attacker.gain,
        cost=attacker.exploit_cost,
        fine=fine,
        cap=int(attacker.max_fines),
        caught=attacker.detection[0],
        inside=attacker.prior,
    )
    return float(best_outcome(gambler, sizes).worth) - attacker.access_cost


def is_exact(attacker: Attacker, sizes: list[int]) -> bool:
    return campaign(replace(attacker, access_cost=0.0), sizes).exact


def test_no_strategy_pays_at_the_amounts_that_stop_a_campaign_and_one_pays_a_little_below():
    rng = np.random.default_rng(5)
    for _ in range(50):
        attacker, sizes = random_case(rng)
        terms = find_deterrents([attacker], sizes)
        payoff = search_payoff(attacker, sizes, attacker.fine)
        tie = 1e-9 * attacker.gain
        assert terms.payoff.low - tie <= max(payoff, 0.0) <= terms.payoff.high + tie
        assert search_payoff(attacker, sizes, terms.fine.high) <= tie
        assert terms.price.high >= payoff - tie
        if terms.fine.low:
            assert search_payoff(attacker, sizes, terms.fine.low * (1 - A_LITTLE)) > 0
        if terms.price.low:
            assert payoff > terms.price.low * (1 - A_LITTLE)
        assert is_exact(attacker, sizes)  # so that both ends are the same
        assert terms.fine.high <= terms.fine.low * (1 + A_LITTLE) + tie


def test_no_strategy_pays_against_groups_of_the_size_that_stops_a_campaign_and_one_pays_on_smaller_ones():
    rng = np.random.default_rng(6)
    stopped = 0
    for _ in range(50):
        attacker, sizes = random_case(rng, largest=2)
        attacker = replace(attacker, fine=2000.0, exploit_cost=float(rng.integers(20, 200)))
        size, n = find_deterrents([attacker], sizes).size, len(sizes)
        if size is None:
            assert search_payoff(attacker, [n] * n, attacker.fine) > 0
            continue
        assert search_payoff(attacker, [size] * n, attacker.fine) <= 1e-9 * attacker.gain
        assert size == 1 or search_payoff(attacker, [size - 1] * n, attacker.fine) > 0
        stopped += size > 1
    assert stopped  # some sizes are not trivial


def test_the_rows_left_out_are_the_fewest_of_the_smallest_classes():
    rng = np.random.default_rng(8)
    for _ in range(50):
        attacker, sizes = random_case(rng, largest=2)
        attacker = replace(attacker, fine=1500.0)
        rows = find_deterrents([attacker], sizes).rows
        starts = [0, *(i for i in range(1, len(sizes)) if sizes[i] > sizes[i - 1]), len(sizes)]
        fewest = next(i for i in starts if search_payoff(attacker, sizes[i:], attacker.fine) <= 1e-9 * attacker.gain)
        assert rows.left_out == fewest
        assert rows.min_class_size == (sizes[fewest] if fewest < len(sizes) else None)


def test_the_cheapest_mix_stops_every_strategy_and_no_mix_of_a_grid_is_cheaper():
    rng = np.random.default_rng(9)
    for _ in range(50):
        attacker, sizes = random_case(rng, largest=2)
        costs = Costs(fine=float(rng.choice([0.1, 0.5, 2])), price=1.0, row=float(rng.choice([10, 100, 400])))
        mix = find_deterrents([attacker], sizes, costs).mix
        left = sizes[mix.left_out :]
        assert search_payoff(attacker, left, mix.fine) - mix.price <= 1e-9 * attacker.gain
        starts = [0, *(i for i in range(1, len(sizes)) if sizes[i] > sizes[i - 1]), len(sizes)]
        fines = attacker.fine + np.linspace(0, 2 * attacker.gain, 8)
        grid = (
            costs.fine * (fine - attacker.fine) + max(search_payoff(attacker, sizes[i:], fine), 0.0) + costs.row * i
            for i, fine in product(starts, fines.tolist())
        )
        assert mix.cost <= min(grid) * 1.01 + 1e-6


@pytest.mark.parametrize("ties", ["walk_away", "attack"])
def test_an_attack_on_one_person_stops_where_the_decision_tree_of_the_smallest_group_does(ties):
    rng = np.random.default_rng(10)
    for _ in range(50):
        attacker, sizes = random_case(rng)
        attacker = replace(attacker, discount=float(rng.choice([0.9, 1.0])), ties=ties)
        terms = find_deterrents([attacker], sizes, is_campaign=False)

        def payoff(fine: float, size: int = sizes[0], attacker: Attacker = attacker) -> float:
            return (
                attacker.discount * decision_tree(replace(attacker, fine=fine), size).payoff_sunk - attacker.access_cost
            )

        assert payoff(terms.fine.high) <= 1e-9 * attacker.gain
        assert terms.price.high == pytest.approx(max(payoff(attacker.fine), 0.0), rel=1e-6, abs=1e-6)
        if terms.fine.low:
            assert payoff(terms.fine.low * (1 - A_LITTLE)) > 0


def test_a_tie_is_no_attack_unless_the_attacker_takes_ties():
    attacker = Attacker(gain=300, exploit_cost=4, max_fines=0, max_tries=1)  # at 75 candidates 300 / 75 = 4
    leaves, takes = (
        find_deterrents([replace(attacker, ties=ties)], [75] * 200, is_campaign=False)
        for ties in ("walk_away", "attack")
    )
    assert (leaves.size, takes.size) == (75, 76)
    assert (leaves.payoff, leaves.price.high) == ((0, 0), 0)
    assert 0 < takes.price.high < 1e-6  # any price stops them


def test_a_fine_that_cannot_stop_an_attack_is_infinite_and_a_price_still_does():
    terms = find_deterrents([replace(CASE, max_fines=0)], [3])
    assert terms.fine == (math.inf, math.inf) or terms.fine.high == math.inf
    assert terms.price.high == pytest.approx(
        break_even(replace(CASE, max_fines=0), [3], "access_cost")[0] - 100, rel=1e-6
    )
    assert terms.mix.fine == CASE.fine


def test_an_attack_that_does_not_pay_needs_no_change():
    terms = find_deterrents([CASE], [2000] * 5000, is_campaign=False)
    assert terms.payoff == (0, 0)
    assert (terms.price, terms.rows.left_out, terms.mix.cost) == ((0, 0), 0, 0)
    assert terms.size == 89  # of a record alone, at the fine as it is


def test_a_record_without_a_candidate_is_left_alone():
    with_empty, without = (
        find_deterrents([CASE], sizes, is_campaign=is_campaign)
        for sizes, is_campaign in (([0, 0, 5, 30], False), ([5, 30], False))
    )
    assert with_empty == without
    nothing = find_deterrents([CASE], [0, 0])
    assert (nothing.payoff, nothing.rows.left_out, nothing.mix.cost) == ((0, 0), 0, 0)
    result, rows = audit_deterrence(AttackerSource(CASE), [0, 0])
    assert result.table("mixes").values("below") == ["none", "none"]
    assert rows == []


def test_every_resource_is_stopped():
    voters, broker = replace(CASE, access_cost=100.0), replace(CASE, access_cost=900.0, prior=0.95)
    both = find_deterrents([voters, broker], [5, 5, 40])
    for attacker in (voters, broker):
        assert not campaign(replace(attacker, fine=both.fine.high), [5, 5, 40]).access
        assert not campaign(replace(attacker, access_cost=attacker.access_cost + both.price.high), [5, 5, 40]).access


def test_a_result_of_a_release_suppresses_few_rows_and_names_them_for_the_owner_only():
    fined = AttackerSource(replace(CASE, max_fines=math.inf))
    result, rows = audit_deterrence(fined, [80] * 80 + [3] * 3, is_exact=False)
    assert rows == [80, 81, 82]
    assert result.table("stops").values("left_out") == ["fewer than 10", "fewer than 10"]
    assert "fine" in result.headline


@pytest.mark.parametrize(
    ("sizes", "costs", "message"),
    [([], {}, "there are no records"), ([-1], {}, "a group size is negative"), ([1], {"row": -1.0}, "row is -1")],
)
def test_bad_sizes_and_costs_are_one_sentence(sizes, costs, message):
    with pytest.raises(UnmaskError, match=message):
        audit_deterrence(AttackerSource(CASE), sizes, costs=Costs(**costs))
