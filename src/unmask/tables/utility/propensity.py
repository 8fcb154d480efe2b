"""Propensity score: how well a model tells released rows from original rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy

from unmask.core.arrays import Floats
from unmask.core.errors import UnmaskError
from unmask.core.logistic_regression import fit_logistic
from unmask.tables.column import Column
from unmask.tables.table import Table
from unmask.tables.utility.analysis_rows import center_cells, share_categories

MAX_ROWS = 10_000
"""Rows of each table that are compared; of a larger table as many at random."""

MAX_TERMS = 300
"""Terms of the model."""

MAX_INDICATORS = 20
"""Most common values of a column with a term each."""


class PropensityScore(NamedTuple):
    """Mean squared error of the propensity score.

    Parameters
    ----------
    pmse : float
        Mean of (p - c)^2, where p is the estimated probability that a row is a released one, and c their share: 0 if
        the model cannot separate the rows, c (1 - c) if it separates all.
    ratio : float
        `pmse` divided by its expectation for rows drawn from a correct model of the original (Snoke et al. 2018). Rows
        drawn independently from the same population reach 1 / (1 - c).
    indistinguishable : float
        1 - pmse / (c (1 - c)), from 0 to 1.
    n_terms : int
        Independent terms of the model, with the constant.
    """

    pmse: float
    ratio: float
    indistinguishable: float
    n_terms: int


def score_propensity(original: Table, release: Table, columns: Sequence[str] = ()) -> PropensityScore:
    """Return how well a logistic regression tells released rows from original rows.

    Terms are the centers of numeric cells, indicators of missing numbers, and the 20 most common values of other
    columns, with equal shares if a cell has several values. Products of terms of each two columns are added for
    the most common values, up to 300 terms. Of a table of more than 10,000 rows, as many are drawn at random.

    Parameters
    ----------
    original, release : Table
        Tables to compare.
    columns : sequence of str
        Columns of the model; by default all that both tables have.

    Returns
    -------
    PropensityScore

    Raises
    ------
    UnmaskError
        If a table lacks a column, or has no rows.

    References
    ----------
    J. Snoke, G. M. Raab, B. Nowok, C. Dibben, A. Slavkovic, "General and specific utility measures for synthetic data",
    Journal of the Royal Statistical Society A, 2018.

    Examples
    --------
    >>> table = Table.read({"age": [20, 30, 40, 50]}, quasi_identifiers="age")
    >>> score_propensity(table, table).pmse < 1e-9
    True
    """
    names = list(columns) or [name for name in original.names if name in release.names]
    if not names or not original.n_rows or not release.n_rows:
        raise UnmaskError("the original and the release have no column or no row in common; give both the same columns")
    tables = [_draw_rows(table) for table in (original, release)]
    design = _make_design([tuple(table.column(name) for table in tables) for name in names])
    is_released = np.repeat([0.0, 1.0], [table.n_rows for table in tables])
    share, n_rows = float(is_released.mean()), len(is_released)
    propensity = scipy.special.expit(design @ fit_logistic(design, is_released, np.ones(n_rows)))
    pmse = float(np.mean((propensity - share) ** 2))
    n_terms = int(np.linalg.matrix_rank(design.T @ design / n_rows, tol=1e-9, hermitian=True))
    expected = (n_terms - 1) * (1 - share) ** 2 * share / n_rows
    ratio = pmse / expected if expected else 0.0
    return PropensityScore(pmse, ratio, 1 - pmse / (share * (1 - share)), n_terms)


def _draw_rows(table: Table) -> Table:
    """Return a table with at most `MAX_ROWS` rows at random."""
    return table.take(np.random.default_rng(0).permutation(table.n_rows)[:MAX_ROWS])


def _make_design(columns: Sequence[tuple[Column, ...]]) -> Floats:
    """Return the constant, the terms of all rows, and products of terms of two columns.

    Products are of as many common values as `MAX_TERMS` leaves room for.
    """
    terms = [_list_terms(pair, MAX_INDICATORS) for pair in columns]
    n_rows, n_single = len(terms[0]), 1 + sum(part.shape[1] for part in terms)
    for n_values in range(MAX_INDICATORS, 0, -1):
        coarse = [_list_terms(pair, n_values) for pair in columns]
        pairs = list(combinations(coarse, 2))
        if n_single + sum(a.shape[1] * b.shape[1] for a, b in pairs) <= MAX_TERMS:
            products = [(a[:, :, None] * b[:, None, :]).reshape(n_rows, -1) for a, b in pairs]
            return np.concatenate([np.ones((n_rows, 1)), *terms, *products], axis=1)
    return np.concatenate([np.ones((n_rows, 1)), *terms], axis=1)


def _list_terms(columns: tuple[Column, ...], n_values: int) -> Floats:
    """Return the (n_rows, n_terms) terms of a column of both tables, with mean 0 and standard deviation 1."""
    if all(column.levels.kind == "numeric" for column in columns):
        values = np.concatenate([center_cells(column.levels)[column.codes] for column in columns])
        is_missing = np.isnan(values)
        filled = np.where(is_missing, values[~is_missing].mean() if not is_missing.all() else 0.0, values)
        terms = np.stack([filled, is_missing], axis=1)
    else:
        levels = columns[0].levels
        counts = np.where(levels.atomic, columns[0].counts, 0)
        common = np.argsort(-counts, kind="stable")[: min(n_values, np.count_nonzero(counts))]
        shares = (share_categories(column.levels, levels.select(common)).toarray()[column.codes] for column in columns)
        terms = np.concatenate(list(shares))
        if np.allclose(terms.sum(axis=1), 1):  # the last one follows from the others
            terms = terms[:, :-1]
    spread = terms.std(axis=0)
    varies = spread > 0
    return np.asarray(((terms - terms.mean(axis=0)) / np.where(varies, spread, 1))[:, varies], dtype=np.float64)
