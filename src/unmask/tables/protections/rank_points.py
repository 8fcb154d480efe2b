"""Points by rank: what stays the same while Mondrian cuts them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Ranked:
    """Weighted points by their rank in every column, and what a rank stands for."""

    ranks: NDArray[np.int32]  # (d * C,) rank of every point in every column, column after column
    counts: NDArray[np.int64]  # (C,) rows at every point
    coordinate: NDArray[np.float64]  # (sum R_j,) the value of every rank, column after column
    first: NDArray[np.int64]  # (d,) where the ranks of a column begin in `coordinate`
    span: NDArray[np.float64]  # (d,) full width of every column, 1 where it is constant
    ancestors: NDArray[np.int64] | None  # (levels, sum R_j) node above every rank, None when no column has a tree


def ranked(
    values: NDArray[Any],
    counts: NDArray[np.int64],
    span: NDArray[np.float64] | None,
    trees: Sequence[NDArray[np.int64] | None],
) -> Ranked:
    """Rank the points (C, d) and their trees; the arguments are those of `mondrian.mondrian`."""
    n_points, d = values.shape
    distinct, ranks = [], np.empty((d, n_points), dtype=np.int32)
    for j in range(d):
        present, ranks[j] = _dense_ranks(values[:, j])
        distinct.append(present)
    if span is None:
        span = np.array([float(present[-1]) - float(present[0]) for present in distinct])
    sizes = np.array([present.size for present in distinct], dtype=np.int64)
    return Ranked(
        ranks=ranks.reshape(-1),
        counts=counts.astype(np.int64, copy=False),
        coordinate=np.concatenate(distinct).astype(np.float64),
        first=np.cumsum(sizes) - sizes,
        span=np.where(span > 0, span, 1.0),
        ancestors=_ancestors(distinct, trees) if any(tree is not None for tree in trees) else None,
    )


def _dense_ranks(column: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Distinct values in order, and the rank of every entry; whole numbers of small range need no sort."""
    low, high = column.min(), column.max()
    if high - low <= 4 * column.size + 1024 and (column.dtype.kind in "iu" or bool(np.all(column == np.rint(column)))):
        shifted = (column - low).astype(np.int64)
        occurs = np.zeros(int(high - low) + 1, dtype=np.bool_)
        occurs[shifted] = True
        rank = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        return np.flatnonzero(occurs) + low, rank[shifted]
    present, inverse = np.unique(column, return_inverse=True)
    return present, inverse.astype(np.int32)


def _ancestors(distinct: list[NDArray[Any]], trees: Sequence[NDArray[np.int64] | None]) -> NDArray[np.int64]:
    """Trees over the ranks side by side; a column without a tree has one root right above its values."""
    height = max([2, *(len(tree) for tree in trees if tree is not None)])
    blocks = []
    for present, tree in zip(distinct, trees, strict=True):
        block = np.zeros((height, present.size), dtype=np.int64)
        if tree is None:
            block[0] = np.arange(present.size)
        else:
            block[: len(tree)] = tree[:, present.astype(np.intp)]
        blocks.append(block)
    return np.concatenate(blocks, axis=1)
