"""Inequality of the risk between subjects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError


@dataclass(frozen=True, eq=False)
class Fairness:
    """The distribution of one value per subject; subjects without a value (nan) are left out.

    Parameters
    ----------
    n : int
        Number of subjects with a value.
    mean : float
        Mean of the values.
    gini : float
        sum_ij |v_i - v_j| / (2 n^2 mean), 0 (all equal) to 1 - 1/n (one has all); 0 if all are 0.
    jain : float
        (sum v)^2 / (n sum v^2), 1 (all equal) down to 1/n (one has all); 1 if all are 0.
    worst_decile : float
        Mean of the worst ceil(n/10) values.
    worst : array
        Positions of the subjects whose value is at least the smallest of those, including ties, ascending.
    """

    n: int
    mean: float
    gini: float
    jain: float
    worst_decile: float
    worst: Integers


def fairness(value: ArrayLike) -> Fairness:
    """Measure how unequal the values of subjects are; a high value, such as a risk slope, is bad.

    All results are nan, and `worst` is empty, if no subject has a value.

    Parameters
    ----------
    value : (n_subjects,) array
        Values from 0, nan for a subject without a value; in any unit.

    Returns
    -------
    Fairness
        Indices and most exposed subjects.

    Raises
    ------
    UnmaskError
        If a value is negative or infinite.

    References
    ----------
    C. Gini, "Variabilita e mutabilita", 1912; Jain, Chiu and Hawe, DEC research report TR-301, 1984. It is not the
    fairness measure of Pashalidis 2008.

    Examples
    --------
    >>> spread = fairness([0.0, 0.0, 0.0, 1.0])
    >>> spread.gini, spread.jain, spread.worst_decile, spread.worst
    (0.75, 0.25, 1.0, array([3]))
    """
    values = np.asarray(value, dtype=np.float64)
    if values.ndim != 1:
        raise UnmaskError(f"the values have shape {values.shape}, expected one for each subject")
    if np.any((values < 0) | np.isinf(values)):
        raise UnmaskError(
            f"{int(((values < 0) | np.isinf(values)).sum())} values are negative or infinite, expected numbers from 0; "
            "use nan for a subject without a value"
        )
    subjects = np.flatnonzero(~np.isnan(values))
    finite = values[subjects]
    tail = np.sort(finite)[::-1][: -(-len(subjects) // 10)]
    worst = subjects[finite >= tail[-1]] if len(subjects) else subjects
    return Fairness(
        n=len(subjects),
        mean=_mean(finite),
        gini=_gini(finite),
        jain=_jain(finite),
        worst_decile=_mean(tail),
        worst=worst,
    )


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _gini(values: Floats) -> float:
    """Compute the Gini index from the sorted values: sum_ij |v_i - v_j| = 2 sum_k (2 k - n - 1) v_(k), k = 1..n."""
    n, total = len(values), values.sum()
    if not n or not total:
        return 0.0 if n else float("nan")
    return max(float((2.0 * np.arange(1, n + 1) - n - 1) @ np.sort(values) / (n * total)), 0.0)


def _jain(values: Floats) -> float:
    if not len(values):
        return float("nan")
    scaled = values / (values.max() or 1.0)  # no square under- or overflows
    return float(scaled.sum() ** 2 / (len(values) * (scaled @ scaled))) if scaled.any() else 1.0
