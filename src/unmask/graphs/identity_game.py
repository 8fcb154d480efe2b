"""The y-identity model: a game about which of several identities holds a secret.

A user has y identities and stores a sensitive value in identity i with probability r_i (`assignment`). The other
identities have credible false values. The attacker discovers identity i with probability P_i (`discovery`),
independently, and believes one of the discovered identities, or none (`decision`). If the right identity is believed,
the user loses u_i (`loss`). With probability r_0 = 1 - sum of r_i, the secret is stored nowhere, and nothing is lost.

The model has three attackers:

* A strong attacker discovers all identities and plays against the user: `equilibrium`.
* A weak attacker discovers some identities and decides in a way that the user knows: `expected_loss` and
  `best_assignment`.
* For an unknown attacker there is an upper bound: `worst_loss`.

The source is G. G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015,
section 6.4 and appendix A.3, with its equation numbers. Errors of the printed text are corrected as follows:

* (6.1) exchanges the payoffs u_A^- and u_A^+ of the attacker. They are swapped back; r_i = r_j in both readings.
* The last row of (6.3) must end in 1, the sum of the r_i, instead of 0.
* u_n^- is a payoff in table 6.1 and a positive cost from (6.5) on. Here it is a cost. m_i is 0 or 1.
* A = 0 in (A.3) "means that there is no privacy breach". It means that r has no effect. The loss is (1 - q) P_2, which
  is 0 in the three cases of the text, but not for P_1 = P_2 and q = 1/2, for example.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.arrays import Booleans, Floats, as_numbers
from unmask.core.errors import UnmaskError
from unmask.economics.attacker import as_amounts, is_whole

__all__ = ["Equilibrium", "acceptance", "best_assignment", "equilibrium", "expected_loss", "worst_loss"]

Decision: TypeAlias = str | Callable[[Booleans], ArrayLike] | ArrayLike

MAX_ENUMERATED: Final = 18
"""Largest number of uncertain identities for which all 2^y sets are enumerated."""

SUM_TOLERANCE: Final = 1e-9
"""Largest excess of a sum of probabilities over 1 that is a rounding error of decimals."""

TIE: Final = 1e-12
"""Relative difference below which two losses are equal up to rounding."""


# --- strong attacker ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Nash equilibrium of the user and a strong attacker.

    Parameters
    ----------
    assignment : (y,) array
        r_i, probability that identity i holds the secret.
    decision : (y,) array
        q_i, probability that the attacker believes identity i.
    loss : float
        Expected loss of the user.
    """

    assignment: Floats
    decision: Floats
    loss: float


def equilibrium(y: int, *, loss: ArrayLike = 1.0, gain: ArrayLike = 1.0) -> Equilibrium:
    """Return the Nash equilibrium against a strong attacker, who discovers all y identities and believes one of them.

    In equilibrium, r makes all choices of the attacker equally good, r_i gain_i = r_j gain_j (6.2), and q makes all
    choices of the user equally good, q_i loss_i = q_j loss_j. Both sum to 1. Therefore

        r_i = (1 / gain_i) / sum_j (1 / gain_j),   q_i = (1 / loss_i) / sum_j (1 / loss_j)

    and the expected loss is 1 / sum_i (1 / loss_i). With equal losses and gains, r_i = q_i = 1 / y (theorem 1), and the
    loss is u / y (6.12). The equilibrium is unique: if one side never chose an identity, it would be the best or a
    worthless choice for the other side. For y > 1 it is therefore never pure.

    Parameters
    ----------
    y : int
        Number of identities.
    loss : float or (y,) array
        Loss of the user if the secret in identity i is believed, above 0: u^+ - u_i^- of the payoffs.
    gain : float or (y,) array
        Gain of the attacker from believing i if it is right, compared with a wrong belief, above 0. If it equals
        `loss`, no attacker can cause a larger loss than that of the equilibrium.

    Returns
    -------
    Equilibrium

    Raises
    ------
    UnmaskError
        If y is not a whole number of at least 1, or a loss or gain is not above 0.

    Examples
    --------
    >>> equilibrium(4).assignment
    array([0.25, 0.25, 0.25, 0.25])
    >>> game = equilibrium(2, loss=[3.0, 1.0])
    >>> game.assignment, game.decision, game.loss
    (array([0.5, 0.5]), array([0.25, 0.75]), 0.75)
    """
    if not is_whole(y, at_least=1):
        raise UnmaskError(f"y is {y!r}, expected a whole number of identities of at least 1")
    losses, gains = as_amounts("loss", loss, int(y)), as_amounts("gain", gain, int(y))
    for name, values in (("loss", losses), ("gain", gains)):
        if not (values > 0).all():
            raise UnmaskError(f"a {name} is 0, expected a value above 0")
    r, q = 1 / gains, 1 / losses
    return Equilibrium(r / r.sum(), q / q.sum(), float(1 / q.sum()))


