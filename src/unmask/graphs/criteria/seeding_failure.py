"""Probability that seeding fails for a user with separate identities.

An attack on a graph starts from a few people that it finds by cliques or by high degree (seeding). A user with N
contacts and y identities in the release divides the contacts among the identities by one of three models (`Model`).
Seeding fails for this user if no identity resembles the original node.

The source is G. G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015,
sections 3.5 and 5.1, with its equation numbers. Errors and gaps of the printed text are resolved as follows:

* (5.8): the last sum is multiplied by P(X' = x') instead of added, as in (5.9) and (5.10). Identities are 1 to y.
* "Sum of binomial distributions" is the only description of the realistic model: see `Model`. The normal distribution
  (3.8) belongs to the simulations of the source, with an unknown covariance.
* Of the bounds 1 +- epsilon only the lower one can be violated, as in (5.5): no identity has more than N contacts.
* (5.14): a degree equal to the border is in reach of the attack. The source does not assign it.
* (5.4): the number of intact cliques is not binomial, because cliques share members. Its expectation is correct.
* (5.13): the last sign is an equality, and P(Y = 0) of (5.1) is missing (0 in the basic model). "Y = 2" must be the
  smallest failure over all possible divisions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.ranges import Range, check_type, check_types

__all__ = ["Model", "clique_failure", "intact_cliques", "overall_failure", "top_border", "top_failure"]


Model = Literal["basic", "best", "realistic"]
"""Assignment of contacts to identities. Contacts are independent.

basic     : each contact has exactly one identity, i with probability p_i: X is multinomial (3.7). The p_i sum to 1.
best      : each contact has at most one identity. The p_i sum to at most 1; the rest is the probability of deletion.
realistic : each contact is in identity i with probability p_i, independently of the other identities, so contacts can
            be copied or deleted. The X_i are independent binomials (N, p_i). If the p_i sum to 1, the expected total
            is N.
