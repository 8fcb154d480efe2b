"""The exploitation phase: the optimal plan equals an independent solution of the same game, whatever the game."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.economics import literal
from tests.economics.case import CASE
from unmask import UnmaskError
from unmask.economics import Attacker, exploitation_table
from unmask.economics.plans.plan import (
    CLEAN,
    FINE_SLOPE,
    FINES,
    SUCCESS,
    TRIES,
    VALUE,
    CandidateGroups,
    solve_plans,
    solve_plans_by_cap,
)

amounts = st.one_of(st.just(0.0), st.floats(0.5, 100))
chances = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.001, 0.999))


@st.composite
def attackers(draw, *, ties=("walk_away",)):
    """Any attacker: every rule and every switch of the clock."""
    sigmoid = {
        "detection_base": draw(st.floats(-7, 1)),
        "detection_growth": draw(st.one_of(st.just(0.0), st.floats(-0.5, 1))),
    }
    schedule = {"detection": tuple(draw(st.lists(chances, min_size=1, max_size=6)))}
    return Attacker(
        gain=draw(st.floats(10, 10_000)),
        access_cost=draw(amounts),
        link_cost=draw(amounts),
        exploit_cost=draw(amounts),
        fine=draw(st.one_of(st.just(0.0), st.floats(1, 20_000))),
        max_fines=draw(st.sampled_from([0, 1, 2, 3, math.inf])),
        audit_every=draw(st.sampled_from([1, 1, 1, 2, 3])),
        arrest=draw(st.booleans()),
        prior=draw(st.one_of(st.just(1.0), st.floats(0.05, 1))),
        confirmation=draw(st.one_of(st.just(1.0), st.floats(0.2, 1))),
        max_tries=draw(st.one_of(st.none(), st.integers(1, 12))),
        ties=draw(st.sampled_from(ties)),
        discount=draw(st.one_of(st.just(1.0), st.floats(0.7, 0.999))),
        gain_delay=draw(st.integers(0, 1)),
        fine_delay=draw(st.integers(0, 1)),
        link_delay=draw(st.integers(0, 1)),
        **draw(st.sampled_from([sigmoid, schedule])),
    )


def alike(attacker, *sizes):
    """Groups of these sizes, with the attacker's own chance that the target is inside."""
    return CandidateGroups.uniform(np.array(sizes), np.full(len(sizes), attacker.prior * attacker.confirmation))


def linked(attacker, plan):
    """The plan at the moment of linking, as the decision tree reports it."""
    value = attacker.discount**attacker.link_delay * plan[VALUE] - attacker.link_cost
    return np.where(value > 1e-12 * attacker.gain, [value, *plan[[SUCCESS, TRIES, FINES]]], 0.0)


# ---------------------------------------------------------------------------------------------------- any game


@settings(max_examples=150, deadline=None)
@given(attacker=attackers(), size=st.integers(1, 24))
def test_the_optimal_plan_is_that_of_a_decision_tree(attacker, size):
    tree = literal.decision_tree(attacker, size)
    payoff, success, tries, fines = linked(attacker, solve_plans(attacker, alike(attacker, size)))[:, 0]
    assert payoff == pytest.approx(tree.payoff_sunk, abs=1e-9 * attacker.gain)
    if tree.payoff_sunk > 1e-6 * attacker.gain:  # else both are a step from a tie, and rounding decides
        assert (success, tries, fines) == pytest.approx((tree.success, tree.tries, tree.fines), abs=1e-5)


@settings(max_examples=80, deadline=None)
@given(attacker=attackers(), weights=st.lists(st.floats(0.01, 1), min_size=1, max_size=14), inside=st.floats(0.1, 1))
def test_unequal_candidates_are_tried_as_in_a_decision_tree(attacker, weights, inside):
    chance = np.sort(np.array(weights))[::-1]
    chance *= inside / chance.sum()
    tree = literal.decision_tree(attacker, len(chance), probabilities=chance.tolist())
    noticed = chance * attacker.confirmation
    noticed_before = np.concatenate(([0.0], np.cumsum(noticed)[:-1]))
    games = CandidateGroups(np.array([len(chance)]), np.array([0]), noticed, noticed_before)
    payoff, success, tries, fines = linked(attacker, solve_plans(attacker, games))[:, 0]
    assert payoff == pytest.approx(tree.payoff_sunk, abs=1e-9 * attacker.gain)
    if tree.payoff_sunk > 1e-6 * attacker.gain:
        assert (success, tries, fines) == pytest.approx((tree.success, tree.tries, tree.fines), abs=1e-5)


