"""Renyi entropies, guessing entropy, confidence sets, and the effective anonymity set size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import chunks
from unmask.core.posterior import Posterior
from unmask.core.tolerances import SERIES_LIMIT
from unmask.measures.measure import Measure, implement, refuse_scores
from unmask.measures.posterior_rows import Rows, blocks, fill_block, map_rows, mask_block, unpack_rows
from unmask.measures.registry import FAMILIES, declare_all
from unmask.ranges import Range, check_type

SOURCE = "Rebollo-Monedero et al. 2012, section V-A1; A. Renyi, 'On measures of entropy and information', 1961"

LN2 = float(np.log(2.0))


def _shannon(rows: Rows) -> Floats:
    log_share = np.log(np.where(rows.share > 0, rows.share, 1.0))
    return np.maximum(-(rows.sum(rows.p * rows.log_p) + rows.unlisted * log_share) / LN2, 0.0)


def _renyi(rows: Rows, alpha: float) -> Floats:
    if alpha == 1:
        return _shannon(rows)
    if alpha == 0:
        return np.asarray(np.log2(rows.n_listed + rows.n_sharing))
    log_share = np.log(np.where(rows.share > 0, rows.share, 1.0))
    if alpha == np.inf:
        unlisted = np.where(rows.share > 0, log_share, -np.inf)
        return np.maximum(-np.maximum(rows.top, unlisted) / LN2, 0.0)
    return np.maximum(log_power_mean(rows, rows.log_p, log_share, alpha - 1.0) / (1.0 - alpha) / LN2, 0.0)


def log_power_mean(rows: Rows, log_r: Floats, log_rest: Floats, s: float) -> Floats:
    """Return log sum_x p(x) r(x)^s of each row, accurate for s near 0, where it tends to s sum_x p log r.

    log_r, log_rest : (n_entries,) log r of each listed candidate, and (n_rows,) of all that is unlisted
    """
    log_rest_power = np.where(rows.unlisted > 0, s * log_rest, -np.inf)
    if log_r is rows.log_p and s == 1:  # the likeliest of n has 1 / n or more: its square does not underflow
        top, terms = np.zeros(len(log_rest)), np.square(rows.p)
    else:
        top = np.maximum(rows.max(s * log_r, empty=-np.inf), log_rest_power)
        terms = s * log_r
        terms -= rows.spread(top)
        terms = np.multiply(np.exp(terms, out=terms), rows.p, out=terms)
    far = rows.sum(terms) + rows.unlisted * np.exp(log_rest_power - top)
    with np.errstate(divide="ignore"):
        log_mean = top + np.log(far)
    if not (is_near := (np.abs(log_mean) < SERIES_LIMIT) & (top < 1.0)).any():
        return np.asarray(log_mean)
    near = rows.sum(rows.p * np.expm1(np.minimum(s * log_r, 1.0))) + rows.unlisted * np.expm1(
        np.minimum(log_rest_power, 1.0)
    )
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(is_near, np.log1p(np.maximum(near, -1.0)), log_mean))


def renyi_entropy(alpha: float) -> Measure:
    """Return the measure H_alpha(X given y) = log2(sum_x p(x given y)^alpha) / (1 - alpha), in bits.

    The orders 0 (Hartley), 1 (Shannon), 2 (collision) and inf (min-entropy -log2 max p) are the best, average and worst
    case for the user. "None of these" counts as one more symbol, and so does an unknown number of unlisted candidates,
    which makes the entropy a lower bound. The mean over targets is the average of H(X given y): for alpha = inf it is
    larger than the conditional min-entropy -log2 E max p of Smith.

    Parameters
    ----------
    alpha : float
        Order, at least 0.

    Returns
    -------
    Measure
        Self-assessed measure in bits.

    Raises
    ------
    UnmaskError
        If the order is negative.

    Examples
    --------
    >>> from unmask import Posterior
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.25, 0.25]]))
    >>> [float(renyi_entropy(a).per_target(belief)[0].round(4)) for a in (0, 1, np.inf)]
    [1.585, 1.5, 1.0]
    """
    check_type("alpha", alpha, Annotated[float, Range(0)])
    texts = (
        {}
        if alpha in _NAMED
        else {
            "name": f"renyi_entropy_{alpha:g}_bits",
            "label": f"R\u00e9nyi entropy of order {alpha:g}",
            "meaning": "remaining uncertainty in bits; higher orders give more weight to likely candidates",
        }
    )
    name = _NAMED.get(alpha, "shannon_entropy_bits")
    return implement(name, **texts, of_rows=lambda rows: _renyi(rows, alpha), needs_probabilities=True)


_NAMED = {0.0: "hartley_entropy_bits", 1.0: "shannon_entropy_bits", np.inf: "min_entropy_bits"}

FAMILIES[r"renyi_entropy_(.+)_bits"] = renyi_entropy

hartley_entropy_bits = renyi_entropy(0)
"""log2 of the number of candidates still possible: `renyi_entropy` at alpha = 0."""

shannon_entropy_bits = renyi_entropy(1)
"""H(X given y) = -sum_x p(x given y) log2 p(x given y): `renyi_entropy` at alpha = 1; its mean over targets is the
equivocation H(X given Y)."""

min_entropy_bits = renyi_entropy(np.inf)
"""-log2 max_x p(x given y): `renyi_entropy` at alpha = inf. Its mean over targets is at least as large as
`min_entropy_smith`, by Jensen; neither is wrong. This one does not tell how often a guess is right.

