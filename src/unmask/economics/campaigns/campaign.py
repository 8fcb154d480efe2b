"""Campaigns against many targets: the outside data are paid for once, and fines may be capped for all together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker, Floats
from unmask.economics.campaigns.bounds import (
    CampaignPlan,
    Outcome,
    bound_by_convolution,
    bound_by_exponential,
    bound_by_residual,
    change_attacker,
    expect_all_fines,
    is_listable,
    plan_all_tries,
    solve_false_alarms,
    solve_learning,
)
from unmask.economics.campaigns.chain_search import ChainSearch, TooManyStepsError, count_states, solve_jointly
from unmask.economics.campaigns.targets import Targets
from unmask.economics.plans.groups import TargetInput
from unmask.economics.plans.plan import CLEAN, FINES, SUCCESS, TIE, TRIES, VALUE

DETECTION: Final = ("detection", "detection_base", "detection_growth", "audit_rate", "audit_every")
"""Parameters of the probability that a try is detected."""

ROUNDING: Final = 1e-12
"""Share of the value without fines by which two equal bounds may differ."""

EXACT_STATES: Final = 2 * 10**6
"""Largest number of states of the search of all interleavings."""


@dataclass(frozen=True, eq=False)
class Campaign:
    """One attack on many targets: the best plan that was found, and an upper bound on all plans.

    Parameters
    ----------
    access : bool
        True if the plan is worth the outside data.
    payoff : float
        Expected payoff of the plan, at least 0: a lower bound on the best campaign's.
    upper : float
        Upper bound on the payoff of every campaign; 0 if surely none pays.
    success_probability : (n,) array
        Probability that the plan re-identifies each target.
    most_success : (n,) array
        Upper bound on that probability under every best campaign.
    expected_tries : float
        Expected exploits in all.
    expected_fines : float
        Expected fines in all.
    """

    access: bool
    payoff: float
    upper: float
    success_probability: Floats
    most_success: Floats
    expected_tries: float
    expected_fines: float

    @property
    def exact(self) -> bool:
        """Return True if the bounds meet: no campaign pays more than this plan."""
        return self.upper == self.payoff


def campaign(attacker: Attacker, targets: TargetInput, *, people: ArrayLike | None = None) -> Campaign:
    """Compute the attack on all targets together: access is paid once, fines are capped for all, an arrest ends all.

    With uncapped fines the targets are separate once access is paid, and the result is exact. With capped fines, the
    number of fines paid joins the targets: it can pay to leave a group, try another one and come back. Then there are
    two bounds:

    payoff : the best of several plans: the groups in some order, each left if that pays and taken up again once nothing
             more is fined; all interleavings if these are at most 2 million states
    upper  : the least of several relaxations (`bounds`)

    The bounds meet in nine of ten random games of few groups. They meet to rounding in releases of realistic size,
    unless the fine is about as high as the worth of all groups together. If a chain would take more than 1e8 steps,
    `payoff` is that of all tries that are worth it without fines. An arrest ends the campaign: `payoff` is then a chain
    without return, and `upper` the sum of the groups' worths alone. Targets are independent given the release.

    Parameters
    ----------
    attacker : Attacker
        The attacker, without a discount: the steps of a campaign have no common clock.
    targets : (n,) array_like of int or Posterior
        Group sizes, or a belief.
    people : (n,) array_like of int, optional
        Number of people behind each target; None for one each.

    Returns
    -------
    Campaign
        The best plan that was found, and the bound.

    Raises
    ------
    UnmaskError
        If the attacker has a discount below 1, or attacks on ties.

    Examples
    --------
    >>> from unmask.economics import read_attacker
    >>> case = replace(read_attacker("case-study"), detection_growth=0.0)
    >>> [campaign(case, [100] * n).access for n in (1, 2, 50)]
    [False, True, True]
    >>> result = campaign(case, [60] * 50)
    >>> round(result.payoff, 2), round(result.upper, 2), result.exact
    (221192.5, 221192.5, True)
    """
    if attacker.discount != 1:
        raise UnmaskError(f"the discount is {attacker.discount:g}, expected 1: a campaign has no common clock")
    if attacker.ties == "attack":
        raise UnmaskError('ties is "attack", and campaigns are computed for ties = "walk_away" only; leave ties out')
    return attack(Targets.of(attacker, targets, people))


def remove_discount(attacker: Attacker) -> Attacker:
    """Return the attacker who plans a campaign: no discount, and ties walk away."""
    return replace(attacker, discount=1.0, ties="walk_away")


def attack(targets: Targets, actual: Attacker | None = None) -> Campaign:
    """Return the campaign against these targets.

    actual : the attacker with the actual detection, if they believe otherwise. Payoffs are then those that they
             believe in; success, tries and fines are the outcome of their plan.
    """
    return to_campaign(targets, *solve(targets, actual))


def solve(targets: Targets, actual: Attacker | None = None) -> tuple[CampaignPlan, float]:
    """Return the best plan that is found, and an upper bound on all plans, access paid."""
    if targets.attacker.is_uncertain and actual is not None:
        raise UnmaskError("who learns detection, or may claim a wrong candidate, is not weighed with mistaken beliefs")
    if _are_separate(targets):
        return _solve_separate(targets, actual)
    if targets.attacker.learns:
        return solve_learning(targets, solve)
    return solve_false_alarms(targets, solve) if targets.attacker.is_uncertain else _solve_capped(targets, actual)


def bound_value(targets: Targets) -> float:
    """Return the upper bound of `solve` up to rounding, without a plan that would only show that it is attained."""
    attacker = targets.attacker
    has_few_states = not attacker.capped or count_states(targets, int(attacker.max_fines)) <= EXACT_STATES
    if has_few_states or attacker.arrest or attacker.is_uncertain or attacker.learns or _are_separate(targets):
        return solve(targets)[1]
    cap = int(attacker.max_fines)
    upper, is_attained = _bound_first(targets, cap)
    return upper if is_attained else min([upper, *(bound() for bound in _list_bounds(targets, cap))])


def bound_payoff(targets: Targets, plan: CampaignPlan, upper: float) -> tuple[float, float]:
    """Return the bounds on the payoff less the access; equal if the bounds meet, 0 if no campaign pays."""
    price, tie = targets.attacker.access_cost, TIE * targets.attacker.gain
    payoff = float(plan.value) - price if plan.value - price > tie else 0.0
    is_exact = upper - plan.value <= ROUNDING * targets.unfined_value
    return payoff, payoff if is_exact or upper - price <= tie else max(float(upper) - price, payoff)


def to_campaign(targets: Targets, plan: CampaignPlan, upper: float) -> Campaign:
    """Return the campaign of a plan."""
    payoff, limit = bound_payoff(targets, plan, upper)
    access = payoff > 0
    nothing = Outcome(np.zeros(len(targets)), 0.0, 0.0)
    outcome = plan.outcome if access else nothing
    inside = targets.inside if limit > 0 else nothing.success
    return Campaign(
        access=access,
        payoff=payoff,
        upper=limit,
        success_probability=_spread(targets, outcome.success),
        most_success=_spread(targets, outcome.success if limit == payoff else inside),
        expected_tries=float(outcome.tries),
        expected_fines=float(outcome.fines),
    )


def _spread(targets: Targets, value: Floats) -> Floats:
    """Return (n_targets,) a probability of each group, 0 for a target without a group."""
    padded = np.append(np.minimum(value, 1.0), 0.0)
    return np.asarray(padded[targets.group])


def _are_separate(targets: Targets) -> bool:
    """Return True if only access joins the targets: fines cannot run out, nothing is fined, or there is one target."""
    attacker = targets.attacker
    if attacker.arrest or attacker.learns or targets.count.sum() <= 1:
        return bool(targets.count.sum() <= 1)
    n_tries = float(targets.count @ targets.tries)
    return not (attacker.capped and attacker.fine > 0 and attacker.max_fines < n_tries)


def _solve_separate(targets: Targets, actual: Attacker | None) -> tuple[CampaignPlan, float]:
    attacker = targets.attacker
    plan = targets.solve_alone(attacker.max_fines, arrest=attacker.arrest)
    value, tries, fines = (float(targets.count @ plan[row]) for row in (VALUE, TRIES, FINES))
    if actual is None or not tries or not (attacker.arrest or attacker.max_fines):
        return CampaignPlan(value, lambda: Outcome(plan[SUCCESS], tries, fines)), value
    detection = actual.detection_at(int(targets.tries.max()))
    if attacker.arrest or (attacker.capped and attacker.max_fines < targets.tries.max()):  # one target alone
        search = ChainSearch(targets, 0 if attacker.arrest else int(attacker.max_fines))
        return search.make_plan(search.find_best_order(math.inf), detection), value
    entries = zip(targets.try_list.start, plan[CLEAN].astype(np.int64), strict=False)  # fines do not change the plan
    detected = np.array([targets.try_list.large[start : start + n] @ detection[:n] for start, n in entries])
    return CampaignPlan(value, lambda: Outcome(plan[SUCCESS], tries, float(targets.count @ detected))), value


def _solve_capped(targets: Targets, actual: Attacker | None = None) -> tuple[CampaignPlan, float]:
    """Return the best plan that is found and the least upper bound, searched until they meet."""
    attacker = targets.attacker
    cap = 0 if attacker.arrest else int(attacker.max_fines)
    detection = None if actual is None else actual.detection_at(int(targets.tries.max()))
    upper, is_attained = _bound_first(targets, cap)
    if is_attained:
        fines = (targets.unfined_value - upper) / attacker.fine
        if actual is not None:
            fines = expect_all_fines(_with_detection(targets, actual), cap)
        return plan_all_tries(targets, upper, fines), upper
    try:
        return _solve_chain(targets, cap, upper, detection)
    except TooManyStepsError:
        if attacker.arrest:
            raise
        return _plan_without_chain(targets, cap, actual), min(
            [upper, *(bound() for bound in _list_bounds(targets, cap))]
        )


def _plan_without_chain(targets: Targets, cap: int, actual: Attacker | None) -> CampaignPlan:
    """Return the plan of all tries that are worth it without fines, or of none."""
    fines = expect_all_fines(targets, cap)
    value = targets.unfined_value - targets.attacker.fine * fines
    if value <= 0:
        return CampaignPlan(0.0, lambda: Outcome(np.zeros(len(targets)), 0.0, 0.0))
    return plan_all_tries(
        targets, value, fines if actual is None else expect_all_fines(_with_detection(targets, actual), cap)
    )


def _solve_chain(targets: Targets, cap: int, upper: float, detection: Floats | None) -> tuple[CampaignPlan, float]:
    """Return the best chain that is found, and the least bound; raise TooManyStepsError if chains take too long."""
    gap = ROUNDING * targets.unfined_value
    search = ChainSearch(targets, cap)
    order = search.find_best_order(upper - gap)
    value = search.chains[order].value
    for bound in _list_bounds(targets, cap):
        if upper - value <= gap:
            break
        upper = min(upper, bound())
    if upper - value > gap and count_states(targets, cap) <= EXACT_STATES:
        plan = solve_jointly(targets, cap, detection)
        return plan, plan.value
    return search.make_plan(order, detection), max(upper, value)


def _with_detection(targets: Targets, actual: Attacker) -> Targets:
    """Return the targets of an attacker with the detection of another."""
    return change_attacker(targets, **{name: getattr(actual, name) for name in DETECTION})


def _bound_first(targets: Targets, cap: int) -> tuple[float, bool]:
    """Return U1 and True if it is attained; with an arrest the sum of the groups' worths alone."""
    if not targets.attacker.arrest:
        return bound_by_convolution(targets, cap)
    plan = targets.solve_alone(targets.attacker.max_fines, arrest=True)
    return float(targets.count @ plan[VALUE]), False


def _list_bounds(targets: Targets, cap: int) -> Iterator[Callable[[], float]]:
    """Yield the bounds that cost little, and go through the tries."""
    if targets.attacker.arrest:
        if targets.attacker.max_fines and targets.attacker.fine > 0:
            yield lambda: _solve_capped(targets.with_attacker(arrest=False, max_fines=1))[1]
    elif is_listable(targets):
        yield partial(bound_by_residual, targets)
        yield partial(bound_by_exponential, targets, cap)