@given(attackers(), st.lists(st.integers(1, 12), min_size=1, max_size=4), st.integers(0, 14), st.booleans())
def test_plans_of_every_cap_are_those_of_each_alone(attacker, sizes, largest_cap, ranked):
    games, rng = alike(attacker, *sorted(sizes)), np.random.default_rng(largest_cap)
    if ranked:
        chance = [np.sort(rng.dirichlet(np.ones(size)))[::-1] * attacker.prior for size in sorted(sizes)]
        start = np.cumsum([0, *(len(chances) for chances in chance[:-1])])
        noticed_before = [np.cumsum(chances) - chances for chances in chance]
        games = CandidateGroups(games.size, start, np.concatenate(chance), np.concatenate(noticed_before))
    result = solve_plans_by_cap(replace(attacker, max_fines=largest_cap), games)
    assert result.shape == (largest_cap + 1, 6, len(sizes))
    for cap, plan in enumerate(result):
        assert plan == pytest.approx(solve_plans(replace(attacker, max_fines=cap), games), rel=1e-9, abs=1e-9)


def test_groups_solved_together_are_groups_solved_alone():
    for attacker in (CASE, replace(CASE, max_fines=math.inf), replace(CASE, max_fines=3, detection_growth=0.2)):
        plans = solve_plans(attacker, alike(attacker, 1, 2, 2, 9, 40, 70))
        for i, size in enumerate((1, 2, 2, 9, 40, 70)):
            assert plans[:, i] == pytest.approx(solve_plans(attacker, alike(attacker, size))[:, 0], abs=1e-9)


def test_an_empty_group_is_worth_nothing():
    for attacker in (CASE, replace(CASE, max_fines=math.inf), replace(CASE, max_fines=math.inf, detection_growth=0.1)):
        plan = solve_plans(attacker, CandidateGroups.uniform(np.array([0, 3]), np.array([0.0, 0.63])))
        assert plan[:, 0].tolist() == [0] * 6
        assert plan[VALUE, 1] > 0


def test_no_groups_have_no_plans():
    assert solve_plans(CASE, CandidateGroups.uniform(np.array([], dtype=np.int64), np.array([]))).shape == (6, 0)


@pytest.mark.parametrize("max_fines", [0, 1, 2, math.inf])
def test_a_target_surely_inside_is_found_by_the_last_try_at_the_latest(max_fines):
    attacker = replace(CASE, prior=1.0, max_fines=max_fines, detection_growth=0.01)
    plan = solve_plans(attacker, alike(attacker, 1, 5, 30))
    assert plan[SUCCESS, :2] == pytest.approx([1, 1], abs=1e-12)
    assert plan[TRIES, 0] == 1.0
    free = solve_plans(replace(attacker, fine=0, exploit_cost=0), alike(attacker, 1, 5, 30))
    assert free[SUCCESS] == pytest.approx([1, 1, 1], abs=1e-14)
    assert free[TRIES] == pytest.approx([1, 3, 15.5], abs=1e-12)  # the mean place of the target


# ------------------------------------------------------------------------------ three solutions of the same game


@settings(max_examples=60, deadline=None)
@given(
    attacker=attackers(ties=("walk_away", "attack")),
    chance=st.floats(0, 0.5),
    sizes=st.lists(st.integers(0, 60), min_size=1, max_size=5),
)
def test_the_closed_form_is_the_open_loop_is_the_recursion(attacker, chance, sizes):
    constant = {"audit_every": 1, "detection_base": None, "detection_growth": None, "detection": (chance,)}
    closed = replace(attacker, max_fines=math.inf, arrest=False, **constant)
    open_loop = replace(closed, detection=(*[chance] * 61, 1.0))  # the same for groups of up to 61
    recursion = replace(closed, max_fines=59)  # nobody is caught 60 times out of 60: a chance of 1e-18
    assert closed.constant_detection
    assert not open_loop.constant_detection
    games = alike(closed, *sorted(sizes))
    plans = [solve_plans(variant, games) for variant in (closed, open_loop, recursion)]
    clear = plans[0][VALUE] > 1e-6 * attacker.gain
    for plan in plans[1:]:
        assert plan[VALUE] == pytest.approx(plans[0][VALUE], abs=1e-10 * attacker.gain)
        assert plan[SUCCESS, clear] == pytest.approx(plans[0][SUCCESS, clear], abs=1e-6)
        assert plan[TRIES, clear] == pytest.approx(plans[0][TRIES, clear], abs=1e-5)
        assert plan[FINES, clear] == pytest.approx(plans[0][FINES, clear], abs=1e-5)


