"""MergeOrder the clusters of each subject, most relevant first: what that links and mixes in, and the risk."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.measures.unlinkability.weighing import Floats, Weighed

LINK_TIE: Final = 1e-12
"""Shares of a subject that differ by less are the same: counts below 1e12 never do."""

MAX_PACKED: Final = 2**62
"""Sorting keys whose ranges multiply to less are packed into one integer."""


@dataclass(frozen=True, eq=False)
class MergeOrder:
    """The cells of a table in the order in which each subject's clusters are merged, and what the first ones err.

    cell          : (n_cells,) cells, subject by subject, the most relevant first
    rank          : (n_cells,) number of merges before the cell is part of the whole, from 0
    miss, include : (n_subjects,) errors of the most relevant cluster, averaged over exact ties
    """

    cell: NDArray[np.int64]
    rank: NDArray[np.int64]
    miss: Floats
    include: Floats


def merge_order(weighed: Weighed, alpha: Fraction | NDArray[np.object_]) -> MergeOrder:
    """Order by cost alpha m + (1 - alpha) i, then less foreign, then more own weight, then cluster: in exact integers.

    alpha : one weight for all, or (n_subjects,) fractions
    """
    table = weighed.table
    p, q = _as_ratio(alpha, len(weighed.own_total))
    of = table.subject
    miss = weighed.own_total[of] - weighed.own
    cost = p[of] * miss + (q - p)[of] * weighed.foreign
    largest = int(weighed.own.max(initial=0))
    order = _ordered(of, cost, weighed.foreign, largest - weighed.own)
    start = table.indptr[:-1]
    first = cost[order[start]]  # every subject has a cell
    relevant = cost == first[of]
    count = np.bincount(of[relevant], minlength=len(start))
    return MergeOrder(
        cell=order,
        rank=np.arange(len(order)) - start[of],
        miss=np.bincount(of[relevant], miss[relevant], len(start)) / count / weighed.unit,
        include=np.bincount(of[relevant], weighed.foreign[relevant], len(start)) / count / weighed.unit,
    )


def _as_ratio(alpha: Fraction | NDArray[np.object_], n_subjects: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if isinstance(alpha, Fraction):
        return np.full(n_subjects, alpha.numerator), np.full(n_subjects, alpha.denominator)
    return (
        np.array([a.numerator for a in alpha], dtype=np.int64),
        np.array([a.denominator for a in alpha], dtype=np.int64),
    )


def _ordered(subject: NDArray[np.int32], *keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order by subject, then by each key; cells that tie in all stay as they are."""
    several = np.flatnonzero(np.bincount(subject)[subject] > 1)  # a cell that is alone needs no sorting
    columns = [subject[several].astype(np.int64), *(key[several] for key in keys)]
    spans = [int(column.max(initial=0)) + 1 for column in columns]
    if np.prod(np.array(spans, dtype=np.float64)) < MAX_PACKED:
        packed = columns[0]
        for column, span in zip(columns[1:], spans[1:], strict=True):
            packed = packed * span + column
        within = np.argsort(packed, kind="stable")
    else:
        within = np.lexsort(columns[::-1])
    order = np.arange(len(subject))
    order[several] = several[within]
    return order


class Reached(NamedTuple):
    """Where each subject's linked curve reaches its threshold, all (n_subjects,).

    merges : merges until then, 0 where breached; fractions are interpolated
    mixed    : share mixed in by then
    breached : whether it is reached before any merge
    """

    beta: Floats
    merges: Floats
    mixed: Floats
    breached: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Steps:
    """Piecewise linear curves of all subjects: what is linked and mixed in after each merge.

    subject, rank : (n_steps,) ascending by subject and then by rank, which runs from 0 without gaps
    linked, mixed : (n_steps,) share linked, and share mixed in, after so many merges
    """

    subject: NDArray[np.int64]
    rank: NDArray[np.int64]
    linked: Floats
    mixed: Floats
    n_subjects: int

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """(n_subjects,) where the steps of a subject begin."""
        return np.flatnonzero(self.rank == 0)

    def rises(self, value: Floats) -> Floats:
        """(n_steps,) what each merge adds to a curve."""
        return np.asarray(value - np.where(self.rank == 0, 0.0, np.concatenate(([0.0], value[:-1]))))

    def at(self, beta: Floats) -> Reached:
        """Where the linked curve of each subject reaches its threshold.

        beta : (n_subjects,)
        """
        reached = self.linked >= (beta - LINK_TIE)[self.subject]
        lacking = np.bincount(self.subject[~reached], minlength=self.n_subjects)
        last = np.diff(np.concatenate([self.start, [len(self.rank)]])) - 1
        j = np.minimum(lacking, last)
        here = self.start + j
        there = np.maximum(here - 1, self.start)
        breached = j == 0
        rise = np.where(breached, 1.0, self.linked[here] - self.linked[there])
        share = np.where(breached, 0.0, (beta - self.linked[there]) / np.where(rise > 0, rise, 1.0))
        merges = np.where(breached, 0.0, j - 1 + share)
        mixed = self.mixed[there] + share * (self.mixed[here] - self.mixed[there])
        return Reached(beta, merges, np.where(breached, self.mixed[self.start], mixed), breached)

    def average(self, weight: Floats) -> tuple[Floats, Floats]:
        """(n_ranks,) the curves of the average subject; a curve that has ended stays where it is."""
        share = (weight / weight.sum())[self.subject]
        linked = np.cumsum(np.bincount(self.rank, self.rises(self.linked) * share))
        mixed = np.cumsum(np.bincount(self.rank, self.rises(self.mixed) * share))
        return np.minimum(linked, 1.0), np.clip(mixed, 0.0, 1.0)


