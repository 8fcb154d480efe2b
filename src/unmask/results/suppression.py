"""Suppression of small counts: a shared page never states a number of fewer people than the smallest group allows."""

from __future__ import annotations

import math
import re

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


_START, _END = "\ue000", "\ue001"
_COUNT = re.compile(f"{_START}(\\d+){_END}")


def mark_people(count: int) -> str:
    """Return a count of people as a mark in a sentence, which `write_counts` turns into words.

    A sentence is written before it is known who will read it: the owner, or people with whom the page is shared.
    """
    return f"{_START}{count}{_END}"


def write_counts(sentence: str, least: int) -> str:
    """Return a sentence with its marked counts of people; counts below `least` read "fewer than 10".

    >>> sentence = f"{mark_people(3)} of {mark_people(1200)} people"
    >>> write_counts(sentence, 10), write_counts(sentence, 1)
    ('fewer than 10 of 1,200 people', '3 of 1,200 people')
    """
    return _COUNT.sub(lambda match: _write_count(int(match[1]), least), sentence)


def _write_count(count: int, least: int) -> str:
    return f"fewer than {least:,}" if 0 < count < least else f"{count:,}"