@pytest.mark.parametrize("discount", [1.0, 0.99, 0.9])
@pytest.mark.parametrize("growth", [0.0, 0.18, -0.05])
def test_a_cap_that_is_never_reached_is_no_cap(discount, growth):
    sizes = range(1, 70)
    free = replace(CASE, max_fines=math.inf, discount=discount, detection_growth=growth)
    a, b, c = (
        solve_plans(replace(free, max_fines=cap), alike(free, *sizes)) for cap in (math.inf, 10**3, 60)
    )  # 10**3 cannot run out; 60 of 69 tries needs the recursion
    assert np.array_equal(a, b)
    assert c == pytest.approx(a, rel=1e-11, abs=1e-8)


@pytest.mark.parametrize("below_1", [1e-3, 1e-6, 1e-9, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 2**-53])
def test_a_discount_close_to_1_is_close_to_no_discount(below_1):
    sizes = [1, 2, 40, 64]
    free = replace(CASE, max_fines=math.inf)
    patient = solve_plans(free, alike(free, *sizes))
    nearly = solve_plans(replace(free, discount=1 - below_1), alike(free, *sizes))
    # the value moves by at most (all that is paid) * (number of steps) * (1 - discount)
    assert nearly[VALUE] == pytest.approx(patient[VALUE], abs=1e-8 + 64 * 20_000 * below_1)


@pytest.mark.parametrize("discount", [1.0, 0.95])
def test_value_in_closed_form(discount):
    # All or nothing: A = gamma G per person, c = C_e + gamma q C_p a try; the formulas of Finding 2.
    attacker = replace(CASE, max_fines=math.inf, discount=discount)
    g, pi, q = np.arange(1, 50), 0.63, 1 / (1 + math.exp(4.59))
    gain, cost, people = discount * 8000, 10 + discount * q * 10_000, np.arange(1, 50) / 0.63
    if discount == 1:
        value = gain * pi - cost * (g - (g - 1) * pi / 2)
    else:
        ramp = 1 - g * discount ** (g - 1) + (g - 1) * discount**g
        value = ((gain - cost * people) * (1 - discount**g) / (1 - discount)) / people
        value += cost * discount * ramp / (1 - discount) ** 2 / people
    plan = solve_plans(attacker, alike(attacker, *g.tolist()))
    assert plan[VALUE] == pytest.approx(np.maximum(value, 0), abs=1e-8)
    assert set(plan[CLEAN][value > 1e-6] - g[value > 1e-6]) == {0}


@settings(max_examples=40, deadline=None)
@given(attacker=attackers(), size=st.integers(2, 40))
def test_constant_detection_without_a_cap_is_all_or_nothing(attacker, size):
    # Finding 2 of Xia et al. 2015
    constant = {"audit_every": 1, "detection_base": None, "detection_growth": None, "detection": (0.2, 0.2)}
    attacker = replace(attacker, max_fines=math.inf, arrest=False, max_tries=None, **constant)
    assert solve_plans(attacker, alike(attacker, size))[CLEAN, 0] in (0, size)
    tree = literal.decision_tree(replace(attacker, link_cost=0), size)
    tried_all = tree.tries == pytest.approx(size - attacker.prior * attacker.confirmation * (size - 1) / 2)
    assert tree.tries == 0 or tried_all


def test_a_capped_fine_can_make_him_stop_half_way():
    # four tries of five, and then all of them if he was caught: the example against Finding 3
    attacker = Attacker(gain=6487, exploit_cost=28, fine=3988, max_fines=1, prior=0.29, detection=(0.119,))
    assert solve_plans(attacker, alike(attacker, 5))[CLEAN, 0] == 4


