"""Prices of an attack: payoff of the attacker and risk of the targets, by size of the group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker, Floats
from unmask.economics.plans.plan import (
    CLEAN,
    FINE_SLOPE,
    FINES,
    SUCCESS,
    TIE,
    TRIES,
    VALUE,
    CandidateGroups,
    count_steps,
    is_worthwhile,
    refuse_too_large,
    solve_plans,
    solve_plans_by_cap,
)
from unmask.ranges import Range, check_type

FIRST_PROBE: Final = 64
"""Group sizes are solved up to this one at first, then twice as far, until the largest is worth nothing."""

MAX_TABLE_SIZE: Final = 2000
"""Largest group size of a table or a chart by size, unless another one is given."""

NEWTON_STEPS: Final = 200
"""Largest number of Newton steps: the payoff is piecewise linear in an amount, each step leaves one piece."""


class Thresholds(NamedTuple):
    """Smallest group sizes that escape; None if every size of the table is attacked.

    Parameters
    ----------
    exhausted : int or None
        Smallest size of which not every candidate is tried, with the outside data at hand.
    attacked : int or None
        Smallest size that is not attacked, with the outside data still to be paid for.
    sunk : int or None
        Smallest size that is not attacked with the outside data at hand.
    """

    exhausted: int | None
    attacked: int | None
    sunk: int | None


@dataclass(frozen=True, eq=False)
class Prices:
    """Optimal attacks on n targets, before the outside data is paid for and with the outside data at hand.

    If access is decided on a belief about the size of the group, `payoff` is the expectation under this belief.
    Everything else is the outcome at the actual size.

    Parameters
    ----------
    access : (n,) array
        True if the outside data are paid for.
    payoff : (n,) array
        Expected payoff, at least 0, discounted by `Attacker.discount`.
    sunk_payoff : (n,) array
        The same with the outside data at hand.
    success_probability : (n,) array
        P_reid, probability that the target is re-identified, equation (5); never discounted.
    sunk_success_probability : (n,) array
        The same with the outside data at hand.
    expected_tries : (n,) array
        Expected exploits.
    clean_tries : (n,) array
        Exploits if never caught and never lucky.
    expected_fines : (n,) array
        Expected number of fines.

    References
    ----------
    W. Xia et al., "Process-driven data privacy", 2015.
    """

    access: NDArray[np.bool_]
    payoff: Floats
    sunk_payoff: Floats
    success_probability: Floats
    sunk_success_probability: Floats
    expected_tries: Floats
    clean_tries: NDArray[np.int64]
    expected_fines: Floats

    def __len__(self) -> int:
        return len(self.payoff)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} targets, {np.count_nonzero(self.access)} attacked)"

    def take(self, target: NDArray[np.int64]) -> Prices:
        """Return the prices of these targets, in their order."""
        return Prices(**{item.name: getattr(self, item.name)[target] for item in fields(Prices)})


@dataclass(frozen=True, eq=False, repr=False)
class ExploitationTable(Prices):
    """`Prices` by size of the group, index 0..max_size, and the sizes that escape.

    Parameters
    ----------
    access, payoff, sunk_payoff, success_probability, sunk_success_probability : (max_size + 1,) array
        As in `Prices`.
    expected_tries, clean_tries, expected_fines : (max_size + 1,) array
        As in `Prices`.
    thresholds : Thresholds
        Sizes that escape.
    """

    thresholds: Thresholds

    @property
    def rises(self) -> NDArray[np.int64]:
        """Return the sizes with a larger sunk P_reid than the group that is smaller by one."""
        return np.flatnonzero(np.diff(self.sunk_success_probability[1:]) > TIE) + 2


def exploitation_table(attacker: Attacker, max_size: int = MAX_TABLE_SIZE) -> ExploitationTable:
    """Compute the optimal attack on a group of every size that the attacker knows.

    The value falls with the size for any detection and any cap on fines, so the table stops at the first 0.

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    max_size : int
        Largest size of the table, which begins with 0.

    Returns
    -------
    ExploitationTable
        Prices by size.

    Raises
    ------
    UnmaskError
        If the table takes more than 2 GiB, or more than `MAX_STEPS` of recursion in all.

    Examples
    --------
    >>> from unmask.economics import read_attacker
    >>> case = replace(read_attacker("case-study"), detection_growth=0.0)
    >>> table = exploitation_table(case, 120)
    >>> table.thresholds
    Thresholds(exhausted=91, attacked=89, sunk=91)
    >>> table.payoff[[1, 40]].round(2), table.success_probability[[1, 40]].round(2)
    (array([4829.49, 2289.45]), array([0.63, 0.63]))
    """
    check_type("max_size", max_size, Annotated[int, Range(0)])
    plan = solve_plans_by_size(attacker, np.arange(max_size + 1))
    prices = to_prices(attacker, plan, plan[VALUE])
    return ExploitationTable(**vars(prices), thresholds=_find_thresholds(plan, prices.access))


def check_group_sizes(sizes: ArrayLike) -> NDArray[np.int64]:
    """Return (n,) group sizes as whole numbers of at least 0; raise UnmaskError for anything else."""
    try:
        values = np.asarray(sizes)
    except ValueError:
        raise UnmaskError("the group sizes are a list of lists, expected a list of numbers") from None
    if values.ndim != 1:
        raise UnmaskError(f"the group sizes have {values.ndim} axes, expected a list of numbers")
    if values.dtype.kind not in "iuf" and values.size:
        raise UnmaskError(f"the group sizes are of type {values.dtype}, expected whole numbers of at least 0")
    if values.size and not (values.min() >= 0 and values.max() < 2**62):
        raise UnmaskError("a group size is negative, missing or infinite, expected whole numbers of at least 0")
    integers = values.astype(np.int64, copy=False)
    if values.dtype.kind == "f" and np.any(integers != values):
        raise UnmaskError("a group size is a fraction, expected whole numbers of at least 0")
    return integers


def find_distinct_sizes(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ascending distinct sizes and the index of each record's size; counted if sizes are close together."""
    if counts.max(initial=0) > 16 * len(counts) + FIRST_PROBE:
        distinct, of_record = np.unique(counts, return_inverse=True)
        return distinct, of_record
    present = np.bincount(counts) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[counts]


