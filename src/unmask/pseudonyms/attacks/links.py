"""Pairs that are held to be one user's, and the partitions that thresholds make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition, View
from unmask.pseudonyms.attacks.components import connected, over_items
from unmask.pseudonyms.release import Items


@dataclass(frozen=True, eq=False)
class Links:
    """How likely pairs of pseudonyms are one user, as a linker believes; pairs that are not listed are not linked.

    left, right : (n_pairs,) places in `release.partition`, left < right, each pair once
    probability : (n_pairs,) of the linker's model: neither calibrated nor transitive

    Links are not transitive: all that a chain of links connects is put together (connected components), which can make
    one giant cluster at a low threshold.
    """

    release: Items
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    probability: NDArray[np.float64]

    def __post_init__(self) -> None:
        if not len(self.left) == len(self.right) == len(self.probability):
            raise UnmaskError("the ends of the links and their probabilities differ in length, expected one length")
        if not ((self.probability >= 0) & (self.probability <= 1)).all():
            raise UnmaskError("a probability of a link is outside 0 to 1")

    def __repr__(self) -> str:
        return f"Links({len(self.left)} pairs of {self.release.partition.n_clusters} pseudonyms)"

    def clusters(self, threshold: float) -> Partition:
        """The partition of the items when pairs of at least this probability are linked."""
        if not 0 <= threshold <= 1:
            raise UnmaskError(f"the threshold is {threshold}, expected a probability from 0 to 1")
        linked, n = self.probability >= threshold, self.release.partition.n_clusters
        return over_items(self.release, connected(self.left[linked], self.right[linked], n))

    def view(self, thresholds: Sequence[float], weights: ArrayLike | None = None) -> View:
        """The view of an adversary who holds the partitions of these thresholds possible.

        weights : (n_thresholds,) above 0, in any unit; equal when left out
        """
        share = np.ones(len(thresholds)) if weights is None else np.asarray(weights, dtype=np.float64)
        if share.shape != (len(thresholds),) or not (share > 0).all():
            raise UnmaskError(
                f"{share.size} weights are given for {len(thresholds)} thresholds, expected one above 0 for each"
            )
        return View([self.clusters(threshold) for threshold in thresholds], share / share.sum())


def no_links(release: Items) -> Links:
    """Nobody is linked to anybody."""
    nothing: NDArray[Any] = np.empty(0, dtype=np.int64)
    return Links(release, nothing, nothing, np.empty(0))
