"""Unlinkability: how well each subject's items stay hidden in the partition that an adversary believes in.

`Contingency` is what a truth and a guess have in common; `evaluate` measures it, `bounds` where items are unknown.
`companions` are the scores of other fields, `views` what a view of several partitions says.
"""

from unmask.measures.unlinkability.bounds import Bounds, bounds
from unmask.measures.unlinkability.companions import Companions, companions
from unmask.measures.unlinkability.contingency import Contingency
from unmask.measures.unlinkability.evaluate import MergeList, Unlinkability, evaluate, merge_lists
from unmask.measures.unlinkability.fairness import Fairness, fairness
from unmask.measures.unlinkability.transfer import transfer_distance

__all__ = [
    "Bounds",
    "Companions",
    "Contingency",
    "Fairness",
    "MergeList",
    "Unlinkability",
    "bounds",
    "companions",
    "evaluate",
    "fairness",
    "merge_lists",
    "transfer_distance",
]
