"""Many targets at once: the outside data are paid for once, and fines may be capped for the whole campaign."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.economics import bounds, doubt
from unmask.economics.arms import Arms
from unmask.economics.attacker import Attacker
from unmask.economics.chain import EXACT_STATES, Chains, Plan, Played, TooManyStepsError, jointly, states
from unmask.economics.exploitation import CLEAN, FINES, SUCCESS, TIE, TRIES, VALUE, Floats
from unmask.economics.groups import Who, candidates_tried, chance_inside

DETECTION = ("detection", "detection_base", "detection_growth", "audit_rate", "audit_every")
"""Parameters by which tries are detected."""

ROUNDING = 1e-12
"""Share of the value without fines by which two bounds that meet may differ."""


@dataclass(frozen=True, eq=False)
class Campaign:
    """One attack on many targets: the best plan found, and what no plan can exceed.

    access              : whether that plan is worth the outside data
    payoff              : its expected payoff, at least 0: a lower bound on the best campaign's
    upper               : no campaign pays more; 0 where it is certain that none pays
    success_probability : (n,) chance that the plan re-identifies each target
    most_success        : (n,) no best campaign re-identifies a target with a higher chance
    expected_tries      : exploits to expect in all
    expected_fines      : fines to expect in all
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
        """Whether the bounds meet: no campaign pays more than this plan."""
        return self.upper == self.payoff


def campaign(attacker: Attacker, who: Who, *, people: ArrayLike | None = None) -> Campaign:
    """The attack on all targets together: access is paid once, `max_fines` and an arrest hold for the whole campaign.

    people : how many people each target stands for, whole numbers; None for one each

    Uncapped fines: once access is paid the targets are separate, and what is worth trying is tried; exact. Capped
    fines: a bandit whose clock is the fines, for which no index is optimal; leaving a group, trying another one and
    coming back can pay. So two bounds:

    payoff : the best of several plans (`chain`): the groups in some order, each left where that pays and taken up again
             once nothing more is fined; all interleavings where these are at most 2 million states
    upper  : the least of several relaxations (`bounds`)

    Where a chain would take more than 1e8 steps, `payoff` is that of trying all that is worth it without fines.

    They meet in nine of ten random games of few groups and, to rounding, in releases of realistic size, unless the fine
    is about as high as all groups together are worth. An arrest is a fine after which nothing follows; `payoff` is then
    a chain without return, `upper` the sum of what groups are worth alone. Targets are taken as independent given the
    release. Nothing is discounted, since the steps have no common clock; UnmaskError for a discount below 1.

    >>> from unmask.economics import read_attacker
    >>> case = replace(read_attacker("case-study"), detection_growth=0.0)
    >>> [campaign(case, [100] * n).access for n in (1, 2, 50)]
    [False, True, True]
    >>> found = campaign(case, [60] * 50)
    >>> round(found.payoff, 2), round(found.upper, 2), found.exact
    (221192.5, 221192.5, True)
    """
    if attacker.discount != 1:
        raise UnmaskError(f"the discount is {attacker.discount:g}, expected 1: a campaign has no common clock")
    if attacker.ties == "attack":
        raise UnmaskError('ties is "attack", and campaigns are computed for ties = "walk_away" only; leave ties out')
    return attack(Arms.of(attacker, who, people))


def campaigner(attacker: Attacker) -> Attacker:
    """The attacker who plans a campaign: nothing is discounted, and what is worth nothing is left alone."""
    return replace(attacker, discount=1.0, ties="walk_away")


def stand_for(belief: Posterior, people: float | None) -> Floats | None:
    """(n_targets,) how many people each target of a belief stands for, `people` in all: whole numbers in proportion to
    the weights, within one of it. None for one each.

    So are those of all targets together who have as many candidates and are as likely among them, whatever the order of
    the targets: of a thousand who stand for half a person each, five hundred count.
    """
    if people is None:
        return None
    row = belief.observation
    alike = np.lexsort((row, chance_inside(belief)[row], candidates_tried(belief)[row]))
    found = np.empty(len(row))
    found[alike] = np.diff(np.rint(np.cumsum(belief.weight[alike]) * people), prepend=0.0)
    return found


def attack(arms: Arms, actual: Attacker | None = None) -> Campaign:
    """The campaign against these arms. actual: the attacker as they are detected, where they believe otherwise; payoffs
    are then what they believe, and success, tries and fines what comes of that plan.
    """
    return played(arms, *solved(arms, actual))


def solved(arms: Arms, actual: Attacker | None = None) -> tuple[Plan, float]:
    """The best plan found, and what no plan exceeds, access paid."""
    if arms.attacker.in_doubt and actual is not None:
        raise UnmaskError("who learns detection, or may claim a wrong candidate, is not weighed with mistaken beliefs")
    return _best(arms, actual)


def left(arms: Arms, plan: Plan, upper: float) -> tuple[float, float]:
    """What the best campaign is left with at least and at most; the same where the bounds meet, 0 where none pays."""
    price, tie = arms.attacker.access_cost, TIE * arms.attacker.gain
    payoff = float(plan.value) - price if plan.value - price > tie else 0.0
    exact = upper - plan.value <= ROUNDING * float(arms.count @ arms.free[VALUE])
    return payoff, payoff if exact or upper - price <= tie else max(float(upper) - price, payoff)


def played(arms: Arms, plan: Plan, upper: float) -> Campaign:
    """What comes of a plan."""
    payoff, most = left(arms, plan, upper)
    access, possible = payoff > 0, most > 0
    success = plan.success if access else np.zeros(len(arms))
    inside = arms.inside if possible else np.zeros(len(arms))
    return Campaign(
        access=access,
        payoff=payoff,
        upper=most,
        success_probability=_of_targets(arms, success),
        most_success=_of_targets(arms, success if most == payoff else inside),
        expected_tries=float(plan.tries) if access else 0.0,
        expected_fines=float(plan.fines) if access else 0.0,
    )


