"""How evenly the risk is spread over the subjects, and whom the worst of it meets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition


@dataclass(frozen=True, eq=False)
class GroupTable:
    """The same values by group; a group of which no subject has a value has nan.

    group        : (n_groups,) its name, ascending
    n            : (n_groups,) its subjects with a value
    mean, worst  : (n_groups,) their mean and the worst among them
    share_worst  : (n_groups,) the share of them among the worst tenth of all; far above 0.1: the group bears more
    """

    group: NDArray[Any]
    n: NDArray[np.int64]
    mean: NDArray[np.float64]
    worst: NDArray[np.float64]
    share_worst: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fairness:
    """One value per subject, as a distribution. A subject without a value (nan) is left out of everything.

    n            : subjects with a value
    mean         : their mean
    gini         : sum_ij |v_i - v_j| / (2 n^2 mean), 0 (all alike) to 1 - 1/n (one has all); 0 when all are 0
    jain         : (sum v)^2 / (n sum v^2), 1 (all alike) down to 1/n (one has all); 1 when all are 0
    worst_decile : mean of the worst ceil(n/10) values
    worst        : (>= ceil(n/10),) subjects no better off than the last of those, ascending; ties are all in, so there
                   may be more of them
    groups       : by group, None without groups
    """

    n: int
    mean: float
    gini: float
    jain: float
    worst_decile: float
    worst: NDArray[np.int64]
    groups: GroupTable | None


def fairness(value: ArrayLike, *, group: ArrayLike | None = None, worse: Literal["high", "low"] = "high") -> Fairness:
    """How unequal the subjects' values are, who is worst off, and how groups compare.

    value : (n_subjects,) not negative, nan for a subject without a value; in any unit
    group : (n_subjects,) the group of each subject
    worse : whether a "high" value is the bad one (a risk slope) or a "low" one (a count of errors that protect)
    All of them are nan, and `worst` empty, when no subject has a value. The indices do not depend on `worse`.

    >>> spread = fairness([0.0, 0.0, 0.0, 1.0], group=["a", "a", "b", "b"])
    >>> spread.gini, spread.jain, spread.worst_decile, spread.worst
    (0.75, 0.25, 1.0, array([3]))
    >>> spread.groups.group.tolist(), spread.groups.share_worst
    (['a', 'b'], array([0. , 0.5]))

    C. Gini, "Variabilita e mutabilita", 1912; Jain, Chiu and Hawe, DEC research report TR-301, 1984. Not the fairness
    measure of Pashalidis 2008, whose formula is not used here.
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
    known = np.flatnonzero(~np.isnan(values))
    bad = values[known] if worse == "high" else -values[known]
    tail = np.sort(bad)[::-1][: -(-len(known) // 10)]
    worst = known[bad >= tail[-1]] if len(known) else known
    return Fairness(
        n=len(known),
        mean=_mean(values[known]),
        gini=_gini(values[known]),
        jain=_jain(values[known]),
        worst_decile=abs(_mean(tail)),
        worst=worst,
        groups=None if group is None else _by_group(values, group, worst, worse),
    )


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _gini(values: NDArray[np.float64]) -> float:
    """By rank: sum_ij |v_i - v_j| = 2 sum_k (2 k - n - 1) v_(k), k = 1..n ascending."""
    n, total = len(values), values.sum()
    if not n or not total:
        return 0.0 if n else float("nan")
    return max(float((2.0 * np.arange(1, n + 1) - n - 1) @ np.sort(values) / (n * total)), 0.0)


def _jain(values: NDArray[np.float64]) -> float:
    if not len(values):
        return float("nan")
    scaled = values / (values.max() or 1.0)  # no square under- or overflows
    return float(scaled.sum() ** 2 / (len(values) * (scaled @ scaled))) if scaled.any() else 1.0


def _by_group(
    values: NDArray[np.float64], group: ArrayLike, worst: NDArray[np.int64], worse: Literal["high", "low"]
) -> GroupTable:
    groups = Partition(group)
    if len(groups) != len(values):
        raise UnmaskError(f"there are {len(groups)} groups for {len(values)} subjects, expected one for each")
    known = ~np.isnan(values)
    code, n_groups = groups.code[known], groups.n_clusters
    n = np.bincount(code, minlength=n_groups)
    extreme = np.full(n_groups, -np.inf if worse == "high" else np.inf)
    (np.maximum if worse == "high" else np.minimum).at(extreme, code, values[known])
    count = np.where(n > 0, n, np.nan)
    return GroupTable(
        group=groups.names,
        n=n,
        mean=np.bincount(code, weights=values[known], minlength=n_groups) / count,
        worst=np.where(n > 0, extreme, np.nan),
        share_worst=np.bincount(groups.code[worst], minlength=n_groups) / count,
    )
