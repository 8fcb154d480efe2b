"""Best responses: the campaign of one kind of attacker against a release, or bounds on it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from unmask.economics.attacker import Attacker, Floats
from unmask.economics.campaigns.bounds import ZERO, Bounds, CampaignPlan
from unmask.economics.campaigns.campaign import Campaign, bound_payoff, remove_discount, solve, to_campaign
from unmask.economics.campaigns.targets import Targets
from unmask.economics.plans.groups import TargetInput
from unmask.economics.plans.plan import SUCCESS, TIE, TRIES, VALUE

SLOPE_STEPS: Final = (1e-3, 1e-2, 0.1, 0.3)
"""Shares of an amount by which it is moved to bound the slope of a campaign's worth in it."""

EQUAL: Final = 1e-9
"""Relative difference below which two plans are the same."""


@dataclass(frozen=True)
class Response:
    """Response of one kind of attacker to a move; 0 without an attack, and from 0 on if it is open.

    Parameters
    ----------
    attacks : bool or None
        True if a campaign pays; None if the bounds on its payoff do not decide it.
    payoff : Bounds
        Expected payoff of the attacker, at least 0.
    re_identified : Bounds
        Expected number of re-identified people.
    fines : Bounds
        Expected number of fines. If the publisher receives no fines, they are not computed: from 0 to the cap.
    reached : Bounds
        Probability that at least `Publisher.threshold` people are re-identified.
    """

    attacks: bool | None
    payoff: Bounds
    re_identified: Bounds
    fines: Bounds
    reached: Bounds


