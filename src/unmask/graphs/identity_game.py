"""The game of y identities: where to put a secret so that who finds some of the identities takes the wrong one.

A user has y identities and puts a sensitive attribute in one of them, i with probability r_i (`assignment`); the others
carry a credible other value. An attacker finds some of them, identity i with chance P_i (`discovery`), independently,
and believes one of those found, or none (`decision`). The user loses u_i (`loss`) when the right one is believed.

Three attackers: a strong one finds all and plays against the user (`equilibrium`); a weak one finds some and decides in
a way that the user can foresee (`expected_loss`, `best_assignment`); of an unknown one there is a bound (`worst_loss`).
What the r_i leave to 1 is r_0: the secret is stored nowhere, and nothing is lost.

G. G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, section 6.4 and
appendix A.3; equation numbers are theirs. Where the print slips, this is the reading taken:

* (6.1) pays the attacker u_A^- where they are right and u_A^+ where they are wrong. Swapped back; r_i = r_j either way.
* The last row of (6.3) must end in 1, the sum of the r_i, not in 0.
* u_n^- is a payoff in table 6.1 and a positive cost from (6.5) on: a cost here. m_i is 0 or 1, not in between.
* A = 0 in (A.3) "means that there is no privacy breach": it means that r does not matter. The loss is (1 - q) P_2,
  which is 0 in the three cases listed there, and not, say, with P_1 = P_2 and q = 1/2.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Floats, as_amounts, as_numbers, is_whole

__all__ = ["Equilibrium", "acceptance", "best_assignment", "equilibrium", "expected_loss", "worst_loss"]

Decision: TypeAlias = str | Callable[[NDArray[np.bool_]], ArrayLike] | Mapping[tuple[int, ...], ArrayLike] | ArrayLike

MOST_ENUMERATED: Final = 18
"""Identities that may or may not be found, above which their 2^y sets are not gone through one by one."""

SLACK: Final = 1e-9
"""How far probabilities may sum above 1: the rounding of decimals."""

TIE: Final = 1e-12
"""Two losses closer than this share of the larger are equal: they were computed in floating point."""


# --- strong attacker ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Mixed strategies from which neither side gains by turning away alone.

    assignment : (y,) r_i, where the user puts the secret
    decision   : (y,) q_i, which identity the attacker believes
    loss       : what the user loses then, in expectation
    """

    assignment: Floats
    decision: Floats
    loss: float


def equilibrium(y: int, *, loss: ArrayLike = 1.0, gain: ArrayLike = 1.0) -> Equilibrium:
    """Return the Nash equilibrium against a strong attacker, who finds all y identities and believes one of them.

    The user's r makes every choice of the attacker worth the same, r_i gain_i = r_j gain_j (6.2), and the
    attacker's q every choice of the user, q_i loss_i = q_j loss_j. Both sum to 1, so

        r_i = (1 / gain_i) / sum_j (1 / gain_j),   q_i = (1 / loss_i) / sum_j (1 / loss_j)

    and the user expects to lose 1 / sum_i (1 / loss_i). Where nothing differs, r_i = q_i = 1 / y (theorem 1), and
    the loss is u / y (6.12). There is no other equilibrium: an identity that one side never takes is the best one, or a
    worthless one, for the other; so none is pure for y > 1.

    loss : one number or (y,), what the user loses if the secret in i is believed, above 0: u^+ - u_i^- of the payoffs
    gain : one number or (y,), what the attacker gains over a wrong belief by believing i rightly, above 0. Where it
           is `loss` itself, the r_i are also those that no attacker whatsoever can make worse than the loss stated.

    >>> equilibrium(4).assignment
    array([0.25, 0.25, 0.25, 0.25])
    >>> found = equilibrium(2, loss=[3.0, 1.0])
    >>> found.assignment, found.decision, found.loss
    (array([0.5, 0.5]), array([0.25, 0.75]), 0.75)
    """
    if not is_whole(y, at_least=1):
        raise UnmaskError(f"y is {y!r}, expected a whole number of identities of at least 1")
    losses, gains = as_amounts("loss", loss, int(y)), as_amounts("gain", gain, int(y))
    for name, values in (("loss", losses), ("gain", gains)):
        if not (values > 0).all():
            raise UnmaskError(f"a {name} is 0, expected above 0: at stake nothing, there is no game to play")
    r, q = 1 / gains, 1 / losses
    return Equilibrium(r / r.sum(), q / q.sum(), float(1 / q.sum()))


# --- weak attacker --------------------------------------------------------------------------------------------------


