"""Coverage of a judgement: the share of the file's people that a number is about."""

from __future__ import annotations

from collections.abc import Iterable

from unmask.policy.condition import QUANTILES, Condition
from unmask.results import Row

MIN_COVERAGE = 0.95
"""Share of the people who must be judged before there is a verdict."""

SMALL_COUNT = 10
"""People: a smaller number of people without a judgement is not stated."""


NEEDED = f"{100 * MIN_COVERAGE:g} %"

SAMPLE = "{} of {:,} were drawn at random"


def coverage_gap(condition: Condition, item: object) -> str:
    """Return why a number is about too few people for a verdict on a condition; "" if it is about enough.

    A random sample stands for all people, as far as an interval says how surely. Its worst-off person and its
    quantiles do not: others may be worse off.
    """
    people, drawn, judged = (getattr(item, name, None) for name in ("n_people", "n_drawn", "n_judged"))
    if people is None or drawn is None or judged is None:
        return ""
    if judged < MIN_COVERAGE * drawn:
        return f"{_stated(judged, drawn)} of {drawn:,} are judged, and a verdict needs {NEEDED}"
    if drawn >= MIN_COVERAGE * people:
        return ""
    if condition.field == "worst" or condition.field in QUANTILES:
        return f"{SAMPLE.format(_stated(drawn, people), people)}, and others may be worse off; attack all of them"
    if getattr(item, "low", None) is None:
        return f"{SAMPLE.format(_stated(drawn, people), people)}, and the number has no interval; attack all of them"
    return ""


def coverage_notes(items: Iterable[Row], *, noun: str = "people", always: bool = False) -> tuple[str, ...]:
    """Return a sentence for each number of people judged, those about the smallest share first.

    always : of enough people, too
    """
    counts = {(one.n_judged, one.n_drawn, one.n_people) for one in items}
    known = [(n, of, all_) for n, of, all_ in counts if n is not None and of is not None and all_ is not None]
    told = [one for one in known if always or one[0] < MIN_COVERAGE * one[2]]
    return tuple(dict.fromkeys(_note(*one, noun) for one in sorted(told, key=lambda one: one[0] / max(one[1], 1))))


def _note(judged: int, drawn: int, people: int, noun: str) -> str:
    note = f"{_stated(judged, people)} of the {people:,} {noun} of the file are judged"
    note = note[0].upper() + note[1:]
    if judged < MIN_COVERAGE * drawn:
        return f"{note}: below {NEEDED} there is no verdict."
    return f"{note}: a random sample, which stands for all." if drawn < people else f"{note}."


def _stated(part: int, whole: int) -> str:
    """Return a number of people, unless it or the rest is a small count."""
    if 0 < whole - part < SMALL_COUNT:
        return f"all but fewer than {SMALL_COUNT}"
    return f"fewer than {SMALL_COUNT}" if 0 < part < SMALL_COUNT else f"{part:,}"
