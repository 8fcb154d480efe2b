"""Reconstruction of the records of an area from its tables: all solutions, or what every solution has in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.attacks.integer_programs import find_other, find_possible
from unmask.aggregates.attacks.systems import AreaSystem
from unmask.aggregates.programs import floor_bound
from unmask.aggregates.rules import UNBOUNDED, Counts

MAX_SOLUTIONS: Final = 100_000
"""Largest number of solutions of an area that are listed one by one."""

FIRST_SOLUTIONS: Final = 2_000
"""Solutions after which the size of the search tree is estimated."""

NODES_PER_SOLUTION: Final = 20
"""Branches of the search for each solution that it may list."""

N_VERTICES: Final = 8
"""Solutions of random objectives, from which chains start."""

Status = Literal["one", "several", "contradiction", "undecided"]


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Solutions of the system of an area.

    Parameters
    ----------
    system : AreaSystem
        Unknown counts and their bounds.
    status : {"one", "several", "contradiction", "undecided"}
        Number of solutions; "undecided" if the search for a second one was stopped.
    solutions : (n, n_cells) array
        Known solutions.
    is_complete : bool
        True if these are all solutions.
    is_reached : (n_cells,) array of bool, or False
        Cells that hold a person in further solutions.
    """

    system: AreaSystem
    status: Status
    solutions: NDArray[np.int32]
    is_complete: bool
    is_reached: NDArray[np.bool_] | bool = False


def reconstruct(system: AreaSystem, *, rng: np.random.Generator, max_solutions: int = MAX_SOLUTIONS) -> Reconstruction:
    """Find the solutions of a system: all of them by a depth-first search, otherwise some by integer programs.

    The search is left early if its first solutions show that there are too many: solutions / searched estimates their
    number.

    Parameters
    ----------
    system : AreaSystem
        Reduced system of an area.
    rng : Generator
        Source of random objectives.
    max_solutions : int
        Largest number of solutions to list.

    Returns
    -------
    Reconstruction

    References
    ----------
    P. Kilby, J. Slaney, S. Thiebaux and T. Walsh, "Estimating search tree size", AAAI 2006.
    """
    nothing = np.zeros((0, len(system.cells)), dtype=np.int32)
    if not system.is_feasible:
        return Reconstruction(system, "contradiction", nothing, True)
    solutions, searched = _enumerate(system, min(FIRST_SOLUTIONS, max_solutions))
    if searched < 1.0 and (0 < len(solutions) < 2 * max_solutions * searched or system.sums):
        solutions, searched = _enumerate(system, max_solutions)
    if searched == 1.0:
        solutions = solutions[system.is_possible(solutions)]
        status: Status = "contradiction" if not len(solutions) else "one" if len(solutions) == 1 else "several"
        return Reconstruction(system, status, solutions, True)
    return _reconstruct_by_programs(system, solutions[:1], rng)


def _enumerate(system: AreaSystem, max_solutions: int) -> tuple[NDArray[np.int32], float]:
    from unmask.aggregates.attacks._search import enumerate_counts

    solutions = np.zeros((max_solutions, len(system.cells)), dtype=np.int32)
    max_nodes = NODES_PER_SOLUTION * max_solutions
    n_found, searched = enumerate_counts(
        system.links, system.number_sums, system.low.copy(), system.high.copy(), solutions, max_nodes
    )
    return solutions[:n_found].copy(), searched


def _reconstruct_by_programs(system: AreaSystem, first: NDArray[np.int32], rng: np.random.Generator) -> Reconstruction:
    """Return solutions of random objectives; the first two decide whether there are several."""
    solutions = list(first)
    limited = np.asarray(system.matrix[system.row_high < UNBOUNDED].sum(axis=0)).ravel() > 0
    for _ in range(N_VERTICES):
        objective = rng.normal(size=len(system.cells))
        objective[~limited] = -np.abs(objective[~limited])  # else these counts would be as large as a program permits
        optimum = system.program.maximize(objective)
        if optimum.status == "infeasible":
            return Reconstruction(system, "contradiction", first[:0], True)
        if optimum.x is not None:
            solutions.append(np.rint(optimum.x).astype(np.int32))
    distinct = np.unique(np.array(solutions, dtype=np.int32).reshape(-1, len(system.cells)), axis=0)
    distinct = distinct[system.is_possible(distinct)]
    status: Status = "several" if len(distinct) > 1 else "undecided"
    if len(distinct) == 1:
        second = find_other(system, distinct[0].astype(np.int64))
        if second.x is not None and system.is_possible(np.rint(second.x)[None]).all():
            distinct = np.vstack([distinct, np.rint(second.x).astype(np.int32)])
        status = "one" if second.status == "infeasible" else "several" if len(distinct) > 1 else "undecided"
    return Reconstruction(system, status, distinct, status == "one")


