"""Several outside resources: look into the one that promises most, or exhaust one and fall back on the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from unmask.economics.attacker import Attacker
from unmask.economics.exploitation import COST_SLOPE, SUCCESS, TIE, VALUE, Alike, Floats, Stakes, exploit
from unmask.economics.prices import plans_by_size
from unmask.errors import UnmaskError

MOST = 12
"""Resources to fall back on: every subset of them is looked at."""


@dataclass(frozen=True, eq=False)
class Resource:
    """One source of outside data, as it looks before it is paid for.

    name        : as the caller calls it
    access_cost : its price
    prior       : chance that the target is in it
    sizes       : (S,) chance that the target's group has 0, 1, 2 ... members there, sum 1
    """

    name: str
    access_cost: float
    prior: float
    sizes: ArrayLike

    @property
    def chance(self) -> Floats:
        """(S,) the chances of the sizes, checked."""
        chance = np.asarray(self.sizes, dtype=np.float64)
        if chance.ndim != 1 or not np.all(chance >= 0) or abs(chance.sum() - 1) > 1e-9:
            raise UnmaskError(
                f"the chances of the sizes in resource {self.name!r} are not numbers of at least 0, sum 1"
            )
        return chance

    def faced_by(self, attacker: Attacker) -> Attacker:
        """The attacker with the price and the coverage of this resource."""
        return replace(attacker, access_cost=self.access_cost, prior=self.prior)


@dataclass(frozen=True)
class Plan:
    """The best use of several resources.

    order               : the names of those that are used, in the order in which they are tried
    index               : for `best_resource` what each of the order is worth by Weitzman's rule, else empty
    payoff              : expected payoff, at least 0
    success_probability : chance that the target is named
    """

    order: tuple[str, ...]
    index: tuple[float, ...]
    payoff: float
    success_probability: float


def best_resource(attacker: Attacker, resources: Sequence[Resource]) -> Plan:
    """Look into resources one after another, then attack with the best one seen.

    Opening a resource costs its price and shows the size of the group there, hence X, what the attack is worth. It is
    Pandora's problem: open in the order of the index z with E[(X - z)+] = price, stop when the best X seen exceeds the
    next index. The payoff is E max(0, max_d min(X_d, z_d)). Undiscounted.

    M. Weitzman, "Optimal search for the best alternative", 1979.
    """
    _undiscounted(attacker)
    boxes = [_box(attacker, resource) for resource in resources]
    boxes = sorted((box for box in boxes if box.index > TIE * attacker.gain), key=lambda box: -box.index)
    payoff = success = 0.0
    for i, box in enumerate(boxes):
        capped = np.minimum(box.worth, box.index)
        best = np.ones(len(capped))
        for j, other in enumerate(boxes):
            if j != i:  # of equal ones, the first opened is taken
                theirs = np.minimum(other.worth, other.index)
                lower = theirs[None, :] < capped[:, None] if j < i else theirs[None, :] <= capped[:, None]
                best *= lower @ other.chance
        taken = box.chance * best * (capped > 0)
        payoff += float(taken @ capped)
        success += float(taken @ box.success)
    return Plan(tuple(box.name for box in boxes), tuple(box.index for box in boxes), payoff, success)


@dataclass(frozen=True, eq=False)
class _Box:
    """A resource as a box: by size of the group the chance, what the attack is worth, and its success; its index."""

    name: str
    chance: Floats
    worth: Floats
    success: Floats
    index: float


def _box(attacker: Attacker, resource: Resource) -> _Box:
    chance = resource.chance
    plan = plans_by_size(resource.faced_by(attacker), np.arange(len(chance)))
    return _Box(resource.name, chance, plan[VALUE], plan[SUCCESS], _index(chance, plan[VALUE], resource.access_cost))


def _index(chance: Floats, worth: Floats, price: float) -> float:
    """The z with E[(X - z)+] = price: exact, on the piece of the falling piecewise linear function that crosses it."""
    order = np.argsort(-worth, kind="stable")
    x, p = worth[order], np.cumsum(chance[order])
    above = np.cumsum(chance[order] * x)
    excess = above - p * x  # E[(X - x_i)+]
    i = int(np.searchsorted(excess, price, side="right")) - 1 if price > 0 else 0
    while p[i] == 0:
        i += 1
    return float((above[i] - price) / p[i])


def fall_back(attacker: Attacker, resources: Sequence[Resource]) -> Plan:
    """Exhaust one resource, or as much of it as pays, then buy the next: the best order, over all subsets.

    Resources show different people and cover the target independently; overlap must be modeled by the caller. The cap
    on fines holds for each resource. With V the worth of the resources that are left, the game in a resource is the
    game of one resource with the gain G - V and the cost of a try C_e + (1 - gamma) V.

    >>> free = Attacker(gain=1.0, max_fines=0)
    >>> always_one = [0.0, 1.0]
    >>> both = [Resource("voters", 0.0, 0.63, always_one), Resource("clients", 0.0, 0.4, always_one)]
    >>> round(fall_back(free, both).success_probability, 3)
    0.778
    """
    if len(resources) > MOST:
        raise UnmaskError(f"{len(resources)} resources to fall back on, expected at most {MOST}: every subset is tried")
    nothing = Plan((), (), 0.0, 0.0)
    best = {frozenset[int](): nothing}
    for size in range(1, len(resources) + 1):
        for some in combinations(range(len(resources)), size):
            left = frozenset(some)
            plans = [_stage(attacker, resources[i], best[left - {i}]) for i in some]
            plans += [best[left - {i}] for i in some]
            best[left] = max(plans, key=lambda plan: plan.payoff)
    return best[frozenset(range(len(resources)))]


def _stage(attacker: Attacker, resource: Resource, after: Plan) -> Plan:
    """Access this resource, with a plan to fall back on."""
    here, chance = resource.faced_by(attacker), resource.chance
    gamma, step = here.discount, here.discount**here.link_delay
    sizes = np.arange(len(chance))
    lost = after.payoff * gamma / gamma**here.gain_delay
    stakes = Stakes(
        gain=np.full(len(sizes), here.gain - lost),
        exploit_cost=np.full(len(sizes), here.exploit_cost + (1 - gamma) * after.payoff),
    )
    plan = exploit(here, Alike(sizes, np.full(len(sizes), here.prior * here.confirmation)), stakes)
    more = step * plan[VALUE] - (1 - step) * after.payoff - here.link_cost
    linked = (plan[COST_SLOPE] > 0) & (more > TIE * here.gain)
    payoff = gamma * float(chance @ (after.payoff + np.where(linked, more, 0.0))) - here.access_cost
    success = np.where(linked, plan[SUCCESS], 0.0)
    named = float(chance @ (success + (1 - success) * after.success_probability))
    return Plan((resource.name, *after.order), (), payoff, named) if payoff > 0 else Plan((), (), 0.0, 0.0)


def _undiscounted(attacker: Attacker) -> None:
    if attacker.discount != 1:
        raise UnmaskError(f"the discount is {attacker.discount:g}, expected 1: looking into resources has no clock")