>>> from unmask import Posterior
>>> belief = Posterior.from_dense(np.array([[0.5, 0.5], [1.0, 0.0]]))
>>> min_entropy_bits(belief), round(min_entropy_smith(belief), 4)
(0.5, 0.415)
"""

effective_set_size = implement(
    "effective_set_size", of_rows=lambda rows: np.exp2(_shannon(rows)), needs_probabilities=True
)
"""2^H(X given y): the size of the uniform set that would leave the adversary as uncertain; k over a class of k
alike."""


def renyi_entropies(belief: Posterior, orders: Sequence[float] = (0, 1, 2, np.inf)) -> Floats:
    """Return Renyi entropies of several orders in one pass, (n_orders, n_observations) bits.

    >>> from unmask import Posterior
    >>> renyi_entropies(Posterior.from_dense(np.array([[0.5, 0.25, 0.25]]))).round(4).ravel()
    array([1.585, 1.5  , 1.415, 1.   ])
    """
    refuse_scores(belief, "an entropy")
    for alpha in orders:
        check_type("alpha", alpha, Annotated[float, Range(0)])
    parts = (unpack_rows(belief, start, stop) for start, stop in chunks(belief.indptr))
    return np.concatenate([np.stack([_renyi(rows, alpha) for alpha in orders]) for rows in parts], axis=1)


def min_entropy_smith(belief: Posterior) -> float:
    """Compute the conditional min-entropy -log2 E max_x p(x given y), in bits.

    The probability of a right guess is 2 to the minus this value. "None of these" counts as a symbol that can be
    guessed.

    Parameters
    ----------
    belief : Posterior
        Belief of the adversary.

    Returns
    -------
    float
        Bits.

    References
    ----------
    G. Smith, "On the foundations of quantitative information flow", 2009; Y. Dodis et al., "Fuzzy extractors", 2004.
    """
    refuse_scores(belief, "an entropy")
    top = map_rows(belief, lambda rows: np.maximum(rows.max(rows.p), rows.share))
    return max(-float(np.log2(belief.observation_weight @ top)), 0.0)


Sorted = tuple[Integers, Floats, Floats, Integers]


def _descending(belief: Posterior) -> Iterator[Sorted]:
    """Yield rows, listed beliefs in descending order (n, width), the probability of one unlisted candidate, and
    their number.
    """
    shared = (belief.n_unlisted > 0) & (belief.unlisted > 0)
    n_shared = np.where(shared, belief.n_unlisted, 0)
    share = np.where(shared, belief.unlisted / np.maximum(belief.n_unlisted, 1), 0.0)
    for start, stop in chunks(belief.indptr):
        indptr = belief.indptr[start : stop + 1]
        empty = start + np.flatnonzero(np.diff(indptr) == 0)
        if len(empty):
            yield empty, np.zeros((len(empty), 1)), share[empty], n_shared[empty]
        for rows, width in blocks(indptr):
            log_p = fill_block(belief.log_probability, indptr, rows, width)
            real = mask_block(indptr, rows, width)
            log_p = np.where(real, log_p, -np.inf) if not real.all() else log_p
            p = np.exp(np.sort(log_p, axis=1)[:, ::-1], dtype=np.float64)
            yield start + rows, p, share[start + rows], n_shared[start + rows]


def _guesses(belief: Posterior) -> Floats:
    guesses = np.empty(belief.n_observations)
    for rows, p, share, n_shared in _descending(belief):
        turn = np.arange(1.0, p.shape[1] + 1)
        n_before = (p >= share[:, None]).sum(axis=1) if n_shared.any() else np.zeros(len(p))
        mass_after = np.where(p < share[:, None], p, 0.0).sum(axis=1) if n_shared.any() else 0.0
        guesses[rows] = p @ turn + n_shared * mass_after + n_shared * share * (n_before + (n_shared + 1) / 2)
    # an unknown candidate is guessed after the listed ones, "none of these" after all candidates, as in `rank`
    unlisted, n, n_listed = belief.unlisted, belief.n_candidates, belief.row_length
    last = np.where(belief.n_unlisted == -1, n_listed + (np.maximum(n - n_listed, 1) + 1) / 2, n + 1.0)
    return np.asarray(guesses + np.where(belief.n_unlisted > 0, 0.0, unlisted) * last)


guessing_entropy = implement("guessing_entropy", self_assessed=_guesses, needs_probabilities=True)
"""sum_i i p_(i), p_(1) >= p_(2) >= ...: how many guesses an adversary expects who tries candidates from most to least
likely; (k + 1) / 2 in a class of k alike. It is the mean of `rank` when the belief is exact: "none of these" takes all
candidates and one more guess, an unlisted candidate out of an unknown number is looked for among all that are left.

