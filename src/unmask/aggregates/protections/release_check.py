"""Intervals of the cells of a release, as an adversary with all its tables computes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.attacks.integer_programs import MAX_FREE_COUNT, IntegerProgram, floor_bound
from unmask.aggregates.attacks.systems import reduce_system
from unmask.aggregates.release import AggregateRelease
from unmask.core.errors import FailedError


def compute_intervals(release: AggregateRelease, area: int, cells: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the smallest and the largest count of cells over all counts that agree with all tables of an area.

    Parameters
    ----------
    release : AggregateRelease
        Published tables.
    area : int
        Number of the area.
    cells : (n,) array of int
        Rows of `release.matrix`.

    Returns
    -------
    (n, 2) array
        Exact, unless an integer program reaches its time limit; then an interval may be too wide. Infinity without an
        upper end.

    Raises
    ------
    FailedError
        If no counts agree with the tables.

    References
    ----------
    M. Fischetti & J. J. Salazar Gonzalez, "Solving the cell suppression problem on tabular data with linear
    constraints", Management Science 47(7), 2001.
    """
    system = reduce_system(release.matrix, *release.bounds(area))
    program, ends = IntegerProgram(system), np.zeros((len(cells), 2))
    if not system.is_feasible:
        raise FailedError("no counts agree with the tables, expected the true ones; check the rule")
    for number, cell in enumerate(cells.tolist()):
        objective = release.matrix[[cell]].toarray().ravel()[system.cells].astype(np.float64)
        low, high = -floor_bound(program.maximize(-objective).bound), floor_bound(program.maximize(objective).bound)
        ends[number] = low, np.inf if high >= MAX_FREE_COUNT else high
    return ends
