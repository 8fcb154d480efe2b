"""Attacks that know that all targets have different secrets: marginals over one-to-one matchings, and permanents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from unmask.channels._matrices import Floats, Ints
from unmask.channels.channel import Channel, check_outputs
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, Status

Method = Literal["auto", "exact", "belief propagation"]

MAX_EXACT_CANDIDATES = 20
"""Candidates up to which all matchings are summed: 2^20 sets of columns, a second and 30 MB."""

MIN_LISTED_BELIEF = 1e-34
"""Candidates with less probability are not listed."""

BALANCE_ROUNDS = 10
"""Times that rows and columns are scaled towards largest entries of 1."""

MESSAGE_RANGE = (1e-150, 1e150)
"""Bounds of messages of belief propagation."""

APPROXIMATE = "approximate: belief propagation is slightly over-confident on average"
NOT_CONVERGED = "belief propagation did not settle: raise the damping or the iterations before trusting these numbers"


DistinctOutputs = Annotated[Ints, "different secrets behind all outputs"]
"""(n_targets,) an output of each target, with different secrets behind all of them."""


@dataclass(frozen=True, eq=False)
class MatchingMarginals:
    """Probabilities of pairs, if all targets have different candidates.

    Parameters
    ----------
    probability : (n_targets, n_candidates) array
        Rows sum to 1, columns to at most 1 (to 1 if the matrix is square).
    method : str
        The method of `MatchingAttack`.
    converged : bool
        Convergence of an iterative method.
    iterations : int
        Its iterations.
    gap : float
        Largest violation of a column sum.
    warning : str
        Reason why the numbers are not exact, or empty.
    standard_error : float
        Largest standard error of a probability that was sampled.
    """

    probability: Floats
    method: str
    converged: bool = True
    iterations: int = 0
    gap: float = 0.0
    warning: str = ""
    standard_error: float = 0.0

    def posterior(self, *, labels: tuple[str, ...] | None = None) -> Posterior:
        """Return the marginals as a belief.

        The status is `model`, but `scores` for belief propagation that did not converge, because entropy and leakage of
        its numbers are not valid.
        """
        status: Status = "model" if self.converged else "scores"
        provenance = {
            "attack": "matching",
            "method": self.method,
            "converged": self.converged,
            "iterations": self.iterations,
            "gap": self.gap,
            "warning": self.warning,
        }
        p = np.where(self.probability > MIN_LISTED_BELIEF, self.probability, 0.0)
        return Posterior.from_dense(p, status=status, provenance=provenance, candidate_label=labels)


@dataclass(frozen=True)
class MatchingAttack:
    """The attack on targets with different secrets: a belief over one-to-one matchings.

    p(matching m) is proportional to prod_i W[i, m(i)], so p_ij = W_ij per(W without i, j) / per(W), with
    W_ij = p(y_i given x = j); `marginals` takes any W, at least 0. The attack takes outputs (n_targets,) and their
    `Channel`. The prior is ignored: every secret has at most one target. With more secrets than targets, any choice of
    distinct ones is a matching. On 10 x 10 matrices of exp(s z), z normal, s = 1 and 3, the mean total variation of
    belief propagation from the truth is 0.01 and 0.06.

    Assumes: no two targets have one secret, and all matchings are alike a priori.

    Fails when: targets may share a secret; or belief propagation is used where outputs nearly decide the match, where
    it is farthest off.

    Parameters
    ----------
    method : {"auto", "exact", "belief propagation"}
        "exact" sums over all matchings (at most 20 secrets), "belief propagation" has no limit, "auto" takes the first
        that is possible.
    damping : float
        Share of the old message at each iteration of belief propagation.
    iterations : int
        Largest number of iterations of belief propagation.
    tolerance : float
        Change at which they stop.

    References
    ----------
    B. Huang & T. Jebara, "Approximating the permanent with belief propagation", 2009; C. Troncoso & G. Danezis, "The
    Bayesian traffic analysis of mix networks", CCS 2009.

    Examples
    --------
    >>> from unmask.channels import Channel
    >>> belief = MatchingAttack()(np.array([0, 1]), Channel(np.array([[0.9, 0.1], [0.5, 0.5]])))
    >>> np.exp(belief.log_probability).round(3)
    array([0.9, 0.1, 0.1, 0.9])
    """

    method: Method = "auto"
    damping: float = 0.3
    iterations: int = 1000
    tolerance: float = 1e-9

    def __call__(
        self, release: DistinctOutputs, knowledge: Channel, *, rng: np.random.Generator | None = None
    ) -> Posterior:
        """Return the belief about the secret of each target."""
        outputs = np.asarray(release)
        if outputs.ndim != 1:
            raise UnmaskError(f"the observations have shape {outputs.shape}, expected one output for each target")
        check_outputs(outputs, knowledge.n_y)
        return self.marginals(knowledge.dense().T[outputs]).posterior(labels=knowledge.x_labels)

    def marginals(self, weights: Floats) -> MatchingMarginals:
        """Compute the probabilities that i is matched to j; raise an error if no matching is possible.

        weights : (n_targets, n_candidates), at least 0, n_targets <= n_candidates. The scale of a row or column does
        not matter: subtract the largest of each row before turning log-likelihoods into weights.

        >>> MatchingAttack().marginals(np.array([[0.9, 0.1], [0.5, 0.5]])).probability.round(3)
        array([[0.9, 0.1],
               [0.1, 0.9]])
        """
        W, method = check_weights(weights), self.method
        if W.sum(axis=1).min() == 0:
            raise UnmaskError(f"target {int(np.argmin(W.sum(axis=1)))} goes with no candidate: every weight of it is 0")
        if method == "auto":
            method = "exact" if W.shape[1] <= MAX_EXACT_CANDIDATES else "belief propagation"
        if method == "exact":
            log_permanent, probability = sum_matchings(W)
            if np.isneginf(log_permanent):
                raise no_matching()
            return MatchingMarginals(probability, method)
        if method != "belief propagation":
            raise UnmaskError(f"the method is {method!r}, expected auto, exact or belief propagation")
        _check_matching_exists(W)
        return _belief_propagation(W, self.damping, self.iterations, self.tolerance)


def log_permanent(weights: Floats) -> float:
    """Compute ln per(W) = ln sum over matchings m of prod_i W[i, m(i)], exactly.

    A sum of positive terms over sets of columns (not Ryser's alternating sum), so that nothing cancels: O(m 2^m).

    Parameters
    ----------
    weights : (n, m) array
        W, at least 0, with n <= m <= 20. per(W) is the sum over the choices of n distinct columns.

    Returns
    -------
    float
        The logarithm, -inf if no matching is possible.

    Examples
    --------
    >>> round(float(np.exp(log_permanent(np.ones((5, 5))))))
    120
    """
    W = check_weights(weights)
    return -np.inf if W.sum(axis=1).min() == 0 else sum_matchings(W)[0]


def check_weights(weights: Floats) -> Floats:
    """Return the weights of targets x candidates as float64, or raise an error."""
    W = np.asarray(weights, dtype=np.float64)
    if W.ndim != 2 or W.size == 0 or W.shape[0] > W.shape[1]:
        raise UnmaskError(
            f"the weights have shape {W.shape}, expected targets x candidates with at least as many candidates"
        )
    if not (np.all(np.isfinite(W)) and W.min() >= 0):
        raise UnmaskError("the weights have entries that are negative or not numbers, expected at least 0")
    return W


def no_matching() -> UnmaskError:
    """Return the error for weights without a matching."""
    return UnmaskError("no one-to-one matching has positive weight: some targets compete for too few candidates")


def sum_matchings(W: Floats) -> tuple[float, Floats]:
    """Return ln per(W) and all marginals by dynamic programming over sets of columns; -inf without a matching.

    prefix[S] sums over the ways in which the first |S| rows take exactly the columns S; suffix[S] over the ways in
    which the other rows take distinct columns outside S.
    """
    n, m = W.shape
    if m > MAX_EXACT_CANDIDATES:
        raise UnmaskError(
            f"{m} candidates are too many for exact sums over matchings, expected at most {MAX_EXACT_CANDIDATES}: use "
            "belief propagation"
        )
    scaled, log_scale = _balance(W)
    size = np.bitwise_count(np.arange(1 << m, dtype=np.uint32))
    layers = [np.flatnonzero(size == i) for i in range(n + 1)]
    prefix, suffix = np.zeros(1 << m), np.zeros(1 << m)
    prefix[0] = 1.0
    suffix[layers[n]] = 1.0
    marginal = np.zeros((n, m))
    for i in range(n):
        for j in np.flatnonzero(scaled[i]):
            free = layers[i][(layers[i] >> j) & 1 == 0]
            prefix[free | (1 << j)] += prefix[free] * scaled[i, j]
    for i in range(n - 1, -1, -1):
        for j in np.flatnonzero(scaled[i]):
            free = layers[i][(layers[i] >> j) & 1 == 0]
            extension = suffix[free | (1 << j)] * scaled[i, j]
            suffix[free] += extension
            marginal[i, j] = prefix[free] @ extension
    if suffix[0] <= 0:
        return -np.inf, marginal
    p = marginal / suffix[0]
    return float(np.log(suffix[0])) + log_scale, p / p.sum(axis=1, keepdims=True)


def _check_matching_exists(W: Floats) -> None:
    from scipy.sparse import csr_array  # not at the top: only large problems need it
    from scipy.sparse.csgraph import maximum_bipartite_matching

    if np.any(maximum_bipartite_matching(csr_array(W > 0), perm_type="column") < 0):
        raise no_matching()


def _balance(W: Floats) -> tuple[Floats, float]:
    """Return W with rows and columns scaled towards largest entries of 1, and the log of the scale of per(W)."""
    scaled, log_scale = W.copy(), 0.0
    for _ in range(BALANCE_ROUNDS):
        rows = scaled.max(axis=1)
        scaled, log_scale = scaled / rows[:, None], log_scale + float(np.log(rows).sum())
        if W.shape[0] == W.shape[1]:
            columns = scaled.max(axis=0)
            columns = np.where(columns > 0, columns, 1.0)
            scaled, log_scale = scaled / columns, log_scale + float(np.log(columns).sum())
    return scaled, log_scale


def _belief_propagation(W: Floats, damping: float, iterations: int, tolerance: float) -> MatchingMarginals:
    """Pass messages along pairs; the row's belief W_ij c_ij / sum_k W_ik c_ik sums to 1, the columns at convergence.

    r_ij = 1 / sum_{k != j} W_ik c_ik, c_ij = 1 / (spare + sum_{l != i} W_lj r_lj); spare = 1 if a candidate may stay
    unmatched (more candidates than targets). Sums that leave one out are built from both ends: nothing cancels.
    """
    if not 0 <= damping < 1:
        raise UnmaskError(f"damping is {damping}, expected at least 0 and below 1")
    scaled, _ = _balance(W)
    spare = 0.0 if W.shape[0] == W.shape[1] else 1.0
    c, change, steps = np.ones_like(scaled), np.inf, 0
    p = scaled / scaled.sum(axis=1, keepdims=True)
    while steps < iterations and change > tolerance:
        steps += 1
        r = 1.0 / np.clip(_sum_without_each(scaled * c), *MESSAGE_RANGE)
        message = 1.0 / np.clip(spare + _sum_without_each((scaled * r).T).T, *MESSAGE_RANGE)
        c = np.exp(damping * np.log(c) + (1.0 - damping) * np.log(message))
        belief = scaled * c
        previous, p = p, belief / np.maximum(belief.sum(axis=1, keepdims=True), 1e-300)
        change = float(np.abs(p - previous).max())
    excess = p.sum(axis=0) - 1
    gap = float(np.abs(excess).max()) if spare == 0 else float(np.maximum(excess, 0).max())
    converged = bool(change <= tolerance)
    return MatchingMarginals(
        p, "belief propagation", converged, steps, gap, APPROXIMATE if converged else NOT_CONVERGED
    )


def _sum_without_each(values: Floats) -> Floats:
    """Return the sum of each row without the entry itself, from sums from the left and from the right."""
    prefix, suffix = np.zeros_like(values), np.zeros_like(values)
    np.cumsum(values[:, :-1], axis=1, out=prefix[:, 1:])
    np.cumsum(values[:, :0:-1], axis=1, out=suffix[:, -2::-1])
    return prefix + suffix
