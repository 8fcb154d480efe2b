"""Campaigns: against joint optima that are enumerated, and published figures."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest

from tests.economics import literal
from tests.economics.case import CASE
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.economics import (
    Attacker,
    campaign,
    count_people_per_target,
    price_posterior,
    price_records,
)
from unmask.economics.campaigns import campaign as campaigns
from unmask.economics.campaigns.targets import Targets
from unmask.economics.game.best_response import BestCampaign
from unmask.scoring import campaign_measures, score

BULK = Attacker(
    gain=1000,
    access_cost=100,
    exploit_cost=10,
    fine=20_000,
    max_fines=1,
    detection_base=-4.59,
    detection_growth=0.0,
    prior=1.0,
)


def test_one_fine_for_a_whole_campaign_deters_no_attacker():
    """Specified figures: separately worth 0, together 343 / 4,388 / 27,472 / 73,432."""
    assert price_records(BULK, [12]).payoff[0] == 0
    payoffs = [campaign(BULK, [12] * n).payoff for n in (10, 20, 50, 100)]
    assert np.round(payoffs).tolist() == [343, 4388, 27472, 73432]


@pytest.mark.parametrize(("n", "fine"), [(1, 13258), (2, 14509), (5, 17314), (10, 21989), (50, 59389), (100, 106139)])
def test_the_fine_that_stops_a_campaign_grows_with_it(n, fine):
    assert campaign(replace(BULK, fine=fine - 1.0), [12] * n).access
    assert not campaign(replace(BULK, fine=fine + 1.0), [12] * n).access


def test_without_a_cap_targets_are_separate_and_share_the_access():
    """Size 60 at an access price of 5,000: one is safe, forty together pay 13,532."""
    open_end = replace(CASE, access_cost=5000.0, max_fines=math.inf, prior=6018999 / 9553967)
    assert not campaign(open_end, [60]).access
    plan = campaign(open_end, [60] * 40)
    assert round(plan.payoff) == 13532
    assert plan.exact
    assert plan.success_probability == pytest.approx([open_end.prior] * 40)


def random_campaign(rng: np.random.Generator, **fixed) -> tuple[Attacker, list[int]]:
    drawn = {
        "gain": rng.uniform(100, 3000),
        "link_cost": float(rng.choice([0.0, 20.0])),
        "exploit_cost": rng.uniform(0, 60),
        "fine": rng.uniform(100, 5000),
        "max_fines": int(rng.integers(1, 3)),
        "prior": rng.uniform(0.3, 1),
        "detection": (rng.uniform(0.01, 0.4),),
    }
    attacker = Attacker(**drawn | fixed)
    return attacker, rng.integers(1, 6, int(rng.integers(2, 4))).tolist()


FAMILIES = {
    "one prior": {},
    "free tries": {"exploit_cost": 0.0},
    "prior 1": {"prior": 1.0},
    "growing": {"detection": (0.02, 0.2, 0.6)},
    "arrest": {"arrest": True},
    "audited": {"detection": (0.5,), "audit_every": 2},
    "hasty": {"max_tries": 2, "confirmation": 0.8},
}


@pytest.mark.parametrize("family", FAMILIES)
def test_e3_small_campaigns_are_the_joint_optimum(family):
    rng = np.random.default_rng(1)
    for _ in range(40):
        attacker, sizes = random_campaign(rng, **FAMILIES[family])
        plan = campaign(attacker, sizes)
        assert plan.exact
        assert plan.payoff == pytest.approx(literal.campaign_value(attacker, sizes), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_e3_bounds_hold_and_exact_is_the_optimum(family, monkeypatch):
    """Without the search of all interleavings; 50,000 games: verification/economics_campaign.py."""
    monkeypatch.setattr(campaigns, "EXACT_STATES", 0)
    rng = np.random.default_rng(3)
    meet = 0
    for _ in range(60):
        attacker, sizes = random_campaign(rng, **FAMILIES[family])
        result, optimum = campaign(attacker, sizes), literal.campaign_value(attacker, sizes)
        slack = 1e-9 * attacker.gain
        assert result.payoff <= optimum + slack
        assert optimum <= result.upper + slack
        if result.exact:
            assert result.payoff == pytest.approx(optimum, rel=1e-9, abs=slack)
        meet += result.exact
    assert meet > (0 if family == "arrest" else 30)


def test_e3_a_bound_that_does_not_meet_says_so(monkeypatch):
    """R4: leaving a group, trying another and coming back pays; no fixed order without that finds 3.34."""
    monkeypatch.setattr(campaigns, "EXACT_STATES", 0)
    plan = campaign(game(fine=364, max_fines=2, detection=(0.6,)), [2, 3])
    assert not plan.exact
    assert plan.payoff <= 3.34176 + 1e-9 < plan.upper
    assert plan.most_success == pytest.approx([0.3, 0.3])  # the chance inside, as the best plan is not known


def game(**parameters) -> Attacker:
    """The attacker of the reference values, before access."""
    return Attacker(**{"gain": 1000.0, "max_fines": 1, "prior": 0.3} | parameters)


STUDY = {
    "gain": 8000.0,
    "prior": 0.63,
    "exploit_cost": 10.0,
    "fine": 10_000.0,
    "detection": (1 / (1 + math.exp(4.59)),),
}
GROWTH = {"detection_base": -math.log(9), "detection_growth": 1.0}


@pytest.mark.parametrize(
    ("parameters", "sizes", "value"),
    [
        ({"fine": 1000, "detection": (0.3,)}, [3, 4, 4], 57.36),  # R1
        ({"fine": 1000, "detection": (0.1,), "link_cost": 60}, [3, 4], 53.192),  # R2
        ({"fine": 200, "detection": (0.6,), "exploit_cost": 1, "max_fines": 3}, [4, 5], 41.911003),  # R3
        ({"fine": 364, "detection": (0.6,), "max_fines": 2}, [2, 3], 3.34176),  # R4
        ({"fine": 350, "detection": (0.3,)}, [6, 6], 265.308793),  # R5
        ({"fine": 364, "detection": (0.6,), "max_fines": 2, "prior": 1.0}, [2, 3], 1401.75872),  # R6
        (
            {"fine": 3000, "detection": (0.1,), "max_fines": 2, "prior": 1.0, "exploit_cost": 10},
            [1, 2, 3, 4],
            1927.225809,
        ),  # R8
        (
            {"fine": 1500, "detection": (0.1,), "max_fines": 2, "prior": 0.63, "exploit_cost": 5},
            [1, 2, 3, 4],
            1337.125034,
        ),  # R9
        ({"fine": 5000, "detection": (0.05,), "prior": 0.63, "exploit_cost": 5}, [3] * 6, 1132.505059),  # R10
        ({"fine": 2150, "prior": 0.9, "exploit_cost": 20, "link_cost": 50, **GROWTH}, [6, 6], 24.897946),  # R11
        (STUDY, [5, 5, 5], 13939.2717),  # R12
        (STUDY, [60], 1344.772126),  # R13
        (STUDY, [60] * 2, 3766.091454),  # R14
        (STUDY, [60] * 5, 14498.548201),
        (STUDY, [60] * 50, 221292.500023),  # R15
        (STUDY, [60] * 100, 452585.0),
        (STUDY, range(1, 41), 185891.177086),
        (STUDY, np.repeat(np.arange(1, 101), 10_000), 4690915000.0),  # R16
        ({**STUDY, "fine": 500_000.0}, [60] * 100, 0.0),  # U3
    ],
)
def test_e3_reference_values(parameters, sizes, value):
    """Figures of two solvers written apart."""
    plan = campaign(game(**parameters), list(sizes))
    assert plan.payoff == pytest.approx(value, abs=1e-6)
    assert plan.exact


def test_e3_several_priors_need_the_order_of_the_index():
    """R7: smallest first is worth nothing."""
    belief = Posterior.from_dense(np.array([[0.21] * 3 + [0.0] * 5, [0.0] * 3 + [0.2] * 5]))
    plan = campaign(game(prior=1.0, fine=4000, detection=(0.1,), link_cost=50), belief)
    assert plan.payoff == pytest.approx(50.94356, abs=1e-3)  # chances of a belief are float32
    assert plan.exact


@pytest.mark.parametrize(("fine", "lower", "upper"), [(1e5, 162585.0036, 162585.0040), (1.5e5, 14028.8291, 14056.2602)])
def test_e3_a_dear_fine_leaves_a_gap_and_says_so(fine, lower, upper):
    plan = campaign(game(**{**STUDY, "fine": fine, "max_fines": 3}), [60] * 100)
    assert not plan.exact
    assert plan.payoff == pytest.approx(lower, abs=1e-4)
    assert lower <= plan.upper <= upper  # the least of U1 to U4, the figure is that of U4


@pytest.mark.parametrize("cost", [0.0, 1e-6])
def test_e3_order_of_free_tries(cost):
    """Free tries are worth gain x prior whatever the size, and rounding decided: 28.80 for 57.36, exact=True."""
    attacker = game(fine=1000, detection=(0.3,), exploit_cost=cost)
    for sizes in ([3, 4, 4], [4, 4, 3]):
        assert campaign(attacker, sizes).payoff == pytest.approx(57.36, abs=1e-4)
    assert campaign(replace(attacker, access_cost=40.0), [3, 4, 4]).access


def test_e3_order_of_free_tries_with_a_price_of_linking():
    """5.47, exact=True, for 53.19."""
    attacker = game(fine=1000, detection=(0.1,), link_cost=60)
    assert campaign(attacker, [3, 4]).payoff == pytest.approx(53.192, abs=1e-6)


def test_e3_interleavings_are_found_in_a_million_groups_at_once():
    """Bounds that meet to 1e-9, in a tenth of a second."""
    sizes, attacker = np.repeat(np.arange(1, 101), 10_000), game(**STUDY)
    campaign(attacker, [3, 4])
    start = time.process_time()
    plan = campaign(attacker, sizes)
    assert time.process_time() - start < 0.3  # 0.05 on a quiet machine
    assert plan.upper - plan.payoff <= 1e-9 * plan.upper
    assert plan.success_probability.sum() == pytest.approx(0.63e6)


@pytest.mark.parametrize("share", [0.02, 0.2, 0.32, 0.34, 0.9])
@pytest.mark.parametrize("cap", [1, 3, 8])
def test_a_chain_of_many_targets_is_the_recursion_over_all_numbers_of_fines(cap, share):
    """The number of fines that matter opens at different places of the chain, by the height of the fine."""
    size, n = 6, 1500
    attacker = Attacker(gain=500, exploit_cost=4, fine=0.0, max_fines=cap, detection=(0.02,), prior=0.63)
    attacker = replace(attacker, fine=share * campaign(attacker, [size] * n).payoff)
    best = campaign(attacker, [size] * n)
    assert best.payoff == pytest.approx(literal.chain_payoff(attacker, size, n), rel=1e-9, abs=1e-6)
    income = attacker.gain * best.success_probability.sum()
    spent = attacker.exploit_cost * best.expected_tries + attacker.fine * best.expected_fines
    assert best.payoff == pytest.approx(income - spent, rel=1e-9, abs=1e-6)


def test_people_alike_may_be_counted():
    """A target that stands for many people is as many targets."""
    for attacker in (CASE, replace(CASE, max_fines=3, detection_growth=0.1), replace(CASE, max_fines=math.inf)):
        listed_one_by_one, counted = (
            campaign(attacker, [60] * 30 + [20] * 2),
            campaign(attacker, [60, 20], people=[30, 2]),
        )
        assert counted.payoff == pytest.approx(listed_one_by_one.payoff)
        assert counted.success_probability == pytest.approx(listed_one_by_one.success_probability[[0, -1]])
        assert counted.expected_fines == pytest.approx(listed_one_by_one.expected_fines)
    with pytest.raises(UnmaskError, match="counts of people"):
        campaign(CASE, [60], people=[1.5])


def test_only_the_upper_bound_declares_people_safe():
    """Between the bounds neither an attack nor its absence is certain."""
    dear = game(**{**STUDY, "fine": 1.5e5, "max_fines": 3})
    plan = campaign(dear, [60] * 100)
    between = campaign(replace(dear, access_cost=(plan.payoff + plan.upper) / 2), [60] * 100)
    assert not between.access
    assert between.payoff == 0 < between.upper
    assert between.most_success == pytest.approx([0.63] * 100)
    assert campaign(replace(dear, access_cost=plan.upper + 1.0), [60] * 100).upper == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_more_fines_never_help_him(n):
    rng = np.random.default_rng(n)
    for _ in range(30):
        attacker, sizes = random_campaign(rng)
        fewer_fines, more_fines = (campaign(replace(attacker, max_fines=cap), sizes) for cap in (n, n + 1))
        assert more_fines.payoff <= fewer_fines.upper + 1e-9 * attacker.gain


def test_the_payoff_is_what_is_won_less_what_is_spent():
    sizes = np.random.default_rng(3).integers(1, 40, 200)
    for attacker in (CASE, replace(CASE, max_fines=3, detection_growth=0.1), replace(CASE, arrest=True)):
        plan = campaign(attacker, sizes)
        won = attacker.gain * plan.success_probability.sum()
        spent = attacker.exploit_cost * plan.expected_tries + attacker.fine * plan.expected_fines
        assert plan.payoff == pytest.approx(won - spent - attacker.access_cost)
        assert plan.expected_fines <= attacker.max_fines


@pytest.mark.parametrize(("sizes", "fine", "cap"), [([2, 2, 1], 2000, 1), ([1] * 5, 1000, 2), ([3, 2] * 12, 10_000, 2)])
def test_an_attacker_who_is_surely_caught_pays_before_all_are_re_identified(sizes, fine, cap):
    # each try is detected, so the first ones pay all fines, and all targets follow: len(sizes) gains less cap fines
    plan = campaign(Attacker(gain=1000, fine=fine, max_fines=cap, detection=(1.0,)), sizes)
    assert plan.payoff == pytest.approx(1000 * len(sizes) - cap * fine)
    assert plan.success_probability.tolist() == pytest.approx([1.0] * len(sizes))
    assert plan.expected_fines == pytest.approx(cap)


def test_an_arrest_ends_the_campaign():
    rng = np.random.default_rng(4)
    for _ in range(30):
        attacker, sizes = random_campaign(rng, arrest=True)
        plan = campaign(attacker, sizes)
        assert plan.payoff <= campaign(replace(attacker, arrest=False), sizes).upper + 1e-9
        assert plan.expected_fines <= 1 + 1e-12


def test_targets_of_a_belief_are_attacked_each():
    belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.2, 0.0, 0.6]]), observation=np.array([0, 0, 1, 0]))
    plan = campaign(replace(CASE, max_fines=math.inf), belief)
    prices = price_posterior(replace(CASE, max_fines=math.inf), belief)
    assert plan.success_probability == pytest.approx(prices.sunk_success_probability[[0, 0, 1, 0]])
    capped = campaign(CASE, belief)
    assert capped.success_probability.shape == (4,)
    assert capped.payoff >= plan.payoff  # a cap only ever helps him


def test_rows_of_the_same_chances_are_one_game():
    rows = np.array([[0.5, 0.3, 0.2, 0.0], [0.0, 0.2, 0.5, 0.3], [0.6, 0.0, 0.0, 0.4], [0.3, 0.5, 0.0, 0.2]])
    arms = Targets.of(CASE, Posterior.from_dense(rows), None)
    assert arms.count.tolist() == [1, 3]
    assert arms.group.tolist() == [1, 1, 0, 1]


def test_tiny_weights_count_together_whatever_their_order():
    rng = np.random.default_rng(0)
    size, weight = rng.integers(1, 5, 1000), rng.choice([0.2, 0.5, 7.0], 1000)
    dense = np.where(np.arange(4) < size[:, None], 1.0 / size[:, None], 0.0)
    belief = Posterior.from_dense(dense)
    for order in (np.arange(1000), rng.permutation(1000)):
        ordered = replace(belief, observation=order, weight=weight[order] / weight.sum())
        count = count_people_per_target(ordered, 150)
        assert count.sum() == 150
        assert np.abs(count - 150 * ordered.weight).max() < 1
        for group_size in range(1, 5):
            is_of_size = size[order] == group_size
            assert (
                abs(count[is_of_size].sum() - 150 * ordered.weight[is_of_size].sum()) < 1
            )  # so each would, were it one target


def test_people_who_were_drawn_stand_for_all():
    belief = Posterior.from_dense(np.eye(4))
    assert count_people_per_target(belief, None) is None
    assert count_people_per_target(belief, 10).tolist() == [2, 3, 3, 2]  # half a person is none: together they are ten
    dear = replace(CASE, access_cost=5 * CASE.gain)
    assert not campaign(dear, belief).access
    (single,), (of_all,) = campaign_measures(dear), campaign_measures(dear, 10)
    assert score(belief, measures=[single]).rows[0].posterior == 0
    assert score(belief, measures=[of_all]).rows[0].posterior == pytest.approx(1)


def test_a_row_without_candidates_is_not_a_group():
    """It was an arm of 0 targets, and their success 0 / 0."""
    attacker = Attacker(gain=10, fine=10, max_fines=1, detection=(0.2,))
    rows, belief = np.array([[0.6, 0.05, 0.0], [0.2, 0.1, 0.3]]), Posterior.from_dense(np.array([[0.6, 0.05, 0.0]]))
    eight_people = Posterior.from_dense(rows, observation=np.array([0] * 8))
    shared = replace(belief, observation=np.zeros(8, dtype=belief.observation.dtype), weight=eight_people.weight)
    for attacker_variant in (attacker, replace(attacker, max_fines=2)):
        result, bare = campaign(attacker_variant, eight_people), campaign(attacker_variant, shared)
        assert result.payoff == bare.payoff
        assert result.success_probability == pytest.approx(bare.success_probability)
    assert len(Targets.of(attacker, eight_people, None).inside) == 1
    nobody = BestCampaign.of(attacker, Posterior.from_dense(rows), people=[8, 0])
    assert len(Targets.of(attacker, nobody.targets, nobody.people).inside) == 1
    assert nobody.worth == BestCampaign.of(attacker, shared).worth


def test_a_campaign_has_no_clock():
    with pytest.raises(UnmaskError, match=r"discount is 0\.9"):
        campaign(replace(CASE, discount=0.9), [1, 2])


def test_groups_without_candidates_add_nothing():
    assert campaign(CASE, [0, 0]).payoff == 0
    assert campaign(CASE, [0, 3]).payoff == pytest.approx(campaign(CASE, [3]).payoff)


def test_he_comes_back_to_a_target_once_nothing_more_can_be_fined():
    """8.68 one after another, 8.76 in the best of all campaigns."""
    attacker = Attacker(gain=10, fine=10, max_fines=1, detection=(0.2,))
    plan = campaign(attacker, Posterior.from_dense(np.array([[0.6, 0.05]]), observation=np.array([0, 0])))
    assert plan.payoff == pytest.approx(8.76)
    assert plan.exact


def test_a_campaign_says_that_it_walks_away_from_ties():
    with pytest.raises(UnmaskError, match="ties"):
        campaign(Attacker(gain=2, exploit_cost=2, max_fines=0, ties="attack"), [1])


def test_a_fine_of_nothing_is_no_fine():
    nothing, never = (Attacker(gain=8, exploit_cost=1, max_fines=n) for n in (1, 0))
    assert campaign(nothing, [3, 5]).payoff == campaign(never, [3, 5]).payoff
    assert campaign(nothing, [3, 5]).exact


def test_chances_are_chances():
    for attacker in (CASE, replace(CASE, max_fines=math.inf, prior=1.0)):
        plan = campaign(attacker, np.arange(1, 60))
        assert plan.success_probability.max() <= 1
        assert price_records(attacker, np.arange(1, 60)).success_probability.max() <= 1


def test_a_campaign_of_too_many_steps_is_bounded_by_a_plan_without_a_chain(monkeypatch):
    attacker = Attacker(gain=1000, exploit_cost=5, fine=1300, max_fines=2, detection=(0.1,), prior=0.63)
    sizes = [3, 4, 6, 9]
    exact = campaign(attacker, sizes)
    monkeypatch.setattr("unmask.economics.campaigns.chain_search.MAX_STEPS", 1)
    plan = campaign(attacker, sizes)
    assert plan.payoff <= exact.payoff <= exact.upper <= plan.upper
    assert 0 < plan.payoff < plan.upper
    nobody = campaign(replace(attacker, fine=5000), sizes)
    assert nobody.payoff == 0.0 == nobody.expected_tries
