"""What no campaign can exceed: upper bounds on the value of all groups together, under one cap on fines.

F is the value of the release to somebody who cannot be fined, f_i that of arm i, V_i(c, n) that of arm i alone at a
fine c with a cap of n; every bound holds for any belief, any detection and with costs of linking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from unmask.economics.arms import Arms
from unmask.economics.exploitation import CLEAN, FINES, VALUE, Floats

LEAST = -1e-9
"""Pseudo-chances below are no rounding errors: the bound is then not given."""

RATES = np.linspace(-3.0, 9.0, 49)
"""log(L C_p) that are looked at first."""

MOST_LISTED = 10**6
"""Tries of all distinct arms up to which bounds that go through them are given."""

MOST_PARTITIONED = 6
"""Arms of which all partitions into blocks are looked at."""


def convolved(arms: Arms, cap: int) -> tuple[float, bool]:
    """U1, and whether it is attained by trying everything, in any order.

    Own losses f_i - V_i(C_p, k), k = 0..n, are C_p times the expected number of fines of an arm, capped at k; these
    numbers of fines, as if they were independent: V <= F - C_p E min(n, D_1 + ... + D_m). Attained if every arm alone
    tries at every k all that it would try without fines.
    """
    plans = arms.own_by_cap(cap)[1:]
    loss = np.concatenate([np.zeros((1, len(arms))), arms.free[VALUE] - plans[:, VALUE]])
    certain = bool(np.all(plans[:, CLEAN] == arms.free[CLEAN]))
    total = float(arms.count @ arms.free[VALUE])
    fines = _expected_fines(loss / arms.attacker.fine, arms.count)
    return (total if fines is None else total - arms.attacker.fine * fines), certain and fines is not None


def fines_of_all(arms: Arms, cap: int) -> float:
    """Fines to expect, at most `cap`, of trying all that is worth it without fines."""
    fines = _expected_fines(arms.own_by_cap(cap, np.zeros(len(arms)))[:, FINES], arms.count)
    assert fines is not None
    return fines


def _expected_fines(capped: Floats, count: NDArray[np.int64]) -> float | None:
    """E min(n, sum of all D), from E min(k, D_i) for k = 0..n; None if these are no expectations."""
    from unmask.economics._kernels import sums

    n = len(capped) - 1
    tail = np.diff(capped, axis=0)  # P(D > r)
    chance = np.concatenate(([np.ones(tail.shape[1]) - tail[0]], -np.diff(tail, axis=0), tail[-1:]))
    if chance.min(initial=0.0) < LEAST:
        return None
    if n == 1:
        return float(1.0 - np.prod(np.maximum(chance[0], 0.0) ** count))
    total = sums(np.maximum(chance, 0.0), count)
    return float(n - (n - np.arange(n + 1)) @ total)


def blocks(arms: Arms, cap: int) -> Iterator[float]:
    """U2 and U2': the fine is split among the arms of a block, blocks are convolved as in U1.

    With shares w_i that sum to 1 in a block, its loss is the sum of f_i - V_i(w_i C_p, k). One block of all; runs of
    2, 4, ... equal arms; all partitions where arms are few.
    """
    fine, free, count = arms.attacker.fine, arms.free[VALUE], arms.count
    total = float(count @ free)
    yield float(count @ arms.own(cap, fine * free / total)[VALUE])
    run = 2
    while run <= count.max():
        length = np.minimum(run, count)
        loss = _losses(arms, fine / length, cap) * length / fine
        rest = count % length
        ragged = _losses(arms, fine / np.maximum(rest, 1), cap) * rest / fine
        some = rest > 0
        fines = _expected_fines(
            np.concatenate([loss, ragged[:, some]], axis=1),
            np.concatenate([count // length, np.ones(int(some.sum()), dtype=np.int64)]),
        )
        if fines is not None:
            yield total - fine * fines
        run *= 2
    if 2 < count.sum() <= MOST_PARTITIONED:
        each = np.repeat(np.arange(len(arms)), count).tolist()
        lost = cache(partial(_lost, arms, cap))  # a block is in many partitions
        for partition in _partitions(len(each)):
            yield _partitioned(arms, [lost(tuple(each[i] for i in block)) for block in partition])


def _losses(arms: Arms, fine: Floats, cap: int) -> Floats:
    """(cap + 1, m) f_i - V_i(fine_i, k)."""
    return np.concatenate([np.zeros((1, len(arms))), arms.free[VALUE] - arms.own_by_cap(cap, fine)[1:, VALUE]])


def _partitions(n: int) -> Iterator[list[list[int]]]:
    """All partitions of 0..n-1 but those into singletons and into one block."""

    def grown(at: int, so_far: list[list[int]]) -> Iterator[list[list[int]]]:
        if at == n:
            yield [list(block) for block in so_far]
            return
        for block in so_far:
            block.append(at)
            yield from grown(at + 1, so_far)
            block.pop()
        yield from grown(at + 1, [*so_far, [at]])

    return (found for found in grown(0, []) if 1 < len(found) < n)


def _lost(arms: Arms, cap: int, block: tuple[int, ...]) -> Floats:
    """(cap + 1,) what a block of arms loses, in fines, with the fine split among them."""
    fine, free = arms.attacker.fine, arms.free[VALUE]
    members = np.bincount(block, minlength=len(arms)).astype(np.float64)
    return _losses(arms, fine * (free / (members @ free)), cap) @ members / fine


def _partitioned(arms: Arms, losses: list[Floats]) -> float:
    """U2' of one partition of the single arms, from what each of its blocks loses."""
    fines = _expected_fines(np.stack(losses, axis=1), np.ones(len(losses), dtype=np.int64))
    total = float(arms.count @ arms.free[VALUE])
    return total if fines is None else total - arms.attacker.fine * fines


