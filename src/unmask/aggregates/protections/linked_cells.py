"""Published cells as sums of the same unpublished counts, and programs over these counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MAX_PROGRAM_SECONDS = 60.0
"""Time limit of a program for one cell."""

LARGEST_AMOUNT = 1e4
"""Largest magnitude in a linear program. The solver's limits are absolute: each constraint holds up to 1e-7."""

SOLVER_SLACK = 1e-6
"""Share of a cell. Largest excess of a linear program over its limits; HiGHS allows 1e-7 in each constraint."""


def outsider(n_atoms: int) -> scipy.optimize.Bounds:
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
    return scipy.optimize.Bounds(np.zeros(n_atoms), np.full(n_atoms, np.inf))


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

    @cached_property
    def values(self) -> Floats:
        """True values of the cells."""
        return np.asarray(self.rows @ self.atoms)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.rows.shape[0])

    def differ(self, atoms: Floats) -> Mask:
        """Return the cells in which another table differs from the true one."""
        return np.asarray(np.abs(self.rows @ atoms - self.values) > SOLVER_SLACK * np.maximum(1.0, self.values))

    def least(self, cell: int) -> float:
        """Return the smallest value of a cell if all cells are suppressed: cells that it contains have a minimum."""
        objective, n_atoms = self.rows[[cell]].toarray().ravel(), len(self.atoms)
        low, high = self.limits(np.ones(self.n_cells, dtype=bool))
        result = minimize(
            objective, self.rows, low, high, bounds=outsider(n_atoms), integer=np.full(n_atoms, self.integer),
            seconds=MAX_PROGRAM_SECONDS,
        )  # fmt: skip
        return float(result.fun) if result.fun is not None else float(self.values[cell])

    def limits(self, hidden: Mask) -> tuple[Floats, Floats]:
        """Return the smallest and the largest value of each cell that a suppression pattern leaves possible."""
        values = self.values
        return np.where(hidden, np.minimum(self.low, values), values), np.where(hidden, np.inf, values)


def minimize(
    objective: Floats,
    rows: Any,
    low: Floats,
    high: Floats,
    *,
    bounds: scipy.optimize.Bounds,
    integer: Mask,
    seconds: float,
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
        "bounds": scipy.optimize.Bounds(bounds.lb / unit, bounds.ub / unit),
        "constraints": scipy.optimize.LinearConstraint(rows, low / unit, high / unit),
        "options": {"time_limit": seconds},
    }
    result = scipy.optimize.milp(objective / scale, **settings)
    if result.status == 0 and np.abs(result.x - np.round(result.x))[integer].max(initial=0.0) > SOLVER_SLACK:
        result = scipy.optimize.milp(objective / scale, integrality=integer.astype(int), **settings)
    for name, factor in (("x", unit), ("fun", unit * scale), ("mip_dual_bound", unit * scale)):
        result[name] = None if result.get(name) is None else result[name] * factor
    return result


def find_unit(*amounts: Floats) -> float:
    """Return the unit in which the largest finite amount is `LARGEST_AMOUNT`."""
    return max(float(np.abs(item[np.isfinite(item)]).max(initial=0.0)) for item in amounts) / LARGEST_AMOUNT or 1.0