def steps_of(weighed: Weighed, order: MergeOrder, wanted: NDArray[np.bool_]) -> Steps:
    """Linked: the merged share of a subject's weight; mixed: of the weight of all other items, turned round where these
    are wanted. Of no weight all is linked and nothing mixed in.

    wanted : (n_subjects,)
    """
    of = weighed.table.subject
    own, foreign = (_merged(value[order.cell], weighed.table.indptr, of) for value in (weighed.own, weighed.foreign))
    linked, mixed = _share(own, weighed.own_total[of], 1.0), _share(foreign, weighed.rest_total[of], 0.0)
    mixed = np.where(wanted[of], 1.0 - mixed, mixed)
    return Steps(of.astype(np.int64), order.rank, linked, mixed, len(weighed.own_total))


def _merged(units: NDArray[np.int64], indptr: NDArray[np.int64], of: NDArray[np.int32]) -> NDArray[np.int64]:
    """(n_steps,) integer sums from the first step of each subject on: exact however many there are."""
    total = np.cumsum(units)
    start = indptr[:-1]
    return np.asarray(total - (total[start] - units[start])[of])


def _share(part: NDArray[np.int64], whole: NDArray[np.int64], of_nothing: float) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), of_nothing)


def mixture(parts: list[Steps], probability: Floats) -> Steps:
    """The expected curves of a view: the mean over its partitions at every rank, ended curves staying put."""
    ranks = max(int(part.rank.max()) for part in parts) + 1
    key = np.concatenate([part.subject * ranks + part.rank for part in parts])
    at, place = np.unique(key, return_inverse=True)
    rank = at % ranks
    curves = (
        running_sums(np.bincount(place, np.concatenate(rises)).astype(np.float64), rank)
        for rises in (
            [p * part.rises(part.linked) for p, part in zip(probability, parts, strict=True)],
            [p * part.rises(part.mixed) for p, part in zip(probability, parts, strict=True)],
        )
    )
    linked, mixed = (np.clip(curve, 0.0, 1.0) for curve in curves)
    return Steps(at // ranks, rank, linked, mixed, parts[0].n_subjects)


def running_sums(value: Floats, rank: NDArray[np.int64]) -> Floats:
    """Sums from rank 0 on, subject by subject: one subject's rounding never reaches another."""
    total = value.copy()
    order = np.argsort(rank, kind="stable")
    ends = np.cumsum(np.bincount(rank))
    for start, end in pairwise(ends.tolist()):
        here = order[start:end]
        total[here] += total[here - 1]
    return total


def slope(reached: Reached, alpha: Floats, breached_slope: float) -> Floats:
    """(S,) 2 / pi (alpha atan(beta / x) + (1 - alpha) atan(y / x)), x merges and y mixed in at the threshold beta.

    breached_slope : where beta is linked at once, so that x is 0
    """
    beta, merges, mixed, breached = reached
    x = np.where(breached, 1.0, merges)
    risk = 2 / np.pi * (alpha * np.arctan(beta / x) + (1 - alpha) * np.arctan(mixed / x))
    return np.where(breached, breached_slope, risk)


def overall_slope(linked: Floats, mixed: Floats, alpha: float, beta: float, breached_slope: float = 1.0) -> float:
    """The risk slope of the curves of the average subject.

    linked, mixed : (J,) as in `Unlinkability`
    """
    first = np.zeros(len(linked), dtype=np.int64)
    steps = Steps(first, np.arange(len(linked)), linked, mixed, 1)
    return float(slope(steps.at(np.array([beta])), np.array([alpha]), breached_slope)[0])
