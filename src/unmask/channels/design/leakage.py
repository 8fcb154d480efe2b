"""The mechanism that leaks least about a secret within a distortion of related data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels._matrices import check_costs
from unmask.channels.channel import Channel
from unmask.channels.design.lagrangian_curve import mutual_information
from unmask.channels.design.rate_distortion import private_rate_distortion, rate_distortion
from unmask.core.errors import UnmaskError

LN2 = math.log(2.0)


@dataclass(frozen=True, eq=False)
class LeakageDesign:
    """A mechanism of least leakage.

    Parameters
    ----------
    channel : Channel
        p(y given x'), from the data to the output.
    leakage_bits : float
        I(X; Y), what an output tells about the secret.
    gap_bits : float
        The least leakage of any mechanism within the distortion lies between leakage_bits - gap_bits and leakage_bits.
    distortion : float
        Expected distortion between the data and the output.
    unprotected_bits : float
        I(X; X'), what the data itself tells about the secret.
    """

    channel: Channel
    leakage_bits: float
    gap_bits: float
    distortion: float
    unprotected_bits: float


def least_leakage(joint: ArrayLike, distortion_matrix: ArrayLike, budget: float) -> LeakageDesign:
    """Minimize I(X; Y) over mechanisms p(y given x') whose expected distortion d(x', y) is within the budget.

    Parameters
    ----------
    joint : (n_secrets, n_data) array
        p(x, x') of secret and data. It is diagonal if the secret itself is the data.
    distortion_matrix : (n_data, n_outputs) array
        d(x', y), at least 0 and finite.
    budget : float
        Largest expected distortion.

    Returns
    -------
    LeakageDesign
        Mechanism, with a certified gap.

    Raises
    ------
    UnmaskError
        If the joint distribution is not one, or no mechanism has so little distortion.

    References
    ----------
    D. Rebollo-Monedero et al., "On the measurement of privacy as an attacker's estimation error", 2012, eq. (9).

    Examples
    --------
    >>> design = least_leakage(np.diag([0.5, 0.5]), 1 - np.eye(2), 0.1)
    >>> round(design.leakage_bits, 6)  # 1 - h(0.1)
    0.531004
    """
    table = check_costs(joint, "joint distribution", (None, None))
    if abs(table.sum() - 1) > 1e-6:
        raise UnmaskError(f"the joint distribution sums to {table.sum():.6g}, expected 1")
    if table.shape[0] == table.shape[1] and np.array_equal(table, np.diag(np.diag(table))):
        curve = rate_distortion(np.diag(table), distortion_matrix, distortion=budget)
    else:
        curve = private_rate_distortion(table, distortion_matrix, distortion=budget)
    prior = table.sum(axis=1)
    forward = table / np.where(prior > 0, prior, 1.0)[:, None]
    return LeakageDesign(
        channel=curve.rules[0],
        leakage_bits=float(curve.rate[0]) / LN2,
        gap_bits=float(curve.gap[0]) / LN2,
        distortion=float(curve.distortion[0]),
        unprotected_bits=mutual_information(prior, forward) / LN2,
    )
