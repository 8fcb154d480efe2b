"""Attackers who compete: shares by enumeration, equilibria in fractions, and bounds that hold in all of them."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tests.economics import exhaustive
from unmask.economics import Attacker, Expected, Protected, Publisher, PublisherGame, Raid, Terms
from unmask.economics.rivals import contest, share
from unmask.errors import UnmaskError
from unmask.posterior import Posterior

ONE = Attacker(gain=1000, exploit_cost=5, fine=2500, max_fines=1, detection=(0.05,), prior=0.63)
"""R23 of the type that has a price of 50 to pay."""


FOUR = np.array([1, 1, 1, 1, 0])
"""Of five people the four who may be a target."""


def chance_paid(nu: Fraction, rivals: int) -> Fraction:
    """That one who re-identifies a person is the first, over who else does and the order of all."""
    total = Fraction()
    for others in product((False, True), repeat=rivals - 1):
        likely = np.prod([nu if one else 1 - nu for one in others] or [Fraction(1)])
        total += likely / (1 + sum(others))
    return total


@pytest.mark.parametrize(("nu", "rivals"), [(Fraction(1, 3), 1), (Fraction(1, 3), 4), (Fraction(63, 100), 3), (1, 5)])
def test_a_share_is_the_chance_to_be_the_first(nu, rivals):
    assert share(float(nu), rivals) == pytest.approx(float(chance_paid(Fraction(nu), rivals)), abs=1e-15)


@pytest.mark.parametrize(("rivals", "part", "named"), [(2, 0.685, 1.89), (3, 0.593860, None), (5, 0.525829, None)])
def test_equal_groups_are_in_equilibrium(rivals, part, named):  # R23, and in fractions
    found = contest(Raid.of(ONE, [4, 4, 4]), 50, rivals)
    nu = 1 - (1 - found.re_identified.low / 3) ** (1 / rivals)
    assert share(nu, rivals) == pytest.approx(part, abs=1e-6)
    assert found.re_identified.low == found.re_identified.high
    gain = Fraction(share(nu, rivals)) * 1000
    who = exhaustive.Gambler(gain, Fraction(5), Fraction(2500), 1, Fraction(1, 20), Fraction(63, 100))
    best = exhaustive.best(who, [4, 4, 4])
    assert max(float(best.worth) - 50, 0) == pytest.approx(found.payoff.low, abs=1e-9)  # no other plan leaves more
    if named:
        assert found.takers == (rivals, rivals)
        assert [3 * nu, float(best.people)] == pytest.approx([named, named], abs=1e-9)
        assert found.fines.low == pytest.approx(rivals * float(best.fines), abs=1e-9)


@pytest.mark.parametrize(("rivals", "plans"), [(3, (1.427883, 1.89)), (5, (0, 1.427883))])
def test_at_a_jump_rivals_mix(rivals, plans):  # R23
    found = contest(Raid.of(ONE, [4, 4, 4]), 50, rivals)
    one = 3 * (1 - (1 - found.re_identified.low / 3) ** (1 / rivals))
    assert plans[0] < one < plans[1]
    taking = 1 if plans[0] else one / plans[1]
    assert found.takers.low == pytest.approx(rivals * taking, abs=1e-5)


def test_rivals_with_the_same_outside_data_find_nobody_beyond_them():
    """63 of 100 people are in the register that all of them bought: no number of rivals re-identifies more."""
    register = Posterior.from_dense(np.full((3, 3), 0.21))
    free = Attacker(gain=100, exploit_cost=0, max_fines=0)
    for rivals in (2, 5):
        assert contest(Raid.of(free, register), 0, rivals).re_identified.low == pytest.approx(3 * 0.63)
        own = contest(Raid.of(replace(free, prior=0.63), [3, 3, 3]), 0, rivals)  # each has a register of their own
        assert own.re_identified.low == pytest.approx(3 * (1 - 0.37**rivals))
    uneven = Posterior.from_dense(np.array([[0.2, 0.2, 0.2], [0.5, 0.4, 0.0]]))
    bounds = contest(Raid.of(replace(free, exploit_cost=1), uneven), 0, 3)
    assert bounds.re_identified.high <= 0.6 + 0.9 + 1e-9


@pytest.mark.parametrize("rivals", [2, 3, 5])
def test_whoever_shares_a_register_is_in_equilibrium(rivals):
    found = contest(
        Raid.of(replace(ONE, prior=1.0), Posterior.from_dense(np.full((3, 5), 0.63 / 4) * FOUR)), 50, rivals
    )
    nu = 1 - (1 - found.re_identified.low / (3 * 0.63)) ** (1 / rivals)
    who = exhaustive.Gambler(
        Fraction(share(nu, rivals)) * 1000, Fraction(5), Fraction(2500), 1, Fraction(1, 20), Fraction(63, 100)
    )
    best = exhaustive.best(who, [4, 4, 4])
    assert max(float(best.worth) - 50, 0) == pytest.approx(found.payoff.low, abs=1e-6)


def test_nobody_attacks_where_nobody_does_alone():
    raid = Raid.of(ONE, [4, 4, 4])
    assert contest(raid, raid.worth.low, 7).attacks is False
    assert contest(raid, raid.worth.low - 1, 7).attacks


@pytest.mark.parametrize("price", [0, 20, 90])
def test_bounds_hold_for_groups_that_differ(price):
    free = Attacker(gain=100, exploit_cost=1, max_fines=0, prior=0.8)
    sizes, rivals = [1, 3, 30, 60], 3
    bounds = contest(Raid.of(free, sizes), price, rivals)
    each = [contest(Raid.of(free, [size]), 0, rivals) for size in sizes]  # without a price groups are apart
    assert bounds.re_identified.low < bounds.re_identified.high
    if not price:
        assert bounds.payoff.low <= sum(one.payoff.low for one in each) <= bounds.payoff.high
        assert bounds.re_identified.low <= sum(one.re_identified.low for one in each) <= bounds.re_identified.high
    assert bounds.payoff.high == pytest.approx(Raid.of(free, sizes).worth.low - price)


def test_the_publisher_loses_each_person_once_and_is_paid_by_all():
    publisher = Publisher(benefit=5000, loss=600, fees=True, recovered=0.5, penalty=10, threshold=1)
    kinds = {"rivals": Expected(ONE, 2, rivals=2), "alone": Expected(ONE, 2)}
    games = {kind: PublisherGame(publisher, {"k4": Protected([4] * 3)}, {kind: one}) for kind, one in kinds.items()}
    terms = Terms(price=20, fine=100)
    found = games["rivals"].move("k4", terms)
    answer = found.responses["rivals"]
    kept = 2 * 20 + 0.5 * 100 * answer.fines.low - 600 * answer.re_identified.low
    assert found.payoff.high == pytest.approx(5000 + 2 * (kept - 10 * answer.reached.low))
    alone = games["alone"].response("k4", "alone", terms)
    assert alone.re_identified.low < answer.re_identified.low < 2 * alone.re_identified.low
    prices = [game.break_even_price("k4", kind) for kind, game in games.items()]
    assert prices[0] == prices[1]


def test_impossible_rivals_are_refused():
    for wrong in ({"rivals": 0}, {"rivals": 2.5}, {"rivals": 2, "actual": replace(ONE, detection=(0.1,))}):
        with pytest.raises(UnmaskError, match=r"rivals is|compete"):
            Expected(ONE, **wrong)
