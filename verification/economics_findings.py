"""Findings 1 to 3 of section 7.2.1."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from economics_case import LARGEST, READINGS, SETTINGS, case, oracle, table
from show import Section, Verdict

from unmask.economics import Attacker, exploitation_table, one_shot

SEED = 11
MARGIN = 1e-9
SIZES = (1, 13, 14, 20, 28, 40)


def verify_findings() -> Section:
    """Check each finding in the case study, then on random attackers, then where it does not hold."""
    tables = {
        (setting, name): exploitation_table(attacker, LARGEST)
        for setting in SETTINGS
        for name, attacker in (("sequential", case(setting)), ("one try", one_shot(case(setting))))
    }
    return Section(
        "Findings 1 to 3: section 7.2.1, Figures 6 to 8; reading literal",
        ("setting", "attacker", *(f"size {size}" for size in SIZES)),
        (
            (*key, *(f"{t.success_probability[g]:.3f} / {t.payoff[g]:,.0f} / {t.clean_tries[g]}" for g in SIZES))
            for key, t in tables.items()
        ),
        ("Each cell: risk / payoff / tries if never caught and never lucky. One try: the baseline, equation (7).",),
        (*_finding_1(), *_finding_2(), *_finding_3()),
    )


def random_attacker(rng: np.random.Generator, **fixed: Any) -> Attacker:
    """Return an attacker with amounts, probabilities, caps and discounts over wide ranges."""
    drawn = {
        "gain": rng.uniform(500, 10_000),
        "access_cost": rng.uniform(0, 200),
        "link_cost": rng.uniform(0, 20),
        "exploit_cost": rng.uniform(0, 50),
        "fine": rng.uniform(0, 12_000),
        "max_fines": (1, 2, 3, math.inf)[rng.integers(4)],
        "detection_base": rng.uniform(-5, -1),
        "detection_growth": rng.uniform(-0.2, 0.6),
        "prior": rng.uniform(0.2, 1),
        "discount": (1.0, 0.95, 0.9, 0.7)[rng.integers(4)],
    }
    return Attacker(**{**drawn, **fixed})


def _finding_1() -> Iterator[Verdict]:
    def check(where: str, excess: float) -> Verdict:
        ours = "never" if excess <= MARGIN else f"by {excess:.3f}"
        claim = f"1: the baseline risk never exceeds the sequential one: {where}"
        return Verdict(claim, "never", ours, excess <= MARGIN)

    cases = [case(setting, reading) for setting in SETTINGS for reading in READINGS]
    yield check("case study", max(_excess_risk(one_shot(attacker), attacker, LARGEST) for attacker in cases))
    rng = np.random.default_rng([SEED, 1])
    attackers = [random_attacker(rng) for _ in range(1500)]
    undiscounted = [replace(attacker, discount=1.0) for attacker in attackers]
    excess = max(_excess_risk(one_shot(attacker), attacker, 40) for attacker in undiscounted)
    yield check("discount 1, 60,000 random games", excess)
    excess = max(_excess_risk(replace(attacker, max_tries=1), attacker, 40) for attacker in attackers)
    yield check("both discounted alike, 60,000 games", excess)
    # Equation (7) has no discount, so the baseline may pay for access where a discounting planner does not.
    hasty = Attacker(gain=1000, access_cost=850, max_fines=0, discount=0.9)
    verdict = check("discount 0.9, gain 1,000, access 850, size 1", _excess_risk(one_shot(hasty), hasty, 1))
    yield replace(verdict, ours="by 1: (7) is not discounted", required=False)
    ours, baseline = table("b", "literal"), exploitation_table(one_shot(case("b")), LARGEST)
    shares = [prices.payoff[1:40] / prices.payoff[1] for prices in (baseline, ours)]
    text = f"from size 1 to 20: {shares[0][19]:.0%} is left, and {shares[1][19]:.0%}"
    faster = bool(np.all(shares[0][1:] < shares[1][1:]))
    yield Verdict("Figure 7: the baseline's payoff falls faster", "faster", text, faster)
    attacked = slice(2, baseline.thresholds.attacked)
    risks = [prices.success_probability for prices in (baseline, ours)]
    text, lower = (
        f"{risks[0][10]:.3f} and {risks[1][10]:.3f} at size 10",
        np.all(risks[0][attacked] < risks[1][attacked]),
    )
    yield Verdict("Figure 6: the baseline succeeds less often, from size 2 on", "less often", text, bool(lower))


def _excess_risk(baseline: Attacker, attacker: Attacker, largest: int) -> float:
    """Return the largest excess of the baseline's risk over the sizes."""
    risks = [exploitation_table(who, largest).success_probability for who in (baseline, attacker)]
    return float(np.max(risks[0] - risks[1]))


