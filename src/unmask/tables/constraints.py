"""What every class of a protected table must satisfy: privacy constraints on its histogram of sensitive values.

Notation: a class holds n_s rows with sensitive value s, p_s = n_s / sum n; q is the distribution over the table that
is protected, before anything is generalized or suppressed; m values occur in it. Every constraint has a `value` per
class and compares it with its bound. The comparison has a tolerance of 1e-9, so that a class which meets its bound
exactly is not judged by the rounding of a last digit; the two strict definitions (recursive l, delta-disclosure) fail
at equality within the same tolerance. An empty histogram is no class and passes nothing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError

TOLERANCE = 1e-9

Floats = NDArray[np.float64]
Histogram = NDArray[Any]
Paths = NDArray[np.int32]
Distance = Literal["equal", "ordered", "hierarchical", "kl"]


@dataclass(frozen=True)
class Comparison:
    """What a constraint compares: a quantity in words, the good side of its bound, and the field with the bound."""

    quantity: str
    sense: Literal["at least", "at most", "below"]
    field: str


@dataclass(frozen=True, eq=False)
class _Classes:
    histogram: Histogram
    overall: Histogram
    paths: Paths | None

    @cached_property
    def p(self) -> Floats:
        sizes = np.maximum(self.histogram.sum(axis=1, keepdims=True), 1)
        return np.asarray(self.histogram / sizes, dtype=np.float64)

    @cached_property
    def q(self) -> Floats:
        return np.asarray(self.overall / max(self.overall.sum(), 1), dtype=np.float64)

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        return np.asarray(self.overall > 0)


class Constraint(ABC):
    """What privacy constraints, frozen dataclasses of their parameters, have in common."""

    compares: ClassVar[Comparison]

    def value(self, histogram: Histogram, overall: Histogram, *, paths: Paths | None = None) -> Floats:
        """The quantity that is compared, per class (P,).

        histogram : (P, m) counts of P classes, whole numbers of any dtype. overall : (m,) counts of the whole table.
        paths : (H, m) the node above each value at heights 0 (the value itself) to H - 1 of a hierarchy whose root is
        understood; only the hierarchical distance asks for it.
        """
        assert histogram.ndim == 2
        assert overall.shape == histogram.shape[1:]
        return self._value(_Classes(histogram, overall, paths))

    def allows(self, histogram: Histogram, overall: Histogram, *, paths: Paths | None = None) -> NDArray[np.bool_]:
        """Whether the value is on the good side of the bound, per class (P,); same arguments as `value`."""
        value, bound = self.value(histogram, overall, paths=paths), bound_of(self)
        if self.compares.sense == "at least":
            good = value >= bound - TOLERANCE
        elif self.compares.sense == "at most":
            good = value <= bound + TOLERANCE
        else:
            good = value < bound - TOLERANCE
        return np.asarray(good & (histogram.sum(axis=1) > 0), dtype=np.bool_)

    @abstractmethod
    def _value(self, classes: _Classes) -> Floats: ...


def bound_of(constraint: Constraint) -> float:
    """The parameter that the value is compared with.

    >>> bound_of(RecursiveL(c=3.0, l=2))
    3.0
    """
    return float(getattr(constraint, constraint.compares.field))


def all_allow(
    constraints: Sequence[Constraint], histogram: Histogram, overall: Histogram, *, paths: Paths | None = None
) -> NDArray[np.bool_]:
    """The conjunction: whether every constraint allows each class, (P,); a class that fails one is not tried again.

    >>> all_allow((KAnonymity(2), DistinctL(2)), np.array([[1, 1], [2, 0], [1, 0]]), np.array([4, 1]))
    array([ True, False, False])
    """
    good = np.ones(len(histogram), dtype=np.bool_)
    for constraint in constraints:
        good[good] = constraint.allows(histogram if good.all() else histogram[good], overall, paths=paths)
    return good


# --- the size of a class --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KAnonymity(Constraint):
    """At least k rows in the class.

    >>> KAnonymity(3).allows(np.array([[2, 1], [2, 0]]), np.array([4, 1]))
    array([ True, False])

    L. Sweeney, "k-anonymity", IJUFKS 10 (2002).
    """

    k: int
    compares: ClassVar[Comparison] = Comparison("k", "at least", "k")

    def __post_init__(self) -> None:
        _check_whole("k", self.k)

    def _value(self, classes: _Classes) -> Floats:
        return np.asarray(classes.histogram.sum(axis=1), dtype=np.float64)


# --- diversity ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DistinctL(Constraint):
    """Distinct l-diversity: at least l different sensitive values.

    >>> DistinctL(2).allows(np.array([[97, 1, 1], [5, 0, 0]]), np.array([102, 1, 1]))
    array([ True, False])

    A. Machanavajjhala et al., "l-diversity", TKDD 1 (2007), section 3.
    """

    l: int  # noqa: E741 - the literature's name
    compares: ClassVar[Comparison] = Comparison("distinct l", "at least", "l")

    def __post_init__(self) -> None:
        _check_whole("l", self.l)

    def _value(self, classes: _Classes) -> Floats:
        return np.asarray(np.count_nonzero(classes.histogram, axis=1), dtype=np.float64)


@dataclass(frozen=True)
class PSensitive(Constraint):
    """p-sensitive k-anonymity: at least p different values of the sensitive column; the same test as `DistinctL`.

    >>> PSensitive(2).allows(np.array([[1, 1], [2, 0]]), np.array([3, 1]))
    array([ True, False])

    T. M. Truta, B. Vinay, "Privacy protection: p-sensitive k-anonymity property", ICDEW 2006.
    """

    p: int
    compares: ClassVar[Comparison] = Comparison("p (distinct values)", "at least", "p")

    def __post_init__(self) -> None:
        _check_whole("p", self.p)

    def _value(self, classes: _Classes) -> Floats:
        return np.asarray(np.count_nonzero(classes.histogram, axis=1), dtype=np.float64)


@dataclass(frozen=True)
class EntropyL(Constraint):
    """Entropy l-diversity: H = -sum_s p_s ln p_s >= ln l, that is at least l effective values exp(H); l is real.

    >>> EntropyL(3).allows(np.array([[4, 4, 4], [10, 1, 1]]), np.array([14, 5, 5]))
    array([ True, False])

    Machanavajjhala et al. 2007, definition 4.1.
    """

    l: float  # noqa: E741 - the literature's name
    compares: ClassVar[Comparison] = Comparison("entropy l", "at least", "l")

    def __post_init__(self) -> None:
        _check_number("l", self.l, low=1.0)

    def _value(self, classes: _Classes) -> Floats:
        p = classes.p
        log = np.log(p, out=np.zeros_like(p), where=p > 0)
        return np.asarray(np.exp(-(p * log).sum(axis=1)), dtype=np.float64)


@dataclass(frozen=True)
class RecursiveL(Constraint):
    """Recursive (c, l)-diversity: r_1 < c (r_l + ... + r_m), strictly, for counts r_1 >= r_2 >= ... >= r_m.

    The value is r_1 / (r_l + ... + r_m), infinite with fewer than l values: c must lie above it. Equal counts may be
    numbered in any order.

    >>> RecursiveL(c=7.0, l=3).allows(np.array([[7, 2, 1], [6, 2, 1]]), np.array([13, 4, 2]))
    array([False,  True])

    Machanavajjhala et al. 2007, definition 4.2.
    """

    c: float
    l: int  # noqa: E741 - the literature's name
    compares: ClassVar[Comparison] = Comparison("r_1 / (r_l + ... + r_m)", "below", "c")

    def __post_init__(self) -> None:
        _check_number("c", self.c, low=0.0, strict=True)
        _check_whole("l", self.l)

    def _value(self, classes: _Classes) -> Floats:
        ordered = np.sort(classes.histogram, axis=1)[:, ::-1]
        tail = ordered[:, self.l - 1 :].sum(axis=1)
        top = ordered.max(axis=1, initial=0)
        return np.asarray(np.divide(top, tail, out=np.full(len(tail), math.inf), where=tail > 0))


@dataclass(frozen=True)
class AlphaK(Constraint):
    """The frequency condition of (alpha, k)-anonymity: no value takes more than a share alpha of the class.

    k is asked for separately, as `k` of the protection or as `KAnonymity`.

    >>> AlphaK(0.5).allows(np.array([[1, 1], [2, 1]]), np.array([3, 2]))
    array([ True, False])

    R. C.-W. Wong et al., "(alpha, k)-anonymity", KDD 2006.
    """

    alpha: float
    compares: ClassVar[Comparison] = Comparison("largest share", "at most", "alpha")

    def __post_init__(self) -> None:
        _check_number("alpha", self.alpha, low=0.0, strict=True)

    def _value(self, classes: _Classes) -> Floats:
        return np.asarray(classes.p.max(axis=1, initial=0.0))


# --- closeness to the whole table -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TCloseness(Constraint):
    """t-closeness: the distance between p and q is at most t.

    equal : total variation 0.5 sum_s |p_s - q_s| over all m values, those absent from the class included.
    ordered : (1 / (m - 1)) sum_i |sum_{j <= i} (p_j - q_j)|; the columns of the histogram are in rank order, ranks
        count the values that occur, not magnitudes; m = 1 gives 0.
    hierarchical : sum over the inner nodes of (h / H) min(positive excess, negative excess) of their children, h the
        height of the node and H that of the root; computed as the mean of the total variations at heights 0 to H - 1,
        which is the same sum. It needs the hierarchy of the sensitive column.
    kl : relative entropy sum_s p_s ln(p_s / q_s), in nats. A different criterion that parts of the literature call
        by the same name; it is at least 2 TV^2.

    >>> TCloseness(0.25).value(np.array([[2, 0], [2, 1]]), np.array([3, 3]))
    array([0.5       , 0.16666667])

    N. Li, T. Li, S. Venkatasubramanian, "t-closeness", ICDE 2007, section 4; kl: D. Rebollo-Monedero, J. Forné,
    J. Domingo-Ferrer, TKDE 22 (2010), section 4.
    """

    t: float
    distance: Distance = "equal"
    compares: ClassVar[Comparison] = Comparison("distance", "at most", "t")

    def __post_init__(self) -> None:
        _check_number("t", self.t, low=0.0)
        if self.distance not in get_args(Distance):
            raise UnmaskError(f"distance is {self.distance!r}, expected one of {', '.join(get_args(Distance))}")

    def _value(self, classes: _Classes) -> Floats:
        p, q = classes.p, classes.q
        if self.distance == "equal":
            return _total_variation(p - q)
        if self.distance == "ordered":
            gap = np.cumsum((p - q)[:, classes.used], axis=1)
            return np.asarray(np.abs(gap).sum(axis=1) / max(gap.shape[1] - 1, 1))
        if self.distance == "kl":
            with np.errstate(divide="ignore"):
                ratio = np.divide(p, q, out=np.ones_like(p), where=p > 0)
            return np.asarray(np.maximum((p * np.log(ratio)).sum(axis=1), 0.0))
        if classes.paths is None:
            raise UnmaskError("the hierarchical distance was asked for without a hierarchy; give one for the column")
        heights = [_total_variation(_merge(p - q, nodes)) for nodes in classes.paths]
        return np.asarray(sum(heights, np.zeros(len(p))) / max(len(heights), 1))


@dataclass(frozen=True)
class DeltaDisclosure(Constraint):
    """delta-disclosure privacy: |ln(p_s / q_s)| < delta, strictly, for every value of the table.

    A class that lacks a value of the table has p_s = 0, an infinite ratio, and fails for every delta.

    >>> DeltaDisclosure(0.7).allows(np.array([[2, 1], [3, 0]]), np.array([3, 3]))
    array([ True, False])

    J. Brickell, V. Shmatikov, "The cost of privacy", KDD 2008, definition 2.
    """

    delta: float
    compares: ClassVar[Comparison] = Comparison("delta in nats", "below", "delta")

    def __post_init__(self) -> None:
        _check_number("delta", self.delta, low=0.0, strict=True)

    def _value(self, classes: _Classes) -> Floats:
        with np.errstate(divide="ignore"):
            ratio = np.log(classes.p[:, classes.used] / classes.q[classes.used])
        return np.asarray(np.abs(ratio).max(axis=1, initial=0.0))


@dataclass(frozen=True)
class BetaLikeness(Constraint):
    """Enhanced beta-likeness: p_s <= q_s (1 + min(beta, -ln q_s)) for every value.

    -ln q_s is the value's own bound. The quantity compared is the smallest beta that would do, infinite if none does.

    >>> BetaLikeness(1.0).allows(np.array([[3, 2], [5, 0]]), np.array([5, 5]))
    array([ True, False])

    J. Cao, P. Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 5 (2012), definition 3.
    """

    beta: float
    compares: ClassVar[Comparison] = Comparison("beta", "at most", "beta")

    def __post_init__(self) -> None:
        _check_number("beta", self.beta, low=0.0)

    def _value(self, classes: _Classes) -> Floats:
        p, q = classes.p[:, classes.used], classes.q[classes.used]
        gain = np.maximum((p - q) / q, 0.0)
        return np.asarray(np.where(gain > -np.log(q) + TOLERANCE, math.inf, gain).max(axis=1, initial=0.0))


def _total_variation(excess: Floats) -> Floats:
    return np.asarray(0.5 * np.abs(excess).sum(axis=1))


def _merge(excess: Floats, nodes: NDArray[np.int32]) -> Floats:
    """Sum the columns of one node: (P, m) to (P, number of nodes)."""
    order = np.argsort(nodes, kind="stable")
    begins = np.flatnonzero(np.concatenate([[True], np.diff(nodes[order]) != 0]))
    return np.asarray(np.add.reduceat(excess[:, order], begins, axis=1), dtype=np.float64)


def _check_whole(name: str, given: object) -> None:
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 1:
        raise UnmaskError(f"{name} is {given!r}, expected a whole number of at least 1")


def _check_number(name: str, given: object, *, low: float, strict: bool = False) -> None:
    number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
    value = float(given) if number else math.nan  # type: ignore[arg-type]
    if not math.isfinite(value) or value < low or (strict and value == low):
        raise UnmaskError(f"{name} is {given!r}, expected a number {'above' if strict else 'of at least'} {low:g}")
