"""Coverage of a judgement: the share of the file's people that a number is about."""

from __future__ import annotations

from collections.abc import Iterable

from unmask.policy.condition import QUANTILES, Condition
from unmask.results import Row
from unmask.results.names import MIN_COVERAGE

SMALL_COUNT = 10
"""Number of people below which a number is not printed."""

NEEDED = f"{100 * MIN_COVERAGE:g} %"

COUNTS = ("n_people", "n_drawn", "n_judged")
"""Fields of a `Row` or a `Summary` with its numbers of people."""


def coverage_gap(condition: Condition, item: object) -> str:
    """Return why a number is about too few people for a verdict on a condition; "" if it is about enough.

    A random sample stands for all people, as far as an interval says how surely. Its most exposed person and its
    quantiles do not: others may be worse off.
    """
    people, drawn, n_judged = (getattr(item, name, None) for name in COUNTS)
    if people is None or drawn is None or n_judged is None:
        return ""
    sample = f"{_format_count(drawn, people)} of {people:,} were drawn at random"
    if n_judged < MIN_COVERAGE * drawn:
        return f"{_format_count(n_judged, drawn)} of {drawn:,} are judged, and a verdict needs {NEEDED}"
    if drawn >= MIN_COVERAGE * people:
        return ""
    if condition.field == "worst" or condition.field in QUANTILES:
        return f"{sample}, and others may be worse off; attack all of them"
    return f"{sample}, and the number has no interval; attack all of them" if getattr(item, "low", None) is None else ""


def coverage_notes(items: Iterable[Row], *, noun: str = "people", always: bool = False) -> tuple[str, ...]:
    """Return a sentence for each number of people judged, those about the smallest share first.

    always : of enough people, too
    """
    counts = {(row.n_judged or 0, row.n_drawn or 0, row.n_people or 0) for row in items if row.n_people is not None}
    reported = [count for count in counts if always or count[0] < MIN_COVERAGE * count[2]]
    reported.sort(key=lambda count: count[0] / max(count[1], 1))
    return tuple(dict.fromkeys(_note(*count, noun) for count in reported))


def _note(n_judged: int, drawn: int, people: int, noun: str) -> str:
    note = f"{_format_count(n_judged, people)} of {people:,} {noun} in the file are judged"
    note = note[0].upper() + note[1:]
    if n_judged < MIN_COVERAGE * drawn:
        return f"{note}: below {NEEDED} there is no verdict."
    return f"{note}, a random sample." if drawn < people else f"{note}."


def _format_count(part: int, total: int) -> str:
    """Return a number of people, unless it or the rest is a small count."""
    if 0 < total - part < SMALL_COUNT:
        return f"all but fewer than {SMALL_COUNT}"
    return f"fewer than {SMALL_COUNT}" if 0 < part < SMALL_COUNT else f"{part:,}"
