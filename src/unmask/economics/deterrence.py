"""Turned round: which fine, price or gain decides whether he attacks, and what a publisher should offer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

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
    exploit,
)
from unmask.economics.groups import Groups, groups_of
from unmask.economics.prices import Thresholds, exploitation_table, price_records, prices_of, sunk_plans
from unmask.errors import UnmaskError
from unmask.posterior import Posterior

Amount = Literal["fine", "exploit_cost", "access_cost", "gain"]

NEWTON_STEPS: Final = 200
"""The payoff is piecewise linear in an amount: each step leaves one piece, and pieces are few."""

PRECISION: Final = 1e-10
"""Relative width at which a bisection stops."""


def break_even(attacker: Attacker, who: ArrayLike | Posterior, amount: Amount = "fine") -> Floats:
    """The amount at which attacking and staying away are worth the same, all others as they are.

    who    : (n,) group sizes, or a belief, then (n_observations,)
    amount : "fine", "exploit_cost", "access_cost": the least one that keeps him away, 0 where he stays away anyway,
             inf where none does. "gain": the largest one with which he stays away, inf for a group without candidates.

    The payoff is convex and piecewise linear in each amount, so Newton's method from the attacked side is exact after
    finitely many steps; its slopes come with the plan (envelope theorem).

    >>> case = Attacker(
    ...     gain=8000,
    ...     access_cost=100,
    ...     exploit_cost=10,
    ...     fine=10_000,
    ...     max_fines=1,
    ...     detection_base=-4.59,
    ...     detection_growth=0.0,
    ...     prior=0.63,
    ... )
    >>> break_even(case, [1, 5, 50]).round()
    array([490508., 132620.,  16143.])
    """
    if amount not in get_args(Amount):
        raise UnmaskError(f"amount is {amount!r}, expected one of {', '.join(get_args(Amount))}")
    if amount == "access_cost":
        plan = groups_of(attacker, who).spread(lambda games: sunk_plans(attacker, games))
        return np.asarray(attacker.discount * plan[VALUE])
    if amount == "gain":
        found = groups_of(replace(attacker, access_cost=0.0, link_cost=0.0, exploit_cost=0.0, fine=0.0), who)
        gains = found.spread(lambda games: _break_even_gain(attacker, games)[None], otherwise=math.inf)
        return np.asarray(gains[0])
    groups = groups_of(_with(attacker, amount, 0.0), who)
    return np.asarray(groups.spread(lambda games: _least(attacker, games, amount)[None])[0])


def _balance(attacker: Attacker, games: Games, stakes: Stakes, slope: int) -> tuple[Floats, Floats]:
    """What access is worth less its cost, linking included, and its slope: convex in each amount."""
    plan = exploit(attacker, games, stakes)
    step = attacker.discount ** (1 + attacker.link_delay)
    return (
        step * plan[VALUE] - attacker.discount * attacker.link_cost - attacker.access_cost,
        step * plan[slope],
    )


def _least(attacker: Attacker, games: Games, amount: Literal["fine", "exploit_cost"]) -> Floats:
    """Newton from 0 upwards on a convex falling function: never beyond the root."""
    slope = FINE_SLOPE if amount == "fine" else COST_SLOPE
    at = np.zeros(len(games.size))
    for _ in range(NEWTON_STEPS):
        balance, falls = _balance(attacker, games, Stakes(**{amount: np.where(np.isinf(at), 0.0, at)}), slope)
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
    at = 2 * paid / (np.maximum(hit, 1e-300) * attacker.discount**4)
    for _ in range(NEWTON_STEPS):
        balance, rises = _balance(attacker, games, Stakes(gain=at), GAIN_SLOPE)
        above = (balance > TIE * at) & (rises > 0)
        if not above.any():
            break
        at = np.where(above, at - balance / np.where(rises > 0, rises, 1.0), at)
    return at


def deter(
    attacker: Attacker,
    who: ArrayLike | Posterior,
    budget: float,
    *,
    amount: Literal["fine", "access_cost"] = "fine",
    loss: ArrayLike = 1.0,
) -> float:
    """The least fine, or access price, with which the risk of a file, sum of P_reid times loss, is at most `budget`.

    loss : (n,) or one number, what the publisher loses when a target is named (weights of a belief's observations)
    P_reid never rises with a fine or a price, whatever the cap on fines, so bisection is safe; inf where no amount is
    enough. The amount returned meets the budget; one that is smaller by a 1e-10th may not.

    >>> case = Attacker(
    ...     gain=8000, exploit_cost=10, max_fines=math.inf, fine=1000, detection_base=-4.59, detection_growth=0.0
    ... )
    >>> deter(case, [1, 2, 2, 40], budget=1.0) > deter(case, [1, 2, 2, 40], budget=3.0)
    True
    """
    if not budget >= 0:
        raise UnmaskError(f"the risk budget is {budget:g}, expected at least 0")
    if amount not in ("fine", "access_cost"):
        raise UnmaskError(f"amount is {amount!r}, expected fine or access_cost")
    losses = np.asarray(loss, dtype=np.float64)
    if not (np.all(losses >= 0) and np.all(np.isfinite(losses))):
        raise UnmaskError("a loss is negative, infinite or missing, expected amounts of at least 0")
    groups = groups_of(_with(attacker, amount, 0.0), who)

    def risk(value: float) -> float:
        return float((_named(_with(attacker, amount, value), groups) * losses).sum())

    if risk(0.0) <= budget:
        return 0.0
    stops = break_even(attacker, who, amount)
    low, high = 0.0, float(np.max(stops[np.isfinite(stops)], initial=0.0)) * (1 + PRECISION)
    if risk(high) > budget:
        return math.inf
    while high - low > PRECISION * high:
        middle = (low + high) / 2
        low, high = (low, middle) if risk(middle) <= budget else (middle, high)
    return high


def _named(attacker: Attacker, groups: Groups) -> Floats:
    """(n,) P_reid."""
    plan = groups.spread(lambda games: sunk_plans(attacker, games))
    return prices_of(attacker, plan, plan[VALUE]).success_probability


def risk_by_fine(attacker: Attacker, who: ArrayLike | Posterior, fines: ArrayLike) -> Floats:
    """(n_fines, n) P_reid of each target, or observation, at each fine, all else as it is."""
    groups = groups_of(replace(attacker, fine=0.0), who)
    return np.stack([_named(replace(attacker, fine=float(fine)), groups) for fine in np.asarray(fines)])


def sweep(attacker: Attacker, parameter: str, values: Sequence[float], max_size: int) -> list[Thresholds]:
    """The sizes that escape, at each value of one parameter of the attacker (Figure 10)."""
    return [exploitation_table(_with(attacker, parameter, value), max_size).thresholds for value in values]


@dataclass(frozen=True)
class Sway:
    """The payoff of one group with a parameter lower and higher, all others as they are."""

    parameter: str
    low: float
    high: float
    payoff_low: float
    payoff_high: float


def tornado(attacker: Attacker, size: int, change: float = 0.1) -> list[Sway]:
    """How far the payoff of a group of `size` moves when a parameter is lower or higher by the share `change`.

    Amounts, prior, and "detection": the chance of every try, scaled. Parameters that are 0 are left out; the widest
    swing comes first. Each end is solved anew, so that a change of plan counts.
    """
    if not 0 < change < 1:
        raise UnmaskError(f"the change is {change:g}, expected a share between 0 and 1")
    found = []
    for parameter in ("gain", "access_cost", "link_cost", "exploit_cost", "fine", "prior", "detection"):
        now = float(attacker.detection_at(1)[0]) if parameter == "detection" else getattr(attacker, parameter)
        low, high = now * (1 - change), now * (1 + change)
        if parameter in ("prior", "detection"):
            high = min(high, 1.0)
        if now > 0:
            ends = [float(price_records(_with(attacker, parameter, value), [size]).payoff[0]) for value in (low, high)]
            found.append(Sway(parameter, low, high, *ends))
    return sorted(found, key=lambda sway: -abs(sway.payoff_high - sway.payoff_low))


def _with(attacker: Attacker, parameter: str, value: float) -> Attacker:
    """The attacker with one parameter changed; "detection" is the chance at the first try, the others in proportion."""
    if parameter != "detection":
        changes: dict[str, Any] = {parameter: value}
        return replace(attacker, **changes)
    if attacker.detection is not None:
        scale = value / attacker.detection[0] if attacker.detection[0] else 1.0
        return replace(attacker, detection=tuple(min(1.0, q * scale) for q in attacker.detection))
    if not 0 < value < 1:
        return replace(attacker, detection=(value,), detection_base=None, detection_growth=None)
    return replace(attacker, detection_base=math.log(value / (1 - value)), detection_growth=attacker.detection_growth)


@dataclass(frozen=True)
class Offer:
    """One protection with one set of instruments, the attacker's best answer to it, and what is left to the publisher.

    named             : expected number of targets named
    attacked          : targets attacked
    attacker_payoff   : sum of the attacker's payoffs
    publisher_payoff  : benefit (1 - utility lost) n - loss * named - cost of the instrument
    """

    protection: str
    instrument: str
    named: float
    attacked: int
    attacker_payoff: float
    publisher_payoff: float


def menu(
    protections: Mapping[str, tuple[ArrayLike, float]],
    instruments: Mapping[str, tuple[Attacker, float]],
    *,
    benefit: float,
    loss: float,
) -> list[Offer]:
    """Every protection with every instrument, the best for the publisher first: his side of a Stackelberg game.

    protections : name -> (group size of each target in that release, share of utility lost)
    instruments : name -> (the attacker who faces this fine, price or audit, cost of it to the publisher)
    benefit     : what one undamaged record is worth to the publisher
    loss        : what he loses for every target named
    The attacker answers optimally and exactly. With capped fines the risk need not fall with the group size: the menu
    is enumerated, never pruned.
    """
    offers = []
    for protection, (sizes, lost) in protections.items():
        for instrument, (attacker, cost) in instruments.items():
            prices = price_records(attacker, sizes)
            named = float(prices.success_probability.sum())
            offers.append(
                Offer(
                    protection=protection,
                    instrument=instrument,
                    named=named,
                    attacked=int(prices.access.sum()),
                    attacker_payoff=float(prices.payoff.sum()),
                    publisher_payoff=benefit * (1 - lost) * len(prices) - loss * named - cost,
                )
            )
    return sorted(offers, key=lambda offer: -offer.publisher_payoff)
