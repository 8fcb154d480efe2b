"""Public names of `unmask.linkage`."""

from unmask.linkage import datasets as datasets
from unmask.linkage.attacks.clustering import FeatureClustering as FeatureClustering
from unmask.linkage.attacks.pairs import Links as Links
from unmask.linkage.attacks.record_linkage import RecordLinkage as RecordLinkage
from unmask.linkage.attacks.record_linkage import Weights as Weights
from unmask.linkage.attacks.splink import SplinkLinkage as SplinkLinkage
from unmask.linkage.attacks.threshold import ExactMatch as ExactMatch
from unmask.linkage.attacks.threshold import Threshold as Threshold
from unmask.linkage.items import Items as Items
from unmask.linkage.protections import PerContext as PerContext
from unmask.linkage.protections import PerItem as PerItem
from unmask.linkage.protections import PerPeriod as PerPeriod
from unmask.linkage.protections import Split as Split
