"""Linking what lies close together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.errors import FailedError, UnmaskError
from unmask.core.partition import Partition
from unmask.pseudonyms.attacks.components import MAX_PAIRS, connected, grouped, over_items
from unmask.pseudonyms.release import Feature, Items, Numeric

Scale = Literal["none", "deviation"] | Mapping[str, float]

_NORM = {"euclidean": 2.0, "manhattan": 1.0, "chebyshev": np.inf}
_WITHIN = 1 + 1e-9
"""A pair at the distance itself is linked, whatever the last bit of its coordinates."""


@dataclass(frozen=True)
class Threshold:
    """Which pseudonyms belong together? Those within a distance of each other, and whatever that connects.

    Numeric features are the coordinates of a pseudonym, categorical and text features must be equal. The clusters are
    the connected components of the pairs at most `distance` apart: single linkage cut at that height. A pseudonym that
    misses one of the features is linked to nobody. One pseudonym's items are one point, their profile.

    distance : above 0, in units of the scaled features
    features : names of the features to compare; all of them for none
    scale    : what a feature is divided by: 1 ("none"), its standard deviation over the pseudonyms ("deviation"), or a
               number above 0 for each feature by name (1 where not named)
    metric   : "euclidean", "manhattan" or "chebyshev" distance of the scaled features

    Cost: a k-d tree, O(n log n + pairs within the distance) time and memory; the tree is of little help beyond some ten
    coordinates. More than 100 million pairs within the distance are refused.

    Assumes: a person's pseudonyms are nearer to one another than `distance`, and strangers' are farther.

    Fails when: people are crowded: strangers are chained through those between them. Columns on unlike scales need
    `scale`.

    >>> items = Items.read({"x": [0.0, 0.9, 1.8, 5.0]}, features="x")
    >>> Threshold(1.0)(items).code
    array([0, 0, 0, 1], dtype=int32)

    R. Sibson, "SLINK: an optimally efficient algorithm for the single-link cluster method", The Computer Journal 16(1),
    1973, for single linkage.
    """

    distance: float
    features: tuple[str, ...] = ()
    scale: Scale = "none"
    metric: Literal["euclidean", "manhattan", "chebyshev"] = "euclidean"

    def __post_init__(self) -> None:
        if not 0 < self.distance < np.inf:
            raise UnmaskError(f"the distance is {self.distance}, expected a number above 0; ExactMatch links at 0")
        if self.metric not in _NORM:
            raise UnmaskError(f"the metric is {self.metric!r}, expected one of {', '.join(_NORM)}")
        check_scale(self.scale)

    def __call__(self, release: Items, knowledge: None = None, *, rng: np.random.Generator | None = None) -> Partition:
        """The adversary's partition of the items."""
        features = profiles_of(release, self.features)
        whole = np.flatnonzero(~np.any([feature.missing for feature in features], axis=0))
        points = scaled(features, self.scale)[whole] / self.distance
        blocks = tuple(feature.take(whole) for feature in features if not isinstance(feature, Numeric))
        if blocks and len(whole):
            points = np.column_stack([points, 2 * grouped(blocks)])  # another block is out of reach
        cluster = np.arange(release.partition.n_clusters)
        cluster[whole] = whole[_first(_linked(points, _NORM[self.metric]))]
        return over_items(release, cluster)


def profiles_of(release: Items, names: tuple[str, ...]) -> tuple[Feature, ...]:
    """The chosen features of each pseudonym."""
    chosen = {feature.name for feature in release.chosen(names)}
    return tuple(feature for feature in release.profiles if feature.name in chosen)


def check_scale(scale: Scale) -> None:
    """Refuse a scale that is no known name and no mapping of numbers above 0."""
    if isinstance(scale, Mapping):
        wrong = next((name for name, width in scale.items() if not 0 < width < np.inf), None)
        if wrong is not None:
            raise UnmaskError(f"the scale of {wrong!r} is {scale[wrong]}, expected a number above 0")
    elif scale not in ("none", "deviation"):
        raise UnmaskError(f"the scale is {scale!r}, expected 'none', 'deviation' or a number by feature")


def scaled(features: tuple[Feature, ...], scale: Scale) -> NDArray[np.float64]:
    """(n, d) the numeric features, each divided by its scale; a constant feature is divided by 1."""
    numeric = [feature for feature in features if isinstance(feature, Numeric)]
    if isinstance(scale, Mapping):
        stray = next((name for name in scale if name not in [feature.name for feature in numeric]), None)
        if stray is not None:
            raise UnmaskError(f"the scale names {stray!r}, which is no numeric feature that is compared")
        widths = [scale.get(feature.name, 1.0) for feature in numeric]
    elif scale == "deviation":
        widths = [float(np.std(feature.values[~feature.missing])) or 1.0 for feature in numeric]
    else:
        widths = [1.0] * len(numeric)
    out = np.empty((len(features[0].missing), len(numeric)))
    for at, (feature, width) in enumerate(zip(numeric, widths, strict=True)):
        out[:, at] = feature.values / width
    return out


def _linked(points: NDArray[np.float64], norm: float) -> NDArray[np.int32]:
    """(n,) the component of each point under pairs at most 1 apart; equal points are looked at once."""
    if not points.size:
        return np.arange(len(points), dtype=np.int32)
    distinct, place = np.unique(points, axis=0, return_inverse=True)
    tree = scipy.spatial.cKDTree(distinct)
    pairs = (int(tree.count_neighbors(tree, _WITHIN, p=norm)) - len(distinct)) // 2
    if pairs > MAX_PAIRS:
        raise FailedError(
            f"{pairs} pairs of pseudonyms are within the distance, expected at most {MAX_PAIRS}; choose a smaller "
            "distance, or compare a categorical feature too"
        )
    found = tree.query_pairs(_WITHIN, p=norm, output_type="ndarray")
    return connected(found[:, 0], found[:, 1], len(distinct))[place.ravel()]


def _first(cluster: NDArray[np.int32]) -> NDArray[np.int64]:
    """(n,) the first place that has the same cluster."""
    _, first, inverse = np.unique(cluster, return_index=True, return_inverse=True)
    return first[inverse]
