"""Optimal plans against groups of candidates: all groups together, one backward or forward pass.

The Bellman equation of the exploitation phase, multiplied by the chance S_j that the target is still at large after j
failures, has no division and telescopes (every try succeeds with the same unconditional chance):

    U_p(j) = max(0, b_G G h_j - S_j (C_e + b_P q_j C_p [p < n_f]) + gamma (q_j U_p+1(j+1) + (1 - q_j) U_p(j+1)))

with h_j = S_j - S_{j+1} the chance that try j succeeds, b = gamma^delay, U = 0 when no candidate is left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker, Floats, with_fines
from unmask.economics.plans.capped_fines import FlatGroups

TIE: Final = 1e-12
"""Share of the gain below which two payoffs are the same."""

MAX_BYTES: Final = 2**31
"""Memory that plans may take."""

MAX_STEPS: Final = 10**10
"""Largest number of tries times fines of a call, all passes together; some minutes."""

MAX_CLOSED_FORM_FINES: Final = 1000
"""Largest cap on fines of the closed form, which goes through the fines one by one."""

FIRST_REACH: Final = 2**12
"""Number of tries up to which a recursion does not look for the try at which all fines are paid."""

SURE_FINES: Final = 1e-15
"""Share of a gain: all fines count as paid if what is open is worth less."""

VALUE, SUCCESS, TRIES, FINES, FINE_SLOPE, CLEAN = range(6)
"""Rows of a plan; the slope of its value in the fine is minus the discounted fines."""


@dataclass(frozen=True, eq=False)
class CandidateGroups:
    """Groups of candidates, ascending by size; the likeliest candidate of a group is tried first.

    size     : (n_groups,) ascending numbers of candidates
    start    : (n_groups,) first entry of each group
    chance   : (n_entries,) h_j, the unconditional chance that try j succeeds; one entry a group if candidates are equal
    previous : (n_entries,) sum of the chances that precede an entry in its group; None if candidates are equal
    """

    size: NDArray[np.int64]
    start: NDArray[np.int64]
    chance: Floats
    previous: Floats | None = None

    @classmethod
    def uniform(cls, size: NDArray[np.int64], inside: Floats) -> CandidateGroups:
        """Return groups of equal candidates; inside: chance that the target is one of them and, when tried, noticed."""
        return cls(size, np.arange(len(size)), inside / np.maximum(size, 1))

    @property
    def first_chance(self) -> Floats:
        """Return (n_groups,) h_0."""
        return self.chance[self.start]

    def at_large(self, j: int, groups: slice) -> Floats:
        """Return S_j, the chance that j tries have not succeeded."""
        start = self.start[groups]
        return 1.0 - (j * self.chance[start] if self.previous is None else self.previous[start + j])

    def hit(self, j: int, groups: slice) -> Floats:
        """Return h_j."""
        return self.chance[self.start[groups] + (0 if self.previous is None else j)]

    def take(self, group: NDArray[np.int64]) -> CandidateGroups:
        """Return these groups, ascending; a group may be taken several times."""
        return CandidateGroups(self.size[group], self.start[group], self.chance, self.previous)

    def list_chances(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return starts, chances and their preceding sums for a kernel; the last is empty if candidates are equal."""
        return self.start, self.chance, np.empty(0) if self.previous is None else self.previous


def solve_plans(attacker: Attacker, groups: CandidateGroups, fine: Floats | None = None) -> Floats:
    """Return (6, n_groups) the optimal plan once the target is linked.

    Rows: value, success, tries and fines; discounted fines; the tries if none is detected and none succeeds. In groups
    of more than 4,096 the last row counts only tries with a probability above 1e-15. All rows are 0 if nothing is
    tried.

    fine : (n_groups,) fine of each group; None for that of the attacker

    UnmaskError if the recursion needs more than MAX_STEPS.

    Constant detection of equal candidates has closed forms: all candidates or none if fines cannot run out,
    thresholds if they can. All else is a recursion.
    """
    fines = _resolve_fines(attacker, groups, fine)
    if attacker.is_uncertain:
        return _solve_uncertain(attacker, groups, fines)
    can_run_out = _can_run_out(attacker, groups)
    if not can_run_out and groups.previous is None and _is_all_or_nothing(attacker):
        return _solve_all_or_nothing(attacker, groups, fines)
    flat = _to_flat(attacker, groups, fines) if can_run_out else None
    if flat is None:
        return _recurse(attacker, groups, fines)
    cap = int(attacker.max_fines)
    plan = np.zeros((6, len(groups.size)))
    closed = flat.is_whole(cap) | (attacker.max_fines == 1)
    plan[:, closed] = _to_plan(flat.take(closed), flat.take(closed).solve_plans(cap))
    if not closed.all():
        plan[:, ~closed] = _recurse(attacker, groups.take(np.flatnonzero(~closed)), fines[~closed])
    return plan


