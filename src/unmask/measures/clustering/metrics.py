"""Metrics of two clusterings from their sparse table: pairs, B-cubed, variation of information, transfer distance."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy

from unmask.core.arrays import Floats, Integers
from unmask.measures.clustering.overlap import Overlap

MIN_SETTLED_SHARE = 0.001
"""Share of the cells that a round has to settle for another round to follow."""


@dataclass(frozen=True, eq=False)
class SubjectMetrics:
    """Metrics of each subject, (n_subjects,), in the order of the table.

    A subject C has c items, and x of them are in a cluster D of size d. Sums run over the clusters that contain items
    of C. The mean over subjects, weighted by c, is the metric of the whole partition.

    split : -sum (x/c) log2(x/c), in bits, from 0 to log2 c; 0 if all items of C are together
    mix : -sum (x/c) log2(x/d), in bits, from 0 to log2 n; 0 if no foreign item is with them
    bcubed_precision : sum x^2/(c d), above 0 and at most 1: the mean over the items of C of the share of C in the
        item's cluster
    bcubed_recall : sum (x/c)^2, above 0 and at most 1: the mean over the items of C of the share of C that is in the
        item's cluster
    pair_recall : share of the pairs of C that are together; nan for one item; its mean is weighted by pairs instead of
        c
    recovered : 1 if a cluster is exactly C, otherwise 0; its mean is not weighted
    expected_missing : mean over the items of C of c - x, the items of C that are not with the item
    expected_extra : mean over the items of C of d - x, the foreign items that are with the item
    """

    split: Floats
    mix: Floats
    bcubed_precision: Floats
    bcubed_recall: Floats
    pair_recall: Floats
    recovered: Floats
    expected_missing: Floats
    expected_extra: Floats


@dataclass(frozen=True, eq=False)
class ClusteringMetrics:
    """Metrics of two partitions of n items: P, the solution, and Q, the adversary's.

    x = items of a subject and a cluster in common, c and d their sizes, c2(k) = k (k - 1)/2 pairs, A = c2(n), T = sum
    c2(x), entropies in bits of a uniformly drawn item's block. A metric that would be 0/0 because the partitions are
    equal and trivial (one block, or all singletons) is that of equal partitions; without any pair (n = 1) `rand_index`,
    `adjusted_rand_index` and metrics divided by log2 n or n - 1 are nan.

    Parameters
    ----------
    rand_index : float
        Share of the pairs that both treat alike, (A + 2 T - sum c2(c) - sum c2(d))/A.
    adjusted_rand_index : float
        (T - E)/(M - E), M = (sum c2(c) + sum c2(d))/2, E = sum c2(c) sum c2(d)/A: 0 for chance at fixed sizes, 1 for
        equal, may be negative (Hubert and Arabie 1985).
    pair_precision, pair_recall, pair_f : float
        T/sum c2(d), T/sum c2(c), 2 T/(sum c2(c) + sum c2(d)); nan for a partition without pairs.
    bcubed_precision, bcubed_recall, bcubed_f : float
        Mean over items of x/d and of x/c, and their harmonic mean (Bagga and Baldwin 1998); the first two are also
        known as average cluster and author purity, whose geometric mean is K.
    subject_precision, subject_recall, subject_f : float
        B-cubed as a mean over subjects, whatever their size.
    cluster_precision, cluster_recall, cluster_f : float
        Clusters recovered exactly over all clusters of Q, over all subjects, and twice over both.
    variation_of_information : float
        Variation of information H(P given Q) + H(Q given P) in bits, a metric in [0, log2 n] (Meila 2007); the mean of
        split + mix weighted by c.
    entropy_solution, entropy_adversary, mutual_information : float
        H(P), H(Q), I = H(P) + H(Q) - H(P,Q), bits.
    homogeneity : float
        I/H(P), 1 if H(P) = 0: clusters hold one subject only.
    completeness : float
        I/H(Q), 1 if H(Q) = 0: subjects are in one cluster only (Rosenberg and Hirschberg 2007).
    normalized_mutual_information : float
        2 I/(H(P) + H(Q)), normalized by the arithmetic mean, which is the V-measure.
    expected_missing, expected_extra : float
        Mean over items of c - x and d - x.
    subject : SubjectMetrics
        Metrics of each subject.
    table : Overlap
        Table of the partitions.
    """

    rand_index: float
    adjusted_rand_index: float
    pair_precision: float
    pair_recall: float
    pair_f: float
    bcubed_precision: float
    bcubed_recall: float
    bcubed_f: float
    subject_precision: float
    subject_recall: float
    subject_f: float
    cluster_precision: float
    cluster_recall: float
    cluster_f: float
    variation_of_information: float
    entropy_solution: float
    entropy_adversary: float
    mutual_information: float
    homogeneity: float
    completeness: float
    normalized_mutual_information: float
    expected_missing: float
    expected_extra: float
    subject: SubjectMetrics = field(repr=False)
    table: Overlap = field(repr=False)

    @property
    def normalized_variation_of_information(self) -> float:
        """Return VOI/log2 n in [0, 1]; nan for n = 1."""
        return self.variation_of_information / math.log2(self.table.n) if self.table.n > 1 else math.nan

    @cached_property
    def transfer_distance(self) -> int:
        """Return how many items have to be moved to make the partitions equal; computed at the first access."""
        return transfer_distance(self.table)

    @property
    def normalized_transfer_distance(self) -> float:
        """Return transfer distance/(n - 1) in [0, 1], 1 between one block and singletons; nan for n = 1."""
        return self.transfer_distance / (self.table.n - 1) if self.table.n > 1 else math.nan


def clustering_metrics(table: Overlap) -> ClusteringMetrics:
    """Compute the metrics by which two clusterings are usually compared, in O(cells).

    Pairs of items without a subject count as apart in the solution; the table of the labeled items
    (`Overlap.labeled`, or unlabeled "drop") leaves them out.

    Parameters
    ----------
    table : Overlap
        Table of the solution against the adversary's partition.

    Returns
    -------
    ClusteringMetrics
        Metrics of the whole partition and of each subject.

    Examples
    --------
    >>> from unmask.measures.clustering.overlap import overlap
    >>> from unmask.core.partition import Partition
    >>> metrics = clustering_metrics(overlap(Partition([0, 0, 0, 1]), Partition([0, 0, 1, 1])))
    >>> metrics.pair_precision, metrics.pair_recall, metrics.pair_f
    (0.5, 0.3333333333333333, 0.4)
    >>> metrics.adjusted_rand_index, round(metrics.variation_of_information, 3), metrics.transfer_distance
    (0.0, 1.189, 1)
    >>> metrics.subject.split.round(3), metrics.subject.mix.round(3)
    (array([0.918, 0.   ]), array([0.333, 1.   ]))
    """
    subject = _subject_metrics(table)
    h_solution, h_adversary = _entropy(table.subject_size), _entropy(table.cluster_size)
    split, mix = _item_mean(subject.split, table), _item_mean(subject.mix, table)
    information = max(h_solution - mix, 0.0)
    n_both, n_solution, n_adversary, n_pairs = _pair_counts(table)
    chance = n_solution * n_adversary
    # multiplied by 2 A, so that only one division rounds
    numerator, denominator = 2 * (n_both * n_pairs - chance), (n_solution + n_adversary) * n_pairs - 2 * chance
    precision, recall = subject.bcubed_precision, subject.bcubed_recall
    return ClusteringMetrics(
        rand_index=_ratio(n_pairs + 2 * n_both - n_solution - n_adversary, n_pairs, math.nan),
        adjusted_rand_index=_ratio(numerator, denominator, 1.0) if n_pairs else math.nan,
        **_retrieve("pair", n_both, n_adversary, n_solution),
        **_harmonize("bcubed", _item_mean(precision, table), _item_mean(recall, table)),
        **_harmonize("subject", float(precision.mean()), float(recall.mean())),
        **_retrieve("cluster", int(subject.recovered.sum()), len(table.cluster_size), len(table.subject_size)),
        variation_of_information=split + mix,
        entropy_solution=h_solution,
        entropy_adversary=h_adversary,
        mutual_information=information,
        homogeneity=_ratio(information, h_solution, 1.0),
        completeness=min(_ratio(information, h_adversary, 1.0), 1.0),
        normalized_mutual_information=min(_ratio(2 * information, h_solution + h_adversary, 1.0), 1.0),
        expected_missing=_item_mean(subject.expected_missing, table),
        expected_extra=_item_mean(subject.expected_extra, table),
        subject=subject,
        table=table,
    )


def variation_of_information(table: Overlap) -> float:
    """Return H(P given Q) + H(Q given P) in bits, in [0, log2 n].

    >>> from unmask.measures.clustering.overlap import overlap
    >>> from unmask.core.partition import Partition
    >>> variation_of_information(overlap(Partition([0, 0, 1, 1]), Partition([0, 1, 0, 1])))
    2.0
    """
    x, c, d = _cell_sizes(table)
    return float((x * (np.log2(c / x) + np.log2(d / x))).sum()) / table.n


def rand_distance(table: Overlap) -> float:
    """Return 1 - Rand index, the share of the pairs that are together in one partition only, in [0, 1]; nan for n = 1.

    >>> from unmask.measures.clustering.overlap import overlap
    >>> from unmask.core.partition import Partition
    >>> rand_distance(overlap(Partition([0, 0, 0]), Partition([0, 0, 1])))
    0.6666666666666666
    """
    n_both, n_solution, n_adversary, n_pairs = _pair_counts(table)
    return _ratio(n_solution + n_adversary - 2 * n_both, n_pairs, math.nan)


def merge_distance(table: Overlap) -> int:
    """Return the fewest splits and merges that turn the adversary's partition into the truth.

    The generalized merge distance of D. Menestrina, S. Whang, H. Garcia-Molina, "Evaluating entity resolution results",
    PVLDB 3, 2010 (not checked against the paper), at unit costs. With costs x y it counts the pairs of `rand_distance`,
    with costs in entropy it is n `variation_of_information`.
    """
    return 2 * len(table.shared) - len(table.subject_size) - len(table.cluster_size)


def _cell_sizes(table: Overlap) -> tuple[Floats, Floats, Floats]:
    """Return x, c and d of every cell."""
    return (
        table.shared.astype(np.float64),
        table.subject_size[table.subject].astype(np.float64),
        table.cluster_size[table.cluster].astype(np.float64),
    )


def _subject_metrics(table: Overlap) -> SubjectMetrics:
    x, c, d = _cell_sizes(table)
    size = table.subject_size.astype(np.float64)

    def mean(value: Floats) -> Floats:
        """Return the mean over the items of each subject of a number of their cells."""
        return np.add.reduceat(x * value, table.indptr[:-1]) / size

    shared, cluster = mean(x), mean(d)
    pairs = size * (size - 1)
    return SubjectMetrics(
        split=mean(np.log2(c / x)),
        mix=mean(np.log2(d / x)),
        bcubed_precision=mean(x / d),
        bcubed_recall=shared / size,
        pair_recall=np.divide(size * (shared - 1), pairs, out=np.full(len(size), np.nan), where=pairs > 0),
        recovered=np.add.reduceat((x == c) & (x == d), table.indptr[:-1], dtype=np.float64),
        expected_missing=size - shared,
        expected_extra=cluster - shared,
    )


def _item_mean(value: Floats, table: Overlap) -> float:
    return float(value @ table.subject_size) / table.n


def _entropy(size: Integers) -> float:
    n = size.sum()
    return float((size * np.log2(n / size)).sum() / n)


def _pair_counts(table: Overlap) -> tuple[int, int, int, int]:
    """Return T, sum c2(c), sum c2(d) and A as Python integers, whose products do not overflow."""

    def pairs(size: Integers) -> int:
        return int((size * (size - 1) // 2).sum())

    return pairs(table.shared), pairs(table.subject_size), pairs(table.cluster_size), table.n * (table.n - 1) // 2


def _retrieve(name: str, n_right: int, n_retrieved: int, n_relevant: int) -> dict[str, float]:
    """Return precision, recall and F by name, nan without a denominator."""
    parts = {"precision": (n_right, n_retrieved), "recall": (n_right, n_relevant)}
    parts["f"] = 2 * n_right, n_retrieved + n_relevant
    return {f"{name}_{rate}": _ratio(part, total, math.nan) for rate, (part, total) in parts.items()}


def _harmonize(name: str, precision: float, recall: float) -> dict[str, float]:
    """Return precision, recall and their harmonic mean by name."""
    f = 2 * precision * recall / (precision + recall)
    return {f"{name}_precision": precision, f"{name}_recall": recall, f"{name}_f": f}


def _ratio(numerator: float, denominator: float, empty: float) -> float:
    return numerator / denominator if denominator else empty


def transfer_distance(table: Overlap) -> int:
    """Return the smallest number of items to move, into another or a new cluster, to make the two partitions equal.

    It is n minus the largest sum of |C and D| over pairs that use every subject and every cluster at most once. It is a
    metric, from 0 (equal) to n - 1 (one block against singletons). The result is exact. The time is nearly linear if
    most subjects have a cluster that is mostly theirs, and at worst quadratic in the number of subjects of a connected
    component.

    Parameters
    ----------
    table : Overlap
        Table of the two partitions.

    Returns
    -------
    int
        Number of items to move.

    References
    ----------
    Day, "The complexity of computing metric distances between partitions", Math. Soc. Sci. 1, 1981; Denoeud and
    Guenoche, "Comparison of distance indices between partitions", 2006. The formulas are the usual ones and were not
    checked against these papers.

    Examples
    --------
    >>> from unmask.measures.clustering.overlap import overlap
    >>> from unmask.core.partition import Partition
    >>> transfer_distance(overlap(Partition([0, 0, 0, 1, 1]), Partition([0, 0, 1, 1, 2])))
    2
    """
    row, column, x = table.subject.astype(np.int64), table.cluster.astype(np.int64), table.shared
    n_settled = 0
    while len(x):
        certain = _find_certain(row, column, x)
        n_settled += int(x[certain].sum())
        is_closed = np.isin(row, row[certain]) | np.isin(column, column[certain])
        row, column, x = row[~is_closed], column[~is_closed], x[~is_closed]
        if is_closed.sum() <= MIN_SETTLED_SHARE * len(is_closed):
            break
    return table.n - n_settled - (_match_cells(row, column, x) if len(x) else 0)


def _find_certain(row: Integers, column: Integers, x: Integers) -> Integers:
    """Return cells that some best matching contains, one in a row and in a column.

    If a cell is at least as large as the largest other cell of its row and the largest other cell of its column
    together, it can replace, in any matching, the one or two cells that exclude it. This settles all components in
    which one row or column has every cell, and most of a table with few errors. Removing other rows and columns does
    not change the property, so each round settles many cells.
    """
    certain = np.flatnonzero(x >= _largest_other(x, row) + _largest_other(x, column))
    certain = certain[np.unique(row[certain], return_index=True)[1]]
    return certain[np.unique(column[certain], return_index=True)[1]]


def _largest_other(x: Integers, line: Integers) -> Integers:
    """Return, for each cell, the largest x of the other cells in its row or column (`line`), or 0 without others."""
    order = np.argsort(line * (x.max() + 1) + x, kind="stable")
    sorted_line, sorted_x = line[order], x[order]
    last = np.flatnonzero(np.append(sorted_line[1:] != sorted_line[:-1], True))
    is_single = np.append(True, sorted_line[1:] != sorted_line[:-1])[last]
    maximum = np.zeros(int(sorted_line[-1]) + 1, dtype=np.int64)
    maximum[sorted_line[last]] = sorted_x[last]
    largest = maximum[line]
    largest[order[last]] = np.where(is_single, 0, sorted_x[last - 1])
    return largest


def _match_cells(row: Integers, column: Integers, x: Integers) -> int:
    """Return the largest sum of shared items of a one-to-one matching of subjects and clusters."""
    (rows, row), (columns, column) = (np.unique(line, return_inverse=True) for line in (row, column))
    if len(rows) > len(columns):  # a dummy for every row: the fewer rows, the better
        rows, row, columns, column = columns, column, rows, row
    n_rows, n_columns = len(rows), len(columns)
    if x.min() == x.max():  # then the most cells are the best: no costs to weigh, and far faster
        graph = scipy.sparse.csr_array((np.ones(len(x), dtype=np.int8), (row, column)), shape=(n_rows, n_columns))
        partner = scipy.sparse.csgraph.maximum_bipartite_matching(graph, perm_type="column")
        return int(x[0]) * int(np.count_nonzero(partner >= 0))
    # A row without a column gets a dummy column without overlap. Costs are whole numbers, which doubles represent
    # exactly. They are at least 1 because the solver LAPJVsp treats 0 as no edge.
    dummy, max_cost = np.arange(n_rows), float(x.max()) + 1
    cost = np.concatenate([max_cost - x, np.full(n_rows, max_cost)])
    ends = np.concatenate([row, dummy]), np.concatenate([column, n_columns + dummy])
    matrix = scipy.sparse.csr_array((cost, ends), shape=(n_rows, n_columns + n_rows))
    matched = scipy.sparse.csgraph.min_weight_full_bipartite_matching(matrix)
    return int(n_rows * max_cost - matrix[matched].sum())
