"""Distances of the sensitive values of a class from those of the whole table: p_s against q_s."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.tables.criteria.histograms import Histograms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables.criteria.histograms import CountMatrix


def t_equal(counts: CountMatrix) -> Floats:
    """Return t-closeness with equal ground distance: the total variation 0.5 sum_s |p_s - q_s| over all values.

    The result is from 0 to 1, and 0 for a constant column. It is computed as the sum of the positive differences
    p_s - q_s, which is the same number. Kullback-Leibler divergence is `t_kl`.

    Parameters
    ----------
    counts : CountMatrix
        (J, m) rows of each class with each value. q is their sum over classes; a `Histograms` has its own q.

    Returns
    -------
    Floats
        (J,) one number for each class.

    References
    ----------
    N. Li, T. Li, S. Venkatasubramanian, "t-closeness", ICDE 2007, section 4.1.

    Examples
    --------
    >>> t_equal(np.array([[2, 0], [0, 2]]))
    array([0.5, 0.5])
    """
    view = Histograms.of(counts)
    return view.sum_by_class(np.maximum(view.p - view.q, 0.0))


def t_ordered(counts: CountMatrix) -> Floats:
    """Return t-closeness with ordered distance: 1/(m-1) sum_{i<m} |sum_{j<=i} (p_j - q_j)|, from 0 to 1.

    The columns of the matrix have to be in rank order. The distance counts ranks of the m values that occur, not
    magnitudes: 9,000 and 10,000 are one step apart if no value is between them. The result is 0 if m is 1.

    The cumulative share of a class is constant between two of its values. Each such run is summed in closed form from
    prefix sums of Q, so that no array of size J x m is needed.

    Parameters
    ----------
    counts : CountMatrix
        (J, m) rows of each class with each value. q is their sum over classes; a `Histograms` has its own q.

    Returns
    -------
    Floats
        (J,) one number for each class.

    References
    ----------
    Li et al. 2007, section 4.1 (ordered distance).

    Examples
    --------
    >>> t_ordered(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    array([0.5..., 0.33..., 0.5...])
    """
    view = Histograms.of(counts)
    if view.domain < 2:
        return np.zeros(len(view.width))
    position = np.cumsum(view.overall > 0) - 1
    # rounded once, like the shares of a class: equal distributions are at distance 0, not 1e-17
    Q = np.cumsum(view.overall[view.overall > 0])[:-1] / view.overall.sum()
    total = np.concatenate(([0.0], np.cumsum(Q)))
    begin = position[view.matrix.indices]
    end = np.append(begin[1:], view.domain - 1)
    end[view.start[1:] - 1] = view.domain - 1
    data = np.cumsum(view.matrix.data)
    base = np.repeat(data[view.start] - view.matrix.data[view.start], view.width)
    level = (data - base) / np.repeat(view.sizes, view.width)
    runs = _distance_to_steps(level, begin, np.minimum(end, view.domain - 1), Q, total)
    head = total[begin[view.start]]  # the class has no mass before its first value
    return np.asarray(np.maximum((view.sum_by_class(runs) + head) / (view.domain - 1), 0.0), dtype=np.float64)


def _distance_to_steps(level: Floats, begin: Integers, end: Integers, Q: Floats, total: Floats) -> Floats:
    """Return sum_{begin <= i < end} |level - Q_i| for ascending Q with prefix sums `total`."""
    cross = np.clip(np.searchsorted(Q, level), begin, end)
    area_below = level * (cross - begin) - (total[cross] - total[begin])
    area_above = (total[end] - total[cross]) - level * (end - cross)
    run = np.maximum(area_below, 0.0) + np.maximum(area_above, 0.0)
    single = end - begin == 1
    run[single] = np.abs(level[single] - Q[begin[single]])
    return np.asarray(run, dtype=np.float64)


def t_hierarchical(counts: CountMatrix, paths: NDArray[np.int32]) -> Floats:
    """Return t-closeness with the distance of a hierarchy of values.

    Parameters
    ----------
    counts : CountMatrix
        (J, m) rows of each class with each value. q is their sum over classes; a `Histograms` has its own q.
    paths : NDArray[np.int32]
        (m, height + 1) nodes of the hierarchy above each value, leaf first.

    Returns
    -------
    Floats
        (J,) one number for each class.

    References
    ----------
    Li et al. 2007, section 4.2 (hierarchical distance).

    Examples
    --------
    >>> two_halves = np.array([[0, 1, 2, 3], [0, 0, 1, 1]], np.int32)
    >>> t_hierarchical(np.array([[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 2]]), two_halves)
    array([0.625, 0.625, 0.5  ])
    """
    view = Histograms.of(counts)
    if not len(paths):
        return np.zeros(len(view.width))
    return np.asarray(sum(t_equal(view.merge_values(nodes)) for nodes in paths) / len(paths), dtype=np.float64)


def t_kl(counts: CountMatrix) -> Floats:
    """Return the Kullback-Leibler divergence sum_s p_s ln(p_s / q_s), in nats.

    Values absent from the class add 0. Total variation is at most sqrt(D / 2) (Pinsker, in nats).

    Parameters
    ----------
    counts : CountMatrix
        (J, m) rows of each class with each value. q is their sum over classes; a `Histograms` has its own q.

    Returns
    -------
    Floats
        (J,) one number for each class.

    References
    ----------
    D. Rebollo-Monedero, J. Forné, J. Domingo-Ferrer, TKDE 22 (2010), section 4.

    Examples
    --------
    >>> t_kl(np.array([[2, 0], [0, 2]]))
    array([0.6931..., 0.6931...])
    """
    view = Histograms.of(counts)
    return np.maximum(view.sum_by_class(view.p * _log_ratio(view)), 0.0)


def delta_disclosure(counts: CountMatrix) -> Floats:
    """Return the delta of delta-disclosure privacy: max_s |ln(p_s / q_s)|.

    The maximum is over all values of the table. A class that lacks a value has p_s = 0, so that delta is inf. The
    release is delta-disclosure private for every delta above the maximum; the inequality of the definition is strict.

    Parameters
    ----------
    counts : CountMatrix
        (J, m) rows of each class with each value. q is their sum over classes; a `Histograms` has its own q.

    Returns
    -------
    Floats
        (J,) one number for each class.

    References
    ----------
    J. Brickell, V. Shmatikov, "The cost of privacy", KDD 2008, definition 2.

    Examples
    --------
    >>> delta_disclosure(np.array([[2, 1], [1, 2], [3, 0]]))
    array([0.  , 0.69...,  inf])
    """
    view = Histograms.of(counts)
    largest = view.max_by_class(np.abs(_log_ratio(view)))
    largest[view.width < view.domain] = np.inf
    return largest


def delta_up(counts: CountMatrix) -> Floats:
    """Return the upward half of delta-disclosure: max_s ln(p_s / q_s), in nats, always finite.

    exp(delta_up) is the largest factor by which the class increases the probability of a value. Values that the class
    rules out do not count.

    Parameters
    ----------
    counts : CountMatrix
        (J, m) rows of each class with each value. q is their sum over classes; a `Histograms` has its own q.

    Returns
    -------
    Floats
        (J,) one number for each class.

    Examples
    --------
    >>> delta_up(np.array([[3, 0], [0, 3]]))
    array([0.69..., 0.69...])
    """
    view = Histograms.of(counts)
    return np.maximum(view.max_by_class(_log_ratio(view)), 0.0)


def beta_likeness(counts: CountMatrix) -> Floats:
    """Return enhanced beta-likeness: the smallest beta that each class satisfies, inf if none does.

    It requires (p_s - q_s) / q_s <= min(beta, -ln q_s) for every value with p_s > q_s. If a value exceeds its own bound
    -ln q_s, no beta is enough, and the result is inf.

    Parameters
    ----------
    counts : CountMatrix
        (J, m) rows of each class with each value. q is their sum over classes; a `Histograms` has its own q.

    Returns
    -------
    Floats
        (J,) one number for each class.

    References
    ----------
    J. Cao, P. Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 5 (2012), definition 3.

    Examples
    --------
    >>> beta_likeness(np.array([[3, 2], [2, 3]])), beta_likeness(np.array([[2, 0], [0, 2]]))
    (array([0.2, 0.2]), array([inf, inf]))
    """
    view = Histograms.of(counts)
    gain = _relative_gain(view)
    bound = -np.log(view.q, out=np.full_like(view.q, -np.inf), where=view.q > 0)
    return view.max_by_class(np.where(gain > bound * (1 + 1e-12), np.inf, gain))


def beta_basic(counts: CountMatrix) -> Floats:
    """Return the beta of basic beta-likeness: max_s (p_s - q_s) / q_s over the values that gain.

    Parameters
    ----------
    counts : CountMatrix
        (J, m) rows of each class with each value. q is their sum over classes; a `Histograms` has its own q.

    Returns
    -------
    Floats
        (J,) one number for each class.

    References
    ----------
    Cao and Karras 2012, definition 2.

    Examples
    --------
    >>> beta_basic(np.array([[2, 0], [0, 2]]))
    array([1., 1.])
    """
    view = Histograms.of(counts)
    return view.max_by_class(_relative_gain(view))


def _relative_gain(view: Histograms) -> Floats:
    return np.maximum(view.divide_by_q(view.p - view.q), 0.0)


def _log_ratio(view: Histograms) -> Floats:
    """Return ln(p_s / q_s) of the stored values; 0 if p_s is 0."""
    ratio = view.divide_by_q(view.p)
    return np.log(ratio, out=np.zeros_like(ratio), where=ratio > 0)
