"""Degrees of anonymity: who sent it, for beliefs whose candidates are senders, one target for each message."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures.base import Measure, refuse_scores
from unmask.measures.entropy import (
    effective_set_size,
    renyi_entropies,
    renyi_entropy,
    shannon_entropy_bits,
)
from unmask.measures.error import check_truth
from unmask.measures.losses.discrete import truth_probability
from unmask.measures.registry import declare_all
from unmask.measures.rows import map_rows
from unmask.measures.success import success_probability

__all__ = [
    "ReiterRubin",
    "berthold",
    "clauss_schiffner",
    "diaz_degree",
    "effective_set_size",
    "reiter_rubin",
    "reiter_rubin_degree",
    "serjantov_danezis",
    "toth_local",
    "toth_local_of",
]


class ReiterRubin(IntEnum):
    """The scale of Reiter and Rubin, from no anonymity to full; a higher number is better for the sender."""

    PROVABLY_EXPOSED = 0
    EXPOSED = 1
    POSSIBLE_INNOCENCE = 2
    PROBABLE_INNOCENCE = 3
    BEYOND_SUSPICION = 4
    ABSOLUTE_PRIVACY = 5


def reiter_rubin(belief: Posterior, sender: Truth, *, exposed: float = 0.95) -> NDArray[np.int64]:
    """Where each true sender i stands on the scale, by p_i = p(i given y): a `ReiterRubin` for each target.

      provably exposed    p_i = 1
      exposed             p_i >= `exposed`, which the authors leave open
      possible innocence  1/2 < p_i < `exposed`: a probability worth naming that it was someone else
      probable innocence  p_i <= 1/2: no likelier to be the sender than not to be
      beyond suspicion    and p_i <= p_j for every other candidate j: no likelier than anybody else
      absolute privacy    p_i = 0: nothing points to them

    sender : every target needs a candidate; a sender outside the candidates has no place on the scale
    Trap: the scale is per user and per message, given that the observation was made, and a small p_i does not imply
    beyond suspicion: p_i = 0.01 is the top suspect if everybody else has less. Nor does the scale measure what the
    observation added: beyond suspicion may be what everybody knew before. In the authors' words absolute privacy is
    that nobody can tell whether anything was sent at all; a belief about a message that was seen can say so only by
    p_i = 0.

    >>> from unmask import Posterior, Truth
    >>> belief = Posterior.from_dense(np.array([[0.4, 0.3, 0.3], [0.0, 0.2, 0.8]]))
    >>> [ReiterRubin(v).name for v in reiter_rubin(belief, Truth([0, 2]))]
    ['PROBABLE_INNOCENCE', 'POSSIBLE_INNOCENCE']

    M. Reiter and A. Rubin, "Crowds: anonymity for web transactions", 1998, section 3.
    """
    refuse_scores(belief, "a degree of anonymity")
    check_truth(belief, sender)
    if np.any(sender.candidate < 0):
        raise UnmaskError(
            f"{int((sender.candidate < 0).sum())} targets have no sender among the candidates, expected one for each"
        )
    if not 0.5 < exposed <= 1.0:
        raise UnmaskError(f"exposed begins at {exposed}, expected above 1/2 and at most 1")
    p = truth_probability(belief, sender)
    least = _least(belief)[belief.observation]
    level = np.full(len(p), ReiterRubin.POSSIBLE_INNOCENCE.value)
    level[p >= exposed] = ReiterRubin.EXPOSED
    slack = 1.0 + belief.resolution
    level[p * slack >= 1.0] = ReiterRubin.PROVABLY_EXPOSED
    level[p <= 0.5 * slack] = ReiterRubin.PROBABLE_INNOCENCE
    level[(p <= 0.5 * slack) & (p <= least * slack)] = ReiterRubin.BEYOND_SUSPICION
    level[p == 0] = ReiterRubin.ABSOLUTE_PRIVACY
    return level


def _least(belief: Posterior) -> NDArray[np.float64]:
    """(n_observations,) the smallest belief in a candidate, 0 if one is ruled out."""
    listed = map_rows(belief, lambda rows: -rows.max(-rows.p, empty=-1.0))
    every = (belief.row_length + np.maximum(belief.n_unlisted, 0)) >= belief.n_candidates
    share = np.where(belief.n_unlisted > 0, belief.unlisted / np.maximum(belief.n_unlisted, 1), 1.0)
    return np.where(every, np.minimum(listed, share), 0.0)


reiter_rubin_degree = Measure(
    name="reiter_rubin_degree",
    label="Degree of anonymity (Reiter & Rubin)",
    meaning="probability that somebody other than the true sender sent the message",
    unit="probability",
    direction="low",
    range=(0.0, 1.0),
    source="M. Reiter & A. Rubin, 'Crowds', 1998, section 3",
    realized=lambda belief, truth: 1.0 - truth_probability(belief, truth),
    needs_probabilities=True,
)
"""1 - p(true sender given y), the degree of anonymity of one user for one message; 1 where the sender was ruled out."""


def berthold(belief: Posterior) -> float:
    """log2 N in bits, N the candidates that the prior allows: Hartley's entropy before the attack.

    Trap: it ignores the attack entirely, and grows with every user who joins, suspected or not.

    >>> from unmask import Posterior
    >>> berthold(Posterior.from_dense(np.array([[1.0, 0.0, 0.0, 0.0]])))
    2.0

    O. Berthold, A. Pfitzmann and R. Standtke, "The disadvantages of free MIX routes", 2000.
    """
    return float(np.log2(anonymity_set(belief)))


def anonymity_set(belief: Posterior) -> int:
    """N, the symbols of positive prior: candidates, and "no candidate" where the prior leaves it something."""
    return belief.n_possible + int(belief.prior_none > 0)


serjantov_danezis = shannon_entropy_bits
"""S = -sum_x p log2 p, in bits, for each observation. Trap: the authors call S the effective *size* of the anonymity
set, but it is in bits; 2^S, `effective_set_size`, is in users.

