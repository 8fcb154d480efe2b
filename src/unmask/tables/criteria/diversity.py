"""How many sensitive values a class holds, and how large a share its commonest one has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.tables.criteria.histograms import view_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables.criteria.histograms import CountMatrix, Floats

_WHOLE = 1e-10
"""An effective number of values this close (relatively) to a whole number is that number: exp(ln 5) is 5 - 9e-16."""


def l_distinct(counts: CountMatrix) -> NDArray[np.int64]:
    """Distinct l-diversity: the number of s with n_cs > 0, per class (J,), at least 1.

    The same number is p of p-sensitive k-anonymity (Truta and Vinay, ICDEW 2006).

    >>> l_distinct(np.array([[97, 1, 1, 1], [5, 0, 5, 0]]))
    array([4, 2])

    A. Machanavajjhala et al., "l-diversity", TKDD 1 (2007), section 3.
    """
    return view_of(counts).width


def l_entropy(counts: CountMatrix) -> Floats:
    """Entropy l-diversity: the effective number of values exp(H), H = -sum_s p_s ln p_s, per class (J,), 1 to m.

    Real, never cut to an integer. Values within 1e-10 of a whole number are that number, so a class uniform over l
    values gives exactly l and may be compared with a whole threshold.

    >>> l_entropy(np.array([[4, 4, 4, 0], [97, 1, 1, 1]]))
    array([3.  , 1.18...])

    Machanavajjhala et al. 2007, definition 4.1.
    """
    view = view_of(counts)
    count = np.asarray(view.count, dtype=np.float64)
    log = np.log(count, out=np.zeros_like(count), where=count > 0)
    effective = np.exp(np.log(view.sizes) - view.add(count * log) / view.sizes)
    whole = np.rint(effective)
    return np.asarray(np.where(np.abs(effective - whole) <= _WHOLE * whole, whole, effective), dtype=np.float64)


def l_recursive(counts: CountMatrix, *, l: int = 2) -> Floats:  # noqa: E741 - the literature's name
    """Recursive (c, l)-diversity: the infimum of the c that hold, per class (J,).

    Counts in descending order r_1 >= ... >= r_m; (c, l) asks r_1 < c (r_l + ... + r_m), strictly, so a class is
    (c, l)-diverse for every c above r_1 / (r_l + ... + r_m) and not at it. A class with fewer than l values fails for
    every c: inf. l = 1 gives p_max. Ties do not change the value.

    >>> l_recursive(np.array([[7, 2, 1], [5, 5, 0]]), l=3)
    array([ 7., inf])

    Machanavajjhala et al. 2007, definition 4.2.
    """
    if l < 1:
        raise UnmaskError(f"l is {l}, expected at least 1")
    view = view_of(counts)
    top = view.largest(view.count)
    tail = view.beyond(l - 1) if l > 2 else view.sizes - (top if l == 2 else 0)
    return np.asarray(np.divide(top, tail, out=np.full(len(tail), np.inf), where=tail > 0))


def alpha(counts: CountMatrix) -> Floats:
    """Largest share max_s p_s of one value, per class (J,), 1/m to 1: the alpha of (alpha, k)-anonymity.

    It is also the success probability of an adversary who knows the class and guesses its commonest value; ties do not
    matter: whichever of them is guessed, the probability is the same.

    >>> alpha(np.array([[97, 1, 1, 1]]))
    array([0.97])

    R. C.-W. Wong et al., "(alpha, k)-anonymity", KDD 2006.
    """
    view = view_of(counts)
    return np.asarray(view.largest(view.count) / view.sizes, dtype=np.float64)


def map_error(counts: CountMatrix, *, rows: NDArray[np.int64] | None = None) -> float:
    """Error of the adversary who knows the class and names its commonest value: 1 - sum_c max_s n_cs / n, 0 to 1.

    rows : (J,) weight of each class, its size unless given (it differs where classes overlap). l-diversity bounds this
    error only when p is uniform: the class (97, 1, 1, 1) is distinct 4-diverse and its error is 0.03.

    >>> round(map_error(np.array([[97, 1, 1, 1]])), 12)
    0.03
    """
    view = view_of(counts)
    weight = view.sizes if rows is None else rows
    return float(1 - np.sum(alpha(view) * weight) / weight.sum())
