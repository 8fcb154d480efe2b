"""Linkage of pseudonyms with equal or close features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.partition import Partition
from unmask.linkage.attacks.pairs import MAX_PAIRS, connect, group_rows, partition_items, select_profiles
from unmask.linkage.items import Feature, Items
from unmask.ranges import FINITE, CheckedParameters

Scale = Literal["none", "deviation"] | Mapping[str, float]

_MAX_DISTANCE = 1 + 1e-9
"""Largest linked distance: a relative tolerance for rounding errors of the coordinates."""


@dataclass(frozen=True)
class ExactMatch:
    """Linkage of items that agree on all features, and of items with the same pseudonym.

    Two pseudonyms are linked if an item of one agrees with an item of the other. The clusters are the connected
    components of these links, so a frequent value can join many pseudonyms. A missing cell agrees with no other cell:
    an item with a missing feature is linked by its pseudonym only. The work is O(n log n) for each feature.

    Assumes: the features of a person are always written in the same way, and no two people agree on all of them.

    Fails when: features have errors, and then nothing is linked; or features are coarse, and then chains of links join
    different people.

    Parameters
    ----------
    features : tuple of str
        Names of the features to compare. Default: all.

    Examples
    --------
    >>> items = Items.read({"name": ["ann", "bob", "ann"], "born": [1, 1, 1]}, features=["name", "born"])
    >>> ExactMatch(features=("name", "born"))(items).code
    array([0, 1, 0], dtype=int32)

    References
    ----------
    The deterministic rule of record linkage: P. Christen, "Data Matching", 2012, section 2.4.
    """

    features: tuple[str, ...] = ()

    def __call__(self, release: Items, knowledge: None = None, *, rng: np.random.Generator | None = None) -> Partition:
        """Return the adversary's partition of the items."""
        group = group_rows(release.select(self.features))
        pseudonym, n = release.partition.code, release.partition.n_clusters
        complete = group >= 0
        component = connect(pseudonym[complete], n + group[complete], n + int(group.max(initial=0)) + 1)
        return partition_items(release, component[:n])


@dataclass(frozen=True)
class Threshold(CheckedParameters):
    """Linkage of pseudonyms within a distance of each other: single-linkage clustering.

    The profile of a pseudonym is a point, and distances are Euclidean. Numeric features are coordinates. Categorical
    and text features must be equal. The clusters are the connected components of the pairs with a distance of at most
    `distance`. A pseudonym with a missing feature is not linked.

    Work: a k-d tree needs O(n log n + pairs within the distance) time and memory. Above about ten coordinates, the tree
    hardly helps. More than 100 million pairs within the distance are rejected.

    Assumes: pseudonyms of a person are at most `distance` apart, and pseudonyms of different people are farther apart.

    Fails when: profiles are dense, and then chains of links join different people. Columns on different scales need
    `scale`.

    Parameters
    ----------
    distance : float
        Largest distance of linked pseudonyms, positive, in units of the scaled features.
    features : tuple of str
        Names of the features to compare. Default: all.
    scale : Scale
        Divisor of a feature: 1 ("none"), its standard deviation over the pseudonyms ("deviation"), or a positive number
        for each feature by name (1 if not named).

    Examples
    --------
    >>> items = Items.read({"x": [0.0, 0.9, 1.8, 5.0]}, features="x")
    >>> Threshold(1.0)(items).code
    array([0, 0, 0, 1], dtype=int32)

    References
    ----------
    R. Sibson, "SLINK: an optimally efficient algorithm for the single-link cluster method", The Computer Journal 16(1),
    1973, for single linkage.
    """

    distance: Annotated[float, FINITE]
    features: tuple[str, ...] = ()
    scale: Scale = "none"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_scale(self.scale)

    def __call__(self, release: Items, knowledge: None = None, *, rng: np.random.Generator | None = None) -> Partition:
        """Return the adversary's partition of the items."""
        features = select_profiles(release, self.features)
        complete = np.flatnonzero(~np.any([feature.missing for feature in features], axis=0))
        points = scale_numbers(features, self.scale)[complete] / self.distance
        blocks = tuple(feature.take(complete) for feature in features if feature.kind != "numeric")
        if blocks and len(complete):
            points = np.column_stack([points, 2 * group_rows(blocks)])  # other groups are beyond the distance
        cluster = np.arange(release.partition.n_clusters)
        cluster[complete] = complete[_find_first(_connect_points(points))]
        return partition_items(release, cluster)


def check_scale(scale: Scale) -> None:
    """Raise unless the scale is a known name or a mapping to positive numbers."""
    if isinstance(scale, Mapping):
        invalid = next((name for name, width in scale.items() if not 0 < width < np.inf), None)
        if invalid is not None:
            raise UnmaskError(f"the scale of {invalid!r} is {scale[invalid]}, expected a number above 0")
    elif scale not in ("none", "deviation"):
        raise UnmaskError(f"the scale is {scale!r}, expected 'none', 'deviation' or a number by feature")


def scale_numbers(features: tuple[Feature, ...], scale: Scale) -> Floats:
    """Return the (n, d) numeric features divided by their scales; a constant feature is not scaled."""
    numeric = [feature for feature in features if feature.kind == "numeric"]
    if isinstance(scale, Mapping):
        unknown = next((name for name in scale if name not in [feature.name for feature in numeric]), None)
        if unknown is not None:
            raise UnmaskError(f"the scale names {unknown!r}, which is not a compared numeric feature")
        widths = [scale.get(feature.name, 1.0) for feature in numeric]
    elif scale == "deviation":
        widths = [float(np.std(feature.values[~feature.missing])) or 1.0 for feature in numeric]
    else:
        widths = [1.0] * len(numeric)
    if not numeric:
        return np.empty((len(features[0].missing), 0))
    return np.column_stack([feature.values / width for feature, width in zip(numeric, widths, strict=True)])


def _connect_points(points: Floats) -> NDArray[np.int32]:
    """Return the (n,) connected components of points with pairs at most 1 apart; equal points are compared once."""
    if not points.size:
        return np.arange(len(points), dtype=np.int32)
    distinct, position = np.unique(points, axis=0, return_inverse=True)
    tree = scipy.spatial.cKDTree(distinct)
    n_pairs = (int(tree.count_neighbors(tree, _MAX_DISTANCE)) - len(distinct)) // 2
    if n_pairs > MAX_PAIRS:
        raise FailedError(
            f"{n_pairs} pairs of pseudonyms are within the distance, expected at most {MAX_PAIRS}; choose a smaller "
            "distance, or compare a categorical feature too"
        )
    links = tree.query_pairs(_MAX_DISTANCE, output_type="ndarray")
    return connect(links[:, 0], links[:, 1], len(distinct))[position.ravel()]


def _find_first(cluster: NDArray[np.int32]) -> Integers:
    """Return the (n,) index of the first member of each point's cluster."""
    _, first, inverse = np.unique(cluster, return_index=True, return_inverse=True)
    return first[inverse]
