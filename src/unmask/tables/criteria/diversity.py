"""How many sensitive values a class holds, and how large a share its commonest one has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import UnmaskError
from unmask.tables.criteria.histograms import Histograms

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
    return Histograms.of(counts).width


def l_entropy(counts: CountMatrix) -> Floats:
    """Entropy l-diversity: the effective number of values exp(H), H = -sum_s p_s ln p_s, per class (J,), 1 to m.

    Real, never cut to an integer. Values within 1e-10 of a whole number are that number, so a class uniform over l
    values gives exactly l and may be compared with a whole threshold.

    >>> l_entropy(np.array([[4, 4, 4, 0], [97, 1, 1, 1]]))
    array([3.  , 1.18...])

    Machanavajjhala et al. 2007, definition 4.1.
    """
    view = Histograms.of(counts)
    count = view.matrix.data.astype(np.float64)
    effective = np.exp(np.log(view.sizes) - view.add(count * np.log(count)) / view.sizes)
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
    view = Histograms.of(counts)
    data = view.matrix.data
    top = np.maximum.reduceat(data, view.start)
    if l <= 2:
        tail = view.sizes - (top if l == 2 else 0)
    else:
        limit = int(data.max()) + 1
        word = np.repeat(np.arange(len(view.width)), view.width) * limit + (limit - 1 - data)
        word.sort()
        descending = np.concatenate(([0], np.cumsum(limit - 1 - word % limit)))
        end = view.start + view.width
        tail = descending[end] - descending[np.minimum(view.start + l - 1, end)]
    needed = np.full(len(tail), np.inf)
    np.divide(top, tail, out=needed, where=tail > 0)
    return needed


def alpha(counts: CountMatrix) -> Floats:
    """Largest share max_s p_s of one value, per class (J,), 1/m to 1: the alpha of (alpha, k)-anonymity.

    It is also the success probability of an adversary who knows the class and guesses its commonest value; ties do not
    matter, for he succeeds with the same probability whichever of them he names.

    >>> alpha(np.array([[97, 1, 1, 1]]))
    array([0.97])

    R. C.-W. Wong et al., "(alpha, k)-anonymity", KDD 2006.
    """
    view = Histograms.of(counts)
    return np.asarray(np.maximum.reduceat(view.matrix.data, view.start) / view.sizes, dtype=np.float64)


def map_error(counts: CountMatrix, *, rows: NDArray[np.int64] | None = None) -> float:
    """Error of the adversary who knows the class and names its commonest value: 1 - sum_c max_s n_cs / n, 0 to 1.

    rows : (J,) weight of each class, its size unless given (it differs where classes overlap). l-diversity bounds this
    error only when p is uniform: the class (97, 1, 1, 1) is distinct 4-diverse and its error is 0.03.

    >>> round(map_error(np.array([[97, 1, 1, 1]])), 12)
    0.03
    """
    view = Histograms.of(counts)
    weight = view.sizes if rows is None else rows
    return float(1 - np.sum(alpha(view) * weight) / weight.sum())
