"""Items under pseudonyms: which of them an adversary finds to belong to the same user."""

from unmask.pseudonyms import datasets
from unmask.pseudonyms.attacks import (
    ExactMatch,
    FeatureClustering,
    Links,
    RecordLinkage,
    SplinkLinkage,
    Threshold,
    Weights,
)
from unmask.pseudonyms.protections import PerContext, PerItem, PerPeriod, Split
from unmask.pseudonyms.release import Items

__all__ = [
    "ExactMatch",
    "FeatureClustering",
    "Items",
    "Links",
    "PerContext",
    "PerItem",
    "PerPeriod",
    "RecordLinkage",
    "SplinkLinkage",
    "Split",
    "Threshold",
    "Weights",
    "datasets",
]