# ------------------------------------------------------------------------------------------------ far in the future

FREE = Attacker(gain=8000, max_fines=0, discount=0.9, prior=0.63)


@pytest.mark.parametrize(
    "attacker",
    [
        FREE,
        replace(FREE, max_fines=math.inf, detection=(0.0, 0.1)),  # not constant: plans are compared try by try
        replace(FREE, max_fines=math.inf, audit_every=7, detection=(0.3,)),
        replace(FREE, detection=(0.1,), fine=0.0, max_fines=2),
    ],
    ids=["constant", "changing", "audited", "capped"],
)
def test_costless_tries_are_all_made_however_late_they_come(attacker):
    # after 262 steps at 0.9 a unit is worth 1e-12 of itself; each further try still brings more than it costs
    plan = solve_plans(attacker, alike(attacker, 1000))
    assert plan[SUCCESS, 0] == pytest.approx(0.63, abs=1e-12)
    assert plan[CLEAN, 0] == 1000


def test_a_loss_that_comes_late_is_still_a_loss():
    # from try 300 on every try is fined for more than it can bring; ties have nothing to do with it
    late = Attacker(
        gain=8000,
        fine=0.5,
        max_fines=math.inf,
        detection=(*[0.0] * 300, 1.0),
        discount=0.9,
        prior=0.01,
        ties="attack",
    )
    tree = literal.decision_tree(late, 500)
    plan = solve_plans(late, alike(late, 500))
    assert (plan[SUCCESS, 0], plan[TRIES, 0]) == pytest.approx((tree.success, tree.tries), rel=1e-9)
    assert plan[CLEAN, 0] == 300


def test_an_arrest_that_is_likely_does_not_hide_the_later_tries():
    attacker = Attacker(gain=100, max_fines=0, detection=(0.6,), arrest=True)
    assert solve_plans(attacker, alike(attacker, 60))[CLEAN, 0] == 60


def test_steps_too_far_to_matter_do_not_upset_anything():
    # 0.5 ** 2000 is 0 in floating point
    attacker = Attacker(gain=1e6, exploit_cost=0.01, fine=1, max_fines=math.inf, detection=(0, 0.1), discount=0.5)
    plan = solve_plans(attacker, alike(attacker, 10, 2000))
    assert np.all(np.isfinite(plan))
    tree = literal.decision_tree(replace(attacker, max_fines=0, exploit_cost=0.11), 2000)  # the fine is sure to come
    assert plan[VALUE, 1] == pytest.approx(tree.payoff_sunk / 0.5, rel=1e-3)


# ---------------------------------------------------------------------------------------------------------- ties


@pytest.mark.parametrize("audit_every", [1, 7])  # closed form and open loop
def test_a_tie_is_broken_as_the_attacker_says(audit_every):
    # prosecutor with one try at 5 for a chance of 1/2 of 10: worth exactly nothing
    fair = Attacker(gain=10, exploit_cost=5, max_fines=0, max_tries=1, audit_every=audit_every)
    assert solve_plans(fair, alike(fair, 2))[:, 0].tolist() == [0] * 6
    prudent = replace(fair, ties="attack")
    assert solve_plans(prudent, alike(prudent, 2))[[VALUE, SUCCESS, TRIES, CLEAN], 0].tolist() == [0, 0.5, 1, 1]
    assert solve_plans(prudent, alike(prudent, 3))[SUCCESS, 0] == 0


