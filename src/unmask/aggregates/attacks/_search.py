"""Depth-first search for all counts of a system of intervals, compiled. Import it in the function that runs it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import allocating, inner

Ints = NDArray[np.int64]


class Links(NamedTuple):
    """Cells of each row and rows of each cell, and the bounds of the rows.

    row_start, row_cell : cells of row r are row_cell[row_start[r]:row_start[r + 1]]
    cell_start, cell_row : the same for the rows of a cell
    row_low, row_high : inclusive bounds of the sum of each row
    """

    row_start: Ints
    row_cell: Ints
    cell_start: Ints
    cell_row: Ints
    row_low: Ints
    row_high: Ints


class State(NamedTuple):
    """Bounds of the cells, and what undoes their changes.

    low, high : bounds of each cell
    least, greatest : sums of these over each row
    trail : (cell, low, high) before each change
    queue, queued : rows to propagate, and whether a row is among them
    size : length of the trail, first row of the queue, and rows of the queue
    """

    low: Ints
    high: Ints
    least: Ints
    greatest: Ints
    trail: NDArray[np.int64]
    queue: Ints
    queued: Ints
    size: Ints


@inner
def set_bounds(links: Links, state: State, cell: int, low: int, high: int) -> None:
    """Change the bounds of a cell, and queue its rows."""
    size = state.size
    if size[0] < len(state.trail):
        state.trail[size[0], 0], state.trail[size[0], 1], state.trail[size[0], 2] = (
            cell,
            state.low[cell],
            state.high[cell],
        )
    size[0] += 1
    for place in range(links.cell_start[cell], links.cell_start[cell + 1]):
        row = links.cell_row[place]
        state.least[row] += low - state.low[cell]
        state.greatest[row] += high - state.high[cell]
        if state.queued[row] == 0:
            state.queued[row] = 1
            state.queue[(size[1] + size[2]) % len(state.queue)] = row
            size[2] += 1
    state.low[cell], state.high[cell] = low, high


@inner
def propagate(links: Links, state: State) -> bool:
    """Tighten bounds until no row changes them; False if a row has no solution."""
    size, feasible = state.size, True
    while size[2] > 0:
        row = state.queue[size[1]]
        size[1] = (size[1] + 1) % len(state.queue)
        size[2] -= 1
        state.queued[row] = 0
        if not feasible:
            continue
        above = links.row_high[row] - state.least[row]
        below = state.greatest[row] - links.row_low[row]
        if above < 0 or below < 0:
            feasible = False
            continue
        for place in range(links.row_start[row], links.row_start[row + 1]):
            cell = links.row_cell[place]
            low, high = state.low[cell], state.high[cell]
            if high - low > above or high - low > below:
                new_low, new_high = max(low, high - below), min(high, low + above)
                if new_low > new_high:
                    feasible = False
                    break
                set_bounds(links, state, cell, new_low, new_high)
                above = links.row_high[row] - state.least[row]
                below = state.greatest[row] - links.row_low[row]
    return feasible


@inner
def undo(links: Links, state: State, length: int) -> None:
    """Take back all changes after the trail had a length."""
    while state.size[0] > length:
        state.size[0] -= 1
        cell = state.trail[state.size[0], 0]
        low, high = state.trail[state.size[0], 1], state.trail[state.size[0], 2]
        for place in range(links.cell_start[cell], links.cell_start[cell + 1]):
            row = links.cell_row[place]
            state.least[row] += low - state.low[cell]
            state.greatest[row] += high - state.high[cell]
        state.low[cell], state.high[cell] = low, high


@allocating
def make_state(links: Links, low: Ints, high: Ints) -> State:
    """Return the state of cells with these bounds, which it shares; all rows are queued."""
    n_rows, n_cells = len(links.row_low), len(low)
    least, greatest = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64)
    for row in range(n_rows):
        for place in range(links.row_start[row], links.row_start[row + 1]):
            least[row] += low[links.row_cell[place]]
            greatest[row] += high[links.row_cell[place]]
    trail = np.zeros((64 * n_cells + 65536, 3), np.int64)
    size = np.zeros(3, np.int64)
    size[2] = n_rows
    return State(low, high, least, greatest, trail, np.arange(n_rows), np.ones(n_rows, np.int64), size)


@allocating
def tighten(links: Links, low: Ints, high: Ints) -> bool:
    """Tighten the bounds of cells in place until no row changes them; False if a row has no solution."""
    state = make_state(links, low, high)
    return propagate(links, state)


@allocating
def enumerate_counts(
    links: Links, low: Ints, high: Ints, solutions: NDArray[np.int32], max_nodes: int
) -> tuple[int, float]:
    """Write all counts that fulfil the system, until `solutions` is full.

    low, high : bounds of the cells, changed in place
    solutions : (at most, cells)
    max_nodes : branches to search

    Returns the number of solutions, and the share of the search tree that was searched: 1 if all solutions are found.
    """
    state = make_state(links, low, high)
    decisions = np.zeros((len(state.trail), 3), np.int64)
    masses = np.zeros(len(decisions))
    depth, found, nodes, mass, searched = 0, 0, 0, 1.0, 0.0
    feasible = propagate(links, state)
    while True:
        if feasible:
            cell, width = -1, 0
            for candidate in range(len(low)):
                difference = high[candidate] - low[candidate]
                if difference > 0 and (cell < 0 or difference < width):
                    cell, width = candidate, difference
                    if width == 1:
                        break
            if cell >= 0:
                nodes += 1
                if nodes > max_nodes or depth + 1 >= len(decisions) or state.size[0] + len(low) >= len(state.trail):
                    return found, searched
                mass *= 0.5
                decisions[depth, 0], decisions[depth, 1], decisions[depth, 2] = state.size[0], cell, low[cell]
                masses[depth] = mass
                depth += 1
                set_bounds(links, state, cell, low[cell], low[cell])
                feasible = propagate(links, state)
                if feasible:
                    continue
            else:
                for position in range(len(low)):
                    solutions[found, position] = low[position]
                found += 1
                if found == len(solutions):
                    return found, searched
        searched += mass
        if depth == 0:
            return found, 1.0
        depth -= 1
        undo(links, state, decisions[depth, 0])
        mass, cell = masses[depth], decisions[depth, 1]
        set_bounds(links, state, cell, decisions[depth, 2] + 1, high[cell])
        feasible = propagate(links, state)
