"""Campaigns as chains of groups, one after another, left early and taken up again, and the search of all orders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import permutations
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Floats
from unmask.economics.campaigns.bounds import CampaignPlan, Outcome
from unmask.economics.campaigns.targets import Targets
from unmask.economics.plans.plan import SUCCESS, TIE, TRIES, VALUE

if TYPE_CHECKING:
    from unmask.economics.campaigns._chains import Tape

MAX_STEPS: Final = 10**8
"""Largest number of tries times fines of all orders of a campaign together; seconds."""

STEP_COST: Final = 500
"""Cost of a further group next to its tries, in steps."""

SURE: Final = 1e-13
"""Share of the value: if fines of only this share are uncertain, the rest is as if no fine were left."""

MAX_PERMUTED: Final = 5
"""Largest number of targets of which every order is tried."""


class TooManyStepsError(UnmaskError):
    """A chain that would take too long."""


class Chain(NamedTuple):
    """A chain that was computed: its value, its steps, and the sizes of its tape, see `_chains.chain`."""

    value: float
    steps: float
    turns: int
    chances: int
    decisions: int


@dataclass(frozen=True, eq=False)
class ChainSearch:
    """Chains over the groups under a cap on fines, see `_chains.add_group`.

    cap    : fines in all; with an arrest 0, and a detection ends the campaign
    chains : chain of each order that was tried
    """

    targets: Targets
    cap: int
    chains: dict[tuple[int, ...], Chain] = field(default_factory=dict)

    def find_best_order(self, enough: float) -> tuple[int, ...]:
        """Return the best of several orders by value; stop at the first one that is worth `enough`.

        Smallest N = size / inside first; highest index first, the fine that just stops the attack on a group alone;
        all orders of a few targets.
        """
        for order in self._list_orders():
            if order not in self.chains:
                steps_left = MAX_STEPS - sum(chain.steps for chain in self.chains.values())
                self.chains[order] = self._fill(order, _make_tape(0, 0, 0), steps_left)
                self._check_steps(0.0)
            if self.chains[order].value >= enough:
                break
        return max(self.chains, key=lambda order: self.chains[order].value)

    def _list_orders(self) -> Iterator[tuple[int, ...]]:
        people = self.targets.size / self.targets.inside
        yield tuple(np.argsort(people, kind="stable").tolist())
        if len(self.targets) == 1:
            return
        index = np.array([float(f"{fine:.11e}") for fine in self.targets.stopping_fine])
        yield tuple(np.lexsort((people, -index)).tolist())
        if self.targets.count.sum() <= MAX_PERMUTED:
            groups = np.repeat(np.arange(len(self.targets)), self.targets.count).tolist()
            yield from dict.fromkeys(permutations(groups))

    def make_plan(self, order: tuple[int, ...], detection: Floats | None = None) -> CampaignPlan:
        """Return the plan of an order; raise TooManyStepsError if its outcome, two passes, would take too long.

        detection : the actual q_j, if the attacker believes otherwise
        """
        chain = self.chains[order]
        played = chain if detection is None else self._fill(order, _make_tape(0, 0, 0), MAX_STEPS, detection)
        self._check_steps(2 * played.steps)
        return CampaignPlan(chain.value, partial(self.play, order, played, detection))

    def play(self, order: tuple[int, ...], chain: Chain, detection: Floats | None = None) -> Outcome:
        """Return the outcome of the chain of an order."""
        from unmask.economics.campaigns._chains import forward

        targets, tries = self.targets, self.targets.try_list
        actual = tries.detection if detection is None else detection
        tape = _make_tape(chain.turns, chain.chances, chain.decisions)
        self._fill(order, tape, math.inf, detection)
        rules = self.cap, targets.attacker.arrest, detection is not None
        success, n_tries, fines = forward(tries, actual, self._unfined, *rules, tape)
        if targets.attacker.arrest and not targets.attacker.max_fines:
            fines = 0.0
        return Outcome(success / targets.count, n_tries, fines)

    @cached_property
    def _unfined(self) -> Floats:
        """Return (3, m) value, success and tries of each group without any fine."""
        return np.ascontiguousarray(self.targets.unfined[[VALUE, SUCCESS, TRIES]])

    def _fill(self, order: Sequence[int], tape: Tape, max_steps: float, actual: Floats | None = None) -> Chain:
        """Return the chain of an order; the tape is filled as far as it has room. Beyond `max_steps` it is given up."""
        from unmask.economics.campaigns._chains import chain

        targets, tries, attacker = self.targets, self.targets.try_list, self.targets.attacker
        is_single = len(order) == targets.count.sum()  # the order has each target for itself
        repeats = np.ones(len(order), dtype=np.int64) if is_single else targets.count[np.array(order)]
        entries = tries, tries.detection if actual is None else actual, self._unfined
        fine = attacker.fine if attacker.max_fines else 0.0
        money = np.array([attacker.gain, attacker.exploit_cost, fine, attacker.link_cost, TIE * attacker.gain])
        limits = np.array([max_steps, STEP_COST, SURE])
        index = targets.stopping_fine if not attacker.arrest else np.zeros(len(targets))
        rules = self.cap, attacker.arrest, actual is not None
        return Chain(*chain(np.array(order), repeats, *entries, index, money, limits, *rules, tape))

    def _check_steps(self, further: float) -> None:
        if sum(chain.steps for chain in self.chains.values()) + further > MAX_STEPS:
            raise TooManyStepsError(
                f"a campaign with capped fines needs more than {MAX_STEPS:.0e} steps for these groups: give max_tries, "
                "or fewer targets"
            )


def _make_tape(turns: int, chances: int, decisions: int) -> Tape:
    """Return room for so many turns, chances and decisions of a chain."""
    return np.zeros((turns, 6), dtype=np.int64), np.zeros(chances), np.zeros(decisions, dtype=np.bool_)


def count_states(targets: Targets, cap: int) -> float:
    """Return the number of states of the joint decision process."""
    levels = 1 if targets.attacker.arrest else cap + 1
    return math.exp(min(float(targets.count @ np.log(targets.tries + 1.0)), 700.0)) * levels


def solve_jointly(targets: Targets, cap: int, detection: Floats | None = None) -> CampaignPlan:
    """Return the best of all campaigns, with every interleaving, by one backward sweep over all states."""
    from unmask.economics.campaigns import _chains

    attacker, tries = targets.attacker, targets.try_list
    groups = np.repeat(np.arange(len(targets)), targets.count)
    hit, planned = np.zeros((len(groups), len(tries.detection))), np.tile(tries.detection, (len(groups), 1))
    for row, group in enumerate(groups.tolist()):
        entries = slice(tries.start[group], tries.start[group + 1] - 1)
        hit[row, : targets.tries[group]] = tries.hit[entries] / tries.large[entries]
    fine = attacker.fine if attacker.max_fines else 0.0
    money = np.array([attacker.gain, attacker.exploit_cost, fine, TIE * attacker.gain])
    link = np.full(len(groups), attacker.link_cost)
    actual = tries.detection if detection is None else detection
    table = hit, planned, actual, money, link
    value, chances, n_tries, fines = _chains.search_jointly(targets.tries[groups], *table, cap, attacker.arrest)
    success = np.bincount(groups, weights=chances, minlength=len(targets)) / targets.count
    return CampaignPlan(value, lambda: Outcome(success, n_tries, fines if attacker.max_fines else 0.0))
