"""A Markov chain over the records of an area, compiled. Import it in the function that runs it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.attacks._search import Links
from unmask.compiled import allocating, inner

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


EVALUATIONS_PER_PROPOSAL = 1
"""Most values of records whose probabilities are computed after a draw, for each proposal before it."""


class Cross(NamedTuple):
    """Cells of a system in the cross of its columns.

    flat : (n_cells,) position of each cell in the cross
    place : (size of the cross,) cell at each position, -1 for a cell that is certainly empty
    strides, sizes : (n_columns,) distance of neighboring categories in the cross, and number of categories
    """

    flat: Ints
    place: Ints
    strides: Ints
    sizes: Ints


class Target(NamedTuple):
    """Logarithms of the prior and of the likelihood.

    log_prior : (n_cells,) for one person
    start : (n_rows,) place of the likelihood of the lowest count of each row in `log_likelihood`, -1 if it is constant
    log_likelihood : for the counts of each row from low to high
    """

    log_prior: Floats
    start: Ints
    log_likelihood: Floats


class Change(NamedTuple):
    """Moves of records that are not yet accepted.

    moves : record, old cell and new cell of each move, and the number of moves as the last item
    delta : (n_rows,) change of each row
    touched : rows of these cells, and their number as the last item
    is_touched : (n_rows,) 1 for these rows, which may have changed back
    """

    moves: Ints
    delta: Ints
    touched: Ints
    is_touched: Ints


@inner
def move_record(records: Ints, record: int, new: int, links: Links, change: Change) -> None:
    """Give a record another cell, and add the change to the rows. A cell of -1 is no record."""
    moves, touched, old = change.moves, change.touched, records[record]
    records[record] = new
    start = 3 * moves[-1]
    moves[start], moves[start + 1], moves[start + 2] = record, old, new
    moves[-1] += 1
    for cell, sign in ((old, -1), (new, 1)):
        if cell >= 0:
            for place in range(links.cell_start[cell], links.cell_start[cell + 1]):
                row = links.cell_row[place]
                if change.is_touched[row] == 0:
                    change.is_touched[row] = 1
                    touched[touched[-1]] = row
                    touched[-1] += 1
                change.delta[row] += sign


@inner
def log_ratio(sums: Ints, change: Change, links: Links, target: Target) -> float:
    """Return the change of the log-likelihood by the changes of rows, -inf outside their bounds."""
    total = 0.0
    for i in range(change.touched[-1]):
        row = change.touched[i]
        if change.delta[row] == 0:
            continue
        count = sums[row] + change.delta[row]
        if count < links.row_low[row] or count > links.row_high[row]:
            return -np.inf
        if target.start[row] >= 0:
            first = target.start[row] - links.row_low[row]
            total += target.log_likelihood[first + count] - target.log_likelihood[first + sums[row]]
    return total


@inner
def settle(records: Ints, counts: Ints, sums: Ints, change: Change, accept: bool) -> None:
    """Apply the moves to counts and sums, or take them back."""
    moves, touched = change.moves, change.touched
    for i in range(touched[-1]):
        row = touched[i]
        if accept:
            sums[row] += change.delta[row]
        change.delta[row] = 0
        change.is_touched[row] = 0
    for step in range(moves[-1]):
        start = 3 * (step if accept else moves[-1] - 1 - step)
        if accept:
            for cell, sign in ((moves[start + 1], -1), (moves[start + 2], 1)):
                if cell >= 0:
                    counts[cell] += sign
        else:
            records[moves[start]] = moves[start + 1]
    touched[-1] = 0
    moves[-1] = 0


@inner
def propose(records: Ints, n: int, cross: Cross, links: Links, change: Change, rng: Any) -> bool:
    """Change a column of a record, or exchange some columns of two records; False if that leaves the cells."""
    n_columns = len(cross.sizes)
    first = int(rng.random() * n)
    flat = cross.flat[records[first]]
    if n < 2 or n_columns < 2 or rng.random() < 0.5:
        column = int(rng.random() * n_columns)
        size, stride = cross.sizes[column], cross.strides[column]
        code = flat // stride % size
        new = cross.place[flat + (int(rng.random() * size) - code) * stride]
        if new < 0:
            return False
        move_record(records, first, new, links, change)
        return True
    second = int(rng.random() * n)
    second_flat, shift = cross.flat[records[second]], 0
    for column in range(n_columns):
        if rng.random() < 0.5:
            size, stride = cross.sizes[column], cross.strides[column]
            shift += (second_flat // stride % size - flat // stride % size) * stride
    new, new_second = cross.place[flat + shift], cross.place[second_flat - shift]
    if first == second or new < 0 or new_second < 0:
        return False
    move_record(records, first, new, links, change)
    move_record(records, second, new_second, links, change)
    return True


@inner
def add_conditionals(
    records: Ints, first: int, step: int, n: int, cross: Cross, links: Links, target: Target, counts: Ints, sums: Ints,
    change: Change, weights: Floats, means: Floats,
) -> None:  # fmt: skip
    """Add the probability of each value of a record in each column, given its other columns and all other records.

    records : those at first, first + step, ... are used, each with the weight `step`
    weights : (at least the largest number of categories,) memory
    means : (n_columns, n_cells), to which the probabilities are added
    """
    for record in range(first, n, step):
        old = records[record]
        for column in range(len(cross.sizes)):
            size, stride = cross.sizes[column], cross.strides[column]
            start = cross.flat[old] - cross.flat[old] // stride % size * stride
            total = 0.0
            for code in range(size):
                new = cross.place[start + code * stride]
                weights[code] = 0.0
                if new >= 0:
                    move_record(records, record, new, links, change)
                    ratio = target.log_prior[new] - target.log_prior[old]
                    weights[code] = np.exp(ratio + log_ratio(sums, change, links, target))
                    settle(records, counts, sums, change, False)
                    total += weights[code]
            for code in range(size):
                if weights[code] > 0.0:
                    means[column, cross.place[start + code * stride]] += step * weights[code] / total


@allocating
def run_chain(
    counts: Ints, cross: Cross, links: Links, target: Target, thin: int, n_draws: int, totals: Floats, squares: Floats,
    means: Floats, is_free: bool, rng: Any,
) -> None:  # fmt: skip
    """Draw counts with probability proportional to prior and likelihood, from a start that fulfils the bounds.

    A proposal moves one to three times, so that several tables can change together. If the number of people is not
    known, every fourth proposal adds or removes a record.

    counts : (n_cells,) start, changed in place to the last draw
    thin, n_draws : proposals between draws, and number of draws
    totals, squares : (n_cells,), to which the counts of each draw and their squares are added
    means : (n_columns, n_cells), to which the counts of each draw are added, averaged over one column of each record
    is_free : True if the number of people is not known
    """
    n = 0
    for cell in range(len(counts)):
        n += counts[cell]
    records = np.full(4 * n + 1024, -1, np.int64)
    sums, delta = np.zeros(len(links.row_low), np.int64), np.zeros(len(links.row_low), np.int64)
    is_touched = np.zeros(len(links.row_low), np.int64)
    longest = 0
    n_records = 0
    for cell in range(len(counts)):
        longest = max(longest, links.cell_start[cell + 1] - links.cell_start[cell])
        for _ in range(counts[cell]):
            records[n_records] = cell
            n_records += 1
        for place in range(links.cell_start[cell], links.cell_start[cell + 1]):
            sums[links.cell_row[place]] += counts[cell]
    change = Change(np.zeros(64, np.int64), delta, np.zeros(64 * (longest + 1) + 1, np.int64), is_touched)
    weights, n_weights = np.zeros(cross.sizes.max()), cross.sizes.sum()
    for _draw in range(n_draws):
        for _ in range(thin):
            threshold = np.log(rng.random())
            if is_free and rng.random() < 0.25:
                cell = int(rng.random() * len(counts))
                chance = target.log_prior[cell] + np.log(len(counts))
                if rng.random() < 0.5:
                    if n < len(records) - 1:
                        move_record(records, n, cell, links, change)
                        accept = chance + log_ratio(sums, change, links, target) > threshold
                        settle(records, counts, sums, change, accept)
                        n += accept
                elif n > 0:
                    record = int(rng.random() * n)
                    chance = -target.log_prior[records[record]] - np.log(len(counts))
                    move_record(records, record, -1, links, change)
                    accept = chance + log_ratio(sums, change, links, target) > threshold
                    settle(records, counts, sums, change, accept)
                    if accept:
                        n -= 1
                        records[record] = records[n]
                        records[n] = -1
            elif n > 0:
                choice, inside = rng.random(), True
                for _step in range(1 + (choice < 0.5) + (choice < 0.2)):
                    inside = inside and propose(records, n, cross, links, change, rng)
                chance, moves = 0.0, change.moves
                for step in range(moves[-1]):
                    chance += target.log_prior[moves[3 * step + 2]] - target.log_prior[moves[3 * step + 1]]
                accept = inside and chance + log_ratio(sums, change, links, target) > threshold
                settle(records, counts, sums, change, accept)
        for cell in range(len(counts)):
            totals[cell] += counts[cell]
            squares[cell] += counts[cell] * counts[cell]
        step = 1 + n * n_weights // (EVALUATIONS_PER_PROPOSAL * thin + 1)
        first = int(rng.random() * step)
        add_conditionals(records, first, step, n, cross, links, target, counts, sums, change, weights, means)
