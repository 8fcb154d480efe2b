"""Fines, prices and budgets that stop an attack, each against enumeration or bracketing."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.economics.case import CASE
from unmask import Posterior, UnmaskError
from unmask.economics import (
    Attacker,
    break_even,
    campaign,
    deter,
    exploitation_table,
    price_posterior,
    price_records,
    read_attacker,
    stopping_fine,
    sweep,
    tornado,
)
from unmask.economics.campaigns.campaign import attack, bound_value, remove_discount, solve
from unmask.economics.campaigns.targets import Targets
from unmask.economics.deterrence import amounts
from unmask.economics.deterrence.search import find_root, minimize_convex

AMOUNTS = ("fine", "access_cost")
VARIANTS = {
    "capped": CASE,
    "uncapped": replace(CASE, max_fines=math.inf),
    "growing": replace(CASE, detection_growth=0.18),
    "discounted": replace(CASE, detection_growth=0.18, discount=0.9, link_cost=7.0),
    "arrested": replace(CASE, arrest=True, detection_growth=0.1),
    "audited": replace(CASE, audit_every=3, max_fines=2, detection_base=-2.0),
    "hasty": replace(CASE, max_tries=2, confirmation=0.8),
}
UNIFORM = np.arange(2000) % 119 + 1  # as even as 2,000 records on the sizes 1 to 119 can be


@pytest.mark.parametrize("root", [0.0, 3e-3, 1.0, 77_371.25, 1.3e7])
@pytest.mark.parametrize("first", [1.0, 5e4])
@pytest.mark.parametrize("shape", ["line", "pieces", "curve", "jump"])
def test_a_root_is_bracketed_as_by_bisection_and_sooner(root, first, shape):
    probes = []

    def over(x):
        probes.append(x)
        line = root - x
        if shape == "pieces":
            return max(line, 4 * (0.9 * root - x) + 0.1 * root, 20 * (root / 2 - x)) if x < root else min(line, 0.0)
        if shape == "curve":
            return line * abs(line)
        return (1.0 if line > 0 else 0.0) if shape == "jump" else max(line, 0.0)

    low, high = find_root(over, first, 1e-6)
    assert low <= root <= high
    assert high - low <= 1e-6 * high
    assert over(high) <= 0
    assert over(low) > 0 or not root
    if shape in ("line", "pieces") and root:
        assert len(probes) <= 14 + abs(math.log2(first / root))
    assert find_root(lambda _: 1.0, first)[1] == math.inf


# -------------------------------------------------------------------------------------------------------- break even


def test_break_even_fines_of_the_case_study():
    # one fine, constant detection, no discount
    result = break_even(CASE, [1, 5, 10, 20, 50])
    assert result.round().tolist() == [490508, 132620, 70203, 36887, 16143]


def test_break_even_fine_of_a_single_candidate_by_hand():
    q = 1 / (1 + math.exp(4.59))
    assert break_even(CASE, [1])[0] == pytest.approx((8000 * 0.63 - 110) / q, rel=1e-12)
    assert break_even(CASE, [1], "access_cost")[0] == pytest.approx(8000 * 0.63 - 10 - 10_000 * q, rel=1e-12)


@pytest.mark.parametrize("amount", AMOUNTS)
@pytest.mark.parametrize("name", VARIANTS)
def test_access_flips_at_the_break_even_amount(name, amount):
    attacker, sizes = VARIANTS[name], np.array([1, 2, 5, 13, 30])
    for size, value in zip(sizes, break_even(attacker, sizes, amount), strict=True):
        if not math.isfinite(value):
            assert price_records(replace(attacker, **{amount: 1e12}), [size]).access[0]
            continue
        below_threshold, above_threshold = (
            price_records(replace(attacker, **{amount: value * (1 + side)}), [size]).access[0] for side in (-1e-7, 1e-7)
        )
        assert (below_threshold, above_threshold) == (value > 0, False)


@settings(max_examples=60, deadline=None)
@given(
    gain=st.floats(1, 1e6),
    cost=st.floats(0, 100),
    access=st.floats(0, 500),
    fine=st.floats(0, 1e5),
    cap=st.sampled_from([1, 2, 5, math.inf]),
    base=st.floats(-6, 2),
    growth=st.floats(-0.3, 0.5),
    prior=st.floats(0.05, 1),
    discount=st.sampled_from([1.0, 0.9]),
    size=st.integers(1, 25),
    amount=st.sampled_from(AMOUNTS),
)
def test_access_flips_at_the_break_even_amount_of_any_attacker(
    gain, cost, access, fine, cap, base, growth, prior, discount, size, amount
):
    attacker = Attacker(
        gain=gain,
        exploit_cost=cost,
        access_cost=access,
        fine=fine,
        max_fines=cap,
        detection_base=base,
        detection_growth=growth,
        prior=prior,
        discount=discount,
    )
    value = float(break_even(attacker, [size], amount)[0])
    assert value >= 0
    away, attacks = value * (1 + 1e-6) + 1e-6 * gain, value * (1 - 1e-6) - 1e-6 * gain
    if math.isfinite(away):
        assert not price_records(replace(attacker, **{amount: away}), [size]).access[0]
    if math.isfinite(attacks) and attacks >= 0:
        assert price_records(replace(attacker, **{amount: attacks}), [size]).access[0]


def test_groups_that_nothing_or_anything_keeps_away():
    assert break_even(CASE, [0, 2000]).tolist() == [0, 0]
    assert break_even(replace(CASE, max_fines=0), [1, 5]).tolist() == [math.inf, math.inf]
    assert break_even(replace(CASE, access_cost=1e6), [1]).tolist() == [0]


def test_the_amount_that_is_asked_for_does_not_matter():
    for amount in AMOUNTS:
        free_attacker = replace(CASE, **{amount: 0.0})
        assert break_even(free_attacker, [1, 7, 40], amount) == pytest.approx(
            break_even(CASE, [1, 7, 40], amount), rel=1e-9
        )


def test_break_even_of_a_belief_is_that_of_its_groups():
    belief = Posterior.from_dense(
        np.array([[0.2, 0.2, 0.2, 0.03], [0.21, 0.21, 0.21, 0], [0, 0.63, 0, 0], [0, 0, 0, 0]])
    )
    for amount in AMOUNTS:
        result = break_even(CASE, belief, amount)
        assert result[1:3] == pytest.approx(break_even(CASE, [3, 1], amount), rel=1e-5)
        assert result[3] == 0
        below_threshold, above_threshold = (
            price_posterior(replace(CASE, **{amount: result[0] * factor}), belief).access[0]
            for factor in (0.9999, 1.0001)
        )
        assert (below_threshold, above_threshold) == (True, False)


@pytest.mark.parametrize("amount", ["prior", "", None, "gain"])
def test_a_bad_amount_is_refused(amount):
    with pytest.raises(UnmaskError, match="amount"):
        break_even(CASE, [1], amount)


# ------------------------------------------------------------------------------------------------------------ deter


def risk(attacker, sizes, loss=1.0):
    return float((campaign(remove_discount(attacker), sizes).most_success * loss).sum())


@pytest.mark.parametrize("amount", ["fine", "access_cost"])
@pytest.mark.parametrize("name", VARIANTS)
def test_the_amount_meets_the_budget_and_a_little_less_does_not(name, amount):
    attacker, sizes = VARIANTS[name], [1, 2, 2, 7, 30, 30, 60]
    loss = np.array([5.0, 1, 1, 1, 2, 2, 1])
    unfined = risk(replace(attacker, **{amount: 0.0}), sizes, loss)
    for share in (0.7, 0.3, 0.1, 0.0):
        result = deter(attacker, sizes, share * unfined, amount=amount, loss=loss)
        if math.isinf(result):
            assert amount == "fine"
            assert risk(replace(attacker, fine=1e15), sizes, loss) > share * unfined
            continue
        assert risk(replace(attacker, **{amount: result}), sizes, loss) <= share * unfined
        assert risk(replace(attacker, **{amount: 0.999 * result}), sizes, loss) > share * unfined


@pytest.mark.parametrize("amount", ["fine", "access_cost"])
@pytest.mark.parametrize("size", [1, 40, 88, 90])
def test_one_target_is_deterred_at_the_break_even_amount(size, amount):
    result = deter(CASE, [size], 0.0, amount=amount)
    assert result == pytest.approx(break_even(CASE, [size], amount)[0], rel=1e-6)
    assert risk(replace(CASE, **{amount: result}), [size]) == 0


def test_e4_a_fine_that_stops_each_attack_stops_no_campaign():
    """A fine of 8,229 stops an attack on one group of 60, but a campaign against a hundred gains 452,485."""
    case = read_attacker("case-study")
    assert deter(case, [60], 0.0) == pytest.approx(8228.71, abs=0.01)
    for sizes, budget in (([60] * 100, 1.0), ([60] * 50, 0.0)):
        fine = deter(case, sizes, budget)
        assert campaign(replace(case, fine=fine), sizes).most_success.sum() <= budget
        payoff_without_fine = campaign(replace(case, fine=0.0), sizes).payoff  # one fine costs him at most its amount
        assert fine > payoff_without_fine
        assert campaign(replace(case, fine=payoff_without_fine - 1.0), sizes).access


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 8), min_size=1, max_size=4),
    gain=st.floats(100, 5000),
    cost=st.sampled_from([0.0, 1.0, 20.0]),
    cap=st.integers(1, 3),
    q=st.floats(0.01, 0.9),
    prior=st.sampled_from([1.0, 0.63, 0.3]),
    price=st.sampled_from([0.0, 50.0]),
)
def test_e4_the_stopping_fine_is_bracketed(sizes, gain, cost, cap, q, prior, price):
    attacker = Attacker(
        gain=gain, exploit_cost=cost, access_cost=price, fine=1.0, max_fines=cap, detection=(q,), prior=prior
    )
    pays, stops = stopping_fine(attacker, sizes)
    assert pays <= stops
    if pays > 0:
        assert campaign(replace(attacker, fine=pays), sizes).access
    if math.isfinite(stops):
        assert campaign(replace(attacker, fine=stops), sizes).upper == 0
    assert math.isinf(stops) == (campaign(replace(attacker, fine=1e15), sizes).upper > 0)


def test_e4_the_stopping_fine_of_one_group_is_its_break_even_fine():
    for attacker in (CASE, replace(CASE, max_fines=3), replace(CASE, max_fines=math.inf)):
        for size in (1, 5, 30):
            pays, stops = stopping_fine(attacker, [size])
            assert pays <= break_even(attacker, [size])[0] * (1 + 1e-9)
            assert stops == pytest.approx(break_even(attacker, [size])[0], rel=1e-7)


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 30), min_size=5, max_size=9, unique=True),
    fine=st.floats(100, 1e7),
    cap=st.integers(1, 40),
)
def test_bounds_without_a_plan_are_those_of_the_plan(sizes, fine, cap):
    attacker = replace(CASE, fine=fine, max_fines=cap, access_cost=0.0)
    targets = Targets.of(attacker, sizes, [1000] * len(sizes))
    assert bound_value(targets) == pytest.approx(solve(targets)[1], rel=1e-9, abs=1e-11 * targets.unfined_value)


def test_the_search_of_the_stopping_fine_follows_payoffs(monkeypatch):
    fines = []

    def attack_and_count(targets):
        fines.append(targets.attacker.fine)
        return attack(targets)

    monkeypatch.setattr(amounts, "attack", attack_and_count)
    stopping_fine(replace(CASE, max_fines=math.inf), [1, 2, 2, 40])
    assert len(fines) <= 15  # a bisection takes twice as many


def test_fines_that_stop_a_campaign_against_2000_records():
    """490,508 keeps him from each one; all of them together are worth 20 times as much, and one fine is nothing."""
    pays, stops = stopping_fine(CASE, UNIFORM)
    assert stops == pytest.approx(pays, rel=1e-6)
    assert stops > 19 * break_even(CASE, [1])[0]
    assert deter(CASE, UNIFORM, 0.0) == pytest.approx(stops, rel=1e-6)


def test_a_budget_that_needs_nothing_and_one_that_cannot_be_met():
    assert deter(CASE, [1, 2], 2.0) == 0
    assert deter(CASE, [], 0.0) == 0
    assert deter(CASE, [0, 5000], 0.0) == 0
    assert deter(replace(CASE, max_fines=0), [3], 0.1) == math.inf
    assert deter(replace(CASE, max_fines=0), [3], 0.1, amount="access_cost") == pytest.approx(8000 * 0.63 - 10 * 2.37)


def test_a_fine_that_deters_no_attacker_can_still_meet_a_budget():
    # the first two tries are never looked at, so no fine keeps him away; from the third on it makes him stop
    attacker = Attacker(gain=100, max_fines=math.inf, fine=1.0, detection=(0.0, 0.0, 0.1))
    assert break_even(attacker, [10]).tolist() == [math.inf]
    result = deter(attacker, [10], 0.5)
    assert math.isfinite(result)
    assert risk(replace(attacker, fine=result), [10]) <= 0.5
    assert risk(replace(attacker, fine=0.999 * result), [10]) > 0.5
    assert deter(attacker, [10], 0.1) == math.inf


def test_a_belief_is_deterred_like_its_groups():
    belief = Posterior.from_dense(np.array([[0.21, 0.21, 0.21], [0, 0.63, 0]]))
    assert deter(CASE, belief, 0.7) == pytest.approx(deter(CASE, [3, 1], 0.7), rel=1e-5)
    weight = np.array([0.0, 1.0])
    assert deter(CASE, belief, 0.0, loss=weight) == pytest.approx(deter(CASE, [3, 1], 0.0, loss=weight), rel=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": -1}, "budget"),
        ({"budget": math.nan}, "budget"),
        ({"budget": None}, "budget"),
        ({"budget": "1"}, "budget"),
        ({"budget": 1, "amount": "gain"}, "amount"),
        ({"budget": 0.1, "loss": [1, 2, 3]}, "loss"),
        ({"budget": 0.1, "loss": -1}, "loss"),
        ({"budget": 0.1, "loss": np.ones((2, 1))}, "loss"),
    ],
)
def test_bad_budgets_are_refused(arguments, message):
    with pytest.raises(UnmaskError, match=message):
        deter(CASE, [1, 2], **arguments)


# ------------------------------------------------------------------------------------------------- sweep and tornado


@pytest.mark.parametrize("parameter", ["gain", "fine", "exploit_cost", "access_cost", "prior", "discount", "max_fines"])
def test_a_sweep_is_a_table_for_each_value(parameter):
    values = [1, 0.5] if parameter in ("prior", "discount") else [1, 500, 40_000]
    expected = [exploitation_table(replace(CASE, **{parameter: value}), 120).thresholds for value in values]
    assert sweep(CASE, parameter, values, 120) == expected


def test_a_sweep_of_detection_sets_the_chance_of_the_first_try():
    expected = [
        exploitation_table(replace(CASE, detection_base=math.log(q / (1 - q)), detection_growth=0.18), 120).thresholds
        for q in (0.005, 0.02, 0.5)
    ]
    assert sweep(replace(CASE, detection_growth=0.18), "detection", [0.005, 0.02, 0.5], 120) == expected
    schedule = replace(CASE, detection_base=None, detection_growth=None, detection=(0.1, 0.2))
    doubled = replace(schedule, detection=(0.2, 0.4))
    assert sweep(schedule, "detection", [0.2], 120) == [exploitation_table(doubled, 120).thresholds]


@pytest.mark.parametrize(
    ("parameter", "value"), [("fines", 1.0), ("profile", "literal"), ("gain", -1.0), ("detection", 1.5)]
)
def test_a_sweep_of_what_is_not_there_is_refused(parameter, value):
    with pytest.raises(UnmaskError, match=parameter):
        sweep(CASE, parameter, [value], 10)


def test_a_sweep_of_detection_needs_no_detection_to_start_with():
    nothing = replace(CASE, fine=0.0, max_fines=0, detection_base=None, detection_growth=None)
    assert sweep(nothing, "detection", [0.1], 50) == [exploitation_table(nothing, 50).thresholds]


def test_a_tornado_solves_both_ends_anew():
    attacker = replace(CASE, link_cost=3.0, detection_growth=0.18)
    sways = {sway.parameter: sway for sway in tornado(attacker, 12, 0.2)}
    assert set(sways) == {"gain", "access_cost", "link_cost", "exploit_cost", "fine", "prior", "detection"}
    for name in set(sways) - {"detection"}:
        low, high = (replace(attacker, **{name: getattr(attacker, name) * factor}) for factor in (0.8, 1.2))
        assert sways[name].low == pytest.approx(getattr(low, name))
        assert sways[name].high == pytest.approx(getattr(high, name))
        assert sways[name].payoff_low == pytest.approx(price_records(low, [12]).payoff[0])
        assert sways[name].payoff_high == pytest.approx(price_records(high, [12]).payoff[0])
    widths = [abs(sway.payoff_high - sway.payoff_low) for sway in tornado(attacker, 12, 0.2)]
    assert widths == sorted(widths, reverse=True)
    assert sways["detection"].payoff_low > sways["detection"].payoff_high


def test_a_tornado_knows_chances_that_do_not_start_at_the_first_try():
    audited = replace(CASE, audit_every=5, detection_base=-1.0)
    late = replace(CASE, detection_base=None, detection_growth=None, detection=(0.0, 0.02))
    for attacker in (audited, late):
        sways = {sway.parameter: sway for sway in tornado(attacker, 12)}
        assert sways["detection"].payoff_low > sways["detection"].payoff_high


def test_a_tornado_stays_within_1_and_leaves_out_what_is_0():
    attacker = Attacker(gain=10, exploit_cost=1, max_fines=0, prior=0.95)
    sways = {sway.parameter: sway for sway in tornado(attacker, 2)}
    assert set(sways) == {"gain", "exploit_cost", "prior"}
    assert sways["prior"].high == 1.0


@pytest.mark.parametrize("change", [0, 1, -0.1, math.nan])
def test_a_bad_change_is_refused(change):
    with pytest.raises(UnmaskError, match="change"):
        tornado(CASE, 5, change)


def test_if_any_positive_amount_deters_a_smallest_one_is_given():
    for function in (lambda value: not value, lambda value: 1.0 - 2.0 * (value > 0)):
        low, high = find_root(function, 1.0)
        assert low == 0
        assert 0 < high < 1e-17


def test_the_search_for_the_cheapest_amount_stops_at_the_precision_of_an_amount():
    amounts = []

    def parabola(amount):
        amounts.append(amount)
        return (amount - math.pi) ** 2, 2 * (amount - math.pi)

    assert minimize_convex(parabola, 0.0, 10.0) == pytest.approx(math.pi, rel=1e-7)
    assert len(amounts) < 30  # 55 to the last bit