"""

SLACK: Final = 1e-9
"""Largest rounding error of decimals: excess of probabilities over 1, or distance of a bound from an integer."""

REACH: Final = 10.0
"""Half-width, in standard deviations, of the kept part of a Poisson distribution: 1e-20 of it is outside."""


# --- cliques --------------------------------------------------------------------------------------------------------


def clique_failure(
    degree: ArrayLike,
    probabilities: ArrayLike,
    clique_size: Annotated[int, Range(2)] = 4,
    tolerance: Annotated[float, Range(0, 1, below=True)] = 0.05,
    *,
    model: Model = "basic",
) -> Floats:
    """Return the probability that a member of a k-clique is not recognized in it after separating (5.2), (5.5)-(5.11).

    Identity i is recognized if it has all k - 1 contacts of the clique and at least (1 - epsilon) N contacts in total.
    The probability is

        g_i = p_i^(k-1) P(Bin(N - k + 1, p_i) >= (1 - epsilon) N - (k - 1))

    Without copies, at most one identity is recognized, and failure = 1 - sum_i g_i. With copies, identities are
    independent, and failure = prod_i (1 - g_i). The result is a lower bound, because common neighbors can change, and
    other members of the clique can separate. g_i / p_i does not decrease with p_i, so joining identities never raises
    the failure. Of all divisions that contain an identity of p_i, the division into two has the smallest failure
    (5.12).

    Parameters
    ----------
    degree : int or (n,) int array
        N, contacts before the separation, at least k - 1.
    probabilities : (y,) array-like
        p_i, see `Model`.
    clique_size : int
        k, at least 2.
    tolerance : float
        epsilon, in [0, 1): largest relative loss of degree for which the identity still matches.
    model : Model
        How contacts are assigned to identities, see `Model`.

    Returns
    -------
    (n,) array
        Probability of failure, one for each degree; a single number for a single degree.

    Examples
    --------
    >>> clique_failure([10, 100, 1000], [0.1, 0.9]).round(3)
    array([0.651, 0.95 , 1.   ])
    """
    p, N = _shares(probabilities, model), _degrees(degree)
    check_types(clique_failure, {"clique_size": clique_size, "tolerance": tolerance})
    inner = clique_size - 1
    if np.any(inner > N):
        raise UnmaskError(
            f"a degree is below {inner}, expected at least that many contacts in a clique of {clique_size}"
        )
    from scipy.stats import binom

    enough = np.ceil((1 - tolerance) * N - SLACK)[..., None]
    recognized = p**inner * binom.sf(enough - inner - 1, N[..., None] - inner, p)
    if model == "realistic":
        return np.asarray(np.prod(1 - recognized, axis=-1))[()]
    return np.asarray(np.clip(1 - recognized.sum(axis=-1), 0.0, 1.0))[()]


def intact_cliques(
    separating: Annotated[float, Range(0, 1)], clique_size: Annotated[int, Range(2)] = 4, probabilities: ArrayLike = ()
) -> float:
    """Return the expected share of intact k-cliques if each user separates with probability P(Y > 1), (5.3) and (5.4).

    The share is (1 - P(Y > 1) + P(Y > 1) sum_i p_i^(k-1))^k. A member who separates keeps a clique intact if all its
    contacts go to one identity; `probabilities` are the p_i of the basic or best model. Without `probabilities`,
    separation always breaks the clique, which is the theoretical limit in the source. Its simulation with two even
    identities and P(Y = 2) = 0.2 finds 51.3 to 55.2 % intact cliques; this function returns 0.85^4.

    Parameters
    ----------
    separating : float
        Share of users who separate, 0 to 1.
    clique_size : int
        Number of members, at least 2.
    probabilities : array-like
        p_i of each identity.

    Returns
    -------
    float
        Expected share of intact cliques.

    Examples
    --------
    >>> round(intact_cliques(0.2), 4), round(intact_cliques(0.2, probabilities=[0.5, 0.5]), 4)
    (0.4096, 0.522)
    """
    check_types(intact_cliques, {"separating": separating, "clique_size": clique_size})
    p = np.asarray(probabilities, dtype=np.float64)
    share_together = float((_shares(p, "best") ** (clique_size - 1)).sum()) if p.size else 0.0
    return float((1 - separating + separating * share_together) ** clique_size)


# --- top degrees ----------------------------------------------------------------------------------------------------


def top_failure(degree: ArrayLike, probabilities: ArrayLike, border: int, *, model: Model = "basic") -> Floats:
    """Return the probability that all identities have fewer than `border` contacts and escape top seeding (5.14),
    (5.15).

    For basic and best, it is the probability that all cells of a multinomial are below the border. A multinomial is the
    distribution of Poisson variables X_i with means lambda p_i, conditional on their sum N, for any lambda. Therefore
    it is

        prod_i P(X_i < border) * P(sum_i X_i = N | all X_i < border) / P(Poisson(lambda) = N)

    This is a convolution of truncated Poisson distributions. lambda is chosen so that their mean is N. No far tail is
    then needed, and the relative error is below 1e-8 up to a degree of 1e5. For realistic, it is prod_i P(Bin(N, p_i) <
    border).

    Parameters
    ----------
    degree : int or (n,) int array
        N, contacts before the separation.
    probabilities : (y,) array-like
        p_i, see `Model`.
    border : int
        Smallest degree in reach of the attack, at least 1; see `top_border`.
    model : Model
        How contacts are assigned to identities, see `Model`.

    Returns
    -------
    (n,) array
        Probability of failure, one for each degree; a single number for a single degree.

    References
    ----------
    B. Levin, "A representation for multinomial cumulative distribution functions", Annals of Statistics 9, 1981.

    Examples
    --------
    >>> top_failure([311, 328, 329], [0.5, 0.5], border=165).round(3)
    array([0.693, 0.044, 0.   ])
    """
    p, N = _shares(probabilities, model), _degrees(degree)
    check_type("border", border, Annotated[int, Range(1)])
    if model == "realistic":
        from scipy.stats import binom

        return np.asarray(np.prod(binom.cdf(border - 1, N[..., None], p), axis=-1))[()]
    degrees, back = np.unique(N, return_inverse=True)
    chance = np.array([_all_below(int(n), p, border) for n in degrees], dtype=np.float64)
    return chance[back].reshape(N.shape)[()]


def top_border(degrees: ArrayLike, size: int) -> int:
    """Return the degree of the `size`-th node by descending degree, kappa of (5.14): the border of `top_failure`.

    Nodes that tie with it are in reach, too.

    Parameters
    ----------
    degrees : array-like
        Degrees of all nodes.
    size : int
        Number of nodes, at least 1.

    Returns
    -------
    int
        Degree of the `size`-th node.

    Examples
    --------
    >>> top_border([9, 7, 7, 7, 3, 1], size=2)
    7
    """
    N = _degrees(degrees)
    check_type("size", size, Annotated[int, Range(1)])
    if size > N.size:
        raise UnmaskError(f"size is {size}, expected at most the number of nodes, {N.size}")
    return int(np.sort(N, axis=None)[-size])


def _all_below(n: int, p: Floats, border: int) -> float:
    """Return P(all cells of a multinomial (n; p) are below the border); p may sum to less than 1."""
    if border > n:
        return 1.0
    share, times = np.unique(p[p > 0], return_counts=True)
    max_counts = np.full(len(share), border - 1.0)
    deleted = 1 - float(p.sum())
    if deleted > SLACK:
        share, times, max_counts = np.append(share, deleted), np.append(times, 1), np.append(max_counts, float(n))
    if times @ max_counts < n:
        return 0.0
    scale = _scale(n, share, times, max_counts)
    log_chance = math.lgamma(n + 1) - n * math.log(scale)
    sums: list[tuple[int, Floats]] = []
    for mean, count, top in zip((scale * share).tolist(), times.tolist(), max_counts.astype(int).tolist(), strict=True):
        log_total, piece = _poisson(mean, top)
        log_chance += count * log_total
        sums.append(_power(piece, count))
    while len(sums) > 1:
        sums = [_add(*sums[i : i + 2]) if i + 1 < len(sums) else sums[i] for i in range(0, len(sums), 2)]
    start, chance = sums[0]
    chance_at_n = float(chance[n - start]) if 0 <= n - start < len(chance) else 0.0
    return min(1.0, math.exp(log_chance + math.log(chance_at_n))) if chance_at_n > 0 else 0.0


def _scale(n: int, share: Floats, times: Integers, caps: Floats) -> float:
    """Return a lambda for which the means of the truncated Poisson variables sum to about n, for numerical precision.

    E[X | X <= c] = theta P(X <= c - 1) / P(X <= c). If theta is far above c, both probabilities underflow, and the mean
    is about c - c / (theta - c).
    """
    from scipy.special import gammaincc

    def total(log_scale: float) -> float:
        theta = share * math.exp(log_scale)
        below_cap, all_of_it = gammaincc(np.maximum(caps, 1e-9), theta), gammaincc(caps + 1, theta)
        far = all_of_it < 1e-250
        mean = np.where(
            far,
            caps - caps / np.maximum(theta - caps, 1.0),
            theta * below_cap / np.where(far, 1.0, all_of_it),
        )
        return float(times @ np.where(caps > 0, mean, 0.0))

    low, high = math.log(n) - 1.0, math.log(n) + 1.0
    while total(high) < n and high < math.log(n) + 40:
        high += 2.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if total(middle) < n else (low, middle)
    return math.exp(high)


def _poisson(theta: float, top: int) -> tuple[float, tuple[int, Floats]]:
    """Return the log of the sum of theta^x / x! over x <= top, and (first x, significant terms divided by the sum)."""
    from scipy.special import gammaln

    mode = min(int(theta), top)
    width = math.ceil(REACH * math.sqrt(mode)) + 50
    x = np.arange(max(0, mode - width), min(top, mode + width) + 1)
    logs = x * math.log(theta) - gammaln(x + 1)
    terms = np.exp(logs - logs.max())
    return float(logs.max() + math.log(terms.sum())), (int(x[0]), terms / terms.sum())


def _add(first: tuple[int, Floats], second: tuple[int, Floats]) -> tuple[int, Floats]:
    """Return the distribution of a sum, without negligible terms at both ends."""
    chance = np.convolve(first[1], second[1])
    significant = np.flatnonzero(chance > 1e-22 * chance.max())
    return first[0] + second[0] + int(significant[0]), chance[significant[0] : significant[-1] + 1]


def _power(piece: tuple[int, Floats], count: int) -> tuple[int, Floats]:
    """Return the distribution of a sum of `count` independent copies, by repeated squaring."""
    result: tuple[int, Floats] = (0, np.ones(1))
    while count:
        if count & 1:
            result = _add(result, piece)
        count >>= 1
        if count:
            piece = _add(piece, piece)
    return result


# --- distribution of the number of identities -------------------------------------------------------------------------


def overall_failure(identities: ArrayLike, failure: Callable[[int], Any]) -> float:
    """Return the probability that seeding fails if a user has y identities with probability P(Y = y), equation (5.1).

    P(Y = 0) + sum_{y >= 1} P(failure | Y = y) P(Y = y): a user without an identity in the release is not found.

    Parameters
    ----------
    identities : (y_max + 1,) array-like
        P(Y = 0), P(Y = 1), ..., summing to 1.
    failure : Callable[[int], Any]
        Function from y to P(failure | Y = y), called for each y >= 1 with positive probability.

    Returns
    -------
    float
        Probability of failure.

    Examples
    --------
    >>> even = lambda y: clique_failure(40, [1 / y] * y)
    >>> round(overall_failure([0.1, 0.6, 0.2, 0.1], even), 3)
    0.4
    """
    chance = np.asarray(identities, dtype=np.float64)
    if chance.ndim != 1 or not (chance >= 0).all() or not abs(chance.sum() - 1) <= SLACK:
        raise UnmaskError("the probabilities of identities do not sum to 1; give P(Y = 0), P(Y = 1), ...")
    return float(chance[0] + sum(float(failure(int(y))) * chance[y] for y in np.flatnonzero(chance) if y))


# --- checks ---------------------------------------------------------------------------------------------------------


def _shares(probabilities: ArrayLike, model: Model) -> Floats:
    check_type("model", model, Model)
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 1 or not p.size or not ((p >= 0) & (p <= 1)).all():
        raise UnmaskError("the probabilities are not numbers from 0 to 1; give one for each identity")
    total = float(p.sum())
    if model == "basic" and abs(total - 1) > SLACK:
        raise UnmaskError(f"the probabilities sum to {total:g}, expected 1; model='best' deletes the rest")
    if model == "best" and total > 1 + SLACK:
        raise UnmaskError(f"the probabilities sum to {total:g}, expected at most 1; model='realistic' makes copies")
    return p / total if model == "basic" else p  # remove the rounding error of decimals, which a high degree magnifies


def _degrees(degree: ArrayLike) -> Integers:
    N = np.asarray(degree)
    if not np.issubdtype(N.dtype, np.integer) or (N < 0).any():
        raise UnmaskError("a degree is not a whole number of at least 0; give numbers of contacts")
    return N.astype(np.int64)
