"""Anonymity of a whole system: measures of the one-to-one matchings of senders and receivers."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import lgamma, log
from typing import Literal, NamedTuple

import numpy as np

from unmask.channels._matrices import Floats, Ints, log_or_0
from unmask.channels.attacks.matching import check_weights, log_permanent, no_matching, sum_matchings
from unmask.core.errors import UnmaskError

MAX_LISTED_MESSAGES = 9
"""Messages up to which all matchings are listed: 362,880."""

STOCHASTIC_TOLERANCE = 1e-6
"""Largest distance of a row or column sum of a doubly stochastic matrix from 1."""


class SystemAnonymity(NamedTuple):
    """An entropy over matchings and its degree.

    Parameters
    ----------
    entropy_bits : float
        The entropy in bits.
    degree : float
        Its share of the largest possible entropy.
    """

    entropy_bits: float
    degree: float


def edman_degree(weights: Floats, *, kind: Literal["possible", "stochastic"]) -> float:
    """Compute Edman's degree of anonymity of a whole system, 0 to 1, from a permanent.

    It describes the system: one target may be fully exposed while the degree is high. The stochastic form is not an
    entropy and differs from `bagai_entropy` of the same matrix.

    Parameters
    ----------
    weights : (n, n) array
        Weights of the pairs, n <= 20.
    kind : {"possible", "stochastic"}
        "possible": ln per(A) / ln n!, with A the 0/1 matrix of the pairs with positive weight; 1 if all are possible.
        "stochastic": ln per(P) / ln(n! / n^n), P doubly stochastic; 1 for the uniform matrix, 0 for a permutation.

    Returns
    -------
    float
        The degree, 0 for n = 1.

    Raises
    ------
    UnmaskError
        If the weights are not square, or not doubly stochastic for the second kind.

    References
    ----------
    M. Edman, F. Sivrikaya, B. Yener, "A combinatorial approach to measuring anonymity", ISI 2007.

    Examples
    --------
    >>> P = np.array([[0, 1, 3], [2, 1, 1], [2, 2, 0]]) / 4
    >>> round(edman_degree(P, kind="stochastic"), 3), round(bagai_entropy(P).degree, 3)
    (0.773, 0.501)
    """
    W, n = _check_square(weights)
    if n == 1:
        return 0.0
    if kind == "possible":
        return max(log_permanent((W > 0).astype(np.float64)), 0.0) / lgamma(n + 1)
    if kind != "stochastic":
        raise UnmaskError(f"the kind is {kind!r}, expected 'possible' or 'stochastic'")
    deviation = max(np.abs(W.sum(axis=0) - 1).max(), np.abs(W.sum(axis=1) - 1).max())
    if deviation > STOCHASTIC_TOLERANCE:
        raise UnmaskError(
            f"a row or column sums to 1 only within {deviation:.2g}: the stochastic degree needs a doubly stochastic "
            "matrix; pass marginals, see `MatchingAttack`"
        )
    return max(log_permanent(W) / (lgamma(n + 1) - n * log(n)), 0.0)


def bagai_entropy(weights: Floats) -> SystemAnonymity:
    """Compute the entropy over perfect matchings m, p(m) proportional to prod_i W[i, m(i)].

    H = ln per(W) - sum_ij p_ij ln W_ij, exactly and without a list of the matchings.

    Parameters
    ----------
    weights : (n, n) array
        W, n <= 20.

    Returns
    -------
    SystemAnonymity
        H in bits and H / log2 n!, 0 for n = 1.

    Raises
    ------
    UnmaskError
        If the weights are not square, too large or without a matching.

    References
    ----------
    R. Bagai, H. Lu, R. Li, B. Tang, "An accurate system-wide anonymity metric for probabilistic attacks", PETS 2011.

    Examples
    --------
    >>> bagai_entropy(np.eye(3)).degree, round(bagai_entropy(np.ones((3, 3))).degree, 9)
    (0.0, 1.0)
    """
    W, n = _check_square(weights)
    log_per, p = sum_matchings(W)
    if np.isneginf(log_per):
        raise no_matching()
    return _describe(log_per - float((p * log_or_0(W)).sum()), n)


def gierlichs_degree(weights: Floats, *, sender: Ints, receiver: Ints) -> SystemAnonymity:
    """Compute the entropy over the numbers of messages between users.

    Matchings count once if they differ only in which of a user's own messages went where. The degree divides by
    log2 n!, so it is below the entropy over matchings if a user sends or receives twice.

    Parameters
    ----------
    weights : (n, n) array
        Weights of messages sent and messages received, n <= 9.
    sender, receiver : (n,) array
        The user who sent, or received, each message.

    Returns
    -------
    SystemAnonymity
        The entropy in bits and its share of log2 n!.

    Raises
    ------
    UnmaskError
        If the weights are not square, too large or without a matching.

    References
    ----------
    B. Gierlichs, C. Troncoso, C. Diaz, B. Preneel, I. Verbauwhede, "Revisiting a combinatorial approach toward
    measuring anonymity", WPES 2008.

    Examples
    --------
    >>> both = gierlichs_degree(np.ones((3, 3)), sender=np.array([0, 0, 1]), receiver=np.array([0, 0, 1]))
    >>> round(both.entropy_bits, 4)  # 6 matchings, 2 patterns: probabilities 1/3 and 2/3
    0.9183
    """
    W, n = _check_square(weights)
    if n > MAX_LISTED_MESSAGES:
        raise UnmaskError(
            f"{n} messages have too many matchings to be listed, expected at most {MAX_LISTED_MESSAGES}: take a "
            "smaller round"
        )
    if len(sender) != n or len(receiver) != n:
        raise UnmaskError(f"sender and receiver need one user for each of the {n} messages")
    order = np.argsort(sender, kind="stable")
    _, user = np.unique(np.asarray(receiver), return_inverse=True)
    matching = _list_permutations(n)
    weight = np.prod(W[order][np.arange(n), matching], axis=1)
    if weight.sum() <= 0:
        raise no_matching()
    pattern = user[matching]
    starts = np.flatnonzero(np.diff(np.asarray(sender)[order], prepend=np.asarray(sender)[order][0] - 1))
    for start, end in zip(starts, np.append(starts[1:], n), strict=True):
        pattern[:, start:end] = np.sort(pattern[:, start:end], axis=1)
    code = pattern @ (n ** np.arange(n))
    p = np.bincount(np.unique(code, return_inverse=True)[1], weights=weight) / weight.sum()
    return _describe(-float((p * log_or_0(p)).sum()), n)


def _describe(nats: float, n: int) -> SystemAnonymity:
    nats = max(float(nats), 0.0)
    return SystemAnonymity(nats / log(2.0), nats / lgamma(n + 1) if n > 1 else 0.0)


def _check_square(weights: Floats) -> tuple[Floats, int]:
    W = check_weights(weights)
    if W.shape[0] != W.shape[1]:
        raise UnmaskError(f"the weights have shape {W.shape}, expected as many targets as candidates")
    if W.sum(axis=1).min() == 0:
        raise no_matching()
    return W, len(W)


@cache
def _list_permutations(n: int) -> Ints:
    """Return the (n!, n) orders of 0..n-1."""
    return np.array(list(permutations(range(n))))
