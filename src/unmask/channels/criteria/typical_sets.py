"""Long sequences: entropy rates, and the sets of sequences that carry nearly all the probability."""

from __future__ import annotations

from math import comb, lgamma, log
from typing import NamedTuple

import numpy as np

from unmask.channels._matrices import Floats, Ints, Matrix, log_or_0, probabilities
from unmask.channels.channel import Channel
from unmask.core.errors import UnmaskError

MOST_TYPES = 2_000_000
"""Types (counts of each symbol) up to which a typical set is summed exactly."""

LN2 = log(2.0)


def entropy(p: Floats) -> float:
    """H(X) = -sum p log2 p, in bits.

    >>> round(entropy(np.array([1 / 6, 5 / 6])), 3)
    0.65
    """
    q = probabilities(p, "p")
    return max(float(-(q * log_or_0(q)).sum()) / LN2, 0.0)


def conditional_entropy(channel: Channel) -> float:
    """H(X given Y) = sum_y p(y) H(X given y) = H(X) - I(X; Y), in bits.

    >>> conditional_entropy(Channel(np.eye(2))), conditional_entropy(Channel(np.ones((2, 2)) / 2))
    (0.0, 1.0)
    """
    return max(entropy(channel.prior) - channel.mutual_information(), 0.0)


def stationary(transition: Matrix) -> Floats:
    """(n,) the pi with pi A = pi, of a chain that has exactly one.

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
    """lim H(X_1..X_k) / k = sum_i pi_i H(A_i), in bits per step, of a stationary Markov chain.

    At most the entropy of pi: treating the steps as independent overstates privacy.

    >>> A = np.array([[0.9, 0.1], [0.5, 0.5]])
    >>> round(markov_entropy_rate(A), 3), round(entropy(stationary(A)), 3)
    (0.557, 0.65)

    T. M. Cover & J. A. Thomas, "Elements of Information Theory", 2006, theorem 4.2.4.
    """
    A = _square(transition)
    return max(float(-(stationary(A) @ (A * log_or_0(A)).sum(axis=1))) / LN2, 0.0)


class TypicalSet(NamedTuple):
    """The sequences x of length k with |-log2 p(x) / k - H| <= epsilon.

    probability  : P(T); above 1 - epsilon only once k is large
    log2_size    : log2 of how many sequences these are; -inf when there are none
    log2_low, log2_high : log2(1 - epsilon) + k (H - epsilon), guaranteed once P(T) > 1 - epsilon, and k (H + epsilon),
                   which always holds
    holds_most_likely : whether the single most likely sequence is one of them
    """

    probability: float
    log2_size: float
    log2_low: float
    log2_high: float
    holds_most_likely: bool


def typical_set(p: Floats, *, k: int, epsilon: float) -> TypicalSet:
    """The typical set of k independent symbols, exactly, by summing over types (how often each symbol occurs).

    p : (n,) probabilities of the symbols; C(k + n - 1, n - 1) types, at most two million.
    Entropy is a size only for long sequences: at k = 50 and epsilon = 0.05 little more than half of the probability is
    in the typical set of a coin of 0.3, and the most likely sequence, all tails, is never in it.

    >>> found = typical_set(np.array([0.3, 0.7]), k=50, epsilon=0.05)
    >>> round(found.probability, 2), found.holds_most_likely
    (0.56, False)

    T. M. Cover & J. A. Thomas, "Elements of Information Theory", 2006, section 3.1.
    """
    q = probabilities(p, "p")
    q = q[q > 0]
    _check_length(k, epsilon)
    if comb(k + len(q) - 1, len(q) - 1) > MOST_TYPES:
        raise UnmaskError(
            f"sequences of {k} out of {len(q)} symbols have more than {MOST_TYPES} types: use "
            "sampled_typical_probability, or a smaller k"
        )
    counts = _types(k, len(q))
    H, log_q = entropy(q), np.log(q)
    log_p = counts @ log_q  # of each sequence of the type, in nats
    typical = np.abs(-log_p / (k * LN2) - H) <= epsilon + 1e-12
    log_fact = np.array([lgamma(i + 1) for i in range(k + 1)])
    log_many = log_fact[k] - log_fact[counts].sum(axis=1)
    size = -np.inf
    if typical.any():
        top = log_many[typical].max()
        size = (float(top) + log(float(np.exp(log_many[typical] - top).sum()))) / LN2
    return TypicalSet(
        probability=min(float(np.exp(log_many + log_p)[typical].sum()), 1.0),
        log2_size=size,
        log2_low=(log(1 - epsilon) / LN2 if epsilon < 1 else -np.inf) + k * (H - epsilon),
        log2_high=k * (H + epsilon),
        holds_most_likely=bool(abs(-log_q.max() / LN2 - H) <= epsilon + 1e-12),
    )


class Sampled(NamedTuple):
    """A probability estimated from draws, and its standard error."""

    probability: float
    standard_error: float


def sampled_typical_probability(
    transition: Matrix, *, k: int, epsilon: float, rng: np.random.Generator, samples: int = 10_000
) -> Sampled:
    """P(T) of a stationary Markov chain: the share of drawn paths with |-log2 p(x_1..x_k) / k - rate| <= epsilon.

    Equal rows make it independent draws. The set has at most 2^{k (rate + epsilon)} paths, whatever P(T) is.

    C. E. Shannon, B. McMillan, L. Breiman: Cover & Thomas 2006, theorem 16.8.1.
    """
    _check_length(k, epsilon)
    A = _square(transition)
    rate, pi = markov_entropy_rate(A), stationary(A)
    start, step, log_A = np.cumsum(pi), np.cumsum(A, axis=1), log_or_0(A) / LN2
    state = np.minimum(np.searchsorted(start, rng.random(samples) * start[-1], side="right"), len(A) - 1)
    surprise = -log_or_0(pi)[state] / LN2
    for _ in range(k - 1):
        draw = rng.random(samples)[:, None] * step[state, -1:]
        fresh = np.minimum((step[state] <= draw).sum(axis=1), len(A) - 1)
        surprise -= log_A[state, fresh]
        state = fresh
    p = float((np.abs(surprise / k - rate) <= epsilon + 1e-12).mean())
    return Sampled(p, float(np.sqrt(max(p * (1 - p), 1.0 / samples) / samples)))


def conditional_typical_log2_size(channel: Channel, *, k: int, epsilon: float) -> float:
    """k (H(X given Y) + 2 epsilon): log2 of the most sequences x that are jointly typical with one sequence y.

    Jointly typical: x, y and the pairs (x, y) all have surprises within epsilon of their entropies. The two epsilons
    are those of the pairs and of y; one is not enough. That nearly all probability lies there holds on average over y,
    not for each typical y.

    >>> round(conditional_typical_log2_size(Channel(np.eye(2) * 0.8 + 0.1), k=100, epsilon=0.01), 1)
    48.9

    T. M. Cover & J. A. Thomas, "Elements of Information Theory", 2006, theorem 15.2.2.
    """
    _check_length(k, epsilon)
    return k * (conditional_entropy(channel) + 2 * epsilon)


def _types(k: int, n: int) -> Ints:
    """(C(k + n - 1, n - 1), n) all ways to write k as n whole numbers."""
    counts = np.arange(k + 1, dtype=np.int64)[:, None] if n > 1 else np.full((1, 1), k, dtype=np.int64)
    for column in range(1, n):
        left = k - counts.sum(axis=1)
        if column == n - 1:
            return np.column_stack([counts, left])
        many = left + 1
        last = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        counts = np.column_stack([np.repeat(counts, many, axis=0), last])
    return counts


def _square(transition: Matrix) -> Floats:
    A = Channel(transition).dense()
    if A.shape[0] != A.shape[1]:
        raise UnmaskError(f"the transition has shape {A.shape}, expected as many rows as columns")
    return A


def _check_length(k: int, epsilon: float) -> None:
    if k < 1 or not epsilon > 0:
        raise UnmaskError(f"k is {k} and epsilon {epsilon}, expected at least one step and epsilon above 0")
