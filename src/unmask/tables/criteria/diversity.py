"""Diversity of the sensitive values of a class, and the share of the most common one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.tables.column import Classes, Column
from unmask.tables.criteria.histograms import CountMatrix, Histograms

WHOLE_NUMBER_TOLERANCE = 1e-10
"""Relative distance from a whole number up to which an effective number of values is rounded to it: exp(ln 5) is
5 - 9e-16.
"""


def l_distinct(counts: CountMatrix) -> Integers:
    """Return distinct l-diversity: the number of s with n_cs > 0, at least 1.

    The same number is p of p-sensitive k-anonymity (Truta and Vinay, ICDEW 2006).

    Parameters
    ----------
    counts : CountMatrix
        (J, m) rows of each class with each value.

    Returns
    -------
    Integers
        (J,) values of each class.

    References
    ----------
    A. Machanavajjhala et al., "l-diversity", TKDD 1 (2007), section 3.

    Examples
    --------
    >>> l_distinct(np.array([[97, 1, 1, 1], [5, 0, 5, 0]]))
    array([4, 2])
    """
    return Histograms.of(counts).width


def l_entropy(counts: CountMatrix) -> Floats:
    """Return entropy l-diversity: the effective number of values exp(H), H = -sum_s p_s ln p_s, from 1 to m.

    The result is a real number. Values within 1e-10 of a whole number are rounded to it, so that a class that is
    uniform over l values gives exactly l.

    Parameters
    ----------
    counts : CountMatrix
        (J, m) rows of each class with each value.

    Returns
    -------
    Floats
        (J,) one number for each class.

    References
    ----------
    Machanavajjhala et al. 2007, definition 4.1.

    Examples
    --------
    >>> l_entropy(np.array([[4, 4, 4, 0], [97, 1, 1, 1]]))
    array([3.  , 1.18...])
    """
    view = Histograms.of(counts)
    count = np.asarray(view.count, dtype=np.float64)
    log = np.log(count, out=np.zeros_like(count), where=count > 0)
    effective = np.exp(np.log(view.sizes) - view.sum_by_class(count * log) / view.sizes)
    nearest_integer = np.rint(effective)
    is_whole = np.abs(effective - nearest_integer) <= WHOLE_NUMBER_TOLERANCE * nearest_integer
    return np.where(is_whole, nearest_integer, effective)


def l_recursive(counts: CountMatrix, *, l: int = 2) -> Floats:  # noqa: E741 - the literature's name
    """Return recursive (c, l)-diversity: the infimum of the c that hold.

    With counts in descending order r_1 >= ... >= r_m, (c, l)-diversity requires r_1 < c (r_l + ... + r_m). A class
    satisfies it for every c above r_1 / (r_l + ... + r_m), which is the result. A class with fewer than l values
    satisfies it for no c, and the result is inf. For l = 1 the result is the largest share of a value.

    Parameters
    ----------
    counts : CountMatrix
        (J, m) rows of each class with each value.
    l : int, optional
        Rank of the first value of the tail, at least 1.

    Returns
    -------
    Floats
        (J,) one number for each class.

    References
    ----------
    Machanavajjhala et al. 2007, definition 4.2.

    Examples
    --------
    >>> l_recursive(np.array([[7, 2, 1], [5, 5, 0]]), l=3)
    array([ 7., inf])
    """
    if l < 1:
        raise UnmaskError(f"l is {l}, expected at least 1")
    view = Histograms.of(counts)
    top = view.max_by_class(view.count)
    tail = view.count_beyond(l - 1) if l > 2 else view.sizes - (top if l == 2 else 0)
    return np.asarray(np.divide(top, tail, out=np.full(len(tail), np.inf), where=tail > 0))


def alpha(counts: CountMatrix) -> Floats:
    """Return the largest share max_s p_s of one value: the alpha of (alpha, k)-anonymity, from 1/m to 1.

    It is also the success probability of an adversary who knows the class and guesses its most common value. Ties do
    not change the probability.

    Parameters
    ----------
    counts : CountMatrix
        (J, m) rows of each class with each value.

    Returns
    -------
    Floats
        (J,) one number for each class.

    References
    ----------
    R. C.-W. Wong et al., "(alpha, k)-anonymity", KDD 2006.

    Examples
    --------
    >>> alpha(np.array([[97, 1, 1, 1]]))
    array([0.97])
    """
    view = Histograms.of(counts)
    return np.asarray(view.max_by_class(view.count) / view.sizes, dtype=np.float64)


def map_error(counts: CountMatrix, *, rows: Integers | None = None) -> float:
    """Return the error of an adversary who knows the class and guesses its most common value: 1 - sum_c max_s n_cs / n.

    Parameters
    ----------
    counts : CountMatrix
        (J, m) rows of each class with each value.
    rows : Integers | None, optional
        (J,) weight of each class. The default is its size, which differs if classes overlap.

    Returns
    -------
    float
        Share of the rows that are guessed wrong, from 0 to 1.

    Examples
    --------
    >>> round(map_error(np.array([[97, 1, 1, 1]])), 12)
    0.03
    """
    view = Histograms.of(counts)
    weight = view.sizes if rows is None else rows
    return float(1 - np.sum(alpha(view) * weight) / weight.sum())


NEAR_SHARE = 0.1
"""A guess is near a number if it differs from it by at most this share of the number."""

MIN_DISTINCT_NUMBERS = 10
"""Smallest number of distinct numbers in a column of numbers. Columns with fewer are treated as categories."""


MAX_INTERVAL_SHARE = 0.1
"""Largest share of cells that may be intervals of numbers, which count as never near."""


class ValueProximity(NamedTuple):
    """Share of numbers that a guess misses by at most 10 %.

    Parameters
    ----------
    average : float
        Mean over rows, for an adversary who knows the class.
    largest : float
        Largest share of a class.
    prior : float
        Share for an adversary who knows only the numbers of the whole table.
    """

    average: float
    largest: float
    prior: float


def value_proximity(classes: Classes, column: Column, *, original: Column | None = None) -> ValueProximity | None:
    """Return how often the best guess g of a number x is right within 10 %: |g - x| <= |x| / 10.

    A guess can be near all numbers from a to b, if they have one sign and b <= a 1.1 / 0.9. The best guess for a class
    is that of the window with the most rows. There is no result (None) if the column has fewer than 10 distinct
    numbers, or if more than a tenth of its cells are intervals with two ends, because such intervals may reveal their
    numbers nearly, too. Other cells that are not single numbers count as never near.

    Parameters
    ----------
    classes : Classes
        Classes of the complete rows of a release.
    column : Column
        Sensitive column of numbers of the same rows.
    original : Column | None, optional
        Column before protection, for the prior; that of the release if None.

    Returns
    -------
    ValueProximity or None
        None for a column that is not of numbers, see above.

    References
    ----------
    J. Li, Y. Tao, X. Xiao, "Preservation of proximity privacy in publishing numerical sensitive data", SIGMOD 2008;
    10 % as in the p % rule of statistical offices.

    Examples
    --------
    >>> from unmask.tables import Table
    >>> pay = [50_000, 50_100, 50_200, 50_300, 50_400, 20_000, 30_000, 45_000, 70_000, 99_000]
    >>> table = Table.read({"q": list("aaaaabbbbb"), "pay": pay}, quasi_identifiers="q", sensitive="pay")
    >>> value_proximity(table.classes, table.sensitive[0])
    ValueProximity(average=0.6, largest=1.0, prior=0.6)
    """
    if column.type != "number" or np.count_nonzero(column.counts) < MIN_DISTINCT_NUMBERS:
        return None
    if _is_bounded_interval(column)[column.codes].mean() > MAX_INTERVAL_SHARE:
        return None
    numbers = _numbers(column)
    n_near, sizes = _count_near_rows(classes.of_row, numbers)
    prior_numbers = numbers if original is None else _numbers(original)
    n_near_prior, n = _count_near_rows(np.zeros(len(prior_numbers), dtype=np.int64), prior_numbers)
    average, prior = n_near.sum() / len(numbers), n_near_prior[0] / n[0]
    return ValueProximity(float(average), float((n_near / sizes).max()), float(prior))


def _is_bounded_interval(column: Column) -> Booleans:
    """Return a (L,) mask of the levels that are intervals with two ends."""
    low, high = column.levels.low, column.levels.high
    return np.asarray((low < high) & np.isfinite(low) & np.isfinite(high))


def _numbers(column: Column) -> Floats:
    """Return the (n_rows,) number of each cell; nan for other cells."""
    low, high = column.levels.low, column.levels.high
    return np.where((low == high) & np.isfinite(low), low, np.nan)[column.codes]


def _count_near_rows(of_row: NDArray[np.integer], numbers: Floats) -> tuple[Integers, Integers]:
    """Return, for each class, the largest number of rows near one guess, and the number of all rows."""
    classes, of_row, sizes = np.unique(of_row, return_inverse=True, return_counts=True)
    numeric_rows = np.flatnonzero(~np.isnan(numbers))
    x = numbers[numeric_rows]
    with np.errstate(divide="ignore"):
        place = np.where(x == 0, 0.0, np.log(np.abs(x)))
    width = np.log((1 + NEAR_SHARE) / (1 - NEAR_SHARE)) + 1e-12
    gap = np.ptp(place) + 2 * width if len(x) else 1.0  # between groups: of one class and sign
    group = 3 * of_row[numeric_rows] + np.sign(x).astype(np.int64) + 1
    order = np.lexsort((place, group))
    key = group[order] * gap + place[order]
    count = np.searchsorted(key, key + width, side="right") - np.arange(len(key))
    n_near = np.zeros(len(classes), dtype=np.int64)
    np.maximum.at(n_near, of_row[numeric_rows][order], count)
    return n_near, sizes