def _best(arms: Arms, actual: Attacker | None = None) -> tuple[Plan, float]:
    """As in `solved`."""
    if _is_separate(arms):
        return _separate(arms, actual)
    if arms.attacker.learns:
        return doubt.learned(arms, _best)
    return doubt.alarmed(arms, _best) if arms.attacker.in_doubt else _together(arms, actual)


def _of_targets(arms: Arms, value: Floats) -> Floats:
    """(n_targets,) a value of each arm, 0 where a target is in none."""
    padded = np.append(np.minimum(value, 1.0), 0.0)
    return np.asarray(padded[arms.of_target])


def _is_separate(arms: Arms) -> bool:
    """Whether nothing but access joins the targets: fines that cannot run out, or none; or one target alone."""
    attacker = arms.attacker
    if attacker.arrest or attacker.learns or arms.count.sum() <= 1:
        return bool(arms.count.sum() <= 1)
    return not (attacker.capped and attacker.fine > 0 and attacker.max_fines < float(arms.count @ arms.tries))


def _separate(arms: Arms, actual: Attacker | None) -> tuple[Played, float]:
    attacker = arms.attacker
    plan = arms.own(attacker.max_fines, arrest=attacker.arrest)
    totals = (float(arms.count @ plan[row]) for row in (VALUE, TRIES, FINES))
    value, tries, fines = totals
    if actual is None or not tries or not (attacker.arrest or attacker.max_fines):
        return Played(value, plan[SUCCESS], tries, fines), value
    caught = actual.detection_at(int(arms.tries.max()))
    if attacker.arrest or (attacker.capped and attacker.max_fines < arms.tries.max()):  # one target alone
        return Chains(arms, 0 if attacker.arrest else int(attacker.max_fines)).played((0,), caught), value
    places = zip(arms.listed.start, plan[CLEAN].astype(np.int64), strict=False)  # fines change nothing in the plan
    fined = np.array([arms.listed.large[start : start + n] @ caught[:n] for start, n in places])
    return Played(value, plan[SUCCESS], tries, float(arms.count @ fined)), value


def _together(arms: Arms, actual: Attacker | None = None) -> tuple[Plan, float]:
    """The best plan found and the least upper bound; looked for until they meet."""
    attacker = arms.attacker
    total = float(arms.count @ arms.free[VALUE])
    cap = 0 if attacker.arrest else int(attacker.max_fines)
    caught = None if actual is None else actual.detection_at(int(arms.tries.max()))
    upper, certain = _first_bound(arms, cap)
    if certain:
        fines = (total - upper) / attacker.fine if actual is None else bounds.fines_of_all(_detected(arms, actual), cap)
        return Played(upper, arms.free[SUCCESS], float(arms.count @ arms.free[TRIES]), fines), upper
    try:
        return _chained(arms, cap, upper, caught)
    except TooManyStepsError:
        if attacker.arrest:
            raise
        return _everything(arms, cap, actual), min([upper, *(bound() for bound in _more_bounds(arms, cap))])


def _everything(arms: Arms, cap: int, actual: Attacker | None) -> Played:
    """All is tried that is worth it without fines, or nothing; a plan of which no chain is needed."""
    total, fine = float(arms.count @ arms.free[VALUE]), arms.attacker.fine
    value = total - fine * bounds.fines_of_all(arms, cap)
    if value <= 0:
        return Played(0.0, np.zeros(len(arms)), 0.0, 0.0)
    fines = bounds.fines_of_all(arms if actual is None else _detected(arms, actual), cap)
    return Played(value, arms.free[SUCCESS], float(arms.count @ arms.free[TRIES]), fines)


def _chained(arms: Arms, cap: int, upper: float, caught: Floats | None) -> tuple[Plan, float]:
    """The best chain that is found, and the least bound; TooManyStepsError where chains would take too long."""
    attacker, meets = arms.attacker, ROUNDING * float(arms.count @ arms.free[VALUE])
    chains = Chains(arms, cap)
    order = chains.best(upper - meets)
    for bound in _more_bounds(arms, cap):
        if upper - chains.found[order] <= meets:
            break
        upper = min(upper, bound())
    if upper - chains.found[order] > meets:
        if states(arms, cap) <= EXACT_STATES:
            plan = jointly(arms, cap, caught)
            return plan, plan.value
        order = chains.exchanged(order, upper - meets)
        if not attacker.arrest and upper - chains.found[order] > meets:
            upper = min(upper, *bounds.blocks(arms, cap))
    late = chains.late(order, caught)
    return late, max(upper, late.value)


def _detected(arms: Arms, actual: Attacker) -> Arms:
    """The arms for who is detected as somebody else is."""
    return replace(arms, attacker=replace(arms.attacker, **{name: getattr(actual, name) for name in DETECTION}))


def _first_bound(arms: Arms, cap: int) -> tuple[float, bool]:
    """U1 and whether it is attained; with an arrest the sum of what the arms are worth alone."""
    if not arms.attacker.arrest:
        return bounds.convolved(arms, cap)
    own = arms.own(arms.attacker.max_fines, arrest=True)
    return float(arms.count @ own[VALUE]), False


def _more_bounds(arms: Arms, cap: int) -> Iterator[Callable[[], float]]:
    """The bounds that cost little, and go through the tries."""
    if arms.attacker.arrest:
        if arms.attacker.max_fines and arms.attacker.fine > 0:
            yield lambda: _together(arms.facing(arrest=False, max_fines=1))[1]
        return
    if bounds.listable(arms):
        yield partial(bounds.residual, arms)
        yield partial(bounds.exponential, arms, cap)
