"""Counts of a truth against an adversary's partition, which determine every measure of unlinkability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import distinct
from unmask.core.errors import UnmaskError
from unmask.core.partition import Missing, Partition, Unlabeled, View, align_view, among
from unmask.measures.clustering.overlap import (
    Overlap,
    Override,
    WeightedOverlap,
    as_fraction,
    check_weights,
    overlap,
    sum_cells,
    weigh_equally,
    weigh_items,
)

OWN: Final = ("alpha", "beta", "wanted")
"""Parameters that a subject may have in place of the common ones."""

DRAWN_ITEMS: Final = 1 << 20
"""Items of a random guess at most; if there are more, the subjects are a random sample."""


@dataclass(frozen=True, eq=False)
class Contingency:
    """Numbers of items that each subject and each cluster share, for every partition of a view.

    Parameters
    ----------
    weighed : tuple of WeightedOverlap
        Tables of the partitions over the same items, with the weights of the items. Items without a row have no
        subject, or an unknown one, see `Overlap.n_unowned`.
    probability : (n_partitions,) array
        Probability of each partition; they sum to 1.
    block_size : (n_blocks,) array
        Numbers of items that all partitions put into the same cluster.
    cluster : (n_partitions, n_blocks) array
        Cluster of each block.
    subjects : (n_subjects,) array
        Label of each subject, or its number if labels are not known.
    own : mapping
        "alpha", "beta" or "wanted" -> (n_subjects,) parameters of the subjects, if they differ.
    items : tuple, optional
        Truth, view and weights for `at_random`, if items have different weights.
    names : tuple of arrays
        Labels of the clusters of each partition, if they are known.
    unknown : bool
        Whether an item without a row may belong to a subject, so that measures have `bounds` only.
    n_items : int
        Number of items of the truth or of the guess, including dropped ones; 0 if each has a row.
    """

    weighed: tuple[WeightedOverlap, ...]
    probability: Floats
    block_size: Integers
    cluster: Integers
    subjects: NDArray[Any]
    own: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    items: tuple[Partition, View, Floats] | None = None
    names: tuple[NDArray[Any], ...] = ()
    unknown: bool = False
    n_items: int = 0

    @property
    def tables(self) -> tuple[Overlap, ...]:
        """Return the tables of the partitions, in counts."""
        return tuple(weighed.table for weighed in self.weighed)

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
        """Count partitions by the ids of their items; the order of items does not matter.

        missing, unlabeled : treatment of items that only one of them has, see `unmask.core.partition`
        weights, overrides : (n,) sensitivity of each item of the solution in [0, 1], and exceptions (subject, item,
            weight) for single subjects; section 3.3 of the paper
        own : parameters of the subjects of the solution, in their order: "alpha", "beta", or whether foreign items are
            "wanted", in place of the parameters of `evaluate`

        >>> met = Contingency.of(Partition([0, 0, 1]), View([Partition([0, 0, 1]), Partition([0, 0, 0])]))
        >>> met.tables[1].shared, met.block_size, met.cluster.tolist()
        (array([2, 1]), array([2, 1]), [[0, 1], [0, 0]])
        """
        guess = View([adversary]) if isinstance(adversary, Partition) else adversary
        aligned, view = align_view(solution, guess, missing=missing, unlabeled=unlabeled)
        is_kept = _mask_kept_items(solution, aligned)
        subjects = np.arange(solution.n_clusters) if is_kept.all() else np.unique(solution.code[is_kept])
        tables = [overlap(aligned, partition).take_subjects(len(subjects)) for partition in view.partitions]
        weight = None if weights is None else check_weights(weights, len(solution))[is_kept]
        if (weight is not None or overrides) and len(aligned) > int(is_kept.sum()):
            raise UnmaskError("items that are not in the truth have no weight there; leave them out (unlabeled drop)")
        has_weights = weight is not None or bool(overrides)
        item_weight = np.ones(len(aligned)) if weight is None else weight
        block_size, cluster = _find_blocks(view)
        return cls(
            weighed=tuple(
                weigh_items(table, aligned, partition, item_weight, tuple(overrides))
                if has_weights
                else weigh_equally(table)
                for table, partition in zip(tables, view.partitions, strict=True)
            ),
            probability=view.probability,
            block_size=block_size,
            cluster=cluster,
            subjects=solution.names[subjects],
            own={name: _check_own(name, values, solution.n_clusters)[subjects] for name, values in (own or {}).items()},
            items=None if weight is None else (aligned, view, weight),
            names=tuple(partition.names for partition in view.partitions),
            unknown=unlabeled == "unknown",
        )

    def at_random(self, *, rng: np.random.Generator, min_size: int = 1, max_items: int = DRAWN_ITEMS) -> Contingency:
        """Return the same clusters with their items dealt at random to subjects of the same sizes.

        The law is the same as for a partition with shuffled labels: the table is drawn from the multivariate
        hypergeometric law at the given margins. The draw starts from sorted margins, so that neither the order of items
        nor labels matter; partitions of a view keep their agreement. If items have different weights, each keeps its
        weight and its subject.

        min_size, max_items : if the subjects have more than `max_items` items, these are dealt to a random sample of
            the subjects with at least min_size items, which has about `max_items` items. A mean over such subjects
            stays unbiased.

        >>> met = Contingency.of(Partition([0, 0, 0, 1]), Partition([0, 0, 1, 1]))
        >>> met.at_random(rng=np.random.default_rng(1)).tables[0].shared
        array([1, 1, 2])
        """
        if self.items is not None:
            return replace(_shuffle_items(*self.items, rng), own=self.own, subjects=self.subjects)
        row = np.argsort(self.tables[0].subject_size, kind="stable")
        if int(self.tables[0].subject_size.sum()) > max_items:
            row = row[self.tables[0].subject_size[row] >= min_size]
            total = int(self.tables[0].subject_size[row].sum())
            row = rng.choice(row, max(len(row) * max_items // total, 1), replace=False) if total > max_items else row
        size = self.tables[0].subject_size[row]
        ascending = np.lexsort((*self.cluster, self.block_size))
        block = ascending[_deal_blocks(self.block_size[ascending], int(size.sum()), rng)]
        subject, ones = np.repeat(np.arange(len(size)), size), np.ones(len(block), dtype=np.int64)
        tables = tuple(
            sum_cells(subject, cluster[block], ones, subject_size=size, cluster_size=table.cluster_size)
            for cluster, table in zip(self.cluster, self.tables, strict=True)
        )
        own = {name: values[row] for name, values in self.own.items()}
        return replace(self, weighed=tuple(map(weigh_equally, tables)), own=own, subjects=self.subjects[row])


def _check_own(name: str, values: ArrayLike, n: int) -> NDArray[Any]:
    """Return the parameter of each subject: whether foreign items are wanted, or a share as a fraction."""
    if name not in OWN:
        raise UnmaskError(f"subjects have no {name!r} of their own; expected {', '.join(OWN)}")
    parameters = list(cast(Any, values))
    if len(parameters) != n:
        raise UnmaskError(f"there are {len(parameters)} values of {name} for {n} subjects, expected as many")
    if name == "wanted":
        return np.asarray(parameters, dtype=bool)
    shares = np.empty(n, dtype=object)
    shares[:] = [as_fraction(name, share) for share in parameters]
    return shares


def _mask_kept_items(solution: Partition, aligned: Partition) -> Booleans:
    """Return which items of the solution are kept; added items come after them."""
    n = len(solution)
    if solution.items is None or aligned.items is None:
        return np.ones(n, dtype=np.bool_)
    if len(aligned) >= n and np.array_equal(aligned.items[:n], solution.items):
        return np.ones(n, dtype=np.bool_)
    return among(solution.items, aligned.items)


def _find_blocks(view: View) -> tuple[Integers, Integers]:
    """Return size and clusters of the sets of items that no partition of the view divides."""
    first, *further = view.partitions
    block = first.code.astype(np.int64)
    for partition in further:
        block = np.unique(block * partition.n_clusters + partition.code, return_inverse=True)[1]
    item = np.empty(int(block.max()) + 1, dtype=np.int64)
    item[block] = np.arange(len(block))  # any item of the block
    return np.bincount(block), np.array([partition.code[item] for partition in view.partitions], dtype=np.int64)


def _shuffle_items(solution: Partition, view: View, weight: Floats, rng: np.random.Generator) -> Contingency:
    """Return the clusters dealt at random to items that keep their weight and their subject."""
    item = np.lexsort((weight, solution.code))
    dealt = np.lexsort([partition.code for partition in view.partitions])[rng.permutation(len(solution))]
    guess = View([Partition(partition.code[dealt]) for partition in view.partitions], view.probability)
    return Contingency.of(Partition(solution.code[item]), guess, weights=weight[item])


def _deal_blocks(size: Integers, k: int, rng: np.random.Generator) -> Integers:
    """Return the blocks of k different items in random order, every sequence of items equally likely.

    size : (n_blocks,) items of each block; memory for k items where they are many
    """
    n = int(size.sum())
    if n <= 4 * k:
        return rng.permutation(np.repeat(np.arange(len(size)), size))[:k]
    items = np.zeros(0, dtype=np.int64)
    while len(items) < k:  # a set of draws is equally likely for every set of its size
        items = distinct(np.concatenate([items, rng.integers(0, n, k)]))
    return np.searchsorted(np.cumsum(size), rng.permutation(items)[:k], side="right")
