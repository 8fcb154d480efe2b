"""Counts of a truth against an adversary's partition, which determine every measure of unlinkability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, cast

import numpy as np
import scipy
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
    find_overrides,
    overlap,
    sum_cells,
    weigh_equally,
    weigh_items,
)
from unmask.ranges import check_type

OWN: Final = ("alpha", "beta", "wanted")
"""Parameters for which each subject may have a value of its own in place of the common one."""

DRAWN_ITEMS: Final = 1 << 20
"""Largest number of items that a random guess deals. If there are more, it uses a random sample of the subjects."""

Baseline = Literal["shuffled", "uniform", "coin"]
"""Distribution of a random guess: "shuffled" keeps the clusters and shuffles their labels, the others are the
processes of `random_partition`.
"""


class WeightedItems(NamedTuple):
    """The items of a truth and a view with their weights, and exceptions for single subjects."""

    truth: Partition
    view: View
    weight: Floats
    overrides: tuple[Override, ...] = ()


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
    items : WeightedItems, optional
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
    items: WeightedItems | None = None
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
        """Count the items that the solution and each partition of the adversary share, by the ids of the items.

        The order of the items does not matter.

        missing, unlabeled : treatment of items that only one of the two has, see `unmask.core.partition`
        weights : (n,) sensitivity of each item of the solution, in [0, 1]; section 3.3 of the paper
        overrides : exceptions to the weights for single subjects, as (subject, item, weight)
        own : values of "alpha", "beta" or "wanted" (whether foreign items are wanted) for each subject of the solution,
            in the order of the subjects. They replace the parameters of `evaluate`.

        >>> counts = Contingency.of(Partition([0, 0, 1]), View([Partition([0, 0, 1]), Partition([0, 0, 0])]))
        >>> counts.tables[1].shared, counts.block_size, counts.cluster.tolist()
        (array([2, 1]), array([2, 1]), [[0, 1], [0, 0]])
        """
        guess = View([adversary]) if isinstance(adversary, Partition) else adversary
        aligned, view = align_view(solution, guess, missing=missing, unlabeled=unlabeled)
        is_kept = _mask_kept_items(solution, aligned)
        if overrides and not is_kept.all():
            overrides = _keep_overrides(solution, aligned, overrides)
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
            items=WeightedItems(aligned, view, item_weight, tuple(overrides)) if has_weights else None,
            names=tuple(partition.names for partition in view.partitions),
            unknown=unlabeled == "unknown",
        )

    def at_random(
        self,
        *,
        rng: np.random.Generator,
        process: Baseline = "shuffled",
        min_size: int = 1,
        max_items: int = DRAWN_ITEMS,
    ) -> Contingency:
        """Return a random guess, whose items are dealt at random to subjects of the same sizes.

        The process "shuffled" keeps the clusters and shuffles their labels: the table is drawn from the multivariate
        hypergeometric distribution with the given margins. The draw starts from sorted margins, so that neither the
        order of the items nor the labels matter. The partitions of a view keep their agreement with each other. The
        other processes draw the clusters, too. If items have different weights, each keeps its weights and its subject.

        min_size, max_items : if the subjects have more than `max_items` items, only a random sample of the subjects
            with at least `min_size` items is used, which has about `max_items` items. A mean over such subjects stays
            unbiased.

        >>> counts = Contingency.of(Partition([0, 0, 0, 1]), Partition([0, 0, 1, 1]))
        >>> counts.at_random(rng=np.random.default_rng(1)).tables[0].shared
        array([1, 1, 2])
        """
        if self.items is not None:
            return replace(_shuffle_items(self.items, process, rng), own=self.own, subjects=self.subjects)
        block_size, clusters, probability = self.block_size, self.cluster, self.probability
        if process != "shuffled":
            block_size = random_partition(int(block_size.sum()), process=process, rng=rng).sizes
            clusters, probability = np.arange(len(block_size))[None], np.ones(1)
        row = np.argsort(self.tables[0].subject_size, kind="stable")
        if int(self.tables[0].subject_size.sum()) > max_items:
            row = row[self.tables[0].subject_size[row] >= min_size]
            total = int(self.tables[0].subject_size[row].sum())
            row = rng.choice(row, max(len(row) * max_items // total, 1), replace=False) if total > max_items else row
        size = self.tables[0].subject_size[row]
        ascending = np.lexsort((*clusters, block_size))
        block = ascending[_deal_blocks(block_size[ascending], int(size.sum()), rng)]
        subject, ones = np.repeat(np.arange(len(size)), size), np.ones(len(block), dtype=np.int64)
        sizes = (np.bincount(cluster, block_size).astype(np.int64) for cluster in clusters)
        tables = (
            sum_cells(subject, cluster[block], ones, subject_size=size, cluster_size=cluster_size)
            for cluster, cluster_size in zip(clusters, sizes, strict=True)
        )
        return replace(
            self,
            weighed=tuple(map(weigh_equally, tables)),
            probability=probability,
            block_size=block_size,
            cluster=clusters,
            own={name: values[row] for name, values in self.own.items()},
            subjects=self.subjects[row],
            names=(),
        )


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
    """Return which items of the solution the alignment kept. Items that it added come after the kept ones."""
    n = len(solution)
    if solution.items is None or aligned.items is None:
        return np.ones(n, dtype=np.bool_)
    if len(aligned) >= n and np.array_equal(aligned.items[:n], solution.items):
        return np.ones(n, dtype=np.bool_)
    return among(solution.items, aligned.items)


def _keep_overrides(solution: Partition, aligned: Partition, overrides: Sequence[Override]) -> list[Override]:
    """Return the overrides of items that were not dropped."""
    find_overrides(solution, tuple(overrides))  # raises the errors
    assert aligned.items is not None
    subjects, items = set(aligned.names.tolist()), set(aligned.items.tolist())
    return [override for override in overrides if override[0] in subjects and override[1] in items]


def _find_blocks(view: View) -> tuple[Integers, Integers]:
    """Return the sizes of the blocks and the clusters of each block; a block is a set of items that no partition
    of the view divides.
    """
    first, *further = view.partitions
    block = first.code.astype(np.int64)
    for partition in further:
        block = np.unique(block * partition.n_clusters + partition.code, return_inverse=True)[1]
    item = np.empty(int(block.max()) + 1, dtype=np.int64)
    item[block] = np.arange(len(block))  # any item of the block
    return np.bincount(block), np.array([partition.code[item] for partition in view.partitions], dtype=np.int64)


def _shuffle_items(items: WeightedItems, process: Baseline, rng: np.random.Generator) -> Contingency:
    """Deal the clusters at random to the items, which keep their weights and their subjects."""
    truth, view = items.truth, items.view
    if process != "shuffled":
        view = View([random_partition(len(truth), process=process, rng=rng)])
    order = np.lexsort((items.weight, truth.code))
    dealt = np.lexsort([partition.code for partition in view.partitions])[rng.permutation(len(truth))]
    guess = View([Partition(partition.code[dealt]) for partition in view.partitions], view.probability)
    return Contingency.of(
        Partition(truth.code[order]), guess, weights=items.weight[order], overrides=_number_overrides(items, order)
    )


def _number_overrides(items: WeightedItems, order: Integers) -> list[Override]:
    """Return the overrides with the number of the subject and the position of the item in this order."""
    if not items.overrides:
        return []
    subject, position = find_overrides(items.truth, items.overrides)
    place = np.argsort(order)[position]
    weights = [weight for _, _, weight in items.overrides]
    return list(zip(subject.tolist(), place.tolist(), weights, strict=True))


def _deal_blocks(size: Integers, k: int, rng: np.random.Generator) -> Integers:
    """Return the blocks of k different items in random order, where every sequence of items is equally likely.

    size : (n_blocks,) number of items of each block. If there are far more than k items, memory is needed only for k.
    """
    n = int(size.sum())
    if n <= 4 * k:
        return rng.permutation(np.repeat(np.arange(len(size)), size))[:k]
    items = np.zeros(0, dtype=np.int64)
    while len(items) < k:  # a set of draws is equally likely for every set of its size
        items = distinct(np.concatenate([items, rng.integers(0, n, k)]))
    return rng.permutation(np.searchsorted(np.cumsum(size), items, side="right"))[:k]  # of ascending items: fast


Process = Literal["uniform", "coin"]

URN_REACH = 40.0
"""Distance from the mode, in standard deviations, beyond which a number of urns is treated as impossible."""


def random_partition(n: int, *, process: Process = "uniform", rng: np.random.Generator) -> Partition:
    """Draw a partition of n items at random, in O(n).

    Parameters
    ----------
    n : int
        Number of items, at least 1.
    process : {"uniform", "coin"}
        "uniform": each of the Bell(n) partitions is equally likely. "coin": the first item opens a cluster. Each
        further item opens one with probability 1/2, and otherwise joins one of the open clusters, all equally likely.
        Early items are then in large clusters.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    Partition
        Clusters named 0, 1, 2, ...

    Raises
    ------
    UnmaskError
        If n is below 1, or the process is unknown.

    References
    ----------
    Uniform: A. Nijenhuis and H. Wilf, "Combinatorial algorithms", 1978, define the distribution; A. J. Stam,
    "Generation of a random partition of a finite set by an urn model", JCTA 1983, draws from it in linear time. Coin:
    A. Pashalidis and S. Schiffner, "Evaluating adversarial partitions", 2010, appendix A.

    Examples
    --------
    >>> random_partition(8, rng=np.random.default_rng(1)).code
    array([2, 3, 0, 0, 3, 3, 1, 1], dtype=int32)
    """
    if n < 1:
        raise UnmaskError(f"the random partition has {n} items, expected at least 1")
    check_type("process", process, Process)
    labels: NDArray[Any] = _drop_into_urns(n, rng) if process == "uniform" else _toss_coins(n, rng)
    return Partition(np.unique(labels, return_inverse=True)[1])


def _drop_into_urns(n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Drop n items into a random number of urns; empty urns are left out."""
    m, p = urn_distribution(n)
    return rng.integers(0, int(rng.choice(m, p=p)), n, dtype=np.int32)


