"""Rates of a linkage audit: numbers of each subject whose means are rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from unmask.core.arrays import Floats
from unmask.measures.interval import Interval, clustered_bootstrap, clustered_wilson
from unmask.measures.registry import MEASURES, Quantity


@dataclass(frozen=True)
class Rate(Quantity):
    """A number of each subject whose mean is a row; its name is an attribute of `Unlinkability`.

    proportion : whether it is true or false for a subject, which has Wilson's interval
    bounded : whether it is an attribute of `Bounds`, too, for unknown items
    """

    proportion: bool = False
    bounded: bool = False

    def worst_case(self, values: Floats) -> Floats:
        """Return the bound that is better for the adversary, so that an audit never understates the risk.

        values : (2, S) the smallest and the largest value
        """
        bound: Floats = values[1 if self.direction == "high" else 0]
        return bound

    def interval(self, value: Floats) -> Interval:
        """Return the interval of the mean over subjects, each a draw of its own."""
        weight, subject = np.full(len(value), 1 / len(value)), np.arange(len(value))
        return (clustered_wilson if self.proportion else clustered_bootstrap)(value, weight, subject)


def _rate(name: str, *, proportion: bool = False, bounded: bool = False) -> Rate:
    return Rate(**vars(MEASURES[name]), proportion=proportion, bounded=bounded)


RATES: Final = (
    _rate("breached", proportion=True, bounded=True),
    _rate("clean_breach", proportion=True, bounded=True),
    _rate("linked_now", bounded=True),
    _rate("foreign_share", bounded=True),
    *map(_rate, ("merges", "risk_slope", "miss", "include", "foreign_subjects", "effective_foreign_subjects")),
)
"""Rates of an audit, in the order of its rows."""

FURTHER_RATES: Final = (_rate("combined_error"), _rate("normalized_error"))
"""Rates that are computed only on request."""
