"""One registry of everything that is measured: each name with what it is called, what it means, its unit and direction.

A number is declared beside the mathematics (`declare`), under one name: that of its row, of the field, in Python, in a
plan and in a gate. Reports, the command line and the docs take their words from here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Literal, TypeVar

SHARES = frozenset({"probability", "share"})
"""Units that are written in percent."""


@dataclass(frozen=True)
class Quantity:
    """A number by name, whoever computes it.

    name        : the one name
    label       : for readers, as the heading of its lines; the name when left out
    meaning     : what it is, in one line
    unit        : as printed; "" for a plain number
    direction   : what the adversary wants, "high" or "low"
    range       : smallest and largest value possible
    source      : paper and section or equation
    realizes    : the self-assessed measure that this is the realized side of; both are shown side by side
    needs_truth : whether it compares a belief with what is true
    """

    name: str
    label: str = ""
    meaning: str = ""
    unit: str = ""
    direction: Literal["high", "low"] = "high"
    range: tuple[float, float] = (0.0, inf)
    source: str = ""
    realizes: str = ""
    needs_truth: bool = False

    @property
    def in_percent(self) -> bool:
        """How it is written: in percent, or as a number with its unit."""
        return self.unit in SHARES


Declared = TypeVar("Declared", bound=Quantity)

MEASURES: dict[str, Quantity] = {}
"""What is measured of a belief, a clustering or a matching: name -> declaration."""

CRITERIA: dict[str, Quantity] = {}
"""What a release guarantees without naming an adversary."""

UTILITIES: dict[str, Quantity] = {}
"""What a release has lost. All are losses: the higher, the less is left."""

FAMILIES: dict[str, Callable[[float], Quantity]] = {}
"""Measures with a number in their name: a pattern with one group -> the measure of that number."""


def declare(quantity: Declared, among: dict[str, Quantity] = MEASURES) -> Declared:
    """Enter a quantity under its name, and return it."""
    among[quantity.name] = quantity
    return quantity


def declare_all(*quantities: Quantity, among: dict[str, Quantity] = MEASURES, needs_truth: bool = False) -> None:
    """Enter quantities that are computed elsewhere."""
    for one in quantities:
        declare(replace(one, needs_truth=True) if needs_truth else one, among)


def realized_by(name: str) -> str:
    """The measure that is the realized side of a self-assessed one; "" where there is none.

    >>> realized_by("success_probability"), realized_by("realized_success")
    ('realized_success', '')
    """
    return next((one.name for one in MEASURES.values() if one.realizes == name), "")


def described(name: str) -> Quantity | None:
    """The measure of a name, those with a number in it included; None for one that nobody declared.

    >>> described("realized_success_at_5").label, described("my_own")
    ('Success within 5 guesses', None)
    """
    if name in MEASURES:
        return MEASURES[name]
    numbers = ((make, re.fullmatch(pattern, name)) for pattern, make in FAMILIES.items())
    return next((make(float(found[1])) for make, found in numbers if found), None)


def quantity(measure: str) -> str:
    """The name that the self-assessed and the realized measure of one thing share: that of the self-assessed one.

    >>> quantity("realized_success"), quantity("rank")
    ('success_probability', 'rank')
    """
    known = described(measure)
    return (known and known.realizes) or measure


def needs_truth(measure: str) -> bool:
    """Whether a measure compares a belief with what is true."""
    known = described(measure)
    return measure.startswith("realized_") if known is None else known.needs_truth
