"""Findings 1 to 3 of section 7.2.1, and what the paper's intuition leaves out."""

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


def findings() -> Section:
    """Each finding in the case study, then on random attackers, then where it does not hold."""
    rows = []
    for setting in SETTINGS:
        ours, baseline = table(setting, "literal"), exploitation_table(one_shot(case(setting)), LARGEST)
        for name, found in (("sequential", ours), ("one try", baseline)):
            risk, payoff, tries = found.success_probability, found.payoff, found.clean_tries
            cells = [f"{risk[g]:.3f} / {payoff[g]:,.0f} / {tries[g]}" for g in (1, 13, 14, 20, 28, 40)]
            rows.append((setting, name, *cells))
    return Section(
        "Findings 1 to 3: section 7.2.1, Figures 6 to 8; reading literal",
        ("setting", "attacker", "size 1", "13", "14", "20", "28", "40"),
        tuple(rows),
        ("Each cell: risk / payoff / tries if never caught and never lucky. One try: the baseline, equation (7).",),
        (*_finding_1(), *_finding_2(), *_finding_3(), *_not_monotone()),
    )


def random_attacker(rng: np.random.Generator, **fixed: Any) -> Attacker:
    """An attacker whose decisions are not all alike: amounts, chances, caps and discounts over wide ranges."""
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
    text = "1: the baseline risk never exceeds the sequential one"
    worst = max(
        _excess(case(setting, reading), one_shot(case(setting, reading)), LARGEST)
        for setting in SETTINGS
        for reading in READINGS
    )
    yield Verdict(f"{text}: case study", "never", _never(worst), worst <= MARGIN)
    rng = np.random.default_rng([SEED, 1])
    attackers = [random_attacker(rng) for _ in range(1500)]
    fair = [replace(attacker, discount=1.0) for attacker in attackers]
    worst = max(_excess(attacker, one_shot(attacker), 40) for attacker in fair)
    yield Verdict(f"{text}: discount 1, 60,000 random games", "never", _never(worst), worst <= MARGIN)
    worst = max(_excess(attacker, replace(attacker, max_tries=1), 40) for attacker in attackers)
    yield Verdict(f"{text}: both discounted alike, 60,000 games", "never", _never(worst), worst <= MARGIN)
    hasty = Attacker(gain=1000, access_cost=850, max_fines=0, discount=0.9)
    worst = _excess(hasty, one_shot(hasty), 1)
    # Equation (7) has no discount, so the baseline may pay for access where a discounting planner does not.
    yield Verdict(
        f"{text}: discount 0.9, gain 1,000, access 850, size 1",
        "never",
        "never" if worst <= MARGIN else f"by {worst:.0f}: (7) is not discounted",
        worst <= MARGIN,
        required=False,
    )
    ours, baseline = table("b", "literal"), exploitation_table(one_shot(case("b")), LARGEST)
    shares = [found.payoff[1:40] / found.payoff[1] for found in (baseline, ours)]
    yield Verdict(
        "Figure 7: the baseline's payoff falls faster",
        "faster",
        f"from size 1 to 20: {shares[0][19]:.0%} is left, and {shares[1][19]:.0%}",
        bool(np.all(shares[0][1:] < shares[1][1:])),
    )
    both = slice(2, baseline.thresholds.attacked)
    lower = bool(np.all(baseline.success_probability[both] < ours.success_probability[both]))
    yield Verdict(
        "Figure 6: the baseline succeeds less often, from size 2 on",
        "less often",
        f"{baseline.success_probability[10]:.3f} and {ours.success_probability[10]:.3f} at size 10",
        lower,
    )


def _excess(attacker: Attacker, baseline: Attacker, largest: int) -> float:
    """By how much the risk of the baseline exceeds that of the attacker, at most over the sizes."""
    risks = [exploitation_table(who, largest).success_probability for who in (baseline, attacker)]
    return float(np.max(risks[0] - risks[1]))


def _never(worst: float) -> str:
    return "never" if worst <= MARGIN else f"by {worst:.3f}"


