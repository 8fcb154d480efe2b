"""Recursions over tries and fines, compiled: import this where one runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled, copy_into, inner

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
    kept: int,
) -> Floats:
    """(kept, 8, n_games) the best plan of each game with 0, 1, ... fines paid, backward over its tries; rows as in
    `exploitation`.

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
    levels, (gamma, b_gain, b_fine) = len(fined), clock
    found = np.zeros((kept, 8, len(tries)))
    state = np.empty((levels, 8))
    for i in range(len(tries)):
        gain, cost, fine = stakes[:, i]
        last = min(tries[i], len(detection))
        state[:] = 0.0
        if last < tries[i]:
            rest = _free(tries[i], last, chance[start[i]], gain, cost)
            for p in range(levels):
                copy_into(state[p], rest)
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
        for p in range(kept):
            copy_into(found[p, :, i], state[p])
    return found


@compiled
def plans_in_doubt(
    tries: NDArray[np.int64],
    hit: Floats,
    stakes: Floats,
    margin: Floats,
    detection: Floats,
    fined: Floats,
    looks: Floats,
) -> Floats:
    """(8, n_games) the best plan of each game of equal candidates, some of whom look right; rows as in `exploitation`.

    hit       : (n_games,) chance that a try is right and noticed, v / N
    stakes, margin, fined : as in `plans`
    detection : (most tries, n_levels) q after j tries and p fines
    looks     : v, f and what a wrong claim costs

    After j tries, k of which looked right, every person not tried weighs 1, a tried one (1 - v) / (1 - f), and one who
    looked right v / f; W is the sum over all N. So the next one looks right with probability (v + f (W - 1)) / W, and
    whoever looked right is with probability v / (f W). Without false alarms who looks right is.
    """
    found = np.zeros((8, len(tries)))
    levels, (v, f, claim) = len(fined), looks
    wrong, right = (1.0 - v) / (1.0 - f), v / f if f > 0 else 0.0
    for i in range(len(tries)):
        gain, cost, fine = stakes[:, i]
        people, m = v / hit[i], tries[i]
        width = m + 1 if f > 0 else 1
        state = np.zeros((width + 1, levels, 5))  # value, success, tries, fines, tries if never caught or lucky
        for j in range(m, -1, -1):
            for k in range(min(j, width - 1) + 1):
                weight = people - j + (j - k) * wrong + k * right
                if weight <= 1e-12:  # nobody is left who could be the target
                    state[k] = 0.0
                    continue
                sure = right / weight if k else 0.0
                claimed = sure * gain - (1.0 - sure) * claim
                stops = claimed if k and claimed > margin[i] else 0.0
                luck = (v + f * (weight - 1.0)) / weight
                for p in range(levels):
                    best = stops
                    if j < m:
                        up, q = min(p + 1, levels - 1), detection[j, p]
                        ahead = np.zeros(5)
                        for row in range(5):
                            hot = q * state[k + 1, up, row] + (1.0 - q) * state[k + 1, p, row]
                            if f == 0:
                                hot = gain if row == 0 else 1.0 if row == 1 else 0.0
                            cold = q * state[k, up, row] + (1.0 - q) * state[k, p, row]
                            ahead[row] = luck * hot + (1.0 - luck) * cold
                        ahead[0] -= cost + q * fine * fined[p]
                        ahead[2] += 1.0
                        ahead[3] += q * fined[p]
                        ahead[4] = state[k, p, 4] + 1.0
                        if ahead[0] > best + margin[i]:
                            copy_into(state[k, p], ahead)
                            continue
                    state[k, p] = 0.0
                    state[k, p, 0], state[k, p, 1] = stops, sure if stops > 0 else 0.0
        for row in range(4):
            found[row, i] = state[0, 0, row]
        found[4:7, i], found[7, i] = found[1:4, i], state[0, 0, 4]
    return found


@inner
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
def listed(
    tries: NDArray[np.int64], first: NDArray[np.int64], chance: Floats, before: Floats, money: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Arms try by try, one after another, each with an entry more for its end; see `arms.Listed`.

    first, chance, before : as `start`, `chance` and `before` of `plans`
    money : gain, cost of a try, cost of linking, what trying on must be worth more
    Without fines an arm is tried to the first best place to stop.
    """
    gain, cost, link, margin = money
    n = int(tries.sum()) + len(tries)
    hit, large, free, named, tried = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    sure, made, money_made = np.zeros(n), np.zeros(n), np.zeros(n)
    at = 0
    for i in range(len(tries)):
        end = at + tries[i]
        for j in range(tries[i]):
            k = first[i] + j if len(before) else first[i]
            hit[at + j] = chance[k]
            large[at + j] = 1.0 - before[k] if len(before) else 1.0 - j * chance[k]
        large[end] = large[end - 1] - hit[end - 1]
        for k in range(at, end):
            sure[k + 1], made[k + 1] = sure[k] + hit[k], made[k] + large[k]
            money_made[k + 1] = money_made[k] + (gain * hit[k] - cost * large[k])
        stop = end
        for k in range(end, at - 1, -1):
            if money_made[k] >= money_made[stop]:
                stop = k
            free[k] = money_made[stop] - money_made[k]
            if free[k] <= margin:
                free[k] = 0.0
            if k == at:
                free[k] = max(free[k] - link, 0.0)
            if free[k] > 0:
                named[k], tried[k] = sure[stop] - sure[k], made[stop] - made[k]
        at = end + 1
    return hit, large, free, named, tried


@compiled
def exponential(
    start: NDArray[np.int64],
    count: NDArray[np.int64],
    hit: Floats,
    large: Floats,
    caught: Floats,
    free: Floats,
    rate: float,
    fine: float,
    single: bool,
) -> float:
    """log prod A_i(0) of bound U4, A(j) = max(exp(-rate f(j)), (1 - q_j (1 - e)) (s_j + (1 - s_j) A(j + 1))).

    A is 1 at the end; e = exp(-rate fine), 0 with a cap of 1 (`single`).

    count : (m,) how many of each arm; all else as in `chain`
    """
    e = 0.0 if single else np.exp(-rate * fine)
    total = 0.0
    for i in range(len(count)):
        a = 1.0
        for k in range(start[i + 1] - 2, start[i] - 1, -1):
            s = hit[k] / large[k]
            detected = caught[k - start[i]] * (1.0 - e)
            a = max(np.exp(-rate * free[k] / large[k]), (1.0 - detected) * (s + (1.0 - s) * a))
        total += count[i] * np.log(a)
    return total


@compiled
def sums(chance: Floats, count: NDArray[np.int64]) -> Floats:
    """(n + 1,) the sum of independent counts, n or more in the last entry; by squaring.

    chance : (n + 1, m) of a count of each kind; count : (m,) how many there are of it
    """
    n = len(chance)
    total, power, made = np.zeros(n), np.zeros(n), np.zeros(n)
    total[0] = 1.0
    for i in range(len(count)):
        copy_into(power, chance[:, i])
        times = count[i]
        while times:
            if times & 1:
                _add(total, power, made)
                copy_into(total, made)
            times >>= 1
            if times:
                _add(power, power, made)
                copy_into(power, made)
    return total


@inner
def _add(one: Floats, two: Floats, made: Floats) -> None:
    """The sum of two counts, what is more than the last in the last."""
    made[:] = 0.0
    last, tail = len(made) - 1, 0.0
    for a in range(last + 1):
        tail += two[last - a]
        for b in range(last - a):
            made[a + b] += one[a] * two[b]
        made[last] += one[a] * tail
