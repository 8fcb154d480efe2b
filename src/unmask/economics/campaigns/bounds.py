"""Upper bounds on a campaign under one cap on fines, and bounds for attackers who are uncertain.

Symbols:

F       : value of the release to an attacker who cannot be fined; f_i that of group i
V_i(c, n) : value of group i alone, at a fine c with a cap of n
D       : number of detected tries

Every bound holds for any belief, any detection and with costs of linking.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.economics.attacker import Attacker, Floats
from unmask.economics.campaigns.targets import Targets
from unmask.economics.plans.plan import CLEAN, FINES, SUCCESS, TRIES, VALUE

MIN_CHANCE: Final = -1e-9
"""Pseudo-chances below are not rounding errors: the bound does not hold then."""

LOG_RATES: Final = np.linspace(-3.0, 9.0, 49)
"""Grid of log(L C_p) of the exponential bound."""

MAX_EXPONENT: Final = 700.0
"""Exponent beyond which exp overflows."""

MAX_LISTED_TRIES: Final = 10**6
"""Largest number of tries of all distinct groups for bounds that go through them."""

CELLS: Final = 16
"""Number of parts of equal probability that the belief about detection is cut into."""


class Bounds(NamedTuple):
    """Bounds on a number; equal if it is known.

    Parameters
    ----------
    low, high : float
        Lower and upper bound.
    """

    low: float
    high: float


ZERO: Final = Bounds(0.0, 0.0)


class Outcome(NamedTuple):
    """Results of a plan: probability that each group's target is re-identified, expected tries and fines in all."""

    success: Floats
    tries: float
    fines: float


@dataclass(frozen=True, eq=False)
class CampaignPlan:
    """A plan: its value after access, and the function that computes its outcome when it is needed."""

    value: float
    play: Callable[[], Outcome]

    @cached_property
    def outcome(self) -> Outcome:
        """Return the outcome."""
        return self.play()


Solve = Callable[[Targets], tuple[CampaignPlan, float]]
"""A function from targets to the best plan that is found, and an upper bound on all plans, access paid."""


def plan_all_tries(targets: Targets, value: float, fines: float) -> CampaignPlan:
    """Return the plan that makes all tries which are worth it without fines."""
    return CampaignPlan(
        value, lambda: Outcome(targets.unfined[SUCCESS], float(targets.count @ targets.unfined[TRIES]), fines)
    )


def bound_by_convolution(targets: Targets, cap: int) -> tuple[float, bool]:
    """Return bound U1, and True if it is attained by making all tries, in any order.

    Losses f_i - V_i(C_p, k) of the groups alone, k = 0..n, are C_p times the expected number of fines of a group,
    capped at k. As if these numbers were independent: V <= F - C_p E min(n, D_1 + ... + D_m). It is attained if every
    group alone is tried at every k as without fines.
    """
    plans = targets.solve_alone_by_cap(cap)[1:]
    loss = np.concatenate([np.zeros((1, len(targets))), targets.unfined[VALUE] - plans[:, VALUE]])
    is_attained = bool(np.all(plans[:, CLEAN] == targets.unfined[CLEAN]))
    fines = _expect_fines(loss / targets.attacker.fine, targets.count)
    if fines is None:
        return targets.unfined_value, False
    return targets.unfined_value - targets.attacker.fine * fines, is_attained


def expect_all_fines(targets: Targets, cap: int) -> float:
    """Return the expected fines, at most `cap`, of all tries that are worth it without fines."""
    if cap not in targets.all_fines:
        fines = _expect_fines(targets.solve_alone_by_cap(cap, np.zeros(len(targets)))[:, FINES], targets.count)
        assert fines is not None
        targets.all_fines[cap] = fines
    return targets.all_fines[cap]


def _expect_fines(capped: Floats, count: NDArray[np.int64]) -> float | None:
    """Return E min(n, sum of all D) from E min(k, D_i) for k = 0..n; None if these are not expectations."""
    from unmask.economics.plans._kernels import sum_counts

    n = len(capped) - 1
    tail = np.diff(capped, axis=0)  # P(D > r)
    chance = np.concatenate(([np.ones(tail.shape[1]) - tail[0]], -np.diff(tail, axis=0), tail[-1:]))
    if chance.min(initial=0.0) < MIN_CHANCE:
        return None
    if n == 1:
        return float(1.0 - np.prod(np.maximum(chance[0], 0.0) ** count))
    return float(n - (n - np.arange(n + 1)) @ sum_counts(np.maximum(chance, 0.0), count))


