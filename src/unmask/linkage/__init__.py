"""Linkage of items published under pseudonyms: attacks, protections, and data."""

from unmask.linkage import datasets
from unmask.linkage.attacks.clustering import FeatureClustering
from unmask.linkage.attacks.pairs import Links
from unmask.linkage.attacks.record_linkage import RecordLinkage, Weights
from unmask.linkage.attacks.splink import SplinkLinkage
from unmask.linkage.attacks.threshold import ExactMatch, Threshold
from unmask.linkage.items import Items
from unmask.linkage.protections import PerContext, PerItem, PerPeriod, Split

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
