"""Unlinkability: how well each subject's items stay hidden in the partition that an adversary believes in.

`Contingency` counts the items that a truth and a guess share; `evaluate` measures it, `bounds` handles unknown items.
`clustering_metrics` are the metrics of other fields, `views` the entropies of a view of several partitions.
"""

from unmask.measures.unlinkability.bounds import Bounds, bounds
from unmask.measures.unlinkability.clustering_metrics import ClusteringMetrics, clustering_metrics
from unmask.measures.unlinkability.contingency import Contingency
from unmask.measures.unlinkability.evaluate import MergeList, Unlinkability, evaluate, merge_lists
from unmask.measures.unlinkability.fairness import Fairness, fairness
from unmask.measures.unlinkability.transfer import transfer_distance

__all__ = [
    "Bounds",
    "ClusteringMetrics",
    "Contingency",
    "Fairness",
    "MergeList",
    "Unlinkability",
    "bounds",
    "clustering_metrics",
    "evaluate",
    "fairness",
    "merge_lists",
    "transfer_distance",
]
