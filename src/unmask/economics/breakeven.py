"""The fine, price, cost or gain at which attacking a group is worth nothing: one group at a time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

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
from unmask.economics.groups import groups_of
from unmask.economics.prices import accessed, sunk_plans
from unmask.errors import UnmaskError
from unmask.posterior import Posterior

Amount = Literal["fine", "exploit_cost", "access_cost", "gain"]

NEWTON_STEPS: Final = 200
"""The payoff is piecewise linear in an amount: each step leaves one piece, and pieces are few."""


def break_even(attacker: Attacker, who: ArrayLike | Posterior, amount: Amount = "fine") -> Floats:
    """The amount at which attacking and staying away are worth the same, all others as they are.

    who    : (n,) group sizes, or a belief, then (n_observations,)
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
    """Newton from 0 upwards on a convex falling function: never beyond the root."""
    slope = FINE_SLOPE if amount == "fine" else COST_SLOPE
    at = np.zeros(len(games.size))
    spent = 0.0
    for _ in range(NEWTON_STEPS):
        stakes = Stakes(**{amount: np.where(np.isinf(at), 0.0, at)})
        spent += steps(attacker, games, stakes)
        refuse_too_large(0, spent)
        balance, falls = accessed(attacker, games, stakes)[[VALUE, slope]]
        above = (balance > TIE * attacker.gain) & np.isfinite(at)
        if not above.any():
            break
        at = np.where(above, np.where(falls > 0, at + balance / np.where(falls > 0, falls, 1.0), math.inf), at)
    return at


def _break_even_gain(attacker: Attacker, games: Games) -> Floats:
    """Newton from above on a convex rising function: never below the root."""
    every = slice(0, len(games.size))
    hit = games.hit(0, every)
    paid = attacker.access_cost + attacker.link_cost + attacker.exploit_cost + attacker.fine
    at = np.where(hit > 0, 2 * paid / (np.where(hit > 0, hit, 1.0) * attacker.discount**4), 0.0)
    spent = 0.0
    for _ in range(NEWTON_STEPS):
        spent += steps(attacker, games, Stakes(gain=at))
        refuse_too_large(0, spent)
        balance, rises = accessed(attacker, games, Stakes(gain=at))[[VALUE, GAIN_SLOPE]]
        above = (balance > TIE * at) & (rises > 0)
        if not above.any():
            break
        at = np.where(above, at - balance / np.where(rises > 0, rises, 1.0), at)
    return np.where(hit > 0, at, math.inf)
