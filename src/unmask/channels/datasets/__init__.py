"""Channels to try things on: crowds and mixes of known structure, grids of places, and check-ins of real users."""

from unmask.channels.datasets.alphabets import alphabet
from unmask.channels.datasets.crowds import Crowds, CrowdsMessages
from unmask.channels.datasets.locations import AUSTIN, Grid, Visits, gowalla, grid, to_degrees, to_meters
from unmask.channels.datasets.mixes import MixRun, PoolMix, StopAndGoMix, Traffic

__all__ = [
    "AUSTIN",
    "Crowds",
    "CrowdsMessages",
    "Grid",
    "MixRun",
    "PoolMix",
    "StopAndGoMix",
    "Traffic",
    "Visits",
    "alphabet",
    "gowalla",
    "grid",
    "to_degrees",
    "to_meters",
]
