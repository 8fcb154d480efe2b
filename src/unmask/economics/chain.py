"""Campaigns that are plans: arms one after another, left early and taken up again; all interleavings where few."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from unmask.economics.arms import Arms
from unmask.economics.breakeven import least
from unmask.economics.exploitation import SUCCESS, TIE, TRIES, VALUE, Floats
from unmask.errors import UnmaskError

MAX_STEPS: Final = 10**8
"""Tries times fines that a campaign may look at, all orders together; seconds."""

SEARCH_STEPS: Final = 10**6
"""Steps that the search for a better order may take."""

STEP_COST: Final = 500
"""What one more arm costs beside its tries, in steps."""

SURE: Final = 1e-13
"""Share of all fines: when so much of them is not yet certain, the rest is as if no fine were left."""

EXACT_STATES: Final = 2 * 10**6
"""States up to which all interleavings are gone through."""

ALL_ORDERS: Final = 5
"""Arms of which every order is tried."""


@dataclass(frozen=True, eq=False)
class Played:
    """One plan: its value after access, chance that each arm's target is re-identified, and totals to expect."""

    value: float
    success: Floats
    tries: float
    fines: float


@dataclass(frozen=True, eq=False)
class Turn:
    """An arm's turn in a chain, or those of several equal arms that are only tried where no fine is left.

    behind : (n + 1,) R(p) of the arms behind, chance that all fines are paid there; with `goes` None, chance that the
             arms are tried as if without fines
    goes   : (n_tries, n + 1) where the arm is tried on
    """

    arm: int
    times: int
    behind: Floats
    goes: NDArray[np.bool_] | None = None


