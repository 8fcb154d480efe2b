"""Linkage by clustering algorithms of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from unmask.core.arrays import Floats
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.partition import Partition
from unmask.extras import import_extra
from unmask.linkage.attacks.pairs import partition_items, select_profiles
from unmask.linkage.attacks.threshold import Scale, check_scale, scale_numbers
from unmask.linkage.items import Feature, Items
from unmask.ranges import CheckedParameters

_MAX_AGGLOMERATIVE = 20_000
_MAX_COLUMNS = 2_000


@dataclass(frozen=True)
class FeatureClustering(CheckedParameters):
    """Linkage of pseudonyms whose profiles are in one cluster of a scikit-learn algorithm.

    A profile is a point with the scaled numeric features as coordinates. Each categorical feature has indicator columns
    for its labels. They are weighted so that two profiles that differ in the feature have distance 1. A
    missing numeric cell is replaced by the mean, and a missing categorical cell by 0. Text features are rejected.

    Needs scikit-learn: install unmask with the extra [cluster].

    Assumes: the profiles of a person form a compact cluster, and the adversary has an estimate of the number of users.

    Fails when: the estimated number of users is wrong, or some users have far more pseudonyms than others (k-means).

    Parameters
    ----------
    method : {"agglomerative", "kmeans", "hdbscan"}
        "agglomerative" (average linkage; O(n^2) time and memory, at most 20,000 pseudonyms), "kmeans" (O(n k) for each
        iteration), or "hdbscan" (about O(n log n) in few dimensions; its noise points are not linked).
    n_clusters : int or None
        Number of users that the adversary expects, at most the number of pseudonyms; None for "hdbscan".
    features : tuple of str
        Names of the features to compare. Default: all.
    scale : Scale
        See `Threshold`.

    Examples
    --------
    >>> items = Items.read({"x": [0.0, 0.1, 5.0, 5.2]}, features="x")
    >>> guess = FeatureClustering("agglomerative", n_clusters=2)(items).code
    >>> bool(guess[0] == guess[1] != guess[2] == guess[3])
    True

    References
    ----------
    F. Pedregosa et al., "Scikit-learn: machine learning in Python", JMLR 12, 2011; R. Campello, D. Moulavi, J. Sander,
    "Density-based clustering based on hierarchical density estimates", PAKDD 2013.
    """

    method: Literal["agglomerative", "kmeans", "hdbscan"] = "agglomerative"
    n_clusters: int | None = None
    features: tuple[str, ...] = ()
    scale: Scale = "deviation"

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.n_clusters is None) != (self.method == "hdbscan"):
            raise UnmaskError(f"n_clusters is {self.n_clusters}; agglomerative and kmeans expect it, hdbscan does not")
        if self.n_clusters is not None and self.n_clusters < 1:
            raise UnmaskError(f"n_clusters is {self.n_clusters}, expected at least 1")
        check_scale(self.scale)

    def __call__(self, release: Items, knowledge: None = None, *, rng: np.random.Generator | None = None) -> Partition:
        """Return the adversary's partition of the items."""
        library = import_extra("sklearn.cluster", "cluster")
        points = _points(select_profiles(release, self.features), self.scale)
        if len(points) < 2:
            return partition_items(release, np.arange(len(points)))
        labels = np.asarray(self._algorithm(library, len(points)).fit(points).labels_, dtype=np.int64)
        noise = np.flatnonzero(labels < 0)
        labels[noise] = len(points) + noise
        return partition_items(release, labels)

    def _algorithm(self, library: Any, n: int) -> Any:
        if self.n_clusters is None:
            return library.HDBSCAN(min_cluster_size=2, copy=True)
        n_clusters = min(self.n_clusters, n)
        if self.method == "kmeans":
            return library.KMeans(n_clusters=n_clusters, n_init=10, random_state=0)
        if n > _MAX_AGGLOMERATIVE:
            raise FailedError(
                f"agglomerative clustering of {n} pseudonyms needs {8e-9 * n * n:.0f} GB, expected at most "
                f"{_MAX_AGGLOMERATIVE}; use another method, or Threshold"
            )
        return library.AgglomerativeClustering(n_clusters=n_clusters, linkage="average")


def _points(features: tuple[Feature, ...], scale: Scale) -> Floats:
    coded = [feature for feature in features if feature.kind != "numeric"]
    text = next((feature.name for feature in coded if feature.kind == "text"), None)
    if text is not None:
        raise UnmaskError(f"feature {text!r} is text, expected numeric or categorical; use RecordLinkage for texts")
    columns = sum(len(feature.labels) for feature in coded)
    if columns > _MAX_COLUMNS:
        raise UnmaskError(
            f"the categorical features have {columns} labels, expected at most {_MAX_COLUMNS}; choose fewer features"
        )
    numeric = scale_numbers(features, scale)
    if numeric.size:
        present = ~np.isnan(numeric)
        mean = np.where(present, numeric, 0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
        numeric = np.where(present, numeric, mean)
    indicators = [feature.values[:, None] == np.arange(len(feature.labels)) for feature in coded]
    return np.column_stack([numeric, *(indicator / np.sqrt(2) for indicator in indicators)])