def solve_plans_by_cap(attacker: Attacker, groups: CandidateGroups, fine: Floats | None = None) -> Floats:
    """Return (max_fines + 1, 6, n_groups) the plans for a cap of 0, 1, ..., max_fines fines.

    One recursion solves them all: with p of n fines paid the plan goes on like one with a cap of n - p.
    """
    fines, cap = _resolve_fines(attacker, groups, fine), int(attacker.max_fines)
    last = min(cap, int(_limit_tries(attacker, groups).max(initial=0)))  # no more fines than tries
    flat = _to_flat(attacker, groups, fines)
    if attacker.is_uncertain or attacker.arrest:
        plans = _solve_each_cap(attacker, groups, fines, range(last + 1))
    elif flat is not None:
        plans = _solve_flat_by_cap(attacker, groups, flat, last)
    else:
        plans = _recurse_by_fines(attacker, groups, fines, last + 1, n_plans=last + 1)[::-1]
    return np.asarray(plans[np.minimum(np.arange(cap + 1), last)])


def _solve_flat_by_cap(attacker: Attacker, groups: CandidateGroups, flat: FlatGroups, last: int) -> Floats:
    """Return (last + 1, 6, n_groups) the plans; a group that is tried as a whole at the last cap is at lower caps."""
    is_whole = flat.is_whole(last)
    plans = np.zeros((last + 1, 6, len(is_whole)))
    plans[:, :, is_whole] = _to_plan(flat.take(is_whole), flat.take(is_whole).solve_whole(last))
    partly_tried = np.flatnonzero(~is_whole)
    plans[:, :, partly_tried] = _solve_each_cap(
        attacker, groups.take(partly_tried), flat.fine[partly_tried], range(last + 1)
    )
    plans[:2] = _solve_each_cap(attacker, groups, flat.fine, range(min(last, 1) + 1))  # with one fine, all or a part
    return plans


def _solve_each_cap(attacker: Attacker, groups: CandidateGroups, fine: Floats, caps: range) -> Floats:
    """Return (n_caps, 6, n_groups) the plans for each cap by itself."""
    if not len(groups.size):
        return np.zeros((len(caps), 6, 0))
    return np.stack([solve_plans(with_fines(attacker, cap, attacker.arrest), groups, fine) for cap in caps])


def count_steps(attacker: Attacker, groups: CandidateGroups, fine: Floats | None = None) -> float:
    """Return the steps of the recursion that `solve_plans` takes; 0 if all is closed form."""
    tries, fines = _limit_tries(attacker, groups), _resolve_fines(attacker, groups, fine)
    if attacker.is_uncertain:
        return _count_uncertain_steps(attacker, tries)
    if groups.previous is None and not _can_run_out(attacker, groups):
        return 0.0 if _is_all_or_nothing(attacker) else float(tries.sum())
    flat = _to_flat(attacker, groups, fines)
    if flat is not None:
        tries = tries[~flat.is_whole(int(attacker.max_fines)) & (attacker.max_fines > 1)]
    levels = attacker.max_fines + 1 if _can_run_out(attacker, groups) else 1
    return float(np.minimum(tries, _find_reach(attacker, groups, fines)).sum() * levels) if len(tries) else 0.0


def _resolve_fines(attacker: Attacker, groups: CandidateGroups, fine: Floats | None) -> Floats:
    """Return (n_groups,) the fine of each group."""
    return np.full(len(groups.size), attacker.fine if fine is None else fine, dtype=np.float64)


def _limit_tries(attacker: Attacker, groups: CandidateGroups) -> NDArray[np.int64]:
    return groups.size if attacker.max_tries is None else np.minimum(groups.size, attacker.max_tries)


def _can_run_out(attacker: Attacker, groups: CandidateGroups) -> bool:
    """Return True if fines can run out in one of the groups."""
    return attacker.capped and attacker.max_fines < _limit_tries(attacker, groups).max(initial=0)


def _is_all_or_nothing(attacker: Attacker) -> bool:
    return (attacker.constant_detection or attacker.max_fines == 0) and not attacker.arrest


