"""Classes that overlap: a missing cell is compatible with every value, so each class gathers those it may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from unmask.tables.counts import group

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Meeting:
    """Classes of one pattern of missing cells (`left`) meet those of another (`right`) on the columns both have."""

    left: NDArray[np.int64]
    left_key: NDArray[np.int32]
    right: NDArray[np.int64]
    right_key: NDArray[np.int32]


Meetings: TypeAlias = tuple[tuple[Meeting, ...], ...]
"""One group for each pattern of missing cells: its classes meet those of every pattern."""


def meetings_of(levels: NDArray[np.int32], absent: NDArray[np.bool_]) -> Meetings:
    """One group of meetings per pattern of missing cells; compatible classes are equal where both are known."""
    patterns, of_class = np.unique(absent, axis=0, return_inverse=True)
    member = [np.flatnonzero(of_class.ravel() == i) for i in range(len(patterns))]
    return tuple(
        tuple(_meet(levels, member[a], member[b], ~(patterns[a] | patterns[b])) for b in range(len(patterns)))
        for a in range(len(patterns))
    )


def _meet(
    levels: NDArray[np.int32], left: NDArray[np.int64], right: NDArray[np.int64], shared: NDArray[np.bool_]
) -> Meeting:
    columns = np.flatnonzero(shared)
    if len(columns) == 0:
        return Meeting(left, np.zeros(len(left), np.int32), right, np.zeros(len(right), np.int32))
    both = levels[np.concatenate((left, right))]
    key, _, _ = group([np.ascontiguousarray(both[:, j]) for j in columns], [int(both[:, j].max()) + 1 for j in columns])
    return Meeting(left, key[: len(left)], right, key[len(left) :])


def merge(meetings: Meetings, counts: sparse.csr_array[Any, Any]) -> sparse.csr_array[Any, Any]:
    """Sum the rows of `counts` (J, m) over all classes compatible with each class."""
    blocks: list[Any] = []
    order: list[NDArray[np.int64]] = []
    for group_of in meetings:
        block: Any = None
        for meeting in group_of:
            n_keys = 1 + int(max(meeting.left_key.max(), meeting.right_key.max()))
            place = (meeting.right_key, np.arange(len(meeting.right)))
            gather = sparse.csr_array((np.ones(len(meeting.right), np.int64), place), (n_keys, len(meeting.right)))
            part = (gather @ counts[meeting.right])[meeting.left_key]
            block = part if block is None else block + part
        blocks.append(block)
        order.append(group_of[0].left)
    return sparse.csr_array(sparse.vstack(blocks).tocsr()[np.argsort(np.concatenate(order))])