@dataclass
class Chains:
    """Chains over the arms under a cap, and the steps that they took; see `_kernels.chained`.

    cap   : fines in all; with an arrest 0, and a detection ends the campaign
    found : value of each order tried
    """

    arms: Arms
    cap: int
    steps: float = 0.0
    found: dict[tuple[int, ...], float] = field(default_factory=dict)

    def best(self, enough: float) -> tuple[int, ...]:
        """The best of several orders by value, until one is worth `enough`.

        Smallest N = size / inside first; highest index first, the fine that just stops the attack on an arm alone; all
        orders where arms are few.
        """
        for order in self._orders():
            if order not in self.found:
                self.found[order] = self.value(order)
            if self.found[order] >= enough:
                break
        return max(self.found, key=lambda order: self.found[order])

    def exchanged(self, order: tuple[int, ...], enough: float) -> tuple[int, ...]:
        """Two neighbors exchanged where that is better, until nothing improves or the search has cost enough."""
        improves = self.arms.count.sum() > ALL_ORDERS
        while improves and self.found[order] < enough:
            improves = False
            for i in range(len(order) - 1):
                other = (*order[:i], order[i + 1], order[i], *order[i + 2 :])
                if other not in self.found and self.steps < SEARCH_STEPS:
                    self.found[other] = self.value(other)
                    if self.found[other] > self.found[order] * (1 + 1e-12):
                        order, improves = other, True
        return order

    def value(self, order: Sequence[int]) -> float:
        """Value of the chain over the arms in this order."""
        return self._backward(order, keep=False)[0]

    def _orders(self) -> Iterator[tuple[int, ...]]:
        people = self.arms.size / self.arms.inside
        yield tuple(np.argsort(people, kind="stable").tolist())
        if len(self.arms) == 1:
            return
        rounded = np.array([float(f"{value:.11e}") for value in self._index])
        yield tuple(np.lexsort((people, -rounded)).tolist())
        if self.arms.count.sum() <= ALL_ORDERS:
            each = np.repeat(np.arange(len(self.arms)), self.arms.count).tolist()
            yield from dict.fromkeys(permutations(each))

    @cached_property
    def _index(self) -> Floats:
        """(m,) the fine that just stops the attack on an arm alone with a cap of 1; inf where none does."""
        alone = replace(self.arms.attacker, access_cost=0.0, max_fines=1, arrest=False)
        return np.concatenate([least(alone, games, "fine") for games in self.arms.parts])

    def _turns(self, order: Sequence[int]) -> list[tuple[int, int]]:
        """(arm, how many in a row): all of a kind together, unless the order has each arm for itself."""
        each = len(order) == self.arms.count.sum()
        return [(arm, 1 if each else int(self.arms.count[arm])) for arm in order]

    def _spend(self, steps: float) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise UnmaskError(
                f"a campaign with capped fines needs more than {MAX_STEPS:.0e} steps for these groups: give max_tries, "
                "or fewer targets"
            )

    def _backward(self, order: Sequence[int], *, keep: bool) -> tuple[float, list[Turn]]:
        """Value, and what is done from the front; equal arms that are not gone through one by one are one turn.

        Nothing is tried before C_p - V(n) of the arms behind is below the arm's index; and when all fines are as good
        as paid, what is before is as if no fine were left.
        """
        from unmask.economics._kernels import chained

        attacker, arrest = self.arms.attacker, self.arms.attacker.arrest
        fine = attacker.fine if attacker.max_fines else 0.0
        money = np.array([attacker.gain, attacker.exploit_cost, fine, attacker.link_cost, TIE * attacker.gain])
        worth, pays = np.zeros(self.cap + 1), np.zeros(self.cap + 1)
        pays[-1] = 0.0 if arrest else 1.0
        most, behind, sure, done = self.cap * fine, 0.0, False, list[Turn]()
        for arm, times in reversed(self._turns(order)):
            self._spend(STEP_COST)
            free, left = float(self.arms.free[VALUE, arm]), times
            while left:
                skipped = 0 if arrest else self._skipped(arm, left, worth, pays)
                sure = sure or (not arrest and most - (behind - worth[0]) <= SURE * most + np.spacing(behind))
                if sure:
                    done.append(Turn(arm, left, np.ones(self.cap + 1)))
                    worth, behind, left = worth + left * free, behind + left * free, 0
                elif skipped:
                    done.append(Turn(arm, skipped, pays.copy()))
                    worth[-1] += skipped * free
                    behind, left = behind + skipped * free, left - skipped
                else:
                    self._spend(float(self.arms.tries[arm]) * len(worth) + STEP_COST)
                    one, goes = self.arms.listed[arm], np.zeros((int(self.arms.tries[arm]), len(worth)), dtype=bool)
                    turn = Turn(arm, 1, pays.copy(), goes)
                    chained(one.hit, one.large, one.caught, one.free, money, worth, pays, arrest, goes)
                    behind, left = behind + free, left - 1
                    if keep:
                        done.append(turn)
                    if arrest and not goes[0, 0]:  # so are all others of its kind
                        left = 0
        return float(worth[0]), done[::-1]

    def _skipped(self, arm: int, left: int, worth: Floats, pays: Floats) -> int:
        """How many arms of a kind are not tried while fines are left, if nothing behind them is."""
        room = self.arms.attacker.fine - float(worth[-1]) - float(self._index[arm])
        if left == 1 or pays[:-1].any() or worth[:-1].any() or not room >= 0:
            return 0
        return min(left, int(room / float(self.arms.free[VALUE, arm])) + 1)

    def played(self, order: Sequence[int]) -> Played:
        """What happens if the arms are attacked in this order."""
        from unmask.economics._kernels import played

        arrest = self.arms.attacker.arrest
        value, turns = self._backward(order, keep=True)
        success, tries, fines = np.zeros(len(self.arms)), 0.0, 0.0
        level = np.zeros(self.cap + 1)
        level[0] = 1.0
        for turn in turns:
            arm, goes = turn.arm, turn.goes
            if goes is None:
                free = float(level @ turn.behind)
                success[arm] += turn.times * free * self.arms.free[SUCCESS, arm]
                tries += turn.times * free * float(self.arms.free[TRIES, arm])
                continue
            one = self.arms.listed[arm]
            found = played(one.hit, one.large, one.caught, one.named, one.tried, turn.behind, arrest, goes, level)
            success[arm] += found[0]
            tries, fines = tries + found[1], fines + found[2]
        if arrest and not self.arms.attacker.max_fines:
            fines = 0.0
        return Played(value, success / self.arms.count, tries, fines)


def states(arms: Arms, cap: int) -> float:
    """States of the joint decision process."""
    levels = 1 if arms.attacker.arrest else cap + 1
    return math.exp(min(float(arms.count @ np.log(arms.tries + 1.0)), 700.0)) * levels


def jointly(arms: Arms, cap: int) -> Played:
    """The best of all campaigns, every interleaving: one backward sweep over all states."""
    from unmask.economics import _kernels

    attacker = arms.attacker
    each = np.repeat(np.arange(len(arms)), arms.count)
    width = int(arms.tries.max())
    hit, caught = np.zeros((len(each), width)), np.zeros((len(each), width))
    for row, arm in enumerate(each.tolist()):
        one = arms.listed[arm]
        hit[row, : len(one.hit)] = one.hit / one.large[:-1]
        caught[row, : len(one.hit)] = one.caught
    fine = attacker.fine if attacker.max_fines else 0.0
    money = np.array([attacker.gain, attacker.exploit_cost, fine, TIE * attacker.gain])
    link = np.full(len(each), attacker.link_cost)
    value, named, tries, fines = _kernels.jointly(arms.tries[each], hit, caught, money, link, cap, attacker.arrest)
    success = np.bincount(each, weights=named, minlength=len(arms)) / arms.count
    return Played(value, success, tries, fines if attacker.max_fines else 0.0)
