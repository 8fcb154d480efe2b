"""Utility measures of a release, compared with the original table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.tables.levels import Type
from unmask.tables.table import Table
from unmask.tables.utility.column_loss import Cells, Loss, joint
from unmask.tables.utility.sets import CategorySets

_MIN_TRUE_SHARE = 0.001
"""Smallest divisor of a query's relative error, as a share of the rows (sanity bound of Vitter and Wang)."""


@dataclass(frozen=True)
class InformationLoss:
    """Loss of cells and classes of a release.

    Parameters
    ----------
    ncp : Mapping[str, float]
        Normalized certainty penalty of each column, from 0 to 1.
    gcp : float
        Mean of `ncp` over rows and columns, from 0 to 1.
    discernibility : int
        Sum over classes of n_c^2, plus n for each suppressed row, in pairs of rows.
    precision : Mapping[str, float | None]
        1 - mean height of the released cell in its hierarchy / height of the root, from 0 to 1; None without one.
    width : Mapping[str, Width]
        Range of a released cell in the unit of the column, see `Width`. A suppressed row has the whole range, and so
        does a missing cell unless the original cell is missing.
    """

    ncp: Mapping[str, float]
    gcp: float
    discernibility: int
    precision: Mapping[str, float | None]
    width: Mapping[str, Width]

    @classmethod
    def of(cls, columns: Mapping[str, Loss], sizes: Integers, *, suppressed_rows: int) -> InformationLoss:
        """Return the loss of a release. sizes : (J,) rows of each class"""
        ncp = {name: column.ncp() for name, column in columns.items()}
        return cls(
            ncp=ncp,
            gcp=float(np.mean(list(ncp.values()))),
            discernibility=discernibility(sizes, suppressed_rows=suppressed_rows),
            precision={name: column.precision() for name, column in columns.items()},
            width={name: Width.of(column.type, *column.remaining_width()) for name, column in columns.items()},
        )


@dataclass(frozen=True)
class Utility(InformationLoss):
    """Loss of a release, and its errors in distributions and counts.

    Parameters
    ----------
    ncp : Mapping[str, float]
        See `InformationLoss`.
    gcp, discernibility : float, int
        See `InformationLoss`.
    precision, width : Mapping
        See `InformationLoss`.
    marginal_distance : Mapping[str, float]
        Total variation between the distributions of each column, from 0 to 1.
    pairwise_distance : Mapping[tuple[str, str], float]
        Total variation of each pair of columns.
    query_error : float
        Median relative error of counting queries.
    """

    marginal_distance: Mapping[str, float]
    pairwise_distance: Mapping[tuple[str, str], float]
    query_error: float


