"""Compiled recursions over tries and fines. Import this module in the function that runs one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import allocating, copy_into, inner

Floats = NDArray[np.float64]


@allocating
def plans(
    tries: NDArray[np.int64],
    start: NDArray[np.int64],
    chance: Floats,
    previous: Floats,
    gain: float,
    cost: float,
    fines: Floats,
    margin: float,
    detection: Floats,
    fined: Floats,
    clock: Floats,
    ends: bool,
    n_plans: int,
) -> Floats:
    """Return (n_plans, 6, n_groups) the best plan of each group with 0, 1, ... fines paid, backward over its tries.

    Rows are those of `solve_plans`.

    tries     : (n_groups,) largest number of tries
    chance, previous : chance of a try and of all earlier ones, from `start` on; if `previous` is empty, a group has one
                chance for all tries
    gain, cost, margin : gain, cost and least worth of a try
    fines     : (n_groups,) fine of each group
    detection : q_j; after its last entry every fine is as good as paid, and the rest of the group is not fined
    fined     : (n_levels,) 1 if a detection is fined after so many fines; the last level is never left
    clock     : discount, and its factors of a gain and of a fine
    ends      : True if a detection ends the attack
    """
    levels, (gamma, b_gain, b_fine) = len(fined), clock
    plan = np.zeros((n_plans, 6, len(tries)))
    state = np.empty((levels, 6))
    for i in range(len(tries)):
        last = min(tries[i], len(detection))
        state[:] = 0.0
        if last < tries[i]:
            unfined = _solve_unfined(tries[i], last, chance[start[i]], gain, cost)
            for p in range(levels):
                copy_into(state[p], unfined)
        for j in range(last - 1, -1, -1):
            if len(previous):
                hit, large = chance[start[i] + j], 1.0 - previous[start[i] + j]
            else:
                hit, large = chance[start[i]], 1.0 - j * chance[start[i]]
            q = detection[j]
            stay = 1.0 - q
            move = 0.0 if ends else q
            for p in range(levels):  # upwards: level p + 1 still holds what is worth after this try
                up = min(p + 1, levels - 1)
                paid = large * q * fined[p]
                value = b_gain * gain * hit - large * cost - b_fine * fines[i] * paid
                value += gamma * (move * state[up, 0] + stay * state[p, 0])
                if value <= margin:
                    state[p] = 0.0
                    continue
                for row in range(1, 4):
                    state[p, row] = move * state[up, row] + stay * state[p, row]
                state[p, 4] = gamma * (move * state[up, 4] + stay * state[p, 4])
                state[p, 0] = value
                state[p, 1] += hit
                state[p, 2] += large
                state[p, 3] += paid
                state[p, 4] += b_fine * paid
                state[p, 5] += 1
        for p in range(n_plans):
            copy_into(plan[p, :, i], state[p])
    return plan


@allocating
def uncertain_plans(
    tries: NDArray[np.int64],
    hit: Floats,
    gain: float,
    cost: float,
    fines: Floats,
    margin: float,
    detection: Floats,
    fined: Floats,
    looks: Floats,
) -> Floats:
    """Return (6, n_groups) the best plan of each group of equal candidates, which may look right.

    hit       : (n_groups,) chance that a try is right and noticed, v / N
    gain, cost, fines, margin, fined : as in `plans`
    detection : (most tries, n_levels) q after j tries and p fines
    looks     : v, f and the cost of a wrong claim

    After j tries, k of which looked right, a person has a weight: 1 if not tried, (1 - v) / (1 - f) if tried, v / f if
    they looked right. W is the sum of the weights of all N people. The next candidate looks right with probability
    (v + f (W - 1)) / W. A candidate who looked right is right with probability v / (f W), or 1 without false alarms.
    """
    plan = np.zeros((6, len(tries)))
    levels, (v, f, claim) = len(fined), looks
    wrong_weight, right_weight = (1.0 - v) / (1.0 - f), v / f if f > 0 else 0.0
    for i in range(len(tries)):
        people, m = v / hit[i], tries[i]
        width = m + 1 if f > 0 else 1
        state = np.zeros((width + 1, levels, 5))  # value, success, tries, fines, tries if never caught or lucky
        for j in range(m, -1, -1):
            for k in range(min(j, width - 1) + 1):
                weight = people - j + (j - k) * wrong_weight + k * right_weight
                if weight <= 1e-12:  # no person is left who can be the target
                    state[k] = 0.0
                    continue
                sure = right_weight / weight if k else 0.0
                claimed = sure * gain - (1.0 - sure) * claim
                stops = claimed if k and claimed > margin else 0.0
                luck = (v + f * (weight - 1.0)) / weight
                for p in range(levels):
                    value = stops
                    if j < m:
                        up, q = min(p + 1, levels - 1), detection[j, p]
                        ahead = np.zeros(5)
                        for row in range(5):
                            hot = q * state[k + 1, up, row] + (1.0 - q) * state[k + 1, p, row]
                            if f == 0:
                                hot = gain if row == 0 else 1.0 if row == 1 else 0.0
                            cold = q * state[k, up, row] + (1.0 - q) * state[k, p, row]
                            ahead[row] = luck * hot + (1.0 - luck) * cold
                        ahead[0] -= cost + q * fines[i] * fined[p]
                        ahead[2] += 1.0
                        ahead[3] += q * fined[p]
                        ahead[4] = state[k, p, 4] + 1.0
                        if ahead[0] > value + margin:
                            copy_into(state[k, p], ahead)
                            continue
                    state[k, p] = 0.0
                    state[k, p, 0], state[k, p, 1] = stops, sure if stops > 0 else 0.0
        for row in range(4):
            plan[row, i] = state[0, 0, row]
        plan[4, i], plan[5, i] = plan[3, i], state[0, 0, 4]
    return plan


@inner
def _solve_unfined(end: int, j: int, hit: float, gain: float, cost: float) -> Floats:
    """Return the tries from j on without fine and discount, for equal candidates: all of them or none."""
    plan = np.zeros(6)
    n = end - j
    large = n - hit * (n * (end + j - 1) / 2)
    value = gain * hit * n - cost * large
    if value > 0:
        plan[0], plan[1], plan[2], plan[5] = value, hit * n, large, n
    return plan


@allocating
def list_tries(
    tries: NDArray[np.int64], first: NDArray[np.int64], chance: Floats, previous: Floats, money: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return groups try by try, one after another, each with an entry more for its end; see `TryList`.

    first, chance, previous : as `start`, `chance` and `previous` of `plans`
    money : gain, cost of a try, cost of linking, least excess of a further try
    Without fines a group is tried up to the first of the best stops.
    """
    gain, cost, link, margin = money
    n = int(tries.sum()) + len(tries)
    hit, large, unfined, success, n_tried = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    sum_hit, sum_large, profit = np.zeros(n), np.zeros(n), np.zeros(n)
    first_entry = 0
    for i in range(len(tries)):
        end = first_entry + tries[i]
        for j in range(tries[i]):
            k = first[i] + j if len(previous) else first[i]
            hit[first_entry + j] = chance[k]
            large[first_entry + j] = 1.0 - previous[k] if len(previous) else 1.0 - j * chance[k]
        large[end] = large[end - 1] - hit[end - 1]
        for k in range(first_entry, end):
            sum_hit[k + 1], sum_large[k + 1] = sum_hit[k] + hit[k], sum_large[k] + large[k]
            profit[k + 1] = profit[k] + (gain * hit[k] - cost * large[k])
        stop = end
        for k in range(end, first_entry - 1, -1):
            if profit[k] >= profit[stop]:
                stop = k
            unfined[k] = profit[stop] - profit[k]
            if unfined[k] <= margin:
                unfined[k] = 0.0
            if k == first_entry:
                unfined[k] = max(unfined[k] - link, 0.0)
            if unfined[k] > 0:
                success[k], n_tried[k] = sum_hit[stop] - sum_hit[k], sum_large[stop] - sum_large[k]
        first_entry = end + 1
    return hit, large, unfined, success, n_tried


