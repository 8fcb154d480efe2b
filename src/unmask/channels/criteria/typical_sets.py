"""Long sequences: entropy rates and typical sets, which hold nearly all the probability."""

from __future__ import annotations

from itertools import chain, combinations
from math import comb, log
from typing import NamedTuple

import numpy as np
import scipy

from unmask.channels._matrices import Floats, Ints, Matrix, log_or_0, probabilities
from unmask.channels.channel import Channel
from unmask.core.errors import UnmaskError

MAX_TYPES = 2_000_000
"""Types (counts of each symbol) up to which a typical set is summed exactly."""

SURPRISE_TOLERANCE = 1e-12
"""Bits by which a surprise may exceed epsilon because of rounding."""

LN2 = log(2.0)


def entropy(p: Floats) -> float:
    """Compute H(X) = -sum p log2 p, in bits.

    Parameters
    ----------
    p : (n,) array
        Probabilities.

    Returns
    -------
    float
        The entropy.

    Examples
    --------
    >>> round(entropy(np.array([1 / 6, 5 / 6])), 3)
    0.65
    """
    q = probabilities(p, "p")
    return max(float(-(q * log_or_0(q)).sum()) / LN2, 0.0)


def conditional_entropy(channel: Channel) -> float:
    """Compute H(X given Y) = sum_y p(y) H(X given y) = H(X) - I(X; Y), in bits.

    Parameters
    ----------
    channel : Channel
        p(y given x) and p(x).

    Returns
    -------
    float
        The entropy.

    Examples
    --------
    >>> conditional_entropy(Channel(np.eye(2))), conditional_entropy(Channel(np.ones((2, 2)) / 2))
    (0.0, 1.0)
    """
    return max(entropy(channel.prior) - channel.mutual_information(), 0.0)


def stationary(transition: Matrix) -> Floats:
    """Compute the stationary distribution pi with pi A = pi.

    Parameters
    ----------
    transition : (n, n) array, dense or sparse
        A, rows sum to 1.

    Returns
    -------
    (n,) array
        pi.

    Raises
    ------
    UnmaskError
        If the chain has several stationary distributions.

    Examples
    --------
    >>> stationary(np.array([[0.9, 0.1], [0.5, 0.5]])).round(4)
    array([0.8333, 0.1667])
    """
    A = _square(transition)
    n = len(A)
    system = np.vstack([A.T - np.eye(n), np.ones(n)])
    if np.linalg.matrix_rank(system[:-1], tol=1e-10) < n - 1:
        raise UnmaskError(
            "the chain falls into parts that never meet, so it has several stationary distributions: pass one part"
        )
    pi = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0]
    pi = np.maximum(pi, 0.0)
    return np.asarray(pi / pi.sum(), dtype=np.float64)


def markov_entropy_rate(transition: Matrix) -> float:
    """Compute lim H(X_1..X_k) / k = sum_i pi_i H(A_i) of a stationary Markov chain, in bits per step.

    It is at most the entropy of pi: independent steps would overstate privacy.

    Parameters
    ----------
    transition : (n, n) array, dense or sparse
        A, rows sum to 1.

    Returns
    -------
    float
        The entropy rate.

    References
    ----------
    T. M. Cover & J. A. Thomas, "Elements of Information Theory", 2006, theorem 4.2.4.

    Examples
    --------
    >>> A = np.array([[0.9, 0.1], [0.5, 0.5]])
    >>> round(markov_entropy_rate(A), 3), round(entropy(stationary(A)), 3)
    (0.557, 0.65)
    """
    A = _square(transition)
    return max(float(-(stationary(A) @ (A * log_or_0(A)).sum(axis=1))) / LN2, 0.0)


class TypicalSet(NamedTuple):
    """The set T of sequences x of length k with |-log2 p(x) / k - H| <= epsilon.

    Parameters
    ----------
    probability : float
        P(T), above 1 - epsilon if k is large.
    log2_size : float
        log2 of the number of sequences, -inf if the set is empty.
    log2_low, log2_high : float
        log2(1 - epsilon) + k (H - epsilon), valid if P(T) > 1 - epsilon, and k (H + epsilon), always valid.
    holds_most_likely : bool
        Membership of the single most likely sequence.
    """

    probability: float
    log2_size: float
    log2_low: float
    log2_high: float
    holds_most_likely: bool


