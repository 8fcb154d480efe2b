"""Campaigns of attackers in doubt: how likely detection is, which they learn, or whether who looks right is right.

The worth of the best campaign against several targets is bounded from both sides; F is the worth to somebody who
cannot be fined, D the number of detected tries.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from unmask.economics import bounds
from unmask.economics.arms import Arms
from unmask.economics.attacker import Attacker
from unmask.economics.chain import Plan, Played
from unmask.economics.exploitation import FINES, SUCCESS, TRIES, VALUE, Floats

CELLS: Final = 16
"""Parts of equal probability that the belief about detection is cut into."""

Attack = Callable[[Arms], tuple[Plan, float]]
"""The best plan found for arms, and what no plan exceeds, access paid."""


def alarmed(arms: Arms, known: Attack) -> tuple[Plan, float]:
    """Several targets under a cap on fines, false alarms: the better of two plans, and the least of two bounds.

    lower : all that is tried without fines is tried, F - C_p E min(n, D); or each target as if fines had no end, which
            pays no less with an end
    upper : U1 of `bounds.convolved`; and the campaign without false alarms, who can pretend to be alarmed: the right
            candidate is paid for as soon as they look right, nobody else is claimed
    """
    cap = int(arms.attacker.max_fines)
    upper = min(bounds.convolved(arms, cap)[0], known(_facing(arms, false_alarms=0.0, false_claim_cost=0.0))[1])
    plan = max(_everything(arms, bounds.fines_of_all(arms, cap)), _unending(arms), key=lambda one: one.value)
    return plan, max(upper, plan.value)


def learned(arms: Arms, known: Attack) -> tuple[Plan, float]:
    """Several targets, detection learned: the worth of somebody who is told it is an upper bound, that of plans
    that learn nothing a lower one.

    upper : the integral of V(q) over the belief. V falls with q, so no cell exceeds its lower end; with one fine or
            without end V is convex, as the greatest of plans' worths b^t and q that are, and no cell exceeds the line
            between its ends. And V(a / (a + b + all tries)), as no history makes detection less likely, and who is
            detected less can pretend to be detected more
    lower : all that is tried without fines is tried, F - C_p E min(n, D): E min(n, D) is concave in q, so no cell
            exceeds the one at its mean. Each target alone as if detection were its mean and fines had no end: fines are
            then linear in q. What V is at the mean if all n fines fell due at once: with one fine a plan is worth
            F - C_p + E b^t (C_p - F(x_t)), convex in q, and who pays n at the first detection pays no less
    Of the last plan, success, tries and fines are those at the mean.
    """
    attacker, (edge, mass, mean) = arms.attacker, cells(arms.attacker)
    if attacker.max_fines >= float(arms.count @ arms.tries):  # the cap is never reached
        attacker = replace(attacker, max_fines=math.inf)
        arms = _facing(arms, max_fines=math.inf)
    cap, total = attacker.max_fines, float(arms.count @ arms.free[VALUE])
    if attacker.fine == 0:
        return _everything(arms, _all_fines(arms, cap, mass, mean)), total
    convex = cap in (1, math.inf)
    least = [_most(_told(arms, q), known) for q in (edge if convex else edge[:-1]).tolist()]
    if convex:
        share = np.divide(mean - edge[:-1], np.diff(edge), out=np.zeros(len(mass)), where=np.diff(edge) > 0)
        worth = np.array(least[:-1]) * (1 - share) + np.array(least[1:]) * share
    else:
        worth = np.array(least)
    a, b = attacker.detection_prior or (0.0, 1.0)
    hopeful = a / (a + b + float(arms.count @ arms.tries))
    upper = min(float(mass @ worth), known(_told(arms, hopeful))[1])
    middle = _told(arms, attacker.mean_detection)
    plans: list[Plan] = [_unending(middle), _everything(arms, _all_fines(arms, cap, mass, mean))]
    if cap < math.inf:
        plans.append(known(_told(arms, attacker.mean_detection, max_fines=1, fine=cap * attacker.fine))[0])
    plan = max(plans, key=lambda one: one.value)
    return plan, max(min(upper, total), plan.value)


def cells(attacker: Attacker) -> tuple[Floats, Floats, Floats]:
    """Ends (n + 1,), probability (n,) and mean (n,) of the parts of `detection_prior`, about equally likely.

    >>> edge, mass, mean = cells(Attacker(gain=1, fine=1, max_fines=1, detection_prior=(1, 19)))
    >>> len(mass), round(float(mass.sum()), 12), round(float(mass @ mean), 12)
    (16, 1.0, 0.05)
    """
    from scipy.special import betainc, betaincinv

    a, b = attacker.detection_prior or (0.0, 1.0)
    if not a or not b:
        q = attacker.mean_detection
        return np.array([q, q]), np.ones(1), np.array([q])
    edge = np.unique(betaincinv(a, b, np.linspace(0.0, 1.0, CELLS + 1)))
    mass = np.diff(betainc(a, b, edge))
    weighed = np.diff(betainc(a + 1, b, edge)) * a / (a + b)
    kept = mass > 0
    middle = np.divide(weighed, mass, out=edge[:-1].copy(), where=kept)
    return edge, mass, np.clip(middle, edge[:-1], edge[1:])


def _facing(arms: Arms, **changes: object) -> Arms:
    """The same arms for an attacker with other parameters, nothing kept of what was worked out."""
    return replace(arms, attacker=replace(arms.attacker, **changes))  # type: ignore[arg-type]


def _told(arms: Arms, q: float, **changes: object) -> Arms:
    """The arms for who is told the probability of detection."""
    return _facing(arms, detection_prior=None, detection=(q,), **changes)


def _most(arms: Arms, known: Attack) -> float:
    """An upper bound where detection is known: of the cheap ones where fines are capped."""
    one = arms.attacker
    if one.false_alarms or not one.capped:
        return known(arms)[1]
    cap = int(one.max_fines)
    found = bounds.convolved(arms, cap)[0]
    return min(found, bounds.exponential(arms, cap)) if bounds.listable(arms) else found


def _all_fines(arms: Arms, cap: float, mass: Floats, mean: Floats) -> float:
    """No fewer fines than are to be expected where all is tried that is tried without fines."""
    if cap == math.inf:
        return float(arms.count @ arms.free[TRIES]) * float(mass @ mean)
    return float(mass @ [bounds.fines_of_all(_told(arms, q), int(cap)) for q in mean.tolist()])


def _everything(arms: Arms, fines: float) -> Played:
    """All that is tried without fines, which cost what they cost."""
    value = float(arms.count @ arms.free[VALUE]) - arms.attacker.fine * fines
    return Played(value, arms.free[SUCCESS], float(arms.count @ arms.free[TRIES]), fines)


def _unending(arms: Arms) -> Played:
    """Each target as if fines had no end; fines at most."""
    plan = arms.own(math.inf)
    value, tries, fines = (float(arms.count @ plan[row]) for row in (VALUE, TRIES, FINES))
    return Played(value, plan[SUCCESS], tries, min(fines, arms.attacker.max_fines))
