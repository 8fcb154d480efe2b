"""Registry of all measures, criteria and losses: name, label, meaning, unit and direction.

The rows of `names.csv` declare our quantities; `declare` adds one. Its name is the same in rows, fields, Python, study
plans and gates. Reports, the command line and the docs use its label and meaning. The direction of a criterion is that
in which a class discloses more. A suffix in brackets names a column, as in "t_equal (occupation)".
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isnan
from pathlib import Path
from typing import Any, Literal, TypeVar

from unmask.results.formats import SHARES as SHARES


@dataclass(frozen=True)
class Quantity:
    """Named number: label, meaning, unit and direction.

    Parameters
    ----------
    name : str
        Name in rows, plans, gates and Python.
    label : str
        Heading for readers; the name by default.
    meaning : str
        Meaning in one line.
    unit : str
        Unit as printed; "" for a plain number.
    direction : {"high", "low"}
        Direction that is better for the adversary.
    range : tuple of float
        Smallest and largest possible value.
    source : str
        Paper and section or equation.
    realizes : str
        Self-assessed measure whose realized side this is. Both are shown next to each other.
    needs_truth : bool
        Whether the measure compares a belief with the truth.
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
        """Return whether the number is written in percent."""
        return self.unit in SHARES


Declared = TypeVar("Declared", bound=Quantity)

MEASURES: dict[str, Quantity] = {}
"""Measures of a belief, a clustering or a matching, by name."""

CRITERIA: dict[str, Quantity] = {}
"""Criteria of a release that hold against every adversary, by name."""

UTILITIES: dict[str, Quantity] = {}
"""Losses of a release, by name."""

PARTITION_SCORES: dict[str, Quantity] = {}
"""Scores of a whole partition: see `clustering.metrics`. They are measures, too."""

FAMILIES: dict[str, Callable[[float], Quantity]] = {}
"""Measures with a number in their name: from a pattern with one group to the measure of that number."""


def declare(quantity: Declared, registry: dict[str, Quantity] = MEASURES) -> Declared:
    """Register a quantity under its name.

    Parameters
    ----------
    quantity : Quantity
        Quantity to register.
    registry : dict, optional
        `MEASURES` by default.

    Returns
    -------
    Quantity
        The same quantity.
    """
    registry[quantity.name] = quantity
    return quantity


def declare_all(*quantities: Quantity) -> None:
    """Register measures."""
    for quantity in quantities:
        declare(quantity)


def _declare_rows() -> None:
    registries = {
        "measures": (MEASURES,),
        "criteria": (CRITERIA,),
        "utilities": (UTILITIES,),
        "partition scores": (MEASURES, PARTITION_SCORES),
    }
    with Path(__file__).with_name("names.csv").open(encoding="utf-8", newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    for row in rows:
        places, limits = registries[row.pop("registry")], (float(row.pop("low")), float(row.pop("high")))
        quantity = Quantity(**row | {"range": limits, "needs_truth": bool(row["needs_truth"])})
        for registry in places:
            declare(quantity, registry)


_declare_rows()


def realized_by(name: str) -> str:
    """Return the measure that is the realized side of a self-assessed one; "" without one.

    >>> realized_by("success_probability"), realized_by("realized_success")
    ('realized_success', '')
    """
    return next((measure.name for measure in MEASURES.values() if measure.realizes == name), "")


def described(name: str) -> Quantity | None:
    """Return the measure with this name, which may contain a number; None for an undeclared name.

    Parameters
    ----------
    name : str
        Name of a measure.

    Returns
    -------
    Quantity or None
        Declaration of the measure.

    Examples
    --------
    >>> described("realized_success_at_5").label, described("my_own")
    ('Success within 5 guesses', None)
    """
    if name in MEASURES:
        return MEASURES[name]
    matches = ((make, re.fullmatch(pattern, name)) for pattern, make in FAMILIES.items())
    return next((make(float(match[1])) for make, match in matches if match and _is_number(match[1])), None)


def _is_number(text: str) -> bool:
    try:
        return not isnan(float(text))
    except ValueError:
        return False


def name_with_parameter(text: str) -> str:
    """Return the name of a measure that is written NAME:PARAMETER; other texts are unchanged.

    >>> name_with_parameter("renyi_entropy_bits:2"), name_with_parameter("confidence_set_size:0.9")
    ('renyi_entropy_2_bits', 'confidence_set_size_0.9')
    """
    name, _, parameter = text.partition(":")
    families = {re.sub(r"_\(.+\)", "", pattern): pattern for pattern in FAMILIES}
    if not parameter or name not in families:
        return text
    return re.sub(r"\(.+\)", lambda _: parameter, families[name])


def quantity(measure: str) -> str:
    """Return the common name of a self-assessed measure and its realized side, which is the self-assessed name.

    >>> quantity("realized_success"), quantity("rank")
    ('success_probability', 'rank')
    """
    declared = described(measure)
    return (declared and declared.realizes) or measure


def needs_truth(measure: str) -> bool:
    """Return whether a measure compares a belief with the truth."""
    declared = described(measure)
    return measure.startswith("realized_") if declared is None else declared.needs_truth