A. Serjantov and G. Danezis, "Towards an information theoretic metric for anonymity", 2002."""


def diaz_degree(n: int | None = None) -> Measure:
    """d = H(X given y) / log2 N, the degree of anonymity: 1 for a uniform belief over N, 0 for certainty.

    n : N, the size of the anonymity set before the attack; the candidates of positive prior when left out. N = 1 is
        0/0, and the degree 0: there is nobody to hide among. A belief over more symbols than N has degree 1.
    Trap: two systems with different N are not comparable, 0.9 of 10 users is a smaller set than 0.5 of 1000. And H is
    an average: one user may be all but exposed at a high degree.

    >>> from unmask import Posterior
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0, 0.0]]))
    >>> float(diaz_degree().per_target(belief)[0]), float(diaz_degree(2).per_target(belief)[0])
    (0.5, 1.0)

    C. Diaz, S. Seys, J. Claessens and B. Preneel, "Towards measuring anonymity", 2002.
    """
    if n is not None and n < 1:
        raise UnmaskError(f"the anonymity set has {n} users, expected at least 1")

    def degree(belief: Posterior) -> NDArray[np.float64]:
        users = anonymity_set(belief) if n is None else n
        if users == 1:
            return np.zeros(belief.n_observations)
        return np.asarray(np.minimum(renyi_entropies(belief, (1,))[0] / np.log2(users), 1.0))

    return Measure(
        name="diaz_degree",
        label="Degree of anonymity (Diaz)",
        meaning="uncertainty about the sender, as a share of what it was before",
        unit="share",
        direction="low",
        range=(0.0, 1.0),
        source="C. Diaz et al., 'Towards measuring anonymity', 2002",
        self_assessed=degree,
        needs_probabilities=True,
    )


toth_local = success_probability
"""max_x p(x given y) for one observation; `toth_local_of` is the measure of a system.

G. Toth, Z. Hornak & F. Vajda, "Measuring anonymity revisited", 2004."""


def toth_local_of(belief: Posterior) -> float:
    """Theta = max over messages and senders of p(x given y): the system is source-hiding with parameter Theta.

    Over observations that a target of positive weight produced. H(X given y) >= -log2 Theta for each of them, while a
    high H does not bound Theta: half the mass on one sender and the rest over a million leaves 11 bits.
    Trap: a maximum over messages and senders; in a small sample of messages one is traced by chance, and Theta is 1.

    >>> from unmask import Posterior
    >>> toth_local_of(Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]])))
    0.5

    G. Tóth, Z. Hornák and F. Vajda, "Measuring anonymity revisited", 2004.
    """
    refuse_scores(belief, "a degree of anonymity")
    assert toth_local.self_assessed is not None
    return float(toth_local.self_assessed(belief)[belief.observation_weight > 0].max())


clauss_schiffner = renyi_entropy
"""Renyi entropy of a given order, in bits, as the anonymity of a sender.

Trap: alpha is the model of the attacker, so there is no default and it must be stated: 0 counts who is possible at all,
1 averages, inf is the attacker with one guess.

S. Clauß and S. Schiffner, "Structuring anonymity metrics", 2006."""

declare_all(reiter_rubin_degree)
