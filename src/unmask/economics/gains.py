"""Attackers of unknown motive: the risk when the gain is a distribution, not a number."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from unmask.economics.attacker import Attacker
from unmask.economics.exploitation import GAIN_SLOPE, SUCCESS, TIE, VALUE, Floats, Games, Stakes
from unmask.economics.groups import groups_of
from unmask.economics.prices import accessed
from unmask.posterior import Posterior

PRECISION = 1e-10
"""A plan that is better by less than this share of the money at stake is no better."""


class Distribution(Protocol):
    """A distribution of gains, such as `scipy.stats.lognorm(s=1, scale=4000)`."""

    def cdf(self, x: Floats, /) -> Floats:
        """Chance that a gain is at most x."""


def risk_over_gains(attacker: Attacker, who: ArrayLike | Posterior, gains: Distribution) -> Floats:
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