def solve_plans_by_size(attacker: Attacker, sizes: NDArray[np.int64]) -> Floats:
    """Return (6, n_sizes) the optimal plans with the data at hand, for ascending group sizes.

    From the first worthless size on they are 0: the value falls with the size for any detection, cap and discount.
    """
    plan = np.zeros((6, len(sizes)))
    end = bound_group_size(attacker, int(sizes.max(initial=0)))
    low, high, spent = 0, FIRST_PROBE, 0.0
    while low < end:
        probe = min(high, end) - 1
        first, last = np.searchsorted(sizes, [low, probe])
        groups = _make_uniform(attacker, np.append(sizes[first:last], probe))
        spent += count_steps(attacker, groups)
        refuse_too_large(8.0 * 6 * len(sizes), spent)
        block = solve_linked_plans(attacker, groups)
        end_of_block = min(int(np.searchsorted(sizes, probe, side="right")), len(sizes))
        plan[:, first:end_of_block] = block[:, : end_of_block - first]
        if block[CLEAN, -1] == 0:
            break
        low, high = high, 2 * high
    return plan


def bound_group_size(attacker: Attacker, largest: int) -> int:
    """Return a size from which on no group is tried without fines, false alarms and discount; at most `largest` + 1."""
    free = {"fine": 0.0, "max_fines": 0, "arrest": False, "discount": 1.0, "false_alarms": 0.0}
    unfined = replace(attacker, **free)  # type: ignore[arg-type]
    size = FIRST_PROBE
    while size <= largest and solve_linked_plans(unfined, _make_uniform(attacker, np.array([size])))[CLEAN, 0] > 0:
        size *= 2
    return min(size, largest + 1)


def _make_uniform(attacker: Attacker, sizes: NDArray[np.int64]) -> CandidateGroups:
    return CandidateGroups.uniform(sizes, np.full(len(sizes), attacker.prior * attacker.confirmation))


def solve_linked_plans(attacker: Attacker, groups: CandidateGroups, fine: Floats | None = None) -> Floats:
    """Return (6, n_groups) the optimal plans with the data at hand: linking is paid for, or everything is 0."""
    return _pay_for_link(attacker, solve_plans(attacker, groups, fine))


def solve_linked_plans_by_cap(attacker: Attacker, groups: CandidateGroups, fine: Floats | None = None) -> Floats:
    """Return (max_fines + 1, 6, n_groups) the same for every cap on fines from 0 to that of the attacker."""
    return _pay_for_link(attacker, solve_plans_by_cap(attacker, groups, fine))


def _pay_for_link(attacker: Attacker, plan: Floats) -> Floats:
    """Return the plans, (..., 6, n_groups), less the price of linking; 0 if that is not worth it."""
    plan[..., [VALUE, FINE_SLOPE], :] *= attacker.discount**attacker.link_delay
    plan[..., VALUE, :] -= attacker.link_cost
    pays = (plan[..., CLEAN, :] > 0) & is_worthwhile(attacker, plan[..., VALUE, :])
    return np.where(pays[..., None, :], plan, 0.0)


