"""The simplest linker: what looks the same is the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.core.partition import Partition
from unmask.pseudonyms.attacks.components import connected, grouped, over_items
from unmask.pseudonyms.release import Items


@dataclass(frozen=True)
class ExactMatch:
    """Which items belong together? Those that agree on all the features, and those published under one pseudonym.

    Two pseudonyms are linked by any two of their items that agree; the clusters are the connected components of these
    links, so a common value can tie many together. A missing cell agrees with nothing: an item that misses one of the
    features is linked by its pseudonym only. O(n log n) for each feature.

    features : names of the features to compare; all of them for none

    Assumes: a person's features are written alike each time, and no two people share all of them.

    Fails when: features have errors, and nothing is linked; or are coarse, and strangers are, in chains.

    >>> items = Items.read({"name": ["ann", "bob", "ann"], "born": [1, 1, 1]}, features=["name", "born"])
    >>> ExactMatch(features=("name", "born"))(items).code
    array([0, 1, 0], dtype=int32)

    The deterministic rule of record linkage: P. Christen, "Data Matching", 2012, section 2.4.
    """

    features: tuple[str, ...] = ()

    def __call__(self, release: Items, knowledge: None = None, *, rng: np.random.Generator | None = None) -> Partition:
        """The adversary's partition of the items."""
        group = grouped(release.chosen(self.features))
        unit = release.partition
        there = group >= 0
        n = unit.n_clusters
        component = connected(unit.code[there], n + group[there], n + int(group.max(initial=0)) + 1)
        return over_items(release, component[:n])
