"""Channels: mechanisms that show Y in the place of X, what an adversary estimates behind them, and the best ones."""

from unmask.channels import criteria, datasets
from unmask.channels.attacks import (
    BayesChannelAttack,
    HiddenMarkovAttack,
    MatchingAttack,
    StatisticalDisclosure,
    matching_marginals,
)
from unmask.channels.design import (
    Design,
    PrivateRateDistortion,
    RateDistortion,
    coin_channel,
    constant_risk_channel,
    matched_optimum,
    optimal_mechanism,
    private_rate_distortion,
    rate_distortion,
)
from unmask.channels.protections import (
    Coin,
    Generalize,
    Geometric,
    PlanarGaussian,
    PlanarLaplace,
    RandomizedResponse,
    Shrink,
)
from unmask.channels.release import Channel, degradation

__all__ = [
    "BayesChannelAttack",
    "Channel",
    "Coin",
    "Design",
    "Generalize",
    "Geometric",
    "HiddenMarkovAttack",
    "MatchingAttack",
    "PlanarGaussian",
    "PlanarLaplace",
    "PrivateRateDistortion",
    "RandomizedResponse",
    "RateDistortion",
    "Shrink",
    "StatisticalDisclosure",
    "coin_channel",
    "constant_risk_channel",
    "criteria",
    "datasets",
    "degradation",
    "matched_optimum",
    "matching_marginals",
    "optimal_mechanism",
    "private_rate_distortion",
    "rate_distortion",
]