def _finding_2() -> Iterator[Verdict]:
    rng = np.random.default_rng([SEED, 2])
    attackers = [random_attacker(rng, max_fines=math.inf, detection_growth=0.0) for _ in range(1000)]
    partial = checked = 0
    for attacker in attackers[:80]:
        for size in range(1, 16):
            success = oracle().decision_tree(attacker, size).success
            partial += 1e-9 < success < attacker.prior - 1e-9
            checked += 1
    text = "2: constant detection, fines without end: all or nothing"
    yield Verdict(f"{text}: decision tree, {checked:,} games", "always", _always(partial), partial == 0)
    partial = sum(_partial(_step_by_step(attacker, 60), 60) for attacker in attackers)
    yield Verdict(f"{text}: step by step, 60,000 games", "always", _always(partial), partial == 0)
    partial = sum(_partial(case("a", reading), LARGEST) for reading in READINGS)
    yield Verdict(f"{text}: case study, setting a", "always", _always(partial), partial == 0)


def _step_by_step(attacker: Attacker, horizon: int) -> Attacker:
    """The same attacker with his detection written out, and a change that comes too late: no closed form applies."""
    schedule = (float(attacker.detection_at(1)[0]),) * horizon
    return replace(attacker, detection=(*schedule, 0.0), detection_base=None, detection_growth=None)


def _partial(attacker: Attacker, largest: int) -> int:
    """Sizes that are tried in part."""
    tries = exploitation_table(attacker, largest).clean_tries
    return int(np.sum((tries > 0) & (tries < np.arange(largest + 1))))


def _always(exceptions: int) -> str:
    return "always" if exceptions == 0 else f"{exceptions} exceptions"


def _finding_3() -> Iterator[Verdict]:
    text = "3: growing detection or a cap on fines: a part is tried"
    for setting in ("c", "b'", "b"):
        partial = {reading: _partial(case(setting, reading), LARGEST) for reading in READINGS}
        sizes = " / ".join(map(str, partial.values()))
        # One fine and constant detection: a part is tried with other amounts, not with these.
        yield Verdict(
            f"{text}: setting {setting}",
            "at some sizes",
            f"{sizes} sizes ({', '.join(READINGS)})",
            all(partial.values()),
            required=setting != "b",
        )
    example = Attacker(
        gain=6487, exploit_cost=28, fine=3988, prior=0.29, max_fines=1, detection=(0.119,), profile="undiscounted"
    )
    tries = int(exploitation_table(example, 5).clean_tries[5])
    yield Verdict(f"{text}: one fine, constant detection, other amounts", "4 of 5", f"{tries} of 5", tries == 4)
    ours = table("c", "literal")
    risk, tries_of = ours.success_probability, ours.clean_tries
    alike = bool(np.allclose(risk[1:14], ours.attacker.prior))
    yield Verdict("groups below k = 14 all have the same risk", "0.63", f"{risk[1]:.2f} to {risk[13]:.2f}", alike)
    between = bool(np.all((tries_of[14:29] > 0) & (tries_of[14:29] < np.arange(14, 29))))
    yield Verdict(
        "Figure 8: between k and k' he stops before the last",
        "tries fall",
        f"{tries_of[14]} at 14 to {tries_of[28]} at 28",
        between and bool(np.all(np.diff(tries_of[14:29]) <= 0)),
    )
    inner = risk[14:29]
    yield Verdict(
        "the risk there lies between 0 and the prior",
        "any value",
        f"{inner.min():.3f} to {inner.max():.3f}",
        bool(np.all((inner > 0) & (inner < ours.attacker.prior))),
    )


def _not_monotone() -> Iterator[Verdict]:
    """Not in the paper: with a capped fine, larger groups and more detection can raise the risk."""
    steep = Attacker(gain=8085, fine=4889, prior=0.63, max_fines=1, detection_base=-0.99, detection_growth=1.0)
    risk = exploitation_table(steep, 11).success_probability
    yield Verdict(
        "one fine: a group of 11 is at more risk than one of 10",
        "0.447, 0.586",
        f"{risk[10]:.3f}, {risk[11]:.3f}",
        bool(abs(risk[10] - 0.4472) < 1e-3 and abs(risk[11] - 0.5856) < 1e-3),
    )
    found = []
    for q in (0.1192, 0.1301):
        attacker = Attacker(
            gain=7684,
            exploit_cost=40,
            fine=7367,
            max_fines=1,
            detection_base=math.log(q / (1 - q)),
            detection_growth=0.3,
        )
        found.append(exploitation_table(attacker, 40).success_probability[40])
    yield Verdict(
        "one fine: detection 0.119 to 0.130 raises the risk",
        "0.597, 0.626",
        f"{found[0]:.3f}, {found[1]:.3f}",
        bool(abs(found[0] - 0.5966) < 1e-3 and abs(found[1] - 0.6258) < 1e-3),
    )
