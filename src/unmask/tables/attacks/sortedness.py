"""Whether the order of a table's rows is explained by what the rows say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from unmask.tables.column import Column
from unmask.tables.release import Table
from unmask.tables.scales import NUMBERS


def sorted_by_content(table: Table) -> bool:
    """Whether the rows stand in the order of their cells: by one column, among equals by a second one, and so on.

    Any priority of the columns will do, each ascending or descending, its cells compared as values, as text or as
    numbers. The order of such a table is a function of what it says: anybody who sorts it gets the same sequence.

    The priority is found greedily. A column that never falls within the runs of rows that are equal so far may always
    come next: a run of a sorted sequence is sorted, and so is each part of it.

    >>> sorted_by_content(Table.read({"a": [1, 2, 1], "b": [3, 3, 4]}, quasi_identifiers=["a", "b"]))
    True
    >>> sorted_by_content(Table.read({"a": [1, 2, 1], "b": [3, 4, 3]}, quasi_identifiers=["a", "b"]))
    False
    """
    left = [list(_steps(column)) for column in table.columns]
    if table.weight is not None:
        left.append([np.sign(np.diff(np.nan_to_num(table.weight, nan=-1.0))).astype(np.int8)])
    equal = np.ones(table.n_rows - 1, dtype=bool)
    while left:
        chosen = next((ways for ways in left if any(_monotone(steps[equal]) for steps in ways)), None)
        if chosen is None:
            return False
        left = [ways for ways in left if ways is not chosen]
        equal &= chosen[0] == 0
    return True


def grouped(of_row: NDArray[np.int64]) -> bool:
    """Whether the rows of each class stand together."""
    starts = int(np.count_nonzero(np.diff(of_row))) + 1
    return starts == len(np.unique(of_row))


def _monotone(steps: NDArray[np.int8]) -> bool:
    return bool(not steps.size or steps.min() >= 0 or steps.max() <= 0)


def _steps(column: Column) -> Iterator[NDArray[np.int8]]:
    """From each row to the next: whether the cell rises (1), stays (0) or falls (-1), in each way to compare cells."""
    labels = column.levels.labels
    yield _signs(np.arange(len(labels)), column)
    yield _signs(np.argsort(np.argsort(np.array(labels, dtype=np.str_), kind="stable")), column)
    ends = [NUMBERS.read(label) or (np.nan, np.nan) for label in labels]
    if not np.isnan(ends).any():
        yield _signs(np.unique(np.array(ends), axis=0, return_inverse=True)[1].reshape(-1), column)


def _signs(rank: NDArray[np.intp], column: Column) -> NDArray[np.int8]:
    return np.asarray(np.sign(np.diff(rank[column.codes])), dtype=np.int8)
