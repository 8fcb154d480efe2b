"""The joint decision process of up to four groups, compiled: the value of a campaign over every interleaving.

The recursion of section 1 of the model on its whole table, failures of each group by fines paid; nothing comes from the
package but the decorator that compiles.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import allocating

Floats = NDArray[np.float64]

MAX_GROUPS = 4
"""Groups at most: the table has one axis for each."""


@allocating
def interleaved(odds: Floats, detection: Floats, tries: NDArray[np.int64], money: Floats, cap: int) -> float:
    """Return V_0(0) of the best campaign before access.

    odds      : (4, max tries) probability that try j of a group succeeds if the target is not yet identified
    detection : (max tries,) q_j
    tries     : (4,) tries of each group, 0 for a group that does not exist
    money     : gain, cost of a try, fine, cost of linking
    """
    gain, cost, fine, link = money
    n0, n1, n2, n3 = tries[0], tries[1], tries[2], tries[3]
    value = np.zeros((n0 + 1, n1 + 1, n2 + 1, n3 + 1, cap + 1))
    for j0 in range(n0, -1, -1):
        for j1 in range(n1, -1, -1):
            for j2 in range(n2, -1, -1):
                for j3 in range(n3, -1, -1):
                    place = (j0, j1, j2, j3)
                    lost = (
                        value[min(j0 + 1, n0), j1, j2, j3],
                        value[j0, min(j1 + 1, n1), j2, j3],
                        value[j0, j1, min(j2 + 1, n2), j3],
                        value[j0, j1, j2, min(j3 + 1, n3)],
                    )
                    won = (value[n0, j1, j2, j3], value[j0, n1, j2, j3], value[j0, j1, n2, j3], value[j0, j1, j2, n3])
                    for p in range(cap, -1, -1):
                        highest = 0.0
                        for i in range(4):
                            if place[i] == tries[i]:
                                continue
                            s, q, next_p = odds[i, place[i]], detection[place[i]], min(p + 1, cap)
                            go = s * gain - cost - (link if place[i] == 0 else 0.0) - (q * fine if p < cap else 0.0)
                            go += s * ((1 - q) * won[i][p] + q * won[i][next_p])
                            go += (1 - s) * ((1 - q) * lost[i][p] + q * lost[i][next_p])
                            highest = max(highest, go)
                        value[j0, j1, j2, j3, p] = highest
    return float(value[0, 0, 0, 0, 0])


@allocating
def in_order(
    odds: Floats, detection: Floats, tries: NDArray[np.int64], money: Floats, cap: int, order: Floats
) -> float:
    """Return the value of groups attacked one after another in an order, without a return."""
    gain, cost, fine, link = money
    later = np.zeros(cap + 1)
    for i in order[::-1]:
        value = later.copy()
        for j in range(tries[i] - 1, -1, -1):
            s, q, now = odds[i, j], detection[j], later.copy()
            for p in range(cap + 1):
                next_p = min(p + 1, cap)
                go = s * gain - cost - (link if j == 0 else 0.0) - (q * fine if p < cap else 0.0)
                go += s * ((1 - q) * later[p] + q * later[next_p])
                go += (1 - s) * ((1 - q) * value[p] + q * value[next_p])
                now[p] = max(now[p], go)
            value = now
        later = value
    return float(later[0])


def stages(sizes: tuple[int, ...], inside: tuple[float, ...]) -> tuple[Floats, NDArray[np.int64]]:
    """Return (4, max tries) odds and (4,) tries of uniform groups: try j succeeds with 1 / (size / inside - j)."""
    odds, tries = np.zeros((MAX_GROUPS, max(sizes))), np.zeros(MAX_GROUPS, dtype=np.int64)
    for i, (size, prior) in enumerate(zip(sizes, inside, strict=True)):
        odds[i, :size] = np.minimum(1.0, 1.0 / (size / prior - np.arange(size)))
        tries[i] = size
    return odds, tries


def best_order(odds: Floats, detection: Floats, tries: NDArray[np.int64], money: Floats, cap: int) -> float:
    """Return the best of all orders without return."""
    groups = np.flatnonzero(tries)
    return max(in_order(odds, detection, tries, money, cap, np.array(order)) for order in permutations(groups.tolist()))
