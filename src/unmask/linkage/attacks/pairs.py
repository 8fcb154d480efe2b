"""Pairs of pseudonyms: selection of pairs to compare, and the partition of the items from linked pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.partition import Partition, View
from unmask.linkage.items import Feature, Items
from unmask.ranges import CheckedParameters, Range, check_type

MAX_PAIRS = 100_000_000
"""Largest number of pairs to compare; they need about 5 GB."""

Blocks = tuple[tuple[str, ...], ...]
"""Blocking rules: a pair is compared if it agrees on all features of at least one rule."""

Pairs = tuple[Integers, Integers]
"""First and second pseudonym of each pair."""


@dataclass(frozen=True, eq=False)
class Links:
    """Probabilities that pairs of pseudonyms belong to one user, according to a linker. Other pairs are not linked.

    Links are not transitive. The clusters are the connected components of the links, so a low threshold can produce one
    giant cluster.

    Parameters
    ----------
    release : Items
        Items whose pseudonyms are linked.
    first : (n_pairs,) array of int
        Indices of pseudonyms in `release.partition`.
    second : (n_pairs,) array of int
        Indices of pseudonyms in `release.partition`; first < second, and each pair occurs once.
    probability : (n_pairs,) array
        Probability in the linker's model, which is neither calibrated nor transitive.
    """

    release: Items
    first: Integers
    second: Integers
    probability: Floats

    def __post_init__(self) -> None:
        if not len(self.first) == len(self.second) == len(self.probability):
            raise UnmaskError("links and probabilities differ in length, expected one probability for each link")
        if not ((self.probability >= 0) & (self.probability <= 1)).all():
            raise UnmaskError("a probability of a link is outside 0 to 1")

    def __repr__(self) -> str:
        return f"Links({len(self.first)} pairs of {self.release.partition.n_clusters} pseudonyms)"

    def clusters(self, threshold: float) -> Partition:
        """Return the partition of the items if pairs of at least this probability are linked."""
        check_type("threshold", threshold, Annotated[float, Range(0, 1)])
        linked, n = self.probability >= threshold, self.release.partition.n_clusters
        return partition_items(self.release, connect(self.first[linked], self.second[linked], n))

    def view(self, thresholds: Sequence[float]) -> View:
        """Return the view whose possible worlds, equally likely, are the partitions of these thresholds."""
        return View([self.clusters(threshold) for threshold in thresholds])


def no_links(release: Items) -> Links:
    """Return links without pairs."""
    nothing: NDArray[Any] = np.empty(0, dtype=np.int64)
    return Links(release, nothing, nothing, np.empty(0))


def connect(first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]], n: int) -> NDArray[np.int32]:
    """Return the (n,) connected components of n nodes with these links; O(n + links).

    >>> connect(np.array([0, 3]), np.array([2, 2]), 4)
    array([0, 1, 0, 0], dtype=int32)
    """
    graph = scipy.sparse.coo_matrix((np.ones(len(first), dtype=np.float32), (first, second)), shape=(n, n))
    return scipy.sparse.csgraph.connected_components(graph, directed=False)[1].astype(np.int32)


def partition_items(release: Items, cluster: NDArray[np.integer[Any]]) -> Partition:
    """Return the partition of the items for a clustering of the pseudonyms."""
    return Partition(cluster[release.partition.code], items=release.ids)


# --- profiles, and equality of their cells ---


def select_profiles(release: Items, names: tuple[str, ...]) -> tuple[Feature, ...]:
    """Return the profiles of these features; default: all."""
    selected = {feature.name for feature in release.select(names)}
    return tuple(feature for feature in release.profiles if feature.name in selected)


def code_cells(feature: Feature) -> NDArray[np.int32]:
    """Return (n,) codes that are equal for equal cells, -1 for a missing cell."""
    if feature.kind != "numeric":
        return feature.values
    codes = np.full(len(feature.values), -1, dtype=np.int32)
    present = ~feature.missing
    codes[present] = np.unique(feature.values[present], return_inverse=True)[1]
    return codes


def group_rows(features: tuple[Feature, ...]) -> Integers:
    """Return (n,) group numbers: rows that agree on all features have the same number; -1 if a cell is missing.

    O(n log n) for each feature.
    """
    n = len(features[0].missing)
    group = np.zeros(n, dtype=np.int64)
    complete = np.ones(n, dtype=np.bool_)
    for feature in features:
        codes = code_cells(feature)
        complete &= codes >= 0
        combined = group * (int(codes.max(initial=0)) + 1) + np.maximum(codes, 0)
        group = np.unique(combined, return_inverse=True)[1]
    return np.where(complete, group, -1)


# --- pairs to compare ---


@dataclass(frozen=True)
class Linker(CheckedParameters):
    """Linkage of the pairs of pseudonyms that agree on a blocking rule, by match probabilities; see its subclasses."""

    blocks: Blocks
    threshold: Annotated[float, Range(0, 1)] = 0.9
    features: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.blocks or not all(type(rule) is tuple and rule for rule in self.blocks):
            raise UnmaskError(f'the blocks are {self.blocks!r}, expected rules such as (("name",), ("born", "town"))')

    def __call__(self, release: Items, knowledge: None = None, *, rng: np.random.Generator | None = None) -> Partition:
        """Return the adversary's partition of the items at the threshold."""
        return self.link(release).clusters(self.threshold)

    def link(self, release: Items) -> Links:
        """Return the compared pairs and their match probabilities."""
        raise NotImplementedError

    def select(self, release: Items) -> tuple[Feature, ...]:
        """Return the profiles of the compared features (default: all), and of the features in blocking rules."""
        blocking = tuple(name for rule in self.blocks for name in rule)
        release.select(blocking)
        return select_profiles(release, (*self.features, *blocking) if self.features else ())


