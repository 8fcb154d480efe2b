"""The publisher's game against enumeration, published games of one try, and dense grids."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from tests.economics import exhaustive
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.economics import (
    Attacker,
    AttackerKind,
    BestCampaign,
    ProtectedRelease,
    Publisher,
    PublisherGame,
    Terms,
    read_attacker,
)
from unmask.economics.campaigns import campaign as campaigns
from unmask.economics.deterrence.search import find_breakpoints
from unmask.economics.plans.groups import merge_equal_targets

ONE = Attacker(gain=1000, exploit_cost=5, fine=500, max_fines=1, detection=(0.05,), prior=0.63, access_cost=50)
TWO = Attacker(gain=4000, exploit_cost=20, fine=500, max_fines=2, detection=(0.2,), prior=0.9)
SIZES = {"raw": [1, 1, 2], "k2": [2, 2, 3], "k4": [4, 4, 4]}
RELEASES = {
    name: ProtectedRelease(sizes, utility)
    for (name, sizes), utility in zip(SIZES.items(), (0.9, 0.7, 0.4), strict=True)
}
PUBLISHER = Publisher(benefit=1000, loss=600)


def game(publisher=PUBLISHER, releases=RELEASES, **attackers):
    attackers = attackers or {"one": ONE}
    return PublisherGame(publisher, releases, {kind: AttackerKind(attacker) for kind, attacker in attackers.items()})


@pytest.mark.parametrize(
    ("release", "worth", "fine"),
    [("raw", 1785.579953, 12929.267308), ("k2", 1734.316998, 8164.759075), ("k4", 1658.288962, 5163.646818)],
)
def test_reference_values_of_one_attacker(release, worth, fine):  # R24
    result = game()
    assert result.best_campaign(release, "one").worth == pytest.approx((worth, worth), abs=1e-6)
    assert result.break_even_fine(release, "one") == pytest.approx((fine - 500, fine - 500), abs=1e-6)
    assert result.break_even_price(release, "one") == pytest.approx((worth - 50, worth - 50), abs=1e-6)


@pytest.mark.parametrize(
    ("release", "worth", "fines"),
    [("raw", 10383.72, 0.690560), ("k2", 10217.901696, 0.956197), ("k4", 9993.804301, 1.294391)],
)
def test_reference_values_of_another(release, worth, fines):  # type B
    result = game(two=TWO).best_campaign(release, "two")
    assert result.worth == pytest.approx((worth, worth), abs=1e-6)
    assert result.re_identified == pytest.approx((2.7, 2.7))
    assert result.fines == pytest.approx((fines, fines), abs=1e-6)


def test_small_games_are_the_exhaustive_search():
    """Three groups, two kinds, two moves: all strategies, in fractions, by a search that shares nothing."""
    rng = np.random.default_rng(23)
    for _ in range(8):
        kinds = {name: _gambler(rng) for name in ("a", "b")}
        publisher = Publisher(benefit=2000, loss=300, recovered=0.5, fees=True)
        releases = {name: ProtectedRelease(rng.integers(1, 4, 3), float(rng.uniform())) for name in ("coarse", "fine")}
        played = game(publisher, releases, **{name: _attacker(attacker) for name, attacker in kinds.items()})
        moves = [("coarse", Terms()), ("fine", Terms(price=200, fine=700))]
        values = [_searched(publisher, releases[name], terms, kinds.values()) for name, terms in moves]
        payoffs = [played.move(name, terms).payoff for name, terms in moves]
        assert np.array(payoffs) == pytest.approx(np.repeat([values], 2, axis=0).T, abs=1e-9, rel=1e-12)
        assert payoffs.index(max(payoffs)) == values.index(max(values))


def test_a_regulators_fine_is_within_the_exhaustive_search():
    """P(at least h people) is exact if all groups are tried, else within its bounds; a campaign does not sum trials."""
    rng, exact = np.random.default_rng(29), 0
    for _ in range(15):
        gambler, sizes = _gambler(rng), rng.integers(1, 4, 3)
        chance = float(sum(exhaustive.best_outcome(gambler, sizes.tolist()).named[2:]))
        low, high = BestCampaign.of(_attacker(gambler), sizes, at_least=2).reached
        assert low - 1e-9 <= chance <= high + 1e-9
        exact += low == high > 0
    assert exact > 4


@pytest.mark.parametrize("states", [0, campaigns.EXACT_STATES])
def test_a_plan_meets_detection_as_it_is(monkeypatch, states):
    """They plan with the detection that they believe in, and are caught as they are: the search evaluates both."""
    monkeypatch.setattr(campaigns, "EXACT_STATES", states)
    rng, misled = np.random.default_rng(31), 0
    for _ in range(15):
        gambler = replace(_gambler(rng), caught=Fraction(3, 10), inside=Fraction(63, 100))
        gambler = replace(
            gambler, fine=gambler.gain * Fraction(int(rng.integers(30, 150)), 100)
        )  # some candidates are left untried
        sizes = rng.integers(2, 5, 2)
        misjudging = replace(gambler, actual=Fraction(*rng.choice([[1, 50], [1, 2], [9, 10]]).tolist()))
        expected = exhaustive.best_outcome(misjudging, sizes.tolist())
        actual = BestCampaign.of(
            _attacker(gambler), sizes, actual=replace(_attacker(gambler), detection=(float(misjudging.actual),))
        )
        for value, (low, high) in ((expected.people, actual.re_identified), (expected.fines, actual.fines)):
            assert low - 1e-9 <= value <= high + 1e-9
            assert low == high or not states
        misled += abs(expected.people - exhaustive.best_outcome(gambler, sizes.tolist()).people) > 1e-6
    assert misled > 2


def _alone_in_their_groups(n, fine, believed, actual):
    """Return people re-identified, and fines: n people, one try each for 1,000; only the first fine counts."""
    worth = np.zeros(n + 1)  # with so many people left, unfined
    for n_left in range(1, n + 1):
        fined, free = 1000 * n_left - fine, 1000 + worth[n_left - 1]
        worth[n_left] = max(0.0, believed * fined + (1 - believed) * free)
    p_named, unfined = 0.0, 1.0
    for n_left in range(n, 0, -1):
        if not worth[n_left]:
            break
        p_named += unfined * (1 + actual * (n_left - 1))
        unfined *= 1 - actual
    return p_named, 1 - unfined


@pytest.mark.parametrize(("n", "fine", "believed"), [(5, 1500.0, 1.0), (200, 50_000.0, 0.5), (90, 20_000.0, 0.9)])
def test_an_attacker_certain_of_detection_is_not_fined_for_the_belief(n, fine, believed):
    """They try everybody, sure that the fine is due anyway; how many tries are detected is as it is."""
    planned = Attacker(gain=1000, fine=fine, max_fines=1, detection=(believed,))
    result = BestCampaign.of(planned, [1] * n, actual=replace(planned, detection=(0.01,)))
    p_named, fines = _alone_in_their_groups(n, fine, believed, 0.01)
    assert result.re_identified.low == pytest.approx(p_named, rel=1e-9)
    assert result.fines.low == pytest.approx(fines, rel=1e-9)


def test_believed_detection_lets_them_attack_and_be_fined():
    """Attackers who expect no detection attack at any fine; the publisher receives the fines that they pay."""
    actual = replace(ONE, detection=(0.5,), fine=5000.0)
    believed = replace(actual, detection=(0.0,))
    publisher = Publisher(benefit=1000, loss=100, recovered=1.0)
    played = PublisherGame(publisher, RELEASES, {"naive": AttackerKind(believed, actual=actual)})
    response = played.move("k2", Terms(fine=1000)).responses["naive"]
    assert response.attacks
    assert response.fines.low == pytest.approx(1 - 0.5 * 0.5 * 0.5 * 1.0, rel=0.2)  # three people, some tried twice
    wise = PublisherGame(publisher, RELEASES, {"wise": AttackerKind(actual)}).move("k2", Terms(fine=1000))
    assert wise.responses["wise"].attacks is False


@pytest.mark.parametrize("cap", [math.inf, 100, 1])
def test_an_attacker_who_expects_no_detection_is_still_fined(cap):
    """Two people in groups of 2, tried to the end: 1.37 tries each, half of them detected."""
    actual = replace(ONE, detection=(0.5,), max_fines=cap)
    result = BestCampaign.of(replace(actual, detection=(0.0,)), [2, 2], actual=actual)
    tries = 2 * (1 + (1 - 0.63 / 2))
    assert result.re_identified == pytest.approx((1.26, 1.26))
    p_unnamed = 0.5**2 * (0.5 * (1 - 0.315) + 0.315) ** 2
    assert result.fines == pytest.approx((tries / 2,) * 2 if cap > 1 else (1 - p_unnamed,) * 2)


def _gambler(rng):
    return exhaustive.Gambler(
        gain=Fraction(int(rng.integers(300, 3000))),
        cost=Fraction(int(rng.integers(0, 20))),
        fine=Fraction(int(rng.integers(100, 2000))),
        cap=int(rng.integers(1, 3)),
        caught=Fraction(*rng.choice([[1, 20], [3, 10]]).tolist()),
        inside=Fraction(*rng.choice([[1, 1], [63, 100]]).tolist()),
        link=Fraction(int(rng.integers(0, 2) * 30)),
    )


def _attacker(gambler):
    return Attacker(
        gain=float(gambler.gain), exploit_cost=float(gambler.cost), link_cost=float(gambler.link),
        fine=float(gambler.fine), max_fines=gambler.cap, detection=(float(gambler.caught),),
        prior=float(gambler.inside), access_cost=30.0,
    )  # fmt: skip


def _searched(publisher, release, terms, kinds):
    """Return the publisher's worth of a move if every attacker plays the best of all strategies."""
    revenue = publisher.benefit * release.utility
    for name in kinds:
        played = exhaustive.best_outcome(replace(name, fine=name.fine + int(terms.fine)), release.targets.tolist())
        if played.worth > 30 + int(terms.price):
            revenue += terms.price + float(played.fines) * terms.fine / 2 - publisher.loss * float(played.people)
    return revenue