def bound_by_residual(targets: Targets) -> float:
    """Return bound U3: with s = C_p - sum of max_j f_i(j) > 0 and c_i = s + max_j f_i(j), the cap lowered to 1,

        V <= F - C_p + s prod_i (V_i(c_i, 1) - f_i + c_i) / s

    by prod (1 + a_i) >= 1 + sum a_i. It shows that no attack pays if no group is worth its own residual fine.
    """
    fine, count, tries = targets.attacker.fine, targets.count, targets.try_list
    worth = np.divide(tries.unfined, tries.large, out=np.zeros_like(tries.unfined), where=tries.unfined > 0)
    largest = np.maximum.reduceat(worth, tries.start[:-1])
    residual = fine - float(count @ largest)
    if residual <= 0:
        return np.inf
    values = targets.solve_alone(1, residual + largest)[VALUE]
    ratio = float(count @ np.log((values - targets.unfined[VALUE] + residual + largest) / residual))
    return targets.unfined_value - fine + (residual * np.exp(ratio) if ratio < MAX_EXPONENT else np.inf)


def bound_by_exponential(targets: Targets, cap: int) -> float:
    """Return bound U4: V <= F - n C_p + exp(L n C_p - 1) / L prod_i A_i(0) for every L > 0, least over L.

    By y+ <= exp(L y - 1) / L at y = (k - D) C_p - F; A is in `_chains`. For n = 1 a detection ends A, and
    L >= 1 / C_p.
    """
    from unmask.economics.campaigns import _chains

    fine, total = targets.attacker.fine, targets.unfined_value

    def bound(log_rate: float) -> float:
        rate = float(np.exp(log_rate)) / fine
        logs = _chains.exponential(targets.try_list, targets.count, rate, fine, cap == 1)
        exponent = rate * cap * fine - 1 + logs
        return total - cap * fine + (float(np.exp(exponent)) / rate if exponent <= MAX_EXPONENT else np.inf)

    rates = LOG_RATES[LOG_RATES >= 0] if cap == 1 else LOG_RATES
    return _minimize(bound, rates.tolist())


def is_listable(targets: Targets) -> bool:
    """Return True if the groups are few enough to go through their tries many times."""
    return int(targets.tries.sum()) <= MAX_LISTED_TRIES


def _minimize(function: Callable[[float], float], grid: list[float]) -> float:
    """Return the least value on a grid, refined around its position."""
    position = min(grid, key=function)
    step = grid[1] - grid[0]
    value = function(position)
    while step > 1e-7:
        step /= 2
        for neighbor in (position - step, position + step):
            if neighbor >= grid[0] and (neighbor_value := function(neighbor)) < value:
                position, value = neighbor, neighbor_value
                break
    return value


# --- uncertain attackers ----------------------------------------------------------------------------------------------


def solve_false_alarms(targets: Targets, solve: Solve) -> tuple[CampaignPlan, float]:
    """Return the better of two plans under a cap on fines and false alarms, and the least of two bounds.

    Plans:

    * All tries that are worth it without fines are made: F - C_p E min(n, D).
    * Each target is attacked as if fines were unlimited. A cap on fines can only raise the worth of this plan.

    Bounds: U1, and the campaign of an attacker without false alarms. This attacker can imitate every plan with false
    alarms, and never claims a wrong candidate.
    """
    cap, fine = int(targets.attacker.max_fines), targets.attacker.fine
    certain = change_attacker(targets, false_alarms=0.0, false_claim_cost=0.0)
    upper = min(bound_by_convolution(targets, cap)[0], solve(certain)[1])
    fines = expect_all_fines(targets, cap)
    plans = [plan_all_tries(targets, targets.unfined_value - fine * fines, fines), _plan_uncapped(targets)]
    plan = max(plans, key=lambda plan: plan.value)
    return plan, max(upper, plan.value)


