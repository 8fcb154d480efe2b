"""A truth and an adversary's guess without their items: the counts that every measure here is a function of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.csr_rows import distinct
from unmask.core.errors import UnmaskError
from unmask.core.partition import Missing, Partition, Unlabeled, View, align_view, among
from unmask.measures.unlinkability.overlap import Overlap, of_cells, overlap
from unmask.measures.unlinkability.weighing import Override, Weighed, as_fraction, as_weights, counted, weighed

OWN: Final = ("alpha", "beta", "wanted")
"""What subjects may mind in place of what is said of all."""

DRAWN_ITEMS: Final = 1 << 20
"""Items that one guess at random hands out at most; of more, the subjects are a random sample."""


@dataclass(frozen=True, eq=False)
class Contingency:
    """How many items each subject and each cluster share, for every partition of a view (or the one there is).

    weighed     : the tables of the partitions, over the same items, with the weights of these; n_subjects rows each.
                  Items of a cluster that are in no row belong to no subject of the truth, or nobody knows to whom: see
                  `Overlap.nobodys`
    probability : (n_partitions,) of each, sum 1
    block_size  : (n_blocks,) items that all partitions put into the same cluster; of one partition its cluster sizes
    cluster     : (n_partitions, n_blocks) the cluster that a block is in
    subjects    : (n_subjects,) the label of each row's subject, or its number where labels are not known
    own         : "alpha", "beta" or "wanted" -> (n_subjects,) what each subject minds, where subjects differ
    items       : truth, view and weights where items weigh differently, for `at_random`; else None
    names       : the labels of the clusters of each partition; none where they are not known
    n_items     : items of the truth or of the guess, those that are left out, too; 0 if all are in a row
    unknown     : whether an item that is in no row may yet belong to a subject, so that measures have `bounds` alone
    """

    weighed: tuple[Weighed, ...]
    probability: NDArray[np.float64]
    block_size: NDArray[np.int64]
    cluster: NDArray[np.int64]
    subjects: NDArray[Any]
    own: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    items: tuple[Partition, View, NDArray[np.float64]] | None = None
    names: tuple[NDArray[Any], ...] = ()
    unknown: bool = False
    n_items: int = 0

    @property
    def tables(self) -> tuple[Overlap, ...]:
        """Of the partitions, in counts."""
        return tuple(one.table for one in self.weighed)

    @classmethod
    def of(
        cls,
        solution: Partition,
        adversary: Partition | View,
        *,
        missing: Missing = "error",
        unlabeled: Unlabeled = "error",
        weights: ArrayLike | None = None,
        overrides: Sequence[Override] = (),
        own: Mapping[str, ArrayLike] | None = None,
    ) -> Contingency:
        """Count partitions by the ids of their items; the order of these does not matter.

        missing, unlabeled : what an item is that only one of them has, see `unmask.core.partition`
        weights, overrides : (n,) sensitivity of each item of the solution in [0, 1], and exceptions (subject, item,
            weight) in the eyes of one subject; section 3.3 of the paper
        own : of the subjects of the solution, in their order: their "alpha", "beta", or whether foreign items are
            "wanted", in place of what `evaluate` says of all

        >>> met = Contingency.of(Partition([0, 0, 1]), View([Partition([0, 0, 1]), Partition([0, 0, 0])]))
        >>> met.tables[1].own, met.block_size, met.cluster.tolist()
        (array([2, 1]), array([2, 1]), [[0, 1], [0, 0]])
        """
        given = View([adversary]) if isinstance(adversary, Partition) else adversary
        ours, view = align_view(solution, given, missing=missing, unlabeled=unlabeled)
        kept = _kept(solution, ours)
        subjects = np.arange(solution.n_clusters) if kept.all() else np.unique(solution.code[kept])
        tables = [overlap(ours, partition).first(len(subjects)) for partition in view.partitions]
        weight = None if weights is None else as_weights(weights, len(solution))[kept]
        if (weight is not None or overrides) and len(ours) > int(kept.sum()):
            raise UnmaskError("items that are not in the truth have no weight there; leave them out (unlabeled drop)")
        of_item = None if weight is None and not overrides else (np.ones(len(ours)) if weight is None else weight)
        block_size, cluster = _blocks(view)
        return cls(
            weighed=tuple(
                counted(table) if of_item is None else weighed(table, ours, partition, of_item, tuple(overrides))
                for table, partition in zip(tables, view.partitions, strict=True)
            ),
            probability=view.probability,
            block_size=block_size,
            cluster=cluster,
            subjects=solution.names[subjects],
            own={name: _minds(name, one, solution.n_clusters)[subjects] for name, one in (own or {}).items()},
            items=None if weight is None else (ours, view, weight),
            names=tuple(partition.names for partition in view.partitions),
            unknown=unlabeled == "unknown",
        )

    def at_random(self, *, rng: np.random.Generator, min_size: int = 1, most: int = DRAWN_ITEMS) -> Contingency:
        """The same clusters with their items handed out at random, to subjects of the same sizes.

        Exactly what a partition with shuffled labels gives to these subjects: the table is drawn from the multivariate
        hypergeometric law at the given margins. The draw starts from sorted margins, so that neither the order of the
        items nor the labels matter; partitions of a view keep agreeing as they did. Where items weigh differently, each
        keeps its weight and its subject.

        min_size, most : where the subjects have more than `most` items, these go to a random sample of the subjects
            with at least min_size items (there must be one), with about `most` items, at least one subject. A mean over
            such subjects stays unbiased.

        >>> met = Contingency.of(Partition([0, 0, 0, 1]), Partition([0, 0, 1, 1]))
        >>> met.at_random(rng=np.random.default_rng(1)).tables[0].own
        array([1, 1, 2])
        """
        if self.items is not None:
            return replace(_shuffled(*self.items, rng), own=self.own, subjects=self.subjects)
        row = np.argsort(self.tables[0].subject_size, kind="stable")
        if int(self.tables[0].subject_size.sum()) > most:
            row = row[self.tables[0].subject_size[row] >= min_size]
            total = int(self.tables[0].subject_size[row].sum())
            row = rng.choice(row, max(len(row) * most // total, 1), replace=False) if total > most else row
        size = self.tables[0].subject_size[row]
        ascending = np.lexsort((*self.cluster, self.block_size))
        block = ascending[_dealt(self.block_size[ascending], int(size.sum()), rng)]
        subject, ones = np.repeat(np.arange(len(size)), size), np.ones(len(block), dtype=np.int64)
        tables = tuple(
            of_cells(subject, cluster[block], ones, subject_size=size, cluster_size=table.cluster_size)
            for cluster, table in zip(self.cluster, self.tables, strict=True)
        )
        own = {name: values[row] for name, values in self.own.items()}
        return replace(self, weighed=tuple(map(counted, tables)), own=own, subjects=self.subjects[row])


def _minds(name: str, values: ArrayLike, n: int) -> NDArray[Any]:
    """(n,) what each subject minds: whether foreign items are wanted, or a share, as a fraction."""
    if name not in OWN:
        raise UnmaskError(f"subjects have no {name!r} of their own; expected {', '.join(OWN)}")
    each = list(cast(Any, values))
    if len(each) != n:
        raise UnmaskError(f"there are {len(each)} values of {name} for {n} subjects, expected as many")
    if name == "wanted":
        return np.asarray(each, dtype=bool)
    shares = np.empty(n, dtype=object)
    shares[:] = [as_fraction(name, share) for share in each]
    return shares


def _kept(solution: Partition, aligned: Partition) -> NDArray[np.bool_]:
    """(n,) which items of the solution are still there; those that were added to them come after."""
    n = len(solution)
    if solution.items is None or aligned.items is None:
        return np.ones(n, dtype=np.bool_)
    if len(aligned) >= n and np.array_equal(aligned.items[:n], solution.items):
        return np.ones(n, dtype=np.bool_)
    return among(solution.items, aligned.items)


def _blocks(view: View) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Size and clusters of the sets of items that no partition of the view divides."""
    first, *others = view.partitions
    block = first.code.astype(np.int64)
    for partition in others:
        block = np.unique(block * partition.n_clusters + partition.code, return_inverse=True)[1]
    item = np.empty(int(block.max()) + 1, dtype=np.int64)
    item[block] = np.arange(len(block))  # any item of the block
    return np.bincount(block), np.array([partition.code[item] for partition in view.partitions], dtype=np.int64)


def _shuffled(solution: Partition, view: View, weight: NDArray[np.float64], rng: np.random.Generator) -> Contingency:
    """The clusters handed out at random to items that keep their weight and their subject."""
    item = np.lexsort((weight, solution.code))
    handed = np.lexsort([partition.code for partition in view.partitions])[rng.permutation(len(solution))]
    guess = View([Partition(partition.code[handed]) for partition in view.partitions], view.probability)
    return Contingency.of(Partition(solution.code[item]), guess, weights=weight[item])


def _dealt(size: NDArray[np.int64], k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(k,) blocks of k different items in random order, every sequence of items equally likely.

    size : (n_blocks,) items of each block; memory for k items where they are many
    """
    n = int(size.sum())
    if n <= 4 * k:
        return rng.permutation(np.repeat(np.arange(len(size)), size))[:k]
    found = np.zeros(0, dtype=np.int64)
    while len(found) < k:  # a set of draws is equally likely for every set of its size
        found = distinct(np.concatenate([found, rng.integers(0, n, k)]))
    return np.searchsorted(np.cumsum(size), rng.permutation(found)[:k], side="right")