def test_a_fine_of_50000_does_not_stop_a_campaign():
    """A single-attack analysis expects no re-identification and 23,500 with k=10; a campaign loots the release."""
    releases = {"k=10": ProtectedRelease([10] * 100, 0.8), "k=60": ProtectedRelease([60] * 100, 0.5)}
    played = game(Publisher(benefit=30_000, loss=5000, audit_cost=500), releases, case=read_attacker("case-study"))
    move = played.move("k=10", Terms(fine=40_000))
    assert move.payoff == pytest.approx((-291_500.0, -291_500.0))
    assert move.responses["case"].re_identified == pytest.approx((63.0, 63.0))
    assert move.responses["case"].payoff.low == pytest.approx(446_735.0, abs=0.5)


def test_one_try_is_the_game_of_arx():
    """ARX: a class of k pays gain / k - cost, and is kept if benefit (1 - loss of information) - loss / k > 0."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        gain, cost, benefit, loss = rng.uniform(1, 1000, 4)
        prior = float(rng.choice([1.0, 0.4]))  # journalist: class k of a population class k / prior
        sizes = np.repeat(*rng.integers(1, 40, (2, 12)))
        attacker = Attacker(gain=gain, exploit_cost=cost, max_fines=0, max_tries=1, prior=prior)
        payoffs, expected = [], 0.0
        for size in sizes.tolist():
            attacked = gain * prior / size - cost > 0
            left = 0.7 * benefit - attacked * loss * prior / size
            if left > 0:
                payoffs.append(size)
                expected += left
        played = game(
            Publisher(benefit=benefit * len(payoffs), loss=loss), {"kept": ProtectedRelease(payoffs, 0.7)}, arx=attacker
        )
        payoff = played.move("kept", Terms()).payoff
        assert payoff == pytest.approx((expected, expected), rel=1e-9)


def test_the_order_of_prices_and_fines_is_no_information():
    """The fine that stops an attacker at the least price is looked at wherever that price stands in the list."""
    rising, falling = (game().moves(prices=prices, fines=(0.0, 1e5)) for prices in ((0.0, 100.0), (100.0, 0.0)))
    assert [(move.protection, move.terms, move.payoff) for move in rising] == [
        (move.protection, move.terms, move.payoff) for move in falling
    ]


def test_more_people_than_there_are_are_never_reached():
    assert BestCampaign.of(TWO, [1, 2], at_least=10**13).reached == (0.0, 0.0)
    assert BestCampaign.of(replace(TWO, max_fines=0), [1, 2], at_least=10**13).reached == (0.0, 0.0)


def test_only_break_even_prices_matter():
    played = game(Publisher(benefit=1000, loss=600, fees=True), one=ONE, two=TWO)
    best_move = played.moves(prices=[0, 12_000])[0]
    scan = [played.move(name, Terms(price=float(price))) for name in SIZES for price in np.linspace(0, 12_000, 2401)]
    assert best_move.payoff.low >= max(move.payoff.low for move in scan) - 1e-9
    assert best_move.payoff.low - max(move.payoff.low for move in scan) < 5  # the step of the scan


def test_only_breakpoints_matter_where_fines_are_recovered():
    played = game(Publisher(benefit=1000, loss=300, recovered=1.0), one=ONE, two=TWO)
    best_move = played.moves(fines=[0, 20_000])[0]
    scan = [played.move(name, Terms(fine=float(fine))) for name in SIZES for fine in np.linspace(0, 20_000, 41)]
    assert best_move.payoff.low >= max(move.payoff.low for move in scan) - 1e-6
    assert best_move.responses["two"].attacks  # their fines are worth more than the people they re-identify


def test_breakpoints_of_a_campaigns_worth_in_the_fine():  # R26
    solved = []

    def line(fine):
        solved.append(fine)
        result = game(one=replace(ONE, fine=fine)).best_campaign("k4", "one")
        return result.worth.low, -result.fines.low

    assert find_breakpoints(line, 1.0, 20_000.0) == pytest.approx([4282.5254, 4897.2504, 5511.9754], abs=1e-4)
    assert len(solved) == 7


def test_the_best_move_asks_no_more_than_it_must():
    best_move = game().moves(fines=[0, 50_000])[0]
    assert best_move.protection == "raw"
    assert best_move.payoff == (900.0, 900.0)
    assert best_move.terms.fine == pytest.approx(12_429.267308)
    assert game().move("raw", replace(best_move.terms, fine=best_move.terms.fine - 0.01)).responses["one"].attacks


@pytest.mark.parametrize("income", [{}, {"fees": True}, {"fees": True, "recovered": 0.5}, {"benefit": 200}])
@pytest.mark.parametrize("terms", [{}, {"fines": [0, 20_000]}, {"prices": [0, 3000], "fines": [100, 9000]}])
def test_the_best_move_is_the_first_of_all(income, terms):
    publisher = Publisher(**{"benefit": 1000, "loss": 300} | income)
    played = game(publisher, one=ONE, two=TWO)
    assert played.best_move(**terms) == played.moves(**terms)[0]


def test_no_more_people_are_reached_than_where_all_are_tried():
    case = replace(read_attacker("case-study"), detection_growth=0.0, max_fines=3, fine=150_000)
    result = BestCampaign.of(case, [60] * 100, at_least=80)
    assert result.worth.low < result.worth.high
    assert 0 < result.reached.high <= binom.sf(79, 100, 0.63) + 1e-9  # Markov's inequality: 0.79


def test_a_regulators_fine_needs_the_whole_distribution():
    result = BestCampaign.of(replace(ONE, exploit_cost=0.0), [4] * 20, at_least=15)
    chance = binom.sf(14, 20, 0.63)
    assert result.reached == pytest.approx((chance, chance))
    publisher = Publisher(benefit=0, loss=0, penalty=1000, threshold=15)
    played = game(publisher, {"k4": ProtectedRelease([4] * 20)}, one=replace(ONE, exploit_cost=0.0))
    assert played.move("k4", Terms()).payoff.low == pytest.approx(-1000 * chance)


def test_unknown_amounts_are_intervals(monkeypatch):
    """Without the search of all interleavings the bounds hold the optimum, its people and its fines."""
    rng, wide = np.random.default_rng(5), 0
    for _ in range(40):
        attacker = replace(
            ONE, fine=float(rng.uniform(300, 1500)), detection=(float(rng.choice([0.3, 0.6])),), prior=0.3
        )
        sizes = rng.integers(2, 6, 2)
        exact = BestCampaign.of(attacker, sizes, at_least=1)
        with monkeypatch.context() as patched:
            patched.setattr(campaigns, "EXACT_STATES", 0)
            bounds = BestCampaign.of(attacker, sizes, at_least=1)
            result = {name: getattr(bounds, name) for name in ("worth", "re_identified", "fines")}
        for name, (low, high) in result.items():
            assert low - 1e-7 <= getattr(exact, name).low <= high + 1e-7
        wide += bounds.worth.low < bounds.worth.high
    assert wide > 3


def test_an_open_answer_leaves_the_payoff_open():
    attacker = replace(
        ONE, gain=8000, exploit_cost=10, detection=(0.01,), fine=150_000.0, max_fines=3, access_cost=14_045.0
    )
    move = game(PUBLISHER, {"k60": ProtectedRelease([60] * 100)}, one=attacker).move("k60", Terms())
    assert move.responses["one"].attacks is None
    assert move.payoff.low < move.payoff.high == 1000.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Publisher(benefit=math.nan, loss=1), "benefit"),
        (lambda: Publisher(benefit=1, loss=-1), "loss"),
        (lambda: Publisher(benefit=1, loss=1, recovered=2), "recovered"),
        (lambda: Publisher(benefit=1, loss=1, threshold=0), "threshold"),
        (lambda: Terms(audit=0), "audit"),
        (lambda: Terms(fine=-1.0), "fine"),
        (lambda: ProtectedRelease([1], 1.5), "utility"),
        (lambda: AttackerKind(ONE, -1), "number"),
        (lambda: game(PUBLISHER, {}), "at least one protection"),
    ],
)
def test_impossible_games_are_refused(make, message):
    with pytest.raises(UnmaskError, match=message):
        make()


def test_a_game_with_another_release_of_that_name_plays_another_campaign():
    game = PublisherGame(
        Publisher(benefit=1, loss=1), {"raw": ProtectedRelease([1, 1], 1.0)}, {"someone": AttackerKind(ONE)}
    )
    worth = game.best_campaign("raw", "someone").worth
    second_worth = (
        replace(game, protections={"raw": ProtectedRelease([50, 50], 1.0)}).best_campaign("raw", "someone").worth
    )
    assert second_worth.high < worth.low


def test_people_who_are_alike_are_one_group_of_a_campaign():
    rows = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.3, 0.0], [0.25, 0.25, 0.25]])
    belief = Posterior.from_dense(np.column_stack([rows, np.zeros((4, 1))]))
    alike, people = merge_equal_targets(belief, None)
    assert len(alike.size) == 3 < belief.n_targets == people.sum()
    campaigns = [
        BestCampaign.of(TWO, sizes_or_belief, people=n, at_least=2)
        for sizes_or_belief, n in ((belief, None), (alike, people))
    ]
    for name in ("worth", "re_identified", "fines", "reached"):
        assert getattr(campaigns[0], name) == pytest.approx(getattr(campaigns[1], name), rel=1e-6)
    unlike = Posterior.from_dense(np.array([[0.7, 0.3]]))
    assert merge_equal_targets(unlike, None) == (unlike, None)


@pytest.mark.parametrize(
    ("people", "message"), [([1.5, 1], "whole numbers"), ([-1, 2], "whole numbers"), ([1], "shape")]
)
@pytest.mark.parametrize("sizes_or_belief", [[1, 2], Posterior.from_dense(np.array([[0.5, 0.5], [0.0, 1.0]]))])
def test_counts_of_people_that_cannot_be_are_refused(sizes_or_belief, people, message):
    played = PublisherGame(
        PUBLISHER, {"raw": ProtectedRelease(sizes_or_belief, people=people)}, {"someone": AttackerKind(ONE)}
    )
    with pytest.raises(UnmaskError, match=message):
        _ = played.best_campaign("raw", "someone").worth
