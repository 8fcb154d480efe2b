"""Data shuffling: values are reassigned to the ranks of a draw from a model."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from unmask.core.arrays import Floats
from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.ranges import check_types
from unmask.tables.attacks.product_sums import Kernel
from unmask.tables.column import Column
from unmask.tables.matching import compatible
from unmask.tables.protections.base import (
    Released,
    check_ordered,
    format_call,
    protected_rows,
    release_columns,
    takes_part,
)
from unmask.tables.table import Table

MIN_ROWS = 100
"""Smallest number of rows of a category in the model. A smaller one would reproduce the values of its people."""


@dataclass(frozen=True)
class Shuffle:
    """Data shuffling: the values of a column are reassigned to people, so that correlations remain.

    The ranks of ordered columns are transformed to normal scores. With the scores X of the shuffled columns and the
    terms S of the other quasi-identifiers,

        Y = S b + e,  b = least squares of X on S,  e is normal with the covariance of X - S b.

    The person with the j-th smallest draw in a column of Y receives the j-th smallest value of this column. Margins
    are therefore unchanged, and given S, the released values are independent of the true ones. S contains the scores
    of ordered columns and an indicator of each other value. Categories with fewer than 100 rows share one indicator.

    Assumes: the relations of the scores are linear, as in a normal copula; analyses that need others lose them.

    Fails when: people are unique in the columns that are not shuffled; these still identify their rows
        (`MechanismAttack`).

    Parameters
    ----------
    columns : str or tuple of str
        Quasi-identifiers to shuffle, whose values have an order and are not missing. The default is all that have an
        order.

    References
    ----------
    K. Muralidhar & R. Sarathy, "Data shuffling: a new masking approach for numerical data", Management Science 52(5),
    2006.

    Examples
    --------
    >>> table = Table.read({"income": [30, 31, 50, 51], "sex": list("ffmm")}, quasi_identifiers=["income", "sex"])
    >>> release, origin = Shuffle()(table, rng=np.random.default_rng(1))
    >>> release["income"].tolist(), table["income"][origin].tolist()
    (['30', '31', '50', '51'], ['51', '50', '30', '31'])
    """

    columns: str | tuple[str, ...] = ()

    __repr__ = format_call

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", (self.columns,) if isinstance(self.columns, str) else tuple(self.columns))
        check_types(type(self), vars(self))

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Return the release with shuffled values, and its origin."""
        rng, columns = secret_unless(rng), protected_rows(table).quasi_identifiers
        check_ordered(table, self.columns)
        shuffled = [column for column in columns if takes_part(column, self.columns)]
        if not shuffled:
            raise UnmaskError(f"no quasi-identifier has an order, which {self!r} needs; use PRAM for other columns")
        if missing := [column.name for column in shuffled if (column.codes == column.levels.missing).any()]:
            raise UnmaskError(
                f"column {missing[0]!r} has missing cells; read the table with missing='excluded', or leave it out"
            )
        draws = _draw_scores(shuffled, [column for column in columns if not takes_part(column, self.columns)], rng)
        released = {
            column.name: replace(column, codes=np.sort(column.codes)[np.argsort(np.argsort(scores))])
            for column, scores in zip(shuffled, draws.T, strict=True)
        }
        return release_columns(table, [released.get(column.name, column) for column in columns], rng)

    def row_kernel(self, true: Column, released: Column, *, rng: np.random.Generator) -> Kernel:  # noqa: ARG002 - closed form
        """Return K of a column: shuffled values are those of anyone, and others are unchanged.

        The probability of a shuffled value given the other columns is the same for all people who fit the row, and
        cancels.
        """
        if not takes_part(true, self.columns):
            return Kernel.of(compatible(true.levels, released.levels, missing="own").astype(np.float64))
        return Kernel.of(np.tile(released.counts / released.counts.sum(), (len(true.levels), 1)))


def _draw_scores(shuffled: list[Column], others: list[Column], rng: np.random.Generator) -> Floats:
    """Return (n, n_shuffled) scores drawn given the other columns."""
    scores = np.stack([_normal_scores(column) for column in shuffled], axis=1)
    terms = np.concatenate([np.ones((len(scores), 1)), *map(_list_terms, others)], axis=1)
    mean = terms @ np.linalg.lstsq(terms, scores, rcond=None)[0]
    residual = scores - mean
    covariance = residual.T @ residual / len(scores)
    return np.asarray(mean + rng.multivariate_normal(np.zeros(len(shuffled)), covariance, len(scores), method="eigh"))


def _normal_scores(column: Column) -> Floats:
    """Return (n,) normal quantiles of (rank - 1/2) / n; equal values have their average rank."""
    ranks = np.cumsum(column.counts) - column.counts / 2
    return np.asarray(scipy.special.ndtri(ranks / column.codes.size)[column.codes])


def _list_terms(column: Column) -> Floats:
    """Return (n, n_terms) the terms of a column that is not shuffled."""
    if column.levels.kind != "categorical":
        return _normal_scores(column)[:, None]
    frequent = np.flatnonzero(column.counts >= MIN_ROWS)
    return np.asarray(column.codes[:, None] == frequent, dtype=np.float64)
