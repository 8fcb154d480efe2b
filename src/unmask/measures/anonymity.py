"""Degrees of sender anonymity. The candidates of a belief are senders, and each target is a message."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures.entropy import renyi_entropies
from unmask.measures.losses.discrete import truth_probability
from unmask.measures.measure import Measure, check_truth, implement, measure_whole, refuse_scores
from unmask.measures.posterior_rows import map_rows
from unmask.measures.registry import FAMILIES, declare_all
from unmask.measures.success import success_probability


class ReiterRubin(IntEnum):
    """Scale of Reiter and Rubin, from no anonymity to full anonymity of the sender."""

    PROVABLY_EXPOSED = 0
    EXPOSED = 1
    POSSIBLE_INNOCENCE = 2
    PROBABLE_INNOCENCE = 3
    BEYOND_SUSPICION = 4
    ABSOLUTE_PRIVACY = 5


def reiter_rubin(belief: Posterior, sender: Truth, *, exposed: float = 0.95) -> Integers:
    """Return the `ReiterRubin` level of each true sender i, by p_i = p(i given y).

      provably exposed    p_i = 1
      exposed             p_i >= `exposed`, which the authors leave open
      possible innocence  1/2 < p_i < `exposed`
      probable innocence  p_i <= 1/2: at least as likely not to be the sender
      beyond suspicion    and p_i <= p_j for every other candidate j
      absolute privacy    p_i = 0

    Every target needs a sender among the candidates. The scale is for one user and one message, given the observation.
    A small p_i does not imply beyond suspicion: with p_i = 0.01, i is the top suspect if all others have less. The
    scale does not measure the effect of the observation. For the authors, absolute privacy means that the adversary
    cannot notice the message. A belief about an observed message expresses this only by p_i = 0.

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
    smallest = _smallest_probability(belief)[belief.observation]
    level = np.full(len(p), ReiterRubin.POSSIBLE_INNOCENCE.value)
    level[p >= exposed] = ReiterRubin.EXPOSED
    slack = 1.0 + belief.resolution
    level[p * slack >= 1.0] = ReiterRubin.PROVABLY_EXPOSED
    level[p <= 0.5 * slack] = ReiterRubin.PROBABLE_INNOCENCE
    level[(p <= 0.5 * slack) & (p <= smallest * slack)] = ReiterRubin.BEYOND_SUSPICION
    level[p == 0] = ReiterRubin.ABSOLUTE_PRIVACY
    return level


def _smallest_probability(belief: Posterior) -> Floats:
    """Return the smallest probability of a candidate in each row, 0 if one is excluded."""
    smallest_listed = map_rows(belief, lambda rows: -rows.max(-rows.p, empty=-1.0))
    is_complete = (belief.row_length + np.maximum(belief.n_unlisted, 0)) >= belief.n_candidates
    share = np.where(belief.n_unlisted > 0, belief.unlisted / np.maximum(belief.n_unlisted, 1), 1.0)
    return np.where(is_complete, np.minimum(smallest_listed, share), 0.0)


reiter_rubin_degree = implement(
    "reiter_rubin_degree", realized=lambda belief, truth: 1.0 - truth_probability(belief, truth),
    needs_probabilities=True,
)  # fmt: skip
"""1 - p(true sender given y); 1 if the sender was excluded."""


def anonymity_set(belief: Posterior) -> int:
    """Return the number of symbols with positive prior: candidates, and "none of these" if it has prior mass."""
    return belief.n_possible + int(belief.prior_none > 0)


def diaz_degree(n: int | None = None) -> Measure:
    """Return the measure d = H(X given y) / log2 N: 1 for a uniform belief over N users, 0 for certainty.

    n : N, the size of the anonymity set before the attack; by default the candidates of positive prior. For N = 1 the
        degree is 0. A belief over more symbols than N has degree 1.

    Systems with different N are not comparable: 0.9 of 10 users is a smaller set than 0.5 of 1000. H is an average: one
    user may be all but exposed at a high degree.

    >>> from unmask import Posterior
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0, 0.0]]))
    >>> float(diaz_degree().per_target(belief)[0]), float(diaz_degree(2).per_target(belief)[0])
    (0.5, 1.0)

    C. Diaz, S. Seys, J. Claessens and B. Preneel, "Towards measuring anonymity", 2002.
    """
    if n is not None and n < 1:
        raise UnmaskError(f"the anonymity set has {n} users, expected at least 1")

    def degree(belief: Posterior) -> Floats:
        n_users = anonymity_set(belief) if n is None else n
        if n_users == 1:
            return np.zeros(belief.n_observations)
        return np.asarray(np.minimum(renyi_entropies(belief, (1,))[0] / np.log2(n_users), 1.0))

    name = "diaz_degree" if n is None else f"diaz_degree_{n}"
    return implement("diaz_degree", name=name, self_assessed=degree, needs_probabilities=True)


def _largest_probability(belief: Posterior) -> float:
    assert success_probability.self_assessed is not None
    return float(success_probability.self_assessed(belief)[belief.observation_weight > 0].max())


local_anonymity = measure_whole("local_anonymity", _largest_probability)
"""Theta = max over messages and senders of p(x given y): the system is source-hiding with parameter Theta.

The maximum is over observations that a target of positive weight produced. H(X given y) >= -log2 Theta for each of
them, while a high H does not bound Theta: half the mass on one sender and the rest over a million leaves 11 bits. In a
small sample of messages one is traced by chance, and Theta is 1.
"""

anonymity_set_bits = measure_whole("anonymity_set_bits", lambda belief: float(np.log2(anonymity_set(belief))))
"""log2 N in bits, N the candidates that the prior allows: Hartley's entropy before the attack. It ignores the attack,
and grows with every user who joins, suspected or not."""

FAMILIES[r"diaz_degree_(\d+)"] = lambda n: diaz_degree(int(n))

declare_all(reiter_rubin_degree, diaz_degree(), local_anonymity, anonymity_set_bits)
