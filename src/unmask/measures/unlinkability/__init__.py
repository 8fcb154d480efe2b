"""Unlinkability: how well each subject's items stay hidden in the partition that an adversary believes in."""

from unmask.measures.unlinkability.evaluate import MergeList, Unlinkability, evaluate, merge_list

__all__ = ["MergeList", "Unlinkability", "evaluate", "merge_list"]