@dataclass(frozen=True, eq=False)
class BestCampaign:
    """The best campaign of an attacker against a release, with the outside data at hand.

    Parameters
    ----------
    attacker : Attacker
        The attacker, without access cost and discount, who walks away on ties.
    targets : (n,) array_like of int or Posterior
        Group sizes, or a belief, see `campaign`.
    people : (n,) array_like of int, optional
        Number of people behind each target.
    at_least : int, optional
        Number of people of `reached`.
    actual : Attacker, optional
        The attacker with the actual detection, if the attacker believes otherwise: `worth` is then the attacker's
        expectation; `re_identified`, `fines` and `reached` are the outcome of the plan.
    at_another_fine : BestCampaign, optional
        The campaign of the same attacker at another fine, which shares the work without fines.

    Examples
    --------
    >>> from unmask.economics import read_attacker
    >>> case = replace(read_attacker("case-study"), detection_growth=0.0)
    >>> plan = BestCampaign.of(case, [10] * 100, at_least=63)
    >>> round(plan.worth.low), round(plan.re_identified.low, 6), round(plan.reached.low, 3)
    (486843, 63.0, 0.545)
    """

    attacker: Attacker
    targets: TargetInput
    people: ArrayLike | None = None
    at_least: int | None = None
    actual: Attacker | None = None
    at_another_fine: BestCampaign | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        attacker: Attacker,
        targets: TargetInput,
        *,
        people: ArrayLike | None = None,
        at_least: int | None = None,
        actual: Attacker | None = None,
    ) -> Self:
        """Return the campaign of an attacker who has the outside data."""
        return cls(replace(remove_discount(attacker), access_cost=0.0), targets, people, at_least, actual)

    @cached_property
    def worth(self) -> Bounds:
        """Return Y, the worth of the campaign."""
        return Bounds(*bound_payoff(self._groups, *self._plan))

    @cached_property
    def re_identified(self) -> Bounds:
        """Return N, the expected number of re-identified people.

        It is exact if the bounds of `campaign` meet. Otherwise Y is convex and piecewise linear in the gain G with the
        slope N. N is therefore between (L(G) - U(G - e)) / e and (U(G + e) - L(G)) / e for every e > 0, and between
        L / G and all people. With mistaken beliefs it is between 0 and all people. An e that moves the worth by less
        than the gap of L and U is of no use.
        """
        if self._campaign.exact:
            expected = float(self._campaign.success_probability @ self._people)
            return Bounds(expected, expected)
        if self.actual is not None:
            return Bounds(0.0, float(self._campaign.most_success @ self._people))
        gain, worth = self.attacker.gain, self.worth
        low, high = worth.low / gain, float(self._campaign.most_success @ self._people)
        for step in (share * gain for share in SLOPE_STEPS if share * gain * high >= worth.high - worth.low):
            attackers = (replace(self.attacker, gain=gain + change) for change in (-step, step))
            lower, higher = (replace(self, attacker=item, at_another_fine=None).worth for item in attackers)
            low, high = max(low, (worth.low - lower.high) / step), min(high, (higher.high - worth.low) / step)
        return Bounds(low, max(low, high))

    @cached_property
    def fines(self) -> Bounds:
        """Return D, the expected number of fines: as the people, by slopes of -Y in the fine; at most the cap."""
        if self._campaign.exact:
            return Bounds(self._campaign.expected_fines, self._campaign.expected_fines)
        if self.actual is not None:
            return Bounds(0.0, float(self.attacker.max_fines))
        fine, worth = self.attacker.fine, self.worth
        low, high = 0.0, float(self.attacker.max_fines)
        for step in (share * fine for share in SLOPE_STEPS):
            lower, higher = (self._bound_worth(fine + change) for change in (-step, step))
            low, high = max(low, (worth.low - higher) / step), min(high, (lower - worth.low) / step)
        return Bounds(low, max(low, high))

    @cached_property
    def reached(self) -> Bounds:
        """Return the probability that `at_least` people are re-identified; 0 without such a number.

        It is the tail of a sum of independent trials if the plan makes all tries that are worth it without fines.
        Otherwise it is bounded by N (Markov's inequality, and its reverse for a bounded number), and by that sum: no
        best plan tries more.
        """
        expected = self.re_identified
        if self.at_least is None or not expected.high:
            return ZERO
        unfined, count = self._groups.unfined, self._groups.count
        n_tried = int(count @ (unfined[VALUE] > 0))
        if n_tried < self.at_least:
            return ZERO
        all_tries = float(count @ unfined[TRIES]), float(count @ unfined[SUCCESS])
        plan = self._campaign.expected_tries, expected.low
        if self._campaign.exact and np.allclose(plan, all_tries, rtol=EQUAL, atol=0):
            chance = _compute_tail(unfined[SUCCESS], count, self.at_least)
            return Bounds(chance, chance)
        low = (expected.low - (self.at_least - 1)) / (n_tried - self.at_least + 1)
        high = min(expected.high / self.at_least, 1.0, _compute_tail(self._groups.inside, count, self.at_least))
        return Bounds(min(max(low, 0.0), high), high)

    def pays(self, price: float) -> bool | None:
        """Return True if the campaign is worth a price of access; None if its bounds do not decide it."""
        tie = TIE * self.attacker.gain
        if self.worth.low - price > tie:
            return True
        return None if self.worth.high - price > tie else False

    @cached_property
    def _groups(self) -> Targets:
        if self.at_another_fine is not None:
            return self.at_another_fine._groups.with_attacker(fine=self.attacker.fine)
        return Targets.of(self.attacker, self.targets, self.people)

    @cached_property
    def _plan(self) -> tuple[CampaignPlan, float]:
        return solve(self._groups, self.actual)

    @cached_property
    def _campaign(self) -> Campaign:
        return to_campaign(self._groups, *self._plan)

    def _bound_worth(self, fine: float) -> float:
        """Return an upper bound on the worth of every campaign at another fine."""
        groups = self._groups.with_attacker(fine=fine)
        return bound_payoff(groups, *solve(groups))[1]

    @property
    def _people(self) -> Floats:
        """Return (n_targets,) the number of people behind each target."""
        return np.broadcast_to(np.asarray(1.0 if self.people is None else self.people), self._groups.group.shape)


def _compute_tail(chance: Floats, count: NDArray[np.int64], h: int) -> float:
    """Return P(at least h of independent trials succeed), `count` trials of each `chance`."""
    lower = np.zeros(h)
    lower[0] = 1.0
    for p, n in zip(np.minimum(chance, 1.0).tolist(), count.tolist(), strict=True):
        lower = scipy.signal.convolve(lower, scipy.stats.binom.pmf(np.arange(min(h, n + 1)), n, p))[:h]
    return float(np.clip(1.0 - lower.sum(), 0.0, 1.0))