def count_pairs(features: tuple[Feature, ...]) -> int:
    """Count the pairs that agree on these features, without missing cells; O(n log n)."""
    group = group_rows(features)
    size = np.bincount(group[group >= 0])
    return int((size * (size - 1) // 2).sum())


def list_pairs(features: tuple[Feature, ...]) -> Pairs:
    """List all pairs first < second that agree on these features, without missing cells; O(n log n + pairs).

    >>> list_pairs(Items.read({"a": ["x", "y", "x", "x"]}, features="a").features)
    (array([0, 0, 2]), array([2, 3, 3]))
    """
    n_pairs = count_pairs(features)
    if n_pairs > MAX_PAIRS:
        names = ", ".join(feature.name for feature in features)
        raise FailedError(
            f"{n_pairs} pairs agree on {names}, expected at most {MAX_PAIRS}; add features to the blocking rule"
        )
    group = group_rows(features)
    order = np.argsort(group, kind="stable")
    order = order[np.searchsorted(group[order], 0) :]
    ordered = group[order]
    partners = np.searchsorted(ordered, ordered, side="right") - np.arange(len(order)) - 1
    rank = np.repeat(np.arange(len(order)), partners)
    offset = np.arange(n_pairs) - np.repeat(np.cumsum(partners) - partners, partners)
    return order[rank], order[rank + 1 + offset]


def unite_pairs(rules: list[Pairs], n: int) -> Pairs:
    """Return the union of the pairs of all rules, ascending."""
    keys = np.unique(np.concatenate([first * n + second for first, second in rules]))
    first, second = np.divmod(keys, n)
    return first, second


def draw_pairs(n: int, max_pairs: int) -> Pairs:
    """Return all pairs of n; if there are more than `max_pairs`, this number of random pairs with replacement."""
    if n * (n - 1) // 2 <= max_pairs:
        first, second = np.triu_indices(n, 1)
        return first, second
    rng = np.random.default_rng(0)
    first = rng.integers(n, size=max_pairs)
    second = (first + rng.integers(1, n, size=max_pairs)) % n
    return first, second
