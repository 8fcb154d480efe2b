"""Merge order of the clusters of each subject, the shares that merges link and mix in, and the risk slope."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.tolerances import LINK_TIE
from unmask.measures.clustering.overlap import WeightedOverlap

MAX_PACKED: Final = 2**62
"""Sorting keys whose ranges multiply to less are packed into one integer."""


@dataclass(frozen=True, eq=False)
class MergeOrder:
    """The cells of a table in the order in which the clusters of each subject are merged.

    cell : (n_cells,) cells, subject by subject, the most relevant cluster of each subject first
    rank : (n_cells,) number of merges before the cell is merged, from 0
    miss, include : (n_subjects,) weight that the most relevant cluster misses, and foreign weight that it includes,
        averaged over exact ties
    """

    cell: Integers
    rank: Integers
    miss: Floats
    include: Floats


def merge_order(weighed: WeightedOverlap, alpha: Fraction | NDArray[np.object_]) -> MergeOrder:
    """Return the order in which the clusters of each subject are merged.

    Clusters are ordered by their cost, alpha misses + (1 - alpha) includes. Among clusters of equal cost, those with
    less foreign weight come first, then those with more shared weight, then those with the smaller number. The costs
    are integers, so that ties are exact.

    alpha : one weight for all subjects, or (n_subjects,) fractions
    """
    table = weighed.table
    subject = table.subject
    p, q = _as_ratio(alpha, subject)
    miss = weighed.subject_total[subject] - weighed.shared
    cost = p * miss + (q - p) * weighed.foreign
    largest = int(weighed.shared.max(initial=0))
    order = _sort_cells(subject, cost, weighed.foreign, largest - weighed.shared)
    start = table.indptr[:-1]
    first = cost[order[start]]  # every subject has a cell
    is_relevant = cost == first[subject]
    count = np.bincount(subject[is_relevant], minlength=len(start))
    return MergeOrder(
        cell=order,
        rank=np.arange(len(order)) - start[subject],
        miss=np.bincount(subject[is_relevant], miss[is_relevant], len(start)) / count / weighed.unit,
        include=np.bincount(subject[is_relevant], weighed.foreign[is_relevant], len(start)) / count / weighed.unit,
    )


def _as_ratio(
    alpha: Fraction | NDArray[np.object_], subject: NDArray[np.int32]
) -> tuple[Integers, Integers] | tuple[int, int]:
    """Return numerator and denominator of the weight of each cell, or of all cells."""
    if isinstance(alpha, Fraction):
        return alpha.numerator, alpha.denominator
    ratios = np.array([a.as_integer_ratio() for a in alpha], dtype=np.int64)[subject]
    return ratios[:, 0], ratios[:, 1]


def _sort_cells(subject: NDArray[np.int32], *keys: Integers) -> Integers:
    """Return the order by subject, then by each key; cells that tie in all keys keep their order."""
    spans = [int(key.max(initial=0)) + 1 for key in keys]
    if (int(subject.max(initial=0)) + 1) * prod(spans) < MAX_PACKED:
        packed = subject.astype(np.int64)
        for key, span in zip(keys, spans, strict=True):
            packed *= span
            packed += key
        return np.argsort(packed, kind="stable")  # linear for cells that are alone, because subjects ascend
    order = np.arange(len(subject))
    cells = np.flatnonzero(np.bincount(subject)[subject] > 1)  # a cell that is alone needs no sorting
    order[cells] = cells[np.lexsort([key[cells] for key in (*reversed(keys), subject.astype(np.int64))])]
    return order


class ThresholdCrossing(NamedTuple):
    """The point at which the linked curve of each subject reaches its threshold; all arrays are (n_subjects,).

    beta : threshold
    merges : number of merges until the threshold is reached, interpolated between merges; 0 if breached
    mixed : share that is mixed in at that point
    breached : whether the threshold is reached before any merge
    """

    beta: Floats
    merges: Floats
    mixed: Floats
    breached: Booleans


@dataclass(frozen=True, eq=False)
class Steps:
    """Piecewise linear curves of all subjects: the shares that are linked and mixed in after each merge.

    subject, rank : (n_steps,) ascending by subject and then by rank, which runs from 0 without gaps
    linked, mixed : (n_steps,) shares linked and mixed in after `rank` merges
    """

    subject: Integers
    rank: Integers
    linked: Floats
    mixed: Floats
    n_subjects: int

    @cached_property
    def start(self) -> Integers:
        """Return the first step of each subject."""
        return np.flatnonzero(self.rank == 0)

    def rises(self, value: Floats) -> Floats:
        """Return by how much each merge raises a curve."""
        return np.asarray(value - np.where(self.rank == 0, 0.0, np.concatenate(([0.0], value[:-1]))))

    def cross(self, beta: Floats) -> ThresholdCrossing:
        """Return the point at which the linked curve of each subject reaches its threshold.

        beta : (n_subjects,)
        """
        is_reached = self.linked >= (beta - LINK_TIE)[self.subject]
        lacking = np.bincount(self.subject[~is_reached], minlength=self.n_subjects)
        last = np.diff(np.concatenate([self.start, [len(self.rank)]])) - 1
        j = np.minimum(lacking, last)
        after = self.start + j
        previous = np.maximum(after - 1, self.start)
        breached = j == 0
        rise = np.where(breached, 1.0, self.linked[after] - self.linked[previous])
        share = np.where(breached, 0.0, (beta - self.linked[previous]) / np.where(rise > 0, rise, 1.0))
        merges = np.where(breached, 0.0, j - 1 + share)
        mixed = self.mixed[previous] + share * (self.mixed[after] - self.mixed[previous])
        return ThresholdCrossing(beta, merges, np.where(breached, self.mixed[self.start], mixed), breached)

    def average(self, weight: Floats) -> tuple[Floats, Floats]:
        """Return the curves of the average subject, (n_ranks,); a curve that has ended keeps its value."""
        share = (weight / weight.sum())[self.subject]
        linked = np.cumsum(np.bincount(self.rank, self.rises(self.linked) * share))
        mixed = np.cumsum(np.bincount(self.rank, self.rises(self.mixed) * share))
        return np.minimum(linked, 1.0), np.clip(mixed, 0.0, 1.0)


def trace_steps(weighed: WeightedOverlap, order: MergeOrder, wanted: Booleans) -> Steps:
    """Return the curves of all subjects.

    The linked share is the merged share of the subject's own weight, and the mixed share is the merged share of all
    other weight. If a subject wants foreign items, its mixed share is subtracted from 1. A subject without any weight
    counts as linked, with nothing mixed in.

    wanted : (n_subjects,) whether the subject wants foreign items
    """
    subject, weights = weighed.table.subject, (weighed.shared, weighed.foreign)
    shared, foreign = (_cumulate(weight[order.cell], weighed.table.indptr, subject) for weight in weights)
    linked = _share(shared, weighed.subject_total[subject], 1.0)
    mixed = _share(foreign, weighed.other_total[subject], 0.0)
    mixed = np.where(wanted[subject], 1.0 - mixed, mixed)
    return Steps(subject.astype(np.int64), order.rank, linked, mixed, len(weighed.subject_total))


def _cumulate(units: Integers, indptr: Integers, subject: NDArray[np.int32]) -> Integers:
    """Return integer sums from the first step of each subject on."""
    total = np.cumsum(units)
    start = indptr[:-1]
    return np.asarray(total - (total[start] - units[start])[subject])


def _share(part: Integers, total: Integers, empty: float) -> Floats:
    return np.where(total > 0, part / np.maximum(total, 1), empty)


def mixture(parts: list[Steps], probability: Floats) -> Steps:
    """Return the expected curves of a view, the mean over its partitions at every rank. A curve that has ended
    keeps its last value.
    """
    ranks = max(int(part.rank.max()) for part in parts) + 1
    key = np.concatenate([part.subject * ranks + part.rank for part in parts])
    steps, position = np.unique(key, return_inverse=True)
    rank = steps % ranks
    curves = (
        running_sums(np.bincount(position, np.concatenate(rises)).astype(np.float64), rank)
        for rises in (
            [p * part.rises(part.linked) for p, part in zip(probability, parts, strict=True)],
            [p * part.rises(part.mixed) for p, part in zip(probability, parts, strict=True)],
        )
    )
    linked, mixed = (np.clip(curve, 0.0, 1.0) for curve in curves)
    return Steps(steps // ranks, rank, linked, mixed, parts[0].n_subjects)


def running_sums(value: Floats, rank: Integers) -> Floats:
    """Return the sums from rank 0 on, subject by subject, so that rounding errors of one subject do not affect
    another.
    """
    total = value.copy()
    order = np.argsort(rank, kind="stable")
    ends = np.cumsum(np.bincount(rank))
    for start, end in pairwise(ends.tolist()):
        step = order[start:end]
        total[step] += total[step - 1]
    return total


def slope(crossing: ThresholdCrossing, alpha: Floats, breached_slope: float) -> Floats:
    """Return the risk slope 2 / pi (alpha atan(beta / x) + (1 - alpha) atan(y / x)), with x merges and y mixed in at
    the threshold.

    breached_slope : slope to return if beta is linked at once, so that x is 0
    """
    beta, merges, mixed, breached = crossing
    x = np.where(breached, 1.0, merges)
    risk = 2 / np.pi * (alpha * np.arctan(beta / x) + (1 - alpha) * np.arctan(mixed / x))
    return np.where(breached, breached_slope, risk)


def overall_slope(linked: Floats, mixed: Floats, alpha: float, beta: float, breached_slope: float = 1.0) -> float:
    """Return the risk slope of the curves of the average subject.

    linked, mixed : (J,) as in `Unlinkability`
    """
    first = np.zeros(len(linked), dtype=np.int64)
    steps = Steps(first, np.arange(len(linked)), linked, mixed, 1)
    return float(slope(steps.cross(np.array([beta])), np.array([alpha]), breached_slope)[0])
