"""What an attack is worth to the attacker and does to the targets: by size of group, and for a file of records."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker, amounts, is_whole
from unmask.economics.exploitation import (
    CLEAN,
    COST_SLOPE,
    FINE_SLOPE,
    FINES,
    GAIN_SLOPE,
    SUCCESS,
    TIE,
    TRIES,
    VALUE,
    Alike,
    Floats,
    Games,
    Stakes,
    exploit,
    exploit_by_cap,
    refuse_too_large,
    steps,
    worthwhile,
)

FIRST_PROBE = 64
"""Group sizes are solved up to this one at first, then twice as far, until the largest is worth nothing."""


class Thresholds(NamedTuple):
    """First sizes of a group that escape; None where no size of the table does.

    exhausted : smallest size of which not every candidate is tried, with the outside data at hand
    attacked  : smallest size that is not attacked, with the outside data still to be paid for
    sunk      : smallest size that is not attacked with the outside data at hand
    """

    exhausted: int | None
    attacked: int | None
    sunk: int | None


@dataclass(frozen=True, eq=False)
class Prices:
    """The optimal attack on each of n targets, before the outside data is paid for and once that is sunk cost.

    access                   : (n,) whether the outside data are paid for
    payoff                   : (n,) expected payoff, at least 0; discounted as `Attacker.discount` says
    sunk_payoff              : (n,) the same with the outside data at hand
    success_probability      : (n,) P_reid, chance that the target is re-identified, equation (5); never discounted
    sunk_success_probability : (n,) the same with the outside data at hand
    expected_tries           : (n,) exploits to expect
    clean_tries              : (n,) exploits if never caught and never lucky
    expected_fines           : (n,) fines to expect

    W. Xia et al., "Process-driven data privacy", 2015. Where access is decided on a belief about the size of the group,
    `payoff` is what they expect and everything else is what happens at the size that they find.
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
        """The prices of these targets, in their order."""
        return Prices(**{item.name: getattr(self, item.name)[target] for item in fields(Prices)})

    def risk(self, loss: ArrayLike = 1.0) -> Floats:
        """(n,) P_reid times the publisher's loss when the target is re-identified, equation (1)."""
        return self.success_probability * amounts("loss", loss, len(self))


@dataclass(frozen=True, eq=False, repr=False)
class ExploitationTable(Prices):
    """`Prices` by size of the group, index 0..max_size, with the slopes of the payoff and the sizes that escape.

    slope : name of an amount -> (max_size + 1,) derivative of `payoff` in it: discounted success for the gain, minus
            discounted tries for exploit_cost, minus discounted fines for fine, minus 1 for access_cost, minus
            the discount for link_cost; 0 where access is not paid for. The payoff is the sum of amount times slope
            (envelope theorem).
    """

    attacker: Attacker
    slope: dict[str, Floats]
    thresholds: Thresholds

    @property
    def rises(self) -> NDArray[np.int64]:
        """Sizes at which P_reid, with the data at hand, is larger than in the group that is smaller by one."""
        return np.flatnonzero(np.diff(self.sunk_success_probability[1:]) > TIE) + 2


def exploitation_table(attacker: Attacker, max_size: int) -> ExploitationTable:
    """The optimal attack on a group of every size from 0 to `max_size`, the size known to the attacker.

    The value falls with the size whatever the detection and the cap on fines, so the table stops where it is 0.
    UnmaskError beyond 2 GiB, or beyond MAX_STEPS of recursion in all.

    >>> from unmask.economics import read_attacker
    >>> case = replace(read_attacker("case-study"), detection_growth=0.0)
    >>> table = exploitation_table(case, 120)
    >>> table.thresholds
    Thresholds(exhausted=91, attacked=89, sunk=91)
    >>> table.payoff[[1, 40]].round(2), table.success_probability[[1, 40]].round(2)
    (array([4829.49, 2289.45]), array([0.63, 0.63]))
    """
    if not is_whole(max_size, at_least=0):
        raise UnmaskError(f"the largest group size is {max_size!r}, expected a whole number of at least 0")
    plan = plans_by_size(attacker, np.arange(max_size + 1))
    prices = prices_of(attacker, plan, plan[VALUE])
    slope, thresholds = _slopes(attacker, plan, prices.access), _thresholds(plan, prices.access)
    return ExploitationTable(**vars(prices), attacker=attacker, slope=slope, thresholds=thresholds)


def group_sizes(sizes: ArrayLike) -> NDArray[np.int64]:
    """(n,) sizes of groups as whole numbers of at least 0; UnmaskError for anything else."""
    try:
        given = np.asarray(sizes)
    except ValueError:
        raise UnmaskError("the group sizes are a list of lists, expected a list of numbers") from None
    if given.ndim != 1:
        raise UnmaskError(f"the group sizes have {given.ndim} axes, expected a list of numbers")
    if given.dtype.kind not in "iuf" and given.size:
        raise UnmaskError(f"the group sizes are of type {given.dtype}, expected whole numbers of at least 0")
    if given.size and not (given.min() >= 0 and given.max() < 2**62):
        raise UnmaskError("a group size is negative, missing or infinite, expected whole numbers of at least 0")
    whole = given.astype(np.int64, copy=False)
    if given.dtype.kind == "f" and np.any(whole != given):
        raise UnmaskError("a group size is a fraction, expected whole numbers of at least 0")
    return whole