def evaluate(
    original: Table,
    release: Table,
    origin: Integers,
    *,
    queries: int = 1000,
    rng: np.random.Generator | None = None,
) -> Utility:
    """Compute the utility of a release.

    NCP of a numeric cell is (hi - lo) / (max - min), with bounds clipped to the range of the original. NCP of an
    ordinal or categorical cell is |set| / |domain|, and 0 for a single value; others use (|set| - 1) / (|domain| - 1).
    A missing cell costs 1, unless the original cell is missing. A constant column costs 0. A cell that does not contain
    its original value, as after noise, also costs its distance from it, relative to the range of the column (1 for
    categories). The sum is at most 1.

    A query counts the rows in a random range of an ordered column, or in a random subset of a categorical one, for two
    random quasi-identifiers (one if there is only one). The release answers with cells spread over their values. The
    error is |answer - true| / max(true, 0.001 n).

    Parameters
    ----------
    original : Table
        Table before protection.
    release : Table
        Table that is released.
    origin : Integers
        (n_released,) row of the original behind each released row.
    queries : int, optional
        Number of random counting queries.
    rng : np.random.Generator | None, optional
        Random numbers of the queries.

    Returns
    -------
    Utility
        All measures of the release.

    References
    ----------
    J. Xu et al., "Utility-based anonymization using local recoding", KDD 2006 (NCP); K. LeFevre et al., "Mondrian",
    ICDE 2006 (discernibility); L. Sweeney, 2002 (precision); J. Vitter, M. Wang, SIGMOD 1999 (queries).

    Examples
    --------
    >>> from unmask.tables.table import Table
    >>> people = Table.read({"age": [20, 30, 40, 60]}, quasi_identifiers="age")
    >>> release = Table.read({"age": ["20-30", "20-30", "40-60", "40-60"]}, quasi_identifiers="age")
    >>> result = evaluate(people, release, np.arange(4))
    >>> result.ncp, result.gcp, result.discernibility
    ({'age': 0.375}, 0.375, 8)
    """
    origin, is_suppressed = _check_origin(original, release, np.asarray(origin))
    cells = {
        c.name: Cells.of_rows(c, release.column(c.name), origin, is_suppressed) for c in original.quasi_identifiers
    }
    all_cells = {**cells, **_sensitive(original, release, origin, is_suppressed)}
    loss = InformationLoss.of(cells, release.classes.sizes, suppressed_rows=int(is_suppressed.sum()))
    return Utility(
        **vars(loss),
        marginal_distance={name: column.marginal().distance() for name, column in all_cells.items()},
        pairwise_distance={(a, b): joint(all_cells[a], all_cells[b]).distance() for a, b in combinations(all_cells, 2)},
        query_error=_query_error(cells, queries, np.random.default_rng(0) if rng is None else rng),
    )


def information_loss(original: Table, release: Table, origin: Integers) -> InformationLoss:
    """Compute the loss of cells and classes, without distributions.

    Parameters
    ----------
    original : Table
        Table before protection.
    release : Table
        Table that is released.
    origin : Integers
        (n_released,) row of the original behind each released row.

    Returns
    -------
    InformationLoss
        Measures of cells and classes.
    """
    origin, is_suppressed = _check_origin(original, release, np.asarray(origin))
    cells = {c.name: Loss.of_rows(c, release.column(c.name), origin, is_suppressed) for c in original.quasi_identifiers}
    return InformationLoss.of(cells, release.classes.sizes, suppressed_rows=int(is_suppressed.sum()))


def discernibility(sizes: Integers, *, suppressed_rows: int = 0) -> int:
    """Return the discernibility sum_c n_c^2 + suppressed * n, in pairs of rows.

    Parameters
    ----------
    sizes : Integers
        (J,) rows of each class.
    suppressed_rows : int, optional
        Rows that are not released.

    Returns
    -------
    int
        Pairs of rows that cannot be distinguished.

    References
    ----------
    R. Bayardo, R. Agrawal, ICDE 2005.

    Examples
    --------
    >>> discernibility(np.array([2, 3]), suppressed_rows=1)
    19
    """
    return int(np.dot(sizes, sizes)) + suppressed_rows * (int(sizes.sum()) + suppressed_rows)


def _check_origin(original: Table, release: Table, origin: NDArray[Any]) -> tuple[Integers, Booleans]:
    """Return the original row of each released row, and a mask of the original rows that are not released."""
    if original.n_rows == 0:
        raise UnmaskError("the original has 0 rows, expected at least 1")
    if origin.shape != (release.n_rows,):
        raise UnmaskError(
            f"origin has shape {origin.shape}, expected ({release.n_rows},), one row of the original each"
        )
    if len(origin) and (origin.min() < 0 or origin.max() >= original.n_rows):
        raise UnmaskError(f"origin points outside the {original.n_rows} rows of the original")
    if np.bincount(origin).max(initial=0) > 1:
        raise UnmaskError("origin names a row of the original twice, expected each at most once")
    is_suppressed = np.ones(original.n_rows, dtype=np.bool_)
    is_suppressed[origin] = False
    return origin.astype(np.int64), is_suppressed


def _sensitive(original: Table, release: Table, origin: Integers, is_suppressed: Booleans) -> dict[str, Cells]:
    released_columns = {column.name: column for column in release.sensitive}
    columns = [column for column in original.sensitive if column.name in released_columns]
    return {c.name: Cells.of_rows(c, released_columns[c.name], origin, is_suppressed) for c in columns}


