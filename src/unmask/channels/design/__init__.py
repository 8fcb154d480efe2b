"""Optimal channels: the least information, or the largest error, within a distortion budget."""

from unmask.channels.design.closed_form import coin_channel, constant_risk_channel, matched_optimum
from unmask.channels.design.lagrangian_curve import RateDistortion
from unmask.channels.design.leakage import LeakageDesign, least_leakage
from unmask.channels.design.linear import Design, optimal_mechanism
from unmask.channels.design.rate_distortion import private_rate_distortion, rate_distortion
from unmask.channels.design.tradeoff_curve import limit_curve

__all__ = [
    "Design",
    "LeakageDesign",
    "RateDistortion",
    "coin_channel",
    "constant_risk_channel",
    "least_leakage",
    "limit_curve",
    "matched_optimum",
    "optimal_mechanism",
    "private_rate_distortion",
    "rate_distortion",
]
