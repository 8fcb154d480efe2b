"""Protections of one secret at a time: parameters in the fields, and the channel that they make."""

from unmask.channels.mechanisms.alphabet import Coin, Generalize, Geometric, RandomizedResponse
from unmask.channels.mechanisms.planar import PlanarGaussian, PlanarLaplace, PlanarNoise, Shrink, perturb_degrees

__all__ = [
    "Coin",
    "Generalize",
    "Geometric",
    "PlanarGaussian",
    "PlanarLaplace",
    "PlanarNoise",
    "RandomizedResponse",
    "Shrink",
    "perturb_degrees",
]
