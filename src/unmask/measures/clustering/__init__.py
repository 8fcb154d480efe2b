"""Unlinkability: how well each subject's items stay hidden in the partition that an adversary believes in.

`Contingency` counts the items that a truth and a guess share; `evaluate` measures it, `bounds` handles unknown items.
`clustering_metrics` are the metrics of other fields, `views` the entropies of a view of several partitions.
"""

from unmask.measures.clustering.contingency import Contingency
from unmask.measures.clustering.fairness import Fairness, fairness
from unmask.measures.clustering.metrics import ClusteringMetrics, clustering_metrics, transfer_distance
from unmask.measures.clustering.sampled_truth import Bounds, bounds
from unmask.measures.clustering.unlinkability import MergeList, Unlinkability, evaluate, merge_lists

__all__ = [
    "Bounds", "ClusteringMetrics", "Contingency", "Fairness", "MergeList", "Unlinkability", "bounds",
    "clustering_metrics", "evaluate", "fairness", "merge_lists", "transfer_distance"
]  # fmt: skip