# --- weak attacker --------------------------------------------------------------------------------------------------


def acceptance(discovery: ArrayLike, decision: Decision = "uniform") -> Floats:
    """Return alpha_i, the probability that identity i is discovered and believed: sum over m of P_m q_i^m (6.8).

    m is the set of discovered identities, P_m its probability, the product of P_j or 1 - P_j (6.6), and q^m the
    decision for this set.

    Parameters
    ----------
    discovery : (y,) array
        P_i, probability that identity i is discovered.
    decision : str, array or function
        Decision rule of the attacker:

        * "uniform": each discovered identity with equal probability.
        * (y,) array: identity i with probability q_i if it is discovered, otherwise none. The sum is at most 1.
        * function: maps m, a (y,) array of bool, to q^m, which sums to at most 1, and is 0 for identities that were not
          discovered.

    Returns
    -------
    (y,) array

    Raises
    ------
    UnmaskError
        If a rule is not valid, or more than 18 uncertain identities would have to be enumerated.

    Notes
    -----
    The first two rules need no enumeration. For "uniform", alpha_i = P_i E[1 / (1 + K)] with K the number of other
    discovered identities. E[1 / (1 + K)] is the integral over t in [0, 1] of prod_{j != i} (1 - P_j + P_j t), a
    polynomial that Gauss-Legendre quadrature with y // 2 + 1 points integrates exactly. For a function, identities with
    P_i of 0 or 1 are not enumerated.

    Examples
    --------
    >>> acceptance([1.0, 0.5])
    array([0.75, 0.25])
    >>> acceptance([1.0, 0.5], [0.3, 0.7])
    array([0.3 , 0.35])
    >>> acceptance([1.0, 0.5], lambda found: [0, 1] if found[1] else [1, 0])
    array([0.5, 0.5])
    """
    P = _probabilities("discovery", discovery)
    if isinstance(decision, str):
        if decision != "uniform":
            raise UnmaskError(f"decision is {decision!r}, expected 'uniform', probabilities or a function")
        return _accept_uniformly(P)
    if callable(decision):
        return _enumerate(P, decision)
    q = as_numbers("the decision", decision)
    if q.shape != P.shape:
        raise UnmaskError(f"decision has shape {q.shape}, expected {P.shape}, a probability for each identity")
    if not ((q >= 0).all() and q.sum() <= 1 + SUM_TOLERANCE):
        raise UnmaskError("the acceptances of the decision are negative or sum to more than 1; give probabilities")
    return P * q


