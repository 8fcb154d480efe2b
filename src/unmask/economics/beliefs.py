"""Any belief can be priced: the candidates of an observation are a group, "none of these" are those outside it."""

from __future__ import annotations

from unmask.economics.attacker import Attacker
from unmask.economics.exploitation import VALUE
from unmask.economics.groups import groups_of
from unmask.economics.prices import Prices, prices_of, sunk_plans
from unmask.posterior import Posterior


def price_posterior(attacker: Attacker, belief: Posterior) -> Prices:
    """The optimal attack on the target of each observation, (n_observations,); `take(belief.observation)` for targets.

    A row of g candidates that are alike is a group of g, and the belief in "none of these" takes the place of
    1 - `attacker.prior`. Candidates of different chance are tried from the likeliest on, which is optimal since costs
    depend on the number of tries alone. Candidates that a row does not list are not tried: what they would add is
    missing, so the price is then a lower bound. UnmaskError for a belief of mere scores.

    >>> import numpy as np
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 0.8]]))
    >>> attacker = Attacker(gain=100, exploit_cost=30, max_fines=0)
    >>> price_posterior(attacker, belief).payoff.round(2)
    array([55., 50.])
    """
    plan = groups_of(attacker, belief).spread(lambda games: sunk_plans(attacker, games))
    return prices_of(attacker, plan, plan[VALUE])
