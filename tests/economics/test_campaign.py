"""Campaigns, several resources, unknown motives: against joint optima that are enumerated, and published figures."""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import lognorm, uniform

from tests.economics import literal
from tests.economics.case import CASE
from unmask.economics import (
    Attacker,
    Resource,
    best_resource,
    campaign,
    fall_back,
    price_posterior,
    price_records,
    risk_over_gains,
)
from unmask.economics.exploitation import SUCCESS, VALUE
from unmask.economics.prices import plans_by_size
from unmask.errors import UnmaskError
from unmask.posterior import Posterior

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


def test_one_fine_for_a_whole_campaign_deters_nobody():
    """Specified figures: separately worth 0, together 343 / 4,388 / 27,472 / 73,432."""
    assert price_records(BULK, [12]).payoff[0] == 0
    found = [campaign(BULK, [12] * n).payoff for n in (10, 20, 50, 100)]
    assert np.round(found).tolist() == [343, 4388, 27472, 73432]


@pytest.mark.parametrize(("n", "fine"), [(1, 13258), (2, 14509), (5, 17314), (10, 21989), (50, 59389), (100, 106139)])
def test_the_fine_that_stops_a_campaign_grows_with_it(n, fine):
    assert campaign(replace(BULK, fine=fine - 1.0), [12] * n).access
    assert not campaign(replace(BULK, fine=fine + 1.0), [12] * n).access


def test_without_a_cap_targets_are_separate_and_share_the_access():
    """Size 60 at an access price of 5,000: one is safe, forty together pay 13,532."""
    open_end = replace(CASE, access_cost=5000.0, max_fines=math.inf, prior=6018999 / 9553967)
    assert not campaign(open_end, [60]).access
    found = campaign(open_end, [60] * 40)
    assert round(found.payoff) == 13532
    assert found.exact
    assert found.success_probability == pytest.approx([open_end.prior] * 40)


def random_campaign(rng: np.random.Generator, **fixed) -> tuple[Attacker, list[int]]:
    attacker = Attacker(
        gain=rng.uniform(100, 3000),
        link_cost=float(rng.choice([0.0, 20.0])),
        exploit_cost=rng.uniform(0, 60),
        fine=rng.uniform(100, 5000),
        max_fines=int(rng.integers(1, 3)),
        prior=rng.uniform(0.3, 1),
        **({"detection": (rng.uniform(0.01, 0.4),)} | fixed),
    )
    return attacker, rng.integers(1, 6, int(rng.integers(2, 4))).tolist()


def test_constant_detection_smallest_first_is_the_joint_optimum():
    rng = np.random.default_rng(1)
    for _ in range(60):
        attacker, sizes = random_campaign(rng)
        found = campaign(attacker, sizes)
        assert found.exact
        assert found.payoff == pytest.approx(literal.campaign_value(attacker, sizes), rel=1e-9, abs=1e-9)


def test_rising_detection_is_a_lower_bound_and_says_so():
    rng = np.random.default_rng(2)
    gaps = 0
    for _ in range(40):
        attacker, sizes = random_campaign(rng, detection=(0.02, 0.2, 0.6))
        found, best = campaign(attacker, sizes), literal.campaign_value(attacker, sizes)
        assert not found.exact
        assert found.payoff <= best * (1 + 1e-9) + 1e-9
        gaps += found.payoff < best * (1 - 1e-6)
    assert gaps > 0  # interleaving does pay, which is why it is called a bound


def test_the_payoff_is_what_is_won_less_what_is_spent():
    sizes = np.random.default_rng(3).integers(1, 40, 200)
    for attacker in (CASE, replace(CASE, max_fines=3, detection_growth=0.1), replace(CASE, arrest=True)):
        found = campaign(attacker, sizes)
        won = attacker.gain * found.success_probability.sum()
        spent = attacker.exploit_cost * found.expected_tries + attacker.fine * found.expected_fines
        assert found.payoff == pytest.approx(won - spent - attacker.access_cost)
        assert found.expected_fines <= attacker.max_fines


