"""Suppression of small counts: a shared page never states a number of fewer people than the smallest group allows."""

from __future__ import annotations

import math

FEWEST = 10
"""The smallest group of people that a shared page describes, unless the caller sets another number."""


def round_people(count: int | str, least: int) -> int | str:
    """Return a count of people rounded up to a multiple of `least`; "fewer than 10" for a smaller count.

    >>> round_people(0, 10), round_people(3, 10), round_people(10, 10), round_people(21, 10)
    (0, 'fewer than 10', 10, 30)
    """
    if isinstance(count, str) or count == 0:
        return count
    return f"fewer than {least:,}" if count < least else least * math.ceil(count / least)


def round_share(share: float, people: int | str, least: int) -> float | None:
    """Return a share of people rounded up to a multiple of `least` of them; None if there are fewer people.

    >>> round_share(0.003, 1000, 10), round_share(0.51, 1000, 10), round_share(0.0, 1000, 10), round_share(0.5, 4, 10)
    (0.01, 0.51, 0.0, None)
    """
    if isinstance(people, str) or people < least:
        return None
    return min(1.0, least * math.ceil(round(share * people / least, 6)) / people)