def _count_partial(attacker: Attacker, largest: int) -> int:
    """Return the number of sizes that are tried in part."""
    tries = exploitation_table(attacker, largest).clean_tries
    return int(np.sum((tries > 0) & (tries < np.arange(largest + 1))))


def _finding_2() -> Iterator[Verdict]:
    def check(where: str, exceptions: int) -> Verdict:
        ours = "always" if exceptions == 0 else f"{exceptions} exceptions"
        claim = f"2: constant detection, fines without end: all or nothing: {where}"
        return Verdict(claim, "always", ours, exceptions == 0)

    rng = np.random.default_rng([SEED, 2])
    attackers = [random_attacker(rng, max_fines=math.inf, detection_growth=0.0) for _ in range(1000)]
    games = [(attacker, size) for attacker in attackers[:80] for size in range(1, 16)]
    partial = sum(1e-9 < oracle().decision_tree(*game).success < game[0].prior - 1e-9 for game in games)
    yield check(f"decision tree, {len(games):,} games", partial)
    partial = sum(_count_partial(_write_out_detection(attacker, 60), 60) for attacker in attackers)
    yield check("step by step, 60,000 games", partial)
    yield check("case study, setting a", sum(_count_partial(case("a", reading), LARGEST) for reading in READINGS))


def _write_out_detection(attacker: Attacker, horizon: int) -> Attacker:
    """Return the attacker with explicit detection, and a change that comes too late: no closed form applies."""
    schedule = (float(attacker.detection_at(1)[0]),) * horizon
    return replace(attacker, detection=(*schedule, 0.0), detection_base=None, detection_growth=None)


def _finding_3() -> Iterator[Verdict]:
    text = "3: growing detection or a cap on fines: a part is tried"
    for setting in ("c", "b'", "b"):
        partial = [_count_partial(case(setting, reading), LARGEST) for reading in READINGS]
        ours = f"{' / '.join(map(str, partial))} sizes ({', '.join(READINGS)})"
        # One fine and constant detection: a part is tried with other amounts, not with these.
        yield Verdict(f"{text}: setting {setting}", "at some sizes", ours, all(partial), required=setting != "b")
    amounts = {"gain": 6487, "exploit_cost": 28, "fine": 3988, "prior": 0.29, "max_fines": 1, "detection": (0.119,)}
    tries = int(exploitation_table(Attacker(**amounts, profile="undiscounted"), 5).clean_tries[5])
    yield Verdict(f"{text}: one fine, constant detection, other amounts", "4 of 5", f"{tries} of 5", tries == 4)
    prices = table("c", "literal")
    risk, clean_tries, prior = prices.success_probability, prices.clean_tries[14:29], case("c", "literal").prior
    alike = bool(np.allclose(risk[1:14], prior))
    yield Verdict("groups below k = 14 all have the same risk", "0.63", f"{risk[1]:.2f} to {risk[13]:.2f}", alike)
    falls = np.all((clean_tries > 0) & (clean_tries < np.arange(14, 29))) and np.all(np.diff(clean_tries) <= 0)
    ours = f"{clean_tries[0]} at 14 to {clean_tries[-1]} at 28"
    yield Verdict("Figure 8: between k and k' the attacker stops before the last", "tries fall", ours, bool(falls))
    inner = risk[14:29]
    ours = f"{inner.min():.3f} to {inner.max():.3f}"
    inside = bool(np.all((inner > 0) & (inner < prior)))
    yield Verdict("the risk there lies between 0 and the prior", "any value", ours, inside)
