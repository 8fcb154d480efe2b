"""The anonymity of a whole system: how many one-to-one matchings of senders and receivers an attacker leaves."""

from __future__ import annotations

from math import lgamma, log
from typing import Literal, NamedTuple

import numpy as np

from unmask.channels._matrices import Floats, Ints, log_or_0
from unmask.channels.attacks._permanents import LARGEST_EXACT, checked, exact_marginals, no_matching, refuse_unmatched
from unmask.channels.attacks.matching import MatchingAttack, log_permanent
from unmask.core.errors import UnmaskError


class SystemAnonymity(NamedTuple):
    """Entropy over matchings in bits, its share of the largest possible, and the standard error of the degree (0 when
    exact).
    """

    entropy_bits: float
    degree: float
    standard_error: float = 0.0


def edman_degree(weights: Floats, *, kind: Literal["possible", "stochastic"]) -> float:
    """Edman's degree of anonymity of a whole system, 0 to 1, from a permanent.

    possible   : ln per(A) / ln n!, A the 0/1 matrix of the pairs with positive weight; 1 when all are possible
    stochastic : ln per(P) / ln(n! / n^n), P doubly stochastic; 1 for the uniform matrix, 0 for a permutation

    Square, n <= 20; 0 for n = 1. It counts the system: one target may be fully exposed while the degree is high. The
    stochastic form is no entropy and differs from `bagai_entropy` on the same P.

    >>> P = np.array([[0, 1, 3], [2, 1, 1], [2, 2, 0]]) / 4
    >>> round(edman_degree(P, kind="stochastic"), 3), round(bagai_entropy(P).degree, 3)
    (0.773, 0.501)

    M. Edman, F. Sivrikaya, B. Yener, "A combinatorial approach to measuring anonymity", ISI 2007.
    """
    W = checked(weights)
    n = _square(W)
    if n == 1:
        return 0.0
    if kind == "possible":
        return max(log_permanent((W > 0).astype(np.float64)), 0.0) / lgamma(n + 1)
    if kind != "stochastic":
        raise UnmaskError(f"the kind is {kind!r}, expected 'possible' or 'stochastic'")
    off = max(np.abs(W.sum(axis=0) - 1).max(), np.abs(W.sum(axis=1) - 1).max())
    if off > 1e-6:
        raise UnmaskError(
            f"a row or column sums to 1 only within {off:.2g}: the stochastic degree needs a doubly stochastic matrix; "
            "pass marginals, see `MatchingAttack`"
        )
    return max(log_permanent(W) / (lgamma(n + 1) - n * log(n)), 0.0)


def bagai_entropy(weights: Floats, *, samples: int = 20_000, rng: np.random.Generator | None = None) -> SystemAnonymity:
    """H(M) over perfect matchings, p(m) proportional to prod_i W[i, m(i)], and H / log2 n!.

    Exact up to n = 20 without listing the matchings: H = ln per(W) - sum_ij p_ij ln W_ij. Beyond that matchings are
    drawn row by row with probabilities from row and column sums, weighted by what they were too rare or too frequent
    (importance sampling): needs `rng`, and the standard error says how far to trust it. n = 1 has degree 0.

    >>> bagai_entropy(np.eye(3)).degree, round(bagai_entropy(np.ones((3, 3))).degree, 9)
    (0.0, 1.0)

    R. Bagai, H. Lu, R. Li, B. Tang, "An accurate system-wide anonymity metric for probabilistic attacks", PETS 2011.
    """
    W = checked(weights)
    n = _square(W)
    if n == 1:
        return SystemAnonymity(0.0, 0.0)
    if n <= LARGEST_EXACT:
        log_per, p = exact_marginals(W)
        nats, error = log_per - float((p * log_or_0(W)).sum()), 0.0
    elif rng is None:
        raise UnmaskError(f"{n} targets are too many for an exact entropy: pass rng to estimate it from samples")
    else:
        nats, error = _sampled_entropy(W, samples, rng)
    nats = max(float(nats), 0.0)
    return SystemAnonymity(nats / log(2.0), nats / lgamma(n + 1), error / lgamma(n + 1))


