"""Cells that may be one another: a suppressed cell beside stated ones, `*`, a set within a set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unmask.tables.attacks.pairing import Fit, Same, chunks_where, pair
from unmask.tables.cells import EVERYTHING, Levels, Missing, compatible
from unmask.tables.column import Column
from unmask.tables.release import Table


def overlapping(release: Table) -> bool:
    """Whether rows of different classes may be about one person: then equal rows are no closed class.

    >>> cells = {"age": ["20", "*"], "sex": ["f", "f"]}
    >>> [overlapping(Table.read(cells, quasi_identifiers=names)) for names in ("sex", ["age", "sex"])]
    [False, True]

    A missing cell is one of its own under "own", and no `*` stands for it:

    >>> overlapping(Table.read({"sex": ["f", "{f, m}"], "age": ["*", ""]}, quasi_identifiers=["sex", "age"]))
    False
    """
    together = columns_that_overlap(release.quasi_identifiers, missing=release.missing)
    if not together:
        return False
    fits: list[Fit] = [
        compatible(column.levels, column.levels, missing=release.missing)
        if column in together
        else Same(*(np.arange(len(column.levels), dtype=np.int32),) * 2)
        for column in release.quasi_identifiers
    ]
    return any((row != klass).any() for row, klass in chunks_where(pair(release, release), fits))


def columns_that_overlap(columns: Sequence[Column], *, missing: Missing) -> list[Column]:
    """The columns with two different cells that may be the same person's."""
    return [column for column in columns if not _disjoint(column, missing)]


def possible_people(release: Table) -> Table:
    """The people of one original that the release may be of, row for row: what an adversary who knows them would know.

    A cell that contains others of its column becomes one of the narrowest in it, each cell on its own: evenly drawn for
    a set, and for a suppressed cell (under "wildcard") or `*` as often as each is stated. The draws are the same each
    time and go with the content of a row, whatever the order of rows.
    """
    rng, order = np.random.default_rng(0), np.argsort(release.classes.of_row, kind="stable")
    columns = []
    for column in release.quasi_identifiers:
        drawn = np.empty(release.n_rows)
        drawn[order] = rng.random(release.n_rows)
        columns.append(_resolved(column, release.missing, drawn))
    return replace(release, quasi_identifiers=tuple(columns))


def open_levels(levels: Levels, *, missing: Missing) -> NDArray[np.bool_]:
    """(L,) which levels stand for any value: `*`, and under "wildcard" a missing cell."""
    found = np.array([label == EVERYTHING for label in levels.labels], dtype=bool)
    if missing == "wildcard" and levels.missing >= 0:
        found[levels.missing] = True
    return found


def _disjoint(column: Column, missing: Missing) -> bool:
    used = np.flatnonzero(column.counts)
    if _exact_but_missing(column, used):
        return missing != "wildcard" or not (used == column.levels.missing).any() or len(used) == 1
    levels = column.levels.select(used)
    return bool(np.count_nonzero(compatible(levels, levels, missing=missing)) == len(levels))


def _resolved(column: Column, missing: Missing, drawn: NDArray[np.float64]) -> Column:
    """The column with each cell that contains others replaced by one of these; drawn : (n_rows,) from 0 to 1."""
    if _disjoint(column, missing):
        return column
    codes, count = column.codes.copy(), column.counts
    anything = open_levels(column.levels, missing=missing)
    for level, narrower in _contained(column, missing):
        rows = column.codes == level
        reached = np.cumsum(count[narrower]) if anything[level] else np.arange(1, len(narrower) + 1)
        codes[rows] = narrower[np.searchsorted(reached, drawn[rows] * reached[-1], side="right")]
    return replace(column, codes=codes)


def _contained(column: Column, missing: Missing) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The levels that contain others, and the narrowest that each contains."""
    used, gap = np.flatnonzero(column.counts), column.levels.missing
    if _exact_but_missing(column, used):
        yield gap, used[used != gap]
        return
    levels = column.levels.select(used)
    meets = compatible(levels, levels, missing=missing)
    degree = meets.sum(axis=0)
    inside = {  # what meets a contained level meets the one that contains it, and that one meets more
        at: np.flatnonzero(meets[at] & (degree < degree[at]) & ~meets[:, ~meets[at]].any(axis=1))
        for at in np.flatnonzero(degree > degree.min()).tolist()
    }
    wide = [at for at, narrower in inside.items() if len(narrower)]
    for at in wide:
        yield int(used[at]), used[np.setdiff1d(inside[at], wide)]


def _exact_but_missing(column: Column, used: NDArray[np.int64]) -> bool:
    return bool((column.levels.atomic[used] | (used == column.levels.missing)).all())
