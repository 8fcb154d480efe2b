"""The rates of adversaries who say which items belong together: what is filed of every guess, declared once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from unmask.measures.interval import Interval, clustered_bootstrap, clustered_wilson
from unmask.measures.unlinkability.weighing import Floats


@dataclass(frozen=True)
class Rate:
    """A number of each subject whose mean over the counted subjects is filed.

    name       : of the row, and of the attribute of `Unlinkability`
    label, meaning : in words
    unit       : as printed
    direction  : what the adversary wants, "high" or "low"
    proportion : whether it is true or false of a subject, so that Wilson's interval is the right one
    bounded    : whether it is an attribute of `Bounds` too, for the case that items are unknown
    """

    name: str
    label: str
    meaning: str
    unit: str
    direction: Literal["high", "low"]
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


RATES: Final = (
    Rate("breached", "Breached", "share of subjects of whose items the threshold is linked already",
         "share", "high", proportion=True, bounded=True),
    Rate("clean_breach", "Cleanly breached", "breached by a cluster without a single foreign item",
         "share", "high", proportion=True, bounded=True),
    Rate("linked_now", "Linked now", "share of a subject's items in its most relevant cluster",
         "share", "high", bounded=True),
    Rate("foreign_share", "Foreign share", "share of foreign items in that cluster", "share", "low", bounded=True),
    Rate("mergings", "Merges to the threshold", "clusters to merge until the threshold is linked; 0 if breached",
         "merges", "low"),
    Rate("risk_slope", "Risk slope", "how steeply linking rises with every merge: 0 hidden, 1 breached", "", "high"),
    Rate("miss", "Misses", "items of a subject that its most relevant cluster lacks", "items", "low"),
    Rate("include", "Includes", "foreign items in the most relevant cluster of a subject", "items", "low"),
    Rate("foreign_subjects", "Foreign subjects", "other subjects with items in the most relevant cluster of a subject",
         "subjects", "low"),
    Rate("effective_foreign_subjects", "Foreign subjects, effective",
         "so many with equally many items would be as hard to tell apart; 0 if none", "subjects", "low"),
)  # fmt: skip
"""In the order in which they are filed."""
