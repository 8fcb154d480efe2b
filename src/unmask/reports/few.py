"""Counts and shares of few people, as words and in steps: what a page may say of them."""

from __future__ import annotations

import math

from unmask.facts import Count

FEWEST = 10
"""The fewest people that stand for a cell of a page, unless another number is asked for."""

TENTH = 10
"""Groups into which people are divided where a page speaks of a tenth of them."""


def few(count: Count, least: int) -> Count:
    """A count of people as a cell of a page.

    >>> few(0, 10), few(3, 10), few(10, 10)
    (0, 'fewer than 10', 10)
    """
    return f"fewer than {least:,}" if isinstance(count, int) and 0 < count < least else count


def in_steps(count: Count, least: int, of: int | None = None) -> Count:
    """A count of people in multiples of `least`, rounded up, and no more than the people there are.

    >>> in_steps(3, 10), in_steps(21, 10), in_steps(21, 10, of=25)
    ('fewer than 10', 30, 25)
    """
    if isinstance(count, str) or count < least:
        return few(count, least)
    up = least * math.ceil(count / least)
    return up if of is None else min(up, of)


def rounded_up(share: float, people: int, least: int) -> float:
    """A share of people, rounded up to a multiple of `least` of them, so that no difference of shares tells fewer.

    >>> rounded_up(0.003, 1000, 10), rounded_up(0.51, 1000, 10), rounded_up(0.0, 1000, 10)
    (0.01, 0.51, 0.0)
    """
    return min(1.0, least * math.ceil(round(share * people / least, 6)) / people)


def handed_on(least: int, *, cases: bool = False) -> str:
    """For whom a page is; cases : it is about a mechanism, and about nobody."""
    if cases:
        return (
            "This page may be handed on: it is about a mechanism, and shows nobody's secret, no file path and no seed."
        )
    if least <= 1:
        return "For the owner of the data alone: this page shows groups of any size, single people among them."
    return (
        "This page may be handed to those who decide about the release and to those who get it. It shows no record, no "
        "file path and no seed; besides k, the worst-off, shares, and expected or matched numbers, it shows nothing "
        f"about fewer than {least:,} people."
    )
