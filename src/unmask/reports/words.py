"""How a report speaks: numbers with no more digits than they bear. What a number is called stands where it is declared,
in `unmask.measures`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from unmask.measures.registry import CRITERIA, SHARES, UTILITIES, Quantity, described
from unmask.results import Row
from unmask.results.formats import SPACE, decimals, estimate, number, percent
from unmask.results.result import Value

IDENTITY = "identity"

ADOPTERS = "adopters"
"""The target of an adversary who looks for people with several identities."""

SECRET = "secret"
"""The target of adversaries who look at a channel: nobody's name, and no column."""

MEMBERSHIP = "membership"
"""The target of those who ask whether somebody is in the table."""

RARE = "membership of the rare"
"""The same of the most vulnerable people alone."""

SINGLING, PARTS = "singling out", "linkability"
"""Targets of adversaries who single people out, and who link two parts of a record."""

FAILURES = ("failed", "skipped", "timed out", "not run")
"""A row of such a status has no value; the page says the word instead."""


def row_estimate(row: Row) -> str:
    """The posterior of a row with its interval."""
    return estimate(row.posterior, row.unit, row.low, row.high)


def row_value(row: Row) -> str:
    """The posterior of a row without its interval, with the digits that the interval bears."""
    return row_estimate(row).partition(f"{SPACE}[")[0]


def gain(row: Row) -> str:
    """What the release gave the adversary, signed, in percentage points where the unit is a share."""
    if not math.isfinite(row.gain):
        return number(row.gain)
    scale = 100 if row.unit in SHARES else 1
    places = None if scale == 1 else 1 if abs(row.gain) >= 0.01 else 2
    if row.low is not None and row.high is not None and row.high > row.low:
        places = decimals(scale * row.low, scale * row.high)
    text = number(scale * row.gain, places)
    return ("+" if row.gain > 0 else "") + text + (f"{SPACE}points" if scale == 100 else "")


def points(row: Row) -> str:
    """The excess of a share in percentage points, with its interval."""
    assert row.excess is not None
    ends = (None if end is None else 100 * end for end in (row.excess_low, row.excess_high))
    value, mark, interval = estimate(100 * row.excess, "points", *ends).partition(f"{SPACE}[")
    return f"{value}{SPACE}points{mark}{interval}"


ROOM = 18
"""Letters for a name in a chart."""


def told_apart(names: Iterable[str]) -> dict[str, str]:
    """Names for a chart, no two of them alike: the words of a long one are cut, with a period behind what is left.

    Values of parameters are never cut, and names stay whole where two would be alike.

    >>> told_apart(["cells suppressed k=10", "Mondrian k=10"])
    {'cells suppressed k=10': 'cells suppre. k=10', 'Mondrian k=10': 'Mondrian k=10'}
    >>> list(told_apart(["most exposed employees", "most exposed employers"]).values())
    ['most exposed employees', 'most exposed employers']
    """
    cut = {name: _fitted(name) for name in names}
    times = Counter(cut.values())
    return {name: short_name if times[short_name] == 1 else name for name, short_name in cut.items()}


def _fitted(name: str) -> str:
    """A name with as many letters of each word as there is room for, at least three."""
    short_names = [" ".join(_begun(word, n) for word in name.split()) for n in range(ROOM, 2, -1)]
    return next((text for text in (name, *short_names) if len(text) <= ROOM), short_names[-1])


def _begun(word: str, letters: int) -> str:
    """A word, or its first letters; what stands behind an equals sign is kept."""
    stem, sign, value = word.partition("=")
    return word if len(stem) <= letters + 1 else f"{stem[:letters]}.{sign}{value}"


def lettered(text: str, style: int, n_adversaries: int) -> str:
    """The text behind the letter of its adversary, where there are several to tell apart."""
    return f"{letter(style)}  {text}" if n_adversaries > 1 else text


def styles_of(names: Sequence[str]) -> dict[str, int]:
    """Name -> number of its letter, color and shape: its place."""
    return {name: style for style, name in enumerate(names)}


def letter(style: int) -> str:
    """A for the first adversary, B for the second, AA after Z."""
    return (letter(style // 26 - 1) if style >= 26 else "") + chr(ord("A") + style % 26)


def what(target: str) -> str:
    """What success means for a target: the heading of its tables and charts."""
    if target == "linkage":
        return "Linkage: items of a subject linked"
    if target == SECRET:
        return "Secret: guessed right"
    if target in (MEMBERSHIP, RARE):
        return f"Membership: {'the rarest people ' if target == RARE else ''}told to be in the table or not"
    if target == ADOPTERS:
        return "Adopters: people with several identities found"
    return "Identity: people re-identified" if target == IDENTITY else f"{target}: value inferred"


def measure_name(measure: str) -> str | None:
    """A measure by name, as one would list it: "realized success", "guesses needed"; None if it is unknown."""
    quantity = described(measure)
    if quantity is None:
        return None
    name = quantity.label[0].lower() + quantity.label[1:]
    return f"realized {name}" if measure.startswith("realized_") else name


def measure_line(measure: str, row: Row) -> str:
    """The line above the rows of one measure: its name, what it means, its unit, and what the adversary wants."""
    quantity = described(measure) or Quantity(measure, measure.replace("_", " "), f"in {row.unit}")
    unit = "" if row.unit in SHARES or row.unit in quantity.meaning else f" ({row.unit})"
    return f"{quantity.label} \u2013 {quantity.meaning}{unit}; the adversary wants it {row.direction}"


def name_of(name: str, names: Mapping[str, Quantity]) -> str:
    """A name for readers; what follows a space, as in "t_equal (occupation)", is kept."""
    stem, _, suffix = name.partition(" ")
    return f"{names[stem].label if stem in names else stem.replace('_', ' ')} {suffix}".strip()


def written(stem: str, value: Value) -> str:
    """A criterion or loss as a cell of a table."""
    if value is None or isinstance(value, str):
        return "not run" if value is None else value
    declared = CRITERIA.get(stem) or UTILITIES.get(stem)
    return percent(value) if declared is not None and declared.in_percent else number(value)