def gierlichs_degree(weights: Floats, *, sender: Ints, receiver: Ints) -> SystemAnonymity:
    """Entropy over who sent how many messages to whom: matchings of messages that differ only in which of a user's own
    messages went where count once.

    weights  : (n, n) over messages sent and messages received, n <= 9
    sender   : (n,) user who sent each message; receiver : (n,) user who received each
    The degree divides by log2 n!, so it is below the entropy over matchings whenever a user sends or receives twice.

    >>> both = gierlichs_degree(np.ones((3, 3)), sender=np.array([0, 0, 1]), receiver=np.array([0, 0, 1]))
    >>> round(both.entropy_bits, 4)  # 6 matchings, 2 patterns: probabilities 1/3 and 2/3
    0.9183

    B. Gierlichs, C. Troncoso, C. Diaz, B. Preneel, I. Verbauwhede, "Revisiting a combinatorial approach toward
    measuring anonymity", WPES 2008.
    """
    W = checked(weights)
    n = _square(W)
    if n > 9:
        raise UnmaskError(
            f"{n} messages have too many matchings to be listed, expected at most 9: take a smaller round"
        )
    if len(sender) != n or len(receiver) != n:
        raise UnmaskError(f"sender and receiver need one user for each of the {n} messages")
    order = np.argsort(sender, kind="stable")
    _, who = np.unique(np.asarray(receiver), return_inverse=True)
    matching = _permutations(n)
    weight = np.prod(W[order][np.arange(n), matching], axis=1)
    if weight.sum() <= 0:
        raise no_matching()
    pattern = who[matching]
    starts = np.flatnonzero(np.diff(np.asarray(sender)[order], prepend=np.asarray(sender)[order][0] - 1))
    for start, end in zip(starts, np.append(starts[1:], n), strict=True):
        pattern[:, start:end] = np.sort(pattern[:, start:end], axis=1)
    code = pattern @ (n ** np.arange(n))
    p = np.bincount(np.unique(code, return_inverse=True)[1], weights=weight) / weight.sum()
    nats = max(-float((p * log_or_0(p)).sum()), 0.0)
    return SystemAnonymity(nats / log(2.0), nats / lgamma(n + 1) if n > 1 else 0.0)


def _square(W: Floats) -> int:
    if W.shape[0] != W.shape[1]:
        raise UnmaskError(f"the weights have shape {W.shape}, expected as many targets as candidates")
    return len(W)


def _sampled_entropy(W: Floats, samples: int, rng: np.random.Generator) -> tuple[float, float]:
    """ln per(W) - E ln w(m) from weighted draws, and its standard error by the delta method, in nats."""
    refuse_unmatched(W)
    log_weight, log_chance = _draw_matchings(W, samples, rng)
    importance = log_weight - log_chance
    alive = np.isfinite(importance)
    if alive.sum() < 2:
        raise UnmaskError("hardly any draw was a matching: draw more samples, or take a denser matrix")
    top = importance[alive].max()
    share = np.where(alive, np.exp(importance - top, where=alive, out=np.zeros(samples)), 0.0)
    value = np.where(alive, log_weight, 0.0)
    mean = share.mean()
    mean_log = float(share @ value / share.sum())
    nats = float(np.log(mean)) + top - mean_log
    influence = share / mean * (1.0 - (value - mean_log)) - 1.0
    return nats, float(influence.std(ddof=1) / np.sqrt(samples))


def _draw_matchings(W: Floats, samples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """(samples,) ln w(m) and ln of the probability of each draw; -inf weight where a row found nothing left.

    From the surest row to the least sure, with probabilities W_ij c_j over the columns left; c from Sinkhorn.
    """
    guide = MatchingAttack(method="sinkhorn", iterations=200, tolerance=1e-6).marginals(W).probability
    rows = np.argsort(-(guide * log_or_0(guide)).sum(axis=1), kind="stable")
    free = np.ones((samples, len(W)), dtype=bool)
    log_weight, log_chance, everyone = np.zeros(samples), np.zeros(samples), np.arange(samples)
    for i in rows:
        chance = np.cumsum(guide[i] * free, axis=1)
        total = chance[:, -1]
        pick = np.minimum((chance <= (rng.random(samples) * total)[:, None]).sum(axis=1), len(W) - 1)
        stuck = (total <= 0) | (W[i, pick] <= 0) | ~free[everyone, pick]
        safe = np.where(stuck, 1.0, guide[i, pick])
        log_chance += np.log(safe) - np.log(np.where(stuck, 1.0, total))
        log_weight += np.where(stuck, -np.inf, log_or_0(W[i, pick]))
        free[everyone, pick] = False
    return log_weight, log_chance


def _permutations(n: int) -> Ints:
    """(n!, n) all orders of 0..n-1."""
    found = np.zeros((1, 1), dtype=np.int64)
    for size in range(2, n + 1):
        found = np.concatenate([np.insert(found, place, size - 1, axis=1) for place in range(size)])
    return found