@allocating
def sum_counts(chance: Floats, count: NDArray[np.int64]) -> Floats:
    """Return (n + 1,) the distribution of a sum of independent counts, n or more in the last entry; by squaring.

    chance : (n + 1, m) distribution of a count of each kind; count : (m,) number of counts of the kind
    """
    n = len(chance)
    total, power, result = np.zeros(n), np.zeros(n), np.zeros(n)
    total[0] = 1.0
    for i in range(len(count)):
        copy_into(power, chance[:, i])
        times = count[i]
        while times:
            if times & 1:
                _convolve(total, power, result)
                copy_into(total, result)
            times >>= 1
            if times:
                _convolve(power, power, result)
                copy_into(power, result)
    return total


@inner
def _convolve(x: Floats, y: Floats, result: Floats) -> None:
    """Write the distribution of the sum of two counts, larger sums in the last entry."""
    result[:] = 0.0
    last, tail = len(result) - 1, 0.0
    width = last  # chances of counts from `width` to before `last` are 0
    while width > 0 and y[width - 1] == 0.0:
        width -= 1
    for a in range(last + 1):
        tail += y[last - a]
        if x[a] == 0.0:
            continue
        for b in range(min(width, last - a)):
            result[a + b] += x[a] * y[b]
        result[last] += x[a] * tail
