"""Suppression of small counts: a shared page never states a number of fewer people than the smallest group allows."""

from __future__ import annotations

import math
import re

FEWEST = 10
"""The smallest group of people that a shared page describes, unless the caller sets another number."""


TENTH = 10
"""Number of groups of people if a page describes a tenth of them."""


def hide_few(count: int | str, smallest_group: int) -> int | str:
    """Return a count of people, or "fewer than 10" if it is smaller.

    >>> hide_few(0, 10), hide_few(3, 10), hide_few(11, 10)
    (0, 'fewer than 10', 11)
    """
    return f"fewer than {smallest_group:,}" if isinstance(count, int) and 0 < count < smallest_group else count


def round_people(count: int | str, smallest_group: int, n_people: int | None = None) -> int | str:
    """Return a count of people rounded up to a multiple of `smallest_group`, at most `n_people`; "fewer than 10" below.

    >>> round_people(0, 10), round_people(3, 10), round_people(10, 10), round_people(21, 10), round_people(21, 10, 25)
    (0, 'fewer than 10', 10, 30, 25)
    """
    if isinstance(count, str) or count < smallest_group:
        return hide_few(count, smallest_group)
    rounded = smallest_group * math.ceil(count / smallest_group)
    return rounded if n_people is None else min(rounded, n_people)


def round_share(share: float, people: int, smallest_group: int) -> float:
    """Return a share of people rounded up to a multiple of `smallest_group`, so that no difference describes fewer.

    >>> round_share(0.003, 1000, 10), round_share(0.51, 1000, 10), round_share(0.0, 1000, 10), round_share(0.5, 4, 10)
    (0.01, 0.51, 0.0, 1.0)
    """
    return min(1.0, smallest_group * math.ceil(round(share * people / smallest_group, 6)) / people)


_START, _END = "\ue000", "\ue001"
_COUNT = re.compile(f"{_START}(\\d+){_END}")
_OPEN, _SIZE, _CLOSE = "\ue002", "\ue003", "\ue004"
_GROUP = re.compile(f"( ?){_OPEN}(\\d+){_SIZE}([^{_CLOSE}]*){_CLOSE}")


def mark_people(count: int) -> str:
    """Return a count of people as a mark in a sentence, which `write_counts` turns into words.

    A sentence is written before its readers are known: the owner of the data, or people who receive the page.
    """
    return f"{_START}{count}{_END}"


def mark_group(sentence: str, count: int) -> str:
    """Return a sentence about a group of people, marked so that `write_counts` leaves it out if the group is small."""
    return f"{_OPEN}{count}{_SIZE}{sentence}{_CLOSE}"


def write_counts(sentence: str, smallest_group: int) -> str:
    """Return text with its marked counts of people; counts below `smallest_group` read "fewer than 10".

    Sentences about fewer than `smallest_group` people are left out.

    >>> sentence = f"{mark_people(3)} of {mark_people(1200)} people"
    >>> write_counts(sentence, 10), write_counts(sentence, 1)
    ('fewer than 10 of 1,200 people', '3 of 1,200 people')
    >>> write_counts(f"All. {mark_group('Of 3 people, 2.', 3)}", 10)
    'All.'
    """
    large = _GROUP.sub(lambda match: "" if 0 < int(match[2]) < smallest_group else match[1] + match[3], sentence)
    return _COUNT.sub(lambda match: _write_count(int(match[1]), smallest_group), large).lstrip(" ")


def _write_count(count: int, smallest_group: int) -> str:
    text = hide_few(count, smallest_group)
    return text if isinstance(text, str) else f"{text:,}"
