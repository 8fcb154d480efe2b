"""Coverage of a judgement: the share of the file's people that a number is about."""

from __future__ import annotations

from collections.abc import Iterable

from unmask.languages import gettext as _
from unmask.policy.condition import QUANTILES, Condition
from unmask.results import Row
from unmask.results.names import MIN_COVERAGE
from unmask.results.suppression import FEWEST, hide_few
from unmask.results.words import format_count

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
    fields = {"n": _format_count(drawn, people), "total": people}
    if n_judged < MIN_COVERAGE * drawn:
        n = _format_count(n_judged, drawn)
        return _("{n} of {total} are judged, and a verdict needs {share}", n=n, total=drawn, share=NEEDED)
    if drawn >= MIN_COVERAGE * people:
        return ""
    if condition.field == "worst" or condition.field in QUANTILES:
        return _("{n} of {total} were drawn at random, and others may be worse off; attack all of them", **fields)
    if getattr(item, "low", None) is not None:
        return ""
    return _("{n} of {total} were drawn at random, and the number has no interval; attack all of them", **fields)


def coverage_notes(items: Iterable[Row], *, noun: str = "people", always: bool = False) -> tuple[str, ...]:
    """Return a sentence for each number of people judged, those about the smallest share first.

    always : of enough people, too
    """
    counts = {(row.n_judged or 0, row.n_drawn or 0, row.n_people or 0) for row in items if row.n_people is not None}
    reported = [count for count in counts if always or count[0] < MIN_COVERAGE * count[2]]
    reported.sort(key=lambda count: count[0] / max(count[1], 1))
    return tuple(dict.fromkeys(_note(*count, noun) for count in reported))


def _note(n_judged: int, drawn: int, people: int, noun: str) -> str:
    count = _format_count(n_judged, people)
    fields = {"n": count[0].upper() + count[1:], "total": people, "things": noun}
    if n_judged < MIN_COVERAGE * drawn:
        return _(
            "{n} of {total} {things} in the file are judged: below {share} there is no verdict.", share=NEEDED, **fields
        )
    if drawn < people:
        return _("{n} of {total} {things} in the file are judged, a random sample.", **fields)
    return _("{n} of {total} {things} in the file are judged.", **fields)


def _format_count(part: int, total: int) -> str:
    """Return a number of people, unless it or the rest is a small count."""
    if 0 < total - part < FEWEST:
        return _("all but fewer than {n}", n=FEWEST)
    return format_count(hide_few(part, FEWEST))
