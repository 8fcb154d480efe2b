"""Deterrence of attacks on records in groups: the smallest fine, price and group size, and a cheap mix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.economics.attacker import Amount, Attacker, check_fields
from unmask.economics.campaigns.bounds import Bounds, CampaignPlan
from unmask.economics.campaigns.campaign import ROUNDING, bound_payoff, bound_value, remove_discount, solve, to_campaign
from unmask.economics.campaigns.targets import Targets
from unmask.economics.deterrence.search import bisect_whole, find_root, minimize_convex
from unmask.economics.plans.plan import CLEAN, FINE_SLOPE, VALUE, compute_margin
from unmask.economics.plans.prices import check_group_sizes, solve_plans_by_size

MIX_GAP: Final = 0.01
"""Share by which another mix may be cheaper than the one that is found."""


@dataclass(frozen=True)
class Costs:
    """Costs of a protection to the publisher, in any unit.

    Parameters
    ----------
    fine : float
        Cost of raising the fine by one.
    price : float
        Cost of raising the price by one.
    row : float, optional
        Cost of a dropped row (default: the attacker's gain).
    """

    fine: Amount = 1.0
    price: Amount = 1.0
    row: Amount | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def resolve(self, attacker: Attacker) -> Costs:
        """Return the costs with the cost of a row: by default the gain of the attacker."""
        return self if self.row is not None else replace(self, row=attacker.gain)


class Mix(NamedTuple):
    """A fine, an access price in addition to that of the outside data, the classes that remain, and their cost.

    min_class_size : classes with fewer rows are left out; None if all rows are
    left_out       : number of rows in these classes
    """

    fine: float
    price: float
    min_class_size: int | None
    left_out: int
    cost: float


@dataclass(frozen=True)
class Deterrents:
    """The smallest amount of each kind that stops an attack, all others as they are.

    Parameters
    ----------
    payoff : Bounds
        Payoff of the attack as things are; 0 if it does not pay.
    fine : Bounds
        Largest fine at which the attack is known to pay, and smallest one that stops it; inf if none does.
    price : Bounds
        The same for an access price in addition to that of the outside data.
    size : int or None
        Smallest k so that no attack pays if all records are in groups of k; None if k is more than the records.
    rows : Mix
        Fewest rows to leave out, smallest classes first.
    mix : Mix
        Cheapest fine, price and rows together, within 1 %; the fine and the price do not fall.
    """

    payoff: Bounds
    fine: Bounds
    price: Bounds
    size: int | None
    rows: Mix
    mix: Mix


@dataclass(frozen=True, eq=False)
class SizeAttack:
    """Attacks on records by the size of their group, with the best of several resources.

    attackers   : the attacker with each resource
    sizes       : (m,) ascending distinct sizes
    records     : (m,) number of records in groups of each size
    is_campaign : True for one campaign against all records, False for an attack on one of them
    """

    attackers: Sequence[Attacker]
    sizes: NDArray[np.int64]
    records: NDArray[np.int64]
    is_campaign: bool
    targets: dict[tuple[int, int], Targets] = field(default_factory=dict)
    campaigns: dict[tuple[int, int, float], tuple[Targets, CampaignPlan, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, attackers: Sequence[Attacker], sizes: ArrayLike, *, is_campaign: bool) -> SizeAttack:
        """Return the attack on records with these sizes; without a candidate there is nothing to try."""
        counted = check_group_sizes(sizes)
        distinct, counts = np.unique(counted[counted > 0], return_counts=True)
        planners = [remove_discount(attacker) for attacker in attackers] if is_campaign else attackers
        return cls(tuple(planners), distinct, counts, is_campaign)

    @cached_property
    def fine(self) -> float:
        """Return the fine as it is."""
        return self.attackers[0].fine

    def count_left_out(self, first: int) -> int:
        """Return the number of records in groups smaller than those from `first` on."""
        return int(self.records[:first].sum())

    def payoff(self, resource: int, first: int, fine: float) -> Bounds:
        """Return the payoff with a resource, before ties are broken; only groups from `first` on are released."""
        price = self.attackers[resource].access_cost
        if first == len(self.sizes):
            return Bounds(-math.inf, -math.inf)
        if self.is_campaign:
            low, high = bound_payoff(*self._solve_campaign(resource, first, fine))
            return Bounds(float(low) - price, float(high) - price)
        plan = self._solve_single(resource, first, fine)
        payoff = float(plan[VALUE]) - price if plan[CLEAN] > 0 else -math.inf
        return Bounds(payoff, payoff)

    def _solve_single(self, resource: int, first: int, fine: float) -> NDArray[np.float64]:
        """Return the plan against a record of the smallest group, which is worth most."""
        attacker = replace(self.attackers[resource], fine=fine)
        plan = solve_plans_by_size(attacker, self.sizes[first : first + 1])[:, 0]
        return np.asarray(attacker.discount * plan)

    def _solve_campaign(self, resource: int, first: int, fine: float) -> tuple[Targets, CampaignPlan, float]:
        """Return the targets of a campaign whose access is paid, its plan and its upper bound; each is solved once."""
        key = resource, first, fine
        if key not in self.campaigns:
            targets = self._fine_targets(resource, first, fine)
            self.campaigns[key] = (targets, *solve(targets))
        return self.campaigns[key]

    def _fine_targets(self, resource: int, first: int, fine: float) -> Targets:
        """Return the targets of a campaign whose access is paid."""
        if (resource, first) not in self.targets:
            attacker = replace(self.attackers[resource], access_cost=0.0)
            self.targets[resource, first] = Targets.of(attacker, self.sizes[first:], self.records[first:])
        return self.targets[resource, first].with_attacker(fine=fine)

    def expect_fines(self, first: int, fine: float) -> float:
        """Return the expected number of fines with the resource that pays most: minus the slope of the payoff."""
        resource = max(range(len(self.attackers)), key=lambda i: self.payoff(i, first, fine).high)
        if not self.is_campaign:
            return float(self._solve_single(resource, first, fine)[FINE_SLOPE])
        return to_campaign(*self._solve_campaign(resource, first, fine)).expected_fines

    def excess(self, first: int, fine: float, *, end: int = 1) -> float:
        """Return the payoff with the best resource beyond a tie: an attack may pay at a price below it.

        end : 0 for the lower bound, at a price below which an attack surely pays
        """
        return self._subtract_ties([self.payoff(i, first, fine)[end] for i in range(len(self.attackers))])

    def bound_excess(self, first: int, fine: float) -> float:
        """Return `excess` up to rounding; of campaigns from bounds, without plans, in a tenth of the time."""
        if not self.is_campaign or first == len(self.sizes):
            return self.excess(first, fine)
        worths = [bound_value(self._fine_targets(i, first, fine)) for i in range(len(self.attackers))]
        payoffs = [worth - attacker.access_cost for worth, attacker in zip(worths, self.attackers, strict=True)]
        return self._subtract_ties(payoffs)

    def _subtract_ties(self, payoffs: Sequence[float]) -> float:
        """Return the largest payoff of the resources beyond a tie."""
        return max(payoff - compute_margin(attacker) for payoff, attacker in zip(payoffs, self.attackers, strict=True))

    def bound_fine(self, first: int = 0) -> Bounds:
        """Return the largest fine at which the attack surely pays, and the smallest one at which it surely does not."""
        start = max(self.fine, 1.0)
        stops = find_root(lambda fine: self.bound_excess(first, fine), start)
        if not math.isfinite(stops[1]) or self.excess(first, stops[0], end=0) > 0 or not stops[1]:
            return Bounds(*stops)
        return Bounds(find_root(lambda fine: self.excess(first, fine, end=0), start)[0], stops[1])

    def bound_price(self, first: int, fine: float) -> Bounds:
        """Return the bounds on the access price that stops the attack, in addition to that of the outside data."""
        low, high = (max(self.excess(first, fine, end=end), 0.0) for end in (0, 1))
        return Bounds(low, high * (1 + ROUNDING))


def find_deterrents(
    attackers: Sequence[Attacker], sizes: ArrayLike, costs: Costs | None = None, *, is_campaign: bool = True
) -> Deterrents:
    """Find the smallest fine, price and group size that stop an attack, and the cheapest mix.

    Parameters
    ----------
    attackers : sequence of Attacker
        The attacker with each resource that they may use; the attack with every one must stop.
    sizes : (n,) array_like of int
        Group size of each record.
    costs : Costs, optional
        Costs of the publisher in the mix, by default 1 for a unit of the fine and of the price.
    is_campaign : bool
        True for one campaign against all records, False for an attack on any one record.

    Returns
    -------
    Deterrents
        Amounts at which the attack stops; a little below (a relative 1e-7, a size of one less) it pays.

    Raises
    ------
    UnmaskError
        If a size is impossible, or a campaign takes too many steps.

    Examples
    --------
    >>> from unmask.economics import read_attacker
    >>> case = read_attacker("case-study")
    >>> alone = find_deterrents([case], [2, 2, *[30] * 30], is_campaign=False)
    >>> round(alone.fine.high), round(alone.price.high), alone.size is None, alone.rows.left_out
    (270585, 4741, True, 32)
    """
    release = SizeAttack.of(attackers, sizes, is_campaign=is_campaign)
    payoff = max((release.payoff(i, 0, release.fine) for i in range(len(attackers))), key=lambda bounds: bounds.high)
    if release.excess(0, release.fine) <= 0:
        payoff = Bounds(0.0, 0.0)
    return Deterrents(
        payoff=Bounds(max(payoff.low, 0.0), payoff.high),
        fine=release.bound_fine(),
        price=release.bound_price(0, release.fine),
        size=_find_size(release),
        rows=_find_rows(release),
        mix=_find_mix(release, (costs or Costs()).resolve(attackers[0])),
    )


def _find_size(release: SizeAttack) -> int | None:
    """Return the smallest k so that no attack pays if all records are in groups of k."""
    n = int(release.records.sum())

    def is_safe(size: int) -> bool:
        equal = replace(release, sizes=np.array([size]), records=np.array([n]), targets={}, campaigns={})
        return equal.bound_excess(0, release.fine) <= 0

    return bisect_whole(is_safe, n)


def _find_rows(release: SizeAttack) -> Mix:
    """Return the fewest rows to leave out, smallest classes first, so that no attack pays."""
    steps = bisect_whole(lambda step: release.bound_excess(step - 1, release.fine) <= 0, len(release.sizes) + 1)
    assert steps is not None  # without rows nothing pays
    return _make_mix(release, steps - 1, release.fine, 0.0, Costs())


def _make_mix(release: SizeAttack, first: int, fine: float, price: float, costs: Costs) -> Mix:
    left_out = release.count_left_out(first)
    cost = costs.fine * (fine - release.fine) + costs.price * price + (costs.row or 0.0) * left_out
    min_class_size = int(release.sizes[first]) if first < len(release.sizes) else None
    return Mix(fine, price, min_class_size, left_out, cost)


def _find_mix(release: SizeAttack, costs: Costs) -> Mix:
    """Return the cheapest fine, price and rows to leave out.

    Fewer rows cost less, but need a higher fine or price. In a span between two numbers of rows, the cost is at least
    that of the smaller number of rows plus the lower fine and price. Spans are skipped if this bound is not below the
    cheapest mix by more than `MIX_GAP`.
    """
    mixes: dict[int, Mix] = {}
    row_cost = costs.row or 0.0

    def solve_mix(first: int) -> Mix:
        if first not in mixes:
            mixes[first] = _find_terms(release, first, costs)
        return mixes[first]

    spans = [(0, len(release.sizes))]
    cheapest = min(solve_mix(0), solve_mix(len(release.sizes)), key=_rank)
    while spans:
        start, end = spans.pop()
        money = solve_mix(end).cost - row_cost * release.count_left_out(end)
        if end - start < 2 or row_cost * release.count_left_out(start + 1) + money > cheapest.cost * (1 - MIX_GAP):
            continue
        middle = (start + end) // 2
        cheapest = min(cheapest, solve_mix(middle), key=_rank)
        spans += [(middle, end), (start, middle)]
    return cheapest


def _rank(mix: Mix) -> tuple[float, int]:
    """Return the sort key: the cheapest first, then the fewest rows."""
    return mix.cost, mix.left_out


def _find_terms(release: SizeAttack, first: int, costs: Costs) -> Mix:
    """Return the cheapest fine and price for the groups from `first` on.

    The price that stops the attack is convex in the fine, and falls by the expected number of fines. The cost of both
    is convex, too, so tangents lead to the fine at which it is smallest.
    """

    def cost(fine: float) -> tuple[float, float]:
        """Return the cost of a fine and the price that it still needs, and the slope."""
        price = costs.price * release.bound_price(first, fine).high
        slope = costs.fine - costs.price * release.expect_fines(first, fine)
        return costs.fine * (fine - release.fine) + price, slope

    fines = {release.fine}
    if release.excess(first, release.fine) > 0 > cost(release.fine)[1]:  # else a higher fine costs more than it saves
        stops = release.bound_fine(first).high
        if release.fine < stops < math.inf:
            fines |= {stops, minimize_convex(cost, release.fine, stops)}
    mixes = (_make_mix(release, first, fine, release.bound_price(first, fine).high, costs) for fine in fines)
    return min(mixes, key=lambda mix: (mix.cost, mix.fine))