def to_prices(attacker: Attacker, plan: Floats, expected: Floats) -> Prices:
    """Return the prices of linked plans, accessed if the `expected` payoff after access is worth the access."""
    payoff = attacker.discount * expected - attacker.access_cost
    access = ((expected > 0) | (plan[CLEAN] > 0)) & is_worthwhile(attacker, payoff)
    success = np.minimum(plan[SUCCESS], 1.0)  # sums of rounded chances
    return Prices(
        access=access,
        payoff=np.where(access, payoff, 0.0),
        sunk_payoff=plan[VALUE],
        success_probability=np.where(access, success, 0.0),
        sunk_success_probability=success,
        expected_tries=np.where(access, plan[TRIES], 0.0),
        clean_tries=np.where(access, plan[CLEAN], 0).astype(np.int64),
        expected_fines=np.where(access, plan[FINES], 0.0),
    )


def find_break_even_fine(attacker: Attacker, groups: CandidateGroups) -> Floats:
    """Return (n_groups,) the fines at which access is worth its price; inf if no fine is.

    Newton's method on the payoff, which is convex in the fine, from a fine of 0.
    """
    fine, spent, delay = np.zeros(len(groups.size)), 0.0, attacker.discount ** (1 + attacker.link_delay)
    for _ in range(NEWTON_STEPS):
        finite = np.where(np.isinf(fine), 0.0, fine)
        spent += count_steps(attacker, groups, finite)
        refuse_too_large(0, spent)
        value, slope = delay * solve_plans(attacker, groups, finite)[[VALUE, FINE_SLOPE]]
        balance = value - attacker.discount * attacker.link_cost - attacker.access_cost
        is_above = np.isfinite(fine) & (balance > TIE * attacker.gain)
        if not is_above.any():
            break
        step = np.where(slope > 0, balance / np.where(slope > 0, slope, 1.0), np.inf)
        fine = np.where(is_above, fine + step, fine)
    return fine


def _find_thresholds(plan: Floats, access: NDArray[np.bool_]) -> Thresholds:
    def find_first(escapes: NDArray[np.bool_]) -> int | None:
        sizes = np.flatnonzero(escapes[1:])
        return int(sizes[0]) + 1 if len(sizes) else None

    sizes = np.arange(plan.shape[1])
    return Thresholds(find_first(plan[CLEAN] < sizes), find_first(~access), find_first(plan[CLEAN] == 0))


ASSUMPTION: Final = (
    "Each target is attacked with the best single resource, and a campaign uses one resource for all. No combination "
    "is tried: an attacker who combines resources may gain more."
)


def choose_resources(prices: Sequence[Prices]) -> tuple[Prices, NDArray[np.int64]]:
    """Choose the resource with the largest payoff for each target.

    Parameters
    ----------
    prices : sequence of Prices
        Prices of the same targets with each resource.

    Returns
    -------
    prices : Prices
        Prices with the chosen resources.
    choice : (n,) array of int
        Position of the resource. Payoffs of 0 are compared with the outside data at hand, ties take the first.

    Examples
    --------
    >>> from unmask.economics import Attacker, price_records
    >>> costs = {"register": 10, "broker": 200}, {"register": 0.3, "broker": 0.9}
    >>> attackers = [
    ...     Attacker(gain=1000, access_cost=costs[0][name], prior=costs[1][name], exploit_cost=20, max_fines=0)
    ...     for name in ("register", "broker")
    ... ]
    >>> prices, choice = choose_resources([price_records(attacker, [1, 15]) for attacker in attackers])
    >>> choice, prices.success_probability
    (array([1, 1]), array([0.9, 0.9]))
    """
    payoff, sunk_payoff = (np.stack([getattr(item, name) for item in prices]) for name in ("payoff", "sunk_payoff"))
    choice = np.where(payoff.max(axis=0) > 0, payoff.argmax(axis=0), sunk_payoff.argmax(axis=0))
    target = np.arange(payoff.shape[1])
    stacked = {item.name: np.stack([getattr(price, item.name) for price in prices]) for item in fields(Prices)}
    return Prices(**{name: values[choice, target] for name, values in stacked.items()}), choice


def merge_thresholds(thresholds: Sequence[Thresholds]) -> Thresholds:
    """Return the smallest sizes that escape an attack with every resource; None if a size of the table is attacked.

    >>> merge_thresholds([Thresholds(14, 48, 77), Thresholds(3, 50, None)])
    Thresholds(exhausted=14, attacked=50, sunk=None)
    """
    return Thresholds(*(None if None in sizes else max(sizes) for sizes in zip(*thresholds, strict=True)))


def name_choices(choice: NDArray[np.int64], resources: Mapping[str, object]) -> list[str]:
    """Return the name of each chosen resource."""
    return [list(resources)[position] for position in choice.tolist()]
