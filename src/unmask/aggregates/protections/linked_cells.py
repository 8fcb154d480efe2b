"""Published cells as sums of the same unpublished counts, and the interval that an adversary computes for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from unmask.core.errors import FailedError

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MAX_PROGRAM_SECONDS = 60.0
"""Time limit of a program for one cell."""

LARGEST_AMOUNT = 1e4
"""Largest magnitude in a linear program. The solver's limits are absolute: each constraint holds up to 1e-7."""

SOLVER_SLACK = 1e-6
"""Share of a cell. Largest excess of a linear program over its limits; HiGHS allows 1e-7 in each constraint."""


def outsider(n_atoms: int) -> Bounds:
    """Return what an adversary without contributions knows of each atom: it is at least 0.

    A contributor has its own contribution as lower bound, and as upper bound of an atom without other contributors.

    Parameters
    ----------
    n_atoms : int
        Number of atoms.

    Returns
    -------
    scipy.optimize.Bounds
        From 0 to infinity.
    """
    return Bounds(np.zeros(n_atoms), np.full(n_atoms, np.inf))


@dataclass(frozen=True, eq=False)
class LinkedCells:
    """Cells of all tables of a release. Cells that share atoms are linked, whatever their table.

    Parameters
    ----------
    rows : (n_cells, n_atoms) sparse array
        1 where an atom is part of a cell. Atoms below a published zero are left out.
    atoms : (n_atoms,) array
        True counts or magnitudes, at least 0.
    low : (n_cells,) array
        Smallest value that a suppressed cell may have: 1 if zeros are published, otherwise 0.
    integer : bool
        True for counts.
    """

    rows: Any
    atoms: Floats
    low: Floats
    integer: bool

    @property
    def values(self) -> Floats:
        """True values of the cells."""
        return np.asarray(self.rows @ self.atoms)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.rows.shape[0])

    def limits(self, hidden: Mask) -> tuple[Floats, Floats]:
        """Return the smallest and the largest value of each cell that a suppression pattern leaves possible."""
        values = self.values
        return np.where(hidden, np.minimum(self.low, values), values), np.where(hidden, np.inf, values)


def minimize(
    objective: Floats, rows: Any, low: Floats, high: Floats, *, bounds: Bounds, integer: Mask, seconds: float
) -> Any:
    """Minimize a linear function of variables, some of them integers.

    The linear program comes first: for tables of two dimensions its solution is integral already.

    Parameters
    ----------
    objective : (n,) array
        Coefficients.
    rows : (n_rows, n) sparse array
        Constraints, from `low` to `high`.
    low, high : (n_rows,) array
        Ends of the constraints.
    bounds : scipy.optimize.Bounds
        Smallest and largest value of each variable.
    integer : (n,) array of bool
        Variables that are integers.
    seconds : float
        Time limit.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As of `scipy.optimize.milp`. Magnitudes are solved in a unit that fits the solver's absolute limits.
    """
    unit = 1.0 if integer.any() else find_unit(low, high)
    scale = np.abs(objective).max(initial=0.0) or 1.0
    settings: Any = {
        "bounds": Bounds(bounds.lb / unit, bounds.ub / unit),
        "constraints": LinearConstraint(rows, low / unit, high / unit),
        "options": {"time_limit": seconds},
    }
    result = milp(objective / scale, **settings)
    if result.status == 0 and np.abs(result.x - np.round(result.x))[integer].max(initial=0.0) > SOLVER_SLACK:
        result = milp(objective / scale, integrality=integer.astype(int), **settings)
    for name, factor in (("x", unit), ("fun", unit * scale), ("mip_dual_bound", unit * scale)):
        result[name] = None if result.get(name) is None else result[name] * factor
    return result


def find_unit(*amounts: Floats) -> float:
    """Return the unit in which the largest finite amount is `LARGEST_AMOUNT`."""
    return max(float(np.abs(item[np.isfinite(item)]).max(initial=0.0)) for item in amounts) / LARGEST_AMOUNT or 1.0


def feasible_intervals(
    rows: Any,
    low: Floats,
    high: Floats,
    targets: Iterable[int],
    *,
    integer: bool = True,
    knowledge: Bounds | None = None,
    seconds: float = MAX_PROGRAM_SECONDS,
) -> Floats:
    """Return the smallest and the largest value of cells over all tables that agree with a release.

    All tables are solved together.

    Parameters
    ----------
    rows : (n_cells, n_atoms) sparse array
        1 where an atom is part of a cell.
    low, high : (n_cells,) array
        What the release says about each cell, see `AggregateRelease.bounds`.
    targets : iterable of int
        Cells whose interval is computed.
    integer : bool
        True for counts.
    knowledge : scipy.optimize.Bounds, optional
        Bounds of the atoms; by default those of an outsider.
    seconds : float
        Time limit of each program.

    Returns
    -------
    (n_targets, 2) array
        An interval that contains every feasible value. It is exact unless a program reached the time limit; then it
        may be too wide. Unbounded cells end at infinity.

    Raises
    ------
    FailedError
        If no table agrees with the release and the knowledge.

    References
    ----------
    M. Fischetti & J. J. Salazar Gonzalez, "Solving the cell suppression problem on tabular data with linear
    constraints", Management Science 47(7), 2001.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = csr_array(np.array([[1, 0], [0, 1], [1, 1]]))
    >>> feasible_intervals(rows, np.array([0, 1, 5]), np.array([9, 9, 5]), [0])
    array([[0., 4.]])
    """
    known = outsider(rows.shape[1]) if knowledge is None else knowledge
    ends = [[_end(rows, low, high, cell, sign, integer, known, seconds) for sign in (1, -1)] for cell in targets]
    return np.array(ends, dtype=np.float64).reshape(len(ends), 2)


def _end(
    rows: Any, low: Floats, high: Floats, cell: int, sign: int, integer: bool, knowledge: Bounds, seconds: float
) -> float:
    """Return the smallest (sign 1) or the largest (sign -1) value of a cell."""
    if low[cell] == high[cell]:
        return float(low[cell])
    objective = sign * rows[[cell]].toarray().ravel()
    result = minimize(
        objective,
        rows,
        low,
        high,
        bounds=knowledge,
        integer=np.full(rows.shape[1], integer),
        seconds=seconds,
    )
    if result.status == 2:
        raise FailedError("no table agrees with the published cells, expected at least one; check rule and zeros")
    bound = result.fun if result.status == 0 else result.get("mip_dual_bound") if result.status == 1 else None
    if bound is None or not np.isfinite(bound):
        return 0.0 if sign > 0 else np.inf
    rounded = (np.round if result.status == 0 else np.ceil)(bound) if integer else bound
    return float(sign * rounded)
