"""Bounds of measures if the truth is a sample: an item without a label may belong to the subject or not."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.tolerances import LINK_TIE
from unmask.measures.clustering.contingency import Contingency
from unmask.measures.clustering.overlap import Overlap, as_fraction


@dataclass(frozen=True, eq=False)
class Bounds:
    """The smallest and the largest value of each measure: (2, S) arrays, row 0 the smallest, row 1 the largest.

    Parameters
    ----------
    counted : (S,) array
        Whether the subject has `min_size` labeled items.
    linked_now : (2, S) array
        Share of the subject's labeled items in the first cluster of its merge order.
    breached : (2, S) array
        Whether that share is at least beta, 0 or 1.
    clean_breach : (2, S) array
        Whether it is and the cluster has no foreign item, 0 or 1.
    foreign_share : (2, S) array
        Share of foreign items in the cluster, i / (i + x), x the subject's labeled items in it.
    """

    counted: Booleans
    linked_now: Floats
    breached: Floats
    clean_breach: Floats
    foreign_share: Floats


def bounds(counts: Contingency, *, alpha: float = 0.5, beta: float = 0.8, min_size: int = 1) -> Bounds:
    """Return the bounds of the results of `evaluate` for labeled items, over all completions of the truth.

    A completion gives each unlabeled item to a subject of the truth or to another person. The bounds are about the c
    labeled items of a subject C: unlabeled items of C are left out, all others are foreign. So a cluster D with x >= 1
    of the c, f labeled items of others and u unlabeled ones has c - x misses and any number i of includes from f to
    f + u, whatever the other clusters have. D can be the first cluster of the merge order exactly if, at i = f, it
    comes no later than every other cluster at its f + u (order: alpha m + (1 - alpha) i, then i, then more shared
    items, then the label). Then i can be anything from f to the largest number with which D still comes first.

    A completion attains the smallest and the largest value over these D and i, so that bounds of a subject are tight.
    Bounds of a mean over subjects are true, and may be wide: two subjects in one cluster both count all its unlabeled
    items. For a view, they are bounds of the expected shares, partition by partition. Without unlabeled items both rows
    are the result of `evaluate`. Misses, includes, merges, slopes and errors have no bounds here: they average over
    clusters of equal cost, or depend on the whole order.

    Parameters
    ----------
    counts : Contingency
        Counts of the truth and the guess, without weights and parameters of single subjects.
    alpha, beta : float
        See `evaluate`.
    min_size : int
        See `evaluate`.

    Returns
    -------
    Bounds
        Smallest and largest values of each subject.

    Raises
    ------
    UnmaskError
        If items have weights, or subjects have parameters of their own.

    Examples
    --------
    >>> from unmask.core.partition import Partition
    >>> truth = Partition(["ann"] * 3, items=[1, 2, 3])
    >>> counts = Contingency.of(truth, Partition(["p"] * 4, items=[1, 2, 3, 9]), unlabeled="unknown")
    >>> result = bounds(counts)
    >>> result.breached.ravel(), result.clean_breach.ravel(), result.foreign_share.ravel()
    (array([1., 1.]), array([0., 1.]), array([0.  , 0.25]))
    """
    if counts.own or counts.items is not None:
        raise UnmaskError("weights and subjects' own parameters are not bounded; choose unlabeled foreign or drop")
    share, level = as_fraction("alpha", alpha), float(as_fraction("beta", beta)) - LINK_TIE
    ranges = [_bound_table(table, share) for table in counts.tables]
    linked, foreign, clean = (np.tensordot(counts.probability, np.stack(part), 1) for part in zip(*ranges, strict=True))
    breached = linked >= level
    return Bounds(
        counted=counts.tables[0].subject_size >= min_size,
        linked_now=linked,
        breached=breached.astype(np.float64),
        clean_breach=np.stack([breached[0] & (foreign[1] <= 0), clean >= level]).astype(np.float64),
        foreign_share=foreign,
    )


def _bound_table(table: Overlap, alpha: Fraction) -> tuple[Floats, Floats, Floats]:
    """Return bounds of the linked and foreign shares, and the largest share linked without foreign items."""
    subject, x = table.subject, table.shared
    max_foreign = table.cluster_size[table.cluster] - x
    min_foreign = max_foreign - table.n_unowned[table.cluster]
    p, q = alpha.numerator, alpha.denominator
    first, top = _find_first_cells(table, p * (table.subject_size[subject] - x), q - p, min_foreign, max_foreign)
    subject, x, min_foreign, top = subject[first], x[first], min_foreign[first], top[first]
    start = np.flatnonzero(np.diff(subject, prepend=-1))  # every subject has a cluster that can be first
    linked, low, high = x / table.subject_size[subject], min_foreign / (min_foreign + x), top / (top + x)
    return (
        np.stack([np.minimum.reduceat(linked, start), np.maximum.reduceat(linked, start)]),
        np.stack([np.minimum.reduceat(low, start), np.maximum.reduceat(high, start)]),
        np.maximum.reduceat(np.where(min_foreign == 0, linked, -1.0), start),
    )


def _find_first_cells(
    table: Overlap, base: Integers, per_item: int, min_foreign: Integers, max_foreign: Integers
) -> tuple[Integers, Integers]:
    """Return the cells that can come first, and the largest number of includes with which each does.

    base, per_item : the cost of a cell is base + per_item i
    """
    subject, x, cell = table.subject, table.shared, np.arange(len(table.shared))
    order = np.lexsort((cell, -x, max_foreign, base + per_item * max_foreign, subject))
    reference = order[table.indptr[:-1]][subject]  # the first cell if all unlabeled items are foreign
    ceiling = base[reference] + per_item * max_foreign[reference]

    def comes_first(i: Integers) -> Booleans:
        """Return whether a cell with i includes comes no later than the reference with its largest number."""
        keys = ((base + per_item * i, ceiling), (i, max_foreign[reference]), (-x, -x[reference]), (cell, reference))
        is_before, is_equal = np.zeros(len(x), dtype=np.bool_), np.ones(len(x), dtype=np.bool_)
        for key, limit in keys:
            is_before |= is_equal & (key < limit)
            is_equal &= key == limit
        return np.asarray(is_before | is_equal)

    n_affordable = (
        np.where(base < ceiling, max_foreign, max_foreign[reference]) if per_item == 0 else (ceiling - base) // per_item
    )
    n_includes = np.clip(n_affordable, min_foreign, max_foreign)
    n_includes = np.where(comes_first(n_includes), n_includes, n_includes - 1)
    top = np.where(cell == reference, max_foreign, n_includes)
    return np.flatnonzero(comes_first(min_foreign)), top
