"""Items under pseudonyms: which of them an adversary finds to belong to the same user."""

from unmask.pseudonyms import datasets
from unmask.pseudonyms.attacks.clustering import FeatureClustering
from unmask.pseudonyms.attacks.exact import ExactMatch
from unmask.pseudonyms.attacks.linkage import RecordLinkage, Weights
from unmask.pseudonyms.attacks.links import Links
from unmask.pseudonyms.attacks.splink import SplinkLinkage
from unmask.pseudonyms.attacks.threshold import Threshold
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
