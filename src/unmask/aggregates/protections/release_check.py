"""Intervals of the cells of a release, as an adversary with all its tables computes them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unmask.aggregates.attacks.systems import MAX_FREE_COUNT, reduce_system
from unmask.aggregates.domain import Domain
from unmask.aggregates.programs import Floats, Program, floor_bound
from unmask.aggregates.release import AggregateRelease, group_matrix
from unmask.core.errors import FailedError

MIN_REACHED: Final = 0.02
"""Share of the open ends. A program that reaches fewer of them together is followed by a program for one end."""


def compute_intervals(
    release: AggregateRelease, area: int, cells: NDArray[np.int64], *, seconds: float = np.inf
) -> Floats:
    """Return the smallest and the largest count of cells over all counts that agree with all tables of an area.

    A solution shows that a count is possible, and a program shows that no larger one is. Objectives with random weights
    reach many ends together; each of the others has its own program.

    Parameters
    ----------
    release : AggregateRelease
        Published tables.
    area : int
        Number of the area.
    cells : (n,) array of int
        Rows of `release.matrix`.
    seconds : float
        Time limit.

    Returns
    -------
    (n, 2) array
        Infinity without an upper end, nan for both ends if one of them was not found in time.

    Raises
    ------
    FailedError
        If no counts agree with the tables.

    References
    ----------
    M. Fischetti & J. J. Salazar Gonzalez, "Solving the cell suppression problem on tabular data with linear
    constraints", Management Science 47(7), 2001.
    """
    stop, rng = time.monotonic() + seconds, np.random.default_rng(0)  # random weights change the time only
    margins = list_margins(release, area)
    rows = margins.rows[cells]
    low, high = (ends[cells].astype(np.float64) for ends in release.bounds(area))
    bounds = np.stack([-low, np.where(high > MAX_FREE_COUNT, np.inf, high)])  # of the negative count, and of the count
    attained, is_stopped, has_local = np.full(bounds.shape, -np.inf), np.zeros(bounds.shape, dtype=bool), False
    reached = 1.0
    while (is_open := (attained < bounds) & ~is_stopped).any() and time.monotonic() < stop:
        if reached >= MIN_REACHED:
            weights = is_open * 10 ** rng.uniform(-3, 0, is_open.shape) * (rng.random(len(cells)) < [[0.5], [0.5]])
            end = None
        elif not has_local:
            has_local, reached = True, 1.0
            _limit_by_category(margins, rows, bounds, is_open)
            continue
        else:
            end, weights = tuple(np.argwhere(is_open)[0]), np.zeros(bounds.shape)
            weights[end] = 1.0
        optimum = margins.program.maximize(rows.T @ (weights[1] - weights[0]))
        if optimum.status == "infeasible":
            raise FailedError("no counts agree with the tables, expected the true ones; check the rule")
        if optimum.x is not None:
            sums = rows @ np.rint(optimum.x)
            attained = np.maximum(attained, [-sums, sums])
        if end is not None:
            bounds[end] = min(bounds[end], floor_bound(optimum.bound))
            is_stopped[end] = attained[end] < bounds[end]
        bounds = np.where(attained >= MAX_FREE_COUNT, attained, bounds)
        reached = float(1 - ((attained < bounds) & is_open).sum() / is_open.sum())
    ends = np.stack([-bounds[0], np.where(bounds[1] >= MAX_FREE_COUNT, np.inf, bounds[1])], axis=1)
    ends[(attained < bounds).any(axis=0)] = np.nan
    return ends


# --- margins ----------------------------------------------------------------------------------------------------------


class Margins(NamedTuple):
    """Unknown counts of an area on the cliques of a decomposable model.

    rows : (n_rows, n_counts) sparse array, 1 where a count is part of a cell of the release
    program : the counts as integer variables
    category : (n_counts,) category of each count in a column that all cliques have, 0 without such a column
    """

    rows: Any
    program: Program
    category: NDArray[np.int64]


def list_cliques(domain: Domain, column_sets: Iterable[Iterable[str]]) -> list[tuple[str, ...]]:
    """Return the cliques of a decomposable model that contains each set of columns, in reverse order of elimination.

    The columns of a set are neighbors in a graph. Columns are eliminated one after the other, that with the fewest
    cells of its clique first.

    Examples
    --------
    >>> domain = Domain({name: ("0", "1") for name in "abc"})
    >>> list_cliques(domain, [("a", "b"), ("b", "c")])
    [('b', 'c'), ('a', 'b')]
    """
    sets = [{*columns} for columns in column_sets]
    neighbors: dict[str, set[str]] = {
        name: set().union(*(columns for columns in sets if name in columns), {name}) for name in domain.columns
    }
    neighbors = {name: near for name, near in neighbors.items() if any(name in columns for columns in sets)}
    cliques: list[set[str]] = []
    while neighbors:
        column = min(neighbors, key=lambda name: domain.size(tuple(neighbors[name])))
        clique = neighbors.pop(column)
        for neighbor in clique - {column}:
            neighbors[neighbor] = (neighbors[neighbor] | clique) - {column}
        if not any(clique <= larger for larger in cliques):
            cliques.append(clique)
    return [tuple(name for name in domain.columns if name in clique) for clique in reversed(cliques)] or [()]


def list_margins(release: AggregateRelease, area: int) -> Margins:
    """Return the system of an area on cliques of columns in place of the cross of all columns.

    Counts on cliques that agree on their intersections are margins of counts on the cross (A. Dobra & S. Fienberg,
    "Bounds for cell entries in contingency tables given marginal totals and decomposable graphs", PNAS 97, 2000). So
    both systems have the same intervals.
    """
    domain, tables = release.domain, release.by_area
    cliques = list_cliques(domain, [table.base_columns for table in tables])
    sizes = [domain.size(clique) for clique in cliques]
    clique_of = [next(i for i, clique in enumerate(cliques) if {*table.base_columns} <= {*clique}) for table in tables]
    rows = _stack([(table.matrix(domain, cliques[i]), i) for table, i in zip(tables, clique_of, strict=True)], sizes)
    system = reduce_system(rows, *release.bounds(area))
    if not system.is_feasible:
        raise FailedError("no counts agree with the tables, expected the true ones; check the rule")
    links = sp.vstack([_agree(domain, cliques, sizes, i) for i in range(1, len(cliques))] or [rows[:0]], format="csr")
    program, zeros = system.program, np.zeros(links.shape[0])
    linked = Program(
        sp.vstack([program.matrix, links[:, system.cells]], format="csr"),
        np.concatenate([program.row_low, zeros]), np.concatenate([program.row_high, zeros]), program.low, program.high,
    )  # fmt: skip
    common = [name for name in domain.columns if all(name in clique for clique in cliques)]
    if not common:
        return Margins(rows[:, system.cells], linked, np.zeros(len(system.cells), dtype=np.int64))
    largest = max(common, key=lambda name: len(domain.categories[name]))
    categories = [
        np.indices([domain.size([name]) for name in clique])[clique.index(largest)].ravel() for clique in cliques
    ]
    return Margins(rows[:, system.cells], linked, np.concatenate(categories)[system.cells])


def _stack(parts: Iterable[tuple[Any, int]], sizes: list[int]) -> Any:
    """Return matrices of single cliques as one matrix over the counts of all cliques."""
    starts, blocks = np.cumsum([0, *sizes]), []
    for matrix, clique in parts:
        block = sp.coo_array(matrix)
        columns = block.col + starts[clique]
        blocks.append(sp.csr_array((block.data, (block.row, columns)), shape=(block.shape[0], starts[-1])))
    return sp.csr_array(sp.vstack(blocks))


def _agree(domain: Domain, cliques: list[tuple[str, ...]], sizes: list[int], number: int) -> Any:
    """Return the rows by which a clique agrees with an earlier one on all columns that it has in common with these."""
    earlier = max(range(number), key=lambda i: len({*cliques[i]} & {*cliques[number]}))
    common = tuple(name for name in cliques[number] if name in cliques[earlier])
    sums = [_stack([(group_matrix(common, {}, domain, cliques[i]), i)], sizes) for i in (number, earlier)]
    return sums[0] - sums[1]


def _limit_by_category(margins: Margins, rows: Any, bounds: Floats, is_open: NDArray[np.bool_]) -> None:
    """Lower the bounds of open ends by the rows of their category alone, a small program for each end."""
    program, category = margins.program, margins.category
    first, last = _category_range(program.matrix, category)
    row_first, row_last = _category_range(rows, category)
    for number in np.flatnonzero((row_first == row_last) & is_open.any(axis=0)).tolist():
        counts = category == row_first[number]
        members = np.flatnonzero((first == row_first[number]) & (last == row_first[number]))
        part = Program(
            program.matrix[members][:, counts], program.row_low[members], program.row_high[members],
            program.low[counts], program.high[counts],
        )  # fmt: skip
        row = rows[[number]].toarray().ravel()[counts]
        for end in np.flatnonzero(is_open[:, number]).tolist():
            bound = floor_bound(part.maximize((2 * end - 1) * row).bound)
            bounds[end, number] = min(bounds[end, number], bound)


def _category_range(matrix: Any, category: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the smallest and the largest category of the counts of each row; rows without counts are left out."""
    filled = np.flatnonzero(np.diff(matrix.indptr))
    ends = np.full((2, matrix.shape[0]), [[-1], [-2]], dtype=np.int64)
    if len(filled):
        ends[0, filled] = np.minimum.reduceat(category[matrix.indices], matrix.indptr[filled])
        ends[1, filled] = np.maximum.reduceat(category[matrix.indices], matrix.indptr[filled])
    return ends[0], ends[1]
