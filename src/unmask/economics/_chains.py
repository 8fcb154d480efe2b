"""Recursions over the arms of a chain and the fines that are paid, compiled: import this where one runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled, copy_into, inner

Floats = NDArray[np.float64]

CERTAIN = 1 - 1e-9
"""Chance of paying all fines that counts as 1."""


@compiled
def chain(
    order: NDArray[np.int64],
    times: NDArray[np.int64],
    start: NDArray[np.int64],
    hit: Floats,
    large: Floats,
    caught: Floats,
    free: Floats,
    alone: Floats,
    index: Floats,
    stakes: Floats,
    most: Floats,
    paid: int,
    ends: bool,
    tape: tuple[NDArray[np.int64], Floats, NDArray[np.bool_]],
) -> tuple[float, float, int, int]:
    """Value of a chain of arms, the steps that it took, and how many turns and rows of tries it has; from the back.

    order, times : arms, and how many of each in a row
    start        : (m + 1,) where the entries of an arm begin in `hit`, `large` and `free`, see `listed`
    caught, stakes, ends : as in `chained`
    alone        : (3, m) value, success and tries of an arm without any fine
    index        : (m,) the fine that just stops the attack on an arm alone with a cap of 1
    most         : steps at most, those of an arm, share of all fines that does not count; beyond the first it gives up
    paid         : n, fines at most
    tape         : (turns, 3) arm, how many, and where its rows begin, -1 where it is tried only once nothing is fined
                   any more, -2 where it is tried as if nothing were; (turns, n + 1) R(p) of the arms behind, without
                   rows the chance that it is tried; (rows, n + 1) where it is tried on. Filled from the front, the last
                   turn first; not at all where it has no room.
    Nothing is tried before C_p - V(n) of the arms behind is below the arm's index; and when all fines are as good as
    paid, what is before is as if no fine were left.
    """
    turns, behinds, rows = tape
    worth, pays = np.zeros(paid + 1), np.zeros(paid + 1)
    pays[paid] = 0.0 if ends else 1.0
    all_fines, behind, sure, steps, n_turns, n_rows = paid * stakes[2], 0.0, False, 0.0, 0, 0
    for k in range(len(order) - 1, -1, -1):
        arm, left = order[k], times[k]
        steps += most[1]
        a, n = start[arm], start[arm + 1] - start[arm] - 1
        while left > 0:
            lacking = all_fines - (behind - worth[0])
            if pays[0] > CERTAIN and not ends and lacking <= most[2] * all_fines + np.spacing(behind):
                sure = True
            several = left if sure else 0
            if not sure and not ends:
                several = _skipped(left, worth, pays, stakes[2] - index[arm], alone[0, arm])
            steps += 0.0 if several else n * (paid + 1.0) + most[1]
            if steps > most[0]:
                return 0.0, steps, 0, 0
            kept = n_turns < len(turns)
            if kept:
                turns[n_turns, 0], turns[n_turns, 1] = arm, max(several, 1)
                turns[n_turns, 2] = n_rows if not several else -2 if sure else -1
                copy_into(behinds[n_turns], np.ones(paid + 1) if sure else pays)
            n_turns += 1
            if several:
                for p in range(0 if sure else paid, paid + 1):
                    worth[p] += several * alone[0, arm]
            else:
                goes = rows[n_rows : n_rows + n] if kept else np.empty((n, paid + 1), dtype=np.bool_)
                last = a + n + 1
                chained(hit[a : a + n], large[a:last], caught, free[a:last], stakes, worth, pays, ends, goes)
                n_rows += n
                left = 1 if ends and not goes[0, 0] else left  # if not, none of its kind
            behind += max(several, 1) * alone[0, arm]
            left -= max(several, 1)
    return worth[0], steps, n_turns, n_rows


@inner
def _skipped(left: int, worth: Floats, pays: Floats, least: float, free: float) -> int:
    """How many arms of a kind are not tried while fines are left, if nothing behind them is."""
    room = least - worth[-1]
    if left == 1 or pays[:-1].any() or worth[:-1].any() or not room >= 0:
        return 0
    return min(left, int(room / free) + 1)


@compiled
def chained(
    hit: Floats,
    large: Floats,
    caught: Floats,
    free: Floats,
    stakes: Floats,
    worth: Floats,
    pays: Floats,
    ends: bool,
    goes: NDArray[np.bool_],
) -> None:
    """One arm before others: `worth` and `pays` of the others become those of the chain that begins with this arm.

    hit, large : h_j and S_j (one more) of the arm; caught: q_j, more of them than tries where other arms have more
    free   : (n_tries + 1,) S_j f(j), its value from failure j on without any fine, linking included at j = 0
    stakes : gain, cost of a try, fine, cost of linking, what trying on must be worth more
    worth  : (n + 1,) L(p), value of the arms behind with p fines paid
    pays   : (n + 1,) R(p), chance that their plan ever pays all n fines
    goes   : (n_tries, n + 1) is filled with where trying goes on
    Leaving the arm at j with p < n fines is worth L(p) + R(p) f(j): it is taken up again once nothing more is fined.
    """
    gain, cost, fine, link, margin = stakes
    n = len(worth) - 1
    value, ever = large[-1] * worth, large[-1] * pays
    for j in range(len(hit) - 1, -1, -1):
        h, s, q = hit[j], large[j], caught[j]
        for p in range(n + 1):
            up = p if ends else min(p + 1, n)
            stay, move = 1.0 - q, 0.0 if ends else q
            charged = 1.0 if ends or p < n else 0.0
            go = gain * h - s * (cost + q * fine * charged) - (link if j == 0 else 0.0)
            go += h * (move * worth[up] + stay * worth[p]) + move * value[up] + stay * value[p]
            back = pays[p] if p < n else 0.0
            leave = s * worth[p] + back * free[j]
            value[p] = go if go > leave + margin else leave
            goes[j, p] = go > leave + (-margin if back > CERTAIN else margin)  # a fine that is sure is not waited for
            if goes[j, p]:
                ever[p] = h * (move * pays[up] + stay * pays[p]) + move * ever[up] + stay * ever[p]
            else:
                ever[p] = s * pays[p]
    copy_into(worth, value)
    copy_into(pays, ever)


@compiled
def caught_otherwise(
    start: NDArray[np.int64],
    hit: Floats,
    large: Floats,
    caught: Floats,
    ends: bool,
    tape: tuple[NDArray[np.int64], Floats, NDArray[np.bool_]],
) -> None:
    """R(p) on a tape of `chain` anew, where tries are detected with other probabilities than the plan was made for."""
    turns, behinds, rows = tape
    n = behinds.shape[1] - 1
    pays = np.zeros(n + 1)
    pays[n] = 0.0 if ends else 1.0
    for t in range(len(turns)):
        arm, _, row = turns[t]
        if row == -2:
            continue
        copy_into(behinds[t], pays)
        if row < 0:
            continue
        a, tries = start[arm], start[arm + 1] - start[arm] - 1
        ever = large[a + tries] * pays
        for j in range(tries - 1, -1, -1):
            h, s, q = hit[a + j], large[a + j], caught[j]
            for p in range(n + 1):
                up = p if ends else min(p + 1, n)
                move = 0.0 if ends else q
                if rows[row + j, p]:
                    ever[p] = h * (move * pays[up] + (1.0 - q) * pays[p]) + move * ever[up] + (1.0 - q) * ever[p]
                else:
                    ever[p] = s * pays[p]
        pays = ever


@compiled
def forward(
    start: NDArray[np.int64],
    hit: Floats,
    large: Floats,
    caught: Floats,
    named: Floats,
    tried: Floats,
    alone: Floats,
    ends: bool,
    mistaken: bool,
    tape: tuple[NDArray[np.int64], Floats, NDArray[np.bool_]],
) -> tuple[Floats, float, float]:
    """What happens in a chain that `chain` filled a tape with: people re-identified of each arm, tries, fines.

    mistaken : whether `caught` is not what the plan was made for: then no fine is sure that was held for sure
    """
    turns, behinds, rows = tape
    success, total = np.zeros(len(start) - 1), np.zeros(3)
    level = np.zeros(behinds.shape[1])
    level[0] = 1.0
    for t in range(len(turns) - 1, -1, -1):
        arm, times, row = turns[t]
        a, n = start[arm], start[arm + 1] - start[arm] - 1
        if row == -1 or (row == -2 and not mistaken):
            free = 0.0
            for p in range(len(level)):
                free += level[p] * behinds[t, p]
            success[arm] += times * free * alone[1, arm]
            total[1] += times * free * alone[2, arm]
            continue
        arms = hit[a : a + n], large[a : a + n + 1], caught, named[a : a + n + 1], tried[a : a + n + 1]
        goes = rows[row : row + n] if row >= 0 else _as_if_unfined(arms[4], len(level))
        for _ in range(times):
            found = played(*arms, behinds[t], ends, goes, level)
            success[arm] += found[0]
            total += found
    return success, total[1], total[2]


@inner
def _as_if_unfined(tried: Floats, levels: int) -> NDArray[np.bool_]:
    """Where an arm is tried on that is tried as if nothing were fined, however many fines are paid."""
    goes = np.empty((len(tried) - 1, levels), dtype=np.bool_)
    for j in range(len(goes)):
        goes[j] = tried[j] > 0
    return goes


@compiled
def played(
    hit: Floats,
    large: Floats,
    caught: Floats,
    named: Floats,
    tried: Floats,
    pays: Floats,
    ends: bool,
    goes: NDArray[np.bool_],
    level: Floats,
) -> Floats:
    """What happens to one arm of a chain: chance to be re-identified, tries, fines; `level` is moved past the arm.

    hit, large, caught : as in `chained`
    named, tried : (n_tries + 1,) success and tries from failure j on, without any fine
    pays         : R(p) of the arms behind
    level        : (n + 1,) chance of p fines paid when the arm's turn comes; with an arrest it then sums to less
    """
    n = len(level) - 1
    found, after = np.zeros(3), np.zeros(n + 1)
    now = level.copy()  # chance of p fines and of being at this arm still, were the target never found
    for j in range(len(hit) + 1):
        for p in range(n + 1):
            if j == len(hit) or not goes[j, p]:
                after[p] += now[p] * large[j]
                if p < n and j < len(hit):
                    found[0] += now[p] * pays[p] * named[j]
                    found[1] += now[p] * pays[p] * tried[j]
                now[p] = 0.0
        if j == len(hit):
            break
        h, s, q = hit[j], large[j], caught[j]
        for p in range(n, -1, -1):  # downwards: level p is moved before level p - 1 reaches it
            mass = now[p]
            found[0] += mass * h
            found[1] += mass * s
            if ends or p < n:
                found[2] += mass * s * q
                now[p] = mass * (1.0 - q)
                after[p] += mass * (1.0 - q) * h
                if not ends:
                    now[p + 1] += mass * q
                    after[p + 1] += mass * q * h
            else:
                after[p] += mass * h
    copy_into(level, after)
    return found


@compiled
def jointly(
    sizes: NDArray[np.int64],
    hit: Floats,
    caught: Floats,
    actual: Floats,
    stakes: Floats,
    link: Floats,
    charged: int,
    ends: bool,
) -> tuple[float, Floats, float, float]:
    """The optimum over all interleavings: its value, chance that each arm's target is found, tries and fines.

    sizes     : (m,) tries of each arm
    hit, caught : (m, most tries) chances of a try given that the target is at large, h_j / S_j, and q_j as planned with
    actual      : (most tries,) q_j as it is
    stakes    : gain, cost of a try, fine, what a try must be worth
    charged   : n, fines at most
    A state is the number of failures of each arm, its number of tries when it is done, in mixed radix: what follows a
    state has a higher number.
    """
    gain, cost, fine, margin = stakes
    m, levels = len(sizes), 1 if ends else charged + 1
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
            s, q = hit[i, j], caught[i, j]
            lost, won = x + radix[i + 1], x + (sizes[i] - j) * radix[i + 1]
            sure = s * gain - cost - (link[i] if j == 0 else 0.0)
            for p in range(levels):
                go = sure + (1.0 - q) * (s * value[won, p] + (1.0 - s) * value[lost, p])
                if ends or p < charged:
                    go -= q * fine
                if not ends:
                    up = min(p + 1, charged)
                    go += q * (s * value[won, up] + (1.0 - s) * value[lost, up])
                if go > max(value[x, p], margin):
                    value[x, p], choice[x, p] = go, i
    best = value[0, 0]
    value[:] = 0.0  # from here on: chance to come to a state
    value[0, 0] = 1.0
    named, tries, fines = np.zeros(m), 0.0, 0.0
    for x in range(states):
        for p in range(levels):
            mass, i = value[x, p], choice[x, p]
            if mass == 0.0 or i < 0:
                continue
            j = x // radix[i + 1] % (sizes[i] + 1)
            s, q = hit[i, j], actual[j]
            lost, won = x + radix[i + 1], x + (sizes[i] - j) * radix[i + 1]
            named[i] += mass * s
            tries += mass
            if ends or p < charged:
                fines += mass * q
            value[won, p] += mass * (1.0 - q) * s
            value[lost, p] += mass * (1.0 - q) * (1.0 - s)
            if not ends:
                up = min(p + 1, charged)
                value[won, up] += mass * q * s
                value[lost, up] += mass * q * (1.0 - s)
    return best, named, tries, fines
