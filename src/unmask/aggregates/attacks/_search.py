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


class NumberSums(NamedTuple):
    """Sums of the numbers of groups of a known number of people.

    start, cell, number : cells of group g are cell[start[g]:start[g + 1]], with these numbers
    people : people of each group
    low, high : bounds of the sum of each group
    """

    start: Ints
    cell: Ints
    number: NDArray[np.float64]
    people: Ints
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class State(NamedTuple):
    """Bounds of the cells, and what undoes their changes.

    low, high : bounds of each cell
    smallest, largest : sums of these over each row
    trail : (cell, low, high) before each change
    queue, queued : rows to propagate, and whether a row is among them
    size : length of the trail, first row of the queue, and rows of the queue
    """

    low: Ints
    high: Ints
    smallest: Ints
    largest: Ints
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
        state.smallest[row] += low - state.low[cell]
        state.largest[row] += high - state.high[cell]
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
        slack_up = links.row_high[row] - state.smallest[row]
        slack_down = state.largest[row] - links.row_low[row]
        if slack_up < 0 or slack_down < 0:
            feasible = False
            continue
        for place in range(links.row_start[row], links.row_start[row + 1]):
            cell = links.row_cell[place]
            low, high = state.low[cell], state.high[cell]
            if high - low > slack_up or high - low > slack_down:
                new_low, new_high = max(low, high - slack_down), min(high, low + slack_up)
                if new_low > new_high:
                    feasible = False
                    break
                set_bounds(links, state, cell, new_low, new_high)
                slack_up = links.row_high[row] - state.smallest[row]
                slack_down = state.largest[row] - links.row_low[row]
    return feasible


@inner
def limit_by_sums(links: Links, sums: NumberSums, state: State) -> bool:
    """Forbid one more person in cells with which no choice of the other people of a group has its sum.

    Returns False if the people of a group have another sum.
    """
    for group in range(len(sums.people)):
        people, total, smallest, largest = sums.people[group], 0.0, np.inf, -np.inf
        for place in range(sums.start[group], sums.start[group + 1]):
            cell, number = sums.cell[place], sums.number[place]
            people -= state.low[cell]
            total += state.low[cell] * number
            if state.high[cell] > state.low[cell]:
                smallest, largest = min(smallest, number), max(largest, number)
        if people <= 0:
            if total < sums.low[group] or total > sums.high[group]:
                return False
            continue
        for place in range(sums.start[group], sums.start[group + 1]):
            cell = sums.cell[place]
            with_cell = total + sums.number[place]
            is_possible = with_cell + (people - 1) * smallest <= sums.high[group]
            is_possible = is_possible and with_cell + (people - 1) * largest >= sums.low[group]
            if state.high[cell] > state.low[cell] and not is_possible:
                set_bounds(links, state, cell, state.low[cell], state.low[cell])
    return True


@inner
def narrow(links: Links, sums: NumberSums, state: State) -> bool:
    """Tighten bounds by rows and sums until neither changes them; False if there is no solution."""
    feasible = propagate(links, state)
    while feasible and len(sums.people) > 0:
        feasible = limit_by_sums(links, sums, state)
        if state.size[2] == 0:
            break
        feasible = propagate(links, state) and feasible
    return feasible


@inner
def choose_cell(sums: NumberSums, low: Ints, high: Ints) -> int:
    """Return an open cell to branch on, -1 without one: of the group with the fewest open cells, or a narrow one."""
    chosen, fewest = -1, np.iinfo(np.int64).max
    for group in range(len(sums.people)):
        first, n_open = -1, 0
        for place in range(sums.start[group], sums.start[group + 1]):
            if high[sums.cell[place]] > low[sums.cell[place]]:
                first = sums.cell[place] if first < 0 else first
                n_open += 1
        if 0 < n_open < fewest:
            chosen, fewest = first, n_open
    if chosen >= 0:
        return chosen
    width = 0
    for cell in range(len(low)):
        difference = high[cell] - low[cell]
        if difference > 0 and (chosen < 0 or difference < width):
            chosen, width = cell, difference
            if width == 1:
                break
    return chosen


@inner
def undo(links: Links, state: State, length: int) -> None:
    """Take back all changes after the trail had a length."""
    while state.size[0] > length:
        state.size[0] -= 1
        cell = state.trail[state.size[0], 0]
        low, high = state.trail[state.size[0], 1], state.trail[state.size[0], 2]
        for place in range(links.cell_start[cell], links.cell_start[cell + 1]):
            row = links.cell_row[place]
            state.smallest[row] += low - state.low[cell]
            state.largest[row] += high - state.high[cell]
        state.low[cell], state.high[cell] = low, high


@allocating
def make_state(links: Links, low: Ints, high: Ints) -> State:
    """Return the state of cells with these bounds, which it shares; all rows are queued."""
    n_rows, n_cells = len(links.row_low), len(low)
    smallest, largest = np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64)
    for row in range(n_rows):
        for place in range(links.row_start[row], links.row_start[row + 1]):
            smallest[row] += low[links.row_cell[place]]
            largest[row] += high[links.row_cell[place]]
    trail = np.zeros((64 * n_cells + 65536, 3), np.int64)
    size = np.zeros(3, np.int64)
    size[2] = n_rows
    return State(low, high, smallest, largest, trail, np.arange(n_rows), np.ones(n_rows, np.int64), size)


@allocating
def tighten(links: Links, low: Ints, high: Ints) -> bool:
    """Tighten the bounds of cells in place until no row changes them; False if a row has no solution."""
    state = make_state(links, low, high)
    return propagate(links, state)


@allocating
def enumerate_counts(
    links: Links, sums: NumberSums, low: Ints, high: Ints, solutions: NDArray[np.int32], max_nodes: int
) -> tuple[int, float]:
    """Write all counts that fulfil the system, until `solutions` is full.

    sums : sums of numbers that the counts have, too
    low, high : bounds of the cells, changed in place
    solutions : (at most, cells)
    max_nodes : branches to search

    Returns the number of solutions, and the share of the search tree that was searched: 1 if all solutions are found.
    """
    state = make_state(links, low, high)
    decisions = np.zeros((len(state.trail), 3), np.int64)
    masses = np.zeros(len(decisions))
    depth, n_found, nodes, mass, searched = 0, 0, 0, 1.0, 0.0
    feasible = narrow(links, sums, state)
    while True:
        if feasible:
            cell = choose_cell(sums, low, high)
            if cell >= 0:
                nodes += 1
                if nodes > max_nodes or depth + 1 >= len(decisions) or state.size[0] + len(low) >= len(state.trail):
                    return n_found, searched
                mass *= 0.5
                decisions[depth, 0], decisions[depth, 1], decisions[depth, 2] = state.size[0], cell, low[cell]
                masses[depth] = mass
                depth += 1
                set_bounds(links, state, cell, low[cell], low[cell])
                feasible = narrow(links, sums, state)
                if feasible:
                    continue
            else:
                for position in range(len(low)):
                    solutions[n_found, position] = low[position]
                n_found += 1
                if n_found == len(solutions):
                    return n_found, searched
        searched += mass
        if depth == 0:
            return n_found, 1.0
        depth -= 1
        undo(links, state, decisions[depth, 0])
        mass, cell = masses[depth], decisions[depth, 1]
        set_bounds(links, state, cell, decisions[depth, 2] + 1, high[cell])
        feasible = narrow(links, sums, state)
