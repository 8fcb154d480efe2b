"""Integer programs over the counts of an area: extreme sums, other solutions, and contradictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unmask.aggregates.attacks.systems import AreaSystem
from unmask.aggregates.rules import UNBOUNDED, Counts

MAX_SECONDS: Final = 10.0
"""Seconds of one integer program. A program that takes longer gives a bound, and no answer."""

LP_ROUNDING: Final = 1e-6
"""Count. Largest distance of a bound of the solver from the integer that it is rounded to, its own tolerance."""

MAX_FREE_COUNT: Final = 1_000_000
"""Upper bound of a count that no table limits, so that programs have a finite optimum."""


class Optimum(NamedTuple):
    """Result of an integer program.

    counts : counts that attain `value`, None without a solution
    value : objective of the counts
    bound : largest objective that any counts may have
    status : "solved", "infeasible" or "stopped" at the limit of time
    """

    counts: Counts | None
    value: float
    bound: float
    status: Literal["solved", "infeasible", "stopped"]


@dataclass(frozen=True, eq=False)
class IntegerProgram:
    """Counts of a system as variables of programs."""

    system: AreaSystem
    max_seconds: float = MAX_SECONDS

    def relax(self, objective: NDArray[np.float64]) -> float:
        """Return an upper bound of the objective, by the linear program without integrality; inf without an answer."""
        return self._solve(objective, is_integer=False).bound

    def maximize(self, objective: NDArray[np.float64]) -> Optimum:
        """Return the counts with the largest value of an objective.

        Parameters
        ----------
        objective : (n_cells,) array
            Coefficient of each count.

        Returns
        -------
        Optimum
        """
        return self._solve(objective, is_integer=True)

    def _solve(self, objective: NDArray[np.float64], *, is_integer: bool) -> Optimum:
        system = self.system
        if not len(system.cells):
            return Optimum(np.zeros(0, dtype=np.int64), 0.0, 0.0, "solved")
        rows = (system.matrix, system.row_low, _infinite(system.row_high))
        bounds = (system.low, np.minimum(system.high, MAX_FREE_COUNT))
        return _solve(objective, rows, bounds, self.max_seconds, is_integer=is_integer)

    def find_other(self, counts: Counts) -> Optimum:
        """Return counts that differ from the given ones, or the status "infeasible" if these are the only ones.

        Each count x is split as x = counts + up - down, with a binary variable that allows only one of both.
        """
        system, n = self.system, len(counts)
        up = np.minimum(system.high, MAX_FREE_COUNT) - counts
        down = counts - system.low
        zero, unit = sparse.csr_array((n, n)), sparse.eye_array(n, format="csr")
        changes = sparse.hstack([system.matrix, -system.matrix, sparse.csr_array((len(system.rows), n))])
        only_up = sparse.hstack([unit, zero, -sparse.diags_array(up.astype(np.float64))])
        only_down = sparse.hstack([zero, unit, sparse.diags_array(down.astype(np.float64))])
        some = sparse.csr_array(np.concatenate([np.ones(2 * n), np.zeros(n)])[None])
        sums = system.matrix @ counts
        low = np.concatenate([system.row_low - sums, np.full(2 * n, -np.inf), [1.0]])
        high = np.concatenate([_infinite(system.row_high) - sums, np.zeros(n), down, [np.inf]])
        matrix = sparse.csr_array(sparse.vstack([changes, only_up, only_down, some]))
        limits = (np.zeros(3 * n), np.concatenate([up, down, np.ones(n)]))
        optimum = _solve(np.zeros(3 * n), (matrix, low, high), limits, self.max_seconds)
        if optimum.counts is None:
            return optimum
        return optimum._replace(counts=counts + optimum.counts[:n] - optimum.counts[n : 2 * n])


def _infinite(high: Counts) -> NDArray[np.float64]:
    return np.where(high >= UNBOUNDED, np.inf, high)


def _solve(
    objective: NDArray[np.float64],
    rows: tuple[sparse.csr_array, Any, Any],
    bounds: tuple[Any, Any],
    max_seconds: float,
    *,
    is_integer: bool = True,
) -> Optimum:
    """Maximize an objective. rows : matrix, and bounds of its rows; bounds : of the variables"""
    from scipy.optimize import Bounds, LinearConstraint, milp  # here: slow to import, and rarely needed

    answer = milp(
        -objective, constraints=LinearConstraint(*rows), bounds=Bounds(*bounds),
        integrality=np.full(len(objective), is_integer, dtype=np.int64), options={"time_limit": max_seconds},
    )  # fmt: skip
    if answer.status == 2:
        return Optimum(None, -np.inf, -np.inf, "infeasible")
    counts = None if answer.x is None else np.rint(answer.x).astype(np.int64)
    dual = answer.mip_dual_bound if is_integer else answer.fun
    bound = np.inf if dual is None else -float(dual)
    value = -np.inf if counts is None else float(objective @ counts)
    return Optimum(counts, value, bound, "solved" if answer.status == 0 else "stopped")


def floor_bound(bound: float) -> float:
    """Return the largest whole number that a bound of the solver allows."""
    return float(np.floor(bound + LP_ROUNDING)) if np.isfinite(bound) else bound


def find_possible(
    program: IntegerProgram,
    groups: Sequence[NDArray[np.int64]],
    owner: NDArray[np.int64],
    witnesses: NDArray[np.integer],
    rng: np.random.Generator,
) -> NDArray[np.int8]:
    """Decide which groups of cells may hold a person, until each owner has two such groups.

    A witness, a solution with a person in the group, shows that it may. Sums of all open groups are maximized, so that
    one program finds several witnesses, or shows that all open groups are empty.

    Parameters
    ----------
    program : IntegerProgram
        Programs of the area.
    groups : sequence of arrays
        Positions of the cells of each group.
    owner : (n_groups,) int array
        Owner of each group, numbered from 0.
    witnesses : (n, n_cells) array
        Known solutions.
    rng : Generator
        Source of random objectives.

    Returns
    -------
    (n_groups,) array of int8
        1 possible, 0 impossible, -1 undecided: not needed, or stopped at the limit of time.
    """
    seen = np.asarray((witnesses > 0).sum(axis=0) > 0)
    possible = np.array([1 if seen[cells].any() else -1 for cells in groups], dtype=np.int8)
    while True:
        n_possible = np.bincount(owner, possible == 1, minlength=len(groups))
        still = np.flatnonzero((possible == -1) & (n_possible[owner] < 2)).tolist()
        if not still:
            return possible
        objective = np.zeros(len(program.system.cells))
        for position in still:
            objective[groups[position]] = rng.uniform(0.5, 1.0)
        is_empty = program.relax((objective > 0).astype(np.float64)) < 1 - LP_ROUNDING
        optimum = None if is_empty else program.maximize(objective)
        if optimum is None or optimum.bound < 0.5 - LP_ROUNDING:
            possible[still] = 0
            return possible
        counts = optimum.counts
        witnessed = [position for position in still if counts is not None and counts[groups[position]].any()]
        if not witnessed:
            return possible
        possible[witnessed] = 1


def find_contradiction(names: Sequence[str], is_feasible: Callable[[Sequence[str]], bool]) -> list[str]:
    """Return tables that contradict each other, none of which can be left out.

    Parameters
    ----------
    names : sequence of str
        Tables that have no solution together.
    is_feasible : function
        Whether some of the tables have a solution.

    Returns
    -------
    list of str
        An irreducible set (deletion filter of Chinneck and Dravnieks, 1991): without any of them, the others have a
        solution.
    """
    kept = list(names)
    for name in names:
        others = [other for other in kept if other != name]
        if others and not is_feasible(others):
            kept = others
    return kept
