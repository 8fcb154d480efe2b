"""Published cells as sums of the same unpublished counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from unmask.aggregates.programs import SOLVER_SLACK, Floats, Mask, Optimum, Program

MAX_PROGRAM_SECONDS = 60.0
"""Time limit of a program for one cell."""


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

    def find_minimum(self, cell: int) -> float:
        """Return the smallest value of a cell if all cells are suppressed: cells that it contains have a minimum."""
        optimum = self.maximize(cell, -1.0, np.ones(self.n_cells, dtype=bool), outsider(len(self.atoms)))
        return -optimum.value if optimum.x is not None else float(self.values[cell])

    def maximize(self, cell: int, sign: float, hidden: Mask, knowledge: scipy.optimize.Bounds) -> Optimum:
        """Return the largest value of sign * cell over the atoms that agree with published cells and a knowledge."""
        low, high = self.limits(hidden)
        program = Program(self.rows, low, high, knowledge.lb, knowledge.ub, self.integer, MAX_PROGRAM_SECONDS)
        return program.maximize(sign * self.rows[[cell]].toarray().ravel())

    def limits(self, hidden: Mask) -> tuple[Floats, Floats]:
        """Return the smallest and the largest value of each cell that a suppression pattern leaves possible."""
        values = self.values
        return np.where(hidden, np.minimum(self.low, values), values), np.where(hidden, np.inf, values)
