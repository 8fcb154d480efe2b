"""Release -> the adversary's partition of the items, or his view. No attack ever sees the truth."""

from unmask.pseudonyms.attacks.clustering import FeatureClustering
from unmask.pseudonyms.attacks.exact import ExactMatch
from unmask.pseudonyms.attacks.linkage import RecordLinkage, Weights
from unmask.pseudonyms.attacks.links import Family, Links
from unmask.pseudonyms.attacks.splink import SplinkLinkage
from unmask.pseudonyms.attacks.threshold import Threshold

__all__ = [
    "ExactMatch",
    "Family",
    "FeatureClustering",
    "Links",
    "RecordLinkage",
    "SplinkLinkage",
    "Threshold",
    "Weights",
]