def acceptance(discovery: ArrayLike, decision: Decision = "uniform") -> Floats:
    """(y,) alpha_i: chance that identity i is found and believed, sum over m of P_m q_i^m (6.8).

    m is the set found, P_m = prod_j P_j or 1 - P_j its chance (6.6), q^m what is believed then.

    discovery : (y,) P_i
    decision  : how the attacker decides, one of
        "uniform"    each identity found with the same chance, 1 / |m|
        (y,)         identity i with chance q_i whenever it is found, else no identity; they sum to at most 1
        a function   m, as (y,) truth values, -> q^m, (y,)
        a mapping    m, as a tuple of 0 and 1, -> q^m; the sets of chance 0 may be left out
        a table      (2, ..., 2, y): table[m_1, ..., m_y] is q^m; (2^y, y) in the same order will do
        A q^m sums to at most 1 and is 0 for what was not found.

    No set is enumerated in the first two. Uniform: alpha_i = P_i E[1 / (1 + K)], with K the number of others found, and
    E[1 / (1 + K)] = integral over t in [0, 1] of prod_{j != i} (1 - P_j + P_j t), a polynomial, which Gauss-Legendre
    quadrature with y // 2 + 1 points integrates exactly, all terms positive. In the other three, identities with a P_i
    of 0 or 1 cost nothing and at most 18 others are enumerated.

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
            raise UnmaskError(f"decision is {decision!r}, expected 'uniform', a table or a function")
        return _uniform(P)
    if callable(decision):
        return _enumerated(P, decision)
    if isinstance(decision, Mapping):
        return _enumerated(P, _looked_up(decision))
    table = as_numbers("the decision", decision)
    if table.shape == P.shape:
        if not ((table >= 0).all() and table.sum() <= 1 + SLACK):
            raise UnmaskError("the acceptances of the decision are below 0 or sum to more than 1; give probabilities")
        return P * table
    if table.shape not in ((2,) * len(P) + P.shape, (2 ** len(P), len(P))):
        raise UnmaskError(f"decision is a table of shape {table.shape}, expected {P.shape} or {(2 ** len(P), len(P))}")
    cells = table.reshape((2,) * len(P) + P.shape)
    return _enumerated(P, lambda discovered: cells[tuple(discovered.astype(int))])


def _uniform(P: Floats) -> Floats:
    from scipy.special import roots_legendre

    nodes, weights = roots_legendre(len(P) // 2 + 1)
    factors = 1 - P + P * (nodes[:, None] + 1) / 2  # positive: no point lies on 0
    logs = np.log(factors)
    return np.asarray(P * (weights / 2 @ np.exp(logs.sum(axis=1, keepdims=True) - logs)))


def _looked_up(table: Mapping[tuple[int, ...], ArrayLike]) -> Callable[[NDArray[np.bool_]], ArrayLike]:
    def decide(discovered: NDArray[np.bool_]) -> ArrayLike:
        m = tuple(discovered.astype(int).tolist())
        if m not in table:
            raise UnmaskError(f"the decision has no row for the set {m}, which can be found; give one")
        return table[m]

    return decide


def _enumerated(P: Floats, decide: Callable[[NDArray[np.bool_]], ArrayLike]) -> Floats:
    """Return the sum over all sets that can be found."""
    open_ones = int(((P > 0) & (P < 1)).sum())
    if open_ones > MOST_ENUMERATED:
        raise UnmaskError(
            f"{open_ones} identities may or may not be found, expected at most {MOST_ENUMERATED} where a decision is "
            "given set by set; give 'uniform' or one chance per identity"
        )
    states = [(False, True) if 0 < p < 1 else (bool(p),) for p in P]
    sets = np.array(list(itertools.product(*states)), dtype=bool)
    rows = [as_numbers("a decision", decide(m)) for m in sets]
    wrong_shape = next((row.shape for row in rows if row.shape != P.shape), None)
    if wrong_shape is not None:
        raise UnmaskError(f"a decision has shape {wrong_shape}, expected {P.shape}, one chance per identity")
    q = np.stack(rows)
    if not ((q >= 0).all() and (q.sum(axis=1) <= 1 + SLACK).all()):
        raise UnmaskError(
            "a decision is below 0 or sums to more than 1; give the chances that each identity is believed"
        )
    if (q[~sets] > 0).any():
        raise UnmaskError("a decision believes an identity that was not found; its chance must be 0")
    return np.asarray(np.where(sets, P, 1 - P).prod(axis=1) @ q)


def expected_loss(
    assignment: ArrayLike, *, discovery: ArrayLike, decision: Decision = "uniform", loss: ArrayLike = 1.0
) -> float:
    """Return the expected loss of the user: sum_i r_i alpha_i u_i, equation (6.7), with alpha of `acceptance`.

    assignment : (y,) r_i, summing to at most 1; the rest is r_0, the secret stored nowhere
    discovery  : (y,) P_i, chance that identity i is found; all 1 for a strong attacker
    decision   : as in `acceptance`
    loss       : one number or (y,), u_i, at least 0

    Examples of appendix A.3: q_1 = q_3 = q and q_2 = q_4 = 1 - q (A.2), and coin flips (A.5).

    >>> expected_loss([0.5, 0.5], discovery=[0.8, 0.5], decision=[0.4, 0.6])
    0.31
    >>> round(expected_loss([0.5, 0.5], discovery=[0.8, 0.5]), 3)
    0.45
    """
    r = _probabilities("assignment", assignment, sums=True)
    alpha = acceptance(discovery, decision)
    if alpha.shape != r.shape:
        raise UnmaskError(
            f"there are {len(r)} assignments and {len(alpha)} discoveries, expected one each per identity"
        )
    return float(r @ (alpha * as_amounts("loss", loss, len(r))))


def best_assignment(discovery: ArrayLike, decision: Decision = "uniform", *, loss: ArrayLike = 1.0) -> Floats:
    """(y,) the r_i of least `expected_loss`: 1 on the identity of least alpha_i u_i (theorem 2), else 0.

    Where several are least, any mixture of them is best too (6.9); they share the 1 equally, so that the order of the
    identities tells nothing. A user who may leave the secret out does better: r_0 = 1 loses nothing.

    >>> best_assignment([0.8, 0.5, 0.9])
    array([0., 1., 0.])
    >>> best_assignment([0.8, 0.5, 0.5])
    array([0. , 0.5, 0.5])
    """
    alpha = acceptance(discovery, decision)
    price = alpha * as_amounts("loss", loss, len(alpha))
    is_cheapest = price <= price.min() * (1 + TIE)
    return np.asarray(is_cheapest / is_cheapest.sum())


# --- unknown attacker -----------------------------------------------------------------------------------------------


def worst_loss(assignment: ArrayLike, *, discovery: ArrayLike | None = None, loss: ArrayLike = 1.0) -> float:
    """Return the largest expected loss by any attacker, who knows r and believes the costliest identity found.

    With v_i = r_i u_i in falling order, sum_k v_(k) P_(k) prod_{l < k} (1 - P_(l)). Where nothing is known of the
    discovery, all are found: max_i v_i, which for r_i = 1 / y and equal losses is the u / y of theorem 3 (6.11)-(6.15),
    as the u / k of k-anonymity (6.10). Unequal losses: r_i proportional to 1 / u_i bring it down to 1 / sum_i 1 / u_i,
    the least there is.

    assignment : (y,) r_i, summing to at most 1; the rest is r_0
    discovery  : (y,) P_i, or None where it is unknown

    >>> worst_loss([0.25, 0.25, 0.25, 0.25])
    0.25
    >>> worst_loss([0.25, 0.75], loss=[3.0, 1.0])
    0.75
    >>> worst_loss([0.5, 0.5], discovery=[0.5, 0.5])
    0.375
    """
    r = _probabilities("assignment", assignment, sums=True)
    P = np.ones_like(r) if discovery is None else _probabilities("discovery", discovery)
    if P.shape != r.shape:
        raise UnmaskError(f"there are {len(r)} assignments and {len(P)} discoveries, expected one each per identity")
    value = r * as_amounts("loss", loss, len(r))
    order = np.argsort(-value, kind="stable")
    missed = np.concatenate([[1.0], np.cumprod(1 - P[order])[:-1]])
    return float(value[order] @ (P[order] * missed))


# --- checks ---------------------------------------------------------------------------------------------------------


def _probabilities(name: str, values: ArrayLike, *, sums: bool = False) -> Floats:
    probabilities = as_numbers(name, values)
    if probabilities.ndim != 1 or not len(probabilities):
        raise UnmaskError(f"{name} has shape {probabilities.shape}, expected one probability per identity")
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise UnmaskError(f"{name} has a value outside 0 to 1; give probabilities")
    if sums and probabilities.sum() > 1 + SLACK:
        raise UnmaskError(
            f"{name} sums to {probabilities.sum():g}, expected at most 1; what is left to 1 is stored nowhere"
        )
    return probabilities
