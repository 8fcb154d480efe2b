"""Items under pseudonyms, adversaries that link the items of a user, and protections."""

from unmask.pseudonyms import datasets
from unmask.pseudonyms.attacks.clustering import FeatureClustering
from unmask.pseudonyms.attacks.pairs import Links
from unmask.pseudonyms.attacks.record_linkage import RecordLinkage, Weights
from unmask.pseudonyms.attacks.splink import SplinkLinkage
from unmask.pseudonyms.attacks.threshold import ExactMatch, Threshold
from unmask.pseudonyms.items import Items
from unmask.pseudonyms.protections import PerContext, PerItem, PerPeriod, Split

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
