"""Campaigns that are plans: arms one after another, left early and taken up again; all interleavings where few."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import permutations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.economics.arms import Arms
from unmask.economics.breakeven import least
from unmask.economics.exploitation import SUCCESS, TIE, TRIES, VALUE, Floats

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


class TooManyStepsError(UnmaskError):
    """A chain that would take longer than is waited for."""


Tape = tuple[NDArray[np.int64], Floats, NDArray[np.bool_]]
"""The turns of a chain, see `_chains.chain`."""


@dataclass(frozen=True, eq=False)
class Played:
    """One plan: its value after access, chance that each arm's target is re-identified, and totals to expect."""

    value: float
    success: Floats
    tries: float
    fines: float


@dataclass(frozen=True, eq=False)
class Late:
    """A plan whose value is known, and which is played once somebody asks what it does."""

    value: float
    play: Callable[[], Played]

    @cached_property
    def _played(self) -> Played:
        return self.play()

    @property
    def success(self) -> Floats:
        """As in `Played`."""
        return self._played.success

    @property
    def tries(self) -> float:
        """As in `Played`."""
        return self._played.tries

    @property
    def fines(self) -> float:
        """As in `Played`."""
        return self._played.fines


Plan = Played | Late


@dataclass
class Chains:
    """Chains over the arms under a cap, and the steps that they took; see `_chains.chained`.

    cap   : fines in all; with an arrest 0, and a detection ends the campaign
    found : value of each order tried
    taken : steps of each
    """

    arms: Arms
    cap: int
    steps: float = 0.0
    found: dict[tuple[int, ...], float] = field(default_factory=dict)
    taken: dict[tuple[int, ...], float] = field(default_factory=dict)

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
        before = self.steps
        value = self._filled(order, self._tape(0, 0))[0]
        self.taken[tuple(order)] = self.steps - before
        return value

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

    def late(self, order: tuple[int, ...], actual: Floats | None = None) -> Late:
        """The chain over the arms in an order whose value was looked at; TooManyStepsError where to play it, which goes
        through it twice, would take too long.
        """
        self._add(2 * self.taken[order])
        return Late(self.found[order], partial(replace(self, steps=0.0).played, order, actual))

    def played(self, order: Sequence[int], actual: Floats | None = None) -> Played:
        """What happens if the arms are attacked in this order; actual: q_j as it is, if not as planned with."""
        from unmask.economics._chains import caught_otherwise, forward

        _, turns, rows = self._filled(order, self._tape(0, 0))
        tape = self._tape(turns, rows)
        value, one = self._filled(order, tape)[0], self.arms.listed
        tries = one.start, one.hit, one.large, one.caught if actual is None else actual
        if actual is not None:
            caught_otherwise(*tries, self.arms.attacker.arrest, tape)
        free = one.named, one.tried, self._alone
        success, made, fines = forward(*tries, *free, self.arms.attacker.arrest, actual is not None, tape)
        if self.arms.attacker.arrest and not self.arms.attacker.max_fines:
            fines = 0.0
        return Played(value, success / self.arms.count, made, fines)

    @cached_property
    def _alone(self) -> Floats:
        """(3, m) value, success and tries of each arm without any fine."""
        return np.ascontiguousarray(self.arms.free[[VALUE, SUCCESS, TRIES]])

    def _tape(self, turns: int, rows: int) -> Tape:
        """Room for so many turns and tries of a chain."""
        levels = self.cap + 1
        return np.zeros((turns, 3), dtype=np.int64), np.zeros((turns, levels)), np.zeros((rows, levels), dtype=np.bool_)

    def _filled(self, order: Sequence[int], tape: Tape) -> tuple[float, int, int]:
        """Value of a chain, its turns and its tries; the tape is filled as far as it has room."""
        from unmask.economics._chains import chain

        attacker, one = self.arms.attacker, self.arms.listed
        arms = one.start, one.hit, one.large, one.caught, one.free, self._alone
        fine = attacker.fine if attacker.max_fines else 0.0
        money = np.array([attacker.gain, attacker.exploit_cost, fine, attacker.link_cost, TIE * attacker.gain])
        most = np.array([MAX_STEPS - self.steps, STEP_COST, SURE])
        index = self._index if not attacker.arrest else np.zeros(len(self.arms))
        value, steps, turns, rows = chain(
            np.array(order), self._times(order), *arms, index, money, most, self.cap, attacker.arrest, tape
        )
        self._add(steps)
        return value, turns, rows

    def _add(self, steps: float) -> None:
        """Count steps; TooManyStepsError beyond those that are waited for."""
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise TooManyStepsError(
                f"a campaign with capped fines needs more than {MAX_STEPS:.0e} steps for these groups: give max_tries, "
                "or fewer targets"
            )

    def _times(self, order: Sequence[int]) -> NDArray[np.int64]:
        """How many of each arm are in a row: all of a kind, unless the order has each for itself."""
        each = len(order) == self.arms.count.sum()
        return np.ones(len(order), dtype=np.int64) if each else self.arms.count[np.array(order)]


def states(arms: Arms, cap: int) -> float:
    """States of the joint decision process."""
    levels = 1 if arms.attacker.arrest else cap + 1
    return math.exp(min(float(arms.count @ np.log(arms.tries + 1.0)), 700.0)) * levels


def jointly(arms: Arms, cap: int, actual: Floats | None = None) -> Played:
    """The best of all campaigns, every interleaving: one backward sweep over all states; actual as in `Chains`."""
    from unmask.economics import _chains

    attacker = arms.attacker
    each, one = np.repeat(np.arange(len(arms)), arms.count), arms.listed
    hit, caught = np.zeros((len(each), len(one.caught))), np.tile(one.caught, (len(each), 1))
    for row, arm in enumerate(each.tolist()):
        its = slice(one.start[arm], one.start[arm + 1] - 1)
        hit[row, : arms.tries[arm]] = one.hit[its] / one.large[its]
    fine = attacker.fine if attacker.max_fines else 0.0
    money = np.array([attacker.gain, attacker.exploit_cost, fine, TIE * attacker.gain])
    link = np.full(len(each), attacker.link_cost)
    detected = one.caught if actual is None else actual
    table = hit, caught, detected, money, link
    value, named, tries, fines = _chains.jointly(arms.tries[each], *table, cap, attacker.arrest)
    success = np.bincount(each, weights=named, minlength=len(arms)) / arms.count
    return Played(value, success, tries, fines if attacker.max_fines else 0.0)
