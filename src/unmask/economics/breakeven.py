"""Other fines, prices, costs and gains, group by group: where attacking is worth nothing, or plans change."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal, get_args

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker
from unmask.economics.exploitation import (
    COST_SLOPE,
    FINE_SLOPE,
    GAIN_SLOPE,
    TIE,
    VALUE,
    Floats,
    Games,
    Stakes,
    refuse_too_large,
    steps,
)
from unmask.economics.groups import Who, groups_of
from unmask.economics.prices import accessed, sunk_plans

Amount = Literal["fine", "exploit_cost", "access_cost", "gain"]

PRECISION: Final = 1e-10
"""A plan that is better by less than this share of the money at stake is no better."""

MOST_BREAKPOINTS: Final = 100
"""Breakpoints of one function that are looked for."""

NEWTON_STEPS: Final = 200
"""The payoff is piecewise linear in an amount: each step leaves one piece, and pieces are few."""


def break_even(attacker: Attacker, who: Who, amount: Amount = "fine") -> Floats:
    """The amount at which attacking and staying away are worth the same, all others as they are.

    amount : "fine", "exploit_cost", "access_cost": the least one that keeps the attacker away, 0 where they stay away,
             inf where none does. "gain": the largest one with which they stay away, inf for a group without candidates.

    The payoff is convex and piecewise linear in each amount, so Newton's method from the attacked side is exact after
    finitely many steps; its slopes come with the plan (envelope theorem).

    >>> from unmask.economics import read_attacker
    >>> case = replace(read_attacker("case-study"), detection_growth=0.0)
    >>> break_even(case, [1, 5, 50]).round()
    array([490508., 132620.,  16143.])
    """
    if amount not in get_args(Amount):
        raise UnmaskError(f"amount is {amount!r}, expected one of {', '.join(get_args(Amount))}")
    if amount == "access_cost":
        plan = groups_of(attacker, who).spread(lambda games: sunk_plans(attacker, games))
        return np.asarray(attacker.discount * plan[VALUE])
    if amount == "gain":
        free = replace(attacker, gain=1.0, access_cost=0.0, link_cost=0.0, exploit_cost=0.0, fine=0.0)
        found = groups_of(free, who)
        gains = found.spread(lambda games: _break_even_gain(attacker, games)[None], otherwise=math.inf)
        return np.asarray(gains[0])
    free = replace(attacker, fine=0.0) if amount == "fine" else replace(attacker, exploit_cost=0.0)
    groups = groups_of(free, who)
    return np.asarray(groups.spread(lambda games: least(attacker, games, amount)[None])[0])


def least(attacker: Attacker, games: Games, amount: Literal["fine", "exploit_cost"]) -> Floats:
    """(n_games,) the least amount with which the outside data are not worth their price."""
    return _root(attacker, games, np.zeros(len(games.size)), amount)


def _break_even_gain(attacker: Attacker, games: Games) -> Floats:
    hit = games.hit(0, slice(0, len(games.size)))
    paid = attacker.access_cost + attacker.link_cost + attacker.exploit_cost + attacker.fine
    above = np.where(hit > 0, 2 * paid / (np.where(hit > 0, hit, 1.0) * attacker.discount**4), 0.0)
    return np.where(hit > 0, _root(attacker, games, above, "gain"), math.inf)


def _root(attacker: Attacker, games: Games, at: Floats, amount: Literal["fine", "exploit_cost", "gain"]) -> Floats:
    """Newton on the payoff, convex in the amount, from where it is above 0: never beyond the root; inf for none."""
    row = {"fine": FINE_SLOPE, "exploit_cost": COST_SLOPE, "gain": GAIN_SLOPE}[amount]
    spent, gain = 0.0, amount == "gain"
    for _ in range(NEWTON_STEPS):
        stakes = Stakes(**{amount: np.where(np.isinf(at), 0.0, at)})
        spent += steps(attacker, games, stakes)
        refuse_too_large(0, spent)
        balance, slope = accessed(attacker, games, stakes)[[VALUE, row]]
        above = (balance > TIE * (at if gain else attacker.gain)) & np.isfinite(at) & ((slope > 0) | (not gain))
        if not above.any():
            break
        step = (-balance if gain else balance) / np.where(slope > 0, slope, 1.0)
        at = np.where(above, np.where(slope > 0, at + step, math.inf), at)
    return at


def breakpoints(line: Callable[[float], tuple[float, float]], low: float, high: float) -> list[float]:
    """Where a convex piecewise linear function changes its slope between two places, ascending.

    line : place -> value and slope there; at most 2 of them for each breakpoint and 1, as where the tangents of two
           places meet is a breakpoint if the function is there as low as they are

    M. Eisner and D. Severance, "Mathematical techniques for efficient record segmentation", 1976.

    >>> breakpoints(lambda x: (max(0.0, 6 - 2 * x, 4 - x), -2.0 if x < 2 else -1.0 if x < 4 else 0.0), 0, 10)
    [2.0, 4.0]
    """
    found: list[float] = []
    spans = [((low, *line(low)), (high, *line(high)))]
    while spans and len(found) < MOST_BREAKPOINTS:
        (a, value, slope), (b, other, steeper) = spans.pop()
        if steeper - slope <= PRECISION * abs(slope):
            continue
        meet = (value - slope * a - other + steeper * b) / (steeper - slope)
        there = line(meet)
        if not a < meet < b or there[0] <= value + slope * (meet - a) + PRECISION * abs(value):
            found.append(min(max(meet, a), b))
        else:
            spans += [((a, value, slope), (meet, *there)), ((meet, *there), (b, other, steeper))]
    return sorted(found)