def test_a_tie_on_the_way_is_broken_as_well():
    # 4 candidates, gain 12, cost 3 at the first try, 1/4 * 12 = 3: the first is a tie, each later one a profit of
    # (12 - 3 * 4 * (1 - j/4)) / 4; with a cost that only the last try repays, all of them are a tie.
    attacker = Attacker(gain=12, exploit_cost=3, max_fines=0, detection=(0.0, 0.1))
    assert solve_plans(attacker, alike(attacker, 4))[CLEAN, 0] == 4
    # gain 5: increments -10/4+5/4, ... sum over 4 tries: 5 - 2 * (1 + 3/4 + 1/2 + 1/4) = 0
    even = Attacker(gain=5, exploit_cost=2, max_fines=0, detection=(0.0, 0.1))
    capped = replace(even, max_fines=2, detection=(0.0,))
    for attacker in (even, replace(even, detection=None), capped):
        assert solve_plans(attacker, alike(attacker, 4))[CLEAN, 0] == 0
        prudent = replace(attacker, ties="attack")
        plan = solve_plans(prudent, alike(prudent, 4))[:, 0]
        assert plan[[SUCCESS, TRIES, CLEAN]].tolist() == [1, 2.5, 4]
        assert plan[VALUE] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("gain", [1e-9, 1.0, 1e9])
def test_currency_does_not_matter(gain):
    scale = gain / 8000
    scaled = replace(CASE, gain=gain, exploit_cost=10 * scale, fine=10_000 * scale)
    sizes = (1, 14, 40, 88, 90, 91)
    assert solve_plans(scaled, alike(scaled, *sizes))[SUCCESS] == pytest.approx(
        solve_plans(CASE, alike(CASE, *sizes))[SUCCESS], abs=1e-9
    )


# --------------------------------------------------------------------------------------------------- the slopes


@settings(max_examples=100, deadline=None)
@given(attacker=attackers(), sizes=st.lists(st.integers(1, 30), min_size=1, max_size=4))
def test_the_value_is_the_discounted_money(attacker, sizes):
    plan = solve_plans(replace(attacker, discount=1.0), alike(attacker, *sorted(sizes)))
    value = attacker.gain * plan[SUCCESS] - attacker.exploit_cost * plan[TRIES] - attacker.fine * plan[FINES]
    assert plan[VALUE] == pytest.approx(value, abs=1e-12 * (attacker.gain + 30 * (attacker.fine + 100)))
    assert plan[FINE_SLOPE] == pytest.approx(plan[FINES], abs=1e-12)


@pytest.mark.parametrize("max_fines", [1, math.inf])
@pytest.mark.parametrize("growth", [0.0, 0.18])
def test_the_discounted_fines_are_the_slope_in_the_fine(max_fines, growth):
    attacker = replace(CASE, max_fines=max_fines, detection_growth=growth, discount=0.97)
    groups = alike(attacker, 1, 7, 13, 20)
    step = 1e-4 * attacker.fine
    high, low = (solve_plans(replace(attacker, fine=attacker.fine + sign * step), groups)[VALUE] for sign in (1, -1))
    assert -solve_plans(attacker, groups)[FINE_SLOPE] == pytest.approx((high - low) / (2 * step), rel=1e-6)


def test_each_group_may_have_a_fine_of_its_own():
    for attacker in (CASE, replace(CASE, max_fines=math.inf), replace(CASE, max_fines=math.inf, detection_growth=0.1)):
        fines = np.array([10_000.0, 0, 70])
        plan = solve_plans(attacker, alike(attacker, 4, 4, 9), fines)
        for i, size in enumerate((4, 4, 9)):
            single = replace(attacker, fine=fines[i])
            assert plan[:, i] == pytest.approx(solve_plans(single, alike(single, size))[:, 0], abs=1e-9)


# ------------------------------------------------------------------------------------------------------ theorems


@settings(max_examples=100, deadline=None)
@given(attacker=attackers())
def test_the_value_falls_with_the_size_of_the_group(attacker):
    # for every detection schedule, falling and audited ones included, every cap and every discount
    value = solve_plans(attacker, alike(attacker, *range(1, 41)))[VALUE]
    assert np.all(np.diff(value) <= 1e-11 * (attacker.gain + attacker.fine))


@settings(max_examples=60, deadline=None)
@given(attacker=attackers(), amount=st.sampled_from(["fine", "exploit_cost", "access_cost", "link_cost"]))
def test_risk_and_payoff_never_rise_with_what_he_must_pay(attacker, amount):
    risks, payoffs = [], []
    for value in (0.0, 1.0, 5.0, 20.0, 90.0, 400.0, 3000.0, 20_000.0):
        table = exploitation_table(replace(attacker, **{amount: value}), 25)
        risks.append(table.success_probability)
        payoffs.append(table.payoff)
    assert np.all(np.diff(risks, axis=0) <= 1e-9)
    assert np.all(np.diff(payoffs, axis=0) <= 1e-9 * (attacker.gain + 20_000))