def solve_learning(targets: Targets, solve: Solve) -> tuple[CampaignPlan, float]:
    """Return the best of some plans that learn nothing, and an upper bound by attackers who know the detection.

    V(q) is the value of an attacker who knows the probability q of detection. The belief about q is cut into cells.

    Upper bounds:

    * The integral of V(q) over the belief. V falls with q, so that V in a cell is at most V at its lower end. With one
      fine, or with unlimited fines, V is convex: in a cell it is at most the line between its ends.
    * V at the lowest mean that the belief can reach, a / (a + b + all tries).

    Plans, which do not learn:

    * All tries that are worth it without fines: F - C_p E min(n, D). E min(n, D) is concave in q, so that the mean of a
      cell gives an upper bound on its fines.
    * Each target alone, with detection at its mean and unlimited fines: fines are then linear in q.
    * The plan at the mean if all n fines were due at the first detection. Its worth is convex in q, so that the mean
      gives a lower bound. Its success, tries and fines are those at the mean.
    """
    attacker, (edges, mass, mean) = targets.attacker, cut_belief(targets.attacker)
    n_tries = float(targets.count @ targets.tries)
    if attacker.max_fines >= n_tries:  # the cap is never reached
        targets = change_attacker(targets, max_fines=math.inf)
    cap, total = targets.attacker.max_fines, targets.unfined_value
    if attacker.fine == 0:
        return plan_all_tries(targets, total, _expect_believed_fines(targets, cap, mass, mean)), total
    is_convex = cap in (1, math.inf)
    bounds = [_bound_known(_know_detection(targets, q), solve) for q in (edges if is_convex else edges[:-1]).tolist()]
    if is_convex:
        width = np.diff(edges)
        share = np.divide(mean - edges[:-1], width, out=np.zeros(len(mass)), where=width > 0)
        worth = np.array(bounds[:-1]) * (1 - share) + np.array(bounds[1:]) * share
    else:
        worth = np.array(bounds)
    a, b = attacker.detection_prior or (0.0, 1.0)
    least_detection = a / (a + b + n_tries)
    upper = min(float(mass @ worth), solve(_know_detection(targets, least_detection))[1])
    fines = _expect_believed_fines(targets, cap, mass, mean)
    plans = [
        _plan_uncapped(_know_detection(targets, attacker.mean_detection)),
        plan_all_tries(targets, total - attacker.fine * fines, fines),
    ]
    if cap < math.inf:
        at_once = _know_detection(targets, attacker.mean_detection, max_fines=1, fine=cap * attacker.fine)
        plans.append(solve(at_once)[0])
    plan = max(plans, key=lambda plan: plan.value)
    return plan, max(min(upper, total), plan.value)


def cut_belief(attacker: Attacker) -> tuple[Floats, Floats, Floats]:
    """Return the ends (n + 1,), probability (n,) and mean (n,) of about equally likely parts of `detection_prior`.

    >>> edges, mass, mean = cut_belief(Attacker(gain=1, fine=1, max_fines=1, detection_prior=(1, 19)))
    >>> len(mass), round(float(mass.sum()), 12), round(float(mass @ mean), 12)
    (16, 1.0, 0.05)
    """
    from scipy.special import betainc, betaincinv

    a, b = attacker.detection_prior or (0.0, 1.0)
    if not a or not b:
        q = attacker.mean_detection
        return np.array([q, q]), np.ones(1), np.array([q])
    edges = np.unique(betaincinv(a, b, np.linspace(0.0, 1.0, CELLS + 1)))
    mass = np.diff(betainc(a, b, edges))
    weighted = np.diff(betainc(a + 1, b, edges)) * a / (a + b)
    mean = np.divide(weighted, mass, out=edges[:-1].copy(), where=mass > 0)
    return edges, mass, np.clip(mean, edges[:-1], edges[1:])


def change_attacker(targets: Targets, **changes: object) -> Targets:
    """Return the targets of an attacker with other parameters, without cached work."""
    attacker = replace(targets.attacker, **changes)  # type: ignore[arg-type]
    return replace(targets, attacker=attacker, original=None)


def _know_detection(targets: Targets, q: float, **changes: object) -> Targets:
    """Return the targets of an attacker who knows the probability of detection."""
    return change_attacker(targets, detection_prior=None, detection=(q,), **changes)


def _bound_known(targets: Targets, solve: Solve) -> float:
    """Return an upper bound with known detection: one of the cheap ones if fines are capped."""
    attacker = targets.attacker
    if attacker.false_alarms or not attacker.capped:
        return solve(targets)[1]
    cap = int(attacker.max_fines)
    upper = bound_by_convolution(targets, cap)[0]
    return min(upper, bound_by_exponential(targets, cap)) if is_listable(targets) else upper


def _expect_believed_fines(targets: Targets, cap: float, mass: Floats, mean: Floats) -> float:
    """Return an upper bound on the expected fines of all tries that are worth it without fines."""
    if cap == math.inf:
        return float(targets.count @ targets.unfined[TRIES]) * float(mass @ mean)
    if cap not in targets.all_fines:
        fines = [expect_all_fines(_know_detection(targets, q), int(cap)) for q in mean.tolist()]
        targets.all_fines[int(cap)] = float(mass @ fines)
    return targets.all_fines[int(cap)]


def _plan_uncapped(targets: Targets) -> CampaignPlan:
    """Return the plan against each target as if fines had no end; its fines are an upper bound."""
    plan = targets.solve_alone(math.inf)
    value, tries, fines = (float(targets.count @ plan[row]) for row in (VALUE, TRIES, FINES))
    cap = targets.attacker.max_fines
    return CampaignPlan(value, lambda: Outcome(plan[SUCCESS], tries, min(fines, cap)))
