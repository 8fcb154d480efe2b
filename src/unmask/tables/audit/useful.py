"""What a release of a study is still good for, as rows beside those of its adversaries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.plan import Cell
from unmask.results import Row
from unmask.tables import utility
from unmask.tables.table import Table

USEFUL = {
    "utility": "1 - global certainty penalty",
    "kept": "rows that were released",
    "marginals": "1 - total variation of a column's distribution, mean over columns",
    "pairs": "1 - total variation of the joint distribution of two columns, mean over pairs",
    "counts": "1 - median relative error of random counting queries, at least 0",
}
"""What a release is still good for, between 0 and 1, and what that is."""

OF_ROWS = ("utility", "kept")
"""Of these, what is asked row by row: of whose record became what."""


def left_of(cell: Cell, population: Table, release: Table, origin: NDArray[np.int64] | None) -> list[Row]:
    """What the release is still good for, as rows like any other: 1 is the table before protection. Of rows that are
    nobody's it is what distributions say, of as many rows as both tables have.
    """
    wanted = [name for name in USEFUL if cell.wants(name) and (origin is not None or name not in OF_ROWS)]
    if not wanted:
        return []
    n_rows = release.n_rows
    if origin is None:
        population, release, origin = _side_by_side(population, release)
    lost = utility.evaluate(population, release, origin)
    left = {
        "utility": 1.0 - lost.gcp,
        "kept": release.n_rows / population.n_rows,
        "marginals": 1.0 - float(np.mean(list(lost.marginal_distance.values()))),
        "pairs": 1.0 - float(np.mean(list(lost.pairwise_distance.values()) or [0.0])),
        "counts": max(0.0, 1.0 - lost.query_error),
    }
    n = {"utility": n_rows}
    return [
        cell.row(name, "share", left[name], prior=1.0, n=n.get(name, population.n_rows), note=USEFUL[name])
        for name in wanted
    ]


def _side_by_side(population: Table, release: Table) -> tuple[Table, Table, NDArray[np.int64]]:
    """As many rows of either table as the smaller one has, drawn; which stands beside which says nothing."""
    n, rng = min(population.n_rows, release.n_rows), np.random.default_rng(0)
    one, other = (table.take(rng.permutation(table.n_rows)[:n]) for table in (population, release))
    return one, other, np.arange(n)
