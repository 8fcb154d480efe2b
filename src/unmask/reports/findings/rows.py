"""What one row says of an adversary, as the ends of sentences."""

from __future__ import annotations

import math

from unmask.measures.registry import SHARES, needs_truth
from unmask.reports.facts.study import OTHERWISE, RATIONAL
from unmask.reports.words import IDENTITY, SECRET, number, percent, row_estimate
from unmask.results import Row

LINKAGE = "linkage"


def did(row: Row) -> str:
    """What an adversary does, to how many, as the end of a sentence: "re-identifies 25 % [20, 30] of 300 people"."""
    value, n = row_estimate(row), f"{row.n:,}"
    if row.measure in OTHERWISE:
        if row.unit not in SHARES:
            return f"is off by {value} {row.unit} on average over {n} cases"
        return f"is wrong in {value} of {n} cases"
    realized = needs_truth(row.measure)
    hopes, end = ("", "s") if realized else ("expects to ", "")
    verb = "re-identifies" if realized else "expects to re-identify"
    if row.target == LINKAGE:
        if row.measure == "breached":
            return f"breaches {value} of {n} subjects"
        return f"links {value} of a subject's items on average, over {n} subjects"
    if row.measure in RATIONAL:
        return f"{verb} {value} of {n} people, by as many tries as pay for each of them"
    if row.target == IDENTITY:
        return f"{verb} {value} of {n} people"
    if row.target == SECRET:
        return f"{hopes}guess{'es' if end else ''} the secret in {value} of cases"
    return f"{hopes}infer{end} {row.target} correctly for {value} of {n} people"


def without(row: Row) -> str:
    """What they reach without the release.

    Of linkage that is what clusters of the same sizes with shuffled labels reach.
    """
    value = percent(row.prior) if row.unit in SHARES else number(row.prior)
    if row.measure in OTHERWISE:
        return f"without the release {'in' if row.unit in SHARES else 'by'} {value}"
    return f"{'shuffled labels give' if row.target == LINKAGE else 'guessing gives'} {value}"


def risky(row: Row) -> float:
    """How bad a value is: the higher the worse, whatever the adversary wants; undefined values are not bad."""
    value = row.posterior if row.direction == "high" else -row.posterior
    return -math.inf if math.isnan(value) else value
