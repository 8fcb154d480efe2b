"""The rates of adversaries who say which items belong together: what is filed of every guess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from unmask.measures.interval import Interval, clustered_bootstrap, clustered_wilson
from unmask.measures.registry import MEASURES, Quantity
from unmask.measures.unlinkability.weighing import Floats


@dataclass(frozen=True)
class Rate(Quantity):
    """A number of each subject whose mean over the counted subjects is filed; its name is an attribute of
    `Unlinkability`.

    proportion : whether it is true or false of a subject, so that Wilson's interval is the right one
    bounded    : whether it is an attribute of `Bounds` too, for the case that items are unknown
    """

    proportion: bool = False
    bounded: bool = False

    def best(self, values: Floats) -> Floats:
        """(S,) what the adversary would like best: an audit promises no more than the least favorable case.

        values : (2, S) the least and the most that it can be
        """
        best: Floats = values[1 if self.direction == "high" else 0]
        return best

    def interval(self, value: Floats) -> Interval:
        """Of the mean over subjects, each a draw of its own."""
        weight, each = np.full(len(value), 1 / len(value)), np.arange(len(value))
        return (clustered_wilson if self.proportion else clustered_bootstrap)(value, weight, each)


def _rate(name: str, *, proportion: bool = False, bounded: bool = False) -> Rate:
    return Rate(**vars(MEASURES[name]), proportion=proportion, bounded=bounded)


RATES: Final = (
    _rate("breached", proportion=True, bounded=True),
    _rate("clean_breach", proportion=True, bounded=True),
    _rate("linked_now", bounded=True),
    _rate("foreign_share", bounded=True),
    *map(_rate, ("merges", "risk_slope", "miss", "include", "foreign_subjects", "effective_foreign_subjects")),
)
"""In the order in which they are filed."""