def distinct_sizes(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ascending distinct sizes, and which of them each record has; counted where the sizes are not far apart."""
    if counts.max(initial=0) > 16 * len(counts) + FIRST_PROBE:
        distinct, of_record = np.unique(counts, return_inverse=True)
        return distinct, of_record
    present = np.bincount(counts) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[counts]


def plans_by_size(attacker: Attacker, sizes: NDArray[np.int64]) -> Floats:
    """(8, n_sizes) the optimal plan with the data at hand, for ascending group sizes.

    Zeros from the first worthless size on: the value falls with the size, whatever detection, cap and discount are.
    """
    plan = np.zeros((8, len(sizes)))
    end = bound_on_size(attacker, int(sizes.max(initial=0)))
    low, high, spent = 0, FIRST_PROBE, 0.0
    while low < end:
        probe = min(high, end) - 1
        first, last = np.searchsorted(sizes, [low, probe])
        block = np.append(sizes[first:last], probe)
        games = Alike(block, np.full(len(block), attacker.prior * attacker.confirmation))
        spent += steps(attacker, games)
        refuse_too_large(8.0 * 8 * len(sizes), spent)
        found = sunk_plans(attacker, games)
        known = min(int(np.searchsorted(sizes, probe, side="right")), len(sizes))
        plan[:, first:known] = found[:, : known - first]
        if found[CLEAN, -1] == 0:
            break
        low, high = high, 2 * high
    return plan


def bound_on_size(attacker: Attacker, most: int) -> int:
    """A size from which on no group is tried even without fines, false alarms and discount; at most `most` + 1."""
    free = {"fine": 0.0, "max_fines": 0, "arrest": False, "discount": 1.0, "false_alarms": 0.0}
    unfined = replace(attacker, **free)  # type: ignore[arg-type]
    size = FIRST_PROBE
    while size <= most and sunk_plans(unfined, _one(attacker, size))[CLEAN, 0] > 0:
        size *= 2
    return min(size, most + 1)


def _one(attacker: Attacker, size: int) -> Alike:
    return Alike(np.array([size]), np.array([attacker.prior * attacker.confirmation]))


def accessed(attacker: Attacker, games: Games, stakes: Stakes | None = None) -> Floats:
    """(8, n_games) the optimal plan, worth less the price of linking and access; its discounted rows as of today."""
    plan = exploit(attacker, games, stakes)
    plan[[VALUE, GAIN_SLOPE, COST_SLOPE, FINE_SLOPE]] *= attacker.discount ** (1 + attacker.link_delay)
    plan[VALUE] -= attacker.discount * attacker.link_cost
    plan[VALUE] -= attacker.access_cost
    return plan


def sunk_plans(attacker: Attacker, games: Games, stakes: Stakes | None = None) -> Floats:
    """(8, n_games) the optimal plan with the data at hand: linking is paid for, or everything is 0."""
    return _linked(attacker, exploit(attacker, games, stakes), stakes)


def sunk_plans_by_cap(attacker: Attacker, games: Games, stakes: Stakes | None = None) -> Floats:
    """(max_fines + 1, 8, n_games) the same for every cap on fines from 0 to that of the attacker."""
    return np.stack([_linked(attacker, plan, stakes) for plan in exploit_by_cap(attacker, games, stakes)])


def _linked(attacker: Attacker, plan: Floats, stakes: Stakes | None) -> Floats:
    step = attacker.discount**attacker.link_delay
    plan[[VALUE, GAIN_SLOPE, COST_SLOPE, FINE_SLOPE]] *= step
    plan[VALUE] -= attacker.link_cost
    tried = plan[CLEAN] > 0
    gain = attacker.gain if stakes is None or stakes.gain is None else stakes.gain
    return np.where(tried & worthwhile(attacker, plan[VALUE], 0.0, gain), plan, 0.0)


def prices_of(attacker: Attacker, plan: Floats, expected: Floats) -> Prices:
    """Prices of plans with the data at hand, accessed where the payoff `expected` after access is worth the access."""
    payoff = attacker.discount * expected - attacker.access_cost
    access = ((expected > 0) | (plan[CLEAN] > 0)) & worthwhile(attacker, payoff, 0.0, attacker.gain)
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


def _slopes(attacker: Attacker, plan: Floats, access: NDArray[np.bool_]) -> dict[str, Floats]:
    gamma, linked = attacker.discount, plan[CLEAN] > 0
    slope = {
        "gain": gamma * plan[GAIN_SLOPE],
        "access_cost": -np.ones(plan.shape[1]),
        "link_cost": np.where(linked, -gamma, 0.0),
        "exploit_cost": -gamma * plan[COST_SLOPE],
        "fine": -gamma * plan[FINE_SLOPE],
    }
    return {name: np.where(access, value, 0.0) for name, value in slope.items()}


def _thresholds(plan: Floats, access: NDArray[np.bool_]) -> Thresholds:
    every = np.arange(plan.shape[1])

    def first(escapes: NDArray[np.bool_]) -> int | None:
        found = np.flatnonzero(escapes[1:])
        return int(found[0]) + 1 if len(found) else None

    return Thresholds(first(plan[CLEAN] < every), first(~access), first(plan[CLEAN] == 0))
