"""Mechanisms that protect one secret at a time, and their channels."""

from unmask.channels.mechanisms.alphabet import Coin, Generalize, Geometric, RandomizedResponse
from unmask.channels.mechanisms.planar import PlanarGaussian, PlanarLaplace, Shrink

__all__ = [
    "Coin",
    "Generalize",
    "Geometric",
    "PlanarGaussian",
    "PlanarLaplace",
    "RandomizedResponse",
    "Shrink",
]
