"""What is known of a subject when the truth is a sample: an item that nobody labeled may be the subject's or not."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.measures.unlinkability.contingency import Contingency
from unmask.measures.unlinkability.curves import LINK_TIE
from unmask.measures.unlinkability.overlap import Overlap
from unmask.measures.unlinkability.weighing import Floats, as_fraction


@dataclass(frozen=True, eq=False)
class Bounds:
    """The least and the most that a measure can be, each (2, S): row 0 the least, row 1 the most.

    counted       : (S,) whether the subject has `min_size` labeled items
    linked_now    : share of the subject's labeled items in the first cluster of its merge order
    breached      : whether that share is at least beta, 0 or 1
    clean_breach  : whether it is and the cluster has no foreign item, 0 or 1
    foreign_share : share of foreign items in the cluster, i / (i + x), x the subject's labeled items in it
    """

    counted: NDArray[np.bool_]
    linked_now: Floats
    breached: Floats
    clean_breach: Floats
    foreign_share: Floats


def bounds(met: Contingency, *, alpha: float = 0.5, beta: float = 0.8, min_size: int = 1) -> Bounds:
    """What `evaluate` can say of a subject's labeled items, over all completions of the truth.

    A completion gives each unlabeled item to a subject of the truth or to somebody else. The question is about the c
    labeled items of a subject C: unlabeled items that are its own are taken out, all others are foreign. So a cluster D
    with x >= 1 of the c, f labeled items of others and u unlabeled ones has c - x misses and any number i of includes
    from f to f + u, whatever the other clusters have. D can be the first cluster of the merge order exactly if, at
    i = f, it comes no later than every other cluster at its f + u (order: alpha m + (1 - alpha) i, then i, then more
    own items, then the label); i can then be anything from f to the largest number with which D still comes first. The
    least and the most of each measure over these D and i are attained by some completion: no narrower bounds of a
    subject are true. Those of a mean over subjects are true, and may be narrower in truth: two subjects in one cluster
    are each given all its unlabeled items. Of a view, they are those of the expected shares, partition by partition.
    Without unlabeled items both rows are what `evaluate` gives.

    Misses, includes, merges, slopes and errors are not bounded: they average over clusters of equal cost, or depend
    on the whole order.

    >>> from unmask.core.partition import Partition
    >>> truth = Partition(["ann"] * 3, items=[1, 2, 3])
    >>> met = Contingency.of(truth, Partition(["p"] * 4, items=[1, 2, 3, 9]), unlabeled="unknown")
    >>> found = bounds(met)
    >>> found.breached.ravel(), found.clean_breach.ravel(), found.foreign_share.ravel()
    (array([1., 1.]), array([0., 1.]), array([0.  , 0.25]))
    """
    if met.own or met.items is not None:
        raise UnmaskError("weights and subjects' own parameters are not bounded; choose unlabeled foreign or drop")
    share, level = as_fraction("alpha", alpha), float(as_fraction("beta", beta)) - LINK_TIE
    each = [_of_table(table, share) for table in met.tables]
    linked, foreign, clean = (np.tensordot(met.probability, np.stack(one), 1) for one in zip(*each, strict=True))
    breached = linked >= level
    return Bounds(
        counted=met.tables[0].subject_size >= min_size,
        linked_now=linked,
        breached=breached.astype(np.float64),
        clean_breach=np.stack([breached[0] & (foreign[1] <= 0), clean >= level]).astype(np.float64),
        foreign_share=foreign,
    )


def _of_table(table: Overlap, alpha: Fraction) -> tuple[Floats, Floats, Floats]:
    """(2, S) what may be linked and foreign, and (S,) the most that is linked by a cluster without foreign items."""
    of, x = table.subject, table.own
    most = table.cluster_size[table.cluster] - x
    least = most - table.nobodys[table.cluster]
    p, q = alpha.numerator, alpha.denominator
    first, top = _possible(table, p * (table.subject_size[of] - x), q - p, least, most)
    of, x, least, top = of[first], x[first], least[first], top[first]
    start = np.flatnonzero(np.diff(of, prepend=-1))  # every subject has a cluster that can be first
    linked, low, high = x / table.subject_size[of], least / (least + x), top / (top + x)
    return (
        np.stack([np.minimum.reduceat(linked, start), np.maximum.reduceat(linked, start)]),
        np.stack([np.minimum.reduceat(low, start), np.maximum.reduceat(high, start)]),
        np.maximum.reduceat(np.where(least == 0, linked, -1.0), start),
    )


def _possible(
    table: Overlap, base: NDArray[np.int64], per_item: int, least: NDArray[np.int64], most: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells that can come first, and (n_cells,) the most includes with which each does.

    base, per_item : the cost of a cell is base + per_item i
    """
    of, x, cell = table.subject, table.own, np.arange(len(table.own))
    order = np.lexsort((cell, -x, most, base + per_item * most, of))
    best = order[table.indptr[:-1]][of]  # the cell that comes first where all unlabeled items are foreign
    ceiling = base[best] + per_item * most[best]

    def comes_first(i: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether a cell with i includes comes no later than the best one with its most: in the order of merges."""
        keys = ((base + per_item * i, ceiling), (i, most[best]), (-x, -x[best]), (cell, best))
        before, equal = np.zeros(len(x), dtype=np.bool_), np.ones(len(x), dtype=np.bool_)
        for key, limit in keys:
            before |= equal & (key < limit)
            equal &= key == limit
        return np.asarray(before | equal)

    cheap = np.where(base < ceiling, most, most[best]) if per_item == 0 else (ceiling - base) // per_item
    within = np.clip(cheap, least, most)
    top = np.where(cell == best, most, np.where(comes_first(within), within, within - 1))
    return np.flatnonzero(comes_first(least)), top
