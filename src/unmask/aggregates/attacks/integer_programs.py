"""Integer programs over the counts of an area: other solutions, and values that are possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unmask.aggregates.attacks.systems import AreaSystem
from unmask.aggregates.programs import SOLVER_SLACK, Optimum, Program
from unmask.aggregates.rules import Counts


def find_other(system: AreaSystem, counts: Counts) -> Optimum:
    """Return counts of a system that differ from the given ones, or the status "infeasible" if these are the only ones.

    In other counts a positive count is smaller, or all positive counts are at least as large and the sum is larger. A
    binary variable for each of these cases demands it.
    """
    program, positive = system.program, np.flatnonzero(counts > system.low)
    n, n_positive = len(counts), len(positive)
    drop = sparse.csr_array((np.ones(n_positive), (np.arange(n_positive), positive)), shape=(n_positive, n))
    room = program.high[positive] - counts[positive] + 1
    total = int(counts.sum())
    blocks: Any = [
        [program.matrix, None, None],
        [drop, sparse.diags_array(room), None],
        [np.ones((1, n)), None, np.full((1, 1), -float(total + 1))],
        [None, np.ones((1, n_positive)), np.ones((1, 1))],
    ]
    matrix = sparse.block_array(blocks, format="csr")
    low = np.concatenate([program.row_low, np.full(n_positive, -np.inf), [0.0, 1.0]])
    high = np.concatenate([program.row_high, counts[positive] + room - 1, [np.inf, np.inf]])
    variables = np.concatenate([program.high, np.ones(n_positive + 1)])
    extended = Program(matrix, low, high, np.concatenate([program.low, np.zeros(n_positive + 1)]), variables)
    optimum = extended.maximize(np.zeros(n + n_positive + 1))
    if optimum.x is None or (np.rint(optimum.x[:n]) == counts).all():  # a binary variable within the solver's slack
        return optimum._replace(x=None)
    return optimum._replace(x=optimum.x[:n])


def find_possible(
    system: AreaSystem,
    groups: Sequence[NDArray[np.int64]],
    owner: NDArray[np.int64],
    is_possible: NDArray[np.bool_],
    rng: np.random.Generator,
) -> NDArray[np.int8]:
    """Decide which groups of cells may hold a person, until each owner has two such groups.

    A solution with a person in the group shows that it may. Sums of all open groups are maximized, so that one program
    finds solutions for several groups, or shows that all open groups are empty.

    Parameters
    ----------
    system : AreaSystem
        System of the area.
    groups : sequence of arrays
        Positions of the cells of each group.
    owner : (n_groups,) int array
        Owner of each group, numbered from 0.
    is_possible : (n_cells,) array of bool
        Cells that hold a person in a known solution.
    rng : Generator
        Source of random objectives.

    Returns
    -------
    (n_groups,) array of int8
        1 possible, 0 impossible, -1 undecided: not needed, or stopped at the limit of time.
    """
    possible = np.array([1 if is_possible[cells].any() else -1 for cells in groups], dtype=np.int8)
    while True:
        n_possible = np.bincount(owner, possible == 1, minlength=len(groups))
        still = np.flatnonzero((possible == -1) & (n_possible[owner] < 2)).tolist()
        if not still:
            return possible
        objective = np.zeros(len(system.cells))
        for position in still:
            objective[groups[position]] = rng.uniform(0.5, 1.0)
        is_empty = system.program.relax((objective > 0).astype(np.float64)).bound < 1 - SOLVER_SLACK
        optimum = None if is_empty else system.program.maximize(objective)
        if optimum is None or optimum.bound < 0.5 - SOLVER_SLACK:
            possible[still] = 0
            return possible
        counts = None if optimum.x is None else np.rint(optimum.x)
        witnessed = [position for position in still if counts is not None and counts[groups[position]].any()]
        if not witnessed:
            return possible
        possible[witnessed] = 1
