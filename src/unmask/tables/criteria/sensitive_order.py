"""Order and hierarchy of a sensitive column, as criteria and constraints need them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.tables.levels import ends_of_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables.column import Column


def rank_order(column: Column) -> NDArray[np.int32] | None:
    """Return the (L,) rank of each level, from 0 to L - 1: numbers ascending, ordinal values in their declared order.

    The result is None if the column has no order: if it is categorical, if a cell is missing, or if cells overlap, such
    as [20, 30] and 25. There are no ties. Levels that no row has are ranked, too, but change no criterion.

    >>> from unmask.tables.table import Table
    >>> people = Table.read({"age": [1, 2, 3], "pay": [30, 10, 20]}, quasi_identifiers="age", sensitive="pay")
    >>> rank_order(people.column("pay"))
    array([0, 1, 2], dtype=int32)
    """
    levels = column.levels
    used = column.counts > 0
    if levels.kind == "categorical" or (levels.missing >= 0 and used[levels.missing]):
        return None
    if levels.kind == "numeric":
        low, high = levels.low, levels.high
    else:
        low, high = ends_of_sets(levels)
    order = np.lexsort((high, low))
    in_use = order[used[order]]
    if np.any(low[in_use][1:] <= high[in_use][:-1]):
        return None
    rank = np.empty(len(levels), dtype=np.int32)
    rank[order] = np.arange(len(levels), dtype=np.int32)
    return rank


def hierarchy_paths(column: Column, *, rank: NDArray[np.int32] | None = None) -> NDArray[np.int32] | None:
    """Return the (H, L) node above each level at heights 0 to H - 1 of the column's hierarchy; None without a
    hierarchy.

    The root at height H is left out. A missing cell has only the root above it, so that it is a node of its own at each
    lower height. Node numbers are local to a height and never negative.

    rank : (L,) position of each level in the result. The default is the index of the level.

    >>> from unmask.tables.hierarchy import Hierarchy
    >>> from unmask.tables.table import Table
    >>> tree = Hierarchy.from_paths([("flu", "lung", "*"), ("ulcer", "gut", "*"), ("asthma", "lung", "*")])
    >>> roles = {"quasi_identifiers": "age", "sensitive": "ill", "hierarchies": {"ill": tree}}
    >>> hierarchy_paths(Table.read({"age": [1, 2, 3], "ill": ["flu", "ulcer", "asthma"]}, **roles).column("ill"))
    array([[0, 1, 2], [1, 1, 0]], dtype=int32)
    """
    hierarchy = column.hierarchy
    if hierarchy is None:
        return None
    leaf = {label: i for i, label in enumerate(hierarchy.leaves)}
    used = column.counts > 0
    index = np.array([leaf.get(label, -1) for label in column.levels.labels])
    outside = int(np.count_nonzero((index < 0) & used & ~column.levels.is_missing))
    if outside:
        raise UnmaskError(
            f"{outside} values of sensitive column {column.name!r} are not leaves of its hierarchy, expected none; "
            "add them to the hierarchy or leave it out"
        )
    numbers = hierarchy.numbers[: hierarchy.height]
    paths = np.where(index >= 0, numbers[:, index], numbers.max(axis=1, initial=-1)[:, None] + 1).astype(np.int32)
    if rank is not None:
        paths[:, rank] = paths.copy()
    return paths