def test_an_arrest_ends_the_campaign():
    rng = np.random.default_rng(4)
    for _ in range(30):
        attacker, sizes = random_campaign(rng, arrest=True)
        found = campaign(attacker, sizes)
        assert not found.exact
        assert found.payoff <= literal.campaign_value(attacker, sizes) * (1 + 1e-9) + 1e-9
        assert found.expected_fines <= 1 + 1e-12


def test_targets_of_a_belief_are_attacked_each():
    belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.2, 0.0, 0.6]]), observation=np.array([0, 0, 1, 0]))
    found = campaign(replace(CASE, max_fines=math.inf), belief)
    each = price_posterior(replace(CASE, max_fines=math.inf), belief)
    assert found.success_probability == pytest.approx(each.sunk_success_probability[[0, 0, 1, 0]])
    capped = campaign(CASE, belief)
    assert capped.success_probability.shape == (4,)
    assert capped.payoff >= found.payoff  # a cap only ever helps him


def test_a_campaign_has_no_clock():
    with pytest.raises(UnmaskError, match=r"discount is 0\.9"):
        campaign(replace(CASE, discount=0.9), [1, 2])


def test_groups_without_candidates_add_nothing():
    assert campaign(CASE, [0, 0]).payoff == 0
    assert campaign(CASE, [0, 3]).payoff == pytest.approx(campaign(CASE, [3]).payoff)


# Several resources


def random_resources(rng: np.random.Generator) -> list[Resource]:
    return [
        Resource(f"r{i}", float(rng.uniform(0, 1500)), float(rng.uniform(0.1, 1)), rng.dirichlet(np.full(20, 0.3)))
        for i in range(3)
    ]


def searched(attacker: Attacker, resources: list[Resource]) -> float:
    """Every order of opening, with stopping: by recursion over what is open and the best value seen."""
    worth = [plans_by_size(r.faced_by(attacker), np.arange(20))[VALUE] for r in resources]

    @functools.cache
    def value(opened: frozenset[int], best: float) -> float:
        found = [best]
        for i in set(range(len(resources))) - opened:
            seen = (value(opened | {i}, max(best, float(x))) for x in worth[i])
            found.append(sum(p * v for p, v in zip(resources[i].chance, seen, strict=True)) - resources[i].access_cost)
        return max(found)

    return value(frozenset(), 0.0)


def test_weitzmans_rule_is_the_best_search():
    rng = np.random.default_rng(5)
    for _ in range(20):
        resources = random_resources(rng)
        assert best_resource(CASE, resources).payoff == pytest.approx(searched(CASE, resources), abs=1e-6)


def test_the_success_of_the_best_resource_by_playing():
    rng = np.random.default_rng(6)
    resources = random_resources(rng)
    found = best_resource(CASE, resources)
    named = {r.name: plans_by_size(r.faced_by(CASE), np.arange(20)) for r in resources}
    index = dict(zip(found.order, found.index, strict=True))
    payoff, hits, n = 0.0, 0.0, 20_000
    for _ in range(n):
        best, chance, paid = 0.0, 0.0, 0.0
        for name in found.order:
            if index[name] <= best:
                break
            resource = next(r for r in resources if r.name == name)
            size = rng.choice(20, p=resource.chance)
            paid += resource.access_cost
            if named[name][VALUE, size] > best:
                best, chance = named[name][VALUE, size], named[name][SUCCESS, size]
        payoff, hits = payoff + best - paid, hits + chance
    assert found.success_probability == pytest.approx(hits / n, abs=0.01)
    assert found.payoff == pytest.approx(payoff / n, rel=0.03)


def test_falling_back_at_no_cost_covers_what_either_covers():
    free = Attacker(gain=1.0, max_fines=0)
    both = [Resource("a", 0.0, 0.63, [0.0, 0.0, 1.0]), Resource("b", 0.0, 0.4, [0.0, 1.0])]
    assert fall_back(free, both).success_probability == pytest.approx(1 - (1 - 0.63) * (1 - 0.4))