def _query_error(cells: Mapping[str, Cells], queries: int, rng: np.random.Generator) -> float:
    if queries < 1:
        raise UnmaskError(f"queries is {queries}, expected at least 1")
    columns = list(cells.values())
    pairs: list[tuple[Cells, Cells | None]] = [*combinations(columns, 2)] or [(columns[0], None)]
    errors = []
    for number, chosen in zip(rng.multinomial(queries, [1 / len(pairs)] * len(pairs)), pairs, strict=True):
        if not number:  # with many columns, most pairs get no query
            continue
        a, b = chosen
        first_predicates = _random_predicates(a, int(number), rng)
        if b is None:
            expected, released = (first_predicates @ side for side in a.marginal())
        else:
            second_predicates = _random_predicates(b, int(number), rng)
            expected, released = (np.sum((first_predicates @ side) * second_predicates, axis=1) for side in joint(a, b))
        errors.append(np.abs(released - expected) / np.maximum(expected, _MIN_TRUE_SHARE * len(a.original)))
    return float(np.median(np.concatenate(errors)))


def _random_predicates(column: Cells, number: int, rng: np.random.Generator) -> Floats:
    """Return (number, n_bins) masks: a random range of bins of an ordered column, a random subset of a
    categorical one.
    """
    n = column.n_bins - 1
    chosen = np.zeros((number, n + 1))
    if isinstance(column.sets, CategorySets):
        is_chosen = rng.random((number, n)) < rng.random((number, 1))
        is_chosen[np.arange(number), rng.integers(n, size=number)] = True
    else:
        ends = np.sort(rng.integers(n, size=(number, 2)), axis=1)
        is_chosen = (np.arange(n) >= ends[:, :1]) & (np.arange(n) <= ends[:, 1:])
    chosen[:, :n] = is_chosen
    return chosen


_YEAR, _DAY, _HOUR = 365.2425 * 86_400, 86_400.0, 3_600.0
_SECONDS: Mapping[Type, float] = {"date": _DAY, "datetime": 1.0}
_TIMES = (("years", _YEAR), ("days", _DAY), ("hours", _HOUR))
_UNITS: Mapping[Type, str] = {"number": "", "code": "characters", "text": "values", "ordinal": "values"}


@dataclass(frozen=True)
class Width:
    """Range of values that the cells of a column leave possible.

    Parameters
    ----------
    mean : float
        Mean over rows.
    largest : float
        Largest over rows.
    unit : str
        "years", "days" or "hours" between the ends of a date or time; "" for numbers, in the unit of the column;
        hidden "characters" of a code; possible "values" of other cells, 1 for an exact cell.

    Examples
    --------
    >>> str(Width.of("text", 1.0, 1.0))
    'exact'
    >>> str(Width.of("date", 1500.0, 20_819.0)), str(Width.of("code", 2.1, 5.0)), str(Width.of("number", 3.04, 10.0))
    ('4.1 years (up to 57)', '2.1 characters (up to 5)', '3.0 (up to 10)')
    """

    mean: float
    largest: float
    unit: str

    def __str__(self) -> str:
        if self.largest == float(self.unit == "values"):
            return "exact"
        largest = f"{self.largest:,.0f}" if self.largest >= 10 or self.largest.is_integer() else f"{self.largest:,.1f}"
        return f"{self.mean:,.1f} {self.unit}".rstrip() + f" (up to {largest})"

    @classmethod
    def of(cls, of_type: Type, mean: float, largest: float) -> Width:
        """Return widths on the column's scale, in the largest unit of time that is not larger than the largest
        width.
        """
        if of_type not in _SECONDS:
            return cls(mean, largest, _UNITS[of_type])
        seconds = _SECONDS[of_type]
        names = _TIMES[: 2 if of_type == "date" else 3]
        unit, size = next(((unit, size) for unit, size in names if largest * seconds >= size), names[-1])
        return cls(mean * seconds / size, largest * seconds / size, unit)
