"""Channels: mechanisms that show Y in the place of X, what an adversary estimates behind them, and the best ones."""

from unmask.channels import criteria, datasets
from unmask.channels.attacks import (
    BayesChannelAttack,
    FrequencyAttack,
    HiddenMarkovAttack,
    LeastSquaresDisclosure,
    MatchingAttack,
    NearestNeighborAttack,
    Round,
    RoundDisclosure,
    Rounds,
    Samples,
    StatisticalDisclosure,
)
from unmask.channels.channel import Channel
from unmask.channels.datasets import Crowds, PoolMix
from unmask.channels.design import (
    Design,
    RateDistortion,
    coin_channel,
    constant_risk_channel,
    matched_optimum,
    optimal_mechanism,
    private_rate_distortion,
    rate_distortion,
)
from unmask.channels.evidence.logs import MessageLog, RoundLog, TraceLog
from unmask.channels.hidden_markov import Chain
from unmask.channels.mechanisms import (
    Coin,
    Generalize,
    Geometric,
    PlanarGaussian,
    PlanarLaplace,
    RandomizedResponse,
    Shrink,
)
from unmask.channels.refinement import degradation

__all__ = [
    "BayesChannelAttack",
    "Chain",
    "Channel",
    "Coin",
    "Crowds",
    "Design",
    "FrequencyAttack",
    "Generalize",
    "Geometric",
    "HiddenMarkovAttack",
    "LeastSquaresDisclosure",
    "MatchingAttack",
    "MessageLog",
    "NearestNeighborAttack",
    "PlanarGaussian",
    "PlanarLaplace",
    "PoolMix",
    "RandomizedResponse",
    "RateDistortion",
    "Round",
    "RoundDisclosure",
    "RoundLog",
    "Rounds",
    "Samples",
    "Shrink",
    "StatisticalDisclosure",
    "TraceLog",
    "coin_channel",
    "constant_risk_channel",
    "criteria",
    "datasets",
    "degradation",
    "matched_optimum",
    "optimal_mechanism",
    "private_rate_distortion",
    "rate_distortion",
]
