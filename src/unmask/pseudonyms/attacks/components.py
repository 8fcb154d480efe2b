"""From links between pseudonyms to a partition of the items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from unmask.core.partition import Partition
from unmask.pseudonyms.release import Feature, Items, Numeric

MAX_PAIRS = 100_000_000
"""More pairs than this are refused: they need some 5 GB."""


def connected(left: NDArray[np.integer[Any]], right: NDArray[np.integer[Any]], n: int) -> NDArray[np.int32]:
    """(n,) the connected component of each of n nodes under these links; O(n + links).

    >>> connected(np.array([0, 3]), np.array([2, 2]), 4)
    array([0, 1, 0, 0], dtype=int32)
    """
    graph = coo_matrix((np.ones(len(left), dtype=np.float32), (left, right)), shape=(n, n))
    return connected_components(graph, directed=False)[1].astype(np.int32)


def over_items(release: Items, cluster: NDArray[np.integer[Any]]) -> Partition:
    """The partition of the items, given the cluster of each pseudonym."""
    return Partition(cluster[release.partition.code], items=release.ids)


def codes_of(feature: Feature) -> NDArray[np.int32]:
    """(n,) equal codes for equal cells, -1 for a missing one."""
    if not isinstance(feature, Numeric):
        return feature.codes
    codes = np.full(len(feature.values), -1, dtype=np.int32)
    there = ~feature.missing
    codes[there] = np.unique(feature.values[there], return_inverse=True)[1]
    return codes


def grouped(features: tuple[Feature, ...]) -> NDArray[np.int64]:
    """(n,) equal numbers 0, 1, ... for rows that agree on all features, -1 where one of them is missing.

    O(n log n) for each feature.
    """
    n = len(features[0].missing)
    group = np.zeros(n, dtype=np.int64)
    whole = np.ones(n, dtype=np.bool_)
    for feature in features:
        codes = codes_of(feature)
        whole &= codes >= 0
        wide = group * (int(codes.max(initial=0)) + 1) + np.maximum(codes, 0)
        group = np.unique(wide, return_inverse=True)[1]
    return np.where(whole, group, -1)
