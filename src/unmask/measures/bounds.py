"""Bounds of the adversary's gain by leakage, as corrected from the estimation-error paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.arrays import Floats
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.measures.leakage import LN2, leakages
from unmask.measures.losses import Loss, decision_problem
from unmask.measures.losses.discrete import Medoid
from unmask.measures.losses.problem import expected_cost, shares_unlisted
from unmask.measures.measure import refuse_scores


def divergence_nats_for_regret(regret: float, *, largest: float) -> float:
    """Return the divergence t, in nats, for which the bound sqrt(2) d_max sqrt(t) equals a regret: (regret / d_max)^2 /
    2.

    >>> divergence_nats_for_regret(0.1, largest=1.0)
    0.005
    """
    if not (regret >= 0 and largest > 0):
        raise UnmaskError(f"the regret is {regret} and the largest loss {largest}, expected at least 0 and above 0")
    return (regret / largest) ** 2 / 2.0


@dataclass(frozen=True, eq=False)
class Bounds:
    """Regret and gap of each observation, and their bounds by leakage.

    With q the prior, p = p(. given y), a_q and a_p the best answers to them:

    regret(y) = E_p d(a_q) - E_p d(a_p) <= 2 d_max TV(y) <= sqrt(2) d_max sqrt(D(y))      cost of ignoring y, >= 0
    gap(y)    = E_q d(a_q) - E_p d(a_p),  |gap| <= d_max TV(y) <= d_max sqrt(D(y) / 2)    prior less posterior error
    E regret^2 <= 2 d_max^2 I(X; Y)

    The gap may be negative for one y, which makes more uncertain than was thought. For an exact belief E gap = E
    regret. All D and I are in nats. The published constants, 4 and 2 sqrt(2) for the regret and 8 for its square, are
    loose by 2, 2 and 4. Answers that tie before the release share it.

    regret, gap : (n_observations,) in units of the loss
    total_variation : (n_observations,) TV(y), from 0 to 1
    divergence_nats : (n_observations,) D(y), the divergence of p from q
    largest : d_max, the largest loss of a possible answer
    weight : (n_observations,) p(y)
    """

    regret: Floats
    gap: Floats
    total_variation: Floats
    divergence_nats: Floats
    largest: float
    weight: Floats

    @property
    def regret_by_variation(self) -> Floats:
        """Return 2 d_max TV."""
        return 2.0 * self.largest * self.total_variation

    @property
    def regret_by_divergence(self) -> Floats:
        """Return sqrt(2) d_max sqrt(D nats)."""
        return self.largest * np.sqrt(2.0 * self.divergence_nats)

    @property
    def gap_by_variation(self) -> Floats:
        """Return d_max TV, a bound of |gap|."""
        return self.largest * self.total_variation

    @property
    def gap_by_divergence(self) -> Floats:
        """Return d_max sqrt(D nats / 2), a bound of |gap|."""
        return self.largest * np.sqrt(self.divergence_nats / 2.0)

    @property
    def information_nats(self) -> float:
        """Return I(X; Y) = E D."""
        return float(self.weight @ self.divergence_nats)

    @property
    def average_regret(self) -> float:
        """Return the expected regret."""
        return float(self.weight @ self.regret)

    @property
    def average_gap(self) -> float:
        """Return E gap: prior error less P_avg."""
        return float(self.weight @ self.gap)

    @property
    def mean_square_regret(self) -> float:
        """Return E regret^2."""
        return float(self.weight @ self.regret**2)

    @property
    def mean_square_by_information(self) -> float:
        """Return 2 d_max^2 I(X; Y), a bound of E regret^2."""
        return 2.0 * self.largest**2 * self.information_nats


def bounds(belief: Posterior, loss: Loss = "hamming", *, coordinates: ArrayLike | None = None) -> Bounds:
    """Return regret and gap of each observation with their bounds, for an adversary who decides best under this loss.

    The bounds hold for the best decision under this loss, not for an adversary who names the likeliest candidate
    whatever the loss. They limit the loss of privacy and are not a level of privacy. They help if only d_max of the
    loss is known: then TV bounds best. All answers must be possible in every observation, so that losses with listed
    candidates as answers (medoids, callables) are rejected, as are beliefs whose unlisted mass hides their distance
    from the prior; see `unmask.measures.losses.as_matrix`.

    >>> belief = Posterior.from_dense(np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> result = bounds(belief)
    >>> result.gap.round(6), result.gap_by_variation.round(6), result.gap_by_divergence.round(6)
    (array([0.25, 0.25]), array([0.25, 0.25]), array([0.255746, 0.255746]))

    Rebollo-Monedero et al. 2012, section V-B, equation (8), with constants corrected and MAP read as Bayes.
    """
    refuse_scores(belief, "a bound by leakage")
    problem = decision_problem(loss, belief.n_candidates, coordinates=coordinates)
    if isinstance(problem, Medoid):
        raise UnmaskError(
            "the answers are the listed candidates, which differ from one observation to the next, and the bounds need "
            "the same for all: give the loss as a matrix, answers x truths"
        )
    _must_be_comparable(belief)
    prior = belief.prior()
    prior_error, error = float(problem.best(prior)[0][0]), problem.best(belief)[0]
    ignoring = expected_cost(belief, problem.prior_cost(prior), largest=problem.largest)
    regret, leakage = ignoring - error, leakages(belief)
    return Bounds(
        regret=np.maximum(regret, 0.0),
        gap=prior_error - error,
        total_variation=leakage.total_variation,
        divergence_nats=leakage.information_bits * LN2,
        largest=problem.largest,
        weight=belief.observation_weight,
    )


def _must_be_comparable(belief: Posterior) -> None:
    uniform = not isinstance(belief.log_prior, np.ndarray)
    hidden = np.flatnonzero((belief.unlisted > 0) & ~(shares_unlisted(belief) & uniform))
    if hidden.size:
        raise UnmaskError(
            f"{hidden.size} observations, {hidden[0]} the first, leave mass unlisted whose distance from the prior is "
            'not known; expected a belief that lists all it believes in, without "none of these"'
        )
