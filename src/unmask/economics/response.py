"""How one kind of attacker answers a release: their best campaign, or bounds where that is not known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from unmask.economics.arms import Arms
from unmask.economics.attacker import Attacker
from unmask.economics.campaign import Campaign, campaigner, left, played, solved
from unmask.economics.chain import Plan
from unmask.economics.exploitation import SUCCESS, TIE, TRIES, VALUE, Floats
from unmask.economics.groups import Who

STEPS: Final = (1e-3, 1e-2, 0.1, 0.3)
"""Shares of an amount by which it is moved to bound the slope of a campaign's worth in it."""

ALIKE: Final = 1e-9
"""Two plans whose numbers differ by a smaller share are the same."""


class Bounds(NamedTuple):
    """What a number is at least and at most; both are the number itself where it is known."""

    low: float
    high: float


NOTHING: Final = Bounds(0.0, 0.0)


@dataclass(frozen=True)
class Response:
    """How an attacker of a kind answers a move.

    attacks : whether a campaign pays; None where the bounds on its payoff leave that open
    payoff  : what they expect to be left with, at least 0
    re_identified : people whom they re-identify, as in `Raid`
    fines   : that they pay. Fines of which the publisher gets nothing are not worked out: from 0 to the
              cap
    reached : as in `Raid`
    All are 0 where they stay away, and from 0 on where that is open.
    """

    attacks: bool | None
    payoff: Bounds
    re_identified: Bounds
    fines: Bounds
    reached: Bounds