def bound_certain_cells(result: Reconstruction) -> tuple[NDArray[np.int64], Counts, Counts]:
    """Return the cells that hold a person in every solution, with the smallest and the largest count.

    Cells that are empty in a known solution are left out at once. For the others, bounds are tightened by propagation,
    then by a linear program, and by an integer program only if the linear bound leaves a doubt.

    Returns
    -------
    cells : (n,) int array
        Positions among `result.system.cells`.
    low, high : (n,) int arrays
        Bounds of the count, `low` at least 1.
    """
    system, solutions = result.system, result.solutions
    if result.status == "contradiction" or not len(solutions):
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, nothing
    if result.is_complete:
        low, high = solutions.min(axis=0).astype(np.int64), solutions.max(axis=0).astype(np.int64)
        cells = np.flatnonzero(low >= 1)
        return cells, low[cells], high[cells]
    candidates = np.flatnonzero((solutions > 0).all(axis=0))
    smallest = np.array([-_tighten(system, cell, -1.0) for cell in candidates.tolist()], dtype=np.int64)
    cells, low = candidates[smallest >= 1], smallest[smallest >= 1]
    return cells, low, np.array([_tighten(system, cell, 1.0) for cell in cells.tolist()], dtype=np.int64)


def _tighten(system: AreaSystem, cell: int, sign: float) -> int:
    """Return an upper bound of sign * count: by propagation, a linear program, and an integer program."""
    objective = np.zeros(len(system.cells))
    objective[cell] = sign
    bound = -int(system.low[cell]) if sign < 0 else int(system.high[cell])
    if system.low[cell] == system.high[cell] or (sign < 0 and system.low[cell] >= 1):
        return bound
    linear = floor_bound(system.program.relax(objective).bound)
    bound = int(min(bound, linear))
    if sign < 0 and bound <= -1:  # at least one person for certain
        return bound
    return int(min(bound, floor_bound(system.program.maximize(objective).bound)))


def find_possible_values(
    result: Reconstruction, profile: NDArray[np.int64], value: NDArray[np.int64], *, rng: np.random.Generator
) -> dict[int, NDArray[np.int8]]:
    """Decide which values each profile may have.

    Parameters
    ----------
    result : Reconstruction
        Solutions of an area.
    profile, value : (n_cells,) int arrays
        Profile of known attributes and sensitive value of each cell of the system.
    rng : Generator
        Source of random objectives.

    Returns
    -------
    dict
        Profile -> (n_values,) array: 1 possible, 0 impossible, -1 undecided. Profiles that no cell has are left out.
        A person of a profile with one possible value and no undecided one has it for certain. A profile with two
        possible values may have undecided ones.
    """
    n_values = int(value.max(initial=-1)) + 1
    pairs = profile * n_values + value
    distinct, inverse = np.unique(pairs, return_inverse=True)
    groups: list[NDArray[np.int64]] = [np.flatnonzero(inverse == group) for group in range(len(distinct))]
    if result.is_complete:
        states = np.array([int(result.solutions[:, cells].any()) for cells in groups], dtype=np.int8)
    else:
        owner = np.unique(distinct // n_values, return_inverse=True)[1]
        is_possible = np.asarray((result.solutions > 0).any(axis=0) | result.is_reached)
        states = find_possible(result.system, groups, owner, is_possible, rng)
    table = {int(item): np.zeros(n_values, dtype=np.int8) for item in np.unique(profile)}
    for pair, state in zip(distinct.tolist(), states.tolist(), strict=True):
        table[pair // n_values][pair % n_values] = state
    return table