@settings(max_examples=60, deadline=None)
@given(attacker=attackers(), extra_detection=st.floats(1.0, 3.0), index=st.integers(0, 5))
def test_the_value_never_rises_with_detection_at_any_try(attacker, extra_detection, index):
    q = attacker.detection_at(25)
    harder = q.copy()
    harder[index] = min(1.0, q[index] * extra_detection)
    easy, hard = (
        solve_plans(a, alike(a, *range(1, 25)))[VALUE]
        for schedule in (q, harder)
        for a in [
            replace(attacker, audit_every=1, detection_base=None, detection_growth=None, detection=tuple(schedule))
        ]
    )
    assert np.all(hard <= easy + 1e-9 * (attacker.gain + attacker.fine))


def test_more_detection_can_raise_the_risk():
    # Counter-example: being fined early buys immunity. Payoff 159.60 -> 130.14, P_reid .5966 -> .6258.
    attacker = Attacker(
        gain=7684, exploit_cost=40, fine=7367, max_fines=1, prior=1.0, detection_base=-2.0, detection_growth=0.3
    )
    for first, payoff, success in ((0.1192, 159.60, 0.5966), (0.1301, 130.14, 0.6258)):
        h0 = {0.1192: -2.0, 0.1301: -1.9}[first]
        attacker_alone = replace(attacker, detection_base=h0)
        assert attacker_alone.detection_at(1)[0] == pytest.approx(first, abs=5e-5)
        plan = solve_plans(attacker_alone, alike(attacker_alone, 40))[:, 0]
        assert plan[VALUE] == pytest.approx(payoff, abs=0.005)
        assert plan[SUCCESS] == pytest.approx(success, abs=5e-5)
        tree = literal.decision_tree(attacker_alone, 40)
        assert (tree.payoff_sunk, tree.success) == pytest.approx((plan[VALUE], plan[SUCCESS]), rel=1e-9)
        game = literal.literal_mdp(attacker_alone, {40: 1.0})
        _, policy = literal.solve_policy_iteration(game)
        assert literal.reidentification_probability(game, policy, 40) == pytest.approx(success, abs=5e-5)
    assert attacker_alone.warnings


def test_a_larger_group_can_raise_the_risk():
    # Counter-example: payoff 612.71 -> 570.75, P_reid .4472 -> .5856 from size 10 to 11.
    attacker = Attacker(gain=8085, fine=4889, max_fines=1, prior=0.63, detection_base=-0.99, detection_growth=1.0)
    table = exploitation_table(attacker, 11)
    assert table.payoff[[10, 11]] == pytest.approx([612.71, 570.75], abs=0.005)
    assert table.success_probability[[10, 11]] == pytest.approx([0.4472, 0.5856], abs=5e-5)
    assert 11 in table.rises
    assert attacker.warnings


# ---------------------------------------------------------------------------------------------------------- limits


def test_plans_of_too_many_fines_are_refused_at_once():
    many_fines = replace(CASE, max_fines=10**5)
    with pytest.raises(UnmaskError, match=r"steps.*max_tries"):
        solve_plans(many_fines, alike(many_fines, *range(200_000, 200_400)))


@pytest.mark.parametrize("max_fines", [3, math.inf])
def test_plans_of_too_many_steps_are_refused_at_once(monkeypatch, max_fines):
    monkeypatch.setattr("unmask.economics.plans.plan.MAX_BYTES", 2**24)
    endless = replace(CASE, max_fines=max_fines, detection_base=-25.0, detection_growth=1e-9)
    with pytest.raises(UnmaskError, match=r"(steps|GiB).*max_tries"):
        solve_plans(endless, alike(endless, *[10**9] * 100))


def test_a_billion_candidates_in_closed_form():
    free = Attacker(gain=1, max_fines=0, prior=0.5)
    plan = solve_plans(free, alike(free, 10**9))[:, 0]
    assert plan[[SUCCESS, CLEAN]].tolist() == [0.5, 1e9]
    assert plan[TRIES] == pytest.approx(1e9 - 0.25 * (1e9 - 1), rel=1e-14)
