"""Unlinkability: how well each subject's items stay hidden in the partition that an adversary believes in.

`evaluate` is the measure, `companions` the scores of other fields from the same table,
`random_partition` and `baseline` what guessing gives.
"""

from unmask.measures.unlinkability.bounds import Bounds, bounds
from unmask.measures.unlinkability.companions import Companions, companions
from unmask.measures.unlinkability.contingency import Contingency
from unmask.measures.unlinkability.evaluate import Unlinkability, evaluate, evaluate_contingency
from unmask.measures.unlinkability.fairness import Fairness, fairness
from unmask.measures.unlinkability.merge_lists import MergeList, merge_list, merge_lists
from unmask.measures.unlinkability.random import Lift, baseline, random_partition, random_walk, shuffled
from unmask.measures.unlinkability.transfer import transfer_distance

__all__ = [
    "Bounds",
    "Companions",
    "Contingency",
    "Fairness",
    "Lift",
    "MergeList",
    "Unlinkability",
    "baseline",
    "bounds",
    "companions",
    "evaluate",
    "evaluate_contingency",
    "fairness",
    "merge_list",
    "merge_lists",
    "random_partition",
    "random_walk",
    "shuffled",
    "transfer_distance",
]