def is_worthwhile(attacker: Attacker, value: Floats) -> NDArray[np.bool_]:
    """Return a mask of the values that are better than nothing, ties as the attacker breaks them."""
    return np.asarray(value > compute_margin(attacker))


def compute_margin(attacker: Attacker) -> float:
    """Return the least excess of a better plan."""
    tie = TIE * attacker.gain
    return tie if attacker.ties == "walk_away" else float(np.nextafter(-tie, -np.inf))


def _to_flat(attacker: Attacker, groups: CandidateGroups, fine: Floats) -> FlatGroups | None:
    """Return the groups for closed forms; None if candidates, detection or the clock exclude these."""
    if groups.previous is not None or not attacker.constant_detection:
        return None
    if attacker.discount != 1 or attacker.max_fines > MAX_CLOSED_FORM_FINES:
        return None
    q = float(attacker.detection_at(1)[0])
    if not 0 < q < 1:
        return None
    tries = _limit_tries(attacker, groups).astype(np.float64)
    money = attacker.gain, attacker.exploit_cost, fine
    return FlatGroups(groups.first_chance, tries, *money, q, compute_margin(attacker))


def _to_plan(flat: FlatGroups, outcome: Floats) -> Floats:
    """Return (..., 6, n_groups) the plans of undiscounted outcomes (..., 4, n_groups): success, tries, fines, clean."""
    success, tries, fines, clean = (outcome[..., row, :] for row in range(4))
    value = flat.gain * success - flat.cost * tries - flat.fine * fines
    return np.stack([value, success, tries, fines, fines, clean], axis=-2)


def _recurse(attacker: Attacker, groups: CandidateGroups, fine: Floats) -> Floats:
    """Return the plans with no fine paid yet."""
    levels = int(attacker.max_fines) + 1 if _can_run_out(attacker, groups) else 1
    plan: Floats = _recurse_by_fines(attacker, groups, fine, levels, n_plans=1)[0]
    return plan


def _recurse_by_fines(
    attacker: Attacker, groups: CandidateGroups, fine: Floats, levels: int, *, n_plans: int
) -> Floats:
    """Return (n_plans, 6, n_groups) the plans with 0, 1, ... fines paid, backward over the tries and the fines.

    With one level all detections are fined, or none.
    """
    from unmask.economics.plans._kernels import plans  # numba is imported by the first kernel that runs

    tries, reach = _limit_tries(attacker, groups), _find_reach(attacker, groups, fine)
    refuse_too_large(8.0 * 6 * (len(tries) + levels), float(np.minimum(tries, reach).sum()) * levels)
    fined = np.ones(levels)
    fined[-1] = float(levels == 1 and attacker.max_fines > 0)
    clock = np.array([attacker.discount, *_compute_delays(attacker)])
    gain, cost, margin = float(attacker.gain), float(attacker.exploit_cost), compute_margin(attacker)
    money, detection = (gain, cost, fine, margin), attacker.detection_at(reach)
    start, chance, previous = groups.list_chances()
    return np.asarray(plans(tries, start, chance, previous, *money, detection, fined, clock, attacker.arrest, n_plans))


def _solve_uncertain(attacker: Attacker, groups: CandidateGroups, fine: Floats) -> Floats:
    """Go backward over the tries, those that looked right, and the fines, which change the belief about detection."""
    from unmask.economics.plans._kernels import uncertain_plans

    if groups.previous is not None:
        raise UnmaskError(
            "false_alarms and detection_prior are weighed where all candidates of a target are equally likely, and "
            "this belief ranks them; leave both out"
        )
    tries = _limit_tries(attacker, groups)
    largest = int(tries.max(initial=0))
    levels = _count_uncertain_levels(attacker, largest)
    refuse_too_large(8.0 * 5 * (largest + 2) * levels, _count_uncertain_steps(attacker, tries))
    detection = np.repeat(attacker.detection_at(largest)[:, None], levels, axis=1)
    if attacker.learns and attacker.detection_prior is not None:
        a, b = attacker.detection_prior
        detection = (a + np.arange(levels)) / (a + b + np.arange(largest)[:, None])
    fined = (np.arange(levels) < attacker.max_fines).astype(np.float64)
    looks = np.array([attacker.confirmation, attacker.false_alarms, attacker.false_claim_cost])
    gain, cost, margin = float(attacker.gain), float(attacker.exploit_cost), compute_margin(attacker)
    plan = uncertain_plans(
        tries, groups.first_chance, gain, cost, fine, margin, np.minimum(detection, 1.0), fined, looks
    )
    return np.asarray(np.where(groups.size > 0, plan, 0.0))


