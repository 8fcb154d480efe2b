"""Searches for the amount, or the group size, at which a decision changes."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import Final

PRECISION: Final = 1e-7
"""Relative width at which a bisection stops."""

SMALLEST_AMOUNT: Final = 2.0**-60
"""Least amount of a search that is not 0."""

LARGEST_AMOUNT: Final = 2.0**60
"""Largest fine or price of a search."""

SLOPE_PRECISION: Final = 1e-10
"""Share of the money at stake below which two plans are equally good."""

MAX_BREAKPOINTS: Final = 100
"""Largest number of breakpoints of one function."""


def bisect_whole(holds: Callable[[int], bool], last: int) -> int | None:
    """Return the first whole number from 1 to `last` at which a condition holds; None without one. Probes double.

    >>> bisect_whole(lambda number: number >= 6, 10), bisect_whole(lambda number: number >= 6, 5)
    (6, None)
    """
    high = 1
    while high <= last and not holds(high):
        high *= 2
    if high > last and not holds(last):
        return None
    first = high // 2 + 1
    return first + bisect_left(range(first, min(high, last) + 1), True, key=holds)


def find_root(function: Callable[[float], float], first: float, precision: float = PRECISION) -> tuple[float, float]:
    """Return a narrow bracket: the function is above 0 at the first amount, and not at the second. Probes double.

    A function that is about convex and falls needs few probes: the line through the last two amounts above 0 meets 0
    below its root. Probes are a little above and below that amount. If the bracket is then wider than half of the
    earlier one, its middle is probed.
    """
    low, excess, high, slope = 0.0, function(0.0), math.inf, 0.0
    if excess <= 0:
        return 0.0, 0.0

    def probe(amount: float) -> None:
        nonlocal low, excess, high, slope
        value = function(amount)
        if value <= 0:
            high = min(high, amount)
        elif amount > low:
            slope, low, excess = (excess - value) / (amount - low), amount, value

    def is_wide() -> bool:
        return high == math.inf or high - low > precision * max(high, SMALLEST_AMOUNT)

    probe(first)
    while is_wide():
        width = high - low
        if slope > 0:
            root = low + excess / slope
            for amount in (root * (1 + precision / 3), root * (1 - precision / 3)):
                if low < amount < high and is_wide():
                    probe(amount)
        if high == math.inf or high - low > width / 2:
            probe(2 * low if high == math.inf else (low + high) / 2)
        if low > LARGEST_AMOUNT:
            return low, math.inf
    return low, high


def minimize_convex(line: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Return the amount at which a convex piecewise linear function is smallest, with a relative width of `PRECISION`.

    line : amount -> value and slope. The tangents of two amounts around the minimum meet at a breakpoint, or closer.

    >>> minimize_convex(lambda x: (max(6 - 2 * x, x), -2.0 if x < 2 else 1.0), 0, 10)
    2.0
    """
    (value_low, slope_low), (value_high, slope_high) = line(low), line(high)
    for _ in range(MAX_BREAKPOINTS):
        if slope_low >= 0 or slope_high <= 0:
            return low if slope_low >= 0 else high
        meet = (value_low - slope_low * low - value_high + slope_high * high) / (slope_high - slope_low)
        if high - low <= PRECISION * high or not low < meet < high:
            break
        value, slope = line(meet)
        if value <= value_low + slope_low * (meet - low) + SLOPE_PRECISION * abs(value):
            return meet
        if slope < 0:
            low, value_low, slope_low = meet, value, slope
        else:
            high, value_high, slope_high = meet, value, slope
    return low if value_low <= value_high else high


def find_breakpoints(line: Callable[[float], tuple[float, float]], low: float, high: float) -> list[float]:
    """Return the ascending amounts at which a convex piecewise linear function changes its slope.

    line : amount -> value and slope; called at most twice for each breakpoint, and once more. The tangents of two
           amounts meet at a breakpoint if the function has the same value there

    M. Eisner and D. Severance, "Mathematical techniques for efficient record segmentation", 1976.

    >>> find_breakpoints(lambda x: (max(0.0, 6 - 2 * x, 4 - x), -2.0 if x < 2 else -1.0 if x < 4 else 0.0), 0, 10)
    [2.0, 4.0]
    """
    breakpoints: list[float] = []
    spans = [((low, *line(low)), (high, *line(high)))]
    while spans and len(breakpoints) < MAX_BREAKPOINTS:
        (a, value_a, slope_a), (b, value_b, slope_b) = spans.pop()
        if slope_b - slope_a <= SLOPE_PRECISION * abs(slope_a):
            continue
        meet = (value_a - slope_a * a - value_b + slope_b * b) / (slope_b - slope_a)
        value, slope = line(meet)
        if not a < meet < b or value <= value_a + slope_a * (meet - a) + SLOPE_PRECISION * abs(value_a):
            breakpoints.append(min(max(meet, a), b))
        else:
            spans += [((a, value_a, slope_a), (meet, value, slope)), ((meet, value, slope), (b, value_b, slope_b))]
    return sorted(breakpoints)
