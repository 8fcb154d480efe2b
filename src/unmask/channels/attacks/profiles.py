"""Profiles of senders: the share of each receiver, estimated with errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.channels._matrices import Floats, Ints
from unmask.core.posterior import Posterior

GRID_SIZE = 200
"""Number of possible shares above 0, on a logarithmic grid up to 1."""

SMALLEST_SHARE = 0.1
"""Smallest share of the grid above 0, in units of the median standard error."""

MAX_FITTED = 20_000
"""Largest number of estimates from which the distribution of shares is fitted."""

STEPS = 200
"""Steps of the EM algorithm; later ones move expected shares by less than a tenth of their error."""

BLOCK = 2**16
"""Number of estimates in memory at once, with the likelihood of every share."""


@dataclass(frozen=True, eq=False)
class Profiles:
    """Estimated shares of each sender's messages to each receiver, with standard errors.

    Parameters
    ----------
    estimate : (n_senders, n_receivers) array
        Shares, rows sum to 1. Unbiased: half of the entries that are really 0 are negative. Do not clip them before
        averaging or comparing.
    standard_error : (n_senders, n_receivers) array
        Over rounds, from the multinomial model at the estimates; 0 for a known share.
    popularity : (n_receivers,) array
        Each receiver's share of all messages, the prior.
    senders : (n_senders,) array
        Number of each sender.
    n_rounds : (n_senders,) array
        Rounds of each sender.
    method : str
        Name of the attack.
    """

    estimate: Floats
    standard_error: Floats
    popularity: Floats
    senders: Ints
    n_rounds: Ints
    method: str = ""

    def rows_of(self, senders: Ints) -> Ints:
        """Return the row of each of these senders, -1 without a profile."""
        row = np.full(int(max(senders.max(), self.senders.max())) + 1, -1)
        row[self.senders] = np.arange(len(self.senders))
        return row[senders]

    @cached_property
    def expected_shares(self) -> Floats:
        """Return the (n_senders, n_receivers) expected share of each receiver given its estimate.

        Estimates are normal with their standard errors, and the distribution of the true shares is fitted to all
        estimates together (empirical Bayes). If most receivers of a sender get nothing, an estimate of one or two
        errors is therefore mostly error.

        References
        ----------
        R. Koenker, I. Mizera, "Convex optimization, shape constraints, compound decisions, and empirical Bayes rules",
        JASA 2014: the nonparametric maximum likelihood estimate.
        """
        shares = np.maximum(self.estimate, 0.0)
        is_uncertain = self.standard_error > 0
        if is_uncertain.any():
            shares[is_uncertain] = _shrink(self.estimate[is_uncertain], self.standard_error[is_uncertain])
        return np.asarray(shares, dtype=np.float64)

    def posterior(self) -> Posterior:
        """Return the belief about the receiver of each sender: expected shares divided by their sum, status `model`.

        Candidates are the receivers, the prior is their popularity.
        """
        shares = np.where(self.popularity > 0, self.expected_shares, 0.0)
        shares = np.where(shares.sum(axis=1, keepdims=True) > 0, shares, self.popularity)
        provenance = {
            "attack": "statistical disclosure",
            "method": self.method,
            "rounds": int(self.n_rounds.max()),
            "largest standard error": float(self.standard_error.max()),
        }
        belief = shares / shares.sum(axis=1, keepdims=True)
        return Posterior.from_dense(belief, prior=self.popularity, status="model", provenance=provenance)


def _shrink(estimate: Floats, error: Floats) -> Floats:
    """Return the (n,) expected share behind each estimate, by the EM algorithm for the distribution of shares."""
    smallest = min(SMALLEST_SHARE * float(np.median(error)), SMALLEST_SHARE)
    grid = np.concatenate(([0.0], np.geomspace(smallest, 1.0, GRID_SIZE)))
    step = -(-len(estimate) // MAX_FITTED)
    likelihood = _compute_likelihood(estimate[::step], error[::step], grid)
    weight = np.full(len(grid), 1 / len(grid))
    for _ in range(STEPS):
        weight *= (1 / (likelihood @ weight)) @ likelihood / len(likelihood)
    expected = np.empty(len(estimate))
    for start in range(0, len(estimate), BLOCK):
        part = slice(start, start + BLOCK)
        likelihood = _compute_likelihood(estimate[part], error[part], grid)
        expected[part] = likelihood @ (weight * grid) / (likelihood @ weight)
    return expected


def _compute_likelihood(estimate: Floats, error: Floats, grid: Floats) -> Floats:
    """Return the (n, n_grid) likelihood of each share, relative to the likeliest one."""
    exponent = -0.5 * ((estimate[:, None] - grid) / error[:, None]) ** 2
    return np.asarray(np.exp(exponent - exponent.max(axis=1, keepdims=True)), dtype=np.float64)
