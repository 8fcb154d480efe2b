"""Pairs that are held to be one user's, and the partitions that thresholds make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.errors import UnmaskError
from unmask.pseudonyms.attacks.components import connected, over_items
from unmask.pseudonyms.release import Items
from unmask.view import Partition, View

CLOSURE = "connected components"


@dataclass(frozen=True, eq=False)
class Links:
    """How likely pairs of pseudonyms are one user, as a linker believes; pairs that are not listed are not linked.

    left, right : (n_pairs,) places in `release.partition`, left < right, each pair once
    probability : (n_pairs,) of the linker's model: neither calibrated nor transitive
    closure     : how a set of linked pairs becomes a partition. Links are not transitive; all that a chain of links
                  connects is put together, which can make one giant cluster at a low threshold (see `Family`)
    """

    release: Items
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    probability: NDArray[np.float64]
    closure: str = CLOSURE

    def __post_init__(self) -> None:
        if not len(self.left) == len(self.right) == len(self.probability):
            raise UnmaskError("the ends of the links and their probabilities differ in length, expected one length")
        if not ((self.probability >= 0) & (self.probability <= 1)).all():
            raise UnmaskError("a probability of a link is outside 0 to 1")

    def __repr__(self) -> str:
        return f"Links({len(self.left)} pairs of {self.release.partition.n_clusters} pseudonyms, {self.closure})"

    def clusters(self, threshold: float) -> Partition:
        """The partition of the items when pairs of at least this probability are linked."""
        return over_items(self.release, self._cluster(threshold))

    def family(self, thresholds: ArrayLike) -> Family:
        """One partition for each threshold: how the attack does when the adversary is bolder or more careful."""
        array = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
        clusters = [self._cluster(float(threshold)) for threshold in array]
        if not clusters:
            raise UnmaskError("0 thresholds are given, expected at least 1")
        sizes = [np.bincount(cluster).astype(np.int64) for cluster in clusters]
        return Family(
            array,
            tuple(over_items(self.release, cluster) for cluster in clusters),
            np.array([np.count_nonzero(self.probability >= threshold) for threshold in array]),
            np.array([(size * (size - 1) // 2).sum() for size in sizes]),
            np.array([size.max() for size in sizes]),
            self.closure,
        )

    def view(self, thresholds: Sequence[float], weights: ArrayLike | None = None) -> View:
        """The adversary's view who holds the partitions of these thresholds possible; see `Family.view`."""
        return self.family(thresholds).view(weights)

    def _cluster(self, threshold: float) -> NDArray[np.int32]:
        if not 0 <= threshold <= 1:
            raise UnmaskError(f"the threshold is {threshold}, expected a probability from 0 to 1")
        chosen = self.probability >= threshold
        return connected(self.left[chosen], self.right[chosen], self.release.partition.n_clusters)


@dataclass(frozen=True, eq=False)
class Family:
    """The partitions that one linker makes at several thresholds.

    thresholds : (n,) the least probability of a link
    partitions : n partitions of the items
    linked     : (n,) pairs of pseudonyms that the linker itself links
    together   : (n,) pairs of pseudonyms in one cluster, after closure; far above `linked` the closure made them
    largest    : (n,) pseudonyms in the largest cluster
    closure    : how links became clusters
    """

    thresholds: NDArray[np.float64]
    partitions: tuple[Partition, ...]
    linked: NDArray[np.int64]
    together: NDArray[np.int64]
    largest: NDArray[np.int64]
    closure: str = CLOSURE

    def __repr__(self) -> str:
        return f"Family({len(self.partitions)} thresholds, {self.closure})"

    def view(self, weights: ArrayLike | None = None) -> View:
        """These partitions as one view. weights : (n,) above 0, in any unit; equal when left out."""
        if weights is None:
            return View(self.partitions)
        share = np.asarray(weights, dtype=np.float64)
        if share.shape != self.thresholds.shape or not (share > 0).all():
            raise UnmaskError(
                f"{share.size} weights are given for {len(self.thresholds)} thresholds, expected one above 0 for each"
            )
        return View(self.partitions, share / share.sum())


def no_links(release: Items) -> Links:
    """Nobody is linked to anybody."""
    nothing: NDArray[Any] = np.empty(0, dtype=np.int64)
    return Links(release, nothing, nothing, np.empty(0))
