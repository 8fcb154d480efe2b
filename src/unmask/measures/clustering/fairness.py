"""Inequality of the risk between subjects and between groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition


@dataclass(frozen=True, eq=False)
class GroupTable:
    """Values by group; a group without a value has nan.

    group : (n_groups,) name of each group, ascending
    n : (n_groups,) number of subjects with a value
    mean, worst : (n_groups,) mean and worst value
    share_worst : (n_groups,) share of its subjects in the worst tenth of all; the group bears more if far above 0.1
    """

    group: NDArray[Any]
    n: Integers
    mean: Floats
    worst: Floats
    share_worst: Floats


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
        Subjects no better off than the last of those, ascending; ties are included.
    groups : GroupTable, optional
        Values by group.
    """

    n: int
    mean: float
    gini: float
    jain: float
    worst_decile: float
    worst: Integers
    groups: GroupTable | None


def fairness(value: ArrayLike, *, group: ArrayLike | None = None, worse: Literal["high", "low"] = "high") -> Fairness:
    """Measure how unequal the values of subjects are, and compare groups.

    All results are nan, and `worst` is empty, if no subject has a value. The indices do not depend on `worse`.

    Parameters
    ----------
    value : (n_subjects,) array
        Values from 0, nan for a subject without a value; in any unit.
    group : (n_subjects,) array, optional
        Group of each subject.
    worse : {"high", "low"}
        Whether a high value is bad (a risk slope) or a low one (errors that protect).

    Returns
    -------
    Fairness
        Indices, worst-off subjects and groups.

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
    >>> spread = fairness([0.0, 0.0, 0.0, 1.0], group=["a", "a", "b", "b"])
    >>> spread.gini, spread.jain, spread.worst_decile, spread.worst
    (0.75, 0.25, 1.0, array([3]))
    >>> spread.groups.group.tolist(), spread.groups.share_worst
    (['a', 'b'], array([0. , 0.5]))
    """
    values = np.asarray(value, dtype=np.float64)
    if values.ndim != 1:
        raise UnmaskError(f"the values have shape {values.shape}, expected one for each subject")
    if np.any((values < 0) | np.isinf(values)):
        raise UnmaskError(
            f"{int(((values < 0) | np.isinf(values)).sum())} values are negative or infinite, expected numbers from 0; "
            "use nan for a subject without a value"
        )
    if worse not in ("high", "low"):
        raise UnmaskError(f'worse is {worse!r}, expected "high" or "low"')
    subjects = np.flatnonzero(~np.isnan(values))
    bad = values[subjects] if worse == "high" else -values[subjects]
    tail = np.sort(bad)[::-1][: -(-len(subjects) // 10)]
    worst = subjects[bad >= tail[-1]] if len(subjects) else subjects
    return Fairness(
        n=len(subjects),
        mean=_mean(values[subjects]),
        gini=_gini(values[subjects]),
        jain=_jain(values[subjects]),
        worst_decile=abs(_mean(tail)),
        worst=worst,
        groups=None if group is None else _by_group(values, group, worst, worse),
    )


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _gini(values: Floats) -> float:
    """Compute by rank: sum_ij |v_i - v_j| = 2 sum_k (2 k - n - 1) v_(k), k = 1..n ascending."""
    n, total = len(values), values.sum()
    if not n or not total:
        return 0.0 if n else float("nan")
    return max(float((2.0 * np.arange(1, n + 1) - n - 1) @ np.sort(values) / (n * total)), 0.0)


def _jain(values: Floats) -> float:
    if not len(values):
        return float("nan")
    scaled = values / (values.max() or 1.0)  # no square under- or overflows
    return float(scaled.sum() ** 2 / (len(values) * (scaled @ scaled))) if scaled.any() else 1.0


def _by_group(values: Floats, group: ArrayLike, worst: Integers, worse: Literal["high", "low"]) -> GroupTable:
    groups = Partition(group)
    if len(groups) != len(values):
        raise UnmaskError(f"there are {len(groups)} groups for {len(values)} subjects, expected one for each")
    has_value = ~np.isnan(values)
    code, n_groups = groups.code[has_value], groups.n_clusters
    n = np.bincount(code, minlength=n_groups)
    extreme = np.full(n_groups, -np.inf if worse == "high" else np.inf)
    (np.maximum if worse == "high" else np.minimum).at(extreme, code, values[has_value])
    count = np.where(n > 0, n, np.nan)
    return GroupTable(
        group=groups.names,
        n=n,
        mean=np.bincount(code, weights=values[has_value], minlength=n_groups) / count,
        worst=np.where(n > 0, extreme, np.nan),
        share_worst=np.bincount(groups.code[worst], minlength=n_groups) / count,
    )
