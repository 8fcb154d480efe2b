"""The sparse table of a solution against an adversary's partition: all that any measure here looks at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from unmask.core.partition import Missing, Partition, Unlabeled, align


@dataclass(frozen=True, eq=False)
class Overlap:
    """The cells where a subject C and a cluster D have items in common, subject by subject, clusters ascending.

    subject, cluster : (n_cells,) int32
    own              : (n_cells,) int64, |C and D| >= 1
    indptr           : (n_subjects + 1,) the cells of subject s are indptr[s]:indptr[s + 1]
    subject_size     : (n_subjects,) |C|
    cluster_size     : (n_clusters,) |D|, items of subjects that are not among the rows included
    """

    subject: NDArray[np.int32]
    cluster: NDArray[np.int32]
    own: NDArray[np.int64]
    indptr: NDArray[np.int64]
    subject_size: NDArray[np.int64]
    cluster_size: NDArray[np.int64]

    @cached_property
    def n(self) -> int:
        """Number of items."""
        return int(self.cluster_size.sum())

    @property
    def pieces(self) -> NDArray[np.int64]:
        """(n_subjects,) clusters in which a subject has items."""
        return np.diff(self.indptr)

    def first(self, n_subjects: int) -> Overlap:
        """The rows of the first subjects; the items of all others are nobody's, and still in their clusters."""
        end = self.indptr[n_subjects]
        return Overlap(
            self.subject[:end],
            self.cluster[:end],
            self.own[:end],
            self.indptr[: n_subjects + 1],
            self.subject_size[:n_subjects],
            self.cluster_size,
        )

    @cached_property
    def nobodys(self) -> NDArray[np.int64]:
        """(n_clusters,) items of a cluster that belong to no subject among the rows."""
        return self.cluster_size - np.bincount(self.cluster, self.own, len(self.cluster_size)).astype(np.int64)

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """(n_clusters,) subjects among the rows that have an item in the cluster."""
        return np.bincount(self.cluster, minlength=len(self.cluster_size))

    @cached_property
    def x_log_x(self) -> NDArray[np.float64]:
        """(n_cells,) x log2 x, x the items of a cell."""
        return np.asarray(self.own * np.log2(self.own))

    @cached_property
    def sums_x_log_x(self) -> NDArray[np.float64]:
        """(n_clusters,) its sum over a cluster, which is all that entropies of the owners need."""
        return np.bincount(self.cluster, self.x_log_x, len(self.cluster_size)).astype(np.float64, copy=False)

    @property
    def labeled(self) -> Overlap:
        """The same without the items that are nobody's, and without clusters that have no other."""
        present, cluster = np.unique(self.cluster, return_inverse=True)
        size = (self.cluster_size - self.nobodys)[present]
        return Overlap(self.subject, cluster.astype(np.int32), self.own, self.indptr, self.subject_size, size)


def overlap(
    solution: Partition, adversary: Partition, *, missing: Missing = "error", unlabeled: Unlabeled = "error"
) -> Overlap:
    """The table of two partitions, in O(items + cells).

    missing, unlabeled : what an item is that only one of them has, see `core.partition`; it is alone in the other

    >>> table = overlap(Partition([0, 0, 1, 1]), Partition([0, 1, 1, 1]))
    >>> table.subject, table.cluster, table.own
    (array([0, 0, 1], dtype=int32), array([0, 1, 1], dtype=int32), array([1, 1, 2]))
    """
    solution, adversary = align(solution, adversary, missing=missing, unlabeled=unlabeled)
    ones = np.ones(len(solution), dtype=np.int64)
    return of_cells(solution.code, adversary.code, ones, subject_size=solution.sizes, cluster_size=adversary.sizes)


def of_cells(
    subject: NDArray[Any],
    cluster: NDArray[Any],
    own: NDArray[np.int64],
    *,
    subject_size: NDArray[np.int64],
    cluster_size: NDArray[np.int64],
) -> Overlap:
    """The table of cells in any order; those of the same subject and cluster are added up.

    >>> of_cells(
    ...     np.array([0, 0]),
    ...     np.array([1, 1]),
    ...     np.array([1, 2]),
    ...     subject_size=np.array([3]),
    ...     cluster_size=np.array([1, 4]),
    ... ).own
    array([3])
    """
    table = coo_array((own, (subject, cluster)), shape=(len(subject_size), len(cluster_size))).tocsr()
    table.sum_duplicates()
    indptr = table.indptr.astype(np.int64)
    return Overlap(
        subject=np.repeat(np.arange(len(subject_size), dtype=np.int32), np.diff(indptr)),
        cluster=table.indices.astype(np.int32, copy=False),
        own=table.data,
        indptr=indptr,
        subject_size=subject_size,
        cluster_size=cluster_size,
    )


def cell_of_item(table: Overlap, solution: Partition, adversary: Partition) -> NDArray[np.int64]:
    """(n,) the cell that each item is in."""
    keys = table.subject.astype(np.int64) * adversary.n_clusters + table.cluster
    return np.searchsorted(keys, solution.code.astype(np.int64) * adversary.n_clusters + adversary.code)
