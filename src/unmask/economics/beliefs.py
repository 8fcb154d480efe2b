"""Any belief can be priced: the candidates of an observation are a group, "none of these" are those outside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.core.posterior import Posterior
from unmask.economics.attacker import Attacker
from unmask.economics.exploitation import VALUE, Floats, Games, Ranked, worthwhile
from unmask.economics.groups import candidates_tried, chance_inside, groups_of
from unmask.economics.prices import Prices, prices_of, sunk_plans

ROUNDING = 1e-12
"""Sums of rounded chances that fall short of 1 by less are 1."""


def price_posterior(attacker: Attacker, belief: Posterior) -> Prices:
    """The optimal attack on the target of each observation, (n_observations,); `take(belief.observation)` for targets.

    A row of g candidates that are alike is a group of g, and the belief in "none of these" takes the place of
    1 - `attacker.prior`. Candidates of different chance are tried from the likeliest on, which is optimal since costs
    depend on the number of tries alone. Candidates that a row does not list share its `unlisted` belief equally where
    it is known how many they are; else they are not tried, and the price is a lower bound. UnmaskError for a belief of
    mere scores.

    >>> import numpy as np
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 0.8]]))
    >>> attacker = Attacker(gain=100, exploit_cost=30, max_fines=0)
    >>> price_posterior(attacker, belief).payoff.round(2)
    array([55., 50.])
    """
    plan = groups_of(attacker, belief).spread(lambda games: sunk_plans(attacker, games))
    return prices_of(attacker, plan, plan[VALUE])


def play_out(attacker: Attacker, belief: Posterior, better: NDArray[np.int64], tied: NDArray[np.int64]) -> Floats:
    """(n_targets,) probability that the plans of `price_posterior` re-identify each target, whose candidate is known.

    better, tied : (n_targets,) candidates that are likelier than the true one, and those as likely, itself included;
                   tied 0 where the target is no candidate

    With R_j the probability that try j is made if no earlier one was right (detection and fines may end the plan), and
    v the chance that a right one is noticed, v (R_better + ... + R_(better + tied - 1)) / tied: equal candidates are
    tried in any order. The mean over targets is that of `success_probability` where the belief is right.

    >>> belief = Posterior.from_dense(np.array([[0.7, 0.3, 0.0], [0.5, 0.5, 0.0]]))
    >>> attacker = Attacker(gain=100, exploit_cost=30, max_tries=1, max_fines=0)
    >>> play_out(attacker, belief, np.array([1, 0]), np.array([1, 2]))
    array([0. , 0.5])
    """
    prices, row = price_posterior(attacker, belief), belief.observation
    inside = chance_inside(belief)
    made = np.divide(prices.success_probability, inside, out=np.zeros(len(inside)), where=inside > 0)
    found = np.where((tied > 0) & (better < candidates_tried(belief)[row]), made[row], 0.0)
    for part in groups_of(attacker, belief).parts:
        if not isinstance(part.games, Ranked):
            continue
        game = np.full(belief.n_observations, -1)
        game[part.member] = part.game
        own = np.flatnonzero(game[row] >= 0)
        until = np.concatenate([np.zeros((1, len(part.games.size))), tries_made(attacker, part.games).cumsum(axis=0)])
        first, last = (np.minimum(at[own], len(until) - 1) for at in (better, better + tied))
        tries = until[last, game[row[own]]] - until[first, game[row[own]]]
        found[own] = attacker.confirmation * prices.access[row[own]] * tries / np.maximum(tied[own], 1)
    return np.where(found > 1.0 - ROUNDING, 1.0, found)


def tries_made(attacker: Attacker, games: Games) -> Floats:
    """(n_tries, n_games) R_j, the probability that the optimal plan makes try j if no earlier one was right.

    The plan goes on where the value of going on is positive, given the tries and the fines so far; the pass back is
    that of `exploit`, the pass forward follows the number of fines. 0 where linking does not pay.
    """
    n, largest = len(games.size), int(games.size.max(initial=0))
    horizon = largest if attacker.max_tries is None else min(largest, attacker.max_tries)
    cap = int(attacker.max_fines) if attacker.capped and attacker.max_fines < horizon else 0
    fined = (np.arange(cap + 1) < cap if cap else np.array([attacker.max_fines > 0]))[:, None]
    after = np.minimum(np.arange(cap + 1) + 1, cap)
    detection, gamma = attacker.detection_at(horizon), attacker.discount
    value, goes_on = np.zeros((cap + 1, n)), np.zeros((horizon, cap + 1, n), dtype=np.bool_)
    for j in range(horizon - 1, -1, -1):
        active, q = slice(int(np.searchsorted(games.size, j, side="right")), n), detection[j]
        hit, large = games.hit(j, active), games.at_large(j, active)
        caught = 0.0 if attacker.arrest else value[after, active]
        cost = attacker.exploit_cost + gamma**attacker.fine_delay * attacker.fine * q * fined
        now = gamma**attacker.gain_delay * attacker.gain * hit - large * cost
        now = now + gamma * (q * caught + (1 - q) * value[:, active])
        goes_on[j, :, active] = worthwhile(attacker, now, 0.0, attacker.gain)
        value[:, active] = np.where(goes_on[j, :, active], now, 0.0)
    linked = gamma**attacker.link_delay * value[0] - attacker.link_cost
    at = np.zeros((cap + 1, n))
    at[0] = worthwhile(attacker, linked, 0.0, attacker.gain)
    made = np.zeros((horizon, n))
    for j in range(horizon):
        at *= goes_on[j]
        made[j] = at.sum(axis=0)
        caught = np.zeros_like(at)
        if not attacker.arrest:
            np.add.at(caught, after, at * detection[j])
        at = at * (1 - detection[j]) + caught
    return made
