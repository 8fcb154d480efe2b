"""Complementary suppression of linked and hierarchical tables, with a proven bound of its optimality gap."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp

from unmask.aggregates.programs import SOLVER_SLACK, Floats, Mask, Program, find_unit
from unmask.aggregates.protections.linked_cells import LinkedCells
from unmask.core.errors import FailedError

MAX_SEARCH_SECONDS = 10.0
"""Time limit of a program that finds complements for one demand."""

MULTIPLIER_ROUNDING = 1e-9
"""Multiplier of a limit in a dual program up to which it is 0."""


@dataclass(frozen=True, eq=False)
class Demand:
    """A value of a sensitive cell that must remain feasible for an adversary.

    Parameters
    ----------
    cell : int
        Sensitive cell.
    amount : float
        Distance of the feasible value from the true one: above 0 for an upper protection level, below 0 for a lower.
    knowledge : scipy.optimize.Bounds
        Bounds of the atoms that the adversary knows.
    """

    cell: int
    amount: float
    knowledge: scipy.optimize.Bounds


@dataclass(frozen=True, eq=False)
class Suppression:
    """A suppression pattern.

    Parameters
    ----------
    hidden : (n_cells,) array of bool
        Suppressed cells, the sensitive ones among them.
    cost : float
        Summed weights of the suppressed cells.
    bound : float
        No pattern that meets the demands has a smaller cost. Without time for a bound it is the sensitive cells' cost.
    """

    hidden: Mask
    cost: float
    bound: float

    @property
    def gap(self) -> float:
        """Largest possible excess over the optimal cost, as a share of the cost."""
        return 0.0 if self.cost <= self.bound else (self.cost - self.bound) / self.cost


def suppress_cells(
    cells: LinkedCells,
    sensitive: Mask,
    demands: Sequence[Demand],
    weights: Floats,
    *,
    seconds: float = 10.0,
) -> Suppression:
    """Suppress further cells until every demand holds against all linked tables together.

    For each demand a program finds another table with the demanded value. It differs from the true one in few and light
    cells, which are suppressed. Then cells that no demand needs are published again. The rest of the time is spent on
    the exact method with cuts from the adversary's dual programs, see `improve_pattern`.

    Parameters
    ----------
    cells : LinkedCells
        All cells of the release.
    sensitive : (n_cells,) array of bool
        Cells of the primary suppression.
    demands : sequence of Demand
        Protection levels of the sensitive cells.
    weights : (n_cells,) array
        Cost of suppressing each cell, above 0.
    seconds : float
        Time for the exact method; 0 skips it.

    Returns
    -------
    Suppression
        Pattern, cost and bound.

    Raises
    ------
    FailedError
        If suppressing all cells does not meet a demand.

    References
    ----------
    J. P. Kelly, B. L. Golden, A. A. Assad, "Cell suppression: disclosure protection for sensitive tabular data",
    Networks 22, 1992. M. Fischetti & J. J. Salazar Gonzalez, Management Science 47(7), 2001.
    """
    tables = OtherTables(cells)
    hidden = _add_complements(tables, sensitive, demands, weights)
    if seconds > 0 and demands:
        return improve_pattern(tables, sensitive, demands, weights, hidden, seconds=seconds)
    return Suppression(hidden, float(weights[hidden].sum()), float(weights[sensitive].sum()))


def _add_complements(tables: OtherTables, sensitive: Mask, demands: Sequence[Demand], weights: Floats) -> Mask:
    """Suppress what the demands need, the largest first, and publish again what none of them needs."""
    hidden = sensitive.copy()
    ordered = sorted(demands, key=lambda demand: -abs(demand.amount))
    witnesses: list[Mask] = []
    for demand in ordered:
        changed = tables.find(demand, hidden, weights)
        if changed is None:
            raise FailedError(
                "a sensitive cell is not protected even if all cells are suppressed; expected lower protection levels "
                "or coarser tables"
            )
        hidden |= changed
        witnesses.append(changed)
    extra = np.flatnonzero(hidden & ~sensitive)
    for cell in extra[np.argsort(-weights[extra], kind="stable")]:
        trial = hidden.copy()
        trial[cell] = False
        renewed: dict[int, Mask] = {}
        for number, changed in enumerate(witnesses):
            if changed[cell]:
                replacement = tables.find(ordered[number], trial)
                if replacement is None:
                    break
                renewed[number] = replacement
        else:
            hidden = trial
            witnesses = [renewed.get(number, changed) for number, changed in enumerate(witnesses)]
    return hidden


class OtherTables:
    """Tables that a search found. An adversary cannot exclude one if the cells in which it differs are suppressed.

    Parameters
    ----------
    cells : LinkedCells
        All cells of the release.
    """

    def __init__(self, cells: LinkedCells) -> None:
        self.cells = cells
        self.atoms = np.zeros((0, len(cells.atoms)))
        self.deviations = np.zeros((0, cells.n_cells))
        self.changed = np.zeros((0, cells.n_cells), dtype=bool)

    def find(self, demand: Demand, hidden: Mask, weights: Floats | None = None) -> Mask | None:
        """Return the cells in which a table with the demanded value differs from the true one, None without a table.

        Parameters
        ----------
        demand : Demand
            Cell and its other value.
        hidden : (n_cells,) array of bool
            Suppressed cells. Differences of these cost nothing.
        weights : (n_cells,) array, optional
            Cost of a difference of one in each other cell; by default only suppressed cells may differ.
        """
        changed = self.recall(demand, hidden)
        if changed is not None:
            return changed
        atoms = self._search(demand, hidden, weights)
        if atoms is None:
            return None
        self.atoms = np.vstack([self.atoms, atoms])
        self.deviations = np.vstack([self.deviations, self.cells.rows @ atoms - self.cells.values])
        self.changed = np.vstack([self.changed, self.cells.differ(atoms)])
        return np.asarray(self.changed[-1])

    def recall(self, demand: Demand, hidden: Mask) -> Mask | None:
        """Return the cells in which a table of an earlier search meets a demand, None without such a table."""
        for number in np.flatnonzero(~(self.changed & ~hidden).any(axis=1)):
            reached = self.deviations[number, demand.cell] / demand.amount
            atoms, bounds = self.atoms[number], demand.knowledge
            if reached >= 1 - SOLVER_SLACK and (atoms >= bounds.lb).all() and (atoms <= bounds.ub).all():
                return np.asarray(self.changed[number])
        return None

    def _search(self, demand: Demand, hidden: Mask, weights: Floats | None) -> Floats | None:
        """Return a table, for counts an integral one: first among the cells that the linear program changes."""
        atoms = self._solve(demand, hidden, weights, integer=False)
        if atoms is None or not self.cells.integer:
            return atoms
        if np.abs(atoms - np.round(atoms)).max() <= SOLVER_SLACK:
            return np.asarray(np.round(atoms))
        if weights is not None:
            nearby = self._solve(demand, hidden | self.cells.differ(atoms), None, integer=True)
            if nearby is not None:
                return nearby
        return self._solve(demand, hidden, weights, integer=True)

    def _solve(self, demand: Demand, hidden: Mask, weights: Floats | None, *, integer: bool) -> Floats | None:
        cells, n_atoms = self.cells, len(self.cells.atoms)
        free = np.flatnonzero(~hidden) if weights is not None else np.array([], dtype=np.int64)
        costs = weights[free] if weights is not None else np.array([])
        slack = sp.csr_array((np.ones(len(free)), (free, np.arange(len(free)))), shape=(cells.n_cells, len(free)))
        low, high = cells.limits(hidden)
        end = cells.values[demand.cell] + demand.amount
        low[demand.cell], high[demand.cell] = (end, np.inf) if demand.amount > 0 else (low[demand.cell], end)
        capacity = np.maximum(cells.values - cells.low, 0.0)[free]
        program = Program(
            sp.hstack([cells.rows, -slack, slack], format="csr"), low, high,
            np.concatenate([demand.knowledge.lb, np.zeros(2 * len(free))]),
            np.concatenate([demand.knowledge.ub, np.full(len(free), np.inf), capacity]),
            np.arange(n_atoms + 2 * len(free)) < n_atoms * integer, MAX_SEARCH_SECONDS,
        )  # fmt: skip
        x = program.maximize(-np.concatenate([np.zeros(n_atoms), costs, costs])).x
        if x is None:
            return None
        atoms = np.clip(x[:n_atoms], demand.knowledge.lb, demand.knowledge.ub)
        return np.asarray(np.round(atoms) if integer else atoms)


# --- exact method -----------------------------------------------------------------------------------------------------


def improve_pattern(
    tables: OtherTables,
    sensitive: Mask,
    demands: Sequence[Demand],
    weights: Floats,
    hidden: Mask,
    *,
    seconds: float,
) -> Suppression:
    """Search the cheapest pattern with Benders cuts, starting from a pattern that meets the demands.

    A master program chooses a pattern. For a demand that the pattern misses, the dual of the adversary's linear program
    is a linear condition on all patterns. It is added, and the master is solved again. The master's bound is always
    valid, also for counts: values that are feasible as integers are feasible for the linear program.

    Parameters
    ----------
    tables : OtherTables
        Tables found so far.
    sensitive, demands, weights : as in `suppress_cells`
    hidden : (n_cells,) array of bool
        A pattern that meets the demands.
    seconds : float
        Time limit.

    Returns
    -------
    Suppression
        The best pattern found, and the largest lower bound.
    """
    end = time.monotonic() + seconds
    cells, incumbent, bound = tables.cells, hidden, float(weights[sensitive].sum())
    cuts = [sensitive / max(sensitive.sum(), 1)]
    while (left := end - time.monotonic()) > 0 and bound < weights[incumbent].sum() * (1 - SOLVER_SLACK):
        conditions = sp.csr_array(np.array(cuts))
        master = Program(conditions, 1.0 - SOLVER_SLACK, np.inf, sensitive.astype(float), 1.0, seconds=left)
        optimum = master.maximize(-weights)
        bound = max(bound, -optimum.bound)
        if optimum.x is None or optimum.status != "solved":
            break
        pattern = optimum.x > 0.5
        repaired, n_cuts = pattern.copy(), len(cuts)
        for demand in demands:
            cut = separate(cells, pattern, demand) if tables.recall(demand, pattern) is None else None
            cuts += [] if cut is None else [cut]
            changed = tables.find(demand, repaired, weights)
            repaired |= True if changed is None else changed  # None: a limit of the solver
            if time.monotonic() > end:
                break
        else:
            if weights[repaired].sum() < weights[incumbent].sum():
                incumbent = repaired
        if len(cuts) == n_cuts and (repaired != pattern).any():  # feasible for reals, not for integers
            cuts.append((~pattern).astype(float))
    cost = float(weights[incumbent].sum())
    return Suppression(incumbent, cost, bound if bound < cost * (1 - SOLVER_SLACK) else cost)


def separate(cells: LinkedCells, pattern: Mask, demand: Demand) -> Floats | None:
    """Return a condition `coefficients @ pattern >= 1` that all patterns meeting a demand fulfil.

    With multipliers alpha, beta of the upper and lower limits of the cells and gamma of the atoms, the adversary's
    largest deviation is sum_i (alpha_i U_i + beta_i L_i) y_i + gamma for the pattern y; it must reach the demand.
    L_i and U_i are the largest deviations of a suppressed cell; U_i is infinite.

    Parameters
    ----------
    cells : LinkedCells
        All cells of the release.
    demand : Demand
        Protection level.
    pattern : (n_cells,) array of bool
        Suppressed cells.

    Returns
    -------
    (n_cells,) array, or None if the pattern meets the demand
        Each coefficient is at most 1, which keeps the condition valid and makes it stronger.
    """
    row = np.sign(demand.amount) * cells.rows[[demand.cell]].toarray().ravel()
    published, width = np.flatnonzero(~pattern), np.maximum(cells.values - cells.low, 0.0)
    unit = find_unit(width, np.array([demand.amount]))
    amount, width = abs(demand.amount) / unit, width / unit
    down, up = (demand.knowledge.lb - cells.atoms) / unit, (demand.knowledge.ub - cells.atoms) / unit
    solve: Any = scipy.optimize.linprog  # bounds as an array are not in its stubs
    result = solve(
        -row,
        A_ub=sp.vstack([cells.rows[published], -cells.rows, sp.csr_array(row[None, :])]),
        b_ub=np.concatenate([np.zeros(len(published)), np.where(pattern, width, 0.0), [amount]]),
        bounds=np.column_stack([down, up]),
        method="highs",
    )
    if result.status != 0 or -result.fun >= amount * (1 - SOLVER_SLACK):
        return None
    alpha, beta = np.zeros(cells.n_cells), -result.ineqlin.marginals[len(published) : -1]
    alpha[published] = -result.ineqlin.marginals[: len(published)]
    missing = amount + _dot(result.lower.marginals, down) + _dot(result.upper.marginals, up)
    coefficients = np.where(alpha > MULTIPLIER_ROUNDING, 1.0, np.maximum(beta, 0.0) * width / missing)
    return np.minimum(coefficients, 1.0)


def _dot(marginals: Any, bounds: Floats) -> float:
    """Return the sum of products; a bound without effect may be infinite."""
    used = marginals != 0
    return float(marginals[used] @ bounds[used])
