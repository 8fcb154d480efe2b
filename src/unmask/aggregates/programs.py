"""Linear and integer programs over unknown counts or sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MAX_SECONDS: Final = 10.0
"""Seconds of one program. A program that takes longer gives a bound, and no answer."""

SOLVER_SLACK: Final = 1e-6
"""Count, or share of a sum. Largest excess of a solution over its limits; HiGHS allows 1e-7 in each constraint."""

LARGEST_AMOUNT: Final = 1e4
"""Largest magnitude in a linear program. The solver's limits are absolute: each constraint holds up to 1e-7."""


class Optimum(NamedTuple):
    """Result of a program.

    x : variables that attain `value`, None without a solution
    value : objective of x, -inf without a solution
    bound : largest objective that any solution may have
    status : "solved", "infeasible" or "stopped" at the limit of time
    """

    x: Floats | None
    value: float
    bound: float
    status: Literal["solved", "infeasible", "stopped"]


@dataclass(frozen=True, eq=False)
class Program:
    """Variables x with row_low <= matrix x <= row_high and low <= x <= high.

    Parameters
    ----------
    matrix : (n_rows, n) sparse array
        Coefficients of the constraints.
    row_low, row_high : (n_rows,) arrays or float
        Ends of the constraints, may be infinite.
    low, high : (n,) arrays or float
        Ends of the variables, may be infinite.
    is_integer : bool or (n,) array of bool
        Variables that are integers.
    seconds : float
        Time limit of each optimum.
    """

    matrix: Any
    row_low: Any
    row_high: Any
    low: Any
    high: Any
    is_integer: Any = True
    seconds: float = MAX_SECONDS

    def __post_init__(self) -> None:
        n_rows, n = self.matrix.shape
        for name, size in (("row_low", n_rows), ("row_high", n_rows), ("low", n), ("high", n)):
            ends = np.asarray(getattr(self, name), dtype=np.float64)
            object.__setattr__(self, name, np.broadcast_to(ends, size))
        object.__setattr__(self, "is_integer", np.broadcast_to(np.asarray(self.is_integer, dtype=bool), n))

    def maximize(self, objective: Floats) -> Optimum:
        """Return the variables with the largest value of a linear objective.

        The linear program comes first: its solution is often integral already, for example for tables of two columns.

        Parameters
        ----------
        objective : (n,) array
            Coefficients.

        Returns
        -------
        Optimum
        """
        relaxed = self.relax(objective)
        if relaxed.x is None or _is_integral(relaxed.x[self.is_integer]):
            return relaxed
        return self._solve(objective, self.is_integer.astype(np.int64))

    def relax(self, objective: Floats) -> Optimum:
        """Return the optimum of the linear program without integers; its bound is a bound of the integer program."""
        return self._solve(objective, np.zeros(len(objective), dtype=np.int64))

    def _solve(self, objective: Floats, integrality: NDArray[np.int64]) -> Optimum:
        from scipy.optimize import Bounds, LinearConstraint, milp  # here: slow to import, and rarely needed

        if not len(objective):
            return Optimum(np.zeros(0), 0.0, 0.0, "solved")
        unit = 1.0 if self.is_integer.any() else find_unit(self.row_low, self.row_high)  # for absolute limits
        scale = np.abs(objective).max(initial=0.0) or 1.0
        low, high, row_low, row_high = (ends / unit for ends in (self.low, self.high, self.row_low, self.row_high))
        answer: Any = milp(
            -objective / scale, integrality=integrality, bounds=Bounds(low, high),
            constraints=LinearConstraint(self.matrix, row_low, row_high), options={"time_limit": self.seconds},
        )  # fmt: skip
        if answer.status == 2:
            return Optimum(None, -np.inf, -np.inf, "infeasible")
        dual = answer.mip_dual_bound if integrality.any() else answer.fun
        bound = np.inf if dual is None else -float(dual) * scale * unit
        if answer.x is None:
            return Optimum(None, -np.inf, bound, "stopped")
        x = np.asarray(answer.x) * unit
        return Optimum(x, float(objective @ x), bound, "solved" if answer.status == 0 else "stopped")


def _is_integral(x: Floats) -> bool:
    return bool(np.abs(x - np.round(x)).max(initial=0.0) <= SOLVER_SLACK)


def find_unit(*amounts: ArrayLike) -> float:
    """Return the unit in which the largest finite amount is `LARGEST_AMOUNT`."""
    arrays = [np.abs(np.asarray(amount, dtype=np.float64)) for amount in amounts]
    return max(float(array[np.isfinite(array)].max(initial=0.0)) for array in arrays) / LARGEST_AMOUNT or 1.0


def floor_bound(bound: float) -> float:
    """Return the largest whole number that a bound of the solver allows."""
    return float(np.floor(bound + SOLVER_SLACK)) if np.isfinite(bound) else bound