def residual(arms: Arms) -> float:
    """U3: with s = C_p - sum of max_j f_i(j) > 0 and c_i = s + max_j f_i(j), the cap lowered to 1,

        V <= F - C_p + s prod_i (V_i(c_i, 1) - f_i + c_i) / s

    by prod (1 + a_i) >= 1 + sum a_i. It shows that no attack pays where no arm is worth its own residual fine.
    """
    fine, free, count = arms.attacker.fine, arms.free[VALUE], arms.count
    listed = arms.listed
    worth = np.divide(listed.free, listed.large, out=np.zeros_like(listed.free), where=listed.free > 0)
    most = np.maximum.reduceat(worth, listed.start[:-1])
    rest = fine - float(count @ most)
    if rest <= 0:
        return np.inf
    own = arms.own(1, rest + most)[VALUE]
    ratio = float(count @ np.log((own - free + rest + most) / rest))
    return float(count @ free) - fine + (rest * np.exp(ratio) if ratio < 700 else np.inf)


def exponential(arms: Arms, cap: int) -> float:
    """U4: V <= F - n C_p + exp(L n C_p - 1) / L prod_i A_i(0) for every L > 0, least over L; see `_kernels`.

    By y+ <= exp(L y - 1) / L at y = (k - D) C_p - F. For n = 1 a detection ends A, and L >= 1 / C_p.
    """
    from unmask.economics import _kernels

    fine, total = arms.attacker.fine, float(arms.count @ arms.free[VALUE])
    listed = arms.listed
    tries = listed.start, arms.count, listed.hit, listed.large, listed.caught, listed.free

    def bound(log_rate: float) -> float:
        rate = float(np.exp(log_rate)) / fine
        logs = _kernels.exponential(*tries, rate, fine, cap == 1)
        exponent = rate * cap * fine - 1 + logs
        return total - cap * fine + (float(np.exp(exponent)) / rate if exponent <= 700 else np.inf)

    rates = RATES[RATES >= 0] if cap == 1 else RATES
    return _least(bound, rates.tolist())


def _least(bound: Callable[[float], float], at: list[float]) -> float:
    """The least value on a grid, refined around its place."""
    best = min(at, key=bound)
    step = at[1] - at[0]
    value = bound(best)
    while step > 1e-7:
        step /= 2
        for place in (best - step, best + step):
            if place >= at[0] and (found := bound(place)) < value:
                best, value = place, found
                break
    return value


def listable(arms: Arms) -> bool:
    """Whether the arms are few enough to go through their tries many times."""
    return int(arms.tries.sum()) <= MOST_LISTED