@dataclass(frozen=True, eq=False)
class Raid:
    """The best campaign of an attacker against a release whose outside data are paid for, whatever these cost.

    attacker : as given, but with nothing to pay for access, no discount, and ties left alone
    who      : the targets, see `campaign`; people: how many each of them stands for
    at_least : a number of people, of whom `reached` says how likely they are
    actual   : the attacker as they are detected, where they believe otherwise: they plan with what they believe, and
               `worth` is what they believe; `re_identified`, `fines` and `reached` are what comes of the plan

    >>> from unmask.economics import read_attacker
    >>> case = replace(read_attacker("case-study"), detection_growth=0.0)
    >>> found = Raid.of(case, [10] * 100, at_least=63)
    >>> round(found.worth.low), round(found.re_identified.low, 6), round(found.reached.low, 3)
    (486843, 63.0, 0.545)
    """

    attacker: Attacker
    who: Who
    people: ArrayLike | None = None
    at_least: int | None = None
    actual: Attacker | None = None

    @classmethod
    def of(
        cls,
        attacker: Attacker,
        who: Who,
        *,
        people: ArrayLike | None = None,
        at_least: int | None = None,
        actual: Attacker | None = None,
    ) -> Self:
        """The campaign of an attacker who has the outside data."""
        return cls(replace(campaigner(attacker), access_cost=0.0), who, people, at_least, actual)

    @cached_property
    def worth(self) -> Bounds:
        """Y, what the campaign pays."""
        return Bounds(*left(self._arms, *self._solved))

    @cached_property
    def re_identified(self) -> Bounds:
        """N, the people whom it re-identifies in expectation.

        Exact where the bounds of `campaign` meet. Else, since Y is convex and piecewise linear in the gain G with the
        slope N, between (L(G) - U(G - e)) / e and (U(G + e) - L(G)) / e for every e > 0, between L / G and all; from
        nobody to all where detection is not as they believe, too. An e that moves the worth by less than L and U differ
        tells nothing.
        """
        if self._found.exact:
            named = float(self._found.success_probability @ self._count)
            return Bounds(named, named)
        if self.actual is not None:
            return Bounds(0.0, float(self._found.most_success @ self._count))
        gain, worth = self.attacker.gain, self.worth
        low, high = worth.low / gain, float(self._found.most_success @ self._count)
        for step in (share * gain for share in STEPS if share * gain * high >= worth.high - worth.low):
            less, more = (self.with_gain(gain + by).worth for by in (-step, step))
            low, high = max(low, (worth.low - less.high) / step), min(high, (more.high - worth.low) / step)
        return Bounds(low, max(low, high))

    @cached_property
    def fines(self) -> Bounds:
        """D, the fines it pays in expectation: as the people, by slopes of -Y in the fine; at most the cap."""
        if self._found.exact:
            return Bounds(self._found.expected_fines, self._found.expected_fines)
        if self.actual is not None:
            return Bounds(0.0, float(self.attacker.max_fines))
        fine, worth = self.attacker.fine, self.worth
        low, high = 0.0, float(self.attacker.max_fines)
        for step in (share * fine for share in STEPS):
            less, more = (self._worth_at(fine + by) for by in (-step, step))
            low, high = max(low, (worth.low - more) / step), min(high, (less - worth.low) / step)
        return Bounds(low, max(low, high))

    @cached_property
    def reached(self) -> Bounds:
        """Probability that it re-identifies `at_least` people; 0 where nobody asks.

        That of a sum of independent trials where the plan tries all that it would try without fines. Else bounded by N
        (Markov's inequality, and its reverse for a number that cannot exceed all who may be re-identified), and by that
        sum: no best plan tries more, so whoever it re-identifies is re-identified where all is tried.
        """
        named = self.re_identified
        if self.at_least is None or not named.high:
            return NOTHING
        free, count = self._arms.free, self._arms.count
        most = int(count @ (free[VALUE] > 0))
        if most < self.at_least:
            return NOTHING
        everything = float(count @ free[TRIES]), float(count @ free[SUCCESS])
        if self._found.exact and np.allclose((self._found.expected_tries, named.low), everything, rtol=ALIKE, atol=0):
            chance = _at_least(free[SUCCESS], count, self.at_least)
            return Bounds(chance, chance)
        low, high = _chance_of(self.at_least, named, most)
        high = min(high, _at_least(self._arms.inside, count, self.at_least))
        return Bounds(min(low, high), high)

    def pays(self, price: float) -> bool | None:
        """Whether it is worth a price of access; None where its bounds leave that open."""
        tie = TIE * self.attacker.gain
        if self.worth.low - price > tie:
            return True
        return None if self.worth.high - price > tie else False

    @cached_property
    def _arms(self) -> Arms:
        return Arms.of(self.attacker, self.who, self.people)

    @cached_property
    def _solved(self) -> tuple[Plan, float]:
        return solved(self._arms, self.actual)

    @cached_property
    def _found(self) -> Campaign:
        return played(self._arms, *self._solved)

    def _worth_at(self, fine: float) -> float:
        """What no campaign exceeds at another fine."""
        arms = self._arms.facing(fine=fine)
        return left(arms, *solved(arms))[1]

    @property
    def _count(self) -> Floats:
        """(n_targets,) how many people each target stands for."""
        return np.broadcast_to(np.asarray(1.0 if self.people is None else self.people), self._arms.of_target.shape)

    def with_gain(self, gain: float) -> Raid:
        """The campaign of somebody who gains another amount."""
        return replace(self, attacker=replace(self.attacker, gain=gain))


def _chance_of(at_least: int | None, named: Bounds, most: int) -> Bounds:
    """Bounds on the probability of at least so many people of `most`, by their mean; 0 where nobody asks.

    Markov's inequality, and its reverse for a number that cannot exceed `most`.
    """
    if at_least is None or most < at_least:
        return NOTHING
    low = (named.low - (at_least - 1)) / (most - at_least + 1)
    return Bounds(max(low, 0.0), min(named.high / at_least, 1.0))


def _at_least(chance: Floats, count: NDArray[np.int64], h: int) -> float:
    """P(at least h of independent trials succeed), `count` trials of each `chance`."""
    below = np.zeros(h)
    below[0] = 1.0
    for p, n in zip(np.minimum(chance, 1.0).tolist(), count.tolist(), strict=True):
        below = scipy.signal.convolve(below, scipy.stats.binom.pmf(np.arange(min(h, n + 1)), n, p))[:h]
    return float(np.clip(1.0 - below.sum(), 0.0, 1.0))
