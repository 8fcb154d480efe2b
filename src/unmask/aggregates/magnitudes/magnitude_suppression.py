"""Suppression of magnitude tables, and the intervals that outsiders and contributors compute for suppressed cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from unmask.aggregates.magnitudes.sensitivity import SensitivityRule
from unmask.aggregates.programs import Floats, Mask
from unmask.aggregates.protections.complementary_suppression import Demand, OtherTables, Suppression, suppress_cells
from unmask.aggregates.protections.linked_cells import LinkedCells, outsider
from unmask.core.errors import UnmaskError


@dataclass(frozen=True, eq=False)
class MagnitudeCells:
    """Cells of magnitude tables, and who contributes to them.

    Parameters
    ----------
    rows : (n_cells, n_atoms) sparse array
        1 where an atom is part of a cell. Atoms below a published zero are left out, and so are cells of zero.
    contributions : (n_atoms, n_holdings) sparse array
        Contribution of each holding to each atom, at least 0. Respondents of one enterprise are one holding.
    """

    rows: Any
    contributions: Any

    @classmethod
    def build(
        cls, rows: Any, atom: NDArray[np.int64], magnitude: Floats, holding: ArrayLike
    ) -> tuple[MagnitudeCells, Mask]:
        """Add up the contributions of records.

        Parameters
        ----------
        rows : (n_cells, n_atoms) sparse array
            1 where an atom is part of a cell.
        atom : (n_records,) array of int
            Atom of each record.
        magnitude : (n_records,) array
            Contribution of each record, at least 0.
        holding : (n_records,) array
            Holding of each record.

        Returns
        -------
        cells : MagnitudeCells
            Cells above 0.
        positive : (n_cells,) array of bool
            Cells above 0.
        """
        if not (np.isfinite(magnitude) & (magnitude >= 0)).all():
            raise UnmaskError(
                "a magnitude is negative, missing or infinite, expected numbers of at least 0; rules of dominance are "
                "defined for these"
            )
        names, number = np.unique(np.asarray(holding), return_inverse=True)
        contributions = sp.coo_array((magnitude, (atom, number)), shape=(rows.shape[1], len(names))).tocsr()
        contributions.eliminate_zeros()
        positive = rows @ contributions.sum(axis=1) > 0
        possible = np.flatnonzero(rows[~positive].sum(axis=0) == 0)
        return cls(rows[positive][:, possible], contributions[possible]), positive

    @property
    def by_cell(self) -> Any:
        """Contribution of each holding to each cell: (n_cells, n_holdings) sparse array."""
        return sp.csr_array(self.rows @ self.contributions)

    def rank(self, n: int) -> tuple[Floats, NDArray[np.int64]]:
        """Return the n largest contributions to each cell and their holdings, 0 and -1 where there are fewer."""
        table = self.by_cell.tocoo()
        order = np.lexsort((-table.data, table.row))
        row = table.row[order]
        position = np.arange(len(row)) - np.searchsorted(row, row)
        first = position < n
        largest, holders = np.zeros((table.shape[0], n)), np.full((table.shape[0], n), -1)
        largest[row[first], position[first]] = table.data[order][first]
        holders[row[first], position[first]] = table.col[order][first]
        return largest, holders

    def knowledge(self, holding: int) -> scipy.optimize.Bounds:
        """Return what a holding knows of each atom: its own contribution, and that it is alone in an atom if it is.

        holding : number of the holding, -1 for an outsider
        """
        if holding < 0:
            return outsider(self.rows.shape[1])
        contribution = self.contributions[:, [holding]].toarray().ravel()
        is_alone = (contribution > 0) & (np.diff(self.contributions.indptr) == 1)
        return scipy.optimize.Bounds(contribution, np.where(is_alone, contribution, np.inf))

    def linked(self) -> LinkedCells:
        """Return the cells without contributors."""
        return LinkedCells(self.rows, self.contributions.sum(axis=1), np.zeros(self.rows.shape[0]), integer=False)


@dataclass(frozen=True, eq=False)
class MagnitudeSuppression:
    """Suppressed cells of magnitude tables.

    Parameters
    ----------
    pattern : Suppression
        Suppressed cells, cost and bound.
    levels : (n_cells,) array
        Protection level of each cell; sensitive cells are above 0.
    """

    pattern: Suppression
    levels: Floats


def suppress_magnitudes(
    cells: MagnitudeCells, rule: SensitivityRule, *, weights: Floats | None = None, seconds: float = 10.0
) -> MagnitudeSuppression:
    """Suppress sensitive cells, and further ones that protect them against contributors and outsiders.

    The upper protection level of a cell must hold against its second largest contributor, and against holdings that are
    alone in a suppressed cell. The lower level, of the same size, must hold against outsiders.

    Parameters
    ----------
    cells : MagnitudeCells
        All cells of the release.
    rule : SensitivityRule
        Rule of primary suppression.
    weights : (n_cells,) array, optional
        Cost of suppressing each cell; by default its value.
    seconds : float
        Time to improve the pattern and to prove its gap.

    Returns
    -------
    MagnitudeSuppression

    Raises
    ------
    FailedError
        If suppressing all cells is not enough.

    References
    ----------
    A. Hundepool et al., "Statistical Disclosure Control", Wiley 2012, sections 4.2 to 4.4.
    """
    largest, holders = cells.rank(rule.n_largest)
    linked, counts = cells.linked(), np.diff(cells.by_cell.indptr)
    levels = rule.protection_levels(largest, linked.values, counts)
    sensitive = levels > 0
    costs = linked.values if weights is None else weights
    demands: list[Demand] = []
    for cell in np.flatnonzero(sensitive):
        lower = min(levels[cell], linked.values[cell])
        demands.append(Demand(int(cell), levels[cell], cells.knowledge(holders[cell, 1])))
        demands.append(Demand(int(cell), -lower, outsider(len(linked.atoms))))
    while True:
        pattern = suppress_cells(linked, sensitive, demands, costs, seconds=seconds)
        tables, lone_demands = OtherTables(linked), _list_lone_demands(cells, levels, pattern.hidden)
        missed = [demand for demand in lone_demands if tables.find(demand, pattern.hidden) is None]
        if not missed:
            return MagnitudeSuppression(pattern, levels)
        demands += missed


def _list_lone_demands(cells: MagnitudeCells, levels: Floats, hidden: Mask) -> Iterator[Demand]:
    """Yield the upper levels against holdings that are alone in a suppressed cell."""
    table, (_, holders) = cells.by_cell, cells.rank(2)
    lone_cells = np.flatnonzero(hidden & (np.diff(table.indptr) == 1))
    for holding in np.unique(holders[lone_cells, 0]):
        knowledge = cells.knowledge(int(holding))
        for cell in np.flatnonzero((levels > 0) & (holders != holding).all(axis=1)):
            yield Demand(int(cell), levels[cell], knowledge)


def feasible_interval(cells: MagnitudeCells, hidden: Mask, cell: int, holding: int = -1) -> tuple[float, float]:
    """Return the smallest and the largest value of a cell over all contributions that agree with a release.

    Parameters
    ----------
    cells : MagnitudeCells
        All cells of the release.
    hidden : (n_cells,) array of bool
        Suppressed cells.
    cell : int
        Number of the cell.
    holding : int
        Holding that knows its own contributions; -1 for an outsider.

    Returns
    -------
    low, high : float
        Infinity without an upper end.

    References
    ----------
    M. Fischetti & J. J. Salazar Gonzalez, "Solving the cell suppression problem on tabular data with linear
    constraints", Management Science 47(7), 2001.
    """
    linked, knowledge = cells.linked(), cells.knowledge(holding)
    ends = [linked.maximize(cell, sign, hidden, knowledge) for sign in (-1.0, 1.0)]
    low_end, high_end = (end.value if end.status == "solved" else np.inf for end in ends)
    return max(-low_end, 0.0), high_end


@dataclass(frozen=True, eq=False)
class MagnitudeAudit:
    """Intervals of suppressed cells, and how precisely contributors are estimated.

    Parameters
    ----------
    cells : (n,) array of int
        Suppressed cells.
    outside : (n, 2) array
        Interval of the cell for an outsider.
    inside : (n, 2) array
        Interval of the cell for its second largest contributor, or an outsider without one.
    excess : (n,) array
        Percent by which the second largest contributor overestimates the largest one, at most. An estimate within p
        percent discloses.
    """

    cells: NDArray[np.int64]
    outside: Floats
    inside: Floats
    excess: Floats


def audit_magnitudes(cells: MagnitudeCells, hidden: Mask) -> MagnitudeAudit:
    """Compute what an outsider and the two largest contributors learn about each suppressed cell.

    Parameters
    ----------
    cells : MagnitudeCells
        All cells of the release.
    hidden : (n_cells,) array of bool
        Suppressed cells.

    Returns
    -------
    MagnitudeAudit
    """
    (largest, holders), chosen = cells.rank(2), np.flatnonzero(hidden)
    outside, inside = (
        np.array([feasible_interval(cells, hidden, *pair) for pair in pairs]).reshape(-1, 2)
        for pairs in ([(cell, -1) for cell in chosen.tolist()], zip(chosen.tolist(), holders[chosen, 1], strict=True))
    )
    first, second = largest[chosen].T
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = 100 * ((inside[:, 1] - second) / first - 1)
    return MagnitudeAudit(chosen, outside, inside, excess)
