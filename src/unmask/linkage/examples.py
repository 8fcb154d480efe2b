"""Examples of each linkage attack, protection and data set, as listed by `unmask.catalog`."""

from unmask import linkage

ATTACKS = (
    linkage.ExactMatch(), linkage.Threshold(0.1), linkage.FeatureClustering("kmeans", n_clusters=12),
    linkage.RecordLinkage((("place",), ("x0",))), linkage.SplinkLinkage((("place",), ("x0",))),
)  # fmt: skip

PROTECTIONS = (
    linkage.PerItem(), linkage.PerPeriod(0.25), linkage.PerContext(), linkage.Split(2),
)  # fmt: skip

DATASETS = (linkage.datasets.synthetic_traces,)
