"""Compiled recursions over the groups of a chain and the fines that are paid. Import in the function that runs one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import allocating, compiled, copy_into, inner
from unmask.economics.campaigns.targets import TryList

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]

Tape = tuple[Integers, Floats, Flags]
"""Turns, chances and decisions of a chain, see `chain`."""

CERTAIN = 1 - 1e-9
"""Chance of paying all fines that counts as 1."""


class Levels(NamedTuple):
    """Values of later groups by the number p of fines paid, from 0 to n.

    Parameters
    ----------
    worth : (n + 1,) array
        L(p), their value.
    pays, actual_pays : (n + 1,) array
        R(p), the chance that their plan ever pays all n fines, and that chance with the actual detection.
    """

    worth: Floats
    pays: Floats
    actual_pays: Floats


@allocating
def chain(
    order: Integers,
    repeats: Integers,
    tries: TryList,
    actual: Floats,
    plan: Floats,
    index: Floats,
    stakes: Floats,
    limits: Floats,
    cap: int,
    ends: bool,
    mistaken: bool,
    tape: Tape,
) -> tuple[float, float, int, int, int]:
    """Return the value of a chain of groups, its steps, and its numbers of turns, chances and decisions; from the back.

    order, repeats : groups, and the number of targets of each in a row
    actual, stakes, ends : as in `add_group`
    plan         : (3, m) value, success and tries of a group without any fine
    index        : (m,) the fine that just stops the attack on a group alone with a cap of 1
    limits       : largest number of steps, steps of a group, share of the value that does not count; beyond the first
                   the chain is given up
    cap          : n, largest number of fines
    mistaken     : True if `actual` differs from the planned detection
    tape         : the turns, filled from the front, the last turn first; not at all without room. `turns` (n_turns, 6)
                   has the group, the repeats, the open levels from `low` to before `high`, and the first of the turn's
                   entries in `chances` and in `decisions`. `chances` has the actual R(p) of the later groups for each
                   open level, and `decisions` True for a further try, by tries and open levels

    A level p is the number of fines that are paid. At levels below `low` nothing is tried until all fines are paid: the
    group's index is below C_p - L(p + 1). Levels from `high` on are sure: the later groups bring all fines that are
    left, so that a group in front of them is worth as much as without fines. Only the levels between them are open.
    """
    turns, chances, decisions = tape
    levels = Levels(np.zeros(cap + 1), np.zeros(cap + 1), np.zeros(cap + 1))
    worth, pays, actual_pays = levels
    pays[cap] = actual_pays[cap] = 0.0 if ends else 1.0
    idle, high = (0, 1) if ends else (cap, cap)
    later, steps, n_turns, n_chances, n_decisions = 0.0, 0.0, 0, 0, 0
    for k in range(len(order) - 1, -1, -1):
        group, n_left, threshold = order[k], repeats[k], stakes[2] - index[order[k]]
        steps += limits[1]
        of_group = _take_group(tries, group)
        n = len(of_group.hit)
        while n_left > 0:
            if not ends:
                high = _mark_sure(high, worth, pays, later, stakes[2], limits[2], mistaken)
            low = min(_find_first_open(idle, worth, threshold), high)
            n_open, n_targets = high - low, 1
            if not n_open:
                n_targets = n_left if not high else min(n_left, int((threshold - worth[high]) / plan[0, group]) + 1)
            steps += n * n_open + limits[1]
            if steps > limits[0]:
                return 0.0, steps, 0, 0, 0
            has_room = n_turns < len(turns)
            if has_room:
                turns[n_turns] = group, n_targets, low, high, n_chances, n_decisions
                copy_into(chances[n_chances : n_chances + n_open], actual_pays[low:high])
            goes = np.empty((n, n_open), dtype=np.bool_)
            if n_open:
                add_group(of_group, actual, stakes, levels, ends, low, high, goes)
                while idle > low and (pays[low:idle].any() or worth[low:idle].any()):
                    idle -= 1
            if has_room:
                for i in range(n):
                    first = n_decisions + i * n_open
                    decisions[first : first + n_open] = goes[i]
            if ends and not goes[0, 0]:
                n_left = 1  # no target of the group is tried
            for p in range(high, cap + 1):
                worth[p] += n_targets * plan[0, group]
            n_turns, n_chances, n_decisions = n_turns + 1, n_chances + n_open, n_decisions + n * n_open
            later += n_targets * plan[0, group]
            n_left -= n_targets
    return worth[0], steps, n_turns, n_chances, n_decisions


@inner
def _mark_sure(
    high: int, worth: Floats, pays: Floats, later: float, fine: float, negligible: float, mistaken: bool
) -> int:
    """Return the first level from which on all fines that are left are as good as paid; all levels or none if mistaken.

    high : level that is known to be sure; levels that become sure are worth the later groups less their fines
    """
    cap, first = len(worth) - 1, high
    for p in range(0 if mistaken else high - 1, -1, -1):
        value = later - (cap - p) * fine
        if not (pays[p] > CERTAIN and worth[p] - value <= negligible * later):
            break
        worth[p], pays[p], first = value, 1.0, p
    return first


@inner
def _find_first_open(idle: int, worth: Floats, threshold: float) -> int:
    """Return the first level at which a group may be tried while fines are left.

    idle      : number of levels at which no later group is tried
    threshold : C_p less the group's index. A fine at level p brings L(p + 1) - L(p), which is 0 below the last idle
                level, and costs C_p
    """
    if idle == 0 or threshold >= worth[idle]:
        return idle
    return idle - 1 if threshold >= 0 else 0


@inner
def _take_group(tries: TryList, group: int) -> TryList:
    first, last = tries.start[group], tries.start[group + 1]
    entries = tries.unfined[first:last], tries.unfined_success[first:last], tries.unfined_tries[first:last]
    return TryList(tries.start, tries.hit[first : last - 1], tries.large[first:last], tries.detection, *entries)


@allocating
def add_group(
    tries: TryList, actual: Floats, stakes: Floats, levels: Levels, ends: bool, low: int, high: int, goes: Flags
) -> None:
    """Put a group in front of others at the open levels: `levels` become those of the chain with the group.

    tries   : those of the group
    actual  : detection q_j of each try, if the attacker's belief about it is mistaken
    stakes  : gain, cost of a try, fine, cost of linking, least excess of a further try
    low, high : open levels; at level `high` the group is worth as much as without fines
    goes    : (n_tries, high - low), filled with True for a further try
    The value of leaving the group at j with p < n fines is L(p) + R(p) f(j): it is taken up again once nothing more is
    fined.
    """
    hit, large, detection, unfined = tries.hit, tries.large, tries.detection, tries.unfined
    gain, cost, fine, link, margin = stakes
    worth, pays, actual_pays = levels
    n_open = high - low
    value, ever, actual_ever = np.empty(n_open + 1), np.empty(n_open + 1), np.empty(n_open + 1)
    for i in range(n_open):
        p = low + i
        value[i], ever[i], actual_ever[i] = large[-1] * worth[p], large[-1] * pays[p], large[-1] * actual_pays[p]
    for j in range(len(hit) - 1, -1, -1):
        h, s, q = hit[j], large[j], detection[j]
        if not ends:
            value[n_open] = large[j + 1] * worth[high] + unfined[j + 1]
            ever[n_open], actual_ever[n_open] = large[j + 1] * pays[high], large[j + 1] * actual_pays[high]
        for i in range(n_open):
            p = low + i
            up = i if ends else i + 1
            stay, move = 1.0 - q, 0.0 if ends else q
            go = gain * h - s * (cost + q * fine) - (link if j == 0 else 0.0)
            go += h * (move * worth[low + up] + stay * worth[p]) + move * value[up] + stay * value[i]
            leave = s * worth[p] + pays[p] * unfined[j]
            value[i] = go if go > leave + margin else leave
            goes[j, i] = go > leave + (-margin if pays[p] > CERTAIN else margin)  # a sure fine is not avoided
            if goes[j, i]:
                ever[i] = h * (move * pays[low + up] + stay * pays[p]) + move * ever[up] + stay * ever[i]
                stay, move = 1.0 - actual[j], 0.0 if ends else actual[j]
                later = move * actual_pays[low + up] + stay * actual_pays[p]
                actual_ever[i] = h * later + move * actual_ever[up] + stay * actual_ever[i]
            else:
                ever[i], actual_ever[i] = s * pays[p], s * actual_pays[p]
    copy_into(worth[low:high], value[:n_open])
    copy_into(pays[low:high], ever[:n_open])
    copy_into(actual_pays[low:high], actual_ever[:n_open])


@allocating
def forward(
    tries: TryList, actual: Floats, plan: Floats, cap: int, ends: bool, mistaken: bool, tape: Tape
) -> tuple[Floats, float, float]:
    """Return the outcome of a chain on the tape of `chain`: re-identified people of each group, tries, fines.

    mistaken : True if `actual` is not the detection of the plan: then no fine is sure that the plan takes as sure
    """
    turns, chances, decisions = tape
    re_identified, total = np.zeros(len(tries.start) - 1), np.zeros(3)
    level = np.zeros(cap + 1)
    level[0] = 1.0
    for t in range(len(turns) - 1, -1, -1):
        group, n_targets, low, high, first_chance, first = turns[t]
        of_group = _take_group(tries, group)
        n, n_open = len(of_group.hit), high - low
        if not n_open and not (mistaken and not high):
            unfined = level[high:].sum()
            re_identified[group] += n_targets * unfined * plan[1, group]
            total[1] += n_targets * unfined * plan[2, group]
            continue
        if n_open:
            pays = chances[first_chance : first_chance + n_open]
            goes = decisions[first : first + n * n_open].reshape(n, n_open)
        else:
            high, pays, goes = cap + 1, np.ones(cap + 1), _go_as_unfined(of_group.unfined_tries, cap + 1)
        for _ in range(n_targets):
            outcome = play_group(of_group, actual, pays, ends, low, high, goes, level)
            re_identified[group] += outcome[0]
            total += outcome
    return re_identified, total[1], total[2]


@inner
def _go_as_unfined(tries: Floats, levels: int) -> Flags:
    """Return the further tries of a group that is tried as if nothing were fined, for any number of fines."""
    goes = np.empty((len(tries) - 1, levels), dtype=np.bool_)
    for j in range(len(goes)):
        goes[j] = tries[j] > 0
    return goes


@allocating
def play_group(
    tries: TryList, detection: Floats, pays: Floats, ends: bool, low: int, high: int, goes: Flags, level: Floats
) -> Floats:
    """Return the outcome of one group of a chain, re-identified, tries, fines; `level` is moved past the group.

    tries, low, high, goes : as in `add_group`; detection: the actual one
    pays    : (high - low,) R(p) of the later groups
    level   : (n + 1,) chance of p fines paid at the group's turn; with an arrest it then sums to less
    """
    hit, large, n = tries.hit, tries.large, len(level) - 1
    outcome, after = np.zeros(3), np.zeros(n + 1)
    now = level.copy()  # chance of p fines and of being at this group still, if the target were never re-identified
    for j in range(len(hit) + 1):
        for p in range(low if j else 0, min(high, n) + 1 if j else n + 1):
            is_open = low <= p < high
            if j == len(hit) or not is_open or not goes[j, p - low]:
                after[p] += now[p] * large[j]
                if j < len(hit):
                    unfined = now[p] * pays[p - low] if is_open else now[p] if p >= high else 0.0
                    outcome[0] += unfined * tries.unfined_success[j]
                    outcome[1] += unfined * tries.unfined_tries[j]
                now[p] = 0.0
        if j == len(hit):
            break
        h, s, q = hit[j], large[j], detection[j]
        for p in range(min(high, n + 1) - 1, low - 1, -1):  # downwards: level p is moved before level p - 1 reaches it
            mass = now[p]
            outcome[0] += mass * h
            outcome[1] += mass * s
            if ends or p < n:
                outcome[2] += mass * s * q
                now[p] = mass * (1.0 - q)
                after[p] += mass * (1.0 - q) * h
                if not ends:
                    now[p + 1] += mass * q
                    after[p + 1] += mass * q * h
            else:
                after[p] += mass * h
    copy_into(level, after)
    return outcome


@allocating
def search_jointly(
    sizes: Integers, hit: Floats, planned: Floats, actual: Floats, stakes: Floats, link: Floats, cap: int, ends: bool
) -> tuple[float, Floats, float, float]:
    """Return the optimum over all interleavings: value, chance that each target is re-identified, tries and fines.

    sizes   : (m,) tries of each target's group
    hit     : (m, largest number of tries) chances of a try given that the target is at large, h_j / S_j
    planned : (m, largest number of tries) q_j of the plan
    actual  : (largest number of tries,) actual q_j
    stakes  : gain, cost of a try, fine, least worth of a try
    cap     : n, largest number of fines
    A state is the number of failures of each group, its number of tries once it is done, in mixed radix: the states
    that follow have higher numbers.
    """
    gain, cost, fine, margin = stakes
    m, levels = len(sizes), 1 if ends else cap + 1
    radix = np.ones(m + 1, dtype=np.int64)
    for i in range(m - 1, -1, -1):
        radix[i] = radix[i + 1] * (sizes[i] + 1)
    states = radix[0]
    value = np.zeros((states, levels))
    choice = np.full((states, levels), -1, dtype=np.int8)
    for x in range(states - 2, -1, -1):
        for i in range(m):
            j = x // radix[i + 1] % (sizes[i] + 1)
            if j == sizes[i]:
                continue
            s, q = hit[i, j], planned[i, j]
            lost, won = x + radix[i + 1], x + (sizes[i] - j) * radix[i + 1]
            sure = s * gain - cost - (link[i] if j == 0 else 0.0)
            for p in range(levels):
                go = sure + (1.0 - q) * (s * value[won, p] + (1.0 - s) * value[lost, p])
                if ends or p < cap:
                    go -= q * fine
                if not ends:
                    up = min(p + 1, cap)
                    go += q * (s * value[won, up] + (1.0 - s) * value[lost, up])
                if go > max(value[x, p], margin):
                    value[x, p], choice[x, p] = go, i
    optimum = value[0, 0]
    value[:] = 0.0  # from now on the chance of a state
    value[0, 0] = 1.0
    success, tries, fines = np.zeros(m), 0.0, 0.0
    for x in range(states):
        for p in range(levels):
            mass, i = value[x, p], choice[x, p]
            if mass == 0.0 or i < 0:
                continue
            j = x // radix[i + 1] % (sizes[i] + 1)
            s, q = hit[i, j], actual[j]
            lost, won = x + radix[i + 1], x + (sizes[i] - j) * radix[i + 1]
            success[i] += mass * s
            tries += mass
            if ends or p < cap:
                fines += mass * q
            value[won, p] += mass * (1.0 - q) * s
            value[lost, p] += mass * (1.0 - q) * (1.0 - s)
            if not ends:
                up = min(p + 1, cap)
                value[won, up] += mass * q * s
                value[lost, up] += mass * q * (1.0 - s)
    return optimum, success, tries, fines


@compiled
def exponential(tries: TryList, count: NDArray[np.int64], rate: float, fine: float, single: bool) -> float:
    """Return log prod A_i(0) of bound U4, A(j) = max(exp(-rate f(j)), (1 - q_j (1 - e)) (s_j + (1 - s_j) A(j + 1))).

    A is 1 at the end; e = exp(-rate fine), 0 with a cap of 1 (`single`).

    count : (m,) targets of each group
    """
    e = 0.0 if single else np.exp(-rate * fine)
    total = 0.0
    for i in range(len(count)):
        a = 1.0
        for k in range(tries.start[i + 1] - 2, tries.start[i] - 1, -1):
            s = tries.hit[k] / tries.large[k]
            detected = tries.detection[k - tries.start[i]] * (1.0 - e)
            a = max(np.exp(-rate * tries.unfined[k] / tries.large[k]), (1.0 - detected) * (s + (1.0 - s) * a))
        total += count[i] * np.log(a)
    return total
