"""Design of a survey: households, strata, clusters and replicate weights of the rows of a sample."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Final, Self

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.tables.column import Column, Rows

UNITS: Final = ("household", "stratum", "cluster")
"""Parts of a design that are one column each; equal cells are one unit."""

NO_DESIGN: Final[Mapping[str, Any]] = {**dict.fromkeys(UNITS), "replicate_weights": (), "replicate_method": None}
"""Parameters of `Table.read` about the design, for a table that is read without."""


@dataclass(frozen=True, eq=False)
class SurveyDesign:
    """Design of the sample that a table is; parts that are not known are None.

    Parameters
    ----------
    household, stratum, cluster : (n_rows,) array, optional
        Number of the household, the stratum and the primary sampling unit of each row. A negative household or cluster
        is a unit of its own.
    replicates : (n_rows, n_replicates) array, optional
        Replicate weights, each divided by the weight of its row; 1 for a row without a weight.
    factor : float
        Factor c of the variance c sum_r (R_r - R)^2 of an estimate R with replicates R_r, see `replicate_factor`.
    """

    household: Integers | None = None
    stratum: Integers | None = None
    cluster: Integers | None = None
    replicates: Floats | None = None
    factor: float = 0.0

    def take(self, rows: Rows) -> Self:
        """Return the design of a selection of the rows."""
        arrays: dict[str, Any] = {name: part[rows] for name, part in vars(self).items() if isinstance(part, np.ndarray)}
        return replace(self, **arrays)

    def follow(self, origin: Integers) -> Self:
        """Return the design of released rows; a row of no person (origin below 0) is a unit of its own."""
        design, is_foreign = self.take(np.maximum(origin, 0)), origin < 0
        for part, value in (*((getattr(design, unit), -1) for unit in UNITS), (design.replicates, 1)):
            if part is not None:
                part[is_foreign] = value
        return design


UNKNOWN_DESIGN: Final = SurveyDesign()
"""Design of which nothing is known: every row counts as drawn alone, from one stratum."""


def number_units(column: Column | None, n_rows: int) -> Integers:
    """Return the (n_rows,) unit of each row, -1 for a missing cell. column : None if every row has another value"""
    if column is None:
        return np.arange(n_rows)
    return np.where(column.codes == column.levels.missing, -1, column.codes).astype(np.int64)


def replicate_factor(method: str | None, n_replicates: int) -> float:
    """Return the factor c of the variance c sum_r (R_r - R)^2 over replicates.

    Parameters
    ----------
    method : {"jk1", "bootstrap", "brr", "fay:RHO", "sdr"}
        Method that made the replicate weights: delete-one jackknife, bootstrap, balanced repeated replication, the
        same with Fay's coefficient, or successive differences.
    n_replicates : int
        Number R of replicates.

    Returns
    -------
    float
        (R - 1)/R, 1/R, 1/R, 1/(R (1 - RHO)^2) or 4/R.

    Raises
    ------
    UnmaskError
        If the method is missing or another one.

    References
    ----------
    K. M. Wolter, Introduction to Variance Estimation, 2nd edition, 2007. R. E. Fay, G. F. Train, "Aspects of survey and
    model-based postcensal estimation of income and poverty characteristics", 1995, for successive differences.

    Examples
    --------
    >>> replicate_factor("fay:0.5", 80), replicate_factor("sdr", 80)
    (0.05, 0.05)
    """
    factors = {"jk1": n_replicates - 1.0, "bootstrap": 1.0, "brr": 1.0, "sdr": 4.0}
    if fay := re.fullmatch(r"fay:(0?\.\d*[1-9]\d*)", method or ""):
        factors[fay[0]] = (1 - float(fay[1])) ** -2
    if method not in factors:
        given = "is missing" if method is None else f"is {method!r}"
        raise UnmaskError(
            f"the method of the replicate weights {given}, expected jk1, bootstrap, brr, sdr or fay:RHO with RHO "
            "between 0 and 1; the documentation of the survey states it"
        )
    return factors[method] / n_replicates


def relate_replicates(replicates: Sequence[Floats], weight: Floats | None, method: str | None) -> SurveyDesign:
    """Return a design with replicate weights, (n_rows,) each, relative to the weight of their row."""
    if weight is None:
        raise UnmaskError("replicate weights vary the weight of a row, and no column is the weight; name it, too")
    factor = replicate_factor(method, len(replicates))
    is_weighted = weight > 0
    ratio = np.ones((len(weight), len(replicates)))
    ratio[is_weighted] = np.nan_to_num(np.stack(replicates, axis=1)[is_weighted]) / weight[is_weighted, None]
    return SurveyDesign(replicates=ratio, factor=factor)


def match_columns(patterns: str | Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that one or several patterns such as `repwgt*` name, in the order of the patterns.

    A pattern that fits no column stays, so that the check of the columns names it.

    >>> match_columns(["repwgt?", "w9"], ["age", "repwgt1", "repwgt2"])
    ('repwgt1', 'repwgt2', 'w9')
    """
    patterns = (patterns,) if isinstance(patterns, str) else patterns
    matches = ([name for name in names if fnmatchcase(name, pattern)] or [pattern] for pattern in patterns)
    return tuple(dict.fromkeys(name for matched in matches for name in matched))
