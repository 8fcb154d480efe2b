"""Other fines, prices, costs and gains, group by group: where attacking is worth nothing, and the risk over gains."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal, Protocol, get_args

import numpy as np

from unmask.economics.attacker import Attacker
from unmask.economics.exploitation import (
    COST_SLOPE,
    FINE_SLOPE,
    GAIN_SLOPE,
    SUCCESS,
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
from unmask.errors import UnmaskError

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


class Distribution(Protocol):
    """A distribution of gains, such as `scipy.stats.lognorm(s=1, scale=4000)`."""

    def cdf(self, x: Floats, /) -> Floats:
        """Chance that a gain is at most x."""


def risk_over_gains(attacker: Attacker, who: Who, gains: Distribution) -> Floats:
    """(n,) P_reid when the gain is drawn from a distribution, everything else as it is; `attacker.gain` is not used.

    The payoff is convex and piecewise linear in the gain and each piece is one plan: the gains at which the plan
    changes are found exactly, as the meeting points of neighboring pieces, and P_reid is the sum over plans of
    success times the chance that the gain lies where the plan is best. All-or-nothing plans give prior P(G > G*).

    M. Eisner and D. Severance, "Mathematical techniques for efficient record segmentation", 1976.

    >>> from dataclasses import replace
    >>> from scipy.stats import lognorm
    >>> from unmask.economics import read_attacker
    >>> case = replace(read_attacker("case-study"), detection_growth=0.0)
    >>> risk_over_gains(case, [1, 60], lognorm(s=1, scale=4000)).round(3)
    array([0.626, 0.215])
    """
    free = Attacker(gain=1.0, max_fines=0, prior=attacker.prior, confirmation=attacker.confirmation)
    return np.asarray(groups_of(free, who).spread(lambda games: _risk(attacker, games, gains)[None])[0])


PAYOFF, SLOPE, NAMED, AT = range(4)
"""A piece of the payoff as a function of the gain: its value, slope and undiscounted success at one gain, and that."""


def _risk(attacker: Attacker, games: Games, gains: Distribution) -> Floats:
    """Between two gains whose plans differ, look where their lines meet; where no better plan is found, they change."""
    game = np.arange(len(games.size))
    paid = attacker.access_cost + attacker.link_cost + attacker.exploit_cost + attacker.fine + 1.0
    highest = 2 * paid / (games.hit(0, slice(0, len(game))) * attacker.discount**4)
    low, high = np.zeros((4, len(game))), _pieces(attacker, games, highest)
    risk = np.zeros(len(game))
    while len(game):
        meet = (low[PAYOFF] - low[SLOPE] * low[AT] - high[PAYOFF] + high[SLOPE] * high[AT]) / (high[SLOPE] - low[SLOPE])
        middle = _pieces(attacker, games.take(game), meet)
        line = low[PAYOFF] + low[SLOPE] * (meet - low[AT])
        split = (middle[PAYOFF] > line + PRECISION * (meet + paid)) & (low[AT] < meet) & (meet < high[AT])
        rise = (high[NAMED] - low[NAMED]) * (1.0 - gains.cdf(meet))
        risk += np.bincount(game[~split], weights=rise[~split], minlength=len(risk))
        game = np.repeat(game[split], 2)
        low, high = _pairs(low[:, split], middle[:, split]), _pairs(middle[:, split], high[:, split])
        differ = high[SLOPE] > low[SLOPE]
        game, low, high = game[differ], low[:, differ], high[:, differ]
    return risk


def _pairs(first: Floats, second: Floats) -> Floats:
    """(4, 2 m) columns of both, alternating."""
    return np.stack([first, second], axis=2).reshape(4, -1)


def _pieces(attacker: Attacker, games: Games, gain: Floats) -> Floats:
    """(4, n_games) the piece on which each gain lies; all 0 but the gain where access does not pay."""
    plan = accessed(attacker, games, Stakes(gain=gain))
    piece = np.where(plan[VALUE] > TIE * gain, np.stack([*plan[[VALUE, GAIN_SLOPE, SUCCESS]], gain]), 0.0)
    piece[AT] = gain
    return piece
