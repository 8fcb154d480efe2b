"""Words of a report: numbers with significant digits only. Names of measures are declared in `unmask.measures`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from unmask.languages import gettext as _
from unmask.measures.registry import SHARES, Quantity, described
from unmask.results import Row
from unmask.results.formats import SPACE, decimals, estimate, number
from unmask.results.names import ADOPTERS, IDENTITY, MEMBERSHIP, RARE, SECRET

KINDS_OF_VALUE = (
    "Expected values follow the adversary's belief. Realized values were checked against the truth. Gain is the "
    "difference to the prior, positive if the adversary profits."
)
"""Explanation of the tables of measures, for audits and studies."""


def row_estimate(row: Row) -> str:
    """Return the posterior of a row with its interval."""
    return estimate(row.posterior, row.unit, row.low, row.high)


def row_value(row: Row) -> str:
    """Return the posterior of a row without its interval, with the digits of the interval."""
    return row_estimate(row).partition(f"{SPACE}[")[0]


def gain(row: Row) -> str:
    """Return the gain from the release with its sign, in percentage points for shares."""
    if not math.isfinite(row.gain):
        return number(row.gain)
    scale = 100 if row.unit in SHARES else 1
    places = None if scale == 1 else 1 if abs(row.gain) >= 0.01 else 2
    if row.low is not None and row.high is not None and row.high > row.low:
        places = decimals(scale * row.low, scale * row.high)
    text = number(scale * row.gain, places)
    return ("+" if row.gain > 0 else "") + text + (f"{SPACE}points" if scale == 100 else "")


def points(row: Row) -> str:
    """Return the excess of a share in percentage points, with its interval."""
    assert row.excess is not None
    ends = (None if end is None else 100 * end for end in (row.excess_low, row.excess_high))
    value, bracket, interval = estimate(100 * row.excess, "points", *ends).partition(f"{SPACE}[")
    return _("{value}\u00a0points", value=value) + bracket + interval


def format_target(target: str) -> str:
    """Return the meaning of success for a target: the heading of its tables and charts."""
    if target == "linkage":
        return "Linkage: items of a subject linked"
    if target == SECRET:
        return "Secret: guessed right"
    if target in (MEMBERSHIP, RARE):
        return f"Membership: {'the rarest people ' if target == RARE else ''}recognized as members or not"
    if target == ADOPTERS:
        return "Adopters: people with several identities found"
    return "Identity: people re-identified" if target == IDENTITY else f"{target}: value inferred"


def measure_name(measure: str) -> str | None:
    """Return the name of a measure in a list: "realized success", "guesses needed"; None if it is unknown."""
    quantity = described(measure)
    if quantity is None:
        return None
    name = quantity.label[0].lower() + quantity.label[1:]
    return f"realized {name}" if measure.startswith("realized_") else name


def measure_line(measure: str, row: Row) -> str:
    """Return the line above the rows of a measure: name, meaning, unit, and the direction that adversaries want."""
    quantity = described(measure) or Quantity(measure, measure.replace("_", " "), f"in {row.unit}")
    unit = "" if row.unit in SHARES or row.unit in quantity.meaning else f" ({row.unit})"
    return f"{quantity.label} \u2013 {quantity.meaning}{unit}; the adversary wants it {row.direction}"


def name_of(name: str, names: Mapping[str, Quantity]) -> str:
    """Return a name for readers; text after a space, as in "t_equal (occupation)", is not changed."""
    stem, _, suffix = name.partition(" ")
    return f"{names[stem].label if stem in names else stem.replace('_', ' ')} {suffix}".strip()