def _accept_uniformly(P: Floats) -> Floats:
    from scipy.special import roots_legendre

    nodes, weights = roots_legendre(len(P) // 2 + 1)
    factors = 1 - P + P * (nodes[:, None] + 1) / 2  # positive: no quadrature node is 0
    logs = np.log(factors)
    return np.asarray(P * (weights / 2 @ np.exp(logs.sum(axis=1, keepdims=True) - logs)))


def _enumerate(P: Floats, decide: Callable[[Booleans], ArrayLike]) -> Floats:
    """Return the acceptances, summed over all sets that can be discovered."""
    n_uncertain = int(((P > 0) & (P < 1)).sum())
    if n_uncertain > MAX_ENUMERATED:
        raise UnmaskError(
            f"{n_uncertain} identities have an uncertain discovery, expected at most {MAX_ENUMERATED} for a decision "
            "for each set; use 'uniform' or one probability for each identity"
        )
    states = [(False, True) if 0 < p < 1 else (bool(p),) for p in P]
    sets = np.array(list(itertools.product(*states)), dtype=bool)
    rows = [as_numbers("a decision", decide(m)) for m in sets]
    wrong_shape = next((row.shape for row in rows if row.shape != P.shape), None)
    if wrong_shape is not None:
        raise UnmaskError(f"a decision has shape {wrong_shape}, expected {P.shape}, a probability for each identity")
    q = np.stack(rows)
    if not ((q >= 0).all() and (q.sum(axis=1) <= 1 + SUM_TOLERANCE).all()):
        raise UnmaskError(
            "a decision is negative or sums to more than 1; give the probability that each identity is believed"
        )
    if (q[~sets] > 0).any():
        raise UnmaskError("a decision believes an identity that was not discovered; its probability must be 0")
    return np.asarray(np.where(sets, P, 1 - P).prod(axis=1) @ q)


def expected_loss(
    assignment: ArrayLike, *, discovery: ArrayLike, decision: Decision = "uniform", loss: ArrayLike = 1.0
) -> float:
    """Return the expected loss of the user: sum_i r_i alpha_i u_i, equation (6.7), with alpha of `acceptance`.

    Parameters
    ----------
    assignment : (y,) array
        r_i, with a sum of at most 1. The rest is r_0, the probability that the secret is stored nowhere.
    discovery : (y,) array
        P_i, probability that identity i is discovered; 1 for a strong attacker.
    decision
        Decision rule of the attacker, see `acceptance`.
    loss : float or (y,) array
        u_i, at least 0.

    Returns
    -------
    float

    Examples
    --------
    Appendix A.3: q_1 = q_3 = q and q_2 = q_4 = 1 - q (A.2), and coin flips (A.5).

    >>> expected_loss([0.5, 0.5], discovery=[0.8, 0.5], decision=[0.4, 0.6])
    0.31
    >>> round(expected_loss([0.5, 0.5], discovery=[0.8, 0.5]), 3)
    0.45
    """
    r = _probabilities("assignment", assignment, sums=True)
    alpha = acceptance(discovery, decision)
    if alpha.shape != r.shape:
        raise UnmaskError(
            f"there are {len(r)} assignments and {len(alpha)} discoveries, expected one of each for each identity"
        )
    return float(r @ (alpha * as_amounts("loss", loss, len(r))))


def best_assignment(discovery: ArrayLike, decision: Decision = "uniform", *, loss: ArrayLike = 1.0) -> Floats:
    """Return the assignment with the smallest `expected_loss`: the identity with the smallest alpha_i u_i (theorem 2).

    If several identities have the smallest value, every mixture of them is optimal (6.9). They get equal probability,
    so that the order of the identities has no effect. A user who may store the secret nowhere loses nothing: r_0 = 1.

    Parameters
    ----------
    discovery : (y,) array
        P_i, probability that identity i is discovered.
    decision
        Decision rule of the attacker, see `acceptance`.
    loss : float or (y,) array
        u_i, at least 0.

    Returns
    -------
    (y,) array
        r_i.

    Examples
    --------
    >>> best_assignment([0.8, 0.5, 0.9])
    array([0., 1., 0.])
    >>> best_assignment([0.8, 0.5, 0.5])
    array([0. , 0.5, 0.5])
    """
    alpha = acceptance(discovery, decision)
    cost = alpha * as_amounts("loss", loss, len(alpha))
    is_smallest = cost <= cost.min() * (1 + TIE)
    return np.asarray(is_smallest / is_smallest.sum())


# --- unknown attacker -----------------------------------------------------------------------------------------------


def worst_loss(assignment: ArrayLike, *, loss: ArrayLike = 1.0) -> float:
    """Return the largest expected loss over all attackers, who know r and discover all identities: max_i r_i u_i.

    With r_i = 1 / y and equal losses, this is u / y of theorem 3 (6.11)-(6.15), as u / k for k-anonymity (6.10). With
    unequal losses, r_i proportional to 1 / u_i gives the smallest possible value, 1 / sum_i 1 / u_i.

    Parameters
    ----------
    assignment : (y,) array
        r_i, with a sum of at most 1. The rest is r_0.
    loss : float or (y,) array
        u_i, at least 0.

    Returns
    -------
    float

    Examples
    --------
    >>> worst_loss([0.25, 0.25, 0.25, 0.25])
    0.25
    >>> worst_loss([0.25, 0.75], loss=[3.0, 1.0])
    0.75
    """
    r = _probabilities("assignment", assignment, sums=True)
    return float((r * as_amounts("loss", loss, len(r))).max())


# --- checks ---------------------------------------------------------------------------------------------------------


def _probabilities(name: str, values: ArrayLike, *, sums: bool = False) -> Floats:
    probabilities = as_numbers(name, values)
    if probabilities.ndim != 1 or not len(probabilities):
        raise UnmaskError(f"{name} has shape {probabilities.shape}, expected one probability for each identity")
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise UnmaskError(f"{name} has a value outside 0 to 1; give probabilities")
    if sums and probabilities.sum() > 1 + SUM_TOLERANCE:
        raise UnmaskError(
            f"{name} sums to {probabilities.sum():g}, expected at most 1; the rest is the probability of no storage"
        )
    return probabilities
