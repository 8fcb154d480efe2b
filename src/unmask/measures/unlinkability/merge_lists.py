"""Which clusters an informed adversary merges to link the items of one subject, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.errors import UnmaskError
from unmask.measures.unlinkability.contingency import Contingency
from unmask.measures.unlinkability.curves import Shares, merging
from unmask.measures.unlinkability.evaluate import Alpha
from unmask.measures.unlinkability.weighing import Floats, as_fraction
from unmask.view import Missing, Partition, Unlabeled


@dataclass(frozen=True, eq=False)
class MergeList:
    """The clusters of one subject in the order in which an informed adversary merges them.

    cluster         : (L,) their labels
    number          : (L,) their numbers, places in `adversary.names`
    own, foreign    : (L,) weight of the subject's items and of others in it
    linked, mixed   : (L,) shares once it is part of the whole
    """

    cluster: NDArray[Any]
    number: NDArray[np.int32]
    own: Floats
    foreign: Floats
    linked: Floats
    mixed: Floats


def merge_list(
    solution: Partition,
    adversary: Partition,
    subject: Any,
    *,
    alpha: Alpha = 0.5,
    weights: ArrayLike | None = None,
    missing: Missing = "error",
    unlabeled: Unlabeled = "error",
) -> MergeList:
    """What to merge, in order, to link the items of one subject; see `evaluate`. Unknown items are shown as foreign.

    >>> truth, guess = Partition(["ann"] * 3 + ["bob"] * 2), Partition(["p", "p", "q", "q", "q"])
    >>> merge_list(truth, guess, "ann").cluster.tolist()
    ['p', 'q']
    """
    return merge_lists(
        solution, adversary, [subject], alpha=alpha, weights=weights, missing=missing, unlabeled=unlabeled
    )[0]


def merge_lists(
    solution: Partition,
    adversary: Partition,
    subjects: Sequence[Any],
    *,
    alpha: Alpha = 0.5,
    weights: ArrayLike | None = None,
    missing: Missing = "error",
    unlabeled: Unlabeled = "error",
) -> list[MergeList]:
    """The same for several subjects, from one table."""
    met = Contingency.of(solution, adversary, missing=missing, unlabeled=unlabeled, weights=weights)
    place = {label: i for i, label in enumerate(solution.names[met.subjects].tolist())}
    if any(subject not in place for subject in subjects):
        raise UnmaskError("the solution has no such subject; give a label of one of its clusters")
    (table,), (names,) = met.weighed, met.names
    order = merging(table, as_fraction("alpha", alpha))
    shares = Shares("weight", "rest", False, wanted=np.zeros(len(place), dtype=bool))
    steps = shares.steps(table, order)
    found = []
    for subject in subjects:
        part = slice(*table.table.indptr[place[subject] : place[subject] + 2])
        cell = order.cell[part]
        number = table.table.cluster[cell]
        found.append(
            MergeList(
                cluster=names[number],
                number=number,
                own=table.own[cell] / table.unit,
                foreign=table.foreign[cell] / table.unit,
                linked=steps.linked[part],
                mixed=steps.mixed[part],
            )
        )
    return found