A long tail of hardly likely candidates dominates it: look at the success at k guesses too."""


def confidence_set_size(level: float) -> Measure:
    """Return the measure "fewest candidates that together have probability at least `level`".

    At level 1 it is the number of possible candidates, 2^H_0. "None of these" counts as one more candidate, and so does
    an unknown number of unlisted ones. level 2^H_inf <= size <= ceil(level 2^H_0), with equality on the right at every
    level if and only if the belief is uniform on its support.

    Parameters
    ----------
    level : float
        Probability above 0 and at most 1; a set that misses it by the rounding of the belief is large enough.

    Returns
    -------
    Measure
        Self-assessed measure in candidates.

    Raises
    ------
    UnmaskError
        If the level is not in (0, 1].

    References
    ----------
    Rebollo-Monedero et al. 2012, section V-A1.

    Examples
    --------
    >>> from unmask import Posterior
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.3, 0.2]]))
    >>> [int(confidence_set_size(p).per_target(belief)[0]) for p in (0.5, 0.6, 0.9, 1)]
    [1, 2, 3, 3]
    """
    check_type("level", level, Annotated[float, Range(0, 1, above=True)])
    return Measure(
        name=f"confidence_set_size_{level:g}",
        label=f"Candidates for {100 * level:g} % confidence",
        meaning="smallest number of candidates that together reach this probability",
        unit="candidates",
        direction="low",
        range=(1.0, np.inf),
        source=SOURCE,
        self_assessed=lambda belief: _set_size(belief, level),
        needs_probabilities=True,
    )


FAMILIES[r"confidence_set_size_(.+)"] = confidence_set_size


def _set_size(belief: Posterior, level: float) -> Floats:
    symbols = np.where(belief.unlisted > 0, np.maximum(belief.n_unlisted, 1), 0)
    if level == 1:
        return np.asarray(belief.row_length + symbols, dtype=np.float64)
    sizes, level = np.empty(belief.n_observations), level * (1.0 - belief.resolution)
    for rows, p, _, _ in _descending(belief):
        n_shared = symbols[rows]
        share = np.where(n_shared > 0, belief.unlisted[rows] / np.maximum(n_shared, 1), 0.0)
        cumulated = np.cumsum(p, axis=1)
        size = 1.0 + (cumulated < level).sum(axis=1)
        if n_shared.any():
            size = _with_shares(cumulated, p, share, n_shared, level)
        sizes[rows] = np.minimum(size, belief.row_length[rows] + n_shared)
    return sizes


def _with_shares(cumulated: Floats, p: Floats, share: Floats, n_shared: Integers, level: float) -> Floats:
    """Return the size of the set if n_shared symbols of probability `share` are ranked with the listed ones."""
    first = (p >= share[:, None]).sum(axis=1)
    head = np.where(first > 0, cumulated[np.arange(len(p)), np.maximum(first - 1, 0)], 0.0)
    block = head + n_shared * share
    size_in_listed = 1.0 + (cumulated < level).sum(axis=1)
    size_in_shared = first + np.ceil((level - head) / np.where(share > 0, share, 1.0))
    size_in_rest = n_shared + 1.0 + (cumulated < level - (n_shared * share)[:, None]).sum(axis=1)
    return np.asarray(np.where(level <= head, size_in_listed, np.where(level <= block, size_in_shared, size_in_rest)))


declare_all(effective_set_size, guessing_entropy, hartley_entropy_bits, shannon_entropy_bits, min_entropy_bits)
