"""Greedy suppression of cells in small classes: `*` replaces them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unmask.tables.column import Column
from unmask.tables.grouping import group, summed
from unmask.tables.notation import EVERYTHING
from unmask.tables.protections.recoding import Recoded, new_cells
from unmask.tables.table import Table


def with_star(column: Column) -> Recoded:
    """Add `*` to levels: return the new levels, and the new code of every old one, that of `*` last."""
    return new_cells(column, [*column.levels.labels, EVERYTHING])


def suppress_cells(
    table: Table, starred: Sequence[Recoded | None], places: Sequence[int], *, k: int, rate: float
) -> NDArray[np.int32]:
    """Codes of every class of the table after the greedy suppression, (J, d)."""
    classes, people = table.classes, table.people
    codes = classes.levels.copy()
    widths = [len(column.levels) for column in table.quasi_identifiers]
    for j, star in enumerate(starred):
        if star is not None:
            codes[:, j], widths[j] = star[1][codes[:, j]], len(star[0])
    stars = {j: int(star[1][-1]) for j, star in enumerate(starred) if star is not None}
    weight = classes.sizes

    def regroup(columns: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        of, _, _ = group([np.ascontiguousarray(column) for column in columns.T], widths)
        if people is None:
            return of, np.bincount(of, weights=weight).astype(np.int64)[of]
        return of, np.diff(summed(people, of, int(of.max()) + 1).indptr)[of]

    def suppressed(j: int, rows: NDArray[np.bool_]) -> NDArray[np.int32]:
        trial = codes.copy()
        trial[rows, j] = stars[j]
        return trial

    def violating(columns: NDArray[np.int32]) -> int:
        return int(weight[regroup(columns)[1] < k].sum())

    budget = int(rate * weight.sum() * len(places) + 1e-9)
    unused_columns = list(dict.fromkeys(places))
    while unused_columns and budget:
        of, total = regroup(codes)
        small = total < k
        if not small.any():
            break
        chosen_column = min(unused_columns, key=lambda j: violating(suppressed(j, small)))
        unused_columns.remove(chosen_column)
        chosen = _within_budget(
            of, total, np.where(codes[:, chosen_column] == stars[chosen_column], 0, weight), small, budget
        )
        budget = (
            budget - int(weight[chosen & (codes[:, chosen_column] != stars[chosen_column])].sum())
            if chosen[small].all()
            else 0
        )
        codes = suppressed(chosen_column, chosen)
    return codes


def _within_budget(
    of: NDArray[np.int32],
    total: NDArray[np.int64],
    cost: NDArray[np.int64],
    small: NDArray[np.bool_],
    budget: int,
) -> NDArray[np.bool_]:
    """Return the small classes, from the smallest upwards, whose cells together fit the budget."""
    size = np.zeros(int(of.max()) + 1, dtype=np.int64)
    size[of] = total
    price = np.bincount(of, weights=cost).astype(np.int64)
    candidates = np.unique(of[small])
    order = candidates[np.argsort(size[candidates], kind="stable")]
    affordable = np.zeros(size.size, dtype=np.bool_)
    affordable[order[np.cumsum(price[order]) <= budget]] = True
    return affordable[of]
