"""Deterrence: the fine, price, gain or group size that decides whether an attack pays."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Annotated, Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker, Floats, as_amounts
from unmask.economics.campaigns.bounds import Bounds
from unmask.economics.campaigns.campaign import attack, remove_discount
from unmask.economics.campaigns.targets import Targets
from unmask.economics.deterrence.search import bisect_whole, find_root
from unmask.economics.deterrence.variations import with_parameter
from unmask.economics.plans.groups import TargetInput, group_targets
from unmask.economics.plans.plan import VALUE
from unmask.economics.plans.prices import find_break_even_fine, solve_linked_plans
from unmask.economics.plans.records import price_records
from unmask.ranges import Range, check_type

Amount = Literal["fine", "access_cost"]

LARGEST_SIZE: Final = 10**6
"""Largest group size of a search, unless another one is given."""


def break_even(attacker: Attacker, targets: TargetInput, amount: Amount = "fine") -> Floats:
    """Compute the fine, or the price of access, at which an attack on a target alone is worth nothing.

    All other inputs are as they are. The payoff is convex and piecewise linear in the fine. Newton's method from no
    fine is therefore exact after finitely many steps; its slopes come with the plan (envelope theorem).

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    targets : (n,) array_like of int or Posterior
        Group sizes, or a belief.
    amount : {"fine", "access_cost"}
        The input that is searched.

    Returns
    -------
    (n,) array
        The least amount that deters, 0 if none is needed, inf if none deters.

    Examples
    --------
    >>> from unmask.economics import read_attacker
    >>> case = replace(read_attacker("case-study"), detection_growth=0.0)
    >>> break_even(case, [1, 5, 50]).round()
    array([490508., 132620.,  16143.])
    """
    _check_amount(amount)
    if amount == "access_cost":
        plan = group_targets(attacker, targets).spread(lambda groups: solve_linked_plans(attacker, groups))
        return np.asarray(attacker.discount * plan[VALUE])
    grouping = group_targets(replace(attacker, fine=0.0), targets)
    return np.asarray(grouping.spread(lambda groups: find_break_even_fine(attacker, groups)[None])[0])


def _check_amount(amount: Amount) -> None:
    if amount not in get_args(Amount):
        raise UnmaskError(f"amount is {amount!r}, expected one of {', '.join(get_args(Amount))}")


def find_safe_size(attacker: Attacker, *, at_hand: bool = False, largest: int = LARGEST_SIZE) -> float:
    """Find the smallest size from which no group is worth an attack on one target.

    The payoff falls with the size, so a bisection finds it.

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    at_hand : bool
        True if the outside data are at hand, and their price is not due.
    largest : int
        Largest size of the search.

    Returns
    -------
    float
        The size, at least 1; inf if every size of the search is worth an attack.

    Examples
    --------
    Without fines, the case study leaves groups of 721 alone, and groups of 736 even with the outside data at hand.

    >>> from unmask.economics import read_attacker
    >>> unfined = replace(read_attacker("case-study"), max_fines=0)
    >>> find_safe_size(unfined), find_safe_size(unfined, at_hand=True)
    (721, 736)
    """

    def is_safe(size: int) -> bool:
        prices = price_records(attacker, [size])
        return not (prices.sunk_success_probability if at_hand else prices.access)[0]

    return bisect_whole(is_safe, largest) or math.inf


def deter(
    attacker: Attacker,
    targets: TargetInput,
    budget: float,
    *,
    amount: Amount = "fine",
    loss: ArrayLike = 1.0,
) -> float:
    """Find a fine, or a price of access, with which no campaign brings the risk of a file above a budget.

    The risk is the sum over targets of the loss times `Campaign.most_success`: one attacker faces them all, pays for
    access once, and is fined `max_fines` times in all. The payoff falls with a fine or a price. An amount that deters
    every campaign is therefore never too high by more than the gap of its bounds. If some targets may be
    re-identified, a lower amount that does as well may exist.

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    targets : (n,) array_like of int or Posterior
        Group sizes, or a belief.
    budget : float
        Largest risk.
    amount : {"fine", "access_cost"}
        The input that is searched.
    loss : (n,) array_like
        Loss of the publisher for each target, or one number.

    Returns
    -------
    float
        The least amount that is found, with a relative width of 1e-7; inf if 2^60 is not enough.

    Examples
    --------
    >>> case = Attacker(
    ...     gain=8000, exploit_cost=10, max_fines=math.inf, fine=1000, detection_base=-4.59, detection_growth=0.0
    ... )
    >>> deter(case, [1, 2, 2, 40], budget=1.0) > deter(case, [1, 2, 2, 40], budget=3.0)
    True
    """
    check_type("budget", budget, Annotated[float, Range(0)])
    _check_amount(amount)
    unfined = Targets.of(remove_discount(with_parameter(attacker, amount, 0.0)), targets, None)
    losses = as_amounts("loss", loss, len(unfined.group))

    def exceeds(value: float) -> bool:
        return float(attack(unfined.with_attacker(**{amount: value})).most_success @ losses) > budget

    return find_root(exceeds, 1.0)[1]


def stopping_fine(attacker: Attacker, targets: TargetInput, *, people: ArrayLike | None = None) -> Bounds:
    """Bound the fine that just stops a campaign against all targets.

    With F the value of the release to an attacker who cannot be fined, n fines of C_p cost at most n C_p: the attack
    pays whenever F - n C_p exceeds the price of access.

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    targets : (n,) array_like of int or Posterior
        Group sizes, or a belief.
    people : (n,) array_like of int, optional
        Number of people behind each target, see `campaign`.

    Returns
    -------
    Bounds
        A campaign pays at the fine `low` and at any smaller one; 0 if none pays without a fine. No campaign pays at the
        fine `high` or at any higher one; inf if no fine stops them all.

    Examples
    --------
    >>> from unmask.economics import read_attacker
    >>> case = read_attacker("case-study")
    >>> round(stopping_fine(case, [60]).high), round(stopping_fine(case, [60] * 50).high)
    (8229, 238383)
    """
    unfined = Targets.of(remove_discount(attacker), targets, people)

    @cache
    def bound_payoffs(fine: float) -> Bounds:
        """Return the payoff of the best plan that is found, and the upper bound of all."""
        campaign = attack(unfined.with_attacker(fine=fine))
        return Bounds(campaign.payoff, campaign.upper)

    first = max(attacker.fine, 1.0)
    stops = find_root(lambda fine: bound_payoffs(fine).high, first)
    pays = stops if math.isinf(stops[1]) else find_root(lambda fine: bound_payoffs(fine).low, first)
    return Bounds(pays[0], stops[1])


def risk_by_fine(
    attacker: Attacker, targets: TargetInput, fines: ArrayLike, *, people: ArrayLike | None = None
) -> Floats:
    """Compute the highest probability with which a best campaign re-identifies each target, at each fine.

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    targets : (n_targets,) array_like of int or Posterior
        Group sizes, or a belief.
    fines : (n_fines,) array_like
        Fines.
    people : (n_targets,) array_like of int, optional
        Number of people behind each target, see `campaign`.

    Returns
    -------
    (n_fines, n_targets) array
        Probabilities.
    """
    unfined = Targets.of(remove_discount(attacker), targets, people)
    return np.stack([attack(unfined.with_attacker(fine=float(fine))).most_success for fine in np.asarray(fines)])