def urn_distribution(n: int) -> tuple[Integers, Floats]:
    """Return numbers of urns m and their probabilities m^n / (m! e Bell(n)), down to about 1e-300 of the largest.

    The logarithm is concave with its mode near m ln m = n, so a window around the mode has all of them.

    >>> m, p = urn_distribution(3)
    >>> m[:4], p[:4].round(4)
    (array([1, 2, 3, 4]), array([0.0736, 0.2943, 0.3311, 0.1962]))

    Stam 1983; the normalization is Dobinski's formula for Bell(n).
    """
    mode = float(np.exp(scipy.special.lambertw(n).real))
    width = URN_REACH / np.sqrt(n / mode**2 + 1 / mode)
    m = np.arange(max(1, int(mode - width)), int(mode + width) + 60)
    log_weight = n * np.log(m) - scipy.special.gammaln(m + 1.0)
    weight = np.exp(log_weight - log_weight.max())
    return m, weight / weight.sum()


def _toss_coins(n: int, rng: np.random.Generator) -> Integers:
    opens = rng.integers(0, 2, n, dtype=np.int8)
    opens[0] = 1
    n_open = np.cumsum(opens, dtype=np.int64)
    return np.where(opens, n_open - 1, (rng.random(n) * n_open).astype(np.int64))
