"""Release -> the adversary's partition of the items, or their view. No attack ever sees the truth.

Every linker is called `attack(release, knowledge, rng=...)` as all attacks are. It knows nothing but the items, so that
`knowledge` is None, and what it draws is fixed by its own `seed`, so that `rng` changes nothing.
"""

from unmask.pseudonyms.attacks.clustering import FeatureClustering
from unmask.pseudonyms.attacks.exact import ExactMatch
from unmask.pseudonyms.attacks.linkage import RecordLinkage, Weights
from unmask.pseudonyms.attacks.links import Links
from unmask.pseudonyms.attacks.splink import SplinkLinkage
from unmask.pseudonyms.attacks.threshold import Threshold

__all__ = [
    "ExactMatch",
    "FeatureClustering",
    "Links",
    "RecordLinkage",
    "SplinkLinkage",
    "Threshold",
    "Weights",
]