def staged(attacker: Attacker, resources: list[Resource], order: tuple[int, ...]) -> float:
    """The value of one order, by the recursion over tries of each size in conditional probabilities."""
    later = 0.0
    for i in reversed(order):
        r, g = resources[i], attacker.discount
        after = []
        for size in range(len(r.chance)):
            q, value = attacker.detection_at(size), later
            for j in range(size - 1, -1, -1):
                s = 1 / (size / r.prior - j)
                go = -attacker.exploit_cost + g * (s * attacker.gain - q[j] * attacker.fine + (1 - s) * value)
                value = max(later, go)
            after.append(max(later, -attacker.link_cost + g * value) if size else later)
        later = max(later, -r.access_cost + g * float(np.dot(r.chance, after)))
    return later


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_falling_back_against_every_order(discount):
    from itertools import permutations

    rng = np.random.default_rng(7)
    attacker = replace(CASE, max_fines=math.inf, discount=discount, link_cost=5.0, detection_growth=0.1)
    for _ in range(10):
        resources = random_resources(rng)
        best = max(staged(attacker, resources, order) for order in permutations(range(3)))
        assert fall_back(attacker, resources).payoff == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_bad_resources_are_refused():
    with pytest.raises(UnmaskError, match="chances of the sizes in resource 'a'"):
        fall_back(CASE, [Resource("a", 1.0, 0.5, [0.5, 0.2])])
    with pytest.raises(UnmaskError, match="expected at most"):
        fall_back(CASE, [Resource("a", 1.0, 0.5, [0.0, 1.0])] * 13)
    with pytest.raises(UnmaskError, match="discount"):
        best_resource(replace(CASE, discount=0.5), [])


# Attackers of unknown motive


def test_published_risks_over_a_lognormal_gain():
    """Specified: median 4,000: .626 / .596 / .434 / .215 at size 1 / 5 / 20 / 60."""
    found = risk_over_gains(CASE, [1, 5, 20, 60], lognorm(s=1, scale=4000))
    assert found.round(3).tolist() == [0.626, 0.596, 0.434, 0.215]


@pytest.mark.parametrize("max_fines", [1, 3, math.inf])
@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_the_plans_change_where_they_are_said_to(max_fines, discount):
    attacker = replace(CASE, max_fines=max_fines, detection_growth=0.18, discount=discount)
    gains, sizes = uniform(0, 20_000), [1, 4, 15, 30]
    grid = (np.arange(500) + 0.5) * 40.0
    brute = np.mean([price_records(replace(attacker, gain=g), sizes).success_probability for g in grid], axis=0)
    assert risk_over_gains(attacker, sizes, gains) == pytest.approx(brute, abs=3e-3)


def test_a_certain_gain_is_the_plain_price():
    point = uniform(CASE.gain - 1e-3, 2e-3)
    assert risk_over_gains(CASE, [0, 7, 500], point) == pytest.approx(
        price_records(CASE, [0, 7, 500]).success_probability
    )


def test_candidates_of_different_chance_make_a_lower_bound():
    """Going back to a target once nothing more can be fined pays more: 8.76 in the best of all campaigns."""
    attacker = Attacker(gain=10, fine=10, max_fines=1, detection=(0.2,))
    belief = Posterior.from_dense(np.array([[0.6, 0.05]]), observation=np.array([0, 0]))
    found = campaign(attacker, belief)
    assert not found.exact
    assert found.payoff == pytest.approx(8.68)


def test_a_campaign_says_that_it_walks_away_from_ties():
    with pytest.raises(UnmaskError, match="ties"):
        campaign(Attacker(gain=2, exploit_cost=2, max_fines=0, ties="attack"), [1])


def test_a_fine_of_nothing_is_no_fine():
    nothing, never = (Attacker(gain=8, exploit_cost=1, max_fines=n) for n in (1, 0))
    assert campaign(nothing, [3, 5]).payoff == campaign(never, [3, 5]).payoff
    assert campaign(nothing, [3, 5]).exact


def test_chances_are_chances():
    for attacker in (CASE, replace(CASE, max_fines=math.inf, prior=1.0)):
        found = campaign(attacker, np.arange(1, 60))
        assert found.success_probability.max() <= 1
        assert price_records(attacker, np.arange(1, 60)).success_probability.max() <= 1