def typical_set(p: Floats, *, k: int, epsilon: float) -> TypicalSet:
    """Compute the typical set of k independent symbols exactly, by a sum over types (counts of each symbol).

    Entropy describes the size of the set for long sequences only. At k = 50 and epsilon = 0.05 the typical set of a
    coin with probability 0.3 has little more than half of the probability. The most likely sequence, all tails, is
    never in it.

    Parameters
    ----------
    p : (n,) array
        Probabilities of the symbols.
    k : int
        Length of the sequences. There are C(k + n - 1, n - 1) types, at most two million.
    epsilon : float
        Bits, above 0.

    Returns
    -------
    TypicalSet
        Its probability and size.

    Raises
    ------
    UnmaskError
        If there are more than two million types.

    References
    ----------
    T. M. Cover & J. A. Thomas, "Elements of Information Theory", 2006, section 3.1.

    Examples
    --------
    >>> coin = typical_set(np.array([0.3, 0.7]), k=50, epsilon=0.05)
    >>> round(coin.probability, 2), coin.holds_most_likely
    (0.56, False)
    """
    q = probabilities(p, "p")
    q = q[q > 0]
    _check_length(k, epsilon)
    if comb(k + len(q) - 1, len(q) - 1) > MAX_TYPES:
        raise UnmaskError(
            f"sequences of {k} out of {len(q)} symbols have more than {MAX_TYPES} types: choose a smaller k"
        )
    counts = _types(k, len(q))
    H, log_q = entropy(q), np.log(q)
    log_p = counts @ log_q  # of each sequence of the type, in nats
    typical = np.abs(-log_p / (k * LN2) - H) <= epsilon + SURPRISE_TOLERANCE
    log_factorial = scipy.special.gammaln(np.arange(k + 1) + 1.0)
    log_count = log_factorial[k] - log_factorial[counts].sum(axis=1)
    return TypicalSet(
        probability=min(float(np.exp(log_count + log_p)[typical].sum()), 1.0),
        log2_size=float(scipy.special.logsumexp(log_count[typical])) / LN2 if typical.any() else -np.inf,
        log2_low=(log(1 - epsilon) / LN2 if epsilon < 1 else -np.inf) + k * (H - epsilon),
        log2_high=k * (H + epsilon),
        holds_most_likely=bool(abs(-log_q.max() / LN2 - H) <= epsilon + SURPRISE_TOLERANCE),
    )


def conditional_typical_log2_size(channel: Channel, *, k: int, epsilon: float) -> float:
    """Return k (H(X given Y) + 2 epsilon), a bound of log2 of the sequences x jointly typical with one sequence y.

    Jointly typical: x, y and the pairs (x, y) all have surprises within epsilon of their entropies. The two epsilons
    are those of the pairs and of y; one is not enough. These sequences hold nearly all probability on average over y,
    not for each typical y.

    Parameters
    ----------
    channel : Channel
        p(y given x) and p(x).
    k : int
        Length of the sequences.
    epsilon : float
        Bits, above 0.

    Returns
    -------
    float
        The bound.

    References
    ----------
    T. M. Cover & J. A. Thomas, "Elements of Information Theory", 2006, theorem 15.2.2.

    Examples
    --------
    >>> round(conditional_typical_log2_size(Channel(np.eye(2) * 0.8 + 0.1), k=100, epsilon=0.01), 1)
    48.9
    """
    _check_length(k, epsilon)
    return k * (conditional_entropy(channel) + 2 * epsilon)


def _types(k: int, n: int) -> Ints:
    """Return the (C(k + n - 1, n - 1), n) ways to write k as a sum of n whole numbers."""
    bars = np.fromiter(chain.from_iterable(combinations(range(k + n - 1), n - 1)), dtype=np.int64)
    return np.diff(bars.reshape(comb(k + n - 1, n - 1), n - 1), axis=1, prepend=-1, append=k + n - 1) - 1


def _square(transition: Matrix) -> Floats:
    A = Channel(transition).dense()
    if A.shape[0] != A.shape[1]:
        raise UnmaskError(f"the transition has shape {A.shape}, expected as many rows as columns")
    return A


def _check_length(k: int, epsilon: float) -> None:
    if k < 1 or not epsilon > 0:
        raise UnmaskError(f"k is {k} and epsilon {epsilon}, expected at least one step and epsilon above 0")
