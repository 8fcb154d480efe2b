"""Distributions that are fitted to marginals, and rows that are drawn from them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats

MAX_COMBINATIONS = 1_000_000
"""Largest number of combinations of values whose probabilities are fitted together."""

MAX_ROUNDS, MAX_CHANGE = 50, 1e-7
"""Largest number of rounds of proportional fitting, and change of a share below which it ends."""

MIN_SHARE = 1e-9
"""Total share of a marginal that is spread evenly, so that no combination of values becomes impossible."""

Marginals = dict[tuple[int, ...], Floats]
"""Cells of each marginal, by the positions of its columns. Axes are in the order of the positions."""


def fit_consistent(noisy: Marginals, sizes: tuple[int, ...]) -> Marginals:
    """Return the marginals of one table that are nearest to noisy ones, by least squares.

    A marginal is the sum of the effects of its subsets of columns. Effects of different subsets are orthogonal, so the
    least squares are means: of the effect in each marginal that contains the subset, with weights inverse to the number
    of cells that are added up.

    Parameters
    ----------
    noisy : mapping of tuple of int to array
        All marginals with the same number of columns, by the positions of their columns. Equal variance of all cells.
    sizes : tuple of int
        Number of values of each column.

    Returns
    -------
    mapping of tuple of int to array
        Cells may be negative.

    Examples
    --------
    >>> noisy = {(0, 1): np.array([[4.0, 2], [1, 3]]), (0, 2): np.array([[5.0], [3]]), (1, 2): np.array([[6.0], [6]])}
    >>> consistent = fit_consistent(noisy, (2, 2, 1))
    >>> consistent[0, 1].sum(axis=1), consistent[0, 2].ravel()
    (array([6., 4.]), array([6., 4.]))
    """
    sums: dict[tuple[int, ...], Floats] = {}
    weights: dict[tuple[int, ...], float] = {}
    for subset, cells in noisy.items():
        for part in _list_subsets(subset):
            effect = cells
            for axis, column in enumerate(subset):
                mean = effect.mean(axis=axis, keepdims=True)
                effect = effect - mean if column in part else mean * sizes[column]
            weight = 1 / prod(sizes[column] for column in subset if column not in part)
            sums[part] = sums.get(part, 0.0) + weight * effect.reshape([sizes[column] for column in part])
            weights[part] = weights.get(part, 0.0) + weight
    consistent = {}
    for subset in noisy:
        total = np.zeros([sizes[column] for column in subset])
        for part in _list_subsets(subset):
            n_cells = prod(sizes[column] for column in subset if column not in part)
            shape = [sizes[column] if column in part else 1 for column in subset]
            total += (sums[part] / weights[part] / n_cells).reshape(shape)
        consistent[subset] = total
    return consistent


def _list_subsets(columns: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(columns, n) for n in range(len(columns) + 1))


def project_on_simplex(shares: Floats) -> Floats:
    """Return the nearest nonnegative array with sum 1, by least squares.

    >>> project_on_simplex(np.array([0.7, 0.5, -0.2]))
    array([0.6, 0.4, 0. ])
    """
    descending = np.sort(shares, axis=None)[::-1]
    excess = (np.cumsum(descending) - 1) / np.arange(1, descending.size + 1)
    return np.asarray(np.maximum(shares - excess[np.count_nonzero(descending > excess) - 1], 0.0))


def fit_joint(shares: Marginals, sizes: tuple[int, ...]) -> Floats:
    """Return the distribution of largest entropy with given marginals, by iterative proportional fitting.

    If no distribution has all of them, the last round of fitting is returned.

    Parameters
    ----------
    shares : mapping of tuple of int to array
        Marginals with sum 1, by the positions of their columns.
    sizes : tuple of int
        Number of values of each column.

    Returns
    -------
    array of shape `sizes`
        Probabilities.

    References
    ----------
    W. E. Deming & F. F. Stephan, Annals of Mathematical Statistics 11(4), 1940.

    Examples
    --------
    >>> fit_joint({(0,): np.array([0.5, 0.5]), (1,): np.array([0.2, 0.8])}, (2, 2)).round(3)
    array([[0.1, 0.4],
           [0.1, 0.4]])
    """
    p = np.full(sizes, 1 / prod(sizes))
    for _ in range(MAX_ROUNDS):
        change = 0.0
        for subset, share in shares.items():
            others = tuple(column for column in range(len(sizes)) if column not in subset)
            current = p.sum(axis=others, keepdims=True)
            goal = ((1 - MIN_SHARE) * share + MIN_SHARE / share.size).reshape(current.shape)
            change = max(change, float(np.abs(goal - current).max()))
            p *= goal / current
        if change < MAX_CHANGE:
            break
    return p


def draw_rows(
    shares: Marginals, sizes: tuple[int, ...], n_rows: int, rng: np.random.Generator
) -> list[NDArray[np.int32]]:
    """Return rows of a distribution with given marginals.

    The columns with fewest values are drawn from their joint distribution, see `fit_joint`. Each further column is
    drawn given the columns with which it has most mutual information, as many as a marginal has besides it.

    Parameters
    ----------
    shares : mapping of tuple of int to array
        All marginals with the same number of columns, each with sum 1.
    sizes : tuple of int
        Number of values of each column.
    n_rows : int
        Number of rows.
    rng : Generator
        Source of random numbers.

    Returns
    -------
    list of (n_rows,) array
        Code of each row, by column.

    Examples
    --------
    >>> shares = {(0, 1): np.array([[0.5, 0.0], [0.0, 0.5]])}
    >>> first, second = draw_rows(shares, (2, 2), 100, np.random.default_rng(1))
    >>> bool((first == second).all())
    True
    """
    columns = sorted(range(len(sizes)), key=lambda column: sizes[column])
    n_joint = max(1, sum(np.cumprod([float(sizes[column]) for column in columns]) <= MAX_COMBINATIONS))
    joint, further = sorted(columns[:n_joint]), columns[n_joint:]
    p = fit_joint(_sum_out(shares, joint), tuple(sizes[column] for column in joint))
    cumulative = np.cumsum(p)
    cells = np.searchsorted(cumulative, rng.random(n_rows) * cumulative[-1], side="right")
    drawn = dict(zip(joint, np.unravel_index(cells, p.shape), strict=True))
    n_parents = len(next(iter(shares))) - 1
    for column in further:
        candidates = [(_order_axes(shares, parents, column), parents)
                      for parents in combinations(sorted(drawn), n_parents)]  # fmt: skip
        table, parents = max(candidates, key=lambda candidate: _mutual_information(candidate[0]))
        shape = tuple(sizes[parent] for parent in parents)
        row = np.ravel_multi_index([drawn[parent] for parent in parents], shape) if parents else np.zeros(n_rows, int)
        drawn[column] = _draw_given(table, row, rng)
    return [drawn[column].astype(np.int32) for column in range(len(sizes))]


def _sum_out(shares: Marginals, columns: list[int]) -> Marginals:
    """Return the marginals of some columns, by their positions among these, with as many columns as possible."""
    n_columns = min(len(next(iter(shares))), len(columns))
    marginals: Marginals = {}
    for subset, share in shares.items():
        shared = [column for column in subset if column in columns]
        if len(shared) == n_columns:
            others = tuple(axis for axis, column in enumerate(subset) if column not in columns)
            marginals.setdefault(tuple(map(columns.index, shared)), share.sum(axis=others))
    return marginals


def _order_axes(shares: Marginals, parents: tuple[int, ...], column: int) -> Floats:
    """Return (n_parent_cells, n_values) the marginal of the parents and a column."""
    subset = tuple(sorted((*parents, column)))
    share = np.moveaxis(shares[subset], subset.index(column), -1)
    return share.reshape(-1, share.shape[-1])


def _mutual_information(table: Floats) -> float:
    """Return the mutual information of rows and columns of a table of shares, in nats."""
    independent = table.sum(axis=1, keepdims=True) * table.sum(axis=0)
    positive = table > 0
    return float((table[positive] * np.log(table[positive] / independent[positive])).sum())


def _draw_given(table: Floats, row: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.integer]:
    """Return (n,) values drawn from the given rows of a table; a row without a share has the sums of the columns."""
    table = table + MIN_SHARE * table.sum(axis=0)
    cumulative = np.cumsum(table / table.sum(axis=1, keepdims=True), axis=1)
    cumulative[:, -1] = 1.0
    ends = (cumulative + np.arange(len(table))[:, None]).ravel()
    position = np.searchsorted(ends, row + rng.random(len(row)), side="right")
    return np.asarray(np.minimum(position - row * table.shape[1], table.shape[1] - 1))