def _count_uncertain_levels(attacker: Attacker, largest: int) -> int:
    """Return the number of distinct counts of fines: those that are paid, or that change the belief, and no fine."""
    is_counted = attacker.learns or (attacker.capped and attacker.max_fines < largest)
    return int(min(attacker.max_fines, largest)) + 1 if is_counted else 1


def _count_uncertain_steps(attacker: Attacker, tries: NDArray[np.int64]) -> float:
    levels = _count_uncertain_levels(attacker, int(tries.max(initial=0)))
    return float((tries.astype(np.float64) ** (2 if attacker.false_alarms else 1)).sum()) * levels


def _find_reach(attacker: Attacker, groups: CandidateGroups, fine: Floats) -> int:
    """Return the tries after which all fines are paid but for a chance worth 1e-15 gains; all tries without fines.

    The number of fines in K tries is a sum of independent trials with mean mu = q_0 + ... + q_{K-1}, and for
    n - 1 <= mu - 1 it is at most n - 1 with no more than the Poisson chance of it (Anderson, Samuels 1967).
    """
    from scipy.special import gammainccinv

    largest = int(_limit_tries(attacker, groups).max(initial=0))
    n, highest = attacker.max_fines, float(fine.max(initial=0.0))
    is_plain = _can_run_out(attacker, groups) and groups.previous is None and attacker.discount == 1
    if not (is_plain and highest > 0 and attacker.gain > 0 and largest > FIRST_REACH):
        return largest
    mean = max(float(gammainccinv(n, min(SURE_FINES * attacker.gain / (n * highest), 0.5))), n)
    length = FIRST_REACH
    while True:
        refuse_too_large(4.0 * 8 * length, float(length) * len(groups.size))
        enough = np.flatnonzero(np.cumsum(attacker.detection_at(length)) >= mean)
        if len(enough) or length == largest:
            return int(enough[0]) + 1 if len(enough) else largest
        length = min(largest, 4 * length)


def _solve_all_or_nothing(attacker: Attacker, groups: CandidateGroups, fine: Floats) -> Floats:
    """Return the plans of constant detection and constant fines in closed form: all candidates are tried, or none."""
    hit, gamma = groups.first_chance, attacker.discount
    b_gain, b_fine = _compute_delays(attacker)
    tries = _limit_tries(attacker, groups).astype(np.float64)
    q = float(attacker.detection_at(1)[0]) if attacker.max_fines > 0 else 0.0
    large = tries - hit * (tries * (tries - 1) / 2)
    steps = tries if gamma == 1 else np.expm1(tries * math.log(gamma)) / (gamma - 1)  # sum of gamma^j
    ramp = _sum_ramp(tries, steps, gamma)
    discounted_tries = steps - hit * ramp
    discounted_fines = b_fine * q * discounted_tries
    value = attacker.gain * (b_gain * hit * steps) - attacker.exploit_cost * discounted_tries - fine * discounted_fines
    plan = np.stack([value, hit * tries, large, q * large, discounted_fines, tries])
    return np.where(is_worthwhile(attacker, value) & (groups.size > 0), plan, 0.0)


def _sum_ramp(tries: Floats, steps: Floats, gamma: float) -> Floats:
    """Return the sum of j gamma^j over j < tries; by its series if the closed form would cancel."""
    d, ones = 1 - gamma, tries * (tries - 1) / 2
    squares, cubes = ones * (2 * tries - 1) / 3, ones**2
    series = ones - d * squares + d**2 * (cubes - squares) / 2
    if d == 0:
        return ones
    return np.where(tries * d < 1e-3, series, (gamma * steps - tries * gamma**tries) / d)


def _compute_delays(attacker: Attacker) -> tuple[float, float]:
    return attacker.discount**attacker.gain_delay, attacker.discount**attacker.fine_delay


def refuse_too_large(n_bytes: float, n_steps: float) -> None:
    """Raise UnmaskError for plans that take too much memory, or minutes; `n_steps` counts every pass so far."""
    if n_bytes > MAX_BYTES:
        raise UnmaskError(
            f"the plans need {n_bytes / 2**30:.1f} GiB, expected at most {MAX_BYTES / 2**30:.0f}: give max_tries or "
            "fewer groups"
        )
    if n_steps > MAX_STEPS:
        raise UnmaskError(
            f"the plans need {n_steps:.0e} steps, expected at most {MAX_STEPS:.0e}: give max_tries or smaller groups"
        )
