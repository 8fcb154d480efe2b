"""Numbers about deterrence as data: each has a source, a program on our side, and a tolerance."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from economics_case import case
from show import Number, Section

from unmask.economics import Attacker, break_even, exploitation_table, find_safe_size, read_attacker
from unmask.economics.deterrence.deterrents import find_deterrents

CASE: Final = replace(read_attacker("case-study"), detection_growth=0.0)

ARX: Final = Attacker(gain=300, exploit_cost=4, max_fines=0, max_tries=1)
"""The attacker of ARX's financial example: one try, no fine, no price of access."""


def _thresholds(setting: str, reading: str) -> tuple[int | None, int | None, int | None]:
    return exploitation_table(case(setting, reading), 200).thresholds


def _solve_formula() -> float:
    """Return the size from which no try pays without fines: 0.63 G > C_e (g - 0.63 (g - 1) / 2) fails."""
    return math.floor((0.63 * 8000 / 10 - 0.63 / 2) / (1 - 0.63 / 2)) + 1


NUMBERS: Final = (
    Number(
        "setting c, literal: not exhausted from k",
        "Xia et al. 2015, 7.2.1",
        14,
        lambda: _thresholds("c", "literal")[0] or 0,
    ),
    Number(
        "setting c, literal: not attacked from k'",
        "Xia et al. 2015, 7.2.1",
        29,
        lambda: _thresholds("c", "literal")[1] or 0,
    ),
    Number(
        "setting a, folded: not attacked from", "Xia et al. 2015, 7.2.2", 48, lambda: _thresholds("a", "folded")[1] or 0
    ),
    Number(
        "setting a, folded: data at hand, from",
        "Xia et al. 2015, 7.2.2",
        51,
        lambda: _thresholds("a", "folded")[2] or 0,
    ),
    Number(
        "no fines: no group is tried from",
        "formula",
        _solve_formula(),
        lambda: find_safe_size(replace(CASE, max_fines=0), at_hand=True),
    ),
    Number(
        "50 groups of 60: gain of a campaign",
        "specification, R15 less the access",
        221_192.5,
        lambda: find_deterrents([CASE], [60] * 50).payoff.low,
        1.0,
    ),
    Number(
        "50 groups of 60: fine that stops it",
        "unmask 0.1 (regression)",
        238_384,
        lambda: find_deterrents([read_attacker("case-study")], [60] * 50).fine.high,
        1.0,
    ),
    Number(
        "fine that stops one group of 1",
        "Newton, by an independent program",
        490_508,
        lambda: float(break_even(CASE, [1])[0]),
        0.5,
    ),
    Number(
        "ARX's example: k without attacks",
        "formula in the source of ARX",
        76,
        lambda: find_safe_size(replace(ARX, ties="attack")),
    ),
    Number("ARX's example: k that strict profit needs", "300 / 75 - 4 = 0", 75, lambda: find_safe_size(ARX)),
)


def verify_deterrence() -> Section:
    """Compare every number with ours."""
    return Section("What deters", verdicts=(number.verify() for number in NUMBERS))
