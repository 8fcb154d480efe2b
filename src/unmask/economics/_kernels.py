"""Recursions over tries and fines, compiled: import this where one runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled

Floats = NDArray[np.float64]


@compiled
def plans(
    tries: NDArray[np.int64],
    start: NDArray[np.int64],
    chance: Floats,
    before: Floats,
    stakes: Floats,
    margin: Floats,
    detection: Floats,
    fined: Floats,
    clock: Floats,
    ends: bool,
) -> Floats:
    """(8, n_games) the best plan of each game, backward over its tries; rows as in `exploitation`.

    tries     : (n_games,) tries at most
    chance, before : chance of a try and of all before it, from `start` on; one chance for all tries where `before` is
                empty
    stakes    : (3, n_games) gain, cost of a try, fine
    margin    : (n_games,) what a try must be worth
    detection : q_j; after its last entry every fine is as good as paid, and the rest of the group is worth `free`
    fined     : (n_levels,) 1 where, with so many fines paid, a detection is fined; the last level is never left
    clock     : discount, and what it makes of a gain and of a fine
    ends      : whether a detection ends the attack
    """
    found = np.zeros((8, len(tries)))
    levels, (gamma, b_gain, b_fine) = len(fined), clock
    state = np.empty((levels, 8))
    for i in range(len(tries)):
        gain, cost, fine = stakes[:, i]
        last = min(tries[i], len(detection))
        state[:] = 0.0
        if last < tries[i]:
            state[:] = _free(tries[i], last, chance[start[i]], gain, cost)
        for j in range(last - 1, -1, -1):
            if len(before):
                hit, large = chance[start[i] + j], 1.0 - before[start[i] + j]
            else:
                hit, large = chance[start[i]], 1.0 - j * chance[start[i]]
            q = detection[j]
            stay = 1.0 - q
            move = 0.0 if ends else q
            for p in range(levels):  # upwards: level p + 1 still holds what is worth after this try
                up = min(p + 1, levels - 1)
                paid = large * q * fined[p]
                value = b_gain * gain * hit - large * cost - b_fine * fine * paid
                value += gamma * (move * state[up, 0] + stay * state[p, 0])
                if value <= margin[i]:
                    state[p] = 0.0
                    continue
                state[p, 7] += 1
                for row in range(1, 4):
                    state[p, row] = move * state[up, row] + stay * state[p, row]
                    state[p, row + 3] = gamma * (move * state[up, row + 3] + stay * state[p, row + 3])
                state[p, 0] = value
                state[p, 1] += hit
                state[p, 2] += large
                state[p, 3] += paid
                state[p, 4] += b_gain * hit
                state[p, 5] += large
                state[p, 6] += b_fine * paid
        found[:, i] = state[0]
    return found


@compiled
def _free(end: int, j: int, hit: float, gain: float, cost: float) -> Floats:
    """The tries from j on without any fine, candidates alike, money undiscounted: all of them or none."""
    rest = np.zeros(8)
    left = end - j
    large = left - hit * (left * (end + j - 1) / 2)
    value = gain * hit * left - cost * large
    if value > 0:
        rest[0], rest[1], rest[2], rest[4], rest[5], rest[7] = value, hit * left, large, hit * left, large, left
    return rest


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

    hit, large, caught : h_j, S_j (one more) and q_j of the arm
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
            goes[j, p] = go > leave + margin
            if goes[j, p]:
                value[p] = go
                ever[p] = h * (move * pays[up] + stay * pays[p]) + move * ever[up] + stay * ever[p]
            else:
                value[p] = leave
                ever[p] = s * pays[p]
    worth[:] = value
    pays[:] = ever


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
    level[:] = after
    return found


@compiled
def jointly(
    sizes: NDArray[np.int64],
    hit: Floats,
    caught: Floats,
    stakes: Floats,
    link: Floats,
    charged: int,
    ends: bool,
) -> tuple[float, Floats, float, float]:
    """The optimum over all interleavings: its value, chance that each arm's target is found, tries and fines.

    sizes     : (m,) tries of each arm
    hit, caught : (m, most tries) chances of a try given that the target is at large, h_j / S_j, and q_j
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
            s, q = hit[i, j], caught[i, j]
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


@compiled
def exponential(
    tries: NDArray[np.int64], count: NDArray[np.int64], flat: Floats, rate: float, fine: float, single: bool
) -> float:
    """log prod A_i(0) of bound U4, A(j) = max(exp(-rate f(j)), (1 - q_j (1 - e)) (s_j + (1 - s_j) A(j + 1))).

    A is 1 at the end; e = exp(-rate fine), 0 with a cap of 1 (`single`).

    tries, count : (m,) tries of each arm, and how many of it
    flat         : (4, all tries) h_j, S_j, q_j and S_j f(j), one arm after the other
    """
    e = 0.0 if single else np.exp(-rate * fine)
    total, start = 0.0, 0
    for i in range(len(tries)):
        a = 1.0
        for j in range(start + tries[i] - 1, start - 1, -1):
            s = flat[0, j] / flat[1, j]
            a = max(np.exp(-rate * flat[3, j] / flat[1, j]), (1.0 - flat[2, j] * (1.0 - e)) * (s + (1.0 - s) * a))
        total += count[i] * np.log(a)
        start += tries[i]
    return total
