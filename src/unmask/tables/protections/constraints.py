"""Privacy constraints: a criterion of the sensitive histogram of each class, and a bound.

The criteria are those of `unmask.tables.criteria`. They compare classes with the table before protection. Comparisons
have a tolerance of 1e-9, so that rounding does not decide about a class at its bound. The two strict definitions
(recursive l, delta-disclosure) fail at equality, within the same tolerance. An empty histogram satisfies no constraint.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans
from unmask.core.csr_rows import CsrRows
from unmask.core.errors import UnmaskError
from unmask.ranges import FINITE, Range, check_types
from unmask.tables import criteria
from unmask.tables.criteria.histograms import Histograms

TOLERANCE = 1e-9

Histogram = NDArray[Any]
Paths = NDArray[np.int32]
Distance = Literal["equal", "ordered", "hierarchical", "kl"]


Value = Callable[[Histograms, Any, Paths | None], NDArray[Any]]
"""Function from histograms, a constraint, and the hierarchy paths of its column to the compared quantity."""


@dataclass(frozen=True)
class Comparison:
    """Comparison of a constraint: quantity, direction, and the field that holds the bound.

    quantity : name of the quantity, for messages
    sense    : relation of the quantity to the bound if the constraint is satisfied
    value    : function that computes the quantity
    """

    quantity: str
    sense: Literal["at least", "at most", "below"]
    value: Value


class Constraint:
    """Base of privacy constraints, which are frozen dataclasses of their parameters."""

    comparison: ClassVar[Comparison]

    def __post_init__(self) -> None:
        """Raise UnmaskError for parameters out of range."""
        check_types(type(self), vars(self))

    def value(self, histogram: Histogram, overall: Histogram, *, paths: Paths | None = None) -> NDArray[Any]:
        """Return the compared quantity of each class, (P,); nan for a class without rows.

        histogram : (P, m) integer counts of P classes
        overall   : (m,) counts of the whole table
        paths     : (H, m) tree node above each value, from height 0 (the value) to H - 1, without the root; for the
            hierarchical distance
        """
        assert histogram.ndim == 2
        assert overall.shape == histogram.shape[1:]
        n, m = histogram.shape
        entries = np.flatnonzero(histogram)
        start = np.searchsorted(entries, m * np.arange(n + 1))
        filled = np.flatnonzero(np.diff(start))
        value = np.full(n, np.nan)
        if filled.size:
            counts = histogram.ravel()[entries].astype(np.int64), entries % m, np.append(start[filled], len(entries))
            value[filled] = self.comparison.value(Histograms(CsrRows(*counts, (filled.size, m)), overall), self, paths)
        return value

    def allows(self, histogram: Histogram, overall: Histogram, *, paths: Paths | None = None) -> Booleans:
        """Return a mask of the classes that satisfy the constraint, (P,); same arguments as `value`."""
        value, bound = self.value(histogram, overall, paths=paths), bound_of(self)
        if self.comparison.sense == "at least":
            good = value >= bound - TOLERANCE
        elif self.comparison.sense == "at most":
            good = value <= bound + TOLERANCE
        else:
            good = value < bound - TOLERANCE
        return np.asarray(good, dtype=np.bool_)


def bound_of(constraint: Constraint) -> float:
    """Return the bound of a constraint, which is its first parameter.

    >>> bound_of(RecursiveL(c=3.0, l=2))
    3.0
    """
    return float(next(iter(vars(constraint).values())))


def all_allow(
    constraints: Sequence[Constraint], histogram: Histogram, overall: Histogram, *, paths: Paths | None = None
) -> Booleans:
    """Return a mask of the classes that satisfy all constraints, (P,). A class is not tested after it fails.

    >>> all_allow((KAnonymity(2), DistinctL(2)), np.array([[1, 1], [2, 0], [1, 0]]), np.array([4, 1]))
    array([ True, False, False])
    """
    good = np.ones(len(histogram), dtype=np.bool_)
    for constraint in constraints:
        good[good] = constraint.allows(histogram if good.all() else histogram[good], overall, paths=paths)
    return good


# --- constraints ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KAnonymity(Constraint):
    """At least k rows in the class.

    >>> KAnonymity(3).allows(np.array([[2, 1], [2, 0]]), np.array([4, 1]))
    array([ True, False])

    L. Sweeney, "k-anonymity", IJUFKS 10 (2002).
    """

    k: Annotated[int, Range(1)]
    comparison: ClassVar[Comparison] = Comparison("k", "at least", lambda view, _, _paths: view.sizes)


@dataclass(frozen=True)
class DistinctL(Constraint):
    """Distinct l-diversity: at least l different sensitive values; see `criteria.l_distinct`.

    >>> DistinctL(2).allows(np.array([[97, 1, 1], [5, 0, 0]]), np.array([102, 1, 1]))
    array([ True, False])
    """

    l: Annotated[int, Range(1)]  # noqa: E741 - the literature's name
    comparison: ClassVar[Comparison] = Comparison("distinct l", "at least", lambda view, _, _paths: view.width)


@dataclass(frozen=True)
class EntropyL(Constraint):
    """Entropy l-diversity: at least l effective values, for a real number l; see `criteria.l_entropy`.

    >>> EntropyL(3).allows(np.array([[4, 4, 4], [10, 1, 1]]), np.array([14, 5, 5]))
    array([ True, False])
    """

    l: Annotated[float, Range(1, math.inf, below=True)]  # noqa: E741 - the literature's name
    comparison: ClassVar[Comparison] = Comparison(
        "entropy l", "at least", lambda view, _, _paths: criteria.l_entropy(view)
    )


@dataclass(frozen=True)
class RecursiveL(Constraint):
    """Recursive (c, l)-diversity, a strict inequality; see `criteria.l_recursive`.

    >>> RecursiveL(c=7.0, l=3).allows(np.array([[7, 2, 1], [6, 2, 1]]), np.array([13, 4, 2]))
    array([False,  True])
    """

    c: Annotated[float, FINITE]
    l: Annotated[int, Range(1)]  # noqa: E741 - the literature's name
    comparison: ClassVar[Comparison] = Comparison(
        "r_1 / (r_l + ... + r_m)",
        "below",
        lambda view, constraint, _paths: criteria.l_recursive(view, l=constraint.l),
    )


@dataclass(frozen=True)
class AlphaK(Constraint):
    """Frequency condition of (alpha, k)-anonymity: no value has a share above alpha; see `criteria.alpha`.

    Require k separately, as `k` of the protection or as `KAnonymity`.

    >>> AlphaK(0.5).allows(np.array([[1, 1], [2, 1]]), np.array([3, 2]))
    array([ True, False])
    """

    alpha: Annotated[float, FINITE]
    comparison: ClassVar[Comparison] = Comparison(
        "largest share", "at most", lambda view, _, _paths: criteria.alpha(view)
    )


def _distance(view: Histograms, closeness: TCloseness, paths: Paths | None) -> NDArray[Any]:
    if closeness.distance != "hierarchical":
        return {"equal": criteria.t_equal, "ordered": criteria.t_ordered, "kl": criteria.t_kl}[closeness.distance](view)
    if paths is None:
        raise UnmaskError("the hierarchical distance needs a hierarchy; give one for the column")
    return criteria.t_hierarchical(view, paths)


@dataclass(frozen=True)
class TCloseness(Constraint):
    """t-closeness: the distance between the class and the whole table is at most t.

    distance : "equal" (`criteria.t_equal`), "ordered" (`t_ordered`, for histograms in rank order), "hierarchical"
        (`t_hierarchical`, needs a hierarchy of the sensitive column), or "kl" (`t_kl`, another criterion of the same
        name in parts of the literature; it is at least 2 TV^2).

    >>> TCloseness(0.25).value(np.array([[2, 0], [2, 1]]), np.array([3, 3]))
    array([0.5       , 0.16666667])
    """

    t: Annotated[float, Range(0, math.inf, below=True)]
    distance: Distance = "equal"
    comparison: ClassVar[Comparison] = Comparison("distance", "at most", _distance)


@dataclass(frozen=True)
class DeltaDisclosure(Constraint):
    """delta-disclosure privacy, a strict inequality for every value of the table; see `criteria.delta_disclosure`.

    A class that lacks a value of the table fails for every delta.

    >>> DeltaDisclosure(0.7).allows(np.array([[2, 1], [3, 0]]), np.array([3, 3]))
    array([ True, False])
    """

    delta: Annotated[float, FINITE]
    comparison: ClassVar[Comparison] = Comparison(
        "delta in nats", "below", lambda view, _, _paths: criteria.delta_disclosure(view)
    )


@dataclass(frozen=True)
class BetaLikeness(Constraint):
    """Enhanced beta-likeness; see `criteria.beta_likeness`.

    >>> BetaLikeness(1.0).allows(np.array([[3, 2], [5, 0]]), np.array([5, 5]))
    array([ True, False])
    """

    beta: Annotated[float, Range(0, math.inf, below=True)]
    comparison: ClassVar[Comparison] = Comparison(
        "beta", "at most", lambda view, _, _paths: criteria.beta_likeness(view)
    )
