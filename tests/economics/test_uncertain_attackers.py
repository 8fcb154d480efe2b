"""Attackers who learn the detection rate, or who meet false alarms: against every strategy."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.economics import (
    Attacker,
    AttackerKind,
    ProtectedRelease,
    Publisher,
    PublisherGame,
    Terms,
    campaign,
    price_posterior,
    price_records,
)
from unmask.studies.game.document import parse_game

PAPER = Attacker(gain=8000, exploit_cost=10, fine=10_000, max_fines=1, prior=0.63, detection=(0.01,))

GROUPS = ((3,), (1, 2), (2, 2))


def best_of_all(attacker: Attacker, sizes: tuple[int, ...]) -> float:
    """The best campaign over every history: who was tried of each group, who looked right, how often they were caught.

    A belief is carried as what it is made of: for each group the weights of all its people, those outside it among
    them, and of detection the counts.
    """
    v, f = attacker.confirmation, attacker.false_alarms
    a, b = attacker.detection_prior or (0.0, 0.0)

    def caught(tries: int, detected: int) -> float:
        return (a + detected) / (a + b + tries) if a + b else float(attacker.detection_at(1)[0])

    @cache
    def after(groups: tuple[tuple[int, int] | None, ...], tries: int, detected: int) -> float:
        result = 0.0
        for index, group in enumerate(groups):
            if group is None:
                continue
            missed, hot = group
            size, outside = sizes[index], sizes[index] / attacker.prior - sizes[index]
            fresh = size - missed - hot
            likely = {  # of every history: the right person's own look, and the looks of all others
                "fresh": v**0 * (1 - f) ** missed * f**hot,
                "missed": (1 - v) * (1 - f) ** (missed - 1) * f**hot if missed else 0.0,
                "hot": v * (1 - f) ** missed * f ** (hot - 1) if hot else 0.0,
            }
            total = (fresh + outside) * likely["fresh"] + missed * likely["missed"] + hot * likely["hot"]
            if total <= 1e-300:
                continue
            done = tuple(None if i == index else group for i, group in enumerate(groups))
            if hot:
                p_hot = likely["hot"] / total
                claim = p_hot * attacker.gain - (1 - p_hot) * attacker.false_claim_cost
                result = max(result, claim + after(done, tries, detected))
            if fresh:
                it = likely["fresh"] / total
                looks = it * v + (1 - it) * f
                q, paid = caught(tries, detected), attacker.fine * (detected < attacker.max_fines)
                go = -attacker.exploit_cost - q * paid - (attacker.link_cost if not missed + hot else 0.0)
                for chance, up in ((q, 1), (1 - q, 0)):
                    states_after = [
                        tuple(new if i == index else group for i, group in enumerate(groups))
                        for new in ((missed, hot + 1), (missed + 1, hot))
                    ]
                    go += chance * sum(
                        luck * after(state, tries + 1, detected + up)
                        for luck, state in zip((looks, 1 - looks), states_after, strict=True)
                        if luck > 0
                    )
                result = max(result, go)
        return result

    return after(tuple((0, 0) for _ in sizes), 0, 0)


def someone(rng: np.random.Generator, **fixed: object) -> Attacker:
    drawn = {
        "gain": 1000.0,
        "exploit_cost": float(rng.choice([0, 5, 40])),
        "fine": float(rng.choice([300, 1500, 6000])),
        "max_fines": float(rng.choice([1, 2, math.inf])),
        "prior": float(rng.choice([1.0, 0.63, 0.3])),
        "confirmation": float(rng.choice([1.0, 0.8])),
    }
    return Attacker(**drawn | fixed)


def learner(rng: np.random.Generator) -> Attacker:
    return someone(rng, detection_prior=(rng.uniform(0.2, 2), rng.uniform(0.5, 20)))


def misled(rng: np.random.Generator) -> Attacker:
    f, cost = float(rng.choice([0.02, 0.2, 0.5])), float(rng.choice([0, 500, 5000]))
    return someone(rng, detection=(rng.uniform(0.01, 0.4),), false_alarms=f, false_claim_cost=cost)


def draw_full_attacker(rng: np.random.Generator) -> Attacker:
    return replace(learner(rng), false_alarms=0.1, false_claim_cost=float(rng.choice([0, 500, 5000])))


@pytest.mark.parametrize(
    ("changes", "size", "worth"),
    [
        ({"detection": None, "detection_prior": (1, 19)}, 10, 2347.040192),  # R21
        (
            {"detection": None, "detection_prior": (0.5, 9.5), "fine": 3000, "max_fines": math.inf},
            30,
            2175.210247,
        ),  # R22
        ({}, 10, 4278.253659),  # R22', four of them
        ({"confirmation": 0.8}, 10, 3211.367077),
        ({"confirmation": 0.8, "false_alarms": 0.01, "false_claim_cost": 2000}, 10, 2928.550777),
        ({"confirmation": 0.8, "false_alarms": 0.1, "false_claim_cost": 2000}, 10, 1066.522988),
    ],
)
def test_specified_values(changes, size, worth):
    attacker = replace(PAPER, **changes)
    assert price_records(attacker, [size]).payoff[0] == pytest.approx(worth, abs=1e-6)
    plan = campaign(attacker, [size])
    assert plan.exact
    assert plan.payoff == pytest.approx(worth, abs=1e-6)


@pytest.mark.parametrize("drawn", [learner, misled, draw_full_attacker])
def test_one_target_is_exact(drawn):
    rng = np.random.default_rng(1)
    for _ in range(40):
        attacker, size = drawn(rng), int(rng.integers(1, 6))
        assert campaign(attacker, [size]).payoff == pytest.approx(best_of_all(attacker, (size,)), abs=1e-7)


@pytest.mark.parametrize("drawn", [learner, misled, draw_full_attacker])
def test_bounds_hold_against_all_strategies(drawn):
    rng = np.random.default_rng(2)
    for _ in range(30):
        attacker, sizes = drawn(rng), GROUPS[rng.integers(len(GROUPS))]
        result, optimum = campaign(attacker, list(sizes)), best_of_all(attacker, sizes)
        assert result.payoff <= optimum + 1e-7
        assert optimum <= result.upper + 1e-7


def test_counts_of_a_plan_add_up_to_its_worth():
    """By the envelope theorem, and with claims that cost something the rest is what false claims cost."""
    attacker = replace(PAPER, confirmation=0.8, false_alarms=0.1)
    prices = price_records(attacker, [10])
    spent = 10 * prices.expected_tries + 10_000 * prices.expected_fines
    assert 8000 * prices.success_probability - spent == pytest.approx(prices.payoff)
    dear = price_records(replace(attacker, false_claim_cost=2000.0), [10])
    payoff = 8000 * dear.success_probability - 10 * dear.expected_tries - 10_000 * dear.expected_fines
    assert (payoff - dear.payoff)[0] > 100


def test_learning_is_worth_something_between_not_to_know_and_to_know():
    """R21: 1986.80 with the mean detection as certain, 2506.34 with the two rates known."""
    payoff_known = price_records(replace(PAPER, detection=(0.05,)), [10]).payoff[0]
    learning = price_records(replace(PAPER, detection=None, detection_prior=(1, 19)), [10]).payoff[0]
    assert payoff_known == pytest.approx(1986.795512, abs=1e-6)
    assert payoff_known < learning < 2506.3424


def test_bounds_meet_where_a_campaign_pays_anyway():
    attacker = replace(PAPER, detection=None, detection_prior=(1, 19))
    plan = campaign(attacker, [10] * 200)
    assert (plan.upper - plan.payoff) / plan.payoff < 1e-3
    assert plan.upper < 200 * 0.63 * 8000
    alarmed = campaign(replace(PAPER, confirmation=0.8, false_alarms=0.01, false_claim_cost=2000), [10] * 200)
    assert (alarmed.upper - alarmed.payoff) / alarmed.payoff < 1e-3


def test_an_attacker_without_fines_has_nothing_to_learn():
    free = replace(PAPER, detection=None, detection_prior=(1, 19), fine=0)
    result, unfined = campaign(free, [3, 5]), campaign(replace(free, max_fines=0), [3, 5])
    assert result.exact
    assert result.payoff == pytest.approx(unfined.payoff)


def test_a_move_against_them_has_two_ends():
    attacker = replace(PAPER, detection=None, detection_prior=(1, 19))
    game = PublisherGame(
        Publisher(benefit=1e6, loss=500), {"k=5": ProtectedRelease([5] * 40)}, {"someone": AttackerKind(attacker)}
    )
    move = game.move("k=5", Terms())
    n_re_identified = move.responses["someone"].re_identified
    assert 0 < n_re_identified.low <= 40 * 0.63 <= n_re_identified.high + 1e-9
    assert move.payoff.low == pytest.approx(1e6 - 500 * n_re_identified.high)
    assert move.responses["someone"].attacks is True
    assert game.response("k=5", "someone", Terms(fine=1e9)).attacks is False


def test_a_belief_that_ranks_candidates_is_refused():
    belief = Posterior.from_dense(np.array([[0.6, 0.4]]))
    with pytest.raises(UnmaskError, match="equally likely"):
        price_posterior(replace(PAPER, false_alarms=0.1), belief)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"detection_prior": (1, 19)}, "given twice"),
        ({"detection": None, "detection_prior": (0, 0)}, "two numbers 0"),
        ({"detection": None, "detection_prior": 0.1}, "detection_prior is 0.1"),
        ({"detection": None, "detection_prior": (1, 19), "audit_rate": 2.0}, "audits"),
        ({"detection": None, "detection_prior": (1, 19), "arrest": True}, "go on after a fine"),
        ({"false_alarms": 1.0}, "below confirmation"),
        ({"false_alarms": 0.1, "discount": 0.9}, "discount 1"),
        ({"false_alarms": 0.1, "false_claim_cost": -1}, "false_claim_cost"),
    ],
)
def test_impossible_parameters_are_refused(changes, message):
    with pytest.raises(UnmaskError, match=message):
        replace(PAPER, **changes)


def test_mistaken_beliefs_do_not_go_with_doubt():
    doubtful = replace(PAPER, false_alarms=0.1)
    with pytest.raises(UnmaskError, match="believed_detection"):
        AttackerKind(doubtful, actual=PAPER)


def test_a_document_says_it():
    publisher = {"benefit": 1000, "loss": 100}
    attacker = {"attacker": "case-study", "detection_prior": [1, 19], "false_alarms": 0.01, "false_claim_cost": 50}
    result = parse_game({"publisher": publisher, "attackers": [attacker]}, None).attackers["attacker 1"].attacker
    assert result.detection_prior == (1, 19)
    assert result.detection_base is None
    assert (result.false_alarms, result.false_claim_cost) == (0.01, 50)


def test_a_document_says_detection_in_place_of_what_a_profile_believes_of_it(tmp_path):
    profile = "[attacker]\ngain = 5000\nfine = 1000\nmax_fines = 1\ndetection_prior = [1, 19]\n"
    (tmp_path / "learner.toml").write_text(profile, encoding="utf-8")
    document = {
        "publisher": {"benefit": 1000, "loss": 100},
        "attackers": [{"attacker": "learner.toml", "detection": 0.1}],
    }
    result = parse_game(document, tmp_path).attackers["attacker 1"].attacker
    assert (result.detection, result.detection_prior) == ((0.1,), None)
