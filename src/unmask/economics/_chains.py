"""Compiled recursions over the groups of a chain and the fines that are paid. Import in the function that runs one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import allocating, copy_into, inner

Floats = NDArray[np.float64]

CERTAIN = 1 - 1e-9
"""Chance of paying all fines that counts as 1."""


@allocating
def chain(
    order: NDArray[np.int64],
    repeats: NDArray[np.int64],
    start: NDArray[np.int64],
    hit: Floats,
    large: Floats,
    detection: Floats,
    actual: Floats,
    unfined: Floats,
    plan: Floats,
    index: Floats,
    stakes: Floats,
    limits: Floats,
    cap: int,
    ends: bool,
    tape: tuple[NDArray[np.int64], Floats, NDArray[np.bool_]],
) -> tuple[float, float, int, int]:
    """Return the value of a chain of groups, its steps, and its numbers of turns and of rows of tries; from the back.

    order, repeats : groups, and the number of targets of each in a row
    start        : (m + 1,) first entry of a group in `hit`, `large` and `unfined`, see `list_tries`
    detection, actual, stakes, ends : as in `add_group`
    plan         : (3, m) value, success and tries of a group without any fine
    index        : (m,) the fine that just stops the attack on a group alone with a cap of 1
    limits       : largest number of steps, steps of a group, share of all fines that does not count; beyond the first
                   the chain is given up
    cap          : n, largest number of fines
    tape         : (turns, 3) group, repeats, and first row, -1 if it is tried only once nothing is fined any more, -2
                   if it is tried as if nothing were; (turns, n + 1) actual R(p) of the later groups, without rows the
                   chance that it is tried; (rows, n + 1) True if it is tried on. Filled from the front, the last turn
                   first; not at all without room.
    Nothing is tried until C_p - V(n) of the later groups is below the group's index. Once all fines are as good as
    paid, the earlier groups are worth as much as without fines.
    """
    turns, later_pays, rows = tape
    worth, pays, actual_pays = np.zeros(cap + 1), np.zeros(cap + 1), np.zeros(cap + 1)
    pays[cap] = actual_pays[cap] = 0.0 if ends else 1.0
    all_fines, later, sure, steps, n_turns, n_rows = cap * stakes[2], 0.0, False, 0.0, 0, 0
    for k in range(len(order) - 1, -1, -1):
        group, n_left = order[k], repeats[k]
        steps += limits[1]
        a, n = start[group], start[group + 1] - start[group] - 1
        while n_left > 0:
            lacking = all_fines - (later - worth[0])
            if pays[0] > CERTAIN and not ends and lacking <= limits[2] * all_fines + np.spacing(later):
                sure = True
            several = n_left if sure else 0
            if not sure and not ends:
                several = _count_skipped(n_left, worth, pays, stakes[2] - index[group], plan[0, group])
            steps += 0.0 if several else n * (cap + 1.0) + limits[1]
            if steps > limits[0]:
                return 0.0, steps, 0, 0
            has_room = n_turns < len(turns)
            if has_room:
                turns[n_turns, 0], turns[n_turns, 1] = group, max(several, 1)
                turns[n_turns, 2] = n_rows if not several else -2 if sure else -1
                copy_into(later_pays[n_turns], np.ones(cap + 1) if sure else actual_pays)
            n_turns += 1
            if several:
                for p in range(0 if sure else cap, cap + 1):
                    worth[p] += several * plan[0, group]
            else:
                goes = rows[n_rows : n_rows + n] if has_room else np.empty((n, cap + 1), dtype=np.bool_)
                last = a + n + 1
                entries = hit[a : a + n], large[a:last], detection, actual, unfined[a:last]
                add_group(*entries, stakes, worth, pays, actual_pays, ends, goes)
                n_rows += n
                n_left = 1 if ends and not goes[0, 0] else n_left  # otherwise no target of the group is tried
            later += max(several, 1) * plan[0, group]
            n_left -= max(several, 1)
    return worth[0], steps, n_turns, n_rows


@inner
def _count_skipped(n_left: int, worth: Floats, pays: Floats, threshold: float, value: float) -> int:
    """Return the number of targets of a group that are not tried while fines are left, if no later one is."""
    room = threshold - worth[-1]
    if n_left == 1 or pays[:-1].any() or worth[:-1].any() or not room >= 0:
        return 0
    return min(n_left, int(room / value) + 1)


@allocating
def add_group(
    hit: Floats,
    large: Floats,
    detection: Floats,
    actual: Floats,
    unfined: Floats,
    stakes: Floats,
    worth: Floats,
    pays: Floats,
    actual_pays: Floats,
    ends: bool,
    goes: NDArray[np.bool_],
) -> None:
    """Put a group in front of others: `worth` and `pays` of the others become those of the chain that begins with it.

    hit, large : h_j and S_j (one more) of the group; detection: q_j, at least one for each try; actual: those of
            the attacker who believes otherwise
    unfined : (n_tries + 1,) S_j f(j), its value from failure j on without any fine, linking included at j = 0
    stakes  : gain, cost of a try, fine, cost of linking, least excess of a further try
    worth   : (n + 1,) L(p), value of the later groups with p fines paid
    pays    : (n + 1,) R(p), chance that their plan ever pays all n fines; actual_pays: with the actual detection
    goes    : (n_tries, n + 1), filled with True for a further try
    The value of leaving the group at j with p < n fines is L(p) + R(p) f(j): it is taken up again once nothing more is
    fined.
    """
    gain, cost, fine, link, margin = stakes
    n = len(worth) - 1
    value, ever, actual_ever = large[-1] * worth, large[-1] * pays, large[-1] * actual_pays
    for j in range(len(hit) - 1, -1, -1):
        h, s, q = hit[j], large[j], detection[j]
        for p in range(n + 1):
            up = p if ends else min(p + 1, n)
            stay, move = 1.0 - q, 0.0 if ends else q
            charged = 1.0 if ends or p < n else 0.0
            go = gain * h - s * (cost + q * fine * charged) - (link if j == 0 else 0.0)
            go += h * (move * worth[up] + stay * worth[p]) + move * value[up] + stay * value[p]
            back = pays[p] if p < n else 0.0
            leave = s * worth[p] + back * unfined[j]
            value[p] = go if go > leave + margin else leave
            goes[j, p] = go > leave + (-margin if back > CERTAIN else margin)  # a sure fine is not avoided
            if goes[j, p]:
                ever[p] = h * (move * pays[up] + stay * pays[p]) + move * ever[up] + stay * ever[p]
                stay, move = 1.0 - actual[j], 0.0 if ends else actual[j]
                later = move * actual_pays[up] + stay * actual_pays[p]
                actual_ever[p] = h * later + move * actual_ever[up] + stay * actual_ever[p]
            else:
                ever[p], actual_ever[p] = s * pays[p], s * actual_pays[p]
    copy_into(worth, value)
    copy_into(pays, ever)
    copy_into(actual_pays, actual_ever)


@allocating
def forward(
    start: NDArray[np.int64],
    hit: Floats,
    large: Floats,
    detection: Floats,
    success: Floats,
    tries: Floats,
    plan: Floats,
    ends: bool,
    mistaken: bool,
    tape: tuple[NDArray[np.int64], Floats, NDArray[np.bool_]],
) -> tuple[Floats, float, float]:
    """Return the outcome of a chain on the tape of `chain`: re-identified people of each group, tries, fines.

    mistaken : True if `detection` is not the one of the plan: then no fine is sure that the plan takes as sure
    """
    turns, later_pays, rows = tape
    re_identified, total = np.zeros(len(start) - 1), np.zeros(3)
    level = np.zeros(later_pays.shape[1])
    level[0] = 1.0
    for t in range(len(turns) - 1, -1, -1):
        group, repeats, row = turns[t]
        a, n = start[group], start[group + 1] - start[group] - 1
        if row == -1 or (row == -2 and not mistaken):
            unfined = 0.0
            for p in range(len(level)):
                unfined += level[p] * later_pays[t, p]
            re_identified[group] += repeats * unfined * plan[1, group]
            total[1] += repeats * unfined * plan[2, group]
            continue
        entries = hit[a : a + n], large[a : a + n + 1], detection, success[a : a + n + 1], tries[a : a + n + 1]
        goes = rows[row : row + n] if row >= 0 else _go_as_unfined(entries[4], len(level))
        for _ in range(repeats):
            outcome = play_group(*entries, later_pays[t], ends, goes, level)
            re_identified[group] += outcome[0]
            total += outcome
    return re_identified, total[1], total[2]


@inner
def _go_as_unfined(tries: Floats, levels: int) -> NDArray[np.bool_]:
    """Return the further tries of a group that is tried as if nothing were fined, for any number of fines."""
    goes = np.empty((len(tries) - 1, levels), dtype=np.bool_)
    for j in range(len(goes)):
        goes[j] = tries[j] > 0
    return goes


@allocating
def play_group(
    hit: Floats,
    large: Floats,
    detection: Floats,
    success: Floats,
    tries: Floats,
    pays: Floats,
    ends: bool,
    goes: NDArray[np.bool_],
    level: Floats,
) -> Floats:
    """Return the outcome of one group of a chain, re-identified, tries, fines; `level` is moved past the group.

    hit, large, detection : as in `add_group`
    success, tries : (n_tries + 1,) success and tries from failure j on, without any fine
    pays    : R(p) of the later groups
    level   : (n + 1,) chance of p fines paid at the group's turn; with an arrest it then sums to less
    """
    n = len(level) - 1
    outcome, after = np.zeros(3), np.zeros(n + 1)
    now = level.copy()  # chance of p fines and of being at this group still, if the target were never re-identified
    for j in range(len(hit) + 1):
        for p in range(n + 1):
            if j == len(hit) or not goes[j, p]:
                after[p] += now[p] * large[j]
                if p < n and j < len(hit):
                    outcome[0] += now[p] * pays[p] * success[j]
                    outcome[1] += now[p] * pays[p] * tries[j]
                now[p] = 0.0
        if j == len(hit):
            break
        h, s, q = hit[j], large[j], detection[j]
        for p in range(n, -1, -1):  # downwards: level p is moved earlier than level p - 1 reaches it
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
    sizes: NDArray[np.int64],
    hit: Floats,
    planned: Floats,
    actual: Floats,
    stakes: Floats,
    link: Floats,
    cap: int,
    ends: bool,
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
