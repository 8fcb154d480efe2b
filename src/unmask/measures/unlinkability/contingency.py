"""A truth and an adversary's guess without their items: the counts that every measure here is a function of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from unmask.measures.unlinkability.overlap import Overlap, of_cells, overlap
from unmask.view import Partition, View

DRAWN_ITEMS: Final = 1 << 20
"""Items that one guess at random hands out at most; of more, the subjects are a random sample."""


@dataclass(frozen=True, eq=False)
class Contingency:
    """How many items each subject and each cluster share, for every partition of a view (or the one there is).

    tables      : of the partitions, over the same items; n_subjects rows each
    probability : (n_partitions,) of each, sum 1
    block_size  : (n_blocks,) items that all partitions put into the same cluster; of one partition its cluster sizes
    cluster     : (n_partitions, n_blocks) the cluster that a block is in
    """

    tables: tuple[Overlap, ...]
    probability: NDArray[np.float64]
    block_size: NDArray[np.int64]
    cluster: NDArray[np.int64]

    @classmethod
    def of(cls, solution: Partition, adversary: Partition | View) -> Contingency:
        """Count partitions over the same items in the same order; their order does not matter.

        >>> met = Contingency.of(Partition([0, 0, 1]), View([Partition([0, 0, 1]), Partition([0, 0, 0])]))
        >>> met.tables[1].own, met.block_size, met.cluster.tolist()
        (array([2, 1]), array([2, 1]), [[0, 1], [0, 0]])
        """
        view = View([adversary]) if isinstance(adversary, Partition) else adversary
        first, *others = view.partitions
        block = first.code.astype(np.int64)
        for partition in others:
            block = np.unique(block * partition.n_clusters + partition.code, return_inverse=True)[1]
        item = np.empty(int(block.max()) + 1, dtype=np.int64)
        item[block] = np.arange(len(block))  # any item of the block
        return cls(
            tables=tuple(overlap(solution, partition) for partition in view.partitions),
            probability=view.probability,
            block_size=np.bincount(block),
            cluster=np.array([partition.code[item] for partition in view.partitions], dtype=np.int64),
        )

    @classmethod
    def of_table(cls, table: Overlap) -> Contingency:
        """The one partition whose table is known."""
        clusters = np.arange(len(table.cluster_size))
        return cls((table,), np.ones(1), table.cluster_size, clusters[None])

    def at_random(self, *, rng: np.random.Generator, min_size: int = 1, most: int = DRAWN_ITEMS) -> Contingency:
        """The same clusters with their items handed out at random, to subjects of the same sizes.

        Exactly what a partition with shuffled labels gives to these subjects: the table is drawn from the multivariate
        hypergeometric law at the given margins. The draw starts from sorted margins, so that neither the order of the
        items nor the labels matter; partitions of a view keep agreeing as they did.

        min_size : subjects with fewer items get none and are left out; there must be one
        most : where the subjects have more items than this, they are about as many subjects drawn without replacement
            as have so many, at least one. A mean over subjects stays unbiased.

        >>> met = Contingency.of(Partition([0, 0, 0, 1]), Partition([0, 0, 1, 1]))
        >>> met.at_random(rng=np.random.default_rng(1), min_size=2).tables[0].own
        array([2, 1])
        """
        size = np.sort(self.tables[0].subject_size)
        size = size[size >= min_size]
        if (total := int(size.sum())) > most:
            size = rng.choice(size, max(len(size) * most // total, 1), replace=False)
        ascending = np.lexsort((*self.cluster, self.block_size))
        drawn = _drawn(int(self.block_size.sum()), int(size.sum()), rng)
        block = ascending[np.searchsorted(np.cumsum(self.block_size[ascending]), drawn, side="right")]
        subject, ones = np.repeat(np.arange(len(size)), size), np.ones(len(block), dtype=np.int64)
        tables = tuple(
            of_cells(subject, cluster[block], ones, subject_size=size, cluster_size=table.cluster_size)
            for cluster, table in zip(self.cluster, self.tables, strict=True)
        )
        return Contingency(tables, self.probability, self.block_size, self.cluster)


def _drawn(n: int, k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(k,) different numbers below n in random order, every sequence equally likely; memory for k where n is large."""
    if n <= 4 * k:
        return rng.permutation(n)[:k]
    found = np.zeros(0, dtype=np.int64)
    while len(found) < k:  # a set of draws is equally likely for every set of its size
        found = np.unique(np.concatenate([found, rng.integers(0, n, k)]))
    return rng.permutation(found)[:k]
