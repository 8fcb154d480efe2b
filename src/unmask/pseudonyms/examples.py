"""An example of each attack and protection of pseudonyms, and its datasets: what `unmask.catalog` lists."""

from unmask import pseudonyms

ATTACKS = (
    pseudonyms.ExactMatch(), pseudonyms.Threshold(0.1), pseudonyms.FeatureClustering("kmeans", n_clusters=12),
    pseudonyms.RecordLinkage((("place",), ("x0",))), pseudonyms.SplinkLinkage((("place",), ("x0",))),
)  # fmt: skip

PROTECTIONS = (
    pseudonyms.PerItem(), pseudonyms.PerPeriod(0.25), pseudonyms.PerContext(), pseudonyms.Split(2),
)  # fmt: skip

DATASETS = (
    pseudonyms.datasets.synthetic_traces, pseudonyms.datasets.gowalla, pseudonyms.datasets.rldata,
    pseudonyms.datasets.febrl,
)  # fmt: skip
