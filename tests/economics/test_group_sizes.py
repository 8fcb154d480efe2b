"""Prices of group sizes: sizes from which no fine is needed, sweeps, sizes unknown before paying, and resources."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from tests.economics.case import CASE
from tests.economics.literal import decision_tree
from unmask import UnmaskError
from unmask.economics import Attacker, exploitation_table, find_safe_size, read_attacker
from unmask.economics.audit import AttackerSource, audit_sizes
from unmask.economics.audit.sweeps import parse_sweep
from unmask.economics.profile import read_resources

TIE = 1e-12


def random_attacker(rng: np.random.Generator, **changes: object) -> Attacker:
    """Return an attacker whose threshold is at most a few dozen candidates."""
    values = {
        "gain": float(rng.uniform(200, 2000)),
        "access_cost": float(rng.choice([0.0, 20.0, 80.0])),
        "link_cost": float(rng.choice([0.0, 5.0])),
        "exploit_cost": float(rng.uniform(20, 80)),
        "fine": float(rng.choice([0.0, 300.0, 3000.0])),
        "max_fines": float(rng.choice([1, 2, math.inf])),
        "detection": tuple(rng.uniform(0, 0.3, 2).tolist()),
        "prior": float(rng.uniform(0.2, 1)),
    }
    return Attacker(**(values | changes))


def attack_alone(attacker: Attacker, size: int) -> float:
    """Return the payoff of attacking one target before the access is paid, by the decision tree."""
    return 0.0 if size == 0 else attacker.discount * decision_tree(attacker, size).payoff_sunk


def test_the_size_from_which_no_fine_is_needed_is_that_of_the_formula():
    # without fines all g candidates are tried if prior G > C_e (g - prior (g - 1) / 2): g < 735.3
    limit = (0.63 * 8000 / 10 - 0.63 / 2) / (1 - 0.63 / 2)
    assert find_safe_size(replace(CASE, max_fines=0), at_hand=True) == math.floor(limit) + 1 == 736


def test_the_safe_size_is_the_first_that_no_decision_tree_attacks():
    rng = np.random.default_rng(7)
    for _ in range(50):
        attacker = random_attacker(rng)
        for at_hand in (False, True):
            price = 0.0 if at_hand else attacker.access_cost
            size = find_safe_size(attacker, at_hand=at_hand)
            assert attack_alone(attacker, int(size)) - price <= TIE * attacker.gain
            assert size == 1 or attack_alone(attacker, int(size) - 1) - price > TIE * attacker.gain


def test_no_size_is_safe_from_an_attacker_who_pays_nothing():
    assert find_safe_size(Attacker(gain=1, max_fines=0)) == math.inf
    (thresholds,) = audit_sizes(AttackerSource(Attacker(gain=1, max_fines=0)), [3]).table("thresholds").rows
    assert thresholds["unfined"] == math.inf


def test_a_sweep_has_the_three_thresholds_at_each_value():
    case = read_attacker("case-study")
    result = audit_sizes(AttackerSource(case), [5], sweeps=[parse_sweep("fine=0:50000:6")])
    for row in result.table("sweep").rows:
        thresholds = exploitation_table(replace(case, fine=row["value"]), 1000).thresholds
        assert (row["exhausted"], row["attacked"], row["sunk"]) == thresholds
    chart = next(block for block in result.blocks if block.name == "sweep-fine").charts[0]
    assert (chart.form, chart.x, chart.y, chart.by) == ("lines", "value", "size", "escapes")
    assert chart.x_rules == {"now 10,000": 10_000}


def test_a_size_beyond_the_table_is_written_as_such():
    result = audit_sizes(AttackerSource(Attacker(gain=1, max_fines=0)), [3], sweeps=[parse_sweep("exploit_cost=0:1:2")])
    assert result.table("sweep").rows[0]["attacked"] == "over 2,000"


@pytest.mark.parametrize(
    "text", ["fine", "fine=1", "fine=0:5", "fine=5:0:3", "fine=0:5:1", "fine=a:5:3", "fine=0:5:9999"]
)
def test_a_range_of_another_form_is_one_sentence(text):
    with pytest.raises(UnmaskError, match="expected NAME=LOW:HIGH:NUMBER"):
        parse_sweep(text)


def test_unknown_sizes_change_the_risk_as_the_binomial_belief_says():
    rng = np.random.default_rng(11)
    for _ in range(50):
        attacker = random_attacker(rng)
        n, p = int(rng.integers(10, 40)), float(rng.uniform(0.02, 0.4))
        size = int(rng.integers(0, n + 1))
        mean = sum(binom.pmf(k, n, p) * attack_alone(attacker, k) for k in range(n + 1))
        pays = mean - attacker.access_cost > TIE * attacker.gain
        unknown = decision_tree(attacker, size).success if pays and size else 0.0
        known = attack_alone(attacker, size) - attacker.access_cost > TIE * attacker.gain
        expected = decision_tree(attacker, size).success if known else 0.0
        result = audit_sizes(AttackerSource(attacker), [size], population=n, cell_probability=p)
        (row,) = result.table("unknown_sizes").rows
        assert (row["known"], row["unknown"]) == pytest.approx((expected, unknown), abs=1e-9)
        steps = {"same": 0, "higher": 1, "lower": -1}
        assert steps[row["changed"]] == np.sign(round(unknown - expected, 9))


def test_findings_4_and_5_an_unknown_size_lowers_some_risks_and_raises_others():
    case = replace(read_attacker("case-study"), detection_growth=0.0, discount=0.9)
    result = audit_sizes(AttackerSource(case), [40, 50], population=6_018_999, cell_probability=[60 / 6e6, 40 / 6e6])
    assert result.table("unknown_sizes").values("changed") == ["lower", "higher"]


def test_the_count_of_records_whose_risk_changes_is_suppressed_in_a_release():
    result = audit_sizes(AttackerSource(CASE), [3, *[90] * 30], is_exact=False, population=1000, cell_probability=0.2)
    assert result.table("unknown_sizes").values("records") == ["fewer than 10", 30]
    assert "falls for fewer than 10 of 31 records" in " ".join(result.sentences())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"population": 4}, "a group has more than 4 people"),
        ({"population": 100, "cell_probability": [0.1, 0.2, 0.3]}, "3 cell probabilities for 2 records"),
        ({"population": 100, "cell_probability": 1.5}, "expected numbers from 0 to 1"),
    ],
)
def test_an_impossible_population_is_one_sentence(arguments, message):
    with pytest.raises(UnmaskError, match=message):
        audit_sizes(AttackerSource(CASE), [1, 5], **arguments)


# --- resources ---


def resources_of(attacker: Attacker, rng: np.random.Generator) -> dict[str, Attacker]:
    names = ("voters", "broker", "phone book")
    costs = [
        {
            "access_cost": float(rng.uniform(0, 200)),
            "link_cost": float(rng.uniform(0, 9)),
            "prior": float(rng.uniform(0.1, 1)),
        }
        for _ in names
    ]
    return {name: replace(attacker, **cost) for name, cost in zip(names, costs, strict=True)}


def test_each_target_is_attacked_with_the_resource_that_pays_most():
    rng = np.random.default_rng(3)
    for _ in range(50):
        attackers = resources_of(random_attacker(rng), rng)
        size = int(rng.integers(1, 12))
        result = audit_sizes(AttackerSource(next(iter(attackers.values())), resources=attackers), [size])
        (row,) = result.table("sizes").rows
        payoffs = {name: attack_alone(attacker, size) - attacker.access_cost for name, attacker in attackers.items()}
        best = max(payoffs, key=payoffs.get)
        assert row["payoff"] == pytest.approx(max(payoffs[best], 0.0), abs=1e-9)
        if payoffs[best] > 1e-9:
            assert row["resource"] == best
            assert row["success_probability"] == pytest.approx(decision_tree(attackers[best], size).success)
        campaigns = result.table("resources").values("campaign_payoff")
        assert result.table("campaign").rows[0]["payoff"] == max(low for low, _ in campaigns)


FILE = """
[attacker]
gain = 8000
exploit_cost = 10
fine = 10000
max_fines = 1
detection = [0.01]
{}
"""


def test_resources_of_a_file_have_their_own_costs(tmp_path):
    path = tmp_path / "attacker.toml"
    entries = (
        '[[attacker.resources]]\nname = "list"\nprior = 0.63\n[[attacker.resources]]\nname = "broker"\nlink_cost = 5\n'
    )
    path.write_text(FILE.format(entries))
    attackers = read_resources(path)
    assert {name: (attacker.prior, attacker.link_cost) for name, attacker in attackers.items()} == {
        "list": (0.63, 0.0),
        "broker": (1.0, 5.0),
    }
    result = audit_sizes(AttackerSource.read_resources(str(path)), [2, 5])
    assert "No combination is tried" in result.assumptions[0]
    with pytest.raises(UnmaskError, match="has several resources"):
        read_attacker(path)  # of an audit or a game, which price one


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("resources = []", r"expected \[\[attacker.resources\]\]"),
        ("resources = 3", r"expected \[\[attacker.resources\]\]"),
        ("[[attacker.resources]]\nprior = 0.5", "resource 1 has no name"),
        ('[[attacker.resources]]\nname = "a"\n[[attacker.resources]]\nname = "a"', "resource 2 has no name of its own"),
        ('[[attacker.resources]]\nname = "a"\npriors = 1', "did you mean 'prior'"),
        ('[[attacker.resources]]\nname = "a"\nprior = 2', "prior is 2"),
    ],
)
def test_a_resource_that_is_not_one_is_one_sentence(tmp_path, entries, message):
    path = tmp_path / "attacker.toml"
    path.write_text(FILE.format(entries))
    with pytest.raises(UnmaskError, match=message):
        read_resources(path)
